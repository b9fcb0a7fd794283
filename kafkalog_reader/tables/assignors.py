"""Which of Kafka's assignors gives the assignment that a classic group has.

Source: Kafka 4.4, RangeAssignor and RoundRobinAssignor of kafka-clients without racks,
AbstractPartitionAssignor.MemberInfo, AbstractStickyAssignor.isBalanced.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TopicPartition = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMember:
    """A member with the topics that it subscribes to and the partitions that it has."""

    member_id: str
    instance_id: str | None
    topics: frozenset[str]
    partitions: frozenset[TopicPartition]


def fitting_assignors(members: Sequence[GroupMember]) -> list[str]:
    """Names among range, roundrobin and sticky; none unless all partitions are assigned once.

    How many partitions a topic had is the greatest assigned number, plus one.
    """
    counts = _partition_counts(members)
    if counts is None:
        return []
    # Members with an instance id come first (MemberInfo.compareTo).
    ordered = sorted(
        members, key=lambda each: (each.instance_id is None, each.instance_id or each.member_id)
    )
    assigned = [each.partitions for each in ordered]
    fitting = []
    subscribed: dict[str, list[int]] = defaultdict(list)
    for row, member in enumerate(ordered):
        for topic in member.topics:
            subscribed[topic].append(row)
    if _range(subscribed, counts, len(ordered)) == assigned:
        fitting.append("range")
    if _round_robin(subscribed, counts, len(ordered)) == assigned:
        fitting.append("roundrobin")
    if _is_balanced(ordered):
        fitting.append("sticky")
    return fitting


def _partition_counts(members: Sequence[GroupMember]) -> dict[str, int] | None:
    """Partitions of each topic; None if one is assigned to nobody, twice or unsubscribed."""
    numbers: dict[str, set[int]] = defaultdict(set)
    for member in members:
        for topic, number in member.partitions:
            if topic not in member.topics or number in numbers[topic]:
                return None
            numbers[topic].add(number)
    counts = {topic: len(found) for topic, found in numbers.items()}
    is_whole = all(min(found) == 0 and max(found) < len(found) for found in numbers.values())
    return counts if counts and is_whole else None


def _range(
    subscribed: Mapping[str, Sequence[int]], counts: Mapping[str, int], members: int
) -> list[set[TopicPartition]]:
    """Partitions of each member; ``subscribed`` has the members of each topic, in order."""
    found: list[set[TopicPartition]] = [set() for _ in range(members)]
    for topic, count in counts.items():
        each, more = divmod(count, len(subscribed[topic]))
        first = 0
        for place, row in enumerate(subscribed[topic]):
            size = each + (place < more)
            found[row] |= {(topic, number) for number in range(first, first + size)}
            first += size
    return found


def _round_robin(
    subscribed: Mapping[str, Sequence[int]], counts: Mapping[str, int], members: int
) -> list[set[TopicPartition]]:
    """The same; each topic goes on after the member that got the partition before."""
    found: list[set[TopicPartition]] = [set() for _ in range(members)]
    start = 0
    for topic in sorted(counts):
        rows = subscribed[topic]
        place = bisect_left(rows, start)
        for number in range(counts[topic]):
            row = rows[place % len(rows)]
            found[row].add((topic, number))
            place += 1
            start = row + 1
    return found


def _is_balanced(members: Sequence[GroupMember]) -> bool:
    """Whether no partition could move to a member that then has no more than its old one."""
    fewest: dict[str, int] = {}
    for member in members:
        for topic in member.topics:
            fewest[topic] = min(len(member.partitions), fewest.get(topic, len(member.partitions)))
    return all(
        len(member.partitions) <= fewest[topic] + 1
        for member in members
        for topic in {topic for topic, _ in member.partitions}
    )
