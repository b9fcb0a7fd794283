"""Which records of the metadata log are committed, as far as copies show it.

No file has the quorum's high watermark. Records are committed below a snapshot and a log start.
Records that a majority of voters holds stay in every election, unless a later leader was elected
without them. Records that a majority cannot have held were never committed. Where a node without a
vote holds more than every voter, the voters lost it: a leader had it, and a leader that is the only
voter commits what it writes. A record that names a topic was committed if a broker has its folder;
no later leader epoch of a log that never named it says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.quorum.metadata_copy import MetadataCopy
    from kafkalog_reader.audits.quorum.quorum import Quorum


class Commitment(Enum):
    """Whether records are committed."""

    COMMITTED = "committed"
    POSSIBLY = "possiblyCommitted"
    NOT = "notCommitted"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedOffsets:
    """The bounds of the high watermark within one copy.

    Attributes:
        low: records below are committed, or a majority holds them.
        high: no record from here on is committed.
    """

    low: int
    high: int

    def split(self, first: int, following: int) -> Iterator[tuple[int, int, Commitment]]:
        """Divide a range of offsets by commitment, lowest first."""
        borders = (
            (self.low, Commitment.COMMITTED),
            (self.high, Commitment.POSSIBLY),
            (following, Commitment.NOT),
        )
        for border, commitment in borders:
            stop = min(max(border, first), following)
            if stop > first:
                yield first, stop, commitment
                first = stop


def committed_offsets(quorum: Quorum, copy: MetadataCopy) -> CommittedOffsets:
    """What is committed of the records of one copy."""
    end = copy.end.offset
    low, superseded = copy.committed_low, end
    low = max(low, quorum.leading.committed.get(copy.directory.path, 0))
    for other in quorum.copies if quorum.is_younger(copy) else quorum.older:
        parting = quorum.parting(copy, other)
        if other.committed_low <= parting.offset:
            low = max(low, other.committed_low)
        if parting.is_fork and _epoch(other, parting.offset) > _epoch(copy, parting.offset):
            superseded = min(superseded, parting.offset)
    if quorum.voters is None:
        return CommittedOffsets(low=low, high=max(low, superseded))
    held = sorted((quorum.parting(copy, each).offset for each in quorum.seated), reverse=True)
    majority = quorum.voters.majority
    if len(held) >= majority:
        low = max(low, min(held[majority - 1], superseded))
    needed = majority - quorum.unknown_votes
    high = end if needed <= 0 else held[needed - 1] if len(held) >= needed else 0
    observed = max(
        (quorum.parting(copy, each).offset for each in quorum.copies if each not in quorum.seated),
        default=0,
    )
    if observed > max(held, default=0):  # nodes without a vote copy what the leader has
        high = max(high, observed)
        if majority == 1:
            low = max(low, min(observed, superseded))
    return CommittedOffsets(low=low, high=max(low, min(high, superseded)))


def _epoch(copy: MetadataCopy, offset: int) -> int:
    found = copy.batches.leader_epoch_at(offset)
    return -1 if found is None else found
