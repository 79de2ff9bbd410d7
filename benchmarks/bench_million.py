"""A million invented people: a release is read, kADET learns, the command protects a file; and C4.5
on releases of Adult beside C4.5 on the raw table.

Each run is a fresh process. Seconds are those of CPU, since other programs may run. With --before,
another copy of ppdt (a folder in which the package lies) is measured in the same run.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import common  # first: one thread
import pandas as pd

SECONDS = "million.csv"
TASKS = {  # task: (in words, most seconds of CPU)
    "read csv": ("read_release, CSV", 4),
    "read parquet": ("read_release, Parquet", 4),
    "kadet none 5": ("kADET, nothing public, k = 5", 15),
    "kadet four 5": ("kADET, four of six columns public, k = 5", 15),
    "kadet all 50": ("kADET, all columns public, k = 50", 15),
    "command": ("ppdt anonymize: read, protect, audit, write", 15),
    "c45 raw": ("C4.5 on Adult, raw", None),
    "c45 infogain5": ("C4.5 on its release, InfoGain on subsets, k = 5", None),
    "c45 infogain50": ("C4.5 on its release, InfoGain on subsets, k = 50", None),
}
TIMES = 10  # what learning from a release may cost beside the raw table


def run(n, runs, before):
    """Rows of results; `before` is None or (folder, its name)"""
    copies = {"now": None} | ({} if before is None else {before[1]: before[0]})
    res, path = [], os.environ.get("PYTHONPATH")
    with tempfile.TemporaryDirectory() as tmp:
        call = [sys.executable, common.HERE / "run_million.py"]
        common.call(*call, "prepare", tmp, n)
        for _ in range(runs):
            for task in TASKS:
                for which, folder in copies.items():
                    if folder is not None:
                        os.environ["PYTHONPATH"] = str(folder)
                    r = common.call(*call, task, tmp, n)
                    os.environ.pop("PYTHONPATH", None)
                    res.append(
                        dict(
                            task=task,
                            rows=n,
                            which=which,
                            seconds=round(r["seconds"], 3),
                            cpu_seconds=round(r["cpu"], 3),
                            load=common.load(),
                        )
                    )
                    print(f"  {task:16} {which:10} {r['cpu']:8.2f} s of CPU", flush=True)
    if path is not None:
        os.environ["PYTHONPATH"] = path
    return res


def report(out):
    """The numbers in Markdown, from the results file"""
    t = pd.read_csv(out / SECONDS)
    cpu = t.groupby(["task", "which"])["cpu_seconds"].median()
    others = [o for o in t["which"].unique() if o != "now"]
    rows, goals = [], []
    for task, (words, most) in TASKS.items():
        now = cpu[task, "now"]
        then = [cpu.get((task, o)) for o in others]
        rows.append([words, *("-" if o is None else f"{o:.2f}" for o in then), f"{now:.2f}"])
        if most is not None:
            goals.append(common.verdict(f"{words}: under {most} s of CPU ({now:.2f})", now < most))
    raw = cpu["c45 raw", "now"]
    for task in ("c45 infogain5", "c45 infogain50"):
        times = cpu[task, "now"] / raw
        text = f"{TASKS[task][0]}: at most {TIMES} times the raw table ({times:.1f})"
        goals.append(common.verdict(text, times <= TIMES))
    head = ["what", *(f"s of CPU at {o}" for o in others), "s of CPU"]
    return "\n".join([common.facts(t), "", common.markdown(head, rows), "", *goals])


def name_of(folder):
    """The short name of the commit in a folder, or the folder's own"""
    found = subprocess.run(
        ["git", "describe", "--always"], cwd=folder, capture_output=True, text=True
    )
    return found.stdout.strip() or Path(folder).resolve().name


def main(argv=None):
    p = common.options(
        __doc__,
        runs=dict(type=int, default=1, help="runs of each (1)"),
        before=dict(help="folder of another copy of ppdt to measure beside"),
        name=dict(help="what to call it (its commit)"),
    )
    args = p.parse_args(argv)
    n = 2000 if args.quick else 1_000_000
    before = args.before and (Path(args.before).resolve(), args.name or name_of(args.before))
    rows = [o | common.machine() for o in run(n, args.runs, before)]
    with tempfile.TemporaryDirectory() as tmp:
        out = args.out or (Path(tmp) if args.quick else common.RESULTS)
        common.write(rows, out / SECONDS)
        return common.finish("million", report, out, args.strict)


if __name__ == "__main__":
    sys.exit(main())
