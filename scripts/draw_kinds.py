"""Which draw for which release: values drawn by their shares, or by the learner's own opinion,
beside even draws.

    python scripts/draw_kinds.py                          a release, printed
    python scripts/draw_kinds.py --full                 all runs of two splits, stored in
    nbs/papers/results/draw_kinds.csv
    python scripts/draw_kinds.py --row pima/strict/boosting_posterior 5 0   one run:
    table/method/kind, k, split

Tables, releases, seeds and people who are asked are those of reader_study.py, so that each line
has its even draw among the stored lines of readers. Runs that are stored are not made again
(--again makes all anew). Tables are found as `fetch_benchmark` finds them.
"""

import sys
import warnings
from functools import partial
from itertools import product
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))
from reader_study import CASES, COLUMNS, KEY, METHODS, boosting, read as read_readers, taught
from replicate import (
    RESULTS,
    asked_row,
    data_told,
    each_unit,
    parsed_splits,
    print_runs,
    provenance,
    read_results,
    runs_parser,
    store,
)

from ppdt.learners import DrawnClassifier, SetForestClassifier

KS, SPLITS = (5, 50), 2


def on_draws(weights, trees, seed):
    return DrawnClassifier(boosting(), weights=weights, taxonomies=trees, random_state=seed)


# kind: (what it is, its even draw in the stored lines of readers, a function as those of READERS)
KINDS = {
    "boosting_shares": (
        "boosted trees on five draws by the shares of the values",
        "drawn_boosting",
        partial(on_draws, "distribution"),
    ),
    "boosting_posterior": (
        "boosted trees on five draws by what the trees say of the class",
        "drawn_boosting",
        partial(on_draws, "posterior"),
    ),
    "forest_shares": (
        "a forest, each tree on its own draw by the shares of the values",
        "forest",
        lambda t, s: SetForestClassifier(weights="distribution", taxonomies=t, random_state=s),
    ),
}
MEASURES = ["accuracy", "auc", "brier", "calibration"]


def all_units(splits=SPLITS):
    """(case, method, k, split), in the order in which they are run"""
    return [(c, m, k, s) for s, k, c, m in product(range(splits), KS, CASES, METHODS)]


def run(unit, kinds=tuple(KINDS)):
    """The lines of a unit, without the columns that tell where they were made"""
    return taught(unit, {o: KINDS[o][2] for o in kinds})


def make(unit):
    made = provenance()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [o | made for o in run(unit)]


def read(path):
    return read_results(path, COLUMNS)


def beside_even(t, readers):
    """What each line has more than the even draw of the same release: accuracy and area under the
    curve in points, Brier score and calibration error in hundredths
    """
    even = readers.set_index(KEY)[MEASURES].astype(float)
    of_each = t.assign(reader=t.reader.map({o: v[1] for o, v in KINDS.items()}))
    base = even.loc[pd.MultiIndex.from_frame(of_each[KEY])].to_numpy()
    more = (t[MEASURES].to_numpy(dtype=float) - base) * [1, 100, 100, 100]
    return t[KEY].assign(**dict(zip(MEASURES, more.T)))


def draw_kinds(full=False, seeds=SPLITS, row=None, again=False, out=None, jobs=1):
    """Make the runs that were asked for, and print them beside even draws"""
    out = out or RESULTS / "draw_kinds.csv"
    if row:
        form = "TABLE/METHOD/KIND K SPLIT"
        runs = [(c, m, o, k, s) for (c, m, k, s), o in product(all_units(), KINDS)]
        words = f"such as pima/strict/boosting_posterior 5 0; kinds are {', '.join(KINDS)}"
        ((case, method, kind, k, split),) = asked_row(row, runs, form, words)
        return print_runs(pd.DataFrame(run((case, method, k, split), [kind])), COLUMNS)
    done = set() if again else set(read(out)[KEY[:-1]].itertuples(index=False, name=None))
    todo = [u for u in all_units(seeds) if u not in done] if full else [("pima", "strict", 5, 0)]
    keep = (lambda o: store(out, o, KEY, COLUMNS, CASES)) if full else None
    lines = each_unit(make, todo, keep, jobs)
    t = read(out) if full else pd.DataFrame(lines)
    if full:
        print(f"{len(t)} runs in {out}, {len(lines)} of them new")
    more = beside_even(t, read_readers(RESULTS / "readers.csv"))
    print(more.groupby(["method", "k", "reader"])[MEASURES].mean().round(2).to_string())


def main(args=None):
    p = runs_parser(__doc__, ("RUN", "K", "SPLIT"), "half an hour", "draw_kinds.csv")
    a = parsed_splits(p, args, SPLITS, SPLITS)
    with data_told():
        draw_kinds(a.full, a.splits, a.row, a.again, a.out, a.jobs)


if __name__ == "__main__":
    main()
