"""Threads that each work on one unit; idle threads help the others."""

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
"""Maximum units waiting after a slow one; a fleet has 100,000, of a kilobyte each."""


class Threads:
    """The threads that share the work of this process while the context is open.

    Args:
        count: number of threads; the calling thread only waits.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._unfinished = 0
        self._is_left = False
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(count, "kafkalog")

    def map(self, work: Callable[[Unit], Result], units: Iterable[Unit]) -> Iterator[Result]:
        """Start the work; yield the result of each unit, in order."""

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
        """Number of threads without a unit."""
        return max(0, self.count - self._unfinished)

    def reporting(self, progress: Callable[[int], None]) -> Callable[[int], None]:
        """Wrap ``progress`` so that it ends its unit once the result is no longer needed."""

        def report(size: int) -> None:
            if self._is_left:
                raise KeyboardInterrupt
            progress(size)

        return report

    def offer(self, work: Callable[[], Result]) -> Future[Result]:
        """Let an idle thread do a part of a unit; the caller may cancel it and do it itself."""
        return self._pool.submit(work)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, also after Ctrl-C: running units end at their next window, others do not begin."""
        self._is_left = True
        self._pool.shutdown(cancel_futures=True)
