"""In which logs producers and their markers are followed; sequences and markers alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures.builder import cluster, data_batch, replica
from fixtures.synthetic.marker_states import Data, Marker
from kafkalog_reader.format.batch_fields import DELETE_HORIZON_BIT
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from fixtures.builder import Batch

CODES = ("KL-604", "KL-705")
BROKEN = (Data(), Marker(epoch=4), Data())
"""The marker has a higher producer epoch than the batch after it, which leaves out a sequence."""


def batches(first_offset: int = 0, *, of: Iterable[Data | Marker] = BROKEN) -> list[Batch]:
    return [each.batch(offset) for offset, each in enumerate(of, first_offset)]


def plain(offset: int, **fields: Any) -> Batch:
    return data_batch(offset, [Record(offset_delta=0, value=b"v")], **fields)


def found(root: Path, log: list[Batch], **fields: Any) -> set[tuple[str, int]]:
    cluster(root, {0: replica(log, **fields)}, clean=[0])
    rows = kafkalog_reader.open(str(root)).table("findings").to_arrow().to_pylist()
    return {(row["code"], row["firstOffset"]) for row in rows if row["code"] in CODES}


@pytest.mark.parametrize("segment_bytes", [1, 1 << 30])
def test_a_whole_log_is_followed_from_segment_to_segment(
    tmp_path: Path, segment_bytes: int
) -> None:
    assert found(tmp_path, batches(), segment_bytes=segment_bytes) == {(c, 2) for c in CODES}


@pytest.mark.parametrize("segment_bytes", [1, 1 << 30])
@pytest.mark.parametrize(
    "log",
    [
        [*batches(of=BROKEN[:2]), *batches(9, of=BROKEN[2:])],
        [*batches(of=BROKEN[:2]), plain(2, crc=0), *batches(3, of=BROKEN[2:])],
        [*batches(of=BROKEN[:2]), plain(2, last_offset_delta=1), *batches(4, of=BROKEN[2:])],
        [*batches(), plain(3, flags=DELETE_HORIZON_BIT)],
    ],
    ids=["missing offsets", "damage", "records left out", "delete horizon"],
)
def test_what_may_be_missing_explains_both(
    tmp_path: Path, log: list[Batch], segment_bytes: int
) -> None:
    """T05: a marker or a batch of the producer may have been there."""
    assert found(tmp_path, log, segment_bytes=segment_bytes) == set()


@pytest.mark.parametrize("fields", [{"cleaner_offset": 3}, {"topic": "__t"}])
def test_compacted_logs_are_not_followed(tmp_path: Path, fields: dict[str, Any]) -> None:
    assert found(tmp_path, batches(), **fields) == set()


def test_a_log_is_followed_again_after_damage(tmp_path: Path) -> None:
    log = [plain(0, crc=0), *batches(1)]
    assert found(tmp_path, log, segment_bytes=1) == {(code, 3) for code in CODES}
