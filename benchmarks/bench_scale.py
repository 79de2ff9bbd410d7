"""Tables in parts beside a table in memory: CPU of all processes, peak memory, and the same groups.

Each run is a fresh process (run_scale.py), which measures itself and its children. The parts are
invented people, made beforehand in a folder of TMPDIR that is removed at the end. `memory` is the
whole table at once, with the same method: strict Mondrian, or clusters in strict blocks. Stored
runs of other sizes, engines or memory are kept.
With --what tree a C4.5 tree is learnt instead of a release made; its text must be the same.

    python benchmarks/bench_scale.py --rows 20000000 --engines here dask --memory "1.5 GB"
    python benchmarks/bench_scale.py --rows 100000000 --engines here --memory "1.5 GB"
    python benchmarks/bench_scale.py --what tree --engines memory here
"""

import sys
import tempfile
from pathlib import Path

import common  # first: one thread
import pandas as pd

from ppdt.datasets import make_population

HERE = common.HERE
SECONDS = "scale.csv"
TREES = "scale_trees.csv"
SIZE = 250_000  # people in a part
RUNS = ("memory", "here", "processes", "dask", "spark", "cluster memory", "cluster here")
LINEAR = 1.3  # growth of CPU beside that of rows
TIMES = 1.5  # CPU of two Dask workers, beside the built-in map


def prepare(folder, n):
    """Parts that together are one population"""
    parts = Path(folder) / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    many = -(-n // min(SIZE, n // 2))
    for i in range(many):
        people = make_population(n, part=(i, many))
        people.to_parquet(parts / f"part-{i:04d}.parquet", index=False)


def run(sizes, engines, memory):
    """Every engine on every size, on the same parts"""
    rows = []
    for n in sizes:
        with tempfile.TemporaryDirectory() as folder:
            prepare(folder, n)
            for name in engines:
                told = common.call(sys.executable, HERE / "run_scale.py", name, folder, memory)
                print(f"  {n:>12,} {name:10} {told}", flush=True)
                rows.append(dict(engine=name, memory=memory) | told | dict(load=common.load()))
        for clusters in (False, True):
            some = [o for o in rows if o["rows"] == n and clusters == ("cluster" in o["engine"])]
            assert len({(o["classes"], o["sizes"]) for o in some}) <= 1, "groups are not the same"
    return rows


def run_trees(sizes, engines, memory):
    """The same for a tree"""
    rows = []
    for n in sizes:
        with tempfile.TemporaryDirectory() as folder:
            prepare(folder, n)
            for name in engines:
                command = (HERE / "run_scale.py", name, folder, memory, "--tree")
                told = common.call(sys.executable, *command)
                print(f"  {n:>12,} {name:10} {told}", flush=True)
                rows.append(dict(engine=name, memory=memory) | told | dict(load=common.load()))
        assert len({o["tree"] for o in rows if o["rows"] == n}) == 1, "the trees are not the same"
    return rows


def _growth(t):
    """Is the CPU of the built-in map nearly linear in the rows?"""
    goals = []
    here = t[t["engine"] == "here"]
    for memory, some in here.groupby("memory"):
        few, many = some.loc[some["rows"].idxmin()], some.loc[some["rows"].idxmax()]
        if few["rows"] == many["rows"]:
            continue
        times = many.cpu_seconds / few.cpu_seconds / (many["rows"] / few["rows"])
        text = (
            f"from {few['rows']:,} to {many['rows']:,} rows with {memory}: at most {LINEAR} times"
        )
        goals.append(common.verdict(f"{text} linear ({times:.2f})", times <= LINEAR))
    return goals


def _with_stored(rows, path):
    """The rows, and stored ones of other sizes, engines or memory, as they are"""
    if not path.is_file():
        return rows
    new = {(str(o["rows"]), o["engine"], o["memory"]) for o in rows}
    old = pd.read_csv(path, dtype=str, keep_default_na=False).to_dict("records")
    old = [o for o in old if (o["rows"], o["engine"], o["memory"]) not in new]
    return [*old, *rows]


def _trees(out):
    """The numbers of trees in Markdown, where there are some"""
    if not (out / TREES).is_file():
        return []
    t = pd.read_csv(out / TREES)
    about = [
        [
            f"{o.rows:,}",
            o.engine,
            "" if o.engine == "memory" else o.memory,
            o.cpu_seconds,
            o.seconds,
            f"{o.mb_together:,}",
            f"{o.mb_largest:,}",
            "" if pd.isna(o.passes) else int(o.passes),
            f"{o.nodes:,}",
        ]
        for o in t.itertuples()
    ]
    head = ["rows", "engine", "a worker's", "s of CPU", "s", "MB together", "MB the largest"]
    head += ["passes", "nodes"]
    return [f"A C4.5 tree: {common.facts(t)}", "", common.markdown(head, about), ""]


def _releases(out):
    """The numbers of releases in Markdown, where there are some, and the goals"""
    if not (out / SECONDS).is_file():
        return [], []
    t = pd.read_csv(out / SECONDS)
    rows = [
        [
            f"{o.rows:,}",
            o.engine,
            o.cpu_seconds,
            o.seconds,
            f"{o.mb_together:,}",
            f"{o.mb_largest:,}",
            o.files,
            f"{o.classes:,}",
        ]
        for o in t.itertuples()
    ]
    head = ["rows", "engine", "s of CPU", "s", "MB together", "MB the largest", "files", "groups"]
    goals = []
    cpu = t.groupby(["rows", "engine"])["cpu_seconds"].last()
    for n in t["rows"].unique():
        if (n, "dask") in cpu and (n, "here") in cpu:
            times = cpu[n, "dask"] / cpu[n, "here"]
            text = f"two Dask workers, {n:,} rows: at most {TIMES} times the built-in map's CPU"
            goals.append(common.verdict(f"{text} ({times:.2f})", times <= TIMES))
    told = f"{common.facts(t)}; workers of {' or '.join(t['memory'].unique())}"
    goals += _growth(t)
    return [told, "", common.markdown(head, rows), ""], goals


def report(out):
    """The numbers in Markdown, from the results files"""
    told, goals = _releases(out)
    return "\n".join([*told, *_trees(out), *goals]).rstrip("\n")


def main(argv=None):
    p = common.options(
        __doc__,
        rows=dict(type=int, nargs="+", default=[3_000_000], help="people (3,000,000)"),
        engines=dict(nargs="+", choices=RUNS, help="which (all; with --quick the first two)"),
        memory=dict(default="1.5 GB", help="of a worker (1.5 GB)"),
        what=dict(choices=("release", "tree"), help="what is made (a release; with --quick both)"),
    )
    args = p.parse_args(argv)
    engines = args.engines or (RUNS[:2] if args.quick else RUNS)
    sizes = [20_000] if args.quick else args.rows
    made = {}
    if args.what != "tree":
        made[SECONDS] = run(sizes, engines, args.memory)
    if args.what == "tree" or (args.quick and args.what is None):
        made[TREES] = run_trees(sizes, engines, args.memory)
    with tempfile.TemporaryDirectory() as tmp:
        out = args.out or (Path(tmp) if args.quick else common.RESULTS)
        for name, found in made.items():
            rows = [o | common.machine() for o in found]
            common.write(_with_stored(rows, out / name), out / name)
        return common.finish("scale", report, out, args.strict)


if __name__ == "__main__":
    sys.exit(main())
