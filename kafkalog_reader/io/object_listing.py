"""Lists the objects below a key: folder by folder until there is work for many threads, then flat.

A flat listing returns 1,000 keys an answer, one after another. So a store is listed folder by
folder down to where there are several, and those at once; a folder of thousands of folders, such as
a log directory, costs fewer answers if it is listed flat. Google's store is always listed flat.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import LogLayoutError, UnreadableFileError, shown
from kafkalog_reader.io.names import BOOTSTRAP_CHECKPOINT, META_PROPERTIES, OFFSET_CHECKPOINTS
from kafkalog_reader.io.store_calls import tried

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyarrow.fs import FileInfo, FileSystem

_AT_ONCE: Final = 16
_ENOUGH: Final = 8
"""Folders that are listed flat at once, each by one thread."""
_TOO_MANY: Final = 64
"""Folders that are listed flat together, with the folder that they are in."""
_FLAT_ONLY: Final = "gcs"
"""For one folder, pyarrow's store of this type returns no folders for which there is no object."""
_MAX_OBJECTS: Final = 3_000_000
_MAX_SIZE: Final = 1 << 50
_LOG_DIRECTORY_FILES: Final = frozenset(
    {META_PROPERTIES, BOOTSTRAP_CHECKPOINT, *OFFSET_CHECKPOINTS}
)


@dataclass(slots=True)
class Objects:
    """What is below a key, by paths relative to it.

    Attributes:
        files: size in bytes, and time of modification in nanoseconds since 1970.
        folders: also those that no object stands for.
    """

    files: dict[str, tuple[int, int]] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)


def exists(files: FileSystem, path: str, uri: str) -> bool:
    """Whether there is an object of this name, or one below it."""
    from pyarrow.fs import FileType

    found = tried(lambda: files.get_file_info(path), shown(uri))
    return bool(found.type != FileType.NotFound)


def is_file(files: FileSystem, path: str, uri: str) -> bool:
    """Whether there is an object of this name."""
    return bool(tried(lambda: files.get_file_info(path), shown(uri)).is_file)


def is_log_directory(files: FileSystem, path: str, uri: str) -> bool:
    """Whether a folder holds files that a broker writes into its log directories.

    It is not if it cannot be listed: access may be limited to what is below.
    """
    try:
        found = _children(files, path, uri, recursive=False)
    except UnreadableFileError:
        return False
    return any(each.is_file and each.base_name in _LOG_DIRECTORY_FILES for each in found)


def listed(files: FileSystem, path: str, uri: str) -> Objects:
    """Everything below a path of a store, listed in parallel.

    Args:
        files: the store.
        path: in it.
        uri: of the path, for messages.

    Raises:
        LogLayoutError: a key cannot be a path, or there are too many.
        UnreadableFileError: the store failed.
    """
    found: list[FileInfo] = []
    itself = tried(lambda: files.get_file_info(path), shown(uri))
    if itself.is_file:
        return _checked([itself], path, uri)
    if files.type_name == _FLAT_ONLY:
        return _checked(_children(files, path, uri, recursive=True), path, uri)
    with ThreadPoolExecutor(_AT_ONCE, "kafkalog-list") as threads:

        def each(paths: Sequence[str], *, recursive: bool) -> list[FileInfo]:
            work = partial(_children, files, uri=uri, recursive=recursive)
            return [entry for entries in threads.map(work, paths) for entry in entries]

        level = [path]
        while True:
            entries = each(level, recursive=False)
            inner = [entry.path for entry in entries if not entry.is_file]
            if len(inner) > _TOO_MANY:  # and what was listed of this level is listed again
                found += each(level, recursive=True)
                break
            found += entries
            if len(inner) >= _ENOUGH or not inner:
                found += each(inner, recursive=True)
                break
            level = inner
    return _checked(found, path, uri)


def _children(files: FileSystem, path: str, uri: str, *, recursive: bool) -> list[FileInfo]:
    from pyarrow.fs import FileSelector

    selector = FileSelector(path, allow_not_found=True, recursive=recursive)
    return list(tried(lambda: files.get_file_info(selector), shown(uri)))


def _checked(entries: Sequence[FileInfo], path: str, uri: str) -> Objects:
    if len(entries) > _MAX_OBJECTS:
        raise LogLayoutError(f"{shown(uri)}: more than {_MAX_OBJECTS:,} objects")
    start = len(path.rstrip("/")) + 1 if path else 0
    objects = Objects()
    for entry in entries:
        name = entry.path[start:].rstrip("/")
        if not name and entry.is_file:
            return Objects(files={"": _size_and_time(entry, uri)})
        parts = name.split("/")
        if any(not part or part in (".", "..") or "\0" in part for part in parts):
            raise LogLayoutError(f"{shown(uri)}: the key {shown(entry.path)!r} cannot be a path")
        if entry.is_file:
            objects.files[name] = _size_and_time(entry, uri)
            parts.pop()
        objects.folders.update("/".join(parts[:end]) for end in range(1, len(parts) + 1))
    for name in objects.folders.intersection(objects.files):
        if objects.files.pop(name)[0]:  # an empty one stands for a folder, as some programs do it
            raise LogLayoutError(f"{shown(uri)}: {shown(name)} is an object and a folder")
    return objects


def _size_and_time(entry: FileInfo, uri: str) -> tuple[int, int]:
    size = entry.size or 0
    if not 0 <= size <= _MAX_SIZE:
        raise LogLayoutError(f"{shown(uri)}: {shown(entry.path)} has {size} bytes")
    return size, max(0, entry.mtime_ns or 0)
