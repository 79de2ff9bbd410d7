"""Recoding of groups: fast and textbook versions, truth of every cell, collisions, kinds."""

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st

import ppdt._textbook as T
import ppdt.engine.recoding as R
from ppdt.datasets import load_customers, load_patients
from ppdt.generalization import RECODINGS, interval_recoding, recode, set_recoding
from ppdt.tables import (
    MISSING,
    Attribute,
    Exact,
    Interval,
    Suppressed,
    ValueSet,
    cells,
    encode,
    with_missing,
)

TEXTBOOK = {
    "set": T._textbook_set_recoding,
    "interval": T._textbook_interval_recoding,
    "ends": T._textbook_ends_recoding,
}
recodings = st.sampled_from(list(RECODINGS))
KINDS = {
    "int": st.integers(-4, 4),
    "float": st.sampled_from([-1.5, 0.0, 0.1, 2.0, 1e9]),
    "str": st.sampled_from(["a", "b", "ä", "*", "{a, b}", ""]),
    "bool": st.booleans(),
    "date": st.sampled_from(pd.date_range("2024-01-01", periods=4).tolist()),
}


@st.composite
def columns(draw, missing=True):
    """A column with its groups: (Series, labels 0, 1, ... by first appearance)"""
    kind = draw(st.sampled_from(list(KINDS)))
    value = st.one_of(KINDS[kind], st.none()) if missing else KINDS[kind]
    rows = draw(st.lists(st.tuples(value, st.integers(0, 5)), min_size=1, max_size=40))
    s = pd.Series([v for v, _ in rows], name="x", dtype=object if kind in ("str", "bool") else None)
    if s.isna().all():
        s = pd.Series([1] * len(rows), name="x")
    return s, pd.factorize(np.array([g for _, g in rows]))[0]


def as_rows(published):
    return [published[1][i] for i in published[0]]


def holds(cell, value):
    if isinstance(cell, Interval):
        return value is not MISSING and cell.lo <= value <= cell.hi
    return isinstance(cell, Suppressed) or value in cell.values


# ---------- fast and textbook
@given(columns(), recodings)
def test_fast_equals_textbook_and_is_true(column, recoding):
    s, groups = column
    a, codes = with_missing(*encode(s))
    where, cs = RECODINGS[recoding](a, codes, groups)
    rows = as_rows((where, cs))
    assert rows == TEXTBOOK[recoding](a, codes, groups)
    assert all(holds(c, a.items[i]) for c, i in zip(rows, codes)), "every value lies in its cell"
    assert len(set(cs)) == len(cs) and set(where.tolist()) == set(range(len(cs))), (
        "cells are distinct and used"
    )


@pytest.mark.parametrize(
    "mix",
    [
        lambda x: np.zeros(len(x), dtype=np.uint64),
        lambda x: x.astype(np.uint64) & np.uint64(1),
        lambda x: x.astype(np.uint64),
    ],
    ids=["constant", "one bit", "plain sum"],
)
@one_in(2)
@given(column=columns())
def test_collisions_change_nothing(mix, column):
    """Sets are compared, so a bad hash makes the recoding slow and never wrong"""
    s, groups = column
    a, codes = with_missing(*encode(s))
    with pytest.MonkeyPatch.context() as mp:
        mp.setattr(R, "_mix", mix)
        for name in RECODINGS:
            published = RECODINGS[name](a, codes, groups)
            assert as_rows(published) == TEXTBOOK[name](a, codes, groups)
            assert len(set(published[1])) == len(published[1])


def test_the_fallback_was_reached(monkeypatch):
    """Two sets of equal size and equal sum, {0, 3} and {1, 2}: with a plain sum they collide"""
    monkeypatch.setattr(R, "_mix", lambda x: x.astype(np.uint64))
    members, starts = np.array([0, 3, 1, 2, 0, 3]), np.array([0, 2, 4])
    number, example = R.distinct_sets(members, starts)
    assert number[0] == number[2] != number[1] and len(example) == 2
    assert number[example].tolist() == [0, 1]


# ---------- truth
@given(columns())
def test_sets_list_what_occurs_and_nothing_else(column):
    s, groups = column
    a, codes = with_missing(*encode(s))
    cs = np.array(as_rows(set_recoding(a, codes, groups)) + [None], dtype=object)[:-1]
    for g in range(groups.max() + 1):
        assert set(cs[groups == g]) == {ValueSet(a.items[i] for i in codes[groups == g])}


@given(columns(), recodings, st.randoms(use_true_random=False))
def test_row_order_is_irrelevant(column, recoding, random):
    s, groups = column
    a, codes = with_missing(*encode(s))
    p = list(range(len(s)))
    random.shuffle(p)
    before = as_rows(RECODINGS[recoding](a, codes, groups))
    after = as_rows(RECODINGS[recoding](a, codes[p], pd.factorize(groups[p])[0]))
    assert after == [before[i] for i in p]


@given(columns())
def test_one_row_a_group_changes_nothing(column):
    s, _ = column
    a, codes = with_missing(*encode(s))
    for f in RECODINGS.values():
        assert as_rows(f(a, codes, np.arange(len(s)))) == [Exact(a.items[i]) for i in codes]


# ---------- the papers
def test_table_ii_of_shao_beckford():
    """Definition 2 on the fixed partition {1, 2, 3}, {4, 5, 6} of Table I (Section III.A)"""
    t = recode(load_patients()[["Age", "Gender", "Postcode"]], [1, 1, 1, 2, 2, 2])
    top = [ValueSet([20, 23, 27]), ValueSet(["M", "F"]), ValueSet(["1032", "2113", "5632"])]
    low = [ValueSet([25, 27, 29]), ValueSet(["M", "F"]), ValueSet(["1023", "1132", "3232"])]
    assert [t.iloc[i].tolist() for i in range(6)] == [top] * 3 + [low] * 3


def test_uniform_generalization_of_erp():
    """Table 1, column Uniform Generalization: the five women"""
    t = recode(load_customers()[["Marital", "Age"]][:5], ["w"] * 5, "interval")
    assert set(t.Age) == {Interval(29, 61)} and set(t.Marital) == {
        ValueSet(["Married", "Not Married"])
    }


# ---------- missing values and bad input
def test_groups_with_missing_get_sets_and_others_ranges():
    a, codes = with_missing(*encode(pd.Series([1.0, 5.0, np.nan, 5.0, np.nan, np.nan, 2.0, 2.0])))
    got = as_rows(interval_recoding(a, codes, [0, 0, 1, 1, 2, 2, 3, 3]))
    assert got[::2] == [Interval(1.0, 5.0), ValueSet([5.0, MISSING]), Exact(MISSING), Exact(2.0)]


@pytest.mark.parametrize(
    "codes,groups,word",
    [
        ([-1, 0], [0, 0], "with_missing"),
        ([0, 2], [0, 0], "must lie in"),
        ([0, 1], [0, 2], "factorize"),
        ([0, 1], [1, 1], "factorize"),
        ([0, 1], [-1, 0], "factorize"),
    ],
)
def test_codes_and_groups_out_of_range(codes, groups, word):
    a = Attribute("x", "numeric", np.array([10, 20]), "int64")
    for f in RECODINGS.values():
        with pytest.raises(ValueError, match=word):
            f(a, codes, groups)


def test_no_row():
    a = Attribute("x", "numeric", np.array([], dtype=int), "int64")
    for f in RECODINGS.values():
        where, cs = f(a, np.array([], dtype=int), np.array([], dtype=int))
        assert len(where) == 0 and cs == []


@pytest.mark.parametrize(
    "kw,word",
    [
        (dict(groups=[0]), "one label for each of the 2 rows"),
        (dict(groups=[0, None]), "label for each row"),
        (dict(groups=[0, 0], recoding="mean"), "'set', 'interval'"),
    ],
)
def test_recode_refuses(kw, word):
    with pytest.raises(ValueError, match=word):
        recode(pd.DataFrame({"x": [1, 2]}), **kw)


def test_recode_refuses_missing_values_and_cells():
    with pytest.raises(ValueError, match="Column 'x' must have no missing values. Got 1"):
        recode(pd.DataFrame({"x": [1, None]}), [0, 0])
    with pytest.raises(TypeError, match="anonymized already"):
        recode(recode(pd.DataFrame({"x": [1, 2]}), [0, 0]), [0, 0])


# ---------- whole tables
def test_recode_keeps_index_order_and_exact_columns():
    X = pd.DataFrame(
        {
            "n": [3, 1, 2, 1],
            "same": pd.Categorical(["u", "v", "u", "v"], categories=["v", "u", "w"]),
        },
        index=[7, 7, 5, 4],
    )
    before = X.copy()
    t = recode(X, ["b", "a", "b", "a"])
    assert t.index.tolist() == [7, 7, 5, 4] and list(t) == ["n", "same"]
    assert t.same.dtype == X.same.dtype and t.same.tolist() == ["u", "v", "u", "v"]
    assert t.n.tolist() == [ValueSet([2, 3]), Exact(1), ValueSet([2, 3]), Exact(1)]
    pd.testing.assert_frame_equal(X, before)


def test_numbers_that_are_categories():
    X = pd.DataFrame({"code": [1, 2, 9, 9]})
    assert set(recode(X, [0] * 4, "interval", categorical=["code"]).code) == {ValueSet([1, 2, 9])}
    assert set(recode(X, [0] * 4, "interval").code) == {Interval(1, 9)}


def test_many_values_and_declared_ones():
    """10,000 categories, and 100,000 declared of which 24 occur"""
    X = pd.DataFrame(
        {
            "many": [f"v{i}" for i in range(10_000)],
            "declared": pd.Categorical(np.arange(10_000) % 24, categories=range(10**5)),
        }
    )
    t = recode(X, np.arange(10_000) // 5000)
    assert {len(c.values) for c in set(t.many)} == {5000} and {
        len(c.values) for c in set(t.declared)
    } == {24}


def test_text_that_looks_like_cells_stays_text():
    t = recode(pd.DataFrame({"x": ["*", "{a, b}", "*", "x"]}), [0, 0, 1, 1])
    codes, cs = cells(t.x)
    assert (
        not any(isinstance(c, Suppressed) for c in cs)
        and [cs[c] for c in codes] == [ValueSet(["*", "{a, b}"])] * 2 + [ValueSet(["*", "x"])] * 2
    )
