"""Groups, tiers, and matchings without groups, at the same k: what they lose, teach and tell.

    python scripts/without_groups.py                        a few releases, printed
    python scripts/without_groups.py --full                 all, stored in
    nbs/papers/results/without_groups.csv
    python scripts/without_groups.py --row pima/matchings 5 0   one release: table/method, k, split

A thousand people of a table, or half of it, are published, and as many others are asked about, as
by scripts/grouping_runs.py. A row of matchings fits its own person and k - 1 others, each of whom
fits k rows: everybody is hidden among k, and nobody in a group. The matchings are found one after
the other, each the cheapest that uses no pair again (doka2015): n * n prices a matching, so that a
thousand rows are a second and thirty thousand none.

The widest belief is that of an attacker who knows everybody in the table and takes all ways to
give each person a row of his own as equally likely: how sure he is of a person's row at most, on
average over tables of TRIED rows, small enough to count the ways.
"""

import sys
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

sys.path.insert(0, str(Path(__file__).parent))
import grouping_runs as grouping
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
from ppdt.clusters import ClusterAnonymizer
from ppdt.engine.assignments import pair_probabilities
from ppdt.engine.group_loss import RangePart, column_parts
from ppdt.erp import ERPAnonymizer
from ppdt.loss import gcp
from ppdt.mondrian import MondrianAnonymizer
from ppdt.tables import Exact, ValueSet, cell_column, encode

CASES, KS, SPLITS = grouping.CASES, (2, 5, 10), (0,)
MOST, TRIED, TABLES = 1000, 12, 10
TAKEN = 2.0**60  # the price of a pair that was used
READERS = ("encoder_boosting",)
KEY = ["case", "method", "k", "split"]
COLUMNS = [
    *KEY,
    "n",
    "spread",
    *(f"{o}_{side}" for o in grouping.GAINS for side in ("in", "out")),
    *(f"{r}_{o}" for r in READERS for o in ("accuracy", "auc")),
    "widest_belief",
    "protect_seconds",
    *MADE,
]


# ---------- matchings
class _Ranges:
    """The lowest and highest place of each row's cell, and what other rows would add"""

    def __init__(self, part):
        self.price = part.price
        self.own = part.low[part.codes], part.high[part.codes]
        self.low, self.high = self.own

    def added(self):
        low, high = (np.asarray(o) for o in self.own)
        wide = self.price(np.minimum(self.low[:, None], low), np.maximum(self.high[:, None], high))
        return wide - self.price(self.low, self.high)[:, None]

    def join(self, other):
        self.low = np.minimum(self.low, self.own[0][other])
        self.high = np.maximum(self.high, self.own[1][other])


class _Sets:
    """The values of each row's cell, and what other rows would add"""

    def __init__(self, part):
        self.by_count, self.codes = part.by_count, part.codes
        self.held = np.zeros((len(self.codes), len(self.by_count)), dtype=bool)
        self.join(np.arange(len(self.codes)))

    def added(self):
        many = self.held.sum(axis=1)
        more = many[:, None] + ~self.held[:, self.codes]
        return self.by_count[more] - self.by_count[many][:, None]

    def join(self, other):
        self.held[np.arange(len(other)), self.codes[other]] = True


def matchings(parts, n, k):
    """Whose values stand in each row's cells, shape (n, k), its own person first (doka2015)"""
    state = [_Ranges(p) if isinstance(p, RangePart) else _Sets(p) for p in parts]
    res = [np.arange(n)]
    while len(res) < k:
        price = sum(o.added() for o in state).astype(float)
        for other in res:
            price[np.arange(n), other] = TAKEN
        _, other = linear_sum_assignment(price)
        for o in state:
            o.join(other)
        res.append(other)
    return np.array(res).T


def _cell(values):
    return Exact(*values) if len(values) == 1 else ValueSet(values)


def sets_of(X, chosen):
    """A table whose cells hold the values of several rows each"""
    columns = {}
    for o in X:
        a, codes = encode(X[o])
        held = [frozenset(line) for line in codes[chosen].tolist()]
        kinds = list(dict.fromkeys(held))
        number = {v: i for i, v in enumerate(kinds)}
        cells = [_cell([a.values[c] for c in sorted(v)]) for v in kinds]
        columns[o] = cell_column([number[v] for v in held], cells)
    return pd.DataFrame(columns)


class MatchingsAnonymizer:
    """Each row with the values of k people"""

    def __init__(self, k):
        self.k = k

    def anonymize(self, X, y):
        parts = [p for o in X for p in column_parts(*encode(X[o]))]
        data = sets_of(X, matchings(parts, len(X), self.k))
        return SimpleNamespace(data=data, y=y, lost=(), taxonomies=None)


METHODS = {
    "strict": MondrianAnonymizer,
    "cluster_refined": partial(ClusterAnonymizer, refine=grouping.ALL),
    "tiers": partial(ERPAnonymizer, random_state=0),
    "matchings": MatchingsAnonymizer,
}


# ---------- runs
def all_units():
    """(table, method, k, split)"""
    return [(c, m, k, s) for s in SPLITS for c in CASES for k in KS for m in METHODS]


def people(case, split):
    """(X, y) of at most a thousand in the table, and of as many others"""
    return [(X.head(MOST), y.head(MOST)) for X, y in grouping.people(case, split)]


def surest(release, X):
    """The largest chance of a person to be a row, all ways to give out rows taken as likely"""
    rows = FittingRows(release.data, y=release.y)
    kinds, blocks = rows.fits(X)
    i, j = map(np.concatenate, zip(*[np.nonzero(m) for _, m in blocks]))
    chance, _ = pair_probabilities(i, j, kinds.count, rows.kinds.count)
    return float(chance.max())


def widest_belief(case, method, k, split):
    """How sure an attacker is of somebody's row at most, on average over small tables"""
    X, y = people(case, split)[0]
    found = []
    for i in range(TABLES):
        few, own = (o.sample(TRIED, random_state=i).reset_index(drop=True) for o in (X, y))
        few = few[[o for o in few if few[o].nunique() > 1]]
        release = METHODS[method](k=k).anonymize(few, own)
        if not len(release.lost):
            found.append(surest(release, few))
    return round(float(np.mean(found)), 6)


def run(unit, readers=READERS):
    """The line of a unit, without the columns that tell where it was made"""
    case, method, k, split = unit
    (X, y), outside = people(case, split)
    begun = time.process_time()
    release = METHODS[method](k=k).anonymize(X, y)
    seconds = round(time.process_time() - begun, 2)
    line = dict(zip(KEY, unit)) | {"n": len(X), "protect_seconds": seconds}
    line["spread"] = round(gcp(release.data, X, form="spread", lost=release.lost), 6)
    found = attack(FittingRows(release.data, y=release.y), X, y, *outside)
    for o in grouping.GAINS:
        gain = getattr(found, o)
        line |= {f"{o}_in": round(gain.share_in, 6), f"{o}_out": round(gain.share_out, 6)}
    for r in readers:
        model = grouping.reader(r, release).fit(release.data, release.y)
        line[f"{r}_accuracy"], line[f"{r}_auc"] = grouping.scores(model, *outside)
    line["widest_belief"] = widest_belief(*unit)
    return line


def make(unit):
    return [run(unit) | provenance()]


def without_groups(full=False, row=None, again=False, out=None, jobs=1):
    """Make the runs that were asked for, and print them"""
    out, units = out or RESULTS / "without_groups.csv", all_units()
    if row:
        words = f"tables are {', '.join(CASES)}, methods {', '.join(METHODS)}"
        units = asked_row(row, units, "TABLE/METHOD K SPLIT", f"{words}, k {KS}, splits {SPLITS}")
    elif not full:
        units = [u for u in units if u[0] == "pima" and u[2] == 5]
    if full:
        t = stored_runs(make, units, KEY, COLUMNS, out, list(CASES), again, jobs)
    else:
        t = pd.DataFrame(each_unit(make, units, None, jobs))
    print_runs(t, COLUMNS)


def main(args=None):
    p = runs_parser(__doc__, ("TABLE/METHOD", "K", "SPLIT"), "minutes", "without_groups.csv")
    a = parsed(p, args)
    with data_told():
        without_groups(a.full, a.row, a.again, a.out, a.jobs)


if __name__ == "__main__":
    main()
