"""A tree that looks ahead is the tree that does not, whatever is allowed."""

import numpy as np
import pytest
from examples import one_in
from hypothesis import given, strategies as st

from ppdt.engine import looking_ahead
from ppdt.growing import Members, TreeData, grow
from ppdt.splits import Gain, GainRatio
from ppdt.trees import tree_json


def data_of(rng, n):
    """A table with a taxonomy's two levels, a number and categories, and its class"""
    fine = rng.integers(0, 4, n)
    codes = [fine, fine // 2, rng.integers(0, 6, n), rng.integers(0, 3, n)]
    sizes = [4, 2, 6, 3]
    members = [Members.exact(c.astype(np.int32), s) for c, s in zip(codes, sizes)]
    y = (rng.random(n) < 0.2 + 0.15 * (codes[2] % 3) + 0.1 * (fine == 1)).astype(np.int64)
    return TreeData(
        list("aabc"),
        [list(range(s)) for s in sizes],
        ["no", "yes"],
        members,
        members,
        y,
        np.ones(n),
        line=[None, None, np.arange(6.0), None],
        base=[0, 0, 1, 2],
        level=[0, 1, 0, 0],
    )


def grown(data, score, order, seed, rate):
    """The tree, what was asked in turn, and the rows that were seen"""
    rng, asked = np.random.default_rng(seed), []

    def allow(node, test, rows):
        asked.append((node, test.attribute, test.threshold, rows.tolist()))
        return rng.random() >= rate

    def on_split(node, test, sons, rows):
        asked.append((node, sons, rows.tolist()))

    return tree_json(grow(data, score, allow=allow, on_split=on_split, order=order)), asked


@pytest.mark.parametrize("score", [Gain(1), GainRatio(2)])
@pytest.mark.parametrize("order", ["best", "weighted", "level"])
@one_in(12)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 60), rate=st.sampled_from([0, 0.1, 0.5, 1]))
def test_looking_ahead_changes_nothing(score, order, seed, n, rate):
    data = data_of(np.random.default_rng(seed), n)
    with pytest.MonkeyPatch.context() as m:
        ahead = grown(data, score, order, seed, rate)
        m.setattr(looking_ahead, "GENERATIONS", 2)
        a_little = grown(data, score, order, seed, rate)
        m.setattr(looking_ahead, "FEW_ROWS", 0)
        assert grown(data, score, order, seed, rate) == ahead == a_little
