"""One measurement of pycanon in a fresh process of its own environment: python run_pycanon.py CSV

The last column of the CSV file is the secret, all others are quasi-identifiers. Reading the file is
not timed; the six calls that give k, distinct and entropy l, recursive (c,l), (alpha,k) and t are.
Prints one line of JSON. Needs nothing of ppdt.
"""

import argparse
import json
import platform
import time
from importlib.metadata import version

import pandas as pd
from pycanon import anonymity

p = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
)
p.add_argument("csv")
args = p.parse_args()

df = pd.read_csv(args.csv, keep_default_na=False)
*qi, secret = df.columns
calls = dict(
    k=anonymity.k_anonymity,
    distinct=anonymity.l_diversity,
    entropy=anonymity.entropy_l_diversity,
    recursive=anonymity.recursive_c_l_diversity,
    alpha_k=anonymity.alpha_k_anonymity,
    t=anonymity.t_closeness,
)
found, seconds, cpu = {}, {}, {}
for name, f in calls.items():
    c, t = time.process_time(), time.perf_counter()
    value = f(df, qi) if name == "k" else f(df, qi, [secret])
    seconds[name], cpu[name] = time.perf_counter() - t, time.process_time() - c
    value = [float(o) for o in (value if isinstance(value, tuple) else (value,))]
    value = [None if o != o else o for o in value]
    found[name] = value if len(value) > 1 else value[0]
print(
    json.dumps(
        dict(
            seconds=sum(seconds.values()),
            cpu=sum(cpu.values()),
            each=seconds,
            found=found,
            rows=len(df),
            version=version("pycanon"),
            python=platform.python_version(),
            pandas=pd.__version__,
        )
    )
)
