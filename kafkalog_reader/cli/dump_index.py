"""The lines that ``kafka-dump-log`` 4.3 prints about indexes and producer snapshots."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from kafkalog_reader.cli.dump_log import base_offset_of, optional_long
from kafkalog_reader.errors import LogPosition
from kafkalog_reader.format import transaction_index
from kafkalog_reader.format.producer_snapshot import ProducerSnapshotEntry, parse_producer_snapshot
from kafkalog_reader.format.record_batch_header import MAX_SEQUENCE
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.window import Windows, read_small_file
from kafkalog_reader.tables.table import no_progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.cli.dump_mismatches import IndexMismatches
    from kafkalog_reader.tables.table import Progress

OFFSET_INDEX_ENTRY: Final = struct.Struct(">ii")
TIME_INDEX_ENTRY: Final = struct.Struct(">qi")
LARGEST_SNAPSHOT: Final = 256 << 20
"""Bytes: five million producers, far more than a broker keeps."""


def offset_index_lines(
    path: str, mismatches: IndexMismatches, progress: Progress = no_progress
) -> Iterator[str]:
    """The entries up to the zeros of a preallocated file; then they are held against the log."""
    base_offset = base_offset_of(path)
    entries: list[tuple[int, int]] = []
    for place, entry in _entries(path, OFFSET_INDEX_ENTRY.size):
        relative_offset, position = OFFSET_INDEX_ENTRY.unpack(entry)
        if relative_offset == 0 and place > 0:
            break
        entries.append((base_offset + relative_offset, position))
        yield f"offset: {base_offset + relative_offset} position: {position}"
    if not entries:
        yield f"{shown(path)} is empty."
    mismatches.check_offsets(path, entries, progress)


def time_index_lines(
    path: str, mismatches: IndexMismatches, progress: Progress = no_progress
) -> Iterator[str]:
    """The entries up to the zeros of a preallocated file; then they are held against the log."""
    base_offset = base_offset_of(path)
    entries: list[tuple[int, int]] = []
    for place, entry in _entries(path, TIME_INDEX_ENTRY.size):
        timestamp, relative_offset = TIME_INDEX_ENTRY.unpack(entry)
        if relative_offset == 0 and place > 0:
            break
        entries.append((timestamp, base_offset + relative_offset))
        yield f"timestamp: {timestamp} offset: {base_offset + relative_offset}"
    mismatches.check_times(path, entries, progress)


def transaction_index_lines(path: str) -> Iterator[str]:
    """The aborted transactions."""
    for position, entry in _entries(path, transaction_index.ENTRY_SIZE):
        where = LogPosition(shown(path), position)
        found = transaction_index.parse_aborted_transaction(entry, where)
        yield (
            f"version: 0 producerId: {found.producer_id} firstOffset: {found.first_offset} "
            f"lastOffset: {found.last_offset} lastStableOffset: {found.last_stable_offset}"
        )


def producer_snapshot_lines(path: str) -> Iterator[str]:
    """The producers, in file order."""
    content = read_small_file(path, LARGEST_SNAPSHOT, follow_links=True)
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
    """Each whole entry with its position; bytes of a last partial one mean nothing."""
    with Windows(path, follow_links=True) as windows:
        position = 0
        while position + entry_size <= windows.stop:
            window = windows.read(position, entry_size)
            usable = len(window) // entry_size * entry_size
            for start in range(0, usable, entry_size):
                yield position + start, bytes(window[start : start + entry_size])
            position += usable
