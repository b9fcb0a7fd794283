"""T37: fields that later releases add to known messages raise no alarm (KIP-482).

4.4.0 brokers start on the files of the log directory with such fields (oracle disks).
"""

from __future__ import annotations

import json
import shutil
import struct
from typing import TYPE_CHECKING

import pytest

import kafkalog_reader
from fixtures import captures
from fixtures.builder import cluster, data_batch, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log, metadata_records
from kafkalog_reader.audits.election.metadata_log import read_cluster_metadata
from kafkalog_reader.format.batch_fields import CONTROL_BIT
from kafkalog_reader.format.messages.decoder import UNKNOWN_TAGS
from kafkalog_reader.format.messages.records import decode_framed
from kafkalog_reader.format.messages.schema import Family
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STOPPED = captures.path("everything/stopped")
LATER_TAG = b"\x01\x32\x02hi"
"""One tagged field: number 50, two bytes."""
STATE = PartitionState(replicas=(0, 1), in_sync=(0, 1), leader=0, leader_epoch=3)


def _append(name: str, text: str) -> Callable[[Path], object]:
    def appended(root: Path) -> None:
        with (root / name).open("a") as file:
            file.write(text)

    return appended


def _add_key(name: str) -> Callable[[Path], object]:
    def added(root: Path) -> None:
        path = root / name
        path.write_text(json.dumps(json.loads(path.read_text()) | {"later": {"key": [1]}}))

    return added


@pytest.mark.parametrize(
    "change",
    [
        _append("meta.properties", "some.later.key=1\n"),
        _add_key(".kafka_cleanshutdown"),
        _add_key("__cluster_metadata-0/quorum-state"),
        _append("codec-none-0/partition.metadata", "\nlater: 1"),
    ],
    ids=["meta.properties", "marker", "quorum-state", "partition.metadata"],
)
def test_a_later_field_in_a_small_file_changes_nothing(
    change: Callable[[Path], object], tmp_path: Path
) -> None:
    root = tmp_path / "broker-0"
    shutil.copytree(STOPPED / "broker-0", root)
    before = _said(root)
    change(root)
    assert _said(root) == before


def _said(root: Path) -> list[object]:
    opened = kafkalog_reader.open(str(root))
    findings = opened.table("findings").to_arrow().to_pylist()
    recoveries = opened.table("recoveries").to_arrow().to_pylist()
    return [
        sorted((row["code"], row["topic"] or "", row["severity"]) for row in findings),
        [(row["topic"], row["outcome"], row["logEndOffsetAfterStart"]) for row in recoveries],
    ]


def test_a_later_tag_in_the_metadata_log_is_passed_over(tmp_path: Path) -> None:
    topic, partition = metadata_records([STATE])
    assert topic.endswith(b"\0")
    assert partition.endswith(b"\0")
    tagged = [value[:-1] + LATER_TAG for value in (topic, partition)]
    unknown = bytes([1, 99, 0]) + b"of a later release"
    log = replica(
        [
            data_batch(offset, [Record(offset_delta=0, value=value)], leader_epoch=1)
            for offset, value in enumerate([*tagged, unknown])
        ],
        topic="__cluster_metadata",
        topic_id=metadata_log([STATE]).topic_id,
    )
    cluster(tmp_path, {0: [log, replica("0-9/e3", high_watermark=10)]})
    ((_, known),) = read_cluster_metadata(discover([str(tmp_path)])).items()
    assert known.partitions["t", 0].replicas == STATE.replicas
    later = dict(decode_framed(Family.METADATA, tagged[1]).fields)
    assert later.pop(UNKNOWN_TAGS) == {50: b"hi"}
    assert later == decode_framed(Family.METADATA, partition).fields


def test_a_later_field_after_a_marker_raises_no_alarm(tmp_path: Path) -> None:
    """``EndTransactionMarker#deserializeValue`` reads the known fields and ignores the rest."""
    value = struct.pack(">hi", 1, 5) + LATER_TAG
    marker = data_batch(
        1,
        [Record(offset_delta=0, key=struct.pack(">hh", 1, 1), value=value)],
        producer_id=7,
        producer_epoch=0,
        flags=CONTROL_BIT | 0x10,
    )
    data = data_batch(
        0,
        [Record(offset_delta=0, value=b"v")],
        producer_id=7,
        producer_epoch=0,
        base_sequence=0,
        flags=0x10,
    )
    cluster(tmp_path, {0: replica([data, marker], high_watermark=2)})
    findings = kafkalog_reader.open(str(tmp_path)).table("findings", deep=True, topic="t")
    assert [
        row["code"] for row in findings.to_arrow().to_pylist() if row["severity"] in "CHM"
    ] == []
