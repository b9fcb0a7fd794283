"""Rules about producers and transactions (KL-6xx, KL-7xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import rule

RETRY_DUPLICATES: Final = rule(
    "KL-601",
    "retry-duplicates",
    severity="M",
    actions=("A10",),
    innocent=("T30",),
    roles=(Role.OF_PRODUCERS,),
)
RETRY_DUPLICATES_ACROSS_LEADERS: Final = rule(
    "KL-602",
    "retry-duplicates-across-leaders",
    severity="M",
    actions=("A10",),
    roles=(Role.OF_PRODUCERS,),
)
TRUNCATION_CUTS_TRANSACTION: Final = rule(
    "KL-713",
    "truncation-cuts-transaction",
    severity="H",
    actions=("A16",),
    roles=(Role.SEVERAL_REPLICAS, Role.ONE_LEADER),
)
