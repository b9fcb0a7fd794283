"""The quorums of controllers that ``plan`` and ``replica-diff`` ask."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from kafkalog_reader.errors import KafkaLogError

if TYPE_CHECKING:
    from kafkalog_reader.audits.quorum.outcome import QuorumAudit
    from kafkalog_reader.io.evidence import Evidence

logger = logging.getLogger(__name__)


def quorums_of(evidence: Evidence) -> tuple[QuorumAudit, ...]:
    """The quorum of each cluster; none, and a warning, if its copies cannot be judged."""
    # The decoder of metadata records takes long to import.
    from kafkalog_reader.audits.quorum.outcome import audit_quorum
    from kafkalog_reader.audits.quorum.quorum import read_quorums

    try:
        return tuple(map(audit_quorum, read_quorums(evidence)))
    except KafkaLogError as error:
        logger.warning("%s; in which order controllers must start is not known", error)
        return ()
