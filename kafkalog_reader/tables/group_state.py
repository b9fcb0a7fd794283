"""One group as its coordinator would load it, from the newest record of each key.

Source: Kafka 4.4, GroupMetadataManager.replay, ClassicGroup, ConsumerGroup.maybeUpdateGroupState,
ShareGroup.maybeUpdateGroupState, StreamsGroup.maybeUpdateGroupState, modern.MemberState,
streams.MemberState.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.format.messages.consumer_protocol import decode_subscription
from kafkalog_reader.format.messages.decoder import MessageError
from kafkalog_reader.tables.group_records import CLASSIC, SHARE, STREAMS, GroupRecord
from kafkalog_reader.tables.unset_fields import UNSET, time_or_none

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CONSUMER_PROTOCOL: Final = "consumer"
EPOCH_RECORDS: Final = (
    "GroupMetadata", "ConsumerGroupMetadata", "ShareGroupMetadata", "StreamsGroupMetadata",
)  # fmt: skip
"""Records that say that a group is there, and in which generation."""
MEMBER_RECORDS: Final = (
    "ConsumerGroupMemberMetadata", "ShareGroupMemberMetadata", "StreamsGroupMemberMetadata",
)  # fmt: skip
"""Records that say that a member is there."""
_STABLE: Final = "stable"
_MEMBER_STATES: Final = {0: _STABLE, 1: "unrevoked-partitions", 2: "unreleased-partitions"}
_STREAMS_MEMBER_STATES: Final = {1: _STABLE, 2: "unrevoked-tasks", 3: "unreleased-tasks"}


@dataclass
class GroupState:
    """The readable records of a group.

    Attributes:
        records: those without a member, by name.
        members: the others, by member id and then by name.
    """

    group_id: str
    kind: str
    records: dict[str, GroupRecord] = field(default_factory=dict)
    members: dict[str, dict[str, GroupRecord]] = field(default_factory=dict)

    @property
    def epoch_record(self) -> GroupRecord | None:
        """The record with its generation; None if it is gone."""
        return next((self.records[name] for name in EPOCH_RECORDS if name in self.records), None)

    @property
    def newest(self) -> GroupRecord:
        """The record of which a row of the group says where it is."""
        of_members = (each for records in self.members.values() for each in records.values())
        found = [*self.records.values(), *of_members]
        return self.epoch_record or max(found, key=lambda each: each.row["recordOffset"])

    def member_records(self) -> Iterable[GroupRecord]:
        """The metadata of each member, other than of a classic group."""
        for records in self.members.values():
            yield from (records[name] for name in MEMBER_RECORDS if name in records)

    def columns(self) -> dict[str, Any]:
        """The columns of the table ``groups`` that are about the group itself."""
        return self._classic() if self.kind == CLASSIC else self._modern()

    def _classic(self) -> dict[str, Any]:
        fields = _fields(self.epoch_record)
        members = fields["members"] or ()
        return {
            "state": "Stable" if members else "Empty",
            "members": len(members),
            "subscribedTopics": subscribed_topics(fields),
            **classic_columns(fields),
        }

    def _modern(self) -> dict[str, Any]:
        members = list(self.member_records())
        target = _fields(self._record("TargetAssignmentMetadata"))
        fields = [_fields(each) for each in members]
        assignors = Counter(each["serverAssignor"] for each in fields if each.get("serverAssignor"))
        return {
            "state": self._state(len(members), target.get("assignmentEpoch")),
            "members": len(members),
            "generation": _fields(self.epoch_record).get("epoch"),
            "protocolType": self.kind,
            "protocol": next((name for name, _ in assignors.most_common(1)), None),
            "assignmentEpoch": target.get("assignmentEpoch"),
            "assignmentTime": time_or_none(target.get("assignmentTimestamp") or UNSET),
            "subscribedTopics": sorted(
                {topic for each in fields for topic in each.get("subscribedTopicNames", ())}
            ),
        }

    def _state(self, members: int, target_epoch: int | None) -> str:
        if not members:
            return "Empty"
        if self.kind == SHARE:
            return "Stable"
        epoch = _fields(self.epoch_record).get("epoch")
        if target_epoch is None or (epoch is not None and epoch > target_epoch):
            return "Assigning"
        current = [
            _fields(each)
            for records in self.members.values()
            for name, each in records.items()
            if name.endswith("CurrentMemberAssignment")
        ]
        is_stable = len(current) >= members and all(
            member_state(self.kind, each.get("state")) == _STABLE
            and each["memberEpoch"] == target_epoch
            for each in current
        )
        return "Stable" if is_stable else "Reconciling"

    def _record(self, ending: str) -> GroupRecord | None:
        return next((each for name, each in self.records.items() if name.endswith(ending)), None)


def member_state(kind: str, number: int | None) -> str | None:
    """What the number in the current assignment of a member means; None without a number."""
    if number is None:
        return None
    states = _STREAMS_MEMBER_STATES if kind == STREAMS else _MEMBER_STATES
    return states.get(number, str(number))


def group_states(records: Iterable[GroupRecord]) -> dict[tuple[str, str], GroupState]:
    """The groups by id and kind; a record that cannot be read belongs to none."""
    groups: dict[tuple[str, str], GroupState] = {}
    for record in records:
        if record.fields is None or record.group_id is None or record.name is None:
            continue
        assert record.kind is not None
        key = (record.group_id, record.kind)
        group = groups.setdefault(key, GroupState(*key))
        if record.member_id is None:
            group.records[record.name] = record
        else:
            group.members.setdefault(record.member_id, {})[record.name] = record
    return groups


def classic_columns(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Columns that a classic group's record has for itself."""
    return {
        "generation": fields["generation"],
        "protocolType": fields["protocolType"],
        "protocol": fields["protocol"],
        "leader": fields["leader"],
        "stateTime": time_or_none(fields.get("currentStateTimestamp", UNSET)),
    }


def subscribed_topics(fields: Mapping[str, Any]) -> list[str] | None:
    """The topics of all members of a classic group; None if these do not consume."""
    if fields["protocolType"] not in ("", CONSUMER_PROTOCOL):
        return None
    topics: set[str] = set()
    for member in fields["members"] or ():
        try:
            topics.update(decode_subscription(member["subscription"], None).topics)
        except MessageError:
            continue  # the table of members shows the bytes
    return sorted(topics)


def _fields(record: GroupRecord | None) -> Mapping[str, Any]:
    return (record.fields if record is not None else None) or {}
