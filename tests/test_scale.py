"""Tables in parts: the same release as in memory, whatever the parts, the budget and the engine;
faults of parts, disks and workers; nothing half-written is a release.
"""

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import places
import pyarrow as pa
import pytest
from examples import one_in
from hypothesis import given, settings, strategies as st
from pyarrow import parquet
from registry import ANONYMIZERS, example

from ppdt.c45 import C45Classifier, ID3Classifier
from ppdt.clusters import ClusterAnonymizer
from ppdt.datasets import make_population
from ppdt.diversity import Alpha, LDiversity, TCloseness
from ppdt.engine import (
    part_buckets,
    part_codes,
    part_plan,
    part_release,
    part_rows,
    part_steps,
    part_work,
)
from ppdt.engine.command_files import with_order
from ppdt.engine.command_parts import opened_engine
from ppdt.engine.files import guess_kind, read_text, to_kind
from ppdt.engine.part_counts import (
    CutRule,
    bins_to_refine,
    cuts_of_counts,
    refined,
    widths_of_counts,
)
from ppdt.engine.part_files import find_parts
from ppdt.generalization import Taxonomy
from ppdt.kactus import KActusAnonymizer
from ppdt.kadet import KADETClassifier, publish
from ppdt.mondrian import MondrianAnonymizer
from ppdt.release import GuaranteeError
from ppdt.scale import anonymize_parts, fit_parts, predict_parts, read_parts
from ppdt.tables import TextFormError
from ppdt.tds import TDRAnonymizer, TDSAnonymizer

# what an audit by parts measures; sums of floats are rounded once there, and here at each step
EXACT = ["k", "n_rows", "n_classes", "class_sizes", "suppressed_rows", "suppressed_cells"]
EXACT += ["lost_rows", "promise", "holds", "risk_max", "risk_mean", "risk_share", "uniques"]
EXACT += ["discernibility", "c_avg", "cm", "truthful", "true_rows", "true_by", "l_distinct"]
EXACT += ["l", "t_distance", "missing_secrets", "centroid_cells"]
CLOSE = ["gcp", "ncp", "l_entropy", "c_recursive", "alpha", "t"]

WORDS = ["ash", "beech, red", "{elm}", "*", "fir", "ginkgo"]
TREE = Taxonomy.from_dict(
    {"tree": {"broad": WORDS[:3], "needle": {"odd": ["*"], "true": WORDS[4:]}}}
)
PUBLISHED = ["note"]


def random_table(rng, n, gaps):
    """People with numbers, words, declared categories, a class and a published column"""
    days = pd.Timestamp("2020-02-27") + pd.to_timedelta(rng.integers(0, 5, n), "D")
    t = pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": rng.integers(20, 20 + rng.integers(1, 30), n),
            "note": rng.choice(["x", "y, z", ""], n),
            "tree": rng.choice(WORDS[: rng.integers(1, 7)], n),
            "wage": np.round(rng.normal(0, 3, n), 1),
            "day": days,
            "size": pd.Categorical(rng.choice(["S", "M"], n), ["S", "M", "L"], ordered=True),
            "class": rng.choice(["no", "perhaps", "yes"], n, p=[0.5, 0.1, 0.4]),
        }
    )
    # classes that tell something, so that cuts by the class are not all alike
    t.loc[t["age"] > 30, "class"] = "yes"
    t["class"] = t["class"].where(rng.random(n) > 0.05 * gaps, None)
    t["note"] = t["note"].where(t["note"] != "", None)
    for o in ("wage", "tree") if gaps else ():
        t[o] = t[o].where(rng.random(n) > 0.15, None)
    return t


def random_method(rng, gaps, mode="strict"):
    """A method with any options that go through parts"""
    with_tree = rng.random() < 0.4
    names = ["wage", "tree", "age", "day", "size"]
    return MondrianAnonymizer(
        k=int(rng.integers(2, 5)),
        quasi_identifiers=[names[i] for i in rng.permutation(5)],
        categorical=["age"] if rng.random() < 0.3 else None,
        identifiers=["name"],
        published=PUBLISHED,
        missing=str(rng.choice(["drop", "category"])) if gaps else "error",
        recoding=str(rng.choice(["set", "interval", "ends", "region"])),
        cut_rule=str(rng.choice(["le_then_lt", "le", "balanced"])),
        width=str(rng.choice(["rank", "distinct", "ratio"])),
        median=str(rng.choice(["lower", "midpoint"])),
        fallback=mode == "infogain" or bool(rng.random() < 0.8),
        taxonomies={"tree": TREE} if with_tree else None,
        mode=mode,
        candidates=str(rng.choice(["all", "class_change"])),
        categories=str(rng.choice(["ordered", "subsets"])),
        stop_pure=bool(rng.random() < 0.3),
    )


def random_clusters(rng, gaps, published=PUBLISHED):
    """Clusters in strict blocks, with any options that go through parts"""
    names = ["wage", "tree", "age", "day", "size"]
    return ClusterAnonymizer(
        k=int(rng.integers(2, 5)),
        quasi_identifiers=[names[i] for i in rng.permutation(5)],
        categorical=["age"] if rng.random() < 0.3 else None,
        identifiers=["name"],
        published=published,
        missing=str(rng.choice(["drop", "category"])) if gaps else "error",
        recoding=str(rng.choice(["set", "interval", "ends"])),
        loss=str(rng.choice(["spread", "size"])),
        weights={"wage": 3.0} if rng.random() < 0.3 else None,
        taxonomies={"tree": TREE} if rng.random() < 0.4 else None,
        blocks="strict",
        block_rows=int(rng.choice([2, 6, 7, 12, 1000])),
    )


def write_parts(t, folder, rng, kind="parquet"):
    """Write a table as parts, rows shuffled, some parts perhaps empty"""
    folder.mkdir()
    t = t.iloc[rng.permutation(len(t))]
    bounds = np.sort(rng.integers(0, len(t) + 1, rng.integers(0, 4)))
    for i, (a, b) in enumerate(zip([0, *bounds], [*bounds, len(t)])):
        part = t.iloc[a:b]
        if kind == "csv":
            part.to_csv(folder / f"{i}.csv", index=False)
        else:
            table = pa.Table.from_pandas(part, schema=pa.Schema.from_pandas(t, False))
            parquet.write_table(table, folder / f"{i}.parquet", row_group_size=10)
    return folder


def texts_of(made):
    """The rows of a release in parts as texts, file after file"""
    files = [parquet.read_table(made.folder / o).to_pandas().astype(str) for o in made.files]
    return pd.concat(files, ignore_index=True)


def check_same(made, memory):
    """Equal cells, schemas and audits"""
    wanted = memory.text().astype(str).reset_index(drop=True)
    found = texts_of(made)
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False)
    assert made.schema.columns == memory.schema.columns
    check = {"check": "this folder alone shows whether it holds: ppdt audit FOLDER"}
    assert made.schema.promise == memory.schema.promise | check
    assert made.schema.taxonomies == memory.schema.taxonomies
    for o in EXACT:
        assert getattr(made.audit, o) == getattr(memory.audit, o), o
    for o in CLOSE:
        ours, theirs = getattr(made.audit, o), getattr(memory.audit, o)
        assert (ours is None) == (theirs is None), o
        assert ours is None or np.isclose(ours, theirs, rtol=1e-12, atol=1e-15), o


def digests(made):
    """Names and hashes of the files of a release"""
    return made.schema.file["files"]


@contextmanager
def new_folder():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


# ---------- the same as in memory


@pytest.mark.parametrize("mode", ["strict", "infogain"])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=min(6, settings().max_examples))
def test_the_same_as_in_memory(mode, seed):
    """Any parts, in any order, with any budget"""
    rng = np.random.default_rng(seed)
    gaps = bool(rng.random() < 0.4)
    t = random_table(rng, int(rng.integers(8, 60)), gaps)
    method = random_method(rng, gaps, mode)
    try:
        memory = method.anonymize(t.drop(columns="class"), t["class"])
    except ValueError as e:
        with new_folder() as folder, pytest.raises(ValueError):
            source = write_parts(t, folder / "parts", rng)
            anonymize_parts(source, folder / "out", method, y="class", rows=5)
        assert "k" in str(e)
        return
    with new_folder() as folder:
        # a file for each end and each piece: at most a dozen of them
        rows = max(int(rng.choice([1, 5, 10, 20, 1000])), len(t) // 12)
        source = write_parts(t, folder / "parts", rng)
        made = anonymize_parts(source, folder / "out", method, y="class", rows=rows)
        check_same(made, memory)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=min(8, settings().max_examples))
def test_columns_of_many_values_are_counted_twice_and_cut_alike(seed):
    """First in bins, then by value where it matters: the same groups"""
    rng = np.random.default_rng(seed)
    gaps = bool(rng.random() < 0.4)
    t = random_table(rng, int(rng.integers(20, 60)), gaps)
    method = random_method(rng, gaps)
    memory = method.anonymize(t.drop(columns="class"), t["class"])
    with pytest.MonkeyPatch.context() as patch, new_folder() as folder:
        patch.setattr(part_plan, "MANY_VALUES", int(rng.integers(1, 6)))
        seen = []
        bins = part_steps.count_bins
        patch.setattr(part_steps, "count_bins", lambda *a, **o: seen.append(1) or bins(*a, **o))
        source = write_parts(t, folder / "parts", rng)
        rows = max(int(rng.choice([5, 10])), len(t) // 12)
        made = anonymize_parts(source, folder / "out", method, y="class", rows=rows)
        check_same(made, memory)
        assert seen or made.audit.n_rows <= rows or len(t["wage"].unique()) < 6


@one_in(1)
@given(data=st.data())
def test_cuts_from_bins_are_those_from_all_values(data):
    d = data.draw(st.integers(1, 30))
    n = data.draw(st.integers(1, 4))
    row = st.lists(st.sampled_from([0, 0, 0, 1, 2, 7]), min_size=d, max_size=d)
    counts = np.array(data.draw(st.lists(row, min_size=n, max_size=n)))
    counts[counts.sum(axis=1) == 0, 0] = 1
    places = np.cumsum(data.draw(st.lists(st.sampled_from([0.5, 1, 9]), min_size=d, max_size=d)))
    rule = CutRule(
        data.draw(st.integers(1, 4)),
        data.draw(st.sampled_from(["le_then_lt", "le", "balanced"])),
        "rank",
        data.draw(st.sampled_from(["lower", "midpoint"])),
        data.draw(st.booleans()),
        [places],
        [float(places[-1] - places[0])],
        [True],
    )
    step = data.draw(st.integers(1, d))
    n_bins = -(-d // step)
    padded = np.pad(counts, ((0, 0), (0, n_bins * step - d))).reshape(n, n_bins, step)
    bins = bins_to_refine(padded.sum(axis=2))
    fine = padded[np.arange(n)[:, None], bins]
    for i, asked in enumerate(bins):
        for slot in range(1, 4):
            fine[i, slot] *= asked[slot] not in asked[:slot]
    runs = refined(padded.sum(axis=2), bins, fine, d)
    assert runs.counts.sum() == counts.sum()
    wanted, found = (cuts_of_counts([o], rule) for o in (counts, runs))
    assert [o.tolist() for o in wanted] == [o.tolist() for o in found]
    assert widths_of_counts([runs], rule).tolist() == widths_of_counts([counts], rule).tolist()
    cut = np.flatnonzero(wanted[0] >= 0)
    left = [counts[i, : wanted[1][i] + 1].sum() for i in cut]
    assert runs.at(cut).up_to(wanted[1][cut]).tolist() == left


@given(seed=st.integers(0, 2**32 - 1), alone=st.booleans())
@settings(max_examples=min(8, settings().max_examples))
def test_clusters_as_in_memory(seed, alone):
    """Blocks are cut by counts, whatever the budget; `alone`: nothing stands beside the
    quasi-identifiers, which in memory is drawn among equal people
    """
    rng = np.random.default_rng(seed)
    gaps = bool(rng.random() < 0.4)
    t = random_table(rng, int(rng.integers(8, 60)), gaps)
    if alone:
        t = t.drop(columns=["note", "class"])
    y = None if alone else "class"
    method = random_clusters(rng, gaps, () if alone else PUBLISHED)
    qi = method.quasi_identifiers
    try:
        memory = method.anonymize(t.drop(columns="class", errors="ignore"), t.get("class"))
    except ValueError as e:
        assert "'k' must not exceed" in str(e)
        return
    with new_folder() as folder:
        made = []
        for i, rows in enumerate(rng.choice([5, 10, 20, 1000], 2)):
            source = write_parts(t, folder / f"parts{i}", rng)
            rows = max(int(rows), len(t) // 12)
            made.append(anonymize_parts(source, folder / f"out{i}", method, y=y, rows=rows))
        if alone:
            for o in made:
                check_same(o, memory)
        found = [sorted(map(tuple, texts_of(o)[qi].to_numpy())) for o in made]
        wanted = memory.text().astype(str)[qi]
        assert found == [sorted(map(tuple, wanted.to_numpy()))] * 2
        beside = [o for o in t if o not in (*qi, "name")]
        wanted = sorted(map(tuple, memory.text().astype(str)[beside].to_numpy()))
        for o in made:
            assert o.audit.class_sizes == memory.audit.class_sizes and o.audit.holds
            assert sorted(map(tuple, texts_of(o)[beside].to_numpy())) == wanted


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=min(4, settings().max_examples))
def test_clusters_are_the_same_bytes_for_any_parts(seed):
    """Equal people of several classes stand in the same groups, however their rows came"""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 60))
    t = pd.DataFrame({"age": rng.integers(0, 3, n), "class": rng.choice(["a", "b"], n)})
    method = ClusterAnonymizer(k=2, blocks="strict", block_rows=10)
    with new_folder() as folder:
        made = []
        for i in range(2):
            source = write_parts(t, folder / f"parts{i}", rng)
            made.append(anonymize_parts(source, folder / f"out{i}", method, y="class", rows=15))
        assert digests(made[0]) == digests(made[1])


def test_equal_people_are_mixed_as_chance_mixes_them():
    """A hash of the class alone would put the people of one class together"""
    n = 2000
    columns = {"age": np.zeros(n, dtype=int), "class": np.arange(n) % 2}
    order = part_buckets.drawn_order(columns, ["age"])
    same = np.mean(np.diff(columns["class"][order]) == 0)
    assert 0.45 < same < 0.55


def random_limits(rng):
    """Constraints on the class, and on words, dates and declared categories beside it"""
    where = [None, "class", "note", "day", "size"]
    kinds = [
        lambda o: LDiversity(2, sensitive=o),
        lambda o: LDiversity(float(rng.uniform(1, 2)), "entropy", sensitive=o),
        lambda o: LDiversity(2, "recursive", float(rng.uniform(0.5, 4)), sensitive=o),
        lambda o: TCloseness(float(rng.uniform(0.2, 0.7)), sensitive=o),
        lambda o: Alpha(float(rng.uniform(0.5, 1)), sensitive=o),
    ]
    found = [kinds[rng.integers(5)](where[rng.integers(5)]) for _ in range(rng.integers(1, 4))]
    return [*found, Alpha(0.9, "no")][rng.integers(2) :]


@pytest.mark.parametrize("mode", ["strict", "infogain"])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=min(8, settings().max_examples))
def test_constraints_as_in_memory(mode, seed):
    """Secrets travel as counts: the same cuts are refused"""
    rng = np.random.default_rng(seed)
    gaps = bool(rng.random() < 0.4)
    t = random_table(rng, int(rng.integers(20, 70)), gaps)
    about = random_method(rng, gaps, mode).get_params() | {"constraints": random_limits(rng)}
    about |= {"quasi_identifiers": ["wage", "tree", "age"], "published": ["note", "day", "size"]}
    method = MondrianAnonymizer(**about)
    with new_folder() as folder:
        source = write_parts(t, folder / "parts", rng)
        rows = max(int(rng.choice([1, 5, 10, 20, 1000])), len(t) // 12)
        try:
            memory = method.anonymize(t.drop(columns="class"), t["class"])
        except ValueError as e:
            with pytest.raises(ValueError) as told:
                anonymize_parts(source, folder / "out", method, y="class", rows=rows)
            assert str(told.value) == str(e)
            assert not (folder / "out").exists()
            return
        made = anonymize_parts(source, folder / "out", method, y="class", rows=rows)
        check_same(made, memory)
        again, whole = read_parts(folder / "out").audit, made.whole().audit
        assert (again.promise, again.holds) == (whole.promise, whole.holds)


@pytest.mark.parametrize("cls", [TDSAnonymizer, TDRAnonymizer])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=min(4, settings().max_examples))
def test_specialized_as_in_memory(cls, seed):
    """Different rows with their numbers suffice; the same bytes for any parts"""
    rng = np.random.default_rng(seed)
    gaps = bool(rng.random() < 0.4)
    t = random_table(rng, 30, gaps)
    t = t.iloc[rng.integers(0, 30, int(rng.integers(40, 90)))].reset_index(drop=True)
    about = dict(
        k=int(rng.integers(2, 6)),
        quasi_identifiers=["wage", "tree", "age", "day"],
        identifiers=["name"],
        published=["note", "size"],
        missing=str(rng.choice(["drop", "category"])) if gaps else "error",
        taxonomies={"tree": TREE} if cls is TDSAnonymizer or rng.random() < 0.6 else None,
        score_form=str(rng.choice(["plus_one", "ratio"])),
        threshold=str(rng.choice(["literal", "valid"])),
        only_child=str(rng.choice(["pass", "stop"])),
        bounds={"age": (0, 120)} if rng.random() < 0.5 else None,
    )
    if cls is TDRAnonymizer:
        about["disclose"] = str(rng.choice(["gain", "score"]))
    method = cls(**about)
    memory = method.anonymize(t.drop(columns="class"), t["class"])
    with new_folder() as folder:
        found = []
        for i in range(2):
            source = write_parts(t, folder / f"parts-{i}", rng)
            made = anonymize_parts(source, folder / f"out-{i}", method, y="class", rows=30)
            check_same(made, memory)
            found.append(digests(made))
        assert found[0] == found[1]


def test_specialized_rows_that_do_not_fit(population, tmp_path):
    source, _, _ = population
    method = TDSAnonymizer(5, ["age", "hours"], published=["disease"])
    method.identifiers = ["education", "occupation", "marital_status", "region"]
    with pytest.raises(ValueError, match="at most 100 different rows"):
        anonymize_parts(source, tmp_path / "out", method, y="income", rows=100)
    with pytest.raises(ValueError, match="'y' must be given, since TDS and TDR choose"):
        method.published = ["disease", "income"]
        anonymize_parts(source, tmp_path / "out", method)
    with pytest.raises(ValueError, match="'taxonomies' must have a Taxonomy for each categorical"):
        method = TDSAnonymizer(5, ["region"], published=["disease"])
        method.identifiers = ["education", "occupation", "marital_status", "age", "hours"]
        anonymize_parts(source, tmp_path / "out", method, y="income")
    assert not list(tmp_path.iterdir())


def test_constraints_that_cannot_be(population, tmp_path):
    """Before anything is written, in the words of memory"""
    source, method, _ = population
    t = pd.concat([pd.read_parquet(o) for o in sorted(source.iterdir())])
    for some, words in [
        (LDiversity(2, sensitive="age"), "'constraints' must protect a column that the attacker"),
        (LDiversity(2, sensitive="zip"), "'sensitive' must be a column of the table"),
        (Alpha(0.5, "leprosy", "disease"), "'value' of Alpha must be a value of column 'disease'"),
        (LDiversity(99), "'constraints' must be such that the whole table as one group"),
    ]:
        other = MondrianAnonymizer(**(method.get_params() | {"constraints": [some]}))
        with pytest.raises(ValueError, match=words):
            other.anonymize(t.drop(columns="income"), t["income"])
        with pytest.raises(ValueError, match=words):
            anonymize_parts(source, tmp_path / "out", other, y="income")
    assert not list(tmp_path.iterdir())


def test_secrets_of_too_many_values(tmp_path):
    """A table of counts that no worker could hold is refused"""
    t = pd.DataFrame({"wage": np.arange(9000.0), "age": np.arange(9000) % 7, "zip": "x"})
    (tmp_path / "parts").mkdir()
    t.to_parquet(tmp_path / "parts/0.parquet", index=False)
    method = MondrianAnonymizer(2, ["age", "zip"], constraints=[LDiversity(2, sensitive="wage")])
    made = anonymize_parts(tmp_path / "parts", tmp_path / "out", method, rows=5000)
    assert made.audit.k >= 2
    method = MondrianAnonymizer(2, ["wage"], constraints=[LDiversity(2, sensitive="age")])
    t.assign(age=np.arange(9000)).to_parquet(tmp_path / "parts/0.parquet", index=False)
    method.identifiers = ["zip"]
    with pytest.raises(ValueError, match="'constraints' must protect columns with fewer"):
        anonymize_parts(tmp_path / "parts", tmp_path / "late", method, rows=5000)
    assert not (tmp_path / "late").exists()


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=min(4, settings().max_examples))
def test_csv_as_the_command_reads_it(seed):
    rng = np.random.default_rng(seed)
    t = random_table(rng, int(rng.integers(8, 40)), False).drop(columns=["day", "size"])
    t["class"] = rng.choice(["1.50", "2"], len(t))
    limits = [TCloseness(0.5)] if rng.random() < 0.5 else []
    method = MondrianAnonymizer(
        2, ["tree", "age", "wage"], identifiers=["name"], published=["note"], constraints=limits
    )
    with new_folder() as folder:
        source = write_parts(t, folder / "parts", rng, "csv")
        t.to_csv(folder / "whole.csv", index=False)
        raw = read_text(folder / "whole.csv")
        # the others go out as the texts that they are
        kinds = {o: guess_kind(raw[o]) for o in ("tree", "age", "wage")}
        X = pd.DataFrame({o: to_kind(raw[o], kinds.get(o, "categorical"), o) for o in raw.columns})
        X = with_order(X, ["class"] if limits else [])
        memory = method.anonymize(X.drop(columns="class"), X["class"])
        made = anonymize_parts(source, folder / "out", method, y="class", rows=6)
        check_same(made, memory)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=min(4, settings().max_examples))
def test_the_same_bytes_for_any_parts(seed):
    """With one budget neither parts nor their order change a byte"""
    rng = np.random.default_rng(seed)
    t = random_table(rng, 30, False)
    method = random_method(rng, False, str(rng.choice(["strict", "infogain"])))
    with new_folder() as folder:
        found = []
        for i in range(2):
            source = write_parts(t, folder / f"parts-{i}", rng)
            made = anonymize_parts(source, folder / f"out-{i}", method, y="class", rows=6)
            found.append(digests(made))
    assert found[0] == found[1]
    assert len(found[0]) > 1


def population_parts(folder, n=2000, n_parts=3):
    """Parts of invented people, and the method"""
    t = make_population(n)
    folder.mkdir()
    for i in range(n_parts):
        t[i::n_parts].to_parquet(folder / f"{i}.parquet", index=False)
    qi = ["age", "education", "occupation", "marital_status", "region", "hours"]
    limits = [TCloseness(0.6), Alpha(0.999, sensitive="disease")]
    return t, MondrianAnonymizer(5, qi, published=["disease"], constraints=limits)


@pytest.fixture(scope="module")
def population(tmp_path_factory):
    """Parts, the method, and the release of the engine `here`"""
    folder = tmp_path_factory.mktemp("population")
    t, method = population_parts(folder / "parts")
    made = anonymize_parts(folder / "parts", folder / "out", method, y="income", rows=500)
    check_same(made, method.anonymize(t.drop(columns="income"), t["income"]))
    return folder / "parts", method, made


@pytest.fixture(scope="module")
def by_class(population, tmp_path_factory):
    """Other methods on the same parts, which go by the class, each with its release of the engine
    `here`
    """
    source, method, _ = population
    cuts = MondrianAnonymizer(**(method.get_params() | {"mode": "infogain"}))
    climb = KActusAnonymizer(
        5,
        method.quasi_identifiers,
        published=["disease"],
        inducer=C45Classifier(prune=False),
        numeric="interval",
        selection="lots",
        random_state=1,
    )
    out = tmp_path_factory.mktemp("by_class")
    where = [(o, out / type(o).__name__) for o in (cuts, climb)]
    return [(o, anonymize_parts(source, to, o, y="income", rows=900)) for o, to in where]


def check_engine(engine, population, by_class, tmp_path):
    source, method, wanted = population
    made = anonymize_parts(source, tmp_path / "out", method, y="income", rows=500, engine=engine)
    assert digests(made) == digests(wanted)
    assert made.audit == wanted.audit
    found = read_parts(tmp_path / "out", engine)
    for o in ("k", "class_sizes", "cm", "l_distinct", "l_entropy", "alpha", "t", "holds"):
        assert getattr(found.audit, o) == getattr(wanted.audit, o), o
    for other, wanted in by_class:
        out = tmp_path / type(other).__name__
        made = anonymize_parts(source, out, other, y="income", rows=900, engine=engine)
        assert digests(made) == digests(wanted)
        assert made.audit == wanted.audit
    # a tree whose rows are counted for its top, and once more when that is pruned
    asked = dict(y="income", columns=["age", "education", "region"], rows=700)
    learner = C45Classifier(confidence=0.5)
    clf = fit_parts(source, learner, **asked, engine=engine)
    t = pd.concat([pd.read_parquet(o) for o in sorted(source.iterdir())])
    assert str(clf) == str(learner.fit(t[asked["columns"]], t["income"]))
    # kADET, which asks about spans all over the table
    learner = KADETClassifier(k=20, public=["age", "region"])
    clf = fit_parts(source, learner, **asked, engine=engine)
    learner.fit(t[asked["columns"]], t["income"])
    assert publish(clf) == publish(learner) and clf.spans_.equals(learner.spans_)


def test_threads(population, by_class, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        check_engine(pool, population, by_class, tmp_path)


def test_processes(population, by_class, tmp_path):
    check_engine("processes", population, by_class, tmp_path)


def need(name):
    """A package that an engine needs; skipped without it, unless the gate requires all"""
    try:
        return __import__(name)
    except ImportError:
        if places.data_required():
            pytest.fail(f"{name} is not installed, and PPDT_REQUIRE_DATA is set")
        pytest.skip(f"{name} is not installed: pip install ppdt[{name.removeprefix('py')}]")


def need_spark():
    """Spark and Java; the same"""
    need("pyspark")
    if shutil.which("java") is None:
        if places.data_required():
            pytest.fail("there is no java, and PPDT_REQUIRE_DATA is set")
        pytest.skip("there is no java")


@pytest.mark.filterwarnings("ignore")
def test_dask(population, by_class, tmp_path):
    """Two real processes"""
    need("distributed")
    from distributed import Client, LocalCluster

    where = dict(dashboard_address=None, local_directory=str(tmp_path / "dask"))
    with LocalCluster(n_workers=2, threads_per_worker=1, **where) as cluster:
        with Client(cluster) as client:
            check_engine(client, population, by_class, tmp_path)


@pytest.mark.filterwarnings("ignore")
def test_spark(population, by_class, tmp_path, monkeypatch):
    """As the command opens it: all cores, in processes of Spark"""
    need_spark()
    # a short life: what Java would compile for speed is not worth compiling
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    with opened_engine("spark", "1 GB") as session:
        check_engine(session, population, by_class, tmp_path)


# ---------- faults


def no_release(folder):
    """Is there nothing that could be read as a release?"""
    left = [p for p in folder.rglob("*") if p.suffix in (".parquet", ".csv") or "schema" in p.name]
    return not [p for p in left if "parts" not in p.parts]


@pytest.mark.parametrize("cut", [0.0, 0.5, 0.99])
def test_a_part_that_is_cut_off(tmp_path, cut):
    _, method = population_parts(tmp_path / "parts")
    at = tmp_path / "parts/1.parquet"
    whole = at.read_bytes()
    at.write_bytes(whole[: int(cut * len(whole))])
    with pytest.raises(TextFormError, match="1.parquet is not a whole Parquet file"):
        anonymize_parts(tmp_path / "parts", tmp_path / "out", method, y="income")
    assert no_release(tmp_path) and not (tmp_path / "out").exists()


def test_a_csv_part_that_is_cut_off(tmp_path):
    t, method = population_parts(tmp_path / "other")
    (tmp_path / "parts").mkdir()
    t[:50].to_csv(tmp_path / "parts/0.csv", index=False)
    text = t[50:99].to_csv(index=False)
    (tmp_path / "parts/1.csv").write_text(text[: text.rindex(",")])
    with pytest.raises(TextFormError, match="1.csv must have 8 fields in every row"):
        anonymize_parts(tmp_path / "parts", tmp_path / "out", method, y="income")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.astype({"hours": float}), "'hours' as double in 2.parquet"),
        (lambda t: t.drop(columns="hours"), "the same columns in the same order"),
        (lambda t: t[t.columns[::-1]], "the same columns in the same order"),
        (lambda t: t.assign(more=1), "the same columns in the same order"),
    ],
)
def test_a_schema_that_differs(tmp_path, change, words):
    t, method = population_parts(tmp_path / "parts")
    change(t[2::3]).to_parquet(tmp_path / "parts/2.parquet", index=False)
    with pytest.raises(TextFormError, match=words):
        anonymize_parts(tmp_path / "parts", tmp_path / "out", method, y="income")
    assert not (tmp_path / "out").exists()


STAGES = [
    (part_codes, "write_columns"),
    (part_codes, "nodes_of_rows"),
    (part_codes, "row_type"),
    (part_buckets, "write_rows"),
    (part_rows, "_arrow_table"),
    (part_release, "count_classes"),
    (part_release, "check_new"),
]


@pytest.mark.parametrize(("module", "name"), STAGES, ids=lambda o: getattr(o, "__name__", o))
@pytest.mark.parametrize("error", [OSError("No space left on device"), KeyboardInterrupt()])
def test_a_fault_in_each_stage(population, tmp_path, monkeypatch, module, name, error):
    """A full disk, or Ctrl-C: no release; the next run goes on, and makes the same one"""
    source, method, wanted = population
    calls = []
    real = getattr(module, name)

    def failing(*args, **kwargs):
        calls.append(1)
        if len(calls) == 2 or name == "check_new":
            raise error
        return real(*args, **kwargs)

    where = dict(y="income", rows=500, work=tmp_path / "work")
    with monkeypatch.context() as patched:
        patched.setattr(module, name, failing)
        with pytest.raises(type(error)):
            anonymize_parts(source, tmp_path / "out", method, **where)
    assert calls and no_release(tmp_path)
    made = anonymize_parts(source, tmp_path / "out", method, **where)
    assert digests(made) == digests(wanted)
    assert sorted(o.name for o in tmp_path.iterdir()) == ["out"]


def failed_run(population, tmp_path, monkeypatch):
    """A work folder in which all ends are finished, and no release"""
    source, method, _ = population
    with monkeypatch.context() as patched:
        patched.setattr(part_release, "count_classes", None)
        with pytest.raises(TypeError):
            anonymize_parts(
                source, tmp_path / "out", method, y="income", rows=500, work=tmp_path / "work"
            )
    return next((tmp_path / "work").glob("run-*"))


def test_finished_ends_are_kept(population, tmp_path, monkeypatch):
    """By their hash: one that was changed is made again, the others are not"""
    source, method, wanted = population
    run = failed_run(population, tmp_path, monkeypatch)
    ends = sorted(run.glob("end-*.arrow"))
    assert len(ends) > 3
    ends[2].write_bytes(ends[2].read_bytes()[:-9] + b"otherwise")
    made, real = [], part_buckets.write_rows
    monkeypatch.setattr(part_buckets, "write_rows", lambda *o: made.append(o[0]) or real(*o))
    again = anonymize_parts(
        source, tmp_path / "out", method, y="income", rows=500, work=tmp_path / "work"
    )
    assert made == [ends[2]]
    assert digests(again) == digests(wanted)


def test_other_options_use_nothing_of_an_earlier_run(population, tmp_path, monkeypatch):
    source, method, wanted = population
    failed_run(population, tmp_path, monkeypatch)
    other = MondrianAnonymizer(**(method.get_params() | {"k": 50}))
    where = dict(y="income", rows=500)
    made = anonymize_parts(source, tmp_path / "out", other, work=tmp_path / "work", **where)
    fresh = anonymize_parts(source, tmp_path / "fresh", other, **where)
    assert digests(made) == digests(fresh) != digests(wanted)


def test_a_part_that_changed_between_two_runs(population, tmp_path, monkeypatch):
    """Rows of the earlier part are not published"""
    source, method, wanted = population
    shutil.copytree(source, tmp_path / "parts")
    failed_run((tmp_path / "parts", method, None), tmp_path, monkeypatch)
    t = pd.read_parquet(tmp_path / "parts/0.parquet").assign(hours=np.int16(80))
    t.to_parquet(tmp_path / "parts/0.parquet", index=False)
    where = dict(y="income", rows=500)
    changed = tmp_path / "parts"
    made = anonymize_parts(changed, tmp_path / "out", method, work=tmp_path / "work", **where)
    fresh = anonymize_parts(changed, tmp_path / "fresh", method, **where)
    assert digests(made) == digests(fresh) != digests(wanted)


def test_two_runs_into_one_folder(population, tmp_path, monkeypatch):
    """The second one is refused, at the beginning or at the end; the release stays what it was"""
    source, method, wanted = population
    made = anonymize_parts(source, tmp_path / "out", method, y="income", rows=500)
    with pytest.raises(FileExistsError, match="'out' is there already"):
        anonymize_parts(source, tmp_path / "out", method, y="income")
    real = part_release.check_new

    def late(target):
        shutil.copytree(made.folder, target)
        real(target)

    monkeypatch.setattr(part_release, "check_new", late)
    with pytest.raises(FileExistsError, match="'late' is there already"):
        anonymize_parts(source, tmp_path / "late", method, y="income", rows=500)
    assert digests(read_parts(tmp_path / "late")) == digests(wanted)


def test_two_runs_in_one_work_folder(population, tmp_path):
    source, method, _ = population
    with part_work.work_folder(tmp_path / "work", tmp_path / "other"):
        with pytest.raises(FileExistsError, match="in use by another run"):
            anonymize_parts(source, tmp_path / "out", method, y="income", work=tmp_path / "work")
    assert not (tmp_path / "out").exists()
    where = dict(y="income", work=tmp_path / "no/work")
    with pytest.raises(FileNotFoundError, match="'work' must lie in a folder that exists"):
        anonymize_parts(source, tmp_path / "out", method, **where)


class Mortal:
    """An engine whose worker does one task of a stage, and dies in the next"""

    def __init__(self, stage):
        self.stage = stage

    def map(self, function, items):
        inner = function.args[0]
        name = getattr(getattr(inner, "func", inner), "__name__", "")
        if name != self.stage:
            return map(function, items)
        done = [function(o) for o in items[:1]]
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            return done + list(pool.map(os._exit, [3]))


@pytest.mark.parametrize(
    "stage", ["surveyed", "code_part", "send_rows_of", "finish_end", "write_range"]
)
def test_a_worker_that_is_killed(population, tmp_path, stage):
    source, method, wanted = population
    where = dict(y="income", rows=500, work=tmp_path / "work")
    with pytest.raises(RuntimeError, match="'engine' must finish its tasks. Got BrokenProcessPool"):
        anonymize_parts(source, tmp_path / "out", method, engine=Mortal(stage), **where)
    assert no_release(tmp_path)
    made = anonymize_parts(source, tmp_path / "out", method, **where)
    assert digests(made) == digests(wanted)


# ---------- answers


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=min(4, settings().max_examples))
def test_answers_as_in_memory(seed):
    """Any parts, pieces of any size, missing values and words that the model never saw"""
    rng = np.random.default_rng(seed)
    t = random_table(rng, 60, bool(rng.random() < 0.5))
    known = t[:30].dropna(subset=["class", "tree", "wage"])
    names = ["wage", "tree", "size"]
    learners = [C45Classifier(min_samples_leaf=2), ID3Classifier()]
    model = learners[rng.integers(2)]
    if isinstance(model, ID3Classifier):
        names = ["tree", "size"]
    model.fit(known[names], known["class"])
    asked = t[names] if isinstance(model, C45Classifier) else t[names].fillna("ash")
    t[names] = asked
    with new_folder() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # values without a branch
        source = write_parts(t, folder / "parts", rng)
        made = predict_parts(
            source, folder / "out", model, keep=["name"], proba=True, rows=int(rng.integers(1, 40))
        )
        found = pd.concat([pd.read_parquet(made.folder / o) for o in made.files])
        found = found.set_index("name").loc[t["name"]]
        assert found["predicted"].tolist() == model.predict(asked).tolist()
        shares = found[[f"share of {o}" for o in model.classes_]].to_numpy()
        assert np.array_equal(shares, model.predict_proba(asked))
        assert len(made) == len(t)
        assert sorted(o.name for o in folder.iterdir()) == ["out", "parts"]


class Posted:
    """An engine that sends functions and items as bytes, as other processes get them"""

    def map(self, function, items):
        return [pickle.loads(pickle.dumps(function))(pickle.loads(pickle.dumps(o))) for o in items]


def test_answers_of_workers_and_faults(population, tmp_path):
    source, _, _ = population
    t = pd.concat([pd.read_parquet(o) for o in sorted(source.iterdir())])
    model = C45Classifier(min_samples_leaf=50).fit(t[["age", "hours"]], t["income"])
    made = predict_parts(source, tmp_path / "out", model, engine=Posted(), rows=100)
    found = pd.concat([pd.read_parquet(made.folder / o) for o in made.files])
    assert found["predicted"].tolist() == model.predict(t[["age", "hours"]]).tolist()
    shutil.copytree(source, tmp_path / "parts")
    (tmp_path / "parts/2.parquet").write_bytes((source / "2.parquet").read_bytes()[:-300])
    with pytest.raises(TextFormError, match=r"2.parquet is not a whole Parquet file"):
        predict_parts(tmp_path / "parts", tmp_path / "late", model)
    assert sorted(o.name for o in tmp_path.iterdir()) == ["out", "parts"]


# ---------- what is refused, and what is read


@pytest.mark.parametrize("broken", ["k-anonymity with k = 5", "0.6-closeness of 'income'"])
def test_a_false_release_is_not_written(population, tmp_path, monkeypatch, broken):
    """The promise is judged by the written files"""
    source, method, _ = population
    real, limits = part_buckets.strict_partition, method.constraints
    if broken.startswith("k"):
        limits = ()

    def careless(attributes, codes, k, *args, **kwargs):
        return real(attributes, codes, 5 if limits else 2, *args[:-1], None, **kwargs)

    monkeypatch.setattr(part_buckets, "strict_partition", careless)
    method = MondrianAnonymizer(**(method.get_params() | {"constraints": limits}))
    with pytest.raises(GuaranteeError, match=f"{broken}.* does not hold, and the smallest class"):
        anonymize_parts(source, tmp_path / "out", method, y="income", rows=500)
    assert no_release(tmp_path) and not list(tmp_path.iterdir())


def test_false_cells_are_not_written(population, tmp_path, monkeypatch):
    source, method, _ = population
    real = part_buckets.columns_of_groups

    def false(*args):
        return [(c[::-1], cs) for c, cs in real(*args)]

    monkeypatch.setattr(part_buckets, "columns_of_groups", false)
    with pytest.raises(GuaranteeError, match="were published as what they are"):
        anonymize_parts(source, tmp_path / "out", method, y="income", rows=500)


def test_a_column_without_a_role(population, tmp_path):
    source, _, _ = population
    with pytest.raises(ValueError, match="Every column must have a role.*'disease'"):
        anonymize_parts(source, tmp_path / "out", MondrianAnonymizer(5, ["age"]), y="income")


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (ClusterAnonymizer(), "'blocks' of the anonymizer must be 'strict'"),
        (ClusterAnonymizer(blocks="strict", recoding="mean"), "must not be 'mean'"),
        (ClusterAnonymizer(blocks="strict", refine=9), "'refine' of the anonymizer must be left"),
        (ClusterAnonymizer(blocks="strict", guide="class"), "'guide' of the anonymizer must be"),
        (
            ClusterAnonymizer(blocks="strict", weights={"wgae": 1}, published=["disease"]),
            "'weights' must name quasi-identifiers",
        ),
        (TDSAnonymizer(groups=[(["age"], 5)]), "'groups' of the anonymizer must be left out"),
        (TDSAnonymizer(constraints=[LDiversity(2)]), "'constraints' of the anonymizer must be"),
        (TDRAnonymizer(person="name"), "'person' of the anonymizer must be left out"),
        (MondrianAnonymizer(mode="relaxed"), "'mode' of the anonymizer must be 'strict'"),
        (MondrianAnonymizer(person="name"), "'person' of the anonymizer must be left out"),
        (MondrianAnonymizer(k=1), "'k' must be at least 2"),
        (
            MondrianAnonymizer(k=4000, published=["disease"]),
            "'k' must not exceed the number of rows",
        ),
        (MondrianAnonymizer(recoding="best", published=["disease"]), "'recoding' must be one of"),
    ],
)
def test_what_does_not_go_through(population, tmp_path, method, words):
    source, _, _ = population
    with pytest.raises((TypeError, ValueError), match=words):
        anonymize_parts(source, tmp_path / "out", method, y="income")
    assert not list(tmp_path.iterdir())


BY_COUNTS = (
    ClusterAnonymizer,
    KActusAnonymizer,
    MondrianAnonymizer,
    TDSAnonymizer,
    TDRAnonymizer,
)
OTHERS = [o for o in ANONYMIZERS if o not in BY_COUNTS]


@pytest.mark.parametrize("cls", [*OTHERS, C45Classifier], ids=lambda o: o.__name__)
def test_other_methods_say_so(tmp_path, cls):
    """Each method of the house but those that go by counts, before anything is read"""
    with pytest.raises(TypeError, match=f"Got {cls.__name__}, which needs the rows: anonymize a"):
        anonymize_parts(tmp_path / "nowhere", tmp_path / "out", example(cls))


def test_too_many_values(tmp_path):
    """Columns whose values do not fit into the budget are named, in one part or in all together"""
    t = pd.DataFrame({"wage": np.arange(400_000.0), "sex": "F"})
    words = "must have at most 250,000 different values in all for this 'memory'. Got .* in 'wage'"
    for parts in ([t], [t[:200_000], t[200_000:]]):
        folder = tmp_path / f"parts{len(parts)}"
        folder.mkdir()
        for i, o in enumerate(parts):
            o.to_parquet(folder / f"{i}.parquet")
        with pytest.raises(ValueError, match=words):
            anonymize_parts(folder, tmp_path / "out", MondrianAnonymizer(), memory="400 MB")


def test_a_release_that_was_changed(population, tmp_path):
    """Rows, files and words of a folder are bound"""
    _, _, wanted = population
    shutil.copytree(wanted.folder, tmp_path / "out")
    first, second = [tmp_path / "out" / o for o in wanted.files[:2]]
    whole = first.read_bytes()
    first.write_bytes(second.read_bytes())
    with pytest.raises(TextFormError, match="was changed after it was written"):
        read_parts(tmp_path / "out")
    first.unlink()
    with pytest.raises(TextFormError, match="is missing"):
        read_parts(tmp_path / "out")
    first.write_bytes(whole)
    shutil.copy(first, tmp_path / "out/rows-more.parquet")
    with pytest.raises(TextFormError, match="Got rows-more.parquet, which is not one of them"):
        read_parts(tmp_path / "out")
    (tmp_path / "out/_release.schema.json").unlink()
    with pytest.raises(TextFormError, match="no release in parts"):
        read_parts(tmp_path / "out")


def test_files_tell_nothing_of_parts(population):
    """Rows are in order within and across files"""
    _, _, made = population
    rows = list(map(tuple, texts_of(made).to_numpy()))
    assert len(made) > 2 and rows == sorted(rows)


def test_readers_of_folders_read_a_release(population):
    """They pass over the schema"""
    *_, made = population
    found = pd.read_parquet(made.folder)
    assert found.astype(str).to_numpy().tolist() == texts_of(made).to_numpy().tolist()


def test_what_is_not_read_is_named(tmp_path):
    population_parts(tmp_path / "parts")
    for name in ("_SUCCESS", ".hidden.parquet", "~$0.parquet"):
        (tmp_path / "parts" / name).touch()
    assert len(find_parts(tmp_path / "parts")) == 3
    (tmp_path / "parts/more").mkdir()
    (tmp_path / "parts/4.csv.gz").touch()
    with pytest.warns(UserWarning, match="and not 4.csv.gz, more: if people are in there"):
        assert len(find_parts(tmp_path / "parts")) == 3


def test_what_was_written_is_read(population):
    source, method, made = population
    t = pd.concat([pd.read_parquet(o) for o in sorted(source.iterdir())])
    memory = method.anonymize(t.drop(columns="income"), t["income"])
    whole = read_parts(made.folder).whole()
    assert whole.text().equals(memory.text())
    assert whole.audit.k == made.audit.k and whole.audit.holds
    assert len(made.data(0)) == parquet.read_metadata(made.folder / made.files[0]).num_rows


def test_a_worker_stays_within_its_memory(tmp_path):
    """A third of a million people: what the process has held at most is within its budget"""
    code = """
import sys
from pathlib import Path
folder = Path(sys.argv[1])
from ppdt.datasets import make_population
from ppdt.mondrian import MondrianAnonymizer
from ppdt.scale import anonymize_parts
qi = ["age", "education", "occupation", "marital_status", "region", "hours"]
made = anonymize_parts(folder / "parts", folder / "out",
    MondrianAnonymizer(5, qi, published=["disease"]), y="income", memory="400 MB")
# ru_maxrss would begin with what the process that started this one had
told = dict(o.split(":", 1) for o in open("/proc/self/status"))
peak = int(told["VmHWM"].split()[0]) * 1024
print(len(made), peak, made.audit.n_rows)
"""
    (tmp_path / "parts").mkdir()
    for i in range(4):
        part = make_population(85_000, random_state=i)
        part.to_parquet(tmp_path / f"parts/{i}.parquet", index=False)
    r = subprocess.run(
        [sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=False
    )
    assert r.returncode == 0, r.stderr
    files, peak, n = map(int, r.stdout.split())
    assert n == 340_000 and files > 1
    assert peak < 400_000_000, f"{peak / 1e6:.0f} MB"
