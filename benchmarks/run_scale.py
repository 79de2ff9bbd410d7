"""One run of bench_scale.py in a fresh process, which measures itself and its children."""

import argparse
import contextlib
import hashlib
import itertools
import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import common  # first: one thread
import pandas as pd
import psutil

from ppdt.c45 import C45Classifier
from ppdt.clusters import ClusterAnonymizer
from ppdt.mondrian import MondrianAnonymizer
from ppdt.scale import DASK_SETTINGS, anonymize_parts, fit_parts
from ppdt.trees import tree_text


def bytes_in(folder):
    """Bytes of all files that lie in a folder now"""
    n = 0
    for o in Path(folder).rglob("*"):
        with contextlib.suppress(OSError):
            n += o.stat().st_size if o.is_file() else 0
    return n


class Counting:
    """The built-in map, which counts how often the top of the tree reads codes"""

    def __init__(self):
        self.passes = 0

    def map(self, function, items):
        inner = function.args[0]
        name = getattr(getattr(inner, "func", inner), "__name__", "")
        self.passes += name in ("count_files", "count_nodes", "count_moved")
        return map(function, items)


class Watch(threading.Thread):
    """CPU seconds and peak memory of this process and its children"""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.disk = folder, 0
        self.own = psutil.Process()
        self.cpu, self.together, self.largest = {}, 0, 0
        self.before = self.seconds(self.own)
        self.start()

    @staticmethod
    def seconds(process):
        t = process.cpu_times()
        return t.user + t.system

    def look(self):
        """Measure once"""
        held = []
        for p in [self.own, *self.own.children(recursive=True)]:
            try:
                held.append(p.memory_info().rss)
                self.cpu[p.pid] = self.seconds(p)
            except psutil.Error:
                continue
        self.together = max(self.together, sum(held))
        self.largest = max(self.largest, *held)

    def run(self):
        for i in itertools.count():
            self.look()
            if i % 50 == 0:
                self.disk = max(self.disk, bytes_in(self.folder))
            time.sleep(0.1)

    def found(self):
        """What was measured, in seconds and megabytes"""
        self.look()
        cpu = sum(self.cpu.values()) - self.before
        mega = [round(o / 1e6) for o in (self.together, self.largest)]
        disk = round(max(self.disk, bytes_in(self.folder)) / 1e6)
        return dict(
            cpu_seconds=round(cpu, 1), mb_together=mega[0], mb_largest=mega[1], mb_disk=disk
        )


def engine_of(name, memory, scratch):
    """An engine by its name"""
    if name == "dask":
        import dask
        from distributed import Client, LocalCluster

        where = dict(dashboard_address=None, local_directory=f"{scratch}/dask")
        dask.config.set(DASK_SETTINGS)
        return Client(LocalCluster(2, threads_per_worker=1, memory_limit=memory, **where))
    if name == "spark":
        from pyspark.sql import SparkSession

        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        return builder.config("spark.local.dir", f"{scratch}/spark").getOrCreate()
    return Counting() if name == "here" else name


def one(name, folder, memory):
    """Protect the parts once, and measure"""
    qi = common.POPULATION_QI
    clusters, name = name.startswith("cluster "), name.removeprefix("cluster ")
    method = MondrianAnonymizer(5, qi, published=["disease"])
    if clusters:
        method = ClusterAnonymizer(5, qi, published=["disease"], blocks="strict")
    parts = Path(folder) / "parts"
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        engine = None if name == "memory" else engine_of(name, memory, scratch)
        watch, start = Watch(scratch), time.time()
        if engine is None:
            t = pd.concat([pd.read_parquet(o) for o in sorted(parts.iterdir())], ignore_index=True)
            release = method.anonymize(t.drop(columns="income"), t["income"])
            release.to_parquet(Path(scratch) / "out.parquet")
            found, files = release.audit, 1
            mb_release = round(bytes_in(scratch) / 1e6)
        else:
            made = anonymize_parts(
                parts, f"{scratch}/out", method, y="income", engine=engine, memory=memory
            )
            found, files = made.audit, len(made)
            mb_release = round(bytes_in(f"{scratch}/out") / 1e6)
        told = dict(seconds=round(time.time() - start, 1)) | watch.found()
    sizes = pd.util.hash_array(pd.Series(found.class_sizes).to_numpy()).sum()
    told |= dict(mb_parts=round(bytes_in(parts) / 1e6), mb_release=mb_release)
    told |= dict(
        passes=getattr(engine, "passes", None),
        files=files,
        rows=found.n_rows,
        classes=found.n_classes,
        smallest=found.k,
    )
    return told | dict(gcp=found.gcp, sizes=f"{sizes:x}")


def one_tree(name, folder, memory):
    """Learn a tree from the parts once, and measure"""
    about, parts = dict(y="income", columns=common.POPULATION_QI), Path(folder) / "parts"
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        engine = None if name == "memory" else engine_of(name, memory, scratch)
        watch, start = Watch(scratch), time.time()
        if engine is None:
            t = pd.concat([pd.read_parquet(o) for o in sorted(parts.iterdir())], ignore_index=True)
            clf = C45Classifier().fit(t[about["columns"]], t["income"])
        else:
            where = f"{scratch}/work"
            clf = fit_parts(
                parts, C45Classifier(), **about, engine=engine, memory=memory, work=where
            )
        told = dict(seconds=round(time.time() - start, 1)) | watch.found()
    tree = clf.tree_
    text = hashlib.sha256(tree_text(tree, counts=True).encode()).hexdigest()[:16]
    told |= dict(passes=getattr(engine, "passes", None), rows=int(tree.n[0]))
    return told | dict(nodes=len(tree), leaves=tree.n_leaves, tree=text)


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("engine")
    p.add_argument("folder", help="where prepare() put the parts")
    p.add_argument("memory", help="of a worker, such as 1.5 GB")
    p.add_argument("--tree", action="store_true", help="learn a tree instead")
    args = p.parse_args()
    run = one_tree if args.tree else one
    print(json.dumps(run(args.engine, args.folder, args.memory)), flush=True)
