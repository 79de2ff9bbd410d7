"""TDS and TDR (Fung, Wang and Yu) on Adult's 45,222 complete rows with 13 quasi-identifiers, and
on rows drawn from them: seconds and memory.

All columns but fnlwgt and the class, k = 50. A drawn row is a row of Adult in which each
quasi-identifier is, with probability 1/10, that of another person. Every run begins in a fresh
process; memory is the most that it held, the table included. One thread.
"""

import sys
import tempfile
from pathlib import Path

import common  # first: one thread
import pandas as pd

SECONDS = "tds.csv"
# seconds for Adult, search, recoding and audit; seconds a row at a million over those at 100,000
GOAL, GROWTH = 3, 1.5
SIZES, SETTINGS = [0, 100_000, 300_000, 1_000_000], ["TDS", "TDS valid", "TDR", "TDR score"]


def run(sizes, runs, k, people=0):
    """Rows of results, runs mixed; size 0 is Adult itself"""
    res = []
    for _ in range(runs):
        for n in sizes:
            for s in SETTINGS:
                r = common.call(sys.executable, common.HERE / "run_tds.py", s, n, k, people)
                res.append(
                    dict(table="drawn" if n else "Adult", setting=s, k=k)
                    | r
                    | dict(load=common.load())
                )
                print(
                    f"  {r['rows']:9,} rows, {s}: {r['seconds']:6.2f} s, audit"
                    f" {r['audit_seconds']:6.2f} s, {r['megabytes']} MB",
                    flush=True,
                )
    return res


def report(out):
    """The numbers in Markdown, from the results file"""
    t, rows = pd.read_csv(out / SECONDS), []
    for (table, n, s), o in t.groupby(["table", "rows", "setting"], sort=False):
        rows.append(
            [
                table,
                f"{n:,}",
                s,
                len(o),
                common.spread(o.seconds),
                common.spread(o.cpu_seconds),
                common.spread(o.search),
                common.spread(o.audit_seconds),
                o.megabytes.max(),
                o.steps.iloc[0],
                f"{o.classes.iloc[0]:,}",
                o.k_measured.iloc[0],
            ]
        )
    table = common.markdown(
        [
            "table",
            "rows",
            "method",
            "runs",
            "protection, s (least-most)",
            "s of CPU",
            "of these the search",
            "audit, s",
            "most MB",
            "refinements",
            "classes",
            "k",
        ],
        rows,
    )
    goals, adult, tds = [], t[t.table == "Adult"], t[t.setting == "TDS"]
    if len(adult) and adult.rows_wanted.iloc[0] == 45_222:
        whole = {s: common.median(o.seconds + o.audit_seconds) for s, o in adult.groupby("setting")}
        goals.append(
            common.verdict(
                f"Adult, 13 quasi-identifiers, k = {t.k.iloc[0]}, with the audit, under {GOAL} s"
                f" ({', '.join(f'{s} {whole[s]:.2f}' for s in SETTINGS)})",
                max(whole.values()) < GOAL,
            )
        )
    if {100_000, 1_000_000} <= set(tds["rows"]):
        each = {
            n: common.median(tds[tds["rows"] == n].cpu_seconds) / n for n in (100_000, 1_000_000)
        }
        goals.append(
            common.verdict(
                f"near linear: TDS takes {1e6 * each[1_000_000]:.2f} microseconds of CPU a row at a"
                f" million rows, {1e6 * each[100_000]:.2f} at 100,000; at most {GROWTH} times as"
                " many",
                each[1_000_000] <= GROWTH * each[100_000],
            )
        )
    return "\n".join([common.facts(t), "", table, "", *goals])


def main(argv=None):
    p = common.options(
        __doc__,
        runs=dict(type=int, default=3, help="runs of each (3)"),
        k=dict(type=int, default=50, help="k (50)"),
    )
    args = p.parse_args(argv)
    rows = run([0, 600], 1, 10, 300) if args.quick else run(SIZES, args.runs, args.k)
    with tempfile.TemporaryDirectory() as tmp:
        out = args.out or (Path(tmp) if args.quick else common.RESULTS)
        common.write([o | common.machine() for o in rows], out / SECONDS)
        return common.finish("tds", report, out, args.strict)


if __name__ == "__main__":
    sys.exit(main())
