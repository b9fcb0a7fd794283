"""KL-321: segments that Kafka's RemoteLogManager cannot upload, for want of a producer snapshot.

It passes ``fetchSnapshot(nextSegmentBaseOffset).orElse(null)`` on as a path (KAFKA-16209). What is
missing, and how large the segments are, is known from the builder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures.synthetic.tiered_topic import REMOTE, copy_of_topic, tiered_topic

if TYPE_CHECKING:
    from pathlib import Path

OTHER_ID = "AAAAAAAAAAAAAAAAAAAACQ"


def found(root: Path) -> list[dict[str, Any]]:
    rows = kafkalog_reader.open(str(root)).table("findings", topic="t").to_arrow().to_pylist()
    return [row | {"evidence": {e["name"]: e["value"] for e in row["evidence"]}} for row in rows
            if row["code"] == "KL-321"]  # fmt: skip


def test_it_says_what_waits_for_the_upload(tmp_path: Path) -> None:
    copy = copy_of_topic(lacking=[40, 80])
    waiting = [segment for segment in copy.segments if segment.base_offset in (20, 40, 60)]
    size = sum(len(segment.log()) for segment in waiting)
    (row,) = found(tiered_topic(tmp_path, {0: copy}))
    assert (row["severity"], row["confidence"]) == ("M", "possible")
    assert row["file"] == "t-0/00000000000000000040.snapshot"
    assert (row["firstOffset"], row["nextOffset"]) == (20, 80)
    assert row["evidence"] == {
        "segmentsWaiting": "3", "bytesWaiting": str(size), "segmentsWithoutSnapshot": "2",
    }  # fmt: skip
    assert f"3 segments wait for that, {size:,} bytes" in row["message"]
    assert "unless remote storage, which was not supplied, has them" in row["message"]


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(None, id="not_known"),
        pytest.param({}, id="not_set"),
        pytest.param({"remote.storage.enable": "false"}, id="off"),
        pytest.param(REMOTE | {"remote.log.copy.disable": "true"}, id="copying_disabled"),
        pytest.param(REMOTE | {"cleanup.policy": "compact"}, id="compacted"),
        pytest.param(REMOTE | {"cleanup.policy": "compact,delete"}, id="compacted_too"),
    ],
)
def test_it_is_silent_where_nothing_is_uploaded(
    settings: dict[str, str] | None, tmp_path: Path
) -> None:
    assert found(tiered_topic(tmp_path, {0: copy_of_topic(lacking=[40])}, settings)) == []


def test_the_active_segment_needs_none(tmp_path: Path) -> None:
    copies = {0: copy_of_topic(lacking=[100]), 1: copy_of_topic()}
    assert found(tiered_topic(tmp_path, copies)) == []


@pytest.mark.parametrize(
    ("uploaded", "first"), [(0, 20), (1, 20), (2, 60), (3, 60), (4, None), (5, None)]
)
def test_what_remote_storage_has_needs_none(
    uploaded: int, first: int | None, tmp_path: Path
) -> None:
    root = tiered_topic(tmp_path, {0: copy_of_topic(lacking=[40, 80])}, uploaded=uploaded)
    rows = found(root)
    assert [row["firstOffset"] for row in rows] == [] if first is None else [first]
    if uploaded:  # of an empty folder, nothing says that it is this topic's
        assert {row["confidence"] for row in rows} <= {"proven"}


def test_remote_storage_of_a_deleted_topic_proves_nothing(tmp_path: Path) -> None:
    copy = copy_of_topic(lacking=[40])
    (row,) = found(tiered_topic(tmp_path, {0: copy}, uploaded=5, topic_id=OTHER_ID))
    assert row["confidence"] == "possible"


@pytest.mark.parametrize(("log_start", "is_found"), [(0, True), (39, True), (40, False)])
def test_what_is_below_the_log_start_is_not_uploaded(
    log_start: int, is_found: bool, tmp_path: Path
) -> None:
    copy = copy_of_topic(lacking=[40], log_start=log_start)
    assert bool(found(tiered_topic(tmp_path, {0: copy}))) is is_found


@pytest.mark.parametrize(("point", "is_found"), [(39, False), (40, False), (60, True), (100, True)])
def test_a_start_that_recovers_a_segment_writes_its_snapshot(
    point: int, is_found: bool, tmp_path: Path
) -> None:
    """LogLoader recovers from the segment of the recovery point on, which begins at 20 or 40."""
    copy = copy_of_topic(lacking=[40], recovery_point=point)
    assert bool(found(tiered_topic(tmp_path, {0: copy}, clean=()))) is is_found


def test_it_is_low_while_a_whole_copy_leads(tmp_path: Path) -> None:
    (row,) = found(tiered_topic(tmp_path, {0: copy_of_topic(), 1: copy_of_topic(lacking=[40])}))
    assert (row["brokerId"], row["severity"]) == (1, "L")
    assert row["message"].endswith("; broker 0 lacks no snapshot")


def test_a_folder_without_any_may_have_been_copied_in_part(tmp_path: Path) -> None:
    copy = copy_of_topic(lacking=range(0, 101, 20))
    (row,) = found(tiered_topic(tmp_path, {0: copy}, uploaded=1))
    assert row["confidence"] == "possible"
    assert "perhaps they were not copied" in row["message"]
