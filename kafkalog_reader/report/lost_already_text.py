"""What a plan says is lost before any start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.log.record_count import records_text
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.open_finding_text import several_text
from kafkalog_reader.report.spans import offsets_text

if TYPE_CHECKING:
    from kafkalog_reader.audits.plan.plan import Plan


def lost_already_text(plan: Plan) -> str:
    """What is lost before any start; empty if nothing is known to be."""
    lost = plan.lost_already
    if not lost:
        return ""
    count = sum(each.max_records for each in lost)
    known = sum(each.max_records for each in lost if each.is_committed)
    committed = (
        "" if not known else ", all committed" if known == count else f", {known:,} committed"
    )
    names = [*dict.fromkeys(each.name for each in lost)]
    if len(lost) == 1:
        where = f"{lost[0].name} {offsets_text(lost[0].first_offset, lost[0].next_offset)}"
    else:
        where = names[0] if len(names) == 1 else several_text(names)
    return shown(
        f"Lost already, whatever starts: up to {records_text(count)}{committed} ({where}), which "
        "no supplied copy holds."
    )
