"""Attackers who compare everybody with every published row: seconds and memory, for invented people
with six quasi-identifiers, k = 5. As many others are asked as were published, so that twice the
square of the number are compared. Every run begins in a fresh process. One thread.
"""

import sys
import tempfile
from pathlib import Path

import common  # first: one thread
import pandas as pd

SECONDS = "attacks.csv"
JOBS = [("FittingRows", m) for m in ("strict", "relaxed", "kactus")] + [("Presence", "strict")]
SIZES = [10_000, 30_000]
MOST_SECONDS, MOST_MEGABYTES = 20, 2000  # for 30,000


def run(jobs):
    """Rows of results; jobs are (attacker, method, people)"""
    res = []
    for a, m, n in jobs:
        r = common.call(sys.executable, common.HERE / "run_attacks.py", a, m, n)
        res.append(dict(attacker=a, method=m) | r | dict(load=common.load()))
        print(
            f"  {n:7,} people, {a}, {m}: {r['cpu_seconds']:6.2f} s of CPU, {r['megabytes']} MB",
            flush=True,
        )
    return res


def _goals(t):
    """What was asked for, and whether it is so"""
    for o in t[t.people == max(SIZES)].itertuples():
        good = o.cpu_seconds < MOST_SECONDS and o.megabytes < MOST_MEGABYTES
        yield common.verdict(
            f"{o.people:,} in and {o.people:,} out, {o.attacker}, {o.method}: under"
            f" {MOST_SECONDS} s of CPU ({o.cpu_seconds:.1f}) and {MOST_MEGABYTES} MB"
            f" ({o.megabytes})",
            good,
        )


def report(out):
    """The numbers in Markdown, from the results file"""
    t = pd.read_csv(out / SECONDS)
    rows = [
        [
            f"{o.people:,}",
            o.attacker,
            o.method,
            f"{o.cpu_seconds:.1f}",
            o.megabytes,
            f"{o.presence_in:.1%}",
            f"{o.presence_out:.1%}",
        ]
        for o in t.itertuples()
    ]
    head = ["people", "attacker", "method", "s of CPU", "most MB", "some row fits, in", "out"]
    return "\n".join([common.facts(t), "", common.markdown(head, rows), "", *_goals(t)])


def main(argv=None):
    args = common.options(__doc__).parse_args(argv)
    jobs = [(a, m, n) for n in ([300] if args.quick else SIZES) for a, m in JOBS]
    rows = run(jobs)
    with tempfile.TemporaryDirectory() as tmp:
        out = args.out or (Path(tmp) if args.quick else common.RESULTS)
        common.write([o | common.machine() for o in rows], out / SECONDS)
        return common.finish("attacks", report, out, args.strict)


if __name__ == "__main__":
    sys.exit(main())
