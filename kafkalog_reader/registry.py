"""The one list of tables, and the way in for Python: ``kafkalog_reader.open(paths)``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.errors import OptionError, UsageError
from kafkalog_reader.tables.names import nearest
from kafkalog_reader.tables.option_values import checked
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.table import Progress, Table

# Where each table lives. Modules are imported when a table is asked for: a command that needs one
# table does not pay for all.
TABLES: Final[dict[str, str]] = {
    "records": "kafkalog_reader.tables.records:RecordsTable",
    "batches": "kafkalog_reader.tables.batches:BatchesTable",
    "segments": "kafkalog_reader.tables.segments:SegmentsTable",
    "replicas": "kafkalog_reader.tables.replicas:ReplicasTable",
    "partitions": "kafkalog_reader.audits.tables.partitions:PartitionsTable",
    "offset_index": "kafkalog_reader.tables.offset_index:OffsetIndexTable",
    "time_index": "kafkalog_reader.tables.time_index:TimeIndexTable",
    "transaction_index": "kafkalog_reader.tables.transaction_index:TransactionIndexTable",
    "leader_epochs": "kafkalog_reader.tables.leader_epochs:LeaderEpochsTable",
    "producers": "kafkalog_reader.tables.producers:ProducersTable",
    "checkpoints": "kafkalog_reader.tables.checkpoints:CheckpointsTable",
    "findings": "kafkalog_reader.audits.tables.findings:FindingsTable",
    "recoveries": "kafkalog_reader.audits.tables.recoveries:RecoveriesTable",
    "divergence": "kafkalog_reader.audits.tables.divergence:DivergenceTable",
    "elections": "kafkalog_reader.audits.tables.elections:ElectionsTable",
}

# What a caller may say, and the ReadRequest field that it becomes.
OPTIONS: Final[dict[str, str]] = {
    "topic": "topics",
    "partition": "partitions",
    "broker": "brokers",
    "from_offset": "from_offset",
    "to_offset": "to_offset",
    "from_time": "from_timestamp",
    "to_time": "to_timestamp",
    "mode": "mode",
    "replica": "replica",
    "isolation": "isolation",
    "last": "last",
    "include_control_records": "include_control_records",
    "log_range_only": "log_range_only",
    "max_partition_bytes": "max_partition_bytes",
    "max_batch_bytes": "max_batch_bytes",
    "limit": "limit",
    "deep": "deep",
    "rule": "rule",
    "started_at": "started_at",
}
EVERY_TABLE: Final = frozenset({"topic", "partition", "broker", "mode", "limit"})
ONE_READER: Final = 1 << 31
"""Bytes a unit where one process reads them one after another: no segment is larger. A cut is of no
use to it, and finding one may mean reading the segment up to there."""


def table(name: str) -> Table:
    """The table of that name.

    Raises:
        UsageError: there is none; the message names the nearest.
    """
    if name not in TABLES:
        raise UsageError(
            f"no table named {name!r}{nearest(name, TABLES) or '.'} `kafkalog tables` lists all."
        )
    module, class_name = TABLES[name].split(":")
    made: Table = getattr(import_module(module), class_name)()
    return made


def request(table: Table, columns: Iterable[str] | None = None, **options: Any) -> ReadRequest:  # noqa: ANN401  each option is checked below
    """Turn keyword options into a checked ``ReadRequest`` for this table.

    Args:
        table: what will be asked; an option that it does not honour is refused.
        columns: names in the order wanted; None is all of them.
        options: ``topic`` and ``partition`` and ``broker`` (one or several), ``from_offset``,
            ``to_offset`` (exclusive), ``from_time``, ``to_time`` (exclusive; datetime, ISO 8601
            text or milliseconds), ``last``, ``isolation``, ``limit``, ``mode``, ``replica``,
            ``include_control_records``, ``log_range_only``, ``max_partition_bytes``,
            ``max_batch_bytes``, ``deep``, ``rule``, ``started_at``.

    Raises:
        UsageError: an unknown option, column or value.
    """
    fields: dict[str, Any] = {"max_partition_bytes": ONE_READER}
    for name, value in options.items():
        if value is None:
            continue
        if name not in OPTIONS:
            raise UsageError(f"no option named {name!r}{nearest(name, OPTIONS)}")
        if name not in EVERY_TABLE | table.options:
            raise OptionError(name, f"does not apply to table {table.name}")
        fields[OPTIONS[name]] = checked(name, value)
    asked = ReadRequest(columns=_names(columns), **fields)
    table.projected(asked)  # refuses unknown columns now, before any file is opened
    return asked


def _names(columns: Iterable[str] | None) -> tuple[str, ...] | None:
    if columns is None:
        return None
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    if len(set(names)) < len(names):
        raise OptionError("columns", f"{', '.join(names)}: a column is named twice")
    return names


def read(
    table: Table, evidence: Evidence, request: ReadRequest, progress: Progress | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a whole table, unit after unit, until the limit if there is one."""
    from kafkalog_reader.tables.table import no_progress

    left = request.limit
    for unit in table.units(evidence, request):
        for rows in table.read(unit, request, progress or no_progress):
            if left is None:
                yield rows
                continue
            yield rows[:left]
            left -= min(left, rows.num_rows)
            if left == 0:
                return


class Log:
    """What was supplied to ``open``: log directories of one or many brokers."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence

    def table(
        self,
        name: str,
        columns: Iterable[str] | None = None,
        *,
        progress: Progress | None = None,
        **options: Any,  # noqa: ANN401  checked in ``request``
    ) -> pa.RecordBatchReader:
        """Read one table as a stream of Arrow record batches, one window in memory at a time.

        Args:
            name: see ``kafkalog_reader.registry.TABLES``.
            columns: names in the order wanted; None is all of them. Only these are decoded.
            progress: called with the number of bytes read since its last call.
            options: see ``request``.

        Raises:
            UsageError: an unknown table, column or option, at once.
            KafkaLogError: damage, while the stream is read; see ``mode``.
        """
        import pyarrow as pa

        wanted = table(name)
        asked = request(wanted, columns, **options)
        return pa.RecordBatchReader.from_batches(
            wanted.projected(asked), read(wanted, self.evidence, asked, progress)
        )


def open(*paths: str, follow_links: bool = False) -> Log:  # noqa: A001  kafkalog_reader.open
    """Look at log directories, partition directories or segment files, of one or many brokers.

    Args:
        paths: see ``kafkalog --help``; globs and ``N=PATH`` are understood.
        follow_links: follow symbolic links; otherwise they are skipped with a warning.

    Raises:
        LogLayoutError: nothing that Kafka writes is there.
        UnreadableFileError: the operating system refused.
    """
    from kafkalog_reader.io.discovery import discover

    return Log(discover([str(path) for path in paths], follow_links=follow_links))
