"""What an attacker believes of people, compared with one pair after the other."""

import warnings

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from registry import ANONYMIZERS, REGISTRY, tasks

from ppdt.attacks import FittingRows, attack, gain_of
from ppdt.datasets import load_customers
from ppdt.engine.coding import encode
from ppdt.mondrian import MondrianAnonymizer
from ppdt.tables import Centroid, Exact, Suppressed, cell_column, cells, possible

CUSTOMERS = load_customers()
X, Y = CUSTOMERS.drop(columns="Bought"), CUSTOMERS.Bought


def fits(cell, value, name, categorical, taxonomy):
    """May the cell stand for a value, alone in its domain?"""
    if value is None or pd.isna(value):
        return cell is None or isinstance(cell, Suppressed)
    if cell is None:
        return False
    domain, _ = encode(pd.Series([value], name=name), categorical)
    return bool(possible(cell, domain, taxonomy)[0])


def by_pairs(release, people, categorical, trees):
    """For each person the classes of the rows that fit"""
    columns = {o: cells(release.data[o]) for o in release.roles.quasi_identifiers}
    classes = list(release.y)
    for i in range(len(people)):
        found = []
        for row in range(len(classes)):
            here = {o: held[c[row]] if c[row] >= 0 else None for o, (c, held) in columns.items()}
            if all(
                fits(cell, people[o].iloc[i], o, o in categorical, trees.get(o))
                for o, cell in here.items()
            ):
                found.append(classes[row])
        yield found


def has_averages(data):
    return any(isinstance(c, Centroid) for o in data for c in cells(data[o])[1])


@pytest.mark.parametrize("cls", ANONYMIZERS, ids=lambda c: c.__name__)
@one_in(25)
@given(data=st.data())
def test_rows_that_fit_are_those_found_one_by_one(cls, data):
    X, y, p = data.draw(tasks(cls, missing=False))
    if y is None:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some words look like cells
            r = cls(**p).anonymize(X, y)
    except ValueError as e:
        assert any(o in str(e) for o in REGISTRY[cls].impossible)
        return
    if not len(r.data) or has_averages(r.data):
        return
    named = p["categorical"] or ()
    attacker = FittingRows(r, categorical=named, taxonomies=p.get("taxonomies"))
    seen = attacker.believe(X)
    trees = {**r.taxonomies, **(p.get("taxonomies") or {})}
    whole = list(r.y)
    for i, found in enumerate(by_pairs(r, X, named, trees)):
        assert seen.rows[i] == len(found)
        found = found or whole
        shares = [found.count(o) / len(found) for o in seen.classes]
        assert seen.shares[i] == pytest.approx(shares)
        assert seen.is_certain[i] == (seen.rows[i] > 0 and max(shares) == 1)
        assert seen.guess[i] == seen.classes[int(np.argmax(shares))]
    kept = np.delete(np.arange(len(X)), r.lost)
    assert (seen.rows[kept] >= 1).all(), "who is in the table fits his own row"


@given(
    st.lists(st.integers(0, 9), min_size=2, max_size=9),
    st.lists(st.integers(0, 12), min_size=1, max_size=5),
    st.data(),
)
def test_the_nearest_averages_are_those_found_one_by_one(ages, asked, data):
    words = data.draw(st.lists(st.sampled_from("ab"), min_size=len(ages), max_size=len(ages)))
    asked_words = data.draw(
        st.lists(st.sampled_from("ab"), min_size=len(asked), max_size=len(asked))
    )
    held, at = np.unique(ages, return_inverse=True)
    shown = cell_column(at, [Centroid(float(v)) for v in held])
    t = pd.DataFrame({"age": shown, "word": words})
    people = pd.DataFrame({"age": asked, "word": asked_words})
    y = np.where(np.array(ages) % 2, "odd", "even")
    seen = FittingRows(t, y).believe(people)
    both = [*ages, *asked]
    width = max(both) - min(both) or 1
    for i, (age, word) in enumerate(zip(asked, asked_words)):
        far = [((age - a) / width) ** 2 + (word != w) for a, w in zip(ages, words)]
        near = [j for j, d in enumerate(far) if d <= min(far) + 1e-9]
        assert seen.rows[i] == len(near)
        assert seen.shares[i][-1] == pytest.approx(
            np.mean([y[j] == seen.classes[-1] for j in near])
        )


def test_suppressed_rows_fit_everybody_and_strangers_fit_none():
    t = pd.DataFrame({"Age": cell_column([0, 0, 1], [Exact(30), Suppressed()])})
    seen = FittingRows(t, list("aab")).believe(pd.DataFrame({"Age": [30, 31]}))
    assert seen.rows.tolist() == [3, 1] and seen.guess.tolist() == ["a", "b"]
    seen = FittingRows(t.iloc[:2], list("ab")).believe(pd.DataFrame({"Age": [31]}))
    assert seen.rows.tolist() == [0] and not seen.is_certain.any()
    assert seen.shares.tolist() == [[0.5, 0.5]]


def test_a_raw_table_tells_all_of_those_in_it():
    found = attack(FittingRows(X, Y), X, Y, X.assign(Age=X.Age + 100), Y)
    assert found.presence.gain == 1 and found.presence.low > 0.6
    assert found.certain.share_in == 1 and found.certain.share_out == 0
    assert "class certain, right   100.0% in, 0.0% out" in str(found)


def test_the_same_people_twice_are_no_gain():
    r = MondrianAnonymizer(3).anonymize(X, Y)
    found = attack(FittingRows(r), X, Y, X, Y)
    for o in (found.presence, found.certain, found.guess):
        assert o.gain == 0 and o.low <= 0 <= o.high


@given(st.lists(st.booleans(), min_size=1), st.lists(st.booleans(), min_size=1))
def test_intervals_hold_the_difference_and_mirror(a, b):
    one, other = gain_of(a, b), gain_of(b, a)
    assert -1 <= one.low <= one.gain <= one.high <= 1
    assert one.low == pytest.approx(-other.high) and one.gain == pytest.approx(-other.gain)


def test_what_cannot_be_used_is_refused_in_words():
    with pytest.raises(ValueError, match="'y' must be the class"):
        FittingRows(X)
    with pytest.raises(ValueError, match="'people' must have the columns that are measured"):
        FittingRows(X, Y).believe(X[["Age"]])
    with pytest.raises(ValueError, match="'hits_out' must tell of one person"):
        gain_of([True], [])


def test_kinds_and_classes_that_do_not_fit_are_no_good_news():
    r = MondrianAnonymizer(3).anonymize(X, Y)
    texts = X.assign(Age=X.Age.astype(str))
    with pytest.raises(ValueError, match="'people' must have the kind.*texts in column 'Age'"):
        attack(r, texts, Y, texts, Y)
    with pytest.raises(ValueError, match="texts in column 'Gender'"):
        FittingRows(r).believe(X.assign(Gender=1))
    with pytest.raises(ValueError, match="'y_in' must hold classes of the release"):
        attack(r, X, Y == "Yes", X, Y)
    with pytest.raises(ValueError, match="'y_out' must have one class for each person"):
        attack(r, X, Y, X, Y[:5])
    with pytest.raises(TypeError, match="'release' must be one release. Got 2"):
        FittingRows([r, r])
    assert attack(r, X, Y, X, Y) == attack(FittingRows(r), X, Y, X, Y)
