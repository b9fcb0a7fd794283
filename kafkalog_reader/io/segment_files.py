"""The files of one segment, as a small value that can be pickled."""

from __future__ import annotations

import os
from dataclasses import dataclass

from kafkalog_reader.io.names import segment_file_name


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentFiles:
    """One segment of one partition directory; a size is None if there is no such file.

    Attributes:
        suffix: None if live; otherwise ``deleted``, ``cleaned`` or ``swap``.
        directory: path of the partition directory.
        log_size: None for indexes without a log, which a broker deletes at its start.
        modified_at: newest modification of its files, in seconds since 1970.
        targets: (kind, path) of files that are symbolic links and may be followed, or that have
            other names, as those of remote segments.
        from_offset, to_offset: what of it belongs to the log; remote segments may overlap.
    """

    base_offset: int
    suffix: str | None
    directory: str
    log_size: int | None
    offset_index_size: int | None
    time_index_size: int | None
    transaction_index_size: int | None
    modified_at: float
    targets: tuple[tuple[str, str], ...] = ()
    from_offset: int = 0
    to_offset: int | None = None

    @property
    def first_offset(self) -> int:
        """The lowest offset that it may hold of the log."""
        return max(self.base_offset, self.from_offset)

    def path(self, kind: str) -> str:
        """The path of its ``log``, ``index``, ``timeindex`` or ``txnindex``; it may not exist."""
        for linked, target in self.targets:
            if linked == kind:
                return target
        return os.path.join(self.directory, segment_file_name(self.base_offset, kind, self.suffix))
