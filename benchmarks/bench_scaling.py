"""Strict Mondrian on invented people (make_population): seconds and memory for 300,000 and for
3,000,000 rows.

Six quasi-identifiers (age, education, occupation, marital_status, region, hours), income as the
class, k = 5, one thread. Each run is a fresh process that unpickles the table; timed are encoding,
partition, release and audit. Memory is the most that the process held during the run minus what it
held before, the table included in both.
"""

import sys
import tempfile
from pathlib import Path

import common  # first: one thread
import pandas as pd

SECONDS = "scaling.csv"
GOALS = {300_000: 5, 3_000_000: 60}  # seconds
GROWTH, MEMORY = 13, 1000  # t(3M)/t(300k); bytes a row


def run(sizes, k):
    """Runs of all sizes, mixed: `sizes` is {rows: runs}; rows of results"""
    res = []
    with tempfile.TemporaryDirectory() as tmp:
        columns = [*common.POPULATION_QI, "income"]
        make = "from ppdt.datasets import make_population\n"
        for n in sizes:
            path = str(Path(tmp) / f"{n}.pkl")
            make += f"make_population({n})[{columns}].to_pickle({path!r})\n"
        # elsewhere, so that this process stays small
        common.call(sys.executable, "-c", make)
        for i in range(max(sizes.values())):
            for n, runs in sizes.items():
                if i >= runs:
                    continue
                r = common.call(
                    sys.executable, common.HERE / "run_ppdt.py", Path(tmp) / f"{n}.pkl", k
                )
                res.append(
                    dict(
                        rows=n,
                        k=k,
                        seconds=round(r["seconds"], 3),
                        cpu_seconds=round(r["cpu"], 3),
                        bytes_per_row=round(r["memory"] / n, 1),
                        classes=r["classes"],
                        smallest=r["k_measured"],
                        load=common.load(),
                    )
                )
                print(
                    f"  {n:9,} rows {r['seconds']:8.2f} s {r['memory'] / n:6.0f} bytes a row",
                    flush=True,
                )
    return res


def report(out):
    """The numbers in Markdown, from the results file"""
    t = pd.read_csv(out / SECONDS)
    rows, goals, sizes = [], [], list(t["rows"].unique())
    for n in sizes:
        o = t[t["rows"] == n]
        s, cpu, b = (
            common.median(o["seconds"]),
            common.median(o["cpu_seconds"]),
            o["bytes_per_row"].max(),
        )
        rows.append(
            [
                f"{n:,}",
                len(o),
                common.spread(o["seconds"]),
                common.spread(o["cpu_seconds"]),
                f"{s / n * 1e6:.1f}",
                f"{b:.0f}",
                f"{o['classes'].iloc[0]:,}",
            ]
        )
        if n in GOALS:
            goals.append(
                common.verdict(
                    f"{n:,} rows under {GOALS[n]} s ({s:.2f} by the clock, {cpu:.2f} of CPU)",
                    s < GOALS[n],
                )
            )
    if set(sizes) >= set(GOALS):
        growth = lambda c: (
            common.median(t[t["rows"] == max(GOALS)][c])
            / common.median(t[t["rows"] == min(GOALS)][c])
        )
        goals.append(
            common.verdict(
                f"t(3M)/t(300k) at most {GROWTH} ({growth('seconds'):.2f} by the clock,"
                f" {growth('cpu_seconds'):.2f} by CPU time)",
                growth("seconds") <= GROWTH,
            )
        )
        most = t[t["rows"].isin(GOALS)]["bytes_per_row"].max()
        goals.append(
            common.verdict(f"under {MEMORY} bytes a row ({most:.0f} at most)", most < MEMORY)
        )
    table = common.markdown(
        ["rows", "runs", "s (least-most)", "s of CPU", "µs a row", "most bytes a row", "classes"],
        rows,
    )
    return "\n".join([common.facts(t), "", table, "", *goals])


def main(argv=None):
    p = common.options(
        __doc__,
        runs=dict(
            type=int,
            nargs=2,
            default=[3, 2],
            metavar=("SMALL", "LARGE"),
            help="runs with 300,000 and with 3,000,000 rows (3 2)",
        ),
        k=dict(type=int, default=5, help="k (5)"),
    )
    args = p.parse_args(argv)
    sizes = {2000: 1, 20_000: 1} if args.quick else dict(zip(GOALS, args.runs))
    rows = [o | common.machine() for o in run(sizes, args.k)]
    with tempfile.TemporaryDirectory() as tmp:
        out = args.out or (Path(tmp) if args.quick else common.RESULTS)
        common.write(rows, out / SECONDS)
        return common.finish("scaling", report, out, args.strict)


if __name__ == "__main__":
    sys.exit(main())
