"""Rules that compare replicas (KL-5xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import rule

REPLICAS_AGREE: Final = rule(
    "KL-501", "replicas-agree", severity="I", actions=("A1",), roles=(Role.SEVERAL_REPLICAS,)
)
LAGGING_REPLICA: Final = rule(
    "KL-502",
    "lagging-replica",
    severity="I",
    actions=("A1",),
    innocent=("T02",),
    roles=(Role.SEVERAL_REPLICAS, Role.PICTURED),
)
FORKED: Final = rule(
    "KL-503", "forked", severity="H", actions=("A16",), roles=(Role.SEVERAL_REPLICAS, Role.PICTURED)
)
SUPERSEDED_TAIL: Final = rule(
    "KL-504",
    "superseded-tail",
    severity="M",
    actions=("A16",),
    innocent=("T13",),
    roles=(Role.SEVERAL_REPLICAS, Role.PICTURED),
)
SAME_EPOCH_CONFLICT: Final = rule(
    "KL-505",
    "same-epoch-conflict",
    severity="C",
    actions=("A7", "A15", "A20"),
    innocent=("T05", "T06", "T30"),
    roles=(Role.SEVERAL_REPLICAS,),
)
DAMAGED_COPY: Final = rule(
    "KL-506", "damaged-copy", severity="H", actions=("A5", "A6"), roles=(Role.SEVERAL_REPLICAS,)
)
UNCOVERED_FIELD_MISMATCH: Final = rule(
    "KL-507",
    "uncovered-field-mismatch",
    severity="H",
    actions=("A5", "A9"),
    roles=(Role.SEVERAL_REPLICAS,),
)
RECORDS_MISSING_ON_REPLICA: Final = rule(
    "KL-508",
    "records-missing-on-replica",
    severity="H",
    actions=("A5", "A6"),
    innocent=("T03", "T05", "T07"),
    roles=(Role.SEVERAL_REPLICAS,),
)
COMPACTION_SKEW: Final = rule(
    "KL-509",
    "compaction-skew",
    severity="I",
    actions=("A1",),
    innocent=("T05", "T06", "T07"),
    roles=(Role.SEVERAL_REPLICAS,),
)
RETENTION_SKEW: Final = rule(
    "KL-510",
    "retention-skew",
    severity="I",
    actions=("A1",),
    innocent=("T03", "T04", "T09"),
    roles=(Role.SEVERAL_REPLICAS,),
)
LATEST_VALUE_MISMATCH: Final = rule(
    "KL-511",
    "latest-value-mismatch",
    severity="C",
    actions=("A5", "A15"),
    innocent=("T07",),
    roles=(Role.SEVERAL_REPLICAS,),
)
NO_COMMON_RANGE: Final = rule(
    "KL-512",
    "no-common-range",
    severity="M",
    actions=("A5",),
    innocent=("T03", "T33"),
    roles=(Role.SEVERAL_REPLICAS,),
)
COMMITTED_CONFLICT: Final = rule(
    "KL-513",
    "committed-conflict",
    severity="C",
    actions=("A16", "A20"),
    roles=(Role.SEVERAL_REPLICAS,),
)
UNCLEAN_ELECTION_EVIDENCE: Final = rule(
    "KL-514",
    "unclean-election-evidence",
    severity="C",
    actions=("A7", "A16"),
    innocent=("T13", "T14"),
    roles=(Role.SEVERAL_REPLICAS,),
)
EPOCH_NUMBER_COLLISION: Final = rule(
    "KL-515",
    "epoch-number-collision",
    severity="C",
    actions=("A8", "A15"),
    innocent=("T15", "T25"),
    roles=(Role.SEVERAL_REPLICAS,),
)
LEGACY_DIVERGENCE: Final = rule(
    "KL-516",
    "legacy-divergence",
    severity="C",
    actions=("A20",),
    innocent=("T25",),
    roles=(Role.SEVERAL_REPLICAS,),
)
TRUNCATION_LEAVES_DIVERGENCE: Final = rule(
    "KL-517",
    "truncation-leaves-divergence",
    severity="C",
    actions=("A8", "A6"),
    roles=(Role.SEVERAL_REPLICAS, Role.ONE_LEADER),
)
NEEDLESS_TRUNCATION: Final = rule(
    "KL-518",
    "needless-truncation",
    severity="I",
    actions=("A1",),
    roles=(Role.SEVERAL_REPLICAS, Role.ONE_LEADER),
)
EMPTY_REPLICA: Final = rule(
    "KL-519",
    "empty-replica",
    severity="H",
    actions=("A5", "A16"),
    innocent=("T33",),
    roles=(Role.SEVERAL_REPLICAS,),
)
SINGLE_COPY_RANGE: Final = rule(
    "KL-520",
    "single-copy-range",
    severity="H",
    actions=("A5", "A7"),
    innocent=("T02",),
    roles=(Role.SEVERAL_REPLICAS, Role.PICTURED),
)
FOLLOWER_MAY_LOOP: Final = rule(
    "KL-521",
    "follower-may-loop",
    severity="M",
    actions=("A8",),
    innocent=("T31",),
    roles=(Role.SEVERAL_REPLICAS,),
)
METADATA_EPOCH_AHEAD: Final = rule(
    "KL-522",
    "metadata-epoch-ahead",
    severity="I",
    actions=("A1",),
    innocent=("T13",),
    roles=(Role.SEVERAL_REPLICAS,),
)
TRUNCATION_TRACE: Final = rule(
    "KL-523",
    "truncation-trace",
    severity="I",
    actions=("A1",),
    innocent=("T22",),
    roles=(Role.SEVERAL_REPLICAS,),
)
COMMITTED_RECORDS_MISSING: Final = rule(
    "KL-524",
    "committed-records-missing",
    severity="C",
    actions=("A4", "A16", "A17"),
    innocent=("T01",),
    roles=(Role.SEVERAL_REPLICAS, Role.PICTURED),
)
