"""Trees: the grower against the textbook, sets against enumeration, reading and drawing, and files that are no trees."""
import copy, itertools, json, pickle, tracemalloc, warnings
from unittest import mock
import numpy as np, pandas as pd, pytest
import matplotlib; matplotlib.use("Agg")
import matplotlib.pyplot as plt
from hypothesis import given, strategies as st
from ppdt import growing
from ppdt.datasets import load_clients, load_customers
from ppdt.tables import Centroid, Exact, Interval, MISSING, Node, Suppressed, TextFormError, ValueSet, cells, value_order
from ppdt.growing import _nested, _textbook_id3
from ppdt.trees import (LEAF, MULTIWAY, Members, Tree, TreeData, entropy, grow, information_gain, plot_tree,
                        tree_counts, tree_from_json, tree_json, tree_text)

# ---- random tables

def random_members(rng, n, n_values, exact=False):
    "Cells of n rows over a domain, up to four distinct ones"
    sets = [np.sort(rng.choice(n_values, 1 if exact else rng.integers(1, n_values + 1), replace=False)) for _ in range(rng.integers(1, 5))]
    r = np.array([len(o) for o in sets])
    return Members(rng.integers(0, len(sets), n), np.append(0, np.cumsum(r)), np.concatenate(sets), np.repeat(1/r, r))

def drawn(rng, m, n_values):
    "One member of each row"
    r = np.diff(m.start)[m.codes]
    return Members.exact(m.value[m.start[m.codes] + rng.integers(0, r)], n_values)

def random_data(rng, n, sizes, exact, draw, n_classes, weights):
    score = [random_members(rng, n, v, exact) for v in sizes]
    route = [drawn(rng, m, v) for m, v in zip(score, sizes)] if draw else score
    w = rng.integers(0, 4, n).astype(float) if weights else np.ones(n)
    if not w.any(): w[0] = 1
    return TreeData([f"a{i}" for i in range(len(sizes))], [[f"v{i}" for i in range(v)] for v in sizes],
                    np.array([f"c{i}" for i in range(n_classes)], dtype=object), score, route, rng.integers(0, n_classes, n), w)

def datas(max_rows=14, routing=(False, True), exact=False, weights=True):
    "Random tables; the cells come from a seed, which is quicker than drawing each"
    return st.builds(random_data, st.integers(0, 2**32 - 1).map(np.random.default_rng), st.integers(1, max_rows), st.lists(st.integers(1, 4), min_size=1, max_size=4),
                     st.just(exact), st.sampled_from(routing), st.integers(1, 3), st.booleans() if weights else st.just(False))

def subset(d, rows):
    "The same table with these rows, in this order"
    def of(ms): return [Members(m.codes[rows], m.start, m.value, m.weight) for m in ms]
    score = of(d.score)
    return TreeData(d.names, d.values, d.classes, score, score if d.route is d.score else of(d.route), d.y[rows], d.weight[rows])

def same(a, b):
    return np.allclose(a[0], b[0], atol=1e-9) and a[1] == b[1] and a[2].keys() == b[2].keys() and all(same(a[2][v], b[2][v]) for v in a[2])

def equal(a, b):
    "Node by node"
    return (a.parent.tolist(), a.attribute.tolist(), a.code.tolist()) == (b.parent.tolist(), b.attribute.tolist(), b.code.tolist()) and np.allclose(a.counts, b.counts)

def always(node, attribute, rows): return True

def table(t, attributes, y):
    members, domains = [], []
    for o in attributes:
        codes, cs = cells(t[o])
        domain = sorted((c.value for c in cs), key=value_order)
        members.append(Members.exact(np.array([domain.index(c.value) for c in cs])[codes], len(domain))); domains.append(domain)
    classes, codes = np.unique(np.asarray(t[y], dtype=object), return_inverse=True)
    return TreeData(list(attributes), domains, classes, members, members, codes, np.ones(len(t)))

@pytest.fixture(scope="module")
def customers(): return table(load_customers(), ["Gender", "Marital"], "Bought")

def chain(n):
    "A tree n deep: node 2i + 1 is a leaf, node 2i + 2 goes on"
    parent = np.append(-1, np.repeat(np.arange(0, 2*n, 2), 2))
    attribute = np.full(2*n + 1, -1); attribute[0:2*n:2] = np.arange(n)
    counts = np.ones((2*n + 1, 2))
    return Tree(parent, attribute, np.zeros(2*n + 1, dtype=int), np.where(attribute >= 0, MULTIWAY, LEAF), np.full(2*n + 1, np.nan),
                np.append(-1, np.tile([0, 1], n)), counts, counts.sum(axis=1), [f"a{i}" for i in range(n)], [["n", "y"]]*n, np.array(["p", "q"], dtype=object))

def test_a_chain_of_thousands_of_nodes():
    t = chain(5000)
    assert t.depth == 5000 and t.n_leaves == 5001
    assert equal(tree_from_json(tree_json(t, counts=True)), t)
    assert tree_counts(t, [Members.exact(np.array([1]), 2)]*5000).tolist() == [[.5, .5]]
    assert tree_text(t, max_depth=3).count("\n") == 5 and len(tree_text(chain(300)).splitlines()) == 600
    plot_tree(t, max_depth=3); plt.close("all")

# ---- reading

def test_text_of_the_customers(customers):
    t = grow(customers)
    assert tree_text(t) == """Gender = Female
|   Marital = Married: Yes (2)
|   Marital = Not Married: No (3)
Gender = Male
|   Marital = Married: No (5/2)
|   Marital = Not Married: Yes (4/1)"""
    assert tree_text(t, counts=False, max_depth=1) == "Gender = Female: No ...\nGender = Male: Yes ..."
    assert tree_text(t, max_depth=0) == ": No (14/7) ..." and tree_text(grow(customers, max_depth=0)) == ": No (14/7)"

# ---- JSON

_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(["*", "", " a ", "{a, b}", '"x"', "[1, 2]", "<n>", "~v", "missing", '"missing"', "a,b", "\\"])
_stamps = st.datetimes(pd.Timestamp("1700-01-01"), pd.Timestamp("2200-01-01")).map(pd.Timestamp)
_floats = st.floats(allow_nan=False, allow_infinity=False)
_plain = st.one_of(*(st.lists(o, min_size=1, max_size=4, unique=True) for o in (_text, st.integers(-2**63, 2**63 - 1), _floats, st.booleans(), _stamps, _stamps.map(lambda o: o.tz_localize("UTC")))))

@st.composite
def value_lists(draw):
    vs = draw(_plain)
    if draw(st.booleans()): vs = vs + [MISSING]
    if draw(st.booleans()): return vs
    kind = [Exact(vs[0]), ValueSet(vs), Suppressed(), Centroid(vs[0]), Node("a, b"), Node("x")]
    if vs[0] is not MISSING and not isinstance(vs[0], (bool, str)): kind.append(Interval(vs[0], vs[0], False))
    if len(vs) > 1 and draw(st.booleans()): kind.append(Exact(vs[1]))
    return list(dict.fromkeys(kind))

@st.composite
def any_trees(draw):
    "A tree over odd values"
    d = draw(datas())
    values = [draw(value_lists()) for _ in d.values]
    t = grow(d)
    need = [len(v) for v in d.values]
    values = [v if len(v) >= n else [f"w{i}" for i in range(n)] for v, n in zip(values, need)]
    classes = draw(st.sampled_from([np.array(["b", "*", ""], dtype=object), np.array([1, 2, 5]), np.array([.5, 1., 2.]), np.array([pd.Timestamp("2024-01-01"), pd.Timestamp("2024-01-02"), pd.Timestamp("2025-01-01")], dtype=object)]))
    return Tree(t.parent, t.attribute, t.level, t.kind, t.threshold, t.code, t.counts, t.n, t.names, values, classes[:len(d.classes)])

@given(any_trees())
def test_json_round_trip(t):
    back = tree_from_json(tree_json(t, counts=True))
    assert equal(back, t) and np.array_equal(back.counts, t.counts) and back.names == t.names
    assert back.values == t.values and [[type(o) for o in v] for v in back.values] == [[type(o) for o in v] for v in t.values]
    assert back.classes.tolist() == t.classes.tolist() and back.classes.dtype == t.classes.dtype
    assert tree_text(back) == tree_text(t) and tree_json(back, counts=True) == tree_json(t, counts=True)
    bare = tree_from_json(tree_json(t))
    assert "counts" not in tree_json(t) and np.array_equal(bare.majority(np.arange(len(t))), t.majority(np.arange(len(t))))
    assert tree_text(bare, counts=False) == tree_text(t, counts=False)

def test_json_names_values_of_two_types(customers):
    t = grow(customers)
    t.values[0][0] = 7
    with pytest.raises(TypeError, match="Values of 'Gender' must be all strings"): tree_json(t)
    t.values[0][0] = "Female"

@pytest.fixture(scope="module")
def saved(customers): return tree_json(grow(customers), counts=True)

@pytest.mark.parametrize("text", ["", "{", "[]", "null", "7", '"x"', "{}", '{"format": "ppdt-tree", "version": 2}', '{"format": "ppdt-tree", "version": 1}', "["*100_000, None, b"\xff"])
def test_no_tree_at_all(text):
    with pytest.raises(TextFormError): tree_from_json(text)

@pytest.mark.parametrize("field, value", [
    ("parent", [-1, 0, 0, 1, 1, 2]), ("parent", [-1, 0, 0, 1, 1, 2, 6]), ("parent", [0, 0, 0, 1, 1, 2, 2]), ("parent", [-1, 0, 0, -1, 1, 2, 2]), ("parent", [-1, 0, 0, 1, 1, 2, "2"]),
    ("parent", [-1, 0, 0, 1, 1, 2, True]), ("parent", [-1, 0, 0, 1, 1, 2, 2.5]), ("parent", None), ("parent", []), ("parent", [-1, 0, 0, 1, 1, 2, 3]),
    ("attribute", [0, 1, 2, -1, -1, -1, -1]), ("attribute", [0, 1, -2, -1, -1, -1, -1]), ("attribute", [0, 1, 1, 1, -1, -1, -1]), ("attribute", [0, -1, 1, -1, -1, -1, -1]),
    ("code", [-1, 0, 2, 0, 1, 0, 1]), ("code", [-1, 0, -1, 0, 1, 0, 1]), ("code", [-1, 0, 0, 0, 1, 0, 1]), ("code", [0, 0, 1, 0, 1, 0, 1]), ("code", [-1, 0, 1, 0, 1, 0, 10**30]),
    ("counts", [[1, 1]]), ("counts", [[1, 0]]*6 + [[0, 0]]), ("counts", [[1, 0]]*6 + [[2, -1]]), ("counts", [[1, 0]]*6 + [[2]]), ("counts", "x"), ("counts", [[1, 0]]*6 + [[1, float("nan")]]), ("counts", [[10**400, 0]]*7),
    ("classes", []), ("classes", ["No", "No"]), ("classes", ["No", ""]), ("classes", ["No", 1]), ("classes", ["No", "{a, b}"]), ("classes", ["No", "*"]), ("class_dtype", "number"), ("class_dtype", "object"), ("class_dtype", []),
    ("attributes", None), ("attributes", []), ("attributes", [{}]), ("attributes", [{"name": "a", "dtype": "str", "cells": True, "values": ["[b, a]", "c"]}]*2),
    ("attributes", [{"name": "Gender", "dtype": "str", "cells": False, "values": ["a", "b"]}]*2), ("format", "tree")])
def test_malformed_json(saved, field, value):
    d = json.loads(saved); d[field] = value
    with pytest.raises(TextFormError): tree_from_json(json.dumps(d))
    del d[field]
    if field != "counts":
        with pytest.raises(TextFormError): tree_from_json(json.dumps(d))

_junk = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5), lambda o: st.lists(o, max_size=4) | st.dictionaries(st.sampled_from(["name", "dtype", "cells", "values"]), o, max_size=4), max_leaves=8)

@given(st.data(), _junk)
def test_junk_is_refused_or_read(saved, data, junk):
    d = json.loads(saved)
    d[data.draw(st.sampled_from(sorted(d) + ["class"]))] = junk
    try: t = tree_from_json(json.dumps(d))
    except TextFormError: return
    assert np.allclose(tree_counts(t, [Members.exact(np.zeros(2, dtype=int), len(v)) for v in t.values]).sum(axis=1), 1)

# ---- drawing

def boxes_of(ax):
    "Where the texts are, in pixels, and their sizes"
    r = ax.figure.canvas.get_renderer()
    texts = [o for o in ax.texts if o.get_text().strip()]
    return [matplotlib.text.Text.get_window_extent(o, r) for o in texts], [o.get_fontsize() for o in texts]

def overlaps(a, b): return min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1

def check_drawing(ax):
    ax.figure.canvas.draw()
    found, sizes = boxes_of(ax)
    assert min(sizes) >= 6
    assert not [1 for a, b in itertools.combinations(found, 2) if overlaps(a, b)]
    frame = ax.figure.bbox
    assert all(frame.x0 - 1 <= o.x0 and o.x1 <= frame.x1 + 1 and frame.y0 - 1 <= o.y0 and o.y1 <= frame.y1 + 1 for o in found)

def wide(n_values, seed=0, n=400):
    rng, sizes = np.random.default_rng(seed), [n_values, 3]
    m = [Members.exact(rng.integers(0, v, n), v) for v in sizes]
    values = [[f"{'W$m_' * (i % 4)}{'long value ' * (i % 5)}{i}" for i in range(v)] for v in sizes]
    return TreeData(["an attribute with a name of its own", "B$"], values, np.array(["<=50K", "a class with a long name, longer than most", "c$_1$"], dtype=object), m, m, rng.integers(0, 3, n), np.ones(n))

@pytest.mark.parametrize("n_values, kw", [(2, {}), (20, dict(max_branches=60)), (40, {}), (40, dict(max_branches=60, max_depth=1)), (40, dict(max_branches=1)), (5, dict(counts=False)), (5, dict(max_depth=0))])
def test_texts_of_a_drawing_do_not_overlap(n_values, kw):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_drawing(plot_tree(grow(wide(n_values)), **kw))
    plt.close("all")

def test_drawing_in_given_axes(customers):
    t = grow(customers)
    fig, ax = plt.subplots(figsize=(7, 3))
    assert plot_tree(t, ax=ax) is ax
    check_drawing(ax)
    fig, ax = plt.subplots(figsize=(2, 1))
    with pytest.warns(UserWarning, match="axes are too small"): plot_tree(t, ax=ax)
    assert min(boxes_of(ax)[1]) >= 6
    plt.close("all")

def test_a_drawing_without_counts_tells_no_counts(customers):
    ax = plot_tree(grow(customers), counts=False)
    assert not any(o.get_text().strip().isdigit() for o in ax.texts)
    lines, bars = ax.collections
    assert len(bars.get_paths()) == 7 and len(set(lines.get_linewidths())) == 1                # whole bars, no shares
    plt.close("all")

def test_light_branches_share_a_line():
    ax = plot_tree(grow(wide(40)), max_branches=5, max_depth=1)
    assert any(o.get_text() == "36 others" for o in ax.texts)
    plt.close("all")
