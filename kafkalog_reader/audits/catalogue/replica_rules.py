"""Rules that compare replicas (KL-5xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.rule import rule

REPLICAS_AGREE: Final = rule("KL-501", "replicas-agree", severity="I", actions=("A1",))
LAGGING_REPLICA: Final = rule(
    "KL-502", "lagging-replica", severity="I", actions=("A1",), innocent=("T02",)
)
FORKED: Final = rule("KL-503", "forked", severity="H", actions=("A16",))
SUPERSEDED_TAIL: Final = rule(
    "KL-504", "superseded-tail", severity="M", actions=("A16",), innocent=("T13",)
)
SAME_EPOCH_CONFLICT: Final = rule(
    "KL-505",
    "same-epoch-conflict",
    severity="C",
    actions=("A7", "A15", "A20"),
    innocent=("T05", "T06", "T30"),
)
DAMAGED_COPY: Final = rule("KL-506", "damaged-copy", severity="H", actions=("A5", "A6"))
UNCOVERED_FIELD_MISMATCH: Final = rule(
    "KL-507", "uncovered-field-mismatch", severity="H", actions=("A5", "A9")
)
RECORDS_MISSING_ON_REPLICA: Final = rule(
    "KL-508",
    "records-missing-on-replica",
    severity="H",
    actions=("A5", "A6"),
    innocent=("T03", "T05", "T07"),
)
COMPACTION_SKEW: Final = rule(
    "KL-509", "compaction-skew", severity="I", actions=("A1",), innocent=("T05", "T06", "T07")
)
RETENTION_SKEW: Final = rule(
    "KL-510", "retention-skew", severity="I", actions=("A1",), innocent=("T03", "T04", "T09")
)
LATEST_VALUE_MISMATCH: Final = rule(
    "KL-511", "latest-value-mismatch", severity="C", actions=("A5", "A15"), innocent=("T07",)
)
NO_COMMON_RANGE: Final = rule(
    "KL-512", "no-common-range", severity="M", actions=("A5",), innocent=("T03", "T33")
)
COMMITTED_CONFLICT: Final = rule(
    "KL-513", "committed-conflict", severity="C", actions=("A16", "A20")
)
UNCLEAN_ELECTION_EVIDENCE: Final = rule(
    "KL-514",
    "unclean-election-evidence",
    severity="C",
    actions=("A7", "A16"),
    innocent=("T13", "T14"),
)
EPOCH_NUMBER_COLLISION: Final = rule(
    "KL-515", "epoch-number-collision", severity="C", actions=("A8", "A15"), innocent=("T15", "T25")
)
LEGACY_DIVERGENCE: Final = rule(
    "KL-516", "legacy-divergence", severity="C", actions=("A20",), innocent=("T25",)
)
TRUNCATION_LEAVES_DIVERGENCE: Final = rule(
    "KL-517", "truncation-leaves-divergence", severity="C", actions=("A8", "A6")
)
NEEDLESS_TRUNCATION: Final = rule("KL-518", "needless-truncation", severity="I", actions=("A1",))
EMPTY_REPLICA: Final = rule(
    "KL-519", "empty-replica", severity="H", actions=("A5", "A16"), innocent=("T33",)
)
SINGLE_COPY_RANGE: Final = rule(
    "KL-520", "single-copy-range", severity="H", actions=("A5", "A7"), innocent=("T02",)
)
FOLLOWER_MAY_LOOP: Final = rule(
    "KL-521", "follower-may-loop", severity="M", actions=("A8",), innocent=("T31",)
)
METADATA_EPOCH_AHEAD: Final = rule(
    "KL-522", "metadata-epoch-ahead", severity="I", actions=("A1",), innocent=("T13",)
)
TRUNCATION_TRACE: Final = rule(
    "KL-523", "truncation-trace", severity="I", actions=("A1",), innocent=("T22",)
)
