"""Writes out the actions of findings: what to do, and the command for it."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import (
    ABORT_TRANSACTION,
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
    SUPPLY_WHAT_IS_MISSING,
    WRITE_EPOCHS,
)
from kafkalog_reader.audits.catalogue.log_rules import START_WILL_SET_ASIDE
from kafkalog_reader.audits.catalogue.replica_rules import (
    DAMAGED_COPY,
    RECORDS_MISSING_ON_REPLICA,
    SAME_EPOCH_CONFLICT,
    SINGLE_COPY_RANGE,
)
from kafkalog_reader.audits.comparison.difference import (
    Comparison,
    Difference,
    DifferenceKind,
    NotCompared,
)
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.integrity.file_repair import move_aside
from kafkalog_reader.audits.partition.epoch_advice import files_to_write, may_happen
from kafkalog_reader.audits.partition.epoch_rows import epoch_rows
from kafkalog_reader.audits.partition.partition_audit import joined_names, outvoted_copies
from kafkalog_reader.audits.recovery.recovery import Recovery
from kafkalog_reader.io.names import CLEAN_SHUTDOWN
from kafkalog_reader.report.advice_text import expected_election, lists_saving
from kafkalog_reader.report.before_start import is_complete, keep_commands, until_text
from kafkalog_reader.report.command_text import (
    export_command,
    freeze_commands,
    merge_command,
    salvage_command,
)
from kafkalog_reader.report.lead_text import lead_text, may_move
from kafkalog_reader.report.repair_text import (
    BROKERS,
    move_commands,
    repair_commands,
)
from kafkalog_reader.report.shell_word import shell_word
from kafkalog_reader.report.spans import Line, Span, Style, wrapped
from kafkalog_reader.salvage.one_sided import one_sided_ranges

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kafkalog_reader.audits.integrity.file_repair import Repair
    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit

_WORD: Final = r"""(?:'[^']*'|"[^"]*"|[^\s'"])+"""
_PARTS: Final = re.compile(rf"--\S+ (?!--){_WORD}|{_WORD}")
"""The words of a command for a shell, options together with their values."""
_NOT_FIRST: Final = frozenset({LET_BEST_LEAD, SET_GROUP_OFFSET, NOTHING_TO_DO})
"""Actions that the order of starts takes, or that come after it."""
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
    asked: dict[str, list[Finding]] = {}
    for each in found:
        if each.severity in severities and may_happen(audit, each):
            for code in each.actions:
                # Here the replicas are compared, and the table of candidates names the best.
                has_others = len(audit.everyone) > 1 or bool(audit.lacking)
                if code == COMPARE_REPLICAS and has_others and audit.elections:
                    code = LET_BEST_LEAD
                if code == LET_BEST_LEAD and not has_others:
                    code = COMPARE_REPLICAS
                asked.setdefault(code, []).append(each)
    made = []
    for code in sorted(asked, key=_URGENCY.__getitem__):
        if _is_pointless(audit, code, asked[code]) or (
            code == LOOK_FOR_A_COPY and DO_NOT_START in asked
        ):
            continue  # that says what to look for before the start
        findings = asked[code]
        replicas = _replicas(audit, findings)
        if code == MOVE_COPY_ASIDE:
            replicas = [each for each in replicas if may_move(audit, each)]
        if code == WRITE_EPOCHS:  # of KL-517 it may be the leader's
            written = {each for one in findings for each in files_to_write(audit, one)}
            replicas = [each for each in audit.everyone if each in written]
        brokers = _named(audit, replicas, findings)
        where = joined_names(brokers) if brokers else "the broker"
        best = audit.elections[0].candidate.name if audit.elections else ""
        made.append(
            AdvisedAction(
                code=code,
                text=(
                    lead_text(audit)
                    if code == LET_BEST_LEAD
                    else f"before {where} may lead, run this again with the other copies"
                    if code == COMPARE_REPLICAS
                    else ACTIONS[code].text(
                        where,
                        best,
                        are_several=len(brokers) > 1,
                        until=until_text(audit, findings),
                    )
                ),
                commands=tuple(
                    dict.fromkeys(
                        (
                            *_COMMANDS.get(code, _nothing)(audit, replicas),
                            *repair_commands(
                                repair
                                for each in findings
                                if each.actions[0] == code
                                for repair in each.repairs
                            ),
                        )
                    )
                ),
                codes=tuple(sorted({each.code for each in findings})),
            )
        )
    return tuple(made)


def _is_pointless(audit: PartitionAudit, code: str, found: Sequence[Finding]) -> bool:
    """Whether an action of a rule has nothing to act on in this partition."""
    if code == LET_BEST_LEAD:  # a merged log leads, wherever it is put
        return not audit.elections or audit.merge is not None
    if code == SAVE_RECORDS:  # otherwise what will lead holds everything
        return bool(audit.elections) and not (
            expected_election(audit).lacking_ranges or one_sided_ranges(audit)
        )
    if code == CHOOSE_A_BRANCH:
        return audit.record_fork is None and not one_sided_ranges(audit)
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
    return code == FORBID_UNCLEAN_ELECTION and (
        audit.merge is not None
        or (audit.membership is not None and len(audit.membership.replicas) == 1)
    )


def action_lines(
    audit: PartitionAudit, found: Sequence[Finding], columns: int, *, verbose: bool = False
) -> Iterator[Line]:
    """The actions as a list; without ``--verbose`` only those of critical and high findings."""
    actions = listed_actions(audit, found, verbose=verbose)
    if not actions:
        return
    yield ()
    yield (Span("  What to do:", Style.STRONG),)
    for action in actions:
        beginning = (Span(action.code.ljust(4), Style.ATTENTION),)
        text = f"{action.text} ({', '.join(action.codes)})"
        yield from wrapped(text, columns, indent=4, hanging=4, beginning=beginning)
        for command in action.commands:
            yield from command_lines(command, columns)


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


def is_advised(audit: PartitionAudit, found: Sequence[Finding]) -> bool:
    """Whether ``action_lines`` has something to do before a start, besides choosing a leader."""
    return any(each.code not in _NOT_FIRST for each in listed_actions(audit, found))


def to_do_lines(
    actions: Iterable[str], repairs: Iterable[Repair], columns: int, *, indent: int
) -> Iterator[Line]:
    """What to do about one finding, and the commands for it."""
    commands = repair_commands(repairs)
    for number, action in enumerate(actions):
        if action != NOTHING_TO_DO:
            text = f"→ {ACTIONS[action].text()}"
            yield from wrapped(text, columns, indent=indent, hanging=2)
        for command in () if number else commands:
            yield from command_lines(command, columns, indent=indent + 4)


def command_lines(command: str, columns: int, *, indent: int = 10) -> Iterator[Line]:
    """A command in lines that can be pasted together; only a long word makes a line too long."""
    if command.startswith("#"):
        for words in wrapped(command.removeprefix("# "), columns - indent - 2, hanging=0):
            yield (Span(f"{' ' * indent}# "), *words)
        return
    blank = " " * indent
    line = blank
    for part in _PARTS.findall(command):
        if len(line) + len(part) + 2 > columns and line.strip():
            yield (Span(f"{line}\\"),)
            line = f"{blank}  "
        line += f"{part} "
    yield (Span(line.rstrip()),)


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
    """Copies where records cannot be read: damaged, or behind damage."""
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
    return [*replicas, *sorted(others)]


def _nothing(_audit: PartitionAudit, _replicas: Sequence[ReplicaAudit]) -> Iterator[str]:
    yield from ()


def _elect(audit: PartitionAudit, _replicas: Sequence[ReplicaAudit]) -> Iterator[str]:
    """The commands of an unclean election, without which a replica outside the ISR cannot lead."""
    if audit.elections[0].clean_by_membership is not False:
        return
    yield "# it is not in the ISR; then what is listed as lost is lost for ever:"
    yield (
        f"kafka-leader-election.sh --bootstrap-server {BROKERS} --election-type unclean "
        f"--topic {shell_word(audit.topic or '')} --partition {audit.partition}"
    )


def _freeze(audit: PartitionAudit, _replicas: Sequence[ReplicaAudit]) -> Iterator[str]:
    versions = {each.directory.log_directory.meta_version for each in audit.everyone}
    yield from freeze_commands(audit.topic or "", has_zookeeper=versions == {0})


def _move_aside(audit: PartitionAudit, replicas: Sequence[ReplicaAudit]) -> Iterator[str]:
    """Nothing where this is the only copy: nobody knows then that another holds the records."""
    for replica in replicas if len(audit.everyone) > 1 else ():
        yield from move_commands(move_aside(*posixpath.split(replica.directory.path.rstrip("/"))))


def _without_marker(_audit: PartitionAudit, replicas: Sequence[ReplicaAudit]) -> Iterator[str]:
    roots = dict.fromkeys(replica.directory.log_directory.path for replica in replicas)
    for root in roots:
        yield from move_commands(move_aside(root, CLEAN_SHUTDOWN))


def _export(audit: PartitionAudit, _replicas: Sequence[ReplicaAudit]) -> Iterator[str]:
    if one_sided_ranges(audit):
        yield export_command(audit)
    elif audit.merge is not None:
        yield merge_command(audit)
    elif not audit.elections and not lists_saving(audit):  # no copy can lead: save each
        for replica in audit.replicas:
            yield salvage_command(audit, replica, replica.log_start)


def _epochs(audit: PartitionAudit, replicas: Sequence[ReplicaAudit]) -> Iterator[str]:
    """Keep the file, and write it as the batches have it."""
    for replica in replicas:
        found = epoch_rows(audit, replica)
        if found is not None:
            yield from repair_commands([found.repair(replica)])


def _abort(audit: PartitionAudit, _replicas: Sequence[ReplicaAudit]) -> Iterator[str]:
    yield (
        f"kafka-transactions.sh --bootstrap-server {BROKERS} find-hanging "
        f"--topic {shell_word(audit.topic or '')} --partition {audit.partition}"
    )


_COMMANDS: Final[dict[str, Callable[[PartitionAudit, Sequence[ReplicaAudit]], Iterator[str]]]] = {
    DO_NOT_START: keep_commands,
    LET_BEST_LEAD: _elect,
    MOVE_COPY_ASIDE: _move_aside,
    SAVE_RECORDS: _export,
    WRITE_EPOCHS: _epochs,
    ABORT_TRANSACTION: _abort,
    FORBID_UNCLEAN_ELECTION: _freeze,
    FORCE_RECOVERY: _without_marker,
}
