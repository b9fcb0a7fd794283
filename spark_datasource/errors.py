"""Errors as Spark shows them: an error condition, then one sentence, without a traceback.

Spark's Python workers format an exception themselves and then end. A traceback says nothing where
the message already names the option or the file, so it is hidden for errors raised on purpose.
Source: PySpark 4.0 to 4.3, util.handle_worker_exception.
"""

from __future__ import annotations

import os
import sys
from typing import Final

from pyspark.errors import PySparkValueError

from kafkalog_reader.errors import (
    CorruptLogError,
    DataLossError,
    KafkaLogError,
    LimitReachedError,
    LogLayoutError,
    MissingRecordsError,
    UnreadableFileError,
    UnsupportedFormatError,
    UsageError,
)

_CONDITIONS: Final = {
    UsageError: "KAFKALOG.INVALID_REQUEST",
    LogLayoutError: "KAFKALOG.INVALID_PATH",
    MissingRecordsError: "KAFKALOG.MISSING_RECORDS",
    DataLossError: "KAFKALOG.MISSING_RECORDS",
    UnreadableFileError: "KAFKALOG.UNREADABLE_FILE",
    UnsupportedFormatError: "KAFKALOG.UNSUPPORTED_FORMAT",
    LimitReachedError: "KAFKALOG.LIMIT_REACHED",
    CorruptLogError: "KAFKALOG.CORRUPT_LOG",
}
_HIDE_TRACEBACK: Final = "SPARK_HIDE_TRACEBACK"
"""What spark.sql.execution.pyspark.udf.hideTraceback.enabled sets in Python workers."""


class KafkaLogSourceError(PySparkValueError, KafkaLogError):
    """An error of kafkalog for Spark.

    Args:
        message: one sentence.
        condition: such as ``KAFKALOG.CORRUPT_LOG``; ``getCondition`` returns it.
    """

    def __init__(self, message: str, condition: str) -> None:
        super().__init__(message=message, errorClass=condition, messageParameters={})

    def __reduce__(self) -> tuple[type[KafkaLogSourceError], tuple[str | None, str | None]]:
        return type(self), (self._message, self._errorClass)

    def __str__(self) -> str:
        return f"[{self._errorClass}] {self._message}"


def for_spark(error: KafkaLogError) -> KafkaLogSourceError:
    """The same error as Spark should show it; in a Python worker of Spark, without a traceback."""
    if isinstance(error, KafkaLogSourceError):
        return error
    if is_worker():  # it ends with this error: nothing else will be formatted
        os.environ[_HIDE_TRACEBACK] = "1"
    found = (condition for kind, condition in _CONDITIONS.items() if isinstance(error, kind))
    return KafkaLogSourceError(str(error), next(found, "KAFKALOG.FAILED"))


def is_worker() -> bool:
    """Whether this process is a Python worker of Spark, which plans or reads."""
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    return main is not None and main.name.startswith("pyspark.")
