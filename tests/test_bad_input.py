"""Bad input. An error says which parameter, what is allowed, what came and what to do, and nothing
is written.

Each case gives four pieces of its message. After the errors comes what looks bad and has to work.
"""

import re

import numpy as np
import pandas as pd
import pytest

from ppdt.datasets import load_customers
from ppdt.id3_sets import GeneralizedID3Classifier
from ppdt.mondrian import MondrianAnonymizer
from ppdt.privacy import audit
from ppdt.release import AnonymizedClassifier, read_release
from ppdt.tables import MISSING, Interval, MixedTypesWarning, TextFormError, read_text

T = load_customers()
X, y = T.drop(columns="Bought"), T["Bought"]


def _fails(error, pieces, f):
    """f raises `error`, and its message holds all the pieces"""
    with pytest.raises(error) as e:
        f()
    text = str(e.value)
    assert type(e.value) is error, f"{type(e.value).__name__} instead of {error.__name__}: {text}"
    lacks = [o for o in pieces if o not in text]
    assert not lacks, f"the message lacks {lacks}: {text}"
    assert "\n" not in text and "Traceback" not in text


def _fit(X=X, y=y, **p):
    return lambda: MondrianAnonymizer(**{"k": 3} | p).anonymize(X, y)


# which parameter, what is allowed, what came, what to do
ANONYMIZE = {
    "unknown quasi-identifier": (
        ValueError,
        ["'quasi_identifiers'", "columns of the table", "'age'", "Gender, Marital, Age"],
        _fit(quasi_identifiers=["age"]),
    ),
    "unknown categorical": (
        ValueError,
        ["'categorical'", "columns of the table", "'age'", "Gender, Marital, Age"],
        _fit(categorical=["age"]),
    ),
    "unknown identifier": (
        ValueError,
        ["'identifiers'", "columns of the table", "'Name'", "Gender, Marital, Age"],
        _fit(identifiers=["Name"]),
    ),
    "a string for a list": (
        ValueError,
        ["'quasi_identifiers'", "a list", "'Age'", "use ['Age']"],
        _fit(quasi_identifiers="Age"),
    ),
    "a set for a list": (
        TypeError,
        ["'quasi_identifiers'", "a list of column names", "Got set", "use a list"],
        _fit(quasi_identifiers={"Age", "Gender"}),
    ),
    "a number for a list": (
        TypeError,
        ["'identifiers'", "a list of column names", "Got int", "use a list"],
        _fit(identifiers=3),
    ),
    "a name twice": (
        ValueError,
        ["'quasi_identifiers'", "once", "'Age' 2 times"],
        _fit(quasi_identifiers=["Age", "Age"]),
    ),
    "no quasi-identifier": (
        ValueError,
        ["'quasi_identifiers'", "at least one", "Got none", "name the columns"],
        _fit(quasi_identifiers=[]),
    ),
    "two roles": (
        ValueError,
        ["one role", "'quasi_identifiers'", "'identifiers'", "'Age'", "leave it in one"],
        _fit(quasi_identifiers=["Age"], identifiers=["Age"]),
    ),
    "class as quasi-identifier": (
        ValueError,
        ["'quasi_identifiers'", "must not hold the class", "'Bought'", "leave it out"],
        _fit(T, y, quasi_identifiers=["Age", "Bought"]),
    ),
    "class as quasi-identifier, not in X": (
        ValueError,
        ["'quasi_identifiers'", "must not hold the class", "'Bought'", "leave it out"],
        _fit(X, y, quasi_identifiers=["Age", "Bought"]),
    ),
    "class in X as well": (
        ValueError,
        ["'y'", "must not be a column of X", "'Bought'", "drop it"],
        _fit(T, y),
    ),
    "nameless class and a column called so": (
        ValueError,
        ["'y'", "must not be a column of X", "'class'", "another name"],
        _fit(X.rename(columns={"Age": "class"}), y.tolist()),
    ),
    "class by name": (
        ValueError,
        ["'y'", "class of each row", "'Bought'", "X.drop(columns='Bought')"],
        _fit(T, "Bought"),
    ),
    "class too short": (
        ValueError,
        ["'y'", "one value for each row", "Got 3 for 14 rows", "select"],
        _fit(X, y[:3]),
    ),
    "two classes": (
        ValueError,
        ["'y'", "one column", "Got 2", "choose one"],
        _fit(X, T[["Age", "Bought"]]),
    ),
    "a class with two dimensions": (
        ValueError,
        ["'y'", "one dimension", "Got 2"],
        _fit(X, np.ones((14, 2))),
    ),
    "k > n after drops": (
        ValueError,
        ["'k'", "must not exceed the number of rows", "k=14", "leaves 13 of 14 rows", "smaller k"],
        _fit(X.assign(Age=X.Age.where(X.Age > 22)), y, k=14, missing="drop"),
    ),
    "k > n, all rows dropped": (
        ValueError,
        ["'k'", "leaves 0 of 14 rows", "missing='category'"],
        _fit(X.assign(Age=np.nan), y, k=1, missing="drop"),
    ),
    "empty frame": (
        ValueError,
        ["'X'", "at least one row", "empty table", "0 sample(s)"],
        _fit(X[:0], y[:0]),
    ),
    "no column": (ValueError, ["'X'", "at least one column", "0 feature(s)"], _fit(X[[]], y)),
    "a series": (ValueError, ["'X'", "two dimensions", "Got a Series", "to_frame"], _fit(X.Age, y)),
    "one dimension": (
        ValueError,
        ["'X'", "two-dimensional array", "Got 1 dimension"],
        _fit(np.arange(14), y),
    ),
    "missing in a quasi-identifier": (
        ValueError,
        [
            "Quasi-identifiers",
            "no missing values (NaN)",
            "2 in 'Age'",
            "1 in 'Marital'",
            "missing='drop'",
            "missing='category'",
            "fill them in",
        ],
        _fit(
            X.assign(Age=X.Age.where(X.Age.between(23, 79)), Marital=X.Marital.where(X.index != 3)),
            y,
        ),
    ),
    "unknown missing": (
        ValueError,
        ["'missing'", "'error', 'drop', 'category'", "Got 'ignore'"],
        _fit(missing="ignore"),
    ),
    "unknown recoding": (
        ValueError,
        ["'recoding'", "'set'", "'interval'", "Got 'mean'"],
        _fit(recoding="mean"),
    ),
    "repeated column names": (
        ValueError,
        ["'X'", "must differ", "'Age' more than once", "rename"],
        _fit(pd.concat([X, X[["Age"]]], axis=1), y),
    ),
    "column names that are numbers and texts": (
        TypeError,
        ["'X'", "must be strings, or all whole numbers", "[0, 1, 'a']", "map(str)"],
        _fit(X.set_axis([0, 1, "a"], axis=1), y),
    ),
    "infinity": (
        ValueError,
        ["'Age'", "finite numbers", "Got inf", "replace"],
        _fit(X.assign(Age=[np.inf, *range(13)]), y),
    ),
    "minus infinity": (
        ValueError,
        ["'Age'", "finite numbers", "Got -inf", "replace"],
        _fit(X.assign(Age=[-np.inf, *range(13)]), y),
    ),
    "infinity in a published column": (
        ValueError,
        ["'w'", "finite numbers", "Got inf", "replace"],
        _fit(X.assign(w=[np.inf] * 14), y, published=["w"]),
    ),
    "unhashable cells": (
        TypeError,
        ["'tags'", "single values", "['a']", "strings or numbers"],
        _fit(X.assign(tags=[["a"]] * 14), y),
    ),
    "unhashable cells in a published column": (
        TypeError,
        ["'tags'", "single values", "['a']", "strings or numbers"],
        _fit(X.assign(tags=[["a"]] * 14), y, published=["tags"]),
    ),
    "complex numbers": (
        TypeError,
        ["'Age'", "must hold numbers", "complex128", "convert"],
        _fit(X.assign(Age=X.Age + 1j), y),
    ),
    "anonymized already": (
        TypeError,
        ["must hold raw values", "published cells", "anonymized already"],
        lambda: _fit(_fit()().data, y)(),
    ),
}


@pytest.mark.parametrize("case", ANONYMIZE)
def test_anonymize(case):
    _fails(*ANONYMIZE[case])


LEARN = {
    "interval of dates": (
        ValueError,
        ["'born'", "an interval", "recoding='set'", "C4.5"],
        lambda: GeneralizedID3Classifier().fit(
            pd.DataFrame(
                {"born": [Interval(pd.Timestamp("2001-02-03"), pd.Timestamp("2003-04-05"))] * 2}
            ),
            [0, 1],
        ),
    ),
    "many numbers": (
        ValueError,
        ["'q'", "categorical", "21 different values", "recoding='set'", "C4.5"],
        lambda: GeneralizedID3Classifier().fit(pd.DataFrame({"q": range(21)}), [0, 1, 1] * 7),
    ),
    "no class": (
        ValueError,
        ["'y'", "class of each row", "Got None"],
        lambda: GeneralizedID3Classifier().fit(X, None),
    ),
    "missing class": (
        ValueError,
        ["'y'", "no missing values", "Got 1", "drop"],
        lambda: GeneralizedID3Classifier().fit(X[["Gender"]], y.where(y.index != 3)),
    ),
    "class too short": (
        ValueError,
        ["'y'", "one value for each row", "Got 3 for 14 rows"],
        lambda: GeneralizedID3Classifier().fit(X[["Gender"]], y[:3]),
    ),
    "unknown entropy": (
        ValueError,
        ["'entropy'", "'equal_prob'", "Got 'gini'"],
        lambda: GeneralizedID3Classifier(entropy="gini").fit(X[["Gender"]], y),
    ),
    "unknown conversion": (
        ValueError,
        ["'convert'", "'random'", "'fractional'", "Got 'mean'"],
        lambda: GeneralizedID3Classifier(convert="mean").fit(X[["Gender"]], y),
    ),
    "a column lacks at predict": (
        ValueError,
        ["columns seen in fit", "Missing: Marital"],
        lambda: _tree().predict(X[["Gender"]]),
    ),
    "a column too many at predict": (
        ValueError,
        ["columns seen in fit", "Unexpected: Age", "drop"],
        lambda: _tree().predict(X),
    ),
    "anonymizer: a column lacks": (
        ValueError,
        ["columns seen in fit", "Missing: Age", "add"],
        lambda: MondrianAnonymizer(k=3).fit(X, y).transform(X[["Gender", "Marital"]]),
    ),
    "anonymizer: a column too many": (
        ValueError,
        ["columns seen in fit", "Unexpected: Bought", "drop"],
        lambda: MondrianAnonymizer(k=3).fit(X, y).transform(T),
    ),
    "anonymizer: missing in new rows": (
        ValueError,
        ["'Age'", "no missing values (NaN)", "Got 14", "missing='category'"],
        lambda: MondrianAnonymizer(k=3).fit(X, y).transform(X.assign(Age=np.nan)),
    ),
    "anonymizer: text for numbers": (
        ValueError,
        ["'Age'", "numbers", "as in fit", "convert"],
        lambda: MondrianAnonymizer(k=3).fit(X, y).transform(X.assign(Age="old")),
    ),
    "classifier: a column lacks": (
        ValueError,
        ["columns seen in fit", "Missing: Age", "add"],
        lambda: _both().predict(X[["Gender", "Marital"]]),
    ),
    "classifier: a column too many": (
        ValueError,
        ["columns seen in fit", "Unexpected: Bought", "drop"],
        lambda: _both().predict_proba(T),
    ),
    "classifier: unknown test": (
        ValueError,
        ["'test'", "'raw' or 'recoded'", "Got 'both'"],
        lambda: _both(test="both"),
    ),
    "classifier: no anonymizer": (
        TypeError,
        ["'anonymizer'", "an estimator", "Got None", "MondrianAnonymizer(k=5)"],
        lambda: AnonymizedClassifier().fit(X, y),
    ),
    "classifier: no classifier": (
        TypeError,
        ["'classifier'", "an estimator", "Got None", "GeneralizedID3Classifier()"],
        lambda: AnonymizedClassifier(MondrianAnonymizer()).fit(X, y),
    ),
    "classifier: a class for an object": (
        TypeError,
        ["'classifier'", "an estimator", "not the class", "GeneralizedID3Classifier()"],
        lambda: AnonymizedClassifier(MondrianAnonymizer(), GeneralizedID3Classifier).fit(X, y),
    ),
    "classifier: no class": (
        ValueError,
        ["'y'", "class of each row", "Got None"],
        lambda: AnonymizedClassifier(MondrianAnonymizer(), GeneralizedID3Classifier()).fit(X, None),
    ),
    "audit: unknown column": (
        ValueError,
        ["'quasi_identifiers'", "'age'", "Gender, Marital, Age"],
        lambda: audit(X, ["age"]),
    ),
    "audit: k = 0": (ValueError, ["'k'", "at least 1", "Got 0"], lambda: audit(X, k=0)),
}


def _tree():
    return GeneralizedID3Classifier(random_state=0).fit(X[["Gender", "Marital"]], y)


def _both(**p):
    return AnonymizedClassifier(
        MondrianAnonymizer(k=3), GeneralizedID3Classifier(random_state=0), **p
    ).fit(X, y)


@pytest.mark.parametrize("case", LEARN)
def test_learn(case):
    _fails(*LEARN[case])


# files
# --------------------------------------------------------------------------------------------------

FILES = {
    "a quote left open": (b'age,sex\n20,"M\n', ["bad.csv", "whole CSV file", "cut off"]),
    "cut off in a row": (
        b"age,sex,zip\n20,M,1\n21,F",
        ["bad.csv", "3 fields in every row", "Got 2 in row 2", "cut off"],
    ),
    "a row too long": (
        b"age,sex\n20,M\n21,F,9\n",
        ["bad.csv", "2 fields in every row", "Got 3 in row 2", "comma not quoted"],
    ),
    "not UTF-8": (
        "age,name\n20,M\xfcller\n".encode("latin-1"),
        ["bad.csv", "must be UTF-8", "position 13", "save it as UTF-8"],
    ),
    "empty": (b"", ["bad.csv", "column names", "empty file"]),
    "a name twice": (b"age,age\n1,2\n", ["bad.csv", "each column once", "'age' 2 times", "rename"]),
}


@pytest.mark.parametrize("case", FILES)
def test_files(tmp_path, case):
    path = tmp_path / "bad.csv"
    path.write_bytes(FILES[case][0])
    for read in (read_text, read_release):
        _fails(TextFormError, FILES[case][1], lambda: read(path))


def test_a_release_cut_off_anywhere(tmp_path):
    """Whatever the length of the rest, it is read as shorter rows in whole, or refused"""
    r = _fit()()
    r.to_csv(tmp_path / "out.csv")
    r.to_parquet(tmp_path / "out.parquet")
    whole = (tmp_path / "out.csv").read_bytes()
    rows = {tuple(o) for o in read_release(tmp_path / "out.csv").text().itertuples(index=False)}
    for n in range(0, len(whole), 7):
        (tmp_path / "out.csv").write_bytes(whole[:n])
        try:
            part = read_release(tmp_path / "out.csv")
        except TextFormError:
            continue
        assert all(
            tuple(o)[:3] in {q[:3] for q in rows} for o in part.text().itertuples(index=False)
        )
    data = (tmp_path / "out.parquet").read_bytes()
    (tmp_path / "out.parquet").write_bytes(data[: len(data) // 2])
    _fails(
        TextFormError,
        ["out.parquet", "whole Parquet file", "cut off"],
        lambda: read_release(tmp_path / "out.parquet"),
    )


def test_no_such_file(tmp_path):
    _fails(
        FileNotFoundError,
        ["there is no file", "none.csv", "CSV or Parquet"],
        lambda: read_release(tmp_path / "none.csv"),
    )
    (tmp_path / "table.xlsx").write_bytes(b"x")
    _fails(
        ValueError,
        ["must end in .csv or .parquet", "table.xlsx"],
        lambda: read_release(tmp_path / "table.xlsx"),
    )


# works
# --------------------------------------------------------------------------------------------------


def _both_ways(X, y, k=3, **p):
    """The release is made, read back and learnt from"""
    r = MondrianAnonymizer(k=k, **p).anonymize(X, y)
    assert r.audit.holds and len(r.data) == len(X)
    return r, GeneralizedID3Classifier(random_state=0).fit(r.data, r.y)


def test_all_rows_equal():
    t = pd.DataFrame({"a": [1] * 6, "b": ["x"] * 6})
    r, tree = _both_ways(t, list("yyynnn"))
    pd.testing.assert_frame_equal(r.data, t)
    # a tie goes to the first class
    assert r.audit.class_sizes == (6,) and tree.predict(t).tolist() == ["n"] * 6


def test_a_constant_column():
    r, _ = _both_ways(X.assign(country="UK", year=2024), y)
    assert (
        r.data.country.tolist() == ["UK"] * 14
        and r.data.year.dtype == "int64"
        and r.audit.n_classes > 1
    )


def test_one_row():
    assert _both_ways(X[:1], y[:1], k=1)[1].predict(X[:1]).tolist() == ["Yes"]


@pytest.mark.parametrize(
    "index", [[0] * 14, [1, 2] * 7, pd.MultiIndex.from_arrays([[0] * 14, ["x"] * 14])]
)
def test_a_repeated_index(index):
    t = X.set_axis(index)
    r, _ = _both_ways(t, y.set_axis(index))
    assert r.data.index.identical(t.index) and r.text().equals(_fit()().text())


def test_declared_but_absent_categories(tmp_path):
    t = X.assign(
        Marital=pd.Categorical(
            X.Marital, categories=["Widowed", "Not Married", "Married", "Divorced"]
        )
    )
    r, tree = _both_ways(t, y)
    assert not {"Widowed", "Divorced"} & set().union(*[c.values for c in r.cells("Marital")[1]])
    r.to_csv(tmp_path / "out.csv")
    assert not re.search(
        "Widowed|Divorced",
        (tmp_path / "out.csv").read_text() + (tmp_path / "out.csv.schema.json").read_text(),
    )
    assert len(tree.predict(t)) == 14


def test_mixed_numbers_and_strings():
    t = X.assign(code=[1, "1", "a", 2] * 3 + ["b", 7])
    with pytest.warns(MixedTypesWarning, match="'code' mixes int, str.*text"):
        r, tree = _both_ways(t, y)
    assert all(isinstance(v, str) for c in r.cells("code")[1] for v in c.values)
    with pytest.warns(MixedTypesWarning):
        assert len(tree.predict(t.drop(columns="Age").assign(Age=30))) == 14


def test_ten_thousand_categories():
    t = pd.DataFrame(
        {"zip": pd.Categorical([f"{i:05}" for i in range(10_000)]), "sex": ["F", "M"] * 5_000}
    )
    r, tree = _both_ways(t, ["yes", "no"] * 5_000, k=50)
    assert r.audit.k >= 50 and r.audit.n_classes > 100 and len(tree.predict(t[:100])) == 100


def test_a_value_never_seen():
    """The row stops at the node reached, and gets its majority"""
    t = pd.DataFrame({"job": ["a"] * 4 + ["b"] * 6, "sex": list("MMFF") + list("MMMFFF")})
    cls = [1, 1, 1, 1, 0, 0, 0, 1, 1, 1]
    tree = GeneralizedID3Classifier(random_state=0).fit(t, cls)
    new = pd.DataFrame({"job": ["pilot", "b"], "sex": ["M", "X"]})
    # the root asks for sex: 3 of 5 men are 0; unseen at the root, 7 of 10 are 1
    assert tree.predict(new).tolist() == [0, 1]
    assert AnonymizedClassifier(
        MondrianAnonymizer(k=2), GeneralizedID3Classifier(random_state=0)
    ).fit(t, cls).predict(new).shape == (2,)
    assert MondrianAnonymizer(k=2).fit(t).transform(new).shape == (2, 2)


def test_missing_by_each_rule():
    t = X.assign(Age=X.Age.astype("Int64").where(X.Age != 80))
    assert MISSING in MondrianAnonymizer(k=3, missing="category").anonymize(t, y).data.Age[9].values
    r = MondrianAnonymizer(k=3, missing="drop").anonymize(t, y)
    assert r.lost.tolist() == [8] and 9 not in r.data.index and len(r.y) == 13
    # no quasi-identifier: untouched
    assert (
        MondrianAnonymizer(k=3, published=["Age", "Marital"]).anonymize(t, y).data.Age.isna().sum()
        == 1
    )


def test_a_class_in_another_order_is_refused():
    """By position it would publish people with the class of others"""
    X = pd.DataFrame({"age": [20, 30, 40, 50]}, index=list("abcd"))
    y = pd.Series(["no", "no", "yes", "yes"], index=list("abcd"), name="bought")
    with pytest.raises(ValueError, match="'y' must be in the order of X.*y.loc"):
        MondrianAnonymizer(k=2).anonymize(X, y.iloc[::-1])
    assert MondrianAnonymizer(k=2).anonymize(X, y.iloc[::-1].loc[X.index]).y.equals(y)
    # labels of its own
    assert MondrianAnonymizer(k=2).anonymize(X, y.reset_index(drop=True)).y.tolist() == y.tolist()


def test_a_release_is_no_table():
    X = pd.DataFrame({"sex": list("ffmm")})
    r = MondrianAnonymizer(k=2).anonymize(X, ["a", "b", "a", "b"])
    with pytest.raises(TypeError, match="Got a Release.*release.data"):
        GeneralizedID3Classifier().fit(r, r.y)
