"""Threads that look at one unit of work each; those without one help the others with theirs."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future
    from typing import Self, TypeVar

    Unit = TypeVar("Unit")
    Result = TypeVar("Result")


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

    def map(self, work: Callable[[Unit], Result], units: Sequence[Unit]) -> Iterator[Result]:
        """Yield what comes of each unit, in order."""

        def counted(unit: Unit) -> Result:
            try:
                return work(unit)
            finally:
                with self._lock:
                    self._unfinished -= 1

        with self._lock:
            self._unfinished += len(units)
        return self._pool.map(counted, units)

    @property
    def idle(self) -> int:
        """How many have no unit of their own, and will not get one."""
        return max(0, self.count - self._unfinished)

    def told(self, progress: Callable[[int], None]) -> Callable[[int], None]:
        """A progress that ends the unit which tells of it, once nobody waits for the result."""

        def told(size: int) -> None:
            if self._is_left:
                raise KeyboardInterrupt
            progress(size)

        return told

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
