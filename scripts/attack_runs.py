"""What attackers gain from releases: every method, four k, the shop, the population, Adult.

    python scripts/attack_runs.py                         the 14 customers, printed
    python scripts/attack_runs.py --full                  all, stored in
    nbs/papers/results/attacks.csv
    python scripts/attack_runs.py --row adult/strict 5    one release: table/method, k

Half of the people are published (8,000 of Adult and of the population), as many others are not.
Of both are asked: does a row fit, is the class certain and right, is the guess right (FittingRows,
and Crossing with a second release of the same people, its columns reversed and its seed another);
Matching knows everybody in the table. Queries asks a tree learnt from the release. Downcoding has
the release alone (shares of its rows: named, alone, whole), Sums knows nine tenths of the people in
it and where they stand (friend_: what is certain of the others, and right). Of the shop all
14 customers are published, nobody is out, and Rerun runs the program again in every world. Of
500 people of the two other tables it runs those worlds in which five people with one published row
exchange their classes, and all others are known (columns open_: ten such groups with several
classes). Methods called drawn publish classes drawn with a chance of .9 to be true
(RandomizedResponse). Runs that are stored are not made again (--again makes all anew). The column
commit names the run of a line.
"""

import sys
import warnings
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))
from frontier import METHODS as FRONTIER, people as adult, trees_over
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

from ppdt.attacks import (
    Crossing,
    Downcoding,
    FittingRows,
    Matching,
    Queries,
    Rerun,
    Sums,
    attack,
)
from ppdt.c45 import C45Classifier
from ppdt.datasets import (
    load_customers,
    make_population,
)
from ppdt.diversity import RandomizedResponse
from ppdt.lattice import LatticeAnonymizer
from ppdt.tds import TDSAnonymizer

CASES, KS, PEOPLE = ("customers", "population", "adult"), (2, 5, 25, 100), 8000
KNOWN = "age education occupation marital_status region hours".split()
CLASSES = {
    "customers": ["No", "Yes"],
    "population": ["high", "low"],
    "adult": ["<=50K", ">50K"],
}
DRAWN = ("strict", "infogain", "cluster")
METHODS = {
    **FRONTIER,
    "lattice": partial(LatticeAnonymizer, suppression_limit=0.02),
    **{f"{o}_drawn": FRONTIER[o] for o in DRAWN},
}
ASKED = ("presence", "certain", "guess")
KEY = ["case", "method", "k"]
COLUMNS = [
    *KEY,
    "n",
    "lost",
    *(f"{o}_{side}" for o in ASKED for side in ("in", "out")),
    *(f"crossing_{o}_{side}" for o in ASKED for side in ("in", "out")),
    "crowd_below_k",
    "matching_certain_in",
    "matching_guess_in",
    "matching_estimated",
    "query_guess_in",
    "query_guess_out",
    "named",
    "alone",
    "whole",
    "friend_certain",
    "friend_numbers",
    "worlds",
    "rerun_worlds",
    "rerun_certain",
    "rerun_belief",
    "table_belief",
    "open_people",
    "open_worlds",
    "open_kept",
    "open_before",
    "open_belief",
    "open_certain",
    *MADE,
]
MOST_WORLDS = 5000
KNOWN_SHARE = 0.9  # of the people in the table, whom a friend knows
FEW, GROUPS, OPEN = 500, 10, 5  # people of whom few are open, groups of open ones, most in one


def all_units():
    """(table, method, k); of 14 customers k is 2 or 5"""
    ks = {"customers": (2, 5)}
    return [(c, m, k) for c in CASES for m in METHODS for k in ks.get(c, KS)]


@lru_cache(maxsize=1)
def people(case):
    """(X, y) of those in the table, and of as many others, or None"""
    if case == "customers":
        t = load_customers()
        return (t.drop(columns="Bought"), t.Bought), None
    if case == "adult":
        return adult(0)
    t = make_population(2 * PEOPLE, 0)
    parts = [t.iloc[o : o + PEOPLE].reset_index(drop=True) for o in (0, PEOPLE)]
    return tuple((o[KNOWN], o.income) for o in parts)


def program(case, method, k, X):
    """The method with its parameters for a table"""
    if method == "tds":
        return TDSAnonymizer(k=k, taxonomies=trees_over(case, X))
    if method == "lattice":
        return METHODS[method](k=k, taxonomies=trees_over(case, X))
    if method.endswith("_drawn"):
        drawn = RandomizedResponse(0.9, CLASSES[case], random_state=0)
        return METHODS[method](k=k, constraints=[drawn])
    return METHODS[method](k=k)


def of_attack(found, before=""):
    """Shares of an attack as columns"""
    line = {}
    for o in ASKED:
        gain = getattr(found, o)
        line[f"{before}{o}_in"] = round(gain.share_in, 6)
        line[f"{before}{o}_out"] = round(gain.share_out, 6)
    return line


def of_the_listed(release, inside):
    """What is believed by who knows everybody"""
    X, y = inside
    line = {}
    if FittingRows(release).averaged:
        return line
    try:
        attacker = Matching(release, X)
    except ValueError:  # more pairs than are kept
        return line
    found = attacker.believe(X)
    line["matching_certain_in"] = round(float((found.is_certain & (found.guess == y)).mean()), 6)
    line["matching_guess_in"] = round(float((found.guess == y).mean()), 6)
    line["matching_estimated"] = attacker.n_estimated
    return line


def second(made, X, y):
    """A second release of the same people: columns reversed, another seed"""
    if "random_state" in made.get_params(deep=False):
        made = type(made)(**made.get_params(deep=False) | {"random_state": 1})
    return made.anonymize(X[X.columns[::-1]], y)


def of_questions(release, inside, outside):
    """What a tree learnt from the release says of those in it, and of others"""
    model = C45Classifier(taxonomies=release.taxonomies or None).fit(release.data, release.y)
    found = attack(Queries(model), *inside, *outside).guess
    shares = found.share_in, found.share_out
    return dict(zip(("query_guess_in", "query_guess_out"), np.round(shares, 6)))


def of_the_file(release):
    """What follows for certain from the release alone, as shares of its rows"""
    if not len(release.data):
        return {}
    found = Downcoding(release).find()
    return {o: round(found.share(o), 6) for o in ("named", "alone", "whole")}


def of_friends(release, inside):
    """What is certain of a tenth of the people, to who knows the others: of how many of them the
    class, and of how many the numbers that were averaged
    """
    X, y = inside
    rows = np.setdiff1d(np.arange(len(X)), release.lost)
    rng = np.random.default_rng(0)
    known = np.sort(rng.permutation(len(rows))[: round(KNOWN_SHARE * len(rows))])
    asked = np.setdiff1d(np.arange(len(rows)), known)
    if not len(asked):
        return {}
    raw = X.iloc[rows].set_axis(release.data.index)
    friend = Sums(release, raw.iloc[known])
    seen = friend.believe(raw.iloc[asked])
    right = seen.is_certain & (seen.guess == y.iloc[rows[asked]].to_numpy())
    numbers = friend.values().dropna(axis=1, how="all")
    told = len(numbers) if numbers.shape[1] else 0
    shares = float(right.mean()), told / len(asked)
    return dict(zip(("friend_certain", "friend_numbers"), np.round(shares, 6)))


def of_worlds(made, release, X):
    """What running the program again tells of people"""
    line = {"table_belief": round(float(FittingRows(release).believe(X).shares.max()), 6)}
    try:
        again = Rerun(made, release, X, max_worlds=MOST_WORLDS)
    except ValueError:  # more worlds than are run
        return line
    found = again.believe(X)
    return line | {
        "worlds": again.n_worlds,
        "rerun_worlds": again.n_kept,
        "rerun_certain": int((found.shares.max(axis=1) > 1 - 1e-9).sum()),
        "rerun_belief": round(float(found.shares.max()), 6),
    }


def open_groups(release, n):
    """Positions of people who have one published row, five of each at most, and not one class"""
    kept = np.setdiff1d(np.arange(n), release.lost)
    shown = release.data[list(release.roles.quasi_identifiers)].astype(str)
    rows = shown.agg("|".join, axis=1).to_numpy()
    rng = np.random.default_rng(0)
    found = []
    for row in rng.permutation(np.unique(rows)):
        some = np.sort(rng.permutation(np.flatnonzero(rows == row))[:OPEN])
        if release.y.iloc[some].nunique() > 1:
            found.append((kept[some], some))
    return found[:GROUPS]


def of_group(made, release, X, shown, some):
    """The program run again by who knows all published classes but those of some people"""
    known = shown.copy()
    known.iloc[some] = None
    return Rerun(made, release, X, known=known)


def of_few(made, inside):
    """What running the program again tells who knows all classes but those of five people"""
    X, y = (o.head(FEW) for o in inside)
    release = made.anonymize(X, y)
    reader = FittingRows(release)
    classes, drawn = list(reader.classes), reader.answers
    shown = y.astype(object).copy()
    shown.iloc[np.setdiff1d(np.arange(len(X)), release.lost)] = release.y.to_numpy()
    before, after, runs, kept = [], [], 0, 0
    for some, at in open_groups(release, len(X)):
        again = of_group(made, release, X, shown, some)
        own = [classes.index(c) for c in y.iloc[some]]
        shares = release.y.iloc[at].value_counts(normalize=True)
        shares = shares.reindex(classes, fill_value=0).to_numpy()
        shares = shares if drawn is None else drawn.believed(shares)
        before += shares[own].tolist()
        after += again.shares[some, own].tolist()
        runs, kept = runs + again.n_worlds, kept + again.n_kept
    if not before:
        return {}
    return {
        "open_people": len(before),
        "open_worlds": runs,
        "open_kept": kept,
        "open_before": round(float(np.mean(before)), 6),
        "open_belief": round(float(np.mean(after)), 6),
        "open_certain": round(float(np.mean(np.array(after) > 1 - 1e-9)), 6),
    }


def run(unit):
    """The line of a unit, without the columns that tell where it was made"""
    case, method, k = unit
    inside, outside = people(case)
    made = program(case, method, k, inside[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # methods say when there was nothing to split
        release = made.anonymize(*inside)
        line = dict(zip(KEY, unit)) | {"n": len(inside[0]), "lost": len(release.lost)}
        line |= of_the_listed(release, inside) | of_the_file(release) | of_friends(release, inside)
        if outside is None:
            return line | of_worlds(made, release, inside[0])
        line |= of_few(made, inside)
        both = [release, second(made, *inside)]
    line |= of_attack(attack(FittingRows(release), *inside, *outside))
    line |= of_attack(attack(Crossing(both), *inside, *outside), "crossing_")
    crowds = Crossing(both).crowds(inside[0])
    line["crowd_below_k"] = round(float((crowds < k).mean()), 6)
    return line | of_questions(release, inside, outside)


def quick_line(unit):
    """Of a unit only what running the program again tells; of the 14 customers the whole line"""
    case, method, k = unit
    if case == "customers":
        return run(unit)
    inside, _ = people(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = of_few(program(case, method, k, inside[0]), inside)
    return dict(zip(KEY, unit)) | found


def make(unit):
    return [run(unit) | provenance()]


def attacks(full=False, row=None, again=False, out=None, jobs=1):
    """Make the runs that were asked for, and print them"""
    out, units = out or RESULTS / "attacks.csv", all_units()
    if row:
        words = f"tables are {', '.join(CASES)}, methods {', '.join(METHODS)}, k {KS}"
        units = asked_row(row, units, "TABLE/METHOD K", words)
    elif not full:
        units = [u for u in units if u[0] == "customers"]
    if full:
        t = stored_runs(make, units, KEY, COLUMNS, out, list(CASES), again, jobs)
    else:
        t = pd.DataFrame(each_unit(make, units, None, jobs))
    print_runs(t, COLUMNS)


def main(args=None):
    p = runs_parser(__doc__, ("TABLE/METHOD", "K"), "two hours", "attacks.csv")
    a = parsed(p, args)
    with data_told():
        attacks(a.full, a.row, a.again, a.out, a.jobs)


if __name__ == "__main__":
    main()
