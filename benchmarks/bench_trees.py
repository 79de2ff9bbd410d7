"""GeneralizedID3Classifier on Adult: seconds to learn from the raw table and from its k-anonymous
releases, and to classify.

Eight categorical attributes; the releases have the paper's six quasi-identifiers (shao_beckford),
so that three of the eight hold sets. Learnt from 30,162 complete training rows, asked for the
15,060 complete raw test rows. Median of some runs in one process, one thread.
"""

import sys
import tempfile
import time
from pathlib import Path

import common  # first: one thread
import pandas as pd
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from ppdt.datasets import fetch_adult, make_population
from ppdt.id3_sets import GeneralizedID3Classifier
from ppdt.mondrian import MondrianAnonymizer

SECONDS = "trees.csv"
ADULT = dict(
    cls="income",
    features=[
        "workclass",
        "education",
        "marital-status",
        "occupation",
        "relationship",
        "race",
        "sex",
        "native-country",
    ],
    qi=["age", "education", "hours-per-week", "native-country", "capital-gain", "workclass"],
)
PEOPLE = dict(
    cls="income",
    features=["education", "occupation", "marital_status", "region"],
    qi=common.POPULATION_QI,
)
LEARNERS = {
    "random": dict(convert="random", random_state=0),
    "most_frequent": dict(convert="most_frequent"),
    "fractional": dict(convert="fractional"),
    "own_value": dict(entropy="own_value"),
    "random_map": dict(entropy="random_map", random_state=0),
}


def timed(f):
    """(seconds, seconds of CPU, result)"""
    t, c = time.perf_counter(), time.process_time()
    res = f()
    return time.perf_counter() - t, time.process_time() - c, res


def one(make, X, y, test, answers, runs):
    """(median seconds of fit and predict and the accuracy, the model)"""
    fits, predicts = [], []
    for _ in range(runs):
        *t, model = timed(lambda: make().fit(X, y))
        fits.append(t)
        *t, found = timed(lambda: model.predict(test))
        predicts.append(t)
    res = {
        name: round(common.median([t[i] for t in ts]), 4)
        for ts, names in ((fits, ("fit", "fit_cpu")), (predicts, ("predict", "predict_cpu")))
        for i, name in enumerate(names)
    }
    return res | dict(accuracy=round(float((found == answers.to_numpy()).mean()), 4)), model


def run(train, test, cls, features, qi, ks, runs):
    """Rows of results"""
    X, y, asked, answers, res = train[features], train[cls], test[features], test[cls], []

    def note(table, learner, found, nodes):
        res.append(
            dict(table=table, learner=learner, runs=runs, **found, nodes=nodes, load=common.load())
        )
        print(
            f"  {table:6} {learner:14} fit {found['fit']:7.3f} s  predict"
            f" {found['predict']:7.3f} s",
            flush=True,
        )

    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1).fit(X)
    found, model = one(
        lambda: DecisionTreeClassifier(min_samples_leaf=20, random_state=0),
        codes.transform(X),
        y,
        codes.transform(asked),
        answers,
        runs,
    )
    note("raw", "scikit-learn", found, model.tree_.node_count)
    for k in (1, *ks):
        table = "raw" if k == 1 else f"k={k}"
        rest = [o for o in train if o not in (*qi, cls)]
        data = (
            X
            if k == 1
            else MondrianAnonymizer(k=k, quasi_identifiers=qi, published=rest)
            .anonymize(train.drop(columns=cls), y)
            .data[features]
        )
        for name, options in LEARNERS.items():
            if k == 1 and name != "random":
                continue  # without sets all are the same
            found, model = one(
                lambda: GeneralizedID3Classifier(**options), data, y, asked, answers, runs
            )
            note(table, "all alike" if k == 1 else name, found, len(model.tree_.attribute))
    return res


def report(out):
    """The numbers in Markdown, from the results file"""
    t = pd.read_csv(out / SECONDS)
    rows = [
        [
            o.table,
            o.learner,
            f"{o.fit:.3f}",
            f"{o.fit_cpu:.3f}",
            f"{o.predict:.3f}",
            f"{o.predict_cpu:.3f}",
            f"{o.nodes:,}",
            f"{o.accuracy:.4f}",
        ]
        for o in t.itertuples()
    ]
    return "\n".join(
        [
            f"{common.facts(t)}; median of runs: {t['runs'].iloc[0]}",
            "",
            common.markdown(
                [
                    "table",
                    "learner",
                    "fit, s",
                    "of CPU",
                    "predict, s",
                    "of CPU",
                    "nodes",
                    "accuracy",
                ],
                rows,
            ),
        ]
    )


def main(argv=None):
    p = common.options(
        __doc__,
        runs=dict(type=int, default=3, help="runs of each (3)"),
        k=dict(type=int, nargs="+", default=[5, 64], help="releases (5 64)"),
    )
    args = p.parse_args(argv)
    if args.quick:
        people = make_population(1500)
        rows = run(people[:1000], people[1000:], **PEOPLE, ks=args.k[:1], runs=1)
    else:
        common.find_data()
        rows = run(
            *(fetch_adult(o, complete=True) for o in ("train", "test")),
            **ADULT,
            ks=args.k,
            runs=args.runs,
        )
    with tempfile.TemporaryDirectory() as tmp:
        out = args.out or (Path(tmp) if args.quick else common.RESULTS)
        common.write([o | common.machine() for o in rows], out / SECONDS)
        return common.finish("trees", report, out, args.strict)


if __name__ == "__main__":
    sys.exit(main())
