"""The input files: written by Kafka's own builder from a seed, and kept between runs."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.java import bench_directory, java_command, source_digest

TOPIC: Final = "bench"
RECORDS_PER_BATCH: Final = 148
"""The number of 100-byte values without keys in a producer's default batch of 16 KiB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segments:
    """The segments of partition 0 of topic ``bench``: equal arguments, equal bytes."""

    codec: str = "none"
    records_per_batch: int = RECORDS_PER_BATCH
    segments: int = 1
    records_per_segment: int
    key_bytes: int = 0

    @property
    def records(self) -> int:
        return self.segments * self.records_per_segment

    def partition_directory(self) -> Path:
        """Return the partition directory, writing it first if it is not there."""
        arguments = (
            self.codec, self.records_per_batch, self.segments, self.records_per_segment,
            self.key_bytes,
        )  # fmt: skip
        name = "-".join(str(argument) for argument in arguments)
        directory = bench_directory() / f"{name}-{source_digest('WriteSegments')}"
        if not directory.is_dir():
            with tempfile.TemporaryDirectory(dir=directory.parent, prefix=".write.") as scratch:
                written = Path(scratch) / "log"
                partition = str(written / f"{TOPIC}-0")
                command = [*java_command("WriteSegments"), partition, *map(str, arguments)]
                subprocess.run(command, check=True)
                written.rename(directory)
        return directory / f"{TOPIC}-0"

    def file(self) -> Path:
        """The first segment."""
        return self.partition_directory() / f"{0:020}.log"
