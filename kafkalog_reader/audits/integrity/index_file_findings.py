"""One index file of a segment, and findings about its entries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kafkalog_reader.audits.catalogue.actions import REBUILD_INDEX, REBUILT_AT_START
from kafkalog_reader.audits.catalogue.index_rules import (
    INDEX_NOT_ON_A_BATCH,
    INDEX_NOT_RISING,
    INDEX_POINTS_PAST_LOG,
    INDEX_SIZE_ODD,
    INDEX_SKIPS_RECORDS,
    INDEX_ZERO_TAIL,
    TIME_INDEX_LAST_ENTRY_HIGH,
    TIME_INDEX_LAST_ENTRY_LOW,
    TIME_INDEX_NOT_RISING,
    TIME_INDEX_OFFSET_UNKNOWN,
    TIME_INDEX_SKIPS_RECORDS,
    TRANSACTION_INDEX_MALFORMED,
)
from kafkalog_reader.audits.integrity.file_repair import index_moves
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.io.names import segment_file_name
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.tables.index_file import read_entries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.format.index_entries import FixedEntry
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.segment_files import SegmentFiles

_INTERVAL: Final = 4096
"""Bytes of log between two entries, by the default of ``index.interval.bytes``."""
_MIN_OVERWRITTEN: Final = 4
"""Entries that a log should have before none of its own in an active index is a finding."""
Bools = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(slots=True)
class IndexFile:
    """One index file of a segment: its entries and their problems.

    ``is_hot``: the active segment of a broker that was not shut down cleanly. Its index is larger
    than its content, and after a truncation keeps the truncated entries beyond its end
    (AbstractIndex#truncateToEntries moves only its end).
    """

    replica: Replica
    segment: SegmentFiles
    kind: str
    entries: NDArray[Any]
    size_in_bytes: int
    is_hot: bool

    @property
    def file(self) -> str:
        name = segment_file_name(self.segment.base_offset, self.kind, self.segment.suffix)
        return self.replica.file(name)

    @property
    def zero_tail(self) -> int:
        """Size of the zero entries at the end, in bytes."""
        used = len(self.entries) * self.entries.itemsize
        return self.size_in_bytes - self.size_in_bytes % self.entries.itemsize - used

    def unless_stale(self, bad: dict[str, Bools]) -> dict[str, Bools]:
        """Leave out entries that a truncation left beyond the end of a hot index."""
        if not self.is_hot or not len(self.entries):
            return bad
        any_bad = np.logical_or.reduce(list(bad.values()))
        if not any_bad[-1]:
            return bad
        stale = int(np.argmax(any_bad))
        return {code: np.where(np.arange(len(found)) < stale, found, False)
                for code, found in bad.items()}  # fmt: skip

    def _is_foreign(self, bad: dict[str, Bools]) -> bool:
        """Whether every entry is bad: what follows a truncation overwrites the first ones."""
        return bool(len(self.entries)) and bool(np.logical_or.reduce(list(bad.values())).all())

    def sizes(self) -> Iterator[Finding]:
        """Yield findings about the size of the file and zeros at its end."""
        odd = self.size_in_bytes % self.entries.itemsize
        if odd:
            yield self.found(
                INDEX_SIZE_ODD,
                f"{self.size_in_bytes:,} bytes are not a whole number of entries of "
                f"{self.entries.itemsize}",
                position=self.size_in_bytes - odd,
                evidence={"sizeInBytes": self.size_in_bytes},
            )
        if self.zero_tail and not self.is_hot:
            yield self.found(
                INDEX_ZERO_TAIL,
                f"{self.zero_tail:,} zero bytes after the last entry",
                position=self.size_in_bytes - odd - self.zero_tail,
                evidence={"zeroBytes": self.zero_tail},
            )

    def entries_of(self, bad: dict[str, Bools], expected: int = 0) -> Iterator[Finding]:
        """Yield one finding for each kind of bad entry.

        Args:
            bad: by code, which entries are.
            expected: how many entries the log should have, by the default interval.
        """
        if self.is_hot and expected >= _MIN_OVERWRITTEN and self._is_foreign(bad):
            code = max(bad, key=lambda each: int(np.count_nonzero(bad[each])))
            yield self.found(
                code,
                f"none of its {len(self.entries):,} entries is one of this log: it is the index of "
                "another one, and the start after this unclean stop rebuilds it",
                position=0,
                evidence={"entries": len(self.entries), "expected": expected},
                severity="L",
                actions=(REBUILT_AT_START,),
            )
            return
        for code, found in self.unless_stale(bad).items():
            count = int(np.count_nonzero(found))
            if count:
                first = int(np.argmax(found))
                entry = self.entries[first]
                facts = {name: int(entry[name]) for name in self.entries.dtype.names or ()}
                many = f"; {count:,} such entries" if count > 1 else ""
                yield self.found(
                    code,
                    f"entry {first:,} {_PROBLEMS[code]}{many}",
                    position=first * self.entries.itemsize,
                    size_in_bytes=self.entries.itemsize,
                    evidence={"entry": first, **facts, "entries": count},
                )

    def found(
        self,
        code: str,
        problem: str,
        *,
        position: int | None = None,
        size_in_bytes: int | None = None,
        evidence: dict[str, object] | None = None,
        severity: str | None = None,
        actions: tuple[str, ...] | None = None,
    ) -> Finding:
        return finding(
            code,
            f"{self.file}: {problem}",
            confidence="possible" if self.is_hot else "proven",
            directory=self.replica.directory,
            file=self.file,
            position=position,
            size_in_bytes=size_in_bytes,
            evidence=evidence,
            severity=severity,
            actions=actions,
        )


def with_rebuild(each: Finding, directory: PartitionDirectory, segment: SegmentFiles) -> Finding:
    """A finding about an index with the commands that let the next start rebuild it."""
    if each.actions[:1] != (REBUILD_INDEX,) or each.repairs:
        return each
    sizes = {
        "index": segment.offset_index_size,
        "timeindex": segment.time_index_size,
        "txnindex": segment.transaction_index_size,
    }
    names = (
        segment_file_name(segment.base_offset, kind, segment.suffix)
        for kind, size in sizes.items()
        if size is not None
    )
    return replace(each, repairs=index_moves(directory, names))


def expected_entries(log_size: int, damaged: list[tuple[int, int]], batches: int) -> int:
    """How many entries an index should have, by the default interval."""
    size = log_size - sum(stop - start for start, stop in damaged)
    return size // max(_INTERVAL, size // max(batches, 1))


def opened_index(
    replica: Replica, segment: SegmentFiles, kind: str, entry: FixedEntry, *, is_hot: bool
) -> IndexFile:
    sizes = {
        "index": segment.offset_index_size,
        "timeindex": segment.time_index_size,
        "txnindex": segment.transaction_index_size,
    }
    size = sizes[kind] or 0
    context = replica.directory.context
    parts = (
        [part for _, part in read_entries(segment.path(kind), entry, no_progress, context)]
        if size
        else []
    )
    entries = np.concatenate(parts) if parts else np.empty(0, entry.dtype)
    return IndexFile(replica, segment, kind, entries, size, is_hot)


_PROBLEMS: Final = {
    INDEX_NOT_RISING: "does not rise above the one before it",
    INDEX_POINTS_PAST_LOG: "points beyond the end of the log",
    INDEX_NOT_ON_A_BATCH: "does not point to the start of a batch",
    INDEX_SKIPS_RECORDS: "skips records: a batch before its position reaches its offset",
    TIME_INDEX_NOT_RISING: "does not rise above the one before it",
    TIME_INDEX_SKIPS_RECORDS: "skips records: a batch up to its offset is newer",
    TIME_INDEX_OFFSET_UNKNOWN: "has an offset that is in no batch",
    TRANSACTION_INDEX_MALFORMED: "is not one that a broker writes",
    TIME_INDEX_LAST_ENTRY_LOW: "is the last one, but the segment holds newer records",
    TIME_INDEX_LAST_ENTRY_HIGH: "is the last one, but newer than every record of the segment",
}
