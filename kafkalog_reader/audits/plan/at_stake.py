"""What the order of starts keeps: what another order of the same starts can lose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.committed import CommitCount

if TYPE_CHECKING:
    from kafkalog_reader.audits.plan.choice import Choice
    from kafkalog_reader.audits.plan.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class AtStake:
    """Records that another order can lose, beyond what the plan loses.

    Attributes:
        names: of the partitions for which brokers wait.
        is_all: whether nothing else depends on the order, so that it may be ignored by those who
            can do without these records.
    """

    records: CommitCount
    names: tuple[str, ...]
    is_all: bool


def at_stake(plan: Plan) -> AtStake:
    """Sum up the worst elections of all partitions whose leader other brokers wait for."""
    choices = [each.choice for start in plan.order.starts for each in start.settled]
    records = CommitCount()
    for choice in choices:
        wrong = [each.lost for each in choice.alternatives if each.broker_id in choice.others]
        worst = max(wrong, key=lambda each: (each.known, each.total), default=CommitCount())
        records += worst - choice.lost_records
    nothing_else = not (
        plan.set_aside or plan.order.replaced or plan.reassigned or plan.open_findings or plan.lost
    )
    return AtStake(
        records=records,
        names=tuple(choice.name for choice in choices),
        is_all=nothing_else and all(map(_is_all_known, choices)),
    )


def _is_all_known(choice: Choice) -> bool:
    """Whether records are all that another leader costs, and each broker's loss is known."""
    predicted = {each.broker_id for each in choice.alternatives if not each.never_in_sync}
    return (
        choice.others <= predicted
        and choice.unseen is None
        and choice.unreadable_from is None
        and not (choice.stays_leaderless or choice.refetching or choice.epoch_rows)
    )
