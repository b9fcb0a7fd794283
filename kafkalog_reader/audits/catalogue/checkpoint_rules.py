"""Rules about checkpoints, snapshots and metadata files (KL-3xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import rule

CHECKPOINT_MALFORMED: Final = rule(
    "KL-301", "checkpoint-malformed", severity="H", actions=("A8", "A9"), innocent=("T01",)
)
CHECKPOINT_MISSING: Final = rule(
    "KL-302", "checkpoint-missing", severity="L", actions=("A8",), innocent=("T18", "T32")
)
CHECKPOINT_TEMPORARY_LEFT: Final = rule(
    "KL-303", "checkpoint-temporary-left", severity="I", actions=("A1",)
)
HIGH_WATERMARK_BEYOND_END: Final = rule(
    "KL-304",
    "high-watermark-beyond-end",
    severity="C",
    actions=("A4", "A5", "A16"),
    innocent=("T01",),
    roles=(Role.FOLLOWS_IN_REPLICA, Role.LOST_END),
)
RECOVERY_POINT_BEYOND_END: Final = rule(
    "KL-305",
    "recovery-point-beyond-end",
    severity="C",
    actions=("A5", "A9"),
    innocent=("T01",),
    roles=(Role.FOLLOWS_IN_REPLICA, Role.LOST_END),
)
LOG_START_BEYOND_END: Final = rule(
    "KL-306", "log-start-beyond-end", severity="C", actions=("A4", "A7"), innocent=("T01",)
)
LOG_START_BEYOND_HIGH_WATERMARK: Final = rule(
    "KL-307", "log-start-beyond-high-watermark", severity="L", actions=("A1",), innocent=("T16",)
)
CLEANER_OFFSET_BEYOND_END: Final = rule(
    "KL-308",
    "cleaner-offset-beyond-end",
    severity="M",
    actions=("A5",),
    innocent=("T01",),
    roles=(Role.FOLLOWS_IN_REPLICA,),
)
CHECKPOINT_ROW_WITHOUT_DIRECTORY: Final = rule(
    "KL-309", "checkpoint-row-without-directory", severity="I", actions=("A1",), innocent=("T24",)
)
REPLICA_DIRECTORY_MISSING: Final = rule(
    "KL-310",
    "replica-directory-missing",
    severity="H",
    actions=("A4", "A5", "A16"),
    innocent=("T24",),
    roles=(Role.REPLICA_NOT_READ,),
)
EPOCH_CHECKPOINT_NOT_RISING: Final = rule(
    "KL-311", "epoch-checkpoint-not-rising", severity="H", actions=("A8",)
)
META_PROPERTIES_PROBLEM: Final = rule(
    "KL-312", "meta-properties-problem", severity="H", actions=("A17",)
)
PARTITION_METADATA_MALFORMED: Final = rule(
    "KL-313", "partition-metadata-malformed", severity="M", actions=("A17",)
)
PRODUCER_SNAPSHOT_DAMAGED: Final = rule(
    "KL-314", "producer-snapshot-damaged", severity="L", actions=("A3",)
)
STRAY_PRODUCER_SNAPSHOT: Final = rule(
    "KL-315", "stray-producer-snapshot", severity="I", actions=("A1",), roles=(Role.LEFT_BEHIND,)
)
CLEAN_MARKER_CONTRADICTED: Final = rule(
    "KL-316",
    "clean-marker-contradicted",
    severity="H",
    actions=("A4", "A5"),
    roles=(Role.FOLLOWS_IN_REPLICA,),
)
