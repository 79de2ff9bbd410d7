"""Where a person has several rows, every group holds rows of k persons, whatever the method.

The promise is counted here by sets of names, without a line of ppdt's own counting.
"""

import pickle
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import assume, given, strategies as st
from random_tables import row_cells
from registry import ANONYMIZERS, REGISTRY, example, tasks

from ppdt.cli import main
from ppdt.datasets import make_population
from ppdt.diversity import Alpha, LDiversity, TCloseness
from ppdt.engine.persons import allow_persons
from ppdt.erp import ERPAnonymizer
from ppdt.kactus import KActusAnonymizer
from ppdt.mict import MiCTAnonymizer
from ppdt.mondrian import MondrianAnonymizer
from ppdt.privacy import audit
from ppdt.release import read_release
from ppdt.tables import Suppressed
from ppdt.tds import TDSAnonymizer

every_method = pytest.mark.parametrize("cls", list(ANONYMIZERS), ids=lambda o: o.__name__)


def persons_of_classes(data, qi, person):
    """The persons of each class of rows that are alike and not all suppressed"""
    found = defaultdict(set)
    for row, who in zip(zip(*(row_cells(data[o]) for o in qi)), person):
        if not all(isinstance(c, Suppressed) for c in row):
            found[row].add(who)
    return found


def counts_rows(p):
    """Parameters whose promise counts rows, so that persons are refused"""
    return p.get("groups") is not None or any(isinstance(o, TCloseness) for o in p["constraints"])


@every_method
@one_in(25)
@given(data=st.data())
def test_every_group_holds_rows_of_k_persons(cls, data):
    X, y, p = data.draw(tasks(cls))
    names = data.draw(st.lists(st.integers(0, 6), min_size=len(X), max_size=len(X)))
    X = X.assign(whose=[f"somebody {i}" for i in names])
    p |= {"person": "whose", "constraints": ()}
    assume(REGISTRY[cls].alike(p) and not counts_rows(p))
    tool = cls(**p)
    assume(tool.guarantee is not None)
    try:
        r = tool.anonymize(X, y)
    except ValueError as e:
        known = (*REGISTRY[cls].impossible, "number of persons", "'k' must not exceed")
        assert any(o in str(e) for o in known), e
        return
    kept = np.setdiff1d(np.arange(len(X)), r.lost)
    groups = persons_of_classes(r.data, r.roles.quasi_identifiers, X["whose"].iloc[kept])
    assert "whose" not in r.data
    assert all(len(o) >= p["k"] for o in groups.values())
    assert r.audit.holds and r.audit.persons == len(set(X["whose"].iloc[kept]))
    assert b"somebody" not in pickle.dumps(tool)


@every_method
def test_one_row_a_person_is_as_without_persons(cls):
    X, y = make_population(120, 0), ["a", "b"] * 60
    p = {"recoding": "uniform"} if cls is ERPAnonymizer else {}
    plain = example(cls, X, k=4, **p).anonymize(X, y)
    named = X.assign(whose=range(120))
    persons = example(cls, X, k=4, person="whose", **p).anonymize(named, y)
    assert persons.audit.k >= 4
    if cls.__name__ in ("MondrianAnonymizer", "TDSAnonymizer", "TDRAnonymizer"):
        pd.testing.assert_frame_equal(plain.data, persons.data)


@every_method
def test_new_rows_need_no_person(cls):
    X, y = make_population(80, 0), ["a", "b"] * 40
    p = {"recoding": "uniform"} if cls is ERPAnonymizer else {}
    tool = example(cls, X, k=3, person="whose", **p).fit(X.assign(whose=range(80)), y)
    if tool.recodes_new_rows:
        assert list(tool.transform(X.head(5)).columns) == list(X.columns)
    assert "whose" not in tool.get_feature_names_out()


def visits(n_persons, rows):
    """A population where everybody has the same number of rows"""
    X = make_population(n_persons, 1)
    X = X.loc[X.index.repeat(rows)].reset_index(drop=True)
    X["whose"] = np.repeat([f"somebody {i}" for i in range(n_persons)], rows)
    return X


def test_three_rows_a_person():
    X = visits(300, 3)
    qi = [o for o in X if o != "whose"]
    rows = MondrianAnonymizer(k=5, identifiers=["whose"]).anonymize(X)
    persons = MondrianAnonymizer(k=5, person="whose").anonymize(X)
    assert rows.audit.holds and audit(rows.data, qi, person=X["whose"]).k == 2
    assert audit(persons.data, qi, person=X["whose"]).k >= 5


def test_the_loss_is_that_of_one_row_a_person_with_strict_cuts():
    X = visits(300, 3)
    persons = MondrianAnonymizer(k=5, person="whose").anonymize(X)
    one = MondrianAnonymizer(k=5).anonymize(X.drop(columns="whose").iloc[::3])
    pd.testing.assert_frame_equal(
        persons.data.iloc[::3].reset_index(drop=True), one.data.reset_index(drop=True)
    )


@pytest.mark.parametrize("method", [KActusAnonymizer, MiCTAnonymizer])
def test_fewer_than_k_persons_are_lost(method):
    X = visits(60, 4)
    y = ["a", "b", "b"] * 80
    tool = (
        method(k=7, person="whose", shortfall="lose", random_state=0)
        if (method is KActusAnonymizer)
        else method(k=7, person="whose", shortfall="lose")
    )
    r = tool.anonymize(X, y)
    assert tool.guarantee.startswith("k-anonymity, counted in persons; ")
    assert tool.guarantee.endswith("; fewer than k persons lost")
    assert X["whose"].iloc[r.lost].nunique() < 7


# ---------- secrets
@one_in(2)
@given(st.data())
def test_constraints_count_a_person_once(data):
    n = data.draw(st.integers(4, 25))
    names = np.array(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)))
    secret = np.array(["flu", "cold", "gout"])[(names * names) % 3]
    X = pd.DataFrame(
        {
            "age": data.draw(st.lists(st.integers(20, 26), min_size=n, max_size=n)),
            "whose": names,
            "illness": secret,
        }
    )
    wish = data.draw(
        st.sampled_from([LDiversity(2, sensitive="illness"), Alpha(0.6, sensitive="illness")])
    )
    tool = MondrianAnonymizer(k=2, quasi_identifiers=["age"], person="whose", constraints=[wish])
    try:
        r = tool.anonymize(X)
    except ValueError as e:
        assert "whole table" in str(e) or "number of persons" in str(e)
        return
    for people in persons_of_classes(r.data, ["age"], X["whose"]).values():
        ills = [("flu", "cold", "gout")[(o * o) % 3] for o in people]
        if isinstance(wish, LDiversity):
            assert len(set(ills)) >= 2
        else:
            assert max(map(ills.count, ills)) <= 0.6 * len(ills) + 1e-9


def test_a_file_has_no_persons(tmp_path):
    """By rows the share is 3 of 4; by persons 1 of 2. The file is not blamed for its rows"""
    X = pd.DataFrame({"age": [1, 1, 1, 1], "who": [1, 1, 1, 2], "ill": list("aaab")})
    tool = MondrianAnonymizer(
        k=2,
        quasi_identifiers=["age"],
        person="who",
        constraints=[Alpha(0.5, sensitive="ill")],
    )
    r = tool.anonymize(X)
    r.to_csv(tmp_path / "r.csv")
    back = read_release(tmp_path / "r.csv")
    assert r.audit.holds and back.audit.holds is None
    assert "counted in persons" in back.schema.promise["words"]


def test_several_secrets_of_a_person_are_refused():
    X = pd.DataFrame({"age": [1, 1, 2, 2], "who": [1, 1, 2, 3], "ill": list("abab")})
    tool = MondrianAnonymizer(
        k=2,
        quasi_identifiers=["age"],
        person="who",
        constraints=[LDiversity(2, sensitive="ill")],
    )
    with pytest.raises(ValueError, match="one secret a person. Got several in 'ill' for 1 person"):
        tool.anonymize(X)


# ---------- bad input
SHOP = visits(20, 2)


@pytest.mark.parametrize(
    "p, message",
    [
        (dict(person="nobody"), "'person' must name a column of the table. Got 'nobody'"),
        (dict(person=3), "'person' must name a column"),
        (dict(person=["whose"]), "'person' must name a column"),
        (dict(person="whose", k=21), "names 20 in 40 rows: choose a smaller k"),
        (dict(person="whose", quasi_identifiers=["whose"]), "A column must have one role"),
    ],
)
def test_bad_persons(p, message):
    with pytest.raises(ValueError, match=message):
        MondrianAnonymizer(**p).anonymize(SHOP)


def test_everybody_is_somebody():
    X = SHOP.assign(whose=[None, *SHOP["whose"][1:]])
    with pytest.raises(ValueError, match="who each row is about. Got 1 missing in 'whose'"):
        MondrianAnonymizer(k=2, person="whose").anonymize(X)


def test_promises_that_count_rows_refuse_persons():
    y = ["a", "b"] * 20
    with pytest.raises(ValueError, match="'person' must be None with recoding='tiered'"):
        ERPAnonymizer(k=2, person="whose").anonymize(SHOP, y)
    qi = [o for o in SHOP if o != "whose"]
    with pytest.raises(ValueError, match="'person' must be None with 'groups'"):
        TDSAnonymizer(k=2, person="whose", groups=[(qi[:1], 2)]).anonymize(SHOP, y)
    wish = [TCloseness(0.5)]
    with pytest.raises(ValueError, match="Got TCloseness: make one row of each person"):
        MondrianAnonymizer(k=2, person="whose", constraints=wish).anonymize(SHOP, y)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=30),
    st.integers(1, 4),
)
def test_allow_persons_counts_sets(pairs, k):
    who, groups = map(np.array, zip(*pairs))
    n = int(groups.max()) + 1
    sets = [set(who[groups == g]) for g in range(n)]
    found = allow_persons(who, k)(np.arange(len(who)), groups, n)
    assert found.tolist() == [len(o) >= k for o in sets]


# ---------- the command
def test_the_command_counts_persons(tmp_path, capsys):
    source, out = tmp_path / "visits.csv", tmp_path / "out.csv"
    visits(40, 3).to_csv(source, index=False)
    qi = ",".join(o for o in SHOP if o != "whose")
    asked = ["anonymize", str(source), "--qi", qi, "--k", "4", "-o", str(out)]
    assert main([*asked, "--person", "whose"]) == 0
    said = capsys.readouterr().out
    assert "whose (dropped; persons are counted)" in said and "persons" in said
    assert "whose" not in out.read_text() and "somebody" not in out.read_text()
    assert main([*asked, "--person", "nobody"]) == 2
    assert "--person" in capsys.readouterr().err


def test_the_file_alone_does_not_tell_of_persons(tmp_path, capsys):
    """Its classes have 12 rows at least, and 4 persons: k = 7 persons is not said to hold"""
    source, out = tmp_path / "visits.csv", tmp_path / "out.csv"
    visits(40, 3).to_csv(source, index=False)
    qi = ",".join(o for o in SHOP if o != "whose")
    anonymize = ["anonymize", str(source), "--qi", qi, "--k", "4", "-o", str(out)]
    assert main([*anonymize, "--person", "whose"]) == 0
    for asked in ([], ["--k", "4"], ["--k", "7"]):
        capsys.readouterr()
        assert main(["audit", str(out), *asked]) == 3
        said = capsys.readouterr().out
        assert "counted in persons" in said and "shows rows only" in said
    assert main(["audit", str(out), "--k", "1000"]) == 1
