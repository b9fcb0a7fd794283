"""Log files of one partition that have each other's names, as the offsets of their batches show."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING

from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.format.batch_fields import UP_TO_MAGIC
from kafkalog_reader.format.offset_limits import MAX_OFFSET
from kafkalog_reader.io.interrupted_swap import read_next_offset
from kafkalog_reader.io.window import Windows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.io.segment_files import SegmentFiles


def exchanged_logs(found: Sequence[SegmentFiles], context: ReadContext) -> Mapping[int, int]:
    """The base offset in the name of each such file, and that of the segment which it holds.

    The files in the order of their first batches must fill the names in the order of theirs: each
    begins and ends between its new name and the next one. Nothing is concluded otherwise, or where
    a file cannot be read.

    Args:
        found: the segments of one partition directory, by base offset.
        context: how they are read.
    """
    if any(each.targets or each.suffix for each in found):  # links, remote segments, a swap
        return MappingProxyType({})
    try:
        firsts = {each: _first_offset(each, context) for each in found if each.log_size}
        held = sorted(
            (first, each.base_offset, each) for each, first in firsts.items() if first is not None
        )
        names = sorted(name for _, name, _ in held)
        following = dict(pairwise([*(each.base_offset for each in found), MAX_OFFSET]))
        exchanged: dict[int, int] = {}
        for name, (first, base, segment) in zip(names, held, strict=True):
            if name == base:
                continue
            end = read_next_offset(segment, context)
            if not name <= first < end <= following[name]:
                return MappingProxyType({})
            exchanged[base] = name
    except UnreadableFileError:  # whoever reads the log reports it
        return MappingProxyType({})
    return MappingProxyType(exchanged)


def with_right_names(
    found: Sequence[SegmentFiles], context: ReadContext
) -> tuple[SegmentFiles, ...]:
    """The segments, each with the log file that holds it; indexes are taken by their names."""
    exchanged = exchanged_logs(found, context)
    if not exchanged:
        return tuple(found)
    holding = {exchanged[each.base_offset]: each for each in found if each.base_offset in exchanged}
    return tuple(
        replace(
            each,
            log_size=holding[each.base_offset].log_size,
            targets=(("log", holding[each.base_offset].path("log")),),
        )
        if each.base_offset in holding
        else each
        for each in found
    )


def _first_offset(segment: SegmentFiles, context: ReadContext) -> int | None:
    """The base offset of the first batch, or of the first message; None if there is none."""
    with Windows(segment.path("log"), size=UP_TO_MAGIC.size, context=context) as windows:
        window = windows.read(0)
        if len(window) < UP_TO_MAGIC.size:
            return None
        base_offset, length, _, _ = UP_TO_MAGIC.unpack_from(window, 0)
    return int(base_offset) if length > 0 and base_offset >= 0 else None
