"""Logs with messages of magic 0 and 1, and their records by the declared format."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from fixtures.builder.stored_messages import build_message, build_wrapper
from kafkalog_reader.errors import KafkaLogError, LogPosition
from kafkalog_reader.format.batch_fields import LOG_APPEND_TIME_BIT
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.message import parse_message
from kafkalog_reader.format.message_set import LegacyRecord, message_records

MIN, MAX = -(2**63) // 1000, (2**63 - 1) // 1000
"""Range of milliseconds that the tables can show in microseconds."""
WHERE = LogPosition("log")
T = 1_500_000_000_000
CONTENT = st.none() | st.binary(max_size=40)
TIMESTAMPS = st.integers(0, 2**42) | st.just(-1)
CODECS = st.sampled_from([Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
Row = tuple[int, int, int, bytes | None, bytes | None]


@st.composite
def messages(draw: st.DrawFn, offset: int) -> tuple[bytes, int]:
    """A message or a wrapper that may begin at ``offset``, and the next offset."""
    magic = draw(st.sampled_from([0, 1]))
    flags = draw(st.sampled_from([0, LOG_APPEND_TIME_BIT])) if magic else 0
    if draw(st.booleans()):
        built = build_message(
            draw(CONTENT),
            draw(CONTENT),
            offset=offset,
            magic=magic,
            timestamp=draw(TIMESTAMPS),
            flags=flags,
        )
        return built, offset + 1
    gaps = draw(st.lists(st.integers(0, 3), min_size=1, max_size=8))
    offsets = [offset + number + sum(gaps[: number + 1]) for number in range(len(gaps))]
    records = [
        LegacyRecord(
            offset=each, timestamp=draw(TIMESTAMPS), key=draw(CONTENT), value=draw(CONTENT)
        )
        for each in offsets
    ]
    inner_magic = draw(st.sampled_from([None, None, 0, 1]))
    built = build_wrapper(
        records,
        codec=draw(CODECS),
        magic=magic,
        base_offset=offset if magic else None,
        inner_magic=inner_magic,
        timestamp=draw(TIMESTAMPS),
        flags=flags,
    )
    return built, offsets[-1] + 1


@st.composite
def logs(draw: st.DrawFn) -> list[bytes]:
    """A few messages in offset order."""
    offset = draw(st.sampled_from([0, 7, 2**40]))
    built = []
    for _ in range(draw(st.integers(1, 6))):
        message, offset = draw(messages(offset))
        built.append(message)
        offset += draw(st.integers(0, 2))
    return built


def declared_rows(entry: bytes) -> list[Row]:
    """The records of an entry as the declared format reads them; none if it refuses."""
    try:
        message = parse_message(entry, WHERE)
        return [
            (r.offset, _shown(r.timestamp), int(r.timestamp_type), r.key, r.value)
            for r in message_records(message, WHERE)
        ]
    except KafkaLogError:
        return []


def shown_rows(rows: list[dict[str, Any]]) -> list[Row]:
    """Rows of the table ``records``, timestamps as integers, in the same shape."""
    return [(r["offset"], r["ms"], r["timestampType"], r["key"], r["value"]) for r in rows]


def _shown(timestamp: int) -> int:
    return min(max(timestamp, MIN), MAX)
