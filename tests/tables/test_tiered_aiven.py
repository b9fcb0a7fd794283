"""The same remote part in the layout of Aiven's plugin, and what of it cannot be read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.aiven_tier import write_aiven_tier
from kafkalog_reader.errors import LimitReachedError, UnreadableFileError
from tests.tables.test_tiered import (
    BROKERS,
    CONSUMED,
    LOCAL_START,
    TIER,
    consumed,
    local,
    records,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Rows = Callable[..., list[dict[str, Any]]]

SOURCE = next(TIER.glob("*/*"))


def write(target: Path, **options: Any) -> Path:
    return write_aiven_tier(SOURCE, target / "prefix", log_end=LOCAL_START, **options)


def changed(manifest: Path, **fields: Any) -> None:
    found = json.loads(manifest.read_text())
    for name, value in fields.items():
        holder = found if name in found else found["chunkIndex"]
        holder[name] = value
    manifest.write_text(json.dumps(found))


@pytest.mark.parametrize(
    "options",
    [
        {}, {"chunk_size": 100}, {"is_compressed": True},
        {"is_compressed": True, "chunk_size": 100}, {"is_compressed": True, "chunk_size": 1},
    ],
    ids=str,
)  # fmt: skip
def test_it_is_one_log_with_the_local_one(tmp_path: Path, options: dict[str, Any]) -> None:
    write(tmp_path, **options)
    assert shown(records(*BROKERS, tmp_path, replica="best")) == consumed(CONSUMED)


def test_it_is_read_alone(tmp_path: Path) -> None:
    folder = write(tmp_path, is_compressed=True, chunk_size=64)
    expected = consumed(each for each in CONSUMED if each.offset < LOCAL_START)
    assert shown(records(tmp_path, replica="best")) == expected
    assert shown(records(folder, replica="best")) == expected


def test_one_segment_is_read_alone(tmp_path: Path) -> None:
    log = next(write(tmp_path, is_compressed=True).glob("00000000000000000013-*.log"))
    rows = records(log, replica="best")
    assert shown(rows) == consumed(each for each in CONSUMED if 13 <= each.offset < 17)


def test_other_offsets_of_compressed_chunks(tmp_path: Path) -> None:
    write(tmp_path, is_compressed=True, chunk_size=50)
    rows = records(*BROKERS, tmp_path, replica="best", from_offset=15, to_offset=31)
    assert shown(rows) == consumed(each for each in CONSUMED if 15 <= each.offset < 31)


def test_sizes_are_those_of_the_segments(tmp_path: Path, rows_of: Rows) -> None:
    write(tmp_path, is_compressed=True, chunk_size=64)
    (row,) = rows_of("replicas", tmp_path)
    assert row["sizeInBytes"] == sum(log.stat().st_size for log in SOURCE.glob("*.log"))
    assert (row["logStartOffset"], row["logEndOffset"]) == (0, LOCAL_START)


def test_encrypted_segments_are_refused_by_name(tmp_path: Path) -> None:
    folder = write(tmp_path, is_encrypted=True)
    log = min(folder.glob("*.log"))
    with pytest.raises(UnreadableFileError, match="the plugin encrypted this segment") as caught:
        records(*BROKERS, tmp_path, replica="best")
    assert str(caught.value).startswith(f"{log}: ")


def test_encrypted_segments_are_left_out_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path, is_encrypted=True)
    rows = records(*BROKERS, tmp_path, replica="best", mode="PERMISSIVE")
    assert shown(rows) == consumed(local(CONSUMED))
    assert "the plugin encrypted this segment" in caplog.text


def test_a_missing_manifest_is_an_error(tmp_path: Path) -> None:
    folder = write(tmp_path)
    next(folder.glob("00000000000000000013-*.rsm-manifest")).unlink()
    with pytest.raises(UnreadableFileError, match=r"0013-\S*\.log: no rsm-manifest beside it"):
        records(*BROKERS, tmp_path, replica="best")


def test_an_upload_that_was_repeated_needs_no_manifest(tmp_path: Path) -> None:
    """The plugin writes the manifest last, so one that failed has none."""
    folder = write(tmp_path)
    log = next(folder.glob("00000000000000000013-*.log"))
    failed = folder / f"00000000000000000013-{'A' * 22}.log"
    failed.write_bytes(log.read_bytes()[:50])
    assert shown(records(*BROKERS, tmp_path, replica="best")) == consumed(CONSUMED)


@pytest.mark.parametrize("is_compressed", [False, True])
def test_an_object_of_another_size_is_an_error(tmp_path: Path, is_compressed: bool) -> None:
    folder = write(tmp_path, is_compressed=is_compressed)
    log = next(folder.glob("00000000000000000013-*.log"))
    size = log.stat().st_size
    log.write_bytes(log.read_bytes()[:-1])
    message = f"0013-.*: {size - 1} bytes, but its manifest has {size}"
    with pytest.raises(UnreadableFileError, match=message):
        records(*BROKERS, tmp_path, replica="best")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"originalFileSize": 1}, "does not hold the 1 bytes"),
        ({"originalFileSize": 2**31 - 1, "originalChunkSize": 2**31 - 1}, "max_batch_bytes"),
        ({"originalFileSize": 900, "originalChunkSize": 900}, "does not hold the 900 bytes"),
        ({"originalFileSize": -1}, "originalFileSize is not a number"),
        ({"version": "7"}, "another version"),
    ],
)
def test_a_hostile_manifest_is_an_error(
    tmp_path: Path, fields: dict[str, Any], problem: str
) -> None:
    folder = write(tmp_path, is_compressed=True)
    changed(next(folder.glob("00000000000000000013-*.rsm-manifest")), **fields)
    with pytest.raises((UnreadableFileError, LimitReachedError), match=problem):
        records(*BROKERS, tmp_path, replica="best")


def test_a_damaged_chunk_is_an_error(tmp_path: Path) -> None:
    folder = write(tmp_path, is_compressed=True)
    log = next(folder.glob("00000000000000000013-*.log"))
    log.write_bytes(b"\0" * log.stat().st_size)
    with pytest.raises(UnreadableFileError, match="a damaged chunk"):
        records(*BROKERS, tmp_path, replica="best")
