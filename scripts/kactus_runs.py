"""The experiments of kACTUS: Tables 2 to 5, one line a run; `enlarged_adult` makes the table of
Table 6, for benchmarks/bench_kactus.py.

    python scripts/kactus_runs.py                                     a few small runs, printed
    beside the paper's numbers
    python scripts/kactus_runs.py --full --jobs 2                     all runs, stored in
    nbs/papers/results/kactus_runs.csv, those of
                                                                      TDS and TDR in
                                                                      kactus_runs_specialized.csv
    python scripts/kactus_runs.py --full --method mondrian            those of one method (also
    --case, --learner)
    python scripts/kactus_runs.py --row kactus/raw/glass/c45 10 3     one run:
    method/preparation/case/learner, k, half

A run is one learner, taught by one half of a table that was protected with one k, and asked for the
other half as it is. Runs that are stored are not made again (--again makes all anew), so that
--full may be stopped and called again at any time. Small tables come first, PART on Adult last.
Tables are found as `fetch_benchmark` finds them; the taxonomies of kADET's runs as in
scripts/replicate.py, under which all this is also called: python scripts/replicate.py kactus.
"""

import random
import sys
import time
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

sys.path.insert(0, str(Path(__file__).parent))
from replicate import (
    MADE,
    RESULTS,
    data_told,
    each_unit,
    parsed,
    provenance,
    runs_parser,
    taxonomies,
)

from ppdt.c45 import C45Classifier, PARTClassifier
from ppdt.datasets import fetch_adult, fetch_benchmark
from ppdt.encoder import cell_numbers
from ppdt.generalization import Taxonomy
from ppdt.kactus import KActusAnonymizer
from ppdt.kadet import KADETClassifier
from ppdt.learners import MDLDiscretizer, NaiveBayesClassifier, logistic_regression
from ppdt.mondrian import MondrianAnonymizer
from ppdt.tables import Cell, Suppressed, atomic_write, cell_text, cells
from ppdt.tds import TDRAnonymizer, TDSAnonymizer

PAPER = RESULTS / "kactus_paper.csv"
LEARNERS = {
    "c45": lambda: C45Classifier(thresholds="data"),
    "naive_bayes": NaiveBayesClassifier,
    "logistic": lambda: logistic_regression(max_iter=1000),
    "part": lambda: PARTClassifier(thresholds="data"),
}
SMALL = [
    "glass",
    "ionosphere",
    "crx",
    "pima",
    "vehicle",
    "tictactoe",
    "german",
    "waveform",
    "nursery",
]
# no numeric attribute: nothing to discretize
WORDS = ["tictactoe", "nursery"]
# Section 5.5
QI_8 = [
    "age",
    "workclass",
    "fnlwgt",
    "occupation",
    "sex",
    "capital-gain",
    "hours-per-week",
    "native-country",
]
QI_11 = QI_8 + ["education", "education-num", "marital-status"]
QIS = {"adult-complete-11": QI_11, "adult-complete-8": QI_8}  # else all attributes
KS_2, KS_3 = (1, 5, 10, 15, 20, 30), (5, 20, 50, 100, 500, 1000)  # Table 2; Tables 3 to 5
ABOUT = {
    "kactus": "kACTUS, test rows as they are; k = 1 is the half itself",
    "mondrian": (
        "strict Mondrian; ranges become their middle, sets a value of their own; test rows recoded"
        " by the same cuts"
    ),
    "mondrian_raw_test": "the same learners asked for test rows as they are",
    "kadet": (
        "kADET by gain ratio with the taxonomies of its paper, the quasi-identifiers public"
        " (Table 3)"
    ),
    "kadet_values": (
        "the same without taxonomies: an attribute is asked for its value or not at all (Table 4)"
    ),
    "kadet_words": "kADET on the eight categorical attributes only, as its paper has it for ID3",
    "kadet_occupation": "kADET, occupation without a taxonomy, the others with theirs",
    "tds": (
        "TDS with the taxonomies of its authors, test rows by the training cut; what is published"
        " is a word of its own, a range too"
    ),
    "tds_ours": "the same with the taxonomies of this package",
    "tds_together": (
        "TDS, training and test rows recoded together by one cut found with the classes of all, as"
        " in its authors' experiments: test rows tell their class"
    ),
    "tds_relationship": "TDS, relationship shown by its values or not at all",
    "tds_flat": "TDS where every category has one level above it, `*` (Table 4)",
    "tdr": "TDR: categories suppressed and disclosed one by one, `*` a word of its own (Table 4)",
    "tdr_missing": "the same, `*` read as missing",
    "tdr_together": "TDR, training and test rows recoded together, `*` a word of its own",
    "tdr_taxonomies": "TDR with the taxonomies of TDS's authors (Table 3)",
}
SPECIALIZED = [o for o in ABOUT if o.startswith("td")]
CASES = {
    "adult": "Adult's 48,842 rows with missing values (Table 1), all attributes quasi-identifiers",
    "adult-complete": "its 45,222 complete rows (Section 5.8), 14/14",
    "adult-complete-11": "the same, 11/14",
    "adult-complete-8": "the same, 8/14",
}
PREPARATIONS = {
    "raw": "numbers as they are",
    "discretized": (
        "numbers cut on the whole table with the class, test rows included, as the paper seems to"
        " have done"
    ),
    "inside": (
        "numbers cut in the training half, the test half by the same cuts: what somebody could do"
        " who has no test rows"
    ),
}
KEY = ["method", "preparation", "case", "k", "half", "learner"]
MEASURED = ["right", "n_test", "accuracy", "n_train", "lost", "suppressed", "k_measured"]
COLUMNS = KEY + MEASURED + ["protect_seconds", "seconds"] + MADE


# ---------- what is run
def unit(method, preparations, case, ks, learners):
    """The units of a method on a table"""
    return [(method, p, case, k, h, learners) for k in ks for h in range(10) for p in preparations]


def cut_beforehand(cases, learners):
    """Rivals whose numbers were discretized on the whole table, as the paper's seem to have been"""
    res, c45 = [], ("c45",)
    for case in cases:
        for method in ("tds_relationship", "tds_flat"):
            res += unit(method, ("discretized",), case, KS_3, learners)
        if learners == ("part",):
            continue
        res += unit("kadet_words", ("raw",), case, KS_3, c45)
        for method in (
            *("kadet", "kadet_occupation", "kadet_values"),
            *("mondrian", "tds", "tdr", "tdr_taxonomies"),
        ):
            res += unit(method, ("discretized",), case, KS_3, c45)
    return res


def all_units():
    """Every (method, preparation, case, k, half, learners) that is protected once, in the order of
    cost
    """
    fast, both, res = ("c45", "naive_bayes", "logistic"), ("raw", "discretized"), []
    for case in SMALL:
        res += unit(
            "kactus", ("raw",) if case in WORDS else PREPARATIONS, case, KS_2, tuple(LEARNERS)
        )
    tables = {
        "adult": KS_2,
        "adult-complete": sorted({*KS_2, *KS_3}),
        "adult-complete-11": KS_3,
        "adult-complete-8": KS_3,
    }
    for learners in fast, ("part",):
        for case, ks in tables.items():
            res += unit("kactus", both, case, ks, learners)
        res += unit("kactus", ("inside",), "adult-complete", KS_2, learners)
        if learners == fast:
            for case in list(tables)[1:]:
                res += unit("kadet", ("raw",), case, KS_3, ("c45",)) + unit(
                    "kadet_values", ("raw",), case, KS_3, ("c45",)
                )
        for case in list(tables)[1:]:
            res += unit("mondrian", ("raw",), case, KS_3, learners)
        for case in list(tables)[1:]:
            for method in ("tds", "tds_flat", "tdr"):
                res += unit(method, ("raw",), case, KS_3, learners)
            if learners == fast:
                for method in ("tds_ours", "tds_together", "tdr_missing", "tdr_together"):
                    res += unit(method, ("raw",), case, KS_3, ("c45",))
        res += cut_beforehand(list(tables)[1:], learners)
    return res


def keys_of(unit):
    """The lines that a unit makes"""
    method, *where, learners = unit
    return [
        (o, *where, l)
        for o in ("mondrian", "mondrian_raw_test")
        if method == "mondrian"
        for l in learners
    ] or [(method, *where, l) for l in learners]


def all_runs():
    return [key for unit in all_units() for key in keys_of(unit)]


# ---------- tables and halves
@lru_cache(maxsize=4)
def table(case, preparation="raw"):
    """(X, y) of a case.

    "discretized": the cuts of numeric attributes are found on the whole table with the class, test
    rows included, as the paper seems to
    have done; figures made so compare with the paper and with nothing else"""
    if preparation == "discretized":
        X, y = table(case)
        return MDLDiscretizer().fit(X, y).transform(X), y
    if not case.startswith("adult-complete"):
        return fetch_benchmark(case)
    X, y = fetch_benchmark("adult")
    whole = X.notna().all(axis=1).to_numpy()
    return X[whole].reset_index(drop=True), y[whole].reset_index(drop=True)


@lru_cache(maxsize=2)
def halves(case, n):
    """(training rows, test rows), ten times: the halves of the stored results of Weka, drawn again
    from their recipe.

    Half 0 has floor(n/2) rows; in a
    pair the first is tested first"""
    name = "adult-complete" if case.startswith("adult-complete") else case
    res = []
    for rep in range(5):
        rows = list(range(n))
        random.Random(f"weka-oracle 5x2 {name} {rep}").shuffle(rows)
        a, b = np.sort(rows[: n // 2]), np.sort(rows[n // 2 :])
        res += [(b, a), (a, b)]
    return res


# ---------- one protected half
def suppressed(data, qi):
    """Share of suppressed cells among those of the quasi-identifiers"""

    def share(s):
        codes, cs = cells(s)
        return (
            np.array([isinstance(c, Suppressed) for c in cs], dtype=bool)[codes].mean()
            if len(cs)
            else 0.0
        )

    return float(np.mean([share(data[o]) for o in qi]))


def with_gaps(data, X):
    """A release of kACTUS as a plain table, as Weka would get it: a mean is a number, a suppressed
    cell is missing, categories are declared as before
    """

    def column(o):
        if not isinstance(data[o].dtype, pd.CategoricalDtype) or not any(
            isinstance(c, Cell) for c in data[o].cat.categories
        ):
            return data[o]
        codes, cs = cells(data[o])
        if pd.api.types.is_numeric_dtype(X[o]):
            return pd.Series(cell_numbers(cs, name=o)[:, 1][codes], index=data.index)
        known = X[o].cat.categories
        code = np.array([-1 if isinstance(c, Suppressed) else known.get_loc(c.value) for c in cs])
        return pd.Series(pd.Categorical.from_codes(code[codes], known), index=data.index)

    return pd.DataFrame({o: column(o) for o in data}, index=data.index)


def as_values(data, X, known=None):
    """Published columns as plain ones: a range or a set of numbers becomes its middle, a set of
    words a value of its own, written as in the release.
    `known`: tokens of the training rows by column; others become missing. (table, tokens)"""
    res, tokens = {}, {}
    for o in data:
        codes, cs = cells(data[o])
        if pd.api.types.is_numeric_dtype(X[o]):
            res[o] = cell_numbers(cs, name=o)[:, 1][codes]
            continue
        text = [cell_text(c) for c in cs]
        tokens[o] = sorted(set(text)) if known is None else known[o]
        place = {v: i for i, v in enumerate(tokens[o])}
        code = np.array([place.get(v, -1) for v in text], dtype=int)
        res[o] = pd.Categorical.from_codes(code[codes], tokens[o])
    return pd.DataFrame(res, index=data.index), tokens


def as_words(data, qi, hidden=True, known=None):
    """Published columns of a global recoding as plain ones: each of its cells is a value of its
    own, a range as well as a node; `*` is one too, or missing (`hidden`
    False). `known`: words of the training rows by column; others become missing. (table, words)"""
    res, words = data.copy(), {}
    for o in qi:
        codes, cs = cells(data[o])
        text = ["" if isinstance(c, Suppressed) and not hidden else cell_text(c) for c in cs]
        words[o] = sorted(set(text) - {""}) if known is None else known[o]
        place = {v: i for i, v in enumerate(words[o])}
        res[o] = pd.Categorical.from_codes(
            np.array([place.get(v, -1) for v in text], dtype=int)[codes], words[o]
        )
    return res, words


def words_of(X):
    """Names of the categorical columns"""
    return [o for o in X if isinstance(X[o].dtype, pd.CategoricalDtype)]


def flat_taxonomies(X):
    """One level above the values of each category, intervals too"""
    return {o: Taxonomy.from_dict({"*": list(X[o].cat.categories)}) for o in words_of(X)}


def lines(methods, where, learner, model, train, y, about):
    """One line for each of `methods`, {method: test rows}: the model, taught once, asked for the
    test rows
    """
    res, start = [], time.perf_counter()
    with warnings.catch_warnings():
        # classes that can be told apart without error: Weka stops somewhere, too
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(*train)
    for method, X in methods.items():
        right = int((np.asarray(model.predict(X), dtype=object) == y.to_numpy(dtype=object)).sum())
        res.append(
            dict(zip(KEY, (method, *where, learner)))
            | dict(right=right, n_test=len(y), accuracy=round(100 * right / len(y), 4))
            | about
            | dict(seconds=round(time.perf_counter() - start, 2))
        )
    return res


def roles(X, qi):
    """Quasi-identifiers, and the other columns as they are"""
    return dict(quasi_identifiers=list(qi), published=[o for o in X if o not in qi])


def kactus_lines(where, learners, X, y, X_test, y_test, qi):
    (*_, k, half), start = where, time.perf_counter()
    if k == 1:
        data, cls, about = X, y, dict(n_train=len(X), lost=0, suppressed=0.0, k_measured=1)
    else:
        release = KActusAnonymizer(
            k=k, **roles(X, qi), missing="category", random_state=half
        ).anonymize(X, y)
        data, cls = with_gaps(release.data, X), release.y
        about = dict(
            n_train=len(data),
            lost=len(release.lost),
            suppressed=round(suppressed(release.data, qi), 6),
            k_measured=release.audit.k,
        )
    about["protect_seconds"] = round(time.perf_counter() - start, 2)
    return [
        o
        for l in learners
        for o in lines({"kactus": X_test}, where, l, LEARNERS[l](), (data, cls), y_test, about)
    ]


def mondrian_lines(where, learners, X, y, X_test, y_test, qi):
    (*_, k, _), start = where, time.perf_counter()
    est = MondrianAnonymizer(k=k, **roles(X, qi))
    release = est.anonymize(X, y)
    data, tokens = as_values(release.data, X)
    about = dict(
        n_train=len(data),
        lost=len(release.lost),
        suppressed=round(suppressed(release.data, qi), 6),
        k_measured=release.audit.k,
        protect_seconds=round(time.perf_counter() - start, 2),
    )
    asked = {
        "mondrian": as_values(est.transform(X_test), X, tokens)[0],
        "mondrian_raw_test": as_values(X_test, X, tokens)[0],
    }
    return [
        o
        for l in learners
        for o in lines(asked, where, l, LEARNERS[l](), (data, release.y), y_test, about)
    ]


def with_levels(method):
    """The taxonomies of a method; a column that its name ends with has none of several levels"""
    if method.endswith(("_values", "_flat")):
        return {}
    trees = taxonomies("ours" if method.endswith("_ours") else "fung")
    return {o: t for o, t in trees.items() if not method.endswith(f"_{o}")}


def kadet_lines(method, where, X, y, X_test, y_test, qi):
    if method == "kadet_words":
        X, X_test = X[words_of(X)], X_test[words_of(X)]
    clf = KADETClassifier(
        k=where[-2],
        public=[o for o in qi if o in X],
        criterion="gain_ratio",
        taxonomies=with_levels(method) or None,
    )
    (res,) = lines(
        {method: X_test},
        where,
        "c45",
        clf,
        (X, y),
        y_test,
        dict(n_train=len(X), lost=0, suppressed=0.0, protect_seconds=0.0),
    )
    return [res | dict(k_measured=clf.audit(X, y).k)]


def specializer(method, k, X, qi):
    """The anonymizer of a method"""
    if method.startswith("tdr") and method != "tdr_taxonomies":
        return TDRAnonymizer(k=k, **roles(X, qi))
    trees = {o: t for o, t in with_levels(method).items() if o in qi}
    if method == "tdr_taxonomies":
        return TDRAnonymizer(k=k, **roles(X, qi), taxonomies=trees)
    return TDSAnonymizer(k=k, **roles(X, qi), taxonomies=flat_taxonomies(X[list(qi)]) | trees)


def specialized_lines(method, where, learners, X, y, X_test, y_test, qi):
    start, est = time.perf_counter(), specializer(method, where[-2], X, qi)
    if method.endswith("together"):
        both = est.anonymize(
            pd.concat([X, X_test], ignore_index=True), pd.concat([y, y_test], ignore_index=True)
        )
        train, test, found = (
            both.data.iloc[: len(X)],
            both.data.iloc[len(X) :].reset_index(drop=True),
            both.audit.k,
        )
    else:
        release = est.anonymize(X, y)
        train, test, found = release.data, est.transform(X_test), release.audit.k
    data, words = as_words(train, qi, method != "tdr_missing")
    asked = as_words(test, qi, method != "tdr_missing", words)[0]
    about = dict(
        n_train=len(data),
        lost=0,
        suppressed=round(suppressed(train, qi), 6),
        k_measured=found,
        protect_seconds=round(time.perf_counter() - start, 2),
    )
    return [
        o
        for l in learners
        for o in lines({method: asked}, where, l, LEARNERS[l](), (data, y), y_test, about)
    ]


def run(unit):
    """The lines of a unit, without the columns that tell where they were made"""
    method, preparation, case, k, half, learners = unit
    X, y = table(case, "discretized" if preparation == "discretized" else "raw")
    train, test = halves(case, len(X))[half]
    X, y, X_test, y_test = (o.iloc[i].reset_index(drop=True) for i in (train, test) for o in (X, y))
    if preparation == "inside":
        cuts = MDLDiscretizer().fit(X, y)
        X, X_test = cuts.transform(X), cuts.transform(X_test)
    given = (preparation, case, k, half), learners, X, y, X_test, y_test, QIS.get(case, list(X))
    if method == "kactus":
        return kactus_lines(*given)
    if method == "mondrian":
        return mondrian_lines(*given)
    if method in SPECIALIZED:
        return specialized_lines(method, *given)
    return kadet_lines(method, given[0], *given[2:])


# ---------- Table 6
VIRTUAL = [
    "age",
    "education-num",
    "capital-gain",
    "hours-per-week",
    "marital-status",
    "relationship",
    "sex",
]


def enlarged(
    t: pd.DataFrame,  # Rows to be varied
    attributes: list,  # Columns that are varied
    cls: str,  # The class
    factor: int,  # Rows for each row of `t`, 1 or more
    keep: int = 3,  # Attributes that a variation has from its original
    seed: int = 0,  # Of chance
) -> tuple:  # (X, y): len(t)*factor rows, the originals first
    """Each row and factor - 1 variations of it, which keep some attributes, drawn anew for each,
    and have the others drawn from the attribute's values, all alike.

    The
    paper doesn't say what becomes of the class: here a variation has the class of its original.
    Source: kactus, Section 5.8."""
    rng, m, res = np.random.default_rng(seed), len(t) * (factor - 1), {}
    kept = rng.random((m, len(attributes)), dtype=np.float32).argsort(axis=1).argsort(axis=1) < keep
    for j, o in enumerate(attributes):
        codes, values = pd.factorize(t[o], sort=True)
        codes = np.concatenate(
            [
                codes,
                np.where(kept[:, j], np.tile(codes, factor - 1), rng.integers(0, len(values), m)),
            ]
        )
        res[o] = (
            values.to_numpy()[codes]
            if pd.api.types.is_numeric_dtype(t[o])
            else pd.Categorical.from_codes(codes, list(values))
        )
    return pd.DataFrame(res), pd.Series(
        pd.Categorical(np.tile(t[cls].to_numpy(dtype=object), factor)), name=cls
    )


def enlarged_adult(factor, seed=0):
    """The table of Table 6: Adult's 45,222 complete rows, enlarged.

    The paper doesn't name its seven quasi-identifiers; here they are those of the authors of TDS,
    whose test it repeats
    """
    return enlarged(fetch_adult("all", complete=True), VIRTUAL, "income", factor, seed=seed)


# ---------- results
def versions_of(path):
    return Path(path).with_name(f"{Path(path).stem}_versions.csv")


def specialized_path(path):
    return Path(path).with_name(f"{Path(path).stem}_specialized.csv")


def read(path):
    """The stored lines, those of TDS and TDR from a second file beside the first; commits and
    versions stand once each, in a further file
    """
    parts = [_read_one(o) for o in (path, specialized_path(path))]
    return pd.concat([o for o in parts if len(o)] or parts[:1], ignore_index=True)


def _read_one(path):
    if not Path(path).is_file():
        return pd.DataFrame(columns=COLUMNS)
    t, made = (pd.read_csv(o, dtype={c: str for c in MADE}) for o in (path, versions_of(path)))
    return t.merge(made, on="made", how="left", validate="many_to_one")[COLUMNS]


def done_in(path):
    return set(read(path)[KEY].itertuples(index=False, name=None))


def store(path, lines):
    """Add lines, or replace those of the same run, in the order of the design; a file is written
    whole or not at all
    """
    for p, special in ((Path(path), False), (specialized_path(path), True)):
        some = [o for o in lines if (o["method"] in SPECIALIZED) == special]
        if some:
            _store_one(p, some)


def _store_one(path, lines):
    new, old = pd.DataFrame(lines, columns=COLUMNS), _read_one(path)
    t = pd.concat([old.astype(new.dtypes.to_dict()), new]) if len(old) else new
    rank = dict(
        method=list(ABOUT),
        preparation=list(PREPARATIONS),
        case=[*SMALL, *CASES],
        learner=list(LEARNERS),
    )
    t = t.drop_duplicates(KEY, keep="last").sort_values(
        KEY,
        key=lambda c: c.map({v: i for i, v in enumerate(rank[c.name])}) if c.name in rank else c,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    known = [pd.read_csv(versions_of(path), dtype=str)[MADE]] if versions_of(path).is_file() else []
    # old numbers stay what they are
    made = (
        pd.concat([*known, t[MADE]])
        .drop_duplicates(ignore_index=True)
        .rename_axis("made")
        .reset_index()
    )
    atomic_write(versions_of(path), lambda tmp: made.to_csv(tmp, index=False))
    atomic_write(
        path,
        lambda tmp: t.merge(made, on=MADE, how="left").drop(columns=MADE).to_csv(tmp, index=False),
    )


def make(unit):
    """Whole lines"""
    made = provenance()
    return [o | made for o in run(unit)]


def make_all(units, out, jobs=1):
    """Make units and store their lines as they come; the lines"""
    return each_unit(
        make, units, (lambda lines: store(out, lines)) if out else None, jobs, "protected halves"
    )


def summary(t):
    """Mean and standard deviation over the halves, in percent, beside the paper's"""
    p = pd.read_csv(PAPER)
    names = {"adult-complete": "14/14", "adult-complete-11": "11/14", "adult-complete-8": "8/14"}
    which = {
        "mondrian": (5, "Mondrian"),
        "mondrian_raw_test": (5, "Mondrian"),
        "kadet": (3, "kADET"),
        "kadet_values": (4, "kADET"),
        "kadet_words": (3, "kADET"),
        "kadet_occupation": (3, "kADET"),
    }
    without = [o for o in SPECIALIZED if o == "tds_flat" or o.startswith("tdr")]
    which |= {o: (4 if o in without else 3, o[:3].upper()) for o in SPECIALIZED}
    which["tdr_taxonomies"] = (3, "TDR")
    s = (
        t.groupby(KEY[:4] + ["learner"], sort=False)
        .agg(
            halves=("half", "size"),
            accuracy=("accuracy", "mean"),
            sd=("accuracy", "std"),
            lost=("lost", "mean"),
            suppressed=("suppressed", "mean"),
            seconds=("seconds", "mean"),
        )
        .reset_index()
    )

    def theirs(o):
        if o.method == "kactus" and (o.k in KS_2 and o.case not in QIS):
            hit = p[
                (p.table == 2)
                & (p.case == o.case.removesuffix("-complete"))
                & (p.learner == o.learner)
                & (p.k == o.k)
            ]
        else:
            number, method = which.get(o.method, (5, "kACTUS"))
            hit = p[
                (p.table == number)
                & (p.method == method)
                & (p.case == names.get(o.case))
                & (p.learner == o.learner)
                & (p.k == o.k)
            ]
        return (hit["mean"].iloc[0], hit["sd"].iloc[0]) if len(hit) else (np.nan, np.nan)

    return s.assign(**dict(zip(("paper", "paper_sd"), zip(*[theirs(o) for o in s.itertuples()]))))


def kactus(
    full=False, seeds=None, row=None, again=False, out=None, jobs=1, only=(None, None, None)
):
    """Make the runs that were asked for, and print them beside the paper's numbers"""
    out, units = out or RESULTS / "kactus_runs.csv", all_units()
    if row:
        try:
            want = (*row[0].split("/"), int(row[1]), int(row[2]))
        except ValueError:
            want = ()
        units = [
            (u[0], *u[1:5], (key[5],))
            for u in units
            for key in keys_of(u)
            if len(want) == 6 and key == (*want[:3], *want[4:], want[3])
        ][:1]
        if not units:
            raise SystemExit(
                "--row must be METHOD/PREPARATION/CASE/LEARNER K HALF of the design, such as"
                f" kactus/raw/glass/c45 10 3. Got {' '.join(row)}; methods:\n"
                + "\n".join(f"  {o:20}{text}" for o, text in ABOUT.items())
                + f"\npreparations: {', '.join(PREPARATIONS)}; learners: {', '.join(LEARNERS)};"
                f" halves 0 to 9; cases: {', '.join(SMALL)},\n"
                + "\n".join(f"  {o:20}{text}" for o, text in CASES.items())
            )
    elif not full:
        units = [u for u in units if u[2] == "glass" and u[3] in (1, 10)]
    method, case, learner = only
    units = [
        u
        for u in units
        if method in (None, u[0]) and case in (None, u[2]) and (learner is None or learner in u[5])
    ]
    done, asked = (
        set() if again or not full else done_in(out),
        {key for u in units for key in keys_of(u)},
    )
    lines = make_all([u for u in units if not set(keys_of(u)) <= done], out if full else None, jobs)
    t = read(out) if full else pd.DataFrame(lines)
    if full:
        print(f"{len(t)} runs in {out}, {len(lines)} of them new")
    t = t[[key in asked for key in t[KEY].itertuples(index=False, name=None)]]
    if len(t):
        print(summary(t).round(2).to_string(index=False))


def main(args=None):
    p = runs_parser(__doc__, ("RUN", "K", "HALF"), "hours", "kactus_runs.csv")
    p.add_argument(
        "--method",
        choices=[o for o in ABOUT if o != "mondrian_raw_test"],
        help="runs of this method only",
    )
    p.add_argument("--case", choices=[*SMALL, *CASES], help="runs of this table only")
    p.add_argument("--learner", choices=LEARNERS, help="units with this learner only")
    a = parsed(p, args)
    with data_told():
        kactus(a.full, None, a.row, a.again, a.out, a.jobs, (a.method, a.case, a.learner))


if __name__ == "__main__":
    main()
