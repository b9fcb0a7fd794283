"""Merges several copies of one partition into one log: each batch from a copy that confirms it.

A batch is taken where its CRC is right and its offsets are not in doubt. Copies that hold different
records, or whose leader epochs part, are never mixed: that is a fork, and a person has to choose.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.audits.partition.merge_outcome import MergeOutcome
from kafkalog_reader.errors import LocatedError, UsageError
from kafkalog_reader.io.checkpoints import read_leader_epochs
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.salvage.counts import Reason, first_offsets, record_counts
from kafkalog_reader.salvage.left_out import NotedDamage
from kafkalog_reader.salvage.lost_offsets import lost_offsets
from kafkalog_reader.salvage.manifest import RepairNote, SalvagedPartition
from kafkalog_reader.salvage.readable_batches import ReadableBatches, ReadableRun
from kafkalog_reader.salvage.segments import LogCopy, learn_lost_aborts
from kafkalog_reader.salvage.survey import Survey, survey
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.scan.expected_end import ExpectedEnds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.salvage.offset_coverage import LostOffsets
    from kafkalog_reader.salvage.parquet import DoubtfulPart
    from kafkalog_reader.salvage.receiver import Receiver
    from kafkalog_reader.scan.segment_slice import SegmentSlice
    from kafkalog_reader.tables.doubtful_batches import DoubtfulBatches
    from kafkalog_reader.tables.request import ReadRequest

Range = tuple[int, int]
"""Offsets [first, next)."""
_AS_FOUND, _REPAIRED, _TORN = 0, 1, 2
_BATCH: Final = np.dtype(
    [
        ("base", np.int64), ("last", np.int64), ("crc", np.int64), ("size", np.int64),
        ("epoch", np.int32), ("copy", np.int32), ("rank", np.int8),
    ]
)  # fmt: skip


@dataclass(slots=True)
class _Source:
    """One copy."""

    salvaged: SalvagedPartition
    batches: ReadableBatches
    found: Survey
    believed: NDArray[np.void] = field(default_factory=lambda: np.empty(0, _BATCH))
    taken: int = 0

    @property
    def name(self) -> str:
        return self.salvaged.directory.replica_name


def merge_partition(
    merged: SalvagedPartition,
    directories: Sequence[PartitionDirectory],
    request: ReadRequest,
    receiver: Receiver,
    folder: Path,
    doubtful: DoubtfulPart,
    progress: Progress,
) -> None:
    """Write one log into ``folder``; ``merged`` is filled in.

    Raises:
        UsageError: the copies hold different histories.
        UnreadableFileError: a directory cannot be listed.
    """
    sources, chosen, together = _read_all(merged.name, directories, request, progress)
    merged.log_start = min(source.batches.log_start for source in sources)
    for source in sources:
        silent = NotedDamage.silent()
        learn_lost_aborts(source.salvaged.directory, together, silent)
    merged.counts.found = together.found
    copy = LogCopy(merged, directories, receiver, together, folder)
    bases = max(sources, key=lambda source: len(source.believed)).batches.base_offsets
    known = set(zip(chosen["crc"].tolist(), chosen["size"].tolist(), strict=True))
    heads = [
        _wanted(source, n, chosen, known, merged, doubtful) for n, source in enumerate(sources)
    ]
    for number, readable, rows in _in_offset_order(heads):
        sources[number].taken += len(rows)
        if readable.repair is not None:
            merged.repairs.append(RepairNote.of(readable.segment_slice, readable.repair))
        for base, part in _by_segment(readable, rows, bases):
            copy.add(readable, part, base)
    copy.finish()
    _sum_up(merged, sources, together)


def try_merge(
    name: str, directories: Sequence[PartitionDirectory], request: ReadRequest
) -> MergeOutcome:
    """What merging copies would give; nothing is written.

    Raises:
        UsageError: the copies hold different histories.
        UnreadableFileError: a directory cannot be listed.
    """
    sources, chosen, together = _read_all(name, directories, request, no_progress)
    merged = int((chosen["last"] - chosen["base"] + 1).sum())
    alone = [
        int((own["last"] - own["base"] + 1)[own["rank"] == _AS_FOUND].sum())
        for own in (source.believed for source in sources)
    ]
    return MergeOutcome(
        readable_offsets=merged,
        gained_offsets=merged - max(alone),
        corrected_batches=int((chosen["rank"] != _AS_FOUND).sum()),
        lost=tuple((each.first_offset, each.next_offset) for each in _lost(sources, together)),
    )


def _read_all(
    name: str,
    directories: Sequence[PartitionDirectory],
    request: ReadRequest,
    progress: Progress,
) -> tuple[list[_Source], NDArray[np.void], Survey]:
    """Read the copies; return them, the batches that make one log, and what is in that log."""
    sources = [_read(directory, request, progress) for directory in directories]
    start = min(source.batches.from_offset for source in sources)
    for number, source in enumerate(sources):
        source.batches.from_offset = start  # what one copy still has was not deleted everywhere
        source.believed = _believed(source, number)
    everything = np.concatenate([source.believed for source in sources])
    _refuse_other_epochs(name, everything, sources)
    chosen = _chosen(name, everything, sources)
    together = Survey(may_be_cleaned=any(source.found.may_be_cleaned for source in sources))
    together.read.add(chosen["base"], chosen["last"])
    for source in sources:
        together.outcomes.join(source.found.outcomes)
        together.found.add(source.found.found.batches, source.found.found.records)
    return sources, chosen, together


def _lost(sources: Sequence[_Source], together: Survey) -> list[LostOffsets]:
    """Offsets that the merged log lacks although a copy should hold them."""
    expected = ExpectedEnds()
    for source in sources:
        expected.prepare(source.salvaged.directory.log_directory)
    damaged = {
        place.offset
        for source in sources
        for place in source.salvaged.left_out.first
        if place.offset is not None
    }
    found = [
        lost
        for source in sources
        for lost in lost_offsets(
            source.salvaged.directory, source.batches, together, expected, damaged
        )
    ]
    widest: list[LostOffsets] = []
    for lost in sorted(found, key=lambda each: (each.first_offset, -each.next_offset)):
        if not widest or lost.next_offset > widest[-1].next_offset:
            widest.append(lost)
    return widest


def _read(directory: PartitionDirectory, request: ReadRequest, progress: Progress) -> _Source:
    salvaged = SalvagedPartition(directory=directory)
    damage = NotedDamage(salvaged.left_out, Mode.DROPMALFORMED)  # another copy may be sound there
    batches = ReadableBatches(directory, request, damage, whole_log=True)
    found = survey(batches, salvaged, damage, progress)
    return _Source(salvaged=salvaged, batches=batches, found=found)


def _rank(readable: ReadableRun) -> int:
    if readable.repair is None:
        return _AS_FOUND
    return _TORN if readable.repair.kind == "tornBatch" else _REPAIRED


def _believed(source: _Source, number: int) -> NDArray[np.void]:
    """The batches that a copy confirms, 41 bytes each."""
    parts = []
    for readable in source.batches.read(no_progress, NotedDamage.silent()):
        run, segment_slice = readable.run, readable.segment_slice
        is_left_out = source.found.is_doubtful(segment_slice, run) | source.found.is_unreadable(
            segment_slice, run
        )
        rows = np.flatnonzero(~is_left_out)
        part = np.empty(len(rows), _BATCH)
        part["base"], part["last"] = first_offsets(readable)[rows], run.last_offset[rows]
        part["crc"], part["size"] = run.crc[rows], run.size_in_bytes[rows]
        part["epoch"] = np.where(run.magic[rows] == 2, run.leader_epoch[rows], -1)
        part["copy"], part["rank"] = number, _rank(readable)
        parts.append(part)
    return np.concatenate(parts) if parts else np.empty(0, _BATCH)


def _chosen(
    name: str, everything: NDArray[np.void], sources: Sequence[_Source]
) -> NDArray[np.void]:
    """One batch for each last offset, rising; of compressed messages only that offset is known.

    Raises:
        UsageError: copies hold different batches at an offset.
    """
    sizes = np.array([len(source.believed) for source in sources])
    order = np.lexsort((-sizes[everything["copy"]], everything["rank"], everything["last"]))
    batches = everything[order]
    is_first = np.ones(len(batches), np.bool_)
    is_first[1:] = batches["last"][1:] != batches["last"][:-1]
    firsts = batches[is_first][np.cumsum(is_first) - 1] if len(batches) else batches
    differs = (batches["crc"] != firsts["crc"]) | (batches["size"] != firsts["size"])
    conflicts = [
        (int(batches["base"][row]), int(firsts["copy"][row]), int(batches["copy"][row]))
        for row in np.flatnonzero(differs & (batches["rank"] != _TORN))[:1].tolist()
    ]
    chosen = batches[is_first]
    is_whole = chosen["rank"] != _TORN
    overlaps = (chosen["base"][1:] <= chosen["last"][:-1]) & is_whole[1:] & is_whole[:-1]
    conflicts += [
        (int(chosen["base"][row + 1]), int(chosen["copy"][row]), int(chosen["copy"][row + 1]))
        for row in np.flatnonzero(overlaps)[:1].tolist()
    ]
    if conflicts:
        _refuse(name, *min(conflicts), sources)
    for _ in range(len(sources)):  # of each copy one batch may be torn
        overlaps = chosen["base"][1:] <= chosen["last"][:-1]
        rows = np.flatnonzero(overlaps)
        if not len(rows):
            break
        torn = np.concatenate([rows, rows + 1])
        torn = torn[chosen["rank"][torn] == _TORN]
        if not len(torn):
            row = int(rows[0])
            at = int(chosen["base"][row + 1])
            _refuse(name, at, chosen["copy"][row], chosen["copy"][row + 1], sources)
        chosen = np.delete(chosen, torn)
    return chosen


def _refuse(name: str, offset: int, one: int, other: int, sources: Sequence[_Source]) -> None:
    cleaned = any(source.found.may_be_cleaned for source in sources)
    raise UsageError(
        f"{name}: {sources[one].name} and {sources[other].name} hold different records from offset "
        f"{offset} on{' (compaction may explain it)' if cleaned else ''}: a merged log would mix "
        "two histories. Choose one copy: leave --merge out and give --replica broker:N"
    )


def _refuse_other_epochs(
    name: str, everything: NDArray[np.void], sources: Sequence[_Source]
) -> None:
    """Refuse batches of a leader epoch that another copy says had ended before their offset.

    Raises:
        UsageError: there is such a batch: the copies have different histories.
    """
    starts: list[tuple[int, int, int]] = []
    for number, source in enumerate(sources):
        directory = source.salvaged.directory
        try:
            entries = read_leader_epochs(directory.path, context=directory.context)
        except LocatedError:  # a finding of verify; the batches still speak for themselves
            entries = None
        starts += [(each.start_offset, each.leader_epoch, number) for each in entries or ()]
    for start, epoch, number in sorted(starts):
        older = (everything["base"] >= start) & (everything["epoch"] < epoch)
        older &= (everything["epoch"] >= 0) & (everything["copy"] != number)
        if older.any():
            row = int(np.flatnonzero(older)[0])
            _refuse(name, start, number, int(everything["copy"][row]), sources)


def _wanted(
    source: _Source,
    number: int,
    chosen: NDArray[np.void],
    known: set[tuple[int, int]],
    merged: SalvagedPartition,
    doubtful: DoubtfulPart,
) -> Iterator[tuple[ReadableRun, NDArray[np.intp]]]:
    """The batches taken from one copy, run by run; all others are counted by reason."""
    own = chosen["last"][chosen["copy"] == number]
    left_out = merged.counts.left_out
    for readable in source.batches.read(no_progress, NotedDamage.silent()):
        run, segment_slice = readable.run, readable.segment_slice
        is_readable = ~source.found.is_unreadable(segment_slice, run)
        is_doubtful = source.found.is_doubtful(segment_slice, run) & is_readable
        for row in np.flatnonzero(is_doubtful).tolist():
            if (int(run.crc[row]), int(run.size_in_bytes[row])) in known:
                continue  # another copy says where it belongs
            merged.counts.doubtful.batches += 1
            merged.doubtful += _doubts_at(source, readable, row, merged)
            doubtful.add(readable, np.array([row], np.intp))
            is_readable[row] = False
        is_sound = is_readable & ~is_doubtful
        is_asked = source.batches.is_asked(run)
        is_own = is_sound & is_asked & np.isin(run.last_offset, own)
        is_outside = is_sound & ~is_asked
        is_elsewhere = is_readable & ~is_own & ~is_outside
        if is_outside.any() or is_elsewhere.any():
            counts = record_counts(readable)
            for reason, which in (
                (Reason.OUTSIDE_RANGE, is_outside), (Reason.OTHER_COPY, is_elsewhere)
            ):  # fmt: skip
                left_out[reason].add(int(which.sum()), int(counts[which].sum()))
        if is_own.any():
            yield readable, np.flatnonzero(is_own)


def _doubts_at(
    source: _Source, readable: ReadableRun, row: int, merged: SalvagedPartition
) -> list[tuple[SegmentSlice, DoubtfulBatches]]:
    """The doubt about a batch, unless it is listed."""
    position = int(readable.run.position[row])
    return [
        (segment_slice, doubt)
        for segment_slice, doubt in source.salvaged.doubtful
        if segment_slice is readable.segment_slice
        and doubt.position <= position < doubt.end_position
        and (segment_slice, doubt) not in merged.doubtful
    ]


def _in_offset_order(
    heads: Sequence[Iterator[tuple[ReadableRun, NDArray[np.intp]]]],
) -> Iterator[tuple[int, ReadableRun, NDArray[np.intp]]]:
    """Runs of all copies by offset; the caller uses each run before it asks for the next."""
    waiting = {number: found for number, head in enumerate(heads) if (found := next(head, None))}
    while waiting:
        firsts = {
            n: int(readable.run.last_offset[rows[0]]) for n, (readable, rows) in waiting.items()
        }
        number = min(firsts, key=firsts.__getitem__)
        limit = min((first for n, first in firsts.items() if n != number), default=None)
        readable, rows = waiting[number]
        count = len(rows)
        if limit is not None:
            count = int(np.searchsorted(readable.run.last_offset[rows], limit))
        yield number, readable, rows[:count]
        if count < len(rows):
            waiting[number] = readable, rows[count:]
            continue
        following = next(heads[number], None)
        if following is None:
            del waiting[number]
        else:
            waiting[number] = following


def _by_segment(
    readable: ReadableRun, rows: NDArray[np.intp], bases: Sequence[int]
) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Rows by the segment of the fullest copy in which their offsets lie, with its base offset."""
    numbers = np.searchsorted(bases, readable.run.base_offset[rows], side="right")
    cuts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(rows)]
    for first, stop in pairwise(cuts):
        number = int(numbers[first])
        base = bases[number - 1] if number else readable.segment_slice.segment.base_offset
        yield base, rows[first:stop]


def _sum_up(merged: SalvagedPartition, sources: Sequence[_Source], together: Survey) -> None:
    counts = merged.counts
    for source in sources:
        own = source.salvaged
        counts.left_out[Reason.DAMAGED].batches += own.left_out.batches
        counts.left_out[Reason.OUTSIDE_RANGE].batches += source.batches.outside
        for place in own.left_out.first:
            if place.offset is not None and together.read.lacks(place.offset):
                merged.left_out.count += 1
                merged.left_out.first.append(place)
    merged.lost = _lost(sources, together)
    merged.notes["mergedFrom"] = [
        {
            "replica": source.name,
            "directory": shown(source.salvaged.directory.path),
            "batchesTaken": source.taken,
            **{
                name: source.salvaged.as_json()[name]
                for name in ("leftOut", "repaired", "doubtfulOffsets")
            },
        }
        for source in sources
    ]
