"""Trees as SQL, run in sqlite, and as PMML, read by a small evaluator: both answer as `predict`"""

import sqlite3
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppdt.c45 import C45Classifier, ID3Classifier
from ppdt.encoder import ReleaseEncoder
from ppdt.generalization import Taxonomy
from ppdt.id3_sets import GeneralizedID3Classifier
from ppdt.kadet import KADETClassifier, with_levels
from ppdt.mondrian import MondrianAnonymizer
from ppdt.release import AnonymizedClassifier
from ppdt.tables import MISSING, Exact, ValueSet, cell_column
from ppdt.trees import from_tree, tree_from_json, tree_json, tree_pmml, tree_sql

# a database


def answers(expression, X):
    """What a database answers for each row"""
    con = sqlite3.connect(":memory:")
    try:
        X.to_sql("people", con, index=False)
        found = con.execute(f"SELECT {expression} AS answer FROM people").fetchall()
    finally:
        con.close()
    return [o[0] for o in found]


# a reader of PMML, as its specification says

PMML = "{http://www.dmg.org/PMML-4_4}"
# what may stand in an element, in this order
ORDER = {
    "PMML": ["Header", "DataDictionary", "TreeModel", "MiningModel"],
    "Header": ["Application"],
    "Application": [],
    "DataDictionary": ["DataField"],
    "DataField": ["Value"],
    "Value": [],
    "MiningModel": ["MiningSchema", "Segmentation"],
    "Segmentation": ["Segment"],
    "Segment": ["True", "TreeModel"],
    "TreeModel": ["MiningSchema", "Node"],
    "MiningSchema": ["MiningField"],
    "MiningField": [],
    "Node": ["SimplePredicate", "CompoundPredicate", "True", "ScoreDistribution", "Node"],
    "CompoundPredicate": ["SimplePredicate"],
    "SimplePredicate": [],
    "True": [],
    "ScoreDistribution": [],
}
NEEDED = {
    "PMML": {"version"},
    "DataField": {"name", "optype", "dataType"},
    "Value": {"value"},
    "MiningModel": {"functionName"},
    "Segmentation": {"multipleModelMethod"},
    "TreeModel": {"functionName"},
    "MiningField": {"name"},
    "Node": {"id", "score", "recordCount"},
    "SimplePredicate": {"field", "operator"},
    "CompoundPredicate": {"booleanOperator"},
    "ScoreDistribution": {"value", "recordCount"},
}
TYPES = {"double": float, "integer": int, "string": str, "boolean": lambda v: v == "true"}


def check_structure(e):
    """Elements in their order, with the attributes that they need"""
    kind = e.tag.removeprefix(PMML)
    assert NEEDED.get(kind, set()) <= set(e.keys()), (kind, e.keys())
    places = [ORDER[kind].index(o.tag.removeprefix(PMML)) for o in e]
    assert places == sorted(places), kind
    for o in e:
        check_structure(o)


def holds(node, row, types):
    """True, False, or None where unknown"""
    p = next(o for o in node if o.tag == PMML + "True" or o.tag.endswith("Predicate"))
    if p.tag == PMML + "True":
        return True
    if p.tag == PMML + "CompoundPredicate":
        parts = [told_by(o, row, types) for o in p]
        if p.get("booleanOperator") == "and":
            return False if False in parts else None if None in parts else True
        return True if True in parts else None if None in parts else False
    return told_by(p, row, types)


def told_by(p, row, types):
    """True, False, or None where unknown, of a simple predicate"""
    v, operator = row[p.get("field")], p.get("operator")
    if operator in ("isMissing", "isNotMissing"):
        return (v is None) == (operator == "isMissing")
    if v is None:
        return None
    told = TYPES[types[p.get("field")]](p.get("value"))
    return {
        "equal": v == told,
        "notEqual": v != told,
        "lessOrEqual": operator == "lessOrEqual" and v <= told,
        "greaterThan": operator == "greaterThan" and v > told,
    }[operator]


def shares_of(node):
    return {
        o.get("value"): float(o.get("confidence")) for o in node.findall(PMML + "ScoreDistribution")
    }


def score(node, row, strategy, types):
    """Shares of the classes of a row at a node"""
    kids = node.findall(PMML + "Node")
    if not kids:
        return shares_of(node)
    found = [holds(o, row, types) for o in kids]
    first = next((i for i, o in enumerate(found) if o is not False), None)
    if first is None:
        return shares_of(node)  # returnLastPrediction
    if found[first]:
        return score(kids[first], row, strategy, types)
    if strategy == "lastPrediction":
        return shares_of(node)
    if strategy == "defaultChild":
        kid = next(o for o in kids if o.get("id") == node.get("defaultChild"))
        return score(kid, row, strategy, types)
    assert strategy == "weightedConfidence"
    open_kids = [o for o, f in zip(kids, found) if f is not False]
    total = sum(float(o.get("recordCount")) for o in open_kids)
    res = dict.fromkeys(shares_of(node), 0.0)
    for o in open_kids:
        w = float(o.get("recordCount")) / total
        if w:
            for c, v in score(o, row, strategy, types).items():
                res[c] += w * v
    return res


def evaluate(text, X):
    """The class of each row by a PMML document, as text"""
    root = ElementTree.fromstring(text.split("?>", 1)[1])
    check_structure(root)
    fields = root.find(PMML + "DataDictionary")
    assert int(fields.get("numberOfFields")) == len(fields)
    types = {o.get("name"): o.get("dataType") for o in fields}
    classes = [o.get("value") for o in fields[-1]]
    models = root.findall(f".//{PMML}TreeModel")
    method = getattr(root.find(f".//{PMML}Segmentation"), "attrib", {}).get("multipleModelMethod")
    res = []
    for row in X.astype(object).where(X.notna(), None).to_dict("records"):
        total = dict.fromkeys(classes, 0.0)
        for m in models:
            found = score(m.find(PMML + "Node"), row, m.get("missingValueStrategy"), types)
            if method == "majorityVote":
                best = max(found, key=found.get)
                found = {c: float(c == best) for c in found}
            for c, v in found.items():
                total[c] += v
        best = max(total.values())
        res.append(next(c for c in classes if total[c] >= best - 1e-12))
    return res


# tables


def a_table(seed, gaps=False, n=40):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            'age "now"': rng.integers(20, 60, n).astype(float),
            "part": rng.random(n).round(2),
            "job's": rng.choice(["it's", 'a "b"', "c;--", "d"], n),
            "code": pd.Categorical(rng.integers(1, 4, n)),
            "big": rng.choice([True, False], n),
        }
    )
    y = np.where((X['age "now"'] > 40) ^ (X["job's"] == "d"), "y'es", "no")
    flip = rng.random(n) < 0.2
    y = np.where(flip, rng.choice(["no", "y'es", 'per"haps'], n), y)
    if gaps:
        X['age "now"'] = X['age "now"'].mask(rng.random(n) < 0.2)
        X["job's"] = X["job's"].mask(rng.random(n) < 0.2)
        X["part"] = X["part"].mask(rng.random(n) < 0.2)
    return X, y


def others(X, seed):
    """Rows that were not learnt from, some with values that nobody had"""
    rng = np.random.default_rng(seed + 1)
    X = X.sample(frac=1, random_state=seed % 1000).reset_index(drop=True)
    X['age "now"'] += rng.choice([0, 0.5, 20], len(X))
    X["job's"] = X["job's"].where(rng.random(len(X)) < 0.9, "unheard of")
    return X


LEARNERS = [
    C45Classifier(min_samples_leaf=1),
    C45Classifier(prune=False, min_samples_leaf=1),
    C45Classifier(prune=False, binary_splits=True, min_samples_leaf=1),
    C45Classifier(max_depth=0),
    C45Classifier(class_weight="balanced"),
]


@pytest.mark.parametrize("clf", LEARNERS, ids=str)
@one_in(25)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_trees_of_this_package(clf, seed, gaps):
    X, y = a_table(seed, gaps)
    clf.fit(X, y)
    asked = others(X, seed)
    expected = clf.predict(asked).tolist()
    assert answers(tree_sql(clf, counts=True), asked) == expected
    assert evaluate(tree_pmml(clf, counts=True), asked) == expected
    # without counts: as a tree that was read from a file without them
    whole = asked.notna().all(axis=1).to_numpy()
    assert answers(tree_sql(clf), asked[whole]) == np.array(expected, dtype=object)[whole].tolist()
    read = C45Classifier.from_tree(tree_from_json(tree_json(clf.tree_)))
    expected = read.predict(asked).tolist()
    assert answers(tree_sql(clf), asked) == expected == answers(tree_sql(clf.tree_), asked)
    assert evaluate(tree_pmml(clf), asked) == expected


@one_in(4)
@given(st.integers(0, 2**32 - 1))
def test_id3(seed):
    X, y = a_table(seed)
    X = X[["job's", "code", "big"]]
    asked = X.assign(**{"job's": others(a_table(seed)[0], seed)["job's"]})
    clf = ID3Classifier().fit(X, y)
    expected = clf.predict(asked).tolist()
    assert answers(tree_sql(clf, counts=True), asked) == expected
    assert evaluate(tree_pmml(clf), asked) == expected


@one_in(4)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["fractional", "most_frequent"]))
def test_trees_on_sets_are_asked_raw_rows(seed, convert):
    rng = np.random.default_rng(seed)
    n = 24
    jobs = [Exact("x"), Exact("y"), ValueSet(["x", "y"]), ValueSet(["x", "z"])]
    X = pd.DataFrame(
        {
            "job": cell_column(rng.integers(0, 4, n), jobs),
            "place": cell_column(rng.integers(0, 4, n), jobs),
        }
    )
    y = rng.choice(["u", "v"], n)
    asked = pd.DataFrame(rng.choice(["x", "y", "z", "w", None], (n, 2)), columns=X.columns)
    asked = asked.astype(object).where(asked.notna(), None)
    for clf in (
        GeneralizedID3Classifier(convert=convert, min_fragment=0),
        C45Classifier(min_samples_leaf=1, prune=False),
    ):
        clf.fit(X, y)
        assert answers(tree_sql(clf, counts=True), asked) == clf.predict(asked).tolist()
        whole = asked[asked.notna().all(axis=1)]
        if len(whole):
            assert evaluate(tree_pmml(clf, counts=True), whole) == clf.predict(whole).tolist()


SKLEARN = [
    DecisionTreeClassifier(random_state=0),
    DecisionTreeClassifier(max_depth=2, random_state=0, class_weight="balanced"),
    RandomForestClassifier(4, max_depth=4, random_state=0),
    ExtraTreesClassifier(4, max_depth=4, random_state=0),
    BaggingClassifier(DecisionTreeClassifier(max_depth=3), 4, max_features=1, random_state=0),
]


@pytest.mark.parametrize("clf", SKLEARN, ids=lambda o: str(o)[:50])
@one_in(25)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_trees_of_scikit_learn(clf, seed, gaps):
    X, y = a_table(seed, gaps)
    X = X[['age "now"', "part"]].astype(np.float32).astype(float)
    y = np.where(y == "no", 7, 3) if seed % 2 else y
    clf.fit(X, y)
    asked = X.iloc[::-1].reset_index(drop=True)
    asked['age "now"'] += 0.25
    expected = clf.predict(asked).tolist()
    texts = [str(o) for o in expected]
    # where classes are near a tie, floats decide
    p = np.sort(clf.predict_proba(asked), axis=1)
    clear = p[:, -1] - p[:, -2] > 1e-9
    sure = clear if hasattr(clf, "estimators_") else np.ones(len(asked), dtype=bool)
    for found, want in (
        (answers(tree_sql(clf, counts=True), asked), expected),
        (evaluate(tree_pmml(clf, counts=True), asked), texts),
    ):
        assert [o for o, s in zip(found, sure) if s] == [o for o, s in zip(want, sure) if s]
    if not hasattr(clf, "estimators_"):
        assert answers(tree_sql(clf), asked) == expected
        assert evaluate(tree_pmml(clf), asked) == texts
        return
    votes = np.stack([o.predict(asked.to_numpy()[:, f]) for o, f in members(clf)]).astype(int)
    most = [clf.classes_[np.bincount(v).argmax()] for v in votes.T]
    assert answers(tree_sql(clf), asked) == most
    assert evaluate(tree_pmml(clf), asked) == [str(o) for o in most]


def members(clf):
    """(tree, its features) of a forest"""
    return zip(clf.estimators_, getattr(clf, "estimators_features_", [[0, 1]] * 99))


def test_dates_and_missing_as_a_value():
    X = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=20, freq="7h")})
    y = np.where(X.day > "2024-01-03 10:00", "late", "early")
    clf = C45Classifier().fit(X, y)
    for table in (X, X.assign(day=X.day.dt.strftime("%Y-%m-%d %H:%M:%S"))):
        assert answers(tree_sql(clf), table) == clf.predict(X).tolist()
    with pytest.raises(ValueError, match="Got dates in 'day'"):
        tree_pmml(clf)
    far = C45Classifier().fit(X.assign(day=X.day.dt.tz_localize("Europe/Paris")), y)
    for write in (tree_sql, tree_pmml):
        with pytest.raises(ValueError, match="without a time zone. Got 'day'"):
            write(far)
    told = C45Classifier().fit(pd.DataFrame({"a": ["x", None] * 6}), ["u", "v"] * 6)
    assert answers(tree_sql(told), pd.DataFrame({"a": ["x", None]}))[0] == "u"
    gap = pd.DataFrame({"a": cell_column([0, 1] * 6, [Exact("x"), Exact(MISSING)])})
    clf = C45Classifier().fit(gap, ["u", "v"] * 6)
    asked = pd.DataFrame({"a": ["x", None]})
    assert clf.predict(asked).tolist() == ["u", "v"]
    assert answers(tree_sql(clf), asked) == ["u", "v"] == evaluate(tree_pmml(clf), asked)
    cells = [Exact("x"), Exact(MISSING), Exact("z")]
    gap = pd.DataFrame({"a": cell_column([0, 1, 2] * 6, cells)})
    asked = pd.DataFrame({"a": ["x", None, "z", "w"]})
    for classes in ("uvv", "uvw", "vuv"):
        clf = C45Classifier(binary_splits=True).fit(gap, list(classes) * 6)
        expected = clf.predict(asked).tolist()
        assert answers(tree_sql(clf), asked) == expected == evaluate(tree_pmml(clf), asked)


def test_a_tree_behind_an_anonymizer_and_a_deep_one():
    X, y = a_table(3)
    X = X[['age "now"', "job's"]]
    clf = AnonymizedClassifier(MondrianAnonymizer(k=3), C45Classifier(prune=False)).fit(X, y)
    assert answers(tree_sql(clf, counts=True), X) == clf.predict(X).tolist()
    pipe = make_pipeline(ReleaseEncoder(), DecisionTreeClassifier(random_state=0)).fit(X, y)
    made = pd.DataFrame(pipe[0].transform(X), columns=pipe[0].get_feature_names_out())
    assert answers(tree_sql(pipe), made) == pipe.predict(X).tolist()
    deep = pd.DataFrame({"a": np.arange(80.0)})
    chain = DecisionTreeClassifier(random_state=0).fit(deep, np.arange(80) % 2)
    assert answers(tree_sql(chain), deep) == (np.arange(80) % 2).tolist()
    with pytest.raises(ValueError, match="at most 300 questions below each other. Got"):
        tree_sql(DecisionTreeClassifier().fit(np.arange(700.0)[:, None], np.arange(700) % 2))
    short = DecisionTreeClassifier(max_depth=12, random_state=0).fit(deep, np.arange(80) % 2)
    assert answers(tree_sql(from_tree(short)), deep) == short.predict(deep).tolist()


def test_no_counts_leave_unless_asked():
    X, y = a_table(5)
    clf = C45Classifier(prune=False).fit(X, y)
    shares = clf.tree_.counts / clf.tree_.n[:, None].clip(1e-9)
    told = {repr(float(v)) for v in shares.ravel() if len(repr(float(v))) > 8}
    assert told and not any(v in tree_sql(clf) for v in told)
    assert not any(f'"{v}"' in tree_pmml(clf) for v in told)
    assert 'recordCount="1.0"' in tree_pmml(clf)
    assert any(v in tree_pmml(clf, counts=True) for v in told)


def test_coarser_levels_are_columns():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"job": rng.choice(["a", "b", "c", "d"], 40)})
    tax = {"job": Taxonomy.from_dict({"*": {"ab": ["a", "b"], "cd": ["c", "d"]}})}
    y = np.where(X.job.isin(["a", "b"]), "u", "v")
    clf = KADETClassifier(k=15, public=["job"], taxonomies=tax).fit(X, y)
    expected = clf.predict(X).tolist()
    assert set(expected) == {"u", "v"}
    for write, ask in ((tree_sql, answers), (tree_pmml, evaluate)):
        assert "job (level 1)" in write(clf)
        assert ask(write(clf), with_levels(X, tax)) == expected


@pytest.mark.parametrize("write", [tree_sql, tree_pmml])
def test_what_is_refused(write):
    X, y = a_table(0)
    N = X[["part"]]
    own = pd.DataFrame({"a": cell_column([0, 1] * 6, [Exact("x"), ValueSet(["x", "y"])])})
    cells = GeneralizedID3Classifier(entropy="own_value").fit(own, ["u", "v"] * 6)
    for model, error, text in (
        (AdaBoostClassifier().fit(N, y), TypeError, "Got AdaBoostClassifier"),
        (GradientBoostingClassifier(n_estimators=2).fit(N, y), TypeError, "Got GradientBoosting"),
        (DecisionTreeRegressor().fit(N, N.part), TypeError, "answers with numbers"),
        (DecisionTreeClassifier(), ValueError, "must be fitted"),
        (C45Classifier(), TypeError, "Got C45Classifier"),
        (cells, ValueError, "'tree' must ask for raw values"),
    ):
        with pytest.raises(error, match=text):
            write(model)
    with pytest.raises(ValueError, match="'feature_names' must have one name"):
        write(DecisionTreeClassifier().fit(N, y), feature_names=["a", "b"])
    with pytest.raises(ValueError, match="'target' must be a name"):
        tree_pmml(DecisionTreeClassifier().fit(N, y), "part")
