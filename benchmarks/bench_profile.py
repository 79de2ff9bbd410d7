"""`ppdt profile` of a file of many rows: what is in it, and what role each column should have.

The files hold invented people, with a number for each. Every run is a fresh process
(run_profile.py), which reads the file, makes the profile, and puts it into words. One thread.
"""

import sys
import tempfile
from pathlib import Path

import common  # first: one thread
import pandas as pd

from ppdt.datasets import make_population

SECONDS = "profile.csv"
SIZES = [100_000, 1_000_000]
MOST_SECONDS, MOST_MEGABYTES = 60, 4000  # of CPU, for a million
PARTS = dict(read_seconds="reading", profile_seconds="profile", words_seconds="words and plan")


def prepare(folder, n):
    """A file as an office has it: a number for each person, then the people"""
    people = make_population(n)
    people.insert(0, "number", range(1, n + 1))
    path = Path(folder) / f"people-{n}.csv"
    people.to_csv(path, index=False)
    return path


def run(sizes):
    """Rows of results"""
    res = []
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            r = common.call(sys.executable, common.HERE / "run_profile.py", prepare(folder, n))
            res.append(r | dict(load=common.load()))
            print(
                f"  {n:9,} rows: {r['cpu_seconds']:6.2f} s of CPU, {r['megabytes']} MB", flush=True
            )
    return res


def report(out):
    """The numbers in Markdown, from the results file"""
    t = pd.read_csv(out / SECONDS)
    rows = [
        [f"{o.rows:,}", o.columns, *(f"{getattr(o, p):.2f}" for p in PARTS), f"{o.cpu_seconds:.2f}"]
        + [o.megabytes]
        for o in t.itertuples()
    ]
    head = ["rows", "columns", *(f"{o}, s of CPU" for o in PARTS.values()), "in all", "most MB"]
    o = t.iloc[t["rows"].argmax()]
    text = f"{o['rows']:,} rows: under {MOST_SECONDS} s of CPU ({o.cpu_seconds:.1f})"
    good = o.cpu_seconds < MOST_SECONDS and o.megabytes < MOST_MEGABYTES
    goal = common.verdict(f"{text} and {MOST_MEGABYTES} MB ({o.megabytes})", good)
    return "\n".join([common.facts(t), "", common.markdown(head, rows), "", goal])


def main(argv=None):
    args = common.options(__doc__).parse_args(argv)
    rows = [o | common.machine() for o in run([500] if args.quick else SIZES)]
    with tempfile.TemporaryDirectory() as tmp:
        out = args.out or (Path(tmp) if args.quick else common.RESULTS)
        common.write(rows, out / SECONDS)
        return common.finish("profile", report, out, args.strict)


if __name__ == "__main__":
    sys.exit(main())
