"""A rate that never limits a read and counts it."""

from __future__ import annotations

from kafkalog_reader.io.read_rate import ReadRate


class CountedRate(ReadRate):
    """``taken`` has the size of each read."""

    def __init__(self) -> None:
        super().__init__(1 << 40)
        self.taken: list[int] = []

    def take(self, size: int) -> None:
        self.taken.append(size)
