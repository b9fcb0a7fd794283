"""Parses a PATH argument: a path, ``N=PATH``, ``NAME=PATH``, a glob, or a URI.

A path that is an archive, or leads through one, becomes the path of its unpacked folder. A URI
becomes the path of the folder that has the names of the store's objects.
"""

from __future__ import annotations

import glob
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from kafkalog_reader.errors import LogLayoutError
from kafkalog_reader.io.foreign_file import READ_ARCHIVES
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.object_uri import parse_object_uri
from kafkalog_reader.io.patterns import has_magic, without_braces

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.io.private_folder import Source
    from kafkalog_reader.io.read_context import ReadContext

_NAMED: Final = re.compile(r"([^=/]+)=(.+)", re.DOTALL)
_NUMBER: Final = re.compile(r"[+-]?[0-9]+")
_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:/")
_FILE_SCHEME: Final = re.compile(r"file:(?=/)", re.IGNORECASE)
MAX_NODE_ID: Final = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PathArgument:
    """One argument, with its glob expanded.

    Attributes:
        text: as typed, for messages.
        paths: the paths that it names, in name order.
        broker_id: N of ``N=PATH``.
        broker_label: NAME of ``NAME=PATH``.
        sources: the archives and object stores that the paths lead into.
    """

    text: str
    paths: tuple[str, ...]
    broker_id: int | None = None
    broker_label: str | None = None
    sources: tuple[Source, ...] = ()


def parse_path_arguments(arguments: Sequence[str], context: ReadContext) -> Iterator[PathArgument]:
    """Yield the parsed arguments, with archives unpacked.

    Raises:
        LogLayoutError: a path does not exist, a pattern matches nothing, or a URI is of a store
            that is not supported, or holds credentials.
        UnreadableFileError: an archive is damaged or hostile, there is no space for it, or a store
            failed.
    """
    for text in arguments:
        if "\0" in text or not text:
            raise LogLayoutError(f"{shown(text)!r}: not a path")
        name, path = (None, text) if os.path.lexists(text) else _take_apart(text)
        is_number = name is not None and _NUMBER.fullmatch(name) is not None
        if is_number and not 0 <= int(name or "") <= MAX_NODE_ID:
            raise LogLayoutError(f"{shown(text)}: a node id is 0 to {MAX_NODE_ID}")
        sources: list[Source] = []
        paths = _expanded(_local(path, sources), context, sources)
        yield PathArgument(
            text=text,
            paths=paths,
            sources=tuple(sources),
            broker_id=int(name or "") if is_number else None,
            broker_label=None if is_number else name,
        )


def absolute_argument(text: str) -> str:
    """The same argument for other processes and later, when the working directory is another one.

    Raises:
        LogLayoutError: a URI holds credentials, or cannot be a path.
    """
    if not text or "\0" in text:
        return text  # ``parse_path_arguments`` says what is wrong with it
    name, path = (None, text) if os.path.lexists(text) else _take_apart(text)
    if _SCHEME.match(path):
        parse_object_uri(path)
        return text
    here = str(Path.cwd())
    if has_magic(path) and not os.path.lexists(path):
        here = glob.escape(here)
    return ("" if name is None else f"{name}=") + str(Path(here, path))


def _take_apart(text: str) -> tuple[str | None, str]:
    match = _NAMED.fullmatch(text)
    return (None, text) if match is None else (match[1], match[2])


def _local(path: str, sources: list[Source]) -> str:
    """The local path or pattern of a URI; add the store that it leads into."""
    file_scheme = _FILE_SCHEME.match(path)
    if file_scheme is not None:
        return unquote("/" + path[file_scheme.end() :].lstrip("/"))
    uri = parse_object_uri(path)
    if uri is None:
        return path
    from kafkalog_reader.io.object_store import listed_store  # connects with pyarrow

    store = listed_store(uri)
    sources.append(store)
    tree = glob.escape(store.tree) if has_magic(uri.key) else store.tree
    return os.path.join(tree, uri.key)


def local_path(path: str, context: ReadContext) -> str:
    """Where one file is: as given, or where it is unpacked or stands for an object.

    Raises:
        LogLayoutError: the archive has no such member, the store no such object.
        UnreadableFileError: the archive is damaged or hostile, there is no space for it, or the
            store failed.
    """
    if not os.path.lexists(path):
        path = _local(path, [])
    found = _split_at_archive(path)
    return path if found is None or not found[1] else _inside(path, *found, context, [])[0]


def _expanded(path: str, context: ReadContext, sources: list[Source]) -> tuple[str, ...]:
    """The existing paths that a path or pattern names; add the archives that they lead into."""
    path = path.rstrip("/") or "/"
    found = _split_at_archive(path)
    if found is not None:
        return _inside(path, *found, context, sources)
    return tuple(
        each
        for match in _matches(path)
        for each in (
            (match,)
            if _split_at_archive(match) is None
            else _inside(match, match, "", context, sources)
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
    path: str, archive: str, rest: str, context: ReadContext, sources: list[Source]
) -> tuple[str, ...]:
    from kafkalog_reader.io.archive import unpacked  # loads tarfile and zipfile

    found = unpacked(archive, context.rate)
    sources.append(found)
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
    found = {match for pattern in without_braces(path) for match in glob.glob(pattern)}
    if not found:
        raise LogLayoutError(f"{shown(named or path)}: nothing matches this pattern")
    return tuple(sorted(found))
