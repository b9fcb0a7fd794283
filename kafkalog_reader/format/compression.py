"""The codecs of record batches, on the slow and obviously right path.

Each reader accepts what Kafka's Java reader accepts and refuses what it refuses; the kernel must
agree. Source: Kafka 4.0, common.record.CompressionType and common.compress.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final

import zstandard
from isal import igzip, isal_zlib

from kafkalog_reader.errors import CorruptRecordError
from kafkalog_reader.format.decompression_limit import MAX_DECOMPRESSED_SIZE, checked_size
from kafkalog_reader.format.lz4_frame import compress_lz4_frame, decompress_lz4_frame
from kafkalog_reader.format.snappy_stream import compress_snappy, decompress_snappy

if TYPE_CHECKING:
    from kafkalog_reader.errors import LogPosition

_GZIP_MEMBER: Final[bytes] = b"\x1f\x8b\x08"
_GZIP_WINDOW: Final[int] = 31  # 15 bits, and the gzip wrapper
_ZSTD_MAX_WINDOW: Final[int] = 1 << 27  # zstd-jni's default limit, hence Kafka's
# A zstd block of 4 bytes can say 128 KiB, so the decompressor is fed little at a time.
_ZSTD_STEP: Final[int] = 512


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


def decompress(
    codec: Codec, payload: bytes, where: LogPosition, *, limit: int = MAX_DECOMPRESSED_SIZE
) -> bytes:
    """Decompress the payload of a record batch.

    Raises:
        CorruptRecordError: the payload is not what the codec's writer makes.
        UnsupportedFormatError: more than ``limit`` bytes come out.
    """
    match codec:
        case Codec.NONE:
            return payload
        case Codec.GZIP:
            return _decompress_gzip(payload, where, limit)
        case Codec.SNAPPY:
            return decompress_snappy(payload, where, limit)
        case Codec.LZ4:
            return decompress_lz4_frame(payload, where, limit)
        case Codec.ZSTD:
            return _decompress_zstd(payload, where, limit)


def compress(codec: Codec, content: bytes) -> bytes:
    """Compress records as a Kafka client would; the same input gives the same bytes."""
    match codec:
        case Codec.NONE:
            return content
        case Codec.GZIP:
            return bytes(igzip.compress(content, mtime=0))
        case Codec.SNAPPY:
            return compress_snappy(content)
        case Codec.LZ4:
            return compress_lz4_frame(content)
        case Codec.ZSTD:
            return zstandard.ZstdCompressor(write_content_size=False).compress(content)


def _decompress_gzip(payload: bytes, where: LogPosition, limit: int) -> bytes:
    """Decompress all members; behind the first, what is no member is ignored (as by the JDK)."""
    members: list[bytes] = []
    size = 0
    rest = payload
    while not members or rest.startswith(_GZIP_MEMBER):
        member = isal_zlib.decompressobj(wbits=_GZIP_WINDOW)
        try:
            members.append(member.decompress(rest, limit - size + 1))
        except isal_zlib.error as error:  # type: ignore[misc]  # the stub calls it an instance
            raise CorruptRecordError(f"gzip does not decompress: {error}", where) from error
        size = checked_size(size + len(members[-1]), limit, where)
        if not member.eof:
            raise CorruptRecordError("gzip member cut short", where)
        rest = member.unused_data
    return b"".join(members)


def _decompress_zstd(payload: bytes, where: LogPosition, limit: int) -> bytes:
    """Decompress all frames, which fill the payload."""
    decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_MAX_WINDOW)
    frame = decompressor.decompressobj()
    pieces: list[bytes] = []
    size = 0
    at_frame_border = True
    for start in range(0, len(payload), _ZSTD_STEP):
        step = payload[start : start + _ZSTD_STEP]
        while step:
            try:
                pieces.append(frame.decompress(step))
            except zstandard.ZstdError as error:
                raise CorruptRecordError(f"zstd does not decompress: {error}", where) from error
            size = checked_size(size + len(pieces[-1]), limit, where)
            at_frame_border = frame.eof
            step = frame.unused_data if frame.eof else b""
            if frame.eof:
                frame = decompressor.decompressobj()
    if not at_frame_border:
        raise CorruptRecordError("zstd frame cut short", where)
    return b"".join(pieces)
