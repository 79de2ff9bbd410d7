"""What a release of Adult teaches beside what it tells: accuracy, loss, and an attacker's gain.

    python scripts/frontier.py                    one release of each method, printed
    python scripts/frontier.py --full             all runs, stored in
    nbs/papers/results/frontier.csv
    python scripts/frontier.py --row infogain 100 0    one release: method, k, split

Eight thousand people of Adult are published, with nine quasi-identifiers; eight thousand others
are asked about: as raw rows of a learner's test, and by an attacker who looks for the rows that
could be theirs. A line is a method, a k, a split and a learner. Runs that are stored are not made
again (--again makes all anew).
"""

import sys
import time
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

sys.path.insert(0, str(Path(__file__).parent))
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
from ppdt.c45 import C45Classifier
from ppdt.clusters import ClusterAnonymizer
from ppdt.datasets import fetch_adult
from ppdt.diversity import Alpha
from ppdt.encoder import ReleaseEncoder
from ppdt.erp import ERPAnonymizer
from ppdt.generalization import Taxonomy, load_adult_taxonomies
from ppdt.kactus import KActusAnonymizer
from ppdt.lattice import LatticeAnonymizer
from ppdt.learners import DrawnClassifier, SetForestClassifier
from ppdt.mict import MicroaggregationAnonymizer, MiCTAnonymizer
from ppdt.mondrian import MondrianAnonymizer
from ppdt.tds import TDRAnonymizer, TDSAnonymizer

KNOWN = (
    "age workclass education marital-status occupation race sex hours-per-week native-country"
).split()
PEOPLE, KS, SPLITS = 8000, (5, 25, 100), (0, 1)
INFOGAIN = partial(MondrianAnonymizer, mode="infogain", categories="subsets")


def tds(k):
    trees = {o: t for o, t in load_adult_taxonomies().items() if o in KNOWN}
    return TDSAnonymizer(k=k, taxonomies=trees)


def lattice(k, split=0):
    trees = trees_over("adult", people(split)[0][0])  # of the values of those who are published
    return LatticeAnonymizer(k=k, suppression_limit=0.02, taxonomies=trees)


def trees_over(case, X):
    """A tree over every column, for methods that need one: Adult's, quantiles, or one root"""
    own = load_adult_taxonomies() if case == "adult" else {}
    trees = {o: own[o] for o in X if o in own}
    for o in X.columns.difference(list(trees)):
        if pd.api.types.is_numeric_dtype(X[o]):
            trees[o] = Taxonomy.from_quantiles(X[o])
        else:
            trees[o] = Taxonomy.from_lines([(v, "*") for v in sorted(X[o].unique())])
    return trees


METHODS = {
    "strict": MondrianAnonymizer,
    "strict_alpha": partial(MondrianAnonymizer, constraints=(Alpha(0.9),)),
    "relaxed": partial(MondrianAnonymizer, mode="relaxed"),
    "cluster": ClusterAnonymizer,
    "cluster_alpha": partial(ClusterAnonymizer, constraints=(Alpha(0.9),)),
    "infogain": INFOGAIN,
    "infogain_alpha": partial(INFOGAIN, constraints=(Alpha(0.9),)),
    "kactus": partial(KActusAnonymizer, numeric="interval", random_state=0),
    "erp": partial(ERPAnonymizer, random_state=0),
    "erp_uniform": partial(ERPAnonymizer, recoding="uniform", random_state=0),
    "mdav": MicroaggregationAnonymizer,
    "mict": MiCTAnonymizer,
    "tds": tds,
    "tdr": TDRAnonymizer,
    "lattice": lattice,
}


def boosting():
    return HistGradientBoostingClassifier(random_state=0)


def logistic():
    return make_pipeline(MaxAbsScaler(), LogisticRegression(C=0.1, max_iter=2000))


LEARNERS = {
    "c45": lambda trees: C45Classifier(taxonomies=trees),
    "encoder_boosting": lambda trees: make_pipeline(ReleaseEncoder(taxonomies=trees), boosting()),
    "encoder_logistic": lambda trees: make_pipeline(ReleaseEncoder(taxonomies=trees), logistic()),
    "drawn_boosting": lambda trees: DrawnClassifier(boosting(), taxonomies=trees, random_state=0),
    "forest": lambda trees: SetForestClassifier(taxonomies=trees, random_state=0),
}
KEY = ["method", "k", "split", "learner"]
GAINS = ("presence", "certain", "guess")
COLUMNS = [
    *KEY,
    "accuracy",
    "auc",
    "brier",
    "gcp",
    "lost",
    *(f"{o}_{side}" for o in GAINS for side in ("in", "out")),
    "protect_seconds",
    "learn_seconds",
    *MADE,
]


def all_units():
    """(method, k, split); "raw" is the table as it is"""
    ks = {"raw": (1,)} | dict.fromkeys(METHODS, KS)
    return [(m, k, split) for split in SPLITS for m, of in ks.items() for k in of]


@lru_cache(maxsize=1)
def people(split):
    """(X, y) of those in the table, and of others"""
    t = fetch_adult(complete=True)
    order = np.random.default_rng(split + 1).permutation(len(t))
    parts = [t.iloc[order[i * PEOPLE : (i + 1) * PEOPLE]].reset_index(drop=True) for i in (0, 1)]
    return tuple((o[KNOWN], o.income) for o in parts)


def protected(method, k, split):
    """(table, class, release or None)"""
    X, y = people(split)[0]
    if method == "raw":
        return X, y, None
    anonymizer = lattice(k, split) if method == "lattice" else METHODS[method](k=k)
    release = anonymizer.anonymize(X, y)
    return release.data, release.y, release


def scores(model, X, y):
    """Accuracy, AUC and Brier score on raw rows"""
    rich = (y == ">50K").to_numpy()
    p = model.predict_proba(X)[:, list(model.classes_).index(">50K")]
    return {
        "accuracy": round(float((model.predict(X) == y).mean()), 6),
        "auc": round(float(roc_auc_score(rich, p)), 6),
        "brier": round(float(brier_score_loss(rich, p)), 6),
    }


def told(release, inside, outside):
    """Loss, and what an attacker gains"""
    if release is None:
        return {"gcp": 0.0, "lost": 0}
    found = attack(FittingRows(release), *inside, *outside)
    res = {"gcp": release.audit.gcp, "lost": len(release.lost)}
    for o in GAINS:
        gain = getattr(found, o)
        res |= {f"{o}_in": round(gain.share_in, 6), f"{o}_out": round(gain.share_out, 6)}
    return res


def run(unit, learners=tuple(LEARNERS)):
    """The lines of a unit, without the columns that tell where they were made"""
    method, k, split = unit
    inside, outside = people(split)
    begun = time.process_time()
    X, y, release = protected(method, k, split)
    seconds = round(time.process_time() - begun, 2)
    of_release = told(release, inside, outside) | {"protect_seconds": seconds}
    trees, lines = None if release is None else release.taxonomies or None, []
    for name in learners:
        begun = time.process_time()
        model = LEARNERS[name](trees).fit(X, y)
        learnt = round(time.process_time() - begun, 2)
        found = scores(model, *outside) | {"learn_seconds": learnt}
        lines.append(dict(zip(KEY, (*unit, name))) | of_release | found)
    return lines


def make(unit):
    made = provenance()
    return [o | made for o in run(unit)]


def frontier(full=False, row=None, again=False, out=None, jobs=1):
    """Make the runs that were asked for, and print them"""
    out, units = out or RESULTS / "frontier.csv", all_units()
    if row:
        names = ", ".join(("raw", *METHODS))
        units = asked_row(
            row, units, "METHOD K SPLIT", f"methods are {names}, k {KS}, splits {SPLITS}"
        )
    elif not full:
        units = [u for u in units if u[1:] in ((1, 0), (25, 0))]
    if full:
        t = stored_runs(make, units, KEY, COLUMNS, out, ["raw", *METHODS], again, jobs)
    else:
        t = pd.DataFrame(each_unit(make, units, None, jobs))
    print_runs(t, COLUMNS)


def main(args=None):
    p = runs_parser(__doc__, ("METHOD", "K", "SPLIT"), "about an hour", "frontier.csv")
    a = parsed(p, args)
    with data_told():
        frontier(a.full, a.row, a.again, a.out, a.jobs)


if __name__ == "__main__":
    main()
