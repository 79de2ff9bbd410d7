"""One audit by ppdt in a fresh process: python run_audit.py TABLE [--release K]

TABLE is a CSV file or a pickled DataFrame; its last column is the class, and the secret. All others
are quasi-identifiers. Reading it is not timed, nor is making the release; the audit is. Prints one
line of JSON.
"""

import argparse
import json
import time

import common  # first: one thread
import pandas as pd

from ppdt.mondrian import MondrianAnonymizer
from ppdt.privacy import audit

p = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
)
p.add_argument("table")
p.add_argument(
    "--release",
    type=int,
    metavar="K",
    help=(
        "audit a k-anonymous release of the table beside the table: also the loss, and which rows"
        " fit whom"
    ),
)
args = p.parse_args()

X = (
    pd.read_pickle(args.table)
    if args.table.endswith(".pkl")
    else pd.read_csv(args.table, keep_default_na=False)
)
y = X.pop(X.columns[-1])
data, more = X, dict(y=y)
if args.release:
    data, more = (
        MondrianAnonymizer(k=args.release).anonymize(X, y),
        dict(original=X, k=args.release),
    )
before, c, t = common.resident(), time.process_time(), time.perf_counter()
a = audit(data, **more)
seconds, cpu = time.perf_counter() - t, time.process_time() - c
print(
    json.dumps(
        dict(
            seconds=seconds,
            cpu=cpu,
            peak=common.peak(),
            memory=common.peak() - before,
            rows=len(X),
            columns=X.shape[1],
            classes=a.n_classes,
            smallest=a.k,
            found=dict(
                k=a.k,
                distinct=a.l_distinct,
                entropy=a.l_entropy,
                c=a.c_recursive if a.c_recursive != float("inf") else None,
                alpha=a.alpha,
                t=a.t,
            ),
            fits=dict(one_k=a.one_k, k_one=a.k_one, k_k=a.k_k, global_one_k=a.global_one_k),
        )
    )
)
