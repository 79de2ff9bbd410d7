"""Real workers of Dask and Spark are killed in each stage: the release is the same."""

import os
import signal
import time
from functools import partial

import pytest
from test_scale import need, need_spark, population_parts

from ppdt.engine.command_parts import opened_engine
from ppdt.engine.part_engines import mapper_of
from ppdt.scale import DASK_SETTINGS, anonymize_parts

STAGES = {
    "surveyed",
    "code_part",
    "count_values",
    "count_files",
    "send_rows_of",
    "finish_end",
    "rows_between",
    "write_range",
    "count_classes",
    "merge_classes",
}


class Killing:
    """An engine in which a worker is killed that begins a stage, of each name once"""

    def __init__(self, engine, folder):
        self.engine, self.mapped = engine, mapper_of(engine)
        self.folder, self.stages = folder, set()

    def wait(self):
        """Until all workers of Dask run; one that dies while it starts is not started again"""
        of = getattr(self.engine, "cluster", None)
        while of and any(o.status.name != "running" for o in of.workers.values()):
            time.sleep(0.05)

    def map(self, function, items):
        inner = function.args[0]
        stage = getattr(inner, "func", inner).__name__
        if stage in self.stages:
            return self.mapped(function, items)
        self.stages.add(stage)
        self.wait()
        mark = self.folder / f"killed-{stage}"

        def killed_once(function, item):
            try:
                mark.touch(exist_ok=False)
            except FileExistsError:
                return function(item)
            os.kill(os.getpid(), signal.SIGKILL)

        return self.mapped(partial(killed_once, function), items)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["dask", "spark"])
def test_a_worker_is_killed_in_each_stage(name, tmp_path, monkeypatch):
    need_spark() if name == "spark" else need("distributed")
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    _, method = population_parts(tmp_path / "parts")
    about = dict(source=tmp_path / "parts", anonymizer=method, y="income", rows=700)
    wanted = anonymize_parts(target=tmp_path / "wanted", **about)
    with opened_engine(name, "1 GB") as engine:
        killing = Killing(engine, tmp_path)
        made = anonymize_parts(target=tmp_path / "made", engine=killing, **about)
    killed = {o.name.removeprefix("killed-") for o in tmp_path.glob("killed-*")}
    assert killed == killing.stages and killed >= STAGES
    assert made.schema.file["files"] == wanted.schema.file["files"]
    assert made.audit == wanted.audit


@pytest.mark.filterwarnings("ignore")
def test_without_workers_it_ends(tmp_path):
    """Dask alone would wait for ever"""
    need("distributed")
    import dask
    from distributed import Client, LocalCluster

    soon = {"distributed.scheduler.no-workers-timeout": "1s"}
    assert soon.keys() < DASK_SETTINGS.keys()
    where = dict(processes=False, dashboard_address=None, local_directory=str(tmp_path))
    with dask.config.set(DASK_SETTINGS | soon), LocalCluster(n_workers=0, **where) as cluster:
        with Client(cluster) as client, pytest.raises(RuntimeError, match="Got NoWorkerError"):
            mapper_of(client)(abs, [-1])
