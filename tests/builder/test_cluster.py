"""Synthetic clusters: the notation of the acceptance scenarios, and the files around the logs."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import Batch, cluster, log_directory, parse_epochs, parse_log, replica
from kafkalog_reader.errors import CorruptRecordError, LogPosition
from kafkalog_reader.format.checkpoint import (
    LeaderEpochEntry,
    OffsetCheckpointEntry,
    parse_leader_epoch_checkpoint,
    parse_offset_checkpoint,
)
from kafkalog_reader.format.meta_properties import parse_meta_properties
from kafkalog_reader.format.record_batch import RecordBatch, parse_record_batch

if TYPE_CHECKING:
    from pathlib import Path


def _read(content: bytes) -> list[RecordBatch]:
    batches = []
    position = 0
    while position < len(content):
        batches.append(parse_record_batch(content[position:], LogPosition("t", position)))
        position += batches[-1].header.size_in_bytes
    return batches


def _shape(batches: list[RecordBatch]) -> list[tuple[int, int, int, list[bytes | None]]]:
    return [
        (
            batch.header.base_offset,
            batch.header.last_offset,
            batch.header.leader_epoch,
            [record.value for record in batch.records],
        )
        for batch in batches
    ]


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        pytest.param("", [], id="empty_log"),
        pytest.param(
            "a@0/e0 f@2/e2", [(0, 0, 0, [b"a"]), (2, 2, 2, [b"f"])], id="one_record_batches"
        ),
        pytest.param(
            "c*3@2/e0", [(offset, offset, 0, [b"c"]) for offset in (2, 3, 4)], id="retries"
        ),
        pytest.param("a,b,c@5/e1", [(5, 7, 1, [b"a", b"b", b"c"])], id="three_records"),
        pytest.param("8-11/e1", [(8, 11, 1, [b"8", b"9", b"10", b"11"])], id="range"),
        pytest.param("0-9/e0[0,4]", [(0, 9, 0, [b"0", b"4"])], id="compacted"),
    ],
)
def test_log_notation_is_written_as_batches(
    text: str, shape: list[tuple[int, int, int, list[bytes | None]]]
) -> None:
    content = b"".join(batch.build() for batch in parse_log(text))
    assert _shape(_read(content)) == shape


def test_repeats_of_a_value_share_its_create_timestamp() -> None:
    batches = parse_log("a@0/e0 m@2/e0 m@3/e1 n@4/e1")
    first = batches[0].max_timestamp
    assert [batch.max_timestamp - first for batch in batches] == [0, 2000, 2000, 4000]


def test_key_stands_before_the_equals_sign() -> None:
    keys = [batch.records[0].key for batch in parse_log("k=a@0/e0 a@1/e0 =a@2/e0")]
    assert keys == [b"k", None, b""]


@pytest.mark.parametrize("text", ["a@0", "a/e0", "@1/e0", "3-2"])
def test_unknown_log_notation_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="notation"):
        parse_log(text)


def test_unknown_epoch_notation_is_refused() -> None:
    with pytest.raises(ValueError, match="notation"):
        parse_epochs("0:0 2")


def test_cluster_of_scenario_s3_2_is_written_as_described(tmp_path: Path) -> None:
    paths = cluster(
        tmp_path,
        {
            0: replica("a@0/e0 b@1/e0 c@2/e0 d@3/e0 e@4/e0", epochs="0:0", high_watermark=2),
            1: replica("a@0/e0 b@1/e0 f@2/e2 g@3/e2", epochs="0:0 2:2", high_watermark=4),
        },
    )
    partition = paths[1] / "t-0"
    where = LogPosition("t")
    assert _shape(_read((partition / "00000000000000000000.log").read_bytes()))[2:] == [
        (2, 2, 2, [b"f"]),
        (3, 3, 2, [b"g"]),
    ]
    epochs = (partition / "leader-epoch-checkpoint").read_bytes()
    assert parse_leader_epoch_checkpoint(epochs, where) == (
        LeaderEpochEntry(leader_epoch=0, start_offset=0),
        LeaderEpochEntry(leader_epoch=2, start_offset=2),
    )
    watermarks = (paths[0] / "replication-offset-checkpoint").read_bytes()
    assert parse_offset_checkpoint(watermarks, where) == (
        OffsetCheckpointEntry(topic="t", partition=0, offset=2),
    )
    meta = parse_meta_properties((paths[1] / "meta.properties").read_bytes(), where)
    assert meta.node_id == 1
    assert not (paths[1] / ".kafka_cleanshutdown").exists()


def test_same_description_gives_the_same_bytes_and_times(tmp_path: Path) -> None:
    def digest(root: Path) -> list[tuple[str, str, int]]:
        cluster(root, {3: replica("0-9/e0 10-14/e1", segment_bytes=100)}, clean={3})
        return [
            (
                str(path.relative_to(root)),
                hashlib.sha256(path.read_bytes()).hexdigest(),
                path.stat().st_mtime_ns,
            )
            for path in sorted(root.rglob("*"))
            if path.is_file()
        ]

    assert digest(tmp_path / "one") == digest(tmp_path / "two")


def test_active_index_of_a_killed_broker_keeps_its_zeros() -> None:
    files = replica("a@0/e0", preallocated=65536).build(is_clean=False)
    assert files["00000000000000000000.index"] == bytes(65536)
    assert files["00000000000000000000.timeindex"] == bytes(65532)


def test_header_field_can_lie() -> None:
    (batch,) = parse_log("a@0/e0")
    lying = Batch(
        base_offset=batch.base_offset,
        leader_epoch=batch.leader_epoch,
        records=batch.records,
        lies={"crc": 1},
    )
    with pytest.raises(CorruptRecordError, match="CRC-32C stored 0x00000001"):
        parse_record_batch(lying.build(), LogPosition("t", 0))


def test_file_can_be_replaced_and_removed() -> None:
    described = log_directory(
        0,
        replica("a@0/e0", files={"partition.metadata": None, "leader-epoch-checkpoint": b"1\n0\n"}),
        files={"replication-offset-checkpoint": b"", "cleaner-offset-checkpoint": None},
    )
    files = described.build()
    assert "t-0/partition.metadata" not in files
    assert files["t-0/leader-epoch-checkpoint"] == b"1\n0\n"
    assert files["replication-offset-checkpoint"] == b""
    assert "cleaner-offset-checkpoint" not in files
