"""Reading objects of a real S3 server, through a proxy that answers badly."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import pytest
from pyarrow import fs

from fixtures.object_store.bad_proxy import BadProxy, Request, Spoilt
from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.io import object_file, store_calls
from kafkalog_reader.io.object_file import BLOCK, ObjectFile
from kafkalog_reader.io.store_calls import connected

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fixtures.object_store.server import S3Server

SIZE = 21 * BLOCK + 12345


@pytest.fixture(scope="module")
def content(s3: S3Server, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What the object ``blocks/log`` holds; no two blocks are equal.

    It has no byte that is a mark: a range that ends with one is read twice.
    """
    folder: Path = tmp_path_factory.mktemp("blocks")
    content = random.Random(1).randbytes(SIZE).replace(b"\x5a", b"\x5b")
    (folder / "log").write_bytes(content)
    for name, text in (("one", b"x"), ("marks", b"\x5a" * 100), ("others", b"\xa5" * 100)):
        (folder / name).write_bytes(text)
    s3.upload(folder, "blocks")
    return content


@pytest.fixture
def opened(s3: S3Server, proxy: BadProxy) -> Callable[..., ObjectFile]:
    """Open an object through the proxy."""

    def open_object(name: str = "log", size: int = SIZE) -> ObjectFile:
        uri = s3.uri("blocks", port=proxy.port)
        files, bucket = connected(uri)
        return ObjectFile(
            files, f"{bucket}/{name}", name=f"s3://blocks/{name}", size=size, version=0
        )

    return open_object


def read(file: ObjectFile, start: int, stop: int, limit: int = SIZE) -> bytes:
    target = bytearray(stop - start)
    count = file.read_into(memoryview(target), start, limit)
    return bytes(target[:count])


def ranges(proxy: BadProxy) -> list[tuple[int, int]]:
    found = (each.range.removeprefix("bytes=").split("-") for each in proxy.reads if each.range)
    return sorted((int(start), int(last) + 1) for start, last in found)


@pytest.mark.parametrize(
    ("start", "stop"),
    [(0, 1), (5, 5), (BLOCK - 1, BLOCK + 1), (SIZE - 7, SIZE), (0, SIZE), (3 * BLOCK, 9 * BLOCK)],
)
def test_any_range_is_that_of_the_object(
    opened: Callable[..., ObjectFile], content: bytes, start: int, stop: int
) -> None:
    assert read(opened(), start, stop) == content[start:stop]


def test_range_beyond_the_end_is_short(opened: Callable[..., ObjectFile], content: bytes) -> None:
    assert read(opened(), SIZE - 3, SIZE + 9) == content[-3:]
    assert read(opened(), SIZE, SIZE + 9) == b""


def test_reading_in_order_requests_each_byte_once(
    opened: Callable[..., ObjectFile], content: bytes, proxy: BadProxy
) -> None:
    file, found, at = opened(), b"", 0
    while at < SIZE:
        part = read(file, at, at + 3 * BLOCK)
        found, at = found + part, at + len(part)
    assert found == content
    requested = ranges(proxy)
    assert [start for start, _ in requested[1:]] == [stop for _, stop in requested[:-1]]
    assert (requested[0][0], requested[-1][1]) == (0, SIZE)


def test_reader_in_order_finds_the_next_bytes_fetched(
    opened: Callable[..., ObjectFile], content: bytes, proxy: BadProxy
) -> None:
    file = opened()
    read(file, 0, BLOCK)
    until = time.monotonic() + 30
    while not any(start <= 5 * BLOCK < stop for start, stop in ranges(proxy)):
        assert time.monotonic() < until, "nothing was read ahead"
        time.sleep(0.01)


def test_nothing_is_read_ahead_of_a_probe_or_beyond_the_readers_end(
    opened: Callable[..., ObjectFile], content: bytes, proxy: BadProxy
) -> None:
    read(opened(), 10 * BLOCK + 7, 10 * BLOCK + 9)
    assert ranges(proxy) == [(10 * BLOCK, 11 * BLOCK)]
    proxy.requests.clear()
    read(opened(), 0, BLOCK, limit=BLOCK)
    assert ranges(proxy) == [(0, BLOCK)]


def once(spoilt: Spoilt) -> Callable[[Request], Spoilt | None]:
    """Spoil the first answer to each request for bytes."""
    seen: set[Request] = set()

    def spoil(request: Request) -> Spoilt | None:
        if request.range is None or request in seen:
            return None
        seen.add(request)
        return spoilt

    return spoil


@pytest.mark.parametrize("spoilt", [Spoilt.UNAVAILABLE, Spoilt.CUT, Spoilt.SHORT, Spoilt.SLOW])
def test_bad_answer_is_tried_again_and_the_bytes_are_right(
    opened: Callable[..., ObjectFile], content: bytes, proxy: BadProxy, spoilt: Spoilt
) -> None:
    proxy.spoil = once(spoilt)
    assert read(opened(), 0, 5 * BLOCK, limit=5 * BLOCK) == content[: 5 * BLOCK]
    asked = [each.range for each in proxy.reads]
    assert len(asked) == len(set(asked)) * (1 if spoilt is Spoilt.SLOW else 2)


def test_last_byte_may_be_one_of_the_marks(
    opened: Callable[..., ObjectFile], content: bytes
) -> None:
    assert read(opened("marks", 100), 0, 100) == b"\x5a" * 100
    assert read(opened("others", 100), 0, 100) == b"\xa5" * 100
    assert read(opened("one", 1), 0, 1) == b"x"


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        (Spoilt.UNAVAILABLE, "SLOW_DOWN during GetObject operation.*given up after"),
        (Spoilt.CUT, "Transferred a partial file.*given up after"),
        (Spoilt.SHORT, "answer is shorter than the range that was requested; given up after"),
        (Spoilt.SILENT, "Timeout was reached.*given up after 1 attempts"),
    ],
)
def test_store_that_stays_bad_is_an_error_in_bounded_time(
    opened: Callable[..., ObjectFile],
    content: bytes,
    proxy: BadProxy,
    spoilt: Spoilt,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(store_calls, "PATIENCE_SECONDS", 1.0)
    proxy.spoil = lambda request: spoilt if request.range else None
    started = time.monotonic()
    with pytest.raises(UnreadableFileError, match=said) as caught:
        read(opened(), 2 * BLOCK, 3 * BLOCK, limit=3 * BLOCK)
    assert time.monotonic() - started < 30
    assert str(caught.value).startswith(f"s3://blocks/log at position {2 * BLOCK}: ")


def test_refusal_is_not_tried_again(
    opened: Callable[..., ObjectFile], content: bytes, proxy: BadProxy
) -> None:
    proxy.spoil = lambda request: Spoilt.DENIED if request.range else None
    with pytest.raises(UnreadableFileError, match="ACCESS_DENIED"):
        read(opened(), 0, 10, limit=10)
    assert len(proxy.reads) == 1


def test_error_is_not_remembered(
    opened: Callable[..., ObjectFile], content: bytes, proxy: BadProxy
) -> None:
    file = opened()
    proxy.spoil = lambda request: Spoilt.DENIED if request.range else None
    with pytest.raises(UnreadableFileError):
        read(file, 0, 10, limit=10)
    proxy.spoil = lambda _: None
    assert read(file, 0, 10) == content[:10]


def test_object_that_shrank_is_an_error(opened: Callable[..., ObjectFile], content: bytes) -> None:
    with pytest.raises(UnreadableFileError, match=f"had {SIZE + 1:,} bytes when it was listed"):
        read(opened(size=SIZE + 1), 0, 10)


def test_memory_is_bounded(content: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(content)
    monkeypatch.setattr(object_file, "_CACHE", 3 * BLOCK)
    monkeypatch.setattr(object_file, "_caches", {})
    file = ObjectFile(fs.LocalFileSystem(), str(tmp_path / "log"), name="log", size=SIZE, version=0)
    for block in range(SIZE // BLOCK):
        assert read(file, block * BLOCK, block * BLOCK + 9)
    assert object_file._cache()._size <= 3 * BLOCK
