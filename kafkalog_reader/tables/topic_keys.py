"""Which partitioner explains the partitions of a topic's keys, from a sample of distinct keys."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from kafkalog_reader.format.key_hashes import PARTITIONERS, hashes_of_keys, partitions_by
from kafkalog_reader.tables.record_hashes import hashes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

COLUMNS: Final = ("clusterId", "topic", "partition", "timestamp", "key")
"""Columns of the table ``records`` that are read."""
MOST: Final = 100_000
"""Keys kept of a topic; beyond it every second one is dropped, again and again."""
FITTING: Final = 0.9
"""Share of the keys that a partitioner must explain to be named."""
FEWEST: Final = 20
"""Keys that it takes to name one, or an earlier number of partitions."""
_LATEST: Final = int(np.iinfo(np.int64).max)
"""In the place of a timestamp that a record does not have."""


@dataclass(slots=True)
class KeysOfPartition:
    """What was counted in one partition; a run is of records without a key, one after another.

    ``first_timestamp`` is the least of all records, in microseconds; None if none has one.
    """

    records: int = 0
    first_timestamp: int | None = None
    null_keys: int = 0
    longest_null_run: int = 0
    _run: int = 0

    def add(self, is_null: np.ndarray) -> None:
        """Take which of the next records have no key."""
        self.records += len(is_null)
        self.null_keys += int(np.count_nonzero(is_null))
        borders = np.flatnonzero(np.diff(is_null.astype(np.int8), prepend=0, append=0))
        starts, stops = borders[::2], borders[1::2]
        runs = stops - starts
        if len(runs) and starts[0] == 0:
            runs[0] += self._run
        if len(runs):
            self.longest_null_run = max(self.longest_null_run, int(runs.max()))
        self._run = int(runs[-1]) if len(runs) and stops[-1] == len(is_null) else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """What explains the keys.

    Attributes:
        partitioner: one of ``PARTITIONERS``; None if none explains enough.
        keys: how many distinct keys were compared.
        outside: those that are elsewhere than the partitioner puts them, each with its partition
            and the expected one.
        scattered: how many are in several partitions.
        earlier: what explains keys that are outside; None if nothing does.
    """

    partitioner: str | None
    keys: int
    outside: tuple[tuple[bytes, int, int], ...]
    scattered: int
    earlier: Earlier | None = None


@dataclass(frozen=True, slots=True)
class Earlier:
    """The topic had fewer partitions before.

    Attributes:
        partitions: how many.
        keys: keys that are where the partitioner put them among so few.
        raised_at: microseconds of the first record in one of the later partitions; None: unknown.
    """

    partitions: int
    keys: int
    raised_at: int | None


@dataclass(slots=True)
class TopicKeys:
    """The keys of one topic.

    Attributes:
        by_partition: what was counted, by partition.
        one_in: which part of all keys is kept.
    """

    most: int = MOST
    by_partition: dict[int, KeysOfPartition] = field(default_factory=dict)
    one_in: int = 1
    _keys: dict[tuple[int, int], tuple[bytes, int]] = field(default_factory=dict)

    def look(self, rows: pa.RecordBatch) -> None:
        """Take records of one partition, in ``COLUMNS``."""
        partition = rows["partition"][0].as_py() or 0
        keys = rows["key"]
        is_null = keys.is_null().to_numpy(zero_copy_only=False)
        timestamps = rows["timestamp"].cast(pa.int64()).fill_null(_LATEST).to_numpy()
        of_partition = self.by_partition.setdefault(partition, KeysOfPartition())
        of_partition.add(is_null)
        least = int(timestamps.min(initial=_LATEST))
        if least < (of_partition.first_timestamp or _LATEST):
            of_partition.first_timestamp = least
        hashes = hashes_of(keys)
        wanted = np.flatnonzero(~is_null & (hashes % self.one_in == 0))
        distinct, first = np.unique(hashes[wanted], return_index=True)
        new = [
            (row, value)
            for row, value in zip(wanted[first].tolist(), distinct.tolist(), strict=True)
            if (value, partition) not in self._keys
        ]
        for row, value in new:
            self._keys[value, partition] = keys[row].as_py(), int(timestamps[row])
        while len(self._keys) > self.most:
            self.one_in *= 2
            self._keys = {
                place: key for place, key in self._keys.items() if place[0] % self.one_in == 0
            }

    def infer(self, partitions: int) -> Inference:
        """Find the partitioner that explains most keys of a topic with that many partitions.

        Keys that it does not explain may be where it put them when there were fewer partitions.
        """
        places = list(self._keys)
        keys = [key for key, _ in self._keys.values()]
        here = np.array([partition for _, partition in places], np.int64)
        partitions_of = Counter(value for value, _ in places)
        distinct = len(partitions_of)
        scattered = sum(count > 1 for count in partitions_of.values())
        best, expected, explained, earlier = None, here, -1, None
        if partitions > 1 and distinct >= FEWEST:
            for name in PARTITIONERS:
                hashes = hashes_of_keys(keys, name)
                found = partitions_by(hashes, name, partitions)
                before = self._earlier(hashes, name, here, found == here, partitions)
                count = int(np.count_nonzero(found == here)) + (before.keys if before else 0)
                if count > explained:
                    best, expected, explained, earlier = name, found, count, before
        if best is None or explained < FITTING * len(places):
            return Inference(partitioner=None, keys=distinct, outside=(), scattered=scattered)
        outside = tuple(
            (keys[row], int(here[row]), int(expected[row]))
            for row in np.flatnonzero(expected != here).tolist()
        )
        return Inference(
            partitioner=best, keys=distinct, outside=outside, scattered=scattered, earlier=earlier
        )

    def _earlier(
        self,
        hashes: NDArray[np.uint32],
        name: str,
        here: NDArray[np.int64],
        fits: NDArray[np.bool_],
        partitions: int,
    ) -> Earlier | None:
        """The smaller number of partitions that explains the keys which do not fit this one.

        Keys in partitions that were not there yet must fit, and the others must have been written
        before these partitions were, or some keys are only sent elsewhere on purpose.
        """
        left = np.flatnonzero(~fits)
        if len(left) < FEWEST:
            return None
        written = np.array([timestamp for _, timestamp in self._keys.values()], np.int64)
        best = None
        for number in range(partitions - 1, 0, -1):
            later = fits[here >= number]
            if len(later) < FEWEST or np.count_nonzero(later) < FITTING * len(later):
                continue
            raised_at = self._first_timestamp(range(number, partitions))
            is_old = partitions_by(hashes[left], name, number) == here[left]
            is_old &= written[left] <= raised_at
            count = int(np.count_nonzero(is_old))
            if count >= FITTING * len(left) and (best is None or count > best.keys):
                best = Earlier(number, count, None if raised_at == _LATEST else raised_at)
        return best

    def _first_timestamp(self, partitions: Sequence[int]) -> int:
        held = [self.by_partition[each] for each in partitions if each in self.by_partition]
        return min((e.first_timestamp for e in held if e.first_timestamp is not None),
                   default=_LATEST)  # fmt: skip
