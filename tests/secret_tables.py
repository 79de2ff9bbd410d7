"""Random tables whose values are unmistakable, and a search for them in whatever leaves the house.

A value is found in texts, in bytes, and by a walk through all objects that an object holds.
"""

import re
import struct
from datetime import date

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from random_tables import pick

from ppdt.generalization import Taxonomy
from ppdt.tables import MISSING, Cell, Interval, value_text

WORDS = [f"secret{1000 + 37 * i}" for i in range(12)]
CODES = [f"{48000 + 113 * i}" for i in range(12)]
# no value lies half way between two others, where thresholds and midpoints may
WHOLE = [700_001 + 1009 * 2**i for i in range(12)]
PARTS = [31_415.0625 + 271.125 * 2**i for i in range(12)]
DAYS = [pd.Timestamp("1931-03-17") + pd.Timedelta(days=7 * 2**i) for i in range(12)]
NAMES = {"word": WORDS, "code": CODES, "whole": WHOLE, "parts": PARTS, "day": DAYS}


def drawn(draw, values, n, missing):
    """A column of n rows: few values often, so that groups form, and some of a single row"""
    some = draw(st.integers(1, len(values)))
    return [
        None if missing and draw(st.integers(0, 5)) == 0 else values[i]
        for i in draw(st.lists(st.integers(0, some - 1), min_size=n, max_size=n))
    ]


def column(name, values):
    """Texts, numbers or dates, whole numbers with gaps as Int64"""
    if name in ("word", "code"):
        return pd.Series(values, name=name, dtype="str")
    if name == "day":
        return pd.Series(pd.to_datetime(pd.Series(values)).to_numpy(), name=name)
    dtype = "float64" if name == "parts" else "Int64" if None in values else "int64"
    return pd.Series(values, name=name, dtype=dtype)


@st.composite
def secret_tables(draw, missing=True):
    """(X, y, roles): quasi-identifiers of some kinds, an identifier, and one published column"""
    n = draw(st.integers(2, 14))
    names = draw(st.lists(pick(*NAMES), min_size=1, max_size=3, unique=True))
    rule = draw(pick("error", "drop", "category")) if missing else "error"
    gaps = rule != "error" and draw(st.booleans())
    X = pd.concat([column(o, drawn(draw, NAMES[o], n, gaps)) for o in names], axis=1)
    X["who"] = [f"person{5000 + 41 * i}" for i in range(n)]
    X["open"] = draw(st.lists(pick("o1", "o2"), min_size=n, max_size=n))
    y = pd.Series(
        draw(st.lists(pick("yes", "no"), min_size=n, max_size=n)), name="cls", dtype="str"
    )
    categorical = [o for o in names if o == "whole" and draw(st.booleans())]
    if categorical and not gaps:
        X["whole"] = X["whole"].astype("int64")
    roles = dict(
        k=draw(st.integers(1, min(n, 5))),
        quasi_identifiers=names,
        categorical=categorical,
        identifiers=["who"],
        published=["open"],
        missing=rule,
    )
    return X, y, roles


# ---------- taxonomies of all makers
def _dict(s):
    v = sorted(s)
    return {"(all)": {"(some)": v[::2], "(others)": v[1::2]}} if len(v) > 1 else {"(all)": v}


def _edges(s):
    first, last = float(min(s)) - 1, float(max(s)) + 1
    middle = (first + last) / 2
    return [first, middle, last], [first, last]


MAKERS = dict(
    word=dict(
        from_dict=lambda s, p: Taxonomy.from_dict(_dict(s), public=p),
        from_lines=lambda s, p: Taxonomy.from_lines([[o, "(all)"] for o in s], public=p),
    ),
    code=dict(
        from_prefixes=lambda s, p: Taxonomy.from_prefixes(s, public=p),
        from_dict=lambda s, p: Taxonomy.from_dict(_dict(s), public=p),
    ),
    whole=dict(
        from_quantiles=lambda s, p: Taxonomy.from_quantiles(s, 3, public=p),
        from_edges=lambda s, p: Taxonomy.from_edges(s, *_edges(s), public=p),
        from_lines=lambda s, p: Taxonomy.from_lines([[o, "(all)"] for o in s], public=p),
    ),
    parts=dict(from_quantiles=lambda s, p: Taxonomy.from_quantiles(s, 3, public=p)),
    day=dict(from_dates=lambda s, p: Taxonomy.from_dates(s, public=p)),
)


def made_taxonomies(X, roles):
    """A taxonomy over each quasi-identifier, by any maker, mostly not public"""

    def one(o):
        known = list(dict.fromkeys(X[o].dropna().tolist()))
        if not known:
            return st.just(Taxonomy.from_lines([["(none)"]]))
        made = st.tuples(pick(*MAKERS[o].values()), pick(False, False, True))
        return made.map(lambda m: m[0](known, m[1]))

    return st.fixed_dictionaries({o: one(o) for o in roles["quasi_identifiers"]})


def declared(taxonomies):
    """The values of taxonomies that were declared public"""
    return {v for t in (taxonomies or {}).values() if t.public for v in t.values}


# ---------- what was published
def cell_values(cell):
    """The values that a cell states"""
    if isinstance(cell, Interval):
        return {cell.lo, cell.hi}
    return {*getattr(cell, "values", ()), *([cell.value] if hasattr(cell, "value") else [])}


def stated(release):
    """All values that published cells state"""
    res = set()
    for o in release.data:
        for c in release.cells(o)[1]:
            res |= cell_values(c)
    return res


def hidden_values(X, release, taxonomies=None):
    """Values of the table that no cell states and nobody declared public"""
    known = {_plain(o) for o in stated(release) | declared(taxonomies)}
    every = {_plain(o) for c in X for o in X[c].dropna().tolist()}
    return every - known


def _plain(v):
    """A value as it is compared: numbers as float, dates as days"""
    if isinstance(v, (pd.Timestamp, np.datetime64, date)):
        return pd.Timestamp(v).date()
    if isinstance(v, (bool, np.bool_)) or v is MISSING:
        return repr(v)
    return float(v) if isinstance(v, (int, float, np.number)) else v


# ---------- the search
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORD = re.compile(r"[a-z]+\d+")


def told_in_text(text, hidden):
    """Hidden values that a text has"""
    found = {pd.Timestamp(o).date() for o in _DAY.findall(text) if "13" > o[5:7] > "00"}
    found |= set(_WORD.findall(text))
    text = _DAY.sub(" ", text)
    found |= {o for n in _NUMBER.findall(text) for o in (n, float(n))}
    return found & hidden


def told_in_bytes(data, hidden):
    """Hidden values that bytes have, as text or as numbers of eight bytes"""
    found = {o for o in hidden if isinstance(o, str) and o.encode() in data}
    for o in hidden:
        if isinstance(o, float):
            forms = [struct.pack("<d", o), struct.pack(">d", o)]
            if o == int(o):
                forms.append(struct.pack("<q", int(o)))
        elif isinstance(o, date):
            ns = pd.Timestamp(o).value
            forms = [struct.pack("<q", ns), struct.pack("<q", ns // 1000), struct.pack("<d", ns)]
        else:
            continue
        if any(f in data for f in forms):
            found.add(o)
    return found


def _days_of(x):
    """A number as the day that it would be, in nanoseconds"""
    return pd.Timestamp(int(x)).date() if 1e17 < abs(x) < 9e18 else None


def told_in_object(o, hidden, seen=None):
    """Hidden values in an object and all that it holds"""
    seen = {} if seen is None else seen
    if id(o) in seen or o is None or isinstance(o, (bool, type, np.dtype)):
        return set()
    if isinstance(o, (str, int, float, np.number, date, np.datetime64)):
        return _told_value(o, hidden)
    seen[id(o)] = o
    if isinstance(o, (np.ndarray, pd.Series, pd.Index, pd.Categorical)):
        parts = np.asarray(o).ravel().tolist() if not isinstance(o, pd.Categorical) else [*o]
        if isinstance(o, np.ndarray) and o.dtype.kind == "M":
            parts = [pd.Timestamp(x) for x in o.ravel()]
    elif isinstance(o, dict):
        parts = [*o.keys(), *o.values()]
    elif isinstance(o, (list, tuple, set, frozenset)):
        parts = o
    elif isinstance(o, pd.DataFrame):
        parts = [o[c] for c in o]
    else:
        slots = [getattr(o, s, None) for s in getattr(type(o), "__slots__", ())]
        parts = [*getattr(o, "__dict__", {}).values(), *slots]
        parts += [*cell_values(o)] if isinstance(o, Cell) else []
    return set().union(*(told_in_object(v, hidden, seen) for v in parts))


def _told_value(o, hidden):
    if isinstance(o, str):
        return told_in_text(o, hidden) | ({o} & hidden)
    found = {_plain(o)}
    if isinstance(o, (int, float, np.number)) and np.isfinite(o):
        found.add(_days_of(o))
        if value_text(o) in hidden:
            found.add(value_text(o))
    return found & hidden
