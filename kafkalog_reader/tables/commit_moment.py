"""Which offset commits counted at an earlier moment.

A commit in a transaction counts from the transaction's marker on, which may be later.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_reader.io.names import OFFSETS_TOPIC
from kafkalog_reader.tables.internal_topic import log_request, record_schema
from kafkalog_reader.tables.record_rows import read_slice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafkalog_reader.io.progress import Progress
    from kafkalog_reader.tables.as_of import AsOf
    from kafkalog_reader.tables.log_unit import LogUnit
    from kafkalog_reader.tables.request import ReadRequest

_MARKERS: Final = record_schema(("producerId", "offset", "timestamp", "controlType"))


class CommitMoment:
    """A moment in one copy of a partition of ``__consumer_offsets``; markers are read if needed."""

    def __init__(
        self, as_of: AsOf, unit: LogUnit, request: ReadRequest, progress: Progress
    ) -> None:
        self._as_of = as_of
        self._unit = unit
        self._request = request
        self._progress = progress
        self._markers: Mapping[int, Sequence[tuple[int, bool]]] | None = None

    def counted(self, commits: pa.RecordBatch) -> pa.RecordBatch:
        """The commits that counted then, of some that count now.

        Args:
            commits: rows with ``recordOffset``, ``recordTimestamp``, ``producerId`` and
                ``transactionState``.

        Raises:
            LocatedError: damage, in mode ``FAILFAST``.
            UnreadableFileError: a file cannot be opened or read.
        """
        covered = _covered(self._as_of, commits["recordOffset"], commits["recordTimestamp"])
        commits = commits.filter(covered)
        is_transactional = pc.equal(commits["transactionState"], "committed")
        rows = np.flatnonzero(is_transactional.to_numpy(zero_copy_only=False))
        if not len(rows):
            return commits
        if self._markers is None:
            self._markers = self._read_markers()
        keep = np.ones(len(commits), np.bool_)
        decided = commits.select(["producerId", "recordOffset"]).take(pa.array(rows))
        for row, each in zip(rows.tolist(), decided.to_pylist(), strict=True):
            markers = self._markers.get(each["producerId"], ())
            place = bisect_right(markers, (each["recordOffset"], True))
            keep[row] = place == len(markers) or markers[place][1]
        return commits.filter(pa.array(keep))

    def _read_markers(self) -> dict[int, list[tuple[int, bool]]]:
        """By producer: the offset of each of its markers, and whether it was there."""
        found = defaultdict(list)
        log = replace(log_request(self._request, OFFSETS_TOPIC), include_control_records=True)
        for segment_slice in self._unit.slices:
            for rows in read_slice(segment_slice, _MARKERS, log, log.damage, self._progress):
                markers = rows.filter(pc.is_valid(rows["controlType"]))
                covered = _covered(self._as_of, markers["offset"], markers["timestamp"])
                for producer_id, offset, is_there in zip(
                    markers["producerId"].to_pylist(), markers["offset"].to_pylist(),
                    covered.to_pylist(), strict=True,
                ):  # fmt: skip
                    found[producer_id].append((offset, is_there))
        return {producer_id: sorted(markers) for producer_id, markers in found.items()}


def _covered(as_of: AsOf, offsets: pa.Int64Array, timestamps: pa.TimestampArray) -> pa.Array:
    """``AsOf.covers`` of many records."""
    if as_of.offset is not None:
        return pc.less_equal(offsets, as_of.offset)
    assert as_of.timestamp is not None
    milliseconds = np.floor_divide(
        timestamps.cast(pa.int64()).fill_null(np.iinfo(np.int64).min).to_numpy(), 1000
    )
    return pa.array(milliseconds <= as_of.timestamp)
