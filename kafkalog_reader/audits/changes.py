"""Finds what happened to one broker's partitions between two copies of its disks.

The two copies are compared as if they were two replicas. Records that one lacks are then attributed
to retention, compaction, truncation or loss, by the log start and high watermark of the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.audits.tables.divergence import DivergenceTable
from kafkalog_reader.errors import UsageError
from kafkalog_reader.io.evidence import Evidence
from kafkalog_reader.io.names import shown
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.replicas import ReplicasTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kafkalog_reader.io.evidence import LogDirectory
    from kafkalog_reader.io.progress import Progress
    from kafkalog_reader.tables.request import ReadRequest

    Partition = tuple[str, int]
    Row = dict[str, Any]

OLD: Final = 0
NEW: Final = 1
_LABELS: Final = {OLD: "old", NEW: "new"}


class ChangeKind(Enum):
    """What happened to a range of offsets, or to a whole partition."""

    UNCHANGED = "unchanged"
    ADDED = "added"
    EXPIRED = "expired"
    COMPACTED = "compacted"
    TRUNCATED = "truncated"
    LOST_COMMITTED = "lostCommitted"
    REWRITTEN = "rewritten"
    MISSING = "missing"
    DAMAGED = "damaged"
    PARTITION_GONE = "partitionGone"
    PARTITION_NEW = "partitionNew"
    NOT_COMPARED = "notCompared"


LOSSES: Final = frozenset({
    ChangeKind.LOST_COMMITTED, ChangeKind.MISSING, ChangeKind.DAMAGED, ChangeKind.PARTITION_GONE,
})  # fmt: skip
"""Changes of committed records that a correct broker does not make by itself."""

_OF_DIFFERENCES: Final = {
    "cleaned": ChangeKind.COMPACTED,
    "missing": ChangeKind.MISSING,
    "conflict": ChangeKind.REWRITTEN,
    "damaged": ChangeKind.DAMAGED,
    "hidden": ChangeKind.DAMAGED,
}
_REASONS: Final = {
    "cleaned": "compaction has gone further in {absent}; the records that both hold are equal",
    "missing": "missing inside the log of {absent}, and nothing explains it",
    "conflict": "",  # _of_cut has the reason
    "damaged": "wrong checksum in {damaged}",
    "hidden": "damage in {absent} hides what follows it",
    "uncovered": "equal records, but base offset, length, magic or leader epoch differ",
    "notCompared": "compaction may explain it, but records could not be decoded",
}
"""Why the table ``divergence`` gives a range this kind; its own detail only names the replicas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One range of offsets, half-open, of one partition.

    Attributes:
        records: number of records in the copy that has them; None if unknown.
        detail: what proves or explains it; may be empty.
    """

    topic: str
    partition: int
    kind: ChangeKind
    first_offset: int | None
    next_offset: int | None
    records: int | None
    detail: str


def two_times(old: Evidence, new: Evidence) -> Evidence:
    """Both copies as one evidence with two replicas, ``old`` and ``new``.

    Raises:
        UsageError: a copy holds several brokers, or they are of different brokers or clusters.
    """
    brokers = [
        {root.broker_id for root in evidence.log_directories} - {None} for evidence in (old, new)
    ]
    for name, numbers in zip(("OLD", "NEW"), brokers, strict=True):
        if len(numbers) > 1:
            held = ", ".join(str(number) for number in sorted(numbers, key=str))
            raise UsageError(f"{name} holds brokers {held}: give a copy of one broker")
    if all(brokers) and brokers[0] != brokers[1]:
        raise UsageError(
            f"OLD is of broker {min(brokers[0], key=str)}, NEW of broker "
            f"{min(brokers[1], key=str)}: replica-diff compares brokers"
        )
    clusters = {root.cluster_id for evidence in (old, new) for root in evidence.log_directories} - {
        None
    }
    if len(clusters) > 1:
        raise UsageError(
            f"OLD and NEW are of different clusters: {', '.join(sorted(map(str, clusters)))}"
        )
    cluster = next(iter(clusters), None)
    parts = [_relabelled(old, OLD, cluster), _relabelled(new, NEW, cluster)]
    return Evidence(
        roots=tuple(root for part in parts for root in part.roots),
        given=tuple(given for part in parts for given in part.given),
        context=old.context,
    )


def _relabelled(evidence: Evidence, side: int, cluster: str | None) -> Evidence:
    def named(root: LogDirectory) -> LogDirectory:
        return replace(root, broker_id=side, broker_label=_LABELS[side], cluster_id=cluster)

    return Evidence(
        roots=tuple(map(named, evidence.roots)),
        given=tuple(
            replace(each, log_directory=named(each.log_directory)) for each in evidence.given
        ),
        context=evidence.context,
    )


def changes(evidence: Evidence, request: ReadRequest, progress: Progress) -> Iterator[Change]:
    """Yield the changes of each partition of ``two_times``, by offset."""
    bounds = _bounds(evidence, request)
    table = DivergenceTable()
    asked = replace(request, columns=None)
    seen: set[Partition] = set()
    for unit in table.units(evidence, asked):
        rows = [row for part in table.read(unit, asked, progress) for row in part.to_pylist()]
        seen.update((row["topic"], row["partition"]) for row in rows)
        yield from _of_partition(rows, bounds)
    everything = {(topic, partition) for _, topic, partition in bounds}
    for topic, partition in sorted(everything - seen):  # without records
        row = {"topic": topic, "partition": partition, "kind": "equal", "brokers": [OLD, NEW]}
        old, new = (bounds.get((side, topic, partition)) for side in (OLD, NEW))
        kind, detail = _judged(row, old, new)
        yield _change(row, kind, None, None, 0, detail)


def _bounds(evidence: Evidence, request: ReadRequest) -> dict[tuple[int, str, int], Row]:
    """Log start, log end and high watermark of each live replica, by side and partition."""
    table = ReplicasTable()
    asked = replace(
        request,
        columns=(
            "brokerId", "topic", "partition", "state", "logStartOffset", "logEndOffset",
            "checkpointedHighWatermark",
        ),
        mode=Mode.DROPMALFORMED,
    )  # fmt: skip
    return {
        (row["brokerId"], row["topic"], row["partition"]): row
        for unit in table.units(evidence, asked)
        for part in table.read(unit, asked)
        for row in part.to_pylist()
        if row["state"] is None and row["topic"] is not None
    }


def _of_partition(rows: Iterable[Row], bounds: dict[tuple[int, str, int], Row]) -> Iterator[Change]:
    for row in rows:
        partition = (row["topic"], row["partition"])
        old, new = bounds.get((OLD, *partition)), bounds.get((NEW, *partition))
        kind, detail = _judged(row, old, new)
        if kind in (ChangeKind.TRUNCATED, ChangeKind.REWRITTEN):
            yield from _of_cut(row, old, kind)
        else:
            yield _change(row, kind, row["firstOffset"], row["nextOffset"], row["records"], detail)


def _of_cut(row: Row, old: Row | None, kind: ChangeKind) -> Iterator[Change]:
    """Changes of truncated or replaced records, split at the old high watermark."""
    replaced = "other records are there now; " if kind is ChangeKind.REWRITTEN else ""
    first, stop = row["firstOffset"], row["nextOffset"]
    high_watermark = None if old is None else old["checkpointedHighWatermark"]
    if high_watermark is None or high_watermark <= first:
        said = "the old copy has no high watermark"
        if high_watermark is not None:
            said = f"not below the old high watermark, {high_watermark:,}"
        yield _change(row, kind, first, stop, row["records"], replaced + said)
        return
    border = min(high_watermark, stop)
    count = row["records"] if border == stop else None
    said = f"{replaced}below the old high watermark, {high_watermark:,}"
    yield _change(row, ChangeKind.LOST_COMMITTED, first, border, count, said)
    if border < stop:
        said = f"{replaced}not below the old high watermark, {high_watermark:,}"
        yield _change(row, kind, border, stop, None, said)


def _judged(row: Row, old: Row | None, new: Row | None) -> tuple[ChangeKind, str]:
    kind, sides = row["kind"], set(row["brokers"])
    if old is None:
        return ChangeKind.PARTITION_NEW, ""
    if new is None:
        return ChangeKind.PARTITION_GONE, "deleted, moved away or lost: the files do not show which"
    if kind == "notCompared" and row["batches"] is None:  # the whole partition
        return ChangeKind.NOT_COMPARED, row["detail"] or ""
    if kind in _REASONS:
        return _OF_DIFFERENCES.get(kind, ChangeKind.NOT_COMPARED), _reason(row)
    if sides == {OLD, NEW}:
        return ChangeKind.UNCHANGED, ""
    other = new if sides == {OLD} else old
    if other["logStartOffset"] is None or other["logEndOffset"] is None:
        return ChangeKind.NOT_COMPARED, "the start or end of the other log is unknown"
    if sides == {NEW}:
        return ChangeKind.ADDED, ""
    if row["nextOffset"] <= other["logStartOffset"]:
        return ChangeKind.EXPIRED, (
            f"the log start moved from {old['logStartOffset']} to {other['logStartOffset']}"
        )
    if row["firstOffset"] >= other["logEndOffset"]:
        return ChangeKind.TRUNCATED, ""
    return ChangeKind.REWRITTEN, ""


def _change(
    row: Row, kind: ChangeKind, first: int | None, stop: int | None, records: int | None,
    detail: str,
) -> Change:  # fmt: skip
    return Change(
        topic=shown(row["topic"]), partition=row["partition"], kind=kind, first_offset=first,
        next_offset=stop, records=records, detail=detail,
    )  # fmt: skip


def _reason(row: Row) -> str:
    return _REASONS[row["kind"]].format(
        absent=_copies(row["absentBrokers"]), damaged=_copies(row["damagedBrokers"])
    )


def _copies(sides: Iterable[int] | None) -> str:
    named = {_LABELS[side] for side in sides or ()}
    if len(named) == 1:
        return f"the {named.pop()} copy"
    return "both copies" if named else "one of the copies"
