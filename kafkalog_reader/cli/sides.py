"""``--records`` and ``--export`` of replica-diff: records that only some copies have."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import click
import pyarrow as pa

from kafkalog_reader.cli.printable import for_stdout, plural
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.salvage.one_sided import one_sided_ranges, one_sided_records
from kafkalog_reader.tables.replicas import NO_LEADER_EPOCH

if TYPE_CHECKING:
    from typing import Self

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.salvage.side_export import SideExport

MAX_LISTED: Final = 1000
"""Maximum records shown for one partition; ``--export`` has all."""
_COLUMNS: Final = ("side", "offset", "leaderEpoch", "timestamp", "key", "value", "controlType")
_MAX_LENGTH: Final = 60


class Sides:
    """Lists and exports records, partition by partition.

    Args:
        evidence: the inputs, which must not contain the export.
        export: a folder; None: no export.
        is_listed: whether ``--records`` was given.
        is_json: whether lists become part of the partition's object.
    """

    def __init__(
        self, evidence: Evidence, export: str | None, *, is_listed: bool, is_json: bool
    ) -> None:
        self._export: SideExport | None = None
        if export is not None:
            from kafkalog_reader.salvage.side_export import SideExport

            self._export = SideExport(export, evidence)
        self._is_listed = is_listed
        self._is_json = is_json
        self._lines: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._export is not None:
            self._export.close()

    def add(self, audit: PartitionAudit) -> dict[str, Any] | None:
        """Add one partition; return its records for JSON, or None if they were not requested."""
        if self._export is not None:
            self._export.add(audit, no_progress)
        if not self._is_listed:
            return None
        rows = _first(audit)
        if self._is_json:
            is_whole = rows is None or rows.num_rows <= MAX_LISTED
            return {"records": _objects(rows), "recordsAreAll": is_whole}
        self._lines += _text(audit, rows)
        return None

    def write(self) -> None:
        """Write the lists, and a line about the export."""
        for line in self._lines:
            click.echo(for_stdout(line))
        if self._export is not None:
            where = shown(str(self._export.file))
            text = f"{plural(self._export.records, 'record')} written to {where}"
            if not self._export.records:
                text = (
                    "nothing to export: no copy has records that another lacks. `kafkalog salvage` "
                    "saves what a damaged copy holds."
                )
            click.echo(f"\n{text}")


def _first(audit: PartitionAudit) -> pa.Table | None:
    """The first records, one more than shown, to know whether there are more."""
    found, count = [], 0
    for rows in one_sided_records(audit, no_progress):
        found.append(rows[: MAX_LISTED + 1 - count])
        count += found[-1].num_rows
        if count > MAX_LISTED:
            break
    return pa.Table.from_batches(found) if found else None


def _objects(rows: pa.Table | None) -> list[dict[str, Any]]:
    if rows is None:
        return []
    from kafkalog_reader.cli.cells import json_objects, json_values

    batch = rows.slice(0, MAX_LISTED).combine_chunks().to_batches()[0]
    values = [json_values(column, "base64") for column in batch.columns]
    objects = json_objects(batch.schema.names, values)
    return [json.loads(each) for each in objects.to_pylist()] if objects is not None else []


def _text(audit: PartitionAudit, rows: pa.Table | None) -> list[str]:
    if rows is None:
        return []
    from kafkalog_reader.cli.cells import plain

    lines = ["", f"  Records that only some copies of {audit.topic}-{audit.partition} have:"]
    batch = rows.slice(0, MAX_LISTED).combine_chunks().to_batches()[0]
    cells = {
        name: plain(batch.column(name), "utf8").to_pylist() for name in _COLUMNS if name != "side"
    }
    side = None
    for number, name in enumerate(batch.column("side").to_pylist()):
        if name != side:
            side = name
            lines.append(f"  only on {shown(side)}:")
        offset, epoch, time = (cells[n][number] for n in ("offset", "leaderEpoch", "timestamp"))
        key, value = (_cut(cells[n][number]) for n in ("key", "value"))
        control = cells["controlType"][number]
        content = control or f"key {key}  value {value}"
        written = "" if epoch == NO_LEADER_EPOCH else f"epoch {epoch}  "
        lines.append(f"      {offset}  {written}{time}  {content}")
    if rows.num_rows > MAX_LISTED:
        last = max(each.next_offset for each in one_sided_ranges(audit))
        lines.append(f"      ... more, up to offset {last - 1:,} (--export has all)")
    return lines


def _cut(text: str | None) -> str:
    if text is None:
        return "null"
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…"
