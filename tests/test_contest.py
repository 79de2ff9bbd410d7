"""The contest: the same halves for all, files that cannot be mixed up, statistics that agree with
scipy and with worked numbers.
"""

import pickle
import tempfile
import warnings
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from random_tables import row_cells, tables
from scipy import stats
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from ppdt.c45 import C45Classifier, ID3Classifier
from ppdt.contest import (
    COLUMNS,
    MODELS,
    average_ranks,
    bonferroni_dunn,
    cells_of,
    compare,
    contest,
    critical_difference,
    exposure,
    f_test_5x2,
    friedman,
    halvings,
    over_k,
    plot_accuracy,
    plot_axes,
    read_results,
    score_table,
    table,
    wins_losses,
)
from ppdt.datasets import load_customers, make_population
from ppdt.encoder import ReleaseEncoder
from ppdt.engine.contest_entrants import check_halves, stem as stem_of
from ppdt.engine.contest_files import describe
from ppdt.engine.contest_runs import measure
from ppdt.generalization import Taxonomy
from ppdt.kactus import KActusAnonymizer
from ppdt.kadet import KADETClassifier
from ppdt.mict import MicroaggregationAnonymizer, MiCTAnonymizer, MixedKNNClassifier
from ppdt.mondrian import MondrianAnonymizer
from ppdt.release import AnonymizedClassifier, Anonymizer, GuaranteeError, unchanged
from ppdt.tables import MixedTypesWarning, Roles

TIMES = ["seconds_protect", "seconds_learn"]


def same(a, b, drop=()):
    """Results that agree in all but the time they took"""
    drop = TIMES + list(drop)
    pd.testing.assert_frame_equal(
        a.drop(columns=drop).reset_index(drop=True),
        b.drop(columns=drop).reset_index(drop=True),
        check_exact=True,
    )


@pytest.fixture(scope="module")
def people():
    t = make_population(80, random_state=3)
    return t.drop(columns=["income", "disease"]), t.income


@pytest.fixture(scope="module")
def customers():
    t = load_customers()
    return t.drop(columns="Bought"), t.Bought


class Quick(BaseEstimator):
    """Publishes the table as it is, with numbers made up in place of an audit, for tests that need
    many runs
    """

    def __init__(self, k=2):
        self.k = k

    def anonymize(self, X, y):
        self.roles_, self.n_features_in_, self.feature_names_in_ = (
            Roles(tuple(X.columns)),
            X.shape[1],
            np.array(X.columns, dtype=object),
        )
        self.release_ = SimpleNamespace(
            data=X,
            y=y,
            lost=np.arange(self.k),
            roles=self.roles_,
            audit=SimpleNamespace(ncp=1 / (3 * self.k), gcp=1 / (7 * self.k)),
        )
        return self.release_


METHODS = {"raw": None} | over_k(
    {"strict": MondrianAnonymizer(), "guided": MondrianAnonymizer(mode="infogain")}, (2, 5)
)
LEARNERS = {"C4.5": C45Classifier(), "coin": DummyClassifier(strategy="stratified")}


@pytest.fixture(scope="module")
def results(people):
    return contest(*people, METHODS, LEARNERS, repeats=2)


# ---------------------------------------------------------------- halves


@given(st.integers(2, 60), st.integers(1, 6), st.integers(0, 99), st.booleans())
def test_halvings(n, repeats, seed, by_class):
    y = np.random.default_rng(seed).integers(0, 3, n) if by_class else None
    halves = halvings(n, repeats, seed, y)
    assert len(halves) == 2 * repeats
    for (a, b), (c, d) in zip(halves[::2], halves[1::2]):
        assert np.array_equal(a, d) and np.array_equal(b, c)
        assert np.array_equal(np.sort(np.r_[a, b]), np.arange(n)) and abs(len(a) - len(b)) <= 1
        assert (np.diff(a) > 0).all() and (np.diff(b) > 0).all()
        if by_class:
            assert all(abs((y[a] == v).sum() - (y[b] == v).sum()) <= 1 for v in range(3))
    for one, two in zip(halves, halvings(n, repeats + 1, seed, y)):
        assert all(map(np.array_equal, one, two))
    assert list(check_halves(halves, n)) == [(i, j) for i in range(1, repeats + 1) for j in (1, 2)]


@pytest.mark.parametrize(
    "halves, says",
    [
        ([], "at least one pair"),
        (5, "list of pairs"),
        ([(1, 2, 3)], "list of pairs"),
        ([([0, 1], [1, 2])], "the first at position 1"),
        ([([0, 0], [1])], "twice in the training rows of pair 1"),
        ([([0], [14])], "from 0 to 13"),
        ([([0], [-1])], "from 0 to 13"),
        ([([True, False], [False, True])], "np.flatnonzero"),
        ([([], [1])], "positions of rows"),
        ([([0.5], [1])], "positions of rows"),
    ],
)
def test_halves_that_cannot_be_used(customers, halves, says):
    with pytest.raises(ValueError, match=says):
        contest(*customers, {"raw": None}, {"c": C45Classifier()}, halves=halves)


def test_other_splits_than_halves(customers):
    folds = [(np.setdiff1d(np.arange(14), o), o) for o in np.array_split(np.arange(14), 7)]
    t = contest(*customers, {"raw": None}, {"C4.5": C45Classifier()}, halves=folds)
    assert t.tested.sum() == 14 and t.trained.tolist() == [12] * 7
    assert (t.repetition.tolist(), set(t.half)) == (list(range(1, 8)), {1})


# ---------------------------------------------------------------- runs


def test_accuracy_is_that_of_cross_validation(people, results):
    X, y = people
    for name in ("strict k=5", "guided k=2"):
        expected = cross_val_score(
            AnonymizedClassifier(METHODS[name], C45Classifier()), X, y, cv=halvings(len(X), 2)
        )
        assert (
            results.query("anonymizer == @name and classifier == 'C4.5'").accuracy.tolist()
            == expected.tolist()
        )
    expected = cross_val_score(C45Classifier(), X, y, cv=halvings(len(X), 2))
    assert (
        results.query("anonymizer == 'raw' and classifier == 'C4.5'").accuracy.tolist()
        == expected.tolist()
    )


def test_recoded_test_rows(people):
    X, y = people
    t = contest(X, y, METHODS, {"C4.5": C45Classifier()}, repeats=1, test={"guided k=5": "recoded"})
    expected = cross_val_score(
        AnonymizedClassifier(METHODS["guided k=5"], C45Classifier(), test="recoded"),
        X,
        y,
        cv=halvings(len(X), 1),
    )
    assert t[t.anonymizer == "guided k=5"].accuracy.tolist() == expected.tolist()
    same(
        t[t.anonymizer == "guided k=2"],
        contest(X, y, METHODS, {"C4.5": C45Classifier()}, repeats=1).query(
            "anonymizer == 'guided k=2'"
        ),
    )


# ---------------------------------------------------------------- who sees what


def by_hand(anonymizer, classifier, X, y, train, test, model, perturb):
    """(right, tested) of a model, with nothing of the contest's"""
    rows, whole = np.arange(len(X)), anonymizer.anonymize(X, y) if perturb == "once" else None

    def published(part):
        if whole is None:
            r = anonymizer.anonymize(X.iloc[part], y.iloc[part])
            return r.data, r.y
        kept = np.delete(rows, whole.lost)
        at = [i for i, row in enumerate(kept) if row in set(part)]
        return whole.data.iloc[at], whole.y.iloc[at]

    learnt, asked = (
        published(part) if o == "P" else (X.iloc[part], y.iloc[part])
        for o, part in zip(model, (train, test))
    )
    p = classifier.fit(*learnt).predict(asked[0])
    return int((np.asarray(p, dtype=object) == asked[1].to_numpy(dtype=object)).sum()), len(
        asked[1]
    )


@pytest.mark.parametrize(
    "method, perturb",
    [
        (MondrianAnonymizer(k=5, mode="infogain"), "inside"),
        (KActusAnonymizer(k=5), "once"),
        (MiCTAnonymizer(k=5), "inside"),
        (MiCTAnonymizer(k=5, release="asis"), "once"),
        (MicroaggregationAnonymizer(k=5), "inside"),
        (MicroaggregationAnonymizer(k=5), "once"),
    ],
    ids=lambda o: o if isinstance(o, str) else type(o).__name__,
)
def test_models(people, method, perturb):
    X, y = people
    t = contest(
        X,
        y,
        {"m k=5": method},
        {"C4.5": C45Classifier(), "near": MixedKNNClassifier()},
        repeats=1,
        models=MODELS,
        perturb=perturb,
    )
    assert (
        t.anonymizer.unique().tolist() == ["OO", "m PP k=5", "m PO k=5", "m OP k=5"]
        and (t.reason == "").all()
    )
    halves = halvings(len(X), 1)
    for line in t.itertuples():
        model, classifier = (
            "OO" if line.anonymizer == "OO" else line.anonymizer[2:4],
            (C45Classifier() if line.classifier == "C4.5" else MixedKNNClassifier()),
        )
        est = (
            method
            if "random_state" not in method.get_params()
            else method.__class__(**method.get_params() | dict(random_state=0))
        )
        assert (line.right, line.tested) == by_hand(
            est, classifier, X, y, *halves[line.half - 1], model, perturb
        ), line.anonymizer
    cells = cells_of(t)
    assert set(cells.method) == {"OO", "m PP", "m PO", "m OP"} and set(cells.k) == {1, 5}


def test_models_measure_what_is_published(people):
    X, y = people
    est, (train, test) = MondrianAnonymizer(k=5), halvings(len(X), 1)[0]
    t = (
        contest(X, y, {"m": est}, {"c": C45Classifier()}, repeats=1, models=("PP", "OP"))
        .query("half == 1")
        .set_index("anonymizer")
    )
    for name, part in (("m PP", train), ("m OP", test)):
        r = est.anonymize(X.iloc[part], y.iloc[part])
        assert (t.gcp[name], t.class_known[name], t.singled_out[name]) == (
            r.audit.gcp,
            *exposure(r.data, r.y),
        )
    once = contest(
        X, y, {"m": est}, {"c": C45Classifier()}, repeats=1, models=("PP", "OP"), perturb="once"
    )
    assert once.gcp.nunique() == 1 and once.gcp[0] == est.anonymize(X, y).audit.gcp


@pytest.mark.parametrize("perturb", ["inside", "once"])
def test_models_without_lost_rows(people, perturb):
    X, y = people
    X = X.assign(age=X.age.astype(float).mask(np.arange(len(X)) % 7 == 0))
    t = contest(
        X,
        y,
        {"m": MondrianAnonymizer(k=5, missing="drop")},
        {"c": C45Classifier()},
        repeats=1,
        models=("PP", "PO", "OP"),
        perturb=perturb,
    )
    assert (t.reason == "").all() and (t.lost > 0).all()
    kept = [int(X.age.iloc[o].notna().sum()) for _, o in halvings(len(X), 1)]
    assert {m: t[t.anonymizer == m].tested.tolist() for m in t.anonymizer.unique()} == {
        "m PP": kept,
        "m PO": [40, 40],
        "m OP": kept,
    }


def test_identifiers_are_not_learnt_from(people):
    X, y = people
    X = X.assign(name=[f"person {i}" for i in range(len(X))])
    t = contest(
        X,
        y,
        {"m": MondrianAnonymizer(k=5, identifiers=["name"])},
        {"c": C45Classifier()},
        repeats=1,
        models=("PP", "PO", "OP"),
    )
    assert (t.reason == "").all()
    same(
        t,
        contest(
            X.drop(columns="name"),
            y,
            {"m": MondrianAnonymizer(k=5)},
            {"c": C45Classifier()},
            repeats=1,
            models=("PP", "PO", "OP"),
        ),
        drop=["made_from"],
    )


def test_models_in_a_file_and_in_processes(people, tmp_path):
    X, y = people
    given, path = (
        (
            {"m k=5": MondrianAnonymizer(k=5)},
            {"c": C45Classifier(), "d": C45Classifier(prune=False)},
        ),
        tmp_path / "t.csv",
    )
    for perturb in ("inside", "once"):
        whole = contest(X, y, *given, repeats=1, models=MODELS, perturb=perturb, path=path)
        lines = path.read_text().splitlines()
        path.write_text("\n".join(lines[:6] + lines[9:]) + "\n")  # three runs are gone
        again = contest(
            X, y, *given, repeats=1, models=MODELS, perturb=perturb, path=path, n_jobs=2
        )
        same(whole, again)
        assert (
            read_results(path).sort_values(COLUMNS[:4]).made_from.tolist()
            == whole.sort_values(COLUMNS[:4]).made_from.tolist()
        )
        with pytest.raises(ValueError, match="other parameters of the anonymizer"):
            contest(
                X,
                y,
                *given,
                repeats=1,
                models=MODELS,
                perturb="once" if perturb == "inside" else "inside",
                path=path,
            )
        path.unlink()


def test_the_default_model_is_what_it_was(people, results):
    same(results, contest(*people, METHODS, LEARNERS, repeats=2, models=("PO",), perturb="inside"))
    t = contest(
        *people,
        {"raw": None, "m": MondrianAnonymizer(k=5)},
        {"c": C45Classifier()},
        repeats=1,
        models=("OO", "PO"),
    )
    assert t.anonymizer.unique().tolist() == ["raw", "m PO"]


def test_a_test_part_too_small_to_publish(people):
    X, y = people
    with pytest.warns(UserWarning, match="runs failed"):
        t = contest(
            X,
            y,
            {"m": MondrianAnonymizer(k=30)},
            {"c": C45Classifier()},
            halves=[(np.arange(20, 80), np.arange(20))],
            models=MODELS,
        )
    assert t.set_index("anonymizer").reason.str.contains("'k' must not exceed").to_dict() == {
        "OO": False,
        "m PP": True,
        "m PO": False,
        "m OP": True,
    }


@pytest.mark.parametrize(
    "given, says",
    [
        (dict(models="XX"), "'models' must be one or more of PP, PO, OP, OO. Got 'XX'"),
        (dict(models=()), "Got none"),
        (dict(models=3), "Got 3"),
        (
            dict(models="OO", anonymizers={"OO": MondrianAnonymizer(k=2)}),
            "must not use the name 'OO'",
        ),
        (dict(perturb="twice"), "'perturb' must be 'inside' or 'once'. Got 'twice'"),
        (
            dict(models=("PP", "PO"), anonymizers={"a": MondrianAnonymizer(k=2), "a PP": None}),
            "names that stay different",
        ),
    ],
)
def test_models_that_are_none(people, given, says):
    with pytest.raises(ValueError, match=says.replace(".", r"\.").replace("(", r"\(")):
        contest(
            *people,
            **(
                dict(
                    anonymizers={"m": MondrianAnonymizer(k=2)},
                    classifiers={"c": C45Classifier()},
                    repeats=1,
                )
                | given
            ),
        )


# ---------------------------------------------------------------- what a line says


def test_a_line_says_what_was_measured(people, results):
    X, y = people
    train, test = halvings(len(X), 2)[2]
    r = MondrianAnonymizer(k=5).anonymize(X.iloc[train], y.iloc[train])
    line = results.query(
        "anonymizer == 'strict k=5' and classifier == 'C4.5' and repetition == 2 and half == 1"
    ).iloc[0]
    assert (line.k, line.trained, line.tested, line.lost) == (
        5,
        40,
        40,
        0,
    ) and line.accuracy == line.right / 40
    assert (line.ncp, line.gcp) == (r.audit.ncp, r.audit.gcp)
    assert (line.class_known, line.singled_out) == exposure(r.data, r.y) and line.singled_out == 0
    clf = C45Classifier().fit(r.data, r.y)
    P, positive = clf.predict_proba(X.iloc[test]), y.iloc[test].to_numpy() == "low"
    assert np.isclose(
        line.log_loss, log_loss(y.iloc[test].astype(str), P, labels=list(clf.classes_)) / np.log(2)
    )
    assert np.isclose(line.auc, roc_auc_score(positive, P[:, list(clf.classes_).index("low")]))
    assert list(results.columns) == COLUMNS and (results.reason == "").all()


def test_measures_where_a_class_was_not_learnt():
    X, y = pd.DataFrame({"a": ["x", "y", "x", "y"]}), pd.Series(["p", "q", "q", "p"])
    clf = DummyClassifier().fit(X[:2], ["p", "p"])
    m = measure(clf, X, y, ["p", "q"])
    assert (m["right"], m["tested"], m["log_loss"], m["auc"]) == (2, 4, 26.0, 0.5)
    assert np.isnan(measure(clf, X[:1], y[:1], ["p", "q"])["auc"])
    assert "auc" not in measure(clf, X, y, ["p", "q", "r"])

    class Plain:
        def predict(self, X):
            return np.array(["p"] * len(X))

    assert measure(Plain(), X, y, ["p", "q"]) == dict(tested=4, right=2, accuracy=0.5)


@one_in(2)
@given(tables())
def test_exposure_by_counting(table_):
    X, y, roles = table_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixedTypesWarning)
        known, alone = exposure(X, y, roles["quasi_identifiers"])
        rows = list(zip(*(row_cells(X[o]) for o in roles["quasi_identifiers"])))
    groups = [[j for j in range(len(X)) if rows[j] == rows[i]] for i in range(len(X))]
    assert known == sum(len({y.iloc[j] for j in g}) == 1 for g in groups) / len(X)
    assert alone == sum(len(g) == 1 for g in groups) / len(X)


def test_lost_people_are_not_known():
    X = pd.DataFrame({"a": [1, 1, 1, 1, np.nan, np.nan, 2, 2] * 2})
    y = pd.Series(["p"] * 16, name="c")
    t = contest(
        X,
        y,
        {"m": MondrianAnonymizer(k=2, missing="drop")},
        {"C4.5": C45Classifier()},
        halves=[(np.arange(8), np.arange(8, 16))],
    )
    assert (t.lost[0], t.class_known[0], t.singled_out[0]) == (2, 6 / 8, 0)


@one_in(4)
@given(st.sampled_from(list(permutations("abc"))), st.sampled_from(list(permutations("st"))))
def test_names_change_nothing(names, words):
    t = load_customers()
    X, y = t.drop(columns="Bought"), t.Bought

    def run(n, w):
        return contest(
            X,
            y,
            dict(zip(n, [None, Quick(k=2), Quick(k=3)])),
            dict(zip(w, [DummyClassifier(strategy="stratified"), DummyClassifier()])),
            repeats=1,
        )

    one, two = run("abc", "st"), run(names, words)
    same(one, two, ["anonymizer", "classifier"])
    X2, X3 = dict(zip("abc", names)), dict(zip("st", words))
    assert (
        two.anonymizer.tolist() == one.anonymizer.map(X2).tolist()
        and two.classifier.tolist() == one.classifier.map(X3).tolist()
    )


def test_the_order_of_entrants_changes_only_the_order_of_lines(people, results):
    t = contest(
        *people, dict(reversed(METHODS.items())), dict(reversed(LEARNERS.items())), repeats=2
    )
    by = ["anonymizer", "classifier", "repetition", "half"]
    same(t.sort_values(by), results.sort_values(by))


def test_same_seed_same_results_and_another_seed_others(people, results):
    same(results, contest(*people, METHODS, LEARNERS, repeats=2))
    other = contest(*people, METHODS, LEARNERS, repeats=2, random_state=1)
    assert results.right.tolist() != other.right.tolist()
    # with given halves the seed is that of learners' chance only
    halves = halvings(80, 2)
    t = contest(*people, METHODS, LEARNERS, halves=halves, random_state=1)
    a, b = (o[o.classifier == "C4.5"] for o in (results, t))
    same(a, b, [])
    assert (
        results[results.classifier == "coin"].right.tolist()
        != t[t.classifier == "coin"].right.tolist()
    )


def test_parallel_is_serial(people, results, tmp_path):
    same(results, contest(*people, METHODS, LEARNERS, repeats=2, n_jobs=2, path=tmp_path / "r.csv"))
    same(results, contest(*people, METHODS, LEARNERS, repeats=2, path=tmp_path / "r.csv"))


def test_more_repetitions_begin_alike(people, results):
    t = contest(*people, METHODS, LEARNERS, repeats=3)
    same(t[t.repetition < 3], results)


# ---------------------------------------------------------------- files


@one_in(5)
@given(st.integers(0, 15))
def test_resumed_is_made_at_once(which):
    t = load_customers()
    X, y = t.drop(columns="Bought"), t.Bought
    entrants, learners = {"raw": None, "m": Quick()}, {"d": DummyClassifier(strategy="stratified")}
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "r.csv"
        whole = contest(X, y, entrants, learners, repeats=1, path=path)
        assert (
            read_results(path)
            .sort_values(COLUMNS[:4])
            .reset_index(drop=True)
            .equals(whole.sort_values(COLUMNS[:4]).reset_index(drop=True))
        )
        # all sixteen files that an interruption could leave, and others
        keep = [bool(which >> i & 1) for i in range(4)]
        lines = path.read_text().splitlines(True)
        path.write_text("".join([lines[0]] + [l for l, k in zip(lines[1:], keep) if k]))
        kept = read_results(path).made_from.size
        again = contest(X, y, entrants, learners, repeats=1, path=path)
        same(whole, again)
        # stored lines are the stored ones, seconds too
        both = pd.merge(whole, again, how="inner")
        assert len(both) >= kept
        assert [l.split(",")[:4] for l in path.read_text().splitlines()] == [
            l.split(",")[:4] for l in lines
        ]


def test_a_file_grows_by_methods_learners_and_repetitions(people, results, tmp_path):
    path, X, y = tmp_path / "r.csv", *people
    contest(X, y, {"raw": None}, {"coin": LEARNERS["coin"]}, repeats=1, path=path)
    small = read_results(path)
    same(contest(X, y, METHODS, LEARNERS, repeats=2, path=path), results)
    assert len(read_results(path)) == len(results) and len(
        pd.merge(small, read_results(path))
    ) == len(small)
    same(
        contest(X, y, {"raw": None}, LEARNERS, repeats=1, path=path),
        results.query("anonymizer == 'raw' and repetition == 1"),
    )
    assert len(read_results(path)) == len(results)


def test_a_file_of_another_contest_is_refused(customers, tmp_path):
    X, y = customers
    path, m, c = tmp_path / "r.csv", {"m": MondrianAnonymizer(k=3)}, {"c": C45Classifier()}

    def run(X=X, y=y, m=m, c=c, **p):
        return contest(X, y, m, c, **(dict(repeats=1, path=path) | p))

    run()
    before = path.read_bytes()
    for says, p in (
        ("another table", dict(X=X.assign(Age=X.Age + 1))),
        ("another table", dict(X=X[::-1], y=y[::-1])),
        ("another table", dict(y=y.map({"Yes": "No", "No": "Yes"}))),
        ("another table", dict(X=X.rename(columns={"Age": "age"}))),
        ("another table", dict(m={"new": None}, X=X[:12], y=y[:12])),
        ("other halves", dict(random_state=1)),
        ("other halves", dict(m={"new": None}, random_state=1)),
        ("parameters of the anonymizer 'm'", dict(m={"m": MondrianAnonymizer(k=2)})),
        ("parameters of the anonymizer 'm'", dict(m={"m": None})),
        ("parameters of the anonymizer 'm'", dict(test="recoded")),
        ("parameters of the classifier 'c'", dict(c={"c": C45Classifier(prune=False)})),
        ("parameters of the classifier 'c'", dict(c={"c": ID3Classifier()})),
    ):
        with pytest.raises(ValueError, match=says):
            run(**p)
        assert path.read_bytes() == before
    # the same values, stored in less room
    assert len(run(X=X.assign(Age=X.Age.astype("int8")))) == 2


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", ",".join(COLUMNS[:-1]) + "\n", "\x00\xff"])
def test_a_file_that_is_no_file_of_results(customers, tmp_path, text):
    path = tmp_path / "r.csv"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match="contest results"):
        contest(*customers, {"raw": None}, {"c": C45Classifier()}, path=path)
    assert path.read_bytes() == text.encode("latin-1")


def test_odd_names_survive_the_file(customers, tmp_path):
    names = ["NA", "None", "nan", 'a,"b"', "ä\nb", " x "]
    t = contest(
        *customers,
        dict.fromkeys(names),
        {"1": DummyClassifier()},
        repeats=1,
        path=tmp_path / "r.csv",
    )
    assert t.equals(
        contest(
            *customers,
            dict.fromkeys(names),
            {"1": DummyClassifier()},
            repeats=1,
            path=tmp_path / "r.csv",
        )
    )
    assert t.anonymizer.tolist() == [o for o in names for _ in range(2)]


def test_descriptions_are_the_same_everywhere():
    t = Taxonomy.from_dict({"any": ["a", "b"]}) if hasattr(Taxonomy, "from_dict") else None
    for est in (
        MondrianAnonymizer(k=3, taxonomies=None if t is None else {"x": t}),
        make_pipeline(ReleaseEncoder(), DummyClassifier()),
        C45Classifier(),
    ):
        assert "0x" not in describe(est) and describe(est) == describe(
            pickle.loads(pickle.dumps(est))
        )
    assert describe(MondrianAnonymizer(k=3)) != describe(MondrianAnonymizer(k=4))
    assert (
        describe(np.int64(3)) == describe(3)
        and describe({"a": 1, "b": 2}) == describe({"b": 2, "a": 1})
        and describe({1, 2}) == describe({2, 1})
    )
    assert describe(np.array([1, 2])) != describe(np.array([[1, 2]])) and describe(
        pd.Series([1, 2])
    ) != describe(pd.Series([2, 1]))


# ---------------------------------------------------------------- what fails


def test_a_run_that_fails_is_a_line(people, tmp_path):
    X, y = people
    entrants, path = (
        {
            "raw": None,
            "big k=50": MondrianAnonymizer(k=50),
            "m k=5": MondrianAnonymizer(k=5),
        },
        tmp_path / "r.csv",
    )
    with pytest.warns(UserWarning, match="2 of 6 runs failed"):
        t = contest(X, y, entrants, {"C4.5": C45Classifier()}, repeats=1, path=path)
    bad = t[t.anonymizer == "big k=50"]
    assert (
        bad.reason.str.startswith("ValueError: 'k' must not exceed").all()
        and bad.right.isna().all()
        and bad.accuracy.isna().all()
        and bad.trained.tolist() == [40, 40]
    )
    with pytest.warns(UserWarning):
        assert t.equals(contest(X, y, entrants, {"C4.5": C45Classifier()}, repeats=1, path=path))
    with pytest.warns(UserWarning):
        same(
            t, contest(X, y, entrants, {"C4.5": C45Classifier()}, repeats=1, path=path, retry=True)
        )
    # one halving is too little for the test
    assert table(t, "raw").loc["C4.5", "big k=50"] == "–" and compare(t, "raw").p.isna().all()
    assert cells_of(t).failed.tolist() == [0, 2, 0]


def test_a_classifier_that_fails_does_not_stop_the_others(customers):
    with pytest.warns(UserWarning, match="failed"):
        t = contest(
            *customers,
            {"m": MondrianAnonymizer(k=3)},
            {
                "plain": make_pipeline(DummyClassifier()),
                "cannot": C45Classifier(min_samples_leaf=-1),
                "C4.5": C45Classifier(),
            },
            repeats=1,
        )
    bad = t[t.reason != ""]
    assert (
        set(bad.classifier) == {"cannot"}
        and bad.gcp.notna().all()
        and bad.seconds_protect.notna().all()
    )


class Liar(Anonymizer):
    "Promises k and publishes the raw table"

    def _publish(self, task):
        return unchanged(task)


def test_a_broken_promise_stops_the_contest(customers):
    for n_jobs in (1, 2):
        with pytest.raises(GuaranteeError):
            contest(
                *customers,
                {"raw": None, "liar": Liar(k=3)},
                {"C4.5": C45Classifier()},
                repeats=1,
                n_jobs=n_jobs,
            )


@pytest.mark.parametrize(
    "p, error, says",
    [
        (dict(anonymizers=None), TypeError, "'anonymizers' must be a dict"),
        (dict(anonymizers={}), TypeError, "at least one"),
        (dict(anonymizers={"": None}), TypeError, "not empty"),
        (dict(anonymizers={1: None}), TypeError, "strings"),
        (dict(anonymizers={"m": MondrianAnonymizer}), TypeError, "not classes"),
        (dict(anonymizers={"m": C45Classifier()}), TypeError, "anonymize"),
        (dict(classifiers={"c": None}), TypeError, "predict"),
        (dict(classifiers={"c": MondrianAnonymizer()}), TypeError, "predict"),
        (dict(classifiers=[C45Classifier()]), TypeError, "'classifiers' must be a dict"),
        (dict(repeats=0), ValueError, "'repeats'"),
        (dict(repeats=True), TypeError, "'repeats'"),
        (dict(random_state=-1), ValueError, "'random_state'"),
        (dict(random_state=None), TypeError, "'random_state'"),
        (dict(test="recode"), ValueError, "'test'"),
        (dict(test={"x": "raw"}), ValueError, "'test' must name"),
        (dict(path="x.txt"), ValueError, "'path'"),
        (dict(path="nowhere/x.csv"), ValueError, "'path'"),
        (dict(quasi_identifiers=["no"]), ValueError, "no"),
        (dict(y=None), ValueError, "'y'"),
        (dict(X=None), ValueError, "X"),
    ],
)
def test_bad_input(customers, p, error, says):
    X, y = customers
    with pytest.raises(error, match=says):
        contest(
            **(
                dict(
                    X=X,
                    y=y,
                    anonymizers={"m": MondrianAnonymizer(k=3)},
                    classifiers={"c": C45Classifier()},
                )
                | p
            )
        )


def test_missing_class(customers):
    X, y = customers
    with pytest.raises(ValueError, match="missing"):
        contest(X, y.where(y.index != 3), {"raw": None}, {"c": C45Classifier()})


def test_what_is_known_of_the_raw_table(customers):
    X, y = customers

    def raw(**p):
        return contest(
            X, y, p.pop("more", {}) | {"raw": None}, {"c": DummyClassifier()}, repeats=1, **p
        ).query("anonymizer == 'raw'")

    train = halvings(14, 1)[0][0]
    by_gender = exposure(X.iloc[train], y.iloc[train], ["Gender"])
    assert (raw(quasi_identifiers=["Gender"]).class_known.iloc[0], raw().singled_out.iloc[0]) == (
        by_gender[0],
        exposure(X.iloc[train], y.iloc[train])[1],
    )
    one = {"m": MondrianAnonymizer(k=2, quasi_identifiers=["Gender"], published=["Marital", "Age"])}
    assert raw(more=one).class_known.iloc[0] == by_gender[0]
    rest = {"m": MondrianAnonymizer(k=2, published=["Marital", "Age"])}
    assert raw(more=rest).class_known.iloc[0] == by_gender[0]
    age = MondrianAnonymizer(k=2, quasi_identifiers=["Age"], published=["Gender", "Marital"])
    two = one | {"n": age}
    assert raw(more=two).singled_out.iloc[0] == raw().singled_out.iloc[0]


def test_a_model_is_audited_itself(people):
    X, y = people
    t = contest(X, y, {"model": None}, over_k({"kADET": KADETClassifier()}, (2, 10)), repeats=1)
    train = halvings(len(X), 1)[0][0]
    a = KADETClassifier(k=10).fit(X.iloc[train], y.iloc[train]).audit(X.iloc[train], y.iloc[train])
    line = t[t.k == 10].iloc[0]
    assert (line.class_known, line.singled_out) == (a.exposed, 0) and np.isnan(line.gcp)
    assert cells_of(t)[["learner", "k"]].values.tolist() == [["kADET", 2], ["kADET", 10]]


# ---------------------------------------------------------------- statistics


def test_f_of_worked_numbers():
    t = f_test_5x2([(0.02, 0.03), (0.01, 0.04), (0.03, 0.03), (0.00, 0.02), (0.02, 0.01)])
    assert (
        np.allclose(
            [t.numerator, t.sum_s2, t.f, t.p, t.critical],
            [0.0057, 0.00075, 3.8, 0.076805337, 4.73506307],
            rtol=1e-6,
        )
        and t.df == (10, 5)
        and not t.significant
    )


def test_f_at_its_limits():
    assert f_test_5x2(np.zeros((5, 2))).f == 0 and f_test_5x2(np.zeros((5, 2))).p == 1
    for d in (0.1, -3.0, 0.1 + 0.2, 1e-9):
        t = f_test_5x2(np.full((5, 2), d))
        assert t.f == np.inf and t.p == 0 and t.significant
    assert np.isclose(f_test_5x2([[0.1, -0.1]] * 5).f, 0.5)


@given(
    st.lists(st.tuples(*[st.integers(-50, 50)] * 2), min_size=2, max_size=7),
    st.sampled_from([1, -1, 0.01, 1000.0]),
)
def test_f_is_its_formula(d, scale):
    d = np.array(d, dtype=float)
    s2 = sum((a - (a + b) / 2) ** 2 + (b - (a + b) / 2) ** 2 for a, b in d)
    t = f_test_5x2(d * scale)
    if s2 == 0:
        assert t.f == (np.inf if d.any() else 0)
    else:
        assert np.isclose(t.f, (d**2).sum() / (2 * s2)) and t.f > 0.5 - 1e-12
        assert np.isclose(t.p, 1 - stats.f(2 * len(d), len(d)).cdf(t.f))
    assert np.isclose(f_test_5x2(d[:, ::-1]).f, f_test_5x2(d).f) or s2 == 0


@pytest.mark.parametrize(
    "d", [np.zeros(10), np.zeros((2, 5)), np.zeros((1, 2)), [[0, np.nan]] * 5, [[0, np.inf]] * 5]
)
def test_f_refuses(d):
    with pytest.raises(ValueError, match="'differences'"):
        f_test_5x2(d)


SMALL = np.array(
    [
        [0.80, 0.75, 0.70],
        [0.82, 0.80, 0.79],
        [0.90, 0.85, 0.86],
        [0.60, 0.61, 0.55],
        [0.77, 0.70, 0.71],
        [0.88, 0.88, 0.80],
    ]
)


def test_ranks_of_worked_numbers():
    t = friedman(pd.DataFrame(SMALL, columns=list("abc")))
    assert np.allclose(list(t.ranks.values()), [1.25, 2.083333333, 2.666666667]) and list(
        t.ranks
    ) == ["a", "b", "c"]
    assert np.allclose([t.chi2, t.f, t.p], [6.083333333, 5.14084507, 0.029139311], rtol=1e-6)
    assert np.isclose(friedman(SMALL, correct_ties=True).chi2, 6.347826087)
    d = bonferroni_dunn(t, "a")
    assert (
        np.isclose(d.attrs["critical"], 1.294074468)
        and np.allclose(d.difference, [0.833333333, 1.416666667])
        and d.significant.tolist() == [False, True]
    )
    t = friedman(ranks=[3.143, 2.000, 2.893, 1.964], n_cases=14)
    assert np.allclose(
        [t.chi2, t.f, t.p, t.critical], [9.2836296, 3.688892849, 0.01976776, 2.845067805], rtol=1e-6
    ) and t.df == (3, 39)
    assert np.isclose(critical_difference(4, 14), 1.168142531)


def test_quantiles_of_bonferroni_dunn():
    q = [critical_difference(K, 6) / np.sqrt(K * (K + 1) / 36) for K in range(2, 11)]
    assert np.round(q, 3).tolist() == [
        1.960,
        2.241,
        2.394,
        2.498,
        2.576,
        2.638,
        2.690,
        2.734,
        2.773,
    ]


@given(st.integers(2, 12), st.integers(3, 6), st.integers(0, 10**6), st.integers(2, 40))
def test_friedman_is_scipys(N, K, seed, values):
    s = np.random.default_rng(seed).integers(0, values, (N, K))
    t, c = friedman(s), friedman(s, correct_ties=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = stats.friedmanchisquare(*s.T)
    if np.isnan(expected.statistic):
        assert (c.chi2, c.p, t.chi2, t.f) == (0, 1, 0, 0)
    else:
        assert np.allclose([c.chi2, c.p_chi2], [expected.statistic, expected.pvalue])
    assert t.chi2 <= c.chi2 + 1e-9
    assert np.allclose(list(t.ranks.values()), average_ranks(s)) and np.isclose(
        sum(t.ranks.values()), K * (K + 1) / 2
    )
    assert np.isclose(t.chi2, friedman(-s, best="low").chi2) and np.isclose(
        t.chi2, friedman(ranks=average_ranks(s), n_cases=N).chi2
    )
    order = np.random.default_rng(seed).permutation(K)
    assert np.isclose(t.f, friedman(s[:, order]).f) or t.f == friedman(s[:, order]).f == np.inf


def test_friedman_when_all_cases_rank_alike():
    t = friedman([[3, 2, 1]] * 4)
    assert np.isclose(t.chi2, 8) and t.f == np.inf and t.p == 0
    d = bonferroni_dunn(t, 0)
    assert d.significant.tolist() == [False, True] and (d.p >= 0).all() and (d.p <= 1).all()


@pytest.mark.parametrize(
    "p, says",
    [
        (dict(), "either"),
        (dict(scores=SMALL, ranks=[1, 2]), "either"),
        (dict(scores=SMALL[0]), "'scores'"),
        (dict(scores=SMALL[:1]), "'scores'"),
        (dict(scores=SMALL[:, :1]), "'scores'"),
        (dict(scores=[[1, np.nan], [1, 2]]), "NaN"),
        (dict(scores=SMALL, best="most"), "'best'"),
        (dict(ranks=[1, 2]), "'n_cases'"),
        (dict(ranks=[1, 3], n_cases=5), "'ranks'"),
        (dict(ranks=[1.5], n_cases=5), "'ranks'"),
        (dict(ranks=[np.nan, 1], n_cases=5), "'ranks'"),
        (dict(ranks=[1, 2], n_cases=5, correct_ties=True), "'correct_ties'"),
        (dict(ranks=[1, 2], n_cases=1), "'n_cases'"),
    ],
)
def test_friedman_refuses(p, says):
    with pytest.raises(ValueError, match=says):
        friedman(**p)


def test_bonferroni_dunn_refuses():
    with pytest.raises(ValueError, match="'control'"):
        bonferroni_dunn(friedman(SMALL), "a")
    with pytest.raises(ValueError, match="'alpha'"):
        critical_difference(3, 5, 1)
    with pytest.raises(ValueError, match="'n_methods'"):
        critical_difference(1, 5)


@given(st.integers(2, 6), st.integers(2, 30), st.integers(0, 10**6))
def test_adjusted_p_agrees_with_the_critical_difference(K, N, seed):
    d = bonferroni_dunn(friedman(np.random.default_rng(seed).normal(size=(N, K))), 0)
    assert (d.significant == (d.p < 0.05)).all()


# ---------------------------------------------------------------- tables and pictures


def made_up(cells, made="t-h"):
    """Results with these accuracies: {(anonymizer, classifier, k): [[half 1, half 2], ...]}"""
    lines = [
        dict(
            anonymizer=a,
            classifier=c,
            k=k,
            repetition=i + 1,
            half=j + 1,
            accuracy=v,
            gcp=0.1 * k,
            class_known=0.01 * k,
            reason="",
            made_from=f"{made}{i}{j}-a-c",
        )
        for (a, c, k), vs in cells.items()
        for i, r in enumerate(vs)
        for j, v in enumerate(r)
    ]
    return pd.DataFrame(lines)


LOW, HIGH, MIXED = [[0.6, 0.6]] * 5, [[0.7, 0.7]] * 5, [[0.5, 0.7]] * 5


def test_table_by_hand():
    t = made_up(
        {
            ("raw", "c", 1): HIGH,
            ("m k=5", "c", 5): LOW,
            ("n k=5", "c", 5): MIXED,
            ("m k=9", "c", 9): HIGH,
        }
    )
    shown = table(t, "raw")
    assert shown.loc["c"].tolist() == [
        "70.00 ± 0.00",
        "*60.00 ± 0.00",
        "60.00 ± 10.54",
        "70.00 ± 0.00",
    ] and shown.columns.tolist() == ["raw", "m k=5", "n k=5", "m k=9"]
    assert (
        table(t, "raw", marks="+-").loc["c", "m k=5"] == "-60.00 ± 0.00"
        and table(t, digits=0, scale=1).loc["c", "raw"] == "1 ± 0"
    )
    wide = table(t, "raw", columns="k")
    assert (
        wide.columns.tolist() == [1, 5, 9]
        and wide.loc[("m", "c")].tolist() == ["70.00 ± 0.00", "*60.00 ± 0.00", "70.00 ± 0.00"]
        and wide.loc[("n", "c")].tolist() == ["70.00 ± 0.00", "60.00 ± 10.54", "–"]
    )
    assert table(t[t.k == 1], columns="k").shape == (1, 1)


def test_baselines():
    t = made_up(
        {
            ("m k=5", "c", 5): LOW,
            ("n k=5", "c", 5): HIGH,
            ("m k=9", "c", 9): HIGH,
            ("n k=9", "c", 9): LOW,
            ("raw", "tree k=5", 5): HIGH,
            ("n k=7", "c", 7): LOW,
        }
    )
    same_k = compare(t, "m").set_index("anonymizer")
    assert same_k.sign.to_dict() == {
        "m k=5": "",
        "n k=5": "+",
        "m k=9": "",
        "n k=9": "-",
        "raw": "",
        "n k=7": "",
    } and np.isnan(same_k.difference["n k=7"])
    assert compare(t, "m k=5").set_index("anonymizer").sign.to_dict() == {
        "m k=5": "",
        "n k=5": "+",
        "m k=9": "+",
        "n k=9": "",
        "raw": "",
        "n k=7": "",
    }
    # a tree with k = 5 against the table with k = 5
    assert compare(t, ("m", "c")).set_index("anonymizer").sign["raw"] == "+"
    wins = wins_losses(t, "m")
    assert wins.loc["n"].to_dict() == dict(better=1, worse=1, neither=0, untested=0) and list(
        wins.index
    ) == ["n"]
    assert wins_losses(t, "m", best="low").loc["n"].to_dict() == dict(
        better=1, worse=1, neither=0, untested=0
    )
    with pytest.raises(ValueError, match="'baseline'"):
        compare(t, "nobody")


def test_several_data_sets():
    one = made_up({("raw", "c", 1): HIGH, ("m k=5", "c", 5): LOW}).assign(data="x")
    two = made_up({("raw", "c", 1): MIXED, ("m k=5", "c", 5): LOW}, "u-v").assign(data="y")
    t = pd.concat([one, two])
    with pytest.raises(ValueError, match="'by'"):
        table(t, "raw")
    shown = table(t, "raw", by=["data"])
    assert shown.index.tolist() == [("x", "c"), ("y", "c")] and shown["m k=5"].tolist() == [
        "*60.00 ± 0.00",
        "60.00 ± 0.00",
    ]
    assert table(t, "raw", by=["data"], columns="k").index.tolist() == [
        ("x", "m", "c"),
        ("y", "m", "c"),
    ]
    assert wins_losses(t, "raw", by=["data"]).loc["m"].tolist() == [0, 1, 1, 0]
    s = score_table(t, by=["data"], methods=["raw", "m"])
    assert s.empty  # raw has k = 1, m has k = 5: no case that both have
    assert score_table(t, by=["data"]).columns.tolist() == ["m"]
    mixed = pd.concat([one[one.anonymizer == "raw"], two[two.anonymizer == "m k=5"]])
    with pytest.raises(ValueError, match="same halves"):
        compare(mixed, "raw")


def test_failed_runs_in_tables():
    t = made_up({("raw", "c", 1): HIGH, ("m k=5", "c", 5): LOW})
    t.loc[t.index[-1], ["accuracy", "reason"]] = [np.nan, "ValueError: no release"]
    assert (
        table(t, "raw").loc["c", "m k=5"] == "60.00 ± 0.00 (1 failed)"
        and wins_losses(t, "raw").loc["m", "untested"] == 1
    )


@pytest.mark.parametrize(
    "p, says",
    [
        (dict(columns="x"), "'columns'"),
        (dict(marks="!"), "'marks'"),
        (dict(value="nothing"), "nothing"),
        (dict(by=["data"]), "data"),
    ],
)
def test_tables_refuse(p, says):
    with pytest.raises(ValueError, match=says):
        table(made_up({("raw", "c", 1): HIGH}), **p)


def test_score_table(results):
    s = score_table(results)
    assert (
        s.columns.tolist() == ["strict", "guided"]
        and s.index.names == ["learner", "k"]
        and len(s) == 4
    )
    assert np.isclose(
        s.loc[("C4.5", 5), "strict"],
        results.query("anonymizer == 'strict k=5' and classifier == 'C4.5'").accuracy.mean(),
    )
    with pytest.raises(ValueError, match="'methods'"):
        score_table(results, methods=["none"])


@pytest.mark.parametrize(
    "name, k, stem",
    [
        ("m k=5", 5, "m"),
        ("m, k = 5", 5, "m"),
        ("m k=5", 50, "m k=5"),
        ("m k=50", 5, "m k=50"),
        ("k=5", 5, "k=5"),
        ("mk=5", 5, "mk=5"),
        ("raw", 1, "raw"),
    ],
)
def test_names_without_k(name, k, stem):
    assert stem_of(name, k) == stem


def test_over_k():
    m = MondrianAnonymizer(mode="infogain")
    made = over_k({"g": m}, [2, 3])
    assert (
        list(made) == ["g k=2", "g k=3"]
        and [o.k for o in made.values()] == [2, 3]
        and m.k == 5
        and made["g k=2"].mode == "infogain"
    )


def test_pictures(results):
    one = results[results.classifier == "C4.5"]
    ax = plot_accuracy(one)
    assert (
        [o.get_text() for o in ax.get_legend().get_texts()] == ["raw", "strict", "guided"]
        and ax.get_xlabel() == "k"
        and [int(o) for o in ax.get_xticks()] == [2, 5]
    )
    ax = plot_axes(one)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("gcp", "accuracy") and sorted(
        o.get_text() for o in ax.texts
    ) == ["2", "2", "5", "5"]
    fig, mine = plt.subplots()
    assert (
        plot_accuracy(results, "log_loss", ax=mine) is mine
        and len(mine.get_legend().get_texts()) == 6
    )
    plt.close("all")


# what a newcomer may get wrong
# --------------------------------------------------------------------------------------


def test_over_k_takes_values_that_can_be_read_once():
    """A generator is empty after the first method; the second must not vanish"""
    made = over_k(
        {"s": MondrianAnonymizer(), "g": MondrianAnonymizer(mode="infogain")},
        (k for k in (np.int64(3), 5)),
    )
    assert list(made) == ["s k=3", "s k=5", "g k=3", "g k=5"]


@pytest.mark.parametrize(
    "methods, ks, error, says",
    [
        ([MondrianAnonymizer()], [5], TypeError, "'methods' must be a dict.*Got list"),
        ({"raw": None}, [5], TypeError, "'methods'.*a parameter k.*Got None for 'raw'"),
        ({"c": C45Classifier()}, [5], TypeError, "a parameter k"),
        ({"m": MondrianAnonymizer}, [5], TypeError, "objects and not classes"),
        (
            {"m": MondrianAnonymizer()},
            5,
            TypeError,
            r"'ks' must be a list.*Got 5: use for example \[5, 25\]",
        ),
        ({"m": MondrianAnonymizer()}, "25", TypeError, "'ks' must be a list"),
        (
            {"m": MondrianAnonymizer()},
            [0],
            ValueError,
            "'ks' must be an integer of at least 1. Got 0",
        ),
        ({"m": MondrianAnonymizer()}, [2.5], TypeError, "'ks'.*Got 2.5"),
    ],
)
def test_over_k_refuses(methods, ks, error, says):
    with pytest.raises(error, match=says):
        over_k(methods, ks)


@pytest.mark.parametrize(
    "p, error, says",
    [
        (dict(y=None), ValueError, "'y' must be the class of each row. Got None"),
        (dict(n_jobs=0), ValueError, "'n_jobs' must be a number of processes.*Got 0"),
        (dict(n_jobs="2"), ValueError, "'n_jobs'"),
        (dict(path=3), TypeError, "'path'.*Got 3"),
    ],
)
def test_contest_refuses(customers, p, error, says):
    X, y = customers
    with pytest.raises(error, match=says):
        contest(
            **(
                dict(
                    X=X,
                    y=y,
                    anonymizers={"m": MondrianAnonymizer(k=3)},
                    classifiers={"c": C45Classifier()},
                )
                | p
            )
        )


def test_one_row_is_no_table_to_halve(customers):
    X, y = customers
    with pytest.raises(ValueError, match="'X' must have at least two rows.*Got 1"):
        contest(X[:1], y[:1], {"raw": None}, {"c": C45Classifier()})


@pytest.mark.parametrize(
    "f",
    [
        lambda X: halvings(X),
        lambda X: contest(X, X.iloc[:, 0].rename("z"), X, {"c": C45Classifier()}),
        lambda X: contest(X, X.iloc[:, 0].rename("z"), {"m": X}, {"c": C45Classifier()}),
        lambda X: over_k(X, [5]),
    ],
)
def test_messages_hold_no_rows(customers, f):
    with pytest.raises(TypeError, match="Got DataFrame") as e:
        f(customers[0])
    assert "Female" not in str(e.value) and "\n" not in str(e.value)


@pytest.mark.parametrize(
    "f, error, says",
    [
        (
            lambda X, y: exposure(X, y[:3]),
            ValueError,
            r"'y' must have a class for each of the 14 rows. Got shape \(3,\)",
        ),
        (
            lambda X, y: exposure(X, y, n=0),
            ValueError,
            "'n' must be an integer of at least 14. Got 0",
        ),
        (lambda X, y: exposure(X, y, n=3.0), TypeError, "'n'"),
    ],
)
def test_exposure_refuses(customers, f, error, says):
    with pytest.raises(error, match=says):
        f(*customers)


@pytest.mark.parametrize(
    "f, error, says",
    [
        (
            lambda r: table("x.csv"),
            TypeError,
            "'results' must be a table that contest made. Got 'x.csv': read a file",
        ),
        (lambda r: cells_of(r, by="k"), TypeError, r"'by' must be a tuple.*use \('k',\)"),
        (lambda r: cells_of(r, "reason"), ValueError, "'value' must be a column of numbers"),
        (lambda r: plot_accuracy(r[:0]), ValueError, "'results' must have at least one line"),
        (lambda r: compare(r, 5), TypeError, "'baseline' must be the name.*Got 5"),
        (lambda r: compare(r, ("raw", "C4.5", "x")), TypeError, "'baseline'"),
        (
            lambda r: compare(r, "raw", alpha=5),
            ValueError,
            "'alpha' must lie between 0 and 1. Got 5: use .05",
        ),
        (lambda r: table(r, digits=-1), ValueError, "'digits'"),
        (
            lambda r: score_table(r, methods="raw"),
            TypeError,
            r"'methods' must be a list.*use \['raw'\]",
        ),
    ],
)
def test_results_refuse(results, f, error, says):
    with pytest.raises(error, match=says):
        f(results)


@pytest.mark.parametrize(
    "f, error, says",
    [
        (lambda: friedman([["a", "b"]] * 3), ValueError, "'scores' must hold numbers"),
        (lambda: friedman(ranks="abc", n_cases=5), ValueError, "'ranks' must hold numbers"),
        (lambda: f_test_5x2([["a", "b"]] * 5), ValueError, "'differences' must hold numbers"),
        (lambda: bonferroni_dunn([1, 2], 0), TypeError, "'test' must be what friedman returned"),
        (lambda: critical_difference(3, 5, "0.05"), ValueError, "'alpha'"),
    ],
)
def test_tests_refuse(f, error, says):
    with pytest.raises(error, match=says):
        f()
