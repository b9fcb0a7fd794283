"""Segments whose files have another name: a start deletes them, or their indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.actions import RESTORE_OLD_SEGMENTS
from kafkalog_reader.audits.integrity.damage import is_severe
from kafkalog_reader.audits.integrity.file_repair import gives_names_back

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafkalog_reader.audits.integrity.file_repair import Repair
    from kafkalog_reader.audits.integrity.finding import Finding


def restores_names(found: Finding) -> bool:
    """Whether the repairs of a finding only give segments back the names that they surely had."""
    is_sure = is_severe(found) and found.confidence != "possible" and bool(found.repairs)
    is_restored = found.actions[:1] == (RESTORE_OLD_SEGMENTS,)
    return is_sure and is_restored and gives_names_back(found.repairs)


def renames_of(found: Iterable[Finding]) -> dict[int, tuple[Repair, ...]]:
    """By broker, what gives the segments of one partition their names back.

    Also where other copies have the records: a rename costs less than to copy the partition again.
    """
    renames: dict[int, tuple[Repair, ...]] = {}
    for each in found:
        broker = None if each.directory is None else each.directory.log_directory.broker_id
        if broker is not None and restores_names(each):
            renames[broker] = (*renames.get(broker, ()), *each.repairs)
    return renames
