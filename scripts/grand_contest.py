"""The grand contest: all anonymizers, k = 2 to 1,000, five learners, the papers' tables.

    python scripts/grand_contest.py                        a few releases, printed
    python scripts/grand_contest.py --full                 all of one split (hours), stored in
    nbs/papers/results/grand_contest.csv
    python scripts/grand_contest.py --row pima/strict 5 0  one release: table/method, k, split

Half of a table, at most 4,000 people (of Waveform 1,000), is published, and as many others are
asked about: as raw rows of a learner's test, and by an attacker who knows all quasi-identifiers of
a person and looks for the rows that could be theirs. All columns are quasi-identifiers, of Adult
nine. Every method has its defaults, and the same taxonomies where it needs some. Runs that are
stored are not made again (--again makes all anew); cheap tables come first.
"""

import sys
import time
import warnings
from functools import cache, lru_cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).parent))
from frontier import boosting, trees_over
from reader_study import table
from replicate import (
    MADE,
    RESULTS,
    asked_row,
    data_told,
    each_unit,
    parsed_splits,
    print_runs,
    provenance,
    runs_parser,
    stored_runs,
)

from ppdt.attacks import FittingRows, attack
from ppdt.c45 import C45Classifier, PARTClassifier
from ppdt.clusters import ClusterAnonymizer
from ppdt.encoder import ReleaseEncoder
from ppdt.erp import ERPAnonymizer
from ppdt.kactus import KActusAnonymizer
from ppdt.lattice import LatticeAnonymizer
from ppdt.learners import DrawnClassifier, NaiveBayesClassifier
from ppdt.mict import MicroaggregationAnonymizer, MiCTAnonymizer
from ppdt.mondrian import MondrianAnonymizer
from ppdt.tds import TDRAnonymizer, TDSAnonymizer

CASES = (
    "glass ionosphere pima crx vehicle tictactoe german contraceptive nursery adult waveform"
).split()
FEWER = {"waveform": 1000}  # forty numbers: a release takes a minute
PEOPLE, KS, SPLITS = 4000, (2, 5, 10, 25, 50, 100, 250, 500, 1000), (0, 1, 2)
# method: (what it is, class, does it need a tree over every column?)
METHODS = {
    "strict": ("Mondrian at medians, sets", MondrianAnonymizer, False),
    "relaxed": (
        "the same, equal rows may part",
        partial(MondrianAnonymizer, mode="relaxed"),
        False,
    ),
    "infogain": (
        "Mondrian by the class, sets, categories cut into subsets",
        partial(MondrianAnonymizer, mode="infogain", categories="subsets"),
        False,
    ),
    "cluster": ("groups grow row by row, sets", ClusterAnonymizer, False),
    "kactus": (
        "kACTUS, ranges of batches",
        partial(KActusAnonymizer, numeric="interval", random_state=0),
        False,
    ),
    "erp": ("error-risk pruning, tiers", partial(ERPAnonymizer, random_state=0), False),
    "mdav": ("microaggregation, means and modes", MicroaggregationAnonymizer, False),
    "mict": ("the same within the leaves of a tree", MiCTAnonymizer, False),
    "tds": ("TDS, from the most general down", TDSAnonymizer, True),
    "tdr": ("TDR, stars disclosed", TDRAnonymizer, False),
    "lattice": (
        "one level a column, up to 2 % of rows suppressed",
        partial(LatticeAnonymizer, suppression_limit=0.02),
        True,
    ),
}
# more columns than its lattice may have nodes for
TOO_LARGE = [(o, "lattice") for o in ("german", "ionosphere", "vehicle", "waveform", "crx")]


def logistic():
    """Its defaults, on columns of equal spread; solved to the end, the same on every machine"""
    solved = LogisticRegression(solver="newton-cholesky", tol=1e-8)
    return make_pipeline(StandardScaler(with_mean=False), solved)


LEARNERS = {
    "c45": ("C4.5", lambda t: C45Classifier(taxonomies=t)),
    "naive_bayes": ("naive Bayes", lambda t: NaiveBayesClassifier(taxonomies=t)),
    "logistic": (
        "logistic regression on the encoder's weights",
        lambda t: make_pipeline(ReleaseEncoder(taxonomies=t), logistic()),
    ),
    "part": ("PART", lambda t: PARTClassifier(taxonomies=t)),
    "boosting": (
        "boosted trees on five draws",
        lambda t: DrawnClassifier(boosting(), taxonomies=t, random_state=0),
    ),
}
GAINS = ("presence", "certain", "guess")
KEY = ["case", "method", "k", "split"]
COLUMNS = [
    *KEY,
    "n",
    "lost",
    "gcp",
    *(f"{o}_{side}" for o in GAINS for side in ("in", "out")),
    *(f"{o}_{score}" for o in LEARNERS for score in ("accuracy", "auc")),
    "protect_seconds",
    "learn_seconds",
    *MADE,
]


@cache
def size_of(case):
    """How many people are published"""
    return min(FEWER.get(case, PEOPLE), len(table(case)[0]) // 2)


def all_units(splits=SPLITS):
    """(table, method, k, split); a group holds at most half of the people"""
    res = []
    for split in splits:
        for case in CASES:
            ks = [k for k in KS if 2 * k <= size_of(case)]
            each = [(case, m, k, split) for k in ks for m in METHODS]
            res += [(case, "raw", 1, split), *(o for o in each if o[:2] not in TOO_LARGE)]
    return res


@lru_cache(maxsize=2)
def people(case, split):
    """(X, y) of those in the table, and of as many others, with the same shares of classes"""
    X, y = table(case)
    n = size_of(case)
    parts = train_test_split(X, y, train_size=n, test_size=n, stratify=y, random_state=split)
    X, X_out, y, y_out = (o.reset_index(drop=True) for o in parts)
    return (X, y), (X_out, y_out)


def protected(unit):
    """The release of those in the table"""
    case, method, k, split = unit
    X, y = people(case, split)[0]
    _, made, needs_trees = METHODS[method]
    more = {"taxonomies": trees_over(case, X)} if needs_trees else {}
    return made(k=k, **more).anonymize(X, y)


def scores(model, X, y):
    """Accuracy, and area under the curve: of more classes one against the rest, weighted"""
    p = model.predict_proba(X)
    truth = y.to_numpy(dtype=str)[:, None] == np.asarray(model.classes_).astype(str)
    right = (np.asarray(model.predict(X)).astype(str) == y.to_numpy(dtype=str)).mean()
    asked = [j for j in range(truth.shape[1]) if 0 < truth[:, j].sum() < len(y)]
    auc = [roc_auc_score(truth[:, j], p[:, j]) for j in asked]
    weights = truth[:, asked].sum(axis=0)
    return round(float(right), 6), round(float(np.average(auc, weights=weights)), 6)


def fitted(name, trees, X, y):
    """The learner, taught; where a release says nothing at all, the shares of the classes"""
    if name == "logistic":
        encoder = ReleaseEncoder(taxonomies=trees).fit(X)
        if not len(encoder.get_feature_names_out()):
            return DummyClassifier().fit(X, y)
    return LEARNERS[name][1](trees).fit(X, y)


def run(unit, learners=tuple(LEARNERS)):
    """The line of a unit, without the columns that tell where it was made"""
    inside, outside = people(unit[0], unit[3])
    (X, y), trees = inside, None
    line = dict(zip(KEY, unit)) | {"n": len(X), "lost": 0, "gcp": 0.0, "protect_seconds": 0.0}
    if unit[1] != "raw":
        begun = time.process_time()
        release = protected(unit)
        line["protect_seconds"] = round(time.process_time() - begun, 2)
        line |= {"lost": len(release.lost), "gcp": round(float(release.audit.gcp), 6)}
        found = attack(FittingRows(release), *inside, *outside)
        for o in GAINS:
            gain = getattr(found, o)
            line |= {f"{o}_in": round(gain.share_in, 6), f"{o}_out": round(gain.share_out, 6)}
        X, y, trees = release.data, release.y, release.taxonomies or None
    begun = time.process_time()
    for name in learners:
        model = fitted(name, trees, X, y)
        line[f"{name}_accuracy"], line[f"{name}_auc"] = scores(model, *outside)
    return line | {"learn_seconds": round(time.process_time() - begun, 2)}


def make(unit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # methods say when there was nothing to split
        return [run(unit) | provenance()]


def grand_contest(full=False, row=None, again=False, out=None, jobs=1, splits=1):
    """Make the runs that were asked for, and print them"""
    out, units = out or RESULTS / "grand_contest.csv", all_units(SPLITS[:splits])
    if row:
        words = f"tables are {', '.join(CASES)}, methods raw, {', '.join(METHODS)}, k {KS}"
        units = asked_row(row, all_units(), "TABLE/METHOD K SPLIT", f"{words}, splits {SPLITS}")
    elif not full:
        units = [u for u in units if u[0] == "pima" and u[2] in (1, 5)]
    if full:
        t = stored_runs(make, units, KEY, COLUMNS, out, CASES, again, jobs)
    else:
        t = pd.DataFrame(each_unit(make, units, None, jobs))
    print_runs(t, COLUMNS)


def main(args=None):
    p = runs_parser(__doc__, ("TABLE/METHOD", "K", "SPLIT"), "hours", "grand_contest.csv")
    a = parsed_splits(p, args, 1, len(SPLITS))
    with data_told():
        grand_contest(a.full, a.row, a.again, a.out, a.jobs, a.splits)


if __name__ == "__main__":
    main()
