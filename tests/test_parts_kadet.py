"""kADET from parts: the tree, the spans and the promise of memory, whatever the parts, the budget
and the engine; what cannot be learnt says so.
"""

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from sklearn.base import clone
from test_parts_trees import ARRAYS, random_table
from test_scale import Posted, new_folder, write_parts

from ppdt.diversity import Alpha, LDiversity
from ppdt.engine import part_trees
from ppdt.engine.part_steps import Budget
from ppdt.generalization import Taxonomy
from ppdt.kadet import KADETClassifier, publish
from ppdt.scale import fit_parts


def random_taxonomies(rng, t):
    """Coarser words, coarser ages, or none"""
    res = {}
    if rng.random() < 0.5:
        tens = {i: [f"word {j}" for j in range(i, i + 10)] for i in (0, 10, 20, 30)}
        kinds = {f"{i} to {i + 9}": words for i, words in tens.items()}
        res["word"] = Taxonomy.from_dict({"any word": {"few": kinds, "none": ["no word"]}})
    if rng.random() < 0.3:
        decades = {f"{i}s": list(range(i, i + 10)) for i in (20, 30, 40)}
        res["age"] = Taxonomy.from_dict({"any age": decades})
    return res or None


def random_learner(rng, t):
    """kADET with any options"""
    names = list(t.columns[:-1])
    public = None
    if rng.random() < 0.75:
        public = [o for o in names if rng.random() < 0.5]
    told = public is not None and rng.random() < 0.3
    constraints = []
    if not told and rng.random() < 0.3:
        constraints = [Alpha(float(rng.choice([0.7, 0.9])))]
    elif not told and rng.random() < 0.2:
        constraints = [LDiversity(float(rng.choice([1.2, 1.5])), form="entropy")]
    return dict(
        k=int(rng.choice([1, 2, 3, 5, 9])),
        public=[*public, "class"] if told else public,
        criterion=str(rng.choice(["gain", "gain_ratio"])),
        taxonomies=random_taxonomies(rng, t),
        constraints=constraints,
        priority=str(rng.choice(["node", "weighted"])),
        empty_ok=bool(rng.random() < 0.8),
        min_gain=float(rng.choice([1e-12, 0, 0.05])),
        prune=[None, True, False][rng.integers(3)],
        min_samples_leaf=[None, 1, 2.5, 5][rng.integers(4)],
    )


def for_columns(options, names):
    """The options, as far as they are about some columns"""
    res = dict(options)
    if res["public"] is not None:
        res["public"] = [o for o in res["public"] if o in (*names, "class")]
    some = {o: t for o, t in (res["taxonomies"] or {}).items() if o in names}
    return KADETClassifier(**res | {"taxonomies": some or None})


def check_same(found, wanted, X, y):
    """Equal in all that fit learns, and in all that may leave the house"""
    for o in ARRAYS:
        assert np.array_equal(
            getattr(found.tree_, o), getattr(wanted.tree_, o), equal_nan=o == "threshold"
        ), o
    for o in ("names", "values", "dates"):
        assert getattr(found.tree_, o) == getattr(wanted.tree_, o), o
    pd.testing.assert_frame_equal(found.spans_, wanted.spans_)
    assert publish(found) == publish(wanted) and found.guarantee == wanted.guarantee
    assert np.array_equal(found.predict_proba(X), wanted.predict_proba(X))
    assert found.classes_.tolist() == wanted.classes_.tolist()
    assert found.classes_.dtype == wanted.classes_.dtype
    assert found.feature_names_in_.tolist() == wanted.feature_names_in_.tolist()
    assert np.array_equal(found.feature_importances_, wanted.feature_importances_)
    assert sorted(vars(found)) == sorted(vars(wanted))
    assert str(found.audit(X, y)) == str(wanted.audit(X, y))


def with_budget(monkeypatch, rows, counts):
    """Tiny budgets, as memory would give"""
    budget = Budget(rows, 1000, counts)
    monkeypatch.setattr(part_trees, "budget_of", lambda *_: budget)


@given(st.integers(0, 2**32 - 1))
@one_in(0.5, 5)
def test_the_tree_of_memory(seed):
    """Any table without gaps, options, parts, order of rows, and budget; what fit refuses, too"""
    rng = np.random.default_rng(seed)
    t = random_table(rng, int(rng.integers(2, 200)))
    options = random_learner(rng, t)
    names = [str(o) for o in rng.permutation(t.columns[:-1])[: rng.integers(1, 9)]]
    learner = for_columns(options, names)
    try:
        wanted, error = clone(learner).fit(t[names], t["class"]), None
    except ValueError as e:
        wanted, error = None, e
    with new_folder() as folder, pytest.MonkeyPatch.context() as patch:
        with_budget(patch, int(rng.integers(1, 150)), int(rng.integers(4000, 12000)))
        source = write_parts(t, folder / "parts", rng)
        about = dict(y="class", columns=names, engine=Posted())
        if error is not None:
            with pytest.raises(ValueError) as told:
                fit_parts(source, learner, **about)
            assert str(told.value) == str(error)
            return
        found = fit_parts(source, learner, **about)
        assert [o.name for o in folder.iterdir()] == ["parts"]
    check_same(found, wanted, t[names], t["class"])
    assert not hasattr(learner, "tree_")
