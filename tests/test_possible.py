"""`possible` says of each value of a domain whether a published cell may stand for it.

It is compared with one value at a time, and with every reader of cells that ppdt has.
"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from ppdt.encoder import possible_values
from ppdt.engine.coding import encode, with_missing
from ppdt.engine.fits import opened_columns
from ppdt.engine.holdings import cells_hold
from ppdt.engine.published_columns import plain_values
from ppdt.engine.values import MISSING
from ppdt.generalization import Taxonomy
from ppdt.id3_sets import cell_members
from ppdt.loss import cell_ncp
from ppdt.tables import Centroid, Exact, Interval, Node, Suppressed, ValueSet, possible

LEAVES = ["a", "b", "c", "d", "e"]
TAXONOMY = Taxonomy.from_dict({"*": {"ab": ["a", "b"], "cde": ["c", "d", "e"]}})
NODES = ["ab", "cde", "*"]

words = st.lists(st.sampled_from(LEAVES + [None]), min_size=1, max_size=8)
numbers = st.lists(st.none() | st.integers(-5, 5), min_size=1, max_size=8)
days = numbers.map(
    lambda v: [None if o is None else pd.Timestamp("2024-03-01") + pd.Timedelta(o, "D") for o in v]
)


def domain_of(values, missing=True):
    """The domain of a column, with `MISSING` when something is missing and this is wanted"""
    dtype = object if any(isinstance(o, str) for o in values) else None
    s = pd.Series(values, dtype=dtype, name="x")
    if s.isna().all():
        s = s.astype(object)
    a, codes = encode(s)
    return with_missing(a, codes)[0] if missing else a


def to_cells(draw, values):
    """A cell over some values: exact, a set, an interval, suppressed, or missing"""
    some = st.lists(st.sampled_from(values), min_size=1, max_size=4)
    kind = draw(st.sampled_from(["exact", "set", "interval", "suppressed", "missing", "named gap"]))
    if kind == "suppressed":
        return Suppressed()
    if kind == "missing":
        return None
    if kind == "named gap":
        return ValueSet([*draw(some), MISSING])
    drawn = draw(some)
    if kind == "interval" and not isinstance(drawn[0], str):
        lo, hi = min(drawn), max(drawn)
        return Interval(lo, hi, hi_open=lo < hi and draw(st.booleans()))
    return Exact(drawn[0]) if kind == "exact" else ValueSet(drawn)


@st.composite
def questions(draw, columns=words | numbers | days):
    """A cell and a domain of the same kind of values"""
    values = draw(columns)
    known = [o for o in values if o is not None]
    if not known:
        values, known = ["a", None], ["a"]
    more = {str: "zebra", int: 99}.get(type(known[0]), pd.Timestamp("2030-01-01"))
    return to_cells(draw, [*known, more]), values


def holds(cell, v):
    """One value at a time, for all cells but nodes"""
    if cell is None:
        return v is MISSING
    if isinstance(cell, (Suppressed, Centroid)):
        return True
    if isinstance(cell, Interval):
        if v is MISSING or v < cell.lo:
            return False
        return v < cell.hi if cell.hi_open else v <= cell.hi
    return v in cell.values


@given(questions(), st.booleans())
def test_one_value_at_a_time(question, missing):
    cell, values = question
    a = domain_of(values, missing)
    res = possible(cell, a)
    assert res.dtype == bool and res.shape == (len(a),)
    assert res.tolist() == [holds(cell, v) for v in a.items]


@pytest.mark.parametrize("node", NODES)
@given(values=words)
def test_nodes_are_their_leaves(node, values):
    a = domain_of(values)
    leaves = TAXONOMY.leaves(Node(node))
    assert possible(Node(node), a, TAXONOMY).tolist() == [v in leaves for v in a.items]


def test_a_node_needs_its_taxonomy():
    a = domain_of(["a", "b"])
    with pytest.raises(ValueError, match="depends on its taxonomy"):
        possible(Node("ab"), a)
    with pytest.raises(ValueError, match="no node 'xyz'"):
        possible(Node("xyz"), a, TAXONOMY)
    with pytest.raises(ValueError, match="depends on its taxonomy"):
        possible(Interval(1, 2), a)


def test_leaves_are_found_by_their_text_too():
    ages = encode(pd.Series([20, 25, 31], name="age"), categorical=True)[0]
    t = Taxonomy.from_dict({"any": {"young": ["20", "25"], "old": ["31"]}})
    assert possible(Node("young"), ages, t).tolist() == [True, True, False]


def test_a_range_of_ages_may_be_a_node():
    ages = encode(pd.Series([20, 25, 31], name="age"), categorical=True)[0]
    t = Taxonomy.from_dict({"any": {"[20, 29]": [20, 25], "[30, 39]": [31]}})
    assert possible(Interval(20, 29), ages, t).tolist() == [True, True, False]


def test_a_centroid_claims_nothing():
    a = domain_of([1, 2, None])
    assert possible(Centroid(1), a).all()


def test_an_empty_domain():
    a = encode(pd.Series([], dtype=float, name="x"))[0]
    for cell in (None, Exact(1), Interval(0, 1), Suppressed()):
        assert possible(cell, a).shape == (0,)


@given(questions())
def test_what_a_cell_lists_is_what_it_leaves_possible(question):
    cell, values = question
    a = domain_of(values)
    if isinstance(cell, (Exact, ValueSet)):
        assert possible(cell, a).tolist() == marked(a, cell.listed())
    elif cell is not None:
        assert cell.listed() == ()


@pytest.mark.parametrize("node", NODES)
def test_a_node_lists_its_leaves(node):
    assert Node(node).listed(TAXONOMY) == TAXONOMY.leaves(node)
    with pytest.raises(ValueError, match="depends on its taxonomy"):
        Node(node).listed()


def test_a_centroid_lists_its_value():
    assert Centroid(4.5).listed() == (4.5,)


def marked(a, values):
    """Which values of a domain are listed?"""
    return [v in values for v in a.items]


@given(questions(words))
def test_as_the_encoder_reads_categories(question):
    cell, values = question
    a = domain_of(values)
    if isinstance(cell, (Suppressed, type(None))):
        assert possible_values(cell) == ()
    else:
        assert possible(cell, a).tolist() == marked(a, possible_values(cell))


@given(questions())
def test_as_c45_reads_cells(question):
    cell, values = question
    a = domain_of(values)
    if cell is None:
        return
    read = plain_values(cell, None, "x")
    if isinstance(cell, Suppressed):
        assert read is None
    elif isinstance(cell, Interval):
        closed = Interval(*read)
        assert possible(closed, a).tolist() == [holds(closed, v) for v in a.items]
    else:
        assert possible(cell, a).tolist() == marked(a, read)


@given(questions())
def test_as_the_matching_reads_cells(question):
    cell, values = question
    a = domain_of(values, missing=False)
    every = np.arange(len(a))
    at = np.full(len(a), -1 if cell is None else 0)
    assert possible(cell, a).tolist() == cells_hold(a, [cell] if cell else [], every, at).tolist()


@pytest.mark.parametrize("node", NODES)
@given(values=words)
def test_as_the_matching_opens_nodes(node, values):
    a = domain_of(values, missing=False)
    raw = [(a, None)]
    coded = [(np.zeros(len(a), dtype=int), [Node(node)])]
    at, cs = opened_columns(raw, coded, ["x"], {"x": TAXONOMY})[0]
    held = cells_hold(a, cs, np.arange(len(a)), at)
    assert possible(Node(node), a, TAXONOMY).tolist() == held.tolist()


@given(questions(words))
def test_as_id3_reads_sets(question):
    cell, values = question
    a = domain_of(values)
    if cell is None:
        return
    m = cell_members(np.zeros(1, dtype=int), [cell], a.items)
    assert np.flatnonzero(possible(cell, a)).tolist() == sorted(v for v in m.value if v >= 0)


@given(st.lists(st.sampled_from(LEAVES), min_size=1, max_size=5, unique=True), st.data())
def test_as_the_loss_counts_values(values, data):
    a = domain_of(values)
    some = data.draw(st.lists(st.sampled_from(values), min_size=1, unique=True))
    cell = Exact(some[0]) if len(some) == 1 else ValueSet(some)
    share = possible(cell, a).sum() / len(a)
    assert cell_ncp(cell, a) == pytest.approx(share if share * len(a) > 1 else 0)


@pytest.mark.parametrize("node", NODES)
def test_as_the_loss_counts_leaves(node):
    a = domain_of(LEAVES)
    share = possible(Node(node), a, TAXONOMY).sum() / len(a)
    assert cell_ncp(Node(node), a, taxonomy=TAXONOMY) == pytest.approx(share)
