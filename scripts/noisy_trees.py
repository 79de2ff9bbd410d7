"""What models with noise (differential privacy) teach and tell, beside models from releases.

    python scripts/noisy_trees.py                  one repeat of each method at epsilon 1, printed
    python scripts/noisy_trees.py --full           all runs, stored in nbs/papers/results/noise.csv
    python scripts/noisy_trees.py --row random_trees 9x8 0.3 2    one run: method, setting,
    epsilon (inf: no noise), repeat

The people are those of scripts/frontier.py: 8,000 of Adult are learnt from, 8,000 others are asked
about. Settings are chosen by the 14,162 who are in neither: the columns third_* are of a model
that learnt from 8,000 of them with the same noise and was asked about the rest. Noise is drawn by
OpenDP and by interpret from the system, so a repeat never comes out twice: compare means.
Runs that are stored are not made again (--again makes all anew).

The libraries are no part of ppdt:    pip install 'ppdt[noise]'    (or: opendp interpret-core)
"""

import importlib
import importlib.metadata
import sys
import time
from functools import lru_cache
from itertools import combinations
from math import inf
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit, logit

sys.path.insert(0, str(Path(__file__).parent))
from frontier import KNOWN, LEARNERS, METHODS as RELEASES, PEOPLE, boosting, people, scores
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
from sklearn.pipeline import make_pipeline

from ppdt.attacks import FittingRows, Queries, attack
from ppdt.c45 import C45Classifier
from ppdt.datasets import fetch_adult
from ppdt.encoder import ReleaseEncoder
from ppdt.generalization import load_adult_taxonomies
from ppdt.mondrian import MondrianAnonymizer

EPSILONS, REPEATS = (0.1, 0.3, 1, 3, 10), 10
DEPTHS, TREES, RATES = (3, 6, 9), (1, 8, 32), ("0.01", "0.2")
DELTA = 1e-5
BEFORE = ("strict", "infogain", "infogain_alpha", "mict")
KS = (5, 25, 100)
LIBRARIES = ("opendp", "interpret-core")
KEY = ["method", "setting", "epsilon", "repeat"]
MEASURED = ["accuracy", "auc", "brier", "guess_in", "guess_out"]
COLUMNS = [
    *KEY,
    *MEASURED,
    "third_accuracy",
    "third_auc",
    "counts",
    "scale",
    "seconds",
    *MADE,
    *LIBRARIES,
]

# The domains are public: they stand in Adult's description, and nobody looks at rows for them
NUMBERS = {"age": (17, 90), "hours-per-week": (1, 99)}
CLASSES = np.array(["<=50K", ">50K"], dtype=object)


def library(name, module):
    """A library of noise, or the end of the program with a word on what to do"""
    try:
        return importlib.import_module(module)
    except ImportError:
        words = f"pip install '{name}', or 'ppdt[noise]'"
        raise SystemExit(
            f"This run draws noise with {name}, which is not installed: {words}."
        ) from None


def all_units():
    """(method, setting, epsilon, repeat); one repeat without noise"""
    repeats = range(REPEATS)
    found = [("raw", o, inf, 0) for o in ("table", "boosting", "c45")]
    found += [(m, f"k{k}", inf, 0) for m in BEFORE for k in KS]
    forests = [f"{d}x{t}" for d in DEPTHS for t in TREES]
    settings = {"random_trees": forests, "naive_bayes": ["one"], "pairs": ["two"]}
    settings["boosting"] = RATES
    for m, of in settings.items():
        for o in of:
            found += [(m, o, e, r) for e in EPSILONS for r in repeats]
    counted = [(m, o) for m, of in settings.items() if m != "boosting" for o in of]
    found += [(m, o, inf, 0) for m, o in counted]
    return found


def named(unit):
    """A unit as it is written on the command line"""
    method, setting, epsilon, repeat = unit
    return method, setting, int(epsilon) if epsilon in (1, 3, 10) else f"{epsilon:g}", repeat


@lru_cache(maxsize=1)
def third():
    """(X, y) twice: to learn from, and to ask about, of people who are in neither half"""
    t = fetch_adult(complete=True)
    rest = t.iloc[np.random.default_rng(1).permutation(len(t))[2 * PEOPLE :]]
    parts = rest[:PEOPLE], rest[PEOPLE:]
    return tuple((o[KNOWN].reset_index(drop=True), o.income.reset_index(drop=True)) for o in parts)


@lru_cache(maxsize=1)
def domains():
    """The values of each column, from its description"""
    trees = load_adult_taxonomies()
    ranges = {o: range(low, high + 1) for o, (low, high) in NUMBERS.items()}
    return {o: list(ranges[o]) if o in NUMBERS else sorted(trees[o].values) for o in KNOWN}


def coded(X, tens=False):
    """(columns, rows) of positions in the domains; `tens`: numbers by their tens"""
    res = []
    for o, domain in domains().items():
        codes = pd.Index(domain).get_indexer(X[o])
        if tens and o in NUMBERS:
            low = NUMBERS[o][0]
            codes = (codes + low) // 10 - low // 10
        res.append(codes)
    return np.stack(res)


def sizes(tens=False):
    """The number of codes of each column"""
    res = []
    for o, domain in domains().items():
        low, high = NUMBERS.get(o, (0, 0))
        res.append(high // 10 - low // 10 + 1 if tens and o in NUMBERS else len(domain))
    return res


def noisy(counts, epsilon, cells):
    """Counts with discrete Laplace noise by OpenDP; one person changes `cells` of them by one"""
    counts = np.asarray(counts, dtype=np.int64)
    if epsilon == inf:
        return counts.astype(float)
    dp = library("opendp", "opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    mechanism = dp.m.make_geometric(*space, scale=cells / epsilon)
    assert mechanism.map(cells) <= epsilon * (1 + 1e-9)  # OpenDP's own account
    return np.array(mechanism(counts.ravel().tolist()), dtype=float).reshape(counts.shape)


def shares(counts, prior, weight):
    """Shares of the second class, drawn to the prior as by `weight` rows; no count is below 0"""
    few, many = np.maximum(counts, 0).T
    return np.clip((many + weight * prior) / (few + many + weight), 1e-3, 1 - 1e-3)


def class_counts(codes, rich, size):
    """(size, 2): rows of each code and class"""
    return np.bincount(2 * codes + rich, minlength=2 * size).reshape(-1, 2)


class Noisy:
    """A classifier that keeps nothing but noisy counts"""

    classes_ = CLASSES

    def predict_proba(self, X):
        p = expit(self.odds(X))
        return np.stack([1 - p, p], axis=1)

    def predict(self, X):
        return CLASSES[(self.odds(X) > 0).astype(int)]


def random_tree(depth, rng):
    """A complete tree of questions that are drawn, not learnt: columns, and the codes that go left.

    Each node asks a column that has two values left there: a number whether it is below a
    threshold, a category whether it is in a set.
    """
    m = sizes()
    n = 2**depth - 1
    column, left = np.zeros(n, dtype=int), np.zeros((n, max(m)), dtype=bool)
    boxes = [[np.arange(o) for o in m]]
    for i in range(n):
        box = boxes[i]
        j = rng.choice([j for j, values in enumerate(box) if len(values) > 1])
        values = box[j] if KNOWN[j] in NUMBERS else rng.permutation(box[j])
        cut = rng.integers(1, len(values))
        column[i] = j
        left[i, values[:cut]] = True
        for side in (values[:cut], values[cut:]):
            boxes.append([*box[:j], np.sort(side), *box[j + 1 :]])
    return column, left


def leaves(tree, codes, depth):
    """The leaf of each row"""
    (column, left), rows = tree, np.arange(codes.shape[1])
    at = np.zeros(len(rows), dtype=int)
    for _ in range(depth):
        asked = column[at]
        at = 2 * at + 2 - left[at, codes[asked, rows]]
    return at - len(column)


class RandomTrees(Noisy):
    """Trees drawn without the data, each with a part of the rows; leaf counts are noisy.

    A row is in one leaf of one tree, so that one person changes one count. The answer adds the
    prior's log-odds and twice the mean of what leaves say beyond it.
    """

    def __init__(self, setting, epsilon, repeat):
        self.depth, self.n_trees = map(int, setting.split("x"))
        self.epsilon, self.rng = epsilon, np.random.default_rng(repeat)

    def fit(self, X, y):
        codes, rich = coded(X), (y == CLASSES[1]).to_numpy().astype(int)
        self.trees = [random_tree(self.depth, self.rng) for _ in range(self.n_trees)]
        part, size = self.rng.integers(0, self.n_trees, len(y)), 2**self.depth
        counts = []
        for i, tree in enumerate(self.trees):
            mine = part == i
            at = leaves(tree, codes[:, mine], self.depth)
            counts.append(class_counts(at, rich[mine], size))
        counts = noisy(counts, self.epsilon, 1)
        few, many = counts.sum(axis=(0, 1))
        self.prior = float(np.clip(many / max(few + many, 1), 0.01, 0.99))
        self.shares = [shares(c, self.prior, 2 + 2 / self.epsilon) for c in counts]
        self.counts, self.scale = counts.size, 1 / self.epsilon
        return self

    def odds(self, X):
        codes, prior = coded(X), logit(self.prior)
        said = [
            logit(p[leaves(tree, codes, self.depth)]) - prior
            for tree, p in zip(self.trees, self.shares)
        ]
        return prior + 2 * np.mean(said, axis=0)


class NaiveBayes(Noisy):
    """Noisy counts of each column with the class: one person changes one count of each column"""

    def __init__(self, setting, epsilon, repeat):
        self.epsilon = epsilon

    def fit(self, X, y):
        codes, rich = coded(X, tens=True), (y == CLASSES[1]).to_numpy().astype(int)
        tables = [class_counts(c, rich, m) for c, m in zip(codes, sizes(tens=True))]
        ends = np.cumsum([len(t) for t in tables])[:-1]
        counts = noisy(np.concatenate(tables), self.epsilon, len(tables))
        few, many = counts.sum(axis=0)
        self.prior = float(np.clip(many / max(few + many, 1), 0.01, 0.99))
        self.scale, self.counts = len(tables) / self.epsilon, counts.size
        parts = np.split(counts, ends)
        self.shares = [shares(c, self.prior, 1 + self.scale) for c in parts]
        return self

    def odds(self, X):
        prior, codes = logit(self.prior), coded(X, tens=True)
        return prior + sum(logit(p[c]) - prior for p, c in zip(self.shares, codes))


class Pairs(Noisy):
    """Linear regression on values of columns, from noisy counts of all pairs of columns.

    Half of epsilon is for the columns with the class, half for pairs of columns. Eigenvalues below
    0 become 0, and a ridge as high as the largest that noise alone would make is added.
    """

    def __init__(self, setting, epsilon, repeat):
        self.epsilon = epsilon

    def fit(self, X, y):
        codes, rich = coded(X, tens=True), (y == CLASSES[1]).to_numpy().astype(int)
        m, half = sizes(tens=True), self.epsilon / 2
        starts = np.cumsum([0, *m])
        both = np.concatenate([class_counts(c, rich, size) for c, size in zip(codes, m)])
        both = noisy(both, half, len(m))
        pairs = list(combinations(range(len(m)), 2))
        tables = [np.bincount(codes[i] * m[j] + codes[j], minlength=m[i] * m[j]) for i, j in pairs]
        flat = noisy(np.concatenate(tables), half, len(pairs))
        gram = np.diag(both.sum(axis=1))
        for i, j in pairs:
            table, flat = np.split(flat, [m[i] * m[j]])
            rows, cols = slice(*starts[i : i + 2]), slice(*starts[j : j + 2])
            gram[rows, cols] = table.reshape(m[i], m[j])
            gram[cols, rows] = gram[rows, cols].T
        values, vectors = np.linalg.eigh(gram)
        self.scale = len(pairs) / half
        ridge = self.scale * np.sqrt(2 * len(gram)) + 1
        few, many = both.sum(axis=0)
        self.prior = many / (few + many)
        beyond = both[:, 1] - self.prior * both.sum(axis=1)
        solved = (vectors.T @ beyond) / (np.maximum(values, 0) + ridge)
        self.said = np.split(vectors @ solved, starts[1:-1])
        self.counts = both.size + sum(t.size for t in tables)
        return self

    def odds(self, X):
        codes = coded(X, tens=True)
        share = self.prior + sum(s[c] for s, c in zip(self.said, codes))
        return 4 * (share - 0.5)  # the slope of the logistic curve in its middle


class Boosting:
    """DP-EBM of interpret: boosted steps of one column each, with Gaussian noise (delta 1e-5)"""

    def __init__(self, setting, epsilon, repeat):
        self.rate, self.epsilon = float(setting), epsilon
        self.counts = self.scale = None

    def fit(self, X, y):
        privacy = library("interpret-core", "interpret.privacy")
        kinds = ["continuous" if o in NUMBERS else "nominal" for o in KNOWN]
        self.model = privacy.DPExplainableBoostingClassifier(
            feature_names=KNOWN,
            feature_types=kinds,
            learning_rate=self.rate,
            epsilon=self.epsilon,
            delta=DELTA,
            privacy_bounds=NUMBERS,
            n_jobs=1,
        ).fit(X, y)
        self.classes_ = self.model.classes_
        return self

    def predict(self, X):
        return self.model.predict(X)

    def predict_proba(self, X):
        return self.model.predict_proba(X)


MODELS = {
    "random_trees": RandomTrees,
    "naive_bayes": NaiveBayes,
    "pairs": Pairs,
    "boosting": Boosting,
}


def asked(model, inside, outside):
    """How a model answers for the others, and better for those it learnt from"""
    found = attack(Queries(model), *inside, *outside).guess
    told = {"guess_in": round(found.share_in, 6), "guess_out": round(found.share_out, 6)}
    return scores(model, *outside) | told


def of_noise(unit):
    """The line of a model with noise"""
    method, *how = unit
    begun = time.process_time()
    model = MODELS[method](*how).fit(*people(0)[0])
    seconds = round(time.process_time() - begun, 2)
    line = asked(model, *people(0))
    learnt, judged = third()
    found = scores(MODELS[method](*how).fit(*learnt), *judged)
    line |= {f"third_{o}": found[o] for o in ("accuracy", "auc")}
    return line | {"counts": model.counts, "scale": model.scale, "seconds": seconds}


def of_table(setting):
    """The line of the raw table, or of a model that learnt from it"""
    (X, y), outside = people(0)
    made = C45Classifier() if setting == "c45" else make_pipeline(ReleaseEncoder(), boosting())
    line = asked(made.fit(X, y), (X, y), outside)
    if setting == "table":  # whoever holds the table looks for the person's own row
        release = MondrianAnonymizer(k=1).anonymize(X, y)
        found = attack(FittingRows(release), X, y, *outside).guess
        line |= {"guess_in": round(found.share_in, 6), "guess_out": round(found.share_out, 6)}
    return line


def of_release(method, setting):
    """The line of a model that learnt from a release, when the release itself stays at home"""
    (X, y), outside = people(0)
    release = RELEASES[method](k=int(setting[1:])).anonymize(X, y)
    model = LEARNERS["drawn_boosting"](release.taxonomies or None)
    return asked(model.fit(release.data, release.y), (X, y), outside)


def run(unit):
    """The line of a unit, without the columns that tell where it was made"""
    method, setting, *_ = unit
    if method == "raw":
        line = of_table(setting)
    else:
        line = of_noise(unit) if method in MODELS else of_release(method, setting)
    return dict(zip(KEY, unit)) | line


def versions():
    """The libraries of noise that are installed"""
    res = {}
    for name in LIBRARIES:
        try:
            res[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            res[name] = ""
    return res


def make(unit):
    return [run(unit) | provenance() | versions()]


ROW = ("METHOD", "SETTING", "EPSILON", "REPEAT")


def noisy_trees(full=False, row=None, again=False, out=None, jobs=1):
    """Make the runs that were asked for, and print them"""
    out, units = out or RESULTS / "noise.csv", all_units()
    if row:
        words = f"methods are raw, {', '.join((*BEFORE, *MODELS))}, epsilons {EPSILONS}, and inf"
        at = {named(u): u for u in units}
        units = [at[u] for u in asked_row(row, list(at), " ".join(ROW), words)]
    elif not full:
        units = [u for u in units if u[2:] == (1, 0)]
    if full:
        order = ["raw", *BEFORE, *MODELS]
        t = stored_runs(make, units, KEY, COLUMNS, out, order, again, jobs)
    else:
        t = pd.DataFrame(each_unit(make, units, None, jobs))
    print_runs(t, [o for o in COLUMNS if o not in LIBRARIES])


def main(args=None):
    p = runs_parser(__doc__, ROW, "twenty minutes", "noise.csv")
    a = parsed(p, args)
    with data_told():
        noisy_trees(a.full, a.row, a.again, a.out, a.jobs)


if __name__ == "__main__":
    main()
