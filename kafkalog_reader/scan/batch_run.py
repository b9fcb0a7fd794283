"""Record batches of one window, as columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.format.batch_fields import (
    CODEC_MASK,
    LAST_CODEC,
    LAST_MESSAGE_CODEC,
    LOG_APPEND_TIME_BIT,
    MAGIC,
)
from kafkalog_reader.format.offset_limits import MAX_OFFSET
from kafkalog_reader.kernel import codes, record_batches
from kafkalog_reader.scan.recycled_memory import allocate
from kafkalog_reader.scan.run_summary import RunSummary

if TYPE_CHECKING:
    from numpy.typing import NDArray


MAX_RUN: Final = 32_768
"""At most this many batches per run: their columns fit into a second-level cache."""

_WORTH_KEEPING: Final = 8
"""Columns filled to a smaller part are copied: that is cheaper than allocating new ones."""

_COLUMNS: Final = {
    "position": np.int64,
    "base_offset": np.int64,
    "last_offset": np.int64,
    "crc": np.int64,
    "crc_computed": np.int64,
    "base_timestamp": np.int64,
    "max_timestamp": np.int64,
    "producer_id": np.int64,
    "size_in_bytes": np.int32,
    "leader_epoch": np.int32,
    "last_offset_delta": np.int32,
    "base_sequence": np.int32,
    "records_count": np.int32,
    "attributes": np.int16,
    "producer_epoch": np.int16,
    "magic": np.int8,
}

_ALL_VALID: Final = np.ones(MAX_RUN, np.bool_)
_ALL_VALID.flags.writeable = False
_NEAR_THE_LAST_OFFSET: Final = MAX_OFFSET - 2**32
"""Above it, ``last_offset`` of a batch may be the base offset, because the sum overflows."""
_APART: Final = 256
"""Bytes between columns: with 2^n rows, all columns would compete for the same cache lines."""
_BYTES_A_BATCH: Final = sum(np.dtype(kind).itemsize for kind in _COLUMNS.values())


@dataclass(slots=True, eq=False)
class BatchRun:
    """Whole record batches found in one window, as columns of ``count`` entries.

    The attributes of messages (magic 0 and 1) keep only the bits that have a meaning. Where the
    records of a compressed one begin is unknown: ``base_offset`` is the lowest possible one,
    ``records_count`` the maximum, and ``base_timestamp`` -1.

    Attributes:
        buffer: the window; valid until the next run is requested. The columns stay.
        window_position: position in the file of ``buffer[0]``.
        position: in the file, of each batch.
        crc_computed: computed from the bytes; the stored CRC if the check was not requested.
    """

    buffer: memoryview
    window_position: int
    count: int
    position: NDArray[np.int64]
    base_offset: NDArray[np.int64]
    last_offset: NDArray[np.int64]
    crc: NDArray[np.int64]
    crc_computed: NDArray[np.int64]
    base_timestamp: NDArray[np.int64]
    max_timestamp: NDArray[np.int64]
    producer_id: NDArray[np.int64]
    size_in_bytes: NDArray[np.int32]
    leader_epoch: NDArray[np.int32]
    last_offset_delta: NDArray[np.int32]
    base_sequence: NDArray[np.int32]
    records_count: NDArray[np.int32]
    attributes: NDArray[np.int16]
    producer_epoch: NDArray[np.int16]
    magic: NDArray[np.int8]
    _all_valid: bool | None = field(default=None, init=False)
    _crc_valid: NDArray[np.bool_] | None = field(default=None, init=False)
    _summary: RunSummary | None = field(default=None, init=False)
    _leader_epoch_starts: list[int] | None = field(default=None, init=False)

    @classmethod
    def with_room(cls, buffer: memoryview, window_position: int, capacity: int) -> BatchRun:
        """A run with columns to fill."""
        room = allocate(capacity * _BYTES_A_BATCH + len(_COLUMNS) * _APART)
        columns, at = {}, 0
        for name, kind in _COLUMNS.items():
            columns[name] = np.frombuffer(room, kind, capacity, at)
            at += capacity * np.dtype(kind).itemsize + _APART
        return cls(buffer, window_position, capacity, **columns)

    @property
    def has_known_codec(self) -> NDArray[np.bool_]:
        """True where a consumer can decompress; messages have fewer codecs than batches."""
        codec = self.attributes & CODEC_MASK
        known: NDArray[np.bool_] = codec <= LAST_CODEC
        if self.magic.min(initial=MAGIC) < MAGIC:
            known &= (codec <= LAST_MESSAGE_CODEC) | (self.magic >= MAGIC)
        return known

    @property
    def is_wrapper(self) -> NDArray[np.bool_]:
        """True for messages that hold compressed messages."""
        wrapper: NDArray[np.bool_] = (self.magic < 2) & ((self.attributes & CODEC_MASK) != 0)
        return wrapper

    @property
    def timestamp_type(self) -> NDArray[np.int32]:
        """-1 in magic 0, else 0 CreateTime or 1 LogAppendTime."""
        types = ((self.attributes & LOG_APPEND_TIME_BIT) >> 3).astype(np.int32)
        without = (self.magic < 2) & ((self.attributes & codes.NO_TIMESTAMP_TYPE) != 0)
        return np.where(without, np.int32(-1), types) if without.any() else types

    @property
    def summary(self) -> RunSummary:
        """What all of its batches have in common; the run must not be empty."""
        if self._summary is None:
            found = record_batches.summarize_batches(self, self.count)
            self._summary = RunSummary._make(found)
        return self._summary

    @property
    def crc_valid(self) -> NDArray[np.bool_]:
        """True where the stored CRC matches the bytes; read-only."""
        if self._crc_valid is None:
            if self.count <= len(_ALL_VALID) and self.all_valid:
                self._crc_valid = _ALL_VALID[: self.count]
            else:
                self._crc_valid = self.crc == self.crc_computed
        return self._crc_valid

    @property
    def all_valid(self) -> bool:
        """Whether the CRCs of all batches are valid."""
        if self._all_valid is None:
            self._all_valid = self.count == 0 or self.summary.valid == self.count
        return self._all_valid

    @property
    def is_row(self) -> bool:
        """Whether nothing is missing, so that the first and last batch give all offsets.

        Then every batch is of magic 2 with a correct CRC, begins at the offset where the one
        before it ends, and has as many records as offsets.
        """
        if self.count == 0:
            return False
        all_of_them = self.summary
        return bool(
            all_of_them.valid == self.count
            and all_of_them.leads_on
            and all_of_them.is_full
            and all_of_them.least_magic == all_of_them.greatest_magic == MAGIC
            and all_of_them.least_base_offset >= 0
            and self.last_offset[-1] < _NEAR_THE_LAST_OFFSET
        )

    @property
    def leader_epoch_starts(self) -> list[int]:
        """The first batch, and each whose leader epoch is not that of the batch before it."""
        if self.summary.is_one_epoch:
            return [0]
        if self._leader_epoch_starts is None:
            changes = np.flatnonzero(self.leader_epoch[1:] != self.leader_epoch[:-1]) + 1
            self._leader_epoch_starts = [0, *changes.tolist()]
        return self._leader_epoch_starts

    def held_records(self, part: slice) -> NDArray[np.int64]:
        """How many records some batches hold by their headers, at most as many as offsets.

        The count in a damaged batch may be any number.
        """
        offsets = self.last_offset_delta[part].astype(np.int64) + 1
        held: NDArray[np.int64] = np.minimum(np.maximum(self.records_count[part], 0), offsets)
        return np.maximum(held, 0)

    def begin_first_at(self, base_offset: int) -> None:
        """Set where the records of the first batch begin, of which only the end was known."""
        delta = int(self.last_offset[0]) - base_offset
        self.base_offset[0] = base_offset
        self.last_offset_delta[0] = delta
        self.records_count[0] = delta + 1

    def move(self, number: int, base_offset: int) -> None:
        """Treat a batch as one with another base offset; its bytes do not change."""
        self.base_offset[number] = base_offset
        self.last_offset[number] = base_offset + int(self.last_offset_delta[number])
        self._summary = None

    def taken(self, which: NDArray[np.intp] | slice) -> BatchRun:
        """The same window with only these batches."""
        columns = {name: getattr(self, name)[which] for name in _COLUMNS}
        return BatchRun(self.buffer, self.window_position, len(columns["position"]), **columns)

    def first(self, count: int, valid: int) -> tuple[BatchRun, BatchRun | None]:
        """The first batches; the columns may be filled again if only a few were used.

        Args:
            count: how many were filled.
            valid: how many have a correct CRC.
        """
        rest: BatchRun | None = None
        if count >= self.count // _WORTH_KEEPING:
            run = self.taken(slice(0, count))
        else:
            columns = {name: getattr(self, name)[:count].copy() for name in _COLUMNS}
            run, rest = BatchRun(self.buffer, self.window_position, count, **columns), self
        run._all_valid = valid == count
        return run, rest
