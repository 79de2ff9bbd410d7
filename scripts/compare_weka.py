"""Compare C4.5, ID3 and PART with stored results of Weka, and store one line a run.

    python scripts/compare_weka.py                    the quick runs, summed up by family
    python scripts/compare_weka.py --full             all runs, stored in
    nbs/papers/results/weka_agreement.csv
    python scripts/compare_weka.py --family PART      one family

Weka's results are taken from PPDT_ORACLES (else ../shared/oracles), the tables from PPDT_DATA (else
../shared/data).
"""

import argparse
import gzip
import json
import math
import os
import sys
import time
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Callable

import numpy as np
import pandas as pd
from tqdm import tqdm

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(Path(__file__).parent))
from replicate import MADE, provenance

from ppdt.c45 import C45Classifier, ID3Classifier, PARTClassifier
from ppdt.engine.checks import class_codes
from ppdt.engine.coded_rows import CodedRows
from ppdt.engine.columns import learn_raw_column
from ppdt.engine.rules import nominal_scores, numeric_scores, one_state, rule_shares
from ppdt.engine.shares import tree_shares
from ppdt.engine.tree_tables import asked_rows
from ppdt.engine.tree_texts import branch_text
from ppdt.growing import LEAF, MULTIWAY, Tree
from ppdt.tables import atomic_write, value_text

RESULTS = ROOT / "nbs" / "papers" / "results" / "weka_agreement.csv"
KEY = ["family", "run"]
COLUMNS = KEY + ["agrees", "compared", "seconds"] + MADE

# What a line of each family is, and what must be equal
FAMILIES = {
    "J48": (
        "a data set with options: leaves, size, test and class weights of each node, confusion;"
        " text, class shares of each row and of test rows where stored"
    ),
    "J48 texts": "a printed tree: every character",
    "J48 missing values": (
        "ten rows with gaps and options: nodes, class shares of training and test rows"
    ),
    "J48 root splits": (
        "a data set, with or without -B: gain, ratio, threshold and class weights of each attribute"
        " at the root"
    ),
    "J48 halves": "half of a data set: right answers on the other half, nodes",
    "J48 halves, discretized": "the same, numbers cut before as stored",
    "PART": (
        "a data set with options: rules, weights, confusion; text and class shares of each row"
        " where stored"
    ),
    "PART halves": "half of a data set: right answers on the other half, rules",
    "PART halves, discretized": "the same, numbers cut before as stored",
    "Id3": "a data set: nodes, leaves, empty leaves, confusion, text; test rows where stored",
    "Id3 halves": "half of a data set: right answers and unclassified rows",
}
QUICK = 1.5  # seconds; longer runs are left to --full


@dataclass(frozen=True)
class Run:
    "One comparison; `check()` gives what was compared, or fails with an AssertionError"

    family: str
    run: str
    check: Callable


def folder(variable, name):
    return Path(os.environ.get(variable) or ROOT.parent / "shared" / name)


def stored(name):
    """A file of results"""
    raw = (folder("PPDT_ORACLES", "oracles") / "weka" / name).read_bytes()
    return json.loads(gzip.decompress(raw) if name.endswith(".gz") else raw)


# ---------------------------------------------------------------- tables


def read(csv):
    path = (
        folder("PPDT_DATA", "data") / csv.removeprefix("shared/data/")
        if csv.startswith("shared/")
        else folder("PPDT_ORACLES", "oracles") / "weka" / csv
    )
    return pd.read_csv(path, dtype=str, keep_default_na=False, skipinitialspace=True)


def frame(t, attributes):
    """Columns as Weka has them: categories with all declared values in order, or numbers"""
    return pd.DataFrame(
        {
            a["name"]: (
                t[a["name"]].astype(pd.CategoricalDtype(a["values"]))
                if a["type"] == "nominal"
                else pd.to_numeric(t[a["name"]]).astype(float)
            )
            for a in attributes
            if a["name"] in t
        }
    )


def table(name, cache={}):
    """(X, y) of a data set"""
    if name not in cache:
        s = cache.setdefault(None, stored("schema.json") if None not in cache else cache[None])[
            name
        ]
        t = pd.concat(
            [read(o) for o in ([s["csv"]] if isinstance(s["csv"], str) else s["csv"])],
            ignore_index=True,
        ).replace({"?": ""})
        if s.get("rows_used") == "without missing":
            t = t[(t != "").all(axis=1)].reset_index(drop=True)
        cache[name] = frame(t.where(t != ""), s["attributes"])
    return cache[name].iloc[:, :-1], cache[name].iloc[:, -1]


RAW_NAME = {"german": "credit-g", "pima": "diabetes", "adult": "adult-all"}


def discretized(name):
    """The table with numbers as categories, by the stored cuts: a value at a cut is below it"""
    X, y = table(RAW_NAME.get(name, name))
    cuts, res = stored("discretization.json")["datasets"].get(name, {"cuts": {}})["cuts"], X.copy()
    for c, at in cuts.items():
        code = np.where(X[c].isna(), -1, np.searchsorted(at, X[c].to_numpy(), side="left"))
        res[c] = pd.Categorical.from_codes(code, [f"bin {i}" for i in range(len(at) + 1)])
    return res, y


def halves(name):
    """(training rows, test rows), ten times"""
    for f in stored(f"folds_{name}.json")["folds"]:
        half = np.array([int(o) for o in f["half_of_row"]])
        for test in 0, 1:
            yield np.flatnonzero(half != test), np.flatnonzero(half == test)


# ---------------------------------------------------------------- what is compared


def options(text):
    """Our parameters for J48's options"""
    o = text.split()
    value = lambda name, default: type(default)(o[o.index(name) + 1]) if name in o else default
    return dict(
        min_samples_leaf=value("-M", 2),
        confidence=value("-C", 0.25),
        prune="-U" not in o,
        subtree_raising="-S" not in o,
        binary_splits="-B" in o,
        thresholds="data",
    )


def j48(text):
    return C45Classifier(**options(text))


def part(text):
    return PARTClassifier(**{k: v for k, v in options(text).items() if k != "subtree_raising"})


def children(tree):
    res = [[] for _ in range(len(tree))]
    for i, p in enumerate(tree.parent[1:].tolist(), 1):
        res[p].append(i)
    return res


def close(a, b, tolerance, what):
    assert np.allclose(a, b, rtol=0, atol=tolerance), what


def weights_close(a, b, what):
    assert np.allclose(a, b, rtol=1e-6, atol=1e-6), what


def check_nodes(tree, weka):
    """Attributes, tests and class weights of all nodes"""
    kids, stack = children(tree), [(0, weka)]
    while stack:
        i, w = stack.pop()
        if "leaf" in w:
            assert tree.attribute[i] < 0, f"node {i} is a leaf in Weka"
            weights_close(tree.counts[i], w["leaf"], f"weights of leaf {i}")
            continue
        assert tree.attribute[i] == w["att"] and len(kids[i]) == len(w["sons"]), (
            f"attribute of node {i}"
        )
        if "split" in w:
            close(tree.threshold[i], w["split"], 1e-9, f"threshold of node {i}")
        weights_close(tree.counts[kids[i]], w["dist"], f"weights below node {i}")
        stack += zip(kids[i], w["sons"])


def confusion(y, p):
    return (
        pd.crosstab(y.cat.codes, p.argmax(axis=1))
        .reindex(index=range(p.shape[1]), columns=range(p.shape[1]), fill_value=0)
        .to_numpy()
        .tolist()
    )


def body(text):
    """A printed result without title and closing lines"""
    return text.split("-\n", 1)[1].split("\n\nNumber of")[0].strip()


def shares(clf, X):
    """Class shares, the classes in Weka's order"""
    p = clf.predict_proba(X)
    return (
        p[:, [list(clf.classes_).index(o) for o in clf._classes_]]
        if hasattr(clf, "_classes_")
        else p
    )


def check_rows(clf, X, y, found):
    """Confusion, and class shares of each row where stored"""
    p, done = shares(clf, X), ["confusion"]
    assert confusion(y, p) == found["confusion"], "confusion"
    if "dist_table" in found:
        close(p, np.array(found["dist_table"])[found["dist_index"]], 1e-9, "class shares of rows")
        done.append("rows")
    return done


PRINTED = {}  # trees that `compare_j48` has grown, for `compare_text`


def compare_j48(r):
    X, y = table(r["dataset"])
    clf = j48(r["options"]).fit(X, y)
    PRINTED[r["dataset"], r["options"]] = str(clf).strip()
    assert (clf.tree_.n_leaves, len(clf.tree_)) == (r["leaves"], r["size"]), "leaves and size"
    check_nodes(clf.tree_, r["tree"])
    done = ["leaves, size, nodes"]
    if "text" in r:
        assert str(clf).strip() == body(r["text"]), "text"
        done.append("text")
    if "-A" in r["options"].split():
        return ", ".join(done)
    done += check_rows(clf, X, y, r["train"])
    if "test" in r:
        check_rows(clf, *table(r["dataset"] + "_test"), r["test"])
        done.append("test")
    return ", ".join(done)


def compare_text(path, r):
    key = r["dataset"], r["options"]
    if key not in PRINTED:
        PRINTED[key] = str(j48(r["options"]).fit(*table(r["dataset"]))).strip()
    assert PRINTED[key] in path.read_text("utf-8"), "text"
    return "text"


def compare_missing(e, text, r):
    cut = lambda rows: frame(
        pd.DataFrame(rows, columns=[a["name"] for a in e["attributes"]][: len(rows[0])]),
        e["attributes"],
    )
    t, asked = cut(e["train"]), cut(e["test"])
    X, y = t.iloc[:, :-1], t.iloc[:, -1]
    clf = j48(text).fit(X, y)
    check_nodes(clf.tree_, r["tree"])
    assert str(clf).strip() == body(r["text"]), "text"
    close(shares(clf, X), r["train_distribution"], 1e-9, "training rows")
    close(shares(clf, asked), r["test_distribution"], 1e-9, "test rows")
    return "nodes, text, rows, test"


def as_rows(X, y):
    classes, codes = class_codes(y)
    return CodedRows(
        list(X), *map(list, zip(*[learn_raw_column(X[o]) for o in X])), classes, codes, None
    )


def check_splits(d, m, splits, binary):
    s, rows = one_state(d), np.arange(len(d.y))
    counts = np.bincount(d.y, minlength=s.k)[None].astype(float)
    found = {}
    if s.numbers:
        found |= dict(zip(s.numbers, zip(*numeric_scores(s, rows, np.ones(len(rows)), counts, m))))
    if s.word:
        found |= dict(
            zip(s.word, zip(*nominal_scores(s, rows, np.ones(len(rows)), counts, m, binary)))
        )
    for o in splits:
        j = o["att"]
        gain, ratio, cut, ok, *_ = found[j]
        assert bool(ok) == o["valid"], f"is a split on attribute {j} allowed?"
        if not ok:
            continue
        close([gain, ratio], [o["gain"], o["gain_ratio"]], 1e-9, f"gain and ratio of attribute {j}")
        if "midpoint" in o:
            close(cut, o["midpoint"], 1e-9, f"threshold of attribute {j}")
        if "value_index" in o:
            assert cut == o["value_index"], f"value of attribute {j}"
        known = np.flatnonzero(d.codes[j] >= 0)
        c, n = d.codes[j][known], d.sizes[j]
        branch = d.line[j][c] > cut if "midpoint" in o else c != cut if binary else c
        n = 2 if "midpoint" in o or binary else n
        weights_close(
            np.bincount(branch * s.k + d.y[known], minlength=n * s.k).reshape(n, s.k),
            o["dist_known"],
            f"branches of attribute {j}",
        )


def compare_root(name, r, binary):
    check_splits(
        as_rows(*table(name)), r["minobj"], r["binary_splits" if binary else "splits"], binary
    )
    return "gain, ratio, threshold, branches"


SHARES = "equal class shares: the last bit of Weka's sums of fractions decides"


def of_fractions(clf, X):
    """Rows whose answer is made of fractions: a value is missing, or a leaf or rule they come to
    holds parts of rows
    """
    odd = lambda c: (c != c.round()).any(axis=-1)
    x = asked_rows(clf, X)
    if hasattr(clf, "rules_"):
        p = rule_shares(
            [
                replace(r, counts=np.array([1.0, 0.0] if odd(r.counts) else [0.0, 1.0]))
                for r in clf.rules_
            ],
            x,
        )
    else:
        p = tree_shares(
            replace(
                clf.tree_,
                counts=np.where(odd(clf.tree_.counts)[:, None], [1.0, 0.0], [0.0, 1.0])
                * clf.tree_.n[:, None],
            ),
            x,
        )
    return (p[:, 0] > 0) | X.isna().any(axis=1).to_numpy()


def check_right(clf, X, y, want):
    """Right answers.

    Where two classes share the first place in a leaf of fractions, sums of another order may answer
    otherwise; these rows alone may make the difference
    """
    p, y = shares(clf, X), y.cat.codes.to_numpy()
    right = np.round(p, 12).argmax(axis=1) == y  # as `predict` answers
    if right.sum() == want:
        return
    first = p >= p.max(axis=1, keepdims=True) - 1e-9
    free = (first.sum(axis=1) > 1) & of_fractions(clf, X)
    may = free & first[np.arange(len(y)), y]
    assert right[~free].sum() <= want <= right[~free].sum() + may.sum(), (
        f"{right.sum()} right answers instead of {want}"
    )
    raise AssertionError(
        f"{SHARES} ({right.sum()} instead of {want} right answers, {free.sum()} such rows)"
    )


def compare_half(data, make, rows, r, i, size):
    X, y = data()
    train, test = rows()[i]
    clf = make.fit(X.iloc[train], y.iloc[train])
    ours = len(clf.tree_) if size == "tree_size" else len(clf.rules_)
    assert ours == r[size][i], f"{ours} nodes or rules instead of {r[size][i]}"
    check_right(clf, X.iloc[test], y.iloc[test], r["correct"][i])
    return "right answers, " + ("nodes" if size == "tree_size" else "rules")


def compare_part(r):
    X, y = table(r["dataset"])
    clf = part(r["options"]).fit(X, y)
    assert len(clf.rules_) == r["rules_n"], "number of rules"
    done = ["number of rules"]
    for ours, theirs in zip(clf.rules_, r.get("rules", ())):
        assert [(t[0], t[3]) for t in ours.tests] == [
            (t["att"], t["branch"]) for t in theirs["tests"]
        ], "tests of a rule"
        weights_close(ours.counts, theirs["leaf"], "weights of a rule")
    if "rules" in r:
        done.append("tests, weights")
    if "text" in r:
        assert str(clf).strip() == body(r["text"]), "text"
        done.append("text")
    return ", ".join(done + check_rows(clf, X, y, r["train"]))


def id3_text(tree):
    """The tree as Weka's Id3 prints it: an empty leaf is null"""
    lines, stack, kids = [], [(k, 0) for k in children(tree)[0][::-1]], children(tree)
    while stack:
        i, depth = stack.pop()
        leaf = tree.attribute[i] < 0
        label = "null" if tree.n[i] == 0 else value_text(tree.classes[tree.majority(i)])
        lines.append("|  " * depth + branch_text(tree, i) + (f": {label}" if leaf else ""))
        if not leaf:
            stack += [(k, depth + 1) for k in kids[i][::-1]]
    return "\n".join(lines)


def unclassified(clf, X):
    """Rows that end in an empty leaf, to which Weka's Id3 gives no class"""
    t, x = clf.tree_, np.column_stack([X[o].cat.codes for o in X])
    kids, node = children(t), np.zeros(len(X), dtype=int)
    first = np.array([k[0] if k else -1 for k in kids])
    for _ in range(len(t.names)):
        node = np.where(
            t.attribute[node] >= 0, first[node] + x[np.arange(len(X)), t.attribute[node]], node
        )
    return t.n[node] == 0


def weka_id3(X, y):
    """Id3 with gains added up in Weka's order, so that equal gains differ in the same last bits and
    the same attribute wins.
    The tree takes the place of a classifier's."""
    x, codes, k = (
        [X[o].cat.codes.to_numpy() for o in X],
        y.cat.codes.to_numpy(),
        len(y.cat.categories),
    )
    log = [0.0] + [math.log(i) / math.log(2) for i in range(1, len(y) + 1)]

    def bits(counts):
        n, e = sum(counts), 0.0
        for c in counts:
            if c > 0:
                e -= c * log[c]
        return e / n + log[n]

    def gain(table):
        whole = table.sum(axis=0).tolist()
        g, n = bits(whole), sum(whole)
        for row in table.tolist():
            if sum(row):
                g -= sum(row) / n * bits(row)
        return g

    nodes, queue = [], deque([(np.arange(len(y)), -1, -1)])
    while queue:
        rows, parent, code = queue.popleft()
        counts, best, top = np.bincount(codes[rows], minlength=k), -1, 0.0
        tables = (
            [
                np.bincount(
                    c[rows] * k + codes[rows], minlength=len(X[o].cat.categories) * k
                ).reshape(-1, k)
                for o, c in zip(X, x)
            ]
            if len(rows)
            else []
        )
        for j, t in enumerate(tables):
            if (g := gain(t)) > top or j == 0:
                best, top = j, g
        if abs(top) < 1e-6:
            best = -1
        if best >= 0:
            queue += [(rows[x[best][rows] == v], len(nodes), v) for v in range(len(tables[best]))]
        nodes.append((parent, best, code, counts))
    parent, attribute, code, counts = (np.array(o) for o in zip(*nodes))
    tree = Tree(
        parent,
        attribute,
        np.zeros(len(nodes), dtype=int),
        np.where(attribute >= 0, MULTIWAY, LEAF),
        np.full(len(nodes), np.nan),
        code,
        counts.astype(float),
        counts.sum(axis=1).astype(float),
        list(X),
        [list(X[o].cat.categories) for o in X],
        np.array(y.cat.categories, dtype=object),
    )
    return SimpleNamespace(
        tree_=tree,
        predict_proba=lambda X: tree_shares(
            tree, np.stack([X[o].cat.codes.to_numpy().astype(float) for o in X])
        ),
    )


TIE = "equal gains: Weka's last bit decides; with gains added in its order all is equal"


def or_tie(check, X, y):
    """Check our classifier; where it differs, that of `weka_id3`: if that is Weka's, the difference
    lies in ties
    """
    try:
        check(ID3Classifier().fit(X, y))
    except AssertionError:
        check(weka_id3(X, y))
        raise AssertionError(TIE) from None


def check_id3(clf, X, y, found):
    p, lost = shares(clf, X), unclassified(clf, X)
    right = int((p.argmax(axis=1) == y.cat.codes.to_numpy())[~lost].sum())
    assert (right, int(lost.sum())) == (
        found["correct"],
        found["unclassified"],
    ), "right answers and unclassified rows"
    if "confusion" in found:
        assert confusion(y[~lost], p[~lost]) == found["confusion"], "confusion"


def compare_id3(name, r, texts):
    or_tie(lambda clf: check_id3_run(clf, name, r, texts), *table(name))
    return "size, leaves, empty leaves, confusion, text" + (", test" if "test" in r else "")


def check_id3_run(clf, name, r, texts):
    X, y = table(name)
    t = clf.tree_
    assert (len(t), t.n_leaves, int((t.n == 0).sum())) == (
        r["size"],
        r["leaves"],
        r["null_leaves"],
    ), "size, leaves, empty leaves"
    check_id3(clf, X, y, r["train"])
    path = next(p for p in texts if p.name.startswith(f"{name}__Id3"))
    raw = path.read_bytes()
    assert (
        id3_text(t).strip()
        == (gzip.decompress(raw) if path.suffix == ".gz" else raw)
        .decode()
        .split("\n", 1)[1]
        .strip()
    ), "text"
    if "test" in r:
        check_id3(clf, *table(name + "_test"), r["test"])


def compare_id3_half(name, r, i):
    X, y = table(name)
    train, test = list(halves(name))[i]
    or_tie(lambda clf: check_id3(clf, X.iloc[test], y.iloc[test], r), X.iloc[train], y.iloc[train])
    return "right answers, unclassified rows"


# ---------------------------------------------------------------- all runs


def all_runs():
    """Every comparison that our parameters express"""
    where, res = folder("PPDT_ORACLES", "oracles") / "weka", []
    add = lambda family, run, f, *a: res.append(Run(family, run, lambda: f(*a)))
    runs = stored("j48.json.gz")["runs"]
    for k, r in runs.items():
        add("J48", k, compare_j48, r)
    named = {
        f"{r['dataset']}__{k.split('|')[1].replace('-', '').replace(' ', '')}": r
        for k, r in runs.items()
    }
    texts = sorted((where / "trees").iterdir())
    for p in texts:
        if "__Id3" not in p.name:
            add("J48 texts", p.stem, compare_text, p, named[p.stem])
    for name, e in stored("missing_values.json")["examples"].items():
        for o, r in e["runs"].items():
            add("J48 missing values", f"{name}|{o}", compare_missing, e, o, r)
    for name, r in stored("root_splits.json")["splits"].items():
        for binary in False, True:
            add("J48 root splits", name + "|-B" * binary, compare_root, name, r, binary)
    for prepared in "raw", "sup":
        for name, by in stored("cv_5x2.json")["results"][prepared].items():
            rows = lambda name=name, cache={}: cache.setdefault(name, list(halves(name)))
            data = (
                (lambda name=name: table(RAW_NAME.get(name, name)))
                if prepared == "raw"
                else lambda name=name, cache={}: cache.setdefault(name, discretized(name))
            )
            for o in ("J48", "J48 -U", "PART"):
                family, size = (
                    o.split()[0] + " halves" + ", discretized" * (prepared == "sup"),
                    ("rules" if o == "PART" else "tree_size"),
                )
                for i in range(10) if o in by else ():
                    add(
                        family,
                        f"{name}|{o}|{i}",
                        compare_half,
                        data,
                        PARTClassifier(thresholds="data") if o == "PART" else j48(o),
                        rows,
                        by[o],
                        i,
                        size,
                    )
    for k, r in stored("part.json.gz")["runs"].items():
        add("PART", k, compare_part, r)
    for name, r in stored("id3.json")["runs"].items():
        add("Id3", name, compare_id3, name, r, texts)
        for i, h in enumerate(r.get("cv_5x2", ())):
            add("Id3 halves", f"{name}|{i}", compare_id3_half, name, h, i)
    return sorted(res, key=lambda o: list(FAMILIES).index(o.family))


def read_results(path=RESULTS):
    return (
        pd.read_csv(path, dtype={o: str for o in ("run", *MADE)})
        if Path(path).is_file()
        else pd.DataFrame(columns=COLUMNS)
    )


def line(run, made):
    """One line of the results"""
    start = time.perf_counter()
    try:
        agrees, compared = True, run.check()
    except AssertionError as e:
        agrees, compared = False, f"differs: {e}"
    return (
        dict(
            family=run.family,
            run=run.run,
            agrees=agrees,
            compared=compared,
            seconds=round(time.perf_counter() - start, 2),
        )
        | made
    )


def store(path, lines):
    """Add lines, or replace those of the same run; the file is written whole or not at all"""
    new = pd.DataFrame(lines, columns=COLUMNS).set_index(KEY)
    old = read_results(path).set_index(KEY)
    t = (
        pd.concat([old[~old.index.isin(new.index)], new]).reset_index()
        if len(old)
        else new.reset_index()
    )
    t = t.sort_values("family", key=lambda o: o.map(list(FAMILIES).index), kind="stable")
    atomic_write(path, lambda tmp: t.to_csv(tmp, index=False))


def summary(t):
    return (
        t.groupby("family", sort=False)
        .agg(runs=("agrees", "size"), agree=("agrees", "sum"), seconds=("seconds", "sum"))
        .round(1)
    )


def main(args=None):
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument(
        "--full", action="store_true", help="make all runs and store them (about half an hour)"
    )
    p.add_argument("--family", choices=FAMILIES, help="runs of this family only")
    p.add_argument("--out", type=Path, default=RESULTS, metavar="CSV", help="where --full stores")
    a = p.parse_args(args)
    runs = [o for o in all_runs() if a.family in (None, o.family)]
    if not a.full:
        long = read_results()
        long = set(long[long.seconds > QUICK][KEY].itertuples(index=False, name=None))
        runs = [o for o in runs if (o.family, o.run) not in long]
    made, lines = provenance(), []
    for o in tqdm(runs, desc="runs", file=sys.stderr, disable=None):
        lines.append(line(o, made))
        if not lines[-1]["agrees"]:
            print(o.family, o.run, lines[-1]["compared"], sep=" · ", flush=True)
        if a.full and (o is runs[-1] or len(lines) % 50 == 0):
            store(a.out, lines)
    t = pd.DataFrame(lines, columns=COLUMNS)
    print(summary(t).to_string())


if __name__ == "__main__":
    main()
