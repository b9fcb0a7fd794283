"""``kafkalog inspect`` on messages of magic 0 and 1, and on wrappers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from fixtures.builder.stored_messages import build_message, build_wrapper
from kafkalog_reader.cli.inspect import inspect_command
from kafkalog_reader.errors import CorruptRecordError, UnsupportedFormatError, UsageError
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.message_set import LegacyRecord
from tests.format.vectors import LEGACY_V0, LEGACY_V1, PLAIN, WRAPPERS

if TYPE_CHECKING:
    from pathlib import Path

LOG = "00000000000000000042.log"


def _inspect(folder: Path, content: bytes, position: int = 0) -> Result:
    path = folder / LOG
    path.write_bytes(content)
    return CliRunner().invoke(inspect_command, [str(path), "--position", str(position)])


def test_message_of_magic_1_is_shown_byte_by_byte(tmp_path: Path) -> None:
    result = _inspect(tmp_path, LEGACY_V1)
    assert result.exception is None
    assert result.stdout.splitlines() == [
        "message, offset 42",
        "  0  00 00 00 00 00 00 00 2a   offset                 42",
        "  8  00 00 00 18               size                   24   36 bytes in all",
        " 12  39 26 8c 33               crc                    0x39268c33   valid",
        " 16  01                        magic                  1",
        " 17  00                        attributes             no compression, CreateTime",
        " 18  00 00 01 8b cf e5 68 00   timestamp              "
        "1700000000000 2023-11-14T22:13:20.000Z",
        " 26  00 00 00 01               keyLength              1",
        " 30  6b                        key                    'k'",
        " 31  00 00 00 01               valueLength            1",
        " 35  76                        value                  'v'",
    ]


def test_message_among_others_is_shown_at_its_position(tmp_path: Path) -> None:
    position = len(PLAIN) + len(LEGACY_V1)
    lines = _inspect(tmp_path, PLAIN + LEGACY_V1 + LEGACY_V0, position).stdout.splitlines()
    assert lines[0] == "message, offset 42"
    assert lines[5] == "149  00                        attributes             no compression"
    assert lines[6] == "150  00 00 00 01               keyLength              1"


def test_messages_inside_a_wrapper_are_shown_decompressed(tmp_path: Path) -> None:
    lines = _inspect(tmp_path, WRAPPERS[1, "gzip"]).stdout.splitlines()
    assert " 17  01                        attributes             gzip, CreateTime" in lines
    assert any(line.endswith("value                  gzip data") for line in lines)
    title = "inner message 1, offset 43   (byte positions in the 71 bytes decompressed)"
    assert lines[lines.index(title) + 1] == (
        " 36  00 00 00 00 00 00 00 01   offset                 1   relative, offset 43"
    )
    assert lines[-2:] == [
        " 66  00 00 00 01               valueLength            1",
        " 70  77                        value                  'w'",
    ]


def test_inner_offsets_of_magic_0_are_shown_as_they_are(tmp_path: Path) -> None:
    lines = _inspect(tmp_path, WRAPPERS[0, "lz4"]).stdout.splitlines()
    start = lines.index(
        "inner message 0, offset 42   (byte positions in the 55 bytes decompressed)"
    )
    assert lines[start + 1].endswith("offset                 42")


def test_wrong_crc_of_a_message_is_shown_with_the_right_one(tmp_path: Path) -> None:
    result = _inspect(tmp_path, LEGACY_V0[:12] + bytes(4) + LEGACY_V0[16:])
    assert result.exception is None
    assert "0x00000000   WRONG, computed 0x1fecd70a" in result.stdout


def test_reserved_bits_and_null_are_shown(tmp_path: Path) -> None:
    result = _inspect(tmp_path, build_message(None, b"", magic=0, attributes=0x48))
    assert "no compression, reserved bits 0x48 set" in result.stdout
    assert "keyLength              -1 null" in result.stdout
    assert "valueLength            0 empty, not null" in result.stdout


def test_position_where_no_message_starts_names_the_nearest(tmp_path: Path) -> None:
    result = _inspect(tmp_path, LEGACY_V1 * 3, 40)
    assert isinstance(result.exception, UsageError)
    assert "One starts at 36, the next at 72" in str(result.exception)


@pytest.mark.parametrize(
    ("content", "shown", "error"),
    [
        pytest.param(
            build_message(b"k", b"v", key_length=-2),
            "message, offset 0, damaged",
            CorruptRecordError,
            id="key_length_-2",
        ),
        pytest.param(LEGACY_V1[:30], "message, offset 42, damaged", CorruptRecordError, id="torn"),
        pytest.param(
            build_wrapper(
                [LegacyRecord(offset=5)],
                codec=Codec.GZIP,
                content=build_message(b"k", b"v", value_length=9),
            ),
            "inner message 0, offset 5   (byte positions in the 36 bytes decompressed), damaged",
            CorruptRecordError,
            id="inner_value_too_long",
        ),
        pytest.param(
            build_message(None, b"v", attributes=6),
            "codec 6, which messages lack",
            UnsupportedFormatError,
            id="codec_6",
        ),
    ],
)
def test_damaged_message_is_shown_up_to_the_damage(
    tmp_path: Path, content: bytes, shown: str, error: type[Exception]
) -> None:
    result = _inspect(tmp_path, content)
    assert shown in result.stdout
    assert isinstance(result.exception, error)
