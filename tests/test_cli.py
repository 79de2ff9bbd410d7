"""The command `ppdt`: exit codes, messages, files; in this process where that is enough, as a
program where it matters.
"""

import json
import os
import re
import signal
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
import ready
from hypothesis import given, strategies as st

from ppdt import cli
from ppdt.datasets import load_customers
from ppdt.engine import demo as demo_of_cli
from ppdt.release import GuaranteeError, read_release
from ppdt.tables import read_text, schema_path

QI = "Gender,Marital,Age"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with the customers, which is the current one"""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PPDT_DEBUG", raising=False)
    load_customers().reset_index().to_csv("customers.csv", index=False)
    return tmp_path


@pytest.fixture
def ppdt(here, capsys):
    """Calls main with a list of words: (exit code, stdout, stderr)"""

    def call(*words):
        capsys.readouterr()
        code = cli.main([str(o) for o in words])
        return code, *capsys.readouterr()

    return call


def program(*words, how="ready", cwd=None, env=None):
    """Runs the command as a program of its own: as the script that pip has made, as a module, or
    in a process that has imported the large packages already
    """
    if how == "ready":
        return ready.command(*words, cwd=cwd)
    script = Path(sys.executable).parent / "ppdt"
    cmd = [sys.executable, "-m", "ppdt.cli"] if how == "-m" else [str(script)]
    left = {o: v for o, v in os.environ.items() if o not in ("PPDT_DEBUG", "COLUMNS")}
    return subprocess.run(
        [*cmd, *map(str, words)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=left | (env or {}),
        stdin=subprocess.DEVNULL,
        timeout=300,
    )


def files(folder):
    return {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for p in Path(folder).rglob("*")
        if p.is_file()
    }


def schema_of(path):
    "A schema as JSON, without what binds it to its file"
    d = json.loads(schema_path(path).read_text())
    assert d.pop("file")["name"] == Path(path).name
    return d


def is_one_line(err):
    return re.fullmatch(r"ppdt: [^\n]+\n", err) and "Traceback" not in err


# ---------------------------------------------------------------- bad input

NO_OUT = "anonymize customers.csv --qi Gender,Marital,Age --identifiers customer".split()
NO_CLASS = [*NO_OUT, "--publish", "Bought"]
BAD = {  # name: (words, what the message must say)
    "no command of this name": (["protect"], "protect"),
    "unknown option": ([*NO_OUT, "--kk", "5", "-o", "out.csv"], "--kk"),
    "option cut short": ([*NO_OUT, "--ident", "customer", "-o", "out.csv"], "--ident"),
    "no OUT": (NO_OUT, "-o"),
    "no qi": (["anonymize", "customers.csv", "-o", "out.csv"], "--qi must name"),
    "empty qi": (["anonymize", "customers.csv", "--qi", "", "-o", "out.csv"], "--qi"),
    "empty name in qi": (
        ["anonymize", "customers.csv", "--qi", "Gender,,Age", "-o", "out.csv"],
        "--qi",
    ),
    "open quote in qi": (
        ["anonymize", "customers.csv", "--qi", 'Gender,"Age', "-o", "out.csv"],
        "quote",
    ),
    "unknown column": (
        ["anonymize", "customers.csv", "--qi", "Gender,Aeg", "-o", "out.csv"],
        "did you mean 'Age'? Gender, Marital",
    ),
    "column twice": (
        ["anonymize", "customers.csv", "--qi", "Gender,Gender", "-o", "out.csv"],
        "'Gender' 2 times",
    ),
    "l of nothing": (
        [*NO_OUT, "--l-diversity", "2", "-o", "out.csv"],
        "--sensitive --class name the column",
    ),
    "l too large": (
        [*NO_OUT, "--class", "Bought", "--l-diversity", "3", "-o", "out.csv"],
        "whole table",
    ),
    "secret without a wish": (
        [*NO_OUT, "--sensitive", "Bought", "-o", "out.csv"],
        "--sensitive --l-diversity",
    ),
    "t above one": (
        [*NO_OUT, "--class", "Bought", "--t-closeness", "2", "-o", "out.csv"],
        "from 0 to 1 '2'",
    ),
    "unknown secret": (
        [*NO_OUT, "--sensitive", "Buys", "--alpha", ".5", "-o", "out.csv"],
        "--sensitive 'Buys'",
    ),
    "infogain without class": (
        [*NO_OUT, "--mode", "infogain", "-o", "out.csv"],
        "--mode infogain --class",
    ),
    "taxonomy of nothing": (
        [*NO_OUT, "--taxonomy", "Zip=m.csv", "-o", "out.csv"],
        "--taxonomy 'Zip=m.csv'",
    ),
    "taxonomy without a file": (
        [*NO_OUT, "--taxonomy", "Marital=none.csv", "-o", "out.csv"],
        "none.csv",
    ),
    "unknown class": ([*NO_OUT, "--class", "Buys", "-o", "out.csv"], "--class 'Buys' Bought"),
    "unknown identifier": (
        [*NO_OUT, "--identifiers", "name", "-o", "out.csv"],
        "--identifiers 'name'",
    ),
    "unknown numeric": ([*NO_OUT, "--numeric", "age", "-o", "out.csv"], "--numeric 'age' 'Age'"),
    "unknown categorical": (
        [*NO_OUT, "--categorical", "age", "-o", "out.csv"],
        "--categorical 'age' 'Age'",
    ),
    "class is a qi": ([*NO_OUT, "--class", "Age", "-o", "out.csv"], "'Age' --qi --class"),
    "identifier is a qi": (
        [*NO_OUT, "--identifiers", "Age", "-o", "out.csv"],
        "'Age' --qi --identifiers",
    ),
    "identifier is the class": (
        [*NO_OUT, "--class", "Bought", "--identifiers", "Bought", "-o", "out.csv"],
        "'Bought' --class --identifiers",
    ),
    "two kinds": (
        [*NO_OUT, "--numeric", "Age", "--categorical", "Age", "-o", "out.csv"],
        "'Age' one kind",
    ),
    "no numbers": (
        [*NO_OUT, "--numeric", "Gender", "-o", "out.csv"],
        "'Gender' --numeric 'Female' row 1 --categorical",
    ),
    "k = 0": ([*NO_OUT, "--k", "0", "-o", "out.csv"], "--k integer '0'"),
    "k < 0": ([*NO_OUT, "--k", "-3", "-o", "out.csv"], "--k integer '-3'"),
    "k no integer": ([*NO_OUT, "--k", "2.5", "-o", "out.csv"], "--k integer '2.5'"),
    "k a word": ([*NO_OUT, "--k", "five", "-o", "out.csv"], "--k integer 'five'"),
    "k > n": ([*NO_CLASS, "--k", "15", "-o", "out.csv"], "--k 15 14 rows"),
    "missing rule": (
        [*NO_OUT, "--missing", "ignore", "-o", "out.csv"],
        "ignore error drop category",
    ),
    "recoding": ([*NO_OUT, "--recoding", "mean", "-o", "out.csv"], "mean set interval ends region"),
    "no such file": (["anonymize", "nobody.csv", "--qi", "Age", "-o", "out.csv"], "nobody.csv"),
    "a folder as IN": (["anonymize", ".", "--qi", "Age", "-o", "out.csv"], "file"),
    "no such folder": ([*NO_OUT, "-o", "there/out.csv"], "folder 'there'"),
    "a folder as OUT": ([*NO_OUT, "-o", "folder.csv"], "folder.csv file"),
    "wrong ending of OUT": ([*NO_OUT, "-o", "out.xlsx"], ".csv .parquet 'out.xlsx'"),
    "wrong ending of IN": (
        ["anonymize", "customers.doc", "--qi", "Age", "-o", "out.csv"],
        ".csv .xlsx .parquet 'customers.doc'",
    ),
    "OUT is IN": ([*NO_OUT, "-o", "customers.csv"], "file that is read"),
    "OUT is IN by another way": (
        [*NO_OUT, "-o", "folder.csv/../customers.csv"],
        "file that is read",
    ),
    "audit: no qi, no schema": (["audit", "customers.csv"], "--qi customers.csv.schema.json"),
    "audit: unknown column": (["audit", "customers.csv", "--qi", "age"], "--qi 'age' 'Age'"),
    "audit: no such file": (["audit", "nobody.csv", "--qi", "Age"], "nobody.csv"),
    "audit: k = 0": (["audit", "customers.csv", "--qi", "Age", "--k", "0"], "--k integer"),
    "audit: original without kinds": (
        ["audit", "customers.csv", "--qi", "Age", "--original", "customers.csv"],
        "--numeric --categorical 'Age'",
    ),
    "audit: no such original": (
        ["audit", "customers.csv", "--qi", "Age", "--numeric", "Age", "--original", "nobody.csv"],
        "nobody.csv",
    ),
    "demo: k > n": (["demo", "--k", "10001", "--out", "demo"], "--k 10001 10000"),
    "demo: data": (["demo", "--data", "census"], "census population adult"),
    "demo: out is a file": (["demo", "--out", "customers.csv"], "--out folder"),
}
PYTHON = re.compile(r"quasi_identifiers|class_name|kinds=|\bk=|missing=|'k'|'y'|'X'|DataFrame")


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name, ppdt, here):
    words, says = BAD[name]
    (here / "folder.csv").mkdir()
    (here / "customers.doc").write_text("Age\n1\n")
    before = files(here)
    code, out, err = ppdt(*words)
    assert code == 2 and is_one_line(err), err
    assert not PYTHON.search(err), f"speaks of Python: {err}"
    assert all(o in err for o in says.split()), (says, err)
    assert files(here) == before, "something was written"


TABLES = {  # name: (bytes of people.csv, more words, what the message must say)
    "empty file": (b"", [], "people.csv empty"),
    "header only": (b"age,sex\n", [], "people.csv row"),
    "empty line first": (b"\nage,sex\n", [], "people.csv"),
    "duplicate names": (b"age,sex,age\n1,f,1\n2,m,2\n", [], "'age' 2 times"),
    "cut off in a quote": (b'age,sex\n1,f\n2,"m\n', [], "people.csv cut off"),
    "cut off in a row": (b"age,sex\n1,f\n2\n", [], "people.csv row 2"),
    "too long a row": (b"age,sex\n1,f\n2,m,x\n", [], "people.csv row 2"),
    "in no encoding": ("age,sex\n1,ü\n2,m\n".encode("cp850"), [], "UTF-8 --encoding"),
    "not UTF-8, as said": (
        "age,sex\n1,é\n2,m\n".encode("latin-1"),
        ["--encoding", "utf-8"],
        "UTF-8 another encoding",
    ),
    "commas and semicolons": (b"age,sex;zip\n1,f;2\n2,m;3\n", [], "--sep ',' --sep ';'"),
    "other separator than said": (b"age;sex\n1;f\n2;m\n", ["--sep", ","], "--sep ';'"),
    "missing in a qi": (b"age,sex\n1,f\n,m\n", [], "'age' row 2 --missing drop category"),
    "infinity": (b"age,sex\n1,f\ninf,m\n3,m\n", [], "'age' 'inf' row 2"),
    "infinity in numeric": (
        b"age,sex\n1,f\n-Infinity,m\n",
        ["--numeric", "age"],
        "'age' '-Infinity' row 2",
    ),
    "too large": (b"age,sex\n1,f\n1e999,m\n3,m\n", [], "'age' '1e999' row 2"),
    "nan in numeric": (b"age,sex\n1,f\nnan,m\n", ["--numeric", "age"], "'age' 'nan' row 2"),
    "an interval among numbers": (b'age,sex\n1,f\n"[2, 3]",m\n3,m\n', [], "'age' '[2, 3]' row 2"),
    "an interval in numeric": (
        b'age,sex\n1,f\n"[2, 3]",m\n',
        ["--numeric", "age"],
        "'age' '[2, 3]' row 2",
    ),
    "a set in numeric": (
        b'age,sex\n1,f\n"{2, 3}",m\n',
        ["--numeric", "age"],
        "'age' '{2, 3}' row 2",
    ),
    "dropped below k": (b"age,sex\n1,f\n,m\n", ["--missing", "drop"], "--k 2 1 rows"),
}


@pytest.mark.parametrize("name", TABLES)
def test_bad_tables(name, ppdt, here):
    data, more, says = TABLES[name]
    (here / "people.csv").write_bytes(data)
    before = files(here)
    code, out, err = ppdt(
        "anonymize", "people.csv", "--qi", "age,sex", "--k", 2, *more, "-o", "out.csv"
    )
    assert code == 2 and is_one_line(err), err
    assert not PYTHON.search(err), f"speaks of Python: {err}"
    assert all(o in err for o in says.split()), (says, err)
    assert files(here) == before, "something was written"


@pytest.mark.parametrize(
    "name",
    [
        "empty file",
        "header only",
        "duplicate names",
        "cut off in a quote",
        "cut off in a row",
        "in no encoding",
    ],
)
def test_bad_tables_are_not_audited(name, ppdt, here):
    (here / "people.csv").write_bytes(TABLES[name][0])
    code, out, err = ppdt("audit", "people.csv", "--qi", "age")
    assert code == 2 and is_one_line(err) and not out


def test_cut_off_parquet(ppdt, here):
    pd.DataFrame({"age": [1, 2]}).to_parquet("people.parquet")
    (here / "people.parquet").write_bytes((here / "people.parquet").read_bytes()[:-20])
    code, _, err = ppdt("anonymize", "people.parquet", "--qi", "age", "--k", 2, "-o", "out.csv")
    assert code == 2 and is_one_line(err) and "Parquet" in err and not (here / "out.csv").exists()


def test_an_old_release_survives_an_error(ppdt, here):
    assert ppdt(*NO_CLASS, "--k", 3, "-o", "out.csv")[0] == 0
    before = files(here)
    assert ppdt(*NO_CLASS, "--k", 30, "-o", "out.csv")[0] == 2
    assert files(here) == before


def test_a_release_is_not_protected_again(ppdt, here):
    assert ppdt(*NO_CLASS, "--k", 3, "-o", "out.csv")[0] == 0
    code, _, err = ppdt("anonymize", "out.csv", "--qi", "Age", "-o", "again.csv")
    assert code == 2 and is_one_line(err) and "out.csv.schema.json" in err


@pytest.mark.parametrize(
    "schema",
    [
        "",
        "{}",
        '{"format": "ppdt-release", "version": 1, "columns": [{"name": "x"}], "taxonomies": {}}',
        "[" * 10,
    ],
)
def test_a_damaged_schema(schema, ppdt, here):
    (here / "customers.csv.schema.json").write_text(schema)
    code, _, err = ppdt("audit", "customers.csv", "--qi", "Age")
    assert code == 2 and is_one_line(err) and not PYTHON.search(err), err


def test_hard_link_and_symbolic_link(ppdt, here):
    os.link("customers.csv", "hard.csv")
    os.symlink("customers.csv", "soft.csv")
    for o in "hard.csv", "soft.csv":
        code, _, err = ppdt(*NO_OUT, "-o", o)
        assert code == 2 and "file that is read" in err


def test_a_broken_promise_is_exit_code_1(ppdt, here, monkeypatch):
    def broken(*args, **kw):
        raise GuaranteeError("the smallest class has 1 row")

    monkeypatch.setattr(cli, "anonymize_file", broken)
    code, _, err = ppdt(*NO_OUT, "-o", "out.csv")
    assert code == 1 and is_one_line(err)


def test_a_bug_is_told_in_one_line(ppdt, here, monkeypatch):
    def broken(*args, **kw):
        return {}["x"]

    monkeypatch.setattr(cli, "anonymize_file", broken)
    code, _, err = ppdt(*NO_OUT, "-o", "out.csv")
    assert code == 2 and is_one_line(err) and "KeyError" in err and "report" in err
    monkeypatch.setenv("PPDT_DEBUG", "1")
    with pytest.raises(KeyError):
        ppdt(*NO_OUT, "-o", "out.csv")


# ---------------------------------------------------------------- what works


def numbers(out):
    """What was measured; the truth of cells can only be told in the owner's order of rows"""
    return "".join(
        o for o in out[out.index("k measured") :].splitlines(True) if not o.startswith("truthful")
    )


def test_constraints_modes_and_taxonomies(ppdt, here):
    code, out, err = ppdt(
        *NO_OUT,
        "--class",
        "Bought",
        "--k",
        3,
        "--l-diversity",
        2,
        "--alpha",
        0.8,
        "--mode",
        "relaxed",
        "-o",
        "a.csv",
    )
    assert code == 0 and not err and "distinct 2-diversity of 'Bought'" in out and "holds" in out
    code, out, _ = ppdt("audit", "a.csv", "--k", 3, "--l-diversity", 2)
    assert code == 0 and "distinct 2-diversity of 'Bought'" in out
    code, out, _ = ppdt("audit", "a.csv", "--k", 3, "--alpha", 0.1)
    assert code == 1 and "DOES NOT HOLD" in out and "a share of at most 0.1" in out
    (here / "m.csv").write_text("Married;anybody\nNot Married;anybody\n")
    code, out, err = ppdt(
        *NO_OUT,
        "--class",
        "Bought",
        "--k",
        8,
        "--mode",
        "infogain",
        "--taxonomy",
        "Marital=m.csv",
        "-o",
        "b.csv",
    )
    assert code == 0 and not err and "<anybody>" in (here / "b.csv").read_text()
    assert read_release("b.csv").taxonomies["Marital"].values == ("Married", "Not Married")
    code, out, _ = ppdt("audit", "b.csv", "--k", 8, "--original", "customers.csv")
    assert code == 0 and "GCP" in out and "cannot be measured" not in out


def test_numbers_as_secrets_have_an_order(ppdt, here):
    pd.DataFrame({"q": list("aabb"), "pay": [9, 10, 9, 10]}).to_csv("pay.csv", index=False)
    code, out, _ = ppdt("audit", "pay.csv", "--qi", "q", "--sensitive", "pay", "--t-closeness", 0)
    assert code == 0 and "ordered distance" in out


def test_what_two_releases_leave_of_k(ppdt, here):
    common = ("--qi", "Gender,Marital,Age", "--class", "Bought", "--identifiers", "customer")
    for k, out in ((3, "a.csv"), (7, "m.csv")):
        assert ppdt("anonymize", "customers.csv", "-o", out, "--k", k, *common)[0] == 0
    told = ppdt("audit", "a.csv", "--original", "customers.csv", "--against", "m.csv")
    assert told[0] == 0 and "2; below the promised k for 14.3% of people" in told[1]
    code, _, err = ppdt("audit", "a.csv", "--against", "m.csv")
    assert code == 2 and "--against needs --original" in err
    raw = ("--original", "customers.csv", "--against", "customers.csv")
    code, _, err = ppdt("audit", "a.csv", *raw)
    assert code == 2 and "must be a release with its schema" in err


def test_an_original_that_is_a_release(ppdt, here):
    assert ppdt(*NO_OUT, "--class", "Bought", "-o", "out.csv")[0] == 0
    code, _, err = ppdt("audit", "out.csv", "--original", "out.csv")
    assert code == 2 and is_one_line(err) and "release itself" in err


def test_wishes_that_ask_for_nothing_are_noted(ppdt, here):
    code, out, _ = ppdt(*NO_OUT, "--class", "Bought", "--k", 1, "--l-diversity", 1, "-o", "out.csv")
    assert (
        code == 0
        and "--k 1 lets a person be found" in out
        and "--l-diversity 1 asks for nothing" in out
    )


def test_persons_and_who_stands_out(ppdt, here):
    pd.DataFrame({"age": ["30-40"] * 6, "who": ["Ann"] * 4 + ["Bob", "Cleo"]}).to_csv(
        "visits.csv", index=False
    )
    assert (
        "k measured            3"
        in ppdt("audit", "visits.csv", "--qi", "age", "--person", "who")[1]
    )
    pd.concat([load_customers()] * 2).reset_index().to_csv("twice.csv", index=False)
    code, out, _ = ppdt("audit", "twice.csv", "--qi", QI, "--person", "customer", "--stand-out")
    assert (
        code == 0
        and "alone in their class  14" in out
        and "INTERNAL: 28 rows stand alone" in out
        and "row 1 " in out
        and "row 0" not in out
    )
    code, out, _ = ppdt("audit", "customers.csv", "--qi", QI, "--stand-out")
    assert (
        code == 0
        and "INTERNAL" in out
        and "INTERNAL" not in ppdt("audit", "customers.csv", "--qi", QI)[1]
    )


@pytest.mark.parametrize("end", ["csv", "parquet"])
@pytest.mark.parametrize("recoding", ["set", "interval", "ends", "region"])
def test_anonymize_then_audit_gives_the_same_numbers(end, recoding, ppdt, here):
    code, out, err = ppdt(
        *NO_OUT,
        "--class",
        "Bought",
        "--k",
        3,
        "--recoding",
        recoding,
        "-o",
        f"out.{end}",
    )
    assert code == 0 and not err
    assert (
        "Gender (categorical), Marital (categorical), Age (numeric)" in out
        and f"out.{end}" in out
        and f"out.{end}.schema.json" in out
    )
    code, again, err = ppdt("audit", f"out.{end}", "--k", 3, "--original", "customers.csv")
    assert code == 0 and not err and numbers(again) == numbers(out)
    assert ppdt("audit", f"out.{end}", "--k", 14)[0] == 1
    code, out, _ = ppdt("audit", f"out.{end}")
    assert code == 0 and "k = 3: holds" in out


def test_csv_and_parquet_agree(ppdt, here):
    pd.read_csv("customers.csv", dtype=str).to_parquet("same.parquet")
    for source, out in (
        ("customers.csv", "a.csv"),
        ("customers.csv", "b.parquet"),
        ("same.parquet", "c.csv"),
        ("same.parquet", "d.parquet"),
    ):
        words = [*NO_OUT, "--class", "Bought", "--k", 3, "-o", out]
        assert ppdt(words[0], source, *words[2:])[0] == 0
    a = read_text("a.csv")
    assert all(a.equals(read_text(o)) for o in ("b.parquet", "c.csv", "d.parquet"))
    assert (here / "a.csv").read_bytes() == (here / "c.csv").read_bytes()
    assert schema_of(here / "a.csv") == schema_of(here / "d.parquet")


def test_the_release_is_that_of_the_library(ppdt, here):
    from ppdt.mondrian import MondrianAnonymizer

    assert (
        ppdt(
            "anonymize",
            "customers.csv",
            "--qi",
            QI,
            "--class",
            "Bought",
            "--identifiers",
            "customer",
            "--k",
            3,
            "-o",
            "out.csv",
        )[0]
        == 0
    )
    t = load_customers()
    MondrianAnonymizer(k=3, quasi_identifiers=QI.split(",")).anonymize(
        t.drop(columns="Bought"), t.Bought
    ).to_csv("lib.csv")
    assert (here / "out.csv").read_bytes() == (here / "lib.csv").read_bytes()
    assert schema_of(here / "out.csv") == schema_of(here / "lib.csv")


def test_nothing_is_guessed_from_text(ppdt, here):
    """Leading zeros, country NA, words like true, spaces and signs of cells stay what they are"""
    rows = [
        ("01032", "NA", "true", "*"),
        ("01132", "null", "1.0", "{a, b}"),
        ("02113", "NaN", " x ", "?"),
        ("02113", "FR", "", "[1, 2]"),
    ]
    pd.DataFrame(rows, columns=["zip", "country", "note", "odd"]).to_csv("people.csv", index=False)
    assert (
        ppdt(
            "anonymize",
            "people.csv",
            "--qi",
            "zip",
            "--class",
            "country",
            "--publish",
            "note",
            "--publish",
            "odd",
            "--k",
            2,
            "-o",
            "out.csv",
        )[0]
        == 0
    )
    r = read_release("out.csv")
    assert sorted(r.y) == ["FR", "NA", "NaN", "null"]
    assert sorted(r.data.note.fillna("")) == ["", " x ", "1.0", "true"] and sorted(
        r.data.odd
    ) == sorted(o[3] for o in rows)
    assert set(read_text("out.csv").zip) == {"{01032, 01132}", "02113"}


def test_kinds(ppdt, here):
    pd.DataFrame(
        {"zip": ["10115", "80331", "20095", "50667"], "code": ["007", "008", "009", "010"]}
    ).to_csv("people.csv", index=False)
    words = ["anonymize", "people.csv", "--qi", "zip,code", "--k", 2, "-o", "out.csv"]
    assert "zip (numeric), code (categorical)" in ppdt(*words)[1]
    assert (
        "zip (categorical), code (numeric)"
        in ppdt(*words, "--categorical", "zip", "--numeric", "code")[1]
    )
    assert [
        o["kind"] for o in json.loads((here / "out.csv.schema.json").read_text())["columns"]
    ] == [
        "categorical",
        "numeric",
    ]


def test_note_about_a_word_among_numbers(ppdt, here):
    (here / "people.csv").write_text("age,mail\n30,a\n31,b\nabout 40,c\n33,d\n")
    words = ["anonymize", "people.csv", "--qi", "age", "--publish", "mail", "--k", 2]
    code, out, err = ppdt(*words, "-o", "out.csv")
    assert code == 0 and not err and "row 3 after the header holds 'about 40'" in out
    assert "'mail' is published untouched" in out


def test_note_about_a_column_that_tells_a_qi(ppdt, here):
    (here / "people.csv").write_text("edu,num,x\n" + "BA,13,1\nBA,13,2\nMA,14,1\nMA,14,2\n" * 2)
    words = ["anonymize", "people.csv", "--qi", "edu", "--publish", "num,x", "--k", 8]
    out = ppdt(*words, "-o", "out.csv")[1]
    assert "'num' is published untouched and gives 'edu' away" in out and "'x'" not in out


@pytest.mark.parametrize("rule, rows", [("drop", 4), ("category", 5)])
def test_missing(rule, rows, ppdt, here):
    (here / "people.csv").write_text("age,sex\n30,f\n31,f\n,m\n33,m\n34,m\n")
    code, out, err = ppdt(
        "anonymize", "people.csv", "--qi", "age,sex", "--k", 2, "--missing", rule, "-o", "out.csv"
    )
    assert code == 0 and not err and f"out.csv ({rows} rows)" in out
    t = read_text("out.csv")
    assert (
        len(t) == rows
        and ('"missing"' in "".join(t.age)) == (rule == "category")
        and ".0" not in "".join(t.age)
    )
    assert ("lost rows             1" in out) == (rule == "drop")
    again = ppdt("audit", "out.csv", "--k", 2, "--original", "people.csv")[1]
    assert ("lost rows             1" in again) == (rule == "drop")


def test_names_with_commas_and_repeated_options(ppdt, here):
    pd.DataFrame(
        {"city, state": ["a", "b", "c", "d"], 'a"b': ["1", "2", "3", "4"], "é": ["x"] * 4}
    ).to_csv("people.csv", index=False)
    code, out, err = ppdt(
        "anonymize",
        "people.csv",
        "--qi",
        '"city, state"',
        "--qi",
        '"a""b",é',
        "--k",
        2,
        "-o",
        "out.csv",
    )
    assert code == 0 and not err
    assert read_release("out.csv").roles.quasi_identifiers == ("city, state", 'a"b', "é")


def test_an_existing_file_is_replaced_and_told(ppdt, here):
    assert "wrote out.csv" in ppdt(*NO_CLASS, "--k", 3, "-o", "out.csv")[1]
    first = (here / "out.csv").read_bytes()
    assert "replaced out.csv" in ppdt(*NO_CLASS, "--k", 7, "-o", "out.csv")[1]
    assert (here / "out.csv").read_bytes() != first
    assert sorted(files(here)) == ["customers.csv", "out.csv", "out.csv.schema.json"]


def test_audit_of_a_foreign_file(ppdt, here):
    (here / "other.csv").write_text(
        'age,zip,x\n20-30,1**,a\n20-30,1**,b\n"[30, 40]",2**,c\n"[30, 40]",2**,d\n'
    )
    asked = "audit", "other.csv", "--qi", "age,zip", "--k", 2
    code, out, err = ppdt(*asked, "--format", "ppdt")
    assert code == 0 and not err and "cells are taken as text" in out and "loss" not in out
    for format in ((), ("--format", "arx")):
        code, out, err = ppdt(*asked, *format)
        assert code == 0 and not err and "zip holds nodes; give their whole taxonomies with" in out
        assert ("cells were guessed: 'age' as numbers" in out) == (not format)
        assert ("read as arx writes it" in out) == bool(format)
    assert ppdt("audit", "other.csv", "--qi", "age,zip,x", "--k", 2)[0] == 1
    assert ppdt("audit", "other.csv", "--qi", "age,zip,x")[0] == 0


def test_audit_reads_cells_where_told(ppdt, here):
    assert ppdt(*NO_OUT, "--class", "Bought", "--k", 3, "-o", "out.csv")[0] == 0
    known = ppdt("audit", "out.csv", "--k", 3, "--original", "customers.csv")[1]
    (here / "out.csv.schema.json").unlink()
    code, told, _ = ppdt(
        "audit",
        "out.csv",
        "--qi",
        QI,
        "--numeric",
        "Age",
        "--categorical",
        "Gender,Marital",
        "--k",
        3,
        "--original",
        "customers.csv",
        "--class",
        "Bought",
    )
    # only a schema tells by which method, hence that sets list what somebody has
    known = "".join(o for o in known.splitlines(True) if not o.startswith("singled out"))
    assert code == 0 and numbers(told) == numbers(known)


def test_audit_of_the_wrong_original(ppdt, here):
    assert ppdt(*NO_CLASS, "--k", 3, "-o", "out.csv")[0] == 0
    load_customers().head(5).to_csv("few.csv", index=False)
    code, _, err = ppdt("audit", "out.csv", "--original", "few.csv")
    assert code == 2 and is_one_line(err) and "few.csv with 5 rows" in err


def test_class_can_be_a_qi_of_an_audit(ppdt, here):
    assert ppdt(*NO_OUT, "--class", "Bought", "--k", 3, "-o", "out.csv")[0] == 0
    code, out, _ = ppdt("audit", "out.csv", "--qi", QI + ",Bought", "--k", 3)
    assert code == 1 and "DOES NOT HOLD" in out


# ---------------------------------------------------------------- as a program


@pytest.mark.parametrize("how", ["-m", "script"])
def test_help_and_version(how, tmp_path):
    r = program(how=how, cwd=tmp_path)
    assert r.returncode == 0 and not r.stderr
    assert all(o in r.stdout for o in ("profile", "anonymize", "audit", "plan.toml"))
    assert program("--help", how=how, cwd=tmp_path).stdout == r.stdout
    v = program("--version", how=how, cwd=tmp_path)
    assert v.returncode == 0 and re.fullmatch(r"ppdt \d+\.\d+\.\d+\n", v.stdout)


@pytest.mark.parametrize("command", ["demo", "anonymize", "audit", "compare"])
def test_help_of_a_command(command, capsys):
    assert cli.main([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert "examples:" in out and "--k" in out and f"usage: ppdt {command}" in out


def test_help_imports_nothing_heavy():
    code = (
        "import sys, ppdt.cli; ppdt.cli.main(['anonymize', '--help']); print([m for m in ('numpy',"
        " 'pandas', 'sklearn', 'matplotlib') if m in sys.modules])"
    )
    r = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert r.stdout.endswith("[]\n"), r.stdout[-200:] + r.stderr


def test_exit_codes_of_the_program(here):
    r = program("audit", "customers.csv", "--qi", QI, "--k", 2, how="script")
    assert (r.returncode, r.stderr) == (1, "") and "DOES NOT HOLD" in r.stdout
    r = program("audit", "customers.csv", "--qi", "nothing")
    assert r.returncode == 2 and not r.stdout and is_one_line(r.stderr)


def test_ascii_terminals(here):
    (here / "people.csv").write_text("größe\n1\n1\n", encoding="utf-8")
    r = program(
        "audit",
        "people.csv",
        "--qi",
        "größe",
        how="-m",
        env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C.UTF-8"},
    )
    assert r.returncode == 0 and not r.stderr and r"gr\xf6\xdfe" in r.stdout


@pytest.mark.skipif(os.name == "nt", reason="pipes and signals of Unix")
def test_a_reader_that_has_gone(here):
    read, write = os.pipe()
    os.close(read)
    r = subprocess.run(
        [sys.executable, "-m", "ppdt.cli", "audit", "customers.csv", "--qi", QI],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(write)
    assert r.returncode == 141 and r.stderr == ""


@pytest.mark.skipif(os.name == "nt", reason="pipes and signals of Unix")
def test_interrupted(here):
    # a shell's background jobs ignore it, and so would their children
    heed = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    p = subprocess.Popen(
        [sys.executable, "-m", "ppdt.cli", "demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed,
    )
    p.stdout.readline()  # the first line is printed before the work
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=120)
    assert p.returncode == 130 and not (here / "ppdt-demo").exists()
    assert err == "ppdt: stopped; no file was left half written\n"


# ---------------------------------------------------------------- the demonstration


class Page(HTMLParser):
    "Tags of a page, and which are left open"

    void = {"meta", "img", "br", "hr", "wbr"}

    def __init__(self, text):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes nothing"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demonstration, run once as a program: (folder, what it printed)"""
    folder = tmp_path_factory.mktemp("demo")
    r = program("demo", cwd=folder)
    assert r.returncode == 0 and not r.stderr, r.stderr
    return folder, r.stdout


def test_demo_table(demo):
    folder, out = demo
    row = lambda label: re.search(rf"^{label}.*?(\S+(?: %)?)  +(\S+(?: %)?)$", out, re.M).groups()
    assert (
        row("k asked")[1] == "5" and int(row("k measured")[1]) >= 5 and row("k measured")[0] == "1"
    )
    assert (
        0 < float(row(r"loss \(GCP, form size")[1]) < 1
        and int(row("groups")[1].replace(",", "")) > 100
    )
    before, after, majority = (
        float(o.split()[0]) for o in (*row("accuracy of the tree"), row("accuracy of always")[0])
    )
    assert after > majority + 3 and before > majority + 3


def test_demo_files(demo):
    folder, out = demo
    assert sorted(files(folder)) == [
        "ppdt-demo/release.csv",
        "ppdt-demo/release.csv.schema.json",
        "ppdt-demo/report.html",
    ]
    assert all(
        o in out
        for o in (
            "report.html",
            "release.csv",
            "release.csv.schema.json",
            "INTERNAL",
            "PUBLIC",
            "Next",
        )
    )
    r = read_release(folder / "ppdt-demo/release.csv")
    assert r.audit.k >= 5 and len(r.data) == 10_000 and r.y.name == "income"
    assert f"{r.audit.n_classes:,}" in out


def test_demo_report(demo):
    folder, out = demo
    text = (folder / "ppdt-demo/report.html").read_text("utf-8")
    page = Page(text)
    assert not page.open and ("html", {"lang": "en"}) in page.tags
    images = [a for t, a in page.tags if t == "img"]
    assert len(images) == 2 and all(
        len(a["alt"]) > 40 and a["src"].startswith("data:image/svg+xml;base64,") for a in images
    )
    assert (
        not [a for t, a in page.tags if t in ("script", "link", "iframe", "object")]
        and "url(" not in text
        and "@import" not in text
    )
    assert "INTERNAL" in text[:4000] and len(text) < 1_000_000
    assert not re.search(r"\d{4}-\d\d-\d\d", re.sub(r'src="[^"]*"', "", text)), "no date"


def test_demo_is_deterministic(demo, here, capsys):
    assert cli.main(["demo"]) == 0
    assert files(here / "ppdt-demo") == files(demo[0] / "ppdt-demo")
    assert capsys.readouterr().out == demo[1]


def test_demo_adult(here, data_dir, monkeypatch):
    d = cli.demo_data("adult")
    assert (len(d.train), len(d.test)) == (30_162, 15_060) and d.train.columns[-1] == "income"
    monkeypatch.setattr(demo_of_cli, "KS", (50,))
    res = cli.run_demo(d, 50)
    assert res.release.audit.k >= 50 and res.curve["all members"][50] > res.majority + 0.03
    page = Page(cli.demo_page(d, res))
    assert not page.open and "CC BY 4.0" in cli.demo_page(d, res)


# ---------------------------------------------------------------- any list, any file


@given(
    st.lists(
        st.text(
            st.characters(blacklist_categories=("Cs",), blacklist_characters="\r\n\0"),
            min_size=1,
            max_size=8,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_column_lists_round_trip(names):
    text = ",".join('"' + o.replace('"', '""') + '"' for o in names)
    assert cli.column_list(text) == names


@given(st.binary(max_size=60))
def test_any_bytes_give_an_exit_code(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "bytes.csv"
    path.write_bytes(data)
    assert cli.main(["audit", str(path), "--qi", "a"]) in (0, 2)


def test_audit_warns_of_an_identifier_left_in(tmp_path, capsys):
    (tmp_path / "p.csv").write_text(
        "name,age\n" + "".join(f"n{i},{20 + i // 5}\n" for i in range(20))
    )
    assert (
        cli.main(
            [
                "anonymize",
                str(tmp_path / "p.csv"),
                "--qi",
                "age",
                "--publish",
                "name",
                "--k",
                "5",
                "-o",
                str(tmp_path / "o.csv"),
            ]
        )
        == 0
    )
    capsys.readouterr()
    assert cli.main(["audit", str(tmp_path / "o.csv"), "--k", "5"]) == 0
    assert "warning" in (out := capsys.readouterr().out) and "'name'" in out


def test_loss_is_the_same_when_rows_were_dropped(tmp_path, capsys):
    """Both measure against all of the original, a dropped extreme included"""
    (tmp_path / "p.csv").write_text(
        "age,zip\n" + "".join(f"{20 + i},{10000 + i % 7}\n" for i in range(40)) + "99,\n"
    )
    assert (
        cli.main(
            [
                "anonymize",
                str(tmp_path / "p.csv"),
                "--qi",
                "age,zip",
                "--missing",
                "drop",
                "-o",
                str(tmp_path / "o.csv"),
            ]
        )
        == 0
    )
    first = [o for o in capsys.readouterr().out.splitlines() if o.startswith("loss")]
    assert (
        cli.main(
            ["audit", str(tmp_path / "o.csv"), "--k", "5", "--original", str(tmp_path / "p.csv")]
        )
        == 0
    )
    assert first and first == [
        o for o in capsys.readouterr().out.splitlines() if o.startswith("loss")
    ]


def test_a_tree_says_what_to_suppress(ppdt, tmp_path):
    code, out, err = ppdt(*NO_OUT, "--class", "Bought", "--k", 3, "--mode", "kactus", "-o", "k.csv")
    assert (
        code == 0
        and not err
        and "lost (fewer than k=3)" in out
        and "k-anonymity with k = 3: holds" in out
    )
    code, out, err = ppdt(*NO_OUT, "--k", 3, "--mode", "kactus", "-o", "k.csv")
    assert code == 2 and "--mode kactus must have the class that its tree predicts" in err


def test_tiers_by_a_tree(ppdt, tmp_path):
    code, out, err = ppdt(*NO_OUT, "--class", "Bought", "--k", 3, "--mode", "erp", "-o", "e.csv")
    assert (
        code == 0
        and not err
        and "k-concealment with k = 3: holds" in out
        and "not equally likely" in out
    )
    code, out, err = ppdt(*NO_OUT, "--k", 3, "--mode", "erp", "-o", "e.csv")
    assert code == 2 and "--mode erp must have the class that its tree predicts" in err
    code, out, err = ppdt(
        *NO_OUT, "--class", "Bought", "--k", 3, "--mode", "erp", "--alpha", ".9", "-o", "e.csv"
    )
    assert code == 2 and "--alpha cannot be used with --mode erp" in err


def test_one_level_for_each_column(ppdt, here):
    lines = [f"{o};{o // 20 * 20} to {o // 20 * 20 + 19};any age\n" for o in range(100)]
    (here / "age.csv").write_text("".join(lines))
    lattice = [*NO_OUT, "--class", "Bought", "--k", 3, "--mode", "lattice"]
    tree = ["--taxonomy", "Age=age.csv"]
    code, out, err = ppdt(*lattice, *tree, "-o", "l.csv")
    assert code == 0 and not err and "k-anonymity with k = 3: holds" in out
    assert (here / "l.csv").read_text().count("<any age>") == 14
    code, out, err = ppdt(*lattice, *tree, "--suppress", 0.5, "-o", "l.csv")
    assert code == 0 and not err and "holds" in out
    assert ppdt("audit", "l.csv", "--k", 3)[0] == 0
    code, out, err = ppdt(*lattice, "--recoding", "interval", "-o", "l.csv")
    assert code == 2 and "--recoding interval cannot be used with --mode lattice" in err
    for mode, recoding in (("cluster", "region"), ("kactus", "ends"), ("erp", "region")):
        grown = [o if o != "lattice" else mode for o in lattice]
        code, out, err = ppdt(*grown, "--recoding", recoding, "-o", "l.csv")
        assert code == 2 and f"--recoding {recoding} cannot be used with --mode {mode}" in err
    code, out, err = ppdt(*NO_OUT, "--k", 3, "--mode", "mdav", "--suppress", 0.1, "-o", "l.csv")
    assert code == 2 and "--suppress must be used with --mode strict" in err


def test_rows_dropped_are_not_rows_lost(tmp_path, capsys):
    (tmp_path / "p.csv").write_text(
        "age,zip,ill\n"
        + "".join(f"{20 + i},{10000 + i % 7},{'yes' if i % 3 else 'no'}\n" for i in range(40))
        + ",10001,no\n" * 9
    )
    assert (
        cli.main(
            [
                "anonymize",
                str(tmp_path / "p.csv"),
                "--qi",
                "age,zip",
                "--class",
                "ill",
                "--mode",
                "kactus",
                "--k",
                "3",
                "--missing",
                "drop",
                "-o",
                str(tmp_path / "o.csv"),
            ]
        )
        == 0
    )
    out = capsys.readouterr().out
    assert "9 rows dropped" in out and any(
        f"{n} row{'s' * (n != 1)} lost (fewer than k=3)" in out for n in range(3)
    )
