"""What was supplied: log directories and the replicas in them. Small, and cheap to pickle."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

from kafkalog_reader.errors import LogPosition, UnreadableFileError
from kafkalog_reader.format.decompression_limit import Limits
from kafkalog_reader.io.names import (
    METADATA_TOPIC,
    NOT_A_PARTITION,
    REMOTE_INDEX_CACHE,
    parse_directory_name,
    segment_file_name,
    shown,
)
from kafkalog_reader.io.read_context import ReadContext

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

logger = logging.getLogger(__name__)

_RootOrder = tuple[str, float, str, str]
DirectoryOrder = tuple[str, int, _RootOrder, str]
Identity = tuple[str | None, str | None, int | None]
"""Cluster id, topic, partition: two clusters in one folder stay two."""


class Selection(Protocol):
    """Which replicas a request selects; ``tables.request.ReadRequest`` implements it."""

    @property
    def brokers(self) -> frozenset[int] | None:
        """Only replicas of these node ids; None for all."""

    def selects(self, topic: str | None, partition: int | None) -> bool:
        """Whether a topic partition is selected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogDirectory:
    """One entry of a broker's ``log.dirs``, or a stand-in.

    It is a stand-in if only a partition directory or a segment file was given.

    Attributes:
        path: as found; raw, so show it through ``names.shown``.
        cluster_id: from ``meta.properties``; if it has none and all other directories belong to one
            cluster, that one.
        broker_id: node id from ``meta.properties``, else the N of ``N=PATH``.
        broker_label: NAME of ``NAME=PATH``, if NAME is not a number.
        named: N or NAME as typed before the path.
        directory_id: from ``meta.properties``.
        meta_version: of ``meta.properties``: 0 with ZooKeeper, 1 with KRaft.
        clean_shutdown: whether the marker exists; None if the log directory itself was not given.
        disk: distinguishes this directory from others of the same broker; None if there is only
            one.
        context: how its files are read.
        siblings: paths of the other log directories of its broker that were supplied as a whole, by
            their ``meta.properties`` or because N=PATH says so.
    """

    path: str
    cluster_id: str | None = None
    broker_id: int | None = None
    broker_label: str | None = None
    named: str | None = field(default=None, compare=False)
    directory_id: str | None = None
    meta_version: int | None = None
    clean_shutdown: bool | None = None
    disk: str | None = None
    context: ReadContext = field(default_factory=ReadContext)
    siblings: tuple[str, ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        owner = "" if self.broker_id is None else f" of broker {self.broker_id}"
        return f"<LogDirectory {shown(self.path)}{owner}>"

    @property
    def follow_links(self) -> bool:
        """Whether symbolic links inside may be followed."""
        return self.context.follow_links


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionDirectory:
    """One replica on disk, or a deleted, future or stray one.

    Attributes:
        path: as found; raw, so show it through ``names.shown``.
        topic: None for a segment file in a folder that is not a partition directory.
        state: None if live; otherwise ``delete``, ``future`` or ``stray``; ``remote`` is a folder
            of remote segments (KIP-405).
        only: names of segment files, if those were given and not the directory.
        remote: folders with the remote part of the partition, which is read before the local log.
    """

    path: str
    log_directory: LogDirectory
    topic: str | None
    partition: int | None
    state: str | None = None
    only: tuple[str, ...] | None = None
    remote: tuple[PartitionDirectory, ...] = ()

    def __repr__(self) -> str:
        return f"<PartitionDirectory {shown(self.path)} of {self.replica_name}>"

    @classmethod
    def whole(cls, root: LogDirectory) -> PartitionDirectory:
        """The place of findings about a log directory itself."""
        return cls(path=root.path, log_directory=root, topic=None, partition=None)

    @property
    def context(self) -> ReadContext:
        """How its files are read."""
        return self.log_directory.context

    @property
    def follow_links(self) -> bool:
        """Whether symbolic links inside may be followed."""
        return self.context.follow_links

    def within(self, context: ReadContext) -> PartitionDirectory:
        """The same directory, read in another way."""
        return replace(
            self,
            log_directory=replace(self.log_directory, context=context),
            remote=tuple(each.within(context) for each in self.remote),
        )

    @property
    def is_replica(self) -> bool:
        """Whether a broker would serve it: it is not being deleted or moved, and not set aside."""
        return self.state is None

    @property
    def identity(self) -> Identity:
        """The key that replicas of one partition share."""
        return (self.log_directory.cluster_id, self.topic, self.partition)

    @property
    def replica_name(self) -> str:
        """Its name in messages: ``broker 1``, ``broker 1 (disk2)``, its label or its path."""
        root = self.log_directory
        if root.broker_label is not None:
            name = shown(root.broker_label)
        elif root.broker_id is not None:
            name = f"broker {root.broker_id}"
        else:
            return shown(root.path)
        return name if root.disk is None else f"{name} ({shown(root.disk)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentFiles:
    """One segment of one partition directory; a size is None if there is no such file.

    Attributes:
        suffix: None if live; otherwise ``deleted``, ``cleaned`` or ``swap``.
        directory: path of the partition directory.
        log_size: None for indexes without a log, which a broker deletes at its start.
        modified_at: newest modification of its files, in seconds since 1970.
        targets: (kind, path) of files that are symbolic links and may be followed, or that have
            other names, as those of remote segments.
        from_offset, to_offset: what of it belongs to the log; remote segments may overlap.
    """

    base_offset: int
    suffix: str | None
    directory: str
    log_size: int | None
    offset_index_size: int | None
    time_index_size: int | None
    transaction_index_size: int | None
    modified_at: float
    targets: tuple[tuple[str, str], ...] = ()
    from_offset: int = 0
    to_offset: int | None = None

    @property
    def first_offset(self) -> int:
        """The lowest offset that it may hold of the log."""
        return max(self.base_offset, self.from_offset)

    def path(self, kind: str) -> str:
        """The path of its ``log``, ``index``, ``timeindex`` or ``txnindex``; it may not exist."""
        for linked, target in self.targets:
            if linked == kind:
                return target
        return os.path.join(self.directory, segment_file_name(self.base_offset, kind, self.suffix))


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All that was supplied. Partition directories are listed on demand, never opened.

    Attributes:
        roots: log directories that were given completely, with every partition directory in them.
        given: partition directories that were given without their log directory.
        searched: every folder that was looked into to find them, or passed over because of what is
            in it.
        remote: folders of remote segments (KIP-405), which are no replicas; ``remote_part`` has
            the evidence of those who read them.
        skipped: log directories behind symbolic links that were not followed. It is then
            unknown for every broker whether all its log directories were supplied.
        empty: folders with nothing in them, found beside log directories.
    """

    roots: tuple[LogDirectory, ...]
    given: tuple[PartitionDirectory, ...] = ()
    context: ReadContext = field(default_factory=ReadContext)
    searched: tuple[str, ...] = field(default=(), compare=False, repr=False)
    remote: tuple[PartitionDirectory, ...] = ()
    skipped: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()

    @property
    def follow_links(self) -> bool:
        """Whether symbolic links may be followed."""
        return self.context.follow_links

    @property
    def why_incomplete(self) -> str:
        """Which log directories were skipped, and what to do; empty if none was."""
        if not self.skipped:
            return ""
        links = ", ".join(map(shown, self.skipped))
        return (
            f"log directories behind symbolic links were skipped ({links}): pass --follow-links, "
            "or give the paths that they lead to"
        )

    def within(self, context: ReadContext) -> Evidence:
        """The same evidence, read in another way."""
        roots = tuple(replace(root, context=context) for root in self.roots)
        given = tuple(each.within(context) for each in self.given)
        remote = tuple(each.within(context) for each in self.remote)
        return replace(self, roots=roots, given=given, remote=remote, context=context)

    def allowing(self, batch_bytes: int | None) -> Evidence:
        """The same evidence, whose batches may decompress to so much; None changes nothing."""
        if batch_bytes is None:
            return self
        return self.within(replace(self.context, limits=Limits.allowing(batch_bytes)))

    @cached_property
    def log_directories(self) -> tuple[LogDirectory, ...]:
        """Roots and stand-ins, each once, by broker and path."""
        found = {root.path: root for root in (d.log_directory for d in self.given)}
        found.update({root.path: root for root in self.roots})
        return tuple(sorted(found.values(), key=_root_order))

    def partition_directories(self, request: Selection) -> Iterator[PartitionDirectory]:
        """Yield the selected directories, live or not, by topic, partition and broker.

        Raises:
            UnreadableFileError: a log directory cannot be listed.
        """
        return iter(sorted(self.unordered_directories(request), key=_directory_orders()))

    def unordered_directories(self, request: Selection) -> Iterator[PartitionDirectory]:
        """Yield the same directories while they are listed.

        Raises:
            UnreadableFileError: a log directory cannot be listed.
        """
        yield from (each for each in self.given if _selected(each, request))
        for root in self.roots:
            if request.brokers is None or root.broker_id in request.brokers:
                yield from self._listed(root, request)

    def topic_partitions(
        self, request: Selection
    ) -> Iterator[tuple[Identity, tuple[PartitionDirectory, ...]]]:
        """Yield the live replicas of one partition together, every partition once, sorted.

        A folder without the name of a partition is yielded alone.
        """
        return by_partition(d for d in self.partition_directories(request) if d.is_replica)

    def _listed(self, root: LogDirectory, request: Selection) -> Iterator[PartitionDirectory]:
        nested = {other.path for other in self.roots}
        seen: set[tuple[int, int]] = set()
        others: list[os.DirEntry[str]] = []
        is_of_broker = False
        for entry in self._folders(root.path):
            name = parse_directory_name(entry.name)
            if name is None:
                others.append(entry)
                continue
            is_of_broker |= name.topic != METADATA_TOPIC
            if not request.selects(name.topic, name.partition) or entry.path in nested:
                continue
            if self.follow_links and not _is_new(entry, seen, self.context):
                continue
            yield PartitionDirectory(
                path=entry.path,
                log_directory=root,
                topic=name.topic,
                partition=name.partition,
                state=name.state,
            )
        silent = (REMOTE_INDEX_CACHE,) if is_of_broker else NOT_A_PARTITION
        for entry in others:
            if entry.name not in silent:
                self.context.warn(
                    logger, entry.path, "not the name of a partition directory, skipped"
                )

    def _folders(self, path: str) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(path) as entries:
                # real directories first, so that a link to one of them is skipped
                ordered = (
                    sorted(entries, key=os.DirEntry.is_symlink) if self.follow_links else entries
                )
                for entry in ordered:
                    if is_folder(entry, self.context):
                        yield entry
        except OSError as error:
            raise UnreadableFileError(str(error.strerror), LogPosition(shown(path))) from error


def by_partition(
    directories: Iterable[PartitionDirectory],
) -> Iterator[tuple[Identity, tuple[PartitionDirectory, ...]]]:
    """Yield sorted directories of one partition together; those without a name alone."""
    for identity, same in groupby(directories, key=lambda directory: directory.identity):
        if identity[1] is None:
            yield from ((identity, (each,)) for each in same)
        else:
            yield identity, tuple(same)


def is_folder(entry: os.DirEntry[str], context: ReadContext) -> bool:
    """Whether a directory entry is a folder to search; warn if it is a link that is skipped."""
    if not entry.is_symlink():
        return entry.is_dir(follow_symlinks=False)
    leads_to_folder = os.path.isdir(entry.path)
    if leads_to_folder and not context.follow_links:
        context.warn(logger, entry.path, "symbolic link, not followed")
    return leads_to_folder and context.follow_links


def _is_new(entry: os.DirEntry[str], seen: set[tuple[int, int]], context: ReadContext) -> bool:
    try:
        status = entry.stat(follow_symlinks=True)
    except OSError:
        return True  # opening it will report the problem
    key = (status.st_dev, status.st_ino)
    if key in seen:
        context.warn(logger, entry.path, "the same directory under a second name, skipped")
        return False
    seen.add(key)
    return True


def _selected(directory: PartitionDirectory, request: Selection) -> bool:
    brokers = request.brokers
    return request.selects(directory.topic, directory.partition) and (
        brokers is None or directory.log_directory.broker_id in brokers
    )


def _root_order(root: LogDirectory) -> _RootOrder:
    broker = float("inf") if root.broker_id is None else root.broker_id
    return (root.cluster_id or "", broker, root.broker_label or "", root.path)


def directory_order(directory: PartitionDirectory) -> DirectoryOrder:
    """The sort key of partition directories: topic, partition, broker, path."""
    return _directory_orders()(directory)


def _directory_orders() -> Callable[[PartitionDirectory], DirectoryOrder]:
    """Sort keys of many directories: the order of a log directory is computed once."""
    roots: dict[int, tuple[LogDirectory, _RootOrder]] = {}

    def order(directory: PartitionDirectory) -> DirectoryOrder:
        root = directory.log_directory
        known = roots.get(id(root))
        if known is None:
            known = roots[id(root)] = root, _root_order(root)
        partition = -1 if directory.partition is None else directory.partition
        return directory.topic or "", partition, known[1], directory.path

    return order
