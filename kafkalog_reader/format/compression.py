"""The codecs of record batches, implemented for clarity rather than speed.

Each reader accepts and refuses exactly what Kafka's Java reader does; the kernel must agree.
Source: Kafka 4.0, common.record.CompressionType and common.compress.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final, Protocol

from isal import isal_zlib

from kafkalog_reader.errors import CorruptRecordError
from kafkalog_reader.format.batch_fields import LAST_CODEC
from kafkalog_reader.format.decompression_limit import (
    DEFAULT_LIMITS,
    checked_size,
    window_too_large,
)
from kafkalog_reader.format.lz4_frame import decompress_lz4_frame
from kafkalog_reader.format.snappy_stream import decompress_snappy
from kafkalog_reader.format.zstd import ZstdError, frame_decompressor

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkalog_reader.errors import LogPosition

GZIP_MEMBER: Final[bytes] = b"\x1f\x8b\x08"
GZIP_WINDOW: Final[int] = 31  # 15 bits, and the gzip wrapper
# A zstd block of 4 bytes can expand to 128 KiB, and a payload can be a million gzip members:
# libraries are fed small chunks, so that the output and the unused input of one step stay small.
_STEP: Final[int] = 512
_LIBRARY_ERRORS: Final[tuple[type[Exception], ...]] = (
    isal_zlib.error,  # type: ignore[assignment]  # its stub calls the class an instance
    ZstdError,
)


class _Stream(Protocol):
    """The common interface of both libraries' stream decompressors."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, content: bytes, /) -> bytes: ...


class Codec(IntEnum):
    """Bits 0 to 2 of a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4

    @property
    def text(self) -> str:
        """The name as Kafka prints it."""
        return self.name.lower()


def codec_text(number: int) -> str:
    """The name of a codec by bits 0 to 2 of attributes."""
    return Codec(number).text if number in set(Codec) else f"unknown({number})"


def unknown_codec_text(number: int, magic: int) -> str:
    """Why the payload of a batch with these bits 0 to 2 of its attributes cannot be read."""
    if number > LAST_CODEC:
        return f"unknown codec {number}: 0 to {LAST_CODEC} are known"
    return f"{codec_text(number)} in magic {magic}, which does not support it"


def decompress(
    codec: Codec,
    payload: bytes,
    where: LogPosition,
    *,
    limit: int | None = None,
    magic: int = 2,
) -> bytes:
    """Decompress the payload of a record batch, or the value of a wrapper message.

    Args:
        codec: the codec of the payload.
        payload: the whole payload.
        where: the place to name in errors.
        limit: maximum bytes of output; None for the default of ``Limits``.
        magic: of the batch or wrapper; the LZ4 frames of magic 0 have a different header checksum.

    Raises:
        CorruptRecordError: the payload is not valid for the codec.
        LimitReachedError: the output is larger than ``limit``.
    """
    if limit is None:
        limit = DEFAULT_LIMITS.largest_output(len(payload))
    match codec:
        case Codec.NONE:
            return payload
        case Codec.GZIP:
            return _decompress_gzip(payload, where, limit)
        case Codec.SNAPPY:
            return decompress_snappy(payload, where, limit)
        case Codec.LZ4:
            return decompress_lz4_frame(payload, where, limit, check_header=magic > 0)
        case Codec.ZSTD:
            return _decompress_zstd(payload, where, limit)


def _decompress_gzip(payload: bytes, where: LogPosition, limit: int) -> bytes:
    """Decompress all members; after the first, ignore what is not a member, as the JDK does."""

    def another_begins(position: int) -> bool:
        return position == 0 or payload.startswith(GZIP_MEMBER, position)

    def start_member() -> _Stream:
        return isal_zlib.decompressobj(wbits=GZIP_WINDOW)

    return _decompress_streams(payload, where, limit, start_member, another_begins)


def _decompress_zstd(payload: bytes, where: LogPosition, limit: int) -> bytes:
    """Decompress all frames, which must fill the payload."""

    def another_begins(position: int) -> bool:
        return position < len(payload)

    return _decompress_streams(payload, where, limit, frame_decompressor, another_begins)


def _decompress_streams(
    payload: bytes,
    where: LogPosition,
    limit: int,
    start: Callable[[], _Stream],
    another_begins: Callable[[int], bool],
) -> bytes:
    parts: list[bytes] = []
    size = position = 0
    while another_begins(position):
        stream = start()
        while not stream.eof:
            step = payload[position : position + _STEP]
            if not step:
                raise CorruptRecordError("compressed payload is cut short", where)
            try:
                parts.append(stream.decompress(step))
            except _LIBRARY_ERRORS as error:
                refused = window_too_large(error, DEFAULT_LIMITS.zstd_window, where)
                if refused is not None:
                    raise refused from error
                raise CorruptRecordError(f"does not decompress: {error}", where) from error
            size = checked_size(size + len(parts[-1]), limit, where)
            position += len(step) - len(stream.unused_data)
    return b"".join(parts)
