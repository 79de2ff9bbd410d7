"""Numbers at the ends of what 64 bits hold: they stay exact, or are refused, and no mean of finite
numbers is infinite.
"""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from random_tables import pick, row_cells
from registry import ANONYMIZERS, CLASSIFIERS, REGISTRY, example

from ppdt.cli import main
from ppdt.encoder import ReleaseEncoder
from ppdt.engine.coding import range_finder
from ppdt.engine.dependencies import coded, off_line
from ppdt.mict import MicroaggregationAnonymizer
from ppdt.mondrian import MondrianAnonymizer
from ppdt.privacy import audit
from ppdt.release import read_release
from ppdt.tables import (
    MISSING,
    Attribute,
    Centroid,
    Interval,
    Node,
    Suppressed,
    encode,
    guess_kind,
    to_kind,
)
from ppdt.tds import TDRAnonymizer

MOST = float(np.finfo(float).max)
WHOLE = {
    "int64": [2**53, 2**53 + 1, 2**60 + 1, 2**60 + 2, 2**63 - 1, -(2**63), 3],
    "uint64": [0, 7, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1],
    "Int64": [2**53 + 1, 2**60 + 1, 2**60 + 2, -(2**63), None],
    "UInt64": [5, 2**63 + 1, 2**64 - 1, None],
    "object": [2**63 + 1, 2**63 + 2, 2**64 - 1, 4, None],
}
FLOATS = {
    "float64": [MOST, -MOST, MOST / 2, 8.98846567431158e307, 1.0, 2.0, 7.0, 5e-324, 1e-310, 0.0],
    "Float64": [MOST, -MOST, 1.0, None],
    "float32": [3.4e38, -3.4e38, 1e-40, 0.5],
}


@st.composite
def wide_tables(draw, pools=(WHOLE, FLOATS)):
    """(X, y, roles): columns of wide numbers beside one of texts"""
    n = draw(st.integers(2, 10))
    pool = {o: v for p in pools for o, v in p.items()}
    kinds = draw(st.lists(st.sampled_from(sorted(pool)), min_size=1, max_size=2))
    columns = {}
    for i, kind in enumerate(kinds):
        some = st.lists(st.sampled_from(pool[kind]), min_size=n, max_size=n)
        columns[f"n{i}"] = pd.Series(draw(some), dtype=kind)
    texts = st.lists(pick("a", "b"), min_size=n, max_size=n)
    columns["t"] = pd.Series(draw(texts), dtype="str")
    X = pd.DataFrame(columns)
    X["who"] = [f"person {i}" for i in range(n)]
    y = pd.Series(draw(st.lists(pick("yes", "no"), min_size=n, max_size=n)), name="cls")
    names = [o for o in X if o != "who"]
    qi = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    whole = [o for o, kind in zip(names, kinds) if kind in WHOLE]
    return (
        X,
        y,
        dict(
            k=draw(st.integers(1, n)),
            quasi_identifiers=qi,
            categorical=[o for o in whole if draw(st.booleans())],
            identifiers=["who"],
            missing="category",
            published=[o for o in names if o not in qi],
        ),
    )


def _allows(cell, value, tree=None):
    """May the cell stand for the value, as Python compares numbers, exactly? None: no claim"""
    if isinstance(cell, Node):
        return None if tree is None else value in tree.leaves(cell) or cell.name == tree.name[0]
    if isinstance(cell, Centroid):
        return None
    if isinstance(cell, Suppressed):
        return True
    if isinstance(cell, Interval):
        return cell.lo <= value and (value < cell.hi if cell.hi_open else value <= cell.hi)
    return value in cell.values


def _numbers_of(cell):
    """Numbers that a cell names"""
    if isinstance(cell, Interval):
        return [cell.lo, cell.hi]
    if isinstance(cell, Centroid):
        return [cell.value]
    return list(getattr(cell, "values", ()))


def _is_finite(v):
    return not isinstance(v, (float, np.floating)) or math.isfinite(v)


@pytest.mark.parametrize("cls", ANONYMIZERS, ids=lambda c: c.__name__)
@one_in(25)
@given(data=st.data())
def test_wide_numbers_stay_exact(cls, data, tmp_path_factory):
    X, y, roles = data.draw(wide_tables())
    p = roles | data.draw(REGISTRY[cls].options(X, y, roles))
    r = cls(**p).anonymize(X, y)
    kept = X.drop(X.index[r.lost])
    trees = p.get("taxonomies") or {}
    for o in p["quasi_identifiers"]:
        raw = [MISSING if c is None else c.value for c in row_cells(kept[o])]
        for cell, v in zip(row_cells(r.data[o]), raw):
            if cell is None:
                assert v is MISSING
                continue
            assert v is MISSING or _allows(cell, v, trees.get(o)) in (True, None)
            # ranges may have no end, values must
            assert isinstance(cell, Interval) or all(map(_is_finite, _numbers_of(cell)))
            named = [c for c in _numbers_of(cell) if c is not MISSING and not isinstance(c, str)]
            known = [v for v in raw if v is not MISSING]
            if isinstance(cell, Centroid) and named:
                assert min(known) <= named[0] <= max(known)
    assert r.audit.truthful in (True, None)
    assert r.audit.gcp is None or 0 <= r.audit.gcp <= 1
    path = tmp_path_factory.mktemp("wide") / "o.csv"
    r.to_csv(path)
    back = read_release(path)
    assert back.audit.class_sizes == r.audit.class_sizes
    assert back.text().equals(r.text())
    encoded = ReleaseEncoder(taxonomies=trees).fit_transform(r.data[p["quasi_identifiers"]])
    assert np.isfinite(encoded).all()


# ---------- numbers that no dtype holds
WIDE = [10**20 + i for i in range(1, 5)]
NOT_HELD = [
    WIDE,
    [2**64, 2**64 + 1, 1, 2],
    [2**63, -1, 2**63 + 1, 0],
    [2**53 + 1, 0.5, 1, 2],
    [10**400, 0.5, 1, 2],
]


def _small(cls, **more):
    """An object of the class for four rows"""
    known = cls().get_params(deep=False)
    small = {"k": 2, "taxonomies": None}
    return example(cls, **{o: v for o, v in small.items() if o in known} | more)


def _wide_table(values):
    X = pd.DataFrame({"id": pd.Series(values, dtype=object), "t": ["a", "b", "a", "b"]})
    return X, pd.Series(["yes", "no", "yes", "no"], name="cls")


@pytest.mark.parametrize("cls", [*ANONYMIZERS, *CLASSIFIERS], ids=lambda c: c.__name__)
@pytest.mark.parametrize("values", NOT_HELD, ids=lambda v: str(v[0])[:22])
def test_numbers_that_64_bits_do_not_hold_are_refused(cls, values):
    X, y = _wide_table(values)
    message = r"Column 'id' must hold numbers that 64 bits hold exactly. Got \d+.*\.astype\(str\)"
    with pytest.raises(ValueError, match=message):
        _small(cls).fit(X, y)


def test_they_are_refused_beside_the_quasi_identifiers_too():
    X, y = _wide_table(WIDE)
    est = MondrianAnonymizer(k=1, quasi_identifiers=["t"], published=["id"])
    with pytest.raises(ValueError, match="Column 'id' must hold numbers that 64 bits hold"):
        est.fit(X, y)


def test_as_text_they_are_what_they_are():
    X, y = _wide_table(WIDE)
    X["id"] = X["id"].astype(str)
    r = MicroaggregationAnonymizer(k=1).anonymize(X, y)
    assert r.data["id"].tolist() == list(map(str, WIDE)) and r.audit.k == 1


def test_numbers_that_floats_hold_exactly_stay_numbers():
    for values in ([2**70, 1], [2**70, None], [0.5, 2**60]):
        a, codes = encode(pd.Series(values, dtype=object))
        found = [a.items[c] if c >= 0 else None for c in codes]
        assert found == values and a.kind == "numeric"


def test_texts_of_wide_numbers():
    assert guess_kind(list(map(str, WIDE))) == "categorical"
    assert guess_kind([str(2**64 - 1), "3"]) == "numeric"
    assert to_kind([str(2**64 - 1), "3"], "numeric").tolist() == [2**64 - 1, 3]
    with pytest.raises(
        ValueError, match="column 'id', row 1 after the header: '1000.*1' is a whole number that 64"
    ):
        to_kind(list(map(str, WIDE)), "numeric", "id")
    with pytest.raises(ValueError, match="64 bits hold exactly"):
        to_kind([str(2**63 + 1), "-1"], "numeric", "id")


def test_the_command_publishes_wide_numbers_as_text(tmp_path, capsys):
    path, out = tmp_path / "w.csv", tmp_path / "o.csv"
    pd.DataFrame({"id": list(map(str, WIDE))}).to_csv(path, index=False)
    told = [str(path), "--qi", "id", "--out", str(out), "--k", "4"]
    assert main(["anonymize", *told]) == 0
    assert "1e+20" not in out.read_text() and all(str(v) in out.read_text() for v in WIDE)
    assert main(["audit", str(out), "--k", "4"]) == 0
    assert main(["anonymize", *told, "--numeric", "id"]) == 2
    assert "64 bits do not hold exactly" in capsys.readouterr().err


def test_an_audit_does_not_take_wide_numbers_for_one():
    t = pd.DataFrame({"id": pd.Series([2**60 + i for i in range(4)])})
    assert audit(t).k == 1
    t = pd.DataFrame({"id": pd.Series([2**63 + i for i in range(4)], dtype="uint64")})
    assert audit(t).k == 1


# ---------- means of finite numbers
@pytest.mark.parametrize("cls", ANONYMIZERS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("code", [8.98846567431158e307, MOST, -MOST])
def test_a_missing_code_among_small_numbers(cls, code):
    """An official mark for "unknown", as some programs write it"""
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0, code, 5.0, code, 7.0], "t": list("aabbaab")})
    y = pd.Series(list("uvuvuvu"), name="cls")
    for k in (2, 3, 7):
        r = _small(cls, k=k, quasi_identifiers=["x"], published=["t"]).anonymize(X, y)
        named = [v for c in r.cells("x")[1] if not isinstance(c, Interval) for v in _numbers_of(c)]
        assert all(map(_is_finite, named)) and r.audit.truthful is not False
        assert r.audit.gcp is None or 0 <= r.audit.gcp <= 1
        assert r.audit.il is None or 0 <= r.audit.il <= 100.0001


@pytest.mark.parametrize("recoding", ["set", "interval"])
def test_a_file_of_large_numbers_is_audited(tmp_path, recoding):
    X = pd.DataFrame({"q": [1e308, 1.2e308, 1.5e308, 1.7e308], "w": list("abcd")})
    tool = MondrianAnonymizer(k=4, quasi_identifiers=["q"], published=["w"], recoding=recoding)
    tool.anonymize(X).to_csv(tmp_path / "o.csv")
    assert read_release(tmp_path / "o.csv").audit.k == 4


@pytest.mark.parametrize("top", [2**53, 2**63, 2**64 - 10])
def test_ranges_without_end_beside_wide_numbers_are_compared_exactly(top):
    """Ends of ranges made a float of the column: 2**53 + 1 became 2**53, 2**63 was an error"""
    line = np.array([-math.inf, 0.5, top + 1, top + 2, MISSING], dtype=object)
    a = Attribute("n", "numeric", line, "object")
    assert a.known.tolist() == line[:-1].tolist()
    find = range_finder(a)
    for lo, hi, hi_open in product(
        (-math.inf, 0.25, top, top + 1, top + 2), (0.5, top + 2), (0, 1)
    ):
        inside = [lo <= v < hi if hi_open else lo <= v <= hi for v in line[:-1]]
        first, end = find(lo, hi, hi_open)
        assert inside == [first <= i < end for i in range(len(line) - 1)]


def test_a_step_of_wide_numbers_with_a_gap_is_audited():
    v = [4, 2**63 + 1, 2**64 - 1, 2**64 - 1, None, 2**63 + 1]
    X = pd.DataFrame({"n": pd.Series(v, dtype=object), "t": list("aababb")})
    y = pd.Series(["yes", "no", "yes", "no", "no", "yes"], name="cls")
    for k in range(1, 7):
        assert TDRAnonymizer(k=k, missing="category").anonymize(X, y).audit.holds


def test_a_line_through_numbers_near_zero_is_found_in_time():
    """Slopes between them were no numbers, and the search for their median never ended"""
    a = np.array([-1.0, 0, 0, 0, 0, 0, 0, 5.562684646268003e-309])
    b = np.array([-1, -1, 2.9411764705882e-79, 1.4705882352941e-39, 1.47e-39, 1.47e-39, 1, -1])
    X = pd.DataFrame({"a": a, "b": b, "t": list("aabbaabb")})
    y = pd.Series(["yes", "no"] * 4, name="cls")
    r = MondrianAnonymizer(k=2, quasi_identifiers=["a", "t"], published=["b"]).anonymize(X, y)
    assert r.audit.holds
    assert 0 <= off_line(coded(X["a"]), coded(X["b"])) <= 1
