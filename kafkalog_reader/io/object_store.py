"""Object stores as paths: a private folder has their names, sizes and times, but no content.

The files of that folder are holes. ``io/window.py``, which reads every byte of a log, fetches what
is read of them (``io/object_file.py``), so everything else works as on a disk. Within a process a
store has one folder, which each new listing brings up to date.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import LogLayoutError, LogPosition, UnreadableFileError, show_as, shown
from kafkalog_reader.io.foreign_file import READ_ARCHIVES
from kafkalog_reader.io.names import parse_directory_name
from kafkalog_reader.io.object_file import joined, stands_for
from kafkalog_reader.io.object_listing import exists, is_file, is_log_directory, listed
from kafkalog_reader.io.patterns import has_magic
from kafkalog_reader.io.private_folder import base_folder, hold
from kafkalog_reader.io.store_calls import connected

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.object_listing import Objects
    from kafkalog_reader.io.object_uri import ObjectUri
    from kafkalog_reader.io.read_rate import ReadRate

_TOKEN: Final = secrets.token_hex(8)
"""Of the process that plans: two commands may list the same store at different times."""
_TREE: Final = "tree"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectStore:
    """What was listed below one key, and the folder with it.

    A process that unpickles it, such as a worker of Spark, lists it again where the folder is
    missing or older.

    Attributes:
        root, query: of the URI; see ``ObjectUri``.
        prefix: the key below which everything is in the folder.
        home: the folder of the folder and its marker.
        listed_at_ns: since 1970.
    """

    root: str
    query: str
    prefix: str
    home: str
    listed_at_ns: int

    @property
    def shown_as(self) -> str:
        return f"{self.root}/{self.prefix}{self.query}"

    @property
    def written_at_ns(self) -> None:
        """Each object has a time of its own."""

    @property
    def tree(self) -> str:
        """The folder that stands for the root."""
        return os.path.join(self.home, _TREE)

    def fill(self, rate: ReadRate | None) -> None:
        """Create the empty folder; ``_update`` lists."""
        Path(self.tree).mkdir(mode=0o700, parents=True)

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (self.root, self.query, self.prefix, self.home, self.listed_at_ns)


def _restored(root: str, query: str, prefix: str, home: str, listed_at_ns: int) -> ObjectStore:
    store = ObjectStore(root=root, query=query, prefix=prefix, home=home, listed_at_ns=listed_at_ns)
    _hold(store)
    return store


def listed_store(uri: ObjectUri) -> ObjectStore:
    """List what a URI names, and what reading it needs beside it, into its private folder.

    Raises:
        LogLayoutError: there is nothing of this name, or a name cannot be a path.
        UnreadableFileError: the store does not answer, or refuses.
    """
    try:
        base = base_folder()
    except OSError as error:
        where = LogPosition(shown(f"{uri.root}/{uri.key}{uri.query}"))
        raise UnreadableFileError(str(error.strerror or error), where) from error
    words = (_TOKEN, os.getpid(), uri.root, uri.query)
    name = hashlib.sha256(repr(words).encode("utf-8", "surrogateescape")).hexdigest()[:20]
    store = ObjectStore(
        root=uri.root, query=uri.query, prefix=_prefix(uri), home=os.path.join(base, name),
        listed_at_ns=time.time_ns(),
    )  # fmt: skip
    _hold(store)
    return store


def _prefix(uri: ObjectUri) -> str:
    """The key to list: a log directory, if the URI names a part of one."""
    files, bucket = connected(f"{uri.root}/{uri.query}")
    literal = uri.key.split("/")
    while any(has_magic(part) for part in literal):
        literal.pop()
    for end, part in enumerate(literal, 1):
        if part.endswith(READ_ARCHIVES):  # the rest is in the archive, if it is one
            literal = literal[:end]
            break
    prefix = "/".join(literal)
    where = f"{uri.root}/{prefix}{uri.query}"
    if not exists(files, joined(bucket, prefix), where):
        raise LogLayoutError(f"{shown(where)}: no such object or folder")
    if prefix and is_file(files, joined(bucket, prefix), where):
        if prefix.endswith(READ_ARCHIVES):
            return prefix
        prefix = os.path.dirname(prefix)
    parent, _, name = prefix.rpartition("/")
    if parse_directory_name(name) is not None:
        where = f"{uri.root}/{parent}{uri.query}"
        if is_log_directory(files, joined(bucket, parent), where):
            return parent
    return prefix


def _hold(store: ObjectStore) -> None:
    hold(store)
    stands_for(store.tree, store.root, store.query)
    show_as(store.tree, store.root, store.query)
    name = hashlib.sha256(store.prefix.encode("utf-8", "surrogateescape")).hexdigest()[:20]
    marker = Path(store.home, f"listed-{name}")
    with _locked(store):
        if marker.exists() and int(marker.read_text()) >= store.listed_at_ns:
            return
        files, bucket = connected(f"{store.root}/{store.query}")
        objects = listed(files, joined(bucket, store.prefix), store.shown_as)
        try:
            _update(Path(store.tree, store.prefix), objects)
        except (OSError, ValueError) as error:
            raise UnreadableFileError(
                f"cannot be listed into {store.home}: {error}", LogPosition(shown(store.shown_as))
            ) from error
        marker.write_text(str(store.listed_at_ns))


@contextmanager
def _locked(store: ObjectStore) -> Iterator[None]:
    with Path(store.home, "listing").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _update(folder: Path, objects: Objects) -> None:
    """Make a folder hold these names, sizes and times, and no others."""
    if "" in objects.files:  # one object, not a folder
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _set(str(folder), *objects.files[""])
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    wanted = {*objects.files, *objects.folders}
    for place, folders, files in os.walk(folder, topdown=True):
        inside = os.path.relpath(place, folder)
        for name in (*folders, *files):
            path = name if inside == "." else f"{inside}/{name}"
            is_folder = name in folders
            if path not in wanted or is_folder == (path in objects.files):
                shutil.rmtree(folder / path) if is_folder else (folder / path).unlink()
        folders[:] = [name for name in folders if os.path.lexists(os.path.join(place, name))]
    for name in sorted(objects.folders):
        (folder / name).mkdir(mode=0o700, exist_ok=True)
    for name, (size, modified_at_ns) in objects.files.items():
        _set(os.path.join(folder, name), size, modified_at_ns)


def _set(path: str, size: int, modified_at_ns: int) -> None:
    try:
        found = os.lstat(path)
        if (found.st_size, found.st_mtime_ns) == (size, modified_at_ns):
            return
    except FileNotFoundError:
        pass
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.ftruncate(descriptor, size)
        os.utime(descriptor, ns=(modified_at_ns, modified_at_ns))
    finally:
        os.close(descriptor)
