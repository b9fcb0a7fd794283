"""What records of the metadata log say, in a few words each, without the values of settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.errors import CorruptRecordError, LogPosition
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.kraft_message import parse_kraft_message
from kafkalog_reader.format.messages.decoder import MessageError
from kafkalog_reader.format.messages.records import DecodedMessage, decode_framed
from kafkalog_reader.format.messages.schema import Family
from kafkalog_reader.io.names import shortened, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kafkalog_reader.audits.quorum.metadata_copy import MetadataCopy, StoredRecord

_TOPIC_RECORD: Final = 2
_UNCHANGED, _NO_LEADER = -2, -1
_NOTHING: Final = frozenset({
    "NoOpRecord", "BeginTransactionRecord", "EndTransactionRecord", "AbortTransactionRecord",
})  # fmt: skip
_RESOURCES: Final = {
    2: "topic", 4: "broker", 8: "broker logger of", 16: "client metrics", 32: "group",
}  # fmt: skip
_WHERE: Final = LogPosition("the metadata log")
_MAX_TEXT: Final = 1_000


class RecordTexts:
    """The records of one copy as text; topics have their names."""

    def __init__(self, copy: MetadataCopy) -> None:
        self._copy = copy
        self._topics: dict[str, str] = {}
        for record in copy.snapshot_records():
            self._learn(record)

    def between(self, first: int, following: int) -> Iterator[tuple[int, str, str]]:
        """Yield offset, type and text of each record; no text of those that change nothing.

        Raises:
            LocatedError: a record contradicts the format.
        """
        for record in self._copy.records():
            if record.offset >= following:  # a wrong base offset may stand between right ones
                continue
            self._learn(record)
            if record.offset < first:
                continue
            if record.control_type is not None:
                yield record.offset, record.control_type, _control_text(record)
                continue
            try:
                decoded = decode_framed(Family.METADATA, record.value or b"")
            except MessageError as error:
                yield record.offset, "undecodable", f"a record that cannot be decoded: {error}"
                continue
            if decoded.message is None:
                yield record.offset, f"type {decoded.type}", f"record of type {decoded.type}"
                continue
            name = decoded.message.name
            text = "" if name in _NOTHING else self._text(decoded)
            yield record.offset, name, shortened(text, _MAX_TEXT)

    def _learn(self, record: StoredRecord) -> None:
        """Remember the name of a topic."""
        value = record.value
        if record.control_type is None and value and len(value) > 1 and value[1] == _TOPIC_RECORD:
            try:
                fields = decode_framed(Family.METADATA, value).fields
            except MessageError:
                return
            if "topicId" in fields:
                self._topics[fields["topicId"]] = fields["name"]

    def _text(self, decoded: DecodedMessage) -> str:
        assert decoded.message is not None
        fields = decoded.fields
        match decoded.message.name:
            case "TopicRecord":
                return f"topic {shown(fields['name'])} created"
            case "RemoveTopicRecord":
                return f"topic {self._topic(fields)} deleted"
            case "PartitionRecord":
                return (
                    f"partition {self._partition(fields)} created on brokers "
                    f"{_ids(fields['replicas'])}"
                )
            case "PartitionChangeRecord":
                return f"partition {self._partition(fields)}: {_change_text(fields)}"
            case "ConfigRecord":
                done = "removed" if fields["value"] is None else "set"
                resource = _RESOURCES.get(fields["resourceType"], "resource")
                name = shown(fields["resourceName"]) or "(all)"
                return f"{resource} {name}: {shown(fields['name'])} {done}"
            case "FeatureLevelRecord":
                return f"feature {shown(fields['name'])} set to {fields['featureLevel']}"
            case "ProducerIdsRecord":
                return f"producer ids below {fields['nextProducerId']:,} handed out"
            case name:
                return _node_text(name, fields)

    def _topic(self, fields: Mapping[str, Any]) -> str:
        topic_id = fields["topicId"]
        return shown(self._topics.get(topic_id, f"with id {topic_id}"))

    def _partition(self, fields: Mapping[str, Any]) -> str:
        return f"{self._topic(fields)}-{fields['partitionId']}"


def _change_text(fields: Mapping[str, Any]) -> str:
    said = []
    if (leader := fields["leader"]) != _UNCHANGED:
        said.append("no leader" if leader == _NO_LEADER else f"leader {leader}")
    for name, label in (("isr", "ISR"), ("replicas", "replicas")):
        if fields.get(name) is not None:
            said.append(f"{label} {_ids(fields[name])}")
    return ", ".join(said) or "changed"


def _node_text(name: str, fields: Mapping[str, Any]) -> str:
    match name:
        case "RegisterBrokerRecord":
            return f"broker {fields['brokerId']} registered"
        case "UnregisterBrokerRecord":
            return f"broker {fields['brokerId']} unregistered"
        case "FenceBrokerRecord":
            return f"broker {fields['id']} fenced"
        case "UnfenceBrokerRecord":
            return f"broker {fields['id']} unfenced"
        case "BrokerRegistrationChangeRecord":
            changed = {-1: "unfenced", 1: "fenced"}.get(fields["fenced"], "registration changed")
            return f"broker {fields['brokerId']} {changed}"
        case "RegisterControllerRecord":
            return f"controller {fields['controllerId']} registered"
        case "UnregisterControllerRecord":
            return f"controller {fields['controllerId']} unregistered"
        case "UserScramCredentialRecord" | "RemoveUserScramCredentialRecord":
            done = "removed" if name.startswith("Remove") else "set"
            return f"SCRAM credential of user {shown(fields['name'])} {done}"
        case "AccessControlEntryRecord":
            return f"ACL of {shown(fields['principal'])} added"
        case "RemoveAccessControlEntryRecord":
            return "an ACL removed"
        case "ClientQuotaRecord":
            return "a client quota changed"
        case "DelegationTokenRecord" | "RemoveDelegationTokenRecord":
            return f"a delegation token {'removed' if name.startswith('Remove') else 'changed'}"
        case _:
            return name


def _control_text(record: StoredRecord) -> str:
    try:
        kind = ControlType[record.control_type or ""]
        if kind is ControlType.LEADER_CHANGE:
            message = parse_kraft_message(kind, record.value, _WHERE)
            return f"controller {message.leaderId} elected in epoch {record.leader_epoch}"
        if kind is ControlType.KRAFT_VOTERS:
            message = parse_kraft_message(kind, record.value, _WHERE)
            return f"voters set to {_ids(each.voterId for each in message.voters)}"
        if kind is ControlType.KRAFT_VERSION:
            message = parse_kraft_message(kind, record.value, _WHERE)
            return f"kraft.version set to {message.kRaftVersion}"
    except (KeyError, CorruptRecordError):
        return "a control record that cannot be decoded"
    return ""


def _ids(ids: Any) -> str:  # noqa: ANN401  a list of numbers, or a generator
    return ",".join(map(str, ids))
