"""Which level of a feature a controller does not support, by what its node registered.

Source: Kafka 3.3 and 4.3, FeatureControlManager#replay, QuorumFeatures. A broker that is no
controller replays any level of a feature other than ``metadata.version``: FeaturesDelta#replay.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkalog_reader.audits.election.replay_rules import RefusedRecord
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafkalog_reader.format.messages.decoder import Value

FeatureRanges = Mapping[str, tuple[int, int]]
"""By feature, the lowest and highest level."""
_DISABLED: Final = (0, 0)
"""What a node supports of a feature that it did not register."""
_NEWEST: Final[FeatureRanges] = {
    "metadata.version": (1, 33),
    "kraft.version": (0, 1),
    "transaction.version": (0, 2),
    "group.version": (0, 1),
    "eligible.leader.replicas.version": (0, 1),
    "share.version": (0, 2),
    "streams.version": (0, 1),
}
"""What the releases up to 4.4 support together, as a controller of 4.4.0 registered it."""


class Role(Enum):
    """The role in which a node registers."""

    BROKER = "broker"
    CONTROLLER = "controller"


class FeatureLevel(NamedTuple):
    """A FeatureLevelRecord: its offset, or that of the snapshot's end, and its fields."""

    offset: int
    name: str
    level: int
    in_snapshot: bool = False


def feature_ranges(registration: Mapping[str, Value]) -> FeatureRanges:
    """The features of a RegisterBrokerRecord or a RegisterControllerRecord."""
    return {
        each["name"]: (each["minSupportedVersion"], each["maxSupportedVersion"])
        for each in registration.get("features") or ()
    }


def first_unsupported(
    levels: Iterable[FeatureLevel],
    ranges: Mapping[tuple[Role, int], FeatureRanges],
    node_id: int | None,
) -> RefusedRecord | None:
    """The first record of a level that a node does not support; None if it supports all.

    Controllers register since 3.7. Of a node that did not register, only levels that no release
    has are refused.
    """
    node = -1 if node_id is None else node_id
    registered = ranges.get((Role.CONTROLLER, node)) or ranges.get((Role.BROKER, node))
    supported = registered or _NEWEST
    for each in levels:
        low, high = supported.get(each.name, _DISABLED)
        if registered is None:
            low = 0
        if low <= each.level <= high:
            continue
        has = f"levels {low} to {high} of it" if each.name in supported else "no such feature"
        who = f"node {node_id} registered" if registered else "every release up to 4.4 has"
        return RefusedRecord(
            offset=each.offset,
            name="FeatureLevelRecord",
            reason=f"{shown(each.name)} is set to {each.level}, and {who} {has}",
            in_snapshot=each.in_snapshot,
        )
    return None
