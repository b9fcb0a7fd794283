"""One replica for the audits, with the content of its small files."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
from kafkalog_reader.io.names import LEADER_EPOCHS, segment_file_name, shown

if TYPE_CHECKING:
    from kafkalog_reader.errors import LocatedError, LogPosition
    from kafkalog_reader.format.checkpoint import LeaderEpochEntry
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.segment_files import SegmentFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    """A live partition directory and its rows in the checkpoints around it.

    Two values are equal if they are of the same directory: branches and elections name replicas by
    them.

    Attributes:
        log_start_offset: the checkpointed one, or the first segment's base if that is higher or the
            checkpointed one is beyond the log end.
        epoch_entries: the rows of ``leader-epoch-checkpoint``, unchanged; None without the file.
        problems: files that could not be read; their content counts as absent.
    """

    directory: PartitionDirectory
    log_start_offset: int = field(compare=False)
    size_in_bytes: int = field(compare=False)
    topic_id: str | None = field(default=None, compare=False)
    checkpointed_high_watermark: int | None = field(default=None, compare=False)
    cleaner_offset: int | None = field(default=None, compare=False)
    epoch_entries: tuple[LeaderEpochEntry, ...] | None = field(default=None, compare=False)
    problems: tuple[LocatedError, ...] = field(default=(), compare=False)

    @property
    def name(self) -> str:
        """The name of the replica in messages."""
        return self.directory.replica_name

    @property
    def broker_id(self) -> int | None:
        return self.directory.log_directory.broker_id

    def file(self, name: str) -> str:
        """A file of the partition directory, as findings name it: relative to the log directory."""
        return f"{_shown_folder(self.directory.path)}/{name}"

    def segment_file(self, segment: SegmentFiles, kind: str = "log") -> str:
        """A file of one segment, as findings name it."""
        return self.file(segment_file_name(segment.base_offset, kind, segment.suffix))

    def file_of(self, where: LogPosition) -> str:
        """The file of an error, relative to the log directory if it is in one."""
        root = shown(self.directory.log_directory.path.rstrip("/")) + "/"
        if where.file.startswith(root):
            return where.file[len(root) :]
        return posixpath.join(*where.file.split("/")[-2:])

    @property
    def has_sound_epochs(self) -> bool:
        """Whether the epoch checkpoint could be read, or does not exist."""
        return not any(
            posixpath.basename(problem.where.file) == LEADER_EPOCHS for problem in self.problems
        )

    @property
    def cache(self) -> LeaderEpochCache:
        """The epoch checkpoint as a broker loads it, clipped to the log start."""
        return _loaded_cache(self.epoch_entries or (), self.log_start_offset)


@lru_cache(maxsize=16)
def _loaded_cache(entries: tuple[LeaderEpochEntry, ...], log_start_offset: int) -> LeaderEpochCache:
    """The cache; cached because all checks of all replicas of a partition usually share it."""
    return LeaderEpochCache.loaded(entries).truncate_from_start(log_start_offset)


@lru_cache(maxsize=16)
def _shown_folder(path: str) -> str:
    return shown(posixpath.basename(path.rstrip("/")))
