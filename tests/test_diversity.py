"""Diversity, closeness, constraints: plain loops, linear programs on random tables, bad input."""

import copy
import math
import pickle
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import assume, given, strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, clone

from ppdt._textbook import _textbook_tree
from ppdt.datasets import load_customers, load_patients
from ppdt.diversity import (
    Alpha,
    LDiversity,
    TCloseness,
    allow_function,
    alpha_share,
    bind_constraints,
    check_constraints,
    check_whole,
    class_table,
    secret_of,
    t_closeness,
    table_values,
)
from ppdt.engine.counts import count_table
from ppdt.generalization import Taxonomy
from ppdt.tables import MISSING

CUSTOMERS, PATIENTS = load_customers(), load_patients()
TREE = Taxonomy.from_dict(
    {
        "any": {
            "lung": ["flu", "asthma"],
            "belly": {"gut": ["ulcer", "colitis"], "liver": ["hepatitis"]},
            "well": [],
        }
    }
)
LEAVES = list(TREE.values)


# ---------- the hierarchical distance
def distance(u, v, missing=(MISSING,)):
    """Level of the lowest common node over the height"""
    if u == v:
        return 0
    if u in missing or v in missing:
        return 1

    def up(i):
        while i >= 0:
            yield i
            i = TREE.parent[i]

    above = set(up(TREE.name.index(u)))
    return TREE.level[next(i for i in up(TREE.name.index(v)) if i in above)] / TREE.height


def transport(p, q, cost):
    """The least work that turns one distribution into another, by linear programming"""
    m = len(p)
    rows = np.kron(np.eye(m), np.ones(m)), np.kron(np.ones(m), np.eye(m))
    return linprog(cost.ravel(), A_eq=np.vstack(rows), b_eq=np.concatenate([p, q])).fun


tables = st.lists(
    st.lists(st.integers(0, 3), min_size=len(LEAVES), max_size=len(LEAVES)).filter(any),
    min_size=1,
    max_size=4,
)


@one_in(2)
@given(tables, st.booleans())
def test_hierarchical_distance_is_the_least_work(c, gap):
    values = LEAVES[:-1] + [MISSING] if gap else LEAVES
    cost = np.array([[distance(u, v) for v in values] for u in values])
    c = np.array(c)
    got = t_closeness(c, "hierarchical", TREE, values)
    q = c.sum(axis=0) / c.sum()
    assert (
        got == pytest.approx([transport(p / p.sum(), q, cost) for p in c], abs=1e-9)
        and (got >= 0).all()
        and (got <= 1).all()
    )
    if not gap:
        assert got == pytest.approx(_textbook_tree(c, TREE), abs=1e-12)
    assert t_closeness(c * 10**9, "hierarchical", TREE, values) == pytest.approx(got)
    order = np.random.default_rng(0).permutation(len(values))
    assert (
        t_closeness(
            csr_array(c[:, order]), "hierarchical", TREE, [values[i] for i in order]
        ).tolist()
        == got.tolist()
    )


@one_in(2)
@given(tables, st.data())
def test_the_other_distances_are_the_least_work_too(c, data):
    c = np.array(c)
    c = c[:, c.any(axis=0)]
    m, q = c.shape[1], c.sum(axis=0) / c.sum()
    far = np.abs(np.subtract.outer(np.arange(m), np.arange(m)))
    for name, cost in (("equal", (far > 0) * 1.0), ("ordered", far / max(m - 1, 1))):
        assert t_closeness(c, name) == pytest.approx(
            [transport(p / p.sum(), q, cost) for p in c], abs=1e-9
        )
        some = data.draw(st.lists(st.integers(0, len(c) - 1), min_size=1, unique=True))
        assert (
            t_closeness(c[some], name, whole=c.sum(axis=0)).tolist()
            == t_closeness(c, name)[some].tolist()
        )


def test_a_flat_tree_is_the_equal_distance_and_one_leaf_is_near():
    flat = Taxonomy.from_dict({"any": list("abcd")})
    c = [[3, 1, 0, 0], [0, 1, 2, 2], [1, 0, 0, 1]]
    assert t_closeness(c, "hierarchical", flat).tolist() == t_closeness(c).tolist()
    assert t_closeness(
        [[2, 0], [1, 1]], "hierarchical", Taxonomy.from_dict({"any": ["a"]}), ["a", None]
    ) == pytest.approx([0.25, 0.25])
    assert (
        t_closeness(np.zeros((0, 4)), "hierarchical", flat, whole=[1, 2, 0, 0]).tolist()
        == t_closeness(np.zeros((0, 4))).tolist()
        == []
    )


def test_a_taxonomy_of_numbers():
    t = Taxonomy.from_edges([1, 2, 11, 12], [0, 10, 20])
    assert t_closeness(
        [[1, 1, 0, 0], [0, 0, 1, 1]], "hierarchical", t, [1.0, 2.0, 11.0, 12.0]
    ).tolist() == [0.5, 0.5]


# ---------- counts
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), max_size=40), st.integers(10, 300))
def test_both_ways_of_counting_agree(rows, d):
    g = pd.factorize(np.array([r[0] for r in rows], dtype=int))[0]
    codes = np.array([r[1] for r in rows], dtype=int)
    t = count_table(g, codes, d)
    want = np.zeros((len(set(g)), d), dtype=int)
    for a, b in zip(g, codes):
        want[a, b] += 1
    assert t.toarray().tolist() == want.tolist() and t.nnz == (want > 0).sum()


def test_values_stand_in_the_order_of_the_columns():
    s = pd.Series(["b", None, "a", "b"])
    assert table_values(s) == ["a", "b", MISSING]
    assert alpha_share(class_table([0, 0, 1, 1], s), table_values(s).index("b")).tolist() == [
        0.5,
        0.5,
    ]


# ---------- constraints
class Any(BaseEstimator):
    def __init__(self, constraints=()):
        self.constraints = constraints


ALL = [
    LDiversity(),
    LDiversity(1.5, "entropy", sensitive="a"),
    LDiversity(2, "recursive", 3),
    TCloseness(),
    TCloseness(0.1, "equal", sensitive="b"),
    TCloseness(0.3, taxonomy=TREE),
    Alpha(),
    Alpha(0.2, "HIV", "Disease"),
]


@pytest.mark.parametrize("o", ALL, ids=str)
def test_constraints_are_values(o):
    for other in (copy.deepcopy(o), pickle.loads(pickle.dumps(o)), clone(Any([o])).constraints[0]):
        assert other == o and hash(other) == hash(o)
    assert (
        o.check() is o and len({o, copy.copy(o)}) == 1 and o not in [p for p in ALL if p is not o]
    )
    if not getattr(o, "taxonomy", None):
        assert eval(repr(o)) == o


def test_constraints_keep_what_they_were_given():
    """Nothing is checked or changed before `check`"""
    assert LDiversity("two").l == "two" and TCloseness([1]).t == [1] and Alpha(None, {}).value == {}


@pytest.mark.parametrize(
    "o,words",
    [
        (LDiversity(2, sensitive="Disease"), "distinct 2-diversity of 'Disease'"),
        (LDiversity(1.5, "entropy", sensitive="Disease"), "entropy 1.5-diversity of 'Disease'"),
        (LDiversity(2, "recursive", 3, "Disease"), "recursive (3, 2)-diversity of 'Disease'"),
        (TCloseness(0.2, sensitive="Disease"), "0.2-closeness of 'Disease' (equal distance)"),
        (
            TCloseness(1 / 3, sensitive="Age"),
            "0.3333333333333333-closeness of 'Age' (ordered distance)",
        ),
        (
            TCloseness(np.float64(0.5), "ordered", sensitive="Disease"),
            "0.5-closeness of 'Disease' (ordered distance)",
        ),
        (Alpha(0.5, sensitive="Disease"), "a share of at most 0.5 of any value of 'Disease'"),
        (Alpha(0.5, "HIV", "Disease"), "a share of at most 0.5 of 'HIV' in 'Disease'"),
    ],
)
def test_promises(o, words):
    assert bind_constraints([o], PATIENTS)[0].promise == words


def loop(o, own, whole, values):
    """(number, does it hold) of one group, one value at a time, exact"""
    n, c = len(own), Counter(own)
    r = sorted(c.values(), reverse=True)
    if isinstance(o, Alpha):
        a = Fraction(r[0] if o.value is None else c[o.value], n)
        return a, a <= Fraction(o.alpha)
    if isinstance(o, TCloseness):
        gap = [Fraction(c[v], n) - Fraction(whole[v], sum(whole.values())) for v in values]
        if o.distance == "equal":
            t = sum(map(abs, gap)) / 2
        elif o.distance == "hierarchical":
            t = transport(
                [c[v] / n for v in values],
                [whole[v] / sum(whole.values()) for v in values],
                np.array([[distance(u, v, ("?",)) for v in values] for u in values]),
            )
        else:
            t = sum(abs(sum(gap[: j + 1])) for j in range(len(values))) / max(len(values) - 1, 1)
        return t, t <= o.t + 1e-9
    if o.form == "distinct":
        return len(c), len(c) >= o.l
    if o.form == "entropy":
        e = math.prod((n / x) ** (x / n) for x in r)
        return e, e >= o.l - 1e-9
    tail = sum(r[o.l - 1 :])
    return (r[0] / tail if tail else math.inf), tail > 0 and r[0] < o.c * tail


def worst(o, own, whole, values):
    """(number, does it hold) whatever the missing secrets ('?') are: every way to fill them in is
    tried.

    For t they are a value.
    """
    if isinstance(o, TCloseness):
        return loop(o, own, whole, values)
    known, every = (
        [v for v in own if v != "?"],
        sorted(set(values) - {"?"} | {"something else", getattr(o, "value", None) or "flu"}),
    )
    found = [
        loop(o, known + list(fill), whole, values)
        for fill in combinations_with_replacement(every, len(own) - len(known))
    ]
    return (min if isinstance(o, LDiversity) and o.form != "recursive" else max)(
        n for n, _ in found
    ), all(ok for _, ok in found)


some_constraints = st.sampled_from(
    [
        LDiversity(2),
        LDiversity(3),
        LDiversity(2, "entropy"),
        LDiversity(1.75, "entropy"),
        LDiversity(2, "recursive", 2),
        LDiversity(3, "recursive", 1.0),
        TCloseness(0.25, "equal"),
        TCloseness(0.25, "ordered"),
        TCloseness(0.25, taxonomy=TREE, distance="hierarchical"),
        Alpha(0.5),
        Alpha(0.25, "flu"),
        Alpha(0.5, "asthma"),
    ]
)
secrets = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from(["flu", "asthma", "ulcer", "hepatitis", None])),
    min_size=1,
    max_size=25,
)


@given(secrets, st.lists(some_constraints, min_size=1, max_size=3), st.data())
def test_what_is_allowed_equals_loops(rows, asked, data):
    s = pd.Series([r[1] for r in rows], name="s", dtype=pd.CategoricalDtype(sorted(LEAVES)))
    bound = bind_constraints(asked, pd.DataFrame({"x": range(len(rows))}), s)
    seen = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, unique=True))
    groups = pd.factorize(np.array([rows[i][0] for i in seen]))[0]
    allowed = allow_function(bound)(np.array(seen), groups, groups.max() + 1)
    whole = Counter("?" if r[1] is None else r[1] for r in rows)
    values = sorted(whole, key=lambda v: (v == "?", v))
    for g in range(groups.max() + 1):
        own = ["?" if rows[i][1] is None else rows[i][1] for i, h in zip(seen, groups) if h == g]
        assume(own.count("?") < 6)
        assert allowed[g] == all(worst(o, own, whole, values)[1] for o in asked)
        for b, o in zip(bound, asked):
            assert b.measure(b.table(groups, np.array(seen)))[0][g] == pytest.approx(
                float(worst(o, own, whole, values)[0]), abs=1e-9
            )


@given(secrets, some_constraints, st.integers(1, 4))
def test_merging_groups_never_hurts(rows, o, k):
    """So the table as one group keeps whatever any grouping keeps"""
    s = pd.Series([r[1] for r in rows], dtype=pd.CategoricalDtype(sorted(LEAVES)))
    bound = bind_constraints([o], pd.DataFrame({"x": range(len(rows))}), s)
    fine = pd.factorize(np.array([r[0] for r in rows]))[0]
    allow, ids = allow_function(bound), np.arange(len(rows))
    a, b = (
        allow(ids, fine, fine.max() + 1),
        allow(ids, pd.factorize(fine // k)[0], (fine // k).max() + 1),
    )
    for j, ok in enumerate(b):
        if a[np.unique(fine[pd.factorize(fine // k)[0] == j])].all():
            assert ok
    if a.all():
        check_whole(bound)


# ---------- the columns
def test_where_the_secret_is_found():
    y = pd.Series(PATIENTS.Disease.to_numpy(), name="Disease")
    assert (
        secret_of(LDiversity(sensitive="Age"), PATIENTS).name == "Age"
        and secret_of(LDiversity(), PATIENTS, y) is y
    )
    assert secret_of(LDiversity(sensitive="Disease"), PATIENTS[["Age"]], y) is y
    assert secret_of(LDiversity(), PATIENTS, list("aabbcc")).name == "class"
    b = bind_constraints(
        [LDiversity(sensitive="Age"), Alpha(sensitive="Age"), Alpha()], PATIENTS, y
    )
    assert (
        b[0].secret is b[1].secret and b[2].secret.name == "Disease" and allow_function([]) is None
    )
    # no rows on screen
    assert (
        repr(b[2]) == "BoundConstraint(a share of at most 0.5 of any value of 'Disease')"
        and repr(b[0].secret) == "Secret('Age', 5 values in 6 rows)"
    )


def test_a_declared_value_that_does_not_occur_is_no_error():
    s = pd.Series(list("aab"), name="s", dtype=pd.CategoricalDtype(list("abc")))
    b = bind_constraints([Alpha(0.1, "c")], pd.DataFrame(index=range(3)), s)
    assert allow_function(b)(np.arange(3), np.array([0, 0, 1]), 2).all()
    assert bind_constraints(
        [Alpha(0.5, MISSING)], pd.DataFrame(index=range(2)), pd.Series(["a", None])
    )[0].measure([[1, 1], [0, 1]])[0].tolist() == [0.5, 1]


def test_an_empty_table():
    b = bind_constraints([LDiversity(), TCloseness()], PATIENTS.iloc[:0], PATIENTS.Disease.iloc[:0])
    check_whole(b)
    assert allow_function(b)(np.arange(0), np.arange(0), 0).tolist() == []


@pytest.mark.parametrize(
    "o,word",
    [
        (LDiversity(0), "'l' of LDiversity must be an integer"),
        (LDiversity(2.5), "form='entropy' for other numbers"),
        (LDiversity(True), "'l'"),
        (LDiversity("2"), "'l'"),
        (LDiversity(0.5, "entropy"), "'l' of LDiversity must be a number"),
        (LDiversity(2, "probabilistic"), "'form'"),
        (LDiversity(2, "recursive"), "'c' of LDiversity must be a number above 0"),
        (LDiversity(2, "recursive", 0), "'c'"),
        (LDiversity(2, "distinct", 3), "must be None unless"),
        (TCloseness(1.5), "'t' of TCloseness"),
        (TCloseness(math.nan), "'t'"),
        (TCloseness(0.2, "far"), "'distance'"),
        (TCloseness(0.2, "hierarchical"), "'taxonomy' must be given"),
        (TCloseness(0.2, "equal", TREE), "only for it"),
        (Alpha(0), "'alpha' of Alpha"),
        (Alpha(1.1), "'alpha'"),
        (Alpha(0.5, "x", "Disease"), "'value' of Alpha must be a value of column 'Disease'"),
        (LDiversity(sensitive="Illness"), "'sensitive' must be a column"),
        (LDiversity(), "'y' must be given"),
        (TCloseness(0.2, taxonomy=TREE, sensitive="Disease"), "as a leaf"),
    ],
)
def test_bad_constraints(o, word):
    with pytest.raises(ValueError, match=word):
        bind_constraints([o], PATIENTS)


@pytest.mark.parametrize(
    "bad,word",
    [
        (LDiversity(), "must be a list"),
        (None, "must be a list"),
        ([LDiversity], "LDiversity, a class"),
        (["l=2"], "must hold"),
        ([LDiversity(sensitive=["a"])], "'sensitive'"),
        ([Alpha(0.5, [1])], "'value'"),
        ([TCloseness(0.2, taxonomy={"a": 1})], "'taxonomy' must be a Taxonomy"),
    ],
)
def test_bad_types(bad, word):
    with pytest.raises(TypeError, match=word):
        check_constraints(bad)


def test_other_bad_input():
    for f, word in [
        (lambda: t_closeness([[1, 2]], "hierarchical", TREE), "each of the 2 columns"),
        (lambda: t_closeness([[1, 2]], "hierarchical", TREE, ["flu", "pest"]), "none for 'pest'"),
        (lambda: t_closeness([[1, 2]], whole=[1, 1]), "too small"),
        (lambda: t_closeness([[1, 2]], whole=[1]), "counts for 1"),
        (lambda: alpha_share([[1, 2]], 2), "0 to 1"),
        (lambda: alpha_share([[1, 2]], True), "0 to 1"),
        (lambda: Alpha(0.5, "a").measure([[1]]), "'secret'"),
        (lambda: secret_of(LDiversity(), PATIENTS, [1, 2]), "one value for each row"),
        (
            lambda: check_whole(bind_constraints([LDiversity(6, sensitive="Disease")], PATIENTS)),
            "no grouping can do better",
        ),
    ]:
        with pytest.raises(ValueError, match=word):
            f()
