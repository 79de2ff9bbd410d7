"""Are the stored results what the programs give? Lines drawn at random are made again.

    python scripts/stored.py                         a line of each file, drawn by today's date
    python scripts/stored.py kadet.csv --lines 20    twenty lines of one file
    python scripts/stored.py --seed 2026-11-30       what another day drew
    python scripts/stored.py --most 60               also lines that took up to a minute
    python scripts/stored.py --seal                  note in hashes.csv what each file is now

A line is drawn among those that took at most so many seconds when they were stored. It has to come
out as it stands: names and counts exactly, numbers to one part in a million, those of logistic
regression to a thousandth (its search stops where the sums of one processor say so: kernels of
OpenBLAS for two processors gave areas .00015 apart). hashes.csv holds the
SHA-256 of every file with the commits and versions of its lines, so that a number that is changed
by hand or by accident is noticed; who runs lines anew seals the files again, in the same commit.
"""

import argparse
import datetime
import hashlib
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))
import replicate
from replicate import MADE, RESULTS, beside

from ppdt.tables import atomic_write

HASHES = RESULTS / "hashes.csv"
MOST = 3.0  # seconds a line
TIMES = ("seconds", "protect_seconds", "learn_seconds", "audit_seconds", "choose_seconds")
# printed by a paper, or seconds and megabytes of one machine: nothing to make again
NOT_MADE = ("kactus_paper.csv", "shao_beckford_printed.csv", "kactus_scaling.csv", "hashes.csv")


@dataclass
class File:
    """How the lines of a stored file are made again"""

    read: Callable  # path -> table
    key: list
    again: Callable  # key -> lines, one of which has it
    cost: Callable = None  # table -> seconds a line; the sum of its times where nothing is said
    may: Callable = None  # table -> which lines can be drawn
    types: dict = field(default_factory=dict)

    def quick(self, t, most):
        """Which lines can be drawn"""
        if self.cost is None:
            seconds = sum(t[o].fillna(0) for o in TIMES if o in t)
        else:
            seconds = self.cost(t)
        res = pd.Series(seconds <= most, index=t.index)
        return res if self.may is None else res & self.may(t)


def read_plain(path, **types):
    return pd.read_csv(path, dtype={o: str for o in MADE} | types, keep_default_na=True)


def unit_of_kactus(method, *where):
    """Mondrian's halves are protected once and asked in two ways"""
    runs = beside("kactus_runs")
    unit = ("mondrian" if method == "mondrian_raw_test" else method, *where[:-1], (where[-1],))
    return runs.run(unit)


def unsteady(t):
    """Lines of kACTUS whose learner does not converge: its answers hang on the machine"""
    return (t.method == "kactus") & (t.case == "vehicle") & (t.learner == "logistic")


def lines_of_mict(*key):
    return beside("mict_runs").run(key[:4])


def line_of_weka(family, run):
    compare = beside("compare_weka")
    (found,) = [o for o in compare.all_runs() if (o.family, o.run) == (family, run)]
    return [compare.line(found, {})]


def lines_of_learners(preparation, table, learner):
    compare = beside("compare_learners")
    short = {v: k for k, v in compare.PREPARED.items()}[preparation]
    return [compare.compare(short, table, learner)]


def or_few_open(few):
    """Seconds of a line of attacks.csv: whole of small tables, of Adult what five people's worlds
    tell (about a second; the tiers, the lattice and k = 2 take longer)
    """
    slow = ("erp", "lattice", "infogain_alpha", "cluster_alpha")

    def cost(t):
        is_quick = (t.case == "adult") & (t.k > 2) & ~t.method.isin(slow) & t.open_people.notna()
        return few(t).where(~is_quick, 0.0)

    return cost


def files():
    """Every stored file by name"""
    r = replicate
    mict, erp, kactus = (beside(o) for o in ("mict_runs", "erp_runs", "kactus_runs"))
    frontier, attacks, grouping, without, noise, readers, kinds, chosen, grand, brothers = (
        beside(o)
        for o in (
            "frontier",
            "attack_runs",
            "grouping_runs",
            "without_groups",
            "noisy_trees",
            "reader_study",
            "draw_kinds",
            "reader_choice",
            "grand_contest",
            "brothers_runs",
        )
    )
    ten = 10  # folds, of which the mean time is stored
    small = ("customers", "glass", "pima", "german", "contraceptive")
    few = lambda t: pd.Series(np.where(t.case.isin(small), 0.0, np.inf), index=t.index)
    return {
        "shao_beckford.csv": File(r.read_results, r.KEY, lambda *o: [r.run(*o)]),
        "shao_beckford_sets.csv": File(
            partial(r.read_results, columns=r.SETS_COLUMNS),
            r.SETS_KEY,
            lambda *o: r.sets_of(*o[:3]),
            cost=lambda t: pd.Series(2.0, index=t.index),
        ),
        "kadet.csv": File(r.read_kadet, r.KADET_KEY, lambda *o: [r.kadet_run(*o)]),
        "kadet_tds.csv": File(r.read_kadet_tds, ["setting", "k"], lambda *o: [r.kadet_tds_run(*o)]),
        "kactus_runs.csv": File(
            kactus._read_one, kactus.KEY, unit_of_kactus, may=lambda t: ~unsteady(t)
        ),
        "kactus_runs_specialized.csv": File(kactus._read_one, kactus.KEY, unit_of_kactus),
        "erp.csv": File(erp.read, erp.KEY, lambda c, m, g, k, f: erp.run((c, m, k, f, (g,)))),
        "mict.csv": File(
            mict.read,
            mict.KEY,
            lines_of_mict,
            cost=lambda t: ten * (t.protect_seconds + t.learn_seconds),
        ),
        **{
            o.name: File(r.read_results, readers.KEY, lambda *o: readers.run(o[:4], [o[4]]))
            for o in sorted(RESULTS.glob("readers_?.csv"))
        },
        "draw_kinds.csv": File(kinds.read, kinds.KEY, lambda *o: kinds.run(o[:4], [o[4]])),
        "reader_choice.csv": File(
            chosen.read,
            chosen.KEY,
            lambda *o: chosen.run(o[:4], [o[4]]),
            # of six readers, of which the forest takes half
            cost=lambda t: t.choose_seconds / np.where(t.reader == "forest", 2, 6),
        ),
        "frontier.csv": File(read_plain, frontier.KEY, lambda *o: frontier.run(o[:3], [o[3]])),
        "attacks.csv": File(
            read_plain, attacks.KEY, lambda *o: [attacks.quick_line(o)], cost=or_few_open(few)
        ),
        "grouping.csv": File(read_plain, grouping.KEY, lambda *o: [grouping.run(o)]),
        "without_groups.csv": File(read_plain, without.KEY, lambda *o: [without.run(o)]),
        "brothers.csv": File(
            read_plain,
            brothers.KEY,
            lambda *o: [brothers.run(o)],
            cost=lambda t: pd.Series(np.where(t.k == 5, 0.0, np.inf), index=t.index),
        ),
        "grand_contest.csv": File(read_plain, grand.KEY, lambda *o: [grand.run(o)]),
        "grouping_gap.csv": File(
            read_plain, ["case", "sample"], lambda *o: [grouping.gap(*o)], cost=few
        ),
        "grouping_bound.csv": File(
            read_plain,
            grouping.BOUND_KEY,
            lambda *o: [grouping.bounded(*o)],
            cost=lambda t: few(t) + 60.0 * (t.by != "pairs"),
        ),
        "noise.csv": File(
            partial(read_plain, setting=str),
            noise.KEY,
            lambda *o: [noise.run(o)],
            may=lambda t: np.isinf(t.epsilon) & ~t.method.isin(["dp_ebm"]),
        ),
        "weka_agreement.csv": File(partial(read_plain, run=str), ["family", "run"], line_of_weka),
        "weka_learners.csv": File(
            read_plain,
            ["preparation", "table", "learner"],
            lines_of_learners,
            cost=lambda t: t.table.isin(["adult", "nursery", "waveform"]) * 60.0,
        ),
    }


def measured(t, key):
    """Columns that have to come out as they are"""
    return [o for o in t if o not in {*key, *MADE, *TIMES, "made", "opendp", "interpret-core"}]


def rounding(line, key, column):
    """How near a number has to come, relative and absolute"""
    is_rough = any("logistic" in str(o) for o in (column, *line[key]))
    return 1e-6, (1e-3 if is_rough else 1.01e-6)


def alike(old, new, relative=1e-6, absolute=1.01e-6):
    """Is the value what was stored?"""
    if pd.isna(old) or pd.isna(new):
        return bool(pd.isna(old) and pd.isna(new)) or (old == "" or new == "")
    if isinstance(old, (int, float, np.number)) and not isinstance(old, (bool, np.bool_)):
        return bool(np.isclose(float(new), float(old), rtol=relative, atol=absolute))
    return str(old) == str(new)


def again(name, line):
    """What differs when a stored line is made again: column -> (stored, made)"""
    f = files()[name]
    key = tuple(line[o].item() if isinstance(line[o], np.generic) else line[o] for o in f.key)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = f.again(*key)
    (made,) = [o for o in lines if tuple(o[c] for c in f.key) == key]
    asked = [o for o in measured(line.index, f.key) if o in made]
    found = {o: (line[o], made[o]) for o in asked}
    return {o: v for o, v in found.items() if not alike(*v, *rounding(line, f.key, o))}


def drawn(name, seed, lines=1, most=MOST):
    """Some quick lines of a file, drawn by a seed"""
    f = files()[name]
    t = f.read(RESULTS / name)
    t = t[f.quick(t, most)]
    rng = np.random.default_rng([*str(seed).encode(), *name.encode()])
    rows = rng.choice(len(t), min(lines, len(t)), replace=False)
    return [t.iloc[i] for i in rows]


def today():
    """The seed of today, or that of the environment"""
    return os.environ.get("PPDT_STORED_SEED") or datetime.date.today().isoformat()


# ---------- hashes
def digest(path):
    """SHA-256 of a file, with the line ends of Unix"""
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def described(path):
    """The line of hashes.csv that a file has now"""
    t = pd.read_csv(path, dtype=str, keep_default_na=False)
    beside_it = path.with_name(f"{path.stem}_versions.csv")
    made = pd.read_csv(beside_it, dtype=str) if beside_it.is_file() else t
    versions = [o for o in (*MADE, "opendp", "interpret-core") if o in made]
    found = [f"{o} {' '.join(sorted(set(made[o]) - {''}))}" for o in versions]
    return dict(
        file=path.name, lines=len(t), sha256=digest(path), made="; ".join(found) or "not stated"
    )


def seals():
    """What hashes.csv should hold"""
    paths = sorted(o for o in RESULTS.glob("*.csv") if o != HASHES)
    return pd.DataFrame([described(o) for o in paths])


def broken():
    """Files that are not as sealed, missing ones and new ones too"""
    old = pd.read_csv(HASHES, dtype=str, keep_default_na=False)
    new = seals().astype(str)
    both = old.merge(new, how="outer", indicator=True)
    return sorted(set(both.file[both._merge != "both"]))


def main(args=None):
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("file", nargs="?", choices=list(files()), help="of this file only")
    p.add_argument("--lines", type=int, default=1, metavar="N", help="of each file (1)")
    p.add_argument("--most", type=float, default=MOST, metavar="SECONDS", help="a line (3)")
    p.add_argument("--seed", default=today(), help="what to draw (the date)")
    p.add_argument("--seal", action="store_true", help="write hashes.csv")
    a = p.parse_args(args)
    if a.seal:
        sealed = seals()
        atomic_write(HASHES, lambda tmp: sealed.to_csv(tmp, index=False))
        return print(f"{HASHES.name} written")
    bad = 0
    print(f"drawn by {a.seed}")
    for name in [a.file] if a.file else list(files()):
        for line in drawn(name, a.seed, a.lines, a.most):
            key = "/".join(str(line[o]) for o in files()[name].key)
            found = again(name, line)
            bad += bool(found)
            told = "; ".join(f"{o} {x} stored, {y} made" for o, (x, y) in found.items())
            print(f"{name} {key}: {told or 'as stored'}", flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
