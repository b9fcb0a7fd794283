"""A first epoch entry above the first batch: a newer log start, or a file of something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import replica
from kafkalog_reader.audits.log.moved_start import possible_log_start

if TYPE_CHECKING:
    from pathlib import Path

    from tests.audits.conftest import Audited

LOG = "0-3/e0 4-7/e0 8-11/e2"
LOG_STARTS = "log-start-offset-checkpoint"


@pytest.mark.parametrize(
    ("epochs", "expected"),
    [
        pytest.param("0:3 2:8", 3, id="clipped"),
        pytest.param("2:9", 9, id="clipped-in-the-next-epoch"),
        pytest.param("2:12", 12, id="everything-was-deleted"),
        pytest.param("0:13", 0, id="no-log-starts-above-its-end"),
        pytest.param("5:3", 0, id="of-no-batch-there"),
        pytest.param("0:9", 0, id="of-another-batch"),
        pytest.param("", 0, id="no-entry"),
    ],
)
def test_the_first_entry_is_that_of_the_batches_at_its_offset(
    epochs: str, expected: int, audited: Audited
) -> None:
    """LeaderEpochFileCache#truncateFromStart keeps the epoch of the new log start."""
    audit = audited(replica(LOG, epochs=epochs, high_watermark=12))
    (copy,) = audit.replicas
    assert possible_log_start(copy.files, copy.history.data.intervals, copy.log_end) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b"0\n0\n", 0), (b"", 3), (b"0\nx\n", 3), (None, 3)],
    ids=["written", "empty", "damaged", "missing"],
)
def test_a_clean_stop_writes_log_starts_unless_their_file_is_lost(
    content: bytes | None, expected: int, audited: Audited, tmp_path: Path
) -> None:
    held = replica(LOG, epochs="0:3 2:8", high_watermark=12, recovery_point=12)
    audit = audited(held, clean=(0,))
    path = tmp_path / "broker-0" / LOG_STARTS
    path.unlink(missing_ok=True)
    if content is not None:
        path.write_bytes(content)
    (copy,) = audit.replicas
    assert possible_log_start(copy.files, copy.history.data.intervals, copy.log_end) == expected
