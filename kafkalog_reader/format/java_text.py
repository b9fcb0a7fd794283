"""Decodes bytes to text as Java does: UTF-8, with U+FFFD for malformed sequences.

Java and Python agree on what is malformed, but not on the number of U+FFFD: an encoded surrogate
becomes one in Java and three in Python. Source: java.lang.String#decodeUTF8_UTF16 (JDK 17), which
Kafka's clients and kafka-dump-log call for header keys, keys and payloads.
"""

from __future__ import annotations

import codecs
from typing import Final

_REPLACEMENT: Final = "\ufffd"
_HANDLER: Final = "kafkalog.java"


def java_text(content: bytes) -> str:
    """Decode as ``new String(content, UTF_8)`` does."""
    return content.decode("utf-8", _HANDLER)


def _malformed_length(content: bytes, start: int) -> int:
    """Number of bytes at a malformed sequence that become one U+FFFD."""
    lead, left = content[start], len(content) - start
    if 0xE0 <= lead <= 0xEF:
        if left >= 2 and _is_no_second_of_3(lead, content[start + 1]):
            return 1
        if left < 3:
            return left  # the end of the bytes, cut short
        return 2 if _is_no_continuation(content[start + 2]) else 3  # 3: a surrogate
    if 0xF0 <= lead <= 0xF4:
        if left >= 2 and _is_no_second_of_4(lead, content[start + 1]):
            return 1
        if left >= 3 and _is_no_continuation(content[start + 2]):
            return 2
        return min(left, 3)
    return 1


def _is_no_continuation(byte: int) -> bool:
    return byte & 0xC0 != 0x80


def _is_no_second_of_3(lead: int, second: int) -> bool:
    return _is_no_continuation(second) or (lead == 0xE0 and second < 0xA0)


def _is_no_second_of_4(lead: int, second: int) -> bool:
    overlong, beyond = lead == 0xF0 and second < 0x90, lead == 0xF4 and second > 0x8F
    return _is_no_continuation(second) or overlong or beyond


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return _REPLACEMENT, error.start + _malformed_length(error.object, error.start)


codecs.register_error(_HANDLER, _replaced)
