"""Parses a PATH argument: a path, ``N=PATH``, ``NAME=PATH``, a glob, or a ``file:`` URL.

A path that is an archive, or leads through one, becomes the path of its unpacked folder.
"""

from __future__ import annotations

import glob
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from kafkalog_reader.errors import LogLayoutError
from kafkalog_reader.io.foreign_file import READ_ARCHIVES
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.io.archive import Archive
    from kafkalog_reader.io.read_context import ReadContext

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
        archives: those that the paths lead into.
    """

    text: str
    paths: tuple[str, ...]
    broker_id: int | None = None
    broker_label: str | None = None
    archives: tuple[Archive, ...] = ()


def parse_path_arguments(arguments: Sequence[str], context: ReadContext) -> Iterator[PathArgument]:
    """Yield the parsed arguments, with archives unpacked.

    Raises:
        LogLayoutError: a path does not exist, a pattern matches nothing, or the path is in a store
            that is not supported.
        UnreadableFileError: an archive is damaged or hostile, or there is no space for it.
    """
    for text in arguments:
        if "\0" in text or not text:
            raise LogLayoutError(f"{shown(text)!r}: not a path")
        name, path = (None, text) if os.path.lexists(text) else _take_apart(text)
        is_number = name is not None and _NUMBER.fullmatch(name) is not None
        if is_number and not 0 <= int(name or "") <= MAX_NODE_ID:
            raise LogLayoutError(f"{shown(text)}: a node id is 0 to {MAX_NODE_ID}")
        archives: list[Archive] = []
        paths = _expanded(_local(path), context, archives)
        yield PathArgument(
            text=text,
            paths=paths,
            archives=tuple(archives),
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


def local_path(path: str, context: ReadContext) -> str:
    """The path of one file as it is; inside of an archive, where it was unpacked.

    Raises:
        LogLayoutError: the archive has no such member.
        UnreadableFileError: the archive is damaged or hostile, or there is no space for it.
    """
    found = _split_at_archive(path)
    return path if found is None or not found[1] else _inside(path, *found, context, [])[0]


def _expanded(path: str, context: ReadContext, archives: list[Archive]) -> tuple[str, ...]:
    """The existing paths that a path or pattern names; add the archives that they lead into."""
    path = path.rstrip("/") or "/"
    found = _split_at_archive(path)
    if found is not None:
        return _inside(path, *found, context, archives)
    return tuple(
        each
        for match in _matches(path)
        for each in (
            (match,)
            if _split_at_archive(match) is None
            else _inside(match, match, "", context, archives)
        )
    )


def _split_at_archive(path: str) -> tuple[str, str] | None:
    """The archive that a path names or leads through, and the rest; None if there is none."""
    end = len(path)
    while end > 0:
        archive = path[:end]
        if archive.endswith(READ_ARCHIVES) and os.path.isfile(archive):
            return archive, path[end:].strip("/")
        end = path.rfind("/", 0, end)
    return None


def _inside(
    path: str, archive: str, rest: str, context: ReadContext, archives: list[Archive]
) -> tuple[str, ...]:
    from kafkalog_reader.io.archive import unpacked  # loads tarfile and zipfile

    found = unpacked(archive, context.rate)
    archives.append(found)
    if not rest:
        return (found.folder,)
    if ".." in rest.split("/"):
        raise LogLayoutError(f"{shown(path)}: a path inside an archive cannot have ..")
    inside = os.path.join(found.folder, rest)
    if os.path.lexists(inside):
        return (inside,)
    if has_magic(rest):
        return _matches(os.path.join(glob.escape(found.folder), rest), named=path)
    raise LogLayoutError(f"{shown(path)}: the archive has no such member")


def _matches(path: str, *, named: str | None = None) -> tuple[str, ...]:
    if os.path.lexists(path):
        return (path,)
    if not has_magic(path):
        raise LogLayoutError(f"{shown(path)}: no such file or directory")
    found = {match for pattern in _without_braces(path) for match in glob.glob(pattern)}
    if not found:
        raise LogLayoutError(f"{shown(named or path)}: nothing matches this pattern")
    return tuple(sorted(found))


def _without_braces(pattern: str) -> Iterator[str]:
    braces = _BRACES.search(pattern)
    if braces is None:
        yield pattern
        return
    for choice in braces[1].split(","):
        yield from _without_braces(pattern[: braces.start()] + choice + pattern[braces.end() :])
