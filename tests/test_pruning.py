"""Pruning: what it promises of every tree, the waves against the recursion, and the estimate of
errors against its formula.
"""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy.special import ndtri
from test_c45 import differ, random_rows

from ppdt._textbook import _textbook_c45, _textbook_leaves, _textbook_prune
from ppdt.c45 import C45Classifier
from ppdt.datasets import load_customers
from ppdt.engine import pruning_waves
from ppdt.engine.coded_rows import CodedRows, runs
from ppdt.engine.fractions import grow_nodes
from ppdt.engine.moving_rows import leaf_slots
from ppdt.engine.node_arrays import below, collapse_nodes, wrong
from ppdt.engine.pruning_waves import prune_nodes
from ppdt.engine.tree_tables import learn_rows
from ppdt.pruning import error_estimate
from ppdt.splits import GainRatio

seeds = st.integers(0, 2**32 - 1)
confidences = st.sampled_from([0.5, 0.25, 0.1, 0.05, 0.001])

# ---- the estimate


def by_formula(n, e, cf):
    """The estimate of one leaf of whole rows, in plain arithmetic"""
    if n == 0:
        return 0.0
    if e == 0:
        return n * (1 - cf ** (1 / n))
    f, z = (e + 0.5) / n, float(ndtri(1 - cf))
    return (
        n
        * (f + z * z / (2 * n) + z * math.sqrt(f / n - f * f / n + z * z / (4 * n * n)))
        / (1 + z * z / n)
    )


leaves = st.lists(st.integers(0, 60), min_size=1, max_size=5)


@given(leaves, st.floats(1e-6, 0.5))
def test_formula(counts, confidence):
    cf = float(np.float32(confidence))
    n, e = sum(counts), sum(counts) - max(counts)
    assert error_estimate(counts, confidence) == pytest.approx(by_formula(n, e, cf), abs=1e-9)


@given(leaves, confidences)
def test_between_the_errors_and_the_rows(counts, confidence):
    n, e = sum(counts), sum(counts) - max(counts)
    assert e <= error_estimate(counts, confidence) <= n + 1e-9


@given(leaves, st.tuples(st.floats(1e-6, 0.5), st.floats(1e-6, 0.5)))
def test_careful_expects_more(counts, two):
    assert error_estimate(counts, min(two)) >= error_estimate(counts, max(two)) - 1e-9


@given(leaves, confidences, st.data())
def test_a_further_row_never_lowers_it(counts, confidence, data):
    more = list(counts)
    more[data.draw(st.integers(0, len(counts) - 1))] += 1
    assert error_estimate(more, confidence) >= error_estimate(counts, confidence) - 1e-9


@given(leaves, st.data())
def test_order_and_empty_classes(counts, data):
    other = data.draw(st.permutations(counts + [0]))
    assert error_estimate(other) == pytest.approx(error_estimate(counts), abs=1e-12)


@given(st.integers(1, 50), st.floats(0, 1))
def test_a_line_below_one_error(n, e):
    """Between the estimates at no error and at one"""
    ends = error_estimate([[n, 0], [n - 1, 1]] if n > 1 else [[1, 0, 0], [1, 0, 0]])
    if n > 1:
        assert error_estimate([n - e, e]) == pytest.approx(
            ends[0] + e * (ends[1] - ends[0]), abs=1e-9
        )
    else:
        assert 0 <= error_estimate([n - min(e, 0.5), min(e, 0.5)]) <= 1


def test_any_shape():
    counts = np.arange(24.0).reshape(2, 3, 4)
    assert error_estimate(counts).shape == (2, 3) and error_estimate(counts[0, 0]).shape == ()
    assert error_estimate(counts)[1, 2] == error_estimate(counts[1, 2])


def test_weka_at_a_tenth():
    assert error_estimate([1, 0], 0.1) == pytest.approx(1 - float(np.float32(0.1)), abs=1e-15)


@pytest.mark.parametrize(
    "counts, message",
    [
        ([3, -1], "none negative"),
        ([3, np.nan], "none negative"),
        ([np.inf, 1], "finite"),
        ([[1, 2], [3, -1e-3]], "none negative"),
        (3, "at least one class"),
        ([], "at least one class"),
        (np.zeros((3, 0)), "at least one class"),
        (["a", 1], "must be numbers"),
        (None, "counts"),
        ([[1], [2, 3]], "must be numbers"),
    ],
)
def test_no_counts(counts, message):
    with pytest.raises(ValueError, match=message):
        error_estimate(counts)


@pytest.mark.parametrize(
    "confidence", [0, -0.1, 0.51, 1, 25, np.nan, np.inf, 1e-60, "a", None, [0.1, 0.2]]
)
def test_no_confidence(confidence):
    with pytest.raises(ValueError, match="'confidence' must be|must be numbers"):
        error_estimate([3, 1], confidence)


# ---- every pruned tree


def grown(d, m=2, binary=False):
    return collapse_nodes(*grow_nodes(d, GainRatio(m, binary)))


def estimate(t, cf):
    return float(error_estimate(t.counts[t.attribute < 0], cf).sum())


def inner(t):
    return int((t.attribute >= 0).sum())


@given(seeds, confidences, st.booleans(), st.booleans())
def test_no_more_errors_than_allowed(seed, confidence, binary, raising):
    """Each decision may cost a tenth of an error, and takes an inner node at least"""
    t, fragments = grown(random_rows(seed), binary=binary)
    before, many = estimate(t, confidence), inner(t)
    pruned = prune_nodes(random_rows(seed), t, fragments, confidence, raising)
    assert inner(pruned) <= many
    assert estimate(pruned, confidence) <= before + 0.1 * (many - inner(pruned)) + 1e-6


@given(seeds, confidences, st.booleans())
def test_without_raising_only_leaves_are_made(seed, confidence, binary):
    """The pruned tree is the top of the grown one, with the same counts"""
    d = random_rows(seed)
    t, _ = grown(d, binary=binary)
    pruned = prune_nodes(d, *grown(d, binary=binary), confidence, False)
    todo = [(0, 0)]
    for i, j in todo:
        np.testing.assert_allclose(pruned.counts[i], t.counts[j])
        if pruned.attribute[i] < 0:
            continue
        for o in ("attribute", "kind", "cut", "width"):
            assert getattr(pruned, o)[i] == getattr(t, o)[j]
        todo += zip(pruned.first[i] + range(pruned.width[i]), t.first[j] + range(t.width[j]))
    assert len(todo) == len(pruned)


@given(seeds, confidences, st.booleans())
def test_counts_add_up(seed, confidence, binary):
    d = random_rows(seed)
    for t in (grown(d, binary=binary)[0], prune_nodes(d, *grown(d, binary=binary), confidence)):
        np.testing.assert_allclose(
            t.counts[0], np.bincount(d.y, d.weight, minlength=d.n_classes), atol=1e-9
        )
        for i in np.flatnonzero(t.attribute >= 0):
            kids = slice(t.first[i], t.first[i] + t.width[i])
            np.testing.assert_allclose(t.counts[kids].sum(axis=0), t.counts[i], atol=1e-5)
            assert (
                (t.parent[kids] == i).all()
                and (t.code[kids] == range(t.width[i])).all()
                and (t.depth[kids] == t.depth[i] + 1).all()
            )


@given(seeds)
def test_no_useless_split_after_collapse(seed):
    """Every subtree of a collapsed tree makes fewer errors on the training rows than a leaf"""
    t, _ = grown(random_rows(seed))
    own = wrong(t.counts)
    leaves = below(t, own)
    assert (leaves[t.attribute >= 0] < own[t.attribute >= 0] - 1e-3).all()


def table(seed, n=80):
    """People with missing values, and a class with noise"""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        dict(
            a=rng.integers(0, 30, n).astype(float),
            b=rng.choice(list("uvwx"), n),
            c=rng.choice(list("pq"), n),
        )
    )
    y = np.where((X.a > 12) ^ (X.b == "u") ^ (rng.random(n) < 0.25), "yes", "no")
    if seed % 2:
        X = X.mask(rng.random(X.shape) < 0.1)
    return X, y


@given(seeds, confidences)
def test_order_of_rows(seed, confidence):
    X, y = table(seed)
    other = np.random.default_rng(seed + 1).permutation(len(X))
    a, b = (
        C45Classifier(confidence=confidence).fit(X, y).tree_,
        C45Classifier(confidence=confidence).fit(X.iloc[other], y[other]).tree_,
    )
    assert a.attribute.tolist() == b.attribute.tolist() and np.array_equal(
        a.threshold, b.threshold, equal_nan=True
    )
    np.testing.assert_allclose(a.counts, b.counts, atol=1e-9)


@given(seeds, st.integers(2, 4))
def test_weights_are_repeated_rows(seed, times):
    X, y = table(seed, 60)
    # a number of rows, not their weight, decides whether a number is asked for
    X = X[["b", "c"]]
    a = C45Classifier().fit(X, y, np.full(len(X), float(times))).tree_
    b = C45Classifier().fit(pd.concat([X] * times, ignore_index=True), np.tile(y, times)).tree_
    assert a.attribute.tolist() == b.attribute.tolist()
    np.testing.assert_allclose(a.counts, b.counts, atol=1e-9)


# ---- waves and recursion


def noisy_rows(seed):
    """Numbers and categories, a class that three of four ask for through noise; every second table
    has gaps
    """
    rng = np.random.default_rng(seed)
    n, sizes = int(rng.integers(60, 130)), rng.choice([2, 3, 4, 12, 30], 4).tolist()
    codes = [rng.integers(0, s, n) for s in sizes]
    y = np.where(
        rng.random(n) < 0.7,
        rng.integers(0, 2, n),
        (codes[0] * 2 > sizes[0]) ^ ((codes[1] == 1) & (codes[2] > 0)),
    )
    codes = [np.where(rng.random(n) < 0.1 * (seed % 2), -1, c).astype(np.int32) for c in codes]
    line = [np.arange(s) * 1.0 if s > 4 or rng.random() < 0.3 else None for s in sizes]
    return CodedRows(
        list("abcd"),
        codes,
        [list(range(s)) for s in sizes],
        line,
        [0, 1],
        y,
        rng.choice([0.5, 1.0, 2.0], n) if seed % 6 > 3 else None,
    )


def test_raised_branches_are_those_of_the_recursion(monkeypatch):
    """Tables where branches are often raised, with and without gaps and weights"""
    raised, real = [], pruning_waves._raise
    monkeypatch.setattr(
        pruning_waves,
        "_raise",
        lambda p, v, *rest: (raised.append((seed % 2, len(v))), real(p, v, *rest))[1],
    )
    for seed in range(100):
        d, confidence = noisy_rows(seed), (0.25, 0.1)[seed // 2 % 2]
        assert (
            differ(
                prune_nodes(d, *grown(d, binary=seed % 5 == 0), confidence),
                0,
                _textbook_c45(d, 2, seed % 5 == 0, confidence=confidence),
            )
            == ""
        ), seed
    assert all(sum(n for gaps, n in raised if gaps == o) > 8 for o in (0, 1)), raised


def many_gaps(seed, n=150, k=70):
    """More attributes with gaps than there are bits"""
    rng = np.random.default_rng(seed)
    codes = [
        np.where(rng.random(n) < 0.15, -1, rng.integers(0, 3, n)).astype(np.int32) for _ in range(k)
    ]
    y = np.where(rng.random(n) < 0.3, rng.integers(0, 2, n), (codes[0] > 0) ^ (codes[63] > 1))
    return CodedRows(
        [f"a{j}" for j in range(k)], codes, [[0, 1, 2]] * k, [None] * k, [0, 1], y, None
    )


@pytest.mark.parametrize("seed", range(4))
def test_more_attributes_with_gaps_than_bits(seed):
    d = many_gaps(seed)
    t = prune_nodes(d, *grown(d), 0.25)
    assert differ(t, 0, _textbook_c45(d)) == ""


@pytest.mark.parametrize("seed", range(6))
def test_larger_trees(seed):
    """Deep trees of noise, numbers and categories, with and without gaps"""
    rng, n = np.random.default_rng(seed), 500
    codes = [
        np.where(rng.random(n) < 0.1 * (seed % 2), -1, rng.integers(0, s, n)).astype(np.int32)
        for s in (40, 25, 4, 3)
    ]
    y = np.where(rng.random(n) < 0.4, rng.integers(0, 2, n), (codes[0] > 20) ^ (codes[2] > 1))
    d = CodedRows(
        list("abcd"),
        codes,
        [list(range(s)) for s in (40, 25, 4, 3)],
        [np.arange(40.0), np.arange(25.0), None, None],
        [0, 1],
        y,
        None,
    )
    for confidence in (0.25, 0.01):
        assert (
            differ(
                prune_nodes(d, *grown(d), confidence), 0, _textbook_c45(d, confidence=confidence)
            )
            == ""
        )


def dump(node):
    return (
        node.attribute,
        node.kind,
        node.cut,
        np.round(node.counts, 6).tolist(),
        [dump(o) for o in node.sons],
    )


@given(seeds, confidences)
def test_pruning_again_changes_nothing(seed, confidence):
    """So nodes below which nothing moved need not be decided again"""
    d = random_rows(seed)
    node = _textbook_c45(d, confidence=confidence)
    once = dump(node)
    _textbook_prune(d, node, confidence)
    assert dump(node) == once


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 6)), max_size=8))
def test_ranges(pairs):
    first, width = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    assert runs(first, width).tolist() == [a + i for a, w in pairs for i in range(w)]


@given(seeds)
def test_leaves_in_a_row(seed):
    """The leaves below a node are neighbours, and children follow each other"""
    t, _ = grown(random_rows(seed))
    low, high = leaf_slots(t)
    assert sorted(low[t.attribute < 0]) == list(range(high[0])) and low[0] == 0
    for i in np.flatnonzero(t.attribute >= 0):
        kids = slice(t.first[i], t.first[i] + t.width[i])
        assert [low[i], *high[kids]] == [*low[kids], high[i]]


def test_one_row_and_one_class():
    for n in (1, 5):
        d = CodedRows(
            ["a"],
            [np.zeros(n, dtype=np.int32)],
            [["x"]],
            [None],
            ["u"],
            np.zeros(n, dtype=np.int64),
            None,
        )
        assert len(prune_nodes(d, *grown(d))) == 1


def test_customers():
    X = load_customers()
    y = X.pop("Bought")
    sizes = [len(C45Classifier(confidence=o).fit(X, y).tree_) for o in (0.25, 0.05, 0.02, 0.001)]
    assert sizes == [9, 7, 3, 1]
    assert len(C45Classifier(confidence=0.05, subtree_raising=False).fit(X, y).tree_) == 9
    assert len(_textbook_leaves(_textbook_c45(learn_rows(C45Classifier(), X, y, None)))) == 5
