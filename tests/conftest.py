"""Fixtures and hypothesis profiles shared by all tests."""

import os
import pytest
from hypothesis import settings
import places

places.set_environment()

# `PPDT_HYPOTHESIS=stress pytest` (or `make stress`) tries many more tables
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True, print_blob=True)
# a look while one works: `make quick`
settings.register_profile("quick", max_examples=10, deadline=None, derandomize=True)
settings.register_profile("stress", max_examples=3000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("PPDT_HYPOTHESIS") or "ci")


def pytest_collection_finish(session):
    """Notebooks run beside the other tests, which wait for none of them"""
    nbs = [o for o in session.items if o.path.name == "test_notebooks.py"]
    if nbs and not session.config.option.collectonly:
        nbs[0].module.begin([o.callspec.params["path"] for o in nbs])


def pytest_sessionfinish(session):
    for o in {o.module for o in session.items if o.path.name == "test_notebooks.py"}:
        o.end()


def _folder(find, variable, what):
    folder = find()
    if folder:
        return folder
    reason = f"{what} not found: set {variable} to their folder"
    if places.data_required():
        pytest.fail(reason + " (PPDT_REQUIRE_DATA is set, so this is no skip)")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def data_dir():
    """Folder of the benchmark tables (adult_train.csv ...)"""
    return _folder(places.data_dir, "PPDT_DATA", "the benchmark tables (adult_train.csv, ...)")


@pytest.fixture(scope="session")
def oracle_dir():
    """Folder of the results of other tools"""
    return _folder(places.oracle_dir, "PPDT_ORACLES", "the results of other tools")
