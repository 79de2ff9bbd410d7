"""A draw is one of the tables that the release allows, the same for a table and its file."""

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from random_tables import row_cells
from registry import ANONYMIZERS, REGISTRY, tasks
from scipy.stats import chisquare
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppdt.datasets import make_population
from ppdt.encoder import draw
from ppdt.engine.drawn_learners import weight_parameter
from ppdt.engine.draws import draw_each, drawn_between
from ppdt.learners import DrawnClassifier, DrawnRegressor, SetForestClassifier, certain
from ppdt.models import audit_model
from ppdt.mondrian import MondrianAnonymizer
from ppdt.release import read_release
from ppdt.tables import (
    MISSING,
    Centroid,
    Exact,
    Interval,
    Node,
    Suppressed,
    ValueSet,
    cell_column,
)

every_method = pytest.mark.parametrize("cls", list(ANONYMIZERS), ids=lambda o: o.__name__)


def is_missing(v):
    return v is None or v != v


def fits(cell, v, leaves):
    """May the cell have been this value? In the plainest way; a star and a gap may be missing"""
    if cell is None:
        return is_missing(v)
    if isinstance(cell, Suppressed):
        return True
    if isinstance(cell, Interval):
        return cell.lo <= v <= cell.hi and (v < cell.hi or not cell.hi_open)
    if isinstance(cell, Node):
        return v in leaves(cell) or is_missing(v)
    if isinstance(cell, Centroid) and cell.value is not MISSING:
        return v == cell.value or not isinstance(v, str)  # a mean beside stars is moved
    values = {MISSING} if isinstance(cell, Centroid) else cell.values
    return v in values or (MISSING in values and is_missing(v))


@every_method
@one_in(25)
@given(data=st.data())
def test_every_drawn_value_is_possible(cls, data):
    X, y, p = data.draw(tasks(cls))
    try:
        r = cls(**p).anonymize(X, y)
    except ValueError as e:
        assert any(o in str(e) for o in REGISTRY[cls].impossible)
        return
    qi = list(r.roles.quasi_identifiers)
    data = r.data[qi]
    trees = {o: r.taxonomies[o] for o in qi if o in r.taxonomies}
    drawn = draw(data, 2, 0, y=r.y, taxonomies=trees, categorical=p["categorical"])
    assert len(drawn.X) == len(drawn.sample_weight) == 2 * len(data)
    assert set(drawn.sample_weight) <= {0.5}
    numbered = data.reset_index(drop=True)
    plain_y = None if r.y is None else r.y.to_numpy()
    again = draw(numbered, 2, 0, y=plain_y, taxonomies=trees, categorical=p["categorical"])
    for name in qi:
        leaves = trees[name].leaves if name in trees else None
        held = row_cells(numbered[name])
        for row, v in again.X[name].items():
            assert fits(held[row], v, leaves), (held[row], v)
    assert again.X.astype(str).to_numpy().tolist() == drawn.X.astype(str).to_numpy().tolist()


POPULATION = make_population(400, 0)
SHOWN = POPULATION[["age", "education", "region", "hours"]]
RELEASE = MondrianAnonymizer(k=10).anonymize(SHOWN, POPULATION["income"])


def test_a_table_and_its_file_give_the_same_draws(tmp_path):
    RELEASE.to_csv(tmp_path / "r.csv")
    back = read_release(tmp_path / "r.csv")
    a, b = (draw(o, 3, random_state=1) for o in (RELEASE, back))
    assert a.X.astype(str).to_numpy().tolist() == b.X.astype(str).to_numpy().tolist()
    assert a.y.tolist() == b.y.tolist()


def test_the_order_of_rows_does_not_matter():
    at = np.random.default_rng(0).permutation(400)
    a = draw(RELEASE.data, 2, 0, y=RELEASE.y)
    b = draw(RELEASE.data.iloc[at], 2, 0, y=RELEASE.y.iloc[at])
    assert a.X.to_numpy().tolist() == b.X.to_numpy().tolist()


def test_more_draws_begin_with_fewer():
    one, five = draw(RELEASE, 1, random_state=7), draw(RELEASE, 5, random_state=7)
    pd.testing.assert_frame_equal(one.X, five.X.iloc[:400])


def test_raw_rows_are_what_they_are():
    X = draw(SHOWN, 1, 0).X.sort_index()
    assert X.to_numpy().tolist() == SHOWN.to_numpy().tolist()


def test_members_are_equally_likely_or_by_their_shares():
    cells = [ValueSet(["a", "b"]), Exact("a"), Exact("b")]
    data = pd.DataFrame({"x": cell_column(np.repeat([0, 1, 2], [3000, 900, 100]), cells)})
    for weights, shares in (("uniform", [0.5, 0.5]), ("distribution", [0.6, 0.4])):
        X = draw(data, 1, 0, weights=weights).X.sort_index().x[:3000]
        counts = [int((X == v).sum()) for v in "ab"]
        # the sets count a half each: 2,400 of 4,000 are "a"
        assert chisquare(counts, np.multiply(shares, 3000)).pvalue > 0.001


def test_a_star_is_like_the_rest_of_its_column():
    cells = [Suppressed(), Exact(1), Exact(5)]
    data = pd.DataFrame({"x": cell_column(np.repeat([0, 1, 2], [3000, 900, 100]), cells)})
    X = draw(data, 1, 0).X.sort_index()
    counts = [int((X.x[:3000] == v).sum()) for v in (1, 5)]
    assert chisquare(counts, [2700, 300]).pvalue > 0.001
    stars = pd.DataFrame({"x": cell_column([0, 0], [Suppressed()])})
    assert draw(stars, 1, 0).X.x.isna().all()


numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(numbers, min_size=1, max_size=6), st.booleans())
def test_means_are_spread_as_widely_as_among_themselves_beside_a_star(means, star):
    held = [*map(Centroid, dict.fromkeys(means)), *[Suppressed()] * star]
    data = pd.DataFrame({"x": cell_column(list(range(len(held))), held, name="x")})
    X, back = (draw(t, 3, 0).X.x for t in (data, data.iloc[::-1].reset_index(drop=True)))
    assert np.isfinite(X.astype(float)).all() and X.tolist() == back.tolist()
    n = len(held) - star
    with np.errstate(over="ignore", invalid="ignore"):
        half = np.sqrt(3) * np.std([c.value for c in held[:n]])
    for i, c in enumerate(held[:n]):
        far = abs(X[i].to_numpy(dtype=float) / 2 - c.value / 2)
        assert not far.any() if not star else not half < np.inf or (far <= half * 0.51).all()


def test_dates_that_stand_for_batches_stay_dates():
    days = [Centroid(pd.Timestamp("2001-01-01")), Centroid(pd.Timestamp("2001-01-11"))]
    data = pd.DataFrame({"x": cell_column([0, 1, 2], [*days, Suppressed()], name="x")})
    X = draw(data, 50, 0).X.x[0]
    width = pd.Timedelta(days=5 * 3**0.5)
    assert X.dtype.kind == "M" and X.nunique() > 40
    assert X.between(days[0].value - width, days[0].value + width).all()


@given(
    st.floats(-1e6, 1e6), st.floats(0, 1e6), st.booleans(), st.booleans(), st.floats(0, 0.999999)
)
def test_numbers_lie_between_the_ends(lo, width, hi_open, whole, u):
    hi = lo + width
    one = [np.array([o]) for o in (lo, hi)]
    v = drawn_between(*one, np.array([hi_open]), whole, np.array([u]))[0]
    assert lo <= v <= hi
    if whole and np.floor(hi) - np.ceil(lo) >= 1:
        assert v == np.floor(v)
    if whole and hi_open and v == np.floor(v) and width > 1:
        assert v < hi


# ---------- classifiers on draws
def test_an_answer_does_not_depend_on_the_other_rows():
    tree = DrawnClassifier(DecisionTreeClassifier(random_state=0), random_state=0)
    tree.fit(RELEASE.data, RELEASE.y)
    every = tree.predict_proba(RELEASE.data)
    some = tree.predict_proba(RELEASE.data.iloc[5:9])
    assert np.array_equal(every[5:9], some)
    assert np.array_equal(tree.predict_proba(RELEASE.data), every)


def test_draws_of_asked_rows_cover_a_set():
    data = pd.DataFrame({"x": cell_column([0, 1], [ValueSet(list("abcde")), Exact("c")])})
    tables = draw_each(data, 5)
    assert sorted(t.x[0] for t in tables) == list("abcde")
    assert {t.x[1] for t in tables} == {"c"}


def test_a_learner_without_probabilities_votes():
    svc = DrawnClassifier(LinearSVC(), random_state=0).fit(RELEASE.data, RELEASE.y)
    assert not hasattr(svc, "predict_proba")
    assert set(svc.predict(RELEASE.data)) <= set(RELEASE.y)
    assert svc.score(SHOWN, POPULATION["income"]) > 0.5


def test_weights_reach_the_last_step():
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    assert weight_parameter(pipe) == "logisticregression__sample_weight"
    w = (POPULATION["income"] == POPULATION["income"].iloc[0]).to_numpy(float)
    tree = DrawnClassifier(pipe, random_state=0)
    only = tree.fit(RELEASE.data, RELEASE.y, w + 1e-9).predict(SHOWN)
    assert set(only) == {POPULATION["income"].iloc[0]}
    neighbours = DrawnClassifier(KNeighborsClassifier())
    with pytest.raises(ValueError, match="'sample_weight' must be None for KNeighborsClassifier"):
        neighbours.fit(RELEASE.data, RELEASE.y, w)
    assert neighbours.fit(RELEASE.data, RELEASE.y).predict(SHOWN).shape == (400,)


def test_draws_by_the_class_prefer_what_the_class_says():
    # rows of one value say that a is yes and b is no; the sets do not say
    cells = [ValueSet(["a", "b"]), Exact("a"), Exact("b")]
    y = np.array(["yes"] * 50 + ["no"] * 50 + ["yes"] * 300 + ["no"] * 300)
    codes = np.repeat([0, 1, 2], [100, 300, 300])
    data = pd.DataFrame({"x": cell_column(codes, cells)})
    tree = DrawnClassifier(DecisionTreeClassifier(), weights="posterior", random_state=0)
    chances = {}
    for weights in ("uniform", "posterior"):
        tree.set_params(weights=weights).fit(data, y)
        chances[weights] = tree.predict_proba(pd.DataFrame({"x": ["a", "b"]}))[:, 1]
    assert chances["posterior"][0] > 0.98 > chances["uniform"][0]
    assert chances["posterior"][1] < 0.02 < chances["uniform"][1]
    assert (tree.predict(data[100:]) == y[100:]).all()


def test_draws_by_the_class_are_the_same_for_a_file_and_twice(tmp_path):
    RELEASE.to_csv(tmp_path / "r.csv")
    back = read_release(tmp_path / "r.csv")
    tree = DrawnClassifier(DecisionTreeClassifier(random_state=0), weights="posterior")
    tree.set_params(random_state=3)
    a, b, c = (tree.fit(o.data, o.y).predict_proba(SHOWN) for o in (RELEASE, back, RELEASE))
    assert np.array_equal(a, b) and np.array_equal(a, c)
    with pytest.raises(ValueError, match="classifier without predict_proba"):
        DrawnClassifier(LinearSVC(), weights="posterior").fit(RELEASE.data, RELEASE.y)


@pytest.mark.parametrize(
    "p, error, message",
    [
        (dict(n_draws=0), ValueError, "'n_draws' must be at least 1. Got 0"),
        (dict(n_draws=2.5), TypeError, "'n_draws' must be a whole number"),
        (dict(n_draws=True), TypeError, "'n_draws' must be a whole number"),
        (dict(weights="shares"), ValueError, "'weights' must be 'uniform' or 'distribution'"),
        (dict(classifier=DecisionTreeClassifier), TypeError, "an object and not the class"),
        (dict(classifier=3), TypeError, "'classifier' must be an estimator with predict"),
        (dict(random_state="x"), TypeError, "'random_state' must be a whole number"),
        (dict(categorical="age"), TypeError, "'categorical' must be a list of column names"),
        (dict(categorical=["nobody"]), ValueError, "'categorical' must name columns"),
    ],
)
def test_bad_parameters(p, error, message):
    with pytest.raises(error, match=message):
        DrawnClassifier(**p).fit(RELEASE.data, RELEASE.y)


def test_a_regressor_has_no_classes():
    with pytest.raises((AttributeError, ValueError)):
        DrawnClassifier(LinearRegression()).fit(RELEASE.data, RELEASE.y)


# ---------- a forest
def grown(**p):
    return SetForestClassifier(**{"n_estimators": 6, "random_state": 0, **p})


def test_the_forest_of_a_table_and_of_its_file(tmp_path):
    RELEASE.to_csv(tmp_path / "r.csv")
    back = read_release(tmp_path / "r.csv")
    a, b = (grown().fit(o.data, o.y).predict_proba(SHOWN) for o in (RELEASE, back))
    assert np.array_equal(a, b)


def test_each_tree_of_a_forest_has_its_own_table():
    forest = grown(max_features=None).fit(RELEASE.data, RELEASE.y)
    shapes = {tuple(o.tree_.threshold) for o in forest.estimators_}
    assert len(shapes) == 6
    # on raw rows there is nothing to draw, and without a choice of columns nothing else by chance
    raw = grown(max_features=None, min_samples_leaf=20).fit(SHOWN, POPULATION["income"])
    assert len({o.tree_.node_count for o in raw.estimators_}) == 1


def test_a_forest_answers_each_row_by_itself():
    forest = grown().fit(RELEASE.data, RELEASE.y)
    every = forest.predict_proba(RELEASE.data)
    assert np.array_equal(forest.predict_proba(RELEASE.data.iloc[5:9]), every[5:9])
    assert np.allclose(every.sum(axis=1), 1)
    assert (forest.classes_[np.round(every, 9).argmax(1)] == forest.predict(RELEASE.data)).all()


def test_threads_do_not_change_a_forest():
    one, two = (grown(n_jobs=n).fit(RELEASE.data, RELEASE.y) for n in (1, 2))
    assert np.array_equal(one.predict_proba(SHOWN), two.predict_proba(SHOWN))


def test_a_weight_of_zero_leaves_a_row_out_of_a_forest():
    first = POPULATION["income"].iloc[0]
    w = (POPULATION["income"] == first).to_numpy(float)
    forest = grown().fit(RELEASE.data, RELEASE.y, w)
    assert (forest.predict(SHOWN) == first).all()
    assert len(forest.classes_) == 2


@pytest.mark.parametrize(
    "p, error, message",
    [
        (dict(n_estimators=0), ValueError, "'n_estimators' must be a whole number of at least 1"),
        (dict(n_estimators=2.0), ValueError, "'n_estimators' must be a whole number"),
        (dict(weights="shares"), ValueError, "'weights' must be 'uniform' or 'distribution'"),
        (dict(random_state="x"), TypeError, "'random_state' must be a whole number"),
        (dict(categorical="age"), TypeError, "'categorical' must be a list of column names"),
        (dict(min_samples_leaf=0), ValueError, "'min_samples_leaf'"),
        (dict(max_features="all"), ValueError, "'max_features'"),
        (dict(max_depth=0), ValueError, "'max_depth'"),
    ],
)
def test_bad_parameters_of_a_forest(p, error, message):
    with pytest.raises(error, match=message):
        grown(**p).fit(RELEASE.data, RELEASE.y)


# ---------- calibration
@pytest.mark.parametrize("cls", [DrawnClassifier, SetForestClassifier])
def test_chances_are_calibrated_by_scikit_learn(cls):
    p = {"n_estimators": 6} if cls is SetForestClassifier else {}
    reader = CalibratedClassifierCV(cls(random_state=0, **p), cv=3, ensemble=False)
    reader.fit(RELEASE.data, RELEASE.y)
    chances = reader.predict_proba(SHOWN)
    assert np.allclose(chances.sum(axis=1), 1) and len(reader.calibrated_classifiers_) == 1
    assert chances.max() < 1 and reader.score(SHOWN, POPULATION["income"]) > 0.6


def test_readers_of_draws_take_a_release_alone_and_are_opened():
    people = make_population(300, 0)[["age", "hours", "region", "income"]]
    X, y = people.drop(columns="income"), people.income
    r = MondrianAnonymizer(5).anonymize(X, y)
    for clf in (
        DrawnClassifier(DecisionTreeClassifier(max_depth=3, random_state=0), random_state=0),
        SetForestClassifier(5, random_state=0),
    ):
        alone, given = clone(clf).fit(r), clone(clf).fit(r.data, r.y)
        assert (alone.predict_proba(X) == given.predict_proba(X)).all()
        assert audit_model(alone, X, y=y).k >= 1
    with pytest.raises(TypeError, match="SetForestClassifier"):
        certain(alone, X)


# ---------- numbers
PAY = (POPULATION["hours"] * 2 + POPULATION["age"]).astype(float).rename("pay")
PAID = MondrianAnonymizer(k=5).anonymize(SHOWN, PAY)


def regressor(**p):
    tree = DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
    return DrawnRegressor(**{"regressor": tree, "random_state": 0, **p})


def test_numbers_are_learnt_from_draws(tmp_path):
    clf = regressor().fit(PAID)
    assert clf.score(SHOWN, PAY) > 0.6
    given = clone(clf).fit(PAID.data, PAID.y)
    assert (given.predict(PAID.data) == clf.predict(PAID.data)).all()
    PAID.to_csv(tmp_path / "r.csv")
    back = clone(clf).fit(read_release(tmp_path / "r.csv"))
    assert (back.predict(SHOWN) == clf.predict(SHOWN)).all()
    one_by_one = [clf.predict(PAID.data[i : i + 1])[0] for i in range(5)]
    assert one_by_one == clf.predict(PAID.data[:5]).tolist()


def test_raw_rows_are_learnt_as_they_are():
    raw = regressor(n_draws=1).fit(SHOWN, PAY)
    plain = make_pipeline(raw.encoder_, DecisionTreeRegressor(min_samples_leaf=5, random_state=0))
    assert np.isclose(raw.predict(SHOWN).mean(), plain.fit(SHOWN, PAY).predict(SHOWN).mean())


def test_weights_of_numbers():
    w = np.where(PAY > PAY.median(), 0.0, 1.0)
    heavy = regressor(regressor=DummyRegressor()).fit(SHOWN, PAY, sample_weight=w)
    assert np.isclose(heavy.predict(SHOWN[:1])[0], PAY[w > 0].mean())
    with pytest.raises(ValueError, match="takes no weights"):
        regressor(regressor=KNeighborsRegressor()).fit(SHOWN, PAY, sample_weight=w)


@pytest.mark.parametrize(
    "p, y, error, message",
    [
        (dict(regressor=DecisionTreeRegressor), PAY, TypeError, "an object and not the class"),
        (dict(regressor=None, n_draws=0), PAY, ValueError, "'n_draws' must be at least 1"),
        (dict(weights="posterior"), PAY, ValueError, "'weights' must be 'uniform' or"),
        ({}, POPULATION["income"], ValueError, "'y' must hold numbers.*DrawnClassifier"),
        ({}, PAY.where(PAY > 100), ValueError, "'y' must hold finite numbers"),
        ({}, None, ValueError, "'y' must be the number of each row"),
    ],
)
def test_bad_parameters_of_a_regressor(p, y, error, message):
    with pytest.raises(error, match=message):
        regressor(**p).fit(SHOWN, y)
