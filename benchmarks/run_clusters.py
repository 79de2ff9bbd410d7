"""One run of bench_clusters in a fresh process; prints JSON.

python run_clusters.py SETTING ROWS K     rows of an invented population; 0: Adult's training rows
"""

import json
import sys
import time

import common  # first: one thread


def table(n):
    """(X, y)"""
    from ppdt.datasets import fetch_adult, make_population

    common.find_data()
    if n:
        t = make_population(n, random_state=0)
        return t[common.POPULATION_QI], t["income"]
    t = fetch_adult("train", complete=True)
    return t[common.ADULT_QI], t["income"]


def tool(setting, k):
    from ppdt.clusters import ClusterAnonymizer
    from ppdt.mondrian import MondrianAnonymizer

    # "cluster, all moves", "strict, 10000 moves"
    name, _, moves = setting.partition(", ")
    most = moves.removesuffix(" moves")
    refine = {} if not moves else dict(refine=10**9 if most == "all" else int(most))
    if name == "cluster":
        return ClusterAnonymizer(k=k, **refine)
    return MondrianAnonymizer(k=k, mode=name, **refine)


def run(setting, n, k):
    from ppdt.loss import gcp

    (X, y), m = table(int(n)), tool(setting, int(k))
    start, wall = time.process_time(), time.perf_counter()
    release = m.anonymize(X, y)
    cpu, seconds = time.process_time() - start, time.perf_counter() - wall
    most = common.peak()
    return dict(
        rows=len(X),
        attributes=X.shape[1],
        seconds=round(seconds, 3),
        cpu_seconds=round(cpu, 3),
        megabytes=round(most / 1e6),
        loss=round(gcp(release.data, X, form="spread"), 6),
        classes=release.audit.n_classes,
        k_measured=release.audit.k,
    )


if __name__ == "__main__":
    print(json.dumps(run(*sys.argv[1:])))
