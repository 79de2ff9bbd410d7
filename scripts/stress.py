"""Property tests on thousands of random tables, one test after the other, resumable.

    python scripts/stress.py            # all tests that this commit has not passed yet
    python scripts/stress.py --jobs 2   # two at a time
    python scripts/stress.py --resume   # those that no commit of the store has passed
    python scripts/stress.py --told     # what was run, and how many tables each method was given

Every test ends as one line of tests/stress.csv: the commit, the test, how it ended, seconds, and
how many tables each method was given. A run that is stopped goes on where it was. What was passed
by another commit is run again, unless --resume says that a round over several commits will do.
"""

import argparse
import csv
import os
import re
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

ROOT = Path(__file__).resolve().parent.parent
STORE = ROOT / "tests" / "stress.csv"
FIELDS = ("commit", "test", "outcome", "seconds", "tables")
NO_PROPERTIES = ("house", "notebooks", "site")
_TABLES = re.compile(r"(\w+): ([\d,]+) tables")


def _git(*args):
    return subprocess.run(
        ["git", *args], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def commit():
    """The last commit that changed the package or its tests; the store itself does not count"""
    if _git("status", "--porcelain", "--", "ppdt", "tests/*.py"):
        sys.exit("commit the changes of ppdt and tests first: results belong to a commit")
    return _git("log", "-1", "--format=%h", "--", "ppdt", "tests/*.py")


def all_tests():
    """Every property, without its cases, in the order of the files"""
    files = sorted((ROOT / "tests").glob("test_*.py"))
    files = [str(o) for o in files if o.stem.removeprefix("test_") not in NO_PROPERTIES]
    listed = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--collect-only", *files],
        cwd=ROOT,
        env={**os.environ, "PPDT_HYPOTHESIS": "stress"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return list(dict.fromkeys(o.partition("[")[0] for o in listed.splitlines() if "::" in o))


def stored():
    if not STORE.exists():
        return []
    with open(STORE, newline="") as f:
        return list(csv.DictReader(f))


def _store(row, lock):
    with lock:
        is_new = not STORE.exists()
        with open(STORE, "a", newline="") as f:
            out = csv.DictWriter(f, FIELDS, lineterminator="\n")
            if is_new:
                out.writeheader()
            out.writerow(row)


def run(test, at, lock):
    """One test on thousands of tables"""
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", test],
        cwd=ROOT,
        env={**os.environ, "PPDT_HYPOTHESIS": "stress"},
        capture_output=True,
        text=True,
    )
    tables = " ".join(f"{o}={n.replace(',', '')}" for o, n in _TABLES.findall(done.stdout))
    outcome = {0: "passed", 1: "failed"}.get(done.returncode, "not run")
    seconds = f"{time.perf_counter() - begun:.0f}"
    _store(dict(zip(FIELDS, (at, test, outcome, seconds, tables))), lock)
    print(f"{outcome:<8}{seconds:>6} s  {test}", flush=True)
    if outcome != "passed":
        print(done.stdout[-4000:], flush=True)
    return outcome == "passed"


def told(rows):
    """What was run of each commit, as lines"""
    for at in dict.fromkeys(o["commit"] for o in rows):
        of = [o for o in rows if o["commit"] == at]
        ended = Counter(o["outcome"] for o in of)
        minutes = sum(float(o["seconds"]) for o in of) / 60
        yield f"{at}: {len(of)} tests in {minutes:.0f} minutes, {dict(ended)}"
        tables = Counter()
        for o in of:
            for one in o["tables"].split():
                name, _, n = one.partition("=")
                tables[name] += int(n)
        yield from (f"  {name:<30}{n:>10,} tables" for name, n in sorted(tables.items()))


def main():
    about, _, _ = __doc__.partition("\n")
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--jobs", type=int, default=1, help="tests at a time (default: 1)")
    parser.add_argument("--resume", action="store_true", help="let other commits count")
    parser.add_argument("--told", action="store_true", help="say what was run, and run nothing")
    args = parser.parse_args()
    if args.told:
        print(*told(stored()), sep="\n")
        return 0
    at, lock = commit(), Lock()
    passed = [o for o in stored() if o["outcome"] == "passed"]
    done = {o["test"] for o in passed if args.resume or o["commit"] == at}
    left = [o for o in all_tests() if o not in done]
    print(f"{at}: {len(done)} tests were passed before, {len(left)} are left", flush=True)
    with ThreadPoolExecutor(args.jobs) as pool:
        passed = list(pool.map(lambda test: run(test, at, lock), left))
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
