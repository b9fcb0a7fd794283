"""A limit on bytes per second from disk, over all threads of the process."""

from __future__ import annotations

import threading
import time
from typing import Final

_BURST_SECONDS: Final = 0.1
"""Seconds of the rate that may be read at once after a pause."""


class ReadRate:
    """A token bucket that may go into debt: after a large read, the next one waits.

    Args:
        bytes_per_second: at least 1.
    """

    def __init__(self, bytes_per_second: int) -> None:
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
