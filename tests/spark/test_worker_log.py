"""Warnings in Spark's Python workers: one logger, at WARN."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

PROGRAM = """
import logging, sys
from types import SimpleNamespace

sys.modules["__main__"].__spec__ = SimpleNamespace(name={main!r})
import spark_datasource

{set_up}
logging.getLogger("kafkalog_reader.scan.damage").warning("a torn end of %s", "t-0")
logging.getLogger("spark_datasource.lost_data").error("a lost end")
logging.getLogger("spark_datasource.metrics").info("not printed")
logging.getLogger("another.package").warning("of another package")
"""
TIME = r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d"
OTHER = "of another package\n"


@pytest.mark.parametrize(
    ("main", "set_up", "printed"),
    [
        ("pyspark.daemon", "", rf"{TIME} WARN kafkalog: a torn end of t-0\n"
                               rf"{TIME} ERROR kafkalog: a lost end\n{OTHER}"),
        ("pyspark.daemon", "logging.getLogger('kafkalog').setLevel('ERROR')",
         rf"{TIME} ERROR kafkalog: a lost end\n{OTHER}"),
        ("pyspark.daemon",
         "logging.basicConfig(format='%(levelname)s %(name)s|%(message)s', level='INFO')",
         r"WARNING kafkalog\|a torn end of t-0\nERROR kafkalog\|a lost end\n"
         r"INFO spark_datasource.metrics\|not printed\nWARNING another.package\|" + OTHER),
        ("program", "", rf"a torn end of t-0\na lost end\n{OTHER}"),
    ],
    ids=["as_spark", "a_level", "handlers_of_the_program", "no_worker"],
)  # fmt: skip
def test_workers_warn_as_spark_does(main: str, set_up: str, printed: str) -> None:
    """In a process of its own: pytest handles all records."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(main=main, set_up=set_up)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert re.fullmatch(printed, done.stderr), done.stderr


def test_spark_collects_warnings_of_driver_and_executors(
    tmp_path: Path, spark: SparkSession
) -> None:
    """Planning warns of an option, and reading warns of a batch with a wrong checksum."""
    cluster(tmp_path, {1: [replica("0-3/e0 4-5/e0", high_watermark=6)]})
    (log,) = tmp_path.glob("*/t-0/*.log")
    content = bytearray(log.read_bytes())
    content[-1] ^= 1
    log.write_bytes(content)
    setting = "spark.sql.pyspark.worker.logging.enabled"
    spark.conf.set(setting, "true")
    try:
        read = spark.read.format("kafkalog").options(groupIdPrefix="x", mode="PERMISSIVE")
        assert read.load(str(tmp_path)).count() == 4
        if spark.version.startswith("4.0."):  # it collects no logs of workers
            return
        found = spark.sql("SELECT level, logger, msg FROM python_worker_logs()").collect()
    finally:
        spark.conf.unset(setting)
    warnings = [row for row in found if row.level == "WARNING"]
    assert {row.logger for row in warnings} == {"kafkalog"}
    said = "\n".join(row.msg for row in warnings)
    assert "contacts no broker: groupIdPrefix" in said
    assert "CRC" in said
