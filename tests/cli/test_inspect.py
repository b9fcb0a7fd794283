"""``kafkalog inspect``: every structure, and positions at which none starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from fixtures.builder import cluster, data_batch, marker_batch, parse_log, replica
from kafkalog_reader.cli.inspect import inspect_command
from kafkalog_reader.errors import (
    CorruptIndexError,
    CorruptRecordError,
    KafkaLogError,
    UnsupportedFormatError,
    UsageError,
)
from kafkalog_reader.format.batch_fields import TRANSACTIONAL_BIT
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.record import Record, RecordHeader
from tests.format.vectors import (
    ABORT,
    CLEANER_RESULT,
    EMPTY,
    LEADER_CHANGE,
    LEGACY_V1,
    PLAIN,
    TRANSACTIONAL,
    T,
)

if TYPE_CHECKING:
    from pathlib import Path

LOG = "00000000000000000100.log"


def _inspect(*arguments: str) -> Result:
    return CliRunner().invoke(inspect_command, arguments)


def _lines(path: Path, position: int | str = 0) -> list[str]:
    result = _inspect(str(path), "--position", str(position))
    assert result.exception is None, result.exception
    return result.stdout.splitlines()


def _error(path: Path, position: int = 0) -> KafkaLogError:
    result = _inspect(str(path), "--position", str(position))
    assert isinstance(result.exception, KafkaLogError), result.exception
    return result.exception


def _written(tmp_path: Path, name: str, content: bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


def test_batch_of_the_reference_is_shown_byte_by_byte(tmp_path: Path) -> None:
    assert _lines(_written(tmp_path, LOG, PLAIN)) == [
        "record batch, offsets 100 to 102",
        "  0  00 00 00 00 00 00 00 64   baseOffset             100",
        "  8  00 00 00 54               batchLength            84   96 bytes in all",
        " 12  00 00 00 07               partitionLeaderEpoch   7",
        " 16  02                        magic                  2",
        " 17  0b 80 6d 4c               crc                    0x0b806d4c   valid",
        " 21  00 00                     attributes             "
        "no compression, CreateTime, not transactional",
        " 23  00 00 00 02               lastOffsetDelta        2   last offset 102",
        " 27  00 00 01 8b cf e5 68 00   baseTimestamp          "
        "1700000000000 2023-11-14T22:13:20.000Z",
        " 35  00 00 01 8b cf e5 68 05   maxTimestamp           "
        "1700000000005 2023-11-14T22:13:20.005Z",
        " 43  ff ff ff ff ff ff ff ff   producerId             -1 none",
        " 51  ff ff                     producerEpoch          -1 none",
        " 53  ff ff ff ff               baseSequence           -1 none",
        " 57  00 00 00 03               recordsCount           3",
        "",
        "record 0, offset 100",
        " 61  14                        length                 10   (varint of 1 byte)",
        " 62  00                        attributes             0   unused",
        " 63  00                        timestampDelta         "
        "0   1700000000000 2023-11-14T22:13:20.000Z   (varint of 1 byte)",
        " 64  00                        offsetDelta            0   offset 100   (varint of 1 byte)",
        " 65  04                        keyLength              2   (varint of 1 byte)",
        " 66  6b 31                     key                    'k1'",
        " 68  04                        valueLength            2   (varint of 1 byte)",
        " 69  76 31                     value                  'v1'",
        " 71  00                        headersCount           0   (varint of 1 byte)",
        "",
        "record 1, offset 101",
        " 72  0e                        length                 7   (varint of 1 byte)",
        " 73  00                        attributes             0   unused",
        " 74  0a                        timestampDelta         "
        "5   1700000000005 2023-11-14T22:13:20.005Z   (varint of 1 byte)",
        " 75  02                        offsetDelta            1   offset 101   (varint of 1 byte)",
        " 76  01                        keyLength              -1 null   (varint of 1 byte)",
        " 77  02                        valueLength            1   (varint of 1 byte)",
        " 78  78                        value                  'x'",
        " 79  00                        headersCount           0   (varint of 1 byte)",
        "",
        "record 2, offset 102",
        " 80  1e                        length                 15   (varint of 1 byte)",
        " 81  00                        attributes             0   unused",
        " 82  06                        timestampDelta         "
        "3   1700000000003 2023-11-14T22:13:20.003Z   (varint of 1 byte)",
        " 83  04                        offsetDelta            2   offset 102   (varint of 1 byte)",
        " 84  04                        keyLength              2   (varint of 1 byte)",
        " 85  6b 32                     key                    'k2'",
        " 87  01                        valueLength            -1 null   (varint of 1 byte)",
        " 88  04                        headersCount           2   (varint of 1 byte)",
        " 89  02                        header 0 keyLength     1   (varint of 1 byte)",
        " 90  68                        header 0 key           'h'",
        " 91  02                        header 0 valueLength   1   (varint of 1 byte)",
        " 92  31                        header 0 value         '1'",
        " 93  02                        header 1 keyLength     1   (varint of 1 byte)",
        " 94  6e                        header 1 key           'n'",
        " 95  01                        header 1 valueLength   -1 null   (varint of 1 byte)",
    ]


@pytest.mark.parametrize(
    ("content", "meanings"),
    [
        pytest.param(
            TRANSACTIONAL, ["CreateTime, transactional", "0   last sequence 0"], id="transactional"
        ),
        pytest.param(
            ABORT,
            ["transactional, control batch", "type 0 ABORT", "version 0, coordinator epoch 5"],
            id="abort",
        ),
        pytest.param(LEADER_CHANGE, ["type 2 LEADER_CHANGE"], id="leader_change"),
        pytest.param(EMPTY, ["0   empty batch, kept by the cleaner"], id="empty"),
        pytest.param(
            CLEANER_RESULT,
            [
                "delete horizon set",
                "1700086400100 2023-11-15T22:13:20.100Z   this is the delete horizon",
                "2   of 3 offsets: rewritten by the cleaner",
                "-86400095   1700000000005",
                "(varint of 4 bytes)",
            ],
            id="cleaned",
        ),
    ],
)
def test_attributes_and_special_values_are_spelled_out(
    tmp_path: Path, content: bytes, meanings: list[str]
) -> None:
    shown = "\n".join(_lines(_written(tmp_path, LOG, content)))
    assert [meaning for meaning in meanings if meaning not in shown] == []


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_compressed_records_are_shown_with_positions_in_the_payload(
    tmp_path: Path, codec: Codec
) -> None:
    batch = data_batch(7, [Record(offset_delta=0, key=b"", value=b"v" * 40)], codec=codec)
    lines = _lines(_written(tmp_path, LOG, batch.build()))
    start = lines.index("record 0, offset 7   (byte positions in the 47 bytes decompressed)")
    assert codec.text in lines[6]
    assert lines[start + 1].startswith("  0  5c ")
    assert "0 empty, not null" in lines[start + 5]
    assert lines[-2].strip() == "... 8 more bytes"


def test_overlong_varint_is_pointed_out(tmp_path: Path) -> None:
    record = bytes.fromhex("12 00 00 8000 01 0276 8000")
    batch = data_batch(0, [Record(offset_delta=0)], payload=record)
    shown = "\n".join(_lines(_written(tmp_path, LOG, batch.build())))
    assert "0   offset 0   (varint of 2 bytes, 1 would do)" in shown


def test_wrong_crc_is_shown_with_the_right_one(tmp_path: Path) -> None:
    content = PLAIN[:17] + bytes(4) + PLAIN[21:]
    lines = _lines(_written(tmp_path, LOG, content))
    assert lines[5].endswith("0x00000000   WRONG, computed 0x0b806d4c")
    assert lines[-1].endswith("-1 null   (varint of 1 byte)")


def test_position_may_be_grouped_as_our_own_output_is(tmp_path: Path) -> None:
    path = _written(tmp_path, LOG, PLAIN * 20)
    assert _lines(path, "1,056")[1].startswith("1056  00 00 00 00 00 00 00 64")


@pytest.mark.parametrize(
    ("position", "answer"),
    [
        (1, "One starts at 0, the next at 96"),
        (95, "One starts at 0, the next at 96"),
        (130, "One starts at 96, the next at 192 (the end of the file)"),
        (192, "the file ends at 192, so its last byte is 191"),
    ],
)
def test_position_inside_a_batch_is_answered_with_the_nearest_starts(
    tmp_path: Path, position: int, answer: str
) -> None:
    error = _error(_written(tmp_path, LOG, PLAIN * 2), position)
    assert isinstance(error, UsageError)
    assert answer in str(error)


def test_batch_after_damage_is_shown_although_no_chain_leads_there(tmp_path: Path) -> None:
    path = _written(tmp_path, LOG, PLAIN + b"\xff" * 50 + PLAIN)
    assert _lines(path, 146)[1].startswith("146  00 00 00 00 00 00 00 64")
    error = _error(path, 120)
    assert "The last position that batches lead to is 96" in str(error)


def test_torn_batch_shows_its_header_and_says_how_much_is_there(tmp_path: Path) -> None:
    result = _inspect(str(_written(tmp_path, LOG, PLAIN + PLAIN[:-1])), "--position", "96")
    assert "not checked: the batch is not whole" in result.stdout
    assert isinstance(result.exception, CorruptRecordError)
    assert "95 of 96 bytes" in str(result.exception)


@pytest.mark.parametrize(
    ("content", "error", "problem"),
    [
        pytest.param(bytes(200), CorruptRecordError, "batch length 0", id="zeros"),
        pytest.param(LEGACY_V1[:30], CorruptRecordError, "30 of 36", id="half_a_message"),
        pytest.param(PLAIN[:30], CorruptRecordError, "30 of 61", id="half_a_header"),
        pytest.param(PLAIN[:9], CorruptRecordError, "9 bytes", id="nine_bytes"),
        pytest.param(
            PLAIN[:16] + b"\x09" + PLAIN[17:], UnsupportedFormatError, "magic 9", id="magic_9"
        ),
        pytest.param(b"", UsageError, "the file is empty", id="empty_file"),
    ],
)
def test_file_that_begins_with_no_batch_says_why(
    tmp_path: Path, content: bytes, error: type[KafkaLogError], problem: str
) -> None:
    raised = _error(_written(tmp_path, LOG, content))
    assert isinstance(raised, error)
    assert problem in str(raised)


@pytest.mark.parametrize(
    ("name", "content", "position", "line"),
    [
        (LOG, bytes(70), 0, "  0  00 00 00 00 00 00 00 00   bytes"),
        (LOG, b"\x00\x01\x02", 0, "  0  00 01 02                  bytes"),
        (
            "00000000000000000000.index",
            bytes(8) + b"\x07",
            8,
            "  8  07                        bytes",
        ),
    ],
)
def test_bytes_without_a_meaning_are_shown_before_the_error(
    tmp_path: Path, name: str, content: bytes, position: int, line: str
) -> None:
    result = _inspect(str(_written(tmp_path, name, content)), "--position", str(position))
    assert isinstance(result.exception, KafkaLogError)
    assert line in result.output


def test_impossible_header_is_shown_before_the_error(tmp_path: Path) -> None:
    result = _inspect(str(_written(tmp_path, LOG, PLAIN[:16] + b"\x09" + PLAIN[17:])))
    assert " 16  09                        magic                  9" in result.stdout
    assert isinstance(result.exception, UnsupportedFormatError)


def test_damaged_record_is_shown_up_to_the_damage(tmp_path: Path) -> None:
    good = data_batch(0, [Record(offset_delta=0, key=b"k")])
    payload = good.build()[61:] + bytes.fromhex("20 00 00 02 01 7e 61")
    batch = data_batch(0, [Record(offset_delta=1)], payload=payload, records_count=2)
    result = _inspect(str(_written(tmp_path, LOG, batch.build())))
    lines = result.stdout.splitlines()
    assert "record 1, damaged" in lines
    assert lines[-1].endswith("valueLength            63   (varint of 1 byte)")
    assert isinstance(result.exception, CorruptRecordError)


@pytest.fixture
def broker(tmp_path: Path) -> Path:
    log = [
        *parse_log("a@0/e0 b@1/e0"),
        data_batch(
            2,
            [Record(offset_delta=0, headers=(RecordHeader(key="h", value=None),))],
            producer_id=9,
            producer_epoch=1,
            base_sequence=2**31 - 1,
            flags=TRANSACTIONAL_BIT,
        ),
        marker_batch(
            3, control_type=ControlType.ABORT, producer_id=9, producer_epoch=1, timestamp=T + 9000
        ),
    ]
    described = replica(log, high_watermark=3, index_interval=0, preallocated=96)
    return cluster(tmp_path, {1: described}, clean={1})[1]


@pytest.mark.parametrize(
    ("name", "position", "last_line"),
    [
        (
            "t-0/00000000000000000000.index",
            8,
            " 12  00 00 00 8a               position               138",
        ),
        (
            "t-0/00000000000000000000.timeindex",
            0,
            "  8  00 00 00 01               relativeOffset         1   offset 1",
        ),
        (
            "t-0/00000000000000000000.txnindex",
            0,
            " 26  00 00 00 00 00 00 00 04   lastStableOffset       4",
        ),
        (
            "t-0/00000000000000000004.snapshot",
            0,
            " 48  ff ff ff ff ff ff ff ff   currentTransactionFirstOffset   "
            "-1 no transaction is open",
        ),
        (
            "t-0/leader-epoch-checkpoint",
            0,
            "  4  0 0   entry 0                leader epoch 0 starts at offset 0",
        ),
        ("t-0/partition.metadata", 0, " 11  topic_id: AAAAAAAAAAEAAAAAAAAABQ   topic id"),
        (
            "replication-offset-checkpoint",
            0,
            "  4  t 0 3   entry 0                t-0 at offset 3",
        ),
        ("meta.properties", 0, "122     directoryId            AAAAAAAAAAIAAAAAAAAD6Q"),
        (".kafka_cleanshutdown", 0, " 29     brokerEpoch            0"),
    ],
)
def test_every_other_file_is_shown(broker: Path, name: str, position: int, last_line: str) -> None:
    assert _lines(broker / name, position)[-1] == last_line


def test_snapshot_entry_is_shown_with_its_first_sequence(broker: Path) -> None:
    lines = _lines(broker / "t-0/00000000000000000004.snapshot", 10)
    assert lines[3].endswith("2147483647   first sequence 2147483647")


@pytest.mark.parametrize(
    ("name", "position", "answer"),
    [
        ("t-0/00000000000000000000.index", 9, "One starts at 8, the next at 16"),
        ("t-0/00000000000000000004.snapshot", 5, "One starts at 0, the next at 10"),
        ("t-0/00000000000000000000.timeindex", 4000, "the file ends at 24"),
        ("meta.properties", 3, "shown as a whole"),
    ],
)
def test_position_where_no_entry_starts_is_answered(
    broker: Path, name: str, position: int, answer: str
) -> None:
    error = _error(broker / name, position)
    assert isinstance(error, UsageError)
    assert answer in str(error)


def test_index_entry_cut_short_is_corrupt(tmp_path: Path) -> None:
    error = _error(_written(tmp_path, "00000000000000000000.index", bytes(11)), 8)
    assert isinstance(error, CorruptIndexError)
    assert "3 of 8 bytes" in str(error)


def test_preallocated_zeros_are_named(tmp_path: Path) -> None:
    path = _written(tmp_path, "00000000000000000000.timeindex.deleted", bytes(24))
    assert _lines(path, 12)[0] == ("time index entry 1   all zeros: preallocated, or damage")


def test_malformed_checkpoint_is_shown_before_the_error(tmp_path: Path) -> None:
    result = _inspect(str(_written(tmp_path, "cleaner-offset-checkpoint", b"0\n1\nt zero\n")))
    assert "t zero" in result.stdout
    assert "malformed" in result.stdout
    assert "line 3" in str(result.exception)


def test_hostile_text_cannot_act_on_a_terminal(tmp_path: Path) -> None:
    path = _written(tmp_path, "cleaner-offset-checkpoint", b"0\n1\n\x1b[31mt 0 1\n")
    assert "\x1b" not in _inspect(str(path)).stdout


def test_missing_file_and_unknown_name_are_errors(tmp_path: Path) -> None:
    assert "No such file" in str(_error(tmp_path / LOG))
    error = _error(_written(tmp_path, "notes.txt", b"x"))
    assert isinstance(error, UsageError)
    assert "*.log" in str(error)


def test_help_has_an_example() -> None:
    assert "kafkalog inspect /mnt/b1/orders-17/" in _inspect("--help").stdout


@pytest.mark.parametrize(
    ("name", "problem"), [("gone.log", "No such file or directory"), (".", "is a directory")]
)
def test_what_is_not_a_file_is_said_to_be_none(tmp_path: Path, name: str, problem: str) -> None:
    assert problem in str(_error(tmp_path / name))
