"""A log that is stored in compressed chunks has the bytes of its segment, wherever one looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import zstandard

from fixtures.aiven_tier import chunk_index
from kafkalog_reader.errors import LimitReachedError, LogPosition, UnreadableFileError
from kafkalog_reader.format.decompression_limit import DEFAULT_LIMITS, Limits
from kafkalog_reader.io.chunked_log import ChunkedLog, manifest_beside, manifest_of
from tests.format.test_segment_manifest import manifest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.format.segment_manifest import SegmentManifest

CONTENT = bytes(range(256)) * 4
UUID = "67-dWk7-SuOp-M1eawBSdg"
LOG = f"{'0' * 20}-{UUID}.log"


def stored(chunk_size: int) -> list[bytes]:
    starts = range(0, len(CONTENT), chunk_size)
    return [zstandard.compress(CONTENT[start : start + chunk_size]) for start in starts]


def described(chunk_size: int, sizes: list[int], size: int = len(CONTENT)) -> SegmentManifest:
    index = chunk_index(chunk_size, size, sizes, is_fixed=False)
    return manifest_of(LOG, manifest(chunkIndex=index), sum(sizes))


def chunked(
    content: bytes, found: SegmentManifest, limits: Limits = DEFAULT_LIMITS
) -> tuple[ChunkedLog, list[tuple[int, int]]]:
    """The log, and a list of what is read of the stored bytes: position and size."""
    reads: list[tuple[int, int]] = []

    def read(position: int, size: int) -> memoryview:
        reads.append((position, size))
        return memoryview(content)[position : position + size]

    return ChunkedLog(LOG, found, read, limits), reads


@pytest.mark.parametrize("chunk_size", [1, 100, 256, 1023, 1024, 4096])
@pytest.mark.parametrize(("position", "size"), [(0, 1024), (1, 5), (255, 2), (1023, 9), (700, 324)])
def test_every_range_has_the_bytes_of_the_segment(
    chunk_size: int, position: int, size: int
) -> None:
    chunks = stored(chunk_size)
    log, _ = chunked(b"".join(chunks), described(chunk_size, [len(each) for each in chunks]))
    target = bytearray(size)
    count = log.read_into(memoryview(target), position)
    assert bytes(target[:count]) == CONTENT[position : position + size]


def test_only_the_chunks_that_are_needed_are_read_and_each_once() -> None:
    chunks = stored(256)
    sizes = [len(each) for each in chunks]
    log, reads = chunked(b"".join(chunks), described(256, sizes))
    for position in (300, 310, 320):
        log.read_into(memoryview(bytearray(10)), position)
    assert reads == [(sizes[0], sizes[1])]


@pytest.mark.parametrize(
    "chunk",
    [
        zstandard.compress(CONTENT[:-1]), zstandard.compress(CONTENT + b"x"),
        zstandard.compress(CONTENT) + b"rest", zstandard.compress(CONTENT)[:-3], CONTENT, b"",
    ],
    ids=["short", "long", "rest", "cut", "not_compressed", "empty"],
)  # fmt: skip
def test_a_chunk_of_another_size_or_content_is_an_error(chunk: bytes) -> None:
    log, _ = chunked(chunk, described(1024, [len(chunk)]))
    with pytest.raises(UnreadableFileError, match="chunk"):
        log.read_into(memoryview(bytearray(1)), 0)


def test_a_chunk_above_the_limit_is_not_decompressed() -> None:
    chunk = zstandard.compress(CONTENT)
    log, reads = chunked(chunk, described(1024, [len(chunk)]), Limits.allowing(1023))
    with pytest.raises(LimitReachedError):
        log.read_into(memoryview(bytearray(1)), 0)
    assert reads == []


def test_a_size_that_contradicts_the_manifest_names_both() -> None:
    with pytest.raises(UnreadableFileError, match=r"249 bytes, but its manifest has 250"):
        manifest_of(LOG, manifest(), 249)


def test_an_error_of_the_manifest_names_the_log_once() -> None:
    with pytest.raises(UnreadableFileError) as caught:
        manifest_of(LOG, manifest(encryption={}), 250)
    assert str(caught.value) == (
        f"{LogPosition(LOG)}: cannot be read by its manifest: the plugin encrypted this segment"
    )


def test_only_logs_of_remote_segments_have_manifests(tmp_path: Path) -> None:
    log = tmp_path / LOG
    assert manifest_beside(str(log)) is None
    beside = log.with_suffix(".rsm-manifest")
    beside.touch()
    assert manifest_beside(str(log)) == str(beside)
    assert manifest_beside(str(beside)) is None
    assert manifest_beside(str(tmp_path / f"{'0' * 20}.log")) is None


@pytest.mark.parametrize("is_by_indexes", [True, False])
def test_a_log_of_the_plugin_without_manifest_is_an_error(
    tmp_path: Path, is_by_indexes: bool
) -> None:
    folder = tmp_path if is_by_indexes else tmp_path / f"t-{UUID}" / "0"
    folder.mkdir(parents=True, exist_ok=True)
    if is_by_indexes:
        (folder / LOG).with_suffix(".indexes").touch()
    with pytest.raises(UnreadableFileError, match="no rsm-manifest beside it"):
        manifest_beside(str(folder / LOG))
