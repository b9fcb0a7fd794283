"""The LZ4 library that python-lz4 brings, for calls without Python in between."""

from __future__ import annotations

import ctypes
from functools import cache


@cache
def address_of_lz4_decompress() -> int:
    """Where ``LZ4_decompress_safe`` lies in memory; 0 where it cannot be found.

    Wheels of python-lz4 hold liblz4 within the extension module, other builds link it: the dynamic
    linker looks into both.
    """
    import lz4.block  # only where records are decoded: commands that list files start sooner

    try:
        function = ctypes.CDLL(lz4.block._block.__file__).LZ4_decompress_safe
    except (OSError, AttributeError):  # a build that hides it
        return 0
    return ctypes.cast(function, ctypes.c_void_p).value or 0
