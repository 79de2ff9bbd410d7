"""The book in a browser, on Colab and on Binder: what each has to install is there, and each page
is prepared by its first cell. Sites are not built here: scripts/lite.py is run with a stand-in for
pip and JupyterLite.
"""

import ast
import csv
import json
import os
import re
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
from types import SimpleNamespace

import places
import pytest
import yaml
from IPython.core.inputtransformer2 import TransformerManager
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ppdt.engine.docs import browser_address

ROOT = places.ROOT
NBS = ROOT / "nbs"
sys.path.insert(0, str(ROOT / "scripts"))
import lite  # noqa: E402
import student_copies as copies  # noqa: E402

with (ROOT / "tests/data/pyodide.csv").open(encoding="utf-8") as f:
    CARRIED = {o["package"]: o["version"] for o in csv.DictReader(f)}
SAID = copies.settings()
IN_BROWSER = {"sys_platform": "emscripten", "extra": ""}


def test_pyodide_and_the_site_have_all_that_ppdt_requires():
    asked = [Requirement(o) for o in SAID["requirements"].split()]
    asked = [o for o in asked if o.marker is None or o.marker.evaluate(IN_BROWSER)]
    for o in asked:
        name = canonicalize_name(o.name)
        if name not in lite.LACKING:
            assert o.specifier.contains(CARRIED[name]), f"{o}: Pyodide has {CARRIED[name]}"
    assert Requirement(f"python>={SAID['min_python']}").specifier.contains(CARRIED["python"])
    # what the table says and nobody asks for would be out of date unseen
    assert {canonicalize_name(o.name) for o in asked} | {"pyodide", "python"} == {
        *(o for o in lite.LACKING if o not in (*copies.FOR_PAGES, "comm")),
        *CARRIED,
    }


def test_elsewhere_nothing_is_left_out():
    asked = [Requirement(o) for o in SAID["requirements"].split()]
    left = {o.name for o in asked if o.marker and not o.marker.evaluate(IN_BROWSER)}
    assert left == {"pyarrow"}  # test_light.py shows that ppdt works without it
    for system in ("linux", "darwin", "win32"):
        where = IN_BROWSER | {"sys_platform": system}
        assert all(o.marker is None or o.marker.evaluate(where) for o in asked)


def test_wheels_are_those_that_pages_ask_for():
    assert [re.match(r"[\w-]+", o)[0] for o in lite.lacking()] == list(lite.LACKING)
    line = re.search(r"%pip install -q (ppdt .*)", copies.START)[1]
    asked = line.format(pages=" ".join(copies.FOR_PAGES)).split()
    assert set(asked) <= {"ppdt", *lite.LACKING}


def asks_for_processes(text):
    """Does a module import, as it is read, what starts processes?"""
    names = set()
    for o in ast.parse(text).body:
        if isinstance(o, ast.Import):
            names |= {a.name for a in o.names}
        elif isinstance(o, ast.ImportFrom):
            names |= {f"{o.module}.{a.name}" for a in o.names}
    return any(re.match(r"multiprocessing|concurrent\.futures\.Process", o) for o in names)


def test_what_pages_read_asks_for_no_processes():
    """A browser's Python has none, and there the import alone may fail"""
    assert asks_for_processes("from concurrent.futures import ProcessPoolExecutor")
    assert not asks_for_processes("def f():\n    import multiprocessing")
    pages = [json.loads(p.read_text("utf-8"))["cells"] for p in copies.book(NBS)]
    scripts = copies.scripts_of(copies.source(o) for cells in pages for o in cells)
    assert {"replicate", "grouping_runs"} <= {o.stem for o in scripts}
    read = [*scripts, *(ROOT / "ppdt").rglob("*.py")]
    assert not [o.name for o in read if asks_for_processes(o.read_text("utf-8"))]


def test_pages_start_no_threads_in_a_browser():
    """Nor processes: its Python has neither. A cell that starts some asks where it is."""
    starts = re.compile(r"\b(?:Thread|ThreadPoolExecutor|ProcessPoolExecutor|subprocess\.\w+)\(")
    found = []
    for page in copies.book(NBS):
        cells = json.loads(page.read_text("utf-8"))["cells"]
        code = [copies.source(o) for o in cells if o["cell_type"] == "code"]
        found += [(page.name, o) for o in code if starts.search(o)]
    assert "a_table_that_does_not_fit.ipynb" in dict(found)
    assert not [o for o in found if 'sys.platform == "emscripten"' not in o[1]]


def stand_in(monkeypatch, wheels=("comm-1-py3-none-any.whl", "ppdt-0-py3-none-any.whl")):
    """Commands are noted, not run; wheels are empty, and a site is one file"""
    told = []

    def run(*command, cwd=None):
        told.append([str(o) for o in command])
        if "wheel" in command:
            folder = Path(command[command.index("-w") + 1])
            folder.mkdir()
            for name in wheels:
                (folder / name).touch()
            source = Path(command[command.index("-w") + 2])
            # not in the working tree, where building leaves files
            assert (source / "ppdt/data/adult.zip").is_file() and not source.is_relative_to(ROOT)
        else:
            at = Path(command[command.index("--contents") + 1])
            assert (at / "nbs/01_leaks.ipynb").is_file()
            made = Path(command[command.index("--lite-dir") + 1])
            assert json.loads((made / "overrides.json").read_text("utf-8")) == lite.SETTINGS
            # a site with a Pyodide of its own asks nobody else, and another one does
            config, alone = made / "jupyter-lite.json", (made / "static/pyodide").is_dir()
            assert config.exists() == alone
            if alone:
                site = json.loads(config.read_text("utf-8"))["jupyter-config-data"]
                assert site["litePluginSettings"] == {lite.KERNEL: {"disablePyPIFallback": True}}
            # JupyterLite leaves notes there, by which it would leave out steps the next time
            assert cwd == made
            out = command[command.index("--output-dir") + 1]
            out.mkdir(parents=True)
            (out / "index.html").touch()

    monkeypatch.setattr(lite, "run", run)
    monkeypatch.setattr(copies, "book", lambda nbs: [nbs / "01_leaks.ipynb"])
    return told


def distribution(folder):
    """A folder that looks like a whole Pyodide: files are empty, but for the list of packages"""
    folder.mkdir()
    versions = CARRIED | dict.fromkeys(lite.OF_PYODIDE, "99.0") | {"python-dateutil": "2.9"}
    packages = {
        o: {"version": v, "file_name": f"{o}-{v}.whl", "depends": []} for o, v in versions.items()
    }
    packages["pandas"]["depends"] = ["numpy", "python_dateutil"]  # so it is written there
    for name in [*lite.PYODIDE, *(o["file_name"] for o in packages.values())]:
        (folder / name).touch()
    (folder / lite.PYODIDE[-1]).write_text(json.dumps({"packages": packages}), "utf-8")
    return folder


def test_a_pyodide_that_lacks_something_is_refused(tmp_path, monkeypatch, capsys):
    told = stand_in(monkeypatch)
    folder = distribution(tmp_path / "pyodide")
    assert lite.missing(folder) == []
    for name in ("pyodide.asm.wasm", "python-dateutil-2.9.whl"):
        (folder / name).unlink()
        assert lite.missing(folder) == [name]
        (folder / name).touch()
    lock = folder / lite.PYODIDE[-1]
    old = json.loads(lock.read_text("utf-8"))
    old["packages"]["matplotlib"]["version"] = "3.8.4"
    del old["packages"]["ipython"]
    lock.write_text(json.dumps(old), "utf-8")
    assert set(lite.missing(folder)) == {"ipython", "matplotlib>=3.9 (it has 3.8.4)"}
    assert lite.main([str(tmp_path / "out"), "--pyodide", str(folder)]) == 2
    assert "matplotlib>=3.9 (it has 3.8.4)" in capsys.readouterr().err
    assert not told and not (tmp_path / "out").exists()


def test_what_is_built(tmp_path, monkeypatch, capsys):
    told = stand_in(monkeypatch)
    pyodide = distribution(tmp_path / "pyodide")
    out, kept = tmp_path / "site" / "lite", tmp_path / "copies"
    assert lite.main([str(out), str(kept), "--pyodide", str(pyodide)]) == 0
    wheel, build = told
    assert wheel[:2] == ["pip", "wheel"] and wheel[-len(lite.LACKING) :] == lite.lacking()
    assert build[:2] == ["jupyterlite_core", "build"] and build[
        build.index("--output-dir") + 1
    ] == str(out)
    # on Colab the rest is there, or comes from where all packages come from
    assert [o.name for o in (kept / "wheels").iterdir()] == ["ppdt-0-py3-none-any.whl"]
    assert (kept / "nbs/01_leaks.ipynb").is_file() and (kept / "README.md").is_file()
    # neither folder is written over
    assert lite.main([str(out)]) == lite.main([str(tmp_path / "new"), str(kept)]) == 2
    assert len(told) == 2 and not (tmp_path / "new").exists()
    assert str(out) in capsys.readouterr().err


def test_a_wheel_of_one_machine_is_refused(tmp_path, monkeypatch):
    told = stand_in(monkeypatch, ["tomlkit-1.0-cp311-cp311-linux_x86_64.whl"])
    with pytest.raises(SystemExit, match="tomlkit-1.0-cp311"):
        lite.main([str(tmp_path / "out")])
    assert len(told) == 1 and not (tmp_path / "out").exists()


def started(place, code="1 + 1"):
    """What the first code cell of a copy says"""
    title = {"cell_type": "markdown", "source": ["# Title"]}
    nb = {"cells": [title, {"cell_type": "code", "source": [code]}]}
    nb = copies.started(nb, Path(place))
    assert [o["cell_type"] for o in nb["cells"]] == ["markdown", "code", "code"]
    return copies.source(nb["cells"][1])


def asked_of(text, platform, modules):
    """What a cell asks IPython for, on an invented machine"""
    told = []
    shell = SimpleNamespace(
        run_line_magic=lambda name, line: told.append(f"%{name} {line}"),
        system=lambda line: told.append(f"!{line}"),
    )
    code = TransformerManager().transform_cell(text)
    machine = SimpleNamespace(platform=platform, modules=modules)
    names = {"get_ipython": lambda: shell}
    exec(code.replace("import sys\n", ""), names | {"sys": machine})
    return told


def test_the_first_cell_prepares_a_page_where_ppdt_is_missing():
    text = started("papers/kactus.ipynb")
    assert asked_of(text, "linux", {}) == asked_of(text, "win32", {}) == []  # Jupyter, Binder
    assert asked_of(text, "emscripten", {}) == ["%pip install -q ppdt fastcore"]
    clone, install, go = asked_of(text, "linux", {"google.colab"})
    assert clone == f"!git clone -q --depth 1 --branch copies {SAID['git_url']} /content/copies"
    assert install == "%pip install -q /content/copies/wheels/*.whl fastcore"
    assert go == "%cd -q /content/copies/nbs/papers"
    assert asked_of(started("01_leaks.ipynb"), "linux", {"google.colab"})[-1] == go[:-7]
    parquet = started("02_tables.ipynb", "table.to_parquet(path)")
    assert asked_of(parquet, "emscripten", {}) == ["%pip install -q ppdt fastcore pyarrow"]
    # the browser's kernel replaces these lines itself, wherever they stand in a cell
    assert re.findall(r"^(\s*)%pip\b(.*)$", text, re.M)


def test_links_lead_to_copies():
    """Pages with a copy have an address in the browser, the others none"""
    pages = [
        o for o in NBS.rglob("*.ipynb") if not any(p[0] in "._" for p in o.relative_to(NBS).parts)
    ]
    linked = {o: browser_address(o) for o in pages}
    assert {o for o, address in linked.items() if address} == set(copies.book(NBS))
    site = copies.site()
    for page, address in linked.items():
        if address:
            assert (
                address
                == f"{site}/lite/notebooks/index.html?path={page.relative_to(ROOT).as_posix()}"
            )


def test_the_workflow_builds_what_links_and_first_cells_expect():
    job = yaml.safe_load((ROOT / ".github/workflows/site.yml").read_text("utf-8"))["jobs"]["build"]
    commands = [o["run"].strip() for o in job["steps"] if "run" in o]
    made = f"python scripts/lite.py {SAID['doc_path']}/lite {copies.BRANCH}"
    assert made in commands and f"origin {copies.BRANCH}" in commands[-1]
    assert commands.index("nbdev_docs") < commands.index(made)  # which empties its folder


def test_the_workflow_takes_the_addresses_of_its_repository(tmp_path):
    """Whoever has the repository, the site's links lead to it"""
    steps = yaml.safe_load((ROOT / ".github/workflows/site.yml").read_text("utf-8"))["jobs"]
    (step,) = [o for o in steps["build"]["steps"] if o.get("name") == "addresses"]
    names = ["settings.ini", "README.md", "CITATION.cff", "ppdt/_modidx.py"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    where = {"PATH": os.environ["PATH"], "GITHUB_REPOSITORY": "jane/trees"}
    subprocess.run(["bash", "-ec", step["run"]], cwd=tmp_path, check=True, env=where)
    parser = ConfigParser(delimiters=["="])
    parser.read(tmp_path / "settings.ini", "utf-8")
    said = parser["DEFAULT"]
    assert (said["user"], said["doc_host"]) == ("jane", "https://jane.github.io")
    assert (said["doc_baseurl"], said["git_url"]) == ("/trees", "https://github.com/jane/trees")
    texts = [(tmp_path / o).read_text("utf-8") for o in names]
    assert not [o for t in texts for o in re.findall(r".*\bexample[./](?!org).*", t)]
    assert "'doc_baseurl': '/trees'" in texts[-1]
    badge = "(https://colab.research.google.com/github/jane/trees/blob/copies/nbs/01_leaks.ipynb)"
    assert badge in texts[1] and "/gh/jane/trees/main?" in texts[1]


def test_the_pinned_kernel_is_that_of_the_table():
    kernel = next(o for o in SAID["lite_requirements"].split() if "pyodide-kernel" in o)
    assert (kernel, CARRIED["pyodide"]) == ("jupyterlite-pyodide-kernel==0.8.6", "314.0.6")


def test_binder_is_light():
    """No Spark, no Dask, no developers' tools: what the chapters import, and nothing else"""
    text = (ROOT / ".binder/postBuild").read_text("utf-8")
    extras, others = re.search(r"-e '\.\[([\w,]+)\]' (.+)", text).groups()
    assert set(extras.split(",")) == {"excel", "sign"}
    assert set(copies.FOR_PAGES) == set(others.split())
    assert subprocess.run(["bash", "-n", ROOT / ".binder/postBuild"], check=False).returncode == 0


def test_addresses_on_the_front_page_are_those_of_this_repository():
    """Where README.md sends readers who install nothing"""
    page, repo = "nbs/01_leaks.ipynb", SAID["git_url"].partition("://")[2].partition("/")[2]
    right = {
        browser_address(ROOT / page),
        f"https://colab.research.google.com/github/{repo}/blob/{copies.BRANCH}/{page}",
        f"https://mybinder.org/v2/gh/{repo}/{SAID['branch']}?urlpath=lab/tree/{page}",
    }
    front = (ROOT / "README.md").read_text("utf-8")
    asked = r"\]\((https://[^)\s]*(?:/lite/|google\.com/github/|binder\.org/v2/)[^)\s]*)\)"
    assert set(re.findall(asked, front)) <= right
