"""Trees as files and pictures: JSON, its schema and its loader, Graphviz text, drawings."""

import copy
import itertools
import json
import re
import warnings

import matplotlib
import numpy as np
import pandas as pd
import pytest
from examples import one_in

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from hypothesis import given, strategies as st
from random_trees import chain, make_tree, random_row, random_tree, trees

from ppdt.c45 import C45Classifier
from ppdt.datasets import load_customers
from ppdt.engine.paths import decision_path, path_answer
from ppdt.engine.reading import explain, tree_rules
from ppdt.engine.tree_texts import node_answers, tree_text
from ppdt.growing import LEAF, MULTIWAY, ONE_VALUE, THRESHOLD, Tree
from ppdt.models import audit_model
from ppdt.tables import (
    MISSING,
    Centroid,
    Exact,
    Interval,
    Node,
    Suppressed,
    TextFormError,
    ValueSet,
)
from ppdt.trees import plot_tree, tree_dot, tree_from_json, tree_json, tree_schema


def equal(a, b):
    """Node by node"""
    return all(
        np.array_equal(getattr(a, o), getattr(b, o), equal_nan=o == "threshold")
        for o in ("parent", "attribute", "level", "kind", "threshold", "code", "counts", "n")
    )


@pytest.fixture(scope="module")
def tree():
    c = load_customers()
    return C45Classifier().fit(c[["Gender", "Marital", "Age"]], c.Bought).tree_


# ---- JSON: round trip

_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    ["*", "", " a ", "{a, b}", '"x"', "[1, 2]", "<n>", "~v", "missing", '"missing"', "a,b", "\\"]
)
_stamps = st.datetimes(pd.Timestamp("1700-01-01"), pd.Timestamp("2200-01-01")).map(pd.Timestamp)
_floats = st.floats(allow_nan=False, allow_infinity=False)
_plain = st.one_of(
    *(
        st.lists(o, min_size=1, max_size=4, unique=True)
        for o in (
            _text,
            st.integers(-(2**63), 2**63 - 1),
            _floats,
            st.booleans(),
            _stamps,
            _stamps.map(lambda o: o.tz_localize("UTC")),
        )
    )
)


@st.composite
def value_lists(draw):
    vs = draw(_plain)
    if draw(st.booleans()):
        vs = vs + [MISSING]
    if draw(st.booleans()):
        return vs
    kind = [Exact(vs[0]), ValueSet(vs), Suppressed(), Centroid(vs[0]), Node("a, b"), Node("x")]
    if vs[0] is not MISSING and not isinstance(vs[0], (bool, str)):
        kind.append(Interval(vs[0], vs[0], False))
    if len(vs) > 1 and draw(st.booleans()):
        kind.append(Exact(vs[1]))
    return list(dict.fromkeys(kind))


@st.composite
def any_trees(draw):
    """A tree of all kinds over odd values, names and classes, with odd thresholds"""
    values = [draw(value_lists()) for _ in range(draw(st.integers(1, 4)))]
    names = draw(st.lists(_text, min_size=len(values), max_size=len(values), unique=True))
    classes = draw(
        st.sampled_from(
            [
                np.array(["b", "*", ""], dtype=object),
                np.array([1, 2, 5]),
                np.array([0.5, 1.0, 2.0]),
                np.array([True, False]),
                np.array(
                    [
                        pd.Timestamp("2024-01-01"),
                        pd.Timestamp("2024-01-02"),
                        pd.Timestamp("2025-01-01"),
                    ],
                    dtype=object,
                ),
            ]
        )
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    t = random_tree(
        rng,
        draw(st.integers(0, 6)),
        n_classes=len(classes),
        fractions=draw(st.booleans()),
        names=names,
        values=values,
        classes=classes,
    )
    cut = np.where(t.kind == THRESHOLD, draw(_floats), t.threshold)
    return Tree(
        t.parent,
        t.attribute,
        np.where(t.kind == LEAF, 0, rng.integers(0, 3, len(t))),
        t.kind,
        cut,
        t.code,
        t.counts,
        t.n,
        t.names,
        t.values,
        classes,
        draw(
            st.sampled_from(
                [{}, {names[0]: "datetime64[ns]"}, {names[0]: "datetime64[ns, Europe/Paris]"}]
            )
        ),
    )


def alike(vs, ws):
    return vs == ws and [type(o) for o in vs] == [type(o) for o in ws]


@given(any_trees())
def test_json_round_trip(t):
    text = tree_json(t, counts=True)
    back = tree_from_json(text)
    by_value = {
        j for j, k in zip(t.attribute.tolist(), t.kind.tolist()) if k in (MULTIWAY, ONE_VALUE)
    }
    assert back.names == t.names and back.dates == {
        o: d for o, d in t.dates.items() if t.names.index(o) in t.attribute
    }
    for j, (v, w) in enumerate(zip(back.values, t.values)):
        assert alike(v, w) if j in by_value else v == (["<=", ">"] if j in t.attribute else [])
    assert back.classes.tolist() == t.classes.tolist() and back.classes.dtype == t.classes.dtype
    assert equal(back, t) and not back.withheld
    assert tree_text(back) == tree_text(t) and tree_json(back, counts=True) == text
    bare = tree_from_json(tree_json(t))
    assert (
        "counts" not in json.loads(tree_json(t))
        and node_answers(bare) == node_answers(t)
        and bare.withheld
    )
    assert tree_text(bare) == tree_text(bare, counts=True) == tree_text(t, counts=False)
    assert (
        tree_rules(bare) == tree_rules(t)
        and tree_dot(bare) == tree_dot(t)
        and tree_json(bare) == tree_json(bare, counts=True) == tree_json(t)
    )
    assert "NaN" not in re.sub(r'"(\\.|[^"\\])*"', "", text)


@given(any_trees())
def test_without_counts_only_values_of_questions_are_told(t):
    bare = tree_from_json(tree_json(t))
    for j, v in enumerate(bare.values):
        many, one = (
            t.code[1:][(t.attribute[t.parent[1:]] == j) & (t.kind[t.parent[1:]] == MULTIWAY)],
            t.threshold[(t.attribute == j) & (t.kind == ONE_VALUE)],
        )
        told = sorted({*map(int, many), *map(int, one)})
        assert (
            alike(v, [t.values[j][i] for i in told])
            if told
            else v == (["<=", ">"] if j in t.attribute else [])
        )


@given(trees(), st.integers(0, 2**32 - 1).map(np.random.default_rng))
def test_loaded_trees_answer_alike(t, rng):
    back = tree_from_json(tree_json(t, counts=True))
    for _ in range(3):
        row = random_row(rng)
        assert decision_path(back, row) == decision_path(t, row) and explain(back, row) == explain(
            t, row
        )


def test_without_counts_a_missing_value_goes_down_all_branches_alike(tree):
    bare = tree_from_json(tree_json(tree))
    assert [
        o.weight for o in decision_path(bare, {"Gender": None, "Marital": "Married", "Age": 1})
    ] == [1, 0.5, 0.5, 0.5, 0.5, 0.5]
    c = load_customers()[["Gender", "Marital", "Age"]]
    clf = C45Classifier().fit(c, load_customers().Bought)
    clf.tree_ = bare
    assert np.allclose(clf.predict_proba(c.assign(Gender=None)).sum(axis=1), 1)


def test_an_empty_leaf_is_not_told_without_counts():
    t = make_tree(
        [-1, 0, 0, 0],
        [0, -1, -1, -1],
        [MULTIWAY, 0, 0, 0],
        [np.nan] * 4,
        [-1, 0, 1, 2],
        [[1, 3], [1, 0], [0, 3], [0, 0]],
        ["a"],
        [["u", "v", "w"]],
        ["no", "yes"],
    )
    assert json.loads(tree_json(t))["class"] == [1, 0, 1, 1] and tree_from_json(
        tree_json(t, counts=True)
    ).n.tolist() == [4, 1, 3, 0]


def test_columns_that_are_not_asked_are_names_only():
    ids = pd.DataFrame(
        {
            "name": ["Ann Miller", "Bob Stone", "Cy Young", "Dee Dix"],
            "age": [20, 30, 60, 70],
            "born": pd.to_datetime(["1980-02-01", "1970-01-02", "1960-05-05", "1950-01-09"]),
        }
    )
    clf = C45Classifier().fit(ids[["name", "age"]], list("uuvv"))
    for counts in (False, True):
        text = tree_json(clf, counts=counts)
        assert json.loads(text)["attributes"] == [
            {"name": "name", "dtype": "str", "cells": False, "values": []},
            {"name": "age", "dtype": "str", "cells": False, "values": ["<=", ">"]},
        ]
        loaded = C45Classifier.from_tree(tree_from_json(text))
        for X in (
            ids[["age"]],
            ids[["name", "age"]],
            ids[["name", "age"]].assign(name=[1, "Eve", None, Node("x")]),
        ):
            assert loaded.predict(X).tolist() == list("uuvv")
    clf = C45Classifier().fit(ids[["born", "age"]], list("uuvv"))
    assert tree_json(clf).count("datetime64") == 1 and json.loads(tree_json(clf))["attributes"][
        1
    ] == {"name": "age", "dtype": "str", "cells": False, "values": []}


def test_a_grown_tree_of_numbers_does_not_list_them():
    t = make_tree(
        [-1, 0, 0],
        [0, -1, -1],
        [THRESHOLD, 0, 0],
        [30.5, np.nan, np.nan],
        [-1, 0, 1],
        [[1, 1], [1, 0], [0, 1]],
        ["age"],
        [[29, 32, 71]],
        ["no", "yes"],
    )
    for counts in (False, True):
        assert "71" not in tree_json(t, counts) and tree_text(
            tree_from_json(tree_json(t, counts)), counts=False
        ) == tree_text(t, counts=False)


@one_in(5)
@given(st.integers(0, 2**32 - 1).map(np.random.default_rng), st.booleans())
def test_left_out_values_do_not_change_an_answer(rng, binary):
    n = 40
    X = pd.DataFrame(
        {
            "job": rng.choice(list("abcdefg"), n),
            "town": rng.choice(list("uvwxyz"), n),
            "age": rng.integers(20, 60, n),
        }
    )
    y = np.where((X.job.isin(list("ab")) ^ (X.town == "u")) & (rng.random(n) < 0.9), "yes", "no")
    clf = C45Classifier(binary_splits=binary, min_samples_leaf=1, prune=False).fit(X, y)
    new = pd.DataFrame(
        {
            "job": rng.choice(list("abcdefghi"), n),
            "town": rng.choice(list("uvwxyz?"), n),
            "age": rng.integers(10, 70, n),
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = C45Classifier.from_tree(tree_from_json(tree_json(clf)))
        for Z in (X, new):
            assert loaded.predict(Z).tolist() == clf.predict(Z).tolist()
            for i in range(5):
                assert (
                    clf.explain(Z.iloc[i]).split("nother answer")[0]
                    == loaded.explain(Z.iloc[i]).split("nother answer")[0]
                )
        # a set of values is divided as before, among the asked one and any other
        if binary:
            Z = X.astype(object).assign(
                job=[
                    ValueSet(rng.choice(X.job.unique(), 3, replace=False).tolist())
                    for _ in range(n)
                ]
            )
            for i in range(10):
                assert [(o.node, round(o.weight, 9)) for o in loaded.path(Z.iloc[i])] == [
                    (o.node, round(o.weight, 9)) for o in clf.path(Z.iloc[i])
                ]
            p = loaded.predict_proba(Z)
            for i in range(10):
                assert np.allclose(
                    path_answer(loaded.tree_, loaded.path(Z.iloc[i])), p[i], atol=0.05
                )


def test_unknown_values_of_a_loaded_tree_are_any_other():
    X = pd.DataFrame({"job": list("aabbccdd")})
    clf = C45Classifier(binary_splits=True).fit(X, list("yynnnnnn"))
    loaded = C45Classifier.from_tree(tree_from_json(tree_json(clf)))
    assert (
        loaded.tree_.values == [[clf.tree_.values[0][int(clf.tree_.threshold[0])]]]
        and len(clf.tree_) > 2
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert loaded.predict(pd.DataFrame({"job": ["a", "b", "new"]})).tolist() == ["y", "n", "n"]
        cells = pd.DataFrame(
            {"job": [ValueSet(list(o)) for o in ("abcd", "ab", "bc")]}, dtype=object
        )
        assert loaded.predict_proba(cells).tolist() == [
            [0.75, 0.25],
            [0.5, 0.5],
            [1, 0],
        ] and clf.predict_proba(cells).tolist() == [[0.75, 0.25], [0.5, 0.5], [1, 0]]


@pytest.mark.parametrize("binary", [False, True])
def test_a_loaded_tree_is_audited_like_the_fitted_one(binary):
    c = load_customers()
    X = c[["Gender", "Marital", "Age"]].assign(Marital=c.Marital.where(c.Age < 66, "Widowed"))
    clf = C45Classifier(binary_splits=binary, prune=False, min_samples_leaf=1).fit(X, c.Bought)
    for public in (["Gender"], ["Gender", "Marital"], list(X)):
        assert (
            len(
                {
                    audit_model(o, X, public, y=c.Bought).k
                    for o in (
                        clf.tree_,
                        tree_from_json(tree_json(clf)),
                        tree_from_json(tree_json(clf, counts=True)),
                    )
                }
            )
            == 1
        )


def test_one_leaf_keeps_its_counts_to_itself(capsys):
    t = make_tree([-1], [-1], [LEAF], [np.nan], [-1], [[5, 9]], [], [], ["no", "yes"])
    bare = tree_from_json(tree_json(t))
    assert (
        tree_text(t) == ": yes (14/5)"
        and tree_text(bare) == str(bare) == ": yes"
        and tree_rules(bare, counts=True) == ["Always yes."]
        and explain(bare, {}, counts=True) == "Answer: yes."
    )
    assert str(C45Classifier.from_tree(bare)) == ": yes"
    one = make_tree(
        [-1, 0, 0],
        [0, -1, -1],
        [THRESHOLD, 0, 0],
        [1, np.nan, np.nan],
        [-1, 0, 1],
        [[1, 0], [1, 0], [0, 1]],
        ["a"],
        [[]],
        ["no", "yes"],
    )
    # real ones are not taken for made-up ones
    assert tree_text(one) == "a <= 1: no (1)\na > 1: yes (1)"


def test_version_1_is_read():
    old = (
        '{"format": "ppdt-tree", "version": 1, "classes": ["No", "Yes"], "class_dtype": "str",'
        ' "attributes": [{"name": "Gender", "dtype": "str", "cells": false, "values": ["Female",'
        ' "Male"]}], "parent": [-1, 0, 0], "attribute": [0, -1, -1], "code": [-1, 0, 1], "counts":'
        " [[7.0, 7.0], [3.0, 2.0], [4.0, 5.0]]}"
    )
    t = tree_from_json(old)
    assert tree_text(
        t
    ) == "Gender = Female: No (5/2)\nGender = Male: Yes (9/4)" and t.kind.tolist() == [
        MULTIWAY,
        LEAF,
        LEAF,
    ]
    d = json.loads(old)
    d["class"] = [0, 0, 1]
    del d["counts"]
    assert tree_text(tree_from_json(json.dumps(d))) == "Gender = Female: No\nGender = Male: Yes"


@pytest.mark.parametrize("values", [[7, "a"], [pd.Timestamp("1931-03-24"), "1931-03"], [True, "*"]])
def test_texts_beside_values_of_another_type(tree, values):
    """A release that shows some dates, and others as their node, is learnt with its name"""
    two = copy.deepcopy(tree)
    two.values[0] = values
    back = tree_from_json(tree_json(two))
    assert back.values[0] == values and list(map(type, back.values[0])) == list(map(type, values))
    d = json.loads(tree_json(two))
    for odd in ([5], [-1], ["a"], 1, None):
        d["attributes"][0]["texts"] = odd
        with pytest.raises(TextFormError, match="'texts' of 'Gender' must be"):
            tree_from_json(json.dumps(d))


def test_what_cannot_be_written(tree):
    two = copy.deepcopy(tree)
    two.values[0] = [7, pd.Timestamp("2024-01-01")]
    with pytest.raises(
        TypeError, match="Values of 'Gender' must be all strings.*turn them into strings before fit"
    ):
        tree_json(two)
    two.values[0] = [pd.Interval(pd.Timedelta(1), pd.Timedelta(2)), "a"]
    with pytest.raises(TypeError, match="Got .'Interval'."):
        tree_json(two)
    bad = copy.deepcopy(tree)
    bad.threshold[tree.kind == THRESHOLD] = np.nan
    with pytest.raises(ValueError, match="must have a finite threshold at node"):
        tree_json(bad)


@pytest.mark.parametrize(
    "dates", ["int64", 3, None, "datetime64[ns, Nowhere/City]", "datetime64[ns", "datetime64[D]"]
)
def test_dates_that_cannot_be_read(tree, dates):
    d = json.loads(tree_json(tree))
    assert "dates" not in tree_json(tree) and tree_from_json(tree_json(tree)).dates == {}
    d["attributes"][2]["dates"] = dates
    with pytest.raises(TextFormError, match="'dates' of 'Age' must be a type such as"):
        tree_from_json(json.dumps(d))


@pytest.mark.parametrize("kind", [MULTIWAY, THRESHOLD, ONE_VALUE])
def test_ten_thousand_deep(kind):
    t = chain(10_000, kind)
    assert equal(tree_from_json(tree_json(t, counts=True)), t) and tree_dot(t).count("->") == 20_000
    plot_tree(t, max_depth=3)
    plt.close("all")


@pytest.mark.parametrize(
    "cut",
    [
        lambda s: pd.cut(s, [0, 30, 50, 60, 100]),
        lambda s: pd.cut(s, 3),
        lambda s: pd.qcut(s / 7, 3),
        lambda s: pd.cut(s, [0, 50, 100], right=False),
        lambda s: pd.cut(pd.to_datetime(s, unit="D"), 3),
    ],
)
@pytest.mark.parametrize("counts", [False, True])
def test_intervals_of_pandas(cut, counts):
    c = load_customers()
    X = pd.DataFrame({"Age": cut(c.Age), "Gender": c.Gender})
    clf = C45Classifier(prune=False, min_samples_leaf=1).fit(X, c.Bought)
    text = tree_json(clf, counts=counts)
    back = tree_from_json(text)
    assert json.loads(text)["attributes"][0]["dtype"] == "interval" and all(
        o in X.Age.cat.categories for o in back.values[0]
    )
    assert C45Classifier.from_tree(back).predict(X).tolist() == clf.predict(
        X
    ).tolist() and tree_text(back, counts=False) == tree_text(clf, counts=False)
    assert "Answer: " + clf.predict(X)[0] in C45Classifier.from_tree(back).explain(X.iloc[0])


@pytest.mark.parametrize("text", ["(0, 1", "0", "(a, b]", "(2, 1]", "(0, 2024-01-01]", "(nan, 1]x"])
def test_intervals_that_cannot_be_read(text):
    c = load_customers()
    d = json.loads(
        tree_json(
            C45Classifier(prune=False, min_samples_leaf=1).fit(
                pd.DataFrame({"Age": pd.cut(c.Age, 3)}), c.Bought
            )
        )
    )
    d["attributes"][0]["values"][0] = text
    with pytest.raises(TextFormError, match="the values of 'Age' cannot be read"):
        tree_from_json(json.dumps(d))


def test_classes_may_be_dates():
    c = load_customers()
    y = pd.Series(pd.to_datetime(["2024-01-01"] * 7 + ["2024-02-01"] * 7))
    clf = C45Classifier().fit(c[["Gender", "Age"]], y)
    loaded = C45Classifier.from_tree(tree_from_json(tree_json(clf)))
    assert (
        pd.to_datetime(loaded.predict(c[["Gender", "Age"]]))
        == pd.to_datetime(clf.predict(c[["Gender", "Age"]]))
    ).all() and str(loaded).startswith("Gender = Female: 2024-01-01")


# ---- JSON: the schema


def fits(x, schema):
    """The part of JSON Schema that tree_schema uses"""
    known = {
        "$schema",
        "title",
        "type",
        "const",
        "enum",
        "minimum",
        "minLength",
        "minItems",
        "items",
        "properties",
        "required",
        "oneOf",
    }
    assert not schema.keys() - known, schema.keys() - known
    types = {
        "object": dict,
        "array": list,
        "string": str,
        "boolean": bool,
        "null": type(None),
        "number": (int, float),
        "integer": int,
    }
    names = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", [])
    if names and not any(
        isinstance(x, types[o]) and (o == "boolean" or not isinstance(x, bool)) for o in names
    ):
        return False
    if "const" in schema and (x != schema["const"] or type(x) is not type(schema["const"])):
        return False
    if "enum" in schema and x not in schema["enum"]:
        return False
    if "minimum" in schema and x < schema["minimum"]:
        return False
    if (
        len(x) < schema.get("minLength", schema.get("minItems", 0))
        if isinstance(x, (str, list))
        else False
    ):
        return False
    if isinstance(x, list) and not all(fits(o, schema.get("items", {})) for o in x):
        return False
    if isinstance(x, dict):
        if not all(o in x for o in schema.get("required", ())):
            return False
        if not all(fits(v, schema.get("properties", {}).get(o, {})) for o, v in x.items()):
            return False
    return sum(fits(x, o) for o in schema["oneOf"]) == 1 if "oneOf" in schema else True


@given(any_trees(), st.booleans())
def test_files_fit_the_schema(t, counts):
    d = json.loads(tree_json(t, counts=counts))
    assert fits(d, tree_schema()) and d.keys() <= tree_schema()["properties"].keys()
    json.dumps(tree_schema())


# ---- JSON: hostile files


@pytest.fixture(scope="module")
def saved(tree):
    return tree_json(tree, counts=True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "7",
        '"x"',
        "{}",
        '{"format": "ppdt-tree", "version": 3}',
        '{"format": "ppdt-tree", "version": 2}',
        '{"format": "ppdt-tree", "version": true}',
        '{"format": "ppdt-tree", "version": 1}',
        "[" * 100_000,
        "1" * 5000,
        None,
        b"\xff",
    ],
)
def test_no_tree_at_all(text):
    with pytest.raises(TextFormError):
        tree_from_json(text)


_nine = [[1, 1]] * 9


@pytest.mark.parametrize(
    "field, value",
    [
        ("parent", [-1, 0, 0, 1, 1, 2, 2, 5]),
        ("parent", [0, 0, 0, 1, 1, 2, 2, 5, 5]),
        ("parent", [-1, 0, 0, -1, 1, 2, 2, 5, 5]),
        ("parent", [-1, 0, 0, 1, 1, 2, 2, 5, 9]),
        ("parent", [-1, 0, 0, 1, 1, 2, 2, 5, "5"]),
        ("parent", [-1, 0, 0, 1, 1, 2, 2, 5, True]),
        ("parent", [-1, 0, 0, 1, 1, 2, 2, 5, 5.0]),
        ("parent", None),
        ("parent", []),
        ("parent", [-1, 0, 0, 1, 1, 2, 2, 5, 4]),
        ("attribute", [0, 1, 1, -1, -1, 3, -1, -1, -1]),
        ("attribute", [0, 1, -2, -1, -1, 2, -1, -1, -1]),
        ("attribute", [0, 1, 1, 1, -1, 2, -1, -1, -1]),
        ("attribute", [0, -1, 1, -1, -1, 2, -1, -1, -1]),
        ("code", [-1, 0, 2, 0, 1, 0, 1, 0, 1]),
        ("code", [-1, 0, -1, 0, 1, 0, 1, 0, 1]),
        ("code", [-1, 0, 0, 0, 1, 0, 1, 0, 1]),
        ("code", [0, 0, 1, 0, 1, 0, 1, 0, 1]),
        ("code", [-1, 0, 1, 0, 1, 0, 1, 0, 10**30]),
        ("code", [-1, 0, 1, 0, 1, 0, 1, 0, 2]),
        ("kind", ["leaf"] * 9),
        ("kind", ["values"] * 9),
        ("kind", [1, 1, 1, 0, 0, 2, 0, 0, 0]),
        ("kind", "values"),
        ("kind", [["leaf"]] * 9),
        ("kind", ["values", "values", "values", "leaf", "leaf", "values", "leaf", "leaf", "leaf"]),
        ("threshold", [None] * 9),
        ("threshold", [None] * 5 + [float("inf")] + [None] * 3),
        ("threshold", [None] * 5 + [float("nan")] + [None] * 3),
        ("threshold", [None] * 5 + [10**400] + [None] * 3),
        ("threshold", [None] * 5 + [True] + [None] * 3),
        ("threshold", [1.0] + [None] * 4 + [65] + [None] * 3),
        ("threshold", 65),
        ("level", [-1] + [0] * 8),
        ("level", [0] * 8),
        ("level", None),
        ("counts", [[1, 1]]),
        ("counts", [[0, 0]] * 9),
        ("counts", _nine[:8] + [[2, -1]]),
        ("counts", _nine[:8] + [[2]]),
        ("counts", "x"),
        ("counts", _nine[:8] + [[1, float("nan")]]),
        ("counts", [[10**400, 0]] * 9),
        ("counts", [[True, 1]] * 9),
        ("counts", [["1", "1"]] * 9),
        ("counts", None),
        ("class", [0] * 9),
        ("classes", []),
        ("classes", ["No", "No"]),
        ("classes", ["No", ""]),
        ("classes", ["No", 1]),
        ("classes", ["No", "{a, b}"]),
        ("classes", ["No", "*"]),
        ("class_dtype", "number"),
        ("class_dtype", "object"),
        ("class_dtype", []),
        ("class_dtype", "datetime64[ns, America]"),
        ("class_dtype", "datetime64[ns, ../..]"),
        ("attributes", None),
        ("attributes", []),
        ("attributes", [{}]),
        (
            "attributes",
            [{"name": "a", "dtype": "str", "cells": True, "values": ["[b, a]", "c"]}] * 3,
        ),
        (
            "attributes",
            [{"name": "Gender", "dtype": "str", "cells": False, "values": ["a", "b"]}] * 3,
        ),
        ("format", "tree"),
        ("version", 2.0),
    ],
)
def test_malformed_json(saved, field, value):
    d = json.loads(saved)
    d[field] = value
    with pytest.raises(TextFormError):
        tree_from_json(json.dumps(d))
    d.pop(field)
    if field != "class":
        with pytest.raises(TextFormError):
            tree_from_json(json.dumps(d))


def test_a_value_that_is_asked_for_must_be_in_the_list():
    c = load_customers()
    t = C45Classifier(binary_splits=True, prune=False).fit(c[["Gender", "Marital"]], c.Bought).tree_
    d = json.loads(tree_json(t, counts=True))
    for wrong in (2, -1, 0.5, None):
        with pytest.raises(TextFormError):
            tree_from_json(json.dumps(d | {"threshold": [wrong] + d["threshold"][1:]}))
    assert tree_text(
        tree_from_json(json.dumps(d | {"threshold": [1.0] + d["threshold"][1:]}))
    ).startswith("Gender = Male\n")
    assert json.loads(tree_json(t))["attributes"][0]["values"] == ["Female"]


_junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda o: (
        st.lists(o, max_size=4)
        | st.dictionaries(st.sampled_from(["name", "dtype", "cells", "values"]), o, max_size=4)
    ),
    max_leaves=8,
)


def read_or_refused(text):
    """A file is refused with the right error, or it is a tree that can be used"""
    try:
        t = tree_from_json(text)
    except TextFormError:
        return
    tree_text(t), tree_rules(t), tree_dot(t)
    tree_from_json(tree_json(t, counts=True))
    row = {o: None for o in t.names}
    assert np.isclose(sum(o.ends for o in decision_path(t, row)), 1)


@given(st.data(), _junk)
def test_junk_is_refused_or_read(saved, data, junk):
    d = json.loads(saved)
    d[data.draw(st.sampled_from(sorted(d) + ["class"]))] = junk
    read_or_refused(json.dumps(d))


@given(st.data(), trees(max_inner=4), st.booleans())
def test_a_changed_entry_is_refused_or_read(data, t, counts):
    d = json.loads(tree_json(t, counts=counts))
    field = data.draw(st.sampled_from([o for o, v in d.items() if isinstance(v, list) and v]))
    i = data.draw(st.integers(0, len(d[field]) - 1))
    d[field][i] = data.draw(
        st.integers(-2, 4)
        | st.none()
        | st.floats()
        | st.sampled_from(["leaf", "values", "threshold", "value", [1, 2], {}, True, 10**400])
    )
    read_or_refused(json.dumps(d))


@given(st.data())
def test_a_damaged_text_is_refused_or_read(saved, data):
    at, n = data.draw(st.integers(0, len(saved))), data.draw(st.integers(0, 5))
    read_or_refused(saved[:at] + data.draw(st.text(max_size=3)) + saved[at + n :])


# ---- Graphviz

_dot_line = re.compile(
    r"  (?:(?P<node>n\d+)|(?P<a>n\d+) -> (?P<b>n\d+))"
    r' \[label="(?P<label>(?:[^"\\]|\\[\\"n])*)"(?P<more>(?:, [a-z]+=(?:[a-z]+|"#[0-9a-f]+"))*)\];'
)


def dot_parts(text):
    """A small reader of what tree_dot writes: labels of nodes and of edges"""
    lines = text.split("\n")
    assert (
        lines[0] == "digraph tree {"
        and lines[-2:] == ["}", ""]
        and all(o.startswith(("  node [", "  edge [")) for o in lines[1:3])
    )
    nodes, edges = {}, {}
    for o in lines[3:-2]:
        m = _dot_line.fullmatch(o)
        assert m, o
        label = re.sub(r"\\(.)", lambda e: {"n": "\n"}.get(e[1], e[1]), m["label"])
        assert "&" not in label.replace("&amp;", "")
        label = label.replace("&amp;", "&")
        if m["node"]:
            nodes[m["node"]] = label
        else:
            edges[m["a"], m["b"]] = label
    return nodes, edges


@given(any_trees())
def test_dot_is_well_formed(t):
    nodes, edges = dot_parts(tree_dot(t))
    assert len(nodes) == len(t) and set(edges) == {
        (f"n{t.parent[i]}", f"n{i}") for i in range(1, len(t))
    }

    def clean(s):
        return "".join(o if o == "\n" or ord(o) >= 32 else " " for o in s)

    for i in np.flatnonzero(t.attribute >= 0):
        assert nodes[f"n{i}"].startswith(clean(t.names[t.attribute[i]]))


def test_dot_of_the_customers(tree):
    nodes, edges = dot_parts(tree_dot(tree))
    assert nodes["n0"] == "Gender?" and edges["n0", "n1"] == "Female" and "≤ 65" in edges.values()
    assert not any(ch.isdigit() for o in nodes.values() for ch in o)
    assert "Yes (4/1)" in dot_parts(tree_dot(tree, counts=True))[0].values()
    assert "#11223355" in tree_dot(tree, colors=["#112233", "#445566"])


# ---- drawings


def boxes_of(ax):
    """Where the texts are, in pixels, and their sizes"""
    r = ax.figure.canvas.get_renderer()
    texts = [o for o in ax.texts if o.get_text().strip()]
    return [matplotlib.text.Text.get_window_extent(o, r) for o in texts], [
        o.get_fontsize() for o in texts
    ]


def overlaps(a, b):
    return min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1


def check_drawing(ax):
    """No two texts overlap, nothing is outside the axes, letters are of 6 pt at least, and bars
    keep clear of texts
    """
    ax.figure.canvas.draw()
    found, sizes = boxes_of(ax)
    assert min(sizes) >= 6
    assert not [1 for a, b in itertools.combinations(found, 2) if overlaps(a, b)]
    bars = [p.get_extents().transformed(ax.transData) for p in ax.collections[1].get_paths()]
    assert not [1 for a, b in itertools.product(found, bars) if overlaps(a, b)]
    frame = ax.get_window_extent()
    assert all(
        frame.x0 - 1 <= o.x0
        and o.x1 <= frame.x1 + 1
        and frame.y0 - 1 <= o.y0
        and o.y1 <= frame.y1 + 1
        for o in found + bars
    )


def long_names(t):
    """The same tree with long names and values, and signs that mean something to the drawing"""
    odd = [
        "W$m_{x}$",
        "a value that is much longer than others are",
        "c\\$_1$",
        "{}%",
        "i",
        "≤ 5",
        "line\nbreak",
        "MMMMMMMMMM",
    ]
    names = [f"{o} {odd[i % len(odd)]}" for i, o in enumerate(t.names)]
    values = [[f"{odd[i % len(odd)]} {v}" for i, v in enumerate(o)] for o in t.values]
    return make_tree(
        t.parent,
        t.attribute,
        t.kind,
        t.threshold,
        t.code,
        t.counts,
        names,
        values,
        [f"{odd[i]} {c}" for i, c in enumerate(t.classes)],
    )


def drawn(t, **kw):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_drawing(plot_tree(t, **kw))
    plt.close("all")


@pytest.mark.parametrize("deep", [None, True, False])
@pytest.mark.parametrize(
    "n, kinds",
    [
        (29, (THRESHOLD,)),
        (17, (MULTIWAY,)),
        (29, (ONE_VALUE, THRESHOLD)),
        (7, (MULTIWAY, THRESHOLD)),
        (1, (MULTIWAY,)),
    ],
)
def test_trees_of_up_to_60_nodes(n, kinds, deep):
    t = random_tree(np.random.default_rng(n), n, kinds, n_classes=2 + n % 2, deep=deep)
    assert len(t) <= 61
    drawn(long_names(t) if deep is not False else t, counts=n != 17)


@pytest.mark.parametrize("layout", ["columns", "outline"])
def test_both_layouts(layout, tree):
    drawn(tree, layout=layout)
    drawn(long_names(random_tree(np.random.default_rng(1), 12)), layout=layout)


def wide(n):
    counts = np.random.default_rng(0).integers(1, 9, (n + 1, 3))
    counts[0] = counts[1:].sum(axis=0)
    return make_tree(
        [-1] + [0] * n,
        [0] + [-1] * n,
        [MULTIWAY] + [LEAF] * n,
        [np.nan] * (n + 1),
        [-1, *range(n)],
        counts,
        ["an attribute with a name of its own"],
        [[f"{'long value ' * (i % 5)}{i}" for i in range(n)]],
        ["<=50K", "a class with a long name, longer than most", "c$_1$"],
    )


@pytest.mark.parametrize(
    "n, kw",
    [
        (2, {}),
        (59, dict(max_branches=60)),
        (40, {}),
        (40, dict(max_branches=1)),
        (5, dict(counts=False)),
        (5, dict(max_depth=0)),
    ],
)
def test_wide_trees(n, kw):
    drawn(wide(n), **kw)


def test_chains_of_thirty():
    for kind in (THRESHOLD, ONE_VALUE, MULTIWAY):
        drawn(chain(29, kind))
    ax = plot_tree(chain(29))
    assert ax.figure.get_size_inches()[0] < 10 and ax.figure.get_size_inches()[1] < 14
    plt.close("all")


def test_drawing_in_given_axes(tree):
    fig, ax = plt.subplots(figsize=(9, 3))
    assert plot_tree(tree, ax=ax) is ax
    check_drawing(ax)
    fig, ax = plt.subplots(figsize=(6, 6))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot_tree(chain(10), ax=ax)  # an outline fits, columns would not
    check_drawing(ax)
    fig, ax = plt.subplots(figsize=(2, 1))
    with pytest.warns(UserWarning, match="axes are too small"):
        plot_tree(tree, ax=ax)
    assert min(boxes_of(ax)[1]) >= 6
    plt.close("all")
    with pytest.raises(
        ValueError, match="'layout' must be 'columns', 'outline' or None. Got 'radial'"
    ):
        plot_tree(tree, layout="radial")


def test_a_drawing_without_counts_tells_no_counts(tree):
    for t, kw in ((tree, dict(counts=False)), (tree_from_json(tree_json(tree)), {})):
        ax = plot_tree(t, **kw)
        assert not any(o.get_text().strip().isdigit() for o in ax.texts)
        lines, bars = ax.collections
        # whole bars, no shares
        assert len(bars.get_paths()) == 9 and len(set(lines.get_linewidths())) == 1
    plt.close("all")


def test_a_drawing_without_counts_takes_the_first_branches():
    t = wide(40)

    def labels(t, **kw):
        return {o.get_text() for o in plot_tree(t, max_branches=4, **kw).texts}

    first = {"0", "long value 1", "long value long value 2", "37 others"}
    assert first <= labels(t, counts=False) and first <= labels(tree_from_json(tree_json(t)))
    heavy = np.argsort(-t.n[1:], kind="stable")[:3]
    assert {f"{'long value ' * (i % 5)}{i}"[:31] for i in heavy.tolist()} <= {
        o[:31] for o in labels(t)
    }
    plt.close("all")


def test_colours_and_branches(tree):
    plot_tree(tree, colors=["red"])
    plot_tree(tree, colors=("red", "blue", "green"))
    plt.close("all")
    assert tree_dot(tree, colors=["#112233"]).count("#11223355") == 5
    for ask in (plot_tree, tree_dot):
        with pytest.raises(ValueError, match="'colors' must have a colour"):
            ask(tree, colors=[])
    for n in (0, -1):
        with pytest.raises(ValueError, match=f"'max_branches' must be at least 1. Got {n}"):
            plot_tree(tree, max_branches=n)


def test_what_a_drawing_says(tree):
    said = [o.get_text() for o in plot_tree(tree).texts]
    assert {"Female", "Not Married", "≤ 65", "> 65", "Gender?", "Age?", "14", "Yes", "No"} <= set(
        said
    )
    c = load_customers()
    t = C45Classifier(binary_splits=True, prune=False).fit(c[["Gender", "Marital"]], c.Bought).tree_
    assert "not Female" in [o.get_text() for o in plot_tree(t).texts]
    assert any(o.get_text() == "29 others" for o in plot_tree(wide(40)).texts)
    plt.close("all")
