"""The project is in order: what is made from something else equals it, chapters keep their form,
files stay small.
"""

import ast
import base64
import json
import os
import re
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import places
import pytest
import yaml

ROOT = places.ROOT
sys.path.insert(0, str(ROOT / "scripts"))
import house  # noqa: E402
import release_notes  # noqa: E402

NBS = ROOT / "nbs"
CHAPTERS = sorted(
    p for p in NBS.rglob("*.ipynb") if not any(o[0] in "._" for o in p.relative_to(NBS).parts)
)
WITHOUT_EXERCISES = {
    "index",
    "glossary",
    "references",
    "lab",
    "scoreboard",
    "from_a_file_to_a_release",
    "a_table_that_does_not_fit",
    "claims",
    "reading_guides",
    "syllabus",
} | {p.stem for p in NBS.glob("class/part_*.ipynb")}
each_chapter = pytest.mark.parametrize(
    "path", CHAPTERS, ids=lambda p: p.relative_to(NBS).as_posix()
)


def cells(path):
    """Pairs (type, source, outputs) of the cells of a notebook"""
    return [
        (c["cell_type"], "".join(c["source"]), c.get("outputs", []))
        for c in json.loads(path.read_text("utf-8"))["cells"]
    ]


def directives(source):
    return re.findall(r"^\s*#\|\s*([\w-]+)", source, re.M)


def run(*cmd, cwd=ROOT, **kw):
    env = dict(os.environ) | kw.pop("env", {})
    return subprocess.run(
        [str(o) for o in cmd],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        **kw,
    )


def tool(name):
    return Path(sys.executable).parent / name


def project_files():
    """All files that belong to the project: what git knows or would take, else everything outside
    folders that are made
    """
    r = (
        run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        if (ROOT / ".git").exists()
        else None
    )
    if r and r.returncode == 0:
        found = [ROOT / o for o in r.stdout.split("\0") if o]
    else:
        made = {
            ".git",
            ".venv",
            "_docs",
            "_proc",
            "build",
            "dist",
            "__pycache__",
            ".hypothesis",
            ".pytest_cache",
            ".ipynb_checkpoints",
        }
        found = [
            p
            for p in ROOT.rglob("*")
            if not any(o in made or o.endswith(".egg-info") for o in p.relative_to(ROOT).parts)
        ]
    return [p for p in found if p.is_file()]


# ---------------------------------------------------------------- what is made from something else


@pytest.fixture(scope="module")
def remade(tmp_path_factory):
    """A copy of the notebooks, cleaned, and a package exported from them; the working tree is not
    touched
    """
    tmp = tmp_path_factory.mktemp("remade")
    shutil.copy(ROOT / "settings.ini", tmp)
    shutil.copytree(NBS, tmp / "nbs", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    (tmp / "ppdt").mkdir()
    if (ROOT / "ppdt/__init__.py").exists():
        shutil.copy(ROOT / "ppdt/__init__.py", tmp / "ppdt")
    for cmd in "nbdev_clean", "nbdev_export":
        r = run(tool(cmd), cwd=tmp)
        assert r.returncode == 0, f"{cmd} failed:\n{r.stdout}{r.stderr}"
    return tmp


def test_notebooks_are_clean(remade):
    """No execution counts, no metadata of one person's editor"""
    dirty = [
        p.name for p in CHAPTERS if p.read_bytes() != (remade / p.relative_to(ROOT)).read_bytes()
    ]
    assert not dirty, f"run nbdev_clean: {dirty}"


def test_package_is_what_the_notebooks_export(remade):
    def code(root):
        return {
            p.relative_to(root).as_posix(): p.read_bytes() for p in (root / "ppdt").rglob("*.py")
        }

    ours, new = code(ROOT), code(remade)
    assert not ours.keys() - new.keys(), (
        f"no notebook makes these, delete them: {sorted(ours.keys() - new.keys())}"
    )
    differ = [n for n in new if ours.get(n) != new[n]]
    assert not differ, (
        f"run nbdev_export (the notebooks are the source, never edit these): {differ}"
    )


@pytest.mark.parametrize("script", ["make_readme.py", "make_references.py"])
def test_pages_made_by_scripts(script):
    r = run(sys.executable, ROOT / "scripts" / script, "--check")
    assert r.returncode == 0, r.stdout + r.stderr


def test_student_copies(tmp_path):
    r = run(sys.executable, ROOT / "scripts/student_copies.py", tmp_path / "class")
    assert r.returncode == 0, r.stderr
    copies = sorted((tmp_path / "class").rglob("*.ipynb"))
    for_class = [p for p in CHAPTERS if p.relative_to(NBS).parts[0] not in ("engine", "class")]
    # and one of the engine, whose claims papers/claims gathers
    made = {p.relative_to(tmp_path / "class/nbs") for p in copies}
    assert made - {p.relative_to(NBS) for p in for_class} == {Path("engine/batches.ipynb")}
    assert len(made) == len(for_class) + 1
    assert not any(
        "solution" in directives(s) or "<details" in s[:20] for p in copies for _, s, _ in cells(p)
    )


def test_main_command_of_the_readme(tmp_path):
    readme = (ROOT / "README.md").read_text("utf-8")
    assert all(f"\n{o}\n" in readme for o in ("make demo", "make test", "ppdt demo"))
    r = run(tool("ppdt"), "demo", "--out", "report", cwd=tmp_path, timeout=300)
    assert r.returncode == 0, r.stdout + r.stderr
    assert r.stdout.strip() and not r.stderr.strip(), r.stderr
    assert list((tmp_path / "report").glob("*.html")), "ppdt demo wrote no report"


def test_make_targets():
    """The targets that README and CONTRIBUTING name exist"""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    named = {
        o
        for f in ("README.md", "CONTRIBUTING.md")
        for o in re.findall(r"^\s*(?:\* )?`?make ([a-z]+)", (ROOT / f).read_text("utf-8"), re.M)
    }
    assert {"demo", "test"} <= named <= targets, named - targets


def test_importing_ppdt_needs_no_developer_tools():
    modules = [
        p.stem
        for p in (ROOT / "ppdt").glob("*.py")
        if p.stem not in ("docs", "_modidx", "__init__")
    ]
    code = "import sys\n" + "".join(f"import ppdt.{m}\n" for m in modules)
    code += (
        "print([m for m in sys.modules if m.split('.')[0] in ('nbdev', 'execnb', 'IPython',"
        " 'pytest', 'hypothesis')])"
    )
    r = run(sys.executable, "-c", code)
    assert r.returncode == 0, r.stderr
    assert r.stdout.strip() == "[]", f"the package imports developers' tools: {r.stdout}"


def test_release_notes():
    """A tag gets its own part of the changelog; what does not fit is refused"""
    log = "# Changes\n\n## 0.2.0, 2027-01-05\n\n* new\n\n## 0.1.0, not yet released\n\n* old\n"
    assert release_notes.notes("v0.2.0", log, "0.2.0") == "* new"
    for tag, current in (("v0.2", "0.2"), ("v0.3.0", "0.2.0"), ("v0.1.0", "0.1.0")):
        with pytest.raises(ValueError):
            release_notes.notes(tag, log, current)


def test_package_data_is_declared():
    """Files of the package that are no Python lie in ppdt/data, the folder that setup.py packs"""
    stray = [
        p.relative_to(ROOT).as_posix()
        for p in project_files()
        if p.is_relative_to(ROOT / "ppdt")
        and p.suffix != ".py"
        and p.name != "py.typed"
        and not p.is_relative_to(ROOT / "ppdt/data")
    ]
    assert not stray, stray


def test_versions_agree():
    cfg = ConfigParser(delimiters=["="])
    cfg.read(ROOT / "settings.ini", encoding="utf-8")
    version = cfg["DEFAULT"]["version"]
    assert f'__version__ = "{version}"' in (ROOT / "ppdt/__init__.py").read_text("utf-8")
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["version"] == version
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


# ---------------------------------------------------------------- the order of the house


def test_the_numbers_of_the_house():
    """Lines, density, private names, circles, wings, words: scripts/house.py says where"""
    found = house.measure()
    over = {o: found[o] for o, limit in house.LIMITS.items() if found[o] > limit}
    assert not over, "\n".join([str(over), *house.worst()])


def test_the_map_of_the_wings_is_the_package():
    """CONTRIBUTING.md names every module, and none imports from a wing further right"""
    assert house.wings(), "CONTRIBUTING.md has no map of the wings"
    assert not house.arrows_up(house.modules())


def test_imports_are_seen_in_every_form():
    """`import`, `from`, relative or not, `import_module` and `__import__`"""
    text = """
import ppdt.tables
from ppdt import loss
from ppdt.trees import _grow
from ..keys import row_keys
from . import files
import_module("ppdt.release")
importlib.import_module("ppdt.cli")
__import__("ppdt.contest")
"""
    module = house.Module("engine.checks", text, ast.parse(text))
    known = ("tables", "loss", "trees", "keys", "engine.files", "release", "cli", "contest")
    assert house.imported(module, known).keys() == set(known)
    assert house.imported(module, known)["trees"] == {"_grow"}


def test_style():
    """One style, and no likely faults; `make lint` mends what can be mended"""
    places_ = [ROOT / o for o in ("nbs", "tests", "scripts", "benchmarks")]
    for cmd in (["format", "--check", *places_], ["check", *places_, ROOT / "ppdt"]):
        r = run(tool("ruff"), *cmd)
        assert r.returncode == 0, f"{r.stdout[-4000:]}{r.stderr}"


def test_types():
    """The public modules are clean for a type checker"""
    r = run(tool("basedpyright"), "--pythonpath", sys.executable)
    assert r.returncode == 0, f"{r.stdout[-4000:]}{r.stderr}"


def sidebar():
    """The notebooks of the sidebar, in its order"""

    def walk(o):
        contents = o if isinstance(o, str) else o["contents"]
        if not isinstance(contents, str):
            for c in contents:
                yield from walk(c)
        elif contents.endswith("/*"):
            yield from sorted(p.relative_to(NBS).as_posix() for p in NBS.glob(contents + ".ipynb"))
        else:
            yield contents

    site = yaml.safe_load((ROOT / "_quarto.yml").read_text("utf-8"))["website"]
    return [n for o in site["sidebar"]["contents"] for n in walk(o)]


def test_sidebar_lists_every_chapter():
    there, listed = {p.relative_to(NBS).as_posix() for p in CHAPTERS}, sidebar()
    assert not there - set(listed), (
        f"add to the sidebar of _quarto.yml: {sorted(there - set(listed))}"
    )
    assert not set(listed) - there, (
        f"in the sidebar of _quarto.yml, but not in nbs: {sorted(set(listed) - there)}"
    )
    numbered = [n for n in listed if n[0].isdigit()]
    assert numbered == sorted(numbered) and len(listed) == len(set(listed)), (
        "the sidebar is not in the book's order"
    )


@each_chapter
def test_title_cell(path):
    """`# Title`, an empty line, `> promise`: whatever else stands in this cell would vanish from
    the site
    """
    kind, source, _ = cells(path)[0]
    title, *rest = source.strip().splitlines()
    assert kind == "markdown" and re.match(r"# \S", title), "the first cell must be the title"
    assert len(rest) > 1 and rest[0] == "" and all(l.startswith("> ") for l in rest[1:]), (
        "after the title: an empty line and lines that begin with '> '"
    )


@each_chapter
def test_running_all_cells_leaves_the_package_alone(path):
    """The command nbdev_export writes ppdt/; a reader who runs a page does not"""
    assert not [i for i, (_, s, _) in enumerate(cells(path)) if re.search(r"\bnbdev_export\(", s)]


@each_chapter
def test_outputs_are_fit_to_publish(path):
    for i, (_, _, outputs) in enumerate(cells(path)):
        for o in outputs:
            assert o["output_type"] != "error", f"cell {i} stored a traceback"
            assert o.get("name") != "stderr", f"cell {i} stored warnings: {o['text']}"


def _checks(stmt):
    """Does the statement check something?"""
    if isinstance(stmt, ast.Assert):
        return True
    if isinstance(stmt, (ast.For, ast.With, ast.If)):
        called = (
            [getattr(i.context_expr, "func", None) for i in stmt.items]
            if isinstance(stmt, ast.With)
            else []
        )
        return any(
            re.match("expect_fail|.*raises|ExceptionExpected", ast.unparse(f)) for f in called if f
        ) or _checks(stmt.body[-1])
    return (
        isinstance(stmt, ast.Expr)
        and isinstance(stmt.value, ast.Call)
        and bool(re.match(r"(\w+\.)*(test_|assert_|expect_fail)", ast.unparse(stmt.value.func)))
    )


@each_chapter
def test_solutions_end_in_a_check(path):
    for i, (kind, source, _) in enumerate(cells(path)):
        if kind != "code" or "solution" not in directives(source):
            continue
        body = ast.parse(source).body
        assert all(isinstance(o, (ast.Import, ast.ImportFrom)) for o in body) or _checks(
            body[-1]
        ), f"cell {i}: end the solution with an assert or a test_ call"


@pytest.mark.parametrize(
    "path",
    [p for p in CHAPTERS if p.stem not in WITHOUT_EXERCISES and p.parent.name != "engine"],
    ids=lambda p: p.relative_to(NBS).as_posix(),
)
def test_chapter_ends_with_exercises(path):
    all_cells = cells(path)
    heads = [
        (i, h)
        for i, (kind, s, _) in enumerate(all_cells)
        if kind == "markdown"
        for h in re.findall(r"^## (.+)$", s, re.M)
    ]
    assert heads and heads[-1][1].strip() == "Exercises", "the last section must be '## Exercises'"
    after = all_cells[heads[-1][0] :]
    assert any("<details" in s for kind, s, _ in after if kind == "markdown"), (
        "answers to the recall questions are missing"
    )
    assert sum("solution" in directives(s) for kind, s, _ in after if kind == "code") >= 3, (
        "each of the three tasks needs a solution cell"
    )


# ---------------------------------------------------------------- sizes, and what must not be said


@each_chapter
def test_notebook_is_small(path):
    assert path.stat().st_size < 1_000_000
    for i, (_, _, outputs) in enumerate(cells(path)):
        for o in outputs:
            for mime, v in o.get("data", {}).items():
                if mime.startswith("image/") and mime != "image/svg+xml":
                    assert len(base64.b64decode("".join(v))) < 100_000, (
                        f"the picture of cell {i} has over 100 kB: smaller figsize, fewer points,"
                        " rasterized=True"
                    )


def test_image_files_are_small():
    big = [
        p.name
        for p in project_files()
        if p.suffix in (".png", ".jpg", ".gif", ".svg") and p.stat().st_size >= 100_000
    ]
    assert not big, big


def test_nothing_of_one_machine_is_named():
    """No absolute path of somebody's computer, no host of a package registry, no notes that readers
    do not have
    """
    paths = re.compile(r"(?<![\w.:/])/(?:%s)/\w" % "|".join(("work", "root", "home", "Users")))
    hosts = re.compile(
        "|".join(
            re.escape(a + b)
            for a, b in (
                ("pypi", ".org"),
                ("python", "hosted.org"),
                ("ana", "conda.org"),
                ("npm", "js.org"),
                ("crates", ".io"),
            )
        )
    )
    notes = re.compile(r"\b[Cc]ards? \d\d\b")
    found = []
    for p in project_files():
        try:
            txt = p.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        found += [
            f"{p.relative_to(ROOT)}: {m[0]}"
            for rule in (paths, hosts, notes)
            for m in rule.finditer(txt)
        ]
    assert not found, found[:20]
