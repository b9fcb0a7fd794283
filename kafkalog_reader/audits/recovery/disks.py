"""Checks ``meta.properties`` in all log directories as a KRaft broker does before it loads a log.

Brokers with ZooKeeper check differently and are not covered. Source: Kafka 4.4,
MetaPropertiesEnsemble#verify, KafkaRaftServer#initializeLogDirs.
"""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import LocatedError, LogPosition
from kafkalog_reader.format.meta_properties import MetaProperties, parse_meta_properties
from kafkalog_reader.format.uuid import ZERO_UUID, uuid_bytes
from kafkalog_reader.io.names import (
    BOOTSTRAP_CHECKPOINT,
    CLEAN_SHUTDOWN,
    LOCK,
    META_PROPERTIES,
    METADATA_TOPIC,
    OFFSET_CHECKPOINTS,
    parse_directory_name,
    shown,
)
from kafkalog_reader.io.small_file import METADATA_LIMIT, read_if_present

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kafkalog_reader.io.read_context import ReadContext

_RESERVED_IDS: Final = 100
"""Directory ids below it have special meanings (DirectoryId#reserved)."""
METADATA_LOG: Final = f"{METADATA_TOPIC}-0"
_OWN_FILES: Final = (*OFFSET_CHECKPOINTS, CLEAN_SHUTDOWN, LOCK, BOOTSTRAP_CHECKPOINT)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskFailures:
    """Failures before any log is loaded.

    Attributes:
        fatal: why the broker does not start; empty if it starts.
        offline: why a log directory is taken offline, by its path.
        directory_ids: of every log directory, by its path; None if it is unknown.
    """

    fatal: str = ""
    offline: Mapping[str, str] = field(default_factory=dict)
    directory_ids: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Disk:
    """One log directory; ``meta`` is None if the file is missing or has the ``problem``."""

    path: str
    meta: MetaProperties | None
    problem: str

    @property
    def file(self) -> str:
        return shown(posixpath.join(self.path, META_PROPERTIES))

    @property
    def shows_kraft(self) -> bool:
        return self.holds_metadata_log or (self.meta is not None and self.meta.version > 0)

    @property
    def holds_metadata_log(self) -> bool:
        return Path(self.path, METADATA_LOG).is_dir()


def is_copied_with_its_files(path: str) -> bool:
    """Whether a log directory has other small files of its own, not only partition folders."""
    return any(os.path.lexists(posixpath.join(path, name)) for name in _OWN_FILES)


def disk_failures(
    paths: Sequence[str],
    context: ReadContext,
    *,
    is_kraft: bool,
    node_id: int | None = None,
) -> DiskFailures:
    """Check all log directories of one broker that were supplied as a whole.

    A missing file counts only if another disk has one, or if the directory has other small files of
    its own, because copies of partition folders often lack it.

    Args:
        paths: of the log directories.
        node_id: of the broker; None: the one in the files.
        context: how files are read; links are followed, as the broker does.
        is_kraft: the broker is known to run without ZooKeeper; otherwise the files decide.
    """
    context = context.following_links()
    disks = [_read(path, context) for path in paths]
    ids = {disk.path: None if disk.meta is None else disk.meta.directory_id for disk in disks}
    if not (is_kraft or any(disk.shows_kraft for disk in disks)):
        return DiskFailures(directory_ids=ids)
    offline = {disk.path: f"{disk.file}: {disk.problem}" for disk in disks if disk.problem}
    fatal = next(_fatal(disks, node_id, context), "")
    return DiskFailures(fatal=fatal, offline=offline, directory_ids=ids)


def _read(directory: str, context: ReadContext) -> _Disk:
    path = posixpath.join(directory, META_PROPERTIES)
    problem, meta = "", None
    try:
        content = read_if_present(path, METADATA_LIMIT, context=context)
        if content is not None:
            meta = parse_meta_properties(content, LogPosition(shown(path)))
            uuid_bytes(meta.directory_id or ZERO_UUID)
    except LocatedError as error:
        problem = error.problem
    except ValueError as error:
        problem = f"directory.id: {error}"
    return _Disk(path=directory, meta=None if problem else meta, problem=problem)


def _fatal(disks: Sequence[_Disk], node_id: int | None, context: ReadContext) -> Iterator[str]:
    known = [(disk, disk.meta) for disk in disks if disk.meta is not None]
    for (disk, meta), (other, expected) in zip(known, known[:1] * len(known), strict=True):
        if None not in (meta.cluster_id, expected.cluster_id) and (
            meta.cluster_id != expected.cluster_id
        ):
            yield (
                f"{disk.file}: cluster {shown(meta.cluster_id or '')}, and {other.file} says "
                f"{shown(expected.cluster_id or '')}"
            )
        if None not in (meta.node_id, expected.node_id) and meta.node_id != expected.node_id:
            yield (
                f"{disk.file}: node {meta.node_id}, and {other.file} says node {expected.node_id}"
            )
    for disk, meta in known:
        if None not in (meta.node_id, node_id) and meta.node_id != node_id:
            yield f"{disk.file}: node {meta.node_id}, and the broker is {node_id}"
    yield from _twice(known, context)
    for disk in disks:
        if disk.problem and disk.holds_metadata_log:
            yield f"{disk.file}: {disk.problem}, in the directory of the metadata log"
    with_metadata = {
        meta.directory_id or disk.path: disk for disk, meta in known if disk.holds_metadata_log
    }
    if len(with_metadata) > 1:
        paths = " and ".join(
            shown(posixpath.join(disk.path, METADATA_LOG)) for disk in with_metadata.values()
        )
        yield f"{paths}: two metadata logs, and a broker has one"
    for disk in disks:
        if disk.meta is None and not disk.problem and known:
            yield f"{disk.file}: missing, and other disks of the broker have it"
        elif disk.meta is None and not disk.problem and is_copied_with_its_files(disk.path):
            yield f"{disk.file}: missing"
        if disk.meta is not None and None in (disk.meta.node_id, disk.meta.cluster_id):
            yield f"{disk.file}: without the id of node or cluster"


def _twice(known: Sequence[tuple[_Disk, MetaProperties]], context: ReadContext) -> Iterator[str]:
    """Reserved directory ids, and those of several disks that are not copies of one disk."""
    first: dict[str, _Disk] = {}
    for disk, meta in known:
        if meta.directory_id is None:
            continue
        if int.from_bytes(uuid_bytes(meta.directory_id), "big") < _RESERVED_IDS:
            yield f"{disk.file}: directory.id {meta.directory_id} is reserved"
        before = first.setdefault(meta.directory_id, disk)
        if before is not disk and not (_partitions(before, context) & _partitions(disk, context)):
            yield (
                f"{disk.file}: directory.id {meta.directory_id}, which {before.file} has too: "
                "two disks with one id"
            )


def _partitions(disk: _Disk, context: ReadContext) -> frozenset[str]:
    try:
        names = [entry.name for entry in context.entries(disk.path)]
    except OSError:
        return frozenset()
    return frozenset(name for name in names if parse_directory_name(name) is not None)
