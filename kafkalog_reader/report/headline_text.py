"""Writes the headline of a partition: the worst of all findings, including consequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE, codes_with
from kafkalog_reader.audits.catalogue.input_rules import REPLICA_NOT_SUPPLIED
from kafkalog_reader.audits.catalogue.replica_rules import (
    LAGGING_REPLICA,
    NO_COMMON_RANGE,
    SAME_EPOCH_CONFLICT,
    SUPERSEDED_TAIL,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import SEVERITIES
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.integrity.damage import are_damaged, is_damage
from kafkalog_reader.audits.log.record_count import behind_text, start_adds_text
from kafkalog_reader.audits.partition.lost_start import lacking_starts
from kafkalog_reader.audits.partition.replica_findings import missing_text
from kafkalog_reader.format.broker_words import joined, joined_names
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.election_text import choice_text
from kafkalog_reader.report.spans import Style, listed, offsets_text
from kafkalog_reader.report.start_text import start_trouble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

DAMAGED_WORD: Final = "DAMAGED"
WORDS: Final = {
    Verdict.CONSISTENT: "identical",
    Verdict.LAGGING: "lagging",
    Verdict.PENDING_TRUNCATION: "PENDING TRUNCATION",
    Verdict.FORKED: "FORKED",
    Verdict.DAMAGED_RECOVERABLE: DAMAGED_WORD,
    Verdict.DAMAGED_UNRECOVERABLE: "DAMAGED, NO INTACT COPY SUPPLIED",
    Verdict.UNDECIDABLE: "UNDECIDABLE",
    Verdict.COMMITTED_MISSING: "COMMITTED RECORDS MISSING",
}
QUICK_WORD: Final = "alike at the end"
"""For ``--quick`` without a difference."""
SOUND_WORD: Final = "sound"
"""For a single copy."""
NOT_SOUND_WORD: Final = "NOT SOUND"
"""For equal copies, or a single one, with other problems than damage."""
NOT_READ_WORD: Final = "NOT READ IN FULL"
"""For a copy that is set aside although it is not known to be damaged."""
LAGGING_WORD: Final = "LAGGING"
"""For a short copy whose election loses committed records, and may happen.
"""
_HARMLESS: Final = frozenset({Verdict.CONSISTENT, Verdict.LAGGING})
_NAMES_DAMAGE: Final = frozenset({Verdict.DAMAGED_RECOVERABLE, Verdict.DAMAGED_UNRECOVERABLE})
_ALARMING: Final = "CH"
_CONSEQUENCES: Final = 2
"""Maximum findings in one headline; all are listed below it."""
_NOT_READ: Final = codes_with(Role.NOT_READ)
_PICTURED: Final = codes_with(Role.PICTURED)
_OF_SEVERAL: Final = codes_with(Role.SEVERAL_REPLICAS)


def worst_severity(audit: PartitionAudit, found: Sequence[Finding]) -> str:
    """The worst of all findings; at least H if something was undecidable or not read."""
    severities = ["H" if each.code in _NOT_READ else each.severity for each in found]
    if audit.reason and not audit.is_metadata:  # the quorum decides about its own log
        severities.append("H")
    return min(severities, key=SEVERITIES.index, default="I")


def is_alarming(audit: PartitionAudit, found: Sequence[Finding]) -> bool:
    """Whether the worst finding is critical or high."""
    return worst_severity(audit, found) in _ALARMING


def word_of(audit: PartitionAudit, found: Sequence[Finding]) -> str:
    """The verdict as text; never "sound" or "identical" if something is wrong."""
    is_damaged, word = are_damaged(found), WORDS[audit.verdict]
    if audit.verdict in _NAMES_DAMAGE:
        return NOT_READ_WORD if audit.set_aside and not is_damaged else word
    if audit.verdict is Verdict.COMMITTED_MISSING:
        return f"{word}, {DAMAGED_WORD}" if is_damaged else word
    if audit.verdict not in _HARMLESS:
        return f"{DAMAGED_WORD}, {word}" if is_damaged else word
    if is_alarming(audit, found):
        if is_damaged:
            return DAMAGED_WORD
        is_the_lag = audit.verdict is Verdict.LAGGING and not _troubles(audit, found)
        return LAGGING_WORD if is_the_lag else NOT_SOUND_WORD
    if audit.verdict is Verdict.CONSISTENT and len(audit.replicas) == 1:
        return SOUND_WORD
    return _relation_word(audit)


def style_of(audit: PartitionAudit, found: Sequence[Finding]) -> Style:
    """The style; green only if the copies are equal and nothing is wrong."""
    if audit.verdict is Verdict.PENDING_TRUNCATION:
        return Style.ATTENTION
    if audit.verdict not in _HARMLESS or is_alarming(audit, found):
        return Style.LOST
    return Style.SOUND if audit.verdict is Verdict.CONSISTENT else Style.ATTENTION


def details_of(audit: PartitionAudit, found: Sequence[Finding]) -> str:
    """The text after the verdict: the worst first, then how the copies compare."""
    if audit.missing is not None:
        parts = [_missing_details(audit), *_troubles(audit, found)]
        return "; ".join([*parts, f"{_copies(audit, found)}: {_relation_word(audit)}"])
    if audit.set_aside:
        return _set_aside_details(audit, found)
    if audit.verdict not in _HARMLESS:
        return _relation_details(audit, found)
    relation = _relation_details(audit, found)
    return "; ".join([*_troubles(audit, found), relation] if relation else _troubles(audit, found))


def in_short(audit: PartitionAudit, found: Sequence[Finding]) -> str:
    """The text after the verdict in the line of one partition among many."""
    if audit.verdict is Verdict.FORKED:
        return f"at offset {audit.fork_offset:,}; {shown(choice_text(audit))}"
    if audit.verdict in _NAMES_DAMAGE:
        worst = next((each for each in found if each.severity in _ALARMING), None)
        return "" if worst is None else shown(worst.message)
    if audit.missing is not None:
        return shown(_missing_details(audit))
    if audit.verdict is Verdict.LAGGING and not _troubles(audit, found):
        return shown(_relation_details(audit, found))
    return shown(details_of(audit, found))


def _lagging_details(found: Sequence[Finding]) -> str:
    """How far copies are behind, those with the same lag together; the lanes show their ends."""
    names: dict[tuple[int, int, bool], list[str]] = {}
    for each in found:
        if each.code == LAGGING_REPLICA and each.directory is not None:
            evidence = dict(each.evidence)
            lost = int(evidence["committedLostIfElected"])
            lag = int(evidence["records"]), lost, "isBeingAdded" in evidence
            names.setdefault(lag, []).append(each.directory.replica_name)
    return "; ".join(
        f"{joined(of_lag)} {behind_text(records, len(of_lag))}"
        f"{_loses(records, lost, len(of_lag))}{', added by a reassignment' if is_added else ''}"
        for (records, lost, is_added), of_lag in names.items()
    )


def _loses(behind: int, committed: int, copies: int) -> str:
    if not committed:
        return ""
    records = "record" if committed == 1 else "records"
    who = "it" if copies == 1 else "each"
    more = start_adds_text(behind, committed)
    return f" (if elected, {who} loses {committed:,} committed {records}{more})"


def _missing_details(audit: PartitionAudit) -> str:
    missing = audit.missing
    assert missing is not None
    return missing_text(audit, missing, offsets_text(missing.first_offset, missing.next_offset))


def _troubles(audit: PartitionAudit, found: Sequence[Finding]) -> list[str]:
    """Problems although the copies agree: what starts do, or else the worst findings."""
    starts = [shown(what) for what, _ in start_trouble(audit)]
    if starts:
        return starts
    alarming = [
        each
        for each in found
        if (each.severity in _ALARMING or each.code in _NOT_READ) and each.code not in _PICTURED
        if each.code != LAGGING_REPLICA and not follows(each, found)
    ]
    places: dict[str, list[str]] = {}
    for each in alarming:
        names = places.setdefault(f"{CATALOGUE[each.code].title} ({each.code})", [])
        if each.directory is not None and each.directory.replica_name not in names:
            names.append(each.directory.replica_name)
    titles = [shown(f"{joined(at)}: {title}" if at else title) for title, at in places.items()]
    if len(titles) > _CONSEQUENCES:
        return [*titles[: _CONSEQUENCES - 1], f"{len(titles) - _CONSEQUENCES + 1:,} more below"]
    return titles


def follows(each: Finding, found: Sequence[Finding]) -> bool:
    """Whether a finding of the same copy explains this one, and says no less.

    A critical finding is shown beside its cause: it may name what is lost.
    """
    return (
        each.caused_by is not None
        and each.severity != "C"
        and any(
            cause.directory == each.directory
            and SEVERITIES.index(cause.severity) <= SEVERITIES.index(each.severity)
            and each.caused_by == f"{cause.code} {cause.file} {cause.position}"
            for cause in found
        )
    )


def _relation_word(audit: PartitionAudit) -> str:
    if audit.relation is Verdict.CONSISTENT and audit.compared_from is not None:
        return QUICK_WORD
    return WORDS[audit.relation]


def _copies(audit: PartitionAudit, found: Sequence[Finding]) -> str:
    """``3 replicas``, or ``2 of 3 replicas`` if the cluster metadata has more."""
    count = len(audit.everyone)
    assigned = count if audit.membership is None else len(audit.membership.replicas)
    is_partial = any(each.code == REPLICA_NOT_SUPPLIED for each in found)
    if is_partial and assigned > count:
        return f"{count} of {assigned} replicas supplied"
    return f"{count} replica{'' if count == 1 else 's'}"


def _relation_details(audit: PartitionAudit, found: Sequence[Finding]) -> str:
    """How the copies compare."""
    match audit.relation:
        case Verdict.FORKED:
            return _fork_details(audit, found)
        case Verdict.DAMAGED_RECOVERABLE:
            where = f"{_damaged_on(audit, found)}{_forked_at(audit)}"
            return f"{where}every damaged or missing record is on another copy"
        case Verdict.DAMAGED_UNRECOVERABLE:
            if audit.is_only_replica:
                return f"{_damaged_on(audit, found)}no other broker has a replica"
            if len(audit.replicas) == 1:
                return f"{_damaged_on(audit, found)}whether another replica is intact is unknown"
            where = f"{_damaged_on(audit, found)}{_forked_at(audit)}"
            return f"{where}no supplied copy has all of it intact"
        case Verdict.PENDING_TRUNCATION:
            return _messages(found, SUPERSEDED_TAIL)
        case Verdict.LAGGING:
            return _lagging_details(found) or _messages(found, NO_COMMON_RANGE)
        case Verdict.CONSISTENT:
            return _consistent_details(audit, found)
        case _:
            return audit.reason


def _consistent_details(audit: PartitionAudit, found: Sequence[Finding]) -> str:
    copies = _copies(audit, found)
    if len(audit.replicas) == 1:
        supplied = copies if " of " in copies else "one copy supplied"
        return f"{supplied}, nothing to compare"
    if is_alarming(audit, found):
        copies = f"{copies}, {_relation_word(audit)}{_from_lost_start(audit)}"
    if audit.compared_from is not None:
        return f"{copies}, below offset {audit.compared_from:,} not compared"
    return copies


def _from_lost_start(audit: PartitionAudit) -> str:
    """From where copies are identical if some have lost their beginning."""
    start = max((replica.log_start for replica, _ in lacking_starts(audit)), default=None)
    return "" if start is None else f" from offset {start:,} on"


def _set_aside_details(audit: PartitionAudit, found: Sequence[Finding]) -> str:
    """Which copies are left out, and how the others compare."""
    out = joined_names(audit.everyone[len(audit.replicas) :])
    others = joined_names(audit.replicas)
    relation = _relation_word(audit)
    details = _relation_details(audit, found)
    return f"{out} cannot be compared, {others}: {relation}{f', {details}' if details else ''}"


def _messages(found: Sequence[Finding], code: str) -> str:
    return "; ".join(each.message for each in found if each.code == code)


def _fork_details(audit: PartitionAudit, found: Sequence[Finding]) -> str:
    offset = audit.fork_offset
    assert offset is not None
    if any(each.code == SAME_EPOCH_CONFLICT for each in found):
        return f"at offset {offset:,} · the copies differ there under one leader epoch"
    known = {replica.history.lineage.epoch_at(offset) for replica in audit.replicas}
    epochs = [str(epoch) for epoch in sorted(e for e in known if e is not None)]
    if len(epochs) <= 1:  # one epoch for both sides explains nothing
        return f"at offset {offset:,} · the copies hold different records there"
    return f"at offset {offset:,} · leader epochs {listed(epochs)} write different records there"


def _forked_at(audit: PartitionAudit) -> str:
    """The fork of copies whose verdict names the damage."""
    offset = audit.record_fork
    return "" if offset is None else f"forked at offset {offset:,} · "


def _damaged_on(audit: PartitionAudit, found: Sequence[Finding]) -> str:
    """The copies whose own files are damaged, whatever the others hold."""
    directories = {
        each.directory
        for each in found
        if each.directory is not None and is_damage(each) and each.code not in _OF_SEVERAL
    }
    damaged = [each for each in audit.everyone if each.directory in directories]
    return f"on {joined_names(damaged)} · " if damaged else ""
