"""The records of one slice of a log; only the requested columns are decoded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from kafkalog_reader.decode.arrow_arrays import fixed_width, flags, microseconds
from kafkalog_reader.decode.decompression import codec_names
from kafkalog_reader.decode.header_records import HeaderRecords, header_records, tells_offsets
from kafkalog_reader.decode.record_buffers import RecordBuffers
from kafkalog_reader.decode.record_decoder import DecodedRecords, RecordDecoder
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.format.batch_fields import CODEC_MASK, CONTROL_BIT, MAGIC, TRANSACTIONAL_BIT
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.scan.unscanned_batches import UnscannedBatches
from kafkalog_reader.tables.constant_columns import ConstantColumns
from kafkalog_reader.tables.identity import identity_of
from kafkalog_reader.tables.leftovers import leftover_kind
from kafkalog_reader.tables.request import READ_COMMITTED
from kafkalog_reader.tables.selected_batches import SelectedBatches
from kafkalog_reader.tables.transaction_states import (
    TransactionStates,
    state_names,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.scan.damage import Damage
    from kafkalog_reader.scan.segment_slice import SegmentSlice
    from kafkalog_reader.tables.request import ReadRequest

_Records = DecodedRecords | HeaderRecords
_OF_BATCHES: Final[dict[str, Callable[[_Records], NDArray[Any]]]] = {
    "position": lambda d: d.of_batches("position"),
    "batchBaseOffset": lambda d: d.of_batches("base_offset"),
    "leaderEpoch": lambda d: d.of_batches("leader_epoch"),
    "producerId": lambda d: d.of_batches("producer_id"),
    "producerEpoch": lambda d: d.of_batches("producer_epoch"),
    "isTransactional": lambda d: (d.of_batches("attributes") & TRANSACTIONAL_BIT) != 0,
    "isControl": lambda d: (d.of_batches("attributes") & CONTROL_BIT) != 0,
    "magic": lambda d: d.of_batches("magic"),
}


def read_slice(
    segment_slice: SegmentSlice,
    schema: pa.Schema,
    request: ReadRequest,
    damage: Damage,
    progress: Progress = no_progress,
) -> Iterator[pa.RecordBatch]:
    """Yield the records of one slice in the columns of ``schema``; ``damage`` handles damage.

    Raises:
        LocatedError: raised by ``damage``; the records before it are yielded first.
        UnreadableFileError: the file cannot be opened or read.
    """
    decoder = RecordDecoder(
        frozenset(schema.names),
        segment_slice,
        damage,
        with_control=request.include_control_records,
    )
    states = TransactionStates(segment_slice)
    rows = RecordRows(segment_slice, schema, request, states)
    is_committed = request.isolation == READ_COMMITTED
    batches = SelectedBatches(
        segment_slice,
        request,
        damage,
        progress,
        offer_windows=not (is_committed or rows.tell_of_batches or rows.are_in_headers),
    )
    committed = states if is_committed else None
    try:
        for decoded in _decoded(decoder, batches, committed, by_headers=rows.are_in_headers):
            yield from rows.of(decoded)
    except LocatedError as error:
        for decoded in decoder.flush():  # sound batches after the bad one are in it too
            yield from rows.of(decoded, error.where.position)
        raise
    for decoded in decoder.flush():
        yield from rows.of(decoded)


def _decoded(
    decoder: RecordDecoder,
    batches: SelectedBatches,
    states: TransactionStates | None,
    *,
    by_headers: bool,
) -> Iterator[_Records]:
    """Decode batches; with ``states`` only those that are committed."""
    for found in batches:
        if isinstance(found, UnscannedBatches):
            yield from decoder.take(found, batches)
            continue
        run = found if states is None else states.committed(found)
        if by_headers and tells_offsets(run):
            yield from decoder.flush()
            yield from header_records(run)
        else:
            yield from decoder.add(run)


class RecordRows:
    """Arrow record batches of one slice."""

    def __init__(
        self,
        segment_slice: SegmentSlice,
        schema: pa.Schema,
        request: ReadRequest,
        states: TransactionStates,
    ) -> None:
        self._states = states
        self._segment_slice = segment_slice
        self._schema = schema
        self._request = request
        self._constants = ConstantColumns(
            schema,
            {
                **identity_of(segment_slice.directory),
                "segmentBaseOffset": segment_slice.segment.base_offset,
                "leftover": leftover_kind(segment_slice),
            },
        )

    @property
    def tell_of_batches(self) -> bool:
        """Whether a column comes from the headers of batches."""
        return any(
            name not in RecordBuffers.DECODED and name not in self._constants
            for name in self._schema.names
        )

    @property
    def are_in_headers(self) -> bool:
        """Whether headers may give the offsets, and give all that is requested."""
        request = self._request
        return (
            request.offsets_from_headers
            and request.from_timestamp is None
            and request.to_timestamp is None
            and RecordBuffers.DECODED.isdisjoint({*self._schema.names} - {"offset"})
        )

    def of(self, decoded: _Records, stop_position: int | None = None) -> Iterator[pa.RecordBatch]:
        """One record batch of the requested records, if there are any before ``stop_position``."""
        keep = self._kept(decoded, stop_position)
        if keep is not None and not keep.any():
            return
        count = decoded.columns.rows
        arrays = [self._column(name, decoded, count) for name in self._schema.names]
        rows = pa.RecordBatch.from_arrays(arrays, schema=self._schema)
        yield rows if keep is None else rows.filter(flags(keep))

    def _column(self, name: str, decoded: _Records, count: int) -> pa.Array:
        if name in RecordBuffers.DECODED:
            return decoded.columns.column(name)
        if name in self._constants:
            return self._constants.column(name, count)
        if name == "codec":
            codecs = decoded.of_batches("attributes") & CODEC_MASK
            return codec_names(decoded.of_records(codecs))
        if name == "batchBaseTimestamp":
            times = decoded.of_records(microseconds(decoded.of_batches("base_timestamp")))
            is_message = decoded.of_records(decoded.of_batches("magic") < MAGIC)
            return fixed_width(times, self._schema.field(name).type, null=is_message)
        if name == "transactionState":
            return state_names(decoded.of_records(self._states.of(_Columns(decoded))))
        values = decoded.of_records(_OF_BATCHES[name](decoded))
        kind = self._schema.field(name).type
        return flags(values) if kind == pa.bool_() else fixed_width(values, kind)

    def _kept(self, decoded: _Records, stop_position: int | None) -> NDArray[np.bool_] | None:
        """Which records are requested; None means all."""
        request, segment_slice = self._request, self._segment_slice
        tests: list[NDArray[np.bool_]] = []
        offset = decoded.columns.offset
        if stop_position is not None:
            tests.append(np.arange(len(offset)) < decoded.rows_before(stop_position))
        if segment_slice.from_offset > segment_slice.segment.base_offset:
            tests.append(offset >= segment_slice.from_offset)
        if segment_slice.to_offset is not None:
            tests.append(offset < segment_slice.to_offset)
        if isinstance(decoded.columns, RecordBuffers):  # else no times are requested
            timestamp = decoded.columns.timestamp
            if request.from_timestamp is not None:
                tests.append(timestamp >= _microseconds(request.from_timestamp))
            if request.to_timestamp is not None:
                tests.append(timestamp < _microseconds(request.to_timestamp))
        if not tests:
            return None
        keep: NDArray[np.bool_] = np.logical_and.reduce(tests)
        return None if keep.all() else keep


class _Columns:
    """The header columns of decoded batches that decide transactions."""

    def __init__(self, decoded: _Records) -> None:
        self.attributes = decoded.of_batches("attributes")
        self.magic = decoded.of_batches("magic")
        self.producer_id = decoded.of_batches("producer_id")
        self.last_offset = decoded.of_batches("last_offset")


def _microseconds(milliseconds: int) -> int:
    return min(max(milliseconds * 1000, -(2**63)), 2**63 - 1)
