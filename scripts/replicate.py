"""Repeat the experiments of a paper and store one line a run.

    python scripts/replicate.py shao_beckford                    a few runs, printed beside the
    paper's numbers
    python scripts/replicate.py shao_beckford --full             all runs, stored in
    nbs/papers/results/shao_beckford.csv,
                                                                 and what the releases publish, in
                                                                 shao_beckford_sets.csv
    python scripts/replicate.py shao_beckford --row paper 64 0   one run: setting, k, seed
    python scripts/replicate.py kadet --full                     all runs, stored in
    nbs/papers/results/kadet.csv, those of TDS in kadet_tds.csv
    python scripts/replicate.py kadet --row c45 75 1             one run: setting, k, limit of
    confidence (1: none)
    python scripts/replicate.py kactus --full                    all runs (hours), stored in
    nbs/papers/results/kactus_runs.csv; see
                                                                 scripts/kactus_runs.py, which has
                                                                 more options
    python scripts/replicate.py erp --full                       all runs (hours), stored in
    nbs/papers/results/erp.csv; see scripts/erp_runs.py
    python scripts/replicate.py mict --full                      all runs (an hour), stored in
    nbs/papers/results/mict.csv; see scripts/mict_runs.py
    python scripts/replicate.py readers --seeds 2 --full         two splits of ten tables (hours),
    stored in nbs/papers/results/readers_0.csv and readers_1.csv; see scripts/reader_study.py
    python scripts/replicate.py kactus --row kactus/raw/glass/c45 10 3   one run:
    method/preparation/table/learner, k, half
    python scripts/replicate.py claims                           all claims with their verdicts
    python scripts/replicate.py kadet-figure-4-tds               one claim: theirs, ours, verdict

A run that is stored already is not made again (--again makes all anew), so that --full may be
stopped and called again at any time. Adult is taken from PPDT_DATA, the cache, or UCI's archive.
The taxonomies of the kADET and TDS papers are not ours to give away: they are read from
PPDT_DATA/hierarchies/fung.
"""

import argparse
import importlib
import os
import platform
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import sklearn
from tqdm import tqdm

import ppdt
from ppdt.c45 import C45Classifier, ID3Classifier
from ppdt.contest import exposure
from ppdt.datasets import DataCorruptedError, DataNotFoundError, fetch_adult
from ppdt.diversity import LDiversity
from ppdt.generalization import Taxonomy, load_adult_taxonomies
from ppdt.growing import Members
from ppdt.id3_sets import GeneralizedID3Classifier, draw_members, make_marginals
from ppdt.kadet import KADETClassifier
from ppdt.models import audit_model
from ppdt.mondrian import MondrianAnonymizer
from ppdt.tables import atomic_write, cells
from ppdt.tds import TDSAnonymizer
from ppdt.trees import entropy, information_gain

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "nbs" / "papers" / "results"

# What the paper prints (Section V): percent, and points
PAPER = {"original": 80.96, "k=4": 80.87, "k=64": 79.28, "spread": 0.56}

CLASS = "income"
CATEGORICAL = [
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
]
# Section V.A
QIS = [
    "age",
    "education",
    "hours-per-week",
    "native-country",
    "capital-gain",
    "workclass",
    # added in Section V.B
    "occupation",
    "marital-status",
    "relationship",
    "race",
    "sex",
    "capital-loss",
]
KS = (4, 8, 16, 32, 64)

# setting: what differs from the default; a setting with chance is run with every seed
_all = dict(
    table="complete",
    ks=KS,
    chance=True,
    n_qi=(6,),
    anonymizer={},
    classifier={},
    learner="ours",
    draw="row",
    unseen="node",
    ties="first class",
)
_printed = dict(cut_rule="le", fallback=False)
_raw = dict(ks=(1,), chance=False)
SETTINGS = {
    name: _all | change
    for name, change in {
        "original": _raw,
        "original_global": _raw | dict(unseen="global"),
        "original_error": _raw | dict(unseen="error"),
        "original_last_class": _raw | dict(ties="last class"),
        "original_met_first": _raw | dict(learner="literal"),
        "original_met_first_global": _raw | dict(learner="literal", unseen="global"),
        "original_missing": _raw | dict(table="missing"),
        "paper": {},
        "literal_le": dict(anonymizer=dict(cut_rule="le")),
        "width_distinct": dict(anonymizer=dict(width="distinct")),
        "own_value": dict(classifier=dict(entropy="own_value"), chance=False),
        "random_map": dict(classifier=dict(entropy="random_map")),
        "most_frequent": dict(classifier=dict(convert="most_frequent"), chance=False),
        "fractional": dict(classifier=dict(convert="fractional"), chance=False),
        "original_distribution": dict(classifier=dict(convert="original_distribution")),
        "unseen_global": dict(unseen="global"),
        "met_first": dict(learner="literal"),
        "met_first_global": dict(learner="literal", unseen="global"),
        "met_first_distinct": dict(learner="literal", anonymizer=dict(width="distinct")),
        "relaxed": dict(anonymizer=dict(mode="relaxed")),
        "met_first_relaxed": dict(learner="literal", anonymizer=dict(mode="relaxed")),
        "infogain": dict(anonymizer=dict(mode="infogain")),
        "infogain_fractional": dict(
            anonymizer=dict(mode="infogain"), classifier=dict(convert="fractional"), chance=False
        ),
        "no_fallback": dict(anonymizer=dict(fallback=False)),
        "met_first_no_fallback": dict(learner="literal", anonymizer=dict(fallback=False)),
        "algorithm_1": dict(anonymizer=_printed),
        "algorithm_1_most_values": dict(anonymizer=_printed | dict(order="most values")),
        "one_draw": dict(draw="set"),
        "met_first_one_draw": dict(learner="literal", draw="set"),
    }.items()
}
MORE = dict(ks=(64,), n_qi=(7, 8, 9, 10, 11, 12))  # Section V.B
SETTINGS |= {
    "more_" + ("qis" if name == "paper" else name): SETTINGS[name] | MORE
    for name in (
        "paper",
        "own_value",
        "fractional",
        "width_distinct",
        "met_first_distinct",
        "relaxed",
        "met_first_relaxed",
        "infogain",
        "infogain_fractional",
        "met_first",
        "no_fallback",
        "met_first_no_fallback",
        "algorithm_1",
        "algorithm_1_most_values",
        "one_draw",
        "met_first_one_draw",
    )
}
ABOUT = {
    "original": (
        "the tree of the raw table; an unseen value gets the majority of the node reached, ties go"
        " to the first class"
    ),
    "original_global": "the same; an unseen value gets the majority of the whole table",
    "original_error": "the same; an unseen value counts as an error",
    "original_last_class": "the same; ties between classes go to the last class",
    "original_met_first": (
        "the raw table by the program the paper cites: ties go to the class met first in the table,"
        " equal gains to the last attribute"
    ),
    "original_met_first_global": "the same; an unseen value gets the majority of the whole table",
    "original_missing": (
        "the raw table with all 32,561 and 16,281 rows, a missing value being a category"
    ),
    "paper": (
        "the paper's: equal_prob, random; Mondrian cuts on either side of the median, rank width"
    ),
    "literal_le": "Mondrian sends the median left, always, and tries the next widest attribute",
    "width_distinct": "Mondrian measures categorical attributes by distinct values",
    "own_value": "a set is a value of its own; test rows are raw",
    "random_map": "sets are replaced by a drawn member before learning",
    "most_frequent": "a set goes to its most frequent member",
    "fractional": "a set goes to all its members in parts (ours)",
    "original_distribution": (
        "a member is drawn by published counts of the raw table, rare values left out"
    ),
    "unseen_global": "as paper; an unseen value gets the majority of the whole table",
    "met_first": "as paper, with the learner of original_met_first",
    "met_first_global": "as paper, with the learner of original_met_first_global",
    "met_first_distinct": "as width_distinct, with the learner of original_met_first",
    "relaxed": "as paper; Mondrian cuts into halves, rows with the median may go to both sides",
    "met_first_relaxed": "as relaxed, with the learner of original_met_first",
    "infogain": "as paper; Mondrian cuts where the classes become purest",
    "infogain_fractional": "as infogain; a set goes to all its members in parts (ours)",
    "no_fallback": "as paper; a region whose widest attribute cannot be cut is a group",
    "met_first_no_fallback": "as no_fallback, with the learner of original_met_first",
    "algorithm_1": "Algorithm 1 as printed: the median always goes left, and no next attribute",
    "algorithm_1_most_values": (
        "as algorithm_1; of attributes equally wide the one with most values is cut"
    ),
    "one_draw": "as paper; a member is drawn once for each set, not for each row",
    "met_first_one_draw": "as one_draw, with the learner of original_met_first",
}
ABOUT |= {
    name: (
        f"as {'paper' if name == 'more_qis' else name[5:]}, k = 64, with 7 to 12 quasi-identifiers"
        " (Section V.B)"
    )
    for name in SETTINGS
    if name.startswith("more_")
}
KEY = ["setting", "n_qi", "k", "seed"]
MEASURED = [
    "accuracy",
    "nodes",
    "leaves",
    "root",
    "generalized",
    "generalized_categorical",
    "small_sets",
    "values",
    "values_categorical",
    "k_measured",
    "gcp",
]
MADE = ["commit", "ppdt", "python", "numpy", "pandas", "scikit-learn"]
COLUMNS = KEY + MEASURED + ["seconds"] + MADE

# The releases themselves, without a tree: one line an attribute
GROUPINGS = {
    "strict": {},
    "distinct": dict(width="distinct"),
    "ratio": dict(width="ratio"),
    "balanced": dict(cut_rule="balanced"),
    "le": dict(cut_rule="le"),
    "relaxed": dict(mode="relaxed"),
    "infogain": dict(mode="infogain"),
    "no_fallback": dict(fallback=False),
    "algorithm_1": _printed,
    "algorithm_1_most_values": _printed | dict(order="most values"),
}
SETS_KEY = ["grouping", "n_qi", "k", "attribute"]
SETS_MEASURED = [
    "quasi_identifier",
    "groups",
    "values",
    "exact_rows",
    "exact_groups",
    "small_sets",
    "gain",
]
SETS_COLUMNS = SETS_KEY + SETS_MEASURED + MADE


def all_runs(seeds=3):
    """Every (setting, n_qi, k, seed) of the design"""
    return [
        (s, q, k, r)
        for s, o in SETTINGS.items()
        for q in o["n_qi"]
        for k in o["ks"]
        for r in range(seeds if o["chance"] else 1)
    ]


def load(table="complete", cache={}):
    """(training rows, test rows) of Adult's own split"""
    if table not in cache:
        parts = [fetch_adult(o, complete=table == "complete") for o in ("train", "test")]
        cache[table] = [
            o if table == "complete" else o.fillna({c: "missing" for c in CATEGORICAL})
            for o in parts
        ]
    return cache[table]


def in_order(train, names, order):
    """Quasi-identifiers in the order that breaks ties of widths"""
    if order == "listed":
        return names
    return sorted(names, key=lambda o: -train[o].nunique())


def protect(train, k, n_qi, options, cache={}):
    """The release of the training rows; the last one is remembered"""
    key = (k, n_qi, tuple(sorted(options.items())), id(train))
    if key not in cache:
        cache.clear()
        rest = [o for o in train if o not in (*QIS[:n_qi], CLASS)]
        words = dict(options)
        names = in_order(train, QIS[:n_qi], words.pop("order", "listed"))
        cache[key] = MondrianAnonymizer(
            k=k, quasi_identifiers=names, published=rest, **words
        ).anonymize(train.drop(columns=CLASS), train[CLASS])
    return cache[key]


class OneDrawID3(GeneralizedID3Classifier):
    """A member is drawn once for each generalized value, so that all its rows go one way"""

    def _data(self, X, y, w):
        data, rng = super()._data(X, y, w), np.random.default_rng(self.random_state)
        return replace(
            data, route=[drawn_once(m, rng, len(v)) for m, v in zip(data.score, data.values)]
        )


def drawn_once(m, rng, n_values):
    """One member for each cell; its rows have it all"""
    each = draw_members(replace(m, codes=np.arange(len(m.start) - 1)), rng, n_values)
    return Members.exact(each.value[each.codes][m.codes], n_values)


LEARNERS = {"row": GeneralizedID3Classifier, "set": OneDrawID3}


def sizes(column):
    """Number of values that each cell of a published column holds"""
    codes, cs = cells(column)
    return np.array([len(c.values) for c in cs])[codes]


def small(n):
    """Share of two and three among the sizes above one"""
    return np.mean(n[n > 1] <= 3) if (n > 1).any() else np.nan


def loss_measures(release, n_qi):
    """Shares of generalized cells among all and among categorical quasi-identifiers, and of sets of
    two or three among the latter;
    mean number of values of a cell, among all and among categorical ones"""
    each = {o: sizes(release.data[o]) for o in QIS[:n_qi]}
    every, cat = (
        np.concatenate(list(each.values())),
        np.concatenate([each[o] for o in each if o in CATEGORICAL]),
    )
    return dict(
        generalized=np.mean(every > 1),
        generalized_categorical=np.mean(cat > 1),
        small_sets=small(cat),
        values=every.mean(),
        values_categorical=cat.mean(),
    )


def gains(X, y):
    """Information gain of each categorical attribute of the whole table; a set counts 1/r for each
    of its members
    """
    clf = GeneralizedID3Classifier(features=CATEGORICAL)
    clf.classes_, y = np.unique(y.to_numpy(dtype=object), return_inverse=True)
    data = clf._data(X[CATEGORICAL], y, np.ones(len(y)))
    return {o: gain_of(data, j, np.arange(len(y))) for j, o in enumerate(data.names)}


def sets_of(grouping, n_qi, k):
    """Lines of the second file: the attributes of one release.

    Groups are the classes of rows that were published alike
    """
    train = load()[0]
    release = protect(train, k, n_qi, GROUPINGS[grouping])
    group = release.data.groupby(QIS[:n_qi], observed=True, sort=False).ngroup().to_numpy()
    first = np.sort(np.unique(group, return_index=True)[1])  # a row of each group
    gain, lines = gains(release.data, train[CLASS]), []
    for o in dict.fromkeys(CATEGORICAL + QIS[:n_qi]):
        qi = o in QIS[:n_qi]
        n = sizes(release.data[o]) if qi else np.ones(len(train))
        line = dict(
            quasi_identifier=qi,
            groups=len(first),
            values=n.mean(),
            exact_rows=np.mean(n == 1),
            exact_groups=np.mean(n[first] == 1),
            small_sets=small(n),
            gain=gain.get(o, np.nan),
        )
        lines.append(
            dict(grouping=grouping, n_qi=n_qi, k=k, attribute=o)
            | {a: round(float(v), 6) if isinstance(v, float) else v for a, v in line.items()}
        )
    return lines


def codes_in(tree_or_data, X):
    """Raw rows as codes, one array an attribute; -1 for a value that was not seen"""
    return [
        X[o].map({v: i for i, v in enumerate(vs)}).fillna(-1).to_numpy().astype(int)
        for o, vs in zip(tree_or_data.names, tree_or_data.values)
    ]


def reached(tree, X):
    """(node that each raw row ends in, did a value without a branch stop it there?)"""
    codes, node = np.column_stack(codes_in(tree, X)), np.zeros(len(X), dtype=int)
    for _ in tree.names:
        a = tree.attribute[node]
        child = tree.child_of_code(node, np.where(a >= 0, codes[np.arange(len(X)), a], -1))
        node = np.where(child >= 0, child, node)
    return node, tree.attribute[node] >= 0


def gain_of(data, j, rows):
    """Information gain of attribute j on some rows"""
    at, value, w = data.score[j].expand(rows)
    n, n_classes = len(data.values[j]), len(data.classes)
    return float(
        np.round(
            information_gain(
                np.bincount(value * n_classes + data.y[rows[at]], w, n * n_classes).reshape(
                    n, n_classes
                )
            ),
            12,
        )
    )


def literal_id3(data, test):
    """Algorithm 2 as the program that the paper builds on takes it: equal gains go to the last
    attribute, equal classes to the
    one met first in the table, an attribute may be used where all rows go one way.
    Returns (class of each test row by the node it ends in, was it stopped?, nodes, leaves, root
    attribute)"""
    route, answer, stopped = (
        [m.value[m.codes] for m in data.route],
        np.zeros(len(test[0]), dtype=int),
        np.zeros(len(test[0]), dtype=bool),
    )
    n_classes, nodes, leaves, root = len(data.classes), 0, 0, ""
    stack = [(np.arange(len(data.y)), np.arange(len(test[0])), tuple(range(len(data.names))))]
    while stack:
        rows, asked, left = stack.pop()
        count = np.bincount(data.y[rows], minlength=n_classes)
        most = np.flatnonzero(count == count.max())
        nodes, answer[asked] = nodes + 1, data.y[rows[np.isin(data.y[rows], most)][0]]
        if not left or count.max() == len(rows):
            leaves += 1
            continue
        gain = [gain_of(data, j, rows) for j in left]
        best = left[len(left) - 1 - int(np.argmax(gain[::-1]))]
        root = root or data.names[best]
        seen = np.unique(route[best][rows])
        stopped[asked[~np.isin(test[best][asked], seen)]] = True
        stack += [
            (
                rows[route[best][rows] == v],
                asked[test[best][asked] == v],
                tuple(j for j in left if j != best),
            )
            for v in seen
        ]
    return answer, stopped, nodes, leaves, root


def marginals(train, k):
    """Counts of the raw table, without the values that fewer than k people have"""
    counts = make_marginals(train, CATEGORICAL, k=1)
    return {o: {v: n for v, n in c.items() if n >= k} for o, c in counts.items()}


def run(setting, n_qi, k, seed):
    """One line of the results, without the columns that tell where it was made"""
    s = SETTINGS[setting]
    train, test = load(s["table"])
    release = None if k == 1 else protect(train, k, n_qi, s["anonymizer"])
    X = train.drop(columns=CLASS) if release is None else release.data
    options = dict(s["classifier"])
    if options.get("convert") == "original_distribution":
        options |= dict(marginals=marginals(train, k), marginals_k=k)
    clf = LEARNERS[s["draw"]](features=CATEGORICAL, random_state=seed, **options)
    if s["learner"] == "literal":
        clf.classes_, y = np.unique(train[CLASS].to_numpy(dtype=object), return_inverse=True)
        # rows in the table's own order: this learner looks at it
        data = clf._data(X[CATEGORICAL], y, np.ones(len(y)))
        answer, stopped, nodes, leaves, root = literal_id3(data, codes_in(data, test))
        whole = np.bincount(y)
    else:
        tree = clf.fit(X, train[CLASS]).tree_
        nodes, leaves, root, whole = (
            len(tree),
            tree.n_leaves,
            tree.names[tree.attribute[0]],
            tree.counts[0],
        )
        if (s["unseen"], s["ties"]) == ("node", "first class"):
            answer, stopped = np.searchsorted(clf.classes_, clf.predict(test[CATEGORICAL])), False
        else:
            node, stopped = reached(tree, test)
            c = tree.counts[node]
            answer = (
                c.argmax(axis=1)
                if s["ties"] == "first class"
                else c.shape[1] - 1 - c[:, ::-1].argmax(axis=1)
            )
    if s["unseen"] == "global":
        answer = np.where(stopped, whole.argmax(), answer)
    right = answer == np.searchsorted(clf.classes_, test[CLASS].to_numpy(dtype=object))
    if s["unseen"] == "error":
        right &= ~stopped
    loss = (
        dict(
            generalized=0.0,
            generalized_categorical=0.0,
            small_sets=np.nan,
            values=1.0,
            values_categorical=1.0,
        )
        if release is None
        else loss_measures(release, n_qi)
    )
    return dict(
        setting=setting,
        n_qi=n_qi,
        k=k,
        seed=seed,
        accuracy=round(100 * float(right.mean()), 4),
        nodes=nodes,
        leaves=leaves,
        root=root,
        **{o: round(float(v), 6) for o, v in loss.items()},
        k_measured=1 if release is None else release.audit.k,
        gcp=0.0 if release is None else round(release.audit.gcp, 6),
    )


def beside(name):
    """Another script of this folder, as a module"""
    if (folder := str(Path(__file__).resolve().parent)) not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(name)


def provenance():
    """Where a line was made: commit, with + when something was changed since, and versions"""

    def git(*a):
        try:
            return subprocess.run(
                ["git", *a], cwd=ROOT, capture_output=True, text=True, check=True
            ).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return ""

    return {
        "commit": (
            git("rev-parse", "--short", "HEAD")
            + ("+" if git("status", "--porcelain", "--", "ppdt", "scripts") else "")
        ),
        "ppdt": ppdt.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pandas": pd.__version__,
        "scikit-learn": sklearn.__version__,
    }


def timed(key):
    """A whole line"""
    start = time.perf_counter()
    return run(*key) | {"seconds": round(time.perf_counter() - start, 2)} | provenance()


def read_results(path, columns=COLUMNS):
    """The stored lines; none when there is no file yet"""
    types = {o: str for o in ("setting", "root", "grouping", "attribute", *MADE)}
    return pd.read_csv(path, dtype=types) if Path(path).is_file() else pd.DataFrame(columns=columns)


def store(path, lines, key=KEY, columns=COLUMNS, order=SETTINGS):
    """Add lines, or replace those of the same run; the file is written whole or not at all"""
    path, new = Path(path), pd.DataFrame(lines, columns=columns)
    old, made = read_results(path, columns), set(new[key].itertuples(index=False, name=None))
    keep = old[[o not in made for o in old[key].itertuples(index=False, name=None)]]
    t = pd.concat([keep.reindex(columns=columns), new], ignore_index=True) if len(keep) else new
    rank = t[key[0]].map({s: i for i, s in enumerate(order)}).fillna(len(order))
    places = t[key[1:]].assign(_rank=rank).sort_values(["_rank", *key[1:]], kind="stable").index
    t = t.loc[places]
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, lambda tmp: t.to_csv(tmp, index=False))


def each_unit(make, units, keep=None, jobs=1, desc="runs"):
    """The lines of some units, made one after the other or in processes; `keep` gets the lines of
    each as they come
    """
    bar, res = tqdm(total=len(units), desc=desc, file=sys.stderr, disable=None), []

    def take(lines):
        if keep:
            keep(lines)
        bar.update()
        res.extend(lines)

    if jobs == 1:
        for u in units:
            take(make(u))
        return res
    # not above: a browser's Python has no processes, and pages there read this file, too
    from concurrent.futures import ProcessPoolExecutor, as_completed

    with ProcessPoolExecutor(jobs) as pool:
        for f in as_completed([pool.submit(make, u) for u in units]):
            take(f.result())
    return res


def asked_row(row, units, form, words):
    """The unit that --row names, in a list. Ends the program where there is none; `form`: of
    --row, `words`: what may be named
    """
    want = (*row[0].split("/"), *(int(o) if o.isdecimal() else o for o in row[1:]))
    found = [u for u in units if u == want]
    if not found:
        raise SystemExit(f"--row must be {form} of the design. Got {' '.join(row)}; {words}.")
    return found


def stored_runs(make, units, key, columns, out, order, again=False, jobs=1):
    """Make units that are not stored, store the lines of each as they come, and return all.

    `key`: columns that name a line; the first ones name its unit
    """
    n = len(units[0]) if units else 0
    known = read_results(out, columns)[key[:n]].itertuples(index=False, name=None)
    known = set() if again else set(known)
    left = [u for u in units if u not in known]
    each_unit(make, left, lambda lines: store(out, lines, key, columns, order), jobs)
    return read_results(out, columns)


def print_runs(t, columns):
    """A table of runs, without the columns that tell where they were made"""
    shown = [o for o in columns if o not in MADE and o in t]
    print(t[shown].round(4).to_string(index=False, na_rep=""))


def runs_parser(doc, row, time_, csv):
    """The arguments that scripts of runs share"""
    p = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--full", action="store_true", help=f"make all runs and store them ({time_})")
    p.add_argument("--row", nargs=len(row), metavar=row, help="make this run only, and print it")
    p.add_argument("--again", action="store_true", help="with --full: make stored runs again too")
    p.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (1)")
    p.add_argument(
        "--out", type=Path, metavar="CSV", help=f"where --full stores (nbs/papers/results/{csv})"
    )
    return p


def parsed(p, args):
    """The arguments, checked"""
    a = p.parse_args(args)
    if a.jobs < 1:
        p.error(f"--jobs must be at least 1. Got {a.jobs}.")
    return a


def parsed_splits(p, args, default, most):
    """The arguments of a study over splits, checked"""
    words = f"with --full: of {most} ({default})"
    p.add_argument("--splits", type=int, default=default, metavar="N", help=words)
    a = parsed(p, args)
    if not 1 <= a.splits <= most:
        p.error(f"--splits must be 1 to {most}. Got {a.splits}.")
    return a


@contextmanager
def data_told():
    """Missing and damaged tables end the program with what to do, not with a traceback"""
    try:
        yield
    except (DataNotFoundError, DataCorruptedError) as e:
        raise SystemExit(str(e)) from None


def all_sets(path, again=False):
    """Make the second file; releases that are stored are not made again"""
    points = [(6, k) for k in KS] + [(q, 64) for q in MORE["n_qi"]]
    done = (
        set()
        if again
        else set(read_results(path, SETS_COLUMNS)[SETS_KEY[:3]].itertuples(index=False, name=None))
    )
    for key in tqdm(
        [(g, *o) for g in GROUPINGS for o in points if (g, *o) not in done],
        desc="releases",
        file=sys.stderr,
        disable=None,
    ):
        store(
            path, [line | provenance() for line in sets_of(*key)], SETS_KEY, SETS_COLUMNS, GROUPINGS
        )


def shao_beckford(full, seeds, row, again, out):
    """Make the runs that were asked for, and print them beside the paper's numbers"""
    if row:
        s, k, seed = row
        seed = int(seed) if seed.isdigit() else -1
        keys = [key for key in all_runs(seed + 1) if (key[0], str(key[2]), key[3]) == (s, k, seed)]
        if not keys:
            raise SystemExit(
                f"--row must be SETTING K SEED of the design. Got {' '.join(row)}; settings and"
                " their k:\n"
                + "\n".join(
                    f"  {n:26}{', '.join(map(str, o['ks'])):18}{ABOUT[n]}"
                    for n, o in SETTINGS.items()
                )
            )
    else:
        keys = (
            all_runs(seeds)
            if full
            else [("original", 6, 1, 0), ("paper", 6, 4, 0), ("paper", 6, 64, 0)]
        )
    done = (
        set()
        if again or not full
        else set(read_results(out)[KEY].itertuples(index=False, name=None))
    )
    lines = []
    for key in tqdm([o for o in keys if o not in done], desc="runs", file=sys.stderr, disable=None):
        lines.append(timed(key))
        if full:
            store(out, lines[-1:])
    if full:
        all_sets(out.with_name(out.stem + "_sets.csv"), again)
    t = read_results(out) if full else pd.DataFrame(lines)
    if full:
        print(f"{len(t)} runs in {out}, {len(lines)} of them new")
    summary = t.groupby(["setting", "n_qi", "k"], sort=False).agg(
        accuracy=("accuracy", "mean"),
        spread=("accuracy", lambda o: o.max() - o.min()),
        runs=("seed", "size"),
        nodes=("nodes", "mean"),
        seconds=("seconds", "mean"),
    )
    print(summary.round(2).to_string())
    print(
        "\nThe paper prints: "
        + ", ".join(f"{o} {v}" for o, v in PAPER.items())
        + " (percent, points)"
    )


# ---------- kADET
KADET_KS = (2, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 1500, 2000, 5000)
LIMITS = (
    0.751,
    0.752,
    0.755,
    0.76,
    0.77,
    0.78,
    0.79,
    0.8,
    0.82,
    0.84,
    0.85,
    0.86,
    0.87,
    0.88,
    0.9,
    0.92,
    0.94,
    0.96,
    0.98,
    0.99,
)
PRIVATE = ["workclass", "occupation", "relationship"]
_kadet = dict(numbers=False, ks=KADET_KS, limits=(1.0,), taxonomies="fung", private=(), options={})
_with_numbers = _kadet | dict(numbers=True, options=dict(criterion="gain_ratio"))
KADET = {
    "id3_raw": _kadet | dict(ks=(1,), learner=ID3Classifier),
    "c45_raw_8": _kadet | dict(ks=(1,), learner=C45Classifier),
    "c45_raw": _with_numbers | dict(ks=(1,), learner=C45Classifier),
    "id3_k1": _kadet | dict(ks=(1,)),
    "c45_k1": _with_numbers | dict(ks=(1,)),
    "id3": _kadet,
    "id3_values": _kadet | dict(taxonomies=None),
    "id3_our_levels": _kadet | dict(taxonomies="ours"),
    "id3_literal": _kadet | dict(options=dict(empty_ok=False)),
    "id3_private": _kadet | dict(ks=(5, 25, 100, 1000), private=PRIVATE),
    "c45": _with_numbers,
    "c45_values": _with_numbers | dict(taxonomies=None),
    "c45_unpruned": _with_numbers | dict(options=dict(criterion="gain_ratio", prune=False)),
    "c45_private": _with_numbers | dict(ks=(5, 25, 100, 1000), private=PRIVATE),
    "id3_confidence": _kadet | dict(ks=(1,), limits=LIMITS),
    "c45_confidence": _with_numbers | dict(ks=(1,), limits=LIMITS),
}
ABOUT_KADET = {
    "id3_raw": "ID3 without protection, eight categorical attributes",
    "c45_raw_8": "C4.5 (J48) without protection on the same attributes",
    "c45_raw": "C4.5 (J48) without protection, all 14 attributes",
    "id3_k1": "as id3 with k = 1, which refuses nothing",
    "c45_k1": "as c45 with k = 1, which refuses nothing",
    "id3": (
        "kADET with gain and the paper's taxonomies, eight categorical attributes, all public"
        " (Figures 4 and 6)"
    ),
    "id3_values": "the same without taxonomies",
    "id3_our_levels": "the same with the taxonomies of this package",
    "id3_literal": "as id3; a branch that holds nobody is a breach, as printed",
    "id3_private": "as id3; workclass, occupation and relationship are private as well",
    "c45": (
        "kADET with gain ratio, thresholds and pruning, all 14 attributes public (Figures 5 and 6)"
    ),
    "c45_values": "the same without taxonomies",
    "c45_unpruned": "as c45, not pruned",
    "c45_private": "as c45; workclass, occupation and relationship are private as well",
    "id3_confidence": (
        "as id3 with k = 1 and entropy l-diversity for a limit of confidence (Figure 7)"
    ),
    "c45_confidence": (
        "as c45 with k = 1 and entropy l-diversity for a limit of confidence (Figure 8)"
    ),
}
KADET_KEY = ["setting", "k", "limit"]
KADET_MEASURED = [
    "error",
    "exposed",
    "confidence",
    "k_measured",
    "spans",
    "nodes",
    "leaves",
    "depth",
    "root",
]
KADET_COLUMNS = KADET_KEY + KADET_MEASURED + ["seconds"] + MADE


def kadet_runs():
    """Every (setting, k, limit) of the design"""
    return [(s, k, limit) for s, o in KADET.items() for k in o["ks"] for limit in o["limits"]]


def taxonomies(which, cache={}):
    """Taxonomies of the eight categorical columns"""
    if which is None:
        return None
    if which not in cache:
        folder = Path(os.environ.get("PPDT_DATA", ".")) / "hierarchies" / "fung"
        if which == "fung" and not folder.is_dir():
            raise DataNotFoundError(
                f"The taxonomies of the paper are not in {folder}. Set PPDT_DATA to a folder that"
                " has hierarchies/fung/adult_education.csv and so on."
            )
        cache[which] = (
            load_adult_taxonomies()
            if which == "ours"
            else {o: Taxonomy.from_csv(folder / f"adult_{o}.csv") for o in CATEGORICAL}
        )
    return cache[which]


def kadet_fit(setting, k, limit):
    """(fitted classifier or None where no tree is safe, what was measured on the training rows, CPU
    seconds to fit)
    """
    s, (train, _) = KADET[setting], load()
    X, y = train[CATEGORICAL] if not s["numbers"] else train.drop(columns=CLASS), train[CLASS]
    if "learner" in s:
        clf = s["learner"]()
    else:
        constraints = []
        if limit != 1:
            l = 2 ** float(entropy([limit, 1 - limit]))
            constraints.append(LDiversity(l, form="entropy"))
        clf = KADETClassifier(
            k=k,
            public=[o for o in X if o not in s["private"]] if s["private"] else None,
            taxonomies=taxonomies(s["taxonomies"]),
            constraints=constraints,
            **s["options"],
        )
    start = time.process_time()
    try:
        clf.fit(X, y)
    except ValueError as e:
        if "No tree is safe" in str(e):
            return None, None, time.process_time() - start
        raise
    seconds = time.process_time() - start
    return clf, audit_model(clf.tree_, X, y=y) if "learner" in s else clf.audit(X, y), seconds


def kadet_run(setting, k, limit):
    """One line of the results, without the columns that tell where it was made"""
    clf, found, seconds = kadet_fit(setting, k, limit)
    key = dict(setting=setting, k=k, limit=limit)
    if clf is None:
        return key | dict.fromkeys(KADET_MEASURED) | dict(root="", seconds=round(seconds, 2))
    test, t = load()[1], clf.tree_
    error = 100 - 100 * clf.score(test[list(clf.feature_names_in_)], test[CLASS])
    return key | dict(
        error=round(float(error), 4),
        exposed=round(100 * found.exposed, 4),
        confidence=round(float(found.confidence), 6),
        k_measured=found.k,
        spans=found.n_spans,
        nodes=len(t),
        leaves=t.n_leaves,
        depth=t.depth,
        root=t.names[t.attribute[0]] if t.attribute[0] >= 0 else "",
        seconds=round(seconds, 2),
    )


def read_kadet(path):
    """The stored lines"""
    t = read_results(path, KADET_COLUMNS)
    return t.assign(root=t.root.fillna("").astype(str))


# TDS, with which the paper compares: (all 14 attributes?, learner, are test rows recoded together
# with the training rows?)
KADET_TDS = {
    f"tds_{name}{'_together' if both else ''}": (numbers, learner, both)
    for both in (False, True)
    for name, numbers, learner in (
        ("id3", False, ID3Classifier),
        ("c45_8", False, C45Classifier),
        ("c45", True, C45Classifier),
    )
}
TDS_COLUMNS = [
    "setting",
    "k",
    "error",
    "exposed",
    "k_measured",
    "classes",
    "refinements",
    "seconds",
] + MADE


def kadet_tds_run(setting, k):
    """A line of TDS on Adult's own split, without the columns that tell where it was made: every
    cell that is published is a word of its own, a range too.

    `exposed`:
    percent of the training rows in a class of one income"""
    as_words = beside("kactus_runs").as_words
    (numbers, learner, both), (train, test) = KADET_TDS[setting], load()
    columns = list(train.drop(columns=CLASS)) if numbers else CATEGORICAL
    est, start = TDSAnonymizer(k=k, taxonomies=taxonomies("fung")), time.process_time()
    t = pd.concat([train, test], ignore_index=True) if both else train
    r = est.anonymize(t[columns], t[CLASS])
    seconds = time.process_time() - start
    learnt = r.data.iloc[: len(train)]
    asked = (
        r.data.iloc[len(train) :].reset_index(drop=True) if both else est.transform(test[columns])
    )
    data, words = as_words(learnt, columns)
    clf = learner().fit(data, train[CLASS])
    right = np.asarray(
        clf.predict(as_words(asked, columns, known=None if learner is ID3Classifier else words)[0]),
        dtype=object,
    ) == test[CLASS].to_numpy(dtype=object)
    return dict(
        setting=setting,
        k=k,
        error=round(100 - 100 * float(right.mean()), 4),
        exposed=round(100 * exposure(learnt, train[CLASS])[0], 4),
        k_measured=r.audit.k,
        classes=r.audit.n_classes,
        refinements=len(est.trace_),
        seconds=round(seconds, 2),
    )


def read_kadet_tds(path):
    return read_results(path, TDS_COLUMNS)


def kadet_tds(out, again=False):
    """Make the runs of TDS that are not stored"""
    done = (
        set()
        if again
        else set(read_kadet_tds(out)[["setting", "k"]].itertuples(index=False, name=None))
    )
    for key in tqdm(
        [(s, k) for s in KADET_TDS for k in KADET_KS if (s, k) not in done],
        desc="TDS",
        file=sys.stderr,
        disable=None,
    ):
        store(out, [kadet_tds_run(*key) | provenance()], ["setting", "k"], TDS_COLUMNS, KADET_TDS)


def kadet(full, seeds, row, again, out):
    """Make the runs that were asked for"""
    keys = (
        kadet_runs()
        if full
        else [("id3_raw", 1, 1.0), ("id3", 750, 1.0), ("id3", 1000, 1.0), ("c45", 75, 1.0)]
    )
    if row:
        try:
            want = row[0], int(row[1]), float(row[2])
        except ValueError:
            want = None
        keys = [o for o in kadet_runs() if o == want]
        if not keys:
            raise SystemExit(
                f"--row must be SETTING K LIMIT of the design. Got {' '.join(row)}; settings and"
                " their k:\n"
                + "\n".join(
                    f"  {n:16}{', '.join(map(str, o['ks'])):75}{ABOUT_KADET[n]}"
                    for n, o in KADET.items()
                )
            )
    done = (
        set()
        if again or not full
        else set(read_kadet(out)[KADET_KEY].itertuples(index=False, name=None))
    )
    lines = []
    for key in tqdm([o for o in keys if o not in done], desc="runs", file=sys.stderr, disable=None):
        lines.append(kadet_run(*key) | provenance())
        if full:
            store(out, lines[-1:], KADET_KEY, KADET_COLUMNS, KADET)
    if full:
        kadet_tds(Path(out).with_name(f"{Path(out).stem}_tds.csv"), again)
    t = read_kadet(out) if full else pd.DataFrame(lines)
    if full:
        print(f"{len(t)} runs in {out}, {len(lines)} of them new")
    print(t.drop(columns=MADE).round(2).to_string(index=False))


# ---------- kACTUS
def kactus(*args):
    """The runs of scripts/kactus_runs.py"""
    beside("kactus_runs").kactus(*args)


def erp(*args):
    """The runs of scripts/erp_runs.py"""
    beside("erp_runs").erp(*args)


def mict(full, seeds, row, again, out):
    """The runs of scripts/mict_runs.py"""
    beside("mict_runs").mict(full, seeds, row, again, out)


def readers(*args):
    """The runs of scripts/reader_study.py"""
    beside("reader_study").readers(*args)


PAPERS = {
    "shao_beckford": shao_beckford,
    "kadet": kadet,
    "kactus": kactus,
    "erp": erp,
    "mict": mict,
    "readers": readers,
}


def main(args=None):
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("paper", metavar="PAPER", help=f"{', '.join(PAPERS)}; claims, or a claim's name")
    p.add_argument(
        "--full", action="store_true", help="make all runs and store them (about ten minutes)"
    )
    p.add_argument(
        "--seeds",
        type=int,
        default=3,
        metavar="N",
        help="runs of every setting with chance (3, as in the paper)",
    )
    p.add_argument(
        "--row",
        nargs="+",
        metavar="WORD",
        help=(
            "make this run only, and print it: setting, k, seed; for kadet: setting, k, limit of"
            " confidence; for kactus: run, k, half; for erp: run, k, fold; for mict: release, k;"
            " for readers: run, k, split"
        ),
    )
    p.add_argument("--again", action="store_true", help="with --full: make stored runs again too")
    p.add_argument(
        "--out", type=Path, metavar="CSV", help="where --full stores (nbs/papers/results/PAPER.csv)"
    )
    a = p.parse_args(args)
    if a.paper == "claims":
        return beside("claims").list_claims()
    if "-" in a.paper:
        sys.exit(0 if beside("claims").one_claim(a.paper) else 1)
    if a.paper not in PAPERS:
        p.error(f"PAPER must be one of {', '.join(PAPERS)}, or claims, or a claim. Got {a.paper}.")
    if a.row and len(a.row) != (n := 2 if a.paper == "mict" else 3):
        p.error(f"--row must be {n} words for {a.paper}. Got {len(a.row)}.")
    if a.seeds < 1:
        p.error(f"--seeds must be at least 1. Got {a.seeds}.")
    with data_told():
        PAPERS[a.paper](
            a.full,
            a.seeds,
            a.row,
            a.again,
            a.out or RESULTS / f"{a.paper}{'_runs' if a.paper == 'kactus' else ''}.csv",
        )


if __name__ == "__main__":
    main()
