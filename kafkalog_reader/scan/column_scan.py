"""Reads and checks batches whose bytes are not needed afterwards, in one call of the kernel.

The kernel reads through a buffer that fits into the processor's cache and keeps only the columns
of headers. It releases the interpreter lock, so that threads do not wait for each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.io.chunked_log import manifest_beside
from kafkalog_reader.io.object_file import is_object
from kafkalog_reader.io.page_cache import cold_ranges
from kafkalog_reader.io.window import regular_file
from kafkalog_reader.kernel import record_batches
from kafkalog_reader.scan.batch_run import MAX_RUN, BatchRun
from kafkalog_reader.scan.recycled_memory import allocate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.read_context import ReadContext

_AT_ONCE: Final = 64 << 20
"""Bytes read in one call: Ctrl-C waits for about ten milliseconds."""
_ROOM: Final = 512 << 10
"""It fits into the second-level cache; larger batches are read the usual way."""
_NO_BYTES: Final = memoryview(b"")


class ColumnScan:
    """Iterates over plain batches from a batch border on; their runs have no bytes.

    Plain batches have magic 2 and a valid checksum, and no check needs their content: they are not
    control batches, and the broker did not set their timestamps, which would hide those of the
    producer. The scan ends at the first other batch, and before pages that are not in the page
    cache: whoever reads those also evicts them again.

    Args:
        path: the segment file.
        start, stop: the range.

    Attributes:
        end_position: the first byte that this scan did not check.

    Raises:
        UnreadableFileError: the file cannot be opened.
    """

    def __init__(self, path: str, start: int, stop: int, *, context: ReadContext) -> None:
        self.end_position = start
        self._path = path
        self._stop = stop
        self._context = context

    def __iter__(self) -> Iterator[BatchRun]:
        """Yield the runs, none of them empty."""
        if self._context.rate is not None or is_object(self._path):  # those are read in Python
            return
        if manifest_beside(self._path) is not None:  # and what may be compressed
            return
        buffer = np.frombuffer(allocate(_ROOM), np.uint8)
        room: BatchRun | None = None
        with regular_file(self._path, context=self._context) as descriptor:
            while self.end_position < self._stop:
                stop = min(self.end_position + _AT_ONCE, self._stop)
                if any(cold_ranges(descriptor, self.end_position, stop)):
                    return
                room = room or BatchRun.with_room(_NO_BYTES, 0, MAX_RUN)
                count, self.end_position = record_batches.scan_file(
                    descriptor, self.end_position, stop, buffer, room, MAX_RUN
                )
                if not count:
                    return
                run, room = room.first(count, count)
                yield run
