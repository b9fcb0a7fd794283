"""How to get a leader again where too few voters are left, with Kafka's own tools.

A voter is its node id, and from kraft.version 1 on also its directory id. A controller that is
formatted under the identity of a lost voter has an empty log, so it votes for every candidate, and
copies the log of the one that is elected. No tool of Kafka 4.4 overrides the voters (KIP-1347).
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.integrity.file_repair import Copy, Move, move_aside
from kafkalog_reader.audits.quorum.outcome import Verdict
from kafkalog_reader.io.names import METADATA_TOPIC, QUORUM_STATE, shown
from kafkalog_reader.report.contradiction_steps import (
    all_moved_aside,
    contested_step,
    steps_without_contradiction,
    stranger_step,
)
from kafkalog_reader.report.quorum_step import (
    METADATA_DIR,
    QuorumStep,
    describe,
    names_text,
    node_name,
    nodes,
)
from kafkalog_reader.report.repair_text import repair_commands
from kafkalog_reader.report.shell_word import shell_word
from kafkalog_reader.report.spans import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kafkalog_reader.audits.election.missing_directories import MissingDirectory
    from kafkalog_reader.audits.integrity.file_repair import FileRepair, FlipBit
    from kafkalog_reader.audits.quorum.metadata_copy import MetadataCopy
    from kafkalog_reader.audits.quorum.outcome import QuorumAudit
    from kafkalog_reader.audits.quorum.voter_set import Voter, VoterSet


_LAST: Final = (
    "Then start the other controllers, and after them the brokers, in the order of kafkalog plan. "
    "Restart brokers that still run: they cut what the new leader does not have."
)


def quorum_steps(audit: QuorumAudit) -> Iterator[QuorumStep]:
    """The steps; none where the voters elect a leader by themselves, or none is known."""
    if exchanged := audit.quorum.exchanged:
        given = ", ".join(f"{e.named}={shown(e.path)} is of node {e.broker_id}" for e in exchanged)
        yield QuorumStep(
            text=f"Before any node starts, exchange the disks or their mounts: {given}. A node "
            "does not start with a disk of another one.",
        )
    refused = [shown(each.directory.path) for each in audit.quorum.unread if each.is_refused]
    if refused and audit.verdict is not Verdict.ELECTABLE:
        yield QuorumStep(
            text="First give all files to kafkalog again as the user of the nodes: permission to "
            f"read {listed(refused)} is missing. The next steps are others then.",
        )
        return
    damaged = _unread_voters(audit) if audit.verdict is Verdict.NO_MAJORITY else []
    if damaged := [*damaged, *(e.node_id for e in audit.quorum.copies if e.snapshot_problem)]:
        yield _put_back(damaged)
        return
    flipped = {e: e.batches.flipped for e in audit.quorum.startable if e.batches.flipped}
    if flipped:
        yield _corrected(flipped)
    if audit.misplaced:
        yield _moved_back(audit)
    if flipped or audit.misplaced:
        return
    if audit.quorum.rolled_back.lost_end:
        yield QuorumStep(
            text="First look for a newer copy of the metadata log, that of a broker too, and "
            "give it to this command. Without one, the cluster goes on from an earlier state.",
        )
    if audit.quorum.strangers:
        yield stranger_step(audit)
    for copy in audit.quorum.startable:
        if missing := audit.quorum.lacking(copy):
            yield _restored(copy, missing)
    for copy in audit.needed_but_stop:
        naming = audit.quorum.naming_as_leader(copy)
        yield _moved_aside(naming, f"it names {node_name(copy)} as leader, whose log is lost,")
    if audit.quorum.leading.contested and audit.verdict is Verdict.CONTRADICTED:
        yield contested_step(audit)
    elif audit.verdict in (Verdict.CONTRADICTED, Verdict.YOUNGER_LOG) and audit.agreeing:
        yield from steps_without_contradiction(audit)
    elif audit.verdict is Verdict.NO_MAJORITY or _is_short_to_seed(audit):
        yield from _majority(audit)
    elif audit.source is not None:
        if not audit.quorum.rolled_back.lost_end and audit.verdict is not Verdict.YOUNGER_LOG:
            yield QuorumStep(
                text="First look for newer copies of the controllers' metadata logs, and give them "
                "to this command. Keep a copy of every disk.",
            )
        yield from _seeded(audit, audit.source, ())
    elif audit.verdict is Verdict.MAY_LOSE and audit.start_first:
        yield from _order(audit)


def _is_short_to_seed(audit: QuorumAudit) -> bool:
    """Whether too few voters are here that could get the only log that may lead."""
    voters = audit.quorum.voters
    return (
        audit.verdict is Verdict.YOUNGER_LOG
        and voters is not None
        and len(audit.quorum.startable) < voters.majority
    )


def _unread_voters(audit: QuorumAudit) -> list[int | None]:
    """Voters whose copies are here and could not be read."""
    ids = () if audit.quorum.voters is None else audit.quorum.voters.node_ids
    return [each.node_id for each in audit.quorum.unread if each.node_id in ids]


def _put_back(damaged: Sequence[int | None]) -> QuorumStep:
    """Snapshots of one name differ in their timestamps alone, as on controllers of 4.2.0."""
    nodes = ("node " if len(damaged) == 1 else "nodes ") + listed([str(each) for each in damaged])
    return QuorumStep(
        text=f"The metadata log of {nodes} is here, and a file of it is damaged: see above. Do "
        "not start or format such a node. Put a sound copy of the file in its place: one of a "
        "backup or, of a .checkpoint, the file of the same name of another node. Keep the damaged "
        "one. Of a log that begins at offset 0, it is enough to move the .checkpoint aside: "
        "kafkalog verify prints the command (KL-319). Then give all files to kafkalog again.",
    )


def _corrected(copies: Mapping[MetadataCopy, FlipBit]) -> QuorumStep:
    return QuorumStep(
        text=f"Before any start, correct one flipped bit in the log of {names_text([*copies])}: "
        "its checksum proves which one, and that nothing else in this batch is wrong. Otherwise "
        "the start cuts the log there. Then give all files to kafkalog again: the next steps are "
        "others.",
        commands=tuple(repair_commands(copies.values())),
    )


def _moved_back(audit: QuorumAudit) -> QuorumStep:
    """A start does not notice it: 4.1.1 elected such a controller, which then could not write."""
    wrong = audit.misplaced
    others = [each for each in audit.quorum.startable if each not in wrong]
    instead = ""
    if audit.quorum.winners(others):
        it, its = ("it", "its") if len(wrong) == 1 else ("them", "their")
        instead = (
            f" Or do without {it}: start {names_text(others)} first, move {its} "
            "__cluster_metadata-0 aside when they have a leader (kafkalog verify has the command), "
            f"and only then start {it}."
        )
    return QuorumStep(
        text=f"Before any start, correct the base offset in the log of {names_text(wrong)}: the "
        "batches before and after it prove the right one. Then give all files to kafkalog again."
        f"{instead}",
        commands=tuple(
            repair_commands(repair for each in wrong for repair in each.batches.offset_repairs)
        ),
    )


def _restored(copy: MetadataCopy, missing: Sequence[MissingDirectory]) -> QuorumStep:
    return QuorumStep(
        text=f"As long as log.dirs of {node_name(copy)} names "
        f"{listed([each.place for each in missing])}, which was not supplied, the node does not "
        "start without it, not even as a controller. Put it back; if it is lost, format the new "
        "disk, which leaves the other log directories as they are, or take it out of log.dirs. A "
        "controller without controller.quorum.voters also takes --no-initial-controllers.",
        commands=tuple(repair_commands([missing[0].repair])),
        is_of_disk=True,
    )


def _order(audit: QuorumAudit) -> Iterator[QuorumStep]:
    first = audit.start_first
    later = [each for each in audit.quorum.startable if each not in first]
    held = "that may be committed"
    if audit.quorum.rolled_back.lost_end:
        held = "that is left and may be committed"
    yield QuorumStep(
        text=f"Start {names_text(first)}, and nothing else, until they have a leader. Only a "
        f"controller that holds everything {held} can be elected then.",
        commands=describe(audit, nodes(first)),
    )
    yield QuorumStep(text=f"Then start {names_text(later)}.")


def _majority(audit: QuorumAudit) -> Iterator[QuorumStep]:
    """Format lost voters anew, as many as a majority lacks."""
    quorum = audit.quorum
    chosen = audit.outcomes[0] if audit.outcomes else None
    has_log = chosen is not None and not chosen.copy.is_empty
    voters = (quorum.voters_for(chosen.copy) if chosen else None) or quorum.voters
    if audit.source is not None:
        voters = quorum.voters
    if voters is None or not (has_log or audit.source):
        return
    if (
        chosen is not None
        and audit.source is None
        and voters.voter_at(chosen.copy.node_id, chosen.copy.directory_id) is None
    ):
        return
    refused = [each for each in quorum.seated if each.refusal]
    # With the copy that reaches furthest, a controller gets the vote of every other one.
    votes = quorum.startable if audit.source or chosen is None else chosen.votes
    if len(votes) + len(refused) >= voters.majority:
        yield QuorumStep(
            text=f"A majority is here: repair what keeps {names_text(refused)} from starting, "
            "which the table shows, and run this command again. Format no controller whose log is "
            "here.",
        )
        return
    here = {each.node_id for each in quorum.startable}
    named = {each.state.leader_id for each in votes if each.state is not None}
    lost = [each for each in voters.voters if each.node_id not in here]
    lost.sort(key=lambda each: each.node_id in named)
    needed = lost[: voters.majority - len(votes)]
    yield QuorumStep(
        text="First look for the disks of the missing voters, and give them to this command: a "
        "majority of the voters elects a leader without the steps below, and loses nothing. Keep a "
        "copy of every disk that is left.",
    )
    yield _formatted(audit, voters, needed)
    ids = {each.node_id for each in needed}
    stale = [each for each in votes if each.state is not None and each.state.leader_id in ids]
    if stale:
        yield _moved_aside(stale, "it names a voter as leader that is formatted anew,")
    if audit.source is not None:
        yield from _seeded(audit, audit.source, needed, without_state=stale)
        return
    controllers = "controller" if len(needed) == 1 else "controllers"
    yield QuorumStep(
        text=f"Start {names_text(votes)} and the new {controllers}, and nothing else, until "
        "they have a leader. An empty log wins no election against theirs, and its controller "
        "copies the log of the leader.",
        commands=describe(audit, nodes(votes)),
    )
    yield QuorumStep(text=_LAST)


def _formatted(audit: QuorumAudit, voters: VoterSet, needed: Sequence[Voter]) -> QuorumStep:
    ids = [str(each.node_id) for each in needed]
    controllers = "controller" if len(ids) == 1 else "controllers"
    kept = [str(e.node_id) for e in needed if e.node_id in audit.quorum.without_log]
    keep = ""
    if kept:
        nodes = f"Node {kept[0]} keeps" if len(kept) == 1 else f"Nodes {listed(kept)} keep"
        keep = (
            f" {nodes} the log directories that are here, with their partitions: never empty "
            "them; --ignore-formatted formats only what is lost."
        )
    return QuorumStep(
        text=f"Format {len(ids)} new {controllers} under the identity of "
        f"{'voter' if len(ids) == 1 else 'voters'} {listed(ids)}: with this node.id in "
        "controller.properties, an empty metadata log directory, and the address that the other "
        f"controllers know. The lost disk must never be started again.{keep}",
        commands=tuple(_format(audit, voters, each) for each in needed),
    )


def _seeded(
    audit: QuorumAudit,
    source: MetadataCopy,
    formatted: Sequence[Voter],
    *,
    without_state: Sequence[MetadataCopy] = (),
) -> Iterator[QuorumStep]:
    """Give a majority of the voters the copy of a node without a vote: no other voter wins then."""
    quorum = audit.quorum
    assert quorum.voters is not None
    here = sorted(quorum.startable, key=lambda each: each.end, reverse=True)
    here = sorted(here, key=lambda each: each is not source)[: quorum.voters.majority]
    given = [each for each in here if each is not source]
    others = [each for each in quorum.copies if quorum.is_younger(each) and each not in here]
    commands: list[str] = []
    for copy in given:
        commands += _on_host(copy.node_id, _copied(source, copy.directory.path.rstrip("/"), copy))
        if copy.state is not None and copy not in without_state:
            folder = copy.directory.path.rstrip("/")
            kept = f"{move_aside(*posixpath.split(folder)).target}/{QUORUM_STATE}"
            commands.append(f"cp -p {shell_word(kept)} {shell_word(folder)}")
    folder = f"{METADATA_DIR}/{METADATA_TOPIC}-0"
    for voter in formatted:
        repairs = _copied(source, folder, None)
        if quorum.voters.is_dynamic:  # formatting wrote a snapshot with the voters
            target = f"{METADATA_DIR}.formatted/{METADATA_TOPIC}-0"
            repairs = (Move(path=folder, target=target), *repairs)
        commands += _on_host(voter.node_id, repairs)
    new = [str(each.node_id) for each in formatted]
    ids = [str(each.node_id) for each in here] + new
    getting = [str(each.node_id) for each in given] + new
    controllers = "controller" if len(getting) == 1 else "controllers"
    where = f" {METADATA_DIR} is metadata.log.dir there, or else the first of log.dirs."
    yield QuorumStep(
        text=f"While they and {node_name(source)} are stopped, give {controllers} "
        f"{listed(getting)} the __cluster_metadata-0 of {node_name(source)}, without its "
        "quorum-state. Run this on the host of each, as the user of the controller, with the paths "
        "there."
        f"{where if formatted else ''}",
        commands=tuple(commands),
    )
    if others:
        yield all_moved_aside(others)
    text = f"Start node {ids[0]}, and nothing else, until it leads."
    if len(ids) > 1:
        which = "that reaches furthest"
        if audit.verdict is Verdict.YOUNGER_LOG:
            which = "that names the topics of the brokers"
        text = (
            f"Start nodes {listed(ids)}, and nothing else, until they have a leader. They are a "
            f"majority with the log {which}."
        )
    running = {*nodes(here), *(each.node_id for each in formatted)}
    yield QuorumStep(text=text, commands=describe(audit, running))
    yield QuorumStep(text=_LAST)


def _copied(
    source: MetadataCopy, folder: str, replaced: MetadataCopy | None
) -> tuple[FileRepair, ...]:
    copied = Copy(
        source=source.directory.path.rstrip("/"), node=node_name(source), path=folder,
        leave_out=QUORUM_STATE,
    )  # fmt: skip
    if replaced is None or replaced.is_missing:
        return (copied,)
    return (move_aside(*posixpath.split(folder)), copied)


def _on_host(node: int | None, repairs: Sequence[FileRepair]) -> Iterator[str]:
    yield f"# on the host of node {node}:"
    yield from repair_commands(repairs)


def _moved_aside(copies: Sequence[MetadataCopy], why: str) -> QuorumStep:
    """Without the file, a controller takes the epoch from its log, and knows no leader."""
    paths = [f"{each.directory.path.rstrip('/')}/quorum-state" for each in copies]
    return QuorumStep(
        text=f"Before the start, move quorum-state of {names_text(copies)} aside: {why} and stops "
        "when it hears of it.",
        commands=tuple(f"mv {shell_word(each)} {shell_word(each + '.old')}" for each in paths),
    )


def _format(audit: QuorumAudit, voters: VoterSet, voter: Voter) -> str:
    is_here = voter.node_id in audit.quorum.without_log
    words = [
        f"kafka-storage.sh format{' --ignore-formatted' if is_here else ''}",
        f"--cluster-id {shell_word(shown(audit.quorum.cluster_id or '?'))}",
        "--config controller.properties",
    ]
    if voters.is_dynamic:
        words.append(f"--initial-controllers {shell_word(','.join(map(_initial, voters.voters)))}")
    return f"{' '.join(words)}   # on the host of node.id={voter.node_id}"


def _initial(voter: Voter) -> str:
    """``id@host:port:directory``."""
    endpoint = voter.endpoints[0].partition("://")[2] if voter.endpoints else "HOST:9093"
    return f"{voter.node_id}@{shown(endpoint)}:{voter.directory_id or 'DIRECTORY_ID'}"
