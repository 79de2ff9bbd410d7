"""Files as offices have them: whatever form a table is written in, it is read back as it was, and
what was guessed about the form is true and told; what may be read in two ways is asked for.
"""

import csv
import gzip
import io
import json
import os
import sys
from datetime import date, datetime

import pandas as pd
import pytest
import ready
from examples import one_in
from hypothesis import example, given, strategies as st

from ppdt import cli
from ppdt.engine.date_texts import date_form, date_words, form_of_words, read_dates
from ppdt.engine.office_files import FileForm, read_office
from ppdt.release import read_release
from ppdt.tables import TextFormError, read_text, schema_path, trusted


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("office")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PPDT_DEBUG", raising=False)
    return tmp_path


@pytest.fixture
def ppdt(here, capsys):
    """Calls main with a list of words: (exit code, stdout, stderr)"""

    def call(*words):
        capsys.readouterr()
        code = cli.main([str(o) for o in words])
        return code, *capsys.readouterr()

    return call


def written(t, sep, encoding, line="\n"):
    """A table as the bytes of a CSV file"""
    file = io.StringIO(newline="")
    out = csv.writer(file, delimiter=sep, lineterminator=line)
    out.writerow(t.columns)
    out.writerows(t.itertuples(index=False))
    return file.getvalue().encode(encoding)


# ---------------------------------------------------------------- forms

words = st.text("abzäöüßéÄ ", min_size=1, max_size=6).map(str.strip).filter(bool)
numbers = st.integers(-3000, 3_000_000).map(lambda o: f"{o / 100:.2f}")
rows = st.lists(st.tuples(words, numbers, st.integers(0, 99).map(str)), min_size=2, max_size=8)
encodings = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])


@one_in(2)
@given(
    rows=rows,
    sep=st.sampled_from(",;\t|"),
    encoding=encodings,
    line=st.sampled_from(["\n", "\r\n"]),
    commas=st.booleans(),
    packed=st.booleans(),
)
@example(
    rows=[("ü", "12.50", "1"), ("é", "-0.01", "2")],
    sep=";",
    encoding="cp1252",
    line="\r\n",
    commas=True,
    packed=False,
)
def test_any_form_is_read_back(folder, rows, sep, encoding, line, commas, packed):
    t = pd.DataFrame(rows, columns=["name", "pay", "n"], dtype=object)
    commas = commas and sep != ","
    shown = t.assign(pay=t.pay.str.replace(".", ",")) if commas else t
    data = written(shown, sep, encoding, line)
    path = folder / ("people.txt.gz" if packed else "people.csv")
    path.write_bytes(gzip.compress(data) if packed else data)
    file = read_office(path)
    assert file.table.equals(t), file.table
    assert file.form.sep == sep and file.form.decimal == ("," if commas else ".")
    plain = encoding in ("utf-8", "cp1252") and data.isascii()
    assert file.form.encoding == ("utf-8" if plain else encoding)
    notes = " ".join(file.notes)
    assert ("decimal commas (pay)" in notes) == commas
    assert ("between fields" in notes) == (sep != ",")
    assert ("cp1252" in notes) == (encoding == "cp1252" and not plain)
    # who says what was found reads the same, and is told nothing
    again = read_office(path, file.form)
    assert again.table.equals(t) and again.form == file.form
    assert not any("between" in o or "cp1252" in o for o in again.notes)


@given(data=st.binary(max_size=60), end=st.sampled_from([".csv", ".csv.gz", ".xlsx"]))
def test_any_bytes_are_read_or_refused(folder, data, end):
    path = folder / f"odd{end}"
    path.write_bytes(data)
    try:
        read_office(path)
    except TextFormError as e:
        assert path.name in str(e) and "\n" not in str(e)


@one_in(2)
@given(rows=st.lists(st.tuples(words, words), min_size=1, max_size=5), gap=st.integers(1, 3))
def test_a_sheet_is_read_back(folder, rows, gap):
    import openpyxl

    book = openpyxl.Workbook()
    book.active.title = "Daten"
    for row in [("a", "b"), *rows]:
        book.active.append(row)
    book.create_sheet("leer")
    book.active.cell(len(rows) + 1 + gap, 5).fill = openpyxl.styles.PatternFill("solid")
    book.save(folder / "people.xlsx")
    file = read_office(folder / "people.xlsx")
    assert file.table.to_numpy().tolist() == [list(o) for o in rows]
    assert file.form.sheet == "Daten" and file.notes == ["people.xlsx: sheet 'Daten'"]


def test_what_a_cell_of_a_sheet_holds(folder):
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["zip", "born", "pay", "seen"])
    sheet.append([1067, date(1962, 2, 1), 0.1, datetime(2020, 1, 2, 3, 4)])
    sheet["A2"].number_format = "00000"
    sheet["B2"].number_format = "dd.mm.yyyy"
    book.save(folder / "cells.xlsx")
    table = read_office(folder / "cells.xlsx").table
    assert table.to_numpy().tolist() == [["01067", "1962-02-01", "0.1", "2020-01-02T03:04:00"]]


REFUSED = {  # name: (bytes of x.csv, what the message must say)
    "two separators": (b"a,x;b\n1,1;2\n3,1;4\n", "sep=',' or sep=';'"),
    "cp850": ("ort\nKöln\nJena\n".encode("cp850"), "encoding='cp850'"),
    "a spoilt byte in UTF-8": ("ort\nKöln\nMünchen\n".encode() + b"\xff\n", "encoding="),
    "control signs": (b"ort\nK\xf6ln\x01\n", "encoding="),
    "thousands or decimals": (b"a;b\n1,234;x\n2,500;y\n", "1234 or 1.234"),
    "points in a file of commas": (b"a;b\n1.234;1,5\n2.500;2,5\n", "1234 or 1.234"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_mean_two_things_is_asked_for(folder, name):
    data, says = REFUSED[name]
    (folder / "x.csv").write_bytes(data)
    with pytest.raises(TextFormError) as e:
        read_office(folder / "x.csv")
    assert says in str(e.value), e.value


def test_an_answer_to_the_question_is_taken(folder):
    path = folder / "x.csv"
    path.write_bytes(REFUSED["points in a file of commas"][0])
    assert read_office(path, FileForm(decimal=",")).table.a.tolist() == ["1234", "2500"]
    assert read_office(path, FileForm(decimal=".")).table.a.tolist() == ["1.234", "2.500"]
    path.write_bytes(REFUSED["two separators"][0])
    assert list(read_office(path, FileForm(sep=";")).table) == ["a,x", "b"]
    path.write_bytes(REFUSED["cp850"][0])
    assert read_office(path, FileForm(encoding="cp850")).table.ort.tolist() == ["Köln", "Jena"]


def test_odd_habits_of_spreadsheets(folder):
    path = folder / "x.csv"
    path.write_bytes(b"sep=;\r\na;b;\r\n1;2;\r\n3;;\r\n")
    file = read_office(path)
    assert file.table.to_dict("list") == {"a": ["1", "3"], "b": ["2", ""]}
    path.write_bytes(b"a;b\n-9;x\nn/a;-9\n")
    file = read_office(path, FileForm(missing=("-9", "n/a", "?")))
    assert file.table.to_dict("list") == {"a": ["", ""], "b": ["x", ""]}
    assert any("'?'" in o for o in file.notes)


# ---------------------------------------------------------------- limits


def test_a_packed_bomb_stops(folder):
    path = folder / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"a\n" + b"1\n" * 5_000_000, 9))
    assert path.stat().st_size < 100_000
    with trusted(file_bytes=1_000_000), pytest.raises(TextFormError, match="unpacked"):
        read_office(path)


@pytest.mark.parametrize("limit", ["rows", "fields", "columns", "cell_length", "unpacked_bytes"])
def test_limits_hold_for_workbooks(folder, limit):
    import openpyxl

    book = openpyxl.Workbook()
    for row in (["a", "b"], *[["1", "abcd"]] * 3):
        book.active.append(row)
    book.save(folder / "small.xlsx")
    most = {"rows": 2, "fields": 5, "columns": 1, "cell_length": 3, "unpacked_bytes": 1000}[limit]
    with trusted(**{limit: most}), pytest.raises(TextFormError, match=limit):
        read_office(folder / "small.xlsx")
    assert len(read_office(folder / "small.xlsx").table) == 3


# ---------------------------------------------------------------- dates

FORMS = ["%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d", "%d.%m.%Y %H:%M", "%Y-%m-%dT%H:%M:%S"]
times = st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31)).map(
    lambda o: o.replace(microsecond=0)
)


@given(days=st.lists(times, min_size=1, max_size=6), form=st.sampled_from(FORMS))
def test_dates_are_read_back(days, form):
    texts = [o.strftime(form) for o in days]
    assert date_form([*texts, ""]) == form and form_of_words(date_words(form)) == form
    read = read_dates(texts, form, "born")
    again = [datetime.strptime(o, form) for o in texts]
    assert read.tolist() == pd.Series(again, dtype="datetime64[s]").tolist()


@given(
    days=st.lists(times, min_size=1, max_size=6), american=st.booleans(), sep=st.sampled_from("/-")
)
def test_day_and_month_are_not_mixed_up(days, american, sep):
    form = f"%m{sep}%d{sep}%Y" if american else f"%d{sep}%m{sep}%Y"
    texts = [o.strftime(form) for o in days]
    found = date_form(texts)
    assert found in (form, None)
    assert (found is None) == all(o.day <= 12 for o in days)


@given(texts=st.lists(st.text(max_size=12), max_size=5))
def test_no_text_breaks_the_search_for_dates(texts):
    form = date_form(texts)
    if form is not None:
        assert len(read_dates(texts, form, "x")) == len(texts)


HOSPITAL = (
    "name;geburt;plz;pay\r\nMüller;01.02.1962;01067;2.500,50\r\nJäger;03.04.1934;01069;900\r\n"
    "Schäfer;11.12.1981;01067;-9\r\nWolf;12.01.1971;01069;1.000,75\r\n"
)
ROLES = ["--qi", "geburt,plz", "--identifiers", "name", "--publish", "pay", "--k", "2"]


def measured(out):
    """What was measured, from the promise on, except what only the owner's order of rows tells"""
    lines = out[out.index("promise") :].splitlines()
    return [o for o in lines if not o.startswith("truthful")]


@pytest.mark.parametrize("recoding", ["set", "interval", "ends", "region"])
@pytest.mark.parametrize("mode", ["strict", "relaxed", "cluster"])
def test_dates_are_cut_published_and_measured_as_dates(ppdt, here, mode, recoding):
    if (mode, recoding) == ("cluster", "region"):
        return
    (here / "in.csv").write_bytes(HOSPITAL.encode("cp1252"))
    how = ["--mode", mode, "--recoding", recoding]
    code, out, err = ppdt("anonymize", "in.csv", *ROLES, *how, "-o", "out.csv")
    assert code == 0 and not err and "geburt (date)" in out and "dd.mm.yyyy" in out
    assert "cp1252 (such as Müller), ';' between fields, decimal commas (pay)" in out
    entry = json.loads(schema_path("out.csv").read_text())["columns"][0]
    assert entry["dtype"].startswith("datetime64") and entry["kind"] == "numeric"
    code, again, err = ppdt("audit", "out.csv", "--original", "in.csv")
    assert code == 0 and not err and measured(again) == measured(out)
    assert "in.csv: cp1252" in again
    if (mode, recoding) == ("strict", "interval"):
        cells = set(read_text("out.csv").geburt)
        assert cells == {"[1934-04-03, 1962-02-01]", "[1971-01-12, 1981-12-11]"}


@pytest.mark.parametrize("mode", ["infogain", "kactus", "erp", "lattice"])
def test_other_methods_take_dates(ppdt, here, mode):
    rows = [f"{1 + i:02}.0{1 + i % 9}.19{60 + i},{'ab'[i % 2]},{'xy'[i // 6]}" for i in range(12)]
    (here / "in.csv").write_text("\n".join(["born,sex,ill", *rows]) + "\n")
    words = ["--qi", "born,sex", "--class", "ill", "--k", "3", "--mode", mode]
    code, out, err = ppdt("anonymize", "in.csv", *words, "-o", "out.csv")
    assert code == 0 and not err and "born (date)" in out
    assert ppdt("audit", "out.csv", "--original", "in.csv")[0] == 0


def test_a_date_that_is_said(ppdt, here):
    (here / "in.csv").write_text("born,x\n" + "03/04/2020,1\n05/06/1999,2\n" * 2)
    words = ["anonymize", "in.csv", "--qi", "born", "--publish", "x", "--k", 2, "-o", "out.csv"]
    code, out, _ = ppdt(*words)
    assert code == 0 and "born (categorical)" in out and "dd/mm/yyyy or mm/dd/yyyy" in out
    code, _, err = ppdt(*words, "--date", "born")
    assert code == 2 and "--date born=dd/mm/yyyy" in err
    for form, cell in (("dd/mm/yyyy", "2020-04-03"), ("mm/dd/yyyy", "2020-03-04")):
        assert ppdt(*words, "--date", f"born={form}")[0] == 0
        assert cell in "".join(read_text("out.csv").born)
        assert ppdt("audit", "out.csv", "--original", "in.csv", "--date", f"born={form}")[0] == 0
    code, _, err = ppdt("audit", "out.csv", "--original", "in.csv")
    assert code == 2 and "--original must have dates in 'born'" in err
    assert "born (categorical)" in ppdt(*words, "--categorical", "born")[1]
    code, _, err = ppdt(*words, "--date", "born", "--categorical", "born")
    assert code == 2 and "--date and in --categorical" in err


# ---------------------------------------------------------------- the command


def program(*words, data=b""):
    """Runs the command as a program of its own, with standard input"""
    return ready.command(*words, data=data, text=False)


def test_standard_input_and_output(here):
    told = program("anonymize", "-", *ROLES, "-o", "-", data=HOSPITAL.encode("cp1252"))
    assert told.returncode == 0 and b"--schema FILE writes it" in told.stderr
    assert b"standard input: cp1252" in told.stderr and b"k measured" in told.stderr
    assert told.stdout.startswith(b"geburt,plz,pay\n") and not os.listdir(here)
    words = "anonymize", "-", *ROLES, "-o", "-", "--schema", "out.csv.schema.json"
    told = program(*words, data=HOSPITAL.encode())
    (here / "out.csv").write_bytes(told.stdout)
    assert sorted(os.listdir(here)) == ["out.csv", "out.csv.schema.json"]
    assert read_release("out.csv").audit.holds
    told = program("audit", "-", "--qi", "geburt,plz", "--k", 2, data=told.stdout)
    assert told.returncode == 0 and b"standard input: no schema beside it" in told.stdout
    told = program("audit", "-", "--qi", "a", "--original", "-", data=b"a\n1\n")
    assert told.returncode == 2 and b"Got it twice" in told.stderr


def test_a_release_is_the_same_whatever_form_its_table_had(ppdt, here):
    import openpyxl

    forms = {
        "a.csv": HOSPITAL.encode("cp1252"),
        "b.txt": HOSPITAL.replace(";", "\t").encode("utf-16"),
        "c.csv.gz": gzip.compress(HOSPITAL.encode()),
    }
    for name, data in forms.items():
        (here / name).write_bytes(data)
    book = openpyxl.Workbook()
    t = read_office("a.csv").table
    book.active.append(list(t))
    for row in t.itertuples(index=False):
        born = datetime.strptime(row.geburt, "%d.%m.%Y")
        book.active.append([row.name, born, row.plz, row.pay])
    book.save("d.xlsx")
    t.to_parquet("e.parquet")
    read = {}
    for name in (*forms, "d.xlsx", "e.parquet"):
        assert ppdt("anonymize", name, *ROLES, "-o", "out.csv")[0] == 0, name
        read[name] = (here / "out.csv").read_bytes()
        assert ppdt("audit", "out.csv", "--original", name)[0] == 0, name
    assert len(set(read.values())) == 1, read


SAID = {  # words after `anonymize in.csv ...`: what the message must say
    "--sep ;;": "--sep must be one sign",
    "--decimal x": "--decimal must be one of ',', '.'",
    "--encoding klingon": "--encoding must be the name of an encoding",
    "--encoding ascii": "as was said",
    "--sheet Daten": "--sheet must be left out for in.csv",
    "--date name": "--date must be COLUMN or COLUMN=FORM",
    "--date geburt=soon": "write for example dd.mm.yyyy",
    "--schema x.json": "--schema must come with -o -",
    "--sep ,": "--sep ';'",
    "--na": "--na must have a value",
}


@pytest.mark.parametrize("words", SAID)
def test_options_that_do_not_fit(ppdt, here, words):
    (here / "in.csv").write_bytes(HOSPITAL.encode("cp1252"))
    code, out, err = ppdt("anonymize", "in.csv", *ROLES, "-o", "out.csv", *words.split())
    assert code == 2 and not out and SAID[words] in err, err
    assert err.count("\n") == 1 and os.listdir(here) == ["in.csv"]


def test_missing_values_that_are_said(ppdt, here):
    (here / "in.csv").write_bytes(HOSPITAL.replace("01069;900", "-9,5;900").encode())
    words = ["anonymize", "in.csv", *ROLES, "-o", "out.csv", "--na", "-9,5,-9"]
    code, _, err = ppdt(*words)
    assert code == 0 and not err
    words[-1] = '"-9,5",-9'
    code, _, err = ppdt(*words)
    assert code == 2 and "--missing drop" in err
    assert ppdt(*words, "--missing", "drop")[0] == 0
    t = read_text("out.csv")
    assert len(t) == 3 and sorted(t.pay) == ["", "1000.75", "2500.50"]
    assert ppdt("audit", "out.csv", "--original", "in.csv", *words[-2:])[0] == 0


def test_a_release_that_a_spreadsheet_saved(ppdt, here):
    (here / "in.csv").write_bytes(HOSPITAL.encode())
    assert ppdt("anonymize", "in.csv", *ROLES, "-o", "out.csv")[0] == 0
    t = read_text("out.csv")
    (here / "out.csv").write_bytes(written(t, ";", "cp1252", "\r\n"))
    code, _, err = ppdt("audit", "out.csv")
    assert code == 2 and "changed since, perhaps by a spreadsheet" in err


# ---------------------------------------------------------------- taxonomies

TAXONOMY = "01067;010**;*\n01069;010**;*\n"
TREES = {  # name: (the file, what the message must say; None: it is read)
    "semicolons": (TAXONOMY, None),
    "commas": (TAXONOMY.replace(";", ","), None),
    "tabs": (TAXONOMY.replace(";", "\t"), None),
    "a header": ("PLZ;Region;alle\n" + TAXONOMY, "line 1 (PLZ;Region;alle) is a header"),
    "a header by its name": ("plz;Region;*\n" + TAXONOMY, "line 1 (plz;Region;*) is a header"),
    "a header with commas": ("PLZ,Region,alle\n" + TAXONOMY.replace(";", ","), "is a header"),
    "two parents": (
        TAXONOMY + "\n01097;010**;Dresden;*\n",
        "line 4 (01097;010**;Dresden;*) puts '010**' under 'Dresden'",
    ),
    "twice": (TAXONOMY * 2, "line 3 (01067;010**;*) repeats the leaf"),
    "nothing": ("", "must hold one line for each value"),
    "a quote": ('01067;"010;*\n', "a quote left open"),
}


@pytest.mark.parametrize("name", TREES)
def test_the_file_of_a_taxonomy(ppdt, here, name):
    text, says = TREES[name]
    (here / "in.csv").write_bytes(HOSPITAL.encode())
    (here / "plz.csv").write_text(text)
    words = ["anonymize", "in.csv", *ROLES, "-o", "out.csv", "--taxonomy", "plz=plz.csv"]
    code, _, err = ppdt(*words)
    if says is None:
        assert code == 0 and read_release("out.csv").taxonomies["plz"].height == 2
    else:
        assert code == 2 and err.startswith("ppdt: --taxonomy plz: plz.csv") and says in err, err


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("sep", ",;")
def test_ranges_of_arx_in_a_taxonomy(ppdt, here, sep, quote):
    label = f"{quote}[20,40[{quote}"
    lines = [sep.join([str(o), label, "*"]) for o in range(20, 40)]
    (here / "age.csv").write_text("\n".join(lines))
    (here / "in.csv").write_text("age\n" + "21\n23\n" * 3)
    words = ["anonymize", "in.csv", "--qi", "age", "--k", 4, "-o", "out.csv"]
    assert ppdt(*words, "--taxonomy", "age=age.csv")[0] == 0
    assert "[20,40[" in read_release("out.csv").taxonomies["age"].name
    (here / "age.csv").write_text("\n".join([*lines, sep.join(["old", "*"])]))
    code, _, err = ppdt(*words, "--taxonomy", "age=age.csv")
    assert code == 2 and f"age.csv, line 21 (old{sep}*)" in err and "'old' is not a number" in err


# ---------------------------------------------------------------- progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_for_terminals(here, monkeypatch):
    from ppdt.engine import command_progress

    (here / "in.csv").write_bytes(HOSPITAL.encode())
    monkeypatch.setattr(command_progress, "_FIRST", 0)
    seen = {}
    for kind in (Terminal, io.StringIO):
        monkeypatch.setattr(sys, "stderr", kind())
        assert cli.main(["anonymize", "in.csv", *ROLES, "-o", "out.csv"]) == 0
        seen[kind] = sys.stderr.getvalue()
    assert "grouping and measuring 4 rows" in seen[Terminal] and seen[io.StringIO] == ""
    assert seen[Terminal].endswith("\x1b[2K"), "something is left on the screen"
