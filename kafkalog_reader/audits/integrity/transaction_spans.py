"""From which offset to which marker each transaction of a log goes, as its batches show it.

Source: Kafka 4.0, ProducerAppendInfo, ProducerStateManager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kafkalog_reader.decode.control_type import ABORT, COMMIT, NO_TYPE, control_types
from kafkalog_reader.format.batch_fields import CONTROL_BIT, TRANSACTIONAL_BIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kafkalog_reader.scan.batch_run import BatchRun

NONE: Final = -1
ENDED: Final = np.dtype(
    [("producer_id", "i8"), ("offset", "i8"), ("first_offset", "i8"), ("type", "i2")]
)
"""A marker; ``first_offset`` of its transaction, -1 if no data of it is in the log."""


class TransactionSpans:
    """Follows the transactions of one log, run by run.

    Attributes:
        open: the first offset of each transaction that is open now, by producer id.
    """

    def __init__(self) -> None:
        self.open: dict[int, int] = {}

    def follow(self, run: BatchRun) -> NDArray[Any]:
        """The transactions that end in a run, as ``ENDED``, while its window is valid.

        A stretch is a marker, or all of a producer's data between two markers.
        """
        attributes = run.attributes
        is_ours = (attributes & TRANSACTIONAL_BIT != 0) & (run.producer_id >= 0)
        rows = np.flatnonzero(is_ours)
        types = np.full(len(rows), NO_TYPE, np.int16)
        is_control = attributes[rows] & CONTROL_BIT != 0
        types[is_control] = control_types(run, rows[is_control])
        is_marker = (types == ABORT) | (types == COMMIT)
        kept = is_marker | ~is_control
        rows, types, is_marker = rows[kept], types[kept], is_marker[kept]
        if not len(rows):
            return np.empty(0, ENDED)
        order = np.argsort(run.producer_id[rows], kind="stable")
        rows, types, is_marker = rows[order], types[order], is_marker[order]
        producers, offsets = run.producer_id[rows], run.base_offset[rows].astype(np.int64)
        is_first = np.append(True, producers[1:] != producers[:-1])
        begins = is_first | is_marker
        begins[1:] |= is_marker[:-1]
        producers, offsets, types = producers[begins], offsets[begins], types[begins]
        is_first, is_marker = is_first[begins], is_marker[begins]
        began = np.where(is_marker, NONE, offsets)
        firsts = np.flatnonzero(is_first)
        before = [self.open.get(each, NONE) for each in producers[firsts].tolist()]
        carried = np.array(before, np.int64)
        began[firsts] = np.where(carried != NONE, carried, began[firsts])
        data = np.append(NONE, began[:-1])  # of the stretch before each marker
        data[1:][is_marker[:-1]] = NONE
        data[firsts] = carried
        lasts = np.append(firsts[1:], len(producers)) - 1
        ends = zip(producers[lasts].tolist(), is_marker[lasts].tolist(), began[lasts].tolist(),
                   strict=True)  # fmt: skip
        for producer_id, is_closed, first in ends:
            if is_closed:
                self.open.pop(producer_id, None)
            else:
                self.open[producer_id] = first
        ended = np.empty(int(is_marker.sum()), ENDED)
        ended["producer_id"], ended["offset"] = producers[is_marker], offsets[is_marker]
        ended["first_offset"], ended["type"] = data[is_marker], types[is_marker]
        return ended
