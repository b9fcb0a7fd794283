"""KL-702, KL-703, KL-710 and KL-712: transactions that are open for longer than any may be.

What the coordinator has of one decides which it is, and whether the command that aborts it is
printed: never if the transaction was committed in the coordinator's log or in another partition.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.audits.catalogue.actions import (
    ABORT_TRANSACTION,
    REPORT_DEFECT,
    SUPPLY_WHAT_IS_MISSING,
)
from kafkalog_reader.audits.catalogue.transaction_rules import (
    HANGING_TRANSACTION,
    LATE_TRANSACTION,
    MARKER_MISSING,
    STABLE_OFFSET_STALLED,
)
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.log.replica_inspection import inspect_replica
from kafkalog_reader.audits.partition.partition_audit import best_copy
from kafkalog_reader.audits.partition.partition_unit import cluster_metadata
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.format.layout import utc_text
from kafkalog_reader.io.names import TRANSACTION_STATE_TOPIC, shown
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.transaction_status import (
    DAMAGED_COORDINATOR,
    DAMAGED_LOG,
    HANGING,
    MAYBE_HANGING,
    NO_COORDINATOR,
    ONGOING,
    WITHOUT_TRANSACTIONS,
    longest_ms,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.partition_unit import PartitionUnit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.open_transactions_table import Coordinators
    from kafkalog_reader.tables.sibling_markers import Marker
    from kafkalog_reader.tables.transaction_decisions import Decision

_IN_EVIDENCE: Final = 10
_REQUEST: Final = ReadRequest(mode=Mode.DROPMALFORMED)
"""Damage has findings of its own."""


def with_coordinators(
    units: Iterable[PartitionUnit], evidence: Evidence
) -> Iterator[PartitionUnit]:
    """Yield the units with the coordinators of transactions, which are read when one is open."""
    from kafkalog_reader.tables.open_transactions_table import Coordinators

    coordinators = Coordinators(evidence=evidence)
    for unit in units:
        yield replace(unit, coordinators=coordinators)


def transaction_findings(
    audit: PartitionAudit, coordinators: Coordinators | None
) -> Iterator[Finding]:
    """Yield one finding for each transaction that is late in the best copy of a partition.

    One that is younger than any timeout may only look like it: the files of the coordinator were
    copied at another time (T01).
    """
    if coordinators is None or audit.topic is None or audit.topic in WITHOUT_TRANSACTIONS:
        return
    if not audit.replicas:
        return
    from kafkalog_reader.tables.open_transactions_table import open_rows

    best = best_copy(audit)
    if not best.may_have_open_transaction:
        return
    cleaned = best.files.cleaner_offset or 0  # markers there may be gone; it never passes the LSO
    try:
        rows = open_rows(best.directory, coordinators, _REQUEST, no_progress)
        late = [
            (row, _finding(best.directory, row, coordinators))
            for row in rows
            if row["status"] not in (DAMAGED_LOG, MAYBE_HANGING)
            and row["firstOffset"] >= cleaned
            and _is_late(best.directory, row)
        ]
    except LocatedError:  # has its own finding
        return
    for row, found in late:
        yield found
        if row["holdsLastStableOffset"]:
            yield _stalled(best, row, found)


def uncontradicted_finding(
    directory: PartitionDirectory, row: dict[str, Any], coordinators: Coordinators
) -> Finding | None:
    """The finding of one transaction that its coordinator does not contradict; None if not late.

    Args:
        directory: the best copy of the partition.
        row: of the table open_transactions, with the status ongoing or no-coordinator.
        coordinators: of all transactions.

    Raises:
        LocatedError: a file cannot be read.
    """
    assert row["status"] in (ONGOING, NO_COORDINATOR)
    cleaned = inspect_replica(directory).cleaner_offset or 0
    if directory.topic in WITHOUT_TRANSACTIONS or row["firstOffset"] < cleaned:
        return None
    return _finding(directory, row, coordinators) if _is_late(directory, row) else None


def _is_late(directory: PartitionDirectory, row: dict[str, Any]) -> bool:
    """Whether the log went on for longer than any transaction may take.

    Clients may write any time. Where the coordinator does not contradict the transaction, only
    times of brokers count: of markers and batches after its first offset.
    """
    if row["status"] == HANGING:
        return True
    if row.get("firstTimestamp") is None:
        return False
    from kafkalog_reader.tables.broker_times import broker_times

    times = broker_times(directory, row["firstOffset"])
    if times is None:
        return False
    began = row.get("startTime")
    return bool(
        times[1] - (times[0] if began is None else began // 1000) > longest_ms(row.get("timeoutMs"))
    )


def _finding(
    directory: PartitionDirectory, row: dict[str, Any], coordinators: Coordinators
) -> Finding:
    if row["status"] == HANGING:
        from kafkalog_reader.tables.transaction_decisions import newest_decision

        decision = newest_decision(coordinators.evidence, row)
        marker = None if decision is None else _marker_since(directory, row, decision)
        markers = _siblings(directory, row, coordinators)
        if decision is not None and marker is None:
            return _marker_missing(directory, row, decision, markers)
        known = f"the coordinator has {row['transactionalId']} in state {row['state']} without "
        late = "" if marker is None else f", so it came after its marker at offset {marker:,}"
        return _hanging(directory, row, f"{shown(known)}this partition{late}", markers)
    if row["status"] == NO_COORDINATOR and _has_all_states(coordinators, row["clusterId"]):
        markers = _siblings(directory, row, coordinators)
        return _hanging(directory, row, "no transactional id has this producer any more", markers)
    return _late(directory, row)


def _has_all_states(coordinators: Coordinators, cluster_id: str | None) -> bool:
    """Whether each partition of ``__transaction_state`` was supplied, by the metadata log."""
    cluster = cluster_metadata(coordinators.evidence).get(cluster_id)
    if cluster is None:
        return False
    asked = ReadRequest(topics=frozenset({TRANSACTION_STATE_TOPIC}))
    supplied = {
        (TRANSACTION_STATE_TOPIC, partition)
        for (of_cluster, _, partition), _ in coordinators.evidence.topic_partitions(asked)
        if of_cluster == cluster_id
    }
    return {
        place for place in cluster.partitions if place[0] == TRANSACTION_STATE_TOPIC
    } == supplied


def _marker_since(
    directory: PartitionDirectory, row: dict[str, Any], decision: Decision
) -> int | None:
    """The offset of the marker of a decision, if the log has it: before the data, which came late.

    No marker follows the data, or the transaction would not be open.
    """
    from kafkalog_reader.tables.sibling_markers import markers_in

    own = markers_in(directory, (row["producerId"],), row["producerEpoch"], decision.time)
    return next((marker.offset for marker in own), None)


def _siblings(
    directory: PartitionDirectory, row: dict[str, Any], coordinators: Coordinators
) -> list[Marker]:
    from kafkalog_reader.tables.sibling_markers import sibling_markers

    return list(
        sibling_markers(
            coordinators.evidence, directory.identity, row["producerId"], row["producerEpoch"],
            row["firstTimestamp"] // 1000,
        )
    )  # fmt: skip


def _hanging(
    directory: PartitionDirectory, row: dict[str, Any], known: str, markers: list[Marker]
) -> Finding:
    commits = [marker for marker in markers if marker.is_commit]
    return _open(
        HANGING_TRANSACTION, directory, row,
        f"and {known}; {_elsewhere(markers)}",
        markers, may_abort=not commits,
    )  # fmt: skip


def _marker_missing(
    directory: PartitionDirectory, row: dict[str, Any], decision: Decision, markers: list[Marker]
) -> Finding:
    word = "commit" if decision.is_commit else "abort"
    kept = "do not abort it here" if decision.is_commit else _elsewhere(markers)
    commits = decision.is_commit or any(marker.is_commit for marker in markers)
    return _open(
        MARKER_MISSING, directory, row,
        f"and its coordinator decided at {utc_text(decision.time)} to {word} it in this partition: "
        f"the {word} marker is missing; {kept}",
        markers, may_abort=not commits,
        decision=word, decidedAt=decision.time,
    )  # fmt: skip


def _late(directory: PartitionDirectory, row: dict[str, Any]) -> Finding:
    """It may not be aborted by hand before the coordinator's state is known."""
    if row["status"] == ONGOING:
        says = f"{row['transactionalId']} in state {row['state']}: it should have ended it"
        return _open(LATE_TRANSACTION, directory, row, f"and the coordinator has {shown(says)}")
    if row["status"] == DAMAGED_COORDINATOR:
        why = f"what its coordinator has is hidden by damage in {TRANSACTION_STATE_TOPIC}"
    else:
        why = f"no supplied partition of {TRANSACTION_STATE_TOPIC} has this producer"
    unknown = _open(
        LATE_TRANSACTION, directory, row, f"and {why}", confidence="possible", severity="M"
    )
    return replace(unknown, actions=(SUPPLY_WHAT_IS_MISSING, *unknown.actions))


def _open(
    code: str,
    directory: PartitionDirectory,
    row: dict[str, Any],
    says: str,
    markers: Sequence[Marker] = (),
    *,
    may_abort: bool | None = None,
    confidence: str = "likely",
    severity: str | None = None,
    **evidence: object,
) -> Finding:
    """The finding of an open transaction; ``may_abort`` is None if that cannot be judged."""
    first = row["firstOffset"]
    states = "" if row.get("state") is None else row["state"]
    return finding(
        code,
        f"producer {row['producerId']} (epoch {row['producerEpoch']}) has a transaction open from "
        f"offset {first:,} on, {says}",
        severity=severity,
        confidence=confidence,
        directory=directory,
        offsets=(first, row["logEndOffset"]),
        evidence={
            "producerId": row["producerId"],
            "producerEpoch": row["producerEpoch"],
            "transactionalId": shown(row.get("transactionalId") or ""),
            "state": states,
            "coordinatorEpoch": row.get("coordinatorEpoch", ""),
            **evidence,
            "markersElsewhere": ", ".join(map(_place, markers[:_IN_EVIDENCE])),
            **({"abort": _abort_command(directory, first)} if may_abort else {}),
        },
        actions=(REPORT_DEFECT,) if may_abort is False else (ABORT_TRANSACTION,),
    )


def _elsewhere(markers: Sequence[Marker]) -> str:
    """How the transaction ended in other partitions."""
    for marker in sorted(markers, key=lambda each: not each.is_commit):
        if marker.is_commit:
            return f"{_place(marker)} has its commit marker: do not abort it here"
        return f"{_place(marker)} has its abort marker"
    return "no other supplied partition has a marker of it"


def _stalled(best: ReplicaAudit, row: dict[str, Any], cause: Finding) -> Finding:
    first = row["lastStableOffset"]
    after = row["logEndOffset"] - first
    return finding(
        STABLE_OFFSET_STALLED,
        f"the last stable offset is {first:,}: consumers with read_committed do not get the "
        f"{after:,} offsets after it",
        severity=None if cause.severity != "M" else cause.severity,
        confidence=cause.confidence,
        directory=best.directory,
        offsets=(first, row["logEndOffset"]),
        evidence={
            "lastStableOffset": first, "logEndOffset": row["logEndOffset"], "offsets": after,
        },
        actions=cause.actions,
        caused_by=f"{cause.code} at offset {row['firstOffset']}",
    )  # fmt: skip


def _abort_command(directory: PartitionDirectory, first: int) -> str:
    """Source: KIP-664; Kafka 4.4, TransactionsCommand."""
    return (
        f"kafka-transactions.sh --bootstrap-server HOST:9092 abort --topic "
        f"{shlex.quote(shown(directory.topic or ''))} --partition {directory.partition} "
        f"--start-offset {first}"
    )


def _place(marker: Marker) -> str:
    return f"{shown(marker.topic)}-{marker.partition} at offset {marker.offset:,}"
