"""Seeds: single files of real brokers, cut to a size that is quick to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fixtures import captures
from fixtures.builder.compression import compress
from kafkalog_reader.format.compression import Codec
from tests.fuzz.targets import DIRECTORY_FILES, PARTITION_FILES

if TYPE_CHECKING:
    from pathlib import Path

MAX_SIZE: Final = 16 << 10
MAX: Final = 60
"""Maximum number of seeds per target, because neighbouring files of a capture are similar."""

_TEXTS: Final = frozenset(PARTITION_FILES[-2:]) | frozenset(DIRECTORY_FILES)


def seeds(target: str) -> list[bytes]:
    """The seeds of a target, always the same in the same order."""
    if target == "payloads":
        contents = [b"", b"a" * 3000, bytes(range(256)) * 40]
        found = {
            bytes([codec - 1]) + compress(codec, content)
            for codec in Codec
            if codec.value
            for content in contents
        }
    elif target == "starts":
        found = {bytes([number]) for number in range(MAX)}
    elif target == "discovery":
        found = {name for path in _files() for name in (path.name.encode(), str(path).encode())}
    elif target == "texts":
        found = {path.read_bytes() for path in _files() if path.name in _TEXTS}
    elif target == "entries":
        found = set()
        for path in _files():
            if path.suffix in (".index", ".timeindex", ".txnindex", ".snapshot"):
                content = path.read_bytes()
                found |= {content[:size] for size in (4, 8, 12, 34, MAX_SIZE)}
    elif target in ("directories", "commands"):
        found = {_as_one(path.parent) for path in _files() if path.suffix == ".log"}
    else:
        found = {path.read_bytes()[:MAX_SIZE] for path in _files() if path.suffix == ".log"}
    chosen = sorted(found - {b""}, key=lambda seed: (len(seed), seed))
    return chosen[:: max(1, len(chosen) // MAX)] or [b""]


def _as_one(directory: Path) -> bytes:
    """All files of a partition and its log directory, each with its length before it."""
    paths = [directory / name for name in PARTITION_FILES]
    paths += [directory.parent / name for name in DIRECTORY_FILES]
    contents = [path.read_bytes()[:MAX_SIZE] if path.is_file() else b"" for path in paths]
    return b"".join(len(content).to_bytes(4, "big") + content for content in contents)


def _files() -> list[Path]:
    found = (path for name in captures.names() for path in captures.path(name).rglob("*"))
    return sorted(path for path in found if path.is_file())
