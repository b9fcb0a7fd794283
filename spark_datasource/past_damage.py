"""Adds to an error about damage, a limit or missing records which option reads on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import (
    CorruptLogError,
    KafkaLogError,
    LimitReachedError,
    MissingRecordsError,
    UnsupportedFormatError,
)
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.salvage.intact_copies import other_copies
from kafkalog_reader.scan.damage import Mode

if TYPE_CHECKING:
    from kafkalog_reader.errors import LocatedError
    from spark_datasource.options import SourceOptions

_WITH_COPIES: Final = ("records", "batches")
"""Tables with the option ``replica`` that stop at damage."""


def past_damage(error: KafkaLogError, options: SourceOptions) -> str:
    """What to append to the message of an error while a task reads; else empty."""
    if isinstance(error, LimitReachedError):
        return ". Option maxBatchBytes raises it"
    if options.request.mode is not Mode.FAILFAST:
        return ""
    said = ""
    if isinstance(error, CorruptLogError | MissingRecordsError) and options.table in _WITH_COPIES:
        said = _intact_copy(error, options)
    if isinstance(error, CorruptLogError | UnsupportedFormatError):
        said += ". Mode PERMISSIVE leaves out what is damaged"
    return said


def _intact_copy(error: LocatedError, options: SourceOptions) -> str:
    try:
        context = ReadContext(follow_links=options.follow_links)
        found = other_copies(error, discover(options.paths, context), options.request)
    except KafkaLogError:  # the error at hand is the one to report
        return ""
    if found is None or (copy := found.intact) is None:
        return ""
    broker = found.broker_of(copy)
    how = f"load {shown(copy.path)}" if broker is None else f"replica=broker:{broker} reads it"
    short = f", up to offset {found.end - 1}" if found.is_shorter else ""
    place = f"{shown(copy.topic or '?')}-{copy.partition}"
    return f". An intact copy of {place}{short} is on {copy.replica_name}: {how}"
