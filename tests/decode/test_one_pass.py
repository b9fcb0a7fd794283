"""Records decoded in one pass equal those read after a scan of headers, damaged or not."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures.builder.compression import compress
from fixtures.builder.stored_batches import build_record, build_record_batch
from kafkalog_reader.decode import codec_libraries, record_decoder
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.decompression_limit import Limits
from kafkalog_reader.format.record import Record
from tests.format.vectors import COMMIT, EMPTY
from tests.tables.logs import batch, rows_before_error, write_segment

if TYPE_CHECKING:
    from pathlib import Path

IN_ONE_PASS = ["offset", "timestamp", "timestampType", "key", "value", "headers", "sequence"]
WITH_HEADERS = [*IN_ONE_PASS, "position"]
"""A column from batch headers, which makes the reader scan headers first."""


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    return tmp_path / "orders-3"


def read(path: Path, columns: list[str], **options: Any) -> list[tuple[Any, ...]]:
    """Read rows without the position."""
    found = kafkalog_reader.open(str(path)).table("records", columns=columns, **options)
    return [tuple(row[name] for name in IN_ONE_PASS) for row in found.to_arrow().to_pylist()]


def damaged_log(seed: int) -> bytes:
    """Batches of all codecs and others, of which up to three bytes are changed or removed."""
    chance = random.Random(seed)
    codecs = [Codec.NONE, *Codec]
    batches = [
        chance.choice([COMMIT, EMPTY])
        if chance.random() < 0.1
        else batch(20 * number, chance.randint(1, 20), codec=chance.choice(codecs))
        for number in range(12)
    ]
    log = bytearray(b"".join(batches))
    for _ in range(chance.randint(0, 3)):
        at = chance.randrange(len(log))
        if chance.random() < 0.8:
            log[at] ^= 1 << chance.randrange(8)
        else:
            del log[at : at + chance.randint(1, 200)]
    return bytes(log)


@pytest.mark.parametrize("seed", range(40))
def test_both_ways_agree_on_damaged_logs(partition: Path, seed: int) -> None:
    write_segment(partition, [damaged_log(seed)])
    chance = random.Random(seed)
    lower = chance.choice([0, chance.randrange(300)])
    options = {
        "mode": "DROPMALFORMED",
        "include_control_records": chance.random() < 0.5,
        "from_offset": lower or None,
        "to_offset": lower + chance.randrange(200) if chance.random() < 0.5 else None,
    }
    assert read(partition, IN_ONE_PASS, **options) == read(partition, WITH_HEADERS, **options)


@pytest.mark.parametrize("seed", range(40, 60))
def test_both_ways_show_the_same_records_before_the_same_error(partition: Path, seed: int) -> None:
    write_segment(partition, [damaged_log(seed)])
    ends = []
    for columns in (IN_ONE_PASS, WITH_HEADERS):
        found, error = rows_before_error(partition, columns=columns)
        ends.append(([row["offset"] for row in found], str(error)))
    assert ends[0] == ends[1]


def test_nothing_after_a_bad_batch_comes_out_where_sound_ones_were_taken_first(
    partition: Path,
) -> None:
    bad = bytearray(batch(3))
    bad[-1] ^= 1
    write_segment(partition, [batch(0), bytes(bad), batch(6)])
    found, _ = rows_before_error(partition, columns=["offset"])
    assert [row["offset"] for row in found] == [0, 1, 2]


def test_records_that_fill_the_columns_come_in_several_pieces(
    partition: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_decoder, "ROWS", 16)
    write_segment(partition, [batch(20 * number, 20 - number) for number in range(19)])
    expected = [20 * number + delta for number in range(19) for delta in range(20 - number)]
    assert [row[0] for row in read(partition, IN_ONE_PASS)] == expected


@pytest.mark.parametrize("codec", [codec for codec in Codec if codec])
def test_both_ways_agree_on_compressed_batches_of_all_sizes(partition: Path, codec: Codec) -> None:
    sizes = [0, 10, 5_000, 70_000, 1, 900_000, 2_500_000, 30]  # too much for one call
    batches = [
        build_record_batch(
            [Record(offset_delta=0, value=random.Random(offset).randbytes(size // 2) * 2)],
            base_offset=offset,
            codec=codec,
        )
        for offset, size in enumerate(sizes)
    ]
    write_segment(partition, batches)
    found = read(partition, IN_ONE_PASS)
    assert [len(row[4]) for row in found] == [size // 2 * 2 for size in sizes]
    assert found == read(partition, WITH_HEADERS)


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.LZ4, Codec.ZSTD])
def test_without_a_library_to_call_the_records_are_the_same(
    partition: Path, monkeypatch: pytest.MonkeyPatch, codec: Codec
) -> None:
    write_segment(partition, [batch(0, codec=codec), batch(3, 20, codec=codec)])
    expected = read(partition, IN_ONE_PASS)
    monkeypatch.setattr(codec_libraries, "_library", lambda _module: None)
    codec_libraries._address.cache_clear()
    assert not codec_libraries.CodecLibraries(Limits()).address[codec]
    assert read(partition, IN_ONE_PASS) == expected
    codec_libraries._address.cache_clear()
    assert [row[0] for row in expected] == list(range(23))


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.ZSTD])
@pytest.mark.parametrize("seed", range(30))
def test_both_ways_agree_on_damaged_frames_below_a_right_crc(
    partition: Path, seed: int, codec: Codec
) -> None:
    chance = random.Random(seed)
    batches = []
    for number in range(8):
        records = [Record(offset_delta=0, value=chance.randbytes(chance.choice([20, 300])) * 3)]
        frame = bytearray(compress(codec, b"".join(map(build_record, records))))
        for _ in range(chance.randint(0, 2)):
            frame[chance.randrange(chance.choice([9, 22, len(frame)]))] = chance.randrange(256)
        batches.append(
            build_record_batch(records, base_offset=number, codec=codec, payload=bytes(frame))
        )
    write_segment(partition, batches)
    found = read(partition, IN_ONE_PASS, mode="DROPMALFORMED")
    assert found == read(partition, WITH_HEADERS, mode="DROPMALFORMED")
