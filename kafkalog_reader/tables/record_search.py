"""Finds records by key or content wherever they are on disk: in every copy, and in leftovers.

Leftovers are folders that are marked for deletion, stray or being moved, and segments that a broker
renamed before it deletes or replaces them: consumers do not get their records, but the bytes are
there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_reader.errors import LocatedError, OptionError
from kafkalog_reader.io.names import REMOTE, shown
from kafkalog_reader.io.progress import Progress, ReadMetrics, no_progress
from kafkalog_reader.io.remote_part import with_remote
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.cleanup_policies import CleanupPolicies
from kafkalog_reader.tables.internal_topic import record_schema
from kafkalog_reader.tables.log_unit import log_start_offset
from kafkalog_reader.tables.record_rows import read_slice
from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.schemas.commands import FOUND_RECORDS
from kafkalog_reader.tables.segment_unit import whole_segments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.scan.segment_slice import SegmentSlice

SCHEMA: Final = pa.schema([(column.name, column.type) for column in FOUND_RECORDS])
_HELD_BYTES: Final = 256 << 20
"""Bytes of found records that are held until it is known whether a later one supersedes them."""
_READ: Final = frozenset(
    {"clusterId", "brokerId", "topic", "partition", "offset", "timestamp", "key", "value",
     "position", "transactionState"}
)  # fmt: skip
_LIVE, _SUPERSEDED, _UNDECIDED = "live", "superseded", "undecided"
_NEVER_SUPERSEDES: Final = ("aborted", "open")
"""Transactions whose records the cleaner does not count (``Cleaner#buildOffsetMap``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPattern:
    """What to search for: one of the three.

    Attributes:
        key: the whole key, as bytes.
        text: part of the value, or of the value of a header.
        regex: an RE2 expression that a key, a value, or a header's name or value contains.
    """

    key: bytes | None = None
    text: str | None = None
    regex: str | None = None

    def __post_init__(self) -> None:
        """Refuse an expression that RE2 does not take.

        Raises:
            OptionError: it is not a regular expression.
        """
        if self.regex is not None:
            try:
                pc.match_substring_regex(pa.array([b""]), self.regex)
            except pa.ArrowInvalid as error:
                raise OptionError("regex", str(error).splitlines()[0]) from error

    @property
    def columns(self) -> frozenset[str]:
        """Columns of the table ``records`` that it needs besides those that are shown."""
        return frozenset() if self.key is not None else frozenset({"headers"})

    def matches(self, rows: pa.RecordBatch) -> pa.BooleanArray:
        """Which records match; no nulls."""
        if self.key is not None:
            return pc.fill_null(pc.equal(rows["key"], pa.scalar(self.key, pa.binary())), False)
        found = self._within(rows["value"])
        if self.regex is not None:
            found = pc.or_(found, self._within(rows["key"]))
        return pc.or_(found, self._in_headers(rows["headers"]))

    def _within(self, column: pa.Array) -> pa.BooleanArray:
        # RE2 finds a text faster than match_substring does.
        expression = re.escape(self.text or "") if self.regex is None else self.regex
        return pc.fill_null(pc.match_substring_regex(column, expression), False)

    def _in_headers(self, headers: pa.ListArray) -> pa.BooleanArray:
        parents = pc.list_parent_indices(headers)
        if not len(parents):
            return pa.array([False]).take(pa.array([0] * len(headers), pa.int32()))
        flat = pc.list_flatten(headers)
        found = self._within(pc.struct_field(flat, "value"))
        if self.regex is not None:
            names = pc.struct_field(flat, "key").cast(pa.binary())
            found = pc.or_(found, self._within(names))
        rows = pa.array(range(len(headers)), parents.type)
        return pc.is_in(rows, value_set=parents.filter(found))


def search_records(
    evidence: Evidence,
    request: ReadRequest,
    pattern: RecordPattern,
    metrics: ReadMetrics,
    progress: Progress = no_progress,
) -> Iterator[pa.RecordBatch]:
    """Yield the matching records in the columns ``FOUND_RECORDS``, directory by directory.

    Damage is left out with a warning, whatever the mode of the request is.

    Args:
        evidence: what was supplied.
        request: the topics, partitions and brokers.
        pattern: what to search for.
        metrics: counts what could not be searched.
        progress: receives the bytes read.

    Raises:
        UnreadableFileError: a log directory cannot be listed.
    """
    asked = ReadRequest(mode=Mode.PERMISSIVE, include_control_records=True, hidden=request.hidden)
    damage = asked.damage_counted_in(metrics)
    policies = CleanupPolicies(evidence=evidence)
    for directory in with_remote(evidence).partition_directories(request):
        try:
            slices = [
                each for each in whole_segments(directory, live_only=False) if each.segment.log_size
            ]
            log_start = log_start_offset(directory, 0)
        except LocatedError as error:
            damage.left_out(error)
            continue
        held = _Held(directory, log_start, policies)
        schema = record_schema(_READ | pattern.columns)
        for segment_slice in slices:
            try:
                for rows in read_slice(segment_slice, schema, asked, damage, progress):
                    yield from held.add(segment_slice, rows, pattern.matches(rows))
            except LocatedError as error:
                damage.left_out(error)
        yield from held.rest()


def size_to_search(evidence: Evidence, request: ReadRequest) -> int:
    """Bytes of all segments that a search reads; those that cannot be listed count nothing."""
    total = 0
    for directory in with_remote(evidence).partition_directories(request):
        try:
            slices = whole_segments(directory, live_only=False)
        except LocatedError:
            continue
        total += sum(each.segment.log_size or 0 for each in slices)
    return total


@dataclass(slots=True)
class _Held:
    """Found records of one directory, until its end shows which of them are superseded."""

    directory: PartitionDirectory
    log_start: int
    policies: CleanupPolicies
    batches: list[pa.RecordBatch] = field(default_factory=list)
    latest: dict[bytes, int] = field(default_factory=dict)
    keys: pa.Array | None = None
    is_undecided: bool = False

    def add(
        self, segment_slice: SegmentSlice, rows: pa.RecordBatch, matches: pa.BooleanArray
    ) -> Iterator[pa.RecordBatch]:
        """Take the matching rows of a segment; yield what needs no more knowledge."""
        state = self._leftover(segment_slice)
        found = rows.filter(matches) if pc.any(matches).as_py() else None
        if state is not None:
            if found is not None:
                yield _shown(found, segment_slice, [state] * found.num_rows)
            return
        if found is not None:
            known = len(self.latest)
            for key in found["key"].to_pylist():
                if key is not None:
                    self.latest.setdefault(key, -1)
            if len(self.latest) > known:
                self.keys = pa.array(list(self.latest), pa.binary())
            states = [
                self._place(*each)
                for each in zip(
                    found["offset"].to_pylist(), found["transactionState"].to_pylist(), strict=True
                )
            ]
            self.batches.append(_shown(found, segment_slice, states))
        if self.keys is not None:
            self._note_latest(rows)
        if sum(each.nbytes for each in self.batches) > _HELD_BYTES:
            self.is_undecided = True
            yield from self.rest()

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Yield what is held."""
        batches, self.batches = self.batches, []
        for rows in batches:
            states = [
                self._state(*each)
                for each in zip(
                    rows["state"].to_pylist(), rows["offset"].to_pylist(),
                    rows["key"].to_pylist(), strict=True,
                )
            ]  # fmt: skip
            place = rows.schema.names.index("state")
            yield rows.set_column(place, "state", pa.array(states, pa.string()))

    def _place(self, offset: int, transaction_state: str | None) -> str:
        if offset < self.log_start:
            return "below-log-start"
        return transaction_state if transaction_state in _NEVER_SUPERSEDES else _LIVE

    def _state(self, state: str, offset: int, key: bytes | None) -> str:
        if state != _LIVE or key is None or self.directory.state == REMOTE:
            return state  # tiered topics are not compacted
        is_superseded = self.latest[key] > offset
        if not is_superseded and not self.is_undecided:
            return _LIVE
        if self.policies.is_compacted(self.directory) is False:
            return _LIVE
        return _SUPERSEDED if is_superseded else _UNDECIDED

    def _note_latest(self, rows: pa.RecordBatch) -> None:
        """Note the records that the cleaner keeps instead of earlier ones."""
        state = rows["transactionState"]  # null: a control record
        never = pc.is_in(state, value_set=pa.array(_NEVER_SUPERSEDES))
        counts = pc.and_(pc.is_valid(state), pc.invert(never))
        same = rows.filter(pc.and_(counts, pc.is_in(rows["key"], value_set=self.keys)))
        for key, offset in zip(same["key"].to_pylist(), same["offset"].to_pylist(), strict=True):
            self.latest[key] = max(self.latest[key], offset)

    def _leftover(self, segment_slice: SegmentSlice) -> str | None:
        if self.directory.state not in (None, REMOTE):
            return f"{self.directory.state}-directory"
        suffix = segment_slice.segment.suffix
        return None if suffix is None else f"{suffix}-segment"


def _shown(found: pa.RecordBatch, segment_slice: SegmentSlice, states: list[str]) -> pa.RecordBatch:
    columns: dict[str, Any] = {
        "state": pa.array(states, pa.string()),
        "file": pa.array([shown(segment_slice.path)] * found.num_rows, pa.string()),
    }
    arrays = [columns[name] if name in columns else found[name] for name in SCHEMA.names]
    return pa.record_batch(arrays, schema=SCHEMA)
