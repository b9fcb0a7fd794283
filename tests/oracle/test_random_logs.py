"""Kafka's loader makes of random damaged logs what was predicted."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from fixtures.recovery.copied_replica import LOG_START, RECOVERY_POINT, CopiedReplica
from fixtures.recovery.log_loader import LoadedLog, load_logs
from fixtures.recovery.random_log import RandomLog, write_random_log
from kafkalog_reader.audits.log.batch_stream import BatchStream
from kafkalog_reader.audits.recovery.rule import LogConfig, StartRule
from kafkalog_reader.audits.recovery.start import predict_start
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.names import CLEAN_SHUTDOWN
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kafkalog_reader.audits.log.read_segment import ReadSegment
    from kafkalog_reader.audits.recovery.recovery import Recovery
    from kafkalog_reader.io.directories import PartitionDirectory

LOGS = 300
RELEASE = "4.3.1"
PARTITION = "t-0"


@pytest.mark.oracle
@pytest.mark.parametrize("is_read_before", [False, True])
def test_loader_does_with_random_logs_what_was_predicted(
    is_read_before: bool, tmp_path: Path
) -> None:
    logs, predicted = {}, []
    for number in range(LOGS):
        root = tmp_path / str(number)
        directory = root / PARTITION
        logs[directory] = log = write_random_log(directory, random.Random(f"log {number}"))
        replica = CopiedReplica(root, "t", 0)
        replica.checkpoint(RECOVERY_POINT, log.recovery_point)
        replica.checkpoint(LOG_START, log.log_start)
        if log.is_clean:
            (root / CLEAN_SHUTDOWN).touch()
        predicted.append(_predicted(root, log, is_read_before=is_read_before))
    came = load_logs(logs, RELEASE)
    pairs = enumerate(zip(predicted, came, strict=True))
    assert [(number, *pair) for number, pair in pairs if pair[0] != pair[1]] == []
    assert len({each.failure for each in came}) > 1


def _predicted(root: Path, log: RandomLog, *, is_read_before: bool) -> LoadedLog:
    config = LogConfig(
        index_interval=log.index_interval,
        is_interval_known=True,
        max_index_size=log.max_index_size,
        retention_ms=None,
        is_known=True,
    )
    rule = StartRule(default_config=config, reads_whole_version=False)
    (directory,) = discover([str(root)]).partition_directories(ReadRequest())
    known = _read(directory) if is_read_before else {}
    (recovery,) = predict_start([directory], rule=rule, known=lambda _: known)
    return _as_loaded(recovery)


def _read(directory: PartitionDirectory) -> Mapping[str, ReadSegment]:
    stream = BatchStream(directory)
    while not stream.ended:
        stream.advance(stream.left_in_window)
    return stream.read_segments


def _as_loaded(recovery: Recovery) -> LoadedLog:
    if recovery.loaded is None:
        return LoadedLog(failure=recovery.outcome.value)
    log = recovery.loaded.log
    return LoadedLog(
        log_start=log.log_start_offset,
        log_end=log.log_end_offset,
        epochs=tuple((each.leader_epoch, each.start_offset) for each in log.cache.entries),
    )
