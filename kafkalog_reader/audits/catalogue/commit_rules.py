"""Rules about consumer groups and what they committed (KL-8xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.actions import (
    MOVE_GROUPS,
    NOTHING_TO_DO,
    REPORT_DEFECT,
    SET_GROUP_OFFSET,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import NO_EFFECT, rule
from kafkalog_reader.audits.catalogue.traps import (
    COPIED_WHILE_RUNNING,
    RETENTION_AT_OTHER_TIMES,
    TOPIC_CREATED_AGAIN,
)

COMMIT_BEYOND_END: Final = rule(
    "KL-801",
    "commit-beyond-end",
    severity="H",
    title="a group committed an offset above the log end",
    explanation="A group has read further than the best copy reaches. Records that it read are "
    "gone, or the topic was created again.",
    start=NO_EFFECT,
    election="Another copy may reach further: see the findings about the replicas.",
    reader="With a leader epoch in the commit, consumers (2.1 and later) go on at the log end. "
    "Without one, the group continues as auto.offset.reset says, or, once the log has grown past "
    "its offset, silently skips the records below it.",
    actions=(SET_GROUP_OFFSET,),
    lookalikes=(COPIED_WHILE_RUNNING, TOPIC_CREATED_AGAIN),
    roles=(Role.OF_CONSUMERS,),
)
COMMIT_BEFORE_START: Final = rule(
    "KL-802",
    "commit-before-start",
    severity="M",
    title="a group committed an offset below the log start",
    explanation="Records that the group has not read were removed by retention, or with "
    "kafka-delete-records. A group that is no longer used shows the same.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="The group continues as auto.offset.reset says.",
    actions=(SET_GROUP_OFFSET, NOTHING_TO_DO),
    lookalikes=(RETENTION_AT_OTHER_TIMES,),
    roles=(Role.OF_CONSUMERS,),
)
COMMIT_ON_LOST_BRANCH: Final = rule(
    "KL-803",
    "commit-on-lost-branch",
    severity="H",
    title="a group read records that an election cut off",
    explanation="A commit names the leader epoch of the last record that was read. In the best "
    "copy that epoch ends before the committed offset: what the group read there under that epoch "
    "was truncated, and other records took its place.",
    start=NO_EFFECT,
    election="Under another leader the records may be there: see the findings about the replicas.",
    reader="The group has read records that no longer exist. A consumer that checks leader epochs "
    "(2.1 and later) goes on where the epoch ended, or fails with auto.offset.reset=none; others "
    "skip the records that took their place.",
    actions=(SET_GROUP_OFFSET,),
    roles=(Role.OF_CONSUMERS,),
)
GROUP_IN_WRONG_PARTITION: Final = rule(
    "KL-804",
    "group-in-wrong-partition",
    severity="H",
    title="a group is in the wrong partition of __consumer_offsets",
    explanation="The coordinator of a group is the leader of partition abs(hash(group)) modulo the "
    "number of partitions. Commits of the group are in another one: the number of partitions was "
    "changed, or a tool copied them.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="The group's coordinator does not find these offsets; the group continues as "
    "auto.offset.reset says.",
    actions=(MOVE_GROUPS,),
    roles=(Role.OF_CONSUMERS,),
)
GROUP_SPLIT: Final = rule(
    "KL-805",
    "group-split",
    severity="H",
    title="a group is in two partitions of __consumer_offsets",
    explanation="Commits of one group are in several partitions, and only those in the one that "
    "the hash of its name gives are in use: the number of partitions was changed.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="Which offsets the group has depends on the number of partitions.",
    actions=(MOVE_GROUPS,),
    roles=(Role.OF_CONSUMERS,),
)
COMMIT_FOR_UNKNOWN_PARTITION: Final = rule(
    "KL-806",
    "commit-for-unknown-partition",
    severity="L",
    title="a group has an offset of a partition that does not exist",
    explanation="The cluster's metadata log has no such partition, or the topic was deleted and "
    "created again since the commit. Coordinators remove the offsets of deleted topics; these "
    "remained.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="If a topic of that name is created, a group without topic ids in its commits begins at "
    "this offset, or above the log end.",
    actions=(NOTHING_TO_DO,),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(Role.OF_CONSUMERS,),
)
INTERNAL_RECORD_UNDECODABLE: Final = rule(
    "KL-808",
    "internal-record-undecodable",
    severity="H",
    title="a record of an internal topic cannot be loaded",
    explanation="A record that a coordinator or controller has to load has a version that no known "
    "release has, or its bytes do not fit its version. It may be of a release that this program "
    "does not know. Only --deep reads these records.",
    start="No effect, unless it is in __cluster_metadata: a node may stop when it loads it.",
    election="The next leader of the partition has to load the same record.",
    reader="The coordinator of this partition does not load: its groups or transactions stop. "
    "The tables show the record as it is stored.",
    actions=(REPORT_DEFECT,),
)
GROUPS_HIT_BY_ELECTION: Final = rule(
    "KL-810",
    "groups-hit-by-truncation",
    severity="H",
    title="an election would cut off what groups have read",
    explanation="The committed offset is in the best copy, but not in the log of the replica that "
    "loses least as leader.",
    start=NO_EFFECT,
    election="With this leader the groups' offsets are above the log end, or after records that "
    "are cut off.",
    reader="With a leader epoch in the commit, consumers (2.1 and later) go on where that epoch "
    "ended. Without one, a group above the log end continues as auto.offset.reset says. Otherwise "
    "no consumer notices, and the group skips records. That can happen even with a leader epoch, "
    "if the leader does not know that epoch. The table group_elections has each group under each "
    "leader.",
    actions=(SET_GROUP_OFFSET,),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(Role.OF_CONSUMERS, Role.ONE_LEADER),
)
