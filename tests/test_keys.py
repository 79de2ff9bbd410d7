"""One integer for each row: equal when rows agree, and in the order of the rows."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ppdt.engine.keys import row_keys, row_kinds

TOPS = [1, 2, 50, 2**20, 2**40]


@st.composite
def tables(draw):
    """Codes of some columns, with repeated rows, and the sizes of the columns"""
    sizes = draw(st.lists(st.sampled_from(TOPS), min_size=1, max_size=12))
    n = draw(st.integers(0, 12))
    columns = [draw(st.lists(st.integers(-1, d - 1), min_size=n, max_size=n)) for d in sizes]
    again = draw(st.lists(st.integers(0, n - 1), max_size=6)) if n else []
    columns = [np.array(c + [c[i] for i in again], dtype=np.int64) for c in columns]
    return columns, sizes


@given(tables(), st.booleans())
def test_keys_are_equal_and_ordered_as_rows_are(table, with_sizes):
    columns, sizes = table
    key = row_keys(columns, sizes if with_sizes else None).tolist()
    rows = list(zip(*[c.tolist() for c in columns]))
    assert all(k >= 0 for k in key)
    for a, k in zip(rows, key):
        for b, other in zip(rows, key):
            assert (a < b) == (k < other) and (a == b) == (k == other)


@given(tables(), st.booleans())
def test_kinds_are_numbered_as_they_occur(table, with_sizes):
    columns, sizes = table
    first, kind = row_kinds(columns, sizes if with_sizes else None)
    rows = list(zip(*[c.tolist() for c in columns]))
    distinct = list(dict.fromkeys(rows))
    assert [rows[i] for i in first] == distinct
    assert [distinct[i] for i in kind] == rows


def test_keys_stay_below_the_product_of_sizes():
    key = row_keys([np.array([-1, 2]), np.array([-1, 4])], sizes=[3, 5])
    assert key.tolist() == [0, 4 * 6 - 1]


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8])
def test_small_integers_do_not_overflow(dtype):
    columns = [np.array([0, 100, 127], dtype=dtype)] * 6
    key = row_keys(columns)
    assert key.dtype == np.int64 and (np.diff(key) > 0).all()


def test_no_columns_and_no_rows():
    assert row_keys([], n_rows=3).tolist() == [0, 0, 0]
    assert row_keys([np.array([], dtype=int)] * 2, sizes=[2, 3]).shape == (0,)
    first, kind = row_kinds([], n_rows=0)
    assert first.shape == kind.shape == (0,)


def test_as_many_sizes_as_columns():
    with pytest.raises(ValueError):
        row_keys([np.array([0])], sizes=[1, 2])
