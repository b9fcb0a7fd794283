"""Files that must be put right before any order of starts is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import FINISH_COPY, KEEP_DELETED_FOLDER
from kafkalog_reader.audits.catalogue.batch_rules import BASE_OFFSET_FLIPPED
from kafkalog_reader.audits.catalogue.checkpoint_rules import REPLICA_DIRECTORY_MISSING
from kafkalog_reader.audits.catalogue.input_rules import FOLDER_OF_ANOTHER_PARTITION
from kafkalog_reader.audits.catalogue.log_rules import LOG_FILES_EXCHANGED, STRAY_LOG
from kafkalog_reader.audits.integrity.damage import is_severe

if TYPE_CHECKING:
    from kafkalog_reader.audits.integrity.file_repair import Repair
    from kafkalog_reader.audits.integrity.finding import Finding

_KEEP_DELETED: Final = "move folders that a start deletes out of the log directories"
_FINISH: Final = "let rsync finish the copy"
_WHAT: Final = {
    BASE_OFFSET_FLIPPED: "put flipped bits of base offsets back",
    FOLDER_OF_ANOTHER_PARTITION: "give folders the names of their partitions",
    LOG_FILES_EXCHANGED: "give log files the names of their segments",
    REPLICA_DIRECTORY_MISSING: "give folders the names of their partitions",
    STRAY_LOG: "move aside log files that are none",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesFirst:
    """What a finding says about files, without which the plan of a whole cluster would be wrong.

    Attributes:
        what: to do, in words.
        code: of the finding.
        name: the partition.
        brokers: node ids of the brokers whose files they are, as far as known.
        message: of the finding.
        repairs: how to do it; empty if a person must find out.
    """

    what: str
    code: str
    name: str
    brokers: tuple[int, ...]
    message: str
    repairs: tuple[Repair, ...]


def files_first(each: Finding, name: str) -> FilesFirst | None:
    """What a finding says about files; None if a plan can be made with the files as they are.

    Args:
        each: the finding.
        name: of the partition that it is about.
    """
    what = _FINISH if FINISH_COPY in each.actions and is_severe(each) else _WHAT.get(each.code)
    if what is None:
        return None
    if each.code == REPLICA_DIRECTORY_MISSING:
        if not each.repairs:  # the folder is not there: a step says so
            return None
        if each.actions[0] == KEEP_DELETED_FOLDER:
            what = _KEEP_DELETED
    return of_files(each, name, what)


def of_files(each: Finding, name: str, what: str) -> FilesFirst:
    """What a finding says about files, which is to be done first."""
    return FilesFirst(
        what=what,
        code=each.code,
        name=name,
        brokers=_brokers(each),
        message=each.message,
        repairs=each.repairs,
    )


def _brokers(each: Finding) -> tuple[int, ...]:
    """The one whose copy it is about; a folder that was found may be on another broker."""
    if each.directory is None or each.code == REPLICA_DIRECTORY_MISSING:
        return ()
    broker_id = each.directory.log_directory.broker_id
    return () if broker_id is None else (broker_id,)
