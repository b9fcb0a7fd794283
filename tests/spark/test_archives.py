"""Archives as paths in Spark: planned on the driver, unpacked by whoever reads."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from fixtures.captures import path as capture_path

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


def test_archive_has_the_rows_of_its_folder(spark: SparkSession, tmp_path: Path) -> None:
    folder = capture_path("s1") / "shrunk"
    archive = tmp_path / "evidence.tar.gz"
    subprocess.run(["tar", "-czf", archive, "-C", folder, "."], check=True)
    read = spark.read.format("kafkalog").option("subscribe", "t")
    expected = sorted(map(str, read.load(str(folder)).collect()))
    assert expected
    assert sorted(map(str, read.load(str(archive)).collect())) == expected
    assert sorted(map(str, read.load(f"{archive}/broker-0").collect())) == expected


def test_damaged_archive_is_named_before_a_task_runs(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t-0"
    shutil.copytree(capture_path("s1") / "shrunk" / "broker-0" / "t-0", folder)
    archive = tmp_path / "evidence.tar"
    subprocess.run(["tar", "-cf", archive, "-C", tmp_path, "t-0"], check=True)
    archive.write_bytes(archive.read_bytes()[:5000])
    with pytest.raises(Exception, match=r"evidence\.tar: a damaged archive: it ends within t-0/"):
        spark.read.format("kafkalog").load(str(archive)).count()
