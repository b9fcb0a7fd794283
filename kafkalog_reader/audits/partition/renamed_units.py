"""Partitions of which a broker seems to lack the folder, and has it under another name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.misnamed import Misnamed
    from kafkalog_reader.audits.partition.partition_unit import PartitionUnit
    from kafkalog_reader.io.directories import Identity
    from kafkalog_reader.tables.request import ReadRequest


def with_renamed(unit: PartitionUnit) -> PartitionUnit:
    """The unit, in which a broker lacks no folder that it has under another name."""
    place = unit.directories[0].topic or "", unit.directories[0].partition or 0
    if any(each.places[0] == place for each in unit.misnamed if len(each.folders) == 1):
        unit = replace(unit, supply=replace(unit.supply, absent=()))  # of what the folder holds
    brokers = {
        folder.log_directory.broker_id
        for each in unit.misnamed
        for folder, held in each.folders
        if held == place
    }
    if not brokers:
        return unit
    supply = unit.supply
    lacking = tuple(each for each in supply.lacking if each not in brokers)
    return replace(
        unit,
        supply=replace(supply, lacking=lacking),
        unread=tuple(
            each
            for each in unit.unread
            if each.directory is None or each.directory.log_directory.broker_id not in brokers
        ),
        lacking=tuple(each for each in unit.lacking if each not in brokers),
        down=tuple(each for each in unit.down if each[0] not in brokers),
    )


def lost_or_renamed(
    lost: Iterable[Finding], renamed: Mapping[Identity, tuple[Misnamed, ...]], request: ReadRequest
) -> Iterator[Finding]:
    """The findings of partitions without a copy; KL-014 for those under another name.

    Args:
        lost: KL-310, each with the place where the folder is missing.
        renamed: the renamed folders by partition.
        request: which partitions are requested; those of other folders report KL-014 themselves.
    """
    for each in lost:
        assert each.directory is not None
        place = each.directory.topic or "", each.directory.partition or 0
        found = renamed.get(each.directory.identity, ())
        if not found:
            yield each
        yield from (m.finding() for m in found if m.is_reported_by(place, request))
