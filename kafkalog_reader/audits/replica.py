"""One replica for the audits: what its files say before its batches are compared."""

from __future__ import annotations

import logging
import posixpath
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from kafkalog_reader.audits.leader_epoch_cache import LeaderEpochCache
from kafkalog_reader.audits.tail_stream import tail_end
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import checkpointed_offsets, read_leader_epochs, read_topic_id
from kafkalog_reader.io.names import LEADER_EPOCHS, segment_file_name, shown
from kafkalog_reader.io.partition_directory import segments

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkalog_reader.errors import LogPosition
    from kafkalog_reader.format.checkpoint import LeaderEpochEntry
    from kafkalog_reader.io.evidence import PartitionDirectory, SegmentFiles

_T = TypeVar("_T")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    """A live partition directory and its rows in the checkpoints around it.

    Attributes:
        log_start_offset: the checkpointed one, or the first segment's base where that is higher,
            or where the checkpointed one lies beyond the log end.
        epoch_entries: of ``leader-epoch-checkpoint`` as they stand; None without the file.
        problems: files that could not be read; what they would say counts as absent.
    """

    directory: PartitionDirectory
    log_start_offset: int
    size_in_bytes: int
    topic_id: str | None = None
    checkpointed_high_watermark: int | None = None
    cleaner_offset: int | None = None
    epoch_entries: tuple[LeaderEpochEntry, ...] | None = None
    problems: tuple[LocatedError, ...] = ()

    @property
    def name(self) -> str:
        """The replica for people."""
        return self.directory.replica_name

    @property
    def broker_id(self) -> int | None:
        return self.directory.log_directory.broker_id

    def file(self, name: str) -> str:
        """A file of the partition directory, as findings name it: below the log directory."""
        return f"{_shown_folder(self.directory.path)}/{name}"

    def segment_file(self, segment: SegmentFiles, kind: str = "log") -> str:
        """A file of one segment, as findings name it."""
        return self.file(segment_file_name(segment.base_offset, kind, segment.suffix))

    def file_of(self, where: LogPosition) -> str:
        """The file of an error, below the log directory where it lies in one."""
        root = shown(self.directory.log_directory.path.rstrip("/")) + "/"
        if where.file.startswith(root):
            return where.file[len(root) :]
        return posixpath.join(*where.file.split("/")[-2:])

    @property
    def has_sound_epochs(self) -> bool:
        """Whether the epoch checkpoint could be read, or is not there."""
        return not any(
            posixpath.basename(problem.where.file) == LEADER_EPOCHS for problem in self.problems
        )

    @property
    def cache(self) -> LeaderEpochCache:
        """The epoch checkpoint as a broker loads it, clipped to the log start."""
        return _loaded_cache(self.epoch_entries or (), self.log_start_offset)


@lru_cache(maxsize=16)
def _loaded_cache(entries: tuple[LeaderEpochEntry, ...], log_start_offset: int) -> LeaderEpochCache:
    """Asked for by every check of a replica, and mostly the same for all of its partition."""
    return LeaderEpochCache.loaded(entries).truncate_from_start(log_start_offset)


@lru_cache(maxsize=16)
def _shown_folder(path: str) -> str:
    return shown(posixpath.basename(path.rstrip("/")))


def inspect_replica(directory: PartitionDirectory) -> Replica:
    """Read the small files of a replica; one that is damaged does not hide the others."""
    problems: list[LocatedError] = []

    def tried(read: Callable[[], _T], otherwise: _T) -> _T:
        try:
            return read()
        except LocatedError as error:
            logger.warning("%s", error)
            problems.append(error)
            return otherwise

    def row(name: str) -> int | None:
        if directory.topic is None or directory.partition is None:
            return None
        key = (directory.topic, directory.partition)
        return tried(lambda: checkpointed_offsets(directory.log_directory, name).get(key), None)

    nothing: tuple[SegmentFiles, ...] = ()
    found = tried(lambda: segments(directory), nothing)
    live = [segment for segment in found if segment.log_size is not None]
    first_base = live[0].base_offset if live else 0
    log_start = row("log-start-offset-checkpoint") or 0
    if live and log_start > live[-1].base_offset:
        end = tried(lambda: tail_end(directory), log_start)
        if log_start > end:  # KL-306: what its start deletes is there now
            log_start = first_base
    path, follow_links = directory.path, directory.follow_links
    return Replica(
        directory=directory,
        log_start_offset=max(first_base, log_start),
        size_in_bytes=sum(segment.log_size or 0 for segment in live),
        topic_id=tried(lambda: read_topic_id(path, follow_links=follow_links), None),
        checkpointed_high_watermark=row("replication-offset-checkpoint"),
        cleaner_offset=row("cleaner-offset-checkpoint"),
        epoch_entries=tried(lambda: read_leader_epochs(path, follow_links=follow_links), None),
        problems=tuple(problems),
    )
