"""``meta.properties`` of a log directory."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.builder.small_files import (
    build_meta_properties,
)
from kafkalog_reader.errors import CorruptCheckpointError, LogPosition, UnsupportedFormatError
from kafkalog_reader.format.meta_properties import MetaProperties, parse_meta_properties

WHERE = LogPosition("file")


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


@given(content=st.binary(max_size=100))
def test_any_bytes_are_properties_or_refused(content: bytes) -> None:
    with contextlib.suppress(CorruptCheckpointError, UnsupportedFormatError):
        parse_meta_properties(content, WHERE)
