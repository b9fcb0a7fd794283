"""Records below a high watermark that no supplied copy holds."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, data_batch, replica
from kafkalog_reader.format.record import Record
from tests.audits.conftest import audit_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("high_watermark", [None, 3, 6])
def test_a_high_watermark_up_to_the_longest_log_misses_nothing(
    tmp_path: Path, high_watermark: int | None
) -> None:
    logs = {0: replica("0-5/e0", high_watermark=high_watermark), 1: replica("0-3/e0")}
    cluster(tmp_path, logs, clean=(0, 1))
    assert audit_of(tmp_path).missing is None


@pytest.mark.parametrize(("clean", "is_proven"), [((0,), True), ((1,), False)])
def test_offsets_between_the_longest_log_and_the_highest_watermark_are_missing(
    tmp_path: Path, clean: tuple[int, ...], is_proven: bool
) -> None:
    logs = {0: replica("0-3/e0", high_watermark=9), 1: replica("0-5/e0", high_watermark=6)}
    cluster(tmp_path, logs, clean=clean)
    missing = audit_of(tmp_path).missing
    assert missing is not None
    assert [each.directory.log_directory.broker_id for each in missing.replicas] == [0]
    assert (missing.first_offset, missing.next_offset) == (6, 9)
    assert missing.is_proven is is_proven


def test_a_single_copy_is_left_to_the_check_of_its_own_files(tmp_path: Path) -> None:
    cluster(tmp_path, {0: replica("0-3/e0", high_watermark=9)}, clean=(0,))
    assert audit_of(tmp_path).missing is None


@pytest.mark.parametrize(("age", "is_missing"), [(0, False), (3600, True)])
def test_a_watermark_written_after_its_log_was_copied_misses_nothing(
    age: int, is_missing: bool, tmp_path: Path
) -> None:
    """Trap T01: a record of this minute shows that clients wrote while the log was copied."""
    now = time.time()
    last = data_batch(
        0, [Record(offset_delta=0, value=b"a")], base_timestamp=int(1000 * (now - age))
    )
    log = replica([last], epochs="0:0", high_watermark=5)
    for root in cluster(tmp_path, {0: log, 1: log}).values():
        os.utime(root / "replication-offset-checkpoint", (now + 2, now + 2))
    assert (audit_of(tmp_path).missing is not None) is is_missing


def test_a_log_without_batches_is_no_copy_of_one_that_was_written(tmp_path: Path) -> None:
    """No record says when clients wrote."""
    cluster(tmp_path, {n: replica([], base_offset=0, high_watermark=5) for n in range(2)})
    missing = audit_of(tmp_path).missing
    assert missing is not None
    assert (missing.first_offset, missing.next_offset) == (0, 5)
