"""The audit: classes against a plain count on text, the papers' tables, cases from bug reports, foreign tables, bad input."""
from dataclasses import fields
import numpy as np, pandas as pd, pytest
from hypothesis import given, strategies as st
from ppdt.datasets import load_customers, load_patients
from ppdt.generalization import recode
from ppdt.privacy import Audit, audit, class_sizes, equivalence_classes, plot_class_sizes
from ppdt.release import Release, read_release
from ppdt.tables import Centroid, Exact, Interval, Node, Roles, Suppressed, ValueSet, cell_column, column_text, parse_column, write_text

CUSTOMERS = load_customers()
QIS = ["Gender", "Marital", "Age"]

# ---------- against a plain count
CELLS = [Exact(1), Exact(2), ValueSet([1, 2]), ValueSet([2, 1, 3]), Interval(1, 2), Interval(1, 2, True), Suppressed(), Centroid(1), Node("1")]

@st.composite
def tables(draw):
    "A table of one to three columns, each raw or of mixed cells (as Categorical or as objects), with missing values"
    n, m, data = draw(st.integers(1, 20)), draw(st.integers(1, 3)), {}
    for j in range(m):
        kind = draw(st.sampled_from(["cells", "objects", "number", "text"]))
        def col(values): return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))
        if kind == "cells": data[f"c{j}"] = cell_column(np.array(col(range(-1, len(CELLS)))), CELLS)
        elif kind == "objects": data[f"c{j}"] = pd.Series([*col([*CELLS, ValueSet([1]), None])], dtype=object)
        elif kind == "number": data[f"c{j}"] = pd.Series(col([1., 2., np.nan]))
        else: data[f"c{j}"] = pd.Series(col(["a", "{a, b}", None]), dtype=object)
    return pd.DataFrame(data)

def by_text(t):
    "Sizes of the classes of rows that are not fully suppressed, counted by pandas on the published text"
    texts = pd.DataFrame({o: column_text(t[o]) for o in t})
    gone = np.all([[isinstance(v, Suppressed) for v in t[o]] for o in t], axis=0)
    texts = texts[~gone]
    return sorted(texts.groupby(list(texts), dropna=False).size()) if len(texts) else [], int(gone.sum())

@given(tables())
def test_audit_equals_a_plain_count(t):
    sizes, gone = by_text(t)
    found = audit(t, k=2)
    assert (list(found.class_sizes), found.suppressed_rows) == (sizes, gone)
    assert found.n_rows + found.suppressed_rows == len(t) and found.n_classes == len(sizes)
    assert found.suppressed_cells == sum(isinstance(v, Suppressed) for o in t for v in t[o])
    assert found.k == (sizes[0] if sizes else None) and found.holds == (not sizes or sizes[0] >= 2)
    assert found.uniques == sizes.count(1)
    if sizes:
        n = sum(sizes)
        assert found.risk_max == 1/sizes[0] and found.risk_mean == pytest.approx(sum(f*(1/f) for f in sizes)/n)
        assert found.risk_share == pytest.approx(sizes.count(1)/n)

@given(tables(), st.randoms(use_true_random=False))
def test_row_and_column_order_are_irrelevant(t, random):
    p, o = list(range(len(t))), list(t)
    random.shuffle(p); random.shuffle(o)
    assert audit(t.iloc[p][o], k=2) == audit(t, k=2)

@given(tables())
def test_classes_and_their_sizes_agree(t):
    c = equivalence_classes(t)
    assert np.sort(np.bincount(c)).tolist() == class_sizes(t).tolist()
    assert c[0] == 0 and set(c.tolist()) == set(range(c.max()+1))
    texts = pd.DataFrame({o: column_text(t[o]) for o in t})
    assert (texts.groupby(c).nunique() == 1).all(axis=None)

def test_many_columns_do_not_overflow():
    "100 values in each of 40 columns: 100**40 combinations"
    rng = np.random.default_rng(0)
    base = pd.DataFrame(rng.integers(0, 100, (100, 40)), columns=[f"c{j}" for j in range(40)])
    t = base.iloc[np.repeat(np.arange(100), np.arange(1, 101))]
    assert class_sizes(t).tolist() == list(range(1, 101))

# ---------- the papers
def test_table_ii_of_shao_beckford():
    "Section III.A, Table II: 3-anonymous, prosecutor risk 1/3 at most and on average"
    X = load_patients()
    t = recode(X[["Age", "Gender", "Postcode"]], [0, 0, 0, 1, 1, 1]).assign(Disease=X.Disease)
    found = audit(t, ["Age", "Gender", "Postcode"], k=3, original=X)
    assert (found.k, found.n_rows, found.n_classes, found.class_sizes, found.holds) == (3, 6, 2, (3, 3), True)
    assert found.risk_max == found.risk_mean == pytest.approx(1/3) and found.risk_share == 0 and found.uniques == 0
    assert found.gcp == pytest.approx(19/27) and found.ncp == 1
    assert audit(t, ["Age", "Gender", "Postcode"], k=4).holds is False

def test_customers():
    assert audit(CUSTOMERS, QIS).k == 1 and audit(CUSTOMERS, QIS).uniques == 14
    assert audit(CUSTOMERS, ["Gender", "Marital"]).class_sizes == (2, 3, 4, 5)

# ---------- cases from public bug reports
@pytest.mark.parametrize("gap", [np.nan, None, pd.NA])
def test_a_row_with_a_missing_value_is_a_class(gap):
    "pandas-dev/pandas#3729 and others: groupby forgets it"
    t = pd.DataFrame({"age": pd.array([30]*6 + [gap], dtype="object" if gap is None else "Float64"), "s": ["a"]*7})
    found = audit(t, ["age"], k=2)
    assert (found.k, found.class_sizes, found.n_rows, found.holds) == (1, (1, 6), 7, False)

def test_suppressed_row_before_saving_and_after_reading(tmp_path):
    "arx-deidentifier/arx#259: 1 suppressed row, 3 classes, k 2"
    texts = pd.DataFrame({"age": ["1", "1", "[2, 3]", "[2, 3]", "4", "4", "*"], "zip": ["816", "816", "{1, 2}", "{1, 2}", "7", "7", "*"]})
    t = pd.DataFrame({"age": parse_column(texts.age, "int64"), "zip": parse_column(texts.zip)})
    write_text(texts, tmp_path/"t.csv")
    back = read_release(tmp_path/"t.csv", kinds={"age": "numeric", "zip": "categorical"})
    for found in (audit(t), audit(back), audit(back.data)):
        assert (found.suppressed_rows, found.suppressed_cells, found.n_classes, found.k, found.n_rows) == (1, 2, 3, 2, 6)
        assert not found.warnings
    literal = audit(read_release(tmp_path/"t.csv"))
    assert (literal.suppressed_rows, literal.k) == (0, 1)
    assert len(literal.warnings) == 2 and "'age'" in literal.warnings[0] and "kinds=" in literal.warnings[0]

def test_untouched_rows_are_not_suppressed():
    "arx-deidentifier/arx#310"
    found = audit(pd.DataFrame({"age": range(7), "gender": list("MFMFMFM"), "zip": ["816"]*7}))
    assert (found.suppressed_rows, found.suppressed_cells) == (0, 0)

def test_a_suppressed_cell_is_a_value_of_its_own():
    "sdcTools/sdcMicro#225: suppressing one cell makes a class of one"
    X = pd.DataFrame({"region": ["A"]*5, "status": ["Single", "Married", "Married", "Single", "Widow"], "age": ["30-49"]*5})
    t = X.assign(status=cell_column([0, 1, 1, 0, 2], [Exact("Single"), Exact("Married"), Suppressed()]))
    found = audit(t, k=2)
    assert (found.k, found.holds, found.suppressed_rows, found.suppressed_cells) == (1, False, 0, 1)

def test_declared_categories_cost_nothing():
    "pandas-dev/pandas#30552"
    t = pd.DataFrame({"A": pd.Categorical(range(24), categories=range(10**5)), "B": range(24), "C": range(24)})
    assert audit(t).class_sizes == (1,)*24

# ---------- what an audit may be given
def test_raw_frames_and_arrays():
    t = pd.DataFrame({"i": pd.array([1, None, 1], dtype="Int64"), "b": [True, False, True], "d": pd.to_datetime(["2024"]*3), "c": pd.Categorical(list("xyx"))}, index=[5, 5, 5])
    assert audit(t).class_sizes == (1, 2)
    assert audit(np.array([[1, 2], [1, 2], [3, 4]])).class_sizes == (1, 2)

def test_release_brings_its_roles():
    X = pd.DataFrame({"code": [1, 2, 9, 9], "other": [1, 2, 3, 4]})
    t = X.assign(code=recode(X[["code"]], [0]*4, categorical=["code"]).code)
    r = Release(t, audit=Audit(lost_rows=3), roles=Roles(("code",), ("code",), (), ("other",)))
    found = audit(r, original=X)
    assert (found.k, found.lost_rows, found.gcp) == (4, 3, 1)
    assert audit(r, ["code", "other"], lost_rows=0).k == 1 and audit(r, lost_rows=0).lost_rows == 0
    assert audit(Release(t)).k == 1, "no roles: all columns"

def test_columns_named_like_parts_of_a_release():
    assert audit(pd.DataFrame({"data": [1, 1], "roles": [2, 2]})).k == 2

@pytest.mark.parametrize("t", [CUSTOMERS.iloc[:0], pd.DataFrame({"x": pd.Series([], dtype=float)}), pd.DataFrame({"x": []})])
def test_empty_frames(t):
    found = audit(t, k=3, original=CUSTOMERS)
    assert (found.k, found.n_rows, found.n_classes, found.class_sizes) == (None, 0, 0, ())
    assert found.risk_max is found.risk_mean is found.risk_share is found.gcp is None and found.holds is True
    assert "no row is published" in str(found)

def test_everything_suppressed():
    found = audit(pd.DataFrame({"x": cell_column([0, 0], [Suppressed()]), "y": cell_column([0, 0], [Suppressed()])}), k=5, original=pd.DataFrame({"x": [1, 2], "y": [1, 1]}))
    assert (found.k, found.suppressed_rows, found.suppressed_cells, found.gcp, found.holds) == (None, 2, 4, 1, True)

def test_without_k_it_measures_only():
    found = audit(CUSTOMERS[QIS])
    assert found.promise is None and found.holds is None and found.risk_share == 1
    assert "promise" not in str(found) and "above 0.2 for 100.0% of rows" in str(found)

def test_risk_at_the_threshold_is_not_above_it():
    for k in range(1, 60): assert audit(pd.DataFrame({"x": [0]*k + [1]*(k+1)}), k=k).risk_share == 0
    assert audit(pd.DataFrame({"x": [0]*5 + [1]*4})).risk_share == pytest.approx(4/9)

# ---------- what it does not know
def test_none_means_not_known():
    known = {"k", "n_rows", "n_classes", "class_sizes", "suppressed_rows", "suppressed_cells", "risk_max", "risk_mean", "risk_share", "uniques", "k_wildcard", "discernibility", "warnings"}
    found = audit(CUSTOMERS[QIS])
    assert {f.name for f in fields(found) if getattr(found, f.name) is not None} == known
    assert {f.name for f in fields(audit(CUSTOMERS[QIS], k=1, original=CUSTOMERS, lost_rows=0)) if getattr(audit(CUSTOMERS[QIS], k=1, original=CUSTOMERS, lost_rows=0), f.name) is not None} \
        == known | {"promise", "holds", "ncp", "gcp", "lost_rows", "c_avg"}

@pytest.mark.parametrize("cell", [Node("Europe"), Centroid(3.)])
def test_loss_of_nodes_and_centroids_is_not_known(cell):
    found = audit(pd.DataFrame({"x": cell_column([0, 0], [cell])}), original=pd.DataFrame({"x": [1., 5.]}))
    assert found.gcp is None and found.k == 2 and "loss cannot be measured: x" in found.warnings[0] and found.warnings[0] in str(found)
    assert audit(pd.DataFrame({"x": cell_column([0, 0], [cell])})).gcp is None

# ---------- bad input
@pytest.mark.parametrize("kw,error,word", [
    (dict(quasi_identifiers=["Zip"]), ValueError, "Got 'Zip'; the columns are"), (dict(quasi_identifiers="Age"), ValueError, "list of column names"),
    (dict(quasi_identifiers=["Age", "Age"]), ValueError, "once"), (dict(quasi_identifiers=[]), ValueError, "at least one"),
    (dict(k=0), ValueError, "'k' must be an integer of at least 1. Got 0"), (dict(k=2.5), TypeError, "Got 2.5"), (dict(k=True), TypeError, "Got True"),
    (dict(original=CUSTOMERS[["Age"]]), ValueError, "'original' must have the columns")])
def test_errors_name_the_parameter(kw, error, word):
    with pytest.raises(error, match=word): audit(CUSTOMERS, **kw)

def test_tables_that_are_none():
    with pytest.raises(ValueError, match="two dimensions"): audit(CUSTOMERS.Age)
    with pytest.raises(ValueError, match="more than once"): audit(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(ValueError, match="finite"): audit(pd.DataFrame({"x": [1, np.inf]}))
    with pytest.raises(ValueError, match="columns"): class_sizes(CUSTOMERS, ["Zip"])

# ---------- how it looks
def test_audit_is_frozen_and_shown_on_one_screen():
    found = audit(pd.DataFrame({"x": np.arange(1000) % 300}), k=5, lost_rows=12)
    with pytest.raises(AttributeError): found.k = 9
    assert repr(found) == str(found) and len(str(found).splitlines()) <= 20
    assert "DOES NOT HOLD" in str(found) and "lost rows             12" in str(found) and "1,000 in 300 classes" in str(found)
    assert found == audit(pd.DataFrame({"y": np.arange(1000)[::-1] % 300}), k=5, lost_rows=12)

def test_html_is_escaped():
    assert "<script>" not in audit(pd.DataFrame({"<script>": ["*"]}))._repr_html_()

def test_plot_class_sizes():
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    for sizes in ((), (3,), (3, 3, 4, 9), (1, 2, 50_000)):
        t = pd.DataFrame({"x": np.repeat(np.arange(len(sizes)), sizes)})
        fig, ax = plt.subplots()
        assert plot_class_sizes(audit(t), ax=ax) is ax
        assert sum(p.get_height() for p in ax.patches) == len(sizes) and len(ax.patches) <= 51
        assert not sizes or ax.patches[0].get_x() < sizes[0] < ax.patches[0].get_x() + ax.patches[0].get_width()*1.2
        plt.close(fig)
