"""Trees of scikit-learn, within pipelines, searches, forests and learners behind anonymizers"""

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppdt.c45 import C45Classifier
from ppdt.encoder import ReleaseEncoder
from ppdt.engine.model_audit import routed_counts
from ppdt.learners import DrawnClassifier, NaiveBayesClassifier
from ppdt.models import audit_model, spans
from ppdt.mondrian import MondrianAnonymizer
from ppdt.release import AnonymizedClassifier
from ppdt.trees import from_tree, plot_tree, tree_rules, tree_text


def a_table(seed, n=40):
    """Numbers and words that predict a class"""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "hours": rng.integers(1, 9, n) * 5.0,
            "job": rng.choice(["clerk", "cook", "nurse"], n),
        }
    )
    y = np.where((X.age > 40) ^ (X.job == "cook"), "yes", "no")
    y[:2] = ["yes", "no"]
    return X, y


@one_in(2)
@given(st.integers(0, 2**32 - 1))
def test_a_tree_answers_as_its_original(seed):
    X, y = a_table(seed)
    N = X[["age", "hours"]]
    clf = DecisionTreeClassifier(random_state=seed % 1000).fit(N, y)
    tree = from_tree(clf)
    again = C45Classifier.from_tree(tree)
    assert again.predict(N).tolist() == clf.predict(N).tolist()
    np.testing.assert_allclose(again.predict_proba(N), clf.predict_proba(N))
    assert tree.counts[0].sum() == len(N) and tree.names == ["age", "hours"]
    leaves = tree.attribute < 0
    assert len(tree_rules(tree)) == leaves.sum() and "age" in tree_text(tree)


def encoded():
    return make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")


def tree_of(depth=3):
    return DecisionTreeClassifier(max_depth=depth, random_state=0)


def test_what_stands_around_a_tree():
    X, y = a_table(0)
    pipe = make_pipeline(encoded(), tree_of()).fit(X, y)
    names = list(pipe[:-1].get_feature_names_out())
    plain = from_tree(pipe)
    assert plain.names == names
    search = GridSearchCV(pipe, {"decisiontreeclassifier__max_depth": [3]}, cv=2).fit(X, y)
    np.testing.assert_array_equal(from_tree(search).threshold, plain.threshold)
    inside = make_pipeline(encoded(), GridSearchCV(tree_of(), {"max_depth": [3]}, cv=2))
    np.testing.assert_array_equal(from_tree(inside.fit(X, y)).threshold, plain.threshold)
    behind = AnonymizedClassifier(MondrianAnonymizer(k=3), C45Classifier()).fit(X, y)
    assert from_tree(behind) is behind.classifier_.tree_
    encoder = make_pipeline(ReleaseEncoder(), tree_of())
    behind = AnonymizedClassifier(MondrianAnonymizer(k=3), encoder).fit(X, y)
    assert from_tree(behind).names == ["age", "hours", "job_clerk", "job_cook", "job_nurse"]
    drawn = DrawnClassifier(tree_of(), random_state=0).fit(X, y)
    assert from_tree(drawn).names == from_tree(behind).names
    plot_tree(from_tree(drawn))


PEOPLE = ["age", "hours", "job"]


def by_hand(model, X, y, columns):
    """The audit of the tree itself"""
    return audit_model(model, X, PEOPLE[:1], y=y, columns=columns)


def same(a, b):
    assert (a.k, a.populations, a.exposed, a.confidence) == (
        b.k,
        b.populations,
        b.exposed,
        b.confidence,
    )


@pytest.mark.parametrize("seed", range(3))
def test_audits_open_what_stands_around_a_tree(seed):
    X, y = a_table(seed)
    pipe = make_pipeline(encoded(), tree_of()).fit(X, y)
    expected = by_hand(pipe[-1], X, y, pipe[0])
    search = GridSearchCV(pipe, {"decisiontreeclassifier__max_depth": [3]}, cv=2).fit(X, y)
    same(audit_model(search, X, PEOPLE[:1], y=y), expected)
    for missing in ("impute", "mode", "indicator"):
        own = make_pipeline(ReleaseEncoder(missing=missing), tree_of()).fit(X, y)
        # the same indicators in another order
        other = make_pipeline(
            make_column_transformer(("passthrough", ["age", "hours"]), (OneHotEncoder(), ["job"])),
            tree_of(),
        ).fit(X, y)
        np.testing.assert_array_equal(own[-1].tree_.threshold, other[-1].tree_.threshold)
        same(audit_model(own, X, PEOPLE[:1], y=y), audit_model(other, X, PEOPLE[:1], y=y))
    bounds = make_pipeline(ReleaseEncoder(numeric="bounds"), tree_of()).fit(X, y)
    assert audit_model(bounds, X, PEOPLE[:1], y=y).k >= 1
    behind = AnonymizedClassifier(MondrianAnonymizer(k=3), C45Classifier()).fit(X, y)
    same(
        audit_model(behind, X, PEOPLE[:1], y=y),
        audit_model(behind.classifier_, X, PEOPLE[:1], y=y),
    )
    drawn = DrawnClassifier(tree_of(), random_state=0).fit(X, y)
    same(
        audit_model(drawn, X, PEOPLE[:1], y=y),
        audit_model(drawn.classifier_, X, PEOPLE[:1], y=y, columns=drawn.encoder_),
    )


@one_in(3)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["impute", "mode"]))
def test_people_with_gaps_end_where_the_encoder_sends_them(seed, missing):
    "The spans of exact people, all columns known, are the leaves that predict reaches"
    X, y = a_table(seed)
    rng = np.random.default_rng(seed)
    lost = rng.random(len(X)) < 0.3
    lost[0] = True
    X["hours"] = X.hours.where(~lost)
    X.loc[rng.random(len(X)) < 0.2, "job"] = None
    pipe = make_pipeline(ReleaseEncoder(missing=missing), tree_of(4)).fit(X, y)
    leaf = pipe[-1].apply(pipe[0].transform(X).astype(np.float32))
    s = spans(pipe, X, ["age"], y=y)
    routed = routed_counts(s, X, None)[:, 0]
    at = np.bincount(leaf, minlength=len(routed))
    leaves = pipe[-1].tree_.children_left < 0
    np.testing.assert_allclose(routed[leaves], at[leaves])


ENSEMBLES = [
    RandomForestClassifier(4, max_depth=3, random_state=0),
    ExtraTreesClassifier(4, max_depth=3, random_state=0),
    BaggingClassifier(tree_of(), 4, random_state=0),
    BaggingClassifier(tree_of(), 4, max_features=1, random_state=0),
    AdaBoostClassifier(tree_of(2), n_estimators=4, random_state=0),
    GradientBoostingClassifier(n_estimators=4, max_depth=2, random_state=0),
]


@pytest.mark.parametrize("ensemble", ENSEMBLES, ids=lambda o: str(o)[:40])
@pytest.mark.parametrize("classes", ["yes", 1])
def test_the_worst_tree_of_an_ensemble(ensemble, classes):
    X, y = a_table(1)
    N = X[["age", "hours"]]
    if classes == 1:
        y = np.where(y == "yes", 2, 1)
    ensemble.fit(N, y)
    found = audit_model(ensemble, N, ["age"], y=y)
    trees = np.ravel(np.array(ensemble.estimators_, dtype=object)).tolist()
    features = getattr(ensemble, "estimators_features_", [[0, 1]] * len(trees))
    ks = []
    for tree, own in zip(trees, features):
        names = {f"x{i}": N.columns[j] for i, j in enumerate(own)}
        regression = isinstance(tree, DecisionTreeRegressor)
        if regression or len(own) < 2:
            given_y = None
        elif isinstance(ensemble, AdaBoostClassifier):
            given_y = y
        else:
            given_y = np.searchsorted(ensemble.classes_, y)
        ks.append(audit_model(tree, N, ["age"], y=given_y, columns=names).k)
    assert found.k == min(ks)
    assert f"of {len(trees)}, the worst of them" in found.warnings[0]
    assert found.exposed is not None and found.class_counts.sum() == len(N)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeRegressor(max_depth=3),
        RandomForestRegressor(3, max_depth=3, random_state=0),
        GradientBoostingRegressor(n_estimators=3, random_state=0),
    ],
)
def test_trees_that_answer_with_numbers(model):
    X, _ = a_table(2)
    model.fit(X[["age"]], X.hours)
    a = audit_model(model, X[["age"]], ["age"])
    assert a.k >= 1 and a.exposed is None and a.certain_published is None
    assert any("comes without counts" in o for o in a.warnings)
    with pytest.raises(ValueError, match="'y' must be None for a tree that answers with numbers"):
        audit_model(model, X[["age"]], ["age"], y=X.hours)


def test_a_regression_tree_has_the_spans_of_its_leaves():
    X, _ = a_table(2)
    model = DecisionTreeRegressor(max_depth=3).fit(X[["age"]], X.hours)
    sizes = np.unique(model.apply(X[["age"]]), return_counts=True)[1]
    a = audit_model(model, X[["age"]], ["age"])
    assert sorted(a.populations) == sorted(sizes.tolist())


def test_what_is_not_opened_says_what_to_pass():
    X, y = a_table(0)
    N = X[["age", "hours"]]
    hist = HistGradientBoostingClassifier(max_iter=2).fit(N, y)
    for model, text in (
        (hist, "Got HistGradientBoostingClassifier, which does not show its trees: audit"),
        (NaiveBayesClassifier().fit(X, y), "'tree' must be a Tree"),
        (DrawnClassifier(hist, n_draws=1, random_state=0).fit(X, y), "Got HistGradient"),
        (BaggingClassifier(NaiveBayesClassifier(), 2).fit(N, y), "estimators_.0. is a NaiveBayes"),
    ):
        with pytest.raises(TypeError, match=text):
            audit_model(model, X, ["age"], y=y)
    days = X.assign(day=pd.Timestamp("2024-01-01") + pd.to_timedelta(X.age, unit="D"))
    pipe = make_pipeline(ReleaseEncoder(), tree_of()).fit(days[["day"]], y)
    with pytest.raises(ValueError, match="Column 'day' must hold the numbers.*Got dates"):
        audit_model(pipe, days[["day"]], ["day"], y=y)
    ordinal = make_pipeline(OrdinalEncoder(), tree_of()).fit(X[["job"]], y)
    assert audit_model(ordinal, X[["job"]], ["job"], y=y).k >= 1
