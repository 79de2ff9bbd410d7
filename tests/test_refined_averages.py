"""Microaggregation whose rows move and change places: by definition, and what must hold."""

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from random_tables import pick, published_rows

from ppdt._textbook import _textbook_refined_averages, _textbook_squares
from ppdt.datasets import make_population
from ppdt.diversity import Alpha, LDiversity, TCloseness
from ppdt.engine.microaggregation import vmdav
from ppdt.engine.mixed_space import mixed_space, sum_of_squares
from ppdt.engine.refined_averages import SquareState, refined_averages
from ppdt.mict import MicroaggregationAnonymizer
from ppdt.tables import encode, with_missing


@st.composite
def spaces(draw, least=3, most=18):
    """(space, attributes, codes, table): numbers, dates of a kind, categories, some missing"""
    n = draw(st.integers(least, most))
    kinds = draw(st.lists(pick("number", "gaps", "word"), min_size=1, max_size=3))
    t = {}
    for i, kind in enumerate(kinds):
        values = {
            "number": st.integers(0, 9),
            "gaps": st.one_of(st.none(), st.sampled_from([0.5, 1.0, 4.0, -3.0])),
            "word": st.sampled_from("abc"),
        }[kind]
        t[f"x{i}"] = pd.Series(draw(st.lists(values, min_size=n, max_size=n)))
        if kind == "gaps":
            t[f"x{i}"] = t[f"x{i}"].astype(float)
    t = pd.DataFrame(t)
    pairs = [with_missing(*encode(t[o])) for o in t]
    attributes, codes = [a for a, _ in pairs], [c for _, c in pairs]
    weight = draw(pick(1.0, 0.3))
    return mixed_space(attributes, codes, weight), attributes, codes, t


def total(s, groups):
    return sum_of_squares(s, groups)[0]


@given(spaces(), st.data())
def test_a_state_is_what_it_is_by_definition(table, data):
    s = table[0]
    n = len(s)
    state = SquareState(s, np.arange(n) % data.draw(st.integers(2, max(2, n // 2))))

    def squares(groups):
        of = [np.flatnonzero(groups == g) for g in range(groups.max() + 1)]
        return float(sum(_textbook_squares(s, o) for o in of if len(o)))

    for _ in range(5):
        i, j = data.draw(st.lists(st.integers(0, n - 1), min_size=2, max_size=2, unique=True))
        g, h = state.groups[[i, j]].tolist()
        if g == h:
            continue
        now, swapped = squares(state.groups), state.groups.copy()
        swapped[[i, j]] = h, g
        more = state.swapped(i, np.array([j]))[0] / 2**32
        assert more == pytest.approx(squares(swapped) - now, abs=1e-8)
        alone = state.size[g] == 1
        if not alone:
            moved = state.groups.copy()
            moved[i] = h
            price = state.price_of(state.added(i))[h] - state.saved_without(i)
            assert price / 2**32 == pytest.approx(squares(moved) - now, abs=1e-8)
        state.swap(i, j) if alone or data.draw(st.booleans()) else state.put(i, h)
        fresh = SquareState(s, state.groups)
        for (_, one), (_, two) in zip(fresh.parts, state.parts):
            for name in ("sums", "means", "count", "top", "n_tops"):
                if hasattr(one, name):
                    assert np.array_equal(getattr(one, name), getattr(two, name))
        assert [sorted(o) for o in fresh.rows] == [sorted(o) for o in state.rows]


@one_in(4, least=5)
@given(spaces(most=14), st.integers(1, 4), pick(0, 1, 3, 200))
def test_the_search_is_the_textbooks(table, k, budget):
    s, attributes, codes, _ = table
    # every group has k rows, and none 2k: nothing is divided
    n_groups = max(1, len(s) // k)
    before = np.arange(len(s)) % n_groups
    if len(s) < k or np.bincount(before).max() >= 2 * k:
        return
    fast = refined_averages(s, attributes, codes, before, k, budget)
    assert fast.tolist() == _textbook_refined_averages(s, before, k, budget).tolist()


@given(spaces(least=4), st.integers(1, 4), pick(0, 1, 30, 1000), st.booleans())
def test_squares_never_rise_and_groups_keep_what_they_must(table, k, budget, strict):
    s, attributes, codes, _ = table
    n = len(s)
    k = min(k, n)
    before = vmdav(s, k)
    odd = np.arange(n) % 2
    enough = lambda rows, groups, m: np.bincount(groups, odd[rows], minlength=m) > 0
    allow = enough if strict and np.bincount(before, odd).min() > 0 else None
    after = refined_averages(s, attributes, codes, before, k, budget, allow)
    assert total(s, after) <= total(s, before) + 1e-9
    assert np.bincount(after).min() >= k
    if allow is not None:
        assert allow(np.arange(n), after, after.max() + 1).all()


@given(spaces(), st.integers(2, 5), st.randoms(use_true_random=False), pick("mean", "median"))
def test_the_order_of_rows_decides_nothing(table, k, random, centroid):
    t = table[3]
    k = min(k, len(t))
    order = list(range(len(t)))
    random.shuffle(order)
    m = MicroaggregationAnonymizer(k=k, refine=50, missing="category", centroid=centroid)
    one, two = m.anonymize(t), m.anonymize(t.iloc[order])
    assert published_rows(one) == published_rows(two)
    assert one.audit.k >= k and one.audit.holds
    # and the same in another run
    assert m.anonymize(t).text().equals(one.text())


@pytest.mark.parametrize("rule", [LDiversity(2), Alpha(0.8), TCloseness(0.4)])
def test_constraints_hold_after_moves(rule):
    X = make_population(300, 0)
    y = X.pop("income")
    X = X[["age", "hours", "region"]]
    plain = MicroaggregationAnonymizer(k=5, constraints=[rule])
    fine = MicroaggregationAnonymizer(k=5, constraints=[rule], refine=10_000)
    before, after = plain.anonymize(X, y), fine.anonymize(X, y)
    assert after.audit.holds and after.audit.k >= 5
    assert after.audit.il < before.audit.il


def test_persons_are_counted():
    X = make_population(300, 0)[["age", "hours", "region"]]
    who = pd.Series(np.arange(300) // 2).astype("str")
    m = MicroaggregationAnonymizer(k=4, person="who", refine=10_000)
    r = m.anonymize(X.assign(who=who))
    assert r.audit.holds and min(who.groupby(m.groups_).nunique()) >= 4


def test_blocks_of_groups(monkeypatch):
    """More groups than are searched together"""
    monkeypatch.setattr("ppdt.engine.refining._GROUPS", 20)
    X = make_population(600, 0)[["age", "hours", "region"]]
    pairs = [encode(X[o]) for o in X]
    order = np.lexsort([c for _, c in pairs][::-1])
    attributes, codes = [a for a, _ in pairs], [c[order] for _, c in pairs]
    s = mixed_space(attributes, codes)
    before = vmdav(s, 5)
    after = refined_averages(s, attributes, codes, before, 5, 10_000)
    assert before.max() > 40 and np.bincount(after).min() >= 5
    assert total(s, after) < total(s, before)


def test_a_group_of_many_rows_is_divided():
    s = mixed_space(*zip(encode(pd.Series(range(6), name="x"))))
    a, c = encode(pd.Series(range(6), name="x"))
    after = refined_averages(s, [a], [c], np.zeros(6, dtype=int), 3, 10)
    assert np.bincount(after).tolist() == [3, 3] and total(s, after) == pytest.approx(4 / 25)


@pytest.mark.parametrize("refine", [-1, 1.5, True, "all", None])
def test_what_refine_takes(refine):
    with pytest.raises(ValueError, match="'refine' must be a whole number of moves from 0 on"):
        MicroaggregationAnonymizer(refine=refine).fit(pd.DataFrame({"x": range(9)}))
