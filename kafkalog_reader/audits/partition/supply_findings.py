"""Findings about what was supplied: missing replicas, copies of different times."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import NOTHING_TO_DO, RENAME_FOLDER
from kafkalog_reader.audits.catalogue.checkpoint_rules import (
    REPLICA_DIRECTORY_MISSING,
)
from kafkalog_reader.audits.catalogue.input_rules import (
    COPIES_TAKEN_AT_DIFFERENT_TIMES,
    REPLICA_NOT_SUPPLIED,
)
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.election.unseen import Unseen, UnseenRole
from kafkalog_reader.audits.integrity.file_repair import Move
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.format.broker_words import joined_ids, joined_names
from kafkalog_reader.io.checkpoints import topic_id_of
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.partition_directory import readable_segments

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from kafkalog_reader.audits.election.membership import PartitionMembership
    from kafkalog_reader.audits.election.missing_directories import MissingDirectory
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.quorum.leading_logs import HeldTopic
    from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """Which replicas a partition should have besides those that were supplied.

    Attributes:
        absent: node ids of the brokers that were not supplied.
        lacking: node ids of supplied brokers that have no directory of the partition.
        is_assigned: whether the cluster metadata says so; if not, the topic's other partitions
            suggest it.
        has_peers: whether more than one broker was supplied, so that copies are meant to be
            compared.
        missing: log directories of lacking brokers that may have it, and were not supplied.
        renamed: folders of lacking brokers that are stray, being deleted or a future copy.
        deleting: of a cluster with ZooKeeper: folders of it that brokers marked for deletion.
        without_log: of the metadata log: one log directory of each node that has no copy of it.
        younger: of the metadata log: copies that must not lead, by path, each with the topics that
            it never named.
    """

    absent: tuple[int, ...] = ()
    lacking: tuple[int, ...] = ()
    is_assigned: bool = False
    has_peers: bool = False
    missing: tuple[MissingDirectory, ...] = ()
    renamed: tuple[PartitionDirectory, ...] = ()
    deleting: tuple[PartitionDirectory, ...] = ()
    without_log: tuple[LogDirectory, ...] = ()
    younger: Mapping[str, tuple[HeldTopic, ...]] = field(default_factory=dict)

    def without(self, brokers: Collection[int]) -> Supply:
        """The same without these brokers, which have a copy after all."""
        return replace(
            self,
            absent=tuple(each for each in self.absent if each not in brokers),
            lacking=tuple(each for each in self.lacking if each not in brokers),
        )


NOTHING_KNOWN: Final = Supply()


def assigned_supply(
    membership: PartitionMembership,
    directories: Sequence[PartitionDirectory],
    brokers: frozenset[int],
) -> Supply:
    """What the assignment of the partition says.

    Args:
        membership: of the partition.
        directories: those that were supplied.
        brokers: those whose log directories were supplied completely.
    """
    here = {directory.log_directory.broker_id for directory in directories}
    missing = [broker_id for broker_id in membership.replicas if broker_id not in here]
    absent = sorted(each for each in missing if each not in brokers)
    unknown = sum(each.log_directory.broker_id is None for each in directories)
    if unknown >= len(absent):  # a copy whose node is not known may be theirs
        absent = []
    return Supply(
        absent=tuple(absent),
        lacking=tuple(sorted(each for each in missing if each in brokers)),
        is_assigned=True,
        has_peers=sum(each in here or each in brokers for each in membership.replicas) > 1,
    )


def suggested_supply(
    directories: Sequence[PartitionDirectory], replicas: int, brokers: frozenset[int]
) -> Supply:
    """What the topic's other partitions suggest, one of which has that many ``replicas``."""
    here = {directory.log_directory.broker_id for directory in directories}
    if None in here or len(here) >= replicas:
        return Supply(has_peers=len(here) > 1)
    return Supply(absent=tuple(sorted(brokers - here)), has_peers=True)


def _suggested(audit: PartitionAudit, supply: Supply) -> Finding:
    """KL-012 of a broker that is here, and without a metadata log may have the partition."""
    of_them = "" if len(supply.absent) == 1 else "one of "
    has_zookeeper = any(each.directory.log_directory.meta_version == 0 for each in audit.replicas)
    return finding(
        REPLICA_NOT_SUPPLIED,
        f"other partitions of the topic have more replicas: {of_them}{joined_ids(supply.absent)} "
        "may have one of this partition, too, in a log directory that was not supplied, unless the "
        "partition was reassigned (kafka-topics.sh --describe shows where it is)",
        severity="L",
        confidence="possible",
        actions=(NOTHING_TO_DO,) if has_zookeeper else None,
        evidence={
            "expected": ", ".join(map(str, supply.absent)),
            "supplied": len(audit.replicas),
            "by": "the topic's other partitions",
        },
    )


def supply_findings(audit: PartitionAudit, supply: Supply) -> Iterator[Finding]:
    """Yield KL-012 and KL-310 for one partition."""
    if supply.absent and not supply.is_assigned:
        yield _suggested(audit, supply)
    elif supply.absent:
        names = ", ".join(map(str, supply.absent))
        which = joined_ids(supply.absent)
        several = len(supply.absent) > 1
        has = "have replicas too, which were" if several else "has a replica too, which was"
        message = f"according to the metadata log, {which} {has} not supplied"
        unseen = audit.unseen
        if unseen is not None and not {*unseen.brokers} & {*supply.absent}:
            unseen = None
        if unseen is not None:
            message += f"; {_may_hold_more(audit, unseen)}"
        yield finding(
            REPLICA_NOT_SUPPLIED,
            message,
            severity=_severity(unseen, has_peers=supply.has_peers),
            confidence="proven",
            evidence={"expected": names, "supplied": len(audit.replicas), "by": "the metadata log"},
        )
    if supply.lacking and any(
        replica.directory.log_directory.clean_shutdown is not None for replica in audit.replicas
    ):
        names = ", ".join(map(str, supply.lacking))
        has = "should have a replica, and has no folder of it"
        renamed = renamed_text(supply.renamed, supply.lacking)
        if len(supply.lacking) > 1:
            has = "should have replicas, and have no folder of it"
            renamed = renamed.replace("it will create an empty one", "they will create empty ones")
        topic_id = None if audit.membership is None else audit.membership.topic_id
        moves = name_moves(supply.renamed, supply.lacking, topic_id)
        if supply.missing:
            places = ", ".join(each.place for each in supply.missing)
            has = has.replace("of it", f"of it here, but {places} was not supplied")
            for creates in ("it will create", "they will create"):
                renamed = renamed.replace(f": {creates}", f"; if that is lost, {creates}", 1)
        yield finding(
            REPLICA_DIRECTORY_MISSING,
            f"according to the metadata log {joined_ids(supply.lacking)} {has}{renamed}"
            f"{_without_in_sync(audit, supply)}",
            confidence="possible",
            evidence={"brokers": names},
            actions=(RENAME_FOLDER,) if moves else None,
            repairs=moves,
        )


def renamed_text(renamed: Sequence[PartitionDirectory], lacking: Sequence[int]) -> str:
    """What becomes of the missing replica, and which folders may hold its records.

    Source: Kafka 4.4, LogManager#recoverAbandonedFutureLogs (KAFKA-16082), seen on 4.4.0.
    """
    moving = [each for each in renamed if each.state == "future"]
    others = [each for each in renamed if each.state != "future"]
    promoted = {each.log_directory.broker_id for each in moving}
    text = "" if promoted.issuperset(lacking) else ": it will create an empty one"
    if others:
        does = "deletes" if all(each.state == "delete" for each in others) else "does not load"
        text += f"; {_names(others)} may hold its records, but the broker {does} that"
    if moving:
        name = f"{moving[0].topic}-{moving[0].partition}"
        text += (
            f"; {_names(moving)} may hold its records: KRaft brokers since 3.7 put it in the "
            "replica's place if the metadata log has the replica in that log directory. Renamed "
            f"to {shown(name)} while the broker is stopped, it can be compared"
        )
    return text


def name_moves(
    renamed: Sequence[PartitionDirectory], lacking: Sequence[int], topic_id: str | None
) -> tuple[Move, ...]:
    """How brokers get back a folder that was renamed, where its topic id is that of the topic.

    Nothing where one of them has several. A future copy takes its place by itself.
    """
    own = [
        each
        for each in renamed
        if each.state != "future"
        and each.log_directory.broker_id in lacking
        and topic_id is not None
        and topic_id_of(each) == topic_id
    ]
    if len({each.log_directory.broker_id for each in own}) < len(own):
        return ()
    return tuple(
        Move(
            path=each.path.rstrip("/"),
            target=posixpath.join(each.log_directory.path, f"{each.topic}-{each.partition}"),
        )
        for each in own
    )


def _names(renamed: Sequence[PartitionDirectory]) -> str:
    return ", ".join(
        f"{shown(posixpath.basename(each.path))} on {each.replica_name}" for each in renamed
    )


def _severity(unseen: Unseen | None, *, has_peers: bool) -> str:
    """Of one broker alone nobody expects the others, unless its copy is not in sync."""
    if unseen is None:
        return "M" if has_peers else "I"
    return "H" if has_peers or unseen.role is UnseenRole.ALL_IN_SYNC else "M"


def _without_in_sync(audit: PartitionAudit, supply: Supply) -> str:
    """What it means if the missing folders are those of the in-sync replicas, and no copy is."""
    unseen = audit.unseen
    if unseen is None or unseen.role is not UnseenRole.ALL_IN_SYNC:
        return ""
    is_said = not {*unseen.brokers} & {*supply.lacking} or {*unseen.brokers} & {*supply.absent}
    return "" if is_said else f"; {_outside(audit, unseen.brokers)}"


def _may_hold_more(audit: PartitionAudit, unseen: Unseen) -> str:
    """What it means that no copy of these brokers is here."""
    match unseen.role:
        case UnseenRole.ALL_IN_SYNC:
            return _outside(audit, unseen.brokers)
        case UnseenRole.LEADER:
            return f"{joined_ids(unseen.brokers)} leads: what was supplied may lack records"
        case UnseenRole.IN_SYNC:
            verb, what = ("is", "it") if len(unseen.brokers) == 1 else ("are", "they")
            return (
                f"{joined_ids(unseen.brokers)} {verb} in sync: {what} may hold what the supplied "
                "copies lack"
            )


def _outside(audit: PartitionAudit, unseen: Sequence[int]) -> str:
    """What it means that no copy of an in-sync replica is here."""
    assert audit.membership is not None
    is_one = len(audit.everyone) == 1
    ends, epoch = audit.greatest_leader_epoch, audit.membership.leader_epoch
    older = f", and {'ends' if is_one else 'end'} at leader epoch {ends}, before {epoch}"
    return (
        f"{joined_names(audit.everyone)} {'is' if is_one else 'are'} outside the in-sync replicas "
        f"({joined_ids(unseen)}){older if ends < epoch else ''}: only the in-sync replicas "
        "surely have every committed record, and what was supplied may lack some"
    )


def skew_findings(audit: PartitionAudit) -> Iterator[Finding]:
    """Yield KL-013: copies of running brokers that differ only because of their copy times."""
    hot = [
        replica.name for replica in audit.replicas
        if not replica.directory.log_directory.clean_shutdown
    ]  # fmt: skip
    if len(audit.replicas) < 2 or audit.relation is not Verdict.LAGGING or not hot:
        return
    ends = [replica.log_end for replica in audit.replicas]
    yield finding(
        COPIES_TAKEN_AT_DIFFERENT_TIMES,
        f"logs end at {min(ends):,} to {max(ends):,}, one a prefix of the other: copies of running "
        "brokers, taken one after another, differ like this",
        offsets=(min(ends), max(ends)),
        evidence={
            "hot": ", ".join(hot),
            **{f"modifiedAt.{r.name}": _modified_at(r.directory) for r in audit.replicas},
        },
    )


def _modified_at(directory: PartitionDirectory) -> int | None:
    """When the log was last modified, in milliseconds."""
    try:
        found = readable_segments(directory)
    except LocatedError:
        return None
    return max((int(segment.modified_at * 1000) for segment in found), default=None)
