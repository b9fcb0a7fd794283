"""The list of all tables, and how to request and read one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import OptionError, UsageError
from kafkalog_reader.tables.names import nearest
from kafkalog_reader.tables.options import fields
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    import pyarrow as pa

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.io.progress import Progress
    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.tables.options import ReadOptions
    from kafkalog_reader.tables.table import AnyTable

# The module of each table. Modules are imported on demand: a command that needs one
# table does not import all.
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
    "group_offsets": "kafkalog_reader.tables.group_offsets:GroupOffsetsTable",
    "group_commits": "kafkalog_reader.tables.group_commits:GroupCommitsTable",
    "groups": "kafkalog_reader.tables.groups:GroupsTable",
    "group_members": "kafkalog_reader.tables.group_members:GroupMembersTable",
    "group_generations": "kafkalog_reader.tables.group_generations:GroupGenerationsTable",
    "share_groups": "kafkalog_reader.tables.share_groups:ShareGroupsTable",
    "transactions": "kafkalog_reader.tables.transactions:TransactionsTable",
    "open_transactions": ("kafkalog_reader.tables.open_transactions_table:OpenTransactionsTable"),
    "cluster_metadata": "kafkalog_reader.tables.cluster_metadata:ClusterMetadataTable",
    "partition_states": "kafkalog_reader.tables.partition_states:PartitionStatesTable",
    "brokers": "kafkalog_reader.tables.brokers:BrokersTable",
    "topic_configs": "kafkalog_reader.tables.topic_configs:TopicConfigsTable",
    "gaps": "kafkalog_reader.tables.gaps:GapsTable",
    "findings": "kafkalog_reader.audits.tables.findings:FindingsTable",
    "recoveries": "kafkalog_reader.audits.tables.recoveries:RecoveriesTable",
    "divergence": "kafkalog_reader.audits.tables.divergence:DivergenceTable",
    "elections": "kafkalog_reader.audits.tables.elections:ElectionsTable",
    "group_elections": "kafkalog_reader.audits.tables.group_elections:GroupElectionsTable",
}

ONE_READER: Final = 1 << 31
"""Bytes of a unit if one process reads all units: larger than any segment.

Splitting a segment would gain nothing and may require reading it up to the split.
"""


def table(name: str) -> AnyTable:
    """The table with that name.

    Raises:
        UsageError: there is none; the message names the nearest one.
    """
    if name not in TABLES:
        raise UsageError(
            f"no table named {name!r}{nearest(name, TABLES) or '.'} `kafkalog tables` lists all."
        )
    module, class_name = TABLES[name].split(":")
    made: AnyTable = getattr(import_module(module), class_name)()
    return made


def request(
    table: AnyTable,
    columns: Iterable[str] | None = None,
    **options: Unpack[ReadOptions],
) -> ReadRequest:
    """Turn keyword options into a checked ``ReadRequest`` for this table.

    Args:
        table: the table; an option that it does not have is refused.
        columns: names in the requested order; None for all.
        options: see ``tables.options.ReadOptions``.

    Raises:
        UsageError: an unknown option, column or value.
    """
    found = {"max_partition_bytes": ONE_READER} | fields(table.name, options)
    return with_columns(table, ReadRequest(**found), columns)


def with_columns(
    table: AnyTable, request: ReadRequest, columns: Iterable[str] | None
) -> ReadRequest:
    """The same request for these columns; None is all of them.

    Raises:
        UsageError: the table has no such column, or one is named twice.
    """
    asked = replace(request, columns=_names(columns))
    table.projected(asked)  # refuses unknown columns now, before any file is opened
    return asked


def _names(columns: Iterable[str] | None) -> tuple[str, ...] | None:
    if columns is None:
        return None
    if not isinstance(columns, Iterable):
        raise OptionError("columns", f"{columns!r} is not a name")
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    for each in names:
        if not isinstance(each, str):
            raise OptionError("columns", f"{each!r} is not a name")
    if len(set(names)) < len(names):
        raise OptionError("columns", f"{', '.join(names)}: a column is named twice")
    return names


def discovered(paths: Sequence[str], context: ReadContext) -> Evidence:
    """What paths hold; where ``meta.properties`` fails, the metadata log says whose it is.

    Raises:
        LogLayoutError: a path does not exist, or holds nothing that Kafka writes.
        UnreadableFileError: the operating system refused to list a folder.
    """
    from kafkalog_reader.io.discovery import discover
    from kafkalog_reader.io.log_directory import doubtful_nodes

    found = discover(paths, context)
    if not doubtful_nodes(found.roots):
        return found
    from kafkalog_reader.audits.partition.node_identity import with_registered_nodes

    return with_registered_nodes(found)


def read(
    table: AnyTable, evidence: Evidence, request: ReadRequest, progress: Progress | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a whole table, unit by unit, up to the limit.

    ``request.hidden`` then knows of which logs no in-sync replica or no copy was supplied, unless
    the limit was reached: what they hold beyond these would not be shown either.
    """
    return limited(_all_rows(table, evidence, request, progress), request.limit)


def _all_rows(
    table: AnyTable, evidence: Evidence, request: ReadRequest, progress: Progress | None
) -> Iterator[pa.RecordBatch]:
    from kafkalog_reader.io.progress import no_progress

    for unit in table.units(evidence, request):
        yield from table.read(unit, request, progress or no_progress)
    if request.hidden is not None and (logs := table.logs_shown(request)):
        from kafkalog_reader.audits.partition.outside_isr import note_absent, note_not_in_sync

        note_not_in_sync(request.hidden, evidence, logs)
        note_absent(request.hidden, evidence, logs[0])


def limited(found: Iterable[pa.RecordBatch], limit: int | None) -> Iterator[pa.RecordBatch]:
    """Yield the first ``limit`` rows, and read no further; None is all of them."""
    if limit is None:
        yield from found
        return
    left = limit
    for rows in found:
        yield rows[:left]
        left -= min(left, rows.num_rows)
        if left == 0:
            return
