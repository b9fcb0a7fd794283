"""The ``replicas`` table: one row per partition directory, with the offsets that matter."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, ClassVar, Final

from kafkalog_reader.errors import LocatedError, LogPosition, UnsupportedFormatError
from kafkalog_reader.io.checkpoints import checkpointed_row, read_topic_id
from kafkalog_reader.io.log_directory import was_shut_down_cleanly
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.one_look import one_look
from kafkalog_reader.io.partition_directory import segments, size_of_files
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.scan.log_tail import end_after_damage, scan_tail
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.tables.directory_unit import DirectoryUnit, directory_units
from kafkalog_reader.tables.high_watermark import HighWatermark, high_watermark_of
from kafkalog_reader.tables.identity import identity_of
from kafkalog_reader.tables.open_transactions import replay_transactions
from kafkalog_reader.tables.rows import build_rows
from kafkalog_reader.tables.schemas.logs import REPLICAS
from kafkalog_reader.tables.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.io.segment_files import SegmentFiles
    from kafkalog_reader.scan.log_tail import LogTail
    from kafkalog_reader.tables.request import ReadRequest

logger = logging.getLogger(__name__)

NO_LEADER_EPOCH: Final = -1
"""The leader epoch of messages of magic 0 and 1, and of batches that no leader wrote."""
_LAST_STABLE: Final = frozenset({"lastStableOffset", "lastStableOffsetLow"})
_FROM_TAIL: Final = _LAST_STABLE | {
    "logEndOffset", "highWatermarkLow", "lastLeaderEpoch", "tornBytes",
}  # fmt: skip


class ReplicasTable(Table[DirectoryUnit]):
    """One row is one replica, or a deleted, future or stray directory."""

    name: ClassVar[str] = "replicas"
    doc: ClassVar[str] = "one row per replica: log start, log end, high watermark and more"
    columns: ClassVar[tuple[Column, ...]] = REPLICAS

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[DirectoryUnit]:
        """Partition directories of one log directory, also deleted, future and stray ones."""
        return directory_units(evidence, request, replicas_only=False)

    def read(
        self, unit: DirectoryUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one unit; logs are opened only where a column needs it."""
        schema = self.projected(request)
        rows = []
        for directory in unit.directories:
            with one_look([directory]) as (looked_at,):
                replica = _Replica(looked_at, frozenset(schema.names), request.mode, progress)
                try:
                    rows.append(replica.row())
                except LocatedError as error:
                    Damage(request.mode).left_out(error)
                    rows.append(dict.fromkeys(self.schema.names) | replica.described())
        yield build_rows(
            schema, len(rows), {name: [row[name] for row in rows] for name in schema.names}
        )


class _Replica:
    """One partition directory, from which a row is made."""

    def __init__(
        self,
        directory: PartitionDirectory,
        wanted: frozenset[str],
        mode: Mode,
        progress: Progress,
    ) -> None:
        self.directory = directory
        self.wanted = wanted
        self.mode = mode
        self.progress = progress

    def row(self) -> dict[str, Any]:
        """At least the requested columns."""
        live = [s for s in segments(self.directory) if s.log_size is not None]
        row = self.described() | {
            "topicId": self._topic_id() if "topicId" in self.wanted else None,
            "logStartOffset": self._log_start(live),
            "checkpointedHighWatermark": self._checkpointed("replication-offset-checkpoint"),
            "recoveryPoint": self._checkpointed("recovery-point-offset-checkpoint"),
            "cleanerOffset": self._checkpointed("cleaner-offset-checkpoint"),
            "segments": len(live),
            "sizeInBytes": sum(segment.log_size or 0 for segment in live),
            "filesSizeInBytes": self._files_size(),
            "capturedAt": _newest(live),
            **dict.fromkeys(_FROM_TAIL),
        }
        if live and not self.wanted.isdisjoint(_FROM_TAIL):
            tail = scan_tail(self.directory)
            row |= self._tail_columns(tail, live[-1])
            if self.directory.is_replica and row["logEndOffset"] is not None:
                row |= self._high_watermark_columns(row, live[0].base_offset, tail.next_offset)
        elif not live and self.directory.is_replica and row["logStartOffset"] is not None:
            # the start creates an empty segment there
            row |= dict.fromkeys(
                ("logEndOffset", "highWatermarkLow", *_LAST_STABLE), row["logStartOffset"]
            )
        return row

    def described(self) -> dict[str, Any]:
        """What is known without opening the directory."""
        root = self.directory.log_directory
        return identity_of(self.directory) | {
            "state": self.directory.state,
            "cleanShutdown": was_shut_down_cleanly(root),
            "directoryId": root.directory_id,
        }

    def _files_size(self) -> int | None:
        return size_of_files(self.directory) if "filesSizeInBytes" in self.wanted else None

    def _topic_id(self) -> str | None:
        try:
            return read_topic_id(self.directory.path, context=self.directory.context)
        except LocatedError as error:
            self._warn(error)
            return None

    def _log_start(self, live: list[SegmentFiles]) -> int | None:
        """The log start; None if the checkpoint is damaged, because the first segment may be lower.

        Raises:
            KafkaLogError: the checkpoint is damaged, in FAILFAST.
        """
        first_base = live[0].base_offset if live else None
        if not self.directory.is_replica:
            return first_base
        try:
            checkpointed = checkpointed_row(self.directory, "log-start-offset-checkpoint")
        except LocatedError as error:
            Damage(self.mode).left_out(error)
            return None
        if live and checkpointed is not None and checkpointed > live[-1].base_offset:
            end = end_after_damage(self.directory, scan_tail(self.directory)).next_offset
            if checkpointed > end:  # its start will delete segments that exist now
                return first_base
        return max(checkpointed or 0, first_base or 0)

    def _checkpointed(self, name: str) -> int | None:
        """The rows of a checkpoint; none if it is damaged, which makes no other value wrong."""
        if not self.directory.is_replica:
            return None
        try:
            return checkpointed_row(self.directory, name)
        except LocatedError as error:
            self._warn(error)
            return None

    def _warn(self, error: LocatedError) -> None:
        if self.mode is not Mode.DROPMALFORMED:
            logger.warning("%s", error)

    def _tail_columns(self, tail: LogTail, last: SegmentFiles) -> dict[str, Any]:
        where = LogPosition(shown(last.path("log")), tail.end_position, tail.next_offset)
        if tail.end is ScanEnd.UNKNOWN_MAGIC:
            problem = f"{tail.end.value}: cannot tell where this log ends"
            Damage(self.mode).left_out(UnsupportedFormatError(problem, where))
            return {}
        is_torn = tail.end not in (ScanEnd.COMPLETE, ScanEnd.ZEROS)
        end = end_after_damage(self.directory, tail)
        torn_bytes = (last.log_size or 0) - end.end_position if is_torn else 0
        if is_torn and self.mode is not Mode.DROPMALFORMED:
            what = f"the log ends here; {torn_bytes:,} bytes after it are left out"
            if end.end_position > tail.end_position:
                what = f"damaged; batches after it reach offset {end.next_offset:,}"
            logger.warning("%s: %s: %s", where, tail.end.value, what)
        return {
            "logEndOffset": end.next_offset,
            "lastLeaderEpoch": (
                None if end.last_leader_epoch == NO_LEADER_EPOCH else end.last_leader_epoch
            ),
            "tornBytes": torn_bytes,
        }

    def _high_watermark_columns(
        self, row: dict[str, Any], first_base: int, sound_end: int
    ) -> dict[str, Any]:
        log_start = first_base if row["logStartOffset"] is None else row["logStartOffset"]
        high_watermark = high_watermark_of(
            checkpointed=row["checkpointedHighWatermark"],
            cleaner_offset=row["cleanerOffset"],
            log_start=log_start,
            log_end=row["logEndOffset"],
        )
        columns: dict[str, int | None] = {
            "highWatermarkLow": high_watermark.low,
        }
        if not self.wanted.isdisjoint(_LAST_STABLE):
            columns |= self._last_stable_columns(high_watermark, log_start, sound_end)
        return columns

    def _last_stable_columns(
        self, high_watermark: HighWatermark, log_start: int, sound_end: int
    ) -> dict[str, int | None]:
        """The last stable offset up to the first damage, where read_committed consumers stop."""
        low, high = min(high_watermark.low, sound_end), min(high_watermark.high, sound_end)
        # Where nothing proves more than the log start, nothing is read to find what is stable
        # there: without its checkpoints a copy would be replayed from its first segment on.
        is_proven = low > log_start
        transactions = replay_transactions(
            self.directory,
            decided_from=low if is_proven else high,
            log_end=high,
            mode=self.mode,
            progress=self.progress,
        )
        return {
            "lastStableOffset": transactions.last_stable_offset(high, log_start),
            "lastStableOffsetLow": (
                transactions.last_stable_offset(low, log_start) if is_proven else low
            ),
        }


def _newest(live: list[SegmentFiles]) -> int | None:
    newest = max((segment.modified_at for segment in live), default=None)
    return None if newest is None else int(newest * 1_000_000)
