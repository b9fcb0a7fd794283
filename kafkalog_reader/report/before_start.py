"""What to do before brokers that must not start yet may be started after all."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.checkpoint_rules import REPLICA_DIRECTORY_MISSING
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.integrity.checkpoint_findings import HIGH_WATERMARKS
from kafkalog_reader.audits.plan.unanswered import put_back_text
from kafkalog_reader.audits.recovery.recovery import Recovery
from kafkalog_reader.format.broker_words import joined_names
from kafkalog_reader.format.offset_words import offsets_words
from kafkalog_reader.report.advice_text import lists_saving
from kafkalog_reader.report.command_text import SAVED, archive_command
from kafkalog_reader.report.shell_word import shell_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit

_LOST_ENDS: Final = codes_with(Role.LOST_END)


def until_text(audit: PartitionAudit, found: Sequence[Finding]) -> str:
    """The end of "do not start yet": what to do first, and that the start comes then."""
    first = [*_listed(audit), *before_texts(audit, found)] or ["do what follows here"]
    if len(first) == 1 and all(each.code == REPLICA_DIRECTORY_MISSING for each in found):
        first = ["start a copy that has the records, and let it lead"]
    return f"first {'; '.join(first)}; then start as `kafkalog plan` says"


def keep_commands(audit: PartitionAudit, _replicas: Sequence[ReplicaAudit]) -> Iterator[str]:
    """Archives of the folders from which a start cuts a torn batch: nothing else has its bytes.

    A plain copy of a folder would be read as one more replica. And copies of the checkpoints that
    alone show a lost end, which a start lowers.
    """
    for replica in _with_lost_end(audit):
        kept = f"{SAVED}/{HIGH_WATERMARKS}-broker-{replica.broker_id}"
        path = posixpath.join(replica.directory.log_directory.path, HIGH_WATERMARKS)
        yield f"mkdir -p {SAVED} && cp -p {shell_word(path)} {shell_word(kept)}"
    for replica, _ in _torn(audit):
        yield archive_command(audit, replica)


def _listed(audit: PartitionAudit) -> Iterator[str]:
    """What is above in the same output; a plan has it as steps."""
    if lists_saving(audit):
        yield "save what is listed above"
    elif audit.merge is not None:
        yield "make the sound log above"


def before_texts(audit: PartitionAudit, found: Sequence[Finding]) -> Iterator[str]:
    """What to do before brokers start whose start destroys something."""
    if audit.is_misplaced:
        yield put_back_text(audit)
    for replica, recovery in _torn(audit):
        yield f"copy the folder of {replica.name}, because its start cuts {recovery.cut_text}"
    if lost := _with_lost_end(audit):
        files, whose = ("file", "its") if len(lost) == 1 else ("files", "their")
        names = joined_names(lost)
        yield f"copy the {files} {HIGH_WATERMARKS} of {names}, which {whose} start lowers"
    if missing := _missing(audit, found):
        first, following = missing
        others = "" if is_complete(audit) else "a replica that was not supplied, "
        yield (
            f"look for another copy of {offsets_words(first, following)} ({others}a backup, an "
            "older image of a disk); without one, they are lost"
        )


def _torn(audit: PartitionAudit) -> list[tuple[ReplicaAudit, Recovery]]:
    """Replicas that end in a torn batch, which their start removes, and no whole record."""
    return [
        (each, each.start)
        for each in audit.replicas
        if isinstance(each.start, Recovery)
        and each.start.max_cut_in_torn_batch
        and not each.start.records_cut
        and not each.start.max_cut_in_damaged_batches
    ]


def _with_lost_end(audit: PartitionAudit) -> list[ReplicaAudit]:
    """Replicas with a high watermark above the end of every log: the trace of a loss."""
    end = max((each.log_end for each in audit.replicas), default=0)
    return [
        each
        for each in audit.replicas
        if (each.files.checkpointed_high_watermark or 0) > end
        and each.directory.log_directory.clean_shutdown is not None
    ]


def _missing(audit: PartitionAudit, found: Iterable[Finding]) -> tuple[int, int] | None:
    """Offsets that a checkpoint proves, and that no supplied copy holds."""
    end = audit.readable_after_end[1]
    stops = [each.next_offset or 0 for each in found if each.code in _LOST_ENDS]
    highest = max(stops, default=0)
    return (end, highest) if highest > end else None


def is_complete(audit: PartitionAudit) -> bool:
    """Whether a copy of every assigned replica was supplied."""
    supplied = {replica.broker_id for replica in audit.everyone}
    return audit.membership is not None and supplied.issuperset(audit.membership.replicas)
