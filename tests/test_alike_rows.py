"""Rows of a release that are alike are learnt as one that counts as often: the same tree."""

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st

from ppdt.c45 import C45Classifier
from ppdt.engine import tree_tables
from ppdt.tables import Interval, Suppressed, ValueSet, cell_column

WORDS = [
    ValueSet(list("a")),
    ValueSet(list("ab")),
    ValueSet(list("bc")),
    ValueSet(list("abc")),
    Suppressed(),
]
NUMBERS = [ValueSet([1]), ValueSet([1, 2]), Interval(1, 4), Interval(2, 9), ValueSet([3, 9])]


def release(rng, n_groups, most):
    """A few groups of rows that are published alike, and their class"""
    group = np.repeat(np.arange(n_groups), rng.integers(1, most + 1, n_groups))
    X = pd.DataFrame(
        {
            "word": cell_column(rng.integers(-1, len(WORDS), n_groups)[group], WORDS),
            "number": cell_column(rng.integers(0, len(NUMBERS), n_groups)[group], NUMBERS),
        }
    )
    return X, pd.Series(rng.integers(0, 2, len(group)))


def tree_of(X, y, w, options):
    tree = C45Classifier(**options).fit(X, y, sample_weight=w).tree_
    return {o: getattr(tree, o) for o in ("parent", "attribute", "kind", "code")}, tree


@pytest.mark.parametrize("scoring", ["spread", "discount"])
@pytest.mark.parametrize("prune", [True, False])
@one_in(7)
@given(
    seed=st.integers(0, 10**6),
    groups=st.integers(1, 12),
    most=st.integers(1, 9),
    weighted=st.booleans(),
    min_fragment=st.sampled_from([0.0, 0.01, 0.34]),
)
def test_one_row_for_many(scoring, prune, seed, groups, most, weighted, min_fragment):
    X, y = release(np.random.default_rng(seed), groups, most)
    w = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], len(y)) if weighted else None
    options = dict(scoring=scoring, prune=prune, min_fragment=min_fragment)
    together, a = tree_of(X, y, w, options)
    with pytest.MonkeyPatch.context() as m:
        m.setattr(tree_tables, "_first_alike", lambda d: np.arange(len(d.y)))
        apart, b = tree_of(X, y, w, options)
    for o, found in together.items():
        assert found.tolist() == apart[o].tolist(), o
    assert np.allclose(a.counts, b.counts, rtol=1e-9, atol=1e-9)
    assert np.array_equal(a.threshold, b.threshold, equal_nan=True)
