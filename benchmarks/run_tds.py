"""One run of bench_tds in a fresh process; prints JSON.

python run_tds.py SETTING ROWS K PEOPLE     rows drawn from Adult (0: Adult itself), or from so many
invented people
"""

import json
import sys
import time

import common  # first: one thread
import numpy as np
import pandas as pd


def clock():
    return time.perf_counter(), time.process_time()


def since(t):
    return [round(b - a, 3) for a, b in zip(t, clock())]


def table(n, people):
    """(X, y, taxonomies)"""
    from ppdt.datasets import fetch_adult, make_population
    from ppdt.generalization import Taxonomy, load_adult_taxonomies

    common.find_data()
    if people:
        t = make_population(people, random_state=0)
        X, y = t[common.POPULATION_QI], t["income"]
        trees = {
            o: Taxonomy.from_dict({"any": sorted(X[o].unique())})
            for o in X
            if not pd.api.types.is_numeric_dtype(X[o])
        }
    else:
        t = pd.concat([fetch_adult(o, complete=True) for o in ("train", "test")], ignore_index=True)
        X, y, trees = t.drop(columns=["fnlwgt", "income"]), t["income"], load_adult_taxonomies()
    if not n:
        return X, y, trees
    rng = np.random.default_rng(0)
    i = rng.integers(0, len(X), n)
    drawn = pd.DataFrame(
        {o: X[o].take(np.where(rng.random(n) < 0.1, rng.permutation(i), i)).to_numpy() for o in X}
    )
    return drawn, y.iloc[i].reset_index(drop=True), trees


def run(setting, n, k, people):
    import ppdt.engine.protecting
    import ppdt.engine.tds_cells
    import ppdt.tds

    X, y, trees = table(int(n), int(people))
    apart = {}

    def timed(name, f):
        def g(*a, **kw):
            start = clock()
            res = f(*a, **kw)
            apart[name] = since(start)
            return res

        return g

    ppdt.engine.protecting.audit, ppdt.engine.tds_cells.specialize = (
        timed("audit", ppdt.engine.protecting.audit),
        timed("search", ppdt.engine.tds_cells.specialize),
    )
    threshold = "valid" if setting.endswith("valid") else "literal"
    tool = (
        ppdt.tds.TDSAnonymizer(k=int(k), taxonomies=trees, threshold=threshold)
        if setting.startswith("TDS")
        else ppdt.tds.TDRAnonymizer(
            k=int(k), disclose="score" if setting.endswith("score") else "gain"
        )
    )
    start = clock()
    found = tool.anonymize(X, y).audit
    seconds, cpu = since(start)
    return dict(
        rows=len(X),
        rows_wanted=int(n) or (0 if int(people) else len(X)),
        attributes=X.shape[1],
        seconds=round(seconds - apart["audit"][0], 3),
        cpu_seconds=round(cpu - apart["audit"][1], 3),
        search=apart["search"][0],
        audit_seconds=apart["audit"][0],
        megabytes=round(common.peak() / 1e6),
        steps=len(tool.trace_),
        classes=found.n_classes,
        k_measured=found.k,
    )


if __name__ == "__main__":
    print(json.dumps(run(*sys.argv[1:])))
