"""Groups, transactions and leadership in a report: the lists of their commands as tables."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.cli.group_list import (
    commit_cells,
    group_cells,
    total_line,
    totals_of,
    unknown_lags,
)
from kafkalog_reader.cli.groups import gathered, of_group, offsets_partitions
from kafkalog_reader.cli.not_known import with_not_known
from kafkalog_reader.cli.timeline_list import event_cells, events_of, title, topic_ids_of
from kafkalog_reader.cli.transaction_list import (
    hangs,
    open_cells,
    open_total,
    unknown_ends,
    with_late,
)
from kafkalog_reader.errors import KafkaLogError, LogLayoutError
from kafkalog_reader.report.html import element, folded, table_html, text_html
from kafkalog_reader.scan.hidden_records import HiddenRecords
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafkalog_reader.cli.listing import Heading
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.table import Column

MAX_ROWS: Final = 1_000
"""Rows of one list in the page, and in its JSON."""
_MAX_HISTORIES: Final = 50
_OF_HOSTS: Final = ("memberId", "clientHost", "clientId")
"""Columns that name hosts, or are chosen by clients, which often put a host into them."""

Row = dict[str, Any]


@dataclass(slots=True)
class Part:
    """A section: HTML, rows for JSON, and why it is missing.

    Attributes:
        unknown: what is not known because the evidence lacks something.
        hidden: what damage or loss hides from the section.
    """

    html: str = ""
    rows: list[Row] = field(default_factory=list)
    left_out: int = 0
    unknown: Sequence[str] = ()
    hidden: HiddenRecords = field(default_factory=HiddenRecords)


def groups_part(evidence: Evidence, options: dict[str, Any], *, redact: bool) -> Part:
    """Where each consumer group stands, as ``kafkalog groups`` shows it."""
    from kafkalog_reader import registry
    from kafkalog_reader.tables.schemas.commands import GROUP_PARTITIONS

    table = registry.table("group_offsets")
    try:
        count = offsets_partitions(evidence, registry.request(table, None, **options))
        hidden = HiddenRecords()
        groups, rows = gathered(evidence, options, hidden=hidden)
    except LogLayoutError:
        return Part(
            unknown=(
                "where consumer groups stand: no partition of __consumer_offsets is in the inputs",
            )
        )
    except KafkaLogError as error:
        return Part(unknown=(f"where consumer groups stand: {error}",))
    if redact:
        rows = [row | dict.fromkeys(_OF_HOSTS) for row in rows]
    totals = totals_of(groups, rows)
    rows = with_not_known(rows, hidden, of_group(rows))
    if not totals:
        return Part(hidden=hidden)
    parts = [element("p", text_html(total_line(totals, rows, count)))]
    parts.append(_table(*group_cells(totals[:MAX_ROWS]), "Consumer groups"))
    if rows:
        lags = _table(*commit_cells(rows[:MAX_ROWS]), "Committed offsets and lags")
        parts.append(folded(f"{len(rows):,} committed offsets and lags", lags, "small"))
    parts.append(_left_out(len(rows), "kafkalog groups"))
    return Part(
        html="".join(parts),
        rows=_json_rows(GROUP_PARTITIONS, rows[:MAX_ROWS]),
        left_out=max(0, len(rows) - MAX_ROWS),
        unknown=[*unknown_lags(rows)],
        hidden=hidden,
    )


def transactions_part(evidence: Evidence, options: dict[str, Any]) -> Part:
    """Which transactions are open, as ``kafkalog transactions`` shows it."""
    from kafkalog_reader.cli.transactions import hanging_advice, of_log
    from kafkalog_reader.tables.schemas.commands import OPEN_TRANSACTION_LINES

    try:
        hidden = HiddenRecords()
        rows = with_late(_rows("open_transactions", evidence, options, hidden), evidence)
    except KafkaLogError as error:
        return Part(unknown=(f"which transactions are open: {error}",))
    parts = [element("p", text_html(open_total(rows)))]
    if rows:
        parts.append(_table(*open_cells(rows[:MAX_ROWS]), "Open transactions"))
        parts.append(_left_out(len(rows), "kafkalog transactions"))
        if any(map(hangs, rows)):
            text, commands = hanging_advice(rows)
            from kafkalog_reader.report.html import commands_html

            parts.append(element("p", text_html(text)) + commands_html(commands))
    return Part(
        html="".join(parts),
        rows=_json_rows(OPEN_TRANSACTION_LINES, with_not_known(rows[:MAX_ROWS], hidden, of_log)),
        left_out=max(0, len(rows) - MAX_ROWS),
        unknown=[*unknown_ends(rows)],
        hidden=hidden,
    )


def leadership_part(
    evidence: Evidence,
    options: dict[str, Any],
    histories: Mapping[tuple[str | None, str, int], Sequence[Row]],
) -> Part:
    """Who led when, of the partitions in trouble, as ``kafkalog timeline`` shows it.

    Args:
        evidence: the inputs.
        options: of the command.
        histories: their leader epochs, which were read already.
    """
    from kafkalog_reader.cli.timeline import in_json, of_event
    from kafkalog_reader.tables.schemas.commands import TIMELINE

    try:
        hidden = HiddenRecords()
        states = _rows("partition_states", evidence, options, hidden)
    except KafkaLogError as error:
        return Part(unknown=(f"who led when: {error}",))
    wanted = dict(list(histories.items())[:_MAX_HISTORIES])
    events = {
        key: rows
        for key, rows in events_of(
            [row for row in states if (row["clusterId"], row["topic"], row["partition"]) in wanted],
            [row for rows in wanted.values() for row in rows],
            topic_ids=topic_ids_of(evidence.partition_directories(ReadRequest())),
        ).items()
        if key[:3] in wanted
    }
    unknown = () if states else ("who led when: no metadata log (KRaft) is in the inputs",)
    parts = [
        folded(
            text_html(f"{title(key, rows)}: {len(rows):,} changes"),
            _table(*event_cells(rows[-MAX_ROWS:]), title(key, rows)),
            "small",
            is_open=len(events) == 1,
        )
        for key, rows in events.items()
    ]
    if len(histories) > _MAX_HISTORIES:
        more = f"{len(histories) - _MAX_HISTORIES:,} partitions more: kafkalog timeline"
        parts.append(element("p", text_html(more), "quiet"))
    listed = [in_json(row) for rows in events.values() for row in rows]
    listed = with_not_known(listed, hidden, of_event)
    return Part(
        html="".join(parts),
        rows=_json_rows(TIMELINE, listed[:MAX_ROWS]),
        left_out=max(0, len(listed) - MAX_ROWS),
        unknown=unknown,
        hidden=hidden,
    )


def _rows(
    name: str, evidence: Evidence, options: dict[str, Any], hidden: HiddenRecords
) -> list[Row]:
    from kafkalog_reader import registry
    from kafkalog_reader.cli.table import TableRows
    from kafkalog_reader.tables.internal_topic import plain_rows

    table = registry.table(name)
    request = replace(registry.request(table, None, **options), hidden=hidden)
    reading = TableRows(table, evidence, request, rows_on_stdout=False)
    rows: list[Row] = []
    for each in reading:
        rows += plain_rows(each)
        reading.rows_done = len(rows)
    return rows


def _table(headings: Sequence[Heading], cells: Sequence[Row], caption: str) -> str:
    return table_html(
        [(each.name, each.text) for each in headings],
        cells,
        numbers=(each.name for each in headings if not each.left),
        caption=caption,
    )


def _left_out(count: int, command: str) -> str:
    if count <= MAX_ROWS:
        return ""
    return element("p", f"{count - MAX_ROWS:,} more are left out: {command}", "quiet")


def _json_rows(columns: Sequence[Column], rows: Sequence[Row]) -> list[Row]:
    """The rows as ``--format json`` prints them."""
    import pyarrow as pa

    from kafkalog_reader.cli.output import row_writer
    from kafkalog_reader.tables.rows import build_from_dicts

    schema = pa.schema([(column.name, column.type) for column in columns])
    sink = io.BytesIO()
    writer = row_writer("json", sink, schema)
    writer.write(build_from_dicts(schema, rows))
    writer.close()
    return [json.loads(line) for line in sink.getvalue().splitlines()]
