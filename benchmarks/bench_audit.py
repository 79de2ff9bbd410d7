"""`audit`: beside pycanon on Adult, on a million rows, and with what needs the original table
(which rows fit whom) on 50,000.

Adult: 30,162 complete training rows, nine quasi-identifiers, the class as secret; the raw table,
and a 5-anonymous release as text. Both programs read the same CSV file, each run in a fresh
process; the runs alternate, and the ratio counts. pycanon makes six calls (k, distinct and entropy
l, recursive (c,l), (alpha,k), t); ppdt makes one, which also measures risk, loss by groups, and
more. The numbers must agree. pycanon lives in an environment of its own, made with pip on first
use.
"""

import math
import os
import sys
import tempfile
from pathlib import Path

import common  # first: one thread
import pandas as pd

from ppdt.datasets import fetch_adult, make_population
from ppdt.mondrian import MondrianAnonymizer
from ppdt.tables import column_text

PINS = common.HERE / "requirements-pycanon.txt"
ENV = Path(os.environ.get("PPDT_BENCH_ENVS") or common.ROOT / "build" / "bench") / "pycanon"
SECONDS, SIZES = "audit_seconds.csv", "audit_sizes.csv"
FASTER = 20  # goal: times faster than pycanon on the raw table
MILLION, FITS = 1_000_000, 50_000  # rows
GOALS = {"counts": 20, "fits": 60}  # seconds
MEMORY = 2e9  # bytes, the whole process

# ---------------------------------------------------------------- beside pycanon


def check_same(ours, theirs):
    """An error unless both found the same; pycanon cuts entropy l to an integer, and its c is not
    that of the definition
    """
    same = dict(
        k=theirs["k"] == ours["k"] == theirs["alpha_k"][1],
        distinct=theirs["distinct"] == ours["distinct"] == theirs["recursive"][1],
        entropy=theirs["entropy"]
        in (math.floor(ours["entropy"] + 1e-9), math.ceil(ours["entropy"] - 1e-9) - 1),
        alpha=math.isclose(theirs["alpha_k"][0], ours["alpha"], abs_tol=1e-9),
        t=math.isclose(theirs["t"], ours["t"], abs_tol=1e-9),
    )
    if not all(same.values()):
        raise SystemExit(
            f"ppdt and pycanon differ in {', '.join(o for o, ok in same.items() if not ok)}:"
            f" {ours}, {theirs}"
        )


def tables(original, folder):
    """CSV files of a table and of its 5-anonymous release, the class last"""
    X, y = original.iloc[:, :-1], original.iloc[:, -1]
    r = MondrianAnonymizer(k=5).anonymize(X, y)
    for name, t in (
        ("raw", original),
        (
            "k=5",
            pd.DataFrame({o: column_text(r.data[o]) for o in r.data} | {y.name: r.y}),
        ),
    ):
        t.to_csv(folder / f"{name}.csv", index=False)
        yield name, folder / f"{name}.csv"


def compare(original, python, runs, rounds):
    """Alternate runs: rows of seconds"""
    res = []

    def note(table, tool, r, version):
        found = {o: f(r["found"][o]) for o, f in (("k", int), ("distinct", int), ("t", float))}
        res.append(
            dict(
                table=table,
                tool=tool,
                version=version,
                seconds=round(r["seconds"], 4),
                cpu_seconds=round(r["cpu"], 4),
                **found,
                load=common.load(),
            )
        )
        print(f"  {table:4} {tool:8} {r['seconds']:8.3f} s ({r['cpu']:.3f} s of CPU)", flush=True)
        return r["found"]

    with tempfile.TemporaryDirectory() as tmp:
        for name, path in tables(original, Path(tmp)):
            for i in range(rounds + 1):
                for _ in range(runs):
                    ours = note(
                        name,
                        "ppdt",
                        common.call(sys.executable, common.HERE / "run_audit.py", path),
                        common.machine()["ppdt"],
                    )
                if not python:
                    break
                if i < rounds:
                    r = common.call(python, common.HERE / "run_pycanon.py", path)
                    check_same(
                        ours, note(name, "pycanon", r, f"{r['version']} (pandas {r['pandas']})")
                    )
    return res


# ---------------------------------------------------------------- many rows


def people(n, columns):
    """Code that makes a table of n invented people with six quasi-identifiers and income as the
    class, or with eight (two random ones,
    which leave most people alone) and a salary of up to 1,000 values"""
    code = (
        "import numpy as np\nfrom ppdt.datasets import make_population\nt ="
        f" make_population({n})[{[*common.POPULATION_QI, 'income']}]\n"
    )
    if columns == 6:
        return code
    return (
        code + "r, income = np.random.default_rng(0), t.pop('income')\nt['children'], t['street'] ="
        f" r.integers(0, 5, {n}), r.integers(0, 20, {n})\nt['salary'] ="
        " np.minimum(r.exponential(np.where(income == 'high', 300, 120)), 999).astype(int)\n"
    )


def grow(runs, million, fits):
    """Rows of results: everything from grouped counts, then a release beside its original"""
    res = []
    with tempfile.TemporaryDirectory() as tmp:
        for what, n, columns, more in (
            ("counts", million, 8, ()),
            (
                "fits",
                fits,
                6,
                ("--release", 5),
            ),
        ):
            path = Path(tmp) / f"{what}.pkl"
            # elsewhere, so that this process stays small
            common.call(sys.executable, "-c", people(n, columns) + f"t.to_pickle({str(path)!r})")
            for _ in range(runs):
                r = common.call(sys.executable, common.HERE / "run_audit.py", path, *more)
                if what == "fits" and None in r["fits"].values():
                    raise SystemExit(f"not measured: {r['fits']}")
                res.append(
                    dict(
                        what=what,
                        rows=n,
                        columns=columns,
                        seconds=round(r["seconds"], 3),
                        cpu_seconds=round(r["cpu"], 3),
                        peak_bytes=r["peak"],
                        audit_bytes=r["memory"],
                        classes=r["classes"],
                        smallest=r["smallest"],
                        global_one_k=r["fits"]["global_one_k"],
                        load=common.load(),
                    )
                )
                print(
                    f"  {what:6} {n:9,} rows {r['seconds']:8.2f} s,"
                    f" {r['peak'] / 1e6:.0f} MB in all",
                    flush=True,
                )
    return res


# ---------------------------------------------------------------- the report


def report(out):
    """The numbers in Markdown, from the results files"""
    t, sizes = pd.read_csv(out / SECONDS), pd.read_csv(out / SIZES)
    rows, goals = [], []
    for name in t["table"].unique():
        of = {o: t[(t["table"] == name) & (t["tool"] == o)] for o in ("ppdt", "pycanon")}
        theirs = of["pycanon"]
        ratio = lambda c: common.median(theirs[c]) / common.median(of["ppdt"][c])
        rows.append(
            [
                name,
                common.spread(of["ppdt"]["seconds"], "{:.3f}"),
                common.spread(theirs["seconds"], "{:.1f}") if len(theirs) else "-",
                *(f"{ratio(c):.0f}" if len(theirs) else "-" for c in ("seconds", "cpu_seconds")),
                of["ppdt"]["k"].iloc[0],
                f"{of['ppdt']['t'].iloc[0]:.4f}",
            ]
        )
        if name == "raw" and len(theirs):
            goals.append(
                common.verdict(
                    f"raw table: at least {FASTER} times faster than pycanon"
                    f" ({ratio('seconds'):.0f} by the clock, {ratio('cpu_seconds'):.0f} by CPU"
                    " time)",
                    ratio("seconds") >= FASTER,
                )
            )
    versions = t[t["tool"] == "pycanon"]["version"]
    lines = [
        common.facts(pd.concat([t, sizes])),
        "",
        common.markdown(
            [
                "table",
                "ppdt, s (least-most)",
                f"pycanon{' ' + versions.iloc[0] if len(versions) else ''}, s (least-most)",
                "ratio",
                "ratio of CPU times",
                "k, both",
                "t, both",
            ],
            rows,
        ),
        "",
    ]
    rows, names = [], {"counts": "one table", "fits": "a release beside its original"}
    for what, o in sizes.groupby("what", sort=False):
        s, peak, n = common.median(o["seconds"]), o["peak_bytes"].max(), o["rows"].iloc[0]
        rows.append(
            [
                names[what],
                f"{n:,}",
                o["columns"].iloc[0],
                len(o),
                common.spread(o["seconds"]),
                common.spread(o["cpu_seconds"]),
                f"{peak / 1e6:.0f}",
                f"{o['audit_bytes'].max() / 1e6:.0f}",
                f"{o['classes'].iloc[0]:,}",
            ]
        )
        if what == "counts" and n == MILLION:
            goals += [
                common.verdict(
                    "everything from grouped counts on a million rows and 8 quasi-identifiers"
                    f" under {GOALS[what]} s ({s:.2f})",
                    s < GOALS[what],
                ),
                common.verdict(
                    f"and under {MEMORY / 1e9:.0f} GB ({peak / 1e9:.2f})", peak < MEMORY
                ),
            ]
        if what == "fits" and n == FITS:
            goals.append(
                common.verdict(
                    f"(1,k), (k,1), (k,k) and global (1,k) at 50,000 rows under {GOALS[what]} s"
                    f" ({s:.2f})",
                    s < GOALS[what],
                )
            )
    lines += [
        common.markdown(
            [
                "audit of",
                "rows",
                "quasi-identifiers",
                "runs",
                "s (least-most)",
                "s of CPU",
                "most MB in all",
                "of these for the audit",
                "classes",
            ],
            rows,
        ),
        "",
    ]
    return "\n".join(lines + goals)


def main(argv=None):
    p = common.options(
        __doc__,
        runs=dict(
            type=int,
            default=3,
            help="runs of ppdt before and after each run of pycanon, and of the large tables (3)",
        ),
        rounds=dict(type=int, default=1, help="runs of pycanon on each table (1)"),
        env=dict(
            type=Path,
            default=ENV,
            help=(
                "pycanon's environment, made when it is missing (default: build/bench/pycanon, or"
                " pycanon in the folder PPDT_BENCH_ENVS)"
            ),
        ),
        no_rival=dict(action="store_true", help="ppdt alone"),
    )
    args = p.parse_args(argv)
    if args.quick:
        original, million, fits, args.runs, args.no_rival = (
            make_population(1500, 0)[[*common.POPULATION_QI, "income"]],
            3000,
            600,
            1,
            True,
        )
    else:
        common.find_data()
        original, million, fits = (
            fetch_adult("train", complete=True)[[*common.ADULT_QI, "income"]],
            MILLION,
            FITS,
        )
    python = None if args.no_rival else common.environment(args.env.absolute(), PINS, "pycanon")
    seconds, sizes = (
        compare(original, python, args.runs, args.rounds),
        grow(args.runs, million, fits),
    )
    with tempfile.TemporaryDirectory() as tmp:
        out = args.out or (Path(tmp) if args.quick or python is None else common.RESULTS)
        common.write([o | common.machine() for o in seconds], out / SECONDS)
        common.write([o | common.machine() for o in sizes], out / SIZES)
        return common.finish("audit", report, out, args.strict)


if __name__ == "__main__":
    sys.exit(main())
