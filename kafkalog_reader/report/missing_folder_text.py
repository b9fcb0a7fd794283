"""What becomes of partitions of which a broker that starts has no folder."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kafkalog_reader.io.names import shown
from kafkalog_reader.report.open_finding_text import several_text
from kafkalog_reader.report.plan_step import brokers_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kafkalog_reader.audits.plan.choice import Choice
    from kafkalog_reader.audits.plan.plan import Plan


def missing_folder_texts(plan: Plan, brokers: Sequence[int]) -> Iterator[str]:
    """What brokers create that lack folders; those that lack the same in one text."""
    for names, lacking in _alike(brokers, partial(_moved_aside, plan)):
        copies = "its copy was" if len(names) == len(lacking) == 1 else "their copies were"
        yield (
            f"{_none(lacking, names)}, because {copies} moved aside: "
            f"{_copies(len(lacking), len(names))}"
        )
    for names, lacking in _alike(brokers, partial(_without_folder, plan)):
        yield (
            f"{_none(lacking, names)}: {_copies(len(lacking), len(names))} {_put_back(len(names))}"
        )
    for names, lacking in _alike(brokers, partial(_lost_whole, plan)):
        yield (
            f"{_none(lacking, names)}, nor has another broker: "
            f"{_creates(len(lacking), len(names))}, and new records get the offsets from 0 on. "
            f"{_put_back(len(names))}"
        )


def _alike(
    brokers: Iterable[int], names_on: Callable[[int], tuple[str, ...]]
) -> Iterator[tuple[tuple[str, ...], list[int]]]:
    """The partitions that brokers lack, each time with the brokers that lack just these."""
    lacking: dict[tuple[str, ...], list[int]] = {}
    for broker in brokers:
        if names := names_on(broker):
            lacking.setdefault(names, []).append(broker)
    yield from lacking.items()


def _lacking(plan: Plan, broker: int) -> list[Choice]:
    given = {each.choice.name for each in plan.order.replaced if each.broker_id == broker}
    return [c for c in plan.choices if broker in c.lacking and c.name not in given]


def _moved_aside(plan: Plan, broker: int) -> tuple[str, ...]:
    return tuple(each.name for each in _lacking(plan, broker) if broker in each.replaced)


def _without_folder(plan: Plan, broker: int) -> tuple[str, ...]:
    return tuple(each.name for each in _lacking(plan, broker) if broker not in each.replaced)


def _lost_whole(plan: Plan, broker: int) -> tuple[str, ...]:
    return tuple(each.name for each in plan.lost_already if broker in each.brokers)


def _none(brokers: Sequence[int], names: Sequence[str]) -> str:
    which = shown(names[0]) if len(names) == 1 else several_text([*map(shown, names)])
    who = brokers_text(brokers)
    return (
        f"{who[0].upper()}{who[1:]} {'has' if len(brokers) == 1 else 'have'} no folder of {which}"
    )


def _creates(brokers: int, names: int) -> str:
    what = "an empty one" if names == 1 else "empty ones"
    return f"it creates {what}" if brokers == 1 else "they create empty ones"


def _copies(brokers: int, names: int) -> str:
    copies = "copies" if brokers == 1 else "copy"
    leaders = "the leader" if names == 1 else "the leaders"
    return f"{_creates(brokers, names)}, and {copies} the records of {leaders}."


def _put_back(count: int) -> str:
    folder, was, it = ("folder is", "was", "it") if count == 1 else ("folders are", "were", "them")
    return (
        f"If the old {folder} somewhere, such as on another disk or in a backup, and {was} not "
        f"moved aside for a reason, put {it} back first and make the plan again."
    )
