"""Which rows of the table open_transactions are findings, as ``kafkalog verify`` reports them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.audits.partition.transaction_findings import uncontradicted_finding
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.tables.best_replica import best_and_lacking
from kafkalog_reader.tables.current_topics import CurrentTopics
from kafkalog_reader.tables.open_transactions_table import Coordinators
from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.transaction_status import NO_COORDINATOR, ONGOING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.io.evidence import Evidence

_UNCONTRADICTED: Final = (ONGOING, NO_COORDINATOR)


def late_transactions(evidence: Evidence, rows: Sequence[dict[str, Any]]) -> dict[int, Finding]:
    """KL-702 and KL-703 by index of the row; none where the coordinator contradicts it.

    Args:
        evidence: from which the rows were read.
        rows: of the table open_transactions.
    """
    open_in: dict[tuple[str | None, str | None, int | None], list[int]] = {}
    for index, row in enumerate(rows):
        if row["status"] in _UNCONTRADICTED:
            place = (row["clusterId"], row["topic"], row["partition"])
            open_in.setdefault(place, []).append(index)
    if not open_in:
        return {}
    found: dict[int, Finding] = {}
    coordinators, topics = Coordinators(evidence=evidence), CurrentTopics(evidence=evidence)
    asked = ReadRequest(topics=frozenset(topic for _, topic, _ in open_in if topic))
    for place, replicas in evidence.topic_partitions(asked):
        for index in open_in.get(place, ()):
            try:
                best, _ = best_and_lacking(topics.copies(replicas), Damage(Mode.PERMISSIVE))
                if best is None:
                    continue
                late = uncontradicted_finding(best, rows[index], coordinators)
            except LocatedError:  # has its own finding
                continue
            if late is not None:
                found[index] = late
    return found
