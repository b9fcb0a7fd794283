"""KL-709: a partition has the other marker than the one that its coordinator decided (--deep).

All markers of the partition are compared with what the coordinator's log still has. A partition
that also has the decided marker is left alone: a late write was aborted there by hand (KL-703).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.transaction_rules import TORN_TRANSACTION
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.partition.partition_audit import best_copy
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.format.layout import utc_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.tables.open_transactions_table import Coordinators
    from kafkalog_reader.tables.sibling_markers import Marker
    from kafkalog_reader.tables.transaction_decisions import Decided

_CLOCKS_MS: Final = 5 * 60 * 1000
"""How much later a marker must be than a decision, where other transactions have its epoch."""
_Key = tuple[int, int]
"""Producer id and producer epoch."""


def torn_findings(audit: PartitionAudit, coordinators: Coordinators | None) -> Iterator[Finding]:
    """Yield one finding for the best copy of a partition, if its log is whole."""
    if coordinators is None or not audit.replicas:
        return
    best = best_copy(audit)
    if best.summary.stops or best.files.cleaner_offset is not None:  # T05, T07
        return
    from kafkalog_reader.tables.sibling_markers import markers_in

    try:
        decided = coordinators.decisions.get(best.directory.identity, ())
        if not decided:
            return
        producers = {each.producer_id for each in decided}
        markers = [*markers_in(best.directory, producers, 0, 0)]
    except LocatedError:  # has its own finding
        return
    torn = [*contradictions(decided, markers, is_from_start=best.log_start == 0)]
    if not torn:
        return
    decision, marker = torn[0]
    word, other = ("commit", "abort") if decision.is_commit else ("abort", "commit")
    many = f"; {len(torn):,} such transactions" if len(torn) > 1 else ""
    yield finding(
        TORN_TRANSACTION,
        f"the coordinator decided at {utc_text(decision.time)} to {word} a transaction of producer "
        f"{decision.producer_id} (epoch {decision.producer_epoch}) here, but the log has the "
        f"{other} marker at offset {marker.offset:,}{many}",
        confidence="likely" if decision.has_own_epoch else "possible",
        directory=best.directory,
        offsets=(marker.offset, marker.offset + 1),
        evidence={
            "producerId": decision.producer_id, "producerEpoch": decision.producer_epoch,
            "decision": word, "decidedAt": decision.time, "markerOffset": marker.offset,
            "transactions": len(torn),
        },
    )  # fmt: skip


def contradictions(
    decided: Sequence[Decided], markers: Sequence[Marker], *, is_from_start: bool
) -> Iterator[tuple[Decided, Marker]]:
    """The first decision of each producer epoch that is contradicted, and by which marker.

    Args:
        decided: about this partition, in the order of the coordinator's log.
        markers: of these producers in this partition, in log order.
        is_from_start: whether the log has its first record: no marker has expired.
    """
    by_key: dict[_Key, list[Decided]] = defaultdict(list)
    for each in decided:
        by_key[each.producer_id, each.producer_epoch].append(each)
    found: dict[_Key, list[Marker]] = defaultdict(list)
    for marker in markers:
        found[marker.producer_id, marker.producer_epoch].append(marker)
    begin = 0 if is_from_start else min((marker.time for marker in markers), default=0)
    for (producer_id, epoch), decisions in by_key.items():
        first = decisions[0]
        if len({each.is_commit for each in decisions}) > 1 or first.time < begin:
            continue
        own = found[producer_id, epoch]
        if sum(marker.is_commit == first.is_commit for marker in own) >= len(decisions):
            continue
        by_hand = found[producer_id, epoch - 1] if first.has_own_epoch else []
        for marker in (*own, *by_hand):
            margin = 0 if first.has_own_epoch and marker.producer_epoch == epoch else _CLOCKS_MS
            if marker.is_commit != first.is_commit and marker.time >= first.time + margin:
                yield first, marker
                break
