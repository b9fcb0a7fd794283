"""Offset commits in transactions that are open at the end of ``__consumer_offsets``.

A coordinator keeps them aside until the marker of the transaction. Source: Kafka 4.4,
OffsetMetadataManager, pendingTransactionalOffsets.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pyarrow.compute as pc

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.names import OFFSETS_TOPIC
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.scan.log_tail import end_after_damage, scan_tail
from kafkalog_reader.tables.chosen_replicas import chosen_replicas
from kafkalog_reader.tables.group_commits import GroupCommitsTable, commits_in
from kafkalog_reader.tables.internal_topic import log_request, plain_rows, record_schema
from kafkalog_reader.tables.log_unit import slices_of
from kafkalog_reader.tables.open_transactions import stable_up_to
from kafkalog_reader.tables.record_rows import read_slice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest

_COLUMNS: Final = ("clusterId", "groupId", "topic", "partition", "committedOffset", "recordOffset")
_RECORDS: Final = record_schema(("clusterId", "offset", "key", "value", "transactionState"))


def pending_commits(evidence: Evidence, request: ReadRequest) -> Iterator[dict[str, Any]]:
    """Yield the commits of open transactions, in the order of each log.

    A commit has ``clusterId``, ``groupId``, ``topic``, ``partition``, ``committedOffset`` and
    ``recordOffset``. Only the logs from their last stable offset on are read.

    Args:
        evidence: what was supplied.
        request: selects topics and partitions of commits, and says what happens at damage.

    Raises:
        LocatedError: damage, in mode ``FAILFAST``.
        UnreadableFileError: a file cannot be opened or read.
    """
    log = log_request(request, OFFSETS_TOPIC)
    schema = GroupCommitsTable().projected(replace(request, columns=_COLUMNS))
    for directory in chosen_replicas(evidence, log):
        try:
            start = _first_open(directory, log)
        except LocatedError as error:
            log.damage.left_out(error)
            continue
        if start is None:
            continue
        asked = replace(log, from_offset=start)
        for segment_slice in slices_of(directory, asked, log.damage):
            for rows in read_slice(segment_slice, _RECORDS, asked, log.damage, no_progress):
                in_open = rows.filter(pc.equal(rows["transactionState"], "open"))
                for row in plain_rows(commits_in(in_open, schema, request)):
                    if row["committedOffset"] is not None:
                        yield row


def _first_open(directory: PartitionDirectory, log: ReadRequest) -> int | None:
    """Where the first open transaction begins; 0 if damage hides that, None if there is none."""
    end = end_after_damage(directory, scan_tail(directory)).next_offset
    stable = stable_up_to(directory, end, log.mode)
    if stable is None:
        return 0
    return stable if stable < end else None
