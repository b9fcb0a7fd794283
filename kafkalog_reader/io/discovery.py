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
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import LogLayoutError, UnreadableFileError
from kafkalog_reader.io.folder import (
    FolderKind,
    Leftovers,
    log_directories_behind,
    look_into,
)
from kafkalog_reader.io.found_directories import (
    FileKey,
    FoundDirectories,
    directory_name,
    status_of,
)
from kafkalog_reader.io.names import (
    ASIDE,
    MANIFEST,
    MANIFEST_KEY,
    META_PROPERTIES,
    shown,
)
from kafkalog_reader.io.path_argument import PathArgument, parse_path_arguments
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.window import read_start

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.io.evidence import Evidence

logger = logging.getLogger(__name__)

MAX_DEPTH: Final = 6
"""Maximum depth of folders above a log directory: evidence/site/host/disk, and a few more."""

_ARCHIVES_NAMED: Final = 3

_MANIFEST_START: Final = 64
"""Bytes of a manifest that are read; its first key is among them."""


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
    context = replace(context, sources=sources)
    search = _Search(context, FoundDirectories(context))
    for argument in arguments:
        search.look_at(argument)
    search.check_found()
    return search.evidence()


@dataclass(slots=True)
class _Search:
    """A walk through the folders below the paths, down to log directories."""

    context: ReadContext
    found: FoundDirectories
    _looked_into: set[FileKey] = field(default_factory=set)
    _searched: list[str] = field(default_factory=list)
    _links: list[str] = field(default_factory=list)
    _empty: list[str] = field(default_factory=list)
    _archives: list[str] = field(default_factory=list)

    def evidence(self) -> Evidence:
        """Everything found, and where."""
        evidence = self.found.evidence()
        self._warn_of_archives()
        return replace(
            evidence,
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
        status = status_of(path)
        if stat.S_ISREG(status.st_mode):
            self.found.add_file(path, argument)
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
        if self._empty and self.found.is_empty:
            raise LogLayoutError(_nothing_in(self._empty[0], Leftovers()))
        for path in self._empty:
            logger.warning("%s: empty, skipped: is its disk mounted, or copied?", shown(path))

    def _look_into(
        self, path: str, argument: PathArgument, depth: int, leftovers: Leftovers
    ) -> int:
        """Add what a folder is or holds; return how many of Kafka's files it has."""
        status = status_of(path)
        key = (status.st_dev, status.st_ino)
        if key in self._looked_into:
            return 1  # already added under another name
        self._looked_into.add(key)
        self._searched.append(path)
        folder = look_into(path, self.context)
        if folder.kind is FolderKind.LOG_DIRECTORY:
            self.found.add_log_directory(key, path, argument)
            return 1
        self._links += folder.links
        self._archives += folder.archives if folder.kind is FolderKind.OTHER else ()
        seen = 0
        is_argument = depth == MAX_DEPTH
        if folder.kind is FolderKind.PARTITION_DIRECTORY or (
            is_argument and not folder.folders and _is_empty_partition(path)
        ):
            self.found.add_partition_directory(key, path, argument)
            seen = 1  # a log directory may be beside a loose segment
        elif folder.kind is FolderKind.REMOTE_PART:
            self.found.add_remote_part(key, path, argument)
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
            inner = [p for p in inner if depth == 0 and directory_name(p) is not None]
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
        seen, known = 0, len(self.found.roots)
        refused: list[tuple[str, UnreadableFileError]] = []
        for path in paths:
            try:
                seen += self._look_into(path, argument, depth, leftovers)
            except UnreadableFileError as error:
                refused.append((path, error))
        for path, refusal in refused:
            if isinstance(refusal.__cause__, FileNotFoundError):
                logger.warning("%s: vanished during the search", shown(path))
            elif directory_name(path) is None or len(self.found.roots) > known:
                raise refusal
            else:
                status = status_of(path)
                self.found.add_partition_directory((status.st_dev, status.st_ino), path, argument)
                seen += 1
        return seen


def _nothing_in(path: str, leftovers: Leftovers) -> str:
    return (
        f"{shown(path)}: no log directory, partition directory or segment file here. "
        "A log directory holds meta.properties and folders named like orders-3. "
        f"Found: {leftovers}."
    )


def _is_empty_partition(path: str) -> bool:
    root = os.path.dirname(os.path.abspath(path))
    return directory_name(path) is not None and os.path.lexists(os.path.join(root, META_PROPERTIES))


def _is_aside(path: str) -> bool:
    """Whether a folder holds copies that were moved aside: no broker serves them any more."""
    if os.path.basename(path) != ASIDE:
        return False
    logger.warning(
        "%s: copies that were moved aside, not read; give this path itself to read them",
        shown(path),
    )
    return True
