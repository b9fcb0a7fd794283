"""Rules about record batches and their records (KL-1xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.actions import (
    ADJUST_TIMES,
    CHECK_HARDWARE,
    COMPARE_REPLICAS,
    COPY_AGAIN,
    DO_NOT_START,
    NOTHING_TO_DO,
    PUT_BITS_BACK,
    REPORT_DEFECT,
    SAVE_RECORDS,
    WRITE_EPOCHS,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import NO_EFFECT, rule
from kafkalog_reader.audits.catalogue.traps import (
    COMPACTED_FURTHER,
    COPIED_AGAIN,
    COPIED_WHILE_RUNNING,
    DELETE_HORIZON,
    EMPTY_BATCH_KEPT,
    LOG_APPEND_TIME,
    LOG_START_IN_A_BATCH,
    MIXED_FORMATS,
    OFFSETS_FAR_APART,
    OLD_MESSAGE_FORMAT,
    PREALLOCATED,
)

BATCH_CRC_MISMATCH: Final = rule(
    "KL-101",
    "batch-crc-mismatch",
    severity="C",
    title="the checksum of a batch is wrong",
    explanation="The stored CRC differs from that of the bytes it covers. Every record of the "
    "batch is in doubt; if a single flipped bit explains the difference, the finding names it. "
    "Kafka never changes a stored batch in place, so disk, memory or the copy is at fault.",
    start="After an unclean stop the start truncates here if the segment is at or above the "
    "recovery point, and deletes all later segments. Otherwise it keeps the batch without "
    "checking it.",
    election="As leader this replica cannot serve the batch to followers. A follower that already "
    "holds the damage below its log end never fetches that offset again.",
    reader="Consumers with check.crcs=true, the default, stop here with a CorruptRecordException "
    "until they seek past the batch.",
    actions=(COMPARE_REPLICAS, CHECK_HARDWARE),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(
        Role.DAMAGE,
        Role.DAMAGED_BATCH,
        Role.FAILS_READERS,
        Role.MAY_STOP_RECOVERY,
        Role.HIGH_WITH_PEER,
    ),
)
BATCH_LENGTH_IMPOSSIBLE: Final = rule(
    "KL-102",
    "batch-length-impossible",
    severity="H",
    title="the length of a batch is impossible",
    explanation="The length field is below the minimum of the format, negative, or points past the "
    "end of a segment that is not the last. The checksum does not cover it. Kafka's own reader "
    "stops silently if a length points past the end of the file, which hides everything after it.",
    start="A recovery truncates here. A start without recovery keeps the damage.",
    election="As leader this replica cannot serve offsets after the damage.",
    reader="Consumers get nothing from this offset on, or an error, although sound batches may "
    "follow.",
    actions=(DO_NOT_START, COMPARE_REPLICAS),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(Role.DAMAGE, Role.DAMAGED_BATCH, Role.FAILS_READERS, Role.MAY_STOP_RECOVERY),
)
TORN_TAIL: Final = rule(
    "KL-103",
    "torn-tail",
    severity="L",
    title="a segment ends within a batch",
    explanation="The file ends before the batch does. At the end of the last segment a crash, or "
    "a copy of a running broker, leaves this; in an older segment it is damage.",
    start="A recovery removes the incomplete batch. After a clean shutdown it stays in the file, "
    "and new records are appended after it.",
    election="The batch was not complete on this replica, so it cannot have been acknowledged by "
    "it.",
    reader="Consumers do not see an incomplete batch. Once others are appended after it, they "
    "fail there.",
    actions=(COPY_AGAIN, COMPARE_REPLICAS),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(Role.DAMAGE, Role.TAIL, Role.MAY_STOP_RECOVERY),
)
ZERO_TAIL: Final = rule(
    "KL-104",
    "zero-tail",
    severity="M",
    title="the log ends in zeros",
    explanation="Only zero bytes from a position to the end of the file. With preallocation they "
    "are normal in the last segment while the broker runs; after a loss of power they replace "
    "data that was never written.",
    start="A recovery removes them. With a clean-shutdown marker the broker may fail to find the "
    "log end, and to load the log.",
    election="Records that the zeros replaced are missing on this replica.",
    reader="Nothing can be read from the zeros on.",
    actions=(COMPARE_REPLICAS,),
    lookalikes=(PREALLOCATED,),
    roles=(Role.DAMAGE, Role.TAIL),
)
UNREADABLE_REGION: Final = rule(
    "KL-105",
    "unreadable-region",
    severity="H",
    title="bytes that are not a batch",
    explanation="From a position on no batch can be parsed, and sound batches follow later. The "
    "finding names the first sound position after it.",
    start="A recovery truncates here and so removes everything after it. Without recovery the "
    "damage stays.",
    election="The offsets in the region cannot come from this replica.",
    reader="Consumers fail at this offset, and never reach the sound batches after it unless "
    "they seek.",
    actions=(COMPARE_REPLICAS, SAVE_RECORDS, CHECK_HARDWARE),
    roles=(Role.DAMAGE, Role.FAILS_READERS, Role.MAY_STOP_RECOVERY),
)
MAGIC_IMPOSSIBLE: Final = rule(
    "KL-106",
    "magic-impossible",
    severity="H",
    title="the magic of a batch is impossible",
    explanation="The header is plausible except for its magic, which is not 0, 1 or 2. The "
    "checksum of format 2 does not cover the magic.",
    start="A recovery treats any magic above 2 as 2 and keeps the batch. A batch whose magic "
    "became 0 or 1 fails the checksum and is truncated.",
    election=NO_EFFECT,
    reader="Consumers may refuse the batch, or read it as the format that it names.",
    actions=(COMPARE_REPLICAS,),
    roles=(Role.DAMAGE, Role.DAMAGED_BATCH, Role.MAY_STOP_RECOVERY),
)
HEADER_CONTRADICTION: Final = rule(
    "KL-107",
    "header-contradiction",
    severity="H",
    title="a header contradicts itself",
    explanation="The checksum is valid, but fields contradict each other: a record count that "
    "does not fit the last offset, a producer epoch without a producer id, a control batch that "
    "does not have one record, reserved attribute bits. The batch was written that way.",
    start="A recovery checks the checksum, not these fields, and keeps the batch unless its "
    "offsets break the index.",
    election="Replicas copy the batch unchanged, so all of them should have it.",
    reader="Consumers may fail on the batch, skip records or see wrong offsets.",
    actions=(REPORT_DEFECT,),
    lookalikes=(EMPTY_BATCH_KEPT,),
    roles=(Role.DAMAGE, Role.DAMAGED_BATCH, Role.MAY_STOP_RECOVERY, Role.FOLLOWS_IN_SEGMENT),
)
RECORD_UNDECODABLE: Final = rule(
    "KL-108",
    "record-undecodable",
    severity="H",
    title="a record cannot be decoded",
    explanation="The checksum is valid, but decompression fails or a record's lengths do not fit "
    "its batch. The content was bad before the checksum was computed.",
    start="A recovery does not decode records, and keeps the batch. The log cleaner does, and "
    "stops cleaning the partition.",
    election="Every replica that fetched the batch has it.",
    reader="Consumers fail at this offset until they seek past it.",
    actions=(SAVE_RECORDS, REPORT_DEFECT),
    roles=(Role.DAMAGE,),
)
RECORD_COUNT_MISMATCH: Final = rule(
    "KL-109",
    "record-count-mismatch",
    severity="H",
    title="the record count is wrong",
    explanation="Decoding gives another number of records than the header states, or offset "
    "deltas do not rise. The checksum is valid.",
    start=NO_EFFECT,
    election="Every replica that fetched the batch has it.",
    reader="Consumers may stop with an error, or miss records of this batch.",
    actions=(REPORT_DEFECT,),
    lookalikes=(COMPACTED_FURTHER,),
)
OFFSET_REGRESSION: Final = rule(
    "KL-110",
    "offset-regression",
    severity="C",
    title="offsets fall",
    explanation="A batch starts at or below the last offset of the batch before it. The checksum "
    "does not cover the base offset, so a flipped bit is one cause; a batch written twice, or "
    "two logs in one file, are others.",
    start="A recovery that reads the segment empties it, and deletes all later ones, if an index "
    "entry would have to fall.",
    election="The end of this log may be misjudged.",
    reader="Consumers may get records twice, or miss some: a fetch by offset stops at the first "
    "batch that reaches it.",
    actions=(DO_NOT_START, SAVE_RECORDS, CHECK_HARDWARE),
    lookalikes=(LOG_START_IN_A_BATCH,),
    roles=(Role.DAMAGE, Role.DAMAGED_BATCH, Role.MAY_STOP_RECOVERY, Role.FOLLOWS_IN_SEGMENT),
)
OFFSET_GAP: Final = rule(
    "KL-111",
    "offset-gap",
    severity="M",
    title="offsets are missing inside a segment",
    explanation="The next batch starts above the last offset plus one. The batches around it do "
    "not show compaction. The finding is high if another copy has the range, or if no copy has it "
    "and compaction cannot explain it: those records are lost.",
    start="A start does not check for gaps.",
    election="A replica that has the range keeps it if it leads. Followers do not fetch below "
    "their log end.",
    reader="Consumers skip the gap without an error.",
    actions=(COMPARE_REPLICAS,),
    lookalikes=(COMPACTED_FURTHER, COPIED_AGAIN, OFFSETS_FAR_APART),
    roles=(Role.DAMAGE, Role.GAP, Role.FOLLOWS_IN_SEGMENT),
)
LEADER_EPOCH_REGRESSION: Final = rule(
    "KL-112",
    "leader-epoch-regression",
    severity="H",
    title="the leader epoch falls",
    explanation="A batch carries a smaller leader epoch than one before it. The checksum does "
    "not cover the leader epoch, so a flipped bit is one cause.",
    start="A recovery rebuilds the epoch cache from the batches: a wrong epoch is added, or left "
    "out because it does not rise.",
    election="A wrong epoch lets followers truncate at the wrong offset.",
    reader="Consumers do not check it; offsets committed with this epoch may count as truncated.",
    actions=(COMPARE_REPLICAS, WRITE_EPOCHS),
    lookalikes=(OLD_MESSAGE_FORMAT,),
    roles=(Role.DAMAGE, Role.FOLLOWS_IN_SEGMENT),
)
TIMESTAMP_IMPLAUSIBLE: Final = rule(
    "KL-113",
    "timestamp-implausible",
    severity="L",
    title="a timestamp is implausible",
    explanation="The largest timestamp of a batch is more than a day later than the copy, below "
    "-1, or not that of its records.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="Searches by time find the wrong offset. Retention by time keeps the segment, and all "
    "later ones, until that time has passed.",
    actions=(ADJUST_TIMES,),
    lookalikes=(DELETE_HORIZON, LOG_APPEND_TIME),
)
SEGMENT_OFFSET_OVERFLOW: Final = rule(
    "KL-114",
    "segment-offset-overflow",
    severity="M",
    title="an offset does not fit its segment",
    explanation="An offset is more than 2,147,483,647 above the segment's base, which an index "
    "entry cannot hold (KAFKA-6264).",
    start="A recovery that reads the segment splits it. If it cannot be split, the broker does "
    "not start.",
    election=NO_EFFECT,
    reader=NO_EFFECT,
    actions=(NOTHING_TO_DO,),
    roles=(Role.DAMAGED_BATCH, Role.MAY_STOP_RECOVERY, Role.FOLLOWS_IN_SEGMENT),
)
INNER_MAGIC_MISMATCH: Final = rule(
    "KL-115",
    "inner-magic-mismatch",
    severity="M",
    title="inner messages of another magic",
    explanation="A compressed message of format 0 or 1 holds messages of another format "
    "(KAFKA-4298).",
    start=NO_EFFECT,
    election="Every replica that fetched the message has it.",
    reader="Old consumers may fail or misread offsets.",
    actions=(REPORT_DEFECT,),
)
OVERSIZED_BATCH: Final = rule(
    "KL-116",
    "oversized-batch",
    severity="I",
    title="a batch above the topic's size limit",
    explanation="The batch is larger than the topic's current max.message.bytes. It was accepted "
    "under another limit.",
    start=NO_EFFECT,
    election="Followers still fetch it: a fetch returns at least one batch.",
    reader="Consumers since 0.10.1 get it as well, whatever their fetch sizes.",
    actions=(NOTHING_TO_DO,),
)
MIXED_MESSAGE_FORMATS: Final = rule(
    "KL-117",
    "mixed-message-formats",
    severity="L",
    title="old and new message formats in one log",
    explanation="The log holds messages of format 0 or 1 as well as batches of format 2. Old "
    "messages carry no leader epoch.",
    start=NO_EFFECT,
    election="If the log ends in old messages, followers truncate to their high watermark and "
    "not by leader epoch, which can leave replicas different.",
    reader=NO_EFFECT,
    actions=(NOTHING_TO_DO,),
    lookalikes=(MIXED_FORMATS,),
)
REPEATED_PHYSICAL_BATCH: Final = rule(
    "KL-118",
    "repeated-physical-batch",
    severity="H",
    title="two batches at one offset",
    explanation="Two batches of one replica have the same base offset, identical or not.",
    start="A recovery that reads the segment empties it, and deletes all later ones, where an "
    "index entry would have to fall.",
    election="The copies may disagree on which of the two a consumer sees.",
    reader="Consumers may get both, or only the first.",
    actions=(SAVE_RECORDS, REPORT_DEFECT),
    roles=(Role.DAMAGE, Role.DAMAGED_BATCH, Role.MAY_STOP_RECOVERY, Role.FOLLOWS_IN_SEGMENT),
)
BASE_OFFSET_FLIPPED: Final = rule(
    "KL-119",
    "base-offset-flipped",
    severity="C",
    title="one bit of a base offset is flipped",
    explanation="No checksum covers the base offset of a batch. With one bit of it put back, the "
    "batch begins where the one before it ends, and ends where the next one begins: so that bit is "
    "wrong, and nothing else. Findings that follow from the wrong offset are left out.",
    start="A recovery that reads the segment empties it, and deletes all later ones, if an index "
    "entry would have to fall. Above the highest offset that an index can hold, the broker does "
    "not start.",
    election="The end of this log may be misjudged.",
    reader="Consumers do not get the records of the batch, or get them at wrong offsets.",
    actions=(PUT_BITS_BACK, CHECK_HARDWARE),
    roles=(Role.DAMAGE, Role.DAMAGED_BATCH),
)
