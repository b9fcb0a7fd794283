"""Findings in record batch headers that contradict themselves or the batch before.

Vectorised over the columns of a window. There is one finding for each code and segment, with the
first place and the number of places, because damage at one place shifts everything after it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.audits.catalogue.batch_rules import (
    HEADER_CONTRADICTION,
    LEADER_EPOCH_REGRESSION,
    OFFSET_GAP,
    OFFSET_REGRESSION,
    REPEATED_PHYSICAL_BATCH,
    SEGMENT_OFFSET_OVERFLOW,
)
from kafkalog_reader.audits.integrity.first_place import FirstPlace
from kafkalog_reader.format.batch_fields import CONTROL_BIT, DELETE_HORIZON_BIT, TRANSACTIONAL_BIT
from kafkalog_reader.format.offset_limits import MAX_RELATIVE_OFFSET
from kafkalog_reader.io.names import METADATA_TOPIC, segment_file_name
from kafkalog_reader.tables.running_maximum import running_maximum

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.io.segment_files import SegmentFiles
    from kafkalog_reader.scan.batch_run import BatchRun

_RESERVED: Final = -1 << 7
_UNUSUAL: Final = np.int16(TRANSACTIONAL_BIT | CONTROL_BIT | DELETE_HORIZON_BIT | _RESERVED)
_MIN: Final = np.iinfo(np.int64).min
_MAX_GAPS: Final = 64
"""Maximum number of gaps in a segment that are checked against later batches."""
_MAX_REFILLS: Final = 1000
_NO_LEADER_EPOCH: Final = -1
"""Written by formats without epochs; no broker writes a lower value."""


@dataclass(slots=True)
class _Gap:
    """Offsets that are missing at their place; later batches may still contain them."""

    offsets: range
    place: FirstPlace
    refilled: int = 0

    @property
    def is_open(self) -> bool:
        return self.refilled < self.offsets.stop - self.offsets.start


@dataclass(slots=True)
class BatchCheck:
    """Checks the batches of one segment in file order.

    The header of a batch with a wrong CRC is ignored: the batch already has KL-101.

    Attributes:
        has_old_magic, has_new_magic: whether messages, and batches of magic 2, were seen.
        last_offset: the greatest so far; None before the first sound batch.
        first_offset: of the first sound batch.
        greatest_timestamp: of the sound batches; None without sound batches.
        has_damage: whether a checksum was wrong.
    """

    replica: Replica
    segment: SegmentFiles
    has_old_magic: bool = False
    has_new_magic: bool = False
    last_offset: int | None = None
    first_offset: int | None = None
    greatest_timestamp: int | None = None
    batches: int = 0
    has_damage: bool = False
    _found: dict[str, FirstPlace] = field(default_factory=dict)
    _is_chained: bool = False
    _last_base: int = _MIN
    _last_last: int = _MIN
    _last_leader_epoch: int = -1
    _epoch_before: int = -1
    _epoch_began: FirstPlace | None = None
    _shows_cleaning: bool = False
    _gaps: list[_Gap] = field(default_factory=list)
    _refills: int = 0

    def break_chain(self) -> None:
        """Note that bytes before the next batch are not a batch."""
        self._is_chained = False

    def look(self, run: BatchRun) -> None:
        """Check the batches of one window."""
        self.batches += run.count
        self.has_damage |= not run.all_valid
        if not run.summary.valid:  # headers without a valid CRC prove nothing
            self._move_on(run, is_chained=False)
            return
        valid = run.crc_valid
        if self._has_usual_headers(run):
            self.has_new_magic = True
        else:
            is_new = run.magic == 2
            self.has_new_magic |= bool((is_new & valid).any())
            self.has_old_magic |= bool((~is_new & valid).any())
            sparse = is_new & (run.records_count < run.last_offset_delta + 1)
            cleaned = sparse | (is_new & ((run.attributes & DELETE_HORIZON_BIT) != 0))
            self._shows_cleaning |= bool((cleaned & valid).any())
            self._look_at_headers(run, valid & is_new)
        if not self._goes_on_with(run):
            self._look_at_offsets(run, valid)
        if len(run.leader_epoch_starts) > 1 or run.leader_epoch[0] != self._last_leader_epoch:
            self._look_at_leader_epochs(run, valid & (run.leader_epoch != _NO_LEADER_EPOCH))
        greatest = run.summary.greatest_timestamp
        if not run.all_valid:
            greatest = int(run.max_timestamp[valid].max())
        self.greatest_timestamp = max(greatest, self.greatest_timestamp or greatest)

    def _move_on(self, run: BatchRun, *, is_chained: bool) -> None:
        """Remember the last batch of a run."""
        self._is_chained = is_chained
        self._last_base, self._last_last = int(run.base_offset[-1]), int(run.last_offset[-1])

    def findings(self) -> Iterator[Finding]:
        """Yield the findings of the segment, each code once."""
        for code, places in self._found.items():
            if code == OFFSET_GAP:
                gap = self._open_gap()
                if gap is None or self._is_cleaned(places.offsets[1]):
                    continue
                gap.count = places.count - sum(not each.is_open for each in self._gaps)
                places = gap
            facts = ", ".join(f"{name} {value}" for name, value in places.evidence.items())
            where = f"{self._file} position {places.position:,}"
            yield places.finding(
                code, self.replica, self._file, f"{where}: {_PROBLEMS[code]} ({facts})"
            )

    @property
    def shows_cleaning(self) -> bool:
        """Whether a batch has fewer records than offsets, or a delete horizon."""
        return self._shows_cleaning

    @property
    def _file(self) -> str:
        name = segment_file_name(self.segment.base_offset, "log", self.segment.suffix)
        return self.replica.file(name)

    def _open_gap(self) -> FirstPlace | None:
        """The first gap that no later batch fills."""
        return next((gap.place for gap in self._gaps if gap.is_open), None)

    def _is_cleaned(self, offset: int) -> bool:
        return self._shows_cleaning or offset <= (self.replica.cleaner_offset or 0)

    def _has_usual_headers(self, run: BatchRun) -> bool:
        """Whether a few passes show that no header can contradict itself."""
        found = run.summary
        if not run.is_row or found.attributes & _UNUSUAL:
            return False
        if found.greatest_producer_epoch < 0 or found.least_producer_id >= 0:
            return True
        return not ((run.producer_epoch >= 0) & (run.producer_id < 0)).any()

    def _goes_on_with(self, run: BatchRun) -> bool:
        """Whether a run without gaps follows, so that its first and last batch suffice."""
        first, last = int(run.base_offset[0]), int(run.last_offset[-1])
        due = first if self.last_offset is None else self.last_offset + 1
        if (
            not run.is_row
            or first < due
            or (first > due and self._is_chained)
            or last - self.segment.base_offset > MAX_RELATIVE_OFFSET
        ):
            return False
        if self.first_offset is None:
            self.first_offset = first
        self.last_offset = last
        self._move_on(run, is_chained=True)
        return True

    def _look_at_headers(self, run: BatchRun, checked: NDArray[np.bool_]) -> None:
        attributes = run.attributes
        is_control = (attributes & CONTROL_BIT) != 0
        # The cleaner keeps an emptied marker as a batch without records, and the metadata log's
        # first control batch may hold several.
        odd_control = is_control & (run.records_count > 1)
        if self.replica.directory.topic == METADATA_TOPIC:
            odd_control[:] = False
        without_producer = run.producer_id < 0
        bad = (
            (run.last_offset_delta < 0)
            | (run.records_count < 0)
            | (run.records_count.astype(np.int64) > run.last_offset_delta.astype(np.int64) + 1)
            | (without_producer & (run.producer_epoch >= 0))
            | (without_producer & ((attributes & TRANSACTIONAL_BIT) != 0))
            | odd_control
            | ((attributes & np.int16(_RESERVED)) != 0)
        )
        self._note(
            HEADER_CONTRADICTION,
            run,
            bad & checked,
            "lastOffsetDelta",
            "recordsCount",
            "attributes",
        )

    def _look_at_offsets(self, run: BatchRun, valid: NDArray[np.bool_]) -> None:
        lasts = np.where(valid, run.last_offset, _MIN)
        reached = np.empty(run.count, np.int64)
        reached[0] = _MIN if self.last_offset is None else self.last_offset
        reached[1:] = running_maximum(lasts[:-1])
        np.maximum(reached, reached[0], out=reached)
        chained = np.empty(run.count, np.bool_)
        chained[0], chained[1:] = self._is_chained, valid[:-1]
        falls = valid & (run.base_offset <= reached)
        gap = valid & chained & (run.base_offset - 1 > reached)
        before = np.empty(run.count, np.int64)
        before[0], before[1:] = self._last_base, run.base_offset[:-1]
        before_last = np.empty(run.count, np.int64)
        before_last[0], before_last[1:] = self._last_last, run.last_offset[:-1]
        # A compressed message shows only its last offset.
        repeated = falls & np.where(
            run.is_wrapper, run.last_offset == before_last, run.base_offset == before
        )
        for code, found in (
            (OFFSET_REGRESSION, falls),
            (OFFSET_GAP, gap),
            (REPEATED_PHYSICAL_BATCH, repeated),
        ):
            index = self._note(code, run, found, "baseOffset")
            if index is not None:
                self._found[code].evidence["previousLastOffset"] = int(reached[index])
        self._look_at_gaps(run, gap, reached, falls)
        too_far = run.last_offset - self.segment.base_offset > MAX_RELATIVE_OFFSET
        self._note(SEGMENT_OFFSET_OVERFLOW, run, valid & too_far, "baseOffset")
        if self.first_offset is None:
            self.first_offset = int(run.base_offset[int(np.argmax(valid))])
        self.last_offset = max(int(reached[-1]), int(lasts[-1]), int(lasts[valid][-1]))
        self._move_on(run, is_chained=bool(valid[-1]))

    def _look_at_gaps(
        self, run: BatchRun, gap: NDArray[np.bool_], reached: NDArray[np.int64],
        falls: NDArray[np.bool_],
    ) -> None:  # fmt: skip
        for index in np.flatnonzero(gap)[: _MAX_GAPS - len(self._gaps)].tolist():
            place = self._place(run, index, "baseOffset")
            missing = range(int(reached[index]) + 1, int(run.base_offset[index]))
            place.offsets = (missing.start, missing.stop)
            place.evidence["previousLastOffset"] = int(reached[index])
            self._gaps.append(_Gap(missing, place))
        if not self._gaps:
            return
        for index in np.flatnonzero(falls)[: _MAX_REFILLS - self._refills].tolist():
            self._refills += 1
            first, last = int(run.base_offset[index]), int(run.last_offset[index])
            for each in self._gaps:
                if first in each.offsets and last in each.offsets:
                    each.refilled += last - first + 1

    def _look_at_leader_epochs(self, run: BatchRun, checked: NDArray[np.bool_]) -> None:
        known = np.flatnonzero(checked)
        if not len(known):
            return
        epochs = run.leader_epoch[known]
        before = np.concatenate([np.array([self._last_leader_epoch], epochs.dtype), epochs[:-1]])
        found = np.zeros(run.count, np.bool_)
        found[known[epochs < before]] = True
        if LEADER_EPOCH_REGRESSION not in self._found:
            turns = np.flatnonzero(epochs != before)
            up_to_fall = int(np.argmax(np.append(epochs[turns] < before[turns], True))) + 1
            for at in turns[:up_to_fall][-2:].tolist():
                self._turn(run, int(known[at]), int(before[at]), int(epochs[at]))
        self._note(LEADER_EPOCH_REGRESSION, run, found, "leaderEpoch")
        self._last_leader_epoch = int(epochs[-1])

    def _turn(self, run: BatchRun, index: int, before: int, now: int) -> None:
        """Note a change of leader epoch; an epoch between two stretches of another is wrong."""
        if now < before:
            stands_out = now == self._epoch_before and self._epoch_began is not None
            place = self._place(run, index, "leaderEpoch")
            place.evidence["previousLeaderEpoch"] = before
            if stands_out and self._epoch_began is not None:
                place = self._epoch_began
                place.evidence["nextLeaderEpoch"] = now
            self._found[LEADER_EPOCH_REGRESSION] = place
        self._epoch_before = before
        self._epoch_began = self._place(run, index, "leaderEpoch")
        self._epoch_began.evidence["previousLeaderEpoch"] = before

    def _note(self, code: str, run: BatchRun, found: NDArray[np.bool_], *names: str) -> int | None:
        """Count places; return the index of the first if it is the first of the segment."""
        count = int(np.count_nonzero(found))
        if not count:
            return None
        first: int | None = None
        if code not in self._found:
            first = int(np.argmax(found))
            self._found[code] = self._place(run, first, *names)
        self._found[code].count += count
        return first

    def _place(self, run: BatchRun, index: int, *names: str) -> FirstPlace:
        values = {name: int(getattr(run, _COLUMNS[name])[index]) for name in names}
        return FirstPlace.of(run, index, values)


_COLUMNS: Final = {
    "baseOffset": "base_offset",
    "lastOffsetDelta": "last_offset_delta",
    "recordsCount": "records_count",
    "attributes": "attributes",
    "leaderEpoch": "leader_epoch",
}
_PROBLEMS: Final = {
    HEADER_CONTRADICTION: "the checksum is valid, but the header contradicts itself",
    OFFSET_REGRESSION: "the batch starts at or below the last offset before it",
    OFFSET_GAP: "offsets are missing before the batch",
    LEADER_EPOCH_REGRESSION: "the leader epoch is not that of its neighbours, or falls",
    SEGMENT_OFFSET_OVERFLOW: "the offset is too far above the segment's base for its indexes",
    REPEATED_PHYSICAL_BATCH: "the batch before it has the same base offset",
}
