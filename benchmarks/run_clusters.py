"""One run of bench_clusters in a fresh process; prints JSON.

python run_clusters.py run SETTING ROWS K     a release of ours; ROWS as below
python run_clusters.py make CSV ROWS          the table as a file, its class last
python run_clusters.py loss CSV GROUPS        what somebody's groups lose of such a file

ROWS: rows of an invented population; 0: Adult's training rows; adult-4000: so many of them;
arx: these rows with the nine columns of ARX, all of which are categories with its hierarchies
"""

import json
import os
import sys
import time
from pathlib import Path

import common  # first: one thread

ARX = ("sex age race marital-status education native-country workclass occupation income").split()


def table(rows):
    """(X, y, taxonomies)"""
    from ppdt.datasets import fetch_adult, make_population

    common.find_data()
    if rows.isdigit() and int(rows):
        t = make_population(int(rows), random_state=0)
        return t[common.POPULATION_QI], t["income"], {}
    t = fetch_adult("train", complete=True)
    if rows == "arx":
        return t[ARX].astype({"age": str}), None, hierarchies()
    t = t if rows == "0" else t.sample(int(rows.removeprefix("adult-")), random_state=0)
    return t[common.ADULT_QI], t["income"], {}


def hierarchies():
    """ARX's, by column"""
    from ppdt.generalization import Taxonomy

    folder = Path(os.environ.get("PPDT_DATA", ".")) / "hierarchies" / "arx"
    if not folder.is_dir():
        raise SystemExit("the hierarchies of ARX were not found: set PPDT_DATA")
    return {o: Taxonomy.from_csv(folder / f"adult_{o}.csv", "str") for o in ARX}


def tool(setting, k, trees):
    from ppdt.clusters import ClusterAnonymizer
    from ppdt.mondrian import MondrianAnonymizer

    # "cluster, all moves, 5 rounds", "strict, 10000 moves"
    name, *words = setting.split(", ")
    said = {what: many for many, what in map(str.split, words)}
    most = said.get("moves", "0")
    refine = dict(refine=10**9 if most == "all" else int(most))
    refine |= dict(anneal=int(said["rounds"])) if "rounds" in said else {}
    options = dict(k=k, taxonomies=trees or None)
    if name == "cluster":
        return ClusterAnonymizer(**options, **refine)
    return MondrianAnonymizer(mode=name, **options, **refine)


def measured(X, data, trees=None):
    from ppdt.loss import gcp

    return round(gcp(data, X, form="spread", taxonomies=trees or None), 6)


def run(setting, rows, k):
    X, y, trees = table(rows)
    m = tool(setting, int(k), trees)
    start, wall = time.process_time(), time.perf_counter()
    release = m.anonymize(X, y)
    cpu, seconds = time.process_time() - start, time.perf_counter() - wall
    return dict(
        rows=len(X),
        attributes=X.shape[1],
        seconds=round(seconds, 3),
        cpu_seconds=round(cpu, 3),
        megabytes=round(common.peak() / 1e6),
        loss=measured(X, release.data, trees),
        classes=release.audit.n_classes,
        k_measured=release.audit.k,
    )


def make(path, rows):
    X, y, _ = table(rows)
    X.assign(income=y).to_csv(path, index=False)
    return dict(rows=len(X))


def loss(path, groups):
    """What the groups lose in sets and ranges"""
    import numpy as np
    import pandas as pd

    from ppdt.generalization import recode

    X = pd.read_csv(path, keep_default_na=False).iloc[:, :-1]
    found = json.loads(Path(groups).read_text())
    found = np.array(found["groups"] if isinstance(found, dict) else found)
    sizes = np.bincount(found)
    return dict(
        rows=len(X),
        attributes=X.shape[1],
        loss=measured(X, recode(X, found, "set")),
        classes=len(sizes),
        k_measured=int(sizes.min()),
    )


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    print(json.dumps(dict(run=run, make=make, loss=loss)[what](*given)))
