"""Releases as matrices: weights, numbers and gaps against plain loops, and scikit-learn's own
encoders on raw rows.
"""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import assume, given, strategies as st
from python_lines import python_lines
from random_tables import tables
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from ppdt.datasets import fetch_adult, load_customers
from ppdt.encoder import ReleaseEncoder
from ppdt.generalization import Taxonomy, recode
from ppdt.mondrian import MondrianAnonymizer
from ppdt.release import AnonymizedClassifier, read_release
from ppdt.tables import (
    MISSING,
    Centroid,
    Exact,
    Interval,
    MixedTypesWarning,
    Node,
    Suppressed,
    ValueSet,
    cell_column,
    cells,
)
from ppdt.tds import TDSAnonymizer

# random texts may look like cells
pytestmark = pytest.mark.filterwarnings("ignore:column 'w' holds texts such as")
CUSTOMERS = load_customers()
X, y = CUSTOMERS[["Gender", "Marital", "Age"]], CUSTOMERS.Bought
R = MondrianAnonymizer(k=3).anonymize(X, y)
JOBS = Taxonomy.from_dict(
    {"any": {"office": ["clerk", "typist"], "yard": ["driver", "smith", "welder"]}}
)


def column(items):
    return cell_column(*_coded(items))


def _coded(items):
    found = list(dict.fromkeys(o for o in items if o is not None))
    return [-1 if o is None else found.index(o) for o in items], found


# random cells
# --------------------------------------------------------------------------------------------------

WORDS, NUMBERS = ["a", "b", "c,d", "*", "1"], [-3, 0, 1, 2.5, 40]


def categorical_cell():
    return st.one_of(
        st.sampled_from(WORDS).map(Exact),
        st.sets(st.sampled_from(WORDS), min_size=1).map(ValueSet),
        st.sampled_from(WORDS).map(Centroid),
        st.just(Suppressed()),
        st.none(),
    )


def numeric_cell():
    ends = st.lists(st.sampled_from(NUMBERS), min_size=2, max_size=2).map(sorted)
    return st.one_of(
        st.sampled_from(NUMBERS).map(Exact),
        st.sets(st.sampled_from(NUMBERS), min_size=1).map(ValueSet),
        ends.map(lambda e: Interval(*e)),
        st.sampled_from(NUMBERS).map(Centroid),
        st.just(Suppressed()),
        st.none(),
    )


@st.composite
def published(draw):
    """Cells of one categorical and one numeric column, with a number among the numeric ones"""
    rows = draw(
        st.lists(st.tuples(categorical_cell(), numeric_cell()), min_size=1, max_size=12)
    ) + [(None, Exact(7))]
    return (
        pd.DataFrame({"w": column([o for o, _ in rows]), "n": column([o for _, o in rows])}),
        rows,
    )


def naive(rows, weights="uniform"):
    """The whole encoding with dicts and loops, weights and midpoints"""

    def members(c):
        return (
            []
            if c is None or isinstance(c, Suppressed)
            else [c.value]
            if isinstance(c, Centroid)
            else list(c.values)
        )

    def middle(c):
        return (
            None
            if c is None or isinstance(c, Suppressed)
            else (c.lo + c.hi) / 2
            if isinstance(c, Interval)
            else sum(members(c)) / len(members(c))
        )

    values = sorted({v for w, _ in rows for v in members(w)})
    one = [{v: 1 / len(members(w)) for v in members(w)} for w, _ in rows]
    known = [o for o in one if o]
    p = {v: sum(o.get(v, 0) for o in known) / len(known) for v in values}
    if weights == "distribution":
        one = [{v: p[v] / sum(p[u] for u in o) for v in o} for o in one]
    mids = [middle(n) for _, n in rows]
    mean = sum(m for m in mids if m is not None) / sum(m is not None for m in mids)
    return [
        [(o or p).get(v, 0) for v in values] + [mean if m is None else m] for o, m in zip(one, mids)
    ]


@given(published(), st.sampled_from(["uniform", "distribution"]))
def test_equals_loops(table, weights):
    t, rows = table
    m = ReleaseEncoder(sets="weights", weights=weights).fit_transform(t)
    np.testing.assert_allclose(m, naive(rows, weights), atol=1e-12)
    assert m.dtype == np.float64


@one_in(2)
@given(
    published(),
    st.sampled_from(["weights", "token"]),
    st.sampled_from(["uniform", "distribution"]),
    st.lists(categorical_cell(), min_size=1, max_size=8),
)
def test_blocks_sum_to_one_or_to_nothing(table, sets, weights, new):
    t, rows = table
    e = ReleaseEncoder(sets=sets, weights=weights).fit(t)
    block = e.transform(t)[:, :-1].sum(axis=1)
    if block.size and len(e.columns_[0].values):
        np.testing.assert_allclose(block, 1)
    other = pd.DataFrame({"w": column(new), "n": [7] * len(new)})
    s = e.transform(other)[:, :-1].sum(axis=1)
    assert np.all(np.isclose(s, 1) | (s == 0))


@one_in(2)
@given(published())
def test_numbers_lie_within_their_cells(table):
    t, rows = table
    mid, ends = (
        ReleaseEncoder(sets="weights").fit_transform(t)[:, -1],
        ReleaseEncoder(sets="weights", numeric="bounds").fit_transform(t)[:, -2:],
    )
    for m, (lo, hi), (_, c) in zip(mid, ends, rows):
        if c is None or isinstance(c, Suppressed):
            continue
        v = (
            [c.lo, c.hi]
            if isinstance(c, Interval)
            else [c.value]
            if isinstance(c, Centroid)
            else c.values
        )
        assert (lo, hi) == (min(v), max(v)) and lo <= m <= hi
    assert (ends[:, 0] <= ends[:, 1]).all()


PARAMETERS = [
    {},
    {"weights": "distribution"},
    {"sets": "token", "missing": "indicator"},
    {"numeric": "bounds"},
]


@one_in(4)
@given(published(), st.randoms(use_true_random=False), st.sampled_from(PARAMETERS))
def test_row_order_column_order_and_batches_do_not_matter(table, random, p):
    t, _ = table
    order = random.sample(range(len(t)), len(t))
    e, f = ReleaseEncoder(**p).fit(t), ReleaseEncoder(**p).fit(t.iloc[order])
    m = e.transform(t)
    assert m[order].tobytes() == f.transform(t.iloc[order]).tobytes()  # to the last bit
    assert e.transform(t[["n", "w"]]).tobytes() == m.tobytes()
    half = len(t) // 2
    assert (
        np.vstack([e.transform(o) for o in (t[:half], t[half:]) if len(o)]).tobytes() == m.tobytes()
    )
    names = e.get_feature_names_out()
    assert (
        names.tolist()
        == f.get_feature_names_out().tolist()
        == e.get_feature_names_out(["w", "n"]).tolist()
    )
    assert len(set(names)) == len(names) == m.shape[1]
    assert e.fit(t).get_feature_names_out().tolist() == names.tolist()
    assert pickle.loads(pickle.dumps(e)).transform(t).tobytes() == m.tobytes()
    s = clone(e).set_params(sparse_output=True).fit(t).transform(t)
    assert sparse.issparse(s) and (s.toarray() == m).all()


def _sorted(m):
    return m[np.lexsort(m.T[::-1])] if m.shape[1] else m


@one_in(12)
@given(
    tables(),
    st.sampled_from(["weights", "token", "draw"]),
    st.sampled_from(["midpoint", "bounds"]),
    st.sampled_from(["impute", "mode", "other", "indicator"]),
)
def test_a_file_gives_the_same_matrix(tmp_path_factory, table, sets, numeric, missing):
    X, y, p = table
    p = p | {"missing": "category", "k": max(2, p["k"]) if len(X) > 1 else 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixedTypesWarning)
        r = MondrianAnonymizer(**p).anonymize(X, y)
        path = tmp_path_factory.mktemp("r") / "out.csv"
        r.to_csv(path)
        back = read_release(path)
    # a category of numbers forgets, as cells, that it is one: say so
    cat = [
        o for o in r.data if o in p["categorical"] or isinstance(X[o].dtype, pd.CategoricalDtype)
    ]
    a, b = (
        ReleaseEncoder(sets=sets, numeric=numeric, missing=missing, categorical=cat).fit(t)
        for t in (r.data, back.data)
    )
    assert a.get_feature_names_out().tolist() == b.get_feature_names_out().tolist()
    m = a.transform(r.data)
    assert np.isfinite(m).all()
    assert _sorted(m).tobytes() == _sorted(b.transform(back.data)).tobytes()
    assert a.transform(back.data).shape == m.shape
    drawn = a.fit_transform(r.data, r.y)
    assert _sorted(drawn).tobytes() == _sorted(b.fit_transform(back.data, back.y)).tobytes()
    # raw rows are welcome
    a.transform(X[list(r.data)])


# one possible table
# --------------------------------------------------------------------------------------------------


def _named(rows):
    """What cells that are no stars may be: words, and ends of numbers"""
    return [o for o in rows if not (o is None or isinstance(o, Suppressed))]


def _ends(c, far):
    values = [c.lo, c.hi] if isinstance(c, Interval) else c.listed()
    far *= isinstance(c, Centroid)
    return min(values) - far, max(values) + far


def _spread_of(rows):
    """How far means are moved: beside stars, as widely as they spread among themselves"""
    means = [n.value for _, n in rows if isinstance(n, Centroid)]
    star = any(isinstance(c, Suppressed) for row in rows for c in row)
    return 3**0.5 * np.std(means) + 1e-9 if star and means else 0.0


@one_in(4)
@given(published(), st.integers(0, 3), st.sampled_from(["uniform", "distribution"]))
def test_drawn_rows_are_possible(table, seed, weights):
    t, rows = table
    e = ReleaseEncoder(sets="draw", weights=weights, random_state=seed)
    m = e.fit_transform(t)
    words, numbers = e.columns_
    of_words, of_numbers = (_named([o[i] for o in rows]) for i in (0, 1))
    far = _spread_of(rows)
    for row, (w, n) in zip(m, rows):
        hit = [words.values[j] for j in np.flatnonzero(row[:-1])]
        if w is None or not of_words:
            assert row[:-1].tobytes() == words.fill.tobytes()
        else:
            may = of_words if isinstance(w, Suppressed) else [w]
            assert len(hit) == 1 and row[:-1].sum() == 1
            assert any(hit[0] in o.listed() for o in may)
        if n is None:
            assert row[-1] == numbers.fill[0]
        else:
            may = of_numbers if isinstance(n, Suppressed) else [n]
            assert any(lo <= row[-1] <= hi for lo, hi in (_ends(o, far) for o in may))
    # equal seeds, equal numbers
    assert m.tobytes() == clone(e).fit_transform(t).tobytes()


@one_in(4)
@given(published(), st.randoms(use_true_random=False), st.data())
def test_drawn_rows_do_not_depend_on_their_order(table, random, data):
    t, _ = table
    y = np.array([data.draw(st.sampled_from(["no", "yes"])) for _ in range(len(t))])
    order = random.sample(range(len(t)), len(t))
    e = ReleaseEncoder(sets="draw")
    m, f = e.fit_transform(t, y), e.fit_transform(t.iloc[order], y[order])
    both = [np.column_stack([a, b == "yes"]) for a, b in ((m, y), (f, y[order]))]
    assert _sorted(both[0]).tobytes() == _sorted(both[1]).tobytes()


@one_in(4)
@given(published())
def test_auto_draws_where_a_cell_is_a_word_of_its_own(table):
    t, rows = table
    star = any(isinstance(o, Suppressed) for row in rows for o in row)
    e = ReleaseEncoder()
    m = e.fit_transform(t)
    assert e.sets_ == ("draw" if star else "weights")
    if not star:
        assert m.tobytes() == e.transform(t).tobytes()
    for missing in ("mode", "other", "indicator"):
        f = ReleaseEncoder(missing=missing)
        assert f.fit_transform(t).tobytes() == f.transform(t).tobytes() and f.sets_ == "weights"


def test_classes_of_another_length_are_refused():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ReleaseEncoder(sets="draw").fit_transform(R.data, y[:3])


def test_values_that_stars_hide_are_noticed():
    t = pd.DataFrame({"w": column([Exact("a"), Exact("b"), Suppressed(), Suppressed()] * 10)})
    e = ReleaseEncoder().fit(t)
    e.transform(pd.DataFrame({"w": ["a", "b"] * 20}))  # nothing to say
    e.transform(pd.DataFrame({"w": ["c"] * 29}))  # too few to say
    e.transform(t)
    raw = pd.DataFrame({"w": ["a", "b", "c", "d"] * 10})
    with pytest.warns(UserWarning, match="w: these rows hold values that no published cell names"):
        e.transform(raw)
    other = ReleaseEncoder(missing="other").fit(t)
    assert other.transform(raw).tobytes() == other.transform(t).tobytes()


def test_a_tree_learns_from_nodes_of_adult(data_dir):
    qi = ["age", "education", "marital-status", "sex", "hours-per-week"]
    train, test = (fetch_adult(o, complete=True) for o in ("train", "test"))
    words = ["education", "marital-status", "sex"]
    trees = {o: Taxonomy.from_csv(data_dir / f"hierarchies/fung/adult_{o}.csv") for o in words}
    r = TDSAnonymizer(taxonomies=trees).anonymize(train[qi], train.income)
    assert any(isinstance(c, Node) for o in words for c in cells(r.data[o])[1])
    found = []
    for how in "weights", "auto":
        reader = ReleaseEncoder(sets=how, taxonomies=r.taxonomies)
        tree = DecisionTreeClassifier(min_samples_leaf=20, random_state=0)
        learnt = make_pipeline(reader, tree).fit(r.data, r.y)
        found.append(learnt.score(test[qi], test.income))
    majority = (test.income == "<=50K").mean()
    assert found[0] < majority + 0.01 and found[1] > majority + 0.04


# raw rows
# --------------------------------------------------------------------------------------------------


@st.composite
def raw(draw):
    n = draw(st.integers(1, 10))
    t = pd.DataFrame(
        {
            "w": draw(st.lists(st.sampled_from(WORDS), min_size=n, max_size=n)),
            "ok": draw(st.lists(st.booleans(), min_size=n, max_size=n)),
            "n": draw(st.lists(st.sampled_from(NUMBERS + [np.nan]), min_size=n, max_size=n)),
        }
    )
    return t.astype({"w": draw(st.sampled_from(["str", "object", "category"]))})


@one_in(4)
@given(raw(), raw())
def test_raw_tables_are_one_hot(train, test):
    e, onehot = (
        ReleaseEncoder().fit(train[["w", "ok"]]),
        OneHotEncoder(sparse_output=False, handle_unknown="ignore"),
    )
    expected = onehot.fit(train[["w", "ok"]].astype({"w": object}))
    assert (
        e.transform(test[["w", "ok"]])
        == expected.transform(test[["w", "ok"]].astype({"w": object}))
    ).all()
    assert [
        o.replace('"', "") for o in e.get_feature_names_out()
    ] == expected.get_feature_names_out().tolist()


@one_in(4)
@given(raw(), raw())
def test_raw_numbers_are_imputed_as_by_scikit_learn(train, test):
    assume(train.n.notna().any())
    ours, theirs = (
        ReleaseEncoder(missing="indicator").fit(train[["n"]]),
        SimpleImputer(add_indicator=True).fit(train[["n"]]),
    )
    np.testing.assert_allclose(ours.transform(test[["n"]]), theirs.transform(test[["n"]]))
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


# worked examples
# --------------------------------------------------------------------------------------------------


def test_a_full_set_is_no_gap():
    t = pd.DataFrame({"c": column([ValueSet(["a", "b"]), Exact("a"), Suppressed(), None])})
    e = ReleaseEncoder(missing="indicator").fit(t)
    assert e.transform(t).tolist() == [[0.5, 0.5, 0], [1, 0, 0], [0.75, 0.25, 1], [0.75, 0.25, 1]]


def test_the_mode_is_the_most_frequent_value():
    t = pd.DataFrame(
        {
            "c": column([ValueSet(["a", "b"]), Exact("b"), Suppressed(), None]),
            "n": [1.0, 2, 6, np.nan],
        }
    )
    e = ReleaseEncoder(missing="mode").fit(t)
    assert e.transform(t).tolist() == [[0.5, 0.5, 1], [0, 1, 2], [0, 1, 6], [0, 1, 3]]
    # the first in order
    tie = pd.DataFrame({"c": ["b", "a", None]})
    assert ReleaseEncoder(missing="mode").fit_transform(tie).tolist() == [[0, 1], [1, 0], [1, 0]]
    assert ReleaseEncoder(missing="mode").fit_transform(
        pd.DataFrame({"c": column([Suppressed()]), "n": [1]})
    ).tolist() == [[1]]


@one_in(2)
@given(raw(), raw())
def test_the_mode_is_scikit_learns(train, test):
    assume(train.n.notna().any())
    w = train.w.astype(object).where(np.arange(len(train)) % 3 > 0, None)
    assume(w.notna().any())
    m = ReleaseEncoder(missing="mode").fit_transform(w.to_frame())
    filled = SimpleImputer(missing_values=None, strategy="most_frequent").fit_transform(
        w.to_frame()
    )
    assert (m == OneHotEncoder(sparse_output=False).fit_transform(filled)).all()


def test_a_gap_that_fit_has_not_seen_is_imputed_without_a_flag():
    e = ReleaseEncoder(missing="indicator").fit(X)
    assert e.transform(
        pd.DataFrame({"Gender": [None], "Marital": ["Married"], "Age": [np.nan]})
    ).tolist() == [[5 / 14, 9 / 14, 1, 0, pytest.approx(X.Age.mean())]]


@pytest.mark.parametrize("kind", ["tokens", "weights"])
def test_unseen_values_give_zeros(kind):
    e = ReleaseEncoder(sets=kind.removesuffix("s") if kind == "tokens" else kind).fit(R.data)
    m = e.transform(pd.DataFrame({"Gender": ["X"], "Marital": ["Widowed"], "Age": [50]}))
    assert m[0, :-1].tolist() == [0] * (m.shape[1] - 1) and m[0, -1] == 50


def test_missing_as_a_category_is_a_value_of_words_and_a_gap_of_numbers():
    t = pd.DataFrame({"c": ["a", None, "a", "b"], "n": [1, 2, np.nan, 4]})
    r = MondrianAnonymizer(k=2, missing="category").anonymize(t)
    e = ReleaseEncoder().fit(r.data)
    assert (
        any("missing" in o for o in e.get_feature_names_out())
        and np.isfinite(e.transform(r.data)).all()
    )
    assert ReleaseEncoder().fit_transform(
        pd.DataFrame({"n": column([Exact(MISSING), Exact(1), ValueSet([MISSING, 3, 5])])})
    ).ravel().tolist() == [2.5, 1, 4]


def test_nodes_need_their_taxonomy():
    t = pd.DataFrame({"job": column([Node("yard"), Exact("smith"), ValueSet(["clerk", "smith"])])})
    with pytest.raises(
        ValueError,
        match="'taxonomies' must have the taxonomy of column 'job'.*Got none.*use taxonomies=",
    ):
        ReleaseEncoder().fit(t)
    m = ReleaseEncoder(taxonomies={"job": JOBS}).fit(t).transform(t)
    assert m.tolist() == [[0, 1 / 3, 1 / 3, 1 / 3], [0, 0, 1, 0], [0.5, 0, 0.5, 0]]
    assert ReleaseEncoder(sets="token").fit_transform(t).shape == (3, 3)


def test_nodes_over_numbers():
    ages = Taxonomy.from_lines([[20, "young", "any"], [30, "young", "any"], [70, "old", "any"]])
    r = recode(
        pd.DataFrame({"age": [20, 30, 70, 70]}), [0, 0, 1, 1], "node", taxonomies={"age": ages}
    )
    assert ReleaseEncoder(taxonomies={"age": ages}).fit(r).transform(r).ravel().tolist() == [
        25,
        25,
        70,
        70,
    ]


def test_dates_are_days():
    t = pd.DataFrame(
        {
            "d": column(
                [
                    Interval(pd.Timestamp("1970-01-02"), pd.Timestamp("1970-01-04")),
                    Exact(pd.Timestamp("1970-01-11")),
                ]
            )
        }
    )
    e = ReleaseEncoder().fit(t)
    assert e.transform(t).ravel().tolist() == [2, 10]
    assert e.transform(pd.DataFrame({"d": pd.to_datetime(["1970-01-06 12:00"])})).tolist() == [
        [5.5]
    ]


def test_infinite_ends():
    inf = float("inf")
    t = pd.DataFrame(
        {
            "n": column(
                [
                    Interval(-inf, 30),
                    Interval(60, inf),
                    Exact(20),
                    Exact(80),
                    Interval(-inf, inf),
                    Interval(-inf, 10),
                    Interval(90, inf),
                ]
            )
        }
    )
    assert ReleaseEncoder(numeric="bounds").fit_transform(t)[[0, 1, 5, 6]].tolist() == [
        [20, 30],
        [60, 80],
        [10, 10],
        [90, 90],
    ]
    assert ReleaseEncoder().fit_transform(t)[4, 0] == pytest.approx(
        (25 + 70 + 20 + 80 + 10 + 90) / 6
    )


def test_huge_numbers_stay_finite():
    t = pd.DataFrame(
        {"n": column([Interval(1e308, 1.7e308), ValueSet([1e308, 1.5e308]), Suppressed()])}
    )
    assert np.isfinite(ReleaseEncoder().fit_transform(t)).all()


@pytest.mark.parametrize("dtype", [float, object, str])
def test_columns_without_any_value(dtype):
    t = pd.DataFrame({"a": [1, 2], "e": pd.Series([None, None], dtype=dtype)})
    if dtype is str:
        t["e"] = column([Suppressed(), Suppressed()])
    m = ReleaseEncoder(missing="indicator").fit_transform(t)
    assert m.tolist() == ([[1, 0, 1], [2, 0, 1]] if dtype is float else [[1, 1], [2, 1]])


def test_names_never_repeat():
    t = pd.DataFrame({"a_b": ["c"], "a": ["b_c"]})
    assert ReleaseEncoder().fit(t).get_feature_names_out().tolist() == ["a_b_c", "a_b_c_2"]


def test_numbers_as_categories():
    t = pd.DataFrame({"zip": column([ValueSet([1, 2]), Exact(3)])})
    e = ReleaseEncoder(categorical=["zip"]).fit(t)
    assert e.transform(pd.DataFrame({"zip": [1.0, 3.0, np.nan]})).tolist() == [
        [1, 0, 0],
        [0, 0, 1],
        [0.25, 0.25, 0.5],
    ]
    assert ReleaseEncoder(categorical=np.array(["zip"])).fit(t).columns_[0].kind == "categorical"
    assert ReleaseEncoder(categorical=None).fit(t).columns_[0].kind == "numeric"
    with pytest.raises(
        ValueError, match="'zip'.*Got the interval.*leave the column out of 'categorical'"
    ):
        ReleaseEncoder(categorical=["zip"]).fit(pd.DataFrame({"zip": column([Interval(1, 2)])}))


# errors
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "p,error,says",
    [
        ({"sets": "word"}, ValueError, "'sets' must be 'auto' or 'weights' or 'draw' or 'token'"),
        ({"numeric": None}, ValueError, "'numeric' must be"),
        ({"missing": "drop"}, ValueError, "'missing' must be"),
        ({"weights": [1]}, ValueError, "'weights' must be"),
        ({"n_draws": 5}, ValueError, "'n_draws' must be 1.* DrawnClassifier.*encoder.draw"),
        ({"random_state": -1}, ValueError, "'random_state' must be a whole number"),
        ({"categorical": "Age"}, TypeError, r"use \['Age'\]"),
        ({"categorical": ["age"]}, ValueError, "Got 'age'; the columns are Gender"),
        ({"taxonomies": [JOBS]}, TypeError, "'taxonomies' must be a dict"),
        ({"taxonomies": {"Age": 3}}, TypeError, "Got int for 'Age'"),
    ],
)
def test_parameters(p, error, says):
    with pytest.raises(error, match=says):
        ReleaseEncoder(**p).fit(X)


def test_tables():
    e = ReleaseEncoder().fit(R.data)
    assert (ReleaseEncoder().fit(R).transform(X) == e.transform(X)).all()
    with pytest.raises(ValueError, match="Missing: Gender.*Unexpected: Sex"):
        e.transform(X.rename(columns={"Gender": "Sex"}))
    with pytest.raises(
        ValueError, match="Column 'Age' must hold numbers or dates, as in fit. Got 'old'"
    ):
        e.transform(X.assign(Age="old"))
    with pytest.warns(UserWarning, match="valid feature names"):
        assert (e.transform(X.to_numpy()) == e.transform(X)).all()
    with pytest.raises(ValueError, match="expecting 3 features"):
        e.transform(X.to_numpy()[:, :2])
    with pytest.raises(ValueError, match="input_features is not equal"):
        e.get_feature_names_out(["a", "b", "c"])


# scikit-learn
# --------------------------------------------------------------------------------------------------


def test_a_release_that_was_read_as_text_is_said():
    with pytest.warns(UserWarning, match="'a' holds texts such as '{1, 2}'.*read_release"):
        ReleaseEncoder().fit(pd.DataFrame({"a": ["{1, 2}", "[3, 4]", "5"]}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ReleaseEncoder().fit(R.data), ReleaseEncoder().fit(X)


def test_arrays():
    e = ReleaseEncoder().fit(X.to_numpy())
    assert (e.transform(X.to_numpy()) == ReleaseEncoder().fit_transform(X)).all() and not hasattr(
        e, "feature_names_in_"
    )
    assert (
        e.get_feature_names_out()[-1] == "x2"
        and e.get_feature_names_out(["g", "m", "a"])[-1] == "a"
    )


def test_nothing_is_left_of_an_earlier_fit():
    e = ReleaseEncoder().fit(R.data)
    e.fit(X[["Age"]].to_numpy())
    assert e.n_features_in_ == 1 and not hasattr(e, "feature_names_in_")
    with pytest.raises(ValueError):
        e.set_params(sets="x").fit(X)
    assert not hasattr(e, "columns_")


def test_pandas_output():
    t = ReleaseEncoder().set_output(transform="pandas").fit(R.data).transform(X)
    assert t.index.equals(X.index) and list(t) == [
        "Gender_Female",
        "Gender_Male",
        "Marital_Married",
        "Marital_Not Married",
        "Age",
    ]


def test_in_pipelines_and_searches():
    model = AnonymizedClassifier(
        MondrianAnonymizer(k=2), make_pipeline(ReleaseEncoder(), LogisticRegression())
    )
    assert model.fit(X, y).predict(X).shape == (14,) and model.predict_proba(X).shape == (14, 2)
    assert np.isfinite(cross_val_score(model, X, y, cv=2)).all()
    search = GridSearchCV(
        model,
        {"classifier__releaseencoder__sets": ["weights", "token"], "anonymizer__k": [2, 3]},
        cv=2,
    ).fit(X, y)
    assert set(search.best_params_) == {"classifier__releaseencoder__sets", "anonymizer__k"}
    parts = make_column_transformer(
        (ReleaseEncoder(), ["Age", "Gender"]), (ReleaseEncoder(sets="token"), ["Marital"])
    )
    tree = make_pipeline(parts, DecisionTreeClassifier(random_state=0)).fit(R.data, R.y)
    assert tree.predict(X).shape == (14,) and len(parts.fit(R.data).get_feature_names_out()) == 6


# Adult
# --------------------------------------------------------------------------------------------------


def test_adult_is_read_without_a_loop_over_rows(data_dir):
    columns = [
        "age",
        "workclass",
        "education",
        "marital-status",
        "occupation",
        "race",
        "sex",
        "hours-per-week",
        "native-country",
    ]
    t = fetch_adult(complete=True)[columns]
    r = MondrianAnonymizer(k=10).anonymize(t)
    assert ReleaseEncoder().fit_transform(r.data).shape[0] == 30162
    twice = pd.concat([r.data, r.data])
    lines, more = (python_lines(lambda: ReleaseEncoder().fit_transform(o)) for o in (r.data, twice))
    # the work is by distinct cell: twice the rows with the same cells cost nothing
    assert more - lines < len(r.data) / 10, (lines, more)
