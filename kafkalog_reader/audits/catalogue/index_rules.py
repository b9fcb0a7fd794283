"""Rules about offset, time and transaction indexes (KL-2xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import rule

INDEX_MISSING: Final = rule("KL-201", "index-missing", severity="L", actions=("A3",))
INDEX_SIZE_ODD: Final = rule(
    "KL-202", "index-size-odd", severity="M", actions=("A3",), innocent=("T01",)
)
INDEX_NOT_RISING: Final = rule(
    "KL-203",
    "index-not-rising",
    severity="M",
    actions=("A3",),
    innocent=("T10",),
    roles=(Role.MISLEADS_LOG_END,),
)
INDEX_POINTS_PAST_LOG: Final = rule(
    "KL-204",
    "index-points-past-log",
    severity="H",
    actions=("A3",),
    innocent=("T01",),
    roles=(Role.FOLLOWS_IN_SEGMENT, Role.MISLEADS_LOG_END),
)
INDEX_NOT_ON_A_BATCH: Final = rule(
    "KL-205",
    "index-not-on-a-batch",
    severity="H",
    actions=("A3",),
    roles=(Role.FOLLOWS_IN_SEGMENT, Role.MISLEADS_LOG_END),
)
INDEX_SKIPS_RECORDS: Final = rule(
    "KL-206",
    "index-skips-records",
    severity="H",
    actions=("A3",),
    roles=(Role.FOLLOWS_IN_SEGMENT, Role.MISLEADS_LOG_END),
)
INDEX_ZERO_TAIL: Final = rule(
    "KL-207",
    "index-zero-tail",
    severity="I",
    actions=("A1",),
    innocent=("T10",),
    roles=(Role.ZERO_TIMES,),
)
INDEX_SPARSE: Final = rule(
    "KL-208", "index-sparse", severity="I", actions=("A1",), innocent=("T11",)
)
ORPHAN_INDEX: Final = rule(
    "KL-209", "orphan-index", severity="L", actions=("A1",), roles=(Role.LEFT_BEHIND,)
)
TIME_INDEX_NOT_RISING: Final = rule(
    "KL-210",
    "time-index-not-rising",
    severity="M",
    actions=("A3",),
    innocent=("T10",),
    roles=(Role.ZERO_TIMES,),
)
TIME_INDEX_SKIPS_RECORDS: Final = rule(
    "KL-211",
    "time-index-skips-records",
    severity="M",
    actions=("A3",),
    innocent=("T12",),
    roles=(Role.FOLLOWS_IN_SEGMENT,),
)
TIME_INDEX_OFFSET_UNKNOWN: Final = rule(
    "KL-212",
    "time-index-offset-unknown",
    severity="L",
    actions=("A3",),
    innocent=("T05", "T12"),
    roles=(Role.FOLLOWS_IN_SEGMENT,),
)
TRANSACTION_INDEX_MALFORMED: Final = rule(
    "KL-213", "transaction-index-malformed", severity="H", actions=("A3",), innocent=("T01",)
)
TIME_INDEX_LAST_ENTRY_LOW: Final = rule(
    "KL-214",
    "time-index-last-entry-low",
    severity="L",
    actions=("A3",),
    roles=(Role.FOLLOWS_IN_SEGMENT,),
)
TIME_INDEX_LAST_ENTRY_HIGH: Final = rule(
    "KL-215",
    "time-index-last-entry-high",
    severity="M",
    actions=("A3",),
    innocent=("T10",),
    roles=(Role.FOLLOWS_IN_SEGMENT,),
)
