"""Whole log directories of a KRaft cluster, none of which has the metadata log.

Every KRaft node, broker or controller, has ``__cluster_metadata-0`` in its ``metadata.log.dir``; by
default that is the first of ``log.dirs``. Controllers without it start with an empty log, and 4.3.1
brokers then renamed every replica to ``-stray``, because "the topicId does not exist in the
metadata image" (Kafka 4.3, LogManager#isStrayReplica).
"""

from __future__ import annotations

import os
import posixpath
from collections import defaultdict
from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.actions import FIND_METADATA_LOG
from kafkalog_reader.audits.catalogue.replica_rules import CONTROLLERS_BEHIND
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.integrity.partial_copy import is_whole_directory
from kafkalog_reader.format.broker_words import joined_ids
from kafkalog_reader.io.directories import PartitionDirectory
from kafkalog_reader.io.names import METADATA_TOPIC

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.io.directories import LogDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest


def metadata_absent_findings(evidence: Evidence, request: ReadRequest) -> Iterator[Finding]:
    """Yield KL-525 once for each such cluster; it may be that the log was not copied.

    Args:
        evidence: the supplied paths.
        request: which partitions are requested; the place is a directory with one of them.
    """
    roots: dict[str | None, list[LogDirectory]] = defaultdict(list)
    for root in () if evidence.skipped else evidence.roots:
        roots[root.cluster_id].append(root)
    in_part = {each.log_directory.cluster_id for each in evidence.given}
    for cluster_id, own in roots.items():
        if cluster_id in in_part or not all(map(is_whole_directory, own)) or _has_metadata_log(own):
            continue
        holders = {
            each.log_directory
            for each in evidence.unordered_directories(request)
            if each.is_replica and each.log_directory in own
        }
        if holders:
            yield _absent(own, min(holders, key=own.index))


def _has_metadata_log(roots: Sequence[LogDirectory]) -> bool:
    """Whether one of them has it, be it behind a link that is not followed."""
    return any(os.path.lexists(posixpath.join(each.path, f"{METADATA_TOPIC}-0")) for each in roots)


def _absent(roots: Sequence[LogDirectory], place: LogDirectory) -> Finding:
    nodes = sorted({each.broker_id for each in roots if each.broker_id is not None})
    verb = "has" if len(nodes) == 1 else "have"
    return finding(
        CONTROLLERS_BEHIND,
        f"in the supplied directories {joined_ids(nodes)} {verb} no {METADATA_TOPIC}-0, which "
        "every node of a KRaft cluster has: if it is lost, and was not merely left out of the "
        "copy, brokers that start rename all their partitions to -stray, and before release 3.7 "
        "delete them",
        directory=PartitionDirectory.whole(place),
        severity="C" if len(nodes) > 1 else "M",
        confidence="possible",
        actions=(FIND_METADATA_LOG,),
        evidence={"nodes": ", ".join(map(str, nodes))},
    )
