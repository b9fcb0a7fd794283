"""What the table ``open_transactions`` says of a transaction, and where it reads that."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.io.names import INTERNAL_TOPICS, OFFSETS_TOPIC

ONGOING: Final = "ongoing"
HANGING: Final = "hanging"
"""Its coordinator will not end it, and the log went on for longer than any transaction may take."""
MAYBE_HANGING: Final = "maybe-hanging"
"""Its coordinator does not have it, but it is young, or its marker may be compacted away.

The coordinator's files may be a copy of another time. Kafka's ``find-hanging`` waits, too.
"""
NO_COORDINATOR: Final = "no-coordinator"
DAMAGED_COORDINATOR: Final = "coordinator-damaged"
"""A newer state of the transaction may be unreadable, or lost."""
DAMAGED_LOG: Final = "log-damaged"
"""The status of a row without a transaction: damage may hide some in this partition."""

WITHOUT_TRANSACTIONS: Final = INTERNAL_TOPICS - {OFFSETS_TOPIC}
"""Producers commit offsets of groups in their transactions; nothing else of internal topics."""
_LONGEST_MS: Final = 15 * 60 * 1000
"""``transaction.max.timeout.ms``: the coordinator aborts by then what it knows."""
_GRACE_MS: Final = 5 * 60 * 1000


def longest_ms(timeout_ms: int | None) -> int:
    """How long a transaction can be open while its coordinator works, in milliseconds."""
    return max(timeout_ms or 0, _LONGEST_MS) + _GRACE_MS
