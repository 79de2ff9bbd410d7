"""`ppdt verify` and `ppdt sign`: what holds, what is broken, what cannot be told; as programs where
it matters, and for every method.
"""

import json
import os
import re
import sys

import pandas as pd
import pytest
import ready
from examples import one_in
from hypothesis import given as _given, strategies as st
from random_tables import pick
from registry import ANONYMIZERS
from test_artefacts import published

from ppdt import cli
from ppdt.datasets import load_customers
from ppdt.diversity import Alpha, LDiversity, TCloseness
from ppdt.engine.command_words import CommandError
from ppdt.engine.signing import new_key, sign, signature_fault, signature_path
from ppdt.engine.verifying import verify
from ppdt.erp import ERPAnonymizer
from ppdt.generalization import Taxonomy
from ppdt.lattice import LatticeAnonymizer
from ppdt.mondrian import MondrianAnonymizer
from ppdt.tables import TextFormError, schema_path


def given(**draws):
    return lambda f: one_in(20, least=2)(_given(**draws)(f))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with the customers, which is the current one"""
    monkeypatch.chdir(tmp_path)
    load_customers().reset_index().to_csv("customers.csv", index=False)
    return tmp_path


@pytest.fixture
def ppdt(here, capsys):
    """Calls main with a line of words: (exit code, stdout, stderr)"""

    def call(line):
        capsys.readouterr()
        code = cli.main(line.split())
        return code, *capsys.readouterr()

    return call


def program(line, cwd):
    """Runs the command as a program of its own"""
    return ready.command(*line.split(), cwd=cwd)


MAKE = "anonymize customers.csv --qi Gender,Marital,Age --identifiers customer --class Bought --k 3"


def released(ppdt, more="", name="out.csv"):
    """A release of the customers"""
    code, _, err = ppdt(f"{MAKE} {more} -o {name}")
    assert code == 0, err
    return name


def edit(path, old, new):
    """Change one thing in a text file"""
    text = path.read_text("utf-8")
    assert old in text, text
    path.write_text(text.replace(old, new, 1), "utf-8")


def broken(verdict):
    return [o.what for o in verdict.checks if o.holds is False]


# ---------------------------------------------------------------- as a program
def test_a_release_holds(here, ppdt):
    released(ppdt)
    r = program("verify out.csv --original customers.csv", here)
    assert r.returncode == 0 and not r.stderr
    assert r.stdout.count("holds") >= 5 and "BROKEN" not in r.stdout
    assert "out.csv: it holds" in r.stdout and "Cannot be checked" in r.stdout
    assert str(here) not in r.stdout


def test_one_changed_cell_is_noticed(here, ppdt):
    released(ppdt)
    edit(here / "out.csv", ",Yes", ",No")
    r = program("verify out.csv", here)
    assert r.returncode == 1 and not r.stderr
    assert re.search(r"^BROKEN +file +it was changed after it was written", r.stdout, re.M)
    assert re.search(r"^holds +promise +k-anonymity with k = 3", r.stdout, re.M), "what holds still"
    assert "does NOT hold" in r.stdout


def test_a_cell_that_breaks_a_group(here, ppdt):
    released(ppdt)
    edit(here / "out.csv", "Female", "Male")
    found = verify("out.csv", "customers.csv")
    assert {"file", "promise"} <= set(broken(found))


@pytest.mark.parametrize(
    "old, new, what",
    [
        ('"k": 3', '"k": 5', {"promise", "words"}),
        ("with k = 3", "with k = 30", {"words"}),
        ('"dtype": "str"', '"dtype": "int64"', {"columns"}),
        ('"name": "Age"', '"name": "Years"', {"columns"}),
        ('"sha256": "', '"sha256": "0', {"file"}),
    ],
    ids=["k", "words", "dtype", "name", "hash"],
)
def test_an_edited_schema_contradicts(here, ppdt, old, new, what):
    released(ppdt)
    edit(schema_path(here / "out.csv"), old, new)
    code, out, err = ppdt("verify out.csv")
    assert code == 1 and not err
    assert {o.split()[1] for o in out.splitlines() if o.startswith("BROKEN")} == what


@pytest.mark.parametrize(
    "old, new, what",
    [
        ('"l": 2', '"l": 3', {"promise", "words"}),
        ('"alpha": 0.8', '"alpha": 0.7', {"promise", "words"}),
        ("2-diversity", "3-diversity", {"words"}),
    ],
)
def test_an_edited_constraint_contradicts(here, ppdt, old, new, what):
    released(ppdt, "--l-diversity 2 --alpha 0.8")
    assert verify("out.csv").holds
    edit(schema_path(here / "out.csv"), old, new)
    assert set(broken(verify("out.csv"))) == what


def test_declared_values_that_nobody_has(here):
    t = load_customers()
    t["Marital"] = t["Marital"].astype("category")
    X = t.drop(columns="Bought")
    tool = MondrianAnonymizer(k=3, quasi_identifiers=["Gender", "Age"], published=["Marital"])
    tool.anonymize(X).to_csv("out.csv")
    assert verify("out.csv").holds
    edit(schema_path(here / "out.csv"), '"Married"', '"Engaged",\n    "Married"')
    assert broken(verify("out.csv")) == ["columns"]


@pytest.mark.parametrize(
    "spoil, says",
    [
        (lambda o: schema_path(o).unlink(), "must have its schema beside it"),
        (lambda o: schema_path(o).write_text("no"), "not JSON"),
        (lambda o: schema_path(o).write_text("[]"), "ppdt-release"),
        (lambda o: o.unlink(), "out.csv"),
        (lambda o: edit(schema_path(o), '"k-anonymity"', '"magic"'), "promise"),
    ],
    ids=["no schema", "no JSON", "no schema in it", "no file", "no promise"],
)
def test_what_cannot_be_read(here, ppdt, spoil, says):
    released(ppdt)
    spoil(here / "out.csv")
    r = program("verify out.csv", here)
    assert r.returncode == 2 and not r.stdout
    assert re.fullmatch(r"ppdt: [^\n]+\n", r.stderr) and says in r.stderr
    assert "Traceback" not in r.stderr and "changed=" not in r.stderr


def test_concealment_needs_the_original(ppdt):
    released(ppdt, "--mode erp")
    code, out, _ = ppdt("verify out.csv")
    assert code == 3 and "the original is needed" in out and "not all can be told" in out
    code, out, _ = ppdt("verify out.csv --original customers.csv")
    assert code == 0 and "at least 3 rows that fit" in out


def test_another_original(here, ppdt):
    released(ppdt)
    t = pd.read_csv("customers.csv")
    t["Age"] += 1
    t.to_csv("other.csv", index=False)
    code, out, _ = ppdt("verify out.csv --original other.csv")
    assert code == 1 and re.search(r"^BROKEN +original", out, re.M)
    assert re.search(r"^holds +promise", out, re.M), "the groups are as they were"
    t.head(3).to_csv("few.csv", index=False)
    code, _, err = ppdt("verify out.csv --original few.csv")
    assert code == 2 and "fewer than the 14" in err


def test_a_recoding_that_did_not_happen(here, ppdt):
    """The original is recoded as the schema says before it is compared"""
    released(ppdt)
    at = schema_path(here / "out.csv")
    d = json.loads(at.read_text())
    d["columns"][2] |= {"recoded": ["round 10"], "read_as": "number"}
    at.write_text(json.dumps(d))
    assert verify("out.csv").holds
    code, out, _ = ppdt("verify out.csv --original customers.csv")
    assert code == 1 and re.search(r"^BROKEN +original", out, re.M)


def test_persons_are_not_seen_in_a_file(here):
    t = load_customers()
    X = t.drop(columns="Bought").assign(who=[f"p{i // 2}" for i in range(14)])
    MondrianAnonymizer(k=2, person="who").anonymize(X, t["Bought"]).to_csv("out.csv")
    found = verify("out.csv")
    assert found.holds is None and "persons were counted, by the schema at least" in str(found)
    # another table does not make the promise hold
    other = verify("out.csv", X.assign(Age=X["Age"] + 50))
    assert other.holds is False and {o.what: o.holds for o in other.checks}["promise"] is None
    at = schema_path(here / "out.csv")
    said = re.search(r'"fewest": (\d+)', at.read_text())
    more = at.read_text().replace(said[0], '"fewest": 99').replace('"mean": ', '"mean": 99')
    at.write_text(more)
    found = verify("out.csv")
    assert found.holds is False and "more than there are rows" in str(found)


def test_groups_of_columns(here):
    t = load_customers()
    X = t.drop(columns="Bought")
    MondrianAnonymizer(k=3).anonymize(X, t["Bought"]).to_csv("out.csv")
    at = schema_path(here / "out.csv")
    d = json.loads(at.read_text())
    d["promise"] = {
        "words": "k-anonymity with k = 9 for Gender and k = 4 for Age",
        "kind": "groups",
        "groups": [{"columns": ["Gender"], "k": 9}, {"columns": ["Age"], "k": 4}],
        "constraints": [],
    }
    at.write_text(json.dumps(d))
    found = verify("out.csv")
    assert broken(found) == ["promise"] and "promised are 9" in str(found)


def test_rows_that_were_lost_are_counted(ppdt):
    released(ppdt, "--mode kactus")
    code, out, _ = ppdt("verify out.csv --original customers.csv")
    assert code == 0 and "rows are not published" in out


def test_a_file_with_another_name(here, ppdt):
    released(ppdt)
    os.rename("out.csv", "new.csv")
    os.rename(schema_path("out.csv"), schema_path("new.csv"))
    code, out, _ = ppdt("verify new.csv")
    assert code == 0 and "then as out.csv" in out


def test_a_column_that_cannot_be_compared(here):
    """Numbers that are names, published as ranges of a taxonomy: the other checks are told"""
    X = pd.DataFrame({"word": ["a", "a", "a", "b"], "code": [701, 701, 701, 702]})
    tree = Taxonomy.from_edges([701, 702], [700.0, 701.5, 703.0], [700.0, 703.0])
    tool = MondrianAnonymizer(
        k=3, mode="relaxed", categorical=["code"], recoding="ends", taxonomies={"code": tree}
    )
    tool.anonymize(X).to_csv("out.csv")
    found = verify("out.csv", X)
    assert found.holds is None and "cannot be compared" in str(found)
    assert [o.holds for o in found.checks[:-1]] == [True] * 4


def test_an_original_without_a_column(here, ppdt):
    released(ppdt)
    with pytest.raises(CommandError, match="'Age'"):
        verify("out.csv", load_customers().drop(columns="Age"))
    with pytest.raises(CommandError, match="fewer than the 14"):
        verify("out.csv", load_customers().head(3))


# ---------------------------------------------------------------- every method
@pytest.mark.parametrize("cls", list(ANONYMIZERS), ids=lambda o: o.__name__)
@given(data=st.data(), end=pick(".csv", ".parquet"))
def test_every_method_is_verified(cls, tmp_path_factory, data, end):
    X, y, tool, _ = data.draw(published(cls))
    if tool is None:
        return
    r, at = tool.release_, tmp_path_factory.mktemp("out") / f"out{end}"
    (r.to_csv if end == ".csv" else r.to_parquet)(at)
    alone = verify(at)
    assert broken(alone) == [], alone
    beside = verify(at, X.join(y))
    assert broken(beside) == [], beside
    if alone.holds:
        assert beside.holds is not False
    if end == ".csv":
        text = at.read_text("utf-8")
        at.write_text(text + text.splitlines()[-1] + "\n", "utf-8")
        assert "file" in broken(verify(at))


# ---------------------------------------------------------------- signatures
@pytest.fixture
def signed(here):
    """A release, signed: the public key"""
    t = load_customers()
    LatticeAnonymizer(k=3, suppression_limit=0.2).anonymize(t.drop(columns="Bought")).to_csv(
        "out.csv"
    )
    private, public = new_key("own.pem")
    sign("out.csv", private)
    return public


def test_sign_as_a_program(here, ppdt):
    released(ppdt)
    r = program("sign --new-key own.pem", here)
    assert r.returncode == 0 and "PRIVATE" in r.stdout and "PUBLIC" in r.stdout
    assert (here / "own.pem").stat().st_mode & 0o777 == 0o600
    r = program("sign out.csv --key own.pem", here)
    assert r.returncode == 0 and (here / "out.csv.sig").is_file()
    r = program("verify out.csv --key own.pem.pub", here)
    assert r.returncode == 0 and re.search(r"^holds +signature", r.stdout, re.M)
    assert "who wrote" not in r.stdout
    r = program("verify out.csv", here)
    assert r.returncode == 0 and "out.csv.sig needs a public key" in r.stdout


def test_a_signature_notices_every_edit(here, signed):
    assert verify("out.csv", key=signed).holds
    at = schema_path(here / "out.csv")
    # what no other check can see: a role, a setting
    whole = at.read_text()
    for old, new in (
        ('"quasi_identifier"', '"other"'),
        ('"missing": "error"', '"missing": "drop"'),
    ):
        edit(at, old, new)
        assert broken(verify("out.csv", key=signed)) == ["signature"]
        at.write_text(whole)
    edit(here / "out.csv", "Male", "Female")
    assert {"file", "signature"} <= set(broken(verify("out.csv", key=signed)))


def test_signatures_of_others(here, signed):
    _, other = new_key("other.pem")
    assert broken(verify("out.csv", key=other)) == ["signature"]
    signature_path("out.csv").unlink()
    found = verify("out.csv", key=signed)
    assert broken(found) == ["signature"] and "nobody signed" in str(found)


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": "ppdt-signature", "version": 1}'])
def test_what_is_no_signature(here, signed, text):
    signature_path("out.csv").write_text(text)
    assert "cannot be used" in signature_fault("out.csv", signed)


@pytest.mark.parametrize(
    "line, says",
    [
        ("sign", "Got no release"),
        ("sign out.csv", "Got no --key"),
        ("sign out.csv --key none.pem", "none.pem, which is not there"),
        ("sign out.csv --key customers.csv", "private Ed25519"),
        ("sign out.csv --key own.pem.pub", "private Ed25519"),
        ("sign customers.csv --key own.pem", "Got no customers.csv.schema.json"),
        ("sign --new-key own.pem", "a key that is replaced is lost"),
        ("sign --new-key no/own.pem", "make the folder"),
        ("sign out.csv --new-key new.pem", "must stand alone"),
        ("verify out.csv --key own.pem", "it is a private key"),
        ("verify out.csv --key none.pem", "not there"),
        ("verify", "RELEASE"),
    ],
)
def test_bad_words(here, signed, capsys, line, says):
    before = {o.name: o.read_bytes() for o in here.iterdir()}
    capsys.readouterr()
    assert cli.main(line.split()) == 2
    out, err = capsys.readouterr()
    assert not out and re.fullmatch(r"ppdt: [^\n]+\n", err) and says in err
    assert {o.name: o.read_bytes() for o in here.iterdir()} == before


def test_a_changed_release_is_not_signed(here, signed):
    edit(here / "out.csv", "Male", "Female")
    with pytest.raises(CommandError, match="must be as it was written"):
        sign("out.csv", "own.pem")


def test_keys_with_a_passphrase(here, signed):
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import (
        BestAvailableEncryption,
        Encoding,
        PrivateFormat,
    )

    locked = BestAvailableEncryption(b"word")
    key = Ed25519PrivateKey.generate()
    data = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, locked)
    (here / "locked.pem").write_bytes(data)
    with pytest.raises(CommandError, match="without a passphrase"):
        sign("out.csv", "locked.pem")


def test_without_the_library(here, signed, monkeypatch):
    for name in [o for o in sys.modules if o.startswith("cryptography")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(CommandError, match=r"pip install 'ppdt\[sign\]'"):
        sign("out.csv", "own.pem")
    assert verify("out.csv").holds, "nothing else needs it"


def test_a_verdict_in_python(here):
    t = load_customers()
    X = t.drop(columns="Bought")
    ERPAnonymizer(k=3).anonymize(X, t["Bought"]).to_csv("erp.csv")
    tight = [LDiversity(2), Alpha(0.8), TCloseness(0.4)]
    MondrianAnonymizer(k=3, constraints=tight).anonymize(X, t["Bought"]).to_csv("out.csv")
    found = verify("out.csv", t)
    assert found.holds and "<td>promise</td>" in found._repr_html_()
    assert "<script" not in found._repr_html_()
    with pytest.raises(TextFormError):
        verify("customers.csv")
