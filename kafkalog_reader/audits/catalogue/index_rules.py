"""Rules about offset, time and transaction indexes (KL-2xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.actions import (
    NOTHING_TO_DO,
    REBUILD_INDEX,
    REBUILT_AT_START,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import NO_EFFECT, rule
from kafkalog_reader.audits.catalogue.traps import (
    COMPACTED_FURTHER,
    COPIED_WHILE_RUNNING,
    ONE_ENTRY_AN_APPEND,
    PREALLOCATED,
    TIME_INDEX_OFFSETS,
)

INDEX_MISSING: Final = rule(
    "KL-201",
    "index-missing",
    severity="L",
    title="an index file is missing",
    explanation="A log segment has no .index or no .timeindex beside it. Indexes are derived from "
    "the log: no record is missing.",
    start="Without .index the start recovers the segment and rebuilds all of its indexes; it "
    "truncates the segment at a damaged batch. If only .timeindex is missing, it creates an "
    "empty one.",
    election=NO_EFFECT,
    reader="With an empty time index, a search by time begins at the start of the segment, and "
    "retention by time uses the file's modification time.",
    actions=(REBUILT_AT_START,),
)
INDEX_SIZE_ODD: Final = rule(
    "KL-202",
    "index-size-odd",
    severity="M",
    title="the size of an index is odd",
    explanation="The file's size is not a multiple of its entry size, 8 bytes for .index and 12 "
    "for .timeindex.",
    start="Releases before 2.3 rebuild the index. Newer ones do not check it, and ignore the "
    "bytes of the incomplete entry.",
    election=NO_EFFECT,
    reader="Lookups may start at a wrong position.",
    actions=(REBUILD_INDEX,),
    lookalikes=(COPIED_WHILE_RUNNING,),
)
INDEX_NOT_RISING: Final = rule(
    "KL-203",
    "index-not-rising",
    severity="M",
    title="an offset index does not rise",
    explanation="Offsets of the index do not rise from entry to entry, or positions fall, before "
    "its zero tail.",
    start="After a clean shutdown the broker uses the last entry of the last segment's index to "
    "find the log end. It does not check the indexes of older segments.",
    election="A log end misjudged because of it can make this replica truncate.",
    reader="A lookup by offset is a binary search: it may start after the requested record and "
    "miss it.",
    actions=(REBUILD_INDEX,),
    lookalikes=(PREALLOCATED,),
    roles=(Role.MISLEADS_LOG_END,),
)
INDEX_POINTS_PAST_LOG: Final = rule(
    "KL-204",
    "index-points-past-log",
    severity="H",
    title="an index points past the log",
    explanation="An entry's position is at or beyond the end of the log file, or of its sound "
    "part.",
    start="In the last segment, after a clean shutdown, the broker may see a wrong log end.",
    election="A log end misjudged because of it can make this replica truncate.",
    reader="A fetch that uses the entry finds nothing.",
    actions=(REBUILD_INDEX,),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(Role.FOLLOWS_IN_SEGMENT, Role.MISLEADS_LOG_END, Role.UNLIKE_ITS_LOG),
)
INDEX_NOT_ON_A_BATCH: Final = rule(
    "KL-205",
    "index-not-on-a-batch",
    severity="H",
    title="an index points into a batch",
    explanation="An entry's position is not where a batch begins.",
    start="In the last segment, after a clean shutdown, the broker may take a wrong log end.",
    election="A log end misjudged because of it can make this replica truncate.",
    reader="A fetch that uses the entry reads garbage as a header, and fails.",
    actions=(REBUILD_INDEX,),
    roles=(Role.FOLLOWS_IN_SEGMENT, Role.MISLEADS_LOG_END, Role.UNLIKE_ITS_LOG),
)
INDEX_SKIPS_RECORDS: Final = rule(
    "KL-206",
    "index-skips-records",
    severity="H",
    title="an index skips records",
    explanation="An entry points past a batch that reaches its offset, so a lookup of that "
    "offset starts too late. An entry with the position of the first of several batches that "
    "were appended together is not reported.",
    start="In the last segment, after a clean shutdown, the broker may take a wrong log end.",
    election=NO_EFFECT,
    reader="A consumer that seeks to such an offset silently misses records.",
    actions=(REBUILD_INDEX,),
    roles=(Role.FOLLOWS_IN_SEGMENT, Role.MISLEADS_LOG_END, Role.UNLIKE_ITS_LOG),
)
INDEX_ZERO_TAIL: Final = rule(
    "KL-207",
    "index-zero-tail",
    severity="I",
    title="an index ends in zeros",
    explanation="Index files are preallocated while the broker runs, and trimmed when the segment "
    "is closed or the broker stops. Zeros at the end are the untrimmed part.",
    start="A recovery rebuilds the index. With a clean-shutdown marker a time index with zeros at "
    "its end is read as time 0 (KL-418).",
    election=NO_EFFECT,
    reader=NO_EFFECT,
    actions=(NOTHING_TO_DO,),
    lookalikes=(PREALLOCATED,),
    roles=(Role.ZERO_TIMES,),
)
INDEX_SPARSE: Final = rule(
    "KL-208",
    "index-sparse",
    severity="I",
    title="an index is sparse",
    explanation="The index has far fewer entries than the interval suggests (index.interval.bytes, "
    "4,096 by default).",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="Fetches scan further before they find an offset.",
    actions=(NOTHING_TO_DO,),
    lookalikes=(ONE_ENTRY_AN_APPEND,),
)
ORPHAN_INDEX: Final = rule(
    "KL-209",
    "orphan-index",
    severity="L",
    title="an index without a log",
    explanation="No log file has the base offset of an index file. Kafka deletes the oldest "
    "segments first, so an index above the last log means that a log was lost (medium); so may "
    "one below the first log, where the other copies' logs do not begin later.",
    start="The start deletes it.",
    election=NO_EFFECT,
    reader=NO_EFFECT,
    actions=(NOTHING_TO_DO,),
    roles=(Role.LEFT_BEHIND,),
)
TIME_INDEX_NOT_RISING: Final = rule(
    "KL-210",
    "time-index-not-rising",
    severity="M",
    title="a time index does not rise",
    explanation="Timestamps do not rise from entry to entry, or offsets fall, before the zero "
    "tail.",
    start="The last entry of each segment's time index becomes its largest timestamp, by which "
    "retention deletes.",
    election=NO_EFFECT,
    reader="A search by time may return a wrong offset.",
    actions=(REBUILD_INDEX,),
    lookalikes=(PREALLOCATED,),
    roles=(Role.ZERO_TIMES,),
)
TIME_INDEX_SKIPS_RECORDS: Final = rule(
    "KL-211",
    "time-index-skips-records",
    severity="M",
    title="a time index skips records",
    explanation="An entry says that no batch up to its offset has a later timestamp, but one has.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="A search by time begins too late and misses records.",
    actions=(REBUILD_INDEX,),
    lookalikes=(TIME_INDEX_OFFSETS,),
    roles=(Role.FOLLOWS_IN_SEGMENT, Role.UNLIKE_ITS_LOG),
)
TIME_INDEX_OFFSET_UNKNOWN: Final = rule(
    "KL-212",
    "time-index-offset-unknown",
    severity="L",
    title="a time index names an unknown offset",
    explanation="The offset of an entry is in no batch of the segment. Releases differ in which "
    "offset of a batch they write, but all write one that a batch covers.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="A search by time may begin at a wrong place.",
    actions=(REBUILD_INDEX,),
    lookalikes=(COMPACTED_FURTHER, TIME_INDEX_OFFSETS),
    roles=(Role.FOLLOWS_IN_SEGMENT, Role.UNLIKE_ITS_LOG),
)
TRANSACTION_INDEX_MALFORMED: Final = rule(
    "KL-213",
    "transaction-index-malformed",
    severity="H",
    title="a transaction index is malformed",
    explanation="The file's size is not a multiple of 34, or entries have an unknown version, "
    "fall, or end below the segment's base. The file has no checksum.",
    start="The start recovers the segment if an entry is below its base, and ends the broker at "
    "an entry with an unknown version. Nothing else is checked.",
    election=NO_EFFECT,
    reader="Consumers with read_committed may see records of aborted transactions, or miss "
    "committed ones.",
    actions=(REBUILD_INDEX,),
    lookalikes=(COPIED_WHILE_RUNNING,),
)
TIME_INDEX_LAST_ENTRY_LOW: Final = rule(
    "KL-214",
    "time-index-last-entry-low",
    severity="L",
    title="a time index ends too early",
    explanation="The last entry of a closed segment is earlier than the segment's largest "
    "timestamp, as after a crash before the segment was closed.",
    start="Retention by time uses the last entry and may delete the segment too early.",
    election=NO_EFFECT,
    reader="A search by time may begin too late.",
    actions=(REBUILD_INDEX,),
    roles=(Role.FOLLOWS_IN_SEGMENT,),
)
TIME_INDEX_LAST_ENTRY_HIGH: Final = rule(
    "KL-215",
    "time-index-last-entry-high",
    severity="M",
    title="a time index ends too late",
    explanation="The last entry is later than any timestamp of the segment's batches.",
    start="Retention by time keeps the segment, and all later ones, for too long.",
    election=NO_EFFECT,
    reader="A search by time may begin at a wrong place.",
    actions=(REBUILD_INDEX,),
    lookalikes=(PREALLOCATED,),
    roles=(Role.FOLLOWS_IN_SEGMENT, Role.UNLIKE_ITS_LOG),
)
