"""A release is written as it was audited, or not at all: any change to any part of it, by any
method, makes every way out refuse, and an unchanged one is written.
"""

import os
import pickle
import warnings
from copy import deepcopy
from dataclasses import replace
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, note, strategies as st
from registry import ANONYMIZERS, REGISTRY, tasks

from ppdt.engine.seals import column_digest
from ppdt.mondrian import MondrianAnonymizer
from ppdt.release import GuaranteeError, Release, read_release
from ppdt.tables import Suppressed

MORE = {"ppdt": "another"}


def _first(r):
    return r.data.columns[0]


def _put(r, name, values):
    r.data[name] = values
    return r


def _moved(r):
    name = _first(r)
    r.data.insert(r.data.shape[1] - 1, name, r.data.pop(name))
    return r if r.data.shape[1] > 1 else None


def _another_cell(r):
    """A cell of the first row, where another row has another one"""
    s = r.data[_first(r)]
    other = next((i for i, o in enumerate(s) if str(o) != str(s.iloc[0])), None)
    if other is None:
        return None
    r.data.iloc[0, 0] = s.iloc[other]
    return r


def _renamed_categories(r):
    """`rename_categories`, on a column that has some"""
    for o in r.data:
        if isinstance(r.data[o].dtype, pd.CategoricalDtype) and len(r.data[o].cat.categories):
            cats = r.data[o].cat.categories
            r.data[o] = r.data[o].cat.rename_categories({cats[0]: Suppressed()})
            return r if cats[0] != Suppressed() else None
    return None


def _forced(r, name, value):
    object.__setattr__(r, name, value)
    return r


def _said(r, part, **more):
    """A dict of the schema, edited in place"""
    part(r.schema).update(more)
    return r


def _set_class(r):
    other = next((o for o in r.y if o != r.y.iloc[0]), None)
    if other is None:
        return None
    r.y.iloc[0] = other
    return r


def _set_labels(owner, labels):
    owner.index = labels
    return owner


CHANGES = {
    "a new column": lambda r: _put(r, "name", [f"person {i}" for i in range(len(r.data))]),
    "a column of one value": lambda r: _put(r, "name", 1),
    "numbers put back": lambda r: _put(r, _first(r), np.arange(len(r.data))),
    "a column dropped": lambda r: (r.data.pop(_first(r)), r)[1],
    "columns in another order": _moved,
    "a column renamed": lambda r: (
        r.data.rename(columns={_first(r): "name"}, inplace=True),
        r,
    )[1],
    "a cell": _another_cell,
    "all cells suppressed": lambda r: _put(r, _first(r), "*"),
    "categories renamed": _renamed_categories,
    "another dtype": lambda r: (
        _put(r, _first(r), r.data[_first(r)].astype(object))
        if r.data[_first(r)].dtype != object
        else None
    ),
    "a category more": lambda r: _put(
        r, _first(r), r.data[_first(r)].astype("category").cat.add_categories(["a value of nobody"])
    ),
    "a row dropped": lambda r: (
        r.data.reset_index(drop=True, inplace=True),
        r.data.drop(index=0, inplace=True),
        r,
    )[-1],
    "another index": lambda r: (_set_labels(r.data, [f"p{i}" for i in range(len(r.data))]), r)[1],
    "a name of the index": lambda r: (
        r.data.index.set_names(["who"] * r.data.index.nlevels, inplace=True),
        r,
    )[1],
    "a class": _set_class,
    "the name of the class": lambda r: (setattr(r.y, "name", "another"), r)[1],
    "the index of the class": lambda r: (_set_labels(r.y, [f"p{i}" for i in range(len(r.y))]), r)[
        1
    ],
    "no class": lambda r: _forced(r, "y", None),
    "another table": lambda r: _forced(r, "data", r.data.assign(name=1)),
    "another audit": lambda r: _forced(r, "audit", replace(r.audit, k=10**6)),
    "an audit changed by force": lambda r: (object.__setattr__(r.audit, "holds", None), r)[1],
    "no audit": lambda r: _forced(r, "audit", None),
    "lost rows": lambda r: _forced(r, "lost", np.append(r.lost, 10**6)),
    "roles": lambda r: _forced(r, "roles", replace(r.roles, other=("x", *r.roles.other))),
    "constraints": lambda r: _forced(r, "constraints", (*r.constraints, "none")),
    "the schema's promise": lambda r: _said(r, lambda s: s.promise, **MORE),
    "the schema's columns": lambda r: _said(r, lambda s: s.columns[0], role="other", kind="x"),
    "the schema's taxonomies": lambda r: _said(r, lambda s: s.taxonomies, x=[["a"]]),
    "dataclasses.replace": lambda r: replace(r, audit=replace(r.audit, k=10**6)),
    "replace without a change": lambda r: replace(r),
}


def _made(cls, data):
    """A release of a random table, with any options, or None where there is none"""
    X, y, p = data.draw(tasks(cls))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return cls(**p).anonymize(X, y)
        except ValueError as e:
            assert any(o in str(e) for o in REGISTRY[cls].impossible), e
            return None


def _twin(r):
    """A copy that shares no part that a change could reach"""
    twin = deepcopy(r)
    for part in ("audit", "schema"):
        object.__setattr__(twin, part, deepcopy(getattr(r, part)))
    return twin


def _ways_out(r, folder):
    return (
        r.text,
        lambda: r.to_csv(f"{folder}/o.csv"),
        lambda: r.to_parquet(f"{folder}/o.parquet"),
    )


def _refuses_to_leave(r, folder):
    """No way out writes it"""
    for leave in _ways_out(r, folder):
        with pytest.raises(GuaranteeError, match="nothing is written|nobody has audited"):
            leave()
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(r)
    assert not os.listdir(folder)


@pytest.mark.parametrize("cls", ANONYMIZERS, ids=lambda o: o.__name__)
@one_in(25)
@given(data=st.data())
def test_a_changed_release_leaves_by_no_way(cls, data):
    """One release, and each change on a copy of it that is sealed as it is"""
    r = _made(cls, data)
    if r is None:
        return
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, change in CHANGES.items():
            changed = change(_twin(r))
            if changed is not None:
                note(name)
                _refuses_to_leave(changed, folder)
        for leave in _ways_out(r, folder):
            leave()


@pytest.mark.parametrize("cls", ANONYMIZERS, ids=lambda o: o.__name__)
@one_in(25)
@given(data=st.data())
def test_an_unchanged_release_is_written_as_often_as_one_likes(cls, data):
    r = _made(cls, data)
    if r is None:
        return
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # what is only looked at, and what is done to a copy, changes nothing
        repr(r), r._repr_html_(), r.cells(_first(r)), r.data.describe(include="all")
        mine = r.data.copy()
        mine["name"] = 1
        for _ in range(2):
            for leave in _ways_out(r, folder):
                leave()
        for end in ("csv", "parquet"):
            assert read_release(f"{folder}/o.{end}").text().equals(r.text())


def test_the_error_names_the_part_and_the_remedy(tmp_path):
    X = pd.DataFrame({"age": [1, 1, 2, 2], "town": list("abab")})
    tool = MondrianAnonymizer(k=2, quasi_identifiers=["age"], published=["town"])
    r = tool.anonymize(X, list("xyxy"))
    r.data["town"] = "a"
    r.y.iloc[0] = "y"
    says = "column 'town' was changed; the class was changed.*Anonymize again.*data.copy()"
    with pytest.raises(GuaranteeError, match=says):
        r.to_csv(tmp_path / "o.csv")
    for bare in (Release(X), replace(r, data=X)):
        with pytest.raises(GuaranteeError, match="put together by hand"):
            bare.to_csv(tmp_path / "o.csv")
    assert not list(tmp_path.iterdir())


def test_what_the_owner_gave_may_change_afterwards():
    """The release holds copies"""
    X, y = pd.DataFrame({"q": [1, 1, 2, 2], "w": [1, 2, 3, 4]}), np.array([0, 1, 0, 1])
    A = np.array(X)
    for table, q, w in ((X, "q", "w"), (A, "x0", "x1")):
        r = MondrianAnonymizer(k=2, quasi_identifiers=[q], published=[w]).anonymize(table, y)
        before = r.text()
        y[0], A[0, 1] = 7, 7
        X.loc[0, "w"] = 7
        assert r.text().equals(before)


VALUES = {
    "int64": [1, 2, 3],
    "int8": [1, 2, 3],
    "Int64": [1, None, 3],
    "UInt8": [1, None, 3],
    "float16": [0.5, 1, 2],
    "float32": [0.1, None, 2],
    "float64": [0.1, None, -0.0],
    "Float64": [0.1, None, 2],
    "longdouble": [0.1, 0.2, 0.3],
    "bool": [True, False, False],
    "boolean": [True, None, False],
    "str": ["a", None, "b"],
    "object": ["a", 1, None],
    "datetime64[ns]": ["2020-01-01", None, "2021-01-01"],
    "datetime64[us, Europe/Berlin]": ["2020-01-01", None, "2021-01-01"],
}

NO_INDEX = ("float16", "longdouble")  # pandas has no categories of these
CASES = [(o, c) for o in VALUES for c in (False, True) if not (c and o in NO_INDEX)]


@pytest.mark.parametrize("dtype,as_category", CASES)
def test_each_value_of_a_column_counts(dtype, as_category):
    s = pd.Series(VALUES[dtype], dtype=dtype, name="x")
    s = s.astype("category") if as_category else s
    same = column_digest(s)
    assert column_digest(s.copy()) == same and column_digest(s.set_axis([7, 8, 9])) == same
    others = [s[::-1], s.iloc[[0, 1, 0]], s.iloc[:2], s.rename("y")]
    if not as_category and dtype not in NO_INDEX:
        others.append(s.astype("category"))
    assert len({same, *map(column_digest, others)}) == len(others) + 1
