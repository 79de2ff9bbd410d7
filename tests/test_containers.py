"""Tables of polars and pyarrow, lists of lists, numbered columns: by name, and as what they hold"""

import copy
import dataclasses
import datetime
import pickle
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from ppdt.c45 import C45Classifier, ID3Classifier, PARTClassifier
from ppdt.datasets import make_population
from ppdt.encoder import ReleaseEncoder
from ppdt.generalization import Taxonomy
from ppdt.id3_sets import GeneralizedID3Classifier
from ppdt.kadet import KADETClassifier
from ppdt.learners import MDLDiscretizer, NaiveBayesClassifier, logistic_regression
from ppdt.mict import MixedKNNClassifier
from ppdt.mondrian import MondrianAnonymizer
from ppdt.privacy import audit
from ppdt.release import AnonymizedClassifier, GuaranteeError, Release
from ppdt.tables import (
    Centroid,
    Exact,
    Interval,
    Node,
    Suppressed,
    ValueSet,
    cell_column,
    check_table,
)

TABLES = {
    "polars": pl.from_pandas,
    "pyarrow": lambda X: pa.Table.from_pandas(X, preserve_index=False),
    "record batch": lambda X: pa.RecordBatch.from_pandas(X, preserve_index=False),
    "pandas": lambda X: X,
}
COLUMNS = {
    "polars": lambda y: pl.Series(y.name, y.astype(str).tolist()),
    "pyarrow": lambda y: pa.chunked_array([y.astype(str).tolist()]),
    "record batch": lambda y: pa.array(y.astype(str).tolist()),
    "pandas": lambda y: y.astype(str),
}
each = pytest.mark.parametrize("kind", list(TABLES))


def people(n=120, numbers=True):
    X = make_population(n, random_state=0)
    y = X["income"].rename("income")
    X = X[["age", "education", "region", "hours"]]
    X = X.astype({"education": str, "region": str})
    return (X if numbers else X[["education", "region"]]), y


LEARNERS = [
    C45Classifier(),
    PARTClassifier(),
    NaiveBayesClassifier(),
    MixedKNNClassifier(),
    KADETClassifier(k=5),
    logistic_regression(),
    make_pipeline(ReleaseEncoder(), DecisionTreeClassifier(random_state=0)),
    AnonymizedClassifier(MondrianAnonymizer(k=5), C45Classifier()),
    AnonymizedClassifier(MondrianAnonymizer(k=5), C45Classifier(), test="recoded"),
    ID3Classifier(),
    GeneralizedID3Classifier(random_state=0),
]


@each
@pytest.mark.parametrize("clf", LEARNERS, ids=lambda o: str(o)[:40])
def test_columns_are_found_by_name(kind, clf):
    "Fitted on pandas or on the other library, asked in another order of columns"
    X, y = people(numbers=not isinstance(clf, (ID3Classifier, GeneralizedID3Classifier)))
    turned = X[list(X)[::-1]]
    expected = clf.fit(X, y.astype(str)).predict(X)
    assert clf.predict(TABLES[kind](turned)).tolist() == expected.tolist()
    clf.fit(TABLES[kind](X), COLUMNS[kind](y))
    assert clf.predict(TABLES[kind](turned)).tolist() == expected.tolist()
    assert clf.predict(turned).tolist() == expected.tolist()
    np.testing.assert_array_equal(clf.predict_proba(TABLES[kind](turned)), clf.predict_proba(X))


@each
def test_names_are_remembered(kind):
    X, y = people()
    for clf in (
        C45Classifier(),
        KADETClassifier(k=3),
        MixedKNNClassifier(),
        NaiveBayesClassifier(),
    ):
        assert clf.fit(TABLES[kind](X), y).feature_names_in_.tolist() == list(X)
        with pytest.raises(ValueError, match="Missing: hours"):
            clf.predict(TABLES[kind](X.drop(columns="hours")))
    anonymizer = MondrianAnonymizer(k=3).fit(TABLES[kind](X), y)
    assert anonymizer.feature_names_in_.tolist() == list(X)
    discrete = MDLDiscretizer().fit(TABLES[kind](X), y)
    assert discrete.feature_names_in_.tolist() == list(X)


@each
def test_releases_are_the_same(kind):
    X, y = people()
    release = MondrianAnonymizer(k=5).anonymize(X, y.astype(str))
    other = MondrianAnonymizer(k=5).anonymize(TABLES[kind](X), COLUMNS[kind](y))
    names = list(X)
    assert isinstance(other.data, pd.DataFrame)
    assert other.text()[names].equals(release.text()[names])
    assert other.audit.k == release.audit.k
    assert audit(TABLES[kind](X), names).k >= 1


@each
def test_what_columns_hold_comes_through(kind):
    X = pd.DataFrame(
        {
            "whole": [1, 2, 3, 4],
            "real": [0.5, np.nan, 2.0, 3.0],
            "word": ["a", None, "c", "d"],
            "day": pd.to_datetime(["2024-01-01", "2024-02-01", None, "2024-03-01"]),
            "flag": [True, False, True, True],
            "known": pd.Categorical(["x", "y", "x", "x"], ["x", "y", "z"]),
        }
    )
    found = check_table(TABLES[kind](X))
    assert found.isna().to_numpy().tolist() == X.isna().to_numpy().tolist()
    assert [o.kind for o in found.dtypes.iloc[:2]] == ["i", "f"]
    assert found.day.dtype.kind == "M" and found.flag.dtype == bool
    assert found.word.dropna().tolist() == ["a", "c", "d"]
    if kind == "polars":  # categories of polars have no declared order
        assert found.known.tolist() == ["x", "y", "x", "x"]
    else:
        assert found.known.cat.categories.tolist() == ["x", "y", "z"]


def test_kinds_of_polars_and_pyarrow():
    days = [datetime.date(2024, 1, i) for i in (1, 2, 3)]
    for table in (pl.DataFrame({"day": days}), pa.table({"day": days})):
        assert check_table(table).day.dtype.kind == "M"
    enum = pl.Series("a", ["u", "v"], dtype=pl.Enum(["w", "v", "u"]))
    assert check_table(pl.DataFrame({"a": enum})).a.cat.categories.tolist() == ["w", "v", "u"]
    X, y = people()
    for lazy in (pl.from_pandas(X).lazy(),):
        with pytest.raises(TypeError, match="'X' must be a table in memory. Got a LazyFrame"):
            C45Classifier().fit(lazy, y)
    for column in (pl.Series([1, 2]), pa.array([1, 2])):
        with pytest.raises((TypeError, ValueError), match="two.dimension"):
            C45Classifier().fit(column, ["u", "v"])
    with pytest.raises(ValueError, match="'y' must have one value for each row of X. Got 2"):
        C45Classifier().fit(pl.from_pandas(X), pl.Series(["u", "v"]))


def test_numbers_stay_numbers_in_lists():
    X, y = people()
    lists = X.astype({"education": str, "region": str}).to_numpy(dtype=object).tolist()
    table = check_table(lists)
    assert [o.kind for o in table.dtypes.iloc[[0, 3]]] == ["i", "i"]
    frame = X.set_axis([f"x{i}" for i in range(4)], axis=1)
    for clf in (C45Classifier(), KADETClassifier(k=3, public=["x0"]), NaiveBayesClassifier()):
        known = clf.fit(frame, y).predict(frame).tolist()
        assert clf.fit(lists, y).predict(lists).tolist() == known
    assert check_table([[1, None], [2.5, "a"]]).x0.tolist() == [1, 2.5]
    assert check_table(((1, 2), (3, 4))).to_numpy().tolist() == [[1, 2], [3, 4]]
    for bad in ([[1, 2], [3]], [[]], [], [1, 2], [[[1]]]):
        with pytest.raises(ValueError, match="'X' must"):
            check_table(bad)


def test_numbered_columns():
    X, y = people()
    numbered = pd.DataFrame(X.to_numpy(dtype=object)).infer_objects()
    clf = C45Classifier().fit(numbered, y)
    assert clf.feature_names_in_.tolist() == ["0", "1", "2", "3"]
    assert clf.predict(numbered[[3, 1, 0, 2]]).tolist() == clf.predict(numbered).tolist()
    for names in ([0, 1], ["0", "1"]):
        release = MondrianAnonymizer(k=5, quasi_identifiers=names, published=[2, 3]).anonymize(
            numbered, y
        )
        assert release.roles.quasi_identifiers == ("0", "1") and list(release.data) == list("0123")
    with pytest.raises(ValueError, match="'quasi_identifiers' must name columns.*Got 7"):
        MondrianAnonymizer(k=5, quasi_identifiers=[7]).fit(numbered, y)
    for odd in (numbered.rename(columns={0: "a"}), numbered.rename(columns={0: 0.5})):
        with pytest.raises(TypeError, match="must be strings, or all whole numbers"):
            clf.fit(odd, y)


@pytest.mark.parametrize(
    "clf", [C45Classifier(), NaiveBayesClassifier(), MixedKNNClassifier(), "sets"], ids=str
)
def test_a_release_alone_is_enough_to_learn_from(clf):
    X, y = people(numbers=clf != "sets")
    clf = GeneralizedID3Classifier(convert="fractional") if clf == "sets" else clf
    release = MondrianAnonymizer(k=5).anonymize(X, y)
    expected = clf.fit(release.data, release.y).predict(X).tolist()
    assert clf.fit(release).predict(X).tolist() == expected
    with pytest.raises(TypeError, match="Got a Release: use its table, release.data"):
        clf.fit(release, y)
    with pytest.raises(ValueError, match="'y' must be the class of each row. Got None"):
        clf.fit(release.data)
    with pytest.raises(ValueError, match="'y' must be the class of each row. Got None"):
        clf.fit(MondrianAnonymizer(k=5).anonymize(X))


def test_copies_of_a_release():
    X, y = people()
    release = MondrianAnonymizer(k=5).anonymize(X, y)
    for how in (copy.copy, copy.deepcopy):
        other = how(release)
        assert other.text().equals(release.text()) and other.audit == release.audit
    other.data["age"] = X.age.to_numpy()
    with pytest.raises(GuaranteeError):
        other.text()
    assert release.text().equals(copy.copy(release).text())
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(other)


def test_parquet_of_an_owners_table_names_what_to_call(tmp_path):
    X, y = people()
    release = MondrianAnonymizer(k=5).anonymize(X, y)
    for other in (
        release,
        copy.copy(release),
        copy.deepcopy(release),
        dataclasses.replace(release),
    ):
        with pytest.raises(pa.ArrowInvalid) as e:
            other.data.to_parquet(tmp_path / "out.parquet")
        assert "release.to_parquet(path) writes text cells" in e.value.__notes__[0]
    assert not list(tmp_path.iterdir())
    release.data.to_pickle(tmp_path / "own.pkl")
    assert pd.read_pickle(tmp_path / "own.pkl").equals(release.data)
    # a table of plain values is written as ever
    plain = Release(X)
    plain.data.to_parquet(tmp_path / "raw.parquet", index=False)
    assert pd.read_parquet(tmp_path / "raw.parquet").equals(X)
    frame = weakref.ref(MondrianAnonymizer(k=5).anonymize(X, y).data)
    assert frame() is None  # nothing keeps a table that nobody holds


# the accessor


def test_cells_answer():
    tree = Taxonomy.from_dict({"*": {"health": ["nurse", "doctor"], "food": ["cook"]}})
    cells = [
        Exact(30),
        ValueSet([20, 30, 50]),
        Interval(20, 30, True),
        Interval(30, 30),
        Suppressed(),
        Centroid(30.0),
    ]
    s = cell_column([0, 1, 2, 3, 4, 5, -1], cells).rename("age").set_axis(list("abcdefg"))
    assert s.ppdt.may_be(30).tolist()[:5] == [True, True, False, True, True]
    assert s.ppdt.may_be(29.5).tolist()[:5] == [False, False, True, False, True]
    assert s.ppdt.may_be(30).loc["g"] and s.ppdt.may_be(30).dtype == bool
    assert s.ppdt.exact().tolist() == [True, False, False, True, False, False, False]
    assert s.ppdt.width().tolist()[:4] == [0, 30, 10, 0] and s.ppdt.width()[4:].isna().all()
    assert s.ppdt.width().name == "age" and s.ppdt.width().index.tolist() == list("abcdefg")
    jobs = cell_column([0, 1, 2], [Exact("cook"), Node("health"), Node("food")])
    assert jobs.ppdt.may_be("nurse", tree).tolist() == [False, True, False]
    assert jobs.ppdt.exact(tree).tolist() == [True, False, True]
    assert jobs.ppdt.width(tree).tolist() == [0, 1, 0]
    assert jobs.ppdt.width().isna().tolist() == [False, True, True]
    with pytest.raises(ValueError, match="axonom"):
        jobs.ppdt.may_be("nurse")
    with pytest.raises(ValueError, match="use s.isna"):
        s.ppdt.may_be(np.nan)
    days = pd.Series(pd.to_datetime(["2024-01-01", "2024-01-03"]))
    assert days.ppdt.exact().all() and days.ppdt.may_be("2024-01-01").dtype == bool
    assert days.ppdt.may_be(pd.Timestamp("2024-01-01")).tolist() == [True, False]
    assert "may_be(value)" in repr(s.ppdt)
