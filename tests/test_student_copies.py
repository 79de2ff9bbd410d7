"""Copies for a class hold no answer, run from top to bottom, and tell right answers from wrong."""

import ast
import json
import os
import re
import sys
from configparser import ConfigParser
from fractions import Fraction

import numpy as np
import pandas as pd
import places
import pytest
import ready

ROOT = places.ROOT
sys.path.insert(0, str(ROOT / "scripts"))
import class_check  # noqa: E402
import student_copies as copies  # noqa: E402

NBS = ROOT / "nbs"
PAGES = list(copies.book(NBS))
TASKS = copies.answers()
each_page = pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)


def name_of(path):
    """Name of a page in class_answers.toml"""
    return path.relative_to(NBS).with_suffix("").as_posix()


def loaded(path):
    return json.loads(path.read_text("utf-8"))


def solutions(nb):
    """For each task, by its number, its solution cells: what they say and what they printed"""
    res = {}
    for cell, task, _ in copies.sections(nb):
        if copies.is_solution(cell) and task:
            printed = ["".join(o.get("text", [])) for o in cell["outputs"]]
            res[task] = "\n".join([res.get(task, ""), copies.source(cell), *printed])
    return res


@each_page
def test_nothing_of_an_answer_is_left(path):
    nb = loaded(path)
    copy = copies.empty(nb, name_of(path), TASKS.get(name_of(path)))
    kept = "\n".join(map(copies.source, copy["cells"]))
    assert "<details" not in kept and "solution" not in re.findall(r"#\|\s*(\w+)", kept)
    given = [copies.source(c) for c in nb["cells"] if not copies.is_solution(c)]
    own = {o.strip() for t in given for o in t.splitlines()}
    solved = [copies.source(c) for c in nb["cells"] if copies.is_solution(c)]
    lines = [o.strip() for t in solved for o in t.splitlines()]
    # a line of a solution that says something, and that the chapter does not have as well
    telling = [o for o in lines if len(o) > 25 and o not in own]
    assert not [o for o in telling if o in kept]
    told = [t for c in nb["cells"] for t in copies.DETAILS.findall("".join(c["source"]))]
    sentences = [o.strip() for t in told for o in t.splitlines() if len(o) > 40]
    assert not [o for o in sentences if o in kept]


@each_page
def test_each_task_with_a_star_can_be_checked(path):
    tasks = TASKS.get(name_of(path), {})
    assert sorted(solutions(loaded(path))) == sorted(map(int, tasks))
    copy = copies.empty(loaded(path), name_of(path), tasks)
    checks = [o for o in map(copies.source, copy["cells"]) if "\ncheck(" in o]
    assert len(checks) == len(tasks)


def constants(text):
    """Numbers and words that a solution states, sums of constants worked out"""
    found = {float(o) for o in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", text)}
    found |= {int(a) / int(b) for a, b in re.findall(r"Fraction\((\d+), (\d+)\)", text)}
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except SyntaxError:  # what was printed is no Python
        return found
    for node in nodes:
        if isinstance(node, (ast.Constant, ast.BinOp)):
            fixed = all(
                isinstance(o, (ast.Constant, ast.BinOp, ast.operator)) for o in ast.walk(node)
            )
            if fixed:
                value = eval(compile(ast.Expression(node), "solution", "eval"))
                if isinstance(value, (int, float)):
                    found.add(float(value))
    return found


def parts(answer):
    if isinstance(answer, list):
        return [o for a in answer for o in parts(a)]
    return [answer]


@pytest.mark.parametrize("name", TASKS)
def test_answers_are_those_of_the_solutions(name):
    texts = solutions(loaded(NBS / f"{name}.ipynb"))
    for task, o in TASKS[name].items():
        assert set(o) <= {"ask", "answer", "shown"} and o["ask"]
        if not o.get("shown", True):
            continue
        text, numbers = texts[int(task)], constants(texts[int(task)])
        for part in parts(o["answer"]):
            if isinstance(part, bool):
                assert str(part) in text, (name, task, part)
            elif isinstance(part, str):
                assert part in text, (name, task, part)
            else:
                assert any(np.isclose(part, n, rtol=1e-6) for n in numbers), (name, task, part)


def test_one_answer_in_many_forms():
    same = [[1, 2.5], (1, 2.5), np.array([1, 2.5]), pd.Series([1, 2.5]), [True + 0, Fraction(5, 2)]]
    assert len({class_check.canonical(o) for o in same}) == 1
    assert class_check.canonical({3, 1}) == class_check.canonical([1, 3])
    assert class_check.canonical(True) == class_check.canonical(" YES ") == "yes"
    assert class_check.canonical(np.float64(0.5)) == class_check.canonical(Fraction(1, 2))
    assert class_check.canonical(26_628) != class_check.canonical(26_629)
    assert class_check.canonical(([2, 3], 5)) == class_check.canonical(np.array([2, 3, 5]))
    assert class_check.canonical(([2, 3], 5)) != class_check.canonical([2, 5, 3])
    assert class_check.canonical({(3, 1), (2, 4)}) == class_check.canonical([(2, 4), (3, 1)])
    assert class_check.canonical([]) == "[]"


RUN = """
import os, sys
from pathlib import Path
from execnb.nbio import read_nb, write_nb
from execnb.shell import CaptureShell
path = Path(sys.argv[1])
os.chdir(path.parent)
# students have neither the project's scripts nor its tests
sys.path[:] = ["", *(o for o in sys.path if Path(o).name not in ("", "scripts", "tests"))]
nb = read_nb(path)
CaptureShell(path, mpl_format="png").run_all(nb, exc_stop=True)
write_nb(nb, path)
"""


@pytest.fixture(scope="module")
def runner():
    with ready.pool(1) as ex:
        yield ex


def run_copy(path, runner):
    """Run a copied notebook as a student does, and return what its checks say"""
    r = ready.script(runner, "-c", RUN, path)
    assert r.returncode == 0, r.stdout[-2000:] + r.stderr[-2000:]
    cells = [c for c in loaded(path)["cells"] if "\ncheck(" in copies.source(c)]
    return ["".join("".join(o.get("text", [])) for o in c["outputs"]).strip() for c in cells]


def make(folder, *names):
    pages = [str(NBS / f"{o}.ipynb") for o in names]
    assert copies.main([str(folder), *pages]) == 0


def try_answers(path, name):
    """Let each check of the copy of the page `name` be asked with nothing, wrongly, and rightly"""
    nb = loaded(path)
    for cell in nb["cells"]:
        task = re.search(r'\ncheck\("[^"]+", (\d+)', copies.source(cell))
        if task:
            answer = TASKS[name][task[1]]["answer"]
            text = copies.source(cell)
            for o in (wrong(answer), answer):
                text += f"\nanswer = {o!r}" + task[0] + ", answer)"
            cell["source"] = text.splitlines(keepends=True)
    path.write_text(json.dumps(nb), "utf-8")


def wrong(answer):
    """Another answer of the same kind"""
    if isinstance(answer, bool):
        return not answer
    if isinstance(answer, list):
        return [wrong(answer[0]), *answer[1:]]
    return answer + "s" if isinstance(answer, str) else answer + 1


def _run_whole():
    """Copies that are run; with `PPDT_COPIES=all`, as the site's workflow has it, each of them"""
    if os.environ.get("PPDT_COPIES") == "all":
        return [name_of(o) for o in PAGES]
    return ["01_leaks", "02_tables", "papers/readers"]


@pytest.mark.parametrize("name", _run_whole())
def test_copies_run_and_check(name, tmp_path, capsys, runner):
    make(tmp_path, name)
    path = tmp_path / "nbs" / f"{name}.ipynb"
    try_answers(path, name)
    said = ["Not answered yet.\nNot right.\nRight."] * len(TASKS.get(name, {}))
    assert run_copy(path, runner) == said


def test_all_answers_are_known_by_their_hashes(tmp_path, monkeypatch):
    # the copies that are run above hash as often as students' do; here it is the answers that count
    monkeypatch.setattr(class_check, "ROUNDS", 1)
    stored = tmp_path / "class_check.json"
    stored.write_text(json.dumps(copies.hashes(TASKS)), "utf-8")
    monkeypatch.setattr(class_check, "STORED", stored)
    for name, tasks in TASKS.items():
        for task, o in tasks.items():
            assert class_check.is_right(name, int(task), o["answer"]), (name, task)
            assert not class_check.is_right(name, int(task), wrong(o["answer"])), (name, task)


def test_a_browser_finds_the_same_hashes(monkeypatch):
    """Its Python has no OpenSSL, and without it hashlib has no PBKDF2"""
    answers = ["[2, 3, 5]", "yes", "", "é" * 40]
    by_openssl = [class_check.digest("01_leaks", 1, o) for o in answers]
    monkeypatch.delattr(class_check.hashlib, "pbkdf2_hmac")
    assert [class_check.digest("01_leaks", 1, o) for o in answers] == by_openssl
    assert len(set(by_openssl)) == 4


def test_what_a_student_installs_has_all_that_copies_import():
    settings = ConfigParser(delimiters=["="])
    settings.read(ROOT / "settings.ini", "utf-8")
    needed = re.findall(r"([\w-]+)>=", settings["DEFAULT"]["requirements"])
    line = re.search(r"pip install PPDT (.*?) *#", copies.README)[1]
    # jupyterlab brings IPython with its kernel
    there = {"ppdt", "sklearn", "IPython", "class_check", *needed, *line.split()}
    code = [copies.source(c) for p in PAGES for c in loaded(p)["cells"] if c["cell_type"] == "code"]
    scripts = copies.scripts_of(code)
    there |= {o.stem for o in scripts} | sys.stdlib_module_names
    asked = set()
    for text in [*code, *(o.read_text("utf-8") for o in scripts)]:
        asked |= set(re.findall(r"^ *(?:from (\w+)[\w.]* import|import (\w+)$)", text, re.M))
    assert {a or b for a, b in asked} <= there


@each_page
def test_copies_carry_the_results_that_they_name(path):
    code = [copies.source(c) for c in loaded(path)["cells"] if c["cell_type"] == "code"]
    carried = {o.name for o, _ in copies.companions(code)}
    stored = {o.name for o in (NBS / copies.RESULTS).glob("*.csv")}
    assert set(re.findall(r"\w+\.csv", "\n".join(code))) & stored <= carried


def test_a_page_that_gathers_claims_comes_with_those_that_make_them():
    from ppdt.engine.claims import claims_in

    claims = NBS / "papers/claims.ipynb"
    found = set(copies.gathered([claims], NBS))
    assert found == {NBS / o["page"] for o in claims_in(NBS)} - {claims}
    assert not set(copies.gathered([NBS / "01_leaks.ipynb"], NBS))


def test_copies_carry_what_they_read(tmp_path, capsys):
    pages = ["papers/shao_beckford", "papers/kactus", "01_leaks"]
    make(tmp_path, *pages, "office/a_table_that_does_not_fit")
    files = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()}
    wanted = """
        README.md nbs/01_leaks.ipynb nbs/class_check.py nbs/class_check.json
        nbs/papers/class_check.py nbs/papers/class_check.json nbs/papers/results/shao_beckford.csv
        nbs/papers/results/kactus_runs.csv scripts/kactus_runs.py scripts/replicate.py
        benchmarks/results/scale.csv
    """
    assert set(wanted.split()) <= files
    assert not [o for o in files if "class_answers" in o]
    readme = (tmp_path / "README.md").read_text("utf-8")
    assert "jupyter lab nbs" in readme and "* `nbs/papers/kactus.ipynb`" in readme
    assert "01_leaks.ipynb`\n" not in readme.partition("## What needs")[2]
    before = (tmp_path / "README.md").stat().st_mtime_ns
    assert copies.main([str(tmp_path), str(NBS / "01_leaks.ipynb")]) == 2
    assert (tmp_path / "README.md").stat().st_mtime_ns == before
