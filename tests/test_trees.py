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

# ---- entropy and gain

@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=5))
def test_gain_lies_between_0_and_the_entropy(t):
    g = information_gain(t)
    assert 0 <= g <= entropy(np.sum(t, axis=0)) + 1e-12
    assert np.isclose(g, information_gain(t + [[0, 0, 0]])) and np.isclose(g, information_gain(t[::-1]))
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
        return np.bincount(value*3 + d.y[at], w, minlength=3*n_values).reshape(n_values, 3)
    choices = [m.value[m.start[c]:m.start[c+1]] for c in m.codes]
    maps = [information_gain(table_of(rows, np.array(v), np.ones(len(rows)))) for v in itertools.product(*choices)]
    assert information_gain(table_of(*m.expand(rows))) <= np.mean(maps) + 1e-12

# ---- members

@given(datas())
def test_expand_lists_every_member_of_every_row(d):
    for m in d.score:
        rows = np.arange(len(d.y))[::-1]
        at, value, w = m.expand(rows)
        want = [(i, v, x) for i, r in enumerate(rows) for v, x in zip(m.value[m.start[m.codes[r]]:m.start[m.codes[r]+1]], m.weight[m.start[m.codes[r]]:])]
        assert list(zip(at.tolist(), value.tolist(), w.tolist())) == want
        assert np.allclose(np.bincount(at, w), 1)

def test_heaviest_member_is_the_first_of_the_heaviest():
    m = Members(np.array([0, 1]), np.array([0, 2, 5]), np.array([3, 1, 0, 2, 4]), np.array([.5, .5, .2, .4, .4]))
    assert m.heaviest.tolist() == [3, 2]

# ---- growing

@given(datas(), st.sampled_from([1, 2]))
def test_grow_equals_the_textbook(d, min_branches):
    assert same(_nested(grow(d, min_branches=min_branches)), _textbook_id3(d, min_branches=min_branches))

@given(datas(), st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(d, r):
    rows = list(range(len(d.y))); r.shuffle(rows)
    t = grow(d)
    assert equal(grow(subset(d, np.array(rows))), t)
    assert tree_text(grow(subset(d, np.array(rows)))) == tree_text(t)

@given(datas(), st.sampled_from([None, 0, .1]), st.sampled_from([None, 1, 2]), st.sampled_from([0, 2.5]), st.sampled_from([0, .4]))
def test_all_orders_of_growth_give_one_tree(d, min_gain, max_depth, min_weight, min_fragment):
    kw = dict(min_gain=min_gain, max_depth=max_depth, min_weight=min_weight, min_fragment=min_fragment)
    t = grow(d, **kw)
    assert equal(grow(d, allow=always, **kw), t)
    best = grow(d, order="best", **kw)
    assert same(_nested(best), _nested(t)) and (best.parent[1:] < np.arange(1, len(best))).all()
    assert same(_nested(grow(d, order="best", allow=always, **kw)), _nested(t))

@given(datas())
def test_small_portions_give_the_same_tree(d):
    t = grow(d)
    p = tree_counts(t, d.score)
    with mock.patch.object(growing, "_CELLS", 1):
        assert equal(grow(d), t) and np.array_equal(tree_counts(t, d.score), p)

@given(datas())
def test_children_share_out_their_parent(d):
    t = grow(d)
    for i in np.flatnonzero(t.attribute >= 0):
        assert np.allclose(t.counts[t.children(i)].sum(axis=0), t.counts[i]) and len(t.children(i)) > 1
    assert np.allclose(t.counts[0], np.bincount(d.y, d.weight, minlength=len(d.classes))) and np.allclose(t.n, t.counts.sum(axis=1))
    assert (t.n > 0).all() and ((t.kind == LEAF) == (t.attribute < 0)).all() and t.depth <= len(d.names)

@given(datas())
def test_an_attribute_is_asked_once_on_a_path(d):
    t = grow(d)
    for i in range(len(t)):
        path, at = [], i
        while at > 0: at = t.parent[at]; path.append(t.attribute[at])
        assert len(set(path)) == len(path)

@given(datas(exact=True, weights=False))
def test_without_sets_readings_agree(d):
    once = Members.exact
    plain = [once(m.value[m.start[m.codes]], len(v)) for m, v in zip(d.score, d.values)]
    assert equal(grow(TreeData(d.names, d.values, d.classes, plain, plain, d.y, d.weight)), grow(d))

def limits(d):
    t = grow(d)
    return t, grow(d, max_depth=1), grow(d, min_weight=6), grow(d, min_gain=.05)

def test_limits(customers):
    t, shallow, heavy, gainful = limits(customers)
    assert (len(t), t.n_leaves, t.depth) == (7, 4, 2) and repr(t) == "Tree(7 nodes, 4 leaves, depth 2)"
    assert shallow.depth == 1 and grow(customers, max_depth=0).n_leaves == 1
    assert heavy.n[heavy.attribute >= 0].tolist() == [14, 9]
    assert len(gainful) == 1          # 0.0161 at the root

@pytest.mark.parametrize("kw", [{}, {"order": "best"}, {"allow": always}])
def test_small_tables(kw):
    def tiny(codes, y, n_values=2, names="a"):
        m = [Members.exact(np.array(codes), n_values) for _ in names]
        return TreeData(list(names), [list(range(n_values))]*len(names), np.array(["n", "y"]), m, m, np.array(y), np.ones(len(y)))
    assert len(grow(tiny([0], [1]), **kw)) == 1                      # one row
    assert len(grow(tiny([0, 1], [1, 1]), **kw)) == 1                # one class
    assert len(grow(tiny([0, 0, 0], [1, 0, 1]), **kw)) == 1          # a constant column
    assert len(grow(tiny([0, 0], [1, 0], n_values=1), **kw)) == 1
    assert len(grow(tiny([-1, -1], [1, 0]), **kw)) == 1              # nothing but unknown values
    assert len(grow(tiny([0, 1], [1, 0], names=""), **kw)) == 1      # no attribute
    t = grow(tiny([0, 1, 1, -1], [0, 1, 1, 1]), **kw)                # a row without a branch stays at the node
    assert t.n.tolist() == [4, 1, 2] and tree_counts(t, [Members.exact(np.array([-1]), 2)]).tolist() == [[.25, .75]]
    twins = grow(tiny([0, 0, 1, 1], [0, 1, 0, 1]), **kw)             # gain 0: split all the same, as in the paper
    assert len(twins) == 3 and len(grow(tiny([0, 0, 1, 1], [0, 1, 0, 1]), min_gain=0, **kw)) == 1

def test_ties_go_to_the_first_attribute_and_the_first_class():
    m = [Members.exact(np.array([0, 1]), 2)]*2
    t = grow(TreeData(["a", "b"], [[0, 1]]*2, np.array(["n", "y"]), m, m, np.array([1, 0]), np.ones(2)))
    assert t.attribute[0] == 0 and t.majority(0) == 0

def test_bad_arguments(customers):
    with pytest.raises(ValueError, match="'order' must be 'level' or 'best'. Got 'depth'"): grow(customers, order="depth")
    none = TreeData(*(getattr(customers, o) for o in ("names", "values", "classes", "score", "route", "y")), np.zeros(14))
    with pytest.raises(ValueError, match="'data' must have at least one row"): grow(none)

# ---- allow and on_split

class Watch:
    "Refuses by a rule, and writes down what it was asked and told"
    def __init__(self, refuse): self.refuse, self.events = refuse, []
    def allow(self, node, attribute, rows):
        assert type(node) is int and type(attribute) is int
        ok = not self.refuse(node, attribute)
        self.events.append(("ask", node, attribute, rows.tolist(), ok))
        return ok
    def on_split(self, node, attribute, children, rows): self.events.append(("told", node, attribute, rows.tolist(), dict(children)))

@given(datas(weights=False), st.sampled_from(["level", "best"]), st.sets(st.tuples(st.integers(0, 6), st.integers(0, 3)), max_size=8))
def test_allow_and_on_split_protocol(d, order, refused):
    w = Watch(lambda node, attribute: (node, attribute) in refused)
    t = grow(d, allow=w.allow, on_split=w.on_split, order=order)
    asked = [o[1:3] for o in w.events if o[0] == "ask"]
    assert len(set(asked)) == len(asked)                                        # refused for good
    granted = [o[1:4] for o in w.events if o[0] == "ask" and o[4]]
    told = [o[1:4] for o in w.events if o[0] == "told"]
    assert granted == told                                                      # each split is told at once
    for e, nxt in zip(w.events, w.events[1:]): assert e[0] == "told" or not e[4] or nxt[0] == "told"
    assert {(n, a) for n, a, _ in told} == {(i, int(a)) for i, a in enumerate(t.attribute) if a >= 0}
    assert not refused & {(n, a) for n, a, _ in told}
    for _, node, attribute, rows, children in (o for o in w.events if o[0] == "told"):
        assert children == {int(t.code[k]): int(k) for k in t.children(node)}
        assert rows == sorted(set(rows)) and (d.route is d.score or len(rows) == round(t.n[node]))
    if order == "level": assert [n for n, *_ in told] == sorted(n for n, *_ in told)

def test_refusing_everything_leaves_a_leaf(customers):
    for order in ("level", "best"): assert len(grow(customers, allow=lambda *_: False, order=order)) == 1

def test_best_order_takes_the_largest_gain_of_all_open_nodes(customers):
    seen = []
    grow(customers, order="best", on_split=lambda node, *_: seen.append(node))
    assert seen == [0, 1, 2]            # then the women (0.971 bits), then the men (0.091)

def kadet(data, public, k):
    "The span test of kADET, Section 3.1"
    codes = [m.value[m.start[m.codes]] for m in data.score]
    spans = [(np.arange(len(data.y)), {0})]
    def allow(node, attribute, rows):
        return not public[attribute] or all(n == 0 or n >= k for people, nodes in spans if node in nodes for n in np.bincount(codes[attribute][people]))
    def on_split(node, attribute, children, rows):
        new = []
        for people, nodes in spans:
            if node not in nodes: new.append((people, nodes))
            elif not public[attribute]: new.append((people, nodes - {node} | set(children.values())))
            else: new += [(people[codes[attribute][people] == v], nodes - {node} | {children.get(v, node)}) for v in np.unique(codes[attribute][people])]
        spans[:] = new
    return grow(data, allow=allow, on_split=on_split, order="best", min_gain=1e-12), spans

def test_the_six_clients_of_kadet():
    clients = load_clients()
    data = table(clients, ["Marital Status", "Sports Car"], "Loan Risk")
    t, spans = kadet(data, [True, False], 3)
    assert tree_text(t) == "Sports Car = No: bad (3)\nSports Car = Yes\n|   Marital Status = Married: good (1)\n|   Marital Status = Unmarried: bad (2/1)"
    assert sorted(sorted(clients.index[p]) for p, _ in spans) == [["Anna", "Lisa", "Robert"], ["Ben", "John", "Laura"]]
    t, spans = kadet(data, [True, False], 4)
    assert tree_text(t) == "Sports Car = No: bad (3)\nSports Car = Yes: good (3/1)" and len(spans) == 1

@pytest.mark.parametrize("public, k, leaves, groups", [([1, 1], 2, [2, 3, 4, 5], [2, 3, 4, 5]), ([1, 1], 3, [4, 5, 5], [4, 5, 5]),
                                                       ([1, 1], 5, [5, 9], [5, 9]), ([1, 0], 5, [2, 3, 4, 5], [5, 9])])
def test_kadet_on_the_customers(customers, public, k, leaves, groups):
    t, spans = kadet(customers, public, k)
    assert sorted(t.n[t.attribute < 0].tolist()) == leaves and sorted(len(p) for p, _ in spans) == groups

@given(datas(exact=True, weights=False), st.integers(1, 4), st.lists(st.booleans(), min_size=4, max_size=4))
def test_span_populations_never_fall_below_k(d, k, public):
    t, spans = kadet(d, public, k)
    codes = [m.value[m.start[m.codes]] for m in d.score]
    def reach(i):                       # brute force: leaves and stops that some private values lead to
        res, todo = set(), [0]
        while todo:
            node = todo.pop(); a = t.attribute[node]
            if a < 0: res.add(node)
            elif public[a]:
                kid = int(t.child_of_code(node, codes[a][i]))
                if kid < 0: res.add((int(node), "stop"))
                else: todo.append(kid)
            else: todo += t.children(node).tolist()
        return frozenset(res)
    sizes = pd.Series([reach(i) for i in range(len(d.y))]).value_counts()
    assert sizes.min() >= min(k, len(d.y)) and sum(len(p) for p, _ in spans) == len(d.y)

def test_a_used_tree_is_pickled_like_a_new_one(customers):
    t = grow(customers)
    new = pickle.dumps(t)
    tree_counts(t, customers.score)
    assert pickle.dumps(t) == new and equal(pickle.loads(new), t) and tree_text(copy.deepcopy(t)) == tree_text(t)

# ---- asking

@given(datas())
def test_shares_sum_to_one_and_follow_the_branches(d):
    t = grow(d)
    p = tree_counts(t, d.score)
    assert np.allclose(p.sum(axis=1), 1) and (p >= 0).all()
    def walk(node, i, w):               # by hand
        a = t.attribute[node]
        if a < 0 or w < 1e-6: return w*t.counts[node]/t.n[node]
        m, res = d.score[a], np.zeros(len(d.classes))
        for v, x in zip(m.value[m.start[m.codes[i]]:m.start[m.codes[i]+1]], m.weight[m.start[m.codes[i]]:]):
            kid = next((k for k in t.children(node) if t.code[k] == v), None)
            res += w*x*t.counts[node]/t.n[node] if kid is None else walk(kid, i, w*x)
        return res
    assert np.allclose(p, [walk(0, i, 1.) for i in range(len(d.y))])

@given(datas(exact=True))
def test_exact_training_rows_reach_leaves(d):
    t = grow(d)
    p = tree_counts(t, d.score)
    leaves = (t.counts/t.n[:, None])[t.attribute < 0]
    assert all(np.isclose(leaves, o).all(axis=1).any() for o, w in zip(p, d.weight) if w > 0)

@given(datas())
def test_a_row_is_answered_alike_in_any_company(d):
    t = grow(d)
    p = tree_counts(t, d.score)
    for i in range(len(d.y)):
        assert np.array_equal(tree_counts(t, [Members(m.codes[[i]], m.start, m.value, m.weight) for m in d.score])[0], p[i])

def test_unknown_values_and_light_fragments(customers):
    t = grow(customers)
    one = [Members.exact(np.array([-1, 1, 0]), 2), Members.exact(np.array([0, -1, 0]), 2)]
    assert tree_counts(t, one).tolist() == [[.5, .5], [4/9, 5/9], [0, 1]]
    half = Members(np.array([0]), np.array([0, 2]), np.array([0, 1]), np.array([.5, .5]))
    assert np.allclose(tree_counts(t, [half, half], min_weight=.6), [[.5*.6 + .5*4/9, .5*.4 + .5*5/9]])
    assert tree_counts(t, [Members.exact(np.array([], dtype=int), 2)]*2).shape == (0, 2)

# ---- large and deep

def test_a_column_of_ten_thousand_values_needs_little_room():
    rng, n, sizes = np.random.default_rng(0), 20_000, [10_000, 4, 4, 4, 4]
    m = [Members.exact(rng.integers(0, v, n), v) for v in sizes]
    d = TreeData(list("abcde"), [list(range(v)) for v in sizes], np.arange(2), m, m, rng.integers(0, 2, n), np.ones(n))
    tracemalloc.start()
    last = grow(d, score=lambda t: -(t > 0).any(axis=-1).sum(axis=-1))     # the large column comes last
    peak = tracemalloc.get_traced_memory()[1]; tracemalloc.stop()
    assert last.attribute[0] == 1 and 0 in last.attribute and peak < 150e6
    assert np.allclose(tree_counts(last, m).sum(axis=1), 1)

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
