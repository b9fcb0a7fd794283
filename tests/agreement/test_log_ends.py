"""The log end of a damaged copy is the same wherever it is shown."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final

import pytest

from fixtures.builder import cluster, replica
from fixtures.faults.sample import Base
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import request, table
from tests.agreement.commands import replica_diff_documents

if TYPE_CHECKING:
    from pathlib import Path

RUNNING: Final = "everything/running"
TOPICS: Final = ("large-record-0", "codec-none-0", "broker-snappy-0", "transactions-1")
SEEDS: Final = range(1, 5)
LARGE_RECORD_END: Final = 10


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("keeps_index", [True, False])
@pytest.mark.parametrize("partition", TOPICS)
def test_log_end_after_damage_is_one_everywhere(
    partition: str, seed: int, tmp_path: Path, *, keeps_index: bool
) -> None:
    chance = random.Random(f"{partition} {seed} {keeps_index}")
    log = _last_log(_copied(partition, tmp_path), keeps_index=keeps_index)
    data = bytearray(log.read_bytes())
    first = chance.randrange(len(data))
    if chance.random() < 0.5:
        data[first] ^= 1 << chance.randrange(8)
    else:
        last = min(len(data), first + chance.choice((64, 512, 4096)))
        data[first:last] = bytes(last - first)
    log.write_bytes(data)
    ends = _ends(tmp_path)
    assert len(set(ends.values())) == 1, ends


def test_zeros_in_a_large_record_hide_no_batch_after_them(tmp_path: Path) -> None:
    log = _last_log(_copied("large-record-0", tmp_path), keeps_index=False)
    data = bytearray(log.read_bytes())
    data[4096:8192] = bytes(4096)
    log.write_bytes(data)
    assert set(_ends(tmp_path).values()) == {LARGE_RECORD_END}  # the producer's records


def test_a_log_without_a_segment_is_empty_at_its_start(tmp_path: Path) -> None:
    """LogLoader creates a segment at the checkpointed log start if a folder has none."""
    trimmed = replica("20-29/e0", epochs="0:25", log_start=25, recovery_point=25, high_watermark=30)
    cluster(tmp_path, {1: trimmed}, clean=[1])
    (tmp_path / "broker-1" / "t-0" / f"{20:020}.log").unlink()
    assert set(_ends(tmp_path).values()) == {25}
    recovery = _row("recoveries", tmp_path)
    assert (recovery["soundEndOffset"], recovery["logEndOffsetAfterStart"]) == (25, 25)
    found = {each["code"]: each for each in _rows("findings", tmp_path)}
    above = found["KL-304"]
    assert (above["firstOffset"], above["nextOffset"]) == (25, 30)
    assert not {"KL-305", "KL-306", "KL-409", "KL-415"} & found.keys()


def _copied(partition: str, root: Path) -> Path:
    Base(release="newest", place=RUNNING, partition=partition).copied(root)
    return root / partition


def _last_log(directory: Path, *, keeps_index: bool) -> Path:
    log = max(each for each in directory.glob("*.log") if each.stat().st_size)
    if not keeps_index:
        log.with_suffix(".index").unlink()
    return log


def _ends(path: Path) -> dict[str, int]:
    (document,) = replica_diff_documents(str(path))
    (replica,) = document["replicas"]
    partition = _row("partitions", path)
    ends = {
        "replica-diff": replica["logEndOffset"],
        "table replicas, as ls shows it": _row("replicas", path)["logEndOffset"],
    }
    if partition["verdict"] == "undecidable":  # then the table gives no log end
        assert partition["logEndOffset"] is None
        return ends
    return ends | {"table partitions": partition["logEndOffset"]}


def _row(name: str, path: Path) -> dict[str, Any]:
    (row,) = _rows(name, path)
    return row


def _rows(name: str, path: Path) -> list[dict[str, Any]]:
    of_ends = table(name)
    asked = request(of_ends, mode="DROPMALFORMED")
    return [
        row
        for unit in of_ends.units(discover([str(path)]), asked)
        for batch in of_ends.read(unit, asked)
        for row in batch.to_pylist()
    ]
