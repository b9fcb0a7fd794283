"""The codec libraries inside extension modules, for direct calls from the kernel."""

from __future__ import annotations

import ctypes
import weakref
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.format.zstd import ZSTD_MODULE
from kafkalog_reader.kernel import sound_batches

if TYPE_CHECKING:
    from kafkalog_reader.format.decompression_limit import Limits

MAX_BLOCK: Final = 2 << 20
"""Bytes that one call may produce; batches that may become larger are decoded in two passes."""
_LZ4_BLOCK: Final = 64 << 10
_DEFLATE_WINDOW: Final = 32 << 10
_ZSTD_WINDOW: Final = 128 << 20
_ISAL_STATE_BEGINS: Final = 64
_GZIP: Final = 1
_SNAPPY: Final = 2
_LZ4: Final = 3
_ZSTD: Final = 4
_CODEC_NUMBERS: Final = 8
_ISAL_MODULE: Final = "isal.isal_zlib"


class CodecLibraries:
    """What the kernel needs to call the libraries, an entry for each codec number.

    gzip and zstd work in contexts of their own, freed with this object: one thread at a time may
    use it. No package exports a function for snappy: the compiled kernel has its own.

    Args:
        limits: how much one batch may decompress to.

    Attributes:
        address: of the function that decompresses a block; 0 if it cannot be
            found, or if a block might exceed the limits.
        context: address of its working memory; 0 if it needs none.
        room: maximum decompressed size of a block.
    """

    def __init__(self, limits: Limits) -> None:
        self.address = np.zeros(_CODEC_NUMBERS, np.int64)
        self.context = np.zeros(_CODEC_NUMBERS, np.int64)
        self.room = np.zeros(_CODEC_NUMBERS, np.int64)
        never_too_much = limits.largest_output(0)
        self._isal_state = np.zeros(0, np.uint8)
        self.context[_GZIP] = self._isal_context()
        if self.context[_GZIP]:
            self.address[_GZIP] = _address(_ISAL_MODULE, "isal_inflate_stateless")
            self.room[_GZIP] = min(MAX_BLOCK, never_too_much)
        self.address[_SNAPPY] = sound_batches.snappy_address()
        self.room[_SNAPPY] = min(MAX_BLOCK, never_too_much)
        if never_too_much >= _LZ4_BLOCK:
            self.address[_LZ4] = _address("lz4.block._block", "LZ4_decompress_safe")
            self.room[_LZ4] = _LZ4_BLOCK
        if limits.zstd_window >= _ZSTD_WINDOW:
            self.context[_ZSTD] = self._zstd_context()
            self.room[_ZSTD] = min(MAX_BLOCK, never_too_much)
        if self.context[_ZSTD]:
            self.address[_ZSTD] = _address(ZSTD_MODULE, "ZSTD_decompressDCtx")

    def _isal_context(self) -> int:
        """An address, then room for isal's state: as much as its own objects that hold one."""
        init = _address(_ISAL_MODULE, "isal_inflate_init")
        size = _isal_state_size() if init else 0
        if not size:
            return 0
        self._isal_state = np.zeros(_ISAL_STATE_BEGINS + size, np.uint8)
        self._isal_state[:8].view(np.int64)[0] = init
        return self._isal_state.ctypes.data

    def _zstd_context(self) -> int:
        library = _library(ZSTD_MODULE)
        create = getattr(library, "ZSTD_createDCtx", None)
        free = getattr(library, "ZSTD_freeDCtx", None)
        if create is None or free is None:  # a build that hides them, or no library
            return 0
        create.restype, free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
        context: int = create() or 0
        weakref.finalize(self, free, context).atexit = False  # free() of no context does nothing
        return context


def _isal_state_size() -> int:
    """The size of an object with embedded state; 0 if the state must be elsewhere."""
    size: int = type(import_module(_ISAL_MODULE).decompressobj()).__basicsize__
    return size if size > _DEFLATE_WINDOW else 0


@cache
def _library(module: str) -> ctypes.CDLL | None:
    """The shared library of an extension module, which contains or links the codec's library.

    The dynamic linker looks into both. Imported only where records are decoded: commands that list
    files start sooner.
    """
    try:
        return ctypes.CDLL(getattr(import_module(module), "__file__", None))
    except (ImportError, OSError):
        return None


@cache
def _address(module: str, name: str) -> int:
    """The address of a function; 0 if it cannot be found."""
    function = getattr(_library(module), name, None)
    return 0 if function is None else ctypes.cast(function, ctypes.c_void_p).value or 0
