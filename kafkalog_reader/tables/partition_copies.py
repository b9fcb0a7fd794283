"""The copies of each partition, and those of them to read."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.io.one_look import one_look_each
from kafkalog_reader.tables.best_replica import compared_copies
from kafkalog_reader.tables.lacking import warn_of_lacking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.scan.damage import Damage
    from kafkalog_reader.scan.expected_end import ExpectedEnds
    from kafkalog_reader.tables.best_replica import Members
    from kafkalog_reader.tables.lacking import Lacking
    from kafkalog_reader.tables.request import ReadRequest

logger = logging.getLogger(__name__)


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


def _broker(replica: str) -> int | None:
    return None if replica in ("all", "best") else int(replica.removeprefix("broker:"))


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
