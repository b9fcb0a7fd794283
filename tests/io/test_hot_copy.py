"""A checkpoint ahead of its log: a copy of a running broker, or a log that lost its end."""

from __future__ import annotations

import os
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, data_batch, message_batch, replica
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import request, table

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.integrity.finding import Finding

HOUR = 3600


def written(root: Path, *, last_record: float) -> Path:
    """A log directory whose log ends at 1 and whose high watermark is 5."""
    batch = data_batch(
        0, [Record(offset_delta=0, value=b"a")], base_timestamp=int(last_record * 1000)
    )
    return cluster(root, {1: replica([batch], high_watermark=5)})[1]


def ahead(root: Path) -> Finding:
    findings = table("findings")
    asked = request(findings)
    units = findings.units(discover([str(root)]), asked)
    found = [each for unit in units for each, _ in verify(unit, asked).findings]
    (only,) = [each for each in found if each.code == "KL-304"]
    return only


@pytest.mark.parametrize(
    ("record", "checkpoint", "log", "severity"),
    [
        pytest.param(0, 2, 0, "L", id="checkpoint_copied_after_a_log_that_was_written_to"),
        pytest.param(0, -2, 0, "C", id="checkpoint_older_than_the_copy_of_the_log"),
        pytest.param(-HOUR, 2, 0, "C", id="nobody_wrote_when_the_log_was_copied"),
        pytest.param(0, 20, 10, "C", id="no_copy_the_log_is_younger_than_what_is_written_once"),
    ],
)
def test_times_of_files_tell_a_hot_copy_from_a_log_that_lost_its_end(
    record: int, checkpoint: int, log: int, severity: str, tmp_path: Path
) -> None:
    now = time.time()
    root = written(tmp_path, last_record=now + record)
    os.utime(root / "replication-offset-checkpoint", (now + checkpoint, now + checkpoint))
    if log:
        (path,) = (root / "t-0").glob("*.log")
        os.utime(path, (now + log, now + log))
        for once in (root / "t-0" / "partition.metadata", root / "meta.properties"):
            os.utime(once, (time.time(), time.time()))
    found = ahead(tmp_path)
    assert (found.severity, found.confidence) == (severity, "possible")


@pytest.mark.parametrize(("age", "severity"), [(0, "L"), (HOUR, "C")])
def test_without_timestamps_the_time_of_modification_says_when_a_log_was_written(
    age: int, severity: str, tmp_path: Path
) -> None:
    """Messages of magic 0 have none; cp -a keeps when the broker wrote the last one."""
    batch = message_batch(0, [Record(offset_delta=0, value=b"a")], magic=0)
    root = cluster(tmp_path, {1: replica([batch], high_watermark=5)})[1]
    now = time.time()
    (log,) = (root / "t-0").glob("*.log")
    os.utime(log, (now - age, now - age))
    for once in (root / "t-0" / "partition.metadata", root / "meta.properties"):
        os.utime(once, (now - 2 * HOUR, now - 2 * HOUR))
    os.utime(root / "replication-offset-checkpoint", (now + 2, now + 2))
    assert ahead(tmp_path).severity == severity


@pytest.mark.parametrize(("second", "severity"), [(0, "L"), (-1, "C")])
def test_tar_keeps_whole_seconds_of_the_time_of_a_checkpoint(
    second: int, severity: str, tmp_path: Path
) -> None:
    """Written within the second in which its log was copied, it may have been written later."""
    root = written(tmp_path, last_record=time.time())
    (log,) = (root / "t-0").glob("*.log")
    whole = int(log.stat().st_ctime) + second
    os.utime(root / "replication-offset-checkpoint", (whole, whole))
    assert ahead(tmp_path).severity == severity


def test_with_the_clean_shutdown_marker_nothing_explains_it(tmp_path: Path) -> None:
    now = time.time()
    root = written(tmp_path, last_record=now)
    os.utime(root / "replication-offset-checkpoint", (now + 2, now + 2))
    (root / ".kafka_cleanshutdown").touch()
    assert (ahead(tmp_path).severity, ahead(tmp_path).confidence) == ("C", "proven")


@pytest.mark.parametrize(
    ("archived", "severity"),
    [
        pytest.param(2, "M", id="a_copy_of_a_broker_that_was_written_to"),
        pytest.param(HOUR, "H", id="a_broker_that_was_down_for_an_hour"),
    ],
)
def test_the_time_of_an_archive_says_when_its_files_were_copied(
    archived: int, severity: str, tmp_path: Path
) -> None:
    """``tar`` keeps no time at which a file was copied; unpacking gives each the time of now."""
    then = time.time() - 24 * HOUR
    batches = [
        data_batch(
            offset, [Record(offset_delta=0, value=b"a")], base_timestamp=int(then * 1000) + offset
        )
        for offset in range(3)
    ]
    short, long = replica(batches[:1]), replica(batches, high_watermark=3)
    cluster(tmp_path / "disks", {1: short, 2: long})
    for number in (1, 2):
        (disk,) = (tmp_path / "disks").glob(f"*{number}")
        archive = tmp_path / f"b{number}.tar"
        subprocess.run(["tar", "-C", disk, "-cf", archive, "."], check=True)
        os.utime(archive, (then + archived, then + archived))
    findings = table("findings")
    asked = request(findings)
    units = findings.units(discover([str(tmp_path / f"b{n}.tar") for n in (1, 2)]), asked)
    found = [each for unit in units for each, _ in verify(unit, asked).findings]
    (lag,) = [each for each in found if each.code == "KL-502"]
    assert lag.severity == severity
    hot = "; unless this broker ran while it was copied, and was copied before the others"
    assert lag.message.endswith(hot) == (severity == "H")
