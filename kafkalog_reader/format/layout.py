"""Fields of a structure for display: each with its position, its bytes and their meaning."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.format.varint import VariableInteger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from construct import Construct, Struct

    Meaning = Callable[[Any], str]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNDERSCORE: Final = re.compile(r"_([a-z])")
_TEXT_SHOWN: Final[int] = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownField:
    """One field, to be shown like a line of a hex editor with names.

    Attributes:
        position: of its first byte; in the file, or in a decompressed payload.
        content: its bytes as stored; in a text file, the line.
        name: Kafka's, in camelCase.
        meaning: the value as text.
        is_text: whether to show ``content`` as text.
    """

    position: int
    content: bytes
    name: str
    meaning: str
    is_text: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """Fields that belong together, in file order."""

    title: str
    fields: tuple[ShownField, ...]


def unreadable_structure(what: str, content: bytes, position: int) -> Structure:
    """Bytes without a meaning, where ``what`` should be."""
    meaning = f"{len(content)} bytes that are no {what}"
    return Structure(
        title=f"no {what}, bytes from {position} on",
        fields=(ShownField(position=position, content=content, name="bytes", meaning=meaning),),
    )


class Walk:
    """Reads declared fields one after another and keeps a ``ShownField`` for each."""

    def __init__(self, content: bytes, position: int, start: int = 0) -> None:
        self._content = content
        self._stream = BytesIO(content)
        self._stream.seek(start)
        self._position = position
        self._fields: list[ShownField] = []

    def take(self, name: str, declaration: Construct, meaning: Meaning = str) -> Any:  # noqa: ANN401  # what the declaration yields
        """Read one field; a ConstructError of the declaration passes through."""
        start = self.tell()
        value = declaration.parse_stream(self._stream)
        content = self._content[start : self.tell()]
        words = meaning(value)
        if isinstance(declaration, VariableInteger):
            words += _varint_width(declaration, value, len(content))
        self._fields.append(
            ShownField(position=self._position + start, content=content, name=name, meaning=words)
        )
        return value

    def tell(self) -> int:
        """Number of bytes of the content that were read."""
        return self._stream.tell()

    def fields(self) -> tuple[ShownField, ...]:
        """Return the fields kept so far, and clear them."""
        fields, self._fields = tuple(self._fields), []
        return fields


def struct_fields(
    declaration: Struct,
    content: bytes,
    position: int,
    *,
    names: Mapping[str, str] | None = None,
    meanings: Mapping[str, Meaning] | None = None,
) -> Iterator[ShownField]:
    """Yield the fields of a declared structure that ``content`` begins with.

    Args:
        declaration: of named fields.
        content: at least as many bytes as the structure has.
        position: of ``content`` in the file.
        names: Kafka's names, if they are not the declared ones in camelCase.
        meanings: by declared name; the default is the value itself.
    """
    walk = Walk(content, position)
    for field in declaration.subcons:
        name = (names or {}).get(field.name, camel_case(field.name))
        walk.take(name, field, (meanings or {}).get(field.name, str))
    yield from walk.fields()


def camel_case(name: str) -> str:
    """Turn ``base_offset`` into ``baseOffset``."""
    return _UNDERSCORE.sub(lambda letter: letter[1].upper(), name)


def none_if_minus_one(value: int) -> str:
    """The value as text; in nearly every field −1 means none."""
    return "-1 none" if value == -1 else str(value)


def timestamp_text(timestamp: int) -> str:
    """Milliseconds since 1970, and as ISO 8601 in UTC if the year is 1 to 9999."""
    if timestamp == -1:
        return "-1 none"
    return f"{timestamp} {utc_text(timestamp)}"


def utc_text(timestamp: int) -> str:
    """Milliseconds since 1970 as ISO 8601, or a text that this is impossible."""
    try:
        moment = _EPOCH + timedelta(milliseconds=timestamp)
    except OverflowError:
        return "outside of the years 1 to 9999"
    return f"{moment.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def bytes_text(content: bytes) -> str:
    """Quote UTF-8 text; show only the size of other bytes."""
    try:
        text = content[:_TEXT_SHOWN].decode("utf-8", "strict" if len(content) <= 60 else "ignore")
    except UnicodeDecodeError:
        return f"{len(content)} bytes, not UTF-8"
    return repr(text) if len(content) <= _TEXT_SHOWN else f"{text!r}... {len(content)} bytes"


def _varint_width(declaration: VariableInteger, value: int, width: int) -> str:
    needed = len(declaration.encode(value))
    unit = "byte" if width == 1 else "bytes"
    return f"   (varint of {width} {unit}{'' if width == needed else f', {needed} would do'})"
