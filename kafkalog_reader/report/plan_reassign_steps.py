"""Steps that replace replicas of a running cluster: taken from the assignment, and given back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.io.names import shown
from kafkalog_reader.report.plan_step import (
    PlanStep,
    Reassignment,
    StepKind,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.plan.choice import Choice
    from kafkalog_reader.audits.plan.plan import Plan


def reassignment_steps(plan: Plan) -> Iterator[PlanStep]:
    """Of copies that stay different or damaged for ever; one broker after the other.

    Other replicas of the partitions stay in sync meanwhile.
    """
    for broker in sorted({broker for c in plan.reassigned for broker in c.reassigned}):
        choices = [c for c in plan.reassigned if broker in c.reassigned]
        yield _remove(choices, broker)
        yield _add(choices, broker)


def _remove(choices: Sequence[Choice], broker: int) -> PlanStep:
    names = ", ".join(shown(c.name) for c in choices)
    reassignment = Reassignment(
        file=f"remove-from-{broker}.json",
        assignments=tuple(
            (c, tuple(each for each in _assigned(c) if each != broker)) for c in choices
        ),
    )
    return PlanStep(
        kind=StepKind.REMOVE,
        title=f"When all copies are in sync, take {names} away from broker {broker}",
        texts=(
            *_reasons(choices, broker),
            "The broker deletes its copy here, and copies the leader's in the next step.",
            "Until then these partitions have a replica less: producers with acks=all need "
            "min.insync.replicas of the others.",
            *_unknown_assignments(choices),
        ),
        commands=reassignment.commands,
        is_destructive=True,
        brokers=(broker,),
        checks=(reassignment.check,),
        reassignment=reassignment,
        lost=tuple(
            (c, lost)
            for c in choices
            for lost in c.lost
            if lost.by_reassignment and max({*lost.brokers} & {*c.reassigned}) == broker
        ),
    )


def _reasons(choices: Sequence[Choice], broker: int) -> Iterator[str]:
    """Why copies of one broker are made again, each reason once."""
    if any(broker in c.apart for c in choices):
        yield (
            f"The copy of broker {broker} differs from the leader's inside the log: records "
            "differ, or one of the two lacks some. Kafka never notices."
        )
    led = [c for c in choices if broker == c.leader]
    if any(broker in c.damaged for c in choices if c not in led):
        yield (
            f"The copy of broker {broker} is damaged, and the leader's is whole. A follower never "
            "fetches again what it has, so it would serve the damage when it leads."
        )
    for c in led:
        yield (
            f"{shown(c.name)}: consumers stop at the damage of broker {broker}, offset "
            f"{c.unreadable_from:,}. Every other copy is whole once it is in sync, and one of them "
            "leads from here on."
        )


def _add(choices: Sequence[Choice], broker: int) -> PlanStep:
    names = ", ".join(shown(c.name) for c in choices)
    reassignment = Reassignment(
        file=f"add-to-{broker}.json", assignments=tuple((c, _assigned(c)) for c in choices)
    )
    return PlanStep(
        kind=StepKind.ADD,
        title=f"Give {names} back to broker {broker}, which copies the leader's records",
        texts=(
            "To copy slowly, add --throttle BYTES_PER_SECOND to --execute; --verify ends it when "
            "the copy is in sync.",
        ),
        commands=reassignment.commands,
        brokers=(broker,),
        checks=(reassignment.check,),
        reassignment=reassignment,
    )


def _assigned(choice: Choice) -> tuple[int, ...]:
    """The brokers of the partition, the preferred leader first as far as that is known."""
    return choice.assigned or (choice.leader, *sorted({*choice.paths} - {choice.leader}))


def _unknown_assignments(choices: Sequence[Choice]) -> Iterator[str]:
    unknown = ", ".join(shown(c.name) for c in choices if not c.assigned)
    if unknown:
        yield (
            f"The assignment of {unknown} is not known: the JSON names the brokers whose copies "
            "were supplied. Write into both files what kafka-topics.sh --describe shows as "
            "Replicas, in that order."
        )
