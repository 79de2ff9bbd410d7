"""Classes that were drawn before groups were formed: no reader's belief exceeds alpha."""

import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import assume, given, strategies as st

from ppdt.attacks import FittingRows, Matching, Rerun
from ppdt.clusters import ClusterAnonymizer
from ppdt.datasets import load_customers
from ppdt.diversity import Alpha, RandomizedResponse
from ppdt.erp import ERPAnonymizer
from ppdt.kactus import KActusAnonymizer
from ppdt.mict import MiCTAnonymizer
from ppdt.mondrian import MondrianAnonymizer
from ppdt.privacy import audit
from ppdt.release import read_release
from ppdt.tds import TDRAnonymizer

CUSTOMERS = load_customers()
X, Y = CUSTOMERS.drop(columns="Bought"), CUSTOMERS.Bought
ANSWERS = "no", "yes"
PROGRAMS = {
    "strict": (MondrianAnonymizer, {}, [Alpha(0.75)]),
    "infogain": (MondrianAnonymizer, {"mode": "infogain"}, []),
    "clusters": (ClusterAnonymizer, {}, [Alpha(0.75)]),
    "kactus": (KActusAnonymizer, {"numeric": "interval", "random_state": 0}, []),
    "erp": (ERPAnonymizer, {"recoding": "uniform", "random_state": 0}, []),
    "mict": (MiCTAnonymizer, {}, []),
    "tdr": (TDRAnonymizer, {}, []),
}
each_program = pytest.mark.parametrize("name", PROGRAMS)

tables = st.integers(4, 6).flatmap(
    lambda n: st.tuples(
        st.lists(st.tuples(st.integers(0, 3), st.sampled_from("xyz")), min_size=n, max_size=n),
        st.lists(st.sampled_from(ANSWERS), min_size=n, max_size=n),
    )
)


def program(name, alpha=None, seed=None):
    "A method with its bounds, and with drawn classes where alpha is given"
    kind, options, limits = PROGRAMS[name]
    drawn = [] if alpha is None else [RandomizedResponse(alpha, ANSWERS, random_state=seed)]
    return kind(k=2, constraints=[*limits, *drawn], **options)


def text_of(made, table, y):
    "What is published, or None"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # methods without a split say so
        try:
            return made.anonymize(table, y).text().to_csv(index=False)
        except ValueError:
            return None


def all_classes(n):
    "Every world of n people, 1 for yes"
    return np.array(list(itertools.product([0, 1], repeat=n)))


def beliefs_in_yes(shown, worlds, alpha):
    "By Bayes: over all true worlds, which are equally likely, and all draws that publish the same"
    agree = (worlds[:, None] == shown[None]).sum(axis=2)
    n = worlds.shape[1]
    weight = (alpha**agree * (1 - alpha) ** (n - agree)).sum(axis=1)
    return weight @ worlds / weight.sum()


def published_by(made, table):
    "For each text that may be published, the drawn classes that lead to it"
    found = {}
    for world in all_classes(len(table)):
        y = pd.Series([ANSWERS[v] for v in world], name="c")
        found.setdefault(text_of(made, table, y), []).append(world)
    found.pop(None, None)
    return {text: np.array(shown) for text, shown in found.items()}


@each_program
def test_few_people_whatever_is_published(name):
    "Every release that can come out, every world, every person: at most alpha"
    n = 7 if name in ("clusters", "infogain") else 6
    table = pd.DataFrame({"a": [0, 0, 1, 1, 2, 3, 3], "b": list("xyxxzyz")}).head(n)
    worlds = all_classes(n)
    without = program(name)
    releases = published_by(without, table)
    assert len(releases) > 1
    tops = []
    for shown in releases.values():
        yes = beliefs_in_yes(shown, worlds, 0.75)
        tops.append(np.maximum(yes, 1 - yes).max())
    assert 0.5 < max(tops) <= 0.75 + 1e-12
    plain = max(np.abs(shown.mean(axis=0) - 0.5).max() + 0.5 for shown in releases.values())
    assert plain > 0.75  # without the draws somebody is known better


@each_program
@one_in(50)
@given(drawn=tables, alpha=st.sampled_from([0.5, 0.6, 0.75, 0.9]), seed=st.integers(0, 9))
@pytest.mark.filterwarnings("ignore")
def test_belief_is_that_of_all_worlds_and_all_draws(name, drawn, alpha, seed):
    rows, classes = drawn
    table, y = pd.DataFrame(rows, columns=["a", "b"]), pd.Series(classes, name="c")
    made = program(name, alpha, seed)
    try:
        release = made.anonymize(table, y)
    except ValueError:
        assume(False)
    shown = published_by(program(name), table)[release.text().to_csv(index=False)]
    yes = beliefs_in_yes(shown, all_classes(len(table)), alpha)
    alike = pd.Series(yes).groupby([table.a, table.b]).transform("mean")
    again = Rerun(made, release, table)
    told = again.believe(table)
    assert again.n_kept == len(shown)
    np.testing.assert_allclose(told.shares[:, list(told.classes).index("yes")], alike)
    assert max(told.shares.max(), FittingRows(release).believe(table).shares.max()) < alpha + 1e-9


def test_a_list_of_everybody_and_a_second_look():
    release = program("strict", 0.75, 3).anonymize(X, Y.str.lower())
    believed = Matching(release, X).believe(X)
    np.testing.assert_allclose(believed.shares, FittingRows(release).believe(X).shares)
    assert believed.shares.max() <= 0.75 and not believed.is_certain.any()


@each_program
def test_what_leaves_the_house(name, tmp_path):
    made = program(name, 0.75, 12345)
    release = made.anonymize(X, Y.str.lower())
    assert "also of readers who run the program again" in made.guarantee
    assert release.audit.holds is True
    release.to_csv(tmp_path / "out.csv")
    written = [p.read_text() for p in tmp_path.iterdir()]
    assert len(written) == 2 and not any("12345" in o for o in written)
    assert b"12345" not in pickle.dumps(made) and "12345" not in repr(made)
    back = read_release(tmp_path / "out.csv")
    found = audit(back)
    assert found.holds is None  # no file shows that coins were tossed
    assert "randomized response" in found.promise
    own = program(name, 0.75, 12345).anonymize(X, Y.str.lower())
    assert own.text().equals(release.text())


def test_each_release_draws_anew_without_a_seed():
    made = MondrianAnonymizer(k=2, constraints=[RandomizedResponse(0.6, ["No", "Yes"])])
    shown = {tuple(made.anonymize(X, Y).y) for _ in range(8)}
    assert len(shown) > 1


def test_suppression_draws_once():
    "Rows are set aside and the rest is grouped anew: of the same answers"
    wish = RandomizedResponse(0.75, ["No", "Yes"])
    made = MondrianAnonymizer(k=3, suppression_limit=0.3, constraints=[wish])
    plain = MondrianAnonymizer(k=3, suppression_limit=0.3)
    release = made.anonymize(X, Y)
    assert len(release.lost)
    kept = np.setdiff1d(np.arange(len(X)), release.lost)
    assert plain.anonymize(X, Y).data.equals(release.data)  # which looks at no class
    assert (release.y.index == X.index[kept]).all()


def test_dtypes_and_refusals():
    for y in (Y == "Yes", (Y == "Yes").astype(int), Y.astype("category"), Y.astype("string")):
        values = list(y.unique())
        wish = RandomizedResponse(0.75, values, random_state=1)
        drawn = MondrianAnonymizer(k=3, constraints=[wish]).anonymize(X, y).y
        assert drawn.dtype == y.dtype
    two = RandomizedResponse(0.75, ["No", "Yes"])
    with pytest.raises(ValueError, match="one RandomizedResponse at most"):
        MondrianAnonymizer(k=2, constraints=[two, two]).fit(X, Y)
    with pytest.raises(ValueError, match="give it as y"):
        MondrianAnonymizer(k=2, constraints=[two]).fit(X)
    with pytest.raises(ValueError, match="must list all values"):
        MondrianAnonymizer(k=2, constraints=[two]).fit(X, Y.where(Y == "Yes"))
    with pytest.raises(ValueError, match="one row of each person first"):
        who = X.assign(who=range(len(X)))
        MondrianAnonymizer(k=2, person="who", constraints=[two]).fit(who, Y)
