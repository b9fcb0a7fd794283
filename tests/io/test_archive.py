"""Archives as paths. What must be read is what GNU tar and Python's own unpacking put on disk."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import zstandard

from fixtures.captures import path as capture_path
from kafkalog_reader import registry
from kafkalog_reader.errors import LogLayoutError, UnreadableFileError, shown
from kafkalog_reader.io import archive_members, unpacking
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.read_rate import ReadRate

if TYPE_CHECKING:
    from collections.abc import Callable

LOG = "00000000000000000000.log"
COPIED_AT = 1_700_000_000
"""Even, because zip counts in steps of two seconds."""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own for what is unpacked, and no memory of folders of other tests."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("kafkalog_reader.io.private_folder._held", {})
    monkeypatch.setattr("kafkalog_reader.errors._shown_as", {})
    (tmp_path / "temporary").mkdir()
    return tmp_path / "temporary"


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    """The log directories of three brokers and a controller, with times in the past."""
    folder = tmp_path / "copies"
    shutil.copytree(capture_path("s1") / "shrunk", folder)
    for number, each in enumerate(sorted(folder.rglob("*"))):
        os.utime(each, (COPIED_AT + 2 * number,) * 2)
    return folder


def packed(folder: Path, suffix: str) -> Path:
    """The folder in an archive, packed by other programs than ours."""
    archive = folder.parent / f"evidence{suffix}"
    if suffix == ".zip":
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
            for each in sorted(folder.rglob("*")):
                out.write(each, each.relative_to(folder))
        return archive
    plain = folder.parent / "plain.tar"
    subprocess.run(["tar", "-cf", plain, "-C", folder, "."], check=True)
    content = plain.read_bytes()
    if suffix == ".tar.gz":
        content = gzip.compress(content)
    if suffix == ".tar.zst":
        content = zstandard.ZstdCompressor(write_checksum=True).compress(content)
    archive.write_bytes(content)
    return archive


def rows(table: str, path: Path | str) -> list[dict[str, object]]:
    found = registry.read(
        registry.table(table), discover([str(path)]), registry.request(registry.table(table))
    )
    return [row for batch in found for row in batch.to_pylist()]


def tar_of(path: Path, *members: tarfile.TarInfo | tuple[str, bytes], end: bool = True) -> Path:
    """A tar file of the given members; a pair is a file's name and content."""
    content = io.BytesIO()
    tar = tarfile.open(fileobj=content, mode="w")  # noqa: SIM115
    for member in members:
        if isinstance(member, tarfile.TarInfo):
            tar.addfile(member, io.BytesIO(bytes(member.size)))
        else:
            entry = tarfile.TarInfo(member[0])
            entry.size = len(member[1])
            tar.addfile(entry, io.BytesIO(member[1]))
    if end:
        tar.close()
    path.write_bytes(content.getvalue())
    return path


def link(kind: bytes, name: str, target: str) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, target
    return entry


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz", ".tar.zst", ".zip"])
@pytest.mark.parametrize("table", ["records", "segments"])
def test_archive_has_the_rows_of_the_folder_that_was_packed(
    suffix: str, table: str, copies: Path
) -> None:
    archive = packed(copies, suffix)
    expected = rows(table, copies)
    assert expected
    found = rows(table, archive)
    for row in (*expected, *found):
        for name in ("logDirectory", "file"):
            if name in row:
                row[name] = str(row[name]).replace(str(copies), str(archive))
    assert found == expected  # segments has modifiedAt: the times of the members


@pytest.mark.parametrize("suffix", [".tar", ".zip"])
def test_files_keep_their_sizes_and_times(suffix: str, copies: Path) -> None:
    archive = packed(copies, suffix)
    (root, *_) = discover([str(archive)]).roots
    unpacked = Path(root.path).parent
    assert shown(root.path).startswith(f"{archive}/")
    for each in copies.rglob("*"):
        before, after = each.stat(), (unpacked / each.relative_to(copies)).stat()
        assert (after.st_mtime, each.is_dir()) == (before.st_mtime, each.is_dir())
        assert each.is_dir() or after.st_size == before.st_size


def test_zeros_become_holes(tmp_path: Path) -> None:
    archive = tar_of(tmp_path / "a.tar", (f"t-0/{LOG}", b"\1" + bytes(10 << 20)))
    (given,) = discover([str(archive)]).given
    status = Path(given.path, LOG).stat()
    assert status.st_size == (10 << 20) + 1
    assert status.st_blocks * 512 < 1 << 20


def test_sparse_file_of_gnu_tar_is_read(tmp_path: Path) -> None:
    log = tmp_path / "t-0" / LOG
    log.parent.mkdir()
    with log.open("wb") as file:
        file.write(b"begin")
        file.seek(3 << 20)
        file.write(b"end")
    for sparse in ("--format=gnu", "--format=posix"):
        archive = tmp_path / f"{sparse[9:]}.tar"
        subprocess.run(["tar", "-S", sparse, "-cf", archive, "-C", tmp_path, "t-0"], check=True)
        assert archive.stat().st_size < 1 << 20
        (given,) = discover([str(archive)]).given
        assert Path(given.path, LOG).read_bytes() == log.read_bytes()


def test_path_leads_into_an_archive(copies: Path) -> None:
    archive = packed(copies, ".tar")
    assert [root.broker_id for root in discover([f"{archive}/broker-1"]).roots] == [1]
    assert [r.broker_id for r in discover([f"{archive}/broker-[02]/"]).roots] == [0, 2]
    assert len(discover([f"9={archive}/broker-0/t-0/{LOG}"]).given) == 1
    for rest, said in (("broker-7", "no such member"), ("x*", "matches"), ("../a", r"\.\.")):
        with pytest.raises(LogLayoutError, match=said) as caught:
            discover([f"{archive}/{rest}"])
        assert str(caught.value).startswith(f"{archive}/{rest}: ")


def test_pattern_of_archives_is_read(copies: Path) -> None:
    for broker in (0, 1, 2):
        name = copies.parent / f"b{broker}.tar.gz"
        subprocess.run(["tar", "-czf", name, "-C", copies, f"broker-{broker}"], check=True)
    evidence = discover([str(copies.parent / "b*.tar.gz")])
    assert [root.broker_id for root in evidence.log_directories] == [0, 1, 2]


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ([("../t-0/x.log", b"")], "leads out of the archive"),
        ([("t-0/../../x.log", b"")], "leads out of the archive"),
        ([("/t-0/x.log", b"")], "absolute name"),
        ([link(tarfile.SYMTYPE, "t-0", "/etc")], "'t-0' is a symbolic link"),
        ([link(tarfile.LNKTYPE, "t-0/a", "../../etc/passwd")], "leads out of the archive"),
        ([link(tarfile.LNKTYPE, "t-0/a", "t-0/b")], "hard link to nothing before it"),
        ([link(tarfile.FIFOTYPE, "t-0/a", "")], "a device or FIFO"),
        ([link(tarfile.CHRTYPE, "t-0/a", "")], "a device or FIFO"),
        ([("t-0/a", b"1"), ("t-0/a", b"2")], "'t-0/a' is in the archive twice"),
        ([("t-0/a", b"1"), ("./t-0//a", b"2")], "is in the archive twice"),
        ([("t-0", b"1"), ("t-0/a", b"2")], "is in the archive twice"),
        ([("t-0/" + "n" * 300, b"1")], "File name too long"),
        ([("d/" * 41 + "a", b"1")], "nested deeper than 40"),
        ([(".", b"1")], "has no name"),
    ],
)
def test_hostile_member_is_refused_by_name(
    members: list[tarfile.TarInfo | tuple[str, bytes]], said: str, tmp_path: Path, temporary: Path
) -> None:
    archive = tar_of(tmp_path / "a.tar", *members)
    with pytest.raises(UnreadableFileError, match=said) as caught:
        discover([str(archive)])
    assert str(caught.value).startswith(f"{archive}: ")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.tar", "temporary"]
    assert all(each.is_dir() or each.suffix == ".lock" for each in temporary.rglob("*"))


def test_hard_link_is_the_file_it_repeats(tmp_path: Path) -> None:
    archive = tar_of(
        tmp_path / "a.tar", (f"a/t-0/{LOG}", b"once"),
        link(tarfile.LNKTYPE, f"b/t-0/{LOG}", f"a/t-0/{LOG}"),
    )  # fmt: skip
    found = discover([str(archive)]).given
    assert [Path(each.path, LOG).read_bytes() for each in found] == [b"once", b"once"]


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def overwritten(content: bytes) -> bytes:
    """Sixty-four bytes: one alone may mean the same, such as the distance within a run of zeros."""
    middle = len(content) // 2
    return content[:middle] + b"\x55" * 64 + content[middle + 64 :]


@pytest.mark.parametrize("harm", [cut, overwritten])
@pytest.mark.parametrize("suffix", [".tar.gz", ".tar.zst", ".zip"])
def test_damaged_archive_is_an_error(
    suffix: str, harm: Callable[[bytes], bytes], copies: Path, temporary: Path
) -> None:
    archive = packed(copies, suffix)
    archive.write_bytes(harm(archive.read_bytes()))
    with pytest.raises(UnreadableFileError, match=f"evidence{suffix}: a damaged archive"):
        discover([str(archive)])
    assert not list(temporary.rglob(LOG))


def test_tar_cut_at_any_block_is_an_error(tmp_path: Path) -> None:
    whole = tar_of(tmp_path / "a.tar", (f"t-0/{LOG}", bytes(700)), ("t-0/b", b"2"), end=False)
    content = whole.read_bytes()
    for size in range(0, len(content) + 1, 256):  # also between members, where tar itself is silent
        whole.write_bytes(content[:size])
        with pytest.raises(UnreadableFileError, match="a damaged archive"):
            discover([str(whole)])
    whole.write_bytes(content + bytes(1024))
    assert len(discover([str(whole)]).given) == 1


def test_archive_with_a_hole_or_with_another_one_behind_it_is_an_error(tmp_path: Path) -> None:
    archive = tar_of(tmp_path / "a.tar", (f"t-0/{LOG}", b"1"), (f"u-0/{LOG}", b"2"))
    content = archive.read_bytes()
    for harmed in (content[:1024] + bytes(512) + content[1536:], content + content):
        archive.write_bytes(harmed)
        with pytest.raises(UnreadableFileError, match="bytes after its end"):
            discover([str(archive)])


def test_bomb_is_stopped_by_what_it_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, temporary: Path
) -> None:
    monkeypatch.setattr("kafkalog_reader.io.archive.free_space", lambda _: 1 << 20)
    archive = tmp_path / "a.tar.gz"
    archive.write_bytes(
        gzip.compress(tar_of(tmp_path / "a", ("t-0/a", b"x" * (2 << 20))).read_bytes())
    )
    with pytest.raises(
        UnreadableFileError, match=r"more than 1,048,576 bytes.*set TMPDIR"
    ) as caught:
        discover([str(archive)])
    assert str(temporary) in str(caught.value)
    assert not list(temporary.rglob("a"))


def test_bomb_is_stopped_by_size_and_by_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tar_of(tmp_path / "a.tar", ("t-0/a", bytes(1 << 20)), ("t-0/b", b""))
    with monkeypatch.context() as patched:
        patched.setattr(unpacking, "MAX_SIZE", 1000)
        with pytest.raises(UnreadableFileError, match="more than 1,000 bytes"):
            discover([str(archive)])
    monkeypatch.setattr(unpacking, "MAX_MEMBERS", 1)
    with pytest.raises(UnreadableFileError, match="more than 1 members"):
        discover([str(archive)])


def test_header_that_is_a_bomb_is_not_loaded(tmp_path: Path) -> None:
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, archive_members._HEADER_LIMIT + 1
    archive = tar_of(tmp_path / "a.tar", header)
    with pytest.raises(UnreadableFileError, match="headers of one member"):
        discover([str(archive)])
    chain = tarfile.TarInfo("x")
    chain.type, chain.size = tarfile.XHDTYPE, 0
    with pytest.raises(UnreadableFileError, match="a damaged archive"):
        discover([str(tar_of(tmp_path / "b.tar", *[chain] * 5000))])


def test_encrypted_zip_is_named(tmp_path: Path) -> None:
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr(f"t-0/{LOG}", b"secret")
    content = bytearray(archive.read_bytes())
    for magic, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        content[content.index(magic) + flags] |= 1
    archive.write_bytes(content)
    with pytest.raises(UnreadableFileError, match=f"t-0/{LOG} is encrypted"):
        discover([str(archive)])


def test_zip_with_a_time_of_unix_keeps_it(tmp_path: Path) -> None:
    archive = tmp_path / "a.zip"
    entry = zipfile.ZipInfo(f"t-0/{LOG}", (1999, 1, 1, 0, 0, 0))
    entry.extra = b"UT\5\0\1" + (COPIED_AT + 1).to_bytes(4, "little")  # Info-ZIP's, in UTC
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr(entry, b"")
    (given,) = discover([str(archive)]).given
    assert Path(given.path, LOG).stat().st_mtime == COPIED_AT + 1


def test_what_unpacking_takes_is_said_and_a_large_archive_is_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    archive = tar_of(tmp_path / "a.tar", (f"t-0/{LOG}", b"12345"))
    monkeypatch.setattr("kafkalog_reader.io.archive._LARGE", 1)
    discover([str(archive)])
    announced, done = caplog.messages
    assert announced == f"{archive}: {archive.stat().st_size:,} bytes, being unpacked first"
    assert done.startswith(f"{archive}: unpacked 1 member, 5 bytes (5 on disk), in ")
    discover([str(archive)])  # the process still has it
    assert len(caplog.messages) == 2


def test_changed_archive_is_unpacked_again(tmp_path: Path) -> None:
    for name in ("t-0", "u-1"):
        archive = tar_of(tmp_path / "a.tar", (f"{name}/{LOG}", b""))
        assert [each.topic for each in discover([str(archive)]).given] == [name[0]]


def test_rate_limits_what_is_read_of_the_archive(tmp_path: Path) -> None:
    taken: list[int] = []

    class Counted(ReadRate):
        def take(self, size: int) -> None:
            taken.append(size)

    archive = tar_of(tmp_path / "a.tar", (f"t-0/{LOG}", bytes(100_000)))
    discover([str(archive)], ReadContext(rate=Counted(10**9)))
    assert sum(taken) == archive.stat().st_size


WORKER = """
import pickle, sys
from pathlib import Path
given = pickle.load(sys.stdin.buffer)
print(Path(given.path, "00000000000000000000.log").read_text())
"""


def in_another_process(pickled: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", WORKER], input=pickled, capture_output=True, check=False
    )


def test_worker_unpacks_what_it_does_not_have_and_deletes_it(
    tmp_path: Path, temporary: Path
) -> None:
    archive = tar_of(tmp_path / "a.tar", (f"t-0/{LOG}", b"of a worker"))
    (given,) = discover([str(archive)]).given
    pickled = pickle.dumps(given)
    assert in_another_process(pickled).stdout == b"of a worker\n"
    assert Path(given.path).exists()  # this process still needs it
    home = Path(given.path).parents[1]
    shutil.rmtree(home)
    Path(f"{home}.lock").unlink()  # another machine
    assert in_another_process(pickled).stdout == b"of a worker\n"
    assert list((temporary / f"kafkalog-{os.geteuid()}").iterdir()) == []
    tar_of(tmp_path / "a.tar", (f"t-0/{LOG}", b"another"))
    assert b"not the archive that was planned with" in in_another_process(pickled).stderr
