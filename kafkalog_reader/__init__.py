"""Reads Kafka's files on disk: ``kafkalog_reader.open(*paths).records(topic="orders")``.

Names are imported when first used: ``kafkalog --help`` must not wait for Arrow.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from kafkalog_reader.table_dataset import TableDataset
    from kafkalog_reader.table_scan import ScanTask, TableScan

__version__ = "0.1.0"

_HOME = {
    "Log": "log", "ScanTask": "table_scan", "TableDataset": "table_dataset",
    "TableScan": "table_scan", "open": "log",
}  # fmt: skip
"""Where names live; all others in ``errors``."""

__all__ = [
    "CorruptCheckpointError",
    "CorruptIndexError",
    "CorruptLogError",
    "CorruptRecordError",
    "DataLossError",
    "KafkaLogError",
    "LimitReachedError",
    "Log",
    "LogLayoutError",
    "LogPosition",
    "MissingPackageError",
    "MissingRecordsError",
    "OptionError",
    "OutdatedKernelError",
    "SalvageCountError",
    "ScanTask",
    "TableDataset",
    "TableScan",
    "UnreadableFileError",
    "UnsupportedFormatError",
    "UsageError",
    "open",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  whatever is asked for
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME.get(name, 'errors')}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
