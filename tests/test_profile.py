"""What is found in a file: a column of each kind is planted and must be found; the order of rows
and columns does not matter; no table makes it stumble; the command writes a plan whole or not.
"""

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from random_tables import ODD
from ready import command as program
from test_cli import here, is_one_line, ppdt  # noqa: F401

from ppdt.engine.column_facts import column_facts
from ppdt.engine.column_topics import TOPICS, topic_of
from ppdt.engine.messy_files import hospital_stays, staff_table, survey_answers
from ppdt.engine.missing_codes import missing_codes
from ppdt.engine.plans import plan_from_text, read_plan
from ppdt.engine.profile_findings import find_all
from ppdt.engine.profile_texts import column_table, profile_html, profile_text
from ppdt.engine.profiling import profile
from ppdt.engine.suggested_plans import codes_of_file, suggested_plan

# ---------------------------------------------------------------- messy files

TOWNS = {
    "50667": "Köln",
    "50668": "Köln",
    "10115": "Berlin",
    "01067": "Dresden",
    "80331": "München",
}


def days(rng, first, last, n, form="%d.%m.%Y"):
    "Texts of days between two"
    span = (pd.Timestamp(last) - pd.Timestamp(first)).days
    found = pd.Timestamp(first) + pd.to_timedelta(rng.integers(0, span, n), unit="D")
    return found.strftime(form).to_numpy()


def hospital(people=600, seed=0):
    "A discharge table: several stays a person, birth dates, post codes, ICD codes"
    rng = np.random.default_rng(seed)
    stays = rng.integers(1, 5, people)
    who = np.repeat(np.arange(people), stays)
    n = len(who)
    zips = rng.choice(list(TOWNS), people)
    admitted = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 360, n), unit="D")
    left = admitted + pd.to_timedelta(rng.integers(1, 20, n), unit="D")
    table = {
        "PatientenNr": [f"P{700000 + 37 * o}" for o in who],
        "Fallnummer": [str(o) for o in rng.permutation(n) + 9_000_000],
        "Nachname": [f"Name{chr(97 + o % 26)}{chr(97 + o // 26 % 26)}" for o in who],
        "Geburtsdatum": days(rng, "1925-01-01", "2020-01-01", people)[who],
        "Geschlecht": rng.choice(["m", "w"], people)[who],
        "PLZ": zips[who],
        "Ort": np.array([TOWNS[o] for o in zips])[who],
        "Aufnahmedatum": admitted.strftime("%d.%m.%Y"),
        "Entlassungsdatum": left.strftime("%d.%m.%Y"),
        "Hauptdiagnose": rng.choice(["I10.0", "E11.9", "C50.1", "J45.0", "F32.1", "M54.5"], n),
        "Verweildauer": (left - admitted).days.astype(str),
    }
    return pd.DataFrame(table, dtype=object)


def hr(n=500, seed=1):
    "An HR export, as an office writes it: semicolons, decimal commas, cp1252"
    rng = np.random.default_rng(seed)
    pay = rng.lognormal(8.2, 0.35, n)
    table = {
        "Personalnummer": [str(o) for o in rng.permutation(n) + 20_000],
        "E-Mail": [f"person{o}@example.org" for o in range(n)],
        "Straße": [f"Müllerweg {o}" for o in range(n)],
        "Abteilung": rng.choice(["Einkauf", "Verkauf", "Büro", "Lager"], n, p=[0.3, 0.3, 0.2, 0.2]),
        "Eintritt": days(rng, "1995-01-01", "2024-12-31", n),
        "Geburtsjahr": [str(o) for o in rng.integers(1960, 2004, n)],
        "Bruttogehalt": [f"{o:.2f}".replace(".", ",") for o in pay],
        "Konfession": rng.choice(["rk", "ev", "keine", ""], n, p=[0.3, 0.3, 0.3, 0.1]),
        "Krankheitstage": [str(o) for o in rng.poisson(6, n)],
        "Bemerkung": [f"hat am Tag {o} mit der Leitung gesprochen" for o in range(n)],
    }
    return pd.DataFrame(table, dtype=object)


def sheet(n=400, seed=2):
    "A sheet that was filled in by hand: codes for missing, spellings, rare values"
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 97, n).astype(str).astype(object)
    age[::40] = "999"
    kids = rng.integers(0, 5, n).astype(str).astype(object)
    kids[::50] = "-9"
    sex = rng.choice(["M", "F", "m ", "m", "f"], n, p=[0.45, 0.45, 0.02, 0.04, 0.04])
    trade = rng.choice(["clerk", "cook", "driver", "nurse"], n).astype(object)
    trade[5:9] = ["juggler", "astronaut", "bishop", "jockey"]
    trade[::33] = "keine Angabe"
    smoker = rng.choice(["yes", "no"], n).astype(object)
    smoker[::25] = "?"
    table = {"age": age, "children": kids, "sex": sex, "job": trade, "smoker": smoker}
    return pd.DataFrame(
        table | {"weight_kg": rng.normal(75, 12, n).round(1).astype(str)}, dtype=object
    )


def found_in(t):
    "What is found, columns by name"
    found = find_all(t, "t.csv")
    return found, {o.name: o for o in found.columns}


def test_a_hospital():
    found, of = found_in(hospital())
    roles = {o: c.role for o, c in of.items()}
    assert roles == {
        "PatientenNr": "person",
        "Fallnummer": "identifier",
        "Nachname": "identifier",
        "Geburtsdatum": "quasi-identifier",
        "Geschlecht": "quasi-identifier",
        "PLZ": "quasi-identifier",
        "Ort": "quasi-identifier",
        "Aufnahmedatum": "quasi-identifier",
        "Entlassungsdatum": "quasi-identifier",
        "Hauptdiagnose": "sensitive",
        "Verweildauer": "quasi-identifier",
    }
    assert (found.person, found.people, found.most_rows) == ("PatientenNr", 600, 4)
    assert (of["Geburtsdatum"].date, of["Geburtsdatum"].recode) == ("%d.%m.%Y", ("year",))
    assert of["Aufnahmedatum"].recode == of["Entlassungsdatum"].recode == ("month",)
    assert (of["PLZ"].kind, of["PLZ"].recode) == ("word", ("prefix 3",))
    assert of["Hauptdiagnose"].recode == ("prefix 3",)
    assert "Art. 9" in of["Hauptdiagnose"].secret
    told = {(o.name, o.other): o.how for o in found.telling}
    assert told["PLZ", "Ort"] == "in every row"
    plan = suggested_plan(found)
    assert (plan.k, plan.l, plan.t) == (11, None, None)
    assert (plan.mode, plan.missing) == ("cluster", "error")
    why = dict(plan.reasons)["k"]
    assert "CMS" in why and "several values of Hauptdiagnose" in why


def test_one_stay_a_person_lets_two_secrets_be_asked():
    found, _ = found_in(hospital().drop_duplicates("PatientenNr"))
    assert (found.person, suggested_plan(found).l) == (None, 2)


def test_people_without_a_number_are_noticed():
    t = hospital().drop(columns="PatientenNr")
    found, _ = found_in(t)
    people = len(t[["Nachname", "Geburtsdatum"]].drop_duplicates())
    assert found.person is None and found.hidden == (("Nachname", "Geburtsdatum"), people)
    assert f"tell {people:,} people apart" in profile_text(found)


def test_spellings_do_not_hide_whose_row_it_is():
    t = hospital()
    t["Geschlecht"] = [o.upper() if i % 3 else f"{o} " for i, o in enumerate(t["Geschlecht"])]
    assert found_in(t)[0].person == "PatientenNr"


def test_an_hr_export(tmp_path):
    hr().to_csv(tmp_path / "hr.csv", sep=";", index=False, encoding="cp1252")
    found = profile(tmp_path / "hr.csv")
    of = {o.name: o for o in found.columns}
    assert (found.form.sep, found.form.encoding, found.form.decimal) == (";", "cp1252", ",")
    dropped = ["Personalnummer", "E-Mail", "Straße", "Bemerkung"]
    assert found.named("identifier") == dropped
    assert of["Bruttogehalt"].kind == "number" and of["Bruttogehalt"].recode == ("round 100",)
    assert of["Eintritt"].recode != () and of["Eintritt"].kind == "date"
    secret = {o for o, c in of.items() if c.secret}
    assert secret == {"Bruttogehalt", "Konfession", "Krankheitstage"}
    assert found.person is None
    plan = found.plan()
    assert (plan.one("sensitive"), plan.missing) == ("Krankheitstage", "category")
    again = plan_from_text(plan.to_toml())
    assert (again.columns, again.form) == (
        tuple(replace(o, why="") for o in plan.columns),
        plan.form,
    )


def test_a_sheet_filled_in_by_hand():
    found, of = found_in(sheet())
    codes = {o: {c.text for c in x.missing if c.is_sure} for o, x in of.items() if x.missing}
    assert codes == {
        "age": {"999"},
        "children": {"-9"},
        "job": {"keine Angabe"},
        "smoker": {"?"},
    }
    assert of["sex"].dirt.values == 2 and of["sex"].recode == ("same",)
    assert of["job"].recode == (f"rare {found.k} other",)
    assert of["age"].recode == ("top 90",)
    assert of["smoker"].role == "sensitive"
    plan = suggested_plan(found)
    assert plan.missing == "category"
    assert set(plan.form.missing) == {"999", "-9", "keine Angabe", "?"}
    text = profile_text(found)
    assert "'999' in 10 rows" in text and "5 spellings of 2 values" in text


@pytest.mark.parametrize(
    "make, person, class_name, secret, dropped",
    [
        (hospital_stays, "patient_no", "comes_back", "diagnosis", ["case_no", "name"]),
        (staff_table, None, "Kündigung", "Gehalt", ["Personalnummer", "Name"]),
        (survey_answers, None, None, "party", ["e_mail"]),
    ],
    ids=["stays", "staff", "survey"],
)
def test_the_files_of_the_book(make, person, class_name, secret, dropped):
    plan = suggested_plan(find_all(make().astype(str).astype(object)))
    assert (plan.one("person"), plan.one("class")) == (person, class_name)
    assert (plan.one("sensitive"), plan.named("identifier")) == (secret, dropped)
    assert "publish" not in {o.role for o in plan.columns}


def test_a_plan_can_be_followed_as_it_was_suggested(tmp_path):
    for t, name in ((hospital(120), "stays"), (sheet(), "sheet")):
        t.to_csv(tmp_path / f"{name}.csv", index=False)
        assert program("profile", f"{name}.csv", "-o", f"{name}.toml", cwd=tmp_path).returncode == 0
        done = program("anonymize", f"{name}.toml", "-o", f"{name}-release.csv", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "") and "k = 11" in done.stdout
    hr().to_csv(tmp_path / "hr.csv", sep=";", index=False, encoding="cp1252")
    assert program("profile", "hr.csv", "-o", "hr.toml", cwd=tmp_path).returncode == 0
    done = program("anonymize", "hr.toml", "-o", "hr-release.csv", cwd=tmp_path)
    assert done.returncode == 0 and "2-diversity of 'Krankheitstage': holds" in done.stdout


# ---------------------------------------------------------------- one column of each kind

NUMBERS = st.lists(st.integers(0, 95), min_size=30, max_size=80)


@given(NUMBERS, st.sampled_from(["999", "9999", "-9", "-99", "n/a", "?", "unbekannt"]))
def test_a_planted_code_for_missing_is_found(ages, code):
    texts = [*map(str, ages), code, code]
    facts = column_facts("age", texts)
    assert [o.text for o in facts.missing if o.is_sure] == [code]
    assert facts.kind == "number" and code not in facts.texts


@given(st.lists(st.integers(-30, 99), min_size=1))
def test_ordinary_numbers_are_no_codes(values):
    texts = sorted({str(o) for o in [*values, *range(-30, 100)]})
    assert not missing_codes(texts, np.ones(len(texts), dtype=int))


WORDS = st.lists(st.sampled_from(["Köln", "bonn", "AACHEN", "Ulm"]), min_size=1, max_size=20)


@given(WORDS, st.sampled_from([str.upper, str.lower, lambda o: o + " ", lambda o: f" {o}"]))
def test_planted_spellings_are_found(words, spelt):
    others = [spelt(o) for o in words]
    facts = column_facts("town", [*words, *others])
    differ = {o for o in words if spelt(o) != o}
    assert (facts.dirt is not None) == bool(differ)
    if differ:
        assert facts.dirt.rows >= 1


@pytest.mark.parametrize(
    "name, texts, role, kind",
    [
        (
            "kunde",
            [f"Meier, Anna{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(60)],
            "identifier",
            "word",
        ),
        ("kontakt", [f"a{i}@example.org" for i in range(60)], "identifier", "word"),
        ("erreichbar", [f"+49 221 {i + 10**6}" for i in range(60)], "identifier", "word"),
        ("bank", [f"DE89370400440532{i:06}" for i in range(60)], "identifier", "word"),
        ("key", [f"{i:032x}" for i in range(60)], "identifier", "word"),
        ("story", [f"she said {i} times that it hurts" for i in range(60)], "identifier", "word"),
        ("laufende", [str(i + 500) for i in range(60)], "identifier", "number"),
        ("dx", ["I10.0", "E11.9", "J45.1"] * 20, "sensitive", "word"),
        ("seen", ["2024-01-02", "2024-01-09", "2024-02-02"] * 20, "quasi-identifier", "date"),
        ("seen", ["02.01.2024", "29.01.2024", "02.02.2024"] * 20, "quasi-identifier", "date"),
        ("sex", ["m", "f"] * 30, "quasi-identifier", "word"),
        ("sex", ["1", "2"] * 30, "quasi-identifier", "word"),
        ("plz", ["50667", "50668"] * 30, "quasi-identifier", "word"),
        ("monatslohn in euro, lohn", ["3000", "4000.5"] * 30, "sensitive", "number"),
        ("religion", ["a", "b", "c"] * 20, "sensitive", "word"),
        ("target", ["a", "b"] * 30, "class", "word"),
        ("target", ["0", "1", "2"] * 20, "class", "word"),
        ("wave", ["7"] * 60, "publish", "number"),
        ("empty", [""] * 60, "identifier", "word"),
        ("whatever", ["a", "b"] * 30, "quasi-identifier", "word"),
    ],
)
def test_a_column_of_each_kind(name, texts, role, kind):
    t = pd.DataFrame({name: texts, "age": [str(20 + i % 40) for i in range(60)]}, dtype=object)
    _, of = found_in(t)
    assert (of[name].role, of[name].kind) == (role, kind)


def test_values_and_names_must_agree():
    "A name alone drops no column"
    t = pd.DataFrame({"own_telephone": ["yes", "no"] * 40, "name": ["x", "y"] * 40}, dtype=object)
    _, of = found_in(t)
    assert {o.role for o in of.values()} == {"quasi-identifier"}


def test_measures_are_nobodys_numbers():
    rng = np.random.default_rng(0)
    t = pd.DataFrame({"x": rng.normal(500, 80, 900).astype(int).astype(str)}, dtype=object)
    found, of = found_in(t)
    assert of["x"].role == "quasi-identifier" and found.person is None


def test_a_number_that_changes_its_sex_is_none_of_a_person():
    t = hospital()
    t["Geschlecht"] = ["m", "w"] * (len(t) // 2) + ["m"] * (len(t) % 2)
    found, of = found_in(t)
    assert found.person is None and of["PatientenNr"].role == "identifier"


def test_a_code_that_is_a_value_elsewhere_stays():
    t = sheet()
    t["income"] = [str(900 + i % 150) for i in range(len(t))]
    found, _ = found_in(t)
    codes, notes = codes_of_file(found)
    assert "999" not in codes and "-9" in codes
    assert any("'999' means missing in age and is a value of income" in o for o in notes)


def test_a_secret_that_everybody_has_is_told():
    t = pd.DataFrame({"hiv": ["positive"] * 40, "age": [str(20 + i % 20) for i in range(40)]})
    _, of = found_in(t.astype(object))
    assert of["hiv"].role == "publish" and "whoever is known to be in the table" in of["hiv"].why


def test_few_people_get_a_smaller_k():
    found, _ = found_in(hospital().head(9))
    plan = suggested_plan(found)
    assert plan.k < 11 and "too few" in dict(plan.reasons)["k"]


# ---------------------------------------------------------------- who stands out


def test_people_alone_are_counted_one_by_one():
    t = hospital(80)
    found, of = found_in(t)
    qi = found.named("quasi-identifier")

    def alone(columns):
        owners = t.groupby(list(columns))["PatientenNr"].agg(set)
        return len(set().union(*(o for o in owners if len(o) == 1)))

    assert found.alone == alone(qi)
    for o in qi:
        others = [x for x in qi if x != o]
        assert of[o].risk.alone == alone([o])
        assert of[o].risk.adds == found.alone - alone(others)
    for names, n in found.standing.told:
        assert n == alone(names)


@one_in(2)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=2, max_size=40))
def test_distinction_and_separation(rows):
    t = pd.DataFrame({"a": [str(a) for a, _ in rows], "b": [str(b) for _, b in rows]}, dtype=object)
    table = column_table(find_all(t))
    n = len(t)
    for o in ("a", "b"):
        pairs = sum(x != y for i, x in enumerate(t[o]) for y in t[o][:i])
        assert table.loc[o, "separation"] == pytest.approx(pairs / (n * (n - 1) / 2))
        assert table.loc[o, "distinction"] == pytest.approx(t[o].nunique() / n)


# ---------------------------------------------------------------- order, odd tables, time


def facts_of(found):
    "What does not depend on the order of columns"
    return {o.name: o for o in found.columns}, found.alone, found.telling, found.standing.told


@pytest.mark.parametrize("make", [hospital, hr, sheet])
def test_the_order_of_rows_and_columns_does_not_matter(make):
    t = make()
    rng = np.random.default_rng(5)
    mixed = t.iloc[rng.permutation(len(t)), rng.permutation(t.shape[1])]
    assert facts_of(find_all(mixed)) == facts_of(find_all(t))


@st.composite
def odd_tables(draw):
    "Tables of strings, with odd ones and odd names"
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))
    n = draw(st.integers(1, 25))
    some = st.sampled_from([*ODD, "999", "-9", "01.02.2024", "2024-02-30", "I10.1", "1e999", "ß"])
    cell = st.one_of(some, st.integers(-99, 9999).map(str), st.text(max_size=6))
    kinds = [cell, some, st.sampled_from(["x", "y"]), st.integers(0, 9).map(str)]
    columns = {}
    for o in names:
        kind = draw(st.sampled_from(kinds))
        columns[o] = draw(st.lists(kind, min_size=n, max_size=n))
    return pd.DataFrame(columns, dtype=object)


NAMES = [
    "age",
    "a,b",
    "born",
    "PLZ",
    "id",
    "income",
    "class",
    "x",
    "<b>",
    "patient",
    "icd",
    "",
    "Å",
]


@one_in(3)
@given(odd_tables(), st.randoms(use_true_random=False))
def test_no_table_makes_it_stumble(t, random):
    found = find_all(t)
    lines = profile_text(found).splitlines()
    assert all(len(o) <= 100 for o in lines)
    assert "<b>" not in profile_html(found).replace("<p><b>", "")
    plan = suggested_plan(found)
    assert [o.name for o in plan.columns] == list(t)
    if plan.named("quasi-identifier"):
        again = plan_from_text(plan.to_toml())
        assert [o.role for o in again.columns] == [o.role for o in plan.columns]
    columns = list(t)
    random.shuffle(columns)
    rows = list(range(len(t)))
    random.shuffle(rows)
    assert facts_of(find_all(t.iloc[rows][columns])) == facts_of(found)


def test_a_terminal_obeys_no_text_of_the_file():
    odd = "a\x1b[31m\nb"
    t = pd.DataFrame({odd: ["\x1b[2J", "\x1b[2j", "x"] * 20}, dtype=object)
    text = profile_text(find_all(t, "t.csv"))
    assert "\x1b" not in text and "spelt" in text


def test_many_columns_take_no_age():
    rng = np.random.default_rng(0)
    t = pd.DataFrame(rng.integers(0, 9, (3000, 300)).astype(str), dtype=object)
    t.columns = [f"x{i}" for i in range(300)]
    began = time.process_time()
    text = profile_text(find_all(t))
    assert time.process_time() - began < 30
    assert "compared were the 60 columns" in text and "combined were the 12 columns" in text


def test_every_topic_has_a_use():
    assert {o.use for o in TOPICS} == {"identifier", "known", "secret", "class", "weight"}
    assert len({o.about for o in TOPICS}) == len(TOPICS)
    assert topic_of("") is None


# ---------------------------------------------------------------- the command


def test_the_command_as_a_program(tmp_path):
    hospital().to_csv(tmp_path / "discharge.csv", index=False)
    done = program("profile", "discharge.csv", "-o", "plan.toml", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("INTERNAL: discharge.csv, ")
    assert "ppdt compare plan.toml" in done.stdout
    assert "ppdt anonymize plan.toml -o release.csv" in done.stdout
    assert all(len(o) <= 100 for o in done.stdout.splitlines())
    assert len(done.stdout.splitlines()) < 60
    plan = read_plan(tmp_path / "plan.toml")
    assert (plan.file, plan.one("person")) == ("discharge.csv", "PatientenNr")
    assert "row" not in [o.split()[0] for o in done.stdout.splitlines() if o.split()]


def test_a_plan_is_not_replaced_unasked(ppdt, here):  # noqa: F811
    assert ppdt("profile", "customers.csv", "-o", "plan.toml")[0] == 0
    (here / "plan.toml").write_text("corrected")
    code, out, err = ppdt("profile", "customers.csv", "-o", "plan.toml")
    assert code == 2 and out == "" and is_one_line(err) and "--replace" in err
    assert (here / "plan.toml").read_text() == "corrected"
    assert (
        "replaced plan.toml" in ppdt("profile", "customers.csv", "-o", "plan.toml", "--replace")[1]
    )
    assert read_plan(here / "plan.toml").file == "customers.csv"


def test_a_plan_in_another_folder_names_its_file(ppdt, here):  # noqa: F811
    (here / "plans").mkdir()
    ppdt("profile", "customers.csv", "-o", "plans/plan.toml")
    assert read_plan(here / "plans" / "plan.toml").file == "../customers.csv"


@pytest.mark.parametrize(
    "words, says",
    [
        (["nothing.csv"], "nothing.csv"),
        (["customers.csv", "-o", "plan.csv"], "-o must be a plan, and end in .toml"),
        (["customers.csv", "-o", "no/plan.toml"], "make the folder 'no'"),
        (["customers.csv", "--class", "Bougth"], "did you mean 'Bought'?"),
        (["customers.csv", "--person", "who"], "--person must name columns"),
        (["customers.csv", "--rows", "-1"], "--rows"),
        (["customers.csv", "--sep", ";;"], "--sep"),
        (["-", "-o", "plan.toml"], "-o must be left out for standard input"),
        (["empty.csv"], "at least one row"),
    ],
)
def test_bad_input(ppdt, here, words, says):  # noqa: F811
    (here / "empty.csv").write_text("a,b\n")
    code, out, err = ppdt("profile", *words)
    assert (code, out) == (2, "") and is_one_line(err) and says in err
    assert not list(here.glob("*.toml"))


def test_a_release_is_no_table_of_people(ppdt, here):  # noqa: F811
    words = "--qi Gender,Marital,Age --identifiers customer --publish Bought --k 3 -o r.csv".split()
    assert ppdt("anonymize", "customers.csv", *words)[0] == 0
    code, _, err = ppdt("profile", "r.csv")
    assert code == 2 and "r.csv, which is a release" in err


def test_rows_are_named_on_request_only(ppdt, here):  # noqa: F811
    assert "alone_in" not in ppdt("profile", "customers.csv")[1]
    out = ppdt("profile", "customers.csv", "--rows", "3")[1]
    assert "alone_in" in out and "INTERNAL" in out.split("alone_in")[0].splitlines()[-2]
