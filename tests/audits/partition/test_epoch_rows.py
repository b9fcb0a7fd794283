"""Which leader epochs the batches prove; no checksum covers that field."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import replica
from kafkalog_reader.audits.partition.epoch_rows import (
    MAX_RISE,
    EpochRows,
    are_rebuilt,
    epoch_rows,
)

if TYPE_CHECKING:
    from tests.audits.conftest import Audited

HIGH = 2 + MAX_RISE + 1


def test_rows_of_epochs_follow_version_and_number() -> None:
    """The format of LeaderEpochCheckpointFile."""
    found = EpochRows(rows=((0, 0), (3, 17)), is_new=True)
    assert found.lines == ("0", "2", "0 0", "3 17")
    assert EpochRows(rows=(), is_new=True).lines == ("0", "0")


@pytest.mark.parametrize(
    ("log", "epochs", "rows"),
    [
        ("0-7/e0 8-11/e2", "0:0", ((0, 0), (2, 8))),
        ("0-7/e0 8-11/e2", "0:0 2:9", ((0, 0), (2, 8))),
        ("0-7/e0 8-11/e2", "0:0 2:8", None),  # as it is
        ("0-7/e0 8-11/e2 12-13/e1", "0:0", None),  # falls: 2 or 1 is damaged
        (f"0-7/e0 8-11/e2 12-13/e{HIGH}", "0:0", None),
        (f"0-7/e0 8-11/e2 12-13/e{HIGH}", f"0:0 {HIGH}:12", ((0, 0), (2, 8), (HIGH, 12))),
        (f"0-7/e0 8-11/e2 12-13/e{HIGH - 1}", "0:0", ((0, 0), (2, 8), (HIGH - 1, 12))),
    ],
)
def test_rows_are_those_of_batches_that_nothing_contradicts(
    log: str, epochs: str, rows: tuple[tuple[int, int], ...] | None, audited: Audited
) -> None:
    audit = audited(replica(log, epochs=epochs, high_watermark=8))
    found = epoch_rows(audit, audit.replicas[0])
    assert (None if found is None else found.rows) == rows
    assert found is None or not found.is_new


def test_another_copy_explains_a_high_epoch_and_contradicts_a_different_one(
    audited: Audited,
) -> None:
    log = f"0-7/e0 8-11/e2 12-13/e{HIGH}"
    first, second = replica(log, epochs="0:0", high_watermark=8), replica(log, high_watermark=8)
    audit = audited(first, second)
    found = epoch_rows(audit, audit.replicas[0])
    assert found is not None
    assert found.rows == ((0, 0), (2, 8), (HIGH, 12))
    other = replica("0-7/e0 8-11/e2 12-13/e3", high_watermark=8)
    audit = audited(first, other)
    assert epoch_rows(audit, audit.replicas[0]) is None


@pytest.mark.parametrize(
    ("epochs", "rows"),
    [
        ("0:3 2:8", None),  # as it is: records were deleted below 3
        ("0:3", ((0, 3), (2, 8))),
        ("0:17", ((0, 0), (2, 8))),  # above the log end: no log starts there
        ("2:9", None),
    ],
)
def test_a_row_of_a_newer_log_start_stays(
    epochs: str, rows: tuple[tuple[int, int], ...] | None, audited: Audited
) -> None:
    """LeaderEpochFileCache#truncateFromStart; the log start is written a minute later."""
    audit = audited(replica("0-3/e0 4-7/e0 8-11/e2", epochs=epochs, high_watermark=12))
    found = epoch_rows(audit, audit.replicas[0])
    assert (None if found is None else found.rows) == rows


@pytest.mark.parametrize("content", [None, b"", b"0\n0\n"], ids=["missing", "empty", "no row"])
@pytest.mark.parametrize(
    ("recovery_point", "clean", "is_rebuilt"),
    [(None, False, True), (0, False, True), (None, True, False), (12, False, False)],
)
def test_a_start_that_reads_the_whole_log_writes_the_file(
    recovery_point: int | None,
    clean: bool,
    is_rebuilt: bool,
    content: bytes | None,
    audited: Audited,
) -> None:
    """LogLoader.recoverLog: after an unclean stop the segments above the recovery point are read.

    LogSegment.recover assigns the leader epochs of their batches; after a clean stop none is read.
    Seen on 3.9.1 with 15 empty files.
    """
    log = replica(
        "0-3/e0 4-7/e0 8-11/e2",
        files={"leader-epoch-checkpoint": content},
        high_watermark=12,
        recovery_point=recovery_point,
        segment_bytes=100,
    )
    audit = audited(log, clean=(0,) if clean else ())
    (copy,) = audit.replicas
    assert are_rebuilt(audit, copy) == is_rebuilt
    assert (epoch_rows(audit, copy) is None) == is_rebuilt
