"""KL-113 of a timestamp in the future: what it keeps from deletion by retention.ms.

Kafka deletes segments oldest first, and stops at the first that is not old enough. What stands in
the segments, and their sizes, is known from the builder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures.builder import cluster, data_batch, replica
from fixtures.builder.batch import marker_batch
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.format.batch_fields import TRANSACTIONAL_BIT
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from pathlib import Path

YEAR_2100 = 4_102_444_800_000
WEEK = 7 * 24 * 3600 * 1000
STATE = PartitionState(replicas=(0,), in_sync=(0,), leader=0, leader_epoch=0)
RETENTION = {"cleanup.policy": "delete", "retention.ms": str(WEEK)}
RECORDS = [Record(offset_delta=delta, value=b"v" * 40) for delta in range(3)]
FUTURE = (2,)
"""The numbers of the batches with a timestamp in the future: six batches, each a segment."""


def written(
    root: Path, settings: dict[str, str] | None, future: tuple[int, ...] = FUTURE
) -> tuple[list[dict[str, Any]], list[int]]:
    """The findings KL-113, and the sizes of the segments, which hold three records each."""
    batches = [
        data_batch(
            3 * number,
            RECORDS,
            leader_epoch=0,
            **({"base_timestamp": YEAR_2100} if number in future else {}),
        )
        for number in range(6)
    ]
    copy = replica(batches, epochs="0:0", high_watermark=18, segment_bytes=1)
    held = [copy]
    if settings is not None:
        held.append(metadata_log([STATE], settings={"t": settings}))
    cluster(root, {0: held})
    rows = kafkalog_reader.open(str(root)).table("findings", topic="t").to_arrow().to_pylist()
    found = [row for row in rows if row["code"] == "KL-113"]
    return found, [len(segment.log()) for segment in copy.segments]


def test_it_keeps_its_segment_and_those_after_it(tmp_path: Path) -> None:
    (row,), sizes = written(tmp_path, RETENTION)
    assert len(sizes) == 6
    kept = sum(sizes[2:])
    assert row["message"].endswith(
        "; until 2100-01-08T00:00:00.000Z, it keeps up to 12 records, "
        f"{kept:,} bytes, from deletion by retention.ms: this segment and those after it"
    )
    evidence = {each["name"]: each["value"] for each in row["evidence"]}
    assert (evidence["recordsKept"], evidence["bytesKept"]) == ("12", str(kept))


def test_each_says_what_it_keeps_by_itself(tmp_path: Path) -> None:
    rows, sizes = written(tmp_path, RETENTION, future=(2, 5))
    kept = [{e["name"]: e["value"] for e in row["evidence"]} for row in rows]
    assert [(each["recordsKept"], int(each["bytesKept"])) for each in kept] == [
        ("12", sum(sizes[2:])), ("3", sizes[5]),
    ]  # fmt: skip
    assert rows[1]["message"].endswith("retention.ms: this segment")


@pytest.mark.parametrize("settings", [None, {}, {"cleanup.policy": "delete"}])
def test_without_a_known_retention_it_is_a_condition(
    settings: dict[str, str] | None, tmp_path: Path
) -> None:
    (row,), _ = written(tmp_path, settings)
    assert "; where retention.ms applies to the topic, it keeps up to 12 records" in row["message"]


@pytest.mark.parametrize("policy", ["delete", "compact,delete"])
def test_compaction_does_not_replace_retention(policy: str, tmp_path: Path) -> None:
    (row,), _ = written(tmp_path, RETENTION | {"cleanup.policy": policy})
    assert "keeps up to 12 records" in row["message"]


@pytest.mark.parametrize("settings", [{"retention.ms": "-1"}, {"cleanup.policy": "compact"}])
def test_where_no_time_deletes_it_keeps_nothing(settings: dict[str, str], tmp_path: Path) -> None:
    (row,), _ = written(tmp_path, RETENTION | settings)
    assert row["message"].endswith(": more than a day after the file's time")


def test_transaction_markers_are_no_records(tmp_path: Path) -> None:
    data = data_batch(
        0, RECORDS, leader_epoch=0, base_timestamp=YEAR_2100, producer_id=1, producer_epoch=0,
        base_sequence=0, flags=TRANSACTIONAL_BIT,
    )  # fmt: skip
    marker = marker_batch(3, control_type=ControlType.COMMIT, producer_id=1, producer_epoch=0)
    cluster(tmp_path, {0: replica([data, marker])})
    rows = kafkalog_reader.open(str(tmp_path)).table("findings").to_arrow().to_pylist()
    (row,) = (row for row in rows if row["code"] == "KL-113")
    assert "up to 3 records, " in row["message"]
