"""Write copies of the chapters for a class: solutions emptied, answers taken out.

    python scripts/student_copies.py FOLDER [NOTEBOOK ...]

FOLDER is made if missing. Without notebooks, all chapters are copied. Existing files are not
overwritten.
"""

import json
import re
import sys
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


def main(args):
    if not args or args[0].startswith("-"):
        print(__doc__)
        return 2
    dest, nbs = Path(args[0]), ROOT / "nbs"
    paths = [Path(a).resolve() for a in args[1:]] or sorted(
        p for p in nbs.rglob("*.ipynb") if not any(o[0] in "._" for o in p.relative_to(nbs).parts)
    )
    targets = {p: dest / (p.relative_to(nbs) if p.is_relative_to(nbs) else p.name) for p in paths}
    there = [str(t) for t in targets.values() if t.exists()]
    if there:
        print(f"not overwritten: {', '.join(there)}; choose an empty folder", file=sys.stderr)
        return 2
    for p, t in targets.items():
        t.parent.mkdir(parents=True, exist_ok=True)
        t.write_text(
            json.dumps(empty(json.loads(p.read_text("utf-8"))), indent=1, ensure_ascii=False)
            + "\n",
            "utf-8",
        )
        print(t)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
