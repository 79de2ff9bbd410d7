"""kACTUS on random trees and tables: what must hold under every option, and what it says when
something cannot be done.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from random_tables import pick, row_cells
from random_trees import random_tree
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from ppdt._textbook import _textbook_climb
from ppdt.c45 import C45Classifier, ID3Classifier, PARTClassifier
from ppdt.datasets import load_customers, make_population
from ppdt.growing import MULTIWAY, THRESHOLD
from ppdt.kactus import KActusAnonymizer, climb
from ppdt.kadet import KADETClassifier
from ppdt.release import AnonymizedClassifier, read_release
from ppdt.tables import Centroid, Exact, Interval, Suppressed, ValueSet

SHOP = load_customers().drop(columns="Bought")
BOUGHT = load_customers().Bought


def nested(tree, held, i=0):
    return (
        {int(tree.code[s]): nested(tree, held, s) for s in tree.children(i).tolist()}
        if tree.attribute[i] >= 0
        else held.get(i, [])
    )


def path(tree, i):
    return (*path(tree, tree.parent[i]), int(tree.code[i])) if i else ()


def first(comply, spare, wanted):
    return [r for b, rows in comply.items() for r in rows[: spare[b]]][:wanted]


@given(
    seed=st.integers(0, 2**32 - 1),
    n_inner=st.integers(0, 8),
    n=st.integers(0, 60),
    k=st.integers(1, 8),
    rule=pick("intended", "literal"),
)
def test_the_climb_is_the_textbooks(seed, n_inner, n, k, rule):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n_inner, (MULTIWAY, THRESHOLD))
    stops = rng.choice(np.flatnonzero(tree.attribute < 0), n)
    c, rest = climb(tree, stops, k, rule)
    held = {i: np.flatnonzero(stops == i).tolist() for i in set(stops.tolist())}
    batches, left = _textbook_climb(nested(tree, held), k, first, rule)
    assert {path(tree, i): sorted(b.tolist()) for i, b in zip(c.nodes.tolist(), c.batches)} == {
        p: sorted(b) for p, b in batches
    } and sorted(rest.tolist()) == sorted(left)
    assert c.log.published.sum() + len(rest) == n and (c.log.nui + c.log.moved == c.log.left).all()


@st.composite
def people(draw):
    """(X, y, k): categories and numbers, some columns missing values"""
    n = draw(st.integers(2, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = pd.DataFrame(
        {
            f"c{i}": rng.choice(list("uvwxyz")[:d], n)
            for i, d in enumerate(draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
        }
    )
    for i in range(draw(st.integers(0, 2))):
        X[f"x{i}"] = rng.integers(0, draw(st.integers(1, 20)), n)
    y = pd.Series(np.where(rng.random(n) < 0.3, "a", np.where(X.c0 == "u", "a", "b")), name="class")
    return X, y, draw(st.integers(1, n))


OPTIONS = dict(
    rule=pick("intended", "literal"),
    numeric=pick("mean", "path", "interval"),
    shortfall=pick("lose", "top_up"),
    selection=pick("random", "first", "nearest", "lots"),
    merge=pick("none", "sets"),
    random_state=st.integers(0, 9),
)


@one_in(5)
@given(table=people(), options=st.fixed_dictionaries(OPTIONS), m=pick(1, 2), prune=st.booleans())
def test_invariants(table, options, m, prune):
    X, y, k = table
    tool = KActusAnonymizer(k, inducer=C45Classifier(min_samples_leaf=m, prune=prune), **options)
    r = tool.anonymize(X, y)
    kept = np.setdiff1d(np.arange(len(X)), r.lost)
    assert r.data.index.tolist() == X.index[kept].tolist() and r.y.tolist() == y.iloc[kept].tolist()
    assert len(r.lost) <= (k - 1 if options["shortfall"] == "lose" else 0)
    rows = list(zip(*[row_cells(r.data[o]) for o in X]))
    assert all(rows.count(o) >= k for o in set(rows))
    if k == 1:
        pd.testing.assert_frame_equal(r.data, X)
        return
    c = tool.climb_
    assert (
        sorted([*c.lost.tolist(), *np.concatenate(c.batches).tolist()]) == list(range(len(X)))
        and c.lost.tolist() == r.lost.tolist()
    )
    place = {row: i for i, row in enumerate(kept.tolist())}
    for batch in c.batches:
        assert len(batch) >= k and len({rows[place[i]] for i in batch.tolist()}) == 1
    for j, o in enumerate(X):
        for cells, v in zip(rows, X[o].iloc[kept].tolist()):
            cell = cells[j]
            if isinstance(cell, Exact):
                assert cell.value == v
            elif isinstance(cell, ValueSet):
                assert v in cell.values and options["merge"] == "sets"
            elif isinstance(cell, Interval):
                assert cell.lo <= v <= cell.hi and options["numeric"] != "mean"
            elif isinstance(cell, Centroid):
                assert options["numeric"] == "mean"
            else:
                assert isinstance(cell, Suppressed)
    again = KActusAnonymizer(
        k, inducer=C45Classifier(min_samples_leaf=m, prune=prune), **options
    ).anonymize(X, y)
    assert again.text().equals(r.text())


@one_in(5)
@given(table=people(), seed=st.integers(0, 9))
def test_means_are_of_the_batch_and_lie_where_its_path_says(table, seed):
    X, y, k = table
    k = max(k, 2)
    X = X.assign(x9=np.arange(len(X)) % 7)
    mean, wide = (
        KActusAnonymizer(k, inducer=C45Classifier(prune=False), numeric=o, random_state=seed)
        for o in ("mean", "path")
    )
    a, b = mean.anonymize(X, y), wide.anonymize(X, y)
    assert a.lost.tolist() == b.lost.tolist()
    place = {row: i for i, row in enumerate(np.setdiff1d(np.arange(len(X)), a.lost).tolist())}
    for o in (o for o in X if o[0] == "x"):
        means, lines = row_cells(a.data[o]), row_cells(b.data[o])
        for batch in mean.climb_.batches:
            cell, line = means[place[batch[0]]], lines[place[batch[0]]]
            if isinstance(cell, Suppressed):
                assert isinstance(line, Suppressed)
                continue
            m = cell.value
            assert np.isclose(m, X[o].iloc[batch].mean()) and line.lo <= m <= line.hi


@one_in(2)
@given(table=people(), seed=st.integers(0, 9))
def test_sets_tell_more_and_lose_the_same_rows(table, seed):
    """Merged siblings keep what they have in common: never a cell less"""
    X, y, k = table
    if k == 1:
        return

    def release(merge):
        return KActusAnonymizer(
            k,
            inducer=C45Classifier(prune=False, min_samples_leaf=1),
            merge=merge,
            random_state=seed,
        ).anonymize(X, y)

    a, b = release("none"), release("sets")
    assert a.lost.tolist() == b.lost.tolist()
    for o in X:
        for u, v in zip(row_cells(a.data[o]), row_cells(b.data[o])):
            # a set of all values is suppressed
            if isinstance(v, Suppressed) and not isinstance(u, Suppressed):
                assert X[o].nunique() == 1


def test_yellow_or_blue():
    X = pd.DataFrame({"A1": ["Yellow"] * 6 + ["Blue"] * 7 + ["Red"] * 10, "z": 1})
    y = ["p"] * 6 + ["q"] * 7 + ["r"] * 10
    r = KActusAnonymizer(k=10, merge="sets").anonymize(X, y)
    assert r.data.A1.astype(str).value_counts().to_dict() == {"{Blue, Yellow}": 13, "Red": 10}
    assert KActusAnonymizer(k=10).anonymize(X, y).data.A1.astype(str).value_counts().to_dict() == {
        "*": 13,
        "Red": 10,
    }
    # a quasi-identifier that the tree never asks
    assert r.data.z.astype(str).eq("*").all()


def test_two_halves_of_a_line_are_the_whole_line():
    """Both sides of the only threshold wait at the root: nothing is left to say"""
    X, y = pd.DataFrame({"x": [1, 2, 3, 4, 11, 12, 13, 14]}), list("aaaabbbb")
    tool = KActusAnonymizer(
        k=5, inducer=C45Classifier(prune=False), numeric="path", merge="sets"
    ).fit(X, y)
    assert (
        len(tool.tree_) == 3
        and tool.release_.data.x.astype(str).eq("*").all()
        and tool.release_.audit.suppressed_rows == 8
    )


def test_one_leaf_is_no_tree_and_all_is_suppressed():
    r = KActusAnonymizer(k=5).anonymize(SHOP, ["same"] * 14)
    assert (
        (r.data.astype(str) == "*").all(axis=None)
        and len(r.lost) == 0
        and r.audit.holds
        and r.audit.suppressed_rows == 14
    )


def test_where_nobody_has_slack_a_batch_joins_the_root():
    tool = KActusAnonymizer(
        k=3, inducer=C45Classifier(prune=False), shortfall="top_up", random_state=0
    )
    r = tool.anonymize(SHOP, BOUGHT)
    assert (
        len(r.data) == 14
        and sorted(map(len, tool.climb_.batches)) == [3, 3, 3, 5]
        and r.audit.holds
    )


@pytest.mark.parametrize(
    "inducer",
    [
        C45Classifier(binary_splits=True, prune=False),
        C45Classifier(binary_splits=True, prune=False).fit(SHOP, BOUGHT),
    ],
)
def test_grouped_branches(inducer):
    with pytest.raises(
        ValueError,
        match="'inducer' must have one branch for each value with merge='none'.*merge='sets'",
    ):
        (
            KActusAnonymizer(k=3, inducer=inducer).fit(
                SHOP.assign(Gender=list("abcabcabcabcab")), BOUGHT
            )
            if not hasattr(inducer, "tree_")
            else KActusAnonymizer(k=3, inducer=inducer).fit(SHOP, BOUGHT)
        )


def test_what_cannot_be_done():
    X = SHOP.assign(Zip=range(14))
    with pytest.raises(ValueError, match="quasi_identifiers.*must not hold the class"):
        KActusAnonymizer(quasi_identifiers=["Age", "Bought"]).fit(
            SHOP.assign(Bought=BOUGHT), BOUGHT
        )
    with pytest.raises(ValueError, match="'k' must not exceed"):
        KActusAnonymizer(k=15).fit(SHOP, BOUGHT)
    with pytest.raises(ValueError, match="'y' must be given: the wrapped tree"):
        KActusAnonymizer(k=3).fit(SHOP)
    with pytest.raises(
        ValueError, match="'inducer' must ask quasi-identifiers only.*asks 'Marital'"
    ):
        KActusAnonymizer(
            k=3,
            published=["Marital"],
            inducer=C45Classifier(prune=False).fit(SHOP, BOUGHT),
        ).fit(SHOP, BOUGHT)
    with pytest.raises(
        TypeError, match="'inducer' must be a classifier with one tree.*PARTClassifier"
    ):
        KActusAnonymizer(k=3, inducer=PARTClassifier()).fit(SHOP, BOUGHT)
    with pytest.raises(
        TypeError, match="'inducer' must be a classifier with a tree, a Tree, or None. Got 'c45'"
    ):
        KActusAnonymizer(k=3, inducer="c45").fit(SHOP, BOUGHT)
    with pytest.raises(ValueError, match="'inducer' must ask columns as they are.*'Gender'"):
        KActusAnonymizer(
            k=3,
            quasi_identifiers=["Gender"],
            published=["Marital", "Age"],
            inducer=make_pipeline(OneHotEncoder(), DecisionTreeClassifier()).fit(
                SHOP[["Gender"]], BOUGHT
            ),
        ).fit(SHOP, BOUGHT)
    for name in ("rule", "numeric", "shortfall", "selection", "merge"):
        with pytest.raises(ValueError, match=f"'{name}' must be one of .*Got 'other'"):
            KActusAnonymizer(k=3, **{name: "other"}).fit(SHOP, BOUGHT)
    with pytest.raises(ValueError, match="must have no missing values"):
        KActusAnonymizer(k=3).fit(X.assign(Age=X.Age.where(X.Age > 30)), BOUGHT)


@pytest.mark.parametrize(
    "inducer",
    [
        None,
        ID3Classifier(),
        C45Classifier(prune=False),
        KADETClassifier(k=1),
        DecisionTreeClassifier(max_depth=3, random_state=0),
        C45Classifier(binary_splits=True),
    ],
)
def test_other_trees(inducer):
    t = make_population(400, random_state=1)
    X, y = t.drop(columns="income"), t.income
    numbers = isinstance(inducer, DecisionTreeClassifier)
    X = (
        X.select_dtypes("number")
        if numbers
        else (
            X[["education", "region"]]
            if isinstance(inducer, (ID3Classifier, KADETClassifier))
            else X
        )
    )
    tool = KActusAnonymizer(k=8, inducer=inducer, merge="sets", random_state=0)
    r = tool.anonymize(X, y)
    assert r.audit.holds and len(r.lost) < 8 and r.audit.n_classes > 1
    fitted = tool.inducer_
    again = KActusAnonymizer(
        k=8, inducer=FrozenEstimator(fitted), merge="sets", random_state=0
    ).anonymize(X, y)
    assert again.text().equals(r.text())
    # learnt from an array: columns by position
    if numbers:
        bare = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X.to_numpy(), y)
        assert (
            KActusAnonymizer(k=8, inducer=bare, merge="sets", random_state=0)
            .anonymize(X, y)
            .audit.holds
        )


def test_a_fitted_tree_needs_no_class():
    tree = C45Classifier(prune=False).fit(SHOP, BOUGHT)
    r = KActusAnonymizer(k=3, inducer=tree, random_state=0).anonymize(SHOP)
    assert r.y is None and r.audit.holds and r.lost.tolist() == [0, 1]
    assert (
        KActusAnonymizer(k=3, inducer=tree.tree_, random_state=0)
        .anonymize(SHOP)
        .text()
        .equals(r.text())
    )


def test_a_missing_value_stays_at_the_question():
    X = SHOP.assign(Gender=SHOP.Gender.where(SHOP.index > 4))
    tool = KActusAnonymizer(
        k=3,
        inducer=C45Classifier(prune=False).fit(SHOP, BOUGHT),
        missing="category",
        random_state=0,
    )
    r = tool.anonymize(X, BOUGHT)
    assert "missing" not in r.text().to_string() and r.audit.holds
    # the four who do not say it wait at the root
    assert tool.climb_.log.set_index("node").nui[0] >= 4


def test_dates_and_codes():
    X = pd.DataFrame(
        {
            "born": pd.to_datetime(
                ["1960-05-01", "1961-01-01", "1962-02-02", "1990-01-01", "1991-06-06", "1992-07-07"]
            ),
            "code": [1, 1, 1, 2, 2, 2],
        }
    )
    y = list("aaabbb")
    r = KActusAnonymizer(k=3, published=["code"]).anonymize(X, y)
    assert r.data.born.astype(str).unique().tolist() == ["~1961-01-01", "~1991-06-06"]
    r = KActusAnonymizer(k=3, published=["code"], numeric="path").anonymize(X, y)
    assert r.data.born.astype(str).unique().tolist() == [
        "[1960-05-01, 1962-02-02]",
        "[1990-01-01, 1992-07-07]",
    ]
    r = KActusAnonymizer(k=3, published=["born"], categorical=["code"]).anonymize(X, y)
    assert r.data.code.tolist() == [1, 1, 1, 2, 2, 2]


def test_what_is_saved_names_nobody():
    t = make_population(600, random_state=2)
    X = t.drop(columns="income").assign(
        job=np.where(np.arange(600) < 3, "astronaut", np.where(t.age > 40, "clerk", "cook"))
    )
    y = pd.Series(np.where(np.arange(600) < 3, "rare", t.income), name="income").astype(
        pd.CategoricalDtype(["rare", *sorted(set(t.income)), "unborn"])
    )
    tool = KActusAnonymizer(
        k=20, inducer=C45Classifier(min_samples_leaf=1, prune=False), random_state=0
    ).fit(X, y)
    assert "astronaut" not in tool.release_.text().to_string()
    saved = pickle.dumps(tool)
    # nor classes, in a tool that only recodes
    assert b"astronaut" not in saved and b"unborn" not in saved and b"rare" not in saved
    back = pickle.loads(saved)
    pd.testing.assert_frame_equal(back.transform(X), tool.transform(X))
    assert not any(hasattr(back, o) for o in ("tree_", "climb_", "inducer_", "release_"))


@pytest.mark.parametrize("test", ["raw", "recoded"])
def test_learners_read_it(test, tmp_path):
    t = make_population(2000, random_state=3)
    X, y = t.drop(columns="income"), t.income
    clf = AnonymizedClassifier(
        KActusAnonymizer(k=10, random_state=0), C45Classifier(), test=test
    ).fit(X, y)
    most = y.value_counts(normalize=True).max()
    assert clf.score(X, y) > most
    r = KActusAnonymizer(k=10, random_state=0).anonymize(X, y)
    r.to_csv(tmp_path / "out.csv")
    back = read_release(tmp_path / "out.csv")
    assert np.array_equal(
        C45Classifier().fit(back.data, back.y).predict_proba(X),
        C45Classifier().fit(r.data, r.y).predict_proba(X),
    )
