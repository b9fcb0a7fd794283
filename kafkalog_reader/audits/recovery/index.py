"""Reads index files as a broker does when it opens them: every whole entry, including zeros.

Source: Kafka 4.3, AbstractIndex, OffsetIndex, TimeIndex, TransactionIndex.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from kafkalog_reader.format.index_entries import (
    OFFSET_INDEX_ENTRY,
    TIME_INDEX_ENTRY,
    TRANSACTION_INDEX_ENTRY,
)
from kafkalog_reader.format.transaction_index import TRANSACTION_INDEX_VERSION
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.window import Windows

if TYPE_CHECKING:
    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.io.segment_files import SegmentFiles

_WARM_ENTRIES: Final = 8192 // OFFSET_INDEX_ENTRY.size
_BOUNDING_ENTRIES: Final = 4096


def last_entry_lookup(files: SegmentFiles, *, context: ReadContext) -> tuple[int, int]:
    """The offset of the last entry, and the position that a lookup of that offset returns.

    Raises:
        UnreadableFileError: the index cannot be opened or read.
    """
    with Windows(files.path("index"), size=1, context=context) as windows:
        return _last_lookup(_StoredEntries(windows), files.base_offset)


def index_lookup(files: SegmentFiles, offset: int, *, context: ReadContext) -> int:
    """The position from which a search for an offset begins.

    Raises:
        UnreadableFileError: the index cannot be opened or read.
    """
    with Windows(files.path("index"), size=1, context=context) as windows:
        return _lookup(_StoredEntries(windows), offset - files.base_offset)


def rising_positions(files: SegmentFiles, *, context: ReadContext) -> tuple[int, ...]:
    """The positions in the first entries of an offset index, as far as they rise.

    Raises:
        UnreadableFileError: the index cannot be opened or read.
    """
    if not files.offset_index_size:
        return ()
    size = OFFSET_INDEX_ENTRY.size
    with Windows(files.path("index"), size=size * _BOUNDING_ENTRIES, context=context) as windows:
        content = windows.read(0, at_most=size * _BOUNDING_ENTRIES)
        entries = np.frombuffer(content[: len(content) // size * size], dtype=">i4").reshape(-1, 2)
        positions = entries[:, 1].astype(np.int64)
    rises = np.diff(positions, prepend=0) > 0
    return tuple(positions[: int(np.argmin(np.append(rises, False)))].tolist())


def overwritten_index(
    files: SegmentFiles, entries: HeldEntries, max_index_size: int, *, context: ReadContext
) -> HeldEntries:
    """An offset index on disk after entries were written over it from its start on.

    A recovery that ends with an error leaves the file at its full size: behind the new entries are
    old ones, and zeros.

    Raises:
        UnreadableFileError: the index cannot be opened or read.

    Source: Kafka 4.3, AbstractIndex#reset.
    """
    size = OFFSET_INDEX_ENTRY.size
    count = max_index_size // size
    old: list[tuple[int, int]] = []
    if files.offset_index_size:
        with Windows(files.path("index"), size=size, context=context) as windows:
            stored = _StoredEntries(windows)
            old = [stored.at(number) for number in range(min(len(stored), count))]
    return HeldEntries((*entries.entries, *old[len(entries.entries) :]), count)


class OffsetEntries(Protocol):
    """The entries of an offset index."""

    def __len__(self) -> int: ...

    def at(self, number: int) -> tuple[int, int]:
        """The relative offset and position of an entry."""
        ...


@dataclass(frozen=True, slots=True)
class HeldEntries:
    """Entries that a start writes.

    Attributes:
        entries: relative offsets and positions.
        size: the number of entries with zeros behind them; None if there are none.
    """

    entries: tuple[tuple[int, int], ...] = ()
    size: int | None = None

    def __len__(self) -> int:
        return len(self.entries) if self.size is None else self.size

    def at(self, number: int) -> tuple[int, int]:
        """The relative offset and position of an entry."""
        return self.entries[number] if number < len(self.entries) else (0, 0)

    def last_lookup(self, base_offset: int) -> tuple[int, int]:
        """As ``last_entry_lookup``."""
        return _last_lookup(self, base_offset)

    def lookup(self, relative_offset: int) -> int:
        """The position that a lookup returns."""
        return _lookup(self, relative_offset)


class _StoredEntries:
    """Entries in a file."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._count = windows.size_in_bytes // OFFSET_INDEX_ENTRY.size

    def __len__(self) -> int:
        return self._count

    def at(self, number: int) -> tuple[int, int]:
        """The relative offset and position of an entry."""
        size = OFFSET_INDEX_ENTRY.size
        content = self._windows.read(number * size, size)[:size]
        found: tuple[int, int] = OFFSET_INDEX_ENTRY.struct.unpack(content)
        return found


def _last_lookup(entries: OffsetEntries, base_offset: int) -> tuple[int, int]:
    if not len(entries):
        return base_offset, 0
    relative_offset = entries.at(len(entries) - 1)[0]
    return base_offset + relative_offset, _lookup(entries, relative_offset)


def _lookup(entries: OffsetEntries, relative_offset: int) -> int:
    """The position that a lookup returns.

    If entries rise, it finds the greatest that is not above the offset. If they do not, the binary
    search goes astray, so it is repeated here step by step.
    """
    count = len(entries)
    if count == 0:
        return 0
    first_warm = max(0, count - 1 - _WARM_ENTRIES)
    if entries.at(first_warm)[0] < relative_offset:
        low, high = first_warm, count - 1
    elif entries.at(0)[0] > relative_offset:
        return 0
    else:
        low, high = 0, first_warm
    while low < high:
        middle = (low + high + 1) // 2
        offset, position = entries.at(middle)
        if offset == relative_offset:
            return position
        low, high = (low, middle - 1) if offset > relative_offset else (middle, high)
    return entries.at(low)[1]


def index_contradiction(files: SegmentFiles, *, context: ReadContext) -> str:
    """The error of the sanity check of releases before 2.3 on both indexes; empty if they pass.

    A zero tail fails it: the index of a killed broker's active segment is rebuilt at every start.

    Raises:
        UnreadableFileError: an index cannot be opened or read.

    Source: Kafka 0.11, OffsetIndex#sanityCheck and TimeIndex#sanityCheck; KAFKA-7283.
    """
    for kind, layout, known in (
        ("index", OFFSET_INDEX_ENTRY, files.offset_index_size),
        ("timeindex", TIME_INDEX_ENTRY, files.time_index_size),
    ):
        if known is None:
            continue
        path, size = files.path(kind), layout.size
        with Windows(path, size=size, context=context) as windows:
            entries, rest = divmod(windows.size_in_bytes, size)
            if rest:
                return f"{shown(path)}: its size is not a multiple of {size}"
            if entries == 0:
                continue
            first = layout.struct.unpack(windows.read(0, size)[:size])
            last = layout.struct.unpack(windows.read((entries - 1) * size, size)[:size])
        if kind == "index" and last[0] <= 0:
            return f"{shown(path)}: its last offset is not above the base"
        if kind == "timeindex" and (last[0] < first[0] or last[1] < 0):
            return f"{shown(path)}: its last entry is below its first or the base"
    return ""


def check_transaction_index(
    files: SegmentFiles, *, context: ReadContext, reads_whole_version: bool = True
) -> tuple[bool, int | None]:
    """Whether every entry is above the base, and the first unknown version.

    The check stops at whichever comes first. Kafka writes the version in two bytes. Up to 4.3 it
    reads the first of them only (AbortedTxn#version), so that it reads 1 to 255 as 0; 4.4 reads
    both (TransactionIndex#iterable).

    Raises:
        UnreadableFileError: the index cannot be opened or read.
    """
    if not files.transaction_index_size:
        return True, None
    path, size = files.path("txnindex"), TRANSACTION_INDEX_ENTRY.size
    with Windows(path, size=size * 4096, context=context) as windows:
        position, end = 0, windows.size_in_bytes - windows.size_in_bytes % size
        while position < end:
            window = windows.read(position, size)
            whole = len(window) - len(window) % size
            aborted = TRANSACTION_INDEX_ENTRY.struct.iter_unpack(window[:whole])
            for version, _, _, last_offset, _ in aborted:
                first_byte = version >> 8
                is_known = (
                    version == TRANSACTION_INDEX_VERSION
                    if reads_whole_version
                    else first_byte <= TRANSACTION_INDEX_VERSION
                )
                if not is_known:
                    return True, version
                if last_offset < files.base_offset:
                    return False, None
            position += whole
    return True, None
