"""kADET: every tree keeps its promise as an auditor that knows nothing of spans sees it, and the fast trees are the textbook's."""
import itertools
import numpy as np, pandas as pd
import pytest
from hypothesis import given, strategies as st
from ppdt.datasets import load_clients, load_customers
from ppdt.growing import Members, TreeData, _textbook_id3
from ppdt.kadet import _People, _Spot, _branch_of, _parts, _read_people, _safe_counts, _textbook_breach, _textbook_kadet, _textbook_spans

@st.composite
def people(draw, numbers=True, levels=True, public=None):
    "A small random table"
    n, m = draw(st.integers(1, 24)), draw(st.integers(0, 4))
    sizes = draw(st.lists(st.integers(1, 4), min_size=m, max_size=m))
    n_classes = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    line = [np.sort(rng.normal(size=s)) if numbers and draw(st.integers(0, 2)) == 0 else None for s in sizes]
    luts = [[np.arange(s)] + ([np.minimum(np.arange(s)//2, 1)] if levels and l is None and s > 2 and draw(st.booleans()) else []) for s, l in zip(sizes, line)]
    known = draw(st.lists(st.booleans(), min_size=m, max_size=m)) if public is None else [public]*m
    return _People([f"a{j}" for j in range(m)], [rng.integers(0, s, n) for s in sizes], [list(range(s)) for s in sizes], line, luts, [[sorted(set(o.tolist())) for o in l] for l in luts],
                   known, rng.integers(0, n_classes, n), np.arange(n_classes), draw(st.booleans()) and draw(st.booleans()))

OPTIONS = st.fixed_dictionaries(dict(priority=st.sampled_from(["node", "weighted"]), empty_ok=st.booleans(), respecialise=st.booleans()))

@st.composite
def promises(draw, t):
    "(what is asked of a span's class counts, the same as a test of rows)"
    p = dict(k=draw(st.integers(1, 5)))
    if not t.class_public: p |= dict(l_diversity=draw(st.sampled_from([None, None, 1.2, 1.8])), max_confidence=draw(st.sampled_from([None, None, .75, .95])))
    def safe(rows): return bool(_safe_counts(np.bincount(t.y[rows], minlength=len(t.classes)), **p)) and len(rows) > 0
    return p, safe

def nodes_of(o): return [o] + [x for s in o.sons for x in nodes_of(s)]
def shape(o): return (o.test, tuple(o.rows.tolist()), tuple(map(shape, o.sons)))

@given(st.data())
def test_every_tree_is_safe_by_enumeration(data):
    t = data.draw(people()); p, safe = data.draw(promises(t))
    root, spans, _ = _textbook_kadet(t, safe, **data.draw(OPTIONS))
    if root is None:
        assert not all(safe(who) for who in ([np.flatnonzero(t.y == c) for c in np.unique(t.y)] if t.class_public else [np.arange(len(t.y))]))
        return
    found = _textbook_spans(t, root)
    assert sorted(who.tolist() for who, _ in spans) == found
    assert all(safe(np.array(o)) for o in found)

@given(st.data())
def test_leaves_in_place_of_subtrees_keep_the_promise(data):
    t = data.draw(people()); p, safe = data.draw(promises(t))
    root = _textbook_kadet(t, safe)[0]
    inner = [o for o in nodes_of(root) if o.sons] if root else []
    for o in inner:
        if data.draw(st.booleans()): o.sons, o.test = [], None
    if root: assert all(safe(np.array(o)) for o in _textbook_spans(t, root))

@given(st.data())
def test_k_1_is_plain_id3(data):
    t = data.draw(people(numbers=False, levels=False))
    root = _textbook_kadet(t, lambda who: True)[0]
    members = [Members.exact(c, len(v)) for c, v in zip(t.codes, t.values)]
    plain = _textbook_id3(TreeData(t.names, t.values, t.classes, members, members, t.y, np.ones(len(t.y))))
    def same(a, b):
        counts, attribute, sons = b
        assert np.bincount(t.y[a.rows], minlength=len(t.classes)).tolist() == counts
        if not a.sons:      # ID3 goes on where no question gains anything
            assert attribute is None or gainless(a.rows, attribute)
            return
        assert a.test[0] == attribute and {v for v, s in enumerate(a.sons) if len(s.rows)} == set(sons)
        for v, s in sons.items(): same(a.sons[v], s)
    def gainless(rows, j):
        from ppdt.growing import information_gain
        return information_gain([np.bincount(t.y[rows[t.codes[j][rows] == v]], minlength=len(t.classes)) for v in range(len(t.values[j]))]) <= 1e-12
    same(root, plain)

@given(st.data())
def test_order_of_rows_does_not_matter(data):
    t = data.draw(people()); k = data.draw(st.integers(1, 4)); o = data.draw(OPTIONS)
    new = np.array(data.draw(st.permutations(range(len(t.y)))))
    u = _People(t.names, [c[new] for c in t.codes], t.values, t.line, t.levels, t.labels, t.public, t.y[new], t.classes, t.class_public)
    a, b = (_textbook_kadet(x, lambda who: len(who) >= k, **o)[0] for x in (t, u))
    if a is None: assert b is None
    else: assert [(x.test, sorted(x.rows)) for x in nodes_of(a)] == [(x.test, sorted(new[x.rows])) for x in nodes_of(b)]

@given(st.data())
def test_a_breach_stays_a_breach(data):
    "What is refused once would be refused at the end too"
    t = data.draw(people()); p, safe = data.draw(promises(t)); o = data.draw(OPTIONS)
    root, spans, tried = _textbook_kadet(t, safe, **o)
    if root is None: return
    order = [root]
    for i, test, _, what in tried:
        if what == "split": order += order[i].sons
    for i, test, _, what in tried:
        if what == "breach" and not order[i].sons: assert _textbook_breach(t, spans, order[i], test, safe, o["empty_ok"])

@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=2, max_size=4), st.sampled_from([1.1, 1.5, 2.2]), st.sampled_from([.5, .75, .9]))
def test_unions_of_safe_people_are_safe(parts, l, c):
    for p in (dict(k=3), dict(l_diversity=l), dict(max_confidence=c)):
        if _safe_counts(parts, **p).all(): assert _safe_counts(np.sum(parts, axis=0), **p)

def test_safe_counts():
    assert _safe_counts([[3, 0], [2, 0], [0, 0]], k=3).tolist() == [True, False, True]
    assert _safe_counts([[85, 15], [86, 14]], max_confidence=.85).tolist() == [True, False]
    assert _safe_counts([[85, 15], [86, 14]], l_diversity=1.526090).tolist() == [True, False]

def test_the_six_clients():
    c = load_clients()
    X, y = c[["Sports Car", "Marital Status"]], c["Loan Risk"]
    t = _read_people(X, y, ["Marital Status"])
    for k, n_spans in ((2, 2), (3, 2), (4, 1)): assert len(_textbook_kadet(t, lambda who: len(who) >= k)[1]) == n_spans
    known = _read_people(X, y, ["Marital Status", "Loan Risk"])
    assert _textbook_kadet(known, lambda who: len(who) >= 3)[0] is None
