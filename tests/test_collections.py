"""A cell holds one value. Sets, lists and other collections are refused with one message that names
the column and the remedy, whatever the column is for and whoever reads it.
"""

from collections import deque, namedtuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from registry import ANONYMIZERS, CLASSIFIERS, example

from ppdt.datasets import load_customers
from ppdt.diversity import LDiversity
from ppdt.mondrian import MondrianAnonymizer
from ppdt.privacy import audit, risk_report
from ppdt.tables import cells, column_text, encode

Pair = namedtuple("Pair", "a b")


class Unhashable:
    "A thing that is equal by content, and so no key"

    __hash__ = None


VALUES = {
    "set": {1, 2},
    "frozenset": frozenset("ab"),
    "list": [1, 2],
    "tuple": (1, 2),
    "empty tuple": (),
    "named tuple": Pair(1, 2),
    "dict": {"a": 1},
    "keys": {"a": 1}.keys(),
    "array": np.array([1, 2]),
    "array of nothing": np.array([]),
    "array without dimension": np.array(1),
    "range": range(3),
    "deque": deque([1]),
    "series": pd.Series([1]),
    "index": pd.Index([1]),
    "bytearray": bytearray(b"a"),
    "no key": Unhashable(),
    "tuple of lists": ([1], [2]),
}
T = load_customers()
X, y = T.drop(columns="Bought"), T.Bought
QI = ["Gender", "Marital", "Age"]


def column(value, places=slice(None), name="tags"):
    """A column of texts with a value at some places"""
    s = pd.Series(["x"] * len(T), index=T.index, name=name, dtype=object)
    for i in range(len(T))[places]:
        s.iat[i] = value
    return s


def refused(call):
    """The message with which a call is refused"""
    with pytest.raises(TypeError) as e:
        call()
    text = str(e.value)
    assert text.startswith("Column 'tags' must hold single values. Got "), text
    assert "turn such cells into strings or numbers" in text
    assert "\n" not in text and len(text) < 400
    return text


@pytest.mark.parametrize("places", [slice(None), slice(5, None), slice(-1, None)])
@pytest.mark.parametrize("kind", VALUES)
def test_each_kind_in_each_role(kind, places):
    s = column(VALUES[kind], places)
    tool = MondrianAnonymizer(k=2, quasi_identifiers=QI)
    shown = MondrianAnonymizer(k=2, quasi_identifiers=QI, published=["tags"])
    both = MondrianAnonymizer(k=2, quasi_identifiers=[*QI, "tags"])
    secret = MondrianAnonymizer(2, QI, constraints=[LDiversity(1, sensitive="tags")])
    A = X.assign(tags=s)
    for call in (
        lambda: both.anonymize(A, y),
        lambda: shown.anonymize(A, y),
        lambda: secret.anonymize(A, y),
        lambda: tool.anonymize(X, s),
        lambda: audit(A, [*QI, "tags"]),
        lambda: audit(A, QI, sensitive="tags"),
        lambda: audit(X, QI, y=s),
        lambda: risk_report(A, [*QI, "tags"]),
        lambda: encode(s),
        lambda: column_text(s),
        lambda: cells(s),
        lambda: both.fit(X.assign(tags="x"), y).transform(A),
    ):
        assert type(VALUES[kind]).__name__ in refused(call)
    # what is dropped may hold anything
    dropped = MondrianAnonymizer(k=2, quasi_identifiers=QI, identifiers=["tags"]).anonymize(A, y)
    assert list(dropped.data) == QI


@pytest.mark.parametrize("value", [frozenset("ab"), (1, 2)])
def test_among_categories(value):
    known = pd.Index([value, "x"], dtype=object, tupleize_cols=False)
    s = pd.Series(pd.Categorical.from_codes([0, 1] * 7, known), name="tags")
    for call in (
        lambda: MondrianAnonymizer(k=2).anonymize(X.assign(tags=s), y),
        lambda: MondrianAnonymizer(k=2).anonymize(X, s),
        lambda: encode(s),
    ):
        refused(call)


def test_in_columns_of_arrow():
    values = pa.array([[1, 2]] * len(T))
    s = pd.Series(pd.arrays.ArrowExtensionArray(values), name="tags", index=T.index)
    refused(lambda: MondrianAnonymizer(k=2).anonymize(X.assign(tags=s), y))


@pytest.mark.parametrize("method", ANONYMIZERS, ids=lambda o: o.__name__)
@pytest.mark.parametrize("value", [{1}, frozenset([1]), [1], (1, 2)])
def test_every_anonymizer(method, value):
    s = column(value)
    make = lambda: example(method).set_params(quasi_identifiers=QI)
    refused(lambda: make().set_params(quasi_identifiers=None).anonymize(X.assign(tags=s), y))
    refused(lambda: make().set_params(published=["tags"]).anonymize(X.assign(tags=s), y))
    refused(lambda: make().anonymize(X, s))


@pytest.mark.parametrize("method", CLASSIFIERS, ids=lambda o: o.__name__)
@pytest.mark.parametrize("value", [{1}, frozenset([1]), [1], (1, 2)])
def test_every_classifier(method, value):
    s = column(value)
    refused(lambda: example(method).fit(X[["Gender"]].assign(tags=s), y))
    refused(lambda: example(method).fit(X[["Gender"]], s))


def test_text_is_no_collection():
    """What can be taken apart and is one value stays one"""
    s = pd.Series([b"a", b"b"] * 7, index=T.index, name="raw", dtype=object)
    assert encode(s)[0].items == ["b'a'", "b'b'"]
    words = pd.Series(["{a, b}", "[1, 2]"] * 7, index=T.index, name="words")
    assert encode(words)[0].items == ["[1, 2]", "{a, b}"]
    bins = pd.Series(pd.cut(T.Age, 3), name="bins")
    assert len(encode(bins)[0].items) == 3
