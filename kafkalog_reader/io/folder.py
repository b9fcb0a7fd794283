"""Classifies a folder by its content: a log directory, a partition directory, or others."""

from __future__ import annotations

import logging
import os
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import LogPosition, UnreadableFileError
from kafkalog_reader.io.foreign_file import (
    ARCHIVES,
    READ_ARCHIVES,
    advice_on_pattern,
    foreign_pattern,
)
from kafkalog_reader.io.names import (
    BOOTSTRAP_CHECKPOINT,
    CLEAN_SHUTDOWN,
    LEADER_EPOCHS,
    LOCK,
    META_PROPERTIES,
    NOT_A_PARTITION,
    OFFSET_CHECKPOINTS,
    PARTITION_METADATA,
    QUORUM_STATE,
    parse_directory_name,
    parse_segment_file_name,
    parse_snapshot_file_name,
    shown,
)
from kafkalog_reader.io.remote_names import parse_remote_file_name

if TYPE_CHECKING:
    from kafkalog_reader.io.read_context import ReadContext

logger = logging.getLogger(__name__)

_LOG_DIRECTORY_FILES: Final = frozenset(
    {META_PROPERTIES, BOOTSTRAP_CHECKPOINT, *OFFSET_CHECKPOINTS}
)
"""And the clean-shutdown marker, unless somebody moved it to a folder of log directories."""
_PARTITION_FILES: Final = frozenset({LEADER_EPOCHS, PARTITION_METADATA, QUORUM_STATE})
_LINKS: Final = "/"
"""Stands for the names of links to folders; no name has the character."""


class FolderKind(Enum):
    """What a folder is, by its content; a name alone, such as ``broker-1``, proves nothing."""

    LOG_DIRECTORY = "log directory"
    PARTITION_DIRECTORY = "partition directory"
    REMOTE_PART = "remote part of a partition"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """One folder; ``files`` counts files that are not Kafka's, by pattern of the name.

    ``folders`` is complete, except that it is empty for a partition directory. ``links`` lead to
    folders and were not followed. ``archives`` are the files that could be given as paths.
    """

    kind: FolderKind
    folders: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    files: Counter[str] = field(default_factory=Counter)
    archives: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Leftovers:
    """What is below a path and not Kafka's, for the message if nothing of Kafka's was found."""

    files: Counter[str] = field(default_factory=Counter)
    has_folders: bool = False
    has_saved: bool = False
    """Whether copies moved aside, or written by ``kafkalog salvage``, were passed over."""
    too_deep: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing at all."""
        return not (self.files or self.has_folders or self.has_saved or self.too_deep)

    def __str__(self) -> str:
        """As text, most frequent first, with what to do about archives."""
        parts = [_counted(pattern, count) for pattern, count in self.files.most_common(3)]
        if len(self.files) > 3:
            parts.append("others")
        if self.too_deep is not None:
            parts.append(f"folders nested too deep, from {shown(self.too_deep)} on: name that one")
        elif self.has_saved:
            parts.append("copies moved aside or written by kafkalog salvage, not read")
        elif not parts:
            parts.append("only empty folders" if self.has_folders else "nothing, it is empty")
        return ", ".join(parts)


def look_into(path: str, context: ReadContext) -> Folder:
    """List a folder as far as needed to classify it.

    Raises:
        UnreadableFileError: the operating system refused.
    """
    folders: list[str] = []
    links: list[str] = []
    archives: list[str] = []
    files: Counter[str] = Counter()
    found: set[FolderKind] = set()
    has_lock = has_marker = False
    is_named_so = parse_directory_name(os.path.basename(os.path.abspath(path))) is not None
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if is_folder(entry, context):
                    if entry.name not in NOT_A_PARTITION:
                        folders.append(entry.path)
                elif entry.name == CLEAN_SHUTDOWN:
                    has_marker = True
                elif entry.name in _LOG_DIRECTORY_FILES:
                    found.add(FolderKind.LOG_DIRECTORY)
                elif entry.name == LOCK:
                    has_lock = True
                elif _belongs_to_partition(entry.name):
                    if is_named_so:
                        return Folder(kind=FolderKind.PARTITION_DIRECTORY)
                    found.add(FolderKind.PARTITION_DIRECTORY)
                elif parse_remote_file_name(entry.name) is not None:
                    found.add(FolderKind.REMOTE_PART)
                elif entry.is_symlink() and os.path.isdir(entry.path):
                    files[_LINKS] += 1
                    links.append(entry.path)
                else:
                    files[_pattern(entry.name)] += 1
                    if entry.name.endswith(READ_ARCHIVES):
                        archives.append(entry.path)
    except OSError as error:
        raise UnreadableFileError(str(error.strerror), LogPosition(shown(path))) from error
    if has_marker and not any(map(_is_log_directory, folders)):
        found.add(FolderKind.LOG_DIRECTORY)
    kind = _kind(found, folders, has_lock=has_lock)
    return Folder(
        kind=kind,
        folders=sorted(folders),
        links=sorted(links),
        files=files,
        archives=sorted(archives),
    )


def _kind(found: set[FolderKind], folders: list[str], *, has_lock: bool) -> FolderKind:
    """The kind if files of both kinds were found: only a log directory has partition folders.

    Other programs write files named like the lock.
    """
    holds_partitions = any(parse_directory_name(os.path.basename(path)) for path in folders)
    if has_lock and holds_partitions:
        return FolderKind.LOG_DIRECTORY
    if FolderKind.LOG_DIRECTORY in found and (
        holds_partitions or FolderKind.PARTITION_DIRECTORY not in found
    ):
        return FolderKind.LOG_DIRECTORY
    if FolderKind.REMOTE_PART in found and FolderKind.PARTITION_DIRECTORY not in found:
        return FolderKind.REMOTE_PART
    return FolderKind.PARTITION_DIRECTORY if found else FolderKind.OTHER


def log_directories_behind(link: str) -> list[str]:
    """The log directories that a link leads to, or whose parent it leads to; none is opened."""
    if _is_log_directory(link):
        return [link]
    try:
        with os.scandir(link) as entries:
            return sorted(entry.path for entry in entries if _is_log_directory(entry.path))
    except OSError:
        return []


def _is_log_directory(path: str) -> bool:
    return any(os.path.lexists(os.path.join(path, name)) for name in _LOG_DIRECTORY_FILES)


def _counted(pattern: str, count: int) -> str:
    if pattern == _LINKS:
        if count == 1:
            return "a link to a folder, not followed: give the folder that it leads to"
        return f"{count:,} links to folders, not followed: give the folders that they lead to"
    files = "1 file" if count == 1 else f"{count:,} files"
    what = advice_on_pattern(pattern)
    hint = "" if what is None else f" ({what})"
    if pattern.endswith(READ_ARCHIVES):
        hint = " (an archive is read if its own path is given)"
    elif pattern.endswith(ARCHIVES):
        hint = " (unpack it first)" if count == 1 else " (unpack them first)"
    return f"{files} named {shown(pattern)}{hint}"


def _belongs_to_partition(name: str) -> bool:
    return (
        name in _PARTITION_FILES
        or parse_segment_file_name(name) is not None
        or parse_snapshot_file_name(name) is not None
    )


def _pattern(name: str) -> str:
    foreign = foreign_pattern(name)
    if foreign is not None:
        return foreign
    archive = next((each for each in READ_ARCHIVES if name.endswith(each)), None)
    if archive is not None:
        return f"*{archive}"
    stem, extension = os.path.splitext(name)
    return f"*{extension}" if extension and stem else name


def is_folder(entry: os.DirEntry[str], context: ReadContext) -> bool:
    """Whether a directory entry is a folder to search; warn if it is a link that is skipped."""
    if not entry.is_symlink():
        return entry.is_dir(follow_symlinks=False)
    leads_to_folder = os.path.isdir(entry.path)
    if leads_to_folder and not context.follow_links:
        context.warn(logger, entry.path, "symbolic link, not followed")
    return leads_to_folder and context.follow_links
