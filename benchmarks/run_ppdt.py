"""One measurement of ppdt in a fresh process: python run_ppdt.py TABLE K [--out CSV] [--again N]

TABLE is a CSV file or a pickled DataFrame; its last column is the class, all others are
quasi-identifiers. Reading it is not timed; encoding, partition, release and audit are. Prints one
line of JSON.
"""

import argparse
import json
import time

import common  # first: one thread
import pandas as pd

from ppdt.mondrian import MondrianAnonymizer

p = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
)
p.add_argument("table")
p.add_argument("k", type=int)
p.add_argument("--out", help="write the release here (not timed)")
p.add_argument("--again", type=int, default=0, help="calls after the first")
args = p.parse_args()

X = (
    pd.read_pickle(args.table)
    if args.table.endswith(".pkl")
    else pd.read_csv(args.table, keep_default_na=False)
)
y = X.pop(X.columns[-1])
before, seconds, cpu = common.resident(), [], []
for _ in range(1 + args.again):
    c, t = time.process_time(), time.perf_counter()
    release = MondrianAnonymizer(k=args.k).anonymize(X, y)
    seconds.append(time.perf_counter() - t)
    cpu.append(time.process_time() - c)
    if len(seconds) == 1:
        memory = common.peak() - before
if args.out:
    release.to_csv(args.out)
print(
    json.dumps(
        dict(
            seconds=seconds[0],
            cpu=cpu[0],
            again=seconds[1:],
            memory=memory,
            rows=len(X),
            k_measured=int(release.audit.k),
            classes=int(release.audit.n_classes),
        )
    )
)
