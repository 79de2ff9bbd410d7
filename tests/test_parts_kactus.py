"""kACTUS of tables in parts: the release of memory with the same lots, whatever the parts, the
order of rows, the budget and the engine; what cannot go through says so.
"""

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, settings, strategies as st
from random_trees import random_tree
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier
from test_scale import (
    PUBLISHED,
    Mortal,
    Posted,
    check_same,
    digests,
    new_folder,
    random_table,
    write_parts,
)

from ppdt.c45 import C45Classifier, ID3Classifier, PARTClassifier
from ppdt.datasets import fetch_adult, make_population
from ppdt.diversity import LDiversity
from ppdt.engine import part_buckets, part_climb, part_leaves, part_release
from ppdt.engine.climbing import spare_by_lot
from ppdt.engine.files import guess_kind, read_text, to_kind
from ppdt.engine.lots import cast_lots, order_of_lots
from ppdt.growing import MULTIWAY, THRESHOLD
from ppdt.id3_sets import GeneralizedID3Classifier
from ppdt.kactus import KActusAnonymizer, climb_to_root
from ppdt.kadet import KADETClassifier
from ppdt.release import GuaranteeError
from ppdt.scale import anonymize_parts, read_parts

QIS = ["wage", "tree", "age", "day", "size"]


def complete_table(rng, n):
    """People of whom all is known"""
    t = random_table(rng, n, False)
    # more equal people than chance makes, with other classes
    return t.iloc[rng.integers(0, n, n)].reset_index(drop=True) if rng.random() < 0.5 else t


def random_inducer(rng, t, names):
    """What grows the tree, or one that was fitted on some of the people"""
    kind = rng.integers(5)
    how = dict(min_samples_leaf=int(rng.integers(1, 4)), prune=bool(rng.random() < 0.3))
    clf = C45Classifier(**how, thresholds=str(rng.choice(["midpoint", "data"])))
    if kind == 0:
        return None
    if kind < 3:
        return clf
    words = [o for o in names if o in ("tree", "size")]
    if kind == 3 and words:
        some = t[:9].dropna(subset=[*words, "class"])
        if len(some):
            return FrozenEstimator(ID3Classifier().fit(some[words], some["class"]))
    numbers = [o for o in names if o in ("wage", "age")]
    some = t.dropna(subset=[*names, "class"])
    if not len(some):
        return clf
    if numbers and rng.random() < 0.5:
        return DecisionTreeClassifier(random_state=0).fit(some[numbers], some["class"])
    return clf.fit(some[names], some["class"]).tree_


def random_kactus(rng, t, gaps=False):
    """kACTUS with any options that go through parts"""
    names = [QIS[i] for i in rng.permutation(5)][: rng.integers(1, 6)]
    merge = str(rng.choice(["none", "sets"]))
    inducer = random_inducer(rng, t, names)
    categorical = None
    if "age" in names and rng.random() < 0.2:
        categorical, inducer = ["age"], None
    if merge == "sets" and rng.random() < 0.3:
        inducer = C45Classifier(min_samples_leaf=1, prune=False, binary_splits=True)
    return KActusAnonymizer(
        k=int(rng.integers(2, 7)),
        quasi_identifiers=names,
        categorical=categorical,
        identifiers=["name"],
        published=[*PUBLISHED, *(o for o in QIS if o not in names)],
        missing=str(rng.choice(["drop", "category"])) if gaps else "error",
        inducer=inducer,
        numeric=str(rng.choice(["interval", "path"])),
        shortfall=str(rng.choice(["lose", "top_up"])),
        selection="lots",
        merge=merge,
        random_state=int(rng.integers(0, 1000)),
        suppression_limit=float(rng.choice([0, 0, 0.1, 0.5])),
        brothers=str(rng.choice(["shown", "mixed"])),
    )


@pytest.mark.parametrize("gaps", [False, True])
@given(seed=st.integers(0, 2**32 - 1))
@one_in(4, 4)
def test_the_same_as_in_memory(gaps, seed):
    """Any parts, in any order, with any budget; the same bytes for other parts"""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 90))
    t = random_table(rng, n, True) if gaps else complete_table(rng, n)
    method = random_kactus(rng, t, gaps)
    rows = max(int(rng.choice([1, 5, 10, 20, 1000])), len(t) // 12)
    with new_folder() as folder:
        try:
            memory = method.anonymize(t.drop(columns="class"), t["class"])
        except ValueError as e:
            source = write_parts(t, folder / "parts", rng)
            with pytest.raises(ValueError):
                anonymize_parts(source, folder / "out", method, y="class", rows=rows)
            assert gaps or "k" in str(e)
            return
        found = []
        for i in range(2):
            source = write_parts(t, folder / f"parts-{i}", rng)
            try:
                made = anonymize_parts(source, folder / f"out-{i}", method, y="class", rows=rows)
            except ValueError as e:
                # in memory C4.5 divides rows with gaps
                assert gaps and "Rows must be complete for a tree from parts" in str(e)
                return
            check_same(made, memory)
            assert made.audit.k is None or made.audit.k >= method.k
            found.append(digests(made))
        assert found[0] == found[1]


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=min(4, settings().max_examples))
def test_csv_as_the_command_reads_it(seed):
    """Texts with types by what all parts hold; the class is a text"""
    rng = np.random.default_rng(seed)
    t = random_table(rng, int(rng.integers(20, 60)), False).drop(columns=["day", "size"])
    t["class"] = np.where(t["age"] > 30, "1.50", rng.choice(["1.50", "2"], len(t)))
    method = KActusAnonymizer(
        3,
        ["tree", "age", "wage"],
        identifiers=["name"],
        published=["note"],
        inducer=C45Classifier(min_samples_leaf=1, prune=False),
        numeric="interval",
        selection="lots",
        random_state=1,
    )
    with new_folder() as folder:
        source = write_parts(t, folder / "parts", rng, "csv")
        t.to_csv(folder / "whole.csv", index=False)
        raw = read_text(folder / "whole.csv")
        kinds = {o: guess_kind(raw[o]) for o in method.quasi_identifiers}
        X = pd.DataFrame({o: to_kind(raw[o], kinds.get(o, "categorical"), o) for o in raw.columns})
        memory = method.anonymize(X.drop(columns="class"), X["class"])
        made = anonymize_parts(source, folder / "out", method, y="class", rows=9)
        check_same(made, memory)


@pytest.mark.parametrize("kind", ["declared", "number", "truth"])
def test_classes_and_columns_of_other_kinds(tmp_path, kind):
    """A declared class, one of which nobody has; numbers and truth values; columns of truth values
    and of numbers that are categories
    """
    rng = np.random.default_rng(5)
    n = 300
    t = pd.DataFrame({"is": rng.random(n) < 0.5, "zip": rng.choice([1096, 1097, 1200], n)})
    t["one"] = "one"
    t["age"] = rng.integers(20, 60, n)
    score = t["is"] ^ (t["zip"] == 1097) ^ (t["age"] > 44) ^ (rng.random(n) < 0.1)
    classes = {
        "declared": pd.Categorical(np.where(score, "yes", "no"), ["yes", "never", "no"]),
        "number": score.astype(int) * 3,
        "truth": score,
    }
    t["class"] = classes[kind]
    method = KActusAnonymizer(
        7,
        categorical=["zip"],
        inducer=C45Classifier(prune=False),
        numeric="interval",
        selection="lots",
        random_state=0,
    )
    memory = method.anonymize(t.drop(columns="class"), t["class"])
    assert memory.audit.n_classes > 4 and method.climb_.log.moved.sum() > 0
    for rows in (20, 1000):
        source = write_parts(t, tmp_path / f"parts-{rows}", rng)
        made = anonymize_parts(source, tmp_path / f"out-{rows}", method, y="class", rows=rows)
        check_same(made, memory)


# ---------- few rows climb on behalf of all


@given(
    seed=st.integers(0, 2**32 - 1),
    n_inner=st.integers(1, 8),
    n=st.integers(2, 200),
    k=st.integers(2, 8),
    limit=st.sampled_from([0, 0.05, 0.5]),
    shortfall=st.sampled_from(["lose", "top_up"]),
    brothers=st.sampled_from(["shown", "mixed"]),
)
def test_first_lots_climb_for_all(seed, n_inner, n, k, limit, shortfall, brothers):
    """A node of many rows as one of few: the same batch for each of these, and all others stay in
    the batch of their node
    """
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n_inner, (MULTIWAY, THRESHOLD))
    # a few nodes, questions among them, hold most of the rows
    stops = rng.choice(len(tree), n, p=rng.dirichlet(np.full(len(tree), 0.3)))
    how = KActusAnonymizer(suppression_limit=limit, shortfall=shortfall, brothers=brothers)
    whole = climb_to_root(how, tree, stops, k, spare_by_lot)
    turn = np.array([(stops[:i] == v).sum() for i, v in enumerate(stops.tolist())])
    most = part_climb.rows_that_climb(k)
    first = np.flatnonzero(turn < most)
    some = climb_to_root(how, tree, stops[first], k, spare_by_lot, n_rows=n)
    assert some.nodes.tolist() == whole.nodes.tolist()
    assert some.batch_of(len(first)).tolist() == whole.batch_of(n)[first].tolist()
    others = np.flatnonzero(turn >= most)
    node = whole.nodes[whole.batch_of(n)[others]]
    assert node.tolist() == stops[others].tolist() and (whole.batch_of(n)[others] >= 0).all()


@given(st.integers(0, 2**32 - 1))
def test_lots_follow_from_rows(seed):
    """Any order of rows, the same rows in turn; and other rows with another seed"""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, 60))
    codes = [rng.integers(-1, rng.integers(1, 9), n) for _ in range(rng.integers(1, 4))]
    mixed = rng.permutation(n)
    found = []
    for some in (codes, [c[mixed] for c in codes]):
        lots, numbers = cast_lots(some, 3)
        assert len(set(zip(*map(np.ndarray.tolist, (*some, numbers))))) == n
        order = order_of_lots(some, lots, numbers)
        found.append([c[order].tolist() for c in some])
        assert np.all(np.diff(lots[order].astype(object)) >= 0)
    assert found[0] == found[1]
    other = cast_lots(codes, 4)[0]
    assert not n or not np.array_equal(other, cast_lots(codes, 3)[0])


def test_a_release_does_not_depend_on_the_order_of_rows():
    """In memory, by lots; another seed moves others"""
    t = make_population(400)
    grown = C45Classifier(prune=False)
    about = dict(published=["disease"], inducer=grown, selection="lots")
    tool = KActusAnonymizer(8, **about, random_state=3)
    X, y = t.drop(columns="income"), t["income"]
    wanted = tool.anonymize(X, y).text()
    assert tool.climb_.log.moved.sum() > 0
    mixed = np.random.default_rng(0).permutation(400)
    assert tool.anonymize(X.iloc[mixed], y.iloc[mixed]).text().equals(wanted)
    releases = [tool.set_params(random_state=s).anonymize(X, y).text().to_csv() for s in range(4)]
    assert len(set(releases)) > 1
    generator = np.random.default_rng(5)
    tool.set_params(random_state=generator)
    assert len({tool.anonymize(X, y).text().to_csv() for _ in range(4)}) > 1


# ---------- faults


QI = ["age", "education", "region", "hours"]


def population_parts(folder, n=1500):
    """Parts of invented people, and a method under which many climb"""
    t = make_population(n)
    folder.mkdir()
    for i in range(3):
        t[i::3].to_parquet(folder / f"{i}.parquet", index=False)
    method = KActusAnonymizer(
        6,
        QI,
        identifiers=["occupation", "marital_status"],
        published=["disease"],
        inducer=C45Classifier(prune=False),
        numeric="interval",
        selection="lots",
        random_state=2,
    )
    return t, method


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Parts, the table, the method, and the release of the engine `here`"""
    folder = tmp_path_factory.mktemp("people")
    t, method = population_parts(folder / "parts")
    made = anonymize_parts(folder / "parts", folder / "out", method, y="income", rows=200)
    check_same(made, method.anonymize(t.drop(columns="income"), t["income"]))
    assert method.climb_.log.moved.sum() > 20 and len(made) > 3
    again = read_parts(folder / "out").audit
    assert again.holds and again.class_sizes == made.audit.class_sizes
    return folder / "parts", t, method, made


def test_rows_left_out_are_a_share_of_all(people, tmp_path):
    """Not of the few rows that climb"""
    source, t, method, _ = people
    method = KActusAnonymizer(**(method.get_params(deep=False) | {"suppression_limit": 0.02}))
    memory = method.anonymize(t.drop(columns="income"), t["income"])
    few = np.minimum(method.climb_.held, part_climb.rows_that_climb(method.k)).sum()
    assert 0.02 * few < len(memory.lost) <= 0.02 * len(t)
    made = anonymize_parts(source, tmp_path / "out", method, y="income", rows=400)
    check_same(made, memory)


def test_functions_and_items_travel_as_bytes(people, tmp_path):
    source, _, method, wanted = people
    about = dict(y="income", rows=200, engine=Posted())
    made = anonymize_parts(source, tmp_path / "out", method, **about)
    assert digests(made) == digests(wanted)


@pytest.mark.parametrize(
    "stage", ["_tree_codes", "count_stops", "tell_climbers", "finish_climbed", "write_range"]
)
def test_a_worker_that_is_killed(people, tmp_path, stage):
    source, _, method, wanted = people
    where = dict(y="income", rows=200, work=tmp_path / "work")
    with pytest.raises(RuntimeError, match="'engine' must finish its tasks. Got BrokenProcessPool"):
        anonymize_parts(source, tmp_path / "out", method, engine=Mortal(stage), **where)
    assert not (tmp_path / "out").exists()
    made = anonymize_parts(source, tmp_path / "out", method, **where)
    assert digests(made) == digests(wanted)
    assert [o.name for o in tmp_path.iterdir()] == ["out"]


STAGES = [
    (part_climb, "write_columns"),
    (part_leaves, "cast_lots"),
    (part_climb, "climb_to_root"),
    (part_buckets, "write_rows"),
    (part_release, "count_classes"),
]


@pytest.mark.parametrize(("module", "name"), STAGES, ids=lambda o: getattr(o, "__name__", o))
def test_a_fault_in_each_stage(people, tmp_path, monkeypatch, module, name):
    """A full disk: no release; the next run goes on, and makes the same one"""
    source, _, method, wanted = people
    calls, real = [], getattr(module, name)

    def failing(*args, **kwargs):
        calls.append(1)
        if len(calls) == 2 or name == "climb_to_root":
            raise OSError("No space left on device")
        return real(*args, **kwargs)

    where = dict(y="income", rows=200, work=tmp_path / "work")
    with monkeypatch.context() as patched:
        patched.setattr(module, name, failing)
        with pytest.raises(OSError, match="No space left"):
            anonymize_parts(source, tmp_path / "out", method, **where)
    assert calls and not (tmp_path / "out").exists()
    made = anonymize_parts(source, tmp_path / "out", method, **where)
    assert digests(made) == digests(wanted)


def test_another_tree_uses_nothing_of_an_earlier_run(people, tmp_path, monkeypatch):
    """Two fitted trees of one kind, and a work folder that was kept"""
    source, t, method, _ = people
    grown = C45Classifier(prune=False)
    trees = [grown.fit(t[[o]], t["income"]).tree_ for o in ("education", "region")]
    found = []
    for i, tree in enumerate(trees):
        method = KActusAnonymizer(**(method.get_params(deep=False) | {"inducer": tree}))
        where = dict(y="income", rows=200, work=tmp_path / "work")
        with monkeypatch.context() as patched:
            patched.setattr(part_release, "count_classes", None)
            with pytest.raises(TypeError):
                anonymize_parts(source, tmp_path / f"out-{i}", method, **where)
        runs = sorted(o.name for o in (tmp_path / "work").glob("run-*"))
        found.append(runs)
    assert len(found[0]) == 1 and len(found[1]) == 2
    made = anonymize_parts(source, tmp_path / "out", method, **where)
    check_same(made, method.anonymize(t.drop(columns="income"), t["income"]))


def test_without_a_class(people, tmp_path):
    """A tree that was fitted before needs none"""
    _, t, method, _ = people
    tree = C45Classifier().fit(t[QI], t["income"]).tree_
    method = KActusAnonymizer(**(method.get_params(deep=False) | {"inducer": tree}))
    t = t.drop(columns="income")
    (tmp_path / "parts").mkdir()
    for i in range(2):
        t[i::2].to_parquet(tmp_path / f"parts/{i}.parquet", index=False)
    made = anonymize_parts(tmp_path / "parts", tmp_path / "out", method, rows=300)
    check_same(made, method.anonymize(t))


@pytest.mark.parametrize("broken", ["classes", "rows", "cells"])
def test_a_false_release_is_not_written(people, tmp_path, monkeypatch, broken):
    """The promise is judged by the written files, and no row may be missing"""
    source, _, method, _ = people
    words = "were published as what they are: nothing is"
    if broken == "classes":
        real = part_climb.climb_to_root

        def careless(o, tree, stops, k, *args, **about):
            return real(o, tree, stops, 2, *args, **about)

        monkeypatch.setattr(part_climb, "climb_to_root", careless)
        words = "k = 6 does not hold, and the smallest class"
    elif broken == "rows":
        # nobody is told where the rows of a worker went that climb
        monkeypatch.setattr(part_leaves, "order_of_lots", lambda codes, *_: np.arange(5))
    else:
        real_cells = part_climb.publish_column

        def false(*args):
            at, held = real_cells(*args)
            return at[::-1], held

        monkeypatch.setattr(part_climb, "publish_column", false)
    with pytest.raises((GuaranteeError, IndexError, ValueError), match=words):
        anonymize_parts(source, tmp_path / "out", method, y="income", rows=200)
    assert not list(tmp_path.iterdir())


# ---------- what is refused


BAD = [
    (dict(selection="random"), ValueError, "'selection' of the anonymizer must be 'lots'"),
    (dict(selection="nearest"), ValueError, "'selection' .* Got 'nearest': use KActusAnonymizer"),
    (dict(rule="literal"), ValueError, "'rule' of the anonymizer must be 'intended'"),
    (dict(numeric="mean"), ValueError, "'numeric' of the anonymizer must be 'interval' or 'path'"),
    (dict(random_state=None), ValueError, "'random_state' of the anonymizer must be a whole"),
    (dict(random_state=True), ValueError, "'random_state' of the anonymizer must be a whole"),
    (dict(random_state=-1), ValueError, "'random_state' must be a whole number of at least 0"),
    (dict(person="name"), ValueError, "'person' of the anonymizer must be left out"),
    (dict(constraints=[LDiversity(2)]), ValueError, "'constraints' of the anonymizer must be left"),
    (dict(k=1), ValueError, "'k' must be at least 2"),
    (dict(k=4000), ValueError, "'k' must not exceed the number of rows"),
    (dict(merge="all"), ValueError, "'merge' must be"),
    (
        dict(inducer=PARTClassifier()),
        TypeError,
        "'inducer' of the anonymizer must be one of C45Class",
    ),
    (dict(inducer=GeneralizedID3Classifier()), TypeError, "One that is fitted already will do"),
    (
        dict(inducer=KADETClassifier()),
        TypeError,
        "'inducer' of the anonymizer must be one of C45Class",
    ),
    (dict(inducer=DecisionTreeClassifier()), TypeError, "Got DecisionTreeClassifier: use it on"),
    (dict(inducer=C45Classifier(class_weight="balanced")), ValueError, "of the inducer must be"),
    (dict(inducer=C45Classifier(confidence=2)), ValueError, "'confidence' must be"),
    (dict(inducer=ID3Classifier()), ValueError, "Column 'age' must be categorical"),
    (dict(inducer=C45Classifier(binary_splits=True)), ValueError, "one branch for each value"),
]


@pytest.mark.parametrize(("options", "error", "words"), BAD)
def test_what_does_not_go_through(people, tmp_path, options, error, words):
    source, _, method, _ = people
    about = method.get_params(deep=False) | options
    with pytest.raises(error, match=words):
        anonymize_parts(source, tmp_path / "out", KActusAnonymizer(**about), y="income")
    assert not list(tmp_path.iterdir())


def test_tables_that_do_not_go_through(people, tmp_path):
    """No class, gaps where a tree learns, a tree that asks something else"""
    source, t, method, _ = people
    other = KActusAnonymizer(
        **(method.get_params(deep=False) | {"published": ["disease", "income"]})
    )
    with pytest.raises(ValueError, match="'y' must be given, since .* kACTUS learns it"):
        anonymize_parts(source, tmp_path / "out", other)
    tree = C45Classifier().fit(t[["occupation"]], t["income"])
    other = KActusAnonymizer(**(method.get_params(deep=False) | {"inducer": tree}))
    with pytest.raises(ValueError, match="'inducer' must ask quasi-identifiers only"):
        anonymize_parts(source, tmp_path / "out", other, y="income")
    for o in ("income", "region"):
        (tmp_path / o).mkdir()
        t.assign(**{o: t[o].where(t.index != 3, None)}).to_parquet(tmp_path / o / "0.parquet")
        other = KActusAnonymizer(**(method.get_params(deep=False) | {"missing": "category"}))
        with pytest.raises(ValueError, match=f"Rows must be complete .* Got missing .* '{o}': use"):
            anonymize_parts(tmp_path / o, tmp_path / "out", other, y="income")
    other.missing = "drop"
    made = anonymize_parts(tmp_path / "region", tmp_path / "out", other, y="income")
    assert made.audit.lost_rows >= 1 and made.audit.holds


# ---------- Adult


def test_adult(tmp_path, data_dir):
    """30,162 people, fourteen attributes, both trees: every row as in memory"""
    t = fetch_adult("train", complete=True)
    (tmp_path / "parts").mkdir()
    for i in range(4):
        t[i::4].to_parquet(tmp_path / f"parts/{i}.parquet", index=False)
    for prune, classes in ((True, 133), (False, 485)):
        method = KActusAnonymizer(
            25,
            inducer=C45Classifier(prune=prune),
            numeric="interval",
            selection="lots",
            random_state=1,
        )
        memory = method.anonymize(t.drop(columns="income"), t["income"])
        out = tmp_path / f"out-{prune}"
        made = anonymize_parts(tmp_path / "parts", out, method, y="income", rows=3000)
        check_same(made, memory)
        assert made.audit.n_classes == classes and made.audit.k >= 25
