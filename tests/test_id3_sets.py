"""ID3 on sets: the fast learner is the textbook's, and every bad input has its message."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from sklearn.base import clone

from ppdt._textbook import _textbook_gain, _textbook_id3_sets
from ppdt.datasets import load_customers, load_salaries
from ppdt.engine.paths import path_answer
from ppdt.engine.range_pieces import range_pieces, shares_of_pieces
from ppdt.id3_sets import (
    CONVERSIONS,
    ENTROPIES,
    GeneralizedID3Classifier as ID3Sets,
    cell_members,
    draw_members,
    make_marginals,
    most_frequent_members,
    weigh_members,
)
from ppdt.tables import (
    Centroid,
    Exact,
    Interval,
    MixedTypesWarning,
    Node,
    Suppressed,
    ValueSet,
    cells,
)
from ppdt.trees import decision_path, grow, information_gain, tree_from_json, tree_json

TREATMENTS = [dict(entropy=e) for e in ENTROPIES] + [
    dict(convert=c) for c in ("most_frequent", "fractional")
]


def nested(t, i=0):
    """A Tree as the textbook writes it"""
    counts = {c: int(n) for c, n in zip(t.classes, t.counts[i]) if n}
    a = t.attribute[i]
    return (
        (counts, None, {})
        if a < 0
        else (counts, t.names[a], {t.values[a][t.code[k]]: nested(t, k) for k in t.children(i)})
    )


def as_textbook(d):
    """What the textbook wants, from what the grower gets"""
    sets = {
        o: [
            frozenset(v[c] if c >= 0 else None for c in m.value[m.start[i] : m.start[i + 1]])
            for i in m.codes
        ]
        for o, v, m in zip(d.names, d.values, d.score)
    }
    goes = {
        o: [v[m.value[m.start[i]]] if v else None for i in m.codes]
        for o, v, m in zip(d.names, d.values, d.route)
    }
    return sets, goes, list(d.classes[d.y])


@st.composite
def tables_of_sets(draw, only_exact=False):
    """Tables with sets, suppressed and missing cells, and a class"""
    n, out = draw(st.integers(1, 14)), {}
    for name in draw(st.sampled_from([["u"], ["u", "v"], ["w", "u", "v"]])):
        pool = draw(
            st.sampled_from(
                [
                    ["a", "b"],
                    ["a", "b", "c", "d"],
                    [3, 1, 2],
                    [True, False],
                    ["x, y", "{", "*", "", " z"],
                ]
            )
        )
        one = st.sampled_from(pool).map(Exact)
        cell = (
            one
            if only_exact
            else st.one_of(
                one, st.sets(st.sampled_from(pool), min_size=1).map(ValueSet), st.just(Suppressed())
            )
        )
        out[name] = pd.Series(draw(st.lists(cell, min_size=n, max_size=n)), dtype=object)
    return pd.DataFrame(out), pd.Series(
        draw(st.lists(st.sampled_from(["no", "yes", "maybe"]), min_size=n, max_size=n)),
        name="class",
    )


@given(tables_of_sets(), st.sampled_from(TREATMENTS[:4]), st.integers(0, 3))
def test_fast_is_textbook(t, how, seed):
    X, y = t
    clf = ID3Sets(random_state=seed, **how)
    clf.classes_, codes = np.unique(y.to_numpy(dtype=object), return_inverse=True)
    d = clf._data(X, codes, np.ones(len(codes)))
    assert nested(grow(d)) == _textbook_id3_sets(*as_textbook(d))


@one_in(2)
@given(tables_of_sets(only_exact=True), st.sampled_from(TREATMENTS))
def test_without_sets_all_treatments_are_plain_id3(t, how):
    X, y = t
    plain, tree = (
        ID3Sets().fit(X.map(lambda c: c.value), y).tree_,
        ID3Sets(random_state=0, **how).fit(X, y).tree_,
    )
    if how.get("entropy") != "own_value":
        assert nested(tree) == nested(plain)
    # branches carry cells, perhaps in another order
    else:
        assert sorted(map(tuple, tree.counts)) == sorted(map(tuple, plain.counts))


@one_in(2)
@given(tables_of_sets(), st.sampled_from(TREATMENTS), st.integers(0, 3))
def test_counts_add_up_and_rows_stay_in_their_sets(t, how, seed):
    X, y = t
    clf = ID3Sets(random_state=seed, **how).fit(X, y)
    tree = clf.tree_
    assert tree.counts[0].sum() == pytest.approx(len(X))
    for i in np.flatnonzero(tree.attribute >= 0):
        np.testing.assert_allclose(
            tree.counts[tree.children(i)].sum(axis=0), tree.counts[i], atol=1e-9
        )
    d = clf._data(X, np.searchsorted(clf.classes_, y), np.ones(len(y)))
    for s, r in zip(d.score, d.route):
        for a, b in zip(s.codes, r.codes):
            assert set(r.value[r.start[b] : r.start[b + 1]]) <= set(
                s.value[s.start[a] : s.start[a + 1]]
            )
    p = clf.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert set(clf.predict(X)) <= set(y)


@one_in(2)
@given(tables_of_sets(), st.sampled_from(TREATMENTS), st.randoms(use_true_random=False))
def test_row_order_and_index_do_not_matter(t, how, rnd):
    X, y = t
    rows = list(range(len(X)))
    rnd.shuffle(rows)
    other = ID3Sets(random_state=0, **how).fit(
        X.iloc[rows].set_axis([7] * len(X)), y.iloc[rows].to_numpy()
    )
    assert tree_json(ID3Sets(random_state=0, **how).fit(X, y.to_numpy()).tree_, True) == tree_json(
        other.tree_, True
    )


@given(tables_of_sets())
def test_weights_understate_the_gain_of_a_draw(t):
    X, y = t
    sets = [
        sorted(c.values, key=str) if not isinstance(c, Suppressed) else ["a", "other"]
        for c in X["u"]
    ][:6]
    y = list(y)[:6]
    gains = (
        [_textbook_gain([[v] for v in d], y) for d in itertools.product(*sets)]
        if np.prod([len(s) for s in sets]) <= 64
        else None
    )
    assert 0 <= _textbook_gain(sets, y) <= np.log2(3) + 1e-9
    assert gains is None or _textbook_gain(sets, y) <= np.mean(gains) + 1e-9


def test_table_iii():
    t = load_salaries()
    codes, cs = cells(t.Sex)
    m = cell_members(codes, cs, ["F", "M"])
    high = (t.Salary == ">50").to_numpy().astype(int)
    i, v, w = m.expand(np.arange(8))
    assert np.bincount(v, w).tolist() == [5.5, 2.5]
    assert information_gain(np.bincount(2 * v + high[i], w).reshape(2, 2)) == pytest.approx(
        0.069833173, abs=1e-9
    )
    assert most_frequent_members(m, 2).codes.tolist() == [
        0 if len(cs[c].values) > 1 else "FM".index(cs[c].value) for c in codes
    ]


@given(st.lists(st.floats(0, 5), min_size=3, max_size=3), st.integers(0, 9))
def test_draws_follow_the_weights(p, seed):
    m = weigh_members(cell_members([0, 1, 0], [ValueSet(list("abc")), Exact("b")], list("abc")), p)
    np.testing.assert_allclose(m.weight[:3], np.array(p) / sum(p) if sum(p) > 0 else 1 / 3)
    drawn = draw_members(m, np.random.default_rng(seed), 3)
    value = drawn.value[drawn.codes]
    assert value[1] == 1 and (sum(p) == 0 or all(p[c] > 0 for c in value[[0, 2]]))


# what is asked


def test_sets_are_answered_by_the_mean_of_their_branches():
    X, y = load_customers().drop(columns=["Bought", "Age"]), load_customers().Bought
    clf = ID3Sets().fit(X, y)
    both = pd.DataFrame(
        {"Gender": [ValueSet(["Female", "Male"]), Suppressed(), None], "Marital": ["Married"] * 3}
    )
    each = clf.predict_proba(
        pd.DataFrame({"Gender": ["Female", "Male"], "Marital": ["Married"] * 2})
    )
    np.testing.assert_allclose(clf.predict_proba(both), [each.mean(axis=0)] * 3)


def test_unseen_value_gets_the_majority_of_the_node_reached():
    X = pd.DataFrame(
        {"a": ["x"] * 5 + ["y"] * 4, "b": ["u", "u", "v", "v", "v", "u", "u", "u", "u"]}
    )
    clf = ID3Sets().fit(X, [1, 1, 0, 0, 0] + [1] * 4)
    ask = pd.DataFrame({"a": ["x", "new", "x"], "b": ["new", "u", ValueSet(["u", "new"])]})
    order = [clf.tree_.names[clf.tree_.attribute[0]]]
    assert order == ["b"]
    assert clf.predict(ask).tolist() == [1, 1, 1]
    half = clf.predict_proba(ask)[2]
    np.testing.assert_allclose(half, 0.5 * np.array([0, 1]) + 0.5 * np.array([3, 6]) / 9)


def test_own_value_answers_published_rows_by_their_sets():
    X = pd.DataFrame(
        {
            "a": pd.Series(
                [ValueSet(list("xy")), ValueSet(list("xy")), Exact("x"), Exact("x"), None],
                dtype=object,
            )
        }
    )
    clf = ID3Sets(entropy="own_value").fit(X, list("nnyyn"))
    ask = pd.DataFrame(
        {"a": pd.Series([ValueSet(list("yx")), "x", "y", None, Suppressed()], dtype=object)}
    )
    assert clf.predict(ask).tolist() == list("nynnn")


def test_columns_in_another_order_and_extra_ones():
    X, y = load_customers().drop(columns="Bought"), load_customers().Bought
    clf = ID3Sets(features=["Marital", "Gender"]).fit(X, y)
    for T in (X, X[["Age", "Marital", "Gender"]], X[["Gender", "Marital"]]):
        assert clf.predict(T).tolist() == clf.predict(X).tolist()
    every = ID3Sets().fit(X.assign(Age=X.Age // 20), y)
    with pytest.raises(ValueError, match="Unexpected: more"):
        every.predict(X.assign(Age=X.Age // 20, more=1))


# what works


def test_small_and_odd_tables():
    X = pd.DataFrame({"a": ["x", "y", "x"], "c": ["z"] * 3})
    one_class = ID3Sets().fit(X, ["k"] * 3)
    assert len(one_class.tree_) == 1 and one_class.predict(X).tolist() == ["k"] * 3
    assert ID3Sets().fit(X.iloc[:1], ["k"]).predict(X).tolist() == ["k"] * 3
    # a constant column divides nothing
    assert len(ID3Sets().fit(X[["c"]], [1, 0, 0]).tree_) == 1
    same = ID3Sets().fit(X.set_axis([5, 5, 5]), [1, 0, 1])
    assert same.predict(X).tolist() == [1, 0, 1]
    gone = ID3Sets().fit(
        pd.DataFrame({"a": pd.Series([None] * 3, dtype=object), "b": list("xyx")}), [1, 0, 1]
    )
    assert gone.predict(pd.DataFrame({"a": ["q"], "b": ["y"]})).tolist() == [0]


def test_declared_categories_and_their_order():
    X = pd.DataFrame(
        {"a": pd.Categorical(["lo", "hi", "lo"], ["lo", "mid", "hi", "never"], ordered=True)}
    )
    clf = ID3Sets().fit(X, [0, 1, 0])
    assert clf.tree_.values == [["lo", "hi"]]
    assert clf.predict(
        pd.DataFrame({"a": pd.Categorical(["mid", "hi"], ["mid", "hi"])})
    ).tolist() == [0, 1]


def test_mixed_text_and_numbers_are_text_with_a_warning():
    X = pd.DataFrame({"a": pd.Series([1, "b", 1, "b", 2], dtype=object)})
    with pytest.warns(MixedTypesWarning):
        clf = ID3Sets().fit(X, list("nynyn"))
    assert clf.tree_.values == [["1", "2", "b"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert clf.predict(pd.DataFrame({"a": [1, 2]})).tolist() == ["n", "n"]
        assert clf.predict(pd.DataFrame({"a": ["b", "1"]})).tolist() == ["y", "n"]


def test_ten_thousand_values():
    X = pd.DataFrame({"a": [f"v{i}" for i in range(10_000)], "b": ["x", "y"] * 5000})
    clf = ID3Sets().fit(X, ["n", "y"] * 5000)
    assert clf.tree_.n_leaves in (2, 10_000) and clf.score(X, ["n", "y"] * 5000) == 1


def test_arrays_and_clones():
    X = np.array([["x", "u"], ["y", "u"], ["y", "v"]])
    clf = clone(ID3Sets(random_state=np.random.RandomState(0))).fit(X, [0, 1, 1])
    assert (
        clf.predict(X).tolist() == [0, 1, 1]
        and clf.n_features_in_ == 2
        and not hasattr(clf, "feature_names_in_")
    )


# what does not work

A = pd.DataFrame({"a": list("xyxy"), "b": list("uuvv")})
BAD = {
    "entropy": (dict(entropy="gini"), "'entropy' must be one of 'equal_prob'"),
    "convert": (dict(convert="mean"), "'convert' must be one of"),
    "both": (
        dict(entropy="own_value", convert="fractional"),
        "'convert' applies to entropy='equal_prob' only",
    ),
    "depth": (dict(max_depth=-1), "'max_depth' must be None or an integer"),
    "truth": (dict(max_depth=True), "'max_depth'"),
    "gain": (dict(min_gain="0"), "'min_gain' must be"),
    "weight": (dict(min_weight=-1), "'min_weight' must be a number"),
    "fragment": (dict(min_fragment=None), "'min_fragment'"),
    "seed": (dict(random_state="x"), "'random_state' must be"),
    "negative": (dict(random_state=-1), "'random_state' must be"),
    "text": (dict(features="a"), r"'features' must be a list"),
    "unknown": (dict(features=["z"]), "'features' must name columns of the table. Got 'z'"),
    "none": (dict(features=[]), "'features' must name at least one"),
    "twice": (dict(features=["a", "a"]), "once"),
    "marginals": (dict(marginals=[1]), "'marginals' must be None or a dict"),
    "marginals_k": (dict(marginals_k=0), "'marginals_k' must be"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_parameters(name):
    with pytest.raises(ValueError, match=BAD[name][1]):
        ID3Sets(**BAD[name][0]).fit(A, [0, 1, 1, 0])


@pytest.mark.parametrize(
    "cell, what", [(Node("n"), "a taxonomy node"), (Centroid(2), "a centroid")]
)
def test_cells_that_are_no_sets(cell, what):
    X = pd.DataFrame({"a": pd.Series([cell, Exact(7)], dtype=object)})
    with pytest.raises(
        ValueError, match=f"Column 'a' must hold values or sets of values. Got {what}.*set recoding"
    ):
        ID3Sets().fit(X, [0, 1])
    clf = ID3Sets().fit(pd.DataFrame({"a": [1, 7]}), [0, 1])
    with pytest.raises(ValueError, match=what):
        clf.predict(X)


def test_ranges_that_are_not_read():
    """Among words, as values of their own, of dates, and asked of a tree over words"""
    words = pd.DataFrame({"a": pd.Series([Interval(1, 3), Exact("b")], dtype=object)})
    dates = [Interval(pd.Timestamp(2020 + i, 1, 1), pd.Timestamp(2021 + i, 1, 1)) for i in (0, 2)]
    dates = pd.DataFrame({"a": pd.Series(dates, dtype=object)})
    ranges = pd.DataFrame({"a": pd.Series([Interval(1, 3), Interval(5, 7)], dtype=object)})
    for how, X in (({}, words), ({}, dates), (dict(entropy="own_value"), ranges)):
        with pytest.raises(ValueError, match="Got an interval.*set recoding"):
            ID3Sets(**how).fit(X, [0, 1])
    with pytest.raises(ValueError, match="Got an interval"):
        ID3Sets().fit(pd.DataFrame({"a": ["b", "c"]}), [0, 1]).predict(ranges)


# ---------------------------------------------------------------- ranges
_ends = st.integers(0, 12) | st.sampled_from([0.5, 2.5, 7.25])


@st.composite
def _ranges(draw):
    """Cells of a column of numbers, some of them ranges"""
    cells = []
    for _ in range(draw(st.integers(1, 10))):
        lo, hi = sorted((draw(_ends), draw(_ends)))
        kind = draw(st.sampled_from(["open", "closed", "one", "set"]))
        if kind == "open" and lo < hi:
            cells.append(Interval(lo, hi, True))
        elif kind in ("open", "closed") and lo < hi:
            cells.append(Interval(lo, hi))
        else:
            cells.append(Exact(lo) if kind == "one" else ValueSet({lo, hi}))
    return cells


def _holds(cell, x):
    """Does a cell hold a number? Ranges of whole numbers end before the next one"""
    if not isinstance(cell, Interval):
        return x in getattr(cell, "values", {cell})
    whole = isinstance(cell.lo, int) and isinstance(cell.hi, int)
    if cell.hi_open:
        return cell.lo <= x < cell.hi
    return cell.lo <= x < cell.hi + 1 if whole else cell.lo <= x <= cell.hi


def _limits(cell):
    """Where a range begins and ends on the line, a number in itself"""
    if not isinstance(cell, Interval):
        return (cell, cell) if not hasattr(cell, "values") else (*cell.values, *cell.values)
    whole = isinstance(cell.lo, int) and isinstance(cell.hi, int)
    return cell.lo, cell.hi + 1 if whole and not cell.hi_open else cell.hi


@given(_ranges())
def test_pieces_of_ranges(cells):
    """They do not overlap, hold what the cells hold, and none is cut by the end of a range"""
    pieces = range_pieces(cells)
    line = np.arange(0, 14, 0.125).tolist()
    for x in line:
        assert sum(_holds(o, x) for o in pieces) == any(_holds(c, x) for c in cells)
    for c in cells:
        codes, weights = shares_of_pieces(c, pieces)
        assert weights.sum() == pytest.approx(1) and (codes >= 0).all() and (weights > 0).all()
        if isinstance(c, Interval):
            inside = [
                i for i, o in enumerate(pieces) if any(_holds(o, x) and _holds(c, x) for x in line)
            ]
            assert set(inside) <= set(codes.tolist())
            lo, hi = _limits(c)
            of = [_limits(pieces[i]) for i in codes]
            wide = [(min(hi, b) - max(lo, a)) / (hi - lo) for a, b in of]
            assert weights == pytest.approx(wide, abs=1e-9)
        else:
            for v in c.values:
                assert any(_holds(pieces[i], v) for i in codes)


@one_in(7)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.booleans()), min_size=4))
def test_ranges_that_do_not_overlap_are_values(rows):
    """As a coarser table: the tree is that over four words, and raw numbers find their range"""
    i, y, other = map(list, zip(*rows))
    b = [str(o) for o in other]
    ranges = [Interval(10 * o, 10 * o + 10, True) for o in range(4)]
    X = pd.DataFrame({"a": pd.Series([ranges[o] for o in i], dtype=object), "b": b})
    words = pd.DataFrame({"a": [f"w{o}" for o in i], "b": b})
    raw = pd.DataFrame({"a": [10 * o + 3 for o in i], "b": b})
    for convert in ("fractional", "random", "most_frequent"):
        mine, theirs = (ID3Sets(convert=convert, random_state=0).fit(o, y) for o in (X, words))
        assert np.array_equal(mine.tree_.counts, theirs.tree_.counts)
        p = theirs.predict_proba(words)
        assert np.array_equal(mine.predict_proba(X), p)
        assert np.array_equal(mine.predict_proba(raw), p)


@one_in(2)
@given(_ranges(), st.data())
def test_the_path_of_a_range_is_the_answer(cells, data):
    y = data.draw(st.lists(st.integers(0, 1), min_size=len(cells), max_size=len(cells)))
    X = pd.DataFrame({"a": pd.Series(cells, dtype=object)})
    clf = ID3Sets(convert="fractional", min_weight=0, min_fragment=0).fit(X, y)
    asked = pd.DataFrame({"a": pd.Series([*cells, Exact(1), Suppressed()], dtype=object)})
    back = tree_from_json(tree_json(clf.tree_, counts=True))
    for row, p in zip(asked.to_dict("records"), clf.predict_proba(asked)):
        for tree in (clf.tree_, back):
            steps = decision_path(tree, row, rule="id3_sets")
            assert path_answer(tree, steps) == pytest.approx(p)


def test_published_counts_of_ranges():
    ages = [20, 25, 31, 31, 38]
    X = pd.DataFrame({"age": pd.Series([Interval(20, 40), Interval(20, 29), Interval(30, 40)])})
    clf = ID3Sets(convert="original_distribution", marginals_k=1, random_state=0)
    clf.marginals = {"age": {v: ages.count(v) for v in set(ages)}}
    n = np.mean(
        [clf.set_params(random_state=i).fit(X, [0, 1, 1]).tree_.n[1:] for i in range(300)], 0
    )
    assert n == pytest.approx([1 + 2 / 5, 1 + 3 / 5], abs=0.1)


@pytest.mark.parametrize(
    "column", [np.arange(21), np.arange(21) / 2, pd.date_range("2020-01-01", periods=21)]
)
def test_raw_numbers_with_many_values(column):
    with pytest.raises(
        ValueError, match="must be categorical. Got raw numbers with 21 .*set recoding.*C4.5"
    ):
        ID3Sets().fit(pd.DataFrame({"a": column}), [0, 1, 0] * 7)
    assert ID3Sets().fit(pd.DataFrame({"a": column[:20]}), [0, 1] * 10).tree_.n_leaves == 20


def test_bad_classes_and_columns():
    for y, what in (
        (None, "'y' must be the class"),
        ([0, 1], "one value for each row"),
        ([0, 1, None, 1], "'y' must have no missing values. Got 1"),
        ([0.1, 0.2, 0.3, 0.4], "Unknown label type"),
    ):
        with pytest.raises(ValueError, match=what):
            ID3Sets().fit(A, y)
    clf = ID3Sets().fit(A, [0, 1, 1, 0])
    with pytest.raises(ValueError, match="Missing: b"):
        clf.predict(A[["a"]])
    with pytest.raises(ValueError, match="Unexpected: c"):
        clf.predict(A.assign(c=1))


def test_marginals_below_k_are_refused():
    X = pd.DataFrame({"a": ["x"] * 5 + ["y"] * 2, "b": ["u"] * 7})
    assert make_marginals(X, ["a", "b"], k=2) == {"a": {"x": 5, "y": 2}, "b": {"u": 7}}
    with pytest.raises(ValueError, match="counts below k=3. Got 2 for 'y' in 'a'"):
        make_marginals(X, ["a"], k=3)
    with pytest.raises(ValueError, match="'columns' must name"):
        make_marginals(X, ["z"])
    S = pd.DataFrame({"a": pd.Series([ValueSet(list("xy"))] * 4 + [Exact("x")] * 3, dtype=object)})
    with pytest.raises(ValueError, match="original table"):
        make_marginals(S, ["a"], k=1)
    fit = lambda **kw: ID3Sets(convert="original_distribution", random_state=0, **kw).fit(
        S, [0, 1, 0, 1, 0, 0, 0]
    )
    with pytest.raises(ValueError, match="Got none for 'a'"):
        fit()
    with pytest.raises(ValueError, match="below marginals_k=5. Got 2 for 'y'"):
        fit(marginals={"a": {"x": 5, "y": 2}})
    # nobody is drawn to be y
    assert len(fit(marginals={"a": {"x": 5}}).tree_) == 1
    assert CONVERSIONS[0] == "random"
