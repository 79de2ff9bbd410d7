"""Reading trees: text, rules, paths and explanations, against brute force and against the
classifiers.
"""

import pickle
import re
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from random_trees import as_numbers, chain, make_tree, random_row, random_tree, trees
from sklearn.tree import DecisionTreeClassifier

from ppdt.c45 import C45Classifier, PARTClassifier
from ppdt.datasets import load_customers
from ppdt.engine.moments import as_date, moment_text
from ppdt.engine.paths import decision_path, path_answer
from ppdt.engine.reading import class_of_shares, explain, tree_rules
from ppdt.engine.shares import tree_shares
from ppdt.engine.tree_texts import branch_text, j48_text, tree_text
from ppdt.growing import LEAF, MULTIWAY, ONE_VALUE, THRESHOLD
from ppdt.id3_sets import GeneralizedID3Classifier
from ppdt.mondrian import MondrianAnonymizer
from ppdt.tables import Centroid, Exact, Interval, Node, Suppressed, ValueSet, position
from ppdt.trees import plot_tree, tree_dot, tree_from_json, tree_json

rngs = st.integers(0, 2**32 - 1).map(np.random.default_rng)
features = ["Gender", "Marital", "Age"]


@pytest.fixture(scope="module")
def tree():
    c = load_customers()
    return C45Classifier().fit(c[features], c.Bought).tree_


# ---- text


def test_text_of_the_customers(tree):
    assert (
        tree_text(tree)
        == """Gender = Female
|   Marital = Married: Yes (2)
|   Marital = Not Married: No (3)
Gender = Male
|   Marital = Married
|   |   Age <= 65: Yes (2)
|   |   Age > 65: No (3)
|   Marital = Not Married: Yes (4/1)"""
    )
    assert (
        tree_text(tree, counts=False, max_depth=1)
        == "Gender = Female: No ...\nGender = Male: Yes ..."
    )
    assert tree_text(tree, max_depth=0) == ": No (14/7) ..."
    assert (
        j48_text(tree).splitlines()[-1]
        == "|   Marital = Not Married: Yes (4.0/1.0)"
        == tree_text(tree, style="j48").splitlines()[-1]
    )
    with pytest.raises(ValueError, match="'style' must be 'plain' or 'j48'. Got 'weka'"):
        tree_text(tree, style="weka")


@given(trees(), st.sampled_from(["plain", "j48"]))
def test_a_line_for_each_branch(t, style):
    lines = tree_text(t, style=style).splitlines()
    assert len(lines) == max(len(t) - 1, 1)
    assert sum(": c" in o for o in lines) == t.n_leaves
    assert [o.split(" (")[0] for o in lines] == tree_text(t, counts=False).splitlines()
    total = sum(float(re.search(r"\(([\d.e+-]+)", o)[1]) for o in lines if "(" in o)
    assert np.isclose(total, t.n[0], atol=0.01 * t.n_leaves)


def test_an_empty_leaf_has_the_class_above():
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
    assert tree_text(t).splitlines() == ["a = u: no (1)", "a = v: yes (3)", "a = w: yes (0)"]
    assert tree_rules(t, counts=True)[2] == "If a is w, then yes (no row)."
    # nobody went to w
    assert [o.node for o in decision_path(t, {"a": None})] == [0, 1, 2]
    assert decision_path(t, {"a": "w"})[-1].node == 3 and "Answer: yes." in explain(t, {"a": "w"})


def test_thresholds_do_not_look_at_the_values():
    t = make_tree(
        [-1, 0, 0],
        [0, -1, -1],
        [THRESHOLD, 0, 0],
        [2.5, np.nan, np.nan],
        [-1, 0, 1],
        [[1, 1], [1, 0], [0, 1]],
        ["a"],
        [[2.0, 3.0, 7.0]],
        ["no", "yes"],
    )
    assert tree_text(t) == "a <= 2.5: no (1)\na > 2.5: yes (1)"
    one = make_tree(
        [-1, 0, 0],
        [0, -1, -1],
        [ONE_VALUE, 0, 0],
        [2.0, np.nan, np.nan],
        [-1, 0, 1],
        [[1, 1], [1, 0], [0, 1]],
        ["a"],
        [[2.0, 3.0, 7.0]],
        ["no", "yes"],
        level=[1, 0, 0],
    )
    assert tree_text(one) == "a (level 1) = 7.0: no (1)\na (level 1) != 7.0: yes (1)"
    assert tree_rules(one) == [
        "If a (level 1) is 7.0, then no.",
        "If a (level 1) is not 7.0, then yes.",
    ]
    assert [decision_path(one, {"a": v})[-1].node for v in (7, 7.0, 3, "new")] == [1, 1, 2, 2]


def test_decimals_of_thresholds():
    t = make_tree(
        [-1, 0, 0],
        [0, -1, -1],
        [THRESHOLD, 0, 0],
        [0.12345678, np.nan, np.nan],
        [-1, 0, 1],
        [[1, 1], [1, 0], [0, 1]],
        ["a"],
        [[]],
        ["no", "yes"],
    )
    assert [branch_text(t, 1, digits=d) for d in (6, 2, 0, None)] == [
        "a <= 0.123457",
        "a <= 0.12",
        "a <= 0",
        "a <= 0.12345678",
    ]


# ---- rules


def holds(rule, row):
    """Does the first half of a sentence hold for a row?"""
    if rule.startswith("Always"):
        return True
    if "only a missing value" in rule:
        return False
    res, name = [], None
    for part in rule[3 : rule.index(", then")].split(" and "):
        if " is " in part:
            name, part = part.split(" is ")
        v = row[name]
        if part.startswith("none of "):
            res.append(v not in part[8:].split(", "))
        elif part.startswith("not "):
            res.append(v != part[4:])
        elif part.startswith("above "):
            res.append(v > float(part[6:]))
        elif part.startswith("at most "):
            res.append(v <= float(part[8:]))
        else:
            res.append(v == part)
    return all(res)


@given(trees(), rngs)
def test_a_row_meets_the_rule_of_its_leaf_and_no_other(t, rng):
    rules = tree_rules(t)
    assert len(rules) == t.n_leaves and all(o.endswith(".") for o in rules)
    leaves = [int(o) for o in leaf_order(t)]
    for _ in range(5):
        row = random_row(rng, missing=0)
        end = decision_path(t, row)[-1].node
        assert [leaves[i] for i, o in enumerate(rules) if holds(o, row)] == (
            [end] if t.attribute[end] < 0 else []
        )


def leaf_order(t):
    """Leaves in the order of the text"""
    res, stack = [], [0]
    while stack:
        i = stack.pop()
        if t.attribute[i] < 0:
            res.append(i)
        stack += sorted(np.flatnonzero(t.parent == i), key=lambda k: t.code[k])[::-1]
    return res


def test_rules_merge_tests_of_one_attribute(tree):
    t = make_tree(
        [-1, 0, 0, 1, 1, 4, 4],
        [0, 0, -1, -1, 0, -1, -1],
        [THRESHOLD, THRESHOLD, 0, 0, THRESHOLD, 0, 0],
        [40, 20, np.nan, np.nan, 35, np.nan, np.nan],
        [-1, 0, 1, 0, 1, 0, 1],
        [[1, 2]] * 7,
        ["age"],
        [["<=", ">"]],
        ["no", "yes"],
    )
    assert tree_rules(t) == [
        "If age is at most 20, then yes.",
        "If age is above 20 and at most 35, then yes.",
        "If age is above 35 and at most 40, then yes.",
        "If age is above 40, then yes.",
    ]
    assert (
        tree_rules(tree, counts=True)[2]
        == "If Gender is Male and Marital is Married and Age is at most 65, then Yes (2 of 2)."
    )
    assert tree_rules(
        make_tree([-1], [-1], [0], [np.nan], [-1], [[5, 9]], [], [], ["no", "yes"]), counts=True
    ) == ["Always yes (9 of 14)."]


def test_rules_say_when_nothing_can_meet_them():
    t = make_tree(
        [-1, 0, 0, 1, 1],
        [0, 0, -1, -1, -1],
        [THRESHOLD, THRESHOLD, 0, 0, 0],
        [2, 5] + [np.nan] * 3,
        [-1, 0, 1, 0, 1],
        [[1, 2]] * 5,
        ["a"],
        [["<=", ">"]],
        ["no", "yes"],
    )
    assert (
        tree_rules(t)[1]
        == "If a is above 5 and at most 2, which only a missing value can meet, then yes."
    )


# ---- paths and explanations


@given(trees(), rngs)
def test_path_gives_the_shares_of_the_tree(t, rng):
    for _ in range(3):
        row = random_row(rng, missing=0.4)
        steps = decision_path(t, row)
        assert (
            np.isclose(sum(o.ends for o in steps), 1)
            and steps[0].node == 0
            and steps[0].weight == 1
        )
        assert len({o.node for o in steps}) == len(steps) and all(
            0 < o.weight <= 1 + 1e-9 for o in steps
        )
        assert np.allclose(path_answer(t, steps), tree_shares(t, as_numbers(row))[0], atol=1e-9)
        assert decision_path(t, pd.Series(row, dtype=object)) == steps


def asks_again(t):
    """Is an attribute asked again below a question for it?"""
    above = [set()]
    for i in range(1, len(t)):
        p = t.parent[i]
        above.append(above[p] | {t.attribute[p]})
    return any(t.attribute[i] in above[i] for i in range(len(t)))


def told_lines(t, text):
    """Lines that do not depend on counts: below another answer a question that is asked again
    divides the row by the training rows
    """
    lines = text.splitlines()[:-1]
    if asks_again(t):
        lines = [o for o in lines if not o.startswith("Another answer")]
    return lines


@given(trees(), rngs)
def test_explanations_name_the_class_and_keep_counts_to_themselves(t, rng):
    row = random_row(rng, missing=0.3)
    best = t.classes[np.round(path_answer(t, decision_path(t, row)), 12).argmax()]
    full, short = explain(t, row, counts=True), explain(t, row)
    # what predict answers, counts told or not
    for text in (full, short):
        assert re.search(rf"Answer: {best}\b", text)
    assert not re.search(r"\d %|training rows \(|of \d+ training", short)
    bare = tree_from_json(tree_json(t))
    if None not in row.values():
        assert told_lines(t, short) == told_lines(t, explain(bare, row))
    assert "shares of the training rows" not in explain(bare, row) and explain(
        bare, row, counts=True
    ) == explain(bare, row)


@given(trees(kinds=(MULTIWAY,), fractions=(False,), empty=False), rngs)
def test_without_counts_an_explanation_does_not_depend_on_them(t, rng):
    """Counts that leave every answer as it is do not show, also where a row is divided by them"""
    row = random_row(rng, missing=0.6)
    counts = t.counts.copy()
    for i in np.flatnonzero(t.attribute < 0):
        counts[i] *= rng.integers(1, 4)
    for i in range(len(t) - 1, 0, -1):
        if t.attribute[i] >= 0:
            counts[i] = 0
    counts[0] = counts[0] if t.attribute[0] < 0 else 0
    for i in range(len(t) - 1, 0, -1):
        counts[t.parent[i]] += counts[i]
    other = make_tree(
        t.parent, t.attribute, t.kind, t.threshold, t.code, counts, t.names, t.values, t.classes
    )

    def answer(o):
        """As predict answers: shares are rounded, and ties go to the first class"""
        return class_of_shares(path_answer(o, decision_path(o, row)))

    a, b = explain(t, row).splitlines(), explain(other, row).splitlines()

    def question(lines):
        return [o for o in lines if re.match(r"\d+\. ", o)]

    assert question(a) == question(b) and len(a) == len(b)
    if answer(t) == answer(other):
        assert [o for o in a if o.startswith("Answer")] == [o for o in b if o.startswith("Answer")]


def test_a_tie_goes_to_the_first_class_in_words_as_in_predict():
    """The parts of this row sum to one half and to one half less a rounding error: a tie"""
    t = random_tree(np.random.default_rng(152), 8, (MULTIWAY,), 2, empty=False)
    row = random_row(np.random.default_rng(100_000), missing=0.6)
    p = path_answer(t, decision_path(t, row))
    assert p.argmax() == 1 and 0 < p[1] - p[0] < 1e-12
    assert class_of_shares(p) == 0
    for counts in (False, True):
        assert "\nAnswer: c0, from " in explain(t, row, counts=counts)
    assert C45Classifier.from_tree(t).predict(pd.DataFrame([row]))[0] == "c0"


def test_explanation_of_a_customer(tree):
    assert explain(tree, load_customers().iloc[9]).splitlines()[3] == "Answer: Yes."
    text = explain(tree, load_customers().iloc[9], counts=True).splitlines()
    assert text == [
        "1. Gender? Male.",
        "2. Marital? Married.",
        "3. Age? 53, at most 65.",
        "Answer: Yes, the class of 2 of 2 training rows (Yes 100 %).",
        "Another answer to the last question (Age?): with above 65 it would be No.",
        (
            "A missing value goes down all branches, in the shares of the training rows. A value"
            " that was never seen is answered at the question where it has no branch."
        ),
    ]
    unknown = explain(tree, {"Gender": "Male", "Marital": "Divorced", "Age": None}, counts=True)
    assert (
        "2. Marital? Divorced, which has no branch here." in unknown
        and "Answer: Yes, the class of 5 of 9 training rows (Yes 55.6 %, No 44.4 %)." in unknown
    )
    assert "with Married it would be No" in unknown
    divided = explain(tree, {"Gender": "Male", "Marital": "Married", "Age": np.nan}, counts=True)
    assert (
        "3. Age? missing, so 60 % go with above 65, 40 % go with at most 65." in divided
        and "Answer: No, from 2 parts of the row (No 60 %, Yes 40 %)." in divided
    )
    hidden = explain(tree, {"Gender": "Male", "Marital": "Married", "Age": np.nan}).splitlines()
    assert hidden[2:5] == [
        "3. Age? missing, so a part of the row goes with each answer that fits.",
        "Answer: No, from parts of the row.",
        (
            "An answer to the last question (Age?): with at most 65 it would be Yes; with above 65"
            " still No."
        ),
    ]
    # divided by its width, not by people
    assert "75 % go with at most 65" in explain(
        tree, {"Gender": "Male", "Marital": "Married", "Age": Interval(50, 70)}
    )


def test_many_other_answers_are_not_all_named():
    n = 12
    counts = np.vstack([[n - 1, 1], np.tile([1, 0], (n - 1, 1)), [[0, 1]]])
    t = make_tree(
        [-1] + [0] * n,
        [0] + [-1] * n,
        [MULTIWAY] + [LEAF] * n,
        [np.nan] * (n + 1),
        [-1, *range(n)],
        counts,
        ["a"],
        [[f"v{i}" for i in range(n)]],
        ["no", "yes"],
    )
    assert (
        explain(t, {"a": "v11"}).splitlines()[2]
        == "Another answer to the last question (a?): with v0, v1, v2, v3, v4, v5 and 5 others it"
        " would be no."
    )
    assert (
        explain(t, {"a": "v0"})
        .splitlines()[2]
        .endswith("with v1, v2, v3, v4, v5, v6 and 4 others still no; with v11 it would be yes.")
    )
    assert (
        explain(
            make_tree([-1], [-1], [LEAF], [np.nan], [-1], [[1, 2]], [], [], ["no", "yes"]),
            {},
            counts=True,
        )
        == "Answer: yes, the class of 2 of 3 training rows (yes 66.7 %, no 33.3 %)."
    )


def test_small_parts_of_a_row_are_summed_up():
    n = 40
    parent, attribute = [-1] + [0] * n + [1, 1], [0, 1] + [-1] * (n + 1)
    counts = np.ones((n + 3, 2))
    counts[1] = 2
    counts[0] = n + 1
    t = make_tree(
        parent,
        attribute,
        [MULTIWAY, THRESHOLD] + [LEAF] * (n + 1),
        [np.nan, 0.5] + [np.nan] * (n + 1),
        [-1, *range(n), 0, 1],
        counts,
        ["a", "b"],
        [[f"v{i}" for i in range(n)], []],
        ["no", "yes"],
    )
    assert "34 others" not in explain(
        t, {"a": None, "b": 1}
    ) and "2. b? (a part of the row) 1, above 0.5." in explain(t, {"a": None, "b": 1})
    lines = explain(t, {"a": None, "b": 1}, counts=True).splitlines()
    assert (
        lines[0]
        == "1. a? missing, so 4.9 % go with v0, 2.4 % go with v1, 2.4 % go with v2, 2.4 % go with"
        " v3, 2.4 % go with v4, 2.4 % go with v5, 82.9 % with 34 others."
    )
    assert (
        lines[1] == "1 more question was asked of parts of the row below 5 %."
        and lines[2] == "Answer: no, from 40 parts of the row (no 50 %, yes 50 %)."
    )


def test_published_cells_are_divided(tree):
    men = {"Gender": "Male", "Marital": "Married"}

    def weights(age):
        return {
            o.node: round(o.ends, 6) for o in decision_path(tree, {**men, "Age": age}) if o.ends
        }

    young, old = tree.children(int(np.flatnonzero(tree.kind == THRESHOLD)[0])).tolist()
    assert (
        weights(Interval(55, 75)) == {young: 0.5, old: 0.5}
        and weights(Interval(70, 80)) == {old: 1}
        and weights(Interval(0, 65)) == {young: 1}
    )
    assert weights(ValueSet([53, 64, 66])) == {young: 0.666667, old: 0.333333}
    assert weights(Interval(-np.inf, np.inf)) == {young: 0.5, old: 0.5} and weights(
        Interval(-np.inf, 80)
    ) == {young: 1}
    assert weights(Centroid(66.5)) == {old: 1} and weights(Suppressed()) == weights(None) == {
        young: 0.4,
        old: 0.6,
    }
    assert weights(Interval(70, 70)) == {old: 1}


@pytest.mark.parametrize("recoding", ["set", "interval"])
def test_path_agrees_with_c45_on_a_release(recoding):
    c = load_customers()
    r = MondrianAnonymizer(k=3, quasi_identifiers=features, recoding=recoding).anonymize(
        c[features], c.Bought
    )
    clf = C45Classifier(min_samples_leaf=1, prune=False, min_fragment=0.0).fit(r.data, r.y)
    assert len(clf.tree_) > 3
    p = clf.predict_proba(r.data)
    for i in range(len(r.data)):
        assert np.allclose(path_answer(clf.tree_, decision_path(clf.tree_, r.data.iloc[i])), p[i])


def test_path_agrees_with_id3_on_a_release():
    c = load_customers()[["Gender", "Marital", "Bought"]]
    r = MondrianAnonymizer(k=4, quasi_identifiers=["Gender", "Marital"]).anonymize(
        c.drop(columns="Bought"), c.Bought
    )
    for kw in (dict(convert="fractional"), dict(entropy="own_value")):
        clf = GeneralizedID3Classifier(**kw).fit(r.data, r.y)
        data = r.data.astype(object)
        data.iloc[0, 0], data.iloc[1, 1], data.iloc[2, 0] = (
            None,
            Suppressed(),
            ValueSet(["Male", "other"]),
        )
        p = clf.predict_proba(data)
        for i in range(len(data)):
            assert np.allclose(
                path_answer(clf.tree_, decision_path(clf.tree_, data.iloc[i], rule="id3_sets")),
                p[i],
            )


def test_sets_are_cut_again_below():
    t = make_tree(
        [-1, 0, 0, 1, 1],
        [0, 0, -1, -1, -1],
        [THRESHOLD, THRESHOLD, 0, 0, 0],
        [4, 2] + [np.nan] * 3,
        [-1, 0, 1, 0, 1],
        [[3, 3], [2, 1], [1, 2], [1, 0], [1, 1]],
        ["a"],
        [["<=", ">"]],
        ["no", "yes"],
    )
    for cell in (Interval(0, 8), ValueSet(range(1, 9))):
        assert {o.node: o.ends for o in decision_path(t, {"a": cell}) if o.ends} == {
            2: 0.5,
            3: 0.25,
            4: 0.25,
        }


def test_rows_that_cannot_be_read(tree):
    with pytest.raises(ValueError, match="'row' must have a value for 'Marital'"):
        decision_path(tree, {"Gender": "Male"})
    with pytest.raises(ValueError, match="must have a number for 'Age'. Got 'old'"):
        decision_path(tree, {"Gender": "Male", "Marital": "Married", "Age": "old"})
    with pytest.raises(ValueError, match="Got the taxonomy node <x>"):
        explain(tree, {"Gender": Node("x"), "Marital": "Married", "Age": 1})
    with pytest.raises(ValueError, match="'rule' must be 'c45' or 'id3_sets'"):
        decision_path(tree, {}, rule="j48")


def test_numbers_find_their_text():
    t = make_tree(
        [-1, 0, 0],
        [0, -1, -1],
        [MULTIWAY, 0, 0],
        [np.nan] * 3,
        [-1, 0, 1],
        [[1, 1], [1, 0], [0, 1]],
        ["a"],
        [["1", "2"]],
        ["no", "yes"],
    )
    assert (
        decision_path(t, {"a": 2})[-1].node == 2
        and decision_path(t, {"a": np.int64(1)})[-1].node == 1
    )


@pytest.mark.parametrize("kind", [MULTIWAY, THRESHOLD, ONE_VALUE])
def test_ten_thousand_deep(kind):
    t = chain(10_000, kind)
    assert tree_text(t, max_depth=3).count("\n") == 5
    assert len(tree_rules(t)) == 10_001
    row = {"a": "v" if kind != THRESHOLD else 1e9}
    assert len(decision_path(t, row)) == 10_001 and explain(t, row).count("\n") > 10_000
    assert 20 < len(decision_path(t, {"a": None})) <= 20_001


# ---- dates

_zones = st.sampled_from([None, "UTC", "Europe/Paris", "Asia/Kathmandu", "America/New_York"])
_moments = st.datetimes(pd.Timestamp("1700-01-01"), pd.Timestamp("2200-01-01")).map(
    pd.Timestamp
) | st.dates(pd.Timestamp("1900-01-01").date(), pd.Timestamp("2100-01-01").date()).map(pd.Timestamp)


@given(_moments, _moments, _zones)
def test_dates_are_as_short_as_exact(a, b, zone):
    dtype = f"datetime64[ns, {zone}]" if zone else "datetime64[ns]"
    for t in (a.floor("D"), a.floor("min"), a.floor("s"), a.floor("ms"), a):
        x = position(t)
        text = moment_text(x, dtype)
        # nothing is lost
        assert position(as_date(text, dtype)) == x
        assert len(text) <= len(str(as_date(text, dtype)))
        if zone is None and t == t.floor("D"):
            assert text == str(t.date())
    # a midpoint of two days
    x = (position(a.floor("D")) + position(b.floor("D"))) / 2
    assert position(as_date(moment_text(x, dtype), dtype)) == x


@pytest.fixture(scope="module", params=[None, "Europe/Paris"])
def dated(request):
    t = pd.DataFrame(
        {"Came": pd.date_range("2024-02-20", periods=20, tz=request.param), "Sex": list("fm") * 10}
    )
    return t, C45Classifier(prune=False, min_samples_leaf=1).fit(
        t, ["a"] * 11 + ["b"] * 5 + ["a"] * 4
    )


def test_dates_in_words(dated):
    t, clf = dated
    tree, off = clf.tree_, "" if t.Came.dt.tz is None else "+01:00"
    assert tree.dates == {"Came": "datetime64[ns]" if not off else "datetime64[ns, Europe/Paris]"}
    assert (
        tree_rules(tree)[1]
        == f"If Came is above 2024-03-01 12:00{off} and at most 2024-03-06 12:00{off}, then b."
    )
    assert (
        tree_text(tree).splitlines()[0]
        == j48_text(tree).splitlines()[0].replace(".0", "")
        == f"Came <= 2024-03-01 12:00{off}: a (11)"
    )
    assert branch_text(tree, 1, digits=None) == f"Came <= 2024-03-01 12:00{off}"
    assert f"1. Came? 2024-03-01, at most 2024-03-01 12:00{off}." in explain(
        tree, {"Came": "2024-03-01"}
    )
    assert "17" not in tree_dot(tree) + tree_text(tree) and f"≤ 2024-03-01 12:00{off}" in tree_dot(
        tree
    )
    ax = plot_tree(tree)
    assert f"> 2024-03-06 12:00{off}" in [o.get_text() for o in ax.texts]
    assert (
        tree_text(tree_from_json(tree_json(tree, counts=True))) == tree_text(tree)
        and pickle.loads(pickle.dumps(tree)).dates == tree.dates
    )


def test_rows_with_dates(dated):
    t, clf = dated
    for _, o in t.iterrows():
        ways = [
            o.Came,
            str(o.Came),
            o.Came.to_pydatetime(),
            Exact(o.Came),
            Interval(o.Came, o.Came),
        ] + ([o.Came.asm8, o.Came.date(), str(o.Came.date())] if o.Came.tz is None else [])
        p = clf.predict_proba(pd.DataFrame([o]))[0]
        for v in ways:
            assert np.allclose(path_answer(clf.tree_, decision_path(clf.tree_, {"Came": v})), p)
    half = Interval(
        pd.Timestamp("2024-03-01", tz=t.Came.dt.tz), pd.Timestamp("2024-03-02", tz=t.Came.dt.tz)
    )
    assert [o.weight for o in decision_path(clf.tree_, {"Came": half})] == [1, 0.5, 0.5, 0.5]
    for bad in (3, True, "yesterday", "2024-13-01", "20240301"):
        with pytest.raises(
            ValueError, match="'row' must have a date.* for 'Came', such as 2024-02-29"
        ):
            decision_path(clf.tree_, {"Came": bad})
    if t.Came.dt.tz is None:
        with pytest.raises(ValueError, match="a date without a time zone"):
            decision_path(clf.tree_, {"Came": pd.Timestamp("2024-03-01", tz="UTC")})


def test_a_number_is_no_date(tree):
    with pytest.raises(ValueError, match="'row' must have a number for 'Age'. Got Timestamp"):
        decision_path(
            tree, {"Gender": "Male", "Marital": "Married", "Age": pd.Timestamp("2024-01-01")}
        )


# ---- print


def test_print_shows_the_text(tree):
    assert (
        str(tree) == tree_text(tree)
        and f"{tree}" == str(tree)
        and repr(tree) == "Tree(9 nodes, 5 leaves, depth 3)"
    )
    lines = str(chain(1000)).split("\n")
    assert (
        len(lines) == 41
        and lines[:40] == tree_text(chain(1000)).split("\n")[:40]
        and lines[40] == "... and 1,960 more lines: see tree_text"
    )


# ---- what is taken, what is refused


def test_readers_take_a_fitted_classifier(tree):
    c = load_customers()
    clf = C45Classifier().fit(c[features], c.Bought)
    for ask in (
        tree_text,
        j48_text,
        tree_rules,
        tree_json,
        tree_dot,
        lambda o: explain(o, c.iloc[0]),
        lambda o: decision_path(o, c.iloc[0]),
    ):
        assert ask(clf) == ask(tree)
    plot_tree(clf)
    for bad, todo in (
        (C45Classifier(), "C45Classifier: fit it first"),
        ("x", "str: grow one"),
        (None, "NoneType"),
        (PARTClassifier().fit(c[features], c.Bought), "PARTClassifier: grow one"),
        (DecisionTreeClassifier().fit([[0], [1]], [0, 1]), "DecisionTreeClassifier: grow one"),
    ):
        for ask in (
            tree_text,
            j48_text,
            tree_rules,
            tree_json,
            tree_dot,
            plot_tree,
            lambda o: explain(o, c.iloc[0]),
            lambda o: decision_path(o, c.iloc[0]),
        ):
            with pytest.raises(
                TypeError,
                match=(
                    "'tree' must be a Tree, or a fitted classifier that has one as tree_. Got"
                    f" {todo}"
                ),
            ):
                ask(bad)


@pytest.mark.parametrize("row", [["Male"], np.arange(3), "a", 0, None])
def test_what_is_no_row(tree, row):
    for ask in (decision_path, explain):
        with pytest.raises(
            TypeError,
            match="'row' must be a dict, a Series or a table of one row. Got .*: use X.iloc",
        ):
            ask(tree, row)
    with pytest.raises(ValueError, match="'row' must be one row. Got a table of 14"):
        explain(tree, load_customers())
    assert explain(tree, load_customers().iloc[[9]]) == explain(tree, load_customers().iloc[9])


def test_values_are_read_as_by_predict(tree):
    men = {"Gender": "Male", "Marital": "Married"}
    for v in ("66", " 66 ", "66.0", Decimal("66"), np.float32(66), np.int8(66), np.float64(66)):
        assert decision_path(tree, men | {"Age": v})[-1].node == 8
    for bad in (True, "old", "", "inf", Decimal("Infinity")):
        with pytest.raises(ValueError, match="must have a number for 'Age'"):
            decision_path(tree, men | {"Age": bad})
    for values in ([1, 2], [1.0, 2.0], ["1", "2"], ["1.0", "2.0"]):
        t = make_tree(
            [-1, 0, 0],
            [0, -1, -1],
            [MULTIWAY, 0, 0],
            [np.nan] * 3,
            [-1, 0, 1],
            [[1, 1], [1, 0], [0, 1]],
            ["a"],
            [values],
            ["no", "yes"],
        )
        assert [
            decision_path(t, {"a": v})[-1].node for v in (2, 2.0, "2", "2.0", np.int64(2), 3, "x")
        ] == [2] * 5 + [0] * 2


def test_wide_intervals_are_divided(tree):
    men = {"Gender": "Male", "Marital": "Married"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ends = {
            o.node: o.ends
            for o in decision_path(tree, men | {"Age": Interval(-1.7e308, 1.7e308)})
            if o.ends
        }
    assert ends == {7: 0.5, 8: 0.5}


def test_a_midpoint_may_be_the_value_of_another_branch(tree):
    c = load_customers()
    here = (c.Gender == "Male") & (c.Marital == "Married")
    assert (
        65 in tree.threshold and 65 not in set(c.Age[here]) and c.index[c.Age == 65].tolist() == [8]
    )
