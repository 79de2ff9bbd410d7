"""One run of bench_erp in a fresh process; prints JSON.

python run_erp.py make TABLE.csv PEOPLE              nine tenths of Adult's complete rows with all
14 attributes, or so many invented people python run_erp.py protect TABLE.csv METHOD K
METHOD: tiered, own, uniform; the tree and the audit have their own clocks
"""

import json
import sys

import common  # first: one thread
import numpy as np
from run_mict import clock, megabytes, read, since


def make(path, people):
    from ppdt.datasets import fetch_adult, make_population

    common.find_data()
    if int(people):
        t = make_population(int(people), random_state=0)[[*common.POPULATION_QI, "income"]]
    else:
        t = fetch_adult("all", complete=True).sample(frac=0.9, random_state=0)
    t.to_csv(path, index=False)
    return dict(rows=len(t), attributes=t.shape[1] - 1)


def protect(path, method, k):
    import ppdt.engine.protecting
    from ppdt.c45 import C45Classifier
    from ppdt.erp import ERPAnonymizer

    X, y = read(path)
    whole, apart, before = ppdt.engine.protecting.audit, {}, megabytes()
    start = clock()
    tree = C45Classifier(prune=False).fit(X, y)
    apart["tree_seconds"], apart["tree_cpu"] = since(start)

    def timed(*a, **kw):
        apart["megabytes"], start = megabytes(), clock()
        res = whole(*a, **kw)
        apart["audit_seconds"], apart["audit_cpu"] = since(start)
        return res

    ppdt.engine.protecting.audit = timed
    tool = ERPAnonymizer(
        int(k),
        inducer=tree,
        recoding="uniform" if method == "uniform" else "tiered",
        assign="own" if method == "own" else "random",
        random_state=0,
    )
    start = clock()
    release = tool.anonymize(X, y)
    seconds, cpu = since(start)
    return apart | dict(
        seconds=round(seconds - apart["audit_seconds"], 3),
        cpu_seconds=round(cpu - apart["audit_cpu"], 3),
        table_megabytes=before,
        gcp=round(release.audit.gcp, 4),
        leaves=int((tool.tree_.n[tool.tree_.attribute < 0] > 0).sum()),
        groups=len(np.unique(tool.groups_)),
        classes=release.audit.n_classes,
    )


if __name__ == "__main__":
    print(json.dumps(dict(make=make, protect=protect)[sys.argv[1]](*sys.argv[2:])))
