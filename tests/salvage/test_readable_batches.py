"""A salvage of damaged logs writes the readable batches, and the manifest lists the others."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from fixtures import captures, truth
from fixtures.builder import log_directory, replica
from kafkalog_reader.errors import UsageError
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.salvage.receiver import Receiver
from kafkalog_reader.salvage.run import salvage
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from kafkalog_reader.salvage.manifest import SalvagedPartition

EVERYTHING = captures.path("everything")
STOPPED = truth.load(EVERYTHING).captures["stopped"]
TOPIC = "one-record-batches"
TOPIC_ID = "AAAAAAAAAAEAAAAAAAAABQ"
LOG = f"{0:020d}.log"
RECEIVERS = [None, Receiver(topic_ids={TOPIC: TOPIC_ID, "t": TOPIC_ID})]
FORMS = pytest.mark.parametrize("receiver", RECEIVERS, ids=["parquet", "segments"])


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A copy of a real replica, with the 100th batch's value changed."""
    source = next(STOPPED.files.glob("broker-*")) / f"{TOPIC}-0"
    copy = tmp_path / "in" / f"{TOPIC}-0"
    shutil.copytree(source, copy)
    content = bytearray((copy / LOG).read_bytes())
    at = start_of(content, 100)
    content[at + 70] ^= 0x03  # two bits: a single one would be repaired
    (copy / LOG).write_bytes(content)
    return tmp_path / "in"


def start_of(content: bytes | bytearray, batch: int) -> int:
    at = 0
    for _ in range(batch):
        at += 12 + int.from_bytes(content[at + 8 : at + 12], "big")
    return at


def run(source: Path, output: Path, receiver: Receiver | None = None) -> list[SalvagedPartition]:
    request = ReadRequest(replica="best")
    return list(salvage(discover([str(source)]), request, str(output), receiver=receiver))


def manifest(output: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((output / "manifest.json").read_text())
    return content


def files(root: Path) -> Iterator[tuple[str, bytes, int]]:
    for path in sorted(root.rglob("*")):
        if path.is_file():
            yield str(path), path.read_bytes(), path.stat().st_mtime_ns


@FORMS
def test_only_the_damaged_batch_is_missing_and_the_manifest_says_where(
    damaged: Path, tmp_path: Path, receiver: Receiver | None
) -> None:
    before = list(files(damaged))
    (salvaged,) = run(damaged, tmp_path / "out", receiver)
    assert salvaged.records == 249
    assert salvaged.offsets.missing_ranges == [(100, 100)]
    written = manifest(tmp_path / "out")
    assert (written["isFinished"], written["isComplete"]) == (True, False)
    (partition,) = written["partitions"]
    (place,) = partition["leftOut"]["places"]
    content = (damaged / f"{TOPIC}-0" / LOG).read_bytes()
    assert (place["position"], place["offset"]) == (start_of(content, 100), 100)
    assert place["file"].endswith(LOG)
    assert "CRC is wrong" in place["problem"]
    assert list(files(damaged)) == before


@FORMS
def test_damaged_neighbours_are_one_place_and_all_are_counted(
    damaged: Path, tmp_path: Path, receiver: Receiver | None
) -> None:
    log = damaged / f"{TOPIC}-0" / LOG
    content = bytearray(log.read_bytes())
    for offset in (50, 51, 52):
        content[start_of(content, offset + 1) - 1] ^= 0x03
    log.write_bytes(content)
    (salvaged,) = run(damaged, tmp_path / "out", receiver)
    assert salvaged.offsets.missing_ranges == [(50, 52), (100, 100)]
    assert salvaged.left_out.count == 4
    neighbours, alone = salvaged.left_out.first
    assert (neighbours.offset, alone.offset) == (50, 100)
    assert "; and 2 more up to offset 52" in neighbours.problem


def test_parquet_holds_what_consumers_were_given(damaged: Path, tmp_path: Path) -> None:
    run(damaged, tmp_path / "out")
    rows = pq.read_table(tmp_path / "out" / f"{TOPIC}-0" / f"{0:020d}.parquet").to_pylist()
    expected = [(r.offset, r.key, r.value) for r in STOPPED.records(TOPIC) if r.offset != 100]
    assert [(r["offset"], r["key"], r["value"]) for r in rows] == expected


@FORMS
def test_a_torn_end_is_reported(damaged: Path, tmp_path: Path, receiver: Receiver | None) -> None:
    log = damaged / f"{TOPIC}-0" / LOG
    log.write_bytes(log.read_bytes()[:-5])
    (salvaged,) = run(damaged, tmp_path / "out", receiver)
    assert salvaged.records == 248
    (partition,) = manifest(tmp_path / "out")["partitions"]
    assert any("torn batch" in warning for warning in partition["warnings"])


def test_an_offset_far_ahead_hides_nothing_after_it(damaged: Path, tmp_path: Path) -> None:
    log = damaged / f"{TOPIC}-0" / LOG
    content = bytearray(log.read_bytes())
    at = start_of(content, 50)
    content[at + 2] ^= 0x30  # in the base offset, which no CRC covers
    log.write_bytes(content)
    (salvaged,) = run(damaged, tmp_path / "out", RECEIVERS[1])
    assert salvaged.records == 248
    assert salvaged.offsets.missing_ranges == [(50, 50), (100, 100)]
    ((_, doubt),) = salvaged.doubtful
    assert (doubt.position, doubt.likely_offset) == (at, 50)
    assert (salvaged.counts.doubtful.batches, salvaged.counts.doubtful.records) == (1, 1)
    rows = pq.read_table(tmp_path / "out" / "doubtful-offsets" / f"{TOPIC}-0").to_pylist()
    (expected,) = [r for r in STOPPED.records(TOPIC) if r.offset == 50]
    assert [(row["offset"], row["value"]) for row in rows] == [(50 + (3 << 44), expected.value)]


def test_batches_written_again_after_a_cut_are_kept_once(tmp_path: Path) -> None:
    log_directory(0, replica("a@0/e0 b@1/e0 c@2/e0 b@1/e0 c@2/e0 d@3/e0")).write(tmp_path / "in")
    (salvaged,) = run(tmp_path / "in", tmp_path / "out", RECEIVERS[1])
    assert (salvaged.records, salvaged.offsets.first, salvaged.offsets.last) == (4, 0, 3)
    assert salvaged.counts.doubtful.records == 2


@FORMS
def test_a_replica_without_records_leaves_no_folder(
    tmp_path: Path, receiver: Receiver | None
) -> None:
    log_directory(0, replica("")).write(tmp_path / "in")
    (salvaged,) = run(tmp_path / "in", tmp_path / "out", receiver)
    assert (salvaged.folder, salvaged.records) == (None, 0)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["manifest.json"]


@pytest.mark.parametrize("inside", ["", "out", f"{TOPIC}-0/out"])
def test_an_output_among_the_inputs_is_refused(damaged: Path, inside: str) -> None:
    before = list(files(damaged))
    with pytest.raises(UsageError, match="which is an input"):
        run(damaged, damaged / inside)
    assert list(files(damaged)) == before


def test_nothing_is_overwritten(damaged: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").touch()
    with pytest.raises(UsageError, match="not empty: a salvage overwrites nothing"):
        run(damaged, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["precious"]


@FORMS
def test_damage_at_the_start_of_a_segment_takes_nothing_from_the_one_before_it(
    tmp_path: Path, receiver: Receiver | None
) -> None:
    """The first batches of both segments have the same position, 0."""
    two_segments = replica("a@0/e0 b@1/e0 c@2/e0 d@3/e0", segment_bytes=150)
    log_directory(0, two_segments).write(tmp_path / "in")
    logs = sorted((tmp_path / "in").rglob("*.log"))
    assert len(logs) == 2
    content = bytearray(logs[1].read_bytes())
    content[65] ^= 0x01
    content[66] ^= 0x10
    logs[1].write_bytes(content)
    (salvaged,) = run(tmp_path / "in", tmp_path / "out", receiver)
    assert (salvaged.records, salvaged.offsets.missing_ranges) == (3, [(2, 2)])
