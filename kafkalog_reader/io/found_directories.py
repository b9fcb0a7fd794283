"""The directories and segment files that a search has found, each once."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from kafkalog_reader.errors import LogLayoutError, LogPosition, UnreadableFileError
from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory
from kafkalog_reader.io.evidence import Evidence
from kafkalog_reader.io.exchanged_disks import warn_of_exchanged_disks
from kafkalog_reader.io.foreign_file import describe_foreign_file
from kafkalog_reader.io.log_directory import (
    describe_log_directory,
    warn_of_labels,
    with_assumed_cluster,
    with_disks,
)
from kafkalog_reader.io.names import (
    REMOTE,
    DirectoryName,
    parse_directory_name,
    parse_segment_file_name,
    shown,
)
from kafkalog_reader.io.remote_names import parse_remote_file_name, parse_remote_folder
from kafkalog_reader.io.window import read_start

if TYPE_CHECKING:
    from kafkalog_reader.io.path_argument import PathArgument
    from kafkalog_reader.io.read_context import ReadContext

FileKey = tuple[int, int]
"""Device and inode: a directory that is reached by two paths counts once."""


@dataclass(slots=True)
class FoundDirectories:
    """What was found so far; ``remote`` are folders of remote segments."""

    context: ReadContext
    roots: dict[FileKey, LogDirectory] = field(default_factory=dict)
    given: dict[FileKey, PartitionDirectory] = field(default_factory=dict)
    remote: dict[FileKey, PartitionDirectory] = field(default_factory=dict)
    _parents: dict[str, tuple[FileKey, LogDirectory]] = field(default_factory=dict)
    _root_keys_of_given: dict[FileKey, FileKey] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether nothing of Kafka's was found."""
        return not (self.roots or self.given or self.remote)

    def evidence(self) -> Evidence:
        """Everything found; parts of log directories that were also given count once."""
        given = {
            key: directory
            for key, directory in self.given.items()
            if self._root_keys_of_given[key] not in self.roots
        }
        stand_ins = (directory.log_directory for directory in given.values())
        counted = with_assumed_cluster((*self.roots.values(), *stand_ins))
        settled = dict(zip(counted, with_disks(list(counted.values())), strict=True))
        warn_of_labels(list(settled.values()))
        warn_of_exchanged_disks(settled.values())
        clusters = {root.cluster_id for root in settled.values()}
        cluster = clusters.pop() if len(clusters) == 1 else None
        return Evidence(
            remote=tuple(
                replace(each, log_directory=replace(each.log_directory, cluster_id=cluster))
                for each in self.remote.values()
            ),
            roots=tuple(settled[root] for root in self.roots.values()),
            given=tuple(
                replace(directory, log_directory=settled[directory.log_directory])
                for directory in given.values()
            ),
            context=self.context,
        )

    def add_log_directory(self, key: FileKey, path: str, argument: PathArgument) -> None:
        """Add a log directory with all that is in it."""
        self.roots[key] = self._described(path, argument, is_whole=True)

    def add_partition_directory(
        self, key: FileKey, path: str, argument: PathArgument, only: tuple[str, ...] | None = None
    ) -> None:
        """Add a partition directory, or some of its segment files."""
        name = directory_name(path)
        root_key, root = self._parent(path, argument)
        self._root_keys_of_given[key] = root_key
        self.given[key] = PartitionDirectory(
            path=path,
            log_directory=root,
            topic=None if name is None else name.topic,
            partition=None if name is None else name.partition,
            state=None if name is None else name.state,
            only=only,
        )

    def add_remote_part(
        self, key: FileKey, path: str, argument: PathArgument, only: tuple[str, ...] | None = None
    ) -> None:
        """Add a folder of remote segments, or some of its logs."""
        name = parse_remote_folder(path)
        known = self.remote.get(key)
        if known is not None:
            is_whole = only is None or known.only is None
            only = None if is_whole else tuple(sorted({*(known.only or ()), *(only or ())}))
        self.remote[key] = PartitionDirectory(
            path=path,
            log_directory=LogDirectory(
                path=path if name is None else name.store,
                broker_label=argument.broker_label,
                named=argument.broker_label,
                context=self.context,
            ),
            topic=None if name is None else name.topic,
            partition=None if name is None else name.partition,
            state=REMOTE,
            only=only,
        )

    def add_file(self, path: str, argument: PathArgument) -> None:
        """Add the log of one segment.

        Raises:
            LogLayoutError: the file is something else.
        """
        if os.path.islink(path):  # it was named explicitly, so it is followed; it may have any name
            path = os.path.realpath(path)
        directory, file_name = os.path.dirname(path) or ".", os.path.basename(path)
        remote_name = parse_remote_file_name(file_name)
        if remote_name is not None and remote_name.kind == "log":
            status = status_of(directory)
            key = (status.st_dev, status.st_ino)
            self.add_remote_part(key, directory, argument, only=(file_name,))
            return
        name = parse_segment_file_name(file_name)
        start = partial(read_start, path, context=self.context)
        foreign = describe_foreign_file(path, start if name is None else None)
        if foreign is not None:
            raise LogLayoutError(f"{shown(path)}: {foreign}")
        if name is None:
            raise LogLayoutError(
                f"{shown(path)}: not a log: a segment's name is 20 digits and .log, "
                "optionally followed by .deleted, .cleaned or .swap"
            )
        if name.kind != "log":
            raise LogLayoutError(
                f"{shown(path)}: an index, not a log: "
                f"give {name.base_offset:020d}.log beside it, or the directory of both"
            )
        status = status_of(directory)
        key = (status.st_dev, status.st_ino)
        if key not in self.given:
            self.add_partition_directory(key, directory, argument, only=(file_name,))
        elif (only := self.given[key].only) is not None and file_name not in only:
            self.given[key] = replace(self.given[key], only=tuple(sorted((*only, file_name))))

    def _parent(self, path: str, argument: PathArgument) -> tuple[FileKey, LogDirectory]:
        """The log directory of a partition directory, described once."""
        parent = os.path.dirname(path) or "."
        if os.path.basename(path) in (".", "..", ""):
            parent = os.path.dirname(os.path.abspath(path))
        if parent not in self._parents:
            status = status_of(parent)
            root = self._described(parent, argument, is_whole=False)
            self._parents[parent] = ((status.st_dev, status.st_ino), root)
        return self._parents[parent]

    def _described(self, path: str, argument: PathArgument, *, is_whole: bool) -> LogDirectory:
        return describe_log_directory(
            path,
            broker_id=argument.broker_id,
            broker_label=argument.broker_label,
            is_whole=is_whole,
            context=self.context,
        )


def status_of(path: str) -> os.stat_result:
    """The status of a file or folder.

    Raises:
        UnreadableFileError: the operating system refused.
    """
    try:
        return os.stat(path)
    except OSError as error:
        raise UnreadableFileError(str(error.strerror), LogPosition(shown(path))) from error


def directory_name(path: str) -> DirectoryName | None:
    """The name of a partition directory, also if it was given as ``.`` or by a link."""
    return parse_directory_name(os.path.basename(os.path.abspath(path))) or parse_directory_name(
        os.path.basename(os.path.realpath(path))
    )
