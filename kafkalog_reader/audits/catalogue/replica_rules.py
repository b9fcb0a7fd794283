"""Rules that compare replicas (KL-5xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.actions import (
    CHECK_HARDWARE,
    CHOOSE_A_BRANCH,
    FORBID_UNCLEAN_ELECTION,
    MOVE_COPY_ASIDE,
    NOTHING_TO_DO,
    REPORT_DEFECT,
    SAVE_RECORDS,
    START_BEST_FIRST,
    WRITE_EPOCHS,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import rule

REPLICAS_AGREE: Final = rule(
    "KL-501",
    "replicas-agree",
    severity="I",
    actions=(NOTHING_TO_DO,),
    roles=(Role.SEVERAL_REPLICAS,),
)
LAGGING_REPLICA: Final = rule(
    "KL-502",
    "lagging-replica",
    severity="I",
    actions=(NOTHING_TO_DO,),
    innocent=("T02",),
    roles=(Role.SEVERAL_REPLICAS,),
)
FORKED: Final = rule(
    "KL-503",
    "forked",
    severity="H",
    actions=(FORBID_UNCLEAN_ELECTION,),
    roles=(Role.SEVERAL_REPLICAS, Role.PICTURED),
)
SUPERSEDED_TAIL: Final = rule(
    "KL-504",
    "superseded-tail",
    severity="M",
    actions=(FORBID_UNCLEAN_ELECTION,),
    innocent=("T13",),
    roles=(Role.SEVERAL_REPLICAS, Role.PICTURED),
)
SAME_EPOCH_CONFLICT: Final = rule(
    "KL-505",
    "same-epoch-conflict",
    severity="C",
    actions=(SAVE_RECORDS, REPORT_DEFECT, CHOOSE_A_BRANCH),
    innocent=("T05", "T06", "T30"),
    roles=(Role.SEVERAL_REPLICAS,),
)
DAMAGED_COPY: Final = rule(
    "KL-506",
    "damaged-copy",
    severity="H",
    actions=(START_BEST_FIRST, MOVE_COPY_ASIDE),
    roles=(Role.SEVERAL_REPLICAS,),
)
UNCOVERED_FIELD_MISMATCH: Final = rule(
    "KL-507",
    "uncovered-field-mismatch",
    severity="H",
    actions=(START_BEST_FIRST, CHECK_HARDWARE),
    roles=(Role.SEVERAL_REPLICAS,),
)
RECORDS_MISSING_ON_REPLICA: Final = rule(
    "KL-508",
    "records-missing-on-replica",
    severity="H",
    actions=(START_BEST_FIRST, MOVE_COPY_ASIDE),
    innocent=("T03", "T05", "T07"),
    roles=(Role.SEVERAL_REPLICAS,),
)
COMPACTION_SKEW: Final = rule(
    "KL-509",
    "compaction-skew",
    severity="I",
    actions=(NOTHING_TO_DO,),
    innocent=("T05", "T06", "T07"),
    roles=(Role.SEVERAL_REPLICAS,),
)
RETENTION_SKEW: Final = rule(
    "KL-510",
    "retention-skew",
    severity="I",
    actions=(NOTHING_TO_DO,),
    innocent=("T03", "T04", "T09"),
    roles=(Role.SEVERAL_REPLICAS,),
)
LATEST_VALUE_MISMATCH: Final = rule(
    "KL-511",
    "latest-value-mismatch",
    severity="C",
    actions=(START_BEST_FIRST, REPORT_DEFECT),
    innocent=("T07",),
    roles=(Role.SEVERAL_REPLICAS,),
)
NO_COMMON_RANGE: Final = rule(
    "KL-512",
    "no-common-range",
    severity="M",
    actions=(START_BEST_FIRST,),
    innocent=("T03", "T33"),
    roles=(Role.SEVERAL_REPLICAS,),
)
COMMITTED_CONFLICT: Final = rule(
    "KL-513",
    "committed-conflict",
    severity="C",
    actions=(FORBID_UNCLEAN_ELECTION, CHOOSE_A_BRANCH),
    roles=(Role.SEVERAL_REPLICAS,),
)
UNCLEAN_ELECTION_EVIDENCE: Final = rule(
    "KL-514",
    "unclean-election-evidence",
    severity="C",
    actions=(SAVE_RECORDS, FORBID_UNCLEAN_ELECTION),
    innocent=("T13", "T14"),
    roles=(Role.SEVERAL_REPLICAS,),
)
EPOCH_NUMBER_COLLISION: Final = rule(
    "KL-515",
    "epoch-number-collision",
    severity="C",
    actions=(WRITE_EPOCHS, REPORT_DEFECT),
    innocent=("T15", "T25"),
    roles=(Role.SEVERAL_REPLICAS,),
)
LEGACY_DIVERGENCE: Final = rule(
    "KL-516",
    "legacy-divergence",
    severity="C",
    actions=(CHOOSE_A_BRANCH,),
    innocent=("T25",),
    roles=(Role.SEVERAL_REPLICAS,),
)
TRUNCATION_LEAVES_DIVERGENCE: Final = rule(
    "KL-517",
    "truncation-leaves-divergence",
    severity="C",
    actions=(WRITE_EPOCHS, MOVE_COPY_ASIDE),
    roles=(Role.SEVERAL_REPLICAS, Role.ONE_LEADER),
)
NEEDLESS_TRUNCATION: Final = rule(
    "KL-518",
    "needless-truncation",
    severity="I",
    actions=(NOTHING_TO_DO,),
    roles=(Role.SEVERAL_REPLICAS, Role.ONE_LEADER),
)
EMPTY_REPLICA: Final = rule(
    "KL-519",
    "empty-replica",
    severity="H",
    actions=(START_BEST_FIRST, FORBID_UNCLEAN_ELECTION),
    innocent=("T33",),
    roles=(Role.SEVERAL_REPLICAS,),
)
SINGLE_COPY_RANGE: Final = rule(
    "KL-520",
    "single-copy-range",
    severity="H",
    actions=(START_BEST_FIRST, SAVE_RECORDS),
    innocent=("T02",),
    roles=(Role.SEVERAL_REPLICAS, Role.PICTURED),
)
FOLLOWER_MAY_LOOP: Final = rule(
    "KL-521",
    "follower-may-loop",
    severity="M",
    actions=(WRITE_EPOCHS,),
    innocent=("T31",),
    roles=(Role.SEVERAL_REPLICAS,),
)
METADATA_EPOCH_AHEAD: Final = rule(
    "KL-522",
    "metadata-epoch-ahead",
    severity="I",
    actions=(NOTHING_TO_DO,),
    innocent=("T13",),
    roles=(Role.SEVERAL_REPLICAS,),
)
TRUNCATION_TRACE: Final = rule(
    "KL-523",
    "truncation-trace",
    severity="I",
    actions=(NOTHING_TO_DO,),
    innocent=("T22",),
    roles=(Role.SEVERAL_REPLICAS,),
)
