"""What becomes of partitions of which a broker that starts has no folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.io.names import shown
from kafkalog_reader.report.open_finding_text import several_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.plan.plan import Plan


def missing_folder_texts(plan: Plan, broker: int) -> Iterator[str]:
    """What a broker creates that lacks folders; partitions of the same kind in one text."""
    given = {each.choice.name for each in plan.order.replaced if each.broker_id == broker}
    lacking = [c for c in plan.choices if broker in c.lacking and c.name not in given]
    if moved := [choice.name for choice in lacking if broker in choice.replaced]:
        copies = "its copy was" if len(moved) == 1 else "their copies were"
        yield f"{_none(broker, moved)}, because {copies} moved aside: {_copies(len(moved))}"
    if empty := [choice.name for choice in lacking if broker not in choice.replaced]:
        yield f"{_none(broker, empty)}: {_copies(len(empty))} {_put_back(len(empty))}"
    if lost := [each.name for each in plan.lost_already if broker in each.brokers]:
        creates = "it creates an empty one" if len(lost) == 1 else "it creates empty ones"
        yield (
            f"{_none(broker, lost)}, nor has another broker: {creates}, and new records get the "
            f"offsets from 0 on. {_put_back(len(lost))}"
        )


def _none(broker: int, names: list[str]) -> str:
    which = shown(names[0]) if len(names) == 1 else several_text([*map(shown, names)])
    return f"Broker {broker} has no folder of {which}"


def _copies(count: int) -> str:
    if count == 1:
        return "it creates an empty one, and copies the records of the leader."
    return "it creates empty ones, and copies the records of the leaders."


def _put_back(count: int) -> str:
    folder, was, it = ("folder is", "was", "it") if count == 1 else ("folders are", "were", "them")
    return (
        f"If the old {folder} somewhere, such as on another disk or in a backup, and {was} not "
        f"moved aside for a reason, put {it} back first and make the plan again."
    )
