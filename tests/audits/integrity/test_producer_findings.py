"""KL-410: a producer snapshot that contradicts the batches before it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import EPOCH_MILLIS, Batch, cluster, data_batch, marker_batch, replica
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.errors import LogPosition
from kafkalog_reader.format.batch_fields import TRANSACTIONAL_BIT
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.producer_snapshot import (
    ProducerSnapshotEntry,
    build_producer_snapshot,
    parse_producer_snapshot,
)
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import request, table

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.integrity.finding import Finding

PRODUCER = {"producer_id": 7, "producer_epoch": 0}


def data(offset: int, sequence: int, **given: Any) -> Batch:
    records = [Record(offset_delta=delta, value=b"v" * 40) for delta in (0, 1)]
    return data_batch(
        offset, records, base_timestamp=EPOCH_MILLIS, base_sequence=sequence, **PRODUCER, **given
    )


def batches() -> list[Batch]:
    """A committed transaction of two batches, and idempotent batches; offsets 0 to 10."""
    return [
        data(0, 0, flags=TRANSACTIONAL_BIT),
        data(2, 2, flags=TRANSACTIONAL_BIT),
        marker_batch(
            4,
            control_type=ControlType.COMMIT,
            coordinator_epoch=0,
            leader_epoch=0,
            timestamp=EPOCH_MILLIS,
            **PRODUCER,
        ),
        data(5, 4),
        data(7, 6),
        data(9, 8),
    ]


def written(root: Path, segment_bytes: int = 300) -> Path:
    described = replica(batches(), segment_bytes=segment_bytes, high_watermark=11)
    return cluster(root, {0: described}, clean=[0])[0] / "t-0"


def disagreements(directory: Path) -> list[Finding]:
    findings = table("findings")
    asked = request(findings)
    units = findings.units(discover([str(directory.parent)]), asked)
    return [e for unit in units for e, _ in verify(unit, asked).findings if e.code == "KL-410"]


def test_snapshots_of_the_builder_agree_with_its_batches(tmp_path: Path) -> None:
    directory = written(tmp_path)
    assert len(list(directory.glob("*.snapshot"))) > 1
    assert disagreements(directory) == []


@pytest.mark.parametrize(
    ("lie", "severity", "field"),
    [
        ({"last_sequence": 99}, "H", "lastSequence"),
        ({"current_transaction_first_offset": 2}, "H", "currentTransactionFirstOffset"),
        ({"producer_epoch": 3}, "M", "producerEpoch"),
        ({"last_offset": 1}, "M", "lastOffset"),
    ],
)
def test_a_wrong_value_in_the_last_snapshot(
    tmp_path: Path, lie: dict[str, int], severity: str, field: str
) -> None:
    directory = written(tmp_path)
    path = max(directory.glob("*.snapshot"))
    path.write_bytes(rewritten(path.read_bytes(), **lie))
    (found,) = disagreements(directory)
    assert (found.severity, found.file) == (severity, f"t-0/{path.name}")
    assert dict(found.evidence)["field"] == field


def test_a_producer_that_expired_is_not_a_lie(tmp_path: Path) -> None:
    directory = written(tmp_path)
    max(directory.glob("*.snapshot")).write_bytes(build_producer_snapshot([]))
    assert disagreements(directory) == []


def test_a_batch_that_is_gone_shows_in_the_next_snapshot_as_a_consequence(tmp_path: Path) -> None:
    directory = written(tmp_path, segment_bytes=4096)
    path = directory / f"{0:020}.log"
    content = path.read_bytes()
    starts = [0]
    while starts[-1] < len(content):
        at = starts[-1]
        starts.append(at + 12 + int.from_bytes(content[at + 8 : at + 12], "big"))
    marker = next(at for at in starts[:-1] if content[at + 7] == 4)  # the one at offset 4 ends it
    following = starts[starts.index(marker) + 1]
    path.write_bytes(content[:marker] + content[following:])
    (found,) = disagreements(directory)
    assert dict(found.evidence)["field"] == "currentTransactionFirstOffset"
    assert (found.severity, (found.caused_by or "").split(" ")[0]) == ("H", "KL-111")


def rewritten(content: bytes, **lie: int) -> bytes:
    entries = parse_producer_snapshot(content, LogPosition("snapshot"))
    return build_producer_snapshot(changed(entry, lie) for entry in entries)


def changed(entry: ProducerSnapshotEntry, lie: dict[str, int]) -> ProducerSnapshotEntry:
    return replace(entry, **lie)
