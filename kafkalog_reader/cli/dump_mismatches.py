"""Lists index entries that the log does not confirm, as ``kafka-dump-log`` 4.3 does at its end.

One pass over the log checks all entries; Kafka's tool reads from an index position for each.
Source: Kafka 4.3, tools.DumpLogSegments#dumpIndex, #dumpTimeIndex, TimeIndexDumpErrors.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.cli.options import read_context
from kafkalog_reader.io.names import shown
from kafkalog_reader.scan.scan import CHAIN_OF_HEADERS, Scan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.io.progress import Progress

NOT_FOUND = -1


class IndexMismatches:
    """Collects mismatches by file, in the words of Kafka's tool.

    That tool reports an offset index entry unless its offset is the last one of the batch that it
    points to, and a time index entry unless its offset is the last one of a batch. Brokers before
    3.9.1 and 3.8 write other entries that are also valid: docs/dump.md.
    """

    def __init__(self) -> None:
        self._offsets: dict[str, list[str]] = defaultdict(list)
        self._timestamps: dict[str, list[str]] = defaultdict(list)
        self._order: dict[str, list[str]] = defaultdict(list)
        self._not_found: dict[str, list[str]] = defaultdict(list)

    def check_offsets(self, path: str, entries: list[tuple[int, int]], progress: Progress) -> None:
        """Compare (offset, position) entries with the log beside the index, if there is one."""
        log = Path(path).with_suffix(".log")
        if not entries or not log.is_file():
            return
        offsets, positions = np.array(entries, np.int64).T
        found = _last_offsets_at(str(log), positions, progress)
        self._offsets[path] += [
            f"  Index offset: {offsets[row]}, log offset: {found[row]}"
            for row in np.flatnonzero(found != offsets).tolist()
        ]

    def check_times(self, path: str, entries: list[tuple[int, int]], progress: Progress) -> None:
        """Compare (timestamp, offset) entries with the log beside the index, if there is one."""
        log = Path(path).with_suffix(".log")
        if not entries or not log.is_file():
            return
        wanted = np.array([offset for _timestamp, offset in entries], np.int64)
        last_offsets, timestamps = _first_batches_up_to(str(log), wanted, progress)
        before = NOT_FOUND
        for (timestamp, offset), last_offset, newest in zip(
            entries, last_offsets.tolist(), timestamps.tolist(), strict=True
        ):
            if last_offset != offset:
                self._not_found[path].append(
                    f"Indexed offset: {offset}, found log offset: {last_offset}"
                )
            else:
                if newest != timestamp:
                    self._timestamps[path].append(
                        f"  Index timestamp: {timestamp}, log timestamp: {newest}"
                    )
                if before >= timestamp:
                    self._order[path].append(
                        f"  Index timestamp: {timestamp}, Previously indexed timestamp: {before}"
                    )
            before = timestamp

    def lines(self) -> Iterator[str]:
        """Everything that was found, in the order of Kafka's tool."""
        for heading, found in (
            ("Mismatches in :", self._offsets),
            ("Found timestamp mismatch in :", self._timestamps),
            ("Found out of order timestamp in :", self._order),
            ("The following indexed offsets are not found in :", self._not_found),
        ):
            for path, lines in found.items():
                if lines:
                    yield f"{heading}{shown(str(Path(path).absolute()))}"
                    yield from lines


def _last_offsets_at(
    log: str, positions: NDArray[np.int64], progress: Progress
) -> NDArray[np.int64]:
    """The last offset of the batch at each position; −1 if none starts there."""
    order = np.argsort(positions, kind="stable")
    rising = positions[order]
    found = np.full(len(positions), NOT_FOUND, np.int64)
    for run in Scan(
        log, CHAIN_OF_HEADERS, progress=progress, context=read_context(follow_links=True)
    ).runs():
        here = slice(*np.searchsorted(rising, (run.position[0], run.position[-1] + 1)))
        at = np.searchsorted(run.position, rising[here])
        matches = run.position[at] == rising[here]
        found[order[here][matches]] = run.last_offset[at[matches]]
    return found


def _first_batches_up_to(
    log: str, offsets: NDArray[np.int64], progress: Progress
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Last offset and newest timestamp of the first batch that ends at each offset or after it."""
    order = np.argsort(offsets, kind="stable")
    rising = offsets[order]
    last_offsets = np.full(len(offsets), NOT_FOUND, np.int64)
    timestamps = np.full(len(offsets), NOT_FOUND, np.int64)
    done = 0
    for run in Scan(
        log, CHAIN_OF_HEADERS, progress=progress, context=read_context(follow_links=True)
    ).runs():
        reached = np.maximum.accumulate(run.last_offset)  # offsets of damaged headers may fall
        stop = int(np.searchsorted(rising, reached[-1], side="right"))
        if stop > done:
            at = np.searchsorted(reached, rising[done:stop])
            rows = order[done:stop]
            last_offsets[rows] = run.last_offset[at]
            has_records = run.records_count[at] > 0
            timestamps[rows] = np.where(has_records, run.max_timestamp[at], NOT_FOUND)
            done = stop
    return last_offsets, timestamps
