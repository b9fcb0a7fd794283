"""The parts of evidence that can be missing, and how they are taken away from a copy of it."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

METADATA: Final = "__cluster_metadata-0"
_NODE_ID: Final = ("node.id=", "broker.id=")


class Kind(StrEnum):
    """What a part is."""

    NODE = "log directories of a node"
    DISK = "log directory"
    METADATA = "metadata logs"
    METADATA_COPY = "metadata log"
    METADATA_SNAPSHOT = "snapshot of the metadata log"
    GROUPS = "offset commits"
    HIGH_WATERMARKS = "high watermarks"
    CHECKPOINT = "checkpoint of a log directory"
    EPOCHS = "leader epoch checkpoint"
    PRODUCERS = "producer snapshots"
    MARKER = "clean-shutdown marker"

    @property
    def is_read_by_starts(self) -> bool:
        """Whether a broker that lacks these files starts in another way.

        Taken from evidence, they describe another disk, and the predictions are those for it.
        """
        return self in (
            Kind.CHECKPOINT,
            Kind.HIGH_WATERMARKS,
            Kind.EPOCHS,
            Kind.PRODUCERS,
            Kind.MARKER,
        )

    @property
    def is_of_metadata(self) -> bool:
        """Whether it is part of the metadata log."""
        return self in (Kind.METADATA, Kind.METADATA_COPY, Kind.METADATA_SNAPSHOT)

    @property
    def is_replica(self) -> bool:
        """Whether copies of partitions are in it."""
        return self in (Kind.NODE, Kind.DISK)


_OF_DIRECTORY: Final = (
    (Kind.HIGH_WATERMARKS, "replication-offset-checkpoint"),
    (Kind.CHECKPOINT, "recovery-point-offset-checkpoint"),
    (Kind.CHECKPOINT, "log-start-offset-checkpoint"),
    (Kind.CHECKPOINT, "cleaner-offset-checkpoint"),
    (Kind.MARKER, ".kafka_cleanshutdown"),
    (Kind.METADATA_COPY, METADATA),
    (Kind.METADATA_SNAPSHOT, f"{METADATA}/*.checkpoint"),
)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the evidence: its files and folders."""

    kind: Kind
    paths: tuple[Path, ...]

    def named(self, root: Path) -> str:
        """What it is, for a message."""
        names = ", ".join(str(each.relative_to(root)) for each in self.paths[:3])
        return f"{self.kind.value} ({names}{', ...' if len(self.paths) > 3 else ''})"

    @contextmanager
    def taken_away(self, aside: Path) -> Iterator[None]:
        """Move the part into an empty folder, and back."""
        with ExitStack() as back:
            for path in self.paths:
                if path.exists():  # else it is in the other part of a pair
                    kept = aside / str(len(list(aside.iterdir())))
                    path.rename(kept)
                    back.callback(kept.rename, path)
            yield


def parts_of(root: Path) -> tuple[Part, ...]:
    """The parts of evidence below a folder, the larger ones first."""
    disks = sorted({each.parent for each in root.glob("**/meta.properties")} or _unnamed(root))
    found = [Part(Kind.DISK, (disk,)) for disk in disks if disk != root]
    by_node = groupby(sorted(found, key=_node), key=_node)
    of_nodes = [(node, tuple(disk.paths[0] for disk in held)) for node, held in by_node]
    found += [Part(Kind.NODE, paths) for node, paths in of_nodes if node and len(paths) > 1]
    logs = tuple(disk / METADATA for disk in disks if (disk / METADATA).is_dir())
    if logs:
        found.append(Part(Kind.METADATA, logs))
    for disk in disks:
        for kind, pattern in _OF_DIRECTORY:
            if kind is not Kind.METADATA_COPY or len(logs) > 1:
                found += [Part(kind, (path,)) for path in sorted(disk.glob(pattern))]
    found += _all(Kind.GROUPS, root.glob("**/__consumer_offsets-*"))
    found += _all(Kind.HIGH_WATERMARKS, root.glob("**/replication-offset-checkpoint"))
    found += _all(Kind.MARKER, root.glob("**/.kafka_cleanshutdown"))
    for path in sorted(root.glob("**/leader-epoch-checkpoint")):
        found.append(Part(Kind.EPOCHS, (path,)))
    found += _all(Kind.EPOCHS, root.glob("**/leader-epoch-checkpoint"))
    for _, files in groupby(sorted(root.glob("**/*.snapshot")), key=lambda each: each.parent):
        found.append(Part(Kind.PRODUCERS, tuple(files)))
    found += _all(Kind.PRODUCERS, root.glob("**/*.snapshot"))
    return tuple(each for each in found if each.paths)


def _all(kind: Kind, paths: Iterable[Path]) -> list[Part]:
    return [Part(kind, found)] if (found := tuple(sorted(paths))) else []


def _unnamed(root: Path) -> set[Path]:
    """The log directories of clusters before there was ``meta.properties``."""
    return {each.parent for each in root.glob("**/replication-offset-checkpoint")}


def _node(disk: Part) -> str:
    """The node id of a log directory; empty if it is unknown."""
    try:
        lines = (disk.paths[0] / "meta.properties").read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.split("=")[1] for line in lines if line.startswith(_NODE_ID)), "")
