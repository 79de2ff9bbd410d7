"""MDAV of anonypyx in a fresh process of its own environment: python run_anonypyx.py CSV K OUT

Text becomes categories, as its README asks for; their values are numbered, since with pandas 3 it
fails on others. Timed: its preparation and its groups; it publishes no mixed centroids. The group
of each row is written to OUT. Prints one line of JSON. Needs nothing of ppdt.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
import json
import re
import resource
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from anonypyx.microaggregation import MDAVGeneric


def held():
    try:
        return int(re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
    except (OSError, TypeError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
            1 if sys.platform == "darwin" else 1024
        )


df = pd.read_csv(sys.argv[1], keep_default_na=False)
t, c = time.perf_counter(), time.process_time()
for o in df.columns:
    df[o] = (
        df[o].astype(float)
        if pd.api.types.is_numeric_dtype(df[o])
        else pd.Categorical(pd.factorize(df[o])[0])
    )
clusters = MDAVGeneric(df, list(df.columns)).partition(int(sys.argv[2]))
seconds, cpu = time.perf_counter() - t, time.process_time() - c
groups = [0] * len(df)
for g, rows in enumerate(clusters):
    for i in rows:
        groups[i] = g
Path(sys.argv[3]).write_text(json.dumps(groups))
print(
    json.dumps(
        dict(
            seconds=round(seconds, 3),
            cpu_seconds=round(cpu, 3),
            megabytes=round(held() / 1e6),
            version=version("anonypyx"),
            pandas=pd.__version__,
        )
    )
)
