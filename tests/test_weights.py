"""Weights of rows and of classes: 2 counts as two equal rows, 0 as none"""

import numpy as np
import pandas as pd
import pytest
import sklearn
from examples import one_in
from hypothesis import assume, given, strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from ppdt.c45 import C45Classifier, ID3Classifier, PARTClassifier
from ppdt.datasets import make_population
from ppdt.encoder import ReleaseEncoder
from ppdt.id3_sets import GeneralizedID3Classifier
from ppdt.kadet import KADETClassifier
from ppdt.learners import NaiveBayesClassifier
from ppdt.mict import MixedKNNClassifier
from ppdt.mondrian import MondrianAnonymizer
from ppdt.release import AnonymizedClassifier
from ppdt.tables import Exact, Interval, ValueSet, cell_column

CATEGORIES = [
    ID3Classifier(),
    ID3Classifier(max_depth=1),
    GeneralizedID3Classifier(convert="fractional"),
    GeneralizedID3Classifier(convert="most_frequent"),
    GeneralizedID3Classifier(entropy="own_value"),
    GeneralizedID3Classifier(random_state=0),
]
NUMBERS = [
    C45Classifier(),
    C45Classifier(min_samples_leaf=1, prune=False),
    C45Classifier(binary_splits=True, subtree_raising=False),
    C45Classifier(max_depth=2, class_weight="balanced"),
    PARTClassifier(),
    PARTClassifier(prune=False, class_weight={"u": 2}),
    NaiveBayesClassifier(),
    MixedKNNClassifier(n_neighbors=4),
]


def a_table(seed, gaps=False):
    """A small table of numbers, few and many values, and a class"""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 40))
    X = pd.DataFrame(
        {
            "a": rng.choice([1.0, 2, 5, 9], n),
            "b": rng.choice(list("xyz"), n),
            "c": rng.random(n).round(1),
        }
    )
    y = np.where((X.a > 2) ^ (rng.random(n) < 0.3), "u", "v")
    y[0] = "w"
    if gaps:
        X.loc[rng.random(n) < 0.2, "c"] = np.nan
        X.loc[rng.random(n) < 0.2, "b"] = None
    return X, y, rng.integers(0, 4, n)


def agree(clf, X, y, w, asked):
    """Weights and repeated rows give the same answers"""
    if not w.any():
        return
    at = np.repeat(np.arange(len(X)), w)
    one = sklearn.clone(clf).fit(X, y, sample_weight=w)
    many = sklearn.clone(clf).fit(X.iloc[at], y[at])
    assert one.classes_.tolist() == many.classes_.tolist()
    np.testing.assert_allclose(
        one.predict_proba(asked), many.predict_proba(asked), rtol=1e-7, atol=1e-9
    )
    if hasattr(one, "tree_"):
        np.testing.assert_array_equal(one.tree_.attribute, many.tree_.attribute)
        np.testing.assert_allclose(one.tree_.counts, many.tree_.counts, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("clf", NUMBERS, ids=str)
@one_in(20)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_weights_are_rows(clf, seed, gaps):
    X, y, w = a_table(seed, gaps)
    # repeated rows may lack a class, whose weight is then refused
    named = getattr(clf, "class_weight", None)
    assume(not isinstance(named, dict) or set(named) <= {*y[w > 0]})
    agree(clf, X, y, w, X)


@pytest.mark.parametrize("clf", CATEGORIES, ids=str)
@one_in(12)
@given(st.integers(0, 2**32 - 1))
def test_weights_are_rows_of_categories(clf, seed):
    X, y, w = a_table(seed)
    X = X.astype({"a": str, "c": str})
    # without declared values, ID3's branches are those of the rows that count
    agree(clf, X, y, w, X[w > 0] if w.any() else X)


def set_table(seed):
    """A small table of sets and intervals"""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 30))
    sets = [Exact("x"), Exact("y"), ValueSet(["x", "y"]), ValueSet(["x", "z"])]
    ranges = [Exact(1), Exact(4), Interval(1, 4, True), Interval(2, 9, True)]
    X = pd.DataFrame(
        {
            "s": cell_column(rng.integers(0, 4, n), sets),
            "r": cell_column(rng.integers(0, 4, n), ranges),
        }
    )
    return X, rng.choice(["u", "v"], n), rng.integers(0, 4, n)


@pytest.mark.parametrize("scoring", ["spread", "discount"])
@pytest.mark.parametrize("weights", ["uniform", "distribution"])
@one_in(7)
@given(st.integers(0, 2**32 - 1))
def test_weights_are_rows_of_a_release(scoring, weights, seed):
    X, y, w = set_table(seed)
    clf = C45Classifier(
        min_samples_leaf=1, prune=False, min_fragment=0, scoring=scoring, weights=weights
    )
    agree(clf, X, y, w, X)


@pytest.mark.parametrize("convert", ["fractional", "most_frequent"])
@one_in(2)
@given(st.integers(0, 2**32 - 1))
def test_weights_are_rows_of_sets(convert, seed):
    X, y, w = set_table(seed)
    clf = GeneralizedID3Classifier(convert=convert, min_fragment=0)
    agree(clf, X[["s"]], y, w, X[["s"]][w > 0] if w.any() else X[["s"]])


@one_in(4)
@given(st.integers(0, 2**32 - 1))
def test_votes_below_one_are_added_up(seed):
    "The nearest rows that have the votes of n_neighbors, by hand"
    rng = np.random.default_rng(seed)
    n, m = 12, 3
    X = pd.DataFrame({"a": rng.permutation(40)[:n] / 40})
    y, w = rng.choice(["u", "v"], n), rng.choice([0.25, 0.5, 1, 2], n)
    clf = MixedKNNClassifier(n_neighbors=m).fit(X, y, sample_weight=w)
    for i in range(n):
        far = (X.a - X.a[i]).abs().to_numpy()
        order = np.argsort(far)
        enough = min(m, w.sum()) - 1e-9
        last = far[order][np.argmax(w[order].cumsum() >= enough)]
        near = far <= last + 1e-9
        share = [w[near & (y == c)].sum() / w[near].sum() for c in clf.classes_]
        np.testing.assert_allclose(clf.predict_proba(X.iloc[[i]])[0], share)


def test_rows_are_counted_by_weight_where_j48_counts_rows():
    "Six rows in three values: three of weight 2 are as many as six"
    X, y = pd.DataFrame({"a": [1.0, 2.0, 3.0]}), np.array(["u", "v", "v"])
    for clf in (C45Classifier(), PARTClassifier()):
        assert clf.fit(X, y, sample_weight=[2, 2, 2]).predict(X).tolist() == list(y)


@one_in(2)
@given(st.integers(0, 2**32 - 1), st.integers(0, 4))
def test_depth_has_a_limit(seed, depth):
    X, y, _ = a_table(seed)
    for clf in (C45Classifier(max_depth=depth, prune=False, min_samples_leaf=1),):
        assert clf.fit(X, y).tree_.depth <= depth
    words = X.astype(str)
    cut = ID3Classifier(max_depth=depth).fit(words, y).tree_
    whole = ID3Classifier().fit(words, y).tree_
    assert cut.depth == min(depth, whole.depth)


@one_in(4)
@given(st.integers(0, 2**32 - 1))
def test_balanced_classes_weigh_alike(seed):
    X, y, _ = a_table(seed)
    for clf in (C45Classifier(class_weight="balanced"), ID3Classifier(class_weight="balanced")):
        counts = clf.fit(X.astype(str), y).tree_.counts[0]
        np.testing.assert_allclose(counts, len(y) / len(set(y)))
    X, y, w = a_table(seed)
    assume({"u", "v"} <= set(y))
    given_ = {"u": 3, "v": 0.5}
    factor = pd.Series(y).map(given_).fillna(1).to_numpy()
    one = C45Classifier(class_weight=given_).fit(X, y)
    other = C45Classifier().fit(X, y, sample_weight=factor)
    np.testing.assert_array_equal(one.tree_.counts, other.tree_.counts)


def test_a_class_without_weight_is_absent():
    X, y = pd.DataFrame({"a": list("xxyyzz")}), np.array(list("uuvvww"))
    clf = C45Classifier(class_weight={"w": 0}).fit(X, y)
    assert clf.classes_.tolist() == ["u", "v"]


@pytest.mark.parametrize("learner", [C45Classifier, ID3Classifier, PARTClassifier])
@pytest.mark.parametrize(
    "bad", ["even", 3, {}, {"u": -1.0}, {"u": None}, {"U": 1.0}, {"u": 0, "v": 0}]
)
def test_bad_weights_of_classes(learner, bad):
    X = pd.DataFrame({"a": list("xxyy")})
    with pytest.raises(ValueError, match="'class_weight"):
        learner(class_weight=bad).fit(X, list("uuvv"))


@pytest.mark.parametrize("learner", [C45Classifier, ID3Classifier])
@pytest.mark.parametrize("bad", [-1, 1.5, True, "3"])
def test_bad_depths(learner, bad):
    with pytest.raises(ValueError, match="'max_depth' must be None or an integer of at least 0"):
        learner(max_depth=bad).fit(pd.DataFrame({"a": list("xxyy")}), list("uuvv"))


@pytest.mark.parametrize("clf", [*CATEGORIES, *NUMBERS], ids=str)
def test_bad_weights_of_rows(clf):
    X, y = pd.DataFrame({"a": list("xxyy")}), list("uuvv")
    for bad, text in (
        ([-1, 1, 1, 1], "not be negative"),
        ([np.nan, 1, 1, 1], "finite"),
        ([1, 1], "one number for each row"),
        (["a"] * 4, "one number for each row"),
        ([0, 0, 0, 0], "above 0"),
    ):
        with pytest.raises(ValueError, match=f"'sample_weight' must.*{text}"):
            sklearn.clone(clf).fit(X, y, sample_weight=bad)


def test_k_counts_people():
    with pytest.raises(TypeError, match="sample_weight"):
        KADETClassifier(k=2).fit(pd.DataFrame({"a": [1, 2]}), ["u", "v"], sample_weight=[1, 1])
    assert "Rows have no weights" in KADETClassifier.__doc__


# through an anonymizer


def people(n=150, gaps=False):
    """A small table of people"""
    X = make_population(n, random_state=0)[["age", "region", "education", "income"]]
    y = X.pop("income")
    if gaps:
        X = X.assign(age=X.age.astype(float))
        X.loc[X.index[::9], "age"] = np.nan
    return X, y


@one_in(7)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_weights_travel_past_the_anonymizer(seed, gaps):
    X, y = people(gaps=gaps)
    w = np.random.default_rng(seed).integers(0, 3, len(X))
    clf = AnonymizedClassifier(MondrianAnonymizer(k=5, missing="drop"), C45Classifier())
    clf.fit(X, y, sample_weight=w)
    release = clf.anonymizer_.release_
    kept = np.delete(w, release.lost)
    assert len(release.lost) == (X.age.isna().sum() if gaps else 0)
    alone = C45Classifier().fit(release.data, release.y, sample_weight=kept)
    assert str(alone) == str(clf.classifier_)
    # the table is protected as if all weighed alike
    plain = AnonymizedClassifier(MondrianAnonymizer(k=5, missing="drop"), C45Classifier())
    assert plain.fit(X, y).anonymizer_.release_.text().equals(release.text())


def test_weights_reach_the_last_step_of_a_pipeline():
    X, y = people()
    w = np.random.default_rng(0).integers(1, 9, len(X))
    pipe = make_pipeline(ReleaseEncoder(), StandardScaler(), LogisticRegression())
    clf = AnonymizedClassifier(MondrianAnonymizer(k=5), pipe).fit(X, y, sample_weight=w)
    release = clf.anonymizer_.release_
    alone = sklearn.clone(pipe).fit(release.data, release.y, logisticregression__sample_weight=w)
    np.testing.assert_array_equal(alone[-1].coef_, clf.classifier_[-1].coef_)
    plain = sklearn.clone(clf).fit(X, y)
    assert not np.allclose(plain.classifier_[-1].coef_, clf.classifier_[-1].coef_)


def test_weights_for_a_learner_without_them_are_refused():
    X, y = people(40)
    pipe = make_pipeline(ReleaseEncoder(), KNeighborsClassifier())
    clf = AnonymizedClassifier(MondrianAnonymizer(k=5), pipe)
    with pytest.raises(ValueError, match="'sample_weight' must be None for Pipeline"):
        clf.fit(X, y, sample_weight=np.full(40, 2.0))
    for bad in ([1.0], [-1.0] * 40, [0.0] * 40):
        with pytest.raises(ValueError, match="'sample_weight' must"):
            AnonymizedClassifier(MondrianAnonymizer(k=5), C45Classifier()).fit(X, y, bad)


@pytest.mark.parametrize("learner", [C45Classifier(), NaiveBayesClassifier()])
def test_metadata_routing(learner):
    "`set_fit_request` and the routing of scikit-learn"
    X, y = people()
    w = np.where(y == y.iloc[0], 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        clf = AnonymizedClassifier(MondrianAnonymizer(k=5), learner)
        clf.set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        found = cross_validate(clf, X, y, cv=2, params={"sample_weight": w}, return_estimator=True)[
            "estimator"
        ]
        weighed = sklearn.clone(learner).set_fit_request(sample_weight=True)
        weighed.set_score_request(sample_weight=False)
        search = GridSearchCV(weighed, {}, cv=2).fit(X, y, sample_weight=w)
    plain = cross_validate(clf, X, y, cv=2, return_estimator=True)["estimator"]
    assert len(plain[0].predict(X)) == len(y)
    assert any(
        not np.allclose(a.predict_proba(X), b.predict_proba(X)) for a, b in zip(found, plain)
    )
    expected = sklearn.clone(learner).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(search.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize(
    "score", ["roc_auc", "f1_weighted", "neg_brier_score", "balanced_accuracy", "neg_log_loss"]
)
@pytest.mark.parametrize(
    "clf",
    [
        C45Classifier(),
        ID3Classifier(),
        PARTClassifier(),
        NaiveBayesClassifier(),
        MixedKNNClassifier(),
        GeneralizedID3Classifier(random_state=0),
        KADETClassifier(k=5),
        AnonymizedClassifier(MondrianAnonymizer(k=5), C45Classifier()),
        AnonymizedClassifier(
            MondrianAnonymizer(k=5), make_pipeline(ReleaseEncoder(), DecisionTreeClassifier())
        ),
        AnonymizedClassifier(MondrianAnonymizer(k=5), NaiveBayesClassifier(), test="recoded"),
    ],
    ids=lambda o: str(o)[:60],
)
def test_scores_of_scikit_learn(score, clf):
    "On raw rows, in cross-validation and in a search"
    X, y = people(120)
    if isinstance(clf, (ID3Classifier, GeneralizedID3Classifier)):
        X = X.assign(age=pd.cut(X.age, [0, 30, 50, 120]).astype(str))
    y = y == y.iloc[0]
    scores = cross_val_score(clf, X, y, scoring=score, cv=2)
    assert np.isfinite(scores).all()
    search = GridSearchCV(clf, {}, scoring=score, cv=2).fit(X, y)
    assert np.isfinite(search.best_score_) and search.predict_proba(X).shape == (120, 2)
