"""Batches of a segment by their offsets: chains without a gap, and columns of single batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.format.batch_fields import MAGIC
from kafkalog_reader.tables.restored_offsets import restored_offsets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from kafkalog_reader.scan.batch_run import BatchRun


@dataclass(slots=True)
class OffsetChain:
    """Adjacent batches with consecutive offsets."""

    position: int
    end_position: int
    base_offset: int
    last_offset: int
    batches: int

    def is_continued_by(self, other: OffsetChain) -> bool:
        """Whether another one follows at once, in the file and in its offsets."""
        return other.position == self.end_position and other.base_offset == self.last_offset + 1

    def extend(self, other: OffsetChain) -> None:
        """Take one that continues it."""
        self.end_position, self.last_offset = other.end_position, other.last_offset
        self.batches += other.batches


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetColumns:
    """Every batch of a segment, 29 bytes each."""

    position: NDArray[np.int64]
    size: NDArray[np.int64]
    base_offset: NDArray[np.int64]
    last_offset: NDArray[np.int64]
    magic: NDArray[np.int8]

    @classmethod
    def of(cls, runs: Iterable[BatchRun]) -> OffsetColumns:
        parts = [
            (r.position.copy(), r.size_in_bytes.astype(np.int64), r.base_offset.copy(),
             _last_offsets(r), r.magic.copy())
            for r in runs
        ]  # fmt: skip
        position, size, base, last, magic = (
            np.concatenate(each) for each in zip(*parts, strict=True)
        )
        return cls(position=position, size=size, base_offset=base, last_offset=last, magic=magic)

    def restored(self, start: int, stop: int | None) -> list[tuple[int, int, int]]:
        """See ``restored_offsets``; of messages, the stored offset may be that of the last one."""
        if self.magic.min() < MAGIC:
            return []
        return restored_offsets(self.base_offset, self.last_offset, start, stop)

    def chains(self, kept: NDArray[np.bool_]) -> list[OffsetChain]:
        """The chains of the batches that are kept."""
        found: list[OffsetChain] = []
        rows = np.flatnonzero(kept)
        for row in rows.tolist():
            end = int(self.position[row] + self.size[row])
            chain = OffsetChain(
                int(self.position[row]), end, int(self.base_offset[row]),
                int(self.last_offset[row]), 1,
            )  # fmt: skip
            if found and found[-1].is_continued_by(chain):
                found[-1].extend(chain)
            else:
                found.append(chain)
        return found


def _last_offsets(run: BatchRun) -> NDArray[np.int64]:
    """As the headers have them, also where the base offset is negative."""
    return np.where(
        run.magic < MAGIC, run.last_offset, run.base_offset + run.last_offset_delta.astype(np.int64)
    )
