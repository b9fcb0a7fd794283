"""meta.properties, partition.metadata, the clean-shutdown marker and Kafka's text of UUIDs."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.builder.small_files import (
    build_clean_shutdown,
    build_java_properties,
    build_meta_properties,
)
from kafkalog_reader.errors import CorruptCheckpointError, LogPosition, UnsupportedFormatError
from kafkalog_reader.format.clean_shutdown import CleanShutdown, parse_clean_shutdown
from kafkalog_reader.format.java_properties import parse_java_properties
from kafkalog_reader.format.meta_properties import MetaProperties, parse_meta_properties
from kafkalog_reader.format.partition_metadata import (
    PartitionMetadata,
    build_partition_metadata,
    parse_partition_metadata,
)
from kafkalog_reader.format.uuid import ZERO_UUID, uuid_bytes, uuid_text

WHERE = LogPosition("file")
TOPIC_ID = "AAAAAAAAAAEAAAAAAAAABQ"  # msb 1, lsb 5: format reference 14.8


def test_uuid_of_the_reference_is_read_and_written() -> None:
    content = (1).to_bytes(8, "big") + (5).to_bytes(8, "big")
    assert uuid_text(content) == TOPIC_ID
    assert uuid_bytes(TOPIC_ID) == content
    assert uuid_text(bytes(16)) == ZERO_UUID


@given(content=st.binary(min_size=16, max_size=16))
def test_any_uuid_comes_back(content: bytes) -> None:
    assert uuid_bytes(uuid_text(content)) == content


@pytest.mark.parametrize("text", ["", "A" * 21, "A" * 23, "+" * 22, "ä" * 22, "A" * 22 + "="])
def test_text_that_is_no_uuid_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="base64url"):
        uuid_bytes(text)


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


def test_meta_properties_of_kraft_are_read() -> None:
    content = (
        b"#\n#Sat Nov 21 07:00:00 UTC 2026\ncluster.id=AAECAwQFBgcICQoLDA0ODw\n"
        b"directory.id=uV8eQ4Dvv1CnpqN0hJ4aKA\nnode.id=1\nversion=1\n"
    )
    assert parse_meta_properties(content, WHERE) == MetaProperties(
        version=1,
        cluster_id="AAECAwQFBgcICQoLDA0ODw",
        node_id=1,
        directory_id="uV8eQ4Dvv1CnpqN0hJ4aKA",
    )


@pytest.mark.parametrize("content", [b"broker.id=7\n", b"version=0\nbroker.id: 7"])
def test_meta_properties_of_zookeeper_may_lack_the_cluster_id(content: bytes) -> None:
    meta = parse_meta_properties(content, WHERE)
    assert meta == MetaProperties(version=0, cluster_id=None, node_id=7, directory_id=None)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(b"version=1\ncluster.id=x\n", "node.id is missing", id="no_node_id"),
        pytest.param(b"version=1\nnode.id=1\n", "cluster.id is missing", id="no_cluster_id"),
        pytest.param(b"version=1\nnode.id=-1\ncluster.id=x\n", "node.id", id="negative_node_id"),
        pytest.param(b"version=x\n", "version is not a number", id="version_in_words"),
        pytest.param(b"broker.id=99999999999\n", "broker.id", id="broker_id_beyond_an_int"),
        pytest.param(b"a=\\u00g0\n", "line 1: malformed", id="broken_escape"),
    ],
)
def test_malformed_meta_properties_are_corrupt(content: bytes, problem: str) -> None:
    with pytest.raises(CorruptCheckpointError, match=problem):
        parse_meta_properties(content, WHERE)


def test_newer_meta_properties_are_unsupported() -> None:
    with pytest.raises(UnsupportedFormatError, match="version 2"):
        parse_meta_properties(b"version=2\n", WHERE)


@pytest.mark.parametrize("version", [0, 1])
def test_meta_properties_come_back(version: int) -> None:
    meta = MetaProperties(version=version, cluster_id="c", node_id=3, directory_id="d")
    assert parse_meta_properties(build_meta_properties(meta, stored="now"), WHERE) == meta


@pytest.mark.parametrize(
    ("text", "properties"),
    [  # each as java.util.Properties#load documents it
        ("Truth = Beauty", {"Truth": "Beauty"}),
        (" Truth:Beauty", {"Truth": "Beauty"}),
        ("Truth\t:Beauty ", {"Truth": "Beauty "}),
        ("fruits   apple, \\\n     pear, \\\n     fig", {"fruits": "apple, pear, fig"}),
        ("cheeses", {"cheeses": ""}),
        ("a\\=b\\:c\\ d=e=f", {"a=b:c d": "e=f"}),
        ("# no\n ! no\n\n  \nk=#v", {"k": "#v"}),
        ("k=\\u00e4\\t\\q\\\\", {"k": "ä\tq\\"}),
        ("k=1\nk=2", {"k": "2"}),
        ("k=v\\", {"k": "v"}),
        ("k=v\\\\\nl=w", {"k": "v\\", "l": "w"}),
        ("k=\xe4\r\nl=\xff\rm=", {"k": "ä", "l": "ÿ", "m": ""}),
    ],
)
def test_java_properties_are_read_as_java_reads_them(text: str, properties: dict[str, str]) -> None:
    assert parse_java_properties(text.encode("iso-8859-1"), WHERE) == properties


@given(
    properties=st.dictionaries(
        st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), min_size=1),
        st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"])),
    )
)
def test_any_properties_come_back(properties: dict[str, str]) -> None:
    assert parse_java_properties(build_java_properties(properties), WHERE) == properties


@given(content=st.binary(max_size=100))
def test_any_bytes_are_properties_or_refused(content: bytes) -> None:
    with contextlib.suppress(CorruptCheckpointError, UnsupportedFormatError):
        parse_meta_properties(content, WHERE)
    with contextlib.suppress(CorruptCheckpointError):
        parse_partition_metadata(content, WHERE)
    parse_clean_shutdown(content)


@pytest.mark.parametrize(
    ("content", "version", "broker_epoch"),
    [
        (b"", None, None),
        (b'{"version":0,"brokerEpoch":17}', 0, 17),
        (b'{"version":0}', 0, None),
        (b'{"version":0,"brokerEpoch":true}', 0, None),
        (b"garbage", None, None),
        (b"[1]", None, None),
        (b"\xff", None, None),
        (b"[" * 4000, None, None),
        (b"1" * 100_000, None, None),
    ],
)
def test_clean_shutdown_marker_is_read_or_its_epoch_unknown(
    content: bytes, version: int | None, broker_epoch: int | None
) -> None:
    marker = CleanShutdown(version=version, broker_epoch=broker_epoch)
    assert parse_clean_shutdown(content) == marker


def test_clean_shutdown_marker_is_written_as_kafka_writes_it() -> None:
    assert build_clean_shutdown(17) == b'{"version":0,"brokerEpoch":17}'
    assert build_clean_shutdown(None) == b""
