"""Rules about who can lead and what is lost (KL-9xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.actions import (
    CHOOSE_A_BRANCH,
    FORBID_UNCLEAN_ELECTION,
    LET_BEST_LEAD,
    SAVE_RECORDS,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import NO_EFFECT, rule

LEAST_LOSS_LEADER: Final = rule(
    "KL-901",
    "least-loss-leader",
    severity="I",
    title="the leader that loses least",
    explanation="Candidates are ordered by what is lost for ever when they lead: committed records "
    "first, then those that may be committed, then whether Kafka elects them by itself (ISR or "
    "ELR), then the rest.",
    start="Starts come before elections, and what they cut is included.",
    election="The first of the list should lead, of the replicas that were supplied.",
    reader=NO_EFFECT,
    actions=(LET_BEST_LEAD,),
    roles=(Role.SEVERAL_REPLICAS,),
)
CLEAN_LEADER_AVAILABLE: Final = rule(
    "KL-902",
    "clean-leader-available",
    severity="I",
    title="a leader without loss",
    explanation="At least one candidate holds every record that is or may be committed.",
    start=NO_EFFECT,
    election="Electing one of them loses no committed record, if earlier elections were clean.",
    reader=NO_EFFECT,
    actions=(LET_BEST_LEAD,),
    roles=(Role.SEVERAL_REPLICAS,),
)
EVERY_LEADER_LOSES_COMMITTED: Final = rule(
    "KL-903",
    "every-leader-loses-committed",
    severity="C",
    title="every leader loses committed records",
    explanation="No candidate holds every record that is or may be committed.",
    start=NO_EFFECT,
    election="Whoever is elected, records are lost that consumers may have read. Save them first "
    "and produce them again.",
    reader="Consumers that read further see other records at the same offsets, or an offset out of "
    "range.",
    actions=(SAVE_RECORDS, FORBID_UNCLEAN_ELECTION, CHOOSE_A_BRANCH),
    roles=(Role.SEVERAL_REPLICAS, Role.PICTURED, Role.OF_NEXT_START),
)
DAMAGE_RECOVERABLE_FROM_PEER: Final = rule(
    "KL-904",
    "damage-recoverable-from-peer",
    severity="I",
    title="every damaged record has an intact copy",
    explanation="For each damaged or missing batch, another supplied replica holds an intact one.",
    start=NO_EFFECT,
    election="Let a replica that holds them lead. If each is damaged at another place, none is "
    "complete: salvage --merge takes each batch from a copy that has it.",
    reader=NO_EFFECT,
    actions=(LET_BEST_LEAD,),
    roles=(Role.SEVERAL_REPLICAS, Role.PICTURED, Role.SUMS_UP_DAMAGE),
)
DAMAGE_UNRECOVERABLE: Final = rule(
    "KL-905",
    "damage-unrecoverable",
    severity="C",
    title="damage without an intact copy",
    explanation="No supplied replica has an intact copy of some damaged bytes.",
    start=NO_EFFECT,
    election="Whoever leads, these records cannot be served.",
    reader="Consumers fail at these offsets, or never see them.",
    actions=(SAVE_RECORDS,),
    roles=(Role.SEVERAL_REPLICAS, Role.PICTURED, Role.SUMS_UP_DAMAGE),
)
