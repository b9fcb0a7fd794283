"""Which columns a read shows: the option ``columns``, or the schema that the user gave.

Spark's Python sources have no hook for the columns that a query needs, so users select them
with a schema: other columns are not decoded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyspark
from pyspark.sql.pandas.types import from_arrow_schema

from kafkalog_reader.errors import UsageError
from kafkalog_reader.tables.names import nearest
from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.schemas import records

if TYPE_CHECKING:
    from pyspark.sql.types import StructField, StructType

    from kafkalog_reader.tables.table import AnyTable

KAFKA_COLUMNS: Final = tuple(
    column.name for column in records.KAFKA_COLUMNS if column.name != "headers"
)
"""What Spark's own Kafka source shows, in its order; ``includeHeaders`` adds ``headers``."""


def parse_columns(
    text: str | None, table: AnyTable, *, with_headers: bool = False
) -> tuple[str, ...] | None:
    """Names in the order wanted; None is every column.

    Args:
        text: ``kafka``, ``all`` (or ``*``), or names separated by commas; None is the table's
            default.
        table: whose columns they are.
        with_headers: whether the option ``includeHeaders`` says so.

    Raises:
        UsageError: a column that the table does not have, or has but is named twice.
    """
    is_records = table.name == "records"
    wanted = ("kafka" if is_records else "all") if text is None else text.strip()
    if wanted.lower() in ("all", "*"):
        return None
    if wanted.lower() == "kafka":
        if not is_records:
            raise UsageError("option columns: kafka: only table records has these columns")
        return (*KAFKA_COLUMNS, "headers") if with_headers else KAFKA_COLUMNS
    columns = tuple(name.strip() for name in wanted.split(","))
    if "" in columns:
        raise UsageError(
            f"option columns: {wanted!r}: write kafka, all, or names separated by commas"
        )
    if len(set(columns)) < len(columns):
        raise UsageError(f"option columns: {wanted}: a column is named twice")
    if with_headers and "headers" not in columns:
        raise UsageError("option includeHeaders adds to columns=kafka: name headers in columns")
    table.projected(ReadRequest(columns=columns))  # refuses unknown columns
    return columns


def spark_schema(table: AnyTable, columns: tuple[str, ...] | None) -> StructType:
    """The Spark types of these columns."""
    schema: StructType = from_arrow_schema(table.projected(ReadRequest(columns=columns)))
    return schema


def projected_columns(table: AnyTable, schema: StructType) -> tuple[str, ...]:
    """The columns of a schema that the user may have written.

    Raises:
        UsageError: a column that the table does not have, or has with another type.
    """
    known = {field.name: field for field in spark_schema(table, None)}
    for field in schema:
        if field.name not in known:
            raise UsageError(
                f"schema: table {table.name} has no column {field.name!r}"
                f"{nearest(field.name, known)}"
            )
        _check_type(field, known[field.name])
    if len(set(schema.names)) < len(schema.names):
        raise UsageError(f"schema: {', '.join(schema.names)}: a column is named twice")
    if not schema.names and pyspark.__version__.startswith("4.0."):
        # Its Arrow reader loses the length of record batches that have no column: count() is 0.
        raise UsageError("schema: it has no column, so Spark 4.0 would count 0 rows: add one")
    return tuple(schema.names)


def _check_type(field: StructField, known: StructField) -> None:
    if not field.nullable:
        # Spark would answer `key IS NULL` without looking, and fail where it does look.
        raise UsageError(f"schema: column {field.name!r} is nullable: leave out NOT NULL")
    if field.dataType == known.dataType:
        return
    given, expected = field.dataType.simpleString(), known.dataType.simpleString()
    if given == expected:
        raise UsageError(f"schema: everything inside column {field.name!r} is nullable: {expected}")
    raise UsageError(f"schema: column {field.name!r} is {expected}, not {given}")
