"""Rules about the input as a whole: what was supplied, what could be read (KL-0xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.actions import (
    CHECK_HARDWARE,
    COPY_AGAIN,
    KEEP_ONE_DIRECTORY,
    LEAVE_ONE_OUT,
    NAME_REAL_PATH,
    NOTHING_TO_DO,
    RAISE_LIMIT,
    READ_WITH_PERMISSION,
    SUPPLY_WHAT_IS_MISSING,
    USE_NEWER_READER,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import rule

INPUT_CHANGED_DURING_READ: Final = rule(
    "KL-001", "input-changed-during-read", severity="L", actions=(COPY_AGAIN,), innocent=("T01",)
)
UNSAFE_PATH_SKIPPED: Final = rule(
    "KL-002",
    "unsafe-path-skipped",
    severity="M",
    actions=(NAME_REAL_PATH,),
    roles=(Role.REPLICA_NOT_READ,),
)
HOSTILE_NAME: Final = rule("KL-003", "hostile-name", severity="L", actions=(NOTHING_TO_DO,))
UNREADABLE_FILE: Final = rule(
    "KL-004",
    "unreadable-file",
    severity="H",
    actions=(CHECK_HARDWARE, READ_WITH_PERMISSION),
    roles=(Role.DAMAGE, Role.NOT_READ),
)
LIMIT_REACHED: Final = rule("KL-005", "limit-reached", severity="M", actions=(RAISE_LIMIT,))
UNKNOWN_VERSION: Final = rule(
    "KL-006",
    "unknown-version",
    severity="M",
    actions=(USE_NEWER_READER,),
    roles=(Role.DAMAGE, Role.NOT_READ),
)
DUPLICATE_REPLICA_DIRECTORY: Final = rule(
    "KL-007",
    "duplicate-replica-directory",
    severity="H",
    actions=(KEEP_ONE_DIRECTORY,),
    innocent=("T24",),
)
MIXED_CLUSTERS: Final = rule("KL-008", "mixed-clusters", severity="C", actions=(LEAVE_ONE_OUT,))
TOPIC_ID_MISMATCH: Final = rule(
    "KL-009", "topic-id-mismatch", severity="H", actions=(LEAVE_ONE_OUT,), innocent=("T23",)
)
NOT_A_REPLICA_DIRECTORY: Final = rule(
    "KL-010", "not-a-replica-directory", severity="I", actions=(NOTHING_TO_DO,), innocent=("T24",)
)
UNCLEAN_SHUTDOWN: Final = rule(
    "KL-011", "unclean-shutdown", severity="I", actions=(NOTHING_TO_DO,), innocent=("T01",)
)
REPLICA_NOT_SUPPLIED: Final = rule(
    "KL-012",
    "replica-not-supplied",
    severity="M",
    actions=(SUPPLY_WHAT_IS_MISSING,),
    roles=(Role.REPLICA_NOT_READ,),
)
COPIES_TAKEN_AT_DIFFERENT_TIMES: Final = rule(
    "KL-013",
    "copies-taken-at-different-times",
    severity="I",
    actions=(COPY_AGAIN,),
    innocent=("T01", "T02"),
)
