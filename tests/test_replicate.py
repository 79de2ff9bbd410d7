"""The stored results of the papers are whole, and one cheap run comes out as stored."""
import importlib.util
import pandas as pd
import pytest
import places

RESULTS = places.ROOT/"nbs"/"papers"/"results"/"shao_beckford.csv"
SETS = RESULTS.with_name("shao_beckford_sets.csv")

@pytest.fixture(scope="module")
def replicate():
    spec = importlib.util.spec_from_file_location("replicate", places.ROOT/"scripts"/"replicate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

def keys(t, names): return list(t[names].itertuples(index=False, name=None))

def test_every_run_of_the_design_is_stored_once(replicate):
    t = replicate.read_results(RESULTS)
    assert list(t.columns) == replicate.COLUMNS
    assert sorted(keys(t, replicate.KEY)) == sorted(replicate.all_runs(3))
    assert set(replicate.SETTINGS) == set(replicate.ABOUT)

def test_stored_numbers_are_possible(replicate):
    t = replicate.read_results(RESULTS)
    assert t.accuracy.between(60, 85).all() and (t.nodes > t.leaves).all() and (t.seconds > 0).all()
    assert (t.k_measured >= t.k).all() and (t.k_measured[t.k == 1] == 1).all()
    assert (t["values"] >= 1).all() and (t.values_categorical >= 1).all() and (t.values_categorical[t.k == 1] == 1).all()
    for o in ("generalized", "generalized_categorical", "gcp"): assert t[o].between(0, 1).all() and (t[o][t.k == 1] == 0).all()
    assert t.root.isin(replicate.CATEGORICAL).all()
    assert not t[["commit", "ppdt", "python", "numpy", "pandas", "scikit-learn"]].isna().any().any()

@pytest.mark.parametrize("key", [("original", 6, 1, 0), ("paper", 6, 64, 1), ("more_infogain_fractional", 12, 64, 0)])
def test_a_run_comes_out_as_stored(replicate, data_dir, key):
    t = replicate.read_results(RESULTS).set_index(replicate.KEY)
    new = replicate.run(*key)
    old = t.loc[key]
    for o in replicate.MEASURED: assert new[o] == old[o] or pd.isna(new[o]) and pd.isna(old[o]), o

def test_every_release_of_the_design_is_stored_once(replicate):
    t = replicate.read_results(SETS)
    assert list(t.columns) == replicate.SETS_COLUMNS and not t[replicate.MADE].isna().any().any()
    points = [(6, k) for k in replicate.KS] + [(q, 64) for q in replicate.MORE["n_qi"]]
    want = [(g, q, k, o) for g in replicate.GROUPINGS for q, k in points for o in {*replicate.CATEGORICAL, *replicate.QIS[:q]}]
    assert sorted(keys(t, replicate.SETS_KEY)) == sorted(want)
    assert (t.quasi_identifier == [o in replicate.QIS[:q] for o, q in zip(t.attribute, t.n_qi)]).all()
    assert (t.gain.isna() == ~t.attribute.isin(replicate.CATEGORICAL)).all()
    exact = t[~t.quasi_identifier]
    assert (exact["values"] == 1).all() and (exact.exact_rows == 1).all() and (t["values"] >= 1).all() and (t.groups*t.k <= 30162).all()

def test_a_release_comes_out_as_stored(replicate, data_dir):
    t = replicate.read_results(SETS).set_index(replicate.SETS_KEY)
    for line in replicate.sets_of("relaxed", 11, 64):
        old = t.loc[tuple(line[o] for o in replicate.SETS_KEY)]
        for o in replicate.SETS_MEASURED: assert line[o] == old[o] or pd.isna(line[o]) and pd.isna(old[o]), o

def test_root_is_the_attribute_with_the_largest_gain(replicate):
    t, runs = replicate.read_results(SETS), replicate.read_results(RESULTS)
    best = t.loc[t.groupby(["grouping", "n_qi", "k"]).gain.idxmax()].set_index(["grouping", "n_qi", "k"]).attribute
    for setting, g in {"paper": "strict", "more_qis": "strict", "more_width_distinct": "distinct", "more_relaxed": "relaxed", "more_infogain": "infogain"}.items():
        for r in runs[runs.setting == setting].itertuples(): assert r.root == best[g, r.n_qi, r.k]

def test_results_are_added_and_replaced_whole(replicate, tmp_path):
    path, line = tmp_path/"deep"/"r.csv", {o: "x" for o in replicate.COLUMNS} | dict(setting="paper", n_qi=6, k=4, seed=0, accuracy=1.)
    replicate.store(path, [line])
    replicate.store(path, [line | dict(setting="original", k=1)])
    replicate.store(path, [line | dict(accuracy=2.)])
    t = replicate.read_results(path)
    assert keys(t, ["setting", "accuracy"]) == [("original", 1.), ("paper", 2.)]
    assert [p.name for p in path.parent.iterdir()] == ["r.csv"]

def test_command_line(replicate, capsys):
    for args in (["no_such_paper"], ["shao_beckford", "--seeds", "0"], ["shao_beckford", "--row", "paper", "5", "0"], ["shao_beckford", "--row", "paper", "four", "0"]):
        with pytest.raises(SystemExit) as e: replicate.main(args)
        assert e.value.code not in (0, None)
    with pytest.raises(SystemExit): replicate.main(["--help"])
    assert "--full" in capsys.readouterr().out

# ---------- kADET
KADET = RESULTS.with_name("kadet.csv")

def test_every_run_of_kadet_is_stored_once(replicate):
    t = replicate.read_kadet(KADET)
    assert list(t.columns) == replicate.KADET_COLUMNS and not t[replicate.MADE].isna().any().any()
    assert sorted(keys(t, replicate.KADET_KEY)) == sorted(replicate.kadet_runs()) and set(replicate.KADET) == set(replicate.ABOUT_KADET)

def test_stored_numbers_of_kadet_are_possible(replicate):
    t = replicate.read_kadet(KADET)
    made = t[~t.error.isna()]
    assert (t.error.isna() == (t.limit == .751)).all()                     # below the share of the larger class there is no tree
    assert made.error.between(10, 30).all() and made.exposed.between(0, 100).all() and (made.k_measured >= made.k).all()
    assert ((made.limit == 1) | (made.confidence <= made.limit + 1e-6)).all() and ((made.exposed > 0) <= (made.confidence == 1)).all()
    assert (made.nodes > made.leaves).sum() == (made.nodes > 1).sum() and made.seconds.max() < 60

@pytest.mark.parametrize("key", [("id3_our_levels", 500, 1.), ("c45_values", 250, 1.), ("id3_raw", 1, 1.)])
def test_a_run_of_kadet_comes_out_as_stored(replicate, data_dir, key):
    old, new = replicate.read_kadet(KADET).set_index(replicate.KADET_KEY).loc[key], replicate.kadet_run(*key)
    for o in replicate.KADET_MEASURED: assert new[o] == old[o], o

def test_kadet_on_the_command_line(replicate):
    for args in (["kadet", "--row", "id3", "5", "0.5"], ["kadet", "--row", "id3", "five", "1"]):
        with pytest.raises(SystemExit) as e: replicate.main(args)
        assert "SETTING K LIMIT" in str(e.value.code)
