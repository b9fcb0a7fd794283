"""How the files of one question are read: said once, where it is asked, and handed on."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from kafkalog_reader.format.decompression_limit import DEFAULT_LIMITS, Limits
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Hashable, Sequence

    from kafkalog_reader.io.private_folder import Source
    from kafkalog_reader.io.read_rate import ReadRate
    from kafkalog_reader.io.threads import Threads

_T = TypeVar("_T")

_MAX_LISTED: Final = 10_000
"""Maximum entries of a folder that is remembered; a larger one is listed again."""
_MAX_SAID: Final = 10_000
"""Warnings that are remembered, so that they are not repeated."""
_UNKNOWN: Final[Any] = object()


class Look:
    """What was listed and read; travels in a ``ReadContext`` and is empty once it has ended."""

    def __init__(self) -> None:
        self._seen: dict[Hashable, Any] | None = {}

    @property
    def is_over(self) -> bool:
        return self._seen is None

    def once(self, key: Hashable, read: Callable[[], _T], keep: Callable[[_T], bool]) -> _T:
        """What ``read`` returns; see ``ReadContext.once``."""
        seen = self._seen
        if seen is None:
            return read()
        known: _T = seen.get(key, _UNKNOWN)
        if known is not _UNKNOWN:
            return known
        answer = read()
        if keep(answer):
            seen[key] = answer
        return answer

    def forget(self) -> None:
        """Forget everything, and look on: what is read from now on is remembered."""
        if self._seen is not None:
            self._seen = {}

    def end(self) -> None:
        """Forget everything; from now on each thing is read every time."""
        self._seen = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadContext:
    """Travels with the evidence: each log directory has it, and all that is opened below.

    It pickles without what belongs to one process. Each process then reads at the rate.

    Attributes:
        follow_links: whether symbolic links may be followed.
        limits: how much one batch may decompress to.
        rate: limits the bytes per second from disk; None does not.
        threads: those that share the work; None where each question has its own.
        sources: what private folders stand for, if paths lead there: archives, object stores.
        look: remembers small files and folders; None or ended, each is read every time.
    """

    follow_links: bool = False
    limits: Limits = field(default=DEFAULT_LIMITS, compare=False)
    rate: ReadRate | None = field(default=None, compare=False, repr=False)
    threads: Threads | None = field(default=None, compare=False, repr=False)
    sources: tuple[Source, ...] = field(default=(), compare=False, repr=False)
    look: Look | None = field(default=None, compare=False, repr=False)
    _said: set[tuple[str, str]] = field(default_factory=set, compare=False, repr=False)

    def warn(self, logger: logging.Logger, path: str, problem: str) -> None:
        """Warn of what is skipped at a path, once for all that is read with this context."""
        if (path, problem) in self._said:
            return
        if len(self._said) < _MAX_SAID:
            self._said.add((path, problem))
        logger.warning("%s: " + problem, shown(path))  # noqa: G003  each problem is a kind

    def once(
        self, key: Hashable, read: Callable[[], _T], keep: Callable[[_T], bool] = lambda _: True
    ) -> _T:
        """What ``read`` returns, remembered by key until the look ends. Errors are not.

        Args:
            key: of the result; its first item distinguishes kinds of results.
            read: computes the result.
            keep: whether a result is small enough to remember; by default all are.
        """
        if self.look is None:
            return read()
        return self.look.once((self.follow_links, key), read, keep)

    def entries(self, path: str) -> Sequence[os.DirEntry[str]]:
        """The entries of a folder, unordered, with their status as far as known.

        Raises:
            OSError: it cannot be listed.
        """
        return self.once(
            ("entries", path), lambda: _listed(path), lambda found: len(found) <= _MAX_LISTED
        )

    def following_links(self) -> ReadContext:
        """The same, but links are followed, as a broker does."""
        return replace(self, follow_links=True)

    def warning_again(self) -> ReadContext:
        """The same, but what was warned of before is said once more."""
        return replace(self, _said=set())

    def looking_again(self) -> ReadContext:
        """The same, without what was read before."""
        return replace(self, look=None)

    def __reduce__(self) -> tuple[object, ...]:
        return _pickled, (self.follow_links, self.limits, self.sources, self.rate)


def _pickled(
    follow_links: bool, limits: Limits, sources: tuple[Source, ...], rate: ReadRate | None
) -> ReadContext:
    return ReadContext(follow_links=follow_links, limits=limits, sources=sources, rate=rate)


def _listed(path: str) -> Sequence[os.DirEntry[str]]:
    with os.scandir(path) as found:
        return tuple(found)
