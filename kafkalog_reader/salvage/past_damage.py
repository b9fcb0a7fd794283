"""Adds to an error about damage or missing records how Python and Spark read on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import (
    CorruptLogError,
    KafkaLogError,
    MissingRecordsError,
    UnsupportedFormatError,
)
from kafkalog_reader.io.names import shown
from kafkalog_reader.salvage.intact_copies import other_copies
from kafkalog_reader.scan.damage import Mode

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkalog_reader.errors import LocatedError
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest

_WITH_COPIES: Final = ("records", "batches")
"""Tables with the option ``replica`` that stop at damage."""


def advise(
    error: LocatedError,
    table: str,
    request: ReadRequest,
    supplied: Callable[[], Evidence | None],
    *,
    verb: str = "open",
) -> None:
    """Set the advice of an error that ended a read: an intact copy, the mode that reads on.

    Args:
        error: what was raised.
        table: the name of the table that was read.
        request: the rows that were requested.
        supplied: returns all that the user supplied; None if it is not known.
        verb: what the interface calls reading other paths.
    """
    if request.mode is not Mode.FAILFAST:
        return
    found = []
    if isinstance(error, CorruptLogError | MissingRecordsError) and table in _WITH_COPIES:
        found.append(_intact_copy(error, request, supplied, verb))
    if isinstance(error, CorruptLogError | UnsupportedFormatError):
        found.append("Mode PERMISSIVE leaves out what is damaged")
    else:
        found.append(error.advice)
    error.advice = ". ".join(filter(None, found))


def _intact_copy(
    error: LocatedError,
    request: ReadRequest,
    supplied: Callable[[], Evidence | None],
    verb: str,
) -> str:
    try:
        evidence = supplied()
        if evidence is None:
            return ""
        found = other_copies(error, evidence, replace(request, brokers=None))
    except KafkaLogError:  # the error at hand is the one to report
        return ""
    if found is None or (copy := found.intact) is None:
        return ""
    broker = found.broker_of(copy)
    option = "replica=broker:" if request.brokers is None else "broker="
    how = f"{verb} {shown(copy.path)}" if broker is None else f"{option}{broker} reads it"
    short = f", but ends at offset {found.end - 1:,}, before others" if found.is_shorter else ""
    place = f"{shown(copy.topic or '?')}-{copy.partition}"
    return f"An intact copy of {place} is on {copy.replica_name}{short}: {how}"
