"""Listing a store: what is asked, how, and which keys cannot be paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyarrow import fs

from kafkalog_reader.errors import LogLayoutError
from kafkalog_reader.io.object_listing import is_log_directory, listed

if TYPE_CHECKING:
    from pathlib import Path


class Recorded(fs.FileSystemHandler):
    """A store that keeps what it was asked to list; all but that comes from a folder."""

    def __init__(self, folder: Path) -> None:
        self._files = fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())
        self.flat: list[str] = []
        self.single: list[str] = []

    def get_type_name(self) -> str:
        return "recorded"

    def normalize_path(self, path: str) -> str:
        return path

    def get_file_info(self, paths: list[str]) -> list[fs.FileInfo]:
        return self._files.get_file_info(paths)

    def get_file_info_selector(self, selector: fs.FileSelector) -> list[fs.FileInfo]:
        (self.flat if selector.recursive else self.single).append(selector.base_dir)
        return self._files.get_file_info(selector)

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was called: listing only lists")

    copy_file = create_dir = delete_dir = delete_dir_contents = delete_file = None
    delete_root_dir_contents = move = open_append_stream = open_input_file = None
    open_input_stream = open_output_stream = None


Recorded.__abstractmethods__ = frozenset()


def tree(folder: Path, *names: str) -> Recorded:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(name.encode())
    return Recorded(folder)


def test_files_and_folders_are_those_of_the_tree(tmp_path: Path) -> None:
    names = ["a", "b/c", "b/d/e/f", "g-0/h"]
    found = listed(fs.PyFileSystem(tree(tmp_path, *names)), "", "x://b")
    assert {name: size for name, (size, _) in found.files.items()} == {n: len(n) for n in names}
    assert found.folders == {"b", "b/d", "b/d/e", "g-0"}
    for name, (_, modified_at_ns) in found.files.items():
        assert modified_at_ns == (tmp_path / name).stat().st_mtime_ns


def test_some_folders_are_listed_each_by_a_request_of_its_own(tmp_path: Path) -> None:
    names = [f"backup/b{number}/t-{part}/log" for number in range(9) for part in range(3)]
    store = tree(tmp_path, *names)
    found = listed(fs.PyFileSystem(store), "backup", "x://b")
    assert sorted(store.flat) == [f"backup/b{number}" for number in range(9)]
    assert set(found.files) == {name.removeprefix("backup/") for name in names}


def test_many_folders_are_listed_flat_with_theirs(tmp_path: Path) -> None:
    names = [f"b{number}/t-{part}/log" for number in range(2) for part in range(40)]
    store = tree(tmp_path, *names)
    found = listed(fs.PyFileSystem(store), "", "x://b")
    assert sorted(store.flat) == ["b0", "b1"]
    assert len(store.single) == 3
    assert set(found.files) == set(names)


def test_one_object_is_a_file_without_a_name(tmp_path: Path) -> None:
    found = listed(fs.PyFileSystem(tree(tmp_path, "a/b.tar", "a/c")), "a/b.tar", "x://b")
    assert (list(found.files), found.folders) == ([""], set())


def test_log_directory_is_known_by_its_files(tmp_path: Path) -> None:
    store = fs.PyFileSystem(tree(tmp_path, "b1/meta.properties", "b2/t-0/meta.properties"))
    assert is_log_directory(store, "b1", "x://b")
    assert not is_log_directory(store, "b2", "x://b")
    assert not is_log_directory(store, "missing", "x://b")


class Fixed(Recorded):
    """A store with these keys, which no file system would have."""

    def __init__(self, *keys: tuple[str, int]) -> None:
        self._keys = keys

    def get_file_info(self, paths: list[str]) -> list[fs.FileInfo]:
        return [fs.FileInfo(path, fs.FileType.Directory) for path in paths]

    def get_file_info_selector(self, selector: fs.FileSelector) -> list[fs.FileInfo]:
        return [
            fs.FileInfo(key, fs.FileType.File, size=size, mtime_ns=1) for key, size in self._keys
        ]


@pytest.mark.parametrize(
    "key", ["b/../../etc/passwd", "b/./x", "b/x//y", "b/x/..", "b/\0", "b/t-0/../../x"]
)
def test_key_that_leads_elsewhere_is_refused_by_name(key: str) -> None:
    with pytest.raises(LogLayoutError, match="cannot be a path"):
        listed(fs.PyFileSystem(Fixed(("b/t-0/log", 1), (key, 1))), "b", "x://b")


def test_key_that_is_a_file_and_a_folder_is_refused_unless_it_is_empty() -> None:
    with pytest.raises(LogLayoutError, match="t-0 is an object and a folder"):
        listed(fs.PyFileSystem(Fixed(("b/t-0", 5), ("b/t-0/log", 1))), "b", "x://b")
    found = listed(fs.PyFileSystem(Fixed(("b/t-0", 0), ("b/t-0/log", 1))), "b", "x://b")
    assert (list(found.files), found.folders) == (["t-0/log"], {"t-0"})


def test_absurd_size_is_refused() -> None:
    with pytest.raises(LogLayoutError, match="has 9223372036854775807 bytes"):
        listed(fs.PyFileSystem(Fixed(("b/log", 2**63 - 1))), "b", "x://b")
