"""KL-703: a transaction that nobody will end, with what its coordinator and its siblings say."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.audits.catalogue.actions import ABORT_TRANSACTION, REPORT_DEFECT
from kafkalog_reader.audits.catalogue.producer_rules import HANGING_TRANSACTION
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.partition.partition_audit import best_copy
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.names import INTERNAL_TOPICS, shown
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.partition_unit import PartitionUnit
    from kafkalog_reader.io.evidence import Evidence, PartitionDirectory
    from kafkalog_reader.tables.open_transactions_table import Coordinators
    from kafkalog_reader.tables.sibling_markers import Marker

_LONGEST_MS: Final = 15 * 60 * 1000
"""``transaction.max.timeout.ms``: the coordinator aborts by then what it knows."""
_GRACE_MS: Final = 5 * 60 * 1000
_HANGING: Final = "hanging"
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
    """Yield one finding for each transaction that hangs in the best copy of a partition.

    One that is younger than any timeout may only look like it: the files of the coordinator were
    copied at another time (T01).
    """
    if coordinators is None or audit.topic is None or audit.topic in INTERNAL_TOPICS:
        return
    if not audit.replicas:
        return
    from kafkalog_reader.tables.open_transactions_table import open_rows

    best = best_copy(audit)
    if not best.may_have_open_transaction:
        return
    try:
        rows = open_rows(best.directory, coordinators, _REQUEST, no_progress)
    except LocatedError:  # has its own finding
        return
    newest = best.last_batch_timestamp or 0
    for row in rows:
        if row["status"] == _HANGING and _is_late(row, newest):
            yield _finding(best.directory, row, _siblings(best.directory, row, coordinators))


def _is_late(row: dict[str, Any], newest: int) -> bool:
    """Whether the log went on for longer than any transaction may take."""
    first = row.get("firstTimestamp")
    longest = max(row.get("timeoutMs") or 0, _LONGEST_MS) + _GRACE_MS
    return first is not None and newest - first // 1000 > longest


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


def _finding(directory: PartitionDirectory, row: dict[str, Any], markers: list[Marker]) -> Finding:
    first = row["firstOffset"]
    commits = [marker for marker in markers if marker.is_commit]
    told = "no other supplied partition has a marker of it"
    if commits:
        told = f"{_place(commits[0])} has its commit marker: do not abort it here"
    elif markers:
        told = f"{_place(markers[0])} has its abort marker"
    known = f"the coordinator has {row['transactionalId']} in state {row['state']}"
    return finding(
        HANGING_TRANSACTION,
        f"producer {row['producerId']} (epoch {row['producerEpoch']}) has a transaction open from "
        f"offset {first:,} on, and {shown(known)} without this partition; {told}",
        confidence="likely",
        directory=directory,
        offsets=(first, row["logEndOffset"]),
        evidence={
            "producerId": row["producerId"],
            "producerEpoch": row["producerEpoch"],
            "transactionalId": shown(row["transactionalId"] or ""),
            "state": row["state"],
            "coordinatorEpoch": row["coordinatorEpoch"],
            "markersElsewhere": ", ".join(map(_place, markers[:_IN_EVIDENCE])),
            **({} if commits else {"abort": _abort_command(directory, first)}),
        },
        actions=(REPORT_DEFECT,) if commits else (ABORT_TRANSACTION,),
    )


def _abort_command(directory: PartitionDirectory, first: int) -> str:
    """Source: KIP-664; Kafka 4.4, TransactionsCommand."""
    return (
        f"kafka-transactions.sh --bootstrap-server HOST:9092 abort --topic "
        f"{shlex.quote(shown(directory.topic or ''))} --partition {directory.partition} "
        f"--start-offset {first}"
    )


def _place(marker: Marker) -> str:
    return f"{shown(marker.topic)}-{marker.partition} at offset {marker.offset:,}"
