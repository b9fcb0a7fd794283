"""Says why the copies of a partition, or one of them, allow no conclusion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.compared_replicas import NotCompared
from kafkalog_reader.audits.comparison.difference import DifferenceKind
from kafkalog_reader.audits.comparison.verdict import is_unread
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from kafkalog_reader.audits.comparison.committed import History
    from kafkalog_reader.audits.comparison.compared_replicas import Comparison
    from kafkalog_reader.audits.comparison.log_summary import LogSummary
    from kafkalog_reader.audits.log.replica import Replica


def reason_of_all(replicas: Sequence[Replica], comparison: Comparison | NotCompared) -> str:
    """Why the copies cannot be compared; empty if they can."""
    if isinstance(comparison, NotCompared):
        return comparison.reason
    if twice := _supplied_twice(replicas):
        return twice
    for difference in comparison.differences:
        if difference.kind is DifferenceKind.NOT_COMPARED:
            return f"the records from offset {difference.first_offset:,} on could not be decoded"
    return ""


def unusable_copies(summaries: Mapping[Replica, LogSummary]) -> dict[Replica, str]:
    """The copies whose content is unknown, and why."""
    reasons: dict[Replica, str] = {}
    for replica, summary in summaries.items():
        for stop in summary.stops:
            if is_unread(stop):
                reasons.setdefault(replica, f"{replica.name}: {stop.where}: {stop.problem}")
        if summary.unexplained_falls:
            where = summary.regressions[0].where
            reasons.setdefault(replica, f"{replica.name}: {where}: offsets fall")
    return reasons


def reaches_further(histories: Mapping[Replica, History], unusable: Collection[Replica]) -> str:
    """Why the other copies cannot replace the unusable ones; empty if they can.

    An unusable copy must not show signs of records or leaders that no other copy has.
    """
    others = [history for replica, history in histories.items() if replica not in unusable]
    if not others:
        return ""  # of an unusable copy alone there is no more to say
    end = max(history.log_end_offset for history in others)
    epoch = max((e for history in others for e in history.leader_epochs), default=-1)
    for replica in unusable:
        history = histories[replica]
        row = replica.checkpointed_high_watermark or 0
        greatest = max((e.leader_epoch for e in replica.epoch_entries or ()), default=-1)
        if greatest > epoch:
            return f"{replica.name} has leader epoch {greatest}, which no other copy has"
        if max(row, history.log_end_offset) > end:
            return (
                f"{replica.name} reaches {max(row, history.log_end_offset)}, the others end at "
                f"{end:,}"
            )
    return ""


def _supplied_twice(replicas: Sequence[Replica]) -> str:
    """Why copies of one broker do not count as several replicas; empty if each broker has one."""
    by_broker: dict[int, list[Replica]] = {}
    for replica in replicas:
        if replica.broker_id is not None:
            by_broker.setdefault(replica.broker_id, []).append(replica)
    for broker_id, same in by_broker.items():
        if len(same) > 1:
            ids = {replica.directory.log_directory.directory_id for replica in same}
            where = ", ".join(shown(replica.directory.path) for replica in same)
            if len(ids) == len(same):
                return f"broker {broker_id}: has the partition twice and will not start: {where}"
            return (
                f"broker {broker_id}: supplied more than once; name only one of {where} (if they "
                "are of two brokers, one meta.properties has the wrong node.id); "
                "to compare one broker at two times, run `kafkalog changes OLD NEW`"
            )
    return ""
