"""Lattices: the customers, the fast search against the textbook, ARX's results, new rows, and what
is refused.
"""

import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from random_tables import pick, row_cells, tables

from ppdt._textbook import _textbook_lattice, _textbook_minimal
from ppdt.datasets import load_customers
from ppdt.diversity import Alpha, LDiversity, TCloseness
from ppdt.engine.lattice_cells import LOSSES, levelled_column, node_rules
from ppdt.engine.lattice_search import nodes_that_hold, search_lattice
from ppdt.generalization import Taxonomy, load_adult_taxonomies
from ppdt.lattice import LatticeAnonymizer, plot_lattice
from ppdt.loss import gcp
from ppdt.release import read_release
from ppdt.tables import Exact, Interval, Node, Suppressed, encode

CUSTOMERS = load_customers()
X, Y = CUSTOMERS.drop(columns="Bought"), CUSTOMERS["Bought"]
AGES = Taxonomy.from_edges(range(100), [0, 20, 40, 60, 80, 100], [0, 20, 60, 100], public=True)
TREES = {"Age": AGES}


def lattice(**p):
    return LatticeAnonymizer(**dict(k=2, taxonomies=TREES) | p)


# ---------- the customers
def test_customers():
    tool = lattice().fit(X, Y)
    assert tool.levels_ == {"Gender": 0, "Marital": 0, "Age": 3}
    assert tool.nodes_.index.tolist() == [(0, 0, 3), (1, 0, 2)]
    assert tool.nodes_.loss.round(9).tolist() == [round(1 / 3, 9), 0.5]
    assert tool.nodes_.k.tolist() == [2, 2] and tool.nodes_.minimal.all()
    assert tool.cut_["Gender"] == [Exact("Female"), Exact("Male")]
    assert tool.release_.audit.class_sizes == (2, 3, 4, 5) and tool.n_nodes_ == 16
    assert tool.n_counted_ < 16


@pytest.mark.parametrize("loss", LOSSES)
def test_the_loss_is_the_smallest_of_all_nodes(loss):
    """Each node by itself, as `levels`"""
    for limit, suppressed in product((0, 0.3), ("star", "lose")):
        p = dict(loss=loss, suppression_limit=limit, suppressed=suppressed)
        best, losses = lattice(**p).fit(X, Y).nodes_.iloc[0].loss, []
        for node in product(range(2), range(2), range(4)):
            try:
                one = lattice(levels=dict(zip(X, node)), **p).fit(X, Y)
            except ValueError as e:
                assert "leave room for a solution" in str(e)
                continue
            assert tuple(one.levels_.values()) == node and len(one.nodes_) == 1
            losses.append(one.nodes_.iloc[0].loss)
        assert best == pytest.approx(min(losses))


def test_the_loss_is_that_of_the_audit():
    for limit in (0, 0.3):
        tool = lattice(loss="size", suppression_limit=limit).fit(X, Y)
        assert tool.release_.audit.gcp == pytest.approx(tool.nodes_.iloc[0].loss)
        tool = lattice(suppression_limit=limit).fit(X, Y)
        spread = gcp(tool.release_.data, X, list(X), form="spread", taxonomies=TREES)
        assert spread == pytest.approx(tool.nodes_.iloc[0].loss)


def test_stars_are_a_group():
    p = dict(levels={"Gender": 0, "Marital": 1, "Age": 2}, suppression_limit=0.3)
    star, lost = (lattice(suppressed=o, **p).fit(X, Y).release_ for o in ("star", "lose"))
    assert star.audit.suppressed_rows == 4 and star.audit.class_sizes == (4, 6)
    assert lost.lost.tolist() == [1] and lost.audit.class_sizes == (3, 4, 6)
    hidden = [set(o) == {Suppressed()} for o in zip(*(row_cells(star.data[c]) for c in X))]
    assert sum(hidden) == 4
    with pytest.raises(ValueError, match="leave room for a solution"):
        lattice(suppressed="star", **p | dict(suppression_limit=0.2)).fit(X, Y)
    # the stars keep the constraints: the three that join have bought nothing new
    diverse = lattice(constraints=[LDiversity(2)], suppression_limit=0.3).fit(X, Y).release_
    assert diverse.audit.l_distinct == 2


def test_levels():
    assert lattice(levels={"Age": (0, 2)}).fit(X, Y).levels_["Age"] == 2
    assert lattice(levels={"Age": [1, 1], "Gender": np.int64(1)}, suppression_limit=0.5).fit(
        X, Y
    ).levels_ == {"Gender": 1, "Marital": 0, "Age": 1}
    tool = lattice(k=1, levels={"Age": 0}).fit(X, Y)
    assert tool.nodes_ is None and tool.release_.data.equals(X)
    with pytest.raises(ValueError, match="'k' must be at least 2 where 'levels' asks"):
        lattice(k=1, levels={"Age": 1}).fit(X, Y)


def test_a_column_without_taxonomy_is_told_or_suppressed():
    tool = LatticeAnonymizer(k=2).fit(X, Y)
    assert tool.levels_ == {"Gender": 0, "Marital": 0, "Age": 1}
    assert set(row_cells(tool.release_.data["Age"])) == {Suppressed()}
    table = pd.DataFrame({"n": [1, 1, 2, 2, 9], "d": pd.to_datetime(["2024-01-01"] * 5)})
    star = LatticeAnonymizer(k=2, suppression_limit=0.4).fit(table)
    assert star.levels_ == {"n": 1, "d": 0}  # one star would need two more
    lost = LatticeAnonymizer(k=2, suppression_limit=0.4, suppressed="lose").fit(table)
    assert lost.levels_ == {"n": 0, "d": 0} and lost.release_.lost.tolist() == [4]


# ---------- the fast search and the textbook
@st.composite
def problems(draw):
    """(columns, codes, rows, secret): random tables with and without trees"""
    n = draw(st.integers(2, 12))
    trees = {
        "x": Taxonomy.from_dict({"*": {"ab": ["a", "b"], "cd": ["c", "d"]}}),
        "y": Taxonomy.from_dict({"*": {"abc": {"ab": ["a", "b"], "c": None}, "d": None}}),
    }
    table = pd.DataFrame(
        {o: draw(st.lists(pick(*"abcd"), min_size=n, max_size=n)) for o in "xyz"}, dtype="str"
    )
    coded = [encode(table[o]) for o in table]
    columns = [levelled_column(a, trees.get(a.name)) for a, _ in coded]
    codes = [c for _, c in coded]
    secret = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    return columns, codes, list(zip(*(c.tolist() for c in codes))), secret


def _allow(secret, wish):
    """Constraints in two forms: on groups of rows together, and on one list of rows"""
    if wish is None:
        return None, None

    def one(rows):
        n = np.bincount(secret[list(rows)])
        return (n > 0).sum() >= 2 if wish == "distinct" else n.max() / n.sum() <= 0.7

    def many(rows, groups, n):
        return np.array([one(rows[groups == g]) for g in range(n)])

    return many, one


@given(
    problems(),
    st.integers(1, 4),
    st.floats(0, 1),
    st.booleans(),
    pick(None, "distinct", "alpha"),
    pick("spread", "size", "height"),
)
def test_fast_equals_textbook(problem, k, limit, stars, wish, loss):
    columns, codes, rows, secret = problem
    k, most = min(k, len(rows)), int(limit * len(rows))
    many, one = _allow(secret, wish)
    rules = node_rules(columns, codes, loss, k, most, stars, many)
    levels = [[(l.at, l.loss) for l in ls] for ls in rules.rows.levels]
    slow = _textbook_lattice(rows, levels, k, most, stars, one)
    fast = search_lattice(rules)
    if not slow:
        assert fast is None
        return
    best = min(v for v, _ in slow.values())
    assert fast.best.loss == pytest.approx(best)
    assert fast.best.suppressed == min(g for v, g in slow.values() if v < best + 1e-9)
    assert {o.node for o in fast.minimal} == set(_textbook_minimal(slow))
    for o in fast.minimal:
        assert (o.loss, o.suppressed) == pytest.approx(slow[o.node])


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 9), st.data())
def test_tags_are_what_every_node_would_say(shape, seed, data):
    """A random condition that only grows"""
    nodes = list(product(*map(range, shape)))
    seeds = data.draw(st.lists(st.sampled_from(nodes), max_size=4))

    def holds(node):
        return any(all(a >= b for a, b in zip(node, o)) for o in seeds)

    tags = nodes_that_hold(tuple(shape), holds)
    assert {tuple(map(int, o)) for o in np.argwhere(tags)} == {o for o in nodes if holds(o)}


@given(problems(), st.integers(0, 5))
def test_copies_of_a_table_with_k_as_many_times(problem, seed):
    """Replication changes nothing, and nor does the order of rows"""
    columns, codes, rows, _ = problem
    most = len(rows) // 4
    order = np.random.default_rng(seed).permutation(3 * len(rows))
    copies = [np.tile(c, 3)[order] for c in codes]
    one = search_lattice(node_rules(columns, codes, "spread", 2, most, False, None))
    three = search_lattice(node_rules(columns, copies, "spread", 6, 3 * most, False, None))
    if len(rows) < 2:
        return
    assert (one is None) == (three is None)
    if one is not None:
        assert [o.node for o in one.minimal] == [o.node for o in three.minimal]
        assert one.best.loss == pytest.approx(three.best.loss)


# ---------- ARX
ARX = "sex age race marital-status education native-country workclass occupation income".split()


@pytest.fixture(scope="module")
def arx(data_dir, oracle_dir):
    """Adult as ARX has it, its hierarchies"""
    assert (oracle_dir / "arx/EXPECTED.md").exists()
    adult = pd.read_csv(data_dir / "adult_train.csv", skipinitialspace=True, na_values="?")
    adult = adult.rename(columns={o: o.replace("_", "-") for o in adult})
    adult = adult.dropna(subset=[o for o in ARX if o in adult]).astype(str)
    trees = {o: Taxonomy.from_csv(data_dir / f"hierarchies/arx/adult_{o}.csv") for o in ARX}
    return adult[ARX], trees


def arx_rules(arx, loss, k, limit, columns=ARX):
    table, trees = arx
    coded = [encode(table[o], True) for o in columns]
    columns = [levelled_column(a, trees[a.name]) for a, _ in coded]
    most = int(limit * len(table) + 1e-9)
    return node_rules(columns, [c for _, c in coded], loss, k, most, False, None)


@pytest.mark.parametrize(
    "k, limit, loss, node, lost",
    [
        (5, 0, 0.5731509655590044, (0, 4, 1, 1, 3, 2, 2, 1, 0), 0),
        (50, 0, 0.5731509655590044, (0, 4, 1, 1, 3, 2, 2, 1, 0), 0),
        (5, 0.04, 0.26611081915757495, (0, 3, 0, 1, 1, 1, 1, 2, 0), 1178),
        (5, 1, 0.22041192847984292, (0, 3, 0, 0, 2, 1, 1, 1, 0), 2553),
        (50, 1, 0.3590735854845517, (0, 3, 0, 1, 2, 0, 1, 2, 0), 5124),
    ],
)
def test_the_best_nodes_are_those_of_arx(arx, k, limit, loss, node, lost):
    best = search_lattice(arx_rules(arx, "geometric", k, limit), minimal=False).best
    assert best.node == node and best.suppressed == lost
    assert best.loss == pytest.approx(loss, abs=1e-9)


@pytest.mark.parametrize(
    "k, limit, n",
    [(5, 0, 87), (50, 0, 30), (100, 0, 22), (2, 0, 136), (100, 0.04, 474), (5, 0.04, 4452)],
)
def test_there_are_as_many_solutions_as_with_arx(arx, k, limit, n):
    found = search_lattice(arx_rules(arx, "spread", k, limit))
    above = np.zeros([2, 5, 2, 3, 4, 3, 3, 3, 2], dtype=bool)
    for o in found.minimal:
        above[tuple(slice(l, None) for l in o.node)] = True
    assert (above.sum(), above.size) == (n, found.n_nodes) and above.size == 12960


@pytest.mark.parametrize(
    "k, bits, node",
    [
        (5, 407289.5388925293, (1, 2, 1, 1, 3, 2, 2, 1, 1)),
        (100, 453196.8932458743, (0, 4, 1, 1, 3, 2, 2, 1, 1)),
    ],
)
def test_entropy_is_that_of_arx(arx, k, bits, node):
    best = search_lattice(arx_rules(arx, "entropy", k, 0), minimal=False).best
    assert best.node == node and best.loss * len(arx[0]) == pytest.approx(bits)


def test_closeness_is_that_of_arx(arx):
    """Its node for the sum of squares: no lower one is a solution"""
    table, trees = arx
    eight = [o for o in ARX if o != "occupation"]
    tool = LatticeAnonymizer(
        k=5,
        quasi_identifiers=eight,
        taxonomies={o: trees[o] for o in eight},
        constraints=[TCloseness(0.2, "equal", sensitive="occupation")],
    ).fit(table)
    assert (1, 4, 1, 1, 3, 2, 2, 1) in set(tool.nodes_.index)


def test_the_table_of_seven():
    """ARX's example: k = 2, nothing suppressed"""
    seven = pd.DataFrame(
        [
            ("34", "male", "81667"),
            ("45", "female", "81675"),
            ("66", "male", "81925"),
            ("70", "female", "81931"),
            ("34", "female", "81931"),
            ("70", "male", "81931"),
            ("45", "male", "81931"),
        ],
        columns=["age", "gender", "zip"],
    )
    trees = {
        "age": Taxonomy.from_dict({"*": {"<50": ["34", "45"], ">=50": ["66", "70"]}}),
        "gender": Taxonomy.from_dict({"*": ["male", "female"]}),
        "zip": Taxonomy.from_prefixes(seven.zip),
    }
    tool = LatticeAnonymizer(k=2, taxonomies=trees, loss="geometric").fit(seven)
    assert tool.release_.audit.class_sizes == (2, 2, 3)
    assert set(row_cells(tool.release_.data["zip"])) == {Node("816**"), Node("819**")}
    assert set(row_cells(tool.release_.data["gender"])) == {Node("*")}


# ---------- new rows, files
def test_new_rows():
    tool = lattice(levels={"Age": 2}).fit(X, Y)
    new = pd.DataFrame({"Gender": ["x"] * 4, "Marital": ["Married"] * 4, "Age": [33, 12, 99, 140]})
    low, high = Interval(20, 60, True), Interval(60, 100, True)
    assert row_cells(tool.transform(new)["Age"]) == [low, Suppressed(), high, Suppressed()]
    again = pickle.loads(pickle.dumps(tool))
    assert again.transform(new).astype(str).equals(tool.transform(new).astype(str))
    assert not {"nodes_", "n_counted_", "tops_"} & set(vars(again))
    assert again.levels_ == tool.levels_ and again.cut_ == tool.cut_


def test_a_taxonomy_of_the_data_travels_as_far_as_it_is_shown(tmp_path):
    made = {"Age": Taxonomy.from_edges(X.Age, [20, 40, 60, 81])}
    tool = LatticeAnonymizer(k=2, taxonomies=made, suppression_limit=0.5, levels={"Age": 1})
    r = tool.anonymize(X, Y)
    r.to_csv(tmp_path / "out.csv")
    assert read_release(tmp_path / "out.csv").text().equals(r.text())
    saved = pickle.loads(pickle.dumps(tool))
    assert not set(X.Age) & set(saved.taxonomies["Age"].values)
    assert set(saved.transform(X)["Age"].astype(str)) <= set(tool.transform(X)["Age"].astype(str))
    with pytest.raises(ValueError, match="whole one"):
        saved.fit(X, Y)


def test_persons_are_counted_once():
    twice = pd.concat([X, X]).reset_index(drop=True).assign(who=[*range(14), *range(14)])
    rows = lattice(identifiers=["who"]).fit(twice).levels_
    persons = lattice(person="who").fit(twice)
    assert rows == {"Gender": 0, "Marital": 0, "Age": 0}
    assert persons.levels_ == lattice().fit(X).levels_
    assert persons.nodes_.k.tolist() == [4, 4]


@pytest.mark.parametrize("k", [1, 14])
def test_limits_of_k(k):
    r = lattice(k=k).fit(X, Y).release_
    assert r.audit.k in (None, k)


# ---------- what is refused
@pytest.mark.parametrize(
    "p, error, text",
    [
        (dict(loss="ncp"), ValueError, "'loss' must be one of"),
        (dict(suppressed="drop"), ValueError, "'suppressed' must be one of"),
        (dict(suppression_limit=1.5), ValueError, "a share of rows, from 0 to 1"),
        (dict(suppression_limit=True), ValueError, "a share of rows, from 0 to 1"),
        (dict(suppression_limit=np.nan), ValueError, "a share of rows, from 0 to 1"),
        (dict(minimal=1), ValueError, "'minimal' must be True or False"),
        (dict(levels={"Age": "high"}), TypeError, "'levels' must be a dict of a level"),
        (dict(levels=[1, 2, 3]), TypeError, "'levels' must be a dict of a level"),
        (dict(levels={"Age": True}), TypeError, "'levels' must be a dict of a level"),
        (dict(levels={"age": 1}), ValueError, "must name quasi-identifiers. Got 'age'"),
        (dict(levels={"Age": 4}), ValueError, "must be from 0 to 3 for column 'Age'"),
        (dict(levels={"Age": (2, 1)}), ValueError, "must be from 0 to 3 for column 'Age'"),
        (dict(levels={"Age": 0}), ValueError, "must leave room for a solution"),
        (dict(taxonomies={"Age": "*"}), ValueError, "a dict of a Taxonomy"),
        (dict(taxonomies={"Gender": AGES}), ValueError, "must have every value as a leaf"),
        (
            dict(suppressed="lose", constraints=[TCloseness(0.5)]),
            ValueError,
            "must be 'star' with TCloseness",
        ),
    ],
)
def test_refused(p, error, text):
    with pytest.raises(error, match=text):
        lattice(**p).fit(X, Y)


def test_a_lattice_that_is_too_large():
    wide = pd.DataFrame({f"c{i}": ["a", "b"] * 3 for i in range(23)})
    with pytest.raises(ValueError, match="must leave at most 5,000,000 nodes"):
        LatticeAnonymizer(k=2).fit(wide)
    fixed = {f"c{i}": 0 for i in range(20)}
    assert LatticeAnonymizer(k=2, levels=fixed).fit(wide).n_nodes_ == 8


def test_pictures():
    assert len(plot_lattice(lattice().fit(X, Y)).texts) == 16
    for tool in (lattice(minimal=False), lattice(k=1), lattice(levels={"Age": 3})):
        with pytest.raises(ValueError, match="must list its minimal solutions"):
            plot_lattice(tool.fit(X, Y))
    trees = load_adult_taxonomies()
    wide = pd.DataFrame({o: list(t.values[:2]) * 2 for o, t in trees.items()})
    with pytest.raises(ValueError, match="at most 200 nodes"):
        plot_lattice(LatticeAnonymizer(k=2, taxonomies=trees).fit(wide))


def test_constraints_with_lost_rows_and_stars():
    for suppressed, c in product(("star", "lose"), (LDiversity(2), Alpha(0.7))):
        r = lattice(suppressed=suppressed, constraints=[c], suppression_limit=0.4).anonymize(X, Y)
        assert r.audit.holds and len(r.lost) <= 5


@one_in(3)
@given(tables(missing=False), pick(0.2, 0.5, 1.0), pick(LDiversity(2), Alpha(0.6)))
def test_lost_rows_leave_groups_that_keep_constraints(table, limit, constraint):
    """Every release is audited; what is lost stays below the limit"""
    X, y, roles = table
    tool = LatticeAnonymizer(
        suppression_limit=limit, suppressed="lose", constraints=[constraint], **roles
    )
    try:
        r = tool.anonymize(X, y)
    except ValueError as e:
        assert "must be such that the whole table" in str(e)
        return
    assert r.audit.holds and len(r.lost) <= limit * len(X) + 1e-9 and len(r.data)


@pytest.mark.parametrize("suppressed", ["star", "lose"])
def test_persons_and_suppressed_rows(suppressed):
    twice = pd.concat([X, X]).reset_index(drop=True).assign(who=[*range(14), *range(14)])
    tool = lattice(k=3, person="who", suppression_limit=0.4, suppressed=suppressed)
    r = tool.anonymize(twice)
    kept = np.delete(np.arange(28), r.lost)
    persons = twice.who.iloc[kept].groupby(r.text().astype(str).agg("|".join, axis=1).to_numpy())
    assert r.audit.holds and len(kept) >= 17
    assert persons.nunique().min() >= 3 or r.audit.suppressed_rows
