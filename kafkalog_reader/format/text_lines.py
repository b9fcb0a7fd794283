"""The lines of a small text file, each with its number and byte position, and its integers.

The content is hostile: at most one line of bounded length is copied.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import CorruptCheckpointError, LogPosition

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LINE_LENGTH: Final[int] = 1024  # a topic name has 249 bytes, a number 20
INT32: Final[range] = range(-(2**31), 2**31)
INT64: Final[range] = range(-(2**63), 2**63)

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")  # as java.io.BufferedReader#readLine
_INTEGER: Final = re.compile(rb"[+-]?[0-9]{1,20}")  # as Integer.parseInt, but ASCII digits only


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLine:
    """One line without its terminator, and its place."""

    text: bytes
    number: int
    where: LogPosition

    def corrupt(self, problem: str) -> CorruptCheckpointError:
        """Create the error that names this line; the caller raises it."""
        return CorruptCheckpointError(f"line {self.number}: {problem}", self.where)

    def integer(self, field: bytes, name: str, allowed: range) -> int:
        """Parse one decimal field of this line.

        Raises:
            CorruptCheckpointError: not a decimal integer, or outside ``allowed``.
        """
        if _INTEGER.fullmatch(field) is None:
            raise self.corrupt(f"expected an integer as {name}, found {excerpt(field)}")
        value = int(field)
        if value not in allowed:
            raise self.corrupt(f"{name} {value} is outside {allowed.start}..{allowed.stop - 1}")
        return value


def text_lines(content: bytes, where: LogPosition) -> Iterator[TextLine]:
    """Yield the lines of ``content``; a terminator at the very end does not start another line.

    Raises:
        CorruptCheckpointError: a line is longer than any that Kafka writes.
    """
    start, number = 0, 1
    while start < len(content):
        line_end = _LINE_END.search(content, start, start + MAX_LINE_LENGTH + 2)
        end = len(content) if line_end is None else line_end.start()
        position = LogPosition(where.file, (where.position or 0) + start, where.offset)
        if end - start > MAX_LINE_LENGTH:
            raise CorruptCheckpointError(
                f"line {number}: longer than {MAX_LINE_LENGTH} bytes, begins with "
                f"{excerpt(content[start : start + 50])}",
                position,
            )
        yield TextLine(text=content[start:end], number=number, where=position)
        start = end if line_end is None else line_end.end()
        number += 1


def excerpt(text: bytes) -> str:
    """Quote hostile bytes for a message: escaped, and shortened; zeros are counted."""
    if text and not any(text):
        return f"{len(text)} zero byte{'s' if len(text) > 1 else ''}"
    shown = repr(text[:60])[1:]
    return shown if len(text) <= 60 else f"{shown}... ({len(text)} bytes)"
