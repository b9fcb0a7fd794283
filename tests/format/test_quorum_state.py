"""``quorum-state`` as controllers of 4.3.1 and 4.4.0 wrote it, and what is not one."""

from __future__ import annotations

import pytest

from kafkalog_reader.errors import CorruptCheckpointError, LogPosition, UnsupportedFormatError
from kafkalog_reader.format.quorum_state import QuorumState, parse_quorum_state

WHERE = LogPosition("quorum-state")
VERSION_0 = (
    b'{"clusterId":"","leaderId":100,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,'
    b'"currentVoters":[{"voterId":100}],"data_version":0}'
)
VERSION_1 = (
    b'{"leaderId":-1,"leaderEpoch":3,"votedId":2,"votedDirectoryId":"tVdkPtgiThqW4_F8CLZDWw",'
    b'"data_version":1}'
)


def test_version_0_has_the_configured_voters() -> None:
    assert parse_quorum_state(VERSION_0, WHERE) == QuorumState(
        version=0, leader_epoch=1, leader_id=100, voted_id=None, voted_directory_id=None,
        voters=(100,),
    )  # fmt: skip


def test_version_1_has_the_directory_of_the_candidate() -> None:
    assert parse_quorum_state(VERSION_1, WHERE) == QuorumState(
        version=1, leader_epoch=3, leader_id=None, voted_id=2,
        voted_directory_id="tVdkPtgiThqW4_F8CLZDWw", voters=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    "content",
    [
        b"", b"[]", b"{", b"[" * 100_000, b'{"data_version":0}',
        VERSION_0.replace(b'"leaderEpoch":1', b'"leaderEpoch":"1"'),
        VERSION_0.replace(b'"leaderEpoch":1', b'"leaderEpoch":true'),
        VERSION_0.replace(b'[{"voterId":100}]', b"[100]"),
        VERSION_0.replace(b'[{"voterId":100}]', b'[{"voterId":null}]'),
        VERSION_1.replace(b'"tVdkPtgiThqW4_F8CLZDWw"', b"7"),
    ],
    ids=lambda content: content[:20].decode(),
)  # fmt: skip
def test_anything_else_is_corrupt(content: bytes) -> None:
    with pytest.raises(CorruptCheckpointError) as caught:
        parse_quorum_state(content, WHERE)
    assert caught.value.where == WHERE


def test_a_newer_version_is_refused_by_its_number() -> None:
    content = VERSION_1.replace(b'"data_version":1', b'"data_version":2')
    with pytest.raises(UnsupportedFormatError, match="version 2"):
        parse_quorum_state(content, WHERE)
