"""The manifest of Aiven's plugin: sizes of chunks, and values that nobody may trust."""

from __future__ import annotations

import base64
import json
import struct
from itertools import pairwise
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from fixtures.aiven_tier import chunk_index
from kafkalog_reader.errors import CorruptCheckpointError, LogPosition, UnsupportedFormatError
from kafkalog_reader.format.segment_manifest import SegmentManifest, parse_segment_manifest

WHERE = LogPosition("manifest")
INDEX = {"type": "fixed", "originalChunkSize": 100, "originalFileSize": 250}
FIXED = {**INDEX, "transformedChunkSize": 110, "finalTransformedChunkSize": 30}
"""Of the plugin's own documentation: chunks of 110, 110 and 30 bytes."""


def manifest(**fields: Any) -> bytes:
    return json.dumps(
        {
            "version": "1",
            "chunkIndex": FIXED,
            "segmentIndexes": {"leaderEpoch": {"position": 3, "size": 7}},
            "compression": True,
            "remoteLogSegmentMetadata": {"endOffset": 1000},
            **fields,
        }
    ).encode()


def coded(content: bytes) -> dict[str, Any]:
    text = base64.b64encode(zstandard.compress(content)).decode()
    return {**INDEX, "type": "variable", "transformedChunks": text}


def parse(**fields: Any) -> SegmentManifest:
    return parse_segment_manifest(manifest(**fields), WHERE)


def test_chunks_of_equal_size() -> None:
    found = parse()
    assert (found.size, found.chunk_size, found.is_compressed) == (250, 100, True)
    assert list(found.positions) == [0, 110, 220, 250]
    assert (found.epochs, found.end_offset) == ((3, 7), 1000)


def test_chunks_of_different_size() -> None:
    """Count, least size, bytes each, differences, and the last one whole: 10, 20 and 30."""
    sizes = struct.pack(">iibBBi", 3, 10, 1, 0, 10, 30)
    assert list(parse(chunkIndex=coded(sizes)).positions) == [0, 10, 30, 60]


@given(st.lists(st.integers(0, 2**27), min_size=1, max_size=12))
def test_sizes_are_read_as_they_were_written(sizes: list[int]) -> None:
    index = chunk_index(100, 100 * len(sizes), sizes, is_fixed=False)
    positions = parse(chunkIndex=index).positions
    assert [stop - start for start, stop in pairwise(positions)] == sizes


def test_without_metadata_the_end_is_unknown() -> None:
    assert parse(remoteLogSegmentMetadata=None).end_offset is None


def test_an_encrypted_segment_is_named_so_whatever_else_the_manifest_says() -> None:
    with pytest.raises(UnsupportedFormatError, match="the plugin encrypted this segment"):
        parse(encryption={"dataKey": "k:AA", "aad": "AA"}, chunkIndex=None)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"version": "2"}, "another version than 1"),
        ({"chunkIndex": {**FIXED, "type": "other"}}, "neither fixed nor variable"),
    ],
)
def test_what_is_newer_is_refused(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(UnsupportedFormatError, match=problem):
        parse(**fields)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"chunkIndex": {**FIXED, "originalChunkSize": 0}}, "originalChunkSize"),
        ({"chunkIndex": {**FIXED, "originalChunkSize": 1.5}}, "originalChunkSize"),
        ({"chunkIndex": {**FIXED, "originalChunkSize": True}}, "originalChunkSize"),
        ({"chunkIndex": {**FIXED, "originalFileSize": -1}}, "originalFileSize"),
        ({"chunkIndex": {**FIXED, "originalFileSize": 2**31}}, "originalFileSize"),
        ({"chunkIndex": {**FIXED, "transformedChunkSize": -110}}, "transformedChunkSize"),
        ({"chunkIndex": {**FIXED, "finalTransformedChunkSize": None}}, "finalTransformedChunk"),
        ({"chunkIndex": {**FIXED, "originalChunkSize": 1, "originalFileSize": 2**30}}, "chunks"),
        ({"chunkIndex": []}, "no object chunkIndex"),
        ({"compression": "yes"}, "compression is not true or false"),
        ({"compression": False, "chunkIndex": {**FIXED, "originalFileSize": 251}}, "250 bytes of"),
        ({"segmentIndexes": None}, "no object segmentIndexes"),
        ({"segmentIndexes": {"leaderEpoch": {"position": -1, "size": 1}}}, "position"),
        ({"remoteLogSegmentMetadata": {"endOffset": 2**63}}, "endOffset"),
        ({"chunkIndex": {**INDEX, "type": "variable"}}, "transformedChunks is not text"),
        ({"chunkIndex": {**INDEX, "type": "variable", "transformedChunks": "!"}}, "be decoded"),
        ({"chunkIndex": {**INDEX, "type": "variable", "transformedChunks": "AAAA"}}, "be decoded"),
        ({"chunkIndex": coded(b"")}, "does not hold 3 sizes"),
        ({"chunkIndex": coded(bytes(4))}, "0 chunks where 3"),
        ({"chunkIndex": coded(struct.pack(">ii", 1, 30))}, "1 chunks where 3"),
        ({"chunkIndex": coded(struct.pack(">ii", 1, -30))}, "does not hold"),
        ({"chunkIndex": coded(struct.pack(">iibi", 3, 10, 0, 30))}, "does not hold 3 sizes"),
        ({"chunkIndex": coded(struct.pack(">iib", 2**31 - 1, 0, 4))}, "does not hold 3 sizes"),
        ({"chunkIndex": coded(struct.pack(">iibBBi", -3, 10, 1, 0, 10, 30))}, "does not hold"),
        ({"chunkIndex": coded(struct.pack(">iibBBi", 3, -10, 1, 0, 10, 30))}, "does not hold"),
        ({"chunkIndex": coded(bytes(64 << 20))}, "does not hold|chunks where"),
    ],
)  # fmt: skip
def test_hostile_values_are_errors(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(CorruptCheckpointError, match=problem):
        parse(**fields)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"version":1}'])
def test_what_is_no_manifest_is_an_error(content: bytes) -> None:
    with pytest.raises((CorruptCheckpointError, UnsupportedFormatError)):
        parse_segment_manifest(content, WHERE)


@given(st.binary(max_size=200))
def test_any_coded_sizes_are_read_or_refused(content: bytes) -> None:
    try:
        found = parse(chunkIndex=coded(content))
    except CorruptCheckpointError:
        return
    assert len(found.positions) == 4
    assert list(found.positions) == sorted(found.positions)
