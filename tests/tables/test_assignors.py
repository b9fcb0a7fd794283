"""Assignors that fit; the examples are those in the documentation of Kafka's assignor classes."""

from __future__ import annotations

import re

import pytest

from kafkalog_reader.tables.assignors import GroupMember, fitting_assignors

BOTH = {"C0": "t0 t1", "C1": "t0 t1"}
STAIRS = {"C0": "t0", "C1": "t0 t1", "C2": "t0 t1 t2"}
ALL = dict.fromkeys(("C0", "C1", "C2"), "t0 t1 t2 t3")


def members(
    topics: dict[str, str], assigned: dict[str, str], static: dict[str, str] | None = None
) -> list[GroupMember]:
    return [
        GroupMember(
            member_id=name,
            instance_id=(static or {}).get(name),
            topics=frozenset(topics[name].split()),
            partitions=frozenset(
                (topic, int(number)) for topic, number in re.findall(r"(t\d)p(\d)", assigned[name])
            ),
        )
        for name in topics
    ]


@pytest.mark.parametrize(
    ("topics", "assigned", "expected"),
    [
        (BOTH, {"C0": "t0p0 t0p1 t1p0 t1p1", "C1": "t0p2 t1p2"}, ["range"]),
        (BOTH, {"C0": "t0p0 t0p2 t1p1", "C1": "t0p1 t1p0 t1p2"}, ["roundrobin", "sticky"]),
        (STAIRS, {"C0": "t0p0", "C1": "t1p0", "C2": "t1p1 t2p0 t2p1 t2p2"},
         ["range", "roundrobin"]),
        (STAIRS, {"C0": "t0p0", "C1": "t1p0 t1p1", "C2": "t2p0 t2p1 t2p2"}, ["sticky"]),
        (ALL, {"C0": "t0p0 t1p1 t3p0", "C1": "t0p1 t2p0 t3p1", "C2": "t1p0 t2p1"},
         ["roundrobin", "sticky"]),
        (  # StickyAssignor: after C1 is gone
            {"C0": "t0 t1 t2 t3", "C2": "t0 t1 t2 t3"},
            {"C0": "t0p0 t1p1 t3p0 t2p0", "C2": "t1p0 t2p1 t0p1 t3p1"}, ["sticky"],
        ),
        (BOTH, {"C0": "t0p0", "C1": "t0p2"}, []),  # a partition has no member
        (BOTH, {"C0": "t0p0 t0p1", "C1": "t0p1 t0p2"}, []),  # one has two
        (BOTH, {"C0": "t2p0", "C1": "t0p0"}, []),  # one is of a topic that C0 does not want
        (BOTH, {"C0": "", "C1": ""}, []),
    ],
)  # fmt: skip
def test_the_examples_of_the_assignors(
    topics: dict[str, str], assigned: dict[str, str], expected: list[str]
) -> None:
    assert fitting_assignors(members(topics, assigned)) == expected


def test_static_members_come_first() -> None:
    """MemberInfo.compareTo: those with an instance id, in its order, then the others."""
    first = members(BOTH, {"C0": "t0p1", "C1": "t0p0"}, static={"C1": "z"})
    assert fitting_assignors(first) == ["range", "roundrobin", "sticky"]
    both = members(BOTH, {"C0": "t0p1", "C1": "t0p0"}, static={"C0": "b", "C1": "a"})
    assert fitting_assignors(both) == ["range", "roundrobin", "sticky"]
    none = members(BOTH, {"C0": "t0p1", "C1": "t0p0"})
    assert fitting_assignors(none) == ["sticky"]
