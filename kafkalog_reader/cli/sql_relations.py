"""Every table as a DuckDB relation, and errors in the words of the person who wrote the query."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader import registry
from kafkalog_reader.cli.text_table import LOOKED_AT
from kafkalog_reader.errors import KafkaLogError, MissingPackageError, UsageError
from kafkalog_reader.scan.hidden_records import HiddenRecords
from kafkalog_reader.tables.options import OPTIONS
from kafkalog_reader.tables.selection import without_metadata

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import duckdb
    import pyarrow as pa

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.table_dataset import TableDataset

_UNKNOWN: Final = re.compile(r"\b(BIT|ENUM|INTERVAL|MAP|TIME|TIMETZ|UNION|UUID|VARIANT)\b")
"""Types of DuckDB that a writer of rows does not know, also within lists and structs."""
_MESSAGES: Final = (["Count"], ["Success"])
"""Columns of what DuckDB returns for statements that change something."""
_METADATA: Final = re.compile(r"'[^']*(metadata|\\?_\\?_)[^']*'", re.IGNORECASE)
"""Text that names the topic of the metadata log, also as a pattern: that is no filter for Arrow."""
_QUOTED: Final = ("offset",)
"""Columns whose name is also a keyword of SQL."""


class Relations:
    """A DuckDB connection with the tables of some paths. A query reads only what it needs.

    ``records`` has those of the metadata log only where a query names its topic, as ``kafkalog
    records`` does.

    Args:
        evidence: the inputs.
        options: of ``registry.request``; a table gets those that it has.

    Attributes:
        hidden: what damage or loss hides from the rows read so far.

    Raises:
        MissingPackageError: DuckDB is not installed.
    """

    def __init__(self, evidence: Evidence, options: Mapping[str, Any]) -> None:
        try:
            import duckdb
        except ModuleNotFoundError as error:
            raise MissingPackageError("duckdb", extra="sql") from error
        from kafkalog_reader.table_dataset import TableDataset
        from kafkalog_reader.table_scan import TableScan

        self.hidden = HiddenRecords()
        self._duckdb = duckdb
        self._connection = duckdb.connect()
        self._connection.execute("SET TimeZone = 'UTC'")
        self._datasets: dict[str, TableDataset] = {}
        for name in registry.TABLES:
            own = {key: value for key, value in options.items() if _has(name, key)}
            request = replace(registry.request(registry.table(name), **own), hidden=self.hidden)
            if name == "records":
                request = without_metadata(evidence, request)
            dataset = TableDataset(TableScan(table=name, evidence=evidence, request=request))
            self._datasets[name] = dataset
            self._connection.register(name, dataset)

    def statements(self, text: str) -> list[duckdb.Statement]:
        """The statements of a text.

        Raises:
            UsageError: it is not SQL.
        """
        try:
            return list(self._connection.extract_statements(text))
        except self._duckdb.Error as error:
            raise UsageError(_said(error, text)) from error

    def is_query(self, statement: duckdb.Statement) -> bool:
        """Whether a statement only reads, so that it always has rows to show."""
        return statement.expected_result_type == [self._duckdb.ExpectedResultType.QUERY_RESULT]

    def result(self, statement: duckdb.Statement, *, for_text: bool = True) -> Result | None:
        """The result of a statement; None for one that has none, such as ``SET``.

        Args:
            statement: one of ``statements``.
            for_text: types that no table has, such as intervals, become text.

        Raises:
            UsageError: the statement is wrong.
            KafkaLogError: damage, or a file that cannot be read.
        """
        import pyarrow as pa

        self._datasets["records"].is_named = _METADATA.search(statement.query) is not None
        try:
            relation = self._connection.sql(statement)
            if relation is None:
                return None
            is_message = not self.is_query(statement) and relation.columns in _MESSAGES
            if for_text:
                relation = _with_known_types(relation)
            rows = pa.RecordBatchReader.from_stream(relation)
            return Result(self, rows, statement.query, is_message=is_message)
        except self._duckdb.Error as error:
            raise self.cause(error, statement.query) from error

    def cause(self, error: Exception, query: str) -> Exception:
        """The error to show for one that DuckDB or Arrow raised while it read."""
        failures = [each.failure for each in self._datasets.values() if each.failure is not None]
        for each in self._datasets.values():
            each.failure = None
        return failures[0] if failures else UsageError(_said(error, query))


class Result:
    """The rows of a statement, read as they are requested.

    Attributes:
        schema: names and types of the columns.
        is_message: whether it only says that a statement such as ``INSERT`` has been carried out.
    """

    def __init__(
        self, relations: Relations, rows: pa.RecordBatchReader, query: str, *, is_message: bool
    ) -> None:
        self._relations = relations
        self._rows = rows
        self._query = query
        self.schema: pa.Schema = rows.schema
        self.is_message = is_message

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows; the first ones together, because they determine the widths of text.

        Raises:
            UsageError: a value cannot be converted as the query says.
            KafkaLogError: damage, or a file that cannot be read.
        """
        import pyarrow as pa

        first: list[pa.RecordBatch] = []
        failure: BaseException | None = None
        reading = self._read()
        try:
            for rows in reading:
                first.append(rows)
                if sum(each.num_rows for each in first) >= LOOKED_AT:
                    break
        except (KafkaLogError, OSError, KeyboardInterrupt) as error:
            failure = error  # after the rows that were read
        if first:
            yield pa.concat_batches(first)
        if failure is not None:
            raise failure
        yield from reading

    def _read(self) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        while True:
            try:
                rows = next(self._rows, None)
            except (pa.ArrowException, OSError) as error:  # of reading, never of writing
                raise self._relations.cause(error, self._query) from error
            if rows is None:
                return
            yield rows


def _with_known_types(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """The relation with a column of a type that our writers do not know as DuckDB writes it."""
    names = relation.columns
    unknown = [bool(_UNKNOWN.search(str(each).replace("TIME ZONE", ""))) for each in relation.types]
    if not any(unknown):
        return relation
    columns = (
        f'#{number}{"::VARCHAR" if is_unknown else ""} AS "{name.replace(chr(34), chr(34) * 2)}"'
        for number, (name, is_unknown) in enumerate(zip(names, unknown, strict=True), 1)
    )
    return relation.project(", ".join(columns))


def _has(table: str, option: str) -> bool:
    tables = OPTIONS[option].tables
    return tables is None or table in tables


def _said(error: Exception, text: str) -> str:
    """What DuckDB says, without its class of error; with advice about columns to be quoted."""
    said = re.sub(r"^([A-Z][A-Za-z ]*Error: )+", "", str(error).strip())
    said = re.sub(r"\n+\s*LINE \d+:.*", "", said, flags=re.DOTALL)
    unquoted = [
        name for name in _QUOTED if re.search(rf'(?<![."\w]){name}(?!["\w])', text, re.IGNORECASE)
    ]
    if unquoted and "syntax error" in said:
        said += f'. {unquoted[0]} is a keyword of SQL: write "{unquoted[0]}", with the quotes'
    return said.replace("\n", " ")
