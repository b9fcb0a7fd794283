"""Handles Ctrl-C between rows, never inside one."""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


@contextlib.contextmanager
def whole() -> Iterator[None]:
    """Delay a first Ctrl-C until the block is done; a second one is not delayed.

    Raises:
        KeyboardInterrupt: at the end of the block, if Ctrl-C came during it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Python delivers signals to the main thread only
        return
    waiting = False

    def remember(number: int, frame: FrameType | None) -> None:
        nonlocal waiting
        if waiting:
            signal.default_int_handler(number, frame)
        waiting = True

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:
        yield  # ignored, or handled by others
        return
    signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if waiting:
        raise KeyboardInterrupt
