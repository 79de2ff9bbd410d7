"""`ppdt anonymize FOLDER`, and `ppdt audit` and `ppdt verify` of the folder that it makes."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from pyarrow import parquet
from test_scale import need

from ppdt import cli
from ppdt.datasets import load_customers
from ppdt.engine import command_parts
from ppdt.kactus import KActusAnonymizer

WORDS = ["--qi", "Gender,Marital,Age", "--class", "Bought", "--identifiers", "customer"]
WORDS += ["--publish", "paid", "--k", "2"]


@pytest.fixture
def ppdt(tmp_path, monkeypatch, capsys):
    """Customers as one file and as parts, and a call of the command: (exit code, out, err)"""
    monkeypatch.chdir(tmp_path)
    t = load_customers().reset_index()
    # a number that would be written otherwise if it were one
    t["paid"] = ["1.50", "2.00"] * 7
    t.to_csv("whole.csv", index=False)
    (tmp_path / "parts").mkdir()
    for i in range(3):
        t[i::3].to_csv(f"parts/{i}.csv", index=False)

    def call(*words):
        capsys.readouterr()
        return cli.main([str(o) for o in words]), *capsys.readouterr()

    return call


def is_one_line(err):
    return re.fullmatch(r"ppdt: [^\n]+\n", err) and "Traceback" not in err


def rows_of(folder):
    tables = [parquet.read_table(o).to_pandas().astype(str) for o in sorted(folder.glob("*.pa*"))]
    return pd.concat(tables, ignore_index=True)


OPTIONS = [
    [],
    ["--recoding", "region"],
    ["--mode", "infogain"],
    ["--l-diversity", "2"],
    ["--sensitive", "paid", "--t-closeness", "0.3", "--alpha", "0.8"],
    ["--mode", "tdr"],
    ["--mode", "cluster"],
]


@pytest.mark.parametrize("more", OPTIONS, ids=" ".join)
def test_the_release_of_one_file(ppdt, tmp_path, more):
    code, told, _ = ppdt("anonymize", "parts", "-o", "out", *WORDS, *more)
    assert code == 0 and "parts: 3 part(s), 14 rows" in told
    for words in ("Age (numeric)", "Bought (as it is)", "dropped             customer"):
        assert words in told
    assert "untouched           paid" in told
    assert re.search(r"^promise .* k = 2.*: holds$", told, re.M)
    one = ppdt("anonymize", "whole.csv", "-o", "one.csv", *WORDS, *more)
    assert one[0] == 0
    wanted = pd.read_csv("one.csv", dtype=str, keep_default_na=False)
    assert rows_of(tmp_path / "out").equals(wanted)
    same = ("rows  ", "class sizes", "chance", "different", "commonest", "loss", "groups are")
    lines = [[o for o in text.splitlines() if o.startswith(same)] for text in (told, one[1])]
    assert lines[0] == lines[1] and len(lines[0]) == len(same)
    assert not (tmp_path / ".out.work").exists()


def test_taxonomies_and_missing_values(ppdt, tmp_path):
    """As of one file, and what is dropped is told"""
    (tmp_path / "ages.csv").write_text(
        "".join(f"{i};{i // 10 * 10}s;*\n" for i in range(20, 90)), "utf-8"
    )
    t = pd.read_csv("parts/1.csv", dtype=str)
    t.loc[0, "Age"] = ""
    t.to_csv("parts/1.csv", index=False)
    whole = [pd.read_csv(o, dtype=str) for o in sorted((tmp_path / "parts").iterdir())]
    pd.concat(whole).to_csv("whole.csv", index=False)
    code, _, err = ppdt("anonymize", "parts", "-o", "out", *WORDS)
    assert code == 2 and is_one_line(err) and "--missing drop" in err
    words = [*WORDS, "--missing", "drop", "--taxonomy", "Age=ages.csv"]
    code, told, _ = ppdt("anonymize", "parts", "-o", "out", *words)
    assert code == 0 and "1 row dropped, with a missing value" in told
    assert ppdt("anonymize", "whole.csv", "-o", "one.csv", *words)[0] == 0
    wanted = pd.read_csv("one.csv", dtype=str, keep_default_na=False)
    assert rows_of(tmp_path / "out").equals(wanted)
    assert wanted["Age"].str.contains("<").any()


@pytest.mark.parametrize("recoding", ["set", "interval"])
def test_kactus_draws_a_seed(ppdt, tmp_path, monkeypatch, recoding):
    """Another one each time; with that seed the release is that of Python"""
    drawn = []
    monkeypatch.setattr(command_parts, "randbelow", lambda n: drawn.append(n) or 7)
    words = [*WORDS, "--mode", "kactus", "--k", "3", "--recoding", recoding]
    code, told, _ = ppdt("anonymize", "parts", "-o", "out", *words)
    assert code == 0 and drawn == [2**63]
    assert "2 rows lost (fewer than k=3), and one draw by chance" in told
    t = pd.read_csv("whole.csv", dtype={"paid": str})
    method = KActusAnonymizer(
        k=3,
        quasi_identifiers=["Gender", "Marital", "Age"],
        identifiers=["customer"],
        published=["paid"],
        numeric="interval",
        merge="sets" if recoding == "set" else "none",
        selection="lots",
        random_state=7,
    )
    wanted = method.anonymize(t.drop(columns="Bought"), t["Bought"]).text()
    assert rows_of(tmp_path / "out").equals(wanted.astype(str))
    assert ppdt("verify", "out")[0] == 0
    t.loc[0, "Age"] = None
    t.to_csv("parts/0.csv", index=False)
    code, told, _ = ppdt("anonymize", "parts", "-o", "late", *words, "--missing", "drop")
    assert (
        code == 0 and "1 row dropped, with a missing value in a quasi-identifier, or lost" in told
    )


@pytest.mark.filterwarnings("ignore")
def test_dask_of_the_command(ppdt, monkeypatch):
    """Threads instead of processes, which are tested elsewhere; with less memory than this process
    has, for which Dask's workers would wait
    """
    cluster = need("distributed").LocalCluster
    few = {"processes": False, "memory_limit": 100_000_000}
    monkeypatch.setattr("distributed.LocalCluster", lambda **how: cluster(**how | few))
    assert ppdt("anonymize", "parts", "-o", "here", *WORDS)[0] == 0
    more = ["--engine", "dask", "--memory", "600 MB"]
    assert ppdt("anonymize", "parts", "-o", "there", *WORDS, *more)[0] == 0
    at = [Path(o, "_release.schema.json") for o in ("here", "there")]
    assert at[0].read_text("utf-8") == at[1].read_text("utf-8")


ANONYMIZE = ["anonymize", "parts", "-o", "out", *WORDS]
BAD = {
    "person": ([*ANONYMIZE, "--person", "customer"], "--person cannot be used with a folder"),
    "l": ([*ANONYMIZE, "--l-diversity", "3"], "the whole table has 2: no grouping can do better"),
    "sensitive": ([*ANONYMIZE, "--sensitive", "paid"], "--sensitive must come with what is asked"),
    "l of tds": (
        [*ANONYMIZE, "--mode", "tdr", "--l-diversity", "2"],
        "--mode tdr cannot keep --l-diversity",
    ),
    "alpha of clusters": (
        [*ANONYMIZE, "--mode", "cluster", "--alpha", "0.8"],
        "--mode cluster cannot keep --l-diversity",
    ),
    "alpha of kactus": (
        [*ANONYMIZE, "--mode", "kactus", "--alpha", "0.8"],
        "--mode kactus cannot keep --l-diversity",
    ),
    "work of kactus": (
        [*ANONYMIZE, "--mode", "kactus", "--work", "w"],
        "--work cannot be used with --mode kactus",
    ),
    "no class of kactus": (
        ["anonymize", "parts", "-o", "out", "--qi", "Age", "--mode", "kactus"],
        "--mode kactus must have the class that its tree predicts",
    ),
    "suppress": ([*ANONYMIZE, "--suppress", "0.1"], "--suppress cannot be used with a folder"),
    "report": ([*ANONYMIZE, "--report", "r.html"], "--report cannot be used with a folder"),
    "sign between fields": ([*ANONYMIZE, "--sep", ";"], "UTF-8 with commas"),
    "mode": ([*ANONYMIZE, "--mode", "mdav"], "Got mdav, which needs the rows"),
    "engine": ([*ANONYMIZE, "--engine", "hadoop"], "here, processes, dask, spark. Got 'hadoop'"),
    "memory": ([*ANONYMIZE, "--memory", "much"], "--memory must be bytes"),
    "little memory": ([*ANONYMIZE, "--memory", "1 MB"], "--memory must be at least 400 MB"),
    "k": ([*ANONYMIZE, "--k", "1"], "--k must be at least 2"),
    "large k": ([*ANONYMIZE, "--k", "15"], "--k must not exceed the number of rows"),
    "no qi": (["anonymize", "parts", "-o", "out"], "--qi must name"),
    "slip": (["anonymize", "parts", "-o", "out", "--qi", "Aeg"], "did you mean 'Age'?"),
    "no role": (["anonymize", "parts", "-o", "out", "--qi", "Age"], "Every column must have a"),
    "file as OUT": (["anonymize", "parts", "-o", "out.csv", *WORDS], "-o must be a folder where"),
    "no class": (
        ["anonymize", "parts", "-o", "out", "--qi", "Age", "--mode", "infogain"],
        "--mode infogain must have the class",
    ),
    "OUT is there": (["anonymize", "parts", "-o", "parts", *WORDS], "-o must be a new folder"),
    "OUT among parts": (["anonymize", "parts", "-o", "parts/o", *WORDS], "not lie among the parts"),
    "OUT in no folder": (["anonymize", "parts", "-o", "no/out", *WORDS], "make the folder 'no'"),
    "no parts": (["anonymize", "empty", "-o", "out", *WORDS], "IN must hold CSV or Parquet"),
    "engine for a file": (
        ["anonymize", "whole.csv", "-o", "o.csv", *WORDS, "--engine", "dask"],
        "--engine must come with a folder of parts. Got 'whole.csv'",
    ),
    "audit of parts": (["audit", "parts"], "or the folder of a release in parts. Got 'parts'"),
    "report on a folder": (["report", "parts"], "A file must be named. Got 'parts', which is a"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name, ppdt, tmp_path):
    words, message = BAD[name]
    (tmp_path / "empty").mkdir()
    before = sorted(map(str, tmp_path.rglob("*")))
    code, out, err = ppdt(*words)
    assert code == 2 and is_one_line(err) and not out
    assert message in err
    assert sorted(map(str, tmp_path.rglob("*"))) == before


def test_notes_of_parts(ppdt, tmp_path):
    """What is not read, and a word among numbers, are told as for one file"""
    (tmp_path / "parts/notes.txt").touch()
    last = max((tmp_path / "parts").glob("*.csv"))
    t = pd.read_csv(last, dtype=str)
    at = t.columns.get_loc("Age")
    t.iloc[0, at] = "unknown"
    t.to_csv(last, index=False)
    code, out, _ = ppdt(*ANONYMIZE)
    out = " ".join(out.split())
    assert code == 0 and "are read, and not notes.txt" in out
    assert f"'Age' is taken as categorical, because {last.name} holds 'unknown'" in out


def test_a_stopped_run_tells_of_its_work(ppdt, tmp_path, monkeypatch):
    def stop(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("ppdt.engine.part_steps.anonymize_parts", stop)
    code, _, err = ppdt(*ANONYMIZE, "--work", "w")
    assert code == 130 and "w holds values of people as they are" in err
    code, _, err = ppdt(*ANONYMIZE)
    assert code == 130 and "holds values" not in err


def test_predict_a_folder(ppdt, tmp_path):
    """A tree of the release is asked about the people, who lie in parts"""
    assert ppdt("anonymize", "whole.csv", "-o", "one.csv", *WORDS)[0] == 0
    assert ppdt("learn", "one.csv", "-o", "tree.json")[0] == 0
    words = ["--keep", "customer"]
    code, out, _ = ppdt("predict", "tree.json", "parts", "-o", "answers", *words)
    assert code == 0 and "14 in 3 part(s)" in out and "wrote answers (3 file(s))" in out
    assert ppdt("predict", "tree.json", "whole.csv", "-o", "one-file.csv", *words)[0] == 0
    wanted = pd.read_csv("one-file.csv", dtype=str).set_index("customer")
    found = rows_of(tmp_path / "answers").set_index("customer")
    assert found.sort_index().equals(wanted.sort_index())
    before = sorted(map(str, tmp_path.rglob("*")))
    assert ppdt("anonymize", "parts", "-o", "out", *WORDS)[0] == 0
    for words, message in [
        (["out", "-o", "late"], "PEOPLE must be people as they are"),
        (["parts", "-o", "answers"], "-o must be a new folder"),
        (["parts", "-o", "late", "--class", "Bought"], "--class cannot be used with a folder"),
        (["parts", "-o", "late", "--keep", "name"], "--keep"),
        (["parts"], "-o must be a folder where IN is one"),
    ]:
        code, _, err = ppdt("predict", "tree.json", *words)
        assert code == 2 and is_one_line(err) and message in err
    assert sorted(map(str, tmp_path.rglob("*"))) == sorted(
        [*before, *map(str, tmp_path.glob("out")), *map(str, tmp_path.glob("out/*"))]
    )


def test_audit_and_verify_a_folder(ppdt, tmp_path):
    """The promise of all files together; one of them, and what is asked besides, is refused"""
    assert ppdt(*ANONYMIZE)[0] == 0
    for command in ("audit", "verify"):
        code, out, _ = ppdt(command, "out")
        assert code == 0 and "out: a release in 1 file(s)" in out and "k = 2: holds" in out
        code, _, err = ppdt(command, "out/rows-000000.parquet")
        assert code == 2 and is_one_line(err) and "name the folder 'out'" in err
        code, _, err = ppdt(command, "out", "--original", "whole.csv")
        assert code == 2 and "--original cannot be used with a release in parts" in err
    for command in ("profile", "report"):
        code, _, err = ppdt(command, "out")
        assert code == 2 and is_one_line(err) and "the folder of a release in parts" in err
    at = tmp_path / "out/_release.schema.json"
    schema = json.loads(at.read_text("utf-8"))
    schema["promise"] |= {"k": 3, "words": "k-anonymity with k = 3"}
    at.write_text(json.dumps(schema), "utf-8")
    code, out, _ = ppdt("verify", "out")
    assert code == 1 and "DOES NOT HOLD" in out
    (tmp_path / "out/rows-000000.parquet").write_bytes(b"other")
    code, _, err = ppdt("verify", "out")
    assert code == 2 and is_one_line(err) and "was changed after it was written" in err


LEARN = ["--kadet", "--qi", "Gender,Marital", "--private", "Age", "--class", "Bought", "--k", "3"]


@pytest.fixture
def typed(tmp_path):
    """Customers as Parquet parts, beside the other files"""
    t = load_customers().reset_index()
    (tmp_path / "typed").mkdir()
    for i in range(3):
        t[i::3].to_parquet(tmp_path / f"typed/{i}.parquet", index=False)


def test_learn_from_a_release_in_parts(ppdt, tmp_path):
    """As from the same release in one file; one of its files is none"""
    assert ppdt(*ANONYMIZE)[0] == 0
    assert ppdt("anonymize", "whole.csv", "-o", "one.csv", *WORDS)[0] == 0
    for source, to in (("out", "parts.json"), ("one.csv", "one.json")):
        assert ppdt("learn", source, "-o", to)[0] == 0
    texts = [(tmp_path / o).read_text("utf-8") for o in ("parts.json", "one.json")]
    assert texts[0] == re.sub('"name": "one.csv", "sha256": "[0-9a-f]+", ', "", texts[1])
    code, _, err = ppdt("learn", "out/rows-000000.parquet", "-o", "late.json")
    assert code == 2 and is_one_line(err) and "name the folder 'out'" in err


@pytest.mark.parametrize("more", [[], ["--learner", "id3"], ["--alpha", "0.8", "--min-leaf", "1"]])
def test_learn_a_folder(ppdt, typed, tmp_path, more):
    """The file that is written for one file, whose tree is asked as that is"""
    code, told, _ = ppdt("learn", "typed", *LEARN, *more, "-o", "parts.json")
    assert code == 0 and "typed, 3 part(s), 14 rows, each of them a person" in told
    assert "audited on all people" in told
    assert ppdt("learn", "whole.csv", *LEARN, *more, "--folds", "0", "-o", "one.json")[0] == 0
    texts = [(tmp_path / o).read_text("utf-8") for o in ("parts.json", "one.json")]
    assert texts[0] == texts[1]
    one = ppdt("learn", "whole.csv", *LEARN, *more, "--folds", "0")[1]
    same = ("promise", "found", "learner", "predicts", "on the rows")
    lines = [
        [o.strip() for o in text.splitlines() if o.strip().startswith(same)] for text in (told, one)
    ]
    assert lines[0] == lines[1] and len(lines[0]) == len(same)


def test_the_ages_of_a_taxonomy_in_parts(ppdt, typed, tmp_path):
    """A file says what is coarser; its numbers are those of the parts"""
    (tmp_path / "ages.csv").write_text(
        "".join(f"{i};{i // 30 * 30}s;*\n" for i in range(20, 90)), "utf-8"
    )
    words = ["--kadet", "--qi", "Age", "--class", "Bought", "--k", "2", "--taxonomy"]
    words += ["Age=ages.csv", "--learner", "id3"]
    for source, to in (("typed", "parts.json"), ("whole.csv", "one.json")):
        some = ["--folds", "0"] if source == "whole.csv" else []
        assert ppdt("learn", source, *words, *some, "-o", to)[0] == 0
    texts = [(tmp_path / o).read_text("utf-8") for o in ("parts.json", "one.json")]
    assert texts[0] == texts[1] and "(level 1)" in texts[0]


NOT_LEARNT = {
    "a release": (["typed"], "with --kadet, or one for yourself with ppdt.scale.fit_parts"),
    "CSV": (["parts", *LEARN], "IN must hold Parquet files"),
    "dates": (["typed", *LEARN, "--date", "Age=yyyy"], "--date cannot be used with a folder"),
    "form": (["typed", *LEARN, "--sep", ";"], "--sep cannot be used with a folder"),
    "folds": (["typed", *LEARN, "--folds", "3"], "ask the written tree about a file with ppdt"),
    "roles": (["typed", *LEARN, "--qi", "Age"], "A column must have one role. Got 'Age'"),
    "no class": (["typed", "--kadet", "--qi", "Age"], "--class must name what is to be"),
    "no qi": (["typed", "--kadet", "--class", "Bought"], "--qi must name the columns that"),
    "slip": (["typed", *LEARN, "--private", "Agee"], "did you mean 'Age'?"),
    "rules": (["typed", *LEARN, "--rules"], "--kadet grows trees. Got rules"),
    "k": (["typed", *LEARN, "--k", "15"], "--k must not exceed"),
    "memory": (
        ["typed", *LEARN, "--engine", "dask", "--memory", "1 MB"],
        "--memory must be at least 400 MB",
    ),
    "engine": (["whole.csv", *LEARN, "--engine", "dask"], "--engine must come with a folder"),
    "no parts": (["empty", *LEARN], "IN must hold"),
}


@pytest.mark.parametrize("name", NOT_LEARNT)
def test_a_folder_that_is_not_learnt(name, ppdt, typed, tmp_path):
    words, message = NOT_LEARNT[name]
    (tmp_path / "empty").mkdir()
    code, out, err = ppdt("learn", *words, "-o", "tree.json")
    assert code == 2 and is_one_line(err) and not out
    assert message in err
    assert not (tmp_path / "tree.json").exists()
