"""One measurement of anonypy in a fresh process of its own environment: python run_anonypy.py CSV
K OUT

The last column of the CSV file is anonypy's "sensitive column", all others are its feature columns.
Reading the file is not timed; turning text into categories (its README asks for that), anonymizing,
and making the table of its rows are. The rows, and the group of each original row, are written to
OUT. Prints one line of JSON. Needs nothing of ppdt.
"""

import argparse
import json
import platform
import time
from importlib.metadata import version

import anonypy
import pandas as pd

p = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
)
p.add_argument("csv")
p.add_argument("k", type=int)
p.add_argument("out")
args = p.parse_args()

df = pd.read_csv(args.csv, keep_default_na=False)
groups = [0] * len(df)
c, t = time.process_time(), time.perf_counter()
for o in df.columns:
    if not pd.api.types.is_numeric_dtype(df[o]):
        df[o] = df[o].astype("category")
*features, sensitive = df.columns
preserver = anonypy.Preserver(df, features, sensitive)
partition, kept = preserver.modrian.partition, []
# keeps the partition for a check; costs nothing
preserver.modrian.partition = lambda *a: kept.append(partition(*a)) or kept[0]
table = pd.DataFrame(preserver.anonymize_k_anonymity(k=args.k))
seconds, cpu = time.perf_counter() - t, time.process_time() - c

for g, rows in enumerate(kept[0]):
    for i in rows:
        groups[i] = g
with open(args.out, "w", encoding="utf-8") as f:
    json.dump(dict(rows=table.to_dict("records"), groups=groups), f)
print(
    json.dumps(
        dict(
            seconds=seconds,
            cpu=cpu,
            rows=len(df),
            classes=len(kept[0]),
            version=version("anonypy"),
            python=platform.python_version(),
            pandas=pd.__version__,
        )
    )
)
