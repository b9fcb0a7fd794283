"""Tables show messages of magic 0 and 1 as the declared format reads them."""

from __future__ import annotations

import zlib
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kafkalog_reader
from fixtures.builder.stored_messages import build_message, build_wrapper
from kafkalog_reader.errors import CorruptRecordError, UnsupportedFormatError
from kafkalog_reader.format.batch_fields import LOG_APPEND_TIME_BIT
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.message_set import LegacyRecord
from tests.chosen.examples import examples
from tests.tables.legacy_logs import Row, T, declared_rows, logs, shown_rows
from tests.tables.logs import batch, offsets, rows, rows_before_error, write_segment

COLUMNS = ["offset", "timestamp", "timestampType", "key", "value"]
RECORDS = [LegacyRecord(offset=3 + n, timestamp=T + n, value=b"v%d" % n) for n in range(3)]


def records_of(log: bytes, *, mode: str = "PERMISSIVE") -> list[Row]:
    with TemporaryDirectory() as folder:
        path = write_segment(Path(folder) / "t-0", [log]).parent
        table = kafkalog_reader.open(str(path)).table("records", columns=COLUMNS, mode=mode)
        read = table.to_arrow()
    milliseconds = [us // 1000 for us in read["timestamp"].cast(pa.int64()).to_pylist()]
    found = read.drop_columns(["timestamp"]).to_pylist()
    return shown_rows([row | {"ms": ms} for row, ms in zip(found, milliseconds, strict=True)])


@settings(deadline=None, max_examples=examples(150))
@given(log=logs())
def test_sound_messages_are_what_the_declared_format_reads(log: list[bytes]) -> None:
    assert records_of(b"".join(log), mode="FAILFAST") == [r for e in log for r in declared_rows(e)]


@settings(deadline=None, max_examples=examples(250))
@given(log=logs(), data=st.data())
def test_a_wrong_value_under_a_right_crc_costs_its_entry_and_no_other(
    log: list[bytes], data: st.DataObject
) -> None:
    number = data.draw(st.integers(0, len(log) - 1))
    entry = bytearray(log[number])
    entry[data.draw(st.integers(17, len(entry) - 1))] ^= data.draw(st.integers(1, 255))
    entry[12:16] = zlib.crc32(entry[16:]).to_bytes(4, "big")
    log[number] = bytes(entry)
    content = b"".join(log)
    assert records_of(content) == [row for each in log for row in declared_rows(each)]
    with TemporaryDirectory() as scratch:
        path = write_segment(Path(scratch) / "t-0", log)
        found, error = rows_before_error(path, columns=["offset"])
    damaged = len(content) if error is None else error.where.position or 0
    before = [
        each for each, end in zip(log, accumulate(map(len, log)), strict=True) if end <= damaged
    ]
    assert [row["offset"] for row in found] == [
        r[0] for each in before for r in declared_rows(each)
    ]


def test_magics_change_within_a_segment_and_offsets_stay_in_order(tmp_path: Path) -> None:
    log = [
        build_message(b"k", b"v", offset=0, magic=0),
        build_message(b"k", b"v", offset=1, timestamp=T),
        batch(2, 1),
        build_wrapper(RECORDS, codec=Codec.LZ4),
        batch(6, 2, codec=Codec.ZSTD),
        build_message(None, b"", offset=8, magic=0),
    ]
    write_segment(tmp_path / "t-0", log)
    assert offsets(tmp_path) == list(range(9))
    found = rows(tmp_path, columns=["offset", "magic", "timestampType", "codec", "leaderEpoch"])
    assert [row["magic"] for row in found] == [0, 1, 2, 1, 1, 1, 2, 2, 0]
    assert [row["timestampType"] for row in found] == [-1, 0, 0, 0, 0, 0, 0, 0, -1]
    assert [row["leaderEpoch"] for row in found][:2] == [-1, -1]
    assert {row["codec"] for row in found} == {"none", "lz4", "zstd"}


def test_a_wrapper_is_one_row_of_batches_whose_base_offset_is_not_known(tmp_path: Path) -> None:
    wrapper = build_wrapper(RECORDS, codec=Codec.GZIP, timestamp=T + 9, flags=LOG_APPEND_TIME_BIT)
    single = build_message(b"k", b"v", offset=6, magic=0, attributes=0x70)
    write_segment(tmp_path / "t-0", [wrapper, single], base_offset=3)
    first, second = rows(tmp_path, "batches")
    nothing = {"producerId": -1, "producerEpoch": -1, "baseSequence": -1, "lastSequence": -1,
               "leaderEpoch": -1, "baseTimestamp": None, "crcValid": True}  # fmt: skip
    assert {name: first[name] for name in nothing} == nothing
    assert (first["baseOffset"], first["lastOffset"], first["count"]) == (None, 5, None)
    assert (first["timestampType"], first["codec"], first["attributes"]) == (1, "gzip", 9)
    assert first["crc"] == first["crcComputed"] == zlib.crc32(wrapper[16:])
    assert (second["baseOffset"], second["lastOffset"], second["count"]) == (6, 6, 1)
    assert (second["timestampType"], second["attributes"], second["isControl"]) == (-1, 0x70, False)
    assert second["size"] == len(single)


def test_a_segment_of_wrappers_does_not_guess_its_records(tmp_path: Path) -> None:
    wrapper = build_wrapper(RECORDS, codec=Codec.SNAPPY)
    write_segment(tmp_path / "t-0", [wrapper, batch(6)], base_offset=3)
    (row,) = rows(tmp_path, "segments")
    assert (row["magics"], row["records"], row["batches"]) == ([1, 2], None, 2)
    assert (row["firstOffset"], row["lastOffset"], row["firstLeaderEpoch"]) == (None, 8, -1)


@pytest.mark.parametrize(
    ("attributes", "error"), [(4, CorruptRecordError), (5, UnsupportedFormatError)]
)
def test_codecs_that_messages_do_not_know_are_refused(
    tmp_path: Path, attributes: int, error: Any
) -> None:
    message = build_message(None, b"zstd", offset=1, attributes=attributes)
    write_segment(tmp_path / "t-0", [build_message(None, b"", offset=0), message])
    with pytest.raises(error, match="zstd in magic 1" if attributes == 4 else "unknown codec 5"):
        offsets(tmp_path)
    assert offsets(tmp_path, mode="DROPMALFORMED") == [0]


def test_a_wrapper_may_mix_inner_magics_at_every_message(tmp_path: Path) -> None:
    content = b"".join(
        build_message(None, b"%d" % n, offset=n, magic=n % 2, timestamp=T + n) for n in range(500)
    )
    wrapper = build_wrapper(
        [], codec=Codec.GZIP, content=content, offset=999, timestamp=T, flags=LOG_APPEND_TIME_BIT
    )
    assert records_of(wrapper, mode="FAILFAST") == declared_rows(wrapper)
    assert len(declared_rows(wrapper)) == 500


def test_lz4_of_magic_0_is_read_whatever_its_header_checksum(tmp_path: Path) -> None:
    wrapper = build_wrapper(RECORDS, codec=Codec.LZ4, magic=0)
    checksum = wrapper.index(bytes.fromhex("04224d18")) + 6
    for byte in (0, 0x1A, 0x82):
        changed = bytearray(wrapper)
        changed[checksum] = byte
        changed[12:16] = zlib.crc32(changed[16:]).to_bytes(4, "big")
        assert [row[0] for row in records_of(bytes(changed), mode="FAILFAST")] == [3, 4, 5]
