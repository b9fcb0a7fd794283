"""Records of one side as Parquet: one file for all partitions, created with the first record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa
from pyarrow import parquet

from kafkalog_reader.salvage.one_sided import SCHEMA, one_sided_records
from kafkalog_reader.salvage.output_folder import OutputFolder

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.io.progress import Progress

FILE: Final = "records.parquet"
"""Never derived from a topic name, which is untrusted input."""
ROW_GROUP: Final = 64 << 20
"""Bytes in Arrow, held in memory besides a window."""


class SideExport:
    """Writes what ``one_sided_records`` finds in partition after partition.

    Args:
        path: a folder that is new or empty, and in no input.
        evidence: the inputs.

    Attributes:
        file: where the records are.
        records: written so far.

    Raises:
        UsageError: the folder holds something, lies in an input, or cannot be made.
    """

    def __init__(self, path: str, evidence: Evidence) -> None:
        self.records = 0
        self._folder = OutputFolder(path, evidence, option="export")
        self.file: Path = self._folder.path / FILE
        self._writer: parquet.ParquetWriter | None = None
        self._group: list[pa.RecordBatch] = []
        self._size = 0

    def add(self, audit: PartitionAudit, progress: Progress) -> None:
        """Write the records of one partition.

        Raises:
            UnreadableFileError: a directory cannot be listed, or a file cannot be read.
        """
        for rows in one_sided_records(audit, progress):
            self.records += rows.num_rows
            self._group.append(rows)
            self._size += rows.nbytes
            if self._size >= ROW_GROUP:
                self._flush()

    def close(self) -> None:
        """Write the rest and the file's footer; without records, leave no folder."""
        self._flush()
        if self._writer is None:
            self._folder.discard()
        else:
            self._writer.close()

    def _flush(self) -> None:
        if not self._group:
            return
        if self._writer is None:
            self._writer = parquet.ParquetWriter(self.file, SCHEMA, compression="zstd")
        self._writer.write_table(pa.Table.from_batches(self._group))
        self._group, self._size = [], 0
