"""Files that are not Kafka's but are often given as if they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.io.foreign_file import (
    GIT_LFS_ADVICE,
    GIT_LFS_POINTER,
    advice_on_pattern,
    describe_foreign_file,
    foreign_pattern,
)

if TYPE_CHECKING:
    from pathlib import Path

REMOTE = f"{'0' * 20}-dZpYpWbSR8uwpL9c2-_x5A"
"""As LocalTieredStorage and Aiven's plugin name what they store of a segment."""


@pytest.mark.parametrize(
    ("name", "pattern", "what"),
    [
        pytest.param("snapshot.1a", "snapshot.*", "ZooKeeper snapshot", id="snapshot"),
        pytest.param("log.7f", "log.*", "ZooKeeper transaction log", id="transaction_log"),
        pytest.param(f"log.{'f' * 16}", "log.*", "ZooKeeper transaction log", id="greatest_zxid"),
        pytest.param("0-1-v1.log", "*-v*.log", "Redpanda segment", id="redpanda"),
    ],
)
def test_names_of_other_programs_are_known(name: str, pattern: str, what: str) -> None:
    assert foreign_pattern(name) == pattern
    advice = advice_on_pattern(pattern)
    assert advice is not None
    assert what in advice


@pytest.mark.parametrize(
    "name",
    [
        "00000000000000000000.log", "00000000000000000000.snapshot", "snapshot.", "log.xyz",
        f"log.{'f' * 17}", "mylog.1", "log.1.old", "1-v1.log", "1-2-v10.log", "LOG.1", "log.٣",
        f"{REMOTE}.log", f"{REMOTE}.rsm-manifest",
    ],
)  # fmt: skip
def test_other_names_are_not(name: str) -> None:
    assert foreign_pattern(name) is None


def test_there_is_no_advice_on_other_patterns() -> None:
    assert advice_on_pattern("*.log") is None


@pytest.mark.parametrize(
    ("content", "what"),
    [
        pytest.param(GIT_LFS_POINTER + b"v1\n", GIT_LFS_ADVICE, id="git_lfs"),
        pytest.param(GIT_LFS_POINTER[:-1], None, id="pointer_cut_short"),
        pytest.param(b"ZKSN\0\0\0\2", "a ZooKeeper snapshot", id="zookeeper_snapshot"),
        pytest.param(b"ZKLG\0\0\0\2", "a ZooKeeper transaction log", id="zookeeper_log"),
        pytest.param(b"\x1f\x8b\x08", "an archive", id="gzip"),
        pytest.param(b"PK\x03\x04", "an archive", id="zip"),
        pytest.param(b"\x28\xb5\x2f\xfd", "an archive", id="zstd"),
        pytest.param(b"\xfd7zXZ\0", "an archive", id="xz"),
        pytest.param(b"\0" * 61, None, id="zeros"),
        pytest.param(b"", None, id="empty"),
        pytest.param(b"xPK\x03\x04", None, id="magic_elsewhere"),
    ],
)
def test_first_bytes_give_other_files_away(
    tmp_path: Path, content: bytes, what: str | None
) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(content)
    found = describe_foreign_file(str(path), lambda size: content[:size])
    assert found is None if what is None else found is not None and found.startswith(what)
    assert describe_foreign_file(str(path), None) is None


@pytest.mark.parametrize("name", ["logs.tar", "logs.tgz", "x.log.gz", "x.zip", "x.7z"])
def test_archives_are_known_by_name_without_a_look_inside(tmp_path: Path, name: str) -> None:
    advice = describe_foreign_file(str(tmp_path / name), None)
    assert advice is not None
    assert advice.startswith("an archive: unpack it first, and give the unpacked folder (")


def test_name_decides_before_the_content(tmp_path: Path) -> None:
    found = describe_foreign_file(str(tmp_path / "snapshot.1"), lambda size: b"ZKLG"[:size])
    assert found is not None
    assert found.startswith("a ZooKeeper snapshot")
