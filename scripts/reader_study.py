"""Which reader for which release: ten tables, six methods, six k, several readers.

    python scripts/reader_study.py                          a few runs, printed
    python scripts/reader_study.py --full --splits 2        all runs of two splits, stored in
    nbs/papers/results/readers_0.csv and readers_1.csv, a file a split
    python scripts/reader_study.py --row pima/strict/drawn_boosting 5 0   one run:
    table/method/reader, k, split

A run protects two thirds of a table, teaches a reader by the release, and asks it for the other
third as it is. All columns are quasi-identifiers, of Adult nine. Runs that are stored are not made
again (--again makes all anew), so that --full may be stopped and called again. Tables are found as
`fetch_benchmark` finds them; also called by python scripts/replicate.py readers.
"""

import sys
import time
import warnings
from functools import lru_cache, partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

sys.path.insert(0, str(Path(__file__).parent))
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

from ppdt.c45 import C45Classifier
from ppdt.datasets import fetch_benchmark
from ppdt.encoder import ReleaseEncoder
from ppdt.erp import ERPAnonymizer
from ppdt.generalization import Taxonomy, load_adult_taxonomies
from ppdt.kactus import KActusAnonymizer
from ppdt.learners import DrawnClassifier, SetForestClassifier
from ppdt.mict import MicroaggregationAnonymizer
from ppdt.mondrian import MondrianAnonymizer
from ppdt.tables import column_kind
from ppdt.tds import TDSAnonymizer

# in the order of cost; glass is left out: a class of it has nine people
CASES = "tictactoe pima crx contraceptive german vehicle ionosphere nursery adult waveform".split()
ADULT = (
    "age workclass education marital-status occupation race sex hours-per-week native-country"
).split()
MOST = 8000  # rows that are learnt from; of Adult 30,148 are two thirds
KS, SPLITS = (2, 5, 10, 25, 50, 100), 10
FIRST = (5, 50, 10, 25, 2, 100)  # in this order k are run
METHODS = {
    "infogain": (
        "Mondrian by the class, sets, categories cut into subsets",
        partial(MondrianAnonymizer, mode="infogain", categories="subsets"),
    ),
    "strict": ("Mondrian at medians, sets", MondrianAnonymizer),
    "kactus": (
        "kACTUS, ranges of batches",
        partial(KActusAnonymizer, numeric="interval", random_state=0),
    ),
    "erp": ("error-risk pruning, tiers", partial(ERPAnonymizer, random_state=0)),
    "mdav": ("microaggregation, means and modes", MicroaggregationAnonymizer),
    "tds": ("TDS; trees of one step, of Adult the package's taxonomies", TDSAnonymizer),
}


def boosting():
    return HistGradientBoostingClassifier(random_state=0)


def logistic():
    return make_pipeline(MaxAbsScaler(), LogisticRegression(max_iter=1000))


# reader: (what it is, a function of taxonomies and seed)
READERS = {
    "c45": ("C4.5, cells as sets of possible values", lambda t, s: C45Classifier(taxonomies=t)),
    "encoder_boosting": (
        "boosted trees on the encoder's weights",
        lambda t, s: make_pipeline(ReleaseEncoder(taxonomies=t), boosting()),
    ),
    "drawn_boosting": (
        "boosted trees on five draws",
        lambda t, s: DrawnClassifier(boosting(), taxonomies=t, random_state=s),
    ),
    "forest": (
        "a forest, each tree on its own draw",
        lambda t, s: SetForestClassifier(taxonomies=t, random_state=s),
    ),
    "encoder_logistic": (
        "logistic regression on the encoder's weights",
        lambda t, s: make_pipeline(ReleaseEncoder(taxonomies=t), logistic()),
    ),
    "drawn_logistic": (
        "logistic regression on five draws",
        lambda t, s: DrawnClassifier(logistic(), taxonomies=t, random_state=s),
    ),
}
ON_RAW = [o for o in READERS if not o.startswith("drawn")]  # nothing is to be drawn
KEY = ["case", "method", "k", "split", "reader"]
MEASURED = ["accuracy", "auc", "brier", "calibration", "gcp", "protect_seconds", "learn_seconds"]
COLUMNS = [*KEY, "n_train", "n_test", *MEASURED, *MADE]


def all_units(splits=SPLITS):
    """(case, method, k, split), in the order in which they are run; the dearest table comes last"""
    res = []
    for s, cases in product(range(splits), (CASES[:-1], CASES[-1:])):
        for k, c in product(FIRST, cases):
            res += [(c, "raw", 1, s)] if k == FIRST[0] else []
            res += [(c, m, k, s) for m in METHODS]
    return res


def keys_of(unit):
    return [(*unit, r) for r in (ON_RAW if unit[1] == "raw" else READERS)]


def all_runs(splits=SPLITS):
    return [key for u in all_units(splits) for key in keys_of(u)]


@lru_cache(maxsize=1)
def table(case):
    """(X, y): complete rows; classes of fewer than ten people are left out (Nursery has one)"""
    X, y = fetch_benchmark(case)
    X = X[ADULT] if case == "adult" else X
    keep = X.notna().all(axis=1) & (y.map(y.value_counts()).astype(int) >= 10)
    X, y = (o[keep].reset_index(drop=True) for o in (X, y))
    return X, y.astype(str)


def split_of(case, split):
    """(X, y, X_test, y_test): two thirds and one, with the same shares of classes"""
    X, y = table(case)
    n = min(MOST, round(2 / 3 * len(X)))
    X, X_test, y, y_test = train_test_split(
        X, y, train_size=n, test_size=len(X) - round(2 / 3 * len(X)), stratify=y, random_state=split
    )
    return [o.reset_index(drop=True) for o in (X, y, X_test, y_test)]


def trees(case):
    """Taxonomies for TDS, of the values that the whole table has"""
    if case == "adult":
        return {o: t for o, t in load_adult_taxonomies().items() if o in ADULT}
    X, _ = table(case)
    words = [o for o in X if column_kind(X[o]) == "categorical"]
    flat = {o: sorted(X[o].unique().astype(str)) for o in words}
    return {o: Taxonomy.from_dict({"(all)": v}) for o, v in flat.items()}


def anonymizer(case, method, k):
    more = {"taxonomies": trees(case)} if method == "tds" else {}
    return METHODS[method][1](k=k, **more)


def calibration_error(p, right, bins=10):
    """Mean distance of the chance that the answer was given and how often such answers are right:
    ten bins of equal width, weighted by their rows
    """
    at = np.minimum((p * bins).astype(int), bins - 1)
    sums = [np.bincount(at, o, minlength=bins) for o in (p, right)]
    return float(np.abs(sums[0] - sums[1]).sum() / len(p))


def measured(model, X, y):
    """Accuracy in percent; area under the curve (of more classes one against the rest, weighted by
    their rows); Brier score (half the squared distance, so that two classes have the usual one);
    calibration error of the answer
    """
    p = model.predict_proba(X)
    classes = [str(o) for o in model.classes_]
    truth = y.to_numpy(dtype=str)[:, None] == np.array(classes)
    right = np.asarray(model.predict(X)).astype(str) == y.to_numpy(dtype=str)
    auc = [roc_auc_score(truth[:, j], p[:, j]) for j in range(len(classes))]
    return dict(
        accuracy=round(100 * float(right.mean()), 4),
        auc=round(float(np.average(auc, weights=truth.sum(axis=0))), 6),
        brier=round(float(((p - truth) ** 2).sum(axis=1).mean() / 2), 6),
        calibration=round(calibration_error(p.max(axis=1), right), 6),
    )


def taught(unit, readers):
    """The lines of a unit, without the columns that tell where they were made; `readers`: name ->
    a function of taxonomies and seed
    """
    case, method, k, split = unit
    X, y, X_test, y_test = split_of(case, split)
    about, taxonomies = dict(n_train=len(X), n_test=len(X_test)), None
    loss, begin = 0.0, time.process_time()
    if method != "raw":
        r = anonymizer(case, method, k).anonymize(X, y)
        X, y, taxonomies, loss = r.data, r.y, r.taxonomies, r.audit.gcp
    about |= dict(gcp=round(float(loss), 6), protect_seconds=round(time.process_time() - begin, 2))
    res = []
    for name, reader in readers.items():
        begin = time.process_time()
        model = reader(taxonomies or None, split).fit(X, y)
        about["learn_seconds"] = round(time.process_time() - begin, 2)
        res.append(dict(zip(KEY, (*unit, name))) | about | measured(model, X_test, y_test))
    return res


def run(unit, readers=None):
    """The lines of a unit, of all readers or of some"""
    asked = [o for *_, o in keys_of(unit) if readers is None or o in readers]
    return taught(unit, {o: READERS[o][1] for o in asked})


def make(job):
    unit, readers = job
    made = provenance()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [o | made for o in run(unit, readers)]


def of_split(path, split):
    """Where the runs of a split stand: readers.csv -> readers_0.csv"""
    return path.with_stem(f"{path.stem}_{split}")


def read(path):
    """The runs of all splits that are stored beside `path`"""
    there = [read_results(of_split(Path(path), s), COLUMNS) for s in range(SPLITS)]
    return pd.concat([o for o in there if len(o)] or there[:1], ignore_index=True)


def keep(path, lines):
    """Store the lines of a unit with those of its split"""
    store(of_split(path, lines[0]["split"]), lines, KEY, COLUMNS, CASES)


def done_in(path):
    return set(read(path)[KEY].itertuples(index=False, name=None))


def summary(t):
    """Means over splits, less those of boosting on the raw table"""
    raw = t[(t.method == "raw") & (t.reader == "encoder_boosting")].set_index(["case", "split"])
    base = raw.reindex(pd.MultiIndex.from_frame(t[["case", "split"]]))
    t = t.assign(accuracy=t.accuracy - base.accuracy.to_numpy(), auc=t.auc - base.auc.to_numpy())
    by = t.groupby(["case", "method", "k", "reader"], sort=False)
    return by[["accuracy", "auc", "brier", "calibration", "gcp"]].mean().round(4).reset_index()


def wanted(row):
    """The job of --row"""
    try:
        (case, method, reader), k, split = row[0].split("/"), int(row[1]), int(row[2])
    except ValueError:
        case = method = reader = k = split = None
    unit = (case, method, k, split)
    if (*unit, reader) in all_runs():
        return unit, (reader,)
    raise SystemExit(
        "--row must be TABLE/METHOD/READER K SPLIT of the design, such as"
        f" pima/strict/drawn_boosting 5 0. Got {' '.join(row)}; tables: {', '.join(CASES)}; k:"
        f" {KS}, of raw 1; splits 0 to {SPLITS - 1}; methods, and raw:\n"
        + "\n".join(f"  {o:18}{text}" for o, (text, _) in METHODS.items())
        + "\nreaders:\n"
        + "\n".join(f"  {o:18}{text}" for o, (text, _) in READERS.items())
    )


def readers(full=False, seeds=2, row=None, again=False, out=None, jobs=1):
    """Make the runs that were asked for, of `seeds` splits, and print them beside raw boosting"""
    out = out or RESULTS / "readers.csv"
    if row:
        todo = [wanted(row)]
    elif full:
        done = set() if again else done_in(out)
        left = [(u, [k[-1] for k in keys_of(u) if k not in done]) for u in all_units(seeds)]
        todo = [(u, r) for u, r in left if r]
    else:
        todo = [(("pima", m, k, 0), None) for m, k in (("raw", 1), ("strict", 5))]
    lines = each_unit(make, todo, partial(keep, out) if full else None, jobs)
    t = read(out) if full else pd.DataFrame(lines)
    if full:
        print(f"{len(t)} runs in {out.stem}_*.csv, {len(lines)} of them new")
    if len(t):
        print((t[KEY + MEASURED] if row else summary(t)).to_string(index=False))


def main(args=None):
    p = runs_parser(__doc__, ("RUN", "K", "SPLIT"), "days", "readers_SPLIT.csv")
    a = parsed_splits(p, args, 2, SPLITS)
    with data_told():
        readers(a.full, a.splits, a.row, a.again, a.out, a.jobs)


if __name__ == "__main__":
    main()
