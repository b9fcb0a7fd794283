"""Makes the model's replicas from those of the builder, record by record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.model.partition import Record, Replica

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fixtures.builder import Replica as Described


def model_of(described: Described) -> Replica:
    """The model's replica as its disk holds it."""
    batches = [batch for segment in described.segments for batch in segment.batches]
    return Replica(
        records=[
            Record(
                batch.base_offset + record.offset_delta,
                batch.leader_epoch,
                f"{record.key!r}={record.value!r} {batch.base_timestamp + record.timestamp_delta}",
                batch.last_offset,
            )
            for batch in batches
            for record in batch.records
        ],
        epochs=[(entry.leader_epoch, entry.start_offset) for entry in described.epochs],
        high_watermark=described.high_watermark or 0,
        start=max(described.segments[0].base_offset, described.log_start or 0),
        end=described.log_end,
        cleaner_offset=described.cleaner_offset or 0,
    )


def loaded(replicas: Mapping[int, Replica], *, recovers: bool) -> dict[int, Replica]:
    """The replicas after the start of their brokers; ``recovers`` means after an unclean stop."""
    started = {node: replica.copy() for node, replica in replicas.items()}
    for replica in started.values():
        replica.load(recovers=recovers)
        row = replica.high_watermark if replica.high_watermark <= replica.end else replica.end
        replica.high_watermark = max(row, replica.start)
    return started
