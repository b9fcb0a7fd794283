"""Index files in bulk: whole entries as numpy records, without the zeros of preallocation."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from kafkalog_reader.errors import LogPosition
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.window import Windows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.format.index_entries import FixedEntry
    from kafkalog_reader.io.progress import Progress
    from kafkalog_reader.io.read_context import ReadContext

logger = logging.getLogger(__name__)

ENTRIES_AT_ONCE: Final = 4 << 20
"""More than the 1.3 million of a default index: one pass over the log confirms all of them."""
_WINDOW_SIZE: Final = 1 << 20


def read_entries(
    path: str, entry: FixedEntry, progress: Progress, context: ReadContext
) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the entries of an index file, with the number of the first of each part.

    Trailing zeros are preallocated space, not entries. Bytes of a last, partial entry are left
    out with a warning, as a broker ignores them.

    Raises:
        UnreadableFileError: the file cannot be opened or read.
    """
    with Windows(path, size=_WINDOW_SIZE, context=context) as windows:
        size_in_bytes = windows.size_in_bytes
        if size_in_bytes % entry.size:
            torn = size_in_bytes - size_in_bytes % entry.size
            logger.warning("%s: entry cut short", LogPosition(shown(path), torn))
        count = _used_entries(windows, entry.size)
        for first in range(0, count, ENTRIES_AT_ONCE):
            wanted = min(ENTRIES_AT_ONCE, count - first)
            yield first, _read(windows, first, wanted, entry)
            progress(wanted * entry.size)


def in_file_order(
    confirmed: NDArray[np.bool_], known: NDArray[np.bool_], order: NDArray[np.intp]
) -> pa.Array:
    """Results for sorted entries, in the order of the file; null if unknown."""
    answers, unknown = np.empty_like(confirmed), np.empty_like(known)
    answers[order], unknown[order] = confirmed, ~known
    return pa.array(answers, mask=unknown)


def _read(windows: Windows, first: int, count: int, entry: FixedEntry) -> NDArray[Any]:
    entries = np.empty(count, entry.dtype)
    into = entries.view(np.uint8)
    filled = 0
    while filled < len(into):
        window = windows.read(first * entry.size + filled)[: len(into) - filled]
        into[filled : filled + len(window)] = window
        filled += len(window)
    return entries


def _used_entries(windows: Windows, entry_size: int) -> int:
    """Entries up to the last byte that is not zero, searched from the end."""
    end = windows.size_in_bytes - windows.size_in_bytes % entry_size
    while end > 0:
        start = max(0, end - _WINDOW_SIZE)
        used = np.flatnonzero(np.frombuffer(windows.read(start)[: end - start], np.uint8))
        if len(used):
            return (start + int(used[-1])) // entry_size + 1
        end = start
    return 0
