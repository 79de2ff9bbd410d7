"""Make a folder in which the book runs in a reader's browser, where nothing is installed.

    python scripts/lite.py OUT [COPIES] [--pyodide FOLDER]

OUT is made: a JupyterLite site with the copies of scripts/student_copies.py, the wheel of ppdt, and
wheels of what copies need and Pyodide, the browser's Python, does not have. Any server of files
shows it. COPIES, if named, keeps the copies and ppdt's wheel: what the first cell of a copy asks
for on Colab. Neither may hold anything.

Readers' browsers load Pyodide and its packages from its public address. FOLDER, an unpacked
distribution of Pyodide (the whole one, not its core), goes into OUT instead, for a room without a
network: pages then ask the site alone.

This needs `pip install ppdt[lite]`, and pip a network.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(Path(__file__).parent))
import student_copies
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# pure Python, and not among Pyodide's packages; comm is for the kernel of JupyterLite
LACKING = ("tomlkit", "pooch", *student_copies.FOR_PAGES, "comm")
# no page asks which kernel to start: there is one
SETTINGS = {"@jupyterlab/notebook-extension:tracker": {"autoStartDefaultKernel": True}}
KERNEL = "@jupyterlite/pyodide-kernel-extension:kernel"
# what is not in the folder is nowhere: the reader is told so at once
ALONE = {"disablePyPIFallback": True}
PYODIDE = ("pyodide.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
# what the kernel of JupyterLite asks Pyodide for, pooch, and pages with Parquet
OF_PYODIDE = ("ipython", "jedi", "micropip", "packaging", "platformdirs", "requests", "pyarrow")
PACKED = ("settings.ini", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md")
PACKED += ("CITATION.cff",)


def run(*command, cwd=None):
    """Run a module of this Python"""
    subprocess.run([sys.executable, "-m", *map(str, command)], check=True, cwd=cwd)


def lacking():
    """What Pyodide lacks, with the versions that settings.ini asks for"""
    said = student_copies.settings()
    every = f"{said['requirements']} {said['dev_requirements']}".split()
    named = {re.match(r"[\w-]+", o)[0]: o for o in every}
    return [named.get(o, o) for o in LACKING]


def missing(pyodide):
    """What pages ask for and a folder of Pyodide has not, or not in a version that fits ppdt"""
    lost = [o for o in PYODIDE if not (pyodide / o).is_file()]
    if lost:
        return lost
    has = json.loads((pyodide / PYODIDE[-1]).read_text("utf-8"))["packages"]
    asked = [Requirement(o) for o in student_copies.settings()["requirements"].split()]
    asked = {canonicalize_name(o.name): o.specifier for o in asked if o.name not in LACKING}
    todo, seen = [*OF_PYODIDE, *asked], set()
    while todo:
        name = canonicalize_name(todo.pop())
        if name in seen:
            continue
        seen.add(name)
        if name not in has:
            lost.append(name)
            continue
        version, file = has[name]["version"], has[name]["file_name"]
        if name in asked and not asked[name].contains(version):
            lost.append(f"{name}{asked[name]} (it has {version})")
        elif not (pyodide / file).is_file():
            lost.append(file)
        todo += has[name]["depends"]
    return lost


def make_wheels(folder, tmp):
    """Wheels of ppdt and of what Pyodide lacks; all fit any machine"""
    source = tmp / "source"  # building leaves files where it is done
    shutil.copytree(
        ROOT / "ppdt", source / "ppdt", ignore=shutil.ignore_patterns("__pycache__", ".*")
    )
    for name in PACKED:
        shutil.copy(ROOT / name, source)
    run("pip", "wheel", "-q", "--no-deps", "-w", folder, source, *lacking())
    bound = [p.name for p in folder.glob("*.whl") if not p.name.endswith("-none-any.whl")]
    if bound:
        raise SystemExit(f"not pure Python, so no browser can take it: {', '.join(bound)}")


def make_site(out, copies, wheels, tmp, pyodide=None):
    """JupyterLite with the notebooks in `copies`, and the wheels in the folder `wheels`"""
    tmp.mkdir()
    (tmp / "overrides.json").write_text(json.dumps(SETTINGS), "utf-8")
    if pyodide:
        shutil.copytree(pyodide, tmp / "static" / "pyodide")  # where JupyterLite looks for it
        site = {"litePluginSettings": {KERNEL: ALONE}}
        config = {"jupyter-lite-schema-version": 0, "jupyter-config-data": site}
        (tmp / "jupyter-lite.json").write_text(json.dumps(config), "utf-8")
    # where it runs, JupyterLite notes what it has done, and believes these notes the next time:
    # made there again, a site would not know of its Pyodide, and go to the network
    run(
        *("jupyterlite_core", "build", "--lite-dir", tmp, "--output-dir", out),
        *("--contents", copies, "--piplite-wheels", wheels, "--no-sourcemaps"),
        cwd=tmp,
    )


def in_use(folder):
    """Does the folder hold anything?"""
    return folder.exists() and any(folder.iterdir())


def main(args):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("copies", type=Path, nargs="?")
    parser.add_argument("--pyodide", type=Path)
    o = parser.parse_args(args)
    taken = [str(p) for p in (o.out, o.copies) if p and in_use(p)]
    if taken:
        print(f"not overwritten: {', '.join(taken)}; name an empty folder", file=sys.stderr)
        return 2
    lost = missing(o.pyodide) if o.pyodide else []
    if lost:
        more = f" and {len(lost) - 5} more" if lost[5:] else ""
        named = f"{o.pyodide} lacks {', '.join(lost[:5])}{more}"
        print(f"--pyodide must be a whole distribution of Pyodide. {named}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as made:
        tmp = Path(made).resolve()
        pages, wheels = tmp / "copies", tmp / "wheels"
        if student_copies.main([str(pages)]):
            return 2
        make_wheels(wheels, tmp)
        make_site(o.out.resolve(), pages, wheels, tmp / "lite", o.pyodide and o.pyodide.resolve())
        if o.copies:
            shutil.copytree(pages, o.copies, dirs_exist_ok=True)
            (o.copies / "wheels").mkdir()
            for p in wheels.glob("ppdt-*.whl"):
                shutil.copy(p, o.copies / "wheels")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
