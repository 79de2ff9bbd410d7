"""Microaggregation of Adult (45,222 complete rows, 13 quasi-identifiers): MDAV, V-MDAV, MiCT,
blocks and their loss, and anonypyx's MDAV.

Every run begins in a fresh process; with the rival runs alternate on the same rows. Timed:
encoding, groups, centroids and the published table; the audit has its own clock. anonypyx makes
groups only, with distances that are not squared; its loss is measured by ppdt's equation on its
groups.
"""

import os
import sys
import tempfile
from pathlib import Path

import common  # first: one thread
import pandas as pd

PINS = common.HERE / "requirements-anonypyx.txt"
ENV = Path(os.environ.get("PPDT_BENCH_ENVS") or common.ROOT / "build" / "bench") / "anonypyx"
SECONDS = "mict.csv"
SIZES = [1000, 2000, 4000]  # rows for the rival, which holds all distances
CASES = [
    ("mdav", 0),
    ("vmdav", 0),
    ("mict", 0),
    ("mdav", 4),
    ("mdav", 16),
    ("mdav", 64),
    ("vmdav", 4),
    ("vmdav", 16),
    ("vmdav", 64),
]
GOAL, MEMORY = 15, 1000  # seconds and MB for all rows without blocks
WORKER = [sys.executable, common.HERE / "run_mict.py"]


def ours(table, rows, data, method, k, blocks):
    r = common.call(*WORKER, "protect", table, method, k, blocks)
    print(
        f"  {data} {rows:9,} rows {method:6} {blocks:3} blocks {r['seconds']:7.2f} s"
        f" ({r['cpu_seconds']:.2f} of CPU), {r['megabytes']} MB, IL {r['il']:.2f}",
        flush=True,
    )
    return (
        dict(data=data, rows=rows, tool="ppdt", method=method, k=k, blocks=blocks)
        | r
        | dict(load=common.load())
    )


def theirs(python, table, rows, k, tmp):
    r = common.call(python, common.HERE / "run_anonypyx.py", table, k, tmp / "groups.json")
    r |= common.call(*WORKER, "loss", table, tmp / "groups.json")
    print(
        f"  Adult {rows:9,} rows anonypyx {r['seconds']:7.2f} s ({r['cpu_seconds']:.2f} of CPU),"
        f" {r['megabytes']} MB, IL {r['il']:.2f}",
        flush=True,
    )
    return (
        dict(
            data="Adult",
            rows=rows,
            tool=f"anonypyx {r.pop('version')}",
            method="mdav",
            k=k,
            blocks=0,
        )
        | r
        | dict(load=common.load())
    )


def run(k, runs, python, sizes, cases, people, big, big_cases):
    """Rows of results"""
    res = []
    with tempfile.TemporaryDirectory() as tmp:
        tmp = Path(tmp)
        table = tmp / "table.csv"

        def make(rows, people):
            return common.call(*WORKER, "make", table, rows, people)["rows"]

        name = "invented" if people else "Adult"
        for n in sizes:
            rows = make(n, people)
            for _ in range(runs):
                res.append(ours(table, rows, name, "mdav", k, 0))
                if python:
                    res.append(theirs(python, table, rows, k, tmp))
        rows = make(0, people)
        for _ in range(runs):
            res += [ours(table, rows, name, m, k, b) for m, b in cases]
        if big:
            rows = make(0, big)
            res += [ours(table, rows, "invented", m, k, b) for m, b in big_cases]
    return res


def report(out):
    """The numbers in Markdown, from the results file"""
    t = pd.read_csv(out / SECONDS)
    lines = []
    for key, o in t.groupby(["data", "rows", "tool", "method", "blocks"], sort=False):
        data, rows, tool, method, blocks = key
        audit = common.spread(o.audit_seconds.dropna()) if o.audit_seconds.notna().any() else "none"
        lines.append(
            [
                data,
                f"{rows:,}",
                tool,
                method,
                blocks or "none",
                len(o),
                common.spread(o.seconds),
                common.spread(o.cpu_seconds),
                audit,
                int(o.megabytes.max()),
                f"{o.il.iloc[0]:.2f}",
            ]
        )
    table = common.markdown(
        [
            "data",
            "rows",
            "tool",
            "method",
            "blocks",
            "runs",
            "s (least-most)",
            "s of CPU",
            "audit, s",
            "most MB",
            "IL, %",
        ],
        lines,
    )
    goals, of = (
        [],
        lambda rows, tool, method: t[
            (t["rows"] == rows)
            & t.tool.str.startswith(tool)
            & (t.method == method)
            & (t.blocks == 0)
        ],
    )
    for method in ("mdav", "vmdav"):
        o = of(45_222, "ppdt", method)
        if not len(o):
            continue
        s, c = common.median(o.seconds), common.median(o.cpu_seconds)
        goals += [
            common.verdict(
                f"{method}: 45,222 rows under {GOAL} s by the clock ({s:.2f})", s < GOAL
            ),
            common.verdict(f"{method}: 45,222 rows under {GOAL} s of CPU ({c:.2f})", c < GOAL),
            common.verdict(
                f"{method}: and under {MEMORY} MB ({int(o.megabytes.max())} at most)",
                o.megabytes.max() < MEMORY,
            ),
        ]
    for n in sorted(t.loc[t.tool != "ppdt", "rows"].unique()):
        a, b = of(n, "ppdt", "mdav"), of(n, "anonypyx", "mdav")
        s, c = (
            common.median(b.seconds) / common.median(a.seconds),
            common.median(b.cpu_seconds) / common.median(a.cpu_seconds),
        )
        goals.append(
            common.verdict(
                f"{n:,} rows: faster than anonypyx ({s:.1f} times by the clock, {c:.1f} by CPU"
                f" time) with no more loss ({a.il.iloc[0]:.2f} and {b.il.iloc[0]:.2f} %)",
                s > 1 and a.il.iloc[0] <= b.il.iloc[0],
            )
        )
    return "\n".join([common.facts(t), "", table, "", *goals])


def main(argv=None):
    p = common.options(
        __doc__,
        runs=dict(type=int, default=3, help="runs of each (3)"),
        k=dict(type=int, default=5, help="k (5)"),
        env=dict(type=Path, default=ENV, help="folder of anonypyx's environment"),
        people=dict(
            type=int, default=300_000, help="rows of the large invented table (300,000), 0: none"
        ),
    )
    args = p.parse_args(argv)
    if args.quick:
        rows = run(args.k, 1, None, [100], [("mdav", 0), ("vmdav", 2), ("mict", 0)], 300, 0, [])
    else:
        rows = run(
            args.k,
            args.runs,
            common.environment(args.env, PINS, "anonypyx"),
            SIZES,
            CASES,
            0,
            args.people,
            [("mdav", 64), ("vmdav", 64)],
        )
    with tempfile.TemporaryDirectory() as tmp:
        out = args.out or (Path(tmp) if args.quick else common.RESULTS)
        common.write([o | common.machine() for o in rows], out / SECONDS)
        return common.finish("mict", report, out, args.strict)


if __name__ == "__main__":
    sys.exit(main())
