"""The lab: what is handed in is checked line by line, never a crash, and the board is right."""

import hashlib
import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import places
import pytest

sys.path.insert(0, str(places.ROOT / "scripts"))
import lab  # noqa: E402

from ppdt.mict import MicroaggregationAnonymizer  # noqa: E402
from ppdt.mondrian import MondrianAnonymizer  # noqa: E402

CLAIM = f'method = "strict"\nk = 5\nwhy = "{"word " * 20}"\n'


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """A lab of two teams, ash with a good release and birch with averages"""
    folder = tmp_path_factory.mktemp("lab")
    lab.new(folder, ["ash", "birch"], seed=3)
    for team, method in (("ash", MondrianAnonymizer), ("birch", MicroaggregationAnonymizer)):
        mine = folder / "give" / team
        table = pd.read_csv(mine / "table.csv")
        method(k=5).anonymize(table[lab.KNOWN], table.income).to_csv(mine / lab.RELEASE)
        (mine / lab.CLAIM).write_text(CLAIM, "utf-8")
    return folder


@pytest.fixture
def mine(given, tmp_path):
    """Ash's folder, to be spoilt"""
    return shutil.copytree(given / "give" / "ash", tmp_path / "ash")


def spoil(mine, change):
    """Change the rows of the release as text, and sign the file anew"""
    path, schema = mine / lab.RELEASE, mine / lab.SCHEMA
    rows = change(pd.read_csv(path, dtype=str, keep_default_na=False))
    rows.to_csv(path, index=False)
    said = json.loads(schema.read_text("utf-8"))
    said["file"]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    columns = {o["name"]: o for o in said["columns"]}
    text = dict(role="other", kind="categorical", dtype="str")
    said["columns"] = [columns.get(o, {"name": o} | text) for o in rows]
    schema.write_text(json.dumps(said), "utf-8")


def test_a_lab_tells_nobody_who_is_in(given):
    table = pd.read_csv(given / "give" / "ash" / "table.csv")
    names = pd.read_csv(given / "secret" / "ash_names.csv")
    others = pd.read_csv(given / "secret" / "ash_others.csv")
    assert (len(table), len(others), len(names)) == (400, 400, 200)
    assert names.is_in.sum() == 100 and names.person.is_unique
    columns = [*lab.KNOWN, "income"]
    for side, people in ((True, table), (False, others)):
        some = names[names.is_in == side][columns]
        assert len(some.merge(people[columns].drop_duplicates())) == 100
    runs = np.abs(np.diff(names.is_in.astype(int))).sum()  # the list is in no order
    assert 60 < runs < 140
    files = {p.name for p in (given / "give").rglob("*") if p.is_file()}
    assert files == {"table.csv", "lab.py", "lab.ipynb", lab.RELEASE, lab.SCHEMA, lab.CLAIM}
    drawn = [pd.read_csv(given / "give" / o / "table.csv") for o in ("ash", "birch")]
    assert not drawn[0].equals(drawn[1])


def test_a_hand_out_runs_in_the_folder_of_its_team(given, tmp_path, monkeypatch):
    """Both rounds as a student runs them, cell by cell, with nothing that is the lecturer's"""
    folder = shutil.copytree(given, tmp_path / "lab")
    mine = folder / "give" / "birch"
    cells = json.loads((mine / "lab.ipynb").read_text("utf-8"))["cells"]
    whole = "".join("".join(c["source"]) for c in cells)
    assert not re.search(r"<details>|lecturer\*\*|LAB/secret|#\| hide|\]\(", whole)
    lab.open_round(folder)
    shutil.copytree(folder / "opened", mine / "opened")
    monkeypatch.chdir(mine)
    names = {}
    for c in cells:
        if c["cell_type"] == "code":
            exec("".join(c["source"]), names)  # noqa: S102
    attacks = pd.read_csv(lab.ATTACKS)
    assert set(attacks.target) == {"ash"} and set(attacks.attack) == {"link", "infer", "single"}
    assert lab.check(Path(".")).faults == []


def test_without_a_seed_people_are_others_each_time(tmp_path):
    for o in "ab":
        lab.new(tmp_path / o, ["ash", "birch"])
    first, second = ((tmp_path / o / "give/ash/table.csv").read_text("utf-8") for o in "ab")
    assert first != second
    with pytest.raises(ValueError, match="has a lab already"):
        lab.new(tmp_path / "a", ["ash", "birch"])
    for teams in (["ash"], ["ash", "ash"], ["ash", "../birch"]):
        with pytest.raises(ValueError, match="two different plain words"):
            lab.new(tmp_path / "c", teams)


def test_good_releases_have_no_fault(given):
    found = lab.submitted(given)
    assert [(t, o.faults, o.k) for t, o in found.items()] == [("ash", [], 5), ("birch", [], 5)]


def test_tables_are_the_lecturers_not_those_handed_in(given, mine):
    """A team that changes its own table does not make false cells true"""
    kept = given / "secret" / "ash_table.csv"
    other = pd.read_csv(given / "secret" / "ash_others.csv")
    other.to_csv(mine / "table.csv", index=False)
    assert lab.check(mine, kept).faults == []
    assert lab.check(mine).faults  # held against what was handed in


@pytest.mark.parametrize("name", [lab.RELEASE, lab.SCHEMA, lab.CLAIM])
def test_a_missing_file_is_a_line(mine, name):
    (mine / name).unlink()
    assert lab.check(mine).faults == [f"{name} is missing: put it into the folder ash"]


@pytest.mark.parametrize(
    "text, line",
    [
        ("k = ", "claim.toml is no TOML"),
        (CLAIM.replace("k = 5", 'k = "5"'), "'k' must be an integer from 2 on. Got '5'"),
        (CLAIM.replace("k = 5", "k = true"), "'k' must be an integer from 2 on. Got True"),
        (CLAIM.replace("k = 5", "k = 1"), "'k' must be an integer from 2 on. Got 1"),
        (CLAIM.replace("k = 5", "k = 500"), "'k' must be at most 400"),
        ('method = "strict"\nk = 5\nwhy = "Because."', "20 words or more. Got 1"),
        ('k = 5\nwhy = "' + "word " * 20 + '"', "'method' must be a text. Got None"),
        (CLAIM.replace("k = 5", "k = 6"), "k = 6 does not hold: somebody stands in a group of 5"),
    ],
)
def test_claims_that_cannot_stand(mine, text, line):
    (mine / lab.CLAIM).write_text(text, "utf-8")
    (said,) = lab.check(mine).faults
    assert line in said


def test_a_claim_that_is_no_text(mine):
    (mine / lab.CLAIM).write_bytes(b"\xff\xfe\x00")
    assert lab.check(mine).faults[0].startswith("claim.toml is no TOML")


def group_of_four(rows):
    "A row of another group is put where one of a group was"
    sizes = rows.groupby(lab.KNOWN).income.transform("size")
    five = rows.index[sizes == 5][0]
    other = rows.index[(rows[lab.KNOWN] != rows.loc[five, lab.KNOWN]).any(axis=1)][0]
    rows.loc[five, lab.KNOWN] = rows.loc[other, lab.KNOWN]
    return rows


@pytest.mark.parametrize(
    "change, lines",
    [
        (lambda t: t.drop(columns="age"), ["release.csv lacks the column age"]),
        (lambda t: t.assign(name="x"), ["release.csv must not show name"]),
        (lambda t: t.drop(columns="income"), ["release.csv lacks the column income"]),
        (lambda t: t.iloc[:300], ["has 300 rows; your table has 400, of which 20 may be lost"]),
        (lambda t: pd.concat([t, t[:5]]), ["has 405 rows; your table has 400"]),
        (lambda t: t.assign(income="low"), ["rows of income low more than"]),
        (lambda t: t.assign(age="{17, 90}"), ["false cells"]),
        (group_of_four, ["false cells: 399 of 400", "k = 5 does not hold: somebody stands in"]),
    ],
)
def test_spoilt_releases_are_told(mine, change, lines):
    spoil(mine, change)
    faults = lab.check(mine).faults
    for line in lines:
        assert any(line in o for o in faults), faults


def test_changed_incomes_within_their_numbers_are_false(mine):
    """Two incomes change places: rows, groups and classes are counted as before"""

    def exchanged(t):
        groups = t.groupby(lab.KNOWN).income.agg(["nunique", "first"])
        pure = groups[groups["nunique"] == 1].reset_index().drop_duplicates("first")
        (low, high) = ((t[lab.KNOWN] == pure.iloc[i][lab.KNOWN]).all(axis=1) for i in (0, 1))
        i, j = t.index[low][0], t.index[high][0]
        t.loc[[i, j], "income"] = t.loc[[j, i], "income"].to_numpy()
        return t

    before = pd.read_csv(mine / lab.RELEASE, dtype=str)
    spoil(mine, exchanged)
    after = pd.read_csv(mine / lab.RELEASE, dtype=str)
    assert (before.income != after.income).sum() == 2
    assert lab.check(mine).faults == ["false cells: 398 of 400 rows hold the original's values"]


@pytest.mark.parametrize(
    "write",
    [
        lambda p: p.write_bytes(b""),
        lambda p: p.write_bytes(bytes(range(256))),
        lambda p: p.write_text("age\n1,2,3\n", "utf-8"),
        lambda p: p.write_text(p.read_text("utf-8").replace("e", "3", 1), "utf-8"),
    ],
)
@pytest.mark.parametrize("name", [lab.RELEASE, lab.SCHEMA])
def test_files_that_cannot_be_read_are_lines(mine, name, write):
    write(mine / name)
    (said,) = lab.check(mine).faults
    assert said.startswith("release.csv cannot be read") and "\n" not in said


@pytest.mark.parametrize("sep", [",", ";"])
def test_a_file_that_a_spreadsheet_saved_is_told_as_such(mine, sep):
    rows = pd.read_csv(mine / lab.RELEASE, dtype=str, keep_default_na=False)
    rows.to_csv(mine / lab.RELEASE, index=False, sep=sep, lineterminator="\r\n")
    (said,) = lab.check(mine).faults
    assert said.endswith("saved by a spreadsheet: write it again with to_csv")


def test_what_nobody_thought_of_is_a_line(mine, monkeypatch):
    def fails(*args, **options):
        raise ZeroDivisionError("in the\nmiddle")

    monkeypatch.setattr(lab, "audit", fails)
    assert lab.check(mine).faults == ["release.csv cannot be checked: in the middle"]


def line_of(**more):
    """A line of attacks.csv"""
    return dict.fromkeys(lab.COLUMNS, "") | more


def test_attacks_that_cannot_be_judged_do_not_count(given, tmp_path):
    folder = shutil.copytree(given, tmp_path / "lab")
    path = folder / "give" / "birch" / lab.ATTACKS
    targets = lab.submitted(folder)
    truth = {"ash": pd.read_csv(folder / "secret/ash_names.csv", index_col="person")}

    def read():
        return lab.read_attacks(folder, "birch", targets, truth)

    assert read()[1] == ["attacks.csv is missing: no attack is counted"]
    path.write_bytes(b"")
    assert read()[1][0].startswith("attacks.csv cannot be read")
    path.write_text("target,attack\nash,link\n", "utf-8")
    assert read()[1] == ["attacks.csv lacks person, row, column, value"]
    good = [line_of(target="ash", attack="link", person="ash-001")]
    bad = {
        "target 'oak' is no opened table": line_of(target="oak"),
        "your own table": line_of(target="birch"),
        "attack must be link, infer or single. Got 'hack'": line_of(target="ash", attack="hack"),
        "'x' is not on the list of ash": line_of(target="ash", attack="infer", person="x"),
        "row must be 1 to 400. Got '0'": line_of(target="ash", attack="single", row="0"),
        "row must be 1 to 400. Got 'a'": line_of(target="ash", attack="single", row="a"),
        "no column 'no'": line_of(target="ash", attack="single", row="1", column="no"),
    }
    for said, line in bad.items():
        pd.DataFrame([*good, line]).to_csv(path, index=False)
        claims, lines = read()
        assert (len(claims), lines) == (1, [f"attacks.csv, line 3: {said}"])
    pd.DataFrame([*good, *bad.values()]).to_csv(path, index=False)
    assert len(read()[1]) == 3 and "5 more lines" in read()[1][2]
    single = line_of(target="ash", attack="single", column="age", value="30")
    many = [single | {"row": str(i)} for i in range(1, 24)]
    pd.DataFrame(many).to_csv(path, index=False)
    claims, lines = read()
    assert len(claims) == 20 and "more than 20 descriptions of ash" in lines[0]


def claims_of(names, who, attack, value=""):
    said = [line_of(target="ash", attack=attack, person=o, value=value) for o in who]
    return pd.DataFrame(said, columns=lab.COLUMNS)


def test_what_is_gained_is_counted_in_less_out(given):
    release = lab.check(given / "give" / "ash").release
    names = pd.read_csv(given / "secret" / "ash_names.csv", index_col="person")

    def gain(claims, kind):
        return lab.gains(claims, "ash", release, given, names)[kind].gain

    members, strangers = names.index[names.is_in], names.index[~names.is_in]
    assert gain(claims_of(names, names.index, "link"), "link") == 0  # all are in: worth nothing
    assert gain(claims_of(names, members, "link"), "link") == 1
    assert gain(claims_of(names, strangers[:30], "link"), "link") == pytest.approx(-0.3)
    twice = pd.concat([claims_of(names, members[:30], "link")] * 2)
    assert gain(twice, "link") == pytest.approx(0.3)
    low = claims_of(names, names.index, "infer", "low")
    share = (names.income == "low").groupby(names.is_in).mean()
    assert gain(low, "infer") == pytest.approx(share[True] - share[False])
    table = pd.read_csv(given / "secret" / "ash_table.csv")
    others = pd.read_csv(given / "secret" / "ash_others.csv")
    # by hand: a group's cells, and each age in it
    cells = release.data.iloc[0]

    def hers(t):
        ok = [t[c].isin(getattr(cells[c], "values", [cells[c]])) for c in lab.KNOWN]
        return t[np.logical_and.reduce(ok)]

    ages = sorted(hers(table).age.unique())
    said = [
        line_of(target="ash", attack="single", row="1", column="age", value=str(o)) for o in ages
    ]
    right = [(hers(t).age.value_counts().reindex(ages) == 1).sum() for t in (table, others)]
    assert right[0] > 0
    assert gain(pd.DataFrame(said), "single") == pytest.approx((right[0] - right[1]) / 20)


def test_owners_are_ranked_by_accuracy_within_the_limit():
    t = pd.DataFrame(
        {
            "accuracy": [0.7, 0.9, 0.8, np.nan, 0.95],
            "gain": [0.0, 0.05, 0.3, np.nan, 0.05],
            "inferred": [0.1, 0.0, 0.0, np.nan, 0.2],
        },
        index=list("abcde"),
    )
    seen = lab.ranked(t, 0.1)
    assert list(seen.index) == ["b", "a", "e", "c", "d"]
    assert list(seen.stage) == ["within the limit"] * 2 + ["above it"] * 2 + ["not accepted"]


def test_the_board_of_two_teams(given, tmp_path, capsys):
    folder = shutil.copytree(given, tmp_path / "lab")
    assert lab.main(["open", str(folder)]) == 0
    assert capsys.readouterr().out == "ash: accepted, k = 5\nbirch: accepted, k = 5\n"
    found = {p.relative_to(folder).as_posix() for p in (folder / "opened").rglob("*.*")}
    assert len(found) == 6 and "opened/ash/names.csv" in found
    names = pd.read_csv(folder / "opened" / "ash" / "names.csv")
    assert list(names) == ["person", *lab.KNOWN]
    theirs, names = lab.opened(folder / "opened")["ash"]
    said = [lab.link("ash", theirs, names), lab.infer("ash", theirs, names)]
    said.append(lab.single_out("ash", theirs))
    pd.concat(said).to_csv(folder / "give" / "birch" / lab.ATTACKS, index=False)
    assert lab.main(["board", str(folder)]) == 0
    text = capsys.readouterr().out
    assert "ash: attacks.csv is missing: no attack is counted" in text
    seen = lab.board(folder)
    assert seen.lines == [("ash", "attacks.csv is missing: no attack is counted")]
    assert seen.attackers.index.tolist() == ["birch", "ash"]
    assert seen.attackers.points["ash"] == 0 < seen.attackers.points["birch"]
    linked = seen.owners.loc["ash", "linked"]
    assert linked == seen.attackers.loc["birch", "link"] > 0.5
    assert seen.owners.loc["ash", "gain"] > 0.2 > seen.owners.loc["birch", "gain"]


def test_a_folder_of_broken_teams_still_has_a_board(given, tmp_path):
    folder = shutil.copytree(given, tmp_path / "lab")
    shutil.rmtree(folder / "give" / "birch")
    (folder / "give" / "ash" / lab.CLAIM).unlink()
    seen = lab.board(folder)
    assert set(seen.owners.stage) == {"not accepted"} and len(seen.lines) == 6


def test_a_table_that_got_a_fault_is_closed_again(given, tmp_path):
    folder = shutil.copytree(given, tmp_path / "lab")
    lab.open_round(folder)
    assert sorted(lab.opened(folder / "opened")) == ["ash", "birch"]
    (folder / "give" / "birch" / lab.CLAIM).unlink()
    lab.open_round(folder)
    assert sorted(lab.opened(folder / "opened")) == ["ash"]


def test_a_team_without_a_claim_leaves_the_k_of_others_whole(given, tmp_path, capsys):
    folder = shutil.copytree(given, tmp_path / "lab")
    (folder / "give" / "birch" / lab.CLAIM).unlink()
    assert lab.main(["board", str(folder)]) == 0
    text = capsys.readouterr().out
    assert re.search(r"^ash +strict +5 +5 +0\.", text, re.M) and "NaN" not in text
    (folder / "give" / "birch" / lab.CLAIM).write_text(CLAIM.replace("5", "9" * 30), "utf-8")
    assert lab.board(folder).owners.k.to_dict() == {"ash": 5, "birch": int("9" * 30)}


def test_teams_check_themselves_with_the_script_in_their_folder(mine, capsys):
    text = (mine / "lab.py").read_text("utf-8")
    assert text == Path(lab.__file__).read_text("utf-8") and "sys.path" not in text
    assert lab.main(["check", str(mine)]) == 0
    (mine / lab.CLAIM).unlink()
    assert lab.main(["check", str(mine)]) == 1
    gone = "claim.toml is missing: put it into the folder ash"
    assert capsys.readouterr().out == f"ash: accepted, k = 5\nash: {gone}\n"
    with pytest.raises(SystemExit):
        lab.main(["board", str(mine)])
