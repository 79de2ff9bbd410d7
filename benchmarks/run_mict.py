"""One run of bench_mict in a fresh process; prints JSON.

python run_mict.py make TABLE.csv ROWS PEOPLE           Adult's complete rows (the first ROWS of
them in a fixed shuffle; 0: all), or so many invented people python run_mict.py protect TABLE.csv
METHOD K BLOCKS    METHOD: mdav, vmdav, mict (V-MDAV within leaves); the audit has its own clock
python run_mict.py loss TABLE.csv GROUPS.json           IL of groups that another program made
"""

import json
import sys
import time
from pathlib import Path

import common  # first: one thread
import numpy as np
import pandas as pd


def clock():
    return time.perf_counter(), time.process_time()


def since(t):
    return [round(b - a, 3) for a, b in zip(t, clock())]


def megabytes():
    return round(common.peak() / 1e6)


def make(path, rows, people):
    from ppdt.datasets import fetch_adult, make_population

    common.find_data()
    if int(people):
        t = make_population(int(people), random_state=0)[[*common.POPULATION_QI, "income"]]
    else:
        t = fetch_adult("all", complete=True).drop(columns="fnlwgt")
    if int(rows):
        t = t.sample(int(rows), random_state=0)
    t.to_csv(path, index=False)
    return dict(rows=len(t), attributes=t.shape[1] - 1)


def read(path):
    t = pd.read_csv(path, keep_default_na=False)
    return t.iloc[:, :-1], t.iloc[:, -1]


def protect(path, method, k, blocks):
    import ppdt.engine.protecting
    from ppdt.mict import MicroaggregationAnonymizer, MiCTAnonymizer

    X, y = read(path)
    audit, apart, before = ppdt.engine.protecting.audit, {}, megabytes()

    def timed(*a, **kw):
        apart["megabytes"], start = megabytes(), clock()
        res = audit(*a, **kw)
        apart["audit_seconds"], apart["audit_cpu"] = since(start)
        return res

    ppdt.engine.protecting.audit = timed
    p = dict(k=int(k), blocks=int(blocks) or None)
    tool = (
        MiCTAnonymizer(**p) if method == "mict" else MicroaggregationAnonymizer(method=method, **p)
    )
    start = clock()
    release = tool.anonymize(X, y)
    seconds, cpu = since(start)
    sizes = np.bincount(tool.groups_)
    return apart | dict(
        seconds=round(seconds - apart["audit_seconds"], 3),
        cpu_seconds=round(cpu - apart["audit_cpu"], 3),
        table_megabytes=before,
        il=round(release.audit.il, 4),
        k_measured=release.audit.k,
        groups=len(sizes),
        largest=int(sizes.max()),
    )


def loss(path, groups):
    from ppdt.engine.mixed_space import mixed_space, sum_of_squares
    from ppdt.tables import encode

    X, _ = read(path)
    sse, sst = sum_of_squares(
        mixed_space(*zip(*(encode(X[o]) for o in X))), json.loads(Path(groups).read_text())
    )
    return dict(il=round(100 * sse / sst, 4))


if __name__ == "__main__":
    print(json.dumps(dict(make=make, protect=protect, loss=loss)[sys.argv[1]](*sys.argv[2:])))
