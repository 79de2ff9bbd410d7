"""The notebooks run from top to bottom, and what they have stored is what they print.

`python tests/test_notebooks.py [NOTEBOOK ...]` runs them and stores the outputs anew; under pytest
they are run in a fresh process each and compared. Cells that `nbdev_test` skips are skipped here as
well.
"""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import places
import pytest
import ready

ROOT = places.ROOT


def _changed():
    """Notebooks that differ from the last commit, and on a branch from main"""
    bases = ["HEAD"]
    fork = _git("merge-base", "HEAD", "main")
    if fork:
        bases.append(fork)
    names = [_git("diff", "--name-only", o) for o in bases]
    names.append(_git("ls-files", "--others", "--exclude-standard"))
    return {ROOT / line for text in names for line in text.splitlines()}


def _git(*args):
    """What git prints; nothing where there is no git"""
    try:
        r = subprocess.run(["git", *args], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return ""
    return r.stdout.strip() if r.returncode == 0 else ""


def _notebooks():
    """All notebooks; those that changed, with `PPDT_NOTEBOOKS=changed`"""
    found = sorted(
        p
        for p in (ROOT / "nbs").rglob("*.ipynb")
        if not any(o[0] in "._" for o in p.relative_to(ROOT).parts)
    )
    if os.environ.get("PPDT_NOTEBOOKS") != "changed":
        return found
    changed = _changed()
    return [p for p in found if p in changed]


NBS = _notebooks()
_ADDR = re.compile(r" at 0x[0-9a-fA-F]+")


def run_nb(path):
    """Run the notebook at `path` in this process, and return (it before, it after)"""
    os.environ |= {"IN_TEST": "1", "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    os.chdir(path.parent)
    from execnb.nbio import read_nb
    from execnb.shell import CaptureShell
    from nbdev.config import get_config
    from nbdev.process import NBProcessor

    before, nb = read_nb(path), NBProcessor(path, rm_directives=False).nb
    skipped = set(get_config(path=ROOT).tst_flags.split())
    at = []

    def skip(cell):
        at[:] = [cell]
        d = getattr(cell, "directives_", {})
        if (
            cell.cell_type != "code"
            or skipped & d.keys()
            or d.get("eval:", [""])[0].lower() == "false"
        ):
            return True
        cell.outputs = []

    try:
        CaptureShell(path, mpl_format="png").run_all(nb, exc_stop=True, preproc=skip)
    except Exception as e:
        where = f"{path.relative_to(ROOT)}, cell {nb.cells.index(at[0])}" if at else path.name
        raise RuntimeError(
            f"{where}:\n{at[0].source if at else ''}\n-> {type(e).__name__}: {e}"
        ) from None
    return before, nb


def seen(cell):
    """What a reader sees of the outputs of `cell`: all text, and for pictures only that there is
    one
    """
    res = []
    for o in cell.get("outputs", []):
        if o["output_type"] == "stream":
            res.append((o["name"], _ADDR.sub("", "".join(o["text"]))))
        elif o["output_type"] == "error":
            res.append(("error", o["ename"], o["evalue"]))
        else:
            res += [
                (k, _ADDR.sub("", "".join(v)) if k.startswith("text/") else "...")
                for k, v in sorted(o["data"].items())
            ]
    return res


def stale(path):
    """What is wrong with the stored outputs of the notebook at `path`: (differences, error that
    stopped it)
    """
    try:
        before, after = run_nb(path)
    except RuntimeError as e:
        return [], str(e)
    return [
        f"cell {i}: {''.join(a.source)[:60]!r}\n   stored: {seen(b)}\n   prints: {seen(a)}"
        for i, (b, a) in enumerate(zip(before.cells, after.cells))
        if a.cell_type == "code" and seen(a) != seen(b)
    ], None


def store(path):
    """Run the notebook at `path`; when its outputs changed, store them"""
    from execnb.nbio import write_nb
    from nbdev.clean import clean_nb

    try:
        before, nb = run_nb(path)
    except RuntimeError as e:
        return f"FAILED, nothing stored\n{e}"
    if not any(seen(a) != seen(b) for b, a in zip(before.cells, nb.cells)):
        return "unchanged"
    clean_nb(nb)
    write_nb(nb, path)
    return "stored"


# so that the last one does not run alone for long
def _biggest_first(paths):
    return sorted(paths, key=lambda p: -p.stat().st_size)


def _each(f, paths):
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    order = _biggest_first(paths)
    with ready.pool(min(cpus or 1, len(paths))) as ex:
        res = dict(zip(order, ex.map(f, order)))
    return {p: res[p] for p in paths}


@pytest.fixture(scope="session")
def pool():
    """Where notebooks are run, each in a process of its own"""
    with ready.pool(1) as ex:
        yield ex


@pytest.mark.parametrize("path", NBS, ids=lambda p: str(p.relative_to(ROOT)))
def test_stored_outputs(path, pool):
    differences, error = pool.submit(stale, path).result()
    if (
        error
        and "fetch_adult(" in path.read_text("utf-8")
        and not places.data_dir()
        and not places.data_required()
    ):
        pytest.skip(
            f"needs the Adult table (set PPDT_DATA to its folder): {error.splitlines()[-1]}"
        )
    assert not error, error
    mend = (
        "Read the difference; if the new output is right: python tests/test_notebooks.py"
        f" {path.relative_to(ROOT)}"
    )
    assert not differences, "\n".join([*differences, mend])


def stale_alone(path, cache):
    """`stale` on a machine without tables and without a network"""
    os.environ.pop("PPDT_DATA", None)
    os.environ["PPDT_CACHE"] = str(cache)

    def nobody(*args, **kw):
        raise OSError("no network")

    socket.socket.connect = socket.getaddrinfo = nobody
    return stale(path)


# how many of its cells show stored numbers there, and say so
WITHOUT = {"04_medians": 0, "07_datasets": 2, "papers/erp": 6, "papers/readers": 1}


@pytest.mark.parametrize("name", WITHOUT)
def test_pages_without_tables_and_network(name, pool, tmp_path):
    """Adult comes with the package; what needs another table says that it is not at hand. (All
    pages were run so by hand.)
    """
    differences, error = pool.submit(stale_alone, ROOT / f"nbs/{name}.ipynb", tmp_path).result()
    assert not error, error
    assert len(differences) == WITHOUT[name], "\n".join(differences)
    assert all("is not at hand" in o for o in differences), "\n".join(differences)


if __name__ == "__main__":
    places.set_environment()
    paths = [Path(p).resolve() for p in sys.argv[1:]] or NBS
    done = _each(store, paths)
    for p, what in done.items():
        print(p.relative_to(ROOT), what)
    sys.exit(any(what.startswith("FAILED") for what in done.values()))
