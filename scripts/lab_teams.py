"""Seven invented teams play the lab: `python scripts/lab_teams.py FOLDER`.

Each has a method, a k, an argument, and a way to attack. Hazel cheats: the release is honest, and
its file is changed afterwards. Fir hands in no attacks, and cedar's file has lines that do not
count. nbs/class/scoreboard.ipynb shows their board.
"""

import hashlib
import json
import sys
import warnings
from functools import partial
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))
import lab

from ppdt.clusters import ClusterAnonymizer
from ppdt.diversity import Alpha
from ppdt.erp import ERPAnonymizer
from ppdt.kactus import KActusAnonymizer
from ppdt.mict import MiCTAnonymizer
from ppdt.mondrian import MondrianAnonymizer

SEED = 25
bounded = partial(MondrianAnonymizer, mode="infogain", recoding="interval")
# team: (method in words, anonymizer, its argument)
TEAMS = {
    "ash": (
        "strict Mondrian, sets",
        MondrianAnonymizer(k=5),
        "Five is what most offices use, so we take it. Nobody has ever been found in a group of"
        " five, and the table stays fine enough to learn from it.",
    ),
    "birch": (
        "InfoGain, ranges, alpha 0.9",
        bounded(k=10, constraints=[Alpha(0.9)]),
        "A group of one income tells the income, whatever k is. So we bound its share at 0.9, and"
        " ten rows keep that bound from being met by chance alone.",
    ),
    "cedar": (
        "clusters, sets",
        ClusterAnonymizer(k=3),
        "We want the best tree. Three rows are a crowd, clusters keep close people together, and"
        " an attacker has to know six columns of a person to find the row.",
    ),
    "elm": (
        "kACTUS",
        KActusAnonymizer(k=5, random_state=0),
        "The tree says which columns matter, and all others are suppressed, so five people or"
        " more share a row of which little is left to recognise anybody.",
    ),
    "fir": (
        "MiCT",
        MiCTAnonymizer(k=10),
        "Means are no values of anybody, so a row can not be linked with certainty. Ten people in"
        " a mean hide each of them, unless nine of them talk together.",
    ),
    "hazel": (
        "InfoGain, sets",
        MondrianAnonymizer(k=10, mode="infogain"),
        "We use the income to cut, since the tree has to learn it, and take ten rows in a group,"
        " which is twice of what offices use. Our table is the best.",
    ),
    "oak": (
        "ERP, tiers",
        ERPAnonymizer(k=5, random_state=0),
        "In tiers each person has five rows that could be hers, and each row five persons, but the"
        " crowds overlap. So cells can stay narrow, and no group has a face.",
    ),
}
# how each attacks: who is linked, whose income is told, and does it single out?
ATTACKS = {
    "ash": ("fits", "certain", True),
    "birch": ("fits", "all", False),
    "cedar": ("fits", "certain", False),
    "elm": ("all", "all", False),
    "hazel": ("fits", "all", True),
    "oak": ("none", "certain", True),
}


def publish(folder, team):
    """A team's release and claim"""
    mine = Path(folder) / "give" / team
    table = pd.read_csv(mine / "table.csv")
    method, anonymizer, why = TEAMS[team]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # methods say when there was nothing to split
        release = anonymizer.anonymize(table[lab.KNOWN], table[lab.CLASS])
    release.to_csv(mine / lab.RELEASE)
    text = f'method = "{method}"\nk = {anonymizer.k}\nwhy = """{why}"""\n'
    (mine / lab.CLAIM).write_text(text, "utf-8")


def cheat(mine):
    """Narrow the ages of twelve rows, and sign the changed file anew"""
    path, schema = mine / lab.RELEASE, mine / lab.SCHEMA
    rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    high = rows.index[rows[lab.CLASS] == "high"][:12]
    rows.loc[high, "age"] = "{51, 52}"
    rows.to_csv(path, index=False)
    said = json.loads(schema.read_text("utf-8"))
    said["file"]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    schema.write_text(json.dumps(said), "utf-8")


def everybody(target, names):
    """Claims that all on a list are in"""
    told = {"target": target, "attack": "link", "person": names.person}
    return pd.DataFrame(told, columns=lab.COLUMNS)


def attacks(folder, team, opened):
    """A team's file of claims about all opened tables but its own"""
    linked, told, singles = ATTACKS[team]
    parts = []
    for target, (release, names) in opened.items():
        if target == team:
            continue
        if linked != "none":
            few = lab.link(target, release, names)
            parts.append(few if linked == "fits" else everybody(target, names))
        parts.append(lab.infer(target, release, names, certain=told == "certain"))
        if singles:
            parts.append(lab.single_out(target, release))
    pd.concat(parts).to_csv(Path(folder) / "give" / team / lab.ATTACKS, index=False)


def play(folder, seed=SEED):
    """The whole lab, up to the board, as `lab.Board`"""
    folder = Path(folder)
    lab.new(folder, list(TEAMS), seed)
    for team in TEAMS:
        publish(folder, team)
    cheat(folder / "give" / "hazel")
    found = lab.open_round(folder)
    opened = lab.opened(folder / "opened")
    for team in ATTACKS:
        attacks(folder, team, opened)
    path = folder / "give" / "cedar" / lab.ATTACKS
    path.write_text(path.read_text("utf-8") + "ash,link,ash-999,,,\nelm,guess,elm-001,,,\n")
    return lab.board(folder, found=found)


def main(args):
    if len(args) != 1 or args[0].startswith("-"):
        print(__doc__)
        return 2
    play(args[0])
    return lab.main(["board", args[0]])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
