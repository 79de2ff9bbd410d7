"""The claims of the papers: each is made again by its name, and README and page count them all."""

import importlib
import sys

import places
import pytest

from ppdt.engine.claims import claim_totals, claims_in

sys.path.insert(0, str(places.ROOT / "scripts"))
replicate = importlib.import_module("replicate")
claims = importlib.import_module("claims")
sys.path.pop(0)


@pytest.fixture
def here(monkeypatch):
    """The programs go to other folders"""
    monkeypatch.chdir(places.ROOT)
    for name in ("IN_TEST", "MPLBACKEND"):
        monkeypatch.setenv(name, "")


def test_a_claim_is_made_again(here, data_dir, monkeypatch, capsys):
    monkeypatch.setenv("PPDT_DATA", str(data_dir))
    with pytest.raises(SystemExit) as e:
        replicate.main(["kadet-table-1"])
    out = capsys.readouterr().out
    assert e.value.code == 0 and "As the page shows it." in out
    assert "theirs   0.4591 0 0.2516" in out and "verdict  met" in out


def test_a_claim_that_moved_is_told(here, data_dir, monkeypatch, capsys):
    found = claims.stored_claims()["kadet-entropy"]
    old = found["claim"]
    changed = type(old)(**(vars(old) | {"ours": [0.7, 1.526], "runs": []}))
    monkeypatch.setattr(claims, "stored_claims", lambda: {old.name: found | {"claim": changed}})
    monkeypatch.setattr(claims, "run_to", lambda path, name: old)
    assert claims.one_claim(old.name) is False
    assert "The page shows:" in capsys.readouterr().out


def test_claims_are_listed_and_unknown_ones_refused(here, capsys):
    replicate.main(["claims"])
    out = capsys.readouterr().out
    assert "kadet-figure-6-c45" in out and '"open"' in out
    with pytest.raises(SystemExit, match="There is no claim kadet-figure-99"):
        replicate.main(["kadet-figure-99"])


def test_the_front_page_counts_the_claims():
    totals = claim_totals(claims_in(places.ROOT / "nbs"))
    told = ", ".join(f"{n} {verdict}" for verdict, n in totals.items())
    assert told in (places.ROOT / "README.md").read_text("utf-8")


def test_runs_of_claims_are_of_the_design():
    """Each names an experiment, and a line of it"""
    for o in claims_in(places.ROOT / "nbs"):
        for words in o["claim"].runs:
            first, *rest = words.split()
            assert first in replicate.PAPERS and rest[:1] in ([], ["--row"]), o["claim"].name
