"""Random tables for tests of everything that reads tables: columns of all kinds, odd texts,
missing values, any index.
"""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from ppdt.tables import cells, column_text

ODD = [
    "a",
    "b,c",
    "{x}",
    "{a, b}",
    "[1, 2]",
    "*",
    "~m",
    "<n>",
    '"',
    'it"s',
    "'",
    " a",
    "a ",
    "nan",
    "None",
    "missing",
    '"missing"',
    "",
    "007",
    "1",
    "\n",
    "ä–ö",
    "\\",
    "a\r\nb",
]
DATES = [
    pd.Timestamp(o)
    for o in [
        "1999-12-31",
        "2024-02-29",
        "2024-02-29 12:30",
        "1970-01-01",
        "2030-06-01 00:00:00.000001",
    ]
]
FLOATS = [0.0, -0.0, 0.1, 1 / 3, -2.5, 1e-300, 1e300, 3.0, 7.0]
NAMES = ["q", "a,b", 'say "x"', "Å", "two words", "p", "w"]
KINDS = [
    "int",
    "int8",
    "float",
    "text",
    "bool",
    "date",
    "zoned",
    "category",
    "ordered",
    "Int64",
    "boolean",
    "number category",
]


def pick(*values):
    return st.sampled_from(values)


@st.composite
def columns(draw, n, name, missing=True):
    """One column of n rows of some kind, perhaps with missing values"""
    kind = draw(pick(*KINDS))

    def some(values):
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    gaps = np.array(
        draw(st.lists(st.booleans(), min_size=n, max_size=n))
        if missing and draw(st.booleans())
        else [False] * n
    )
    if kind in ("int", "int8"):
        return pd.Series(some(range(-3, 8)), dtype="int64" if kind == "int" else "int8", name=name)
    if kind == "float":
        return pd.Series(some(FLOATS), name=name).where(~gaps)
    if kind == "text":
        return pd.Series(some(ODD), name=name, dtype="str").where(~gaps)
    if kind == "bool":
        return pd.Series(some([True, False]), name=name)
    if kind == "date":
        return pd.Series(some(DATES), name=name).where(~gaps)
    if kind == "zoned":
        return (
            pd.Series(some(DATES), name=name)
            .dt.tz_localize("UTC")
            .dt.tz_convert("Europe/Berlin")
            .where(~gaps)
        )
    if kind == "Int64":
        return pd.Series(some(range(5)), name=name, dtype="Int64").where(~gaps)
    if kind == "boolean":
        return pd.Series(some([True, False]), name=name, dtype="boolean").where(~gaps)
    if kind == "number category":
        return pd.Series(pd.Categorical(some([3, 1, 2]), categories=[9, 3, 1, 2]), name=name).where(
            ~gaps
        )
    return pd.Series(
        pd.Categorical(
            some(["z", "a", "m"]), categories=["z", "unused", "m", "a"], ordered=kind == "ordered"
        ),
        name=name,
    ).where(~gaps)


@st.composite
def tables(draw, missing=True):
    """(X, y, roles): mixed columns in any order, a repeated index, an identifier "who", columns
    that are published as they are; roles are parameters that all anonymizers have
    """
    n = draw(st.integers(1, 10))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=4, unique=True))
    X = pd.concat([draw(columns(n, o, missing)) for o in names], axis=1)
    X.insert(draw(st.integers(0, len(names))), "who", [f"person {i}" for i in range(n)])
    kind = draw(pick("range", "repeated", "multi", "dates"))
    if kind == "repeated":
        X.index = pd.Index(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), name="label")
    if kind == "multi":
        X.index = pd.MultiIndex.from_arrays(
            [[i // 2 for i in range(n)], ["x"] * n], names=["i", "j"]
        )
    if kind == "dates":
        X.index = pd.DatetimeIndex(list(pd.date_range("2024", periods=n)))
    y = pd.Series(
        draw(st.lists(pick("yes", "no", "{?}"), min_size=n, max_size=n)), name="cls", dtype="str"
    ).set_axis(X.index)
    qi = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    categorical = [o for o in names if X[o].dtype == "int64" and draw(st.booleans())]
    return (
        X,
        y,
        dict(
            k=draw(st.integers(1, n)),
            quasi_identifiers=qi,
            categorical=categorical,
            identifiers=["who"],
            published=[o for o in names if o not in qi],
            missing=draw(pick("category", "drop")) if missing else "error",
        ),
    )


def row_cells(s):
    """The cell of each row, None where missing"""
    codes, cs = cells(s)
    return [None if c < 0 else cs[c] for c in codes]


def published_rows(r):
    """The published quasi-identifiers of a release, in order of their texts. Whose class stands
    beside which row may depend on the order of the file, see `test_ties`
    """
    return sorted(zip(*[column_text(r.data[o]) for o in r.roles.quasi_identifiers]))
