"""Trees from parts: those of memory, whatever the parts, the budget and the engine; what cannot be
learnt from counts says so.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from sklearn.base import clone
from test_scale import Posted, new_folder, write_parts

from ppdt import cli
from ppdt.c45 import C45Classifier, ID3Classifier, PARTClassifier
from ppdt.datasets import make_population
from ppdt.engine import part_tree_pruning, part_trees
from ppdt.engine.part_budget import Budget
from ppdt.generalization import Taxonomy
from ppdt.id3_sets import GeneralizedID3Classifier
from ppdt.kactus import KActusAnonymizer
from ppdt.scale import fit_parts, predict_parts
from ppdt.tables import TextFormError
from ppdt.trees import tree_json

ARRAYS = ("parent", "attribute", "level", "kind", "threshold", "code", "counts", "n")


def random_table(rng, n):
    """Whole rows: numbers near each other, dates, words, truth values, declared categories"""
    words = [f"word {i}" for i in range(rng.integers(1, 40))]
    t = pd.DataFrame(
        {
            "age": rng.integers(20, 20 + rng.integers(1, 30), n),
            "wage": np.round(rng.normal(0, 3, n), int(rng.integers(0, 7))),
            # neighbours below and above what C4.5 holds for different
            "near": rng.choice([0, 6e-6, 1.2e-5, 1, 1 + 4e-7, 5], n),
            "day": pd.Timestamp("2020-02-27") + pd.to_timedelta(rng.integers(0, 5, n), "D"),
            "word": rng.choice(words, n),
            "is": rng.random(n) < 0.5,
            "size": pd.Categorical(rng.choice(["S", "M"], n), ["XS", "M", "S", "L"]),
            "one": "one",
        }
    )
    score = (t["age"] > 30) ^ (t["word"] > "word 2") ^ (t["size"] == "S") ^ (rng.random(n) < 0.2)
    y = np.where(score, "yes", np.where(t["is"] & (t["wage"] > 0), "perhaps", "no"))
    kind = rng.integers(3)
    if kind == 0:
        y = pd.Categorical(y, ["yes", "no", "never", "perhaps"])
    t["class"] = y if kind < 2 else (y == "yes").astype(int) * 3
    return t


def random_learner(rng):
    """C4.5 or ID3 with any options that go through parts"""
    depth = None if rng.random() < 0.6 else int(rng.integers(0, 5))
    if rng.random() < 0.25:
        return ID3Classifier(max_depth=depth)
    return C45Classifier(
        min_samples_leaf=float(rng.choice([1, 2, 2.5, 5])),
        prune=bool(rng.random() < 0.8),
        confidence=float(rng.choice([0.05, 0.25, 0.5])),
        subtree_raising=bool(rng.random() < 0.7),
        binary_splits=bool(rng.random() < 0.3),
        thresholds=str(rng.choice(["midpoint", "data"])),
        max_depth=depth,
    )


def check_same(found, wanted, X):
    """Equal in all that fit learns"""
    for o in ARRAYS:
        assert np.array_equal(
            getattr(found.tree_, o), getattr(wanted.tree_, o), equal_nan=o == "threshold"
        ), o
    assert str(found) == str(wanted)
    for o in ("names", "values", "dates"):
        assert getattr(found.tree_, o) == getattr(wanted.tree_, o), o
    assert np.array_equal(found.predict_proba(X), wanted.predict_proba(X))
    assert found.classes_.tolist() == wanted.classes_.tolist()
    assert found.classes_.dtype == wanted.classes_.dtype
    assert sorted(vars(found)) == sorted(vars(wanted))


def with_budget(monkeypatch, rows, counts):
    """Tiny budgets, as memory would give"""
    budget = Budget(rows, 1000, counts)
    monkeypatch.setattr(part_trees, "budget_of", lambda *_: budget)


@given(st.integers(0, 2**32 - 1))
@one_in(20, 2)
def test_the_tree_of_memory(seed):
    """Any table without gaps, learner, parts, order of rows, and budget"""
    rng = np.random.default_rng(seed)
    t = random_table(rng, int(rng.integers(2, 300)))
    learner = random_learner(rng)
    names = [str(o) for o in rng.permutation(t.columns[:-1])[: rng.integers(1, 9)]]
    if isinstance(learner, ID3Classifier):
        names = [o for o in names if t[o].nunique() <= 20 or o == "word"] or ["word"]
    wanted = clone(learner).fit(t[names], t["class"])
    with new_folder() as folder, pytest.MonkeyPatch.context() as patch:
        with_budget(patch, int(rng.integers(1, 150)), int(rng.integers(4000, 12000)))
        source = write_parts(t, folder / "parts", rng)
        found = fit_parts(source, learner, y="class", columns=names, engine=Posted())
        assert [o.name for o in folder.iterdir()] == ["parts"]
    check_same(found, wanted, t[names])
    assert not hasattr(learner, "tree_")


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Parts of invented people, the whole table, and the columns to learn from"""
    t = make_population(2000)
    folder = tmp_path_factory.mktemp("people") / "parts"
    folder.mkdir()
    for i in range(3):
        t[i::3].to_parquet(folder / f"{i}.parquet", index=False)
    return folder, t, [o for o in t if o not in ("disease", "income")]


def test_branches_are_raised_by_counts(people, monkeypatch):
    """A tree in which branches of the top take the place of their parents, over several waves"""
    source, t, names = people
    asked, raised = [], []
    run = part_tree_pruning.CountedPruning.run

    def watched(p):
        count = p.count
        p.count = lambda *o: asked.append(o[1]) or count(*o)
        run(p)
        raised.append(int(p.raised.sum()))

    monkeypatch.setattr(part_tree_pruning.CountedPruning, "run", watched)
    names, learner = names[:3], C45Classifier(binary_splits=True)
    wanted = clone(learner).fit(t[names], t["income"])
    found = fit_parts(source, learner, y="income", columns=names, rows=80)
    check_same(found, wanted, t[names])
    assert raised[0] > 0 and len(asked) > 5


def test_its_tree_asks_people_in_parts(people, tmp_path):
    """In Python, and by the command once it is written as a file"""
    source, t, names = people
    clf = fit_parts(source, C45Classifier(), y="income", columns=names, rows=400)
    made = predict_parts(source, tmp_path / "out", clf)
    wanted = clf.predict(t[names])
    assert made.counts == dict(zip(*np.unique(wanted, return_counts=True)))
    again = pickle.loads(pickle.dumps(clf))
    assert again.predict(t[names]).tolist() == wanted.tolist()
    (tmp_path / "tree.json").write_text(tree_json(clf.tree_), "utf-8")
    words = ["predict", tmp_path / "tree.json", source, "-o", tmp_path / "answers"]
    assert cli.main([str(o) for o in words]) == 0
    for o in made.files:
        told = [pd.read_parquet(tmp_path / where / o) for where in ("out", "answers")]
        assert told[0]["predicted"].tolist() == told[1]["predicted"].tolist()


def test_the_command_learns_from_no_raw_parts(people, capsys):
    """A tree of people as they are promises nothing: `ppdt learn` says where to learn it"""
    assert cli.main(["learn", str(people[0])]) == 2
    assert "with ppdt.scale.fit_parts in Python" in capsys.readouterr().err.replace("\n", " ")


def test_a_run_that_broke_goes_on(people, tmp_path, monkeypatch):
    """With a work folder of one's own finished ends are kept; a clean end removes it"""
    source, t, names = people
    work, learner = tmp_path / "work", C45Classifier()
    about = dict(y="income", columns=names, rows=300, work=work)
    broken = pytest.MonkeyPatch()
    full = OSError("No space left on device")

    def fail(*_, **__):
        raise full

    broken.setattr(part_trees, "joined_tree", fail)
    with pytest.raises(OSError, match="No space left"):
        fit_parts(source, learner, **about)
    broken.undo()
    done = {o: o.stat().st_mtime_ns for o in work.glob("run-*/branches-*.npz")}
    seen = {}
    read = part_trees.read_branches

    def watched(told, folder):
        seen.update({o: o.stat().st_mtime_ns for o in folder.glob("branches-*.npz")})
        return read(told, folder)

    monkeypatch.setattr(part_trees, "read_branches", watched)
    found = fit_parts(source, learner, **about)
    assert done and seen == done and not work.exists()
    check_same(found, clone(learner).fit(t[names], t["income"]), t[names])


@pytest.mark.parametrize(
    ("learner", "error", "words"),
    [
        (PARTClassifier(), TypeError, "Got PARTClassifier .a rule takes its rows away"),
        (GeneralizedID3Classifier(), TypeError, "Got GeneralizedID3Classifier .it divides or"),
        (KActusAnonymizer(), TypeError, "Got KActusAnonymizer .it protects a table, which"),
        (None, TypeError, "Got NoneType: use it on a table in memory"),
        (C45Classifier(class_weight="balanced"), ValueError, "'class_weight' of the learner"),
        (C45Classifier(weights="distribution"), ValueError, "'weights' of the learner must be"),
        (C45Classifier(confidence=0.7), ValueError, "'confidence' must be"),
        (ID3Classifier(max_depth=-1), ValueError, "'max_depth' must be"),
        (ID3Classifier(), ValueError, "Column 'age' must be categorical. Got raw numbers with"),
        (C45Classifier(taxonomies={"no": Taxonomy.from_dict({"a": ["b"]})}), ValueError, "'no'"),
    ],
    ids=lambda o: type(o).__name__,
)
def test_what_cannot_be_learnt_says_so(people, learner, error, words):
    source, _, names = people
    with pytest.raises(error, match=words):
        fit_parts(source, learner, y="income", columns=names)


@pytest.mark.parametrize(
    ("about", "words"),
    [
        (dict(y="wage"), "'y' must name columns of the parts. Got 'wage'"),
        (dict(columns=["wage"]), "'columns' must name columns of the parts. Got 'wage'"),
        (dict(columns=["age", "income"]), "'columns' must list each column once, without"),
        (dict(columns=[]), "'columns' must list each column once, .* Got none"),
        (dict(memory="1 MB"), "'memory' must be at least 400 MB"),
        (dict(engine="hadoop"), "'engine' must be 'here'"),
    ],
)
def test_what_cannot_be_asked_says_so(people, about, words):
    with pytest.raises((TypeError, ValueError), match=words):
        fit_parts(people[0], C45Classifier(), **({"y": "income"} | about))


def test_tables_that_cannot_be_learnt_from(people, tmp_path, monkeypatch):
    """Gaps in a column or the class, no rows, CSV files, a part that is cut off, too many values"""
    source, t, names = people

    def parts(name, change=None, end="parquet"):
        folder = tmp_path / name
        folder.mkdir()
        some = t.head(50) if change is None else change(t.head(50).copy())
        some.to_csv(folder / "0.csv") if end == "csv" else some.to_parquet(folder / "0.parquet")
        return folder

    def fit(folder):
        return fit_parts(folder, C45Classifier(), y="income", columns=names)

    for o in ("region", "income"):
        with pytest.raises(ValueError, match=f"Got missing values in '{o}': fill them in"):
            fit(parts(o, lambda s, o=o: s.assign(**{o: s[o].where(s.index != 3, None)})))
    with pytest.raises(ValueError, match="Got parts that are all empty"):
        fit(parts("none", lambda s: s[:0]))
    with pytest.raises(ValueError, match="Got CSV files: convert"):
        fit(parts("text", end="csv"))
    short = parts("short") / "0.parquet"
    short.write_bytes(short.read_bytes()[:900])
    with pytest.raises(TextFormError, match="is not a whole Parquet file"):
        fit(short.parent)
    with_budget(monkeypatch, 100, 20)
    with pytest.raises(ValueError, match="Got 7[0-9] in 'age', counted with 2 classes"):
        fit(source)
