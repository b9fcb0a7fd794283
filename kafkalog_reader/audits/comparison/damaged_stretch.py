"""Compares many batches at once that have equal bounds on all copies and differ by damage only.

A failed disk can damage every second batch of a copy. Compared one by one, each of them would take
longer than reading a thousand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.audits.comparison.difference import Difference, DifferenceKind
from kafkalog_reader.audits.comparison.equal_batches import FEW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from kafkalog_reader.audits.log.batch_stream import BatchStream
    from kafkalog_reader.audits.log.replica import Replica

_FRAME: Final = ("base_offset", "last_offset", "leader_epoch", "size_in_bytes")


@dataclass(frozen=True, slots=True, eq=False)
class DamagedStretch:
    """The next batches of several streams, as arrays indexed by stream and batch.

    Attributes:
        streams: the streams.
        alike: the index of the first stream that has the same bytes.
        intact: whether the CRC is valid.
        differs: for each batch, whether the streams have different bytes.
    """

    streams: Sequence[BatchStream]
    alike: NDArray[np.int64]
    intact: NDArray[np.bool_]
    differs: NDArray[np.bool_]

    @property
    def count(self) -> int:
        """Number of batches."""
        return len(self.differs)

    def first(self, count: int) -> DamagedStretch:
        """The first ``count`` batches."""
        return replace(
            self,
            alike=self.alike[:, :count],
            intact=self.intact[:, :count],
            differs=self.differs[:count],
        )

    def intact_on(self, ahead: int, present: Sequence[Replica]) -> tuple[Replica, ...]:
        """The streams, by their names in ``present``, on which the CRC of one batch is valid."""
        return tuple(name for name, ok in zip(present, self.intact[:, ahead], strict=True) if ok)

    def holders(
        self, ahead: NDArray[np.intp], present: Sequence[Replica]
    ) -> tuple[list[tuple[Replica, ...]], NDArray[np.int32]]:
        """The distinct sets of streams that have a batch intact, and for each batch its set."""
        sets, first, number = np.unique(
            self.intact[:, ahead], axis=1, return_index=True, return_inverse=True
        )
        del sets
        found = [self.intact_on(int(each), present) for each in ahead[first]]
        return found, number.reshape(-1).astype(np.int32)

    def differences(
        self, present: Sequence[Replica], is_wanted: Callable[[DifferenceKind, int], bool]
    ) -> Iterator[Difference]:
        """Yield the differences; adjacent batches that differ in the same way become one.

        Args:
            present: the replica of each stream.
            is_wanted: called with the kind and the first offset.
        """
        part = slice(self.streams[0].index, self.streams[0].index + self.count)
        base_offset = self.streams[0].run.base_offset[part]
        last_offset = self.streams[0].run.last_offset[part]
        records = np.maximum.reduce(
            [s.run.held_records(slice(s.index, s.index + self.count)) for s in self.streams]
        )
        for start, stop in self._ranges(base_offset[1:] == last_offset[:-1] + 1):
            if not is_wanted(DifferenceKind.DAMAGED, int(base_offset[start])):
                continue
            contents: dict[int, list[Replica]] = {}
            for number, name in zip(self.alike[:, start].tolist(), present, strict=True):
                contents.setdefault(number, []).append(name)
            intact = self.intact_on(start, present)
            yield Difference(
                kind=DifferenceKind.DAMAGED,
                first_offset=int(base_offset[start]),
                next_offset=int(last_offset[stop - 1]) + 1,
                batches=stop - start,
                records=int(records[start:stop].sum()),
                contents=tuple(map(tuple, contents.values())),
                damaged=tuple(name for name in present if name not in intact),
            )

    def _ranges(self, leads_on: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
        """Yield [start, stop) of adjacent batches that differ in the same way, without gaps."""
        changes = np.ones(self.count + 1, np.bool_)
        changes[1:-1] = (
            (self.alike[:, 1:] != self.alike[:, :-1]).any(axis=0)
            | (self.intact[:, 1:] != self.intact[:, :-1]).any(axis=0)
            | ~leads_on
        )
        for start, stop in pairwise(np.flatnonzero(changes).tolist()):
            if self.differs[start]:
                yield start, stop

    def sources(self) -> Iterator[tuple[int, int, int]]:
        """Yield [start, stop) and a stream that is intact there, if there is one."""
        first_intact = np.where(self.intact.any(axis=0), np.argmax(self.intact, axis=0), 0)
        differing = np.flatnonzero(self.differs)
        source = first_intact[differing]
        turns = np.flatnonzero(source[1:] != source[:-1]) + 1
        borders = [0, *differing[turns].tolist(), self.count]
        chosen = source[[0, *turns]].tolist() if len(source) else [0]
        for (start, stop), number in zip(pairwise(borders), chosen, strict=True):
            yield start, stop, number


def damaged_stretch(streams: Sequence[BatchStream], most: int) -> DamagedStretch:
    """Compare batches from the current one up to the first difference of another kind.

    Args:
        streams: at least two, each with that many batches in its window.
        most: maximum number of batches to compare.
    """
    if any(stream.is_restored for stream in streams):
        most = 0
    size = min(FEW, most)
    while True:
        stretch = _stretch(streams, size)
        if stretch.count < size or size == most:
            return stretch
        size = min(FEW * size, most)


def _stretch(streams: Sequence[BatchStream], most: int) -> DamagedStretch:
    count = _framed_alike(streams, most)
    alike = np.repeat(np.arange(len(streams))[:, np.newaxis], count, axis=1)
    intact = np.array([s.crc_valid[s.index : s.index + count] for s in streams])
    if count:
        position = streams[0].run.position[streams[0].index : streams[0].index + count]
        contents = [np.frombuffer(stream.bytes_of(count), np.uint8) for stream in streams]
        for later, earlier in combinations(reversed(range(len(streams))), 2):
            unequal = contents[later] != contents[earlier]
            alike[later][~np.logical_or.reduceat(unequal, position - position[0])] = earlier
    differs = (alike != 0).any(axis=0)
    highest = np.where(intact, alike, -1).max(axis=0)
    lowest = np.where(intact, alike, len(streams)).min(axis=0)
    explained = ~differs | (highest <= lowest)  # none is intact, or all intact ones are equal
    found = DamagedStretch(streams, alike, intact, differs)
    return found if explained.all() else found.first(int(np.argmin(explained)))


def _framed_alike(streams: Sequence[BatchStream], most: int) -> int:
    first, *others = streams
    part = slice(first.index, first.index + most)
    same = np.ones(most, np.bool_)
    for other in others:
        its = slice(other.index, other.index + most)
        for name in _FRAME:
            same &= getattr(first.run, name)[part] == getattr(other.run, name)[its]
    return most if same.all() else int(np.argmin(same))
