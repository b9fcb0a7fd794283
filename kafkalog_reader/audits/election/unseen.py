"""Brokers that may hold more than the supplied copies, by the metadata log."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from kafkalog_reader.audits.election.membership import PartitionMembership


class UnseenRole(Enum):
    """What the metadata log says of brokers of which no copy was supplied; the worst first."""

    ALL_IN_SYNC = "all in-sync replicas"
    """No in-sync replica was supplied: the copies here may lack committed records."""
    LEADER = "the leader"
    """It may hold records that no follower has fetched."""
    IN_SYNC = "in-sync replicas"
    """The supplied copies lack committed records, or have damaged ones, that these may hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unseen:
    """Brokers that may hold records that no supplied copy has.

    Attributes:
        brokers: node ids, ascending.
    """

    brokers: tuple[int, ...]
    role: UnseenRole


def unseen_brokers(
    membership: PartitionMembership, here: Collection[int | None], *, is_lacking: bool
) -> Unseen | None:
    """Which brokers without a supplied copy may hold more; None if none is known to.

    Args:
        membership: not older than the copies.
        here: node ids of the supplied copies.
        is_lacking: whether committed records are missing or damaged on every supplied copy.
    """
    in_sync = membership.isr or membership.elr
    absent = tuple(sorted({*in_sync} - {*here}))
    if absent and len(absent) == len({*in_sync}):
        return Unseen(brokers=absent, role=UnseenRole.ALL_IN_SYNC)
    if membership.leader in absent:
        return Unseen(brokers=(membership.leader,), role=UnseenRole.LEADER)
    if absent and is_lacking:
        return Unseen(brokers=absent, role=UnseenRole.IN_SYNC)
    return None
