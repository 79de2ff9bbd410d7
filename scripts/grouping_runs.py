"""What groups lose, teach and tell, by the method that makes them: four tables, six k.

    python scripts/grouping_runs.py                      a few releases, printed
    python scripts/grouping_runs.py --full               all, stored in
    nbs/papers/results/grouping.csv
    python scripts/grouping_runs.py --row german/cluster 5 0   one release: table/method, k, split
    python scripts/grouping_runs.py --gap                how far each method is from the best groups
    of thirty rows, stored in nbs/papers/results/grouping_gap.csv
    python scripts/grouping_runs.py --bound              and how far, at most, of more rows, by
    bounds that no groups can go below, stored in nbs/papers/results/grouping_bound.csv

Half of a table is published, of Adult 8,000 people; the other half (as many) is asked about: as raw
rows of a learner's test, and by an attacker who looks for the rows that could be theirs. Runs that
are stored are not made again (--again makes all anew).
"""

import sys
import time
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier
from sklearn.metrics import roc_auc_score

sys.path.insert(0, str(Path(__file__).parent))
from best_groups import best_groups, bound
from frontier import GAINS, KNOWN, LEARNERS, PEOPLE, trees_over
from replicate import (
    MADE,
    RESULTS,
    asked_row,
    data_told,
    each_unit,
    parsed,
    print_runs,
    provenance,
    runs_parser,
    stored_runs,
)

from ppdt.attacks import FittingRows, attack
from ppdt.clusters import ClusterAnonymizer
from ppdt.datasets import fetch_benchmark
from ppdt.lattice import LatticeAnonymizer
from ppdt.loss import gcp
from ppdt.mict import MicroaggregationAnonymizer
from ppdt.mondrian import MondrianAnonymizer
from ppdt.tables import encode

CASES = ("pima", "german", "contraceptive", "adult")
KS, SPLITS = (2, 5, 10, 25, 50, 100), (0,)
ALL = 10**9  # moves: until nothing is gained
METHODS = {
    "strict": MondrianAnonymizer,
    "strict_distinct": partial(MondrianAnonymizer, width="distinct", cut_rule="balanced"),
    "strict_refined": partial(MondrianAnonymizer, refine=ALL),
    "relaxed": partial(MondrianAnonymizer, mode="relaxed"),
    "relaxed_refined": partial(MondrianAnonymizer, mode="relaxed", refine=ALL),
    "infogain": partial(MondrianAnonymizer, mode="infogain", categories="subsets"),
    "vmdav": MicroaggregationAnonymizer,
    "cluster": ClusterAnonymizer,
    "cluster_refined": partial(ClusterAnonymizer, refine=ALL),
    "cluster_class": partial(ClusterAnonymizer, guide="class"),
    "vmdav_refined": partial(MicroaggregationAnonymizer, refine=ALL),
    "strict_ends": partial(MondrianAnonymizer, recoding="ends"),
    "strict_region": partial(MondrianAnonymizer, recoding="region"),
    "lattice": partial(LatticeAnonymizer, suppression_limit=0.02),
    "cluster_annealed": partial(ClusterAnonymizer, refine=ALL, anneal=5),
}
TOO_LARGE = (("german", "lattice"),)  # twenty columns: 18 million nodes
READERS = ("encoder_boosting", "drawn_boosting")
KEY = ["case", "method", "k", "split"]
COLUMNS = [
    *KEY,
    "n",
    "spread",
    "pure",
    *(f"{o}_{side}" for o in GAINS for side in ("in", "out")),
    *(f"{r}_{o}" for r in READERS for o in ("accuracy", "auc")),
    "protect_seconds",
    *MADE,
]


def all_units():
    """(table, method, k, split)"""
    each = [(c, m, k, s) for s in SPLITS for c in CASES for k in KS for m in METHODS]
    return [u for u in each if u[:2] not in TOO_LARGE]


@lru_cache(maxsize=1)
def people(case, split):
    """(X, y) of those in the table, and of as many others"""
    X, y = fetch_benchmark(case)
    X = X[KNOWN] if case == "adult" else X
    whole = X.notna().all(axis=1) & y.notna()
    X, y = X[whole], y[whole].astype(str)
    order = np.random.default_rng(split + 1).permutation(len(X))
    n = min(PEOPLE, len(X) // 2)
    parts = order[:n], order[n : 2 * n]
    return tuple(
        (X.iloc[o].reset_index(drop=True), y.iloc[o].reset_index(drop=True)) for o in parts
    )


def scores(model, X, y):
    """(accuracy, area under the curve) on raw rows; of several classes each against the others"""
    p = model.predict_proba(X)
    if len(model.classes_) == 2:
        area = roc_auc_score(y == model.classes_[1], p[:, 1])
    else:
        area = roc_auc_score(y, p, multi_class="ovr", labels=model.classes_)
    return round(float((model.predict(X) == y).mean()), 6), round(float(area), 6)


def share_pure(release):
    """The share of people whose published row is shared by people of one class only"""
    codes = [release.cells(o)[0] for o in release.roles.quasi_identifiers]
    looks = np.unique(np.stack(codes), axis=1, return_inverse=True)[1].ravel()
    classes = release.y.groupby(looks).transform("nunique")
    return round(float((classes == 1).mean()), 6)


def reader(name, release):
    """A learner; where all rows look alike, the shares of the classes"""
    if (release.data.astype(str).nunique() == 1).all():
        return DummyClassifier(strategy="prior")
    return LEARNERS[name](release.taxonomies or None)


def run(unit, readers=READERS):
    """The line of a unit, without the columns that tell where it was made"""
    case, method, k, split = unit
    (X, y), outside = people(case, split)
    begun = time.process_time()
    trees = {"taxonomies": trees_over(case, X)} if method == "lattice" else {}
    release = METHODS[method](k=k, **trees).anonymize(X, y)
    seconds = round(time.process_time() - begun, 2)
    line = dict(zip(KEY, unit)) | {"n": len(X), "protect_seconds": seconds}
    loss = gcp(release.data, X, form="spread", lost=release.lost, **trees)
    line["spread"] = round(loss, 6)
    line["pure"] = share_pure(release)
    found = attack(FittingRows(release), X, y, *outside)
    for o in GAINS:
        gain = getattr(found, o)
        line |= {f"{o}_in": round(gain.share_in, 6), f"{o}_out": round(gain.share_out, 6)}
    for r in readers:
        model = reader(r, release).fit(release.data, release.y)
        line[f"{r}_accuracy"], line[f"{r}_auc"] = scores(model, *outside)
    return line


FEW, GAP_K, SAMPLES = 30, 3, 5
GROUPS = tuple(METHODS)[:10]  # their groups, in sets or means
GAP_COLUMNS = ["case", "sample", "best", *GROUPS, *MADE]


def losses(X, y, k):
    """The spread loss of each method"""
    res = {}
    for name in GROUPS:
        release = METHODS[name](k=k).anonymize(X, y)
        res[name] = round(gcp(release.data, X, form="spread", lost=release.lost), 6)
    return res


def varied(X):
    """The columns with more than one value"""
    return X[[o for o in X if X[o].nunique() > 1]]


def gap(case, sample):
    """Loss of each method, and the least there is, on a few rows of a table"""
    (X, y), _ = people(case, 0)
    X, y = (o.sample(FEW, random_state=sample).reset_index(drop=True) for o in (X, y))
    X = varied(X)
    found = losses(X, y, GAP_K)
    best = best_groups(X, GAP_K, min(found.values()) + 1e-6)[1]
    return {"case": case, "sample": sample, "best": round(best, 6)} | found


def gaps(out=None):
    """How far each method is from the best, of all tables; stored and printed"""
    lines = [gap(c, s) | provenance() for c in CASES for s in range(SAMPLES)]
    t = pd.DataFrame(lines, columns=GAP_COLUMNS)
    t.to_csv(out or RESULTS / "grouping_gap.csv", index=False)
    print(t.drop(columns=list(MADE)).round(3).to_string(index=False))


PAIRS, ALL_GROUPS = "pairs", "all groups"  # what a bound looks at
BOUNDS = [
    *((500, k, PAIRS) for k in (2, 5, 10)),  # rows at most, k
    (200, 2, ALL_GROUPS),
    (60, 3, ALL_GROUPS),
]
BOUND_KEY = ["case", "most", "k"]
BOUND_COLUMNS = [*BOUND_KEY, "n", "by", "bound", *GROUPS, *MADE]


def pair_losses(X):
    """Spread loss of a group of two, for all pairs of rows, shape (n, n)"""
    total = np.zeros((len(X), len(X)))
    for o in X:
        a, codes = encode(X[o])
        if a.kind == "numeric":
            at = a.positions[codes]
            total += np.abs(at[:, None] - at) / np.ptp(a.positions)
        else:
            total += (codes[:, None] != codes) / (len(a) - 1)
    return total / X.shape[1]


def loss_bound(X, k):
    """What no groups of k rows and more go below: a row's group holds k - 1 others, one of which is
    as far as the nearest but k - 2, and a group loses what two of its rows lose
    """
    far = np.sort(pair_losses(X), axis=1)  # the first is the row itself
    return float(far[:, k - 1].mean())


def bounded(case, most, k):
    """Loss of each method, and the bound, on some rows of a table"""
    (X, y), _ = people(case, 0)
    X, y = varied(X.head(most)), y.head(most)
    (by,) = [o for m, j, o in BOUNDS if (m, j) == (most, k)]
    below = loss_bound(X, k) if by == PAIRS else bound(X, k)
    line = dict(zip(BOUND_KEY, (case, most, k))) | {"n": len(X), "by": by}
    return line | {"bound": round(below, 6)} | losses(X, y, k)


def bounds(out=None):
    """How far each method is from the bound, of all tables; stored and printed"""
    lines = [bounded(c, m, k) | provenance() for c in CASES for m, k, _ in BOUNDS]
    t = pd.DataFrame(lines, columns=BOUND_COLUMNS)
    t.to_csv(out or RESULTS / "grouping_bound.csv", index=False)
    print(t.drop(columns=list(MADE)).round(3).to_string(index=False))


def make(unit):
    return [run(unit) | provenance()]


def grouping(full=False, row=None, again=False, out=None, jobs=1):
    """Make the runs that were asked for, and print them"""
    out, units = out or RESULTS / "grouping.csv", all_units()
    if row:
        words = f"tables are {', '.join(CASES)}, methods {', '.join(METHODS)}"
        units = asked_row(row, units, "TABLE/METHOD K SPLIT", f"{words}, k {KS}, splits {SPLITS}")
    elif not full:
        units = [u for u in units if u[0] == "pima" and u[2] == 5]
    if full:
        t = stored_runs(make, units, KEY, COLUMNS, out, list(CASES), again, jobs)
    else:
        t = pd.DataFrame(each_unit(make, units, None, jobs))
    print_runs(t, COLUMNS)


def main(args=None):
    p = runs_parser(__doc__, ("TABLE/METHOD", "K", "SPLIT"), "half an hour", "grouping.csv")
    p.add_argument("--gap", action="store_true", help="the best groups of a few rows, and ours")
    p.add_argument("--bound", action="store_true", help="bounds for some hundred rows, and ours")
    a = parsed(p, args)
    with data_told():
        if a.gap:
            return gaps(a.out)
        if a.bound:
            return bounds(a.out)
        grouping(a.full, a.row, a.again, a.out, a.jobs)


if __name__ == "__main__":
    main()
