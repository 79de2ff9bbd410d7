"""The best groups of a few rows, and matchings without groups, against all ways to make them."""

import importlib
import sys
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import places
import pytest
from examples import one_in
from hypothesis import assume, example, given, strategies as st

from ppdt.engine.group_loss import WHOLE, column_parts, group_loss
from ppdt.tables import encode

sys.path.insert(0, str(places.ROOT / "scripts"))
best_groups = importlib.import_module("best_groups")
without = importlib.import_module("without_groups")
sys.path.pop(0)


def parts_of(X):
    return [p for o in X for p in column_parts(*encode(X[o]))]


def small_table(seed, n):
    rng = np.random.default_rng(seed)
    words = {"b": rng.choice(list("xyz"), n), "c": rng.choice(list("uv"), n)}
    X = pd.DataFrame({"a": rng.integers(0, 6, n), **words})
    assume((X.nunique() > 1).all())
    return X


def of_each_way(X, k):
    """The least loss of all ways to make groups, one after the other"""
    parts = parts_of(X)

    def least(left):
        if not left:
            return 0
        first, *others = left
        found = [len(left) * group_loss(parts, left)] if len(left) >= k else []
        for m in range(k - 1, min(2 * k - 1, len(left) - k)):
            for mates in combinations(others, m):
                group = (first, *mates)
                rest = tuple(i for i in others if i not in mates)
                found.append(len(group) * group_loss(parts, group) + least(rest))
        return min(found)

    return least(tuple(range(len(X)))) / WHOLE / X.size


@one_in(4)
@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3]))
@example(419, 3)  # a column that had joined lay a billionth below its rows' prices, and joined anew
def test_the_best_groups_are_those_of_all_ways(seed, k):
    X = small_table(seed, k + seed % (9 - k))
    bound, best = best_groups.best_groups(X, k)
    assert best == pytest.approx(of_each_way(X, k), abs=1e-9)
    assert bound <= best + 1e-9 and best_groups.bound(X, k) == pytest.approx(bound, abs=1e-9)
    assert best_groups.best_groups(X, k, best + 1e-9)[1] == pytest.approx(best, abs=1e-9)


# ---------- matchings without groups
def one_after_the_other(parts, n, k):
    """The partners of each row; each matching the cheapest of all that use no pair again"""
    chosen = [[i] for i in range(n)]
    for _ in range(k - 1):
        ways = []
        for way in permutations(range(n)):
            if any(j in own for own, j in zip(chosen, way)):
                continue
            price = sum(group_loss(parts, [*own, j]) for own, j in zip(chosen, way))
            ways.append((price, way))
        best = min(ways)[0]
        yield best
        (way, *_) = [w for p, w in ways if p == best]
        chosen = [[*own, j] for own, j in zip(chosen, way)]


@one_in(4)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_everybody_stands_in_k_rows(seed, k):
    X = small_table(seed, k + seed % 12)
    chosen = without.matchings(parts_of(X), len(X), k)
    assert (chosen[:, 0] == np.arange(len(X))).all()
    assert all(len(set(line)) == k for line in chosen.tolist())  # k people a row
    assert (np.bincount(chosen.ravel()) == k).all()  # and k rows a person
    table = without.sets_of(X, chosen)
    for i, line in enumerate(chosen):
        for o in X:
            assert set(table[o][i].values) == set(X[o][line])


@one_in(10)
@given(st.integers(0, 2**32 - 1))
def test_the_first_matching_is_the_cheapest(seed):
    X = small_table(seed, 4 + seed % 3)
    parts = parts_of(X)
    first = next(one_after_the_other(parts, len(X), 2))
    chosen = without.matchings(parts, len(X), 2)
    assert sum(group_loss(parts, line) for line in chosen) == pytest.approx(first, rel=1e-12)


def test_rows_of_groups_are_believed_alike(data_dir):
    """A group of three: each of its people is each of its rows with one chance in three"""
    X = pd.DataFrame({"a": [1, 2, 3, 7, 8, 9]})
    y = pd.Series(list("nyynny"), name="y")
    release = without.METHODS["strict"](k=3).anonymize(X, y)
    assert without.surest(release, X) == pytest.approx(1 / 3)
    free = without.MatchingsAnonymizer(3).anonymize(X, y)
    assert 1 / 3 <= without.surest(free, X) < 1


def test_stored_lines_are_of_the_design():
    t = pd.read_csv(without.RESULTS / "without_groups.csv")
    assert list(t.columns) == without.COLUMNS and not t.duplicated(without.KEY).any()
    found = set(t[without.KEY].itertuples(index=False, name=None))
    assert found == set(without.all_units())
    assert (t.presence_in == 1).all() and (t.widest_belief >= 1 / without.TRIED - 1e-6).all()
    by_method = t.pivot_table("spread", ["case", "k"], "method")
    assert (by_method.matchings < by_method.cluster_refined).all()
