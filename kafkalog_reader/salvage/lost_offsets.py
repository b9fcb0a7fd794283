"""Offsets that a copy should hold and does not, as checkpoints and neighbours show."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.salvage.counts import first_offsets
from kafkalog_reader.salvage.left_out import NotedDamage
from kafkalog_reader.salvage.offset_coverage import LostOffsets
from kafkalog_reader.salvage.readable_batches import ReadableBatches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.salvage.survey import Survey
    from kafkalog_reader.scan.expected_end import ExpectedEnds
    from kafkalog_reader.tables.request import ReadRequest


def lost_offsets(
    directory: PartitionDirectory,
    source: ReadableBatches,
    found: Survey,
    expected: ExpectedEnds,
    damaged: Iterable[int] = (),
) -> list[LostOffsets]:
    """What is missing between the offsets asked for: at both ends, and between batches.

    Args:
        directory: the copy; its log directory was prepared for ``expected``.
        source: its readable batches.
        found: what was found in them.
        expected: where the log must reach.
        damaged: offsets of places that could not be read. Compaction explains no gap there.
    """
    lost = []
    if found.may_be_cleaned:
        lost = list(_at_damage(found, damaged))
    if not found.may_be_cleaned:
        lost = [
            LostOffsets(
                first_offset=first,
                next_offset=last + 1,
                why="no readable batch is there, and nothing shows compaction",
            )
            for first, last in found.read.missing_ranges
        ]
        begin, first = max((source.base_offsets or [0])[0], source.from_offset), found.read.first
        if first is not None and first > begin:
            why = f"no readable batch is there, and the log begins at {begin}"
            lost.insert(0, LostOffsets(first_offset=begin, next_offset=first, why=why))
    last = found.read.last
    end = last + 1 if last is not None else (source.base_offsets or [0])[0]
    must = expected.of_log(directory)
    if must is not None and must.next_offset > end:
        why = f"the checkpointed {must.what} is {must.next_offset}, the readable log ends at {end}"
        lost.append(LostOffsets(first_offset=end, next_offset=must.next_offset, why=why))
    return list(_in_range(lost, source.from_offset, source.to_offset))


def _at_damage(found: Survey, damaged: Iterable[int]) -> Iterator[LostOffsets]:
    """Gaps of a compacted log from the first damaged place in them on."""
    offsets = sorted({*damaged})
    for first, last in found.read.missing_ranges:
        place = bisect_left(offsets, first)
        if place < len(offsets) and offsets[place] <= last:
            yield LostOffsets(
                first_offset=offsets[place],
                next_offset=last + 1,
                why="the batch there is damaged, and no readable one is there",
            )


def held_elsewhere(
    lost: Sequence[LostOffsets], others: Sequence[PartitionDirectory], request: ReadRequest
) -> list[LostOffsets]:
    """The same offsets; each range also says which other copies have readable batches there."""
    if not lost:
        return []
    asked = replace(
        request,
        from_offset=min(each.first_offset for each in lost),
        to_offset=max(each.next_offset for each in lost),
    )
    held: dict[LostOffsets, list[str]] = {each: [] for each in lost}
    for other in others:
        silent = NotedDamage.silent()
        try:
            batches = ReadableBatches(other, asked, silent, whole_log=False)
        except LocatedError:  # the choice of the copy reported it
            continue
        counts = dict.fromkeys(lost, 0)
        for readable in batches.read(no_progress, silent):
            firsts, nexts = first_offsets(readable), readable.run.last_offset + 1
            for each in lost:
                overlap = np.minimum(nexts, each.next_offset) - np.maximum(
                    firsts, each.first_offset
                )
                counts[each] += int(overlap[overlap > 0].sum())
        for each, count in counts.items():
            if count:
                some = "" if count >= each.next_offset - each.first_offset else " (some of them)"
                held[each].append(f"{other.replica_name}{some}")
    return [replace(each, held_by=tuple(names)) for each, names in held.items()]


def _in_range(
    lost: list[LostOffsets], from_offset: int, to_offset: int | None
) -> Iterator[LostOffsets]:
    for each in lost:
        first = max(each.first_offset, from_offset)
        stop = each.next_offset if to_offset is None else min(each.next_offset, to_offset)
        if first < stop:
            yield LostOffsets(first_offset=first, next_offset=stop, why=each.why)
