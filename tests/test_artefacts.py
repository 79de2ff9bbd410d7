"""No artefact names a value that the published cells do not: every method, with any of its options.

A table leaves the house as CSV or Parquet, with a schema beside it; the tool that made it may be
saved, a tree may be published, and all of them are printed. Tables here have values that cannot be
mistaken for anything else, and each artefact is searched for those that no cell states.
"""

import pickle
import warnings

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from examples import one_in
from hypothesis import given as _given, strategies as st
from random_tables import pick, row_cells
from registry import ANONYMIZERS, REGISTRY, some_constraints
from secret_tables import (
    PARTS,
    WHOLE,
    hidden_values,
    made_taxonomies,
    secret_tables,
    told_in_bytes,
    told_in_object,
    told_in_text,
)

from ppdt.c45 import C45Classifier
from ppdt.encoder import ReleaseEncoder
from ppdt.generalization import Taxonomy
from ppdt.id3_sets import GeneralizedID3Classifier
from ppdt.kactus import KActusAnonymizer
from ppdt.kadet import KADETClassifier, publish, read_published, tree_release
from ppdt.learners import NaiveBayesClassifier
from ppdt.loss import ncp
from ppdt.mict import MixedKNNClassifier
from ppdt.mondrian import MondrianAnonymizer
from ppdt.privacy import audit
from ppdt.release import AnonymizedClassifier, read_release
from ppdt.tables import Interval, Node, Suppressed, schema_path
from ppdt.tds import TDSAnonymizer
from ppdt.trees import tree_json

WITH_TREES = [o for o in ANONYMIZERS if "taxonomies" in o().get_params(deep=False)]
anonymizer = pytest.mark.parametrize("cls", list(ANONYMIZERS), ids=lambda o: o.__name__)
with_trees = pytest.mark.parametrize("cls", WITH_TREES, ids=lambda o: o.__name__)


def given(**draws):
    """One in 20 of the profile's examples: each of these tests runs for every method"""
    return lambda f: one_in(20)(_given(**draws)(f))


@st.composite
def published(draw, cls, all_makers=None):
    """(X, y, fitted tool, messages) of any options; the tool is None where there is no release"""
    X, y, roles = draw(secret_tables())
    p = roles | dict(constraints=draw(some_constraints(X, y, roles)))
    p |= draw(REGISTRY[cls].options(X, y, p))
    if cls in WITH_TREES:
        trees = draw(made_taxonomies(X, roles))
        wanted = [o for o in trees if all_makers or draw(st.booleans())]
        if cls is TDSAnonymizer:
            words = [o for o in trees if X[o].dtype == "str" or o in roles["categorical"]]
            wanted = {*wanted, *words}
        p["taxonomies"] = {o: trees[o] for o in trees if o in wanted} or None
    return X, y, *fitted(cls(**p), X, y)


def fitted(est, X, y):
    """(the fitted object or None, what it said)"""
    said = []
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            est.fit(X, y)
        except ValueError as e:
            assert any(o in str(e) for o in REGISTRY[type(est)].impossible), e
            est, said = None, [str(e)]
    return est, "\n".join([*said, *(str(o.message) for o in heard)])


def written(release, folder, end):
    """(bytes of the table, its texts, its schema)"""
    at = folder / f"out{end}"
    (release.to_csv if end == ".csv" else release.to_parquet)(at)
    data = at.read_bytes()
    text = data.decode() if end == ".csv" else pq.read_table(at).to_pandas().to_csv()
    return data, text, schema_path(at).read_text(encoding="utf-8")


def assert_silent(hidden, texts=(), data=(), objects=()):
    for o in texts:
        assert told_in_text(o, hidden) == set(), o
    for o in data:
        assert told_in_bytes(o, hidden) == set()
    for o in objects:
        assert told_in_object(o, hidden) == set(), vars(o)


# ---------- every method, every option
@anonymizer
@given(data=st.data(), end=pick(".csv", ".parquet"))
def test_artefacts_name_only_what_cells_name(cls, tmp_path_factory, data, end):
    X, y, tool, said = data.draw(published(cls))
    if tool is None:
        # what an error says: no value of any column
        assert_silent(hidden_values(X, _Nothing()), [said])
        return
    r, saved = tool.release_, pickle.dumps(tool)
    hidden = hidden_values(X, r, getattr(tool, "taxonomies", None))
    table, text, schema = written(r, tmp_path_factory.mktemp("out"), end)
    texts = [text, schema, repr(r), r._repr_html_(), repr(tool), str(r.audit), said]
    texts += [r.audit._repr_html_(), *r.audit.warnings]
    assert_silent(hidden, texts, [table, saved], [pickle.loads(saved)])


class _Nothing:
    "A release of no row"

    data = ()


@with_trees
@given(data=st.data(), end=pick(".csv", ".parquet"))
def test_taxonomies_of_all_makers(cls, tmp_path_factory, data, end):
    """Schema, file and saved object; what is read back, is read, audited and learnt from"""
    X, y, tool, _ = data.draw(published(cls, all_makers=True))
    if tool is None:
        return
    r, folder = tool.release_, tmp_path_factory.mktemp("out")
    hidden = hidden_values(X, r, tool.taxonomies)
    _, _, schema = written(r, folder, end)
    again = pickle.loads(pickle.dumps(tool))
    assert_silent(hidden, [schema], [pickle.dumps(again)], [again])
    back = read_release(folder / f"out{end}")
    assert back.text().equals(r.text()) and written(back, folder, end)[2] == schema
    assert back.taxonomies == r.taxonomies
    for o, t in back.taxonomies.items():
        shown = {c for c in back.cells(o)[1] if isinstance(c, Node)}
        assert shown <= set(t.cells)
        assert t.is_whole == tool.taxonomies[o].public or t == tool.taxonomies[o]
    found = audit(back)
    assert found.k == r.audit.k and not told_in_text(str(found), hidden)
    for learner in (C45Classifier, NaiveBayesClassifier, MixedKNNClassifier):
        est = learner(taxonomies=back.taxonomies or None).fit(back.data, back.y)
        assert est.predict_proba(back.data).shape == (len(back.data), len(est.classes_))
        assert_silent(hidden, objects=[pickle.loads(pickle.dumps(est))])
        if hasattr(est, "tree_"):
            assert_silent(hidden, [tree_json(est.tree_), str(est.tree_)])
    seen = ReleaseEncoder(taxonomies=back.taxonomies or None).fit(back.data)
    assert len(seen.get_feature_names_out())
    assert_silent(hidden, [" ".join(seen.get_feature_names_out())])


@with_trees
@given(data=st.data())
def test_a_saved_tool_recodes_as_far_as_cells_say(cls, data):
    """In the house new rows get their cells; a saved tool gives the same, or suppresses"""
    X, y, tool, _ = data.draw(published(cls, all_makers=True))
    if (
        tool is None
        or tool.recoder_ is None
        or X[list(tool.roles_.quasi_identifiers)].isna().any(axis=None)
    ):
        return
    here, there = tool.transform(X), pickle.loads(pickle.dumps(tool))
    if there.recoder_ is None:
        return
    there = there.transform(X)
    assert there.index.equals(here.index) and list(there) == list(here)
    for o in tool.roles_.quasi_identifiers:
        for a, b in zip(row_cells(here[o]), row_cells(there[o])):
            assert b in (a, Suppressed())
    if all(t.public for t in (tool.taxonomies or {}).values()):
        assert here.astype(str).equals(there.astype(str))


@given(data=st.data())
def test_a_saved_classifier_behind_an_anonymizer(data):
    """Its parameter `anonymizer` holds the taxonomies, and travels with it"""
    X, y, roles = data.draw(secret_tables(missing=False))
    trees = data.draw(made_taxonomies(X, roles))
    est = AnonymizedClassifier(
        MondrianAnonymizer(**roles, taxonomies=trees), GeneralizedID3Classifier(), test="raw"
    )
    try:
        est.fit(X, y)
    except (TypeError, ValueError):
        return  # it reads no nodes
    back = pickle.loads(pickle.dumps(est))
    hidden = hidden_values(X, est.anonymizer_.release_, trees)
    assert_silent(hidden, objects=[back.anonymizer, back.anonymizer_])


# ---------- kADET
@pytest.mark.filterwarnings("ignore:Column '.*' holds no value that it had in fit")  # but nodes
@given(data=st.data())
def test_what_kadet_publishes(data):
    X, y, roles = data.draw(secret_tables(missing=False))
    X = X[roles["quasi_identifiers"]]
    trees = data.draw(made_taxonomies(X, roles))
    p = dict(k=min(2, len(X)), taxonomies={o: trees[o] for o in trees if data.draw(st.booleans())})
    p["public"] = data.draw(st.lists(pick(*X), unique=True))
    try:
        clf = KADETClassifier(**p).fit(X, y)
    except ValueError as e:
        assert any(o in str(e) for o in REGISTRY[KADETClassifier].impossible), e
        return
    text = publish(clf)
    tree = clf.tree_
    asked = [o for a, v in enumerate(tree.values) if (tree.attribute == a).any() for o in v]
    limits = tree.threshold[~np.isnan(tree.threshold)].tolist()
    hidden = hidden_values(X, _Nothing(), p["taxonomies"])
    hidden -= told_in_object([*asked, *limits], hidden)
    assert_silent(hidden, [text])
    back = read_published(text)
    assert publish(back) == text
    answers = back.predict(X[back.feature_names_in_])
    assert set(answers) <= set(clf.classes_)
    if all(t.public for t in p["taxonomies"].values()):
        assert (answers == clf.predict(X)).all()


def test_a_tree_that_asks_prefixes_publishes_prefixes():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"code": [f"{o:04}" for o in rng.integers(0, 9999, 300)]})
    y = pd.Series(np.where(X.code > "5", "yes", "no"), name="cls")
    made = {"code": Taxonomy.from_prefixes(X.code)}
    clf = KADETClassifier(k=5, taxonomies=made, public=["code"]).fit(X, y)
    text = publish(clf)
    assert '"7***"' in text and not any(o in text for o in X.code)
    assert read_published(text).path({"code": "7***"})
    known = {"code": Taxonomy.from_prefixes([f"{o:04}" for o in range(10_000)], public=True)}
    clf = KADETClassifier(k=5, taxonomies=known, public=["code"]).fit(X, y)
    assert (read_published(publish(clf)).predict(X) == clf.predict(X)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        r = tree_release(KADETClassifier(k=5, taxonomies=made, public=["code"]).fit(X, y), X, y)
    assert not any(o in r.schema.to_json() for o in X.code)


# ---------- cases
WAGES = pd.DataFrame({"wage": [1200, 1300, 1400, 987654]})
NO_WAGE = {float(o) for o in WAGES.wage}


@with_trees
@pytest.mark.parametrize("end", [".csv", ".parquet"])
@pytest.mark.parametrize("maker", ["from_quantiles", "from_prefixes", "from_edges"])
def test_four_wages_under_one_star(cls, tmp_path, end, maker):
    X, edges = WAGES, ()
    if maker == "from_prefixes":
        X = WAGES.assign(wage=["001200", "001300", "001400", "987654"]).astype("str")
    if maker == "from_edges":
        edges = ([0, 1350, 1_000_000],)
    made = {"wage": getattr(Taxonomy, maker)(X.wage, *edges)}
    tool = cls(k=4, taxonomies=made).fit(X, ["a", "b", "a", "b"])
    _, text, schema = written(tool.release_, tmp_path, end)
    root = "******" if maker == "from_prefixes" else "*"
    assert text.count(f"<{root}>") == 4 and tool.release_.audit.gcp == 1
    hidden = NO_WAGE | set(X.wage.astype(str))
    saved = pickle.dumps(tool)
    assert_silent(hidden, [text, schema], [saved], [pickle.loads(saved)])
    back = read_release(tmp_path / f"out{end}")
    assert back.taxonomies["wage"].values == (root,) and audit(back).k == 4
    found = audit(back, original=X)
    assert found.gcp is None and "give their whole taxonomies" in found.warnings[0]
    assert audit(back, original=X, taxonomies=made).gcp == 1
    with pytest.raises(ValueError, match="give the whole taxonomy of column 'wage'"):
        ncp(back.data, X, taxonomies=back.taxonomies)
    # the root says nothing, as a star does
    est = C45Classifier(taxonomies=back.taxonomies).fit(back.data, back.y)
    assert len(est.tree_) == 1
    # who declares that everybody knows the values publishes them all
    known = {"wage": getattr(Taxonomy, maker)(X.wage, *edges, public=True)}
    r = cls(k=4, taxonomies=known).anonymize(X, ["a", "b", "a", "b"])
    assert all(str(o) in r.schema.to_json() for o in X.wage) and r.taxonomies == known


def test_a_node_whose_values_are_not_told_is_a_value_of_its_own():
    X = pd.DataFrame({"code": ["110", "111", "120", "121", "210", "211", "220", "221"]})
    y = pd.Series([*"aaaabbbb"], name="cls")
    made = {"code": Taxonomy.from_prefixes(X.code)}
    tool = MondrianAnonymizer(k=2, taxonomies=made).fit(X, y)
    trees = tool.release_.taxonomies
    est = C45Classifier(taxonomies=trees, min_samples_leaf=1, prune=False)
    est.fit(tool.release_.data, tool.release_.y)
    assert set(est.tree_.values[0]) == {"11*", "12*", "21*", "22*"}
    assert est.score(tool.release_.data, y) == 1
    assert tool.transform(X).equals(tool.release_.data)
    saved = pickle.loads(pickle.dumps(tool))
    assert set(map(str, saved.transform(X).code)) == {"*"}
    with pytest.raises(ValueError, match="made from the data, so give the whole one"):
        saved.fit(X, y)
    assert saved.set_params(taxonomies=made).fit(X, y).release_.text().equals(tool.release_.text())


def test_questions_of_kactus_about_rows_that_were_lost():
    """A binary question may be for a value that only lost rows have: it is forgotten"""
    hits = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame({"town": [f"secret{o}" for o in rng.integers(100, 106, 12)]})
        X["job"] = [f"secret{o}" for o in rng.integers(200, 204, 12)]
        y = pd.Series(rng.choice(["a", "b"], 12))
        grow = C45Classifier(binary_splits=True, prune=False, min_samples_leaf=1)
        tool = KActusAnonymizer(k=3, inducer=grow, merge="sets", random_state=0).fit(X, y)
        hidden = hidden_values(X, tool.release_)
        hits += bool(hidden & {o for v in tool.tree_.values for o in v})
        saved = pickle.dumps(tool)
        assert_silent(hidden, data=[saved], objects=[pickle.loads(saved)])
        cells = {c for o in X for c in row_cells(tool.release_.data[o])}
        again = tool.transform(X)
        assert {c for o in X for c in row_cells(again[o])} <= cells | {Suppressed()}
    assert hits > 10


def test_thresholds_that_are_values_move_and_send_every_row_where_it_went():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"wage": rng.choice(WHOLE, 60), "part": rng.choice(PARTS, 60)})
    y = pd.Series(np.where(X.wage > WHOLE[6], "a", "b"))
    grow = C45Classifier(thresholds="data", prune=False, min_samples_leaf=1)
    for numeric in ("mean", "interval"):
        tool = KActusAnonymizer(k=3, inducer=grow, numeric=numeric, random_state=0).fit(X, y)
        hidden = hidden_values(X, tool.release_)
        saved = pickle.loads(pickle.dumps(tool))
        assert_silent(hidden, objects=[saved])
        own = tool.release_.data.drop(index=tool.release_.lost, errors="ignore")
        assert tool.transform(X.loc[own.index]).astype(str).equals(own.astype(str))


def test_the_search_finds_what_is_there():
    hidden = {"secret1037", 700_001.0, pd.Timestamp("1931-03-17").date()}
    assert told_in_text("a,secret1037", hidden) == {"secret1037"}
    assert told_in_text("[700001, 800000]", hidden) == {700_001.0}
    assert told_in_text("since 1931-03-17 10:00", hidden) == {pd.Timestamp("1931-03-17").date()}
    assert not told_in_text("secret10370 1700001 1931-03-18", hidden)
    for o in (np.array([1, 700_001]), np.array([700_001.0]), pd.Series(["secret1037"])):
        assert told_in_bytes(pickle.dumps(o), hidden) and told_in_object([{"x": (o,)}], hidden)
    assert told_in_object(Interval(0, 700_001), hidden) == {700_001.0}
    assert told_in_object(pd.Timestamp("1931-03-17"), hidden)
    assert told_in_object(np.array([pd.Timestamp("1931-03-17").value]), hidden)
    tool = MondrianAnonymizer(k=2).fit(pd.DataFrame({"word": ["secret1037", "b"]}))
    assert told_in_object(tool, hidden) and told_in_bytes(pickle.dumps(tool), hidden)
