"""Offset indexes with entries of 12 bytes (KIP-1333): relative offset (4 bytes), position (8)."""

from __future__ import annotations

import logging
import struct
from typing import TYPE_CHECKING, Any

import pytest

from fixtures import captures
from kafkalog_reader.format.index_entries import OFFSET_INDEX_ENTRY, WIDE_OFFSET_INDEX_ENTRY
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.offset_index_layout import entry_of_file
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.scan.sparse_index import SparseIndex
from kafkalog_reader.tables.request import ReadRequest
from tests.audits.partition.test_supply_findings import found_in
from tests.io.wide_indexes import EVERYTHING, widened
from tests.tables.logs import rows

if TYPE_CHECKING:
    from pathlib import Path

TOPIC = "codec-none"
LAYOUT = {8: OFFSET_INDEX_ENTRY, 12: WIDE_OFFSET_INDEX_ENTRY}


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    return widened(tmp_path / "wide")


def layout_of(tmp_path: Path, content: bytes, log: bytes | None = None) -> int:
    index, log_file = tmp_path / f"{100:020}.index", tmp_path / f"{100:020}.log"
    index.write_bytes(content)
    if log is not None:
        log_file.write_bytes(log)
    path = None if log is None else str(log_file)
    entry = entry_of_file(str(index), path, 100, context=ReadContext())
    assert entry is LAYOUT[entry.size]
    return entry.size


def log_with(*batches: tuple[int, int]) -> bytes:
    """Bytes with base offsets of batches at positions."""
    content = bytearray(200)
    for base_offset, position in batches:
        content[position : position + 8] = struct.pack(">q", base_offset)
    return bytes(content)


WIDE_ENTRIES = struct.pack(">iqiqiq", 5, 40, 9, 80, 14, 120)
LOG = log_with((100, 0), (104, 40), (107, 80), (112, 120))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(WIDE_ENTRIES, id="whole"),
        pytest.param(WIDE_ENTRIES[:12], id="one_entry"),
        pytest.param(WIDE_ENTRIES[:24] + bytes(12 * 50), id="preallocated"),
        pytest.param(WIDE_ENTRIES[:30], id="cut_short"),
        pytest.param(WIDE_ENTRIES + struct.pack(">iq", 3, 60), id="left_by_a_truncation"),
    ],
)
def test_batches_begin_where_wide_entries_point(tmp_path: Path, content: bytes) -> None:
    assert layout_of(tmp_path, content, LOG) == 12


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(bytes(24), id="zeros"),
        pytest.param(struct.pack(">iiiiii", 5, 40, 9, 80, 14, 120), id="narrow"),
        pytest.param(struct.pack(">ii", 5, 40) + bytes(16), id="narrow_and_preallocated"),
        pytest.param(struct.pack(">iqiq", 5, 41, 9, 80), id="no_batch_there"),
        pytest.param(struct.pack(">iqiq", 5, 40, 9, 2**33), id="beyond_the_log"),
        pytest.param(struct.pack(">iiiiii", 5, 0, 40, 9, 80, 14), id="damaged_first_position"),
    ],
)
def test_everything_else_has_narrow_entries(tmp_path: Path, content: bytes) -> None:
    assert layout_of(tmp_path, content, LOG) == 8


def test_without_a_log_three_rising_entries_are_needed(tmp_path: Path) -> None:
    above_2_gib = struct.pack(">iqiqiq", 5, 40, 9, 2**31 + 7, 14, 2**33)
    assert layout_of(tmp_path, above_2_gib) == 12
    assert layout_of(tmp_path, above_2_gib[:24]) == 8


@pytest.mark.parametrize(
    "name", ["everything/stopped", "everything/killed", "release_0.8.2.2", "release_2.8.2", "s1"]
)
def test_every_index_of_real_brokers_has_narrow_entries(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    found = 0
    for directory in discover([str(captures.path(name))]).partition_directories(ReadRequest()):
        for segment in segments(directory):
            if segment.offset_index_size:
                log = segment.path("log") if segment.log_size is not None else None
                entry = entry_of_file(
                    segment.path("index"), log, segment.base_offset, context=ReadContext()
                )
                assert entry is OFFSET_INDEX_ENTRY
                found += 1
    assert found
    assert "12 bytes" not in caplog.text


def test_the_table_shows_the_same_entries(wide: Path) -> None:
    def entries(root: Path) -> list[tuple[Any, ...]]:
        found = rows(root, "offset_index")
        return [(r["topic"], r["offset"], r["position"], r["confirmed"]) for r in found]

    assert entries(wide) == entries(EVERYTHING)
    assert all(confirmed for *_, confirmed in entries(wide))


def test_scans_and_audits_use_wide_entries(wide: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A finding about an index says that its entries are of the wrong log, or not rising."""

    def positions(root: Path) -> list[tuple[int, int]]:
        request = ReadRequest(topics=frozenset({TOPIC}))
        (directory,) = discover([str(root)]).partition_directories(request)
        segment = segments(directory)[1]
        with SparseIndex(segment, context=ReadContext()) as index:
            return [index[number] for number in range(len(index))]

    assert positions(wide) == positions(EVERYTHING) != []
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        found = {each.code for each in found_in(wide, topic=TOPIC)}
    assert found == {each.code for each in found_in(EVERYTHING, topic=TOPIC)}
    assert "entries have 12 bytes (KIP-1333)" in caplog.text


def test_records_from_an_offset_are_found(wide: Path) -> None:
    for offset in (1, 30, 41, 47, 71):
        found = [row["offset"] for row in rows(wide, "records", topic=TOPIC, from_offset=offset)]
        assert found == list(range(offset, 72))
