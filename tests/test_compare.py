"""Methods compared for an owner: the rule keeps to its limits, the same seed gives the same table,
small and odd tables end in words, and the command writes what it says.
"""

import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import ready
from examples import one_in
from hypothesis import assume, given, strategies as st

from ppdt import cli
from ppdt.datasets import make_population
from ppdt.engine import comparing_runs
from ppdt.engine.command_words import CommandError
from ppdt.engine.comparing import compare
from ppdt.engine.comparing_choice import SAME_LOSS, best_lines, choose
from ppdt.engine.comparing_limits import LIMITED, USUAL_GAIN, WIDEST, Limits
from ppdt.engine.comparing_methods import METHODS
from ppdt.engine.comparing_result import About, Findings
from ppdt.engine.comparing_runs import folds_of
from ppdt.engine.comparing_screen import WIDTH, screen
from ppdt.engine.comparing_words import reasons, verdicts, what_must_give
from ppdt.engine.plans import Plan, PlannedColumn, read_plan

QI = ["age", "region", "education"]
QUIET = {"n_jobs": 1, "progress": False, "folds": 2}


# ---------------------------------------------------------------- the rule

shares = st.floats(0, 1).map(lambda v: round(v, 4))
some_limits = st.builds(
    Limits,
    most_risk=shares,
    most_gain=st.none() | shares,
    least_accuracy=st.none() | shares,
    most_loss=st.none() | shares,
)


@st.composite
def results(draw):
    """A table of results that nobody measured"""
    has_class, has_secret = draw(st.booleans()), draw(st.booleans())
    rows = []
    for mode, k in draw(
        st.lists(
            st.tuples(st.sampled_from(list(METHODS)), st.integers(1, 60)),
            min_size=1,
            max_size=12,
            unique=True,
        )
    ):
        row = {"mode": mode, "k": k, "k_found": k, "risk": draw(shares), "loss": draw(shares)}
        gain, wide = draw(st.floats(-1, 1)), draw(st.floats(0, 0.5))
        low, high = max(gain - wide, -1.0), min(gain + wide, 1.0)
        row |= {"gain": gain, "gain_low": low, "gain_high": high}
        row |= {"accuracy": draw(shares), "accuracy_se": draw(st.floats(0, 0.1))}
        row |= {"failed": draw(st.sampled_from(["", "", "", "too few rows"]))}
        row |= {"known": draw(shares), "alone": draw(shares), "lost": draw(shares), "auc": 0.5}
        rows.append(row | {"reader": "forest", "gain_guess": 0.0})
    t = pd.DataFrame(rows)
    numbers = [o for o in t if o not in ("mode", "k", "failed", "reader")]
    t[numbers] = t[numbers].astype(float)
    t.loc[t.failed != "", numbers] = math.nan
    if not has_class:
        t[["accuracy", "accuracy_se", "auc"]] = math.nan
    if not has_secret:
        t[["gain", "gain_low", "gain_high"]] = math.nan
    return t.sort_values(["mode", "k"], kind="stable").reset_index(drop=True)


def keeps(row, limits):
    """Does a line keep all limits? Written down once more, by somebody who reads the sentences"""
    if row.failed or row.risk > limits.most_risk + 1e-9:
        return False
    if limits.most_loss is not None and row.loss > limits.most_loss + 1e-9:
        return False
    if limits.least_accuracy is not None and not row.accuracy >= limits.least_accuracy - 1e-9:
        return False
    if math.isnan(row.gain):
        return True
    if limits.most_gain is not None:
        return row.gain <= limits.most_gain + 1e-9
    narrow = row.gain_low <= 0 and row.gain_high - row.gain_low <= WIDEST
    return row.gain <= USUAL_GAIN + 1e-9 or narrow


@one_in(2)
@given(results(), some_limits)
def test_the_recommendation_never_breaks_a_limit(t, limits):
    found = choose(t, limits)
    passing = [i for i, row in t.iterrows() if keeps(row, limits)]
    assert list(found.passing) == passing
    assert (found.at is None) == (not passing)
    if passing:
        assert found.at in passing


@one_in(4)
@given(results(), some_limits)
def test_the_rule_takes_the_least_loss_among_the_best(t, limits):
    found = choose(t, limits)
    assume(found.at is not None)
    passing, best = t.loc[list(found.passing)], t.loc[found.at]
    if passing.accuracy.notna().any():
        top = passing.accuracy.max()
        error = passing.accuracy_se[passing.accuracy == top].max()
        passing = passing[passing.accuracy >= top - 2 * error - 1e-12]
        assert best.accuracy >= top - 2 * error - 1e-12
    assert best.loss < passing.loss.min() + SAME_LOSS
    rank = list(METHODS).index
    alike = passing[passing.loss < passing.loss.min() + SAME_LOSS]
    assert rank(best["mode"]) == min(map(rank, alike["mode"]))


@one_in(4)
@given(results(), some_limits)
def test_where_nothing_passes_what_gives_is_enough(t, limits):
    found = choose(t, limits)
    assume(found.at is None)
    for way in found.ways:
        assert set(way.needs) <= set(LIMITED)
        given_up = {o: min(max(v, 0), 1) for o, v in way.needs.items()}
        told = {o: getattr(limits, o) for o in LIMITED} | given_up
        line = t[(t["mode"] == way.mode) & (t.k == way.k)].iloc[0]
        assert keeps(line, Limits(**told))
    if any(t.failed == ""):
        readable = limits.least_accuracy is None or t.accuracy.notna().any()
        assert bool(found.ways) == readable


@one_in(4)
@given(results(), some_limits, st.randoms())
def test_the_order_of_the_lines_does_not_matter(t, limits, chance):
    order = list(range(len(t)))
    chance.shuffle(order)
    u = t.iloc[order].reset_index(drop=True)
    a, b = choose(t, limits), choose(u, limits)
    if a.at is None:
        assert b.at is None
    else:
        one, other = t.loc[a.at], u.loc[b.at]
        assert (one["mode"], one.k) == (other["mode"], other.k)


@one_in(8)
@given(results(), some_limits)
def test_words_and_screen_tell_what_the_rule_said(t, limits):
    found = choose(t, limits)
    t["verdict"] = verdicts(t, found)
    row = dict.fromkeys(t.columns, math.nan) | {"risk": 1.0, "k": 1, "accuracy": 0.9}
    beside = pd.DataFrame([row, row], index=["raw", "majority"])
    beside["accuracy_se"] = 0.01
    about = About("people", 900, 500, 300, 3, ("age",), "income", None, "low", {}, ())
    f = Findings(t, beside, limits, found, about)
    told = screen(f)
    assert told.startswith("INTERNAL")
    assert all(len(o) <= WIDTH for o in told.splitlines())
    assert "nan" not in re.sub(r"[a-z]*nan[a-z]+|[a-z]+nan", "", told)
    if found.at is None:
        assert "Nothing can be recommended" in told
        assert len(what_must_give(f)) == len(found.ways)
    else:
        assert f"Recommended: {t['mode'][found.at]} with k = {t.k[found.at]}." in told
        assert list(t.verdict).count("recommended") == 1
    best = best_lines(t, found, limits)
    assert list(t.loc[best, "mode"]) == list(dict.fromkeys(t["mode"]))


def test_a_gain_of_few_people_is_not_taken_for_none():
    "Of few people every interval holds 0: that is no proof that nothing is gained"
    line = {"mode": "strict", "k": 5, "risk": 0.2, "loss": 0.1, "failed": ""}
    line |= {"accuracy": math.nan, "accuracy_se": math.nan, "gain": 0.2}
    wide = pd.DataFrame([line | {"gain_low": -0.1, "gain_high": 0.5}])
    narrow = pd.DataFrame([line | {"gain": 0.06, "gain_low": -0.01, "gain_high": 0.13}])
    assert choose(wide).at is None
    assert choose(narrow).at == 0
    assert choose(narrow, Limits(most_gain=0.05)).at is None


@pytest.mark.parametrize("name", ["most_risk", "most_gain", "least_accuracy", "most_loss"])
@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, "0.2", True])
def test_limits_are_shares(name, value):
    with pytest.raises((ValueError, TypeError), match=f"'{name}' must be a number from 0 to 1"):
        Limits(**{name: value})


# ---------------------------------------------------------------- folds


@given(st.integers(6, 60), st.integers(2, 4), st.integers(0, 9))
def test_everybody_is_held_out_once_and_never_beside_himself(n, folds, seed):
    rng = np.random.default_rng(seed)
    who = rng.integers(0, max(folds, n // 2), n)
    who[:folds] = range(folds)
    y = pd.Series(rng.choice(["a", "b"], n))
    for groups in (None, who):
        parts = folds_of(n, folds, y, groups, seed)
        assert sorted(np.concatenate([b for _, b in parts])) == list(range(n))
        for a, b in parts:
            assert not set(a) & set(b)
            if groups is not None:
                assert not set(who[a]) & set(who[b])


# ---------------------------------------------------------------- whole comparisons


@pytest.fixture(scope="module", autouse=True)
def small_forests():
    """A forest of 100 trees takes a second a release, and says nothing more about tables and words;
    the command, in a process of its own, has them all
    """
    whole = comparing_runs.readers

    def small():
        found = whole()
        found["forest"].set_params(n_estimators=5)
        found["drawn"].set_params(n_draws=2)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparing_runs, "readers", small)
        yield


@pytest.fixture(scope="module")
def people():
    t = make_population(240, 1)
    return t[QI], t.income, t.diagnosis if "diagnosis" in t else None


@pytest.fixture(scope="module")
def usual(people):
    X, y, _ = people
    return compare(X, y, modes=["strict", "mdav"], ks=[2, 10], **QUIET)


def test_the_same_seed_gives_the_same_table(people, usual):
    X, y, _ = people
    again = compare(X, y, modes=["strict", "mdav"], ks=[10, 2, 2], **(QUIET | {"n_jobs": 2}))
    pd.testing.assert_frame_equal(usual.table, again.table)
    pd.testing.assert_frame_equal(usual.beside, again.beside)
    assert str(usual) == str(again)


def test_numbers_are_what_they_are_called(usual):
    t = usual.table
    assert (t.failed == "").all()
    assert (t.k_found >= t.k).all() and (t.risk <= 1 / t.k + 1e-12).all()
    for o in ("known", "alone", "loss", "lost", "accuracy", "auc"):
        assert t[o].between(0, 1).all(), o
    assert ((t.gain_low <= t.gain) & (t.gain <= t.gain_high)).all()
    assert usual.beside.loss["raw"] == 0 and usual.beside.risk["raw"] == 1
    assert usual.beside.accuracy["majority"] == pytest.approx(people_share(usual), abs=1e-12)
    assert set(t.reader) <= {"logistic", "drawn", "forest", "c45"}


def people_share(found):
    t = make_population(240, 1)
    return (t.income == found.about.majority).mean()


def test_page_and_picture(usual):
    page = usual.page()
    assert page == usual.page()
    assert "INTERNAL" in page[: page.index("<h1")] and "<script" not in page
    assert not re.search(r"(src|href)=.https?:", page)
    assert usual.recommended is None or f"with k = {usual.recommended.k}" in page
    ax = usual.plot()
    assert ax.get_title(loc="right") == "INTERNAL"
    assert "INTERNAL" in usual._repr_html_()


def test_names_are_escaped(people):
    X, _, _ = people
    odd = X.rename(columns={"region": "<b>region</b>"})
    found = compare(odd, modes=["strict"], ks=[2], name="<i>people</i>", **QUIET)
    assert "<b>region" not in found.page() and "<i>people" not in found.page()


def test_without_a_class_the_loss_decides(people):
    X, y, _ = people
    found = compare(X, modes=["strict", "cluster"], ks=[2, 5], **QUIET)
    assert not found.has_accuracy and not found.has_gain
    t = found.table
    at = t[(t["mode"] == found.recommended.mode) & (t.k == found.recommended.k)].iloc[0]
    assert at.loss <= t[t.risk <= 0.2].loss.min() + SAME_LOSS
    assert "accuracy" not in str(found) and "gain, %" not in str(found)
    secret = X.assign(income=y)
    found = compare(secret, modes=["strict"], ks=[5], sensitive="income", **QUIET)
    assert found.has_gain and not found.has_accuracy
    assert "income" in str(found)
    found.page(), found.plot()


def test_a_class_of_one_value_is_none(people):
    X, _, _ = people
    found = compare(X, pd.Series("all", X.index, name="sick"), ks=[5], modes=None, **QUIET)
    assert "needs a class" in found.about.left_out["infogain"]
    assert not found.has_accuracy and "one value only (all)" in str(found)
    assert found.recommended.k == 5


def test_twenty_people(people):
    X, y, _ = people
    modes = ["strict", "mict", "kactus"]
    found = compare(X[:20], y[:20], modes=modes, ks=[3, 25], **QUIET)
    too_large = found.table[found.table.k == 25]
    assert too_large.failed.str.contains("more than the 10 people").all()
    assert (too_large.verdict == "failed").all()
    told = str(found)
    assert "k = 25" in told or found.recommended is None
    found.page(), found.plot()


def test_k_beyond_everybody(people):
    X, y, _ = people
    found = compare(X[:20], y[:20], modes=["strict"], ks=[50], **QUIET)
    assert found.recommended is None and reasons(found)
    assert "Nothing could be tried" in str(found)
    found.page(), found.plot()


def test_rows_of_a_person_stay_together(people):
    X, y, _ = people
    visits = X.assign(who=np.arange(len(X)) // 2)
    found = compare(visits, y, QI, ["strict", "cluster"], [3], person="who", **QUIET)
    assert (found.table.failed == "").all()
    assert (found.table.k_found >= 3).all()
    assert "who" not in found.about.quasi_identifiers


def test_unknown_classes_and_dropped_rows_are_told(people):
    X, y, _ = people
    X, y = X.copy(), y.astype(object).copy()
    X.iloc[:3, 0] = np.nan
    y.iloc[5:9] = None
    found = compare(X, y, modes=["strict"], ks=[2], missing="drop", **QUIET)
    assert found.about.n == len(X) - 3 - 4
    assert any(o.startswith("3 rows were left out") for o in found.about.notes)
    assert any(o.startswith("4 rows were left out") for o in found.about.notes)


def test_empty_fields_stop_a_comparison_that_cannot_be_made(people):
    X, y, _ = people
    X = X.copy()
    X.iloc[:3, 0] = np.nan
    with pytest.raises(ValueError, match="missing"):
        compare(X, y, modes=["strict"], ks=[2], **QUIET)


@pytest.mark.parametrize(
    "told, words",
    [
        ({"ks": [0]}, "'ks' must be an integer of at least 1"),
        ({"ks": []}, "'ks' must hold a k"),
        ({"folds": 1}, "'folds' must be an integer of at least 2"),
        ({"rows": 1}, "'rows' must be an integer"),
        ({"modes": ["stritc"]}, "'modes' must be of strict"),
        ({"modes": []}, "'modes' must hold a method"),
        ({"quasi_identifiers": ["agee"]}, "agee"),
        ({"sensitive": "agee"}, "must have a column 'agee'"),
        ({"limits": 5}, "'limits' must be Limits"),
    ],
)
def test_wrong_parameters(people, told, words):
    X, y, _ = people
    with pytest.raises((ValueError, TypeError), match=words):
        compare(X, y, **({"modes": ["strict"], "ks": [2]} | QUIET | told))


def test_a_mode_that_is_refused_stays_out(people):
    X, y, _ = people
    modes = ["strict", "mdav"]
    found = compare(X, y, modes=modes, ks=[2], recoding="interval", **QUIET)
    assert list(found.table["mode"]) == ["strict"]
    assert "averages" in found.about.left_out["mdav"]


# ---------------------------------------------------------------- the command


def program(*words, cwd):
    """Runs the command as a program of its own"""
    return ready.command(*words, cwd=cwd)


@pytest.fixture
def planned(tmp_path, people):
    """A folder with a file and its plan"""
    X, y, _ = people
    t = X.assign(name=[f"person {i}" for i in range(len(X))], income=y)
    t.to_csv(tmp_path / "people.csv", index=False)
    roles = {"income": "class", "name": "identifier"}
    kinds = {"age": "number"}
    columns = tuple(
        PlannedColumn(o, roles.get(o, "quasi-identifier"), kinds.get(o, "word")) for o in t
    )
    text = "# checked by me\n" + Plan("people.csv", columns).to_toml()
    (tmp_path / "plan.toml").write_text(text)
    return tmp_path


SMALL = ("--modes", "strict", "--k", "2,10", "--folds", "2", "--jobs", "1")


def test_compare_writes_page_table_and_choice(planned):
    out = ("-o", "compare.html", "--csv", "compare.csv", "--choose", "--most-gain", "1")
    r = program("compare", "plan.toml", *SMALL, *out, cwd=planned)
    assert r.returncode == 0, r.stderr
    assert r.stderr == "" and r.stdout.startswith("INTERNAL")
    t = pd.read_csv(planned / "compare.csv")
    assert list(t.k) == [2, 10]
    line = t[t.verdict == "recommended"].iloc[0]
    plan = read_plan(planned / "plan.toml")
    assert (plan.mode, plan.k) == (line["mode"], line.k)
    text = (planned / "plan.toml").read_text()
    assert text.startswith("# checked by me\n") and "# ppdt compare: of 2 releases" in text
    page = (planned / "compare.html").read_text()
    assert "INTERNAL" in page and str(planned) not in page and "person 1" not in page
    assert str(planned) not in r.stdout
    done = program("anonymize", "plan.toml", "-o", "release.csv", cwd=planned)
    assert done.returncode == 0, done.stderr


def test_nothing_passes_and_nothing_is_written_into_the_plan(planned):
    before = (planned / "plan.toml").read_bytes()
    one = ("--modes", "strict", "--k", "10", "--folds", "2", "--jobs", "1")
    args = (*one, "--choose", "--least-accuracy", "1")
    r = program("compare", "plan.toml", *args, cwd=planned)
    assert r.returncode == 1, r.stderr
    assert "Nothing can be recommended" in r.stdout and "least accuracy to" in r.stdout
    assert (planned / "plan.toml").read_bytes() == before
    assert sorted(p.name for p in planned.iterdir()) == ["people.csv", "plan.toml"]


@pytest.mark.parametrize(
    "words, told",
    [
        (("--k", "2,x"), "--k 2,5,10,25"),
        (("--modes", "stritc"), "--modes strict,cluster"),
        (("--most-risk", "5"), "--most-risk must be a number from 0 to 1"),
        (("--folds", "1"), "at least 2"),
        (("-o", "page.pdf"), "-o must name a file that ends in .html"),
        (("--csv", "nowhere/t.csv"), "--csv must be in a folder that there is"),
        (("--modes", "lattice"), "needs taxonomies"),
    ],
)
def test_wrong_commands(planned, monkeypatch, capsys, words, told):
    monkeypatch.chdir(planned)
    assert cli.main(["compare", "plan.toml", *words]) == 2
    found = capsys.readouterr()
    assert told in found.err and found.err.count("\n") == 1 and found.out == ""
    assert sorted(p.name for p in Path().iterdir()) == ["people.csv", "plan.toml"]


def test_no_plan(planned, monkeypatch, capsys):
    monkeypatch.chdir(planned)
    assert cli.main(["compare", "plann.toml"]) == 2
    assert "there is no plan" in capsys.readouterr().err


def test_the_help_is_fast_and_names_the_command(planned):
    code = "import sys; from ppdt import cli; cli.main(['compare', '--help'])"
    code = f"try:\n {code}\nexcept SystemExit:\n pass\nassert 'pandas' not in sys.modules"
    r = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    assert "--most-risk" in r.stdout and "INTERNAL" in r.stdout


def test_a_choice_that_does_not_fit_is_an_error():
    from ppdt.engine.comparing_command import chosen_plan

    line = {"mode": "strict", "k": 5, "risk": 0.2, "gain": math.nan, "loss": 0.1, "failed": ""}
    t = pd.DataFrame([line | {"accuracy": math.nan, "accuracy_se": math.nan}])
    f = Findings(t, t, Limits(), choose(t), About("", 9, 9, 6, 3, ("age",)))
    plan = Plan("people.csv", (PlannedColumn("age", "quasi-identifier", "number"),)).to_toml()
    assert read_text_plan(chosen_plan(plan, f)).k == 5
    assert issubclass(CommandError, Exception)


def read_text_plan(text):
    from ppdt.engine.plans import plan_from_text

    return plan_from_text(text)
