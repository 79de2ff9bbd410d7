"""What follows for certain from a release alone, against all tables that it could come from."""

import math
import warnings
from itertools import combinations_with_replacement, product

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import assume, given, strategies as st
from registry import ANONYMIZERS, REGISTRY, tasks

from ppdt.attacks import Downcoded, Downcoding
from ppdt.clusters import ClusterAnonymizer
from ppdt.datasets import fetch_adult, load_customers, make_population
from ppdt.engine.coding import encode
from ppdt.generalization import recode
from ppdt.mondrian import MondrianAnonymizer
from ppdt.privacy import audit
from ppdt.tables import (
    Centroid,
    Exact,
    Interval,
    Suppressed,
    ValueSet,
    cell_column,
    cells,
    possible,
)

DOMAIN = range(4)
MOST = 4000  # possible tables that a test goes through


# ---------- all tables that a release could come from
def holds(cell, v):
    if cell is None or isinstance(cell, Suppressed):
        return True
    if isinstance(cell, Interval):
        return cell.lo <= v and (v < cell.hi if cell.hi_open else v <= cell.hi)
    return v in cell.values


def must_occur(cell, is_tight):
    if not is_tight or isinstance(cell, Suppressed):
        return set()
    return {cell.lo, cell.hi} if isinstance(cell, Interval) else set(cell.values)


def rows_of_class(box, n, tight):
    """All multisets of n rows in a box in which everything that must occur does"""
    every = list(product(*[[v for v in DOMAIN if holds(c, v)] for c in box]))
    assume(math.comb(len(every) + n - 1, n) <= MOST)
    wanted = [must_occur(c, t) for c, t in zip(box, tight)]
    for rows in combinations_with_replacement(every, n):
        if all(w <= {r[j] for r in rows} for j, w in enumerate(wanted)):
            yield rows


def worlds(boxes, tight):
    """All tables"""
    parts = [list(rows_of_class(box, n, tight)) for box, n in boxes.items()]
    assume(math.prod(map(len, parts)) <= MOST)
    return [[r for part in w for r in part] for w in product(*parts)], parts


def times(world, box, column, value):
    return sum(r[column] == value and all(map(holds, box, r)) for r in world)


@st.composite
def a_cell(draw, n):
    """A cell that n rows could have tight"""
    lo = draw(st.sampled_from(DOMAIN))
    hi = draw(st.integers(lo, max(DOMAIN)))
    kind = draw(st.sampled_from(["set", "set", "range", "star", "half"]))
    if kind == "range" and lo < hi and n > 1:
        return Interval(lo, hi)
    if kind == "half" and lo + 1 < hi:
        return Interval(lo, hi, True)
    if kind == "star" and draw(st.booleans()):
        return Suppressed()
    values = draw(st.sets(st.sampled_from(DOMAIN), min_size=1, max_size=n))
    return ValueSet(values) if len(values) > 1 else Exact(*values)


@st.composite
def releases(draw):
    """(table, boxes with their rows, which columns are tight)"""
    width = draw(st.integers(1, 3))
    tight = draw(st.lists(st.booleans(), min_size=width, max_size=width))
    boxes = {}
    for _ in range(draw(st.integers(1, 3))):
        n = draw(st.integers(1, 3))
        box = tuple(draw(a_cell(n)) for _ in range(width))
        # half-open ranges do not say that their lower end occurs
        assume(not any(t and isinstance(c, Interval) and c.hi_open for c, t in zip(box, tight)))
        boxes[box] = n
    lines = [box for box, n in boxes.items() for _ in range(n)]
    columns = {}
    for j in range(width):
        held = list(dict.fromkeys(box[j] for box in lines))
        columns[f"q{j}"] = cell_column([held.index(box[j]) for box in lines], held)
    return pd.DataFrame(columns), boxes, tight


def found_in(t, tight):
    return Downcoding(t, tight=[o for o, yes in zip(t, tight) if yes]).find()


@one_in(2)
@given(releases())
def test_what_is_claimed_is_true_in_every_possible_table_and_what_is_certain_is_claimed(given_):
    t, boxes, tight = given_
    tables, parts = worlds(boxes, tight)
    assume(tables)
    found = found_in(t, tight)
    claimed = {
        (int(c), int(o[1:]), v) for c, o, v in found.predicates.itertuples(index=False, name=None)
    }
    records = {(int(c), *r) for c, *r in found.records.itertuples(name=None)}
    names = list(boxes)
    for i, box in enumerate(names):
        line = found.classes.loc[i]
        assert line.rows == boxes[box]
        # named: if and only if it is one row in every possible table, and one of the class
        for j, v in product(range(len(box)), DOMAIN):
            always = {times(w, box, j, v) for w in [*tables, *parts[i]]} == {1}
            assert always == ((i, j, v) in claimed), (i, j, v)
        assert line.named == max(
            (sum(c == i and j == o for c, o, _ in claimed) for j in range(len(box))), default=0
        )
        # whole: if and only if some row of the class has these values in every possible table
        certain = set.intersection(*[set(rows) for rows in parts[i]])
        is_exact = len({r for rows in parts[i] for r in rows}) == 1
        assert line.exact == (boxes[box] if is_exact else 0)
        assert line.whole == (0 if is_exact else len(certain))
        if not is_exact:
            assert {r for c, *r in map(tuple, records) if c == i for r in [tuple(r)]} == certain
        # alone: at least so many, and exactly so many inside of the class
        fewest = inside = 0
        for j in range(len(box)):
            one = min(sum(times(w, box, j, v) == 1 for v in DOMAIN) for w in tables)
            here = min(sum(times(w, box, j, v) == 1 for v in DOMAIN) for w in parts[i])
            fewest, inside = max(fewest, one), max(inside, here)
        assert line.alone <= fewest
        assert line.alone_inside <= inside
        if all(isinstance(c, (Exact, ValueSet)) for c in box) and all(tight):
            assert line.alone_inside == inside


@one_in(2)
@given(releases())
def test_people_named_are_among_those_alone_and_nothing_is_more_than_its_class(given_):
    t, _, tight = given_
    c = found_in(t, tight).classes
    assert (c.named <= c.alone).all() and (c.alone <= c.alone_inside).all()
    assert (c.alone_inside <= c.rows).all() and (c.exact + c.whole <= c.rows).all()


# ---------- the methods
def fits(cell, value, name, categorical, taxonomy):
    if value is None or pd.isna(value):
        return cell is None or isinstance(cell, Suppressed)
    if cell is None:
        return False
    domain, _ = encode(pd.Series([value], name=name), categorical)
    return bool(possible(cell, domain, taxonomy)[0])


def has(value, v):
    """Is a raw value the one of a predicate? Missing ones are named by a mark or not at all"""
    if value is None or pd.isna(value):
        return repr(v) == "MISSING"
    return repr(v) != "MISSING" and value == v


@pytest.mark.parametrize("cls", ANONYMIZERS, ids=lambda c: c.__name__)
@one_in(25)
@given(data=st.data())
def test_claims_are_true_of_the_table_that_a_release_was_made_from(cls, data):
    X, y, p = data.draw(tasks(cls))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some words look like cells
            r = cls(**p).anonymize(X, y)
    except ValueError as e:
        assert any(o in str(e) for o in REGISTRY[cls].impossible)
        return
    if not len(r.data):
        return
    found = Downcoding(r, taxonomies=p.get("taxonomies")).find()
    assert isinstance(found, Downcoded) and len(found.of) == len(r.data)
    assert r.audit.singled_out == pytest.approx(found.share("named"))
    assert r.audit.whole_records == found.classes.whole.sum()
    qi = list(r.roles.quasi_identifiers)
    raw = X.drop(index=X.index) if len(r.lost) == len(X) else X.iloc[kept_rows(len(X), r.lost)]
    named, trees = p["categorical"] or (), {**r.taxonomies, **(p.get("taxonomies") or {})}
    # tight columns are: each value that a cell lists, and each end, is somebody's of the class
    for o in found.tight:
        codes, held = cells(r.data[o])
        for g in np.unique(found.of):
            rows = np.flatnonzero(found.of == g)
            cell = held[codes[rows[0]]] if codes[rows[0]] >= 0 else None
            if isinstance(cell, Centroid | Suppressed) or cell is None:
                continue
            if isinstance(cell, Interval) and cell.hi_open:
                continue
            if p.get("recoding") == "ends" and len(getattr(cell, "values", ())) > 2:
                continue  # all values between two ends, of which the file does not say which
            listed = (
                [cell.lo, cell.hi] if isinstance(cell, Interval) else getattr(cell, "values", ())
            )
            values = raw[o].iloc[rows].astype(object).tolist()
            for v in listed:
                assert any(has(x, v) for x in values), (o, cell, values)
    for c, o, v in found.predicates.itertuples(index=False, name=None):
        first = np.flatnonzero(found.of == c)[0]
        box = {q: row_cell(r.data[q], first) for q in qi}
        many = sum(
            has(raw[o].iloc[i], v)
            and all(fits_missing(box[q], raw[q].iloc[i], q, q in named, trees.get(q)) for q in qi)
            for i in range(len(raw))
        )
        assert many == 1, (c, o, v)
    for c, *record in found.records.itertuples(name=None):
        rows = np.flatnonzero(found.of == c)
        assert any(
            all(has(raw[q].iloc[i], v) for q, v in zip(found.records, record)) for i in rows
        ), record


def kept_rows(n, lost):
    return np.delete(np.arange(n), lost)


def row_cell(s, i):
    codes, held = cells(s)
    return held[codes[i]] if codes[i] >= 0 else None


def fits_missing(cell, value, name, categorical, taxonomy):
    """As `fits`, where missing is a category that sets may name"""
    if (value is None or pd.isna(value)) and isinstance(cell, (Exact, ValueSet)):
        return any(repr(v) == "MISSING" for v in cell.values)
    return fits(cell, value, name, categorical, taxonomy)


# ---------- known tables
SHOP = load_customers().drop(columns="Bought")


def test_who_does_not_say_what_is_tight_is_asked():
    r = MondrianAnonymizer(3).anonymize(SHOP)
    with pytest.raises(ValueError, match="'tight' must say whose listed values all occur"):
        Downcoding(r.data)
    with pytest.raises(ValueError, match="wage"):
        Downcoding(r, tight=["wage"])
    assert Downcoding(r, tight=["Age"]).find().tight == ("Age",)
    assert Downcoding(r, ["Age"]).find().tight == ("Age",)
    assert audit(r.data).singled_out is None
    assert audit(r.data, tight=True).singled_out == r.audit.singled_out == audit(r).singled_out


@pytest.mark.parametrize("cls", [MondrianAnonymizer, ClusterAnonymizer])
def test_both_ends_of_two_rows_are_named(cls):
    """`recoding="ends"` lists the values between, too, but its ends are somebody's"""
    r = cls(2, recoding="ends").anonymize(SHOP)
    sizes = r.text().groupby(list(SHOP))["Age"].transform("size")
    pairs = (sizes == 2) & r.text().Age.str.startswith("[")
    assert pairs.sum() > 4
    assert r.audit.singled_out == pytest.approx(pairs.mean())
    found = Downcoding(r).find()
    named = found.predicates[found.predicates.column == "Age"]
    assert set(named["value"]) <= set(SHOP.Age) and len(named) == pairs.sum()
    towns = pd.DataFrame({"x": [0, 0, 9, 9], "town": list("adbc")})
    found = Downcoding(MondrianAnonymizer(2, recoding="ends").anonymize(towns)).find()
    # of a, b, c and d the file does not say which are the ends; b and c are
    assert sorted(found.predicates["value"]) == ["b", "c"]
    assert MondrianAnonymizer(4, recoding="ends").anonymize(SHOP).audit.singled_out == 0


def test_what_is_not_tight_tells_nothing():
    for r in (
        recode(SHOP, [0] * 7 + [1] * 7, "suppression"),
        SHOP.assign(Age=cell_column([0] * 14, [Centroid(45.0)]))[["Age"]],
    ):
        found = Downcoding(r, tight=True).find()
        assert found.share("named") == found.share("alone") == found.share("whole") == 0


def test_a_raw_table_singles_everybody_out_and_twins_nobody():
    t = pd.DataFrame({"a": [1, 2, 2], "b": list("xyy")})
    found = Downcoding(t, tight=True).find()
    assert found.classes.named.tolist() == [1, 0] and found.share("exact") == 1
    assert audit(t, tight=False).singled_out == pytest.approx(1 / 3)


def test_other_columns_are_not_tight_for_rows_told_apart_by_more():
    X = make_population(60, 0)[["age", "hours", "income"]]
    r = MondrianAnonymizer(3, quasi_identifiers=["age", "hours"], published=["income"]).anonymize(X)
    with pytest.raises(ValueError, match="'tight' must say"):
        Downcoding(r, ["age", "hours", "income"])


def test_a_file_knows_what_its_release_knew(tmp_path):
    from ppdt.release import read_release

    X = make_population(300, 0)[["age", "education", "hours"]]
    r = MondrianAnonymizer(3).anonymize(X)
    r.to_csv(tmp_path / "out.csv")
    read = read_release(tmp_path / "out.csv")
    assert read.audit.singled_out == pytest.approx(r.audit.singled_out) and r.audit.singled_out > 0
    mine, theirs = Downcoding(r).find(), Downcoding(read).find()
    assert sorted(map(str, mine.predicates["value"])) == sorted(
        map(str, theirs.predicates["value"])
    )


ADULT = [
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
    "hours-per-week",
]


def test_adult_as_first_measured():
    X = fetch_adult("train", complete=True)[ADULT]
    for k, how, named, alone, whole in (
        (5, {}, 0.136, 0.405, 0.043),
        (5, {"recoding": "interval"}, 0.006, 0.052, 0.028),
        (5, {"mode": "relaxed"}, 0.006, 0.023, 0.021),
    ):
        r = MondrianAnonymizer(k, quasi_identifiers=ADULT, **how).anonymize(X)
        found = Downcoding(r).find()
        seen = [found.share(o) for o in ("named", "alone", "whole")]
        assert seen == pytest.approx([named, alone, whole], abs=6e-4), (k, how)
        assert r.audit.singled_out == found.share("named")
        if k == 5 and not how:
            assert wrong_predicates(X, r, found, 300) == 0
    assert found.share("alone_inside") == pytest.approx(0.258, abs=6e-4)


def wrong_predicates(X, r, found, most):
    """How many of some predicates do not find exactly one row of the raw table"""
    some = found.predicates.sample(most, random_state=0)
    first = np.unique(found.of, return_index=True)[1]
    wrong = 0
    for c, o, v in some.itertuples(index=False, name=None):
        box = [row_cell(r.data[q].iloc[[first[c]]], 0) for q in X]
        inside = np.logical_and.reduce([X[q].isin(list(b.values)) for q, b in zip(X, box)])
        wrong += int((inside & (X[o] == v)).sum() != 1)
    return wrong
