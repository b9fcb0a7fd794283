"""Open transactions replayed from producer snapshots, while a broker may delete them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.builder import cluster, replica
from kafkalog_reader.io.checkpoints import producer_snapshot_path
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.one_look import one_look
from kafkalog_reader.io.partition_directory import producer_snapshot_offsets
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.open_transactions import replay_transactions
from kafkalog_reader.tables.request import ReadRequest
from tests.tables.test_replicas import committed, written

if TYPE_CHECKING:
    from pathlib import Path

FIRST_OF_THE_OPEN = 1


def test_a_snapshot_deleted_after_it_was_listed_hides_no_open_transaction(tmp_path: Path) -> None:
    """The broker deletes the newest snapshot between the listing and the read."""
    log = [written(0, 1), written(FIRST_OF_THE_OPEN, 2), committed(2, 1), written(3, 1)]
    cluster(tmp_path, {1: replica(log, segment_bytes=1)})
    evidence = discover([str(tmp_path)], ReadContext())
    ((_, copies),) = evidence.topic_partitions(ReadRequest())
    with one_look(tuple(copies)) as (directory,):
        newest = producer_snapshot_offsets(directory)[-1]
        (tmp_path / producer_snapshot_path(directory.path, newest)).unlink()
        found = replay_transactions(
            directory, decided_from=4, log_end=4, mode=Mode.FAILFAST, progress=no_progress
        )
    assert newest > FIRST_OF_THE_OPEN
    assert found.last_stable_offset(4, 0) == FIRST_OF_THE_OPEN
