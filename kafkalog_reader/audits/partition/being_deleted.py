"""Topics that a cluster with ZooKeeper deletes, while a broker that was down has a live copy.

The other brokers have marked their folders (``-delete``). A broker to which a partition is no
longer assigned does the same, but then the brokers that still have it know newer leader epochs.
The controller elects no leader of such a topic, and deletes the rest once all its brokers run.
Source: Kafka 2.8, TopicDeletionManager, LogManager#loadLog.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.actions import KEEP_DELETED_FOLDER
from kafkalog_reader.audits.catalogue.input_rules import NOT_A_REPLICA_DIRECTORY
from kafkalog_reader.audits.integrity.file_repair import move_aside
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.partition.same_content import is_content_of
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.format.broker_words import joined, joined_names
from kafkalog_reader.io.checkpoints import read_leader_epochs
from kafkalog_reader.io.names import shown
from kafkalog_reader.scan.log_tail import end_after_damage, scan_tail

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.io.directories import PartitionDirectory


def newer_deleted_folders(
    audit: PartitionAudit, folders: Sequence[PartitionDirectory]
) -> tuple[PartitionDirectory, ...]:
    """Those ``-delete`` folders that hold the same topic, and are newer than every live copy."""
    copies = [each.directory for each in audit.everyone]
    live = audit.greatest_leader_epoch, max((each.log_end for each in audit.everyone), default=0)
    newer = (each for each in folders if (reached := _reached(each)) and reached > live)
    return tuple(each for each in newer if is_content_of(each, copies))


def deletion_findings(audit: PartitionAudit) -> Iterator[Finding]:
    """Yield KL-010 for a partition whose topic is being deleted."""
    folders = audit.deleting
    if not folders:
        return
    brokers = joined(sorted({each.replica_name for each in folders}))
    ends = [reached[1] for each in folders if (reached := _reached(each))]
    live = joined_names(audit.everyone)
    copies, are = ("copy", "is") if len(audit.everyone) == 1 else ("copies", "are")
    has, its, it, is_ = ("has", "its folder", "it", "is")
    if len(folders) > 1:
        has, its, it, is_ = ("have", "their folders", "they", "are")
    yield finding(
        NOT_A_REPLICA_DIRECTORY,
        f"the topic is being deleted: {brokers} {has} marked {its} of it (-delete). A minute after "
        f"the start {it} {is_} gone, and the {copies} of {live} {are} deleted once all brokers of "
        f"the topic run. If that is a mistake, keep the marked records, which end at offset "
        f"{max(ends):,}: no live copy here has all of them",
        severity="M",
        confidence="likely",
        actions=(KEEP_DELETED_FOLDER,),
        evidence={"folders": ", ".join(shown(each.path) for each in folders)},
        repairs=tuple(
            move_aside(each.log_directory.path, each.path.rstrip("/").rpartition("/")[2])
            for each in folders
        ),
    )


def _reached(folder: PartitionDirectory) -> tuple[int, int] | None:
    """The newest leader epoch of a folder and its log end; None if it cannot be read."""
    try:
        entries = read_leader_epochs(folder.path, context=folder.context) or ()
        end = end_after_damage(folder, scan_tail(folder)).next_offset
    except LocatedError:
        return None
    return max((each.leader_epoch for each in entries), default=-1), end
