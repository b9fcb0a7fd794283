"""Quotes paths in printed commands for a POSIX shell, whatever bytes they have."""

from __future__ import annotations

import os
import shlex

from kafkalog_reader.errors import as_argument


def shell_word(text: str) -> str:
    """The text as one word; ``$'...'`` of bash, zsh and ksh if it cannot be printed."""
    text = as_argument(text)
    if text.isprintable():
        return shlex.quote(text)
    escaped = (
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b"\\'" else f"\\x{byte:02x}"
        for byte in os.fsencode(text)
    )
    return f"$'{''.join(escaped)}'"
