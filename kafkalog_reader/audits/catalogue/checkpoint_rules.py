"""Rules about checkpoints, snapshots and metadata files (KL-3xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.actions import (
    CHECK_HARDWARE,
    COMPARE_METADATA_LOGS,
    COMPARE_REPLICAS,
    DO_NOT_START,
    FORBID_UNCLEAN_ELECTION,
    FORCE_RECOVERY,
    KEEP_ONE_DIRECTORY,
    LET_UPLOADS_GO_ON,
    NOTHING_TO_DO,
    REBUILT_AT_START,
    REPLACE_METADATA_SNAPSHOT,
    RESTORE_CHECKPOINT,
    RESTORE_DIRECTORY,
    RESTORE_IDENTITY,
    RESTORE_TOPIC_ID,
    SAVE_RECORDS,
    START_EMPTY_LAST,
    START_WITHOUT_CHECKPOINT,
    SUPPLY_WHAT_IS_MISSING,
    WRITE_EPOCHS,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import NO_EFFECT, rule
from kafkalog_reader.audits.catalogue.traps import (
    COPIED_WHILE_RUNNING,
    MIXED_FORMATS,
    NO_ROW,
    NOT_A_LIVE_DIRECTORY,
    OLD_HIGH_WATERMARK,
)

CHECKPOINT_MALFORMED: Final = rule(
    "KL-301",
    "checkpoint-malformed",
    severity="H",
    title="a checkpoint cannot be parsed",
    explanation="A line violates the format, the version is unknown, the number of entries is "
    "not that of the second line, or a value is negative. Kafka replaces a checkpoint by writing "
    "a new file and renaming it, so an incomplete file indicates a problem of the disk.",
    start="It depends on the file and on the kind of damage: recovery points and log starts may "
    "fall back to defaults; high watermarks or leader epochs can take the log directory offline "
    "or end the broker. kafkalog table recoveries shows which.",
    election="Without its high watermarks or epochs a follower may truncate more than necessary.",
    reader=NO_EFFECT,
    actions=(RESTORE_CHECKPOINT, WRITE_EPOCHS, CHECK_HARDWARE),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(Role.REPAIRED_BEFORE_START,),
)
CHECKPOINT_MISSING: Final = rule(
    "KL-302",
    "checkpoint-missing",
    severity="L",
    title="a checkpoint is missing or empty",
    explanation="A log directory that holds replicas has no such file, or batches carry leader "
    "epochs and the partition has no leader-epoch-checkpoint. Copies of single partitions lack "
    "the files of the log directory. A broker creates the files empty, and reads an empty one as "
    "one without rows; it is reported where the broker must have written it.",
    start="Without recovery points every segment is recovered after an unclean stop. Without log "
    "starts, records that were deleted by kafka-delete-records come back. Without high watermarks "
    "they begin at the log start.",
    election="Without leader epochs followers truncate to their high watermark, which can leave "
    "replicas different.",
    reader=NO_EFFECT,
    actions=(WRITE_EPOCHS, START_WITHOUT_CHECKPOINT),
    lookalikes=(NO_ROW, MIXED_FORMATS),
    roles=(Role.REPAIRED_BY_RECOVERY,),
)
CHECKPOINT_TEMPORARY_LEFT: Final = rule(
    "KL-303",
    "checkpoint-temporary-left",
    severity="I",
    title="the temporary file of a checkpoint was left behind",
    explanation="A broker that stopped while it replaced a checkpoint leaves the new file as "
    ".tmp. The old one is still in place.",
    start="The next write of the checkpoint replaces the leftover file.",
    election=NO_EFFECT,
    reader=NO_EFFECT,
    actions=(NOTHING_TO_DO,),
)
HIGH_WATERMARK_BEYOND_END: Final = rule(
    "KL-304",
    "high-watermark-beyond-end",
    severity="C",
    title="the high watermark is above the log end",
    explanation="According to replication-offset-checkpoint, records were committed that this "
    "replica does not have. It lost them because unflushed data was lost, because it truncated "
    "less than 5 s before it stopped, or because files were lost.",
    start="The broker lowers the high watermark to the log end.",
    election="Electing this replica loses committed records, and the other replicas truncate to "
    "it.",
    reader="If this replica leads, consumers that read further get an offset out of range, and "
    "later other records at the same offsets.",
    actions=(DO_NOT_START, COMPARE_REPLICAS, FORBID_UNCLEAN_ELECTION),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(Role.FOLLOWS_IN_REPLICA, Role.LOST_END, Role.BY_FOLDER_NAME),
)
RECOVERY_POINT_BEYOND_END: Final = rule(
    "KL-305",
    "recovery-point-beyond-end",
    severity="C",
    title="the recovery point is above the log end",
    explanation="According to recovery-point-offset-checkpoint, records were flushed to disk that "
    "this replica does not have. Kafka lowers it when it truncates, so the disk is at fault or "
    "files were removed.",
    start="The broker assumes that everything is flushed: after an unclean stop it recovers only "
    "the last segment.",
    election="Electing this replica may lose committed records.",
    reader=NO_EFFECT,
    actions=(COMPARE_REPLICAS, CHECK_HARDWARE),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(Role.FOLLOWS_IN_REPLICA, Role.LOST_END, Role.BY_FOLDER_NAME),
)
LOG_START_BEYOND_END: Final = rule(
    "KL-306",
    "log-start-beyond-end",
    severity="C",
    title="the log start is above the log end",
    explanation="The offset in log-start-offset-checkpoint is beyond the end of the log.",
    start="The start deletes every segment of this replica, and the log begins empty at the log "
    "start.",
    election="Afterwards the replica is empty; if it is elected, the others truncate to it.",
    reader="If it leads, all older records are gone.",
    actions=(DO_NOT_START, SAVE_RECORDS),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(Role.BY_FOLDER_NAME,),
)
LOG_START_BEYOND_HIGH_WATERMARK: Final = rule(
    "KL-307",
    "log-start-beyond-high-watermark",
    severity="L",
    title="the log start is above the high watermark",
    explanation="The log start row is above the high watermark row. The two files are not "
    "written at the same time.",
    start="The broker raises the high watermark to the log start.",
    election=NO_EFFECT,
    reader=NO_EFFECT,
    actions=(NOTHING_TO_DO,),
    lookalikes=(OLD_HIGH_WATERMARK,),
    roles=(Role.BY_FOLDER_NAME,),
)
CLEANER_OFFSET_BEYOND_END: Final = rule(
    "KL-308",
    "cleaner-offset-beyond-end",
    severity="M",
    title="the cleaner offset is above the log end",
    explanation="According to cleaner-offset-checkpoint, more was cleaned than the log holds: the "
    "log has lost its end.",
    start="The cleaner sets the offset back to the log start and cleans again.",
    election="Records that this replica had may be missing now.",
    reader=NO_EFFECT,
    actions=(COMPARE_REPLICAS,),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(Role.FOLLOWS_IN_REPLICA, Role.BY_FOLDER_NAME),
)
CHECKPOINT_ROW_WITHOUT_DIRECTORY: Final = rule(
    "KL-309",
    "checkpoint-row-without-directory",
    severity="I",
    title="a checkpoint names a partition that has no directory",
    explanation="One checkpoint still lists a partition that was deleted or moved away, or several "
    "list one that only other brokers have according to the metadata log. The row disappears when "
    "the file is next written.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader=NO_EFFECT,
    actions=(NOTHING_TO_DO,),
    lookalikes=(NOT_A_LIVE_DIRECTORY,),
)
REPLICA_DIRECTORY_MISSING: Final = rule(
    "KL-310",
    "replica-directory-missing",
    severity="H",
    title="the directory of a replica is missing",
    explanation="At least two checkpoints of the log directory, or the assignment in the "
    "metadata log, name the partition, but it has no directory. Where the metadata log assigns it "
    "to other brokers, it is KL-309. A copy of single partitions looks the same. Critical if no "
    "supplied folder has the partition and records may have been committed; low if only part of "
    "the log directory was supplied. Where a renamed folder is found, its name is to be restored; "
    "one that a start deletes is moved aside first; where no copy is left, look for one "
    "elsewhere.",
    start="The broker creates an empty replica.",
    election="An empty replica that is still in the in-sync set can be elected, and then the other "
    "replicas truncate to nothing.",
    reader="If that happens, all records of the partition are gone.",
    actions=(DO_NOT_START, COMPARE_REPLICAS, FORBID_UNCLEAN_ELECTION),
    lookalikes=(NOT_A_LIVE_DIRECTORY,),
    roles=(Role.REPLICA_NOT_READ, Role.BY_FOLDER_NAME),
)
EPOCH_CHECKPOINT_NOT_RISING: Final = rule(
    "KL-311",
    "epoch-checkpoint-not-rising",
    severity="H",
    title="leader epochs do not rise",
    explanation="In leader-epoch-checkpoint, leader epochs or their start offsets do not rise from "
    "line to line.",
    start="The broker drops entries that contradict later ones when it reads the file.",
    election="Followers may truncate at a wrong offset.",
    reader=NO_EFFECT,
    actions=(WRITE_EPOCHS,),
)
META_PROPERTIES_PROBLEM: Final = rule(
    "KL-312",
    "meta-properties-problem",
    severity="H",
    title="meta.properties is missing or contradicts",
    explanation="The file that names cluster, node and directory is missing, empty, cannot be "
    "parsed, or names another node than the metadata log or the label that was given. The metadata "
    "log often still shows which node a log directory belongs to: by the directory.id, or because "
    "only one node is left.",
    start="A broker refuses to start with a file of another cluster or node. Without the file, or "
    "with an empty one, a KRaft broker does not start; one with ZooKeeper writes it again.",
    election="Which broker the copy belongs to is not certain.",
    reader=NO_EFFECT,
    actions=(RESTORE_IDENTITY, KEEP_ONE_DIRECTORY),
)
PARTITION_METADATA_MALFORMED: Final = rule(
    "KL-313",
    "partition-metadata-malformed",
    severity="H",
    title="partition.metadata cannot be read",
    explanation="The file that holds the topic id cannot be parsed, or holds the zero id.",
    start="Depending on the damage, the broker takes the log directory offline or ends.",
    election="Whether the copy belongs to the same topic is not certain.",
    reader=NO_EFFECT,
    actions=(RESTORE_TOPIC_ID,),
)
PRODUCER_SNAPSHOT_DAMAGED: Final = rule(
    "KL-314",
    "producer-snapshot-damaged",
    severity="L",
    title="a producer snapshot is damaged",
    explanation="The checksum or the content of a .snapshot file is wrong.",
    start="The broker deletes it, loads an older one and replays the log from there. If it is "
    "the only one and the log below it was deleted, the state of those producers is lost.",
    election=NO_EFFECT,
    reader="Idempotent producers whose state is lost may fail with an OutOfOrderSequenceException.",
    actions=(REBUILT_AT_START,),
)
STRAY_PRODUCER_SNAPSHOT: Final = rule(
    "KL-315",
    "stray-producer-snapshot",
    severity="I",
    title="a producer snapshot without its segment",
    explanation="No segment begins at the snapshot's offset, and it is not the newest snapshot.",
    start="The start deletes it.",
    election=NO_EFFECT,
    reader=NO_EFFECT,
    actions=(NOTHING_TO_DO,),
    roles=(Role.LEFT_BEHIND,),
)
LOG_DIRECTORY_MISSING: Final = rule(
    "KL-317",
    "log-directory-missing",
    severity="H",
    title="a log directory of a broker was not supplied",
    explanation="The broker registered a log directory, by its directory.id, and no supplied one "
    "of this broker has that id: its disk was lost or replaced, is not mounted, or was not "
    "supplied. Information if only one log directory of the cluster was supplied. KL-310 says "
    "which replicas were there.",
    start="A KRaft node does not start with a directory in log.dirs without meta.properties, not "
    "even as a controller. With a new, formatted disk the broker creates empty replicas.",
    election="An empty replica that is still in the in-sync set can be elected, and then the other "
    "replicas truncate to nothing.",
    reader="Records are gone of which no other replica has a copy.",
    actions=(RESTORE_DIRECTORY,),
)
LOG_DIRECTORY_EMPTY: Final = rule(
    "KL-318",
    "log-directory-empty",
    severity="H",
    title="an empty folder beside the log directories",
    explanation="A folder beside the log directories of other brokers holds nothing: perhaps the "
    "disk of a broker was replaced, is not mounted, or was not copied. In a cluster with "
    "ZooKeeper no file shows which brokers exist and which replicas are in sync. With a metadata "
    "log, KL-012, KL-310 and KL-317 say what is missing.",
    start="With ZooKeeper, a broker starts with an empty log directory, and creates empty replicas "
    "of its partitions.",
    election="If it starts first and is still in the in-sync set, an empty replica is elected, and "
    "the other replicas truncate to nothing.",
    reader="Every record of such a partition would be gone.",
    actions=(START_EMPTY_LAST,),
)
CLEAN_MARKER_CONTRADICTED: Final = rule(
    "KL-316",
    "clean-marker-contradicted",
    severity="H",
    title="the clean-shutdown marker contradicts the log",
    explanation="According to the marker, the broker shut down cleanly and flushed its logs. This "
    "log is torn, is damaged above the recovery point, or does not end there, which a clean "
    "shutdown never leaves: files changed later, or the marker was added. Other findings say what "
    "the start then does: KL-413 for each damaged place, KL-415 for the log end.",
    start="The broker trusts the marker and recovers nothing. It appends to a torn end.",
    election="The log end that the broker sees may not be that of the sound batches.",
    reader="Above the contradiction, consumers may get errors, or other records at offsets that "
    "were used before.",
    actions=(DO_NOT_START, FORCE_RECOVERY, COMPARE_REPLICAS),
    roles=(
        Role.FOLLOWS_IN_REPLICA,
        Role.REPAIRED_BEFORE_START,
        Role.BY_FOLDER_NAME,
        Role.NAMES_DAMAGE,
    ),
)
METADATA_SNAPSHOT_DAMAGED: Final = rule(
    "KL-319",
    "metadata-snapshot-damaged",
    severity="H",
    title="the newest snapshot of the metadata log is damaged",
    explanation="A .checkpoint file in __cluster_metadata-0 holds the metadata below an offset. "
    "The checksum or the content of the newest one is wrong, or it ends before its footer. The "
    "log beside it may be sound.",
    start="With a wrong checksum, zeros, an empty file, or one that ends inside its first batch, a "
    "node ends when it starts (CorruptRecordException, NoSuchElementException); but a broker "
    "without the controller role goes on without an empty one. If a majority of the controllers "
    "ends, they elect no leader, and no broker gets further. Where the file ends later, before its "
    "footer, no release notices: the node loads what is before that place, often nothing, then the "
    "log above the snapshot. A broker sets aside the replicas of all topics that it does not know "
    "(-stray; before release 3.7, it deletes them). A controller ends as soon as the log changes "
    "what it does not know; if it does not, it leads a cluster without its topics. If nothing that "
    "is loaded sets metadata.version, a controller of 4.3 or later ends, and a broker of 3.9 or "
    "later without that role waits for ever and renames nothing.",
    election="A controller that does not start neither votes nor leads.",
    reader=NO_EFFECT,
    actions=(REPLACE_METADATA_SNAPSHOT, CHECK_HARDWARE),
    roles=(Role.BESIDE_THE_LOGS,),
)
METADATA_NOT_REPLAYED: Final = rule(
    "KL-320",
    "metadata-not-replayed",
    severity="H",
    title="no controller replays a record of the metadata log",
    explanation="Every batch of the log is sound, but a record contradicts those before it: a "
    "topic that exists is created, a partition of an unknown topic changes, a broker changes that "
    "is registered with another epoch or not at all, a transaction ends that did not begin, a "
    "metadata.version is newer than the node. A controller never writes this: logs were joined by "
    "hand, a batch was written twice, or a snapshot is not the one that the log continues.",
    start="A controller ends at this record, and before it loads a replica if it is a broker too: "
    "no folder is renamed. A broker without the controller role logs the error and goes on "
    "without the record. It does so only when a controller leads.",
    election="A controller that ends neither votes nor leads. All copies of a record are alike, so "
    "that the same happens to all controllers that have it. One whose log ends before it can lead; "
    "if there is none, only a metadata log of a backup from before that record can.",
    reader=NO_EFFECT,
    actions=(COMPARE_METADATA_LOGS, SUPPLY_WHAT_IS_MISSING),
    roles=(Role.BESIDE_THE_LOGS,),
)
UPLOAD_WITHOUT_SNAPSHOT: Final = rule(
    "KL-321",
    "upload-without-snapshot",
    severity="M",
    title="a segment cannot be uploaded to remote storage",
    explanation="Remote storage is on for the topic, and there is no producer snapshot where the "
    "next segment begins. A leader uploads it with the segment; without one the upload ends in a "
    "NullPointerException and is tried again for ever (KAFKA-15195, KAFKA-16209). Segments are "
    "uploaded in order: nothing after this one is uploaded either, and retention keeps on the disk "
    "what is not uploaded. Brokers before 2.8 did not keep these files, and someone may have "
    "deleted them.",
    start="A start writes snapshots only for the last two segments, if there is none, and for "
    "those that it recovers after an unclean stop.",
    election="A leader uploads from its own files: a replica that has the snapshots goes on.",
    reader=NO_EFFECT,
    actions=(LET_UPLOADS_GO_ON,),
    roles=(Role.BESIDE_THE_LOGS,),
)
