"""Chooses the actions that the findings of one partition advise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import (
    ACTIONS,
    CHOOSE_A_BRANCH,
    COMPARE_REPLICAS,
    DO_NOT_START,
    FORBID_UNCLEAN_ELECTION,
    FORCE_RECOVERY,
    LET_BEST_LEAD,
    LOOK_FOR_A_COPY,
    MOVE_COPY_ASIDE,
    NOTHING_TO_DO,
    SAVE_RECORDS,
    SET_GROUP_OFFSET,
    SET_NO_OFFSET_YET,
    SUPPLY_WHAT_IS_MISSING,
    WRITE_EPOCHS,
)
from kafkalog_reader.audits.catalogue.checkpoint_rules import REPLICA_DIRECTORY_MISSING
from kafkalog_reader.audits.catalogue.log_rules import START_WILL_SET_ASIDE
from kafkalog_reader.audits.catalogue.replica_rules import (
    DAMAGED_COPY,
    RECORDS_MISSING_ON_REPLICA,
    SAME_EPOCH_CONFLICT,
    SINGLE_COPY_RANGE,
)
from kafkalog_reader.audits.comparison.compared_replicas import Comparison, NotCompared
from kafkalog_reader.audits.comparison.difference import Difference, DifferenceKind
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.partition.epoch_advice import files_to_write, may_happen
from kafkalog_reader.audits.partition.freeze import may_freeze
from kafkalog_reader.audits.partition.partition_audit import outvoted_copies
from kafkalog_reader.audits.plan.act import Act
from kafkalog_reader.audits.recovery.recovery import Recovery
from kafkalog_reader.format.broker_words import joined_names
from kafkalog_reader.report.action_commands import commands_of
from kafkalog_reader.report.advice_text import expected_election
from kafkalog_reader.report.before_start import before_texts, is_complete, until_text
from kafkalog_reader.report.lead_text import lead_text, may_move
from kafkalog_reader.report.repair_text import repair_commands
from kafkalog_reader.salvage.one_sided import one_sided_ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit

_NOT_FIRST: Final = frozenset(
    {
        COMPARE_REPLICAS,
        FORBID_UNCLEAN_ELECTION,
        LET_BEST_LEAD,
        NOTHING_TO_DO,
        SET_GROUP_OFFSET,
        SET_NO_OFFSET_YET,
        SUPPLY_WHAT_IS_MISSING,
    }
)
"""Actions that a plan says by itself, or that come after it."""
_URGENCY: Final = {code: place for place, code in enumerate(ACTIONS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvisedAction:
    """An action of the catalogue as findings of one partition advise it.

    Attributes:
        code: of the catalogue.
        text: what to do.
        commands: to be pasted; words in capitals must be replaced.
        codes: of the findings that advise it.
    """

    code: str
    text: str
    commands: tuple[str, ...]
    codes: tuple[str, ...]


def actions_of(
    audit: PartitionAudit, found: Sequence[Finding], *, severities: str = "CH"
) -> tuple[AdvisedAction, ...]:
    """The actions of findings with some severities, each once, the least destructive first."""
    asked = _asked(audit, [each for each in found if each.severity in severities])
    return tuple(
        _advised(audit, code, asked[code])
        for code in sorted(asked, key=_URGENCY.__getitem__)
        if not _is_pointless(audit, code, asked[code])
        # that says what to look for before the start
        and not (code == LOOK_FOR_A_COPY and DO_NOT_START in asked)
    )


def _asked(audit: PartitionAudit, found: Sequence[Finding]) -> dict[str, list[Finding]]:
    """The actions that findings ask for, each with those findings."""
    # Here the replicas are compared, and the table of candidates names the best.
    has_others = len(audit.everyone) > 1 or bool(audit.lacking)
    asked: dict[str, list[Finding]] = {}
    for each in found:
        if not may_happen(audit, each):
            continue
        for code in each.actions:
            if code == COMPARE_REPLICAS and has_others and audit.elections:
                code = LET_BEST_LEAD
            if code == LET_BEST_LEAD and not has_others:
                code = COMPARE_REPLICAS
            asked.setdefault(code, []).append(each)
    return asked


def _advised(audit: PartitionAudit, code: str, findings: Sequence[Finding]) -> AdvisedAction:
    replicas = _replicas(audit, findings)
    if code == MOVE_COPY_ASIDE:
        replicas = [each for each in replicas if may_move(audit, each)]
    if code == WRITE_EPOCHS:  # of KL-517 it may be the leader's
        written = {each for one in findings for each in files_to_write(audit, one)}
        replicas = [each for each in audit.everyone if each in written]
    repairs = (repair for each in findings if each.actions[0] == code for repair in each.repairs)
    commands = (*commands_of(code, audit, replicas), *repair_commands(repairs))
    return AdvisedAction(
        code=code,
        text=_text(audit, code, _named(audit, replicas, findings), findings),
        commands=tuple(dict.fromkeys(commands)),
        codes=tuple(sorted({each.code for each in findings})),
    )


def _text(
    audit: PartitionAudit,
    code: str,
    brokers: Sequence[ReplicaAudit | _Broker],
    findings: Sequence[Finding],
) -> str:
    if code == LET_BEST_LEAD:
        return lead_text(audit)
    where = joined_names(brokers) if brokers else "the broker"
    if code == COMPARE_REPLICAS:
        return f"before {where} may lead, run this again with the other copies"
    best = audit.elections[0].candidate.name if audit.elections else ""
    until = until_text(audit, findings)
    return ACTIONS[code].text(where, best, are_several=len(brokers) > 1, until=until)


def _is_pointless(audit: PartitionAudit, code: str, found: Sequence[Finding]) -> bool:
    """Whether an action of a rule has nothing to act on in this partition."""
    if code == LET_BEST_LEAD:  # a merged log leads, wherever it is put
        return not audit.elections or audit.merge is not None
    if code == SAVE_RECORDS:  # otherwise what will lead holds everything
        return bool(audit.elections) and not (
            expected_election(audit).lacking_ranges or one_sided_ranges(audit)
        )
    if code == CHOOSE_A_BRANCH:
        is_merged = audit.merge is not None and not audit.merge.lost
        return is_merged or (audit.record_fork is None and not one_sided_ranges(audit))
    if code == MOVE_COPY_ASIDE:  # of the only replica, unless it belongs to another topic
        is_foreign = any(each.code == START_WILL_SET_ASIDE for each in found)
        is_only = audit.is_only_replica and not is_foreign
        is_needed = not any(may_move(audit, each) for each in _replicas(audit, found))
        return audit.merge is not None or is_only or is_needed or _start_cuts_damage(audit, found)
    if code == FORCE_RECOVERY:  # of one segment is enough
        starts = (each.start for each in audit.everyone)
        return any(isinstance(s, Recovery) and s.rebuild is not None for s in starts)
    if code == COMPARE_REPLICAS:  # there is no other copy to add
        return audit.is_only_replica or is_complete(audit)
    if code == SUPPLY_WHAT_IS_MISSING:
        return is_complete(audit)
    return code == FORBID_UNCLEAN_ELECTION and not may_freeze(audit)


def listed_actions(
    audit: PartitionAudit, found: Sequence[Finding], *, verbose: bool = False
) -> tuple[AdvisedAction, ...]:
    """The actions of ``action_lines``."""
    if audit.verdict is Verdict.LAGGING:  # followers fetch what only their leader has
        found = [each for each in found if each.code != SINGLE_COPY_RANGE]
    actions = actions_of(audit, found, severities="CHM" if verbose else "CH")
    if audit.elections and expected_election(audit).lacking_ranges:
        # What to save is listed right above.
        actions = tuple(action for action in actions if action.code != SAVE_RECORDS)
    return actions


def first_acts(audit: PartitionAudit, found: Sequence[Finding]) -> tuple[Act, ...]:
    """What ``action_lines`` has to do before a start, without what a plan has as steps."""
    name = f"{audit.topic}-{audit.partition}"
    return tuple(
        Act(text=text, commands=each.commands, codes=each.codes, partitions=(name,))
        for each in listed_actions(audit, found)
        if each.code not in _NOT_FIRST
        and (text := _before_text(audit, found) if each.code == DO_NOT_START else each.text)
    )


def _before_text(audit: PartitionAudit, found: Sequence[Finding]) -> str:
    """What "do not start yet" is to wait for; empty if that is a step of the plan."""
    asking = [each for each in found if each.severity in "CH" and DO_NOT_START in each.actions]
    return "; ".join(before_texts(audit, asking))


def _replicas(audit: PartitionAudit, found: Sequence[Finding]) -> list[ReplicaAudit]:
    directories = {each.directory for each in found}
    roots = {each.log_directory for each in directories if each is not None and each.topic is None}
    damaged: set[Replica] = set()
    if isinstance(audit.comparison, Comparison) and any(
        each.code == DAMAGED_COPY for each in found
    ):
        damaged = {copy for each in audit.comparison.differences for copy in _damaged_copies(each)}
    if any(each.code == RECORDS_MISSING_ON_REPLICA for each in found):
        damaged |= _with_holes(audit)
    if any(each.code == SAME_EPOCH_CONFLICT for each in found):
        damaged |= {each.files for each in outvoted_copies(audit)}
    return [
        replica
        for replica in audit.everyone
        if replica.directory in directories
        or replica.directory.log_directory in roots
        or replica.files in damaged
    ]


def _damaged_copies(difference: Difference) -> tuple[Replica, ...]:
    """Copies where records cannot be read: damaged, or after damage."""
    is_hidden = difference.kind is DifferenceKind.HIDDEN
    return (*difference.damaged, *(difference.absent if is_hidden else ()))


def _start_cuts_damage(audit: PartitionAudit, found: Sequence[Finding]) -> bool:
    """Whether the starts cut all damaged copies at the damage, and the leader's records follow."""
    if isinstance(audit.comparison, NotCompared) or any(
        each.code != DAMAGED_COPY for each in found
    ):
        return False
    damaged = [
        (audit.of(copy), difference.first_offset)
        for difference in audit.comparison.differences
        for copy in _damaged_copies(difference)
    ]
    return bool(damaged) and all(
        isinstance(replica.start, Recovery)
        and replica.start.log_end_offset_after_start is not None
        and replica.start.log_end_offset_after_start <= offset
        for replica, offset in damaged
    )


def _with_holes(audit: PartitionAudit) -> set[Replica]:
    """Replicas that lack records inside their log; none unless the best leader has them all."""
    if (
        isinstance(audit.comparison, NotCompared)
        or not audit.elections
        or audit.elections[0].lacking_ranges
    ):
        return set()
    return {
        replica
        for each in audit.comparison.differences
        if each.kind is DifferenceKind.MISSING
        for replica in each.absent
    }


@dataclass(frozen=True, slots=True, order=True)
class _Broker:
    """A broker without a copy, by its name in texts."""

    name: str


def _named(
    audit: PartitionAudit, replicas: Sequence[ReplicaAudit], found: Sequence[Finding]
) -> list[ReplicaAudit | _Broker]:
    """The replicas, and the brokers of findings that have no copy of the partition."""
    here = {each.broker_id for each in audit.everyone}
    others = {
        _Broker(each.directory.replica_name)
        for each in found
        if each.directory is not None
        and each.directory.log_directory.broker_id not in {None, *here}
    }
    others |= {_Broker(name) for each in found for name in without_folder(each)}
    return [*replicas, *sorted(others)]


def without_folder(found: Finding) -> list[str]:
    """The brokers that a finding about a missing folder names, if none is its place."""
    if found.code != REPLICA_DIRECTORY_MISSING or found.directory is not None:
        return []
    brokers = dict(found.evidence).get("brokers", "")
    return [f"broker {each}" for each in str(brokers).split(", ") if each]
