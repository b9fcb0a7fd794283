"""Looks for copies of a partition that hold different records under one leader epoch (KL-505).

Planning a read must not read the logs, so this is a look at a few places of each copy: at the
beginning of some segments, and near the common end. ``replica-diff`` compares everything.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from kafkalog_reader.errors import KafkaLogError, UnreadableFileError
from kafkalog_reader.format.batch_fields import MAGIC
from kafkalog_reader.io.checkpoints import checkpointed_offsets
from kafkalog_reader.io.names import LOG_START_CHECKPOINT
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.small_file import SMALL_LOG, small_log
from kafkalog_reader.io.window import Windows
from kafkalog_reader.scan.scan import Scan, ScanPolicy
from kafkalog_reader.scan.segment_slice import SegmentSlice
from kafkalog_reader.scan.sparse_index import SparseIndex
from kafkalog_reader.tables.foreign_index import has_foreign_index

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.segment_files import SegmentFiles
    from kafkalog_reader.scan.batch_run import BatchRun
    from kafkalog_reader.tables.hashed_records import HashedRecords

_LOOK: Final = SMALL_LOG
"""Bytes compared at each place, unless one batch is larger."""
_POLICY: Final = ScanPolicy(tolerant=False, window_size=_LOOK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """An offset and leader epoch under which copies hold different records.

    Attributes:
        sides: the copies, grouped by equal records; those that do not have the offset are in none.
    """

    first_offset: int
    sides: tuple[tuple[PartitionDirectory, ...], ...]

    def outvoted(self, members: Collection[PartitionDirectory] = ()) -> list[PartitionDirectory]:
        """The copies that others outvote, as ``Comparison.outvoted`` counts.

        Args:
            members: the copies that are in the ISR; none if that is unknown.
        """
        if any(has_foreign_index(each, self.first_offset) for side in self.sides for each in side):
            return []
        votes = [(len(side), sum(each in members for each in side)) for side in self.sides]
        return [
            each
            for side, vote in zip(self.sides, votes, strict=True)
            if any(
                copies >= vote[0] and in_sync >= vote[1]
                for copies, in_sync in votes
                if (copies, in_sync) != vote
            )
            for each in side
        ]

    def against(self, chosen: PartitionDirectory) -> list[PartitionDirectory]:
        """The copies whose records are not those of the chosen one.

        If the chosen one does not have the offset, no side counts.
        """
        if not any(chosen in side for side in self.sides):
            return []
        return [each for side in self.sides if chosen not in side for each in side]


class _Place(NamedTuple):
    """Where a copy has a batch border at or shortly before an offset."""

    segment: SegmentFiles
    position: int


def contradictions(
    copies: Sequence[PartitionDirectory], end_offset: int
) -> tuple[Contradiction, ...]:
    """Compare the copies of a partition at a few places; none if they agree there.

    Copies that were compacted at different times agree where they hold equal records. What cannot
    be read or decoded is not compared.

    Args:
        copies: all copies of the partition that can be read.
        end_offset: the end of the log that is second in length: beyond it nothing is compared.
    """
    if len(copies) < 2:
        return ()
    logs = [_local_log(each) for each in copies]
    found: dict[int, Contradiction] = {}
    for offset in _offsets(logs, end_offset):
        places = [
            (copy, at)
            for copy, log in zip(copies, logs, strict=True)
            if log and (at := _place(copy, log, offset)) is not None
        ]
        if not _have_equal_bytes(places):
            for each in _compared(dict(places)):
                found.setdefault(each.first_offset, each)
    return tuple(found[offset] for offset in sorted(found))


def _local_log(copy: PartitionDirectory) -> Sequence[SegmentFiles]:
    """The segments on the broker's disk; the remote part is shared by all copies."""
    try:
        local = replace(copy, remote=()) if copy.remote else copy
        return [each for each in segments(local) if each.log_size]
    except UnreadableFileError:
        return ()


def _offsets(logs: Sequence[Sequence[SegmentFiles]], end_offset: int) -> Iterator[int]:
    """The offsets that are looked at: where three segments begin, and the common end."""
    log = [each for each in max(logs, key=len) if each.base_offset < end_offset]
    bases = [each.base_offset for each in log]
    if not bases:
        return
    last = len(bases) - 1
    yield from (bases[number] for number in sorted({0, last // 2, last}))
    have_last = all(any(each.base_offset == bases[-1] for each in one) for one in logs)
    if (log[-1].log_size or 0) > _LOOK or not have_last:
        yield end_offset - 1


def _place(copy: PartitionDirectory, log: Sequence[SegmentFiles], offset: int) -> _Place | None:
    number = bisect_right(log, offset, key=lambda each: each.base_offset) - 1
    if number < 0:
        return _Place(log[0], 0)  # it may begin a little later
    segment = log[number]
    if segment.base_offset == offset or not segment.offset_index_size:
        return _Place(segment, 0)
    try:
        with SparseIndex(segment, context=copy.context) as index:
            entry = index.last_below_offset(offset + 1)
            return _Place(segment, index[entry][1] if entry >= 0 else 0)
    except UnreadableFileError:
        return None


def _compared(places: Mapping[PartitionDirectory, _Place]) -> Iterator[Contradiction]:
    """The first contradiction at these places, if there is one."""
    runs = {copy: run for copy, at in places.items() if (run := _run(copy, at)) is not None}
    if _have_equal_headers(list(runs.values())):
        return
    from kafkalog_reader.tables.hashed_records import hashed_records  # slow to import

    found: dict[PartitionDirectory, HashedRecords] = {}
    for copy, run in runs.items():
        start = _log_start(copy)
        reaching = run.taken(np.flatnonzero(run.last_offset >= start))
        records = hashed_records(reaching, SegmentSlice.whole(copy, places[copy].segment))
        if records is not None:
            found[copy] = records.since(start)
    yield from _first_contradiction(found)


def _have_equal_bytes(places: Sequence[tuple[PartitionDirectory, _Place]]) -> bool:
    """Whether all copies have the same bytes there: in sound copies of a log they have."""
    if len({(at.segment.base_offset, at.position) for _, at in places}) > 1:
        return False
    first: bytes | None = None
    for copy, at in places:
        try:
            content = _bytes_at(copy, at)
        except KafkaLogError:
            return False
        if first is None:
            first = content
        if not (first.startswith(content) or content.startswith(first)):
            return False
    return True


def _bytes_at(copy: PartitionDirectory, at: _Place) -> bytes:
    if at.position == 0:
        content = small_log(at.segment, context=copy.context)  # its end was found in these bytes
        if content is not None:
            return content
    with Windows(
        at.segment.path("log"), at.position, at.position + _LOOK, size=_LOOK, context=copy.context
    ) as windows:
        return bytes(windows.read(at.position))


def _run(copy: PartitionDirectory, at: _Place) -> BatchRun | None:
    """The sound batches there of the current format; None if their offsets are doubtful."""
    try:
        run = next(Scan(at.segment, _POLICY, at.position, context=copy.context).runs(), None)
    except KafkaLogError:
        return None
    if run is None or not run.count or not run.summary.offsets_rise:
        return None
    is_known = (run.magic == MAGIC) & run.has_known_codec
    counted = run.crc_valid & is_known & (run.base_offset >= at.segment.base_offset)
    before = np.append(at.segment.base_offset, run.last_offset[:-1] + 1)
    counted[-1] &= bool(run.base_offset[-1] == before[-1]) or at.position > 0
    return run.taken(np.flatnonzero(counted)) if counted.any() else None


def _have_equal_headers(runs: Sequence[BatchRun]) -> bool:
    """Whether the batches of each leader epoch that share offsets are the same, by checksum."""
    known: dict[tuple[int, int], tuple[int, int]] = {}
    for run in runs:
        columns = (run.leader_epoch, run.base_offset, run.last_offset, run.crc)
        for epoch, base, last, crc in zip(*(each.tolist() for each in columns), strict=True):
            if known.setdefault((epoch, base), (last, crc)) != (last, crc):
                return False
    bounds = sorted((epoch, base, last) for (epoch, base), (last, _) in known.items())
    return all(one[0] != other[0] or one[2] < other[1] for one, other in pairwise(bounds))


def _first_contradiction(
    found: Mapping[PartitionDirectory, HashedRecords],
) -> Iterator[Contradiction]:
    copies = list(found)
    if len(copies) < 2:
        return
    offset, epoch, content = (np.concatenate(each) for each in zip(*found.values(), strict=True))
    owner = np.repeat(np.arange(len(copies)), [len(each.offset) for each in found.values()])
    order = np.lexsort((content, epoch, offset))
    offset, epoch, content, owner = (each[order] for each in (offset, epoch, content, owner))
    differs = (
        (offset[1:] == offset[:-1]) & (epoch[1:] == epoch[:-1]) & (content[1:] != content[:-1])
    )
    if not differs.any():
        return
    at = int(np.argmax(differs))
    here = (offset == offset[at]) & (epoch == epoch[at])
    yield Contradiction(
        first_offset=int(offset[at]), sides=_sides(copies, content[here], owner[here])
    )


def _sides(
    copies: Sequence[PartitionDirectory], content: NDArray[np.int64], owner: NDArray[np.intp]
) -> tuple[tuple[PartitionDirectory, ...], ...]:
    sides: dict[int, list[PartitionDirectory]] = {}
    for number in np.argsort(owner).tolist():
        sides.setdefault(int(content[number]), []).append(copies[int(owner[number])])
    return tuple(map(tuple, sides.values()))


def _log_start(copy: PartitionDirectory) -> int:
    try:
        starts = checkpointed_offsets(copy.log_directory, LOG_START_CHECKPOINT)
    except KafkaLogError:
        return 0
    return starts.get((copy.topic or "", copy.partition or 0), 0)
