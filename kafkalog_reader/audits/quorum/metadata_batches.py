"""The sound batches of one copy of the metadata log, and where two copies part.

Followers append the batches of the leader as they are, so equal records are equal batches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.audits.integrity.file_repair import FlipBit, offset_repairs
from kafkalog_reader.audits.log.flipped_bit import flipped_bit
from kafkalog_reader.audits.log.unfinished_end import is_unfinished
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.scan.batch_run import BatchRun
from kafkalog_reader.scan.scan import TOLERANT, Scan, ScanPolicy
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.scan.segment_slice import SegmentSlice
from kafkalog_reader.scan.unreadable_region import UnreadableRegion
from kafkalog_reader.tables.restored_offsets import restored_offsets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.segment_files import SegmentFiles

_SOUND: Final = ScanPolicy(tolerant=False)
_COLUMNS: Final = ("base_offset", "last_offset", "leader_epoch", "crc")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MetadataBatches:
    """What a start of the controller keeps of the log: the batches before the first bad one.

    Attributes:
        start: base offset of the first segment; None without a log.
        base_offset, last_offset, leader_epoch, crc: one entry per batch.
        slices: the bytes of these batches.
        damage: where and why the log is cut; empty if every byte is sound, or only the last batch
            is unfinished, which nobody counts as committed.
        flipped: the single bit that explains the damage; None if none does.
        misplaced: where a base offset is wrong, which no checksum covers; empty if none is. The
            columns have the right ones, which the batches before and after it prove.
        offset_repairs: the bytes that write the right base offsets.
        readable_end: one past the last sound batch after the damage, which a start cuts off; the
            log end if there is none.
    """

    start: int | None
    base_offset: NDArray[np.int64]
    last_offset: NDArray[np.int64]
    leader_epoch: NDArray[np.int64]
    crc: NDArray[np.int64]
    slices: tuple[SegmentSlice, ...]
    damage: str = ""
    flipped: FlipBit | None = None
    misplaced: str = ""
    offset_repairs: tuple[FlipBit, ...] = ()
    readable_end: int = 0

    @property
    def next_offset(self) -> int:
        """The log end offset of these batches; the log start without one."""
        return int(self.last_offset[-1]) + 1 if len(self.last_offset) else self.start or 0

    @property
    def last_leader_epoch(self) -> int | None:
        """Of the last batch."""
        return int(self.leader_epoch[-1]) if len(self.leader_epoch) else None

    def leader_epoch_at(self, offset: int) -> int | None:
        """Of the batch that holds an offset."""
        at = int(np.searchsorted(self.last_offset, offset))
        return int(self.leader_epoch[at]) if at < len(self.leader_epoch) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parting:
    """Up to where two copies are the same.

    Attributes:
        offset: the first one that only one of them has, or where their batches differ.
        is_fork: both go on there, with different batches.
        is_conflict: both of these batches have the same leader epoch, which Raft rules out.
        is_compared: false if no offset is in both logs, because a snapshot replaced it in one.
    """

    offset: int
    is_fork: bool = False
    is_conflict: bool = False
    is_compared: bool = True


def no_batches() -> MetadataBatches:
    """Those of a log that does not exist."""
    empty = np.empty(0, np.int64)
    return MetadataBatches(
        start=None, base_offset=empty, last_offset=empty, leader_epoch=empty, crc=empty, slices=()
    )


def read_batches(directory: PartitionDirectory) -> MetadataBatches:
    """Read every batch header and checksum of a copy, up to the first bad batch.

    A controller does the same at each start: it opens this log as after a crash.

    Raises:
        UnreadableFileError: a file cannot be opened or read.
    """
    found = [each for each in segments(directory) if each.log_size is not None]
    columns: dict[str, list[NDArray[np.int64]]] = {name: [] for name in (*_COLUMNS, "position")}
    sizes: list[int] = []
    slices: list[SegmentSlice] = []
    damage, flipped = "", None
    for segment in found:
        stop, damage, flipped = _read(segment, columns, directory, is_last=segment is found[-1])
        slices.append(
            SegmentSlice(directory=directory, segment=segment, start=0, stop=stop, is_log_end=True)
        )
        sizes.append(sum(map(len, columns["position"])) - sum(sizes))
        if damage:
            break
    after = found[len(slices) - 1 :] if damage else ()
    empty = np.empty(0, np.int64)
    whole = {name: np.concatenate([empty, *parts]) for name, parts in columns.items()}
    position = whole.pop("position")
    start = found[0].base_offset if found else None
    wrong = restored_offsets(
        whole["base_offset"], whole["last_offset"], start or 0, is_gapless=True
    )
    paths = [each.path("log") for each in found[: len(sizes)]]
    places = [
        (paths[_segment_of(row, sizes)], int(position[row]), stored, due)
        for row, stored, due in wrong
    ]
    return MetadataBatches(
        start=start,
        misplaced=_misplaced_text(places),
        offset_repairs=tuple(repair for each in places for repair in offset_repairs(*each)),
        slices=tuple(slices),
        damage=damage,
        flipped=flipped,
        readable_end=max((_readable_end(each, directory) for each in after), default=0),
        **whole,
    )


def _segment_of(row: int, sizes: list[int]) -> int:
    return int(np.searchsorted(np.cumsum(sizes), row, side="right"))


def _misplaced_text(places: Sequence[tuple[str, int, int, int]]) -> str:
    if not places:
        return ""
    path, position, stored, due = places[0]
    more = f"; {len(places):,} such batches" if len(places) > 1 else ""
    return (
        f"{shown(path)} at position {position}: the base offset is {stored:,}, and {due:,} is due"
        f"{more}"
    )


def _read(
    segment: SegmentFiles,
    columns: dict[str, list[NDArray[np.int64]]],
    directory: PartitionDirectory,
    *,
    is_last: bool,
) -> tuple[int, str, FlipBit | None]:
    """Where the sound bytes of a segment end, what is wrong there, and the bit that is wrong."""
    scan = Scan(segment, _SOUND, context=directory.context)
    for run in scan:
        if isinstance(run, UnreadableRegion):
            unfinished = is_last and (
                run.end in (ScanEnd.TORN, ScanEnd.ZEROS)
                or is_unfinished(segment.path("log"), run.start, context=directory.context)
            )
            return run.start, "" if unfinished else f"{run.where}: {run.problem}", None
        assert isinstance(run, BatchRun)
        sound = int(np.argmin(np.append(run.crc_valid, False)))
        for name, parts in columns.items():
            parts.append(getattr(run, name)[:sound].astype(np.int64))
        if sound < run.count:
            position, size = int(run.position[sound]), int(run.size_in_bytes[sound])
            path = segment.path("log")
            file = shown(path)
            flipped = _flipped(run, sound, path)
            is_whole = flipped is not None or not is_last
            if not is_whole and is_unfinished(path, position, size, context=directory.context):
                return position, "", None
            return position, f"{file} at position {position}: wrong CRC", flipped
    return scan.end_position, "", None


def _flipped(run: BatchRun, row: int, path: str) -> FlipBit | None:
    position, size = int(run.position[row]), int(run.size_in_bytes[row])
    found = flipped_bit(int(run.crc[row]), int(run.crc_computed[row]), size, int(run.magic[row]))
    if found is None:
        return None
    byte = run.buffer[position - run.window_position + found.position]
    return FlipBit(path=path, position=position + found.position, value=byte ^ 1 << found.bit)


def parting(one: MetadataBatches, other: MetadataBatches) -> Parting:
    """Where two copies part; their common end if one only lags behind."""
    first = max(one.start or 0, other.start or 0)
    ends = min(one.next_offset, other.next_offset)
    if first >= ends:
        return Parting(offset=ends, is_compared=first == 0 or ends == 0)
    a, b = (int(np.searchsorted(each.base_offset, first)) for each in (one, other))
    count = min(len(one.base_offset) - a, len(other.base_offset) - b)
    same = np.ones(count, np.bool_)
    for name in _COLUMNS:
        same &= getattr(one, name)[a : a + count] == getattr(other, name)[b : b + count]
    if same.all():
        return Parting(offset=ends)
    at = int(np.argmin(same))
    epochs = int(one.leader_epoch[a + at]), int(other.leader_epoch[b + at])
    return Parting(
        offset=int(min(one.base_offset[a + at], other.base_offset[b + at])),
        is_fork=True,
        is_conflict=epochs[0] == epochs[1],
    )


def _readable_end(segment: SegmentFiles, directory: PartitionDirectory) -> int:
    """One past the last sound batch of a segment, wherever damage is; 0 without one."""
    end = 0
    for run in Scan(segment, TOLERANT, context=directory.context):
        if isinstance(run, BatchRun):
            sound = run.last_offset[np.asarray(run.crc_valid)]
            end = max(end, int(sound.max(initial=-1)) + 1)
    return end
