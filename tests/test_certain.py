"""Certain answers against all members of all rows, for trees of ppdt and of scikit-learn."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import assume, given, strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from ppdt.c45 import C45Classifier, ID3Classifier
from ppdt.encoder import ReleaseEncoder
from ppdt.generalization import Taxonomy
from ppdt.id3_sets import GeneralizedID3Classifier
from ppdt.learners import DrawnClassifier, NaiveBayesClassifier, certain
from ppdt.tables import Centroid, Exact, Interval, Node, Suppressed, ValueSet, cell_column

WORDS, NUMBERS = ["a", "b", "c"], [0.0, 1.0, 2.0, 5.0]
JOBS = Taxonomy.from_dict({"any": {"some": ["a", "b"], "others": ["c"]}})
# values that no cell of a table names are asked for
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*these rows hold values that no published cell"),
    pytest.mark.filterwarnings("ignore:Column '.' holds no value that it had in fit"),
]


def column(items):
    found = list(dict.fromkeys(o for o in items if o is not None))
    return cell_column([-1 if o is None else found.index(o) for o in items], found)


def word_cell():
    return st.one_of(
        st.sampled_from(WORDS).map(Exact),
        st.sets(st.sampled_from(WORDS), min_size=1).map(ValueSet),
        st.just(Suppressed()),
    )


def number_cell():
    ends = st.tuples(
        st.lists(st.sampled_from(NUMBERS), min_size=2, max_size=2, unique=True).map(sorted),
        st.booleans(),
    )
    return st.one_of(
        st.sampled_from(NUMBERS).map(Exact),
        st.sets(st.sampled_from(NUMBERS), min_size=1).map(ValueSet),
        ends.map(lambda e: Interval(*e[0], hi_open=e[1])),
        st.sampled_from(NUMBERS).map(Centroid),
        st.just(Suppressed()),
    )


def rows(number, gaps=False):
    words = st.one_of(word_cell(), st.none()) if gaps else word_cell()
    number = st.one_of(number, st.none()) if gaps else number
    return st.lists(
        st.tuples(words, words, number), min_size=1 if gaps else 4, max_size=4 if gaps else 9
    )


def table(items):
    u, w, n = zip(*items)
    return pd.DataFrame({"u": column(u), "w": column(w), "n": column(n)})


def members(cell, known, grid):
    """All plain values that a cell may be, numbers from a grid"""
    if cell is None or isinstance(cell, Suppressed):
        return list(known)
    if isinstance(cell, Interval):
        return [v for v in grid if cell.lo <= v <= cell.hi and not (cell.hi_open and v == cell.hi)]
    return list(cell.listed())


def grid_of(model):
    """Numbers at and just above the thresholds of a tree, and those of cells"""
    tree = model[-1] if hasattr(model, "steps") else getattr(model, "classifier_", model)
    at = tree.tree_.threshold
    at = at[np.isfinite(at)]
    return np.unique([*NUMBERS, -1.0, 9.0, *at, *(at + 1e-5)])


def by_force(model, items, known):
    """The class of each row, or None, by asking for all members"""
    grid = grid_of(model)
    parts = [
        list(product(*(members(c, k, grid) for c, k in zip(row, [*known, grid])))) for row in items
    ]
    X = pd.DataFrame([o for part in parts for o in part], columns=["u", "w", "n"])
    answers = model.predict(X.astype({"n": float}))
    found = [set(o) for o in np.split(answers, np.cumsum([len(o) for o in parts])[:-1])]
    return [o.pop() if len(o) == 1 else None for o in found]


def named(items, i):
    """Words that the cells of a column name"""
    return sorted(
        {v for row in items if not isinstance(row[i], Suppressed) for v in row[i].listed()}
    )


MODELS = {
    "C4.5": lambda: C45Classifier(min_samples_leaf=1, prune=False),
    "C4.5, two branches": lambda: C45Classifier(min_samples_leaf=1, binary_splits=True),
    "encoder": lambda: make_pipeline(
        ReleaseEncoder(sets="weights"), DecisionTreeClassifier(random_state=0)
    ),
    "ends": lambda: make_pipeline(
        ReleaseEncoder(numeric="bounds", missing="mode"), DecisionTreeClassifier(random_state=0)
    ),
    "drawn": lambda: DrawnClassifier(DecisionTreeClassifier(random_state=0), 3, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
@one_in(20)
@given(rows(number_cell()), rows(number_cell(), gaps=True), st.data())
def test_all_members_are_asked(name, learnt, asked, data):
    y = [data.draw(st.sampled_from(["no", "yes", "perhaps"])) for _ in learnt]
    known = [named(learnt, 0), named(learnt, 1)]
    assume(all(known) and any(not isinstance(row[2], Suppressed) for row in learnt))
    model = MODELS[name]().fit(table(learnt), y)
    found = certain(model, table(asked))
    assert found.tolist() == by_force(model, asked, known)


@one_in(2)
@given(
    st.lists(st.tuples(word_cell(), word_cell()), min_size=3, max_size=9),
    st.lists(st.tuples(word_cell(), word_cell()), min_size=1, max_size=6),
    st.data(),
)
def test_sets_of_shao_and_beckford(learnt, asked, data):
    learnt = [[Exact("a") if isinstance(c, Suppressed) else c for c in row] for row in learnt]
    y = [data.draw(st.sampled_from(["no", "yes"])) for _ in learnt]
    X, A = (pd.DataFrame({o: column(c) for o, c in zip("uw", zip(*t))}) for t in (learnt, asked))
    model = GeneralizedID3Classifier().fit(X, y)
    known = [named(learnt, 0), named(learnt, 1)]
    res = []
    for row in asked:
        parts = [members(c, k, ()) for c, k in zip(row, known)]
        found = set(model.predict(pd.DataFrame(list(product(*parts)), columns=["u", "w"])))
        res.append(found.pop() if len(found) == 1 else None)
    assert certain(model, A).tolist() == res


@one_in(5)
@given(st.data())
def test_raw_rows_have_one_answer_and_gaps_several(data):
    n = data.draw(st.integers(4, 12))
    X = pd.DataFrame(
        {
            "u": data.draw(st.lists(st.sampled_from(WORDS), min_size=n, max_size=n)),
            "n": data.draw(st.lists(st.sampled_from(NUMBERS), min_size=n, max_size=n)),
        }
    )
    y = np.array([data.draw(st.sampled_from(["no", "yes"])) for _ in range(n)])
    models = [
        C45Classifier(min_samples_leaf=1),
        make_pipeline(ReleaseEncoder(), DecisionTreeClassifier(random_state=0)),
    ]
    later = pd.DataFrame({"u": [*WORDS, "unseen"], "n": [0.5, 1.5, 3.5, 9.0]})
    for model in models:
        model.fit(X, y)
        assert certain(model, X).tolist() == model.predict(X).tolist()
        assert certain(model, later).tolist() == model.predict(later).tolist()
        nothing = pd.DataFrame({"u": [None], "n": [np.nan]}).astype({"u": object})
        every = product(sorted(set(X.u)), grid_of(model))
        answers = set(model.predict(pd.DataFrame(list(every), columns=["u", "n"])))
        assert certain(model, nothing)[0] == (answers.pop() if len(answers) == 1 else None)


def test_encoders_of_scikit_learn_and_id3():
    X = pd.DataFrame({"u": ["a", "b", "c", "a"] * 5, "w": ["b", "b", "a", "a"] * 5})
    y = np.array(["yes", "no", "no", "yes"] * 5)
    asked = pd.DataFrame(
        {"u": column([ValueSet(["b", "c"]), ValueSet(["a", "b"]), Suppressed()]), "w": ["a"] * 3}
    )
    for model in (
        make_pipeline(OneHotEncoder(), DecisionTreeClassifier(random_state=0)),
        ID3Classifier(),
    ):
        assert certain(model.fit(X, y), asked).tolist() == ["no", None, None]
        assert certain(model, asked.set_axis([7, 8, 9])).index.tolist() == [7, 8, 9]


def test_nodes_are_read_by_the_taxonomies_of_the_model():
    X = pd.DataFrame({"u": ["a", "b", "c"] * 4})
    model = C45Classifier(taxonomies={"u": JOBS}).fit(X, ["yes", "yes", "no"] * 4)
    asked = pd.DataFrame({"u": column([Node("some"), Node("any"), Node("others")])})
    assert certain(model, asked).tolist() == ["yes", None, "no"]
    with pytest.raises(ValueError, match="'taxonomies' must have the taxonomy of column 'u'"):
        certain(C45Classifier().fit(X, ["yes", "yes", "no"] * 4), asked)


def test_dates():
    days = pd.DataFrame({"d": pd.to_datetime(["2024-01-01", "2024-01-05"] * 5)})
    y = ["no", "yes"] * 5
    a, b, c = (pd.Timestamp(f"2024-01-{i:02}") for i in (1, 2, 5))
    asked = pd.DataFrame({"d": column([Interval(a, b), Interval(b, c), Exact(c)])})
    for model in (
        C45Classifier(min_samples_leaf=1),
        make_pipeline(ReleaseEncoder(), DecisionTreeClassifier()),
    ):
        assert certain(model.fit(days, y), asked).tolist() == ["no", None, "yes"]


def test_a_leaf_alone_is_certain_of_everything():
    X = pd.DataFrame({"u": ["a", "b"]})
    asked = pd.DataFrame({"u": column([Suppressed(), Exact("z")])})
    assert certain(C45Classifier().fit(X, ["x", "x"]), asked).tolist() == ["x", "x"]


@pytest.mark.parametrize(
    "model", [RandomForestClassifier(3), LogisticRegression(), NaiveBayesClassifier(), 7]
)
def test_no_single_tree(model):
    X, y = pd.DataFrame({"n": [1.0, 2.0] * 5}), ["a", "b"] * 5
    if model != 7:
        model.fit(X, y)
    with pytest.raises(TypeError, match="must be a fitted single tree.*draw"):
        certain(model, X)


def test_what_cannot_be_asked():
    X = pd.DataFrame({"u": ["a", "b"] * 5})
    y = ["no", "yes"] * 5
    tree = DecisionTreeClassifier()
    for p in dict(sets="token"), dict(missing="indicator"):
        with pytest.raises(ValueError, match="must have an encoder whose outputs are values"):
            certain(make_pipeline(ReleaseEncoder(**p), tree).fit(X, y), X)
    model = C45Classifier().fit(X, y)
    with pytest.raises(
        ValueError, match="must have the columns that the tree asks. Got none named"
    ):
        certain(model, pd.DataFrame({"v": ["a"]}))
    with pytest.raises(ValueError, match="Column 'u' must hold values or sets"):
        certain(model, pd.DataFrame({"u": column([Interval(1, 2)])}))
