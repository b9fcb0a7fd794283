"""Three brokers with very many small partitions, which are kept between runs.

The scenario builder writes the bytes: a log, its indexes, leader epochs and topic id for every
replica, checkpoints with a row for every partition, and the cluster's metadata log. The partitions
repeat a few stories, and equal files are hard links to each other, so that a fleet fits on a disk.
"""

from __future__ import annotations

import errno
import os
import random
import shutil
import tempfile
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.java import bench_directory
from fixtures.builder.batch import data_batch
from fixtures.builder.log_directory import LogDirectory
from fixtures.builder.metadata_log import METADATA_TOPIC_ID, PartitionState, metadata_records
from fixtures.builder.replica import Replica, replica
from kafkalog_reader.format.record import Record
from kafkalog_reader.format.uuid import uuid_text

if TYPE_CHECKING:
    from collections.abc import Iterator

BROKERS: Final = 3
PARTITIONS_A_TOPIC: Final = 100
RECORDS_A_BATCH: Final = 500
_LAYOUT: Final = 1
"""Raised when the layout changes: fleets of other layouts are not used again."""
_COMMON: Final = " ".join(f"{first}-{first + 4}/e0" for first in range(0, 40, 5))
_STORIES: Final[dict[str, tuple[str, str, str]]] = {
    "sound": (_COMMON, _COMMON, _COMMON),
    "lagging": (_COMMON, _COMMON, _COMMON.removesuffix(" 35-39/e0")),
    "forked": (f"{_COMMON} c,d,e@40/e0", f"{_COMMON} f@40/e2 g@41/e2", f"{_COMMON} f@40/e2"),
}
_SHARES: Final = (("forked", 0.01), ("lagging", 0.05))
"""Of the partitions; the others are sound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """This many partitions on three brokers; equal arguments give equal bytes."""

    partitions: int

    def directory(self) -> Path:
        """Return the folder of the log directories, writing it first if it is not there."""
        directory = bench_directory() / f"fleet-{self.partitions}-{_LAYOUT}"
        if not directory.is_dir():
            with tempfile.TemporaryDirectory(dir=directory.parent, prefix=".write.") as scratch:
                written = Path(scratch) / "fleet"
                self._write(written)
                written.rename(directory)
        return directory

    def in_page_cache(self) -> Path:
        """Return the same folder after every file was read; a file with many names once."""
        directory = self.directory()
        known: set[int] = set()
        for folder, _, _ in os.walk(directory):
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_file() and entry.inode() not in known:
                        known.add(entry.inode())
                        Path(entry).read_bytes()
        return directory

    def count(self, story: str) -> int:
        """The number of its partitions with that story."""
        return sum(each == story for _, _, each in self._stories())

    def _stories(self) -> Iterator[tuple[int, int, str]]:
        chance = random.Random(self.partitions)
        for number in range(self.partitions):
            drawn, story = chance.random(), "sound"
            for name, share in _SHARES:
                drawn -= share
                if drawn < 0:
                    story = name
                    break
            yield *divmod(number, PARTITIONS_A_TOPIC), story

    def _write(self, root: Path) -> None:
        metadata = self._metadata_log()
        for broker in range(BROKERS):
            templates = {story: replica(logs[broker]) for story, logs in _STORIES.items()}
            replicas = [
                replace(
                    templates[story],
                    topic=f"topic-{topic}",
                    partition=partition,
                    topic_id=_topic_id(topic),
                    high_watermark=40 if story == "sound" else 35,
                )
                for topic, partition, story in self._stories()
            ]
            # The checkpoints of all replicas, the directories of the metadata log alone.
            everything = LogDirectory(node_id=broker, replicas=(*replicas, metadata))
            here = root / f"broker-{broker}"
            replace(everything, replicas=(metadata,)).write(here)
            for name, content in _checkpoints(everything).items():
                (here / name).write_bytes(content)
            links = _Links(root / f".links-{broker}")
            for each in replicas:
                links.write(here / each.directory_name, each)
            shutil.rmtree(links.directory)

    def _metadata_log(self) -> Replica:
        states = (
            PartitionState(
                replicas=(0, 1, 2),
                in_sync=(0, 1, 2),
                leader=0,
                leader_epoch=2 if story == "forked" else 0,
                topic=f"topic-{topic}",
                topic_id=_topic_id(topic),
                partition=partition,
            )
            for topic, partition, story in self._stories()
        )
        values = metadata_records(states)
        batches, offset = [], 0
        while chunk := list(islice(values, RECORDS_A_BATCH)):
            records = [Record(offset_delta=delta, value=value) for delta, value in enumerate(chunk)]
            batches.append(data_batch(offset, records, leader_epoch=1))
            offset += len(chunk)
        return replica(batches, topic="__cluster_metadata", topic_id=METADATA_TOPIC_ID)


def _topic_id(topic: int) -> str:
    return uuid_text((1).to_bytes(8, "big") + (1000 + topic).to_bytes(8, "big"))


def _checkpoints(directory: LogDirectory) -> dict[str, bytes]:
    empty = tuple(replace(each, segments=(), epochs=()) for each in directory.replicas)
    return {
        name: content
        for name, content in replace(directory, replicas=empty).build().items()
        if "/" not in name
    }


class _Links:
    """Writes replicas as links to files that were written before."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir()
        self._built: dict[int, dict[str, bytes]] = {}
        self._files: dict[bytes, str] = {}

    def write(self, directory: Path, each: Replica) -> None:
        directory.mkdir()
        key = id(each.segments)
        if key not in self._built:
            self._built[key] = each.build(is_clean=False)
        metadata = f"version: 0\ntopic_id: {each.topic_id}".encode()
        for name, content in {**self._built[key], "partition.metadata": metadata}.items():
            self._link(content, f"{directory}/{name}")

    def _link(self, content: bytes, path: str) -> None:
        source = self._files.get(content)
        if source is not None:
            try:
                os.link(source, path)
            except OSError as error:
                if error.errno != errno.EMLINK:
                    raise
            else:
                return
        Path(path).write_bytes(content)
        self._files[content] = path
