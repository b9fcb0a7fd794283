"""A limit on bytes per second from disk, over all threads of the process."""

from __future__ import annotations

import os
import threading
import time
from typing import Final

_BURST_SECONDS: Final = 0.1
"""Seconds of the rate that may be read at once after a pause."""


class ReadRate:
    """A token bucket that may go into debt: after a large read, the next one waits.

    Another process that unpickles it gets a bucket of the same rate: one, however often.

    Args:
        bytes_per_second: at least 1.
    """

    def __init__(self, bytes_per_second: int) -> None:
        self._name = os.urandom(16)
        self._rate = max(1, bytes_per_second)
        self._lock = threading.Lock()
        self._free_at = time.monotonic()

    @property
    def burst(self) -> int:
        """Maximum bytes for one read, so that the rate holds in every second."""
        return max(1, int(self._rate * _BURST_SECONDS))

    def take(self, size: int) -> None:
        """Wait until ``size`` more bytes may be read."""
        with self._lock:
            now = time.monotonic()
            self._free_at = max(self._free_at, now - _BURST_SECONDS)
            wait = self._free_at - now
            self._free_at += size / self._rate
        if wait > 0:
            time.sleep(wait)

    def __reduce__(self) -> tuple[object, ...]:
        _pickled.setdefault(self._name, self)
        return _of_this_process, (self._name, self._rate)


_pickled: Final[dict[bytes, ReadRate]] = {}
"""Kept while the process runs: the tasks of a plan come one after the other."""
os.register_at_fork(after_in_child=_pickled.clear)  # another thread may hold one of the locks


def _of_this_process(name: bytes, bytes_per_second: int) -> ReadRate:
    """The bucket for all that was pickled with one rate."""
    made = ReadRate(bytes_per_second)
    made._name = name
    return _pickled.setdefault(name, made)
