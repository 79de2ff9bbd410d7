"""Median cuts: relaxed cuts, conditions on the groups, the midpoint and the order of a taxonomy;
strict cuts are in test_mondrian.py too.
"""

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from test_mondrian import QIS, RULES, WIDTHS, as_sets, coded, numbered, regions, tasks, whole

from ppdt._textbook import _textbook_cut, _textbook_relaxed, _textbook_strict
from ppdt.datasets import load_customers, make_population
from ppdt.engine.median_cuts import _median_cuts
from ppdt.generalization import Taxonomy
from ppdt.medians import _halves, in_leaf_order, relaxed_partition, strict_partition
from ppdt.tables import MISSING, encode, with_missing

secrets = st.lists(st.integers(0, 2), min_size=40, max_size=40)


def some_of(secret, least=1):
    """Groups must hold `least` rows with a 0"""
    secret = np.asarray(secret)

    def allow(rows, groups, n_groups):
        # any subset, each row once
        assert len(np.unique(rows)) == len(rows) == len(groups)
        # numbered without a gap
        assert set(np.asarray(groups).tolist()) == set(range(n_groups))
        return np.bincount(np.asarray(groups)[secret[rows] == 0], minlength=n_groups) >= least

    return allow


# ---------- fast and textbook
@one_in(2)
@given(
    tasks(missing=True),
    st.sampled_from(RULES),
    st.sampled_from(WIDTHS),
    st.booleans(),
    st.sampled_from(["lower", "midpoint"]),
    st.none() | secrets,
)
def test_strict_is_the_textbook(task, cut_rule, width, fallback, median, secret):
    X, categorical, k = task
    attributes, codes = coded(X, categorical)
    options = dict(
        cut_rule=cut_rule,
        width=width,
        fallback=fallback,
        median=median,
        allow=secret and some_of(secret),
    )
    groups, cuts = strict_partition(attributes, codes, k, **options)
    assert as_sets(regions(groups)) == as_sets(_textbook_strict(attributes, codes, k, **options))
    assert np.array_equal(cuts.assign(codes), groups)


@one_in(2)
@given(
    tasks(missing=True), st.sampled_from(WIDTHS), st.none() | secrets, st.booleans(), st.booleans()
)
def test_relaxed_is_the_textbook(task, width, secret, ranked, fallback):
    X, categorical, k = task
    attributes, codes = coded(X, categorical)
    options = dict(
        width=width,
        allow=secret and some_of(secret),
        tie=np.arange(len(X))[::-1] if ranked else None,
        fallback=fallback,
    )
    groups = relaxed_partition(attributes, codes, k, **options)
    assert as_sets(regions(groups)) == as_sets(_textbook_relaxed(attributes, codes, k, **options))


def test_relaxed_is_the_textbook_on_a_larger_table():
    attributes, codes = coded(make_population(1_500, 1))
    assert as_sets(regions(relaxed_partition(attributes, codes, 4))) == as_sets(
        _textbook_relaxed(attributes, codes, 4)
    )


# ---------- what holds for every table
@given(tasks(missing=True), st.sampled_from(WIDTHS))
def test_relaxed_sizes(task, width):
    X, categorical, k = task
    sizes = np.bincount(relaxed_partition(*coded(X, categorical), k, width))
    assert sizes.sum() == len(X) and k <= sizes.min() and sizes.max() <= 2 * k - 1


@one_in(2)
@given(
    tasks(missing=True),
    st.sampled_from(RULES),
    st.sampled_from(WIDTHS),
    st.none() | secrets,
    st.booleans(),
)
def test_without_the_fallback_no_group_is_divided_further(task, cut_rule, width, secret, halves):
    """Groups of k rows, each made of whole groups that the fallback leaves: never more of them"""
    X, categorical, k = task
    attributes, codes = coded(X, categorical)
    options = dict(width=width, allow=secret and some_of(secret))
    partition = relaxed_partition
    if not halves:
        options["cut_rule"] = cut_rule

        def partition(*args, **words):
            return strict_partition(*args, **words)[0]

    fine, coarse = (
        partition(attributes, codes, k, fallback=fallback, **options) for fallback in (True, False)
    )
    assert np.bincount(coarse).min() >= k and coarse.max() <= fine.max()
    assert all(len(set(coarse[r].tolist())) == 1 for r in regions(fine))
    if halves and secret is None:
        assert np.array_equal(coarse, fine)


@one_in(2)
@given(tasks(), secrets, st.integers(1, 3))
def test_conditions_hold_and_no_cut_is_left(task, secret, least):
    """Every group is allowed when the whole table is, and strict cuts go on while there is one"""
    X, categorical, k = task
    allow, attributes = some_of(secret, least), None
    if not allow(np.arange(len(X)), np.zeros(len(X), dtype=int), 1)[0]:
        return
    attributes, codes = coded(X, categorical)
    strict, relaxed = (
        strict_partition(attributes, codes, k, allow=allow)[0],
        relaxed_partition(attributes, codes, k, allow=allow),
    )
    for g in (strict, relaxed):
        assert np.bincount(g).min() >= k and allow(np.arange(len(X)), g, g.max() + 1).all()
    for r in regions(strict):
        for c in codes:
            for end in (np.sort(c[r])[(len(r) - 1) // 2], np.sort(c[r])[(len(r) - 1) // 2] - 1):
                left = c[r] <= end
                if min(left.sum(), (~left).sum()) >= k:
                    assert not allow(r, (~left).astype(int), 2).all()


@one_in(2)
@given(tasks(), st.randoms(use_true_random=False))
def test_row_order_does_not_matter(task, random):
    """The published groups are the same; among rows that agree everywhere it makes no difference
    who is who
    """
    X, categorical, k = task
    order = list(range(len(X)))
    random.shuffle(order)

    def tuples(t):
        codes = list(coded(t, categorical))[1]
        g = relaxed_partition(*coded(t, categorical), k)
        return sorted(sorted(zip(*[c[r].tolist() for c in codes])) for r in regions(g))

    assert tuples(X) == tuples(X.iloc[order])


@given(tasks(), st.randoms(use_true_random=False))
def test_ties_go_by_rank(task, random):
    X, categorical, k = task
    order = list(range(len(X)))
    random.shuffle(order)
    rank = np.arange(len(X))
    a, b = (
        relaxed_partition(*coded(X, categorical), k, tie=rank),
        relaxed_partition(*coded(X.iloc[order], categorical), k, tie=rank[order]),
    )
    assert np.array_equal(a[order], b)


# ---------- numbers of the chapter
@pytest.mark.parametrize(
    "k, expected",
    [(3, [[1, 2, 4, 5], [3, 10, 11], [6, 12, 13, 14], [7, 8, 9]]), (8, [list(range(1, 15))])],
)
def test_customers(k, expected):
    assert numbered(regions(relaxed_partition(*coded(load_customers()[QIS]), k))) == expected


def test_customers_by_row_number():
    """With ties by row number instead of content the groups are others: why content decides"""
    a, c = coded(load_customers()[QIS])
    a, c = [a[0]], [c[0]]
    assert numbered(regions(relaxed_partition(a, c, 7))) == [
        [1, 2, 3, 4, 5, 6, 7],
        [8, 9, 10, 11, 12, 13, 14],
    ]
    assert numbered(regions(relaxed_partition(a, c, 7, tie=-np.arange(14)))) == [
        [1, 2, 3, 4, 5, 13, 14],
        [6, 7, 8, 9, 10, 11, 12],
    ]


def test_race():
    a, c = encode(
        pd.Series(
            np.repeat(
                ["Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"],
                [286, 895, 2817, 231, 25933],
            )
        )
    )
    g = relaxed_partition([a], [c], 15_081)
    assert np.bincount(g).tolist() == [15_081, 15_081] and sorted(np.bincount(g[c == 4])) == [
        10_852,
        15_081,
    ]


# ---------- the midpoint
@given(st.lists(whole, min_size=2, max_size=30), st.integers(1, 6), st.sampled_from(RULES))
def test_midpoint_divides_like_the_lower_median_where_the_two_differ(values, k, rule):
    a, c = encode(pd.Series(values))
    v = np.sort(c)
    lower, middle = _textbook_cut(c, k, rule), _textbook_cut(c, k, rule, a.positions)
    if v[(len(v) - 1) // 2] == v[len(v) // 2]:
        assert lower == middle
    elif min((c <= v[(len(v) - 1) // 2]).sum(), (c > v[(len(v) - 1) // 2]).sum()) >= k:
        assert np.array_equal(c <= v[(len(v) - 1) // 2], c <= middle)


def test_midpoint_moves_the_border():
    codes, places = np.array([0, 1, 3, 4]), np.array([20.0, 30.0, 35.0, 50.0, 60.0])
    assert [_median_cuts(codes, np.array([4]), 5, 2, "le", p)[0, 0] for p in (None, places)] == [
        1,
        2,
    ]
    assert _median_cuts(
        np.array([0, 1]), np.array([2]), 2, 1, "le_then_lt", np.array([-1.7e308, 1.7e308]) / 2
    ).tolist() == [[0], [-1]]
    near = np.array([2.0**60, 2.0**60, 2.0**60])  # equal as floats
    assert _median_cuts(np.array([0, 1, 1, 2]), np.array([4]), 3, 1, "le", near)[0, 0] == 1


def test_strict_cuts_lie_at_the_midpoint_of_numbers():
    """20, 30 | 50, 60: half-way is 40, so 35, which nobody has, goes left; words have no middle"""
    ages = encode(pd.Series([20, 30, 35, 50, 60], name="age"))[0]
    words = encode(pd.Series(list("abcde"), name="word"))[0]
    codes = np.array([0, 1, 3, 4])
    for a, median, last in ((ages, "lower", 1), (ages, "midpoint", 2), (words, "midpoint", 1)):
        groups, cuts = strict_partition([a], [codes], 2, median=median)
        assert groups.tolist() == [0, 0, 1, 1]
        assert cuts.code.tolist() == [last, -1, -1]


# ---------- leaf order
WORLD = Taxonomy.from_dict(
    {"World": {"Europe": ["Spain", "France"], "America": ["Peru", "Chile"], "Asia": ["Japan"]}}
)


def test_leaf_order():
    a, codes = with_missing(
        *encode(pd.Series(["Chile", None, "France", "Japan", "Peru", "Spain"], name="c"))
    )
    b, rank = in_leaf_order(a, WORLD)
    assert (
        b.items == ["Spain", "France", "Peru", "Chile", "Japan", MISSING]
        and [b.items[r] for r in rank] == a.items
    )
    assert b.kind == "categorical" and b.name == "c"
    n = encode(pd.Series([1, 5, 9], name="n"))[0]
    same, rank = in_leaf_order(n, Taxonomy.from_edges([1, 5, 9], [0, 6, 10]))
    assert same is n and rank.tolist() == [0, 1, 2]
    turned, rank = in_leaf_order(n, Taxonomy.from_lines([[9, "odd"], [1, "odd"], [5, "odd"]]))
    assert turned.kind == "categorical" and turned.items == [9, 1, 5] and rank.tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match="'Italy'"):
        in_leaf_order(encode(pd.Series(["Italy"], name="c"))[0], WORLD)


# ---------- parameters
def test_partitions_check_their_input():
    a, c = encode(pd.Series([1.0, 2.0, np.nan, 3.0], name="x"))
    with pytest.raises(ValueError, match="with_missing"):
        relaxed_partition([a], [c], 2)
    with pytest.raises(ValueError, match="at least one"):
        relaxed_partition([], [], 1)
    with pytest.raises(ValueError, match="'width'"):
        relaxed_partition([a], [np.array([0, 1])], 1, "wide")
    with pytest.raises(ValueError, match="'median'"):
        strict_partition([a], [np.array([0, 1])], 1, median="mean")
    for k in (0, 3):
        with pytest.raises(ValueError, match="'k'"):
            relaxed_partition([a], [np.array([0, 1])], k)


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=9), min_size=1, max_size=5))
def test_halves(regions_):
    """The first ceil(n/2) of each region in stable order"""
    sizes = np.array(list(map(len, regions_)))
    left = _halves(np.concatenate(regions_), sizes, 5)
    for r, part in zip(regions_, np.split(left, np.cumsum(sizes)[:-1])):
        assert (
            sorted(np.argsort(r, kind="stable")[: (len(r) + 1) // 2].tolist())
            == np.flatnonzero(part).tolist()
        )
