"""The cluster that takes over a salvaged log, and what the log must contain for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import LocatedError, OptionError, UsageError
from kafkalog_reader.format.uuid import ZERO_UUID, uuid_bytes, uuid_text
from kafkalog_reader.io.checkpoints import is_without_topic_ids, read_topic_id
from kafkalog_reader.io.names import METADATA_TOPIC, TRANSACTION_STATE_TOPIC, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest


_OF_ONE_CLUSTER: Final = frozenset({METADATA_TOPIC, TRANSACTION_STATE_TOPIC})
"""Topics that describe one cluster and make no sense in another."""

NO_TOPIC_ID: Final = ""
"""The id of the topics of brokers that write none, before Kafka 2.8."""
_SEGMENTS = "with segments (--as-segments, as_segments=True)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """The cluster that takes the log over.

    Attributes:
        topic_ids: as it calls the topics.
        own_topic_ids: of the copies, by cluster and topic; used where no other id was given.
            ``NO_TOPIC_ID`` where the brokers write none.
        leader_epoch: written into every batch of a log for another cluster; not above
            the cluster's own epoch of the partition, so 0 (which None stands for) always fits.
    """

    topic_ids: dict[str, str]
    own_topic_ids: dict[tuple[str | None, str], str] = field(default_factory=dict)
    leader_epoch: int | None = None

    def is_in_place(self, directory: PartitionDirectory) -> bool:
        """Whether the log returns to the place of its copies, as its topic id shows.

        Clusters make topic ids at random. A given leader epoch is for another cluster, too.
        """
        topic = directory.topic or ""
        own = self.own_topic_ids.get((directory.log_directory.cluster_id, topic))
        is_own = own is not None and self.topic_ids.get(topic, own) == own
        return is_own and self.leader_epoch is None

    def is_foreign(self, directory: PartitionDirectory) -> bool:
        """Whether the topic belongs to its cluster, and the log would not return to it."""
        if directory.topic == METADATA_TOPIC:
            return True  # its snapshots and voters are no log
        return directory.topic in _OF_ONE_CLUSTER and not self.is_in_place(directory)

    def topic_id(self, directory: PartitionDirectory) -> str:
        """The id of a copy's topic in that cluster; ``NO_TOPIC_ID`` if it has none.

        Raises:
            UsageError: there is none.
        """
        self.check([directory])
        topic = directory.topic
        assert topic is not None
        own = self.own_topic_ids.get((directory.log_directory.cluster_id, topic))
        return self.topic_ids.get(topic) or own or NO_TOPIC_ID

    def check(self, directories: Iterable[PartitionDirectory]) -> None:
        """Check that all copies can be taken over.

        Raises:
            UsageError: topics have no id, or belong to their cluster; all are named.
        """
        foreign, missing = set(), set()
        for each in directories:
            topic = each.topic or "TOPIC"
            if self.is_foreign(each):
                foreign.add(topic)
            elif (
                topic not in self.topic_ids
                and (each.log_directory.cluster_id, topic) not in self.own_topic_ids
            ):
                missing.add(topic)
        if foreign:
            raise UsageError(foreign_text(foreign))
        if missing:
            options = " ".join(f"--topic-id {shown(topic)}=ID" for topic in sorted(missing))
            are, them = ("is", "it") if len(missing) == 1 else ("are", "them")
            raise UsageError(
                f"{options} {are} missing: the input has no readable partition.metadata of {them}, "
                "which holds the id. kafka-topics.sh --describe prints it in the receiving "
                "cluster; a broker sets aside a directory with another one"
            )


def foreign_text(topics: Iterable[str]) -> str:
    """Why topics are not taken over."""
    names = sorted(topics)
    belong, them = ("belongs to its", "it") if len(names) == 1 else ("belong to their", "them")
    return f"{' and '.join(names)} {belong} cluster: no other can take {them} over"


def receiver_of(
    evidence: Evidence,
    request: ReadRequest,
    *,
    as_segments: bool,
    merge: bool,
    topic_ids: Mapping[str, str],
    leader_epoch: int | None,
) -> Receiver | None:
    """Who receives the logs of a salvage; None where it writes Parquet.

    Args:
        evidence: the damaged copies.
        request: which of them.
        as_segments: write logs.
        merge: make one log of all copies.
        topic_ids: by topic; the others keep the ids of the copies.
        leader_epoch: of every batch of a log for another cluster; None keeps them in a log that
            returns to its copies, and is 0 elsewhere.

    Raises:
        OptionError: options that contradict each other, or an id that is not one.
        UsageError: copies belong to topics of the same name with different ids.
    """
    if not as_segments:
        if merge:
            raise OptionError("merge", f"only {_SEGMENTS}")
        if topic_ids:
            raise OptionError("topic_id", f"only {_SEGMENTS}")
        if leader_epoch is not None:
            raise OptionError("leader_epoch", f"only {_SEGMENTS}")
        if request.replica == "best":  # the best of two topics would hide the other's records
            _own_topic_ids(evidence, request, {}, merge=False)
        return None
    if merge and request.replica != "best":
        raise OptionError("merge", "reads all copies: leave out replica, or do not merge")
    if request.replica == "all":
        raise OptionError(
            "replica",
            "segments are one log of a partition: best or broker:N",
        )
    given = dict(map(_checked, topic_ids.items()))
    own = _own_topic_ids(evidence, request, given, merge=merge)
    return Receiver(topic_ids=given, own_topic_ids=own, leader_epoch=leader_epoch)


def _checked(given: tuple[str, str]) -> tuple[str, str]:
    topic, text = given
    try:
        topic_id = uuid_text(uuid_bytes(text))
    except ValueError as error:
        raise OptionError("topic_id", f"{text}: {error}") from error
    if topic_id == ZERO_UUID:
        raise OptionError("topic_id", f"{text}: the zero id names no topic")
    return topic, topic_id


def _own_topic_ids(
    evidence: Evidence, request: ReadRequest, given: Mapping[str, str], *, merge: bool
) -> dict[tuple[str | None, str], str]:
    """The ids in ``partition.metadata``: a log usually returns to the cluster of its copies."""
    own = _ids_of_copies(evidence, request)
    for topic, text in _mixed(own, given, merge=merge).items():
        raise UsageError(f"{shown(topic)}: {text}")
    without = {} if own else _without_ids(evidence, request)
    return {key: next(iter(ids)) for key, ids in own.items() if len(ids) == 1} | without


def _without_ids(evidence: Evidence, request: ReadRequest) -> dict[tuple[str | None, str], str]:
    """The topics of brokers that write no topic ids."""
    copies: dict[tuple[str | None, str], list[PartitionDirectory]] = {}
    for each in evidence.partition_directories(request):
        if each.is_replica and each.topic is not None:
            copies.setdefault((each.log_directory.cluster_id, each.topic), []).append(each)
    return {key: NO_TOPIC_ID for key, own in copies.items() if all(map(is_without_topic_ids, own))}


def mixed_topics(
    evidence: Evidence, request: ReadRequest, given: Iterable[str], *, merge: bool
) -> dict[str, str]:
    """Topics whose copies are of several topics of that name, and what to do about each.

    Args:
        evidence: the damaged copies.
        request: which of them.
        given: topics whose id was given.
        merge: whether one log is made of all copies.
    """
    if request.replica != "best":
        return {}
    return _mixed(_ids_of_copies(evidence, request), given, merge=merge)


def _mixed(
    own: Mapping[tuple[str | None, str], set[str]], given: Iterable[str], *, merge: bool
) -> dict[str, str]:
    choose = (
        "Merge those of one"
        if merge
        else "Choose one copy: --replica broker:N; salvage other topics with --topic"
    )
    named = {*given}
    return {
        topic: f"the copies are of {len(ids)} topics of this name, by their topic ids: "
        f"{', '.join(sorted(ids))}. {choose}"
        for (_, topic), ids in own.items()
        if len(ids) > 1 and (merge or topic not in named)
    }


def _ids_of_copies(
    evidence: Evidence, request: ReadRequest
) -> dict[tuple[str | None, str], set[str]]:
    """The topic ids of the copies of each topic."""
    own: dict[tuple[str | None, str], set[str]] = {}
    for directory in evidence.partition_directories(request):
        root, topic = directory.log_directory, directory.topic
        is_asked = request.replica in ("best", f"broker:{root.broker_id}")
        if topic is None or not directory.is_replica or not is_asked:
            continue
        try:
            topic_id = read_topic_id(directory.path, context=directory.context)
        except LocatedError:  # another copy or partition may know
            continue
        if topic_id not in (None, ZERO_UUID):
            own.setdefault((root.cluster_id, topic), set()).add(topic_id)
    return own
