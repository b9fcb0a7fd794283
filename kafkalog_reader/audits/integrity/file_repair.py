"""Repairs as data, which commands print: of files of a stopped broker, and of groups' offsets."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.io.names import ASIDE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kafkalog_reader.io.directories import PartitionDirectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Move a file or folder, which nothing may overwrite.

    Attributes:
        path: as found.
        target: where to; its folder may have to be made.
    """

    path: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decompress:
    """Write what a compressed file holds to a new file; the compressed one stays.

    Attributes:
        path: of the compressed file.
        target: of the new one, which nothing may overwrite.
        program: writes what a file holds to standard output.
    """

    path: str
    target: str
    program: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """Write a text file; what is there is moved away before.

    Attributes:
        path: of the file.
        lines: its whole content.
    """

    path: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """Write a text file of a partition directory; what is there is copied aside before.

    Attributes:
        path: of the file.
        lines: its whole content.
    """

    path: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipBit:
    """Correct one byte of a file of a partition directory; the file is copied aside before.

    Attributes:
        path: of the file.
        position: of the byte.
        value: the right one, as a checksum or the batches around it prove.
    """

    path: str
    position: int
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """Copy a folder from another node.

    Attributes:
        source: the folder there.
        node: its name for people, such as ``broker 1``.
        path: where to; nothing is there.
        leave_out: the name of a file that stays behind, because it belongs to the other node.
    """

    source: str
    node: str
    path: str
    leave_out: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetOffset:
    """Commit an offset of one partition for groups without consumers, while brokers run.

    Attributes:
        groups: their names.
        offset: where they go on.
    """

    groups: tuple[str, ...]
    topic: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """Give the new, empty log directories of a stopped node their ``meta.properties``.

    Attributes:
        node: its node id.
    """

    cluster_id: str
    node: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAgain:
    """Audit again only what belongs together; no file is changed.

    Attributes:
        why: what these paths have in common.
        paths: of log directories.
        topic: of the partition to compare; empty: verify all.
    """

    why: str
    paths: tuple[str, ...]
    topic: str = ""
    partition: int = 0


FileRepair = Move | Decompress | Write | Rewrite | FlipBit | Copy | Format
Repair = FileRepair | SetOffset | RunAgain


WAITING: Final = ".renamed"
"""Appended to the name of a file or folder whose own name is not free yet."""


def renames(targets: Mapping[str, str]) -> Iterator[Move]:
    """Give files or folders each other's names, or one of them a name that is free.

    Args:
        targets: the new path of each.
    """
    left = dict(targets)
    holders = {target: path for path, target in targets.items()}
    while left:
        path = next(iter(left))
        target = left.pop(path)
        is_free = target not in left
        yield Move(path=path, target=target if is_free else f"{target}{WAITING}")
        holder = holders.get(path)
        while holder is not None and holder in left:
            yield Move(path=holder, target=left.pop(holder))
            holder = holders.get(holder)
        if not is_free:
            yield Move(path=f"{target}{WAITING}", target=target)


def gives_names_back(repairs: Iterable[Repair]) -> bool:
    """Whether files are only renamed, or decompressed, in the folders where they are."""
    return all(
        isinstance(each, Move | Decompress)
        and posixpath.dirname(each.path) == posixpath.dirname(each.target)
        for each in repairs
    )


def aside_path(root: str, name: str) -> str:
    """Where to move what must leave a log directory: beside it.

    Inside of the log directory a folder would keep the broker from starting.
    """
    above, own = posixpath.split(root.rstrip("/"))
    if own in ("", ".", ".."):
        return posixpath.join(root, "..", ASIDE, name)
    return posixpath.join(above, ASIDE, own, name)


def move_aside(root: str, name: str) -> Move:
    """Move an entry of a log directory out of it."""
    return Move(path=posixpath.join(root, name), target=aside_path(root, name))


def index_moves(directory: PartitionDirectory, files: Iterable[str]) -> tuple[Move, ...]:
    """Move index files of a replica aside, so that the next start rebuilds them."""
    root, partition = posixpath.split(directory.path.rstrip("/"))
    return tuple(move_aside(root, f"{partition}/{name}") for name in files)


def offset_repairs(path: str, position: int, stored: int, due: int) -> Iterator[FlipBit]:
    """Write another base offset, the first field of a batch.

    Args:
        path: of the segment file.
        position: of the batch.
        stored: the base offset that it has.
        due: the right one.
    """
    pairs = zip(stored.to_bytes(8, "big", signed=True), due.to_bytes(8, "big"), strict=True)
    for at, (wrong, right) in enumerate(pairs):
        if wrong != right:
            yield FlipBit(path=path, position=position + at, value=right)
