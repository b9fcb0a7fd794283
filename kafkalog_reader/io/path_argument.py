"""Parses a PATH argument: a path, ``N=PATH``, ``NAME=PATH``, a glob, or a ``file:`` URL."""

from __future__ import annotations

import glob
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from kafkalog_reader.errors import LogLayoutError
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NAMED: Final = re.compile(r"([^=/]+)=(.+)", re.DOTALL)
_NUMBER: Final = re.compile(r"[+-]?[0-9]+")
_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]+):/")
_BRACES: Final = re.compile(r"\{([^{}]*,[^{}]*)\}")
MAX_NODE_ID: Final = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PathArgument:
    """One argument, with its glob expanded.

    Attributes:
        text: as typed, for messages.
        paths: the paths that it names, in name order.
        broker_id: N of ``N=PATH``.
        broker_label: NAME of ``NAME=PATH``.
    """

    text: str
    paths: tuple[str, ...]
    broker_id: int | None = None
    broker_label: str | None = None


def parse_path_arguments(arguments: Sequence[str]) -> Iterator[PathArgument]:
    """Yield the parsed arguments.

    Raises:
        LogLayoutError: a path does not exist, a pattern matches nothing, or the path is in a store
            that is not supported.
    """
    for text in arguments:
        if "\0" in text or not text:
            raise LogLayoutError(f"{shown(text)!r}: not a path")
        name, path = (None, text) if os.path.lexists(text) else _take_apart(text)
        is_number = name is not None and _NUMBER.fullmatch(name) is not None
        if is_number and not 0 <= int(name or "") <= MAX_NODE_ID:
            raise LogLayoutError(f"{shown(text)}: a node id is 0 to {MAX_NODE_ID}")
        yield PathArgument(
            text=text,
            paths=_expanded(_local(path)),
            broker_id=int(name or "") if is_number else None,
            broker_label=None if is_number else name,
        )


def has_magic(text: str) -> bool:
    """Whether the text is a pattern, as Spark and shells understand it."""
    return glob.has_magic(text) or _BRACES.search(text) is not None


def _take_apart(text: str) -> tuple[str | None, str]:
    match = _NAMED.fullmatch(text)
    return (None, text) if match is None else (match[1], match[2])


def _local(path: str) -> str:
    scheme = _SCHEME.match(path)
    if scheme is None:
        return path
    if scheme[1].lower() != "file":
        raise LogLayoutError(f"{shown(path)}: only local paths are read, not {scheme[1]}:")
    local = path[len("file:") :]
    return unquote("/" + local.lstrip("/"))


def _expanded(path: str) -> tuple[str, ...]:
    path = path.rstrip("/") or "/"
    if os.path.lexists(path):
        return (path,)
    if not has_magic(path):
        raise LogLayoutError(f"{shown(path)}: no such file or directory")
    found = {match for pattern in _without_braces(path) for match in glob.glob(pattern)}
    if not found:
        raise LogLayoutError(f"{shown(path)}: nothing matches this pattern")
    return tuple(sorted(found))


def _without_braces(pattern: str) -> Iterator[str]:
    braces = _BRACES.search(pattern)
    if braces is None:
        yield pattern
        return
    for choice in braces[1].split(","):
        yield from _without_braces(pattern[: braces.start()] + choice + pattern[braces.end() :])
