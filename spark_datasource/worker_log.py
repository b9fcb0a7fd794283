"""Warnings in Python workers of Spark, on the driver and on executors: by one logger, ``kafkalog``.

A worker has no log of its own, and Python prints warnings without level and name where nobody
handles them. Source: PySpark 4.0 to 4.3, worker_io.capture_outputs; Spark's log4j2-defaults.
"""

from __future__ import annotations

import copy
import logging
import sys
from typing import Final

from spark_datasource.errors import is_worker

LOGGER: Final = "kafkalog"
"""What users configure, and select in ``python_worker_logs()``."""
PACKAGES: Final = ("kafkalog_reader", "spark_datasource")
"""Whose loggers are heard."""
_AS_SPARK: Final = logging.Formatter(
    "%(asctime)s %(levelname)s %(name)s: %(message)s", "%y/%m/%d %H:%M:%S"
)


def log_as_spark() -> None:
    """In a worker of Spark, hand all warnings to the logger ``kafkalog``; elsewhere, do nothing."""
    if not is_worker():
        return
    for package in PACKAGES:
        logger = logging.getLogger(package)
        logger.addHandler(_ToKafkalog())
        logger.propagate = False


class _ToKafkalog(logging.Handler):
    """Passes on warnings under that name; prints them as Spark does where nobody handles them.

    Other records keep their names, such as those of metrics.
    """

    def emit(self, record: logging.LogRecord) -> None:
        logger = logging.getLogger(LOGGER)
        if record.levelno < logging.WARNING:
            logger.callHandlers(record)
            return
        if not logger.isEnabledFor(record.levelno):
            return
        named = copy.copy(record)
        named.name = LOGGER
        if logger.hasHandlers():
            logger.handle(named)
        else:
            named.levelname = {"WARNING": "WARN"}.get(named.levelname, named.levelname)
            sys.stderr.write(f"{_AS_SPARK.format(named)}\n")
