"""Threads that look at one unit of work each; those without one help the others with theirs."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future
    from typing import Self, TypeVar

    Unit = TypeVar("Unit")
    Result = TypeVar("Result")


_MAX_BEGUN: Final = 1000
"""Units behind one that takes long; a fleet has a hundred thousand, and each takes a kilobyte."""


class Threads:
    """The threads of this process that share its work, while the context is open.

    Args:
        count: of them; the caller's only waits.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._unfinished = 0
        self._is_left = False
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(count, "kafkalog")

    def map(self, work: Callable[[Unit], Result], units: Iterable[Unit]) -> Iterator[Result]:
        """Begin; and yield what comes of each unit, in order."""

        def counted(unit: Unit) -> Result:
            try:
                return work(unit)
            finally:
                with self._lock:
                    self._unfinished -= 1

        def begin(unit: Unit) -> Future[Result]:
            with self._lock:
                self._unfinished += 1
            return self._pool.submit(counted, unit)

        rest = map(begin, units)
        begun = deque(islice(rest, _MAX_BEGUN))
        return self._results(begun, rest)

    @staticmethod
    def _results(begun: deque[Future[Result]], rest: Iterator[Future[Result]]) -> Iterator[Result]:
        while begun:
            yield begun.popleft().result()
            begun.extend(islice(rest, 1))

    @property
    def idle(self) -> int:
        """How many have no unit of their own."""
        return max(0, self.count - self._unfinished)

    def reporting(self, progress: Callable[[int], None]) -> Callable[[int], None]:
        """Wrap ``progress`` so that it ends its unit once the result is no longer wanted."""

        def report(size: int) -> None:
            if self._is_left:
                raise KeyboardInterrupt
            progress(size)

        return report

    def offer(self, work: Callable[[], Result]) -> Future[Result]:
        """Have an idle thread do a part of a unit; who cannot wait cancels, and does it himself."""
        return self._pool.submit(work)

    def __enter__(self) -> Self:
        global _threads  # the cores are the process's, not a caller's
        _threads = self
        return self

    def __exit__(self, *_: object) -> None:
        """After Ctrl-C too: what runs ends at its next window, what waits does not begin."""
        global _threads
        _threads = None
        self._is_left = True
        self._pool.shutdown(cancel_futures=True)


_threads: Threads | None = None


def threads() -> Threads | None:
    """Those that share the work of this process, if it is shared."""
    return _threads
