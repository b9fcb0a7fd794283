"""Messages of Kafka's own classes are decoded; bytes that are not messages are refused."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from fixtures import jars
from kafkalog_reader.format.messages.decoder import (
    MAX_ELEMENTS,
    MAX_TAGS,
    UNKNOWN_TAGS,
    MessageError,
    UnknownVersionError,
    decode,
)
from kafkalog_reader.format.messages.json_form import as_json
from kafkalog_reader.format.messages.schema import (
    Family,
    Field,
    MessageSpec,
    Part,
    message,
    messages,
    messages_of,
    parse,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

WRITER: Final = Path(jars.__file__).parent / "java" / "WriteMessages.java"
PACKAGES: Final = {
    Family.GROUP: "org.apache.kafka.coordinator.group.generated",
    Family.TRANSACTION: "org.apache.kafka.coordinator.transaction.generated",
    Family.SHARE: "org.apache.kafka.coordinator.share.generated",
    Family.METADATA: "org.apache.kafka.common.metadata",
    Family.REMOTE: "org.apache.kafka.server.log.remote.metadata.storage.generated",
    Family.CONTROL: "org.apache.kafka.common.message",
    Family.CONSUMER: "org.apache.kafka.common.message",
}
INTEGERS: Final = {"int8": 7, "int16": 15, "uint16": 16, "int32": 31, "uint32": 32, "int64": 63}
UUIDS: Final = ("AAAAAAAAAAAAAAAAAAAAAQ", "-_-_-_-_-_-_-_-_-_-_-w")
COPIES: Final = 16


def invented(fields: Sequence[Field], version: int, dice: random.Random) -> dict[str, Any]:
    """JSON of a structure with random values."""
    return {
        field.name: one(field, version, dice)
        for field in fields
        if version in field.versions and not (version in field.tagged and dice.random() < 0.3)
    }


def one(field: Field, version: int, dice: random.Random) -> Any:
    if version in field.nullable and dice.random() < 0.25:
        return None
    if field.type.startswith("[]"):
        element = Field(name=field.name, type=field.type[2:], fields=field.fields)
        counts = (0, 1, 2) if field.fields else (0, 1, 2, 130)  # 130: a length of two bytes
        return [one(element, version, dice) for _ in range(dice.choice(counts))]
    if field.fields:
        return invented(field.fields, version, dice)
    if field.type in INTEGERS:
        bits = INTEGERS[field.type]
        low = 0 if field.type.startswith("u") else -(1 << bits)
        return dice.choice((0, 1, low, (1 << bits) - 1, dice.randint(low, (1 << bits) - 1)))
    return {
        "bool": dice.random() < 0.5,
        "float64": dice.uniform(-1e9, 1e9),
        "string": dice.choice(("", "group", "größe 群", "x" * 200)),
        "uuid": dice.choice(UUIDS),
        "bytes": dice.choice(("", "AAEC", "/" * 256)),
    }[field.type]


def test_what_kafkas_classes_write_is_decoded_as_they_print_it() -> None:
    dice = random.Random(16)
    asked: list[tuple[MessageSpec, int, str]] = [
        (each, version, json.dumps(invented(each.fields, version, dice)))
        for each in messages()
        if not each.release
        for version in range(each.versions.first, each.versions.last + 1)
        for _ in range(COPIES)
    ]
    lines = "".join(
        f"{PACKAGES[each.family]}.{each.name}\t{version}\t{text}\n" for each, version, text in asked
    )
    done = subprocess.run(
        ["java", "-cp", jars.class_path(), str(WRITER)],
        input=lines, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip
    written = done.stdout.splitlines()
    assert (done.returncode, len(written)) == (0, len(asked)), done.stderr[-2000:]
    for (each, version, _), line in zip(asked, written, strict=True):
        content, _, expected = line.partition("\t")
        value = decode(each, version, bytes.fromhex(content))
        assert as_json(each, version, value) == json.loads(expected), (each.name, version)


def test_every_record_type_of_the_newest_release_has_a_key_and_a_value() -> None:
    for family in (Family.GROUP, Family.TRANSACTION, Family.SHARE):
        keys, values = messages_of(family, Part.KEY), messages_of(family, Part.VALUE)
        assert keys.keys() == values.keys()
    assert sorted(messages_of(Family.GROUP, Part.KEY)) == [*range(18), *range(19, 24)]
    assert sorted(messages_of(Family.SHARE, Part.KEY)) == [0, 1]
    assert sorted(messages_of(Family.REMOTE, Part.VALUE)) == [0, 1, 2, 3]


def test_unknown_tagged_fields_are_kept_with_their_number() -> None:
    commit = message("OffsetCommitValue")
    content = bytes(8) + bytes(4) + b"\x02m" + bytes(8) + b"\x01\x09\x02\xca\xfe"
    value = decode(commit, 4, content)
    assert (value["metadata"], value[UNKNOWN_TAGS]) == ("m", {9: b"\xca\xfe"})
    assert as_json(commit, 4, value).keys() == {
        "offset",
        "leaderEpoch",
        "metadata",
        "commitTimestamp",
    }


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "ends too early"),
        (bytes(7), "ends too early"),
        (bytes(8) + b"\x00\x05abc", "5 bytes expected, 3 left"),
        (bytes(8) + b"\xff\xff" + bytes(8), "metadata is null"),
        (bytes(8) + b"\x00\x00" + bytes(9), "1 more bytes after"),
    ],
)
def test_bytes_that_are_not_a_commit(content: bytes, problem: str) -> None:
    with pytest.raises(MessageError, match=problem):
        decode(message("LegacyOffsetCommitValue"), 0, content)


def test_a_version_that_no_release_has() -> None:
    with pytest.raises(UnknownVersionError, match="version 5; the known ones are 0 to 4"):
        decode(message("OffsetCommitValue"), 5, bytes(100))


HOSTILE = parse(["metadata value 99 Hostile 0-1 flexible 1", " names []string", " numbers []int8"])[
    0
]


@pytest.mark.parametrize(
    ("version", "content"),
    [
        (0, b"\x7f\xff\xff\xff"),  # two billion elements
        (0, (MAX_ELEMENTS + 1).to_bytes(4) + bytes(2 * MAX_ELEMENTS + 2)),
        (1, b"\xff\xff\xff\xff\xff\x01"),  # a varint of six bytes
        (1, b"\xff\xff\xff\xff\x0f"),
        (1, b"\x01\x01" + b"\x91\x4e" + b"\x00\x00" * (MAX_TAGS + 1)),
        (1, b"\x01\x01\x01\x00\xff\xff\xff\xff\x0f"),  # a tagged field of 4 GiB
        (1, b"\x02\x81\x80\x02" + bytes(0x8000) + b"\x01\x00"),  # a name of 32,768 bytes
    ],
)
def test_hostile_counts_are_refused(version: int, content: bytes) -> None:
    with pytest.raises(MessageError):
        decode(HOSTILE, version, content)


def test_the_longest_string_is_read() -> None:
    """MessageDataGenerator: a string of more than 0x7fff bytes has an invalid length."""
    content = b"\x02\x80\x80\x02" + b"x" * 0x7FFF + b"\x01\x00"
    assert decode(HOSTILE, 1, content) == {"names": ["x" * 0x7FFF], "numbers": []}


def test_a_null_array_is_not_an_empty_one() -> None:
    with pytest.raises(MessageError, match="names is null"):
        decode(HOSTILE, 0, b"\xff\xff\xff\xff" + bytes(4))
    assert decode(HOSTILE, 0, bytes(8)) == {"names": [], "numbers": []}
