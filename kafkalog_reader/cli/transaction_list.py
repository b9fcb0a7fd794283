"""Formats transactions for ``kafkalog transactions``: one aligned line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.cli.listing import Heading, listing
from kafkalog_reader.cli.printable import grouped, plural
from kafkalog_reader.io.names import TRANSACTION_STATE_TOPIC, shown
from kafkalog_reader.report.spans import listed
from kafkalog_reader.tables.transaction_status import (
    DAMAGED_COORDINATOR,
    DAMAGED_LOG,
    HANGING,
    MAYBE_HANGING,
    NO_COORDINATOR,
    ONGOING,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.io.evidence import Evidence

Row = dict[str, Any]
"""A row of the table open_transactions or transactions; times are microseconds since 1970."""

ALARMING: Final = (HANGING, DAMAGED_COORDINATOR, DAMAGED_LOG)
"""Statuses for which the command ends with 1."""
LATE: Final = "late"
"""Key of a row: the finding of a transaction that is open for longer than any may be, or None."""
_SEVERE: Final = "CH"
_UNKNOWN: Final = "unknown: "
_NAMED: Final = 5
_MISSING: Final = "-"
_OPEN: Final = (
    Heading(name="cluster", text="CLUSTER", short="CLUSTER", left=True),
    Heading(name="partition", text="PARTITION", short="PARTITION", left=True),
    Heading(name="first", text="FIRST OFFSET", short="FIRST"),
    Heading(name="stable", text="LSO", short="LSO"),
    Heading(name="end", text="LOG END", short="END"),
    Heading(name="since", text="SINCE (UTC)", short="SINCE (UTC)", left=True, dispensable=2),
    Heading(name="producer", text="PRODUCER ID", short="PRODUCER"),
    Heading(name="epoch", text="EPOCH", short="EPOCH", dispensable=1),
    Heading(name="id", text="TRANSACTIONAL ID", short="TRANSACTIONAL ID", left=True),
    Heading(name="status", text="STATUS", short="STATUS", left=True),
    Heading(name="note", text="WHO ENDS IT", short="WHO ENDS IT", left=True, is_remark=True),
)
_IDS: Final = (
    Heading(name="cluster", text="CLUSTER", short="CLUSTER", left=True),
    Heading(name="id", text="TRANSACTIONAL ID", short="TRANSACTIONAL ID", left=True),
    Heading(name="state", text="STATE", short="STATE", left=True),
    Heading(name="producer", text="PRODUCER ID", short="PRODUCER"),
    Heading(name="epoch", text="EPOCH", short="EPOCH"),
    Heading(name="since", text="SINCE (UTC)", short="SINCE (UTC)", left=True, dispensable=1),
    Heading(name="timeout", text="TIMEOUT (S)", short="TIMEOUT", dispensable=2),
    Heading(name="partitions", text="PARTITIONS", short="PARTITIONS", left=True, is_remark=True),
)
_MAX_PARTITIONS: Final = 3
"""Partitions of a transaction that its line names."""


def with_late(rows: Sequence[Row], evidence: Evidence) -> list[Row]:
    """The rows, with the finding of each that `verify` reports although its status is harmless."""
    from kafkalog_reader.audits.partition.late_transactions import late_transactions

    found = late_transactions(evidence, rows)
    return [row | {LATE: found.get(index)} for index, row in enumerate(rows)]


def is_alarming(row: Row) -> bool:
    """Whether the command ends with 1 because of this row, as `verify` does."""
    late = row.get(LATE)
    return row["status"] in ALARMING or (late is not None and late.severity in _SEVERE)


def hangs(row: Row) -> bool:
    """Whether nobody will end the transaction."""
    return row["status"] == HANGING or (row["status"] == NO_COORDINATOR and is_alarming(row))


def open_lines(rows: Sequence[Row], screen: int | None) -> Iterator[str]:
    """The headings and one line for each open transaction in a partition."""
    return listing(*open_cells(rows), screen)


def open_cells(rows: Sequence[Row]) -> tuple[list[Heading], list[dict[str, str]]]:
    """The same as headings and cells."""
    rows = [row for row in rows if row["status"] != DAMAGED_LOG]
    cells = [_open_cells(row) for row in sorted(rows, key=_open_order)]
    return _without_cluster(_OPEN, rows), cells


def id_lines(rows: Sequence[Row], screen: int | None) -> Iterator[str]:
    """The headings and one line for each transactional id."""
    ordered = sorted(rows, key=lambda row: (row["clusterId"] or "", row["transactionalId"] or ""))
    return listing(_without_cluster(_IDS, rows), [_id_cells(row) for row in ordered], screen)


def open_total(rows: Sequence[Row]) -> str:
    """All open transactions in a sentence."""
    if not rows:
        return "No transaction is open: none holds a last stable offset back."
    damaged = [row for row in rows if row["status"] == DAMAGED_LOG]
    rows = [row for row in rows if row["status"] != DAMAGED_LOG]
    if not rows:
        return f"No open transaction was found. {_hidden(damaged)}"
    producers = {(row["clusterId"], row["producerId"]) for row in rows}
    places = {(row["clusterId"], row["topic"], row["partition"]) for row in rows}
    hanging = sum(map(hangs, rows))
    also = f"; {plural(hanging, 'place')} where one hangs" if hanging else ""
    found = (
        f"{plural(len(producers), 'open transaction')} in {plural(len(places), 'partition')}{also}"
    )
    return f"{found}. {_hidden(damaged)}" if damaged else found


def _hidden(damaged: Sequence[Row]) -> str:
    """Where damage may hide more."""
    names = [shown(f"{row['topic']}-{row['partition']}") for row in damaged]
    more = len(names) - _MAX_PARTITIONS
    if more > 0:
        names = [*names[:_MAX_PARTITIONS], f"{more} more"]
    return f"Not known: what damage hides in {listed(names)}; `kafkalog verify` shows it."


def _without_cluster(headings: Sequence[Heading], rows: Sequence[Row]) -> list[Heading]:
    several = len({row["clusterId"] for row in rows}) > 1
    return [each for each in headings if several or each.name != "cluster"]


def _open_order(row: Row) -> tuple[Any, ...]:
    return row["clusterId"] or "", row["topic"], row["partition"], row["firstOffset"]


def _open_cells(row: Row) -> dict[str, str]:
    since = row["firstTimestamp"] if row["startTime"] is None else row["startTime"]
    return {
        "cluster": shown(row["clusterId"] or _MISSING),
        "partition": shown(f"{row['topic']}-{row['partition']}"),
        "first": grouped(row["firstOffset"]),
        "stable": _number(row["lastStableOffset"]),
        "end": _number(row["logEndOffset"]),
        "since": _time(since),
        "producer": str(row["producerId"]),
        "epoch": _MISSING if row["producerEpoch"] is None else str(row["producerEpoch"]),
        "id": shown(row["transactionalId"] or _MISSING),
        "status": row["status"],
        "note": _note(row),
    }


def unknown_ends(rows: Sequence[Row]) -> Iterator[str]:
    """Of which transactions the list says that nobody knows who ends them, and why."""
    names: dict[str, set[str]] = {}
    for row in rows:
        note = _note(row)
        if note.startswith(_UNKNOWN):
            place = f"{shown(row['topic'])}-{row['partition']}"
            names.setdefault(note.removeprefix(_UNKNOWN), set()).add(place)
    for why, found in names.items():
        some = sorted(found)[:_NAMED]
        more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
        yield f"who ends the open transactions of {', '.join(some)}{more}: {why}"


def _note(row: Row) -> str:
    """Who will write the marker that ends it."""
    if row["status"] == HANGING:
        return f"nobody: its coordinator has state {row['state']} and does not list this partition"
    if row["status"] == MAYBE_HANGING:
        return (
            f"perhaps nobody: its coordinator has state {row['state']} and does not list this "
            "partition; it may be a copy of another time"
        )
    if row["status"] == DAMAGED_COORDINATOR:
        where = TRANSACTION_STATE_TOPIC
        if row["statePartition"] is not None:
            where += f"-{row['statePartition']}"
        return f"{_UNKNOWN}{where} is damaged or lost its end: its newest state may be missing"
    if row["status"] == NO_COORDINATOR and hangs(row):
        return f"nobody: no transactional id has this producer any more ({row[LATE].code})"
    if row["status"] != ONGOING:
        return f"{_UNKNOWN}no supplied partition of __transaction_state has this producer"
    if is_alarming(row):
        return f"its coordinator, which should have ended it ({row[LATE].code})"
    if row["state"] != "Ongoing":
        return f"the coordinator, once it runs ({row['state']})"
    if row["startTime"] is None:
        return "the producer, or the coordinator after its timeout"
    until = _time(row["startTime"] + row["timeoutMs"] * 1000)
    return f"the producer, or the coordinator from {until} on"


def _id_cells(row: Row) -> dict[str, str]:
    timeout = row["timeoutMs"]
    names = row["partitions"] or []
    more = len(names) - _MAX_PARTITIONS
    text = ", ".join(map(shown, names[:_MAX_PARTITIONS]))
    if row["problem"] is not None:
        text = f"cannot be read: {row['problem']}"
    return {
        "cluster": shown(row["clusterId"] or _MISSING),
        "id": shown(row["transactionalId"] or _MISSING),
        "state": row["state"] or _MISSING,
        "producer": _MISSING if row["producerId"] is None else str(row["producerId"]),
        "epoch": _MISSING if row["producerEpoch"] is None else str(row["producerEpoch"]),
        "since": _time(row["startTime"]),
        "timeout": _MISSING
        if timeout is None
        else f"{timeout / 1000:,.3f}".rstrip("0").rstrip("."),
        "partitions": f"{text} and {more:,} more" if more > 0 else text,
    }


def _number(number: int | None) -> str:
    return "?" if number is None else grouped(number)


def _time(microseconds: int | None) -> str:
    from kafkalog_reader.format.layout import utc_text

    return _MISSING if microseconds is None else utc_text(microseconds // 1000)
