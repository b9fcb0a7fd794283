"""Rules about record batches and their records (KL-1xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import rule

BATCH_CRC_MISMATCH: Final = rule(
    "KL-101",
    "batch-crc-mismatch",
    severity="C",
    actions=("A5", "A9"),
    innocent=("T01",),
    roles=(
        Role.DAMAGE,
        Role.DAMAGED_BATCH,
        Role.FAILS_READERS,
        Role.MAY_STOP_RECOVERY,
        Role.HIGH_WITH_PEER,
    ),
)
BATCH_LENGTH_IMPOSSIBLE: Final = rule(
    "KL-102",
    "batch-length-impossible",
    severity="H",
    actions=("A4", "A5"),
    innocent=("T01",),
    roles=(Role.DAMAGE, Role.DAMAGED_BATCH, Role.FAILS_READERS, Role.MAY_STOP_RECOVERY),
)
TORN_TAIL: Final = rule(
    "KL-103",
    "torn-tail",
    severity="L",
    actions=("A2", "A5"),
    innocent=("T01",),
    roles=(Role.DAMAGE, Role.TAIL, Role.MAY_STOP_RECOVERY),
)
ZERO_TAIL: Final = rule(
    "KL-104",
    "zero-tail",
    severity="M",
    actions=("A1", "A5"),
    innocent=("T10",),
    roles=(Role.DAMAGE, Role.TAIL),
)
UNREADABLE_REGION: Final = rule(
    "KL-105",
    "unreadable-region",
    severity="H",
    actions=("A5", "A7", "A9"),
    roles=(Role.DAMAGE, Role.FAILS_READERS, Role.MAY_STOP_RECOVERY),
)
MAGIC_IMPOSSIBLE: Final = rule(
    "KL-106",
    "magic-impossible",
    severity="H",
    actions=("A5",),
    roles=(Role.DAMAGE, Role.DAMAGED_BATCH, Role.MAY_STOP_RECOVERY),
)
HEADER_CONTRADICTION: Final = rule(
    "KL-107",
    "header-contradiction",
    severity="H",
    actions=("A15",),
    innocent=("T08",),
    roles=(Role.DAMAGE, Role.DAMAGED_BATCH, Role.MAY_STOP_RECOVERY, Role.FOLLOWS_IN_SEGMENT),
)
RECORD_UNDECODABLE: Final = rule(
    "KL-108", "record-undecodable", severity="H", actions=("A7", "A15"), roles=(Role.DAMAGE,)
)
RECORD_COUNT_MISMATCH: Final = rule(
    "KL-109", "record-count-mismatch", severity="H", actions=("A15",), innocent=("T05",)
)
OFFSET_REGRESSION: Final = rule(
    "KL-110",
    "offset-regression",
    severity="C",
    actions=("A4", "A7", "A15"),
    innocent=("T04",),
    roles=(Role.DAMAGE, Role.DAMAGED_BATCH, Role.MAY_STOP_RECOVERY, Role.FOLLOWS_IN_SEGMENT),
)
OFFSET_GAP: Final = rule(
    "KL-111",
    "offset-gap",
    severity="M",
    actions=("A5",),
    innocent=("T05", "T33", "T34"),
    roles=(Role.DAMAGE, Role.GAP, Role.FOLLOWS_IN_SEGMENT),
)
LEADER_EPOCH_REGRESSION: Final = rule(
    "KL-112",
    "leader-epoch-regression",
    severity="H",
    actions=("A5", "A8"),
    innocent=("T25",),
    roles=(Role.DAMAGE, Role.FOLLOWS_IN_SEGMENT),
)
TIMESTAMP_IMPLAUSIBLE: Final = rule(
    "KL-113", "timestamp-implausible", severity="L", actions=("A19",), innocent=("T06", "T30")
)
SEGMENT_OFFSET_OVERFLOW: Final = rule(
    "KL-114",
    "segment-offset-overflow",
    severity="M",
    actions=("A1",),
    roles=(Role.DAMAGED_BATCH, Role.MAY_STOP_RECOVERY, Role.FOLLOWS_IN_SEGMENT),
)
INNER_MAGIC_MISMATCH: Final = rule("KL-115", "inner-magic-mismatch", severity="M", actions=("A15",))
OVERSIZED_BATCH: Final = rule("KL-116", "oversized-batch", severity="I", actions=("A1",))
MIXED_MESSAGE_FORMATS: Final = rule(
    "KL-117", "mixed-message-formats", severity="M", actions=("A1",), innocent=("T32",)
)
REPEATED_PHYSICAL_BATCH: Final = rule(
    "KL-118",
    "repeated-physical-batch",
    severity="H",
    actions=("A7", "A15"),
    roles=(Role.DAMAGE, Role.DAMAGED_BATCH, Role.MAY_STOP_RECOVERY, Role.FOLLOWS_IN_SEGMENT),
)
