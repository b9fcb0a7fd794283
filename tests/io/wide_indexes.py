"""A real capture whose offset indexes have entries of 12 bytes (KIP-1333)."""

from __future__ import annotations

import shutil
import struct
from typing import TYPE_CHECKING

from fixtures import captures

if TYPE_CHECKING:
    from pathlib import Path

EVERYTHING = captures.path("everything/stopped")


def widened(root: Path) -> Path:
    """A copy of the capture with each entry of its indexes rewritten as one of 12 bytes."""
    shutil.copytree(EVERYTHING, root)
    for index in root.rglob("*.index"):
        entries = struct.iter_unpack(">ii", index.read_bytes())
        index.write_bytes(b"".join(struct.pack(">iq", *entry) for entry in entries))
    return root
