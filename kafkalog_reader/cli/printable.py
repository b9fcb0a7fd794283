"""Formats text for a terminal: ASCII if necessary, grouped numbers, sizes."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from functools import lru_cache
from typing import Final

_NON_ASCII: Final = re.compile(r"[^\x00-\x7f]")
_ASCII_TWINS: Final = {
    "–": "-", "—": "-", "−": "-", "…": "...", "→": "->", "×": "x", "·": "-", "≥": ">=",
}  # fmt: skip
KIBIBYTE: Final = 1024


def for_stdout(text: str) -> str:
    """The text as standard output can show it: typographic signs become ASCII if necessary."""
    if text.isascii() or stdout_is_unicode():
        return text
    return _NON_ASCII.sub(lambda found: _ascii(found[0]), text)


def _ascii(character: str) -> str:
    if character in _ASCII_TWINS:
        return _ASCII_TWINS[character]
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@lru_cache(maxsize=8)
def is_unicode(encoding: str | None) -> bool:
    """Whether a stream of this encoding can show every character."""
    return (encoding or "ascii").lower().replace("-", "").replace("_", "").startswith("utf")


def stdout_is_unicode() -> bool:
    """Whether standard output can show every character; LC_ALL=C asks for ASCII."""
    # Python itself uses UTF-8 in the C locale (PEP 540), whatever the terminal supports.
    return is_unicode(sys.stdout.encoding) and os.environ.get("LC_ALL") not in ("C", "POSIX")


def width(text: str) -> int:
    """Columns of the text on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else
        2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )  # fmt: skip


def grouped(number: int) -> str:
    """A number with separators: 1,048,203."""
    return f"{number:,}"


def size(size_in_bytes: int) -> str:
    """Bytes in B, KiB, MiB, GiB or TiB with one decimal."""
    amount, unit = float(size_in_bytes), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        # 1023.95 would be shown as 1,024.0 of its unit
        if amount < KIBIBYTE - 0.05 or unit == "TiB":
            break
        amount /= KIBIBYTE
    return f"{size_in_bytes} B" if unit == "B" else f"{amount:,.1f} {unit}"


def plural(number: int, noun: str) -> str:
    """``1 row``, ``2 rows``, ``1,204 partitions``; nouns in -x and -ch take -es."""
    ending = "" if number == 1 else "es" if noun.endswith(("x", "ch")) else "s"
    return f"{number:,} {noun}{ending}"
