"""Mondrian: the fast version is the textbook, the invariants hold on any table, new rows find a
region.
"""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from pandas.testing import assert_frame_equal
from random_tables import published_rows

from ppdt._textbook import _textbook_cut, _textbook_strict
from ppdt.datasets import load_customers, load_patients, make_population
from ppdt.diversity import Alpha, LDiversity, TCloseness
from ppdt.engine.median_cuts import _n_distinct
from ppdt.generalization import Taxonomy
from ppdt.mondrian import Cuts, MondrianAnonymizer, strict_partition
from ppdt.privacy import class_sizes
from ppdt.tables import MISSING, Interval, ValueSet, cells, column_text, encode, with_missing

RULES, WIDTHS = ["le_then_lt", "le", "balanced"], ["rank", "distinct", "ratio"]
QIS = ["Gender", "Marital", "Age"]

# ---------- tables to try
texts = st.sampled_from(["", "a", "b", "B", "*", "{a, b}", "Ä", " x", "007"])
whole = st.integers(-3, 6)
floats = st.sampled_from([-1e16, -2.5, 0.0, 1e-13, 3e-13, 0.1, 1.0, 7.0, 1e16])
dates = st.integers(0, 40).map(lambda d: pd.Timestamp("2020-01-01") + pd.Timedelta(days=d * d))
large = st.integers(0, 5).map(lambda i: 2**60 + i)  # equal as floats
skewed = st.sampled_from([0] * 8 + [1, 2])


@st.composite
def tables(draw, min_rows=1, max_rows=30, missing=False):
    """A table of one to four columns of any kind, with many ties"""
    n = draw(st.integers(min_rows, max_rows))

    def column(j):
        kind = draw(
            st.sampled_from(
                [
                    texts,
                    whole,
                    floats,
                    dates,
                    large,
                    skewed,
                    st.booleans(),
                    st.just("same"),
                    "ordered",
                ]
            )
        )
        if kind == "ordered":
            return pd.Series(
                pd.Categorical(
                    draw(st.lists(st.sampled_from(["low", "mid", "high"]), min_size=n, max_size=n)),
                    ["low", "mid", "high", "never"],
                    ordered=True,
                )
            )
        s = pd.Series(draw(st.lists(kind, min_size=n, max_size=n)))
        if missing and draw(st.booleans()):
            s = s.astype("boolean" if s.dtype == bool else s.dtype).mask(
                np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))) == 0
            )
        return s

    return pd.DataFrame({f"c{j}": column(j) for j in range(draw(st.integers(1, 4)))})


@st.composite
def tasks(draw, **kw):
    """A table, some numeric columns of it that are categories, and a k that it can bear"""
    X = draw(tables(**kw))
    numeric = [
        o for o in X if pd.api.types.is_numeric_dtype(X[o]) and not pd.api.types.is_bool_dtype(X[o])
    ]
    return X, [o for o in numeric if draw(st.booleans())], draw(st.integers(1, min(7, len(X))))


def coded(X, categorical=()):
    return map(list, zip(*[with_missing(*encode(X[o], o in categorical)) for o in X]))


def as_sets(groups):
    return {frozenset(np.asarray(g).tolist()) for g in groups}


def regions(groups):
    return [np.flatnonzero(groups == g) for g in range(groups.max() + 1)]


def as_text(data):
    return pd.DataFrame({o: column_text(data[o]) for o in data})


def numbered(groups, first=1):
    return sorted(sorted((np.asarray(g) + first).tolist()) for g in groups)


# ---------- fast and textbook
@one_in(2)
@given(tasks(missing=True), st.sampled_from(RULES), st.sampled_from(WIDTHS), st.booleans())
def test_fast_is_the_textbook(task, cut_rule, width, fallback):
    X, categorical, k = task
    attributes, codes = coded(X, categorical)
    groups, cuts = strict_partition(attributes, codes, k, cut_rule, width, fallback)
    assert as_sets(regions(groups)) == as_sets(
        _textbook_strict(attributes, codes, k, cut_rule, width, fallback)
    )
    assert np.array_equal(cuts.assign(codes), groups)


@pytest.mark.parametrize("cut_rule", RULES)
@pytest.mark.parametrize("width", WIDTHS)
def test_fast_is_the_textbook_on_a_larger_table(cut_rule, width):
    X = make_population(1_500, 1)
    attributes, codes = coded(X)
    groups, _ = strict_partition(attributes, codes, 4, cut_rule, width)
    assert as_sets(regions(groups)) == as_sets(
        _textbook_strict(attributes, codes, 4, cut_rule, width)
    )


@given(st.lists(whole, min_size=1, max_size=30), st.integers(1, 6))
def test_two_cuts_suffice(values, k):
    """Any allowable cut means an allowable one next to the median"""
    c = np.array(values) + 3
    some = any(min((c <= v).sum(), (c > v).sum()) >= k for v in range(10))
    assert [_textbook_cut(c, k, r) is not None for r in ("le_then_lt", "balanced")] == [some, some]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), min_size=1))
def test_n_distinct(pairs):
    p = np.array(sorted(pairs))
    regions_, sizes = np.unique(p[:, 0], return_counts=True)
    expected = [len(set(p[p[:, 0] == g, 1].tolist())) for g in regions_]
    for d in (7, 10**9):
        assert _n_distinct(p[:, 1], sizes, d).tolist() == expected


# ---------- what holds for every table
@one_in(4)
@given(
    tasks(missing=True),
    st.sampled_from(RULES),
    st.sampled_from(WIDTHS),
    st.booleans(),
    st.sampled_from(["set", "interval"]),
)
def test_release_invariants(task, cut_rule, width, fallback, recoding):
    X, categorical, k = task
    m = MondrianAnonymizer(
        k=k,
        categorical=categorical,
        cut_rule=cut_rule,
        width=width,
        fallback=np.bool_(fallback),
        recoding=recoding,
        missing="category",
    )
    r = m.anonymize(X)
    assert len(r.data) == len(X) and not len(r.lost) and list(r.data.columns) == list(X.columns)
    # 1, 3
    assert r.audit.holds and class_sizes(r.data).min() >= k
    assert np.bincount(m.groups_).min() >= k and len(m.groups_) == len(X)
    wanted = _textbook_strict(*coded(X, categorical), k, cut_rule, width, fallback)
    assert as_sets(regions(m.groups_)) == as_sets(wanted)
    if k == 1:
        return assert_frame_equal(r.data, X)
    for o in X:
        a, raw = with_missing(*encode(X[o], o in categorical))
        codes, cs = cells(r.data[o])
        for g in regions(m.groups_):
            # 3
            assert len(set(codes[g].tolist())) == 1
            c = cs[codes[g[0]]]
            found = {a.items[i] for i in raw[g]}
            # 2
            if isinstance(c, Interval):
                assert (c.lo, c.hi) == (min(found), max(found))
            else:
                assert c.values == found
    # training rows, training cells
    assert as_text(pickle.loads(pickle.dumps(m)).transform(X)).equals(as_text(r.data))
    # numbers that no cell names are forgotten
    for a in m.attributes_ if recoding == "interval" else ():
        named = set()
        for c in cells(r.data[a.name])[1]:
            named |= {c.lo, c.hi} if isinstance(c, Interval) else c.values
        assert set(a.items) == named


@given(tasks(), st.sampled_from(RULES), st.sampled_from(WIDTHS))
def test_two_groups_are_separated_by_a_threshold(task, cut_rule, width):
    X, categorical, k = task
    attributes, codes = coded(X, categorical)
    parts = regions(strict_partition(attributes, codes, k, cut_rule, width)[0])
    for i, g in enumerate(parts):
        # 4
        for h in parts[:i]:
            assert any(c[g].max() < c[h].min() or c[h].max() < c[g].min() for c in codes)


@given(tasks(), st.sampled_from(["le_then_lt", "balanced"]), st.sampled_from(WIDTHS))
def test_bound_and_no_cut_left(task, cut_rule, width):
    X, categorical, k = task
    attributes, codes = coded(X, categorical)
    largest = np.unique(np.array(codes), axis=1, return_counts=True)[1].max()
    for g in regions(strict_partition(attributes, codes, k, cut_rule, width)[0]):
        # 5
        assert len(g) <= 2 * len(codes) * (k - 1) + largest
        # 8
        for c in codes:
            assert all(min((c[g] <= v).sum(), (c[g] > v).sum()) < k for v in range(c.max() + 1))


@given(tasks(), st.sampled_from(RULES), st.randoms(use_true_random=False))
def test_row_order_does_not_matter(task, cut_rule, random):
    X, categorical, k = task
    order = list(range(len(X)))
    random.shuffle(order)
    a, b = (strict_partition(*coded(t, categorical), k, cut_rule)[0] for t in (X, X.iloc[order]))
    # 7
    assert np.array_equal(a[order], b)


@given(tasks(), st.sampled_from(RULES))
def test_equal_rows_stay_together(task, cut_rule):
    X, categorical, k = task
    attributes, codes = coded(X, categorical)
    groups, _ = strict_partition(attributes, codes, k, cut_rule)
    rows = list(zip(*map(np.ndarray.tolist, codes)))
    assert len(set(zip(rows, groups.tolist()))) == len(set(rows))


# ---------- new rows
KINDS = dict(
    t=st.text(max_size=3),
    i=st.integers(-(2**40), 2**40),
    f=st.floats(-1e300, 1e300),
    d=dates,
    b=st.booleans(),
    o=st.sampled_from(["low", "mid", "new"]),
)


@pytest.fixture(scope="module")
def fitted():
    """One anonymizer a recoding, fitted on columns of all kinds, and the cells it has published"""
    X = pd.DataFrame(
        {
            "t": list("bbdexyzzz"),
            "i": [3, 1, 4, 1, 5, 9, 2, 6, 5],
            "f": np.arange(9) / 7 - 0.5,
            "d": pd.date_range("2020-01-01", periods=9, freq="20D"),
            "b": [True, True, False] * 3,
            "o": pd.Categorical(["low", "mid", "low"] * 3, ["mid", "low"], ordered=True),
        }
    )
    found = [MondrianAnonymizer(k=3, recoding=o).fit(X) for o in ("set", "interval")]
    return [(m, {o: set(column_text(m.release_.data[o])) for o in X}) for m in found]


@one_in(2)
@given(st.lists(st.tuples(*KINDS.values()), min_size=1, max_size=4))
def test_transform_never_fails_on_values_of_the_type(fitted, rows):
    new = pd.DataFrame(rows, columns=list(KINDS)).astype({"o": "category", "t": "str"})
    for m, published in fitted:
        out = m.transform(new)
        assert out.shape == new.shape
        for o in new:
            assert set(column_text(out[o])) <= published[o]


def test_values_outside_the_range_take_the_nearest_below():
    m = MondrianAnonymizer(k=2).fit(pd.DataFrame({"a": [1, 2, 10, 20]}))
    low, high = ValueSet([1, 2]), ValueSet([10, 20])
    assert m.transform(pd.DataFrame({"a": [-5, 0, 3, 9, 11, 10**12]})).a.tolist() == [
        low,
        low,
        low,
        low,
        high,
        high,
    ]
    assert m.transform(pd.DataFrame({"a": [1.5, 9.99]})).a.tolist() == [low, low]


def test_unseen_categories_go_by_code_point():
    m = MondrianAnonymizer(k=2).fit(pd.DataFrame({"a": list("bbdd")}))
    assert m.transform(pd.DataFrame({"a": list("acez")})).a.tolist() == list("bbdd")


def test_missing_is_the_last_value():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0, np.nan, np.nan]})
    m = MondrianAnonymizer(k=2, missing="category").fit(X)
    assert [str(c) for c in m.release_.data.a] == ["{1.0, 2.0, 3.0}"] * 3 + ['{4.0, "missing"}'] * 3
    assert [str(c) for c in m.transform(pd.DataFrame({"a": [3.5, 99.0, np.nan]})).a] == [
        "{1.0, 2.0, 3.0}"
    ] + ['{4.0, "missing"}'] * 2
    ranges = MondrianAnonymizer(k=2, missing="category", recoding="interval").anonymize(X)
    assert [str(c) for c in ranges.data.a] == ["[1.0, 3.0]"] * 3 + ['{4.0, "missing"}'] * 3
    apart = strict_partition(*coded(pd.DataFrame({"a": [1.0, 2.0, np.nan, np.nan]})), 2)[0]
    assert apart.tolist() == [0, 0, 1, 1]
    assert len(MondrianAnonymizer(k=2, missing="drop").anonymize(X).lost) == 2
    with pytest.raises(ValueError, match="missing"):
        MondrianAnonymizer(k=2).fit(X)


def test_a_cut_below_the_median_is_kept_for_new_rows():
    """`lt` ends the left side at the value before the median, which need not occur in the region"""
    X = pd.DataFrame({"a": [1, 1, 1, 5, 9, 9, 9, 9], "b": list("xxxxyyyy")})
    for rule in RULES:
        m = MondrianAnonymizer(k=2, quasi_identifiers=["b", "a"], cut_rule=rule).fit(X)
        assert np.array_equal(m.cuts_.assign([encode(X[o])[1] for o in ("b", "a")]), m.groups_)
        assert as_text(m.transform(X)).equals(as_text(m.release_.data))


# ---------- numbers of the papers and of the chapter
def test_patients():
    X = load_patients()[["Age", "Gender", "Postcode"]]
    for number in (False, True):
        groups, cuts = strict_partition(*coded(X.astype({"Postcode": int}) if number else X), 3)
        assert numbered(regions(groups)) == [[1, 2, 4], [3, 5, 6]]
        assert cuts.attribute[0] == 0 and encode(X.Age)[0].items[cuts.code[0]] == 25


RUNNING = {
    "le": {
        2: [[1, 2], [3, 8, 9], [4, 5], [6, 7], [10, 11], [12, 13, 14]],
        3: [[1, 2, 10, 11], [3, 8, 9], [4, 5, 6, 7], [12, 13, 14]],
        4: [[1, 2, 10, 11, 12, 13, 14], [3, 4, 5, 6, 7, 8, 9]],
        5: [[1, 2, 10, 11, 12, 13, 14], [3, 4, 5, 6, 7, 8, 9]],
    },
    "le_then_lt": {
        2: [[1, 2], [3, 4, 5], [6, 7], [8, 9], [10, 11, 12], [13, 14]],
        3: [[1, 2, 3, 4, 5], [6, 7, 8, 9], [10, 11, 12, 13, 14]],
        4: [[1, 2, 3, 4, 5], [6, 7, 8, 9], [10, 11, 12, 13, 14]],
        5: [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11, 12, 13, 14]],
    },
}
RUNNING["balanced"] = RUNNING["le_then_lt"]


@pytest.mark.parametrize("cut_rule", RULES)
@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_customers(cut_rule, k):
    m = MondrianAnonymizer(k=k, cut_rule=cut_rule).fit(load_customers()[QIS])
    assert numbered(regions(m.groups_)) == RUNNING[cut_rule][k]


def test_race():
    codes = np.repeat(range(5), [286, 895, 2817, 231, 25933])
    a, codes = encode(
        pd.Series(
            np.array(["Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"])[codes]
        )
    )
    assert strict_partition([a], [codes], 4, "le")[0].max() == 0
    for k in (4_229, 4_230):
        assert sorted(np.bincount(strict_partition([a], [codes], k)[0])) == (
            [4_229, 25_933] if k == 4_229 else [30_162]
        )


def test_the_literal_rule_breaks_the_bound():
    X = pd.DataFrame([(2, 2), (2, 0), (3, 1), (3, 2), (1, 3), (3, 0), (3, 2)])
    sizes = {
        r: sorted(np.bincount(strict_partition(*coded(X), 2, r)[0]).tolist())
        for r in ("le", "le_then_lt")
    }
    assert sizes == {"le": [7], "le_then_lt": [2, 2, 3]}


# ---------- columns of many kinds
def test_dates():
    X = pd.DataFrame(
        {"d": pd.to_datetime(["2020-01-01", "2020-01-02", "2021-05-05", "2022-01-01"])}
    )
    for tz in (None, "Europe/Berlin"):
        m = MondrianAnonymizer(k=2, recoding="interval").fit(X.d.dt.tz_localize(tz).to_frame())
        assert [str(c) for c in m.release_.data.d][::2] == [
            str(Interval(*X.d.dt.tz_localize(tz)[i : i + 2])) for i in (0, 2)
        ]
        new = (
            pd.DataFrame({"d": pd.to_datetime(["1999-01-01", "2020-06-01", "2030-01-01"])})
            .d.dt.tz_localize(tz)
            .to_frame()
        )
        assert m.transform(new).d.tolist() == [m.release_.data.d[i] for i in (0, 0, 2)]


def test_declared_order_decides():
    """With the order low < mid < high the middle joins a neighbour; by the alphabet high comes
    first
    """
    v = ["low"] * 3 + ["mid"] * 3 + ["high"] * 3

    def groups(s):
        return as_sets(
            regions(MondrianAnonymizer(k=3, cut_rule="le_then_lt").fit(s.to_frame("v")).groups_)
        )

    declared = pd.Series(pd.Categorical(v, ["low", "mid", "high"], ordered=True))
    assert groups(declared) == groups(pd.Series(v)) == as_sets([range(3), range(3, 6), range(6, 9)])

    def two(s):
        return as_sets(regions(MondrianAnonymizer(k=4).fit(s.to_frame("v")).groups_))

    v = ["low"] * 4 + ["mid"] * 2 + ["high"] * 4
    # low, mid | high
    assert two(pd.Series(pd.Categorical(v, ["low", "mid", "high"], ordered=True))) == as_sets(
        [range(6), range(6, 10)]
    )
    assert two(pd.Series(v)) == as_sets([[*range(4), *range(6, 10)], [4, 5]]) or two(
        pd.Series(v)
    ) == as_sets([range(6, 10), range(6)])


def test_order_of_quasi_identifiers_breaks_ties():
    X = load_customers()[QIS]
    first = [
        MondrianAnonymizer(k=4, quasi_identifiers=q, cut_rule="balanced").fit(X).cuts_.attribute[0]
        for q in (QIS, QIS[::-1])
    ]
    assert first == [0, 0]  # all widths are 1: the first named is cut first


def test_large_ties_and_constants():
    X = pd.DataFrame({"a": [0] * 55 + [1] * 5, "b": 7, "c": "x"})
    r = MondrianAnonymizer(k=5).anonymize(X)
    assert r.audit.class_sizes == (5, 55)
    assert_frame_equal(r.data, X)
    assert MondrianAnonymizer(k=5, cut_rule="le").anonymize(
        X.assign(a=1 - X.a)
    ).audit.class_sizes == (60,)
    same = pd.DataFrame({"a": [3] * 20, "b": ["x"] * 20})
    for w in WIDTHS:
        assert_frame_equal(MondrianAnonymizer(k=5, width=w).anonymize(same).data, same)


def test_a_column_of_ten_thousand_values():
    n = 20_000
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "id": [f"v{i:05d}" for i in rng.permutation(n) % 10_000],
            "n": rng.permutation(n),
            "s": rng.integers(0, 2, n),
        }
    )
    for width in WIDTHS:
        m = MondrianAnonymizer(k=5, width=width).fit(X)
        assert (
            m.release_.audit.class_sizes[0] >= 5
            and m.release_.audit.class_sizes[-1] <= 2 * 3 * 4 + 1
        )
        assert as_text(m.transform(X.head(200))).equals(as_text(m.release_.data.head(200)))


@pytest.mark.parametrize("d", [127, 128, 129, 32_768, 32_769])
def test_codes_fit_their_type(d):
    X = pd.DataFrame({"a": np.arange(d)})
    groups, cuts = strict_partition(*coded(X), 2)
    assert (
        np.bincount(groups).min() >= 2
        and (
            np.diff(pd.Series(np.arange(d)).groupby(groups).agg(["min", "max"]).to_numpy()).ravel()
            <= 2
        ).all()
    )
    assert np.array_equal(cuts.assign([np.arange(d)]), groups)


def test_keys_beyond_32_bits():
    """Regions times values above 2**31 take 64 bits"""
    from ppdt.engine.median_cuts import _median_cuts

    codes = np.array([5, 6, 7, 8, 1, 2, 3, 4])
    for d in (10, 2**30, 2**31, 2**40):
        assert _median_cuts(codes, np.array([4, 4]), d, 2, "le_then_lt").tolist() == [
            [6, 2],
            [-1, -1],
        ]


def test_deep_cuts_are_no_recursion():
    q = 40
    X = pd.DataFrame(
        np.repeat(np.eye(q, dtype=int), 2, axis=0), columns=[f"x{j}" for j in range(q)]
    )
    assert np.bincount(strict_partition(*coded(X), 2)[0]).tolist() == [2] * q


# ---------- limits, parameters, bad input
def test_a_region_holds_k_rows_or_all():
    for k in (8, 13, 14):
        assert MondrianAnonymizer(k=k).anonymize(load_customers()[QIS]).audit.class_sizes == (14,)


@pytest.mark.parametrize(
    "name", ["mode", "recoding", "cut_rule", "width", "median", "candidates", "categories"]
)
@pytest.mark.parametrize("value", ["no such word", None, 3, np.array(["le", "le"]), ["set"]])
def test_words_are_checked_in_fit(name, value):
    m = MondrianAnonymizer(k=3, **{name: value})
    with pytest.raises(ValueError, match=f"'{name}' must be one of"):
        m.fit(load_customers()[QIS])


def test_partition_checks_its_input():
    a, c = encode(pd.Series([1.0, 2.0, np.nan, 3.0], name="x"))
    with pytest.raises(ValueError, match="with_missing"):
        strict_partition([a], [c], 2)
    with pytest.raises(ValueError, match="must lie in"):
        strict_partition([a], [np.array([0, 3])], 1)
    with pytest.raises(ValueError, match="at least one"):
        strict_partition([], [], 1)
    with pytest.raises(ValueError, match="at least one"):
        strict_partition([a, a], [c], 1)
    with pytest.raises(ValueError, match="as many rows"):
        strict_partition([a, a], [np.array([0, 1]), np.array([0])], 1)
    for k in (0, 3):
        with pytest.raises(ValueError, match="'k'"):
            strict_partition([a], [np.array([0, 1])], k)
    with pytest.raises(ValueError, match="'cut_rule'"):
        strict_partition([a], [np.array([0, 1])], 1, "gt")
    with pytest.raises(ValueError, match="'width'"):
        strict_partition([a], [np.array([0, 1])], 1, width="wide")


def test_numpy_words_and_bools():
    a, c = encode(pd.Series([1, 2, 3, 4], name="x"))
    assert strict_partition([a], [c], np.int32(2), np.str_("le"), np.str_("rank"), np.bool_(False))[
        0
    ].tolist() == [0, 0, 1, 1]


def test_the_range_of_huge_numbers():
    X = pd.DataFrame({"a": [-1.7e308, 1.7e308, 0.0, 5.0] * 3, "b": [True, False] * 6})
    attributes, codes = coded(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for width in WIDTHS:
            groups, _ = strict_partition(attributes, codes, 2, width=width)
            assert (
                as_sets(regions(groups))
                == as_sets(_textbook_strict(attributes, codes, 2, width=width))
                and groups.max() == 3
            )


# ---------- modes and taxonomies
MODES = ["strict", "relaxed", "infogain"]
TREE = Taxonomy.from_dict(
    {"*": {"low": ["a", "b", "never"], "high": {"very": ["B", "Ä"], "007": None}, " x": None}}
)
EDGES = Taxonomy.from_edges(range(-3, 8), [-3, 0, 3, 8], [-3, 3, 8], public=True)


@st.composite
def mode_tasks(draw):
    """A table with a class, a column with a taxonomy of words and perhaps one of
    numbers, and a k
    """
    X, categorical, k = draw(tasks())
    n = len(X)
    X["words"] = pd.Series(
        draw(
            st.lists(
                st.sampled_from(["a", "b", "B", "Ä", "007", " x", None]), min_size=n, max_size=n
            )
        ),
        dtype="object",
    )
    X["numbers"] = draw(st.lists(whole, min_size=n, max_size=n))
    y = pd.Series(draw(st.lists(st.sampled_from("yn"), min_size=n, max_size=n)), name="y")
    return (
        X,
        y,
        categorical,
        k,
        {"words": TREE} | ({"numbers": EDGES} if draw(st.booleans()) else {}),
    )


@one_in(7)
@given(
    mode_tasks(),
    st.sampled_from(MODES),
    st.sampled_from(["set", "interval"]),
    st.sampled_from(["ordered", "subsets"]),
)
def test_modes_and_taxonomies(task, mode, recoding, categories):
    X, y, categorical, k, trees = task
    if X.words.isna().all():
        return
    m = MondrianAnonymizer(
        k=k,
        categorical=categorical,
        mode=mode,
        recoding=recoding,
        categories=categories,
        taxonomies=trees,
        missing="category",
    )
    r = m.anonymize(X, y)
    assert (
        r.audit.holds
        and class_sizes(r.data).min() >= k
        and len(r.data) == len(X)
        and np.bincount(m.groups_).min() >= k
    )
    if mode == "relaxed":
        assert np.bincount(m.groups_).max() <= 2 * k - 1
    if k == 1:
        return
    for o, t in trees.items():
        codes, cs = cells(r.data[o])
        for g in regions(m.groups_):
            found, c = set(X[o].iloc[g]), cs[codes[g[0]]]
            assert len(set(codes[g].tolist())) == 1
            if X[o].iloc[g].isna().any():
                assert MISSING in c.values
            else:
                assert t.node(c) == t.node(t.lca(found))
    assert_same_cells(m, X, r)


def assert_same_cells(m, X, r):
    """Training rows find their cells again, also after saving; relaxed cuts have no
    places for rows
    """
    saved = pickle.loads(pickle.dumps(m))
    if m.mode == "relaxed":
        assert not hasattr(m, "cuts_") and m.recoder_ is None
        with pytest.raises(TypeError, match="cannot recode"):
            saved.transform(X)
    else:
        assert as_text(saved.transform(X)).equals(as_text(r.data))


@one_in(7)
@given(tasks(), st.sampled_from(MODES), st.randoms(use_true_random=False))
def test_the_text_of_a_release_does_not_depend_on_the_order(task, mode, random):
    """Other columns and the class included, but after relaxed cuts, which divide equal people"""
    X, categorical, k = task
    X["other"], y = np.arange(len(X)) % 3, pd.Series(np.arange(len(X)) * 7 % 5 % 2, name="y")
    order = list(range(len(X)))
    random.shuffle(order)
    a, b = (
        MondrianAnonymizer(k=k, published=["other"], categorical=categorical, mode=mode).anonymize(
            X.iloc[o], y.iloc[o]
        )
        for o in (range(len(X)), order)
    )
    assert published_rows(a) == published_rows(b)
    if mode != "relaxed":
        assert_frame_equal(a.text(), b.text())


def test_a_saved_object_knows_all_leaves_and_no_others():
    X = pd.DataFrame({"words": list("aabbBB"), "numbers": [-3, -2, 0, 1, 5, 6]})
    m = MondrianAnonymizer(k=2, taxonomies={"words": TREE, "numbers": EDGES}).fit(X)
    assert set(m.attributes_[0].items) == set(TREE.values) and m.attributes_[1].items == list(
        range(-3, 8)
    )
    new = m.transform(pd.DataFrame({"words": ["never", "zzz", "007"], "numbers": [2, 100, -100]}))
    assert set(column_text(new.words)) <= set(column_text(m.release_.data.words))
    # leaves as texts, values as numbers
    texts = Taxonomy.from_lines([[str(o), "*"] for o in range(-3, 8)])
    n = MondrianAnonymizer(k=2, published=["words"], taxonomies={"numbers": texts}).fit(X)
    assert as_text(n.transform(X))["numbers"].equals(as_text(n.release_.data)["numbers"])


def test_numbers_in_another_order_than_their_own():
    odd = Taxonomy.from_dict({"*": {"odd": ["1", "3", "5"], "even": ["2", "4", "6"]}})
    X = pd.DataFrame({"n": [1, 1, 3, 5, 2, 4, 4, 6]})
    for mode in ("strict", "infogain"):
        m = MondrianAnonymizer(k=4, mode=mode, taxonomies={"n": odd}).fit(X, list("yynynyny"))
        assert [str(c) for c in m.release_.data.n] == ["<odd>"] * 4 + ["<even>"] * 4
        assert as_text(m.transform(X)).equals(as_text(m.release_.data))


def test_infogain_needs_a_class():
    c = load_customers()
    with pytest.raises(ValueError, match="'y' must be given with mode='infogain'"):
        MondrianAnonymizer(k=3, mode="infogain").fit(c[QIS])
    m = MondrianAnonymizer(k=3, mode="infogain").fit(c[QIS], c.Bought)
    assert numbered(regions(m.groups_)) == [[1, 2, 8, 10, 11], [3, 4, 5, 6, 7], [9, 12, 13, 14]]
    assert (
        m.__sklearn_tags__().target_tags.required
        and not MondrianAnonymizer().__sklearn_tags__().target_tags.required
    )
    gaps = c.Bought.astype("object").where(c.index % 5 > 0)
    assert MondrianAnonymizer(k=3, mode="infogain").anonymize(c[QIS], gaps).audit.k >= 3


def test_a_mode_is_what_was_fitted():
    """Changing the mode of a fitted object does not give it places"""
    c = load_customers()[QIS]
    m = MondrianAnonymizer(k=3, mode="relaxed")
    assert not m.recodes_new_rows and MondrianAnonymizer().recodes_new_rows
    m.fit(c).set_params(mode="strict")
    with pytest.raises(TypeError, match="cannot recode"):
        m.transform(c)
    assert as_text(m.fit(c).transform(c)).equals(as_text(m.release_.data))
    assert not [o for o in vars(m) if o == "_seen"]
    with pytest.raises(ValueError):
        m.set_params(k=99).fit(c)
    assert not [o for o in vars(m) if o == "_seen" or o.endswith("_")]


@pytest.mark.parametrize(
    "given, word",
    [
        ([TREE], "dict"),
        ({"words": "tree.csv"}, "Taxonomy for each column"),
        ({"others": TREE}, "must name columns of the table. Got 'others'"),
        ({"beside": TREE}, "must name a quasi-identifier"),
        ({"words": Taxonomy.from_dict({"*": ["a"]})}, "'b'"),
    ],
)
def test_taxonomies_are_checked(given, word):
    with pytest.raises(ValueError, match=word):
        m = MondrianAnonymizer(1, ["words"], taxonomies=given, published=["beside"])
        m.fit(pd.DataFrame({"words": list("ab"), "beside": list("ab")}))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "constraints, measured",
    [
        ((LDiversity(l=2),), lambda a: a.l_distinct >= 2),
        ((Alpha(alpha=0.85),), lambda a: a.alpha <= 0.85),
        ((TCloseness(t=0.2),), lambda a: a.t <= 0.2),
    ],
)
def test_constraints_hold_and_cost_groups(mode, constraints, measured):
    X = make_population(800, 0)
    y = X.pop("income")
    r, free = (
        MondrianAnonymizer(k=4, mode=mode, constraints=o).anonymize(X, y) for o in (constraints, ())
    )
    assert r.audit.holds and r.audit.k >= 4 and measured(r.audit)
    assert 1 < r.audit.n_classes < free.audit.n_classes


@pytest.mark.parametrize("name", ["stop_pure", "fallback"])
@pytest.mark.parametrize("value", ["yes", 1, None])
def test_yes_or_no_is_checked(name, value):
    with pytest.raises(ValueError, match=f"'{name}' must be True or False. Got {value!r}"):
        MondrianAnonymizer(k=1, **{name: value}).fit(pd.DataFrame({"a": [1, 2]}))


# ---------- without the fallback
def test_a_region_whose_widest_column_cannot_be_cut_is_a_group():
    # a is the widest and has one 1 among five rows; b could be cut
    X = pd.DataFrame({"a": [0, 0, 0, 0, 1], "b": [1, 1, 2, 2, 2]})
    n_groups = [MondrianAnonymizer(k=2, fallback=o).fit(X).groups_.max() + 1 for o in (True, False)]
    assert n_groups == [2, 1]


def test_halves_that_a_constraint_refuses():
    # halved by a both answers would be settled; by b they are not
    X = pd.DataFrame({"a": [0, 0, 9, 9], "b": [1, 2, 1, 2]})
    y = pd.Series(list("nnyy"))
    for fallback, groups in ((True, [[0, 2], [1, 3]]), (False, [[0, 1, 2, 3]])):
        m = MondrianAnonymizer(
            k=2, mode="relaxed", fallback=fallback, constraints=(LDiversity(l=2),)
        ).fit(X, y)
        assert numbered(regions(m.groups_), 0) == groups


def test_a_schema_tells_of_the_fallback_where_there_is_none():
    X = load_customers()[QIS]
    told = [
        MondrianAnonymizer(k=3, fallback=o).anonymize(X).schema.promise["options"]
        for o in (True, False)
    ]
    assert "fallback" not in told[0] and told[1] == told[0] | {"fallback": False}


def test_infogain_has_no_widest_column():
    X, y = pd.DataFrame({"a": [1, 2]}), pd.Series([0, 1])
    with pytest.raises(ValueError, match="'fallback' must be True with mode='infogain'.*strict"):
        MondrianAnonymizer(k=1, mode="infogain", fallback=False).fit(X, y)


# ---------- what is saved
@pytest.mark.parametrize("recoding", ["set", "interval"])
def test_pickle_holds_no_rows(recoding):
    X = make_population(997, 0)
    m = MondrianAnonymizer(k=5, recoding=recoding).fit(X)
    back = pickle.loads(pickle.dumps(m))
    assert (
        not hasattr(back, "release_")
        and not hasattr(back, "groups_")
        and hasattr(m, "release_")
        and hasattr(m, "groups_")
    )

    def arrays(o, seen):
        if id(o) in seen:
            return
        seen.add(id(o))
        if isinstance(o, (pd.DataFrame, pd.Series)):
            raise AssertionError("a table is saved")
        if isinstance(o, np.ndarray):
            yield o
        elif isinstance(o, dict):
            for v in o.values():
                yield from arrays(v, seen)
        elif isinstance(o, (list, tuple)):
            for v in o:
                yield from arrays(v, seen)
        elif hasattr(o, "__dict__"):
            yield from arrays(vars(o), seen)

    assert all(len(o) != len(X) for o in arrays(vars(back), set()))
    assert as_text(back.transform(X)).equals(as_text(m.transform(X)))


# ---------- cuts by hand
def test_cuts_assign_new_codes():
    cuts = Cuts(
        *map(
            np.array,
            (
                [1, -1, 0, -1, -1],
                [0, -1, 2, -1, -1],
                [1, -1, 3, -1, -1],
                [2, -1, 4, -1, -1],
                [-1, 0, -1, 1, 2],
            ),
        )
    )
    assert cuts.assign([np.array([9, 2, 3]), np.array([-1, 5, 1])]).tolist() == [0, 1, 2]
    assert cuts.assign([np.array([], dtype=int)] * 2).tolist() == []


@pytest.mark.parametrize("values, warned", [(21, True), (20, False)])
def test_many_numbers_are_hardly_classes(values, warned):
    X, y = pd.DataFrame({"age": range(42)}), pd.Series(np.arange(42) % values)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        MondrianAnonymizer(k=3, mode="infogain").anonymize(X, y)
        MondrianAnonymizer(k=3).anonymize(X, y)
    assert [str(o.message)[:32] for o in seen if "different numbers" in str(o.message)] == [
        f"'y' has {values} different numbers, an"
    ] * warned
