"""Which copies of the metadata log may lead, by the partitions on the brokers' disks.

A broker creates the folder of a partition when it replays committed metadata that names its topic
id, which is random. So a metadata log that never named the id of a folder with records is not a
newer state of that cluster, whatever its leader epoch and end: its controller was formatted anew,
or restored from a backup that is older than the topic. If it leads, brokers rename the folder to
``-stray``. Source: Kafka 4.3, BrokerMetadataPublisher, LogManager#isStrayReplica.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class HeldTopic:
    """A topic of which folders hold records.

    Attributes:
        topic_id: of ``partition.metadata``.
        brokers: node ids, rising.
        partitions: how many of its partitions have such a folder.
    """

    topic: str
    topic_id: str
    brokers: tuple[int, ...]
    partitions: int


class NamedAt(NamedTuple):
    """Between which offsets, both inclusive, a copy named a topic: a snapshot has no offsets."""

    earliest: int
    latest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTopics:
    """Which topics one copy of the metadata log ever named, also those that it removed later.

    Attributes:
        offsets: by topic id.
        is_whole: whether it has every record of the cluster. A log whose beginning was replaced by
            a snapshot may have named, and removed, topics that it does not show.
    """

    offsets: Mapping[str, NamedAt]
    is_whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadingLogs:
    """The verdict; copies are named by their paths.

    Attributes:
        held: the topics of which folders hold records.
        younger: copies that must not lead, each with the topics that they never named and another
            copy here did, the one with most partitions first.
        contested: copies each of which never named topics that another one did, so that none may
            lead without a loss; with the topics.
        unknown: topics that none of the copies ever named.
        committed: by copy, one past the last record that names a held topic: brokers replay only
            committed metadata. Only where there are younger copies.
    """

    held: tuple[HeldTopic, ...] = ()
    younger: Mapping[str, tuple[HeldTopic, ...]] = field(default_factory=dict)
    contested: Mapping[str, tuple[HeldTopic, ...]] = field(default_factory=dict)
    unknown: tuple[HeldTopic, ...] = ()
    committed: Mapping[str, int] = field(default_factory=dict)


UNDISPUTED: Final = LeadingLogs()
"""Where all copies are of one history."""


def leading_logs(
    held: Iterable[HeldTopic],
    named: Mapping[str, NamedTopics],
    parted: Mapping[tuple[str, str], int | None],
) -> LeadingLogs:
    """Decide which copies may lead.

    Args:
        held: the topics of which folders of this cluster hold records.
        named: by path of the copy, which topics it named; without empty copies, which follow any.
        parted: pairs of copies of which neither is known to be the beginning of the other one,
            each with the first offset at which they differ; None if they have none in common.
    """
    topics = sorted(held, key=lambda each: (-each.partitions, each))
    lacking = {
        path: frozenset(each for each in topics if each.topic_id not in known.offsets)
        for path, known in named.items()
    }
    younger: set[str] = set()
    contested: set[str] = set()
    for pair, fork in parted.items():
        for one, other in (pair, pair[::-1]):
            more = lacking[one] - lacking[other]
            if more and all(_never_named(named[one], named[other], e, fork) for e in more):
                (contested if lacking[other] - lacking[one] else younger).add(one)
    contested -= younger
    known = [path for path in named if path not in younger]
    is_decided = bool(named) and all(named[path].is_whole for path in known)
    unknown = frozenset.intersection(*(lacking[path] for path in known)) if is_decided else ()
    return LeadingLogs(
        held=tuple(topics),
        younger={path: _among(topics, lacking[path] - {*unknown}) for path in sorted(younger)},
        contested={path: _among(topics, lacking[path] - {*unknown}) for path in sorted(contested)},
        unknown=_among(topics, unknown),
        committed={
            path: 1 + max((each.latest for each in named[path].offsets.values()), default=-1)
            for path in known
            if younger
        },
    )


def _never_named(one: NamedTopics, other: NamedTopics, topic: HeldTopic, fork: int | None) -> bool:
    """Whether one copy never named a topic that another one did, and not merely removed it.

    From the offset on at which they differ, they have no record in common.
    """
    at = other.offsets.get(topic.topic_id)
    return one.is_whole or (at is not None and fork is not None and at.earliest >= fork)


def _among(topics: Iterable[HeldTopic], chosen: Iterable[HeldTopic]) -> tuple[HeldTopic, ...]:
    kept = frozenset(chosen)
    return tuple(each for each in topics if each in kept)
