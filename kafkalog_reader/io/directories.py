"""Log directories and the partition directories in them, as small values that can be pickled."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kafkalog_reader.io.names import shown
from kafkalog_reader.io.read_context import ReadContext

if TYPE_CHECKING:
    from collections.abc import Callable

_RootOrder = tuple[str, float, str, str]
DirectoryOrder = tuple[str, int, _RootOrder, str]
Identity = tuple[str | None, str | None, int | None]
"""Cluster id, topic, partition: two clusters in one folder stay two."""


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
            one, empty if its path repeats the broker's name.
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
        return f"{name} ({shown(root.disk)})" if root.disk else name


def root_order(root: LogDirectory) -> _RootOrder:
    """The sort key of log directories: cluster, broker, label, path."""
    broker = float("inf") if root.broker_id is None else root.broker_id
    return (root.cluster_id or "", broker, root.broker_label or "", root.path)


def directory_order(directory: PartitionDirectory) -> DirectoryOrder:
    """The sort key of partition directories: topic, partition, broker, path."""
    return directory_orders()(directory)


def directory_orders() -> Callable[[PartitionDirectory], DirectoryOrder]:
    """Sort keys of many directories: the order of a log directory is computed once."""
    roots: dict[int, tuple[LogDirectory, _RootOrder]] = {}

    def order(directory: PartitionDirectory) -> DirectoryOrder:
        root = directory.log_directory
        known = roots.get(id(root))
        if known is None:
            known = roots[id(root)] = root, root_order(root)
        partition = -1 if directory.partition is None else directory.partition
        return directory.topic or "", partition, known[1], directory.path

    return order
