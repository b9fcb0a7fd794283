"""Which replicas to read: all, those of one broker, or the best copy of each partition."""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.errors import (
    CorruptCheckpointError,
    LocatedError,
    UnreadableFileError,
    UnsupportedFormatError,
)
from kafkalog_reader.format.offset_limits import MAX_OFFSET
from kafkalog_reader.io.checkpoints import read_leader_epochs
from kafkalog_reader.io.names import METADATA_TOPIC, shown
from kafkalog_reader.io.one_look import one_look_each
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.scan.log_tail import LogTail, end_after_damage, scan_tail
from kafkalog_reader.scan.scan import CHAIN_OF_HEADERS, Scan
from kafkalog_reader.scan.sparse_index import SparseIndex
from kafkalog_reader.tables.contradictions import contradictions
from kafkalog_reader.tables.log_unit import log_start_offset
from kafkalog_reader.tables.unexplained_base import unexplained_base

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.scan.damage import Damage
    from kafkalog_reader.scan.expected_end import ExpectedEnds
    from kafkalog_reader.tables.contradictions import Contradiction
    from kafkalog_reader.tables.request import ReadRequest

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """The offsets [first, next) of another copy, which the chosen one lacks.

    Attributes:
        is_fork: the chosen copy has other records at the first of these offsets.
        is_contradiction: it has them under the same leader epoch, so that no broker notices.
    """

    replica: PartitionDirectory
    first_offset: int
    next_offset: int
    is_fork: bool
    is_contradiction: bool = False

    def __str__(self) -> str:
        """For a warning."""
        if self.is_contradiction:
            return (
                f"{self.replica.replica_name} holds other records from offset {self.first_offset} "
                "on, under the same leader epoch"
            )
        count = self.next_offset - self.first_offset
        held = f"{self.replica.replica_name} holds {count} from offset {self.first_offset} on"
        return f"{held} (a fork: other records)" if self.is_fork else held


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedCopies:
    """The copies of a partition.

    Attributes:
        best: the copy to read.
        lacking: what other copies hold and the best one lacks.
        copies: those that can be read, and their log ends after damage.
    """

    best: PartitionDirectory
    lacking: Sequence[Lacking]
    copies: Sequence[tuple[PartitionDirectory, LogTail]]

    @property
    def end(self) -> int:
        """Where the log of the best copy ends, after damage."""
        return next(tail.next_offset for each, tail in self.copies if each is self.best)


Members = Callable[[Sequence["PartitionDirectory"]], Collection["PartitionDirectory"]]
"""Which of the copies of a partition are in the ISR; none if that is unknown."""
Lineage = list[tuple[int, int]]
"""(leader epoch, first offset) in order: each epoch lasts to the next one's first offset."""


def chosen_by_partition(
    evidence: Evidence,
    request: ReadRequest,
    damage: Damage,
    expected: ExpectedEnds | None = None,
    narrowed: Callable[[Sequence[PartitionDirectory]], Sequence[PartitionDirectory]] | None = None,
    members: Members | None = None,
) -> Iterator[tuple[Sequence[PartitionDirectory], Sequence[PartitionDirectory], Sequence[Lacking]]]:
    """Yield all live copies of each partition, those to read, and what the best of them lacks.

    Their folders are listed once, up to the next partition.

    Args:
        evidence: the supplied paths.
        request: which partitions and replicas.
        damage: receives copies that cannot be read.
        expected: reads checkpoints, which must be older than the logs, before folders of their log
            directory are listed. The best copy must also reach what those of other copies prove.
        narrowed: the copies of which the best is chosen; by default all.
        members: called where copies contradict each other: which of them are in the ISR.

    Raises:
        UnreadableFileError: a directory cannot be listed or a log cannot be read.
    """
    broker = _broker(request.replica)
    several_clusters = len({root.cluster_id for root in evidence.log_directories}) > 1
    clusters: dict[tuple[str | None, int | None], list[str]] = {}
    with one_look_each(evidence) as (looked, forget):
        for (cluster_id, topic, partition), replicas in looked.topic_partitions(request):
            if several_clusters and request.replica == "best":
                clusters.setdefault((topic, partition), []).append(cluster_id or "unknown")
            asked = [r for r in replicas if broker in (None, r.log_directory.broker_id)]
            if expected is not None:
                for replica in asked:
                    expected.prepare(replica.log_directory)
            if request.replica == "best" and len(replicas) > 1:
                compared = replicas if narrowed is None else narrowed(replicas)
                found = compared_copies(compared, damage, members)
                if found is None:
                    yield replicas, (), ()
                else:
                    warn_of_lacking(found.best, found.lacking, with_cluster=several_clusters)
                    if expected is not None:
                        expected.compare(found.best, found.copies)
                    yield replicas, (found.best,), found.lacking
            else:
                yield replicas, asked, ()
            forget()
    _warn_of_several_clusters(clusters)


def _warn_of_several_clusters(
    clusters: Mapping[tuple[str | None, int | None], Sequence[str]],
) -> None:
    """Warn that an answer has the rows of two logs as if they were one."""
    mixed = [
        (f"{topic}-{partition}", ids)
        for (topic, partition), ids in clusters.items()
        if topic not in (None, METADATA_TOPIC) and len(ids) > 1
    ]
    if mixed:
        name, ids = mixed[0]
        others = len(mixed) - 1
        more = f" and {others:,} more partition{'' if others == 1 else 's'}" if others else ""
        logger.warning(
            "the given paths are of several clusters (%s): the rows of all are shown for %s%s. "
            "Give the paths of one cluster, or select by the column clusterId",
            ", ".join(ids), name, more,
        )  # fmt: skip


def best_replica(
    supplied: Sequence[PartitionDirectory], damage: Damage, *, with_cluster: bool = False
) -> PartitionDirectory | None:
    """The best copy alone: see ``best_and_lacking``; a warning names the offsets that it lacks."""
    best, lacking = best_and_lacking(supplied, damage)
    if best is not None:
        warn_of_lacking(best, lacking, with_cluster=with_cluster)
    return best


def best_and_lacking(
    supplied: Sequence[PartitionDirectory], damage: Damage
) -> tuple[PartitionDirectory | None, Sequence[Lacking]]:
    """The copy whose last batch has the greatest leader epoch, then the greatest log end.

    Of equal copies, the one whose log begins first.

    Also the offsets of other copies that it lacks: before its first segment, unless its log start
    was moved, and up to their last batch behind damage. None if no copy can be read and ``damage``
    skips those that cannot.

    Raises:
        UnreadableFileError: a copy cannot be read, in mode ``FAILFAST``: it may be the best.
    """
    found = compared_copies(supplied, damage)
    return (None, ()) if found is None else (found.best, found.lacking)


def compared_copies(
    supplied: Sequence[PartitionDirectory], damage: Damage, members: Members | None = None
) -> ComparedCopies | None:
    """The best copy, see ``best_and_lacking``, and where the log of each readable copy ends.

    A copy whose records others outvote is not chosen, as far as a look at a few places shows.

    Raises:
        UnreadableFileError: a copy cannot be read, in mode ``FAILFAST``: it may be the best.
    """
    replicas, tails = [], []
    for replica in supplied:
        try:
            tails.append(scan_tail(replica))
            replicas.append(replica)
        except UnreadableFileError as error:
            damage.left_out(error)
    if not replicas:
        return None
    ends = [end_after_damage(*each) for each in zip(replicas, tails, strict=True)]
    lengths = sorted(end.next_offset for end in ends)
    found = contradictions(replicas, lengths[-2]) if len(ends) > 1 else ()
    ranks = [_rank(tail) for tail in tails]
    best = _most_complete(replicas, ranks, _not_outvoted(replicas, found, members))
    best_end = ends[best].next_offset
    base = 0 if len(replicas) == 1 else _base(replicas[best])
    contradicting = {
        replica: one.first_offset
        for one in reversed(found)
        for replica in one.against(replicas[best])
    }
    lacking: list[Lacking] = []
    for number, replica in enumerate(replicas):
        own_end = ends[number].next_offset
        start = _log_start(replica) if base and number != best else base
        if start < (stop := min(base, own_end)):
            lacking.append(
                Lacking(replica=replica, first_offset=start, next_offset=stop, is_fork=False)
            )
        if found and replica in contradicting:
            lacking.append(
                Lacking(
                    replica=replica,
                    first_offset=contradicting[replica],
                    next_offset=own_end,
                    is_fork=True,
                    is_contradiction=True,
                )
            )
        elif ranks[number] != ranks[best]:
            end = min(own_end, best_end)
            fork = _fork_of_copies(replica, replicas[best], end)
            if own_end > fork:
                lacking.append(
                    Lacking(
                        replica=replica,
                        first_offset=fork,
                        next_offset=own_end,
                        is_fork=best_end > fork,
                    )
                )
    copies = tuple(zip(replicas, ends, strict=True))
    return ComparedCopies(best=replicas[best], lacking=lacking, copies=copies)


def _not_outvoted(
    replicas: Sequence[PartitionDirectory],
    found: Sequence[Contradiction],
    members: Members | None,
) -> Sequence[int]:
    """The numbers of the copies that others do not outvote; of all if each one is outvoted."""
    everything = range(len(replicas))
    if not found:
        return everything
    in_sync = () if members is None else members(replicas)
    outvoted = {each for one in found for each in one.outvoted(in_sync)}
    return [number for number in everything if replicas[number] not in outvoted] or everything


def _most_complete(
    replicas: Sequence[PartitionDirectory],
    ranks: Sequence[tuple[int, int]],
    numbers: Sequence[int],
) -> int:
    """The number of the copy with the highest rank; of equal ones, of the log that begins first.

    A log start that DeleteRecords moved is no reason against a copy.
    """
    highest = max(ranks[number] for number in numbers)
    equal = [number for number in numbers if ranks[number] == highest]
    return min(equal, key=lambda number: _base(replicas[number])) if len(equal) > 1 else equal[0]


def _base(replica: PartitionDirectory) -> int:
    try:
        return unexplained_base(replica)
    except LocatedError:  # `kafkalog verify` reports the checkpoint
        return 0


def _log_start(replica: PartitionDirectory) -> int:
    """The first offset that consumers of this copy get; where its log ends if it has none."""
    try:
        bases = (each.base_offset for each in segments(replica) if each.log_size)
        first = next(bases, None)
        return MAX_OFFSET if first is None else log_start_offset(replica, first)
    except LocatedError:  # `kafkalog verify` reports the checkpoint
        return MAX_OFFSET


def warn_of_lacking(
    chosen: PartitionDirectory, lacking: Sequence[Lacking], *, with_cluster: bool = False
) -> None:
    """Name the offsets of other copies that the chosen one lacks, if there are some."""
    if lacking:
        shows = any(each.is_contradiction for each in lacking)
        logger.warning(
            "%s-%s%s: read from %s, which lacks %s of other copies: %s%s",
            shown(chosen.topic or "?"),
            chosen.partition,
            f" of cluster {shown(chosen.log_directory.cluster_id or '?')}" if with_cluster else "",
            chosen.replica_name,
            "records" if shows else "offsets",
            "; ".join(map(str, lacking)),
            ". `replica-diff` shows the differences" if shows else "",
        )


def _broker(replica: str) -> int | None:
    return None if replica in ("all", "best") else int(replica.removeprefix("broker:"))


def _rank(tail: LogTail) -> tuple[int, int]:
    return (-1 if tail.last_leader_epoch is None else tail.last_leader_epoch, tail.next_offset)


def _fork_of_copies(one: PartitionDirectory, other: PartitionDirectory, end: int) -> int:
    """The first offset from which the leader epochs of two copies differ; else ``end``.

    A checkpoint may be older than its log, or of another one: where it says that the copies differ
    and their batches say that they do not, the batches count.
    """
    fork = _fork(_lineage(one), _lineage(other), end)
    if fork == end:
        return end
    epochs = _epoch_of_batch(one, fork), _epoch_of_batch(other, fork)
    if None in epochs or epochs[0] != epochs[1]:
        return fork
    return _fork(_lineage_of_batches(one), _lineage_of_batches(other), end)


def _epoch_of_batch(directory: PartitionDirectory, offset: int) -> int | None:
    """The leader epoch of the first batch that ends at or above an offset; None if unknown."""
    log = [each for each in segments(directory) if each.log_size]
    number = max(bisect_right(log, offset, key=lambda each: each.base_offset) - 1, 0)
    if not log:
        return None
    segment, start = log[number], 0
    if segment.offset_index_size:
        with SparseIndex(segment, context=directory.context) as index:
            if (entry := index.last_below_offset(offset)) >= 0:
                start = index[entry][1]
    for run in Scan(segment, CHAIN_OF_HEADERS, start, context=directory.context).runs():
        reaching = np.flatnonzero(run.last_offset >= offset)
        if len(reaching):
            return int(run.leader_epoch[reaching[0]])
    return None


def _fork(one: Lineage, other: Lineage, end: int) -> int:
    """The first offset from which the leader epochs of two copies differ; else ``end``."""
    for start in sorted({start for _, start in (*one, *other) if start < end}):
        epochs = _epoch_at(one, start), _epoch_at(other, start)
        # below the first known epoch nothing is known to differ
        if None not in epochs and epochs[0] != epochs[1]:
            return start
    return end


def _epoch_at(lineage: Lineage, offset: int) -> int | None:
    return next((epoch for epoch, start in reversed(lineage) if start <= offset), None)


def _lineage(directory: PartitionDirectory) -> Lineage:
    """By the checkpoint, which may have entries after the end; without it, by the batches."""
    try:
        entries = read_leader_epochs(directory.path, context=directory.context)
    except (CorruptCheckpointError, UnsupportedFormatError) as error:
        logger.warning("%s; leader epochs are taken from the batches", error)
        entries = None
    if entries:
        return [(entry.leader_epoch, entry.start_offset) for entry in entries]
    return _lineage_of_batches(directory)


def _lineage_of_batches(directory: PartitionDirectory) -> Lineage:
    lineage: Lineage = []
    for segment in segments(directory):
        if segment.log_size is None:
            continue
        for run in Scan(segment, CHAIN_OF_HEADERS, context=directory.context).runs():
            lineage += [
                (int(run.leader_epoch[number]), int(run.base_offset[number]))
                for number in run.leader_epoch_starts
            ]
    return lineage
