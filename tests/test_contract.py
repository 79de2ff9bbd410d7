"""What every anonymizer and every classifier promises, whatever its method: one suite over the
registry.
"""

import math
import os
import pickle
import struct
import subprocess
import sys
import warnings
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given as _given, strategies as st
from pandas.testing import assert_frame_equal, assert_series_equal
from random_tables import pick, published_rows, row_cells
from registry import (
    ANONYMIZERS,
    CLASSIFIERS,
    NOT_RUN,
    RAW,
    REGISTRY,
    TRANSFORMERS,
    estimators,
    example,
    frames,
    lessons,
    tasks,
)
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

from ppdt.datasets import load_customers, make_population
from ppdt.diversity import Alpha, TCloseness
from ppdt.generalization import interval_recoding
from ppdt.matching import matched
from ppdt.mondrian import MondrianAnonymizer
from ppdt.release import (
    AnonymizedClassifier,
    Anonymizer,
    GuaranteeError,
    Published,
    RowsLostError,
    read_release,
)
from ppdt.tables import (
    MISSING,
    Cell,
    Centroid,
    Exact,
    Interval,
    Node,
    Suppressed,
    canonical_order,
    schema_path,
)
from ppdt.tds import TDSAnonymizer
from ppdt.trees import tree_json


def given(times=1, **draws):
    """One in 20 of the profile's examples, or so many times more: each of these tests runs for
    every estimator, with any of its options
    """
    return lambda f: one_in(20 / times)(_given(**draws)(f))


def of(classes):
    return pytest.mark.parametrize("cls", list(classes), ids=lambda o: o.__name__)


anonymizer, classifier, estimator = of(ANONYMIZERS), of(CLASSIFIERS), of(REGISTRY)

CUSTOMERS = load_customers()
SHOP, BOUGHT = CUSTOMERS.drop(columns="Bought"), CUSTOMERS["Bought"]
PLACES = SHOP.drop(columns="Age")  # no raw numbers with many values


# ---------- who is here
def test_all_estimators_are_registered():
    found, known = estimators() - frames(), set(REGISTRY)
    assert not found - known, "no entry in tests/registry.py: " + ", ".join(
        sorted(o.__name__ for o in found - known)
    )
    assert not known - found, "in tests/registry.py, and not in ppdt: " + ", ".join(
        sorted(o.__name__ for o in known - found)
    )


def _checks():
    for cls, entry in REGISTRY.items():
        checked = list(entry.checked.items())
        # `make quick` looks at one object of each class
        if os.environ.get("PPDT_HYPOTHESIS") == "quick":
            checked = checked[:1]
        for name, (est, odd) in checked:
            for e, check in estimator_checks_generator(est):
                what = check.func.__name__
                if what in NOT_RUN:
                    continue
                marks = pytest.mark.xfail(reason=odd[what], strict=True) if what in odd else ()
                yield pytest.param(e, check, marks=marks, id=f"{cls.__name__}, {name}: {what}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("est, check", list(_checks()))
def test_scikit_learns_checks(est, check):
    check(est)


def test_exceptions_name_checks_that_exist():
    for entry in REGISTRY.values():
        for est, odd in entry.checked.values():
            assert set(odd) <= {
                c.func.__name__ for _, c in estimator_checks_generator(est)
            } and all(odd.values())


# ---------- parameters
@estimator
def test_parameters_are_keywords_with_defaults_stored_untouched(cls):
    est = example(cls)
    assert (
        cls().get_params(deep=False).keys() == est.get_params(deep=False).keys() == vars(est).keys()
    )
    for name, value in est.get_params(deep=False).items():
        odd = object()
        assert cls(**{name: odd}).get_params(deep=False)[name] is odd
        assert est.set_params(**{name: value}) is est
    for a, b in zip(est.get_params().items(), clone(est).get_params().items()):
        assert a[0] == b[0] and type(a[1]) is type(b[1])
    assert not any(o.endswith("_") for o in vars(clone(est.fit(PLACES, BOUGHT))))


@anonymizer
def test_k_is_an_integer_of_at_least_one(cls):
    for k in (0, -3):
        with pytest.raises(ValueError, match=f"'k' must be an integer of at least 1. Got {k}"):
            example(cls, k=k).fit(SHOP, BOUGHT)
    for k in (2.5, 3.0, np.float64(3), "3", None, True, np.True_, [3], np.nan):
        with pytest.raises(TypeError, match="'k' must be an integer of at least 1"):
            example(cls, k=k).fit(SHOP, BOUGHT)
    assert example(cls, k=np.int64(3)).anonymize(SHOP, BOUGHT).audit.k >= 3


@anonymizer
@pytest.mark.parametrize("make", [list, tuple, np.array, pd.Index, pd.Series])
def test_names_in_any_kind_of_list(cls, make):
    r = example(
        cls, k=3, quasi_identifiers=make(["Age", "Gender"]), identifiers=make(["Marital"])
    ).anonymize(SHOP, BOUGHT)
    assert r.roles.quasi_identifiers == ("Age", "Gender") and list(r.data) == ["Gender", "Age"]
    assert_frame_equal(
        r.data,
        example(cls, k=3, quasi_identifiers=["Age", "Gender"], identifiers=["Marital"])
        .anonymize(SHOP, BOUGHT)
        .data,
    )


# ---------- helpers
def _fitted(est, X, y):
    """The fitted object, or None where it says truly that it cannot be"""
    entry = REGISTRY[type(est)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _unchanged(est, X, y)
        except ValueError as e:
            inner = [
                REGISTRY[type(getattr(est, o))]
                for o in ("anonymizer", "classifier")
                if type(getattr(est, o, None)) in REGISTRY
            ]
            known = [t for o in (entry, *inner) for t in o.impossible + o.refuses]
            if any(o in str(e) for o in known):
                return None
            raise


def _unchanged(est, X, y):
    """Fit, which changes no parameter and no table"""
    held, before, labels = dict(vars(est)), X.copy(deep=True), pd.Series(y).copy(deep=True)
    est.fit(X, y)
    assert all(vars(est)[o] is v for o, v in held.items() if not o.endswith("_"))
    assert_frame_equal(X, before)
    assert_series_equal(pd.Series(y), labels)
    return est


def _release(cls, X, y, p):
    """The release, or None where there is none"""
    est = _fitted(cls(**p), X, y)
    return None if est is None else est.release_


def _gone(X, p):
    return (
        X[p["quasi_identifiers"]].isna().any(axis=1).to_numpy()
        if p["missing"] == "drop"
        else np.zeros(len(X), dtype=bool)
    )


def _allows(cell, value, tree=None):
    """May the cell stand for the value? None where the cell alone does not say"""
    if isinstance(cell, Node) and tree is not None:
        return value is MISSING and cell.name == tree.name[0] or value in tree.leaves(cell.name)
    if isinstance(cell, (Node, Centroid)):
        return None
    if isinstance(cell, Suppressed):
        return True
    if isinstance(cell, Interval):
        return cell.lo <= value and (value < cell.hi if cell.hi_open else value <= cell.hi)
    return value in cell.values


def _keeps(constraint, secrets, whole):
    """Do these people keep the constraint? Counted in the plainest way"""
    share = lambda v, some: some.count(v) / len(some)
    # what is missing may be anything, at worst what is most frequent
    if not isinstance(constraint, TCloseness) and None in secrets:
        known = [o for o in secrets if o is not None]
        most = Counter(known).most_common(1)[0][0] if known else None
        secrets = [most if o is None else o for o in secrets]
    n = Counter(secrets)
    if isinstance(constraint, Alpha):
        return max(n.values()) / len(secrets) <= constraint.alpha
    if isinstance(constraint, TCloseness):
        return (
            sum(abs(share(v, secrets) - share(v, whole)) for v in set(whole)) / 2
            <= constraint.t + 1e-9
        )
    if constraint.form == "distinct":
        return len(n) >= constraint.l
    if constraint.form == "entropy":
        return (
            math.exp(-sum(v / len(secrets) * math.log(v / len(secrets)) for v in n.values()))
            >= constraint.l - 1e-6
        )
    first, *rest = sorted(n.values(), reverse=True)
    return first < constraint.c * sum(rest)


def _secrets(constraint, X, y):
    """What the constraint protects, row by row"""
    return [
        None if o is None else repr(o)
        for o in row_cells(y if constraint.sensitive is None else X[constraint.sensitive])
    ]


# ---------- the guarantee of an anonymizer
@anonymizer
@given(2, data=st.data())
def test_the_promise_holds_and_rows_stay(cls, data):
    X, y, p = data.draw(tasks(cls))
    r, qi, gone = _release(cls, X, y, p), p["quasi_identifiers"], _gone(X, p)
    if r is None:
        # it was true that there is none
        everybody = [(o, _secrets(o, X[~gone], y[~gone])) for o in p["constraints"]]
        assert (~gone).sum() < p["k"] or not all(_keeps(o, v, v) for o, v in everybody)
        return
    dropped, gone = gone.sum(), gone.copy()
    # reported drops, and no others than a method may lose
    gone[r.lost] = True
    assert np.array_equal(r.lost, np.flatnonzero(gone)) and gone.sum() - dropped <= REGISTRY[
        cls
    ].loses(p)
    kept = X[~gone]
    assert r.data.index.identical(kept.index) and list(r.data) == [o for o in X if o != "who"]
    assert r.y.tolist() == y[~gone].tolist() and r.y.index.identical(kept.index)
    for o in X.columns.difference([*qi, "who"]):
        assert_series_equal(r.data[o], kept[o])
    # counted here, not by the audit
    rows = list(zip(*[row_cells(r.data[o]) for o in qi]))
    hidden = [all(isinstance(c, Suppressed) for c in o) for o in rows]
    sizes = sorted(
        rows.count(o) for o in set(rows) if not all(isinstance(c, Suppressed) for c in o)
    )
    assert sizes == list(r.audit.class_sizes) and sum(hidden) == r.audit.suppressed_rows
    assert (
        r.audit.holds and (not sizes or sizes[0] == r.audit.k) and r.audit.lost_rows == gone.sum()
    )
    if REGISTRY[cls].alike(p):
        assert not sizes or sizes[0] >= p["k"]
    elif p["k"] > 1:
        could = np.array(
            [
                [
                    all(_allows(c, MISSING if v is None else v.value) for c, v in zip(row, person))
                    for row in rows
                ]
                for person in zip(*[row_cells(kept[o]) for o in qi])
            ]
        )
        assert could.sum(axis=0).min() >= p["k"] and matched(could).sum(axis=1).min() >= p["k"]
    for o in p["constraints"]:
        secrets = _secrets(o, kept, y[~gone])
        for c in set(rows):
            assert _keeps(o, [v for v, row in zip(secrets, rows) if row == c], secrets)
    for o in qi:
        tree = (p.get("taxonomies") or {}).get(o)
        for cell, raw in zip(row_cells(r.data[o]), row_cells(kept[o])):
            if cell is None:
                assert raw is None and p["k"] == 1
            else:
                assert _allows(cell, MISSING if raw is None else raw.value, tree) in (True, None)
        if all(isinstance(c, Exact) and c.value is not MISSING for c in r.cells(o)[1]):
            assert r.data[o].dtype == X[o].dtype


@anonymizer
@given(data=st.data())
def test_limits_of_k(cls, data):
    """k = 1 gives X back, k = n one class, k > n an error"""
    X, y, p = data.draw(tasks(cls))
    p |= {"missing": "category", "constraints": ()}
    assert_frame_equal(_release(cls, X, y, p | {"k": 1}).data, X.drop(columns="who"))
    r = _release(cls, X, y, p | {"k": len(X)})
    assert sorted(
        [*r.audit.class_sizes, *[r.audit.suppressed_rows] * (r.audit.suppressed_rows > 0)]
    ) == [len(X)] and not len(r.lost)
    est = cls(**p | {"k": len(X) + 1})
    with pytest.raises(ValueError, match="'k' must not exceed"):
        est.fit(X, y)
    assert vars(est).keys() == est.get_params(deep=False).keys()


@anonymizer
@given(data=st.data(), seed=st.integers(0, 9), end=pick(".csv", ".parquet"))
def test_files(cls, tmp_path_factory, data, seed, end):
    """The same table gives the same bytes, and the same published rows in whatever order its rows
    are; what is read back is what was written
    """
    X, y, p = data.draw(tasks(cls))
    r = _release(cls, X, y, p)
    if r is None:
        return
    folder = tmp_path_factory.getbasetemp()

    def write(r, name):
        (r.to_csv if end == ".csv" else r.to_parquet)(folder / (name + end))
        at = folder / (name + end)
        schema = schema_path(at).read_bytes().replace((name + end).encode(), b"NAME")
        return at.read_bytes(), schema

    one = write(r, "one")
    assert write(_release(cls, X, y, p), "two") == one
    order = np.random.default_rng(seed).permutation(len(X))
    again = _release(cls, X.iloc[order], y.iloc[order], p)
    # people with equal quasi-identifiers may change places (`test_ties`), and then groups of other
    # classes may be allowed
    if not p["constraints"]:
        assert published_rows(again) == published_rows(r)
    back = read_release(folder / ("one" + end))
    assert write(back, "two") == one and back.text().equals(r.text())
    at = canonical_order([r.data[o] for o in r.data] + [r.y])
    for o in r.data:
        assert row_cells(back.data[o]) == row_cells(r.data[o].iloc[at])
    assert back.y.tolist() == r.y.iloc[at].tolist()
    for o in (
        "k",
        "n_rows",
        "n_classes",
        "class_sizes",
        "suppressed_rows",
        "suppressed_cells",
        "risk_max",
        "risk_mean",
        "uniques",
    ):
        assert getattr(back.audit, o) == getattr(r.audit, o)
    assert set(back.roles.quasi_identifiers) == set(r.roles.quasi_identifiers) and set(
        back.roles.other
    ) == set(r.roles.other)
    assert b"unused" not in one[1] and b"person" not in one[0]


@anonymizer
@given(data=st.data())
def test_new_rows_fall_into_published_cells(cls, data):
    X, y, p = data.draw(tasks(cls))
    tool = _fitted(cls(**p | {"missing": "category"}), X, y)
    if tool is None or tool.recoder_ is None:
        return
    assert tool.recodes_new_rows
    # by name, whatever the order
    again = tool.transform(X[X.columns[::-1]])
    assert list(again) == list(tool.release_.data) and again.index.identical(X.index)
    for o in p["quasi_identifiers"]:
        # nothing is told where no row is published
        if p["k"] > 1:
            assert set(row_cells(again[o])) <= set(row_cells(tool.release_.data[o])) | {
                Suppressed()
            }
    assert_frame_equal(pickle.loads(pickle.dumps(tool)).transform(X), tool.transform(X))


@anonymizer
def test_lost_rows_are_no_table(cls):
    gaps = SHOP.assign(Age=SHOP.Age.astype(float).where(SHOP.Age != 80))
    with pytest.raises(RowsLostError, match="1 of 14 rows were lost.*anonymize"):
        example(cls, k=3, missing="drop").fit_transform(gaps, BOUGHT)
    tool = example(cls, k=3)
    assert_frame_equal(tool.fit_transform(SHOP, BOUGHT), tool.release_.data)
    assert_frame_equal(
        example(cls, k=3).set_output(transform="pandas").fit_transform(SHOP, BOUGHT),
        tool.release_.data,
    )


@anonymizer
def test_columns_that_came_in(cls):
    tool = example(cls, k=3, identifiers=["Marital"]).fit(SHOP, BOUGHT)
    assert (
        tool.n_features_in_ == 3
        and tool.feature_names_in_.tolist() == ["Gender", "Marital", "Age"]
        and tool.feature_names_in_.dtype == object
    )
    assert tool.get_feature_names_out().tolist() == ["Gender", "Age"]
    trees = {"taxonomies": None} if REGISTRY[cls].trees else {}
    tool.set_params(identifiers=(), **trees).fit(np.eye(4), [0, 1, 0, 1])
    assert not hasattr(tool, "feature_names_in_") and list(tool.release_.data) == [
        "x0",
        "x1",
        "x2",
        "x3",
    ]


@anonymizer
def test_a_saved_anonymizer_holds_no_rows(cls):
    X, y = make_population(997, 0), ["a", "b"] * 498 + ["a"]
    X["name"] = [f"somebody {i:03}" for i in range(997)]
    tool = example(cls, X.drop(columns="name"), k=5, identifiers=["name"]).fit(X, y)
    saved = pickle.dumps(tool)
    back = pickle.loads(saved)
    assert (
        b"somebody" not in saved
        and not any(hasattr(back, o) for o in REGISTRY[cls].keeps)
        and all(hasattr(tool, o) for o in REGISTRY[cls].keeps)
    )
    assert all(len(o) != 997 for o in _arrays(vars(back), set()))


def _arrays(o, seen):
    """All arrays in an object; a table in it is a failure"""
    if id(o) in seen:
        return
    seen.add(id(o))
    assert not isinstance(o, (pd.DataFrame, pd.Series)), "a table is saved"
    if isinstance(o, np.ndarray):
        yield o
    for v in (
        o.values()
        if isinstance(o, dict)
        else (
            o
            if isinstance(o, (list, tuple))
            else vars(o).values()
            if hasattr(o, "__dict__") and not isinstance(o, type)
            else ()
        )
    ):
        yield from _arrays(v, seen)


class Ranges(Anonymizer):
    "A method by somebody else: three rows in order, and their range"

    def _publish(self, task):
        groups = np.minimum(task.codes[0] // 3, len(task.attributes[0]) // 3 - 1)
        columns = zip(task.attributes, task.codes)
        return Published([interval_recoding(a, c, groups) for a, c in columns])


class Hoarder(Ranges):
    "The same, and it keeps the domain of its table"

    def _publish(self, task):
        res = super()._publish(task)
        return replace(res, learnt={"seen_": task.attributes}, saved=("seen_",))


def _patterns(v):
    """How a number may stand in a pickle"""
    if isinstance(v, float):
        return struct.pack("<d", v), struct.pack(">d", v)
    return (v.to_bytes(8, "little")[:6],)


def _published_values(release):
    """Values that published cells name"""
    for o in release.roles.quasi_identifiers:
        for c in release.cells(o)[1]:
            ends = (c.lo, c.hi) if isinstance(c, Interval) else ()
            yield from (*ends, *getattr(c, "values", ()), getattr(c, "value", None))


def _told_by(tool, X):
    """Values of the table that a pickle holds and the release does not name"""
    saved, named = pickle.dumps(tool), set(_published_values(tool.release_))
    values = {v for o in X for v in X[o].tolist()}
    return [v for v in values - named if any(p in saved for p in _patterns(v))]


@pytest.mark.parametrize("cls", [*ANONYMIZERS, Ranges], ids=lambda c: c.__name__)
def test_a_saved_anonymizer_names_no_value_that_was_not_published(cls):
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"wage": rng.uniform(1e3, 1e5, 60), "number": rng.integers(2**42, 2**46, 60)})
    y = rng.choice(["a", "b"], 60)
    if cls is Ranges:
        tools = [Ranges(k=3, published=["number"]), Ranges(k=3, published=["wage"])]
    else:
        tools = [example(cls, X, k=4, **o) for o in ({}, *LESS_THAN_SETS.get(cls.__name__, ()))]
    for tool in tools:
        tool.fit(X, y)
        assert not _told_by(tool, X[list(tool.roles_.quasi_identifiers)])
        assert vars(tool).keys() >= {"attributes_", "recoder_", "release_"}


# options that publish less than all values
LESS_THAN_SETS = dict(
    MondrianAnonymizer=[
        dict(recoding="interval"),
        dict(recoding="interval", mode="infogain"),
        dict(recoding="ends"),
        dict(recoding="region"),
        dict(recoding="region", mode="infogain"),
    ],
    KActusAnonymizer=[dict(numeric="interval"), dict(numeric="path")],
    ERPAnonymizer=[dict(numeric="interval"), dict(numeric="interval", recoding="tiered")],
)


def test_a_pickle_that_holds_a_value_is_found():
    """The scan itself: an object with the domain of its table"""

    X = pd.DataFrame({"wage": [1200.5, 1300.25, 1400.75, 2100.5, 2200.25, 2300.75, 987654.5]})
    assert 1300.25 in _told_by(Hoarder(k=3).fit(X), X)
    assert not _told_by(Ranges(k=3).fit(X), X)


def test_ends_of_ranges_that_are_single_rows_are_said():
    """A method that does not say that it names them is warned of; those of the book say so"""
    X = pd.DataFrame({"salary": [1200, 1300, 1400, 2100, 2200, 2300, 987654]})
    tool = Ranges(k=3).fit(X)
    assert "ranges of salary end at values of single rows" in tool.release_.audit.warnings[-1]
    assert tool.attributes_[0].items == [1200, 1400, 2100, 987654]
    said = MondrianAnonymizer(k=3, recoding="interval").fit(X).release_.audit.warnings
    assert not any("single rows" in o for o in said)


def test_a_method_keeps_nothing_on_itself():
    """The object that works is a copy; what it returns beside the release has to be named"""

    class Hoarder(Ranges):
        def _publish(self, task):
            self.secret_ = self._rows = task.X
            return super()._publish(task)

    tool = Hoarder(k=3).fit(SHOP[["Age"]])
    assert not hasattr(tool, "secret_") and not hasattr(tool, "_rows")

    class Careless(Ranges):
        def _publish(self, task):
            return replace(super()._publish(task), domains=task.attributes)

    with pytest.raises(GuaranteeError, match="would keep values that it did not publish"):
        Careless(k=3).fit(SHOP[["Age"]])

    class Old(Ranges):
        def _publish(self, task):
            return super()._publish(task).columns

    with pytest.raises(TypeError, match="must return a Published"):
        Old(k=3).fit(SHOP[["Age"]])


# ---------- no state, no chance
def _told(est, X):
    """All that can be seen of a fitted object, comparable"""
    if type(est) in TRANSFORMERS:
        return pd.DataFrame(est.transform(X)), list(est.get_feature_names_out()), sorted(vars(est))
    if hasattr(est, "release_"):
        return est.release_.data, est.release_.audit, est.release_.schema, sorted(vars(est))
    return (
        pd.DataFrame(est.predict_proba(X)),
        list(est.predict(X)),
        list(est.classes_),
        sorted(vars(est)),
    )


def _same(a, b):
    assert_frame_equal(a[0], b[0], check_exact=True)
    assert a[1:] == b[1:]


@estimator
@given(data=st.data())
def test_no_state_between_calls(cls, data):
    """A second table on one object gives what it gives on a new one"""
    make = tasks if cls in ANONYMIZERS else lessons
    first, (X, y, p) = data.draw(make(cls)), data.draw(make(cls, missing=False))
    used = cls(**first[2])
    _fitted(used, *first[:2])
    fresh, used = (
        _fitted(cls(**p), X, y),
        _fitted(used.set_params(**cls().get_params(deep=False) | p), X, y),
    )
    if fresh is None:
        assert used is None
        return
    _same(_told(fresh, X), _told(used, X))


@estimator
def test_a_failing_fit_leaves_nothing(cls):
    for bad in (
        dict(X=PLACES[:0], y=BOUGHT[:0]),
        dict(X=PLACES, y=BOUGHT[:3]),
        dict(X=SHOP.Age, y=BOUGHT),
        dict(X=PLACES.set_axis([0.5, 1.5], axis=1), y=BOUGHT),
    ):
        if cls in TRANSFORMERS and bad["X"] is PLACES:
            continue  # it looks at no class
        est = example(cls, PLACES).fit(PLACES, BOUGHT)
        with pytest.raises((ValueError, TypeError)):
            est.fit(**bad)
        assert vars(est).keys() == est.get_params(deep=False).keys()
        for ask in ("predict", "predict_proba", "transform"):
            if hasattr(est, ask):
                with pytest.raises(NotFittedError):
                    getattr(est, ask)(PLACES)


SCRIPT = """
import hashlib, io, sys, tempfile
sys.path.insert(0, {tests!r})
from registry import ANONYMIZERS, CLASSIFIERS, example
from ppdt.datasets import make_population
t = make_population(200, random_state=0)
X, y, out = t[["education", "region"]], t["income"], []
for cls in ANONYMIZERS:
    with tempfile.TemporaryDirectory() as d:
        example(cls, X, k=5).anonymize(X, y).to_csv(d + "/out.csv")
        out += [open(d + "/" + o, "rb").read() for o in ("out.csv", "out.csv.schema.json")]
for cls in CLASSIFIERS: out.append(example(cls).fit(X, y).predict_proba(X).tobytes())
print(*[hashlib.sha256(o).hexdigest() for o in out])
"""


def test_the_same_bytes_in_another_process():
    """Not the seed of Python's hashes, on which the order of its sets hangs"""

    def run(seed):
        return subprocess.run(
            [sys.executable, "-W", "ignore", "-c", SCRIPT.format(tests=os.path.dirname(__file__))],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    a, b = run("1"), run("2")
    assert a == b and len(a.split()) == 2 * len(ANONYMIZERS) + len(CLASSIFIERS)


# ---------- classifiers
def _draws_ties(anonymizer):
    """Is it drawn who stands with whom among equal rows? Then their classes depend on the order"""
    if isinstance(anonymizer, (MondrianAnonymizer, TDSAnonymizer)):
        return getattr(anonymizer, "mode", "") == "relaxed"
    return anonymizer is not None


@classifier
@given(data=st.data(), seed=st.integers(0, 9))
def test_answers_are_probabilities_and_the_order_of_rows_and_columns_is_irrelevant(cls, data, seed):
    X, y, p = data.draw(lessons(cls, missing=False))
    est = _fitted(cls(**p), X, y)
    if est is None:
        return
    proba, order = est.predict_proba(X), np.random.default_rng(seed).permutation(len(X))
    # kACTUS and MiCT may lose all rows of a class
    learnt = est.anonymizer_.release_.y if cls is AnonymizedClassifier else y
    assert (
        list(est.classes_) == sorted(set(learnt))
        and proba.shape == (len(X), len(est.classes_))
        and (proba >= 0).all()
    )
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert est.predict(X).tolist() == est.classes_[proba.round(12).argmax(axis=1)].tolist()
    assert np.array_equal(
        est.predict_proba(X[X.columns[::-1]].iloc[order].set_axis([7] * len(X))), proba[order]
    )
    assert np.array_equal(pickle.loads(pickle.dumps(est)).predict_proba(X), proba)
    if _draws_ties(p.get("anonymizer")):
        return
    other = _fitted(cls(**p), X.iloc[order].set_axis([7] * len(X)), y.iloc[order].to_numpy())
    assert np.array_equal(other.predict_proba(X), proba)


@classifier
def test_columns_at_predict_are_those_of_fit(cls):
    est = example(cls, PLACES).fit(PLACES, BOUGHT)
    with pytest.raises(ValueError, match="Missing: Marital"):
        est.predict(PLACES[["Gender"]])
    with pytest.raises(ValueError, match="Unexpected: more"):
        est.predict(PLACES.assign(more=1))
    with pytest.raises(ValueError, match="'y' must be the class of each row. Got None"):
        est.fit(PLACES, None)
    A = PLACES.to_numpy(dtype=object)
    named, bare = est.fit(PLACES, BOUGHT).predict(PLACES), example(cls).fit(A, BOUGHT)
    assert (
        named.tolist() == bare.predict(A).tolist()
        and not hasattr(bare, "feature_names_in_")
        and bare.n_features_in_ == 2
    )


def _learnt(est):
    """A tree with its counts, a list of rules, or numbers of each column, byte for byte"""
    if hasattr(est, "counts_"):
        return est.counts_.tobytes(), [
            (
                c.name,
                c.code.kind,
                c.code.parts,
                *(
                    o.tobytes()
                    for o in ((c.x,) if c.code.kind == "numeric" else (c.block.toarray()[c.at],))
                ),
            )
            for c in est.columns_
        ]
    if hasattr(est, "encoder_"):
        grown = est.estimators_ if hasattr(est, "estimators_") else [est.classifier_]
        trees = [o.tree_ for o in grown]
        arrays = [o for t in trees for o in (t.feature, t.threshold, t.value)]
        return [(c.name, c.kind, c.parts) for c in est.encoder_.columns_], [
            o.tobytes() for o in arrays
        ]
    if hasattr(est, "priors_"):
        return est.priors_.tobytes(), [
            (
                c.name,
                c.kind,
                c.parts,
                *(np.asarray(o).tobytes() for o in (p if isinstance(p, tuple) else [p])),
            )
            for c, p in est.columns_
        ]
    return (
        tree_json(est.tree_, counts=True)
        if hasattr(est, "tree_")
        else [(o.tests, o.counts.tobytes()) for o in est.rules_]
    )


READERS = [o for o in CLASSIFIERS if o is not AnonymizedClassifier]


@anonymizer
@given(2, data=st.data(), learner=pick(*READERS), end=pick(".csv", ".parquet"))
def test_what_is_learnt_from_the_file_is_the_same(cls, learner, tmp_path_factory, data, end):
    X, y, p = data.draw(tasks(cls))
    r = _release(cls, X, y, p)
    if r is None:
        return
    path = tmp_path_factory.getbasetemp() / f"learn{end}"
    (r.to_csv if end == ".csv" else r.to_parquet)(path)
    back, options = (
        read_release(path),
        data.draw(REGISTRY[learner].options(X[p["quasi_identifiers"]], y, p)),
    )
    X = r.data[p["quasi_identifiers"]]
    if REGISTRY[learner].declared:
        X = X.assign(
            **{
                o: X[o].astype(back.data[o].dtype)
                for o in X
                if isinstance(X[o].dtype, pd.CategoricalDtype)
                and not any(isinstance(c, Cell) for c in X[o].cat.categories)
            }
        )
    a, b = (
        _fitted(learner(**options), X, y)
        for X, y in ((X, r.y), (back.data[p["quasi_identifiers"]], back.y))
    )
    assert (a is None) == (b is None)
    if a is not None:
        assert _learnt(a) == _learnt(b)


# ---------- in scikit-learn's company
SETS = "must hold values or sets of values"
CELL_READERS = [o for o in READERS if RAW not in REGISTRY[o].refuses]


@pytest.mark.parametrize("learner", READERS, ids=lambda o: o.__name__)
def test_raw_tables_in_pipelines_and_searches(learner):
    t = make_population(300, random_state=0)
    X, y = t[["education", "region"]], t["income"]
    pipe = make_pipeline("passthrough", example(learner))
    assert (pipe.fit(X, y).predict(X) == example(learner).fit(X, y).predict(X)).all()
    name = next(iter(example(learner).get_params()), None)
    grid = (
        {}
        if name is None
        else {f"{learner.__name__.lower()}__{name}": [example(learner).get_params()[name]]}
    )
    search = GridSearchCV(pipe, grid, cv=3, error_score="raise").fit(X, y)
    assert 0.4 < search.best_score_ <= 1 and not hasattr(pipe[-1], "release_")


def reader(cls, learner, columns):
    """The learner, which is told of the trees whose nodes a release may hold; None where it reads
    no nodes
    """
    trees = {
        o: t
        for o, t in (example(cls, columns).get_params(deep=False).get("taxonomies") or {}).items()
        if o in columns
    }
    if not trees:
        return example(learner)
    return example(learner, taxonomies=trees) if "taxonomies" in learner().get_params() else None


@anonymizer
@pytest.mark.parametrize("learner", CELL_READERS, ids=lambda o: o.__name__)
def test_pipelines_and_searches(cls, learner):
    """The release is made inside each fold, from its training rows alone"""
    t = make_population(300, random_state=0)
    X, y = t[["education", "region"]], t["income"]
    reads = reader(cls, learner, X)
    # it reads no nodes, and says so
    if reads is None:
        with pytest.raises((TypeError, ValueError), match="taxonom|sets of values"):
            AnonymizedClassifier(example(cls, X, k=7), example(learner)).fit(X, y)
        return
    both = AnonymizedClassifier(
        example(cls, X, k=7), reads, test="recoded" if example(cls).recodes_new_rows else "raw"
    )
    if REGISTRY[cls].centroids and SETS in REGISTRY[learner].refuses:  # a mode is no set
        with pytest.raises((TypeError, ValueError), match=SETS):
            both.fit(X, y)
        return
    res = cross_validate(
        both, X, y, cv=3, return_estimator=True, error_score="raise", scoring="roc_auc"
    )
    assert [
        len(o.anonymizer_.release_.data) + len(o.anonymizer_.release_.lost)
        for o in res["estimator"]
    ] == [200] * 3
    # a guess has .5, with a standard error of .02; raw rows teach about .79
    assert res["test_score"].mean() > 0.62
    assert all(o.anonymizer_.release_.audit.k >= 7 for o in res["estimator"])
    assert not hasattr(both, "anonymizer_") and not hasattr(both.anonymizer, "release_")
    assert len(cross_val_predict(both, X, y, cv=2, method="predict_proba")) == 300
    search = GridSearchCV(both, {"anonymizer__k": [2, 50]}, cv=2, error_score="raise").fit(X, y)
    assert search.best_estimator_.anonymizer_.k == search.best_params_["anonymizer__k"]
    if both.test == "raw":
        return
    pipe = make_pipeline(example(cls, X, k=7), reads).fit(X, y)
    assert (pipe.predict(X) == both.fit(X, y).predict(X)).all()
    k, step = f"{cls.__name__.lower()}__k", pipe.steps[0][0]
    assert k == f"{step}__k" and len(set(pipe.set_params(**{k: 300}).fit(X, y).predict(X))) == 1
