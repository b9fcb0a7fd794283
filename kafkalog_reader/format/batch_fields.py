"""Positions, sizes and bits of the batch format, for use without its declarations.

Source: Kafka 4.0, common.record.DefaultRecordBatch.
"""

from __future__ import annotations

from typing import Final

LENGTH_END: Final[int] = 12
"""``length`` counts from here."""
CRC_COVERS_FROM: Final[int] = 21
"""Base offset, length, leader epoch and magic are not covered, because the leader sets them."""
MIN_LEGACY_LENGTH: Final[int] = 14
MAGIC: Final[int] = 2

CODEC_MASK: Final[int] = 0x07
LOG_APPEND_TIME_BIT: Final[int] = 0x08
TRANSACTIONAL_BIT: Final[int] = 0x10
CONTROL_BIT: Final[int] = 0x20
DELETE_HORIZON_BIT: Final[int] = 0x40
