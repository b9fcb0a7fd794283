"""Records that no supplied copy holds any more, whatever starts next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import (
    FINISH_COPY,
    LOOK_FOR_A_COPY,
    RESTORE_OLD_SEGMENTS,
    SET_NO_OFFSET_YET,
)
from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.checkpoint_rules import REPLICA_DIRECTORY_MISSING
from kafkalog_reader.audits.catalogue.commit_rules import COMMIT_BEYOND_END
from kafkalog_reader.audits.catalogue.input_rules import REPLICA_NOT_SUPPLIED
from kafkalog_reader.audits.catalogue.replica_rules import COMMITTED_RECORDS_MISSING
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.integrity.damage import is_severe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

_MAY_HOLD_THEM: Final = frozenset({FINISH_COPY, RESTORE_OLD_SEGMENTS})
"""What to do about a file that may be a missing segment."""
_LOST_ENDS: Final = codes_with(Role.LOST_END)
_GAPS: Final = codes_with(Role.GAP)


@dataclass(frozen=True, slots=True, kw_only=True)
class LostAlready:
    """Offsets of one partition that had records, and that no supplied copy has.

    Attributes:
        first_offset, next_offset: half-open; of a partition without any copy, the end may be
            unknown.
        is_committed: whether it is certain that the records were committed.
        is_end: whether checkpoints name them, or groups committed them, above the end of every
            copy: how far the log reached is unknown.
    """

    topic: str
    partition: int
    first_offset: int
    next_offset: int | None
    is_committed: bool
    is_end: bool = False
    is_whole: bool = False
    """Whether no copy of the partition was supplied."""
    may_be_elsewhere: bool = False
    """Whether brokers, or log directories, that were not supplied may have it."""
    brokers: tuple[int, ...] = ()
    """Those that have no folder of it any more, and create an empty replica."""

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"

    @property
    def max_records(self) -> int:
        """How many records there were at most, one at each offset; 0 if unknown."""
        return 0 if self.next_offset is None else self.next_offset - self.first_offset


def lost_already(audit: PartitionAudit, found: Sequence[Finding]) -> tuple[LostAlready, ...]:
    """The ranges of one partition, by offset; of several findings about one offset, one.

    None where a file that Kafka does not read may be a missing segment: its records are not lost.
    """
    if any(is_severe(each) and _MAY_HOLD_THEM.intersection(each.actions[:1]) for each in found):
        return ()
    ranges = [*_ranges(audit, found)]
    borders = sorted({border for each in ranges for border in each[:2]})
    end = _end(audit)
    lost: list[LostAlready] = []
    for first, following in pairwise(borders):
        committed = [each[2] for each in ranges if each[0] <= first and following <= each[1]]
        if not committed:
            continue
        piece = LostAlready(
            topic=audit.topic or "",
            partition=audit.partition or 0,
            first_offset=first,
            next_offset=following,
            is_committed=any(committed),
            is_end=following > end,
            may_be_elsewhere=audit.may_have_other_copies,
        )
        before = lost[-1] if lost else None
        if before is not None and (before.next_offset, before.is_committed, before.is_end) == (
            first,
            piece.is_committed,
            piece.is_end,
        ):
            lost[-1] = replace(before, next_offset=following)
        else:
            lost.append(piece)
    return tuple(lost)


def lost_whole(found: Finding) -> Iterator[LostAlready]:
    """The partitions of which a finding about a log directory says that no copy is here."""
    place = found.directory
    if found.code == REPLICA_NOT_SUPPLIED and is_severe(found):
        for topic, partition in found.partitions:
            yield LostAlready(
                topic=topic, partition=partition, first_offset=0, next_offset=None,
                is_committed=False, is_whole=True, may_be_elsewhere=True,
            )  # fmt: skip
    if (
        (found.code, found.severity) != (REPLICA_DIRECTORY_MISSING, "C")
        or place is None
        or place.topic is None
    ):
        return
    evidence = dict(found.evidence)
    held, committed = int(evidence["heldBelow"]), int(evidence["highWatermark"])
    yield LostAlready(
        topic=place.topic,
        partition=place.partition or 0,
        first_offset=held,
        next_offset=committed or None,
        is_committed=committed > 0,
        is_end=held > 0,
        is_whole=not held,
        brokers=tuple(map(int, evidence["brokers"].split(", "))),
    )


def is_lost_end(found: Finding, end: int) -> bool:
    """Whether a checkpoint, or what a group committed, shows offsets above the end of every copy.

    Consumers read below the high watermark: what they read was committed.
    """
    if found.code == COMMIT_BEYOND_END:  # unless a repair may bring the records back
        shows = is_severe(found) and SET_NO_OFFSET_YET not in found.actions[:1]
    else:
        shows = found.code in _LOST_ENDS and found.severity == "C"
    return shows and (found.next_offset or 0) > end


def _end(audit: PartitionAudit) -> int:
    """The end of the longest copy, with what is readable of a torn batch."""
    return max(*(each.log_end for each in audit.everyone), audit.readable_after_end[1])


def _ranges(audit: PartitionAudit, found: Sequence[Finding]) -> Iterator[tuple[int, int, bool]]:
    end = _end(audit)
    for begin, stop in () if audit.merge is None else audit.merge.lost:
        yield begin, stop, any(each.bounds.known >= stop for each in audit.replicas)
    for each in found:
        first, following = each.first_offset, each.next_offset
        if first is None or following is None:
            continue
        is_gap = each.code in _GAPS and LOOK_FOR_A_COPY in each.actions
        is_end = each.code == COMMITTED_RECORDS_MISSING or is_lost_end(each, end)
        if is_gap or is_end:
            yield first if is_gap else max(first, end), following, each.committed == "known"
