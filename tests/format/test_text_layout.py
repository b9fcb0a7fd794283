"""Small text files, line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.errors import CorruptCheckpointError, LogPosition
from kafkalog_reader.format.text_layout import (
    clean_shutdown_structures,
    leader_epoch_structures,
    meta_properties_structures,
    offset_checkpoint_structures,
    partition_metadata_structures,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kafkalog_reader.format.layout import Structure

    Structures = Callable[[bytes, LogPosition], Iterator[Structure]]

WHERE = LogPosition("file", 0)


def shown(structure: Structure) -> list[tuple[int, bytes, str, str]]:
    assert all(field.is_text for field in structure.fields)
    return [
        (field.position, field.content, field.name, field.meaning) for field in structure.fields
    ]


def test_entries_of_an_offset_checkpoint_are_numbered_from_0() -> None:
    (structure,) = offset_checkpoint_structures(b"0\n2\nt 3 42\nu 0 7\n", WHERE)
    assert structure.title == "offset checkpoint"
    assert shown(structure) == [
        (0, b"0", "version", ""),
        (2, b"2", "count", "of the entries below"),
        (4, b"t 3 42", "entry 0", "t-3 at offset 42"),
        (11, b"u 0 7", "entry 1", "u-0 at offset 7"),
    ]


def test_entries_of_a_leader_epoch_checkpoint_are_explained() -> None:
    (structure,) = leader_epoch_structures(b"0\n1\n5 17\n", WHERE)
    assert structure.title == "leader epoch checkpoint"
    assert shown(structure)[2] == (4, b"5 17", "entry 0", "leader epoch 5 starts at offset 17")


@pytest.mark.parametrize(
    ("structures", "content"),
    [
        pytest.param(offset_checkpoint_structures, b"0\n1\nt 3\n", id="offset_missing"),
        pytest.param(offset_checkpoint_structures, b"0\n1\nt 3 4 5\n", id="field_too_many"),
        pytest.param(leader_epoch_structures, b"0\n1\n5\n", id="start_offset_missing"),
        pytest.param(leader_epoch_structures, b"0\n1\n5 17 3\n", id="epoch_with_three_fields"),
    ],
)
def test_malformed_line_is_shown_before_the_error(structures: Structures, content: bytes) -> None:
    found = structures(content, WHERE)
    assert shown(next(found))[2][3] == "malformed"
    with pytest.raises(CorruptCheckpointError):
        next(found)


def test_partition_metadata_has_a_version_and_a_topic_id() -> None:
    content = b"version: 0\ntopic_id: Rkc3T8I8TNqKIlZlGI6KUA\n"
    (structure,) = partition_metadata_structures(content, WHERE)
    assert [field.name for field in structure.fields] == ["version", "topic id"]
    (structure,) = partition_metadata_structures(content + b"other: 1\n", WHERE)
    assert [field.name for field in structure.fields] == ["version", "topic id", "ignored"]


def test_meta_properties_are_shown_as_stored_and_as_read() -> None:
    content = b"#comment\nversion=1\nnode.id=4\ncluster.id=c\n"
    lines, read = meta_properties_structures(content, WHERE)
    assert shown(lines)[1:3] == [(9, b"version=1", "line 2", ""), (19, b"node.id=4", "line 3", "")]
    assert shown(read) == [
        (len(content), b"", "version", "1"),
        (len(content), b"", "clusterId", "c"),
        (len(content), b"", "nodeId", "4"),
        (len(content), b"", "directoryId", "not said"),
    ]


def test_clean_shutdown_marker_may_be_empty() -> None:
    lines, read = clean_shutdown_structures(b"", WHERE)
    assert lines.fields == ()
    assert [field.meaning for field in read.fields] == ["not said", "not said"]


def test_clean_shutdown_marker_has_the_broker_epoch() -> None:
    content = b'{"version":0,"brokerEpoch":57}'
    lines, read = clean_shutdown_structures(content, WHERE)
    assert shown(lines) == [(0, content, "content", "")]
    assert [(field.name, field.meaning) for field in read.fields] == [
        ("version", "0"), ("brokerEpoch", "57"),
    ]  # fmt: skip


@pytest.mark.parametrize("content", [b"\n", b"x" * 1024, b"x" * 1025, b"\xff" * 9000])
def test_no_content_of_a_clean_shutdown_marker_is_an_error(content: bytes) -> None:
    lines, read = clean_shutdown_structures(content, WHERE)
    assert lines.fields[0].content == content.strip()[:1024]
    assert [field.meaning for field in read.fields] == ["not said", "not said"]
