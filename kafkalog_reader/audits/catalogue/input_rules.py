"""Rules about the input as a whole: what was supplied, what could be read (KL-0xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.actions import (
    CHECK_HARDWARE,
    COPY_AGAIN,
    KEEP_ONE_DIRECTORY,
    LEAVE_ONE_OUT,
    MOVE_STRANGE_NAME,
    NAME_REAL_PATH,
    NOTHING_TO_DO,
    RAISE_LIMIT,
    READ_WITH_PERMISSION,
    RENAME_FOLDER,
    RESTORE_IDENTITY,
    SUPPLY_WHAT_IS_MISSING,
    USE_NEWER_READER,
    USE_SUBFOLDER,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import NO_EFFECT, rule
from kafkalog_reader.audits.catalogue.traps import (
    COPIED_WHILE_RUNNING,
    LAGGING_FOLLOWER,
    NOT_A_LIVE_DIRECTORY,
    TOPIC_CREATED_AGAIN,
    UNKNOWN_FIELDS,
)

INPUT_CHANGED_DURING_READ: Final = rule(
    "KL-001",
    "input-changed-during-read",
    severity="L",
    title="a file changed while it was read",
    explanation="Size, modification time or identity of a file differed between the first look "
    "and the last. Another process writes to the input: usually it is the log directory of a "
    "running broker.",
    start=NO_EFFECT,
    election="The end of this replica may be out of date.",
    reader=NO_EFFECT,
    actions=(COPY_AGAIN,),
    lookalikes=(COPIED_WHILE_RUNNING,),
)
UNSAFE_PATH_SKIPPED: Final = rule(
    "KL-002",
    "unsafe-path-skipped",
    severity="M",
    title="a path was not opened because it may lead elsewhere",
    explanation="A symbolic link, device, pipe or socket stands where a file or folder of Kafka "
    "is expected. It was not opened, so its target was not read.",
    start="A broker follows links, and reads what was not read here.",
    election="A replica behind the link is missing from every comparison.",
    reader=NO_EFFECT,
    actions=(NAME_REAL_PATH,),
    roles=(Role.REPLICA_NOT_READ,),
)
HOSTILE_NAME: Final = rule(
    "KL-003",
    "hostile-name",
    severity="L",
    title="a name that Kafka does not write",
    explanation="A file or folder has a name outside Kafka's grammar: characters that no topic may "
    "have, a partition that is not a number, control or bidirectional characters. It is shown "
    "escaped. A folder that stops the start is high: often it is a partition's, which somebody "
    "renamed. So is a file that may be a missing segment, compressed or renamed by hand.",
    start="A broker does not start if a folder in its log directory does not have the name of a "
    "partition, or if a file with the suffix of a segment file does not begin with a number.",
    election=NO_EFFECT,
    reader=NO_EFFECT,
    actions=(MOVE_STRANGE_NAME, USE_SUBFOLDER),
    roles=(Role.BESIDE_THE_LOGS, Role.NEVER_SETTLED),
)
UNREADABLE_FILE: Final = rule(
    "KL-004",
    "unreadable-file",
    severity="H",
    title="a file could not be read",
    explanation="The operating system refused to open the file, or reading failed at a position. "
    "Unread data counts as neither sound nor damaged.",
    start="If the broker cannot read it either, it takes the whole log directory offline.",
    election="The replica may hold records that were not read here.",
    reader="Fetches of that data fail, and the broker takes the log directory offline.",
    actions=(CHECK_HARDWARE, READ_WITH_PERMISSION),
    roles=(Role.DAMAGE, Role.NOT_READ),
)
LIMIT_REACHED: Final = rule(
    "KL-005",
    "limit-reached",
    severity="M",
    title="a limit stopped the inspection",
    explanation="A limit on decompressed bytes, on work or on memory was reached. Data beyond it "
    "was not inspected, and does not count as sound.",
    start=NO_EFFECT,
    election="A candidate may lose fewer records than stated.",
    reader="A consumer has its own limits: it may fail on a batch that becomes too large when "
    "decompressed.",
    actions=(RAISE_LIMIT,),
)
UNKNOWN_VERSION: Final = rule(
    "KL-006",
    "unknown-version",
    severity="M",
    title="a version newer than this release knows",
    explanation="A magic, a codec, or the version of a checkpoint or snapshot is above what this "
    "release reads. Either the file is of a newer Kafka, or one byte of it is damaged. A magic 3 "
    "with batches of known magics after it is damage (KL-106).",
    start="A broker of the same age refuses a small file of an unknown version. It does not "
    "check the magic or the codec of a stored batch whose checksum is valid.",
    election="The content of the batch could not be compared.",
    reader="A consumer that does not know the codec or the magic fails at this offset.",
    actions=(USE_NEWER_READER,),
    lookalikes=(UNKNOWN_FIELDS,),
    roles=(Role.DAMAGE, Role.NOT_READ),
)
DUPLICATE_REPLICA_DIRECTORY: Final = rule(
    "KL-007",
    "duplicate-replica-directory",
    severity="H",
    title="one partition in two log directories of a broker",
    explanation="Two directories of one broker hold the same partition, and neither is the target "
    "of a move between disks (-future).",
    start="The broker refuses to start: it finds a duplicate log directory.",
    election="Until it starts, the broker cannot lead any partition.",
    reader=NO_EFFECT,
    actions=(KEEP_ONE_DIRECTORY,),
    lookalikes=(NOT_A_LIVE_DIRECTORY,),
    roles=(Role.PUT_TOGETHER_WRONGLY,),
)
MIXED_CLUSTERS: Final = rule(
    "KL-008",
    "mixed-clusters",
    severity="C",
    title="log directories of several clusters",
    explanation="Directories that were given as one broker have different cluster ids, or one "
    "random topic id or directory id appears in two clusters, so that one meta.properties has a "
    "wrong cluster.id. Offsets of two clusters are unrelated. It is high "
    "where brokers of two clusters have the same partition and all node ids differ: they look like "
    "one cluster. It is high, too, where brokers are here without a controller, and a controller "
    "of another cluster without brokers: it may be a new one that knows none of their topics.",
    start="A broker refuses to start with a meta.properties of another cluster.",
    election="No election can be predicted across clusters.",
    reader=NO_EFFECT,
    actions=(LEAVE_ONE_OUT, RESTORE_IDENTITY),
    roles=(Role.PUT_TOGETHER_WRONGLY,),
)
TOPIC_ID_MISMATCH: Final = rule(
    "KL-009",
    "topic-id-mismatch",
    severity="H",
    title="replicas of different topics with one name",
    explanation="partition.metadata names different topic ids. The topic was deleted and created "
    "again, and one of the copies is from the old one: by the metadata log, or else probably the "
    "one with older records. Its directory is then to be moved aside. It is medium where the "
    "metadata log shows which topic exists: its copies are compared without the old one.",
    start="A KRaft broker sets the directory with the outdated id aside as -stray and starts "
    "empty; before release 3.7 it deletes the directory, and follows only after one more start. In "
    "a cluster with ZooKeeper the broker keeps it, and never serves it.",
    election="The replica with the other id cannot follow or lead: it belongs to another topic.",
    reader=NO_EFFECT,
    actions=(LEAVE_ONE_OUT,),
    lookalikes=(TOPIC_CREATED_AGAIN,),
    roles=(Role.PUT_TOGETHER_WRONGLY,),
)
NOT_A_REPLICA_DIRECTORY: Final = rule(
    "KL-010",
    "not-a-replica-directory",
    severity="I",
    title="a directory that is not a live replica",
    explanation="A -delete, -stray or -future directory. It is counted by size and not compared. "
    "It is high where a start fails at it: a future copy beside its replica in one log directory, "
    "or damage in a folder that the broker loads although it serves nothing of it. It is high, "
    "too, if a cluster has no partitions but such that its brokers set "
    "aside (-stray), and medium if some partitions have no other folder. It is medium where "
    "-delete folders are newer than every live copy in a cluster with ZooKeeper: then the topic is "
    "being deleted, and only a broker that was down still has it.",
    start="-delete is removed shortly after the start; -stray is kept. -future continues to catch "
    "up; a KRaft broker (3.7 and later) puts it in the place of its replica if the metadata log "
    "has the replica in that log directory. It does not start where both are in one.",
    election=NO_EFFECT,
    reader=NO_EFFECT,
    actions=(NOTHING_TO_DO,),
    lookalikes=(NOT_A_LIVE_DIRECTORY,),
)
UNCLEAN_SHUTDOWN: Final = rule(
    "KL-011",
    "unclean-shutdown",
    severity="I",
    title="the broker was not shut down cleanly",
    explanation="The log directory has no clean-shutdown marker (.kafka_cleanshutdown). The broker "
    "crashed, was killed, or was running when the files were copied.",
    start="The start recovers every segment from the recovery point on: it reads all batches, "
    "rebuilds indexes and truncates at the first damaged one.",
    election="What was not flushed may be gone after a loss of power, but not after a kill of the "
    "process.",
    reader=NO_EFFECT,
    actions=(NOTHING_TO_DO,),
    lookalikes=(COPIED_WHILE_RUNNING,),
)
REPLICA_NOT_SUPPLIED: Final = rule(
    "KL-012",
    "replica-not-supplied",
    severity="M",
    title="a replica that was not supplied",
    explanation="By the metadata log, or by other partitions of the topic, another broker should "
    "hold a replica, but its files are not among the inputs. It is high if no in-sync replica was "
    "supplied, or if copies are compared without that of the leader. Low if only other partitions "
    "suggest it: after a reassignment, partitions of a topic may have different numbers of "
    "replicas. Partitions of which no copy at all was supplied are named together, once for a "
    "cluster. That is high, too, unless only one broker was supplied, with at most one controller, "
    "and its copies are in sync.",
    start=NO_EFFECT,
    election="The missing replica may be the best leader, or hold the only copy of records. "
    "Predictions are possible, not proven.",
    reader=NO_EFFECT,
    actions=(SUPPLY_WHAT_IS_MISSING,),
    roles=(Role.REPLICA_NOT_READ, Role.BESIDE_THE_LOGS, Role.BY_FOLDER_NAME),
)
COPIES_TAKEN_AT_DIFFERENT_TIMES: Final = rule(
    "KL-013",
    "copies-taken-at-different-times",
    severity="I",
    title="copies taken one after another",
    explanation="The logs differ like copies of running brokers that were taken at different "
    "times: one is a prefix of the other, with the same leader epochs.",
    start=NO_EFFECT,
    election="The lag that the copies show may not be real.",
    reader=NO_EFFECT,
    actions=(COPY_AGAIN,),
    lookalikes=(COPIED_WHILE_RUNNING, LAGGING_FOLLOWER),
)
FOLDER_OF_ANOTHER_PARTITION: Final = rule(
    "KL-014",
    "folder-of-another-partition",
    severity="C",
    title="a folder has the name of another partition",
    explanation="A folder was renamed, or two folders were exchanged. Either the metadata log has "
    "no such partition on this broker, and the broker lacks the folder of another one of the same "
    "topic id; or, without a metadata log, the checkpoints name that other one, of which other "
    "brokers hold the same batches; or the first batches are those that the other brokers have in "
    "another partition, and not those of their copies of this one; or partition.metadata has "
    "the topic id of another topic; or two logs each end at the recovery point of the other after "
    "a clean shutdown, which needs no other copy. Findings that follow from the wrong name are "
    "left out.",
    start="A broker trusts the name: it renames a folder that is not assigned to it to -stray and "
    "creates an empty replica of the other partition, or it serves the records of one partition as "
    "those of another.",
    election="A copy of other records can be elected, and the other replicas truncate to its end.",
    reader="If that copy leads, consumers get the records of another partition.",
    actions=(RENAME_FOLDER,),
    roles=(Role.PUT_TOGETHER_WRONGLY,),
)
