"""Rules about who can lead and what is lost (KL-9xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import rule

LEAST_LOSS_LEADER: Final = rule(
    "KL-901", "least-loss-leader", severity="I", actions=("A5",), roles=(Role.SEVERAL_REPLICAS,)
)
CLEAN_LEADER_AVAILABLE: Final = rule(
    "KL-902",
    "clean-leader-available",
    severity="I",
    actions=("A5",),
    roles=(Role.SEVERAL_REPLICAS,),
)
EVERY_LEADER_LOSES_COMMITTED: Final = rule(
    "KL-903",
    "every-leader-loses-committed",
    severity="C",
    actions=("A7", "A16", "A20"),
    roles=(Role.SEVERAL_REPLICAS, Role.PICTURED),
)
DAMAGE_RECOVERABLE_FROM_PEER: Final = rule(
    "KL-904",
    "damage-recoverable-from-peer",
    severity="I",
    actions=("A5",),
    roles=(Role.SEVERAL_REPLICAS, Role.PICTURED),
)
DAMAGE_UNRECOVERABLE: Final = rule(
    "KL-905",
    "damage-unrecoverable",
    severity="C",
    actions=("A7",),
    roles=(Role.SEVERAL_REPLICAS, Role.PICTURED),
)
