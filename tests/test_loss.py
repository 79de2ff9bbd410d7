"""NCP and GCP: the papers' numbers, both forms against a plain count, bounds and monotony."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st

from ppdt.datasets import load_customers, load_patients
from ppdt.diversity import equivalence_classes
from ppdt.generalization import centroid_recoding, recode
from ppdt.loss import cell_ncp, gcp, information_loss, ncp, sse
from ppdt.tables import (
    MISSING,
    Centroid,
    Exact,
    Interval,
    Node,
    Suppressed,
    ValueSet,
    cell_column,
    encode,
)

CUSTOMERS = load_customers()
AGE, MARITAL = encode(CUSTOMERS.Age)[0], encode(CUSTOMERS.Marital)[0]
BOTH = ValueSet(["Married", "Not Married"])

VALUES = {
    "num": [1, 2, 5, 9],
    "cat": list("abcde"),
    "day": pd.to_datetime(["2024-01-01", "2024-01-03", "2025-06-01"]).tolist(),
}
recodings, forms = st.sampled_from(["set", "interval"]), st.sampled_from(["size", "spread"])


@st.composite
def tables(draw):
    """A raw table of one column (numbers, categories or dates) with labels of groups"""
    kind = draw(st.sampled_from(list(VALUES)))
    rows = draw(
        st.lists(
            st.tuples(st.sampled_from(VALUES[kind]), st.integers(0, 4)), min_size=1, max_size=25
        )
    )
    return pd.DataFrame({kind: [v for v, _ in rows]}), [g for _, g in rows]


def as_cell(v):
    return v if isinstance(v, (ValueSet, Interval, Exact)) else Exact(v)


def plain(cell, values, numeric, form):
    """Equations (5) and (6) of the chapter, for one set or interval"""
    if isinstance(cell, Interval):
        lo, hi, s = cell.lo, cell.hi, 2
    else:
        lo, hi, s = min(cell.values), max(cell.values), len(cell.values)
    if s == 1:
        return 0
    if numeric:
        return (hi - lo) / (max(values) - min(values))
    return s / len(set(values)) if form == "size" else (s - 1) / (len(set(values)) - 1)


# ---------- the paper
def test_table_1_of_erp():
    """ERP, Table 1: NCP of the published ages, GCP of tiered and uniform generalization (Eq. 11 and
    12)
    """
    tiered = pd.DataFrame(
        {
            "Age": [Interval(42, 61)] * 2 + [Interval(29, 61)] + [Interval(29, 42)] * 2,
            "Marital": [BOTH] * 3 + [Exact("Not Married")] * 2,
        }
    )
    uniform = pd.DataFrame({"Age": [Interval(29, 61)] * 5, "Marital": [Suppressed()] * 5})
    assert [cell_ncp(c, AGE) for c in tiered.Age] == pytest.approx(
        [0.327586207, 0.327586207, 0.551724138, 0.224137931, 0.224137931]
    )
    assert [cell_ncp(c, MARITAL) for c in tiered.Marital] == [1, 1, 1, 0, 0]
    assert gcp(tiered, CUSTOMERS) == pytest.approx(0.465517241) and gcp(
        uniform, CUSTOMERS
    ) == pytest.approx(0.775862069)
    assert [gcp(t.assign(Gender="Female"), CUSTOMERS) for t in (tiered, uniform)] == pytest.approx(
        [0.310344828, 0.517241379]
    )


def test_sizes_named_in_the_text_of_erp():
    """After Eq. 11: [29-42] has size 13, the star of marital status has size 2 of 2"""
    assert (
        cell_ncp(Interval(29, 42), AGE) == 13 / 58
        and cell_ncp(Suppressed(), MARITAL) == cell_ncp(BOTH, MARITAL) == 1
    )


def test_customers_by_hand():
    t = recode(
        CUSTOMERS[["Gender", "Marital", "Age"]],
        CUSTOMERS.Gender.where(CUSTOMERS.Gender == "Female", CUSTOMERS.Marital),
        "interval",
    )
    assert ncp(t, CUSTOMERS).tolist() == pytest.approx([0, 5 / 14, 507 / 812])


# ---------- what holds for every recoding
@given(tables(), recodings, forms, st.randoms(use_true_random=False))
def test_equals_a_plain_mean_over_cells_in_any_order(table, recoding, form, random):
    X, groups = table
    t, kind = recode(X, groups, recoding), X.columns[0]
    want = np.mean([plain(as_cell(c), X[kind].tolist(), kind != "cat", form) for c in t[kind]])
    p, q = list(range(len(X))), list(range(len(X)))
    random.shuffle(p)
    random.shuffle(q)
    assert ncp(t, X, form=form)[kind] == pytest.approx(want)
    assert gcp(t.iloc[p], X.iloc[q], form=form) == pytest.approx(want)


@given(tables())
def test_bounds_forms_and_recodings(table):
    X, groups = table
    t = recode(X, groups)
    size, spread = (gcp(t, X, form=f) for f in ("size", "spread"))
    assert 0 <= spread <= size + 1e-12 <= 1 + 2e-12
    assert (size == 0) == (spread == 0) == all(len(as_cell(c).values) == 1 for c in t.iloc[:, 0])
    assert size == pytest.approx(gcp(recode(X, groups, "interval"), X)), (
        "a set of numbers loses what its range loses"
    )


@given(tables(), st.data(), recodings, forms)
def test_merging_groups_never_lowers_the_loss(table, data, recoding, form):
    X, groups = table
    a, b = data.draw(st.sampled_from(groups)), data.draw(st.sampled_from(groups))
    fine, coarse = (
        gcp(recode(X, g, recoding), X, form=form)
        for g in (groups, [a if g == b else g for g in groups])
    )
    assert coarse >= fine - 1e-12


def test_gcp_is_the_mean_over_all_cells():
    X = CUSTOMERS[["Gender", "Marital", "Age"]]
    t = recode(X, X.Marital)
    assert (
        gcp(t, X)
        == pytest.approx(ncp(t, X).mean())
        == pytest.approx(sum(ncp(t, X, [o])[o] for o in X) / 3)
    )


def test_difference_of_the_forms():
    for d in range(2, 9):
        a, _ = encode(pd.Series(list("abcdefgh")[:d]))
        for s in range(2, d + 1):
            size, spread = (cell_ncp(ValueSet(a.items[:s]), a, f) for f in ("size", "spread"))
            assert size - spread == pytest.approx(float(Fraction(d - s, d * (d - 1))))


def test_forms_can_rank_two_releases_differently():
    X = pd.DataFrame({"v": list("abcde") * 4})
    P, Q = (
        recode(X, ["mixed"] * 5 + list("abcde") * 3),
        recode(X, X.v.replace({"b": "a", "d": "c"})),
    )
    assert gcp(P, X) < gcp(Q, X) and gcp(P, X, form="spread") > gcp(Q, X, form="spread")


def test_table_ii_is_not_the_best_partition():
    X = load_patients().drop(columns="Disease")
    loss = {
        o: gcp(recode(X, [i in (0, *o) for i in range(6)]), X) for o in combinations(range(1, 6), 2)
    }
    assert min(loss, key=loss.get) == (1, 5) and loss[1, 2] == pytest.approx(19 / 27)


# ---------- domains
def test_domain_is_what_occurs():
    declared = pd.Series(
        pd.Categorical(["a", "b", "a"], categories=list("abcdef")), name="x"
    ).to_frame()
    assert ncp(recode(declared, [0] * 3), declared).x == 1


def test_missing_is_a_category_when_it_is_published():
    X = pd.DataFrame({"x": ["F", "M", None, "F"], "n": [1.0, 3.0, np.nan, 2.0]})
    t = pd.DataFrame(
        {
            "x": cell_column([0, 0, 0, 1], [ValueSet(["M", MISSING]), Exact("F")]),
            "n": cell_column(
                [0, 0, 1, 2], [Interval(1.0, 3.0), Exact(MISSING), ValueSet([2.0, MISSING])]
            ),
        }
    )
    assert ncp(t, X).tolist() == pytest.approx([3 / 4 * 2 / 3, 3 / 4])
    assert ncp(t, X, form="spread").x == pytest.approx(3 / 4 * 1 / 2)


def test_full_set_with_missing_stays_within_one():
    a, _ = encode(pd.Series(["F", "M", None]))
    assert (
        cell_ncp(ValueSet(["F", "M", MISSING]), a)
        == cell_ncp(ValueSet(["F", "M", MISSING]), a, "spread")
        == 1
    )


def test_missing_cells_lose_everything_where_the_original_has_a_value():
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    gap, half = X.where(X.x < 3), pd.DataFrame({"x": [1.0, np.nan, np.nan]})
    t = pd.DataFrame({"x": cell_column([0, -1, 0], [Interval(1.0, 2.0)])})
    assert ncp(t, X).x == ncp(t, X, lost=[]).x == pytest.approx((1 / 2 + 1 + 1 / 2) / 3)
    # that a value is missing is no loss; without an order, of any row
    assert ncp(t, gap).x == pytest.approx(2 / 3) and ncp(t, gap, lost=[]).x == 1
    assert (ncp(gap, gap).x, ncp(gap, X).x, ncp(half, gap).x) == (0, 1 / 3, 1 / 3)
    assert ncp(half, gap, lost=[]).x == pytest.approx(1 / 3)
    assert ncp(gap.isna().replace({True: np.nan, False: np.nan}).astype(float), X).x == 1


def test_intervals_beyond_the_domain_are_cut():
    assert (
        cell_ncp(Interval(0, 200), AGE) == 1
        and cell_ncp(Interval(80, 99), AGE) == 0
        and cell_ncp(Interval(0, 10), AGE) == 0
    )
    assert cell_ncp(Interval(0, 51, True), AGE) == 1 / 2


def test_constant_columns_lose_nothing():
    X = pd.DataFrame({"n": [5] * 3, "c": ["a"] * 3})
    assert ncp(recode(X, [0] * 3), X).tolist() == [0, 0]
    assert cell_ncp(Interval(0, 9), encode(X.n)[0]) == 0


@pytest.mark.parametrize("tz", [None, "Europe/Berlin"])
def test_dates(tz):
    X = pd.DataFrame({"d": pd.date_range("2024-01-01", periods=5, tz=tz)})
    for recoding in ("set", "interval"):
        assert gcp(recode(X, [0, 0, 0, 1, 1], recoding), X) == pytest.approx(
            (3 * 2 + 2 * 1) / 4 / 5
        )


@pytest.mark.parametrize("dtype", ["Int64", "float32", "int8", "Float64"])
def test_numeric_dtypes(dtype):
    X = pd.DataFrame({"x": pd.array([1, 2, 3, 5], dtype=dtype)})
    assert gcp(recode(X, [0, 0, 1, 1], "interval"), X) == pytest.approx((1 / 4 + 1 / 2) / 2)


# ---------- bad input
@pytest.mark.parametrize("cell", [Node("Europe"), Centroid("Married"), Interval(1, 2)])
def test_cells_without_a_loss(cell):
    with pytest.raises(ValueError, match="Marital"):
        cell_ncp(cell, MARITAL)
    with pytest.raises(ValueError, match="Marital"):
        ncp(pd.DataFrame({"Marital": cell_column([0], [cell])}), CUSTOMERS)


@pytest.mark.parametrize(
    "cell,a",
    [
        (ValueSet(["Married", "Widowed"]), MARITAL),
        (Exact("Widowed"), MARITAL),
        (ValueSet(["1", "2"]), AGE),
        (Interval(pd.Timestamp("2024"), pd.Timestamp("2025")), AGE),
    ],
)
def test_values_of_another_table(cell, a):
    with pytest.raises(ValueError, match="the original does not have"):
        cell_ncp(cell, a)


def test_cells_that_were_read_as_text_are_no_exact_values():
    """A file read without its schema must not look like a table without loss"""
    with pytest.raises(ValueError, match="kinds="):
        ncp(pd.DataFrame({"Age": ["[29, 61]"] * 5}), CUSTOMERS)
    with pytest.raises(ValueError, match="kinds="):
        ncp(pd.DataFrame({"Marital": ["{Married, Not Married}"] * 5}), CUSTOMERS)


def test_errors_name_the_parameter():
    t = CUSTOMERS[["Age"]]
    with pytest.raises(ValueError, match="'form' must be 'size' or 'spread'. Got 'width'"):
        ncp(t, CUSTOMERS, form="width")
    with pytest.raises(ValueError, match="'form'"):
        cell_ncp(Exact(1), AGE, "width")
    with pytest.raises(ValueError, match="'quasi_identifiers' must name columns"):
        ncp(t, CUSTOMERS, ["Zip"])
    with pytest.raises(ValueError, match="'original' must have the columns"):
        ncp(t, CUSTOMERS[["Gender"]])


def test_untouched_tables_lose_nothing():
    for X in (
        CUSTOMERS,
        load_patients(),
        pd.DataFrame(
            {"x": [True, False, None], "y": [np.nan] * 3, "z": pd.Categorical(["u", None, "u"])}
        ),
    ):
        assert gcp(X, X) == 0


# ---------- representatives
@one_in(2)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([1, 2, 5, 9]), st.sampled_from("abc"), st.integers(0, 3), st.booleans()
        ),
        min_size=2,
        max_size=15,
    ),
    st.sampled_from([1.0, 0.5]),
)
def test_squared_error_equals_loops(rows, weight):
    """Equations (5) and (6) of the loss notebook, with rows lost"""
    X = pd.DataFrame([r[:2] for r in rows], columns=["x", "c"])
    lost = [i for i, r in enumerate(rows) if r[3]][: len(rows) - 1]
    kept = X.drop(index=lost)
    t = recode(kept, [rows[i][2] for i in kept.index], "centroid")
    width = X.x.max() - X.x.min() or 1

    def value(o):
        return getattr(o, "value", o)

    error = {
        "x": sum(((v - value(o)) / width) ** 2 for v, o in zip(kept.x, t.x)),
        "c": weight * sum(v != value(o) for v, o in zip(kept.c, t.c)),
    }
    whole = ((kept.x - kept.x.mean()) ** 2).sum() / width**2 + weight * (
        len(kept) - kept.c.value_counts().max()
    )
    found = sse(t, X, weight=weight, lost=lost)
    assert found.to_dict() == pytest.approx(error)
    assert information_loss(t, X, weight=weight, lost=lost) == pytest.approx(
        100 * sum(error.values()) / whole if whole else 0
    )
    assert information_loss(kept, X, lost=lost) == 0 and information_loss(
        recode(kept, [0] * len(kept), "centroid"), X, lost=lost
    ) == pytest.approx(100 if whole else 0)


def test_information_loss_of_the_customers():
    """Microaggregated in fixed groups, k = 3: SSE, SST and IL"""
    qis = ["Gender", "Marital", "Age"]
    groups = lambda parts: [
        next((i for i, g in enumerate(parts) if c in g), f"alone {c}") for c in CUSTOMERS.index
    ]
    some, within = (
        groups([[1, 2, 10, 11]]),
        groups([[1, 2, 10, 11], [3, 4, 5], [6, 7, 8, 9], [12, 13, 14]]),
    )
    of = [recode(CUSTOMERS[qis], g, "centroid") for g in (some, within)]
    assert [sse(t, CUSTOMERS).sum() for t in of] == pytest.approx([2.0204, 2.6800], abs=1e-4)
    assert [information_loss(t, CUSTOMERS) for t in of] == pytest.approx([15.279, 20.266], abs=1e-3)
    mdav, vmdav = (
        groups([[3, 4, 5], [12, 13, 14], [6, 7, 8], [1, 2, 9, 10, 11]]),
        groups([[3, 4, 5], [6, 7, 8], [9, 10, 13, 14], [1, 2, 11, 12]]),
    )
    assert [
        information_loss(recode(CUSTOMERS[qis], g, "centroid"), CUSTOMERS) for g in (mdav, vmdav)
    ] == pytest.approx([26.119, 26.089], abs=1e-3)


def test_squared_error_of_gaps_dates_and_constant_columns():
    X = pd.DataFrame(
        {
            "x": [1.0, 3, np.nan, np.nan],
            "d": pd.to_datetime(["2024-01-01", "2024-01-03"] * 2),
            "s": [7] * 4,
        }
    )
    t = pd.DataFrame(
        {
            "x": cell_column([0, -1, 0, -1], [Centroid(2.0)]),
            "d": cell_column([0] * 4, [Centroid(pd.Timestamp("2024-01-01"))]),
            "s": cell_column([0] * 4, [Centroid(8)]),
        }
    )
    assert sse(t, X).tolist() == [0.25 + 1 + 1, 2, 4]
    assert information_loss(X[["s"]], X) == 0 and information_loss(t[["s"]], X) == np.inf


def test_squared_error_needs_representatives_in_order():
    X = pd.DataFrame({"x": [1, 2, 3]})
    with pytest.raises(ValueError, match="use ncp"):
        sse(recode(X, [0] * 3), X)
    with pytest.raises(ValueError, match="'lost'"):
        sse(X.iloc[:2], X)
    with pytest.raises(ValueError, match="'original' must have the columns"):
        sse(X.assign(z=1), X)
    with pytest.raises(ValueError, match="numbers or dates"):
        sse(pd.DataFrame({"x": cell_column([0] * 3, [Centroid("a")])}), X)


# ---------- the spread that centroids replace
@st.composite
def published_centers(draw):
    """A raw table, a release of it with centroids and some suppressed cells, and positions of lost
    rows
    """
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from([1, 2, 5, 9]),
                st.sampled_from("abc"),
                st.integers(0, 3),
                st.booleans(),
                st.booleans(),
            ),
            min_size=2,
            max_size=15,
        )
    )
    X = pd.DataFrame([r[:2] for r in rows], columns=["x", "c"])
    lost = [i for i, r in enumerate(rows) if r[3]][: len(rows) - 1]
    kept = X.drop(index=lost)
    g = [rows[i][2] for i in kept.index]
    hide = {o: r[4] for o, r in zip(g, (rows[i] for i in kept.index))}  # suppressed by group
    t = recode(kept, g, "centroid")
    return X, t.assign(x=[Suppressed() if hide[o] else v for o, v in zip(g, t.x)]), lost


@one_in(3)
@given(published_centers(), forms, st.randoms(use_true_random=False))
def test_centroids_lose_what_the_interval_of_their_class_loses(table, form, random):
    X, t, lost = table
    kept = X.drop(index=lost)
    as_range = recode(kept, equivalence_classes(t), "interval")
    same = as_range.assign(
        x=[v if isinstance(v, Suppressed) else w for v, w in zip(t.x, as_range.x)]
    )
    found = ncp(t, X, form=form, lost=lost)
    assert (
        found.tolist() == pytest.approx(ncp(same, X, form=form).tolist())
        and (found >= 0).all()
        and (found <= 1).all()
    )
    assert gcp(t, X, form=form, lost=lost) == pytest.approx(found.mean())
    p = list(range(len(X)))
    random.shuffle(p)
    at = {v: i for i, v in enumerate(kept.index)}
    moved = ncp(
        t.iloc[[at[i] for i in p if i in at]],
        X.iloc[p],
        form=form,
        lost=[j for j, i in enumerate(p) if i not in at],
    )
    assert moved.tolist() == pytest.approx(found.tolist()), (
        "the order of the rows does not matter, as long as it is one"
    )


@given(tables(), forms)
def test_centroids_of_groups_lose_what_their_ranges_lose(table, form):
    """Where no two groups are published alike"""
    X, groups = table
    t = (
        recode(X, groups, "centroid")
        if X.columns[0] != "day"
        else pd.DataFrame({"day": _median_days(X, groups)})
    )
    if len(set(equivalence_classes(t))) == len(set(groups)):
        assert gcp(t, X, form=form, lost=[]) == pytest.approx(
            gcp(recode(X, groups, "interval"), X, form=form)
        )


def _median_days(X, groups):
    a, codes = encode(X.day)
    return cell_column(*centroid_recoding(a, codes, pd.factorize(np.array(groups))[0], "median"))


def test_groups_with_one_mean_are_one_class_unless_another_column_tells_them_apart():
    X = pd.DataFrame({"x": [4, 6, 0, 10], "c": list("aabb")})
    t = recode(X, [0, 0, 1, 1], "centroid")
    assert ncp(t, X, ["x"], lost=[]).x == 1 and ncp(t, X, lost=[]).x == pytest.approx(0.6)


def test_centroids_of_categories_declared_and_missing():
    X = pd.DataFrame({"z": [1, 1, 2, 3], "m": ["a", None, "b", "b"], "n": [1.0, np.nan, 3, 3]})
    t = pd.DataFrame(
        {
            "z": cell_column([0] * 4, [Centroid(1)]),
            "m": cell_column([0, 0, 1, 1], [Centroid("a"), Exact("b")]),
            "n": cell_column([0, 0, 1, 1], [Centroid(1.0), Exact(3.0)]),
        }
    )
    assert ncp(t, X, categorical=["z"], lost=[]).tolist() == pytest.approx(
        [2 / 4 * 2 / 3, 2 / 4 * 2 / 3, 2 / 4 * 1]
    ), "z is 1, 1 in one class and 2, 3 in the other"
    assert ncp(t[["z"]], X, categorical=["z"], lost=[]).z == 1


@pytest.mark.parametrize(
    "rows,lost,word", [(4, [], "'lost'"), (3, [0, 1], "'lost'"), (3, None, "lost=")]
)
def test_centroids_need_rows_in_one_order(rows, lost, word):
    X = pd.DataFrame({"x": [1, 2, 3]})
    with pytest.raises(ValueError, match=word):
        ncp(pd.DataFrame({"x": cell_column([0] * rows, [Centroid(2.0)])}), X, lost=lost)
    assert ncp(pd.DataFrame({"x": cell_column([0] * 3, [Interval(1, 2)])}), X, lost=[0]).x == 0.5, (
        "only centroids ask for it"
    )


def test_centroids_of_another_table():
    with pytest.raises(ValueError, match="the original does not have"):
        ncp(
            pd.DataFrame({"Marital": cell_column([0] * 14, [Centroid("Widowed")])}),
            CUSTOMERS,
            lost=[],
        )
    with pytest.raises(ValueError, match="the original does not have"):
        ncp(pd.DataFrame({"Age": cell_column([0] * 14, [Centroid("old")])}), CUSTOMERS, lost=[])
