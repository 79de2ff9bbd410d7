"""Print words of prose, cells, lines of code and kilobytes of every notebook, and their sums.

python scripts/chapter_sizes.py
"""

import json
import re
from pathlib import Path

NBS = Path(__file__).resolve().parent.parent / "nbs"


def sizes(path):
    """Words of prose, cells, non-empty lines of code, kilobytes"""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    prose = " ".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    code = [
        l
        for c in cells
        if c["cell_type"] == "code"
        for l in "".join(c["source"]).splitlines()
        if l.strip() and not l.startswith("#|")
    ]
    return (
        len(re.findall(r"\b[^\W\d_][\w'-]*", prose)),
        len(cells),
        len(code),
        path.stat().st_size // 1000,
    )


def parts():
    """The notebooks of the book, of the papers and of the engine"""
    yield "the book", sorted(NBS.glob("[0-9]*.ipynb"))
    yield "other pages", sorted(NBS.glob("[a-z]*.ipynb"))
    yield "papers", sorted(NBS.glob("papers/[!_]*.ipynb"))
    yield "engine", sorted(NBS.glob("engine/[!_]*.ipynb"))


def row(name, numbers):
    """A line of the table"""
    return f"{name:34}" + "".join(f"{n:9,}" for n in numbers)


if __name__ == "__main__":
    print(f"{'':34}" + "".join(f"{o:>9}" for o in ("words", "cells", "code", "kB")))
    for title, paths in parts():
        rows = {p.relative_to(NBS).as_posix(): sizes(p) for p in paths}
        print(*(row(name, numbers) for name, numbers in rows.items()), sep="\n")
        print(row(f"= {title}, {len(rows)}", map(sum, zip(*rows.values()))), end="\n\n")
