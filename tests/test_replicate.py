"""The stored results of the papers are whole, and one cheap run comes out as stored."""
import importlib.util
import pandas as pd
import pytest
import places

RESULTS = places.ROOT/"nbs"/"papers"/"results"/"shao_beckford.csv"

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
    assert t.accuracy.between(70, 85).all() and (t.nodes > t.leaves).all() and (t.seconds > 0).all()
    assert (t.k_measured >= t.k).all() and (t.k_measured[t.k == 1] == 1).all()
    for o in ("generalized", "generalized_categorical", "gcp"): assert t[o].between(0, 1).all() and (t[o][t.k == 1] == 0).all()
    assert t.root.isin(replicate.CATEGORICAL).all()
    assert not t[["commit", "ppdt", "python", "numpy", "pandas", "scikit-learn"]].isna().any().any()

@pytest.mark.parametrize("key", [("original", 6, 1, 0), ("paper", 6, 64, 1)])
def test_a_run_comes_out_as_stored(replicate, data_dir, key):
    t = replicate.read_results(RESULTS).set_index(replicate.KEY)
    new = replicate.run(*key)
    old = t.loc[key]
    for o in replicate.MEASURED: assert new[o] == old[o] or pd.isna(new[o]) and pd.isna(old[o]), o

def test_results_are_added_and_replaced_whole(replicate, tmp_path):
    path, line = tmp_path/"deep"/"r.csv", {o: "x" for o in replicate.COLUMNS} | dict(setting="paper", n_qi=6, k=4, seed=0, accuracy=1.)
    replicate.store(path, line)
    replicate.store(path, line | dict(setting="original", k=1))
    replicate.store(path, line | dict(accuracy=2.))
    t = replicate.read_results(path)
    assert keys(t, ["setting", "accuracy"]) == [("original", 1.), ("paper", 2.)]
    assert [p.name for p in path.parent.iterdir()] == ["r.csv"]

def test_command_line(replicate, capsys):
    for args in (["no_such_paper"], ["shao_beckford", "--seeds", "0"], ["shao_beckford", "--row", "paper", "5", "0"], ["shao_beckford", "--row", "paper", "four", "0"]):
        with pytest.raises(SystemExit) as e: replicate.main(args)
        assert e.value.code not in (0, None)
    with pytest.raises(SystemExit): replicate.main(["--help"])
    assert "--full" in capsys.readouterr().out
