"""What a tree tells about people: spans against enumeration of all completions, attacks against
enumeration of all worlds.
"""

from dataclasses import replace
from itertools import permutations, product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppdt._textbook import _textbook_end, _textbook_span
from ppdt.c45 import C45Classifier, ID3Classifier
from ppdt.datasets import load_clients, load_customers
from ppdt.engine.model_audit import routed_counts
from ppdt.engine.model_domains import places_of
from ppdt.engine.span_search import (
    MOST_COMPLETIONS,
    _check_amount,
    _gather,
    _line_tries,
    _packed,
    any_left,
)
from ppdt.id3_sets import GeneralizedID3Classifier
from ppdt.models import audit_model, linking_attack, plot_spans, spans
from ppdt.tables import Interval
from ppdt.trees import LEAF, MULTIWAY, ONE_VALUE, THRESHOLD, Tree, tree_from_json, tree_json

CLIENTS = load_clients()
PUBLIC = ["Marital Status"]


def figure_1():
    return (
        GeneralizedID3Classifier()
        .fit(CLIENTS[["Sports Car", "Marital Status"]], CLIENTS["Loan Risk"])
        .tree_
    )


# ---------------------------------------------------------------- random trees

NUMBERS = [0.0, 1.0, 2.0, 3.0]  # values of numeric columns
CUTS = [0.5, 1.5, 2.5]
# a number of each piece that cuts and rules can make
LINE = [-1.0, 0.0, 0.25, 0.75, 1.0, 1.25, 1.75, 2.0, 2.25, 2.75, 3.0, 4.0]


@st.composite
def trees(draw, max_nodes=15, max_columns=4):
    """(Tree, kinds of its columns): multiway splits that may lack branches, one value against the
    rest, thresholds, tests that contradict each other
    """
    n_cols = draw(st.integers(1, max_columns))
    kinds = [draw(st.sampled_from(["category", "number"])) for _ in range(n_cols)]
    values = [
        ["<=", ">"] if k == "number" else list("abc")[: draw(st.integers(1, 3))] for k in kinds
    ]
    parent, code, attribute, kind, threshold, todo = [-1], [-1], [-1], [LEAF], [np.nan], [0]
    while todo and len(parent) < max_nodes:
        node = todo.pop(0)
        if node and draw(st.integers(0, 2)) == 0:
            continue
        j = draw(st.integers(0, n_cols - 1))
        if kinds[j] == "number":
            how, t, codes = THRESHOLD, draw(st.sampled_from(CUTS)), [0, 1]
        elif draw(st.booleans()):
            how, t, codes = ONE_VALUE, draw(st.integers(0, len(values[j]) - 1)), [0, 1]
        else:
            how, t, codes = (
                MULTIWAY,
                np.nan,
                sorted(draw(st.sets(st.integers(0, len(values[j]) - 1), min_size=1))),
            )
        attribute[node], kind[node], threshold[node] = j, how, t
        for c in codes:
            todo.append(len(parent))
            parent.append(node)
            code.append(c)
            attribute.append(-1)
            kind.append(LEAF)
            threshold.append(np.nan)
    n = len(parent)
    counts = np.ones((n, 2))
    return (
        Tree(
            np.array(parent),
            np.array(attribute),
            np.zeros(n, dtype=int),
            np.array(kind),
            np.array(threshold, dtype=float),
            np.array(code),
            counts,
            counts.sum(axis=1),
            [f"c{j}" for j in range(n_cols)],
            values,
            np.array(["no", "yes"], dtype=object),
        ),
        kinds,
    )


@st.composite
def cases(draw, max_columns=4):
    """A tree, people, and who knows what"""
    tree, kinds = draw(trees(max_columns=max_columns))
    full = [
        NUMBERS if k == "number" else v + draw(st.sampled_from([[], ["new"]]))
        for k, v in zip(kinds, tree.values)
    ]
    # the first has values that the tree knows: a column without any is refused
    known = [NUMBERS if k == "number" else v for k, v in zip(kinds, tree.values)]
    people = [draw(st.tuples(*map(st.sampled_from, known)))] + draw(
        st.lists(st.tuples(*map(st.sampled_from, full)), max_size=7)
    )
    X = pd.DataFrame(people, columns=tree.names)
    public = [o for o in tree.names if draw(st.booleans())]
    y = pd.Series(
        draw(st.lists(st.sampled_from(["no", "yes"]), min_size=len(X), max_size=len(X))),
        name="class",
    )
    return tree, dict(zip(tree.names, kinds)), X, public, y


def domain(tree, kinds, X, column, line=NUMBERS):
    """What a private column may be"""
    if kinds[column] == "number":
        return line
    return list(dict.fromkeys(list(tree.values[tree.names.index(column)]) + X[column].tolist()))


def enumerated(tree, kinds, X, public, y=None, possible=lambda person: True, line=NUMBERS):
    """The set of bins of each person, from all completions"""
    secrets = {o: domain(tree, kinds, X, o, line) for o in tree.names if o not in public}
    res = []
    for i, row in enumerate(X.to_dict("records")):
        bins = _textbook_span(tree, {o: row[o] for o in public}, secrets, possible)
        res.append(frozenset(b for b in bins if y is None or b[1] == y[i]))
    return res


def check(s, bins):
    """Spans equal what was enumerated: ends, numbers of bins, groups and their sizes"""
    ends = [{e for e, _ in b} for b in bins]
    assert [set(s.ends_of(i)) for i in s.row] == ends
    assert [int(s.bins[i]) for i in s.row] == [len(b) for b in bins]
    assert [int(s.populations[i]) for i in s.row] == [bins.count(b) for b in bins]
    assert s.populations.sum() == len(bins) and sorted(set(s.row.tolist())) == list(range(len(s)))
    for i in range(len(s)):
        assert s.people(i) == [j for j, r in enumerate(s.row) if r == i]


@one_in(2)
@given(cases())
def test_spans_are_what_all_completions_reach(case):
    tree, kinds, X, public, y = case
    check(spans(tree, X, public), enumerated(tree, kinds, X, public))
    check(spans(tree, X, [*public, "class"], y=y), enumerated(tree, kinds, X, public, y))


@one_in(2)
@given(cases())
def test_pairs_are_what_is_reached(case):
    tree, kinds, X, public, y = case
    for s in (spans(tree, X, public), spans(tree, X, [*public, "class"], y=y)):
        for i in (slice(None), slice(1, None), slice(0, 1)):
            assert [o.tolist() for o in s.pairs(i)] == [o.tolist() for o in np.nonzero(s.reach(i))]


def sent_branch_by_branch(s, X, codes, k):
    """People of each node: the weight of each person at each node, from that at its parent"""
    t, g = s.tree, s.regions
    w, res = {0: np.ones(len(X))}, np.zeros((len(t), k))
    for i in range(len(t)):
        if i:
            (c, b), p = g.branches[i], t.parent[i]
            at, n = places_of(g.domains[c], X[g.domains[c].name]), t.n[t.parent == p].sum()
            w[i] = w[p] * np.where(at < 0, t.n[i] / n if n > 0 else 0.0, b[at])
        res[i] = np.bincount(codes, w[i], minlength=k)
    return res


@one_in(5)
@given(cases(), st.data())
def test_people_are_sent_down_as_the_tree_sends_them(case, data):
    tree, kinds, X, public, y = case
    n = np.array(
        data.draw(st.lists(st.integers(0, 3), min_size=len(tree), max_size=len(tree))), dtype=float
    )
    tree = replace(tree, counts=np.stack([n, n], axis=1), n=2 * n)
    s, Z = spans(tree, X, public), X.copy()
    for o in X:
        lost = data.draw(st.lists(st.booleans(), min_size=len(X), max_size=len(X)))
        Z[o] = X[o].where(~np.array(lost)) if data.draw(st.booleans()) else X[o]
    for table in (X, Z):
        if any(table[o].isna().all() for o in table):
            continue
        assert np.allclose(
            routed_counts(s, table, (y == "yes").to_numpy().astype(int)),
            sent_branch_by_branch(s, table, (y == "yes").to_numpy().astype(int), 2),
        )
        assert np.allclose(
            routed_counts(s, table, None),
            sent_branch_by_branch(s, table, np.zeros(len(X), dtype=int), 1),
        )


@st.composite
def ruled_cases(draw):
    tree, kinds, X, public, y = draw(cases(max_columns=3))

    def value(o):
        if kinds[o] == "number":
            lo, hi = sorted(draw(st.tuples(st.sampled_from(NUMBERS), st.sampled_from(NUMBERS))))
            return Interval(lo, hi) if lo < hi else lo
        some = draw(
            st.lists(
                st.sampled_from(NUMBERS if kinds[o] == "number" else domain(tree, kinds, X, o)),
                min_size=1,
                unique=True,
            )
        )
        return some if len(some) > 1 else some[0]

    rules = [
        {
            o: value(o)
            for o in draw(
                st.lists(st.sampled_from(tree.names), min_size=1, max_size=3, unique=True)
            )
        }
        for _ in range(draw(st.integers(1, 4)))
    ]
    return tree, kinds, X, public, rules


def meets(row, rule):
    def one(v, w):
        return (
            w.lo <= v <= w.hi
            if isinstance(w, Interval)
            else v in w
            if isinstance(w, list)
            else v == w
        )

    return all(one(row[o], w) for o, w in rule.items())


@one_in(2)
@given(ruled_cases())
def test_impossible_combinations_are_left_out(case):
    """Rules as dicts, and the same as a function, equal enumeration; numbers are tried at the
    values of the table
    """
    tree, kinds, X, public, rules = case
    asked = {tree.names[j] for j in tree.attribute if j >= 0} | {o for r in rules for o in r}

    def possible(person):
        return not any(meets(person, r) for r in rules)

    bins = enumerated(tree, kinds, X, public, possible=possible, line=LINE)

    def function(t):
        return np.array([not possible(row) for row in t.to_dict("records")])

    if not all(bins):
        with pytest.raises(ValueError, match="must leave every person a possibility"):
            spans(tree, X, public, impossible=rules)
        return
    check(spans(tree, X, public, impossible=rules), bins)
    hidden = [o for o in asked if o not in public]
    if all(kinds[o] == "category" for o in hidden) and not any(
        {o for r in rules for o in r}
        - set(public)
        - {tree.names[j] for j in tree.attribute if j >= 0}
    ):
        check(spans(tree, X, public, impossible=function), bins)


@given(st.data())
def test_boxes_without_boxes(data):
    """Is anything left of a box? Against all its points"""
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))

    def mask(n):
        return np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)

    box = {c: mask(n) for c, n in enumerate(sizes)}
    if not all(m.any() for m in box.values()):
        return
    cut = [
        {c: mask(sizes[c]) for c in data.draw(st.sets(st.integers(0, len(sizes) - 1)))}
        for _ in range(data.draw(st.integers(0, 4)))
    ]

    def inside(p, b):
        return all(m[p[c]] for c, m in b.items())

    assert any_left(box, cut) == any(
        inside(p, box) and not any(inside(p, f) for f in cut) for p in product(*map(range, sizes))
    )


def test_ends_by_portions():
    """Millions of ends are looked up for some at a time: here for 2 values, then for 16 people"""
    n_ends = 17_000_000
    # values 0 and 2 lead to the ends of the first region, value 1 to those of the second
    masks = np.array([[True, False, True], [False, True, False]])
    region = np.zeros((n_ends, 1), dtype=np.int8)
    region[1] = 1
    g = SimpleNamespace(masks={0: masks}, region=region, ends=range(n_ends))
    table, at = _packed(g, 0, np.array([2, 0, 1, 2]))
    assert at.tolist() == [2, 0, 1, 2] and table.shape == (3, n_ends // 8)
    assert table[:, :2].tolist() == [[191, 255], [64, 0], [191, 255]]
    width = 2**21
    alive = np.ones((2, width * 8), dtype=bool)
    alive[1] = False
    asked = np.zeros((2, width), dtype=np.uint8)
    asked[:, 0] = 1, 2
    pattern = np.array([0] * 15 + [1, 1, 0, 0])
    value = np.array([0] * 14 + [1, 0, 1, 1, 0])
    sets, number = _gather(alive, pattern, [(asked, value)], 19)
    assert number.tolist() == [0] * 14 + [1, 2, 2, 1, 0]
    assert sets[:, 0].tolist() == [1, 2, 0] and not sets[:, 1:].any()


def test_what_a_function_is_asked_about():
    """A number of each piece of a line; completions and their ends up to the limit"""
    assert _line_tries(SimpleNamespace(cuts=np.array([1.0, 2.0, 4.0]))) == [1.0, 1.5, 3.0, 5.0]
    assert _line_tries(SimpleNamespace(cuts=np.array([]))) == [0.0]
    half = MOST_COMPLETIONS // 2
    _check_amount(2, half, 50)
    for much in ((2, half + 1, 1), (1, half, 51)):
        with pytest.raises(ValueError, match="too many to ask about"):
            _check_amount(*much)


@one_in(2)
@given(cases(), st.randoms(use_true_random=False))
def test_order_of_people_does_not_matter(case, rnd):
    tree, kinds, X, public, y = case
    order = list(range(len(X)))
    rnd.shuffle(order)
    a, b = (
        spans(tree, X, [*public, "class"], y=y),
        spans(tree, X.iloc[order], [*public, "class"], y=y.iloc[order]),
    )
    assert a.row[order].tolist() == b.row.tolist() and a.packed.tolist() == b.packed.tolist()


# ---------------------------------------------------------------- scikit-learn


@st.composite
def tables(draw):
    n = draw(st.integers(4, 12))
    col = lambda v: draw(st.lists(st.sampled_from(v), min_size=n, max_size=n))
    X = pd.DataFrame(
        {
            "sex": col(["F", "M"]),
            "job": col(["x", "y", "z"]),
            "age": col([20, 30, 40.1]),
            "flag": col([0, 1]),
        }
    )
    y = pd.Series(col(["no", "yes"]), index=X.index)
    return X, y, [o for o in X.columns if draw(st.booleans())]


def applied(clf, X, public, full, transform=lambda t: t):
    """Leaves of each person in all completions, asked of scikit-learn; `full` lists the values of
    each column
    """
    rows = list(product(*[full[o] for o in X.columns]))
    # keeps None
    t = pd.DataFrame(
        {
            o: pd.Series([r[i] for r in rows], dtype=object if X[o].dtype == object else None)
            for i, o in enumerate(X.columns)
        }
    )
    leaf = clf.apply(transform(t))
    return [
        frozenset(
            (int(e), c)
            for e in set(leaf[np.all([t[o] == row[o] for o in public] or [leaf >= 0], axis=0)])
            for c in clf.classes_
        )
        for row in X.to_dict("records")
    ]


@one_in(5)
@given(tables(), st.sampled_from([None, "first", "if_binary"]), st.booleans())
def test_sklearn_trees(table, drop, pipeline):
    X, y, public = table
    ct = make_column_transformer(
        (OneHotEncoder(drop=drop, sparse_output=False), ["job", "sex"]), remainder="passthrough"
    )
    pipe = make_pipeline(ct, DecisionTreeClassifier(random_state=0)).fit(X, y)
    clf = pipe[-1]
    s = spans(pipe, X, public) if pipeline else spans(clf, X, public, columns=ct)
    full = {
        "sex": sorted(set(X.sex)),
        "job": sorted(set(X.job)),
        "age": [20, 30, 35, 40.1],
        "flag": [0, 1],
    }
    check(s, applied(clf, X, public, full, ct.transform))
    names = dict(zip(range(clf.n_features_in_), ct.get_feature_names_out()))
    byhand = {
        f"x{i}": (
            (o.split("__")[1].split("_")[0], o.rsplit("_", 1)[1])
            if o.startswith("onehot")
            else o.split("__")[1]
        )
        for i, o in names.items()
    }
    assert spans(clf, X, public, columns=byhand).row.tolist() == s.row.tolist()


@one_in(3)
@given(tables())
def test_sklearn_trees_on_plain_numbers(table):
    X, y, public = table
    Z = X.assign(sex=(X.sex == "M").astype(float), job=X.job.map({"x": 0.0, "y": 1.0, "z": 2.0}))
    clf = DecisionTreeClassifier(random_state=0).fit(Z, y)
    full = {"sex": [0.0, 1.0], "job": [0.0, 1.0, 2.0], "age": [20, 30, 35, 40.1], "flag": [0, 1]}
    bins = applied(clf, Z, public, full)
    check(spans(clf, Z, public), bins)
    # the same tree, asked through the encoder
    if set(X.sex) == {"F", "M"} and set(X.job) == {"x", "y", "z"}:
        ct = make_column_transformer((OrdinalEncoder(), ["sex", "job"]), remainder="passthrough")
        pipe = make_pipeline(ct, DecisionTreeClassifier(random_state=0)).fit(X, y)
        check(spans(pipe, X, public), bins)


# ---------------------------------------------------------------- the attack


def worlds(s, counts):
    """All ways to put people into the places of the tree that agree with its counts, by ends"""
    bag = [e for e, n in zip(s.ends.tolist(), counts) for _ in range(n)]
    return {o for o in permutations(bag) if all(e in s.ends_of(i) for e, i in zip(o, s.row))}


@one_in(4)
@given(st.data())
def test_attack_against_all_worlds(data):
    """What is certain, possible and excluded equals enumeration of all worlds"""
    tree, kinds = data.draw(trees(max_nodes=9))
    full = [NUMBERS if k == "number" else v for k, v in zip(kinds, tree.values)]
    X = pd.DataFrame(
        data.draw(st.lists(st.tuples(*map(st.sampled_from, full)), min_size=1, max_size=6)),
        columns=tree.names,
    )
    y = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(X), max_size=len(X))))
    public = [o for o in tree.names if data.draw(st.booleans())]
    counts = np.zeros(tree.counts.shape)
    for row, c in zip(X.to_dict("records"), y):
        node = _textbook_end(tree, row)
        while node >= 0:
            counts[node, c] += 1
            node = tree.parent[node]
    t = Tree(
        *[getattr(tree, o) for o in ("parent", "attribute", "level", "kind", "threshold", "code")],
        counts,
        counts.sum(axis=1),
        tree.names,
        tree.values,
        tree.classes,
    )
    a = linking_attack(t, X, public)
    s, at = a.spans, {e: i for i, e in enumerate(a.spans.ends.tolist())}
    own = counts[s.ends] - np.array(
        [counts[t.children(e)].sum(axis=0) if t.attribute[e] >= 0 else np.zeros(2) for e in s.ends]
    )
    all_ = worlds(s, own.sum(axis=1).astype(int))
    seen = np.zeros((len(s), len(s.ends)), dtype=bool)
    for w in all_:
        seen[s.row, [at[e] for e in w]] = True
    assert a.fits and all_
    span, store, people = a.pairs
    got = np.zeros_like(seen)
    got[span, store] = True
    assert got.tolist() == seen.tolist()
    possible = np.array([[(own[r, c] > 0).any() for c in range(2)] for r in seen])
    assert a.possible.tolist() == possible.tolist()
    assert a.certain == sum(possible[i].sum() == 1 for i in s.row)
    assert np.allclose(np.bincount(span, people, minlength=len(s)), s.populations, atol=1e-3)
    assert np.allclose(a.share.sum(axis=1), 1, atol=1e-3)
    codes = pd.Series(np.array(["no", "yes"], dtype=object)[y], name="class")
    b = linking_attack(t, X, [*public, "class"], y=codes)
    assert b.fits and b.share is None and b.k <= a.k
    for o in s.private:
        assert np.allclose(a.values(o).sum(axis=1), 1, atol=1e-3)


@one_in(3)
@given(cases())
def test_audit_counts_what_is_there(case):
    tree, kinds, X, public, y = case
    a = audit_model(tree, X, public, y=y)
    bins = enumerated(tree, kinds, X, public)
    groups = [y[[i for i, o in enumerate(bins) if o == b]] for b in set(bins)]
    assert (
        a.k == min(map(len, groups)) and sum(a.populations) == len(X) and a.n_spans == len(groups)
    )
    assert np.isclose(a.exposed, sum(len(g) for g in groups if g.nunique() == 1) / len(X))
    assert np.isclose(a.confidence, max(g.value_counts().iloc[0] / len(g) for g in groups))
    h = [-(p * np.log2(p)).sum() for p in (g.value_counts(normalize=True) for g in groups)]
    assert np.isclose(a.l_entropy, 2 ** min(h))
    assert a.holds(a.k, l=a.l_entropy, confidence=a.confidence) and not a.holds(a.k + 1)
    assert len(str(a).splitlines()) < 20 and str(a.k) in a._repr_html_()


# ---------------------------------------------------------------- examples


def test_table_1_and_figure_1():
    a = audit_model(figure_1(), CLIENTS, PUBLIC, y="Loan Risk")
    assert [set(a.spans.people(i)) for i in range(2)] == [
        {"John", "Ben", "Laura"},
        {"Lisa", "Robert", "Anna"},
    ]
    assert (a.k, a.bins, a.exposed, a.holds(3), a.holds(4)) == (3, (4, 4), 0, True, False)
    assert (
        a.confidence == pytest.approx(2 / 3)
        and a.certain_published == 0
        and a.confidence_published == pytest.approx(2 / 3)
    )


def test_public_class():
    one = (
        GeneralizedID3Classifier(max_depth=1)
        .fit(CLIENTS[["Sports Car", "Marital Status"]], CLIENTS["Loan Risk"])
        .tree_
    )
    known = PUBLIC + ["Loan Risk"]
    a = audit_model(one, CLIENTS, known, y="Loan Risk")
    assert {frozenset(a.spans.people(i)) for i in range(2)} == {
        frozenset({"Lisa", "John"}),
        frozenset({"Ben", "Laura", "Robert", "Anna"}),
    }
    assert a.k == 2 and a.exposed is None and a.class_public and a.bins == (2, 2)
    # Lisa and John fall apart
    assert audit_model(figure_1(), CLIENTS, known, y="Loan Risk").k == 1


RUNNING = {("Gender", "Marital"): [2, 3, 4, 5], ("Gender",): [5, 9], ("Marital",): [7, 7]}


@pytest.mark.parametrize("public", RUNNING, ids=" ".join)
def test_running_example(public):
    c = load_customers()
    t = ID3Classifier().fit(c[["Gender", "Marital"]], c.Bought)
    assert sorted(audit_model(t, c, list(public), y="Bought").populations) == RUNNING[public]


@pytest.mark.parametrize("share, bits, l", [(0.85, 0.609840305, 1.526090273)])
def test_confidence_of_two_classes(share, bits, l):
    h = -(share * np.log2(share) + (1 - share) * np.log2(1 - share))
    assert h == pytest.approx(bits, abs=1e-9) and 2**h == pytest.approx(l, abs=1e-9)


def test_all_private_is_one_span():
    assert len(spans(figure_1(), CLIENTS, [])) == 1
    # all public: the leaves
    assert len(spans(figure_1(), CLIENTS[["Sports Car", "Marital Status"]])) == 3


def test_c45_with_pruning_and_missing_private_values():
    c = load_customers()
    t = c.assign(Age=c.Age.astype(float))
    t.loc[[2, 7], "Age"] = np.nan
    clf = C45Classifier(prune=False).fit(t[["Gender", "Marital", "Age"]], t.Bought)
    a = audit_model(clf, t, ["Gender", "Marital"], y="Bought")
    assert a.k >= 1 and sum(a.populations) == 14
    with pytest.raises(ValueError, match="Public column 'Age' must have no missing values.*Got 2"):
        audit_model(clf, t, ["Age"])


def test_dates():
    t = pd.DataFrame(
        {
            "born": pd.to_datetime(["1970-01-01", "1980-06-01", "1990-01-01", "2000-01-01"] * 3),
            "sex": list("FFMFMMFMFMMF"),
        }
    )
    y = pd.Series((t.born > "1985").map({True: "young", False: "old"}), name="who")
    clf = C45Classifier().fit(t, y)
    assert audit_model(clf, t, ["born"], y=y).populations == (6, 6)
    assert audit_model(clf, t, ["sex"], y=y).populations == (12,)
    assert (
        len(
            spans(
                clf,
                t,
                ["sex"],
                impossible=lambda o: (o.sex == "F") & (o.born > pd.Timestamp("1985-01-01")),
            )
        )
        == 2
    )


@pytest.mark.parametrize("thresholds", ["midpoint", "data"])
def test_a_date_at_a_threshold(thresholds):
    t = pd.DataFrame({"born": pd.date_range("2024-02-20", periods=20), "sex": list("fm") * 10})
    y = pd.Series(["a"] * 11 + ["b"] * 9)
    clf = C45Classifier(thresholds=thresholds).fit(t, y)
    a = audit_model(clf, t, ["born"], y=y)
    assert a.populations == (11, 9) and a.certain_published == 20
    private = linking_attack(clf, t, ["sex"])
    assert private.values("born").columns.tolist() == [
        "<= 2024-03-01" + " 12:00" * (thresholds == "midpoint"),
        "> 2024-03-01" + " 12:00" * (thresholds == "midpoint"),
    ]


def test_a_tree_read_back_without_counts():
    t = tree_from_json(tree_json(figure_1()))
    a = audit_model(t, CLIENTS, PUBLIC, y="Loan Risk")
    assert (
        a.k == 3
        and a.confidence_published is None
        and "the tree comes without counts" in a.warnings[0]
    )
    assert not linking_attack(t, CLIENTS, PUBLIC).fits and "the tree comes without counts" in str(
        linking_attack(t, CLIENTS, PUBLIC)
    )
    with pytest.raises(ValueError, match="counts of the tree must be those of these people"):
        linking_attack(t, CLIENTS, PUBLIC).values("Sports Car")


def test_rules_of_other_columns():
    """A rule may name a column that the tree does not ask for"""
    t = CLIENTS.assign(City=["N", "N", "S", "S", "S", "N"])
    rule = [{"City": "N", "Sports Car": "No"}]
    a = spans(figure_1(), t, ["Marital Status", "City"], impossible=rule)
    assert sorted(map(sorted, (a.people(i) for i in range(len(a))))) == [
        ["Anna", "Lisa"],
        ["Ben", "Laura"],
        ["John"],
        ["Robert"],
    ]
    asked = spans(
        figure_1(),
        t,
        ["Marital Status", "City"],
        impossible=lambda o: ((o.City == "N") & (o["Sports Car"] == "No")).to_numpy(),
    )
    assert asked.row.tolist() == a.row.tolist() and asked.bins.tolist() == a.bins.tolist()
    # the city is private: another city is possible
    assert len(spans(figure_1(), t, PUBLIC, impossible=rule)) == 2
    # and so is one that nobody named
    assert len(spans(figure_1(), CLIENTS, PUBLIC, private=["City"], impossible=rule)) == 2
    with pytest.raises(ValueError, match="none named 'City'"):
        spans(figure_1(), CLIENTS, PUBLIC, impossible=rule)
    assert "2 people" not in str(audit_model(figure_1(), t, PUBLIC, impossible=rule))
    one = GeneralizedID3Classifier(max_depth=1).fit(
        CLIENTS[["Sports Car", "Marital Status"]], CLIENTS["Loan Risk"]
    )
    # the tree names Unmarried, though it does not ask
    assert (
        len(spans(one, CLIENTS.loc[["John"]], [], impossible=[{"Marital Status": "Married"}])) == 1
    )
    assert "1 people have a combination" in str(audit_model(figure_1(), t, PUBLIC, impossible=rule))


def test_values_of_a_private_column():
    a = linking_attack(figure_1(), CLIENTS, PUBLIC)
    assert np.allclose(a.values("Sports Car").to_numpy(), [[2 / 3, 1 / 3], [1 / 3, 2 / 3]])
    assert (
        a.table().loc["Ben"].tolist() == pytest.approx([0, 3, 2 / 3, 1 / 3])
        and "3" in a._repr_html_()
    )
    with pytest.raises(ValueError, match="'column' must be a private column"):
        a.values("Marital Status")


def test_pictures():
    import matplotlib.pyplot as plt

    a = audit_model(figure_1(), CLIENTS, PUBLIC, y="Loan Risk")
    for o in (a, a.spans, linking_attack(figure_1(), CLIENTS, PUBLIC)):
        assert len(plot_spans(o).patches) == 2 + 2 * 3
    known = spans(figure_1(), CLIENTS, PUBLIC + ["Loan Risk"], y="Loan Risk")
    assert len(plot_spans(known, max_spans=3, counts=False).patches) == 2 + 3 * 3
    clf = DecisionTreeClassifier(max_depth=2).fit(
        load_customers()[["Age"]], load_customers().Bought
    )
    plot_spans(spans(clf, load_customers()[["Age"]], []), ax=plt.figure(figsize=(9, 4)).subplots())
    with pytest.raises(TypeError, match="'found' must be"):
        plot_spans(figure_1())
    plt.close("all")


def test_classes_of_all_kinds():
    X, codes = CLIENTS[PUBLIC], np.array([0, 0, 1, 1, 1, 1])
    Z = pd.DataFrame({"m": (X == "Married").to_numpy()[:, 0].astype(int)})
    for y in (
        codes,
        codes == 1,
        codes.astype(float),
        codes.astype(str),
        pd.Series(codes, name="c"),
        pd.Series(codes.astype(str)).astype(pd.CategoricalDtype(["2", "1", "0"])),
    ):
        clf = DecisionTreeClassifier().fit(Z, y)
        assert audit_model(clf, Z, ["m"], y=y).class_counts.tolist() in (
            [[1, 2], [1, 2]],
            [[2, 1], [2, 1]],
        )
        assert len(spans(clf, Z, ["m", "c"], y=pd.Series(y, name="c"))) == 4


def test_values_that_the_tree_does_not_know():
    t = CLIENTS.assign(**{"Marital Status": ["Widowed", *CLIENTS["Marital Status"][1:]]})
    a = audit_model(figure_1(), t, PUBLIC, y="Loan Risk")
    assert (
        "1 people have a value of Marital Status that the tree does not know, such as 'Widowed'"
        in a.warnings
    )
    # stops at the node that asks
    assert a.k == 1 and set(a.spans.ends_of(a.spans.row[0])) == {1, 2}


def test_too_many_to_distribute(monkeypatch):
    import ppdt.engine.span_search
    import ppdt.models

    monkeypatch.setattr(ppdt.models, "_MOST_PAIRS", 3)
    with pytest.raises(ValueError, match="4 pairs of a group and a place are too many"):
        linking_attack(figure_1(), CLIENTS, PUBLIC)
    a = audit_model(figure_1(), CLIENTS, PUBLIC, y="Loan Risk")
    assert a.k == 3 and a.confidence_published is None and "too many" in a.warnings[0]
    monkeypatch.setattr(ppdt.engine.span_search, "MOST_COMPLETIONS", 3)
    with pytest.raises(ValueError, match="'impossible' must be a list of dicts here"):
        spans(figure_1(), CLIENTS, PUBLIC, impossible=lambda t: t["Sports Car"] == "No")


def test_adult(data_dir):
    """A tree of thousands of leaves on 30,162 people: in seconds, and spans equal those of single
    people
    """
    from ppdt.datasets import fetch_adult

    adult = fetch_adult(complete=True).drop(columns=["fnlwgt"])
    y = adult.pop("income")
    numbers = adult.select_dtypes("number")
    clf = DecisionTreeClassifier(random_state=0).fit(numbers, y)
    s = spans(clf, numbers, ["age", "education-num"])
    assert clf.get_n_leaves() > 1000 and s.populations.sum() == len(adult)
    first = numbers.drop_duplicates(["age", "education-num"])[:20]
    alone = spans(clf, first, ["age", "education-num"])
    assert [s.ends_of(s.row[i]) for i in numbers.index.get_indexer(first.index)] == [
        alone.ends_of(i) for i in alone.row
    ]


# ---------------------------------------------------------------- names, types and other people


def many(n=40, seed=0):
    """People with two numbers and two categories, and a class that depends on all"""
    rng = np.random.default_rng(seed)
    t = pd.DataFrame(
        {
            "zip": rng.integers(10, 30, n),
            "age": rng.integers(20, 60, n),
            "job": rng.choice(list("pqr"), n),
            "sex": rng.choice(["F", "M"], n),
        }
    )
    return t, pd.Series(
        np.where(
            (t.zip * 7 + t.age * 3 + (t.job == "p") * 5 + (t.sex == "F") * 4) % 10 < 5, "no", "yes"
        ),
        name="loan",
    )


def warned(a, text):
    return any(text in o for o in a.warnings)


def test_trees_learnt_from_arrays_are_matched_by_position():
    """scikit-learn, its encoders and our own trees: the same as with names, never a private x0"""
    t, y = many()
    A, W = t[["zip", "age"]], t[["job", "sex"]]
    for Z, make, raw in (
        (A, DecisionTreeClassifier, A),
        (W, lambda: make_pipeline(OneHotEncoder(sparse_output=False), DecisionTreeClassifier()), W),
        (W, ID3Classifier, W),
        (A, C45Classifier, A),
        (
            t,
            lambda: make_pipeline(
                make_column_transformer(
                    (OneHotEncoder(sparse_output=False), [2, 3]), remainder="passthrough"
                ),
                DecisionTreeClassifier(),
            ),
            t,
        ),
    ):
        named = make() if make is not DecisionTreeClassifier else make(random_state=0)
        if hasattr(named, "steps"):
            named.steps[-1][1].set_params(random_state=0)
        from sklearn.base import clone

        bare = clone(named).fit(Z.to_numpy(), y.to_numpy())
        if Z is t:
            named = make_pipeline(
                make_column_transformer(
                    (OneHotEncoder(sparse_output=False), ["job", "sex"]), remainder="passthrough"
                ),
                DecisionTreeClassifier(random_state=0),
            )
        named.fit(Z, y)
        for public in ([Z.columns[0]], list(Z.columns)):
            a, b = audit_model(bare, raw, public, y=y), audit_model(named, raw, public, y=y)
            assert (a.populations, a.public, a.private, a.certain_published) == (
                b.populations,
                b.public,
                b.private,
                b.certain_published,
            )
            if a.public or a.private:
                assert warned(a, "taken in their order") and not warned(b, "taken in their order")


def test_columns_that_the_table_lacks():
    t, y = many()
    bare, named = (
        DecisionTreeClassifier(random_state=0).fit(t[["zip", "age"]].to_numpy(), y),
        DecisionTreeClassifier(random_state=0).fit(t[["zip", "age"]], y),
    )
    by_hand = audit_model(bare, t, ["zip"], y=y, columns={"x0": "zip", "x1": "age"})
    assert by_hand.populations == audit_model(
        named, t, ["zip"], y=y
    ).populations and by_hand.public == ("zip",)
    for model, lost in (
        (bare, "x0"),
        (named, "age"),
        (ID3Classifier().fit(t[["job", "sex"]], y), "job"),
        (ID3Classifier().fit(t[["job", "sex"]].to_numpy(), y), "x0"),
    ):
        X = t if lost == "x0" else t[["zip", "sex"]]
        with pytest.raises(ValueError, match=f"none named '{lost}'.*private="):
            spans(model, X, ["zip"])
        assert (
            "say what each feature is, columns={'x0': 'zip'"
            in str(pytest.raises(ValueError, spans, model, X, ["zip"]).value)
        ) == (model is bare)
    assert len(spans(named, t[["zip"]], ["zip"], private=["age"])) == len(spans(named, t, ["zip"]))
    with pytest.raises(ValueError, match="'private' must hold no public columns. Got 'zip'"):
        spans(named, t, ["zip"], private=["zip"])
    with pytest.raises(ValueError, match="'private' must name columns"):
        spans(named, t, ["zip"], private=["agee"])
    assert spans(named, t, private=["age"]).public == ("zip",)
    with pytest.raises(ValueError, match="no numbers in column 'job', which would be x0.*columns="):
        spans(bare, t[["job", "age"]], ["age"])
    assert warned(audit_model(named, t, ["sex"], y=y), "asks for no public column") and not warned(
        audit_model(named, t, [], y=y), "asks for no public column"
    )


def test_a_public_class_under_any_name():
    known, t = PUBLIC + ["Loan Risk"], CLIENTS
    y = t["Loan Risk"]
    for c in (None, "Loan Risk", y, y.to_numpy(), y.tolist(), y.rename("risk"), y.rename(None)):
        assert audit_model(figure_1(), t, known, y=c).k == 1
    for c in ("Loan Risk", y, y.to_numpy()):
        assert audit_model(figure_1(), t, PUBLIC, y=c, class_public=True).k == 1
    assert audit_model(figure_1(), t, PUBLIC, class_public=True).k == 1
    assert warned(audit_model(figure_1(), t, known), "Loan Risk was taken for the class")
    assert audit_model(figure_1(), t, known, class_public=False).k == 3
    assert warned(
        audit_model(figure_1(), t),
        "Loan Risk holds the classes of the tree and was not taken for public",
    )
    X = t.drop(columns="Loan Risk")
    for c in (None, y.to_numpy(), y.rename("risk")):
        with pytest.raises(
            ValueError,
            match=(
                "'public' must name columns of the table. Got 'Loan Risk'.*If it is the class,"
                " give y="
            ),
        ):
            spans(figure_1(), X, known, y=c)
    with pytest.raises(ValueError, match="'y' must be given when the class is public"):
        spans(figure_1(), X, PUBLIC, class_public=True)
    with pytest.raises(
        ValueError,
        match="'y' must be given when several columns may be the class.*Loan Risk, Other",
    ):
        spans(figure_1(), t.assign(Other=y), known + ["Other"])
    with pytest.raises(ValueError, match="'public' must not name a class that is private"):
        spans(figure_1(), t, known, y="Loan Risk", class_public=False)
    with pytest.raises(ValueError, match="'class_public' must be True, False or None. Got 'yes'"):
        spans(figure_1(), t, PUBLIC, class_public="yes")
    renamed = t.assign(Refused=(y == "bad").astype(int))
    assert warned(
        audit_model(figure_1(), renamed, PUBLIC + ["Refused"], y="Loan Risk"),
        "the public Refused tells the class",
    )
    assert (
        audit_model(
            figure_1(), t.assign(lists=[[1]] * 6), y=y.to_numpy(), public=PUBLIC + ["lists"]
        ).k
        == 3
    )
    t2, y2 = many()
    tree = DecisionTreeClassifier(random_state=0).fit(t2[["zip", "age"]], y2)
    assert warned(
        audit_model(tree, t2.assign(refused=(y2 == "no")), ["zip", "refused"], y=y2),
        "the public refused tells the class",
    )


def test_public_columns_that_tell_private_ones():
    t, y = many(200)
    t["edu"] = pd.Series(np.random.default_rng(1).choice(list("abcde"), 200))
    t["edunum"] = t.edu.map({c: i for i, c in enumerate("abcde")})

    def audit(Z, public, **o):
        return audit_model(
            DecisionTreeClassifier(random_state=0).fit(Z, y),
            pd.concat([Z, t[[c for c in t if c not in Z]]], axis=1),
            public,
            y=y,
            **o,
        )

    assert warned(
        audit(t[["edunum", "age"]], ["edu"]),
        "whoever knows edu, which is public, can know what the tree asks of edunum",
    )
    assert not warned(audit(t[["edunum", "age"]], ["sex"]), "edunum")
    dummies = pd.get_dummies(t[["sex", "job"]]).astype(int)
    assert warned(
        audit(dummies[["sex_M", "job_p"]].assign(age=t.age), ["sex"]), "whoever knows sex"
    )
    model = DecisionTreeClassifier(random_state=0).fit(
        dummies.drop(columns=["sex_F", "job_q"]).assign(age=t.age), y
    )
    X = dummies.assign(age=t.age)
    assert warned(
        audit_model(model, X, ["sex_F"], y=y),
        "sex_M, which the tree asks for, seems to be an indicator of the same column as the public"
        " sex_F",
    )
    assert warned(
        audit_model(model, X, ["job_q"], y=y),
        "job_p, which the tree asks for, seems to be an indicator",
    )
    by_hand = {"sex_M": ("sex", "M"), "job_p": ("job", "p"), "job_r": ("job", "r")}
    assert not warned(
        audit_model(model, t, ["sex"], y=y, columns=by_hand), "indicator"
    ) and audit_model(model, t, ["sex"], y=y, columns=by_hand).public == ("sex",)
    town = t.zip // 10
    assert warned(
        (
            audit(t[["zip", "age"]], ["town"])
            if False
            else audit_model(
                DecisionTreeClassifier(random_state=0).fit(t[["zip", "age"]], y),
                t.assign(town=town),
                ["town"],
                y=y,
            )
        ),
        "each value of zip goes with one of town, which is public",
    )
    t["a"], t["b"] = np.random.default_rng(2).integers(0, 2, (2, 200))
    t["both"] = t.a ^ t.b
    assert warned(
        audit(t[["both", "age"]], ["a", "b"]),
        "whoever knows a and b, which are public, can know what the tree asks of both",
    )


# -------- missing values


@st.composite
def holes(draw):
    n = draw(st.integers(6, 14))
    col = lambda v: draw(st.lists(st.sampled_from(v), min_size=n, max_size=n))
    X = pd.DataFrame(
        {
            "job": pd.Series(col(["x", "y", None]), dtype=object),
            "age": pd.Series(col([20.0, 30.0, 40.0, np.nan])),
            "sex": col(["F", "M"]),
            "size": col([1.0, 2.0, 3.0]),
        }
    )
    return X, np.array(col(["no", "yes"])), [o for o in ("sex", "size") if draw(st.booleans())]


@one_in(15)
@given(holes(), st.sampled_from(["onehot", "first", "ordinal", "coded", "dummies"]))
def test_a_missing_private_value_is_a_value_of_its_own_to_sklearn(table, how):
    """Spans equal those of scikit-learn on all completions, missing ones among them"""
    X, y, public = table
    X["job"] = X.job.where(X.job.notna(), None if how == "onehot" else np.nan)
    enc = {
        "onehot": OneHotEncoder(sparse_output=False),
        "first": OneHotEncoder(drop="first", sparse_output=False),
        "ordinal": OrdinalEncoder(),
        "coded": OrdinalEncoder(encoded_missing_value=-2),
    }.get(how)
    full = {
        "job": (
            list(dict.fromkeys(X.job.tolist()))
            if how == "onehot"
            else X.job.drop_duplicates().tolist()
        ),
        "age": X.age.drop_duplicates().tolist() + [10.0, 25.0, 35.0, 50.0],
        "sex": X.sex.drop_duplicates().tolist(),
        "size": [1.0, 2.0, 3.0],
    }
    clf = DecisionTreeClassifier(random_state=0)
    if how == "dummies":

        def make(t):
            return pd.DataFrame(
                {
                    "job_x": (t.job == "x") * 1.0,
                    "job_y": (t.job == "y") * 1.0,
                    "age": t.age,
                    "sex_M": (t.sex == "M") * 1.0,
                    "size": t["size"],
                }
            )

        clf.fit(make(X), y)
        s = spans(
            clf,
            X,
            public,
            columns={"job_x": ("job", "x"), "job_y": ("job", "y"), "sex_M": ("sex", "M")},
        )
    else:
        ct = make_column_transformer(
            (enc, ["job"]), (OneHotEncoder(sparse_output=False), ["sex"]), remainder="passthrough"
        ).fit(X)
        make = ct.transform
        s = spans(make_pipeline(ct, clf.fit(make(X), y)), X, public)
    check(s, applied(clf, X, public, full, make))
    a = (
        linking_attack(make_pipeline(ct, clf), X, public, y=y)
        if how != "dummies"
        else linking_attack(
            clf,
            X,
            public,
            y=y,
            columns={"job_x": ("job", "x"), "job_y": ("job", "y"), "sex_M": ("sex", "M")},
        )
    )
    assert a.fits, a.why


def test_none_and_nan_together_are_refused():
    X = pd.DataFrame({"job": pd.Series(["x", None, np.nan, "y"], dtype=object)})
    enc = OneHotEncoder(sparse_output=False).fit(X)
    with pytest.raises(ValueError, match="Got None and NaN for 'job'"):
        spans(DecisionTreeClassifier().fit(enc.transform(X), list("abab")), X, [], columns=enc)


def test_lumped_ordinal_categories_are_refused():
    X = pd.DataFrame({"a": list("ppqqrs")})
    enc = OrdinalEncoder(min_frequency=2)
    with pytest.raises(ValueError, match="lumps infrequent"):
        spans(make_pipeline(enc, DecisionTreeClassifier()).fit(X, list("xyxyxy")), X)


# -------- values of another kind


def test_values_of_another_type_are_refused():
    t, y = many(60)
    for enc in (OneHotEncoder(sparse_output=False), OrdinalEncoder()):
        pipe = make_pipeline(enc, DecisionTreeClassifier(random_state=0)).fit(t[["zip", "job"]], y)
        for public in (["zip"], ["job"]):
            with pytest.raises(
                ValueError,
                match=(
                    "Column 'zip' must hold values that the tree knows, such as 10. Got others"
                    " only, such as '"
                ),
            ):
                spans(pipe, t.assign(zip=t.zip.astype(str)), public)
    new = make_pipeline(
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        DecisionTreeClassifier(random_state=0),
    ).fit(t[["zip", "job"]], y)
    assert warned(
        audit_model(new, t.assign(zip=t.zip.where(t.index != 3, 99)), ["zip"], y=y),
        "1 people have a value of zip that the tree does not know, such as 99",
    )
    with pytest.raises(
        ValueError, match="Column 'sex' must hold values that the tree knows, such as 'f'"
    ):
        spans(
            DecisionTreeClassifier(random_state=0).fit(pd.DataFrame({"f": t.sex == "F"}), y),
            t,
            ["sex"],
            columns={"f": ("sex", "f")},
        )
    with pytest.raises(ValueError, match="Column 'sex' must hold values that the tree knows"):
        spans(ID3Classifier().fit(t[["sex", "job"]], y), t.assign(sex=t.sex.str.lower()), ["job"])
    scaled = DecisionTreeClassifier(random_state=0).fit(
        (t[["zip", "age"]] - t[["zip", "age"]].mean()) / t[["zip", "age"]].std(), y
    )
    a = audit_model(scaled, t, ["zip"], y=y)
    for o in ("zip", "age"):
        assert warned(a, f"all people lie on one side of all thresholds of {o}")
    assert not warned(
        audit_model(
            DecisionTreeClassifier(random_state=0).fit(t[["zip", "age"]], y), t, ["zip"], y=y
        ),
        "one side",
    )


# -------- whose counts?


def test_counts_of_weights_parts_and_other_people():
    t, y = many(60)
    A = t[["zip", "age"]]
    clf = lambda **o: DecisionTreeClassifier(random_state=0, max_depth=3, **o)
    own = audit_model(clf().fit(A, y), A, ["zip"], y=y)
    assert own.certain_published is not None and own.warnings == ()
    for model in (
        clf(class_weight="balanced").fit(A, y),
        clf().fit(A, y, sample_weight=np.arange(60) + 1.0),
    ):
        a = audit_model(model, A, ["zip"], y=y)
        assert (
            warned(a, "counts are weights (class_weight")
            and not warned(a, "not those")
            and not warned(a, "other people")
            and a.certain_published is None
        )
        assert warned(
            audit_model(model, A.assign(age=A.age.to_numpy()[::-1]), ["zip"], y=y),
            "and it was learnt from other people than these",
        )
    W = t[["job", "sex"]]
    for model, Z in ((clf().fit(A, y), A), (ID3Classifier().fit(W, y), W)):
        a, b = Z.columns
        for X, c in (
            (Z, y[::-1].set_axis(y.index)),
            (Z.assign(**{b: Z[b].to_numpy()[::-1]}), y),
            (Z[:50], y[:50]),
        ):
            assert warned(
                audit_model(model, X, [a], y=c), "counts are not those of these people (at "
            )
    totals = y.copy()
    totals[:] = "no"
    # class totals, when nobody can be sent down
    assert warned(
        audit_model(clf().fit(A, y), A[["zip"]], ["zip"], y=totals, private=["age"]),
        "at the root it counts",
    )
    assert (
        audit_model(clf().fit(A, y), A[["zip"]], ["zip"], y=y, private=["age"]).certain_published
        == own.certain_published
    )


def test_parts_of_rows_are_the_trees_own():
    t, y = many(60)
    t["age"] = t.age.astype(float).where(t.index % 7 > 0)
    for model in (
        C45Classifier(prune=False),
        C45Classifier(),
        C45Classifier(prune=False, binary_splits=True),
    ):
        clf = model.fit(t[["age", "job", "sex"]], y)
        a = audit_model(clf, t, ["job", "sex"], y=y)
        if "age" in a.private:
            assert warned(
                a, "the tree counts parts of people, since values are missing"
            ) and not warned(a, "not those")


def test_trees_of_a_forest():
    t, y = many(60)
    forest = RandomForestClassifier(3, random_state=0).fit(t[["zip", "age"]], y)
    with pytest.raises(
        ValueError, match="'y' must hold classes of the tree. Got 'no'.*If a tree of a forest"
    ):
        audit_model(forest.estimators_[0], t[["zip", "age"]], ["zip"], y=y)
    a = audit_model(
        forest.estimators_[0], t[["zip", "age"]], ["zip"], y=np.searchsorted(forest.classes_, y)
    )
    assert a.exposed > 0 and warned(a, "a bootstrap") and not warned(a, "other people")


def test_names_that_can_be_read_once_only():
    for f in (spans, audit_model, linking_attack):
        a, b = (
            f(figure_1(), CLIENTS[["Sports Car", "Marital Status"]], o)
            for o in (PUBLIC, (o for o in PUBLIC))
        )
        assert (
            getattr(a, "spans", a).populations.tolist()
            == getattr(b, "spans", b).populations.tolist()
            == [3, 3]
        )


def test_explain():
    text = audit_model(figure_1(), CLIENTS, PUBLIC, y="Loan Risk").explain()
    for o in (
        "all 6 people by Marital Status",
        "2 groups",
        "k = 3",
        "published with its counts, the class of 0 people",
        "66.7%",
        "0.00% of the people",
    ):
        assert o in text
    assert (
        "The class is known already"
        in audit_model(figure_1(), CLIENTS, PUBLIC + ["Loan Risk"]).explain()
    )
    assert (
        "is not known (see below)"
        in audit_model(
            tree_from_json(tree_json(figure_1())), CLIENTS, PUBLIC, y="Loan Risk"
        ).explain()
    )
    t, y = many()
    a = audit_model(
        DecisionTreeClassifier(random_state=0).fit(t[["zip", "age"]], y), t, ["zip", "age"], y=y
    )
    assert (
        "alone in" in a.explain()
        and "people alone in their group always are" in a.explain()
        and "alone in theirs among them" in str(a)
    )


# ---------------------------------------------------------------- bad input

SK = DecisionTreeClassifier(max_depth=2, random_state=0).fit(
    pd.DataFrame({"a": [0, 1, 2, 3], "b": [1, 0, 1, 0]}), list("xyxy")
)
AB = pd.DataFrame({"a": [0, 1], "b": [1, 0]})


def scaled():
    ct = make_column_transformer((StandardScaler(), ["a", "b"]))
    return make_pipeline(ct, DecisionTreeClassifier()).fit(
        pd.DataFrame({"a": [0, 1, 2, 3], "b": [1, 0, 1, 0]}), list("xyxy")
    )


def lumped():
    X = pd.DataFrame({"a": list("ppqqrs")})
    enc = OneHotEncoder(min_frequency=2, sparse_output=False)
    return make_pipeline(enc, DecisionTreeClassifier()).fit(X, list("xyxyxy")), X


def leveled():
    X = pd.DataFrame({"job (level 1)": list("wwnn")})
    return ID3Classifier().fit(X, list("yynn")), pd.DataFrame({"job": list("abcd")}), ["job"]


BAD = [
    (
        lambda: spans(figure_1(), CLIENTS, ["Maritall"]),
        ValueError,
        "'public' must name columns of the table. Got 'Maritall'",
    ),
    (lambda: spans(figure_1(), CLIENTS, "Marital Status"), ValueError, "'public' must be a list"),
    (
        lambda: spans(figure_1(), CLIENTS, PUBLIC, y="Risk"),
        ValueError,
        "'y' must be the class of each row, or name a column",
    ),
    (
        lambda: spans(figure_1(), CLIENTS, PUBLIC, y=["good"]),
        ValueError,
        "'y' must have a class for each row. Got 1 for 6",
    ),
    (
        lambda: spans(figure_1(), CLIENTS, PUBLIC, y=CLIENTS["Loan Risk"][::-1]),
        ValueError,
        "'y' must have the index of the table",
    ),
    (
        lambda: spans(figure_1(), CLIENTS, PUBLIC, y=["awful"] * 6),
        ValueError,
        "'y' must hold classes of the tree. Got 'awful'",
    ),
    (
        lambda: spans(figure_1(), CLIENTS, PUBLIC, y=[None] * 6),
        ValueError,
        "'y' must have no missing values",
    ),
    (
        lambda: spans(figure_1(), CLIENTS.iloc[:0], PUBLIC),
        ValueError,
        "'X' must have at least one row",
    ),
    (
        lambda: spans(figure_1(), CLIENTS, PUBLIC, columns={}),
        ValueError,
        "'columns' is for trees of scikit-learn",
    ),
    (
        lambda: spans(figure_1(), CLIENTS, PUBLIC, impossible="x"),
        TypeError,
        "'impossible' must be a function, or a list of dicts",
    ),
    (
        lambda: spans(figure_1(), CLIENTS, PUBLIC, impossible=[{"Marital Status": Interval(0, 1)}]),
        ValueError,
        "'impossible' must name values of column 'Marital Status'",
    ),
    (
        lambda: spans(figure_1(), CLIENTS, PUBLIC, impossible=[{"Marital Status": "Married"}]),
        ValueError,
        (
            "'impossible' must leave every person a possibility. Got 3 people with none, such as"
            " 'John'"
        ),
    ),
    (
        lambda: spans(figure_1(), CLIENTS, PUBLIC, impossible=lambda t: True),
        ValueError,
        "'impossible' must return True or False for each row",
    ),
    (
        lambda: plot_spans(
            spans(
                DecisionTreeClassifier().fit(np.arange(202)[:, None], [0, 1] * 101),
                np.arange(202)[:, None],
            )
        ),
        ValueError,
        "'found' must be of a tree of at most 100 leaves. Got 202",
    ),
    (lambda: spans("tree", CLIENTS), TypeError, "'tree' must be a Tree"),
    (
        lambda: spans(C45Classifier(), CLIENTS),
        TypeError,
        "Got C45Classifier, which is not fitted or has no such tree",
    ),
    (
        lambda: spans(*leveled()),
        ValueError,
        (
            "Got none named 'job (level 1)', a coarser level of another: give with_levels(X,"
            " taxonomies)"
        ),
    ),
    (
        lambda: spans(RandomForestClassifier(2).fit(AB, [0, 1]), AB),
        TypeError,
        "'tree' must be a single tree. Got RandomForestClassifier: audit_model audits each",
    ),
    (lambda: spans(DecisionTreeRegressor(), CLIENTS), ValueError, "'tree' must be fitted"),
    (lambda: spans(DecisionTreeClassifier(), CLIENTS), ValueError, "'tree' must be fitted"),
    (
        lambda: spans(DecisionTreeClassifier().fit([[0], [1]], [[0, 1], [1, 0]]), [[0], [1]]),
        ValueError,
        "'tree' must predict one class",
    ),
    (
        lambda: spans(SK, AB, columns={"c": "a"}),
        ValueError,
        "'columns' must map features of the tree. Got 'c'",
    ),
    (
        lambda: spans(SK, AB, columns={"a": 3}),
        ValueError,
        "'columns' must map a feature to a column, or to (column, value)",
    ),
    (
        lambda: spans(SK, AB, columns=["a"]),
        TypeError,
        "'columns' must be a dict, a fitted ColumnTransformer",
    ),
    (
        lambda: spans(SK, AB, columns=OneHotEncoder().fit(AB)),
        ValueError,
        "'columns' must make as many features as the tree has. Got 4 for 2",
    ),
    (
        lambda: spans(SK, AB.astype(str)),
        ValueError,
        "must hold numbers, since the tree compares it with thresholds",
    ),
    (
        lambda: spans(scaled(), AB),
        TypeError,
        (
            "'columns' must be made of OneHotEncoder, OrdinalEncoder and 'passthrough'. Got"
            " StandardScaler"
        ),
    ),
    (lambda: spans(*lumped()), ValueError, "lumps infrequent categories"),
    (
        lambda: audit_model(figure_1(), CLIENTS, PUBLIC).holds(3, l=2),
        ValueError,
        "The class must be known and private",
    ),
    (
        lambda: audit_model(figure_1(), CLIENTS, PUBLIC).holds(0),
        ValueError,
        "'k' must be an integer of at least 1. Got 0",
    ),
    (
        lambda: audit_model(figure_1(), CLIENTS, PUBLIC, y="Loan Risk").holds(1, l=0.5),
        ValueError,
        "'l' must be a number of at least 1",
    ),
    (
        lambda: audit_model(figure_1(), CLIENTS, PUBLIC, y="Loan Risk").holds(1, confidence=85),
        ValueError,
        "'confidence' must lie between 0 and 1",
    ),
]


@pytest.mark.parametrize("call, error, text", BAD, ids=[t[:45] for _, _, t in BAD])
def test_messages(call, error, text):
    with pytest.raises(error) as e:
        call()
    assert text in str(e.value)


def test_published_cells_are_refused():
    from ppdt.datasets import load_salaries

    t = load_salaries()
    own = GeneralizedID3Classifier(entropy="own_value").fit(t[["Sex"]], t.Salary)
    with pytest.raises(ValueError, match="learnt from published cells"):
        spans(own, t, ["Sex"])
