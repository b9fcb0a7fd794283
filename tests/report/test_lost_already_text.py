"""What a plan says of brokers that were restored from an older state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from kafkalog_reader.report.lost_already_text import went_back_texts


@dataclass(frozen=True)
class Chosen:
    """The parts of a choice that count here; ``paths`` by broker."""

    name: str
    paths: dict[int, tuple[str, ...]]
    electable: frozenset[int] = frozenset()
    led_by: int | None = None
    not_supplied: tuple[int, ...] = ()


@dataclass(frozen=True)
class Planned:
    went_back: dict[int, str]
    choices: tuple[Chosen, ...]


def texts(went_back: dict[int, str], *choices: Chosen) -> list[str]:
    return list(went_back_texts(cast("Any", Planned(went_back, choices))))


def on(*brokers: int) -> dict[int, tuple[str, ...]]:
    return {broker: (f"b{broker}",) for broker in brokers}


def test_a_partition_that_only_older_brokers_have_is_named_once() -> None:
    one, two, last = texts(
        {1: "it is old", 2: "it is old"},
        Chosen("both-0", on(1, 2), electable=frozenset({1}), led_by=2),
        Chosen("here-0", on(1, 3), led_by=1),
        Chosen("solo-0", on(2)),
    )
    assert one == (
        "Broker 1 went back in time: it is old. It led here-0: records there that no follower had "
        "copied yet (acks=1) are lost, too."
    )
    assert two.startswith(
        "Broker 2 went back in time: it is old. Only it surely had every committed record of "
        "solo-0: the newest may be lost."
    )
    assert last.startswith(
        "Every copy of both-0 is of a broker that went back in time: the newest records are lost"
    )


def test_a_newer_copy_may_be_where_nobody_looked() -> None:
    """Broker 3 has a copy, too, and was not supplied."""
    found = texts({1: "old", 2: "old"}, Chosen("t-0", on(1, 2), not_supplied=(3,), led_by=1))
    assert len(found) == 2
    assert "It led t-0" in found[0]
