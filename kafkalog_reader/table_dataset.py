"""A table as an Arrow dataset: DuckDB and polars hand down columns and filters.

DuckDB calls ``scanner`` with the columns and the filter of a query, and leaves the filtering to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs

from kafkalog_reader import registry
from kafkalog_reader.errors import KafkaLogError, OptionError, UsageError
from kafkalog_reader.io.remote_part import with_remote
from kafkalog_reader.table_scan import TableScan
from kafkalog_reader.tables.options import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.tables.request import ReadRequest

OF_ONE_REPLICA: Final = frozenset({
    "records", "batches", "segments", "offset_index", "time_index", "transaction_index",
    "leader_epochs", "producers", "checkpoints",
})  # fmt: skip
"""Tables whose rows depend on no other broker's files, so that other brokers can be left out."""
_NO_FILES: Final = (
    "A TableDataset has no files for Arrow to read. Use scan.to_arrow() of the TableScan"
)
_LAST_OFFSET: Final = (1 << 63) - 1
_OFFSET: Final = pc.field("offset")
_TOPIC: Final = pc.field("topic")
_ANY_OTHER: Final = ("", "\U0010ffff")
"""Before and after the names of all topics."""


class TableDataset(ds.FileSystemDataset):  # type: ignore[misc]  # pyarrow has no types
    """The rows of a scan, read again for each query.

    Topics that the scan leaves out are read if a filter names them.

    It answers ``to_table``, ``to_batches``, ``count_rows``, ``head``, ``take``, ``filter`` and
    ``scanner``. What Arrow does below Python, such as ``join`` and ``sort_by``, ends with an
    error: use the Arrow table of the scan.

    Attributes:
        failure: the error that ended the last read. Arrow passes on only its text.
        is_named: whether a topic that the scan leaves out is named elsewhere in the query.
    """

    def __init__(self, scan: TableScan, condition: pc.Expression | None = None) -> None:
        if not isinstance(scan, TableScan):
            raise UsageError(f"a TableDataset is made of a TableScan, not of {scan!r}")
        # DuckDB wants a dataset of Arrow's. This one has a single file, which does not exist:
        # methods that are not overridden fail with its name, instead of a crash or no rows.
        form, files = ds.IpcFileFormat(), pyarrow.fs.LocalFileSystem()
        super().__init__([form.make_fragment(_NO_FILES, files)], scan.schema, form, files)
        self._scan = scan
        self._condition = condition
        self.failure: Exception | None = None
        self.is_named = False

    def __repr__(self) -> str:
        return f"<TableDataset of {self._scan.table}>"

    def __reduce__(self) -> tuple[type[TableDataset], tuple[TableScan, pc.Expression | None]]:
        return TableDataset, (self._scan, self._condition)

    @property
    def schema(self) -> pa.Schema:
        """Names and Arrow types of the columns."""
        return self._scan.schema

    def filter(self, expression: pc.Expression) -> TableDataset:
        """The rows of it that fulfil a filter, too."""
        return TableDataset(self._scan, _both(self._condition, expression))

    def scanner(
        self,
        columns: Sequence[str] | None = None,
        filter: pc.Expression | None = None,  # noqa: A002  pyarrow's name
        **_options: Any,  # noqa: ANN401  pyarrow's
    ) -> TableScanner:
        """The rows that fulfil a filter, with these columns.

        Args:
            columns: in the requested order; None for all.
            filter: which rows; None for all.

        Raises:
            OptionError: columns are not a list of names.
        """
        if isinstance(columns, str | Mapping):
            raise OptionError("columns", "a TableDataset takes a list of names")
        return TableScanner(self, self._scan, columns, _both(self._condition, filter))


def _both(one: pc.Expression | None, other: pc.Expression | None) -> pc.Expression | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


class TableScanner:
    """One read of a ``TableDataset``, as ``pyarrow.dataset.Scanner``."""

    def __init__(
        self,
        dataset: TableDataset,
        scan: TableScan,
        columns: Sequence[str] | None,
        condition: pc.Expression | None,
    ) -> None:
        self._dataset = dataset
        self._condition = condition
        self._columns = list(scan.schema.names if columns is None else columns)
        needed = self._columns or scan.schema.names[:1]
        if condition is not None:
            used = columns_of(condition, scan.schema)
            needed = [*needed, *(name for name in used if name not in needed)]
        request = replace(scan.request, columns=tuple(needed))
        self._scan = replace(scan, request=request)

    @property
    def projected_schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return pa.schema([self._scan.schema.field(name) for name in self._columns])

    def to_reader(self) -> pa.RecordBatchReader:
        """The rows as a stream."""
        return pa.RecordBatchReader.from_batches(self.projected_schema, self._rows())

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, one window of the log in memory."""
        return iter(self.to_reader())

    def to_table(self) -> pa.Table:
        """All rows in memory."""
        return self.to_reader().read_all()

    def count_rows(self) -> int:
        """How many rows there are."""
        return sum(rows.num_rows for rows in self.to_reader())

    def head(self, num_rows: int) -> pa.Table:
        """The first rows; nothing is read after them."""
        found = list(registry.limited(self.to_reader(), num_rows))
        return pa.Table.from_batches(found, self.projected_schema)

    def take(self, indices: object) -> pa.Table:
        """The rows with these numbers; all rows are read for them."""
        return self.to_table().take(indices)

    def _rows(self) -> Iterator[pa.RecordBatch]:
        self._dataset.failure = None
        try:
            yield from self._filtered()
        except (KafkaLogError, OSError) as error:
            self._dataset.failure = error
            raise

    def _filtered(self) -> Iterator[pa.RecordBatch]:
        condition = self._condition
        scan = with_named(self._scan, condition, is_named=self._dataset.is_named)
        if condition is not None:
            request = narrowed(scan, condition)
            if request is None:
                return
            scan = replace(scan, request=request)
        for rows in scan:
            if condition is None:
                yield rows.select(self._columns)
            else:
                kept = pa.Table.from_batches([rows]).filter(condition).select(self._columns)
                yield from kept.to_batches()


def columns_of(condition: pc.Expression, schema: pa.Schema) -> list[str]:
    """The columns that a filter uses: without one of them it does not bind."""
    empty = schema.empty_table()
    return [name for name in schema.names if not _binds(condition, empty.drop_columns([name]))]


def _binds(condition: pc.Expression, table: pa.Table) -> bool:
    try:
        table.filter(condition)
    except pa.ArrowInvalid:
        return False
    return True


def with_named(
    scan: TableScan, condition: pc.Expression | None, *, is_named: bool = False
) -> TableScan:
    """The scan with those of the topics it leaves out that a filter names.

    A filter names a topic if it keeps rows of it, and none of a topic before or after all others.

    Args:
        scan: as it would be read without a filter.
        condition: the filter, if any.
        is_named: whether they are named in a way that is no filter for Arrow.
    """
    left_out = sorted(scan.request.excluded_topics)
    if not is_named and left_out and condition is not None:
        topics = (*left_out, *_ANY_OTHER)
        schema = registry.table(scan.table).schema
        *kept, first, last = _possible(condition, [each == _TOPIC for each in topics], schema)
        if first or last:
            return scan
        left_out = [topic for topic, is_kept in zip(left_out, kept, strict=True) if is_kept]
    elif not is_named:
        return scan
    excluded = scan.request.excluded_topics.difference(left_out)
    return replace(scan, request=replace(scan.request, excluded_topics=excluded))


def narrowed(scan: TableScan, condition: pc.Expression) -> ReadRequest | None:
    """The request without directories and offsets that hold no row of a filter.

    Returns:
        None if there is none at all.
    """
    request = scan.request
    table = registry.table(scan.table)
    if table.selects_directories and {"topic", "partition"} <= set(table.schema.names):
        found = _directories(scan, condition)
        if found is not None:
            if not found:
                return None
            request = replace(request, assigned=frozenset(each[:2] for each in found))
            brokers = frozenset(broker for *_, broker in found if broker is not None)
            all_known = all(broker is not None for *_, broker in found)
            if scan.table in OF_ONE_REPLICA and all_known and request.replica == "all":
                request = replace(request, brokers=brokers)
    if "offset" in table.schema.names and scan.table in (OPTIONS["from_offset"].tables or ()):
        first = max(_first_offset(condition, table.schema), request.from_offset or 0)
        end = _end_offset(condition, table.schema)
        ends = [each for each in (end, request.to_offset) if each is not None]
        request = replace(request, from_offset=first or None, to_offset=min(ends, default=None))
    return request


def _directories(
    scan: TableScan, condition: pc.Expression
) -> set[tuple[str, int, int | None]] | None:
    """Topic, partition and broker of the directories that may hold rows; None if not all known."""
    places = set()
    for each in with_remote(scan.evidence).partition_directories(scan.request):
        if each.topic is None or each.partition is None:
            return None
        places.add((each.topic, each.partition, each.log_directory.broker_id))
    ordered = sorted(places, key=str)
    topic, partition, broker = map(pc.field, ("topic", "partition", "brokerId"))
    has_broker = "brokerId" in registry.table(scan.table).schema.names
    known = []
    for place in ordered:
        expression = (topic == place[0]) & (partition == place[1])
        if has_broker and place[2] is not None:
            expression &= broker == place[2]
        known.append(expression)
    schema = registry.table(scan.table).schema
    possible = _possible(condition, known, schema)
    return {place for place, is_possible in zip(ordered, possible, strict=True) if is_possible}


def _first_offset(condition: pc.Expression, schema: pa.Schema) -> int:
    """A lower bound of the offsets of rows that a filter keeps, by bisection."""
    low, high = 0, _LAST_OFFSET
    while low < high:
        middle = low + (high - low + 1) // 2
        (below,) = _possible(condition, [middle > _OFFSET], schema)
        low, high = (low, middle - 1) if below else (middle, high)
    return low


def _end_offset(condition: pc.Expression, schema: pa.Schema) -> int | None:
    """The first offset above all rows that a filter keeps; None if there may always be more."""
    low, high = 0, _LAST_OFFSET
    while low < high:
        middle = low + (high - low) // 2
        (above,) = _possible(condition, [middle <= _OFFSET], schema)
        low, high = (middle + 1, high) if above else (low, middle)
    return None if low == _LAST_OFFSET else low


def _possible(
    condition: pc.Expression, known: Sequence[pc.Expression], schema: pa.Schema
) -> list[bool]:
    """Whether a row of which something is known may fulfil a filter: Arrow's partition pruning."""
    files = pyarrow.fs.LocalFileSystem()
    form = ds.IpcFileFormat()
    fragments = [
        form.make_fragment(str(number), files, partition_expression=each)
        for number, each in enumerate(known)
    ]
    dataset = ds.FileSystemDataset(fragments, schema, form, files)
    left = {int(each.path) for each in dataset.get_fragments(filter=condition)}
    return [number in left for number in range(len(known))]
