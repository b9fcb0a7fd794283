"""Leftovers: log files and folders that a broker renamed before it deletes or replaces them.

No broker serves their records. A start deletes ``.deleted`` and ``.cleaned`` files, and the old
segments that ``.swap`` files replace. Source: Kafka 4.4, LogFileUtils, UnifiedLog and LogLoader.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import LocatedError, OptionError
from kafkalog_reader.tables.log_unit import packed
from kafkalog_reader.tables.request import READ_COMMITTED, Until
from kafkalog_reader.tables.segment_unit import whole_segments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.scan.damage import Damage
    from kafkalog_reader.scan.segment_slice import SegmentSlice
    from kafkalog_reader.tables.log_unit import LogUnit
    from kafkalog_reader.tables.request import ReadRequest

REPLACED: Final = "replaced"
"""The kind of an old segment in the range of ``.swap`` files that take its place."""
_SET_ASIDE: Final = ("delete", "stray")
"""States of partition directories that no broker serves."""
_SWAP: Final = "swap"


def leftover_kind(segment_slice: SegmentSlice) -> str | None:
    """The suffix of the file or of its folder, as ``.deleted`` or ``-delete``; or ``REPLACED``.

    None for a segment of a log. A ``.swap`` file that the next start makes part of the log has its
    suffix, too.
    """
    if segment_slice.is_replaced:
        return REPLACED
    state, suffix = segment_slice.directory.state, segment_slice.segment.suffix
    if state in _SET_ASIDE:
        return f"-{state}"
    return None if suffix is None else f".{suffix}"


def leftover_slices(
    evidence: Evidence, request: ReadRequest, damage: Damage
) -> Iterator[SegmentSlice]:
    """Yield what the requested offsets may be in, of the leftovers that hold something.

    Those of all copies; with the replica ``broker:N``, of that broker. The files of a folder are in
    order of their base offsets.

    Raises:
        UnreadableFileError: a directory cannot be listed, unless ``damage`` leaves it out.
    """
    is_broker = request.replica.startswith("broker:")
    for directory in evidence.partition_directories(request):
        if is_broker and request.replica != f"broker:{directory.log_directory.broker_id}":
            continue
        lower, upper = request.offsets_of(directory.topic, directory.partition)
        try:
            found = list(_of_directory(directory))
        except LocatedError as error:
            damage.left_out(error)
            continue
        for each in found:
            if upper is None or each.segment.base_offset < upper:
                yield replace(each, from_offset=max(lower, each.from_offset), to_offset=upper)


def _of_directory(directory: PartitionDirectory) -> Iterator[SegmentSlice]:
    """The leftovers in one directory, and ``.swap`` files that the next start adds to its log."""
    found = [each for each in whole_segments(directory, live_only=False) if each.segment.log_size]
    if directory.state in _SET_ASIDE:
        yield from found
        return
    if directory.state is not None or directory.only is not None:
        return  # being moved or remote, or a file that was given by name
    live = whole_segments(directory, live_only=True)
    paths = {each.path for each in live}
    is_swapped = any(each.segment.suffix == _SWAP for each in live)
    for each in found:
        if each.segment.suffix is not None:
            yield each
        elif is_swapped and each.path not in paths:  # else zeros beyond the end of the log
            yield replace(each, is_replaced=True)


def leftover_units(evidence: Evidence, request: ReadRequest) -> Iterator[LogUnit]:
    """The leftovers besides the log, which has some ``.swap`` files already, as units of work.

    Raises:
        UnreadableFileError: a directory cannot be listed, in mode ``FAILFAST``.
    """
    live: dict[str, set[str]] = {}

    def is_in_log(each: SegmentSlice) -> bool:
        directory = each.directory
        if directory.state is not None or each.segment.suffix != _SWAP:
            return False
        if directory.path not in live:
            slices = whole_segments(directory, live_only=True)
            live[directory.path] = {other.path for other in slices}
        return each.path in live[directory.path]

    found = leftover_slices(evidence, request, request.damage)
    return packed((each for each in found if not is_in_log(each)), request.max_partition_bytes)


def check_leftovers(request: ReadRequest) -> None:
    """Refuse options that only a log can answer, which has a start, an end and transactions.

    Raises:
        OptionError: leftovers are requested with one of them.
    """
    wanting = {
        "last": request.last is not None,
        "read_committed": request.isolation == READ_COMMITTED,
        "until": request.until is not Until.LOG_END,
        "startingTimestamp": request.starting_timestamp is not None,
        "startingOffsetsByTimestamp": bool(request.starting_timestamps),
        "endingTimestamp": request.ending_timestamp is not None,
        "endingOffsetsByTimestamp": bool(request.ending_timestamps),
    }
    given = [name for name, is_given in wanting.items() if is_given]
    if request.leftovers and given:
        raise OptionError("leftovers", f"not with {given[0]}: leftovers are part of no log")
