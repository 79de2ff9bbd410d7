"""Error-risk pruning and tiers: the paper's numbers, random trees against the textbook versions,
random tables under every option, and what is refused.
"""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from random_tables import pick, published_rows, row_cells
from random_trees import NAMES, VALUES, chain, random_tree
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from ppdt._textbook import _textbook_borrow, _textbook_domains, _textbook_risk_prune
from ppdt.c45 import C45Classifier
from ppdt.datasets import load_customers, make_population
from ppdt.diversity import Alpha, LDiversity
from ppdt.engine.risk_branches import BranchTotals, prune_branches
from ppdt.engine.tier_cells import DomainFits, combination_cells, draw_tuples, tiered_table
from ppdt.engine.tiers import (
    LeafOrder,
    RowSpace,
    Tiers,
    borrow,
    node_errors,
    plainest,
    row_tiers,
    subset_partners,
    tiered_subsets,
    with_waiting,
)
from ppdt.erp import ERPAnonymizer, error_risk_prune
from ppdt.growing import MULTIWAY, ONE_VALUE, THRESHOLD
from ppdt.loss import gcp
from ppdt.matching import matched
from ppdt.release import AnonymizedClassifier, GuaranteeError, read_release
from ppdt.risk import background_attack, error_risk, error_risk_ratio
from ppdt.tables import MISSING, Exact, Interval, Suppressed, ValueSet, encode
from ppdt.trees import tree_from_json, tree_json

SHOP, BOUGHT = load_customers().drop(columns="Bought"), load_customers().Bought
TREE = C45Classifier(prune=False).fit(SHOP, BOUGHT).tree_


def test_rows_of_the_last_tier_compete_unless_told_otherwise():
    t = make_population(80, 1)
    X = t[["age", "education", "region", "hours"]]
    tree = C45Classifier(prune=False, min_samples_leaf=1).fit(X, t.income)
    usual, compete, strict = (
        [o.tolist() for o in tiered_subsets(tree, X, 6, **given).members]
        for given in ({}, {"strict_tiers": False}, {"strict_tiers": True})
    )
    assert usual == compete != strict


# ---------- the paper's tree (Figure 1) and Table 1
def test_every_number_of_figure_1():
    r = error_risk(TREE, SHOP)
    assert r.R.round(9).tolist() == [
        3.807354922,
        3.321928095,
        4.169925001,
        3,
        3.584962501,
        4.321928095,
        4,
        3.43171624,
        5.5360529,
    ]
    assert r.E.tolist() == [7, 2, 4, 0, 0, 2, 1, 0, 0]
    assert r.ratio.dropna().to_dict() == pytest.approx(
        {0: 0.134559154, 1: 0.160964047, 2: 0.246069587, 5: 0.445105927}, abs=1e-8
    )
    assert error_risk_prune(TREE, 3, X=SHOP).log.node.tolist() == [5, 1] and error_risk_prune(
        TREE, 3, "literal", SHOP
    ).log.node.tolist() == [5, 0]
    assert error_risk_prune(TREE, 3, "literal", SHOP).log.ratio.tolist() == pytest.approx(
        [0.445105927, 0.201838731], abs=1e-8
    )


def test_table_1():
    t = tiered_subsets(TREE, SHOP, 3)
    data = tiered_table(t, SHOP).iloc[:5]
    assert data.Age.tolist() == [
        Interval(42, 61),
        Interval(42, 61),
        Interval(29, 61),
        Interval(29, 42),
        Interval(29, 42),
    ]
    assert [c.values == {"Married", "Not Married"} for c in data.Marital] == [True] * 3 + [
        False
    ] * 2
    assert gcp(data, SHOP, ["Age", "Marital"]) == pytest.approx(0.465517241) and gcp(
        data, SHOP
    ) == pytest.approx(0.310344828)
    r = ERPAnonymizer(3, assign="own").anonymize(SHOP, BOUGHT)
    assert r.data.iloc[:5].astype(str).equals(data.astype(str)) and (
        r.audit.one_k,
        r.audit.k_one,
        r.audit.global_one_k,
    ) == (3, 3, 3)


# ---------- pruning
def bare_risk(rng, t):
    return np.round(rng.gamma(2.0, 2.0, len(t)), 3)


@given(
    seed=st.integers(0, 2**32 - 1),
    n_inner=st.integers(0, 9),
    k=st.integers(1, 12),
    rule=pick("minimal", "literal"),
)
def test_pruning_is_the_textbooks(seed, n_inner, k, rule):
    rng = np.random.default_rng(seed)
    t = random_tree(rng, n_inner, n_classes=int(rng.integers(1, 4)))
    if t.n[0] < k:
        return
    risk = bare_risk(rng, t)
    errors = t.n - t.counts.max(axis=1)
    b = BranchTotals(t.parent, t.n, errors, risk, lambda i: t.n[i] < k, error_risk_ratio)
    assert prune_branches(b, rule).node.tolist() == _textbook_risk_prune(t, risk, k, rule)


def table_for(rng, t, n=40):
    """A table that such a tree could have been learnt from"""
    return pd.DataFrame(
        {
            o: rng.choice(v, n) if o in "abc" else np.round(rng.normal(1, 2, n), 1)
            for o, v in zip(NAMES, VALUES)
        }
    )


def reach(t, i, X):
    """Share of each attribute that the path to a node leaves, in the plainest way"""
    allowed = {}
    way = [i]
    while t.parent[way[-1]] >= 0:
        way.append(t.parent[way[-1]])
    for v in way[-2::-1]:
        p = t.parent[v]
        j = int(t.attribute[p])
        name = t.names[j]
        x = sorted(set(X[name]))
        if t.kind[p] == THRESHOLD:
            lo, hi = allowed.get(j, (x[0], x[-1]))
            allowed[j] = (
                (lo, max(lo, min(hi, t.threshold[p])))
                if t.code[v] == 0
                else (min(hi, max(lo, t.threshold[p])), hi)
            )
        else:
            now = allowed.get(j, {o for o in t.values[j] if o in x})
            one = {t.values[j][int(t.threshold[p]) if t.kind[p] == ONE_VALUE else t.code[v]]}
            allowed[j] = now - one if t.kind[p] == ONE_VALUE and t.code[v] else now & one
    res = 1.0
    for j, o in allowed.items():
        x = sorted(set(X[t.names[j]]))
        if isinstance(o, tuple):
            res *= min(max(o[1] - o[0], min(np.diff(x))), x[-1] - x[0]) / (x[-1] - x[0])
        else:
            res *= max(len(o), 1) / len([v for v in t.values[j] if v in x])
    return -np.log2(res)


@given(seed=st.integers(0, 2**32 - 1), n_inner=st.integers(0, 8))
def test_background_is_what_the_path_leaves(seed, n_inner):
    rng = np.random.default_rng(seed)
    t = random_tree(rng, n_inner)
    X = table_for(rng, t)
    # z is a category in a test for one value, and a number in a threshold: here a number only
    for i, kind in enumerate(t.kind):
        if kind != THRESHOLD and t.attribute[i] > 2:
            return
    big = error_risk(t, X).BIG
    assert big.to_numpy() == pytest.approx([reach(t, i, X) for i in range(len(t))], abs=1e-9)
    up = t.parent[1:]
    assert (big.to_numpy()[1:] >= big.to_numpy()[up] - 1e-9).all()  # Lemma 1, not strict


@one_in(2)
@given(seed=st.integers(0, 2**32 - 1), n_inner=st.integers(1, 9), k=st.integers(1, 12))
def test_what_holds_of_pruning(seed, n_inner, k):
    rng = np.random.default_rng(seed)
    t = random_tree(rng, n_inner, (MULTIWAY, ONE_VALUE))
    X = pd.DataFrame(
        {o: v * 5 for o, v in zip(NAMES[:3], (VALUES[0] * 6, VALUES[1] * 4, VALUES[2] * 3))}
    )
    if t.n[0] < k:
        return
    whole = {}
    for rule in ("minimal", "literal"):
        p = whole[rule] = error_risk_prune(t, k, rule, X)
        full = p.tree.n[(p.tree.attribute < 0) & (p.tree.n > 0)]
        assert (full >= k).all() and sorted(full) == sorted(t.n[p.leaves]) and full.sum() == t.n[0]
        assert len(p.log) <= (t.attribute >= 0).sum() and (p.log.smallest < k).all()
        assert (p.log.E >= p.log.E_branch).all() and p.log.ratio.notna().all()
        steps = [
            float((o.n - o.counts.max(axis=1))[o.attribute < 0].sum())
            for o in map(p.after, range(len(p.log) + 1))
        ]
        # the training error never falls
        assert steps == sorted(steps)
        assert tree_json(p.after(len(p.log)), counts=True) == tree_json(p.tree, counts=True)
    assert len(whole["minimal"].leaves) >= len(whole["literal"].leaves)
    seen = {frozenset(_textbook_risk_prune(t, bare_risk(rng, t), k)) for _ in range(3)}
    assert {t_.n_leaves for t_ in [whole["minimal"].tree]} == {
        error_risk_prune(t, k, X=X).tree.n_leaves
    } and len({ends(t, o) for o in seen}) == 1


def ends(t, cut):
    """Leaves after some branches are pruned"""
    gone = set()
    for i in range(1, len(t)):
        if t.parent[i] in gone or t.parent[i] in cut:
            gone.add(i)
    return frozenset(i for i in range(len(t)) if i not in gone and (t.attribute[i] < 0 or i in cut))


@given(seed=st.integers(0, 2**32 - 1), n_inner=st.integers(1, 9))
def test_lemma_3_where_no_branch_is_empty(seed, n_inner):
    rng = np.random.default_rng(seed)
    t = random_tree(rng, n_inner, (MULTIWAY, ONE_VALUE), empty=False)
    used = [[j for v, j in path_of(t, i)] for i in range(len(t))]
    # asked again, a branch is impossible, which is as bad as empty
    if any(len(set(o)) < len(o) for o in used):
        return
    r = error_risk(t)
    inner = r.ratio.notna()
    assert (r.R[inner] >= r.R_branch[inner] - 1e-9).all()
    assert np.allclose(r.R, np.log2(t.n[0]) + np.log2(t.n / t.n[0] * 2**r.BIG))


def path_of(t, i):
    return [] if i == 0 else path_of(t, t.parent[i]) + [(i, int(t.attribute[t.parent[i]]))]


def test_ratio_where_no_error_is_lost():
    assert [error_risk_ratio(b, e) for b, e in ((1, 2), (1, 0), (0, 0), (-1, 0), (0, 3))] == [
        0.5,
        np.inf,
        0,
        -np.inf,
        0,
    ]


def test_a_deep_chain_is_pruned_in_no_time():
    for depth, rule in ((3000, "minimal"), (600, "literal")):
        p = error_risk_prune(chain(depth), 40, rule, pd.DataFrame({"a": np.arange(depth + 1)}))
        assert p.tree.n[p.tree.attribute < 0].min() >= 40


def test_zero_width_and_one_value():
    X, y = pd.DataFrame({"a": [1, 1, 1, 2], "b": ["u"] * 4}), pd.Series(["n", "n", "n", "y"])
    t = C45Classifier(prune=False, min_samples_leaf=1).fit(X, y).tree_
    assert (
        np.isfinite(error_risk(t, X).BIG).all()
        and np.isfinite(error_risk(t, X, "observed").BIG).all()
    )


def test_observed_domains():
    r = error_risk(TREE, SHOP, domain="observed")
    assert r.BIG.round(9).tolist() == [
        0,
        1,
        1,
        2,
        2,
        2,
        2,
        round(2 - np.log2(11 / 58), 9),
        round(2 - np.log2(10 / 58), 9),
    ]


@pytest.mark.parametrize(
    "call, what",
    [
        (
            lambda: error_risk_prune(TREE, 15, X=SHOP),
            "'k' must not exceed the number of rows. Got k=15 for 14 rows",
        ),
        (lambda: error_risk_prune(TREE, 0, X=SHOP), "'k' must be an integer of at least 1"),
        (
            lambda: error_risk_prune(TREE, 3, "strict", SHOP),
            "'rule' must be one of 'minimal', 'literal'. Got 'strict'",
        ),
        (lambda: error_risk_prune(TREE, 3), "'X' must be given.*Age <= 65.*range of 'Age'"),
        (
            lambda: error_risk(TREE, SHOP[["Age"]]),
            "'X' must have the columns that the tree asks. Got none named 'Gender'",
        ),
        (lambda: error_risk(TREE, SHOP, "rows"), "'domain' must be one of"),
        (lambda: error_risk(tree_from_json(tree_json(TREE)), SHOP), "'tree' must have its counts"),
        (
            lambda: error_risk(
                make_pipeline(OneHotEncoder(), DecisionTreeClassifier()).fit(SHOP, BOUGHT), SHOP
            ),
            "'tree' must ask columns as they are",
        ),
        (lambda: error_risk_prune(TREE, 3, X=SHOP).after(3), "'steps' must be between 0 and 2"),
        (lambda: background_attack(TREE, SHOP[:0]), "'people' must have at least one row"),
        (lambda: tiered_subsets(TREE, SHOP, 15), "'k' must not exceed"),
        (
            lambda: tiered_subsets(TREE, SHOP.assign(Age=SHOP.Age.where(SHOP.Age > 30)), 3),
            "'X' must have no missing values. Got 2 in 'Age'",
        ),
        (
            lambda: tiered_table(tiered_subsets(TREE, SHOP, 3), SHOP, "mean"),
            "'numeric' must be one of",
        ),
    ],
)
def test_what_is_refused(call, what):
    with pytest.raises(ValueError, match=what):
        call()


def test_an_attacker_gets_everybody_of_a_leaf():
    people = make_population(500, random_state=1)
    t = C45Classifier(prune=False).fit(people[["education", "region"]], people.income).tree_
    a = background_attack(t, people[["education", "region"]])
    assert (
        a.orders.people.tolist() == a.orders.rows.tolist()
        and a.orders.people.sum() == 500
        and (a.found >= 0).all()
    )
    assert (
        np.allclose(a.orders.bits, np.log2(500 / a.orders.people))
        and a.orders.BIG.is_monotonic_increasing
    )
    assert "education" in str(a) and "<table" in a._repr_html_()


# ---------- tiers
@st.composite
def stands(draw):
    """(rows of a random table as codes, parents of a random tree, leaf of each row, k)"""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    t = random_tree(rng, draw(st.integers(0, 7)))
    n = draw(st.integers(2, 40))
    X = pd.DataFrame({"a": rng.choice(list("uvw"), n), "x": rng.integers(0, 9, n)})
    return (
        X,
        t.parent.tolist(),
        rng.choice(np.flatnonzero(t.attribute < 0), n),
        draw(st.integers(1, n)),
    )


def space_of(X):
    coded = [encode(X[o]) for o in X]
    return RowSpace([a for a, _ in coded], [c for _, c in coded]), coded


@given(case=stands(), strict=st.booleans())
def test_tiers_are_the_textbooks(case, strict):
    X, parent, stops, k = case
    space, coded = space_of(X)
    far = lambda rows, own: space.distance(space.centre(own), np.array(rows, dtype=int))
    borrowed = {
        l: _textbook_borrow(l, stops.tolist(), parent, k, far, strict)
        for l in sorted(set(stops.tolist()))
    }
    t = row_tiers(parent, stops, space, k, strict)
    assert {
        int(l): sorted(m[n:].tolist()) for l, m, n in zip(t.leaves, t.members, t.own)
    } == borrowed
    assert all(len(m) >= k for m in t.members)
    assert np.flatnonzero(t.shared).tolist() == sorted({r for o in borrowed.values() for r in o})
    rows = _textbook_domains(stops.tolist(), borrowed)
    for a, codes in coded:
        for numeric in ("interval", "set"):
            at, cells = combination_cells(a, codes, t, numeric)
            for r, U in enumerate(rows):
                v = {a.items[codes[i]] for i in U}
                want = (
                    Exact(*v)
                    if len(v) == 1
                    else (
                        Interval(min(v), max(v))
                        if a.kind == "numeric" and numeric == "interval"
                        else ValueSet(v)
                    )
                )
                assert cells[at[t.combination[r]]] == want


@given(case=stands(), seed=st.integers(0, 9))
def test_the_claim_and_the_draw(case, seed):
    """(k,k) and global (1,k) for any grouping at all; every draw is true, and a permutation"""
    X, parent, stops, k = case
    space, coded = space_of(X)
    t = row_tiers(parent, stops, space, k)
    own = [(at[t.combination], cs) for at, cs in (combination_cells(a, c, t) for a, c in coded)]
    fits = DomainFits([a for a, _ in coded], [c for _, c in coded], own)
    n = len(X)
    could = fits(np.repeat(np.arange(n), n), np.tile(np.arange(n), n)).reshape(n, n)
    assert could.sum(axis=0).min() >= k and matched(could).sum(axis=1).min() >= k
    mine = draw_tuples(t, np.zeros(n, dtype=int), fits, np.random.default_rng(seed), rounds=7)
    assert sorted(mine) == list(range(n)) and fits(np.arange(n), mine).all()


def test_a_search_ends_where_there_are_enough():
    parent, stops = [-1, 0, 0, 1, 1], np.array([3, 4, 4, 2, 2, 2])
    X = pd.DataFrame({"x": [0, 50, 51, 1, 2, 3]})
    space, _ = space_of(X)
    stand = LeafOrder(parent, stops)
    # the sisters, though strangers are nearer
    assert borrow(stand, 3, space, 3).tolist() == [1, 2]
    assert borrow(stand, 3, space, 4).tolist() == [3, 4, 5] and borrow(
        stand, 3, space, 4, strict=True
    ).tolist() == [1, 2, 3]


def test_distances_by_hand():
    """Numbers as shares of the range of the table, a category counts 1, nine digits"""
    space, _ = space_of(pd.DataFrame({"x": [10, 20, 40, 40], "c": list("uvvu")}))
    assert space.centre(np.array([0, 1, 2])) == ([pytest.approx(4 / 9)], [1])
    far = space.distance(([0.0], [1]), np.arange(4))
    assert far.tolist() == [1.0, 0.111111111, 1.0, 2.0]
    # one value: no range
    same, _ = space_of(pd.DataFrame({"x": [7, 7]}))
    assert same.distance(same.centre(np.array([0])), np.arange(2)).tolist() == [0, 0]


def test_errors_of_nodes_and_rows_that_wait():
    """Figure 1: the errors of every node from its rows; who has no answer gets a leaf of his own"""
    stops = leaves_of(TREE, SHOP)
    y = encode(BOUGHT)[1]
    assert node_errors(LeafOrder(TREE.parent.tolist(), stops), y, 2).tolist() == [
        *(7, 2, 4, 0, 0, 2, 1, 0, 0)
    ]
    parent, leaf = with_waiting(TREE, np.array([0, 3, 2, 0, 2]))
    assert parent.tolist() == [*TREE.parent.tolist(), 0, 2]
    assert leaf.tolist() == [9, 3, 10, 9, 10]


def leaves_of(t, X):
    """Leaf of each customer, by the questions of the tree"""
    res = []
    for row in X.to_dict("records"):
        i = 0
        while t.attribute[i] >= 0:
            v = row[t.names[t.attribute[i]]]
            if t.kind[i] == THRESHOLD:
                code = int(v > t.threshold[i])
            else:
                code = t.values[t.attribute[i]].index(v)
            i = next(o for o in t.children(i) if t.code[o] == code)
        res.append(i)
    return np.array(res)


def test_partners_and_the_plainest_by_hand():
    """Subsets {4, 1} with 0 borrowed, and {0, 2, 3}"""
    t = Tiers(
        members=[np.array([4, 1, 0]), np.array([0, 2, 3])],
        own=np.array([2, 3]),
        home=np.array([1, 0, 1, 1, 0]),
        combination=np.array([2, 0, 1, 1, 0]),
        combinations=[(0,), (1,), (1, 0)],
        leaves=np.array([3, 4]),
    )
    assert t.shared.tolist() == [True, False, False, False, False]
    # those that follow in the subset, in a circle
    assert subset_partners(t, 3).tolist() == [[2, 3], [0, 4], [3, 0], [0, 2], [1, 0]]
    assert plainest(t).tolist() == [0, 1]
    lent = replace(
        t,
        combination=np.array([3, 0, 3, 2, 4]),
        combinations=[(0,), (1,), (1, 0), (1, 0, 2), (0, 1)],
    )
    assert plainest(lent).tolist() == [0, 2]
    assert lent.shared.tolist() == [True, False, True, True, True]


def test_values_at_the_ends_of_floats():
    X = pd.DataFrame({"x": [-1.7e308, 1.7e308, 0.0, 1.0]})
    space, _ = space_of(X)
    assert np.isfinite(space.distance(space.centre([0, 1]), np.arange(4))).all()


# ---------- the anonymizer
@st.composite
def people(draw):
    """(X, y, k): categories and numbers, some with gaps"""
    n = draw(st.integers(2, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = pd.DataFrame(
        {
            f"c{i}": rng.choice(list("uvwxyz")[:d], n)
            for i, d in enumerate(draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
        }
    )
    for i in range(draw(st.integers(0, 2))):
        X[f"x{i}"] = rng.integers(0, draw(st.integers(1, 20)), n)
    y = pd.Series(np.where(rng.random(n) < 0.3, "a", np.where(X.c0 == "u", "a", "b")), name="class")
    if draw(st.booleans()):
        X = X.mask(rng.random(X.shape) < 0.1)
    return X, y, draw(st.integers(1, n))


OPTIONS = dict(
    rule=pick("minimal", "literal"),
    recoding=pick("tiered", "uniform"),
    assign=pick("own", "random"),
    numeric=pick("interval", "set"),
    strict_tiers=st.booleans(),
    domain=pick("path", "observed"),
    random_state=st.integers(0, 9),
)


def holds(cell, v):
    v = MISSING if pd.isna(v) else v
    return isinstance(cell, Suppressed) or (
        v is not MISSING and cell.lo <= v <= cell.hi
        if isinstance(cell, Interval)
        else v in cell.values
    )


@one_in(7)
@given(table=people(), options=st.fixed_dictionaries(OPTIONS), binary=st.booleans())
def test_invariants(table, options, binary):
    X, y, k = table
    tool = ERPAnonymizer(
        k, missing="category", inducer=C45Classifier(prune=False, binary_splits=binary), **options
    )
    r = tool.anonymize(X, y)
    assert not len(r.lost) and r.y.tolist() == y.tolist() and r.audit.holds
    if k == 1:
        return
    rows, raw = list(zip(*[row_cells(r.data[o]) for o in X])), X.astype(object).to_numpy().tolist()
    could = np.array([[all(map(holds, row, person)) for row in rows] for person in raw])
    # everybody's own row is true
    assert could.diagonal().all()
    assert could.sum(axis=0).min() >= k and matched(could).sum(axis=1).min() >= k
    if options["recoding"] == "uniform":
        assert (
            r.audit.k >= k and tool.tiers_ is None and len(set(tool.groups_)) >= r.audit.n_classes
        )
    alike = ERPAnonymizer(
        k,
        missing="category",
        inducer=C45Classifier(prune=False, binary_splits=binary),
        **options | dict(recoding="uniform"),
    ).anonymize(X, y)
    if options["numeric"] == "interval" and not X.isna().any(axis=None):
        assert r.audit.gcp <= alike.audit.gcp + 1e-9
    order = np.random.default_rng(0).permutation(len(X))
    assert published_rows(tool.anonymize(X.iloc[order], y.iloc[order])) == published_rows(r)
    back = pickle.loads(pickle.dumps(tool))
    assert not any(
        hasattr(back, o) for o in ("release_", "tree_", "inducer_", "log_", "groups_", "tiers_")
    ) and back.transform(X).astype(str).equals(tool.transform(X).astype(str))


@one_in(7)
@given(table=people(), seed=st.integers(0, 5))
def test_tiers_do_not_depend_on_the_pruning(table, seed):
    X, y, k = table
    a, b = (
        ERPAnonymizer(k, missing="category", assign="own", rule=o).anonymize(X, y)
        for o in ("minimal", "literal")
    )
    assert a.text().equals(b.text())


@one_in(3)
@given(table=people())
def test_constraints_on_groups(table):
    X, y, k = table
    try:
        r = ERPAnonymizer(
            k, missing="category", recoding="uniform", constraints=[LDiversity(2)]
        ).anonymize(X, y)
    except ValueError as e:
        assert y.nunique() < 2 and "whole table" in str(e)
        return
    sizes = r.text().groupby(list(X), dropna=False)[y.name].agg(["size", "nunique"])
    assert sizes["size"].min() >= k and sizes["nunique"].min() >= 2


def test_a_proof_that_is_wrong_is_found():
    class Liar(ERPAnonymizer):
        def _publish(self, task):
            res = super()._publish(task)
            rows, partners = res.proof
            return replace(res, proof=(rows, np.roll(partners, 7, axis=0)))

    with pytest.raises(GuaranteeError, match="promised k-concealment with k = 3"):
        Liar(3, assign="own").fit(SHOP, BOUGHT)

    class Thief(ERPAnonymizer):
        def _publish(self, task):
            res = super()._publish(task)
            # rows of others
            return replace(res, columns=[(c[::-1].copy(), cs) for c, cs in res.columns])

    with pytest.raises(GuaranteeError):
        Thief(3, assign="own").fit(SHOP, BOUGHT)


def test_the_draw_is_drawn():
    texts = {
        tuple(
            ERPAnonymizer(3, random_state=s)
            .anonymize(SHOP, BOUGHT)
            .data.assign(y=BOUGHT)
            .astype(str)
            .agg("|".join, axis=1)
        )
        for s in range(30)
    }
    assert len(texts) > 10 and len({tuple(sorted(o)) for o in texts}) > 1
    one, two = (ERPAnonymizer(3, random_state=4).anonymize(SHOP, BOUGHT).text() for _ in range(2))
    assert one.equals(two)
    free = [ERPAnonymizer(3).anonymize(SHOP, BOUGHT).data.astype(str).to_csv() for _ in range(12)]
    # without a seed it comes from the system
    assert len(set(free)) > 1


def test_a_file_and_a_learner(tmp_path):
    t = make_population(400, random_state=0)
    X, y = t[["education", "region", "age"]], t.income
    r = ERPAnonymizer(5, random_state=0).anonymize(X, y)
    r.to_csv(tmp_path / "out.csv")
    back = read_release(tmp_path / "out.csv")
    assert (
        back.text().equals(r.text())
        and b"seed" not in (tmp_path / "out.csv.schema.json").read_bytes()
    )
    a, b = (C45Classifier().fit(o.data, o.y) for o in (r, back))
    assert a.predict(X).tolist() == b.predict(X).tolist()
    for k in (2, 5):
        made = ERPAnonymizer(k, random_state=0)
        both = AnonymizedClassifier(made, C45Classifier(), test="recoded").fit(X, y)
        r = made.anonymize(X, y)
        by_hand = C45Classifier().fit(r.data, r.y).predict(made.transform(X))
        assert (both.predict(X) == by_hand).all()


@pytest.mark.parametrize(
    "options, kind, what",
    [
        (dict(k=15), ValueError, "'k' must not exceed the number of rows"),
        (
            dict(recoding="both"),
            ValueError,
            "'recoding' must be one of 'tiered', 'uniform'. Got 'both'",
        ),
        (dict(assign="any"), ValueError, "'assign' must be one of"),
        (dict(strict_tiers="yes"), ValueError, "'strict_tiers' must be True or False. Got 'yes'"),
        (
            dict(constraints=[Alpha(0.8)]),
            ValueError,
            "'constraints' are about classes.*recoding='uniform'",
        ),
        (
            dict(inducer="c45"),
            TypeError,
            "'inducer' must be a classifier with a tree, a Tree, or None. Got 'c45'",
        ),
        (
            dict(inducer=TREE, published=["Marital"]),
            ValueError,
            "'inducer' must ask quasi-identifiers only. Got a tree that asks 'Marital'",
        ),
        (
            dict(inducer=make_pipeline(OneHotEncoder(), DecisionTreeClassifier())),
            ValueError,
            "'inducer' must ask columns as they are",
        ),
    ],
)
def test_errors(options, kind, what):
    with pytest.raises(kind, match=what):
        ERPAnonymizer(**options).fit(SHOP, BOUGHT)


def test_a_class_is_needed_unless_the_tree_is_there():
    with pytest.raises(ValueError, match="'y' must be given"):
        ERPAnonymizer(3).fit(SHOP)
    r = ERPAnonymizer(3, inducer=TREE, recoding="uniform").anonymize(SHOP)
    assert r.y is None and r.audit.k == 4


def test_scikit_learns_tree_over_numbers():
    X = pd.DataFrame({"a": np.arange(40), "b": np.arange(40)[::-1] % 7})
    y = pd.Series(np.where(X.a % 11 < 4, "n", "y"))
    r = ERPAnonymizer(
        4, inducer=DecisionTreeClassifier(max_leaf_nodes=9, random_state=0), random_state=0
    ).anonymize(X, y)
    assert r.audit.holds and r.audit.global_one_k >= 4


def test_dates():
    X = SHOP.assign(Age=pd.Timestamp("2000-01-01") - pd.to_timedelta(SHOP.Age * 365, unit="D"))
    r = ERPAnonymizer(3, random_state=0).anonymize(X, BOUGHT)
    assert r.audit.holds and any(isinstance(c, Interval) for c in r.cells("Age")[1])


def test_a_large_table_is_checked_by_exchanges_alone():
    t = make_population(10_500, random_state=0)
    X, y = t[["education", "region", "age"]], t.income
    a = ERPAnonymizer(5, random_state=0).anonymize(X, y).audit
    assert a.holds and a.promise == "k-concealment with k = 5" and a.global_one_k is None
