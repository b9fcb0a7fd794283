"""The audit of one topic partition: its replicas, how they compare, and all possible elections.

The result is plain values; the tables, the terminal and JSON show the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.committed import newest_replica
from kafkalog_reader.audits.comparison.difference import Comparison, KeyCheck, NotCompared
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.election.membership import named_leader
from kafkalog_reader.audits.election.truncation_rule import TruncationRule
from kafkalog_reader.io.names import METADATA_TOPIC

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.comparison.committed import CommitBounds
    from kafkalog_reader.audits.comparison.missing_committed import MissingCommitted
    from kafkalog_reader.audits.election.candidate import Candidate
    from kafkalog_reader.audits.election.candidates import Election
    from kafkalog_reader.audits.election.membership import PartitionMembership
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionAudit:
    """The replicas of one partition, and what follows from comparing them.

    Attributes:
        replicas: those that were compared.
        comparison: who holds what, or why that is not known.
        elections: best candidate first; empty if the verdict is undecidable, and for the metadata
            log.
        reason: why the verdict is undecidable; empty otherwise.
        rules: those by which followers may truncate; ``elections`` use the first.
        membership: by the cluster metadata; None if none was supplied.
        compared_from: the first offset that was read; starts are then not predicted. None: all were
            read.
        keys: the result of comparing the keys of a compacted partition.
        set_aside: audits of single replicas whose content is unknown, each with its reason;
            everything else here is about the others.
        compared_verdict: how the compared copies relate, where ``verdict`` is worse: copies are set
            aside, or committed records are on none of them.
        missing: committed records that no copy holds.
        started_at: when brokers start, in milliseconds; None: right after their newest records.
    """

    cluster_id: str | None
    topic: str | None
    partition: int | None
    replicas: tuple[ReplicaAudit, ...]
    comparison: Comparison | NotCompared
    elections: tuple[Election, ...]
    verdict: Verdict
    reason: str = ""
    rules: tuple[TruncationRule, ...] = (TruncationRule.CURRENT,)
    membership: PartitionMembership | None = None
    compared_from: int | None = None
    keys: KeyCheck = field(default_factory=KeyCheck)
    set_aside: tuple[PartitionAudit, ...] = ()
    compared_verdict: Verdict | None = None
    missing: MissingCommitted | None = None
    started_at: int | None = None

    @property
    def relation(self) -> Verdict:
        """How the copies that could be compared relate to each other."""
        return self.verdict if self.compared_verdict is None else self.compared_verdict

    @property
    def everyone(self) -> tuple[ReplicaAudit, ...]:
        """Every replica supplied; those set aside come last."""
        return (*self.replicas, *(alone.replicas[0] for alone in self.set_aside))

    @property
    def newest(self) -> int | None:
        """The index of the replica that leads by the greatest known leader epoch."""
        histories = [each.history for each in self.replicas]
        named = named_leader([each.files for each in self.replicas], histories, self.membership)
        return newest_replica(histories, named)

    @property
    def is_metadata(self) -> bool:
        """Whether it is the metadata log, whose files are audited, but not its elections."""
        return self.topic == METADATA_TOPIC

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The replicas as logs of an election; empty like ``elections``."""
        return tuple(each.candidate for each in self.replicas if each.candidate is not None)

    @property
    def bounds(self) -> tuple[CommitBounds, ...]:
        return tuple(each.bounds for each in self.replicas)

    @property
    def greatest_leader_epoch(self) -> int:
        """The greatest one that a log or an epoch checkpoint has; -1 if there is none."""
        epochs = (epoch for each in self.replicas for epoch in each.history.leader_epochs)
        return max(epochs, default=-1)

    @property
    def fork_offset(self) -> int | None:
        """The lowest offset at which replicas hold different content."""
        if isinstance(self.comparison, NotCompared) or self.verdict is Verdict.UNDECIDABLE:
            return None
        everyone = range(len(self.replicas))
        offsets = [self.comparison.content_fork(i, j) for i in everyone for j in everyone if i < j]
        return min((offset for offset in offsets if offset is not None), default=None)

    def names(self, members: Sequence[int]) -> str:
        """The replicas as text: ``broker 1``, ``brokers 1, 2 and 3``."""
        everyone = self.everyone
        return joined_names([everyone[member].name for member in members])


def joined_names(names: Sequence[str]) -> str:
    """Replica names joined for a sentence."""
    numbers = [name.removeprefix("broker ") for name in names]
    if len(names) > 1 and all(number.isdigit() for number in numbers):
        return f"brokers {', '.join(numbers[:-1])} and {numbers[-1]}"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
