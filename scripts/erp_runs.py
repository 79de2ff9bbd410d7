"""The experiment of the error-risk pruning paper: its Table 2, one line a run.

    python scripts/erp_runs.py                             a few runs, printed beside the paper's
    numbers
    python scripts/erp_runs.py --full --jobs 2             all runs, stored in
    nbs/papers/results/erp.csv
    python scripts/erp_runs.py --row contra/tiered/middle 10 3   one run: table/method/reading, k,
    fold

A run protects nine tenths of a table, teaches C4.5 by the release, and asks it for the other tenth,
recoded as the method recodes new rows, and as it is; with cells as words, also generalized by its
own values in the groups that it comes to. Methods and tables that the paper does not describe are
hypotheses for what it printed (erp_groups.py); most of them are measured without a learner. Runs
that are stored are not made again (--again makes all anew, --only some methods). Tables are found
as `fetch_benchmark` finds them; also called by python scripts/replicate.py erp.
"""

import random
import sys
import time
from functools import lru_cache, partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))
from erp_groups import (
    LeafGroups,
    RawDistances,
    as_text,
    as_words,
    cart_tree,
    climbing,
    joined,
    own_values,
    starred_loss,
    undone,
)
from kactus_runs import as_values
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
from ppdt.datasets import fetch_benchmark
from ppdt.erp import ERPAnonymizer
from ppdt.mondrian import MondrianAnonymizer
from ppdt.privacy import audit

KS, FOLDS, DRAWS = (10, 20, 30), 10, 4
CASES = {
    "contra": "contraceptive; education and standard of living are numbers",
    "contra_numbers": "the husband's occupation, too",
    "contra_words": "all codes are categories",
    "adult": "adult, complete rows",
    "adult_unweighted": "without fnlwgt",
    "adult_once": "without education, which education-num repeats",
}
METHODS = {
    "original": "the table as it is",
    "other_blocks": "the same, blocks drawn anew; ten folds a draw",
    "infogain": "Mondrian by information gain, ranges and sets",
    "infogain_pure": "the same, a group of one class is left whole",
    "median": "strict Mondrian by medians, ranges and sets",
    "uniform": "error-risk pruning, a group published alike, rule minimal",
    "uniform_literal": "the same, rule literal",
    "uniform_binary": "rule minimal, a tree with two branches a question",
    "uniform_k": "rule minimal, two branches of each question have k rows",
    "uniform_binary_k": "both: nothing is left to prune",
    "cart_undone": "rule minimal, CART by entropy with five rows a leaf",
    "joined": "a small leaf joins the smallest group below its question",
    "climbing": "small leaves of a question are one group, which climbs while it is small",
    "climbing_4": "the same, four rows a leaf",
    "tiered": "tiers, each row its own",
    "tiered_random": "tiers, rows assigned at random (seed: the fold)",
    "tiered_binary": "tiers, a tree with two branches a question",
    "tiered_raw": "tiers, distances of numbers as they are",
    "tiered_4": "tiers, four rows a leaf",
}
READINGS = {
    "sets": "cells as sets of possible values: C4.5 with parts of rows",
    "middle": "a range as its middle, a set as a value of its own",
    "words": "each cell a word; a category of more than one value is *, but in tiers",
    "loss": "no learner: only what is lost",
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
        "gcp_star",
        "classes",
        "groups",
        "k_measured",
        "error",
        "error_raw",
        "error_own",
        "leaves",
        "protect_seconds",
        "audit_seconds",
        "learn_seconds",
    ]
    + MADE
)


BASE = ("infogain", "median", "uniform", "uniform_literal", "tiered", "tiered_random")
READ = ("infogain_pure", "joined")  # hypotheses that C4.5 reads, too
WORDS = ("infogain", *READ, "uniform", "tiered")
LOST = ("climbing", "climbing_4", "tiered_binary", "tiered_4")
FAR = ("uniform_binary", "uniform_k", "uniform_binary_k", "cart_undone", "tiered_raw")
SELDOM = {"contra_numbers": ("infogain_pure", "joined", "tiered_binary")}
SELDOM |= {o: ("infogain_pure",) for o in ("contra_words", "adult_unweighted", "adult_once")}


def all_units():
    """(case, method, k, fold, readings), in the order of cost; on Adult three folds of hypotheses
    that lead nowhere
    """
    raw = [(c, "original", FOLDS) for c in ("contra", "adult", "contra_words")]
    raw.append(("contra", "other_blocks", DRAWS * FOLDS))
    res = [(c, m, 0, f, ("middle",)) for c, m, n in raw for f in range(n)]
    two, words, loss = ("sets", "middle"), ("words",), ("loss",)
    of_contra = [((*BASE, *READ), two), (WORDS, words), ((*LOST, *FAR), loss)]
    lists = [("contra", m, o, FOLDS) for m, o in of_contra]
    lists += [(c, m, loss, FOLDS) for c, m in SELDOM.items()]
    of_adult = [(BASE, two, FOLDS), (WORDS, words, FOLDS), (LOST, loss, FOLDS), (FAR, loss, 3)]
    lists += [("adult", *o) for o in of_adult]
    for c, methods, readings, n in lists:
        res += [(c, m, k, f, readings) for f, k, m in product(range(n), KS, methods)]
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
    name, _, variant = case.partition("_")
    X, y = fetch_benchmark({"contra": "contraceptive"}.get(name, name))
    codes = ["wife_education", "husband_education", "living_standard", "husband_occupation"]
    if name == "contra" and variant != "words":
        X = X.astype({o: "int64" for o in codes[: 4 if variant == "numbers" else 3]})
    left_out = {"unweighted": ["fnlwgt"], "once": ["education"]}.get(variant, [])
    X = X.drop(columns=left_out)
    whole = X.notna().all(axis=1).to_numpy()
    return X[whole].reset_index(drop=True), y[whole].reset_index(drop=True)


@lru_cache(maxsize=8)
def folds(case, n, draw=0):
    """Ten blocks of test rows, as equal as can be"""
    rows = list(range(n))
    name = f"erp ten folds {case.partition('_')[0]}" + (f" {draw}" if draw else "")
    random.Random(name).shuffle(rows)
    return [np.sort(o) for o in np.array_split(rows, FOLDS)]


def unpruned(**options):
    return C45Classifier(prune=False, **options)


INFOGAIN = partial(MondrianAnonymizer, mode="infogain", recoding="interval")
ALIKE = partial(ERPAnonymizer, recoding="uniform")
OWN = partial(ERPAnonymizer, assign="own")
BINARY = dict(binary_splits=True)
MADE_BY = {  # from k and the fold
    "infogain": lambda k, f: INFOGAIN(k),
    "infogain_pure": lambda k, f: INFOGAIN(k, stop_pure=True),
    "median": lambda k, f: MondrianAnonymizer(k, recoding="interval"),
    "uniform": lambda k, f: ALIKE(k),
    "uniform_literal": lambda k, f: ALIKE(k, rule="literal"),
    "uniform_binary": lambda k, f: ALIKE(k, inducer=unpruned(**BINARY)),
    "uniform_k": lambda k, f: ALIKE(k, inducer=unpruned(min_samples_leaf=k)),
    "uniform_binary_k": lambda k, f: ALIKE(k, inducer=unpruned(min_samples_leaf=k, **BINARY)),
    "cart_undone": lambda k, f: LeafGroups(k, undone, cart_tree, min_samples_leaf=5),
    "joined": lambda k, f: LeafGroups(k, joined),
    "climbing": lambda k, f: LeafGroups(k, climbing),
    "climbing_4": lambda k, f: LeafGroups(k, climbing, min_samples_leaf=4),
    "tiered": lambda k, f: OWN(k, random_state=f),
    "tiered_random": lambda k, f: ERPAnonymizer(k, random_state=f),
    "tiered_binary": lambda k, f: OWN(k, inducer=unpruned(**BINARY)),
    "tiered_raw": lambda k, f: RawDistances(k, assign="own"),
    "tiered_4": lambda k, f: OWN(k, inducer=unpruned(min_samples_leaf=4)),
}


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


def parts(case, fold):
    """(X, y, X_test, y_test)"""
    X, y = table(case)
    draw, block = divmod(fold, FOLDS)
    test = folds(case, len(X), draw)[block]
    train = np.setdiff1d(np.arange(len(X)), test)
    return [o.iloc[i].reset_index(drop=True) for i in (train, test) for o in (X, y)]


def learnt(data, y, tests, y_test):
    """What C4.5 makes of a training table, and its errors for test tables by name"""
    begin = time.perf_counter()
    model = C45Classifier().fit(data, y)
    spent = round(time.perf_counter() - begin, 2)
    errors = {o: wrong(model, t, y_test) for o, t in tests.items()}
    return errors | dict(leaves=model.tree_.n_leaves, learn_seconds=spent)


def asked(reading, est, data, y, X, X_test, y_test, star):
    """The errors of a reading"""
    if reading == "loss":
        return {}
    recoded = est.transform(X_test)
    if reading == "words":
        text = as_text(data, X, star)
        train, known = as_words(text)
        tests = dict(
            error=as_text(recoded, X, star),
            error_raw=as_text(X_test, X, star),
            error_own=own_values(recoded, X_test, star),
        )
        tests = {o: as_words(t, known)[0] for o, t in tests.items()}
        return learnt(train, y, tests, y_test)
    train, *both = read_as(reading, data, recoded, X_test, X)
    return learnt(train, y, dict(zip(("error", "error_raw"), both)), y_test)


def protected(method, k, fold, X, y):
    """(anonymizer, release, what the release measures)"""
    est, start = MADE_BY[method](k, fold), time.perf_counter()
    r = est.anonymize(X, y)
    took, begin = time.perf_counter() - start, time.perf_counter()
    audit(r.data, list(X), k, original=X, lost=[], consistency=False, y=r.y)
    spent = time.perf_counter() - begin
    measured = dict(
        gcp=round(r.audit.gcp, 6),
        classes=float(r.audit.n_classes),
        groups=float(len(np.unique(est.groups_))),
        k_measured=r.audit.k,
        protect_seconds=round(took - spent, 2),
        audit_seconds=round(spent, 2),
    )
    return est, r, measured


UNPROTECTED = dict(gcp=0.0, k_measured=1, protect_seconds=0.0, audit_seconds=0.0)


def run(unit):
    """The lines of a unit, without the columns that tell where they were made"""
    case, method, k, fold, readings = unit
    X, y, X_test, y_test = parts(case, fold)
    about = dict(n_train=len(X), n_test=len(X_test))
    if k == 0:
        tests = dict(error=X_test, error_raw=X_test)
        found = {o: learnt(X, y, tests, y_test) for o in readings}
        about |= UNPROTECTED
    else:
        est, r, measured = protected(method, k, fold, X, y)
        star = not method.startswith("tiered")
        of = (est, r.data, y, X, X_test, y_test, star)
        found = {o: asked(o, *of) for o in readings}
        about |= measured
        for o in {"words", "loss"} & set(readings):
            found[o]["gcp_star"] = round(starred_loss(r.data, X), 6)
    nothing = dict.fromkeys(COLUMNS[: -len(MADE)], np.nan)
    return [
        nothing | dict(zip(KEY, (case, method, o, k, fold))) | about | found[o] for o in readings
    ]


def make(unit):
    made = provenance()
    return [o | made for o in run(unit)]


def read(path):
    return read_results(path, COLUMNS)


def done_in(path):
    return set(read(path)[KEY].itertuples(index=False, name=None))


def printed_for(method):
    """The paper's method that one of ours is to be compared with; None: one of its own"""
    if method in set(PAPER.method):
        return None
    begins = {"other": "original", "infogain": "infogain", "median": "infogain", "tiered": "tiered"}
    return begins.get(method.partition("_")[0], "uniform")


def printed():
    """The paper's numbers for all tables and methods"""
    p = PAPER.rename(columns=dict(seconds="paper_seconds", gcp="paper_gcp", error="paper_error"))
    others = [(o, printed_for(o)) for o in METHODS if printed_for(o)]
    p = pd.concat([p, *(p[p.method == theirs].assign(method=o) for o, theirs in others)])
    variants = [o for o in CASES if "_" in o]
    return pd.concat([p, *(p[p.case == o.partition("_")[0]].assign(case=o) for o in variants)])


def summary(t):
    """Means over the folds beside the paper's"""
    means = ["gcp", "gcp_star", "error", "error_raw", "error_own", "groups"]
    s = (
        t.groupby(KEY[:4], sort=False)
        .agg(
            folds=("fold", "size"),
            seconds=("protect_seconds", "mean"),
            **{o: (o, "mean") for o in means},
            sd=("error", "std"),
        )
        .reset_index()
    )
    return s.merge(printed(), how="left", on=["case", "method", "k"])


FEW = [("contra", k, fold) for k in (0, 10) for fold in (0, 1)]


def erp(full=False, seeds=None, row=None, again=False, out=None, jobs=1, only=()):
    """Make the runs that were asked for, and print them beside the paper's numbers"""
    out, units = out or RESULTS / "erp.csv", all_units()
    units = [u for u in units if not only or u[1] in only]
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
                f" contra/tiered/middle 10 3. Got {' '.join(row)}; folds 0 to 9;"
                " k 10, 20, 30 (original: 0)\n"
                + "\n".join(
                    f"{name}:\n" + "\n".join(f"  {o:18}{text}" for o, text in words.items())
                    for name, words in (
                        ("tables", CASES),
                        ("methods", METHODS),
                        ("readings", READINGS),
                    )
                )
            )
    elif not full:
        first = ("original", *BASE)
        units = [u for u in units if u[:1] + u[2:4] in FEW and u[1] in first]
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
    p = runs_parser(__doc__, ("RUN", "K", "FOLD"), "two hours", "erp.csv")
    p.add_argument("--only", nargs="+", default=(), metavar="METHOD", help="runs of these methods")
    a = parsed(p, args)
    with data_told():
        erp(a.full, None, a.row, a.again, a.out, a.jobs, a.only)


if __name__ == "__main__":
    main()
