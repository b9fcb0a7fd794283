"""Windows over files that grow or shrink or are not regular, and small files read whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.io.page_cache import PAGE
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.small_file import read_if_present
from kafkalog_reader.io.window import Windows, read_small_file, read_small_page

CONTENT = bytes(range(256)) * 8


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("window") / "file"
    path.write_bytes(CONTENT)
    return str(path)


@given(
    start=st.integers(0, 2200), stop=st.none() | st.integers(0, 2200), size=st.integers(1, 2200),
    position=st.integers(0, 2200), at_least=st.integers(0, 3000),
)  # fmt: skip
def test_window_is_the_bytes_from_its_position_on(
    file: str, start: int, stop: int | None, size: int, position: int, at_least: int
) -> None:
    with Windows(file, start, stop, size=size, context=ReadContext()) as windows:
        window = bytes(windows.read(position, at_least))
    until = len(CONTENT) if stop is None else stop
    assert window == CONTENT[position:until][: len(window)]
    wanted = max(min(size, max(1, min(until, len(CONTENT)) - start)), at_least)
    assert len(window) == min(wanted, max(0, min(until, len(CONTENT)) - position))


def test_file_that_shrinks_is_an_error_with_its_position(tmp_path: Path) -> None:
    path = tmp_path / "shrinking.log"
    path.write_bytes(CONTENT)
    with Windows(str(path), size=100, context=ReadContext()) as windows:
        os.truncate(path, 150)
        assert bytes(windows.read(0)) == CONTENT[:100]
        with pytest.raises(UnreadableFileError) as caught:
            windows.read(100)
    assert caught.value.where.position == 150
    assert "was 2048 bytes long when opened" in caught.value.problem


def test_small_file_is_read_with_one_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fleet has a million of them."""
    calls = []
    preadv = os.preadv
    monkeypatch.setattr(os, "preadv", lambda *each: calls.append(each) or preadv(*each))
    path = tmp_path / "partition.metadata"
    path.write_bytes(CONTENT[:43])
    assert read_small_file(str(path), 100, context=ReadContext()) == CONTENT[:43]
    assert len(calls) == 1


def test_file_that_grows_is_read_as_long_as_it_was_when_opened(tmp_path: Path) -> None:
    path = tmp_path / "growing.log"
    path.write_bytes(b"12345")
    with Windows(str(path), context=ReadContext()) as windows:
        path.write_bytes(b"1234567890")
        assert bytes(windows.read(0)) == b"12345"
        assert len(windows.read(5)) == 0


def test_wrong_length_allocates_no_more_than_the_file_has(tmp_path: Path) -> None:
    path = tmp_path / "small.log"
    path.write_bytes(b"12345")
    with Windows(str(path), size=2, context=ReadContext()) as windows:
        assert bytes(windows.read(1, 1 << 62)) == b"2345"


@pytest.mark.parametrize("size", [1, 10 << 20])
def test_fifo_is_refused_without_waiting(tmp_path: Path, size: int) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(UnreadableFileError, match="not a regular file"):
        Windows(str(tmp_path / "fifo"), size=size, context=ReadContext())


def test_device_and_directory_are_refused(tmp_path: Path) -> None:
    for path in ("/dev/zero", str(tmp_path)):
        with pytest.raises(UnreadableFileError, match="not a regular file"):
            Windows(path, context=ReadContext())


def test_link_is_refused_unless_requested(file: str, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(file)
    with pytest.raises(UnreadableFileError, match="symbolic link, not followed"):
        Windows(str(link), context=ReadContext())
    with Windows(str(link), context=ReadContext(follow_links=True)) as windows:
        assert windows.size_in_bytes == len(CONTENT)


def test_missing_file_is_named_on_one_line(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match=r"a\\nb: No such file or directory"):
        Windows(str(tmp_path / "a\nb"), context=ReadContext())


def test_failed_read_names_the_position(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_descriptor: int, _buffers: object, position: int) -> int:
        raise OSError(5, f"Input/output error at {position}")

    with Windows(file, size=10, context=ReadContext()) as windows:
        monkeypatch.setattr(os, "preadv", fail)
        with pytest.raises(UnreadableFileError, match="at position 20: Input/output error at 20"):
            windows.read(20)


def test_descriptors_are_closed(file: str) -> None:
    before = sum(1 for _ in Path("/proc/self/fd").iterdir())
    for _ in range(10):
        with Windows(file, context=ReadContext()) as windows:
            windows.read(0)
    assert sum(1 for _ in Path("/proc/self/fd").iterdir()) == before


def test_small_file_is_read_whole_up_to_its_limit(file: str) -> None:
    assert read_small_file(file, len(CONTENT), context=ReadContext()) == CONTENT
    with pytest.raises(UnreadableFileError, match="2,048 bytes where at most 2,047 are expected"):
        read_small_file(file, len(CONTENT) - 1, context=ReadContext())


@pytest.mark.parametrize("size", [0, 1, PAGE, PAGE + 1])
def test_only_files_up_to_a_page_are_read_at_once(tmp_path: Path, size: int) -> None:
    content = os.urandom(size)
    path = tmp_path / "partition.metadata"
    path.write_bytes(content)
    read = read_small_page(str(path), context=ReadContext())
    assert read == (content if 0 < size <= PAGE else None)
    assert read_small_file(str(path), 2 * PAGE, context=ReadContext()) == content


def test_a_small_file_that_shrinks_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "partition.metadata"
    path.write_bytes(b"before it shrinks")
    fstat = os.fstat

    def shrink(descriptor: int) -> os.stat_result:
        status = fstat(descriptor)
        path.write_bytes(b"after")
        return status

    monkeypatch.setattr(os, "fstat", shrink)
    assert read_small_page(str(path), context=ReadContext()) is None
    assert read_small_file(str(path), PAGE, context=ReadContext()) == b"after"


def test_small_file_of_a_tebibyte_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "replication-offset-checkpoint"
    path.touch()
    os.truncate(path, 1 << 40)
    with pytest.raises(UnreadableFileError, match="at most 1,048,576 are expected"):
        read_small_file(str(path), 1 << 20, context=ReadContext())


def test_small_file_may_be_absent_but_not_a_fifo(file: str, tmp_path: Path) -> None:
    assert read_if_present(str(tmp_path / "absent"), 10, context=ReadContext()) is None
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(UnreadableFileError):
        read_if_present(str(tmp_path / "fifo"), 10, context=ReadContext())
    assert read_if_present(file, 4000, context=ReadContext()) == CONTENT
