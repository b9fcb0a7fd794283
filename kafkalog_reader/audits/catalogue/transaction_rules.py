"""Rules about transactions (KL-7xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.actions import (
    ABORT_TRANSACTION,
    FORBID_UNCLEAN_ELECTION,
    REBUILD_INDEX,
    REPORT_DEFECT,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import NO_EFFECT, rule
from kafkalog_reader.audits.catalogue.traps import (
    COMPACTED_FURTHER,
    COPIED_WHILE_RUNNING,
    PRODUCER_STATE_EXPIRED,
)

LATE_TRANSACTION: Final = rule(
    "KL-702",
    "late-transaction",
    severity="H",
    title="a transaction is open for longer than any may be",
    explanation="A log has data of a transaction without a marker, and the log went on for longer "
    "than its timeout. Its coordinator should have aborted it, or nothing is known of its "
    "coordinator; where the coordinator has ended it, it is KL-703 or KL-710.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="Consumers with read_committed stop before it until it ends.",
    actions=(ABORT_TRANSACTION,),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(Role.OF_PRODUCERS,),
)
HANGING_TRANSACTION: Final = rule(
    "KL-703",
    "hanging-transaction",
    severity="C",
    title="a transaction hangs: nobody will end it",
    explanation="A log has data of a transaction without a marker. Its coordinator has no "
    "transaction of that producer, a later one, or one without this partition, and its timeout has "
    "long passed. Before it is aborted, other partitions must not have its commit marker. If the "
    "coordinator's log still shows how it ended, it is KL-710.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="Consumers with read_committed stop before it for ever, and a compacted topic is no "
    "longer cleaned from there on.",
    actions=(ABORT_TRANSACTION,),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(Role.OF_PRODUCERS,),
)
DATA_AFTER_MARKER: Final = rule(
    "KL-705",
    "data-after-marker",
    severity="H",
    title="data of a fenced producer follows the marker that fenced it",
    explanation="A transactional batch has a lower producer epoch than a marker of its producer "
    "before it: that transaction had ended. A leader refuses such a batch, unless it has lost the "
    "state of its producers.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="Consumers with read_committed stop before it until another marker of the producer "
    "follows, which then decides about this batch, too.",
    actions=(ABORT_TRANSACTION, REPORT_DEFECT),
    lookalikes=(PRODUCER_STATE_EXPIRED,),
    roles=(Role.OF_PRODUCERS,),
)
PLAIN_WRITE_IN_TRANSACTION: Final = rule(
    "KL-706",
    "plain-write-inside-transaction",
    severity="H",
    title="a batch outside of the transaction that its producer has open",
    explanation="A batch without the transactional bit lies between the data of a transaction and "
    "its marker, and has the same producer id. A leader refuses that.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="Consumers get its records whether the transaction is committed or aborted.",
    actions=(REPORT_DEFECT,),
    lookalikes=(PRODUCER_STATE_EXPIRED,),
    roles=(Role.OF_PRODUCERS,),
)
ABORTED_ENTRY_MISSING: Final = rule(
    "KL-707",
    "aborted-entry-missing",
    severity="C",
    title="a transaction index lacks an aborted transaction",
    explanation="The log has data of a transaction and its abort marker, but the segment's "
    ".txnindex does not list it, or is missing. Brokers accept that without a message. Low where "
    "the segment's .index is missing, too: then the start rebuilds both.",
    start="The start changes nothing, unless it recovers the segment: that rebuilds the index.",
    election="The leader's index decides what consumers get.",
    reader="Consumers with read_committed get the aborted records as if they were committed.",
    actions=(REBUILD_INDEX,),
    lookalikes=(COMPACTED_FURTHER,),
    roles=(Role.BESIDE_THE_LOGS,),
)
ABORTED_ENTRY_EXTRA: Final = rule(
    "KL-708",
    "aborted-entry-extra",
    severity="C",
    title="a transaction index lists a transaction that was not aborted",
    explanation="An entry names an offset at which the log has no abort marker of that producer. "
    "Low where the segment's .index is missing: then the start rebuilds both.",
    start="The start changes nothing, unless it recovers the segment: that rebuilds the index.",
    election="The leader's index decides what consumers get.",
    reader="Consumers with read_committed may miss committed records of that producer.",
    actions=(REBUILD_INDEX,),
    lookalikes=(COMPACTED_FURTHER,),
    roles=(Role.BESIDE_THE_LOGS,),
)
TORN_TRANSACTION: Final = rule(
    "KL-709",
    "torn-transaction",
    severity="C",
    title="a partition contradicts the outcome of a transaction",
    explanation="The coordinator decided to commit a transaction and this partition has an abort "
    "marker instead of the commit marker, or the other way round: somebody aborted by hand what "
    "was committed elsewhere. Only --deep compares them, as far as the coordinator's log goes "
    "back.",
    start=NO_EFFECT,
    election="Another copy may have the other marker: see the findings about the replicas.",
    reader="Consumers with read_committed get the transaction from some partitions and not from "
    "others.",
    actions=(REPORT_DEFECT,),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(Role.OF_PRODUCERS,),
)
MARKER_MISSING: Final = rule(
    "KL-710",
    "marker-missing",
    severity="C",
    title="a transaction has ended, and its marker is missing",
    explanation="The coordinator decided to commit or abort a transaction with this partition, and "
    "considers it complete, which it does only when every partition has the marker. The log has "
    "the data, and no marker: it was cut off, most likely by an unclean election.",
    start=NO_EFFECT,
    election="Another copy may still have the marker: see the findings about the replicas.",
    reader="Consumers with read_committed stop before it for ever. Aborting a committed "
    "transaction hides its records here, while other partitions show theirs.",
    actions=(ABORT_TRANSACTION,),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(Role.OF_PRODUCERS,),
)
ZOMBIE_MARKER: Final = rule(
    "KL-711",
    "zombie-marker",
    severity="M",
    title="a marker of a coordinator or producer that had been replaced",
    explanation="A marker has a lower producer epoch or a lower coordinator epoch than a marker of "
    "the same producer before it. A leader refuses that, unless it has lost the state of its "
    "producers.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="It may have ended a later transaction than the one it was meant for.",
    actions=(REPORT_DEFECT,),
    lookalikes=(PRODUCER_STATE_EXPIRED,),
    roles=(Role.OF_PRODUCERS,),
)
STABLE_OFFSET_STALLED: Final = rule(
    "KL-712",
    "stable-offset-stalled",
    severity="H",
    title="consumers with read_committed do not get past a transaction",
    explanation="The last stable offset stands at the first offset of a transaction that is open "
    "for too long (KL-702, KL-703 or KL-710). The finding counts the offsets after it.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="Consumers with read_committed wait at the last stable offset; others are not affected. "
    "A compacted topic is not cleaned beyond it.",
    actions=(ABORT_TRANSACTION,),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(Role.OF_PRODUCERS,),
)
TRUNCATION_CUTS_TRANSACTION: Final = rule(
    "KL-713",
    "truncation-cuts-transaction",
    severity="H",
    title="an election would cut a transaction",
    explanation="With this leader the log ends inside a transaction: its commit or abort marker is "
    "cut, and its data stays. It is medium where the copy is outside the ISR: only an unclean "
    "election makes that the leader.",
    start=NO_EFFECT,
    election="The transaction stays open, and the coordinator, which considers it complete, does "
    "not write the marker again.",
    reader="Consumers with read_committed stop before it until it is aborted by hand.",
    actions=(FORBID_UNCLEAN_ELECTION, ABORT_TRANSACTION),
    roles=(Role.SEVERAL_REPLICAS, Role.ONE_LEADER),
)
