"""Which copies of a partition go into one output of a salvage."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

from kafkalog_reader.salvage.left_out import UnreadCopies
from kafkalog_reader.salvage.receiver import foreign_text
from kafkalog_reader.tables.current_topics import CurrentTopics
from kafkalog_reader.tables.partition_copies import chosen_by_partition

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.errors import LocatedError
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.salvage.receiver import Receiver
    from kafkalog_reader.scan.expected_end import ExpectedEnds
    from kafkalog_reader.tables.lacking import Lacking
    from kafkalog_reader.tables.request import ReadRequest

logger = logging.getLogger(__name__)


class CopyGroup(NamedTuple):
    """The copies of one output.

    Attributes:
        unread: why other copies could not be judged.
        others: those not chosen.
        lacking: what only they hold.
    """

    copies: Sequence[PartitionDirectory]
    unread: Sequence[LocatedError] = ()
    others: Sequence[PartitionDirectory] = ()
    lacking: Sequence[Lacking] = ()


def copy_groups(
    evidence: Evidence, request: ReadRequest, expected: ExpectedEnds, *, is_merge: bool
) -> Iterator[CopyGroup]:
    """Yield the copies of each requested output.

    Args:
        evidence: what was supplied.
        request: topics, partitions, brokers and replica.
        expected: reads checkpoints before the logs.
        is_merge: whether one output is made of all copies of a partition.
    """
    if is_merge:
        yield from (CopyGroup(copies) for _, copies in evidence.topic_partitions(request))
    else:
        yield from _chosen(evidence, request, expected)


def _chosen(
    evidence: Evidence, request: ReadRequest, expected: ExpectedEnds
) -> Iterator[CopyGroup]:
    """Yield each copy to read, and why others could not be judged.

    A partition of which no copy can be judged is not passed over: what can be read of its first
    copy is salvaged.
    """
    damage = UnreadCopies()
    members = CurrentTopics(evidence=evidence).members
    found = chosen_by_partition(evidence, request, damage, expected, members=members)
    for copies, chosen, lacking in found:
        unread = damage.taken()
        if unread and not chosen:
            yield CopyGroup(copies[:1], unread[1:])
        for directory in chosen:
            others = [] if len(chosen) > 1 else [each for each in copies if each != directory]
            yield CopyGroup((directory,), unread, others, lacking)


def without_foreign(
    groups: list[CopyGroup], request: ReadRequest, receiver: Receiver
) -> tuple[list[CopyGroup], set[str]]:
    """The copies that the receiver can take over, and the topics left out, with a warning.

    A topic that was named is not left out: it is refused later.
    """
    named = request.topics or frozenset()
    kept = [
        group
        for group in groups
        if not receiver.is_foreign(group.copies[0]) or group.copies[0].topic in named
    ]
    foreign = {group.copies[0].topic or "" for group in groups if group not in kept}
    if not foreign or not kept:
        return groups, set()
    logger.warning("left out: %s", foreign_text(foreign))
    return kept, foreign
