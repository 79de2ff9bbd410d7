"""Is the table beside it the original? Tables that were overwritten, shuffled, cut and swapped,
with every method, in memory and in files.
"""

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import given, strategies as st
from registry import ANONYMIZERS, REGISTRY, tasks

from ppdt.cli import main
from ppdt.datasets import load_customers
from ppdt.engine import fits
from ppdt.erp import ERPAnonymizer
from ppdt.loss import gcp
from ppdt.mondrian import MondrianAnonymizer
from ppdt.privacy import audit
from ppdt.release import read_release
from ppdt.tables import Centroid, Interval, Suppressed, cell_column

CUSTOMERS = load_customers()
QIS = ["Gender", "Marital", "Age"]
X = CUSTOMERS[QIS].reset_index(drop=True)
R = MondrianAnonymizer(3).anonymize(X)


def shuffled(t, seed=0):
    order = np.random.default_rng(seed).permutation(len(t))
    return t.iloc[order].reset_index(drop=True)


def told(a):
    return a.true_rows, a.true_by, a.truthful, a.holds


# ---------- the true original
def test_the_original_is_found_in_any_order():
    for original in (X, shuffled(X), pd.concat([shuffled(X), X + X])):
        for data in (R, R.data, shuffled(R.data)):
            a = audit(data, QIS, 3, original=original)
            assert (a.true_rows, a.truthful, a.holds) == (14, True, True) and not a.warnings
    assert told(audit(R.data, original=X)) == (14, "row by row", True, None)
    assert told(audit(shuffled(R.data), original=X)) == (14, "matching", True, None)
    assert "each of 14 rows can be one of the original's" in str(
        audit(shuffled(R.data), original=X)
    )


def test_labels_find_the_rows():
    names = pd.Index([f"patient {i}" for i in range(14)])
    data, original = R.data.set_axis(names), X.set_axis(names)
    assert told(audit(data, original=original[::-1]))[:3] == (14, "row by row", True)
    # the labels say whose row it is, so that a row of somebody else does not count
    swapped = data.set_axis(names[::-1])
    found = audit(swapped, k=3, original=original)
    assert found.true_rows < 14 and found.true_by == "row by row" and found.holds is False
    assert audit(swapped.reset_index(drop=True), original=original).truthful


@pytest.mark.parametrize("cls", ANONYMIZERS, ids=lambda c: c.__name__)
@one_in(25)
@given(data=st.data(), end=st.sampled_from([".csv", ".parquet"]))
def test_every_release_is_true_beside_its_original(cls, data, end, tmp_path_factory):
    X, y, p = data.draw(tasks(cls))
    try:
        r = cls(**p).anonymize(X, y)
    except ValueError as e:
        assert any(o in str(e) for o in REGISTRY[cls].impossible)
        return
    assert r.audit.truthful in (True, None) and r.audit.holds is not False
    if not len(r.data):
        return
    path = tmp_path_factory.mktemp("o") / f"o{end}"
    r.to_csv(path) if end == ".csv" else r.to_parquet(path)
    back = read_release(path)
    original = X.sample(frac=1, random_state=0)
    told = audit(
        back,
        original=original,
        categorical=p["categorical"],
        taxonomies=p.get("taxonomies")
        and {o: t for o, t in p["taxonomies"].items() if o in back.data},
    )
    assert told.truthful in (True, None) and told.holds is not False
    assert told.true_rows in (len(r.data), None)


# ---------- another table
@pytest.mark.parametrize("order", ["same", "shuffled", "said"])
def test_overwritten_tables_are_not_the_original(order):
    rows = shuffled(X) if order == "shuffled" else X
    lost = [] if order == "said" else None
    for data in (
        rows.assign(Age=22, Gender="Male", Marital="Married"),
        rows.assign(Age=rows.Age + 50),
        rows.assign(Age=cell_column([0] * 14, [Interval(200, 300)])),
        rows.assign(Gender=rows.Gender.iloc[::-1].to_numpy(), Age=rows.Age.iloc[0]),
    ):
        a = audit(data, QIS, 1, original=X, lost=lost)
        assert a.truthful is False and a.holds is False and a.true_rows < 14
        assert "values of the original: DOES NOT HOLD" in str(a)
        assert any("rows hold the original's values" in o for o in a.warnings)
        assert a.gcp > 0.3, "what is not true is lost"
    a = audit(rows.assign(Age=rows.Age + 90), QIS, original=X, lost=lost)
    assert a.true_rows == 0 and a.gcp == a.ncp if lost is None else a.true_rows == 0
    assert lost is not None or a.gcp == 1


def test_one_row_of_fourteen():
    data = R.data.copy()
    data["Age"] = X.Age.astype(object)
    data.loc[3, "Age"] = 99
    data["Age"] = data.Age.astype(int)
    for t, how in ((data, "matching"), (shuffled(data), "matching")):
        assert told(audit(t, original=X)) == (13, how, False, False)
    assert told(audit(data, original=X, lost=[])) == (13, "row by row", False, False)


def test_no_two_rows_are_the_same_person():
    original = pd.DataFrame({"x": [1, 2, 3, 4]})
    a = audit(pd.DataFrame({"x": [1, 1, 1, 2]}), original=original)
    assert told(a) == (2, "matching", False, False)
    assert a.gcp == 0.5


def test_missing_cells_are_suppressed_ones():
    gone = X.assign(Age=X.Age.astype(float).mask(X.index < 7))
    a = audit(gone, QIS, 1, original=X)
    assert a.true_rows == 7 and a.holds is False and a.gcp >= 1 / 6
    assert gcp(gone, X) == pytest.approx(7 / 14 / 3)
    everything = pd.DataFrame({o: [np.nan] * 14 for o in QIS})
    assert gcp(everything, X) == gcp(everything, X, lost=[]) == 1
    assert audit(everything, original=X).gcp == audit(everything, original=X, lost=[]).gcp == 1
    stars = pd.DataFrame({o: cell_column([0] * 14, [Suppressed()]) for o in QIS})
    assert audit(stars, original=X).truthful and audit(stars, original=X).gcp == 1


# ---------- what cannot be known, or costs too much
def test_representatives_claim_nothing():
    t = pd.DataFrame({"Age": cell_column([0] * 14, [Centroid(999.0)])})
    assert told(audit(t, original=X)) == (None, None, None, None)


def test_where_there_are_too_many_pairs_rows_are_counted(monkeypatch):
    true, false = shuffled(R.data), shuffled(R.data.assign(Age=X.Age + 50))
    for name, n in (("MAX_EDGES", 3), ("MAX_PAIRS", 3)):
        monkeypatch.setattr(fits, name, n)
        a = audit(true, k=3, original=X)
        assert told(a) == (14, "counting", None, True)
        assert "not settled" in a.warnings[-1] and "truthful" not in str(a)
        a = audit(false, k=1, original=X)
        assert a.true_rows < 14 and a.holds is False and "NO:" in str(a)
    assert a.true_by == "counting" and "NO: at most" in str(a)


@one_in(3)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.lists(st.integers(0, 3), max_size=6))
def test_counting_never_says_less_than_matching(published, others):
    data = pd.DataFrame({"x": published})
    original = pd.DataFrame({"x": (others + [0] * len(published))[: max(len(published), 6)]})
    most = audit(data, original=original)
    best = sum(min(published.count(v), original.x.tolist().count(v)) for v in set(published))
    assert most.true_rows == best
    with pytest.MonkeyPatch.context() as m:
        for name in ("MAX_EDGES", "MAX_PAIRS"):
            m.setattr(fits, name, 0)
            assert audit(shuffled(data), original=original).true_rows >= best


# ---------- the command
@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    CUSTOMERS.to_csv("shop.csv", index=False)
    CUSTOMERS[::-1].to_csv("backwards.csv", index=False)
    CUSTOMERS.assign(Age=CUSTOMERS.Age + 50).to_csv("older.csv", index=False)
    told = ["--qi", ",".join(QIS), "--class", "Bought", "-o", "out.csv", "--k", "3"]
    assert main(["anonymize", "shop.csv", *told]) == 0


def test_the_command_says_whether_it_is_the_original(files, capsys):
    capsys.readouterr()
    for name in ("shop.csv", "backwards.csv"):
        assert main(["audit", "out.csv", "--k", "3", "--original", name]) == 0
        assert "truthful              yes, each of 14 rows" in capsys.readouterr().out
    assert main(["audit", "out.csv", "--k", "3", "--original", "older.csv"]) == 1
    out = capsys.readouterr().out
    assert "truthful              NO:" in out and "DOES NOT HOLD" in out


def test_erp_releases_can_be_matched():
    y = CUSTOMERS.Bought.reset_index(drop=True)
    r = ERPAnonymizer(3, random_state=0).anonymize(X, y)
    assert audit(shuffled(r.data), original=X).truthful


# ---------- columns that go out as they are
@pytest.mark.parametrize("end", [".csv", ".parquet"])
@pytest.mark.parametrize("order", ["same", "shuffled"])
def test_a_class_or_column_that_was_changed_is_found(end, order, tmp_path, capsys):
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"age": rng.integers(20, 60, 60), "visits": rng.integers(0, 5, 60)})
    people["born"] = pd.date_range("2001", periods=60)
    people["plan"] = rng.choice(["a", "b"], 60)
    r = MondrianAnonymizer(3, quasi_identifiers=["age"], published=["visits", "born"])
    r = r.anonymize(people.drop(columns="plan"), people.plan)
    path = tmp_path / f"o{end}"
    r.to_csv(path) if end == ".csv" else r.to_parquet(path)
    rows = shuffled(people) if order == "shuffled" else people
    changed = {
        "visits": rows.assign(visits=rows.visits.where(rows.index != 3, 77)),
        "plan": rows.assign(plan=rows.plan.where(rows.index != 3, "c")),
        "born": rows.assign(born=rows.born + pd.Timedelta(days=400)),
    }
    rows.to_csv(tmp_path / "true.csv", index=False)
    for original in (rows, rows[["age"]]):
        for release in (r, read_release(path)):
            a = audit(release, original=original)
            assert a.truthful and a.holds
    assert main(["audit", str(path), "--original", str(tmp_path / "true.csv")]) == 0
    for name, original in changed.items():
        for release in (r, read_release(path)):
            a = audit(release, original=original)
            assert a.truthful is False and a.holds is False
            assert any(repr(name) in o and "not the original's" in o for o in a.warnings)
        original.to_csv(tmp_path / "changed.csv", index=False)
        capsys.readouterr()
        assert main(["audit", str(path), "--original", str(tmp_path / "changed.csv")]) == 1
        assert repr(name) in capsys.readouterr().out


def test_values_that_are_frequent_enough_and_stand_in_wrong_rows():
    t = pd.DataFrame({"x": [1] * 4, "a": list("ppqq"), "b": list("rrss")})
    other = t.assign(b=list("rsrs"))
    a = audit(t, ["x"], original=other)
    assert a.truthful is False and any("'a', 'b'" in o for o in a.warnings)
    # labels say which row it is
    names = pd.Index(["u", "v", "w", "z"])
    a = audit(t.set_axis(names), ["x"], original=other.set_axis(names))
    assert (a.true_rows, a.true_by) == (2, "row by row")


def test_a_column_that_was_read_in_two_ways_is_left_out():
    t = pd.DataFrame({"x": [1] * 4, "n": ["1", "2", "3", "4"]})
    assert audit(t, ["x"], original=t.assign(n=[1, 2, 3, 4])).truthful


def test_a_class_that_stands_in_other_rows_is_found_by_matching():
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"age": rng.integers(20, 60, 60)})
    plan = pd.Series(np.where(people.age > 40, "a", "b"), name="plan")
    r = MondrianAnonymizer(3).anonymize(people, plan)
    data = shuffled(r.data.assign(plan=r.y))
    true = shuffled(people.assign(plan=plan), 1)
    assert audit(data, ["age"], y="plan", original=true).truthful
    other = true.assign(plan=true.plan.sample(frac=1, random_state=0).to_numpy())
    a = audit(data, ["age"], 3, y="plan", original=other)
    assert a.truthful is False and a.holds is False and a.true_by == "matching"
