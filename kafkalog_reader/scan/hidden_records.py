"""Which offsets of a log an answer lacks, because they cannot be read or are not there."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.io.names import parse_directory_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.errors import LocatedError

MAX_RANGES: Final = 10_000
"""Ranges that are remembered; more are counted."""
_CHECKPOINT: Final = "-checkpoint"


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenRange:
    """Offsets whose records are in no row.

    Attributes:
        file: the segment, as shown to people; the directory if a log has no segment.
        position: where in the file; None: at its end, or nowhere in it.
        first_offset: None if unknown.
        next_offset: one past the last one; None if unknown.
        is_missing: whether the records are not there, rather than unreadable.
        in_sync: node ids of the in-sync replicas, if none of them was supplied: they may hold more.
        is_absent: whether no copy of the partition was supplied; ``file`` is its name then.
    """

    file: str
    position: int | None
    first_offset: int | None
    next_offset: int | None
    is_missing: bool = False
    in_sync: tuple[int, ...] = ()
    is_absent: bool = False

    @property
    def topic_partition(self) -> tuple[str, int] | None:
        """By the name of the folder; None if that is not the name of a partition."""
        for path in (self.file, posixpath.dirname(self.file)):
            name = parse_directory_name(posixpath.basename(path))
            if name is not None:
                return name.topic, name.partition
        return None


class HiddenRecords:
    """Collects the ranges that one answer lacks; a range that is met again counts once.

    Readers add damage when they meet it. Sound logs leave it empty, and it reads nothing itself.

    Attributes:
        left_out: how many ranges there are beyond ``MAX_RANGES``.
    """

    def __init__(self) -> None:
        self.left_out = 0
        self._found: dict[tuple[str, int | None, int | None], HiddenRange] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(
        self, error: LocatedError, next_offset: int | None = None, *, is_missing: bool = False
    ) -> None:
        """Take what ``error`` describes, up to ``next_offset``; a checkpoint holds no records."""
        where = error.where
        if where.file.endswith(_CHECKPOINT):
            return
        key = (where.file, where.position, where.offset)
        known = self._found.get(key)
        if known is None and len(self._found) >= MAX_RANGES:
            self.left_out += 1
        elif known is None or (known.next_offset or 0) < (next_offset or 0):
            self._found[key] = HiddenRange(
                file=where.file,
                position=where.position,
                first_offset=where.offset,
                next_offset=next_offset,
                is_missing=is_missing,
            )

    def add_not_in_sync(self, folder: str, in_sync: tuple[int, ...]) -> None:
        """Note a copy whose in-sync replicas were not supplied; ``folder`` as shown to people."""
        found = HiddenRange(
            file=folder, position=None, first_offset=None, next_offset=None, in_sync=in_sync
        )
        self._found.setdefault((folder, None, None), found)

    def add_absent(self, name: str) -> None:
        """Note a partition of which no copy was supplied, as ``topic-N``."""
        found = HiddenRange(
            file=name, position=None, first_offset=None, next_offset=None, is_absent=True
        )
        self._found.setdefault((name, None, None), found)

    def update(self, other: HiddenRecords) -> None:
        """Take what another one has."""
        for key, each in other._found.items():
            self._found.setdefault(key, each)

    def ranges(self) -> Sequence[HiddenRange]:
        """The ranges by file and offset; of several that begin at one offset, the longest."""
        longest: dict[tuple[tuple[str, int] | str, int | None], HiddenRange] = {}
        for each in self._found.values():
            key = each.topic_partition or each.file, each.first_offset
            known = longest.get(key)
            if known is None or (known.next_offset or 0) < (each.next_offset or 0):
                longest[key] = each
        return sorted(longest.values(), key=lambda each: (each.file, each.first_offset or 0))
