"""Reads index files as a broker does when it opens them: every whole entry, including zeros.

Source: Kafka 4.3, AbstractIndex, OffsetIndex, TimeIndex, TransactionIndex.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

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
        entries = _Entries(windows)
        if not len(entries):
            return files.base_offset, 0
        relative_offset = entries.at(len(entries) - 1)[0]
        return files.base_offset + relative_offset, entries.lookup(relative_offset)


def index_lookup(files: SegmentFiles, offset: int, *, context: ReadContext) -> int:
    """The position from which a search for an offset begins.

    Raises:
        UnreadableFileError: the index cannot be opened or read.
    """
    with Windows(files.path("index"), size=1, context=context) as windows:
        return _Entries(windows).lookup(offset - files.base_offset)


def greatest_interval(files: SegmentFiles, *, context: ReadContext) -> int | None:
    """The greatest ``index.interval.bytes`` with which a broker writes this offset index.

    It adds an entry for a batch that begins more than an interval after the last indexed one, or
    after the start of the segment. Only the first entries are read, as far as they rise; None
    without any.

    Raises:
        UnreadableFileError: the index cannot be opened or read.

    Source: Kafka 4.3, LogSegment#append.
    """
    if not files.offset_index_size:
        return None
    size = OFFSET_INDEX_ENTRY.size
    with Windows(files.path("index"), size=size * _BOUNDING_ENTRIES, context=context) as windows:
        content = windows.read(0, at_most=size * _BOUNDING_ENTRIES)
        entries = np.frombuffer(content[: len(content) // size * size], dtype=">i4").reshape(-1, 2)
        gaps = np.diff(entries[:, 1].astype(np.int64), prepend=0)
    rising = gaps[: int(np.argmin(np.append(gaps > 0, False)))]
    return int(rising.min()) - 1 if len(rising) else None


class _Entries:
    """The entries of an offset index.

    If they rise, a lookup finds the greatest that is not above the offset. If they do not, the
    binary search goes astray, so it is repeated here step by step.
    """

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

    def lookup(self, relative_offset: int) -> int:
        """The position that a lookup returns."""
        if self._count == 0:
            return 0
        first_warm = max(0, self._count - 1 - _WARM_ENTRIES)
        if self.at(first_warm)[0] < relative_offset:
            low, high = first_warm, self._count - 1
        elif self.at(0)[0] > relative_offset:
            return 0
        else:
            low, high = 0, first_warm
        while low < high:
            middle = (low + high + 1) // 2
            offset, position = self.at(middle)
            if offset == relative_offset:
                return position
            low, high = (low, middle - 1) if offset > relative_offset else (middle, high)
        return self.at(low)[1]


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
