"""One task of bench_million in a fresh process: python run_million.py TASK FOLDER N

FOLDER has the files that `prepare` makes. Prints one line of JSON.
"""

import json
import sys
import time
import warnings
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import common  # first: one thread
import pandas as pd

QI = ["age", "education", "marital_status", "region"]
REST = ["occupation", "hours"]


def prepare(folder, n):
    """A raw table of invented people, its release as CSV and Parquet, and releases of Adult"""
    from ppdt.datasets import fetch_adult, make_population
    from ppdt.mondrian import MondrianAnonymizer

    people = make_population(n)[[*QI, *REST, "income"]]
    people.to_csv(folder / "people.csv", index=False)
    y = people.pop("income")
    release = MondrianAnonymizer(k=5, quasi_identifiers=QI, published=REST).anonymize(people, y)
    release.to_csv(folder / "release.csv")
    release.to_parquet(folder / "release.parquet")
    if n < 100_000:  # a try, which has no Adult
        t, qi = make_population(500).rename(columns={"income": "class"}), common.POPULATION_QI
    else:
        common.find_data()
        t, qi = fetch_adult("train", complete=True).rename(columns={"income": "class"}), None
    t = t[[*(qi or common.ADULT_QI), "class"]]
    t.to_pickle(folder / "raw.pkl")
    y = t.pop("class")
    for k in (5, 50):
        how = MondrianAnonymizer(k=k, mode="infogain", categories="subsets")
        how.anonymize(t, y).to_csv(folder / f"infogain{k}.csv")
    return lambda: None


def read(folder, end):
    """A release is read"""
    from ppdt.release import read_release

    return lambda: read_release(folder / f"release.{end}")


def kadet(n, public, k):
    """kADET learns"""
    from ppdt.datasets import make_population
    from ppdt.kadet import KADETClassifier

    X = make_population(n)[[*QI, *REST, "income"]]
    y = X.pop("income")
    return lambda: KADETClassifier(k=k, public=public).fit(X, y)


def command(folder):
    """The command protects a file"""
    from ppdt import cli

    given = ["--qi", ",".join(QI), "--publish", ",".join(REST), "--class", "income", "--k", "5"]
    target = str(folder / "out.csv")
    return lambda: cli.main(["anonymize", str(folder / "people.csv"), "-o", target, *given])


def c45(folder, name):
    """C4.5 learns"""
    from ppdt.c45 import C45Classifier
    from ppdt.release import read_release

    if name == "raw":
        X = pd.read_pickle(folder / "raw.pkl")
        y = X.pop("class")
    else:
        release = read_release(folder / f"{name}.csv")
        X, y = release.data, release.y
    return lambda: C45Classifier().fit(X, y)


def work_of(task, folder, n):
    """What is timed"""
    name, _, rest = task.partition(" ")
    if name == "prepare":
        return prepare(folder, n)
    if name == "read":
        return read(folder, rest)
    if name == "kadet":
        known, _, k = rest.partition(" ")
        public = {"none": [], "four": QI, "all": [*QI, *REST]}[known]
        return kadet(n, public, int(k))
    return command(folder) if name == "command" else c45(folder, rest)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    task, folder, n = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    work = work_of(task, folder, n)
    cpu, seconds = time.process_time(), time.perf_counter()
    with redirect_stdout(StringIO()):
        work()
    cpu, seconds = time.process_time() - cpu, time.perf_counter() - seconds
    print(json.dumps(dict(cpu=cpu, seconds=seconds)))
