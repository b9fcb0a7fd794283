"""Logs that begin too late: the first segment is missing although nothing deletes it.

Source: Kafka 4.4, UnifiedLog.deleteOldSegments: without ``delete`` in cleanup.policy retention
deletes nothing, nor without a limit of time and size. DeleteRecords, which needs ``delete``, moves
the log start, which is checkpointed then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import LocatedError, LogPosition, MissingRecordsError
from kafkalog_reader.format.offset_words import offsets_are
from kafkalog_reader.io.names import OFFSETS_TOPIC, TRANSACTION_STATE_TOPIC, shown
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.tables.cleanup_policies import CleanupPolicies
from kafkalog_reader.tables.unexplained_base import log_beginning

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest

ALWAYS_COMPACTED: Final = (OFFSETS_TOPIC, TRANSACTION_STATE_TOPIC)
"""Internal topics that brokers create with cleanup.policy=compact."""
ONLY_CLEANED: Final = (
    "by the metadata log the topic was only compacted ever since it was created: Kafka refuses "
    "DeleteRecords then, and no retention applies"
)
"""Why a log begins at 0 (``compacted_since_creation``)."""


def with_starts_checked(
    directories: Iterable[PartitionDirectory], evidence: Evidence, request: ReadRequest
) -> Iterator[PartitionDirectory]:
    """Yield the replicas; where the first segment of one is missing, that is missing records.

    Raises:
        MissingRecordsError: a first segment is missing, in mode ``FAILFAST``.
    """
    damage = request.damage
    policies = CleanupPolicies(evidence=evidence)
    for directory in directories:
        found = lost_start(directory, policies)
        if found is not None:
            error, next_offset = found
            lower, _ = request.offsets_of(directory.topic, directory.partition)
            if lower < next_offset:
                damage.missing(error, next_offset)
        yield directory


def lost_start(
    directory: PartitionDirectory, policies: CleanupPolicies
) -> tuple[MissingRecordsError, int] | None:
    """What is missing at the beginning, and where the log begins; None if nothing is known.

    The topic was only ever compacted: then whatever its log start is. Or an index of a segment that
    is gone is left, and the topic is only compacted or keeps its records for ever; an internal
    topic also without the index, because brokers create it like that.
    """
    try:
        base, checkpointed = log_beginning(directory)
        start = max(base, checkpointed)
        if start and policies.is_compacted_since_creation(directory):
            return _missing_below(start, directory, f"the log start is {start}, and {ONLY_CLEANED}")
        if checkpointed >= base:
            return None
        has_traces = any(
            each.log_size is None and each.base_offset < base for each in segments(directory)
        )
        is_internal = directory.topic in ALWAYS_COMPACTED
        if not (has_traces or is_internal):
            return None
        is_compacted = policies.is_only_compacted(directory)
    except LocatedError:  # the reader of the log reports it
        return None
    is_kept = is_compacted or policies.has_unlimited_retention(directory)
    if has_traces and (is_kept or (is_compacted is None and is_internal)):
        proof = "an index of an earlier segment is left"
    elif is_compacted and is_internal:
        proof = "nothing deletes segments of a topic that is only compacted"
    else:  # the topic may once have had another policy
        return None
    return _missing_below(
        base, directory, f"the first segment begins at offset {base}, and {proof}"
    )


def _missing_below(
    start: int, directory: PartitionDirectory, because: str
) -> tuple[MissingRecordsError, int]:
    where = LogPosition(shown(directory.path), offset=0)
    return MissingRecordsError(f"{offsets_are(0, start)} missing: {because}", where), start
