"""Batches that are repaired with their own checksum, and whole records of a torn batch."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from fixtures import captures, truth
from kafkalog_reader.errors import SalvageCountError
from kafkalog_reader.salvage import partition_writer
from tests.tables.test_offset_order import FIVE, FORMS, build, manifest, move, run, starts
from tests.tables.test_offset_watch import IN_TWO

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.salvage.receiver import Receiver

EVERYTHING = captures.path("everything")
STOPPED = truth.load(EVERYTHING).captures["stopped"]
SIGN = 63
BROKER = next(STOPPED.files.glob("broker-*"))


def flip(log: Path, position: int, bits: int) -> None:
    content = bytearray(log.read_bytes())
    content[position] ^= bits
    log.write_bytes(content)


@FORMS
@pytest.mark.parametrize(
    "inside",
    [
        pytest.param(17, id="stored_crc"),
        pytest.param(22, id="attributes"),
        pytest.param(60, id="records_count"),
        pytest.param(75, id="payload"),
    ],
)
def test_a_flipped_bit_that_the_crc_locates_is_put_right(
    inside: int, receiver: Receiver | None, tmp_path: Path
) -> None:
    source = build(tmp_path / "in")
    sound = run(source, tmp_path / "sound", receiver)
    (log,) = source.rglob("*.log")
    at = starts(log.read_bytes())[2]
    flip(log, at + inside, 0x04)
    salvaged = run(source, tmp_path / "out", receiver)
    assert salvaged.records == sound.records == 50
    assert salvaged.is_complete
    (note,) = manifest(tmp_path / "out")["partitions"][0]["repaired"]["batches"]
    assert (note["position"], note["firstOffset"], note["lastOffset"]) == (at, 20, 29)
    assert f"byte {at + inside}" in note["how"]
    assert "bit 2 of" in note["how"]
    for name in sound.files:
        before, after = (tmp_path / d / "t-0" / name for d in ("sound", "out"))
        if receiver is not None:
            assert before.read_bytes() == after.read_bytes()
        else:
            rows = pq.read_table(after).to_pylist()
            marked = [row["offset"] for row in rows if row["repair"] is not None]
            assert marked == list(range(20, 30))
            assert [row | {"repair": None} for row in rows] == pq.read_table(before).to_pylist()


@FORMS
@pytest.mark.parametrize("bit", [0, 1, 5, 31, 32, 59, 62, 63])
@pytest.mark.parametrize(
    ("segment", "batch", "due"),
    [
        pytest.param(0, 0, 0, id="first"),
        pytest.param(0, 1, 10, id="last_of_its_segment"),
        pytest.param(1, 0, 20, id="first_of_its_segment"),
        pytest.param(1, 1, 30, id="between"),
    ],
)
def test_a_flipped_bit_of_a_base_offset_is_put_right_where_neighbours_prove_it(
    segment: int, batch: int, due: int, bit: int, receiver: Receiver | None, tmp_path: Path
) -> None:
    source = build(tmp_path / "in", **IN_TWO)
    sound = run(source, tmp_path / "sound", receiver)
    stored = due - 2**63 if bit == SIGN else due ^ 1 << bit
    move(source, batch, stored, segment)
    salvaged = run(source, tmp_path / "out", receiver)
    assert salvaged.records == sound.records == 50
    assert salvaged.is_complete
    (partition,) = manifest(tmp_path / "out")["partitions"]
    (note,) = partition["repaired"]["batches"]
    assert (note["kind"], note["firstOffset"], note["lastOffset"]) == ("baseOffset", due, due + 9)
    assert f"base offset {stored} corrected to {due}:" in note["how"]
    assert partition["doubtfulOffsets"]["count"] == 0
    assert partition["counts"]["kept"] == {"batches": 5, "records": 50}
    assert salvaged.files == sound.files
    for name in sound.files:
        before, after = (tmp_path / d / "t-0" / name for d in ("sound", "out"))
        if receiver is not None:
            assert before.read_bytes() == after.read_bytes()
        else:
            rows = pq.read_table(after).to_pylist()
            marked = [row["offset"] for row in rows if row["repair"] is not None]
            assert marked == [row["offset"] for row in rows if due <= row["offset"] < due + 10]
            assert [row | {"repair": None} for row in rows] == pq.read_table(before).to_pylist()


@FORMS
def test_a_corrected_base_offset_counts_for_the_range_asked_for(
    receiver: Receiver | None, tmp_path: Path
) -> None:
    source = build(tmp_path / "in")
    move(source, 2, 20 ^ 1 << 40)
    inside = run(source, tmp_path / "inside", receiver, from_offset=20, to_offset=30)
    outside = run(source, tmp_path / "outside", receiver, from_offset=40)
    assert (inside.records, inside.offsets.first, inside.offsets.last) == (10, 20, 29)
    assert (outside.records, outside.offsets.first) == (10, 40)


@FORMS
def test_beside_a_gap_of_compaction_a_base_offset_is_kept_apart(
    receiver: Receiver | None, tmp_path: Path
) -> None:
    source = build(tmp_path / "in", "0-9/e0 10-19/e0 30-39/e0[31] 40-49/e0")
    move(source, 1, 10 ^ 1 << 20)
    salvaged = run(source, tmp_path / "out", receiver)
    assert (salvaged.counts.doubtful.records, salvaged.repairs) == (10, [])


@FORMS
@pytest.mark.parametrize(
    ("inside", "kind"), [pytest.param(11, "batchLength", id="length"), (16, "magic")]
)
def test_a_header_field_is_put_right_where_the_crc_proves_it(
    inside: int, kind: str, receiver: Receiver | None, tmp_path: Path
) -> None:
    source = build(tmp_path / "in")
    (log,) = source.rglob("*.log")
    flip(log, starts(log.read_bytes())[2] + inside, 0x08)
    salvaged = run(source, tmp_path / "out", receiver)
    assert (salvaged.records, [each.kind for each in salvaged.repairs]) == (50, [kind])


@FORMS
def test_two_flipped_bits_are_not_repaired(receiver: Receiver | None, tmp_path: Path) -> None:
    source = build(tmp_path / "in")
    (log,) = source.rglob("*.log")
    flip(log, starts(log.read_bytes())[2] + 75, 0x44)
    salvaged = run(source, tmp_path / "out", receiver)
    assert (salvaged.records, salvaged.repairs, salvaged.left_out.count) == (40, [], 1)


@pytest.mark.parametrize("topic", ["mixed-codecs", "idempotent", "transactions"])
def test_a_flipped_bit_in_a_real_log_gives_what_consumers_were_given(
    topic: str, tmp_path: Path
) -> None:
    copy = tmp_path / "in" / f"{topic}-0"
    shutil.copytree(BROKER / copy.name, copy)
    log = copy / f"{0:020d}.log"
    for at in starts(log.read_bytes()):
        flip(log, at + 64, 0x20)
    salvaged = run(tmp_path / "in", tmp_path / "out")
    assert len(salvaged.repairs) == len(starts(log.read_bytes()))
    rows = pq.read_table(tmp_path / "out" / copy.name).to_pylist()
    found = [(r["offset"], r["key"], r["value"]) for r in rows if not r["isControl"]]
    assert found == [(r.offset, r.key, r.value) for r in STOPPED.records(topic, 0)]


@FORMS
def test_of_a_torn_uncompressed_batch_the_whole_records_are_kept(
    receiver: Receiver | None, tmp_path: Path
) -> None:
    source = build(tmp_path / "in")
    (log,) = source.rglob("*.log")
    content = log.read_bytes()
    at, first = starts(content)[4], 7 + 2  # length and fields of a record, two digits
    later = first + 1  # at least a second later: the timestamp delta takes two bytes
    log.write_bytes(content[: at + 61 + first + 5 * later + 4])
    salvaged = run(source, tmp_path / "out", receiver)
    assert (salvaged.records, salvaged.offsets.last) == (46, 45)
    assert not salvaged.is_complete
    (note,) = salvaged.repairs
    assert (note.kind, note.firstOffset, note.lastOffset) == ("tornBatch", 40, 45)
    if receiver is None:
        rows = pq.read_table(tmp_path / "out" / "t-0").to_pylist()
        marked = [(row["offset"], row["value"]) for row in rows if row["repair"] is not None]
        assert marked == [(n, b"%d" % n) for n in range(40, 46)]


def test_of_a_torn_batch_without_a_whole_record_nothing_is_kept(tmp_path: Path) -> None:
    source = build(tmp_path / "in")
    (log,) = source.rglob("*.log")
    content = log.read_bytes()
    log.write_bytes(content[: starts(content)[4] + 64])
    salvaged = run(source, tmp_path / "out")
    assert (salvaged.records, salvaged.repairs) == (40, [])


@FORMS
def test_counts_are_conserved_and_a_difference_is_an_error(
    receiver: Receiver | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = build(tmp_path / "in", FIVE)
    run(source, tmp_path / "out", receiver)
    counts = manifest(tmp_path / "out")["partitions"][0]["counts"]
    assert counts["found"] == counts["kept"] == {"batches": 5, "records": 50}

    read = partition_writer.survey

    def one_more(*arguments: object) -> object:
        found = read(*arguments)  # type: ignore[arg-type]  # passed on as they are
        found.found.add(1, 10)
        return found

    monkeypatch.setattr(partition_writer, "survey", one_more)
    with pytest.raises(SalvageCountError, match="reading found 6 batches, but 5 were kept"):
        run(source, tmp_path / "again", receiver)
    written = manifest(tmp_path / "again")
    assert (written["isFinished"], written["isComplete"]) == (False, False)
