"""Subscriptions and assignments of classic members, as clients write them."""

from __future__ import annotations

import struct

import pytest

from kafkalog_reader.format.messages.consumer_protocol import decode_assignment, decode_subscription
from kafkalog_reader.format.messages.decoder import MessageError


def text(content: str) -> bytes:
    return struct.pack(">h", len(content)) + content.encode()


def blob(content: bytes | None) -> bytes:
    return struct.pack(">i", -1) if content is None else struct.pack(">i", len(content)) + content


def partitions(topic: str, *numbers: int) -> bytes:
    return (
        struct.pack(">i", 1)
        + text(topic)
        + struct.pack(f">{1 + len(numbers)}i", len(numbers), *numbers)
    )


def subscription(version: int, user_data: bytes | None = None, rest: bytes = b"") -> bytes:
    return struct.pack(">hi", version, 1) + text("t") + blob(user_data) + rest


OWNED = partitions("t", 2, 0)


@pytest.mark.parametrize(
    ("content", "owned", "generation", "rack"),
    [
        (subscription(0), None, None, None),
        (subscription(1, rest=OWNED), (("t", 2), ("t", 0)), None, None),
        (subscription(2, rest=OWNED + struct.pack(">i", -1)), (("t", 2), ("t", 0)), None, None),
        (subscription(3, rest=OWNED + struct.pack(">i", 5) + text("r")),
         (("t", 2), ("t", 0)), 5, "r"),
        (subscription(9, rest=OWNED + struct.pack(">ih", 5, -1) + b"later"),
         (("t", 2), ("t", 0)), 5, None),
    ],
)  # fmt: skip
def test_every_version(
    content: bytes, owned: object, generation: int | None, rack: str | None
) -> None:
    found = decode_subscription(content, "range")
    assert found.topics == ("t",)
    assert (found.owned, found.generation, found.rack_id) == (owned, generation, rack)


@pytest.mark.parametrize(
    ("assignor", "user_data", "owned", "generation"),
    [
        ("sticky", partitions("t", 1), (("t", 1),), None),  # before Kafka 2.3
        ("sticky", partitions("t", 1) + struct.pack(">i", 7), (("t", 1),), 7),
        ("cooperative-sticky", struct.pack(">i", 7), None, 7),
        ("range", partitions("t", 1), None, None),
        ("sticky", b"\x7f\xff\xff\xff", None, None),
        ("cooperative-sticky", b"\0", None, None),
    ],
)
def test_user_data_of_sticky_assignors(
    assignor: str, user_data: bytes, owned: object, generation: int | None
) -> None:
    found = decode_subscription(subscription(0, user_data), assignor)
    assert (found.owned, found.generation, found.user_data) == (owned, generation, user_data)


def test_an_assignment() -> None:
    found = decode_assignment(struct.pack(">h", 1) + OWNED + blob(b"x"))
    assert (found.version, found.partitions, found.user_data) == (1, (("t", 2), ("t", 0)), b"x")


@pytest.mark.parametrize(
    "content", [b"", b"\0", b"\xff\xff", b"\0\0\x7f\xff\xff\xff", b"\0\0\0\0\0\x01\0\x05t"]
)
def test_what_does_not_fit_is_refused(content: bytes) -> None:
    for decode in (decode_assignment, lambda each: decode_subscription(each, "sticky")):
        with pytest.raises(MessageError):
            decode(content)
