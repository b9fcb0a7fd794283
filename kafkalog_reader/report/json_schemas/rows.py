"""What tables, and the commands that list rows, print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.change import ChangeKind
from kafkalog_reader.report.json_schemas.parts import (
    DIALECT,
    INTEGER,
    TEXT,
    Schema,
    object_of,
    or_null,
    row_of,
    typed,
)
from kafkalog_reader.tables.replicas import ReplicasTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafkalog_reader.tables.table import AnyTable, Column


def table_schema(table: AnyTable) -> Schema:
    """One line that ``kafkalog table NAME --format json`` prints with all columns."""
    return {
        "$schema": DIALECT,
        "title": f"kafkalog table {table.name} --format json",
        "description": f"{table.doc}. One object per line; --columns omits keys.",
        **row_of(table.columns),
    }


def changes_schema() -> Schema:
    """One line that ``kafkalog changes --format json`` prints: a range of offsets."""
    return {
        "$schema": DIALECT,
        "title": "kafkalog changes --format json",
        "description": "One object per range of offsets, one per line. Offsets are half-open.",
        **object_of(
            {
                "topic": TEXT,
                "partition": INTEGER,
                "kind": {"enum": [kind.value for kind in ChangeKind]},
                **typed(or_null(INTEGER), "firstOffset", "nextOffset", "records"),
                "detail": or_null(TEXT),
            }
        ),
    }


def group_schema(by: str, key: Iterable[str]) -> Schema:
    """One line that ``kafkalog ls --by`` prints as JSON: sums over the replicas of a group.

    Args:
        by: ``topic`` or ``broker``.
        key: columns of the table ``replicas`` that the replicas of a group have in common.
    """
    columns = {column.name: column for column in ReplicasTable.columns}
    sums = ("segments", "sizeInBytes", "filesSizeInBytes")
    return {
        "$schema": DIALECT,
        "title": f"kafkalog ls --by {by} --format json",
        "description": f"One object per {by}, one per line. Totals leave out what could not be "
        "read.",
        **object_of(
            {
                **row_of(columns[name] for name in key)["properties"],
                **typed(INTEGER, "partitions", "brokers", "replicas", *sums),
            }
        ),
    }


def command_schema(command: str, what: str, columns: Iterable[Column]) -> Schema:
    """One line that a command prints with ``--format json``."""
    return {
        "$schema": DIALECT,
        "title": f"kafkalog {command} --format json",
        "description": f"{what}. One object per line.",
        **row_of(columns),
    }
