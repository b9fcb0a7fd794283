"""What makes a plan possible where a copy must leave its log directory first."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from kafkalog_reader.audits.integrity.file_repair import move_aside
from kafkalog_reader.report.plan_step import brokers_text, salvage_command
from kafkalog_reader.report.repair_text import move_commands

if TYPE_CHECKING:
    from kafkalog_reader.audits.plan.plan import Plan
    from kafkalog_reader.audits.plan.unanswered import Unanswered


def way_out_text(each: Unanswered) -> str:
    """What the commands do, and what it costs; empty if there are none."""
    if each.misplaced_copies:
        return f"Move {each.name} aside while every broker is stopped:"
    if not each.unknown_copies:
        return ""
    brokers = brokers_text([copy.broker_id for copy in each.unknown_copies])
    own = "its" if len(each.unknown_copies) == 1 else "their"
    return (
        f"Unless you can repair that: save what can be read on {brokers}, move {own} copy of "
        f"{each.name} aside while every broker is stopped, and make this plan again. Then another "
        "copy leads, and what only the moved copy held is in the saved files or lost."
    )


def way_out_commands(plan: Plan, each: Unanswered) -> tuple[str, ...]:
    """Save the copies whose content is unknown, and move them, or misplaced ones, aside."""
    saves = [salvage_command(plan, copy, copy.broker_id) for copy in each.unknown_copies]
    moves = [
        command
        for copy in (*each.unknown_copies, *each.misplaced_copies)
        for command in move_commands(move_aside(*posixpath.split(copy.path.rstrip("/"))))
    ]
    return (*saves, *moves)
