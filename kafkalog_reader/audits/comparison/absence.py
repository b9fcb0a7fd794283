"""Why a log has no batch at an offset that other logs of its branch have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.difference import DifferenceKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.comparison.compared_log import ComparedLog


def reasons_of_absence(
    absent: Sequence[ComparedLog], offset: int
) -> dict[DifferenceKind, list[ComparedLog]]:
    """Why logs of one branch have no batch at an offset, with the logs of each reason."""
    reasons: dict[DifferenceKind, list[ComparedLog]] = {}
    for log in absent:
        if log.stream.hidden(offset):
            kind = DifferenceKind.HIDDEN
        elif any(other.may_be_cleaned(offset) for other in absent):
            kind = DifferenceKind.CLEANED  # or copied from one that was cleaned
        else:
            kind = DifferenceKind.MISSING
        reasons.setdefault(kind, []).append(log)
    return reasons
