"""Rules about one replica's log as a whole, and what its next start does (KL-4xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import rule

SEGMENT_NAME_ABOVE_CONTENT: Final = rule(
    "KL-401",
    "segment-name-above-content",
    severity="H",
    actions=("A5",),
    innocent=("T04",),
    roles=(Role.DAMAGE, Role.FOLLOWS_IN_REPLICA),
)
SEGMENT_OVERLAP: Final = rule(
    "KL-402",
    "segment-overlap",
    severity="C",
    actions=("A4", "A7"),
    roles=(Role.DAMAGE, Role.FOLLOWS_IN_REPLICA),
)
SEGMENT_GAP: Final = rule(
    "KL-403",
    "segment-gap",
    severity="M",
    actions=("A5",),
    innocent=("T05", "T33", "T34"),
    roles=(Role.GAP, Role.FOLLOWS_IN_REPLICA),
)
SEGMENT_MISSING: Final = rule(
    "KL-404",
    "segment-missing",
    severity="H",
    actions=("A5", "A7"),
    innocent=("T03",),
    roles=(Role.FOLLOWS_IN_REPLICA,),
)
INTERRUPTED_SWAP: Final = rule("KL-405", "interrupted-swap", severity="M", actions=("A4",))
EPOCH_ENTRY_MISSING: Final = rule(
    "KL-406",
    "epoch-entry-missing",
    severity="H",
    actions=("A8",),
    innocent=("T15", "T32"),
    roles=(Role.FOLLOWS_IN_REPLICA,),
)
EPOCH_ENTRY_CONTRADICTED: Final = rule(
    "KL-407",
    "epoch-entry-contradicted",
    severity="H",
    actions=("A8",),
    innocent=("T04", "T15"),
    roles=(Role.FOLLOWS_IN_REPLICA,),
)
EPOCH_ENTRY_WITHOUT_RECORDS: Final = rule(
    "KL-408", "epoch-entry-without-records", severity="I", actions=("A1",), innocent=("T13",)
)
EPOCH_ENTRIES_BEYOND_END: Final = rule(
    "KL-409",
    "epoch-entries-beyond-end",
    severity="I",
    actions=("A1", "A8"),
    innocent=("T14",),
    roles=(Role.FOLLOWS_IN_REPLICA,),
)
SNAPSHOT_DISAGREES_WITH_LOG: Final = rule(
    "KL-410",
    "snapshot-disagrees-with-log",
    severity="M",
    actions=("A3",),
    innocent=("T21", "T22"),
    roles=(Role.FOLLOWS_IN_REPLICA,),
)
START_WILL_CUT: Final = rule(
    "KL-412",
    "start-will-cut",
    severity="C",
    actions=("A4", "A5", "A7"),
    innocent=("T01",),
    roles=(Role.HIGH_WITH_PEER,),
)
START_WILL_SERVE_DAMAGE: Final = rule(
    "KL-413", "start-will-serve-damage", severity="H", actions=("A5", "A6")
)
DAMAGE_BELOW_RECOVERY_POINT: Final = rule(
    "KL-414", "damage-below-recovery-point", severity="H", actions=("A5", "A6")
)
END_WILL_BE_MISREAD: Final = rule(
    "KL-415",
    "end-will-be-misread",
    severity="C",
    actions=("A3", "A4"),
    innocent=("T01",),
    roles=(Role.FOLLOWS_IN_REPLICA,),
)
COMPACTION_LEFT_TWO_VALUES: Final = rule(
    "KL-416", "compaction-left-two-values", severity="L", actions=("A1",), innocent=("T05", "T08")
)
START_WILL_SET_ASIDE: Final = rule(
    "KL-417",
    "start-will-set-aside",
    severity="C",
    actions=("A4", "A7"),
    roles=(Role.HIGH_WITH_PEER,),
)
START_WILL_EXPIRE: Final = rule(
    "KL-418",
    "start-will-expire",
    severity="C",
    actions=("A3", "A4"),
    innocent=("T10",),
    roles=(Role.HIGH_WITH_PEER,),
)
