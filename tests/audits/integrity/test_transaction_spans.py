"""Where transactions begin and end, however their batches are cut into runs."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import EPOCH_MILLIS, data_batch, marker_batch
from fixtures.builder.producers import Producers
from kafkalog_reader.audits.integrity.transaction_spans import NONE, TransactionSpans
from kafkalog_reader.decode.control_type import ABORT
from kafkalog_reader.format.batch_fields import TRANSACTIONAL_BIT
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.scan.batch_chain import BatchChain
from kafkalog_reader.scan.batch_run import BatchRun

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.builder.batch import Batch


def random_batches(chance: random.Random) -> list[Batch]:
    batches: list[Batch] = []
    for offset in range(chance.randrange(1, 60)):
        producer_id = chance.choice([7, 8, 9])
        if chance.random() < 0.3:
            kind = chance.choice([ControlType.COMMIT, ControlType.ABORT])
            batches.append(
                marker_batch(
                    offset, control_type=kind, coordinator_epoch=0, leader_epoch=0,
                    timestamp=EPOCH_MILLIS, producer_id=producer_id, producer_epoch=0,
                )
            )  # fmt: skip
            continue
        flags = TRANSACTIONAL_BIT if chance.random() < 0.8 else 0
        batches.append(
            data_batch(
                offset, [Record(offset_delta=0)], base_timestamp=EPOCH_MILLIS, base_sequence=offset,
                producer_id=producer_id, producer_epoch=0, flags=flags,
            )
        )  # fmt: skip
    return batches


@pytest.mark.parametrize("seed", range(40))
def test_they_are_those_of_batch_after_batch(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    batches = random_batches(chance)
    producers = Producers()
    aborted = [each for batch in batches if (each := producers.apply(batch))]
    path = tmp_path / "log"
    path.write_bytes(b"".join(batch.build() for batch in batches))
    spans, found = TransactionSpans(), []
    window = chance.choice([200, 1000, 1 << 20])
    for run in BatchChain(str(path), window_size=window, context=ReadContext()):
        assert isinstance(run, BatchRun)
        found += spans.follow(run).tolist()
    expected = {(each.producer_id, each.last_offset, each.first_offset) for each in aborted}
    assert {each[:3] for each in found if each[2] != NONE and each[3] == ABORT} == expected
    assert {each[1] for each in found} == {b.base_offset for b in batches if b.is_control}
    assert spans.open == {
        producer_id: entry.current_transaction_first_offset
        for producer_id, entry in producers.entries.items()
        if entry.current_transaction_first_offset >= 0
    }
