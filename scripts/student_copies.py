"""Write copies of the book for a class: solutions emptied, answers taken out.

    python scripts/student_copies.py FOLDER [NOTEBOOK ...]

FOLDER is made if missing. Without notebooks, chapters and papers are copied; the engine is not, and
links to it lead to the published site. Existing files are not overwritten.
"""

import json
import re
import sys
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HINT = "# Your solution\n"


def empty(nb):
    """The notebook `nb` without solutions and answers"""
    cells = []
    for cell in nb["cells"]:
        src = "".join(cell["source"])
        if cell["cell_type"] == "markdown" and re.match(r"\s*<details", src):
            continue
        if cell["cell_type"] == "code" and re.match(r"\s*#\|\s*solution\b", src):
            # one empty cell for a run of solution cells
            if cells and cells[-1]["source"] == [HINT]:
                continue
            cell = cell | {"source": [HINT], "outputs": [], "execution_count": None}
        # copies must not write the package
        if cell["cell_type"] == "code" and "nbdev_export(" in src:
            continue
        cells.append(cell)
    return nb | {"cells": cells}


def site():
    """Address of the published site, which has the pages of the engine"""
    settings = ConfigParser(delimiters=["="])
    settings.read(ROOT / "settings.ini", "utf-8")
    docs = settings["DEFAULT"]
    return docs["doc_host"].rstrip("/") + "/" + docs["doc_baseurl"].strip("/")


def away(nb):
    """The notebook `nb` with links to the engine, which is not copied, as links to the site"""
    link = re.compile(r"\]\((?:\.\./)?(engine/\w+)\.ipynb(?=[)#])")
    for cell in nb["cells"]:
        if cell["cell_type"] == "markdown":
            text = link.sub(rf"]({site()}/\1.html", "".join(cell["source"]))
            cell["source"] = text.splitlines(keepends=True)
    return nb


def book(nbs):
    """Chapters, papers and reference pages, without the engine"""
    for path in sorted(nbs.rglob("*.ipynb")):
        parts = path.relative_to(nbs).parts
        if parts[0] != "engine" and not any(o[0] in "._" for o in parts):
            yield path


def main(args):
    if not args or args[0].startswith("-"):
        print(__doc__)
        return 2
    dest, nbs = Path(args[0]), ROOT / "nbs"
    paths = [Path(a).resolve() for a in args[1:]] or list(book(nbs))
    targets = {p: dest / (p.relative_to(nbs) if p.is_relative_to(nbs) else p.name) for p in paths}
    there = [str(t) for t in targets.values() if t.exists()]
    if there:
        print(f"not overwritten: {', '.join(there)}; choose an empty folder", file=sys.stderr)
        return 2
    for p, t in targets.items():
        t.parent.mkdir(parents=True, exist_ok=True)
        nb = away(empty(json.loads(p.read_text("utf-8"))))
        t.write_text(json.dumps(nb, indent=1, ensure_ascii=False) + "\n", "utf-8")
        print(t)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
