"""Keys, values and frames of records in internal topics."""

from __future__ import annotations

import pytest

from kafkalog_reader.format.messages.decoder import MessageError, UnknownVersionError
from kafkalog_reader.format.messages.records import decode_framed, decode_key, decode_value
from kafkalog_reader.format.messages.schema import Family


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b"", "ends within its frame"),
        (b"\x00\x02\x00", "frame version 0"),
        (b"\x01\x03\x09", "version 9"),
        (b"\x01\x02\x00\xff\xff\xff\xff\x0f", "name has 4294967294 bytes"),
        (b"\x01\x02\x00\xff\xff\xff\xff\xff\xff", "five|5 bytes"),
        (b"\x01\x02\x00\x00", "null"),
        (b"\x01\x09\x00" + bytes(16) + b"\x00\x00", "1 more bytes after"),
    ],
)
def test_lying_frames_are_refused(value: bytes, message: str) -> None:
    with pytest.raises(MessageError, match=message):
        decode_framed(Family.METADATA, value)


def test_a_type_that_no_release_has_keeps_its_number() -> None:
    framed = decode_framed(Family.METADATA, b"\x01\x63\x02xyz")
    assert (framed.type, framed.version, framed.message) == (99, 2, None)
    key = decode_key(Family.GROUP, b"\x00\x63group")
    assert (key.type, key.message) == (99, None)


def test_a_commit_of_version_0_and_one_that_no_broker_loads() -> None:
    key = decode_key(Family.GROUP, b"\x00\x01\x00\x01g\x00\x01t\x00\x00\x00\x07")
    assert dict(key.fields) == {"group": "g", "topic": "t", "partition": 7}
    value = decode_value(
        Family.GROUP, key.type, b"\x00\x00" + (5).to_bytes(8) + b"\x00\x01m" + bytes(8)
    )
    assert (value.fields["offset"], value.fields["metadata"]) == (5, "m")
    with pytest.raises(UnknownVersionError, match="version 9"):
        decode_value(Family.GROUP, key.type, b"\x00\x09")


def test_a_shape_of_an_older_release_is_found_by_what_fits() -> None:
    """DelegationTokenRecord 0 got the field of its requester in 3.6 without a new version."""
    empty = b"\x01"  # compact array without elements
    old = b"\x01\x0a\x00" + b"\x02o" + empty + bytes(24) + b"\x02i" + b"\x00"
    decoded = decode_framed(Family.METADATA, old)
    assert decoded.message is not None
    assert (decoded.message.release, decoded.fields["tokenId"]) == ("3.5.2", "i")
