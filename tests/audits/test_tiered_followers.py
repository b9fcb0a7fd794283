"""T35 and T36: replicas and segments that look too short or too large, but are sound.

No broker with remote storage can be started here, because the plugin of Kafka's own tests is not in
Maven Central. The states are those of KIP-1023 and of its ``TierStateMachine``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import kafkalog_reader
from fixtures.builder import Replica, cluster, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log

if TYPE_CHECKING:
    from pathlib import Path

STATE = PartitionState(replicas=(0, 1, 2), in_sync=(0, 1, 2), leader=0, leader_epoch=1)


def _log(first: int, epoch_of_last: int = 0) -> str:
    return " ".join(
        f"{at}-{at + 9}/e{epoch_of_last if at >= 90 else 0}" for at in range(first, 100, 10)
    )


def _written(root: Path, follower: Replica, *settings: tuple[str, str]) -> kafkalog_reader.Log:
    leader = replica(_log(0), epochs="0:0", high_watermark=100, segment_bytes=400)
    cluster(
        root,
        {
            0: [leader, metadata_log([STATE], settings={"t": dict(settings)})],
            1: leader,
            2: follower,
        },
    )
    return kafkalog_reader.open(str(root))


TIERED = ("remote.storage.enable", "true")


@pytest.mark.parametrize("log_start", [None, 0])
@pytest.mark.parametrize(("first", "epochs"), [(80, "0:0"), (80, "0:80"), (100, "0:0")])
def test_a_follower_that_begins_at_a_tiered_offset_is_sound(
    first: int, epochs: str, log_start: int | None, tmp_path: Path
) -> None:
    follower = replica(
        _log(first),
        epochs=epochs,
        high_watermark=100,
        log_start=log_start,
        base_offset=first,
        segment_bytes=400,
    )
    opened = _written(tmp_path, follower, TIERED)
    findings = opened.table("findings", topic="t").to_arrow().to_pylist()
    assert [row for row in findings if row["severity"] not in "IL"] == []
    recoveries = opened.table("recoveries").to_arrow().to_pylist()
    assert {(row["outcome"], row["logEndOffsetAfterStart"]) for row in recoveries} == {
        ("loads", 100)
    }
    (partition,) = opened.table("partitions", topic="t").to_arrow().to_pylist()
    assert partition["verdict"] == "consistent"
    elections = opened.table("elections", topic="t").to_arrow().to_pylist()
    assert {(row["lostRecords"], row["recordsCut"]) for row in elections} == {(0, 0)}


def test_a_follower_that_ends_before_the_leader_begins_is_still_reported(tmp_path: Path) -> None:
    short = replica("0-9/e0", epochs="0:0", high_watermark=10)
    late = replica(_log(80), epochs="0:0", high_watermark=100, log_start=0, base_offset=80)
    cluster(tmp_path, {0: late, 1: short})
    findings = kafkalog_reader.open(str(tmp_path)).table("findings").to_arrow().to_pylist()
    assert "KL-512" in {row["code"] for row in findings}


def test_segments_above_a_lowered_limit_raise_no_alarm(tmp_path: Path) -> None:
    """T36: each segment here is larger than 100 bytes."""
    follower = replica(_log(0), epochs="0:0", high_watermark=100)
    opened = _written(tmp_path, follower, ("segment.bytes", "100"))
    findings = opened.table("findings", topic="t").to_arrow().to_pylist()
    assert [row for row in findings if row["severity"] not in "IL"] == []
    recoveries = opened.table("recoveries").to_arrow().to_pylist()
    assert {row["outcome"] for row in recoveries} == {"loads"}
    assert min(row["recordsCut"] + row["bytesCut"] for row in recoveries) == 0
