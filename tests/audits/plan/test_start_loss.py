"""What the starts of brokers remove from their copies: section 5.3 of the format reference."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.audits.plan.start_loss import StartLoss, start_losses
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from tests.audits.conftest import audit_of
from tests.audits.recovery.logs import FIRST, LAST, write_small

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.audits.conftest import Audited


def only(root: Path) -> StartLoss:
    (loss,) = start_losses(audit_of(root))
    return loss


def test_a_sound_copy_loses_nothing(audited: Audited) -> None:
    assert start_losses(audited(replica("0-9/e0", high_watermark=10))) == ()


def test_what_recovery_cuts_is_from_the_new_end_to_the_old_one(tmp_path: Path) -> None:
    """A wrong CRC in the batch at 4, after a crash: it, the rest and segment 13 go.

    The damaged batch has two records, and 6 to 22 have 16 with the marker at 12 left out.
    """
    directory = write_small(tmp_path, is_clean=False, recovery_point=0)
    log = directory / f"{FIRST}.log"
    content = bytearray(log.read_bytes())
    content[166 + 61 + 3] ^= 1
    log.write_bytes(content)
    loss = only(tmp_path)
    assert (loss.broker_id, loss.name, loss.outcome) == (1, "t-0", StartOutcome.CUT)
    assert (loss.first_offset, loss.next_offset) == (4, 23)
    assert (loss.records, loss.max_in_damaged_batches) == (16, 2)
    assert loss.size_in_bytes == 576 - 166 + 440
    assert loss.text == "16 records and up to 2 in damaged batches"
    assert not loss.is_tail
    assert not loss.is_down


def test_a_torn_end_is_a_tail_without_a_whole_record(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=False, recovery_point=23)
    log = directory / f"{LAST}.log"
    content = log.read_bytes()
    log.write_bytes(content[:420])
    loss = only(tmp_path)
    assert (loss.outcome, loss.first_offset, loss.next_offset) == (StartOutcome.CUT, 21, 21)
    assert (loss.records, loss.max_in_torn_batch, loss.size_in_bytes) == (0, 2, 420 - 353)
    assert loss.text == "67 bytes at the tail that hold no whole record (up to 2 records)"
    assert loss.is_tail
    log.write_bytes(content[: 353 + 61 + 13 + 3])  # after the first of two records of 13 bytes
    loss = only(tmp_path)
    assert loss.text == "77 bytes at the tail, an unfinished batch with 1 record of 2 still whole"
    assert loss.readable_in_torn_batch == (21, 22)
    assert loss.is_tail


def test_what_an_index_hides_is_after_the_end_that_the_broker_sees(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    log = directory / f"{LAST}.log"
    log.write_bytes(log.read_bytes()[:430])
    loss = only(tmp_path)
    assert (loss.outcome, loss.first_offset, loss.next_offset) == (StartOutcome.HIDDEN, 13, 21)
    assert (loss.records, loss.text, loss.is_tail) == (8, "8 records", False)


def extended(log: Path) -> None:
    """Zeros after the end, as of a preallocated file."""
    log.write_bytes(log.read_bytes() + bytes(4096))


@pytest.mark.parametrize(
    ("break_it", "outcome"),
    [
        pytest.param(
            lambda directory: (directory / "leader-epoch-checkpoint").write_text("x"),
            StartOutcome.DIRECTORY_OFFLINE,
            id="directory",
        ),
        pytest.param(
            lambda directory: extended(directory / f"{LAST}.log"),
            StartOutcome.BROKER_ABORTS,
            id="broker",
        ),
    ],
)
def test_a_start_that_fails_removes_nothing_and_is_named(
    tmp_path: Path, break_it: Callable[[Path], object], outcome: StartOutcome
) -> None:
    break_it(write_small(tmp_path, is_clean=True, recovery_point=23))
    loss = only(tmp_path)
    assert (loss.outcome, loss.is_down, loss.is_tail) == (outcome, True, False)
    assert (loss.first_offset, loss.next_offset, loss.records) == (0, 0, 0)
    assert loss.reason


def test_a_log_that_its_start_empties_is_lost_as_a_whole(audited: Audited) -> None:
    """The checkpointed log start is above the end: LogLoader deletes every segment."""
    (loss,) = start_losses(audited(replica("0-4/e0 5-9/e0", log_start=50, high_watermark=5)))
    assert (loss.outcome, loss.first_offset, loss.next_offset) == (StartOutcome.EMPTIED, 0, 10)
    assert (loss.records, loss.text, loss.is_tail) == (10, "10 records", False)


def test_a_directory_without_a_topic_id_is_set_aside_as_a_whole(tmp_path: Path) -> None:
    held = replica("0-4/e0 5-9/e0", log_start=2, high_watermark=10)
    files = {**held.files, "partition.metadata": None}
    cluster(tmp_path, {4: replace(held, files=files)})
    loss = only(tmp_path)
    assert (loss.broker_id, loss.outcome) == (4, StartOutcome.STRAY)
    assert (loss.first_offset, loss.next_offset) == (2, 10)
    assert loss.text == "10 records"
