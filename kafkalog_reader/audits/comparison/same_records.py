"""Compares the records of copies of one batch at the offsets that they share.

Each broker cleans its copy of a compacted log at its own times, so copies of one batch may keep
different records of it: in a sound log many batches differ.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa

from kafkalog_reader.decode.record_decoder import RecordDecoder
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.format.batch_fields import MAGIC
from kafkalog_reader.scan.damage import Damage, Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kafkalog_reader.audits.log.batch_stream import BatchStream

_CONTENT: Final = ("timestamp", "key", "value", "headers")
"""Without the deltas: a delete horizon changes the base timestamp."""
_WANTED: Final = frozenset(("offset", *_CONTENT))


class _Records(NamedTuple):
    offset: NDArray[np.int64]
    content: pa.RecordBatch | None
    """None without records."""


def records_agree(streams: Sequence[BatchStream]) -> bool | None:
    """Compare the current batches; None if one of them cannot be decoded in bulk."""
    found = [_decoded(stream) for stream in streams]
    decoded = [records for records in found if records is not None]
    if len(decoded) < len(found):
        return None
    return all(_agree(one, other) for one, other in combinations(decoded, 2))


def _decoded(stream: BatchStream) -> _Records | None:
    run = stream.run.taken(slice(stream.index, stream.index + 1))
    if run.magic[0] != MAGIC or not run.has_known_codec[0]:
        return None
    decoder = RecordDecoder(_WANTED, stream.segment_slice, Damage(Mode.FAILFAST))
    try:
        parts = [part.columns for part in (*decoder.add(run), *decoder.flush())]
    except LocatedError:
        return None
    if not parts:
        return _Records(np.empty(0, np.int64), None)
    (columns,) = parts  # one batch always fits
    offset = columns.offset
    if not (offset[1:] > offset[:-1]).all():
        return None
    arrays = [columns.column(name) for name in _CONTENT]
    return _Records(offset, pa.RecordBatch.from_arrays(arrays, list(_CONTENT)))


def _agree(one: _Records, other: _Records) -> bool:
    if one.content is None or other.content is None:
        return True
    if np.array_equal(one.offset, other.offset):
        return bool(one.content.equals(other.content))
    _, ours, theirs = np.intersect1d(
        one.offset, other.offset, assume_unique=True, return_indices=True
    )
    return bool(one.content.take(pa.array(ours)).equals(other.content.take(pa.array(theirs))))
