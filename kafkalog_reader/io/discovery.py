"""Finds Kafka's directories and files below the given paths.

A log directory is recognised by its own files, or, since copies often lack them, by the partition
directories in it. Folders above log directories are searched. The only files opened are
``meta.properties``, and given files that are not named like segments.
"""

from __future__ import annotations

import logging
import os
import stat
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import LogLayoutError, LogPosition, UnreadableFileError
from kafkalog_reader.io.evidence import Evidence, LogDirectory, PartitionDirectory
from kafkalog_reader.io.exchanged_disks import warn_of_exchanged_disks
from kafkalog_reader.io.folder import (
    FolderKind,
    Leftovers,
    log_directories_behind,
    look_into,
)
from kafkalog_reader.io.foreign_file import describe_foreign_file
from kafkalog_reader.io.log_directory import (
    describe_log_directory,
    warn_of_labels,
    with_assumed_cluster,
    with_disks,
)
from kafkalog_reader.io.names import (
    ASIDE,
    MANIFEST,
    MANIFEST_KEY,
    META_PROPERTIES,
    REMOTE,
    DirectoryName,
    parse_directory_name,
    parse_segment_file_name,
    shown,
)
from kafkalog_reader.io.path_argument import PathArgument, parse_path_arguments
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.remote_names import parse_remote_file_name, parse_remote_folder
from kafkalog_reader.io.window import read_start

if TYPE_CHECKING:
    from collections.abc import Sequence

logger = logging.getLogger(__name__)

MAX_DEPTH: Final = 6
"""Maximum depth of folders above a log directory: evidence/site/host/disk, and a few more."""

_ARCHIVES_NAMED: Final = 3

_MANIFEST_START: Final = 64
"""Bytes of a manifest that are read; its first key is among them."""

FileKey = tuple[int, int]
"""Device and inode: a directory that is reached by two paths counts once."""


def discover(paths: Sequence[str], context: ReadContext | None = None) -> Evidence:
    """Find the log directories, partition directories and segment files below these paths.

    Args:
        paths: a segment file, a partition directory, a log directory, a folder of log directories,
            an archive of these, a path inside one, the URI of an object store, or a glob;
            ``N=PATH`` gives the node id that ``meta.properties`` lacks, ``NAME=PATH`` a label.
        context: how files are read, and whether symbolic links below the paths are followed; by
            default without limits, and they are not. The paths themselves may be links, because
            they were named explicitly.

    Raises:
        LogLayoutError: a path does not exist, or holds nothing that Kafka writes.
        UnreadableFileError: the operating system refused to list a folder, an archive is
            damaged or hostile, or an object store failed.
    """
    if not paths:
        raise LogLayoutError("no path given")
    context = context or ReadContext()
    return discover_arguments(list(parse_path_arguments(paths, context)), context)


def discover_arguments(arguments: Sequence[PathArgument], context: ReadContext) -> Evidence:
    """``discover`` for paths that are parsed already.

    Raises:
        LogLayoutError: a path holds nothing that Kafka writes.
        UnreadableFileError: the operating system refused to list a folder.
    """
    sources = tuple(source for argument in arguments for source in argument.sources)
    search = _Search(replace(context, sources=sources))
    for argument in arguments:
        search.look_at(argument)
    search.check_found()
    return search.evidence()


@dataclass(slots=True)
class _Search:
    """The directories and files found so far."""

    context: ReadContext
    roots: dict[FileKey, LogDirectory] = field(default_factory=dict)
    given: dict[FileKey, PartitionDirectory] = field(default_factory=dict)
    remote: dict[FileKey, PartitionDirectory] = field(default_factory=dict)
    _parents: dict[str, tuple[FileKey, LogDirectory]] = field(default_factory=dict)
    _root_keys_of_given: dict[FileKey, FileKey] = field(default_factory=dict)
    _looked_into: set[FileKey] = field(default_factory=set)
    _searched: list[str] = field(default_factory=list)
    _links: list[str] = field(default_factory=list)
    _empty: list[str] = field(default_factory=list)
    _archives: list[str] = field(default_factory=list)

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
        self._warn_of_archives()
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
            searched=tuple(self._searched),
            skipped=tuple(sorted(filter(self._is_skipped, self._links))),
            empty=tuple(sorted(self._empty)),
        )

    def _warn_of_archives(self) -> None:
        """Beside log directories, an archive often holds those of another broker."""
        given = {os.path.realpath(each.shown_as) for each in self.context.sources}
        left = [each for each in self._archives if os.path.realpath(each) not in given]
        for archive in left[:_ARCHIVES_NAMED]:
            logger.warning(
                "%s: an archive, not read; give its path, too, to read it", shown(archive)
            )
        if len(left) > _ARCHIVES_NAMED:
            logger.warning("%s more archives, not read", f"{len(left) - _ARCHIVES_NAMED:,}")

    def _is_skipped(self, link: str) -> bool:
        """Whether log directories are behind it that were not found by another path."""
        for path in log_directories_behind(link):
            try:
                status = os.stat(path)
            except OSError:
                continue
            if (status.st_dev, status.st_ino) not in self._looked_into:
                return True
        return False

    def look_at(self, argument: PathArgument) -> None:
        """Add what one argument names."""
        problems = []
        for path in argument.paths:
            try:
                self._look_at_path(path, argument)
            except LogLayoutError as error:
                problems.append(error)
        if len(problems) == len(argument.paths):
            if len(problems) == 1:
                raise problems[0]
            raise LogLayoutError(
                f"{shown(argument.text)}: none of {len(problems)} matches is Kafka's. {problems[0]}"
            )
        for problem in problems:
            logger.warning("%s", problem)

    def _look_at_path(self, path: str, argument: PathArgument) -> None:
        status = _status(path)
        if stat.S_ISREG(status.st_mode):
            self._add_file(path, argument)
            return
        if not stat.S_ISDIR(status.st_mode):
            raise LogLayoutError(f"{shown(path)}: neither a directory nor a regular file")
        leftovers = Leftovers()
        if self._look_into(path, argument, MAX_DEPTH, leftovers) == 0:
            if leftovers.is_empty:  # of a broker whose disk was replaced, or is not mounted
                self._empty.append(path)
                return
            raise LogLayoutError(_nothing_in(path, leftovers))

    def check_found(self) -> None:
        """Refuse arguments that are all empty folders.

        Raises:
            LogLayoutError: names the first.
        """
        if self._empty and not (self.roots or self.given or self.remote):
            raise LogLayoutError(_nothing_in(self._empty[0], Leftovers()))
        for path in self._empty:
            logger.warning("%s: empty, skipped: is its disk mounted, or copied?", shown(path))

    def _look_into(
        self, path: str, argument: PathArgument, depth: int, leftovers: Leftovers
    ) -> int:
        """Add what a folder is or holds; return how many of Kafka's files it has."""
        status = _status(path)
        key = (status.st_dev, status.st_ino)
        if key in self._looked_into:
            return 1  # already added under another name
        self._looked_into.add(key)
        self._searched.append(path)
        folder = look_into(path, self.context)
        if folder.kind is FolderKind.LOG_DIRECTORY:
            self.roots[key] = self._described(path, argument, is_whole=True)
            return 1
        self._links += folder.links
        self._archives += folder.archives if folder.kind is FolderKind.OTHER else ()
        seen = 0
        is_argument = depth == MAX_DEPTH
        if folder.kind is FolderKind.PARTITION_DIRECTORY or (
            is_argument and not folder.folders and _is_empty_partition(path)
        ):
            self._add_partition_directory(key, path, argument)
            seen = 1  # a log directory may be beside a loose segment
        elif folder.kind is FolderKind.REMOTE_PART:
            self._add_remote_part(key, path, argument)
            seen = 1
        elif depth == MAX_DEPTH - 1 and not (folder.files or folder.folders):
            self._empty.append(path)
        leftovers.files.update(folder.files)
        leftovers.has_folders |= bool(folder.folders)
        inner = [p for p in folder.folders if not (_is_aside(p) or self._is_salvaged(p))]
        if len(inner) < len(folder.folders):
            self._searched += sorted({*folder.folders}.difference(inner))
            leftovers.has_saved = True
        if depth <= 0:  # a log directory may be at this depth, with its partitions below
            inner = [p for p in inner if depth == 0 and _directory_name(p) is not None]
            if len(inner) < len(folder.folders):
                leftovers.too_deep = path
        return seen + self._look_into_all(inner, argument, depth - 1, leftovers)

    def _is_salvaged(self, path: str) -> bool:
        """Whether ``kafkalog salvage`` wrote a folder, by its manifest: no broker serves it."""
        manifest = os.path.join(path, MANIFEST)
        try:
            start = read_start(manifest, _MANIFEST_START, context=self.context)
        except UnreadableFileError:
            return False
        if MANIFEST_KEY.encode() not in start:
            return False
        logger.warning(
            "%s: written by kafkalog salvage, not read; give this path itself to read it",
            shown(path),
        )
        return True

    def _look_into_all(
        self, paths: Sequence[str], argument: PathArgument, depth: int, leftovers: Leftovers
    ) -> int:
        """Like ``_look_into`` for all folders of one; they may vanish meanwhile in a live tree.

        A folder that cannot be listed but is named like a partition is added, and reading it
        reports the error. Beside log directories, such a name is that of a broker: ``broker-2``.
        """
        seen, known = 0, len(self.roots)
        refused: list[tuple[str, UnreadableFileError]] = []
        for path in paths:
            try:
                seen += self._look_into(path, argument, depth, leftovers)
            except UnreadableFileError as error:
                refused.append((path, error))
        for path, refusal in refused:
            if isinstance(refusal.__cause__, FileNotFoundError):
                logger.warning("%s: vanished during the search", shown(path))
            elif _directory_name(path) is None or len(self.roots) > known:
                raise refusal
            else:
                status = _status(path)
                self._add_partition_directory((status.st_dev, status.st_ino), path, argument)
                seen += 1
        return seen

    def _add_partition_directory(
        self, key: FileKey, path: str, argument: PathArgument, only: tuple[str, ...] | None = None
    ) -> None:
        name = _directory_name(path)
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

    def _add_remote_part(
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

    def _add_file(self, path: str, argument: PathArgument) -> None:
        if os.path.islink(path):  # it was named explicitly, so it is followed; it may have any name
            path = os.path.realpath(path)
        directory, file_name = os.path.dirname(path) or ".", os.path.basename(path)
        remote_name = parse_remote_file_name(file_name)
        if remote_name is not None and remote_name.kind == "log":
            status = _status(directory)
            key = (status.st_dev, status.st_ino)
            self._add_remote_part(key, directory, argument, only=(file_name,))
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
        status = _status(directory)
        key = (status.st_dev, status.st_ino)
        if key not in self.given:
            self._add_partition_directory(key, directory, argument, only=(file_name,))
        elif (only := self.given[key].only) is not None and file_name not in only:
            self.given[key] = replace(self.given[key], only=tuple(sorted((*only, file_name))))

    def _parent(self, path: str, argument: PathArgument) -> tuple[FileKey, LogDirectory]:
        """The log directory of a partition directory, described once."""
        parent = os.path.dirname(path) or "."
        if os.path.basename(path) in (".", "..", ""):
            parent = os.path.dirname(os.path.abspath(path))
        if parent not in self._parents:
            status = _status(parent)
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


def _status(path: str) -> os.stat_result:
    try:
        return os.stat(path)
    except OSError as error:
        raise UnreadableFileError(str(error.strerror), LogPosition(shown(path))) from error


def _directory_name(path: str) -> DirectoryName | None:
    """The name of a partition directory, also if it was given as ``.`` or by a link."""
    return parse_directory_name(os.path.basename(os.path.abspath(path))) or parse_directory_name(
        os.path.basename(os.path.realpath(path))
    )


def _nothing_in(path: str, leftovers: Leftovers) -> str:
    return (
        f"{shown(path)}: no log directory, partition directory or segment file here. "
        "A log directory holds meta.properties and folders named like orders-3. "
        f"Found: {leftovers}."
    )


def _is_empty_partition(path: str) -> bool:
    root = os.path.dirname(os.path.abspath(path))
    return _directory_name(path) is not None and os.path.lexists(
        os.path.join(root, META_PROPERTIES)
    )


def _is_aside(path: str) -> bool:
    """Whether a folder holds copies that were moved aside: no broker serves them any more."""
    if os.path.basename(path) != ASIDE:
        return False
    logger.warning(
        "%s: copies that were moved aside, not read; give this path itself to read them",
        shown(path),
    )
    return True
