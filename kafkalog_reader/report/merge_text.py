"""What to do where no copy of a partition is intact, but a sound log can be made of them."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.integrity.file_repair import move_aside
from kafkalog_reader.report.repair_text import move_commands
from kafkalog_reader.report.shell_word import shell_word
from kafkalog_reader.report.spans import listed, offsets_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafkalog_reader.audits.partition.merge_outcome import MergeOutcome

_SHOWN: Final = 3


def merge_reason(outcome: MergeOutcome, copies: int) -> str:
    """Why a merged log is better than any copy, in a sentence or two."""
    corrected = outcome.corrected_batches
    batches = f"{corrected:,} {'batch' if corrected == 1 else 'batches'}"
    if copies == 1:
        reason = (
            f"{batches} of the only copy can be corrected"
            if corrected
            else "What can be read of the only copy makes a sound log"
        )
    elif outcome.gained_offsets <= 0:
        reason = "Every start cuts records after damage that a merged log keeps"
    else:
        reason = "No copy has every record intact, but a merged log has more than any of them"
    if copies > 1 and corrected:
        reason += f"; {batches} can be corrected"
    if out := len(outcome.left_out):
        reason += (
            f". {out} copies that end earlier, and that compaction "
            "left with other records, are not merged"
            if out > 1
            else ". 1 copy that ends earlier, and that compaction left with other records, is not "
            "merged"
        )
    if not outcome.lost:
        return f"{reason}. Nothing is lost then."
    lost = [offsets_text(first, stop) for first, stop in outcome.lost[:_SHOWN]]
    if len(outcome.lost) > _SHOWN:
        lost.append(f"{len(outcome.lost) - _SHOWN:,} more ranges")
    return f"{reason}. It lacks {listed(lost)}: no supplied copy has a readable batch there."


def placing_text(broker: str, copies: int) -> str:
    """Introduces the commands that put the merged log in the place of a copy."""
    if copies == 1:
        return (
            f"Then, while {broker} is stopped, put that log in the place of its copy, owned by the "
            "user of the broker; never delete the copy:"
        )
    return (
        "Then, while all of these brokers are stopped, move every copy aside, never delete one, "
        f"and put that log on {broker}, owned by the user of the broker. Run this again: {broker} "
        "has to lead, and the others copy from it."
    )


def placing_commands(path: str, others: Iterable[str], merged: str) -> tuple[str, ...]:
    """Move partition directories aside, and put the merged one in the place of the first."""
    moved: list[str] = []
    for each in (path, *others):
        moved += move_commands(move_aside(*posixpath.split(each.rstrip("/"))))
    root, name = posixpath.split(path.rstrip("/"))
    return (*moved, f"cp -a {shell_word(f'{merged}/{name}')} {shell_word(root)}/")
