"""Decodes a message by its definition into plain Python values.

A structure becomes a dictionary in the order of its definition, an array a list, a UUID its text.
Tagged fields that a definition does not name are kept under ``UNKNOWN_TAGS``, by number: Kafka adds
such fields without a new version. Source: org.apache.kafka.message.MessageDataGenerator, KIP-482.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.format.uuid import UUID_SIZE, ZERO_UUID, uuid_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kafkalog_reader.format.messages.schema import Field, MessageSpec

    Read = Callable[[bytes, int], tuple["Value", int]]

UNKNOWN_TAGS: Final = "_unknownTaggedFields"
MAX_ELEMENTS: Final = 1_000_000
"""Maximum number of elements of one array, as since Kafka 4.4."""
MAX_TAGS: Final = 10_000
"""Maximum number of tagged fields of one structure, as since Kafka 4.4."""
MAX_STRING: Final = 0x7FFF
"""Maximum number of bytes of a string, in each release."""

Value = Any
"""A number, boolean, text, bytes, None, or a list or dictionary of such values."""

_FIXED: Final = {
    "bool": "?", "int8": "b", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "int64": "q", "float64": "d",
}  # fmt: skip
_MAX_VARINT: Final = 5
_INT16: Final = struct.Struct(">h")
_INT32: Final = struct.Struct(">i")


class MessageError(ValueError):
    """The bytes are not the message.

    Attributes:
        position: of the first byte that does not fit.
    """

    def __init__(self, problem: str, position: int) -> None:
        super().__init__(f"{problem} (at byte {position})")
        self.position = position


class UnknownVersionError(MessageError):
    """No known release of Kafka reads this version of the message."""


def decode(
    message: MessageSpec, version: int, content: bytes, position: int = 0
) -> dict[str, Value]:
    """Decode a message that ends where its bytes end.

    Raises:
        UnknownVersionError: the definition does not have the version.
        MessageError: the bytes end too early or too late, or do not fit the definition.
    """
    value, end = decode_prefix(message, version, content, position)
    if end != len(content):
        raise MessageError(f"{len(content) - end} more bytes after {message.name}", end)
    return value


def decode_prefix(
    message: MessageSpec, version: int, content: bytes, position: int = 0
) -> tuple[dict[str, Value], int]:
    """Decode a message that more bytes may follow; also return where it ends.

    Raises:
        UnknownVersionError: the definition does not have the version.
        MessageError: the bytes end too early or do not fit the definition.
    """
    if version not in message.versions:
        first, last = message.versions
        known = str(first) if first == last else f"{first} to {last}"
        problem = f"{message.name} has version {version}; the known ones are {known}"
        raise UnknownVersionError(problem, position)
    try:
        value, end = _reader(message, version)(content, position)
    except (struct.error, IndexError) as error:
        raise MessageError(f"{message.name} ends too early", len(content)) from error
    return value, end


@cache
def _reader(message: MessageSpec, version: int) -> Read:
    return _structure(message.fields, version, is_flexible=version in message.flexible)


def _structure(fields: Sequence[Field], version: int, *, is_flexible: bool) -> Read:
    present = [field for field in fields if version in field.versions]
    tagged = {field.tag: field for field in present if version in field.tagged}
    steps = _steps(
        [field for field in present if version not in field.tagged], version, is_flexible
    )
    names = [field.name for field in present]
    tag_readers = {
        tag: (field.name, _value(field, version, is_flexible)) for tag, field in tagged.items()
    }
    defaults = {field.name: default_of(field, version) for field in tagged.values()}

    def read(content: bytes, position: int) -> tuple[Value, int]:
        value: dict[str, Value] = {}
        for name, fixed, read_one in steps:
            if fixed is not None:
                value.update(zip(name, fixed.unpack_from(content, position), strict=True))
                position += fixed.size
            else:
                value[name], position = read_one(content, position)
        if is_flexible:
            if content[position] == 0:
                position += 1
            else:
                position = _tags(content, position, tag_readers, value)
            if defaults:
                value = {**defaults, **value}
                unknown = value.get(UNKNOWN_TAGS)
                value = {name: value[name] for name in names}
                if unknown is not None:
                    value[UNKNOWN_TAGS] = unknown
        return value, position

    return read


def _steps(fields: Sequence[Field], version: int, is_flexible: bool) -> list[Any]:
    """The reading steps, in order; neighbouring fields of fixed size are read together."""
    steps: list[Any] = []
    run: list[Field] = []
    for field in [*fields, None]:
        if field is not None and field.type in _FIXED:
            run.append(field)
            continue
        if run:
            layout = struct.Struct(">" + "".join(_FIXED[each.type] for each in run))
            steps.append((tuple(each.name for each in run), layout, None))
            run = []
        if field is not None:
            steps.append((field.name, None, _value(field, version, is_flexible)))
    return steps


def _tags(
    content: bytes, position: int, readers: dict[int, tuple[str, Read]], value: dict[str, Value]
) -> int:
    count, position = read_unsigned_varint(content, position)
    if count > MAX_TAGS:
        raise MessageError(f"{count} tagged fields, at most {MAX_TAGS} are allowed", position)
    unknown = {}
    for _ in range(count):
        tag, position = read_unsigned_varint(content, position)
        size, position = read_unsigned_varint(content, position)
        end = _end(content, position, size)
        if tag in readers:
            name, read = readers[tag]
            value[name], position = read(content, position)
            if position != end:
                raise MessageError(f"tagged field {name} does not have {size} bytes", position)
        else:
            unknown[tag] = content[position:end]
            position = end
    if unknown:
        value[UNKNOWN_TAGS] = unknown
    return position


def _value(field: Field, version: int, is_flexible: bool) -> Read:
    is_nullable = version in field.nullable
    if field.type.startswith("[]"):
        return _array(field, version, is_flexible, is_nullable)
    if field.type in _FIXED:
        return _fixed(struct.Struct(">" + _FIXED[field.type]))
    if field.type == "uuid":
        return _uuid
    if field.type == "string":
        return _text(field.name, is_flexible, is_nullable)
    if field.type in ("bytes", "records"):
        return _bytes(field.name, is_flexible, is_nullable)
    read = _structure(field.fields, version, is_flexible=is_flexible)
    if not is_nullable:
        return read
    return _nullable(read, null=range(1) if version in field.tagged else range(0x80, 0x100))


def _fixed(layout: struct.Struct) -> Read:
    def read(content: bytes, position: int) -> tuple[Value, int]:
        return layout.unpack_from(content, position)[0], position + layout.size

    return read


def _uuid(content: bytes, position: int) -> tuple[Value, int]:
    end = _end(content, position, UUID_SIZE)
    return uuid_text(content[position:end]), end


def _text(name: str, is_flexible: bool, is_nullable: bool) -> Read:
    def read(content: bytes, position: int) -> tuple[Value, int]:
        if is_flexible:
            length, position = read_unsigned_varint(content, position)
            length -= 1
        else:
            length = _INT16.unpack_from(content, position)[0]
            position += _INT16.size
        if length < 0:
            return _null(name, position, is_nullable)
        if length > MAX_STRING:
            problem = f"{name} has {length} bytes, at most {MAX_STRING} are allowed"
            raise MessageError(problem, position)
        end = _end(content, position, length)
        return content[position:end].decode("utf-8", "replace"), end  # as Java reads it

    return read


def _bytes(name: str, is_flexible: bool, is_nullable: bool) -> Read:
    def read(content: bytes, position: int) -> tuple[Value, int]:
        length, position = _length(content, position, is_flexible)
        if length < 0:
            return _null(name, position, is_nullable)
        end = _end(content, position, length)
        return content[position:end], end

    return read


def _array(field: Field, version: int, is_flexible: bool, is_nullable: bool) -> Read:
    element = field.type.removeprefix("[]")
    letter = _FIXED.get(element)
    size = struct.calcsize(">" + letter) if letter else 1
    if field.fields:
        read_one = _structure(field.fields, version, is_flexible=is_flexible)
    elif element == "uuid":
        read_one, size = _uuid, UUID_SIZE
    else:
        read_one = _text(field.name, is_flexible, is_nullable=False)

    def read(content: bytes, position: int) -> tuple[Value, int]:
        count, position = _length(content, position, is_flexible)
        if count < 0:
            return _null(field.name, position, is_nullable)
        if count > MAX_ELEMENTS:
            problem = f"{field.name} has {count} elements, at most {MAX_ELEMENTS} are allowed"
            raise MessageError(problem, position)
        end = _end(content, position, count * size)
        if letter:
            return list(struct.unpack_from(f">{count}{letter}", content, position)), end
        found = []
        for _ in range(count):
            one, position = read_one(content, position)
            found.append(one)
        return found, position

    return read


def _nullable(read_one: Read, null: range) -> Read:
    """A structure after a byte that states whether it is present.

    The byte is negative for null; in a tagged field it is 0.
    """

    def read(content: bytes, position: int) -> tuple[Value, int]:
        if content[position] in null:
            return None, position + 1
        return read_one(content, position + 1)

    return read


def _length(content: bytes, position: int, is_flexible: bool) -> tuple[int, int]:
    if is_flexible:
        length, position = read_unsigned_varint(content, position)
        return length - 1, position
    return _INT32.unpack_from(content, position)[0], position + _INT32.size


def _null(name: str, position: int, is_nullable: bool) -> tuple[None, int]:
    if not is_nullable:
        raise MessageError(f"{name} is null", position)
    return None, position


def _end(content: bytes, position: int, size: int) -> int:
    if position + size > len(content):
        raise MessageError(f"{size} bytes expected, {len(content) - position} left", position)
    return position + size


def read_unsigned_varint(content: bytes, position: int) -> tuple[int, int]:
    """Read up to 32 bits, seven a byte, the lowest first; also return the position after them.

    Raises:
        MessageError: it has more than five bytes.
        IndexError: the bytes end first.
    """
    byte = content[position]
    if byte < 0x80:
        return byte, position + 1
    value = 0
    for index in range(_MAX_VARINT):
        byte = content[position + index]
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value & 0xFFFFFFFF, position + index + 1
    raise MessageError(f"a varint of more than {_MAX_VARINT} bytes", position)


def default_of(field: Field, version: int) -> Value:
    """The value of a tagged field that is absent."""
    if field.default == "null":
        return None
    if field.type.startswith("[]"):
        return []
    if field.type == "bool":
        return field.default == "true"
    if field.type == "float64":
        return float(field.default or 0)
    if field.type in _FIXED:
        return int(field.default or "0", 0)
    if field.type == "string":
        return field.default
    if field.type == "uuid":
        return ZERO_UUID
    if field.type in ("bytes", "records"):
        return b""
    return {
        each.name: default_of(each, version) for each in field.fields if version in each.versions
    }
