"""Rules about producers (KL-6xx)."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.catalogue.actions import (
    REMOVE_DUPLICATES,
    REPORT_DEFECT,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.rule import NO_EFFECT, rule
from kafkalog_reader.audits.catalogue.traps import (
    COMPACTED_FURTHER,
    LOG_APPEND_TIME,
    PRODUCER_STATE_EXPIRED,
)

RETRY_DUPLICATES: Final = rule(
    "KL-601",
    "retry-duplicates",
    severity="M",
    title="records stored several times",
    explanation="A producer without idempotence sent batches again, and the broker stored each "
    "of them: same bytes, same time, and not explained by how often the application sends equal "
    "values. The finding counts how often; each record twice suggests retries=1. In an internal "
    "topic it is information: coordinators write equal states again.",
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
    "producer epoch, and they are not those of any recent batch. A leader refuses that, unless it "
    "has lost the state of its producers.",
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
