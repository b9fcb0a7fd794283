"""Partitions of ``__consumer_offsets`` full of offset commits, which are kept between runs.

The scenario builder writes a few hundred batches; they are repeated with other base offsets, which
no checksum covers, until the file has its size.
"""

from __future__ import annotations

import struct
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.java import bench_directory
from fixtures.builder.batch import data_batch
from fixtures.builder.small_files import build_meta_properties
from kafkalog_reader.format.meta_properties import MetaProperties
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

TOPIC: Final = "__consumer_offsets"
GROUPS: Final = 199
PARTITIONS_OF_A_GROUP: Final = 64
_COMMITS_BUILT: Final = 30_000
_CLUSTER: Final = "AAECAwQFBgcICQoLDA0ODw"
_LAYOUT: Final = 1
"""Raised when the layout changes: logs of other layouts are not used again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitLog:
    """Commits of version 3, as brokers of 2.1 to 4.0 write them: equal arguments, equal bytes.

    Attributes:
        partitions: of the topic that are there; each has its own groups.
        size: bytes of each partition's only segment, rounded up to a batch.
        commits_per_batch: a consumer that commits 148 partitions at once, or one.
    """

    partitions: int = 1
    size: int
    commits_per_batch: int

    def directory(self) -> Path:
        """Return the log directory, writing it first if it is not there."""
        name = f"commits-{self.partitions}-{self.size}-{self.commits_per_batch}-{_LAYOUT}"
        directory = bench_directory() / name
        if not directory.is_dir():
            with tempfile.TemporaryDirectory(dir=directory.parent, prefix=".write.") as scratch:
                written = Path(scratch) / "log"
                self._write(written)
                written.rename(directory)
        return directory

    def segment(self, partition: int = 0) -> Path:
        """The segment of one partition."""
        return self.directory() / f"{TOPIC}-{partition}" / f"{0:020}.log"

    def _write(self, root: Path) -> None:
        root.mkdir()
        properties = MetaProperties(version=1, cluster_id=_CLUSTER, node_id=1, directory_id=None)
        (root / "meta.properties").write_bytes(build_meta_properties(properties))
        for partition in range(self.partitions):
            folder = root / f"{TOPIC}-{partition}"
            folder.mkdir()
            batches = [bytearray(each) for each in self._batches(partition)]
            offset = written = number = 0
            with (folder / f"{0:020}.log").open("wb", buffering=1 << 22) as segment:
                while written < self.size:
                    batch = batches[number % len(batches)]
                    batch[:8] = struct.pack(">q", offset)
                    written += segment.write(batch)
                    offset += self.commits_per_batch
                    number += 1

    def _batches(self, partition: int) -> Iterator[bytes]:
        number = 0
        for _ in range(_COMMITS_BUILT // self.commits_per_batch):
            records = []
            for delta in range(self.commits_per_batch):
                key, value = _commit(partition, number)
                records.append(Record(offset_delta=delta, key=key, value=value))
                number += 1
            yield data_batch(0, records).build()


def _commit(partition: int, number: int) -> tuple[bytes, bytes]:
    """OffsetCommitKey version 1 and OffsetCommitValue version 3."""
    group = _text(f"group-{partition}-{number % GROUPS}")
    of_topic = struct.pack(">i", number % PARTITIONS_OF_A_GROUP)
    key = struct.pack(">h", 1) + group + _text("orders") + of_topic
    value = struct.pack(">hqi", 3, number, 5) + _text("")
    return key, value + struct.pack(">q", 1_700_000_000_000 + number)


def _text(content: str) -> bytes:
    return struct.pack(">h", len(content)) + content.encode()
