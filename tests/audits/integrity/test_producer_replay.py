"""The audit's replay of producers equals one in plain Python, batch by batch."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import EPOCH_MILLIS, data_batch, marker_batch
from kafkalog_reader.audits.integrity.producer_replay import ProducerReplay
from kafkalog_reader.format.batch_fields import TRANSACTIONAL_BIT
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.producer_snapshot import ProducerSnapshotEntry
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.scan.batch_chain import BatchChain

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("producer_epoch", "last_sequence", "last_offset", "current_transaction_first_offset")


def random_log(chance: random.Random) -> tuple[bytes, dict[int, dict[str, int]]]:
    """Batches of four producers, and the state of ProducerStateManager after the last one."""
    log, offset = b"", 0
    known: dict[int, dict[str, Any]] = {}
    for _ in range(chance.randrange(1, 60)):
        producer = chance.choice([-1, 7, 8, 9])
        epoch = chance.choice([0, 0, 0, 1])
        state = known.get(producer)
        if chance.random() < 0.25 and producer >= 0:
            kind = chance.choice([ControlType.COMMIT, ControlType.ABORT])
            built = marker_batch(
                offset,
                control_type=kind,
                coordinator_epoch=0,
                leader_epoch=0,
                timestamp=EPOCH_MILLIS,
                producer_id=producer,
                producer_epoch=epoch,
            )
            if state is None or state["producer_epoch"] != epoch:
                state = dict.fromkeys(NAMES, -1)
            known[producer] = {
                **state, "producer_epoch": epoch, "current_transaction_first_offset": -1,
            }  # fmt: skip
            count = 1
        else:
            count = chance.randrange(1, 4)
            is_transactional = producer >= 0 and chance.random() < 0.5
            sequence = chance.randrange(100) if producer >= 0 else -1
            built = data_batch(
                offset,
                [Record(offset_delta=delta, value=b"v") for delta in range(count)],
                base_timestamp=EPOCH_MILLIS,
                base_sequence=sequence,
                producer_id=producer,
                producer_epoch=epoch if producer >= 0 else -1,
                flags=TRANSACTIONAL_BIT if is_transactional else 0,
            )
            if producer >= 0:
                first = -1 if state is None else state["current_transaction_first_offset"]
                if is_transactional and first == -1:
                    first = offset
                known[producer] = {
                    "producer_epoch": epoch,
                    "last_sequence": sequence + count - 1,
                    "last_offset": offset + count - 1,
                    "current_transaction_first_offset": first,
                }
        log += built.build()
        offset += count
    return log, known


@pytest.mark.parametrize("seed", range(60))
def test_stretches_leave_what_single_batches_leave(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    log, known = random_log(chance)
    path = tmp_path / "log"
    path.write_bytes(log)
    replay = ProducerReplay()
    replay.begin((), is_complete=True)
    for run in BatchChain(
        str(path), window_size=chance.choice([200, 1000, 1 << 20]), context=ReadContext()
    ):
        border = chance.randrange(run.count + 1)
        replay.apply(run, 0, border)
        replay.apply(run, border, run.count)
    wrong = {
        producer: {name: value + 1 for name, value in state.items()}
        for producer, state in known.items()
    }
    for stored, differing in ((known, set()), (wrong, set(NAMES))):
        entries = [
            ProducerSnapshotEntry(
                producer_id=producer,
                offset_delta=0,
                timestamp=0,
                coordinator_epoch=0,
                **state,
            )
            for producer, state in stored.items()
        ]
        found = replay.disagreements(entries)
        names = {
            {"currentTransactionFirstOffset": "current_transaction_first_offset",
             "producerEpoch": "producer_epoch", "lastSequence": "last_sequence",
             "lastOffset": "last_offset"}.get(each.field)
            for each in found
        }  # fmt: skip
        assert names - {None} <= differing
        if stored is known:
            assert [each for each in found if each.field != "offsetDelta"] == []
        else:
            assert {each.producer_id for each in found} == set(known)
