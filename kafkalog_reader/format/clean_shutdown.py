"""``.kafka_cleanshutdown``: its existence marks a clean shutdown, its content the broker epoch.

Source: Kafka 4.0, storage.internals.log.CleanShutdownFileHandler (KIP-966).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

MAX_CONTENT_SIZE: Final[int] = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanShutdown:
    """The content of the marker; None if unknown, as in every marker written before 3.7."""

    version: int | None
    broker_epoch: int | None


UNKNOWN_BROKER_EPOCH: Final = CleanShutdown(version=None, broker_epoch=None)


def parse_clean_shutdown(content: bytes) -> CleanShutdown:
    """Parse the marker; unreadable content means an unknown epoch, as in Kafka, not an error."""
    if not content or len(content) > MAX_CONTENT_SIZE:
        return UNKNOWN_BROKER_EPOCH
    try:
        fields = json.loads(content)
    except (ValueError, RecursionError):  # not JSON, not UTF-8, or nested too deeply for the parser
        return UNKNOWN_BROKER_EPOCH
    if not isinstance(fields, dict):
        return UNKNOWN_BROKER_EPOCH
    return CleanShutdown(
        version=_integer(fields.get("version")), broker_epoch=_integer(fields.get("brokerEpoch"))
    )


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
