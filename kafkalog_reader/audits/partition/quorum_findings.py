"""What to do about damaged copies of the metadata log: its quorum holds other elections.

Every broker has a copy of the log; only controllers vote. A controller that starts recovers its
whole copy, and cuts it at the first damaged batch. Source: Kafka 4.3, KafkaRaftLog, LogLoader,
QuorumStateData; a 4.3.1 controller did so, and came up with a broker's copy in its place.
"""

from __future__ import annotations

import json
import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import (
    CHECK_HARDWARE,
    CHOOSE_A_BRANCH,
    COMPARE_METADATA_LOGS,
    COMPARE_REPLICAS,
    DO_NOT_START,
    FETCH_METADATA_AGAIN,
    FORBID_UNCLEAN_ELECTION,
    LET_BEST_LEAD,
    MOVE_COPY_ASIDE,
    NOTHING_TO_DO,
    REPLACE_METADATA_LOG,
    SAVE_RECORDS,
    SUPPLY_WHAT_IS_MISSING,
)
from kafkalog_reader.audits.catalogue.checkpoint_rules import (
    METADATA_NOT_REPLAYED,
    METADATA_SNAPSHOT_DAMAGED,
)
from kafkalog_reader.audits.catalogue.replica_rules import CONTROLLERS_BEHIND, SAME_EPOCH_CONFLICT
from kafkalog_reader.audits.integrity.damage import is_severe
from kafkalog_reader.audits.integrity.file_repair import Copy, FileRepair, move_aside
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.integrity.partial_copy import had_metadata_log
from kafkalog_reader.audits.integrity.refused_file import NOT_DAMAGED
from kafkalog_reader.audits.recovery.names import is_of_broker
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.format.broker_words import joined_ids, joined_names
from kafkalog_reader.io.directories import PartitionDirectory
from kafkalog_reader.io.names import METADATA_TOPIC, QUORUM_STATE, shown
from kafkalog_reader.io.small_file import METADATA_LIMIT, read_if_present

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit
    from kafkalog_reader.audits.partition.supply_findings import Supply
    from kafkalog_reader.audits.quorum.leading_logs import HeldTopic
    from kafkalog_reader.io.directories import LogDirectory

_OF_SEVERAL: Final = (COMPARE_METADATA_LOGS, SUPPLY_WHAT_IS_MISSING)
"""Where several controllers lack what a broker has: kafkalog quorum says which get its copy."""
_TOPICS_NAMED: Final = 20
_OF_ELECTIONS: Final = frozenset({
    CHOOSE_A_BRANCH, COMPARE_REPLICAS, FORBID_UNCLEAN_ELECTION, LET_BEST_LEAD, MOVE_COPY_ASIDE,
    SAVE_RECORDS,
})  # fmt: skip
"""What a quorum has no use for."""


def with_quorum_actions(
    audit: PartitionAudit, found: Sequence[Finding], supply: Supply
) -> Iterator[Finding]:
    """The findings of a partition; those of the metadata log with actions for its quorum.

    Args:
        audit: the partition.
        found: its findings.
        supply: which nodes have no copy of the metadata log, and which copies must not lead.
    """
    if not audit.is_metadata:
        yield from found
        return
    found = [*_with_unfinished_ends(found)]
    without_log, younger = supply.without_log, supply.younger
    yield from _not_replayed(audit)
    damaged = {each.directory for each in found if _is_unsound(each)}
    sound = [
        each
        for each in audit.everyone
        if each.directory not in damaged and each.directory.path not in younger
    ]
    best = max(sound, key=_progress, default=None)
    controllers = controllers_of(audit.everyone)
    supplied = {each.broker_id for each in audit.everyone}
    unsound = {each.log_directory.broker_id for each in damaged if each is not None}
    unsound |= {each.broker_id for each in without_log}
    # An empty log votes for every candidate, also for one that lacks committed records.
    can_lead = len(controllers - unsound) > len(controllers) // 2
    for each in found:
        if each.directory is None or not _is_unsound(each):
            kept = tuple(action for action in each.actions if action not in _OF_ELECTIONS)
            if each.code == SAME_EPOCH_CONFLICT:
                kept = (COMPARE_METADATA_LOGS, *(() if younger else kept))
            yield replace(each, actions=kept)
            continue
        if each.code == METADATA_SNAPSHOT_DAMAGED:  # the log beside it needs no repair
            yield each
            continue
        node = each.directory.log_directory.broker_id
        votes = node is None or node in controllers
        if best is None and controllers <= supplied:
            yield _without_source(each, votes=votes)
        elif best is not None and votes and not controllers - {node}:
            yield _of_only_controller(audit, each, best)
        elif votes and not can_lead:
            yield replace(each, actions=(COMPARE_METADATA_LOGS, CHECK_HARDWARE))
        else:
            aside = move_aside(*posixpath.split(each.directory.path.rstrip("/")))
            yield replace(each, actions=(FETCH_METADATA_AGAIN, CHECK_HARDWARE), repairs=(aside,))
    empty = [each for each in without_log if each.broker_id in controllers]
    if best is None or not controllers:
        return
    yield from _younger(audit, best, controllers, younger)
    if controllers <= supplied | {each.broker_id for each in empty}:
        yield from _behind(audit, sound, best, controllers)
    if controllers == {each.broker_id for each in empty}:
        yield from (_without_log(each, best, controllers) for each in empty)
        return
    seats = [e.directory.log_directory for e in audit.everyone if e.broker_id in controllers]
    wiped = [each for each in empty if had_metadata_log(each, seats)]
    if best.log_end:
        wiped += [
            each.directory.log_directory
            for each in audit.everyone
            if each.log_end == 0 and each.broker_id in controllers
        ]
    if len(wiped) > len(controllers) // 2:
        yield from (_without_log(each, best, controllers, of_majority=wiped) for each in wiped)


def _with_unfinished_ends(found: Sequence[Finding]) -> Iterator[Finding]:
    """The findings; of an end that a start cuts without a loss, with nothing to do.

    Controllers open this log as after a crash, whatever the shutdown was.
    """
    from kafkalog_reader.audits.quorum.metadata_batches import read_batches

    for each in found:
        directory = each.directory
        if directory is None or not _is_unsound(each) or each.position is None:
            yield each
            continue
        try:
            batches = read_batches(directory)
        except LocatedError:  # has its own finding
            yield each
            continue
        last = batches.slices[-1] if batches.slices else None
        is_end = last is not None and (
            posixpath.basename(each.file or "") == posixpath.basename(last.segment.path("log"))
        )
        if batches.damage or not is_end or last is None or each.position < last.stop:
            yield each
        else:
            yield replace(
                each,
                severity="M",
                message=f"{each.message}; nothing from there on was flushed when the node lost "
                "power: no controller counted it as committed, and a start cuts it",
                actions=(NOTHING_TO_DO,),
            )


def _younger(
    audit: PartitionAudit,
    best: ReplicaAudit,
    controllers: set[int | None],
    younger: Mapping[str, Sequence[HeldTopic]],
) -> Iterator[Finding]:
    """KL-525 for each controller whose log never named topics that another copy did.

    It must not lead, whatever its epoch and end. A broker's copy of the same log does no harm.
    """
    for each in audit.everyone:
        topics = younger.get(each.directory.path)
        if not topics or each.broker_id not in controllers:
            continue
        first, count = shown(topics[0].topic), len(topics)
        named = f"topic {first}" if count == 1 else f"{count:,} topics (first {first})"
        brokers = joined_ids(sorted({node for topic in topics for node in topic.brokers}))
        have = "have" if brokers.startswith("brokers") else "has"
        yield finding(
            CONTROLLERS_BEHIND,
            f"the metadata log of controller {each.broker_id} never named {named}, of which "
            f"{brokers} {have} records; that of {best.name} did: if the controller leads with its "
            "own, brokers set those partitions aside (-stray), or delete them before release 3.7",
            directory=each.directory,
            actions=(COMPARE_METADATA_LOGS,),
            evidence={
                "ahead": best.name,
                "topics": ", ".join(shown(topic.topic) for topic in topics[:_TOPICS_NAMED]),
            },
        )


def _not_replayed(audit: PartitionAudit) -> Iterator[Finding]:
    """KL-320, of the copy that ends last: a record stands in all copies that reach it."""
    # Its decoder takes as long to import as everything else that an audit needs.
    from kafkalog_reader.audits.election.node_load import is_controllers, node_load

    for each in sorted(audit.everyone, key=_progress, reverse=True):
        load = node_load(each.directory, is_controller=is_controllers(each.directory, None))
        if load.refused is not None and not load.lacks:  # else KL-319 causes it
            yield finding(
                METADATA_NOT_REPLAYED,
                f"{load.refused.text}. A controller ends when it replays this",
                directory=each.directory,
                offsets=(load.refused.offset, load.refused.offset + 1),
            )
        if load.metadata is not None:
            return


def _without_log(
    root: LogDirectory,
    best: ReplicaAudit,
    controllers: set[int | None],
    *,
    of_majority: Sequence[LogDirectory] = (),
) -> Finding:
    """KL-525 for a controller whose log directory has no metadata log.

    Like all others, or ``of_majority``: those elect a leader with an empty log among themselves.
    """
    is_alone = len(controllers) == 1
    result = f"the {best.log_end:,} metadata records of {best.name} are on no controller"
    if of_majority:
        count = f"{len(of_majority)} of {len(controllers)}"
        result = (
            f"so do {count} controllers: if {best.name} starts later, they elect a leader without "
            f"topics, its {best.log_end:,} metadata records are cut, and brokers set aside "
            "all their partitions (-stray), or delete them before release 3.7"
        )
    path = posixpath.join(root.path, f"{METADATA_TOPIC}-0")
    copy = Copy(
        source=best.directory.path.rstrip("/"), node=best.name, path=path, leave_out=QUORUM_STATE
    )
    return finding(
        CONTROLLERS_BEHIND,
        f"controller {root.broker_id} has no {METADATA_TOPIC}-0, or nothing in it: if this is its "
        f"metadata.log.dir, it starts with an empty log, and {result}",
        directory=PartitionDirectory(
            path=path, log_directory=root, topic=METADATA_TOPIC, partition=0
        ),
        severity="C" if is_alone or of_majority else "H",
        confidence="possible",
        actions=(REPLACE_METADATA_LOG,) if is_alone else _OF_SEVERAL,
        repairs=(copy,) if is_alone else (),
        offsets=(0, best.log_end),
        evidence={"ahead": best.name, "logEnd": 0, "logEndOfBroker": best.log_end},
    )


def _behind(
    audit: PartitionAudit,
    sound: Sequence[ReplicaAudit],
    best: ReplicaAudit,
    controllers: set[int | None],
) -> Iterator[Finding]:
    """KL-525, if a broker's copy goes on after what starts leave of the controllers' copies.

    Not where it goes on with nothing but what an idle controller writes: the copies of a running
    cluster differ like this.
    """
    seats = [each for each in audit.everyone if each.broker_id in controllers]
    voters = [each for each in seats if each in sound]
    if best.broker_id in controllers or not voters:  # damage of all of them is found otherwise
        return
    damaged = [each for each in seats if each not in sound]
    ahead = max(voters, key=_progress)
    if _progress(ahead) >= _progress(best) or _is_idle(best, ahead.log_end):
        return
    end = max(ahead.log_end, *map(_end_after_start, damaged)) if damaged else ahead.log_end
    if end >= best.log_end:
        return
    is_alone = len(controllers) == 1
    one = f"the copy of controller {ahead.broker_id} ends"
    whose = one if is_alone else "the copies of controllers end"
    missing = "the metadata records between are on no controller"
    if damaged:
        whose = f"a start cuts {joined_names(damaged)} at damage: then {whose}"
        missing = "the metadata records between are then on no controller"
    known = "" if is_alone else "; with several controllers they need not have been committed"
    yield finding(
        CONTROLLERS_BEHIND,
        f"{whose} at offset {end:,}, that of {best.name} at {best.log_end:,}: {missing}{known}",
        directory=ahead.directory,
        severity="C" if is_alone else "H",
        confidence="possible",
        actions=(REPLACE_METADATA_LOG,) if is_alone else _OF_SEVERAL,
        repairs=_replacement(ahead.directory.path.rstrip("/"), best) if is_alone else (),
        offsets=(end, best.log_end),
        evidence={"ahead": best.name, "logEnd": end, "logEndOfBroker": best.log_end},
    )


def _is_idle(best: ReplicaAudit, first_offset: int) -> bool:
    """Whether a copy holds nothing but NoOpRecords from an offset on."""
    # Its decoder takes as long to import as everything else that an audit needs.
    from kafkalog_reader.audits.quorum.lost_records import is_idle_from

    try:
        return is_idle_from(best.directory, first_offset)
    except LocatedError:  # has its own finding
        return False


def _end_after_start(replica: ReplicaAudit) -> int:
    """Where a start leaves a damaged copy to end."""
    from kafkalog_reader.audits.quorum.metadata_copy import read_metadata_copy

    try:
        return read_metadata_copy(replica.directory).end.offset
    except LocatedError:  # a broker does not get past it either
        return 0


def _replacement(path: str, best: ReplicaAudit) -> tuple[FileRepair, ...]:
    """Put the best copy in the place of another one."""
    return (
        move_aside(*posixpath.split(path)),
        Copy(
            source=best.directory.path.rstrip("/"),
            node=best.name,
            path=path,
            leave_out=QUORUM_STATE,
        ),
    )


def _without_source(each: Finding, *, votes: bool) -> Finding:
    """The finding about a copy where no supplied one is sound, and every controller's was."""
    message = each.message
    if votes:
        message += "; a start keeps the newest snapshot, and of the log what is before the damage"
    actions = (DO_NOT_START, SUPPLY_WHAT_IS_MISSING, CHECK_HARDWARE)
    return replace(each, actions=actions, message=message)


def _of_only_controller(audit: PartitionAudit, each: Finding, best: ReplicaAudit) -> Finding:
    """The finding about the copy of a controller of which no other is known."""
    assert each.directory is not None
    own = next((r for r in audit.everyone if r.directory == each.directory), None)
    path = each.directory.path.rstrip("/")
    repairs = _replacement(path, best)
    message = each.message
    if own is not None and _progress(own) > _progress(best):
        message += (
            f"; this copy ends at offset {own.log_end:,}, the sound one of {best.name} at "
            f"{best.log_end:,}"
        )
    actions = (REPLACE_METADATA_LOG, CHECK_HARDWARE)
    return replace(each, actions=actions, repairs=repairs, message=message)


def _is_unsound(each: Finding) -> bool:
    return (
        is_severe(each)
        and each.directory is not None
        and each.directory.topic is not None
        and each.actions != (NOTHING_TO_DO,)
        and each.actions not in NOT_DAMAGED
    )


def _progress(replica: ReplicaAudit) -> tuple[int, int]:
    epoch = replica.history.greatest_leader_epoch
    return -1 if epoch is None else epoch, replica.log_end


def controllers_of(replicas: Iterable[ReplicaAudit]) -> set[int | None]:
    """Node ids of the voters that the files name, and of nodes that are no brokers."""
    found: set[int | None] = set()
    for each in replicas:
        root = each.directory.log_directory
        if root.clean_shutdown is not None and not is_of_broker(root):
            found.add(each.broker_id)
        found |= _voters(each.directory)
    return found


def _voters(directory: PartitionDirectory) -> set[int]:
    """The leader and the voters of ``quorum-state``; the leader alone from kraft.version 1 on."""
    path = posixpath.join(directory.path, QUORUM_STATE)
    try:
        content = read_if_present(path, METADATA_LIMIT, context=directory.context)
        state = json.loads(content or b"{}")
        voters = [each["voterId"] for each in state.get("currentVoters") or ()]
        named = [state.get("leaderId"), *voters]
    except (LocatedError, ValueError, TypeError, KeyError, AttributeError):
        return set()
    return {each for each in named if isinstance(each, int) and each >= 0}
