"""A standalone cluster: the driver and the workers have the wheel, and no checkout."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import cluster, replica
from fixtures.spark_cluster import SparkCluster, environment, spark_cluster, wheel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.oracle

PROGRAM = """
import json, os, sys
from pyspark import TaskContext
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
spark.sparkContext.setLogLevel("OFF")
read = spark.read.format("kafkalog").option("minPartitions", "4").load(sys.argv[1])
where = spark.sparkContext.range(2, numSlices=2).map(lambda _: os.getcwd()).collect()
rows = sorted((row.partition, row.offset) for row in read.collect())
tasks = read.rdd.getNumPartitions()
print(json.dumps({"rows": rows, "tasks": tasks, "where": where}))
"""
ROWS = [[0, offset] for offset in range(10)] + [[1, offset] for offset in range(5)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Brokers' log directories in ``evidence``; where drivers run is ``elsewhere``."""
    root = tmp_path_factory.mktemp("cluster")
    cluster(
        root / "evidence",
        {
            0: [
                replica("0-3/e0 4-5/e0", topic="orders"),
                replica("0-4/e0", topic="orders", partition=1),
            ],
            1: [replica("0-3/e0 4-5/e0 6-9/e0", topic="orders")],
        },
    )
    (root / "elsewhere").mkdir()
    return root


@pytest.fixture(scope="module")
def built(folder: Path) -> Path:
    return wheel(folder / "wheel")


@pytest.fixture(scope="module")
def installed(folder: Path, built: Path) -> Path:
    """A Python with the wheel."""
    return environment(folder / "installed", built)


@pytest.fixture(scope="module")
def bare(folder: Path) -> Path:
    """A Python with all that kafkalog needs, but without it."""
    return environment(folder / "bare", None)


@pytest.fixture(scope="module")
def started(folder: Path) -> Iterator[SparkCluster]:
    with spark_cluster(folder) as running:
        yield running


def answer(
    started: SparkCluster, folder: Path, *options: str, **variables: Path | str
) -> dict[str, Any]:
    """What the program prints; or, if it fails, what Spark says."""
    done = started.submit(
        PROGRAM,
        "../evidence",
        options=options,
        variables={name: str(value) for name, value in variables.items()},
        cwd=folder / "elsewhere",
    )
    if done.returncode:
        return {"error": done.stdout + done.stderr}  # spark-submit mixes them
    (line,) = [line for line in done.stdout.splitlines() if line.startswith('{"rows"')]
    found: dict[str, Any] = json.loads(line)
    return found


def test_the_installed_wheel_is_enough(
    started: SparkCluster, folder: Path, installed: Path
) -> None:
    found = answer(started, folder, PYSPARK_PYTHON=installed)
    assert found["rows"] == ROWS  # of a path that is relative to the driver
    assert found["tasks"] == 2
    for path in found["where"]:
        assert os.path.commonpath([path, folder]) == str(folder)
        assert "elsewhere" not in path


def test_a_python_without_kafkalog_does_not_find_the_source(
    started: SparkCluster, folder: Path, bare: Path
) -> None:
    found = answer(started, folder, PYSPARK_PYTHON=bare)
    assert "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: kafkalog" in found["error"]
