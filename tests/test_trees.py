"""Trees: the grower against the textbook, sets against enumeration."""
import copy, itertools, pickle, tracemalloc
from unittest import mock
import numpy as np, pandas as pd, pytest
from hypothesis import given, strategies as st
from ppdt import growing
from ppdt.datasets import load_clients, load_customers
from ppdt.tables import cells, value_order
from ppdt.growing import _nested, _textbook_id3
from ppdt.trees import LEAF, MULTIWAY, Members, Tree, TreeData, entropy, grow, information_gain, tree_counts, tree_text

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
    assert tree_counts(t, [Members.exact(np.array([1]), 2)]*5000).tolist() == [[.5, .5]]

def test_sets_everywhere_in_a_deep_tree_stay_in_bounds():
    n = 12
    full = Members(np.zeros(50, dtype=int), np.array([0, 2]), np.array([0, 1]), np.array([.5, .5]))
    assert np.allclose(tree_counts(chain(n), [full]*n), .5)
