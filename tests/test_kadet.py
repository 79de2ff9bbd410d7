"""kADET: every tree keeps its promise as an auditor that knows nothing of spans sees it, and the
fast trees are the textbook's.
"""

import json
import pickle
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st

from ppdt._textbook import (
    _textbook_breach,
    _textbook_id3,
    _textbook_kadet,
    _textbook_measure,
    _textbook_nested,
    _textbook_ratio,
    _textbook_spans,
)
from ppdt.c45 import C45Classifier
from ppdt.datasets import load_clients, load_customers
from ppdt.diversity import Alpha, LDiversity, TCloseness
from ppdt.engine import kadet_classifier
from ppdt.engine.kadet_checks import class_limits
from ppdt.engine.kadet_span_test import (
    Parts,
    RoundedGain,
    RoundedRatio,
    SpanBooks,
    TooMuch,
    as_nested,
    grow_kadet,
    parts_are_safe,
    sons_are_safe,
)
from ppdt.engine.kadet_table import People, code_people
from ppdt.engine.split_scores import most_ratio
from ppdt.generalization import Taxonomy
from ppdt.growing import Members, TreeData, information_gain
from ppdt.kadet import (
    KADETClassifier,
    publish,
    read_published,
    safe_counts,
    tree_release,
    with_levels,
)
from ppdt.models import audit_model
from ppdt.privacy import audit
from ppdt.release import GuaranteeError
from ppdt.tables import Interval, Node, Suppressed, TextFormError, cells


@st.composite
def people(draw, numbers=True, levels=True, public=None):
    """A small random table"""
    n, m = draw(st.integers(1, 24)), draw(st.integers(0, 4))
    sizes = draw(st.lists(st.integers(1, 4), min_size=m, max_size=m))
    n_classes = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    line = [
        np.sort(rng.normal(size=s)) if numbers and draw(st.integers(0, 2)) == 0 else None
        for s in sizes
    ]
    luts = [
        [np.arange(s)]
        + (
            [np.minimum(np.arange(s) // 2, 1)]
            if levels and l is None and s > 2 and draw(st.booleans())
            else []
        )
        for s, l in zip(sizes, line)
    ]
    known = (
        draw(st.lists(st.booleans(), min_size=m, max_size=m)) if public is None else [public] * m
    )
    return People(
        [f"a{j}" for j in range(m)],
        [rng.integers(0, s, n) for s in sizes],
        [list(range(s)) for s in sizes],
        line,
        luts,
        [[sorted(set(o.tolist())) for o in l] for l in luts],
        known,
        rng.integers(0, n_classes, n),
        np.arange(n_classes),
        draw(st.booleans()) and draw(st.booleans()),
    )


OPTIONS = st.fixed_dictionaries(
    dict(
        priority=st.sampled_from(["node", "weighted"]),
        empty_ok=st.booleans(),
        respecialise=st.booleans(),
    )
)


@st.composite
def promises(draw, t):
    """(what is asked of a span's class counts, the same as a test of rows)"""
    p = dict(k=draw(st.integers(1, 5)))
    if not t.class_public:
        p |= dict(
            l=draw(st.sampled_from([None, None, 1.2, 1.8])),
            confidence=draw(st.sampled_from([None, None, 0.75, 0.95])),
        )

    def safe(rows):
        return (
            bool(safe_counts(np.bincount(t.y[rows], minlength=len(t.classes)), **p))
            and len(rows) > 0
        )

    return p, safe


def nodes_of(o):
    return [o] + [x for s in o.sons for x in nodes_of(s)]


def shape(o):
    return (o.test, tuple(o.rows.tolist()), tuple(map(shape, o.sons)))


@given(st.data())
def test_every_tree_is_safe_by_enumeration(data):
    t = data.draw(people())
    p, safe = data.draw(promises(t))
    root, spans, _ = _textbook_kadet(t, safe, **data.draw(OPTIONS))
    if root is None:
        assert not all(
            safe(who)
            for who in (
                [np.flatnonzero(t.y == c) for c in np.unique(t.y)]
                if t.class_public
                else [np.arange(len(t.y))]
            )
        )
        return
    found = _textbook_spans(t, root)
    assert sorted(who.tolist() for who, _ in spans) == found
    assert all(safe(np.array(o)) for o in found)


@given(st.data())
def test_leaves_in_place_of_subtrees_keep_the_promise(data):
    t = data.draw(people())
    p, safe = data.draw(promises(t))
    root = _textbook_kadet(t, safe)[0]
    inner = [o for o in nodes_of(root) if o.sons] if root else []
    for o in inner:
        if data.draw(st.booleans()):
            o.sons, o.test = [], None
    if root:
        assert all(safe(np.array(o)) for o in _textbook_spans(t, root))


@given(st.data())
def test_k_1_is_plain_id3(data):
    t = data.draw(people(numbers=False, levels=False))
    root = _textbook_kadet(t, lambda who: True)[0]
    members = [Members.exact(c, len(v)) for c, v in zip(t.codes, t.values)]
    plain = _textbook_id3(
        TreeData(t.names, t.values, t.classes, members, members, t.y, np.ones(len(t.y)))
    )

    def same(a, b):
        counts, attribute, sons = b
        assert np.bincount(t.y[a.rows], minlength=len(t.classes)).tolist() == counts
        if not a.sons:  # ID3 goes on where no question gains anything
            assert attribute is None or gainless(a.rows, attribute)
            return
        assert a.test[0] == attribute and {v for v, s in enumerate(a.sons) if len(s.rows)} == set(
            sons
        )
        for v, s in sons.items():
            same(a.sons[v], s)

    def gainless(rows, j):
        return (
            information_gain(
                [
                    np.bincount(t.y[rows[t.codes[j][rows] == v]], minlength=len(t.classes))
                    for v in range(len(t.values[j]))
                ]
            )
            <= 1e-12
        )

    same(root, plain)


@given(st.data())
def test_order_of_rows_does_not_matter(data):
    t = data.draw(people())
    k = data.draw(st.integers(1, 4))
    o = data.draw(OPTIONS)
    new = np.array(data.draw(st.permutations(range(len(t.y)))))
    u = People(
        t.names,
        [c[new] for c in t.codes],
        t.values,
        t.line,
        t.levels,
        t.labels,
        t.public,
        t.y[new],
        t.classes,
        t.class_public,
    )
    a, b = (_textbook_kadet(x, lambda who: len(who) >= k, **o)[0] for x in (t, u))
    if a is None:
        assert b is None
    else:
        assert [(x.test, sorted(x.rows)) for x in nodes_of(a)] == [
            (x.test, sorted(new[x.rows])) for x in nodes_of(b)
        ]


@given(st.data())
def test_a_breach_stays_a_breach(data):
    """What is refused once would be refused at the end too"""
    t = data.draw(people())
    p, safe = data.draw(promises(t))
    o = data.draw(OPTIONS)
    root, spans, tried = _textbook_kadet(t, safe, **o)
    if root is None:
        return
    order = [root]
    for i, _, _, what in tried:
        if what == "split":
            order += order[i].sons
    for i, test, _, what in tried:
        if what == "breach" and not order[i].sons:
            assert _textbook_breach(t, spans, order[i], test, safe, o["empty_ok"])


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=2, max_size=4),
    st.sampled_from([1.1, 1.5, 2.2]),
    st.sampled_from([0.5, 0.75, 0.9]),
)
def test_unions_of_safe_people_are_safe(parts, l, c):
    for p in (dict(k=3), dict(l=l), dict(confidence=c)):
        if safe_counts(parts, **p).all():
            assert safe_counts(np.sum(parts, axis=0), **p)


def test_safe_counts():
    assert safe_counts([[3, 0], [2, 0], [0, 0]], k=3).tolist() == [True, False, True]
    assert safe_counts([[85, 15], [86, 14]], confidence=0.85).tolist() == [True, False]
    assert safe_counts([[85, 15], [86, 14]], l=1.526090).tolist() == [True, False]


def test_the_six_clients():
    c = load_clients()
    X, y = c[["Sports Car", "Marital Status"]], c["Loan Risk"]
    t = code_people(X, y, ["Marital Status"])
    for k, n_spans in ((2, 2), (3, 2), (4, 1)):
        assert len(_textbook_kadet(t, lambda who: len(who) >= k)[1]) == n_spans
    known = code_people(X, y, ["Marital Status", "Loan Risk"])
    assert _textbook_kadet(known, lambda who: len(who) >= 3)[0] is None


# ---- the fast trees
@given(st.data())
def test_the_grower_makes_the_textbooks_tree(data):
    t = data.draw(people())
    p, safe = data.draw(promises(t))
    o = data.draw(OPTIONS) | dict(respecialise=True)
    if data.draw(st.booleans()):
        t = People(
            *[getattr(t, n) for n in ("names", "codes", "values", "line", "levels", "labels")],
            [True] * len(t.names),
            t.y,
            t.classes,
            t.class_public,
        )
    root, spans, _ = _textbook_kadet(t, safe, **o)
    if root is None or not t.names:
        return
    counts_safe = partial(safe_counts, **p)
    tree, s = grow_kadet(t, counts_safe, priority=o["priority"], empty_ok=o["empty_ok"])
    assert as_nested(t, tree) == _textbook_nested(t, root)
    if s:
        assert sorted(np.flatnonzero(s.of == i).tolist() for i in range(len(s.places))) == sorted(
            who.tolist() for who, _ in spans
        )
        # the books agree with each other
        assert [sorted(o) for o in s.rows] == [
            np.flatnonzero(s.of == i).tolist() for i in range(len(s.places))
        ]
        of_nodes = {(i, v) for v, some in s.touch.items() for i in some}
        assert of_nodes == {(i, v) for i, some in enumerate(s.places) for v in some}
        assert s.pairs == len(of_nodes)


def two_or_nobody(counts):
    """At least two people, or none"""
    n = counts.sum(axis=-1)
    return (n >= 2) | (n == 0)


@pytest.mark.parametrize(
    "class_public, empty_ok, tables, fine",
    [
        (False, True, [[2, 0], [1, 1]], True),
        (False, True, [[2, 0], [1, 0]], False),
        (False, True, [[2, 0], [0, 0]], True),
        (False, False, [[2, 0], [0, 0]], False),
        (False, False, [[2, 0], [1, 1]], True),
        (False, False, [[2, 0], [1, 0]], False),
        # each class by itself
        (True, True, [[2, 0], [0, 3]], True),
        (True, True, [[2, 1], [0, 3]], False),
        # each class must be in both sons, unless nobody has it
        (True, False, [[2, 3], [2, 0]], False),
        (True, False, [[2, 0], [3, 0]], True),
        (True, False, [[2, 2], [3, 2]], True),
        (True, False, [[2, 1], [3, 2]], False),
    ],
)
def test_sons_by_hand(class_public, empty_ok, tables, fine):
    """Rows of a table are sons, columns classes; alone, and the first of two tables"""
    admit = sons_are_safe(SimpleNamespace(class_public=class_public), two_or_nobody, empty_ok)
    assert admit(tables).tolist() is fine
    assert admit([tables, [[1, 0], [1, 0]]]).tolist() == [fine, False]


@pytest.mark.parametrize(
    "branch, empty_ok, fine",
    [
        ([0, 0, 1, 1, 0, 0], True, True),
        # span 1 has nobody in branch 1
        ([0, 0, 1, 1, 0, 0], False, False),
        # and one person alone there
        ([0, 0, 1, 1, 0, 1], True, False),
        ([0, 0, 0, 0, 0, 0], True, True),
        ([0, 0, 0, 0, 0, 0], False, False),
    ],
)
@pytest.mark.parametrize("width", [2, 3, 70])
def test_parts_by_hand(branch, empty_ok, fine, width):
    """Spans 3 and 5, of four and of two people; with many branches the parts are numbered"""
    who = SimpleNamespace(y=np.array([0, 1, 1, 0, 0, 1, 1]), classes=["a", "b"])
    span = np.array([0, 0, 0, 0, 1, 1])
    parts = Parts(np.array([6, 0, 1, 2, 3, 4]), span, np.array([3, 5]), np.array(branch))
    assert parts_are_safe(parts, who, width, two_or_nobody, empty_ok) is fine


def test_two_spans_with_people_in_both_branches():
    """All four parts have two people: safe without an empty part"""
    who = SimpleNamespace(y=np.zeros(8, dtype=int), classes=["a"])
    span, branch = np.repeat([0, 1], 4), np.tile([0, 0, 1, 1], 2)
    parts = Parts(np.arange(8), span, np.array([0, 1]), branch)
    assert parts_are_safe(parts, who, 2, two_or_nobody, False)


def test_scores_are_equal_to_nine_digits():
    near, none = np.array([0.1234567891, 0.1234567892, 0.1234567799]), np.zeros(3)
    want = [0.123456789, 0.123456789, 0.12345678]
    assert RoundedGain(1).worth(near, none).tolist() == want
    assert RoundedRatio(1).worth(none, near).tolist() == want


@pytest.mark.parametrize("class_public, rows", [(False, [[0, 1, 2, 3]]), (True, [[0, 2], [1, 3]])])
def test_spans_before_the_first_split(class_public, rows):
    """One of all people, or one a class; all of them at the root"""
    who = SimpleNamespace(class_public=class_public, y=np.array([0, 1, 0, 1]))
    books = SpanBooks(who, None)
    assert [o.tolist() for o in books.rows] == rows
    assert books.places == [{0}] * len(rows) and books.touch == {0: set(range(len(rows)))}
    assert books.pairs == len(rows)


def test_places_up_to_a_limit():
    """A public question, a private one below each son: two spans, each with two leaves"""
    X = pd.DataFrame({"open": list("uvuv"), "own": list("xxyy")})
    t = code_people(X, pd.Series([0, 1, 2, 3], name="class"), ["open"])
    _, s = grow_kadet(t, two_or_nobody)
    assert s.pairs == 4 and s.places == [{3, 4}, {5, 6}]
    assert grow_kadet(t, two_or_nobody, most=4)[1].pairs == 4
    with pytest.raises(TooMuch, match="more than 3 places"):
        grow_kadet(t, two_or_nobody, most=3)


def test_work_up_to_a_limit():
    """Eight people are looked at twice, to allow a split and to make it; then two times four"""
    X = pd.DataFrame({"open": list("uuuuvvvv"), "more": list("ppqqppqq"), "own": ["x"] * 8})
    t = code_people(X, pd.Series(range(8), name="class"), ["open", "more"])
    _, s = grow_kadet(t, two_or_nobody)
    assert s.work == 2 * (8 + 4 + 4) and [o.tolist() for o in s.rows] == [
        [0, 1],
        [4, 5],
        [2, 3],
        [6, 7],
    ]
    # it is looked up before the last split is allowed
    assert grow_kadet(t, two_or_nobody, limit=24)[1].work == 32
    with pytest.raises(TooMuch, match="looked at 23 people"):
        grow_kadet(t, two_or_nobody, limit=23)


def slow_c45(t, safe, empty_ok, m):
    """C4.5's choice with the span test, node by node: (test, class counts, sons).

    The best test of a node is tried again and again as the textbook of the queue does it
    """
    n, C = len(t.y), len(t.classes)

    class Node:
        pass

    def new(rows):
        o = Node()
        o.rows, o.sons, o.test, o.refused = rows, [], None, set()
        return o

    def split(o, test):
        j, level, cut = test
        c = t.codes[j][o.rows]
        branch = t.levels[j][level][c] if cut is None else (c > cut).astype(int)
        return [o.rows[branch == v] for v in range(len(t.labels[j][level]) if cut is None else 2)]

    # without private columns at once, else in turn
    def refused(o, test):
        return (
            test in o.refused
            or all(t.public)
            and _textbook_breach(t, spans, o, test, safe, empty_ok)
        )

    def worth(o, test):
        bags = [np.bincount(t.y[r], minlength=C).astype(float) for r in split(o, test)]
        gain, info = _textbook_measure(bags, len(o.rows))
        return gain, info, bags

    def found_of(o, j, level):
        """(gain, ratio, code of the cut, admissible), and is the attribute shut?"""
        if t.line[j] is not None:
            cuts = _cuts(o, j)
            best = (0.0, None)
            for cut in cuts:
                if refused(o, (j, 0, cut)):
                    continue
                gain = worth(o, (j, 0, cut))[0]
                if gain > best[0] + 1e-6:
                    best = gain, cut
            if best[1] is None:
                return (0.0, 0.0, -1, False), True
            g = best[0] - np.log2(len(cuts)) / len(o.rows)
            if g <= 1e-6:
                return (0.0, 0.0, -1, False), True
            return (
                g,
                _textbook_ratio(g, worth(o, (j, 0, best[1]))[1], len(o.rows)),
                best[1],
                True,
            ), False
        gain, info, bags = worth(o, (j, level, None))
        # not offered, so not refused either
        if sum(b.sum() > m - 1e-6 for b in bags) < 2:
            return (0.0, 0.0, -1, False), False
        if refused(o, (j, level, None)):
            return (0.0, 0.0, -1, False), gain > 1e-6
        return (gain, _textbook_ratio(gain, info, len(o.rows)), -1, True), False

    def _cuts(o, j):
        c, line = t.codes[j][o.rows], t.line[j]
        need = len(o.rows) * 0.1 / C
        need = m if need <= m + 1e-6 else min(need, 25)
        if len(o.rows) < 2 * need - 1e-6:
            return []
        v = np.unique(c)
        middle = [
            int(np.searchsorted(line, (line[a] + line[b]) / 2 + 1e-6)) - 1 for a, b in zip(v, v[1:])
        ]
        return [x for x in middle if min(np.sum(c <= x), np.sum(c > x)) > need - 1e-6]

    at = [(j, l) for j, o in enumerate(t.levels) for l in range(len(o))]
    sizes = [len(t.labels[j][l]) for j, l in at]
    many = np.array(
        [t.line[j] is None and not z < 0.3 * n - 1e-6 for (j, _), z in zip(at, sizes)], dtype=bool
    )
    counted = np.ones(len(at), dtype=bool) if many.all() else ~many

    def choice(o):
        """(ratio, test) or None"""
        counts = np.bincount(t.y[o.rows], minlength=C)
        if len(o.rows) < 2 * m - 1e-6 or len(o.rows) - counts.max() < 1e-6 or not at:
            return None
        found, shut = [], {}
        for j, level in at:
            if level and not shut[j, level - 1]:
                found.append((0.0, 0.0, -1, False))
                shut[j, level] = False
                continue
            f, shut[j, level] = found_of(o, j, level)
            found.append(f)
        best = int(most_ratio([tuple(np.array([v]) for v in f) for f in found], counted)[0])
        if best < 0 or round(found[best][1], 9) <= 1e-12:
            return None
        j, level = at[best]
        return round(float(found[best][1]), 9), (
            j,
            level,
            found[best][2] if t.line[j] is not None else None,
        )

    root = new(np.arange(n))
    spans = [
        (o, [root])
        for o in (
            [np.flatnonzero(t.y == c) for c in np.unique(t.y)] if t.class_public else [root.rows]
        )
    ]
    order, queue = [root], [root]
    while True:
        ready = [(-c[0], order.index(o), c[1]) for o in queue if (c := choice(o))]
        if not ready:
            return root
        _, i, test = min(ready)
        o = order[i]
        if _textbook_breach(t, spans, o, test, safe, empty_ok):
            o.refused.add(test)
            continue
        o.sons, o.test = [new(r) for r in split(o, test)], test
        again = []
        for who, places in spans:
            if o not in places:
                again.append((who, places))
                continue
            rest = [x for x in places if x is not o]
            if not t.public[test[0]]:
                again.append((who, rest + o.sons))
                continue
            c = t.codes[test[0]][who]
            b = t.levels[test[0]][test[1]][c] if test[2] is None else (c > test[2]).astype(int)
            again += [(who[b == v], rest + [o.sons[v]]) for v in np.unique(b)]
        spans[:] = again
        queue.remove(o)
        order += o.sons
        queue += o.sons


@given(st.data())
def test_gain_ratio_by_the_slow_way(data):
    t = data.draw(people())
    p, safe = data.draw(promises(t))
    empty_ok, m = data.draw(st.booleans()), data.draw(st.sampled_from([1, 2]))
    if not t.names or not all(
        safe(who)
        for who in (
            [np.flatnonzero(t.y == c) for c in np.unique(t.y)]
            if t.class_public
            else [np.arange(len(t.y))]
        )
    ):
        return
    tree, _ = grow_kadet(t, partial(safe_counts, **p), "gain_ratio", m, empty_ok=empty_ok)
    assert as_nested(t, tree) == _textbook_nested(t, slow_c45(t, safe, empty_ok, m))


@one_in(4)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_k_1_is_c45_without_raising(seed, prune):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 80))
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n).round(1),
            "b": rng.integers(0, 9, n) * 1.0,
            "c": rng.choice(list("xyz"), n),
        }
    )
    y = pd.Series(np.where((X.a > 0) ^ (rng.random(n) < 0.3), "p", "q"), name="cls")
    plain = C45Classifier(subtree_raising=False, prune=prune).fit(X, y).tree_
    free = KADETClassifier(k=1, criterion="gain_ratio", prune=prune).fit(X, y).tree_
    for o in ("parent", "attribute", "kind", "code", "counts"):
        assert np.array_equal(getattr(plain, o), getattr(free, o)), o
    assert np.allclose(plain.threshold, free.threshold, equal_nan=True)


# ---- the classifier
JOBS = Taxonomy.from_dict(
    {
        "any": {
            "works": {"hand": ["farmer", "smith"], "head": ["clerk", "nurse"]},
            "not": ["pupil", "retired"],
        }
    }
)


@st.composite
def tables(draw):
    """A table with a taxonomy, numbers and categories; perhaps with private columns"""
    n, seed = draw(st.integers(8, 60)), draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "job": rng.choice(JOBS.values, n),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(18, 80, n),
            "ill": rng.choice(["no", "yes", "very"], n),
            "town": rng.choice(list("abcde"), n),
        }
    )
    y = pd.Series(np.where((X.age > 40) ^ (rng.random(n) < 0.25), "good", "bad"), name="risk")
    public = draw(
        st.sampled_from(
            [
                None,
                ["job", "sex", "age"],
                ["town", "age"],
                ["job"],
                [],
                ["job", "risk", "town"],
                ["sex", "age", "job", "ill", "town", "risk"],
            ]
        )
    )
    p = dict(
        k=draw(st.integers(1, 6)),
        public=public,
        criterion=draw(st.sampled_from(["gain", "gain_ratio"])),
        taxonomies=draw(st.sampled_from([None, {"job": JOBS}])),
        priority=draw(st.sampled_from(["node", "weighted"])),
    )
    if "risk" not in (public or []):
        p["constraints"] = [
            *draw(st.sampled_from([(), (), (entropy_l(1.2),), (entropy_l(1.6),)])),
            *draw(st.sampled_from([(), (), (Alpha(0.8),), (Alpha(0.95),)])),
        ]
    return X, y, p


def entropy_l(l):
    return LDiversity(l, form="entropy")


def limits(p):
    """What an audit of the model is asked for"""
    return class_limits(p.get("constraints", ()))


def fitted(X, y, p):
    try:
        return KADETClassifier(**p).fit(X, y)
    except ValueError as e:
        assert "No tree is safe" in str(e)


@one_in(4)
@given(tables())
def test_an_auditor_finds_every_promise_kept(table):
    X, y, p = table
    clf = fitted(X, y, p)
    if clf is None:
        return
    public = list(X) if p["public"] is None else p["public"]
    Z = with_levels(X, p["taxonomies"] or {})
    found = audit_model(
        clf.tree_,
        Z,
        [o for o in Z if o.split(" (")[0] in public] + [o for o in public if o == "risk"],
        y=y,
    )
    assert found.holds(p["k"], **limits(p))
    assert clf.spans_.people.sum() == len(X) and clf.spans_.people.min() >= p["k"]
    leaves = clf.tree_.n[clf.tree_.attribute < 0]
    assert leaves.sum() == len(X)


@one_in(4)
@given(tables())
def test_what_is_published_is_what_was_promised(table):
    X, y, p = table
    clf = fitted(X, y, p)
    if clf is None:
        return
    text = publish(clf)
    other = read_published(text)
    assert np.array_equal(other.predict(X[list(other.feature_names_in_)]), clf.predict(X))
    found, known = other.audit(X, y), set(list(X) if p["public"] is None else p["public"])
    assert found.holds(p["k"], **limits(p))
    if set(other.feature_names_in_) <= known:
        assert sorted(found.spans.populations.tolist()) == sorted(clf.spans_.people.tolist())
    # branches without rows do not divide people any more
    else:
        assert found.n_spans <= len(clf.spans_)
    assert named_publicly(json.loads(text), X, known, p["k"])
    assert publish(other) == text and other.guarantee == clf.guarantee
    d = json.loads(text)
    if p.get("constraints") and other.audit(X, y).private:
        assert "counts" not in d["tree"]
    assert {c["name"] for c in d["columns"]} <= set(X) and len(d["tree"]["attributes"]) <= len(
        set(clf.tree_.attribute.tolist())
    )


def named_publicly(d, X, known, k):
    """Has every public value that has a branch at least k people, and every private
    one somebody?
    """
    return all(
        (X[a["name"]] == v).sum() >= (k if a["name"] in known else 1)
        for a in d["tree"]["attributes"]
        if a["name"] in X and "age" != a["name"]
        for v in a["values"]
    )


def test_rare_values_are_not_named():
    X, y = village("king")
    for t in ({"job": VILLAGE}, None):
        clf = KADETClassifier(k=3, taxonomies=t).fit(X, y)
        d = json.loads(publish(clf))
        # the taxonomy lists what there may be
        assert "king" not in json.dumps(d["tree"]) and (
            t is None or "king" in json.dumps(d["columns"])
        )
        assert (
            t is None
            or "job = king: n (0.0)" in str(clf)
            and "king" not in str(read_published(publish(clf)))
        )
    six = pd.DataFrame(
        {"sex": list("wwmmmm"), "home": ["town", "village", "city", "town", "city", "town"]}
    )
    clf = KADETClassifier(k=2).fit(six, pd.Series(list("nnynyn"), name="risk"))
    other = read_published(publish(clf))
    assert (
        "village" in str(clf)
        and "village" not in publish(clf)
        and other.predict(six).tolist() == clf.predict(six).tolist()
    )
    with pytest.warns(UserWarning, match="holds no value that it had in fit"):
        got = other.predict_proba(pd.DataFrame({"sex": ["m"], "home": ["village"]}))
    assert (
        got.tolist()
        == clf.predict_proba(pd.DataFrame({"sex": ["m"], "home": ["village"]})).tolist()
    )
    X, y = (
        pd.DataFrame({"salary": [10.0, 20, 30, 41.37, 50, 60, 70, 983.21]}),
        pd.Series(list("nnnnyyyy"), name="c"),
    )
    assert "41.37" not in publish(KADETClassifier(k=3).fit(X, y)) and "45.685" in publish(
        KADETClassifier(k=3).fit(X, y)
    )


@one_in(7)
@given(tables())
def test_a_tree_as_a_table(table):
    X, y, p = table
    clf = fitted(X, y, p)
    if clf is None:
        return
    if p["public"] == [] or "risk" in (p["public"] or []):
        with pytest.raises(ValueError, match="'clf' must have"):
            tree_release(clf, X, y)
        return
    r = tree_release(clf, X, y)
    # None: all is suppressed
    assert (
        (r.audit.k is None and len(clf.spans_) == 1 or r.audit.k >= p["k"])
        and r.audit.n_classes <= len(clf.spans_)
        and r.audit.holds
        and r.audit.truthful
    )
    assert r.constraints == tuple(p.get("constraints", ()))
    assert audit(r, k=p["k"], original=X[list(r.data)]).truthful
    kept = [o for o in X if o in r.data]
    for o in r.roles.quasi_identifiers:
        codes, cs = cells(r.data[o])
        for c, v in zip(codes, X[o]):
            assert says(cs[c], v, r.taxonomies.get(o))
    for o in r.roles.other:
        assert (r.data[o] == X[o]).all()
    asked = {clf.feature_names_in_[clf._asks_[a][0]] for a in clf.tree_.attribute if a >= 0}
    assert all(o in asked for o in r.roles.other) and all(
        isinstance(c, Suppressed) for o in set(kept) - asked for c in cells(r.data[o])[1]
    )


def says(cell, value, taxonomy=None):
    """May a person with this value be in this cell?"""
    if isinstance(cell, Suppressed):
        return True
    if isinstance(cell, Interval):
        return cell.lo <= value <= cell.hi
    if isinstance(cell, Node):
        return cell.name in {taxonomy.generalize(value, l) for l in range(taxonomy.height + 1)}
    return value in cell.values


def letters():
    return pd.DataFrame({"s": list("aaabbbcccdddd")}), pd.Series(list("nnnyyynnnyyyy"), name="cls")


def test_a_release_is_for_the_people_of_the_fit():
    X, y = letters()
    clf = KADETClassifier(k=3).fit(X, y)
    for Z, z in (
        (X.replace("a", "e"), y),
        (X.head(4), y.head(4)),
        (X, y[::-1].reset_index(drop=True)),
        (pd.concat([X, X]), pd.concat([y, y])),
    ):
        with pytest.raises(
            ValueError, match="'X' and 'y' must be the rows that 'clf' was fitted on"
        ):
            tree_release(clf, Z, z)
    with pytest.raises(ValueError, match="'y' must be the class that 'clf' was fitted on. Got 'q'"):
        tree_release(clf, X, y.replace("n", "q"))
    with pytest.raises(ValueError, match="must have no missing values"):
        tree_release(clf, X.where(X != "a"), y)
    order = np.random.default_rng(0).permutation(len(X))
    assert (
        tree_release(clf, X.iloc[order], y.iloc[order]).data.s.tolist() == X.s.iloc[order].tolist()
    )
    for o in (read_published(publish(clf)), pickle.loads(pickle.dumps(clf))):
        with pytest.raises(ValueError, match="'clf' must have been fitted here"):
            tree_release(o, X, y)


def test_a_release_carries_all_promises():
    X, y = pd.DataFrame({"sex": list("mmmmffff")}), pd.Series(list("nnnynyyy"), name="c")
    r = tree_release(KADETClassifier(k=3, constraints=[entropy_l(1.5), Alpha(0.8)]).fit(X, y), X, y)
    assert r.constraints == (LDiversity(1.5, form="entropy"), Alpha(0.8))
    assert (
        r.audit.promise
        == "k-anonymity with k = 3; entropy 1.5-diversity of 'c'; a share of at most 0.8 of any"
        " value of 'c'"
        and r.audit.holds
    )
    clf = KADETClassifier(k=3, constraints=[Alpha(0.8)]).fit(X, y)
    with pytest.raises(ValueError, match="must be the rows"):
        tree_release(clf, X, pd.Series(list("nnnnyyyy"), name="c"))
    clf.constraints = [Alpha(0.7)]
    with pytest.raises(GuaranteeError, match="does not keep that"):
        tree_release(clf, X, y)


def test_several_limits_are_the_strictest():
    X, y = pd.DataFrame({"sex": list("mmmmffff")}), pd.Series(list("nnnynyyy"), name="c")
    many = [Alpha(0.9), Alpha(0.8, sensitive="c"), entropy_l(1.2), entropy_l(1.5)]
    clf = KADETClassifier(k=3, constraints=many).fit(X, y)
    two = KADETClassifier(k=3, constraints=[entropy_l(1.5), Alpha(0.8)]).fit(X, y)
    assert clf.guarantee == two.guarantee and publish(clf) == publish(two)
    assert read_published(publish(clf)).constraints == two.constraints


def test_a_level_that_nobody_has():
    X, y = (
        pd.DataFrame(
            {
                "sex": pd.Categorical(list("mmmmffff"), categories=["d", "f", "m"]),
                "zip": pd.Categorical(list("aabbaabb"), categories=list("abz")),
            }
        ),
        pd.Series(list("nnnynyyy"), name="c"),
    )
    clf = KADETClassifier(k=4).fit(X, y)
    assert tree_release(clf, X, y).text()[["sex", "zip"]].drop_duplicates().to_numpy().tolist() == [
        ["f", "*"],
        ["m", "*"],
    ]
    assert '"d"' not in publish(clf)


def test_cells_say_the_conditions_of_the_tree():
    X, y = (
        pd.DataFrame(
            {
                "salary": [10.0, 20, 30, 41.37, 50, 60, 70, 983.21],
                "zip": list("abcdefgh"),
                "ssn": ["1"] * 7 + ["2"],
            }
        ),
        pd.Series(list("nnnnyyyy"), name="c"),
    )
    clf = KADETClassifier(k=3, public=["salary", "zip"]).fit(X, y)
    r = tree_release(clf, X, y)
    assert (
        cells(r.data.salary)[1] == [Interval(-np.inf, 45.685), Interval(45.685, np.inf)]
        and cells(r.data.zip)[1] == [Suppressed()]
        and list(r.data) == ["salary", "zip"]
    )
    with pytest.warns(UserWarning, match="does not ask for 'ssn'"):
        assert list(tree_release(clf, X, y, keep_private=True).data) == ["salary", "zip", "ssn"]


# ---- one row
def test_explain_and_path_here_and_read_back():
    X = pd.DataFrame(
        {"job": ["clerk"] * 3 + ["nurse"] * 4 + ["farmer"] + ["pupil"] * 3 + ["retired"] * 3}
    )
    clf = KADETClassifier(k=3, taxonomies={"job": JOBS}).fit(
        X, pd.Series(list("nnyyyyynnnnyyy"), name="ill")
    )
    for o in (clf, read_published(publish(clf))):
        for row in ({"job": "pupil"}, X.iloc[8], X.iloc[[8]]):
            assert (
                "Answer: n" in o.explain(row)
                and "of 3 training rows" not in o.explain(row)
                and o.path(row)[-1].ends == 1
            )
    assert "of 3 training rows" in clf.explain({"job": "pupil"}, counts=True)


def test_explain_refuses_what_predict_refuses():
    X, y = village()
    for clf in (
        KADETClassifier(k=3, taxonomies={"job": VILLAGE}).fit(X.assign(age=range(14)), y),
        KADETClassifier(k=3).fit(X.assign(age=range(14)), y),
    ):
        asked = {clf.feature_names_in_[clf._asks_[a][0]] for a in clf.tree_.attribute if a >= 0}
        row = {"job": "pupil", "age": 9}
        assert "missing" not in clf.explain(row)
        for o in asked:
            for f in (clf.explain, clf.path):
                for v in (None, np.nan):
                    with pytest.raises(
                        ValueError, match=f"Column '{o}' must have no missing values"
                    ):
                        f(row | {o: v})
                with pytest.raises(ValueError, match="'row' must hold raw values"):
                    f(row | {o: Suppressed()})
        for o in set(row) - asked:
            assert clf.explain(row | {o: None}) == clf.explain(row)
    clf = KADETClassifier(k=3, taxonomies={"job": VILLAGE}).fit(X, y)
    for v in ("fisher", "works"):  # the name of a level is no value either
        assert f"{v} (not in the taxonomy), which has no branch here" in clf.explain(
            {"job": v}
        ) and f"Answer: {clf.predict(pd.DataFrame({'job': [v, 'clerk']}))[0]}" in clf.explain(
            {"job": v}
        )


VILLAGE = Taxonomy.from_dict(
    {
        "any": {
            "works": ["clerk", "farmer", "nurse", "king"],
            "does not": ["pupil", "retired", "prisoner"],
        }
    }
)


def village(rare="farmer"):
    return pd.DataFrame(
        {"job": ["clerk"] * 3 + ["nurse"] * 4 + [rare] + ["pupil"] * 3 + ["retired"] * 3}
    ), pd.Series(list("nnyyyyyn") + list("nnn") + list("yyy"), name="ill")


def test_values_of_the_taxonomy_that_no_row_has():
    X, y = village()
    clf = KADETClassifier(k=3, taxonomies={"job": VILLAGE}).fit(X, y)
    other, new = read_published(publish(clf)), pd.DataFrame({"job": ["prisoner", "king", "pupil"]})
    assert (
        clf.predict(new).tolist() == other.predict(new).tolist()
        and clf.predict_proba(new).tolist() == other.predict_proba(new).tolist()
    )
    for o in (clf, other):
        assert [len(o.path({"job": v})) for v in new.job] == [2, 2, 3] and clf.predict_proba(new)[
            0
        ].tolist() == [0.5, 0.5]
    assert sorted(map(str, tree_release(clf, X, y).text().job.unique())) == [
        "<works>",
        "pupil",
        "retired",
    ]


def test_names_of_levels_are_taken():
    X, y = village()
    for Z, z, t in (
        (X.assign(**{"job (level 1)": list("xy") * 7}), y, {"job": VILLAGE}),
        (X, y.rename("job (level 1)"), {"job": VILLAGE}),
    ):
        with pytest.raises(ValueError, match="'job .level 1.' must be the name of one thing"):
            KADETClassifier(k=3, taxonomies=t).fit(Z, z)
    KADETClassifier(k=3).fit(X.assign(**{"job (level 1)": list("xy") * 7}), y)


@one_in(4)
@given(tables(), st.integers(0, 99))
def test_the_order_of_rows_and_columns_does_not_matter(table, seed):
    X, y, p = table
    a, order = fitted(X, y, p), np.random.default_rng(seed).permutation(len(X))
    b = fitted(X.iloc[order], y.iloc[order], p)
    if a is None:
        assert b is None
    else:
        assert publish(a) == publish(b)


def test_a_saved_classifier_holds_no_people():
    c = load_clients()
    clf = KADETClassifier(k=3, public=["Marital Status"]).fit(
        c[["Sports Car", "Marital Status"]], c["Loan Risk"]
    )
    back = pickle.loads(pickle.dumps(clf))
    assert (
        not hasattr(back, "spans_")
        and back.predict(c[["Sports Car", "Marital Status"]]).tolist()
        == clf.predict(c[["Sports Car", "Marital Status"]]).tolist()
    )
    assert clf.spans_.people.tolist() == [3, 3]


def test_what_is_asked_too_much():
    c = load_customers()
    X, y = c[["Gender", "Marital", "Age"]], c.Bought

    def message(part, **p):
        with pytest.raises((ValueError, TypeError), match=part):
            KADETClassifier(**p).fit(X, y)

    message("'k' must not exceed the number of rows. Got k=15", k=15)
    message("'k' must be an integer", k=0)
    message("'k' must be an integer", k=2.0)
    message("'criterion' must be 'gain' or 'gain_ratio'", criterion="gini")
    message("'public' must name columns of X, or the class. Got 'zip'", public=["zip"])
    message("'public' must be a list of column names", public="Age")
    message("'taxonomies' must be None or a dict", taxonomies=[JOBS])
    message("'taxonomies' must name columns of the table", taxonomies={"job": JOBS})
    message("every value as a leaf", taxonomies={"Gender": JOBS})
    message(
        "'constraints' must be empty when the class is public",
        k=2,
        public=["Age", "Bought"],
        constraints=[entropy_l(1.1)],
    )
    message("7 people have class", k=8, public=["Bought"])
    message("entropy l = 2, below", k=1, constraints=[entropy_l(2.1)])
    message("50 % of all 14 people", k=1, constraints=[Alpha(0.4)])
    message("'alpha' of Alpha must be", constraints=[Alpha(0)])
    message("'l' of LDiversity must be", constraints=[entropy_l(0.5)])
    message("'constraints' must be a list", constraints=Alpha(0.5))
    message("'constraints' must hold LDiversity", constraints=[0.5])
    for other in (
        LDiversity(2),
        Alpha(0.5, value="Yes"),
        Alpha(0.5, sensitive="Age"),
        TCloseness(0.5),
    ):
        message("'constraints' of a tree must be LDiversity", constraints=[other])
    message("'min_gain'", min_gain=-1)
    message("'prune'", prune="no")
    with pytest.raises(ValueError, match="no missing values"):
        KADETClassifier(k=2).fit(X.where(X.Age > 40), y)


def test_it_gives_up_rather_than_hang(monkeypatch):
    monkeypatch.setattr(kadet_classifier, "MOST_WORK", 20)
    c = load_customers()
    with pytest.raises(ValueError, match="1 private columns .Age. every public"):
        KADETClassifier(k=2, public=["Gender", "Marital"]).fit(
            c[["Gender", "Marital", "Age"]], c.Bought
        )


def test_it_gives_up_before_memory_is_full(monkeypatch):
    n = 400
    X, y = (
        pd.DataFrame(
            {
                "secret": np.arange(n) % 7,
                "id": [f"i{i}" for i in range(n)],
                "more": np.arange(n) % 11,
            }
        ),
        pd.Series(np.random.default_rng(0).choice(["a", "b"], n), name="cls"),
    )
    clf = KADETClassifier(k=1, public=["id"]).fit(X.astype(str), y)
    held = int(clf.spans_.n_leaves.sum())
    for most, fits in ((held, True), (held - 1, False)):
        monkeypatch.setattr(kadet_classifier, "MOST_PAIRS", most)
        if fits:
            KADETClassifier(k=1, public=["id"]).fit(X.astype(str), y)
        else:
            with pytest.raises(
                ValueError,
                match="The spans have more than .* places. With 2 private columns .secret, more.",
            ):
                KADETClassifier(k=1, public=["id"]).fit(X.astype(str), y)


def test_many_values_of_few_people():
    """The span test numbers parts that have people when most have none: the same answers"""
    rng = np.random.default_rng(3)
    for _ in range(20):
        n = int(rng.integers(20, 40))
        t = People(
            ["z", "s", "t"],
            [rng.integers(0, 400, n), rng.integers(0, 2, n), rng.integers(0, 3, n)],
            [list(range(400)), [0, 1], [0, 1, 2]],
            [None] * 3,
            [[np.arange(o)] for o in (400, 2, 3)],
            [[list(range(o))] for o in (400, 2, 3)],
            [True, False, True],
            rng.integers(0, 2, n),
            np.arange(2),
            False,
        )
        for k, empty_ok in ((1, True), (2, True), (1, False)):
            root, spans, _ = _textbook_kadet(t, lambda who: len(who) >= k, empty_ok=empty_ok)
            tree, s = grow_kadet(t, partial(safe_counts, k=k), empty_ok=empty_ok)
            assert as_nested(t, tree) == _textbook_nested(t, root)


def test_a_class_that_nobody_has_is_not_named():
    X, y = (
        pd.DataFrame({"sex": list("mmmmffff"), "zip": list("aabbaabb")}),
        pd.Series(pd.Categorical(list("nnnynyyy"), categories=["n", "secret", "y"]), name="c"),
    )
    for p in (
        dict(k=2),
        dict(k=2, constraints=[Alpha(0.9)], public=["zip"]),
        dict(k=4, public=["sex", "c"]),
    ):
        clf = KADETClassifier(**p).fit(X, y)
        other = read_published(publish(clf))
        assert (
            "secret" not in publish(clf)
            and clf.classes_.tolist() == ["n", "secret", "y"]
            and other.classes_.tolist() == ["n", "y"]
        )
        assert (
            publish(other) == publish(clf)
            and other.predict(X[list(other.feature_names_in_)]).tolist() == clf.predict(X).tolist()
        )
    assert "secret" not in clf.explain(X.head(1), counts=False)


def test_names_that_can_be_read_once_only_are_refused():
    c = load_customers()
    X, y = c[["Gender", "Marital", "Age"]], c.Bought
    with pytest.raises(ValueError, match="'public' must be a list of column names"):
        KADETClassifier(k=2, public=(o for o in ["Age"])).fit(X, y)
    for o in (("Age",), {"Age"}, pd.Index(["Age"]), np.array(["Age"])):
        assert KADETClassifier(k=2, public=o).fit(X, y)._public_ == ["Age"]


def test_what_helpers_refuse():
    c = load_customers()
    X, y = c[["Gender", "Marital", "Age"]], c.Bought
    clf = KADETClassifier(k=3).fit(X, y)
    for o in (3, C45Classifier().fit(X, y)):
        with pytest.raises(TypeError, match="'clf' must be a fitted KADETClassifier. Got"):
            publish(o)
        with pytest.raises(TypeError, match="'clf' must be a fitted KADETClassifier. Got"):
            tree_release(o, X, y)
    with pytest.raises(
        ValueError,
        match=(
            "'X' must have the columns that the tree asks: Gender, Marital. Got none named 'Gender'"
        ),
    ):
        clf.audit(X[["Age", "Marital"]], y)
    with pytest.raises(TypeError, match="'taxonomies' must be a dict"):
        with_levels(X, ["job"])
    with pytest.raises(ValueError, match="at least one column"):
        KADETClassifier(k=3).fit(X[[]], y)
    other = read_published(publish(clf))
    with pytest.raises(
        ValueError,
        match=(
            "'X' must have the columns seen in fit: Gender, Marital. Got .* Unexpected: Age: drop"
            " them"
        ),
    ):
        other.predict(X)
    assert other.audit(X, y).k == 4  # an audit takes what it needs


def test_dates_without_an_end():
    y = pd.Series(["a"] * 6 + ["b"] * 6, name="cls")
    for tz in (
        None,
        "UTC",
        "Europe/Berlin",
        "America/Los_Angeles",
        "Asia/Kathmandu",
        "Pacific/Kiritimati",
    ):
        X = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=12, tz=tz)})
        r = tree_release(KADETClassifier(k=3).fit(X, y), X, y)
        low, high = (
            cells(r.data.day)[1]
            if cells(r.data.day)[1][0].lo.year == 1
            else cells(r.data.day)[1][::-1]
        )
        assert (low.lo.year, high.hi.year) == (1, 9999) and low.hi == high.lo == pd.Timestamp(
            "2024-01-06 12:00", tz=tz
        )
        assert r.text().day.str.contains("0001-01-0[12]|9999-12-31").all()
    for first in ("1500-01-01", "2500-01-01", "9999-12-20"):
        X = pd.DataFrame(
            {
                "day": (
                    np.datetime64(first, "us")
                    + np.arange(12) * np.timedelta64(86_400_000_000, "us")
                )
            }
        )
        r = tree_release(KADETClassifier(k=3).fit(X, y), X, y)
        assert r.audit.k == 6 and r.audit.truthful


def test_dates_and_zones_are_published():
    day = pd.Series(pd.date_range("2024-01-01", periods=12, tz="Europe/Berlin"), name="day")
    X, y = (
        pd.DataFrame(
            {"day": day, "plain": pd.date_range("2024-01-01", periods=12)[::-1], "n": range(12)}
        ),
        pd.Series(["a"] * 6 + ["b"] * 6, name="cls"),
    )
    for o in X:
        clf = KADETClassifier(k=3).fit(X[[o]], y)
        other = read_published(publish(clf))
        assert (
            len(clf.tree_) == 3
            and other.predict(X[[o]]).tolist() == y.tolist()
            and publish(other) == publish(clf)
            and other.audit(X[[o]], y).k == 6
        )
        assert tree_release(clf, X[[o]], y).audit.k == 6


def test_other_texts_are_no_published_trees():
    c = load_clients()
    text = publish(
        KADETClassifier(k=3, public=["Marital Status"]).fit(
            c[["Sports Car", "Marital Status"]], c["Loan Risk"]
        )
    )
    d = json.loads(text)
    for bad in (
        "",
        "[]",
        "{}",
        json.dumps(d | dict(version=2)),
        json.dumps(d | dict(columns=[])),
        json.dumps(d | dict(columns=[{}])),
        json.dumps(d | dict(tree={})),
        json.dumps({o: v for o, v in d.items() if o != "class"}),
        json.dumps(d | dict(**{"class": {}})),
        *(
            json.dumps(d | {o: v})
            for o, v in (
                ("k", 0),
                ("k", -3),
                ("k", True),
                ("k", 2.0),
                ("l_diversity", "x"),
                ("l_diversity", 0.5),
                ("max_confidence", 0),
                ("max_confidence", 85),
                ("max_confidence", True),
            )
        ),
    ):
        with pytest.raises(TextFormError):
            read_published(bad)


def test_levels_as_columns():
    X = pd.DataFrame({"job": ["farmer", None, "pupil"], "n": [1, 2, 3]})
    assert list(with_levels(X, {"job": JOBS})) == ["job", "n", "job (level 1)", "job (level 2)"]
    assert with_levels(X, {"job": JOBS})["job (level 1)"].tolist()[::2] == [
        "hand",
        "pupil",
    ] and with_levels(X, {}).equals(X)


def test_adult(adult_like=None):
    from ppdt.datasets import make_population

    t = make_population(3000, random_state=0)
    X, y = t.drop(columns="income"), t.income
    for c in ("gain", "gain_ratio"):
        clf = KADETClassifier(
            k=25, criterion=c, public=[o for o in X if o not in ("occupation", "hours")]
        ).fit(X, y)
        assert clf.spans_.people.min() >= 25 and clf.score(X, y) >= (y == y.mode()[0]).mean()
