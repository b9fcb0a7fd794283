"""Who belonged to a partition, as the cluster metadata says."""

from __future__ import annotations

from dataclasses import dataclass

NO_LEADER = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionMembership:
    """One partition at the end of one copy of the metadata log.

    Source: Kafka 4.0, PartitionRegistration; eligible leader replicas: KIP-966.

    Attributes:
        leader: node id; -1 is none.
        leader_epoch, partition_epoch: as the controller counts them; -1 where nothing was said.
        replicas, isr: node ids; the preferred leader first, the in-sync replicas.
        elr, last_known_elr: eligible leader replicas; empty where the release has none.
        topic_id: in Kafka's base64url text.
        source: path of the copy that said so.
        source_offset: last offset of it that was replayed.
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

    def may_lead_cleanly(self, broker_id: int) -> bool:
        """Whether Kafka would call the election of a broker clean.

        Without an in-sync replica the eligible leader replicas may lead (KIP-966).
        """
        return broker_id in self.isr or broker_id in self.elr
