"""Reports the library of each codec, and whether the kernel calls it directly."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Final

from kafkalog_reader import kernel
from kafkalog_reader.decode.codec_libraries import CodecLibraries
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.decompression_limit import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

_PACKAGES: Final = {
    Codec.GZIP: "isal",
    Codec.SNAPPY: "pyarrow",
    Codec.LZ4: "lz4",
    Codec.ZSTD: "_zstd of Python" if sys.version_info >= (3, 14) else "backports.zstd",
}
"""One library for each codec. The kernel calls its functions, but decodes snappy itself."""


def fast_codecs() -> frozenset[Codec]:
    """The codecs that the kernel decompresses directly, without Python."""
    if not kernel.is_compiled():
        return frozenset()
    found = CodecLibraries(Limits()).address
    return frozenset(codec for codec in _PACKAGES if found[codec])


def codec_lines() -> Iterator[str]:
    """Yield lines for people: the kernel, then each codec with its library and its speed."""
    how = "compiled" if kernel.is_compiled() else "interpreted: far slower"
    yield f"kernel: {how}"
    fast = fast_codecs()
    for codec, package in _PACKAGES.items():
        library = _named(package)
        if codec not in fast:
            yield f"{codec.name.lower()}: {library}, batch by batch: slower"
        elif codec is Codec.SNAPPY:
            yield f"snappy: the kernel itself (what it refuses: {library})"
        else:
            yield f"{codec.name.lower()}: {library}, called by the kernel"


def _named(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return package
