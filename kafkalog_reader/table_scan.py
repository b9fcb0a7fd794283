"""A lazy read of one table: nothing is opened before rows are requested."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, SupportsIndex

from kafkalog_reader import registry
from kafkalog_reader.errors import LocatedError, MissingPackageError, OptionError
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.scan.hidden_records import HiddenRecords
from kafkalog_reader.tables.option_values import SIZE
from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.selection import check_selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.scan.hidden_records import HiddenRange
    from kafkalog_reader.tables.table import Unit

_MAX_COLUMNS_SHOWN: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanTask:
    """A part of a scan that another process can read: it pickles, and opens files when it is read.

    Attributes:
        table: the table's name.
        unit: what is read.
        request: which rows and columns.
    """

    table: str
    unit: Unit
    request: ReadRequest

    def __repr__(self) -> str:
        return f"<ScanTask of {self.table}: {self.size_in_bytes} bytes of log>"

    @property
    def size_in_bytes(self) -> int:
        """Bytes of log that it reads; 0 where only the files would tell."""
        return self.unit.size_in_bytes

    def to_batches(self) -> pa.RecordBatchReader:
        """Its rows as a stream of Arrow record batches."""
        import pyarrow as pa

        table = registry.table(self.table)
        rows = _advising(table.read(self.unit, self.request), self.table, self.request, None)
        return pa.RecordBatchReader.from_batches(table.projected(self.request), rows)

    def to_arrow(self) -> pa.Table:
        """Its rows in memory."""
        return self.to_batches().read_all()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableScan:
    """The rows of one table, read when they are requested, and again each time.

    Columns that are not selected are not decoded. DuckDB, polars, pandas and pyarrow take the scan
    itself, by the Arrow PyCapsule interface, with one window of the log in memory.
    """

    table: str
    evidence: Evidence
    request: ReadRequest
    progress: Progress = no_progress
    _noted: HiddenRecords = field(default_factory=HiddenRecords, repr=False)

    @property
    def hidden(self) -> Sequence[HiddenRange]:
        """Offsets that the rows read so far lack, because their records are damaged or missing.

        Also partitions whose in-sync replicas were not supplied, once all rows were read. The rows
        may then be older than what the broker had. In mode ``FAILFAST`` most damage is an
        error instead.
        """
        return self._noted.ranges()

    @property
    def schema(self) -> pa.Schema:
        """Names and Arrow types of the columns, in the order selected."""
        return registry.table(self.table).projected(self.request)

    def select(self, *columns: str | Iterable[str]) -> TableScan:
        """The same rows with these columns only, in this order: names, or one list of names.

        Raises:
            UsageError: the table has no such column, or one is named twice.
        """
        names = columns[0] if len(columns) == 1 else columns
        table = registry.table(self.table)
        asked = registry.with_columns(table, self.request, names)  # type: ignore[arg-type]  # checked there
        return replace(self, request=asked, _noted=HiddenRecords())

    def to_batches(self) -> pa.RecordBatchReader:
        """The rows as a stream of Arrow record batches, one window of the log in memory.

        Raises:
            UsageError: a topic, partition or broker that is not there.
            KafkaLogError: damage, while the stream is read; see the option ``mode``.
        """
        import pyarrow as pa

        return pa.RecordBatchReader.from_batches(self.schema, self._read(self.request))

    def to_arrow(self) -> pa.Table:
        """All rows in memory."""
        return self.to_batches().read_all()

    def to_pandas(self, **options: Any) -> pd.DataFrame:  # noqa: ANN401  pyarrow's
        """All rows as a pandas data frame; options are those of ``pyarrow.Table.to_pandas``.

        Raises:
            MissingPackageError: pandas is not installed.
        """
        _require("pandas")
        return self.to_arrow().to_pandas(**options)

    def to_polars(self) -> pl.DataFrame:
        """All rows as a polars data frame.

        Raises:
            MissingPackageError: polars is not installed.
        """
        _require("polars")
        import polars as pl

        found = pl.from_arrow(self.to_arrow())
        assert isinstance(found, pl.DataFrame)  # a table never becomes a series
        return found

    def count(self) -> int:
        """How many rows there are; one cheap column is read."""
        names = registry.table(self.table).schema.names
        cheapest = "offset" if "offset" in names else names[0]
        asked = replace(self.request, columns=(cheapest,))
        return sum(rows.num_rows for rows in self._read(asked))

    def plan(self, max_partition_bytes: SupportsIndex | str | None = None) -> list[ScanTask]:
        """The scan in parts for Dask, Ray or ``multiprocessing``; together they are all its rows.

        Args:
            max_partition_bytes: how much log one part reads, such as ``"64m"``; segments are cut
                between batches. None is what the scan's own option says, or 128 MiB.

        Raises:
            OptionError: not a size, or the scan has a limit, which a part cannot keep.
        """
        if self.request.limit is not None:
            raise OptionError("limit", "a scan with a limit cannot be read in parts")
        if max_partition_bytes is not None:
            size = SIZE.check("max_partition_bytes", max_partition_bytes)
        elif self.request.max_partition_bytes != registry.ONE_READER:
            size = self.request.max_partition_bytes
        else:
            size = ReadRequest().max_partition_bytes
        asked = replace(self.request, max_partition_bytes=size)
        table = registry.table(self.table)
        check_selection(self.evidence, asked, selects_directories=table.selects_directories)
        units = table.units(self.evidence, asked)
        return [ScanTask(table=self.table, unit=unit, request=asked) for unit in units]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows for any library that speaks Arrow's C stream interface."""
        return self.to_batches().__arrow_c_stream__(requested_schema)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return iter(self.to_batches())

    def __repr__(self) -> str:
        names = self.schema.names
        more = len(names) - _MAX_COLUMNS_SHOWN
        columns = ", ".join(names[:_MAX_COLUMNS_SHOWN]) + (f" and {more} more" if more > 0 else "")
        return f"<TableScan of {self.table}: {columns}>"

    def _read(self, request: ReadRequest) -> Iterator[pa.RecordBatch]:
        table = registry.table(self.table)
        check_selection(self.evidence, request, selects_directories=table.selects_directories)
        if request.hidden is None:
            request = replace(request, hidden=self._noted)
        rows = registry.read(table, self.evidence, request, self.progress)
        return _advising(rows, self.table, request, self.evidence)


def _advising(
    rows: Iterator[pa.RecordBatch], table: str, request: ReadRequest, evidence: Evidence | None
) -> Iterator[pa.RecordBatch]:
    """The rows; an error about damage among them then says how to read on."""
    try:
        yield from rows
    except LocatedError as error:
        from kafkalog_reader.salvage.past_damage import advise

        advise(error, table, request, lambda: evidence)
        raise


def _require(package: str) -> None:
    try:
        import_module(package)
    except ModuleNotFoundError as error:
        raise MissingPackageError(package, extra=package) from error
