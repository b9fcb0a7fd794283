"""KRaft's control records: bytes of the format reference, and of a controller of 4.4.0."""

from __future__ import annotations

import pytest

from kafkalog_reader.errors import CorruptRecordError, LogPosition
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.kraft_message import parse_kraft_message

WHERE = LogPosition("a log", offset=1)
LEADER_CHANGE = bytes.fromhex("0000 00000001 03 00000001 00 00000002 00 02 00000001 00 00")
KRAFT_VERSION = bytes.fromhex("0000 0001 00")
VOTER = (
    "00000001 38199340a9344f669f0588d44bcc3141"
    " 02 0b434f4e54524f4c4c4552 0b31302e37372e302e3131 2385 00 0000 0001 00 00"
)
"""Node 1 at CONTROLLER://10.77.0.11:9093, which supports kraft.version 0 and 1."""


def test_a_leader_change_names_the_leader_and_who_granted() -> None:
    message = parse_kraft_message(ControlType.LEADER_CHANGE, LEADER_CHANGE, WHERE)
    assert message.leaderId == 1
    assert [each.voterId for each in message.voters] == [1, 2]
    assert [each.voterId for each in message.grantingVoters] == [1]


def test_kraft_version_is_a_number() -> None:
    assert parse_kraft_message(ControlType.KRAFT_VERSION, KRAFT_VERSION, WHERE).kRaftVersion == 1


def test_a_voter_has_a_directory_id_and_endpoints() -> None:
    value = bytes.fromhex(f"0000 02 {VOTER} 00")
    (voter,) = parse_kraft_message(ControlType.KRAFT_VOTERS, value, WHERE).voters
    assert (voter.voterId, voter.voterDirectoryId) == (1, "OBmTQKk0T2afBYjUS8wxQQ")
    (endpoint,) = voter.endpoints
    assert (endpoint.name, endpoint.host, endpoint.port) == ("CONTROLLER", "10.77.0.11", 9093)


@pytest.mark.parametrize("value", [None, b"", LEADER_CHANGE[:-3], b"\0\0" + b"\xff" * 9])
def test_other_bytes_are_corrupt(value: bytes | None) -> None:
    with pytest.raises(CorruptRecordError, match="not a LEADER_CHANGE message"):
        parse_kraft_message(ControlType.LEADER_CHANGE, value, WHERE)
