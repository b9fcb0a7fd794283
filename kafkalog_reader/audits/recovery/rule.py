"""The rule by which a broker starts: its release, and the configuration of its topics."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.recovery.batches import CURRENT_READING, Reading
from kafkalog_reader.audits.recovery.node_releases import (
    KAFKA_4_1,
    KAFKA_4_4,
    UNKNOWN,
    NodeReleases,
)
from kafkalog_reader.io.names import INTERNAL_TOPICS, METADATA_TOPIC

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kafkalog_reader.audits.log.replica import Replica

_COMPACTED_BY_ITSELF: Final = INTERNAL_TOPICS - {METADATA_TOPIC}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogConfig:
    """The settings of a topic that matter for a start.

    Attributes:
        index_interval: ``index.interval.bytes``.
        is_interval_known: whether the topic itself sets it; otherwise it is Kafka's default, and
            the broker may have another.
        max_index_size: ``segment.index.bytes``.
        retention_ms: ``retention.ms``; None if records never expire.
        is_known: whether the topic itself sets the retention; otherwise it is Kafka's default, and
            the broker may have another.
    """

    index_interval: int = 4096
    is_interval_known: bool = False
    max_index_size: int = 10 << 20
    retention_ms: int | None = 7 * 24 * 3600 * 1000
    is_known: bool = False


DEFAULT_CONFIG: Final = LogConfig()


@dataclass(frozen=True, kw_only=True)
class ClusterTopics:
    """The topics of a cluster, according to its metadata log.

    Attributes:
        topic_ids: by topic.
        configs: settings by topic; only those that were set.
        replicas: ids of the brokers that a partition is assigned to, by topic and partition; None
            if unknown.
        releases: of the nodes.
        since_creation: ids of topics that were only ever compacted (``compacted_since_creation``).
        nodes: by node id, those of a node that loads something else from its own copy of the
            metadata log.
        ends: why the node ends before it loads its replicas; empty if it does not.
        lacks: why the node has fewer topics than the cluster; empty if it has not.
    """

    topic_ids: Mapping[str, str] = field(default_factory=dict)
    configs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    replicas: Mapping[tuple[str, int], tuple[int, ...]] | None = None
    releases: NodeReleases = UNKNOWN
    since_creation: frozenset[str] = frozenset()
    nodes: Mapping[int, ClusterTopics] = field(default_factory=dict)
    ends: str = ""
    lacks: str = ""

    def of_node(self, node_id: int | None) -> ClusterTopics:
        """Those that one node loads when it starts."""
        return self if node_id is None else self.nodes.get(node_id, self)

    def is_compacted(self, topic: str | None) -> bool | None:
        """Whether the log cleaner removes records of a topic; None if it is not known here.

        A topic without a policy of its own has the brokers', which is ``delete`` by default.
        """
        if topic is None or topic not in self.topic_ids:
            return None
        return "compact" in self.configs.get(topic, {}).get("cleanup.policy", "")

    def kept_because(self, topic: str | None) -> str:
        """Why only the log cleaner and DeleteRecords remove records, as far as known; else empty.

        For a text: "a topic that ...". Records that are in remote storage may leave the local log.
        """
        said = self.configs.get(topic or "", {})
        policy = said.get("cleanup.policy")
        if topic in _COMPACTED_BY_ITSELF if policy is None else policy == "compact":
            return "is only compacted"
        is_unlimited = said.get("retention.ms") == "-1" == said.get("retention.bytes", "-1")
        if is_unlimited and said.get("remote.storage.enable") != "true":
            return "has retention.ms=-1"
        return ""

    def was_only_compacted(self, replica: Replica) -> bool:
        """Whether a replica is of a topic that never had another policy; False: not known."""
        return replica.topic_id in self.since_creation

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Topics by id."""
        return {topic_id: name for name, topic_id in self.topic_ids.items()}

    def only(self, topics: Iterable[str]) -> ClusterTopics:
        """Only the given topics, because units of work are sent to other processes.

        If the cluster has no topic of a name, all are kept: the directory may be a renamed one of
        any of them, which its topic id shows.
        """
        names = frozenset(topics)
        if not names <= {*self.topic_ids, METADATA_TOPIC, ""}:
            return self
        return replace(
            self,
            topic_ids={name: self.topic_ids[name] for name in names if name in self.topic_ids},
            configs={name: self.configs[name] for name in names if name in self.configs},
            replicas=self.replicas
            and {place: ids for place, ids in self.replicas.items() if place[0] in names},
            nodes={node: each.only(names) for node, each in self.nodes.items()},
        )

    def each_alone(self) -> dict[str, ClusterTopics]:
        """Each topic without the others, by name: in one pass, because a cluster has many."""
        replicas: dict[str, dict[tuple[str, int], tuple[int, ...]]] = {}
        for place, ids in (self.replicas or {}).items():
            replicas.setdefault(place[0], {})[place] = ids
        return {
            name: ClusterTopics(
                topic_ids={name: topic_id},
                configs={name: self.configs[name]} if name in self.configs else {},
                replicas=self.replicas and replicas.get(name, {}),
                releases=self.releases,
                since_creation=self.since_creation & {topic_id},
                nodes={node: each.only((name,)) for node, each in self.nodes.items()},
            )
            for name, topic_id in self.topic_ids.items()
        }


class IndexCheck(Enum):
    """What a start does with an index that contradicts itself (``index_contradiction``)."""

    NONE = "none"
    """It does not check this: since 2.3 (KAFKA-7283)."""
    REBUILDS = "rebuilds"
    """It recovers the segment even after a clean shutdown, and does not report what it cuts."""
    ENDS_BROKER = "ends the broker"
    """Up to 0.8.2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRule:
    """How brokers of a release start; each attribute is a difference between releases.

    Attributes:
        release: the first one that starts like this.
        metadata_version: the lowest one of that release; 0 where it does not tell rules apart.
        index_check: what happens to a damaged offset or time index.
        reading: how log files are read; 4.1 searches offsets in another way (KAFKA-18989).
        learns_all_epochs: leader epochs are learned from every segment that is read, not only from
            those above the recovery point.
        keeps_producers: producer state is rebuilt from the log, which fails at some kinds of
            damage.
        deletes_stray_snapshots: producer snapshots that are not at the beginning of a segment are
            deleted before one is chosen, all but the newest (KAFKA-9393).
        empties_beyond_end: a log start beyond the end deletes every segment (KAFKA-8306).
        loses_disks: a directory that fails is taken offline; before KIP-112 the broker ended, and a
            malformed recovery point checkpoint counted as absent.
        reads_whole_version: both bytes of the version in transaction index entries are read; up to
            4.3 only the first byte.
        clips_at_checkpoint: leader epochs begin at the log start in the checkpoint, also where the
            first segment begins above it (KAFKA-12552).
        sets_strays_aside: a replica whose topic id is missing or not the cluster's is renamed.
        default_config: for topics without settings of their own.
        started_at: milliseconds; None: right after the newest record of each log, so that retention
            deletes only what it would have deleted at that time.
    """

    release: str = "4.4"
    metadata_version: int = KAFKA_4_4
    index_check: IndexCheck = IndexCheck.NONE
    reading: Reading = CURRENT_READING
    learns_all_epochs: bool = True
    keeps_producers: bool = True
    deletes_stray_snapshots: bool = True
    empties_beyond_end: bool = True
    loses_disks: bool = True
    reads_whole_version: bool = True
    clips_at_checkpoint: bool = True
    sets_strays_aside: bool = True
    default_config: LogConfig = DEFAULT_CONFIG
    started_at: int | None = None

    def starts_like(self, other: StartRule) -> bool:
        """Whether starts differ only where a log contradicts itself (``LogLoad.may_differ``)."""
        same = replace(
            other,
            release=self.release,
            metadata_version=self.metadata_version,
            reading=replace(other.reading, finds_by_last_offset=self.reading.finds_by_last_offset),
            reads_whole_version=self.reads_whole_version,
        )
        return same == self

    @property
    def order(self) -> tuple[int, ...]:
        """A key that orders releases."""
        return tuple(int(part) for part in self.release.split("."))

    def config_of(self, topic: str | None, topics: ClusterTopics | None) -> LogConfig:
        """The configuration of a topic, as far as known."""
        default = self.default_config
        said = {} if topics is None or topic is None else topics.configs.get(topic, {})
        policy = said.get("cleanup.policy")
        is_compacted = topic in _COMPACTED_BY_ITSELF if policy is None else "delete" not in policy
        retention = _number(said.get("retention.ms"))
        kept_for_ever = is_compacted or (retention is not None and retention < 0)
        interval = _number(said.get("index.interval.bytes"))
        max_index_size = _number(said.get("segment.index.bytes"))
        return LogConfig(
            index_interval=default.index_interval if interval is None else interval,
            is_interval_known=interval is not None or default.is_interval_known,
            max_index_size=default.max_index_size if max_index_size is None else max_index_size,
            retention_ms=(
                None if kept_for_ever else default.retention_ms if retention is None else retention
            ),
            is_known=retention is not None or is_compacted or default.is_known,
        )


CURRENT_RULE: Final = StartRule()
SINCE_4_1: Final = replace(
    CURRENT_RULE, release="4.1", metadata_version=KAFKA_4_1, reads_whole_version=False
)
SINCE_3_0: Final = replace(
    SINCE_4_1, release="3.0", metadata_version=0, reading=Reading(finds_by_last_offset=True)
)
SINCE_2_8: Final = replace(SINCE_3_0, release="2.8", clips_at_checkpoint=False)
SINCE_2_3: Final = replace(SINCE_2_8, release="2.3", deletes_stray_snapshots=False)
SINCE_0_11: Final = replace(
    SINCE_2_3,
    release="0.11",
    index_check=IndexCheck.REBUILDS,
    learns_all_epochs=False,
    empties_beyond_end=False,
    loses_disks=False,
)
SINCE_0_10_1: Final = replace(
    SINCE_0_11,
    release="0.10.1",
    reading=Reading(start_size=12, decompresses=False, finds_by_last_offset=True),
    keeps_producers=False,
)
SINCE_0_9: Final = replace(
    SINCE_0_10_1,
    release="0.9",
    reading=replace(SINCE_0_10_1.reading, raises=False),
)
FIRST_RULE: Final = replace(SINCE_0_9, release="0.8", index_check=IndexCheck.ENDS_BROKER)


def _number(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None
