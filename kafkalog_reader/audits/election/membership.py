"""The replicas, ISR and leader of a partition according to the cluster metadata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kafkalog_reader.audits.comparison.committed import History
    from kafkalog_reader.audits.log.replica import Replica

NO_LEADER = -1
_NO_DIRECTORY: Final = frozenset(
    ("AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg")
)
"""Unassigned, lost, migrating. Source: Kafka 4.3, DirectoryId."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionMembership:
    """The state of one partition at the end of one copy of the metadata log.

    Source: Kafka 4.0, PartitionRegistration; eligible leader replicas: KIP-966.

    Attributes:
        leader: node id; -1 if there is none.
        leader_epoch, partition_epoch: those of the controller; -1 if unknown.
        replicas, isr: node ids; the preferred leader first, the in-sync replicas.
        elr, last_known_elr: eligible leader replicas; empty if the release has none.
        unclean_epoch: the last leader epoch whose leader was neither in the ISR nor in the ELR when
            it was elected; None if the copy shows no such election.
        topic_id: in Kafka's base64url text.
        source: path of the copy.
        source_offset: last offset that was replayed.
        directories: ids of the log directories of the replicas, in their order, since 3.7
            (KIP-858); empty if unknown.
        adding, removing: node ids, of a reassignment in flight.
    """

    leader: int
    leader_epoch: int
    partition_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]
    topic_id: str
    source: str
    source_offset: int
    unclean_epoch: int | None = None
    directories: tuple[str, ...] = ()
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()

    def is_being_added(self, broker_id: int | None) -> bool:
        """Whether a reassignment adds a replica that is not in sync yet: it may lack anything."""
        return broker_id in self.adding and broker_id not in self.isr

    def directory_of(self, broker_id: int) -> str | None:
        """The id of the log directory that has a broker's replica; None if that is unknown."""
        found = dict(zip(self.replicas, self.directories, strict=False)).get(broker_id)
        return None if found in _NO_DIRECTORY else found

    def may_lead_cleanly(self, broker_id: int) -> bool:
        """Whether Kafka would call the election of a broker clean.

        Without an in-sync replica the eligible leader replicas may lead (KIP-966).
        """
        return broker_id in self.isr or broker_id in self.elr

    def controller_elects(self, broker_id: int) -> bool:
        """Whether the controller elects a broker by itself, if it is the only live one.

        Source: Kafka 4.4, PartitionChangeBuilder: in the ISR; without an ISR, in the ELR; without
        both, the only last known leader.
        """
        return broker_id in (self.isr or self.elr or self._last_known_leader)

    def needs_unclean(self, broker_id: int) -> bool:
        """Whether a broker leads only if unclean elections are enabled, or one is held by command.

        One in the ELR needs none: it may lead once nobody is left in the ISR.
        """
        return not (self.may_lead_cleanly(broker_id) or self.controller_elects(broker_id))

    @property
    def _last_known_leader(self) -> tuple[int, ...]:
        return self.last_known_elr if len(self.last_known_elr) == 1 else ()


def in_sync(
    replicas: Iterable[Replica], membership: PartitionMembership | None
) -> tuple[Replica, ...] | None:
    """The in-sync replicas; None if the metadata does not say or one was not supplied."""
    if membership is None:
        return None
    by_broker = {replica.broker_id: replica for replica in replicas}
    if not membership.isr or any(broker_id not in by_broker for broker_id in membership.isr):
        return None
    greatest = max(
        (e.leader_epoch for replica in replicas for e in replica.cache.entries), default=-1
    )
    if membership.leader_epoch < greatest:  # older than the logs
        return None
    return tuple(by_broker[broker_id] for broker_id in membership.isr)


def named_leader(
    histories: Mapping[Replica, History], membership: PartitionMembership | None
) -> Replica | None:
    """The leader, if the metadata has a leader epoch that no log has."""
    if membership is None:
        return None
    greatest = max(
        (epoch for each in histories.values() for epoch in each.leader_epochs), default=-1
    )
    if membership.leader_epoch <= greatest:
        return None
    by_broker = {replica.broker_id: replica for replica in histories}
    return by_broker.get(membership.leader)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the cluster metadata says of one broker as a leader; None: unknown."""

    in_isr: bool | None = None
    in_elr: bool | None = None
    controller_would_elect: bool | None = None
    needs_unclean: bool | None = None


def standing(membership: PartitionMembership | None, broker_id: int | None) -> Standing:
    """The standing of a broker; nothing is known without metadata or node id."""
    if membership is None or broker_id is None:
        return Standing()
    return Standing(
        in_isr=broker_id in membership.isr,
        in_elr=broker_id in membership.elr,
        controller_would_elect=membership.controller_elects(broker_id),
        needs_unclean=membership.needs_unclean(broker_id),
    )


def is_member(membership: PartitionMembership | None, broker_id: int | None) -> bool | None:
    """Whether Kafka would call a broker's election clean; None if unknown."""
    if membership is None or broker_id is None:
        return None
    return membership.may_lead_cleanly(broker_id)
