"""Members of a classic group, which have its state in one record and assign themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkalog_reader.format.messages.consumer_protocol import (
    decode_assignment,
    decode_subscription,
)
from kafkalog_reader.format.messages.decoder import MessageError
from kafkalog_reader.tables.assignors import GroupMember, fitting_assignors
from kafkalog_reader.tables.group_state import CONSUMER_PROTOCOL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kafkalog_reader.tables.group_records import GroupRecord


def classic_members(group: GroupRecord) -> list[dict[str, Any]]:
    """Rows of the members, in the order of the record; what cannot be decoded is as stored."""
    fields = group.fields
    assert fields is not None
    rows = []
    consumes = fields["protocolType"] == CONSUMER_PROTOCOL
    for member in fields["members"] or ():
        row = {
            **group.row,
            "memberId": member["memberId"],
            "instanceId": member.get("groupInstanceId"),
            "clientId": member["clientId"],
            "clientHost": member["clientHost"],
            "assignor": fields["protocol"],
            "rebalanceTimeoutMs": member.get("rebalanceTimeout"),
            "sessionTimeoutMs": member["sessionTimeout"],
            "subscribedTopics": None,
            "assignment": None,
        }
        row |= _subscription(member["subscription"], fields["protocol"], consumes=consumes)
        row |= _assignment(member["assignment"], consumes=consumes)
        rows.append(row)
    if consumes:
        fitting = _fitting(rows)
        for row in rows:
            row["fitsAssignors"] = fitting
    for row in rows:
        row["assignment"] = _names(row["assignment"])
        row["ownedPartitions"] = _names(row.get("ownedPartitions"))
    return rows


def _subscription(content: bytes, assignor: str | None, *, consumes: bool) -> dict[str, Any]:
    if not content:
        return {}
    try:
        found = decode_subscription(content, assignor) if consumes else None
    except MessageError:
        found = None
    if found is None:
        return {"subscriptionData": content}
    return {
        "subscribedTopics": found.topics,
        "ownedPartitions": found.owned,
        "ownedGeneration": found.generation,
        "rackId": found.rack_id,
        "subscriptionUserData": found.user_data,
    }


def _assignment(content: bytes, *, consumes: bool) -> dict[str, Any]:
    """A member without an assignment has no bytes, or no partitions."""
    if not content:
        return {"assignment": ()} if consumes else {}
    try:
        found = decode_assignment(content) if consumes else None
    except MessageError:
        found = None
    if found is None:
        return {"assignmentData": content}
    return {"assignment": found.partitions, "assignmentUserData": found.user_data}


def _fitting(rows: Iterable[Mapping[str, Any]]) -> list[str] | None:
    """Assignors that fit; None if a member's bytes cannot be decoded."""
    members = []
    for row in rows:
        if row["subscribedTopics"] is None or row["assignment"] is None:
            return None
        members.append(
            GroupMember(
                member_id=row["memberId"],
                instance_id=row["instanceId"],
                topics=frozenset(row["subscribedTopics"]),
                partitions=frozenset(row["assignment"]),
            )
        )
    return fitting_assignors(members)


def _names(partitions: Iterable[tuple[str, int]] | None) -> list[str] | None:
    if partitions is None:
        return None
    return [f"{topic}-{number}" for topic, number in sorted(partitions)]
