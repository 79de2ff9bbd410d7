"""The experiment of the error-risk pruning paper: its Table 2, one line a run.

    python scripts/erp_runs.py                             a few runs, printed beside the paper's
    numbers
    python scripts/erp_runs.py --full --jobs 2             all runs, stored in
    nbs/papers/results/erp.csv
    python scripts/erp_runs.py --row contra/tiered/middle 10 3   one run: table/method/reading, k,
    fold

A run protects nine tenths of a table, teaches C4.5 by the release, and asks it for the other tenth,
recoded as the method recodes new rows (the paper's way) and as it is. Runs that are stored are not
made again (--again makes all anew). Tables are found as `fetch_benchmark` finds them; also called
by python scripts/replicate.py erp.
"""

import random
import sys
import time
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))
from kactus_runs import as_values
from replicate import MADE, RESULTS, each_unit, parsed, provenance, read_results, runs_parser, store

from ppdt.c45 import C45Classifier
from ppdt.datasets import DataCorruptedError, DataNotFoundError, fetch_benchmark
from ppdt.erp import ERPAnonymizer
from ppdt.mondrian import MondrianAnonymizer
from ppdt.privacy import audit

CASES, KS, FOLDS = {"contra": "contraceptive", "adult": "adult"}, (10, 20, 30), 10
METHODS = {
    "original": "the table as it is",
    "infogain": "Mondrian by information gain, ranges and sets",
    "median": "strict Mondrian by medians, ranges and sets",
    "uniform": "error-risk pruning, a group published alike, rule minimal",
    "uniform_literal": "the same, rule literal",
    "tiered": "tiers, each row its own",
    "tiered_random": "tiers, rows assigned at random (seed: the fold)",
}
READINGS = {
    "sets": "cells as sets of possible values: C4.5 with parts of rows",
    "middle": "a range as its middle, a set as a value of its own",
}
PAPER = pd.DataFrame(
    [
        ("contra", "original", 0, None, None, 47.79),
        ("contra", "infogain", 10, 0, 0.4174, 58.48),
        ("contra", "uniform", 10, 0, 0.4093, 49.02),
        ("contra", "tiered", 10, 3, 0.4071, 48.27),
        ("contra", "infogain", 20, 0, 0.5136, 59.89),
        ("contra", "uniform", 20, 0, 0.5131, 59.36),
        ("contra", "tiered", 20, 3, 0.5127, 56.55),
        ("contra", "infogain", 30, 0, 0.5771, 60.28),
        ("contra", "uniform", 30, 0, 0.5728, 60.29),
        ("contra", "tiered", 30, 3, 0.5602, 59.06),
        ("adult", "original", 0, None, None, 14.62),
        ("adult", "infogain", 10, 49, 0.4711, 24.81),
        ("adult", "uniform", 10, 54, 0.4251, 21.09),
        ("adult", "tiered", 10, 75, 0.3648, 16.63),
        ("adult", "infogain", 20, 33, 0.5010, 25.09),
        ("adult", "uniform", 20, 48, 0.4262, 24.48),
        ("adult", "tiered", 20, 66, 0.3696, 17.08),
        ("adult", "infogain", 30, 28, 0.5195, 27.76),
        ("adult", "uniform", 30, 39, 0.4695, 24.93),
        ("adult", "tiered", 30, 62, 0.3737, 17.44),
        # Table 2; error in percent
    ],
    columns=["case", "method", "k", "seconds", "gcp", "error"],
)
KEY = ["case", "method", "reading", "k", "fold"]
COLUMNS = (
    KEY
    + [
        "n_train",
        "n_test",
        "gcp",
        "classes",
        "groups",
        "k_measured",
        "error",
        "error_raw",
        "leaves",
        "protect_seconds",
        "audit_seconds",
        "learn_seconds",
    ]
    + MADE
)


def all_units():
    """(case, method, k, fold, readings), in the order of cost"""
    res = [(c, "original", 0, f, ("middle",)) for c in CASES for f in range(FOLDS)]
    for c in CASES:
        for readings in [tuple(READINGS)] if c == "contra" else [("middle",), ("sets",)]:
            res += [
                (c, m, k, f, readings) for f, k, m in product(range(FOLDS), KS, list(METHODS)[1:])
            ]
    return res


def keys_of(unit):
    case, method, k, fold, readings = unit
    return [(case, method, r, k, fold) for r in readings]


def all_runs():
    return [key for u in all_units() for key in keys_of(u)]


@lru_cache(maxsize=2)
def table(case):
    """(X, y): complete rows.

    The paper counts five numeric attributes in Contra: education (of both) and standard of living,
    codes from 1 to 4, are numbers here
    """
    X, y = fetch_benchmark(CASES[case])
    if case == "contra":
        X = X.astype(
            {o: "int64" for o in ("wife_education", "husband_education", "living_standard")}
        )
    whole = X.notna().all(axis=1).to_numpy()
    return X[whole].reset_index(drop=True), y[whole].reset_index(drop=True)


@lru_cache(maxsize=4)
def folds(case, n):
    """Ten blocks of test rows, as equal as can be"""
    rows = list(range(n))
    random.Random(f"erp ten folds {case}").shuffle(rows)
    return [np.sort(o) for o in np.array_split(rows, FOLDS)]


def anonymizer(method, k, fold):
    if method in ("infogain", "median"):
        return MondrianAnonymizer(
            k=k, mode={"median": "strict"}.get(method, method), recoding="interval"
        )
    if method.startswith("tiered"):
        return ERPAnonymizer(
            k=k, assign="random" if method == "tiered_random" else "own", random_state=fold
        )
    return ERPAnonymizer(
        k=k, recoding="uniform", rule="literal" if method == "uniform_literal" else "minimal"
    )


def wrong(model, X, y):
    return round(
        100
        * float((np.asarray(model.predict(X), dtype=object) != y.to_numpy(dtype=object)).mean()),
        4,
    )


def read_as(reading, data, recoded, raw, X):
    """(training table, recoded test rows, raw test rows) as a learner is to see them"""
    if reading == "sets":
        return data, recoded, raw
    plain, tokens = as_values(data, X)
    return plain, as_values(recoded, X, tokens)[0], as_values(raw, X, tokens)[0]


def run(unit):
    """The lines of a unit, without the columns that tell where they were made"""
    case, method, k, fold, readings = unit
    X, y = table(case)
    test = folds(case, len(X))[fold]
    train = np.setdiff1d(np.arange(len(X)), test)
    X, y, X_test, y_test = (o.iloc[i].reset_index(drop=True) for i in (train, test) for o in (X, y))
    about, start = dict(n_train=len(X), n_test=len(X_test)), time.perf_counter()
    if method == "original":
        given = {"middle": (X, X_test, X_test)}
        about |= dict(
            gcp=0.0,
            classes=np.nan,
            groups=np.nan,
            k_measured=1,
            protect_seconds=0.0,
            audit_seconds=0.0,
        )
    else:
        est = anonymizer(method, k, fold)
        r = est.anonymize(X, y)
        took, begin = time.perf_counter() - start, time.perf_counter()
        audit(r.data, list(X), k, original=X, lost=[], consistency=False, y=r.y)
        spent = time.perf_counter() - begin
        about |= dict(
            gcp=round(r.audit.gcp, 6),
            classes=float(r.audit.n_classes),
            groups=float(len(np.unique(est.groups_))),
            k_measured=r.audit.k,
            protect_seconds=round(took - spent, 2),
            audit_seconds=round(spent, 2),
        )
        given = {o: read_as(o, r.data, est.transform(X_test), X_test, X) for o in readings}
    res = []
    for reading, (data, recoded, raw) in given.items():
        begin = time.perf_counter()
        model = C45Classifier().fit(data, y)
        spent = round(time.perf_counter() - begin, 2)
        res.append(
            dict(zip(KEY, (case, method, reading, k, fold)))
            | about
            | dict(
                error=wrong(model, recoded, y_test),
                error_raw=wrong(model, raw, y_test),
                leaves=model.tree_.n_leaves,
                learn_seconds=spent,
            )
        )
    return res


def make(unit):
    made = provenance()
    return [o | made for o in run(unit)]


def read(path):
    return read_results(path, COLUMNS)


def done_in(path):
    return set(read(path)[KEY].itertuples(index=False, name=None))


def summary(t):
    """Means over the folds beside the paper's"""
    s = (
        t.groupby(KEY[:4], sort=False)
        .agg(
            folds=("fold", "size"),
            seconds=("protect_seconds", "mean"),
            gcp=("gcp", "mean"),
            error=("error", "mean"),
            sd=("error", "std"),
            error_raw=("error_raw", "mean"),
            groups=("groups", "mean"),
        )
        .reset_index()
    )
    p = PAPER.rename(columns=dict(seconds="paper_seconds", gcp="paper_gcp", error="paper_error"))
    p = pd.concat(
        [
            p,
            p[p.method == "uniform"].assign(method="uniform_literal"),
            p[p.method == "tiered"].assign(method="tiered_random"),
            p[p.method == "infogain"].assign(method="median"),
        ]
    )
    return s.merge(p, how="left", on=["case", "method", "k"])


def erp(full=False, seeds=None, row=None, again=False, out=None, jobs=1):
    """Make the runs that were asked for, and print them beside the paper's numbers"""
    out, units = out or RESULTS / "erp.csv", all_units()
    if row:
        try:
            case, method, reading = row[0].split("/")
            want = case, method, reading, int(row[1]), int(row[2])
        except ValueError:
            want = ()
        units = [(*u[:4], (want[2],)) for u in units if want in keys_of(u)][:1]
        if not units:
            raise SystemExit(
                "--row must be TABLE/METHOD/READING K FOLD of the design, such as"
                f" contra/tiered/middle 10 3. Got {' '.join(row)}; tables: {', '.join(CASES)};"
                " folds 0 to 9; k 10, 20, 30 (original: 0); methods:\n"
                + "\n".join(f"  {o:18}{text}" for o, text in METHODS.items())
                + "\nreadings:\n"
                + "\n".join(f"  {o:18}{text}" for o, text in READINGS.items())
            )
    elif not full:
        units = [u for u in units if u[0] == "contra" and u[2] in (0, 10) and u[3] < 2]
    done = set() if again or not full else done_in(out)
    lines = each_unit(
        make,
        [u for u in units if not set(keys_of(u)) <= done],
        (lambda o: store(out, o, KEY, COLUMNS, list(CASES))) if full else None,
        jobs,
        "folds",
    )
    t = read(out) if full else pd.DataFrame(lines)
    if full:
        print(f"{len(t)} runs in {out}, {len(lines)} of them new")
    if len(t):
        print(summary(t).round(4).to_string(index=False))


def main(args=None):
    a = parsed(runs_parser(__doc__, ("RUN", "K", "FOLD"), "hours", "erp.csv"), args)
    try:
        erp(a.full, None, a.row, a.again, a.out, a.jobs)
    except (DataNotFoundError, DataCorruptedError) as e:
        raise SystemExit(str(e)) from None


if __name__ == "__main__":
    main()
