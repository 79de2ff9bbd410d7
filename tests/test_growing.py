"""Growing trees: the grower against the textbook, tests that refuse, coarser levels, limits of
size, and asking a tree.
"""

import copy
import itertools
import pickle
import tracemalloc
from dataclasses import FrozenInstanceError, replace
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from python_lines import python_lines

from ppdt._textbook import _textbook_id3
from ppdt.datasets import fetch_adult, load_clients, load_customers
from ppdt.engine import grower, nodes as engine_nodes
from ppdt.engine.shares import tree_shares
from ppdt.growing import (
    LEAF,
    MULTIWAY,
    ONE_VALUE,
    THRESHOLD,
    Members,
    Test,
    Tree,
    TreeData,
    _nested,
    entropy,
    grow,
    information_gain,
    tree_counts,
)
from ppdt.splits import Gain, GainRatio
from ppdt.tables import cells, value_order
from ppdt.trees import tree_text

# ---- random tables


def random_members(rng, n, n_values, exact=False):
    """Cells of n rows over a domain, up to four distinct ones"""
    sets = [
        np.sort(rng.choice(n_values, 1 if exact else rng.integers(1, n_values + 1), replace=False))
        for _ in range(rng.integers(1, 5))
    ]
    r = np.array([len(o) for o in sets])
    return Members(
        rng.integers(0, len(sets), n),
        np.append(0, np.cumsum(r)),
        np.concatenate(sets),
        np.repeat(1 / r, r),
    )


def drawn(rng, m, n_values):
    """One member of each row"""
    r = np.diff(m.start)[m.codes]
    return Members.exact(m.value[m.start[m.codes] + rng.integers(0, r)], n_values)


def random_data(rng, n, sizes, exact, draw, n_classes, weights):
    score = [random_members(rng, n, v, exact) for v in sizes]
    route = [drawn(rng, m, v) for m, v in zip(score, sizes)] if draw else score
    w = rng.integers(0, 4, n).astype(float) if weights else np.ones(n)
    if not w.any():
        w[0] = 1
    return TreeData(
        [f"a{i}" for i in range(len(sizes))],
        [[f"v{i}" for i in range(v)] for v in sizes],
        np.array([f"c{i}" for i in range(n_classes)], dtype=object),
        score,
        route,
        rng.integers(0, n_classes, n),
        w,
    )


def datas(max_rows=14, routing=(False, True), exact=False, weights=True):
    """Random tables; the cells come from a seed, which is quicker than drawing each"""
    return st.builds(
        random_data,
        st.integers(0, 2**32 - 1).map(np.random.default_rng),
        st.integers(1, max_rows),
        st.lists(st.integers(1, 4), min_size=1, max_size=4),
        st.just(exact),
        st.sampled_from(routing),
        st.integers(1, 3),
        st.booleans() if weights else st.just(False),
    )


def subset(d, rows):
    """The same table with these rows, in this order"""

    def of(ms):
        return [Members(m.codes[rows], m.start, m.value, m.weight) for m in ms]

    score = of(d.score)
    return TreeData(
        d.names,
        d.values,
        d.classes,
        score,
        score if d.route is d.score else of(d.route),
        d.y[rows],
        d.weight[rows],
    )


def same(a, b):
    return (
        np.allclose(a[0], b[0], atol=1e-9)
        and a[1] == b[1]
        and a[2].keys() == b[2].keys()
        and all(same(a[2][v], b[2][v]) for v in a[2])
    )


def equal(a, b):
    """Node by node"""
    return (a.parent.tolist(), a.attribute.tolist(), a.code.tolist()) == (
        b.parent.tolist(),
        b.attribute.tolist(),
        b.code.tolist(),
    ) and np.allclose(a.counts, b.counts)


def always(node, attribute, rows):
    return True


def table(t, attributes, y):
    members, domains = [], []
    for o in attributes:
        codes, cs = cells(t[o])
        domain = sorted((c.value for c in cs), key=value_order)
        members.append(
            Members.exact(np.array([domain.index(c.value) for c in cs])[codes], len(domain))
        )
        domains.append(domain)
    classes, codes = np.unique(np.asarray(t[y], dtype=object), return_inverse=True)
    return TreeData(list(attributes), domains, classes, members, members, codes, np.ones(len(t)))


@pytest.fixture(scope="module")
def customers():
    return table(load_customers(), ["Gender", "Marital"], "Bought")


# ---- entropy and gain


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=5))
def test_gain_lies_between_0_and_the_entropy(t):
    g = information_gain(t)
    assert 0 <= g <= entropy(np.sum(t, axis=0)) + 1e-12
    assert np.isclose(g, information_gain(t + [[0, 0, 0]])) and np.isclose(
        g, information_gain(t[::-1])
    )
    assert 0 <= entropy(np.sum(t, axis=0)) <= np.log2(3) + 1e-12


def test_entropy_and_gain_of_nothing_and_of_many():
    assert entropy([0, 0]) == 0 and information_gain([[0, 0], [0, 0]]) == 0
    many = np.random.default_rng(0).integers(0, 5, (4, 3, 2))
    assert np.allclose(information_gain(many), [information_gain(o) for o in many])
    assert np.allclose(entropy(many, axis=0), entropy(np.moveaxis(many, 0, -1)))


@given(datas(max_rows=5, routing=(False,), weights=False))
def test_equal_probability_never_exceeds_the_mean_of_the_random_maps(d):
    m, n_values, rows = d.score[0], len(d.values[0]), np.arange(len(d.y))

    def table_of(at, value, w):
        return np.bincount(value * 3 + d.y[at], w, minlength=3 * n_values).reshape(n_values, 3)

    choices = [m.value[m.start[c] : m.start[c + 1]] for c in m.codes]
    maps = [
        information_gain(table_of(rows, np.array(v), np.ones(len(rows))))
        for v in itertools.product(*choices)
    ]
    assert information_gain(table_of(*m.expand(rows))) <= np.mean(maps) + 1e-12


# ---- members


@given(datas())
def test_expand_lists_every_member_of_every_row(d):
    for m in d.score:
        rows = np.arange(len(d.y))[::-1]
        at, value, w = m.expand(rows)
        want = [
            (i, v, x)
            for i, r in enumerate(rows)
            for v, x in zip(
                m.value[m.start[m.codes[r]] : m.start[m.codes[r] + 1]],
                m.weight[m.start[m.codes[r]] :],
            )
        ]
        assert list(zip(at.tolist(), value.tolist(), w.tolist())) == want
        assert np.allclose(np.bincount(at, w), 1)


def test_heaviest_member_is_the_first_of_the_heaviest():
    m = Members(
        np.array([0, 1]),
        np.array([0, 2, 5]),
        np.array([3, 1, 0, 2, 4]),
        np.array([0.5, 0.5, 0.2, 0.4, 0.4]),
    )
    assert m.heaviest.tolist() == [3, 2]


# ---- growing


@given(datas(), st.sampled_from([1, 2]))
def test_grow_equals_the_textbook(d, min_branches):
    assert same(
        _nested(grow(d, min_branches=min_branches)), _textbook_id3(d, min_branches=min_branches)
    )


@given(datas(), st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(d, r):
    rows = list(range(len(d.y)))
    r.shuffle(rows)
    t = grow(d)
    assert equal(grow(subset(d, np.array(rows))), t)
    assert tree_text(grow(subset(d, np.array(rows)))) == tree_text(t)


@given(
    datas(),
    st.sampled_from([None, 0, 0.1]),
    st.sampled_from([None, 1, 2]),
    st.sampled_from([0, 2.5]),
    st.sampled_from([0, 0.4]),
)
def test_all_orders_of_growth_give_one_tree(d, min_gain, max_depth, min_weight, min_fragment):
    kw = dict(
        min_gain=min_gain, max_depth=max_depth, min_weight=min_weight, min_fragment=min_fragment
    )
    t = grow(d, **kw)
    assert equal(grow(d, allow=always, **kw), t)
    best = grow(d, order="best", **kw)
    assert same(_nested(best), _nested(t)) and (best.parent[1:] < np.arange(1, len(best))).all()
    for order in ("best", "weighted"):
        assert same(_nested(grow(d, order=order, allow=always, **kw)), _nested(t))


@given(datas())
def test_small_portions_give_the_same_tree(d):
    t = grow(d)
    p = tree_counts(t, d.score)
    with mock.patch.object(grower, "CELLS_AT_ONCE", 1):
        assert equal(grow(d), t)
    with mock.patch.object(engine_nodes, "CELLS_AT_ONCE", 1):
        assert np.array_equal(tree_counts(t, d.score), p)


@given(datas())
def test_children_share_out_their_parent(d):
    t = grow(d)
    for i in np.flatnonzero(t.attribute >= 0):
        assert (
            np.allclose(t.counts[t.children(i)].sum(axis=0), t.counts[i]) and len(t.children(i)) > 1
        )
    assert np.allclose(
        t.counts[0], np.bincount(d.y, d.weight, minlength=len(d.classes))
    ) and np.allclose(t.n, t.counts.sum(axis=1))
    assert (
        (t.n > 0).all()
        and ((t.kind == LEAF) == (t.attribute < 0)).all()
        and t.depth <= len(d.names)
    )


@given(datas())
def test_an_attribute_is_asked_once_on_a_path(d):
    t = grow(d)
    for i in range(len(t)):
        path, at = [], i
        while at > 0:
            at = t.parent[at]
            path.append(t.attribute[at])
        assert len(set(path)) == len(path)


@given(datas(exact=True, weights=False))
def test_without_sets_readings_agree(d):
    once = Members.exact
    plain = [once(m.value[m.start[m.codes]], len(v)) for m, v in zip(d.score, d.values)]
    assert equal(grow(TreeData(d.names, d.values, d.classes, plain, plain, d.y, d.weight)), grow(d))


def limits(d):
    t = grow(d)
    return t, grow(d, max_depth=1), grow(d, min_weight=6), grow(d, min_gain=0.05)


def test_limits(customers):
    t, shallow, heavy, gainful = limits(customers)
    assert (len(t), t.n_leaves, t.depth) == (7, 4, 2) and repr(
        t
    ) == "Tree(7 nodes, 4 leaves, depth 2)"
    assert shallow.depth == 1 and grow(customers, max_depth=0).n_leaves == 1
    assert heavy.n[heavy.attribute >= 0].tolist() == [14, 9]
    assert len(gainful) == 1  # 0.0161 at the root


@pytest.mark.parametrize("kw", [{}, {"order": "best"}, {"allow": always}])
def test_small_tables(kw):
    def tiny(codes, y, n_values=2, names="a"):
        m = [Members.exact(np.array(codes), n_values) for _ in names]
        return TreeData(
            list(names),
            [list(range(n_values))] * len(names),
            np.array(["n", "y"]),
            m,
            m,
            np.array(y),
            np.ones(len(y)),
        )

    assert len(grow(tiny([0], [1]), **kw)) == 1  # one row
    assert len(grow(tiny([0, 1], [1, 1]), **kw)) == 1  # one class
    assert len(grow(tiny([0, 0, 0], [1, 0, 1]), **kw)) == 1  # a constant column
    assert len(grow(tiny([0, 0], [1, 0], n_values=1), **kw)) == 1
    assert len(grow(tiny([-1, -1], [1, 0]), **kw)) == 1  # nothing but unknown values
    assert len(grow(tiny([0, 1], [1, 0], names=""), **kw)) == 1  # no attribute
    # a row without a branch stays at the node
    t = grow(tiny([0, 1, 1, -1], [0, 1, 1, 1]), **kw)
    assert t.n.tolist() == [4, 1, 2] and tree_counts(
        t, [Members.exact(np.array([-1]), 2)]
    ).tolist() == [[0.25, 0.75]]
    # gain 0: split all the same, as in the paper
    twins = grow(tiny([0, 0, 1, 1], [0, 1, 0, 1]), **kw)
    assert len(twins) == 3 and len(grow(tiny([0, 0, 1, 1], [0, 1, 0, 1]), min_gain=0, **kw)) == 1


def test_ties_go_to_the_first_attribute_and_the_first_class():
    m = [Members.exact(np.array([0, 1]), 2)] * 2
    t = grow(
        TreeData(["a", "b"], [[0, 1]] * 2, np.array(["n", "y"]), m, m, np.array([1, 0]), np.ones(2))
    )
    assert t.attribute[0] == 0 and t.majority(0) == 0


def test_bad_arguments(customers):
    with pytest.raises(
        ValueError, match="'order' must be one of 'level', 'best', 'weighted'. Got 'depth'"
    ):
        grow(customers, order="depth")
    none = TreeData(
        *(getattr(customers, o) for o in ("names", "values", "classes", "score", "route", "y")),
        np.zeros(14),
    )
    with pytest.raises(ValueError, match="'data' must have at least one row"):
        grow(none)


# ---- allow and on_split


class Watch:
    "Refuses by a rule, and writes down what it was asked and told"

    def __init__(self, refuse):
        self.refuse, self.events = refuse, []

    def allow(self, node, test, rows):
        assert type(node) is int and type(test) is Test and type(test.attribute) is int
        ok = not self.refuse(node, test.attribute)
        self.events.append(("ask", node, test, rows.tolist(), ok))
        return ok

    def on_split(self, node, test, children, rows):
        self.events.append(("told", node, test, rows.tolist(), dict(children)))


def check_protocol(w, t, order):
    asked = [repr(o[1:3]) for o in w.events if o[0] == "ask"]
    assert len(set(asked)) == len(asked)  # refused for good
    granted = [repr(o[1:4]) for o in w.events if o[0] == "ask" and o[4]]
    told = [o for o in w.events if o[0] == "told"]
    # each split is told at once
    assert granted == [repr(o[1:4]) for o in told]
    for e, nxt in zip(w.events, w.events[1:]):
        assert e[0] == "told" or not e[4] or nxt[0] == "told"
    assert {(n, test.attribute) for _, n, test, *_ in told} == {
        (i, int(a)) for i, a in enumerate(t.attribute) if a >= 0
    }
    for _, node, test, rows, children in told:
        assert children == {int(t.code[k]): int(k) for k in t.children(node)} and rows == sorted(
            set(rows)
        )
        assert (t.kind[node], t.level[node]) == (test.kind, test.level) and np.array_equal(
            t.threshold[node],
            test.cut if test.kind == ONE_VALUE else test.threshold,
            equal_nan=True,
        )
    if order == "level":
        assert [n for _, n, *_ in told] == sorted(n for _, n, *_ in told)
    return told


@given(
    datas(weights=False),
    st.sampled_from(["level", "best", "weighted"]),
    st.sets(st.tuples(st.integers(0, 6), st.integers(0, 3)), max_size=8),
)
def test_allow_and_on_split_protocol(d, order, refused):
    w = Watch(lambda node, attribute: (node, attribute) in refused)
    t = grow(d, allow=w.allow, on_split=w.on_split, order=order)
    told = check_protocol(w, t, order)
    assert not refused & {(n, test.attribute) for _, n, test, *_ in told}
    for _, node, _, rows, _ in told:
        assert d.route is d.score or len(rows) == round(t.n[node])


def test_refusing_everything_leaves_a_leaf(customers):
    for order in ("level", "best", "weighted"):
        assert len(grow(customers, allow=lambda *_: False, order=order)) == 1


def test_orders_take_the_open_nodes_differently(customers):
    def seen(order):
        res = []
        grow(customers, order=order, on_split=lambda node, *_: res.append(node))
        return res

    assert seen("best") == [0, 1, 2]  # then the women (0.971 bits), then the men (0.091)
    # a whole bit for 4 rows of 104, a third of a bit for the other 100
    a, b, y = (
        np.repeat([0, 1], [4, 100]),
        np.r_[0, 0, 1, 1, np.tile([0, 1], 50)],
        np.r_[0, 0, 1, 1, np.tile([0, 1], 50)],
    )
    y[4:24] = 1 - y[4:24]
    m = [Members.exact(a, 2), Members.exact(b, 2)]
    d = TreeData(["a", "b"], [[0, 1]] * 2, np.arange(2), m, m, y, np.ones(104))
    first = {}
    for order in ("best", "weighted"):
        w = Watch(lambda node, attribute: node == 0 and attribute == 1)
        grow(d, order=order, allow=w.allow, on_split=w.on_split)
        first[order] = [n for what, n, *_ in w.events if what == "told"]
    assert first == {"best": [0, 1, 2], "weighted": [0, 2, 1]}


# ---- C4.5's tests in the same grower


def mixed(rng, n, missing=False, weights=False):
    """Two categories, a number, and two coarser levels of the first category"""
    job, age, town = rng.integers(0, 6, n), rng.integers(0, 9, n), rng.integers(0, 3, n)
    y = np.where((age > 4) ^ (job % 2 == 0) ^ (rng.random(n) < 0.15), 1, 0)
    if missing:
        age, town = (np.where(rng.random(n) < 0.15, -1, o) for o in (age, town))
    codes, sizes = [job, age, town, job // 2, job // 4], [6, 9, 3, 3, 2]
    m = [Members.exact(c, v) for c, v in zip(codes, sizes)]
    values = [list(range(v)) for v in sizes]
    w = rng.choice([0.5, 1.0, 2.0], n) if weights else np.ones(n)
    return TreeData(
        ["job", "age", "town", "job, pairs", "job, halves"],
        values,
        np.array(["n", "y"]),
        m,
        m,
        y,
        w,
        line=[None, np.arange(9) * 5.0 + 20, None, None, None],
        base=["job", "age", "town", "job", "job"],
        level=[0, 0, 0, 1, 2],
    )


CRITERIA = [
    GainRatio(1),
    GainRatio(),
    GainRatio(1, binary_splits=True),
    Gain(1),
    Gain(2, binary_splits=True),
]
criteria = st.sampled_from(CRITERIA)
tables = st.builds(
    lambda seed, n, missing, weights: mixed(np.random.default_rng(seed), n, missing, weights),
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
    st.booleans(),
    st.booleans(),
)

whole = st.builds(
    lambda seed, n: mixed(np.random.default_rng(seed), n),
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
)


def nested_tests(t, i=0):
    """The tests as nested tuples, whatever the numbers of the nodes"""
    res = [
        (t.attribute[i], t.kind[i], t.threshold[i], t.counts[i].round(6).tolist(), [])
        for i in range(len(t))
    ]
    for i in range(1, len(t)):
        res[t.parent[i]][4].append((t.code[i], res[i]))
    return repr(res[0])


def without_tests_of_light_nodes(t, least, i=0):
    """The tests as nested tuples, where a node lighter than `least` is a leaf"""
    if t.n[i] < least or t.attribute[i] < 0:
        return None
    below = [(t.code[j], without_tests_of_light_nodes(t, least, j)) for j in t.children(i)]
    return (t.attribute[i], t.kind[i], t.threshold[i] if t.kind[i] == THRESHOLD else None, below)


@given(tables, criteria, st.sampled_from([0.5, 3, 7, 20]))
def test_light_nodes_are_leaves(d, criterion, least):
    """What a heavy node asks does not depend on the limit"""
    found = grow(d, criterion, min_weight=least)
    wanted = without_tests_of_light_nodes(grow(d, criterion), least)
    assert repr(without_tests_of_light_nodes(found, 0)) == repr(wanted)


@given(tables, criteria, st.sampled_from([1.0, np.inf]))
def test_each_row_counts_by_its_weight(d, criterion, most):
    """Also where no weight is above 1"""
    d = replace(d, weight=np.minimum(d.weight, most))
    t = grow(d, criterion)
    all_rows = np.bincount(d.y, d.weight, minlength=2)
    assert np.allclose(t.counts[0], all_rows)
    assert np.allclose(t.counts[t.attribute < 0].sum(axis=0), all_rows)


@one_in(3)
@given(whole, criteria)
def test_two_halves_of_a_row_are_the_row(d, criterion):
    twice = [
        Members.exact(np.tile(m.value[m.start[m.codes]], 2), len(v))
        for m, v in zip(d.score, d.values)
    ]
    halves = np.full(2 * len(d.y), 0.5)
    double = replace(d, score=twice, route=twice, y=np.tile(d.y, 2), weight=halves)
    assert nested_tests(grow(double, criterion)) == nested_tests(grow(d, criterion))


@one_in(10)
@given(tables, criteria)
def test_all_orders_give_one_tree(d, criterion):
    t = grow(d, criterion)
    assert equal(grow(d, criterion, allow=always), t) and equal(
        grow(d, criterion, on_split=lambda *_: None), t
    )
    for order in ("best", "weighted"):
        assert (
            nested_tests(grow(d, criterion, allow=always, order=order))
            == nested_tests(t)
            == nested_tests(grow(d, criterion, order=order))
        )
    # nobody refused, hence no coarser level
    assert not (t.attribute > 2).any()


@one_in(3)
@given(tables, criteria, st.integers(0, 2**32 - 1), st.sampled_from(["level", "best", "weighted"]))
def test_protocol_with_thresholds_and_levels(d, criterion, seed, order):
    rng = np.random.default_rng(seed)
    w = Watch(lambda node, attribute: rng.random() < 0.6)
    t = grow(d, criterion, allow=w.allow, on_split=w.on_split, order=order)
    check_protocol(w, t, order)
    refused = {}
    for what, node, test, _, *ok in w.events:
        # the finer level was refused here
        if test.attribute > 2:
            assert ({3: 0, 4: 3}[test.attribute]) in refused.get(node, ())
        if what == "ask" and not ok[0]:
            refused.setdefault(node, set()).add(test.attribute)
    assert (t.level == np.array([0, 0, 0, 1, 2, 0])[t.attribute]).all()


@one_in(2)
@given(tables, criteria)
def test_refused_thresholds_are_followed_by_the_next_best(d, criterion):
    w = Watch(lambda node, attribute: True)
    assert len(grow(d, criterion, allow=w.allow, on_split=w.on_split)) == 1
    cuts = [e[2] for e in w.events if e[2].attribute == 1]
    assert all(0 < c.score <= np.log2(2) + 1 for c in cuts) and len(
        {c.threshold for c in cuts}
    ) == len(cuts)
    if isinstance(criterion, Gain):
        assert all(a.score >= b.score - 1e-5 for a, b in zip(cuts, cuts[1:]))


def at_least(k):
    """Each child holds nobody or k rows"""
    return lambda table: ((n := table.sum(axis=-1)) < 1e-9).__or__(n >= k - 1e-9).all(axis=-1)


@one_in(2)
@given(tables, criteria, st.integers(1, 12))
def test_admitted_children_are_large_enough(d, criterion, k):
    t = grow(d, criterion, admit=at_least(k))
    n = t.n[1:]
    assert ((n < 1e-6) | (n >= k - 1e-6)).all()
    if (
        k == 1
        and (d.weight == 1).all()
        and not any((m.codes == len(m.start) - 2).any() for m in d.score)
    ):
        assert equal(t, grow(d, criterion))


@one_in(2)
@given(whole, st.sampled_from([Gain(1), Gain(2)]), st.integers(1, 12))
def test_admit_is_a_local_allow(d, criterion, k):
    """By gain: asking beforehand and asking in turn is the same"""

    def allow(node, test, rows):
        n = np.bincount(test.branch(d.score[test.attribute].codes[rows]))
        return ((n == 0) | (n >= k)).all()

    assert nested_tests(grow(d, criterion, allow=allow)) == nested_tests(
        grow(d, criterion, admit=at_least(k))
    )


@given(datas(routing=(False, True)), st.integers(1, 6))
def test_admit_with_members(d, k):
    t = grow(d, admit=at_least(k))
    assert (t.n[1:] >= k - 1e-9).all() and equal(t, grow(d, admit=at_least(k), allow=always))
    assert equal(grow(d, admit=lambda x: np.ones(x.shape[:-2], dtype=bool)), grow(d))


@pytest.mark.parametrize("criterion", [Gain(2), GainRatio(2)], ids=["gain", "ratio"])
@pytest.mark.parametrize("name", ["min_samples_leaf", "some_other"])
def test_a_criterion_is_frozen(criterion, name):
    with pytest.raises(FrozenInstanceError):
        setattr(criterion, name, 1)


def test_criterion_and_data_must_fit(customers):
    d = mixed(np.random.default_rng(0), 20)
    with pytest.raises(ValueError, match="'score' must know thresholds"):
        grow(d)
    other = TreeData(d.names[:1], d.values[:1], d.classes, d.score[:1], d.score[1:2], d.y, d.weight)
    with pytest.raises(ValueError, match="must score and route rows alike"):
        grow(other, GainRatio())
    twice = TreeData(
        d.names, d.values, d.classes, d.score, d.route, d.y, d.weight, d.line, ["a"] * 5, [0] * 5
    )
    with pytest.raises(ValueError, match="each level of an attribute once"):
        grow(twice, GainRatio())


def test_sets_in_tree_data():
    """Sets of TreeData are divided as in a release; admit wants them divided always"""
    m = Members(
        np.array([0, 1, 0, 1, 2, 2]),
        np.array([0, 1, 2, 4]),
        np.array([0, 1, 0, 1]),
        np.array([1, 1, 0.25, 0.75]),
    )
    d = TreeData(
        ["a"],
        [["u", "v"]],
        np.array(["n", "y"]),
        [m],
        [m],
        np.array([0, 1, 0, 1, 0, 1]),
        np.ones(6),
    )
    t = grow(d, GainRatio(1))
    assert t.counts.tolist() == [[3, 3], [2.25, 0.25], [0.75, 2.75]] and equal(
        grow(d, GainRatio(1), allow=always), t
    )
    assert (
        len(grow(d, GainRatio(1), admit=at_least(2.5))) == 3
        and len(grow(d, GainRatio(1), admit=at_least(2.6))) == 1
    )
    with pytest.raises(ValueError, match="'admit' must not be given with sets"):
        grow(d, GainRatio(1), admit=at_least(2), min_fragment=0.1)


# ---- kADET on the grower


def kadet(
    data, public, k, score=information_gain, class_public=False, order="best", min_gain=1e-12
):
    """The span test of kADET, Section 3.1: (tree, spans); no tree when a span is too small from the
    start
    """
    codes = [np.append(m.value[m.start[:-1]], -1)[m.codes] for m in data.score]
    spans = (
        [
            (np.flatnonzero(data.y == c), {0})
            for c in range(len(data.classes))
            if (data.y == c).any()
        ]
        if class_public
        else [(np.arange(len(data.y)), {0})]
    )
    if any(len(people) < k for people, _ in spans):
        return None, []

    def branch(test, people):
        return test.branch(codes[test.attribute][people])

    def allow(node, test, rows):
        return not public[test.attribute] or all(
            n == 0 or n >= k
            for people, nodes in spans
            if node in nodes
            for n in np.bincount(branch(test, people))
        )

    def on_split(node, test, children, rows):
        new = []
        for people, nodes in spans:
            if node not in nodes:
                new.append((people, nodes))
            elif not public[test.attribute]:
                new.append((people, nodes - {node} | set(children.values())))
            else:
                new += [
                    (people[branch(test, people) == v], nodes - {node} | {children.get(v, node)})
                    for v in np.unique(branch(test, people))
                ]
        spans[:] = new

    return grow(data, score, allow=allow, on_split=on_split, order=order, min_gain=min_gain), spans


def clients():
    return table(load_clients(), ["Marital Status", "Sports Car"], "Loan Risk")


def names_of(spans):
    return sorted(sorted(load_clients().index[p]) for p, _ in spans)


def test_the_six_clients_of_kadet():
    t, spans = kadet(clients(), [True, False], 3)
    assert (
        tree_text(t)
        == "Sports Car = No: bad (3)\nSports Car = Yes\n|   Marital Status = Married: good (1)\n|  "
        " Marital Status = Unmarried: bad (2/1)"
    )
    assert names_of(spans) == [["Anna", "Lisa", "Robert"], ["Ben", "John", "Laura"]]
    t, spans = kadet(clients(), [True, False], 4)
    assert (
        tree_text(t) == "Sports Car = No: bad (3)\nSports Car = Yes: good (3/1)" and len(spans) == 1
    )


def test_the_six_clients_with_a_public_class():
    # two clients only are good
    assert kadet(clients(), [True, False], 3, class_public=True)[0] is None
    t, spans = kadet(clients(), [True, False], 2, class_public=True)
    assert tree_text(t) == "Sports Car = No: bad (3)\nSports Car = Yes: good (3/1)"
    assert names_of(spans) == [["Anna", "Ben", "Laura", "Robert"], ["John", "Lisa"]]


@pytest.mark.parametrize(
    "public, k, leaves, groups",
    [
        ([1, 1], 2, [2, 3, 4, 5], [2, 3, 4, 5]),
        ([1, 1], 3, [4, 5, 5], [4, 5, 5]),
        ([1, 1], 5, [5, 9], [5, 9]),
        ([1, 0], 5, [2, 3, 4, 5], [5, 9]),
    ],
)
def test_kadet_on_the_customers(customers, public, k, leaves, groups):
    for score in (information_gain, GainRatio(1)):
        t, spans = kadet(customers, public, k, score)
        assert (
            sorted(t.n[t.attribute < 0].tolist()) == leaves
            and sorted(len(p) for p, _ in spans) == groups
        )


def smallest_group(t, data, public, class_public):
    """Brute force: people who may be in the same leaves, whatever their private values, and have
    the same public class
    """
    codes = [np.append(m.value[m.start[:-1]], -1)[m.codes] for m in data.score]

    def reach(i):
        res, todo = set(), [0]
        while todo:
            node = todo.pop()
            a = t.attribute[node]
            if a < 0:
                res.add(node)
                continue
            if not public[a]:
                todo += t.children(node).tolist()
                continue
            v = codes[a][i]
            if t.kind[node] == THRESHOLD:
                v = int(data.line[a][v] > t.threshold[node])
            if t.kind[node] == ONE_VALUE:
                v = int(v != t.threshold[node])
            kid = int(t.child_of_code(node, v))
            if kid < 0:
                res.add((int(node), "stop"))
            else:
                todo.append(kid)
        return frozenset(res)

    return (
        pd.Series([(reach(i), data.y[i] if class_public else 0) for i in range(len(data.y))])
        .value_counts()
        .min()
    )


@one_in(2)
@given(
    datas(exact=True, weights=False),
    st.integers(1, 4),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.booleans(),
)
def test_span_populations_never_fall_below_k(d, k, public, class_public):
    t, spans = kadet(d, public, k, class_public=class_public)
    assert (
        t is None
        or smallest_group(t, d, public, class_public) >= k
        and sum(len(p) for p, _ in spans) == len(d.y)
    )


@one_in(3)
@given(
    whole,
    criteria,
    st.integers(1, 12),
    st.lists(st.booleans(), min_size=3, max_size=3),
    st.booleans(),
    st.sampled_from(["level", "best", "weighted"]),
)
def test_kadet_with_thresholds_and_levels_keeps_its_promise(
    d, criterion, k, p, class_public, order
):
    public = [*p, p[0], p[0]]
    t, spans = kadet(d, public, k, criterion, class_public, order)
    if t is None:
        return
    assert smallest_group(t, d, public, class_public) >= k and smallest_group(
        t, d, public, class_public
    ) == min(len(o) for o, _ in spans)
    if k == 1:
        assert nested_tests(t) == nested_tests(grow(d, criterion))


def test_a_coarser_level_comes_in_where_the_finer_one_is_refused():
    """Jobs one by one would leave two people each; pairs leave four; below a pair only one job is
    large enough
    """
    job = np.repeat(np.arange(4), [2, 2, 2, 6])
    y = np.isin(job, [2, 3]).astype(int)
    y[-3:] = 0
    town = np.arange(12) % 2
    m = [Members.exact(job, 4), Members.exact(job // 2, 2), Members.exact(town, 2)]
    d = TreeData(
        ["job", "job, pairs", "town"],
        [list("abcd"), ["ab", "cd"], ["x", "y"]],
        np.array(["n", "y"]),
        m,
        m,
        y,
        np.ones(12),
        base=["job", "job", "town"],
        level=[0, 1, 0],
    )
    assert grow(d).attribute[0] == 0 and grow(d).level[0] == 0
    for t in (
        grow(d, admit=at_least(4)),
        kadet(d, [True] * 3, 4)[0],
        grow(d, GainRatio(1), admit=at_least(4)),
        grow(d, Gain(1), allow=lambda node, test, rows: test.attribute != 0),
    ):
        assert (t.attribute[0], t.level[0], t.names[t.attribute[0]]) == (
            1,
            1,
            "job, pairs",
        ) and t.n[:3].tolist() == [12, 4, 8]
    t = grow(d, admit=at_least(2))
    assert t.attribute[0] == 0
    # the finer level may be used below
    t = grow(d, allow=lambda node, test, rows: node != 0 or test.attribute == 1)
    assert t.attribute[0] == 1 and 0 in t.attribute[t.children(0)]
    asked = [
        Members.exact(np.array([3, 0]), 4),
        Members.exact(np.array([1, 0]), 2),
        Members.exact(np.array([0, 0]), 2),
    ]
    assert np.allclose(
        tree_counts(grow(d, admit=at_least(4), max_depth=1), asked), [[3 / 8, 5 / 8], [1, 0]]
    )
    assert np.allclose(
        tree_shares(
            grow(d, GainRatio(1), admit=at_least(4), max_depth=1),
            np.array([[3.0, 0], [1, 0], [0, 0]]),
        ),
        [[3 / 8, 5 / 8], [1, 0]],
    )


def test_a_used_tree_is_pickled_like_a_new_one(customers):
    t = grow(customers)
    new = pickle.dumps(t)
    tree_counts(t, customers.score)
    assert (
        pickle.dumps(t) == new
        and equal(pickle.loads(new), t)
        and tree_text(copy.deepcopy(t)) == tree_text(t)
    )


# ---- asking


@given(datas())
def test_shares_sum_to_one_and_follow_the_branches(d):
    t = grow(d)
    p = tree_counts(t, d.score)
    assert np.allclose(p.sum(axis=1), 1) and (p >= 0).all()

    def walk(node, i, w):  # by hand
        a = t.attribute[node]
        if a < 0 or w < 1e-6:
            return w * t.counts[node] / t.n[node]
        m, res = d.score[a], np.zeros(len(d.classes))
        for v, x in zip(
            m.value[m.start[m.codes[i]] : m.start[m.codes[i] + 1]], m.weight[m.start[m.codes[i]] :]
        ):
            kid = next((k for k in t.children(node) if t.code[k] == v), None)
            res += w * x * t.counts[node] / t.n[node] if kid is None else walk(kid, i, w * x)
        return res

    assert np.allclose(p, [walk(0, i, 1.0) for i in range(len(d.y))])


@given(datas(exact=True))
def test_exact_training_rows_reach_leaves(d):
    t = grow(d)
    p = tree_counts(t, d.score)
    leaves = (t.counts / t.n[:, None])[t.attribute < 0]
    assert all(np.isclose(leaves, o).all(axis=1).any() for o, w in zip(p, d.weight) if w > 0)


@given(datas())
def test_a_row_is_answered_alike_in_any_company(d):
    t = grow(d)
    p = tree_counts(t, d.score)
    for i in range(len(d.y)):
        assert np.array_equal(
            tree_counts(t, [Members(m.codes[[i]], m.start, m.value, m.weight) for m in d.score])[0],
            p[i],
        )


def test_unknown_values_and_light_fragments(customers):
    t = grow(customers)
    one = [Members.exact(np.array([-1, 1, 0]), 2), Members.exact(np.array([0, -1, 0]), 2)]
    assert tree_counts(t, one).tolist() == [[0.5, 0.5], [4 / 9, 5 / 9], [0, 1]]
    half = Members(np.array([0]), np.array([0, 2]), np.array([0, 1]), np.array([0.5, 0.5]))
    assert np.allclose(
        tree_counts(t, [half, half], min_weight=0.6),
        [[0.5 * 0.6 + 0.5 * 4 / 9, 0.5 * 0.4 + 0.5 * 5 / 9]],
    )
    assert tree_counts(t, [Members.exact(np.array([], dtype=int), 2)] * 2).shape == (0, 2)


# ---- large and deep


def test_a_column_of_ten_thousand_values_needs_little_room():
    rng, n, sizes = np.random.default_rng(0), 20_000, [10_000, 4, 4, 4, 4]
    m = [Members.exact(rng.integers(0, v, n), v) for v in sizes]
    d = TreeData(
        list("abcde"),
        [list(range(v)) for v in sizes],
        np.arange(2),
        m,
        m,
        rng.integers(0, 2, n),
        np.ones(n),
    )
    tracemalloc.start()
    # the large column comes last
    last = grow(d, score=lambda t: -(t > 0).any(axis=-1).sum(axis=-1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert last.attribute[0] == 1 and 0 in last.attribute and peak < 150e6
    assert np.allclose(tree_counts(last, m).sum(axis=1), 1)


def chain(n):
    """A tree n deep: node 2i + 1 is a leaf, node 2i + 2 goes on"""
    parent = np.append(-1, np.repeat(np.arange(0, 2 * n, 2), 2))
    attribute = np.full(2 * n + 1, -1)
    attribute[0 : 2 * n : 2] = np.arange(n)
    counts = np.ones((2 * n + 1, 2))
    return Tree(
        parent,
        attribute,
        np.zeros(2 * n + 1, dtype=int),
        np.where(attribute >= 0, MULTIWAY, LEAF),
        np.full(2 * n + 1, np.nan),
        np.append(-1, np.tile([0, 1], n)),
        counts,
        counts.sum(axis=1),
        [f"a{i}" for i in range(n)],
        [["n", "y"]] * n,
        np.array(["p", "q"], dtype=object),
    )


def test_sets_everywhere_in_a_deep_tree_stay_in_bounds():
    n = 12
    full = Members(
        np.zeros(50, dtype=int), np.array([0, 2]), np.array([0, 1]), np.array([0.5, 0.5])
    )
    assert np.allclose(tree_counts(chain(n), [full] * n), 0.5)


def numbers(columns, y, weight=None, missing=()):
    """TreeData of numeric columns"""
    line, codes = zip(*(np.unique(c, return_inverse=True) for c in columns))
    m = [
        Members.exact(np.where(np.isin(np.arange(len(c)), missing), -1, c), len(v))
        for c, v in zip(codes, line)
    ]
    return TreeData(
        [f"x{i}" for i in range(len(m))],
        [v.tolist() for v in line],
        np.unique(y),
        m,
        m,
        np.unique(y, return_inverse=True)[1],
        np.ones(len(y)) if weight is None else weight,
        line=[v.astype(float) for v in line],
    )


def test_numbers_of_odd_tables():
    for criterion, kw in itertools.product(CRITERIA, [{}, {"order": "best"}, {"allow": always}]):

        def size(*args, **more):
            return len(grow(numbers(*args, **more), criterion, **kw))

        assert (
            size([[1.0]], [0]) == 1
            and size([[1.0, 2, 3, 4]], [1] * 4) == 1
            and size([[7.0] * 6] * 2, [0, 1] * 3) == 1
        )
        assert size([np.arange(6.0)], [0, 0, 0, 1, 1, 1], missing=range(6)) == 1
        assert size([np.arange(20.0)], [0] * 10 + [1] * 10) == 3
        assert (
            size([np.arange(21.0)], [0] * 10 + [1] * 10 + [0], weight=np.append(np.ones(20), 0))
            == 3
        )
        # a class with one row
        assert size([np.arange(19.0)], [0] * 18 + [1]) == (
            3 if criterion.min_samples_leaf == 1 else 1
        )
        with pytest.raises(ValueError, match="at least one row"):
            size([[1.0, 2]], [0, 1], weight=np.zeros(2))
    empty = TreeData([], [], np.arange(2), [], [], np.array([0, 1]), np.ones(2))
    assert len(grow(empty, GainRatio())) == 1 and len(grow(empty)) == 1


def test_a_chain_is_grown_and_asked():
    """Weights that grow from row to row: the heavy last rows decide, and each cut takes off the
    last one or two
    """
    n = 700
    d = numbers([np.arange(float(n))], np.arange(n) % 2, weight=1.05 ** np.arange(n))
    t = grow(d, GainRatio(1))
    assert t.depth > n / 3
    p = tree_shares(t, np.arange(float(n))[None])
    assert (
        np.allclose(p.sum(axis=1), 1)
        and (p.argmax(axis=1) == np.arange(n) % 2)[n // 10 :].mean() > 0.9
    )
    c = chain(10_000)
    assert c.depth == 10_000 and tree_counts(
        c, [Members.exact(np.array([1]), 2)] * 10_000
    ).tolist() == [[0.5, 0.5]]
    assert tree_shares(c, np.ones((10_000, 1))).tolist() == [[0.5, 0.5]] and len(
        copy.deepcopy(c)
    ) == len(c)


def test_two_thousand_columns():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, (2000, 100))
    y = (x[1234] > 0).astype(int)
    m = [Members.exact(o, 3) for o in x]
    d = TreeData(
        [f"a{i}" for i in range(2000)], [[0, 1, 2]] * 2000, np.arange(2), m, m, y, np.ones(100)
    )
    for kw in ({}, {"score": GainRatio()}, {"order": "best"}):
        t = grow(d, **kw)
        assert t.attribute[0] == 1234 and t.depth == 1


def test_many_different_numbers():
    rng, n = np.random.default_rng(0), 300_000
    x = rng.permutation(n) * 1.0
    d = numbers([x], (x > n / 3).astype(int) ^ (rng.random(n) < 0.01))
    t = grow(d, GainRatio(), max_depth=3)
    assert abs(t.threshold[0] - n / 3) < 0.01 * n
    lines = python_lines(lambda: grow(d, GainRatio(), max_depth=3))
    # a pass or two over the different values (2.3 lines each), none for every node
    assert lines < 5 * n, lines
    tracemalloc.start()
    grow(d, GainRatio(), max_depth=1, admit=at_least(5))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400 * n


def adult_data(columns, train):
    values, line, m = [], [], []
    for o in columns:
        v, c = np.unique(train[o], return_inverse=True)
        values.append(v.tolist())
        m.append(Members.exact(c, len(v)))
        line.append(v.astype(float) if v.dtype.kind in "if" else None)
    classes, y = np.unique(train.income.astype(str), return_inverse=True)
    return TreeData(list(columns), values, classes, m, m, y, np.ones(len(y)), line=line)


def test_admit_on_adult(data_dir):
    train = fetch_adult("train", complete=True)
    train = train.assign(
        **{o: train[o].astype(str) for o in train if not pd.api.types.is_numeric_dtype(train[o])}
    )
    words = [o for o in train if train[o].dtype.kind not in "if" and o != "income"]
    few, all_ = adult_data(words, train), adult_data([o for o in train if o != "income"], train)
    for k in (2, 10, 100, 1000):
        for d, score in ((few, information_gain), (all_, GainRatio())):
            t = grow(d, score, admit=at_least(k))
            assert ((t.n[1:] == 0) | (t.n[1:] >= k)).all()
            assert len(t) > 20 or k == 1000
