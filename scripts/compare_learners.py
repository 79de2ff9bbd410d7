"""Compare naive Bayes, logistic regression and the supervised cuts with stored results of Weka,
one line a table.

    python scripts/compare_learners.py          all tables, stored in
    nbs/papers/results/weka_learners.csv
    python scripts/compare_learners.py glass    one table, printed

Each table is taken as it is ("raw") and with its numbers cut beforehand by Weka's stored cuts
("discretized"). "NaiveBayes -D" cuts the numbers of each training half. Results and tables are
found as in compare_weka.py; of Adult all ten halves are run.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

sys.path.insert(0, str(Path(__file__).parent))
from compare_weka import RAW_NAME, RESULTS, discretized, halves, stored, table

from ppdt.learners import MDLDiscretizer, NaiveBayesClassifier, logistic_regression
from ppdt.tables import atomic_write

LEARNERS = {
    "NaiveBayes": NaiveBayesClassifier,
    "NaiveBayes -D": lambda: make_pipeline(MDLDiscretizer(), NaiveBayesClassifier()),
    "Logistic": logistic_regression,
}
PREPARED = {"raw": "raw", "sup": "discretized"}


def data(preparation, name):
    return discretized(name) if preparation == "sup" else table(RAW_NAME.get(name, name))


def right_answers(make, X, y, rows):
    return [
        int((make().fit(X.iloc[a], y.iloc[a]).predict(X.iloc[b]) == y.iloc[b].to_numpy()).sum())
        for a, b in rows
    ]


def compare(preparation, name, learner, n=None):
    """A line: how many of the first n halves have Weka's number of right answers, and what is right
    in percent
    """
    r, rows = stored("cv_5x2.json")["results"][preparation][name][learner], list(halves(name))[:n]
    ours, weka = (
        np.array(right_answers(LEARNERS[learner], *data(preparation, name), rows)),
        np.array(r["correct"][: len(rows)]),
    )
    tested = sum(r["n_test"][: len(rows)])
    return dict(
        preparation=PREPARED[preparation],
        table=name,
        learner=learner,
        halves=len(rows),
        equal=int((ours == weka).sum()),
        furthest=int(np.abs(ours - weka).max()),
        ours=round(100 * ours.sum() / tested, 2),
        weka=round(100 * weka.sum() / tested, 2),
    )


def cuts(name, columns=None):
    """(attributes, those with Weka's cuts)"""
    X, y = table("adult" if name == "adult_train" else RAW_NAME.get(name, name))
    found = stored("discretization.json")["datasets"][name]["cuts"]
    names = list(found) if columns is None else columns
    ours = MDLDiscretizer(names).fit(X, y).cut_points_
    return len(names), sum(
        len(ours[c]) == len(found[c]) and np.allclose(ours[c], found[c], rtol=1e-12) for c in names
    )


def lines(name):
    return [
        compare(p, name, o)
        for p in PREPARED
        for o in LEARNERS
        if o in stored("cv_5x2.json")["results"][p].get(name, {})
    ]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(print(pd.DataFrame(lines(sys.argv[1])).to_string(index=False)))
    found = [o for name in sorted(stored("cv_5x2.json")["results"]["raw"]) for o in lines(name)]
    atomic_write(
        RESULTS.with_name("weka_learners.csv"),
        lambda path: pd.DataFrame(found).to_csv(path, index=False, lineterminator="\n"),
    )
    for name in stored("discretization.json")["datasets"]:
        print(name, *cuts(name))
