"""Shows the ranked candidates: what their followers would cut, and what would be lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.election.candidates import ElectionKind
from kafkalog_reader.audits.election.follow import FollowingEnd
from kafkalog_reader.audits.log.record_count import records_text, up_to_text
from kafkalog_reader.audits.partition.torn_records import torn_records
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.format.broker_words import joined_ids, joined_names
from kafkalog_reader.format.offset_words import offsets_words
from kafkalog_reader.report.group_text import group_lines
from kafkalog_reader.report.membership_text import member_word
from kafkalog_reader.report.spans import Line, Span, Style, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.comparison.committed import CommitCount
    from kafkalog_reader.audits.election.candidate import Candidate
    from kafkalog_reader.audits.election.candidates import Election
    from kafkalog_reader.audits.election.follower_outcome import FollowerOutcome
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

_HEADER: Final = ("rank", "elect", "these are cut", "lost for ever")
_NO_CUT: Final = "none"
_STYLES: Final = {
    ElectionKind.CLEAN: Style.SOUND,
    ElectionKind.UNDETERMINED: Style.ATTENTION,
    ElectionKind.UNCLEAN: Style.LOST,
}
_SET_ASIDE: Final = Span("do not: its content is unknown", Style.LOST)
_LOSES: Final = {
    ElectionKind.CLEAN: "loses nothing committed",
    ElectionKind.UNDETERMINED: "may lose committed records",
    ElectionKind.UNCLEAN: "loses committed ones",
}


def election_lines(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    """The table of candidates; of a single replica only what its start loses."""
    if len(audit.elections) < 2:
        yield from torn_lines(audit, columns)
        return
    kinds = [_kind(audit, election) for election in audit.elections]
    rows = [_HEADER, *(_cells(election) for election in audit.elections)]
    room = columns - 2 - max(len(kind.text) for kind in kinds)
    is_wide = sum(max(len(row[column]) for row in rows) + 2 for column in range(4)) > room
    shown = (0, 1, 3) if is_wide else (0, 1, 2, 3)
    widths = {column: max(len(row[column]) for row in rows) for column in shown}
    yield ()
    for row, kind in zip(rows, [Span("election"), *kinds], strict=True):
        cells = [row[0].rjust(widths[0]), *(row[n].ljust(widths[n]) for n in shown[1:])]
        yield (Span(f"  {'  '.join(cells)}  "), kind)
        if is_wide and row is not _HEADER and row[2] != _NO_CUT:
            yield from wrapped(f"cut: {row[2]}", columns, indent=4 + widths[0])
    for alone in audit.set_aside:
        (replica,) = alone.replicas
        cells = [str(len(audit.elections) + 1).rjust(widths[0]), replica.name.ljust(widths[1])]
        yield (Span(f"  {'  '.join(cells)}  "), _SET_ASIDE)
    yield from note_lines(audit, columns)


def candidate_rows(audit: PartitionAudit) -> Iterator[tuple[Span, ...]]:
    """The same table as cells, the headings first; nothing for a single replica."""
    if len(audit.elections) < 2:
        return
    yield tuple(map(Span, (*_HEADER, "election")))
    for election in audit.elections:
        yield (*map(Span, _cells(election)), _kind(audit, election))
    for alone in audit.set_aside:
        rank = str(len(audit.elections) + 1)
        yield (Span(rank), Span(alone.replicas[0].name), Span(""), Span(""), _SET_ASIDE)


def note_lines(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    """What the table of candidates cannot say."""
    yield from _torn_lines(audit, columns)
    yield from _unseen_lines(audit, columns)
    yield from _damaged_lines(audit, columns)
    yield from _unreadable_lines(audit, columns)
    yield from _silent_lines(audit, columns)
    yield from _out_of_sync_lines(audit, columns)
    yield from _rule_lines(audit, columns)
    yield from group_lines(audit, columns)


def torn_lines(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    """What starts lose of torn batches, as a paragraph."""
    if found := [*_torn_lines(audit, columns)]:
        yield from ((), *found)


def _torn_lines(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    """What starts lose whoever leads, which is in no row of the table."""
    torn = torn_records(audit)
    if torn is None:
        return
    whoever = ", whoever leads" if len(audit.elections) > 1 else ""
    text = (
        f" {lost_words(torn.records)} ({offsets_words(torn.first_offset, torn.next_offset)} in a "
        f"torn batch of {joined_names(torn.holders)}){whoever}; kafkalog salvage keeps them"
    )
    beginning = (Span("LOST AT START:", Style.LOST),)
    yield from wrapped(text, columns, indent=2, beginning=beginning)


def lost_words(lost: CommitCount) -> str:
    """``3 records, 2 committed``, ``3 committed records``, ``3 records, none committed``.

    No file excludes an unclean election, so records that only one left committed are named.
    """
    if not lost:
        return "nothing"
    committed = _damaged_committed(lost)
    if not lost.total:
        return f"up to {records_text(lost.damaged)} in damaged batches{committed}"
    words = up_to_text(_total_words(lost) + ("," if lost.damaged else ""), lost.damaged)
    return f"{words}{committed}"


def _total_words(lost: CommitCount) -> str:
    """The records that are readable."""
    if lost.known == lost.total:
        return f"{lost.known:,} committed record{'' if lost.known == 1 else 's'}"
    parts = [records_text(lost.total), *_committed_parts(lost)]
    unless = "an election was unclean"
    if len(parts) == 1:
        parts.append(f"none committed{f' unless {unless}' if lost.only_if_unclean else ''}")
    elif lost.only_if_unclean:
        parts.append(f"{lost.only_if_unclean:,} more only if {unless}")
    return ", ".join(parts)


def _committed_parts(lost: CommitCount) -> Iterator[str]:
    if lost.known:
        yield f"{lost.known:,} committed"
    if lost.possible:
        yield f"{lost.possible:,} possibly{'' if lost.known else ' committed'}"


def _lost_cell(lost: CommitCount) -> str:
    """The same for a narrow column; what depends on unclean elections is said below the table."""
    if not lost.only_if_unclean:
        return lost_words(lost)
    parts = [*_committed_parts(lost)] or ["none known committed"]
    return ", ".join((records_text(lost.total), *parts))


def _damaged_committed(lost: CommitCount) -> str:
    """How many of the records in damaged batches were committed, at most."""
    if lost.damaged_known:
        return f" ({lost.damaged_known:,} committed)"
    return f" ({lost.damaged_possible:,} possibly committed)" if lost.damaged_possible else ""


def every_choice_loses(audit: PartitionAudit) -> bool:
    """Whether no candidate keeps all that is known to be committed."""
    return audit.loses_whoever_leads


def choice_text(audit: PartitionAudit) -> str:
    """Who should lead, for the line of one partition among many."""
    if audit.is_metadata:
        return "kafkalog quorum shows who can lead"
    unpredicted = [each for each in audit.replicas if isinstance(each.start, LocatedError)]
    if not audit.elections and unpredicted:
        names = joined_names(unpredicted)
        return f"who can lead is unknown: the start of {names} cannot be predicted"
    if not audit.elections:
        return "no copy can lead"
    if every_choice_loses(audit):
        supplied = "supplied copy" if audit.unseen is not None else "candidate"
        return f"every {supplied} loses committed records"
    best = audit.elections[0]
    name = best.candidate.name
    lacking = best.lacking
    lost = f"{records_text(lacking.total)} lost" if lacking.total else "nothing lost"
    possibly = f", {lacking.possible:,} possibly committed" if lacking.possible else ""
    possibly = up_to_text(possibly, lacking.damaged)
    unclean = " (an unclean election)" if best.clean_by_membership is False else ""
    if best.heirs:
        unclean += (
            f" until {joined_names(best.heirs)} {'is' if len(best.heirs) == 1 else 'are'} in sync"
        )
    if audit.unseen is not None:
        unclean = f"{unclean} if no copy of {joined_ids(audit.unseen.brokers)} can be supplied"
    return f"{name} should lead{unclean}: {lost}{possibly}"


def _kind(audit: PartitionAudit, election: Election) -> Span:
    """What Kafka would call the election, and what it loses."""
    member = member_word(audit, election.candidate)
    words = _LOSES[election.kind]
    if election.kind is ElectionKind.CLEAN and election.lacking.only_if_unclean:
        words = "loses none known committed"
    style = _STYLES[election.kind]
    if election.kind is ElectionKind.UNCLEAN:
        words = words if every_choice_loses(audit) else f"{words}: do not"
        words = f"{member}, {words}" if member else words
    elif election.clean_by_membership is False:
        words = "needs an unclean election" if election.kind is ElectionKind.CLEAN else words
        style = Style.ATTENTION
    elif member:
        words = member if election.kind is ElectionKind.CLEAN else f"{member}, {words}"
    if election.kind is not ElectionKind.UNCLEAN:
        if election.candidate.cut_transactions:
            return Span(f"{words}, IN TRANSACTION", Style.ATTENTION)
        if election.is_silent:
            return Span(f"{words}, copies differ", Style.ATTENTION)
    return Span(words, style)


def _cells(election: Election) -> tuple[str, str, str, str]:
    cuts: dict[str, list[Candidate]] = {}
    for outcome in election.followers:
        if outcome.is_cut:
            cuts.setdefault(_cut(outcome), []).append(outcome.follower)
    followers = [f"{joined_names(names)}: {cut}" for cut, names in cuts.items()]
    if below := election.deleted_below:
        assert election.candidate.log is not None
        start = election.candidate.log.log_start_offset
        followers.append(f"{joined_names(below)}: all below {start:,}")
    name = election.candidate.name
    lost = election.lacking
    words = _lost_cell(lost.only_sound) if lost.total or not lost else "damaged batches"
    return str(election.rank), name, ", ".join(followers) or _NO_CUT, words


def _cut(outcome: FollowerOutcome) -> str:
    cut = f"{outcome.log_end_offset:,} → {outcome.truncation_offset:,}"
    if outcome.kept_until < outcome.truncation_offset:  # a batch is removed as a whole
        cut += f" (its file ends at {outcome.kept_until:,})"
    return cut


def _unseen_lines(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    """Brokers without a copy here, whose records the table cannot count."""
    if audit.unseen is not None:
        names = joined_ids(audit.unseen.brokers)
        text = f" no copy of {names} was supplied: what only {names} may hold is not counted"
        beginning = (Span("NOT SUPPLIED:", Style.ATTENTION),)
        yield from wrapped(text, columns, indent=2, beginning=beginning)


def _damaged_lines(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    """Records in damaged batches that are lost, too; a salvage may repair them."""
    alike: dict[str, list[Candidate]] = {}
    for election in audit.elections:
        lost = election.lost
        words = lost_words(lost.only_damaged) if lost.damaged else ""
        alike.setdefault(words, []).append(election.candidate)
    for words, leaders in alike.items():
        if words:
            text = (
                f" with {joined_names(leaders)} leading, what no copy has intact is removed, too: "
                f"{words}"
            )
            beginning = (Span("DAMAGED:", Style.LOST),)
            yield from wrapped(text, columns, indent=2, beginning=beginning)


def _unreadable_lines(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    """Leaders that consumers do not get past, and who gets the records whole from them."""
    for election in audit.elections:
        first = election.candidate.unreadable_from
        if first is None:
            continue
        leader = election.candidate.name
        text = f" with {leader} leading, consumers stop at its damage, offset {first:,}"
        heirs = election.heirs if election.rank == 1 else ()
        if heirs:
            has, it = ("has", "it") if len(heirs) == 1 else ("have", "one of them")
            text += (
                f"; {joined_names(heirs)} {has} every record whole once in sync: then {it} should "
                "lead, and this copy be made again"
            )
        yield from wrapped(text, columns, indent=2, beginning=(Span("UNREADABLE:", Style.LOST),))


def _silent_lines(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    """Followers that will not notice a difference: KL-517."""
    kept = []
    for election in audit.elections:
        apart = [o for o in election.followers if o.silent_divergence is not None]
        for offset in sorted({o.silent_divergence or 0 for o in apart}):
            followers = [o.follower for o in apart if o.silent_divergence == offset]
            keep = "keeps" if len(followers) == 1 else "keep"
            leader = election.candidate.name
            kept.append((f"with {leader} leading, {joined_names(followers)} {keep}", offset))
    if len(kept) > 2 and all(election.is_silent for election in audit.elections):
        first = min(offset for _, offset in kept)
        kept = [("with any leader, copies keep", first)]
    for who, offset in kept:
        text = f" {who} other content from offset {offset:,} on, and no broker will notice"
        yield from wrapped(text, columns, indent=2, beginning=(Span("UNNOTICED:", Style.LOST),))


_OUT_OF_SYNC: Final = {
    FollowingEnd.STUCK: (
        "fetches from {}, inside a batch, cannot append it, and stays out of sync",
        "fetch from {}, inside a batch, cannot append it, and stay out of sync",
        " until a restart",
    ),
    FollowingEnd.LOOPS: (
        "asks from {} on for a leader epoch that the leader does not know",
        "ask from {} on for a leader epoch that the leader does not know",
        ", again and again: it never gets in sync with this copy",
    ),
    FollowingEnd.REFETCHES: (
        "fetches from {} on and cuts it off again",
        "fetch from {} on and cut it off again",
        ", for ever: the leader's epoch checkpoint lacks the epoch of its last batches, or ends it "
        "too early; records that it writes end this",
    ),
}
"""What one follower does, what several do, and how it ends."""


def never_in_sync(audit: PartitionAudit) -> bool:
    """Whether under some leader a follower does not get in sync by itself."""
    return any(
        outcome.following.outcome in _OUT_OF_SYNC
        for election in audit.elections
        for outcome in election.followers
    )


def _out_of_sync_lines(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    """Followers that do not get in sync by themselves."""
    for election in audit.elections:
        alike: dict[tuple[FollowingEnd, int], list[Candidate]] = {}
        for each in election.out_of_sync:
            fetches_from = each.following.follower.log_end_offset
            alike.setdefault((each.following.outcome, fetches_from), []).append(each.follower)
        for (outcome, fetches_from), followers in alike.items():
            if outcome in _OUT_OF_SYNC:
                one, several, ending = _OUT_OF_SYNC[outcome]
                does = (one if len(followers) == 1 else several).format(f"{fetches_from:,}")
                leader, names = election.candidate.name, joined_names(followers)
                text = f" with {leader} leading, {names} {does}{ending}"
                beginning = (Span("OUT OF SYNC:", Style.LOST),)
                yield from wrapped(text, columns, indent=2, beginning=beginning)


def _rule_lines(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    """What the other truncation rules would cut, if the rule is unknown and matters."""
    for election in audit.elections:
        leader = election.candidate.name
        for outcome in election.followers:
            for rule, offset in outcome.otherwise:
                follower = outcome.follower.name
                text = (
                    f" the files do not show which rule the brokers follow: with {leader} leading, "
                    f"{follower} cuts to {outcome.truncation_offset:,} by {outcome.rule.value}, to "
                    f"{offset:,} by {rule.value} (--rule)"
                )
                beginning = (Span("RULE:", Style.ATTENTION),)
                yield from wrapped(text, columns, indent=2, beginning=beginning)
