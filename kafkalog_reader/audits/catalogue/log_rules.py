"""Rules about one replica's log as a whole, and what its next start does (KL-4xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.actions import (
    CHECK_HARDWARE,
    COMPARE_REPLICAS,
    DELETE_RECORDS_AGAIN,
    DO_NOT_START,
    FORCE_RECOVERY,
    KEEP_OLD_SEGMENTS,
    LEAVE_ASIDE,
    MOVE_COPY_ASIDE,
    MOVE_OUT,
    NOTHING_TO_DO,
    REBUILD_INDEX,
    REBUILD_SNAPSHOT,
    RENAME_LOGS,
    RESTORE_OLD_SEGMENTS,
    RESTORE_TOPIC_ID,
    SAVE_RECORDS,
    WRITE_EPOCHS,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import NO_EFFECT, rule
from kafkalog_reader.audits.catalogue.traps import (
    COMPACTED_FURTHER,
    COPIED_AGAIN,
    COPIED_WHILE_RUNNING,
    ELECTED_AND_WROTE_NOTHING,
    EMPTY_BATCH_KEPT,
    EPOCHS_REMOVED_LATER,
    FIRST_EPOCH_CLIPPED,
    LOG_START_IN_A_BATCH,
    MIXED_FORMATS,
    NO_SEQUENCE_NUMBERS,
    OFFSETS_FAR_APART,
    PREALLOCATED,
    PRODUCER_STATE_EXPIRED,
    RETENTION_AT_OTHER_TIMES,
)

SEGMENT_NAME_ABOVE_CONTENT: Final = rule(
    "KL-401",
    "segment-name-above-content",
    severity="H",
    title="a segment begins below its name",
    explanation="The first batch of a segment has an offset below the number in the file's name. "
    "Only the first segment of a log may begin like that.",
    start="A recovery that reads the segment cannot place the offset in its index, and the broker "
    "does not start.",
    election=NO_EFFECT,
    reader="A fetch chooses the segment by its name and may miss the records below it.",
    actions=(COMPARE_REPLICAS,),
    lookalikes=(LOG_START_IN_A_BATCH,),
    roles=(Role.DAMAGE, Role.FOLLOWS_IN_REPLICA),
)
SEGMENT_OVERLAP: Final = rule(
    "KL-402",
    "segment-overlap",
    severity="C",
    title="two segments overlap",
    explanation="The last offset of a segment is not below the base of the next one.",
    start="After a damaged place a start may delete one of them; otherwise it keeps both.",
    election="The end of this log may be misjudged.",
    reader="Consumers may get records twice, or not those that other replicas have.",
    actions=(DO_NOT_START, SAVE_RECORDS),
    roles=(Role.DAMAGE, Role.FOLLOWS_IN_REPLICA),
)
SEGMENT_GAP: Final = rule(
    "KL-403",
    "segment-gap",
    severity="M",
    title="offsets are missing between two segments",
    explanation="A segment begins above the last offset plus one of the segment before it. The "
    "batches around it do not show compaction. The finding is high if another copy has the range, "
    "or if no copy has it and compaction cannot explain it: those records are lost.",
    start="A start does not check for gaps.",
    election="A replica that has the range keeps it if it leads. Followers do not fetch below "
    "their log end.",
    reader="Consumers skip the gap without an error.",
    actions=(COMPARE_REPLICAS,),
    lookalikes=(COMPACTED_FURTHER, COPIED_AGAIN, OFFSETS_FAR_APART),
    roles=(Role.GAP, Role.FOLLOWS_IN_REPLICA),
)
SEGMENT_MISSING: Final = rule(
    "KL-404",
    "segment-missing",
    severity="H",
    title="a segment is missing",
    explanation="Offsets are missing between two segments, and other files show that a segment "
    "was there: a producer snapshot, an index, or a file marked .deleted. Or a log begins later "
    "than another copy, and its topic is only compacted or has retention.ms=-1. Or a log of "
    "__consumer_offsets or __transaction_state does not begin at 0, although it is only compacted, "
    "and no row of log-start-offset-checkpoint explains that. Or its topic had "
    "cleanup.policy=compact ever since it was created, and its log start is not 0: Kafka refuses "
    "DeleteRecords for such a topic, and its first segment keeps its name when it is compacted. "
    "That is known if the metadata log is whole: a snapshot in place of its beginning does not say "
    "which policies a topic had.",
    start="A start does not notice. It deletes indexes and snapshots without a segment, and files "
    "marked .deleted, which may hold the missing records (KL-405).",
    election="A replica that has the range keeps it if it leads. Followers do not fetch below "
    "their log end. If a replica that lost its beginning leads, the others delete what they hold "
    "before its first segment: followers adopt the leader's log start.",
    reader="Consumers skip the missing records without an error.",
    actions=(COMPARE_REPLICAS, SAVE_RECORDS),
    lookalikes=(RETENTION_AT_OTHER_TIMES,),
    roles=(Role.GAP, Role.FOLLOWS_IN_REPLICA),
)
INTERRUPTED_SWAP: Final = rule(
    "KL-405",
    "interrupted-swap",
    severity="M",
    title="replacing a segment was interrupted",
    explanation="Files end in .swap, .cleaned or .deleted: the broker stopped while the log "
    "cleaner or a split replaced segments, or before deleted files were removed.",
    start="The start deletes .cleaned and .deleted, and replaces the segments that a .swap "
    "covers by it. A damaged .swap also replaces sound segments.",
    election=NO_EFFECT,
    reader="Records that a damaged .swap replaced are lost, and those of a gap in the log that "
    "only a file marked .deleted holds.",
    actions=(RESTORE_OLD_SEGMENTS, DO_NOT_START, COMPARE_REPLICAS, CHECK_HARDWARE, NOTHING_TO_DO),
    roles=(Role.REPAIRED_BEFORE_START,),
)
EPOCH_ENTRY_MISSING: Final = rule(
    "KL-406",
    "epoch-entry-missing",
    severity="H",
    title="a leader epoch is missing from the checkpoint",
    explanation="Batches carry a leader epoch that leader-epoch-checkpoint lacks between its "
    "first and last entry. Kafka writes the entry before the batch.",
    start="A start after a clean shutdown does not change the file; a recovery adds the epochs "
    "of the batches that it reads. It is low where the file is empty and the start reads the whole "
    "log.",
    election="Followers may truncate too much, or too little and stay different.",
    reader=NO_EFFECT,
    actions=(WRITE_EPOCHS,),
    lookalikes=(FIRST_EPOCH_CLIPPED, MIXED_FORMATS),
    roles=(Role.FOLLOWS_IN_REPLICA, Role.REPAIRED_BY_RECOVERY),
)
EPOCH_ENTRY_CONTRADICTED: Final = rule(
    "KL-407",
    "epoch-entry-contradicted",
    severity="H",
    title="a leader epoch contradicts the batches",
    explanation="A batch inside the range of an entry carries another leader epoch, or the first "
    "batch of an epoch is below its entry. It is low after an unclean stop where the first entry "
    "may be a log start that log-start-offset-checkpoint does not have yet.",
    start="A start removes entries at or above the log end; after a clean shutdown it does not "
    "change the others.",
    election="Followers may truncate too much, or too little and stay different.",
    reader=NO_EFFECT,
    actions=(WRITE_EPOCHS, DELETE_RECORDS_AGAIN),
    lookalikes=(LOG_START_IN_A_BATCH, FIRST_EPOCH_CLIPPED),
    roles=(Role.FOLLOWS_IN_REPLICA,),
)
EPOCH_ENTRY_WITHOUT_RECORDS: Final = rule(
    "KL-408",
    "epoch-entry-without-records",
    severity="I",
    title="a leader epoch without records",
    explanation="The last entry of leader-epoch-checkpoint begins at the log end: a leader was "
    "elected and wrote nothing.",
    start="The start removes the entry, and the next election writes a new one.",
    election=NO_EFFECT,
    reader=NO_EFFECT,
    actions=(NOTHING_TO_DO,),
    lookalikes=(ELECTED_AND_WROTE_NOTHING,),
)
EPOCH_ENTRIES_BEYOND_END: Final = rule(
    "KL-409",
    "epoch-entries-beyond-end",
    severity="I",
    title="leader epochs beyond the log end",
    explanation="Entries of leader-epoch-checkpoint begin beyond the log end. After an unclean "
    "stop that is normal: removals are written later than additions.",
    start="The start removes them.",
    election="If it did not, followers would get a wrong answer when they ask where an epoch ends.",
    reader=NO_EFFECT,
    actions=(NOTHING_TO_DO, WRITE_EPOCHS),
    lookalikes=(EPOCHS_REMOVED_LATER,),
    roles=(Role.FOLLOWS_IN_REPLICA,),
)
SNAPSHOT_DISAGREES_WITH_LOG: Final = rule(
    "KL-410",
    "snapshot-disagrees-with-log",
    severity="M",
    title="a producer snapshot disagrees with the log",
    explanation="Replaying the batches from the snapshot before it gives another state than the "
    "snapshot holds.",
    start="The broker trusts the newest snapshot and does not replay batches below it.",
    election=NO_EFFECT,
    reader="Wrong sequence numbers make the broker refuse or duplicate batches of idempotent "
    "producers; a wrong open transaction holds the last stable offset.",
    actions=(REBUILD_SNAPSHOT,),
    lookalikes=(NO_SEQUENCE_NUMBERS, PRODUCER_STATE_EXPIRED),
    roles=(Role.FOLLOWS_IN_REPLICA,),
)
START_WILL_CUT: Final = rule(
    "KL-412",
    "start-will-cut",
    severity="C",
    title="the next start cuts the log",
    explanation="The start recovers segments, after an unclean stop or because an index is "
    "missing, and it stops at a damaged or torn place. The finding counts the sound records "
    "after it that are lost, too.",
    start="The segment is truncated at the place, and after an unclean stop all later segments are "
    "deleted. This can still be prevented before the first start.",
    election="After the start this replica ends at the cut. If it leads, the others truncate to "
    "it.",
    reader="Records that were cut can be read only while another replica has them and leads.",
    actions=(DO_NOT_START, COMPARE_REPLICAS, SAVE_RECORDS),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(Role.HIGH_WITH_PEER, Role.BY_FOLDER_NAME, Role.OF_NEXT_START),
)
START_WILL_SERVE_DAMAGE: Final = rule(
    "KL-413",
    "start-will-serve-damage",
    severity="H",
    title="the next start keeps a damaged batch",
    explanation="A prediction for one damaged place. A recovery would stop there and cut the "
    "log, but with the clean-shutdown marker there is no recovery: the broker keeps the damaged "
    "batch and serves it. KL-316 reports a marker that cannot be right.",
    start="The log loads unchanged, or fails to load; the finding says which.",
    election="As leader this replica cannot serve the damaged offsets to followers.",
    reader="Consumers fail at the damage.",
    actions=(COMPARE_REPLICAS, MOVE_COPY_ASIDE),
    roles=(Role.REPAIRED_BEFORE_START, Role.BY_FOLDER_NAME, Role.NAMES_DAMAGE),
)
DAMAGE_BELOW_RECOVERY_POINT: Final = rule(
    "KL-414",
    "damage-below-recovery-point",
    severity="H",
    title="damage that no start will check",
    explanation="A damaged batch is in a segment below the recovery point. Even after an unclean "
    "stop, recovery begins after it.",
    start="The start does not read the segment.",
    election="As leader this replica cannot serve the damaged offsets. As follower it never "
    "fetches them again.",
    reader="Consumers fail at the damage; so does the log cleaner.",
    actions=(COMPARE_REPLICAS, MOVE_COPY_ASIDE),
    roles=(Role.BY_FOLDER_NAME, Role.NAMES_DAMAGE),
)
END_WILL_BE_MISREAD: Final = rule(
    "KL-415",
    "end-will-be-misread",
    severity="C",
    title="the broker will misjudge the log end",
    explanation="After a clean shutdown the broker reads the last batches from the last entry of "
    "the offset index on. Because of damage there, it sees another log end than that of the "
    "sound batches.",
    start="The broker appends at the wrong offset: records above it are no longer served and "
    "their offsets are assigned again, or offsets are skipped.",
    election="A replica that reports a lower end truncates others, or itself.",
    reader="Consumers may see two records at one offset, or a gap.",
    actions=(DO_NOT_START, FORCE_RECOVERY),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(Role.FOLLOWS_IN_REPLICA, Role.REPAIRED_BEFORE_START, Role.BY_FOLDER_NAME),
)
COMPACTION_LEFT_TWO_VALUES: Final = rule(
    "KL-416",
    "compaction-left-two-values",
    severity="L",
    title="two values of one key below the cleaner offset",
    explanation="Below the offset up to which the log was cleaned, two live records have the "
    "same key. Reading with --deep finds it.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="A consumer that builds a table from the topic gets the later value, which is "
    "correct; but the older one should have been removed.",
    actions=(NOTHING_TO_DO,),
    lookalikes=(COMPACTED_FURTHER, EMPTY_BATCH_KEPT),
)
START_WILL_SET_ASIDE: Final = rule(
    "KL-417",
    "start-will-set-aside",
    severity="C",
    title="the next start sets the replica aside",
    explanation="partition.metadata is missing or names another topic id than the cluster's "
    "metadata, or the replica is no longer assigned to this broker. A KRaft broker treats such a "
    "directory as stray. It is only information where a broker that the partition was moved to "
    "has every record of this copy.",
    start="The directory is renamed -stray and kept; before release 3.7 it is deleted. If the "
    "partition is assigned to this broker, it starts empty there; if not, the broker no longer "
    "serves it.",
    election="An empty replica that is in the in-sync set can be elected, and then the other "
    "replicas truncate to nothing.",
    reader="If no other replica holds the records, they cannot be read until the directory is "
    "restored by hand.",
    actions=(DO_NOT_START, RESTORE_TOPIC_ID, MOVE_COPY_ASIDE, LEAVE_ASIDE, SAVE_RECORDS),
    roles=(Role.HIGH_WITH_PEER, Role.REPAIRED_BEFORE_START, Role.BY_FOLDER_NAME),
)
START_WILL_EXPIRE: Final = rule(
    "KL-418",
    "start-will-expire",
    severity="C",
    title="retention deletes segments right after the start",
    explanation="Retention by time uses the largest timestamp of each segment, which the broker "
    "reads from its time index. If that is older than retention.ms allows, or is read as 0 from "
    "an untrimmed index after a clean shutdown, the segment is deleted when retention first "
    "runs.",
    start="Retention first runs 30 s after the start by default (log.initial.task.delay.ms) and "
    "deletes these segments.",
    election="The log start of this replica rises. As leader it raises that of its followers.",
    reader="Consumers below the new log start get an offset out of range; the records are gone.",
    actions=(KEEP_OLD_SEGMENTS, DO_NOT_START, REBUILD_INDEX),
    lookalikes=(PREALLOCATED,),
    roles=(Role.HIGH_WITH_PEER, Role.BY_FOLDER_NAME, Role.OF_NEXT_START),
)
LOG_FILES_EXCHANGED: Final = rule(
    "KL-419",
    "log-files-exchanged",
    severity="C",
    title="log files have each other's names",
    explanation="A log file begins with the offset in the name of another one and ends before the "
    "segment after that, and so it is with all log files whose names do not fit: somebody copied "
    "or restored them under each other's names. Every batch is there, and in order once the files "
    "are renamed. Findings that follow from the wrong names are left out.",
    start="A recovery that reads such a segment cannot place its offsets in the index, and the "
    "broker does not start. After a clean shutdown it starts and looks for offsets in the wrong "
    "files.",
    election="The end of this log may be misjudged, and its followers copy batches out of order "
    "or none.",
    reader="A fetch chooses the segment by its name: consumers miss records, or get them out of "
    "order.",
    actions=(RENAME_LOGS,),
    roles=(Role.NAMES_DAMAGE,),
)
STRAY_LOG: Final = rule(
    "KL-420",
    "stray-log",
    severity="H",
    title="a log file of zeros beyond the log end",
    explanation="The last log file begins with zeros, its name is above the end of the log before "
    "it, and it has no index and no producer snapshot, which a broker creates with each segment. "
    "No broker wrote it. It is left out of everything else.",
    start="The broker takes it for the last segment, cuts the zeros, and sets the log end to the "
    "number in its name.",
    election="If this replica leads, its followers are behind it until the next record is "
    "produced, and then every copy has the gap.",
    reader="Lag is counted up to offsets that never existed.",
    actions=(MOVE_OUT,),
)
