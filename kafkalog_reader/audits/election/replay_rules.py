"""Which record of the metadata log a controller refuses to replay, and why.

A controller ends at the first such record. A broker that is no controller logs the error and goes
on without the record. Source: Kafka 4.4, QuorumController#replay, ReplicationControlManager,
ClusterControlManager, AclControlManager, ScramControlManager, OffsetControlManager.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

_LEVELS: Final = ("fenced", "inControlledShutdown")
_CHANGES: Final = (-1, 0, 1)
"""Of ``fenced`` and ``inControlledShutdown`` in a BrokerRegistrationChangeRecord."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedRecord:
    """The first record that a controller does not replay.

    Attributes:
        offset: of the record; in a snapshot, the last offset that the snapshot contains.
        name: of its type, such as ``TopicRecord``.
        reason: why, as a sentence without its subject.
        is_unreadable: its bytes are not those of a record: a broker does not get past it either.
        in_snapshot: it stands in the snapshot.
    """

    offset: int
    name: str
    reason: str
    is_unreadable: bool = False
    in_snapshot: bool = False

    @property
    def text(self) -> str:
        """The record and the reason."""
        where = (
            f"of the snapshot below offset {self.offset + 1:,}"
            if self.in_snapshot
            else (f"at offset {self.offset:,}")
        )
        return f"{self.name} {where}: {self.reason}"


class ReplayedState(Protocol):
    """What a replay knows before a record: topics and partitions."""

    names: dict[str, str]
    partitions: Any


@dataclass
class Registrations:
    """What the rules need besides topics: which things exist that a record can name.

    Attributes:
        broker_epochs: of each registered broker.
        topic_ids: by name.
        access_controls: ids of access control entries.
        credentials: (user, mechanism) of each SCRAM credential.
        is_in_transaction: a metadata transaction is open (KIP-868).
    """

    broker_epochs: dict[int, int] = field(default_factory=dict)
    topic_ids: dict[str, str] = field(default_factory=dict)
    access_controls: set[str] = field(default_factory=set)
    credentials: set[tuple[str, int]] = field(default_factory=set)
    is_in_transaction: bool = False

    def refusal(
        self, state: ReplayedState, name: str, fields: Mapping[str, Any], *, in_snapshot: bool
    ) -> str:
        """Why a controller refuses a record in this state; empty if it does not."""
        match name:
            case "TopicRecord" if (known := self.topic_ids.get(fields["name"])) is not None:
                same = "the same" if known == fields["topicId"] else "another"
                return (
                    f"topic {shown(fields['name'])} exists, and has {same} id, {known}: a second "
                    f"TopicRecord, with id {fields['topicId']}"
                )
            case "PartitionRecord" | "PartitionChangeRecord" | "RemoveTopicRecord":
                return _of_topic(state, name, fields)
            case "FenceBrokerRecord" | "UnfenceBrokerRecord":
                return self._of_broker(fields["id"], fields["epoch"])
            case "UnregisterBrokerRecord":
                return self._of_broker(fields["brokerId"], fields["brokerEpoch"])
            case "BrokerRegistrationChangeRecord":
                for level in _LEVELS:
                    if (value := fields.get(level, 0)) not in _CHANGES:
                        return f"the value {value} of {level} is unknown"
                return self._of_broker(fields["brokerId"], fields["brokerEpoch"])
            case "RemoveAccessControlEntryRecord" if fields["id"] not in self.access_controls:
                return f"no access control entry has the id {fields['id']}"
            case "RemoveUserScramCredentialRecord" if _credential(fields) not in self.credentials:
                return f"user {shown(fields['name'])} has no such credential"
            case "BeginTransactionRecord" | "EndTransactionRecord" | "AbortTransactionRecord":
                return self._of_transaction(name, in_snapshot=in_snapshot)
            case _:
                return ""

    def copied(self) -> Registrations:
        """The same, to go back to."""
        return Registrations(
            broker_epochs=dict(self.broker_epochs),
            topic_ids=dict(self.topic_ids),
            access_controls=set(self.access_controls),
            credentials=set(self.credentials),
            is_in_transaction=self.is_in_transaction,
        )

    def _of_broker(self, broker_id: int, broker_epoch: int) -> str:
        known = self.broker_epochs.get(broker_id)
        if known is None:
            return f"broker {broker_id} is not registered"
        if known != broker_epoch:
            return f"broker {broker_id} is registered with epoch {known}, not {broker_epoch}"
        return ""

    def _of_transaction(self, name: str, *, in_snapshot: bool) -> str:
        if in_snapshot:
            return "a snapshot has no transactions"
        if name == "BeginTransactionRecord":
            return "the transaction before it was not closed" if self.is_in_transaction else ""
        return "" if self.is_in_transaction else "no transaction is open"

    def take(self, name: str, fields: Mapping[str, Any]) -> None:
        """Note what a record registers or removes."""
        match name:
            case "TopicRecord":
                self.topic_ids[fields["name"]] = fields["topicId"]
            case "RegisterBrokerRecord":
                self.broker_epochs[fields["brokerId"]] = fields["brokerEpoch"]
            case "UnregisterBrokerRecord":
                self.broker_epochs.pop(fields["brokerId"], None)
            case "AccessControlEntryRecord":
                self.access_controls.add(fields["id"])
            case "RemoveAccessControlEntryRecord":
                self.access_controls.discard(fields["id"])
            case "UserScramCredentialRecord":
                self.credentials.add(_credential(fields))
            case "RemoveUserScramCredentialRecord":
                self.credentials.discard(_credential(fields))
            case _:
                pass

    def remove_topic(self, name: str, topic_id: str) -> None:
        """Note that a topic is gone; its name stays taken if another id has it."""
        if self.topic_ids.get(name) == topic_id:
            del self.topic_ids[name]


def _of_topic(state: ReplayedState, name: str, fields: Mapping[str, Any]) -> str:
    topic_id = fields["topicId"]
    if topic_id not in state.names:
        return f"no topic has the id {topic_id}"
    if name != "PartitionChangeRecord" or fields["partitionId"] in state.partitions[topic_id]:
        return ""
    return f"topic {shown(state.names[topic_id])} has no partition {fields['partitionId']}"


def _credential(fields: Mapping[str, Any]) -> tuple[str, int]:
    return fields["name"], fields["mechanism"]
