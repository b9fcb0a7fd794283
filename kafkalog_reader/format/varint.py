"""Variable-length integers: 7 bits per byte, least significant first; bit 7: more bytes follow.

Over-long encodings (``80 00`` for 0) are accepted, as in Kafka; it is an error if bit 7 is set in
the last allowed byte. Bits beyond the type's width are dropped, as by Java's shifts. Source: Kafka
4.0, common.utils.ByteUtils.
"""

from __future__ import annotations

from typing import BinaryIO, Final

from construct import Construct, IntegerError, stream_read, stream_write


class VariableInteger(Construct):  # type: ignore[misc]  # construct has no types
    """A Kafka varint: ``bits`` wide, signed ones in zigzag order (0, −1, 1, −2 ...)."""

    def __init__(self, bits: int, *, signed: bool) -> None:
        super().__init__()
        self.bits: Final = bits
        self.signed: Final = signed
        self.max_size: Final = -(-bits // 7)

    def _parse(self, stream: BinaryIO, _context: object, path: str) -> int:
        value = 0
        for index in range(self.max_size):
            byte = stream_read(stream, 1, path)[0]
            value |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                return self._from_groups(value & ((1 << self.bits) - 1))
        raise IntegerError(f"varint does not end within {self.max_size} bytes", path=path)

    def _build(self, value: int, stream: BinaryIO, _context: object, path: str) -> int:
        encoded = self.encode(value)
        stream_write(stream, encoded, len(encoded), path)
        return value

    def encode(self, value: int, *, width: int = 1) -> bytes:
        """Encode ``value``, over-long if ``width`` is larger than necessary."""
        groups = self._to_groups(value)
        encoded = bytearray()
        while groups > 0x7F or len(encoded) < width - 1:
            encoded.append(groups & 0x7F | 0x80)
            groups >>= 7
        encoded.append(groups)
        return bytes(encoded)

    def _from_groups(self, value: int) -> int:
        return (value >> 1) ^ -(value & 1) if self.signed else value

    def _to_groups(self, value: int) -> int:
        low = -(1 << self.bits - 1) if self.signed else 0
        if not low <= value < low + (1 << self.bits):
            raise IntegerError(f"{value} does not fit a varint of {self.bits} bits")
        return (value << 1) ^ (value >> self.bits - 1) if self.signed else value


UVARINT: Final = VariableInteger(32, signed=False)
VARINT: Final = VariableInteger(32, signed=True)
VARLONG: Final = VariableInteger(64, signed=True)
