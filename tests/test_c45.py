"""C4.5, ID3 and PART: fast versions against the textbook, sets against all rows they may stand
for, odd tables, releases.
"""

import datetime as dt
import decimal
import itertools
import re
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from random_trees import as_numbers, random_row, trees
from sklearn.exceptions import NotFittedError
from sklearn.metrics import get_scorer, log_loss

from ppdt._textbook import _textbook_c45, _textbook_part
from ppdt.c45 import C45Classifier, ID3Classifier, PARTClassifier, error_estimate, part_text
from ppdt.datasets import fetch_adult, load_customers
from ppdt.engine.coded_rows import CodedRows
from ppdt.engine.divided_rows import CellRows
from ppdt.engine.fractions import grow_nodes
from ppdt.engine.node_arrays import collapse_nodes
from ppdt.engine.paths import decision_path, path_answer
from ppdt.engine.pruning_waves import prune_nodes
from ppdt.engine.rules import part_rules, rule_shares
from ppdt.engine.rules_on_sets import rule_cell_shares
from ppdt.engine.shares import branches_in_order, filled, node_shares, tree_shares
from ppdt.generalization import Taxonomy
from ppdt.growing import THRESHOLD, Members, Tree, TreeData, grow, tree_counts
from ppdt.models import audit_model
from ppdt.mondrian import MondrianAnonymizer
from ppdt.release import AnonymizedClassifier, read_release
from ppdt.splits import GainRatio
from ppdt.tables import MISSING, Centroid, Exact, Interval, Node, Suppressed, ValueSet, cell_column
from ppdt.trees import j48_text, tree_from_json, tree_json

LEARNERS = [C45Classifier, ID3Classifier, PARTClassifier]

# ---- the fast version against the textbook


def random_column(rng, n, missing):
    """(codes, values, line) with ties, rare values, values that do not occur, and numbers that
    differ by less than 1e-5
    """
    size = int(rng.choice([1, 2, 3, 5, 15]))
    codes = rng.integers(0, size, n)
    numeric = rng.random() < 0.5
    if numeric:
        seen = np.unique(codes)
        codes = np.searchsorted(seen, codes)
        line = np.cumsum(rng.choice([1.0, 1.0, 0.3, 4e-6], len(seen)))
        values = line.tolist()
    else:
        values, line = [f"v{i}" for i in range(size)], None
    codes = codes.astype(np.int32)
    if missing:
        codes[rng.random(n) < 0.2] = -1
    return codes, values, line


def random_rows(seed):
    rng = np.random.default_rng(seed)
    n, k, missing = int(rng.integers(1, 80)), int(rng.integers(1, 4)), rng.random() < 0.5
    columns = [random_column(rng, n, missing) for _ in range(rng.integers(1, 5))]
    y = rng.integers(0, k, n)
    y = np.where((columns[0][0] % 2 == 0) & (rng.random(n) < 0.8), 0, y)
    weight = rng.choice([0.5, 1.0, 2.0, 3.3], n) if rng.random() < 0.3 else None
    return CodedRows(
        [f"a{j}" for j in range(len(columns))], *map(list, zip(*columns)), list(range(k)), y, weight
    )


def differ(t, i, node, path="/"):
    """Where two trees differ first; nothing when they do not"""
    if (t.attribute[i], t.kind[i], t.cut[i]) != (
        node.attribute,
        node.kind,
        node.cut,
    ) or not np.allclose(t.counts[i], node.counts, atol=1e-6):
        return path
    return next(
        (
            o
            for b, s in enumerate(node.sons)
            if (o := differ(t, int(t.first[i]) + b, s, f"{path}{b}/"))
        ),
        "",
    )


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 2, 3]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.25, 0.05, 0.5]),
)
def test_fast_is_textbook(seed, m, binary, prune, raising, confidence):
    d = random_rows(seed)
    t, leaves = collapse_nodes(*grow_nodes(d, GainRatio(m, binary)))
    if prune:
        t = prune_nodes(d, t, leaves, confidence, raising)
    assert differ(t, 0, _textbook_c45(d, m, binary, prune, confidence, raising)) == ""


@one_in(4)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 2, 3, 2.5]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.25, 0.05, 0.5]),
)
def test_fast_part_is_textbook(seed, m, binary, prune, confidence):
    d = random_rows(seed)
    slow = _textbook_part(d, m, binary, prune, confidence)
    fast = part_rules(
        d,
        SimpleNamespace(
            m=m, binary=binary, prune=prune, errors=lambda c: error_estimate(c, confidence)
        ),
    )
    assert [[(t[0], t[3]) for t in tests] for tests, _ in slow] == [
        [(t[0], t[3]) for t in o.tests] for o in fast
    ]
    for (_, counts), o in zip(slow, fast):
        np.testing.assert_allclose(counts, o.counts, atol=1e-6)


# ---- sets of values against all combinations


def random_sets(seed):
    """A table with sets, and the table of all rows that it may stand for, weighted"""
    rng = np.random.default_rng(seed)
    n, k, codes, values, line, sets = (
        int(rng.integers(45, 70)),
        int(rng.integers(2, 4)),
        [],
        [],
        [],
        [],
    )
    for _ in range(rng.integers(1, 4)):
        size = int(rng.integers(2, 6))
        own = [
            np.sort(rng.choice(size, int(rng.integers(2, size + 1)), replace=False))
            for _ in range(rng.integers(0, 4))
        ]
        own = [(o, (w := rng.random(len(o)) + 0.1) / w.sum()) for o in own]
        c = rng.integers(0, size, n)
        if own:
            c = np.where(rng.random(n) < 0.3, size + rng.integers(0, len(own), n), c)
        if rng.random() < 0.4:
            c = np.where(rng.random(n) < 0.1, -1, c)
        codes.append(c)
        values.append(list(range(size)))
        sets.append(own)
        line.append(np.arange(size) * 1.0 if rng.random() < 0.5 else None)
    y = np.where((codes[0] % 2 == 0) & (rng.random(n) < 0.7), 0, rng.integers(0, k, n))
    names, rows, ws, ys = [f"a{j}" for j in range(len(codes))], [], [], []
    for i in range(n):
        may = [
            [(c[i], 1.0)] if c[i] < len(v) else list(zip(*o[c[i] - len(v)]))
            for c, v, o in zip(codes, values, sets)
        ]
        for one in itertools.product(*may):
            rows.append([o[0] for o in one])
            ws.append(np.prod([o[1] for o in one]))
            ys.append(y[i])
    return (
        CellRows(
            CodedRows(names, codes, values, line, list(range(k)), y, np.ones(n)), sets, True, 0.0
        ),
        CodedRows(
            names,
            list(np.array(rows, dtype=np.int32).T),
            values,
            line,
            list(range(k)),
            np.array(ys),
            np.array(ws),
        ),
    )


@one_in(2)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from([2, 3]), st.booleans(), st.booleans(), st.booleans()
)
def test_sets_are_all_their_rows(seed, m, binary, prune, raising):
    a, b = trees = [
        (d, *collapse_nodes(*grow_nodes(d, GainRatio(m, binary)))) for d in random_sets(seed)
    ]
    a, b = [prune_nodes(d, t, leaves, 0.25, raising) if prune else t for d, t, leaves in trees]
    assert (a.attribute.tolist(), a.kind.tolist(), a.cut.tolist()) == (
        b.attribute.tolist(),
        b.kind.tolist(),
        b.cut.tolist(),
    )
    np.testing.assert_allclose(a.counts, b.counts, atol=1e-6)


def parts_of_rows(d):
    """Into how many rows of plain values each row of cells may be taken apart"""
    sizes = [
        np.where(c < n, 1, np.array([len(v) for v, _ in o] + [1])[np.maximum(c - n, -1)])
        for c, n, o in zip(d.codes, d.sizes, d.sets)
    ]
    return np.prod(sizes, axis=0)


@one_in(4)
@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3]), st.booleans(), st.booleans())
def test_rules_of_sets_are_those_of_all_their_rows(seed, m, binary, prune):
    p = SimpleNamespace(m=m, binary=binary, prune=prune, errors=lambda c: error_estimate(c, 0.25))
    cells, rows = random_sets(seed)
    asks, _ = random_sets(seed)
    a, b = part_rules(cells, p), part_rules(rows, p)
    assert [[t[:4] for t in o.tests] for o in a] == [[t[:4] for t in o.tests] for o in b]
    for o, v in zip(a, b):
        np.testing.assert_allclose(o.counts, v.counts, atol=1e-5)
    numbers = [c if o is None else np.append(o, np.nan)[c] for c, o in zip(rows.codes, rows.line)]
    x = np.where(np.array(rows.codes) < 0, np.nan, np.array(numbers, dtype=float))
    of_row = np.repeat(np.arange(len(asks.y)), parts_of_rows(asks))
    each = np.zeros((len(asks.y), asks.n_classes))
    np.add.at(each, of_row, rule_shares(a, x) * rows.weight[:, None])
    np.testing.assert_allclose(rule_cell_shares(a, asks), each, atol=1e-5)


def people(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "job": rng.choice(list("abcd"), n),
            "town": rng.choice(["x", "y"], n),
        }
    )
    return X, pd.Series(
        np.where((X.age > 40) ^ (X.job == "a") ^ (rng.random(n) < 0.1), "yes", "no"), name="class"
    )


def as_cells(s):
    codes, values = pd.factorize(s, sort=True)
    return cell_column(codes, [Exact(o) for o in values.tolist()], index=s.index, name=s.name)


@pytest.mark.parametrize("prune", [False, True])
def test_exact_cells_are_values(prune):
    X, y = people()
    Z = X.assign(age=as_cells(X.age), job=as_cells(X.job))
    one, other = C45Classifier(prune=prune).fit(X, y), C45Classifier(prune=prune).fit(Z, y)
    assert str(one) == str(other)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(Z), atol=1e-12)


@pytest.mark.parametrize("recoding", ["set", "interval"])
@pytest.mark.parametrize(
    "options",
    [
        dict(),
        dict(scoring="discount"),
        dict(weights="distribution"),
        dict(binary_splits=True, prune=False),
    ],
)
def test_release_and_its_file(recoding, options, tmp_path):
    """A tree learnt from a release equals the one learnt from the file read back; shares of 1 for
    each row
    """
    X, y = people()
    release = MondrianAnonymizer(k=4, recoding=recoding).anonymize(X, y)
    release.to_csv(tmp_path / "r.csv")
    back = read_release(tmp_path / "r.csv")
    one, other = (C45Classifier(**options).fit(r.data, r.y).tree_ for r in (release, back))
    assert one.counts.tobytes() == other.counts.tobytes() and np.array_equal(
        one.threshold, other.threshold, equal_nan=True
    )
    clf = C45Classifier(**options).fit(release.data, release.y)
    np.testing.assert_allclose(clf.predict_proba(release.data).sum(axis=1), 1)
    right = (clf.predict(release.data) == y).mean()
    if clf.scoring == "discount":  # a set tells too little for a question: the larger class
        assert len(clf.tree_) == 1 and right == y.value_counts(normalize=True).max()
    else:  # the raw tree has 278 of 300
        assert right == (clf.predict(X) == y).mean() == 273 / 300


@pytest.mark.parametrize("k", [5, 50])
@pytest.mark.parametrize("kind", ["set", "interval", "node"])
def test_c45_learns_from_every_kind_of_release(kind, k, data_dir):
    """Adult protected inside `fit`: no encoder between, and as much less right than the raw tree as
    k is large
    """
    train, test = (fetch_adult(o, complete=True).iloc[:6000] for o in ("train", "test"))
    cols = ["age", "education", "marital-status", "hours-per-week"]
    degrees = sorted(train.education.unique())
    tax = (
        {
            "education": Taxonomy.from_dict(
                {
                    "any": {
                        "a to d": [o for o in degrees if o[0] in "ABD"],
                        "others": [o for o in degrees if o[0] not in "ABD"],
                    }
                }
            )
        }
        if kind == "node"
        else None
    )
    both = AnonymizedClassifier(
        MondrianAnonymizer(k=k, recoding="set" if kind == "set" else "interval", taxonomies=tax),
        C45Classifier(taxonomies=tax),
    )
    both.fit(train[cols], train.income)
    published = {type(c) for o in cols for c in both.anonymizer_.release_.cells(o)[1]}
    assert {"set": ValueSet, "interval": Interval, "node": Node}[
        kind
    ] in published and both.anonymizer_.release_.audit.k >= k
    right = lambda clf: (clf.predict(test[cols]) == test.income.to_numpy()).mean()
    raw = right(C45Classifier().fit(train[cols], train.income))
    assert raw > 0.8 and right(both) > raw - {5: 0.03, 50: 0.05}[k]
    np.testing.assert_allclose(both.predict_proba(test[cols]).sum(axis=1), 1)


def test_interval_meets_threshold_by_width():
    X, y = pd.DataFrame({"a": [*range(0, 20, 2)] * 2}), ["u"] * 5 + ["v"] * 5
    clf = C45Classifier(prune=False).fit(X, y * 2)
    t = clf.tree_.threshold[0]
    asked = pd.DataFrame(
        {
            "a": cell_column(
                [0, 1, 2, 3, -1],
                [Interval(5, 25), Interval(0, 3), ValueSet({2, 4, 18}), Suppressed()],
            )
        }
    )
    left = (t - 5) / 20
    np.testing.assert_allclose(
        clf.predict_proba(asked),
        [[left, 1 - left], [1, 0], [2 / 3, 1 / 3], [0.5, 0.5], [0.5, 0.5]],
        atol=1e-12,
    )


def test_taxonomy_nodes():
    X, y = people()
    tax = Taxonomy.from_dict({"*": {"ab": ["a", "b"], "cd": ["c", "d"]}})
    X = X.assign(
        job=cell_column(
            np.array([{"a": 0, "b": 1, "c": 2, "d": 2}[o] for o in X.job]),
            [Exact("a"), Exact("b"), Node("cd")],
        )
    )
    clf = C45Classifier(taxonomies={"job": tax}).fit(X, y)
    assert clf._domains_[1] == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="'taxonomies' must have"):
        C45Classifier().fit(X, y)


# ---- the 14 customers, and odd tables


def test_customers():
    t = load_customers()
    clf = C45Classifier(prune=False).fit(t.drop(columns="Bought"), t.Bought)
    assert str(clf).splitlines() == [
        "Gender = Female",
        "|   Marital = Married: Yes (2.0)",
        "|   Marital = Not Married: No (3.0)",
        "Gender = Male",
        "|   Marital = Married",
        "|   |   Age <= 65: Yes (2.0)",
        "|   |   Age > 65: No (3.0)",
        "|   Marital = Not Married: Yes (4.0/1.0)",
    ]


def test_one_class_one_row_and_nothing_to_ask():
    for X, y in (
        (pd.DataFrame({"a": [1.0, 2, 3]}), ["u"] * 3),
        (pd.DataFrame({"a": ["x"]}), ["u"]),
        (pd.DataFrame({"a": [1.0, 1, 1, 1], "b": list("xxxx")}), list("uvuv")),
        (pd.DataFrame({"a": [np.nan] * 6}), list("uvuvuv")),
    ):
        clf = C45Classifier().fit(X, y)
        assert len(clf.tree_) == 1 and clf.predict(X).tolist() == ["u"] * len(X)
        assert not clf.feature_importances_.any()


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda o: o.__name__)
@pytest.mark.filterwarnings("ignore:Column '.' holds no value that it had in fit")
def test_odd_tables(learner):
    one, few = pd.DataFrame({"a": ["x"]}), pd.DataFrame({"a": list("xxyyzz"), "b": list("ppqqpp")})
    for X, y, want in (
        (one, ["u"], ["u"]),
        (few, ["u"] * 6, ["u"] * 6),
        (few[["b"]].assign(b="p"), list("uuuuvv"), ["u"] * 6),
        (few, list("uuuuuv"), None),
    ):
        clf = learner().fit(X, y)
        if want:
            assert clf.predict(X).tolist() == want
        np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1)
        assert clf.predict(pd.DataFrame({o: ["new"] for o in X})).tolist() in [
            [o] for o in clf.classes_
        ]
    if learner is not ID3Classifier:
        gaps = pd.concat(
            [few.assign(c=np.nan, d=pd.Series([None] * 6, dtype=object))] * 3, ignore_index=True
        )
        clf = learner().fit(gaps, list("uuvvuu") * 3)
        assert clf.predict(gaps).tolist() == list("uuvvuu") * 3


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda o: o.__name__)
def test_zero_weights_are_no_rows(learner):
    X, y = pd.DataFrame({"a": list("xxyyzzz"), "b": list("pqpqpqp")}), np.array(list("uuvvwww"))
    w = np.array([1, 1, 2, 1, 0, 0, 0])
    one, other = (
        learner().fit(X, y, sample_weight=w),
        learner().fit(X[:4], y[:4], sample_weight=w[:4]),
    )
    assert str(one) == str(other) and one.classes_.tolist() == ["u", "v"]
    with pytest.raises(ValueError, match="above 0. Got zeros only"):
        learner().fit(X, y, sample_weight=np.zeros(7))


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda o: o.__name__)
def test_errors_say_what_to_do(learner):
    X, y = pd.DataFrame({"a": ["x", "y", "z"] * 3}), list("uvw") * 3
    for fit, text in (
        (lambda: learner().fit(X, None), "'y' must be the class of each row. Got None"),
        (lambda: learner().fit(X, [*y[:-1], None]), "'y' must have no missing values. Got 1: drop"),
        (lambda: learner().fit(X.assign(b=np.inf), y), "finite"),
        (
            lambda: learner().fit(X, y, sample_weight=[-1.0] * 9),
            "'sample_weight' must not be negative. Got -1.0: use 0",
        ),
        (
            lambda: learner().fit(X, y, sample_weight=[1.0] * 8),
            "one number for each row. Got shape",
        ),
        (lambda: learner().fit(X, y, sample_weight=[np.nan] * 9), "must be finite"),
        (lambda: learner().fit(X, y).predict(X.assign(b=1)), "Unexpected: b: drop"),
        (lambda: learner().fit(X, y).predict(X.rename(columns={"a": "b"})), "Missing: a: add"),
        (lambda: learner().predict(X), "not fitted"),
    ):
        with pytest.raises(ValueError, match=text):
            fit()


def test_cells_are_refused_by_name():
    X = pd.DataFrame({"a": cell_column([0, 1, 0, 1], [Exact("x"), ValueSet(["x", "y"])])})
    with pytest.raises(
        ValueError, match="'X' must be a raw table.*Got published cells.*C45Classifier"
    ):
        ID3Classifier().fit(X, list("uvuv"))
    with pytest.raises(ValueError, match="'X' must be a raw table"):
        ID3Classifier().fit(pd.DataFrame({"a": list("xyxy")}), list("uvuv")).predict(X)


def test_rules_of_a_release_do_not_depend_on_the_order_of_rows(tmp_path):
    X, y = people()
    r = MondrianAnonymizer(k=8, mode="infogain").anonymize(X, y)
    part = PARTClassifier().fit(r)
    at = np.random.default_rng(0).permutation(len(X))
    turned = PARTClassifier().fit(r.data.iloc[at], r.y.iloc[at])
    assert str(turned) == str(part) and part.score(X, y) > 0.7
    p = part.predict_proba(r.data)
    assert (p.sum(axis=1) > 1 - 1e-9).all() and (p == turned.predict_proba(r.data)).all()
    assert (part.predict_proba(r.data[:5]) == p[:5]).all()
    wide = next(i for i in range(len(X)) if isinstance(r.data.age.iloc[i], (ValueSet, Interval)))
    with pytest.raises(ValueError, match="'row' must say one value or nothing.*predict_proba"):
        part.explain(r.data.iloc[wide])


def test_part_reads_cells_of_one_value_or_none():
    """Suppressed cells are missing values, a mean is its value"""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.choice(list("xyz"), 80), "b": rng.integers(0, 9, 80).astype(float)})
    y = np.where((X.a == "x") | (X.b > 6), "u", "v")
    hide = rng.random((80, 2)) < 0.3
    gaps = X.mask(hide)
    cut = pd.DataFrame(
        {
            o: cell_column(
                *pd.factorize(
                    pd.Series(
                        [
                            Suppressed() if h else Centroid(v) if o == "b" else Exact(v)
                            for v, h in zip(X[o], hide[:, j])
                        ],
                        dtype=object,
                    )
                )
            )
            for j, o in enumerate(X)
        }
    )
    part, same = PARTClassifier().fit(cut, y), PARTClassifier().fit(gaps, y)
    assert (
        part_text(part) == part_text(same)
        and np.array_equal(part.predict_proba(X), same.predict_proba(X))
        and np.array_equal(part.predict_proba(cut), same.predict_proba(gaps))
    )


def test_id3_takes_few_numbers_as_categories():
    X, y = pd.DataFrame({"a": [1, 2, 3] * 4, "b": [True, False] * 6}), list("uvw") * 4
    clf = ID3Classifier().fit(X, y)
    assert clf.predict(X.astype(float)).tolist() == y and clf.tree_.n_leaves == 3
    with pytest.raises(ValueError, match="Got raw numbers with 21 different values"):
        ID3Classifier().fit(pd.DataFrame({"a": range(21)}), ["u", "v", "v"] * 7)
    with pytest.raises(ValueError, match="missing values"):
        ID3Classifier().fit(pd.DataFrame({"a": ["x", None]}), ["u", "v"])
    with pytest.raises(ValueError, match="missing values"):
        clf.predict(pd.DataFrame({"a": [1, None], "b": [True, True]}))


def test_a_value_that_may_be_missing():
    """missing='category': a category of its own, no number"""
    X = pd.DataFrame(
        {
            "a": cell_column([0, 1, 2, 2] * 3, [Exact("x"), Exact("y"), Exact(MISSING)]),
            "n": cell_column(
                [0, 1, 2, 3] * 3,
                [Exact(1), ValueSet([2, MISSING]), Exact(MISSING), ValueSet([1, 2, MISSING])],
            ),
        }
    )
    clf = C45Classifier(min_samples_leaf=1, prune=False).fit(X, list("uvww") * 3)
    assert clf.predict(pd.DataFrame({"a": ["x", None, "y"], "n": [1.0, np.nan, 2]})).tolist() == [
        "u",
        "w",
        "v",
    ]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda o: o.__name__)
def test_classes_are_sorted_and_ties_go_by_declared_order(learner):
    """scikit-learn's scores take the last of the sorted classes for the positive one"""
    X, y = (
        pd.DataFrame({"a": list("xxyyxxyyzz")}),
        pd.Series(
            pd.Categorical(["low", "low", "high", "high"] * 2 + ["low", "high"], ["low", "high"])
        ),
    )
    clf = learner().fit(X, y)
    assert clf.classes_.tolist() == ["high", "low"] and clf.predict(
        pd.DataFrame({"a": list("xy")})
    ).tolist() == ["low", "high"]
    # one of each
    if learner is not PARTClassifier:
        assert clf.predict(pd.DataFrame({"a": ["z"]})).tolist() == ["low"]
    assert (clf.predict_proba(X)[:4].argmax(axis=1) == [1, 1, 0, 0]).all()
    assert get_scorer("roc_auc")(clf, X, y.astype(object)) > 0.8


def test_what_users_ask_of_a_tree():
    t = load_customers()
    X, y = t.drop(columns="Bought"), t.Bought
    clf = C45Classifier().fit(X, y)
    assert clf.explain(X.iloc[[9]]) == clf.explain(X.iloc[9]) == clf.explain(
        dict(X.iloc[9])
    ) and "Answer: Yes" in clf.explain(X.iloc[9])
    assert [o.node for o in clf.path(X.iloc[0])][0] == 0 and sum(
        o.ends for o in clf.path(X.iloc[0])
    ) == 1
    assert len(clf.rules()) == clf.tree_.n_leaves and not any(o.isdigit() for o in clf.rules()[0])
    part = PARTClassifier().fit(X, y)
    assert (
        part.rules(counts=True)[1]
        == "Otherwise, if Gender is Male and Marital is Not Married, then Yes (3 of 4 rows)."
    )
    assert PARTClassifier().fit(X, ["u"] * 14).rules() == ["Always u."]
    with pytest.raises(ValueError, match="'row' must be one row. Got a table of 14"):
        clf.explain(X)


def test_unseen_category_and_order_of_columns():
    # nine rows would be too few for three values
    X = pd.DataFrame({"a": list("xxxyyyzzz") * 2, "b": [1.0, 2, 3] * 6})
    y = list("uuuvvvuuu") * 2
    clf = C45Classifier(min_samples_leaf=1, prune=False).fit(X, y)
    np.testing.assert_allclose(
        clf.predict_proba(pd.DataFrame({"b": [1.0, np.nan], "a": ["new", "y"]})),
        [[6 / 9, 3 / 9], [0, 1]],
    )
    with pytest.raises(ValueError, match="Missing: b"):
        clf.predict(X[["a"]])


def test_weights_are_repeated_rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "a": rng.integers(0, 9, 200).astype(float),
            "b": rng.choice(list("xyz"), 200),
            "c": rng.random(200).round(2),
        }
    )
    y = np.where((X.a > 4) ^ (X.b == "x"), "u", "v")
    w = rng.integers(0, 4, 200)
    one, other = (
        C45Classifier().fit(X, y, sample_weight=w),
        C45Classifier().fit(X.loc[X.index.repeat(w)], np.repeat(y, w)),
    )
    assert str(one) == str(other)


@one_in(2)
@given(st.integers(0, 2**32 - 1))
def test_order_of_rows_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    n = 40
    X = pd.DataFrame(
        {
            "a": rng.choice([1.0, 2.0, 5.0, np.nan], n),
            "b": rng.choice(["x", "y", None], n),
            "c": rng.random(n).round(1),
        }
    )
    y, w, p = rng.choice(["u", "v", "w"], n), rng.random(n), rng.permutation(n)
    one, other = (
        C45Classifier().fit(X, y, sample_weight=w).tree_,
        C45Classifier().fit(X.iloc[p], y[p], sample_weight=w[p]).tree_,
    )
    assert (
        np.array_equal(one.counts, other.counts)
        and np.array_equal(one.attribute, other.attribute)
        and np.array_equal(one.threshold, other.threshold, equal_nan=True)
    )


@pytest.mark.parametrize(
    "parameter",
    [
        dict(min_samples_leaf=0),
        dict(confidence=0.7),
        dict(confidence=0),
        dict(prune=1),
        dict(thresholds="x"),
    ],
)
def test_parameters(parameter):
    with pytest.raises(ValueError, match=f"'{[*parameter][0]}' must be"):
        C45Classifier(**parameter).fit(pd.DataFrame({"a": [1.0, 2]}), ["u", "v"])


def test_bad_tables():
    X = pd.DataFrame({"a": [1.0, 2, 3]})
    with pytest.raises(ValueError, match="'y' must have no missing"):
        C45Classifier().fit(X, ["u", None, "v"])
    with pytest.raises(ValueError, match="finite"):
        C45Classifier().fit(X.replace(3, np.inf), list("uvu"))
    with pytest.raises(ValueError, match="must not be negative"):
        C45Classifier().fit(X, list("uvu"), sample_weight=[1, -1, 1])


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda o: o.__name__)
def test_wide_table(learner):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        rng.integers(0, 3, (60, 2000)).astype(float), columns=[f"x{i}" for i in range(2000)]
    )
    assert learner().fit(X, (X.x77 > 1).to_numpy()).predict(X).tolist() == (X.x77 > 1).tolist()


def test_a_long_chain_is_grown_pruned_and_made_a_rule():
    """One value after the other is split off: no recursion may stand in the way"""
    X = pd.DataFrame({"a": [f"v{i:03}" for i in range(450) for _ in range(3)]})
    y = np.array(["u", "v"])[np.arange(450).repeat(3) % 2]
    for learner in C45Classifier, PARTClassifier:
        clf = learner(binary_splits=True, prune=False).fit(X, y)
        assert clf.predict(X).tolist() == y.tolist()
        assert len(str(clf)) > 1000 and len(clf.rules()[0]) > 10
    assert len(clf.rules_[0].tests) > 200  # the last of the two
    deep = C45Classifier(binary_splits=True, prune=False).fit(X, y)
    assert tree_shares(deep.tree_, deep.tree_.values and np.array([[0.0, np.nan]])).shape == (2, 2)
    assert C45Classifier(binary_splits=True).fit(X, y).tree_.n_leaves <= deep.tree_.n_leaves


def chain(depth):
    """A tree of thresholds, one below the other"""
    n = 2 * depth + 1
    parent = np.array([-1] + [2 * (i // 2) for i in range(n - 1)])
    attribute = np.where((np.arange(n) % 2 == 0) & (np.arange(n) < n - 1), 0, -1)
    counts = np.tile([1.0, 2.0], (n, 1)) * np.linspace(2, 1, n)[:, None]
    return Tree(
        parent,
        attribute,
        np.zeros(n, dtype=int),
        np.where(attribute < 0, 0, THRESHOLD),
        np.where(attribute < 0, np.nan, np.arange(n)),
        np.array([-1] + [1, 0] * depth),
        counts,
        counts.sum(axis=1),
        ["a"],
        [["<=", ">"]],
        np.array(["u", "v"]),
    )


def test_deep_chain():
    """10,000 levels: text, files, and rows to classify"""
    t = chain(10_000)
    assert j48_text(t).count("\n") == 19_999
    back = tree_from_json(tree_json(t, counts=True))
    assert len(back) == len(t) and np.array_equal(back.threshold, t.threshold, equal_nan=True)
    clf = C45Classifier().fit(pd.DataFrame({"a": [1.0, 2, 3, 4] * 3}), list("uvuv") * 3)
    clf.tree_ = back
    asked = pd.DataFrame({"a": [-1.0, 5_000.5, 30_000.0, np.nan]})
    np.testing.assert_allclose(clf.predict_proba(asked), [[1 / 3, 2 / 3]] * 4)


# ---- numbers at the ends of what floats can tell apart

SPREADS = {
    "64-bit ids": lambda r, n: 2**60 + r.integers(0, 3000, n),
    "unsigned ids": lambda r, n: np.uint64(2**63) + r.integers(0, 9000, n).astype(np.uint64),
    "Python ints": lambda r, n: pd.Series(
        [2**70 + int(o) * 2**18 for o in r.integers(0, 9, n)], dtype=object
    ),
    "nanoseconds": (
        lambda r, n: pd.Timestamp("2020-01-01") + pd.to_timedelta(r.integers(0, 2000, n), unit="ns")
    ),
    "huge": lambda r, n: r.uniform(-1, 1, n) * 1.79e308,
    "wide": lambda r, n: r.choice([-1.0, 1], n) * 10.0 ** r.uniform(-320, 308, n),
    "subnormal": lambda r, n: r.integers(0, 50, n) * 5e-324,
    "near": lambda r, n: 1e6 + r.integers(0, 30, n) * 3e-6,
    "neighbours": lambda r, n: np.float64(1e11) + r.integers(0, 5, n) * np.spacing(1e11),
    "at the tolerance": lambda r, n: r.integers(0, 40, n) * 1e-5,
}


@one_in(4)
@given(st.sampled_from(sorted(SPREADS)), st.integers(0, 2**32 - 1), st.booleans())
def test_growth_ends_and_each_side_has_rows(spread, seed, gaps):
    """Each split has rows on both sides, and rows go down when they are asked as they did in fit"""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"d": SPREADS[spread](rng, 30), "e": rng.integers(0, 3, 30)})
    if gaps:
        X["e"] = X.e.where(X.e > 0)
    y = np.where(pd.Series(X.d).rank() + rng.integers(0, 9, 30) > 18, "u", "v")
    for how in ("midpoint", "data"):
        t = C45Classifier(prune=False, min_samples_leaf=1, thresholds=how).fit(X, y).tree_
        assert (t.n > 0).all() and np.isfinite(t.threshold[t.kind == THRESHOLD]).all()
        # two branches a question, and every row in one leaf
        assert len(t) == 2 * t.n_leaves - 1 and t.n_leaves <= len(X.drop_duplicates())
        assert t.n[t.attribute < 0].sum() == pytest.approx(30)
    clf = C45Classifier(prune=False, min_samples_leaf=1).fit(X[["d"]], y)
    assert (clf.tree_.n[0] == 30) and (clf.predict(X[["d"]]) == y).sum() == round(
        clf.tree_.counts[clf.tree_.attribute < 0].max(axis=1).sum()
    )
    # each row is answered by one rule
    held = [o.counts.sum() for o in PARTClassifier(min_samples_leaf=1).fit(X, y).rules_]
    assert sum(held) == pytest.approx(30) and min(held) > 0


def test_endless_intervals():
    X = pd.DataFrame(
        {
            "a": cell_column(
                [0, 1, 2, 3] * 5, [Interval(-np.inf, 5), Exact(5), Exact(9), Interval(9, np.inf)]
            )
        }
    )
    clf = C45Classifier(prune=False).fit(X, list("uuvv") * 5)
    assert clf.tree_.n.sum() == 40 and clf.predict(X).tolist() == list("uuvv") * 5
    asked = [
        Interval(-np.inf, 8),
        Interval(-np.inf, np.inf),
        Interval(6, np.inf),
        Interval(-1.7e308, 1.7e308),
    ]
    p = clf.predict_proba(pd.DataFrame({"a": cell_column([0, 1, 2, 3], asked)}))
    np.testing.assert_allclose(p, [[1, 0], [0.5, 0.5], [0, 1], [0.5, 0.5]])
    for c, share in zip(asked[:3], p[:3, 0]):
        assert sum(o.ends for o in clf.path({"a": c}) if o.node == 1) == share


# ---- columns that have changed since fit

N = 60
KINDS = {
    "number": np.arange(N) * 1.0,
    "date": pd.date_range("2020-01-01", periods=N),
    "zone": pd.date_range("2020-01-01", periods=N, tz="Europe/Berlin"),
    "codes": np.array(list("123"))[np.arange(N) % 3],
    "truth": np.arange(N) % 2 == 0,
    "whole": pd.Categorical(np.arange(N) % 3),
}
CLASS = {"codes": np.arange(N) % 3, "whole": np.arange(N) % 3, "truth": np.arange(N) % 2}


def fitted(kind, learner=C45Classifier):
    X = pd.DataFrame({"a": KINDS[kind]})
    y = np.array(list("uvw"))[CLASS.get(kind, (np.arange(N) > 30).astype(int))]
    return learner().fit(X, y), X, y


READ = {
    "number": [
        lambda s: s.astype(str),
        lambda s: s.astype(object),
        lambda s: s.astype("Int64"),
        lambda s: s.astype("category"),
    ],
    "date": [
        lambda s: s.dt.date.astype(object),
        lambda s: s.astype(object),
        lambda s: s.astype("category"),
        lambda s: s.astype("datetime64[s]"),
    ],
    "zone": [lambda s: s.dt.tz_convert("UTC"), lambda s: s.astype(object)],
    "codes": [
        lambda s: s.astype(float),
        lambda s: s.astype(int),
        lambda s: s.astype(float).astype(str),
        lambda s: s.astype("category"),
        lambda s: s.astype("Int64"),
    ],
    "truth": [
        lambda s: s.astype(str),
        lambda s: s.astype("boolean"),
        lambda s: s.astype(object),
        lambda s: s.astype(float),
    ],
    "whole": [
        lambda s: s.astype(str),
        lambda s: s.astype(int),
        lambda s: s.astype(float),
        lambda s: s.astype(float).astype(str),
    ],
}


@pytest.mark.parametrize("learner", [C45Classifier, PARTClassifier], ids=lambda o: o.__name__)
@pytest.mark.parametrize("kind", READ)
def test_the_same_values_in_another_dtype(kind, learner):
    clf, X, y = fitted(kind, learner)
    for change in READ[kind]:
        Z = X.assign(a=change(X.a))
        assert clf.predict(Z).tolist() == y.tolist()
        gap = clf.predict_proba(Z.assign(a=Z.a.where(X.index > 0)))
        assert (clf.classes_[gap[1:].argmax(axis=1)] == y[1:]).all()
        if learner is C45Classifier:
            said = clf.explain(Z.iloc[40])
            assert f"Answer: {y[40]}" in said


DATES = pd.Series(KINDS["date"])
REFUSED = [
    ("number", DATES, "numbers, as in fit. Got dates such as '2020-01-01'"),
    ("number", DATES.dt.date, "numbers, as in fit. Got dates"),
    ("number", pd.Series(KINDS["truth"]), "numbers, as in fit. Got truth values such as 'True'"),
    ("number", pd.Series(["3", "[3, 5]"]), "Got text such as '\\[3, 5\\]'.*read_release"),
    (
        "date",
        pd.Series([20200501]),
        "dates, as in fit. Got numbers such as '20200501': use pd.to_datetime",
    ),
    ("date", pd.Series(["2020"]), "dates, as in fit. Got text such as '2020': use pd.to_datetime"),
    ("date", pd.Series([True]), "dates, as in fit. Got truth values"),
    ("date", DATES.dt.tz_localize("UTC"), "dates without a time zone, as in fit. Got the zone UTC"),
    ("zone", DATES, "dates with a time zone, as in fit. Got none"),
    ("number", cell_column([0], [Exact("x")]), "numbers, as in fit. Got text"),
    ("number", cell_column([0], [Exact(pd.Timestamp("2020"))]), "numbers, as in fit. Got dates"),
    ("date", cell_column([0], [ValueSet([1, 2])]), "dates, as in fit. Got numbers"),
]


@pytest.mark.parametrize("kind,column,text", REFUSED, ids=[f"{i}" for i in range(len(REFUSED))])
def test_another_kind_of_column_is_refused(kind, column, text):
    clf, _, _ = fitted(kind)
    Z = pd.DataFrame({"a": column.reset_index(drop=True)})
    with pytest.raises(
        ValueError,
        match=(
            "Column 'a' must hold " + text
            if "must" not in text and not text.startswith("Got")
            else text
        ),
    ):
        clf.predict(Z)
    if not any(isinstance(o, (Exact, ValueSet)) for o in column):
        with pytest.raises(ValueError, match="Column 'a' must hold"):
            clf.explain(Z.iloc[[-1]])


@pytest.mark.parametrize("kind", ["codes", "truth", "whole"])
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda o: o.__name__)
def test_a_column_of_unseen_values_is_told(kind, learner):
    clf, X, _ = fitted(kind, learner)
    with pytest.warns(
        UserWarning, match="Column 'a' holds no value that it had in fit.*such as 'new'"
    ):
        clf.predict(X.assign(a="new"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf.predict(X)
        if learner is C45Classifier:
            clf.predict(pd.DataFrame({"a": [None, np.nan]}, dtype=object))
    if learner is C45Classifier:
        with pytest.warns(UserWarning, match="holds no value"):
            clf.predict(pd.DataFrame({"a": cell_column([0], [ValueSet(["new", "newer"])])}))


@pytest.mark.parametrize(
    "make",
    [
        lambda i: dt.date(2020, 1, 1) + dt.timedelta(days=i),
        lambda i: dt.datetime(2020, 1, 1, 3) + dt.timedelta(hours=i),
        lambda i: 2**40 + i,
        lambda i: None if i == 5 else i,
    ],
)
def test_object_columns_are_read_as_in_fit(make):
    X, y = (
        pd.DataFrame({"a": pd.Series([make(i) for i in range(40)], dtype=object)}),
        ["u"] * 20 + ["v"] * 20,
    )
    assert (
        C45Classifier().fit(X, y).predict(X).tolist()
        == PARTClassifier().fit(X, y).predict(X).tolist()
        == y
    )


# ---- shares of values, weights, taxonomies, texts of cells


def test_distribution_is_used_in_predict():
    X = pd.DataFrame(
        {
            "a": cell_column(
                [0] * 6 + [1] * 2 + [2] * 2, [Exact("x"), Exact("z"), ValueSet(["x", "z"])]
            )
        }
    )
    clf = C45Classifier(weights="distribution", prune=False, min_samples_leaf=1).fit(
        X, list("uuuuuuvvuv")
    )
    assert clf.value_shares_ == {"a": {"x": 0.75, "z": 0.25}} and not hasattr(
        C45Classifier().fit(X, list("uuuuuuvvuv")), "value_shares_"
    )
    one = clf.predict_proba(pd.DataFrame({"a": ["x", "z"]}))
    np.testing.assert_allclose(clf.predict_proba(X)[-1], 0.75 * one[0] + 0.25 * one[1])
    raw = C45Classifier(weights="distribution", min_samples_leaf=1).fit(
        pd.DataFrame({"a": list("xxxz") * 5, "n": [1.0, 2, 2, 9] * 5}), list("uuuv") * 5
    )
    np.testing.assert_allclose(
        raw.predict_proba(
            pd.DataFrame({"a": cell_column([0], [ValueSet(["x", "z", "new"])]), "n": [np.nan]})
        )[0],
        [0.75, 0.25],
    )


def test_distribution_of_numbers_and_weights():
    X, y = (
        pd.DataFrame(
            {"a": cell_column([0, 0, 0, 1, 2] * 4, [Exact(1), Exact(9), ValueSet([1, 9])])}
        ),
        list("uuuvv") * 4,
    )
    w = np.array([1, 2, 0, 3, 1] * 4)
    clf = C45Classifier(weights="distribution", prune=False).fit(X, y, sample_weight=w)
    assert clf.value_shares_["a"] == {1: 0.5, 9: 0.5}
    many = C45Classifier(weights="distribution", prune=False).fit(
        X.loc[X.index.repeat(w)], np.repeat(y, w)
    )
    assert str(clf) == str(many) and clf.value_shares_ == many.value_shares_
    clf = C45Classifier(weights="distribution", prune=False).fit(X, y)
    one = clf.predict_proba(pd.DataFrame({"a": [1, 9]}))
    np.testing.assert_allclose(clf.predict_proba(X)[4], 0.75 * one[0] + 0.25 * one[1])


def test_parameters_of_another_type_are_refused():
    X, y, tax = (
        pd.DataFrame({"job": list("abab")}),
        list("uvuv"),
        Taxonomy.from_dict({"*": ["a", "b"]}),
    )
    for fit, text in (
        (
            lambda: C45Classifier().fit(X, y, sample_weight=["a"] * 4),
            "'sample_weight' must have one number for each row. Got 'a'",
        ),
        (
            lambda: C45Classifier().fit(X, y, sample_weight={"a": 1}),
            "'sample_weight' must have one number",
        ),
        (
            lambda: C45Classifier(thresholds=np.array([1, 2])).fit(X, y),
            "'thresholds' must be 'midpoint' or 'data'",
        ),
        (lambda: C45Classifier(scoring=np.array([1, 2])).fit(X, y), "'scoring' must be"),
        (lambda: C45Classifier(weights=["uniform"]).fit(X, y), "'weights' must be"),
        (lambda: PARTClassifier(thresholds=[1]).fit(X, y), "'thresholds' must be"),
        (
            lambda: C45Classifier(min_samples_leaf=np.array([1, 2])).fit(X, y),
            "'min_samples_leaf' must be",
        ),
        (
            lambda: C45Classifier(taxonomies={"job": {"*": ["a", "b"]}}).fit(X, y),
            (
                "'taxonomies' must map each column to a Taxonomy. Got a dict for 'job': use"
                " Taxonomy.from_dict"
            ),
        ),
        (lambda: C45Classifier(taxonomies=[tax]).fit(X, y), "'taxonomies' must be None or a dict"),
        (
            lambda: C45Classifier(taxonomies={"Job": tax}).fit(X, y),
            "'taxonomies' must name columns of the table. Got 'Job'; the columns are job",
        ),
    ):
        with pytest.raises(ValueError, match=text):
            fit()
    assert C45Classifier(taxonomies={"job": tax}).fit(X, y).classes_.tolist() == ["u", "v"]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda o: o.__name__)
def test_texts_of_cells_are_told(learner):
    X = pd.DataFrame({"a": ["{18, 20}", "[3, 5)", "7"] * 4})
    with pytest.warns(
        UserWarning, match="column 'a' holds texts.*read_release and learn from its data"
    ) as told:
        learner().fit(X, list("uvw") * 4)
    assert told[0].filename == __file__


def test_columns_are_named_in_messages():
    X = pd.DataFrame({"a": list("xyxy"), "b": [1, 2, 3, 4]})
    clf = C45Classifier().fit(X, list("uvuv"))
    with pytest.raises(
        ValueError,
        match=(
            "^'X' must have the columns seen in fit: a, b. Got a, c. Missing: b: add them."
            " Unexpected: c: drop them"
        ),
    ):
        clf.predict(X.rename(columns={"b": "c"}))
    for odd, todo in (
        (pd.period_range("2020", periods=4, freq="M"), "to_timestamp"),
        (pd.to_timedelta([1, 2, 3, 4], unit="D"), "total_seconds"),
    ):
        with pytest.raises(
            TypeError, match=f"Column 'b' must hold numbers, .*convert it with .dt.{todo}"
        ):
            C45Classifier().fit(X.assign(b=odd), list("uvuv"))


def test_id3_explains_what_it_predicts():
    clf, X, _ = fitted("codes", ID3Classifier)
    for v, text in (
        (None, "Column 'a' must have no missing values"),
        (np.nan, "Column 'a' must have no missing"),
        (ValueSet(["1", "2"]), "must .* raw.*Got .*C45Classifier"),
    ):
        s = cell_column([0], [v]) if isinstance(v, ValueSet) else pd.Series([v], dtype=object)
        for ask in (
            lambda: clf.predict(pd.DataFrame({"a": s})),
            lambda: clf.explain({"a": v}),
            lambda: clf.path({"a": v}),
        ):
            with pytest.raises(ValueError, match=text):
                ask()


def test_declared_classes_stay():
    X, y = (
        pd.DataFrame({"a": range(30)}),
        pd.Series(pd.Categorical(["u"] * 15 + ["v"] * 15, ["u", "v", "w"])),
    )
    clf = C45Classifier().fit(X, y)
    assert (
        clf.predict_proba(X).shape == (30, 3)
        and log_loss(y, clf.predict_proba(X), labels=clf.classes_) < 0.1
    )
    assert C45Classifier().fit(X, y.cat.remove_unused_categories()).classes_.tolist() == ["u", "v"]


# ---- a tree from a file


def _without(tree, rng):
    """The tree without some of its empty leaves, its nodes in another order; parents stay before
    their children
    """
    keep = np.ones(len(tree), dtype=bool)
    for p in np.flatnonzero(tree.kind == 1):
        kids = tree.children(p)
        gone = kids[
            (tree.n[kids] == 0) & (tree.attribute[kids] < 0) & (rng.random(len(kids)) < 0.7)
        ]
        keep[gone[: len(kids) - 1]] = False
    order, waiting = [], [0]
    while waiting:
        i = waiting.pop(rng.integers(len(waiting)))
        order.append(i)
        waiting += [k for k in tree.children(i).tolist() if keep[k]]
    new = np.full(len(tree), -1)
    new[order] = np.arange(len(order))
    parts = {
        o: getattr(tree, o)[order]
        for o in ("attribute", "level", "kind", "threshold", "code", "counts", "n")
    }
    return replace(tree, parent=np.append(-1, new[tree.parent[order[1:]]]), **parts)


@given(trees(), st.integers(0, 2**32 - 1).map(np.random.default_rng))
def test_routing_does_not_need_all_branches_nor_their_order(t, rng):
    x = np.concatenate([as_numbers(random_row(rng)) for _ in range(12)], axis=1)
    other = _without(t, rng)
    assert np.allclose(tree_shares(other, x), tree_shares(t, x))
    full = filled(other)
    assert branches_in_order(full, node_shares(full)[0]) and np.allclose(
        tree_shares(full, x), tree_shares(t, x)
    )


@st.composite
def mixed_tables(draw):
    """(table, class) with numbers, dates, declared categories that nobody has, booleans, texts; no
    missing values
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = int(rng.integers(2, 60))
    zone = draw(st.sampled_from([None, "Europe/Paris"]))
    t = pd.DataFrame(
        {
            "number": rng.integers(0, 9, n) / 2,
            "came": (
                pd.Timestamp("2024-03-01", tz=zone)
                + pd.to_timedelta(
                    rng.integers(0, 9, n) * draw(st.sampled_from([1, 3600, 86400])), unit="s"
                )
            ),
            "kind": pd.Categorical(rng.choice(list("xyz"), n), list("wxyz")),
            "told": rng.random(n) < 0.5,
            "text": rng.choice(["a", "*", "{b}", ""], n),
        }
    )
    y = np.where((t.number + rng.integers(0, 3, n) > 3) ^ (t.kind == "x"), "yes", "no")
    return t[[o for o in t if rng.random() < 0.7] or ["kind"]], y


@pytest.mark.filterwarnings("ignore:column 'text' holds texts such as")
@one_in(4)
@given(mixed_tables(), st.booleans(), st.booleans(), st.sampled_from(["midpoint", "data"]))
def test_a_loaded_tree_answers_like_its_classifier(table, prune, binary, thresholds):
    X, y = table
    clf = C45Classifier(
        prune=prune, binary_splits=binary, thresholds=thresholds, min_samples_leaf=1
    ).fit(X, y)
    loaded = C45Classifier.from_tree(tree_from_json(tree_json(clf.tree_)))
    assert (
        loaded.predict(X) == clf.predict(X)
    ).all() and loaded.classes_.tolist() == clf.classes_.tolist()
    full = C45Classifier.from_tree(tree_from_json(tree_json(clf.tree_, counts=True)))
    if not (len(clf.tree_) > 1 and (clf.tree_.n == 1).all()):
        assert np.allclose(full.predict_proba(X), clf.predict_proba(X))
    texts = X.assign(**{o: X[o].astype(str) for o in X if o == "came"})
    assert (loaded.predict(texts) == clf.predict(X)).all()
    row = X.iloc[0]
    assert (
        f"Answer: {clf.predict(X.iloc[[0]])[0]}" in loaded.explain(row)
        and len(loaded.rules()) == clf.tree_.n_leaves
    )
    assert (
        loaded.predict(
            X[
                [o for o in X if o in [clf.tree_.names[j] for j in clf.tree_.attribute if j >= 0]]
                or list(X)[:1]
            ]
        ).tolist()
        == clf.predict(X).tolist()
    )


def test_a_loaded_tree_that_was_grown_by_another():
    t = load_customers()
    members = [
        Members.exact(pd.Categorical(t[o]).codes.astype(int), 3) for o in ("Gender", "Marital")
    ]
    tree = grow(
        TreeData(
            ["Gender", "Marital"],
            [["Female", "Male", "other"], ["Married", "Not Married", "other"]],
            np.array(["No", "Yes"]),
            members,
            members,
            (t.Bought == "Yes").astype(int).to_numpy(),
            np.ones(14),
        )
    )
    loaded = C45Classifier.from_tree(tree)
    X = t[["Gender", "Marital"]]
    assert np.allclose(loaded.predict_proba(X), tree_counts(tree, members))
    odd = pd.DataFrame(
        {"Gender": ["other", "Female", "unheard of"], "Marital": ["Married", "other", "Married"]}
    )
    assert np.allclose(loaded.predict_proba(odd), [[0.5, 0.5], [0.6, 0.4], [0.5, 0.5]])
    assert audit_model(loaded, X, y=t.Bought).k == 2


def test_a_loaded_tree_reads_releases():
    t = load_customers()
    X, y = t.drop(columns="Bought"), t.Bought
    r = MondrianAnonymizer(k=3).anonymize(X, y)
    clf = C45Classifier(prune=False).fit(X, y)
    full = C45Classifier.from_tree(tree_from_json(tree_json(clf.tree_, counts=True)))
    assert np.allclose(full.predict_proba(r.data), clf.predict_proba(r.data))
    slim = C45Classifier.from_tree(_without(full.tree_, np.random.default_rng(0)))
    assert np.allclose(slim.predict_proba(r.data), clf.predict_proba(r.data))
    learnt = C45Classifier(prune=False).fit(r.data, r.y)
    assert np.allclose(
        C45Classifier.from_tree(tree_from_json(tree_json(learnt.tree_, counts=True))).predict_proba(
            X
        ),
        learnt.predict_proba(X),
    )
    assert C45Classifier.from_tree(tree_from_json(tree_json(clf.tree_))).predict_proba(
        X.assign(Gender=None)
    ).sum(axis=1) == pytest.approx(np.ones(14))


def test_what_from_tree_refuses():
    t = load_customers()
    clf = C45Classifier().fit(t.drop(columns="Bought"), t.Bought)
    with pytest.raises(TypeError, match="'tree' must be a Tree. Got str: read a file with"):
        C45Classifier.from_tree(tree_json(clf.tree_))
    with pytest.raises(ValueError, match="a level of a taxonomy"):
        C45Classifier.from_tree(replace(clf.tree_, level=np.minimum(clf.tree_.attribute + 1, 1)))
    cells = replace(clf.tree_, values=[[Exact(o) for o in v] for v in clf.tree_.values])
    with pytest.raises(ValueError, match="branches are published cells"):
        C45Classifier.from_tree(cells)
    loaded = C45Classifier.from_tree(clf.tree_)
    with pytest.raises(ValueError, match="Missing: Marital: add them"):
        loaded.predict(t[["Gender", "Age"]])
    with pytest.raises(
        ValueError, match="Column 'Age' must hold numbers, as in fit. Got dates such as"
    ):
        loaded.predict(t.drop(columns="Bought").assign(Age=pd.Timestamp("2024-01-01")))
    with pytest.raises(TypeError, match="'row' must be a dict"):
        loaded.explain([1, 2])


def test_columns_of_dates_are_what_they_were():
    t = pd.DataFrame({"came": pd.date_range("2024-02-20", periods=20)})
    for cls in (C45Classifier, PARTClassifier):
        clf = cls().fit(t, ["a"] * 11 + ["b"] * 9)
        for bad in (
            t.assign(came=t.came.dt.tz_localize("UTC")),
            t.assign(came=20240301),
            t.assign(came="soon"),
        ):
            with pytest.raises(
                ValueError, match="Column 'came' must hold dates( without a time zone)?, as in fit"
            ):
                clf.predict(bad)
        assert (
            clf.predict(t.astype(str)).tolist()
            == clf.predict(t.came.dt.date.to_frame()).tolist()
            == clf.predict(t).tolist()
        )
        assert (
            clf.rules()[0] == "If came is at most 2024-03-01 12:00, then a."
            and "came <= 2024-03-01 12:00: a" in str(clf)
        )
    zoned = C45Classifier().fit(
        t.came.dt.tz_localize("Europe/Paris").to_frame(), ["a"] * 11 + ["b"] * 9
    )
    assert (
        zoned.predict(t.came.dt.tz_localize("Europe/Paris").to_frame()).tolist()
        == ["a"] * 11 + ["b"] * 9
    )
    for naive in (t, t.astype(str)):
        with pytest.raises(
            ValueError, match="must hold dates with a time zone, as in fit. Got none"
        ):
            zoned.predict(naive)
    with pytest.raises(
        ValueError, match="Column 'n' must hold numbers, as in fit. Got dates such as"
    ):
        C45Classifier().fit(pd.DataFrame({"n": range(20)}), ["a"] * 11 + ["b"] * 9).predict(
            t.rename(columns={"came": "n"})
        )


@one_in(10)
@given(mixed_tables(), st.booleans(), st.data())
def test_part_explains_what_it_answers(table, binary, data):
    X, y = table
    clf = PARTClassifier(min_samples_leaf=1, binary_splits=binary).fit(X, y)
    row = X.iloc[data.draw(st.integers(0, len(X) - 1))].to_dict()
    for o in row:
        if data.draw(st.booleans()) and data.draw(st.booleans()):
            row[o] = None
    said = clf.explain(row)
    table = pd.DataFrame(
        {
            o: pd.Series(
                [v],
                dtype=X[o].dtype if v is not None or o in ("number", "came", "kind") else object,
            )
            for o, v in row.items()
        }
    )
    assert said.split("Answer: ")[1].split(",")[0].rstrip(".") == clf.predict(table)[0]
    assert clf.explain(row, counts=False).count("Rule") == said.count(
        "Rule"
    ) and "training rows" not in clf.explain(row, counts=False)


def test_part_tells_which_rule_and_why():
    t = load_customers()
    part = PARTClassifier().fit(t.drop(columns="Bought"), t.Bought)
    assert (
        part.explain(t.drop(columns="Bought").iloc[9]).splitlines()[0]
        == "Rule 1 does not fit: it asks that Gender is Female, and it is Male."
    )
    with pytest.raises(ValueError, match="'row' must have a value for 'Age'"):
        part.explain({"Gender": "Male", "Marital": "Married"})


def test_rows_with_nodes():
    t = pd.DataFrame({"job": list("abcd") * 5})
    tax = Taxonomy.from_dict({"all": {"ab": ["a", "b"], "cd": ["c", "d"]}})
    clf = C45Classifier(taxonomies={"job": tax}).fit(t, ["x", "x", "y", "z"] * 5)
    assert "Answer: x" in clf.explain({"job": Node("ab")}) and "{a, b}" in clf.explain(
        {"job": Node("ab")}
    )
    assert [o.weight for o in clf.path({"job": Node("cd")})] == [1, 0.5, 0.5]
    with pytest.raises(ValueError, match="'taxonomies' must have the taxonomy of column 'job'"):
        C45Classifier.from_tree(clf.tree_).explain({"job": Node("ab")})
    assert C45Classifier.from_tree(clf.tree_, taxonomies={"job": tax}).explain(
        {"job": Node("ab")}
    ) == clf.explain({"job": Node("ab")})


# ---- explanations without counts, files without needless values


def test_explanations_keep_counts_unless_asked():
    t = load_customers()
    X, y = t.drop(columns="Bought"), t.Bought
    for clf in (
        C45Classifier().fit(X, y),
        ID3Classifier().fit(X.drop(columns="Age"), y),
        PARTClassifier().fit(X, y),
    ):
        row = X[clf.feature_names_in_].iloc[9]
        assert clf.explain(row) == clf.explain(row, counts=False) != clf.explain(row, counts=True)
        assert "training rows" in clf.explain(row, counts=True) and not re.search(
            r"of \d+ training|%", clf.explain(row)
        )
    assert "Answer: No" in C45Classifier().fit(X, y).explain(X.iloc[9].to_dict() | {"Age": None})


@one_in(7)
@given(
    st.integers(0, 2**32 - 1).map(np.random.default_rng),
    st.sampled_from([C45Classifier, PARTClassifier]),
)
def test_an_explanation_answers_as_predict(rng, make):
    n = 20
    X = pd.DataFrame(
        {
            "a": rng.choice(list("uvw"), n),
            "b": rng.choice(list("xy"), n),
            "c": rng.integers(0, 9, n).astype(float),
        }
    )
    clf = make(min_samples_leaf=1, prune=False).fit(X, rng.choice(["no", "yes", "perhaps"], n))
    gaps = X.mask(rng.random(X.shape) < 0.4)
    said = clf.predict(gaps)
    for i in range(2):
        for counts in (False, True):
            assert re.search(rf"Answer: {said[i]}[.,]", clf.explain(gaps.iloc[i], counts))


@one_in(7)
@given(st.integers(0, 2**32 - 1).map(np.random.default_rng), st.booleans())
def test_sets_are_divided_by_the_shares_of_fit(rng, binary):
    n = 40
    X = pd.DataFrame(
        {"a": rng.choice(list("uvwxz"), n, p=[0.5, 0.2, 0.1, 0.1, 0.1]), "c": rng.integers(0, 5, n)}
    )
    clf = C45Classifier(
        min_samples_leaf=1,
        prune=False,
        min_fragment=0.0,
        weights="distribution",
        binary_splits=binary,
    ).fit(X, rng.choice(["no", "yes"], n))

    def some(v):
        return ValueSet(rng.choice(v, rng.integers(2, len(v) + 1), replace=False).tolist())

    Z = pd.DataFrame(
        {
            "a": [some(sorted(set(X.a))) for _ in range(3)],
            "c": [some(sorted(set(X.c))) for _ in range(3)],
        },
        dtype=object,
    )
    p = clf.predict_proba(Z)
    for i in range(3):
        assert np.allclose(path_answer(clf.tree_, clf.path(Z.iloc[i])), p[i], atol=1e-9)
        assert f"Answer: {clf.predict(Z)[i]}" in clf.explain(Z.iloc[i]) and "%" not in clf.explain(
            Z.iloc[i]
        )


def test_shares_of_fit_differ_from_equal_ones():
    X = pd.DataFrame({"a": list("u" * 8 + "v" * 2)})
    clf = C45Classifier(weights="distribution").fit(X, list("y" * 8 + "n" * 2))
    cell = {"a": ValueSet(["u", "v"])}
    assert [o.weight for o in clf.path(cell)] == [1, 0.8, 0.2] and [
        o.weight for o in decision_path(clf.tree_, cell)
    ] == [1, 0.5, 0.5]
    assert [o.weight for o in decision_path(clf.tree_, cell, shares=clf.value_shares_)] == [
        1,
        0.8,
        0.2,
    ]
    assert "80 % go with u" in clf.explain(cell, counts=True) and "%" not in clf.explain(cell)


def test_rows_as_predict_takes_them():
    t = load_customers()
    X, y = t.drop(columns="Bought"), t.Bought
    for clf in (C45Classifier().fit(X, y), PARTClassifier().fit(X, y)):
        for v in ("35", decimal.Decimal("35"), 35, 35.0, np.int8(35)):
            assert "Answer: Yes" in clf.explain({"Gender": "Male", "Marital": "Married", "Age": v})
    with pytest.raises(NotFittedError):
        part_text(PARTClassifier())
    came = pd.DataFrame({"Came": pd.date_range("2024-02-20", periods=20)})
    for clf in (
        C45Classifier().fit(came, ["a"] * 11 + ["b"] * 9),
        PARTClassifier().fit(came, ["a"] * 11 + ["b"] * 9),
    ):
        for v in (
            np.datetime64("2024-03-01"),
            dt.date(2024, 3, 1),
            dt.datetime(2024, 3, 1),
            "2024-03-01",
            "2024-03-01T10:00",
            pd.Timestamp("2024-03-01"),
        ):
            assert "Answer: a" in clf.explain({"Came": v})
    bands = pd.DataFrame({"Age": pd.cut(X.Age, [0, 30, 60, 100])})
    for clf in (
        C45Classifier(prune=False, min_samples_leaf=1).fit(bands, y),
        ID3Classifier().fit(bands, y),
        PARTClassifier(prune=False).fit(bands, y),
    ):
        assert (
            f"Answer: {clf.predict(bands)[3]}" in clf.explain(bands.iloc[3])
            and len(clf.rules()) > 1
        )


def test_columns_that_a_loaded_tree_does_not_ask_are_not_looked_at():
    t = load_customers()
    clf = C45Classifier().fit(
        t[["Gender", "Age"]].assign(id=[f"person {i}" for i in range(14)]), t.Bought
    )
    # a pickle holds them: for the owner
    assert "person" not in tree_json(clf, counts=True) and "person 3" in str(clf._domains_)
    loaded = C45Classifier.from_tree(tree_from_json(tree_json(clf)))
    odd = t[["Gender", "Age"]].assign(id=[Node("x"), [1], {}, None, 1, "a"] + [2.0] * 8)
    assert (
        loaded.predict(odd).tolist()
        == loaded.predict(t[["Gender", "Age"]]).tolist()
        == clf.predict(t[["Gender", "Age"]].assign(id="new")).tolist()
    )


@pytest.mark.parametrize("k", [3, 20])
def test_intervals_beside_nodes(k):
    """Numbers under a taxonomy: some groups publish a range of it, others its root"""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"n": rng.integers(0, 100, 60), "b": rng.choice(list("ab"), 60)})
    y = pd.Series(np.where(X.n < 50, "low", "high"), name="c")
    tree = Taxonomy.from_edges(range(100), range(0, 101, 10), [0, 50, 100], public=True)
    r = MondrianAnonymizer(k=k, mode="relaxed", taxonomies={"n": tree}).anonymize(X, y)
    held = r.cells("n")[1]
    assert any(isinstance(o, Interval) for o in held) and any(isinstance(o, Node) for o in held)
    model = C45Classifier(taxonomies={"n": tree}, min_samples_leaf=1, prune=False)
    model.fit(r.data, r.y)
    assert len(model.predict(r.data)) == 60
    if k == 3:
        assert model.score(X, y) > 0.9
