"""Passes log records on where a handler that only collects them is the only handler."""

from __future__ import annotations

import logging


def pass_on(record: logging.LogRecord, collector: logging.Handler) -> None:
    """Print a record to standard error if its loggers have no handler besides the collector.

    Python prints warnings by itself where no logger has a handler (``logging.lastResort``): a
    collector would silence them.
    """
    logger: logging.Logger | None = logging.getLogger(record.name)
    while logger is not None:
        if any(handler is not collector for handler in logger.handlers):
            return
        logger = logger.parent if logger.propagate else None
    last = logging.lastResort
    if last is not None and record.levelno >= last.level:
        last.handle(record)
