"""KL-603 to KL-606: sequence numbers of idempotent producers, and what may look like a fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures.builder import cluster, data_batch, replica
from fixtures.synthetic.producer_states import LOGS, RECORDS
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.builder import Batch
    from fixtures.synthetic.producer_states import ProducerLog

CODES = ("KL-603", "KL-604", "KL-605", "KL-606")


def findings(root: Path) -> list[dict[str, Any]]:
    rows = kafkalog_reader.open(str(root)).table("findings").to_arrow().to_pylist()
    return [row for row in rows if row["code"] in CODES]


def idempotent(offset: int, sequence: int, records: int = 1, **more: Any) -> Batch:
    held = [Record(offset_delta=delta, value=b"v") for delta in range(records)]
    return data_batch(offset, held, producer_id=7, producer_epoch=0, base_sequence=sequence, **more)


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.id)
def test_each_log_has_its_findings_and_no_others(log: ProducerLog, tmp_path: Path) -> None:
    found = findings(log.write(tmp_path))
    assert {(row["code"], row["firstOffset"] // RECORDS) for row in found} == log.expected
    for row in found:
        (path,) = tmp_path.rglob(row["file"])
        offset = path.read_bytes()[row["position"] :][:8]
        assert int.from_bytes(offset) == row["firstOffset"]


def test_what_a_cleaner_may_have_removed_is_no_gap(tmp_path: Path) -> None:
    """T05: the cleaner keeps the sequence of the batches that it keeps."""
    log = [idempotent(0, 0), idempotent(1, 5)]
    cluster(tmp_path / "cleaned", {0: replica(log, cleaner_offset=2)}, clean=[0])
    assert findings(tmp_path / "cleaned") == []
    sparse = [idempotent(0, 0), idempotent(1, 5), idempotent(2, 6, last_offset_delta=3)]
    cluster(tmp_path / "sparse", {0: replica(sparse)}, clean=[0])
    assert findings(tmp_path / "sparse") == []


def test_missing_offsets_and_damage_explain_a_gap(tmp_path: Path) -> None:
    log = [idempotent(0, 0), idempotent(2, 5)]
    cluster(tmp_path / "gap", {0: replica(log)}, clean=[0])
    assert findings(tmp_path / "gap") == []
    damaged = [idempotent(0, 0), idempotent(1, 1, crc=0), idempotent(2, 5)]
    cluster(tmp_path / "damage", {0: replica(damaged)}, clean=[0])
    assert findings(tmp_path / "damage") == []


def test_places_of_one_kind_are_counted(tmp_path: Path) -> None:
    log = [idempotent(n, 10 * n) for n in range(5)]
    cluster(tmp_path, {0: replica(log)}, clean=[0])
    (row,) = findings(tmp_path)
    assert (row["code"], row["firstOffset"]) == ("KL-604", 1)
    assert "4 such batches" in row["message"]
