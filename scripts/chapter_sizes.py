"""Print words of prose, cells, lines of code and kilobytes of every chapter: python
scripts/chapter_sizes.py
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


if __name__ == "__main__":
    print(f"{'chapter':32}{'words':>7}{'cells':>7}{'code':>7}{'kB':>7}")
    for p in sorted(NBS.rglob("*.ipynb")):
        if not any(o[0] in "._" for o in p.relative_to(NBS).parts):
            print(f"{p.relative_to(NBS).as_posix():32}" + "".join(f"{n:7}" for n in sizes(p)))
