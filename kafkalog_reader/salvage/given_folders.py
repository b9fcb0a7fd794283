"""Reads folders that were set aside, are being deleted or moved, if they are given themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from kafkalog_reader.io.evidence import Evidence


def with_given_folders(evidence: Evidence) -> Evidence:
    """The same evidence, in which such a folder is a replica like any other.

    Not where a live folder of its partition was supplied, too: then it is the older copy, and
    records of both must not become one log.
    """
    found = evidence.partition_directories(ReadRequest())
    live = {each.identity for each in found if each.is_replica}
    given = (
        each if each.identity in live else replace(each, state=None) for each in evidence.given
    )
    return replace(evidence, given=tuple(given))
