"""Is everything that ppdt publishes, byte for byte, what it was?

    python scripts/fingerprints.py                                  print a line for each output
    python scripts/fingerprints.py --out tests/fingerprints.csv     store the lines
    python scripts/fingerprints.py --check tests/fingerprints.csv   name what differs; exit 1 if any
    python scripts/fingerprints.py --only mondrian/adult            only cases with this text in it

A line is `case,sha256`, the hash shortened to 16 digits. A case is a method, a table, the options
that are not the defaults, and what it made: `mondrian/people/mode=relaxed width=ratio/csv`.
What raises is `error:` and the hash of the error's type. Tables of others are found as
`ppdt.datasets` finds them, so set PPDT_DATA to their folder. Set OMP_NUM_THREADS=1, and compare
results of one machine and of the same versions of numpy, pandas and scikit-learn.

Options are spelt here as ppdt spelt them on the day this was written. When ppdt calls something
else, add a line to KEYWORDS or VALUES, or mend METHODS: names of cases stay what they are."""

import argparse
import ast
import contextlib
import csv
import hashlib
import io
import pickle
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

from ppdt import cli, datasets
from ppdt.c45 import C45Classifier, ID3Classifier, PARTClassifier
from ppdt.clusters import ClusterAnonymizer
from ppdt.diversity import Alpha, LDiversity, TCloseness
from ppdt.encoder import ReleaseEncoder
from ppdt.erp import ERPAnonymizer
from ppdt.generalization import Taxonomy, load_adult_taxonomies
from ppdt.id3_sets import GeneralizedID3Classifier, make_marginals
from ppdt.kactus import KActusAnonymizer
from ppdt.kadet import KADETClassifier, publish, read_published, tree_release
from ppdt.lattice import LatticeAnonymizer
from ppdt.learners import MDLDiscretizer, NaiveBayesClassifier, learners
from ppdt.mict import MicroaggregationAnonymizer, MiCTAnonymizer, MixedKNNClassifier
from ppdt.mondrian import MondrianAnonymizer
from ppdt.release import AnonymizedClassifier, read_release
from ppdt.tables import column_kind, column_text, schema_path
from ppdt.tds import TDRAnonymizer, TDSAnonymizer
from ppdt.trees import tree_from_json, tree_json, tree_schema, tree_text


# ---------- what ppdt calls things
def kadet(l_diversity=None, max_confidence=None, **options):
    "A classifier, from the words of the cases"
    limits = [] if l_diversity is None else [LDiversity(l_diversity, form="entropy")]
    limits += [] if max_confidence is None else [Alpha(max_confidence)]
    return KADETClassifier(constraints=limits, **options)


ANONYMIZERS = {
    "mondrian": MondrianAnonymizer,
    "kactus": KActusAnonymizer,
    "erp": ERPAnonymizer,
    "tds": TDSAnonymizer,
    "tdr": TDRAnonymizer,
    "lattice": LatticeAnonymizer,
    "cluster": ClusterAnonymizer,
    "micro": MicroaggregationAnonymizer,
    "mict": MiCTAnonymizer,
}
CLASSIFIERS = {
    "c45": C45Classifier,
    "id3": ID3Classifier,
    "part": PARTClassifier,
    "id3sets": GeneralizedID3Classifier,
    "kadet": kadet,
    "bayes": NaiveBayesClassifier,
    "knn": MixedKNNClassifier,
    "logistic": lambda: learners()["logistic"],
    "wrapped": AnonymizedClassifier,
}
TRANSFORMERS = {"encoder": ReleaseEncoder, "mdl": MDLDiscretizer}
METHODS = ANONYMIZERS | CLASSIFIERS | TRANSFORMERS

# A word of the cases below: ppdt's keyword, or value, where it is another one; for one method only
# as "method.word" and "method.word=value". "mondrian.recoding=interval": "range" is an example.
KEYWORDS = {
    "qi": "quasi_identifiers",
    "seed": "random_state",
    "kactus.root_shortfall": "shortfall",
}
VALUES = {
    "kactus.numeric=range": "interval",
    "kactus.numeric=interval": "path",
}

# Options that all cases of a method have; a case can say otherwise
ALWAYS = {
    "kactus": "seed=0",
    "erp": "seed=0",
    "id3sets": "seed=0",
    "tds": "taxonomies=halves",
    "lattice": "taxonomies=halves",
    "wrapped": "anonymizer=mondrian classifier=c45",
}

# ---------- tables
CENSUS = "workclass education marital-status occupation relationship race sex native-country"
ADULT = ["age", *CENSUS.split()]
PEOPLE = ["age", "education", "occupation", "marital_status", "region", "hours"]


class Table(NamedTuple):
    "A table of people and new rows; `given` are options that every anonymizer gets for it"

    X: pd.DataFrame
    y: pd.Series
    new: pd.DataFrame
    given: dict
    taxonomies: dict


def rolled(X):
    "New rows made of known values: each column is moved down a bit more than the one before"
    at = np.arange(len(X))
    moved = [X[o].take(np.roll(at, j + 1)).set_axis(X.index) for j, o in enumerate(X)]
    return pd.concat(moved, axis=1)


def book(frame, target, k=2, **given):
    "A table of the book"
    X = frame.drop(columns=target)
    return Table(X, frame[target], rolled(X), {"k": k, **given}, {})


def people(n, target="income"):
    "A synthetic census"
    t, new = (datasets.make_population(m, random_state=r) for m, r in ((n, 0), (100, 1)))
    X, new = (o.drop(columns=target) for o in (t, new))
    return Table(X, t[target], new, {"k": 5, "qi": PEOPLE}, {})


def adult(complete=False):
    "The first rows of Adult; workclass, occupation and country have gaps unless `complete`"
    t = datasets.fetch_adult("train", complete=complete, download=False, progress=False)
    X, y = t[[*ADULT, "hours-per-week"]], t["income"]
    given = {"k": 10, "qi": ADULT} | ({} if complete else {"missing": "category"})
    return Table(X[:1500], y[:1500], X[1500:1600], given, {})


def benchmark(name, rows, k=10, **given):
    "Rows of a benchmark table, evenly spread, and other rows"
    X, y = datasets.fetch_benchmark(name, download=False, progress=False)
    step = max(1, len(X) // rows)
    new = X.iloc[step // 2 :: step]
    given = {"k": k, **given}
    return Table(X.iloc[::step][:rows], y.iloc[::step][:rows], new[:100], given, {})


def visits(n=90):
    "Columns of all kinds: dates, truth values, gaps, ordered and unused categories, odd texts"
    i = np.arange(n)
    texts = ["a", "b,c", 'say "d"', "{e}", "*", "~f", " g", "é", "007"]
    grade = pd.CategoricalDtype(["low", "middle", "unused", "high"], ordered=True)
    X = pd.DataFrame(
        {
            "who": [f"person {j}" for j in i],
            "day": pd.Timestamp("2024-01-31") + pd.to_timedelta(i * i % 97, unit="D"),
            "paid": i % 3 == 0,
            "grade": pd.Series(np.array(["low", "high", "middle"])[i * 5 % 7 % 3], dtype=grade),
            "times": pd.Series(i * 7 % 11, dtype="UInt8").mask(i % 17 == 3),
            "weight": pd.Series(i * 13 % 29 / 4, dtype="float32").mask(i % 19 == 5),
            "place": np.array(texts)[i * i % 9],
            "ward": i * 11 % 4,
            "note": np.array(texts)[i % 9],
        }
    ).set_axis([f"row {j}" for j in i])
    y = pd.Series(np.array(["ill", "well", "well"])[i * 3 % 8 % 3], index=X.index, name="state")
    qi = ["day", "paid", "grade", "times", "weight", "place", "ward"]
    roles = {"qi": qi, "categorical": ["ward"], "identifiers": ["who"]}
    return Table(X, y, rolled(X), {"k": 4, "missing": "category", **roles}, {})


def days():
    "The columns of `visits` that have no gaps"
    t = visits()
    X, new = (o.drop(columns=["who", "times", "weight", "note"]) for o in (t.X, t.new))
    return Table(X, t.y, new, {"k": 4, "categorical": ["ward"]}, {})


def release_of(method, source, spec=""):
    "A release, written and read again; new rows are those of the source"
    t = table(source)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "release.csv"
        build(method, spec, t).anonymize(t.X, t.y).to_csv(path)
        r = read_release(path)
    return Table(r.data, r.y, t.new[list(r.data)], {}, r.taxonomies)


TABLES = {
    "customers": lambda: book(datasets.load_customers(), "Bought"),
    "patients": lambda: book(datasets.load_patients(), "Disease"),
    "salaries": lambda: book(datasets.load_salaries(), "Salary"),
    "clients": lambda: book(datasets.load_clients(), "Loan Risk", qi=["Marital Status"]),
    "excerpt": lambda: book(datasets.load_census_excerpt(), "income", k=3, qi=ADULT),
    "visits": visits,
    "days": days,
    "people": lambda: people(500),
    "sick": lambda: people(800, "disease"),
    "crowd": lambda: people(2000),
    "adult": adult,
    "complete": lambda: adult(complete=True),
    "cmc": lambda: benchmark("contraceptive", 700),
    "crx": lambda: benchmark("crx", 345, k=4, missing="category"),
    "german": lambda: benchmark("german", 300, k=4),
    "glass": lambda: benchmark("glass", 200, k=4),
    "tictactoe": lambda: benchmark("tictactoe", 479, k=4),
    "customers-sets": lambda: release_of("mondrian", "customers"),
    "customers-ranges": lambda: release_of("mondrian", "customers", "recoding=interval"),
    "customers-means": lambda: release_of("micro", "customers"),
    "visits-sets": lambda: release_of("mondrian", "visits"),
    "people-sets": lambda: release_of("mondrian", "people"),
    "people-nodes": lambda: release_of("tds", "people"),
    "people-paths": lambda: release_of("kactus", "people", "numeric=range merge=sets"),
    "people-means": lambda: release_of("micro", "people"),
    "people-tiers": lambda: release_of("erp", "people", "numeric=set"),
    "adult-ranges": lambda: release_of("mondrian", "adult", "recoding=interval"),
    "cmc-ranges": lambda: release_of("mondrian", "cmc", "recoding=interval mode=infogain"),
    "tictactoe-sets": lambda: release_of("mondrian", "tictactoe", "mode=infogain"),
}


@cache
def table(name):
    "A table by its name, made once"
    return TABLES[name]()


# ---------- values of options that are objects: by word, a function of the table
def quasi_identifiers(t):
    "Columns that an attacker may know"
    return t.given.get("qi", list(t.X))


def numbers(t):
    "Quasi-identifiers of whole numbers that are no categories"
    names = set(quasi_identifiers(t)) - set(t.given.get("categorical", ()))
    return [o for o in t.X if o in names and t.X[o].dtype.kind in "iu"]


def over_categories(t, grow):
    "A taxonomy over each column of categories, made of the values by a function"
    res = {}
    for o in quasi_identifiers(t):
        if column_kind(t.X[o]) == "categorical" or o in t.given.get("categorical", ()):
            res[o] = Taxonomy.from_dict({"(all)": grow(sorted(t.X[o].dropna().unique(), key=str))})
    return res


def halves(t):
    "Two groups of values"
    return over_categories(t, lambda v: {"(some)": v[::2], "(others)": v[1::2]})


def chain(t):
    "Two groups of values, one of them below a node that has no other child"
    return over_categories(t, lambda v: {"(few)": {"(some)": v[::2]}, "(others)": v[1::2]})


def first_of(taxonomies):
    "The first taxonomy alone"
    return dict(list(taxonomies.items())[:1])


def bands(t):
    "Taxonomies of categories, and one of bands over the first column of numbers"
    o = numbers(t)[0]
    low, high = int(t.X[o].min()), int(t.X[o].max()) + 1
    middle = (low + high) // 2
    edges = [low, (low + middle) // 2, middle, (middle + high) // 2, high]
    return halves(t) | {o: Taxonomy.from_edges(t.X[o], edges, edges[::2])}


def two_groups(t):
    "Two groups of quasi-identifiers that share a column"
    names = quasi_identifiers(t)
    half = len(names) // 2
    return [(names[: half + 1], t.given["k"]), (names[half:], 2 * t.given["k"])]


def as_they_are(t, identifiers):
    "Columns that are neither quasi-identifiers nor dropped"
    return [o for o in t.X if o not in (*quasi_identifiers(t), *identifiers)]


def others(t):
    "The last column that is published as it is"
    return [o for o in t.X if o not in quasi_identifiers(t) + t.given.get("identifiers", [])][-1]


def fitted_c45(t):
    "C4.5 that has learnt from the quasi-identifiers"
    return FrozenEstimator(build("c45", "min_samples_leaf=5").fit(t.X[quasi_identifiers(t)], t.y))


def marginals(t):
    "Counts of the values of some columns in the original"
    return make_marginals(table("people").X, PEOPLE[1:5], k=1)


OBJECTS = {
    "taxonomies": {
        "halves": halves,
        "chain": chain,
        "first": lambda t: first_of(halves(t)),
        "bands": bands,
        "adult": lambda t: load_adult_taxonomies(),
        "released": lambda t: t.taxonomies,
    },
    "groups": {"two": two_groups},
    "bounds": {
        "around": lambda t: {o: (int(t.X[o].min()) - 1, int(t.X[o].max()) + 3) for o in numbers(t)},
    },
    "categorical": {"numbers": numbers},
    "identifiers": {"last": lambda t: [others(t)]},
    "constraints": {
        "distinct": lambda t: [LDiversity(2)],
        "entropy": lambda t: [LDiversity(1.5, "entropy")],
        "recursive": lambda t: [LDiversity(2, "recursive", 9)],
        "close": lambda t: [TCloseness(0.4, "equal")],
        "ordered": lambda t: [TCloseness(0.1, sensitive=others(t))],
        "alpha": lambda t: [Alpha(0.9)],
        "both": lambda t: [LDiversity(2), TCloseness(0.5)],
    },
    "inducer": {
        "c45": lambda t: build("c45", "prune=False min_samples_leaf=4"),
        "binary": lambda t: build("c45", "binary_splits=True prune=False"),
        "id3": lambda t: build("id3"),
        "kadet": lambda t: build("kadet", "k=3"),
        "sklearn": lambda t: DecisionTreeClassifier(max_depth=4, random_state=0),
        "fitted": fitted_c45,
    },
    "public": {
        "none": lambda t: [],
        "some": lambda t: quasi_identifiers(t)[:3],
        "with_class": lambda t: [*quasi_identifiers(t), t.y.name],
    },
    "features": {"three": lambda t: list(t.X)[1:4]},
    "columns": {"first": lambda t: numbers(t)[:1]},
    "marginals": {"original": marginals},
    "anonymizer": {
        "mondrian": lambda t: build("mondrian", "", t),
        "ranges": lambda t: build("mondrian", "recoding=interval", t),
        "micro": lambda t: build("micro", "", t),
        "kactus": lambda t: build("kactus", "", t),
        "tds": lambda t: build("tds", "", t),
        "erp": lambda t: build("erp", "", t),
    },
    "classifier": {
        "c45": lambda t: build("c45"),
        "id3sets": lambda t: build("id3sets"),
        "knn": lambda t: build("knn"),
        "bayes": lambda t: build("bayes"),
        "bayes_of_nodes": lambda t: build("bayes", "taxonomies=halves", t),
    },
}


def value(method, word, text, t):
    "The value that a word of a case stands for"
    if text in OBJECTS.get(word, {}):
        return OBJECTS[word][text](t)
    for name in (f"{method}.{word}={text}", f"{word}={text}"):
        if name in VALUES:
            return VALUES[name]
    try:
        return ast.literal_eval(text)
    except ValueError:
        return text


def keyword(method, word):
    "What ppdt calls an option"
    return KEYWORDS.get(f"{method}.{word}", KEYWORDS.get(word, word))


def build(method, spec="", t=None):
    "An estimator, not fitted"
    pairs = [o.split("=", 1) for o in f"{ALWAYS.get(method, '')} {spec}".split()]
    options = t.given if method in ANONYMIZERS else {}
    options = options | {o: value(method, o, text, t) for o, text in pairs}
    if method in ANONYMIZERS:
        options = options | {"published": as_they_are(t, options.get("identifiers", ()))}
    return METHODS[method](**{keyword(method, o): v for o, v in options.items()})


# ---------- cases: for each method tables, and the options that are tried on each of them
CASES = [
    (
        "mondrian",
        "visits people adult",
        """
        defaults
        recoding=interval
        cut_rule=le
        cut_rule=balanced recoding=interval
        width=distinct
        width=ratio
        mode=relaxed
        mode=relaxed recoding=interval width=distinct
        mode=infogain
        mode=infogain recoding=interval stop_pure=True
        mode=infogain categories=subsets
        mode=infogain candidates=class_change taxonomies=first
        taxonomies=halves
        """,
    ),
    (
        "mondrian",
        "people",
        """
        k=1
        mode=relaxed width=ratio taxonomies=halves
        mode=infogain categories=subsets taxonomies=halves
        taxonomies=bands recoding=interval
        categorical=numbers
        identifiers=last
        constraints=distinct
        constraints=recursive mode=infogain
        constraints=entropy recoding=interval
        constraints=close mode=relaxed
        constraints=ordered
        constraints=alpha
        constraints=both
        cut_rule=le fallback=False
        mode=relaxed constraints=distinct fallback=False
        """,
    ),
    (
        "mondrian",
        "customers cmc german",
        "defaults\nmedian=midpoint\nmedian=midpoint recoding=interval",
    ),
    (
        "mondrian",
        "customers",
        "mode=relaxed\nmode=infogain recoding=interval\nwidth=ratio cut_rule=le",
    ),
    ("mondrian", "patients salaries excerpt clients glass tictactoe crowd", "defaults"),
    ("mondrian", "visits crx", "missing=drop\nmissing=error\nk=1\nconstraints=close"),
    ("mondrian", "adult", "taxonomies=adult\ntaxonomies=adult mode=infogain recoding=interval"),
    (
        "kactus",
        "visits people adult glass",
        """
        defaults
        numeric=interval
        numeric=range merge=sets
        rule=literal selection=first
        selection=nearest root_shortfall=top_up
        root_shortfall=top_up seed=3
        inducer=c45
        inducer=binary merge=sets
        inducer=fitted numeric=interval
        """,
    ),
    (
        "kactus",
        "people",
        """
        k=1
        k=20 rule=literal
        inducer=kadet
        constraints=distinct
        constraints=close numeric=range
        identifiers=last categorical=numbers
        """,
    ),
    ("kactus", "customers excerpt patients clients cmc tictactoe crowd", "defaults"),
    ("kactus", "tictactoe", "inducer=id3"),
    ("kactus", "glass", "inducer=sklearn numeric=range"),
    ("kactus", "crx visits", "missing=drop"),
    (
        "erp",
        "visits people cmc",
        """
        defaults
        assign=own
        assign=own numeric=set domain=observed
        strict_tiers=True seed=2
        recoding=uniform
        recoding=uniform rule=literal numeric=set
        recoding=uniform domain=observed inducer=binary
        rule=literal inducer=c45
        """,
    ),
    (
        "erp",
        "people",
        """
        k=1
        identifiers=last categorical=numbers
        recoding=uniform constraints=distinct
        recoding=uniform constraints=close
        inducer=fitted recoding=uniform
        """,
    ),
    (
        "erp",
        "patients customers clients excerpt glass tictactoe adult",
        "recoding=uniform\nassign=own",
    ),
    ("erp", "crx visits", "missing=drop"),
    (
        "tds",
        "visits people adult",
        """
        defaults
        score_form=ratio
        threshold=valid
        taxonomies=chain
        taxonomies=chain only_child=stop
        groups=two
        groups=two average=all
        bounds=around
        taxonomies=bands
        """,
    ),
    ("tds", "people", "k=1\nconstraints=distinct\nconstraints=entropy\nidentifiers=last"),
    ("tds", "crx", "groups=two\ngroups=two average=all"),
    ("tds", "customers patients excerpt clients cmc glass crx sick", "threshold=valid"),
    ("tds", "adult complete", "taxonomies=adult"),
    ("tds", "crx visits", "missing=drop"),
    (
        "tdr",
        "people adult",
        """
        defaults
        disclose=score
        threshold=valid score_form=ratio
        taxonomies=chain only_child=stop
        taxonomies=first
        groups=two average=all
        bounds=around disclose=score
        k=2 disclose=score
        """,
    ),
    ("tdr", "people", "k=1\nconstraints=distinct disclose=score\ncategorical=numbers"),
    ("tdr", "customers patients excerpt clients cmc tictactoe sick", "disclose=score"),
    ("tdr", "crx visits", "missing=drop"),
    (
        "lattice",
        "visits people adult",
        """
        defaults
        loss=entropy
        taxonomies=bands suppression_limit=0.1
        taxonomies=bands suppression_limit=0.1 suppressed=lose loss=geometric
        suppression_limit=0.3 minimal=False loss=height
        loss=size taxonomies=chain
        """,
    ),
    ("lattice", "people", "k=1\nconstraints=distinct\nconstraints=close suppression_limit=0.1"),
    ("lattice", "clients cmc glass", "suppression_limit=0.2"),
    (
        "cluster",
        "visits people cmc",
        """
        defaults
        recoding=interval loss=size
        recoding=mean
        guide=class
        refine=200
        block_rows=40
        taxonomies=halves
        """,
    ),
    ("cluster", "people", "k=1\nconstraints=distinct\nconstraints=close\ncategorical=numbers"),
    ("cluster", "customers patients excerpt clients glass german tictactoe sick", "defaults"),
    ("cluster", "crx visits", "missing=drop"),
    ("mondrian", "visits people", "refine=200\nmode=relaxed refine=200"),
    (
        "mondrian",
        "visits people cmc",
        """
        recoding=ends
        recoding=region
        mode=relaxed recoding=region
        mode=infogain recoding=region categories=subsets
        recoding=region taxonomies=halves
        """,
    ),
    ("cluster", "visits people", "recoding=ends"),
    ("micro", "visits people cmc", "refine=200\nmethod=mdav refine=200 centroid=median"),
    (
        "micro",
        "visits people cmc",
        """
        defaults
        method=mdav
        gamma=1.1 cat_weight=0.3
        centroid=median
        keep_types=True
        keep_types=True centroid=median
        blocks=3
        method=mdav blocks=2 centroid=median
        """,
    ),
    ("micro", "people", "k=1\nconstraints=distinct\nconstraints=close\ncategorical=numbers"),
    ("micro", "customers patients excerpt clients adult glass german tictactoe sick", "defaults"),
    ("micro", "crx visits", "missing=drop"),
    (
        "mict",
        "visits people german",
        """
        defaults
        release=suppress
        release=asis
        complies=values
        k=2
        k=2 shortfall=lose
        release=suppress shortfall=lose complies=values
        method=mdav centroid=median
        keep_types=True gamma=1.1
        inducer=c45 cat_weight=0.3 blocks=2
        """,
    ),
    ("mict", "people", "k=1\nconstraints=distinct\nrelease=suppress constraints=close"),
    ("mict", "customers patients excerpt clients cmc adult glass tictactoe", "defaults"),
    ("mict", "crx visits", "missing=drop\nk=30\nk=30 shortfall=lose"),
    (
        "c45",
        "visits people adult",
        """
        defaults
        prune=False min_samples_leaf=1
        confidence=0.05 subtree_raising=False
        binary_splits=True
        thresholds=data min_samples_leaf=5
        """,
    ),
    (
        "c45",
        "people-sets adult-ranges",
        "defaults\nprune=False min_samples_leaf=1\nbinary_splits=True",
    ),
    (
        "c45",
        "crx customers patients salaries clients excerpt cmc german glass tictactoe",
        "defaults",
    ),
    (
        "c45",
        "people-sets cmc-ranges visits-sets people-tiers",
        """
        scoring=discount
        weights=distribution
        min_fragment=0.3
        scoring=discount weights=distribution binary_splits=True
        """,
    ),
    ("c45", "people-nodes", "taxonomies=released\ntaxonomies=released weights=distribution"),
    ("c45", "people-means people-paths customers-ranges customers-means", "defaults"),
    ("id3", "customers patients clients tictactoe people", "defaults"),
    (
        "part",
        "visits people crx",
        """
        defaults
        prune=False min_samples_leaf=1
        confidence=0.05
        binary_splits=True
        thresholds=data
        """,
    ),
    ("part", "customers patients clients cmc glass german people-means adult", "defaults"),
    (
        "id3sets",
        "tictactoe-sets people-sets",
        """
        defaults
        entropy=own_value
        entropy=random_map seed=1
        convert=most_frequent
        convert=fractional
        convert=fractional min_weight=3 min_fragment=0.2
        max_depth=2 min_gain=0.01
        """,
    ),
    (
        "id3sets",
        "people-sets",
        """
        features=three
        convert=original_distribution marginals=original marginals_k=1 features=three
        """,
    ),
    ("id3sets", "salaries customers-sets", "entropy=own_value\nconvert=fractional\nseed=4"),
    ("id3sets", "customers clients patients tictactoe visits-sets people-nodes", "defaults"),
    (
        "kadet",
        "people complete",
        """
        defaults
        k=2
        public=some
        public=with_class
        criterion=gain_ratio
        criterion=gain_ratio prune=False public=some priority=weighted
        prune=True
        empty_ok=False
        taxonomies=halves
        taxonomies=first empty_ok=False criterion=gain_ratio
        l_diversity=1.2
        max_confidence=0.9 public=some
        min_gain=0.01 min_samples_leaf=10
        """,
    ),
    ("kadet", "customers", "k=2\nk=3 public=with_class\ntaxonomies=halves k=1"),
    ("kadet", "days", "k=3\nk=2 criterion=gain_ratio prune=False"),
    ("kadet", "clients", "k=1\nk=2 public=none\nk=3 public=with_class"),
    ("kadet", "cmc german glass tictactoe sick", "criterion=gain_ratio"),
    ("kadet", "complete", "taxonomies=adult"),
    ("bayes", "customers visits adult people glass crx", "defaults"),
    ("bayes", "people-sets people-means people-paths adult-ranges", "defaults"),
    ("bayes", "people", "categorical=numbers"),
    ("bayes", "people-nodes", "taxonomies=released"),
    ("knn", "customers people glass visits", "defaults\nn_neighbors=1 cat_weight=0.3"),
    ("knn", "people-sets people-means adult-ranges", "defaults"),
    ("knn", "people-nodes", "taxonomies=released"),
    ("logistic", "customers people", "defaults"),
    (
        "wrapped",
        "people",
        """
        defaults
        test=recoded
        anonymizer=ranges test=recoded
        anonymizer=micro classifier=knn test=recoded
        anonymizer=kactus classifier=bayes
        anonymizer=tds classifier=bayes_of_nodes test=recoded
        anonymizer=erp classifier=c45
        classifier=id3sets test=recoded
        """,
    ),
    (
        "encoder",
        "people-sets adult-ranges visits-sets people-means",
        """
        defaults
        sets=token
        numeric=bounds missing=indicator
        missing=mode weights=distribution
        """,
    ),
    ("mdl", "people glass crx visits", "defaults"),
    ("mdl", "people", "columns=first"),
    # no kactus and erp: the command draws by chance that nobody can repeat
    (
        "cli",
        "customers people complete",
        """
        defaults
        recoding=interval
        mode=relaxed k=7
        mode=infogain recoding=interval
        l-diversity=2
        alpha=0.9 mode=infogain
        """,
    ),
    ("cli", "adult visits", "defaults\nmissing=drop\nmissing=category mode=infogain"),
]


# ---------- what is hashed
def short(text):
    "The first digits of a sha256"
    data = text if isinstance(text, bytes) else text.encode()
    return hashlib.sha256(data).hexdigest()[:16]


def error(e):
    "The fingerprint of an exception: of its type, not of its words"
    return f"error:{short(type(e).__name__)}"


def tried(make):
    "The fingerprint of what a function returns or raises"
    try:
        return short(make())
    except Exception as e:
        return error(e)


def saved(est):
    "An estimator that was pickled and loaded"
    return pickle.loads(pickle.dumps(est))


def table_text(X):
    "Rows as they would be published, in their order"
    return pd.DataFrame({o: column_text(X[o]) for o in X}).to_csv(index=False)


def file_lines(write, prefix=""):
    "Fingerprints of a release that a function writes to a path: its table and its schema"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "release.csv"

        def text():
            write(path)
            return path.read_bytes()

        found = tried(text)
        yield f"{prefix}csv", found
        if not found.startswith("error"):
            yield f"{prefix}schema", tried(lambda: schema_path(path).read_bytes())


def anonymizer_lines(method, spec, t):
    "What an anonymizer publishes, and how it recodes new rows"
    kept = []

    def write(path):
        est = build(method, spec, t)
        est.anonymize(t.X, t.y).to_csv(path)
        kept.append(est)

    yield from file_lines(write)
    if kept and getattr(kept[0], "trace_", None) is not None:
        yield "trace", tried(lambda: kept[0].trace_.to_csv(float_format="%.9g"))
    if kept:
        yield from recoding_lines(kept[0], t.new.dropna() if "missing=drop" in spec else t.new)


def recoding_lines(est, new):
    "How an anonymizer recodes new rows; and after it was saved, if that is not the same"
    found = tried(lambda: table_text(est.transform(new)))
    yield "transform", found
    again = tried(lambda: table_text(saved(est).transform(new)))
    if again != found:
        yield "pickled", again


def written(clf, t):
    "A tree in all its texts, and how it answers when it was read from the one without counts"
    text = tree_json(clf)
    again = tried(lambda: told(C45Classifier.from_tree(tree_from_json(text)), t.X))
    return text + tree_json(clf, counts=True) + tree_text(clf) + again


def spoken(clf, X):
    "What a classifier prints, its rules, and why the first row gets its class"
    return "\n\n".join([str(clf), *clf.rules(), *clf.rules(counts=True), clf.explain(X[:1])])


def told(clf, X):
    "Answers, and the shares of classes as far as sums in another order give the same"
    shares = np.round(clf.predict_proba(X), 6) + 0.0
    return "\n".join(f"{o} {p.tolist()}" for o, p in zip(clf.predict(X), shares))


def classifier_lines(method, spec, t):
    "What a classifier has learnt, says, publishes and answers"
    try:
        clf = build(method, spec, t).fit(t.X, t.y)
    except Exception as e:
        yield "fit", error(e)
        return
    if hasattr(clf, "tree_"):
        yield "tree", tried(lambda: written(clf, t))
    if hasattr(clf, "rules"):
        yield "text", tried(lambda: spoken(clf, t.X))
    found = tried(lambda: told(clf, t.X) + told(clf, t.new))
    yield "answers", found
    again = tried(lambda: told(saved(clf), t.X) + told(saved(clf), t.new))
    if again != found:
        yield "pickled", again
    if method == "kadet":
        yield from kadet_lines(clf, t)


def kadet_lines(clf, t):
    "The published tree, what is read from it, and the table that tells as much"
    yield "published", tried(lambda: publish(clf))
    yield "reread", tried(lambda: reread(publish(clf), t.new))
    yield from file_lines(lambda path: tree_release(clf, t.X, t.y).to_csv(path), "table-")


def reread(text, X):
    "A published tree that was read, published again, and its answers"
    clf = read_published(text)
    return publish(clf) + told(clf, X[list(clf.feature_names_in_)])


def transformer_lines(method, spec, t):
    "What a transformer makes of the table and of new rows"

    def text():
        est = build(method, spec, t).fit(t.X, t.y)
        return "".join(output_text(est, est.transform(X)) for X in (t.X, t.new))

    yield "output", tried(text)


def output_text(est, found):
    "What a transformer returned, a table or numbers"
    if isinstance(found, pd.DataFrame):
        return table_text(found)
    return ",".join(est.get_feature_names_out()) + str((np.round(found, 9) + 0.0).tolist())


def arguments(spec):
    "Arguments of the command"
    pairs = [o.split("=", 1) for o in spec.split()]
    options = {keyword("cli", o): VALUES.get(f"cli.{o}={v}", v) for o, v in pairs}
    return [part for o, v in options.items() for part in (f"--{o}", v)]


def command(spec, t, path):
    "Run `ppdt anonymize` on a table"
    source = path.with_name("people.csv")
    t.X.join(t.y).to_csv(source, index=False)
    qi, said = ",".join(quasi_identifiers(t)), arguments(spec)
    args = ["anonymize", str(source), "--qi", qi, "--class", t.y.name, "-o", str(path)]
    dropped = said[said.index("--identifiers") + 1] if "--identifiers" in said else ""
    rest = as_they_are(t, dropped.split(","))
    args += ["--publish", ",".join(rest)] if rest else []
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = cli.main([*args, *said])
    if code:
        raise RuntimeError(code)


def lines_of(method, name, spec):
    "Pairs (what, fingerprint) of a case"
    try:
        t = table(name)
    except datasets.DataNotFoundError:
        raise
    except Exception as e:
        return [("table", error(e))]
    if method == "cli":
        return file_lines(lambda path: command(spec, t, path))
    kinds = ((ANONYMIZERS, anonymizer_lines), (CLASSIFIERS, classifier_lines))
    make = next((f for some, f in kinds if method in some), transformer_lines)
    return make(method, spec, t)


def cases():
    "Triples (method, table, options)"
    for method, names, specs in CASES:
        for name in names.split():
            for spec in filter(None, map(str.strip, specs.splitlines())):
                yield method, name, spec


def fingerprints(only=""):
    "All lines, by the name of the case"
    res = {"tree_schema": short(str(tree_schema()))} if only in "tree_schema" else {}
    for method, name, spec in cases():
        case = f"{method}/{name}/{spec}"
        if only in case:
            found = lines_of(method, name, spec.removeprefix("defaults"))
            res |= {f"{case}/{what}": mark for what, mark in found}
    return res


# ---------- the command
def as_csv(lines):
    "The lines as a CSV file"
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("case", "sha256"), *lines.items()])
    return text.getvalue()


def read(path, only=""):
    "Stored lines"
    with open(path, newline="", encoding="utf-8") as f:
        return {case: mark for case, mark in list(csv.reader(f))[1:] if only in case}


def differences(old, new):
    "A line of text for each case that is not what it was"
    for case in dict.fromkeys([*old, *new]):
        if case not in new:
            yield f"missing  {case}"
        elif case not in old:
            yield f"unknown  {case}"
        elif old[case] != new[case]:
            yield f"changed  {case}: {old[case]} is now {new[case]}"


def main(args=None):
    "Make the lines, and print, store or compare them"
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--out", metavar="FILE", help="store the lines here")
    p.add_argument("--check", metavar="FILE", help="compare with these; exit 1 when any differs")
    p.add_argument("--only", metavar="TEXT", default="", help="only cases that hold this text")
    a = p.parse_args(args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            lines = fingerprints(a.only)
        except datasets.DataNotFoundError as e:
            raise SystemExit(str(e)) from None
    if a.out:
        Path(a.out).write_text(as_csv(lines), encoding="utf-8", newline="")
    if not a.check:
        if not a.out:
            print(as_csv(lines), end="")
        return 0
    found = list(differences(read(a.check, a.only), lines))
    print("\n".join([*found, f"{len(lines)} lines, {len(found)} differences"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
