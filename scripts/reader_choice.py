"""A reader chosen on the release alone, beside the best in hindsight.

    python scripts/reader_choice.py                          a run, printed
    python scripts/reader_choice.py --full --splits 2        all runs of two splits, stored in
    nbs/papers/results/reader_choice.csv
    python scripts/reader_choice.py --row pima/strict/forest 5 0   one run: table/method/reader,
    k, split

Tables, releases, readers and people who are asked are those of reader_study.py; of its tables the
six small ones, of its k 5 and 50. A line is one reader of one release: what it does on the people
who are asked, and what `choose_reader` makes of it inside the release, by rows and by groups held
out. Which reader each rule would take, and what that costs beside the best, follows from the lines.
Runs that are stored are not made again (--again makes all anew). Tables are found as
`fetch_benchmark` finds them.
"""

import sys
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))
import reader_study
from reader_study import KEY, METHODS, READERS, SPLITS, anonymizer, measured, split_of
from replicate import (
    MADE,
    RESULTS,
    data_told,
    each_unit,
    parsed_splits,
    provenance,
    read_results,
    runs_parser,
    store,
)

from ppdt.engine.reader_choice import BY, HELD, choose_reader, groups_of

CASES = [o for o in reader_study.CASES if o not in ("ionosphere", "nursery", "adult", "waveform")]
KS = (5, 50)
ASKED = ["accuracy", "auc", "brier"]
INSIDE = [f"{hold}_{by}" for hold, by in product(HELD, BY)]
COLUMNS = [*KEY, "n_train", "n_test", "groups", *ASKED, *INSIDE]
COLUMNS += ["choose_seconds", "learn_seconds", *MADE]


def all_units(splits=SPLITS):
    """(case, method, k, split), in the order in which they are run"""
    return [(c, m, k, s) for s, k, c, m in product(range(splits), KS, CASES, METHODS)]


def keys_of(unit):
    return [(*unit, r) for r in READERS]


def all_runs(splits=SPLITS):
    return [key for u in all_units(splits) for key in keys_of(u)]


def inside(release, readers, split):
    """(scores of each reader on held-out parts of the release, seconds of CPU); groups that are
    fewer than the folds are not held out
    """
    res, begin = pd.DataFrame(index=list(readers), columns=INSIDE, dtype=float), time.process_time()
    few = len(np.unique(groups_of(release.data))) < 3
    for hold in HELD[: 1 if few else 2]:
        found = choose_reader(release, readers, hold=hold, random_state=split).scores
        res[[f"{hold}_{o}" for o in BY]] = found[list(BY)].to_numpy()
    return res.round(6), time.process_time() - begin


def run(unit, names=tuple(READERS)):
    """The lines of a unit, without the columns that tell where they were made; a reader's scores do
    not depend on who else is asked
    """
    case, method, k, split = unit
    X, y, X_test, y_test = split_of(case, split)
    release = anonymizer(case, method, k).anonymize(X, y)
    readers = {o: READERS[o][1](release.taxonomies or None, split) for o in names}
    scores, seconds = inside(release, readers, split)
    about = dict(n_train=len(X), n_test=len(X_test), choose_seconds=round(seconds, 2))
    about["groups"] = len(np.unique(groups_of(release.data)))
    res = []
    for name, reader in readers.items():
        begin = time.process_time()
        reader.fit(release.data, release.y)
        line = dict(zip(KEY, (*unit, name))) | about | scores.loc[name].to_dict()
        line["learn_seconds"] = round(time.process_time() - begin, 2)
        found = measured(reader, X_test, y_test)
        res.append(line | {o: found[o] for o in ASKED})
    return res


def make(unit):
    made = provenance()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [o | made for o in run(unit)]


def read(path):
    return read_results(path, COLUMNS)


RULES = {f"{by}, {hold} held out": (f"{hold}_{by}", BY[by]) for hold, by in product(HELD, BY)}


def taken(t, column, sign):
    """The line of each release whose reader a rule takes; of equals the first. Where groups could
    not be held out, rows are
    """
    score = t[column].fillna(t[column.replace("groups", "rows")])
    order = t.assign(score=sign * score, rank=t.reader.map(list(READERS).index))
    order = order.sort_values(["score", "rank"], ascending=[False, True])
    return order.drop_duplicates(KEY[:-1]).set_index(KEY[:-1])


def costs(t):
    """For each rule, and for each reader taken always: points of accuracy and of AUC that are
    missing to the best of all readers in hindsight, the mean over releases, and how often nothing
    is missing
    """
    best = t.groupby(KEY[:-1])[["accuracy", "auc"]].max()
    ways = {o: taken(t, *rule) for o, rule in RULES.items()}
    asked = [o for o in READERS if o in set(t.reader)]
    ways |= {f"always {o}": t[t.reader == o].set_index(KEY[:-1]) for o in asked}
    res = {}
    for name, mine in ways.items():
        missing = best - mine.loc[best.index, ["accuracy", "auc"]]
        missing["auc"] *= 100
        res[name] = {
            "accuracy": missing.accuracy.mean(),
            "auc": missing.auc.mean(),
            "most accuracy": missing.accuracy.max(),
            "most auc": missing.auc.max(),
            "best auc": (missing.auc < 1e-9).mean(),
        }
    return pd.DataFrame(res).T


def wanted(row):
    """The unit and the reader of --row"""
    try:
        (case, method, reader), k, split = row[0].split("/"), int(row[1]), int(row[2])
    except ValueError:
        case = method = reader = k = split = None
    unit = (case, method, k, split)
    if (*unit, reader) in all_runs():
        return unit, reader
    raise SystemExit(
        "--row must be TABLE/METHOD/READER K SPLIT of the design, such as pima/strict/forest 5 0."
        f" Got {' '.join(row)}; tables: {', '.join(CASES)}; methods: {', '.join(METHODS)};"
        f" readers: {', '.join(READERS)}; k: {KS}; splits 0 to {SPLITS - 1}."
    )


def choices(full=False, seeds=2, row=None, again=False, out=None, jobs=1):
    """Make the runs that were asked for, and print what each rule costs"""
    out = out or RESULTS / "reader_choice.csv"
    if row:
        unit, reader = wanted(row)
        (line,) = run(unit, [reader])
        print("\n".join(f"{o:16}{v}" for o, v in line.items()))
        return
    done = set() if again else set(read(out)[KEY[:-1]].itertuples(index=False, name=None))
    todo = [u for u in all_units(seeds) if u not in done] if full else [("pima", "strict", 5, 0)]
    lines = each_unit(
        make, todo, (lambda o: store(out, o, KEY, COLUMNS, CASES)) if full else None, jobs
    )
    t = read(out) if full else pd.DataFrame(lines)
    if full:
        print(f"{len(t)} runs in {out}, {len(lines)} of them new")
    print(costs(t).round(2).to_string())


def main(args=None):
    p = runs_parser(__doc__, ("RUN", "K", "SPLIT"), "an hour", "reader_choice.csv")
    a = parsed_splits(p, args, 2, SPLITS)
    with data_told():
        choices(a.full, a.splits, a.row, a.again, a.out, a.jobs)


if __name__ == "__main__":
    main()
