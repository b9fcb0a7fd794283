"""One partition in the page: what ``replica-diff`` prints, with the lanes as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.report.advice_text import advice_lines, not_known
from kafkalog_reader.report.advised_actions import listed_actions
from kafkalog_reader.report.election_text import candidate_rows, note_lines
from kafkalog_reader.report.html import (
    CLASSES,
    UNWRAPPED,
    commands_html,
    element,
    lines_html,
    list_html,
    text_html,
)
from kafkalog_reader.report.lanes import lanes_of
from kafkalog_reader.report.lanes_svg import drawing
from kafkalog_reader.report.membership_text import membership_lines
from kafkalog_reader.report.partition_text import OF_QUORUM, has_a_choice, trouble_lines
from kafkalog_reader.report.ranges_text import range_lines
from kafkalog_reader.report.start_text import start_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit


def partition_html(audit: PartitionAudit, found: Sequence[Finding]) -> str:
    """All about one partition below its name, in the order of ``replica-diff``."""
    is_decided = audit.verdict is not Verdict.UNDECIDABLE
    parts = []
    if is_decided:
        parts.append(f'<div class="scroll lanes" tabindex="0" role="region" aria-label="lanes">'
                     f"{drawing(lanes_of(audit))}</div>")  # fmt: skip
        parts.append(lines_html(membership_lines(audit, UNWRAPPED)))
    parts.append(lines_html(range_lines(audit, UNWRAPPED)))
    parts.append(lines_html(trouble_lines(found, UNWRAPPED, verbose=True)))
    if audit.is_metadata:
        parts.append(element("p", OF_QUORUM, "line"))
    elif is_decided and has_a_choice(audit, found):
        parts.append(lines_html(start_lines(audit, UNWRAPPED)))
        parts.append(_elections(audit))
        unknown = list_html(map(text_html, not_known(audit)))
        if unknown:
            parts.append(f'<div class="unknown"><h4>Not known</h4>{unknown}</div>')
        parts.append(lines_html(advice_lines(audit, UNWRAPPED)))
    parts.append(_actions(audit, found))
    return "".join(parts)


def _elections(audit: PartitionAudit) -> str:
    """The ranked candidates: what each would cut, and what would be lost."""
    table = list(candidate_rows(audit))
    if not table:
        return ""
    header, *rows = table
    head = "".join(f'<th scope="col">{text_html(cell.text)}</th>' for cell in header)
    body = "".join(
        "<tr>"
        + "".join(element("td", text_html(cell.text), CLASSES[cell.style]) for cell in row)
        + "</tr>"
        for row in rows
    )
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="candidates"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        f"{lines_html(note_lines(audit, UNWRAPPED))}"
    )


def _actions(audit: PartitionAudit, found: Sequence[Finding]) -> str:
    """What to do, each action with its commands."""
    items = [
        element("b", text_html(action.code))
        + text_html(f" {action.text} ({', '.join(action.codes)})")
        + commands_html(action.commands)
        for action in listed_actions(audit, found)
    ]
    return f"<h4>What to do</h4>{list_html(items, 'actions')}" if items else ""
