"""What stars of kACTUS tell who knows its tree, as the paper has them and with brothers mixed in.

    python scripts/brothers_runs.py                 Adult at k = 5, printed
    python scripts/brothers_runs.py --full          all k, three seeds, stored in
    nbs/papers/results/brothers.csv
    python scripts/brothers_runs.py --row mixed 5 0   one release: brothers, k, seed

8,000 people of Adult are published and as many others are not. The attacker is FittingRows over
what who knows the tree reads (`without_brothers`): does a row fit, is the class certain and right,
how many rows fit somebody in the table, in the mean. Told are the rows whose star the tree narrows,
the spread loss, and how many of the others a C4.5 tree of the release answers rightly. Runs that
are stored are not made again (--again makes all anew).
"""

import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))
from frontier import people as adult
from replicate import (
    MADE,
    RESULTS,
    asked_row,
    data_told,
    each_unit,
    parsed,
    print_runs,
    provenance,
    runs_parser,
    stored_runs,
)

from ppdt.attacks import FittingRows, attack
from ppdt.c45 import C45Classifier
from ppdt.engine.known_brothers import without_brothers
from ppdt.kactus import KActusAnonymizer
from ppdt.loss import gcp

BROTHERS, KS, SEEDS = ("shown", "mixed"), (2, 5, 25, 50, 100), (0, 1, 2)
KEY = ["brothers", "k", "seed"]
ASKED = ("presence", "certain")
COLUMNS = [
    *KEY,
    "n",
    "lost",
    "batches",
    "climbed",
    "narrowed",
    *(f"{o}_{side}" for o in ASKED for side in ("in", "out")),
    "rows_fit",
    "spread",
    "accuracy",
    *MADE,
]


def all_units():
    """(brothers, k, seed)"""
    return [(b, k, s) for s in SEEDS for k in KS for b in BROTHERS]


def run(unit):
    """The line of a unit, without the columns that tell where it was made"""
    brothers, k, seed = unit
    (X, y), (other_X, other_y) = adult(0)
    made = KActusAnonymizer(k=k, numeric="interval", brothers=brothers, random_state=seed)
    release = made.anonymize(X, y)
    known, climb = without_brothers(made), made.climb_
    asks = climb.tree.attribute >= 0
    narrow = (known.astype(str) != release.data[known.columns].astype(str)).any(axis=1)
    line = dict(zip(KEY, unit)) | {"n": len(X), "lost": len(release.lost)}
    line["batches"] = len(climb.batches)
    line["climbed"] = sum(len(r) for v, r in zip(climb.nodes, climb.batches) if asks[v])
    line["narrowed"] = int(narrow.sum())
    reader = FittingRows(known, release.y)
    found = attack(reader, X, y, other_X, other_y)
    for o in ASKED:
        gain = getattr(found, o)
        line |= {f"{o}_in": round(gain.share_in, 6), f"{o}_out": round(gain.share_out, 6)}
    line["rows_fit"] = round(float(reader.believe(X).rows.mean()), 6)
    line["spread"] = round(float(gcp(release.data, X, form="spread", lost=release.lost)), 6)
    model = C45Classifier().fit(release.data, release.y)
    line["accuracy"] = round(float((model.predict(other_X) == other_y.to_numpy()).mean()), 6)
    return line


def make(unit):
    return [run(unit) | provenance()]


def brothers_runs(full=False, row=None, again=False, out=None, jobs=1):
    """Make the runs that were asked for, and print them"""
    out, units = out or RESULTS / "brothers.csv", all_units()
    if row:
        words = f"brothers are {' and '.join(BROTHERS)}, k {KS}, seeds {SEEDS}"
        units = asked_row(row, units, "BROTHERS K SEED", words)
    elif not full:
        units = [u for u in units if u[1:] == (5, 0)]
    if full:
        t = stored_runs(make, units, KEY, COLUMNS, out, list(BROTHERS), again, jobs)
    else:
        t = pd.DataFrame(each_unit(make, units, None, jobs))
    print_runs(t, COLUMNS)


def main(args=None):
    p = runs_parser(__doc__, ("BROTHERS", "K", "SEED"), "minutes", "brothers.csv")
    a = parsed(p, args)
    with data_told():
        brothers_runs(a.full, a.row, a.again, a.out, a.jobs)


if __name__ == "__main__":
    main()
