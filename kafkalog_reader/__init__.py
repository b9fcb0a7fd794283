"""Reads Kafka's files on disk: ``kafkalog_reader.open(*paths).records(topic="orders")``.

Names are imported when first used: ``kafkalog --help`` must not wait for Arrow.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.errors import (
        CorruptCheckpointError,
        CorruptIndexError,
        CorruptLogError,
        CorruptRecordError,
        DataLossError,
        KafkaLogError,
        LimitReachedError,
        LogLayoutError,
        LogPosition,
        MissingPackageError,
        MissingRecordsError,
        OptionError,
        OutdatedKernelError,
        SalvageCountError,
        UnreadableFileError,
        UnsupportedFormatError,
        UsageError,
    )
    from kafkalog_reader.log import Log, open  # noqa: A004  the verb is the API
    from kafkalog_reader.salvage.manifest import SalvagedPartition
    from kafkalog_reader.table_dataset import TableDataset
    from kafkalog_reader.table_scan import ScanTask, TableScan
    from kafkalog_reader.tables.options import ReadOptions

__version__ = "0.1.0"

_HOME = {
    "Finding": "audits.integrity.finding",
    "Log": "log",
    "PartitionAudit": "audits.partition.partition_audit",
    "ReadOptions": "tables.options",
    "SalvagedPartition": "salvage.manifest",
    "ScanTask": "table_scan",
    "TableDataset": "table_dataset",
    "TableScan": "table_scan",
    "open": "log",
}
"""Where names live; all others in ``errors``."""

__all__ = [
    "CorruptCheckpointError",
    "CorruptIndexError",
    "CorruptLogError",
    "CorruptRecordError",
    "DataLossError",
    "Finding",
    "KafkaLogError",
    "LimitReachedError",
    "Log",
    "LogLayoutError",
    "LogPosition",
    "MissingPackageError",
    "MissingRecordsError",
    "OptionError",
    "OutdatedKernelError",
    "PartitionAudit",
    "ReadOptions",
    "SalvageCountError",
    "SalvagedPartition",
    "ScanTask",
    "TableDataset",
    "TableScan",
    "UnreadableFileError",
    "UnsupportedFormatError",
    "UsageError",
    "open",
]


if not TYPE_CHECKING:  # a type checker would take every mistyped name for an attribute

    def __getattr__(name: str) -> Any:  # noqa: ANN401  whatever is asked for
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOME.get(name, 'errors')}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
