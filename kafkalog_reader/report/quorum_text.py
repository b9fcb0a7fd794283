"""The quorum of a cluster as text: the answer, the copies, what elections cut and lose, steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.quorum.commitment import Commitment
from kafkalog_reader.audits.quorum.lost_records import lost_offsets
from kafkalog_reader.audits.quorum.outcome import Verdict
from kafkalog_reader.audits.quorum.voter_set import VoterSource
from kafkalog_reader.io.names import METADATA_TOPIC, shown
from kafkalog_reader.report.leading_log_text import topics_text
from kafkalog_reader.report.quorum_step import names_text, node_name
from kafkalog_reader.report.quorum_steps import quorum_steps
from kafkalog_reader.report.spans import Line, Span, Style, listed, offsets_text, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.quorum.lost_records import LostRange
    from kafkalog_reader.audits.quorum.metadata_copy import MetadataCopy
    from kafkalog_reader.audits.quorum.outcome import Outcome, QuorumAudit
    from kafkalog_reader.audits.quorum.quorum import Quorum

SHOWN: Final = 10
"""Maximum changes of a range; ``--format json`` has all."""
_NOT_HERE: Final = "not in these files"
_STYLES: Final = {
    Verdict.ELECTABLE: Style.SOUND,
    Verdict.MAY_LOSE: Style.LOST,
    Verdict.NO_MAJORITY: Style.LOST,
    Verdict.CONTRADICTED: Style.LOST,
    Verdict.YOUNGER_LOG: Style.LOST,
    Verdict.UNKNOWN_VOTERS: Style.ATTENTION,
}
_COMMITMENT: Final = {
    Commitment.COMMITTED: "committed",
    Commitment.POSSIBLY: "possibly committed",
    Commitment.NOT: "not committed",
}
_SOURCES: Final = {
    VoterSource.RECORD: "from the metadata log",
    VoterSource.QUORUM_STATE: "from quorum-state; controller.quorum.voters has them",
    VoterSource.LEADER_CHANGE: "those of the last election; controller.quorum.voters has them",
}
Row = dict[str, str]
"""Cells of a line about one copy or one missing voter."""


def headline(audit: QuorumAudit) -> str:
    """The answer in a sentence."""
    quorum = audit.quorum
    name = f"Cluster {shown(quorum.cluster_id or 'without an id')}"
    if quorum.voters is None:
        return (
            f"{name}: the voters are UNKNOWN: no copy of the metadata log names them; the setting "
            "controller.quorum.voters may"
        )
    count, needed = len(quorum.voters.voters), quorum.voters.majority
    can_start = len(quorum.startable)
    match audit.verdict:
        case Verdict.NO_MAJORITY:
            return (
                f"{name}: NO QUORUM: {can_start} of {_count(count, 'voter')} can start with these "
                f"files, and it takes {needed} to elect a leader"
            )
        case Verdict.YOUNGER_LOG:
            younger = [each for each in quorum.seated if quorum.is_younger(each)]
            whose = "its metadata log" if len(younger) == 1 else "their metadata logs"
            topics = quorum.leading.younger[younger[0].directory.path]
            return (
                f"{name}: {names_text(younger)} must NOT LEAD with {whose}, which never named "
                f"{topics_text(topics)}: brokers would set those partitions aside (-stray)"
            )
        case Verdict.CONTRADICTED if quorum.leading.contested:
            return (
                f"{name}: NO metadata log here may lead: each of several names topics that another "
                "one never named, and brokers have records of both"
            )
        case Verdict.CONTRADICTED:
            return (
                f"{name}: copies CONTRADICT each other: they hold different records with the same "
                "offset and leader epoch"
            )
        case Verdict.MAY_LOSE if quorum.rolled_back.lost_end:
            return f"{name}: committed metadata is in NO copy: {quorum.rolled_back.lost_end}"
        case Verdict.MAY_LOSE:
            harmful = [each for each in audit.outcomes if each.can_win and not each.is_harmless]
            if not harmful:
                whose = names_text([each.copy for each in audit.cut_tails])
                return f"{name}: damage: the start of {whose} CUTS records that may be committed"
            return (
                f"{name}: an election can LOSE records that may be committed: "
                f"{names_text([each.copy for each in harmful])} can be elected without them"
            )
        case _:
            if audit.lacking:
                return (
                    f"{name}: do NOT start {names_text(audit.lacking)} as the files are: the "
                    "newest metadata snapshot there ends early, which no start reports"
                )
            if audit.misplaced:
                return (
                    f"{name}: do NOT start {names_text(audit.misplaced)} as the files are: the "
                    "base offset of a batch in the log is wrong, which no checksum covers"
                )
            if audit.needed_but_stop:
                return (
                    f"{name}: NO LEADER as the files are: {names_text(audit.needed_but_stop)} "
                    "must run, and stops when others name it as leader"
                )
            winners = names_text([each.copy for each in audit.outcomes if each.can_win])
            return (
                f"{name}: {winners} can be elected, and no record is lost that may be committed "
                f"({can_start} of {_count(count, 'voter')} can start{_waiting(quorum)}, a majority "
                f"is {needed})"
            )


def _waiting(quorum: Quorum) -> str:
    """Which of those that can start do so only with a log directory that is missing."""
    waiting = [each for each in quorum.startable if quorum.lacking(each)]
    if not waiting:
        return ""
    return f", {names_text(waiting)} only with the log directory that is missing there"


def quorum_lines(audit: QuorumAudit, columns: int) -> Iterator[Line]:
    """The lines before the table of copies."""
    is_bad = audit.needed_but_stop or audit.misplaced or audit.lacking
    style = Style.LOST if is_bad else _STYLES[audit.verdict]
    for line in wrapped(headline(audit), columns):
        yield tuple(Span(span.text, style) for span in line)
    voters = audit.quorum.voters
    if voters is not None:
        ids = listed([str(each) for each in voters.node_ids])
        noun = "Voter" if len(voters.voters) == 1 else "Voters"
        yield from wrapped(f"{noun} {ids}, {_SOURCES[voters.source]}.", columns)
    yield ()


def rows(audit: QuorumAudit) -> list[Row]:
    """A row for each copy and each missing voter."""
    quorum = audit.quorum
    elections = {id(each.copy): each for each in audit.outcomes}
    found = [_row(quorum, each, elections.get(id(each))) for each in quorum.copies]
    for voter in quorum.missing:
        row = dict.fromkeys(("start", "end", "epoch", "snapshot", "wins"), "-")
        remark = _NOT_HERE
        if voter.node_id in quorum.without_log:
            remark = f"{METADATA_TOPIC}-0 is not in its log directories"
        elif voter.node_id in {each.node_id for each in quorum.unread}:
            remark = "could not be read, see below"
        found.append({**row, "node": str(voter.node_id), "vote": "yes", "remark": remark})
    return found


def _row(quorum: Quorum, copy: MetadataCopy, outcome: Outcome | None) -> Row:
    epoch, end = copy.end
    return {
        "node": node_name(copy).removeprefix("node "),
        "vote": "yes" if quorum.voter_of(copy) else "no",
        "start": f"{copy.batches.start or 0:,}",
        "end": f"{end:,}",
        "epoch": str(epoch),
        "snapshot": "-" if copy.snapshot is None else f"{copy.snapshot[0]:,}",
        "wins": "-" if outcome is None else _votes(outcome),
        "remark": "; ".join(_remarks(quorum, copy)),
    }


def _votes(outcome: Outcome) -> str:
    said = f"{len(outcome.votes)}, needs {outcome.votes_needed}"
    return f"{said}: can win" if outcome.can_win else said


def _remarks(quorum: Quorum, copy: MetadataCopy) -> Iterator[str]:
    if copy.refusal:
        yield f"does not start: {copy.refusal}"
    if copy.batches.damage:
        yield f"a start cuts the log at {copy.batches.damage}"
    if topics := quorum.leading.younger.get(copy.directory.path):
        yield f"must not lead: never named {topics_text(topics)}"
    if topics := quorum.leading.contested.get(copy.directory.path):
        yield f"never named {topics_text(topics)}"
    if quorum.brokers_of and quorum.voter_of(copy):
        yield f"not the controller of the brokers here: they are of {shown(quorum.brokers_of)}"
    if copy.lacks and not copy.refusal:
        yield (
            f"starts with a part of its newest snapshot: {copy.snapshot_problem}; as a broker, it "
            "sets aside its replicas of all other topics (-stray)"
        )
    if copy.batches.misplaced:
        yield f"wrong base offset: {copy.batches.misplaced}"
    if proof := quorum.rolled_back.nodes.get(copy.node_id):
        yield f"went back in time: {proof}"
    if copy.is_truncated_to_snapshot:
        yield "a start replaces the log by the newest snapshot"
    if copy.is_missing:
        yield "no __cluster_metadata-0: empty, if this is its metadata.log.dir"
    if copy.is_empty and quorum.has_forgotten(copy) and quorum.voter_of(copy):
        yield "empty: votes for everybody"
    if quorum.voter_of(copy) and (naming := quorum.naming_as_leader(copy)):
        yield (
            f"{names_text(naming)} still {'names' if len(naming) == 1 else 'name'} it as the "
            "leader, and its log is lost: it stops when it hears that (inconsistent with current "
            "leader)"
        )
    voters = quorum.voters
    if voters is None:
        return
    if quorum.voter_of(copy) is None and copy.node_id in voters.node_ids:
        yield "another directory id than the voter's: no vote"
    own = copy.voters
    if own is not None and own.identity() != voters.identity():
        ids = listed([str(each) for each in own.node_ids]) if own.voters else "none"
        yield f"names other voters: {ids}"


def outcome_lines(audit: QuorumAudit, columns: int) -> Iterator[Line]:
    """The lines after the table: what is committed, what elections do, and steps."""
    yield ()
    yield from _committed_lines(audit, columns)
    for tail in audit.cut_tails:
        name = node_name(tail.copy)
        offsets = f"{tail.first_offset:,} to {tail.next_offset - 1:,}"
        text = (
            f"The start of {name} cuts off what lies after the damage in its log: offsets "
            f"{offsets}, as far as they can be read. No copy keeps them. Save the folder before "
            "any start."
        )
        yield from wrapped(text, columns)
    for unread in audit.quorum.unread:
        as_user = "; run this as the user of the node" if unread.is_refused else ""
        text = f"Not read: {unread.problem}{as_user}"
        for line in wrapped(text, columns):
            yield tuple(Span(span.text, Style.LOST) for span in line)
    yield from _fork_lines(audit, columns)
    for together in _alike([each for each in audit.outcomes if each.can_win] or audit.outcomes):
        yield ()
        yield from _election_lines(audit, together, columns)
    yield from _further_lines(audit, columns)
    for number, step in enumerate(quorum_steps(audit), 1):
        yield ()
        yield from wrapped(step.text, columns, beginning=(Span(f"{number}. ", Style.STRONG),))
        for command in step.commands:
            yield (Span(f"     {command}"),)


def _committed_lines(audit: QuorumAudit, columns: int) -> Iterator[Line]:
    if audit.committed is None or audit.quorum.voters is None:
        return
    low, high = audit.committed.low, audit.committed.high
    quorum = audit.quorum
    unknown = quorum.unknown_votes >= quorum.voters.majority if quorum.voters else True
    known = f"the records below offset {low:,}" if low else "no record is known to be"
    text = f"Committed: {known}"
    if high > low:
        more = f"that at offset {low:,}" if high == low + 1 else f"those up to offset {high - 1:,}"
        text += f", possibly {more}"
    if unknown and quorum.rolled_back.lost_end:
        text += "; more were, which no copy has"
    elif unknown:
        text += "; voters that are not in these files may have committed more"
    yield from wrapped(f"{text}.", columns)


def _fork_lines(audit: QuorumAudit, columns: int) -> Iterator[Line]:
    quorum = audit.quorum
    for at, one in enumerate(quorum.copies):
        for other in quorum.copies[at + 1 :]:
            parting = quorum.parting(one, other)
            pair = names_text([one, other])
            if parting.is_conflict:
                text = (
                    f"{pair} contradict each other at offset {parting.offset:,}: the same leader "
                    "epoch, different bytes. Neither replaces its own when it follows the other."
                )
                yield from wrapped(text[0].upper() + text[1:], columns)
            elif not parting.is_compared:
                text = f"{pair} have no offset in common: {_why_apart(one, other)}."
                yield from wrapped(text[0].upper() + text[1:], columns)


def _why_apart(one: MetadataCopy, other: MetadataCopy) -> str:
    """Which offsets two logs hold that cannot be compared, as the files show it."""
    for each in (one, other):
        if each.is_truncated_to_snapshot and each.snapshot is not None:
            return (
                f"the newest snapshot of {names_text([each])} ends at offset "
                f"{each.snapshot[0]:,} and is newer than its log, which the next start drops"
            )
    early, late = sorted((one, other), key=lambda each: each.batches.start or 0)
    return (
        f"the log of {names_text([late])} begins at offset {late.batches.start or 0:,}, and that "
        f"of {names_text([early])} ends before offset {early.batches.next_offset:,}"
    )


def _alike(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    """Outcomes that cut and lose the same together."""
    found: dict[object, list[Outcome]] = {}
    for each in outcomes:
        lost = tuple((r.first_offset, r.next_offset, r.commitment.value) for r in each.lost)
        others = tuple((copy.node_id, offset) for copy, offset in each.cut)
        found.setdefault((lost, others), []).append(each)
    return list(found.values())


def _election_lines(
    audit: QuorumAudit, together: Sequence[Outcome], columns: int
) -> Iterator[Line]:
    outcome = together[0]
    *most, last = (node_name(each.copy) for each in together)
    name = f"{', '.join(most)} or {last.removeprefix('node ')}" if most else last
    name = f"node {name.replace('node ', '')}" if name.startswith("node ") else name
    lost = sum(each.offsets for each in outcome.lost)
    harm = lost_offsets(outcome.lost, Commitment.COMMITTED)
    doubt = lost_offsets(outcome.lost, Commitment.POSSIBLY)
    begin = f"If {name} {'is elected' if outcome.can_win else 'is made to lead'}: "
    if outcome.copy.is_empty and any(not each.is_empty for each in audit.quorum.copies):
        text = f"its log is empty, and all {_count(lost, 'record')} of the others are lost"
    elif outcome.copy.is_empty:
        text = "its log is empty: the cluster begins anew"
    elif not lost:
        text = f"nothing {'else ' if audit.cut_tails else ''}in these files is lost"
    elif all(each.is_idle for each in outcome.lost):
        text = f"nothing is lost but {_count(lost, 'NoOpRecord')}, which an idle controller writes"
    elif not harm and not doubt:
        text = f"{_count(lost, 'record')} lost, none of which was committed"
    else:
        text = f"{_count(lost, 'record')} lost, {harm:,} of them committed, {doubt:,} possibly"
    if not outcome.can_win and audit.quorum.unknown_votes >= outcome.votes_needed:
        text += "; what only the missing voters had is not known"
    style = Style.STRONG if outcome.is_harmless else Style.LOST
    yield from wrapped(text + ".", columns, beginning=(Span(begin, style),))
    for copy, offset in outcome.cut:
        count = copy.end.offset - offset
        yield from wrapped(
            f"{node_name(copy)} is cut from {copy.end.offset:,} to {offset:,} "
            f"({_count(count, 'record')})",
            columns, indent=2,
        )  # fmt: skip
    for each in outcome.lost:
        yield from _range_lines(each, columns)


def _range_lines(lost: LostRange, columns: int) -> Iterator[Line]:
    holders = names_text(lost.holders)
    where = offsets_text(lost.first_offset, lost.next_offset)
    counts = ", ".join(f"{count:,} {name}" for name, count in sorted(lost.records.items()))
    text = (
        f"{where}, {_COMMITMENT[lost.commitment]}, on {holders}: {counts or 'in a snapshot only'}"
    )
    yield from wrapped(text, columns, indent=2)
    for offset, change in lost.changes[:SHOWN]:
        yield from wrapped(change, columns, indent=4, beginning=(Span(f"{offset:,}  "),))
    if (more := len(lost.changes) - SHOWN) > 0:
        yield (Span(f"    ... {more:,} more (--format json)"),)


def _further_lines(audit: QuorumAudit, columns: int) -> Iterator[Line]:
    if not audit.further or audit.verdict is Verdict.YOUNGER_LOG:
        return
    best = max(audit.further, key=lambda each: each.end)
    yield ()
    voters = audit.quorum.seated
    holds = "more than every voter here: up to" if voters else "what was written up to"
    text = f"{node_name(best)}, which has no vote, holds {holds} offset {best.end.offset - 1:,}."
    yield from wrapped(text[0].upper() + text[1:], columns)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
