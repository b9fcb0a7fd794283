"""Bytes of a segment offered before their headers are scanned into columns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class UnscannedBatches:
    """A chain of batches in a window; a decoder that takes its start says how far it got.

    Attributes:
        buffer: the window; valid until the next is asked for.
        start: where in ``buffer`` the chain begins, and after ``take`` what is left of it.
        last_offset: of the last batch taken; None as long as none was.
    """

    buffer: memoryview
    start: int
    last_offset: int | None = None

    def take(self, stop: int, last_offset: int) -> None:
        """Note that the batches before ``stop``, one at least, need not be scanned."""
        self.start, self.last_offset = stop, last_offset
