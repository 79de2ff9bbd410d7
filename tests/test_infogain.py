"""Cuts by the class: the fast version is the textbook under every option, the invariants hold, and
the worked examples come out.
"""

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from test_medians import WORLD, secrets, some_of
from test_mondrian import QIS, RULES, WIDTHS, as_sets, coded, numbered, regions, tasks

from ppdt._textbook import (
    _textbook_candidates,
    _textbook_children,
    _textbook_infogain,
    _textbook_left,
)
from ppdt.datasets import load_customers, make_population
from ppdt.engine.class_cuts import ENTROPY_TIE
from ppdt.generalization import Taxonomy
from ppdt.infogain import infogain_partition
from ppdt.medians import in_leaf_order
from ppdt.tables import encode, with_missing
from ppdt.trees import entropy

TREE = Taxonomy.from_dict(
    {"*": {"A": {"AA": ["3", "1"], "AB": ["0"]}, "B": ["5", "2", "6"], "4": None}}
)
OPTIONS = st.fixed_dictionaries(
    dict(
        candidates=st.sampled_from(["all", "class_change"]),
        categories=st.sampled_from(["ordered", "subsets"]),
        stop_pure=st.booleans(),
        cut_rule=st.sampled_from(RULES),
        width=st.sampled_from(WIDTHS),
    )
)


@st.composite
def learning_tasks(draw, trees=True, **kw):
    """Attributes, codes, a class of one to three values, k, and taxonomies or None"""
    X, categorical, k = draw(tasks(**kw))
    attributes, codes = map(list, coded(X, categorical))
    taxonomies = [None] * len(codes)
    if trees and draw(st.booleans()):
        s = pd.Series(
            draw(st.lists(st.sampled_from([*"0123456", None]), min_size=len(X), max_size=len(X))),
            name="tree",
            dtype="object",
        )
        if s.notna().any():
            a, c = with_missing(*encode(s))
            a, rank = in_leaf_order(a, TREE)
            at = draw(st.integers(0, len(codes)))
            attributes.insert(at, a)
            codes.insert(at, rank[c])
            taxonomies.insert(at, TREE)
    y = np.array(
        draw(st.lists(st.integers(0, draw(st.integers(0, 2))), min_size=len(X), max_size=len(X)))
    )
    return attributes, codes, y, k, taxonomies


# ---------- fast and textbook
@one_in(3)
@given(learning_tasks(missing=True), OPTIONS, st.none() | secrets)
def test_fast_is_the_textbook(task, options, secret):
    attributes, codes, y, k, taxonomies = task
    options = options | dict(taxonomies=taxonomies, allow=secret and some_of(secret))
    groups, cuts = infogain_partition(attributes, codes, y, k, **options)
    assert as_sets(regions(groups)) == as_sets(
        _textbook_infogain(attributes, codes, y, k, **options)
    )
    assert np.array_equal(cuts.assign(codes), groups)
    assert np.bincount(groups).min() >= k


@pytest.mark.parametrize("candidates", ["all", "class_change"])
@pytest.mark.parametrize("categories", ["ordered", "subsets"])
def test_fast_is_the_textbook_on_a_larger_table(candidates, categories):
    X = make_population(600, 1)
    attributes, codes = coded(X.drop(columns="income"))
    y = encode(X.income)[1]
    groups, cuts = infogain_partition(attributes, codes, y, 4, candidates, categories)
    assert as_sets(regions(groups)) == as_sets(
        _textbook_infogain(attributes, codes, y, 4, candidates, categories)
    )
    assert np.array_equal(cuts.assign(codes), groups)


def test_pure_regions_at_once():
    """A pure table: the first attribute is cut as often as it can be, then the next; not a level
    for each cut
    """
    n = 1_000
    rng = np.random.default_rng(0)
    attributes, codes = coded(
        pd.DataFrame({"a": rng.integers(0, 300, n), "b": rng.integers(0, 5, n)})
    )
    y = np.zeros(n, dtype=int)
    groups, cuts = infogain_partition(attributes, codes, y, 3)
    assert np.array_equal(cuts.assign(codes), groups)
    small = [c[:120] for c in codes]
    assert as_sets(regions(infogain_partition(attributes, small, y[:120], 3)[0])) == as_sets(
        _textbook_infogain(attributes, small, y[:120], 3)
    )


# ---------- what holds for every table
@given(learning_tasks(trees=False), st.sampled_from(["all", "class_change"]))
def test_bound_and_no_cut_left(task, candidates):
    """As strict median cuts: no allowable cut is left, so groups are small"""
    attributes, codes, y, k, _ = task
    groups = infogain_partition(attributes, codes, y, k, candidates)[0]
    largest = np.unique(np.array(codes), axis=1, return_counts=True)[1].max()
    for g in regions(groups):
        assert len(g) <= 2 * len(codes) * (k - 1) + largest
        for c in codes:
            assert all(min((c[g] <= v).sum(), (c[g] > v).sum()) < k for v in range(c.max() + 1))


@given(learning_tasks(trees=False))
def test_two_groups_are_separated_by_a_threshold(task):
    attributes, codes, y, k, _ = task
    parts = regions(infogain_partition(attributes, codes, y, k)[0])
    for i, g in enumerate(parts):
        for h in parts[:i]:
            assert any(c[g].max() < c[h].min() or c[h].max() < c[g].min() for c in codes)


@one_in(2)
@given(learning_tasks(missing=True), OPTIONS)
def test_equal_rows_stay_together(task, options):
    attributes, codes, y, k, taxonomies = task
    groups = infogain_partition(attributes, codes, y, k, **options, taxonomies=taxonomies)[0]
    rows = list(zip(*map(np.ndarray.tolist, codes)))
    assert len(set(zip(rows, groups.tolist()))) == len(set(rows))


@one_in(2)
@given(learning_tasks(missing=True), OPTIONS, st.randoms(use_true_random=False))
def test_row_order_does_not_matter(task, options, random):
    attributes, codes, y, k, taxonomies = task
    order = list(range(len(y)))
    random.shuffle(order)
    a = infogain_partition(attributes, codes, y, k, **options, taxonomies=taxonomies)[0]
    b = infogain_partition(
        attributes, [c[order] for c in codes], y[order], k, **options, taxonomies=taxonomies
    )[0]
    assert np.array_equal(a[order], b)


@given(learning_tasks(trees=False))
def test_the_root_cut_is_no_worse_than_any_other(task):
    attributes, codes, y, k, _ = task
    groups, cuts = infogain_partition(attributes, codes, y, k)
    if cuts.attribute[0] < 0:
        return
    left = codes[cuts.attribute[0]] <= cuts.code[0]
    all_left = [
        _textbook_left(w, y)
        for a, c in zip(attributes, codes)
        for w in _textbook_candidates(a, c, np.arange(len(y)), y)
        if min(map(len, w)) >= k
    ]
    if len(set(y.tolist())) > 1:
        assert (
            _textbook_left([np.flatnonzero(left), np.flatnonzero(~left)], y)
            <= min(all_left) + 2 * ENTROPY_TIE
        )


@one_in(2)
@given(learning_tasks(), secrets)
def test_conditions_hold(task, secret):
    attributes, codes, y, k, taxonomies = task
    allow, n = some_of(secret), len(y)
    if not allow(np.arange(n), np.zeros(n, dtype=int), 1)[0]:
        return
    groups = infogain_partition(attributes, codes, y, k, taxonomies=taxonomies, allow=allow)[0]
    assert allow(np.arange(n), groups, groups.max() + 1).all()


@given(learning_tasks())
def test_stop_pure(task):
    """Groups of the full partition lie inside those that stop, and those that are cut further are
    pure
    """
    attributes, codes, y, k, taxonomies = task
    coarse, fine = (
        infogain_partition(attributes, codes, y, k, stop_pure=o, taxonomies=taxonomies)[0]
        for o in (True, False)
    )
    for g in regions(coarse):
        if len(set(fine[g].tolist())) > 1:
            assert len(set(y[g].tolist())) == 1
    assert len(set(zip(coarse.tolist(), fine.tolist()))) == fine.max() + 1


# ---------- numbers of the chapter
RUNNING = {
    2: [[1, 2], [3, 4, 5], [6, 7], [8, 10, 11], [9, 14], [12, 13]],
    3: [[1, 2, 8, 10, 11], [3, 4, 5, 6, 7], [9, 12, 13, 14]],
    4: [[1, 2, 8, 10, 11], [3, 4, 5, 6, 7], [9, 12, 13, 14]],
    5: [[1, 2, 8, 9, 10, 11, 12, 13, 14], [3, 4, 5, 6, 7]],
}


@pytest.fixture(scope="module")
def customers():
    t = load_customers()
    return *map(list, coded(t[QIS])), encode(t.Bought)[1]


@pytest.mark.parametrize("k", RUNNING)
def test_customers(customers, k):
    groups, cuts = infogain_partition(*customers, k)
    assert numbered(regions(groups)) == RUNNING[k]
    assert (cuts.attribute[0], customers[0][2].items[cuts.code[0]]) == (2, 42)


def test_entropies_of_the_customers(customers):
    _, codes, y = customers
    age = codes[2]

    def left(rows, end):
        return _textbook_left([rows[age[rows] <= end], rows[age[rows] > end]], y)

    ages = customers[0][2].items
    assert left(np.arange(14), ages.index(42)) == pytest.approx(0.848164499)
    assert left(np.flatnonzero(age > ages.index(42)), ages.index(65)) == pytest.approx(0.360568055)
    assert entropy(np.bincount(y)) == 1


def test_minimality(customers):
    """Two of the four ways to give the published answers reproduce the groups, and both say that
    customer 6 bought
    """
    attributes, codes, y = customers
    groups = infogain_partition(attributes, codes, y, 2)[0]
    fit = []
    for six in (0, 1):
        for nine in (0, 1):
            z = y.copy()
            z[[5, 6, 8, 13]] = six, 1 - six, nine, 1 - nine
            if np.array_equal(infogain_partition(attributes, codes, z, 2)[0], groups):
                fit.append((six, nine))
    assert fit == [(1, 0), (1, 1)]


def test_subsets_alternate():
    a, c = encode(pd.Series(np.repeat(["Ayr", "Bath", "Cork", "Dover"], 3), name="town"))
    y = np.array([1, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 0])
    groups, cuts = infogain_partition([a], [c], y, 6, categories="subsets")
    assert as_sets(regions(groups)) == as_sets([[0, 1, 2, 6, 7, 8], [3, 4, 5, 9, 10, 11]])
    assert cuts.assign([np.array([0, 1, 2, 3])]).tolist() == [
        groups[0],
        groups[3],
        groups[6],
        groups[9],
    ]
    # three questions, two regions
    assert len(cuts.region) == 5 and (cuts.region >= 0).sum() == 2


def test_class_change_falls_back_on_the_median():
    a, c = encode(pd.Series(range(8), name="x"))
    y = np.array([0, 1, 1, 1, 1, 1, 1, 0])
    assert [
        np.bincount(infogain_partition([a], [c], y, 3, o)[0]).tolist()
        for o in ("all", "class_change")
    ] == [[3, 5], [4, 4]]


def test_children():
    a = in_leaf_order(
        encode(pd.Series(["Chile", "France", "Japan", "Peru", "Spain"], name="country"))[0], WORLD
    )[0]

    def below(*names):
        return [
            [a.items[v] for v in o]
            for o in _textbook_children(a, WORLD, sorted(a.items.index(o) for o in names))
        ]

    assert below("Spain", "France", "Japan", "Peru") == [["Spain", "France"], ["Peru"], ["Japan"]]
    assert below("Peru", "Chile") == [["Peru"], ["Chile"]] and below("Japan") == [["Japan"]]


# ---------- parameters
def test_partition_checks_its_input(customers):
    attributes, codes, y = customers
    with pytest.raises(ValueError, match="'candidates'"):
        infogain_partition(attributes, codes, y, 3, "some")
    with pytest.raises(ValueError, match="'categories'"):
        infogain_partition(attributes, codes, y, 3, categories="sorted")
    with pytest.raises(ValueError, match="'cut_rule'"):
        infogain_partition(attributes, codes, y, 3, cut_rule="gt")
    with pytest.raises(ValueError, match="'y' must have one class"):
        infogain_partition(attributes, codes, y[:3], 3)
    for bad in (y - 1, y + 0.5, y.astype(str)):
        with pytest.raises(ValueError, match="'y' must hold codes"):
            infogain_partition(attributes, codes, bad, 3)
    with pytest.raises(ValueError, match="at most"):
        infogain_partition(attributes, codes, y + 5_000, 3)
    with pytest.raises(ValueError, match="'taxonomies'"):
        infogain_partition(attributes, codes, y, 3, taxonomies=[None])
    a, c = encode(pd.Series(["Chile", "France"], name="country"))
    with pytest.raises(ValueError, match="in_leaf_order"):
        infogain_partition([a], [c], np.array([0, 1]), 1, taxonomies=[WORLD])
    with pytest.raises(ValueError, match="'k'"):
        infogain_partition(attributes, codes, y, 15)
