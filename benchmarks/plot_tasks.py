"""A picture of what two Dask workers do while a table in parts is protected.

    python benchmarks/plot_tasks.py --rows 1000000 --most 100000 nbs/images/tasks_of_parts.png

It asks the scheduler when each task ran where (`client.get_task_stream()`), as Dask's own pages
show it, and draws a bar for each.
"""

import argparse
import tempfile
from pathlib import Path

import common  # first: one thread
import dask
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from bench_scale import prepare
from distributed import Client, LocalCluster

from ppdt.mondrian import MondrianAnonymizer
from ppdt.scale import DASK_SETTINGS, anonymize_parts

STAGES = {
    "part_form": "survey",
    "surveyed": "survey",
    "code_part": "code",
    "count_files": "count the top",
    "send_rows_of": "send",
    "finish_end": "finish ends",
    "rows_between": "write in order",
    "write_range": "write in order",
    "count_classes": "audit",
    "merge_classes": "audit",
}


def tasks_of(rows, memory, most):
    """(stage, worker, first second, last second) of each task of one run"""
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder, rows)
        method = MondrianAnonymizer(5, common.POPULATION_QI, published=["disease"])
        where = dict(dashboard_address=None, local_directory=f"{folder}/dask")
        dask.config.set(DASK_SETTINGS)
        with LocalCluster(2, threads_per_worker=1, memory_limit=memory, **where) as cluster:
            with Client(cluster) as client:
                client.get_task_stream()  # begin to listen
                parts, out = Path(folder) / "parts", f"{folder}/out"
                how = dict(engine=client, memory=memory, rows=most)
                anonymize_parts(parts, out, method, y="income", **how)
                stream = client.get_task_stream()
    found = []
    for o in stream:
        for at in o["startstops"]:
            if at["action"] == "compute":
                stage = STAGES[str(o["key"]).split("-")[0]]
                found.append((stage, o["worker"], at["start"], at["stop"]))
    return sorted(found, key=lambda o: o[2])


def plot_tasks(found, title):
    """A line for each worker, a bar for each task"""
    fig, ax = plt.subplots(figsize=(9, 2.6), layout="constrained")
    begin = found[0][2]
    workers = sorted({o[1] for o in found})
    stages = list(dict.fromkeys(STAGES.values()))
    colors = dict(zip(stages, plt.get_cmap("tab10").colors))
    for stage, worker, first, last in found:
        at = workers.index(worker)
        ax.barh(
            at, last - first, left=first - begin, color=colors[stage], edgecolor="white", lw=0.4
        )
    seen = [o for o in stages if any(s == o for s, *_ in found)]
    bars = [plt.Rectangle((0, 0), 1, 1, color=colors[o]) for o in seen]
    ax.legend(bars, seen, ncols=len(seen), loc="upper center", bbox_to_anchor=(0.5, -0.25))
    ax.set_yticks(range(len(workers)), [f"worker {i + 1}" for i in range(len(workers))])
    ax.set(xlabel="seconds", title=title)
    ax.spines[["top", "right"]].set_visible(False)
    return fig


def main(argv=None):
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("picture", help="where to, .png")
    p.add_argument("--rows", type=int, default=1_000_000, help="people (1,000,000)")
    p.add_argument("--most", type=int, help="rows of a task (what fits into the memory)")
    p.add_argument("--memory", default="1 GB", help="of a worker (1 GB)")
    args = p.parse_args(argv)
    found = tasks_of(args.rows, args.memory, args.most)
    fig = plot_tasks(found, f"{args.rows:,} people, two Dask workers of {args.memory}")
    fig.savefig(args.picture, dpi=80)
    busy = sum(last - first for *_, first, last in found)
    span = max(o[3] for o in found) - found[0][2]
    print(f"{len(found)} tasks, {busy / span / 2:.0%} of two workers busy for {span:.1f} s")


if __name__ == "__main__":
    main()
