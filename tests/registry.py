"""All anonymizers and classifiers, for the contract that they share. A new one is one entry here.

An option's values are a strategy, or, where they depend on the table, a function (X, y, roles) ->
strategy. A grid is a strategy of parameters; a method whose modes take different options has one
grid for each mode.
"""

import importlib
import inspect
import pkgutil
from dataclasses import dataclass, field
from typing import Callable

import pandas as pd
import sklearn
from hypothesis import strategies as st
from random_tables import pick, tables
from sklearn.base import ClassifierMixin, TransformerMixin
from sklearn.tree import DecisionTreeClassifier

import ppdt
from ppdt.c45 import C45Classifier, ID3Classifier, PARTClassifier
from ppdt.clusters import ClusterAnonymizer
from ppdt.diversity import Alpha, LDiversity, TCloseness
from ppdt.encoder import ReleaseEncoder
from ppdt.erp import ERPAnonymizer
from ppdt.generalization import Taxonomy
from ppdt.id3_sets import GeneralizedID3Classifier
from ppdt.kactus import KActusAnonymizer
from ppdt.kadet import KADETClassifier
from ppdt.lattice import LatticeAnonymizer
from ppdt.learners import (
    DrawnClassifier,
    MDLDiscretizer,
    NaiveBayesClassifier,
    SetForestClassifier,
)
from ppdt.mict import MicroaggregationAnonymizer, MiCTAnonymizer, MixedKNNClassifier
from ppdt.mondrian import MondrianAnonymizer
from ppdt.release import AnonymizedClassifier, Anonymizer
from ppdt.tables import column_kind, value_order
from ppdt.tds import TDRAnonymizer, TDSAnonymizer


def grid(**options):
    """A function (X, y, roles) -> strategy of parameters"""
    return lambda *table: st.fixed_dictionaries(
        {o: s(*table) if inspect.isfunction(s) else s for o, s in options.items()}
    )


def with_class(a_grid):
    """A grid for tables that have a class"""
    return lambda X, y, roles: st.nothing() if y is None else a_grid(X, y, roles)


@dataclass(frozen=True)
class Entry:
    "What the contract has to know of an estimator"

    # its options, one grid for each mode; parameters of `Anonymizer` are drawn with the table
    grids: tuple
    # objects that scikit-learn's checks are run on, by name, each with {check: why it does not
    # apply}
    checked: dict
    # a simple object, for tests on one table; the class with its defaults
    example: Callable = None
    needs_y: bool = False  # has the class to be given?
    trees: bool = False  # does it ask for a tree over each column of categories?
    # messages that say truly that no release exists; `test_contract` holds each against the table
    impossible: tuple = ()
    # messages for releases that a classifier does not read
    refuses: tuple = ()
    # does it branch on declared categories? Those that nobody has do not leave the house: a tree
    # from the file lacks them
    declared: bool = False
    # does it promise rows that look alike, with these parameters? Else alternatives
    alike: Callable = lambda p: True
    # may it publish representatives of categories? Learners of sets refuse them
    centroids: bool = False
    loses: Callable = lambda p: 0  # how many rows may it lose, with these parameters?
    keeps: tuple = field(default=("release_",))  # learnt names that hold rows, and are not pickled

    def options(self, *table):
        return st.one_of([g(*table) for g in self.grids])


NO_CELLS = "it subtracts outputs, and published cells are no numbers; k = 1 is checked"
COMPLEX = "a TypeError, as for all columns that are no numbers, texts, categories or dates"
STILL_PEOPLE = "rows of weight 0 are people still, and stand in groups"
ONE_ROW = "one row for a larger k is an error about k"

RAW = "'X' must be a raw table"

WHOLE = "'constraints' must be such that the whole table"


def some_constraints(X, y, roles):
    """None, mostly, or a condition on the class or on a column that is published untouched"""
    secret = st.sampled_from(
        [None, *[o for o in X if o not in (*roles["quasi_identifiers"], *roles["identifiers"])]]
    )
    one = st.one_of(
        st.builds(LDiversity, st.integers(1, 3), sensitive=secret),
        st.builds(LDiversity, pick(1, 1.5, 2), st.just("entropy"), sensitive=secret),
        st.builds(LDiversity, st.just(2), st.just("recursive"), pick(1, 2.5), sensitive=secret),
        st.builds(Alpha, pick(0.4, 0.5, 0.75), sensitive=secret),
        st.builds(TCloseness, pick(0.0, 0.2, 0.5), st.just("equal"), sensitive=secret),
    )
    return st.one_of(st.just(()), st.just([]), st.lists(one, min_size=1, max_size=2))


def some_taxonomies(X, y, roles):
    """A tree of two groups over the values of one quasi-identifier of texts"""
    # no node is without a name
    words = [
        o
        for o in roles["quasi_identifiers"]
        if isinstance(X[o].dtype, pd.StringDtype) and X[o].nunique() > 1 and "" not in set(X[o])
    ]

    def tree(o):
        v = sorted(X[o].dropna().unique())
        return {o: Taxonomy.from_dict({"(all)": {"(some)": v[::2], "(others)": v[1::2]}})}

    return st.sampled_from([None, *map(tree, words)])


def all_taxonomies(X, y, roles):
    """A tree over each quasi-identifier of categories; nothing where there is none, since no node
    is without a name
    """

    def tree(o, deep):
        v = sorted(X[o].dropna().astype(object).unique(), key=value_order)
        lines = [
            [x, "(some)" if i % 2 else "(others)", "(all)"] if deep else [x, "(all)"]
            for i, x in enumerate(v)
        ]
        return Taxonomy.from_lines(lines or [["(none)"]])

    def is_category(o):
        return o in roles["categorical"] or column_kind(X[o]) == "categorical"

    names = [o for o in roles["quasi_identifiers"] if is_category(o)]
    if any("" in set(X[o].dropna().astype(object)) for o in names):
        return st.nothing()
    return st.lists(st.booleans(), min_size=len(names), max_size=len(names)).map(
        lambda deep: {o: tree(o, d) for o, d in zip(names, deep)} or None
    )


def some_weights(X, y, roles):
    """None, or what one quasi-identifier counts"""
    one = st.fixed_dictionaries({}, optional={roles["quasi_identifiers"][0]: pick(0.5, 3.0)})
    return st.one_of(st.none(), one)


def an_inducer(X, y, roles):
    """None, C4.5 of some kind, or scikit-learn's tree where all is numeric and fits into 32 bits"""
    qi = X[roles["quasi_identifiers"]]
    whole = not qi.isna().any(axis=None)
    numbers = whole and all(
        pd.api.types.is_numeric_dtype(qi[o])
        and qi[o].dtype != bool
        and str(qi[o].dtype) != "boolean"
        and qi[o].abs().max() < 1e30
        for o in qi
    )
    trees = [st.none(), st.builds(C45Classifier, prune=st.booleans(), min_samples_leaf=pick(1, 2))]
    if numbers and not roles["categorical"]:
        trees.append(
            st.builds(DecisionTreeClassifier, max_depth=pick(1, 3, None), random_state=st.just(0))
        )
    return st.one_of(trees)


# few questions of many branches survive
def _erp(**p):
    return ERPAnonymizer(
        **dict(recoding="uniform", inducer=C45Classifier(prune=False, binary_splits=True)) | p
    )


_trees = dict(
    inducer=an_inducer,
    numeric=pick("interval", "set"),
    rule=pick("minimal", "literal"),
    domain=pick("path", "observed"),
)
GROUPING = dict(
    method=pick("vmdav", "mdav"),
    gamma=pick(0.2, 1.1),
    cat_weight=pick(1, 0.3),
    centroid=pick("mean", "median"),
    keep_types=st.booleans(),
    blocks=pick(None, 2),
)
NO_MEANS = dict(check_complex_data=COMPLEX, check_fit2d_1sample=ONE_ROW) | dict.fromkeys(
    [
        "check_transformer_data_not_an_array",
        "check_transformer_general",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_fit_idempotent",
    ],
    NO_CELLS,
)
K_1 = dict(check_complex_data=COMPLEX)
K_1_MISSING = K_1 | dict(
    check_estimators_pickle="it subtracts outputs; a missing value is published as a cell"
)


def _kactus(**p):
    return KActusAnonymizer(**dict(shortfall="top_up", random_state=0) | p)


def _lost_by_kactus(p):
    """Of ten rows, at most"""
    short = p["k"] - 1 if p.get("shortfall", "lose") == "lose" else 0
    return short + int(10 * p.get("suppression_limit", 0))


FLAT = dict(Gender=["Female", "Male"], Marital=["Married", "Not Married"])


def flat_trees(X=None):
    """A tree over each column of categories: of a table, or of the customers"""
    words = FLAT
    if X is not None:
        texts = [o for o in X if column_kind(X[o]) == "categorical"]
        words = {o: sorted(X[o].dropna().unique()) for o in texts}
    return {
        o: Taxonomy.from_dict({"(all)": {"(some)": v[::2], "(others)": v[1::2]}})
        for o, v in words.items()
    }


def _checked(make):
    """What scikit-learn's checks are run on"""
    return {
        "k=5": (
            make(),
            dict(check_complex_data=COMPLEX, check_fit2d_1sample=ONE_ROW)
            | dict.fromkeys(
                [
                    "check_transformer_data_not_an_array",
                    "check_transformer_general",
                    "check_methods_sample_order_invariance",
                    "check_methods_subset_invariance",
                    "check_fit_idempotent",
                    "check_estimators_pickle",
                    "check_pipeline_consistency",
                ],
                NO_CELLS,
            ),
        ),
        "k=1": (make(k=1), dict(check_complex_data=COMPLEX)),
        "k=1, missing": (
            make(k=1, missing="category"),
            dict(
                check_complex_data=COMPLEX,
                check_estimators_pickle=(
                    "it subtracts outputs; a missing value is published as a cell"
                ),
            ),
        ),
    }


ANONYMIZERS = {
    KActusAnonymizer: Entry(
        grids=(
            grid(
                inducer=an_inducer,
                rule=pick("intended", "literal"),
                numeric=pick("mean", "path", "interval"),
                shortfall=pick("lose", "top_up"),
                selection=pick("random", "first", "nearest", "lots"),
                merge=pick("none", "sets"),
                suppression_limit=pick(0.0, 0.0, 0.2, 1.0),
                random_state=st.integers(0, 3),
            ),
            grid(
                inducer=st.builds(
                    C45Classifier,
                    binary_splits=st.just(True),
                    prune=st.booleans(),
                    min_samples_leaf=pick(1, 2),
                ),
                merge=st.just("sets"),
                numeric=pick("mean", "path", "interval"),
                random_state=st.just(0),
            ),
        ),
        example=_kactus,
        needs_y=True,
        impossible=("missing='drop' leaves", WHOLE),
        keeps=("release_", "climb_", "tree_", "inducer_"),
        loses=_lost_by_kactus,
        checked={
            "k=5": (
                _kactus(),
                dict(check_complex_data=COMPLEX, check_fit2d_1sample=ONE_ROW)
                | dict.fromkeys(
                    [
                        "check_transformer_data_not_an_array",
                        "check_transformer_general",
                        "check_methods_sample_order_invariance",
                        "check_methods_subset_invariance",
                        "check_fit_idempotent",
                        "check_estimators_pickle",
                        "check_pipeline_consistency",
                    ],
                    NO_CELLS,
                ),
            ),
            "k=1": (_kactus(k=1), dict(check_complex_data=COMPLEX)),
            "k=1, missing": (
                _kactus(k=1, missing="category"),
                dict(
                    check_complex_data=COMPLEX,
                    check_estimators_pickle=(
                        "it subtracts outputs; a missing value is published as a cell"
                    ),
                ),
            ),
        },
    ),
    ERPAnonymizer: Entry(
        grids=(
            grid(recoding=st.just("uniform"), **_trees),
            grid(
                recoding=st.just("tiered"),
                assign=pick("random", "own"),
                strict_tiers=st.booleans(),
                random_state=st.integers(0, 3),
                constraints=st.just(()),
                **_trees,
            ),
        ),
        example=_erp,
        needs_y=True,
        impossible=("missing='drop' leaves", WHOLE),
        alike=lambda p: p.get("recoding", "tiered") == "uniform",
        keeps=("release_", "tree_", "inducer_", "log_", "groups_", "tiers_"),
        checked={
            "k=5": (
                ERPAnonymizer(recoding="uniform"),
                dict(check_complex_data=COMPLEX, check_fit2d_1sample=ONE_ROW)
                | dict.fromkeys(
                    [
                        "check_transformer_data_not_an_array",
                        "check_transformer_general",
                        "check_methods_sample_order_invariance",
                        "check_methods_subset_invariance",
                        "check_fit_idempotent",
                    ],
                    NO_CELLS,
                ),
            ),
            "k=1": (ERPAnonymizer(k=1), dict(check_complex_data=COMPLEX)),
            "k=1, missing": (
                ERPAnonymizer(k=1, missing="category"),
                dict(
                    check_complex_data=COMPLEX,
                    check_estimators_pickle=(
                        "it subtracts outputs; a missing value is published as a cell"
                    ),
                ),
            ),
        },
    ),
    TDSAnonymizer: Entry(
        grids=(
            grid(
                taxonomies=all_taxonomies,
                score_form=pick("plus_one", "ratio"),
                threshold=pick("literal", "valid"),
                average=pick("containing", "all"),
                only_child=pick("pass", "stop"),
            ),
        ),
        trees=True,
        needs_y=True,
        impossible=("missing='drop' leaves", WHOLE),
        keeps=("release_", "trace_"),
        checked=_checked(TDSAnonymizer),
    ),
    TDRAnonymizer: Entry(
        grids=(
            grid(
                taxonomies=some_taxonomies,
                score_form=pick("plus_one", "ratio"),
                threshold=pick("literal", "valid"),
                disclose=pick("gain", "score"),
                only_child=pick("pass", "stop"),
            ),
        ),
        example=lambda **p: TDRAnonymizer(**dict(disclose="score") | p),
        needs_y=True,
        impossible=("missing='drop' leaves", WHOLE),
        keeps=("release_", "trace_"),
        checked=_checked(TDRAnonymizer),
    ),
    LatticeAnonymizer: Entry(
        grids=(
            grid(
                taxonomies=all_taxonomies,
                loss=pick("spread", "size", "geometric", "entropy", "height"),
                suppression_limit=pick(0, 0.2, 0.5, 1.0),
                minimal=st.booleans(),
            ),
            grid(
                taxonomies=some_taxonomies,
                loss=pick("spread", "entropy"),
                suppression_limit=pick(0.2, 0.5, 1.0),
                suppressed=st.just("lose"),
                constraints=st.just(()),  # `test_lattice` has some
            ),
        ),
        # else it leaves a tree nothing to learn from
        example=lambda **p: LatticeAnonymizer(**dict(suppression_limit=0.3) | p),
        trees=True,
        impossible=("missing='drop' leaves", WHOLE),
        keeps=("release_", "nodes_", "n_nodes_", "n_counted_", "tops_"),
        loses=lambda p: int(10 * p["suppression_limit"]) if p.get("suppressed") == "lose" else 0,
        checked={
            "k=5": (LatticeAnonymizer(), NO_MEANS),
            "k=1": (LatticeAnonymizer(k=1), K_1),
            "k=1, missing": (LatticeAnonymizer(k=1, missing="category"), K_1_MISSING),
        },
    ),
    MondrianAnonymizer: Entry(
        grids=(
            grid(
                mode=pick("strict", "relaxed"),
                recoding=st.just("region"),
                cut_rule=pick("le_then_lt", "le", "balanced"),
                median=pick("lower", "midpoint"),
                fallback=st.booleans(),
                taxonomies=some_taxonomies,
            ),
            with_class(
                grid(
                    mode=st.just("infogain"),
                    recoding=st.just("region"),
                    candidates=pick("all", "class_change"),
                    categories=pick("ordered", "subsets"),
                    taxonomies=some_taxonomies,
                )
            ),
            grid(
                mode=st.just("strict"),
                recoding=pick("set", "interval", "ends"),
                cut_rule=pick("le_then_lt", "le", "balanced"),
                width=pick("rank", "distinct", "ratio"),
                median=pick("lower", "midpoint"),
                fallback=st.booleans(),
                refine=pick(0, 50),
                suppression_limit=pick(0.0, 0.3),
                taxonomies=some_taxonomies,
            ),
            grid(
                mode=st.just("relaxed"),
                recoding=pick("set", "interval", "ends"),
                width=pick("rank", "distinct", "ratio"),
                fallback=st.booleans(),
                refine=pick(0, 50),
                suppression_limit=pick(0.0, 0.3),
                taxonomies=some_taxonomies,
            ),
            with_class(
                grid(
                    mode=st.just("infogain"),
                    recoding=pick("set", "interval", "ends"),
                    candidates=pick("all", "class_change"),
                    categories=pick("ordered", "subsets"),
                    stop_pure=st.booleans(),
                    refine=pick(0, 50),
                    suppression_limit=pick(0.0, 0.3),
                    taxonomies=some_taxonomies,
                )
            ),
        ),
        loses=lambda p: int(10 * p.get("suppression_limit", 0)),
        impossible=("missing='drop' leaves", WHOLE),
        keeps=("release_", "groups_"),
        checked={
            "k=5": (
                MondrianAnonymizer(),
                dict(check_complex_data=COMPLEX, check_fit2d_1sample=ONE_ROW)
                | dict.fromkeys(
                    [
                        "check_transformer_data_not_an_array",
                        "check_transformer_general",
                        "check_methods_sample_order_invariance",
                        "check_methods_subset_invariance",
                        "check_fit_idempotent",
                    ],
                    NO_CELLS,
                ),
            ),
            "k=1": (MondrianAnonymizer(k=1), dict(check_complex_data=COMPLEX)),
            "k=1, by the class": (
                MondrianAnonymizer(k=1, mode="infogain"),
                dict(check_complex_data=COMPLEX),
            ),
            "k=1, intervals": (
                MondrianAnonymizer(k=1, recoding="interval"),
                dict(check_complex_data=COMPLEX),
            ),
            "k=1, missing": (
                MondrianAnonymizer(k=1, missing="category"),
                dict(
                    check_complex_data=COMPLEX,
                    check_estimators_pickle=(
                        "it subtracts outputs; a missing value is published as a cell"
                    ),
                ),
            ),
        },
    ),
    ClusterAnonymizer: Entry(
        grids=(
            grid(
                recoding=pick("set", "interval", "ends"),
                loss=pick("spread", "size"),
                weights=some_weights,
                refine=pick(0, 50),
                suppression_limit=pick(0.0, 0.3),
                block_rows=pick(2, 5, 30_000),
                blocks=pick("relaxed", "strict"),
                taxonomies=some_taxonomies,
            ),
            grid(recoding=st.just("mean"), refine=pick(0, 50)),
            grid(refine=pick(1, 50, 1000), anneal=pick(1, 3)),
            with_class(grid(guide=st.just("class"), suppression_limit=pick(0.0, 0.3))),
        ),
        loses=lambda p: int(10 * p.get("suppression_limit", 0)),
        impossible=(
            "missing='drop' leaves",
            WHOLE,
            "'taxonomies' must be None with recoding='mean'",
        ),
        keeps=("release_", "groups_"),
        checked={
            "k=5": (ClusterAnonymizer(), NO_MEANS),
            "k=1": (ClusterAnonymizer(k=1), K_1),
            "k=1, missing": (ClusterAnonymizer(k=1, missing="category"), K_1_MISSING),
        },
    ),
    MicroaggregationAnonymizer: Entry(
        grids=(grid(refine=pick(0, 50), **GROUPING),),
        impossible=("missing='drop' leaves", WHOLE),
        keeps=("release_", "groups_"),
        centroids=True,
        checked={
            "k=5": (MicroaggregationAnonymizer(), NO_MEANS),
            "k=1": (MicroaggregationAnonymizer(k=1), K_1),
            "k=1, missing": (MicroaggregationAnonymizer(k=1, missing="category"), K_1_MISSING),
        },
    ),
    MiCTAnonymizer: Entry(  # not release="asis": it promises nothing
        grids=(
            grid(
                inducer=an_inducer,
                release=pick("within_leaf", "suppress"),
                complies=pick("tests", "values"),
                shortfall=pick("top_up", "lose"),
                **GROUPING,
            ),
        ),
        centroids=True,
        needs_y=True,
        impossible=("missing='drop' leaves", WHOLE),
        keeps=("release_", "tree_", "inducer_", "stops_", "averaged_", "moved_", "groups_"),
        loses=lambda p: p["k"] - 1 if p.get("shortfall") == "lose" else 0,
        checked={
            "k=5": (MiCTAnonymizer(), NO_MEANS),
            "k=1": (MiCTAnonymizer(k=1), K_1),
            "k=1, missing": (MiCTAnonymizer(k=1, missing="category"), K_1_MISSING),
        },
    ),
}


def _id3(**p):
    return GeneralizedID3Classifier(random_state=0, **p)


def an_anonymizer(X, y, roles):
    """Any anonymizer of the registry, with any of its options, for this table"""
    missing = {"missing": "category"} if roles["missing"] != "error" else {}
    return st.one_of(
        [
            e.options(X, y, roles).map(lambda o, A=A: A(**roles | missing | o))
            for A, e in ANONYMIZERS.items()
        ]
    )


def a_learner(X, y, roles):
    """Any classifier of the registry that reads releases; the others would refuse nearly all of
    them
    """
    return st.one_of(
        [
            e.options(X, y, roles).map(lambda o, C=C: C(**o))
            for C, e in CLASSIFIERS.items()
            if C is not AnonymizedClassifier and RAW not in e.refuses
        ]
    )


def some_public(X, y, roles):
    """Columns that everybody knows: all, or some"""
    return st.one_of(
        st.none(), st.lists(st.sampled_from([o for o in X if o != "who"]), unique=True)
    )


def some_numbers(X, y, roles):
    """All columns of numbers, or some"""
    numbers = [o for o in X if o != "who" and X[o].dtype.kind in "if"]
    return (
        st.one_of(st.none(), st.lists(st.sampled_from(numbers), unique=True))
        if numbers
        else st.none()
    )


CLASSIFIERS = {
    GeneralizedID3Classifier: Entry(
        grids=(
            grid(
                entropy=pick("equal_prob", "own_value", "random_map"),
                max_depth=pick(None, 0, 2),
                random_state=st.integers(0, 3),
            ),
            grid(
                convert=pick("most_frequent", "fractional"),
                min_gain=pick(None, 0.01),
                random_state=st.just(0),
            ),
        ),
        example=_id3,
        needs_y=True,
        refuses=("must hold values or sets of values",),
        checked={
            o: (_id3(**p), {})
            for o, p in {
                "paper's": {},
                "own_value": dict(entropy="own_value"),
                "random_map": dict(entropy="random_map"),
                "fractional": dict(convert="fractional"),
            }.items()
        },
    ),
    C45Classifier: Entry(
        grids=(
            grid(
                min_samples_leaf=pick(1, 2, 2.5),
                prune=st.booleans(),
                confidence=pick(0.25, 0.5, 0.01),
                subtree_raising=st.booleans(),
                binary_splits=st.booleans(),
                thresholds=pick("midpoint", "data"),
            ),
            grid(
                scoring=pick("spread", "discount"),
                weights=pick("uniform", "distribution"),
                min_fragment=pick(0, 0.01, 0.3),
                max_depth=pick(None, 2),
                class_weight=pick(None, "balanced"),
            ),
        ),
        example=lambda **p: C45Classifier(**dict(prune=False) | p),
        needs_y=True,
        declared=True,
        refuses=("'taxonomies' must have the taxonomy of column",),
        checked={
            o: (C45Classifier(**p), {})
            for o, p in {
                "J48's": {},
                "-U -B -M 1": dict(prune=False, binary_splits=True, min_samples_leaf=1),
            }.items()
        },
    ),
    ID3Classifier: Entry(
        grids=(grid(max_depth=pick(None, 1), class_weight=pick(None, "balanced")),),
        needs_y=True,
        declared=True,
        refuses=("must be categorical", RAW, "must have no missing values (NaN)"),
        checked={
            "raw": (
                ID3Classifier(),
                dict(check_class_weight_classifiers="numbers of 50 values are no categories"),
            )
        },
    ),
    PARTClassifier: Entry(
        grids=(
            grid(
                min_samples_leaf=pick(1, 2, 2.5),
                prune=st.booleans(),
                confidence=pick(0.25, 0.5, 0.01),
                binary_splits=st.booleans(),
                thresholds=pick("midpoint", "data"),
                min_fragment=pick(0, 0.01, 0.3),
            ),
        ),
        example=lambda **p: PARTClassifier(**dict(prune=False) | p),
        needs_y=True,
        declared=True,
        refuses=("'taxonomies' must have the taxonomy of column",),
        checked={
            o: (PARTClassifier(**p), {})
            for o, p in {"Weka's": {}, "-U -M 1": dict(prune=False, min_samples_leaf=1)}.items()
        },
    ),
    NaiveBayesClassifier: Entry(
        grids=(grid(),),
        needs_y=True,
        declared=True,
        refuses=("'taxonomies' must have the taxonomy of column",),
        checked={"Weka's": (NaiveBayesClassifier(), {})},
    ),
    DrawnClassifier: Entry(
        grids=(
            grid(
                classifier=st.just(DecisionTreeClassifier(random_state=0)),
                n_draws=pick(1, 3),
                weights=pick("uniform", "distribution", "posterior"),
                random_state=st.just(0),
            ),
        ),
        example=lambda **p: DrawnClassifier(
            **{"classifier": DecisionTreeClassifier(random_state=0), "random_state": 0, **p}
        ),
        needs_y=True,
        # scikit-learn's trees hold numbers in 32 bits
        refuses=("'taxonomies' must have the taxonomy of column", "too large for dtype('float32')"),
        checked={
            "a tree": (
                DrawnClassifier(DecisionTreeClassifier(random_state=0), random_state=0),
                {},
            ),
        },
    ),
    SetForestClassifier: Entry(
        grids=(
            grid(
                n_estimators=pick(1, 3),
                max_depth=pick(None, 2),
                min_samples_leaf=pick(1, 5),
                max_features=pick("sqrt", None, 0.5),
                weights=pick("uniform", "distribution"),
                random_state=st.just(0),
            ),
        ),
        example=lambda **p: SetForestClassifier(**{"n_estimators": 5, "random_state": 0, **p}),
        needs_y=True,
        refuses=("'taxonomies' must have the taxonomy of column", "too large for dtype('float32')"),
        checked={
            "small leaves": (
                SetForestClassifier(n_estimators=20, min_samples_leaf=1, random_state=0),
                {},
            ),
        },
    ),
    MixedKNNClassifier: Entry(
        grids=(grid(n_neighbors=pick(1, 3, 5), cat_weight=pick(1, 0.3)),),
        needs_y=True,
        refuses=("'taxonomies' must have the taxonomy of column",),
        checked={
            o: (MixedKNNClassifier(**p), {}) for o, p in {"5": {}, "1": dict(n_neighbors=1)}.items()
        },
    ),
    KADETClassifier: Entry(
        grids=(
            grid(
                k=pick(1, 2, 3),
                criterion=pick("gain", "gain_ratio"),
                public=some_public,
                priority=pick("node", "weighted"),
                empty_ok=st.booleans(),
                prune=pick(None, True, False),
            ),
            grid(
                k=pick(1, 2),
                criterion=pick("gain", "gain_ratio"),
                taxonomies=some_taxonomies,
                constraints=pick(
                    (),
                    [LDiversity(1.2, form="entropy")],
                    [Alpha(0.8)],
                    [LDiversity(1.2, form="entropy"), Alpha(0.8)],
                ),
            ),
        ),
        example=lambda **p: KADETClassifier(**{"k": 3} | p),
        needs_y=True,
        declared=True,
        impossible=("'k' must not exceed", "No tree is safe"),
        refuses=("must have no missing values (NaN)", RAW),
        keeps=("spans_",),
        checked={
            o: (
                KADETClassifier(**p),
                {} | (dict(check_fit2d_1sample=ONE_ROW) if p["k"] > 1 else {}),
            )
            for o, p in {
                "k=1": dict(k=1),
                "k=1, C4.5": dict(k=1, criterion="gain_ratio"),
                "k=2": dict(k=2, prune=True),
            }.items()
        },
    ),
    AnonymizedClassifier: Entry(
        grids=(grid(anonymizer=an_anonymizer, classifier=a_learner, test=pick("raw", "recoded")),),
        example=lambda **p: AnonymizedClassifier(MondrianAnonymizer(k=3), _id3(), **p),
        needs_y=True,
        refuses=(
            "must hold values or sets of values",
            RAW,
            "must be categorical",
            "must have no missing values (NaN)",
        ),
        checked={
            "raw": (
                AnonymizedClassifier(MondrianAnonymizer(k=2), _id3()),
                dict(
                    check_fit2d_1sample=ONE_ROW,
                    check_sample_weight_equivalence_on_dense_data=STILL_PEOPLE,
                    check_estimators_nan_inf=(
                        "rows to classify go to the classifier as they are, and it takes missing"
                        " values; rows to protect may have none"
                    ),
                ),
            ),
            "recoded": (
                AnonymizedClassifier(MondrianAnonymizer(k=1), _id3(), test="recoded"),
                dict(check_sample_weight_equivalence_on_dense_data=STILL_PEOPLE),
            ),
            "missing": (
                AnonymizedClassifier(
                    MondrianAnonymizer(k=2, missing="category"), _id3(), test="recoded"
                ),
                dict(
                    check_fit2d_1sample=ONE_ROW,
                    check_sample_weight_equivalence_on_dense_data=STILL_PEOPLE,
                ),
            ),
        },
    ),
}
TRANSFORMERS = {
    ReleaseEncoder: Entry(
        grids=(
            grid(
                sets=pick("auto", "weights", "draw", "token"),
                numeric=pick("midpoint", "bounds"),
                missing=pick("impute", "mode", "other", "indicator"),
                weights=pick("uniform", "distribution"),
            ),
        ),
        checked={
            name: (ReleaseEncoder(**p), dict(check_complex_data=COMPLEX))
            for name, p in {
                "auto": {},
                "weights": dict(sets="weights"),
                "draw": dict(sets="draw", weights="distribution"),
                "other": dict(missing="other"),
                "bounds, indicator": dict(missing="indicator", numeric="bounds"),
                "token": dict(sets="token", weights="distribution"),
                "mode": dict(missing="mode"),
            }.items()
        },
    ),
    MDLDiscretizer: Entry(
        grids=(grid(columns=some_numbers),),
        needs_y=True,
        checked={
            "all numbers": (
                MDLDiscretizer(),
                dict.fromkeys(
                    [
                        "check_transformer_data_not_an_array",
                        "check_transformer_general",
                        "check_methods_sample_order_invariance",
                        "check_methods_subset_invariance",
                        "check_fit_idempotent",
                        "check_estimators_pickle",
                        "check_pipeline_consistency",
                    ],
                    "it subtracts outputs, and these are categories",
                ),
            )
        },
    ),
}
REGISTRY = ANONYMIZERS | CLASSIFIERS | TRANSFORMERS

# checks of scikit-learn that cannot be run here
NOT_RUN = {
    "check_array_api_input": "it needs SCIPY_ARRAY_API to be set; all estimators read tables"
}
if sklearn.__version__.startswith("1.6."):
    NOT_RUN["check_positive_only_tag_during_fit"] = "the check subtracts floats from whole numbers"


def estimators():
    """Classes of estimators that are defined in ppdt, in any module, private ones too"""
    found = set()
    for m in pkgutil.walk_packages(ppdt.__path__, "ppdt."):
        for o in vars(importlib.import_module(m.name)).values():
            if (
                inspect.isclass(o)
                and issubclass(o, (Anonymizer, ClassifierMixin, TransformerMixin))
                and o.__module__.startswith("ppdt.")
            ):
                found.add(o)
    return found


def frames():
    """Classes that are no estimators of their own: something registered is made of them"""
    return {o for o in estimators() - set(REGISTRY) if any(issubclass(r, o) for r in REGISTRY)}


def example(cls, X=None, **p):
    """A simple object for a table; None: for the customers"""
    if REGISTRY[cls].trees:
        p = {"taxonomies": flat_trees(X)} | p
    return (REGISTRY[cls].example or cls)(**p)


@st.composite
def tasks(draw, cls, missing=True):
    """(X, y, parameters) for an anonymizer: a table, and any options that it can be given"""
    X, y, roles = draw(tables(missing))
    return (
        X,
        y,
        roles
        | dict(constraints=draw(some_constraints(X, y, roles)))
        | draw(REGISTRY[cls].options(X, y, roles)),
    )


@st.composite
def lessons(draw, cls, missing=True):
    """(X, y, parameters) for a classifier"""
    X, y, roles = draw(tables(missing))
    p = draw(REGISTRY[cls].options(X, y, roles))
    if p.get("test") == "recoded" and not p["anonymizer"].recodes_new_rows:
        p["test"] = "raw"
    return X if any(isinstance(o, Anonymizer) for o in p.values()) else X.drop(columns="who"), y, p
