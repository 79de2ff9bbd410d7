"""Learners take a release alone and know its taxonomies, in fit and when they are asked."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from ppdt.c45 import C45Classifier, PARTClassifier
from ppdt.encoder import ReleaseEncoder
from ppdt.generalization import Taxonomy
from ppdt.id3_sets import GeneralizedID3Classifier
from ppdt.learners import DrawnClassifier, NaiveBayesClassifier, SetForestClassifier, certain
from ppdt.mict import MixedKNNClassifier
from ppdt.mondrian import MondrianAnonymizer
from ppdt.release import AnonymizedClassifier, read_release

JOBS = Taxonomy.from_dict(
    {"any": {"yard": ["smith", "welder"], "office": ["clerk", "typist"], "sea": ["cook", "mate"]}}
)
RNG = np.random.default_rng(0)
X = pd.DataFrame({"job": RNG.permutation(list(JOBS.values) * 20), "age": RNG.integers(20, 30, 120)})
Y = pd.Series(np.where(X.job.isin(["smith", "welder", "cook"]), "yes", "no"), name="sick")
COARSE = MondrianAnonymizer(k=9, taxonomies={"job": JOBS})
RELEASE = COARSE.anonymize(X, Y)
READERS = [
    C45Classifier(),
    DrawnClassifier(DecisionTreeClassifier(random_state=0), random_state=0),
    MixedKNNClassifier(),
    NaiveBayesClassifier(),
    PARTClassifier(),
    SetForestClassifier(5, random_state=0),
]
each_reader = pytest.mark.parametrize("reader", READERS, ids=lambda o: type(o).__name__)


@each_reader
@pytest.mark.parametrize("file", [False, True])
def test_a_release_alone_is_its_data_and_its_taxonomies(reader, file, tmp_path):
    r = RELEASE
    if file:
        r.to_csv(tmp_path / "r.csv")
        r = read_release(tmp_path / "r.csv")
    alone = clone(reader).fit(r)
    told = clone(reader).set_params(taxonomies=r.taxonomies).fit(r.data, r.y)
    for asked in X, r.data:
        assert (alone.predict_proba(asked) == told.predict_proba(asked)).all()
    assert alone.taxonomies is None  # no parameter is changed
    with pytest.raises(ValueError, match="the release itself"):
        clone(reader).fit(r.data, r.y)


@each_reader
def test_another_fit_forgets_the_taxonomies(reader):
    again = clone(reader).fit(RELEASE).fit(X, Y)
    with pytest.raises(ValueError, match="taxonomies"):
        again.predict(RELEASE.data)


def test_own_taxonomies_go_before_those_of_the_release():
    own = Taxonomy.from_dict(
        {"any": {"yard": ["smith"], "office": ["clerk", "typist", "welder"], "sea": ["cook"]}}
    )
    clf = C45Classifier(taxonomies={"job": own}).fit(RELEASE)
    told = C45Classifier(taxonomies={"job": own}).fit(RELEASE.data, RELEASE.y)
    assert str(clf) == str(told)
    with pytest.raises(ValueError, match="'taxonomies' must be None or a dict"):
        C45Classifier(taxonomies=[own]).fit(RELEASE)


def test_sets_of_nodes():
    clf = GeneralizedID3Classifier(convert="fractional", features=["job"]).fit(RELEASE)
    assert set(clf.tree_.values[0]) == set(JOBS.values)
    assert clf.score(X, Y) > 0.6 and len(clf.predict(RELEASE.data)) == 120
    with pytest.raises(ValueError, match="a taxonomy node"):
        GeneralizedID3Classifier(features=["job"]).fit(RELEASE.data, RELEASE.y)


def test_an_encoder_takes_a_release():
    told = ReleaseEncoder(taxonomies=RELEASE.taxonomies)
    alone = ReleaseEncoder()
    a, b = alone.fit_transform(RELEASE, RELEASE.y), told.fit_transform(RELEASE.data, RELEASE.y)
    assert (a == b).all() and (alone.transform(RELEASE.data) == told.transform(RELEASE.data)).all()
    frame = ReleaseEncoder().set_output(transform="pandas").fit_transform(RELEASE)
    assert len(frame) == 120
    model = make_pipeline(ReleaseEncoder(), DecisionTreeClassifier(max_depth=2, random_state=0))
    model.fit(RELEASE, RELEASE.y)
    assert model.score(X, Y) > 0.6 and len(certain(model, RELEASE.data)) == 120


@pytest.mark.parametrize("inner", [C45Classifier(), ReleaseEncoder()])
def test_parts_behind_an_anonymizer_know_the_taxonomies(inner):
    if isinstance(inner, ReleaseEncoder):
        inner = make_pipeline(inner, DecisionTreeClassifier(max_depth=2, random_state=0))
    assert AnonymizedClassifier(COARSE, inner).fit(X, Y).score(X, Y) > 0.6


# ---------- masked codes
CODES = RNG.choice(["81667", "81675", "81925", "80331", "80333", "10115"], 300)
TOWN = np.where(pd.Series(CODES).str.startswith("816"), "here", "there")
SEEN = RNG.random(300)


@each_reader
@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("hidden", [0.5, 1.0])
def test_a_masked_code_is_any_code_that_it_fits(reader, hidden, numbers, tmp_path):
    shown = pd.Series(CODES)
    shown = shown.where(SEEN > hidden, shown.str[:3] + "**").where(SEEN > 0.1, "*****")
    shown.rename("zip").to_csv(tmp_path / "r.csv", index=False)
    r = read_release(tmp_path / "r.csv", format="arx")
    asked = pd.DataFrame({"zip": CODES.astype(int) if numbers else CODES})
    encoder = ReleaseEncoder(taxonomies=r.taxonomies)
    for clf in clone(reader), make_pipeline(encoder, DecisionTreeClassifier(random_state=0)):
        if "taxonomies" in clf.get_params():
            clf.set_params(taxonomies=r.taxonomies)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert clf.fit(r.data, TOWN).score(asked, TOWN) == 1


def test_a_code_that_fits_no_mask_stays_unknown(tmp_path):
    pd.Series(["816**", "10115"] * 9, name="zip").to_csv(tmp_path / "r.csv", index=False)
    r = read_release(tmp_path / "r.csv", format="arx")
    enc = ReleaseEncoder(taxonomies=r.taxonomies, sets="weights").fit(r.data)
    rows = enc.transform(pd.DataFrame({"zip": ["81600", "10115", "10117", "8160", None]}))
    assert rows.tolist() == [[0, 1], [1, 0], [0, 0], [0, 0], [0.5, 0.5]]
    clf = GeneralizedID3Classifier(convert="fractional")
    with pytest.raises(ValueError, match="a taxonomy node"):
        clf.fit(r.data, list("ab") * 9)
