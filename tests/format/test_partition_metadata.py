"""``partition.metadata`` of a partition directory."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalog_reader.errors import CorruptCheckpointError, LogPosition
from kafkalog_reader.format.partition_metadata import (
    PartitionMetadata,
    build_partition_metadata,
    parse_partition_metadata,
)
from kafkalog_reader.format.uuid import ZERO_UUID

WHERE = LogPosition("file")
TOPIC_ID = "AAAAAAAAAAEAAAAAAAAABQ"  # msb 1, lsb 5: format reference 14.8


def test_partition_metadata_of_the_reference_is_read_and_written() -> None:
    content = f"version: 0\ntopic_id: {TOPIC_ID}".encode()
    metadata = PartitionMetadata(version=0, topic_id=TOPIC_ID)
    assert len(content) == 43
    assert parse_partition_metadata(content, WHERE) == metadata
    assert build_partition_metadata(metadata) == content


def test_keys_of_partition_metadata_are_not_checked() -> None:
    content = f"v: 7\r\nid:\t{TOPIC_ID}\nmore".encode()
    metadata = parse_partition_metadata(content, WHERE)
    assert metadata == PartitionMetadata(version=7, topic_id=TOPIC_ID)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"version: 0\n", id="one_line"),
        pytest.param(f"version: 0\ntopic_id: {ZERO_UUID}".encode(), id="zero_uuid"),
        pytest.param(b"version: 0\ntopic_id: short", id="no_uuid"),
        pytest.param(f"version: -1\ntopic_id: {TOPIC_ID}".encode(), id="negative_version"),
        pytest.param(f"version:0\ntopic_id: {TOPIC_ID}".encode(), id="no_blank_after_the_colon"),
        pytest.param(bytes(43), id="zeros"),
        pytest.param(b"version: 0\ntopic_id: \xff\xfe", id="not_ascii"),
    ],
)
def test_malformed_partition_metadata_is_corrupt(content: bytes) -> None:
    with pytest.raises(CorruptCheckpointError):
        parse_partition_metadata(content, WHERE)


@given(content=st.binary(max_size=100))
def test_any_bytes_are_metadata_or_refused(content: bytes) -> None:
    with contextlib.suppress(CorruptCheckpointError):
        parse_partition_metadata(content, WHERE)
