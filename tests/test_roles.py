"""Columns that nobody named: refused with advice; what published ones tell, measured with a few
wrong cells in them.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from random_tables import tables
from registry import ANONYMIZERS, REGISTRY

from ppdt import cli
from ppdt.c45 import C45Classifier
from ppdt.datasets import load_customers, make_population
from ppdt.diversity import LDiversity
from ppdt.engine.column_roles import NamelessColumns, Said, advise, release_roles
from ppdt.engine.dependencies import (
    coded,
    entropy_left,
    guesses_left,
    id_like,
    is_nearly_unique,
    k_with,
    nearly_told,
    off_line,
    rank_correlation,
    rows_left_wrong,
)
from ppdt.mondrian import MondrianAnonymizer
from ppdt.privacy import audit
from ppdt.release import AnonymizedClassifier, read_release

CUSTOMERS = load_customers()
X, Y = CUSTOMERS.drop(columns="Bought"), CUSTOMERS.Bought


def example(cls, **p):
    return (REGISTRY[cls].example or cls)().set_params(**p)


def pasted(message):
    """The parameters that a refusal ends in"""
    return eval(f"dict({message.split('for example ')[1].rstrip('.')})")


# ---------------------------------------------------------------- every column has a role


@pytest.mark.parametrize("cls", ANONYMIZERS, ids=lambda c: c.__name__)
@one_in(8)
@given(st.data())
def test_a_column_without_a_role_is_refused_by_every_method(cls, data):
    t, y, roles = data.draw(tables())
    if not roles["published"]:
        return
    gone = data.draw(st.sampled_from(roles["published"]))
    rest = [o for o in roles["published"] if o != gone]
    tool = example(cls).set_params(**roles | {"published": rest})
    with pytest.raises(NamelessColumns) as refusal:
        tool.fit(t, y)
    assert f"Got none for {gone!r}" in str(refusal.value)
    assert not hasattr(tool, "release_")


@given(tables())
def test_what_the_refusal_advises_is_accepted(table):
    t, y, roles = table
    names = {o: list(roles[o]) for o in ("quasi_identifiers", "identifiers", "published")}
    names["published"] = []
    if len(names["quasi_identifiers"]) + 1 == t.shape[1]:
        return
    with pytest.raises(NamelessColumns) as refusal:
        MondrianAnonymizer(k=1, missing="category", **names).fit(t, y)
    said = names | pasted(str(refusal.value))
    r = release_roles(t.columns, Said(**said))
    named = [*r.quasi_identifiers, *r.identifiers, *r.other]
    assert sorted(named) == sorted(t.columns)


def test_without_quasi_identifiers_all_are_that_were_named_as_nothing_else():
    r = MondrianAnonymizer(k=3).anonymize(X, Y).roles
    assert (r.quasi_identifiers, r.other) == (("Gender", "Marital", "Age"), ())
    r = MondrianAnonymizer(k=3, published=["Marital"]).anonymize(X, Y)
    assert (r.roles.quasi_identifiers, r.roles.other) == (("Gender", "Age"), ("Marital",))
    assert r.data.Marital.equals(X.Marital)
    secret = [LDiversity(2, sensitive="Marital")]
    r = MondrianAnonymizer(k=3, constraints=secret).anonymize(X, Y)
    assert r.roles.other == ("Marital",) and "diversity of 'Marital'" in r.audit.promise
    named = MondrianAnonymizer(k=3, quasi_identifiers=["Gender", "Age"], constraints=secret)
    assert named.anonymize(X, Y).roles == r.roles
    both = MondrianAnonymizer(k=3, published=["Marital"], constraints=secret)
    assert both.anonymize(X, Y).roles == r.roles


def test_the_column_of_a_person_has_a_role():
    said = Said(["age"], person="who")
    r = release_roles(["who", "age"], said)
    assert (r.identifiers, r.other) == (("who",), ())
    assert release_roles(["who", "age"], Said(person="who")).quasi_identifiers == ("age",)


@pytest.mark.parametrize(
    "names, says",
    [
        (["Age"], "'Age' in 'published' and in 'quasi_identifiers'"),
        (["Marital"], "'Marital' in 'published' and in 'identifiers'"),
        (["zip"], "'published' must name columns of the table. Got 'zip'"),
        (["Bought"], "'published' must not hold the class"),
        ("Gender", "'published' must be a list of column names. Got 'Gender'"),
        (["Gender", "Gender"], "'published' must name each column once"),
    ],
)
def test_published_columns_have_no_other_role(names, says):
    tool = MondrianAnonymizer(
        k=3, quasi_identifiers=["Age"], identifiers=["Marital"], published=names
    )
    with pytest.raises(ValueError, match=re.escape(says)):
        tool.fit(X, Y)


def test_published_columns_in_no_order():
    with pytest.raises(TypeError, match="'published' must be a list"):
        MondrianAnonymizer(k=3, published={"Age"}).fit(X, Y)


def test_no_quasi_identifier_is_left():
    with pytest.raises(ValueError, match="at least one"):
        MondrianAnonymizer(k=3, published=list(X)).fit(X, Y)


def test_a_classifier_on_releases_refuses_as_well():
    model = AnonymizedClassifier(
        MondrianAnonymizer(k=3, quasi_identifiers=["Age", "Gender"]), C45Classifier()
    )
    with pytest.raises(ValueError, match="Got none for 'Marital'"):
        model.fit(X, Y)
    model.set_params(anonymizer__published=["Marital"]).fit(X, Y)
    assert len(model.predict(X)) == 14


# ---------------------------------------------------------------- advice


def people(n=600):
    """People with columns of all kinds"""
    t = make_population(n, random_state=0)[["age", "region"]]
    t["name"] = [f"name {i // 3}" for i in range(n)]  # three visits each
    t["mail"] = [f"a{i % 7}@example.org" for i in range(n)]
    t["born"] = pd.Timestamp("1980-01-01") + pd.to_timedelta(np.arange(n) % 50, unit="D")
    t["born_text"] = t.born.dt.strftime("%Y-%m-%d")
    t["number"] = np.arange(n) + 100_000
    t["income"] = np.linspace(1000, 9000, n).round(2)
    t["ward"] = np.repeat(["a", "b"], n // 2)
    t["wave"] = 2024
    return t


def test_advice():
    t = people()
    names = [o for o in t if o != "age"]
    found = advise(t, names, release_roles(t, Said(["age"])), 5)
    assert found.identifiers == ["name", "mail", "number"]
    assert found.quasi_identifiers == ["region", "born", "born_text", "income", "ward"]
    assert found.published == ["wave"]
    assert list(found.why) == names
    as_text = t.astype(str)
    assert advise(as_text, names, release_roles(t, Said(["age"])), 5)[:3] == found[:3]


def test_values_that_cannot_be_compared_are_refused_in_words():
    t = X.assign(tags=[["a"]] * 14)
    tool = MondrianAnonymizer(k=3, quasi_identifiers=list(X))
    with pytest.raises(ValueError, match="'tags' .values that cannot be compared"):
        tool.fit(t, Y)


def test_a_refusal_shows_no_value():
    t = X.assign(mail=[f"secret{i}@example.org" for i in range(14)])
    with pytest.raises(ValueError, match="e-mail addresses") as refusal:
        MondrianAnonymizer(k=3, quasi_identifiers=list(X)).fit(t, Y)
    assert "secret" not in str(refusal.value)


# ---------------------------------------------------------------- measures

codes = st.lists(st.integers(0, 5), min_size=1, max_size=40)


def left_out(x, y):
    """Rows whose y is not the most frequent one among the others with the same x, one by one"""
    wrong = 0
    for i in range(len(x)):
        others = [y[j] for j in range(len(x)) if j != i and x[j] == x[i]]
        counts = pd.Series(others).value_counts()
        best = counts.index[0] if len(counts) else None
        tied = len(counts) > 1 and counts.iloc[0] == counts.iloc[1]
        wrong += best != y[i] or tied
    return wrong / len(x)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40))
def test_rows_left_wrong_is_what_leaving_out_gives(pairs):
    x, y = map(list, zip(*pairs))
    found = rows_left_wrong(coded(pd.Series(x)), coded(pd.Series(y)))
    assert found == pytest.approx(left_out(x, y))


@one_in(2)
@given(codes, st.randoms(use_true_random=False))
def test_measures_do_not_depend_on_the_order_of_rows(x, random):
    y = [o * 7 % 5 for o in x]
    at = list(range(len(x)))
    random.shuffle(at)
    one = coded(pd.Series(x)), coded(pd.Series(y))
    two = coded(pd.Series([x[i] for i in at])), coded(pd.Series([y[i] for i in at]))
    for measure in (rows_left_wrong, guesses_left, entropy_left, rank_correlation, off_line):
        assert measure(*one) == pytest.approx(measure(*two))
    assert nearly_told(*one) == nearly_told(*two)


@given(codes)
def test_measures_stay_in_range(x):
    one, two = coded(pd.Series(x)), coded(pd.Series(x[::-1]))
    assert 0 <= rows_left_wrong(one, two) <= 1
    assert guesses_left(one, two) >= 0 and entropy_left(one, two) >= 0 and off_line(one, two) >= 0
    assert -1 - 1e-9 <= rank_correlation(one, two) <= 1 + 1e-9


@pytest.mark.parametrize("share", [0, 0.01, 0.1])
@pytest.mark.parametrize("kind", ["number", "text", "date", "text of numbers"])
def test_a_few_wrong_cells_hide_nothing(share, kind):
    rng = np.random.default_rng(1)
    age = pd.Series(rng.integers(20, 80, 900))
    born = 2024 - age
    wrong = rng.random(900) < share
    born[wrong] = rng.integers(1944, 2004, wrong.sum())
    made = {
        "number": born,
        "text": born.map(lambda v: f"y{v}"),
        "date": pd.to_datetime(born.astype(str)),
        "text of numbers": born.astype(str),
    }[kind]
    assert nearly_told(coded(made), coded(age)) and nearly_told(coded(age), coded(made))


def test_half_of_the_ages_off_by_one():
    rng = np.random.default_rng(2)
    age = pd.Series(rng.integers(20, 80, 900))
    born = coded(2024 - age - rng.integers(0, 2, 900))
    assert guesses_left(born, coded(age)) > 0.4 and nearly_told(born, coded(age))
    words = coded(pd.Series(born.codes).map(lambda v: f"w{v}"))
    assert entropy_left(words, coded(age)) < 1 / 3 and nearly_told(words, coded(age))


@pytest.mark.parametrize("values", [2, 10, 60, 300, 900])
def test_chance_tells_nothing(values):
    rng = np.random.default_rng(values)
    x = coded(pd.Series(rng.integers(0, values, 900)))
    for other in (2, 60, 900):
        assert nearly_told(x, coded(pd.Series(rng.integers(0, other, 900)))) == ""


@pytest.mark.parametrize("visits", [1, 2, 3, 4])
def test_a_few_rows_a_person_are_nearly_unique(visits):
    names = pd.Series([f"name {i // visits}" for i in range(600)])
    assert is_nearly_unique(coded(names), 5)
    often = pd.Series([f"name {i % 40}" for i in range(600)])
    assert not is_nearly_unique(coded(often), 5)
    assert is_nearly_unique(coded(often), 5, person=often)


def test_some_people_come_often():
    """A third of the rows are those of four people"""
    names = [f"name {i // 2}" for i in range(400)] + [f"often {i % 4}" for i in range(200)]
    assert is_nearly_unique(coded(pd.Series(names)), 5)


def test_numbers_of_people():
    rng = np.random.default_rng(0)
    assert id_like(np.arange(5, 205), 900) and id_like(rng.integers(10**6, 10**7, 99), 300)
    assert not id_like(np.arange(20, 80), 900)  # ages
    assert not id_like(rng.uniform(1e3, 1e5, 500), 500)
    assert not id_like(np.array([]), 0) and not id_like(np.array(["a"]), 1)


# ---------------------------------------------------------------- k with a column more


def by_hand(t, columns):
    """Rows of the smallest class, counted with a dict"""
    count = {}
    for row in (
        t[columns]
        .astype(object)
        .where(t[columns].notna(), "(missing)")
        .itertuples(index=False, name=None)
    ):
        count[row] = count.get(row, 0) + 1
    return min(count.values())


@one_in(5)
@given(tables())
def test_k_with_a_column_more_is_what_counting_gives(table):
    t, y, roles = table
    qi = roles["quasi_identifiers"]
    found = audit(t, qi)
    names = [o for o in t if o not in qi]
    assert sorted(o for o, _ in found.k_with) == sorted(names)
    for o, k in found.k_with:
        assert k == by_hand(t, [*qi, o]) == audit(t, [*qi, o]).k
    assert [k for _, k in found.k_with] == sorted(k for _, k in found.k_with)


@one_in(7)
@given(tables())
def test_k_with_a_column_more_of_a_release(table):
    t, y, roles = table
    if len(t.dropna(subset=roles["quasi_identifiers"])) < roles["k"]:
        roles |= {"missing": "category"}
    r = MondrianAnonymizer(**roles).anonymize(t, y)
    for o, k in r.audit.k_with or ():
        assert k == audit(r.data, [*r.roles.quasi_identifiers, o]).k
    assert {o for o, _ in r.audit.k_with or ()} == set(r.roles.other)


def test_k_with_counts_persons():
    t = pd.DataFrame({"q": ["x"] * 6, "ward": list("aaabbb"), "who": list("aabcde")})
    assert audit(t, ["q"], person="who").k_with == (("ward", 2),)
    assert k_with(np.zeros(6, dtype=int), coded(t.ward), t.who) == 2


# ---------------------------------------------------------------- what the audit says


def visitors(n=900):
    """Ages, and years of birth that tell them but for one row"""
    rng = np.random.default_rng(0)
    t = pd.DataFrame({"age": rng.integers(20, 80, n), "sex": rng.choice(["f", "m"], n)})
    t["birth_year"] = 2024 - t.age
    t.loc[7, "birth_year"] = 1950
    return t


@pytest.mark.parametrize("recoding", ["set", "interval"])
def test_one_wrong_year_of_birth_switches_nothing_off(recoding, tmp_path):
    t = visitors()
    tool = MondrianAnonymizer(k=5, published=["birth_year"], recoding=recoding)
    r = tool.anonymize(t)
    assert dict(r.audit.k_with)["birth_year"] == by_hand(
        r.data.assign(age=r.data.age.astype(str)), list(t)
    )
    assert r.audit.holds and dict(r.audit.k_with)["birth_year"] == 1
    (said,) = r.audit.alarms
    assert "'birth_year'" in said and "gives 'age' away" in said and "k with it is 1, not 5" in said
    text = str(r.audit)
    assert text.index("gives 'age' away") < text.index("k-anonymity with k = 5: holds")
    assert r.audit.explain().index("gives 'age' away") < r.audit.explain().index("It holds")
    r.to_csv(tmp_path / "out.csv")
    back = audit(read_release(tmp_path / "out.csv"), k=5)
    assert back.k_with == r.audit.k_with and "gives 'age' away" in back.alarms[0]


def test_a_column_that_follows_from_a_quasi_identifier():
    t = visitors().assign(old=lambda t: np.where(t.age >= 43, "old", "young"))
    t = t.drop(columns="birth_year")
    r = MondrianAnonymizer(k=30, published=["old"]).anonymize(t)
    (said,) = r.audit.alarms
    assert "'old' is published untouched and follows from 'age'" in said


def test_a_group_told_apart_is_said_where_k_stays():
    t = pd.DataFrame({"edu": list("aabbccdd") * 10, "num": [1, 1, 2, 2, 3, 3, 4, 4] * 10})
    r = MondrianAnonymizer(k=21, published=["num"]).anonymize(t)
    assert r.audit.k == 40 and r.audit.k_with == (("num", 20),)
    assert "gives 'edu' away (in every row); k with it is 20, not 21" in r.audit.alarms[0]
    again = audit(r.data, ["edu"], k=20, original=t)
    assert "gives 'edu' away (in every row); k with it is 20;" in again.alarms[0]


def test_a_class_or_a_secret_that_names_people():
    t = visitors().drop(columns="birth_year").assign(who=[f"name {i // 3}" for i in range(900)])
    secret = MondrianAnonymizer(k=5, constraints=[LDiversity(2, sensitive="who")])
    for r in (
        MondrianAnonymizer(k=5).anonymize(t.drop(columns="who"), t.who),
        secret.anonymize(t),
    ):
        (said,) = r.audit.alarms
        assert "column 'who' is published as it is and is nearly unique" in said
    pay = MondrianAnonymizer(k=5).anonymize(t[["age", "sex"]], np.linspace(1e3, 9e3, 900))
    assert pay.audit.alarms == ()


def test_addresses_are_told_however_often_they_occur():
    t = visitors().drop(columns="birth_year")
    t["contact"] = [f"desk{i % 3}@example.org" for i in range(900)]
    a = MondrianAnonymizer(k=5, published=["contact"]).anonymize(t).audit
    assert "'contact' is published untouched and holds e-mail addresses" in a.alarms[0]
    a = MondrianAnonymizer(k=5).anonymize(t).audit
    assert "quasi-identifier 'contact' holds e-mail addresses" in a.alarms[0]


def test_columns_that_tell_nothing_are_not_warned_of():
    rng = np.random.default_rng(5)
    t = visitors().drop(columns="birth_year").assign(shoe=rng.integers(36, 47, 900))
    r = MondrianAnonymizer(k=5, published=["shoe"]).anonymize(t)
    assert r.audit.alarms == () and r.audit.k_with == (("shoe", 1),)


@pytest.mark.parametrize("visits", [1, 3])
def test_names_that_are_published_are_told_before_the_verdict(visits):
    t = visitors().drop(columns="birth_year")
    t["name"] = [f"name {i // visits}" for i in range(900)]
    a = MondrianAnonymizer(k=5, published=["name"]).anonymize(t).audit
    (said,) = a.alarms
    assert "'name'" in said and "nearly unique" in said and "list it under identifiers" in said
    assert "quasi-identifiers" not in said  # that would publish names in sets
    assert str(a).startswith("warning") and a.warnings[0] == said


@pytest.mark.parametrize("visits", [1, 3])
@pytest.mark.parametrize("kind", ["text", "mail", "number"])
def test_quasi_identifiers_that_name_people(visits, kind, tmp_path):
    who = np.arange(900) // visits
    column = {
        "text": [f"name {i}" for i in who],
        "mail": [f"a{i}@example.org" for i in who],
        "number": who + 1,
    }[kind]
    t = visitors().drop(columns="birth_year").assign(who=column)
    r = MondrianAnonymizer(k=5).anonymize(t)
    (said,) = r.audit.alarms
    assert "quasi-identifier 'who' is nearly unique" in said and "under identifiers" in said
    r.to_csv(tmp_path / "out.csv")
    assert "quasi-identifier 'who'" in audit(read_release(tmp_path / "out.csv")).alarms[0]
    hidden = MondrianAnonymizer(k=5, identifiers=["who"]).anonymize(t)
    assert hidden.audit.alarms == ()


def test_ages_and_incomes_name_nobody():
    t = visitors().drop(columns="birth_year").assign(income=np.linspace(1e3, 9e3, 900) ** 1.1)
    assert MondrianAnonymizer(k=5).anonymize(t).audit.alarms == ()


def test_names_in_ranges_or_suppressed_are_not_shown():
    t = pd.DataFrame({"age": np.arange(40) % 3, "number": np.arange(40)})
    a = MondrianAnonymizer(k=5, recoding="interval").anonymize(t).audit
    assert not [o for o in a.alarms if "'number'" in o]


def test_no_row_has_no_k():
    t = pd.DataFrame({"q": [], "w": []})
    assert audit(t, ["q"]).k_with is None and audit(X, list(X)).k_with is None


def test_many_columns_are_on_one_line():
    t = visitors()[["age"]]
    for i in range(20):
        t[f"c{i}"] = (t.age > 20 + i).astype(int)
    line = next(o for o in str(audit(t, ["age"])).splitlines() if o.startswith("k with one more"))
    assert line.endswith("and 12 more")


# ---------------------------------------------------------------- the command


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PPDT_DEBUG", raising=False)
    t = people(300).assign(income=np.where(np.arange(300) % 3, "low", "high"))
    t.rename(columns={"ward": "ward, old"}).to_csv("people.csv", index=False)
    return tmp_path


WORDS = ["anonymize", "people.csv", "--qi", "age", "--class", "income", "--k", "5", "-o", "o.csv"]


def test_the_command_refuses_and_what_it_advises_works(folder, capsys):
    import shlex

    assert cli.main(WORDS) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and "Every column must have a role" in err
    assert "'mail' (e-mail addresses)" in err and "example.org" not in err
    assert sorted(o.name for o in folder.iterdir()) == ["people.csv"]
    more = shlex.split(err.split("for example by adding ")[1])
    assert "--identifiers" in more and "--publish" in more
    assert cli.main([*WORDS, *more]) == 0
    r = read_release("o.csv")
    assert "mail" not in r.data and "name" not in r.data and "ward, old" in r.data
    assert "wave" in r.roles.other


def test_the_command_publishes_what_it_was_told_to(folder, capsys):
    rest = ["mail", "name", "born", "born_text", "number", "region", "wave"]
    one, two = ",".join(rest[:3]), ",".join(rest[3:])
    more = ["--publish", one, "--publish", two, "--identifiers", '"ward, old"']
    assert cli.main([*WORDS, *more]) == 0
    out = capsys.readouterr().out
    assert "untouched           " in out and "'mail' is published untouched" in out
    assert out.index("warning") < out.index("k-anonymity with k = 5: holds")
    assert "under --identifiers" in out and "under identifiers" not in out
    assert set(read_release("o.csv").roles.other) == set(rest)
    assert cli.main(["audit", "o.csv", "--k", "5"]) == 0
    again = capsys.readouterr().out
    assert "'mail' is published untouched" in again and "k with one more" in again
    assert again.index("warning") < again.index("k-anonymity with k = 5: holds")


@pytest.mark.parametrize(
    "names, option",
    [("age", "--qi"), ("income", "--class"), ("name", "--identifiers"), ("nobody", "--publish")],
)
def test_the_command_gives_a_column_one_role(names, option, folder, capsys):
    assert cli.main([*WORDS, "--publish", names, "--identifiers", "name"]) == 2
    err = capsys.readouterr().err
    assert "--publish" in err and option in err and repr(names) in err
    assert not (folder / "o.csv").exists()


def test_the_command_knows_the_role_of_a_secret(folder, capsys):
    t = pd.read_csv("people.csv", dtype=str)[["age", "region", "income"]]
    t.to_csv("few.csv", index=False)
    words = ["anonymize", "few.csv", "--qi", "age", "--class", "income", "-o", "o.csv"]
    assert cli.main(words) == 2
    assert cli.main([*words, "--sensitive", "region", "--l-diversity", "2"]) == 0
    assert read_release("o.csv").roles.other == ("region",)


def test_what_an_owner_may_overlook_is_said(tmp_path, monkeypatch, capsys):
    """Zeros in front, persons with several rows, cells of a release whose schema is gone"""
    monkeypatch.chdir(tmp_path)
    lines = [f"P{i // 3},{i % 40 + 20},{i % 7:05d},x" for i in range(120)]
    Path("visits.csv").write_text("patient,age,zip,plan\n" + "\n".join(lines) + "\n")
    base = "anonymize visits.csv --qi age,zip --numeric zip --class plan --k 3".split()
    assert cli.main([*base, "--identifiers", "patient", "-o", "o.csv"]) == 0
    said = capsys.readouterr().out
    assert "'zip' loses the zeros in front of 120 values" in said
    assert "3.0 rows each on average" in said and "--person patient" in said
    assert cli.main([*base, "--person", "patient", "-o", "p.csv"]) == 0
    assert "rows each on average" not in capsys.readouterr().out
    # whose a row is, is not in the release
    assert cli.main("audit p.csv --person patient".split()) == 2
    assert "does not show whose a row is" in capsys.readouterr().err
    Path("o.csv.schema.json").unlink()
    again = "anonymize o.csv --qi age --publish zip --class plan -o again.csv".split()
    assert cli.main(again) == 2 and not Path("again.csv").exists()
    assert "as a release has them" in capsys.readouterr().err
    assert cli.main([*again, "--categorical", "age"]) == 0
    semicolons = Path("o.csv").read_text().replace(",", ";")
    Path("s.csv").write_text(semicolons)
    assert cli.main("audit s.csv --qi age".split()) == 0
    assert "s.csv: ';' between fields" in capsys.readouterr().out
    assert cli.main("audit s.csv --qi age --sep ,".split()) == 2
    assert "must have ',' between its fields. Got ';'" in capsys.readouterr().err


def test_names_that_several_people_share_are_names():
    first, last = ("Ana", "Bo", "Cy", "Di", "Ed", "Flo"), ("Ng", "O'Neill", "de Boer", "Koch-Lang")
    names = [f"{a} {b}" for a in first for b in last] + [f"{b}, {a}" for a in first for b in last]
    X = pd.DataFrame({"age": np.arange(480) % 50, "who": np.resize(names, 480)})
    with pytest.raises(ValueError, match="names of people.*person='who'.*identifiers=\\['who'\\]"):
        MondrianAnonymizer(5, quasi_identifiers=["age"]).anonymize(X)
    towns = [f"town-{i}" for i in range(48)]
    X["who"] = np.resize(towns, 480)
    with pytest.raises(ValueError, match="'who' \\(48 values"):
        MondrianAnonymizer(5, quasi_identifiers=["age"]).anonymize(X)
