"""What the members of a classic consumer group tell each other; brokers do not read it.

It is in ``GroupMetadataValue``: two bytes of version, then the message. Of a later version, the
fields of the newest known one are read and the rest is ignored, as clients do. Source: Kafka 4.4,
ConsumerProtocol, StickyAssignor (a user data schema without a version), CooperativeStickyAssignor.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.format.messages.decoder import MessageError, decode, decode_prefix
from kafkalog_reader.format.messages.schema import message, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.format.messages.decoder import Value

TopicPartition = tuple[str, int]

_VERSION: Final = struct.Struct(">h")
_UNKNOWN_GENERATION: Final = -1
_STICKY, _COOPERATIVE = parse(
    [
        "consumer data - StickyAssignorUserData 0-1",
        " previousAssignment []TopicAssignment",
        "  topic string",
        "  partitions []int32",
        " generation int32 1",
        "consumer data - CooperativeStickyAssignorUserData 0",
        " generation int32",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """What a member asked for when it joined.

    Attributes:
        owned: partitions that it had, by the subscription or the sticky assignor's user data; None
            if neither says so.
        generation: in which it had them; None if unknown.
        user_data: as stored.
    """

    version: int
    topics: tuple[str, ...]
    owned: tuple[TopicPartition, ...] | None
    generation: int | None
    rack_id: str | None
    user_data: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What the leader of the group gave a member."""

    version: int
    partitions: tuple[TopicPartition, ...]
    user_data: bytes | None


def decode_subscription(content: bytes, assignor: str | None) -> Subscription:
    """Decode a subscription; the assignor decides what its user data are.

    Raises:
        MessageError: the bytes do not fit; user data that do not fit are left as they are.
    """
    version, fields = _decoded("ConsumerProtocolSubscription", content)
    user_data = fields["userData"]
    owned = generation = None
    if "ownedPartitions" in fields:
        owned = _pairs(fields["ownedPartitions"])
        generation = fields.get("generationId")
    if user_data and assignor in ("sticky", "cooperative-sticky"):
        previous, previous_generation = _of_user_data(assignor, user_data)
        owned = owned or previous
        if generation in (None, _UNKNOWN_GENERATION):
            generation = previous_generation
    return Subscription(
        version=version,
        topics=tuple(fields["topics"]),
        owned=owned,
        generation=None if generation == _UNKNOWN_GENERATION else generation,
        rack_id=fields.get("rackId"),
        user_data=user_data,
    )


def decode_assignment(content: bytes) -> Assignment:
    """Decode an assignment.

    Raises:
        MessageError: the bytes do not fit.
    """
    version, fields = _decoded("ConsumerProtocolAssignment", content)
    return Assignment(
        version=version,
        partitions=_pairs(fields["assignedPartitions"]),
        user_data=fields["userData"],
    )


def _decoded(name: str, content: bytes) -> tuple[int, Mapping[str, Value]]:
    if len(content) < _VERSION.size:
        raise MessageError(f"{len(content)} bytes where at least {_VERSION.size} are needed", 0)
    version: int = _VERSION.unpack_from(content)[0]
    definition = message(name)
    known = min(version, definition.versions.last)
    return version, decode_prefix(definition, known, content, _VERSION.size)[0]


def _of_user_data(
    assignor: str, content: bytes
) -> tuple[tuple[TopicPartition, ...] | None, int | None]:
    """Partitions and generation in a sticky assignor's user data; None where they are not."""
    if assignor == "cooperative-sticky":
        try:
            return None, decode(_COOPERATIVE, 0, content)["generation"]
        except MessageError:
            return None, None
    for version in (1, 0):  # the data do not say which
        try:
            fields = decode(_STICKY, version, content)
        except MessageError:
            continue
        return _pairs(fields["previousAssignment"]), fields.get("generation")
    return None, None


def _pairs(topics: list[dict[str, Value]]) -> tuple[TopicPartition, ...]:
    return tuple((each["topic"], number) for each in topics for number in each["partitions"])
