"""The ``checkpoints`` table: one row per entry of the offset checkpoints of a log directory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from kafkalog_reader.errors import LocatedError, LogPosition
from kafkalog_reader.format.checkpoint import OffsetCheckpointEntry, parse_offset_checkpoint
from kafkalog_reader.io.checkpoints import checkpoint_path
from kafkalog_reader.io.names import OFFSET_CHECKPOINTS, shown
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.io.small_file import CHECKPOINT_LIMIT, read_if_present
from kafkalog_reader.scan.damage import Damage
from kafkalog_reader.tables.identity import identity_of_log_directory
from kafkalog_reader.tables.rows import build_rows
from kafkalog_reader.tables.schemas.logs import CHECKPOINTS
from kafkalog_reader.tables.table import Column, Table, Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from kafkalog_reader.io.directories import LogDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class LogDirectoryUnit(Unit):
    """One log directory; ``only`` has the given partitions if it was not given as a whole."""

    root: LogDirectory
    only: frozenset[tuple[str, int]] | None


class CheckpointsTable(Table[LogDirectoryUnit]):
    """One row per entry of an offset checkpoint."""

    name: ClassVar[str] = "checkpoints"
    doc: ClassVar[str] = "one row per entry of an offset checkpoint, also of missing partitions"
    columns: ClassVar[tuple[Column, ...]] = CHECKPOINTS

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[LogDirectoryUnit]:
        """One for each log directory; if not given itself, only with the given partitions."""
        for root in evidence.log_directories:
            if request.brokers is not None and root.broker_id not in request.brokers:
                continue
            given = frozenset(
                (directory.topic, directory.partition)
                for directory in evidence.given
                if directory.log_directory == root
                and directory.topic is not None
                and directory.partition is not None
            )
            only = None if root in evidence.roots else given
            yield LogDirectoryUnit(size_in_bytes=0, root=root, only=only)

    def read(
        self, unit: LogDirectoryUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the files of one log directory, in their order."""
        schema = self.projected(request)
        for name in OFFSET_CHECKPOINTS:
            try:
                entries = _entries(unit.root, name, progress)
            except LocatedError as error:
                Damage(request.mode).left_out(error)
                continue
            asked = [
                entry
                for entry in entries
                if request.selects(entry.topic, entry.partition)
                and (unit.only is None or (entry.topic, entry.partition) in unit.only)
            ]
            values = {
                **identity_of_log_directory(unit.root),
                "topic": [entry.topic for entry in asked],
                "partition": [entry.partition for entry in asked],
                "checkpoint": name,
                "offset": [entry.offset for entry in asked],
            }
            yield build_rows(schema, len(asked), values)


def _entries(
    root: LogDirectory, name: str, progress: Progress
) -> tuple[OffsetCheckpointEntry, ...]:
    path = checkpoint_path(root, name)
    content = read_if_present(path, CHECKPOINT_LIMIT, context=root.context)
    if content is None:
        return ()
    progress(len(content))
    return parse_offset_checkpoint(content, LogPosition(shown(path)))
