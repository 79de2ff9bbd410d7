"""A reader is chosen on the release alone: nobody is asked about rows that it has learnt from, in
whatever order they come.
"""

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from ppdt.c45 import C45Classifier
from ppdt.datasets import make_population
from ppdt.encoder import ReleaseEncoder
from ppdt.engine.reader_choice import BY, groups_of, scores_of
from ppdt.generalization import Taxonomy
from ppdt.learners import NaiveBayesClassifier, choose_reader
from ppdt.mondrian import MondrianAnonymizer
from ppdt.tables import Interval, ValueSet, cell_column

LOG = []


class Watched(ClassifierMixin, BaseEstimator):
    """Notes what it is given, and says how frequent the classes are"""

    def fit(self, X, y):
        LOG.append(("fit", X.copy(), y.copy()))
        self.classes_, n = np.unique(y, return_counts=True)
        self.shares_ = n / n.sum()
        return self

    def predict_proba(self, X):
        LOG.append(("ask", X.copy(), None))
        return np.tile(self.shares_, (len(X), 1))


def rows_of(n, classes="ab"):
    """Numbered rows: a column names each row, in cells of one value"""
    X = pd.DataFrame({"row": [f"r{i:02}" for i in range(n)], "x": np.arange(n) % 3})
    return X, pd.Series([classes[i % len(classes)] for i in range(n)], name="class")


@one_in(10)
@given(
    n=st.integers(8, 20),
    n_folds=st.integers(2, 4),
    n_draws=st.integers(1, 3),
    seed=st.integers(0, 9),
)
def test_nobody_is_asked_about_a_row_that_taught(n, n_folds, n_draws, seed):
    X, y = rows_of(n)
    LOG.clear()
    how = dict(n_folds=n_folds, n_draws=n_draws, random_state=seed)
    choose_reader(X, {"watched": Watched()}, y=y, **how)
    *inside, (last, rows, _) = LOG
    asked = []
    for (_, learnt, _), (_, held, _) in zip(inside[::2], inside[1::2]):
        assert set(learnt.row).isdisjoint(held.row) and set(learnt.row) | set(held.row) == {*X.row}
        asked += held.row.tolist()
    # each row once a draw, and the chosen one learns from all
    assert sorted(asked) == sorted([*X.row] * n_draws)
    assert last == "fit" and sorted(rows.row) == sorted(X.row)


def test_held_out_rows_are_possible_raw_rows():
    """Learnt from is what was published; asked about are plain values that it may have been"""
    people = make_population(60, random_state=1)
    income = people.pop("income")
    release = MondrianAnonymizer(k=5).anonymize(people[["age", "education", "region"]], income)
    LOG.clear()
    choose_reader(release, {"watched": Watched()}, n_folds=2)
    for what, X, _ in LOG:
        held = [o for _, s in X.items() for o in s]
        assert (what == "ask") != any(isinstance(o, (ValueSet, Interval)) for o in held)
    asked = pd.concat([X for what, X, _ in LOG if what == "ask"])
    for o, s in asked.items():
        values = {v for c in release.data[o] for v in getattr(c, "values", [c])}
        ends = [v for v in values if isinstance(v, Interval)]
        inside = [v in values or any(c.lo <= v <= c.hi for c in ends) for v in s]
        assert all(inside), o


@pytest.mark.parametrize("seed", [0, 1])
def test_held_out_groups_are_whole(seed):
    X = pd.DataFrame({"g": np.repeat(np.arange(9), 4).astype(str), "x": [1, 1, 1, 1] * 9})
    y = pd.Series(["a", "b", "b", "b"] * 9)
    assert sorted(np.bincount(groups_of(X))) == [4] * 9
    LOG.clear()
    choose_reader(X, {"watched": Watched()}, y=y, hold="groups", random_state=seed)
    for (_, learnt, _), (_, held, _) in zip(LOG[:-1:2], LOG[1:-1:2]):
        assert set(learnt.g).isdisjoint(held.g)


@one_in(34)
@given(n=st.integers(20, 60), k=st.integers(2, 6), seed=st.integers(0, 3))
def test_the_order_of_rows_does_not_matter(n, k, seed):
    people = make_population(n, random_state=seed)
    income = people.pop("income")
    release = MondrianAnonymizer(k=k).anonymize(people[["age", "education"]], income)
    readers = {"c45": C45Classifier(), "bayes": NaiveBayesClassifier()}
    found = choose_reader(release, readers, random_state=seed)
    order = np.random.default_rng(seed).permutation(n)
    other = choose_reader(
        release.data.iloc[order], readers, y=release.y.iloc[order], random_state=seed
    )
    pd.testing.assert_frame_equal(found.scores, other.scores)
    assert found.name == other.name
    # nor who else is asked
    alone = choose_reader(release, {"bayes": NaiveBayesClassifier()}, random_state=seed).scores
    pd.testing.assert_frame_equal(found.scores.loc[["bayes"]], alone)
    asked = people[["age", "education"]]
    assert (found.model.predict(asked) == other.model.predict(asked)).all()
    best = {o: (BY[o] * found.scores[o]).idxmax() for o in BY if found.scores[o].notna().all()}
    assert found.name == best["log_loss"]


@one_in(5)
@given(
    st.lists(st.tuples(st.sampled_from([0, 0.2, 0.5, 0.9, 1]), st.booleans()), min_size=2),
)
def test_scores_are_those_of_scikit_learn(said):
    p, at = (np.array(o) for o in zip(*said))
    at = at.astype(int)
    both = np.stack([1 - p, p], axis=1)
    found = scores_of(both, at)
    assert found["accuracy"] == accuracy_score(at, both.argmax(axis=1))
    assert found["brier"] == pytest.approx(brier_score_loss(at, p))
    if 0 < at.sum() < len(at):
        assert found["auc"] == pytest.approx(roc_auc_score(at, p))
    if ((p > 0) & (p < 1)).all():
        assert found["log_loss"] == pytest.approx(log_loss(at, both, labels=[0, 1]))
    assert np.isfinite(found["log_loss"])


def test_a_class_that_a_fold_does_not_know_has_no_chance_there():
    X, y = rows_of(12)
    y[0] = "once"
    t = choose_reader(X, {"watched": Watched()}, y=y, n_folds=2, n_draws=1).scores
    # whoever is asked about it is wrong; the worst chance is 1e-15, of one row in twelve
    assert t.log_loss["watched"] > -np.log(1e-15) / 12


def test_taxonomies_of_a_release_reach_all_readers():
    jobs = Taxonomy.from_dict({"any": {"yard": ["smith", "welder"], "office": ["clerk"]}})
    work = pd.DataFrame({"job": ["smith", "welder", "clerk"] * 8})
    sick = pd.Series(["yes", "yes", "no"] * 8)
    release = MondrianAnonymizer(k=4, taxonomies={"job": jobs}).anonymize(work, sick)
    tree = make_pipeline(ReleaseEncoder(), DecisionTreeClassifier(random_state=0))
    choice = choose_reader(release, {"c45": C45Classifier(), "tree": tree})
    assert (choice.model.predict(work) == sick).all() and choice.name == "c45"
    assert "c45, chosen by log_loss" in str(choice)


def test_a_table_without_its_class():
    X, y = rows_of(9)
    table = pd.DataFrame({"x": cell_column([0] * 9, [Interval(0, 3)])})
    with pytest.raises(ValueError, match="'y' must"):
        choose_reader(table)
    with pytest.raises(ValueError, match="number of rows of the most frequent class, 5. Got 6"):
        choose_reader(X, y=y, n_folds=6)
    with pytest.raises(ValueError, match="number of groups, 1.*hold out rows"):
        choose_reader(table, y=y, hold="groups")
