"""Java properties: ISO-8859-1 text of keys and values, with escapes and continued lines.

Source: JDK 17, java.util.Properties#load.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import CorruptCheckpointError, LogPosition

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_BLANKS: Final[str] = " \t\f"
_COMMENTS: Final[tuple[str, str]] = ("#", "!")
_ESCAPES: Final[dict[str, str]] = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPE: Final = re.compile(r"\\(u[0-9A-Fa-f]{4}|.?)", re.DOTALL)
# A key ends at the first =, : or blank that does not follow an odd number of backslashes.
_PAIR: Final = re.compile(r"((?:[^\\=: \t\f]|\\.)*)[ \t\f]*(?:[=:][ \t\f]*)?(.*)", re.DOTALL)


def parse_java_properties(content: bytes, where: LogPosition) -> dict[str, str]:
    r"""Parse Java properties; the last value of a repeated key counts, as in Java.

    Raises:
        CorruptCheckpointError: a malformed ``\uXXXX`` escape; names the line.
    """
    properties: dict[str, str] = {}
    for number, line in _logical_lines(content.decode("iso-8859-1")):
        pair = _PAIR.fullmatch(line)
        key, value = (line, "") if pair is None else pair.groups()
        properties[_unescape(key, number, where)] = _unescape(value, number, where)
    return properties


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line that is not blank or a comment, continuations joined."""
    parts: list[str] = []
    first = 0
    for number, natural in enumerate(_LINE_END.split(text), start=1):
        line = natural.lstrip(_BLANKS)
        if not parts:
            if not line or line.startswith(_COMMENTS):
                continue
            first = number
        if (len(line) - len(line.rstrip("\\"))) % 2:
            parts.append(line[:-1])
            continue
        yield first, "".join([*parts, line])
        parts = []
    if parts:
        yield first, "".join(parts)


def _unescape(text: str, number: int, where: LogPosition) -> str:
    def replacement(escape: re.Match[str]) -> str:
        code = escape[1]
        if code.startswith("u"):
            if len(code) != 5:
                raise CorruptCheckpointError(f"line {number}: malformed \\uXXXX escape", where)
            return chr(int(code[1:], 16))
        return _ESCAPES.get(code, code)

    return _ESCAPE.sub(replacement, text)
