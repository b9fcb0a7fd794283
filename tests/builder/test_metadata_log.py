"""Records of the metadata log equal those of a 4.3.1 controller byte for byte (capture s3_2)."""

from __future__ import annotations

from fixtures.builder.metadata_log import PartitionState, metadata_log

TOPIC_ID = "TGxWM6OWTXe2I-Pmq2q5rQ"
TOPIC = "01020002744c6c5633a3964d77b623e3e6ab6ab9ad00"
PARTITION = (
    "010302000000004c6c5633a3964d77b623e3e6ab6ab9ad040000000000000001000000020400000000000000"
    "01000000020101000000000000000000000000"
)
"""As captured, up to the directories: the capture has 3, this one none; no tagged field follows."""


def test_records_are_those_of_a_broker_but_for_the_directories() -> None:
    state = PartitionState(
        topic_id=TOPIC_ID, replicas=(0, 1, 2), in_sync=(0, 1, 2), leader=0, leader_epoch=0
    )
    (segment,) = metadata_log([state]).segments
    topic, partition = (batch.records[0].value for batch in segment.batches)
    assert topic == bytes.fromhex(TOPIC)
    assert partition == bytes.fromhex(PARTITION + "01" + "00")


def test_eligible_leader_replicas_are_a_tagged_field() -> None:
    state = PartitionState(
        replicas=(0, 1), in_sync=(0,), leader=0, leader_epoch=0, eligible=(1,), topic_id=TOPIC_ID
    )
    (segment,) = metadata_log([state]).segments
    partition = segment.batches[1].records[0].value
    assert partition is not None
    # PartitionRecord.json: tag 1, a compact array of int32, five bytes.
    assert partition.endswith(bytes.fromhex("0101050200000001"))
