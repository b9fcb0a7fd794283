"""Finds what happened to one broker's partitions between two copies of its disks.

The two copies are compared as if they were two replicas. Records that one lacks are then attributed
to retention, compaction, truncation or loss, by the log start and high watermark of the other.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.audits.change import Change, ChangeKind, disjoint, part_of
from kafkalog_reader.audits.two_times_table import LOST_END, TwoTimesTable
from kafkalog_reader.errors import UsageError
from kafkalog_reader.io.evidence import Evidence
from kafkalog_reader.io.names import shown
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.replicas import ReplicasTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kafkalog_reader.io.directories import LogDirectory
    from kafkalog_reader.io.progress import Progress
    from kafkalog_reader.tables.request import ReadRequest

    Partition = tuple[str, int]
    Row = dict[str, Any]

OLD: Final = 0
NEW: Final = 1
_LABELS: Final = {OLD: "old", NEW: "new"}


_OF_DIFFERENCES: Final = {
    "cleaned": ChangeKind.COMPACTED,
    "missing": ChangeKind.MISSING,
    "conflict": ChangeKind.REWRITTEN,
    "damaged": ChangeKind.DAMAGED,
    "hidden": ChangeKind.DAMAGED,
    LOST_END: ChangeKind.LOST_COMMITTED,
}
_REASONS: Final = {
    "cleaned": "compaction has gone further in {absent}; the records that both hold are equal",
    "missing": "missing inside the log of {absent}, and nothing explains it",
    "conflict": "",  # _of_cut has the reason
    "damaged": "wrong checksum in {damaged}",
    "hidden": "damage in {absent} hides what follows it",
    LOST_END: "below the high watermark of {held}, and above the end of both copies",
    "uncovered": "equal records, but base offset, length, magic or leader epoch differ",
    "notCompared": "compaction may explain it, but records could not be decoded",
}
"""Why the table ``divergence`` gives a range this kind; its own detail only names the replicas."""


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
    """Yield the changes of each partition of ``two_times``, by offset.

    The ranges of one partition do not overlap, and cover every offset from the first to the last.
    """
    bounds = _bounds(evidence, request)
    table = TwoTimesTable(NEW)
    asked = replace(request, columns=None)
    seen: set[Partition] = set()
    for unit in table.units(evidence, asked):
        rows = [row for part in table.read(unit, asked, progress) for row in part.to_pylist()]
        seen.update((row["topic"], row["partition"]) for row in rows)
        topic = unit.directories[0].topic
        expires = unit.topics is None or not unit.topics.kept_because(topic)
        yield from _of_partition(rows, bounds, expires=expires)
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


def _of_partition(
    rows: Sequence[Row], bounds: dict[tuple[int, str, int], Row], *, expires: bool
) -> Iterator[Change]:
    """The changes of one partition; ``expires``: retention may delete its segments."""
    every: list[Change] = []
    new: Row | None = None
    held = [row for row in rows if row["firstOffset"] != row["nextOffset"]]
    rows = held or rows  # an empty copy adds nothing to what the other has
    for row, old, new in _around_log_start(rows, bounds):
        kind, detail = _judged(row, old, new)
        change = _change(row, kind, row["firstOffset"], row["nextOffset"], row["records"], detail)
        if kind in (ChangeKind.TRUNCATED, ChangeKind.REWRITTEN):
            every += _of_old(change, old, new)
        elif kind is ChangeKind.EXPIRED and not expires:
            detail += ", and nothing deletes segments of this topic"
            every.append(replace(change, kind=ChangeKind.MISSING, detail=detail))
        else:
            every.append(change)
    before: Change | None = None
    for change in disjoint(every):
        if before is not None and before.next_offset != change.first_offset:
            yield _between(before, change, new)
        yield change
        before = change


def _around_log_start(
    rows: Sequence[Row], bounds: dict[tuple[int, str, int], Row]
) -> Iterator[tuple[Row, Row | None, Row | None]]:
    """Each range with both replicas; one that the new copy lacks is split at its log start.

    Records below the log start stay on disk until their segment is deleted, and no consumer gets
    them.
    """
    for row in rows:
        partition = (row["topic"], row["partition"])
        old, new = bounds.get((OLD, *partition)), bounds.get((NEW, *partition))
        start: int = -1 if new is None else new["logStartOffset"] or -1
        first, stop = row["firstOffset"], row["nextOffset"]
        is_lacked = row["kind"] not in _REASONS and set(row["brokers"]) == {OLD}
        if not is_lacked or None in (first, stop) or not first < start < stop:
            yield row, old, new
            continue
        is_dense = row["records"] == stop - first
        for low, high in ((first, start), (start, stop)):
            records = high - low if is_dense else None
            yield row | {"firstOffset": low, "nextOffset": high, "records": records}, old, new


def _between(before: Change, after: Change, new: Row | None) -> Change:
    """The offsets between two changes, of which neither copy has a record."""
    log_start = None if new is None else new["logStartOffset"]
    is_expired = log_start is not None and log_start >= (after.first_offset or 0)
    return replace(
        before,
        kind=ChangeKind.EXPIRED if is_expired else ChangeKind.UNCHANGED,
        first_offset=before.next_offset,
        next_offset=after.first_offset,
        records=None if is_expired else 0,
        detail="written and deleted between the two copies" if is_expired else "",
    )


def _of_old(change: Change, old: Row | None, new: Row | None) -> Iterator[Change]:
    """Changes of records of the old copy; what a batch of the new one has beyond its end is new."""
    first, stop = change.first_offset, change.next_offset
    assert first is not None
    assert stop is not None
    end = None if old is None else old["logEndOffset"]
    if change.kind is ChangeKind.REWRITTEN and end is not None and first < end < stop:
        yield replace(part_of(change, end, stop), kind=ChangeKind.ADDED, detail="")
        change = part_of(change, first, end)
    yield from _of_cut(change, old, new)


def _of_cut(change: Change, old: Row | None, new: Row | None) -> Iterator[Change]:
    """Changes of truncated or replaced records, split at the new log end and old high watermark."""
    first, stop = change.first_offset, change.next_offset
    assert first is not None
    assert stop is not None
    high_watermark = None if old is None else old["checkpointedHighWatermark"]
    log_end = None if new is None else new["logEndOffset"]
    borders = sorted({
        first, stop,
        *(each for each in (high_watermark, log_end) if each is not None and first < each < stop),
    })  # fmt: skip
    for low, high in pairwise(borders):
        is_replaced = change.kind is ChangeKind.REWRITTEN and (log_end is None or low < log_end)
        kind = ChangeKind.REWRITTEN if is_replaced else ChangeKind.TRUNCATED
        said = "the old copy has no high watermark"
        if high_watermark is not None:
            is_committed = low < high_watermark
            kind = ChangeKind.LOST_COMMITTED if is_committed else kind
            place = "below" if is_committed else "not below"
            said = f"{place} the old high watermark, {high_watermark:,}"
        replaced = "other records are there now; " if is_replaced else ""
        yield replace(part_of(change, low, high), kind=kind, detail=replaced + said)


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
        if old["logStartOffset"] == other["logStartOffset"]:
            return (
                ChangeKind.EXPIRED,
                f"below the log start of both copies, {old['logStartOffset']}",
            )
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
    if row["kind"] == "cleaned" and row["records"] == 0:
        return "equal records in other batches"
    return _REASONS[row["kind"]].format(
        absent=_copies(row["absentBrokers"]),
        damaged=_copies(row["damagedBrokers"]),
        held=_copies(row["brokers"]),
    )


def _copies(sides: Iterable[int] | None) -> str:
    named = {_LABELS[side] for side in sides or ()}
    if len(named) == 1:
        return f"the {named.pop()} copy"
    return "both copies" if named else "one of the copies"
