"""One claim of a paper, made again: theirs, ours, the verdict.

    python scripts/replicate.py claims                    all claims, with their verdicts
    python scripts/replicate.py kadet-figure-4-tds        one claim

A claim stands in a page, beside its evidence. The page's code is run from the top to the claim,
which prints what it found now; then the stored runs that the claim names are made again, beside
what is stored. The program ends with 1 where the claim does not come out as the page shows it.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import replicate

from ppdt.engine.claims import CLAIM_TYPE, Claim, claim_totals, claims_in

NBS = replicate.ROOT / "nbs"


def run_to(path, name):
    """The claim as the page gives it now"""
    from execnb.nbio import read_nb
    from execnb.shell import CaptureShell

    os.environ |= {"IN_TEST": "1", "MPLBACKEND": "agg"}
    os.chdir(path.parent)
    nb = read_nb(path)
    last = max(i for i, c in enumerate(nb.cells) if f'"{name}"' in c.source)

    def skip(cell):
        at = nb.cells.index(cell)
        return at > last or "#| eval: false" in cell.source

    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    CaptureShell(path).run_all(nb, exc_stop=True, preproc=skip)
    for output in nb.cells[last].outputs:
        data = output.get("data", {}).get(CLAIM_TYPE)
        if data and data["name"] == name:
            return Claim(**data)
    raise RuntimeError(f"{path.name} runs, and does not print {name}.")


def stored_claims():
    """All claims by name"""
    return {o["claim"].name: o for o in claims_in(NBS)}


def list_claims():
    """Print the names and verdicts of all claims"""
    found = stored_claims()
    for name, o in found.items():
        print(f"{name:44} {o['claim'].verdict:10} {o['claim'].where}: {o['claim'].says}")
    print(json.dumps(claim_totals(list(found.values()))))


def one_claim(name):
    """Run the page to the claim, and its stored runs again. Returns: came it out as stored?"""
    found = stored_claims()
    if name not in found:
        near = [o for o in found if o.partition("-")[0] == name.partition("-")[0]]
        raise SystemExit(
            f"There is no claim {name}. `python scripts/replicate.py claims` lists all"
            + (f"; of this paper: {', '.join(near)}." if near else ".")
        )
    entry = found[name]
    print(f"nbs/{entry['page']}, section {entry['anchor']}: its code is run to the claim.\n")
    now = run_to(NBS / entry["page"], name)
    print(now)
    same = str(now) == str(entry["claim"])
    print("\nAs the page shows it." if same else f"\nThe page shows:\n{entry['claim']}")
    os.chdir(replicate.ROOT)
    for words in now.runs:
        print(f"\npython scripts/replicate.py {words}")
        replicate.main(words.split())
    return same
