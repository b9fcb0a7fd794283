"""How far a log must reach at the end of a segment, as other files of the replica prove."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import KafkaLogError, LogPosition, MissingRecordsError
from kafkalog_reader.format.batch_fields import DELETE_HORIZON_BIT
from kafkalog_reader.format.offset_words import offsets_are
from kafkalog_reader.io.checkpoints import checkpointed_offsets
from kafkalog_reader.io.names import shown
from kafkalog_reader.scan.scan import CHAIN_OF_HEADERS, Scan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafkalog_reader.io.evidence import LogDirectory, PartitionDirectory, SegmentFiles
    from kafkalog_reader.io.read_context import ReadContext

logger = logging.getLogger(__name__)

_CLEANER_OFFSETS: Final = "cleaner-offset-checkpoint"
_LOG_ENDS: Final = {
    "high watermark": "replication-offset-checkpoint",
    "recovery point": "recovery-point-offset-checkpoint",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedEnd:
    """Records up to an offset must be in a segment or before it.

    Attributes:
        next_offset: one after the last offset that must be there.
        proof: the evidence, as the end of a sentence.
        following: the next segment; None at the end of the log.
        may_be_ahead: whether it may be a copy of a running broker, which explains the difference:
            there is no clean-shutdown marker.
    """

    next_offset: int
    proof: str
    following: SegmentFiles | None
    may_be_ahead: bool


class ExpectedEnds:
    """What checkpoints say about the ends of logs; each is read once, before logs are listed.

    A log that grows meanwhile never ends below what was read.
    """

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], Mapping[tuple[str, int], int]] = {}

    def prepare(self, root: LogDirectory) -> None:
        """Read the checkpoints of a log directory.

        A checkpoint that cannot be read proves nothing and causes a warning.
        """
        for name in (*_LOG_ENDS.values(), _CLEANER_OFFSETS):
            if (root.path, name) in self._rows:
                continue
            try:
                self._rows[root.path, name] = checkpointed_offsets(root, name)
            except KafkaLogError as error:
                logger.warning("%s; not compared with the logs", error)
                self._rows[root.path, name] = {}

    def of_segment(
        self, directory: PartitionDirectory, segments: Sequence[SegmentFiles], number: int
    ) -> ExpectedEnd | None:
        """What the log must reach at the end of ``segments[number]``; None if nothing proves it.

        A cleaned log also has gaps between segments; the cleaner's checkpoint says how far it got.
        """
        if number + 1 == len(segments):
            return self.of_log(directory)
        if directory.only is not None:  # these may not be all segments
            return None
        following = segments[number + 1]
        if following.first_offset <= (self._row(directory, _CLEANER_OFFSETS) or 0):
            return None
        return ExpectedEnd(
            next_offset=following.first_offset,
            proof=f"the next segment begins with offset {following.first_offset}",
            following=following,
            may_be_ahead=False,
        )

    def of_log(self, directory: PartitionDirectory) -> ExpectedEnd | None:
        """What the log must reach at its end."""
        if directory.only is not None:
            return None
        rows = {what: self._row(directory, name) for what, name in _LOG_ENDS.items()}
        known = {what: offset for what, offset in rows.items() if offset is not None}
        if not known:
            return None
        what = max(known, key=lambda each: known[each])
        return ExpectedEnd(
            next_offset=known[what],
            proof=f"{_LOG_ENDS[what]} has {known[what]} as {what}",
            following=None,
            may_be_ahead=not directory.log_directory.clean_shutdown,
        )

    def _row(self, directory: PartitionDirectory, name: str) -> int | None:
        if directory.topic is None or directory.partition is None:
            return None
        rows = self._rows[directory.log_directory.path, name]
        return rows.get((directory.topic, directory.partition))


def missing_records(
    expected: ExpectedEnd,
    path: str,
    reached: int,
    asked: tuple[int, int | None],
    *,
    segment: SegmentFiles | None = None,
    context: ReadContext,
) -> MissingRecordsError | None:
    """The error about records that must be before a place in a log but are missing.

    Args:
        expected: what must be there.
        path: of the segment that ends there, or of the partition directory that has none.
        reached: the offset after the last one found.
        asked: the requested half-open range of offsets; others may be missing.
        segment: that segment: a log that was cleaned may have gaps, and its batches show it.
        context: how files are read.
    """
    lower, upper = asked
    first = max(reached, lower)
    stop = expected.next_offset if upper is None else min(expected.next_offset, upper)
    if first >= stop:
        return None
    following = expected.following
    if following is not None and any(
        _shows_cleaning(each, context=context) for each in (segment, following) if each is not None
    ):
        return None
    if following is not None:
        doubt = "a compacted log whose cleaner checkpoint is not here can look the same"
    elif expected.may_be_ahead:
        doubt = "a copy of a running broker can look the same, when its checkpoint is newer"
    else:
        doubt = ""
    return MissingRecordsError(
        f"{offsets_are(first, expected.next_offset)} missing: the batches here end before "
        f"offset {reached}, but {expected.proof}{f' ({doubt})' if doubt else ''}",
        LogPosition(shown(path), offset=first),
    )


def _shows_cleaning(segment: SegmentFiles, *, context: ReadContext) -> bool:
    """Whether batches of a segment lack records or have gaps between them, as after cleaning."""
    if not segment.log_size:
        return False
    scan = Scan(segment, CHAIN_OF_HEADERS, context=context)
    due: int | None = None
    for run in scan.runs():
        is_new = run.magic == 2
        is_sparse = run.records_count < run.last_offset_delta + 1
        if (is_new & (is_sparse | ((run.attributes & DELETE_HORIZON_BIT) != 0))).any():
            return True
        first = int(run.base_offset[0])
        is_apart = bool((run.base_offset[1:] > run.last_offset[:-1] + 1).any())
        if is_apart or (due is not None and first > due):
            return True
        due = int(run.last_offset[-1]) + 1
    return False
