"""Names that Kafka writes (format reference, section 1), and hostile ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalog_reader.io.names import (
    DirectoryName,
    SegmentFileName,
    parse_directory_name,
    parse_segment_file_name,
    parse_snapshot_file_name,
    segment_file_name,
    shown,
)

HEX = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("t-0", DirectoryName("t", 0, None)),
        ("my-topic.with_all-17", DirectoryName("my-topic.with_all", 17, None)),
        ("a-b--1", DirectoryName("a-b-", 1, None)),
        ("t-2147483647", DirectoryName("t", 2147483647, None)),
        ("t-007", DirectoryName("t", 7, None)),
        ("a.b-delete-3", DirectoryName("a.b-delete", 3, None)),
        ("__cluster_metadata-0", DirectoryName("__cluster_metadata", 0, None)),
        (f"t-0.{HEX}-delete", DirectoryName("t", 0, "delete")),
        (f"a.b-c-12.{HEX}-future", DirectoryName("a.b-c", 12, "future")),
        (f"t-0.{HEX}-stray", DirectoryName("t", 0, "stray")),
        ("x" * 249 + "-0", DirectoryName("x" * 249, 0, None)),
        ("x" * 213 + f"-0.{HEX}-delete", DirectoryName("x" * 213, 0, "delete")),
    ],
)
def test_partition_directory_name_is_taken_apart_at_the_last_dash(
    name: str, expected: DirectoryName
) -> None:
    assert parse_directory_name(name) == expected


@pytest.mark.parametrize(
    "name",
    [
        "", "-", "-0", "t", "t-", "..-0", ".-0", "t-2147483648", "a-99999999999", "t-0x1", "t--",
        "lost+found", "remote-log-index-cache", "t-0\n", "t\n-0", "t -0", "t\u202e-0", "t-٣",
        "t-\x1b[31m-0", "bad\udcff-0", f"t.{HEX}-delete", "t-0-delete", "t-0.-delete",
        "x" * 250 + "-0", "x" * 249 + f"-0.{HEX}-delete",
    ],
)  # fmt: skip
def test_name_outside_the_grammar_is_not_a_partition_directory(name: str) -> None:
    assert parse_directory_name(name) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("00000000000000000000.log", SegmentFileName(0, "log", None)),
        ("00000000000000012345.index", SegmentFileName(12345, "index", None)),
        ("09223372036854775807.timeindex", SegmentFileName(2**63 - 1, "timeindex", None)),
        ("00000000000000000007.txnindex.deleted", SegmentFileName(7, "txnindex", "deleted")),
        ("00000000000000000007.log.cleaned", SegmentFileName(7, "log", "cleaned")),
        ("00000000000000000007.log.swap", SegmentFileName(7, "log", "swap")),
        ("0.log", None),
        ("09223372036854775808.log", None),
        ("00000000000000000000.deleted.log", None),
        ("00000000000000000000.log.deleted.swap", None),
        ("00000000000000000000.snapshot", None),
        ("0000000000000000000x.log", None),
        ("00000000000000000000.log\n", None),
    ],
)
def test_segment_file_name_has_twenty_digits_a_kind_and_maybe_a_suffix(
    name: str, expected: SegmentFileName | None
) -> None:
    assert parse_segment_file_name(name) == expected


@given(
    base_offset=st.integers(0, 2**63 - 1),
    kind=st.sampled_from(["log", "index", "timeindex", "txnindex"]),
    suffix=st.sampled_from([None, "deleted", "cleaned", "swap"]),
)
def test_segment_file_name_that_is_built_parses_back(
    base_offset: int, kind: str, suffix: str | None
) -> None:
    name = segment_file_name(base_offset, kind, suffix)
    assert parse_segment_file_name(name) == SegmentFileName(base_offset, kind, suffix)


def test_snapshot_file_name_holds_an_offset() -> None:
    assert parse_snapshot_file_name("00000000000000000023.snapshot") == 23
    assert parse_snapshot_file_name("00000000000000000023.snapshot.deleted") is None
    assert parse_snapshot_file_name("09223372036854775808.snapshot") is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("orders-3", "orders-3"),
        ("größe", "größe"),
        ("a\nb", "a\\nb"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("gnp\u202etxt", "gnp\\u202etxt"),
        ("bad\udcff", "bad\\xff"),
        ("\x9b", "\\x9b"),
    ],
)
def test_hostile_name_is_shown_escaped(name: str, expected: str) -> None:
    assert shown(name) == expected


@given(st.text(st.characters(exclude_categories=[]), max_size=50))
def test_whatever_is_shown_is_one_printable_line_of_utf_8(name: str) -> None:
    assert shown(name).isprintable()
    shown(name).encode("utf-8")
