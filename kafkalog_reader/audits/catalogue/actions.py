"""The actions, most urgent first: what must not be done, then what keeps every choice open."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.action import action, declared

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.audits.catalogue.action import Action

DO_NOT_START: Final = action(
    "A4",
    "do-not-start",
    short="do not start {where} yet: {their} start or an election may destroy records; {until}",
    explanation="A start recovers, truncates, renames or deletes before anybody can stop it. As "
    "long as the broker is stopped, its files can still be saved or repaired. When you have done "
    "what replica-diff lists, start the brokers as kafkalog plan says.",
    warnings=(
        "A supervisor such as systemd or Kubernetes may start the broker again by itself: disable "
        "it first.",
    ),
    command="kafkalog table recoveries 1=/mnt/b1",
)
READ_WITH_PERMISSION: Final = action(
    "A25",
    "read-with-permission",
    short="if permission is denied, run this as the user of the broker",
    explanation="Permission denied says nothing about the bytes of a file. An input/output error "
    "does: it indicates a problem of the storage.",
    command="sudo -u kafka kafkalog verify /mnt/b1/kafka-logs",
)
CHOOSE_A_BRANCH: Final = action(
    "A20",
    "choose-a-branch",
    short="a person must choose between branches that both hold committed records; save both first",
    explanation="Consumers may have read both branches. No rule of Kafka decides which one is "
    "right: the owner of the data does. Records that are not kept can be produced again from the "
    "saved copy.",
    warnings=("The first election decides for you. Save both branches before any start.",),
)
SAVE_RECORDS: Final = action(
    "A7",
    "save-records",
    short="save the records that only some copies have, before any start or election",
    explanation="A start or an election can delete what no other copy has. Saving needs no broker "
    "and does not write to the log directories.",
    warnings=("Save to a disk that holds none of the copies.",),
    command="replica-diff 1=/mnt/b1 2=/mnt/b2 --topic TOPIC --partition N --export SAVED",
)
FORBID_UNCLEAN_ELECTION: Final = action(
    "A16",
    "forbid-unclean-election",
    short="freeze: while brokers run, forbid unclean election of this topic until the choice is "
    "made; while every broker is stopped, a step of kafkalog plan does it",
    explanation="With unclean.leader.election.enable=true the controller elects a replica "
    "outside the in-sync set as soon as no other replica is alive, and every follower then "
    "truncates to it. The unclean elections of a plan are held by command, which "
    "the setting does not prevent.",
    warnings=(
        "The setting does not stop an election of a replica that is in the in-sync set and has "
        "lost its records.",
        "Before release 3.9, KRaft controllers hold no unclean election by themselves, and the "
        "setting changes nothing.",
    ),
    command="kafka-configs.sh --bootstrap-server HOST:9092 --alter --entity-type topics "
    "--entity-name TOPIC --add-config unclean.leader.election.enable=false",
)
SUPPLY_WHAT_IS_MISSING: Final = action(
    "A17",
    "supply-what-is-missing",
    short="supply the missing replica or metadata log, and run this again",
    explanation="A copy that was not supplied may hold records that no other copy has, and may "
    "be the best leader. Conclusions without it are possible, not proven.",
    command="replica-diff 1=/mnt/b1 2=/mnt/b2 3=/mnt/b3 --topic TOPIC --partition N",
)
LOOK_FOR_A_COPY: Final = action(
    "A36",
    "look-for-a-copy",
    short="look for another copy of these records, such as a backup or an older image of a disk: "
    "no supplied copy holds them, and without one they are lost",
    explanation="No start and no election brings the records back. If there is no other copy, they "
    "are lost. The owners of the topic must know which offsets are missing; then start the "
    "brokers as kafkalog plan says.",
)
LEAVE_ONE_OUT: Final = action(
    "A26",
    "leave-one-out",
    short="leave out what does not belong, or name the broker of each path as N=PATH, and run "
    "this again",
    explanation="Copies of different clusters, or of a topic and of another topic that had the "
    "same name before it was deleted, are not replicas of one partition. Comparing them is "
    "meaningless. Leave one side out; do not look for a further copy.",
    warnings=("Do not copy files between directories whose topic ids differ.",),
)
LET_BEST_LEAD: Final = action(
    "A5",
    "let-best-lead",
    short="{best} should lead this partition; the others copy from it",
    explanation="Followers truncate to match the leader they find. If the replica that loses "
    "least leads before the others start, they copy from it and not the other way round.",
    warnings=(
        "A broker starts with all its partitions: kafkalog plan finds one order of starts for "
        "all of them.",
        "A follower fetches from its own log end on. It never fetches again what is damaged below "
        "that: such a copy has to be moved aside (A6).",
    ),
    command="# only if it is not in the in-sync set: then what it lacks is lost for "
    "ever:\nkafka-leader-election.sh --bootstrap-server HOST:9092 --election-type unclean "
    "--topic TOPIC --partition N",
)
COMPARE_REPLICAS: Final = action(
    "A22",
    "compare-replicas",
    short="run replica-diff before this copy may lead: it compares the replicas, or says what can "
    "still be read of a single one",
    explanation="One copy cannot show whether another one holds the records intact. replica-diff "
    "reads all copies, and says which copy holds what and which leader loses least. If no copy is "
    "intact, or there is only one, it prints how to make one sound log of what can be read.",
    warnings=(
        "Another leader alone does not repair this copy: a follower fetches from its log end on, "
        "and never again what is damaged below it.",
    ),
    command="replica-diff 1=/mnt/b1 2=/mnt/b2 3=/mnt/b3 --topic TOPIC --partition N",
)
MOVE_COPY_ASIDE: Final = action(
    "A6",
    "move-copy-aside",
    short="while {where} {are} stopped, move the partition directory aside, never delete it; once "
    "another replica leads, the next start copies it from there",
    explanation="A broker that finds no directory creates an empty replica and fetches everything "
    "from the leader. This is the only way in which a follower gets back what is damaged or "
    "missing below its log end.",
    warnings=(
        "First make sure that another replica holds all records and leads: an empty replica that "
        "is elected empties all others.",
        "Move it out of the log directory: a broker does not start with a folder in it whose "
        "name is not a partition's.",
    ),
    command="mkdir -p /mnt/b1/aside && mv /mnt/b1/kafka-logs/TOPIC-N /mnt/b1/aside/",
    condition="unless replica-diff says that this copy should lead or alone has records: ",
)
KEEP_ONE_DIRECTORY: Final = action(
    "A23",
    "keep-one-directory",
    short="make sure that both log directories are in log.dirs of one broker (otherwise one has "
    "the wrong node.id); if so, while it is stopped, move one of the two copies out; keep the one "
    "that agrees with the other replicas, and never delete the other",
    explanation="A broker refuses to start while one partition is in two of its log directories. "
    "Where the two are of two hosts, node.id in one meta.properties is wrong: compare it with the "
    "server.properties of its host, and supply the metadata log, which knows the directory.id. "
    "Compare each copy alone with the other replicas, and keep the one that agrees with them. The "
    "longer log may be the wrong one.",
    warnings=("Compare both with the other replicas first: neither may be complete.",),
    command="replica-diff a=/mnt/disk1/kafka-logs b=/mnt/disk2/kafka-logs --topic TOPIC "
    "--partition N",
)
WRITE_EPOCHS: Final = action(
    "A8",
    "write-epochs",
    short="while {where} {are} stopped, write leader-epoch-checkpoint as the batches have it",
    explanation="Followers use this file to find where their log diverges from the leader's. The "
    "batches carry the leader epoch that the file should name, and replica-diff prints the "
    "file's body.",
    warnings=("Keep a copy of the old file. A running broker overwrites your changes.",),
)
RESTORE_CHECKPOINT: Final = action(
    "A24",
    "restore-checkpoint",
    short="while {where} {are} stopped, move the checkpoint file aside: the broker writes a new "
    "one",
    explanation="The broker uses defaults instead of the file's rows. Without recovery points "
    "every segment is recovered; without high watermarks they begin at the log start and rise "
    "with the first fetches; without log starts the first segment's base offset is used, so that "
    "records deleted by kafka-delete-records may come back.",
    warnings=(
        "Recovering every segment truncates each log at its first damaged batch: run kafkalog "
        "verify first.",
    ),
)
START_WITHOUT_CHECKPOINT: Final = action(
    "A39",
    "start-without-checkpoint",
    short="if the disk of {where} has the file, copy it too and run this again; if the file is "
    "gone, kafkalog table recoveries shows what a start cuts without it: if nothing, start the "
    "brokers as kafkalog plan says, and the file is written again",
    explanation="recovery-point-offset-checkpoint: after an unclean stop every segment is "
    "recovered, and a log is cut at its first damaged batch. replication-offset-checkpoint: "
    "consumers wait until the followers have fetched from the leader. "
    "log-start-offset-checkpoint: records come back that were deleted by kafka-delete-records.sh; "
    "delete them again when the broker runs. kafkalog ls shows the log starts of the other "
    "replicas.",
    command="kafkalog table recoveries /mnt/b1/kafka-logs\n"
    "kafkalog plan 1=/mnt/b1 2=/mnt/b2 3=/mnt/b3\n"
    "kafkalog ls /mnt/b2/kafka-logs",
)
RESTORE_IDENTITY: Final = action(
    "A27",
    "restore-identity",
    short="while {where} {are} stopped, restore meta.properties: node.id (with ZooKeeper "
    "broker.id) as in its server.properties, cluster.id as on the other nodes; in KRaft, "
    "directory.id as the metadata log has it, or left out where no metadata log is left",
    explanation="meta.properties says which cluster, node and directory the files belong to. A "
    "broker refuses to start with one that contradicts its configuration. Where the metadata log "
    "shows the whole content, kafkalog prints the command that writes it. Without a metadata log, "
    "leave directory.id out: the node then makes one up. A broker of a cluster with ZooKeeper "
    "writes a missing file itself. To read a copy without the file, name the broker as N=PATH.",
    warnings=(
        "Compare node.id with the server.properties of that host first: the metadata log shows "
        "which node is left, not which host it is.",
        "kafka-storage.sh format writes a new directory id: for KRaft that is another disk.",
    ),
    command="kafkalog verify 1=/mnt/b1/kafka-logs /mnt/controller",
)
RETURN_DIRECTORY: Final = action(
    "A48",
    "return-directory",
    short="while {where} {are} stopped, give each log directory back to the node that its "
    "meta.properties names: exchange the disks or their mounts; correct node.id only if the "
    "directory was always this node's",
    explanation="The log directories of one node name different nodes: a disk of another node is "
    "mounted here, or a path was given with the wrong node. With its node.id changed, the node "
    "would set the replicas of the other one aside, and the other one would begin with empty ones.",
    warnings=(
        "The partition folders and directory.id show whose the disk is: the metadata log names the "
        "directories of each broker.",
    ),
    command='kafkalog sql "select distinct nodeId, logDirectories from brokers" /mnt/b1 /mnt/b2',
)
RESTORE_DIRECTORY: Final = action(
    "A45",
    "restore-directory",
    short="put the missing log directory of {where} back and run this again; if it is lost, "
    "format the new disk before {where} {are} started, even as a controller, or take the directory "
    "out of log.dirs",
    explanation="A node of KRaft does not start with a directory in log.dirs that has no "
    "meta.properties. Formatting writes it into the log directories that lack it, and leaves the "
    "others as they are. The new directory gets an id of its own: the controller elects no replica "
    "of the old one before the broker has created it again, empty.",
    warnings=(
        "Do not write the id of the lost directory into the new meta.properties: the controller "
        "would take the empty replicas for the old ones.",
        "Mount the new disk first: an empty mount point would be formatted on the system disk.",
        "A controller without controller.quorum.voters also takes --no-initial-controllers.",
    ),
    command="kafka-storage.sh format --ignore-formatted --cluster-id CLUSTER_ID "
    "--config SERVER_PROPERTIES",
)
START_EMPTY_LAST: Final = action(
    "A52",
    "start-empty-last",
    short="if a broker has this log directory, mount or copy its disk and run this again; if the "
    "disk is lost, start that broker last, once the others lead every partition",
    explanation="ZooKeeper may still name that broker in the in-sync set. The first in-sync "
    "replica that starts is elected. An empty one that starts later copies the leader's records. "
    "If the folder is not a broker's, leave it out.",
    command="kafka-topics.sh --bootstrap-server HOST:9092 --describe --unavailable-partitions",
)
RENAME_FOLDER: Final = action(
    "A40",
    "rename-folder",
    short="do not start {where} yet; while {they} {are} stopped, give each folder the name of the "
    "partition that it holds, then run the same command again",
    explanation="A broker takes the name of a folder for the partition in it, and reads no record "
    "to check that. Until the folders have their names again, no comparison and no order of starts "
    "is right for these partitions.",
    warnings=(
        "Look at the evidence first: where too little is known, the finding prints no command.",
        "Run the commands once: a second time they exchange two folders again.",
    ),
    command="mv /mnt/b1/kafka-logs/WRONG-N /mnt/b1/kafka-logs/TOPIC-N",
)
RENAME_LOGS: Final = action(
    "A50",
    "rename-logs",
    short="do not start {where} yet; while {they} {are} stopped, give each log file the name of "
    "the segment that it holds, then run the same command again",
    explanation="A broker takes the name of a log file for the first offset in it, and places "
    "every batch by it. Until the files have their names again, no comparison and no order of "
    "starts is right for the partition. Move nothing aside before: no batch is damaged.",
    warnings=(
        "Run the commands once: a second time they exchange two files again.",
        "If the index files were renamed, too, the next run finds indexes that point to the wrong "
        "places, and says which to move aside.",
    ),
    command="mv TOPIC-N/WRONG.log TOPIC-N/BASE_OFFSET.log",
)
PUT_BITS_BACK: Final = action(
    "A55",
    "put-bits-back",
    short="do not start {where} yet; while {they} {are} stopped, put each flipped bit back, then "
    "run the same command again",
    explanation="Everything else in the batch is right, as its checksum shows, and with the right "
    "base offset it joins the batches before and after it. Until then, no comparison and no order "
    "of starts is right for the partition. kafkalog salvage puts the same bit back in what it "
    "writes.",
    warnings=(
        "Move no index file aside before: a start that rebuilds the index of such a segment may "
        "abort.",
    ),
    command="printf '\\000' | dd of=TOPIC-N/BASE_OFFSET.log bs=1 seek=POSITION conv=notrunc",
)
MOVE_OUT: Final = action(
    "A51",
    "move-out",
    short="do not start {where} yet; while {they} {are} stopped, move it out of the log directory, "
    "never delete it, and run the same command again",
    explanation="A broker takes every log file of a partition for a segment, the last one for the "
    "end of the log, and loads folders that end in -delete, -future and -stray like its replicas. "
    "So a file that no broker wrote, or damage in a folder that nobody needs, changes a log or "
    "prevents a start.",
    warnings=("If you know which program wrote a file, see first what it should hold.",),
    command="mkdir -p /mnt/b1/aside && mv /mnt/b1/kafka-logs/NAME /mnt/b1/aside/",
)
RESTORE_TOPIC_ID: Final = action(
    "A28",
    "restore-topic-id",
    short="while {where} {are} stopped, restore partition.metadata, which names the topic id; "
    "where no command follows, supply the metadata log or another replica, and run this again",
    explanation="A KRaft broker that finds no topic id sets the directory aside and starts empty. "
    "The id is the same in every replica and every partition of the topic in this cluster.",
    warnings=(
        "Only where the file is missing or cannot be read. A directory that names another topic id "
        "is of another topic: with this id its records would be mixed with those of the topic. "
        "Move it aside (A6).",
    ),
    command="cat /mnt/b2/kafka-logs/TOPIC-N/partition.metadata",
)
RESTORE_OLD_SEGMENTS: Final = action(
    "A42",
    "restore-old-segments",
    short="do not start {where} yet; while {they} {are} stopped, give old segment files their "
    "names back, decompress those that somebody compressed, and move .swap files of the segment "
    "aside: then the start keeps the old segments",
    explanation="A start deletes files that end in .deleted. A .swap file is a new segment that "
    "replaces old ones when the broker starts, and the start does not check it before. Where the "
    "old segments are still there, sound and complete, as live files or as .deleted, they hold "
    "all records of a damaged new one, or of a gap between live segments.",
    warnings=(
        "Move all .swap files of the partition: a start replaces everything between the first and "
        "the last of them.",
        "The commands are printed only where the old segments are sound and complete.",
    ),
    command="mkdir -p /mnt/b1/aside && mv /mnt/b1/kafka-logs/TOPIC-N/*.swap /mnt/b1/aside/",
)
LEAVE_ASIDE: Final = action(
    "A43",
    "leave-aside",
    short="if the topic was deleted, or the partition moved to other brokers, on purpose: nothing "
    "to do, the start renames the folder to -stray (before release 3.7, it deletes it); if not, "
    "save its records before {where} {are} started (kafkalog salvage)",
    explanation="A broker keeps a -stray folder for ever, but serves nothing from it and counts it "
    "as no replica. No file brings it back: the metadata log decides which replicas a broker has. "
    "What is saved can be produced again to a topic that exists.",
    warnings=(
        "If the supplied metadata log is older than the deletion or the move was undone, supply "
        "the newest one first.",
    ),
    command="kafkalog salvage /mnt/b1 --topic TOPIC --partition N --output SAVED",
)
REPLACE_METADATA_LOG: Final = action(
    "A34",
    "replace-metadata-log",
    short="do not start {where} yet: it is the only controller that is known, and every node "
    "loses the metadata that its start does not find; while all nodes are stopped, put the sound "
    "copy that ends last in its place",
    explanation="Every broker keeps a copy of the metadata log, snapshots included, and it serves "
    "as the controller's. A controller recovers its whole log when it starts: what follows damage "
    "is cut, topics and configurations with it. The brokers then cut their copies to its log, and "
    "set the replicas of topics aside that it does not know. Without a sound copy it loads the "
    "newest snapshot and the log up to the damage.",
    warnings=(
        "Take the copy that ends last. Copy it from a stopped node.",
        "Leave quorum-state behind: it is the vote of the other node. Without the file, the "
        "controller starts with the last epoch of its log.",
        "If there are other controllers that were not supplied, supply them first: then A35 "
        "applies.",
    ),
    command="mkdir -p /mnt/c1/aside && mv /mnt/c1/metadata/__cluster_metadata-0 /mnt/c1/aside/\n"
    "ssh HOST_OF_BROKER_1 'tar -C /mnt/b1/kafka-logs -cf - __cluster_metadata-0' | "
    "tar -C /mnt/c1/metadata --exclude=quorum-state -xf -",
)
FIND_METADATA_LOG: Final = action(
    "A46",
    "find-metadata-log",
    short="supply the metadata log, or check that metadata.log.dir of a controller still has "
    "__cluster_metadata-0; if it is lost, start nothing, neither controller nor broker: brokers "
    "would set all their partitions aside (-stray), and before release 3.7 delete them",
    explanation="Controllers that have no metadata log start with an empty one, without topics. "
    "A broker sets the replicas of topics aside that the metadata does not name, and no later "
    "start serves these folders. Before release 3.7, it deletes them: they end in -delete, and are "
    "gone a minute later. If that has begun, stop the broker at once, and give the folders that "
    "are left their names back. "
    "metadata.log.dir is the first of log.dirs unless it is set, and brokers have a copy of the "
    "log as well.",
    warnings=(
        "The copy of any node helps, that of a broker too: supply it, and kafkalog verify and "
        "kafkalog quorum say where it goes.",
    ),
    command="ls -d METADATA_LOG_DIR/__cluster_metadata-0\nkafkalog quorum /mnt/c1 /mnt/b1 /mnt/b2",
)
RENAME_STRAY: Final = action(
    "A47",
    "rename-stray",
    short="keep these folders; first restore the metadata log that names these topics with the "
    "same topic ids, and then, while every broker is stopped, give each folder its name back: "
    "TOPIC-N.<32 letters and digits>-stray becomes TOPIC-N. If there is no such metadata log, "
    "kafkalog salvage reads a folder that is given itself",
    explanation="A broker sets the replicas of topics aside that the metadata does not name, and "
    "deletes nothing. With the old metadata log on all controllers (its topic ids are those in "
    "partition.metadata of the folders), a renamed folder is the replica again. Supply that log "
    "with the folders: kafkalog verify then prints the renames (KL-310). A topic that is created "
    "anew has another topic id: its broker would set the folder aside once more.",
    warnings=(
        "A newer live folder of the same partition must not be replaced without a comparison.",
    ),
    command="kafkalog salvage /mnt/b1/kafka-logs/TOPIC-N.*-stray --output SAVED\n"
    "mv /mnt/b1/kafka-logs/TOPIC-N.*-stray /mnt/b1/kafka-logs/TOPIC-N",
)
COMPARE_METADATA_LOGS: Final = action(
    "A38",
    "compare-metadata-logs",
    short="before a controller starts, compare all copies of the metadata log, those of brokers "
    "among them: kafkalog quorum says where they diverge and what an election loses",
    explanation="The leader epochs in the logs of brokers come from the controllers. If no "
    "controller has the metadata that names them, it was lost there, and a broker's copy may "
    "still hold it. If the supplied copy is only an older one, supply a newer one.",
    command="kafkalog quorum /mnt/c1 /mnt/b1 /mnt/b2",
)
FETCH_METADATA_AGAIN: Final = action(
    "A35",
    "fetch-metadata-again",
    short="once the other controllers have a leader, and while {where} {are} stopped, move "
    "__cluster_metadata-0 out of the log directory: after the start the node fetches it again from "
    "the active controller",
    explanation="Brokers, and all controllers but the active one, copy the metadata log from the "
    "active controller: its newest snapshot, and what follows.",
    warnings=(
        "A controller with an empty log votes for every candidate, also for one that lacks "
        "committed records. So a majority of the controllers must run with sound copies: do it on "
        "one controller at a time, and wait until it has caught up (kafka-metadata-quorum.sh "
        "describe --replication).",
    ),
    command="mkdir -p /mnt/b1/aside && mv /mnt/b1/kafka-logs/__cluster_metadata-0 /mnt/b1/aside/",
)
MOVE_FUTURE_COPY: Final = action(
    "A44",
    "move-future-copy",
    short="before the next start, move the future copy out of the log directory, never delete it: "
    "its replica stays and is served",
    explanation="A broker makes a future copy in another log directory, to move a replica from "
    "disk to disk. Both are in one directory where the files of two disks were put together. The "
    "broker then fails to rename the future copy (Directory not empty), and does not start.",
    warnings=("Where the future copy reaches further than its replica, compare both first.",),
    command="mkdir -p /mnt/b1/aside && mv /mnt/b1/kafka-logs/TOPIC-N.ID-future /mnt/b1/aside/",
)
KEEP_DELETED_FOLDER: Final = action(
    "A53",
    "keep-deleted-folder",
    short="before the next start, move the -delete folder out of the log directory, never delete "
    "it: the start would, and no live copy of its partition here has all its records",
    explanation="A broker renames the folder of a replica that it no longer hosts to -delete, and "
    "deletes it a minute later, or after its next start. Where the brokers that host the partition "
    "have lost it, such a folder holds the last records of it: those up to the time when the "
    "replica left. So does the folder of a topic that is being deleted. kafkalog salvage reads it.",
    warnings=("The folder may be of a deleted topic of the same name: compare the topic ids.",),
    command="mkdir -p /mnt/b1/aside && mv /mnt/b1/kafka-logs/TOPIC-N.ID-delete "
    "/mnt/b1/aside/TOPIC-N",
)
MOVE_STRANGE_NAME: Final = action(
    "A32",
    "move-strange-name",
    short="before the next start, rename it back if it is the folder of a partition; if not, move "
    "it out of the log directory",
    explanation="A broker parses the name of every folder in its log directories, and of every "
    "file with the suffix of a segment file. If it cannot parse one, it does not start.",
    warnings=(
        "Look into it first. partition.metadata in it holds the topic id, and two copies of one "
        "partition do not belong in one log directory.",
    ),
    command="mkdir -p /mnt/b1/aside && mv /mnt/b1/kafka-logs/NAME /mnt/b1/aside/",
)
USE_SUBFOLDER: Final = action(
    "A54",
    "use-a-subfolder",
    short="do not start {where} yet; this folder belongs to the file system or the filer, and "
    "cannot be moved for good: while {they} {are} stopped, move everything else in the log "
    "directory into a new folder below it, and name that folder in log.dirs",
    explanation="The root of a file system has lost+found, and fsck makes it again; a filer shows "
    "its snapshots as .snapshot, which is read-only. A broker does not start with either in its "
    "log directory. A folder below has neither. meta.properties and the checkpoints move along: "
    "the directory.id stays the same.",
    warnings=(
        "If the log directory is a copy, and not the root of a file system, delete the empty "
        "folder there instead.",
        "Snapshots of a filer can also be hidden on the filer.",
    ),
    command="mkdir /mnt/disk1/kafka-logs\n"
    "mv /mnt/disk1/TOPIC-N /mnt/disk1/meta.properties /mnt/disk1/kafka-logs/\n"
    "# in server.properties: log.dirs=/mnt/disk1/kafka-logs",
)
REPLACE_METADATA_SNAPSHOT: Final = action(
    "A57",
    "replace-metadata-snapshot",
    short="while {where} {are} stopped, move this .checkpoint file aside; if the log beside it "
    "does not begin at offset 0, put the file of the same name of another node or of a backup in "
    "its place",
    explanation="A snapshot repeats what the log had below its offset. A log that still begins at "
    "offset 0 needs none: three controllers of 4.2.0 started without their damaged ones and lost "
    "nothing. Snapshots with the same name on two nodes hold the same metadata.",
    warnings=(
        "Do not format the controller: its log may hold metadata that no other one has.",
        "A log that begins above 0 needs a snapshot that reaches its beginning; otherwise the "
        "node does not start.",
    ),
    command="mkdir -p /mnt/c1/aside\n"
    "mv /mnt/c1/metadata/__cluster_metadata-0/NAME.checkpoint /mnt/c1/aside/",
)
CHECK_HARDWARE: Final = action(
    "A9",
    "check-hardware",
    short="check disk, controller and memory of the host of {where}",
    explanation="Kafka writes a batch once and never changes it. Bytes that changed after that, "
    "or that cannot be read, indicate a problem of the storage, the file system or the memory of "
    "the host.",
    command="dmesg | grep -iE 'error|ext4|xfs|nvme|sd[a-z]'; smartctl -a /dev/DISK",
)
REBUILD_INDEX: Final = action(
    "A3",
    "rebuild-index",
    short="while {where} {are} stopped, move the segment's index files aside, .index among them: "
    "the start rebuilds them from the log",
    explanation="A broker that finds no .index for a segment recovers that segment and rebuilds "
    "all of its index files. Indexes are derived from the log and hold nothing else.",
    warnings=(
        "It must be .index that is missing: if only .timeindex is missing, the broker just "
        "creates an empty file.",
        "Recovering the segment truncates it at its first damaged batch: run kafkalog verify "
        "first.",
    ),
    command="mkdir -p ASIDE && mv TOPIC-N/BASE_OFFSET.{index,timeindex,txnindex} ASIDE/",
)
FORCE_RECOVERY: Final = action(
    "A33",
    "force-recovery",
    short="while {where} {are} stopped, move .kafka_cleanshutdown out of the log directory: the "
    "next start recovers the logs",
    explanation="With the marker a broker does not check the last segment. Without it the start "
    "reads every segment from the recovery point on, removes a torn or zero end, and rebuilds "
    "the indexes of these segments.",
    warnings=(
        "Every log in that log directory is recovered, and one with a damaged batch at or above "
        "its recovery point is cut there. On a copy without the marker, kafkalog table "
        "recoveries shows beforehand what is lost.",
    ),
    command="mkdir -p /mnt/b1/aside && mv /mnt/b1/kafka-logs/.kafka_cleanshutdown /mnt/b1/aside/",
)
REBUILT_AT_START: Final = action(
    "A21",
    "rebuilt-at-start",
    short="nothing to do: the broker rebuilds the file from the log when it starts",
    explanation="The file is derived from the log. A start that finds it missing or damaged "
    "writes it again.",
)
REBUILD_SNAPSHOT: Final = action(
    "A30",
    "rebuild-snapshot",
    short="while {where} {are} stopped, move the partition's .snapshot files aside: the start "
    "replays the log",
    explanation="A producer snapshot holds sequence numbers and open transactions. Without any "
    "the broker replays every batch of the log.",
    warnings=(
        "Replaying takes as long as reading the partition.",
        "If retention has deleted older segments, the state of producers that wrote only there "
        "is lost, too.",
    ),
)
REPORT_DEFECT: Final = action(
    "A15",
    "report-defect",
    short="report a software defect, with this output and copies of the files",
    explanation="The checksum is valid: the bytes are unchanged. A client, a broker or a tool "
    "wrote what Kafka's format does not allow.",
)
COPY_AGAIN: Final = action(
    "A2",
    "copy-again",
    short="take a second copy, from a stopped broker if you can, and run this again",
    explanation="Files of a running broker are copied one after another while it writes. "
    "Differences that come from copying disappear with the next copy; those that remain are "
    "real.",
)
FINISH_COPY: Final = action(
    "A56",
    "finish-copy",
    short="let rsync finish this copy, or run it again; then run this again, and start no broker "
    "on it before",
    explanation="A file gets a temporary name from rsync, `.NAME.XXXXXX`, until it is complete. "
    "It shows that the copy still runs, or that it was broken off: files that come after it are "
    "missing, too, or are of an earlier copy.",
)
RAISE_LIMIT: Final = action(
    "A18",
    "raise-limit",
    short="raise the named limit, and run this again",
    explanation="A limit protects against input that would take all memory or time. Data beyond "
    "it was not inspected: it is neither sound nor damaged.",
    command="kafkalog verify /mnt/b1/kafka-logs --max-batch-bytes 1GiB",
)
USE_NEWER_READER: Final = action(
    "A31",
    "use-newer-reader",
    short="read it with a release of kafkalog that knows this version; it was not inspected",
    explanation="The file says that it is of a later version, or a damaged byte makes it say so. "
    "Other replicas show which: a version that only one copy has is damage.",
)
NAME_REAL_PATH: Final = action(
    "A29",
    "name-real-path",
    short="give the path that it leads to, or pass --follow-links if you trust that path",
    explanation="Links, devices, pipes and sockets are not opened unless you ask for it: they "
    "may lead out of the input directory.",
)
ABORT_TRANSACTION: Final = action(
    "A11",
    "abort-transaction",
    short="check the transaction coordinator, then abort the hanging transaction",
    explanation="An open transaction whose marker is gone holds the last stable offset: consumers "
    "with read_committed wait for ever.",
    warnings=("Abort only what the coordinator no longer knows as open.",),
    command="kafka-transactions.sh --bootstrap-server HOST:9092 find-hanging --topic TOPIC "
    "--partition N",
)
SET_NO_OFFSET_YET: Final = action(
    "A49",
    "set-no-offset-yet",
    short="set no offset of the group yet: first do what else is said here about the partition, "
    "and run this again, because the log may hold the committed offset then",
    explanation="While segments or copies of the partition can still be repaired, the files do not "
    "show where its log will begin and end. A group that is set back to the end of a damaged copy "
    "reads records twice, although its own offset is valid once the log is repaired. Leave the "
    "consumers of the group stopped until then.",
)
SET_GROUP_OFFSET: Final = action(
    "A12",
    "set-group-offset",
    short="once the brokers run, and before the consumers of the group start, set its committed "
    "offset to one that the log has; for many groups use `kafkalog groups PATH... --reset-file "
    "FILE`",
    explanation="A consumer whose committed offset is not in the log, without a leader epoch, "
    "continues as auto.offset.reset says: with latest it skips what it has not read, with earliest "
    "it reads everything again. `kafkalog groups PATH... --group GROUP --reset-file FILE` writes "
    "the offsets of a group in the form that kafka-consumer-groups takes: those that the log has, "
    "and for others the nearest one that loses nothing. With --dry-run instead of --execute, "
    "kafka-consumer-groups only shows what it would change.",
    warnings=(
        "The group must not have running consumers.",
        "The offset is that of the supplied files. If producers have written since, the group may "
        "read some of the newest records again.",
    ),
    command="kafka-consumer-groups.sh --bootstrap-server HOST:9092 --group GROUP --topic TOPIC:N "
    "--reset-offsets --to-offset OFFSET --execute",
)
MOVE_GROUPS: Final = action(
    "A13",
    "move-groups",
    short="commit the offsets of the groups again, and leave the partition count of "
    "__consumer_offsets as it is",
    explanation="A coordinator loads a group from the one partition that the hash of its name "
    "gives for the present number of partitions, so it does not find offsets in another one. "
    "`kafkalog groups PATH... --reset-file FILE` writes what is there.",
    warnings=("The groups must not have running consumers.",),
)
REMOVE_DUPLICATES: Final = action(
    "A10",
    "remove-duplicates",
    short="remove the duplicates downstream; switch the producer to idempotence",
    explanation="Kafka stores every batch that it gets. With enable.idempotence=true, the "
    "default since 3.0, the broker drops batches that a producer sends again.",
)
KEEP_OLD_SEGMENTS: Final = action(
    "A37",
    "keep-old-segments",
    short="before {where} {are} started, set log.retention.ms=-1 in {their} server.properties, and "
    "retention.ms=-1 for a topic that has a retention of its own; restore both when the records "
    "are safe",
    explanation="Retention first runs 30 s after a start and deletes every closed segment whose "
    "largest timestamp is older than the setting allows, also while nobody has read the records "
    "yet. With -1 it deletes nothing.",
    warnings=(
        "retention.bytes, if it is set, deletes by size, whatever retention.ms says.",
        "A topic's own setting can be changed while only the controllers run (release 3.7 or "
        "later). Before, change it with --bootstrap-server within 30 s after the first broker "
        "has started; with ZooKeeper it is in /config/topics/TOPIC.",
    ),
    command="kafka-configs.sh --bootstrap-controller CONTROLLER:9093 --alter --entity-type topics "
    "--entity-name TOPIC --add-config retention.ms=-1",
)
ADJUST_TIMES: Final = action(
    "A19",
    "adjust-times",
    short="adjust the topic's retention or timestamp settings",
    explanation="Retention by time uses the largest timestamp of a segment. A timestamp far in "
    "the future keeps the segment, and all later ones, for that long. "
    "message.timestamp.after.max.ms refuses such records from 3.6 on.",
)
DELETE_RECORDS_AGAIN: Final = action(
    "A41",
    "delete-records-again",
    short="leave leader-epoch-checkpoint as it is: it may be the only file that shows the newer "
    "log start; if records were deleted by kafka-delete-records.sh, delete them again once the "
    "brokers run",
    explanation="A broker removes the entries below the log start from leader-epoch-checkpoint at "
    "once, and writes log-start-offset-checkpoint a minute later or at shutdown. A start takes the "
    "log start from the latter: deleted records come back if their segment is still there.",
    command="kafka-delete-records.sh --bootstrap-server HOST:9092 --offset-json-file FILE",
)
LET_UPLOADS_GO_ON: Final = action(
    "A58",
    "let-uploads-go-on",
    short="let a replica lead that has these snapshots; if none has, reassign the partition to a "
    "broker without a copy of it, and let that one lead once it is in sync",
    explanation="A broker that fetches a partition writes a snapshot whenever it begins a segment, "
    "so that a copy that is fetched anew has all of them. Until then, the disk needs room: what is "
    "not uploaded is not deleted.",
    warnings=(
        "Do not delete the copy that leads: it has the only records that are not uploaded, "
        "together with its followers.",
        "Moving .snapshot files aside (A30) leads to this where segments are not uploaded yet.",
    ),
    command="kafka-reassign-partitions.sh --bootstrap-server HOST:9092 "
    "--reassignment-json-file FILE --execute\n"
    "# with the new broker first among the replicas, once it is in sync:\n"
    "kafka-leader-election.sh --bootstrap-server HOST:9092 --election-type preferred "
    "--topic TOPIC --partition N",
)
NOTHING_TO_DO: Final = action(
    "A1",
    "nothing-to-do",
    short="nothing to do",
    explanation="It is shown because it explains another finding, or as information.",
)

ACTIONS: Final[Mapping[str, Action]] = MappingProxyType(declared())
"""Every action by its code, most urgent first."""
