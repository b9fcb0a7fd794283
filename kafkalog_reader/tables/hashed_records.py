"""The records of a run of batches as offsets and hashes of what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa

from kafkalog_reader.decode.record_decoder import RecordDecoder
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.format.batch_fields import MAGIC
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.tables.record_hashes import CREATE_TIME, content_hashes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from kafkalog_reader.decode.record_decoder import DecodedRecords
    from kafkalog_reader.scan.batch_run import BatchRun
    from kafkalog_reader.scan.segment_slice import SegmentSlice

_DECODED: Final = ("key", "value", "headers", "timestamp")
_WANTED: Final = frozenset(("offset", *_DECODED))


class HashedRecords(NamedTuple):
    """Records, each with the leader epoch of its batch and a hash of its content."""

    offset: NDArray[np.int64]
    leader_epoch: NDArray[np.int32]
    content: NDArray[np.int64]

    def since(self, offset: int) -> HashedRecords:
        """Those from an offset on."""
        kept = self.offset >= offset
        return HashedRecords(self.offset[kept], self.leader_epoch[kept], self.content[kept])


NO_RECORDS: Final = HashedRecords(
    np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int64)
)


def hashed_records(run: BatchRun, segment_slice: SegmentSlice) -> HashedRecords | None:
    """Decode a run; None if one of its batches is of an old format or cannot be decoded."""
    if (run.magic != MAGIC).any() or not run.has_known_codec.all():
        return None
    decoder = RecordDecoder(_WANTED, segment_slice, Damage(Mode.FAILFAST))
    try:
        return joined_records(_hashed(part) for part in (*decoder.add(run), *decoder.flush()))
    except LocatedError:
        return None


def joined_records(parts: Iterable[HashedRecords]) -> HashedRecords:
    """The records of several parts, in their order."""
    found = [NO_RECORDS, *parts]
    return HashedRecords(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _hashed(decoded: DecodedRecords) -> HashedRecords:
    columns = decoded.columns
    arrays = [columns.column(name) for name in _DECODED]
    times = pa.array(np.full(columns.rows, CREATE_TIME, np.int32))
    rows = pa.RecordBatch.from_arrays([*arrays, times], [*_DECODED, "timestampType"])
    epochs = decoded.of_records(decoded.of_batches("leader_epoch"))
    return HashedRecords(np.array(columns.offset), epochs, content_hashes(rows))
