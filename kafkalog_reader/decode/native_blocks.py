"""Decompresses single blocks with the library functions that the kernel also calls."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.decode.codec_libraries import CodecLibraries
from kafkalog_reader.format.compression import Codec

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkalog_reader.format.decompression_limit import Limits

    Native = Callable[[int, int, int, int], int]

_BLOCK: Final = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int
)
_FRAME: Final = ctypes.CFUNCTYPE(
    ctypes.c_ssize_t,
    ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t,
)  # fmt: skip
_MIN_FRAME: Final = 8
_SINGLE_SEGMENT: Final = 0x20
_DICTIONARY_OR_RESERVED: Final = 0x0B
_WINDOW_OF_128_MIB: Final = 17 << 3


def address_of(buffer: memoryview) -> int:
    """The address of a buffer's bytes; valid as long as the buffer is."""
    if buffer.readonly or not len(buffer):
        return int(np.asarray(buffer).ctypes.data)
    return ctypes.addressof(ctypes.c_char.from_buffer(buffer))  # a fifth of the time


class NativeBlocks:
    """Functions that take source, its size, target and its size, and return the output's size.

    They write nothing outside of the target. A negative number means that the block is invalid or
    too large. A function that the library hides is None. One thread at a time may use them.

    Attributes:
        lz4: of a block, without its frame.
        snappy: of a raw block or of snappy-java's stream of blocks.
        zstd: of a frame; a frame with a window above 128 MiB or with a dictionary is refused.
    """

    def __init__(self, limits: Limits) -> None:
        self._libraries = CodecLibraries(limits)
        self.lz4 = self._block_function(Codec.LZ4)
        self.snappy = self._block_function(Codec.SNAPPY)
        self.zstd = self._frame_function()

    def _block_function(self, codec: Codec) -> Native | None:
        address = int(self._libraries.address[codec])
        if not address:
            return None
        function = _BLOCK(address)

        def decompress(source: int, size: int, target: int, room: int) -> int:
            count: int = function(source, target, size, room)
            return count

        return decompress

    def _frame_function(self) -> Native | None:
        libraries = self._libraries  # the context is freed with it
        address = int(libraries.address[Codec.ZSTD])
        if not address:
            return None
        function = _FRAME(address)

        def decompress(source: int, size: int, target: int, room: int) -> int:
            if size < _MIN_FRAME:
                return -1
            descriptor, window = ctypes.string_at(source + 4, 2)  # one call does not check these
            if descriptor & _DICTIONARY_OR_RESERVED or not (
                descriptor & _SINGLE_SEGMENT or window <= _WINDOW_OF_128_MIB
            ):
                return -1
            context = int(libraries.context[Codec.ZSTD])
            count: int = function(context, target, room, source, size)
            return count

        return decompress
