"""Whether the next start of the brokers can go wrong: one answer for every command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.plan.at_stake import at_stake

if TYPE_CHECKING:
    from kafkalog_reader.audits.plan.plan import Plan


def is_safe_in_any_order(plan: Plan) -> bool:
    """Whether no order of starts, with the files as they are, loses what may be committed.

    What findings say is not repeated here, and partitions without a plan are not counted. Voters
    whose files are not here may run elsewhere.
    """
    if not plan.has_work:
        return not (plan.deleted or plan.went_back or plan.exchanged)
    stake = at_stake(plan)
    lost = stake.records
    may_be_committed = lost.total > lost.uncommitted or bool(lost.damaged)
    return plan.is_order_alone and stake.is_all and not may_be_committed
