"""A record of an internal topic in a row: where it is, and its bytes if they cannot be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_VERSION_SIZE: Final = 2


def place_of(record: Mapping[str, Any], partition: str) -> dict[str, Any]:
    """Where a record is; ``partition`` names the column for the partition of its log."""
    return {
        "clusterId": record["clusterId"],
        "brokerId": record["brokerId"],
        partition: record["partition"],
        "recordOffset": record["offset"],
        "recordTimestamp": record["timestamp"],
    }


def unreadable(record: Mapping[str, Any], problem: str) -> dict[str, Any]:
    """Why a record cannot be read, and what is stored."""
    return {"problem": problem, "key": record["key"], "value": record["value"]}


def value_version(record: Mapping[str, Any]) -> dict[str, int]:
    """The version that a coordinator's value begins with, also if the rest cannot be read."""
    value = record["value"]
    if value is None or len(value) < _VERSION_SIZE:
        return {}
    return {"valueVersion": int.from_bytes(value[:_VERSION_SIZE], signed=True)}
