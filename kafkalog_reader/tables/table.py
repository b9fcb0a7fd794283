"""The one mechanism behind every table: a name, columns, units of work, and how a unit is read.

Spark runs units on executors; the CLI and Python run them one after another. Nothing else knows how
a table is made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import pyarrow as pa

from kafkalog_reader.errors import UsageError
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.tables.names import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.io.progress import Progress
    from kafkalog_reader.tables.request import ReadRequest


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its Arrow type, its unit where it has one, and what it means."""

    name: str
    type: pa.DataType
    doc: str
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What a worker needs to read one part of a table: plain values, because Spark pickles it.

    ``size_in_bytes`` is what reading it costs, for packing and for progress bars.
    """

    size_in_bytes: int

    @property
    def opened(self) -> int:
        """How many segments or folders reading it opens, about."""
        return 1

    def parts(self) -> Sequence[Unit]:
        """The same work in as many units as possible without opening a file."""
        return (self,)


UnitT = TypeVar("UnitT", bound=Unit)


class Table(ABC, Generic[UnitT]):
    """A table over the evidence; instances hold no state and are shared.

    ``UnitT`` is its unit of work: what ``units`` yields and ``read`` takes.
    """

    name: ClassVar[str]
    doc: ClassVar[str]
    columns: ClassVar[tuple[Column, ...]]
    selects_directories: ClassVar[bool] = True
    """Whether selected topics and partitions are directories; else they occur within records."""

    @property
    def schema(self) -> pa.Schema:
        """Every column, nullable, without metadata: Spark compares schemas for equality."""
        return pa.schema([pa.field(column.name, column.type) for column in self.columns])

    def projected(self, request: ReadRequest) -> pa.Schema:
        """The schema of what ``read`` yields: the requested columns in the requested order.

        Raises:
            UsageError: a column that this table does not have.
        """
        if request.columns is None:
            return self.schema
        schema = self.schema
        for name in request.columns:
            if name not in schema.names:
                raise UsageError(
                    f"table {self.name} has no column {name!r}{nearest(name, schema.names)}"
                )
        return pa.schema([schema.field(name) for name in request.columns])

    def logs_shown(self, _request: ReadRequest) -> Sequence[ReadRequest]:
        """Which logs' newest records the rows show; none where they describe files.

        In-sync replicas of these that were not supplied may hold more. The rows are made of the
        first request's records; the other ones explain them.
        """
        return ()

    @abstractmethod
    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[UnitT]:
        """Cut the work: the driver's part. Lists directories, opens as little as possible."""

    @abstractmethod
    def read(
        self, unit: UnitT, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one unit as record batches of exactly ``projected(request)``."""


AnyTable = Table[Any]
"""A table with any unit type: callers only pass units from ``units`` to ``read``."""
