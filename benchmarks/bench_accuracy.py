"""How well raw people are predicted after learning from a release: Adult, ppdt's releases beside
anonypy's.

Releases of the 30,162 complete training rows, nine quasi-identifiers, the class published as it is.
Five readers for all. Behind `ReleaseEncoder` (a set of r values gives each 1/r, a range its middle)
a tree, gradient boosting and logistic regression of scikit-learn; on possible tables
`DrawnClassifier` and `SetForestClassifier` as they come. The tree has entropy and at least 20 rows
a leaf, the nearest it has to C4.5, and breaks ties by chance: means over some seeds. All are asked
for the same 15,060 complete raw test rows, so their answers can be compared row by row.
"""

import json
import sys
import tempfile
from functools import partial
from pathlib import Path

import common  # first: one thread
import numpy as np
import pandas as pd
from bench_mondrian import ENV, check_parse, parse_table, rival
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.tree import DecisionTreeClassifier

from ppdt.datasets import fetch_adult, make_population
from ppdt.erp import ERPAnonymizer
from ppdt.kactus import KActusAnonymizer
from ppdt.learners import DrawnClassifier, SetForestClassifier
from ppdt.mict import MicroaggregationAnonymizer
from ppdt.mondrian import MondrianAnonymizer
from ppdt.release import ReleaseEncoder

MEASURED, PAIRS = "accuracy.csv", "accuracy_pairs.csv"
ADULT = dict(cls="income", positive=">50K", qi=common.ADULT_QI)
PEOPLE = dict(cls="income", positive="high", qi=common.POPULATION_QI)
RELEASES = {
    f"{mode}, {recoding}": partial(MondrianAnonymizer, mode=mode, recoding=recoding)
    for mode in ("strict", "relaxed", "infogain")
    for recoding in ("set", "interval")
}
SUBSETS = "infogain, set, subsets of categories"
RELEASES |= {
    # how anonypy measures categories
    "strict, interval, distinct widths": partial(
        MondrianAnonymizer, recoding="interval", width="distinct"
    ),
    SUBSETS: partial(MondrianAnonymizer, mode="infogain", categories="subsets"),
    "ERP, tiers": partial(ERPAnonymizer, random_state=0),
    "kACTUS, ranges": partial(KActusAnonymizer, numeric="interval", random_state=0),
    "MDAV, means": MicroaggregationAnonymizer,
}
HALVES = {
    "boosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "logistic": lambda: make_pipeline(MaxAbsScaler(), LogisticRegression(max_iter=1000)),
}
DRAWS = {
    "draws, boosting": lambda trees: DrawnClassifier(taxonomies=trees, random_state=0),
    "draws, forest": lambda trees: SetForestClassifier(taxonomies=trees, random_state=0),
}
READERS = ("tree", *HALVES, *DRAWS)
NEAR = 0.005  # how near to raw boosting a release is to come, accuracy and area
LEAF = 20


def calibration_error(p, hit, bins=10):
    """Expected calibration error: the mean distance between what was said and what came true, over
    ten bins of equal width
    """
    b = np.minimum((p * bins).astype(int), bins - 1)
    n = np.bincount(b, minlength=bins)
    return float(np.abs(np.bincount(b, p, bins) - np.bincount(b, hit, bins)).sum() / n.sum())


def answers(data, y, test, trees, seeds):
    """(reader, chance of the positive class of each test row, leaves) of each reader, and of the
    tree once for each seed
    """
    encoder = ReleaseEncoder(taxonomies=trees).fit(data)
    X, T = encoder.transform(data), encoder.transform(test)
    for s in range(seeds):
        tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=LEAF, random_state=s)
        yield "tree", tree.fit(X, y).predict_proba(T)[:, 1], tree.get_n_leaves()
    for name, make in HALVES.items():
        yield name, make().fit(X, y).predict_proba(T)[:, 1], np.nan
    for name, of in DRAWS.items():
        yield name, of(trees).fit(data, y).predict_proba(test)[:, 1], np.nan


def learn(data, y, test, hit, positive, trees, seeds):
    """Measures of each reader, and the share of seeds in which each test row is right, shape
    (n_test,)
    """
    found, right = {o: [] for o in READERS}, {o: [] for o in READERS}
    for reader, p, leaves in answers(data, y == positive, test, trees, seeds):
        right[reader].append((p > 0.5) == hit)
        found[reader].append(
            dict(
                seeds=seeds if reader == "tree" else 1,
                accuracy=np.mean((p > 0.5) == hit),
                auc=roc_auc_score(hit, p),
                brier=brier_score_loss(hit, p),
                calibration=calibration_error(p, hit),
                leaves=leaves,
            )
        )
    means = {o: pd.DataFrame(v).mean().round(6).to_dict() for o, v in found.items()}
    return means, {o: np.mean(v, axis=0) for o, v in right.items()}


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


def releases(train, qi, cls, k, python, names):
    """(tool, release, table, classes, taxonomies)"""
    for name in names:
        r = RELEASES[name](k=k, quasi_identifiers=qi).anonymize(train[qi], train[cls])
        yield "ppdt", name, r.data, r.y, r.taxonomies or None
    if python:
        yield "anonypy", "strict, interval", *anonypy_release(train, qi, cls, k, python), None


def differences(key, right, raw, rival):
    """Rows right by each reader of a release less those of the same reader elsewhere"""
    for reader, a in right.items():
        for other, b in {"raw": raw, "anonypy": rival}.items():
            if b is None or b is right:
                continue
            d = a - b[reader]
            yield key | dict(
                reader=reader,
                beside=other,
                difference=round(float(d.mean()), 6),
                error=round(float(d.std(ddof=1) / np.sqrt(len(d))), 6),
            )


def run(train, test, cls, positive, qi, ks, seeds, python, names=tuple(RELEASES)):
    """(rows of measures, rows of differences)"""
    hit, rows, pairs = (test[cls] == positive).to_numpy(), [], []

    def note(key, found):
        for reader, o in found.items():
            rows.append(key | dict(reader=reader) | o | dict(load=common.load()))
            what = f"accuracy {o['accuracy']:.4f}  AUC {o['auc']:.4f}"
            print(
                f"  k={key['k']} {key['tool']:8} {key['release']:38} {reader:16} {what}", flush=True
            )

    found, raw = learn(train[qi], train[cls], test[qi], hit, positive, None, seeds)
    note(dict(k=1, tool="none", release="raw"), found)
    for k in ks:
        right = {}
        for tool, name, data, y, trees in releases(train, qi, cls, k, python, names):
            found, right[tool, name] = learn(data, y, test[qi], hit, positive, trees, seeds)
            note(dict(k=k, tool=tool, release=name), found)
        rival = right.get(("anonypy", "strict, interval"))
        for (tool, name), mine in right.items():
            pairs += differences(dict(k=k, tool=tool, release=name), mine, raw, rival)
    return rows, pairs


def goals(t):
    """Does the best release teach as much as the raw table?"""
    t = t.set_index(["release", "k", "reader"])[["accuracy", "auc"]]
    base = t.loc["raw", 1, "boosting"]
    for k in sorted({k for name, k, _ in t.index if name == SUBSETS}):
        mine = t.loc[SUBSETS, k, "draws, boosting"]
        told = "accuracy {:+.4f}, AUC {:+.4f}".format(*(mine - base))
        text = (
            f"k = {k}: InfoGain on subsets, read by DrawnClassifier, within {NEAR} of raw boosting"
        )
        yield common.verdict(f"{text} ({told})", bool((mine >= base - NEAR).all()))


def report(out):
    """The numbers in Markdown, from the results files"""
    t = pd.read_csv(out / MEASURED)
    pairs = pd.read_csv(out / PAIRS).set_index(["k", "tool", "release", "reader", "beside"])

    def beside(*key):
        o = pairs.loc[key] if key in pairs.index else None
        return "-" if o is None else f"{100 * o.difference:+.2f} ± {100 * o.error:.2f}"

    rows = []
    for key, some in t.groupby(["k", "tool", "release"], sort=False):
        by = some.set_index("reader")
        each = [f"{100 * by.accuracy[o]:.2f} / {by.auc[o]:.4f}" for o in READERS]
        rows.append([*key, *each, *(beside(*key, "tree", o) for o in ("raw", "anonypy"))])
    head = ["k", "tool", "release", *READERS, "tree over raw, points", "tree over anonypy, points"]
    facts = f"{common.facts(t)}; tree: means over {t.seeds.max():.0f} seeds; accuracy in % / AUC"
    return "\n".join([facts, "", common.markdown(head, rows), "", *goals(t)])


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
        people, python = make_population(1500, 0), None
        some = dict(ks=args.k[:1], seeds=2, python=None, names=["strict, set", SUBSETS])
        rows, pairs = run(people[:1000], people[1000:], **PEOPLE, **some)
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
