"""Kafka's text form of a UUID: 22 characters of base64url without padding.

Source: Kafka 4.0, org.apache.kafka.common.Uuid.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

UUID_SIZE: Final[int] = 16
ZERO_UUID: Final[str] = "AAAAAAAAAAAAAAAAAAAAAA"
"""The all-zero UUID, which means "no id" in Kafka."""

_TEXT: Final = re.compile(r"[A-Za-z0-9_-]{22}(?:==)?", re.ASCII)  # Java accepts padding


def uuid_text(content: bytes) -> str:
    """The text of 16 bytes, most significant first, as Kafka prints it."""
    if len(content) != UUID_SIZE:
        raise ValueError(f"a UUID has {UUID_SIZE} bytes, not {len(content)}")
    return base64.urlsafe_b64encode(content).decode("ascii").rstrip("=")


def uuid_bytes(text: str) -> bytes:
    """Parse Kafka's text form of a UUID.

    Raises:
        ValueError: the text is not the base64url form of 16 bytes.
    """
    if _TEXT.fullmatch(text) is None:
        raise ValueError(f"expected 22 characters of base64url, found {text[:40]!r}")
    try:
        return base64.urlsafe_b64decode(text[:22] + "==")
    except binascii.Error as error:
        raise ValueError(f"not base64url: {text!r}") from error
