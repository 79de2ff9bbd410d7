"""Cells, their text, encoded columns, files: round trips for every kind of cell and dtype."""

import copy
import datetime as dt
import decimal
import importlib
import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from examples import one_in
from hypothesis import example, given, strategies as st
from python_lines import python_lines
from scipy import sparse

from ppdt import tables
from ppdt.engine.checks import check_roles, check_table
from ppdt.engine.coding import Attribute, encode, encode_like, position, with_missing
from ppdt.engine.dtypes import MixedTypesWarning, column_kind, dtype_name
from ppdt.engine.files import atomic_write, file_kind, guess_kind, read_text, to_kind, write_text
from ppdt.engine.schema_file import Schema, schema_path
from ppdt.engine.values import MISSING, TextFormError, value_order, value_text
from ppdt.tables import (
    Centroid,
    Exact,
    Interval,
    Node,
    Suppressed,
    ValueSet,
    canonical_order,
    cell_column,
    cell_text,
    cells,
    column_text,
    parse_cell,
    parse_column,
    restore_column,
)

ODD = [
    "",
    " ",
    "*",
    "**",
    "?",
    "nan",
    "NaN",
    "None",
    "NULL",
    "missing",
    '"missing"',
    "MISSING",
    "{",
    "}",
    "{}",
    "{a, b}",
    "{a",
    "[1, 2]",
    "[1, 2)",
    "[",
    "<n>",
    "<>",
    "<",
    "~",
    "~v",
    "~~",
    '"',
    '""',
    '"a',
    "\\",
    '\\"',
    "\\\\",
    "00711",
    "1e5",
    " a",
    "a ",
    "a,b",
    ", ",
    "a\nb",
    "\n",
    "\r",
    "a\r\n",
    "\t",
    "é",
    "\u2028",
    "\x85",
    "\x1c",
    "\xa0",
    "\ufeff",
    "\x00",
    "a;b",
    "'",
    "True",
    "2024-02-29",
]
words = st.one_of(
    st.sampled_from(ODD),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    st.text(st.sampled_from('*{}[]()<>~",\\ \n\ra0'), max_size=6),
)
whole = st.integers(-(2**63), 2**63 - 1)
floats = st.floats(allow_nan=False, allow_infinity=False)
days = st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1)).map(pd.Timestamp)
VALUES = {
    "str": words,
    "int64": whole,
    "float64": floats,
    "number": st.one_of(whole, floats),
    "bool": st.booleans(),
    "datetime64[ns]": days,
    "datetime64[ns, UTC]": days.map(lambda t: t.tz_localize("UTC")),
    "datetime64[us, Europe/Berlin]": days.map(
        lambda t: t.tz_localize("UTC").tz_convert("Europe/Berlin")
    ),
}
has_line = lambda dtype: dtype not in ("str", "bool")
each_dtype = pytest.mark.parametrize("dtype", VALUES)


def one_cell(dtype):
    v = VALUES[dtype]
    kinds = [
        v.map(Exact),
        st.sets(st.one_of(v, st.just(MISSING)), min_size=1, max_size=4).map(ValueSet),
        v.map(Centroid),
        words.map(Node),
        st.just(Suppressed()),
        st.just(Exact(MISSING)),
    ]
    if has_line(dtype):
        open_ = lambda p: Interval(min(p), max(p), p[0] < p[1])
        kinds += [st.tuples(v, v).map(open_), v.map(lambda o: Interval(o, o))]
    if dtype in ("int64", "float64", "number"):
        kinds += [v.map(lambda o: Interval(o, np.inf)), floats.map(lambda o: Centroid(o))]
    return st.one_of(kinds)


# ---------- cells


@each_dtype
@one_in(4)
@given(data=st.data())
def test_cell_to_text_and_back(dtype, data):
    c = data.draw(one_cell(dtype))
    text = cell_text(c)
    back = parse_cell(text, dtype)
    assert (
        back == c
        and hash(back) == hash(c)
        and cell_text(back) == text
        and type(back) is (Exact if isinstance(c, ValueSet) and len(c.values) == 1 else type(c))
    )
    assert text and str(c) == text


@given(a=words, b=words)
def test_different_words_have_different_texts(a, b):
    for f in (Exact, Centroid, Node, lambda o: ValueSet([o, "other"])):
        assert (cell_text(f(a)) == cell_text(f(b))) == (a == b)
    assert len({cell_text(f(a)) for f in (Exact, Centroid, Node)} | {"*", ""}) == 5


@pytest.mark.parametrize(
    "cell",
    [
        Exact(1),
        ValueSet("ab".split()),
        ValueSet([1, 2]),
        Interval(1, 2.5, True),
        Node("n"),
        Suppressed(),
        Centroid(2.5),
        Exact(MISSING),
    ],
    ids=str,
)
def test_cells_are_frozen_values(cell):
    assert (
        pickle.loads(pickle.dumps(cell)) == cell == copy.deepcopy(cell)
        and cell != cell_text(cell)
        and cell in {cell}
    )
    with pytest.raises(AttributeError, match="immutable"):
        cell.value = 3
    with pytest.raises(AttributeError, match="immutable"):
        del cell.value
    assert eval(repr(cell)) == cell


def test_equality_of_cells():
    assert Exact(1) == ValueSet([1]) == Exact(1.0) and hash(Exact(1)) == hash(ValueSet([1]))
    assert len({Exact(1), Centroid(1), Interval(1, 1), Node("1"), Suppressed(), Exact("1")}) == 6
    assert pickle.loads(pickle.dumps(MISSING)) is MISSING is copy.copy(MISSING)


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: Exact([1]), TypeError),
        (lambda: Exact(None), ValueError),
        (lambda: Exact(np.nan), ValueError),
        (lambda: Exact(pd.NaT), ValueError),
        (lambda: Exact(pd.NA), ValueError),
        (lambda: Centroid(np.nan), ValueError),
        (lambda: ValueSet([]), ValueError),
        (lambda: ValueSet("ab"), TypeError),
        (lambda: ValueSet([1, None]), ValueError),
        (lambda: ValueSet([[1]]), TypeError),
        (lambda: Interval(2, 1), ValueError),
        (lambda: Interval(1, 1, True), ValueError),
        (lambda: Interval(np.nan, 1), ValueError),
        (lambda: Interval("a", "b"), TypeError),
        (lambda: Interval(1, MISSING), TypeError),
        (lambda: Interval(pd.Timestamp("2020"), pd.Timestamp("2021", tz="UTC")), TypeError),
        (lambda: cell_text("a"), TypeError),
    ],
)
def test_cells_refuse(make, error):
    with pytest.raises(error):
        make()


@pytest.mark.parametrize(
    "text, dtype",
    [
        ("{}", "str"),
        ("{a,}", "str"),
        ("{,}", "str"),
        ('{"a, b}', "str"),
        ('{"a" b}', "str"),
        ("[1]", "int64"),
        ("[1, 2, 3]", "int64"),
        ("[2, 1]", "int64"),
        ("[1, 1)", "int64"),
        ("[a, b]", "str"),
        ("[]", "float64"),
        ("~", "str"),
        ("<>", "str"),
        ('"', "str"),
        ('"a', "str"),
        ('"a"b', "str"),
        ('"a\\"', "str"),
        ("1.5", "int64"),
        ("300", "uint8"),
        ("-1", "uint64"),
        ("1e30", "Int64"),
        ("inf", "int8"),
        ("nan", "float64"),
        ("NaN", "number"),
        ("1_000", "number"),
        ("1_0", "float64"),
        ("١", "number"),
        ("0x10", "int64"),
        ("yes", "bool"),
        ("1", "boolean"),
        ("today", "datetime64[ns]"),
        ("10", "datetime64[ns]"),
        ("2023-02-29", "datetime64[ns]"),
        ("2024-01-01", "datetime64[ns, UTC]"),
        ("2024-01-01T00:00:00Z", "datetime64[ns]"),
        ("NaT", "datetime64[ns]"),
        ('[1, "missing"]', "int64"),
        ("{1, b}", "int64"),
    ],
)
def test_texts_that_are_no_cells(text, dtype):
    with pytest.raises(TextFormError):
        parse_cell(text, dtype)
    with pytest.raises(TextFormError, match="column 'c', row 2 after the header: "):
        parse_column(["*", text], dtype, name="c")


def test_what_texts_mean():
    assert (
        parse_cell("") is None
        and parse_cell("*") == Suppressed()
        and parse_cell('"*"') == Exact("*")
    )
    assert parse_cell('"missing"') == Exact(MISSING) and parse_cell("missing") == Exact("missing")
    assert parse_cell("{a,b , c}") == ValueSet("abc"[i] for i in range(3)) and parse_cell(
        "{1, 2.0}", "int64"
    ) == ValueSet([1, 2])
    assert parse_cell("[1, 2.5)", "int64") == Interval(1, 2.5, True) and parse_cell(
        "[-inf, 2]", "int64"
    ) == Interval(-np.inf, 2)
    assert (
        parse_cell("007", "number") == Exact(7)
        and parse_cell("007") == Exact("007")
        and parse_cell('"42"', "int64") == Exact(42)
    )
    assert [
        value_text(o)
        for o in (
            np.int8(3),
            np.float64(0.5),
            np.bool_(True),
            -0.0,
            1e22,
            np.datetime64("2024-02-29T12:30"),
            dt.date(2024, 2, 29),
        )
    ] == ["3", "0.5", "True", "0.0", "1e+22", "2024-02-29T12:30:00", "2024-02-29"]
    assert parse_cell("18446744073709551615", "uint64") == Exact(2**64 - 1) and parse_cell(
        "18446744073709551615", "number"
    ) == Exact(2**64 - 1)


def test_zones_of_odd_seconds_and_the_hour_that_comes_twice():
    old = pd.Timestamp("1880-01-01 12:00", tz="Europe/Berlin")
    assert parse_cell(value_text(old), "datetime64[ns, Europe/Berlin]") == Exact(old)
    s = pd.Series(
        pd.date_range("2024-10-26 23:30", periods=4, freq="30min", tz="UTC").tz_convert(
            "Europe/Berlin"
        ),
        name="t",
    )
    assert_same(parse_column(column_text(s), dtype_name(s), name="t"), s)


@given(st.lists(words, min_size=1, max_size=6, unique=True))
def test_sets_are_written_in_code_point_order(vs):
    cell = ValueSet(vs)
    assert cell_text(cell) == cell_text(ValueSet(vs[::-1]))
    assert sorted(vs, key=value_order) == sorted(vs)


# ---------- encoding


def assert_same(a, b):
    """The same cells in the same places"""
    (c1, x1), (c2, x2) = cells(a), cells(b)
    assert [x1[i] if i >= 0 else None for i in c1] == [x2[i] if i >= 0 else None for i in c2]


def columns_of(dtype, gaps, n=6):
    """A column of a dtype, values and gaps both in it"""
    v = {
        "b": [True, False] * 3,
        "i": [3, 1, 2, 3, 100, 7],
        "u": [3, 1, 2, 3, 100, 7],
        "f": [0.1, -2.5, 3, 3, 1e30, 0.0],
        "s": ["b", "a", "*", "", "ä", "b"],
        "t": [
            pd.Timestamp(o)
            for o in (
                "2024-02-29",
                "1999-12-31 23:59:59",
                "2024-02-29",
                "1700-01-01",
                "2200-01-01",
                "1970-01-01",
            )
        ],
    }
    kind = (
        "s"
        if dtype.startswith(("str", "object", "category"))
        else "t"
        if "time" in dtype
        else dtype.lower()[0]
    )
    v = v[kind] if kind != "d" else v["f"]
    if gaps:
        v = [None if i in (1, 4) else o for i, o in enumerate(v)]
    return pd.Series(v, dtype=object, name="c"), v


NUMPY = [f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64)] + ["float32", "float64", "bool"]
NULLABLE = [
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "Float32",
    "Float64",
    "boolean",
]
ARROW = [
    "int8[pyarrow]",
    "int64[pyarrow]",
    "uint16[pyarrow]",
    "float[pyarrow]",
    "double[pyarrow]",
    "bool[pyarrow]",
    "timestamp[us][pyarrow]",
]
TEXT = ["object", "str", "string", "string[python]", "string[pyarrow]", "category"]
TIMES = [f"datetime64[{u}]" for u in ("s", "ms", "us", "ns")]


def make_column(dtype, gaps):
    s, v = columns_of(dtype, gaps)
    if dtype == "str" and pd.__version__ < "3":
        return s, v  # pandas 2 would write "None"
    return s.astype(dtype), v


DTYPES = NUMPY + NULLABLE + ARROW + TEXT + TIMES
# NumPy has no missing whole numbers or booleans
HOLD_GAPS = [o for o in DTYPES if o not in NUMPY or o.startswith("float")]


@pytest.mark.parametrize(
    "dtype, gaps", [(o, False) for o in DTYPES] + [(o, True) for o in HOLD_GAPS]
)
def test_every_dtype_is_encoded_and_restored(dtype, gaps, tmp_path):
    s, v = make_column(dtype, gaps)
    a, codes = encode(s)
    gone = s.isna().to_numpy()
    assert (
        codes.dtype == np.int32 and ((codes < 0) == gone).all() and gone.sum() == (2 if gaps else 0)
    )
    items = a.items
    got = [items[c] for c in codes if c >= 0]
    want = [
        np.float32(o) if dtype.lower() in ("float32", "float[pyarrow]") else o
        for o in v
        if o is not None
    ]
    assert (
        got == want
        and (items == sorted(items, key=value_order))
        and len(set(items)) == len(items) == len(a)
    )
    assert (
        a.kind == column_kind(s if dtype != "object" else s)
        and a.name == "c"
        and len(a.positions) == len(a)
        and (np.diff(a.positions) > 0).all()
    )
    assert (encode_like(s, a) == np.where(codes < 0, -2, codes)).all()
    b, more = with_missing(a, codes)
    assert (
        (b.items[-1] is MISSING) == gaps
        and (more >= 0).all()
        and (np.diff(b.positions) > 0).all()
        and len(b.known) == len(a)
    )
    assert (encode_like(s, b) == more).all()
    text = column_text(s)
    declared = [value_text(o) for o in a.items] if dtype == "category" else None
    back = parse_column(text, a.dtype, declared, name="c")
    assert_same(back, s)
    assert (column_text(back) == text).all() and dtype_name(back) == a.dtype == dtype_name(s)
    if dtype in NUMPY + NULLABLE + TIMES:
        assert back.dtype == s.dtype
    for name in ("t.csv", "t.parquet"):
        write_text(pd.DataFrame({"c": text}), tmp_path / name)
        assert_same(parse_column(read_text(tmp_path / name)["c"], a.dtype, name="c"), s)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York", "UTC+05:30"])
@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_time_zones(zone, unit):
    s = (
        pd.Series(
            pd.to_datetime(["2024-03-31 00:30", "2024-03-31 01:30", None, "1999-01-01 00:00"])
        )
        .dt.tz_localize("UTC")
        .dt.tz_convert(zone)
        .astype(f"datetime64[{unit}, {zone}]")
        .rename("t")
    )
    a, codes = encode(s)
    assert (
        codes.tolist() == [1, 2, -1, 0]
        and a.items == sorted(s.dropna())
        and str(a.items[0].tz) == str(s.dt.tz)
    )
    back = parse_column(column_text(s), a.dtype, name="t")
    assert (
        back.dtype == s.dtype
        and (back.dropna() == s.dropna()).all()
        and (column_text(back) == column_text(s)).all()
    )
    assert encode(s, categorical=True)[0].items == a.items
    m, _ = with_missing(a, codes)
    assert m.positions[:-1].tolist() == a.positions.tolist() and encode_like(s, m).tolist() == [
        1,
        2,
        3,
        0,
    ]
    for cell in (Interval(*sorted(s.dropna())[:2]), ValueSet(s.dropna()), Centroid(s[0])):
        assert parse_cell(cell_text(cell), a.dtype) == cell


def test_arrow_dates_zones_decimals_and_dictionaries():
    t = pd.Timestamp("2024-06-01 12:00", tz="Europe/Berlin")
    make = lambda v, d: pd.Series([v, None], dtype=pd.ArrowDtype(d), name="c")
    for s, word, item in (
        (make(t, pa.timestamp("us", "Europe/Berlin")), "datetime64[us, Europe/Berlin]", t),
        (make(dt.date(2024, 6, 1), pa.date32()), "datetime64[ms]", pd.Timestamp("2024-06-01")),
        (make(decimal.Decimal("1.5"), pa.decimal128(5, 2)), "Float64", 1.5),
        (make("a", pa.dictionary(pa.int32(), pa.string())), "str", "a"),
        (make("a", pa.string()), "str", "a"),
    ):
        a, c = encode(s)
        assert (a.dtype, a.items, c.tolist()) == (word, [item], [0, -1])
        assert_same(parse_column(column_text(s), a.dtype), s)
    with pytest.raises(TypeError):
        encode(make([1], pa.list_(pa.int64())))


def test_dates_far_away_stay_in_order():
    s = pd.Series(["9999-12-31", "2024-01-01", "1500-01-01"], dtype="datetime64[s]", name="until")
    a, codes = encode(s)
    assert (
        codes.tolist() == [2, 1, 0]
        and (np.diff(a.positions) > 0).all()
        and [position(o) for o in a.items] == a.positions.tolist()
    )
    assert_same(parse_column(column_text(s), a.dtype), s)
    assert encode_like(
        pd.Series(pd.to_datetime(["2025-01-01"]).astype("datetime64[ns]")), a
    ).tolist() == [1]
    assert cell_text(ValueSet(a.items)) == "{1500-01-01, 2024-01-01, 9999-12-31}"


OBJECTS = [
    ([3, 1, None], "Int64", [1, 3]),
    ([3, 1], "int64", [1, 3]),
    ([3, np.nan], "Int64", [3]),
    ([3, pd.NA], "Int64", [3]),
    ([3, 1.5], "float64", [1.5, 3.0]),
    ([1.5, None], "float64", [1.5]),
    ([True, None], "boolean", [True]),
    ([False, True], "boolean", [False, True]),
    ([np.int8(3), 2], "int64", [2, 3]),
    ([decimal.Decimal("1.5"), 2], None, None),
    ([decimal.Decimal("1.5"), None], "float64", [1.5]),
    ([2**64 - 1, 1], "uint64", [1, 2**64 - 1]),
    ([2**70, 1], "float64", [1.0, 2.0**70]),
    ([2**70, None], "float64", [2.0**70]),
    (["b", None, "a"], "str", ["a", "b"]),
    ([None, np.nan], "str", []),
    ([b"x", b"y"], "str", ["b'x'", "b'y'"]),
]


@pytest.mark.parametrize("values, dtype, items", OBJECTS, ids=lambda o: str(o)[:30])
def test_columns_of_objects(values, dtype, items):
    s = pd.Series(values, dtype=object, name="o", index=[7] * len(values))
    with warnings.catch_warnings():
        warnings.simplefilter("error" if items is not None else "ignore")
        a, codes = encode(s)
    if items is None:
        return
    assert (
        (a.dtype, a.items) == (dtype, items)
        and dtype_name(s) == dtype
        and [type(o) for o in a.items] == [type(o) for o in items]
    )
    assert ((codes < 0) == s.isna()).all()
    assert_same(parse_column(column_text(s), dtype), s)


@pytest.mark.parametrize(
    "values",
    [
        [dt.date(2024, 2, 29), None, dt.date(1999, 1, 1)],
        [dt.datetime(2024, 2, 29, 1), None, dt.datetime(1999, 1, 1)],
        [pd.Timestamp("2024"), pd.NaT, pd.Timestamp("1999")],
        [np.datetime64("2024"), None, np.datetime64("1999")],
        [dt.date(2024, 2, 29), dt.datetime(1999, 1, 1)],
        [pd.Timestamp("2024", tz="UTC"), pd.Timestamp("1999", tz="UTC")],
    ],
    ids=str,
)
def test_dates_in_a_column_of_objects(values):
    s = pd.Series(values, dtype=object, name="o")
    a, codes = encode(s)
    assert (
        a.kind == "numeric"
        and a.items == [pd.Timestamp(values[-1]), pd.Timestamp(values[0])]
        and a.dtype.startswith("datetime64[")
        and codes.tolist() == ([1, 0] if len(values) == 2 else [1, -1, 0])
    )
    assert_same(parse_column(column_text(s), dtype_name(s)), s)


def test_dates_that_do_not_go_together():
    for bad in (
        [pd.Timestamp("2024"), pd.Timestamp("2024", tz="UTC")],
        [dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc), pd.Timestamp("2024")],
    ):
        with pytest.raises(ValueError, match="Column 'o' must hold times"):
            encode(pd.Series(bad, dtype=object, name="o"))


@pytest.mark.parametrize(
    "values, items",
    [
        ([1, "a"], ["1", "a"]),
        (["a", 1.5, None], ["1.5", "a"]),
        ([True, 1], ["1", "True"]),
        ([1, True, "1"], ["1", "True"]),
        ([dt.date(2024, 1, 1), "a"], ["2024-01-01", "a"]),
    ],
    ids=str,
)
def test_mixed_types_are_text_with_a_warning(values, items):
    for v in (values, values[::-1]):
        s = pd.Series(v, dtype=object, name="m")
        with pytest.warns(MixedTypesWarning, match="Column 'm' mixes .*treated as text"):
            a, codes = encode(s)
        assert (a.kind, a.dtype, a.items) == ("categorical", "str", items) and [
            a.items[c] if c >= 0 else None for c in codes
        ] == [o if o is None else str(o) for o in v]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert dtype_name(s) == "str"


def test_categories():
    s = pd.Series(
        pd.Categorical(["z", "a", None, "z"], ["z", "unused", "a"], ordered=True), name="c"
    )
    a, codes = encode(s)
    assert (a.items, codes.tolist(), a.dtype) == (["z", "a"], [0, 1, -1, 0], "category[str]")
    for o, word in (
        ([3, 1, 3], "category[int64]"),
        ([0.5, 1.0], "category[float64]"),
        ([True, False], "category[bool]"),
        (pd.to_datetime(["2024-01-02", "2024-01-01"]), None),
    ):
        s = pd.Series(pd.Categorical(o, pd.unique(pd.Series(o))), name="c")
        a, codes = encode(s)
        assert (
            a.kind == "categorical"
            and a.items == list(pd.unique(pd.Series(o)))
            and codes.max() == 1
            and a.positions.tolist() == [0, 1]
        )
        assert word in (None, a.dtype) and dtype_name(s) == a.dtype
        back = parse_column(
            column_text(s), a.dtype, [value_text(o) for o in s.cat.categories], name="c"
        )
        assert back.dtype == s.dtype and back.tolist() == s.tolist()


def test_categories_of_other_things_become_text():
    cut = pd.Series(pd.cut([1, 15, np.nan, 1], [0, 10, 20, 30]), name="c")
    a, codes = encode(cut)
    assert (a.items, codes.tolist(), a.dtype) == (
        ["(0, 10]", "(10, 20]"],
        [0, 1, -1, 0],
        "category[str]",
    ) and dtype_name(cut) == "category[str]"
    assert_same(parse_column(column_text(cut), "category[str]", ["(0, 10]", "(10, 20]"]), cut)
    months = pd.Series(pd.Categorical(pd.PeriodIndex(["2024-01", "2024-02"], freq="M")))
    assert encode(months)[0].items == ["2024-01", "2024-02"]
    with pytest.warns(MixedTypesWarning):
        a, codes = encode(pd.Series(pd.Categorical([1, "1", "a", None], [1, "a", "1"])))
    assert (a.items, codes.tolist()) == (["1", "a"], [0, 0, 1, -1])


def test_declared_categories_are_kept_and_checked():
    s = parse_column(["b", "", "a"], "category[str]", ["b", "a", "c"], True, name="c")
    assert (
        s.tolist()[::2] == ["b", "a"]
        and s.isna()[1]
        and s.cat.ordered
        and list(s.cat.categories) == ["b", "a", "c"]
    )
    with pytest.raises(
        TextFormError, match="column 'c': d is not one of the declared categories b, a"
    ):
        parse_column(["d"], "category[str]", ["b", "a"], name="c")
    assert cells(parse_column(["b", "{a, b}"], "category[str]", ["b", "a"]))[1] == [
        Exact("b"),
        ValueSet(["a", "b"]),
    ]


def test_categorical_numbers():
    a, codes = encode(pd.Series([10, 9, 100], name="zip"), categorical=True)
    assert (a.kind, a.items, codes.tolist(), a.dtype) == (
        "categorical",
        [9, 10, 100],
        [1, 0, 2],
        "int64",
    ) and a.positions.tolist() == [0, 1, 2]
    assert encode(pd.Series([0.5, np.nan, -0.0]), categorical=True)[0].items == [0.0, 0.5]


@pytest.mark.parametrize("flip", [False, True])
def test_minus_zero_does_not_depend_on_the_order_of_rows(flip):
    v = [0.0, -0.0, 1.0]
    a, codes = encode(pd.Series(v[::-1] if flip else v))
    assert [str(o) for o in a.items] == ["0.0", "1.0"]


def test_nan_inside_nullable_floats_is_missing():
    s = pd.Series([1.0, 0.0], dtype="Float64")
    a, codes = encode(s / s)
    assert a.items == [1.0] and codes.tolist() == [0, -1]


def test_duplicate_index_constant_and_all_missing():
    assert encode(pd.Series([2, 1, 2], index=[5, 5, 5]))[1].tolist() == [1, 0, 1]
    a, codes = encode(pd.Series(["x"] * 4))
    assert len(a) == 1 and not codes.any() and a.positions.tolist() == [0]
    for s in (
        pd.Series([np.nan] * 2),
        pd.Series([None] * 2, dtype=object),
        pd.Series([pd.NA] * 2, dtype="Int64"),
        pd.Series(pd.Categorical([None] * 2, ["a"])),
    ):
        a, codes = encode(s)
        assert (
            len(a) == 0
            and codes.tolist() == [-1, -1]
            and len(a.positions) == 0
            and len(a.known) == 0
        )
        b, more = with_missing(a, codes)
        assert b.items == [MISSING] and more.tolist() == [0, 0] and b.positions.tolist() == [0]
        assert (
            column_text(s).tolist() == ["", ""]
            and encode_like(s, a).tolist() == [-2, -2]
            and encode_like(s, b).tolist() == [0, 0]
        )
        assert_same(parse_column(column_text(s), dtype_name(s)), s)


def test_ten_thousand_values():
    v = [f"v{i}" for i in range(10_000)]
    a, codes = encode(pd.Series(v[::-1]))
    assert a.items == sorted(v) and [a.items[c] for c in codes] == v[::-1]
    assert parse_cell(cell_text(ValueSet(v))) == ValueSet(v)


@given(
    st.lists(st.one_of(st.none(), st.integers(-5, 5)), min_size=1),
    st.lists(st.one_of(st.none(), st.integers(-7, 7)), min_size=1),
)
def test_encode_like_finds_the_largest_not_above(old, new):
    a, _ = encode(pd.Series(old, dtype="Int64"))
    got = encode_like(pd.Series(new, dtype="Int64"), a)
    known = sorted({o for o in old if o is not None})
    assert got.tolist() == [-2 if o is None else sum(k <= o for k in known) - 1 for o in new]


@given(st.lists(words, min_size=1, unique=True), words)
def test_unseen_categories_stand_by_code_point(known, new):
    a, _ = encode(pd.Series(pd.Categorical(known, known)))  # declared in any order
    at = encode_like(pd.Series([new]), a)[0]
    below = [o for o in known if o <= new]
    assert a.items == known and (at == -1 if not below else known[at] == max(below))


def test_encode_like_keeps_big_numbers_apart():
    s = pd.Series([2**60, 2**60 + 1, 2**60 + 2])
    assert encode_like(s, encode(s)[0]).tolist() == [0, 1, 2]
    t = pd.Series(pd.to_datetime([10**18, 10**18 + 1]))
    assert encode_like(t, encode(t)[0]).tolist() == [0, 1]
    for bad in (pd.Series([1.0]), pd.Series(["a"])):
        with pytest.raises(ValueError, match="must hold dates, as in fit"):
            encode_like(bad, encode(t)[0])
    with pytest.raises(ValueError, match="must hold numbers, as in fit"):
        encode_like(t, encode(s)[0])


@pytest.mark.parametrize(
    "s, error, match",
    [
        (pd.Series([[1], [2]], name="c"), TypeError, "single values"),
        (pd.Series([{"a": 1}, None], name="c"), TypeError, "single values"),
        (pd.Series([1, [2]], name="c"), TypeError, "single values"),
        (pd.Series([1.0, np.inf], name="c"), ValueError, "finite numbers"),
        (pd.Series([1.0, -np.inf], dtype="Float64", name="c"), ValueError, "finite numbers"),
        (pd.Series([1, float("inf")], dtype=object, name="c"), ValueError, "finite"),
        (pd.Series([Exact(1)], name="c"), TypeError, "anonymized already"),
        (cell_column([0], [Suppressed()], name="c"), TypeError, "anonymized already"),
        (pd.Series([1j], name="c"), TypeError, "complex"),
        (pd.Series(pd.to_timedelta([1]), name="c"), TypeError, "timedelta"),
        (pd.Series(pd.period_range("2024", periods=1, freq="D"), name="c"), TypeError, "period"),
    ],
    ids=str,
)
def test_encode_refuses(s, error, match):
    with pytest.raises(error, match=match) as e:
        encode(s)
    assert "'c'" in str(e.value)


def test_sparse_columns_are_filled():
    s = pd.Series([0, 3, 0], dtype=pd.SparseDtype("int64", 0), name="c")
    a, codes = encode(s)
    assert (a.items, codes.tolist(), a.dtype, dtype_name(s)) == (
        [0, 3],
        [0, 1, 0],
        "int64",
        "int64",
    )


def test_rows_are_whole_array_work():
    """No loop of Python over the rows, which would run a line for each at the very least"""
    n = 300_000
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 50, n)
    numbers, cats = (
        pd.Series(codes),
        pd.Series(pd.Categorical.from_codes(codes, [f"v{i}" for i in range(50)])),
    )
    published = cell_column(codes, [ValueSet([i, i + 1]) for i in range(50)])
    assert python_lines(lambda: [i for i in codes]) >= n
    for s in (numbers, cats):
        assert python_lines(lambda: encode(s)) < n / 10
    for s in (numbers, cats, published):
        assert python_lines(lambda: cells(s)) < n / 10


def test_texts_that_differ_after_a_nul_character():
    v = ["a\0", "a", "a\0b", "", "\0", "a\0b", None]
    for s in (pd.Series(v, dtype=object), pd.Series(v, dtype="string")):
        a, codes = encode(s)
        assert [a.items[c] if c >= 0 else None for c in codes] == v and len(a) == 5
    t = pd.DataFrame({"c": column_text(s)})
    assert t.c[canonical_order([s])].tolist() == sorted(t.c)
    assert_same(parse_column(t.c, "str"), s)


# ---------- the one door


def test_cells_of_objects_and_of_categories_agree():
    raw = [Exact("a"), "a", None, ValueSet(["b", "a"]), Suppressed(), "c", ValueSet(["a"])]
    for s in (
        pd.Series(raw, dtype=object, index=[1] * 7),
        pd.Series([5, Exact(5), ValueSet([5, 6])], dtype=object),
    ):
        codes, cs = cells(s)
        assert len(set(cs)) == len(cs) and codes.max() == len(cs) - 1
        assert [None if c < 0 else cs[c] for c in codes] == [
            o if o is None or isinstance(o, tables.Cell) else Exact(o) for o in s
        ]
    codes, cs = cells(pd.Series(pd.Categorical([5, Exact(5), None], [5, Exact(5), Suppressed()])))
    assert (codes.tolist(), cs) == ([0, 0, -1], [Exact(5)])


def test_cell_column_leaves_out_unused_cells():
    s = cell_column(
        np.array([2, -1, 2], dtype=np.int8),
        [Exact("a"), Suppressed(), Node("n")],
        index=[4, 4, 9],
        name="c",
    )
    assert (
        list(s.cat.categories) == [Node("n")]
        and s.index.tolist() == [4, 4, 9]
        and s.isna().tolist() == [False, True, False]
    )
    codes, cs = cells(s.iloc[:0])
    assert len(codes) == 0 and cs == []
    assert cells(pickle.loads(pickle.dumps(s)))[1] == [Node("n")]


@given(dtype=st.sampled_from(list(VALUES)), data=st.data())
def test_columns_to_text_and_back(dtype, data):
    cs = data.draw(st.lists(one_cell(dtype), min_size=1, max_size=5, unique=True))
    codes = data.draw(st.lists(st.integers(-1, len(cs) - 1), min_size=1, max_size=8))
    s = restore_column(np.array(codes), cs, dtype, name="c")
    assert [None if c < 0 else cells(s)[1][c] for c in cells(s)[0]] == [
        None if c < 0 else cs[c] for c in codes
    ]
    back = parse_column(column_text(s), dtype, name="c")
    assert_same(back, s)
    # 0 and 0.5 in one column read as floats
    if dtype != "number":
        assert (column_text(back) == column_text(s)).all()


# ---------- roles


def test_check_table():
    t = pd.DataFrame({"a": [1]})
    assert (
        check_table(t) is t
        and list(check_table(np.ones((2, 3)))) == ["x0", "x1", "x2"]
        and check_table([["a", 1]]).shape == (1, 2)
    )
    assert check_table(np.array([[1, "a"], [2, "b"]], dtype=object)).dtypes.iloc[0] == "int64"


@pytest.mark.parametrize(
    "X, error, match",
    [
        (pd.Series([1]), ValueError, "Reshape your data"),
        (np.ones(3), ValueError, "1 dimension"),
        (np.ones((2, 2, 2)), ValueError, "3 dimension"),
        (3, ValueError, "0 dimension"),
        (sparse.csr_matrix(np.ones((2, 2))), TypeError, "sparse matrix: use .toarray"),
        (pd.DataFrame({1.5: [2]}), TypeError, "must be strings.*map"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "Got 'a' more than once"),
        (pd.DataFrame({"a": []}), ValueError, "at least one row"),
        (pd.DataFrame(index=[1, 2]), ValueError, "at least one column"),
        (pd.DataFrame(), ValueError, "at least one column"),
        (np.ones((0, 2)), ValueError, "0 sample"),
        (
            pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])),
            TypeError,
            "must be strings",
        ),
    ],
    ids=lambda o: type(o).__name__,
)
def test_check_table_refuses(X, error, match):
    with pytest.raises(error, match=match) as e:
        check_table(X, "table")
    assert "'table'" in str(e.value)


def test_roles():
    r = check_roles(["a", "b", "c", "d"], ["c", "a"], ["a"], ["d"], "y")
    assert (r.quasi_identifiers, r.categorical, r.identifiers, r.other) == (
        ("c", "a"),
        ("a",),
        ("d",),
        ("b",),
    )
    assert (
        check_roles(pd.Index(["a", "b"]), identifiers=["a"]).quasi_identifiers == ("b",)
        and check_roles(["a"], pd.Index(["a"])).other == ()
    )


@pytest.mark.parametrize(
    "kw, match",
    [
        (dict(quasi_identifiers=["x"]), "Got 'x'; the columns are a, b"),
        (dict(quasi_identifiers="a"), r"use \['a'\]"),
        (dict(quasi_identifiers=3), "list of column names"),
        (dict(quasi_identifiers=["a", "a"]), "2 times"),
        (dict(quasi_identifiers=[]), "at least one"),
        (dict(identifiers=["a", "b"]), "at least one"),
        (dict(quasi_identifiers=["a"], identifiers=["a"]), "one role"),
        (dict(quasi_identifiers=["a", "y"], class_name="y"), "is the class"),
        (dict(quasi_identifiers=["a", "b"], class_name="b"), "is the class"),
        (dict(categorical=["x"]), "'categorical' must name"),
        (dict(identifiers=["x"]), "'identifiers' must name"),
    ],
)
def test_roles_refuse(kw, match):
    with pytest.raises(ValueError, match=match):
        check_roles(["a", "b"], **kw)


# ---------- files

names = st.one_of(
    words, st.sampled_from(["a,b", 'a "b"', "two\nlines", "cr\r", "", " ", "\ufeffa"])
)
texts = st.one_of(words, words.map(value_text))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@pytest.mark.parametrize("end", ["csv", "parquet"])
@one_in(2)
@given(heads=st.lists(names, min_size=1, max_size=3, unique=True), data=st.data())
@example(heads=["\ufeff"], data=None)
def test_tables_to_file_and_back(folder, end, heads, data):
    rows = (
        [["", "\n", "\ufeff"]] * len(heads)
        if data is None
        else [data.draw(st.lists(texts, min_size=3, max_size=3)) for _ in heads]
    )
    t = pd.DataFrame({h: np.array(v, dtype=object) for h, v in zip(heads, rows)}, dtype=object)
    write_text(t, folder / f"t.{end}")
    back = read_text(folder / f"t.{end}")
    assert list(back.columns) == heads and back.to_numpy().tolist() == t.to_numpy().tolist()


@pytest.mark.parametrize("end", ["csv", "parquet"])
@one_in(5)
@given(data=st.data())
def test_published_tables_to_file_and_back(folder, end, data):
    n, dtypes = (
        data.draw(st.integers(1, 5)),
        data.draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=3)),
    )
    cols = {}
    for i, d in enumerate(dtypes):
        cs = data.draw(st.lists(one_cell(d), min_size=1, max_size=4, unique=True))
        cols[f"c{i}"] = restore_column(
            np.array(data.draw(st.lists(st.integers(-1, len(cs) - 1), min_size=n, max_size=n))),
            cs,
            d,
        )
    write_text(pd.DataFrame({c: column_text(s) for c, s in cols.items()}), folder / f"p.{end}")
    t = read_text(folder / f"p.{end}")
    for (c, s), d in zip(cols.items(), dtypes):
        assert_same(parse_column(t[c], d, name=c), s)


@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_no_rows_and_one_row(folder, end):
    for t in (
        pd.DataFrame({"a": [], "b": []}, dtype=object),
        pd.DataFrame({"a": []}, dtype=object),
        pd.DataFrame({"a": [""]}, dtype=object),
    ):
        write_text(t, folder / f"e.{end}")
        back = read_text(folder / f"e.{end}")
        assert list(back) == list(t) and back.to_numpy().tolist() == t.to_numpy().tolist()


def test_a_set_longer_than_the_limit_of_the_csv_module(folder):
    long = cell_text(ValueSet(range(30_000)))
    assert len(long) > 131_072
    write_text(pd.DataFrame({"a": [long], "b": [""]}), folder / "long.csv")
    assert read_text(folder / "long.csv").a[0] == long


def read_bytes(folder, content, name="x.csv"):
    (folder / name).write_bytes(content)
    return read_text(folder / name)


@pytest.mark.parametrize(
    "content, match",
    [
        (b"a,b\n1,2\n3", "Got 1 in row 2 after the header"),
        (b"a,b\n1,2\n3,4,5\n", "Got 3 in row 2"),
        (b'a,b\n1,"2', "cut off, or a quote left open"),
        (b'a,b\n1,"2"x\n', "not a whole CSV"),
        ("a\nZürich\n".encode("latin-1"), "must be UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "must be UTF-8"),
        (b"", "row of column names"),
        (b"\n1\n", "row of column names"),
        (b"a,b,a\n1,2,3\n", "Got 'a' 2 times"),
        (b"a,b\n1,2\n\n3,4\n", "Got 0 in row 2"),
    ],
)
def test_damaged_csv(folder, content, match):
    with pytest.raises(TextFormError, match=match) as e:
        read_bytes(folder, content)
    assert "x.csv" in str(e.value)


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\r\n1,x\r\n",
        b"\xef\xbb\xbfa,b\n1,x\n",
        b"a,b\n1,x",
        b"a,b\n1,x\n\n\n",
        b"a,b\r1,x\r",
        b'"a","b"\n"1","x"\n',
        b'\xef\xbb\xbf"a",b\r\n1,x\r\n\r\n',
    ],
)
def test_csv_from_elsewhere(folder, content):
    t = read_bytes(folder, content)
    assert list(t) == ["a", "b"] and t.to_numpy().tolist() == [["1", "x"]]


def test_empty_lines_of_one_column_are_missing_cells(folder):
    assert read_bytes(folder, b"a\n1\n\n2\n\n").a.tolist() == ["1", "", "2", ""]


def test_other_files(folder):
    with pytest.raises(FileNotFoundError, match="no file"):
        read_text(folder / "nobody.csv")
    with pytest.raises(FileNotFoundError):
        read_text(folder)
    for f in (
        lambda: file_kind("a.xlsx"),
        lambda: write_text(pd.DataFrame({"a": ["1"]}), folder / "a.txt"),
    ):
        with pytest.raises(ValueError, match="must end in .csv or .parquet"):
            f()
    assert [file_kind(o) for o in ("A.CSV", "b.pq", "c.parquet")] == ["csv", "parquet", "parquet"]
    paths = [schema_path(f"a/out.{o}").as_posix() for o in ("csv", "parquet")]
    assert paths == ["a/out.csv.schema.json", "a/out.parquet.schema.json"]
    for bad in (b"PAR1 cut", b""):
        with pytest.raises(TextFormError, match="not a whole Parquet file"):
            read_bytes(folder, bad, "x.parquet")


def test_parquet_from_elsewhere(folder):
    pd.DataFrame(
        {
            "i": [1, 2],
            "f": [0.5, 1.0],
            "b": [True, False],
            "t": pd.to_datetime(["2024-02-29 00:00", "2024-02-29 12:00"]),
            "s": ["*", None],
            "n": pd.array([1, None], dtype="Int64"),
        }
    ).to_parquet(folder / "raw.parquet")
    t = read_text(folder / "raw.parquet")
    assert t.to_dict("list") == {
        "i": ["1", "2"],
        "f": ["0.5", "1.0"],
        "b": ["True", "False"],
        "t": ["2024-02-29", "2024-02-29T12:00:00"],
        "s": ["*", ""],
        "n": ["1", ""],
    }
    pd.DataFrame({"l": [[1], [2]]}).to_parquet(folder / "lists.parquet")
    with pytest.raises(TextFormError, match="single values"):
        read_text(folder / "lists.parquet")


def test_atomic_write_leaves_nothing_behind(tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("old")

    def fail(path):
        Path(path).write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        atomic_write(out, fail)
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"] and out.read_text() == "old"
    for name in ("bad.csv", "bad.parquet"):
        with pytest.raises((UnicodeError, pa.ArrowException)):
            write_text(pd.DataFrame({"a": ["\ud800"], "b": ["x"]}), tmp_path / name)
    (tmp_path / "dir.csv").mkdir()
    with pytest.raises(OSError):
        write_text(pd.DataFrame({"a": ["x"]}), tmp_path / "dir.csv")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dir.csv", "out.csv"]
    with pytest.raises(FileNotFoundError, match="does not exist; make it"):
        write_text(pd.DataFrame({"a": ["x"]}), tmp_path / "no" / "a.csv")
    write_text(pd.DataFrame({"a": ["x"]}), out)
    fresh = tmp_path / "fresh"
    fresh.write_text("")
    assert out.read_text() == "a\nx\n" and out.stat().st_mode == fresh.stat().st_mode


@given(
    st.lists(st.tuples(words, st.one_of(st.none(), st.integers(0, 20))), min_size=1, max_size=10),
    st.randoms(use_true_random=False),
)
def test_canonical_order_forgets_the_order_of_rows(rows, random):
    def published(rows):
        t = pd.DataFrame(
            {
                "a": pd.Series([o[0] for o in rows], dtype=object),
                "b": pd.array([o[1] for o in rows], dtype="Int64"),
            }
        )
        text = np.column_stack([column_text(t[c]) for c in t])
        return text[canonical_order([t[c] for c in t])].tolist()

    a = published(rows)
    assert a == sorted(a)
    random.shuffle(rows)
    assert published(rows) == a


# ---------- schema and raw files


def a_schema(**kw):
    c = {"name": "a", "role": "quasi_identifier", "kind": "numeric", "dtype": "int64"} | kw
    return Schema(
        (
            c,
            {
                "name": 'y, "1"\n',
                "role": "class",
                "kind": "categorical",
                "dtype": "category[str]",
                "values": ["é"],
                "ordered": False,
            },
        )
    )


def test_schema_to_json_and_back():
    for d in (
        "int8",
        "UInt16",
        "float32",
        "Float64",
        "str",
        "bool",
        "boolean",
        "datetime64[ns]",
        "datetime64[us, Europe/Berlin]",
        "category[datetime64[s]]",
        "category[int64]",
    ):
        s = a_schema(dtype=d)
        assert Schema.from_json(s.to_json()) == s and s.role("class", "other") == ['y, "1"\n']


@pytest.mark.parametrize(
    "text, match",
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "ppdt-release"),
        ("{}", "ppdt-release"),
        ('{"format": "ppdt-release", "version": 2}', "version 1"),
        ('{"format": "ppdt-release", "version": 1}', "list columns"),
        (a_schema(role="king").to_json(), "'role' of column 'a'.*'king'"),
        (a_schema(kind="x").to_json(), "'kind' of column 'a'"),
        (a_schema(dtype="long").to_json(), "'dtype' of column 'a'"),
        (a_schema(dtype=None).to_json(), "'dtype'"),
        (a_schema(name=3).to_json(), "name every column"),
        (a_schema(name='y, "1"\n').to_json(), "each column once"),
        (a_schema(role="class").to_json(), "at most one class"),
    ],
)
def test_schemas_that_are_none(text, match):
    with pytest.raises(TextFormError, match=match):
        Schema.from_json(text)


@pytest.mark.parametrize(
    "texts, kind",
    [
        (["1", "", "2"], "numeric"),
        (["1.5", "-2e3", "0", "+7"], "numeric"),
        (["007"], "categorical"),
        (["0.5", "00.5"], "categorical"),
        (["nan"], "categorical"),
        (["inf"], "categorical"),
        (["1e999"], "categorical"),
        (["1_000"], "categorical"),
        (["١"], "categorical"),
        ([" 1"], "categorical"),
        ([""], "categorical"),
        ([], "categorical"),
        (["1", "?"], "categorical"),
    ],
)
def test_guess_kind(texts, kind):
    assert guess_kind(np.array(texts, dtype=object)) == kind


def test_to_kind():
    for texts, dtype, values in (
        (["1", "3"], "int64", [1, 3]),
        (["1", "3.5"], "float64", [1.0, 3.5]),
        (["1", ""], "Int64", [1, None]),
        (["1.5", ""], "float64", [1.5, None]),
        ([" 39"], "int64", [39]),
        (["007"], "int64", [7]),
    ):
        s = to_kind(texts, "numeric", "n")
        assert (
            str(s.dtype) == dtype
            and s.name == "n"
            and [None if pd.isna(o) else o for o in s] == values
        )
    s = to_kind(["", "1", "nan", " x"], "categorical", "n")
    assert dtype_name(s) == "str" and [None if pd.isna(o) else o for o in s] == [
        None,
        "1",
        "nan",
        " x",
    ]
    for bad in ("nan", "?", "1_000", "today"):
        with pytest.raises(
            TextFormError,
            match="row 2 after the header: .*is not a number; list the column under categorical",
        ):
            to_kind(["1", bad], "numeric", "n")
    assert encode(to_kind(["", ""], "numeric"))[1].tolist() == [-1, -1]


# ---------- one door to the ground floor
ENGINE = {
    "checks": "Roles check_roles check_table column_names",
    "coding": "Attribute encode encode_like position with_missing",
    "dtypes": "MAX_NUMERIC_VALUES MixedTypesWarning column_kind dtype_name plain_column",
    "files": "atomic_write file_kind guess_kind read_text to_kind write_text",
    "schema_file": "Schema schema_path",
    "values": "Cell DATE_PATTERN MISSING TextFormError time_zone value_order value_text",
}


@pytest.mark.parametrize("room", ENGINE)
def test_tables_offers_what_the_engine_holds(room):
    engine = importlib.import_module(f"ppdt.engine.{room}")
    for name in ENGINE[room].split():
        assert name in tables.__all__
        assert getattr(tables, name) is getattr(engine, name)


def test_pickles_find_their_names_in_tables():
    assert pickle.loads(b"cppdt.tables\nMISSING\n.") is MISSING
    assert pickle.loads(b"cppdt.tables\nAttribute\n.") is Attribute


def test_cells_of_other_kinds_have_a_text_of_their_own():
    with pytest.raises(TypeError, match="wrap a plain value as Exact"):
        cell_text("a")
