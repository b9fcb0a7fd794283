"""The traps: innocent situations that look like faults, and what tells them apart."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.trap import declared, trap

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.audits.catalogue.trap import Trap

COPIED_WHILE_RUNNING: Final = trap(
    "T01",
    "copied-while-running",
    situation="The files were copied while the broker ran.",
    looks="A torn last batch, log ends that differ between replicas, checkpoints ahead of or "
    "behind the log.",
    how_to_tell="There is no clean-shutdown marker, only the last segment is affected, and a "
    "second copy does not show it.",
)
LAGGING_FOLLOWER: Final = trap(
    "T02",
    "lagging-follower",
    situation="A follower has not fetched everything yet.",
    looks="A shorter log.",
    how_to_tell="It is a byte-for-byte prefix of the longer one, and no other replica has a newer "
    "leader epoch that starts below its end.",
)
RETENTION_AT_OTHER_TIMES: Final = trap(
    "T03",
    "retention-at-other-times",
    situation="Retention ran at different times on the replicas.",
    looks="Logs that begin at different segments.",
    how_to_tell="Above the largest log start offset they are equal.",
)
LOG_START_IN_A_BATCH: Final = trap(
    "T04",
    "log-start-in-a-batch",
    situation="kafka-delete-records moved the log start into the middle of a batch.",
    looks="The first batch begins below the log start; on a new follower the first segment is "
    "named after the batch (KAFKA-6975).",
    how_to_tell="Only the first batch of the log is concerned.",
)
COMPACTED_FURTHER: Final = trap(
    "T05",
    "compacted-further",
    situation="The log cleaner has gone further on one replica.",
    looks="Missing records, batches with fewer records, other checksums and sizes, gaps.",
    how_to_tell="The cleaner never merges batches, and keeps base offset, last offset, producer "
    "id, producer epoch, base sequence and leader epoch of each.",
)
DELETE_HORIZON: Final = trap(
    "T06",
    "delete-horizon",
    situation="The log cleaner rewrote a batch to set its delete horizon (KIP-534), without "
    "removing a record.",
    looks="Another checksum, another base timestamp, and attribute bit 6.",
    how_to_tell="The decoded records are equal.",
)
TOMBSTONE_EXPIRED: Final = trap(
    "T07",
    "tombstone-expired",
    situation="Tombstones and transaction markers expire at different times on the replicas.",
    looks="A record with a null value, or a marker, that only one replica has.",
    how_to_tell="It is older than delete.retention.ms.",
)
EMPTY_BATCH_KEPT: Final = trap(
    "T08",
    "empty-batch-kept",
    situation="The log cleaner keeps the header of an empty batch, to preserve a producer's last "
    "sequence or the last offset.",
    looks="A batch with a record count of 0 and a base timestamp of -1.",
    how_to_tell="It is in a compacted log, and its offsets continue those around it.",
)
TIERED_STORAGE: Final = trap(
    "T09",
    "tiered-storage",
    situation="Older segments are in remote storage only.",
    looks="A replica that begins very late, and a log start far below its first segment.",
    how_to_tell="The topic has remote.storage.enable=true; only local ranges can be compared.",
)
PREALLOCATED: Final = trap(
    "T10",
    "preallocated",
    situation="Files are preallocated, and the broker did not trim them before it stopped.",
    looks="Zero entries at the end of an index, or zero bytes at the end of the active segment.",
    how_to_tell="They are only zeros, only at the end, and only in the last segment.",
)
ONE_ENTRY_AN_APPEND: Final = trap(
    "T11",
    "one-entry-an-append",
    situation="An index gets one entry for several batches that are appended together, as "
    "followers and the log cleaner do (KAFKA-806).",
    looks="An entry holds the last offset of the last batch and the position of the first.",
    how_to_tell="A lookup of that offset still finds the batch. kafka-dump-log reports these "
    "entries as mismatches.",
)
TIME_INDEX_OFFSETS: Final = trap(
    "T12",
    "time-index-offsets",
    situation="What the offset of a time-index entry means changed between releases (KAFKA-16310).",
    looks="It is the last offset of a batch, or the offset of the record with the largest "
    "timestamp (3.6 and 3.7).",
    how_to_tell="The offset is within the range of a batch.",
)
ELECTED_AND_WROTE_NOTHING: Final = trap(
    "T13",
    "elected-and-wrote-nothing",
    situation="A leader writes its leader epoch to the checkpoint when it is elected, before any "
    "record.",
    looks="A last entry that only one replica has.",
    how_to_tell="The entry begins at the log end, and no batch carries it. Followers learn of it "
    "with the first record.",
)
EPOCHS_REMOVED_LATER: Final = trap(
    "T14",
    "epochs-removed-later",
    situation="Removals from leader-epoch-checkpoint are written later than additions.",
    looks="After an unclean stop, entries above the log end or below the log start.",
    how_to_tell="The next start removes them.",
)
FIRST_EPOCH_CLIPPED: Final = trap(
    "T15",
    "first-epoch-clipped",
    situation="The first entry of leader-epoch-checkpoint is clipped to the log start.",
    looks="One leader epoch that starts at different offsets on two replicas.",
    how_to_tell="The starts are equal once both are raised to the larger of the two log starts.",
)
OLD_HIGH_WATERMARK: Final = trap(
    "T16",
    "old-high-watermark",
    situation="High watermarks are written every 5 seconds, and a follower's trails by one fetch.",
    looks="Different high watermarks, all below the log end.",
    how_to_tell="Only a high watermark above the log end means something.",
)
RECOVERY_POINT_BEHIND: Final = trap(
    "T17",
    "recovery-point-behind",
    situation="Recovery points move only when something is flushed, by default when a segment is "
    "closed.",
    looks="A recovery point far below the log end.",
    how_to_tell="It is the base offset of the last segment.",
)
NO_ROW: Final = trap(
    "T18",
    "no-row",
    situation="Checkpoints have no row where there is nothing special.",
    looks="No log-start row, no cleaner row.",
    how_to_tell="The log start is that of the first segment; the log was not compacted.",
)
SEGMENTS_ROLL_APART: Final = trap(
    "T19",
    "segments-roll-apart",
    situation="Replicas roll segments at different times.",
    looks="Different segment names and sizes on each replica.",
    how_to_tell="The batches are the same.",
)
MARKER_WITHOUT_DATA: Final = trap(
    "T20",
    "marker-without-data",
    situation="A partition was added to a transaction and nothing was written to it.",
    looks="A commit or abort marker without data.",
    how_to_tell="It is legal.",
)
NO_SEQUENCE_NUMBERS: Final = trap(
    "T21",
    "no-sequence-numbers",
    situation="Group coordinators write transactional batches without sequence numbers.",
    looks="A producer id with a base sequence of -1 in __consumer_offsets.",
    how_to_tell="It is legal in that topic.",
)
PRODUCER_STATE_EXPIRED: Final = trap(
    "T22",
    "producer-state-expired",
    situation="The broker forgets producers that were silent for long, or whose records "
    "retention has deleted.",
    looks="The first batch of a producer has any sequence number.",
    how_to_tell="Only the first batch of each producer id and producer epoch is concerned.",
)
TOPIC_CREATED_AGAIN: Final = trap(
    "T23",
    "topic-created-again",
    situation="The topic was deleted and created again.",
    looks="The same name with other content, offsets from 0 on, and consumer groups beyond the "
    "log end.",
    how_to_tell="partition.metadata has another topic id. Releases before 2.8 have none: there the "
    "times of the records show when the topic was created.",
)
NOT_A_LIVE_DIRECTORY: Final = trap(
    "T24",
    "not-a-live-directory",
    situation="A directory ends in -delete, -stray or -future.",
    looks="A second copy of a partition.",
    how_to_tell="It is not a live replica: it waits to be removed, was set aside, or is moving "
    "between disks.",
)
OLD_MESSAGE_FORMAT: Final = trap(
    "T25",
    "old-message-format",
    situation="Messages of format 0 and 1 carry no leader epoch.",
    looks="A leader epoch of -1.",
    how_to_tell="The magic of the batch is below 2; truncation goes by the high watermark.",
)
RECENTLY_ASSIGNED: Final = trap(
    "T26",
    "recently-assigned",
    situation="The replica was added by a recent reassignment.",
    looks="It begins late, has few segments, and its leader epochs begin with its first batch.",
    how_to_tell="Above its log start it equals the others.",
)
ABORTED_STARTS_DIFFER: Final = trap(
    "T27",
    "aborted-starts-differ",
    situation="Replicas that began to copy at different times list aborted transactions with "
    "different first offsets.",
    looks="Entries of transaction indexes that differ.",
    how_to_tell="Producer id and last offset are equal.",
)
CONTROL_BATCH: Final = trap(
    "T28",
    "control-batch",
    situation="Control batches do not hold user data.",
    looks="Binary keys and values, in a partition that does not match the key.",
    how_to_tell="The control bit is set in the attributes of the batch.",
)
METADATA_PARTITION: Final = trap(
    "T29",
    "metadata-partition",
    situation="__cluster_metadata-0 follows the rules of the controllers' quorum.",
    looks="No high watermark row, snapshots instead of the beginning, other truncation.",
    how_to_tell="It is the topic with that name.",
)
LOG_APPEND_TIME: Final = trap(
    "T30",
    "log-append-time",
    situation="The broker sets the timestamps of records (message.timestamp.type=LogAppendTime).",
    looks="Batches that a producer sent again differ in timestamp and checksum.",
    how_to_tell="Attribute bit 3 is set, and the rest is equal.",
)
MOVED_BETWEEN_DISKS: Final = trap(
    "T31",
    "moved-between-disks",
    situation="A replica was moved between the disks of its broker.",
    looks="A leader epoch without records is missing from the checkpoint (KAFKA-15608).",
    how_to_tell="The replica holds every record of its epochs.",
)
MIXED_FORMATS: Final = trap(
    "T32",
    "mixed-formats",
    situation="A follower that receives a message of format 0 or 1 clears its leader epochs on "
    "purpose.",
    looks="An empty leader-epoch-checkpoint.",
    how_to_tell="The log holds messages of an old format.",
)
COPIED_AGAIN: Final = trap(
    "T33",
    "copied-again",
    situation="A follower fell behind the leader's log start and copied the log again.",
    looks="Its first segment begins at the leader's log start, and nothing is before it.",
    how_to_tell="Above its log start it equals the others.",
)
OFFSETS_FAR_APART: Final = trap(
    "T34",
    "offsets-far-apart",
    situation="A heavily compacted topic was copied from the start.",
    looks="Adjacent batches whose offsets are more than 2,147,483,647 apart.",
    how_to_tell="The segment is named after the first batch in it.",
)
BEGINS_AT_TIERED_OFFSET: Final = trap(
    "T35",
    "begins-at-a-tiered-offset",
    situation="A new follower of a tiered topic begins at the first offset that is not in remote "
    "storage yet (KIP-1023, follower.fetch.last.tiered.offset.enable, from 4.3 on).",
    looks="It begins far above the leader's first segment, or is empty and begins at the leader's "
    "log end. Its log start offset and its leader epochs lie far below its first segment.",
    how_to_tell="The topic has remote.storage.enable=true, and above its first segment the "
    "follower equals the leader.",
)
LARGER_THAN_SEGMENT_BYTES: Final = trap(
    "T36",
    "larger-than-segment-bytes",
    situation="segment.bytes was lowered after the segment was written. Old segments keep their "
    "size, and the active one is closed by the next append.",
    looks="Segments that are larger than segment.bytes of the topic.",
    how_to_tell="Every batch in them is sound, and newer segments are within the limit.",
)
UNKNOWN_FIELDS: Final = trap(
    "T37",
    "unknown-fields",
    situation="A newer release added a field that older ones skip: a tagged field of a record in "
    "__cluster_metadata (KIP-482), or a key in meta.properties, quorum-state or the clean-shutdown "
    "marker.",
    looks="Bytes or keys that this release does not know.",
    how_to_tell="The version of the file or record is a known one. A higher version is KL-006.",
)
CLEANED_BEFORE_COPIED: Final = trap(
    "T38",
    "cleaned-before-copied",
    situation="The cleaner removed the first batches of a leader epoch before a follower fetched "
    "them: the follower was away, or was created later.",
    looks="Its leader-epoch-checkpoint has that epoch later than the leader's has it.",
    how_to_tell="The follower has no batch between the two offsets, and from the later one on both "
    "have the same.",
)

TRAPS: Final[Mapping[str, Trap]] = MappingProxyType(declared())
"""Every trap by its code."""
