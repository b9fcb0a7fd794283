"""What was listed or read once is not asked for again while one partition is looked at.

An audit puts dozens of questions to the same few small files and folders. Within ``one_look`` each
is listed or read once, so that all answers are about the same state, also where a broker runs.
Outside of it, and in other threads, everything is read each time.
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
"""Entries of a folder that are kept; a larger one is listed again."""

_seen: ContextVar[dict[Hashable, Any] | None] = ContextVar("_seen", default=None)


@contextmanager
def one_look() -> Iterator[None]:
    """Keep what is listed and read until the end of the block; inside of another one, until its."""
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
    """Within it nothing that was kept is used, and nothing is kept."""
    token = _seen.set(None)
    try:
        yield
    finally:
        _seen.reset(token)


def once(key: Hashable, read: Callable[[], _T], keep: Callable[[_T], bool] | None = None) -> _T:
    """What ``read`` returns; within one look the same for the same key. Errors are not kept.

    Args:
        key: names the question; begins with a word of its own.
        read: answers it.
        keep: whether an answer is small enough to be kept; by default all are.
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
    """The entries of a folder in no order, with the status that is known of them.

    Raises:
        OSError: it cannot be listed.
    """
    return once(("entries", path), lambda: _listed(path), lambda found: len(found) <= _MAX_LISTED)


def _listed(path: str) -> Sequence[os.DirEntry[str]]:
    with os.scandir(path) as found:
        return tuple(found)
