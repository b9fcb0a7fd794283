"""Which partitioner explains the partitions of a topic's keys, from a sample of distinct keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.format.key_hashes import PARTITIONERS, partitions_of
from kafkalog_reader.tables.record_hashes import hashes_of

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS: Final = ("clusterId", "topic", "partition", "key")
"""Columns of the table ``records`` that are read."""
MOST: Final = 100_000
"""Keys kept of a topic; beyond it every second one is dropped, again and again."""
FITTING: Final = 0.9
"""Share of the keys that a partitioner must explain to be named."""
FEWEST: Final = 20
"""Keys that it takes to name one."""


@dataclass(slots=True)
class KeysOfPartition:
    """What was counted in one partition; a run is of records without a key, one after another."""

    records: int = 0
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
    """

    partitioner: str | None
    keys: int
    outside: tuple[tuple[bytes, int, int], ...]
    scattered: int


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
    _keys: dict[tuple[int, int], bytes] = field(default_factory=dict)

    def look(self, rows: pa.RecordBatch) -> None:
        """Take records of one partition, in ``COLUMNS``."""
        partition = rows["partition"][0].as_py() or 0
        keys = rows["key"]
        is_null = keys.is_null().to_numpy(zero_copy_only=False)
        self.by_partition.setdefault(partition, KeysOfPartition()).add(is_null)
        hashes = hashes_of(keys)
        wanted = np.flatnonzero(~is_null & (hashes % self.one_in == 0))
        distinct, first = np.unique(hashes[wanted], return_index=True)
        new = [
            (row, value)
            for row, value in zip(wanted[first].tolist(), distinct.tolist(), strict=True)
            if (value, partition) not in self._keys
        ]
        for row, value in new:
            self._keys[value, partition] = keys[row].as_py()
        while len(self._keys) > self.most:
            self.one_in *= 2
            self._keys = {
                place: key for place, key in self._keys.items() if place[0] % self.one_in == 0
            }

    def infer(self, partitions: int) -> Inference:
        """Find the partitioner that explains most keys of a topic with that many partitions."""
        places = list(self._keys)
        keys = [self._keys[place] for place in places]
        here = np.array([partition for _, partition in places], np.int64)
        distinct = len({value for value, _ in places})
        scattered = len(places) - distinct
        best, expected, hits = None, here, -1
        if partitions > 1 and distinct >= FEWEST:
            for name in PARTITIONERS:
                found = partitions_of(keys, name, partitions)
                count = int(np.count_nonzero(found == here))
                if count > hits:
                    best, expected, hits = name, found, count
        if best is None or hits < FITTING * len(places):
            return Inference(partitioner=None, keys=distinct, outside=(), scattered=scattered)
        outside = tuple(
            (keys[row], int(here[row]), int(expected[row]))
            for row in np.flatnonzero(expected != here).tolist()
        )
        return Inference(partitioner=best, keys=distinct, outside=outside, scattered=scattered)
