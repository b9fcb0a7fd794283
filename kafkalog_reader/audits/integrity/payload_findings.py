"""Findings that need the records themselves (``--deep``): everything is decompressed and decoded.

As for headers, there is one finding for each code and segment: the first place and the count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from kafkalog_reader.audits.catalogue.batch_rules import (
    INNER_MAGIC_MISMATCH,
    OFFSET_GAP,
    OFFSET_REGRESSION,
    RECORD_COUNT_MISMATCH,
    RECORD_UNDECODABLE,
    TIMESTAMP_IMPLAUSIBLE,
)
from kafkalog_reader.audits.catalogue.commit_rules import INTERNAL_RECORD_UNDECODABLE
from kafkalog_reader.audits.catalogue.input_rules import (
    LIMIT_REACHED,
)
from kafkalog_reader.audits.integrity.first_place import FirstPlace
from kafkalog_reader.audits.integrity.message_problems import FAMILIES, message_problems
from kafkalog_reader.audits.integrity.payload_count import count_whole_records
from kafkalog_reader.decode.record_decoder import DecodedRecords, RecordDecoder
from kafkalog_reader.errors import LimitReachedError
from kafkalog_reader.format.batch_fields import (
    CODEC_MASK,
    CONTROL_BIT,
    DELETE_HORIZON_BIT,
)
from kafkalog_reader.kernel import codes
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.scan.segment_slice import SegmentSlice
from kafkalog_reader.tables.rows import microseconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.audits.integrity.compaction_findings import CompactedKeys
    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.errors import LocatedError
    from kafkalog_reader.io.segment_files import SegmentFiles
    from kafkalog_reader.scan.batch_run import BatchRun

_COUNTED: Final = 100
"""Maximum undecodable batches of one segment that are checked record by record."""
_NO_TIMESTAMP_US: Final = -1000
_WANTED: Final = frozenset({"offset", "timestamp"})
_OF_MESSAGES: Final = ("key", "value")


class _Collected(Damage):
    """Stores the damage that a decoder leaves out, instead of logging it."""

    def __init__(self) -> None:
        super().__init__(Mode.PERMISSIVE)
        self.errors: list[LocatedError] = []

    def left_out(
        self, error: LocatedError, *, batches: int = 1, next_offset: int | None = None
    ) -> None:
        del batches, next_offset  # a decoder reports one at a time
        self.errors.append(error)


class PayloadCheck:
    """Decodes the batches of one segment in file order, without keeping records.

    Batches with a header finding (checksum, codec, impossible counts) are skipped.
    """

    def __init__(self, replica: Replica, segment: SegmentFiles, keys: CompactedKeys) -> None:
        self._replica = replica
        self._file = replica.segment_file(segment)
        self._damage = _Collected()
        segment_slice = SegmentSlice.whole(replica.directory, segment)
        self._keys = keys
        self._topic = replica.directory.topic or ""
        wanted = _WANTED | {"key"} if keys.is_wanted else _WANTED
        if self._topic in FAMILIES:
            wanted |= {"key", "value"}
        self._decoder = RecordDecoder(wanted, segment_slice, self._damage)
        self._found: dict[str, FirstPlace] = {}
        self._counted = 0
        self._chain_end = self._reached = -1
        self._shows_cleaning = False
        self._missing: tuple[int, int] | None = None
        self._refilled = 0

    def look(self, run: BatchRun) -> None:
        """Decode the batches of one window."""
        chosen = _decodable(run)
        if not chosen.all():
            run = run.taken(np.flatnonzero(chosen))
        for decoded in self._decoder.add(run):
            self._judge(decoded)
        for error in self._damage.errors:
            self._note_error(run, error)
        self._damage.errors.clear()

    def findings(self) -> Iterator[Finding]:
        """Yield the findings of the segment, each code once, after all its batches."""
        for decoded in self._decoder.flush():
            self._judge(decoded)
        for code, place in self._found.items():
            if code == OFFSET_GAP and (self._shows_cleaning or self._is_refilled):
                continue
            message = f"{self._file} position {place.position:,}: {place.problem}"
            yield place.finding(code, self._replica, self._file, message)

    @property
    def _is_refilled(self) -> bool:
        """Whether batches after the first gap hold the offsets that are missing there."""
        return self._missing is not None and self._refilled >= self._missing[1] - self._missing[0]

    def _judge(self, decoded: DecodedRecords) -> None:
        """Compare decoded records with the headers of their batches."""
        position = decoded.of_batches("position")
        batch_of = decoded.of_records(np.arange(len(position)))
        self._judge_offsets(decoded, batch_of)
        self._judge_timestamps(decoded, batch_of)
        self._judge_inner_magic(decoded)
        self._judge_wrapper_offsets(decoded, batch_of)
        self._judge_messages(decoded, batch_of)
        if self._keys.is_wanted:
            is_data = (decoded.of_batches("attributes") & CONTROL_BIT) == 0
            self._keys.add(decoded.columns.column("key"), decoded.columns.offset, is_data[batch_of])

    def _judge_offsets(self, decoded: DecodedRecords, batch_of: NDArray[np.int64]) -> None:
        falls = (np.diff(decoded.columns.offset) <= 0) & (np.diff(batch_of) == 0)
        batches = np.unique(batch_of[1:][falls])
        if len(batches):
            self._note(
                RECORD_COUNT_MISMATCH,
                decoded,
                batches,
                "the offsets of its records do not rise",
                {},
            )

    def _judge_timestamps(self, decoded: DecodedRecords, batch_of: NDArray[np.int64]) -> None:
        """Compare the header's greatest timestamp; a delete horizon changes the base timestamp."""
        if not len(batch_of):
            return
        starts = np.flatnonzero(np.diff(batch_of, prepend=-1))
        greatest = np.maximum.reduceat(decoded.columns.timestamp, starts)
        np.maximum(greatest, _NO_TIMESTAMP_US, out=greatest)  # Kafka's initial value
        batches = batch_of[starts]
        announced = microseconds(decoded.of_batches("max_timestamp")[batches])
        is_checked = (decoded.of_batches("magic")[batches] == 2) & (
            (decoded.of_batches("attributes")[batches] & DELETE_HORIZON_BIT) == 0
        )
        wrong = np.flatnonzero(is_checked & (greatest != announced))
        if not len(wrong):
            return
        evidence: dict[str, object] = {
            "maxTimestamp": int(announced[wrong[0]]) // 1000,
            "greatestOfRecords": int(greatest[wrong[0]]) // 1000,
        }
        problem = (
            f"its greatest timestamp is {evidence['greatestOfRecords']}, but its header says "
            f"{evidence['maxTimestamp']}"
        )
        self._note(TIMESTAMP_IMPLAUSIBLE, decoded, batches[wrong], problem, evidence)

    def _judge_wrapper_offsets(self, decoded: DecodedRecords, batch_of: NDArray[np.int64]) -> None:
        """Check that the records of a compressed message begin after the last offset."""
        if not len(batch_of):
            return
        starts = np.flatnonzero(np.diff(batch_of, prepend=-1))
        batches = batch_of[starts]
        counts = np.diff(np.append(starts, len(batch_of)))
        first = decoded.columns.offset[starts]
        last = decoded.columns.offset[starts + counts - 1]
        position = decoded.of_batches("position")[batches]
        end = position + decoded.of_batches("size_in_bytes")[batches]
        announced = decoded.of_batches("last_offset")[batches]  # by the wrapper
        magic = decoded.of_batches("magic")[batches]
        codec = decoded.of_batches("attributes")[batches] & CODEC_MASK
        is_wrapper = (magic < 2) & (codec != 0)
        reached = np.append(self._reached, last[:-1])
        chained = np.append(self._chain_end, end[:-1]) == position
        self._chain_end, self._reached = int(end[-1]), int(last[-1])
        if not is_wrapper.any():
            return
        self._shows_cleaning |= bool((is_wrapper & (last - first + 1 != counts)).any())
        above = first > (self._replica.cleaner_offset or 0)
        for code, found, problem in (
            (
                RECORD_COUNT_MISMATCH,
                is_wrapper & (last != announced),
                "its records end at another offset",
            ),
            (
                OFFSET_REGRESSION,
                is_wrapper & chained & (first <= reached) & (reached < last),
                "its records begin at or below the last offset before it",
            ),
            (
                OFFSET_GAP,
                is_wrapper & chained & (first > reached + 1) & above,
                "offsets are missing before its records",
            ),
        ):
            where = np.flatnonzero(found)
            if len(where):
                row = int(where[0])
                if code == OFFSET_GAP and self._missing is None:
                    self._missing = int(reached[row]) + 1, int(first[row])
                evidence: dict[str, object] = {
                    "firstOffset": int(first[row]),
                    "previousLastOffset": int(reached[row]),
                }
                self._note(code, decoded, batches[where], problem, evidence)
        if self._missing is not None:
            inside = (first >= self._missing[0]) & (last < self._missing[1])
            self._refilled += int((last - first + 1)[inside].sum())

    def _judge_inner_magic(self, decoded: DecodedRecords) -> None:
        """Check the magic of wrapped messages; those of magic 0 have no timestamp."""
        magic = decoded.of_batches("magic")
        if magic.min(initial=2) == 2:
            return
        attributes = decoded.of_batches("attributes")
        inner = np.where((attributes & codes.NO_TIMESTAMP_TYPE) != 0, 0, 1)
        is_wrapper = (magic < 2) & ((attributes & CODEC_MASK) != 0)
        batches = np.flatnonzero(is_wrapper & (inner != magic))
        if not len(batches):
            return
        outside, inside = int(magic[batches[0]]), int(inner[batches[0]])
        problem = f"a wrapper of magic {outside} holds messages of magic {inside}"
        self._note(
            INNER_MAGIC_MISMATCH,
            decoded,
            batches,
            problem,
            {"magic": outside, "innerMagic": inside},
        )

    def _judge_messages(self, decoded: DecodedRecords, batch_of: NDArray[np.int64]) -> None:
        """Decode the data records of an internal topic."""
        if self._topic not in FAMILIES:
            return
        is_data = (decoded.of_batches("attributes") & CONTROL_BIT) == 0
        rows = np.flatnonzero(is_data[batch_of])
        keys, values = (decoded.columns.column(name).take(pa.array(rows)) for name in _OF_MESSAGES)
        found = message_problems(self._topic, keys, values)
        if found:
            wrong = rows[[row for row, _ in found]]
            offset = int(decoded.columns.offset[wrong[0]])
            problem = f"the record at offset {offset:,} cannot be loaded: {found[0][1]}"
            evidence = {"offset": offset, "problem": found[0][1], "records": len(found)}
            self._note(INTERNAL_RECORD_UNDECODABLE, decoded, batch_of[wrong], problem, evidence)

    def _note_error(self, run: BatchRun, error: LocatedError) -> None:
        """Note an undecodable batch under its code, while its bytes are available."""
        row = int(np.searchsorted(run.position, error.where.position or 0))
        if isinstance(error, LimitReachedError):
            self._note_row(LIMIT_REACHED, run, row, f"not checked: {error.problem}", {})
            return
        if codes.PROBLEMS[codes.BAD_OFFSET_DELTA] in error.problem:
            self._note_row(RECORD_COUNT_MISMATCH, run, row, error.problem, {})
            return
        self._counted += 1
        count = count_whole_records(run, row) if self._counted <= _COUNTED else None
        if count is not None and count != int(run.records_count[row]):
            evidence: dict[str, object] = {
                "recordsCount": int(run.records_count[row]),
                "recordsDecoded": count,
            }
            problem = f"it holds {count:,} records, but its header says {run.records_count[row]:,}"
            self._note_row(RECORD_COUNT_MISMATCH, run, row, problem, evidence)
        else:
            problem = f"the checksum is valid, but the records cannot be decoded: {error.problem}"
            self._note_row(RECORD_UNDECODABLE, run, row, problem, {"problem": error.problem})

    def _note(
        self,
        code: str,
        decoded: DecodedRecords,
        batches: NDArray[np.int64],
        problem: str,
        evidence: dict[str, object],
    ) -> None:
        """Count batches; problem and evidence are those of the first."""

        def first(name: str) -> int:
            return int(decoded.of_batches(name)[batches[0]])

        base_offset = first("base_offset")
        place = FirstPlace(
            position=first("position"),
            size_in_bytes=first("size_in_bytes"),
            offsets=(base_offset, base_offset + first("last_offset_delta") + 1),
            problem=problem,
            evidence=evidence,
        )
        self._keep(code, place, len(np.unique(decoded.of_batches("position")[batches])))

    def _note_row(
        self, code: str, run: BatchRun, row: int, problem: str, evidence: dict[str, object]
    ) -> None:
        self._keep(code, FirstPlace.of(run, row, evidence, problem), 1)

    def _keep(self, code: str, place: FirstPlace, batches: int) -> None:
        known = self._found.get(code)
        count = batches if known is None else known.count + batches
        if known is None or place.position < known.position:
            self._found[code] = place
        self._found[code].count = count


def _decodable(run: BatchRun) -> NDArray[np.bool_]:
    """The batches to decode; the others already have findings."""
    room = run.last_offset_delta.astype(np.int64) + 1
    possible = (run.magic < 2) | (
        (run.last_offset_delta >= 0) & (run.records_count >= 0) & (run.records_count <= room)
    )
    decodable: NDArray[np.bool_] = (
        run.crc_valid & run.has_known_codec & possible & (run.base_offset >= 0)
    )
    return decodable
