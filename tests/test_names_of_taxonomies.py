"""A taxonomy of no column is refused, wherever taxonomies are given; ranges of pd.cut are
categories like others.
"""

import inspect

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from registry import REGISTRY, example

from ppdt.c45 import C45Classifier, ID3Classifier
from ppdt.generalization import Taxonomy, recode
from ppdt.kadet import KADETClassifier, publish, read_published, tree_release, with_levels
from ppdt.learners import logistic_regression
from ppdt.loss import gcp, ncp
from ppdt.matching import consistent
from ppdt.mict import record_linkage
from ppdt.mondrian import MondrianAnonymizer
from ppdt.privacy import audit, audit_model
from ppdt.release import AnonymizedClassifier
from ppdt.trees import tree_from_json, tree_json

WORK = Taxonomy.from_dict({"(all)": {"(some)": ["a", "b"], "(others)": ["c"]}})
X = pd.DataFrame({"job": list("aabbcc") * 2, "sex": list("fm") * 6})
Y = pd.Series(list("uvuuvv") * 2, name="cls")
SLIP = "'taxonomies' must name columns of the table. Got 'jbo'; the columns are job"
MISSPELT = {"job": WORK, "jbo": WORK}

# estimators that take taxonomies
ASKED = [c for c in REGISTRY if "taxonomies" in inspect.signature(c).parameters]


def test_who_takes_taxonomies():
    assert len(ASKED) >= 7 and C45Classifier in ASKED and MondrianAnonymizer in ASKED


@pytest.mark.parametrize("cls", ASKED, ids=lambda c: c.__name__)
@pytest.mark.parametrize("given", [MISSPELT, {"jbo": WORK}, {"job": WORK, "jbo": None}])
def test_estimators_refuse_a_slip(cls, given):
    k = {"k": 2} if "k" in cls().get_params() else {}
    with pytest.raises((ValueError, TypeError), match=f"{SLIP}|must (hold|map|be)") as e:
        example(cls, taxonomies=given, **k).fit(X, Y)
    assert given["jbo"] is None or SLIP in str(e.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: ncp(X, X, taxonomies=t),
        lambda t: gcp(X, X, taxonomies=t),
        lambda t: audit(X, taxonomies=t),
        lambda t: audit(X, ["job"], original=X, taxonomies=t),
        lambda t: audit(MondrianAnonymizer(2).anonymize(X, Y), taxonomies=t),
        lambda t: consistent(X, X, taxonomies=t),
        lambda t: record_linkage(X, X, taxonomies=t),
        lambda t: recode(X, [0, 1] * 6, "node", taxonomies=t),
        lambda t: with_levels(X, t),
        lambda t: logistic_regression(taxonomies=t).fit(X, Y),
        lambda t: AnonymizedClassifier(MondrianAnonymizer(2, taxonomies=t), C45Classifier()).fit(
            X, Y
        ),
    ],
)
def test_measures_and_readers_refuse_a_slip(call):
    with pytest.raises(ValueError, match=SLIP):
        call(MISSPELT)
    call({"job": WORK})


def test_a_taxonomy_for_a_column_beside_is_ignored():
    m = MondrianAnonymizer(2, ["job"], taxonomies={"job": WORK, "sex": WORK}, published=["sex"])
    assert m.anonymize(X, Y).audit.holds
    # the class, a secret and columns of the other tables count as columns, too
    assert audit(X, ["job"], y=Y, taxonomies={"cls": WORK}).k == 4
    assert audit(X[["job"]], original=X, taxonomies={"sex": WORK}).k == 4
    assert audit(X[["job"]], population=X, taxonomies={"sex": WORK}).k == 4


# ---------- ranges of pandas
N = 200
AGE = np.random.default_rng(0).integers(0, 60, N)
CUT = pd.cut(AGE, [-1, 20, 40, 60])
RANGES = pd.DataFrame({"age": CUT, "t": np.random.default_rng(1).choice(list("ab"), N)})
TEXTS = RANGES.assign(age=CUT.rename_categories(CUT.categories.astype(str)))
YOUNG = pd.Series(np.where(AGE < 25, "u", "v"), name="cls")
QUANTILES = RANGES.assign(age=pd.qcut(AGE, 3))


@pytest.mark.parametrize("t", [RANGES, QUANTILES, RANGES.assign(age=pd.arrays.IntervalArray(CUT))])
@pytest.mark.parametrize(
    "make", [C45Classifier, ID3Classifier, lambda: KADETClassifier(k=2), KADETClassifier]
)
def test_ranges_of_pandas_are_categories(make, t):
    if not isinstance(t.age.dtype, pd.CategoricalDtype):
        t = t.assign(age=t.age.astype("category"))
    as_text = t.assign(age=t.age.cat.rename_categories(t.age.cat.categories.astype(str)))
    m, plain = make().fit(t, YOUNG), make().fit(as_text, YOUNG)
    assert str(m) == str(plain) and m.score(t, YOUNG) > 0.8
    assert (m.predict(t) == plain.predict(as_text)).all()
    assert (m.predict(as_text) == m.predict(t)).all()
    assert str(audit_model(m, t, y=YOUNG)) == str(audit_model(plain, as_text, y=YOUNG))


def test_published_trees_over_ranges():
    m = KADETClassifier(k=2).fit(RANGES, YOUNG)
    assert (read_published(publish(m)).predict(RANGES) == m.predict(RANGES)).all()
    assert_frame_equal(
        tree_release(m, RANGES, YOUNG).text(),
        tree_release(KADETClassifier(k=2).fit(TEXTS, YOUNG), TEXTS, YOUNG).text(),
    )
    c = C45Classifier().fit(RANGES, YOUNG)
    back = C45Classifier.from_tree(tree_from_json(tree_json(c.tree_)))
    assert (back.predict(RANGES) == c.predict(RANGES)).all()


def test_ranges_as_class():
    y = pd.Series(CUT, name="cls")
    for m in (C45Classifier(), KADETClassifier(k=2)):
        assert m.fit(RANGES, y).predict(RANGES).tolist() == y.tolist()
        assert audit_model(m, RANGES, y=y).k >= 1
