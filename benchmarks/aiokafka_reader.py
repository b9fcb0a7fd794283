"""A peer: aiokafka's compiled record reader, on bytes that are already in memory."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from aiokafka.record._crecords import (  # type: ignore[import-untyped]  # has no types
    DefaultRecordBatch,
    MemoryRecords,
)

from benchmarks.answer import WRAP, Answer

if TYPE_CHECKING:
    from pathlib import Path


class AiokafkaReader:
    """Reads one segment from memory: a fetch response is in memory, too."""

    def __init__(self, segment: Path) -> None:
        self._bytes = segment.read_bytes()

    def seconds(self) -> float:
        """Read every record's offset, timestamp, key and value, CRC checked."""
        start = time.perf_counter()
        records = MemoryRecords(self._bytes)
        while records.has_next():
            batch = records.next_batch()
            if not batch.validate_crc():
                raise ValueError("aiokafka found a wrong CRC")
            for record in batch:
                record.offset, record.timestamp, record.key, record.value  # noqa: B018  touched
        return time.perf_counter() - start

    def answer(self) -> Answer:
        """The result of a pass; not timed."""
        count = offsets = timestamps = key_bytes = value_bytes = first_bytes = 0
        records = MemoryRecords(self._bytes)
        while records.has_next():
            batch: DefaultRecordBatch = records.next_batch()
            for record in batch:
                count += 1
                offsets += record.offset
                timestamps += record.timestamp
                key_bytes += len(record.key or b"")
                value_bytes += len(record.value or b"")
                first_bytes += record.value[0] if record.value else 0
        return Answer(
            records=count,
            offsets=offsets % WRAP,
            timestamps=timestamps % WRAP,
            key_bytes=key_bytes,
            value_bytes=value_bytes,
            first_bytes=first_bytes,
        )
