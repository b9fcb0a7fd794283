"""Reads ranges of objects, ahead of a reader that reads in order, into a small cache.

An answer that is shorter than it should be is noticed by its last byte: ``pyarrow`` returns memory
that nobody wrote as if it were the object's.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.errors import LogPosition, UnreadableFileError, shown
from kafkalog_reader.io.store_calls import connected, tried

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

BLOCK: Final = 1 << 20
"""Bytes; what is read of an object is rounded to blocks."""
_LARGEST_REQUEST: Final = 4 << 20
_AHEAD: Final = 8 << 20
"""Bytes that are fetched before a reader in order needs them."""
_CACHE: Final = 96 << 20
"""Bytes of all objects that the process keeps."""
_AT_ONCE: Final = 16
"""Requests under way."""
_MARKS: Final = (0x5A, 0xA5)
"""A last byte that is one of them after a read, and the other one after a second, is missing."""
_ANSWER_WITHIN_SECONDS: Final = 300
"""A store without limits of its own: nothing waits longer."""


_trees: dict[str, tuple[str, str]] = {}
"""Folders of stores that this process needs, with the root of their URIs and its query."""


def stands_for(tree: str, root: str, query: str) -> None:
    """From now on, the files below a folder are the objects below the root of a URI."""
    _trees[tree] = (root, query)


def is_object(path: str) -> bool:
    """Whether a file has no content of its own, but stands for an object."""
    return any(path.startswith(f"{tree}/") for tree in _trees)


def object_at(path: str, size: int, version: object) -> ObjectFile | None:
    """The object that a file stands for; None for a file with content.

    Args:
        path: of the file.
        size: in bytes.
        version: changes when the file does.
    """
    for tree, (root, query) in _trees.items():
        if path.startswith(f"{tree}/"):
            files, bucket = connected(f"{root}/{query}")
            key = joined(bucket, path[len(tree) + 1 :])
            return ObjectFile(files, key, name=shown(path), size=size, version=version)
    return None


def joined(bucket: str, key: str) -> str:
    """The path of a key in a file system of ``pyarrow``."""
    return f"{bucket.rstrip('/')}/{key}" if key and bucket else bucket or key


class _Request:
    """One range that is being fetched, or was."""

    def __init__(self, start: int, stop: int) -> None:
        self.start, self.stop = start, stop
        self.content: Future[memoryview] = Future()


class _Cache:
    """The ranges that were fetched last."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.free = threading.Semaphore(_AT_ONCE)
        self._blocks: dict[tuple[Any, int], _Request] = {}
        self._requests: OrderedDict[_Request, Any] = OrderedDict()
        self._size = 0

    def find(self, key: object, block: int) -> _Request | None:
        found = self._blocks.get((key, block))
        if found is not None:
            self._requests.move_to_end(found)
        return found

    def add(self, key: object, request: _Request) -> None:
        for block in range(request.start // BLOCK, -(-request.stop // BLOCK)):
            self._blocks[key, block] = request
        self._requests[request] = key
        self._size += request.stop - request.start
        while self._size > _CACHE and next(iter(self._requests)).content.done():
            self.drop(next(iter(self._requests)))

    def drop(self, request: _Request) -> None:
        key = self._requests.pop(request, None)
        if key is None:
            return
        self._size -= request.stop - request.start
        for block in range(request.start // BLOCK, -(-request.stop // BLOCK)):
            self._blocks.pop((key, block), None)


_caches: dict[int, _Cache] = {}


def _cache() -> _Cache:
    """The cache of this process; a fork has neither the threads nor the locks of its parent."""
    return _caches.setdefault(os.getpid(), _Cache())


class ObjectFile:
    """One object, read like a file.

    Args:
        store, key: where it is.
        name: for messages.
        size: in bytes, as it was listed.
        version: changes when the object does.
    """

    def __init__(
        self, store: FileSystem, key: str, *, name: str, size: int, version: object
    ) -> None:
        self._store = store
        self._key = key
        self._name = name
        self._size = size
        self._id = (id(store), key, size, version)
        self._opened: list[Any] = []
        self._next = 0

    def read_into(self, target: memoryview, position: int, stop: int) -> int:
        """Fill the target from this position on; return how many bytes there are.

        Args:
            target: of bytes.
            position: in the object.
            stop: nothing is read ahead from here on.

        Raises:
            UnreadableFileError: the store failed, or the object is shorter than it was.
        """
        end = min(position + len(target), self._size)
        if end <= position:
            return 0
        in_order = len(target) >= BLOCK or 0 < position <= self._next <= end
        self._next = end
        ahead = min(max(stop, end), end + _AHEAD, self._size) if in_order else end
        needed = self._requested(position, end, ahead)
        at = position
        for request in needed:
            content = self._content(request)
            part = content[at - request.start : end - request.start]
            target[at - position : at - position + len(part)] = part
            at += len(part)
        return at - position

    def _requested(self, start: int, end: int, ahead: int) -> list[_Request]:
        """The requests that hold a range, in order; begin those, and those ahead, that lack."""
        cache = _cache()
        needed: list[_Request] = []
        begun: list[_Request] = []
        with cache.lock:
            at = start - start % BLOCK
            while at < ahead:
                found = cache.find(self._id, at // BLOCK)
                if found is None:
                    stop = at + BLOCK
                    while (
                        stop < ahead
                        and stop - at < _LARGEST_REQUEST
                        and cache.find(self._id, stop // BLOCK) is None
                    ):
                        stop += BLOCK
                    found = _Request(at, min(stop, self._size))
                    cache.add(self._id, found)
                    begun.append(found)
                if at < end:
                    needed.append(found)
                at = found.stop + -found.stop % BLOCK
        for request in begun:
            threading.Thread(target=self._fetch, args=(request, cache), daemon=True).start()
        return needed

    def _content(self, request: _Request) -> memoryview:
        try:
            return request.content.result(_ANSWER_WITHIN_SECONDS)
        except TimeoutError as error:
            problem = f"the store has not answered for {_ANSWER_WITHIN_SECONDS} s"
            raise UnreadableFileError(problem, LogPosition(self._name, request.start)) from error

    def _fetch(self, request: _Request, cache: _Cache) -> None:
        try:
            with cache.free:
                content = tried(lambda: self._read(request), self._name, request.start)
            request.content.set_result(content)
        except BaseException as error:
            with cache.lock:
                cache.drop(request)  # a later reader tries again
            request.content.set_exception(error)

    def _read(self, request: _Request) -> memoryview:
        try:
            return self._read_once(request)
        except ValueError as error:  # Google's stream is closed when its first answer fails
            raise OSError(f"the store's answer failed: {error}") from error

    def _read_once(self, request: _Request) -> memoryview:
        opened = self._opened.pop() if self._opened else self._open()
        buffer = bytearray(request.stop - request.start)
        for mark in _MARKS:
            buffer[-1] = mark
            opened.seek(request.start)
            if opened.readinto(buffer) == len(buffer) and buffer[-1] != mark:
                self._opened.append(opened)
                return memoryview(buffer).toreadonly()
        raise OSError("the store's answer is shorter than the range that was requested")

    def _open(self) -> Any:  # noqa: ANN401  pyarrow.NativeFile
        opened = self._store.open_input_file(self._key)
        size = opened.size()
        if size < self._size:
            raise UnreadableFileError(
                f"the object ends here, but had {self._size:,} bytes when it was listed",
                LogPosition(shown(self._name), size),
            )
        return opened
