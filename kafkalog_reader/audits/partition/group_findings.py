"""Findings about groups in the wrong partition of ``__consumer_offsets``: KL-804 and KL-805."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.commit_rules import GROUP_IN_WRONG_PARTITION, GROUP_SPLIT
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.format.java_hash import coordinator_partition
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from kafkalog_reader.io.directories import PartitionDirectory

_FITTING: Final = 0.5
"""Share of the groups that must fit a number of partitions which only folders show."""
_IN_EVIDENCE: Final = 100


def group_findings(
    directory: PartitionDirectory, groups: Mapping[int, Collection[str]], partitions: int | None
) -> Iterator[Finding]:
    """Yield what is wrong with the groups in one partition of ``__consumer_offsets``.

    Args:
        directory: the partition.
        groups: those with commits in each partition that was supplied.
        partitions: how many partitions the topic has; None if unknown.
    """
    here = directory.partition
    if here is None or not partitions or not groups.get(here):
        return
    if not _fits(groups, partitions):
        return
    elsewhere = {
        group: coordinator_partition(group, partitions)
        for group in sorted(groups[here])
        if coordinator_partition(group, partitions) != here
    }
    split = {
        group: number for group, number in elsewhere.items() if group in groups.get(number, ())
    }
    alone = {group: number for group, number in elsewhere.items() if group not in split}
    for code, found, what in (
        (GROUP_IN_WRONG_PARTITION, alone, "belongs to"),
        (GROUP_SPLIT, split, "is also in"),
    ):
        if found:
            yield _finding(code, directory, found, what, partitions)


def _fits(groups: Mapping[int, Collection[str]], partitions: int) -> bool:
    """Whether the number of partitions is plausible: most groups are where it puts them."""
    places = [
        coordinator_partition(group, partitions) == number
        for number, names in groups.items()
        for group in names
    ]
    return sum(places) > _FITTING * len(places)


def _finding(
    code: str,
    directory: PartitionDirectory,
    found: Mapping[str, int],
    what: str,
    partitions: int,
) -> Finding:
    group, number = next(iter(found.items()))
    more = f"; {len(found):,} such groups" if len(found) > 1 else ""
    return finding(
        code,
        f"group {shown(group)} {what} partition {number} of {partitions} by the hash of its name, "
        f"and has commits in partition {directory.partition}{more}",
        directory=directory,
        evidence={
            "groups": _listed(list(found)),
            "partitions": partitions,
            "expectedPartition": number,
        },
    )


def _listed(groups: Sequence[str]) -> str:
    return ", ".join(shown(group) for group in groups[:_IN_EVIDENCE])
