"""A step that gets the controllers a leader, and the words that all of them use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.recovery.node_releases import KAFKA_3_7
from kafkalog_reader.io.names import METADATA_TOPIC, QUORUM_STATE, shown
from kafkalog_reader.report.shell_word import shell_word
from kafkalog_reader.report.spans import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from kafkalog_reader.audits.quorum.metadata_copy import MetadataCopy
    from kafkalog_reader.audits.quorum.outcome import QuorumAudit

METADATA_DIR: Final = "METADATA_LOG_DIR"
"""To be replaced by the path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumStep:
    """One step: what to do, and the commands for it; words in capitals are to be replaced.

    ``is_of_disk``: it restores a log directory, which the plan has a step for, too.
    """

    text: str
    commands: tuple[str, ...] = ()
    is_of_disk: bool = False


def node_name(copy: MetadataCopy) -> str:
    """``node 101``, or how the copy was labelled."""
    if copy.node_id is None or copy.directory.log_directory.broker_label is not None:
        return copy.directory.replica_name
    return f"node {copy.node_id}"


def names_text(copies: Sequence[MetadataCopy]) -> str:
    """``node 1``, ``nodes 1 and 2``."""
    if all(node_name(each).startswith("node ") for each in copies) and len(copies) > 1:
        return f"nodes {listed([str(each.node_id) for each in copies])}"
    return listed([node_name(each) for each in copies])


def describe(audit: QuorumAudit, running: Collection[int | None]) -> tuple[str, ...]:
    """Shows whether there is a leader, by the address of one of the voters that run then."""
    voters = () if audit.quorum.voters is None else audit.quorum.voters.voters
    ends = [e.endpoints[0] for e in voters if e.node_id in running and e.endpoints]
    server = shown(ends[0].partition("://")[2]) if ends else "CONTROLLER:9093"
    if audit.quorum.releases.before(KAFKA_3_7):  # the tool asks brokers only
        known = max(each.end.leader_epoch for each in audit.quorum.copies)
        known = max(known, *(e.state.leader_epoch for e in audit.quorum.copies if e.state), -1)
        return (
            f"cat {METADATA_DIR}/{METADATA_TOPIC}-0/{QUORUM_STATE}   "
            f"# leaderEpoch above {known}, and leaderId not -1",
        )
    return (
        f"kafka-metadata-quorum.sh --bootstrap-controller {shell_word(server)} "
        "describe --replication",
    )


def nodes(copies: Sequence[MetadataCopy]) -> frozenset[int | None]:
    return frozenset(each.node_id for each in copies)
