"""Fixtures and hypothesis profiles shared by all tests."""

import os

import places
import pytest
import tables_tried
from hypothesis import settings

places.set_environment()

# `PPDT_HYPOTHESIS=stress pytest` (or `make stress`) tries many more tables
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True, print_blob=True)
# a look while one works: `make quick`
settings.register_profile("quick", max_examples=10, deadline=None, derandomize=True)
settings.register_profile("stress", max_examples=3000, deadline=None, print_blob=True)
PROFILE = os.environ.get("PPDT_HYPOTHESIS") or "ci"
settings.load_profile(PROFILE)
if PROFILE == "stress":
    tables_tried.begin()


def pytest_collection_modifyitems(config, items):
    """Thousands of tables are for properties; other tests were passed in the gate"""
    if PROFILE != "stress":
        return
    is_property = [getattr(o.function, "is_hypothesis_test", False) for o in items]
    config.hook.pytest_deselected(items=[o for o, p in zip(items, is_property) if not p])
    items[:] = [o for o, p in zip(items, is_property) if p]


# files whose tests share nothing that takes long to make
_ALONE = ("tests/test_notebooks.py", "tests/test_contract.py", "tests/test_benchmarks.py")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Under `pytest -n` a file's tests stay in one process, which makes what they share once"""
    from xdist.scheduler import LoadScopeScheduling

    class ByFiles(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            return nodeid if file.endswith(_ALONE) else file

    return ByFiles(config, log)


def pytest_terminal_summary(terminalreporter):
    """What was run, and how hard; checks that do not apply have their reasons in registry.py"""
    stats = terminalreporter.stats
    ran = [o for kind in ("passed", "failed", "xfailed", "xpassed") for o in stats.get(kind, [])]
    files = sorted({o.nodeid.partition("::")[0].removeprefix("tests/") for o in ran})
    nbs = sum(o.nodeid.startswith("tests/test_notebooks.py") for o in ran)
    apart, skipped = len(stats.get("xfailed", [])), len(stats.get("skipped", []))
    terminalreporter.section("what was run")
    terminalreporter.line(
        f"{len(ran):,} tests in {len(files)} files, {nbs} of them notebooks; properties with at"
        f" most {settings().max_examples} examples each (profile {PROFILE})"
    )
    terminalreporter.line(
        f"{apart} of scikit-learn's checks do not apply, for reasons in tests/registry.py;"
        f" {skipped} tests were skipped"
    )
    for line in tables_tried.lines():
        terminalreporter.line(line)


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
