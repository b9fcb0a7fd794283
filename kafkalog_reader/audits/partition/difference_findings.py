"""Findings about ranges of offsets in which copies of one partition differ."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import (
    CHECK_HARDWARE,
    LET_BEST_LEAD,
    MOVE_COPY_ASIDE,
    REPORT_DEFECT,
    SAVE_RECORDS,
)
from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE, codes_with
from kafkalog_reader.audits.catalogue.replica_rules import (
    COMPACTION_SKEW,
    DAMAGED_COPY,
    RECORDS_MISSING_ON_REPLICA,
    SAME_EPOCH_CONFLICT,
    UNCOVERED_FIELD_MISMATCH,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.traps import TOPIC_CREATED_AGAIN
from kafkalog_reader.audits.comparison.difference import Difference, DifferenceKind
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.partition.partition_audit import outvoted_copies
from kafkalog_reader.format.broker_words import joined_names
from kafkalog_reader.format.offset_words import offsets_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

_CODE_OF: Final = {
    DifferenceKind.CONFLICT: SAME_EPOCH_CONFLICT,
    DifferenceKind.DAMAGED: DAMAGED_COPY,
    DifferenceKind.HIDDEN: DAMAGED_COPY,
    DifferenceKind.UNCOVERED: UNCOVERED_FIELD_MISMATCH,
    DifferenceKind.MISSING: RECORDS_MISSING_ON_REPLICA,
    DifferenceKind.CLEANED: COMPACTION_SKEW,
}
_SAYS: Final = {
    DifferenceKind.CONFLICT: "different content under one leader epoch, every checksum valid",
    DifferenceKind.DAMAGED: "a damaged copy differs from an intact one",
    DifferenceKind.HIDDEN: "after damage on one copy, readable on another",
    DifferenceKind.UNCOVERED: "equal content, but a header field that no checksum covers differs",
    DifferenceKind.MISSING: "absent on a copy whose log continues after it",
    DifferenceKind.CLEANED: "compaction has gone further on one copy",
}
_UNLIKE_ITS_LOG: Final = codes_with(Role.UNLIKE_ITS_LOG)
_CLEANED_AWAY: Final = "compaction has gone further where they are absent"
_EQUAL_RECORDS: Final = "equal records in batches with other bounds"


def difference_findings(
    audit: PartitionAudit, differences: Sequence[Difference]
) -> Iterator[Finding]:
    """Yield a finding for each difference, except batches that are damaged on every copy."""
    for difference in differences:
        if difference.kind in _CODE_OF and not _is_damaged_everywhere(difference):
            yield _of_difference(audit, difference)


def _is_damaged_everywhere(difference: Difference) -> bool:
    """Whether no copy is valid, so that none is a reference for the others (F33)."""
    holders = {replica for side in difference.contents for replica in side}
    return difference.kind is DifferenceKind.DAMAGED and holders <= set(difference.damaged)


def _of_difference(audit: PartitionAudit, difference: Difference) -> Finding:
    sides = " | ".join(map(joined_names, difference.contents))
    absent = joined_names(difference.absent) if difference.absent else ""
    wrong = difference.damaged if difference.kind is DifferenceKind.UNCOVERED else ()
    intact = [r for side in difference.contents for r in side if r not in difference.damaged]
    code = _CODE_OF[difference.kind]
    are_of_one_topic = all(each.files.topic_id for each in audit.replicas)
    ruled_out = {TOPIC_CREATED_AGAIN} if are_of_one_topic else set()
    return finding(
        code,
        f"{offsets_words(difference.first_offset, difference.next_offset)}: "
        f"{_says(difference)} ({sides}{f'; absent on {absent}' if absent else ''})"
        + _wrong_header(difference, wrong, intact),
        actions=_actions(audit, difference, wrong),
        directory=wrong[0].directory if len(wrong) == 1 else None,
        offsets=(difference.first_offset, difference.next_offset),
        evidence={
            "copies": sides,
            "absent": absent,
            "damaged": joined_names(difference.damaged) if difference.damaged else "",
            "intact": joined_names(intact) if intact else "",
            "batches": difference.batches,
        },
        records_at_risk=difference.records,
        lookalikes=tuple(each for each in CATALOGUE[code].lookalikes if each not in ruled_out),
    )


def _actions(
    audit: PartitionAudit, difference: Difference, wrong: Sequence[Replica]
) -> tuple[str, ...] | None:
    """What to do where the rule's own actions do not fit; None where they do."""
    if difference.kind is DifferenceKind.UNCOVERED and not wrong:
        return LET_BEST_LEAD, CHECK_HARDWARE
    if difference.kind is not DifferenceKind.CONFLICT:
        return None
    outvoted = {each.files for each in outvoted_copies(audit)}
    left = [side for side in difference.contents if not outvoted.issuperset(side)]
    return (SAVE_RECORDS, MOVE_COPY_ASIDE, REPORT_DEFECT) if len(left) == 1 else None


def _says(difference: Difference) -> str:
    if difference.kind is DifferenceKind.CLEANED:
        if difference.records == 0:
            return _EQUAL_RECORDS
        if difference.absent:
            return _CLEANED_AWAY
    return _SAYS[difference.kind]


def _wrong_header(
    difference: Difference, wrong: Sequence[Replica], intact: Sequence[Replica]
) -> str:
    """Which copies have a wrong base offset or leader epoch, and what that means for consumers."""
    if not difference.moved:
        return f"; the leader epoch is wrong on {joined_names(wrong)}" if wrong else ""
    is_one = difference.next_offset - difference.first_offset == 1
    offsets, them = ("this offset", "it") if is_one else ("these offsets", "them")
    have = f", but {joined_names(intact)} {'has' if len(intact) == 1 else 'have'} {them}"
    return (
        f"; the base offset is wrong on {joined_names(difference.moved)}: consumers cannot fetch "
        f"{offsets} there{have if intact else ''}"
    )


def with_indexes_kept(found: Sequence[Finding]) -> Iterator[Finding]:
    """The findings; no index is moved aside while nobody knows which content of a log is right.

    An index that fits no batch shows that the log may be another one's: it is evidence for the
    person who has to choose, and the next start would write one that fits.
    """
    conflict = next((each for each in found if each.code == SAME_EPOCH_CONFLICT), None)
    for each in found:
        if conflict is None or each.code not in _UNLIKE_ITS_LOG:
            yield each
            continue
        yield replace(
            each,
            message=f"{each.message}; keep the file until somebody has chosen the right content: "
            "it may show that this log is another one's",
            actions=conflict.actions[:1],
            repairs=(),
        )
