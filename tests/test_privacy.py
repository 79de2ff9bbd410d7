"""The audit: classes against a count on text, the papers' tables, foreign tables, bad input."""

from dataclasses import fields
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st

from ppdt.c45 import C45Classifier
from ppdt.datasets import load_customers, load_patients
from ppdt.diversity import Alpha, LDiversity, TCloseness
from ppdt.generalization import Taxonomy, recode
from ppdt.kactus import KActusAnonymizer
from ppdt.mondrian import MondrianAnonymizer
from ppdt.privacy import (
    Audit,
    audit,
    class_sizes,
    equivalence_classes,
    plot_class_sizes,
    risk_report,
)
from ppdt.release import Release, read_release
from ppdt.tables import (
    Centroid,
    Exact,
    Interval,
    Node,
    Roles,
    Schema,
    Suppressed,
    ValueSet,
    cell_column,
    column_text,
    write_text,
)

CUSTOMERS = load_customers()
QIS = ["Gender", "Marital", "Age"]

# ---------- against a plain count
CELLS = [
    Exact(1),
    Exact(2),
    ValueSet([1, 2]),
    ValueSet([2, 1, 3]),
    Interval(1, 2),
    Interval(1, 2, True),
    Suppressed(),
    Centroid(1),
    Node("1"),
]


@st.composite
def tables(draw):
    """A table of one to three columns, each raw or of mixed cells (as Categorical or as objects),
    with missing values
    """
    n, m, data = draw(st.integers(1, 20)), draw(st.integers(1, 3)), {}
    for j in range(m):
        kind = draw(st.sampled_from(["cells", "objects", "number", "text"]))

        def col(values):
            return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

        if kind == "cells":
            data[f"c{j}"] = cell_column(np.array(col(range(-1, len(CELLS)))), CELLS)
        elif kind == "objects":
            data[f"c{j}"] = pd.Series([*col([*CELLS, ValueSet([1]), None])], dtype=object)
        elif kind == "number":
            data[f"c{j}"] = pd.Series(col([1.0, 2.0, np.nan]))
        else:
            data[f"c{j}"] = pd.Series(col(["a", "{a, b}", None]), dtype=object)
    return pd.DataFrame(data)


def by_text(t):
    """Sizes of the classes of rows that are not fully suppressed, counted by pandas on the
    published text
    """
    texts = pd.DataFrame({o: column_text(t[o]) for o in t})
    gone = np.all([[isinstance(v, Suppressed) for v in t[o]] for o in t], axis=0)
    texts = texts[~gone]
    return sorted(texts.groupby(list(texts), dropna=False).size()) if len(texts) else [], int(
        gone.sum()
    )


@one_in(2)
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
        assert found.risk_max == 1 / sizes[0] and found.risk_mean == pytest.approx(
            sum(f * (1 / f) for f in sizes) / n
        )
        assert found.risk_share == pytest.approx(sizes.count(1) / n)


@one_in(2)
@given(tables(), st.randoms(use_true_random=False))
def test_row_and_column_order_are_irrelevant(t, random):
    p, o = list(range(len(t))), list(t)
    random.shuffle(p)
    random.shuffle(o)
    assert audit(t.iloc[p][o], k=2) == audit(t, k=2)


@given(tables())
def test_classes_and_their_sizes_agree(t):
    c = equivalence_classes(t)
    assert np.sort(np.bincount(c)).tolist() == class_sizes(t).tolist()
    assert c[0] == 0 and set(c.tolist()) == set(range(c.max() + 1))
    texts = pd.DataFrame({o: column_text(t[o]) for o in t})
    assert (texts.groupby(c).nunique() == 1).all(axis=None)


def test_many_columns_do_not_overflow():
    """100 values in each of 40 columns: 100**40 combinations"""
    rng = np.random.default_rng(0)
    base = pd.DataFrame(rng.integers(0, 100, (100, 40)), columns=[f"c{j}" for j in range(40)])
    t = base.iloc[np.repeat(np.arange(100), np.arange(1, 101))]
    assert class_sizes(t).tolist() == list(range(1, 101))


# ---------- the papers
def test_table_ii_of_shao_beckford():
    """Section III.A, Table II: 3-anonymous, prosecutor risk 1/3 at most and on average"""
    X = load_patients()
    t = recode(X[["Age", "Gender", "Postcode"]], [0, 0, 0, 1, 1, 1]).assign(Disease=X.Disease)
    found = audit(t, ["Age", "Gender", "Postcode"], k=3, original=X)
    assert (found.k, found.n_rows, found.n_classes, found.class_sizes, found.holds) == (
        3,
        6,
        2,
        (3, 3),
        True,
    )
    assert (
        found.risk_max == found.risk_mean == pytest.approx(1 / 3)
        and found.risk_share == 0
        and found.uniques == 0
    )
    assert found.gcp == pytest.approx(19 / 27) and found.ncp == 1
    assert audit(t, ["Age", "Gender", "Postcode"], k=4).holds is False


def test_customers():
    assert audit(CUSTOMERS, QIS).k == 1 and audit(CUSTOMERS, QIS).uniques == 14
    assert audit(CUSTOMERS, ["Gender", "Marital"]).class_sizes == (2, 3, 4, 5)


# ---------- what an audit may be given
def test_raw_frames_and_arrays():
    t = pd.DataFrame(
        {
            "i": pd.array([1, None, 1], dtype="Int64"),
            "b": [True, False, True],
            "d": pd.to_datetime(["2024"] * 3),
            "c": pd.Categorical(list("xyx")),
        },
        index=[5, 5, 5],
    )
    assert audit(t).class_sizes == (1, 2)
    assert audit(np.array([[1, 2], [1, 2], [3, 4]])).class_sizes == (1, 2)


def test_release_brings_its_roles():
    X = pd.DataFrame({"code": [1, 2, 9, 9], "other": [1, 2, 3, 4]})
    t = X.assign(code=recode(X[["code"]], [0] * 4, categorical=["code"]).code)
    r = Release(t, audit=Audit(lost_rows=3), roles=Roles(("code",), ("code",), (), ("other",)))
    found = audit(r, original=X)
    assert (found.k, found.lost_rows, found.gcp) == (4, 3, 1)
    assert audit(r, ["code", "other"], lost_rows=0).k == 1 and audit(r, lost_rows=0).lost_rows == 0
    assert audit(Release(t)).k == 1, "no roles: all columns"


def test_columns_named_like_parts_of_a_release():
    assert audit(pd.DataFrame({"data": [1, 1], "roles": [2, 2]})).k == 2


@pytest.mark.parametrize(
    "t",
    [CUSTOMERS.iloc[:0], pd.DataFrame({"x": pd.Series([], dtype=float)}), pd.DataFrame({"x": []})],
)
def test_empty_frames(t):
    found = audit(t, k=3, original=CUSTOMERS)
    assert (found.k, found.n_rows, found.n_classes, found.class_sizes) == (None, 0, 0, ())
    assert (
        found.risk_max is found.risk_mean is found.risk_share is found.gcp is None
        and found.holds is True
    )
    assert "no row is published" in str(found)


def test_everything_suppressed():
    found = audit(
        pd.DataFrame(
            {"x": cell_column([0, 0], [Suppressed()]), "y": cell_column([0, 0], [Suppressed()])}
        ),
        k=5,
        original=pd.DataFrame({"x": [1, 2], "y": [1, 1]}),
    )
    assert (found.k, found.suppressed_rows, found.suppressed_cells, found.gcp, found.holds) == (
        None,
        2,
        4,
        1,
        True,
    )
    assert "none: all published rows are suppressed" in str(
        found
    ) and "0, beside 2 fully suppressed" in str(found)
    say = audit(
        pd.DataFrame({"x": cell_column([0, 0], [Suppressed()]), "name": ["Ann", "Bob"]}),
        ["x"],
        k=2,
        lost_rows=1,
    ).explain()
    assert (
        "None of the 2 published rows shows anything" in say
        and "1 row of the original is not published" in say
    )
    assert (
        "Mind: column 'name'" in say
        and "for want of anything to tell" in say
        and "Not looked at" in say
    )


def test_without_k_it_measures_only():
    found = audit(CUSTOMERS[QIS])
    assert found.promise is None and found.holds is None and found.risk_share == 1
    assert "promise" not in str(found) and "above 0.2 for 100.0% of rows" in str(found)


def test_risk_at_the_threshold_is_not_above_it():
    for k in range(1, 60):
        assert audit(pd.DataFrame({"x": [0] * k + [1] * (k + 1)}), k=k).risk_share == 0
    assert audit(pd.DataFrame({"x": [0] * 5 + [1] * 4})).risk_share == pytest.approx(4 / 9)


# ---------- what it does not know
def test_none_means_not_known():
    known = {
        "k",
        "n_rows",
        "n_classes",
        "class_sizes",
        "suppressed_rows",
        "suppressed_cells",
        "risk_max",
        "risk_mean",
        "risk_share",
        "uniques",
        "k_wildcard",
        "discernibility",
        "centroid_cells",
        "warnings",
        "alarms",
    }
    found = audit(CUSTOMERS[QIS])
    assert {f.name for f in fields(found) if getattr(found, f.name) is not None} == known
    assert {
        f.name
        for f in fields(audit(CUSTOMERS[QIS], k=1, original=CUSTOMERS, lost_rows=0))
        if getattr(audit(CUSTOMERS[QIS], k=1, original=CUSTOMERS, lost_rows=0), f.name) is not None
    } == known | {
        *("promise", "holds", "ncp", "gcp", "tidi", "lost_rows", "c_avg"),
        *("truthful", "true_rows", "true_by"),
    }


@pytest.mark.parametrize("cell", [Node("Europe"), Centroid(3.0)])
def test_loss_of_nodes_and_of_centroids_without_the_order_is_not_known(cell):
    found = audit(
        pd.DataFrame({"x": cell_column([0, 0], [cell])}), original=pd.DataFrame({"x": [1.0, 5.0]})
    )
    assert (
        found.gcp is None
        and found.k == 2
        and "loss cannot be measured: x" in found.warnings[0]
        and found.warnings[0] in str(found)
    )
    assert audit(pd.DataFrame({"x": cell_column([0, 0], [cell])})).gcp is None
    assert ("taxonomies=" if isinstance(cell, Node) else "lost=") in found.warnings[0]


def test_loss_of_centroids_is_the_spread_of_their_class():
    X = pd.DataFrame({"x": [3.0, 7, 6, 8, 0], "c": list("aabbc")})
    t = recode(X.iloc[:4], [0, 0, 1, 1], "centroid")
    found = audit(t, original=X, lost=[4], consistency=False)
    assert (found.ncp, found.gcp, found.centroid_cells, found.warnings) == (
        pytest.approx(3 / 8),
        pytest.approx(3 / 16),
        4,
        (),
    )
    assert (
        "representatives       4 cells, IL" in str(found)
        and "by their spread" in str(found)
        and "4 cells hold a representative" in found.explain()
    )
    assert audit(X, original=X).centroid_cells == 0 and "representative" not in str(
        audit(X, original=X, lost=[])
    )
    for kw in (dict(), dict(original=X), dict(lost=[4])):
        assert audit(t, **kw).gcp is None and "x holds centroids" in audit(t, **kw).warnings[0]
    nodes = t.assign(m=cell_column([0] * 4, [Node("n")]))
    assert audit(nodes, original=X.assign(m=1), lost=[4], consistency=False).warnings == (
        "the loss cannot be measured: m holds nodes; give their whole taxonomies in taxonomies=",
    )


def test_a_release_knows_which_rows_its_centroids_stand_for():
    X, y = CUSTOMERS[QIS], CUSTOMERS.Bought
    for shortfall, told in (("lose", (12, 0, 2)), ("top_up", (9, 5, 0))):
        r = KActusAnonymizer(
            k=3, inducer=C45Classifier(prune=False), selection="first", shortfall=shortfall
        ).anonymize(X, y)
        a, again = r.audit, audit(r, original=X)
        assert (a.n_rows, a.suppressed_rows, a.lost_rows) == told and not a.warnings
        assert (
            a.ncp
            == again.ncp
            == pytest.approx((told[0] + told[1] - 3 + 3 * 10 / 58) / (told[0] + told[1]))
        )
        assert (
            ("not published at all" in str(a))
            == ("2 rows of the original are not published" in a.explain())
            == bool(told[2])
        )
        assert ("beside 5 fully suppressed" in str(a)) == bool(told[1])
    a = KActusAnonymizer(k=3, inducer=C45Classifier(min_samples_leaf=14)).anonymize(X, y).audit
    assert (a.k, a.n_rows, a.suppressed_rows, a.holds, a.gcp) == (None, 0, 14, True, 1)


# ---------- bad input
@pytest.mark.parametrize(
    "kw,error,word",
    [
        (dict(quasi_identifiers=["Zip"]), ValueError, "Got 'Zip'; the columns are"),
        (dict(quasi_identifiers="Age"), ValueError, "list of column names"),
        (dict(quasi_identifiers=["Age", "Age"]), ValueError, "once"),
        (dict(quasi_identifiers=[]), ValueError, "at least one"),
        (dict(k=0), ValueError, "'k' must be an integer of at least 1. Got 0"),
        (dict(k=2.5), TypeError, "Got 2.5"),
        (dict(k=True), TypeError, "Got True"),
        (dict(original=CUSTOMERS[["Age"]]), ValueError, "'original' must have the columns"),
    ],
)
def test_errors_name_the_parameter(kw, error, word):
    with pytest.raises(error, match=word):
        audit(CUSTOMERS, **kw)


def test_tables_that_are_none():
    with pytest.raises(ValueError, match="two dimensions"):
        audit(CUSTOMERS.Age)
    with pytest.raises(ValueError, match="more than once"):
        audit(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(ValueError, match="finite"):
        audit(pd.DataFrame({"x": [1, np.inf]}))
    with pytest.raises(ValueError, match="columns"):
        class_sizes(CUSTOMERS, ["Zip"])


# ---------- how it looks
def test_audit_is_frozen_and_shown_on_one_screen():
    found = audit(pd.DataFrame({"x": np.arange(1000) % 300}), k=5, lost_rows=12)
    with pytest.raises(AttributeError):
        found.k = 9
    assert repr(found) == str(found) and len(str(found).splitlines()) <= 20
    assert (
        "DOES NOT HOLD" in str(found)
        and "lost rows             12" in str(found)
        and "1,000 in 300 classes" in str(found)
    )
    assert found == audit(pd.DataFrame({"x": np.arange(1000)[::-1] % 300}), k=5, lost_rows=12)


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
        assert (
            not sizes
            or ax.patches[0].get_x()
            < sizes[0]
            < ax.patches[0].get_x() + ax.patches[0].get_width() * 1.2
        )
        plt.close(fig)


@pytest.mark.parametrize(
    "sizes, left, width, heights",
    [
        ((3, 3, 4, 9), 2.55, 0.9, [2, 1, 0, 0, 0, 0, 1]),
        ((1, 50), 0.55, 0.9, [1, *[0] * 48, 1]),
        ((1, 51), 0.5, 2, [1, *[0] * 24, 1]),
    ],
)
def test_bars_of_class_sizes(sizes, left, width, heights):
    """One bar a size as long as fifty are enough, else as many sizes to a bar; k by a line"""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    t = pd.DataFrame({"x": np.repeat(np.arange(len(sizes)), sizes)})
    fig, ax = plt.subplots()
    plot_class_sizes(audit(t), ax=ax)
    assert [p.get_height() for p in ax.patches] == heights
    assert ax.patches[0].get_x() == pytest.approx(left)
    assert ax.patches[0].get_width() == pytest.approx(width)
    assert ax.lines[0].get_xdata()[0] == sizes[0] - 0.5
    assert [o.get_text() for o in ax.get_legend().get_texts()] == [f"k = {sizes[0]}"]
    plt.close(fig)


# ---------- nodes of a taxonomy
# leaves are not in code order
TREE = Taxonomy.from_dict({"*": {"ad": ["a", "d"], "bce": {"be": ["b", "e"], "c": None}}})
BELOW = {
    "*": "abcde",
    "ad": "ad",
    "bce": "bce",
    "be": "be",
    "a": "a",
    "b": "b",
    "c": "c",
    "d": "d",
    "e": "e",
}


@one_in(3)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcde"),
            st.sampled_from([*BELOW, "up", "up", "up"]),
            st.sampled_from([1, 2]),
        ),
        min_size=1,
        max_size=8,
    ),
    st.integers(1, 3),
)
def test_a_node_equals_the_set_of_its_leaves(rows, more):
    def published(v, n):
        return TREE.ancestors(v)[0] if n == "up" else n

    names = [published(v, n) for v, n, _ in rows]

    def table(cell):
        return pd.DataFrame(
            {"m": pd.Series([cell(o) for o in names], dtype=object), "z": [z for *_, z in rows]}
        )

    nodes = table(lambda o: Exact(o) if len(BELOW[o]) == 1 else Node(o))
    sets = table(lambda o: ValueSet([*BELOW[o]]))
    original = pd.DataFrame(
        {"m": [v for v, *_ in rows] + list("abcde"), "z": [z for *_, z in rows] + [1] * 5}
    )
    kw = dict(
        k=2,
        original=original,
        lost=range(len(rows), len(original)),
        population=pd.concat([original] * more),
    )
    a = audit(nodes, taxonomies={"m": TREE}, **kw)
    assert a == audit(sets, **kw)
    assert a.truthful is not None and a.gcp is not None and a.one_k is not None


def test_nodes_over_numbers_and_dates():
    """Numeric columns: a leaf is known by its text too"""
    tree = Taxonomy.from_dict({"*": {"low": ["1", "2"], "high": ["3", "10"]}})
    t = pd.DataFrame({"x": cell_column([0, 0, 1], [Node("low"), Node("high")])})
    a = audit(t, original=pd.DataFrame({"x": [1, 2, 10]}), lost=[], taxonomies={"x": tree})
    assert (a.truthful, a.one_k, a.gcp) == (True, 1, 0.5)
    assert (
        audit(t, original=pd.DataFrame({"x": [1, 3, 10]}), lost=[], taxonomies={"x": tree}).truthful
        is False
    )


def test_a_node_without_a_value_of_the_original_holds_nobody():
    a = audit(
        pd.DataFrame({"m": cell_column([0, 0], [Node("ad")])}),
        original=pd.DataFrame({"m": ["b", "c"]}),
        lost=[],
        taxonomies={"m": TREE},
    )
    assert (a.truthful, a.one_k, a.global_one_k) == (False, 0, 0)


def test_a_release_brings_its_taxonomies(tmp_path):
    X = pd.DataFrame({"m": list("adbe"), "z": [1, 1, 2, 2]})
    t = recode(X, [0, 0, 1, 1], "node", taxonomies={"m": TREE})
    lines = [
        [TREE.name[i] for i in (l, *[TREE.node(o) for o in TREE.ancestors(TREE.name[l])])]
        for l in TREE.leaf
    ]
    roles = Roles(("m", "z"), (), (), ())
    a = audit(Release(t, roles=roles, schema=Schema((), {"m": lines})), original=X, lost=[])
    for kept in (TREE, lines, [";".join(o) for o in lines]):
        assert a == audit(t, original=X, lost=[], taxonomies={"m": kept}) and (
            a.truthful,
            a.gcp,
        ) == (True, 0.2)
    write_text(pd.DataFrame({o: column_text(t[o]) for o in t}), tmp_path / "t.csv")
    back = read_release(tmp_path / "t.csv", kinds={"m": "categorical", "z": "numeric"})
    assert audit(back, original=X, lost=[], taxonomies={"m": TREE}) == a


@pytest.mark.parametrize(
    "given,word",
    [
        (["m"], "must be a dict"),
        ({"m": 3}, "lines from leaf to root"),
        ({"m": []}, "lines from leaf to root"),
        ({"m": [[1, 2], [3, 4]]}, "lines from leaf to root"),
    ],
)
def test_taxonomies_that_are_none(given, word):
    with pytest.raises(ValueError, match=word):
        audit(pd.DataFrame({"m": ["a"]}), taxonomies=given)


def test_unknown_nodes_are_named():
    with pytest.raises(ValueError, match="nodes of column 'm'.*no node 'x'"):
        audit(pd.DataFrame({"m": cell_column([0], [Node("x")])}), taxonomies={"m": TREE})


# ---------- representatives
def test_representatives_are_measured_when_the_order_is_known():
    X = pd.DataFrame({"x": [1, 2, 3, 10, 11, 12]})
    t = recode(X, [0] * 3 + [1] * 3, "centroid")
    assert (
        audit(t, original=X, lost=[]).il == pytest.approx(3.187251)
        and audit(t, original=X).il is None
    )
    assert audit(
        t, original=pd.concat([X, X.iloc[:1]], ignore_index=True), lost=[6]
    ).il == pytest.approx(3.187251)
    assert audit(recode(X, [0] * 3 + [1] * 3), original=X, lost=[]).il is None, (
        "sets have no squared error"
    )
    mixed = t.assign(s=recode(X, [0] * 3 + [1] * 3).x)
    assert audit(mixed, original=X.assign(s=X.x), lost=[]).il == pytest.approx(3.187251), (
        "columns of sets are left out"
    )
    assert "IL 3.187%" in str(audit(t, original=X, lost=[]))


@pytest.mark.parametrize(
    "values,warns",
    [
        ([18, 20, 21, 21, 1000], True),
        ([-1000, 20, 21, 21, 18], True),
        ([18, 20, 21, 21, 300], False),
        ([0, 0, 0, 0, 0], False),
        ([0, 0, 0, 0, 7], True),
    ],
)
def test_a_dominant_value_is_found(values, warns):
    X = pd.DataFrame({"x": [float(v) for v in values] + [50.0, 51, 52], "g": [0] * 5 + [1] * 3})
    t = recode(X, X.g, "centroid")
    told = [o for o in audit(t, original=X, lost=[]).warnings if "dominance" in o]
    assert len(told) == warns and (not warns or "'x'" in told[0] and "1 class," in told[0])
    assert not [o for o in audit(t, original=X).warnings if "dominance" in o]


def test_a_dominant_value_is_found_in_a_release():
    """Five capital gains of which one is 99,999, in a leaf that tests them"""
    X = pd.DataFrame({"gain": [1, 2, 3, 1, 99_999] + [0] * 5, "age": [30, 40, 50, 60, 70] * 2})
    y = pd.Series(["yes"] * 5 + ["no"] * 5)
    for more in (dict(), dict(missing="category")):
        r = KActusAnonymizer(k=5, inducer=C45Classifier(prune=False), **more).anonymize(
            X if not more else X.assign(age=[30.0, 40, None, 60, 70] * 2), y
        )
        assert Centroid(100_006 / 5) in set(r.data.gain)
        assert (
            len(
                [
                    o
                    for o in r.audit.warnings
                    if "'gain'" in o and "up to 100%" in o and "1 class," in o
                ]
            )
            == 1
        )


def test_dominance_is_looked_for_beside_missing_and_suppressed_cells():
    X = pd.DataFrame({"x": [18.0, 20, 21, 21, 1000, np.nan, 3]})
    t = pd.DataFrame({"x": cell_column([0] * 5 + [-1, 1], [Centroid(216.0), Suppressed()])})
    assert [o for o in audit(t, original=X, lost=[]).warnings if "up to 93%" in o]


def test_a_median_gives_nobody_away():
    X = pd.DataFrame({"x": [18.0, 20, 21, 21, 1000]})
    assert not [
        o
        for o in audit(
            pd.DataFrame({"x": cell_column([0] * 5, [Centroid(21.0)])}), original=X, lost=[]
        ).warnings
        if "dominance" in o
    ]


# ---------- the report
@one_in(5)
@given(tables(), st.integers(1, 3))
def test_report_equals_loops(t, size):
    report = risk_report(t, max_size=size, top=len(t))
    lines, texts = (
        report.subsets.set_index("quasi_identifiers"),
        pd.DataFrame({o: column_text(t[o]) for o in t}),
    )
    choices = [c for r in range(1, min(size, t.shape[1]) + 1) for c in combinations(t.columns, r)]
    assert sorted(lines.index) == sorted(", ".join(c) for c in choices)
    stars = pd.DataFrame({o: [isinstance(v, Suppressed) for v in t[o]] for o in t})
    alone = {}
    for c in choices:
        a, line = audit(t, list(c)), lines.loc[", ".join(c)]
        seen = [
            tuple(r)
            for r, s in zip(texts[list(c)].to_numpy(), stars[list(c)].to_numpy())
            if not all(s)
        ]
        assert (line.classes, line.uniques, line["columns"]) == (
            a.n_classes,
            a.uniques,
            len(c),
        ) and (line.k == a.k or a.k is None and pd.isna(line.k))
        if seen:
            assert line.distinction == pytest.approx(len(set(seen)) / len(seen))
        if len(seen) > 1:
            assert line.separation == pytest.approx(
                np.mean([x != y for x, y in combinations(seen, 2)])
            )
        rows = [tuple(r) for r in texts[list(c)].to_numpy()]
        alone[c] = {
            i for i, r in enumerate(rows) if not stars[list(c)].iloc[i].all() and seen.count(r) == 1
        }
    minimal = {
        c: {i for i in rows if not any(i in alone[p] for p in alone if set(p) < set(c))}
        for c, rows in alone.items()
    }
    of = {
        i: [c for c in choices if i in minimal[c]]
        for i in range(len(t))
        if any(i in m for m in minimal.values())
    }
    assert set(report.rows.index) == set(of)
    for i, row in report.rows.iterrows():
        least = min(map(len, of[i]))
        assert (row.smallest, row.selections) == (least, len(of[i])) and sorted(
            row.alone_in.split("; ")
        ) == sorted(", ".join(c) for c in of[i] if len(c) == least)
    assert (
        report.rows[["smallest", "selections"]]
        .apply(tuple, axis=1)
        .map(lambda o: (o[0], -o[1]))
        .is_monotonic_increasing
    )


def test_report_is_internal_and_an_audit_never_holds_it():
    X = CUSTOMERS.set_index(pd.Index([f"Nobody-{i}" for i in range(14)]))
    report = risk_report(X, QIS, top=3)
    assert (
        all(t.attrs["title"].startswith("INTERNAL") for t in (report.subsets, report.rows))
        and str(report).startswith("INTERNAL")
        and report._repr_html_().count("INTERNAL") == 2
    )
    assert len(report.rows) == 3 and report.rows.index[0].startswith("Nobody-")
    a = audit(X, QIS, k=2)
    assert "Nobody-" not in str(a) + a._repr_html_() + a.explain()
    assert len(risk_report(X, QIS, top=0).rows) == 0
    r = MondrianAnonymizer(k=3, published=["Marital"]).anonymize(X.drop(columns="Bought"))
    assert (
        risk_report(r).subsets["quasi_identifiers"].tolist().count("Marital") == 0
        and risk_report(r).rows.empty
    )


def test_report_of_nothing_and_of_too_much():
    with pytest.raises(ValueError, match="at least one row"):
        risk_report(CUSTOMERS.iloc[:0], QIS)
    nobody = risk_report(pd.DataFrame({"q": ["a", "a"]}))
    assert nobody.rows.empty and str(nobody).endswith(
        "INTERNAL: 0 rows stand alone in some selection\nnone"
    )
    for kw, word in (
        (dict(max_size=0), "'max_size'"),
        (dict(top=-1), "'top'"),
        (dict(quasi_identifiers=["Zip"]), "columns are"),
        (dict(max_size=True), "'max_size'"),
    ):
        with pytest.raises(ValueError, match=word):
            risk_report(CUSTOMERS, **kw)
    with pytest.raises(ValueError, match="at most 20,000 selections"):
        risk_report(pd.DataFrame(np.zeros((2, 60))).add_prefix("c"))


def test_report_of_persons_is_that_of_one_row_each():
    twice = pd.concat([CUSTOMERS, CUSTOMERS]).reset_index()
    once, both = (
        risk_report(CUSTOMERS, QIS, top=14),
        risk_report(twice, QIS, top=28, person="customer"),
    )
    columns = ["quasi_identifiers", "classes", "k", "uniques", "distinction", "separation"]
    pd.testing.assert_frame_equal(once.subsets[columns], both.subsets[columns])
    assert (
        sorted(twice.customer[both.rows.index]) == sorted([*once.rows.index] * 2)
        and risk_report(twice, QIS).subsets.uniques.sum() == 0
    )
    with pytest.raises(ValueError, match="'person' must tell"):
        risk_report(twice, QIS, person=[None] * 28)


def test_report_of_persons_in_a_table_with_suppressed_rows_and_any_index():
    """Rows are counted by position, whatever their names are"""
    cells_of_age = [Exact(1), Exact(2), Suppressed()]
    ages = cell_column([0, 0, 1, 2, 1], cells_of_age)
    visits = pd.DataFrame({"who": list("aabcb"), "age": ages})
    for index in (range(5), [7, 3, 9, 5, 0], [4, 3, 2, 1, 0]):
        report = risk_report(visits.set_axis(index), ["age"], person="who")
        assert report.rows.index.tolist() == list(index)[:3] + list(index)[4:]


def test_sentences_speak_of_persons_where_persons_are_counted():
    twice = pd.concat([CUSTOMERS, CUSTOMERS]).reset_index()
    text = audit(twice, QIS, person="customer", sensitive="Bought").explain()
    assert (
        "14 groups of rows that look alike are about one person only" in text
        and " rows looks like" not in text
    )
    text = audit(twice, ["Gender"], person="customer", sensitive="Bought", k=5).explain()
    assert (
        "in every group, about at least 5 persons" in text
        and "of the persons share" in text
        and "rows share" not in text
    )


def test_an_original_has_no_fewer_rows():
    with pytest.raises(
        ValueError,
        match=(
            "'original' must be the table that the release was made from. Got 7 rows, fewer than"
            " the 14"
        ),
    ):
        audit(CUSTOMERS, QIS, original=CUSTOMERS[:7])


def test_report_html_is_escaped():
    assert (
        "<script>" not in risk_report(pd.DataFrame({"<script>": ["<script>", "b"]}))._repr_html_()
    )


# ---------- in sentences
def test_sentences_say_what_was_found():
    say = audit(CUSTOMERS, QIS, k=2, y="Bought").explain()
    assert (
        "14 of the 14 rows look like no other" in say
        and "does NOT hold" in say
        and "knows it for certain" in say
    )
    assert (
        "at least 2 others" in audit(pd.DataFrame({"x": [1] * 3})).explain()
        and "at least 1 other " in audit(pd.DataFrame({"x": [1] * 2})).explain()
    )
    assert "1 of the 3 rows looks like no other" in audit(pd.DataFrame({"x": [1, 1, 2]})).explain()
    assert audit(CUSTOMERS.iloc[:0], QIS, k=3).explain().startswith("No row is published")


# ---------- constraints
def test_constraints_are_promised_and_named_when_they_fail():
    X = load_patients()
    t = recode(X[["Age", "Gender", "Postcode"]], [0, 0, 0, 1, 1, 1])
    a = audit(t, k=3, y=X.Disease, constraints=[LDiversity(l=2)])
    assert (
        a.promise == "k-anonymity with k = 3; distinct 2-diversity of 'Disease'"
        and a.holds
        and not a.warnings
    )
    a = audit(
        t, k=3, y=X.Disease, constraints=[LDiversity(l=3), TCloseness(t=0.5), Alpha(alpha=0.5)]
    )
    assert (
        a.holds is False
        and len(a.warnings) == 2
        and "weakest class has 2" in a.warnings[0]
        and "weakest class has 0.6667" in a.warnings[1]
    )
    a = audit(t, y=X.Disease, constraints=[LDiversity(l=2)])
    assert a.promise == "distinct 2-diversity of 'Disease'" and a.holds and "above 0.2" in str(a)
    assert audit(t, k=4, y=X.Disease, constraints=[LDiversity(l=2)]).holds is False
    both = t.assign(Disease=X.Disease, Pay=range(6))
    a = audit(
        both,
        ["Age", "Gender", "Postcode"],
        k=3,
        constraints=[LDiversity(l=3, sensitive="Pay"), LDiversity(l=2, sensitive="Disease")],
    )
    assert a.holds and not a.warnings, "a secret is not reported as a column that names people"
    assert (
        audit(both.drop(columns="Pay"), k=3, constraints=[LDiversity(l=2, sensitive="Disease")]).k
        == 3
    ), "a secret is no quasi-identifier"


def test_a_secret_beside_the_table_is_found_by_its_name():
    X = load_patients()
    t = recode(X[["Age", "Gender", "Postcode"]], [0, 0, 0, 1, 1, 1])
    kw = dict(sensitive=X.Disease, y=pd.Series(list("ababab"), name="class"))
    assert (
        audit(t, constraints=[LDiversity(l=2, sensitive="Disease"), LDiversity(l=2)], **kw).promise
        == "distinct 2-diversity of 'Disease'; distinct 2-diversity of 'class'"
    )
    assert (
        audit(t, sensitive=X.Disease, constraints=[LDiversity(l=2)]).promise
        == "distinct 2-diversity of 'Disease'"
    ), "without a class it is the secret"
    with pytest.raises(ValueError, match="a Series with one"):
        audit(t, sensitive=list("abcabc"), t_distance="hierarchical")


@pytest.mark.parametrize(
    "kw,error,word",
    [
        (
            dict(constraints=[LDiversity(sensitive="Age")], quasi_identifiers=["Age"]),
            ValueError,
            "'constraints' must not be a quasi-identifier",
        ),
        (
            dict(constraints=[LDiversity(sensitive="Zip")]),
            ValueError,
            "'sensitive' must be a column",
        ),
        (dict(constraints=[LDiversity()]), ValueError, "'y' must be given"),
        (dict(constraints=["l"]), TypeError, "'constraints' must hold"),
        (
            dict(sensitive="Bought", sensitive_value="Maybe"),
            ValueError,
            "'sensitive_value' must be",
        ),
        (dict(sensitive="Bought", t_distance="hierarchical"), ValueError, "'taxonomies' must have"),
    ],
)
def test_errors_about_promises(kw, error, word):
    with pytest.raises(error, match=word):
        audit(CUSTOMERS, **kw)


def test_nothing_published_breaks_no_constraint():
    assert (
        audit(
            CUSTOMERS.iloc[:0],
            QIS,
            k=3,
            y="Bought",
            constraints=[LDiversity(l=2), TCloseness(t=0.0), Alpha(alpha=0.1)],
        ).holds
        is True
    )
    hidden = pd.DataFrame({"x": cell_column([0] * 3, [Suppressed()])})
    assert audit(hidden, k=2, y=list("aaa"), constraints=[LDiversity(l=2)]).holds is True


def test_constraints_before_saving_and_after_reading(tmp_path):
    r = MondrianAnonymizer(k=3).anonymize(CUSTOMERS[QIS], CUSTOMERS.Bought)
    kw = dict(
        k=3,
        constraints=[
            LDiversity(l=2),
            LDiversity(l=2, form="recursive", c=3.5),
            TCloseness(t=0.2),
            Alpha(alpha=0.7, value="Yes"),
        ],
    )
    before = audit(r, lost_rows=0, **kw)
    r.to_csv(tmp_path / "r.csv")
    assert audit(read_release(tmp_path / "r.csv"), lost_rows=0, **kw) == before
