"""Classes that were drawn before groups were formed: no reader's belief exceeds alpha."""

import itertools
import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from examples import one_in
from hypothesis import assume, given, strategies as st

from ppdt.attacks import FittingRows, Matching, Rerun
from ppdt.cli import main
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
    "tiers": (ERPAnonymizer, {"random_state": 0}, []),
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
    (drawn,) = [o for o in back.constraints if isinstance(o, RandomizedResponse)]
    assert (drawn.alpha, drawn.values) == (0.75, ANSWERS)
    told = FittingRows(back).believe(X)
    np.testing.assert_allclose(told.shares, FittingRows(release).believe(X).shares)
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


def test_a_data_owner_draws_a_class_and_a_reader_looks(tmp_path, monkeypatch, capsys):
    "By the command: the schema tells the chance, and no true release is called broken"
    monkeypatch.chdir(tmp_path)
    CUSTOMERS.to_csv("people.csv", index=False)
    asked = "people.csv --qi Gender,Marital,Age --class Bought --k 3 -o out.csv".split()
    coins = "--draw-class 0.75 --class-values No,Yes".split()
    assert main(["anonymize", *asked, *coins]) == 0
    assert "drawn: true with a chance of 0.75" in capsys.readouterr().out
    (entry,) = json.loads(Path("out.csv.schema.json").read_text())["promise"]["constraints"]
    assert entry["drawn"] == {"column": "Bought", "chance": 0.75, "values": ["No", "Yes"]}
    for words in (["verify", "out.csv"], ["verify", "out.csv", "--original", "people.csv"]):
        assert main(words) == 3
        shown = capsys.readouterr().out
        assert "BROKEN" not in shown and "no file shows that a class was drawn" in shown
    assert main(["audit", "out.csv", "--original", "people.csv"]) == 3
    shown = capsys.readouterr().out
    assert "DOES NOT HOLD" not in shown and "each value is true with a chance of 0.75" in shown
    assert main(["learn", "out.csv", "--folds", "2"]) == 0
    assert "Bought was drawn" in capsys.readouterr().out


def test_a_release_that_is_not_of_the_original_is_broken_still(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    wish = RandomizedResponse(0.75, ["No", "Yes"])
    MondrianAnonymizer(k=3, constraints=[wish]).anonymize(X, Y).to_csv("out.csv")
    CUSTOMERS.assign(Age=CUSTOMERS.Age + 40).to_csv("others.csv", index=False)
    assert main(["verify", "out.csv", "--original", "others.csv"]) == 1
    assert "BROKEN  original" in capsys.readouterr().out
    schema = Path("out.csv.schema.json")
    schema.write_text(schema.read_text().replace('"chance": 0.75', '"chance": 0.6'))
    assert main(["verify", "out.csv"]) == 1  # the words say another chance
    assert "BROKEN  words" in capsys.readouterr().out
    schema.write_text(schema.read_text().replace('"chance": 0.6', '"chance": 1.6'))
    assert main(["verify", "out.csv"]) == 2
    assert "to below 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--class Bought --draw-class 0.75", "--draw-class and --class-values must come together"),
        ("--publish Bought --draw-class 0.75 --class-values No,Yes", "must have a class to draw"),
        ("--class Bought --draw-class 0.4 --class-values No,Yes", "--draw-class must be from 0.5"),
        ("--class Bought --draw-class 0.9 --class-values No,Maybe", "the class has 'Yes'"),
        ("--class Bought --draw-class 0.9 --class-values No", "--class-values must list two"),
    ],
)
def test_what_the_command_refuses(words, told, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    CUSTOMERS.to_csv("people.csv", index=False)
    asked = "anonymize people.csv --qi Gender,Marital,Age --k 3 -o out.csv".split()
    assert main([*asked, *words.split()]) == 2
    assert told in capsys.readouterr().err and not Path("out.csv").exists()


def test_numbers_that_nobody_has_keep_their_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X.assign(n=[1, 2] * 7).to_csv("people.csv", index=False)
    asked = "people.csv --qi Gender,Marital,Age --class n --k 3 -o out.csv --t-closeness 1".split()
    assert main(["anonymize", *asked, *"--draw-class 0.5 --class-values 1,2,10".split()]) == 0
    assert set(read_release("out.csv").y.astype(str)) <= {"1", "2", "10"}
    assert "ordered distance" in capsys.readouterr().out


@one_in(4)
@given(t=st.floats(0.5, 0.95), share=st.floats(0, 1), many=st.integers(2, 5))
def test_scores_of_drawn_classes_are_undone(t, share, many):
    how = RandomizedResponse(t, range(many))
    drawn = t * share + (1 - t) / (many - 1) * (1 - share)
    found = how.undone(drawn, 100)
    if found is None:
        assert many == 2 and t == pytest.approx(0.5, abs=1e-6)
    else:
        assert found[0] == pytest.approx(share, abs=1e-6)
