"""The text grammar of the checkpoints: format reference 5.2 to 5.4."""

from __future__ import annotations

import contextlib
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.builder.small_files import build_offset_checkpoint
from kafkalog_reader.errors import CorruptCheckpointError, LogPosition, UnsupportedFormatError
from kafkalog_reader.format.checkpoint import (
    LeaderEpochEntry,
    OffsetCheckpointEntry,
    build_leader_epoch_checkpoint,
    parse_leader_epoch_checkpoint,
    parse_offset_checkpoint,
    parse_offset_rows,
)

WHERE = LogPosition("checkpoint")


def test_leader_epochs_of_the_reference_partition_are_read_and_written() -> None:
    content = b"0\n3\n0 0\n2 10\n5 17\n"
    entries = (
        LeaderEpochEntry(leader_epoch=0, start_offset=0),
        LeaderEpochEntry(leader_epoch=2, start_offset=10),
        LeaderEpochEntry(leader_epoch=5, start_offset=17),
    )
    assert parse_leader_epoch_checkpoint(content, WHERE) == entries
    assert build_leader_epoch_checkpoint(entries) == content


def test_out_of_order_epochs_are_not_repaireded() -> None:
    entries = parse_leader_epoch_checkpoint(b"0\n3\n0 0\n5 10\n2 17\n", WHERE)
    assert [entry.leader_epoch for entry in entries] == [0, 5, 2]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"0\n1\nmy-topic 3 42\n", id="as_written"),
        pytest.param(b"0\r\n1\r\nmy-topic 3 42\r\n", id="windows_newlines"),
        pytest.param(b"0\n1\nmy-topic \t 3  42 ", id="other_whitespace_and_no_last_newline"),
        pytest.param(b"+0\n1\nmy-topic +3 42\n", id="plus_sign_as_java_takes_it"),
    ],
)
def test_offset_row_is_read(content: bytes) -> None:
    row = OffsetCheckpointEntry(topic="my-topic", partition=3, offset=42)
    assert parse_offset_checkpoint(content, WHERE) == (row,)
    assert parse_offset_rows(content, WHERE) == {("my-topic", 3): 42}


@pytest.mark.parametrize("content", [b"", b"0\n", b"0", b"0\n0\n", b"0\n0"])
def test_file_without_entries_is_sound(content: bytes) -> None:
    assert parse_offset_checkpoint(content, WHERE) == ()
    assert parse_offset_rows(content, WHERE) == {}


@pytest.mark.parametrize(
    ("content", "problem", "position"),
    [
        pytest.param(b"\n1\na 0 0\n", "line 1: .* version, found ''", 0, id="empty_first_line"),
        pytest.param(b"zero\n", "line 1: .* found 'zero'", 0, id="version_in_words"),
        pytest.param(b"-1\n", "line 1: .* negative", 0, id="version_negative"),
        pytest.param(bytes(40), "line 1", 0, id="zeros"),
        pytest.param(b"0\nx\n", "line 2: .* count", 2, id="count_in_words"),
        pytest.param(b"0\n-1\n", "line 2: .* outside", 2, id="count_negative"),
        pytest.param(b"0\n99999999999\n", "line 2: .* outside", 2, id="count_beyond_an_int"),
        pytest.param(
            b"0\n1\n a 0 0\n", "line 3: expected 3 fields, found 4", 4, id="leading_space"
        ),
        pytest.param(b"0\n1\na 0\n", "line 3: expected 3 fields, found 2", 4, id="field_missing"),
        pytest.param(b"0\n1\na b 0 0\n", "line 3: expected 3 .* 4", 4, id="field_too_many"),
        pytest.param(b"0\n2\na 0 0\nb 0 x\n", "line 4: .* offset", 10, id="offset_in_words"),
        pytest.param(b"0\n1\na -1 0\n", "line 3: partition -1", 4, id="partition_negative"),
        pytest.param(b"0\n1\na 2147483648 0\n", "line 3: partition", 4, id="partition_too_big"),
        pytest.param(b"0\n1\na 0 9223372036854775808\n", "line 3: offset", 4, id="offset_too_big"),
        pytest.param(b"0\n1\n\xff 0 0\n", "line 3: topic is not UTF-8", 4, id="topic_not_utf8"),
        pytest.param(b"0\n1\na 0 0\nb 0 0\n", "line 4: more entries", 10, id="more_than_count"),
        pytest.param(b"0\n2\na 0 0\n", "announces 2 entries, found 1", None, id="fewer_than_count"),
    ],
)
def test_broken_grammar_is_located_by_line(
    content: bytes, problem: str, position: int | None
) -> None:
    with pytest.raises(CorruptCheckpointError, match=problem) as caught:
        parse_offset_checkpoint(content, WHERE)
    assert caught.value.where == LogPosition("checkpoint", position)
    with pytest.raises(CorruptCheckpointError, match=problem):
        parse_offset_rows(content, WHERE)


def test_newer_version_is_unsupported_not_corrupt() -> None:
    with pytest.raises(UnsupportedFormatError, match="version 1"):
        parse_leader_epoch_checkpoint(b"1\n0\n", WHERE)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"0\n1000000000\na 0 0\n", id="count_of_a_billion"),
        pytest.param(b"0\n1\n" + b"x" * (100 << 20), id="line_of_100_mib"),
        pytest.param(b"0" * (100 << 20), id="version_of_100_mib"),
    ],
)
def test_hostile_size_costs_no_memory(content: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(CorruptCheckpointError) as caught:
            parse_offset_checkpoint(content, WHERE)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    assert len(str(caught.value)) < 300


@given(
    entries=st.lists(
        st.builds(
            OffsetCheckpointEntry,
            topic=st.text("abcXYZ019._-", min_size=1, max_size=249),
            partition=st.integers(0, 2**31 - 1),
            offset=st.integers(0, 2**63 - 1),
        )
    ).map(tuple)
)
def test_any_rows_come_back(entries: tuple[OffsetCheckpointEntry, ...]) -> None:
    content = build_offset_checkpoint(entries)
    assert parse_offset_checkpoint(content, WHERE) == entries
    assert parse_offset_rows(content, WHERE) == {
        (entry.topic, entry.partition): entry.offset for entry in entries
    }


@given(content=st.binary(max_size=80) | st.text("0123 \nab", max_size=80).map(str.encode))
def test_any_bytes_are_rows_or_refused(content: bytes) -> None:
    with contextlib.suppress(CorruptCheckpointError, UnsupportedFormatError):
        parse_leader_epoch_checkpoint(content, WHERE)
