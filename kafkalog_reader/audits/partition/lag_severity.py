"""How bad it is that a copy lags: what an election of it would lose, and whether one may happen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.missing_committed import is_hot

if TYPE_CHECKING:
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit


def committed_lost_by(audit: PartitionAudit, index: int) -> int:
    """Records known to be committed that an election of a replica loses, and another one keeps."""
    own = [each for each in audit.elections if each.candidate == index]
    if not own:
        return 0  # its broker does not come up: it leads nothing
    fewest = min(each.lost.known for each in audit.elections)
    return own[0].lost.known - fewest


def lag_severity(audit: PartitionAudit, index: int) -> str:
    """The severity of one lagging copy.

    Information where its election loses nothing that is known to be committed. Medium where Kafka
    itself does not elect it, because it is outside the ISR, and where it only looks short: a copy
    of a running broker was taken before the others. High otherwise: a broker that lost the end of
    its log may still be in the ISR, and leads if it starts first.
    """
    if not committed_lost_by(audit, index):
        return "I"
    if audit.candidates[index].is_member is False or is_hot(
        audit.replicas[index], audit.scans[index]
    ):
        return "M"
    return "H"
