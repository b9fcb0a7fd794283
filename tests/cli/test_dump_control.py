"""Expected text: the format reference 12.3 and the fields of Kafka's message definitions."""

from __future__ import annotations

import struct

import pytest

from kafkalog_reader.cli.dump_control import control_record_words
from kafkalog_reader.errors import CorruptRecordError, LogPosition

WHERE = LogPosition("f.log", 0, 0)
VOTER = struct.pack(">i", 3)
DIRECTORY = bytes(15) + b"\x05"
NO_TAGS = b"\x00"


def key(kind: int) -> bytes:
    return struct.pack(">hh", 0, kind)


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (0, struct.pack(">hi", 0, 3), " endTxnMarker: ABORT coordinatorEpoch: 3"),
        (1, struct.pack(">hi", 0, 7), " endTxnMarker: COMMIT coordinatorEpoch: 7"),
        (
            2,
            struct.pack(">hi", 0, 3) + (b"\x02" + VOTER + NO_TAGS) * 2 + NO_TAGS,
            ' LeaderChange: {"version":0,"leaderId":3,"voters":[{"voterId":3}],'
            '"grantingVoters":[{"voterId":3}]}',
        ),
        (
            2,
            struct.pack(">hi", 1, 3) + b"\x02" + VOTER + DIRECTORY + NO_TAGS + b"\x01" + NO_TAGS,
            ' LeaderChange: {"version":1,"leaderId":3,"voters":[{"voterId":3,'
            '"voterDirectoryId":"AAAAAAAAAAAAAAAAAAAABQ"}],"grantingVoters":[]}',
        ),
        (
            3,
            struct.pack(">hq", 0, 99) + NO_TAGS,
            ' SnapshotHeader {"version":0,"lastContainedLogTimestamp":99}',
        ),
        (4, struct.pack(">h", 0) + b"\x01\x07\x02xy", ' SnapshotFooter {"version":0}'),
        (5, struct.pack(">hh", 0, 1) + NO_TAGS, ' KRaftVersion {"version":0,"kRaftVersion":1}'),
        (
            6,
            struct.pack(">h", 0) + b"\x02" + VOTER + DIRECTORY
            + b"\x02\x02C\x0alocalhost" + struct.pack(">H", 9093) + NO_TAGS
            + struct.pack(">hh", 0, 1) + NO_TAGS + NO_TAGS + NO_TAGS,
            ' KRaftVoters {"version":0,"voters":[{"voterId":3,'
            '"voterDirectoryId":"AAAAAAAAAAAAAAAAAAAABQ","endpoints":[{"name":"C",'
            '"host":"localhost","port":9093}],"kRaftVersionFeature":{"minSupportedVersion":0,'
            '"maxSupportedVersion":1}}]}',
        ),
        (9, b"", " controlType: UNKNOWN(9)"),
    ],
)  # fmt: skip
def test_control_records_are_spelled_out(kind: int, value: bytes, words: str) -> None:
    assert control_record_words(key(kind), value, WHERE) == words


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (0, b"\x00"), (1, None), (2, None), (2, b"\x00\x00\x00\x00\x00\x03\xff\xff\xff\xff\x7f"),
        (6, b"\x00\x00" + b"\xff" * 9 + b"\x7f"), (5, b"\x00\x00\x00\x01" + b"\xff" * 8 + b"\x01"),
    ],
)  # fmt: skip
def test_a_lying_value_is_an_error_with_its_place(kind: int, value: bytes | None) -> None:
    with pytest.raises(CorruptRecordError) as caught:
        control_record_words(key(kind), value, WHERE)
    assert caught.value.where.file == "f.log"
