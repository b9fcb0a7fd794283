"""Numbers for why the kernel stopped and for what is wrong with a record batch.

The twin of ``codes.pxd``; a test compares the two.
"""

from __future__ import annotations

from typing import Final

# Why a scan of record batches stopped.
SCAN_FULL: Final = 0  # the end was reached, or the columns are full
SCAN_SHORT: Final = 1  # the next batch needs more bytes than there are
SCAN_BAD_LENGTH: Final = 2
SCAN_UNKNOWN_MAGIC: Final = 3

NO_TIMESTAMP_TYPE: Final = 256
"""Added to the attributes, which have eight bits, of messages without a timestamp."""

# What is wrong with the records of a batch.
SOUND: Final = 0
BAD_COUNT: Final = 1
BAD_OFFSETS: Final = 2
BAD_VARINT: Final = 3
BAD_RECORD_LENGTH: Final = 4
BAD_OFFSET_DELTA: Final = 5
BAD_KEY_LENGTH: Final = 6
BAD_VALUE_LENGTH: Final = 7
BAD_HEADERS_COUNT: Final = 8
BAD_HEADER_KEY_LENGTH: Final = 9
BAD_HEADER_VALUE_LENGTH: Final = 10
BAD_RECORD_END: Final = 11
BAD_BATCH_END: Final = 12
BAD_MESSAGE_LENGTH: Final = 13
BAD_MESSAGE_CRC: Final = 14
BAD_MESSAGE_MAGIC: Final = 15
BAD_NESTING: Final = 16
BAD_WRAPPER_OFFSET: Final = 17
BAD_INNER_OFFSET: Final = 18
BAD_WRAPPER_VALUE: Final = 19
BAD_MESSAGE_END: Final = 20
NO_ROOM: Final = 21  # not wrong: the columns are full; never leaves the kernel

# Shapes of payloads.
SHAPE_OTHER: Final = 0  # needs more than one call of a library
SHAPE_STORED: Final = 1
SHAPE_LZ4_BLOCK: Final = 2
SHAPE_SNAPPY_BLOCK: Final = 3
SHAPE_ZSTD_FRAME: Final = 4
SHAPE_GZIP: Final = 5

PROBLEMS: Final = {
    BAD_COUNT: "its record count is negative or more than its bytes can hold",
    BAD_OFFSETS: "its offsets are negative or run past 2^63 - 1",
    BAD_VARINT: "a varint does not end",
    BAD_RECORD_LENGTH: "a record is longer than what is left of the batch",
    BAD_OFFSET_DELTA: "an offset delta lies outside of the batch's offsets",
    BAD_KEY_LENGTH: "a key is longer than its record, or its length is below -1",
    BAD_VALUE_LENGTH: "a value is longer than its record, or its length is below -1",
    BAD_HEADERS_COUNT: "a count of headers is negative or more than the record can hold",
    BAD_HEADER_KEY_LENGTH: "a header key is null or longer than its record",
    BAD_HEADER_VALUE_LENGTH: "a header value is longer than its record",
    BAD_RECORD_END: "a record's fields do not fill its length",
    BAD_BATCH_END: "bytes are left behind the last record",
    BAD_MESSAGE_LENGTH: "an inner message is cut short, or its length is below the smallest",
    BAD_MESSAGE_CRC: "the CRC of an inner message is wrong",
    BAD_MESSAGE_MAGIC: "the magic of an inner message is neither 0 nor 1",
    BAD_NESTING: "an inner message is compressed itself",
    BAD_WRAPPER_OFFSET: "its offset is below the last inner offset",
    BAD_INNER_OFFSET: "an inner offset is negative, above the last or too far below it",
    BAD_WRAPPER_VALUE: "a wrapper message has no value, or no message in it",
    BAD_MESSAGE_END: "key and value do not fill the message",
}
