"""C45Classifier and PARTClassifier on Adult: seconds to learn and to classify, beside Weka's J48
and scikit-learn's CART on ordinal codes.

Fourteen attributes, with and without rows that miss a value, unpruned and pruned; all take turns in
one run, one thread each. J48 runs in one Java virtual machine that has built some trees before
(warm), where --weka or the variable PPDT_WEKA names weka.jar; its trees must be as large as ours.
Then growth with the number of rows, made by drawing rows of Adult again with their numbers moved a
little (a column of a million different numbers), and the memory for it.
"""

import math
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import common  # first: one thread
import numpy as np
import pandas as pd
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from ppdt.c45 import C45Classifier, PARTClassifier
from ppdt.datasets import fetch_adult, make_population

SECONDS = "c45.csv"


def timed(f):
    """(seconds, seconds of CPU, result)"""
    t, c = time.perf_counter(), time.process_time()
    res = f()
    return time.perf_counter() - t, time.process_time() - c, res


class J48:
    """Weka's J48 in a virtual machine of its own, warmed up; the first file is that of the first
    table
    """

    def __init__(self, jar, tables, folder, warm=3):
        files = [
            write_arff(
                X.assign(**{"the class": pd.Categorical(y.to_numpy())}), folder / f"{name}.arff"
            )
            for name, (X, y) in tables.items()
        ]
        self.number = {name: i for i, name in enumerate(tables)}
        command = [
            "java",
            "-XX:+UseSerialGC",
            "-cp",
            str(jar),
            str(common.HERE / "J48Timing.java"),
            *map(str, files),
        ]
        try:
            self.machine = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        except OSError as e:
            raise SystemExit(
                f"Java did not start ({e}): leave out --weka and PPDT_WEKA to measure without J48"
            ) from e
        for _ in range(warm):
            for name in tables:
                for prune in (False, True):
                    self.build(name, prune)

    def build(self, name, prune):
        """(seconds, seconds of CPU, nodes)"""
        self.machine.stdin.write(f"{self.number[name]} {'' if prune else '-U'}\n")
        self.machine.stdin.flush()
        line = self.machine.stdout.readline().split()
        if len(line) != 4:
            raise SystemExit(
                "J48 did not answer: is --weka the jar of Weka 3.6 or later, and 'java' a JDK of"
                " version 11 or later?"
            )
        return float(line[0]), float(line[1]), int(line[2])

    def close(self):
        self.machine.stdin.close()
        self.machine.wait()


def write_arff(t, path):
    """A table as Weka reads it, categories in declared order, the class last"""

    def quote(v):
        return "'" + str(v).replace("\\", "\\\\").replace("'", "\\'") + "'"

    def kind(c):
        return (
            "numeric"
            if pd.api.types.is_numeric_dtype(c)
            else "{" + ",".join(map(quote, c.cat.categories)) + "}"
        )

    def words(c):
        return (
            ["?" if o != o else repr(o) for o in c.tolist()]
            if pd.api.types.is_numeric_dtype(c)
            else [*np.array([*map(quote, c.cat.categories), "?"], dtype=object)[c.cat.codes]]
        )

    lines = [
        "@relation table",
        *(f"@attribute {quote(o)} {kind(t[o])}" for o in t),
        "@data",
        *map(",".join, zip(*(words(t[o]) for o in t))),
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def fitted(fits):
    return {
        name: round(common.median([t[i] for t in fits]), 4)
        for i, name in enumerate(("fit", "fit_cpu"))
    }


def asked(model, X, runs):
    times = [timed(lambda: model.predict(X))[:2] for _ in range(runs)]
    return {
        name: round(common.median([t[i] for t in times]), 4)
        for i, name in enumerate(("predict", "predict_cpu"))
    }


def one(make, X, y, rows, runs):
    """(median seconds of fit and predict, the model)"""
    fits = []
    for _ in range(runs):
        *t, model = timed(lambda: make().fit(X, y))
        fits.append(t)
    return fitted(fits) | asked(model, rows, runs), model


def in_turns(name, X, y, runs, j48):
    """All learners of one table, taking turns: {learner: (times, nodes)}"""
    C, fits, models, size = codes(X), {}, {}, {}
    for i in range(runs + 1):  # the first round warms up
        for learner, prune in (("unpruned", False), ("pruned", True)):
            *t, model = timed(lambda: C45Classifier(prune=prune).fit(X, y))
            todo = {f"C4.5 {learner}": (t, model)}
            if j48:
                *t, size[learner] = j48.build(name, prune)
                todo[f"J48 {learner}"] = t, None
            if j48 and size[learner] != len(model.tree_):
                raise SystemExit(
                    f"The trees differ on {name}, {learner}: {len(model.tree_)} nodes, J48"
                    f" {size[learner]}"
                )
            if not prune:
                *t, cart = timed(
                    lambda: DecisionTreeClassifier(
                        criterion="entropy", min_samples_leaf=2, random_state=0
                    ).fit(C, y)
                )
                todo["CART"] = t, cart
            for o, (t, model) in todo.items():
                models[o] = model
                if i:
                    fits.setdefault(o, []).append(t)
    res = {}
    for o, model in models.items():
        nodes = (
            size[o.split()[1]]
            if model is None
            else model.tree_.node_count
            if o == "CART"
            else len(model.tree_)
        )
        res[o] = (
            fitted(fits[o]) | (asked(model, C if o == "CART" else X, runs) if model else {}),
            nodes,
        )
    return res


def categories(t):
    return t.astype({o: "category" for o in t if not pd.api.types.is_numeric_dtype(t[o])})


def codes(t):
    """Ordinal codes for scikit-learn, missing values as they are"""
    words = [o for o in t if not pd.api.types.is_numeric_dtype(t[o])]
    return (
        np.column_stack(
            [OrdinalEncoder().fit_transform(t[words]), t[[o for o in t if o not in words]]]
        )
        if words
        else t.to_numpy()
    )


def many(t, n, rng):
    """n rows drawn from a table; the first numeric column gets about as many different values as
    rows
    """
    res = t.iloc[rng.integers(0, len(t), n)].reset_index(drop=True)
    number = next(o for o in ("fnlwgt", *t) if o in t and pd.api.types.is_numeric_dtype(t[o]))
    return res.assign(**{number: res[number] + rng.random(n)})


def run(tables, sizes, runs, part, weka=None):
    """Rows of results"""
    res = []

    def note(table, learner, rows, found, size, runs=runs):
        res.append(
            dict(
                table=table,
                learner=learner,
                rows=rows,
                runs=runs,
                **dict(predict=None, predict_cpu=None) | found,
                size=size,
                load=common.load(),
            )
        )
        print(
            f"  {table:10} {learner:14} {rows:9,} rows  fit {found['fit']:8.3f} s"
            + (f"  predict {found['predict']:7.3f} s" if found.get("predict") else ""),
            flush=True,
        )

    tables = {name: (categories(X), y) for name, (X, y) in tables.items()}
    with tempfile.TemporaryDirectory() as folder:
        j48 = J48(weka, tables, Path(folder)) if weka else None
        for name, (X, y) in tables.items():
            for learner, (found, size) in in_turns(name, X, y, runs, j48).items():
                note(name, learner, len(X), found, size)
        if j48:
            j48.close()
    if part:
        half = X.iloc[::2], y.iloc[::2]
        found, model = one(PARTClassifier, *half, X, 1)
        note(name, "PART", len(half[0]), found, len(model.rules_), 1)
    X, y = next(iter(tables.values()))
    for n in sizes:
        rng = np.random.default_rng(0)
        t = many(X.assign(**{"class": y.to_numpy()}), n, rng)
        Z, z = t.drop(columns="class"), t["class"]
        found, model = one(lambda: C45Classifier(prune=False), Z, z, Z, 1)
        note("drawn", "C4.5 unpruned", n, found | memory(Z, z), len(model.tree_), 1)
        if n == max(sizes):
            found, model = one(C45Classifier, Z, z, Z, 1)
            note("drawn", "C4.5 pruned", n, found, len(model.tree_), 1)
    return res


def memory(X, y):
    """Megabytes held at most while learning, measured apart since measuring takes time"""
    tracemalloc.start()
    C45Classifier(prune=False).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return dict(megabytes=round(peak / 1e6, 1))


def goals(t):
    """What holds and what does not"""
    fit = {(o.table, o.learner): (o.fit, o.fit_cpu) for o in t.itertuples() if o.table != "drawn"}
    res = []

    def beside(table, ours, rival, most):
        if (table, rival) not in fit or (table, ours) not in fit:
            return
        clock, cpu = (a / b for a, b in zip(fit[table, ours], fit[table, rival]))
        res.append(
            common.verdict(
                f"{table}, {ours}: at most {most:g} times"
                f" {'warm ' if 'J48' in rival else ''}{rival} ({clock:.2f} by the clock, {cpu:.2f}"
                " by CPU time)",
                clock <= most,
            )
        )

    for table in ("complete", "missing"):
        for learner in ("unpruned", "pruned"):
            beside(table, f"C4.5 {learner}", f"J48 {learner}", 1)
            if table == "complete":
                beside(table, f"C4.5 {learner}", f"J48 {learner}", 0.5)
            beside(table, f"C4.5 {learner}", "CART", 2 if table == "complete" else 4)
    for o in t[t.learner == "PART"].itertuples():
        res.append(common.verdict(f"PART on half of Adult under 60 s ({o.fit:.1f})", o.fit < 60))
    drawn = t[(t.table == "drawn") & (t.learner == "C4.5 unpruned")]
    a, b = drawn.iloc[0], drawn.iloc[-1]
    if b.rows > a.rows:
        most = b.rows * math.log(b.rows) / (a.rows * math.log(a.rows))
        res.append(
            common.verdict(
                f"from {a.rows:,} to {b.rows:,} rows no faster than n log n ({b.fit / a.fit:.1f}"
                f" times, at most {most:.1f})",
                b.fit / a.fit <= most,
            )
        )
        byte = (drawn.megabytes * 1e6 / drawn.rows).max()
        res.append(common.verdict(f"under 1000 bytes a row ({byte:.0f} at most)", byte < 1000))
    if b.rows >= 1_000_000:
        res.append(
            common.verdict(
                f"{b.rows:,} rows with encoded categories classified in under 2 s"
                f" ({b.predict:.2f})",
                b.predict < 2,
            )
        )
    return res


def report(out):
    """The numbers in Markdown, from the results file"""
    t = pd.read_csv(out / SECONDS)

    def number(v, form):
        return "" if v != v else form.format(v)

    rows = [
        [
            o.table,
            o.learner,
            f"{o.rows:,}",
            f"{o.fit:.3f}",
            f"{o.fit_cpu:.3f}",
            number(o.predict, "{:.3f}"),
            f"{o.size:,}",
            number(o.megabytes, "{:g}"),
        ]
        for o in t.itertuples()
    ]
    return "\n".join(
        [
            f"{common.facts(t)}; median of runs: {t['runs'].iloc[0]} (PART and drawn: 1)",
            "",
            common.markdown(
                [
                    "table",
                    "learner",
                    "rows",
                    "fit, s",
                    "of CPU",
                    "predict, s",
                    "nodes or rules",
                    "MB",
                ],
                rows,
            ),
            "",
            *goals(t),
        ]
    )


def main(argv=None):
    p = common.options(
        __doc__,
        runs=dict(type=int, default=5, help="runs of each (5)"),
        rows=dict(
            type=int,
            nargs="+",
            default=[30_000, 100_000, 300_000, 1_000_000],
            help="sizes of drawn tables",
        ),
        part=dict(type=int, default=1, help="1: PART on half of Adult as well"),
        weka=dict(type=Path, help="weka.jar, for J48's times (default: the variable PPDT_WEKA)"),
    )
    args = p.parse_args(argv)
    weka = args.weka or (Path(os.environ["PPDT_WEKA"]) if os.environ.get("PPDT_WEKA") else None)
    if weka and not weka.is_file():
        p.error(f"--weka must be the file weka.jar. Got {weka}.")
    if args.quick:
        people = make_population(1500)
        cls = "income" if "income" in people else people.columns[-1]
        rows = run(
            {"population": (people.drop(columns=cls), people[cls].astype(str))},
            [1000, 2000],
            1,
            False,
        )
    else:
        common.find_data()
        tables = {}
        for name, complete in (("complete", True), ("missing", False)):
            t = fetch_adult("train", complete=complete)
            tables[name] = t.drop(columns="income"), t["income"]
        rows = run(tables, sorted(args.rows), args.runs, args.part, weka)
    with tempfile.TemporaryDirectory() as tmp:
        out = args.out or (Path(tmp) if args.quick else common.RESULTS)
        common.write([dict(megabytes=None) | o | common.machine() for o in rows], out / SECONDS)
        return common.finish("c45", report, out, args.strict)


if __name__ == "__main__":
    sys.exit(main())
