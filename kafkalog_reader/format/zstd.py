"""The zstd library: part of Python from 3.14 on, the same code in a package before (PEP 784)."""

from __future__ import annotations

import sys
from typing import Final

if sys.version_info >= (3, 14):
    from compression.zstd import DecompressionParameter, ZstdDecompressor, ZstdError
else:
    from backports.zstd import DecompressionParameter, ZstdDecompressor, ZstdError

from kafkalog_reader.format.decompression_limit import DEFAULT_LIMITS

__all__ = ["ZSTD_MODULE", "ZstdDecompressor", "ZstdError", "frame_decompressor"]

ZSTD_MODULE: Final = "_zstd" if sys.version_info >= (3, 14) else "backports.zstd._zstd"
"""The extension module that contains the library."""


def frame_decompressor(max_window: int = DEFAULT_LIMITS.zstd_window) -> ZstdDecompressor:
    """A decompressor for one frame; ``max_window``, in bytes, must be a power of two."""
    window_log = max_window.bit_length() - 1
    return ZstdDecompressor(options={DecompressionParameter.window_log_max: window_log})
