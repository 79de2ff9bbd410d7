"""One step of bench_kactus in a fresh process; prints JSON.

python run_kactus.py make TABLE.pkl FACTOR PEOPLE     the table of Table 6, from Adult, or from so
many invented people python run_kactus.py tree TABLE.pkl MODEL.pkl         C4.5 python run_kactus.py
protect TABLE.pkl MODEL.pkl K    kACTUS with that tree; the audit has its own clock
"""

import json
import pickle
import sys
import time
from pathlib import Path

import common  # first: one thread
import pandas as pd


def clock():
    return time.perf_counter(), time.process_time()


def since(t):
    return [round(b - a, 3) for a, b in zip(t, clock())]


def megabytes():
    return round(common.peak() / 1e6)


def make(path, factor, people):
    sys.path.insert(0, str(common.ROOT / "scripts"))
    from kactus_runs import enlarged, enlarged_adult

    from ppdt.datasets import make_population

    common.find_data()
    X, y = (
        enlarged(make_population(int(people)), common.POPULATION_QI, "income", int(factor))
        if int(people)
        else enlarged_adult(int(factor))
    )
    pd.to_pickle((X, y), path)
    return dict(rows=len(X), attributes=X.shape[1])


def tree(path, model):
    from ppdt.c45 import C45Classifier

    X, y = pd.read_pickle(path)
    start = clock()
    clf = C45Classifier().fit(X, y)
    seconds, cpu = since(start)
    Path(model).write_bytes(pickle.dumps(clf))
    return dict(
        tree_seconds=seconds, tree_cpu=cpu, tree_megabytes=megabytes(), nodes=len(clf.tree_)
    )


def protect(path, model, k):
    from sklearn.frozen import FrozenEstimator

    import ppdt.engine.protecting
    from ppdt.kactus import KActusAnonymizer

    X, y = pd.read_pickle(path)
    clf, audit, apart = pickle.loads(Path(model).read_bytes()), ppdt.engine.protecting.audit, {}

    def timed(*a, **kw):
        apart["protect_megabytes"], start = megabytes(), clock()
        res = audit(*a, **kw)
        apart["audit_seconds"], apart["audit_cpu"] = since(start)
        return res

    ppdt.engine.protecting.audit = timed
    start = clock()
    release = KActusAnonymizer(k=int(k), inducer=FrozenEstimator(clf), random_state=0).anonymize(
        X, y
    )
    seconds, cpu = since(start)
    return apart | dict(
        protect_seconds=round(seconds - apart["audit_seconds"], 3),
        protect_cpu=round(cpu - apart["audit_cpu"], 3),
        audit_megabytes=megabytes(),
        lost=len(release.lost),
        classes=release.audit.n_classes,
        k_measured=release.audit.k,
    )


if __name__ == "__main__":
    print(json.dumps(dict(make=make, tree=tree, protect=protect)[sys.argv[1]](*sys.argv[2:])))
