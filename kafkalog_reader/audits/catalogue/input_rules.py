"""Rules about the input as a whole: what was supplied, what could be read (KL-0xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import rule

INPUT_CHANGED_DURING_READ: Final = rule(
    "KL-001", "input-changed-during-read", severity="L", actions=("A2",), innocent=("T01",)
)
UNSAFE_PATH_SKIPPED: Final = rule(
    "KL-002", "unsafe-path-skipped", severity="M", actions=("A1",), roles=(Role.REPLICA_NOT_READ,)
)
HOSTILE_NAME: Final = rule("KL-003", "hostile-name", severity="L", actions=("A1",))
UNREADABLE_FILE: Final = rule(
    "KL-004", "unreadable-file", severity="H", actions=("A9",), roles=(Role.DAMAGE, Role.NOT_READ)
)
LIMIT_REACHED: Final = rule("KL-005", "limit-reached", severity="M", actions=("A18",))
UNKNOWN_VERSION: Final = rule(
    "KL-006", "unknown-version", severity="M", actions=("A17",), roles=(Role.DAMAGE, Role.NOT_READ)
)
DUPLICATE_REPLICA_DIRECTORY: Final = rule(
    "KL-007", "duplicate-replica-directory", severity="H", actions=("A6",), innocent=("T24",)
)
MIXED_CLUSTERS: Final = rule("KL-008", "mixed-clusters", severity="C", actions=("A17",))
TOPIC_ID_MISMATCH: Final = rule(
    "KL-009", "topic-id-mismatch", severity="H", actions=("A17",), innocent=("T23",)
)
NOT_A_REPLICA_DIRECTORY: Final = rule(
    "KL-010", "not-a-replica-directory", severity="I", actions=("A1",), innocent=("T24",)
)
UNCLEAN_SHUTDOWN: Final = rule(
    "KL-011", "unclean-shutdown", severity="I", actions=("A1",), innocent=("T01",)
)
REPLICA_NOT_SUPPLIED: Final = rule(
    "KL-012", "replica-not-supplied", severity="M", actions=("A17",), roles=(Role.REPLICA_NOT_READ,)
)
COPIES_TAKEN_AT_DIFFERENT_TIMES: Final = rule(
    "KL-013",
    "copies-taken-at-different-times",
    severity="I",
    actions=("A2",),
    innocent=("T01", "T02"),
)
