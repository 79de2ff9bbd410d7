"""Write copies of the book for a class: solutions emptied, answers taken out, checks put in.

    python scripts/student_copies.py FOLDER [NOTEBOOK ...]

FOLDER is made if missing, and gets `nbs` with the notebooks, the stored results and scripts that
they read, and a README.md that says how to start. Without notebooks, chapters and papers are
copied; the engine and the pages for the lecturer are not, and links to them lead to the published
site. A page that gathers what others have found comes with them. Existing files are not
overwritten.

Each task keeps a cell that says whether an answer is right. Answers are taken from
scripts/class_answers.toml, and only their hashes go along.

The first code cell of a copy gets ppdt where it is not installed: in a browser, from the site that
scripts/lite.py makes, and on Colab, from the branch `copies` that the workflow of the site writes.
"""

import hashlib
import json
import re
import shutil
import sys
import textwrap
import tomllib
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(Path(__file__).parent))
from class_check import canonical, digest

from ppdt.engine.claims import CLAIM_TYPE

SCRIPTS = ROOT / "scripts"
RESULTS = Path("papers") / "results"
HINT = "# Your solution\n"
DETAILS = re.compile(r"\s*<details>.*?</details>\n?", re.S)
STARS = re.compile(r"\*\*[^*\n]*★")

README = """\
# The book, for a class

Each chapter ends with exercises. Write a solution where it says `# Your solution`, put what is
asked for into `answer`, and run the cell: it says whether the answer is right. The answers are not
in this folder, only hashes of them.

## To start

    python -m venv .venv
    . .venv/bin/activate                    # on Windows: .venv\\Scripts\\activate
    pip install PPDT jupyterlab fastcore    # PPDT: the wheel or the folder you were given
    jupyter lab nbs

Do this before the first session, where there is a network: JupyterLab needs many packages. Where
there is none, and you were given a folder `wheels`, write

    pip install --no-index --find-links wheels ppdt jupyterlab fastcore

Python 3.11 or later. Open `nbs/01_leaks.ipynb` first, and run it from top to bottom.

## What needs a table from elsewhere

The package carries Adult. These pages read other public tables as well: from the folder that the
variable `PPDT_DATA` names, or from the network when they are first asked for.

{data}

All others need nothing but the package and this folder.

## The first cell of a page

It does nothing in Jupyter. In a browser without Python it gets ppdt from the site of the book, and
on Colab it gets ppdt and this folder.
"""

START = """\
# Gets ppdt in a browser (JupyterLite) and on Colab; anywhere else this cell does nothing.
import sys

if sys.platform == "emscripten":
    %pip install -q ppdt {pages}
elif "google.colab" in sys.modules:
    !git clone -q --depth 1 --branch {branch} {url} /content/{branch}
    %pip install -q /content/{branch}/wheels/*.whl {pages}
    %cd -q /content/{branch}/{folder}"""
BRANCH = "copies"  # of the repository: what this script writes, and ppdt in `wheels`
FOR_PAGES = ("fastcore",)  # what copies import, and ppdt does not need


def source(cell):
    """Text of a cell"""
    return "".join(cell["source"])


def is_solution(cell):
    """Does a code cell begin with `#| solution`?"""
    return cell["cell_type"] == "code" and bool(re.match(r"\s*#\|\s*solution\b", source(cell)))


def is_left_out(text, inside):
    """Is code kept from copies? Where it is shown among the exercises it proves an answer"""
    return inside and not re.match(r"\s*#\|\s*hide", text)


def answers():
    """For each page its tasks: {name: {number: {ask, answer}}}"""
    return tomllib.loads((SCRIPTS / "class_answers.toml").read_text("utf-8"))


def sections(nb):
    """Triples (cell, number of the task it belongs to, is it in the exercises?)"""
    inside, n, task = False, 0, 0
    for cell in nb["cells"]:
        text = source(cell)
        if cell["cell_type"] == "markdown":
            inside = inside or bool(re.search(r"^## Exercises", text, re.M))
            # answers belong to the task before them
            if inside and DETAILS.sub("", text).strip():
                starred = bool(STARS.search(text))
                n += starred
                task = n * starred
        yield cell, task, inside


def code_cell(text, about):
    """A code cell that was not run; its id is made of what it is `about`"""
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": hashlib.sha256(about.encode()).hexdigest()[:8],
        "metadata": {},
        "outputs": [],
        "source": text.splitlines(keepends=True),
    }


def check_cell(name, task, ask):
    """The cell in which an answer is checked"""
    words = textwrap.fill(ask, 96, initial_indent="# ", subsequent_indent="# ")
    text = f'{words}\nanswer = ...\ncheck("{name}", {task}, answer)'
    return code_cell(text, f"{name} {task} check")


def empty(nb, name="", tasks=None):
    """The notebook `nb` without solutions and answers, with a check for each of `tasks`"""
    tasks, cells, done = tasks or {}, [], set()
    for cell, task, inside in sections(nb):
        text = source(cell)
        if cell["cell_type"] == "markdown":
            left = DETAILS.sub("", text)
            if left.strip():
                cells.append(cell | {"source": left.splitlines(keepends=True)})
            if tasks and re.search(r"^## Exercises", text, re.M):
                cells.append(code_cell("from class_check import check", f"{name} import"))
        elif is_solution(cell):
            # one empty cell for a run of solution cells
            if source(cells[-1]) != HINT and (not task or task not in done):
                cells.append(cell | {"source": [HINT], "outputs": [], "execution_count": None})
                if str(task) in tasks:
                    cells.append(check_cell(name, task, tasks[str(task)]["ask"]))
            done.add(task)
        elif re.search(r"^#\|\s*eval:\s*false", text, re.M):
            # for reading; Jupyter would run it
            shown = re.sub(r"^#\|.*\n", "", text, flags=re.M)
            words = code_cell(f"```python\n{shown}\n```", text)
            cells.append({o: words[o] for o in ("id", "metadata", "source")})
            cells[-1]["cell_type"] = "markdown"
        elif not is_left_out(text, inside):
            cells.append(cell)
    return nb | {"cells": cells}


def settings():
    """What settings.ini says"""
    parser = ConfigParser(delimiters=["="])
    parser.read(ROOT / "settings.ini", "utf-8")
    return parser["DEFAULT"]


def started(nb, place):
    """The notebook `nb`, which will lie at nbs/`place`, with the cell that gets ppdt"""
    code = [source(c) for c in nb["cells"] if c["cell_type"] == "code"]
    more = ["pyarrow"] if any("parquet" in o for o in code) else []
    folder = (Path("nbs") / place).parent.as_posix()
    text = START.format(
        pages=" ".join([*FOR_PAGES, *more]), branch=BRANCH, url=settings()["git_url"], folder=folder
    )
    first = code_cell(text, f"{place.as_posix()} start")
    return nb | {"cells": [*nb["cells"][:1], first, *nb["cells"][1:]]}


def site():
    """Address of the published site, which has the pages of the engine"""
    docs = settings()
    return docs["doc_host"].rstrip("/") + "/" + docs["doc_baseurl"].strip("/")


def away(nb):
    """The notebook `nb` with links to pages that are not copied as links to the site"""
    link = re.compile(r"\]\((?:\.\./)?((?:engine|class)/\w+)\.ipynb(?=[)#])")
    for cell in nb["cells"]:
        if cell["cell_type"] == "markdown":
            text = link.sub(rf"]({site()}/\1.html", source(cell))
            cell["source"] = text.splitlines(keepends=True)
    return nb


def book(nbs):
    """Chapters, papers and reference pages, without the engine and the lecturer's pages"""
    for path in sorted(nbs.rglob("*.ipynb")):
        parts = path.relative_to(nbs).parts
        if parts[0] not in ("engine", "class") and not any(o[0] in "._" for o in parts):
            yield path


def gathered(paths, nbs):
    """Pages whose claims one of `paths` gathers, those of the engine too, but for `paths`"""
    if any("claims_in(" in p.read_text("utf-8") for p in paths):
        for p in sorted(nbs.rglob("[0-9a-z]*.ipynb")):
            if p not in paths and f'"{CLAIM_TYPE}"' in p.read_text("utf-8"):
                yield p


def scripts_of(texts):
    """Scripts that texts of code import, and those that these import"""
    names = {o.stem: o for o in SCRIPTS.glob("*.py") if o.stem != "class_check"}
    asked = r'^\s*(?:from|import) (\w+)|import_module\(\s*"(\w+)"'
    found, todo = {}, list(texts)
    while todo:
        for pair in re.findall(asked, todo.pop(), re.M):
            for o in set(pair) & set(names) - set(found):
                found[o] = names[o]
                todo.append(names[o].read_text("utf-8"))
    return sorted(found.values())


def companions(texts):
    """Files that pages read, as pairs (from, where to in the folder)"""
    for p in scripts_of(texts):
        yield p, Path("scripts") / p.name
    if any(re.search(r"""\bresults["'/]""", o) for o in texts):
        for p in sorted((ROOT / "nbs" / RESULTS).glob("*.csv")):
            yield p, Path("nbs") / RESULTS / p.name
    measured = {o for t in texts for o in re.findall(r"benchmarks/results/[\w.]+", t)}
    for name in sorted(measured):
        yield ROOT / name, Path(name)
    for p in sorted((ROOT / "nbs" / "images").glob("*")):
        if any(f"images/{p.name}" in o for o in texts):
            yield p, Path("nbs") / "images" / p.name


def hashes(tasks_of):
    """Hash of each answer, by page and number"""
    return {
        f"{name} {task}": digest(name, task, canonical(o["answer"]))
        for name, tasks in tasks_of.items()
        for task, o in tasks.items()
    }


def main(args):
    if not args or args[0].startswith("-"):
        print(__doc__)
        return 2
    dest, nbs = Path(args[0]), ROOT / "nbs"
    paths = [Path(a).resolve() for a in args[1:]] or list(book(nbs))
    paths += list(gathered(paths, nbs))
    places = {p: p.relative_to(nbs) if p.is_relative_to(nbs) else Path(p.name) for p in paths}
    there = [str(dest / "nbs" / o) for o in places.values() if (dest / "nbs" / o).exists()]
    if there or (dest / "README.md").exists():
        there = there or [str(dest / "README.md")]
        print(f"not overwritten: {', '.join(there)}; choose an empty folder", file=sys.stderr)
        return 2

    all_tasks, texts, folders, data = answers(), [], {}, []
    for p, place in places.items():
        name = place.with_suffix("").as_posix()
        tasks = all_tasks.get(name, {})
        nb = started(away(empty(json.loads(p.read_text("utf-8")), name, tasks)), place)
        target = dest / "nbs" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(nb, indent=1, ensure_ascii=False) + "\n", "utf-8")
        print(target)
        code = [source(c) for c in nb["cells"] if c["cell_type"] == "code"]
        texts += map(source, nb["cells"])
        if tasks:
            folders.setdefault(target.parent, {})[name] = tasks
        code += [o.read_text("utf-8") for o in scripts_of(code)]
        if any("fetch_benchmark" in o for o in code):
            data.append(f"* `nbs/{place.as_posix()}`")

    for folder, tasks_of in folders.items():
        shutil.copy(SCRIPTS / "class_check.py", folder)
        stored = json.dumps(hashes(tasks_of), indent=1) + "\n"
        (folder / "class_check.json").write_text(stored, "utf-8")
    for p, place in companions(texts):
        (dest / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(p, dest / place)
    (dest / "README.md").write_text(README.format(data="\n".join(data) or "* none"), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
