"""Keys and values of control records: format reference 14.5."""

from __future__ import annotations

import pytest

from fixtures.builder.stored_batches import build_control_record_key
from kafkalog_reader.errors import CorruptRecordError, LogPosition
from kafkalog_reader.format.control_record import (
    ControlRecordKey,
    EndTransactionMarker,
    parse_control_record_key,
    parse_end_transaction_marker,
)
from kafkalog_reader.format.control_record import ControlType as Type

WHERE = LogPosition("00000000000000000000.log", 61, 7)


@pytest.mark.parametrize(
    ("content", "version", "control_type"),
    [
        pytest.param("0000 0000", 0, Type.ABORT, id="abort"),
        pytest.param("0000 0001", 0, Type.COMMIT, id="commit"),
        pytest.param("0001 0002", 1, Type.LEADER_CHANGE, id="newer_version"),
        pytest.param("0000 0003", 0, Type.SNAPSHOT_HEADER, id="snapshot_header"),
        pytest.param("0000 0004 ffff", 0, Type.SNAPSHOT_FOOTER, id="bytes_of_a_newer_version"),
        pytest.param("0000 0005", 0, Type.KRAFT_VERSION, id="kraft_version"),
        pytest.param("0000 0006", 0, Type.KRAFT_VOTERS, id="last_known_type"),
        pytest.param("0000 0007", 0, Type.UNKNOWN, id="next_type"),
    ],
)
def test_key_is_a_version_and_a_type(content: str, version: int, control_type: Type) -> None:
    key = parse_control_record_key(bytes.fromhex(content), WHERE)
    assert (key.version, key.control_type) == (version, control_type)


@pytest.mark.parametrize("type_id", [7, -1, -2, 32767])
def test_unknown_control_type_is_kept(type_id: int) -> None:
    content = build_control_record_key(ControlRecordKey(version=0, type_id=type_id))
    key = parse_control_record_key(content, WHERE)
    assert key.type_id == type_id
    assert key.control_type is Type.UNKNOWN


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        pytest.param(None, "not a control record key: null", id="null"),
        pytest.param(b"", "not a control record key: 0 bytes, ", id="empty"),
        pytest.param(b"\0\0\0", "not a control record key: 3 bytes, 000000", id="cut_short"),
        pytest.param(b"\xff\xff\0\0", "control record key version -1", id="negative_version"),
    ],
)
def test_damaged_key_is_refused_with_its_place(key: bytes | None, problem: str) -> None:
    with pytest.raises(CorruptRecordError) as caught:
        parse_control_record_key(key, WHERE)
    assert (caught.value.problem, caught.value.where) == (problem, WHERE)


def test_marker_is_a_version_and_the_epoch_of_its_coordinator() -> None:
    for content in ("0000 00000005", "0000 00000005 ff"):
        marker = parse_end_transaction_marker(bytes.fromhex(content), WHERE)
        assert marker == EndTransactionMarker(version=0, coordinator_epoch=5)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        pytest.param(None, "not an end-transaction marker: null", id="null"),
        pytest.param(bytes(5), "not an end-transaction marker: 5 bytes, 0000000000", id="short"),
        pytest.param(b"\x80" + bytes(5), "end-transaction marker version -32768", id="negative"),
    ],
)
def test_damaged_marker_is_refused_with_its_place(value: bytes | None, problem: str) -> None:
    with pytest.raises(CorruptRecordError) as caught:
        parse_end_transaction_marker(value, WHERE)
    assert (caught.value.problem, caught.value.where) == (problem, WHERE)
