"""Positions, sizes and bits of batches and messages, as plain numbers.

They repeat the declarations (``record_batch_header``, ``message``), which take a tenth of a second
to import; a test compares the two. The compiled kernel has them from ``batch_fields.pxd``, which
``python -m tests.format.fields_for_c`` writes. Source: Kafka 4.0, common.record.DefaultRecordBatch
and LegacyRecord.
"""

from __future__ import annotations

import struct
from typing import Final

# The start of every entry of a log: offset, length, four bytes, magic.
LENGTH_AT: Final[int] = 8
LENGTH_END: Final[int] = 12
"""``length`` counts from here."""
MAGIC_AT: Final[int] = 16
LOG_ENTRY_SIZE: Final[int] = 17
MAGIC: Final[int] = 2
"""The newest."""

# A batch of magic 2.
LEADER_EPOCH_AT: Final[int] = 12
CRC_AT: Final[int] = 17
CRC_COVERS_FROM: Final[int] = 21
"""Base offset, length, leader epoch and magic are not covered, because the leader sets them."""
ATTRIBUTES_AT: Final[int] = 21
LAST_OFFSET_DELTA_AT: Final[int] = 23
BASE_TIMESTAMP_AT: Final[int] = 27
MAX_TIMESTAMP_AT: Final[int] = 35
PRODUCER_ID_AT: Final[int] = 43
PRODUCER_EPOCH_AT: Final[int] = 51
BASE_SEQUENCE_AT: Final[int] = 53
RECORDS_COUNT_AT: Final[int] = 57
HEADER_SIZE: Final[int] = 61
MIN_LENGTH_2: Final[int] = 49

# A header for ``struct``: all its fields in order, and only the first ones.
_HEADER_FORMAT: Final = ">qiibIhiqqqhii"
OFFSET_AND_LENGTH: Final = struct.Struct(_HEADER_FORMAT[:3])
UP_TO_MAGIC: Final = struct.Struct(_HEADER_FORMAT[:5])
"""Also of a message, whose CRC is where a batch has its leader epoch."""
UP_TO_LAST_OFFSET_DELTA: Final = struct.Struct(_HEADER_FORMAT[:8])
HEADER: Final = struct.Struct(_HEADER_FORMAT)

# A message of magic 0 or 1. The key of magic 0 begins at the position of magic 1's timestamp.
MESSAGE_CRC_AT: Final[int] = 12
MESSAGE_CRC_COVERS_FROM: Final[int] = 16
MESSAGE_ATTRIBUTES_AT: Final[int] = 17
MESSAGE_TIMESTAMP_AT: Final[int] = 18
MESSAGE_TIMESTAMP_SIZE: Final[int] = 8
MIN_SIZE_0: Final[int] = 26
MIN_SIZE_1: Final[int] = 34
MIN_LENGTH_0: Final[int] = 14
MIN_LENGTH_1: Final[int] = 22

# Attributes.
CODEC_MASK: Final[int] = 0x07
LAST_CODEC: Final[int] = 4
LAST_MESSAGE_CODEC: Final[int] = 3
"""The highest numbers that name a codec: in a batch, and in a message."""
LOG_APPEND_TIME_BIT: Final[int] = 0x08
TRANSACTIONAL_BIT: Final[int] = 0x10
CONTROL_BIT: Final[int] = 0x20
DELETE_HORIZON_BIT: Final[int] = 0x40
