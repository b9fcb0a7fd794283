"""The history of one replica: offsets and leader epochs, of its batches and its checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, parse_epochs, replica
from kafkalog_reader.audits.comparison.replica_history import history_of
from kafkalog_reader.audits.log.batch_stream import BatchStream
from kafkalog_reader.audits.log.replica import Replica
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.comparison.committed import History


def history(
    root: Path,
    log: str,
    epochs: str | None,
    *,
    start: int = 0,
    high_watermark: int | None = None,
    cleaner_offset: int | None = None,
) -> History:
    cluster(root, {1: replica(log, epochs="", base_offset=0 if log else start)})
    (directory,) = discover([str(root)]).partition_directories(ReadRequest())
    stream = BatchStream(directory, start)
    while not stream.ended:
        stream.advance(stream.left_in_window)
    return history_of(
        Replica(
            directory=directory,
            log_start_offset=start,
            size_in_bytes=0,
            checkpointed_high_watermark=high_watermark,
            cleaner_offset=cleaner_offset,
            epoch_entries=None if epochs is None else tuple(parse_epochs(epochs)),
        ),
        stream,
    )


def steps(found: History) -> list[tuple[int, int, int]]:
    return [
        (each.leader_epoch, each.first_offset, each.next_offset) for each in found.lineage.intervals
    ]


@pytest.mark.parametrize(
    ("log", "epochs", "expected", "known"),
    [
        pytest.param("0-3/e0 4-9/e2", "0:0 2:4", [(0, 0, 4), (2, 4, 10)], {0, 2}, id="both_agree"),
        pytest.param("0-3/e0 4-9/e2", None, [(0, 0, 4), (2, 4, 10)], {0, 2}, id="batches_alone"),
        pytest.param("0-3/e0", "0:0 5:4", [(0, 0, 4)], {0, 5}, id="an_epoch_without_records"),
    ],
)
def test_epochs_are_those_of_batches_and_of_the_checkpoint(
    tmp_path: Path,
    log: str,
    epochs: str | None,
    expected: list[tuple[int, int, int]],
    known: set[int],
) -> None:
    found = history(tmp_path, log, epochs)
    assert steps(found) == expected
    assert found.leader_epochs == known
    assert found.last_leader_epoch == expected[-1][0]
    assert found.log_end_offset == expected[-1][2]


def test_nothing_below_the_log_start_belongs_to_the_history(tmp_path: Path) -> None:
    """The log start may be inside a batch."""
    found = history(tmp_path, "0-3/e0 4-9/e2", "0:0 2:4", start=6)
    assert steps(found) == [(2, 6, 10)]
    assert (found.log_start_offset, found.log_end_offset) == (6, 10)
    assert not found.is_empty


def test_a_log_without_batches_ends_where_it_starts(tmp_path: Path) -> None:
    found = history(tmp_path, "", "3:7", start=7)
    assert (found.log_start_offset, found.log_end_offset, found.is_empty) == (7, 7, True)
    assert (found.last_leader_epoch, set(found.leader_epochs)) == (None, {3})
    assert steps(found) == []


@pytest.mark.parametrize(
    ("high_watermark", "cleaner_offset", "low"),
    [(None, None, 2), (1, None, 2), (5, None, 5), (10, None, 10), (11, None, 2), (5, 8, 8)],
)
def test_what_is_certainly_committed_is_the_greatest_proof_within_the_log(
    tmp_path: Path, high_watermark: int | None, cleaner_offset: int | None, low: int
) -> None:
    """The checkpoint, the cleaner's offset and the log start prove it; above the end none does."""
    found = history(
        tmp_path, "0-3/e0 4-9/e0", "0:0", start=2, high_watermark=high_watermark,
        cleaner_offset=cleaner_offset,
    )  # fmt: skip
    assert found.high_watermark_low == low


@pytest.mark.parametrize(("tail", "is_lost"), [("", False), ("00" * 40, True), ("torn", True)])
def test_a_log_lost_its_end_that_stops_in_zeros_or_in_a_batch(
    tmp_path: Path, tail: str, is_lost: bool
) -> None:
    cluster(tmp_path, {1: replica("0-3/e0", epochs="0:0")})
    (log,) = tmp_path.glob("*/*/*.log")
    sound = log.read_bytes()
    log.write_bytes(sound + (sound[:-1] if tail == "torn" else bytes.fromhex(tail)))
    (found,) = discover([str(tmp_path)]).partition_directories(ReadRequest())
    stream = BatchStream(found, 0)
    while not stream.ended:
        stream.advance(stream.left_in_window)
    bare = Replica(directory=found, log_start_offset=0, size_in_bytes=0)
    assert history_of(bare, stream).lost_its_end == is_lost
