"""Mutation tests: an operator, a comparison or a number is changed; do the module's tests notice?

    python scripts/mutants.py kactus                          # a sample of its mutants, by name
    python scripts/mutants.py engine.tiers --sample 60 --seed 1
    python scripts/mutants.py                                 # all modules below, in an hour
    python scripts/mutants.py kactus --survivors              # only those that survived last time
    python scripts/mutants.py --told                          # counts, and survivors with reasons

It works on a copy of the repository, needs `pip install cosmic-ray` beside the developers' tools
and a system that can fork. Every mutant is one line of tests/mutants.csv: the commit, the module,
the operator of cosmic-ray, the line as changed, how it ended, and why a survivor may live. The
reasons are written by hand, and stay with a line that comes out again. "killed later" is by tests
that only survivors are put to, "too slow" by none, as they did not end. Annotations are not
changed, and of each place one change is drawn before any place gets a second.
"""

import argparse
import ast
import csv
import importlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter, namedtuple
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STORE = ROOT / "tests" / "mutants.csv"
FIELDS = ("commit", "module", "operator", "line", "outcome", "why")

# the tests that concern a module: quick ones, and those for what survived them
TESTS = {
    "splits": ("test_looking_ahead.py test_growing.py", "test_c45.py"),
    "engine.fractions": ("test_growing.py", "test_c45.py test_weights.py test_id3_sets.py"),
    "medians": ("test_medians.py", "test_regions.py test_ties.py"),
    "infogain": ("test_infogain.py", "test_regions.py test_ties.py"),
    "kactus": ("test_kactus.py", "test_kactus_properties.py test_ties.py"),
    "engine.tiers": ("test_erp.py", "test_ties.py"),
    "engine.span_search": ("test_models.py", "test_possible.py"),
    "engine.kadet_span_test": ("test_kadet.py", "test_exports.py"),
    "privacy": ("test_privacy.py", "test_measures.py test_persons.py test_attackers.py"),
}
# left out: tests of large tables
SLOW = (
    "adult or million or thousand or chain or wide or larger or large_table or the_draw_is"
    " or never_fails or sklearn_trees or many_values_of_few or file_and_a_learner"
)
# what takes seconds to import, and every mutant would import again
PRELOAD = ("matplotlib.pyplot", "pandas", "scipy.stats", "sklearn.ensemble", "sklearn.pipeline")

Place = namedtuple("Place", "operator occurrence at")
Mutant = namedtuple("Mutant", "operator number line code")


def _git(*args):
    command = ["git", *args]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def commit():
    """The last commit that changed the package or its tests; a plus for what is not committed"""
    paths = ("--", "ppdt", "tests/*.py")
    plus = "+" if _git("status", "--porcelain", *paths) else ""
    return _git("log", "-1", "--format=%h", *paths).strip() + plus


# ---------------------------------------------------------------- mutants


def _annotations(text):
    """(begin, end) of all annotations, each as (line, column)"""
    found = []
    for o in ast.walk(ast.parse(text)):
        for name in ("annotation", "returns"):
            a = getattr(o, name, None)
            if a is not None:
                found.append(((a.lineno, a.col_offset), (a.end_lineno, a.end_col_offset)))
    return found


def _changed_line(before, after, at):
    """The line that tells a mutant; its own line where one is gone"""
    before, after = before.splitlines(), after.splitlines()
    if len(before) != len(after):
        return "without " + before[at[0] - 1].strip()
    return next(b.strip() for a, b in zip(before, after) if a != b)


def places(text):
    """All changes that cosmic-ray knows for a module, annotations apart"""
    # in this order: parso is imported in a circle otherwise
    importlib.import_module("parso")
    trees = importlib.import_module("cosmic_ray.ast")
    plugins = importlib.import_module("cosmic_ray.plugins")
    nodes, quiet = list(trees.ast_nodes(trees.get_ast(text))), _annotations(text)
    for name in sorted(plugins.operator_names()):
        operator = plugins.get_operator(name)
        if operator.arguments():
            continue
        found = [at for node in nodes for at in operator().mutation_positions(node)]
        for i, (begin, end) in enumerate(found):
            if not any(b <= begin and end <= e for b, e in quiet):
                yield Place(name, i, begin)


def mutant(text, place):
    """The module with one change; None where it is no Python (a star of parameters was changed)"""
    operator = importlib.import_module("cosmic_ray.plugins").get_operator(place.operator)
    change = importlib.import_module("cosmic_ray.mutating").mutate_code
    code = change(text, operator(), place.occurrence)
    try:
        ast.parse(code)
    except SyntaxError:
        return None
    name = place.operator.removeprefix("core/")
    return Mutant(name, place.at[0], _changed_line(text, code, place.at), code)


def draw(text, n, seed):
    """`n` mutants, one of each place before a second of any, in the order of their lines"""
    found = list(places(text))
    random.Random(seed).shuffle(found)
    turn = Counter()
    turns = []
    for o in found:
        turns.append(turn[o.at])
        turn[o.at] += 1
    ranked = sorted(range(len(found)), key=turns.__getitem__)
    made = (mutant(text, found[i]) for i in ranked)
    return sorted(islice(filter(None, made), n), key=lambda m: (m.number, m.operator))


# ---------------------------------------------------------------- tests


def copy_to(folder):
    """What git knows, without its history"""
    names = _git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            to = folder / name
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, to)


def _imports(path, name):
    """Names that a module of the package may import; `name` is its own"""
    for o in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(o, ast.Import):
            yield from (a.name for a in o.names)
        elif isinstance(o, ast.ImportFrom):
            above = name.split(".")[: -o.level] if o.level else []
            start = ".".join([*above, *([o.module] if o.module else [])])
            yield start
            yield from (f"{start}.{a.name}" for a in o.names)


def users(folder, module):
    """A module and all that import it, by whatever way"""
    files = {}
    for path in (folder / "ppdt").rglob("*.py"):
        if path.stem != "__init__":
            files[".".join(path.relative_to(folder).with_suffix("").parts)] = path
    asks = {name: set(_imports(path, name)) for name, path in files.items()}
    found, n = {f"ppdt.{module}"}, 0
    while len(found) > n:
        n = len(found)
        found |= {name for name, names in asks.items() if names & found}
    return found


def _forget(names):
    """As if the modules had never been imported"""
    for name in names:
        sys.modules.pop(name, None)
        above, _, last = name.rpartition(".")
        vars(sys.modules[above]).pop(last, None)


class _FewPhases:
    """A plugin of pytest: a failure is not made smaller"""

    def pytest_configure(self):
        hypothesis = importlib.import_module("hypothesis")
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        quick = hypothesis.settings.get_profile("quick")
        hypothesis.settings.register_profile("mutants", quick, phases=phases)
        hypothesis.settings.load_profile("mutants")


def _pytest(folder, words, fresh, is_first):
    """The tests in this process, with some modules imported anew: pytest's exit code"""
    os.chdir(folder)
    _forget(fresh)
    os.environ |= {"PYTHONPATH": str(folder), "PPDT_HYPOTHESIS": "quick", "MPLBACKEND": "agg"}
    sys.dont_write_bytecode = not is_first
    with open(folder / "told", "w") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    options = ["-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    return int(importlib.import_module("pytest").main([*options, *words], [_FewPhases()]))


def run(folder, words, limit, fresh, is_first=False):
    """(exit code, seconds) of tests in a fresh process; the code is None when it takes too long"""
    begun, pid = time.monotonic(), os.fork()
    if not pid:
        os.setsid()
        code = 99
        try:
            code = _pytest(folder, words, fresh, is_first)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    while time.monotonic() - begun < limit:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), time.monotonic() - begun
        time.sleep(0.02)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None, limit


def path_of(module):
    return Path("ppdt", *module.split(".")).with_suffix(".py")


def words_of(files):
    """The arguments of pytest"""
    return [*(f"tests/{o}" for o in files.split()), "-k", f"not ({SLOW})"]


def try_module(folder, module, chosen):
    """(mutant, outcome) of each that was chosen"""
    path = folder / path_of(module)
    text = path.read_text("utf-8")
    quick, later = map(words_of, TESTS[module])
    limits, fresh = [], users(folder, module)
    for words in quick, later:
        code, seconds = run(folder, words, 600, fresh, True)
        if code:
            sys.exit(f"{module}: tests end in {code} unchanged\n{(folder / 'told').read_text()}")
        limits.append(2 * seconds + 10)
        print(f"{module}: {len(chosen)} mutants, tests of {seconds:.0f} s", flush=True)
    for old in path.parent.glob(f"__pycache__/{path.stem}.*"):
        old.unlink()
    for m in chosen:
        path.write_text(m.code, "utf-8")
        outcome = "killed"
        code, _ = run(folder, quick, limits[0], fresh)
        if not code:
            outcome = "killed later" if code == 0 else "too slow"
            code, _ = (0, 0) if code is None else run(folder, later, limits[1], fresh)
        path.write_text(text, "utf-8")
        if outcome == "killed later" and not code:
            outcome = "survived" if code == 0 else "too slow"
        if outcome != "killed":
            print(f"  {outcome}: line {m.number}, {m.operator}: {m.line}", flush=True)
        yield m, outcome


# ---------------------------------------------------------------- what was found


def stored():
    if not STORE.exists():
        return []
    with open(STORE, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def store(rows):
    rows = sorted(rows, key=lambda o: list(TESTS).index(o["module"]))
    with open(STORE, "w", newline="", encoding="utf-8") as f:
        out = csv.DictWriter(f, FIELDS, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def _key(row):
    return row["module"], row["operator"], row["line"]


def told(rows):
    """Counts of each module, then those that live"""
    for module in dict.fromkeys(o["module"] for o in rows):
        ended = Counter(o["outcome"] for o in rows if o["module"] == module)
        yield f"{module:<24}{ended.total():>4} mutants, {dict(ended)}"
    for o in rows:
        if o["outcome"] == "survived":
            yield f"{o['module']}, {o['operator']}: {o['line']}\n    {o['why'] or 'no reason yet'}"


def main():
    about, _, _ = __doc__.partition("\n")
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=", ".join(TESTS))
    parser.add_argument("--sample", type=int, default=45, help="mutants of a module (default: 45)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default: 0)")
    parser.add_argument("--survivors", action="store_true", help="those of the last run again")
    parser.add_argument("--told", action="store_true", help="say what was found, and run nothing")
    args = parser.parse_args()
    if args.told:
        print(*told(stored()), sep="\n")
        return
    try:
        importlib.import_module("cosmic_ray.plugins")
    except ImportError:
        sys.exit("mutants are made by cosmic-ray: pip install cosmic-ray")
    if unknown := set(args.modules) - set(TESTS):
        parser.error(f"no tests are named for {', '.join(sorted(unknown))}")
    for name in (*PRELOAD, "hypothesis", "pytest"):
        importlib.import_module(name)
    at = commit()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder).resolve()
        copy_to(folder)
        sys.path.insert(0, str(folder))
        for name in sorted(users(folder, "tables")):
            importlib.import_module(name)
        for module in args.modules or TESTS:
            before = {_key(o): o for o in stored()}
            text = (folder / path_of(module)).read_text("utf-8")
            if args.survivors:
                live = {k for k, o in before.items() if o["outcome"] == "survived"}
                names = {f"core/{operator}" for of, operator, _ in live if of == module}
                found = [o for o in places(text) if o.operator in names]
                made = filter(None, (mutant(text, o) for o in found))
                chosen = [m for m in made if (module, m.operator, m.line) in live]
            else:
                chosen = draw(text, args.sample, args.seed)
            rows = []
            for m, outcome in try_module(folder, module, chosen):
                row = dict(zip(FIELDS, (at, module, m.operator, m.line, outcome, "")))
                rows.append(row | {"why": before.get(_key(row), row)["why"]})
            again = {_key(o) for o in rows}
            keep = [o for o in stored() if o["module"] != module or args.survivors]
            store([*(o for o in keep if _key(o) not in again), *rows])
    print(*told(stored()), sep="\n")


if __name__ == "__main__":
    main()
