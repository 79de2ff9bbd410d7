"""Plans: they come back from their files, misspelt ones are refused, and what they say is done."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import ready
from examples import one_in
from hypothesis import assume, given, strategies as st

from ppdt.datasets import load_customers
from ppdt.engine.messy_files import hospital_stays, write_messy_files
from ppdt.engine.plan_command import anonymize_plan
from ppdt.engine.plan_tables import planned_anonymizer, planned_texts, told_recodings
from ppdt.engine.plans import (
    KINDS,
    MODES,
    RECODING,
    ROLES,
    FileForm,
    Plan,
    PlanError,
    PlannedColumn,
    plan_from_text,
    read_plan,
)
from ppdt.engine.recoded_columns import recoded_like
from ppdt.engine.recodings import (
    RECODINGS,
    RecodingError,
    loss_from_raw,
    parse_recodings,
    recoded,
    spelling,
)
from ppdt.loss import ncp
from ppdt.mondrian import MondrianAnonymizer
from ppdt.release import read_release
from ppdt.tables import cells

NAMES = st.text(
    st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\u2028\u2029\x85"),
    min_size=1,
    max_size=8,
)
FEW = {
    "number": ["round 10", "top 50", "bottom 3", "bands 0,10,20", "round 0.5"],
    "word": ["prefix 2", "same", "rare 2 fewer"],
    "date": ["year", "quarter", "month", "age 2026-12-31"],
}


@st.composite
def columns_of_plans(draw):
    """Columns, one of them a quasi-identifier, and one role for one column where it must be"""
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    res = []
    for name in names:
        kind = draw(st.sampled_from(KINDS))
        role = draw(
            st.sampled_from([o for o in ROLES if o not in {c.role for c in res} | {"person"}])
        )
        role = "quasi-identifier" if not res else role
        free = role not in ("identifier", "person")
        recode = (draw(st.sampled_from(FEW[kind])),) if free and draw(st.booleans()) else ()
        date = "dd.mm.yyyy" if kind == "date" and draw(st.booleans()) else ""
        res.append(PlannedColumn(name, role, kind, date, recode))
    return tuple(res)


@st.composite
def plans(draw):
    """Plans that can be followed"""
    columns = draw(columns_of_plans())
    has_secret = any(o.role in ("class", "sensitive") for o in columns)
    bounds = {}
    if has_secret:
        bounds["l"] = draw(st.none() | st.integers(1, 9))
        bounds["alpha"] = draw(st.none() | st.floats(0, 1))
    return Plan(
        draw(NAMES),
        columns,
        FileForm(
            draw(st.sampled_from([None, ";", "\t"])),
            draw(st.sampled_from([None, "cp1252"])),
            draw(st.sampled_from([None, ","])),
            tuple(draw(st.lists(NAMES, max_size=2))),
        ),
        k=draw(st.integers(1, 2**40)),
        missing=draw(st.sampled_from(["error", "drop", "category"])),
        mode=draw(st.sampled_from(MODES)),
        recoding=draw(st.sampled_from(RECODING)),
        suppress=draw(st.floats(0, 1)),
        purpose=draw(st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=20)),
        **bounds,
    )


@one_in(2)
@given(plans(), st.data())
def test_a_plan_comes_back(plan, data):
    why = data.draw(st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=30))
    columns = tuple(replace(o, why=why) for o in plan.columns)
    text = replace(plan, columns=columns, reasons=(("k", why), ("mode", why))).to_toml()
    back = plan_from_text(text)
    assert back == plan
    assert plan_from_text(back.to_toml()) == plan


@given(plans(), st.data())
def test_a_changed_letter_is_a_plan_or_an_error_in_words(plan, data):
    text = plan.to_toml()
    at = data.draw(st.integers(0, len(text) - 1))
    sign = data.draw(st.sampled_from('a"[]{}=,#\n9.- '))
    try:
        plan_from_text(text[:at] + sign + text[at + 1 :])
    except PlanError as e:
        assert str(e) and "Traceback" not in str(e)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "'version' must be 1"),
        ("version = 1", "'name' in \\[file\\] must be"),
        ('version = 1\nfile = "people.csv"', "\\[file\\] must be a table"),
        ('version = 1\n[file]\nname = "a.csv"', "\\[columns\\] must have a line"),
        ('version = 1\n[file]\nname = "a.csv"\n[columns]\na = "publish"', "must say its role"),
        ('version = 1\n[file]\nname = "a.csv"\n[columns]\na = {kind = "word"}', "Got none: add it"),
        ("a = " + "[" * 5000, "TOML|nested"),
        ("version = 1\n[fiel]", "did you mean 'file'"),
    ],
)
def test_what_is_no_plan(text, words):
    with pytest.raises(PlanError, match=words):
        plan_from_text(text)


def test_files_that_are_no_plans(tmp_path):
    with pytest.raises(FileNotFoundError, match="ppdt profile FILE"):
        read_plan(tmp_path / "plan.toml")
    (tmp_path / "plan.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PlanError, match="plan.toml must be UTF-8"):
        read_plan(tmp_path / "plan.toml")


VALUES = {
    "number": st.integers(-100, 100) | st.floats(-100, 100),
    "word": st.text("abAÄä 1", min_size=1, max_size=5),
    "date": st.datetimes(pd.Timestamp("1900-01-01"), pd.Timestamp("2030-12-31")).map(
        lambda o: pd.Timestamp(o).normalize()
    ),
}


@st.composite
def raw_columns(draw):
    """(a column, its kind, a recoding)"""
    kind = draw(st.sampled_from(KINDS))
    values = draw(st.lists(VALUES[kind], min_size=1, max_size=20))
    if kind == "number" and any(isinstance(o, float) for o in values):
        values = [float(o) for o in values]
    gaps = draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    assume(not all(gaps))
    known = [None if gap else o for o, gap in zip(values, gaps)]
    dtype = {"word": "str", "date": "datetime64[s]"}.get(kind)
    s = pd.Series(known, dtype=dtype, name="a")
    return s, kind, draw(st.sampled_from(FEW[kind]))


@given(raw_columns(), st.randoms(use_true_random=False))
def test_recodings_are_functions_of_the_value(found, chance):
    """Gaps stay, equal values stay equal, and the order of rows decides nothing"""
    s, kind, text = found
    steps, then = parse_recodings([text], kind)
    try:
        res = recoded(s, steps)
    except RecodingError as e:
        assert "no value yet" in str(e)
        return
    assert res.isna().tolist() == s.isna().tolist() and res.index.equals(s.index)
    assert res.nunique() <= s.nunique()
    for _, part in pd.DataFrame({"a": s, "b": res.astype(object)}).dropna().groupby("a"):
        assert part.b.nunique() == 1
    order = list(range(len(s)))
    chance.shuffle(order)
    again = recoded(s.iloc[order].reset_index(drop=True), steps)
    assert again.astype(object).fillna("-").tolist() == [
        res.astype(object).fillna("-")[i] for i in order
    ]
    if then in ("number", "order") and kind in ("number", "date"):
        known = pd.DataFrame({"a": s, "b": res}).dropna().sort_values("a")
        b = known.b.cat.codes if then == "order" else known.b
        steps_up = np.diff(b.to_numpy(dtype=float))
        assert (steps_up <= 0).all() if text.startswith("age") else (steps_up >= 0).all()


@given(st.lists(st.integers(-50, 150), min_size=1), st.sampled_from(FEW["number"]))
def test_numbers_are_recoded_as_said(values, text):
    steps, _ = parse_recodings([text], "number")
    for x, y in zip(values, recoded(pd.Series(values), steps).tolist()):
        word, told = steps[0]
        if word == "round":
            assert abs(x - y) <= told / 2 and float(y / told).is_integer()
        elif word == "top":
            assert y == min(x, told)
        elif word == "bottom":
            assert y == max(x, told)
        else:
            low = [0, 10, 20]
            names = ["under 0", "0 to 9", "10 to 19", "20 or more"]
            assert y == names[sum(x >= o for o in low)]


@given(st.lists(st.text("aAbBÄä ", min_size=1, max_size=4).filter(str.strip), min_size=1))
def test_spellings_are_joined(words):
    res = recoded(pd.Series(words, dtype="str"), parse_recodings(["same"], "word")[0]).tolist()
    assert list(map(spelling, res)) == list(map(spelling, words))
    assert len(set(res)) == len(set(map(spelling, words)))
    assert all(o in {" ".join(w.split()) for w in words} for o in res)


@pytest.mark.parametrize("kind", KINDS)
def test_a_recoding_is_for_one_kind(kind):
    for word, about in RECODINGS.items():
        if about.kind == kind:
            assert parse_recodings([about.example], kind)[1] == about.then
        else:
            with pytest.raises(RecodingError, match=f"'{word}' is for a"):
                parse_recodings([about.example], kind)


@one_in(3)
@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from("uvwx")), min_size=4, max_size=20))
def test_without_recodings_the_loss_is_that_of_the_release(rows):
    """`loss_from_raw` of a column that was not recoded is its NCP, form spread"""
    X = pd.DataFrame(rows, columns=["n", "w"]).astype({"w": "str"})
    r = MondrianAnonymizer(k=2, recoding="interval").anonymize(X)
    expected = ncp(r.data, X, form="spread")
    for o in X:
        assert loss_from_raw(r.data[o], X[o], X[o]) == pytest.approx(expected[o])


@one_in(2)
@given(st.lists(st.integers(0, 99), min_size=4, max_size=20))
def test_a_recoding_loses_and_grouping_loses_more(values):
    raw = pd.Series(values, name="a")
    before = recoded(raw, parse_recodings(["round 10"], "number")[0])
    alone = loss_from_raw(before, before, raw)
    r = MondrianAnonymizer(k=2).anonymize(before.to_frame())
    whole = loss_from_raw(r.data["a"], before, raw)
    assert 0 <= alone <= whole + 1e-12 <= 1 + 2e-12


@one_in(4)
@given(st.lists(st.integers(0, 60), min_size=6, max_size=30), st.floats(0, 1), st.integers(1, 4))
def test_rows_set_aside_are_as_many_as_allowed(values, share, k):
    X = pd.DataFrame({"a": values, "b": values[::-1]})
    assume(k <= len(X))
    r = MondrianAnonymizer(k=k, suppression_limit=share).anonymize(X)
    assert len(r.lost) <= share * len(X) + 1e-9 and r.audit.k >= k
    assert len(r.data) + len(r.lost) == len(X) and len(r.data) >= k
    mixed = X.sample(frac=1, random_state=0)
    again = MondrianAnonymizer(k=k, suppression_limit=share).anonymize(mixed)
    assert again.text().equals(r.text())


def test_what_rows_set_aside_save():
    """Adult's loss falls; that of nobody set aside is the usual one"""
    X = load_customers().drop(columns="Bought")
    none = MondrianAnonymizer(k=3).anonymize(X)
    zero = MondrianAnonymizer(k=3, suppression_limit=0.0).anonymize(X)
    assert zero.text().equals(none.text())
    some = MondrianAnonymizer(k=3, suppression_limit=0.3).anonymize(X)
    kept = X.drop(index=X.index[some.lost])
    assert len(some.lost) in (3, 4)
    assert ncp(some.data, X, form="spread").mean() < ncp(none.data, X, form="spread").mean()
    assert some.data.index.equals(kept.index)


def _plan_of_stays(**more):
    """A plan for the hospital's table"""
    roles = {
        "case_no": ("identifier", "word", ()),
        "patient_no": ("person", "word", ()),
        "name": ("identifier", "word", ()),
        "birth_date": ("quasi-identifier", "date", ("year", "round 5")),
        "sex": ("quasi-identifier", "word", ("same",)),
        "post_code": ("quasi-identifier", "word", ("prefix 3",)),
        "admitted": ("quasi-identifier", "date", ("quarter",)),
        "nights": ("publish", "number", ("top 14",)),
        "weight": ("publish", "number", ("round 10",)),
        "diagnosis": ("sensitive", "word", ("prefix 3",)),
        "comes_back": ("class", "word", ()),
    }
    columns = tuple(PlannedColumn(o, r, kind, recode=c) for o, (r, kind, c) in roles.items())
    return Plan("stays.csv", columns, FileForm(missing=("-9",)), **({"k": 5} | more))


def test_a_plan_is_followed():
    plan = _plan_of_stays()
    t = hospital_stays(300)
    p = planned_texts(t, plan)
    r = told_recodings(planned_anonymizer(plan).anonymize(p.X, p.y), plan)
    assert r.audit.holds and r.audit.persons == 300 and r.audit.k >= 5
    assert list(r.data) == [
        "birth_date",
        "sex",
        "post_code",
        "admitted",
        "nights",
        "weight",
        "diagnosis",
    ]
    assert p.X.weight.isna().sum() == (t.weight == "-9").sum() > 0
    sexes = {v for c in cells(r.data.sex)[1] for v in c.values}
    assert len(sexes) == 2
    like = recoded_like(t.replace("-9", ""), r.schema.columns)
    for o, s in like.items():
        assert s.astype(object).fillna("-").tolist() == p.X[o].astype(object).fillna("-").tolist()


def test_the_file_knows_its_recodings(tmp_path):
    write_messy_files(tmp_path)
    plan = _plan_of_stays(k=7)
    release, _, _ = anonymize_plan(plan, tmp_path / "r.csv", tmp_path)
    back = read_release(tmp_path / "r.csv")
    assert back.text().equals(release.text()) and back.audit.holds is not False
    schema = json.loads((tmp_path / "r.csv.schema.json").read_text())
    told = {o["name"]: (o.get("recoded"), o.get("read_as")) for o in schema["columns"]}
    assert told["birth_date"] == (["year", "round 5"], "date")
    assert told["comes_back"] == (None, None)


@pytest.mark.parametrize(
    ("mode", "more"),
    [
        ("cluster", {}),
        ("infogain", {}),
        ("relaxed", {"suppress": 0.02}),
        ("mict", {}),
        ("mdav", {}),
        ("kactus", {"recoding": "interval"}),
        ("erp", {}),
        ("tdr", {}),
    ],
)
def test_modes_of_a_plan(mode, more):
    plan = _plan_of_stays(mode=mode, missing="category", **more)
    columns = [
        replace(o, role="identifier", recode=()) if o.role == "person" else o for o in plan.columns
    ]
    plan = replace(plan, columns=tuple(columns))
    p = planned_texts(hospital_stays(150), plan)
    r = planned_anonymizer(plan).anonymize(p.X, p.y)
    assert r.audit.holds is not False and len(r.data)


def program(*words, cwd):
    """The command as a program of its own"""
    return ready.command(*words, cwd=cwd)


def test_the_command_follows_a_plan(tmp_path):
    write_messy_files(tmp_path)
    (tmp_path / "plan.toml").write_text(_plan_of_stays().to_toml())
    r = program("anonymize", "plan.toml", "-o", "r.csv", cwd=tmp_path)
    assert r.returncode == 0, r.stderr
    assert "by year, round 5" in r.stdout and "person" in r.stdout
    r = program(
        "anonymize", "plan.toml", "-o", "r.csv", "--k", 25, "--mode", "cluster", cwd=tmp_path
    )
    assert r.returncode == 0 and "with k = 25" in r.stdout and "replaced r.csv" in r.stdout
    words = ["anonymize", "plan.toml", "-o", "r.csv", "--report", "board.html", "--internal"]
    assert program(*words, cwd=tmp_path).returncode == 0
    page = (tmp_path / "board.html").read_text()
    assert "INTERNAL" in page and "does NOT hold" not in page and "another table" not in page
    # the file does not show persons, so that nobody can count them
    assert program("verify", "r.csv", "--original", "plan.toml", cwd=tmp_path).returncode == 3
    assert program("audit", "r.csv", "--original", "plan.toml", cwd=tmp_path).returncode == 3


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("k = 5", "k = 0", "plan.toml: 'k' must be at least 1"),
        ("case_no", "case_nr", "Got none named 'case_nr' (is it 'case_no' there?)"),
        ("nights = {", "#", "the plan must have a line for each column of stays.csv. Got none for"),
        ('"year"', '"jahr"', "a recoding of the column 'birth_date' must be one of"),
        ("stays.csv", "gone.csv", "gone.csv"),
        (
            'role = "publish", kind = "number", recode = ["round 10"]',
            'role = "publish", kind = "date"',
            "'weight' must hold dates of one form",
        ),
    ],
)
def test_slips_in_a_plan(tmp_path, old, new, words):
    write_messy_files(tmp_path)
    text = _plan_of_stays().to_toml()
    assert old in text
    (tmp_path / "plan.toml").write_text(text.replace(old, new, 1))
    r = program("anonymize", "plan.toml", "-o", "r.csv", cwd=tmp_path)
    assert r.returncode == 2 and words in r.stderr and r.stderr.count("\n") == 1, r.stderr
    assert not (tmp_path / "r.csv").exists()


def test_a_file_without_names_of_columns(tmp_path):
    """Its first person would go out as the header"""
    for first in ("Meier;26;w;04103", "Meier;x;24.12.1985;y", "Meier;ann@example.org;x;y"):
        rows = "Huber;31;w;04105\nKurz;26;m;04103\n"
        (tmp_path / "p.csv").write_text(f"{first}\n{rows}")
        for words in (
            ["profile", "p.csv", "-o", "plan.toml"],
            ["anonymize", "p.csv", "--qi", first.split(";")[1], "--k", 1, "-o", "r.csv"],
        ):
            r = program(*words, cwd=tmp_path)
            assert r.returncode == 2 and "must begin with the names of its columns" in r.stderr
        assert sorted(o.name for o in tmp_path.iterdir()) == ["p.csv"]


def test_doubts_about_roles_are_said(tmp_path):
    """Repeated identifiers may be people; what reads like names is not published in silence"""
    write_messy_files(tmp_path)
    plan = _plan_of_stays(purpose="planning of beds")
    roles = {"patient_no": "identifier", "name": "publish"}
    columns = tuple(replace(o, role=roles.get(o.name, o.role)) for o in plan.columns)
    (tmp_path / "plan.toml").write_text(replace(plan, columns=columns).to_toml())
    r = program("anonymize", "plan.toml", "-o", "r.csv", "--report", "r.html", cwd=tmp_path)
    assert r.returncode == 0, r.stderr
    assert "'patient_no' is dropped, and its 1,200 values stand in 3,017 rows" in r.stdout
    assert "'name' goes out as it is, and looks like what names people" in r.stdout
    assert "planning of beds" in (tmp_path / "r.html").read_text()


def test_who_closes_the_screen_early_has_the_files(tmp_path):
    write_messy_files(tmp_path)
    (tmp_path / "plan.toml").write_text(_plan_of_stays().to_toml())
    line = f"{sys.executable} -m ppdt.cli anonymize plan.toml -o r.csv --report r.html | head -1"
    subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, check=True)
    assert all((tmp_path / o).exists() for o in ("r.csv", "r.csv.schema.json", "r.html"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["profile", "."], "Got '.', which is a folder"),
        (["verify", "."], "Got '.', a folder that is none"),
        (["anonymize", "s.tml", "-o", "x.csv"], "There is no file 's.tml'"),
        (["compare", "stays.csv"], "a plan must end in .toml"),
        (["predict", "stays.csv", "stays.csv"], "it stops being JSON in line 1, sign 1"),
    ],
)
def test_wrong_files_in_words(tmp_path, words, said):
    write_messy_files(tmp_path)
    r = program(*words, cwd=tmp_path)
    assert r.returncode == 2 and said in r.stderr and r.stderr.count("\n") == 1, r.stderr


def test_another_original(tmp_path):
    """The release is not accused where the original is another one"""
    write_messy_files(tmp_path)
    plan = _plan_of_stays()
    anonymize_plan(plan, tmp_path / "r.csv", tmp_path)
    (tmp_path / "plan.toml").write_text(plan.to_toml())
    other = hospital_stays(1300, seed=5).assign(birth_date="01.01.1990")
    other.to_csv(tmp_path / "stays.csv", index=False)
    r = program("verify", "r.csv", "--original", "plan.toml", cwd=tmp_path)
    assert r.returncode == 1 and "another table than the one that was protected" in r.stdout


def test_bands_of_fractions_are_in_order():
    """The last band is called alike for whole numbers and others, and came before these"""
    steps, _ = parse_recodings(["bands 0,10,20"], "number")
    found = recoded(pd.Series([0.0, 20.0, 1.5, 12.0, -1.0]), steps)
    order = ["under 0", "0 to under 10", "10 to under 20", "20 or more"]
    assert found.cat.categories.tolist() == order
    assert recoded(pd.Series([0, 20, 11]), steps).cat.categories.tolist() == [
        "0 to 9",
        "10 to 19",
        "20 or more",
    ]
