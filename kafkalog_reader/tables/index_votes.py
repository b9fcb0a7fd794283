"""What the offset index of a segment says about the offsets of its batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.format.index_entries import OFFSET_INDEX_ENTRY
from kafkalog_reader.io.offset_index_layout import offset_index_entry
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.tables.index_file import read_entries

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kafkalog_reader.scan.segment_slice import SegmentSlice
    from kafkalog_reader.tables.offset_chain import OffsetChain


class IndexVotes:
    """What the offset index of a segment says about batches; read on first use."""

    def __init__(self, segment_slice: SegmentSlice) -> None:
        self._segment = segment_slice.segment
        self._context = segment_slice.directory.context
        self._entries: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    def of(self, chain: OffsetChain) -> int:
        """1 if an entry confirms the offsets, -1 if all entries contradict them, else 0."""
        positions, offsets = self._read()
        first, stop = np.searchsorted(positions, [chain.position, chain.end_position])
        if first == stop:
            return 0
        named = offsets[first:stop]
        inside = (named >= chain.base_offset) & (named <= chain.last_offset)
        return 1 if bool(inside.any()) else -1

    def _read(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if self._entries is None:
            parts: list[NDArray[Any]] = []
            if self._segment.offset_index_size:
                try:
                    path = self._segment.path("index")
                    entry = offset_index_entry(self._segment, context=self._context)
                    read = read_entries(path, entry, no_progress, self._context)
                    parts = [entries for _, entries in read]
                except UnreadableFileError:  # the other votes stay as they are
                    parts = []
            entries = np.concatenate(parts) if parts else np.empty(0, OFFSET_INDEX_ENTRY.dtype)
            positions = entries["position"].astype(np.int64)
            offsets = entries["relative_offset"].astype(np.int64) + self._segment.base_offset
            order = np.argsort(positions, kind="stable")
            self._entries = positions[order], offsets[order]
        return self._entries
