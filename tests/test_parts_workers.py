"""Real workers of Dask and Spark are killed in each stage: the release is the same."""

import os
import signal
from functools import partial

import pytest
from test_scale import need, need_spark, population_parts

from ppdt.engine.command_parts import opened_engine
from ppdt.engine.part_engines import mapper_of
from ppdt.scale import anonymize_parts


class Killing:
    """An engine, in which the worker that begins a stage is killed"""

    def __init__(self, engine, folder):
        self.mapped, self.folder = mapper_of(engine), folder
        self.stages = 0

    def map(self, function, items):
        mark = self.folder / f"killed-{self.stages}"
        self.stages += 1

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
    how = dict(y="income", rows=700)
    wanted = anonymize_parts(tmp_path / "parts", tmp_path / "wanted", method, **how)
    with opened_engine(name, "1 GB") as engine:
        killing = Killing(engine, tmp_path)
        made = anonymize_parts(tmp_path / "parts", tmp_path / "made", method, **how, engine=killing)
    killed = [o for o in tmp_path.iterdir() if o.name.startswith("killed-")]
    assert len(killed) == killing.stages > 8
    assert made.schema.file["files"] == wanted.schema.file["files"]
    assert made.audit == wanted.audit
