"""The commands of actions, for the replicas of one partition."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import (
    ABORT_TRANSACTION,
    DO_NOT_START,
    FORBID_UNCLEAN_ELECTION,
    FORCE_RECOVERY,
    LET_BEST_LEAD,
    MOVE_COPY_ASIDE,
    SAVE_RECORDS,
    WRITE_EPOCHS,
)
from kafkalog_reader.audits.integrity.file_repair import move_aside
from kafkalog_reader.audits.partition.epoch_rows import epoch_rows
from kafkalog_reader.io.names import CLEAN_SHUTDOWN
from kafkalog_reader.report.advice_text import lists_saving
from kafkalog_reader.report.before_start import keep_commands
from kafkalog_reader.report.command_text import (
    export_command,
    freeze_commands,
    merge_command,
    salvage_command,
)
from kafkalog_reader.report.repair_text import BROKERS, move_commands, repair_commands
from kafkalog_reader.report.shell_word import shell_word
from kafkalog_reader.salvage.one_sided import one_sided_ranges

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit


def _elect(audit: PartitionAudit, _replicas: Sequence[ReplicaAudit]) -> Iterator[str]:
    """The commands of an unclean election, without which a replica outside the ISR cannot lead."""
    if audit.elections[0].clean_by_membership is not False:
        return
    loses = (
        "then what is listed as lost is lost for ever"
        if audit.elections[0].lacking
        else ("nothing that is listed is lost then")
    )
    yield f"# it is not in the ISR; {loses}:"
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


def commands_of(
    code: str, audit: PartitionAudit, replicas: Sequence[ReplicaAudit]
) -> Iterator[str]:
    """The commands of an action; none where what to do has no command.

    Args:
        code: of the action.
        audit: the partition.
        replicas: those that the action is about.
    """
    if code in _COMMANDS:
        yield from _COMMANDS[code](audit, replicas)
