"""What the files leave open, and what to do next: commands that can be pasted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.log.record_count import records_text
from kafkalog_reader.audits.partition.newest_leader import (
    epoch_unknown_to_leader,
    newest_leader,
    reached_by_newest,
)
from kafkalog_reader.audits.partition.replica_findings import side_of
from kafkalog_reader.audits.recovery.recovery import Recovery
from kafkalog_reader.format.broker_words import joined_ids, joined_names
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.command_text import (
    archive_command,
    merge_command,
    merged_folder,
    salvage_command,
)
from kafkalog_reader.report.election_text import every_choice_loses
from kafkalog_reader.report.merge_text import merge_reason, placing_commands, placing_text
from kafkalog_reader.report.ranges_text import sides_of
from kafkalog_reader.report.spans import Line, Span, Style, listed, offsets_text, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.election.candidate import Candidate
    from kafkalog_reader.audits.election.candidates import Election
    from kafkalog_reader.audits.election.election_loss import LostRange
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.audits.partition.merge_outcome import MergeOutcome
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit


def not_known(audit: PartitionAudit) -> tuple[str, ...]:
    """What a reader might assume, but the files leave open."""
    if not audit.elections:
        return ()
    unknown, doubtful = [], []
    for side in sides_of(audit):
        _, end, count = side_of(audit, side)
        where = f"{offsets_text(side.first_offset, end)} on {joined_names(side.replicas)}"
        if count.possible:
            known = max(audit.of(each).bounds.known for each in side.replicas)
            begin = max(side.first_offset, known) if known < end else side.first_offset
            holders = [each for each in side.replicas if audit.of(each).log_end > begin]
            if holders:
                them = f"{offsets_text(begin, end)} on {joined_names(holders)}"
                was = "was" if end - begin == 1 else "were"
                unknown.append(f"whether {them} {was} committed: {_proof(audit, holders)}")
        if count.only_if_unclean:
            doubtful.append(where)
    if doubtful:
        unknown.append(
            f"whether an election was unclean: only then can {' or '.join(doubtful)} have been "
            "committed"
        )
    unknown += [
        f"the content of {problem.where.file}: {problem.problem}"
        for replica in audit.replicas
        for problem in replica.files.problems
    ]
    if audit.zeros_at_end and audit.elections[0].lacking.damaged:
        unknown.append("how many records were where zeros end the longest log")
    if audit.compared_from is not None:
        unknown.append(
            f"whether the copies are sound and equal below offset {audit.compared_from:,}, and "
            "what the brokers' starts do: --quick reads only epochs, ends and tails"
        )
    unknown += [
        f"what {alone.replicas[0].name} holds, and what would be lost with it leading"
        for alone in audit.set_aside
    ]
    if audit.membership is not None and audit.without_copy:
        unknown.append(f"what {joined_ids(audit.without_copy)} may hold: no copy was supplied")
    elif audit.membership is None:
        here = len(audit.everyone)
        supplied_here = "the one" if here == 1 else f"the {here}"
        unknown.append(f"what other copies hold, if there are more than {supplied_here} supplied")
    return tuple(dict.fromkeys(unknown))


def not_known_lines(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    """The same as a list of lines."""
    unknown = not_known(audit)
    if unknown:
        yield ()
        yield (Span("  Not known:", Style.ATTENTION),)
    for text in unknown:
        yield from wrapped(shown(text), columns, indent=4)


def advice_lines(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    """The trap to avoid, and what to save before anything is started."""
    if not audit.elections and audit.merge is None:
        yield from _misplaced_lines(audit, columns)
        return
    yield from _warning(audit, columns) if audit.elections else ()
    if audit.merge is not None:
        yield from _merge_lines(audit, audit.merge, columns)
        return
    ranges = _to_save(audit)
    if not ranges:
        yield from _only_copy_lines(audit, columns)
        return
    savers = _savers(ranges)
    lost = {replica for lost in ranges for replica in lost.replicas}
    holders = [each for each in audit.replicas if each.files in lost]
    start, has = ("is", "it has") if len(holders) == 1 else ("are", "they have")
    yield ()
    text = f"Before {joined_names(holders)} {start} started again, save what only {has}:"
    yield from wrapped(text, columns, indent=2, hanging=0)
    for holder in holders:
        if holder.files in savers:
            first_offset, is_readable = savers[holder.files]
            command = (
                salvage_command(audit, holder, first_offset)
                if is_readable
                else archive_command(audit, holder)
            )
            yield (Span(f"      {command}"),)


def lists_saving(audit: PartitionAudit) -> bool:
    """Whether ``advice_lines`` prints commands that save records."""
    if audit.is_misplaced:
        return True
    if not audit.elections or audit.merge is not None:
        return False
    return bool(_to_save(audit)) or audit.only_copy is not None


def _misplaced_lines(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    """How to save copies that cannot lead, because they are not on their brokers."""
    if not audit.is_misplaced:
        return
    yield ()
    verb, has = ("is", "it has") if len(audit.replicas) == 1 else ("are", "they have")
    names = joined_names(audit.replicas)
    text = f"Before {names} {verb} started again, save what {has}:"
    yield from wrapped(text, columns, indent=2, hanging=0)
    for replica in audit.replicas:
        yield (Span(f"      {salvage_command(audit, replica, replica.log_start)}"),)


def _only_copy_lines(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    only = audit.only_copy
    if only is None:
        return
    yield ()
    text = f"Only the copy of {only.name} has records. Before any broker is started, save it:"
    yield from wrapped(text, columns, indent=2, hanging=0)
    yield (Span(f"      {salvage_command(audit, only, only.log_start)}"),)


def _merge_lines(audit: PartitionAudit, outcome: MergeOutcome, columns: int) -> Iterator[Line]:
    """Why and how to make one sound log, and where to put it."""
    copies = len(audit.everyone)
    best = audit.of(audit.elections[0].candidate.replica) if audit.elections else audit.everyone[0]
    name = best.name if copies == 1 else "any of their brokers"
    yield ()
    text = f"{merge_reason(outcome, copies)} Before {name} starts, make that log:"
    yield from wrapped(text, columns, indent=2, hanging=0)
    yield (Span(f"      {merge_command(audit)}"),)
    yield from wrapped(placing_text(best.name, copies), columns, indent=2, hanging=0)
    others = (each.directory.path for each in audit.everyone if each is not best)
    merged = merged_folder(audit.topic, audit.partition)
    for command in placing_commands(best.directory.path, others, merged):
        yield (Span(f"      {command}"),)


def _to_save(audit: PartitionAudit) -> tuple[LostRange, ...]:
    """What the expected election loses; where a person must choose a branch, what each loses."""
    elections = [expected_election(audit)]
    if audit.record_fork is not None and audit.loses_whoever_leads:
        elections = [*audit.elections]
    return tuple(dict.fromkeys(lost for each in elections for lost in each.lacking_ranges))


def _proof(audit: PartitionAudit, replicas: Sequence[Replica]) -> str:
    holders = [audit.of(each) for each in replicas]
    known = max(each.bounds.known for each in holders)
    marks = {each.name: each.files.checkpointed_high_watermark or 0 for each in holders}
    above = [each for each in holders if marks[each.name] > each.log_end]
    if above:
        mark = max(marks[each.name] for each in above)
        is_clean = any(each.directory.log_directory.clean_shutdown for each in above)
        why = "the log lost its end" if is_clean else "it may be newer than that copy of the log"
        return (
            f"the high watermark {mark:,} of {joined_names(above)} says so, but it is above the "
            f"log end: {why}, or it is wrong"
        )
    if known <= min(each.log_start for each in holders):
        return "the files prove it for no record"
    return f"the files prove it below offset {known:,} only"


def _warning(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    best, worst = audit.elections[0], audit.elections[-1]
    text = ""
    if audit.merge is not None:
        return
    leads = "Whoever" if audit.unseen is None else "Whichever supplied copy"
    if every_choice_loses(audit):
        alike = [each.candidate for each in audit.elections if each.lacking == best.lacking]
        least = (
            f"{_capitalised(joined_names(alike))} {'loses' if len(alike) == 1 else 'lose'} least"
        )
        if len(alike) == len(audit.elections):
            least = "All candidates lose the same number"
        if len(audit.everyone) == 1:
            least = "No other copy was supplied"
        text = (
            f"{leads} leads, committed records are lost. {least}: save what would be lost first, "
            "to produce it again."
        )
        if rebuilt := _rebuilt(audit):
            text = (
                f"With the files as they are, {_lowered(leads)} leads, committed records are lost. "
                f"{_capitalised(listed(rebuilt))} (below). Save what would be lost "
                "first all the same."
            )
    elif worst.lacking.known and not best.lacking.known and _is_longest(audit, worst.candidate):
        text = (
            f"{_capitalised(worst.candidate.name)} has the longest log and is the "
            "worst choice: the others hold committed records that it lacks."
        )
    elif audit.verdict is Verdict.PENDING_TRUNCATION:
        newest = newest_leader(audit)
        assert newest is not None
        epoch = newest.history.greatest_leader_epoch
        if audit.membership is not None:
            epoch = max(audit.membership.leader_epoch, -1 if epoch is None else epoch)
        above, reached = newest.high_watermark_above_end, reached_by_newest(audit)
        text = f"{_capitalised(newest.name)} was elected (leader epoch {epoch}) " + (
            "without the records that it would cut."
            if reached is None and epoch_unknown_to_leader(audit) is None
            else "and its files do not have that epoch: they are probably older than the election, "
            "such as a disk or a backup that was put back."
            if reached is None
            else f"and has lost records since: its high watermark is {above:,}, above its log end."
            if above is not None
            else f"at offset {reached:,}, and has lost records since: its log ends below that."
        )
    if text:
        yield ()
        yield from wrapped(text, columns, indent=2, hanging=0)


def _rebuilt(audit: PartitionAudit) -> list[str]:
    """What starts keep if the last segment's index files are moved aside."""
    kept = (
        (each, each.start.rebuild.records_kept)
        for each in audit.replicas
        if isinstance(each.start, Recovery) and each.start.rebuild is not None
    )
    return [
        f"without the index files of its last segment, {each.name} serves {records_text(records)} "
        "that it hides now"
        for each, records in kept
    ]


def _lowered(text: str) -> str:
    return text[0].lower() + text[1:]


def _capitalised(name: str) -> str:
    return name[0].upper() + name[1:]


def _is_longest(audit: PartitionAudit, candidate: Candidate) -> bool:
    ends = [replica.log_end for replica in audit.replicas]
    return candidate.log_end_offset == max(ends) and ends.count(max(ends)) == 1


def expected_election(audit: PartitionAudit) -> Election:
    """The election that already took place, or else the best."""
    if audit.verdict is Verdict.PENDING_TRUNCATION:
        newest = newest_leader(audit)
        leading = None if newest is None else newest.candidate
        held = (each for each in audit.elections if each.candidate is leading)
        return next(held, audit.elections[0])  # a leader that does not start no longer leads
    return audit.elections[0]


def _savers(lost_ranges: Sequence[LostRange]) -> dict[Replica, tuple[int, bool]]:
    """Replicas that together hold all records that are lost.

    Each with its first such offset, and whether one of its records can be read.
    """
    chosen: dict[Replica, tuple[int, bool]] = {}
    for lost in sorted(lost_ranges, key=lambda each: len(each.replicas)):
        holder = next((each for each in lost.replicas if each in chosen), lost.replicas[0])
        first_offset, is_readable = chosen.get(holder, (lost.first_offset, False))
        chosen[holder] = (
            min(lost.first_offset, first_offset),
            is_readable or lost.records.total > 0,
        )
    return chosen
