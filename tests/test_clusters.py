"""Groups that grow row by row, and groups that are mended: fast and by definition."""

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st

from ppdt._textbook import _textbook_complete, _textbook_k_member
from ppdt.clusters import ClusterAnonymizer
from ppdt.datasets import load_customers, make_population
from ppdt.diversity import Alpha, LDiversity
from ppdt.engine.greedy_groups import complete_groups, k_members
from ppdt.engine.group_loss import WHOLE, column_parts, group_loss
from ppdt.engine.group_state import GroupState
from ppdt.engine.refined_groups import refined
from ppdt.engine.refining import in_blocks
from ppdt.generalization import Taxonomy
from ppdt.loss import gcp
from ppdt.mondrian import MondrianAnonymizer
from ppdt.tables import encode, with_missing

TREE = Taxonomy.from_dict({"*": {"low": {"a": None, "b": None}, "high": ["c", "d"]}}, public=True)
CUSTOMERS = load_customers()
SHOP, BOUGHT = CUSTOMERS.drop(columns="Bought"), CUSTOMERS.Bought


@st.composite
def losses(draw, least=2, most=16):
    """(parts, n): numbers, words and nodes, some values missing"""
    n = draw(st.integers(least, most))
    parts = []
    for kind in draw(st.lists(st.sampled_from("nwt"), min_size=1, max_size=4)):
        if kind == "n":
            values = st.sampled_from([0.0, 1.0, 2.5, 7.0, -3.0, None])
        else:
            values = st.sampled_from(["a", "b", "c", "d", None])
        s = pd.Series(draw(st.lists(values, min_size=n, max_size=n)), name=kind)
        s = s.astype(float) if kind == "n" else s.astype("str")
        weight = draw(st.sampled_from([1.0, 0.3, 2.0]))
        form = draw(st.sampled_from(["spread", "size"]))
        tree = TREE if kind == "t" else None
        parts += column_parts(*with_missing(*encode(s)), weight, form, tree)
    return parts, n


def lists_of(groups):
    return [np.flatnonzero(groups == g).tolist() for g in range(groups.max() + 1)]


def total(parts, groups):
    return sum(len(o) * group_loss(parts, o) for o in lists_of(groups))


@given(losses(), st.integers(1, 5))
def test_fast_groups_are_the_textbooks(table, k):
    parts, n = table
    k = min(k, n)
    groups, left = _textbook_k_member(parts, n, k)
    fast = k_members(parts, n, k)
    assert [sorted(o) for o in groups] == lists_of(fast)
    assert left == np.flatnonzero(fast < 0).tolist()
    whole = complete_groups(parts, fast, k)
    assert [sorted(o) for o in _textbook_complete(parts, groups, left)] == lists_of(whole)


@one_in(2)
@given(losses(least=3), st.data())
def test_a_state_is_what_it_is_by_definition(table, data):
    parts, n = table
    m = data.draw(st.integers(2, max(2, n // 2)))
    state = GroupState(parts, np.arange(n) % m)
    for _ in range(5):
        i, j = data.draw(st.lists(st.integers(0, n - 1), min_size=2, max_size=2, unique=True))
        g, h = state.groups[[i, j]].tolist()
        if g == h:
            continue
        now = total(parts, state.groups)
        assert state.total == now
        swapped = state.groups.copy()
        swapped[[i, j]] = h, g
        assert state.swapped(i, np.array([j]))[0] == total(parts, swapped) - now
        alone = state.size[g] == 1
        if not alone:
            moved = state.groups.copy()
            moved[i] = h
            price = state.price_with(i)[h] - state.saved_without(i)
            assert price == total(parts, moved) - now
        state.swap(i, j) if alone or data.draw(st.booleans()) else state.put(i, h)


@one_in(2, least=5)
@given(
    losses(least=6),
    st.integers(1, 3),
    st.integers(0, 30),
    st.booleans(),
    st.sampled_from([0, 0, 3]),
)
def test_mended_groups_lose_less(table, k, budget, strict, anneal):
    parts, n = table
    before = np.arange(n) % max(1, n // max(k, 2))
    odd = np.arange(n) % 2
    enough = lambda rows, groups, m: np.bincount(groups, odd[rows], minlength=m) > 0
    allow = enough if strict and np.bincount(before, odd).min() > 0 else None
    after = refined(parts, before, k, budget, allow, anneal)
    assert total(parts, after) <= total(parts, before)
    assert np.bincount(after).min() >= k
    if allow is not None:
        assert allow(np.arange(n), after, after.max() + 1).all()
    if total(parts, after) == 0 or not budget:
        return
    again = refined(parts, before, k, budget, allow, anneal)
    assert again.tolist() == after.tolist()


@given(losses(least=4), st.integers(2, 6))
def test_blocks_are_small_and_complete(table, most):
    parts, n = table
    a, c = encode(pd.Series(parts[0].codes, name="a"))
    blocks = in_blocks([a], [np.sort(c)], most)
    assert max(map(len, blocks)) <= most
    assert np.sort(np.concatenate(blocks)).tolist() == list(range(n))


@pytest.mark.parametrize("recoding", ["set", "interval", "mean"])
@pytest.mark.parametrize("refine", [0, 10_000])
def test_the_order_of_rows_decides_nothing(recoding, refine):
    people = make_population(300, 1)[["age", "region", "education", "income"]]
    X, y = people.drop(columns="income"), people.income
    m = ClusterAnonymizer(k=4, recoding=recoding, refine=refine, block_rows=100)
    there = m.anonymize(X, y).data.astype(str).sort_index()
    mixed = np.random.default_rng(0).permutation(300)
    here = m.anonymize(X.iloc[mixed], y.iloc[mixed]).data.astype(str).sort_index()
    # rows with equal quasi-identifiers may stand for each other
    key = X.astype(str).agg("|".join, axis=1).sort_index()
    for t in (here, there):
        t["key"] = key
    columns = list(there)
    assert (
        here.sort_values(columns).to_numpy().tolist()
        == there.sort_values(columns).to_numpy().tolist()
    )


FEW = one_in(5, least=5)


@FEW
@given(st.integers(0, 50), st.sampled_from([LDiversity(2), Alpha(0.6)]), st.booleans())
def test_groups_keep_what_was_promised(seed, constraint, refine):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 40))
    X = pd.DataFrame({"a": rng.integers(0, 20, n), "b": rng.choice(list("xyz"), n)})
    y = pd.Series(np.where(np.arange(n) % 2, "yes", "no"), name="c")
    m = ClusterAnonymizer(k=3, constraints=[constraint], refine=100 * refine, block_rows=15)
    m.fit(X, y)
    table = pd.crosstab(m.groups_, y.to_numpy())
    assert table.sum(axis=1).min() >= 3
    if isinstance(constraint, Alpha):
        assert (table.max(axis=1) <= 0.6 * table.sum(axis=1)).all()
    else:
        assert (table > 0).all(axis=None)


def test_rows_that_no_group_may_take_are_no_small_group():
    parts = [p for o in SHOP for p in column_parts(*encode(SHOP[o]))]
    groups = np.array([0] * 4 + [1] * 4 + [2] * 4 + [-1, -1])

    def allow(rows, of, n):
        "No group that was there may take in others; those left over may be together"
        size = np.bincount(of, minlength=n)
        return (size == 4) | (size == 2) | (size > 5)

    found = complete_groups(parts, groups, 3, allow)
    assert sorted(np.bincount(found)) == [4, 4, 6]


def test_rows_of_a_person_are_counted_once():
    X = pd.DataFrame({"who": np.repeat(range(20), 3), "age": np.repeat(range(20), 3)})
    m = ClusterAnonymizer(k=4, person="who").fit(X)
    assert X.who.groupby(m.groups_).nunique().min() >= 4


@FEW
@given(st.integers(0, 100), st.sampled_from(["set", "interval"]), st.booleans())
def test_a_row_of_the_table_gets_cells_that_hold_it(seed, recoding, with_tree):
    people = make_population(60, seed)[["age", "region", "hours"]]
    trees = None
    if with_tree:
        names = sorted(people.region.unique())
        half = {"(some)": names[::2], "(others)": names[1::2]}
        trees = {"region": Taxonomy.from_dict({"*": half}, public=True)}
    m = ClusterAnonymizer(k=3, recoding=recoding, taxonomies=trees).fit(people)
    new = m.transform(people)
    for o in people:
        for value, cell in zip(people[o], new[o]):
            values = cell.listed(trees["region"]) if trees and o == "region" else None
            if values is None and hasattr(cell, "lo"):
                assert cell.lo <= value <= cell.hi
            elif values is None:
                assert value in getattr(cell, "values", {cell})
            else:
                assert value in values


def test_a_weight_makes_a_column_lose_less():
    X = make_population(400, 2)[["age", "hours", "region"]]
    lost = {}
    for w in (0.2, 5.0):
        r = ClusterAnonymizer(k=5, weights={"age": w}).anonymize(X)
        lost[w] = gcp(r.data[["age"]], X[["age"]], form="spread")
    assert lost[5.0] < 0.5 * lost[0.2]


def test_grown_and_mended_groups_lose_less_than_cut_ones():
    X = make_population(500, 3)[["age", "hours", "region", "education"]]
    strict, mended, grown, both = (
        gcp(m.anonymize(X).data, X, form="spread")
        for m in (
            MondrianAnonymizer(k=5),
            MondrianAnonymizer(k=5, refine=10**6),
            ClusterAnonymizer(k=5),
            ClusterAnonymizer(k=5, refine=10**6),
        )
    )
    assert mended < 0.9 * strict and both < grown < strict


def test_a_group_that_is_guided_has_one_class_more_often():
    p = make_population(600, 4)
    X, y = p[["age", "hours", "region", "education"]], p.income
    pure = {}
    for guide in (None, "class"):
        m = ClusterAnonymizer(k=4, guide=guide).fit(X, y)
        pure[guide] = (pd.crosstab(m.groups_, y.to_numpy()).min(axis=1) == 0).mean()
    assert pure["class"] > pure[None] + 0.1


def test_units_of_the_chapter():
    parts = [p for o in SHOP for p in column_parts(*encode(SHOP[o]))]
    assert group_loss(parts, [5, 0]) / WHOLE == pytest.approx(2 + 35 / 58)


@pytest.mark.parametrize(
    "parameter, value, says",
    [
        ("recoding", "node", "'recoding' must be one of"),
        ("loss", "range", "'loss' must be one of"),
        ("guide", "y", "'guide' must be None or 'class'"),
        ("weights", {"Age": 0}, r"'weights\['Age'\]' must be a number above 0"),
        ("weights", {"Bought": 1.0}, "'weights' must name quasi-identifiers"),
        ("weights", [1, 2], "'weights' must be a dict"),
        ("refine", 1.5, "'refine' must be a whole number of moves"),
        ("refine", True, "'refine' must be a whole number of moves"),
        ("block_rows", 1, "'block_rows' must be a whole number from 2 on"),
        ("taxonomies", {"Age": 3}, "'taxonomies' must hold a Taxonomy"),
    ],
)
def test_bad_parameters(parameter, value, says):
    with pytest.raises(ValueError, match=says):
        ClusterAnonymizer(k=3, **{parameter: value}).fit(SHOP, BOUGHT)


def test_means_have_no_nodes():
    tree = {"Marital": Taxonomy.from_dict({"*": ["Married", "Not Married"]})}
    with pytest.raises(ValueError, match="'taxonomies' must be None with recoding='mean'"):
        ClusterAnonymizer(k=3, recoding="mean", taxonomies=tree).fit(SHOP)


def test_mondrian_says_what_refine_takes():
    with pytest.raises(ValueError, match="'refine' must be a whole number of moves"):
        MondrianAnonymizer(k=3, refine=-1).fit(SHOP)
