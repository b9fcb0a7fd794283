"""The compact definitions of messages."""

from __future__ import annotations

import pytest

from kafkalog_reader.format.messages.schema import (
    ALL_VERSIONS,
    NO_VERSIONS,
    Family,
    Field,
    Part,
    Versions,
    message,
    messages_of,
    parse,
)


@pytest.mark.parametrize(
    ("text", "versions", "inside", "outside"),
    [
        pytest.param("3", (3, 3), [3], [2, 4], id="one"),
        pytest.param("0-4", (0, 4), [0, 4], [-1, 5], id="range"),
        pytest.param("2+", (2, 0x7FFF), [2, 0x7FFF], [1, 0x8000], id="without_an_end"),
        pytest.param("none", (0, -1), [], [-1, 0, 1], id="none"),
    ],
)
def test_range_of_versions(
    text: str, versions: tuple[int, int], inside: list[int], outside: list[int]
) -> None:
    parsed = Versions.parse(text)
    assert parsed == versions
    assert all(version in parsed for version in inside)
    assert not any(version in parsed for version in outside)


def test_message_and_its_fields_are_read() -> None:
    definition = """\
group value 2 GroupMetadataValue 0-4 flexible 4+ until 2.8
 generation int32
 leader string 1+ nullable 2-3 default null
 members []MemberMetadata
  memberId string
  tail []Inner 3+
   size int16
 name string 4+ nullable 4+ tag 7 4+
remote value - Other 0
"""
    first, second = parse(definition.splitlines())
    assert (first.family, first.part, first.type) == (Family.GROUP, Part.VALUE, 2)
    assert (first.name, first.versions, first.flexible) == (
        "GroupMetadataValue", (0, 4), (4, 0x7FFF),
    )  # fmt: skip
    assert first.release == "2.8"
    size = Field(name="size", type="int16")
    members = (
        Field(name="memberId", type="string"),
        Field(name="tail", type="[]Inner", versions=Versions(3, 0x7FFF), fields=(size,)),
    )
    assert first.fields == (
        Field(name="generation", type="int32"),
        Field(
            name="leader", type="string", versions=Versions(1, 0x7FFF), nullable=Versions(2, 3),
            default="null",
        ),
        Field(name="members", type="[]MemberMetadata", fields=members),
        Field(
            name="name", type="string", versions=Versions(4, 0x7FFF),
            nullable=Versions(4, 0x7FFF), tagged=Versions(4, 0x7FFF), tag=7,
        ),
    )  # fmt: skip
    assert (second.type, second.flexible, second.release) == (-1, NO_VERSIONS, "")
    assert second.fields == ()


def test_a_field_occurs_in_all_versions_unless_it_says_otherwise() -> None:
    ((field,),) = (each.fields for each in parse(["group key 1 Key 0-1", " group string"]))
    assert (field.versions, field.nullable, field.tagged) == (
        ALL_VERSIONS, NO_VERSIONS, NO_VERSIONS,
    )  # fmt: skip


def test_messages_of_a_family_are_found_by_type() -> None:
    keys = messages_of(Family.GROUP, Part.KEY)
    assert keys[2][0].name == "GroupMetadataKey", "coordinator.group GroupMetadataKey.json"
    assert {each.part for found in keys.values() for each in found} == {Part.KEY}
    assert {each.family for found in keys.values() for each in found} == {Family.GROUP}
    values = messages_of(Family.TRANSACTION, Part.VALUE)
    assert [each.name for each in values[0]] == ["TransactionLogValue"]


def test_message_is_found_by_its_name() -> None:
    assert message("OffsetCommitValue").part is Part.VALUE
    with pytest.raises(KeyError, match="NoSuchMessage"):
        message("NoSuchMessage")


def test_shapes_of_older_releases_follow_the_newest_of_their_type() -> None:
    shapes = messages_of(Family.SHARE, Part.VALUE) | messages_of(Family.METADATA, Part.VALUE)
    releases = [[each.release for each in found] for found in shapes.values() if len(found) > 1]
    assert releases, "there are some"
    assert all(first == "" and all(others) for first, *others in releases)
