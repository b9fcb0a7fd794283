"""The cluster that takes over a salvaged log, and what the log must contain for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.errors import LocatedError, OptionError, UsageError
from kafkalog_reader.format.uuid import ZERO_UUID, uuid_bytes, uuid_text
from kafkalog_reader.io.checkpoints import read_topic_id
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest


FOREIGN_TO_ALL = frozenset({"__cluster_metadata", "__transaction_state"})
"""Topics that describe one cluster and make no sense in another."""


_SEGMENTS = "with segments (--as-segments, as_segments=True)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """The cluster that takes the log over.

    Attributes:
        topic_ids: as it calls the topics.
        leader_epoch: written into every batch; not above
            the cluster's own epoch of the partition, so 0 always fits.
    """

    topic_ids: dict[str, str]
    leader_epoch: int = 0

    def topic_id(self, topic: str | None) -> str:
        """The id of a topic in that cluster.

        Raises:
            UsageError: no id was given, or the topic cannot be taken over.
        """
        if topic in FOREIGN_TO_ALL:
            raise UsageError(f"{topic} belongs to its cluster: no other can take it over")
        if topic is None or topic not in self.topic_ids:
            raise UsageError(
                f"--topic-id {shown(topic or 'TOPIC')}=ID is missing: a broker sets aside a "
                "directory whose topic id is not the topic's"
            )
        return self.topic_ids[topic]


def receiver_of(
    evidence: Evidence,
    request: ReadRequest,
    *,
    as_segments: bool,
    merge: bool,
    topic_ids: Mapping[str, str],
    leader_epoch: int,
) -> Receiver | None:
    """Who receives the logs of a salvage; None where it writes Parquet.

    Args:
        evidence: the damaged copies.
        request: which of them.
        as_segments: write logs.
        merge: make one log of all copies; its topics keep their ids unless others are given.
        topic_ids: by topic.
        leader_epoch: of every batch.

    Raises:
        OptionError: options that contradict each other, or an id that is not one.
        UsageError: copies to merge belong to topics of the same name with different ids.
    """
    if not as_segments:
        if merge:
            raise OptionError("merge", f"only {_SEGMENTS}")
        if topic_ids:
            raise OptionError("topic_id", f"only {_SEGMENTS}")
        return None
    if merge and request.replica != "best":
        raise OptionError("merge", "reads all copies: leave out replica, or do not merge")
    if request.replica == "all":
        raise OptionError(
            "replica",
            "segments are one log of a partition: best or broker:N",
        )
    receiver = Receiver(topic_ids=dict(map(_checked, topic_ids.items())), leader_epoch=leader_epoch)
    if merge:
        _add_own_topic_ids(receiver, evidence, request)
    return receiver


def _checked(given: tuple[str, str]) -> tuple[str, str]:
    topic, text = given
    try:
        topic_id = uuid_text(uuid_bytes(text))
    except ValueError as error:
        raise OptionError("topic_id", f"{text}: {error}") from error
    if topic_id == ZERO_UUID:
        raise OptionError("topic_id", f"{text}: the zero id names no topic")
    return topic, topic_id


def _add_own_topic_ids(receiver: Receiver, evidence: Evidence, request: ReadRequest) -> None:
    """A merged log usually returns to the cluster of its copies, where topics have these ids."""
    own: dict[str, set[str]] = {}
    for _, copies in evidence.topic_partitions(request):
        for each in copies:
            try:
                topic_id = read_topic_id(each.path, context=each.context)
            except LocatedError:  # the other copies may know
                continue
            if topic_id is not None and each.topic is not None:
                own.setdefault(each.topic, set()).add(topic_id)
    for topic, ids in own.items():
        if len(ids) > 1:
            raise UsageError(
                f"{topic}: the copies are of {len(ids)} topics of this name, by their topic ids: "
                f"{', '.join(sorted(ids))}. Merge those of one"
            )
        receiver.topic_ids.setdefault(topic, *ids)
