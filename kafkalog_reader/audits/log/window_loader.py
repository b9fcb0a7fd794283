"""Reads and checks the next windows of several replicas at the same time.

Reading and checking releases the interpreter lock, so two equal copies, whose windows end together,
take as long as one.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from kafkalog_reader.audits.log.batch_stream import BatchStream

_WORTH_A_THREAD: Final = 1 << 20
"""Window size, in bytes, that takes longer to read than a thread to wake up."""
_THREADS: Final = 3
"""Threads besides the caller's: partitions have three or four replicas, and memory is the limit."""


class WindowLoader:
    """Loads windows; starts threads for the first large ones."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None

    def load(self, streams: Sequence[BatchStream]) -> None:
        """Load the next window of each stream.

        With a limited read rate threads gain nothing, and Ctrl-C would wait for them.
        """
        is_limited = any(stream.context.rate is not None for stream in streams)
        is_small = any(len(stream.run.buffer) < _WORTH_A_THREAD for stream in streams)
        if len(streams) < 2 or is_small or is_limited:
            for stream in streams:
                stream.load()
            return
        sharing = streams[0].context.threads
        if sharing is not None:
            helped = streams[1 : 1 + sharing.idle]
            others = [sharing.offer(stream.load) for stream in helped]
        else:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(_THREADS, "window")
            helped = streams[1:]
            others = [self._pool.submit(stream.load) for stream in helped]
        for stream in (streams[0], *streams[1 + len(helped) :]):
            stream.load()
        for stream, other in zip(helped, others, strict=True):
            if other.cancel():  # not started yet
                stream.load()
            else:
                other.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()
