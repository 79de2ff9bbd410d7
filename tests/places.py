"""Where the benchmark tables and the results of other tools are, if they are here at all."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def place(variable, name):
    """The folder named by the environment variable, else ../shared/`name` beside the repository,
    else None
    """
    folder = Path(os.environ.get(variable) or ROOT.parent / "shared" / name).resolve()
    return folder if folder.is_dir() else None


def data_dir():
    return place("PPDT_DATA", "data")


def oracle_dir():
    return place("PPDT_ORACLES", "oracles")


def data_required():
    return os.environ.get("PPDT_REQUIRE_DATA", "0") not in ("", "0")


def set_environment():
    """Let child processes (notebooks, the command) find the same folders"""
    for variable, folder in ("PPDT_DATA", data_dir()), ("PPDT_ORACLES", oracle_dir()):
        if folder:
            os.environ[variable] = str(folder)
