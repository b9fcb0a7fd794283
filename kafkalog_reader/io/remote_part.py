"""Puts local logs and the remote part of their partition together (KIP-405).

A remote part is no replica: all replicas of the partition share it. It belongs to the replicas
that have its topic id, because a deleted topic may have had the same name.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import read_topic_id
from kafkalog_reader.io.directories import directory_order
from kafkalog_reader.io.evidence import Evidence, by_partition
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.remote_names import parse_remote_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kafkalog_reader.io.directories import Identity, PartitionDirectory
    from kafkalog_reader.io.evidence import Selection

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class EvidenceWithRemote(Evidence):
    """What was supplied, as it is read: a partition with its remote part.

    Audits examine ``Evidence``, which has the replicas only.
    """

    def partition_directories(self, request: Selection) -> Iterator[PartitionDirectory]:
        """Yield the same directories, and the folders of remote segments."""
        remote = self._parts(request) if request.brokers is None else []
        return iter(sorted((*super().partition_directories(request), *remote), key=directory_order))

    def topic_partitions(
        self, request: Selection
    ) -> Iterator[tuple[Identity, tuple[PartitionDirectory, ...]]]:
        """Yield the same replicas, each with its remote part, and remote parts without any."""
        live = [d for d in super().partition_directories(request) if d.is_replica]
        alone = request.brokers is None
        found = _joined(live, self._parts(request), may_stand_alone=alone)
        return by_partition(sorted(found, key=directory_order))

    def _parts(self, request: Selection) -> list[PartitionDirectory]:
        return [each for each in self.remote if request.selects(each.topic, each.partition)]


def with_remote(evidence: Evidence) -> Evidence:
    """The evidence for reading: partitions with their remote parts, if some were supplied."""
    if not evidence.remote or isinstance(evidence, EvidenceWithRemote):
        return evidence
    return EvidenceWithRemote(
        roots=evidence.roots,
        given=evidence.given,
        context=evidence.context,
        searched=evidence.searched,
        remote=evidence.remote,
    )


def _joined(
    replicas: Sequence[PartitionDirectory],
    parts: Iterable[PartitionDirectory],
    *,
    may_stand_alone: bool,
) -> list[PartitionDirectory]:
    """The replicas with their remote part, and remote parts of partitions without a replica.

    A remote part with another topic id than all replicas is left out, with a warning.

    Args:
        replicas: live ones.
        parts: folders of remote segments.
        may_stand_alone: whether to return remote parts of partitions without a replica.
    """
    by_identity: defaultdict[Identity, defaultdict[str | None, list[PartitionDirectory]]]
    by_identity = defaultdict(lambda: defaultdict(list))
    for part in parts:
        by_identity[part.identity][_topic_id_of_part(part)].append(part)
    found = []
    used: set[str] = set()
    for replica in replicas:
        by_topic_id = by_identity.get(replica.identity) if replica.topic is not None else None
        remote = () if by_topic_id is None else _of_replica(replica, by_topic_id)
        used.update(each.path for each in remote)
        found.append(replace(replica, remote=remote) if remote else replica)
    replicated = {replica.identity for replica in replicas if replica.topic is not None}
    for identity, by_topic_id in by_identity.items():
        for topic_id, same in by_topic_id.items():
            if identity not in replicated:
                first, *others = same
                found += [replace(first, remote=tuple(others))] if may_stand_alone else []
            elif same[0].path not in used:
                logger.warning(
                    "%s: of topic id %s, which no supplied replica has: not read with them; "
                    "give it alone to read it",
                    shown(same[0].path),
                    topic_id,
                )
    return found


def _of_replica(
    replica: PartitionDirectory, by_topic_id: dict[str | None, list[PartitionDirectory]]
) -> tuple[PartitionDirectory, ...]:
    try:
        own = read_topic_id(replica.path, context=replica.context)
    except LocatedError as error:
        logger.warning("%s: the remote part is read by the name of the topic", error)
        own = None
    if own is None:
        return tuple(next(iter(by_topic_id.values()))) if len(by_topic_id) == 1 else ()
    return tuple(by_topic_id.get(own, ()))


def _topic_id_of_part(part: PartitionDirectory) -> str | None:
    name = parse_remote_folder(part.path)
    return None if name is None else name.topic_id
