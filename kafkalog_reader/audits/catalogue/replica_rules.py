"""Rules that compare replicas (KL-5xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.actions import (
    CHECK_HARDWARE,
    CHOOSE_A_BRANCH,
    COMPARE_METADATA_LOGS,
    COMPARE_REPLICAS,
    DO_NOT_START,
    FIND_METADATA_LOG,
    FORBID_UNCLEAN_ELECTION,
    LET_BEST_LEAD,
    LOOK_FOR_A_COPY,
    MOVE_COPY_ASIDE,
    NOTHING_TO_DO,
    REPLACE_METADATA_LOG,
    REPORT_DEFECT,
    SAVE_RECORDS,
    SUPPLY_WHAT_IS_MISSING,
    WRITE_EPOCHS,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import NO_EFFECT, rule
from kafkalog_reader.audits.catalogue.traps import (
    BEGINS_AT_TIERED_OFFSET,
    CLEANED_BEFORE_COPIED,
    COMPACTED_FURTHER,
    COPIED_AGAIN,
    COPIED_WHILE_RUNNING,
    DELETE_HORIZON,
    ELECTED_AND_WROTE_NOTHING,
    EPOCHS_REMOVED_LATER,
    FIRST_EPOCH_CLIPPED,
    LAGGING_FOLLOWER,
    LOG_APPEND_TIME,
    LOG_START_IN_A_BATCH,
    MOVED_BETWEEN_DISKS,
    OLD_MESSAGE_FORMAT,
    PRODUCER_STATE_EXPIRED,
    RETENTION_AT_OTHER_TIMES,
    TIERED_STORAGE,
    TOMBSTONE_EXPIRED,
    TOPIC_CREATED_AGAIN,
)

REPLICAS_AGREE: Final = rule(
    "KL-501",
    "replicas-agree",
    severity="I",
    title="the replicas agree",
    explanation="In the range that all replicas cover, they hold the same records under the same "
    "leader epochs.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader=NO_EFFECT,
    actions=(NOTHING_TO_DO,),
    roles=(Role.SEVERAL_REPLICAS,),
)
LAGGING_REPLICA: Final = rule(
    "KL-502",
    "lagging-replica",
    severity="I",
    title="a replica lags",
    explanation="The log of this replica is a proper prefix of another's, with the same leader "
    "epochs. Information if its election loses no record that is known to be committed. Medium if "
    "it does, but Kafka does not elect it by itself, because it is outside the in-sync replicas, "
    "or if it only looks short, because it was copied from a running broker: another replica "
    "should lead. High otherwise: it leads if its broker starts first.",
    start=NO_EFFECT,
    election="If it is elected, the records that it lacks are lost; some may be committed.",
    reader=NO_EFFECT,
    actions=(NOTHING_TO_DO,),
    lookalikes=(LAGGING_FOLLOWER, COPIED_WHILE_RUNNING),
    roles=(Role.SEVERAL_REPLICAS, Role.PICTURED, Role.OF_NEXT_START),
)
FORKED: Final = rule(
    "KL-503",
    "forked",
    severity="H",
    title="the replicas have forked",
    explanation="From one offset on replicas hold different records, under different leader "
    "epochs, and both sides have records there. Two leaders wrote at the same offsets.",
    start=NO_EFFECT,
    election="Whoever leads, the other side is truncated to the fork, and its records are lost.",
    reader="Consumers may have read either side. After the election they see one.",
    actions=(FORBID_UNCLEAN_ELECTION,),
    roles=(Role.SEVERAL_REPLICAS, Role.PICTURED),
)
SUPERSEDED_TAIL: Final = rule(
    "KL-504",
    "superseded-tail",
    severity="M",
    title="a tail that the newer leader does not have",
    explanation="The history with the greatest leader epoch diverges from this replica's log at "
    "an offset, so the records after it are cut when the replica follows. After clean "
    "elections none of them was committed.",
    start=NO_EFFECT,
    election="They are cut as soon as this replica follows the newer leader. If this replica is "
    "elected instead, the newer leader's records are lost.",
    reader=NO_EFFECT,
    actions=(FORBID_UNCLEAN_ELECTION,),
    lookalikes=(ELECTED_AND_WROTE_NOTHING,),
    roles=(Role.SEVERAL_REPLICAS, Role.PICTURED),
)
SAME_EPOCH_CONFLICT: Final = rule(
    "KL-505",
    "same-epoch-conflict",
    severity="C",
    title="different records under one offset and leader epoch",
    explanation="Two replicas hold different content at the same offset under the same leader "
    "epoch, and every checksum is valid. Kafka compares only epochs and offsets, so no broker "
    "ever notices.",
    start=NO_EFFECT,
    election="Truncation does not repair it: the replicas stay different whoever leads.",
    reader="What consumers read depends on which replica leads, or on which they fetch from.",
    actions=(SAVE_RECORDS, REPORT_DEFECT, CHOOSE_A_BRANCH),
    lookalikes=(COMPACTED_FURTHER, DELETE_HORIZON, LOG_APPEND_TIME, TOPIC_CREATED_AGAIN),
    roles=(Role.SEVERAL_REPLICAS,),
)
DAMAGED_COPY: Final = rule(
    "KL-506",
    "damaged-copy",
    severity="H",
    title="some copies of a batch are damaged",
    explanation="Replicas differ in a batch, and only some of the copies have a valid checksum. "
    "The finding lists the intact copies.",
    start="See the findings about each damaged copy.",
    election="A leader with an intact copy serves it. A follower with a damaged one does not fetch "
    "it again.",
    reader="Consumers of a damaged copy fail at this offset.",
    actions=(LET_BEST_LEAD, MOVE_COPY_ASIDE),
    roles=(Role.SEVERAL_REPLICAS, Role.SUMS_UP_DAMAGE),
)
UNCOVERED_FIELD_MISMATCH: Final = rule(
    "KL-507",
    "uncovered-field-mismatch",
    severity="H",
    title="replicas differ in what the checksum does not cover",
    explanation="The covered bytes of a batch are equal, but base offset, length or leader epoch "
    "differ. One of them is a flipped bit, or was rewritten.",
    start="A recovery does not notice, unless offsets fall.",
    election="A wrong leader epoch can make followers truncate and fetch the same records for "
    "ever, and a copy with an epoch above the leader's never gets in sync. A wrong base offset "
    "stays: a follower fetches from its log end on.",
    reader="Consumers of a copy with a wrong base offset see other offsets.",
    actions=(LET_BEST_LEAD, MOVE_COPY_ASIDE, CHECK_HARDWARE),
    roles=(Role.SEVERAL_REPLICAS, Role.NAMES_DAMAGE),
)
RECORDS_MISSING_ON_REPLICA: Final = rule(
    "KL-508",
    "records-missing-on-replica",
    severity="H",
    title="records are missing inside a replica's log",
    explanation="Other replicas hold an intact offset range that is absent inside this replica's "
    "log, and neither compaction nor retention explains it.",
    start=NO_EFFECT,
    election="If this replica leads, the records are lost to consumers, but followers keep theirs. "
    "As follower it never fetches them.",
    reader="Consumers of this replica skip the range without an error.",
    actions=(LET_BEST_LEAD, MOVE_COPY_ASIDE),
    lookalikes=(RETENTION_AT_OTHER_TIMES, COMPACTED_FURTHER, TOMBSTONE_EXPIRED),
    roles=(Role.SEVERAL_REPLICAS, Role.NAMES_DAMAGE),
)
COMPACTION_SKEW: Final = rule(
    "KL-509",
    "compaction-skew",
    severity="I",
    title="the replicas were compacted to different points",
    explanation="All differences are what the log cleaner leaves when it has gone further on one "
    "replica.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="Consumers may see older values of a key on one replica. The latest value is the same.",
    actions=(NOTHING_TO_DO,),
    lookalikes=(COMPACTED_FURTHER, DELETE_HORIZON, TOMBSTONE_EXPIRED),
    roles=(Role.SEVERAL_REPLICAS,),
)
RETENTION_SKEW: Final = rule(
    "KL-510",
    "retention-skew",
    severity="I",
    title="the replicas begin at different offsets",
    explanation="Retention, kafka-delete-records or tiered storage has moved the log start further "
    "on one replica.",
    start=NO_EFFECT,
    election="A leader that begins later raises the log start of its followers.",
    reader="Records below the leader's log start can no longer be read.",
    actions=(NOTHING_TO_DO,),
    lookalikes=(
        RETENTION_AT_OTHER_TIMES,
        LOG_START_IN_A_BATCH,
        TIERED_STORAGE,
        BEGINS_AT_TIERED_OFFSET,
    ),
    roles=(Role.SEVERAL_REPLICAS,),
)
LATEST_VALUE_MISMATCH: Final = rule(
    "KL-511",
    "latest-value-mismatch",
    severity="C",
    title="the latest value of a key differs",
    explanation="In a compacted topic, the last record of a key is not the same on all replicas, "
    "at an offset that all of them have.",
    start=NO_EFFECT,
    election="Whoever leads, the difference stays.",
    reader="A consumer that builds a table gets another value for the key, depending on the "
    "leader.",
    actions=(LET_BEST_LEAD, REPORT_DEFECT),
    lookalikes=(TOMBSTONE_EXPIRED,),
    roles=(Role.SEVERAL_REPLICAS,),
)
NO_COMMON_RANGE: Final = rule(
    "KL-512",
    "no-common-range",
    severity="M",
    title="the logs have no range in common",
    explanation="One log ends at or before the offset at which another begins, so nothing can be "
    "compared.",
    start=NO_EFFECT,
    election="A follower that ends before its leader begins deletes its whole log and starts at "
    "the leader's log start. If it leads instead, the others delete theirs.",
    reader=NO_EFFECT,
    actions=(LET_BEST_LEAD,),
    lookalikes=(RETENTION_AT_OTHER_TIMES, COPIED_AGAIN, BEGINS_AT_TIERED_OFFSET),
    roles=(Role.SEVERAL_REPLICAS,),
)
COMMITTED_CONFLICT: Final = rule(
    "KL-513",
    "committed-conflict",
    severity="C",
    title="two branches both hold committed records",
    explanation="The replicas have forked, and on both sides records above the fork were "
    "committed.",
    start=NO_EFFECT,
    election="Every choice loses committed records. A person must decide which ones.",
    reader="Consumers may have read both branches.",
    actions=(FORBID_UNCLEAN_ELECTION, CHOOSE_A_BRANCH),
    roles=(Role.SEVERAL_REPLICAS,),
)
UNCLEAN_ELECTION_EVIDENCE: Final = rule(
    "KL-514",
    "unclean-election-evidence",
    severity="C",
    title="signs of an unclean election",
    explanation="According to its high watermark, this replica holds committed records that the "
    "history with the greatest leader epoch does not have. A replica without them was elected: out "
    "of the in-sync set, or in it after it had lost data. The metadata log may also show such an "
    "election; then records of the replicas that were in sync before it may be committed. High, "
    "not critical, if the files of that "
    "leader do not have its leader epoch: then they are probably older than the election, such as "
    "a disk or a backup that was put back.",
    start=NO_EFFECT,
    election="When this replica follows the newer leader, the committed records are cut from it, "
    "too.",
    reader="Consumers may have read records that are about to be lost.",
    actions=(SAVE_RECORDS, FORBID_UNCLEAN_ELECTION),
    lookalikes=(ELECTED_AND_WROTE_NOTHING, EPOCHS_REMOVED_LATER),
    roles=(Role.SEVERAL_REPLICAS,),
)
EPOCH_NUMBER_COLLISION: Final = rule(
    "KL-515",
    "epoch-number-collision",
    severity="C",
    title="one leader epoch at two places",
    explanation="The same leader epoch begins at different offsets on two replicas, or two "
    "histories diverge and agree again. Every epoch has one leader and one start, so an epoch is "
    "wrong, or the cluster's metadata was restored from an older state.",
    start=NO_EFFECT,
    election="Followers compare epochs and offsets: they may truncate at the wrong offset or not "
    "at all.",
    reader=NO_EFFECT,
    actions=(WRITE_EPOCHS, REPORT_DEFECT),
    lookalikes=(FIRST_EPOCH_CLIPPED, OLD_MESSAGE_FORMAT, CLEANED_BEFORE_COPIED),
    roles=(Role.SEVERAL_REPLICAS,),
)
LEGACY_DIVERGENCE: Final = rule(
    "KL-516",
    "legacy-divergence",
    severity="C",
    title="replicas of the old format differ below the high watermark",
    explanation="Messages of format 0 or 1 carry no leader epoch, and the replicas differ where "
    "both considered the records committed.",
    start=NO_EFFECT,
    election="Followers truncate to their high watermark, and stay different below it.",
    reader="What consumers read depends on the leader.",
    actions=(CHOOSE_A_BRANCH,),
    lookalikes=(OLD_MESSAGE_FORMAT,),
    roles=(Role.SEVERAL_REPLICAS,),
)
TRUNCATION_LEAVES_DIVERGENCE: Final = rule(
    "KL-517",
    "truncation-leaves-divergence",
    severity="C",
    title="a follower would stay different from this leader",
    explanation="By Kafka's own rules, the follower stops truncating before it reaches the place "
    "where its log differs from the leader's.",
    start=NO_EFFECT,
    election="With this replica leading, the follower keeps other records, and no broker notices.",
    reader="What consumers read depends on the leader, or on the replica that they fetch from.",
    actions=(WRITE_EPOCHS, MOVE_COPY_ASIDE),
    roles=(Role.SEVERAL_REPLICAS, Role.ONE_LEADER),
)
NEEDLESS_TRUNCATION: Final = rule(
    "KL-518",
    "needless-truncation",
    severity="I",
    title="a follower cuts more than necessary",
    explanation="By Kafka's own rules the follower truncates records that the leader has, too, "
    "and fetches them again.",
    start=NO_EFFECT,
    election="Until it has fetched them again, these records have one copy fewer.",
    reader=NO_EFFECT,
    actions=(NOTHING_TO_DO,),
    roles=(Role.SEVERAL_REPLICAS, Role.ONE_LEADER),
)
EMPTY_REPLICA: Final = rule(
    "KL-519",
    "empty-replica",
    severity="H",
    title="a replica without records",
    explanation="The replica is empty while others have records.",
    start="See the start of this broker: it may have been set aside or emptied.",
    election="If it is elected, the other replicas truncate to nothing.",
    reader="If that happens, all records of the partition are gone.",
    actions=(LET_BEST_LEAD, FORBID_UNCLEAN_ELECTION),
    lookalikes=(COPIED_AGAIN,),
    roles=(Role.SEVERAL_REPLICAS,),
)
SINGLE_COPY_RANGE: Final = rule(
    "KL-520",
    "single-copy-range",
    severity="H",
    title="records that only one copy has",
    explanation="An offset range is intact on exactly one of the supplied replicas. On the "
    "leader of a healthy partition these are the latest records, which followers have not "
    "fetched yet. High if the copies differ or are damaged, or if one that lags may be elected and "
    "lose committed records (KL-502 high); medium if the others merely lag, and will fetch them.",
    start="If the start of that broker removes them, they are lost.",
    election="Every election of another replica loses them.",
    reader=NO_EFFECT,
    actions=(LET_BEST_LEAD, SAVE_RECORDS),
    lookalikes=(LAGGING_FOLLOWER, COPIED_WHILE_RUNNING),
    roles=(Role.SEVERAL_REPLICAS, Role.PICTURED, Role.OF_NEXT_START),
)
FOLLOWER_MAY_LOOP: Final = rule(
    "KL-521",
    "follower-may-loop",
    severity="M",
    title="a follower may ask for ever",
    explanation="The follower has a leader epoch newer than any that the leader has. The leader "
    "cannot answer where it ends, so the follower keeps its log and asks again.",
    start=NO_EFFECT,
    election="With this leader the follower does not return to the in-sync set.",
    reader=NO_EFFECT,
    actions=(WRITE_EPOCHS, COMPARE_REPLICAS),
    lookalikes=(MOVED_BETWEEN_DISKS,),
    roles=(Role.SEVERAL_REPLICAS,),
)
METADATA_EPOCH_AHEAD: Final = rule(
    "KL-522",
    "metadata-epoch-ahead",
    severity="I",
    title="the metadata names a newer leader epoch",
    explanation="The cluster metadata has a leader epoch that no log has: a leader was elected "
    "and wrote nothing, or its replica was not supplied.",
    start=NO_EFFECT,
    election="The leader of that epoch decides what the others truncate.",
    reader=NO_EFFECT,
    actions=(NOTHING_TO_DO,),
    lookalikes=(ELECTED_AND_WROTE_NOTHING,),
    roles=(Role.SEVERAL_REPLICAS,),
)
TRUNCATION_TRACE: Final = rule(
    "KL-523",
    "truncation-trace",
    severity="I",
    title="the trace of an earlier log end, perhaps of a truncation",
    explanation="A producer snapshot lies at an offset where another leader epoch begins but no "
    "segment does, and no other replica has one there. A broker writes one when it truncates the "
    "log, and at the log end when it starts.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader=NO_EFFECT,
    actions=(NOTHING_TO_DO,),
    lookalikes=(PRODUCER_STATE_EXPIRED,),
    roles=(Role.SEVERAL_REPLICAS,),
)
COMMITTED_RECORDS_MISSING: Final = rule(
    "KL-524",
    "committed-records-missing",
    severity="C",
    title="committed records are on no supplied copy",
    explanation="The high-watermark checkpoint of a replica is above the log end of every "
    "supplied copy. Records below a high watermark were committed, and none of these copies "
    "holds them.",
    start="A start lowers the checkpoint to the log end, and this trace of the loss is gone.",
    election="Whoever leads, new records take the offsets of the missing ones.",
    reader="Consumers may have read the missing records. They see other ones at those offsets.",
    actions=(
        DO_NOT_START,
        FORBID_UNCLEAN_ELECTION,
        SUPPLY_WHAT_IS_MISSING,
        LOOK_FOR_A_COPY,
    ),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(Role.SEVERAL_REPLICAS, Role.PICTURED, Role.NEVER_SETTLED),
)
CONTROLLERS_BEHIND: Final = rule(
    "KL-525",
    "controllers-behind",
    severity="C",
    title="no controller has the whole metadata log",
    explanation="A broker's copy of the metadata log ends above every controller's copy, or above "
    "what a start leaves of it, and not with NoOpRecords alone, which say nothing. Brokers copy "
    "the log from the leader of the quorum, so the controllers had these records and lost them. If "
    "there is one controller, they were committed. Or a controller's log never named topics of "
    "which brokers have records, and a broker's copy did: the controller was formatted anew, or "
    "restored from a backup older than the topic; epochs do not show which log is newer. Where "
    "whole log directories of a KRaft cluster "
    "were supplied and none has the log, it may be lost, or in a directory that was not copied.",
    start="Brokers cut their copies to what the controller has. They rename replicas of topics "
    "that the controller no longer knows to -stray, or delete them before release 3.7; leaders, "
    "in-sync sets and settings are those of an earlier time.",
    election="The controller decides elections from an old state.",
    reader="Consumers miss topics that were created since.",
    actions=(REPLACE_METADATA_LOG, FIND_METADATA_LOG),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(Role.SEVERAL_REPLICAS, Role.BESIDE_THE_LOGS),
)
METADATA_BEHIND: Final = rule(
    "KL-526",
    "metadata-behind",
    severity="H",
    title="the metadata log ends before a leader epoch of a copy",
    explanation="A copy of the partition has a leader epoch that the metadata log does not have "
    "yet. Only a controller creates leader epochs, and brokers replay only committed metadata, so "
    "it is the metadata log that is behind: it was copied before the election, or it lost its end. "
    "The epoch files are right.",
    start="If the controllers have no later metadata, leaders, in-sync sets and settings are those "
    "of an earlier time.",
    election="Controllers without that epoch give it to another leader. Followers cannot tell "
    "records of the two leaders apart.",
    reader=NO_EFFECT,
    actions=(COMPARE_METADATA_LOGS,),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(Role.SEVERAL_REPLICAS, Role.BESIDE_THE_LOGS),
)
