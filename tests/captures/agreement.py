"""Checks any capture of one broker, committed or fresh, against what its clients saw.

Each function takes a scenario's truth and one of its captures. The expected values come only from
consumers, list_offsets and Kafka's own dump tool.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import kafkalog_reader

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.truth import CaptureTruth, Truth

Partition = tuple[str, int]
Row = dict[str, Any]

MAX_MICROSECONDS = 2**63 - 1
TIMESTAMP_TYPES = {"CreateTime": 0, "LogAppendTime": 1}
NUMBERS_OF_A_BATCH = {
    "baseOffset": "baseOffset", "lastOffset": "lastOffset", "count": "count",
    "baseSequence": "baseSequence", "lastSequence": "lastSequence", "producerId": "producerId",
    "producerEpoch": "producerEpoch", "leaderEpoch": "partitionLeaderEpoch",
    "position": "position", "size": "size", "magic": "magic", "crc": "crc", "crcComputed": "crc",
}  # fmt: skip
"""Our columns, and the dump tool's names for them."""


def rows(capture: CaptureTruth, table: str, **options: Any) -> list[Row]:
    """Rows of a table; timestamps in microseconds, because Python's datetime ends in 9999."""
    read = kafkalog_reader.open(str(capture.files)).table(table, **options).to_arrow()
    fields = [
        pa.field(field.name, pa.int64() if pa.types.is_timestamp(field.type) else field.type)
        for field in read.schema
    ]
    found: list[Row] = read.cast(pa.schema(fields)).to_pylist()
    return found


def microseconds(milliseconds: int) -> int:
    return min(milliseconds * 1000, MAX_MICROSECONDS)


def by_partition(found: list[Row]) -> dict[Partition, list[Row]]:
    grouped: dict[Partition, list[Row]] = defaultdict(list)
    for row in found:
        grouped[row["topic"], row["partition"]].append(row)
    return grouped


def records_are_what_a_consumer_got(_scenario: Truth, capture: CaptureTruth) -> None:
    found = rows(capture, "records", include_control_records=False, log_range_only=True)
    ours = [
        (
            row["topic"], row["partition"], row["offset"], row["timestamp"], row["timestampType"],
            row["key"], row["value"], _headers(row["headers"]), row["leaderEpoch"],
        )
        for row in found
        if (row["topic"], row["partition"]) in capture.offsets
    ]  # fmt: skip
    got = [
        (
            record.topic, record.partition, record.offset, microseconds(record.timestamp),
            TIMESTAMP_TYPES[record.timestamp_type], record.key, record.value, record.headers,
            record.leader_epoch,
        )
        for record in capture.records()
    ]  # fmt: skip
    assert got
    assert sorted(ours, key=lambda row: row[:3]) == got


def committed_records_are_those_that_read_committed_got(
    _scenario: Truth, capture: CaptureTruth
) -> None:
    found = rows(
        capture, "records", columns=["topic", "partition", "offset"], log_range_only=True,
        isolation="read_committed",
    )  # fmt: skip
    ours = {
        (row["topic"], row["partition"], row["offset"])
        for row in found
        if (row["topic"], row["partition"]) in capture.offsets
    }
    got = {
        (record.topic, record.partition, record.offset)
        for record in capture.records()
        if record.committed
    }
    assert ours == got


def log_start_log_end_and_last_stable_offset_are_those_of_list_offsets(
    _scenario: Truth, capture: CaptureTruth
) -> None:
    ours = {
        (row["topic"], row["partition"]): (
            row["logStartOffset"], row["logEndOffset"], row["lastStableOffset"],
            row["checkpointedHighWatermark"],
        )
        for row in rows(capture, "replicas")
        if row["state"] is None and (row["topic"], row["partition"]) in capture.offsets
    }  # fmt: skip
    assert ours == {
        partition: (offsets.earliest, offsets.latest, offsets.last_stable, offsets.latest)
        for partition, offsets in capture.offsets.items()
    }


def batches_are_what_the_dump_tool_printed(_scenario: Truth, capture: CaptureTruth) -> None:
    grouped = defaultdict(list)
    for row in rows(capture, "batches"):
        node = row["logDirectory"].rsplit("/", 1)[-1]
        directory = f"{node}/{row['topic']}-{row['partition']}"
        name = f"{capture.name}/{directory}/{row['segmentBaseOffset']:020}.log"
        grouped[name].append(_batch_as_dumped(row))
    printed = {
        each.file: [_dumped_batch(batch) for batch in each.batches()]
        for each in capture.dump()
        if each.file.endswith(".log")
    }
    assert any(printed.values())
    assert {name: batches for name, batches in printed.items() if batches} == dict(grouped)


def segments_are_the_files_that_are_there(_scenario: Truth, capture: CaptureTruth) -> None:
    """Sizes, and numbers that follow from the dump; also for segments marked as deleted."""
    ours = {}
    for row in rows(capture, "segments"):
        node = row["logDirectory"].rsplit("/", 1)[-1]
        suffix = "" if row["suffix"] is None else f".{row['suffix']}"
        file = f"{row['topic']}-{row['partition']}/{row['segmentBaseOffset']:020}.log{suffix}"
        ours[f"{capture.name}/{node}/{file}"] = row
    logs = [path for path in capture.files.glob("*/*/*.log*") if not path.is_dir()]
    sizes = {str(path.relative_to(capture.files.parent)): path.stat().st_size for path in logs}
    assert {name: row["sizeInBytes"] for name, row in ours.items()} == sizes
    for dumped in capture.dump():
        batches = list(dumped.batches())
        if dumped.file.endswith(".log"):
            row = ours[dumped.file]
            assert row["batches"] == len(batches), dumped.file
            assert row["records"] == sum(int(batch["count"]) for batch in batches), dumped.file
            assert set(row["codecs"] or ()) == {batch["compresscodec"] for batch in batches}


ALL: tuple[Callable[[Truth, CaptureTruth], None], ...] = (
    records_are_what_a_consumer_got,
    committed_records_are_those_that_read_committed_got,
    log_start_log_end_and_last_stable_offset_are_those_of_list_offsets,
    batches_are_what_the_dump_tool_printed,
    segments_are_the_files_that_are_there,
)


def _headers(headers: list[Row] | None) -> tuple[tuple[str, bytes | None], ...]:
    assert headers != [], "none are null, as Spark's Kafka source shows them"
    return tuple((header["key"], header["value"]) for header in headers or ())


def _batch_as_dumped(row: Row) -> Row:
    return {name: row[name] for name in NUMBERS_OF_A_BATCH} | {
        "isTransactional": row["isTransactional"],
        "isControl": row["isControl"],
        "deleteHorizonMs": row["deleteHorizonMs"],
        "timestampType": row["timestampType"],
        "maxTimestamp": row["maxTimestamp"],
        "codec": row["codec"],
        "crcValid": row["crcValid"],
    }


def _dumped_batch(batch: dict[str, str]) -> Row:
    (kind,) = TIMESTAMP_TYPES.keys() & batch.keys()
    horizon = re.fullmatch(r"OptionalLong\[(\d+)\]", batch["deleteHorizonMs"])
    return {name: int(batch[printed]) for name, printed in NUMBERS_OF_A_BATCH.items()} | {
        "isTransactional": batch["isTransactional"] == "true",
        "isControl": batch["isControl"] == "true",
        "deleteHorizonMs": None if horizon is None else int(horizon[1]),
        "timestampType": TIMESTAMP_TYPES[kind],
        "maxTimestamp": microseconds(int(batch[kind])),
        "codec": batch["compresscodec"],
        "crcValid": batch["isvalid"] == "true",
    }
