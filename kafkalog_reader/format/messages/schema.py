"""The fields of a message in each of its versions.

Source: the JSON files from which Kafka generates its message classes (KIP-482). ``definitions.py``
has them in a compact form: a line for a message, an indented line for each of its fields.

    group value 2 GroupMetadataValue 0-4 flexible 4+
     generation int32
     members []MemberMetadata
      groupInstanceId string 3+ nullable 3+
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkalog_reader.format.messages.definitions import DEFINITIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_LATEST: Final = 0x7FFF
"""The last version of a range without an end."""


class Family(StrEnum):
    """The topic or file in which messages occur; types are numbered within one family."""

    GROUP = "group"
    TRANSACTION = "transaction"
    SHARE = "share"
    METADATA = "metadata"
    REMOTE = "remote"
    CONTROL = "control"
    CONSUMER = "consumer"


class Part(StrEnum):
    """Which part of a record a message is; ``DATA`` is a blob within a message."""

    KEY = "key"
    VALUE = "value"
    DATA = "data"


class Versions(NamedTuple):
    """A range of versions, both ends included; empty if ``last`` is less than ``first``."""

    first: int
    last: int

    def __contains__(self, version: object) -> bool:
        """Whether a version is in the range."""
        return isinstance(version, int) and self.first <= version <= self.last

    @classmethod
    def parse(cls, text: str) -> Versions:
        """Parse ``3``, ``0-4``, ``2+`` or ``none``."""
        if text == "none":
            return cls(0, -1)
        if text.endswith("+"):
            return cls(int(text[:-1]), _LATEST)
        first, _, last = text.partition("-")
        return cls(int(first), int(last or first))


ALL_VERSIONS: Final = Versions(0, _LATEST)
NO_VERSIONS: Final = Versions(0, -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a message or structure.

    Attributes:
        type: ``int32``, ``string``, the name of a structure, or one of these after ``[]``.
        versions: of the message in which it occurs.
        nullable: versions in which it can be null.
        tagged: versions in which it is a tagged field, with the number ``tag``.
        default: as the definition spells it; empty for the type's own default.
        fields: of its structure, or of each element's.
    """

    name: str
    type: str
    versions: Versions = ALL_VERSIONS
    nullable: Versions = NO_VERSIONS
    tagged: Versions = NO_VERSIONS
    tag: int = -1
    default: str = ""
    fields: tuple[Field, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MessageSpec:
    """The definition of one message, like Kafka's ``org.apache.kafka.message.MessageSpec``.

    Attributes:
        type: number of the record type; -1 for a message that is not numbered.
        versions: all versions that Kafka reads.
        flexible: versions with compact lengths and tagged fields.
        release: the last release that wrote this shape; empty for the newest release.
    """

    family: Family
    part: Part
    type: int
    name: str
    versions: Versions
    flexible: Versions
    release: str
    fields: tuple[Field, ...]


@cache
def messages() -> Sequence[MessageSpec]:
    """All messages; shapes of older releases follow the newest one of their type."""
    return tuple(parse(DEFINITIONS.strip().splitlines()))


@cache
def messages_of(family: Family, part: Part) -> Mapping[int, tuple[MessageSpec, ...]]:
    """Messages of a family by type; several if a type changed without a new version."""
    found: dict[int, tuple[MessageSpec, ...]] = {}
    for message in messages():
        if (message.family, message.part) == (family, part):
            found[message.type] = (*found.get(message.type, ()), message)
    return found


@cache
def message(name: str) -> MessageSpec:
    """The newest message with a name.

    Raises:
        KeyError: there is none.
    """
    for each in messages():
        if each.name == name:
            return each
    raise KeyError(name)


def parse(lines: Iterable[str]) -> list[MessageSpec]:
    """Parse the lines of ``definitions.py``."""
    found: list[MessageSpec] = []
    rows: list[tuple[int, str]] = []
    header = ""
    for line in [*lines, "end"]:
        depth = len(line) - len(line.lstrip(" "))
        if depth:
            rows.append((depth, line.strip()))
            continue
        if header:
            found.append(_message(header, rows))
        header, rows = line, []
    return found


def _message(header: str, rows: Sequence[tuple[int, str]]) -> MessageSpec:
    family, part, type_, name, versions, *rest = header.split()
    marks = dict(zip(rest[::2], rest[1::2], strict=True))
    return MessageSpec(
        family=Family(family),
        part=Part(part),
        type=-1 if type_ == "-" else int(type_),
        name=name,
        versions=Versions.parse(versions),
        flexible=Versions.parse(marks.get("flexible", "none")),
        release=marks.get("until", ""),
        fields=_fields(rows, 1),
    )


def _fields(rows: Sequence[tuple[int, str]], depth: int) -> tuple[Field, ...]:
    starts = [index for index, (at, _) in enumerate(rows) if at == depth]
    ends = [*starts, len(rows)][1:]
    return tuple(
        _field(rows[start][1], rows[start + 1 : end], depth + 1)
        for start, end in zip(starts, ends, strict=True)
    )


def _field(row: str, inner: Sequence[tuple[int, str]], depth: int) -> Field:
    name, type_, *marks = row.split(" ")
    versions = ALL_VERSIONS
    if marks and marks[0][0].isdigit():
        versions = Versions.parse(marks.pop(0))
    nullable = tagged = NO_VERSIONS
    tag, default = -1, ""
    while marks:
        mark, value, *marks = marks
        if mark == "nullable":
            nullable = Versions.parse(value)
        elif mark == "tag":
            tag = int(value)
            tagged = Versions.parse(marks.pop(0))
        else:
            default = value
    return Field(
        name=name, type=type_, versions=versions, nullable=nullable, tagged=tagged, tag=tag,
        default=default, fields=_fields(inner, depth),
    )  # fmt: skip
