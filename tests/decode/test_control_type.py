"""Types of control batches, from the keys of their records: format reference 14.5."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from fixtures.builder.stored_batches import build_record_batch
from kafkalog_reader.decode import control_type
from kafkalog_reader.decode.control_type import (
    ABORT,
    COMMIT,
    NO_EPOCH,
    NO_TYPE,
    control_types,
    coordinator_epochs,
)
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.scan.batch_run import BatchRun
from kafkalog_reader.scan.scan import HEADERS, Scan
from tests.format import vectors
from tests.tables.logs import slice_of

if TYPE_CHECKING:
    from pathlib import Path

MARKER = 0x30


def control(key: bytes | None, value: bytes | None = b"\0\0\0\0\0\5") -> bytes:
    return build_record_batch([Record(offset_delta=0, key=key, value=value)], flags=MARKER)


def types(tmp_path: Path, *batches: bytes, rows: list[int] | None = None) -> list[int]:
    """The types of these batches, or of some of them, read from a file."""
    run = run_of(tmp_path, *batches)
    which = np.arange(len(batches)) if rows is None else np.array(rows, np.intp)
    return control_types(run, which).tolist()


def run_of(tmp_path: Path, *batches: bytes) -> BatchRun:
    """A run of batches, read from a file."""
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(b"".join(batches))
    scan = iter(Scan(slice_of(path).segment, HEADERS, context=ReadContext()))
    run = next(scan)  # its window is valid until the next is requested
    assert isinstance(run, BatchRun)
    return run


def test_markers_as_brokers_write_them(tmp_path: Path) -> None:
    assert len(vectors.ABORT) == 78
    assert types(tmp_path, vectors.ABORT, vectors.COMMIT, vectors.ABORT) == [ABORT, COMMIT, ABORT]


def test_markers_are_not_read_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_type, "_declared_type", lambda _run, _row: 99)
    batches = (vectors.ABORT, vectors.COMMIT, vectors.LEADER_CHANGE, vectors.CLEANER_EMPTY)
    assert types(tmp_path, *batches) == [ABORT, COMMIT, 99, NO_TYPE]


def test_rows_are_answered_in_the_order_asked(tmp_path: Path) -> None:
    batches = (vectors.PLAIN, vectors.ABORT, vectors.COMMIT)
    assert types(tmp_path, *batches, rows=[2, 1]) == [COMMIT, ABORT]
    assert types(tmp_path, *batches, rows=[]) == []


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        pytest.param(vectors.LEADER_CHANGE, 2, id="leader_change"),
        pytest.param(control(b"\0\0\1\0"), 256, id="two_bytes_of_the_type"),
        pytest.param(control(b"\0\1\0\1"), COMMIT, id="newer_version_of_the_key"),
        pytest.param(control(b"\0\0\0\1\0"), COMMIT, id="longer_key"),
        pytest.param(control(b"\0\0\0\1", None), COMMIT, id="without_a_value"),
        pytest.param(control(b"\0\0\xff\xfe"), -2, id="negative_type"),
        pytest.param(control(b"\xff\xff\0\1"), NO_TYPE, id="negative_version"),
        pytest.param(control(b"\0\0\0"), NO_TYPE, id="key_cut_short"),
        pytest.param(control(None), NO_TYPE, id="no_key"),
        pytest.param(vectors.CLEANER_EMPTY, NO_TYPE, id="empty_batch"),
        pytest.param(
            build_record_batch([Record(offset_delta=0, key=b"\0\0\0\1")], flags=MARKER, codec=1),
            COMMIT, id="compressed",
        ),
        pytest.param(
            build_record_batch([], payload=b"\xff" * 17, records_count=1, flags=MARKER),
            NO_TYPE, id="records_of_a_markers_size",
        ),
        pytest.param(
            build_record_batch(
                [], payload=vectors.COMMIT[61:], records_count=0, flags=MARKER
            ),
            NO_TYPE, id="marker_without_a_count",
        ),
    ],
)  # fmt: skip
def test_other_batches_are_read_one_by_one(tmp_path: Path, batch: bytes, expected: int) -> None:
    assert types(tmp_path, vectors.ABORT, batch) == [ABORT, expected]


def test_coordinator_epochs_are_those_of_the_reference(tmp_path: Path) -> None:
    """Section 14.5: 5 in both markers; a marker of another shape is not read."""
    newer = control(b"\0\0\0\1", b"\0\1\0\0\0\5")
    lower = control(b"\0\0\0\1", b"\0\0\xff\xff\xff\xfd")
    batches = (vectors.PLAIN, vectors.ABORT, newer, vectors.LEADER_CHANGE, lower, vectors.COMMIT)
    run = run_of(tmp_path, *batches)
    assert coordinator_epochs(run, np.arange(6)).tolist() == [
        NO_EPOCH, 5, NO_EPOCH, NO_EPOCH, -3, 5,
    ]  # fmt: skip
    assert coordinator_epochs(run, np.array([5, 0])).tolist() == [5, NO_EPOCH]
