"""Files of strangers: what is too large, too deep, of another type or made to hurt is refused with
`TextFormError`, by the command with exit code 2 and one line; and nothing outside of it is opened.

Nothing is timed. How much work a text makes is counted: lines of Python, and steps of patterns.
"""

import hashlib
import importlib
import json
import os
import re
import sys
from contextlib import contextmanager
from dataclasses import asdict

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from examples import one_in
from hypothesis import example, given, strategies as st
from python_lines import python_lines
from regex_steps import regex_steps

from ppdt import cli
from ppdt.c45 import C45Classifier
from ppdt.datasets import load_clients, load_customers
from ppdt.engine.foreign_texts import foreign_column, guess_column, one_row_each
from ppdt.engine.json_texts import json_data
from ppdt.engine.limits import LIMITS, check_limit, limits, shown
from ppdt.engine.values import is_time_zone, list_members, value_parsers
from ppdt.generalization import Taxonomy
from ppdt.kadet import KADETClassifier, publish, read_published
from ppdt.mondrian import MondrianAnonymizer
from ppdt.release import read_release
from ppdt.tables import (
    Schema,
    TextFormError,
    parse_cell,
    parse_column,
    read_text,
    schema_path,
    to_kind,
    trusted,
)
from ppdt.trees import tree_from_json, tree_json, tree_text

# what is opened, in the order in which it is opened, while `watched` runs
_opened: list | None = None


def _hook(event, args):
    if event == "open" and _opened is not None:
        _opened.append(str(args[0]))


sys.addaudithook(_hook)


@contextmanager
def watched():
    """The list of the files that are opened while the block runs"""
    global _opened
    _opened = []
    try:
        yield _opened
    finally:
        _opened = None


# ---------------------------------------------------------------- texts to start from


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A release with all kinds of columns and a taxonomy: (path, text of its schema)"""
    n = 8
    X = pd.DataFrame(
        {
            "age": range(20, 20 + n),
            "job": list("abcd") * 2,
            "ok": [True, False] * 4,
            "cat": pd.Categorical(list("aabb") * 2),
            "w": [0.5, 1, 2, 3] * 2,
            "day": pd.to_datetime(["2020-01-01"] * n).tz_localize("Europe/Berlin"),
        }
    )
    jobs = Taxonomy.from_dict({"*": {"ab": ["a", "b"], "cd": ["c", "d"]}})
    y = pd.Series([1, 0] * 4, name="cls")
    path = tmp_path_factory.mktemp("written") / "out.csv"
    roles = {"quasi_identifiers": ["age", "job"], "published": ["ok", "cat", "w", "day"]}
    tool = MondrianAnonymizer(k=4, **roles, taxonomies={"job": jobs})
    tool.anonymize(X, y).to_csv(path)
    return path, schema_path(path).read_text(encoding="utf-8")


def _describe(path, columns, trees=None):
    """Write the schema of a file as a stranger would, who knows its hash"""
    file = {"name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    text = Schema(tuple(columns), trees or {}, file=file).to_json()
    schema_path(path).write_text(text, encoding="utf-8")


def _tree(counts):
    c = load_customers()
    X, y = c.drop(columns="Bought"), c.Bought
    return tree_json(C45Classifier(prune=False, min_samples_leaf=1).fit(X, y), counts=counts)


def _published():
    c = load_clients()
    X = c[["Marital Status", "Sports Car"]].assign(
        day=pd.to_datetime(["2020-01-01", "2021-01-01"] * (len(c) // 2)).tz_localize("UTC")
    )
    status = Taxonomy.from_dict({"*": {"any": sorted(set(X["Marital Status"]))}})
    tool = KADETClassifier(k=1, public=list(X), taxonomies={"Marital Status": status})
    return publish(tool.fit(X, c["Loan Risk"]))


def _read_tree(text):
    tree = tree_from_json(text)
    tree_text(tree)
    tree_json(tree, counts=True)


TREES = {
    "tree with counts": (_tree(True), _read_tree),
    "tree": (_tree(False), _read_tree),
    "published": (_published(), read_published),
}


# ---------------------------------------------------------------- JSON

DEEP = "[" * 100_000 + "]" * 100_000
JSON = {
    "nested 100,000 deep": DEEP,
    "open and nested 100,000 deep": "[" * 100_000,
    "objects 100,000 deep": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "a little deeper than the limit": "[" * 21 + "]" * 21,
    "a number of 10,000 digits": "9" * 10_000,
    "a decimal of 10,000 digits": "0." + "9" * 10_000,
    "more than floats hold": "1e999",
    "Infinity": "Infinity",
    "minus Infinity": "[-Infinity]",
    "NaN": "[NaN]",
    "a key twice": '{"a": 1, "a": 2}',
    "a key twice, deeper": '[{"a": {"b": 1, "\\u0062": 2}}]',
    "not UTF-8": b"\xff",
    "UTF-16": "[1]".encode("utf-16"),
    "a mark before it": "\ufeff[1]",
    "NUL": "\0",
    "nothing": "",
    "no text": None,
    "a number for a text": 5,
}


@pytest.mark.parametrize("case", JSON)
def test_json_that_is_refused_by_all_who_read_json(case):
    for read in (json_data, Schema.from_json, tree_from_json, read_published):
        with pytest.raises(TextFormError):
            read(JSON[case])


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.text(max_size=5)
    | st.floats(-9, 9),
    lambda o: st.lists(o, max_size=4) | st.dictionaries(st.text(max_size=3), o, max_size=4),
    max_leaves=20,
)


@one_in(3)
@given(_json)
def test_json_in_order_is_read_as_python_reads_it(value):
    text = json.dumps(value)
    assert json_data(text) == json_data(text.encode()) == json.loads(text)


def test_depth_is_counted_from_outside():
    at_limit = "[" * limits().json_depth + "]" * limits().json_depth
    assert json.dumps(json_data(at_limit)) == at_limit
    with trusted(json_depth=300):
        json_data("[" * 300 + "]" * 300)


# ---------------------------------------------------------------- any value anywhere


def _places(value, path=()):
    """The paths to all values in JSON data"""
    yield path
    if isinstance(value, (dict, list)):
        for key, below in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _places(below, (*path, key))


def _with(data, path, value):
    """The data with another value at a path; without what is there for `...`"""
    if not path:
        return None if value is ... else value
    for key in path[:-1]:
        data = data[key]
    if value is ...:
        del data[path[-1]]
    else:
        data[path[-1]] = value


_words = st.sampled_from(
    ["", "*", "a", "<a>", "{a, b}", "[1, 2]", '"missing"', "str", "int64", "bool", "category[int8]"]
    + ["datetime64[ns]", "datetime64[us, UTC]", "datetime64[ns, dateutil//etc/passwd]"]
    + [
        "other",
        "class",
        "quasi_identifier",
        "numeric",
        "categorical",
        "leaf",
        "value",
        "\ud800",
        "\0",
    ]
    + ["float16", "interval", "number", "(1, 2]", "(0, nan]", "(today, now]", "2020-01-01"]
)
_anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 5)
    | st.sampled_from([10**9, 10**18, 10**30, -1e308, 1e308, 0.5, -0.0, float("nan"), float("inf")])
    | _words
    | st.text(max_size=4),
    lambda o: st.lists(o, max_size=3) | st.dictionaries(_words, o, max_size=3),
    max_leaves=6,
)


def _spoil(data, text):
    """A text with one to three values replaced, or taken away"""
    spoilt = json.loads(text)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(list(_places(spoilt))))
        changed = _with(spoilt, path, data.draw(st.just(...) | _anything))
        spoilt = spoilt if path else changed
    return json.dumps(spoilt)


@given(st.data())
def test_any_value_anywhere_in_a_schema_is_read_or_refused(written, data):
    path, text = written
    schema_path(path).write_text(_spoil(data, text), encoding="utf-8")
    try:
        release = read_release(path)
    except TextFormError:
        return
    finally:
        schema_path(path).write_text(text, encoding="utf-8")
    assert isinstance(release.taxonomies, dict) and len(release.text())


@pytest.mark.parametrize("kind", TREES)
@given(st.data())
def test_any_value_anywhere_in_a_tree_is_read_or_refused(kind, data):
    text, read = TREES[kind]
    try:
        read(_spoil(data, text))
    except TextFormError:
        pass


_dtypes = ["str", "bool", "boolean", "int8", "uint64", "Int64", "float16", "Float64", "float32"]
_dtypes += ["datetime64[ns]", "datetime64[s, UTC]"]
_dtypes += [f"category[{o}]" for o in _dtypes]
_cells = '* {a, b} {1, 2} {1,"missing"} "missing" ~1 ~a [1, 2] [1, 2) [a, b] <a> <*> 1 2 -0 1e400 '
_cells = _cells.replace(", ", ",_").split() + ["", "\0", "\ufeff", "a\nb", "=1+1", "1e308", "-129"]
_cells += "inf nan True False a 2020-01-01 2020-01-01T00:00:00+01:00 9999-12-31 [-inf,inf]".split()
_cells += ["[-1e308, 1e308]", "~1e308", "99999999999999999999", "18446744073709551615", "65504"]
_cells += ['"', '{"', "[1,]", "{}", "<>", "~", "1_0", "١", "{True, False}", '["missing", 5]']


@given(st.data())
def test_any_cells_under_any_schema_are_read_or_refused(tmp_path_factory, data):
    names = ["a", "=b", "c"][: data.draw(st.integers(1, 3))]
    some = st.sampled_from(data.draw(st.lists(st.sampled_from(_cells), min_size=1, max_size=4)))
    rows = data.draw(st.lists(st.tuples(*[some] * len(names)), max_size=4))
    path = tmp_path_factory.getbasetemp() / "cells.csv"
    pd.DataFrame(rows, columns=names).to_csv(path, index=False, lineterminator="\n")
    column = st.fixed_dictionaries(
        {
            "role": st.sampled_from(["quasi_identifier", "class", "other"]),
            "kind": st.sampled_from(["numeric", "categorical"]),
            "dtype": st.sampled_from(_dtypes),
        },
        optional={"values": st.lists(some.filter(bool), max_size=3), "ordered": st.booleans()},
    )
    columns = [{"name": o} | data.draw(column) for o in names]
    lines = st.lists(st.lists(st.sampled_from(_cells), min_size=1, max_size=3), max_size=3)
    trees = data.draw(st.dictionaries(st.sampled_from(names), lines, max_size=1))
    _describe(path, columns, trees)
    try:
        release = read_release(path)
        assert len(release.text()) <= len(rows)
    except TextFormError:
        pass


# ---------------------------------------------------------------- single parts of schemas and trees


def _changed(text, **change):
    return json.dumps(json.loads(text) | change)


def _column(text, i, **change):
    d = json.loads(text)
    d["columns"][i] |= change
    return json.dumps(d)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda t: _column(t, 0, public=1_000_000_000),
        lambda t: _column(t, 0, numeric=None),
        lambda t: _column(t, 0, name=None),
        lambda t: _column(t, 0, date="dateutil//etc/passwd"),
        lambda t: _column(t, 0, date=3),
        lambda t: _column(t, 0, taxonomy=[[["a", "*"]], "object"]),
        lambda t: _column(t, 0, taxonomy=[[["a", "*"]]]),
        lambda t: _column(t, 0, taxonomy={"a": 1}),
        lambda t: _column(t, 0, taxonomy=[[["a"] + ["*"] * 1000], "str"]),
        lambda t: _changed(t, **{"class": {"name": None, "public": True}}),
        lambda t: _changed(t, **{"class": {"name": "c", "public": 1_000_000_000}}),
        lambda t: _changed(t, **{"class": {"name": ["c"], "public": False}}),
        lambda t: _changed(t, columns=json.loads(t)["columns"] * 2),
        lambda t: _changed(t, columns=json.loads(t)["columns"] * 20_000),
    ],
)
def test_parts_of_a_published_tree(spoil):
    text = TREES["published"][0]
    read_published(text)
    with pytest.raises(TextFormError):
        read_published(spoil(text))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda t: _column(t, 0, values=5),
        lambda t: _column(t, 3, values=["a", "b", "b"]),
        lambda t: _column(t, 3, values=["a", None]),
        lambda t: _column(t, 3, ordered="yes"),
        lambda t: _column(t, 0, dtype=["int64"]),
        lambda t: _column(t, 0, dtype="category[category[int64]]"),
        lambda t: _column(t, 0, dtype="int64\n"),
        lambda t: _column(t, 0, role=["class"]),
        lambda t: _changed(t, columns=json.loads(t)["columns"] * 2),
        lambda t: _changed(t, columns=[1] * 20_000),
        lambda t: _changed(t, taxonomies={"job": [["a"] * 1000]}),
        lambda t: _changed(t, taxonomies={"job": [["a", 5]]}),
        lambda t: _changed(t, taxonomies={"job": [["a", None]]}),
        lambda t: _changed(t, taxonomies={"job": [[]]}),
        lambda t: _changed(t, taxonomies={"nobody": [["a", "*"]]}),
        lambda t: _changed(t, taxonomies={"job": [["a", "x", "*"], ["b", "x", "y", "*"]]}),
    ],
)
def test_parts_of_a_schema(written, spoil):
    path, text = written
    read_release(path)
    schema_path(path).write_text(spoil(text), encoding="utf-8")
    with pytest.raises(TextFormError):
        read_release(path)
    schema_path(path).write_text(text, encoding="utf-8")


def chain(n):
    """A tree whose every node has one leaf and one node below it, n deep, as JSON"""
    inner = 2 * np.arange(n)
    parent = np.append(-1, np.repeat(np.append(0, inner[1:]), 2)).tolist()
    d = {"format": "ppdt-tree", "version": 2, "classes": ["a", "b"], "class_dtype": "str"}
    d["attributes"] = [{"name": "x", "dtype": "str", "cells": False, "values": ["u", "v"]}]
    ask = [0] + [-1, 0] * (n - 1) + [-1, -1]
    d |= {"parent": parent, "attribute": ask, "level": [0] * len(parent)}
    d["kind"] = ["leaf" if o < 0 else "values" for o in ask]
    d |= {"threshold": [None] * len(parent), "code": [-1] + [0, 1] * n}
    return d | {"class": [0] * len(parent)}


def test_deep_wide_and_heavy_trees():
    assert len(tree_from_json(json.dumps(chain(50)))) == 101
    assert len(tree_from_json(json.dumps(chain(limits().tree_depth)))) == 20_001
    with pytest.raises(TextFormError, match="the depth of a tree must not exceed 10,000"):
        tree_from_json(json.dumps(chain(100_000)))
    with trusted(tree_nodes=100), pytest.raises(TextFormError, match="tree_nodes"):
        tree_from_json(json.dumps(chain(50)))
    # a square of so many classes would need 300 GB
    leaf = {"parent": [-1], "attribute": [-1], "level": [0], "kind": ["leaf"], "code": [-1]}
    many = {"classes": [str(i) for i in range(200_000)], "threshold": [None], "class": [7]}
    wide = tree_from_json(json.dumps(chain(1) | leaf | many))
    assert wide.counts.sum() == wide.counts[0, 7] == 1
    with trusted(tree_counts=1000), pytest.raises(TextFormError, match="tree_counts"):
        tree_from_json(json.dumps(chain(1) | leaf | many))
    for parent in ([-1, 2, 1], [-1, 1, 0], [-1, 0, 5]):
        with pytest.raises(TextFormError):
            tree_from_json(json.dumps(chain(1) | {"parent": parent}))


# ---------------------------------------------------------------- time zones and paths

ZONES = ["dateutil//etc/passwd", "dateutil/Europe/Berlin", "../../../etc/passwd", "/etc/passwd"]
ZONES += ["tzlocal()", "Nowhere/City", "Europe/../Europe/Berlin", "", " UTC", "UTC\n", "+25:00"]
ZONES += ["posixrules\0", "file:///etc/passwd", "tzfile('/etc/passwd')", "./UTC", "Europe"]


@pytest.mark.parametrize("zone", ZONES)
def test_no_file_is_opened_for_a_time_zone(written, tmp_path, zone):
    path, text = written
    path.read_bytes(), is_time_zone("UTC")
    dtype = f"datetime64[ns, {zone}]"
    time = "2020-01-01T00:00:00+00:00"
    d = json.loads(TREES["tree"][0])
    columns = [o | {"dates": dtype} for o in d["attributes"]]
    table = pa.table({"t": pa.array([0], pa.timestamp("ns", tz=zone))})
    pq.write_table(table, tmp_path / "zone.parquet")
    with watched() as opened:
        assert not is_time_zone(zone)
        for read in (
            lambda: Schema.from_json(_column(text, 5, dtype=dtype)),
            lambda: Schema.from_json(_column(text, 5, dtype=f"category[{dtype}]")),
            lambda: tree_from_json(_changed(TREES["tree"][0], class_dtype=dtype)),
            lambda: tree_from_json(_changed(TREES["tree"][0], attributes=columns)),
            lambda: value_parsers(dtype) if zone else parse_cell("{", "int64"),
            lambda: parse_column([time], dtype),
        ):
            with pytest.raises(TextFormError):
                read()
        if zone:
            with pytest.raises(TextFormError):
                read_published(_column(TREES["published"][0], 0, date=zone))
            with pytest.raises(TextFormError, match="time zone"):
                read_text(tmp_path / "zone.parquet")
    assert all(o.endswith(".parquet") for o in opened), opened


@pytest.mark.parametrize(
    "zone",
    ["UTC", "Europe/Berlin", "Etc/GMT+5", "America/Argentina/Ushuaia", "UTC+05:30", "-03:00"],
)
def test_zones_of_the_world_are_read(zone):
    t = parse_cell("2020-06-01T00:00:00+00:00", f"datetime64[ns, {zone}]").value
    assert t == pd.Timestamp("2020-06-01", tz="UTC") and is_time_zone(zone)


# ---------------------------------------------------------------- cells in linear time

_LONG = 100_000


@pytest.mark.parametrize("dtype", ["str", "int64", "float64", "bool", "number", "datetime64[ns]"])
@pytest.mark.parametrize(
    "text",
    [
        "{a" + " " * _LONG,
        "{a" + " " * _LONG + "b}",
        "{" + " " * _LONG + "}",
        "[" + " " * _LONG + "]",
        "{" + '"' * _LONG + "}",
        '{"' + "\\" * _LONG + "}",
        '{"' + '\\"' * _LONG + "}",
        "{" + '"a"b,' * _LONG + "}",
        '"' + "\\" * _LONG,
        "1" * _LONG + "x",
        "1" * _LONG + "e",
        "0." + "0" * _LONG + "e" + "1" * _LONG,
        "(" + " " * _LONG,
        "(" + ", " * _LONG,
        "<" * _LONG,
        "~" * _LONG,
        "\0" * _LONG,
    ],
)
def test_long_cells_end_soon(text, dtype):
    """A pattern that goes back and forth would take hours for these"""
    for read in (parse_cell, lambda t, d: parse_column([t, ""], d, name="c")):
        try:
            read(text, dtype)
        except TextFormError as e:
            assert len(str(e)) < 500
    cli.spoilt_number(["1", "2", text])
    guess_column([text, text, "1"], "c")
    for tool in ("arx", "anonypy", "sdcmicro"):
        foreign_column([text, "1"], "c", tool, "categorical")
    try:
        to_kind([text], "numeric", "c")
    except TextFormError:
        pass


def _old_members(body):
    """The members of a list as the first version found them, slowly"""
    token = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^,]*?)\s*(,|\Z)', re.S)
    members, i = [], 0
    while True:
        m = token.match(body, i)
        if m is None or not m[1]:
            return None
        members.append(m[1])
        i = m.end()
        if not m[2]:
            return members


@given(st.text('a, "\\\n\t{', max_size=20))
@example('"a"b, c')
@example('"a, b')
def test_members_are_what_they_were(body):
    try:
        members = list_members("{" + body + "}")
    except TextFormError:
        members = None
    assert members == _old_members(body)


def _patterns():
    """The patterns in the modules that read what others wrote"""
    for module in (
        "values",
        "files",
        "foreign_texts",
        "schema_file",
        "tree_files",
        "text_warnings",
        "command_words",
        "releases",
        "dependencies",
        "column_roles",
    ):
        here = importlib.import_module(f"ppdt.engine.{module}")
        for name, value in vars(here).items():
            if isinstance(value, re.Pattern):
                yield pytest.param(value, id=f"{module}.{name}")


_PIECES = [
    "",
    "@",
    " ",
    "a",
    "1",
    ".",
    ",",
    '"',
    "\\",
    "[",
    "{",
    "-",
    "e1",
    " ,",
    '\\"',
    "1.",
    ":0",
    "~",
]


def _grows_too_fast(pattern):
    """A text whose double needs more than about twice the steps; None where there is none"""
    for start in ("", '"', "[", "{", "1", "~"):
        for middle in _PIECES[1:]:
            for end in ("", " ", ",", '"', "\\", "-"):
                short, long = (start + middle * n + end for n in (10, 20))
                few, many = regex_steps(pattern, short)[0], regex_steps(pattern, long)[0]
                if many > 2.6 * few + 40:
                    return long
    return None


@pytest.mark.parametrize("pattern", list(_patterns()))
def test_patterns_need_steps_as_the_text_is_long(pattern):
    assert _grows_too_fast(pattern) is None


@pytest.mark.parametrize(
    "pattern",
    [
        r'\s*("(?:[^"\\]|\\.)*"|[^,]*?)\s*(,|\Z)',
        r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf",
        r"\{.*,.*\}|\[[^,]+,[^,]+[\])]|<.+>|~.+|\*",
        r"[\[(\]]\s*[^,]+,[^,]+[\])\[]",
        r"([\[(])(.+), (.+)([\])])",
    ],
)
def test_the_patterns_of_before_are_found(pattern):
    """So the test above can fail, and the steps are counted"""
    assert _grows_too_fast(re.compile(pattern))


@given(st.text('a1, "\\.', max_size=8))
def test_steps_are_counted_of_the_same_matches(text):
    for pattern in _patterns():
        found = pattern.values[0]
        assert regex_steps(found, text)[1] == (found.fullmatch(text) is not None)


_LETTERS = Taxonomy.from_dict({"*": ["a", "b", "a,b"]})


@pytest.mark.parametrize(
    "read, text",
    [
        (list_members, lambda n: "{" + "a, " * n + "a}"),
        (list_members, lambda n: "{" + '"\\"", ' * n + "a}"),
        (json_data, lambda n: "[" + "[1], " * n + "1]"),
        (json_data, lambda n: json.dumps({str(i): i for i in range(n)})),
        (tree_from_json, lambda n: json.dumps(chain(n))),
        (lambda t: parse_cell(t, "int64"), lambda n: "{" + "1, " * n + "2}"),
        (lambda t: parse_column(t, "int64"), lambda n: [str(i) for i in range(n)]),
        (Schema.from_json, lambda n: _many_columns(n)),
        (lambda t: foreign_column(t, "x", "arx"), lambda n: [f"[{i}, {i + 1}[" for i in range(n)]),
        (lambda t: guess_column(t, "x"), lambda n: ["{" + "a, " * n + "a}"]),
        (lambda t: foreign_column(t, "x", "anonypy"), lambda n: ["a," * n + "a"]),
        (lambda t: foreign_column(t, "x", "anonypy", None, _LETTERS), lambda n: ["a," * n + "a"]),
        (lambda t: guess_column(t, "x"), lambda n: [f"{i:03}*" for i in range(n)] * 2),
        (lambda t: one_row_each(t), lambda n: pd.DataFrame({"x": ["['1-2']"] * n, "count": "3"})),
        (lambda t: Taxonomy.from_lines(t), lambda n: [[str(i), "a", "*"] for i in range(n)]),
    ],
)
def test_lines_of_python_grow_with_the_text(read, text):
    read(text(10))
    short, long = (python_lines(lambda: read(text(n))) for n in (100, 200))
    fixed = python_lines(lambda: text(200))
    assert long <= 2.2 * short + fixed


def _many_columns(n):
    """A schema of n columns"""
    column = {"role": "other", "kind": "numeric", "dtype": "int64"}
    return Schema(tuple({"name": f"c{i}"} | column for i in range(n))).to_json()


# ---------------------------------------------------------------- files


def _csv(tmp_path, content, name="in.csv"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


FILES = {  # content, and what the message must say
    "the same column twice": (b"a,a\n1,2\n", "each column once"),
    "10,001 columns": (b",".join(b"c%d" % i for i in range(10_001)) + b"\n", "must not exceed"),
    "a quote left open for ever": (b'a,b\n"' + b"x" * 17_000_000, "cut off, or a quote left open"),
    "in no encoding": (b"a\n\x81\n", "must be UTF-8"),
    "half a sign of UTF-16": ("a,b\n1,2\n".encode("utf-16")[:-1], "must be UTF-8"),
    "nothing": (b"", "column names"),
    "only an empty line": (b"\n", "column names"),
    "rows of another length": (b"a,b\n1\n", "2 fields"),
}


@pytest.mark.parametrize("case", FILES)
def test_csv_that_is_refused(tmp_path, case, capsys):
    path = _csv(tmp_path, FILES[case][0])
    for read in (read_text, read_release):
        with pytest.raises(TextFormError, match=FILES[case][1]):
            read(path)
    assert _says(["audit", path, "--qi", "a"], capsys, FILES[case][1])
    out = tmp_path / "out.csv"
    assert _says(["anonymize", path, "--qi", "a", "-o", out], capsys, FILES[case][1])
    assert [o.name for o in tmp_path.iterdir()] == ["in.csv"]


def _says(words, capsys, what, code=2):
    """Does the command end with one line that says something?"""
    capsys.readouterr()
    ended = cli.main([str(o) for o in words])
    err = capsys.readouterr().err
    assert ended == code and re.fullmatch(r"ppdt: [^\n]+\n", err) and len(err) < 1100, (ended, err)
    return what in err


def test_csv_that_looks_odd_and_is_read(tmp_path):
    for content, cells in (
        (b"\xef\xbb\xbfa\n1\n", ["1"]),
        (b"a\n1\0\n", ["1\0"]),
        (b"a\n=1+1\n", ["=1+1"]),
    ):
        assert read_text(_csv(tmp_path, content)).a.tolist() == cells
    assert list(read_text(_csv(tmp_path, b"=cmd|' /C calc'!A0,@b\n1,2\n"))) == [
        "=cmd|' /C calc'!A0",
        "@b",
    ]


def test_a_huge_file_is_not_even_opened(tmp_path, capsys):
    for name in ("huge.csv", "huge.parquet"):
        path = tmp_path / name
        with open(path, "wb") as f:
            f.write(b"a,b\n")
            f.truncate(2**30)  # a hole: nothing of it lies on the disk
        with watched() as opened, pytest.raises(TextFormError, match="must not exceed 536,870,912"):
            read_text(path)
        assert str(path) not in opened
        assert _says(["audit", path, "--qi", "a"], capsys, "add --trust")
        path.unlink()
    path = _csv(tmp_path, b"a\n1\n1\n")
    with open(schema_path(path), "wb") as f:
        f.truncate(2**30)
    with watched() as opened, pytest.raises(TextFormError, match="must not exceed 33,554,432"):
        read_release(path)
    assert str(schema_path(path)) not in opened
    with open(tmp_path / "jobs.csv", "wb") as f:
        f.truncate(2**30)
    with pytest.raises(TextFormError, match="json_bytes"):
        Taxonomy.from_csv(tmp_path / "jobs.csv")


@pytest.mark.skipif(os.name == "nt", reason="pipes and devices of Unix")
def test_pipes_devices_and_folders_are_no_files(tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    (tmp_path / "gone.csv").symlink_to(tmp_path / "nobody")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    for name in ("pipe.csv", "folder.csv", "zero.csv", "gone.csv", "loop.csv"):
        path = tmp_path / name
        for read in (read_text, read_release, Taxonomy.from_csv):
            with pytest.raises(OSError):
                read(path)
        what = "a folder that is none" if name == "folder.csv" else "does not exist"
        assert _says(["audit", path, "--qi", "a"], capsys, what)


@pytest.mark.skipif(os.name == "nt", reason="pipes of Unix")
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda p: os.symlink("/dev/zero", p)])
def test_a_schema_that_is_no_file(tmp_path, make, capsys):
    path = _csv(tmp_path, b"a\n1\n1\n")
    make(schema_path(path))
    with pytest.raises(TextFormError, match="must be a file"):
        read_release(path)
    assert _says(["audit", path, "--qi", "a"], capsys, "must be a file")


def test_taxonomy_files(tmp_path, capsys):
    people = _csv(tmp_path, b"job\na\na\nb\nb\n", "people.csv")
    for content, what in (
        (b"a;" + b"x;" * 200 + b"*\n", "taxonomy_depth"),
        (b"a;\x81;*\n", "UTF-8"),
        (b'a;"x;*\n', "whole lines"),
        (b"a;" + b"x" * 200_000 + b"\n", "whole lines"),
        (b"a;*\na;*\n", "repeats the leaf"),
        (b"a;x;*\nb;y;x\n", "every node needs one parent"),
        (b"\0\n", "tree"),
    ):
        path = _csv(tmp_path, content, "job.csv")
        out = tmp_path / "out.csv"
        words = [
            "anonymize",
            people,
            "--qi",
            "job",
            "--k",
            2,
            "-o",
            out,
            "--taxonomy",
            f"job={path}",
        ]
        if what != "tree":
            with pytest.raises(ValueError, match=what):
                Taxonomy.from_csv(path)
            assert _says(words, capsys, what)
        else:
            assert cli.main([str(o) for o in words]) == 2
        assert not out.exists()


# ---------------------------------------------------------------- Parquet


def _parquet(tmp_path, **columns):
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table(columns), path, compression="zstd")
    return path


def _repeated(text, n):
    """A column with one text n times, which is written once"""
    return pa.DictionaryArray.from_arrays(np.zeros(n, dtype=np.int32), pa.array([text]))


def test_bombs_are_not_unpacked(tmp_path, capsys):
    n = LIMITS.rows + 1
    for columns, what in (
        ({"a": np.zeros(n, dtype=np.int8)}, "must not exceed 10,000,000 .the limit 'rows'"),
        ({"a": _repeated("x" * 1_000_000, 5_000)}, "unpacked_bytes"),
        ({"a": _repeated("x" * (LIMITS.cell_length + 1), 3)}, "cell_length"),
    ):
        path = _parquet(tmp_path, **columns)
        assert path.stat().st_size < 100_000
        for read in (read_text, read_release):
            with pytest.raises(TextFormError, match=what):
                read(path)
        assert _says(["audit", path, "--qi", "a"], capsys, "add --trust")
    path = _parquet(tmp_path, **{f"c{i}": [1] for i in range(LIMITS.columns + 1)})
    with pytest.raises(TextFormError, match="columns"):
        read_text(path)


def test_what_is_unpacked_is_compared_before_it_is_read(tmp_path, monkeypatch):
    path = _parquet(tmp_path, a=np.arange(10_000))
    monkeypatch.setattr(pq.ParquetFile, "read", None)
    with trusted(unpacked_bytes=10_000), pytest.raises(TextFormError, match="unpacked_bytes"):
        read_text(path)


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.int8()),
        pa.struct([("x", pa.int8())]),
        pa.map_(pa.string(), pa.int8()),
        pa.list_(pa.list_(pa.string())),
        pa.list_(pa.int8(), 2),
    ],
)
def test_containers_in_parquet(tmp_path, kind):
    with pytest.raises(TextFormError, match="column 'tags' of in.parquet must hold single values"):
        read_text(_parquet(tmp_path, a=[1], tags=pa.array([None], kind)))


def test_what_pandas_wrote_into_parquet_is_not_believed(tmp_path):
    t = pa.table({"a": [1, 2], "b": ["x", None]})
    for told in (b"{", b"[]", b'{"index_columns": 5}', b"[" * 100_000, b"\xff", b"null"):
        path = tmp_path / "in.parquet"
        pq.write_table(t.replace_schema_metadata({b"pandas": told}), path)
        assert read_text(path).to_dict("list") == {"a": ["1", "2"], "b": ["x", ""]}
    t.to_pandas().set_index("a").to_parquet(path)
    assert list(read_text(path)) == ["b"]  # an index is no column, as pandas has it


@given(st.data())
def test_damaged_parquet_is_refused_or_read(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "damaged.parquet"
    pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}).to_parquet(path)
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(raw[: data.draw(st.integers(0, len(raw)))]))
    try:
        assert len(read_text(path)) <= 2**31
    except TextFormError:
        pass


COLUMNS = {
    "int8": pa.array([1, None, -128], pa.int8()),
    "uint64": pa.array([2**64 - 1, None, 0], pa.uint64()),
    "int64": pa.array([2**63 - 1, None, -(2**63)], pa.int64()),
    "float": pa.array([0.1, None, 1e300]),
    "float32": pa.array([0.5, None, 2.0], pa.float32()),
    "bool": pa.array([True, None, False]),
    "text": pa.array(["a\0b", None, "a\0c"]),
    "large text": pa.array(["a", None, ""], pa.large_string()),
    "date": pa.array([0, None, 19782], pa.date32()),
    "time": pa.array([0, None, 10**18], pa.timestamp("ns")),
    "zone": pa.array([0, None, 10**9], pa.timestamp("s", "Europe/Berlin")),
    "decimal": pa.array([1, None, 3], pa.decimal128(9, 2)),
    "nothing": pa.nulls(3),
    "dictionary": pa.array(["x", None, "y"]).dictionary_encode(),
    "numbers in a dictionary": pa.array([7, None, 8]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("groups", [1, 2, 6])
def test_columns_of_parquet_are_read_as_pandas_reads_them(tmp_path, kind, groups):
    from ppdt.tables import value_text

    column = pa.chunked_array([COLUMNS[kind], COLUMNS[kind]])
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"c": column}), path, row_group_size=6 // groups)
    by_pandas = pd.read_parquet(path, dtype_backend="numpy_nullable").c
    if kind == "text" and not pd.__version__.startswith("3"):
        by_pandas = column.to_pandas()
    expected = ["" if pd.isna(o) else o if isinstance(o, str) else value_text(o) for o in by_pandas]
    assert read_text(path).c.tolist() == expected


def test_names_with_dots_are_no_paths(tmp_path):
    names = {"a": [1], "a.b": [2], "": [3], ".": [4], "a.": [5], "a.b.c": [6]}
    assert read_text(_parquet(tmp_path, **names)).iloc[0].tolist() == list("123456")


def test_parquet_without_rows_or_columns(tmp_path):
    assert read_text(_parquet(tmp_path, a=pa.array([], pa.string()))).shape == (0, 1)
    assert read_text(_parquet(tmp_path)).shape == (0, 0)


# ---------------------------------------------------------------- limits

_small = {  # name: a limit that a file below exceeds
    "file_bytes": 3,
    "rows": 1,
    "columns": 1,
    "fields": 3,
    "cell_length": 2,
    "distinct_cells": 1,
    "number_length": 2,
    "json_bytes": 3,
    "json_depth": 1,
    "unpacked_bytes": 3,
}


@pytest.mark.parametrize("name", _small)
def test_every_limit_of_tables_is_in_force_and_can_be_lifted(tmp_path, name, capsys):
    table = pd.DataFrame({"a": ["111", "222"], "b": ["x", "y"]})
    table.to_csv(tmp_path / "in.csv", index=False)
    table.to_parquet(tmp_path / "in.parquet", index=False)
    path = tmp_path / ("in.parquet" if name == "unpacked_bytes" else "in.csv")
    column = {"role": "quasi_identifier", "kind": "numeric", "dtype": "int64"}
    other = {"role": "other", "kind": "categorical", "dtype": "str"}
    _describe(path, [{"name": "a"} | column, {"name": "b"} | other])
    assert len(read_release(path).data) == 2
    with trusted(**{name: _small[name]}):
        assert getattr(limits(), name) == _small[name]
        with pytest.raises(TextFormError):
            read_release(path)
        assert _says(["audit", path], capsys, "" if name == "cell_length" else "--trust")
        with trusted():
            assert len(read_release(path).data) == 2
        assert cli.main(["audit", str(path), "--trust"]) == 0
        assert cli.main(["audit", str(path)]) == 2
    assert limits() == LIMITS


def test_every_limit_is_tested():
    others = {"taxonomy_depth", "tree_nodes", "tree_depth", "tree_counts"}
    assert _small.keys() | others == asdict(LIMITS).keys()


def test_trusted_refuses_what_is_no_limit():
    for wrong in ({"lines": 5}, {"rows": 0}, {"rows": True}, {"rows": 1.5}, {"rows": "many"}):
        with pytest.raises(ValueError), trusted(**wrong):
            pass
    with pytest.raises(KeyError), trusted():
        raise KeyError
    assert limits() == LIMITS
    with pytest.raises(TextFormError, match=r"inside `with ppdt.tables.trusted\(\):`"):
        check_limit("rows", LIMITS.rows + 1, "rows")
    assert len(shown("x" * 10**6)) < 100 and len(shown([1] * 10**5)) < 200 and shown("a") == "'a'"
