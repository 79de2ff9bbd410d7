"""What cuts leave of a column, and what is published of it: regions and ends."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from random_tables import row_cells

from ppdt.clusters import ClusterAnonymizer
from ppdt.datasets import load_customers, make_population
from ppdt.diversity import LDiversity
from ppdt.engine.cut_regions import leaf_borders, region_runs
from ppdt.generalization import Taxonomy
from ppdt.infogain import infogain_partition
from ppdt.loss import gcp
from ppdt.medians import relaxed_cuts, relaxed_partition, strict_partition
from ppdt.mondrian import MondrianAnonymizer
from ppdt.tables import MISSING, Exact, Interval, Node, Suppressed, ValueSet, encode

# leaves b and e stand between others, f stands behind all
LEAVES = list("abcdef")
TREE = Taxonomy.from_dict({"*": {"low": ["a", "b"], "high": {"some": ["c", "d", "e"], "f": None}}})
SHOP = load_customers()


@st.composite
def tables(draw, gaps=False):
    """(table, class): two columns of numbers with room between them, one of words"""
    n = draw(st.integers(2, 30))
    number = st.sampled_from([0, 1, 4, 9, 16, 25])
    word = st.sampled_from("acdf")
    if gaps:
        number, word = st.one_of(st.none(), number), st.one_of(st.none(), word)
    column = lambda v: draw(st.lists(v, min_size=n, max_size=n))
    X = pd.DataFrame({"x": column(number), "y": column(number), "w": column(word)})
    if gaps:
        X = X.astype({"x": float, "y": float, "w": "str"})
    return X, pd.Series(column(st.integers(0, 2)), name="class")


def coded(X):
    return map(list, zip(*[encode(X[o]) for o in X]))


def codes_in(runs):
    return [v for first, last in runs for v in range(first, last + 1)]


def holds(cell, v, tree=None):
    """Does a cell say that a value may be there?"""
    if isinstance(cell, Suppressed):
        return True
    if isinstance(cell, Node):
        return v in tree.leaves(cell.name)
    if isinstance(cell, Interval):
        inside = v is not MISSING and cell.lo <= v <= cell.hi
        return inside and not (cell.hi_open and v == cell.hi)
    return v in cell.values


# ---------- runs
@given(tables(), st.integers(1, 6), st.sampled_from(["ordered", "subsets", "medians"]))
def test_runs_are_the_codes_that_fall_into_a_region(table, k, how):
    """All rows that there could be are sent down; a region is a box of them"""
    X, y = table
    a, c = coded(X)
    k = min(k, len(X))
    if how == "medians":
        groups, cuts = strict_partition(a, c, k)
    else:
        groups, cuts = infogain_partition(a, c, encode(y)[1], k, categories=how)
    every = [o.ravel() for o in np.indices([len(o) for o in a])]
    at = cuts.assign(every)
    runs = region_runs(cuts, [len(o) for o in a])
    assert len(runs) == groups.max() + 1
    for r, box in enumerate(runs):
        inside = [codes_in(o) for o in box]
        found = sorted(zip(*[o[at == r].tolist() for o in every]))
        assert found == sorted(itertools.product(*inside))
        assert all(first > last + 1 for o in box for (_, last), (first, _) in zip(o, o[1:]))


def halved(attributes, codes, k, rows, box, tie):
    """Relaxed cuts by definition: (rows, box) of each region"""
    if len(rows) < 2 * k:
        return [(rows, box)]
    reach = []
    for a, c in zip(attributes, codes):
        p, here = a.positions, c[rows]
        whole = p[c.max()] - p[c.min()]
        width = round((p[here.max()] - p[here.min()]) / whole, 12) if whole else 0.0
        reach.append((here.min() < here.max(), width))
    j = max(range(len(codes)), key=lambda i: (*reach[i], -i))
    order = rows[np.lexsort([c[rows] for c in [tie, *codes[::-1], codes[j]]])]
    m = (len(rows) + 1) // 2
    last, first = codes[j][order[m - 1]], codes[j][order[m]]
    begin = last if first == last else last + 1
    lo, hi = box[j]
    sides = [(order[:m], (lo, min(hi, last))), (order[m:], (max(lo, begin), hi))]
    return [
        o
        for part, end in sides
        for o in halved(attributes, codes, k, part, [*box[:j], end, *box[j + 1 :]], tie)
    ]


@given(tables(), st.integers(1, 6))
def test_regions_of_relaxed_cuts_are_the_textbooks(table, k):
    a, c = coded(table[0])
    n = len(c[0])
    k, tie = min(k, n), np.arange(n)
    groups, cuts, shared = relaxed_cuts(a, c, k)
    assert np.array_equal(groups, relaxed_partition(a, c, k))
    whole = [(0, len(o) - 1) for o in a]
    wanted = {
        tuple(sorted(rows.tolist())): box for rows, box in halved(a, c, k, np.arange(n), whole, tie)
    }
    runs = region_runs(cuts, [len(o) for o in a], shared)
    found = {tuple(np.flatnonzero(groups == r).tolist()): box for r, box in enumerate(runs)}
    assert found == {rows: [(o,) for o in box] for rows, box in wanted.items()}


def test_a_border_goes_where_leaves_are_least_related():
    # of people with a, c, d and f: b stays with a, e with d
    assert leaf_borders(TREE, np.array([0, 2, 3, 5])).tolist() == [1, 2, 4, 5]
    # a value that is missing lies behind all leaves
    assert leaf_borders(TREE, np.array([0, 6])).tolist() == [5, 6]


# ---------- what is published
MODES = st.sampled_from(["strict", "relaxed", "infogain"])


def made(table, k, mode, **options):
    X, y = table
    m = MondrianAnonymizer(k=k, mode=mode, recoding="region", **options)
    return m.fit(X, y if mode == "infogain" else None)


@given(tables(), st.integers(2, 6), MODES, st.booleans(), st.sampled_from(["ordered", "subsets"]))
def test_a_region_holds_its_rows_and_what_falls_into_it(table, k, mode, with_tree, categories):
    X, y = table
    k = min(k, len(X))
    tree = {"w": TREE} if with_tree else None
    m = made(table, k, mode, taxonomies=tree, categories=categories)
    assert m.release_.audit.k >= k and m.release_.audit.holds
    for o in X:
        cells = row_cells(m.release_.data[o])
        assert all(holds(c, v, TREE) for c, v in zip(cells, X[o]))
    if mode == "relaxed":
        return
    # numbers that nobody has, between the ends of the column, and all leaves
    x, z = (np.arange(X[o].min(), X[o].max() + 1) for o in ("x", "y"))
    words = LEAVES if with_tree else sorted(set(X.w))
    new = pd.DataFrame(itertools.product(x, z[::3], words), columns=list(X))
    again = m.transform(new)
    for o in X:
        cells = row_cells(again[o])
        assert all(holds(c, v, TREE) for c, v in zip(cells, new[o]))
    old = m.transform(X)
    for o in X:
        assert row_cells(old[o]) == row_cells(m.release_.data[o])
    saved = pickle.loads(pickle.dumps(m)).transform(new)
    assert all(row_cells(saved[o]) == row_cells(again[o]) for o in X)


@given(tables(), st.integers(2, 6), MODES)
def test_a_region_holds_what_ends_and_sets_hold(table, k, mode):
    """The same groups; each recoding says no more than the one before"""
    X, y = table
    k = min(k, len(X))
    y = y if mode == "infogain" else None
    one = [
        MondrianAnonymizer(k=k, mode=mode, recoding=o).fit(X, y) for o in ("set", "ends", "region")
    ]
    assert all(np.array_equal(m.groups_, one[0].groups_) for m in one)
    for o in X:
        a = encode(X[o])[0]
        may = [
            np.stack([c.possible(a) for c in cs])[codes]
            for codes, cs in (m.release_.cells(o) for m in one)
        ]
        assert (may[0] <= may[1]).all() and (may[1] <= may[2]).all()


@given(tables(gaps=True), st.integers(2, 6), MODES, st.booleans())
def test_missing_values_lie_in_their_cells(table, k, mode, with_tree):
    X, y = table
    k = min(k, len(X))
    tree = {"w": TREE} if with_tree else None
    m = made(table, k, mode, taxonomies=tree, missing="category")
    for o in X:
        known = [MISSING if pd.isna(v) else v for v in X[o]]
        cells = row_cells(m.release_.data[o])
        assert all(holds(c, v, TREE) for c, v in zip(cells, known))
        if o != "w":
            assert not any(isinstance(c, ValueSet) for c in cells)
        again = None if mode == "relaxed" else row_cells(m.transform(X)[o])
        assert again is None or again == cells


@given(tables(), st.integers(2, 6), st.randoms(use_true_random=False))
def test_the_order_of_rows_decides_nothing(table, k, random):
    X, y = table
    order = list(range(len(X)))
    random.shuffle(order)
    k = min(k, len(X))
    for recoding in ("ends", "region"):
        m = MondrianAnonymizer(k=k, recoding=recoding)
        texts = [m.anonymize(o).text().sort_index() for o in (X, X.iloc[order])]
        pd.testing.assert_frame_equal(*texts)


def test_a_region_does_not_follow_the_values_of_its_group():
    """Others between the same cuts change the set, not the region"""
    X = pd.DataFrame(
        {"x": [0, 1, 2, 3, 4, 10, 11, 12, 13, 14], "y": [0, 9, 4, 5, 6, 0, 9, 4, 5, 6]}
    )
    other = X.assign(y=[4, 5, 4, 5, 6, 0, 9, 4, 5, 6])
    for k in (5,):
        sets, cells = [
            [MondrianAnonymizer(k=k, recoding=o).anonymize(t).text().y.iloc[0] for t in (X, other)]
            for o in ("set", "region")
        ]
        assert sets[0] != sets[1] and cells == ["[0, 9]"] * 2


def test_a_range_is_open_where_a_cut_ends_it():
    X = pd.DataFrame({"x": [0, 1, 2, 10, 11, 12]})
    m = MondrianAnonymizer(k=3, recoding="region").fit(X)
    assert m.release_.text().x.tolist() == ["[0, 10)"] * 3 + ["[10, 12]"] * 3
    assert m.attributes_[0].items == [0, 10, 12]
    assert m.transform(pd.DataFrame({"x": [9, -5, 99]})).x.tolist() == [
        Interval(0, 10, hi_open=True),
        Interval(0, 10, hi_open=True),
        Interval(10, 12),
    ]


def test_dates_and_one_value():
    days = pd.date_range("2024-01-01", periods=6)
    m = MondrianAnonymizer(k=3, recoding="region").fit(pd.DataFrame({"day": days}))
    assert m.release_.text().day.iloc[0] == "[2024-01-01, 2024-01-04)"
    same = pd.DataFrame({"x": [1, 1, 1], "w": ["a"] * 3})
    assert made((same, None), 2, "strict").release_.text().iloc[0].tolist() == ["1", "a"]


def test_a_number_that_may_be_missing_as_well_is_suppressed():
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0, None, 5.0, 6.0, 7.0, 8.0]})
    m = MondrianAnonymizer(k=4, recoding="region", missing="category").fit(X)
    assert set(m.release_.data.x) == {Interval(1.0, 6.0, hi_open=True), Suppressed()}
    gaps = pd.DataFrame({"x": [1.0, 2.0, 3.0, None, None, None]})
    m = MondrianAnonymizer(k=3, recoding="region", missing="category").fit(gaps)
    assert set(m.release_.data.x) == {Interval(1.0, 3.0), Exact(MISSING)}
    assert m.transform(gaps.iloc[[5]]).x.tolist() == [Exact(MISSING)]


def test_a_leaf_that_nobody_has_stays_with_its_relatives():
    X = pd.DataFrame({"w": list("aaaccc")})
    m = MondrianAnonymizer(k=3, recoding="region", taxonomies={"w": TREE}).fit(X)
    assert m.release_.data.w.tolist() == [Node("low")] * 3 + [Node("high")] * 3
    new = m.transform(pd.DataFrame({"w": LEAVES}))
    assert new.w.tolist() == [Node("low")] * 2 + [Node("high")] * 4


@pytest.mark.parametrize("recoding", ["ends", "region"])
def test_conditions_and_persons(recoding):
    person = np.arange(600) // 3
    who = pd.Series(person).astype("str")
    secret = np.where(person % 4 == 0, "yes", "no")
    X = make_population(600, 0).drop(columns=["income", "disease"])
    t = X.assign(who=who, secret=secret)
    m = MondrianAnonymizer(
        k=5, recoding=recoding, person="who", constraints=[LDiversity(2, sensitive="secret")]
    )
    audit = m.anonymize(t).audit
    assert audit.holds and audit.k >= 5
    assert min(t.secret.groupby(m.groups_).nunique()) >= 2
    assert min(who.groupby(m.groups_).nunique()) >= 5


def test_ends_of_groups_that_are_no_regions():
    X = make_population(300, 0)[["age", "region", "hours"]]
    for m in (
        MondrianAnonymizer(k=5, recoding="ends", refine=100),
        ClusterAnonymizer(k=5, recoding="ends"),
    ):
        r = m.anonymize(X)
        assert r.audit.k >= 5
        sets = m.set_params(recoding="set").anonymize(X)
        assert gcp(r.data, X, form="spread") >= gcp(sets.data, X, form="spread")


def test_new_rows_find_groups_with_suppressed_cells():
    X = pd.DataFrame({"x": [1.0, 2.0, None, 8.0, 9.0, 9.5]})
    m = ClusterAnonymizer(k=3, recoding="ends", missing="category").fit(X)
    assert Suppressed() in set(m.release_.data.x)
    assert set(m.transform(X).x) <= set(m.release_.data.x)


def test_groups_that_are_no_regions_are_refused():
    with pytest.raises(ValueError, match="'recoding' must not be 'region' here"):
        ClusterAnonymizer(recoding="region").fit(SHOP)
    with pytest.raises(ValueError, match="'refine' must be 0 with recoding='region'"):
        MondrianAnonymizer(recoding="region", refine=5).fit(SHOP)
    with pytest.raises(ValueError, match="'set', 'interval', 'ends', 'region'"):
        MondrianAnonymizer(recoding="regions").fit(SHOP)
