"""Checkpoint files: the text grammar that the four offset checkpoints and the epoch file share.

    version NL count NL *( field *( SP field ) NL )

The version is 0; a file that is empty, or ends after the version, has no entries. Source: Kafka
4.0, server.common.CheckpointFile, storage.internals.checkpoint.OffsetCheckpointFile and
LeaderEpochCheckpointFile.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import CorruptCheckpointError, LogPosition, UnsupportedFormatError
from kafkalog_reader.format.text_lines import INT32, INT64, TextLine, excerpt, text_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CHECKPOINT_VERSION: Final[int] = 0
_WHITESPACE: Final = re.compile(rb"[ \t\n\x0b\f\r]+")  # Java's \s
_PLAIN_START: Final = re.compile(rb"0\n([0-9]{1,9})\n")
_PLAIN_ROW: Final = re.compile(rb"(?m)^([!-~]{1,249}) ([0-9]{1,9}) ([0-9]{1,18})\n")
"""A row as brokers write it, whose numbers cannot be out of range."""
_NON_NEGATIVE_INT32: Final[range] = range(INT32.stop)
_NON_NEGATIVE_INT64: Final[range] = range(INT64.stop)


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetCheckpointEntry:
    """A row of an offset checkpoint; which offset it is depends on the file."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderEpochEntry:
    """The records from ``start_offset`` to the next entry's were written under this epoch."""

    leader_epoch: int
    start_offset: int


def parse_offset_checkpoint(
    content: bytes, where: LogPosition
) -> tuple[OffsetCheckpointEntry, ...]:
    """Parse one of the four ``*-offset-checkpoint`` files of a log directory, rows unchanged.

    Raises:
        CorruptCheckpointError: the grammar is broken; names the line.
        UnsupportedFormatError: the version is newer than 0.
    """
    return tuple(
        OffsetCheckpointEntry(
            topic=_topic(line, fields[0]),
            partition=line.integer(fields[1], "partition", _NON_NEGATIVE_INT32),
            offset=line.integer(fields[2], "offset", _NON_NEGATIVE_INT64),
        )
        for line, fields in _entries(content, where, 3)
    )


def parse_offset_rows(content: bytes, where: LogPosition) -> dict[tuple[str, int], int]:
    """The offsets of an offset checkpoint by topic and partition; the last row of each counts.

    What brokers write is read at once; anything else row by row, to find what is wrong.

    Raises:
        CorruptCheckpointError: see ``parse_offset_checkpoint``.
        UnsupportedFormatError: the version is newer than 0.
    """
    start = _PLAIN_START.match(content)
    if start is not None:
        rows = _PLAIN_ROW.findall(content, start.end())
        if len(rows) == int(start[1]) == content.count(b"\n") - 2 and content.endswith(b"\n"):
            topics = {row[0]: row[0].decode("ascii") for row in rows}
            return {
                (topics[topic], int(partition)): int(offset) for topic, partition, offset in rows
            }
    entries = parse_offset_checkpoint(content, where)
    return {(entry.topic, entry.partition): entry.offset for entry in entries}


def parse_leader_epoch_checkpoint(
    content: bytes, where: LogPosition
) -> tuple[LeaderEpochEntry, ...]:
    """Parse a ``leader-epoch-checkpoint``, rows unchanged: order is neither checked nor repaired.

    Raises:
        CorruptCheckpointError: the grammar is broken; names the line.
        UnsupportedFormatError: the version is newer than 0.
    """
    return tuple(
        LeaderEpochEntry(
            leader_epoch=line.integer(fields[0], "leader epoch", _NON_NEGATIVE_INT32),
            start_offset=line.integer(fields[1], "start offset", _NON_NEGATIVE_INT64),
        )
        for line, fields in _entries(content, where, 2)
    )


def build_leader_epoch_checkpoint(
    entries: Iterable[LeaderEpochEntry], *, version: int = 0, count: int | None = None
) -> bytes:
    """Build a leader epoch checkpoint; ``version`` and ``count`` may be wrong on purpose."""
    lines = [f"{entry.leader_epoch} {entry.start_offset}" for entry in entries]
    return build_checkpoint(lines, version, count)


def _entries(
    content: bytes, where: LogPosition, width: int
) -> Iterator[tuple[TextLine, list[bytes]]]:
    lines = text_lines(content, where)
    first = next(lines, None)
    if first is None:
        return
    _check_version(first)
    second = next(lines, None)
    if second is None:
        return
    count = second.integer(second.text, "the count of entries", _NON_NEGATIVE_INT32)
    found = 0
    for line in lines:
        if found == count:  # the count is only compared, never used to allocate
            raise line.corrupt(f"more entries than the {count} announced on line 2")
        fields = _WHITESPACE.split(line.text)
        while len(fields) > 1 and fields[-1] == b"":  # as java.util.regex.Pattern#split
            fields.pop()
        if len(fields) != width:
            raise line.corrupt(
                f"expected {width} fields, found {len(fields)}: {excerpt(line.text)}"
            )
        found += 1
        yield line, fields
    if found != count:
        raise CorruptCheckpointError(f"line 2 announces {count} entries, found {found}", where)


def _check_version(line: TextLine) -> None:
    version = line.integer(line.text, "version", INT32)
    if version > CHECKPOINT_VERSION:
        raise UnsupportedFormatError(
            f"checkpoint version {version}: only version 0 is known", line.where
        )
    if version < CHECKPOINT_VERSION:
        raise line.corrupt(f"checkpoint version {version} is negative")


def _topic(line: TextLine, field: bytes) -> str:
    try:
        return field.decode("utf-8")
    except UnicodeDecodeError as error:
        raise line.corrupt(f"topic is not UTF-8: {excerpt(field)}") from error


def build_checkpoint(lines: list[str], version: int, count: int | None) -> bytes:
    announced = len(lines) if count is None else count
    return "".join(f"{line}\n" for line in (str(version), str(announced), *lines)).encode()
