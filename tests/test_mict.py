"""Microaggregation and MiCT: worked numbers, the textbook's groups, and what must hold under every
option.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from random_tables import pick, published_rows, row_cells

from ppdt._textbook import _textbook_knn, _textbook_mdav, _textbook_vmdav
from ppdt.c45 import C45Classifier, ID3Classifier
from ppdt.datasets import load_customers
from ppdt.diversity import LDiversity
from ppdt.engine.microaggregation import _blocks, mdav, microaggregate, vmdav
from ppdt.engine.mixed_space import mixed_space, sum_of_squares
from ppdt.mict import (
    MicroaggregationAnonymizer,
    MiCTAnonymizer,
    MixedKNNClassifier,
    levels,
    record_linkage,
)
from ppdt.release import read_release
from ppdt.tables import MISSING, Centroid, Exact, Suppressed, encode

CUSTOMERS = load_customers()
SHOP, BOUGHT = CUSTOMERS.drop(columns="Bought"), CUSTOMERS.Bought
PLANE = pd.DataFrame(
    [
        (0, 0),
        (1, 0),
        (0, 1),
        (10, 10),
        (11, 10),
        (10, 11),
        (5, 5),
        (6, 5),
        (20, 0),
        (21, 0),
        (20, 1),
    ],
    columns=["x", "y"],
)


def space(t, **kw):
    return mixed_space(*zip(*(encode(t[o]) for o in t)), **kw)


def points(s):
    return [(u.tolist(), c.tolist()) for u, c in zip(s.units.T, s.codes.T)]


def numbers(groups, n):
    return [next(i for i, o in enumerate(groups) if r in o) for r in range(n)]


def sets(groups):
    return sorted(np.flatnonzero(groups == g).tolist() for g in range(groups.max() + 1))


def il(s, groups):
    sse, sst = sum_of_squares(s, groups)
    return 100 * sse / sst


# ---------------------------------------------------------------- worked numbers


def test_one_dimension():
    s = space(pd.DataFrame({"v": [1, 2, 3, 10, 11, 12]}))
    assert sets(mdav(s, 3)) == [[0, 1, 2], [3, 4, 5]]
    sse, sst = sum_of_squares(s, mdav(s, 3))
    assert (
        sse * 121 == pytest.approx(4)
        and sst * 121 == pytest.approx(125.5)
        and il(s, mdav(s, 3)) == pytest.approx(3.187250996)
    )


@pytest.mark.parametrize(
    "f, groups, loss",
    [
        (lambda s: mdav(s, 2), [[0, 1], [2, 4, 6], [3, 5], [7, 10], [8, 9]], 24.421619048),
        (lambda s: vmdav(s, 2), [[0, 1], [2, 6, 7], [3, 4, 5], [8, 9, 10]], 4.773578612),
        (lambda s: vmdav(s, 2, 1.1), [[0, 1, 2], [3, 4, 5], [6, 7], [8, 9, 10]], 0.705509248),
        (lambda s: mdav(s, 3), [[0, 1, 2, 6, 7], [3, 4, 5], [8, 9, 10]], 9.878519244),
        (lambda s: vmdav(s, 3), [[0, 1, 2, 6, 7], [3, 4, 5], [8, 9, 10]], 9.878519244),
    ],
)
def test_the_plane(f, groups, loss):
    s = space(PLANE)
    assert sets(f(s)) == groups and il(s, f(s)) == pytest.approx(loss)


@pytest.mark.parametrize(
    "p, groups, loss",
    [
        (
            dict(method="mdav"),
            [[1, 2, 9, 10, 11], [3, 4, 5], [6, 7, 8], [12, 13, 14]],
            26.119246414,
        ),
        (dict(), [[1, 2, 11, 12], [3, 4, 5], [6, 7, 8], [9, 10, 13, 14]], 26.089461571),
        (dict(gamma=1.1), [[1, 2, 10, 11, 12, 13, 14], [3, 4, 5], [6, 7, 8, 9]], 20.753585956),
    ],
)
def test_the_customers(p, groups, loss):
    m = MicroaggregationAnonymizer(k=3, **p).fit(SHOP, BOUGHT)
    assert [
        [i + 1 for i in o] for o in sets(m.groups_)
    ] == groups and m.release_.audit.il == pytest.approx(loss)


def test_mict_on_the_customers():
    m = MiCTAnonymizer(k=3).fit(SHOP, BOUGHT)
    assert SHOP.index[m.averaged_].tolist() == [1, 2, 10, 11] and len(m.moved_) == 0
    assert m.release_.audit.class_sizes == (3, 3, 4, 4) and m.release_.audit.il == pytest.approx(
        20.265869193
    )
    female, single, married = Exact("Female"), Exact("Not Married"), Exact("Married")
    assert [row_cells(m.release_.data[o])[2] for o in SHOP] == [
        female,
        single,
        Centroid((42 + 29 + 38) / 3),
    ]
    assert [row_cells(m.release_.data[o])[0] for o in SHOP] == [
        Centroid("Female"),
        married,
        Centroid(58.75),
    ]
    literal = MiCTAnonymizer(k=3, release="asis").fit(SHOP, BOUGHT)
    assert literal.release_.audit.class_sizes == (1,) * 10 + (
        4,
    ) and literal.release_.audit.il == pytest.approx(15.278500321)
    assert levels(m.tree_, m.stops_, 3).values.tolist() == [
        [1, 1, 14, 0],
        [2, 2, 14, 0],
        [4, 3, 12, 2],
        [2, 1, 10, 4],
    ]


# ---------------------------------------------------------------- the textbook


@st.composite
def people(draw, most=40):
    """(X, y, k): numbers, whole or not, and categories, with many ties"""
    n = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = pd.DataFrame(
        {
            f"c{i}": rng.choice(list("uvwxyz")[:d], n)
            for i, d in enumerate(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
        }
    )
    for i in range(draw(st.integers(0, 2))):
        X[f"x{i}"] = (
            rng.integers(0, draw(st.integers(1, 9)), n)
            if draw(st.booleans())
            else rng.normal(size=n)
        )
    y = pd.Series(np.where(rng.random(n) < 0.3, "a", np.where(X.c0 == "u", "a", "b")), name="class")
    return X, y, draw(st.integers(1, n))


@given(table=people(), gamma=pick(0.2, 1.1, 3), weight=pick(1, 0.3), numeric=st.booleans())
def test_groups_are_the_textbooks(table, gamma, weight, numeric):
    X, _, k = table
    if numeric and X.shape[1] > X.columns.str.startswith("c").sum():
        X = X.loc[:, X.columns.str.startswith("x")]
    s = space(X, cat_weight=weight)
    assert mdav(s, k).tolist() == numbers(_textbook_mdav(points(s), s.scale, weight, k), len(X))
    assert vmdav(s, k, gamma).tolist() == numbers(
        _textbook_vmdav(points(s), s.scale, weight, k, gamma), len(X)
    )


def test_groups_of_a_larger_table_are_the_textbooks():
    """More than a thousand rows, where the nearest are found in pieces"""
    rng = np.random.default_rng(0)
    s = space(
        pd.DataFrame(
            {
                "x": rng.integers(0, 50, 1300),
                "v": rng.normal(size=1300),
                "c": rng.choice(list("uvw"), 1300),
            }
        )
    )
    assert mdav(s, 40).tolist() == numbers(_textbook_mdav(points(s), s.scale, 1, 40), 1300)


# ---------------------------------------------------------------- what must hold


@given(table=people(), gamma=pick(0, 0.2, 1.1), blocks=pick(None, 1, 2, 5))
def test_sizes(table, gamma, blocks):
    X, _, k = table
    s = space(X)
    one, two = (np.bincount(microaggregate(s, k, m, gamma, blocks)) for m in ("mdav", "vmdav"))
    assert one.min() >= k and one.max() <= 2 * k - 1 and two.min() >= k
    parts = len(_blocks(s, blocks or 1, k))
    assert np.maximum(two - (2 * k - 1), 0).sum() < max(k, 1) * parts and (one > k).sum() <= parts
    if gamma == 0:
        assert (two - k).sum() <= (k - 1) * parts


OPTIONS = dict(
    method=pick("vmdav", "mdav"),
    gamma=pick(0.2, 1.1),
    cat_weight=pick(1, 0.3),
    centroid=pick("mean", "median"),
    blocks=pick(None, 2),
)


@one_in(7)
@given(table=people(), options=st.fixed_dictionaries(OPTIONS), seed=st.integers(0, 9))
def test_microaggregation(table, options, seed):
    X, y, k = table
    m = MicroaggregationAnonymizer(k, **options).fit(X, y)
    r = m.release_
    assert (
        r.y.equals(y)
        and r.data.index.equals(X.index)
        and not len(r.lost)
        and min(r.audit.class_sizes) >= k
    )
    order = np.random.default_rng(seed).permutation(len(X))
    assert published_rows(m.anonymize(X.iloc[order], y.iloc[order])) == published_rows(r)
    if k == 1:
        return
    for o in X.columns[X.columns.str.startswith("x")]:
        if options["centroid"] == "mean":
            assert sum(c.value for c in row_cells(r.data[o])) == pytest.approx(X[o].sum(), abs=1e-9)
    if options["centroid"] == "mean":
        assert r.audit.il is None or 0 <= r.audit.il <= 100 + 1e-9
    groups = MicroaggregationAnonymizer(k, **options).fit(X, y).groups_
    for g in range(groups.max() + 1):
        assert (
            len({tuple(row_cells(r.data[o])[i] for o in X) for i in np.flatnonzero(groups == g)})
            == 1
        )


@one_in(5)
@given(
    table=people(),
    options=st.fixed_dictionaries(OPTIONS),
    release=pick("within_leaf", "suppress", "asis"),
    complies=pick("tests", "values"),
    shortfall=pick("top_up", "lose"),
    seed=st.integers(0, 9),
)
def test_mict(table, options, release, complies, shortfall, seed):
    X, y, k = table
    tool = MiCTAnonymizer(
        k,
        inducer=C45Classifier(prune=False, min_samples_leaf=1),
        release=release,
        complies=complies,
        shortfall=shortfall,
        **options,
    ).fit(X, y)
    r, kept = tool.release_, np.setdiff1d(np.arange(len(X)), tool.release_.lost)
    assert r.y.tolist() == y.iloc[kept].tolist() and len(r.lost) <= (
        k - 1 if shortfall == "lose" else 0
    )
    order = np.random.default_rng(seed).permutation(len(X))
    again = MiCTAnonymizer(
        k,
        inducer=C45Classifier(prune=False, min_samples_leaf=1),
        release=release,
        complies=complies,
        shortfall=shortfall,
        **options,
    )
    assert published_rows(again.anonymize(X.iloc[order], y.iloc[order])) == published_rows(r)
    assert (tool.guarantee is None) == (r.audit.holds is None) == (release == "asis")
    if k == 1:
        return
    size, q = np.bincount(tool.stops_)[tool.stops_], np.zeros(len(X), dtype=bool)
    q[tool.averaged_] = True
    if release == "asis":
        for i, row in zip(kept, zip(*[row_cells(r.data[o]) for o in X])):
            if not q[i]:
                assert [c.value for c in row] == X.iloc[i].tolist() and all(
                    isinstance(c, Exact) for c in row
                )
        return
    if complies == "tests":
        left = size < k
        assert (~left[tool.averaged_]).sum() == len(tool.moved_) and (q[kept] | ~left[kept]).all()
        if not 0 < left.sum() < k:
            assert np.array_equal(q, left)
    groups = tool.groups_
    assert np.bincount(groups[kept]).min() >= k
    # within one leaf
    for g in set(groups[kept].tolist()) - set(groups[q].tolist()):
        assert len(set(tool.stops_[groups == g].tolist())) == 1
    if release == "within_leaf" and not len(r.lost) and options["centroid"] == "mean":
        for o in X.columns[X.columns.str.startswith("x")]:
            assert sum(c.value for c in row_cells(r.data[o])) == pytest.approx(X[o].sum(), abs=1e-9)


@one_in(2)
@given(table=people(), m=pick(1, 2, 5))
def test_neighbours_are_the_textbooks(table, m):
    X, y, _ = table
    ranges = [np.ptp(X[o]) if o[0] == "x" else None for o in X]
    found = MixedKNNClassifier(m).fit(X, y).predict_proba(X)
    for row, p in zip(X.values.tolist(), found):
        assert list(
            _textbook_knn(X.values.tolist(), y.tolist(), row, m, ranges).values()
        ) == pytest.approx(p.tolist())


# ---------------------------------------------------------------- kinds of columns


def test_integers_and_orders_stay_when_asked():
    t = pd.DataFrame(
        {
            "n": pd.Series([1, 9, 2, 4, 8, 5], dtype="int8"),
            "risk": pd.Categorical(
                ["low", "high", "low", "mid", "high", "mid"], ["low", "mid", "high"], ordered=True
            ),
        }
    )
    one, two = (
        MicroaggregationAnonymizer(k=6, keep_types=o).anonymize(t).text().iloc[0].tolist()
        for o in (False, True)
    )
    assert one == [f"~{29 / 6}", "~low"] and two == ["~5", "~mid"]
    s = MicroaggregationAnonymizer(k=3, method="mdav", keep_types=True, published=["n"]).fit(t)
    # by rank: low with mid, not with high
    assert sorted(len(set(t.risk[s.groups_ == g])) for g in (0, 1)) == [2, 2]


def test_dates_and_gaps():
    t = pd.DataFrame(
        {"day": pd.to_datetime(["2024-01-01", "2024-01-03", "2024-01-04"]), "n": [1.0, None, 3.0]}
    )
    r = MicroaggregationAnonymizer(k=3, missing="category").anonymize(t)
    assert (
        row_cells(r.data.day)[0] == Centroid(pd.Timestamp("2024-01-03"))
        and row_cells(r.data.n) == [Centroid(2.0)] * 3
    )
    most = MicroaggregationAnonymizer(k=3, missing="category").anonymize(
        t.assign(n=[1.0, None, None])
    )
    assert row_cells(most.data.n) == [Centroid(MISSING)] * 3
    assert MicroaggregationAnonymizer(k=2, missing="drop").anonymize(t).lost.tolist() == [1]


def test_enormous_and_tiny_numbers():
    t = pd.DataFrame(
        {
            "a": [-1e300, 1e300, 0.0, 1.0],
            "b": [0.0, 1e-300, 0.0, 0.0],
            "c": [2**62, 2**62 + 1, -(2**62), 0],
        }
    )
    for m in ("mdav", "vmdav"):
        assert MicroaggregationAnonymizer(k=2, method=m).anonymize(t).audit.k >= 2


# ---------------------------------------------------------------- few rows in Q


def test_q_is_topped_up_with_the_nearest_row():
    less = CUSTOMERS.drop(index=[10, 11])
    p = dict(k=3, inducer=ID3Classifier(), published=["Age"])
    tool = MiCTAnonymizer(**p).fit(less.drop(columns="Bought"), less.Bought)
    assert (
        len(tool.averaged_) == 3
        and less.index[tool.moved_].tolist()[0] in (6, 7, 8, 9)
        and tool.release_.audit.class_sizes == (3, 3, 3, 3)
    )
    lose = MiCTAnonymizer(**p, shortfall="lose").anonymize(less.drop(columns="Bought"), less.Bought)
    assert (
        less.index[lose.lost].tolist() == [1, 2]
        and "fewer than k rows lost" in MiCTAnonymizer(**p, shortfall="lose").guarantee
    )


def test_where_no_leaf_can_spare_a_row_the_nearest_joins():
    t = pd.DataFrame({"c": list("aaabbbc"), "x": [0, 0, 0, 1, 1, 1, 1]})
    tool = MiCTAnonymizer(
        k=3, inducer=C45Classifier(prune=False, min_samples_leaf=1), published=["x"]
    ).fit(t, list("nnnyyyn"))
    assert tool.release_.audit.class_sizes == (3, 4) and len(tool.moved_) == 3


def test_a_constraint_moves_whole_leaves():
    tool = MiCTAnonymizer(k=3, constraints=[LDiversity(2)]).fit(SHOP, BOUGHT)
    assert (
        tool.release_.audit.l_distinct >= 2
        and tool.release_.audit.holds
        and len(tool.averaged_) >= 10
    )


# ---------------------------------------------------------------- messages, and what is kept


@pytest.mark.parametrize("cls", [MicroaggregationAnonymizer, MiCTAnonymizer])
def test_what_cannot_be_done(cls):
    with pytest.raises(ValueError, match="'k' must not exceed the number of rows"):
        cls(k=15).fit(SHOP, BOUGHT)
    with pytest.raises(ValueError, match="must have no missing values"):
        cls(k=3).fit(SHOP.assign(Age=SHOP.Age.where(SHOP.Age < 80)), BOUGHT)
    with pytest.raises(ValueError, match="must hold finite numbers"):
        cls(k=3).fit(SHOP.assign(Age=SHOP.Age.replace(80, np.inf)), BOUGHT)
    for name, bad in dict(
        method="mdav2k", gamma=-1, cat_weight=0, centroid="mode", keep_types=1, blocks=0
    ).items():
        with pytest.raises(ValueError, match=f"'{name}'"):
            cls(k=3, **{name: bad}).fit(SHOP, BOUGHT)


def test_what_mict_cannot_do():
    for name in ("release", "complies", "shortfall"):
        with pytest.raises(ValueError, match=f"'{name}'"):
            MiCTAnonymizer(k=3, **{name: "?"}).fit(SHOP, BOUGHT)
    with pytest.raises(ValueError, match="'constraints' cannot be kept"):
        MiCTAnonymizer(k=3, release="asis", constraints=[LDiversity(2)]).fit(SHOP, BOUGHT)
    with pytest.raises(ValueError, match="'inducer' must ask quasi-identifiers only"):
        MiCTAnonymizer(
            k=3, published=["Gender", "Marital"], inducer=C45Classifier().fit(SHOP, BOUGHT).tree_
        ).fit(SHOP, BOUGHT)
    with pytest.raises(TypeError, match="'inducer' must be a classifier"):
        MiCTAnonymizer(k=3, inducer=3).fit(SHOP, BOUGHT)
    for bad in (0, 1.5, True):
        with pytest.raises(ValueError, match="'n_neighbors'"):
            MixedKNNClassifier(bad).fit(SHOP, BOUGHT)


def test_the_literal_release_is_written_and_says_what_it_is(tmp_path):
    r = MiCTAnonymizer(k=3, release="asis").anonymize(SHOP, BOUGHT)
    assert (
        r.audit.promise is None
        and r.audit.warnings[-1]
        == "nothing is promised: 10 of 14 rows are alike with fewer than k = 3"
        and r.audit.warnings[-1] in str(r.audit)
    )
    r.to_csv(tmp_path / "out.csv")
    assert read_release(tmp_path / "out.csv").text().equals(r.text())


@pytest.mark.parametrize(
    "release, can", [("within_leaf", True), ("suppress", False), ("asis", False)]
)
def test_new_rows(release, can):
    tool = MiCTAnonymizer(k=3, release=release).fit(SHOP, BOUGHT)
    if not can:
        with pytest.raises(TypeError, match="cannot recode new rows"):
            tool.transform(SHOP)
        return
    back = pickle.loads(pickle.dumps(tool))
    assert set(map(tuple, back.transform(SHOP).astype(str).values)) <= set(
        map(tuple, tool.release_.data.astype(str).values)
    )
    new = back.transform(
        pd.DataFrame({"Gender": ["Female"], "Marital": ["Not Married"], "Age": [20]})
    )
    assert row_cells(new.Age) == [Centroid(109 / 3)]
    with pytest.raises(ValueError, match="must hold numbers"):
        tool.transform(SHOP.assign(Age="old"))


# ---------------------------------------------------------------- who is found


def by_trying(rows, published, ranges):
    """Chance that each is found: all published rows measured one by one"""

    def d(u, v):
        return round(
            sum(
                (a != b) * 1.0 if r is None else ((a - b) / (r or 1)) ** 2
                for a, b, r in zip(u, v, ranges)
            ),
            12,
        )

    res = []
    for i, u in enumerate(rows):
        far = [d(u, v) for v in published]
        near = [j for j, o in enumerate(far) if o <= min(far) + 1e-12]
        res.append((i in near) / len(near))
    return res


@one_in(3)
@given(table=people(24), method=pick("vmdav", "mdav"))
def test_linkage_by_trying(table, method):
    X, _, k = table
    data = MicroaggregationAnonymizer(k=k, method=method).anonymize(X).data
    published = pd.DataFrame(
        {
            o: [
                next(iter(c.values)) if isinstance(c, Exact) else c.value
                for c in row_cells(data[o])
            ]
            for o in X
        }
    )
    ranges = [np.ptp(published[o].astype(float)) if o[0] == "x" else None for o in X]
    found = record_linkage(X, data)
    assert (
        np.allclose(found, by_trying(X.values.tolist(), published.values.tolist(), ranges))
        and (found <= 1 / k + 1e-9).all()
    )
    some = np.arange(len(X))[::2]
    assert np.array_equal(record_linkage(X, data, some), found[some])


def test_linkage_of_what_is_not_changed():
    X = pd.DataFrame({"a": [1, 1, 2, 3], "b": ["x", "x", "y", "y"]})
    assert record_linkage(X, X).tolist() == [0.5, 0.5, 1, 1]
    hidden = X.assign(b=pd.Categorical([Suppressed()] * 4))
    assert (
        record_linkage(X, hidden).tolist() == [0.5, 0.5, 1, 1]
        and record_linkage(X, hidden[["b"]]).tolist() == [0.25] * 4
    )


@pytest.mark.parametrize(
    "given_, says",
    [
        (dict(published=pd.DataFrame({"a": [1]})), "leave the lost rows out"),
        (dict(published=pd.DataFrame({"c": [1, 2]})), "none named 'c'"),
        (dict(rows=[2]), "positions from 0 to 1"),
        (dict(rows=[0.5]), "positions"),
        (dict(cat_weight=0), "'cat_weight'"),
        (
            dict(original=pd.DataFrame({"a": []}), published=pd.DataFrame({"a": []})),
            "at least one row|no rows|empty",
        ),
    ],
)
def test_linkage_of_what_does_not_fit(given_, says):
    with pytest.raises((ValueError, TypeError), match=says):
        record_linkage(
            **(
                dict(original=pd.DataFrame({"a": [1, 2]}), published=pd.DataFrame({"a": [1, 2]}))
                | given_
            )
        )


def test_equal_rows_are_asked_once_and_answered_alike():
    X = pd.DataFrame({"a": [1, 2, 3, 4, 5, 6], "b": ["x", "y", "x", "y", "x", "y"]})
    clf = MixedKNNClassifier(2).fit(X, ["p", "p", "q", "q", "q", "p"])
    many = pd.concat([X, X.iloc[::-1], X.iloc[[2, 2]]], ignore_index=True)
    p = clf.predict_proba(many)
    assert np.array_equal(p[:6], p[11:5:-1]) and np.array_equal(p[12], p[2])
    with pytest.raises(ValueError, match="at least one row"):
        clf.predict(X[:0])
    odd = pd.DataFrame({"a": [1, 1], "b": pd.Series([1, True], dtype=object)})
    with pytest.warns(UserWarning, match="mixes bool, int"):
        assert len(clf.predict(odd)) == 2


def test_texts_of_a_release_are_warned_of():
    texts = MiCTAnonymizer(k=3).anonymize(SHOP, BOUGHT).text()[list(SHOP)]
    with pytest.warns(UserWarning, match="learn from its data"):
        MixedKNNClassifier().fit(texts.astype({o: "str" for o in texts}), BOUGHT)
    with pytest.warns(UserWarning, match="measure from its data"):
        try:
            record_linkage(SHOP, texts)
        except ValueError:
            pass
