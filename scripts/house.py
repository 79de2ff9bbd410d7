"""Measure the house: how long, how dense, how entangled. `python scripts/house.py` prints a table.

With --check it exits 1 when a number is beyond its limit. The wings and their modules are read from
the map in CONTRIBUTING.md, so that the map stays true.
"""

import argparse
import ast
import io
import json
import re
import sys
import tokenize
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "ppdt"
NBS = ROOT / "nbs"

# what may not be exceeded; a change that needs more has to argue for it
LIMITS = {
    "longest line of code": 100,
    "syntax nodes a line, all modules": 10,
    "lines of the longest module": 600,
    "lines of the longest code cell, docstrings apart": 60,
    "private names across modules": 0,
    "circles": 0,
    "arrows up": 0,
    "imports by a string": 0,
    "arrows between rooms, the engine as one": 200,
    "methods that import each other": 0,
    "chapters": 28,
    "words of the longest chapter": 4000,
    "cells of the longest chapter": 130,
    "highest complexity of a function": 15,
}


@dataclass
class Module:
    """A module of the package, and what it imports from others"""

    name: str
    text: str
    tree: ast.Module
    imports: dict = field(default_factory=dict)  # module -> names


def modules() -> dict:
    """All modules by name, without the package's own name"""
    res = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        # the textbook versions are for tests, and nothing imports them
        if path.name in ("__init__.py", "_modidx.py", "_textbook.py"):
            continue
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        text = path.read_text("utf-8")
        res[name] = Module(name, text, ast.parse(text))
    for m in res.values():
        m.imports = imported(m, res)
    return res


def imported(module: Module, known) -> dict:
    """Names that a module takes from others: {module: {names}}"""
    res: dict = {}
    for node in ast.walk(module.tree):
        for name, names in _sources(node, module.name):
            if name in known and name != module.name:
                res.setdefault(name, set()).update(names)
    return res


def _sources(node, here):
    """(module, names) of a statement or call that imports"""
    if isinstance(node, ast.Import):
        return [(o.name.removeprefix("ppdt."), set()) for o in node.names]
    if isinstance(node, ast.ImportFrom):
        return _from(node, here)
    if is_string_import(node) and node.args and isinstance(node.args[0], ast.Constant):
        return [(str(node.args[0].value).removeprefix("ppdt."), set())]
    return []


def _from(node, here):
    """(module, names) of `from ... import ...`, relative or not"""
    base = node.module or ""
    if node.level:
        # level 1 of engine.keys is engine, level 2 the package
        up = here.split(".")[: -node.level]
        base = ".".join([*up, *([base] if base else [])])
    elif base == "ppdt" or base.startswith("ppdt."):
        base = base.removeprefix("ppdt").removeprefix(".")
    else:
        return []
    names = {o.name for o in node.names}
    whole = [(f"{base}.{o}".lstrip("."), set()) for o in names]
    return [(base, names), *whole]


def is_string_import(node) -> bool:
    """Is it a call of `import_module` or `__import__`?"""
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return name in ("import_module", "__import__")


def wings() -> dict:
    """Wing of each module, by the map in CONTRIBUTING.md: a row `| wing | module, module |`"""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| \*\*(\w+)\*\* \| (.+?) \|$", text, re.M)
    return {m: i for i, (_, names) in enumerate(rows) for m in re.findall(r"`([\w.]+)`", names)}


def code_lines(module: Module) -> int:
    """Lines with code, docstrings and comments left out"""
    skip = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    lines: set = set()
    for t in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if t.type not in skip and t.type != tokenize.ENDMARKER:
            lines.update(range(t.start[0], t.end[0] + 1))
    return len(lines - _docstring_lines(module.tree))


def _lines_without_docstrings(source):
    """Lines of a cell, docstrings apart"""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return len(source.splitlines())
    return len(source.splitlines()) - len(_docstring_lines(tree))


def _docstring_lines(tree):
    """Numbers of the lines that docstrings stand on"""
    res: set = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and node.body:
            first = node.body[0]
            text = getattr(getattr(first, "value", None), "value", None)
            if isinstance(first, ast.Expr) and isinstance(text, str):
                res.update(range(first.lineno, first.end_lineno + 1))
    return res


def circles(known: dict) -> list:
    """Modules that import each other, directly or not: sets of more than one"""
    reach = {m: _reachable(m, known) for m in known}
    found = {frozenset(o for o in reach[m] if m in reach[o]) for m in known}
    return [sorted(o) for o in found if len(o) > 1]


def _reachable(start, known):
    """All modules that one imports, directly or not"""
    seen, todo = set(), [start]
    while todo:
        for o in known[todo.pop()].imports:
            if o not in seen:
                seen.add(o)
                todo.append(o)
    return seen


def arrows_up(known: dict) -> list:
    """Imports from a wing further right, and modules that the map does not name"""
    at = wings()
    lost = [f"{m} is in no wing" for m in known if m not in at]
    gone = [f"the map names {m}, which is no module" for m in at if m not in known]
    up = [
        f"{m} imports {o}"
        for m in known
        for o in known[m].imports
        if m in at and o in at and at[o] > at[m]
    ]
    return lost + gone + up


def room_arrows(known: dict) -> set:
    """Arrows in the picture of the folder: public modules, and the engine as one room"""

    def room(name):
        return "engine" if name.startswith("engine.") else name

    pairs = {(room(m), room(o)) for m in known for o in known[m].imports}
    return {(a, b) for a, b in pairs if a != b}


# each anonymizer, and the tree that is one: they are made of parts, not of each other
METHODS = ("mondrian", "tds", "lattice", "mict", "kadet", "kactus", "erp")


def entangled_methods(known: dict) -> list:
    """Methods that import another method"""
    return [f"{m} imports {o}" for m in METHODS for o in METHODS if o in known[m].imports]


def private_names(known: dict) -> list:
    """(module, source, name) of private names that cross modules"""
    return [
        (m, o, name)
        for m in known
        for o, names in known[m].imports.items()
        for name in sorted(names)
        if name.startswith("_") and not name.startswith("__")
    ]


def complexity(known: dict) -> list:
    """(complexity, module, function), the highest first; needs radon"""
    from radon.complexity import cc_visit

    found = [(f.complexity, m, f.name) for m in known for f in _functions(cc_visit(known[m].text))]
    return sorted(found, reverse=True)


def _functions(blocks):
    """Functions and methods of what radon found"""
    for o in blocks:
        if hasattr(o, "methods"):
            yield from o.methods
        else:
            yield o


@dataclass
class Notebook:
    """A notebook: its words of prose and its code cells"""

    path: Path
    n_cells: int
    words: int
    code: list

    @property
    def longest_cell(self) -> int:
        """Lines of the longest code cell, docstrings apart"""
        return max(map(_lines_without_docstrings, self.code), default=0)

    @property
    def is_chapter(self) -> bool:
        """Does it stand in the reading line?"""
        return self.path.parent == NBS and self.path.name[0].isdigit()


def notebooks() -> list:
    """All notebooks of the book and the engine"""
    return [_notebook(p) for p in sorted(NBS.rglob("*.ipynb")) if not _is_hidden(p)]


def _is_hidden(path):
    return any(o[0] in "._" for o in path.relative_to(NBS).parts)


def _notebook(path):
    cells = json.loads(path.read_text("utf-8"))["cells"]
    text = [("".join(o["source"]), o["cell_type"]) for o in cells]
    words = sum(len(s.split()) for s, kind in text if kind == "markdown")
    return Notebook(path, len(cells), words, [s for s, kind in text if kind == "code"])


def measure() -> dict:
    """Every number of the house, by name"""
    known, books = modules(), notebooks()
    chapters = [o for o in books if o.is_chapter]
    nodes = sum(sum(1 for _ in ast.walk(m.tree)) for m in known.values())
    lines = sum(map(code_lines, known.values()))
    longest = max((len(s) for o in books for c in o.code for s in c.splitlines()), default=0)
    strings = [m for m in known for n in ast.walk(known[m].tree) if is_string_import(n)]
    return {
        "modules": len(known),
        "lines of code": lines,
        "longest line of code": longest,
        "syntax nodes a line, all modules": round(nodes / lines, 2),
        "lines of the longest module": max(len(m.text.splitlines()) for m in known.values()),
        "lines of the longest code cell, docstrings apart": max(o.longest_cell for o in books),
        "highest complexity of a function": complexity(known)[0][0],
        "private names across modules": len(private_names(known)),
        "arrows": sum(len(m.imports) for m in known.values()),
        "arrows between rooms, the engine as one": len(room_arrows(known)),
        "arrows up": len(arrows_up(known)),
        "circles": len(circles(known)),
        "imports by a string": len(strings),
        "methods that import each other": len(entangled_methods(known)),
        "chapters": len(chapters),
        "words before the first anonymizer": words_before(chapters),
        "words of the longest chapter": max(o.words for o in chapters),
        "cells of the longest chapter": max(o.n_cells for o in chapters),
    }


def words_before(chapters) -> int:
    """Words of prose before the chapter that derives Mondrian's cuts"""
    names = [o.path.stem for o in chapters]
    return sum(o.words for o in chapters[: names.index("04_medians")])


def worst(n=8) -> list:
    """Where the numbers come from: lines for the eye"""
    known, books = modules(), notebooks()
    res = []
    by_length = sorted(known.values(), key=lambda m: -len(m.text.splitlines()))
    res += [f"module   {len(m.text.splitlines()):>5} lines  {m.name}" for m in by_length[:n]]
    cells = sorted(((o.longest_cell, o.path.name) for o in books), reverse=True)
    res += [f"cell     {k:>5} lines  {name}" for k, name in cells[:n]]
    res += [f"function {c:>5} paths  {m}.{f}" for c, m, f in complexity(known)[:n]]
    chapters = sorted(((o.words, o.path.name) for o in books if o.is_chapter), reverse=True)
    res += [f"chapter  {k:>5} words  {name}" for k, name in chapters[:n]]
    res += [f"private  {a} takes {name} from {b}" for a, b, name in private_names(known)[:n]]
    res += [f"circle   {' <-> '.join(o)}" for o in circles(known)]
    return res + [f"up       {o}" for o in arrows_up(known)]


def rooms() -> list:
    """Every module with what it says of itself, wing by wing"""
    known, at = modules(), wings()
    res = []
    for name in sorted(at, key=lambda m: at[m]):
        first = (ast.get_docstring(known[name].tree) or "").partition("\n")[0]
        res.append(f"{name:<26} {first}")
    return res


def main(argv=None) -> int:
    """Print the numbers; with --check compare them with the limits"""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="exit 1 beyond a limit")
    parser.add_argument("--worst", action="store_true", help="name the places behind the numbers")
    parser.add_argument("--rooms", action="store_true", help="list the modules, wing by wing")
    args = parser.parse_args(argv)
    if args.rooms:
        print(*rooms(), sep="\n")
        return 0
    found = measure()
    over = [o for o, limit in LIMITS.items() if found[o] > limit]
    for name, value in found.items():
        limit = f"at most {LIMITS[name]:,}" if name in LIMITS else ""
        print(f"{name:<50}{value:>10,}  {limit}{'  BEYOND' if name in over else ''}")
    if args.worst:
        print(*worst(), sep="\n")
    return int(args.check and bool(over))


if __name__ == "__main__":
    sys.exit(main())
