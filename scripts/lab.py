"""The lab, attack and defend: tables for teams, checks of what they hand in, and the board.

    python scripts/lab.py new FOLDER ash birch cedar ...   a table for each team, names, the truth
    python scripts/lab.py check FOLDER/give/ash             what is wrong with ash's release
    python scripts/lab.py open FOLDER                       check all; gather what is to be attacked
    python scripts/lab.py board FOLDER                      the scoreboard, as text

The page nbs/class/lab.ipynb says how a class plays it, nbs/class/scoreboard.ipynb shows the board.
People are drawn by make_population with a seed that nobody is told (--seed N fixes it).

    FOLDER/give/ash/         for team ash: table.csv, this script, the hand-out lab.ipynb to work
                             in; ash hands the folder in
    FOLDER/opened/ash/       for all others: release.csv with its schema, names.csv
    FOLDER/secret/           for the lecturer: who is in, and the people nobody published
"""

import argparse
import hashlib
import json
import re
import secrets
import shutil
import sys
import tomllib
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from ppdt.attacks import Downcoding, FittingRows, Presence, attack, gain_of
from ppdt.c45 import C45Classifier
from ppdt.datasets import make_population
from ppdt.privacy import audit
from ppdt.release import read_release

KNOWN = "age education occupation marital_status region hours".split()
CLASS = "income"
PEOPLE, NAMED, TEST = 400, 100, 2000  # in a table; names of each side on a list; for accuracy
SINGLES = 20  # descriptions that a team may claim of one table
LEAST_WORDS, MOST_LOST = 20, 0.05
RELEASE, CLAIM, ATTACKS = "release.csv", "claim.toml", "attacks.csv"
SCHEMA = RELEASE + ".schema.json"
MEASURED = ["accuracy", "risk", "gain", "low", "high", "linked", "inferred", "singled out"]
COLUMNS = "target attack person row column value".split()
PAGE = Path(__file__).resolve().parent.parent / "nbs" / "class" / "lab.ipynb"
START = """\
from pathlib import Path

import pandas as pd
from lab import KNOWN, check, infer, link, opened, print_faults, single_out

from ppdt.mondrian import MondrianAnonymizer

team = "{team}"
here = folder = Path(".")  # the folder of your team
"""


def new(folder, teams, seed=None):
    """Write a table for each team, a list of names, and the truth.

    Raises ValueError for fewer than two teams, for names that are no plain words, and where
    something is there already.
    """
    folder = Path(folder)
    if len(set(teams)) < 2 or not all(o.isidentifier() for o in teams):
        raise ValueError(f"'teams' must be two different plain words at least. Got {teams}.")
    if (folder / "secret").exists():
        raise ValueError(f"{folder} has a lab already: choose an empty folder.")
    rng = np.random.default_rng(secrets.randbits(128) if seed is None else seed)
    world = make_population(2 * PEOPLE * len(teams) + TEST, int(rng.integers(2**31)))
    for o in ("give", "secret"):
        (folder / o).mkdir(parents=True, exist_ok=True)
    world.iloc[-TEST:].to_csv(folder / "secret" / "test.csv", index=False)
    for i, team in enumerate(teams):
        both = world[[*KNOWN, CLASS]].iloc[2 * PEOPLE * i : 2 * PEOPLE * (i + 1)]
        inside, outside = both.iloc[:PEOPLE], both.iloc[PEOPLE:]
        mine = folder / "give" / team
        mine.mkdir()
        inside.to_csv(mine / "table.csv", index=False)
        shutil.copy(mine / "table.csv", folder / "secret" / f"{team}_table.csv")
        shutil.copy(__file__, mine / "lab.py")
        if PAGE.is_file():
            page = hand_out(json.loads(PAGE.read_text("utf-8")), team)
            (mine / PAGE.name).write_text(json.dumps(page, ensure_ascii=False), "utf-8")
        outside.to_csv(folder / "secret" / f"{team}_others.csv", index=False)
        asked = [o.sample(NAMED, random_state=rng.integers(2**31)) for o in (inside, outside)]
        names = pd.concat(asked).assign(is_in=np.repeat([True, False], NAMED))
        names = names.sample(frac=1, random_state=rng.integers(2**31))
        names.insert(0, "person", [f"{team}-{j:03}" for j in range(1, 2 * NAMED + 1)])
        names.to_csv(folder / "secret" / f"{team}_names.csv", index=False)


def hand_out(page, team):
    """The page of the lab as a notebook for a team: without answers and what the lecturer does

    Its code runs in the folder of the team; links name pages of the students' copies.
    """
    cells = []
    for cell in page["cells"]:
        text = "".join(cell["source"])
        if text.startswith("## For the lecturer"):
            break
        if cell["cell_type"] == "markdown":
            text = re.sub(r"\s*<details>.*?</details>\n?", "", text, flags=re.S)
            text = re.sub(r"\[([^]]+)\]\(\.\./([\w/]+\.ipynb)[^)]*\)", r"\1 (`nbs/\2`)", text)
            text = re.sub(r"\[([^]]+)\]\(\w+\.ipynb[^)]*\)", r"\1", text)
        elif text.startswith("#| hide"):
            text = ""
        else:
            cell = cell | {"outputs": [], "execution_count": None}
        if text:
            cells.append(cell | {"source": text.splitlines(keepends=True)})
    code = {"cell_type": "code", "id": "start", "metadata": {}, "outputs": []}
    code |= {"execution_count": None, "source": START.format(team=team).splitlines(keepends=True)}
    return page | {"cells": [cells[0], code, *cells[1:]]}


@dataclass
class HandedIn:
    """What a team handed in, and what is wrong with it"""

    claim: dict = field(default_factory=dict)
    release: object = None
    k: int | None = None  # counted
    faults: list = field(default_factory=list)


def check(folder, table=None):
    """What a team handed in, held against its table, as `HandedIn`.

    `table` is where the lecturer keeps the table; None: the team's own copy. Nothing that a team
    hands in raises an error: each fault is a line.
    """
    folder, res = Path(folder), HandedIn()
    gone = [o for o in (CLAIM, RELEASE, SCHEMA) if not (folder / o).is_file()]
    if gone:
        name = folder.resolve().name
        res.faults = [f"{o} is missing: put it into the folder {name}" for o in gone]
        return res
    res.claim, said = read_claim(folder / CLAIM)
    res.faults += said
    try:
        res.release = read_release(folder / RELEASE)
    except Exception as e:  # whatever a team hands in is a line on the board
        changed = is_changed(folder)
        why = "it was changed, or saved by a spreadsheet: write it again with to_csv"
        res.faults.append(f"{RELEASE} cannot be read: {why if changed else one_line(e)}")
        return res
    table = pd.read_csv(table or folder / "table.csv")
    said = wrong_columns(res.release) or wrong_rows(res.release, table)
    if said:
        res.faults += said
        return res
    try:
        res.faults += false_cells(res.release, table)
        count_k(res, table)
    except Exception as e:
        res.faults.append(f"{RELEASE} cannot be checked: {one_line(e)}")
    return res


def is_changed(folder):
    """Is the release another file than the one that its schema names?"""
    try:
        said = json.loads((folder / SCHEMA).read_text("utf-8"))["file"]["sha256"]
    except (ValueError, LookupError, TypeError):
        return False  # the schema cannot be read
    return said != hashlib.sha256((folder / RELEASE).read_bytes()).hexdigest()


def count_k(handed_in, table):
    """Count k of a release, and say so where it is below the claim"""
    k = handed_in.claim.get("k")
    if k is None or k > len(table):
        most = f"at most {len(table)}, the people. Got {k}"
        handed_in.faults += [] if k is None else [f"{CLAIM}: 'k' must be {most}"]
        return
    seen = audit(handed_in.release, original=table[KNOWN], k=k)
    tiers = seen.one_k is not None
    handed_in.k = min(seen.one_k, seen.global_one_k) if tiers else seen.k
    if handed_in.k < k:
        what = "has as few rows that could be hers as" if tiers else "stands in a group of"
        handed_in.faults.append(f"k = {k} does not hold: somebody {what} {handed_in.k}")


def one_line(e):
    """An error as a line of at most 160 characters"""
    text = " ".join(str(e).split()) or type(e).__name__
    return text if len(text) <= 160 else text[:157] + "..."


def read_claim(path):
    """A team's claim, and what is wrong with it"""
    try:
        claim = tomllib.loads(path.read_text("utf-8"))
    except ValueError as e:
        return {}, [f"{CLAIM} is no TOML: {one_line(e)}"]
    faults, k = [], claim.get("k")
    if isinstance(k, bool) or not isinstance(k, int) or k < 2:
        claim["k"] = None
        faults.append(f"{CLAIM}: 'k' must be an integer from 2 on. Got {k!r}: write k = 5")
    for o in ("method", "why"):
        if not isinstance(claim.get(o), str):
            faults.append(f"{CLAIM}: '{o}' must be a text. Got {claim.get(o)!r}")
            claim[o] = ""
    words = len(claim["why"].split())
    if claim["why"] and words < LEAST_WORDS:
        faults.append(f"{CLAIM}: 'why' must argue in {LEAST_WORDS} words or more. Got {words}")
    return claim, faults


def wrong_columns(release):
    """Columns that a release must not have, and those that it lacks"""
    shown = [*release.data, *([] if release.y is None else [release.y.name])]
    lines = [f"{RELEASE} must not show {o}" for o in shown if o not in (*KNOWN, CLASS)]
    lines += [f"{RELEASE} lacks the column {o}" for o in (*KNOWN, CLASS) if o not in shown]
    if not lines and (release.y is None or release.y.name != CLASS):
        lines = [f"{RELEASE}: {CLASS} must be the class: anonymize(table[KNOWN], table.{CLASS})"]
    return lines


def wrong_rows(release, table):
    """Rows too few or too many, of all people and of a class"""
    n, lost = len(release.data), int(MOST_LOST * len(table))
    if not len(table) - lost <= n <= len(table):
        return [f"{RELEASE} has {n} rows; your table has {len(table)}, of which {lost} may be lost"]
    more = release.y.astype(str).value_counts().sub(table[CLASS].value_counts(), fill_value=0)
    return [
        f"{RELEASE} has {int(more[o])} rows of {CLASS} {o} more than your table"
        for o in more.index[more > 0]
    ]


def false_cells(release, table):
    """Rows that hold no person's values: each needs a person of its own, with the class"""
    shown = release.data.assign(**{CLASS: release.y.astype(str).to_numpy()})
    names = [*KNOWN, CLASS]
    seen = audit(shown, names, original=table[names], taxonomies=release.taxonomies or None)
    if seen.truthful is not False:
        return []
    told = [o for o in seen.warnings if "hold the original's values" in o]
    return [f"false cells: {told[0].partition(' (')[0]}" if told else "false cells"]


def submitted(folder):
    """Teams of a lab with what they handed in: {team: HandedIn}"""
    folder = Path(folder)
    suffix = "_table.csv"
    teams = sorted(o.name.removesuffix(suffix) for o in (folder / "secret").glob(f"*{suffix}"))
    return {o: check(folder / "give" / o, folder / "secret" / f"{o}{suffix}") for o in teams}


def open_round(folder):
    """Gather the releases without a fault, with the names to ask about; {team: HandedIn}"""
    folder, found = Path(folder), submitted(folder)
    for team, o in found.items():
        target = folder / "opened" / team
        # what was opened before may have been replaced by a table with a fault
        shutil.rmtree(target, ignore_errors=True)
        if o.faults:
            continue
        target.mkdir(parents=True)
        for name in (RELEASE, SCHEMA):
            shutil.copy(folder / "give" / team / name, target)
        names = pd.read_csv(folder / "secret" / f"{team}_names.csv")
        names[["person", *KNOWN]].to_csv(target / "names.csv", index=False)
    return found


def opened(folder):
    """What a team finds in the folder `opened`: {team: (release, names)}"""
    places = sorted(o for o in Path(folder).iterdir() if o.is_dir())
    return {o.name: (read_release(o / RELEASE), pd.read_csv(o / "names.csv")) for o in places}


def link(target, release, names):
    """Claims that somebody has a row: everybody whom a row fits"""
    said = names.person[Presence(release).believe(names).rows > 0]
    return pd.DataFrame({"target": target, "attack": "link", "person": said}, columns=COLUMNS)


def infer(target, release, names, certain=True):
    """Claims of somebody's class: where all rows that fit agree, or for everybody"""
    found = FittingRows(release).believe(names)
    asked = found.is_certain if certain else np.full(len(names), True)
    said = {"person": names.person[asked], "value": found.guess[asked]}
    return pd.DataFrame({"target": target, "attack": "infer", **said}, columns=COLUMNS)


def single_out(target, release, tight=None):
    """Claims that one person of the table fits a row and has a value; `tight` as in Downcoding"""
    found = Downcoding(release, tight=tight).find()
    said = found.predicates.drop_duplicates(["class", "column", "value"]).head(SINGLES)
    row = [int(np.flatnonzero(found.of == o)[0]) + 1 for o in said["class"]]
    told = {"row": row, "column": said["column"], "value": said["value"]}
    return pd.DataFrame({"target": target, "attack": "single", **told}, columns=COLUMNS)


def read_attacks(folder, team, targets, truth):
    """A team's claims that can be judged, and a line for each fault"""
    path = Path(folder) / "give" / team / ATTACKS
    if not path.is_file():
        return pd.DataFrame(columns=COLUMNS), [f"{ATTACKS} is missing: no attack is counted"]
    try:
        said = pd.read_csv(path, dtype=str, keep_default_na=False)
    except Exception as e:  # a line, whatever it is
        return pd.DataFrame(columns=COLUMNS), [f"{ATTACKS} cannot be read: {one_line(e)}"]
    gone = [o for o in COLUMNS if o not in said]
    if gone:
        return said.iloc[:0].reindex(columns=COLUMNS), [f"{ATTACKS} lacks {', '.join(gone)}"]
    why = [fault_of(o, team, targets, truth) for o in said.itertuples(index=False)]
    n_singles = said[said.attack == "single"].groupby("target").cumcount()
    for i in n_singles.index[n_singles >= SINGLES]:
        why[i] = why[i] or f"more than {SINGLES} descriptions of {said.target[i]}"
    said = said.drop_duplicates(["target", "attack", "person", "row", "column", "value"])
    lines = [f"{ATTACKS}, line {i + 2}: {o}" for i, o in enumerate(why) if o]
    if len(lines) > 3:
        lines = [*lines[:2], f"{ATTACKS}: {len(lines) - 2} more lines that do not count"]
    good = said.index[[not why[i] for i in said.index]]
    return said.loc[good], lines


def fault_of(line, team, targets, truth):
    """Why a claim cannot be judged; empty for one that can"""
    if line.target not in targets:
        return f"target {line.target!r} is no opened table"
    if line.target == team:
        return "your own table"
    if line.attack == "single":
        n = len(targets[line.target].release.data)
        if not (line.row.isdecimal() and 1 <= int(line.row) <= n):
            return f"row must be 1 to {n}. Got {line.row!r}"
        return "" if line.column in KNOWN else f"no column {line.column!r}"
    if line.attack not in ("link", "infer"):
        return f"attack must be link, infer or single. Got {line.attack!r}"
    known = line.person in truth[line.target].index
    return "" if known else f"{line.person!r} is not on the list of {line.target}"


def gains(claims, target, release, folder, names):
    """What the claims about a table gain: of link, infer and single, in less out"""
    claims = claims[claims.target == target]
    of = {o: claims[claims.attack == o].drop_duplicates("person") for o in ("link", "infer")}
    linked = names.index.isin(of["link"].person)
    told = of["infer"].set_index("person").value.reindex(names.index)
    right = (told == names[CLASS]).to_numpy()
    is_in = names.is_in.to_numpy()
    res = {"link": gain_of(linked[is_in], linked[~is_in])}
    res["infer"] = gain_of(right[is_in], right[~is_in])
    singles = claims[claims.attack == "single"]
    hits = np.zeros((2, SINGLES), dtype=bool)
    if len(singles):
        table = pd.read_csv(Path(folder) / "secret" / f"{target}_table.csv")
        others = pd.read_csv(Path(folder) / "secret" / f"{target}_others.csv")
        for side, people in enumerate((table, others)):
            hits[side, : len(singles)] = isolated(singles, release, people)
    res["single"] = gain_of(*hits)
    return res


def isolated(singles, release, people):
    """For each description: is it true of exactly one of the people?"""
    rows = Presence(release)
    kinds, blocks = rows.fits(people[KNOWN])
    fits = np.concatenate([m for _, m in blocks])[kinds.of]
    of = [rows.kinds.of[int(o) - 1] for o in singles.row]
    return [
        int((fits[:, i] & has_value(people[c], v)).sum()) == 1
        for i, c, v in zip(of, singles.column, singles.value)
    ]


def has_value(column, value):
    """Who has the value, given as text"""
    if pd.api.types.is_numeric_dtype(column):
        number = pd.to_numeric(value, errors="coerce")
        return (column == number).to_numpy()
    return (column == value).to_numpy()


def plain_accuracies(folder):
    """Of people whom nobody asked: the share of the larger class, and what C4.5 says rightly that
    was taught by the tables themselves, a mean over teams
    """
    secret = Path(folder) / "secret"
    test = pd.read_csv(secret / "test.csv")
    tables = [pd.read_csv(o) for o in sorted(secret.glob("*_table.csv"))]
    raw = [C45Classifier().fit(o[KNOWN], o[CLASS]).score(test[KNOWN], test[CLASS]) for o in tables]
    return float(test[CLASS].value_counts(normalize=True).max()), float(np.mean(raw))


def accuracy(release, test):
    """Share of other people whose class C4.5, taught by the release, says rightly"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # C4.5 says when there was nothing to split
        model = C45Classifier(taxonomies=getattr(release, "taxonomies", None) or None)
        return float(model.fit(release.data, release.y).score(test[KNOWN], test[CLASS]))


@dataclass
class Board:
    """The board.

    owners: a line for each team; risk, gain and its interval (low, high) are those of an attacker
    who counts the rows that fit; linked, inferred and singled out the best gain of another team.
    attackers: mean gain of each team over the tables it could attack. matrix: sums of the three
    gains, attacker by target. lines: (team, fault). arguments: why each team took its k.
    """

    owners: pd.DataFrame
    attackers: pd.DataFrame
    matrix: pd.DataFrame
    lines: list
    arguments: dict
    limit: float


def board(folder, limit=0.1, found=None):
    """Score a folder of submissions; `found` as `open_round` gives, None: check them again.

    An owner whose people lose at most `limit` (by the program's attack and by that of each team)
    is ranked by accuracy; the others follow by what their people lose.
    """
    folder, found = Path(folder), found or submitted(folder)
    lines = [(team, o) for team, h in found.items() for o in h.faults]
    targets = {team: h for team, h in found.items() if not h.faults}
    secret = folder / "secret"
    truth = {o: pd.read_csv(secret / f"{o}_names.csv", index_col="person") for o in targets}
    taken = {}
    for team in found:
        claims, said = read_attacks(folder, team, targets, truth)
        lines += [(team, o) for o in said]
        for o in targets:
            if o != team:
                release = targets[o].release
                taken[team, o] = gains(claims, o, release, folder, truth[o])
    rows = [owner_line(team, h, folder, taken) for team, h in found.items()]
    owners = pd.DataFrame(rows)
    for o in ("k", "k found"):  # integers also where a team has none
        owners[o] = pd.Series([row[o] for row in rows], dtype=object)
    owners = ranked(owners.set_index("team"), limit)
    arguments = {team: o.claim.get("why", "") for team, o in found.items()}
    return Board(owners, *attackers_of(taken, found), lines, arguments, limit)


def owner_line(team, handed_in, folder, taken):
    """A team's line as an owner"""
    claim = handed_in.claim
    line = {"team": team, "method": claim.get("method", ""), "k": claim.get("k")}
    line["k found"] = handed_in.k
    line |= dict.fromkeys(MEASURED, np.nan)
    if handed_in.faults:
        return line
    table = pd.read_csv(folder / "secret" / f"{team}_table.csv")
    others = pd.read_csv(folder / "secret" / f"{team}_others.csv")
    test = pd.read_csv(folder / "secret" / "test.csv")
    found = attack(
        FittingRows(handed_in.release), table[KNOWN], table[CLASS], others[KNOWN], others[CLASS]
    )
    line["accuracy"] = accuracy(handed_in.release, test)
    sure = found.certain
    line |= {"risk": sure.share_in, "gain": sure.gain, "low": sure.low, "high": sure.high}
    for kind, word in (("link", "linked"), ("infer", "inferred"), ("single", "singled out")):
        line[word] = max((g[kind].gain for (_, o), g in taken.items() if o == team), default=0.0)
    return line


def ranked(owners, limit):
    """Owners below the limit by accuracy, then others by what is lost, then faults"""
    lost = owners[["gain", "inferred"]].max(axis=1)
    stage = np.where(owners.accuracy.isna(), 2, np.where(lost <= limit, 0, 1))
    by = pd.DataFrame({"stage": stage, "by": np.where(stage == 0, -owners.accuracy, lost)})
    order = by.set_axis(owners.index).sort_values(["stage", "by"], kind="stable").index
    names = np.array(["within the limit", "above it", "not accepted"])
    return owners.assign(stage=names[stage]).loc[order]


def attackers_of(taken, teams):
    """Mean gains of each attacker, and the matrix of sums"""
    kinds = ("link", "infer", "single")
    mean, total = {}, {}
    for team in teams:
        mine = {o: g for (a, o), g in taken.items() if a == team}
        mean[team] = {
            kind: float(np.mean([g[kind].gain for g in mine.values()])) if mine else 0.0
            for kind in kinds
        }
        total[team] = {o: sum(g[kind].gain for kind in kinds) for o, g in mine.items()}
    table = pd.DataFrame.from_dict(mean, orient="index").rename_axis("team")
    table["points"] = 100 * table.sum(axis=1)
    matrix = pd.DataFrame.from_dict(total, orient="index").rename_axis("attacker")
    targets = sorted({o for _, o in taken})
    order = table.sort_values("points", ascending=False, kind="stable").index
    return table.loc[order], matrix.reindex(index=list(teams), columns=targets)


def print_faults(found):
    """A line for each fault, and one for each team without"""
    for team, o in found.items():
        for line in o.faults or [f"accepted, k = {o.k}"]:
            print(f"{team}: {line}")


def main(args=None):
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("what", choices=["new", "check", "open", "board"])
    p.add_argument("folder", type=Path)
    p.add_argument("teams", nargs="*", help="for new: plain words")
    p.add_argument("--seed", type=int, help="for new; without it nobody can draw the people again")
    p.add_argument("--limit", type=float, default=0.1, help="for board: of what people lose (0.1)")
    a = p.parse_args(args)
    if a.what == "new":
        try:
            new(a.folder, a.teams, a.seed)
        except ValueError as e:
            p.error(str(e))
        print(f"give {a.folder}/give/TEAM to each team, and keep {a.folder}/secret")
    elif not (a.folder / ("table.csv" if a.what == "check" else "give")).exists():
        p.error(f"{a.folder} is no folder that `lab.py new` made.")
    elif a.what == "check":
        found = {a.folder.resolve().name: check(a.folder)}
        print_faults(found)
        return int(any(o.faults for o in found.values()))
    elif a.what == "open":
        print_faults(open_round(a.folder))
    else:
        seen = board(a.folder, a.limit)
        print(seen.owners.round(3).fillna({"k": "", "k found": ""}).to_string(na_rep=""), "\n")
        print(seen.attackers.round(3).to_string(), "\n")
        for team, line in seen.lines:
            print(f"{team}: {line}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
