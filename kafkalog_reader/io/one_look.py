"""Caches what was listed or read while one partition is examined.

An audit needs the same few small files and folders dozens of times. Within ``one_look`` each is
listed or read once, so that all results are from the same state, even if the broker runs. Outside
of it, and in other threads, everything is read each time.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

_T = TypeVar("_T")

_MAX_LISTED: Final = 10_000
"""Maximum entries of a folder that is cached; a larger one is listed again."""

_seen: ContextVar[dict[Hashable, Any] | None] = ContextVar("_seen", default=None)


@contextmanager
def one_look() -> Iterator[None]:
    """Cache what is listed and read until the end of the block, or of the outer block."""
    if _seen.get() is not None:
        yield
        return
    token = _seen.set({})
    try:
        yield
    finally:
        _seen.reset(token)


@contextmanager
def look_again() -> Iterator[None]:
    """Neither use nor fill the cache within the block."""
    token = _seen.set(None)
    try:
        yield
    finally:
        _seen.reset(token)


def once(key: Hashable, read: Callable[[], _T], keep: Callable[[_T], bool] | None = None) -> _T:
    """What ``read`` returns, cached by key within ``one_look``. Errors are not cached.

    Args:
        key: of the result; its first item distinguishes kinds of results.
        read: computes the result.
        keep: whether a result is small enough to cache; by default all are.
    """
    seen = _seen.get()
    if seen is None:
        return read()
    if key in seen:
        kept: _T = seen[key]
        return kept
    answer = read()
    if keep is None or keep(answer):
        seen[key] = answer
    return answer


def entries(path: str) -> Sequence[os.DirEntry[str]]:
    """The entries of a folder, unordered, with their status as far as known.

    Raises:
        OSError: it cannot be listed.
    """
    return once(("entries", path), lambda: _listed(path), lambda found: len(found) <= _MAX_LISTED)


def _listed(path: str) -> Sequence[os.DirEntry[str]]:
    with os.scandir(path) as found:
        return tuple(found)
