"""Prints indexes and producer snapshots as ``kafka-dump-log`` 4.3 does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kafkalog_reader.cli.dump_log import base_offset_of, optional_long
from kafkalog_reader.cli.options import read_context
from kafkalog_reader.errors import CorruptIndexError, LogPosition
from kafkalog_reader.format.index_entries import TIME_INDEX_ENTRY, TRANSACTION_INDEX_ENTRY
from kafkalog_reader.format.producer_snapshot import ProducerSnapshotEntry, parse_producer_snapshot
from kafkalog_reader.format.record_batch_header import MAX_SEQUENCE
from kafkalog_reader.format.transaction_index import parse_aborted_transaction
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.offset_index_layout import entry_of_file
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.io.window import Windows, read_small_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.cli.dump_mismatches import IndexMismatches
    from kafkalog_reader.format.index_entries import FixedEntry
    from kafkalog_reader.io.progress import Progress

LOG_OVERHEAD: Final = 12
"""Bytes of base offset and length, which the length does not count."""
MAX_SNAPSHOT: Final = 256 << 20
"""In bytes: five million producers, many more than a broker keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexOptions:
    """What to print about indexes.

    Attributes:
        sanity_only: only do the checks of a broker's start; no entry is printed.
        verify_only: compare entries with the log without printing them.
        max_message_size: maximum bytes of a batch that an entry points to; None for any.
    """

    sanity_only: bool = False
    verify_only: bool = False
    max_message_size: int | None = None


EVERYTHING: Final = IndexOptions()


def offset_index_lines(
    path: str,
    mismatches: IndexMismatches,
    progress: Progress = no_progress,
    options: IndexOptions = EVERYTHING,
) -> Iterator[str]:
    """The entries up to the zeros of a preallocated file; then they are compared with the log.

    Raises:
        CorruptIndexError: with ``sanity_only``, what makes a broker rebuild the index; with
            ``max_message_size``, a larger batch.
    """
    base_offset = base_offset_of(path)
    log = Path(path).with_suffix(".log")
    layout = entry_of_file(
        path,
        str(log) if log.is_file() else None,
        base_offset,
        context=read_context(follow_links=True),
    )
    if options.sanity_only and Path(path).stat().st_size >= layout.size:
        _check_offset_index(path, layout)
        yield f"{shown(path)} passed sanity check."
        return
    entries: list[tuple[int, int]] = []
    for place, entry in _entries(path, layout.size):
        relative_offset, position = layout.struct.unpack(entry)
        if relative_offset == 0 and place > 0:
            break
        if options.max_message_size is not None:
            _check_size_at(path, position, options.max_message_size)
        entries.append((base_offset + relative_offset, position))
        if not options.verify_only:
            yield f"offset: {base_offset + relative_offset} position: {position}"
    if not entries:
        yield f"{shown(path)} is empty."
    mismatches.check_offsets(path, entries, progress)


def time_index_lines(
    path: str,
    mismatches: IndexMismatches,
    progress: Progress = no_progress,
    options: IndexOptions = EVERYTHING,
) -> Iterator[str]:
    """The entries up to the zeros of a preallocated file; then they are compared with the log.

    Raises:
        CorruptIndexError: with ``sanity_only``, what makes a broker rebuild the index.
    """
    base_offset = base_offset_of(path)
    if options.sanity_only:
        _check_time_index(path)
        yield f"{shown(path)} passed sanity check."
        return
    entries: list[tuple[int, int]] = []
    for place, entry in _entries(path, TIME_INDEX_ENTRY.size):
        timestamp, relative_offset = TIME_INDEX_ENTRY.struct.unpack(entry)
        if relative_offset == 0 and place > 0:
            break
        entries.append((timestamp, base_offset + relative_offset))
        if not options.verify_only:
            yield f"timestamp: {timestamp} offset: {base_offset + relative_offset}"
    mismatches.check_times(path, entries, progress)


def _check_offset_index(path: str, layout: FixedEntry) -> None:
    """Source: Kafka 4.3, OffsetIndex#sanityCheck."""
    base_offset = base_offset_of(path)
    position, (_, last) = _last_entry(path, layout.size)
    relative_offset, _ = layout.struct.unpack(last)
    _check_last_offset(path, position, base_offset, relative_offset)
    _check_length(path, layout.size)


def _check_time_index(path: str) -> None:
    """Source: Kafka 4.3, TimeIndex#sanityCheck."""
    base_offset = base_offset_of(path)
    if Path(path).stat().st_size >= TIME_INDEX_ENTRY.size:
        position, (first, last) = _last_entry(path, TIME_INDEX_ENTRY.size)
        first_timestamp, _ = TIME_INDEX_ENTRY.struct.unpack(first)
        timestamp, relative_offset = TIME_INDEX_ENTRY.struct.unpack(last)
        if timestamp < first_timestamp:
            raise CorruptIndexError(
                f"the last timestamp is {timestamp}, less than the first, {first_timestamp}: "
                "the broker runs or was killed, so the file was not trimmed to its entries; or it "
                "is damaged",
                LogPosition(shown(path), position),
            )
        _check_last_offset(path, position, base_offset, relative_offset)
    _check_length(path, TIME_INDEX_ENTRY.size)


def _last_entry(path: str, entry_size: int) -> tuple[int, tuple[bytes, bytes]]:
    """The position of the last whole entry, and the first and the last entry."""
    with Windows(path, context=read_context(follow_links=True)) as windows:
        position = (windows.size_in_bytes // entry_size - 1) * entry_size
        first = bytes(windows.read(0, entry_size)[:entry_size])
        return position, (first, bytes(windows.read(position, entry_size)[:entry_size]))


def _check_last_offset(path: str, position: int, base_offset: int, relative_offset: int) -> None:
    if relative_offset < 0:
        raise CorruptIndexError(
            f"the last offset is {base_offset + relative_offset}, less than the base offset "
            f"{base_offset}",
            LogPosition(shown(path), position),
        )


def _check_length(path: str, entry_size: int) -> None:
    length = Path(path).stat().st_size
    if length % entry_size:
        raise CorruptIndexError(
            f"{length} bytes are not a multiple of {entry_size}",
            LogPosition(shown(path), length - length % entry_size),
        )


def _check_size_at(path: str, position: int, max_message_size: int) -> None:
    """Check that the batch that an entry points to has at most ``max_message_size`` bytes."""
    log = Path(path).with_suffix(".log")
    if not log.is_file():
        return
    with Windows(str(log), size=LOG_OVERHEAD, context=read_context(follow_links=True)) as windows:
        if position < 0 or position + LOG_OVERHEAD > windows.stop:
            return
        head = bytes(windows.read(position, LOG_OVERHEAD)[:LOG_OVERHEAD])
    size = LOG_OVERHEAD + int.from_bytes(head[8:], "big", signed=True)
    if size > max_message_size:
        raise CorruptIndexError(
            f"the batch there has {size} bytes, more than --max-message-size {max_message_size}",
            LogPosition(shown(str(log)), position),
        )


def transaction_index_lines(path: str) -> Iterator[str]:
    """The aborted transactions."""
    for position, entry in _entries(path, TRANSACTION_INDEX_ENTRY.size):
        where = LogPosition(shown(path), position)
        found = parse_aborted_transaction(entry, where)
        yield (
            f"version: 0 producerId: {found.producer_id} firstOffset: {found.first_offset} "
            f"lastOffset: {found.last_offset} lastStableOffset: {found.last_stable_offset}"
        )


def producer_snapshot_lines(path: str) -> Iterator[str]:
    """The producers, in file order."""
    content = read_small_file(path, MAX_SNAPSHOT, context=read_context(follow_links=True))
    for entry in parse_producer_snapshot(content, LogPosition(shown(path))):
        yield _producer_line(entry)


def _producer_line(entry: ProducerSnapshotEntry) -> str:
    line = (
        f"producerId: {entry.producer_id} producerEpoch: {entry.producer_epoch} "
        f"coordinatorEpoch: {entry.coordinator_epoch} currentTxnFirstOffset: "
        f"{optional_long(entry.current_transaction_first_offset)} lastTimestamp: {entry.timestamp}"
    )
    if entry.last_offset < 0:  # only markers were seen
        return line
    first_sequence = (entry.last_sequence - entry.offset_delta) % (MAX_SEQUENCE + 1)
    return (
        f"{line} firstSequence: {first_sequence} lastSequence: {entry.last_sequence} "
        f"lastOffset: {entry.last_offset} offsetDelta: {entry.offset_delta} "
        f"timestamp: {entry.timestamp}"
    )


def _entries(path: str, entry_size: int) -> Iterator[tuple[int, bytes]]:
    """Yield each whole entry with its position, without a last partial one."""
    with Windows(path, context=read_context(follow_links=True)) as windows:
        position = 0
        while position + entry_size <= windows.stop:
            window = windows.read(position, entry_size)
            usable = len(window) // entry_size * entry_size
            for start in range(0, usable, entry_size):
                yield position + start, bytes(window[start : start + entry_size])
            position += usable
