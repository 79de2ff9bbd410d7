"""kADET from parts: the tree, the spans and the promise of memory, whatever the parts, the budget
and the engine; what cannot be learnt says so.
"""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from sklearn.base import clone
from test_parts_trees import ARRAYS, random_table
from test_scale import Posted, new_folder, write_parts

from ppdt.datasets import fetch_adult, fetch_benchmark, make_population
from ppdt.diversity import Alpha, LDiversity, TCloseness
from ppdt.engine import kadet_span_test, part_kadet, part_spans, part_trees
from ppdt.engine.part_budget import Budget
from ppdt.generalization import Taxonomy
from ppdt.kadet import KADETClassifier, publish, read_published, tree_release
from ppdt.release import GuaranteeError
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
@one_in(3, 4)
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


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Parts of invented people, the whole table, and the columns to learn from"""
    t = make_population(1000)
    folder = tmp_path_factory.mktemp("people") / "parts"
    folder.mkdir()
    for i in range(3):
        t[i::3].to_parquet(folder / f"{i}.parquet", index=False)
    return folder, t, [o for o in t if o not in ("disease", "income")]


PUBLIC = ["age", "education", "region"]
OPTIONS = {
    "all but the class": dict(criterion="gain_ratio"),
    "some": dict(public=PUBLIC),
    "some and the class": dict(public=[*PUBLIC, "income"], k=20, priority="weighted"),
    "none": dict(public=[]),
}


@pytest.fixture(scope="module", params=OPTIONS)
def learnt(request, people):
    """A learner, and fitted in memory"""
    _, t, names = people
    learner = KADETClassifier(**OPTIONS[request.param])
    return learner, clone(learner).fit(t[names], t["income"])


def test_neither_parts_nor_their_order_matter(people, learnt, tmp_path):
    """Other cuts, rows and files in another order, and another engine: the same in every number"""
    source, t, names = people
    learner, wanted = learnt
    some = t.sample(frac=1, random_state=1)
    for i, end in enumerate([(0, 50), (50, 950), (950, 950), (950, 1000)]):
        some.iloc[slice(*end)].to_parquet(tmp_path / f"{9 - i}.parquet", index=False)
    about = dict(y="income", columns=names)
    with ThreadPoolExecutor(2) as pool:
        for where, how in (
            (source, dict(rows=200)),
            (sorted(source.iterdir())[::-1], dict(rows=80, engine=pool)),
            (tmp_path, dict(rows=200, engine=Posted())),
            (tmp_path, {}),
        ):
            found = fit_parts(where, learner, **about, **how)
            check_same(found, wanted, t[names], t["income"])
    again = pickle.loads(pickle.dumps(found))
    assert again.predict(t[names]).tolist() == wanted.predict(t[names]).tolist()
    read = read_published(publish(found))
    asked = list(read.feature_names_in_)
    assert read.predict(t[asked]).tolist() == wanted.predict(t[names]).tolist()


def test_the_table_that_is_equivalent(people, learnt):
    """A fitted classifier is as good as one of memory for all that is asked of it later"""
    source, t, names = people
    learner, wanted = learnt
    if learner.public == [] or "income" in (learner.public or ()):
        return
    found = fit_parts(source, learner, y="income", columns=names, rows=200)
    made, memory = (tree_release(o, t[names], t["income"]) for o in (found, wanted))
    assert made.text().equals(memory.text()) and made.audit == memory.audit


def test_passes_are_few(people, monkeypatch):
    """More than four hundred nodes, with rows for a fifth of the people, in a dozen passes"""
    source, _, names = people
    seen = []
    run = part_kadet.nodes_by_spans

    def watched(*o):
        seen.append(run(*o))
        return seen[-1]

    monkeypatch.setattr(part_kadet, "nodes_by_spans", watched)
    fit_parts(source, KADETClassifier(public=PUBLIC), y="income", columns=names, rows=200)
    [(nodes, passes)] = seen
    assert len(nodes) > 400 and 1 < passes.n_passes <= 12


@pytest.mark.parametrize("rows", [None, 3000])
def test_nursery(data_dir, tmp_path, monkeypatch, rows):
    """A real table of 12,960 rows, as it is and in five parts"""
    monkeypatch.setenv("PPDT_DATA", str(data_dir))
    X, y = fetch_benchmark("nursery")
    t = X.assign(**{y.name: y})
    for i in range(5):
        t[i::5].to_parquet(tmp_path / f"{i}.parquet", index=False)
    learner = KADETClassifier(k=20, public=list(X)[:4])
    found = fit_parts(tmp_path, learner, y=y.name, rows=rows)
    check_same(found, clone(learner).fit(X, y), X, y)


def test_adult(data_dir, tmp_path, monkeypatch):
    """Adult: its 30,162 complete rows, in four parts"""
    monkeypatch.setenv("PPDT_DATA", str(data_dir))
    known = ["age", "education", "occupation", "race", "sex"]
    names = [*known, "hours-per-week"]
    t = fetch_adult(complete=True)[[*names, "income"]]
    for i in range(4):
        t[i::4].to_parquet(tmp_path / f"{i}.parquet", index=False)
    for how in (dict(public=known, criterion="gain_ratio"), dict(constraints=[Alpha(0.95)])):
        learner = KADETClassifier(k=100, **how)
        found = fit_parts(tmp_path, learner, y="income", columns=names, rows=9000)
        check_same(found, clone(learner).fit(t[names], t["income"]), t[names], t["income"])


def test_it_gives_up_as_memory_does(people, monkeypatch):
    """After as many counts, or places, with the same advice; counts are never more than people"""
    source, t, names = people
    learner = KADETClassifier(public=PUBLIC)
    about = dict(y="income", columns=names, rows=200)
    advice = r"With 3 private columns \(occupation, marital_status, hours\) every public question"
    for limit, words in (("MOST_WORK", "looked at 20 counts and"), ("MOST_PAIRS", "more than 20")):
        with monkeypatch.context() as patch:
            patch.setattr(part_kadet, limit, 20)
            with pytest.raises(ValueError, match=f"{words}.*{advice}"):
                fit_parts(source, learner, **about)
    # where memory may look at so many people, parts get the tree, too
    books = []
    allow = kadet_span_test.GrowingSpans.allow

    def watched(o, *more):
        books[:] = [o]
        return allow(o, *more)

    monkeypatch.setattr(kadet_span_test.GrowingSpans, "allow", watched)
    wanted = clone(learner).fit(t[names], t["income"])
    monkeypatch.setattr(part_kadet, "MOST_WORK", books[0].work)
    check_same(fit_parts(source, learner, **about), wanted, t[names], t["income"])


def test_a_broken_promise_is_found(people, monkeypatch):
    """The audit is by other code than growing: a span test that allows everything does not pass"""
    source, _, names = people
    about = dict(y="income", columns=names, rows=200)
    with monkeypatch.context() as patch:
        patch.setattr(part_spans.CountedSpans, "allow", lambda *_: True)
        with pytest.raises(GuaranteeError, match="its tree does not keep that"):
            fit_parts(source, KADETClassifier(public=PUBLIC), **about)
    monkeypatch.setattr(part_kadet, "sons_are_safe", lambda *_: None)
    with pytest.raises(GuaranteeError, match="k-anonymous model with k = 5"):
        fit_parts(source, KADETClassifier(), **about)


def test_a_run_that_broke_goes_on(people, tmp_path, monkeypatch):
    """With a work folder of one's own parts are coded once; a clean end removes it"""
    source, t, names = people
    work, learner = tmp_path / "work", KADETClassifier(public=PUBLIC)
    about = dict(y="income", columns=names, rows=300, work=work)

    def fail(*_):
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(part_kadet, "keep_audit", fail)
        with pytest.raises(OSError, match="No space left"):
            fit_parts(source, learner, **about)
    done = {o: o.stat().st_mtime_ns for o in work.glob("run-*/codes-*.npz")}
    seen, keep = {}, part_kadet.keep_audit

    def watched(clf, task, run, files):
        seen.update({run.folder / o: (run.folder / o).stat().st_mtime_ns for o in files})
        keep(clf, task, run, files)

    monkeypatch.setattr(part_kadet, "keep_audit", watched)
    found = fit_parts(source, learner, **about)
    assert done and seen == done and not work.exists()
    check_same(found, clone(learner).fit(t[names], t["income"]), t[names], t["income"])


@pytest.mark.parametrize(
    ("options", "about", "words"),
    [
        (dict(k=0), {}, "'k' must be"),
        (dict(k=3000), {}, "'k' must .* 1,?000"),
        (dict(criterion="gini"), {}, "'criterion' must be 'gain' or 'gain_ratio'"),
        (dict(public=["wage"]), {}, "'public' must name columns of X, or the class. Got 'wage'"),
        (dict(public="age"), {}, "'public' must be a list of column names"),
        (dict(public=["income"], k=999), {}, "the class is public, and .* have class"),
        (dict(constraints=[Alpha(0.5)]), {}, "No tree is safe.*more than alpha=0.5 allows"),
        (dict(constraints=[TCloseness(0.2)]), {}, "'constraints' of a tree must be LDiversity"),
        (
            dict(constraints=[LDiversity(1.1, form="entropy")], public=["income"]),
            {},
            "'constraints' must be empty when the class is public",
        ),
        (dict(taxonomies={"no": Taxonomy.from_dict({"a": ["b"]})}), {}, "'no'"),
        (dict(taxonomies={"region": Taxonomy.from_dict({"a": ["b"]})}), {}, "region"),
        ({}, dict(columns=["age", "wage"]), "'columns' must name columns of the parts"),
        ({}, dict(memory="1 MB"), "'memory' must be at least 400 MB"),
    ],
)
def test_what_cannot_be_learnt_says_so(people, options, about, words):
    source, t, names = people
    learner = KADETClassifier(**options)
    with pytest.raises((TypeError, ValueError), match=words):
        fit_parts(source, learner, **dict(y="income", columns=names) | about)
    if not about:
        with pytest.raises((TypeError, ValueError), match=words):
            learner.fit(t[names], t["income"])


def test_tables_that_cannot_be_learnt_from(people, tmp_path, monkeypatch):
    """Gaps, no rows, and more different values than may be counted"""
    source, t, names = people

    def fit(o):
        (tmp_path / "part.parquet").unlink(missing_ok=True)
        o.to_parquet(tmp_path / "part.parquet")
        fit_parts(tmp_path, KADETClassifier(), y="income", columns=names)

    for o in ("region", "income"):
        gap = t.head(50).assign(**{o: t[o].where(t.index != 3, None)})
        with pytest.raises(ValueError, match=f"lacks a value .NaN.. Got missing values in '{o}'"):
            fit(gap)
    with pytest.raises(ValueError, match="Got parts that are all empty"):
        fit(t[:0])
    with_budget(monkeypatch, 100, 20)
    for public in (None, PUBLIC):
        with pytest.raises(ValueError, match="Got 7[0-9] in 'age', counted with 2 classes"):
            fit_parts(source, KADETClassifier(public=public), y="income", columns=names)
