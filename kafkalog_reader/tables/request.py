"""A request to a table: selections, projection and reading mode in one frozen value."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final

from kafkalog_reader.io.progress import ReadMetrics
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.tables.java_pattern import java_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.scan.hidden_records import HiddenRecords
    from kafkalog_reader.tables.as_of import AsOf

TopicPartition = tuple[str, int]


READ_COMMITTED: Final = "read_committed"
ISOLATION_LEVELS: Final = ("read_uncommitted", READ_COMMITTED)
"""Of a consumer, ``isolation.level``."""

TRUNCATION_RULES: Final = ("current", "several-rounds", "one-round", "high-watermark")
"""Of Kafka 2.7 and later, 2.0 to 2.6, 0.11 to 1.1, and before."""


class Until(Enum):
    """Where a log ends for a reader; the values are those of Spark's option ``until``."""

    LOG_END = "logEnd"
    """With the last whole batch: everything that is there."""
    HIGH_WATERMARK = "highWatermark"
    """Where this copy's own files prove that records are committed."""
    LAST_STABLE_OFFSET = "lastStableOffset"
    """There too, but before the first open transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRequest:
    """One question to a table. Offsets and times are half-open: ``from`` belongs, ``to`` does not.

    Attributes:
        columns: names in the order wanted; None means every column.
        topics, partitions: only these; None means all.
        topic_pattern: a regular expression in Java's grammar, found anywhere in the topic name.
        excluded_topics: leave these out; what has no topic name is kept.
        assigned: only these topic partitions.
        from_offset, to_offset: for every partition alike.
        starting_offsets, ending_offsets: per topic partition, before the two above.
        starting_timestamps, ending_timestamps: per topic partition, milliseconds since 1970:
            the offset of the first record from then on, as a consumer finds it.
        starting_timestamp, ending_timestamp: the same for all topic partitions.
        starts_at_end: if no record is at or after the starting time, begin at the end, which gives
            nothing, instead of raising an error.
        until: where logs end.
        from_timestamp, to_timestamp: milliseconds since 1970 UTC, compared with record timestamps.
        min_leader_epoch, max_leader_epoch: inclusive, of the batch that holds the record.
        brokers: only replicas of these node ids.
        replica: ``all``, ``best`` or ``broker:N``.
        isolation: one of ``ISOLATION_LEVELS``: ``read_committed`` leaves out aborted transactions,
            control records, and everything from the last stable offset on.
        last: only this many records before the end of each replica; ``from_offset`` still applies.
        log_range_only: leave out everything below the log start offset.
        include_control_records: keep transaction markers and the like.
        leftovers: also read renamed segments and folders, which are part of no log.
        mode: what to do at damage.
        fail_on_data_loss: whether ``FAILFAST`` holds for records that are gone, too; otherwise they
            are a warning.
        offsets_from_headers: take offsets from the headers of batches where nothing else of the
            records is requested: no payload is decoded, and none that is damaged is noticed.
        max_records_per_unit: how many offsets a unit of work may span; None means any number.
        max_partition_bytes: how large a unit of work may grow, in bytes of log.
        max_batch_bytes: how much one batch may decompress to; None is what ``Limits`` says.
        limit: stop after this many rows.
        deep: findings look into payloads too.
        rule: how followers truncate, one of ``TRUNCATION_RULES``; None: as the files show.
        started_at: when brokers start, in milliseconds since 1970 UTC, for what retention deletes
            then; None: right after the newest record of each log.
        as_of: read internal topics as if their logs ended there; None is their end.
        hidden: receives which offsets the rows lack because of damage or loss, or may lack because
            no in-sync replica was supplied; in one process only.
    """

    columns: tuple[str, ...] | None = None
    topics: frozenset[str] | None = None
    partitions: frozenset[int] | None = None
    topic_pattern: str | None = None
    excluded_topics: frozenset[str] = frozenset()
    assigned: frozenset[TopicPartition] | None = None
    from_offset: int | None = None
    to_offset: int | None = None
    starting_offsets: Mapping[TopicPartition, int] = field(default_factory=dict)
    ending_offsets: Mapping[TopicPartition, int] = field(default_factory=dict)
    starting_timestamps: Mapping[TopicPartition, int] = field(default_factory=dict)
    ending_timestamps: Mapping[TopicPartition, int] = field(default_factory=dict)
    starting_timestamp: int | None = None
    ending_timestamp: int | None = None
    starts_at_end: bool = False
    until: Until = Until.LOG_END
    from_timestamp: int | None = None
    to_timestamp: int | None = None
    min_leader_epoch: int | None = None
    max_leader_epoch: int | None = None
    brokers: frozenset[int] | None = None
    replica: str = "all"
    isolation: str = "read_uncommitted"
    last: int | None = None
    log_range_only: bool = False
    include_control_records: bool = True
    leftovers: bool = False
    mode: Mode = Mode.FAILFAST
    fail_on_data_loss: bool = True
    offsets_from_headers: bool = False
    max_records_per_unit: int | None = None
    max_partition_bytes: int = 128 * 1024 * 1024
    max_batch_bytes: int | None = None
    limit: int | None = None
    deep: bool = False
    rule: str | None = None
    started_at: int | None = None
    as_of: AsOf | None = None
    hidden: HiddenRecords | None = field(default=None, compare=False, repr=False)

    @property
    def damage(self) -> Damage:
        """What reading does at damage, and where records are missing."""
        return self.damage_counted_in(ReadMetrics())

    def damage_counted_in(self, metrics: ReadMetrics) -> Damage:
        """The same; it also counts."""
        return Damage(
            self.mode,
            fail_on_data_loss=self.fail_on_data_loss,
            metrics=metrics,
            hidden=self.hidden,
        )

    def selects(self, topic: str | None, partition: int | None) -> bool:
        """Whether a topic partition is selected; without names, only if nothing restricts it."""
        if self.topics is not None and topic not in self.topics:
            return False
        if topic in self.excluded_topics:
            return False
        if self.partitions is not None and partition not in self.partitions:
            return False
        if self.assigned is not None and (topic, partition) not in self.assigned:
            return False
        if self.topic_pattern is None:
            return True
        return topic is not None and java_pattern(self.topic_pattern).search(topic) is not None

    def offsets_of(self, topic: str | None, partition: int | None) -> tuple[int, int | None]:
        """The requested half-open offset range of a topic partition; None means no upper bound."""
        key = (topic or "", -1 if partition is None else partition)
        lower = max(self.from_offset or 0, self.starting_offsets.get(key, 0))
        uppers = [u for u in (self.to_offset, self.ending_offsets.get(key)) if u is not None]
        return lower, min(uppers, default=None)
