"""Values of the metadata log and of tiered storage's topic, printed as Kafka's tool prints them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, data_batch, replica
from fixtures.dump import dump_log_segments
from kafkalog_reader.cli.dump_framed import remote_log_metadata
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.cli.conftest import Run

REMOTE, METADATA = "__remote_log_metadata", "__cluster_metadata"
DECODERS = {REMOTE: "--remote-log-metadata-decoder", METADATA: "--cluster-metadata-decoder"}


def varint(number: int) -> bytes:
    found = b""
    while number >= 128:
        found += bytes([number & 127 | 128])
        number >>= 7
    return found + bytes([number])


def compact(content: bytes | None) -> bytes:
    return varint(0) if content is None else varint(len(content) + 1) + content


def uuid(high: int, low: int) -> bytes:
    return struct.pack(">QQ", high, low)


def topic_id_partition(name: str = "t", partition: int = 0) -> bytes:
    return compact(name.encode()) + uuid(1, 5) + struct.pack(">i", partition) + varint(0)


def segment_id(name: str = "t", partition: int = 0) -> bytes:
    return topic_id_partition(name, partition) + uuid(2, 6) + varint(0)


def frame(type_: int, version: int = 0, frame_version: int = 1) -> bytes:
    return varint(frame_version) + varint(type_) + varint(version)


def segment(
    start: int = 0, end: int = 99, state: int = 0, custom: bytes | None = None, *,
    epochs: Sequence[tuple[int, int]] = ((3, 0),), name: str = "t", partition: int = 0,
    size: int = 1024, tagged: bytes = b"",
) -> bytes:  # fmt: skip
    """RemoteLogSegmentMetadataRecord; ``tagged`` is its field txnIndexEmpty, if it is there."""
    value = frame(0) + segment_id(name, partition)
    value += struct.pack(">qqiqq", start, end, 1, 1700000000000, 1700000000001)
    value += varint(len(epochs) + 1)
    value += b"".join(struct.pack(">iq", *each) + varint(0) for each in epochs)
    value += struct.pack(">i", size) + compact(custom) + struct.pack(">b", state)
    return value + (varint(1) + varint(0) + varint(1) + tagged if tagged else varint(0))


def update(state: int, custom: bytes | None = None) -> bytes:
    value = frame(1) + segment_id() + struct.pack(">iq", 1, 1700000000001)
    return value + compact(custom) + struct.pack(">b", state) + varint(0)


def deletion(state: int) -> bytes:
    return frame(2) + topic_id_partition() + struct.pack(">iqb", 1, -1, state) + varint(0)


def snapshot(start: int = 0, epochs: int = 1) -> bytes:
    value = frame(3) + uuid(2, 6) + struct.pack(">qqiqq", start, 99, 1, 1, 2)
    value += varint(1 + epochs) + (struct.pack(">iq", 3, 0) + varint(0)) * epochs
    return value + struct.pack(">i", 9) + compact(None) + b"\1" + varint(0)


TOPIC = frame(2) + compact(b"t") + uuid(1, 5) + varint(0)
BROKEN = [
    frame(0, frame_version=0), frame(0, frame_version=2), frame(17), frame(200), frame(0)[:2],
    frame(0)[:1], b"", b"\xff" * 6, varint(1) + b"\xff" * 6, frame(0) + b"x", frame(1) + b"x", None,
]  # fmt: skip
VALUES: dict[str, list[bytes | None]] = {
    REMOTE: [
        segment(), segment(state=1, custom=b"\1\xff", epochs=[(9, 0), (3, 0), (20, 5), (3, 7)]),
        segment(custom=b"", tagged=b"\1", name="a{}, b", partition=-3), segment(state=2),
        segment(epochs=[(-1, -1)], size=-7), segment(tagged=b"\0"), snapshot(),
        update(0), update(1), update(2, b"abc"), update(3), deletion(0), deletion(1), deletion(2),
        # what the constructors of Kafka's classes refuse
        segment(state=9), segment(state=-1), segment(-5), segment(-5, state=9), segment(9, 3),
        segment(epochs=()), segment(-1, epochs=()), segment(state=9, epochs=()), update(4),
        deletion(3), snapshot(-1), snapshot(epochs=0),
        segment() + b"zz", segment()[:-9], snapshot() + b"x", frame(0, 1) + b"abc", *BROKEN,
    ],
    METADATA: [
        TOPIC, TOPIC + b"zz", TOPIC[:-3], frame(2, 9) + TOPIC[3:], *BROKEN,
    ],
}  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize("topic", VALUES)
def test_every_line_is_that_of_kafkas_tool(
    topic: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = [
        data_batch(offset, [Record(offset_delta=0, key=None, value=value)])
        for offset, value in enumerate(VALUES[topic])
    ]
    cluster(tmp_path / "states" / "built", {1: replica(batches, topic=topic)})
    expected = dump_log_segments(tmp_path / "states", ["built"], [".log"], [DECODERS[topic]])
    monkeypatch.chdir(tmp_path / "states")
    file = expected.splitlines()[0].removeprefix("Dumping ")
    found = run("dump", DECODERS[topic], file).out
    assert expected.count("| offset: ") == len(batches)
    assert found.splitlines() == expected.splitlines()


def test_a_remote_segment_is_printed_as_java_does() -> None:
    """The record of kafka-on-disk-format.md, section 14; the line is from Kafka's tool 4.3.1."""
    record = bytes.fromhex(
        "01000002740000000000000001000000000000000500000000000000000000000002000000000000000600"
        "0000000000000000000000000000006300000001"
        "0000018bcfe568000000018bcfe568000200000003000000000000000000"
        "00000400000000"
    )
    key, shown = remote_log_metadata(7, None, record)
    assert key is None
    assert shown == (
        "RemoteLogSegmentMetadata{remoteLogSegmentId=RemoteLogSegmentId{topicIdPartition="
        "AAAAAAAAAAEAAAAAAAAABQ:t-0, id=AAAAAAAAAAIAAAAAAAAABg}, startOffset=0, endOffset=99, "
        "brokerId=1, maxTimestampMs=1700000000000, eventTimestampMs=1700000000000, "
        "segmentLeaderEpochs={3=0}, segmentSizeInBytes=1024, customMetadata=Optional.empty, "
        "state=COPY_SEGMENT_STARTED, txnIdxEmpty=false}"
    )
