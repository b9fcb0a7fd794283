"""The table ``gaps``: one row per run of offsets that a consumer does not get, and why.

Together with the offsets that it gets they are every offset up to the log end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_reader.decode.arrow_arrays import texts
from kafkalog_reader.decode.record_buffers import control_type_name
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.format.offset_limits import MAX_OFFSET
from kafkalog_reader.io.checkpoints import checkpoint_path
from kafkalog_reader.io.compaction import CLEANER_CHECKPOINT, may_be_compacted
from kafkalog_reader.io.names import LOG_START_CHECKPOINT, shown
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.scan.expected_end import ExpectedEnd, ExpectedEnds, missing_records
from kafkalog_reader.scan.log_tail import scan_tail
from kafkalog_reader.tables.chosen_replicas import chosen_replicas
from kafkalog_reader.tables.cleanup_policies import CleanupPolicies
from kafkalog_reader.tables.identity import identity_of
from kafkalog_reader.tables.log_shares import grouped
from kafkalog_reader.tables.log_unit import log_start_offset
from kafkalog_reader.tables.lost_start import lost_start
from kafkalog_reader.tables.offset_spans import Fate, OffsetSpans, joined
from kafkalog_reader.tables.open_transactions import replay_transactions
from kafkalog_reader.tables.rows import build_rows
from kafkalog_reader.tables.schemas.logs import GAPS
from kafkalog_reader.tables.segment_gaps import NO_BATCH, SegmentGaps
from kafkalog_reader.tables.table import Column, Table, Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.io.segment_files import SegmentFiles
    from kafkalog_reader.tables.request import ReadRequest

    Facts = NDArray[np.int64]

_REASONS: Final = (
    "", "controlRecord", "abortedTransaction", "openTransaction", "compacted", "damaged",
    "missing",
)  # fmt: skip
"""By ``Fate``."""
_ONLY_COMMITTED: Final = (Fate.ABORTED, Fate.OPEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentBounds:
    """One segment of a replica, and the offsets that it must account for.

    Attributes:
        segment: None if the replica has none.
        log_start: of the replica.
        lost_start: what proves that the log began before ``log_start``, and that nothing deleted
            what is gone; else empty.
        is_first, is_last: whether it is the first or last segment that reaches above the log start.
        next_base: base offset of the next segment; None after the last one.
        expected_end: how far the log must reach where this segment ends.
    """

    directory: PartitionDirectory
    segment: SegmentFiles | None
    log_start: int
    lost_start: str
    is_first: bool
    next_base: int | None
    expected_end: ExpectedEnd | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GapUnit(Unit):
    """Segments that one worker reads in order."""

    segments: tuple[SegmentBounds, ...]

    @property
    def opened(self) -> int:
        return len(self.segments)


class GapsTable(Table[GapUnit]):
    """One row is a run of offsets with one reason."""

    name: ClassVar[str] = "gaps"
    doc: ClassVar[str] = "one row per run of offsets that a consumer does not get, and why"
    columns: ClassVar[tuple[Column, ...]] = GAPS

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[GapUnit]:
        """Segments of the requested replicas."""
        expected = ExpectedEnds()
        supplied = evidence.allowing(request.max_batch_bytes)
        policies = CleanupPolicies(evidence=supplied)
        bounded = (
            bounds
            for directory in chosen_replicas(supplied, request, expected)
            for bounds in _bounded_segments(directory, policies, expected, request.damage)
        )
        for size, together in grouped(bounded, _measure, request.max_partition_bytes):
            yield GapUnit(size_in_bytes=size, segments=together)

    def read(
        self, unit: GapUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the gaps of a unit. Damage is a row and no error.

        Raises:
            UnreadableFileError: a file cannot be opened or read, in mode ``FAILFAST``.
        """
        schema = self.projected(request)
        stable: tuple[str, int | None] | None = None
        for bounds in unit.segments:
            try:
                if stable is None or stable[0] != bounds.directory.path:
                    stable = bounds.directory.path, _open_from(bounds)
                yield from _GapRows(bounds, schema, stable[1], progress)
            except LocatedError as error:
                request.damage.left_out(error)


def _measure(bounds: SegmentBounds) -> tuple[int, int]:
    return (bounds.segment.log_size or 0) if bounds.segment else 0, 1


def _bounded_segments(
    directory: PartitionDirectory,
    policies: CleanupPolicies,
    expected: ExpectedEnds,
    damage: Damage,
) -> Iterator[SegmentBounds]:
    expected.prepare(directory.log_directory)
    try:
        found = [segment for segment in segments(directory) if segment.log_size is not None]
        first_base = found[0].base_offset if found else 0
        log_start = log_start_offset(directory, first_base)
    except LocatedError as error:
        damage.left_out(error)
        return
    if not found:
        yield SegmentBounds(
            directory=directory, segment=None, log_start=log_start, lost_start="", is_first=True,
            next_base=None, expected_end=expected.of_log(directory),
        )  # fmt: skip
    lost = lost_start(directory, policies)
    is_first = True
    for number, segment in enumerate(found):
        is_last = number + 1 == len(found)
        if not is_last and found[number + 1].base_offset <= log_start:
            continue
        yield SegmentBounds(
            directory=directory,
            segment=segment,
            log_start=log_start,
            lost_start="" if lost is None else lost[0].problem,
            is_first=is_first,
            next_base=None if is_last else found[number + 1].base_offset,
            expected_end=expected.of_segment(directory, found, number),
        )
        is_first = False


def _open_from(bounds: SegmentBounds) -> int | None:
    """The first offset of the earliest open transaction; None: none, or damage hides it."""
    if bounds.segment is None:
        return None
    transactions = replay_transactions(
        bounds.directory, decided_from=scan_tail(bounds.directory).next_offset, log_end=MAX_OFFSET,
        mode=Mode.DROPMALFORMED, progress=no_progress,
    )  # fmt: skip
    return min(transactions.open.values(), default=None) if transactions.is_known else None


class _GapRows:
    """Iterates over the rows of one segment."""

    def __init__(
        self,
        bounds: SegmentBounds,
        schema: pa.Schema,
        stable: int | None,
        progress: Progress,
    ) -> None:
        self._bounds = bounds
        self._schema = schema
        self._stable = stable
        self._progress = progress

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        bounds, segment = self._bounds, self._bounds.segment
        is_whole = bounds.directory.only is None  # else other segments may have been left out
        if bounds.is_first and is_whole and bounds.log_start:
            reason = "missing" if bounds.lost_start else "belowLogStart"
            yield self._row((0, bounds.log_start), reason, None, self._log_start_evidence())
        if segment is None:
            yield from self._missing(bounds.log_start)
            return
        start = max(bounds.log_start, segment.base_offset) if is_whole else segment.base_offset
        found = SegmentGaps(bounds.directory, segment, start, self._stable, self._progress)
        waiting: OffsetSpans | None = None
        for part in found:
            spans = part if waiting is None else joined((waiting, part)).merged()
            if not len(spans):
                continue
            yield from self._rows(spans.taken(slice(0, len(spans) - 1)), found)
            waiting = spans.taken(slice(len(spans) - 1, None))
        if waiting is not None:
            yield from self._rows(waiting, found)
        yield from self._end(found, is_whole=is_whole)

    @cached_property
    def _may_be_compacted(self) -> bool:
        """Whether the cleaner may have removed whole batches; True if nothing shows that."""
        directory = self._bounds.directory
        checkpoint = checkpoint_path(directory.log_directory, CLEANER_CHECKPOINT)
        return not Path(checkpoint).is_file() or may_be_compacted(directory)

    def _end(self, found: SegmentGaps, *, is_whole: bool) -> Iterator[pa.RecordBatch]:
        """Rows of what follows the last record of the segment."""
        bounds = self._bounds
        log_end = bounds.next_base if is_whole and bounds.next_base is not None else found.log_end
        position = found.end_position
        if found.unread is not None:
            position, problem = found.unread
            expected = None if bounds.expected_end is None else bounds.expected_end.next_offset
            stop = max(log_end, expected or 0)
            ends_in_damage = bounds.next_base is None and found.end is not None
            if stop > found.reached:
                yield self._row((found.reached, stop), "damaged", position, problem)
            elif ends_in_damage:
                yield self._row((found.reached, None), "damaged", position, problem)
            return
        missing = None
        if is_whole and bounds.next_base is not None and found.reached < log_end:
            missing = self._proof_of_loss(found.reached)
        if missing is not None:
            yield self._row((found.reached, log_end), "missing", position, missing)
        elif found.reached < log_end:
            span = found.reached, log_end
            spans = OffsetSpans.one(span, Fate.COMPACTED, position, [NO_BATCH, NO_BATCH])
            yield from self._rows(spans, found)
        if bounds.next_base is None and is_whole:
            yield from self._missing(max(found.reached, log_end))

    def _missing(self, reached: int) -> Iterator[pa.RecordBatch]:
        """The row of records that a checkpoint proves, but that are not in the log."""
        proof, expected = self._proof_of_loss(reached), self._bounds.expected_end
        if proof is not None and expected is not None:
            yield self._row((reached, expected.next_offset), "missing", None, proof)

    def _proof_of_loss(self, reached: int) -> str | None:
        bounds = self._bounds
        if bounds.expected_end is None:
            return None
        error = missing_records(
            bounds.expected_end, bounds.directory.path, reached, (0, None), segment=bounds.segment,
            context=bounds.directory.context,
        )  # fmt: skip
        return None if error is None else error.problem

    def _log_start_evidence(self) -> str:
        bounds = self._bounds
        if bounds.lost_start:
            return bounds.lost_start
        if bounds.segment is not None and bounds.segment.base_offset == bounds.log_start:
            return f"the first segment begins with offset {bounds.log_start}"
        return f"{LOG_START_CHECKPOINT} has {bounds.log_start}"

    def _row(
        self, span: tuple[int, int | None], reason: str, position: int | None, evidence: str
    ) -> pa.RecordBatch:
        first, stop = span
        values = {
            **identity_of(self._bounds.directory),
            "firstOffset": first,
            "nextOffset": stop,
            "offsets": None if stop is None else stop - first,
            "reason": reason,
            "hiddenFrom": "all",
            "file": None if position is None else self._file(),
            "position": position,
            "evidence": evidence,
        }
        return build_rows(self._schema, 1, values)

    def _rows(self, spans: OffsetSpans, found: SegmentGaps) -> Iterator[pa.RecordBatch]:
        """The rows of the spans that are not visible."""
        spans = spans.taken(spans.fate != Fate.VISIBLE)
        if not self._may_be_compacted:
            without_batch = (spans.fate == Fate.COMPACTED) & (spans.facts[:, 0] == NO_BATCH)
            spans.fate[without_batch] = Fate.MISSING
        if not len(spans):
            return
        values: dict[str, Any] = {
            **identity_of(self._bounds.directory),
            "firstOffset": spans.first,
            "nextOffset": spans.next,
            "offsets": spans.next - spans.first,
            "reason": texts(_REASONS, spans.fate),
            "hiddenFrom": texts(("all", "read_committed"), np.isin(spans.fate, _ONLY_COMMITTED)),
            "file": self._file(),
            "position": spans.position,
            "evidence": _evidence(spans, found) if "evidence" in self._schema.names else None,
        }
        yield build_rows(self._schema, len(spans), values)

    def _file(self) -> str:
        directory = Path(self._bounds.directory.path).name
        segment = self._bounds.segment
        assert segment is not None
        return shown(f"{directory}/{Path(segment.path('log')).name}")


def _evidence(spans: OffsetSpans, found: SegmentGaps) -> pa.StringArray:
    """What proves each span, made a column at a time."""
    parts, rows = [], []
    for fate in np.unique(spans.fate).tolist():
        which = np.flatnonzero(spans.fate == fate)
        parts.append(_EVIDENCE[Fate(fate)](spans.facts[which], found))
        rows.append(which)
    order = np.argsort(np.concatenate(rows))
    return pa.concat_arrays(parts).take(pa.array(order))


def _text(*parts: str | pa.Array) -> pa.StringArray:
    """Texts and numbers, one after another, in each row."""
    return pc.binary_join_element_wise(
        *(part if isinstance(part, str) else part.cast(pa.string()) for part in parts), ""
    )


def _of_control(facts: Facts, found: SegmentGaps) -> pa.StringArray:
    del found
    numbers, inverse = np.unique(facts[:, 1], return_inverse=True)
    names = tuple(control_type_name(number) or "unreadable" for number in numbers.tolist())
    kinds = texts(names, inverse)
    with_producer = _text(kinds, " marker of producer ", pa.array(facts[:, 0]))
    return pc.if_else(pa.array(facts[:, 0] < 0), _text(kinds, " record"), with_producer)


def _of_aborted(facts: Facts, found: SegmentGaps) -> pa.StringArray:
    del found
    return _text(
        "transaction of producer ", pa.array(facts[:, 0]), ", ABORT marker at offset ",
        pa.array(facts[:, 1]),
    )  # fmt: skip


def _of_open(facts: Facts, found: SegmentGaps) -> pa.StringArray:
    del found
    known = _text("at or above the last stable offset, ", pa.array(facts[:, 1]))
    return pc.if_else(pa.array(facts[:, 1] >= 0), known, "no marker of its transaction is left")


def _of_compacted(facts: Facts, found: SegmentGaps) -> pa.StringArray:
    del found
    left = _text(
        "its batch holds ", pa.array(facts[:, 0]), " of ", pa.array(facts[:, 1]), " records"
    )
    return pc.if_else(pa.array(facts[:, 0] >= 0), left, "no batch holds these offsets")


def _of_damage(facts: Facts, found: SegmentGaps) -> pa.StringArray:
    return pa.array([found.notes[number] for number in facts[:, 0].tolist()], pa.string())


def _of_missing(facts: Facts, found: SegmentGaps) -> pa.StringArray:
    del found
    return pa.array(["no batch holds these offsets, and the log was not cleaned"] * len(facts))


_EVIDENCE: Final = {
    Fate.CONTROL: _of_control,
    Fate.ABORTED: _of_aborted,
    Fate.OPEN: _of_open,
    Fate.COMPACTED: _of_compacted,
    Fate.DAMAGED: _of_damage,
    Fate.MISSING: _of_missing,
}
