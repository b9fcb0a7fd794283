"""Findings about batches that are stored more than once: KL-601 and KL-602."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import NOTHING_TO_DO
from kafkalog_reader.audits.catalogue.producer_rules import (
    RETRY_DUPLICATES,
    RETRY_DUPLICATES_ACROSS_LEADERS,
)
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.format.broker_words import joined_names
from kafkalog_reader.io.names import INTERNAL_TOPICS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.log.retry_duplicates import Repeated, Retries
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit

_DOMINANT: Final = 0.9
"""Share of the repeated batches that must have one multiplicity to suggest ``retries``."""


def retry_findings(audit: PartitionAudit) -> Iterator[Finding]:
    """Yield one finding for each kind of repetition, for all replicas that have it."""
    for is_across in (False, True):
        code = RETRY_DUPLICATES_ACROSS_LEADERS if is_across else RETRY_DUPLICATES
        reported: dict[tuple[tuple[int, int, int], ...], list[ReplicaAudit]] = {}
        for replica in audit.replicas:
            if groups := _groups(replica.retries, code):
                key = tuple(sorted((g.first_offset, g.next_offset, g.copies) for g in groups))
                reported.setdefault(key, []).append(replica)
        for replicas in reported.values():
            first = replicas[0].retries
            found = _finding(code, joined_names(replicas), _groups(first, code), first.left_out)
            yield _of_coordinator(found) if audit.topic in INTERNAL_TOPICS else found


def _of_coordinator(found: Finding) -> Finding:
    """The finding in an internal topic: no client wrote these records, and none reads them twice.

    A coordinator writes equal states again, such as after a change of leader; the last one holds.
    """
    names = dict(found.evidence)["replicas"]
    message = f"{names}: equal states that a coordinator wrote again"
    return replace(found, severity="I", message=message, actions=(NOTHING_TO_DO,))


def _groups(retries: Retries, code: str) -> list[Repeated]:
    is_across = code == RETRY_DUPLICATES_ACROSS_LEADERS
    return [each for each in retries.repeated if (len(each.leader_epochs) > 1) == is_across]


def _finding(code: str, names: str, groups: Sequence[Repeated], left_out: int) -> Finding:
    histogram = Counter(each.copies for each in groups)
    times, contents = max(histogram.items(), key=lambda item: (item[1], item[0]))
    surplus = sum((each.copies - 1) * each.records for each in groups)
    says = f"{_batches(len(groups))} stored {_times(histogram)} without idempotence"
    if code == RETRY_DUPLICATES_ACROSS_LEADERS:
        epochs = sorted({epoch for each in groups for epoch in each.leader_epochs})
        says += f", under leader epochs {', '.join(map(str, epochs))}"
    elif contents / len(groups) >= _DOMINANT and not left_out:
        says += f": looks like retries = {times - 1}"
    offsets = min(each.first_offset for each in groups), max(each.next_offset for each in groups)
    evidence: dict[str, object] = {
        "replicas": names,
        "histogram": dict(sorted(histogram.items())),
        "dominantMultiplicity": times,
        "surplusRecords": surplus,
    }
    if left_out:
        evidence["copiesNotDistinguished"] = left_out
    return finding(
        code, f"{names}: {says}", confidence="likely", offsets=offsets, evidence=evidence
    )


def _batches(count: int) -> str:
    return "1 batch" if count == 1 else f"{count:,} batches"


def _times(histogram: Counter[int]) -> str:
    few, many = min(histogram), max(histogram)
    return f"{few} times" if few == many else f"{few} to {many} times"
