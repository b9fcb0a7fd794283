"""How far a log must reach at the end of a segment, as other files of the replica prove."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import (
    KafkaLogError,
    LogPosition,
    MissingRecordsError,
)
from kafkalog_reader.format.batch_fields import DELETE_HORIZON_BIT
from kafkalog_reader.format.offset_words import offsets_are
from kafkalog_reader.io.checkpoints import checkpointed_offsets, topic_id_of
from kafkalog_reader.io.hot_copy import was_copied_while_written
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.scan.log_tail import last_timestamp
from kafkalog_reader.scan.scan import CHAIN_OF_HEADERS, Scan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory
    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.io.segment_files import SegmentFiles
    from kafkalog_reader.scan.log_tail import LogTail

logger = logging.getLogger(__name__)

_CLEANER_OFFSETS: Final = "cleaner-offset-checkpoint"
HIGH_WATERMARKS: Final = "replication-offset-checkpoint"
_LOG_ENDS: Final = {
    "high watermark": HIGH_WATERMARKS,
    "recovery point": "recovery-point-offset-checkpoint",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedEnd:
    """Records up to an offset must be in a segment or before it.

    Attributes:
        next_offset: one after the last offset that must be there.
        what: what that offset is, such as ``high watermark``.
        proof: the evidence, as the end of a sentence.
        following: the next segment; None at the end of the log.
        may_be_ahead: whether it may be a copy of a running broker, which explains the difference:
            there is no clean-shutdown marker.
    """

    next_offset: int
    what: str
    proof: str
    following: SegmentFiles | None
    may_be_ahead: bool


class ExpectedEnds:
    """What checkpoints say about the ends of logs; each is read once, before logs are listed.

    A log that grows meanwhile never ends below what was read.
    """

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], Mapping[tuple[str, int], int]] = {}
        self._prepared: set[str] = set()
        self._committed: dict[str, ExpectedEnd] = {}

    def prepare(self, root: LogDirectory) -> None:
        """Read the checkpoints of a log directory.

        A checkpoint that cannot be read proves nothing and causes a warning.
        """
        if root.path in self._prepared:
            return
        self._prepared.add(root.path)
        for name in (*_LOG_ENDS.values(), _CLEANER_OFFSETS):
            try:
                self._rows[root.path, name] = checkpointed_offsets(root, name)
            except KafkaLogError as error:
                logger.warning("%s; not compared with the logs", error)
                self._rows[root.path, name] = {}

    def compare(
        self,
        chosen: PartitionDirectory,
        copies: Sequence[tuple[PartitionDirectory, LogTail]],
    ) -> None:
        """Require of a copy that it reaches the greatest high watermark of all copies.

        A high watermark up to the greatest log end proves no loss: a copy has the records, or had
        them until an unclean election. One that was copied after its log, while clients wrote, does
        not count, as for the finding KL-524.

        Args:
            chosen: the copy to read.
            copies: it and the others, with their log ends after damage. Their log directories were
                prepared. Copies of a topic with another id are ignored.

        Raises:
            UnreadableFileError: a log cannot be read.
        """
        marks = {each.path: self._row(each, HIGH_WATERMARKS) or 0 for each, _ in copies}
        if max(marks.values()) <= _log_end(copies):  # as almost always
            return
        wanted = topic_id_of(chosen)
        same = [each for each in copies if wanted is None or topic_id_of(each[0]) in (None, wanted)]
        end = _log_end(same)
        proofs = [
            (marks[each.path], each)
            for each, tail in same
            if marks[each.path] > end and not _is_ahead_of_copy(each, tail)
        ]
        mark, holder = max(proofs, key=lambda proof: proof[0], default=(0, chosen))
        if holder.path != chosen.path:
            self._committed[chosen.path] = ExpectedEnd(
                next_offset=mark,
                what=f"high watermark of {holder.replica_name}",
                proof=f"{HIGH_WATERMARKS} of {holder.replica_name} has {mark} as high watermark, "
                "and no readable copy reaches it",
                following=None,
                may_be_ahead=not holder.log_directory.clean_shutdown,
            )

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
            what="base offset of the next segment",
            proof=f"the next segment begins with offset {following.first_offset}",
            following=following,
            may_be_ahead=False,
        )

    def of_log(self, directory: PartitionDirectory) -> ExpectedEnd | None:
        """What the log must reach at its end."""
        if directory.only is not None:
            return None
        own, committed = self._by_own_rows(directory), self._committed.get(directory.path)
        if own is None or committed is None:
            return own or committed
        return committed if committed.next_offset > own.next_offset else own

    def _by_own_rows(self, directory: PartitionDirectory) -> ExpectedEnd | None:
        rows = {what: self._row(directory, name) for what, name in _LOG_ENDS.items()}
        known = {what: offset for what, offset in rows.items() if offset is not None}
        if not known:
            return None
        what = max(known, key=lambda each: known[each])
        return ExpectedEnd(
            next_offset=known[what],
            what=what,
            proof=f"{_LOG_ENDS[what]} has {known[what]} as {what}",
            following=None,
            may_be_ahead=not directory.log_directory.clean_shutdown,
        )

    def missing_at_end(
        self,
        directory: PartitionDirectory,
        reached: int,
        asked: tuple[int, int | None] = (0, None),
    ) -> MissingRecordsError | None:
        """The error about records that must be at the end of a log but are missing.

        Args:
            directory: the replica; its log directory was prepared.
            reached: where its log ends.
            asked: the requested half-open range of offsets; others may be missing.

        Raises:
            UnreadableFileError: the directory cannot be listed.
        """
        end = self.of_log(directory)
        if end is None:
            return None
        logs = [each.path("log") for each in segments(directory) if each.log_size is not None]
        path = logs[-1] if logs else directory.path
        return missing_records(end, path, reached, asked, context=directory.context)

    def _row(self, directory: PartitionDirectory, name: str) -> int | None:
        if directory.topic is None or directory.partition is None:
            return None
        rows = self._rows[directory.log_directory.path, name]
        return rows.get((directory.topic, directory.partition))


def _log_end(copies: Sequence[tuple[PartitionDirectory, LogTail]]) -> int:
    return max(tail.next_offset for _, tail in copies)


def _is_ahead_of_copy(directory: PartitionDirectory, tail: LogTail) -> bool:
    """Whether file times show that the high watermark was copied later than the log."""
    live = [segment for segment in segments(directory) if segment.log_size is not None]
    timestamp = last_timestamp(directory, tail)
    return timestamp is not None and was_copied_while_written(
        directory, HIGH_WATERMARKS, live[-1], timestamp
    )


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
    found = f"the batches here end before offset {reached}" if reached else "no whole batch is here"
    return MissingRecordsError(
        f"{offsets_are(first, expected.next_offset)} missing: {found}, but {expected.proof}"
        f"{f' ({doubt})' if doubt else ''}",
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
