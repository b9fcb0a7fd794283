"""Finds an order of starts in which no copy leads that must not.

A broker may start once every partition in which its copy must not lead has a leader that may. If
every remaining broker waits for another one, no order of starts keeps all records: then a copy that
must not lead is replaced by one that may, while both brokers are stopped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kafkalog_reader.audits.plan.choice import Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """A copy that is replaced by the leader's while both brokers are stopped."""

    choice: Choice
    broker_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A partition that gets its leader by a start for which other brokers wait.

    Attributes:
        leaders: brokers of this start, one of which leads.
    """

    choice: Choice
    leaders: tuple[int, ...]

    @property
    def may_lack_leader(self) -> bool:
        """Whether an unclean election may be needed."""
        return self.choice.may_lack_leader(self.leaders)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Brokers that start together.

    Attributes:
        settled: partitions whose leader is among them and which other brokers wait for.
    """

    brokers: tuple[int, ...]
    settled: tuple[Settled, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOrder:
    """The starts, one after the other.

    Attributes:
        replaced: copies to be replaced before the first start.
        by_membership: whether copies that must not lead run before one that may, because the
            metadata log shows them outside the ISR.
    """

    starts: tuple[Start, ...]
    replaced: tuple[Replacement, ...] = ()
    by_membership: bool = False


def start_order(choices: Sequence[Choice], brokers: Iterable[int]) -> StartOrder:
    """The order; one that is safe for any ISR is preferred, if it exists."""
    everyone = frozenset(brokers)
    safest = _ordered(choices, everyone, by_membership=False, may_replace=False)
    if safest is not None:
        return safest
    known = _ordered(choices, everyone, by_membership=True, may_replace=False)
    if known is not None:
        return known
    forced = _ordered(choices, everyone, by_membership=True, may_replace=True)
    assert forced is not None
    return forced


def _ordered(
    choices: Sequence[Choice], brokers: frozenset[int], *, by_membership: bool, may_replace: bool
) -> StartOrder | None:
    waiting = {c.name: c.waiting(by_membership=by_membership) & brokers for c in choices}
    may_lead = {c.name: set(c.equals) for c in choices}
    unsettled = [c for c in choices if waiting[c.name]]
    remaining, starts, replaced = brokers, [], []
    while remaining:
        blocked = frozenset[int]().union(*(waiting[c.name] for c in unsettled))
        allowed = remaining - blocked
        if not allowed:
            if not may_replace:
                return None
            chosen = min(remaining, key=lambda broker: _cost(broker, unsettled, waiting))
            for choice in unsettled:
                if chosen in waiting[choice.name]:
                    replaced.append(Replacement(choice=choice, broker_id=chosen))
                    waiting[choice.name] -= {chosen}
                    may_lead[choice.name].add(chosen)
            allowed = frozenset({chosen})
        settled = tuple(
            Settled(choice=c, leaders=tuple(sorted(may_lead[c.name] & allowed)))
            for c in unsettled
            if may_lead[c.name] & allowed
        )
        unsettled = [c for c in unsettled if not may_lead[c.name] & allowed]
        remaining -= allowed
        starts.append(Start(brokers=tuple(sorted(allowed)), settled=settled))
    waived = any(
        c.waiting(by_membership=False) and not c.waiting(by_membership=True) for c in choices
    )
    return StartOrder(
        starts=tuple(starts), replaced=tuple(replaced), by_membership=by_membership and waived
    )


def _cost(
    broker: int, unsettled: Sequence[Choice], waiting: dict[str, frozenset[int]]
) -> tuple[int, int, int]:
    """The cost of replacing all copies that make a broker wait: damaged copies, bytes."""
    copied = [c for c in unsettled if broker in waiting[c.name]]
    damaged = sum(not c.is_sound for c in copied)
    return damaged, sum(c.size_in_bytes for c in copied), broker
