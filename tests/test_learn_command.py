"""`ppdt learn`, `ppdt predict` and `ppdt publish`: a tree learnt from a file is the one learnt from
the release, its file answers as it does, and what is written tells no more than it may.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import ready
from examples import one_in
from hypothesis import given, strategies as st

from ppdt import cli
from ppdt.c45 import C45Classifier, PARTClassifier
from ppdt.clusters import ClusterAnonymizer
from ppdt.datasets import load_customers, make_population
from ppdt.engine.asked_models import model_from_text
from ppdt.engine.asked_scores import answers_to
from ppdt.engine.command_words import CommandError
from ppdt.engine.learning_files import learn_file
from ppdt.engine.learning_kadet import learn_kadet_plan
from ppdt.engine.plan_command import anonymize_plan
from ppdt.engine.plan_tables import planned_table
from ppdt.engine.plans import read_plan
from ppdt.engine.predicting_files import predict_file
from ppdt.engine.publishing_trees import FORMS, publish_tree
from ppdt.engine.rule_files import rules_from_json, rules_json
from ppdt.engine.tree_people import AskedColumn, AskedPeople, people_of, with_people
from ppdt.erp import ERPAnonymizer
from ppdt.generalization import Taxonomy
from ppdt.id3_sets import GeneralizedID3Classifier
from ppdt.kactus import KActusAnonymizer
from ppdt.kadet import KADETClassifier, read_published
from ppdt.lattice import LatticeAnonymizer
from ppdt.mict import MiCTAnonymizer
from ppdt.mondrian import MondrianAnonymizer
from ppdt.tables import TextFormError, read_text
from ppdt.trees import tree_from_json, tree_json, tree_schema

QI = ["age", "education", "region"]
BANDS = {f"{10 * o}s": {a: None for a in range(10 * o, 10 * o + 10)} for o in range(1, 10)}
METHODS = {
    "strict": MondrianAnonymizer(k=5),
    "infogain": MondrianAnonymizer(k=5, mode="infogain"),
    "cluster": ClusterAnonymizer(k=5),
    "erp": ERPAnonymizer(k=5, random_state=0),
    "kactus": KActusAnonymizer(k=5, random_state=0),
    "mict": MiCTAnonymizer(k=5),
    "lattice": LatticeAnonymizer(k=5, taxonomies={"age": Taxonomy.from_dict({"*": BANDS})}),
}


def program(*words, cwd, data=b""):
    "Runs the command as a program of its own"
    return ready.command(*words, cwd=cwd, data=data, text=False)


@pytest.fixture
def ppdt(tmp_path, monkeypatch, capsys):
    "Calls the command in this process: (exit code, stdout, stderr)"
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PPDT_DEBUG", raising=False)

    def call(line):
        capsys.readouterr()
        code = cli.main(line.split())
        return code, *capsys.readouterr()

    return call


def people(n=500, seed=0):
    "Invented people, categories as words"
    t = make_population(n, random_state=seed)
    t = t.astype({o: str for o in t if t[o].dtype == "category"})
    return t[[*QI, "hours"]].astype({"age": "int64", "hours": "int64"}), t["income"]


def released(method):
    "A release of these people"
    X, y = people()
    est = METHODS[method].set_params(quasi_identifiers=QI, published=["hours"])
    return est.anonymize(X, y)


@pytest.fixture(scope="module", params=METHODS)
def release(request, tmp_path_factory):
    "(folder with a release and new people, the release)"
    folder = tmp_path_factory.mktemp(request.param)
    r = released(request.param)
    r.to_csv(folder / "release.csv")
    X, y = people(300, 1)
    X.assign(income=y).to_csv(folder / "new.csv", index=False, sep=";")
    return folder, r


# ---- a release becomes a tree


def test_the_tree_of_a_file_is_the_tree_of_its_release(release):
    folder, r = release
    clf = C45Classifier(min_samples_leaf=4, max_depth=5).fit(r)
    words = ("learn", "release.csv", "-o", "tree.json", "--min-leaf", 4, "--depth", 5)
    done = program(*words, "--test", "new.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    text = (folder / "tree.json").read_text()
    assert with_people(text, AskedPeople()) == tree_json(clf)
    assert people_of(text).class_name == "income"
    assert people_of(text).learnt_from["promise"] == r.schema.promise["words"]
    X, y = people(300, 1)
    right = f"{100 * (clf.predict(X) == y).mean():.1f} % of 300 rows right"
    said = done.stdout.decode().partition("INTERNAL")
    assert right in said[2]
    assert "people as they are    " not in said[0]


def test_answers_of_the_file_are_those_of_the_classifier(release):
    folder, r = release
    X, y = people(300, 1)
    clf = C45Classifier().fit(r)
    (folder / "own.json").write_text(tree_json(clf))
    out = folder / "predictions.csv"
    p = predict_file(folder / "own.json", folder / "new.csv", out, class_name="income")
    assert read_text(out).predicted.tolist() == clf.predict(X).tolist()
    assert p.score.accuracy == (clf.predict(X) == y).mean()


def test_with_counts_gaps_and_shares_are_those_of_the_classifier(release):
    folder, r = release
    X, _ = people(300, 1)
    X = X.astype(object)
    X.iloc[::3, 0] = None
    X.iloc[1::3, 1] = None
    X.iloc[2::7, 2] = "nowhere"
    X.to_csv(folder / "gaps.csv", index=False)
    found = learn_file(folder / "release.csv", counts=True, folds=0)
    clf = C45Classifier().fit(r)
    p = predict_file(found.model, folder / "gaps.csv", proba=True)
    numbers = X.astype({"age": "Int64", "hours": "int64"})
    assert p.table.predicted.tolist() == clf.predict(numbers).tolist()
    shares = p.table.filter(like="share of").astype(float).to_numpy()
    np.testing.assert_allclose(shares, clf.predict_proba(numbers), atol=1e-5)


def test_rules_of_a_file_are_those_of_its_release(release):
    folder, r = release
    X, _ = people(300, 1)
    clf = PARTClassifier(min_fragment=0.1, min_samples_leaf=20).fit(r)
    found = learn_file(folder / "release.csv", learner="part", min_leaf=20)
    assert found.held_out is None
    p = predict_file(found.model, folder / "new.csv")
    assert p.table.predicted.tolist() == clf.predict(X).tolist()


@pytest.mark.parametrize("method", METHODS)
def test_id3_learns_from_sets_or_says_why_not(method, tmp_path):
    r = released(method)
    r.to_csv(tmp_path / "r.csv")
    X, _ = people(300, 1)
    X.to_csv(tmp_path / "new.csv", index=False)
    how = {"learner": "id3", "depth": 3, "leave_out": ["hours"]}
    if method in ("kactus", "mict", "lattice", "erp"):
        with pytest.raises(CommandError, match="use --learner c45"):
            learn_file(tmp_path / "r.csv", **how)
        return
    found = learn_file(tmp_path / "r.csv", **how)
    clf = GeneralizedID3Classifier(convert="fractional", max_depth=3).fit(r.data[QI], r.y)
    assert with_people(found.text, AskedPeople()) == tree_json(clf)
    p = predict_file(found.model, tmp_path / "new.csv")
    assert p.table.predicted.tolist() == clf.predict(X[QI]).tolist()


# ---- what its owner made coarser

GERMAN = """
version = 1
[file]
name = "leute.csv"
[promise]
k = 4
[method]
mode = "{mode}"
[columns]
Nr = {{role = "identifier"}}
geboren = {{role = "quasi-identifier", kind = "date", date = "dd.mm.yyyy", recode = {born}}}
Geschlecht = {{role = "quasi-identifier", recode = ["same"]}}
PLZ = {{role = "quasi-identifier", recode = ["prefix 2"]}}
Beruf = {{role = "quasi-identifier", recode = ["rare 20 andere"]}}
Gehalt = {{role = "publish", kind = "number", recode = ["round 500"]}}
krank = {{role = "class", recode = ["same"]}}
"""


def germans(n=400, seed=0):
    "A table as an office has it"
    rng = np.random.default_rng(seed)
    born = pd.Timestamp("1940-01-01") + pd.to_timedelta(rng.integers(0, 24000, n), "D")
    pay = rng.normal(3200, 700, n)
    often = [0.4, 0.4, 0.18, 0.02]
    ill = (2026 - born.year - 55) / 10 + (pay > 3500) + rng.normal(0, 1, n) > 0
    return pd.DataFrame(
        {
            "Nr": [f"MARKER{o}" for o in range(n)],
            "geboren": [f"{o:%d.%m.%Y}" for o in born],
            "Geschlecht": rng.choice(["M", "W", " m", "w"], n, p=[0.45, 0.45, 0.05, 0.05]),
            "PLZ": rng.choice(["89073", "89075", "70173", "80331", "01067"], n),
            "Beruf": rng.choice(["Köchin", "Bäcker", "Ärztin", "Pilot"], n, p=often),
            "Gehalt": [f"{o:.2f}".replace(".", ",") for o in pay],
            "krank": np.where(rng.random(n) < 0.05, "JA", np.where(ill, "ja", "nein")),
        }
    )


def write_german(folder, mode="strict", born='["age 2026-11-30", "bands 18,40,65"]'):
    "leute.csv, neu.csv and plan.toml in a folder"
    germans().to_csv(folder / "leute.csv", sep=";", index=False, encoding="cp1252")
    germans(60, 1).to_csv(folder / "neu.csv", sep=";", index=False, encoding="cp1252")
    (folder / "plan.toml").write_text(GERMAN.format(mode=mode, born=born))


@pytest.mark.parametrize("born", ['["year"]', '["month"]', '["age 2026-11-30", "bands 18,40,65"]'])
@pytest.mark.parametrize("mode", ["strict", "kactus"])
def test_new_people_are_recoded_as_the_old_ones(tmp_path, mode, born):
    write_german(tmp_path, mode, born)
    plan = read_plan(tmp_path / "plan.toml")
    r, p, _ = anonymize_plan(plan, tmp_path / "r.csv", tmp_path)
    found = learn_file(tmp_path / "r.csv", folds=0)
    clf = C45Classifier().fit(r)
    assert with_people(found.text, AskedPeople()) == tree_json(clf)
    told = predict_file(found.model, tmp_path / "leute.csv", class_name="krank")
    answers = clf.predict(p.X[list(r.data)])
    assert told.table.predicted.tolist() == answers.tolist()
    assert told.score.accuracy == (answers == p.y).mean()


def test_each_person_alone_gets_the_answer_that_all_get_together(tmp_path):
    # rare words, spellings and names of bands are those of the tree, not of five new people
    write_german(tmp_path)
    anonymize_plan(read_plan(tmp_path / "plan.toml"), tmp_path / "r.csv", tmp_path)
    model = learn_file(tmp_path / "r.csv", folds=0).model
    together = predict_file(model, tmp_path / "neu.csv").table.predicted.tolist()
    t = read_text(tmp_path / "neu.csv", ";", "cp1252")
    t["Gehalt"] = t["Gehalt"].str.replace(",", ".")
    alone = [answers_to(t.iloc[[i]], model, "one") for i in range(len(t))]
    words = [str(model.clf._classes_[o.codes[0]]) for o in alone]
    assert words == together


def test_dates_of_new_people_may_be_written_otherwise(tmp_path, ppdt):
    write_german(tmp_path)
    assert ppdt("anonymize plan.toml -o r.csv")[0] == 0
    assert ppdt("learn r.csv -o tree.json")[0] == 0
    t = germans(60, 1)
    assert ppdt("predict tree.json neu.csv -o a.csv")[0] == 0
    days = pd.to_datetime(t["geboren"], format="%d.%m.%Y")
    t.assign(geboren=days.dt.strftime("%Y-%m-%d")).to_csv("iso.csv", index=False, sep="\t")
    assert ppdt("predict tree.json iso.csv -o b.csv")[0] == 0
    t.assign(geboren=days.dt.strftime("%m/%d/%y")).to_csv("us.csv", index=False, sep=";")
    code, _, err = ppdt("predict tree.json us.csv -o c.csv")
    assert code == 2 and "--date geboren=" in err and not Path("c.csv").exists()
    assert ppdt("predict tree.json us.csv --date geboren=mm/dd/yy -o c.csv")[0] == 0
    a, b = (Path(o).read_bytes() for o in ("a.csv", "b.csv"))
    assert a == b
    born_later = days.dt.year >= 1969  # two digits tell no more
    same = read_text("c.csv").predicted == read_text("a.csv").predicted
    assert same[born_later].all()


def test_masked_codes_are_read_by_the_file_alone(tmp_path):
    rng = np.random.default_rng(0)
    z = rng.choice(["81667", "81671", "90210", "90310", "10115"], 300)
    X = pd.DataFrame({"zip": z, "age": rng.integers(20, 60, 300)})
    y = pd.Series(np.where(z < "85", "a", "b"), name="c")
    trees = {"zip": Taxonomy.from_prefixes(X.zip)}
    est = MondrianAnonymizer(k=60, quasi_identifiers=["zip", "age"], taxonomies=trees)
    r = est.anonymize(X, y)
    r.to_csv(tmp_path / "r.csv")
    X.assign(c=y).to_csv(tmp_path / "people.csv", index=False)
    found = learn_file(tmp_path / "r.csv", leave_out=["age"], folds=0)
    p = predict_file(model_from_text(found.text), tmp_path / "people.csv", class_name="c")
    clf = C45Classifier(taxonomies=r.taxonomies).fit(r.data[["zip"]], r.y)
    assert p.table.predicted.tolist() == clf.predict(X[["zip"]]).tolist()


# ---- kADET


def test_a_tree_by_kadet_keeps_its_promise_and_answers_as_it_does(tmp_path):
    write_german(tmp_path)
    done = program("learn", "plan.toml", "--kadet", "-o", "tree.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    before, _, internal = done.stdout.decode().partition("INTERNAL")
    assert "k measured" in internal and "k measured" not in before
    p = planned_table(read_plan(tmp_path / "plan.toml"), tmp_path)
    public = ["geboren", "Geschlecht", "PLZ", "Beruf"]
    X = p.X[[*public, "Gehalt"]]
    clf = KADETClassifier(k=4, public=public, criterion="gain_ratio").fit(X, p.y)
    text = (tmp_path / "tree.json").read_text()
    back = read_published(text)
    asked = list(back.feature_names_in_)
    assert back.predict(X[asked]).tolist() == clf.predict(X).tolist()
    assert clf.audit(X, p.y).k >= 4
    told = predict_file(tmp_path / "tree.json", tmp_path / "leute.csv", proba=True)
    assert told.table.predicted.tolist() == clf.predict(X).tolist()


def test_a_tree_by_kadet_tells_nothing_of_what_it_does_not_ask(tmp_path):
    write_german(tmp_path)
    found = learn_kadet_plan(read_plan(tmp_path / "plan.toml"), tmp_path)
    written = found.text + "".join(publish_tree(found.model)["text"].decode())
    t = germans()
    assert "MARKER" not in written
    # what was made coarser before is not in the file as it was
    for o in ("geboren", "PLZ", "Gehalt"):
        assert not any(f'"{v}"' in written for v in t[o].unique())


def test_options_make_the_plan_that_a_file_makes(tmp_path, ppdt):
    load_customers().reset_index().to_csv("people.csv", index=False)
    roles = "--qi Gender,Age --private Marital --class Bought"
    code, out, _ = ppdt(f"learn people.csv --kadet {roles} --k 3 -o tree.json")
    assert code == 0 and "not asked           customer" in out
    d = json.loads(Path("tree.json").read_text())
    assert d["k"] == 3 and {o["name"]: o["public"] for o in d["columns"]}["Age"] is True
    code, out, err = ppdt(f"learn people.csv --kadet {roles} --k 3 --alpha 0.6 -o safe.json")
    assert code == 0 and "no class surer than 0.6" in out
    assert "counts" not in json.loads(Path("safe.json").read_text())["tree"]
    t = pd.read_csv("people.csv").astype(object)
    t.loc[2, "Marital"] = None
    t.to_csv("gaps.csv", index=False)
    code, _, err = ppdt(f"learn gaps.csv --kadet {roles} --k 3")
    assert code == 2 and "first in row 3 after the header" in err and "--missing drop" in err
    assert ppdt(f"learn gaps.csv --kadet {roles} --k 3 --missing drop")[0] == 0


# ---- rules have a file of their own

_few = st.sampled_from(["a", "b", "c", None])


@pytest.mark.filterwarnings("ignore:Column '.' holds no value that it had in fit")  # or in the file
@one_in(4)
@given(
    st.lists(
        st.tuples(_few, st.integers(0, 4), st.booleans(), st.sampled_from("xyz")),
        min_size=2,
        max_size=25,
    ),
    st.booleans(),
)
def test_rules_come_back_from_their_file(rows, binary):
    t = pd.DataFrame(rows, columns=["w", "n", "b", "y"])
    X, y = t[["w", "n", "b"]], t["y"]
    clf = PARTClassifier(min_samples_leaf=1, binary_splits=binary).fit(X, y)
    whole, counted = rules_from_json(rules_json(clf, counts=True))
    asked = list(whole.feature_names_in_) if whole.n_features_in_ else []
    assert counted
    if not asked:
        return
    np.testing.assert_allclose(whole.predict_proba(X[asked]), clf.predict_proba(X))
    bare, counted = rules_from_json(rules_json(clf))
    assert not counted and "counts" not in rules_json(clf)
    full = X.notna().all(axis=1).to_numpy()
    if full.any():
        assert bare.predict(X[asked][full]).tolist() == clf.predict(X[full]).tolist()


# ---- distrust

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda o: st.lists(o, max_size=4) | st.dictionaries(st.text(max_size=5), o, max_size=4),
    max_leaves=10,
)
_key = st.sampled_from(["class", "learner", "learnt_from", "columns"])
_column = st.dictionaries(st.sampled_from(["name", "read_as", "recoded", "taxonomy"]), _json)


@one_in(2)
@given(_json | st.dictionaries(_key, _json | st.lists(_column)))
def test_what_a_file_says_of_people_is_understood_or_refused(told):
    text = json.dumps({"people": told})
    try:
        found = people_of(text)
    except TextFormError as e:
        assert "\n" not in str(e)
        return
    assert people_of(with_people("{}", found)) == found


def some_files():
    "A file of each kind"
    c = load_customers()
    X, y = c[["Gender", "Marital", "Age"]], c.Bought
    asked = AskedPeople("Bought", columns=(AskedColumn("Age", "number", ("round 10",)),))
    texts = [
        tree_json(C45Classifier(1).fit(X, y)),
        rules_json(PARTClassifier(1).fit(X, y)),
        cli_kadet(X, y),
    ]
    return [with_people(o, asked) for o in texts]


def cli_kadet(X, y):
    "A tree by kADET"
    from ppdt.kadet import publish

    return publish(KADETClassifier(k=3, public=["Age"]).fit(X, y))


FILES = some_files()


@given(st.sampled_from(FILES), st.data())
def test_a_changed_file_is_read_or_refused(text, data):
    d = json.loads(text)
    key = data.draw(st.sampled_from(sorted(d)))
    d[key] = data.draw(_json)
    try:
        model = model_from_text(json.dumps(d))
    except ValueError as e:
        assert str(e) and "Traceback" not in str(e)
        return
    t = load_customers().astype(str)
    try:
        answers_to(t, model, "new.csv")
    except ValueError:
        pass


def test_the_schema_of_trees_describes_the_new_key():
    schema = tree_schema()
    d = json.loads(FILES[0])
    assert set(d) <= set(schema["properties"]) and set(schema["required"]) <= {*d, "counts"}
    told = schema["properties"]["people"]["properties"]
    assert set(d["people"]) <= set(told)
    assert set(d["people"]["columns"][0]) <= set(told["columns"]["items"]["properties"])
    assert len(tree_from_json(FILES[0])) == len(d["parent"])


def test_recodings_of_a_strangers_file_end_in_a_sentence(tmp_path, ppdt):
    load_customers().reset_index().to_csv("people.csv", index=False)
    for step in ("round 1e-308", "year", "nonsense", "bands x"):
        d = json.loads(FILES[0])
        d["people"]["columns"][0]["recoded"] = [step]
        Path("tree.json").write_text(json.dumps(d))
        code, out, err = ppdt("predict tree.json people.csv")
        assert code == 2 and err.startswith("ppdt: ") and err.count("\n") == 1, (step, err)
        assert "Error" not in err and "should not happen" not in err


# ---- the commands


def test_forms_of_a_tree_and_its_counts(tmp_path, ppdt):
    c = load_customers()
    X, y = c[["Gender", "Marital", "Age"]], c.Bought
    Path("tree.json").write_text(tree_json(C45Classifier(1).fit(X, y)))
    Path("counts.json").write_text(tree_json(C45Classifier(1).fit(X, y), counts=True))
    options = " ".join(f"--{o} t.{o}" for o in FORMS)
    code, out, _ = ppdt(f"publish tree.json {options}")
    assert code == 0 and all(Path(f"t.{o}").stat().st_size for o in FORMS)
    assert Path("t.json").read_text().strip() == Path("tree.json").read_text()
    for o in Path.cwd().glob("t.*"):
        o.unlink()
    code, _, err = ppdt(f"publish counts.json {options}")
    assert code == 2 and "use --counts" in err and not list(Path.cwd().glob("t.*"))
    code, out, _ = ppdt("publish counts.json --counts")
    assert code == 0 and "(2)" in out
    assert "(2)" not in ppdt("publish tree.json")[1]
    Path("rules.json").write_text(FILES[1])
    code, _, err = ppdt("publish rules.json --text t.text --svg t.svg")
    assert code == 2 and "--svg is for trees" in err and not list(Path.cwd().glob("t.*"))


def test_answers_go_to_standard_output(tmp_path):
    t = load_customers().reset_index()
    (tmp_path / "tree.json").write_text(tree_json(C45Classifier(1).fit(t[["Age"]], t.Bought)))
    learn = "learn release.csv --rules -o rules.json"
    MondrianAnonymizer(k=3).anonymize(t[["Age"]], t.Bought).to_csv(tmp_path / "release.csv")
    assert program(*learn.split(), cwd=tmp_path).returncode == 0
    assert "rules" in json.loads((tmp_path / "rules.json").read_text())
    data = t.to_csv(index=False, sep=";").encode("utf-16")
    words = ("predict", "tree.json", "-", "--keep", "customer")
    done = program(*words, cwd=tmp_path, data=data)
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().splitlines()[0] == "customer,predicted"
    assert len(done.stdout.decode().splitlines()) == 15
    assert b"standard input" in done.stderr


def test_formulas_are_told_of(tmp_path, ppdt):
    t = load_customers().reset_index()
    t["Bought"] = t["Bought"].map({"Yes": "=1+1", "No": "no"})
    t.to_csv("people.csv", index=False)
    Path("tree.json").write_text(tree_json(C45Classifier(1).fit(t[["Age"]], t.Bought)))
    code, out, _ = ppdt("predict tree.json people.csv -o p.csv")
    assert code == 0 and "spreadsheets run texts" in out
    assert "spreadsheets" not in ppdt("predict tree.json people.csv -o p.parquet")[1]


WRONG = [
    "learn nothere.csv",
    "learn people.csv",
    "learn people.csv --kadet",
    "learn people.csv --kadet --class Bought",
    "learn people.csv --kadet --class Bought --qi Agee",
    "learn people.csv --kadet --class Bought --qi Age --private Age",
    "learn people.csv --kadet --class Bought --qi Age,Bought",
    "learn people.csv --kadet --class Bought --qi Age --k 99",
    "learn people.csv --kadet --class Bought --qi Age --depth 3",
    "learn people.csv --kadet --class Bought --qi Age --rules",
    "learn r.csv --kadet --class Bought --qi Age",
    "learn r.csv --class Age",
    "learn r.csv --class age",
    "learn r.csv --qi Age",
    "learn r.csv --rules --depth 2",
    "learn r.csv --rules --learner id3",
    "learn r.csv --leave-out Gender,Marital,Age",
    "learn r.csv -o out.txt",
    "learn r.csv -o r.csv.schema.json",
    "learn r.csv -o nothere/tree.json",
    "learn r.csv --test r.csv",
    "learn r.csv --test few.csv -o out.json",
    "learn r.csv --folds 1",
    "predict nothere.json people.csv",
    "predict people.csv people.csv",
    "predict tree.json nothere.csv",
    "predict tree.json few.csv -o out.csv",
    "predict tree.json words.csv -o out.csv",
    "predict tree.json r.csv -o out.csv",
    "predict tree.json people.csv -o tree.json",
    "predict tree.json people.csv -o out.txt",
    "predict tree.json people.csv --proba -o out.csv",
    "predict tree.json people.csv --keep nothing -o out.csv",
    "predict tree.json people.csv --class nothing -o out.csv",
    "predict tree.json people.csv --date Age -o out.csv",
    "publish r.csv.schema.json",
    "publish tree.json --text tree.json",
    "publish tree.json --text out.a --dot out.a",
]


@pytest.mark.parametrize("line", WRONG)
def test_what_is_wrong_is_said_in_a_line_and_nothing_is_written(line, tmp_path, ppdt):
    c = load_customers()
    X, y = c[["Gender", "Marital", "Age"]], c.Bought
    c.reset_index().to_csv("people.csv", index=False)
    c[["Gender"]].to_csv("few.csv", index=False)
    c.assign(Age="old").to_csv("words.csv", index=False)
    MondrianAnonymizer(k=3, quasi_identifiers=list(X)).anonymize(X, y).to_csv("r.csv")
    Path("tree.json").write_text(tree_json(C45Classifier(1).fit(X, y)))
    before = {o.name: o.read_bytes() for o in tmp_path.iterdir()}
    code, out, err = ppdt(line)
    assert code == 2, (out, err)
    assert out == "" and err.startswith("ppdt: ") and err.count("\n") == 1
    assert not any(o in err for o in ("Error", "Traceback", "None", "should not happen"))
    assert {o.name: o.read_bytes() for o in tmp_path.iterdir()} == before


def test_help_is_fast_and_names_the_commands(tmp_path):
    done = program("--help", cwd=tmp_path)
    assert all(o in done.stdout.decode() for o in ("learn", "predict", "publish"))
    look = "import sys; import ppdt.engine.command_learn; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
