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
from kafkalog_reader.io.directories import (
    Identity,
    LogDirectory,
    PartitionDirectory,
    directory_orders,
    root_order,
)
from kafkalog_reader.io.folder import is_folder
from kafkalog_reader.io.names import (
    METADATA_TOPIC,
    NOT_A_PARTITION,
    REMOTE_INDEX_CACHE,
    parse_directory_name,
    shown,
)
from kafkalog_reader.io.read_context import ReadContext

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

logger = logging.getLogger(__name__)


class Selection(Protocol):
    """Which replicas a request selects; ``tables.request.ReadRequest`` implements it."""

    @property
    def brokers(self) -> frozenset[int] | None:
        """Only replicas of these node ids; None for all."""

    def selects(self, topic: str | None, partition: int | None) -> bool:
        """Whether a topic partition is selected."""


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
        return tuple(sorted(found.values(), key=root_order))

    def partition_directories(self, request: Selection) -> Iterator[PartitionDirectory]:
        """Yield the selected directories, live or not, by topic, partition and broker.

        Raises:
            UnreadableFileError: a log directory cannot be listed.
        """
        return iter(sorted(self.unordered_directories(request), key=directory_orders()))

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
