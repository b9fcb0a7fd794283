"""Applies the audits' functions to replicas of the model, without files."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from fixtures.builder import data_batch, replica
from kafkalog_reader.audits.comparison.branch import Branch
from kafkalog_reader.audits.comparison.committed import CommitBounds, History, commit_bounds
from kafkalog_reader.audits.comparison.compared_replicas import Comparison
from kafkalog_reader.audits.comparison.damaged_batches import DamagedBatches
from kafkalog_reader.audits.comparison.verdict import Verdict, verdict_of
from kafkalog_reader.audits.election.candidate import Candidate
from kafkalog_reader.audits.election.candidates import Election, elections
from kafkalog_reader.audits.log.epoch_log import EpochLog
from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
from kafkalog_reader.audits.log.lineage import (
    EpochInterval,
    LineageBuilder,
    combined_lineage,
    declared_lineage,
)
from kafkalog_reader.audits.log.replica import Replica as Audited
from kafkalog_reader.format.checkpoint import LeaderEpochEntry
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory
from kafkalog_reader.tables.high_watermark import high_watermark_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fixtures.builder import Replica as Described
    from tests.model.partition import Replica


def audited(
    stopped: Mapping[int, Replica], started: Mapping[int, Replica]
) -> tuple[Verdict, tuple[CommitBounds, ...], tuple[Election, ...]]:
    """The verdict, bounds and elections of replicas whose logs all begin at 0."""
    replicas = {node: _named(node) for node in stopped}
    histories = {replicas[node]: _history(each) for node, each in stopped.items()}
    bounds = commit_bounds(histories)
    comparison = compared({replicas[node]: each for node, each in stopped.items()})
    candidates = [
        Candidate(
            replica=replicas[node],
            bounds=bounds[replicas[node]],
            log=EpochLog(
                cache=cache_of(started[node]),
                log_start_offset=started[node].start,
                log_end_offset=started[node].end,
                high_watermark=started[node].high_watermark,
            ),
            log_start_offset=on_disk.start,
            log_end_offset=on_disk.end,
            last_leader_epoch=on_disk.records[-1].leader_epoch if on_disk.records else -1,
            unreplaceable=0,
            records=_counter(on_disk),
            batch_start=_batch_finder(on_disk),
        )
        for node, on_disk in stopped.items()
    ]
    greatest = max(
        (max(history.leader_epochs, default=-1) for history in histories.values()), default=-1
    )
    held = elections(candidates, comparison, known_epoch=greatest)
    verdict = verdict_of(
        histories.values(), bounds.values(), comparison, dict.fromkeys(histories, ())
    )
    return verdict, tuple(bounds.values()), held


def cache_of(replica: Replica) -> LeaderEpochCache:
    return LeaderEpochCache.loaded(
        LeaderEpochEntry(leader_epoch=epoch, start_offset=start) for epoch, start in replica.epochs
    )


def _named(node: int) -> Audited:
    root = LogDirectory(path=f"/{node}", broker_id=node)
    directory = PartitionDirectory(path=f"/{node}/t-0", log_directory=root, topic="t", partition=0)
    return Audited(directory=directory, log_start_offset=0, size_in_bytes=0)


def compared(replicas: Mapping[Audited, Replica]) -> Comparison:
    """The tree of histories of logs that begin at 0, built record by record."""
    held = {each: modelled for each, modelled in replicas.items() if modelled.records}
    return Comparison(
        replicas=tuple(replicas),
        roots=tuple(_parted(held, 0)),
        differences=(),
        damaged={each: DamagedBatches() for each in replicas},
    )


def _parted(replicas: Mapping[Audited, Replica], offset: int) -> list[Branch]:
    """The branches that begin at an offset: one for each different record there."""
    sides: dict[object, dict[Audited, Replica]] = {}
    for each, modelled in replicas.items():
        if modelled.end > offset:
            sides.setdefault(modelled.records[offset], {})[each] = modelled
    return [_branch(side, offset) for side in sides.values()]


def _branch(replicas: Mapping[Audited, Replica], first: int) -> Branch:
    logs = [modelled.records for modelled in replicas.values()]
    stop = first
    while all(stop < len(log) and log[stop] == logs[0][stop] for log in logs):
        stop += 1
    records = logs[0][first:stop]
    return Branch(
        replicas=tuple(replicas),
        first_offset=first,
        next_offset=stop,
        batches=len({record.batch_last for record in records}),
        records=len(records),
        control_records=0,
        size_in_bytes=len(records),
        intervals=tuple(
            EpochInterval(epoch, offsets[0], offsets[-1] + 1)
            for epoch, interval in groupby(records, key=lambda record: record.leader_epoch)
            for offsets in [[record.offset for record in interval]]
        ),
        children=tuple(_parted(replicas, stop)),
    )


def _history(replica: Replica) -> History:
    builder = LineageBuilder()
    for record in replica.records:
        builder.add(record.leader_epoch, record.offset, record.offset + 1)
    data = builder.build()
    declared = declared_lineage(cache_of(replica), replica.start, replica.end)
    return History(
        log_start_offset=replica.start,
        log_end_offset=replica.end,
        high_watermark_low=high_watermark_of(
            checkpointed=replica.high_watermark,
            cleaner_offset=None,
            log_start=replica.start,
            log_end=replica.end,
        ).low,
        lineage=combined_lineage(data, declared).clipped(replica.start, replica.end),
        last_leader_epoch=replica.records[-1].leader_epoch if replica.records else None,
        leader_epochs=frozenset(
            {interval.leader_epoch for interval in data.intervals}
            | {entry.leader_epoch for entry in cache_of(replica).entries}
        ),
        data=data,
    )


def _counter(replica: Any) -> Any:
    return lambda first, following: sum(
        first <= record.offset < following for record in replica.records
    )


def _batch_finder(replica: Any) -> Any:
    def batch_start(target: int) -> int | None:
        cut = [record for record in replica.records if record.batch_last >= target]
        return min((record.offset for record in cut), default=None)

    return batch_start


def described(of_model: Replica) -> Described:
    """The same replica for the builder, batch by batch."""
    on_disk = [*of_model.below, *of_model.records]
    batches = [
        data_batch(
            records[0].offset,
            [
                Record(offset_delta=delta, value=record.content.encode())
                for delta, record in enumerate(records)
            ],
            leader_epoch=records[0].leader_epoch,
        )
        for _, each in groupby(on_disk, key=lambda record: record.batch_last)
        for records in [list(each)]
    ]
    return replica(
        batches,
        epochs=[
            LeaderEpochEntry(leader_epoch=epoch, start_offset=start)
            for epoch, start in of_model.epochs
        ],
        high_watermark=of_model.high_watermark,
        base_offset=of_model.below[0].offset if of_model.below else of_model.start,
        log_start=of_model.start if of_model.below else None,
    )
