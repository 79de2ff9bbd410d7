"""Strict Mondrian on Adult (30,162 complete training rows, 9 quasi-identifiers) by ppdt and by
anonypy.

Both read the same CSV file, each run in a fresh process; the runs alternate (ppdt, anonypy, ppdt,
...), so that a busy machine slows both, and the ratio counts. Timed: ppdt's encoding, partition,
release and audit; anonypy's categories, partition and table. anonypy lives in an environment of its
own, made with pip on first use. What both publish is measured by one function, `measure`.
"""

import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

import common  # first: one thread
import numpy as np
import pandas as pd

from ppdt.datasets import fetch_adult, make_population
from ppdt.engine.foreign_texts import foreign_column, one_row_each
from ppdt.generalization import Taxonomy, recode
from ppdt.loss import ncp
from ppdt.mondrian import MondrianAnonymizer
from ppdt.privacy import audit
from ppdt.release import read_release
from ppdt.tables import cells

PINS = common.HERE / "requirements-anonypy.txt"
ENV = Path(os.environ.get("PPDT_BENCH_ENVS") or common.ROOT / "build" / "bench") / "anonypy"
SECONDS, LOSS = "mondrian_seconds.csv", "mondrian_loss.csv"
# goals: times faster than anonypy, share of its loss
FASTER, LOSES = 100, 1.05

# ---------------------------------------------------------------- what anonypy writes


def parse_table(rows, original):
    """anonypy's rows (one for each group and class, with a count) as (table of cells, classes), one
    row a person
    """
    t = pd.DataFrame(rows).map(lambda o: str(o[0] if isinstance(o, list) else o))
    t = one_row_each(t)
    *qi, cls = original.columns
    data = {}
    for o in qi:
        is_number = pd.api.types.is_numeric_dtype(original[o])
        tree = None if is_number else Taxonomy.from_dict({"*": sorted(set(original[o]))})
        kind = "numeric" if is_number else "categorical"
        data[o] = foreign_column(t[o], o, "anonypy", kind, tree).column
    return pd.DataFrame(data), pd.Series(t[cls].to_numpy(), name=cls)


def check_parse(data, y, original, groups):
    """An error unless the parsed table is what anonypy's own groups say: each person's cells are
    the sets and ranges of the group
    """
    *qi, cls = original.columns

    def people(t, y):
        cols = [np.array(cs, dtype=object)[codes] for codes, cs in map(cells, (t[o] for o in qi))]
        return Counter(zip(*cols, y))

    if people(data, y) != people(recode(original[qi], groups, "interval"), original[cls]):
        raise SystemExit("what anonypy published was not read right")


# ---------------------------------------------------------------- one measure for both


def measure(data, original, k):
    """Equivalence classes, smallest class and spread-NCP of a published table, whoever made it"""
    qi = list(original.columns[:-1])
    found = audit(data[qi], qi, k)
    return dict(
        classes=found.n_classes,
        smallest=found.k,
        spread_ncp=round(float(ncp(data[qi], original, qi, form="spread").mean()), 9),
    )


def variants(original, k):
    """What ppdt's other cut rules, widths and recodings lose; the first is the default"""
    X, y = original.iloc[:, :-1], original.iloc[:, -1]
    for width in "rank", "distinct":
        for cut_rule in "le_then_lt", "balanced", "le":
            for recoding in "set", "interval":
                r = MondrianAnonymizer(
                    k=k, recoding=recoding, cut_rule=cut_rule, width=width
                ).anonymize(X, y)
                yield dict(
                    k=k,
                    tool="ppdt",
                    recoding=recoding,
                    width=width,
                    cut_rule=cut_rule,
                    **measure(r.data, original, k),
                )


# ---------------------------------------------------------------- runs


def rival(env):
    return common.environment(env, PINS, "anonypy")


def compare(original, ks, python, runs, rounds, again):
    """Alternate runs: (rows of seconds, rows of loss)"""
    seconds, loss = [], []

    def note(k, tool, r, version):
        seconds.append(
            dict(
                k=k,
                tool=tool,
                version=version,
                seconds=round(r["seconds"], 4),
                cpu_seconds=round(r["cpu"], 4),
                again=round(common.median(r["again"]), 4) if r.get("again") else None,
                load=common.load(),
            )
        )
        print(f"  k={k} {tool:8} {r['seconds']:8.2f} s ({r['cpu']:.2f} s of CPU)", flush=True)

    with tempfile.TemporaryDirectory() as tmp:
        table, ours, theirs = (Path(tmp) / o for o in ("table.csv", "ours.csv", "theirs.json"))
        original.to_csv(table, index=False)
        original = pd.read_csv(table, keep_default_na=False)
        for k in ks:
            for i in range(rounds + 1):
                for _ in range(runs):
                    note(
                        k,
                        "ppdt",
                        common.call(
                            sys.executable,
                            common.HERE / "run_ppdt.py",
                            table,
                            k,
                            "--out",
                            ours,
                            "--again",
                            again,
                        ),
                        common.machine()["ppdt"],
                    )
                if python and i < rounds:
                    r = common.call(python, common.HERE / "run_anonypy.py", table, k, theirs)
                    note(k, "anonypy", r, f"{r['version']} (pandas {r['pandas']})")
                if not python:
                    break
            mine = list(variants(original, k))
            for o, v in measure(read_release(ours).data, original, k).items():
                if v != mine[0][o]:
                    raise SystemExit(
                        f"{o} is {v} in the file that ppdt wrote, and {mine[0][o]} in memory"
                    )
            loss += mine
            if python:
                found = json.loads(theirs.read_text("utf-8"))
                data, y = parse_table(found["rows"], original)
                check_parse(data, y, original, found["groups"])
                loss.append(
                    dict(
                        k=k,
                        tool="anonypy",
                        recoding="interval",
                        width="distinct",
                        cut_rule="",
                        **measure(data, original, k),
                    )
                )
    return seconds, loss


# ---------------------------------------------------------------- the report


def report(out):
    """The numbers in Markdown, from the results files"""
    t, loss = pd.read_csv(out / SECONDS), pd.read_csv(out / LOSS, keep_default_na=False)
    lines, rows, goals = [common.facts(t), ""], [], []
    for k in t["k"].unique():
        of = {o: t[(t["k"] == k) & (t["tool"] == o)] for o in ("ppdt", "anonypy")}
        time = lambda o, c, form: common.spread(of[o][c], form) if of[o][c].notna().any() else "-"
        ratio = lambda c: (
            common.median(of["anonypy"][c]) / common.median(of["ppdt"][c])
            if len(of["anonypy"])
            else None
        )
        show = lambda x: "-" if x is None else f"{x:.0f}"
        rows.append(
            [
                k,
                time("ppdt", "seconds", "{:.3f}"),
                time("ppdt", "again", "{:.3f}"),
                time("anonypy", "seconds", "{:.1f}"),
                show(ratio("seconds")),
                show(ratio("cpu_seconds")),
            ]
        )
        if k == 5 and len(of["anonypy"]):
            goals.append(
                common.verdict(
                    f"k = 5: at least {FASTER} times faster than anonypy ({ratio('seconds'):.0f} by"
                    f" the clock, {ratio('cpu_seconds'):.0f} by CPU time)",
                    ratio("seconds") >= FASTER,
                )
            )
    versions = t[t["tool"] == "anonypy"]["version"]
    lines += [
        common.markdown(
            [
                "k",
                "ppdt, s (least-most)",
                "ppdt, called again, s (least-most)",
                f"anonypy{' ' + versions.iloc[0] if len(versions) else ''}, s (least-most)",
                "ratio",
                "ratio of CPU times",
            ],
            rows,
        ),
        "",
    ]
    rows = []
    for k in loss["k"].unique():
        of = loss[loss["k"] == k]
        theirs = of[of["tool"] == "anonypy"]["spread_ncp"]
        for key, o in of.groupby(
            ["tool", "width", "cut_rule", "classes", "smallest", "spread_ncp"], sort=False
        ):
            tool, width, cut_rule, classes, smallest, x = key
            rows.append(
                [
                    k,
                    tool,
                    width if tool == "ppdt" else "",
                    cut_rule,
                    " and ".join(o["recoding"]),
                    classes,
                    smallest,
                    f"{x:.4f}",
                    f"{x / theirs.iloc[0]:.3f}" if len(theirs) else "-",
                ]
            )
        if k == 5 and len(theirs):
            x = of["spread_ncp"].iloc[0] / theirs.iloc[0]
            goals.append(
                common.verdict(
                    "k = 5: the default loses at most 5 % more than anonypy"
                    f" ({100 * (x - 1):+.1f} %)",
                    x <= LOSES,
                )
            )
    lines += [
        common.markdown(
            [
                "k",
                "tool",
                "width",
                "cut rule",
                "recoding",
                "classes",
                "smallest",
                "spread-NCP",
                "of anonypy's",
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
            type=int, default=3, help="runs of ppdt before and after each run of anonypy (3)"
        ),
        rounds=dict(type=int, default=1, help="runs of anonypy (1)"),
        k=dict(type=int, nargs="+", default=[5, 50], help="k (5 50)"),
        env=dict(
            type=Path,
            default=ENV,
            help=(
                "anonypy's environment, made when it is missing (default: build/bench/anonypy, or"
                " anonypy in the folder PPDT_BENCH_ENVS)"
            ),
        ),
        no_rival=dict(action="store_true", help="ppdt alone"),
    )
    args = p.parse_args(argv)
    if args.quick:
        p = make_population(1500, 0)
        original, python, args.runs, args.k, args.no_rival = (
            p[[*common.POPULATION_QI, "income"]],
            None,
            1,
            [5],
            True,
        )
    else:
        common.find_data()
        original = fetch_adult("train", complete=True)[[*common.ADULT_QI, "income"]]
    python = None if args.no_rival else rival(args.env.absolute())
    seconds, loss = compare(
        original, args.k, python, args.runs, args.rounds, 0 if args.quick else 2
    )
    with tempfile.TemporaryDirectory() as tmp:
        out = args.out or (Path(tmp) if args.quick or python is None else common.RESULTS)
        common.write([o | common.machine() for o in seconds], out / SECONDS)
        common.write(loss, out / LOSS)
        return common.finish("mondrian", report, out, args.strict)


if __name__ == "__main__":
    sys.exit(main())
