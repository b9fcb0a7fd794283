"""Rules about producers and transactions (KL-6xx, KL-7xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.actions import (
    ABORT_TRANSACTION,
    FORBID_UNCLEAN_ELECTION,
    REBUILD_INDEX,
    REMOVE_DUPLICATES,
    REPORT_DEFECT,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import NO_EFFECT, rule
from kafkalog_reader.audits.catalogue.traps import (
    COMPACTED_FURTHER,
    COPIED_WHILE_RUNNING,
    LOG_APPEND_TIME,
    PRODUCER_STATE_EXPIRED,
)

RETRY_DUPLICATES: Final = rule(
    "KL-601",
    "retry-duplicates",
    severity="M",
    title="records stored several times",
    explanation="A producer without idempotence sent batches again, and the broker stored each "
    "of them. The finding counts how often; each record twice suggests retries=1. The same "
    "content twice may also be intended.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="Consumers get the records as often as they are stored.",
    actions=(REMOVE_DUPLICATES,),
    lookalikes=(LOG_APPEND_TIME,),
    roles=(Role.OF_PRODUCERS,),
)
RETRY_DUPLICATES_ACROSS_LEADERS: Final = rule(
    "KL-602",
    "retry-duplicates-across-leaders",
    severity="M",
    title="records stored again under another leader",
    explanation="A producer without idempotence sent a batch again to the next leader, because the "
    "first had failed between storing and acknowledging it.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="Consumers get the records as often as they are stored.",
    actions=(REMOVE_DUPLICATES,),
    roles=(Role.OF_PRODUCERS,),
)
IDEMPOTENT_DUPLICATE: Final = rule(
    "KL-603",
    "idempotent-duplicate",
    severity="H",
    title="an idempotent batch is stored twice",
    explanation="Two batches have the same producer id, producer epoch and sequence numbers. A "
    "leader drops such a batch, unless it has lost the state of its producers: snapshots were "
    "removed, or a replica without them was elected.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="Consumers get the records twice, although the producer is idempotent.",
    actions=(REMOVE_DUPLICATES, REPORT_DEFECT),
    lookalikes=(PRODUCER_STATE_EXPIRED,),
    roles=(Role.OF_PRODUCERS,),
)
SEQUENCE_GAP: Final = rule(
    "KL-604",
    "sequence-gap",
    severity="H",
    title="sequence numbers of a producer are missing",
    explanation="A batch does not continue the sequence of its producer id and producer epoch, "
    "although no offset is missing in between: records that were sent before it are not in this "
    "log. A leader refuses such a batch, unless it has lost the state of its producers.",
    start=NO_EFFECT,
    election="Another copy may have the missing records: see the findings about the replicas.",
    reader="Consumers miss records that the producer sent, and that a leader may have "
    "acknowledged.",
    actions=(REPORT_DEFECT,),
    lookalikes=(PRODUCER_STATE_EXPIRED, COMPACTED_FURTHER),
    roles=(Role.OF_PRODUCERS,),
)
SEQUENCE_REGRESSION: Final = rule(
    "KL-605",
    "sequence-regression",
    severity="H",
    title="the sequence of a producer goes back",
    explanation="A batch has lower sequence numbers than one before it of the same producer id and "
    "producer epoch, and other ones than any recent batch. A leader refuses that, unless it has "
    "lost the state of its producers.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="Consumers may get records again, or in another order than they were sent.",
    actions=(REPORT_DEFECT,),
    lookalikes=(PRODUCER_STATE_EXPIRED,),
    roles=(Role.OF_PRODUCERS,),
)
PRODUCER_EPOCH_REGRESSION: Final = rule(
    "KL-606",
    "producer-epoch-regression",
    severity="M",
    title="the epoch of a producer goes back",
    explanation="A batch has a lower producer epoch than one before it of the same producer id. A "
    "leader refuses that: the producer was fenced.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="Consumers get records of a producer that had been replaced.",
    actions=(REPORT_DEFECT,),
    lookalikes=(PRODUCER_STATE_EXPIRED,),
    roles=(Role.OF_PRODUCERS,),
)
HANGING_TRANSACTION: Final = rule(
    "KL-703",
    "hanging-transaction",
    severity="C",
    title="a transaction hangs: nobody will end it",
    explanation="A log has data of a transaction without a marker. Its coordinator has no "
    "transaction of that producer, a later one, or one without this partition, and its timeout has "
    "long passed. Before it is aborted, other partitions must not have its commit marker.",
    start=NO_EFFECT,
    election=NO_EFFECT,
    reader="Consumers with read_committed stop before it for ever, and a compacted topic is no "
    "longer cleaned from there on.",
    actions=(ABORT_TRANSACTION,),
    lookalikes=(COPIED_WHILE_RUNNING,),
    roles=(Role.OF_PRODUCERS,),
)
ABORTED_ENTRY_MISSING: Final = rule(
    "KL-707",
    "aborted-entry-missing",
    severity="C",
    title="a transaction index lacks an aborted transaction",
    explanation="The log has data of a transaction and its abort marker, but the segment's "
    ".txnindex does not list it, or is missing. Brokers accept that without a word.",
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
    explanation="An entry names an offset at which the log has no abort marker of that producer.",
    start="The start changes nothing, unless it recovers the segment: that rebuilds the index.",
    election="The leader's index decides what consumers get.",
    reader="Consumers with read_committed may miss committed records of that producer.",
    actions=(REBUILD_INDEX,),
    lookalikes=(COMPACTED_FURTHER,),
    roles=(Role.BESIDE_THE_LOGS,),
)
TRUNCATION_CUTS_TRANSACTION: Final = rule(
    "KL-713",
    "truncation-cuts-transaction",
    severity="H",
    title="an election would cut a transaction",
    explanation="With this leader the log ends inside a transaction: its commit or abort marker is "
    "cut, and its data stays.",
    start=NO_EFFECT,
    election="The transaction stays open, and the coordinator, for which it is completed, does "
    "not write the marker again.",
    reader="Consumers with read_committed stop before it until it is aborted by hand.",
    actions=(FORBID_UNCLEAN_ELECTION, ABORT_TRANSACTION),
    roles=(Role.SEVERAL_REPLICAS, Role.ONE_LEADER),
)
