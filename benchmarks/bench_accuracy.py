"""How well a tree predicts raw people after it has learnt from a release: Adult, ppdt's releases
beside anonypy's.

Releases of the 30,162 complete training rows, nine quasi-identifiers, the class published as it is.
One reader for all: `ReleaseEncoder` (a set of r values gives each 1/r, a range its middle) and
scikit-learn's DecisionTreeClassifier with entropy and at least 20 rows a leaf, the nearest it has
to C4.5. All trees are asked for the same 15,060 complete raw test rows, so their answers can be
compared row by row. The tree breaks ties by chance: means over some seeds.
"""

import json
import sys
import tempfile
from pathlib import Path

import common  # first: one thread
import numpy as np
import pandas as pd
from bench_mondrian import ENV, check_parse, parse_table, rival
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from ppdt.datasets import fetch_adult, make_population
from ppdt.mondrian import MondrianAnonymizer
from ppdt.release import ReleaseEncoder

MEASURED, PAIRS = "accuracy.csv", "accuracy_pairs.csv"
ADULT = dict(cls="income", positive=">50K", qi=common.ADULT_QI)
PEOPLE = dict(cls="income", positive="high", qi=common.POPULATION_QI)
RELEASES = {
    f"{mode}, {recoding}": dict(mode=mode, recoding=recoding)
    for mode in ("strict", "relaxed", "infogain")
    for recoding in ("set", "interval")
}
# how anonypy measures categories
RELEASES["strict, interval, distinct widths"] = dict(recoding="interval", width="distinct")
LEAF = 20


def calibration_error(p, hit, bins=10):
    """Expected calibration error: the mean distance between what was said and what came true, over
    ten bins of equal width
    """
    b = np.minimum((p * bins).astype(int), bins - 1)
    n = np.bincount(b, minlength=bins)
    return float(np.abs(np.bincount(b, p, bins) - np.bincount(b, hit, bins)).sum() / n.sum())


def learn(data, y, test, hit, positive, seeds):
    """Means over seeds, and the share of seeds in which each test row is right, shape (n_test,)"""
    reader = ReleaseEncoder().fit(data)
    X, T, found, right = reader.transform(data), reader.transform(test), [], np.zeros(len(test))
    for s in range(seeds):
        tree = DecisionTreeClassifier(
            criterion="entropy", min_samples_leaf=LEAF, random_state=s
        ).fit(X, y == positive)
        p = tree.predict_proba(T)[:, 1]
        right += (p > 0.5) == hit
        found.append(
            dict(
                accuracy=np.mean((p > 0.5) == hit),
                auc=roc_auc_score(hit, p),
                brier=brier_score_loss(hit, p),
                calibration=calibration_error(p, hit),
                leaves=tree.get_n_leaves(),
            )
        )
    return {o: round(float(v), 6) for o, v in pd.DataFrame(found).mean().items()}, right / seeds


def anonypy_release(train, qi, cls, k, python):
    """anonypy's release of the same rows, its strings read as cells"""
    with tempfile.TemporaryDirectory() as tmp:
        table, theirs = Path(tmp) / "table.csv", Path(tmp) / "theirs.json"
        train[[*qi, cls]].to_csv(table, index=False)
        original = pd.read_csv(table, keep_default_na=False)
        common.call(python, common.HERE / "run_anonypy.py", table, k, theirs)
        found = json.loads(theirs.read_text("utf-8"))
        data, y = parse_table(found["rows"], original)
        check_parse(data, y, original, found["groups"])
        return data, y


def releases(train, qi, cls, k, python):
    """(tool, release, table, classes)"""
    for name, options in RELEASES.items():
        r = MondrianAnonymizer(k=k, quasi_identifiers=qi, **options).anonymize(
            train[qi], train[cls]
        )
        yield "ppdt", name, r.data, r.y
    if python:
        yield "anonypy", "strict, interval", *anonypy_release(train, qi, cls, k, python)


def run(train, test, cls, positive, qi, ks, seeds, python):
    """(rows of measures, rows of differences)"""
    hit, rows, pairs = (test[cls] == positive).to_numpy(), [], []

    def note(k, tool, name, found):
        rows.append(dict(k=k, tool=tool, release=name, seeds=seeds, **found, load=common.load()))
        print(
            f"  k={k} {tool:8} {name:34} accuracy {found['accuracy']:.4f}  AUC {found['auc']:.4f}",
            flush=True,
        )

    found, raw = learn(train[qi], train[cls], test[qi], hit, positive, seeds)
    note(1, "none", "raw", found)
    for k in ks:
        right = {}
        for tool, name, data, y in releases(train, qi, cls, k, python):
            found, right[tool, name] = learn(data, y, test[qi], hit, positive, seeds)
            note(k, tool, name, found)
        for (tool, name), a in right.items():
            for other, b in {
                "raw": raw,
                "anonypy": right.get(("anonypy", "strict, interval")),
            }.items():
                if b is None or tool == other:
                    continue
                d = a - b
                pairs.append(
                    dict(
                        k=k,
                        tool=tool,
                        release=name,
                        beside=other,
                        difference=round(float(d.mean()), 6),
                        error=round(float(d.std(ddof=1) / np.sqrt(len(d))), 6),
                    )
                )
    return rows, pairs


def report(out):
    """The numbers in Markdown, from the results files"""
    t, pairs = pd.read_csv(out / MEASURED), pd.read_csv(out / PAIRS)

    def beside(k, tool, name, other):
        o = pairs[
            (pairs.k == k)
            & (pairs.tool == tool)
            & (pairs.release == name)
            & (pairs.beside == other)
        ]
        return f"{100 * o.difference.iloc[0]:+.2f} ± {100 * o.error.iloc[0]:.2f}" if len(o) else "-"

    rows = [
        [
            o.k,
            o.tool,
            o.release,
            f"{100 * o.accuracy:.2f}",
            beside(o.k, o.tool, o.release, "raw"),
            beside(o.k, o.tool, o.release, "anonypy"),
            f"{o.auc:.4f}",
            f"{o.brier:.4f}",
            f"{o.calibration:.4f}",
            f"{o.leaves:.0f}",
        ]
        for o in t.itertuples()
    ]
    return "\n".join(
        [
            f"{common.facts(t)}; means over {t.seeds.iloc[0]} seeds",
            "",
            common.markdown(
                [
                    "k",
                    "tool",
                    "release",
                    "accuracy, %",
                    "over the raw table, points",
                    "over anonypy, points",
                    "AUC",
                    "Brier score",
                    "calibration error",
                    "leaves",
                ],
                rows,
            ),
        ]
    )


def main(argv=None):
    p = common.options(
        __doc__,
        seeds=dict(type=int, default=10, help="trees for each release (10)"),
        k=dict(type=int, nargs="+", default=[5, 50], help="k (5 50)"),
        env=dict(type=Path, default=ENV, help="anonypy's environment, made when it is missing"),
        no_rival=dict(action="store_true", help="ppdt alone"),
    )
    args = p.parse_args(argv)
    if args.quick:
        people = make_population(1500, 0)
        rows, pairs = run(
            people[:1000], people[1000:], **PEOPLE, ks=args.k[:1], seeds=2, python=None
        )
        python = None
    else:
        common.find_data()
        python = None if args.no_rival else rival(args.env.absolute())
        rows, pairs = run(
            *(fetch_adult(o, complete=True) for o in ("train", "test")),
            **ADULT,
            ks=args.k,
            seeds=args.seeds,
            python=python,
        )
    with tempfile.TemporaryDirectory() as tmp:
        out = args.out or (Path(tmp) if args.quick or python is None else common.RESULTS)
        common.write([o | common.machine() for o in rows], out / MEASURED)
        common.write(pairs, out / PAIRS)
        return common.finish("accuracy", report, out, args.strict)


if __name__ == "__main__":
    sys.exit(main())
