"""The experiment of the MiCT paper: its Figure 2, one line for ten folds.

    python scripts/mict_runs.py                            a few runs, printed
    python scripts/mict_runs.py --full --jobs 2            all runs, stored in
    nbs/papers/results/mict.csv
    python scripts/mict_runs.py --row german/within_leaf/once 10    one release:
    table/method/perturb, k

A line is a table, a method, a k, a way to perturb (the whole table once, or training and test rows
each by themselves), a model (who learns from what, and is asked what) and a learner, in ten folds.
Runs that are stored are not made again (--again makes all anew). Tables are found as
`fetch_benchmark` finds them; also called by python scripts/replicate.py mict.
"""

import sys
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

sys.path.insert(0, str(Path(__file__).parent))
from replicate import (
    MADE,
    RESULTS,
    data_told,
    each_unit,
    parsed,
    provenance,
    read_results,
    runs_parser,
    store,
)

from ppdt.c45 import C45Classifier
from ppdt.contest import contest
from ppdt.datasets import fetch_benchmark
from ppdt.learners import NaiveBayesClassifier
from ppdt.mict import MicroaggregationAnonymizer, MiCTAnonymizer, MixedKNNClassifier, record_linkage

CASES = {"german": (2, 3, 5, 10, 20, 50), "adult": (3, 10, 30, 100)}
METHODS = {
    "asis": (
        "MiCT as the paper has it: rows of complying leaves unchanged; promises nothing",
        partial(MiCTAnonymizer, release="asis"),
    ),
    "within_leaf": ("MiCT, each complying leaf microaggregated by itself", MiCTAnonymizer),
    "suppress": (
        "MiCT, complying leaves publish what their path asks",
        partial(MiCTAnonymizer, release="suppress"),
    ),
    "vmdav": ("V-MDAV on the whole table, no tree", MicroaggregationAnonymizer),
}
PERTURB = {
    "once": "the whole table, before it is divided",
    "inside": "training and test rows, each by themselves",
}
MODELS = ("PP", "PO", "OP")
LEARNERS = {
    "knn": MixedKNNClassifier,
    "knn1": partial(MixedKNNClassifier, n_neighbors=1),
    "c45": C45Classifier,
    "naive_bayes": NaiveBayesClassifier,
}
FOLDS, TRIED = 10, 2000
KEY = ["case", "method", "perturb", "k", "model", "learner"]
COLUMNS = (
    KEY
    + [
        "accuracy",
        "right",
        "tested",
        "gcp",
        "class_known",
        "singled_out",
        "found",
        "protect_seconds",
        "learn_seconds",
    ]
    + MADE
)


def learners(case):
    """One neighbour on German Credit only"""
    return [o for o in LEARNERS if case == "german" or o != "knn1"]


def all_units():
    """(case, method, perturb, k), in the order of cost; "raw" is the table as it is"""
    res = []
    for case, ks in CASES.items():
        res += [(case, "raw", "", 1)]
        # on Adult two methods are slow, the one to average without a tree, the other to be asked
        # for neighbours: there once only, and inside for two k
        res += [
            (case, m, p, k)
            for p in PERTURB
            for k in ks
            for m in METHODS
            if case == "german" or p == "once" or (m not in ("asis", "vmdav") and k in (10, 100))
        ]
    return res


def keys_of(unit):
    return [
        (*unit, model, l)
        for model in (("OO",) if unit[1] == "raw" else MODELS)
        for l in learners(unit[0])
    ]


def all_runs():
    return [key for u in all_units() for key in keys_of(u)]


@lru_cache(maxsize=2)
def table(case):
    """(X, y): complete rows"""
    X, y = fetch_benchmark(case)
    whole = X.notna().all(axis=1).to_numpy()
    return X[whole].reset_index(drop=True), y[whole].reset_index(drop=True)


@lru_cache(maxsize=2)
def folds(case):
    """Ten pairs (training rows, test rows) with the same shares of classes"""
    X, y = table(case)
    return list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))


def linked(case, method, k):
    """Share of people who are found in the release of the whole table by the nearest published row:
    of all, or of some drawn from a large table
    """
    X, y = table(case)
    published = X if method == "raw" else METHODS[method][1](k=k).anonymize(X, y).data
    rows = np.sort(np.random.default_rng(0).choice(len(X), min(TRIED, len(X)), replace=False))
    return round(float(record_linkage(X, published, rows).mean()), 6)


def run(unit, halves=None):
    """The lines of a unit, without the columns that tell where they were made"""
    case, method, perturb, k = unit
    X, y = table(case)
    anonymizers = {"m": METHODS[method][1](k=k)} if method != "raw" else {"m": None}
    t = contest(
        X,
        y,
        anonymizers,
        {o: LEARNERS[o]() for o in learners(case)},
        halves=folds(case) if halves is None else halves,
        models=MODELS,
        perturb=perturb or "once",
        progress=False,
    )
    failed = t.reason[t.reason != ""]
    if len(failed):
        raise RuntimeError(f"A run of {unit} failed: {failed.iloc[0]}")
    found, res = linked(case, method, k) if perturb != "inside" else np.nan, []
    for (name, learner), o in t.groupby(["anonymizer", "classifier"], sort=False):
        res.append(
            dict(zip(KEY, (*unit, "OO" if method == "raw" else name[2:], learner)))
            | dict(
                accuracy=round(100 * float(o.accuracy.mean()), 4),
                right=" ".join(map(str, o.right)),
                tested=" ".join(map(str, o.tested)),
                **{c: round(float(o[c].mean()), 6) for c in ("gcp", "class_known", "singled_out")},
                found=found,
                protect_seconds=round(float(o.seconds_protect.mean()), 2),
                learn_seconds=round(float(o.seconds_learn.mean()), 2),
            )
        )
    return res


def make(unit):
    made = provenance()
    return [o | made for o in run(unit)]


def read(path):
    return read_results(path, COLUMNS).fillna({"perturb": ""})


def done_in(path):
    return set(read(path)[KEY].itertuples(index=False, name=None))


def per_fold(t):
    """Percent of right answers of each fold, a row for each line"""
    return pd.DataFrame(
        100
        * np.array([list(map(int, o.split())) for o in t.right])
        / [list(map(int, o.split())) for o in t.tested],
        index=t.index,
    )


def mict(full=False, seeds=None, row=None, again=False, out=None, jobs=1):
    """Make the runs that were asked for, and print them"""
    out, units = out or RESULTS / "mict.csv", all_units()
    if row:
        try:
            want = (*row[0].split("/"), int(row[1]))
        except ValueError:
            want = ()
        units = [u for u in units if u == want]
        if not units:
            raise SystemExit(
                "--row must be TABLE/METHOD/PERTURB K of the design, such as"
                f" german/within_leaf/once 10. Got {' '.join(row)}; tables and k: {CASES}; perturb:"
                f" {', '.join(PERTURB)}; methods:\n"
                + "\n".join(f"  {o:14}{text}" for o, (text, _) in METHODS.items())
            )
    elif not full:
        units = [u for u in units if u[0] == "german" and u[2] != "inside" and u[3] in (1, 10)]
    done = set() if again or not full else done_in(out)
    lines = each_unit(
        make,
        [u for u in units if not set(keys_of(u)) <= done],
        (lambda o: store(out, o, KEY, COLUMNS, list(CASES))) if full else None,
        jobs,
    )
    t = read(out) if full else pd.DataFrame(lines)
    if full:
        print(f"{len(t)} runs in {out}, {len(lines)} of them new")
    if len(t):
        print(
            t[KEY]
            .assign(
                accuracy=t.accuracy.round(2),
                sd=per_fold(t).std(axis=1).round(2),
                found=t.found.round(4),
            )
            .to_string(index=False, na_rep="")
        )


def main(args=None):
    a = parsed(runs_parser(__doc__, ("RUN", "K"), "about an hour", "mict.csv"), args)
    with data_told():
        mict(a.full, None, a.row, a.again, a.out, a.jobs)


if __name__ == "__main__":
    main()
