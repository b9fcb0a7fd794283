"""Kafka's text form of UUIDs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalog_reader.format.uuid import ZERO_UUID, uuid_bytes, uuid_text

TOPIC_ID = "AAAAAAAAAAEAAAAAAAAABQ"  # msb 1, lsb 5: format reference 14.8


def test_uuid_of_the_reference_is_read_and_written() -> None:
    content = (1).to_bytes(8, "big") + (5).to_bytes(8, "big")
    assert uuid_text(content) == TOPIC_ID
    assert uuid_bytes(TOPIC_ID) == content
    assert uuid_text(bytes(16)) == ZERO_UUID


@given(content=st.binary(min_size=16, max_size=16))
def test_any_uuid_comes_back(content: bytes) -> None:
    assert uuid_bytes(uuid_text(content)) == content


@pytest.mark.parametrize("text", ["", "A" * 21, "A" * 23, "+" * 22, "ä" * 22, "A" * 22 + "="])
def test_text_that_is_not_a_uuid_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="base64url"):
        uuid_bytes(text)
