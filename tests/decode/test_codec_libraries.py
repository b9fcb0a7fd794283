"""Functions of codec libraries are found, obey the limits, and free their memory."""

from __future__ import annotations

import ctypes
from importlib.metadata import version
from types import SimpleNamespace

import pytest

from kafkalog_reader.decode import codec_libraries
from kafkalog_reader.decode.codec_libraries import MAX_BLOCK, CodecLibraries
from kafkalog_reader.decode.codec_report import codec_lines, fast_codecs
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.decompression_limit import Limits

ALL = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]


def test_a_function_is_found_for_every_codec_and_a_context_where_it_takes_one() -> None:
    libraries = CodecLibraries(Limits())
    assert libraries.address.nonzero()[0].tolist() == ALL
    assert libraries.context.nonzero()[0].tolist() == [Codec.GZIP, Codec.ZSTD]
    assert libraries.room[ALL].tolist() == [MAX_BLOCK, MAX_BLOCK, 64 << 10, MAX_BLOCK]


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.ZSTD])
def test_two_decoders_share_no_context(codec: Codec) -> None:
    one, other = CodecLibraries(Limits()), CodecLibraries(Limits())
    assert one.context[codec] != other.context[codec]


def test_isal_is_not_called_where_its_state_may_be_larger_than_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = SimpleNamespace(decompressobj=object)
    monkeypatch.setattr(codec_libraries, "import_module", lambda _name: module)
    libraries = CodecLibraries(Limits())
    assert (libraries.address[Codec.GZIP], libraries.context[Codec.GZIP]) == (0, 0)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (Limits.allowing(100_000), dict.fromkeys(ALL, 100_000) | {Codec.LZ4: 64 << 10}),
        (Limits.allowing(65_535), dict.fromkeys([Codec.GZIP, Codec.SNAPPY, Codec.ZSTD], 65_535)),
        (
            Limits(zstd_window=1 << 20),
            {Codec.GZIP: MAX_BLOCK, Codec.SNAPPY: MAX_BLOCK, Codec.LZ4: 64 << 10},
        ),
    ],
    ids=["fewer_bytes", "fewer_than_an_lz4_block", "smaller_windows"],
)
def test_no_block_becomes_more_than_the_limits_allow(
    limits: Limits, expected: dict[int, int]
) -> None:
    libraries = CodecLibraries(limits)
    called = libraries.address.nonzero()[0].tolist()
    assert {codec: int(libraries.room[codec]) for codec in called} == expected


def test_a_context_is_freed_with_its_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    freed = []
    create = ctypes.CFUNCTYPE(ctypes.c_void_p)(lambda: 4711)
    free = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p)(lambda at: freed.append(at) or 0)
    fake = SimpleNamespace(ZSTD_createDCtx=create, ZSTD_freeDCtx=free)
    monkeypatch.setattr(codec_libraries, "_library", lambda _module: fake)
    codec_libraries._address.cache_clear()
    libraries = CodecLibraries(Limits())
    codec_libraries._address.cache_clear()
    assert (libraries.context[Codec.ZSTD], libraries.address[Codec.ZSTD]) == (4711, 0)
    assert freed == []
    del libraries
    assert freed == [4711]


def test_a_module_that_is_not_there_has_no_library() -> None:
    assert codec_libraries._library("kafkalog_reader.no_such_module") is None
    assert codec_libraries._address("lz4.block._block", "LZ4_no_such_function") == 0


def test_every_codec_takes_the_fast_way() -> None:
    """It fails if a new version of a library hides the functions that the kernel calls."""
    assert fast_codecs() == frozenset(ALL)


def test_the_verbose_version_names_each_codecs_library() -> None:
    lines = dict(line.split(": ", 1) for line in codec_lines())
    assert lines["kernel"] == "compiled"
    assert lines["gzip"] == f"isal {version('isal')}, called by the kernel"
    assert lines["lz4"] == f"lz4 {version('lz4')}, called by the kernel"
    assert lines["zstd"].endswith(", called by the kernel")
    assert lines["snappy"] == f"the kernel itself (what it refuses: pyarrow {version('pyarrow')})"


def test_a_library_that_hides_its_function_is_said_to_be_slower(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(codec_libraries, "_address", lambda _module, _name: 0)
    lines = dict(line.split(": ", 1) for line in codec_lines())
    assert lines["lz4"] == f"lz4 {version('lz4')}, batch by batch: slower"
    assert lines["zstd"].endswith(", batch by batch: slower")
