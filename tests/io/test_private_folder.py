"""Private folders: shared, locked, deleted by the last process, and of one user alone."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.io.private_folder import _delete_abandoned, base_folder, hold

PROGRAM = """
import os, sys
from pathlib import Path
from kafkalog_reader.io.private_folder import base_folder, hold

class Source:
    home, shown_as = os.path.join(base_folder(), "key"), "source"
    def fill(self, rate):
        Path(self.home).mkdir()
        Path(self.home, "content").write_text(str(os.getpid()))

hold(Source())
print(Path(Source.home, "content").read_text(), flush=True)
sys.stdin.read()
"""


@dataclass
class Source:
    """Fills its folder with one file, or fails."""

    home: str
    shown_as: str = "the-source"
    fails: bool = False
    filled: int = 0

    def fill(self, rate: object) -> None:
        Path(self.home).mkdir()
        Path(self.home, "content").touch()
        self.filled += 1
        if self.fails:
            raise OSError(28, "No space left on device")


@pytest.fixture(autouse=True)
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of private folders of this test."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("kafkalog_reader.io.private_folder._held", {})
    return tmp_path / f"kafkalog-{os.geteuid()}"


def source(**values: bool) -> Source:
    return Source(home=str(Path(base_folder(), "key")), **values)


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_folder_is_filled_once_and_is_of_this_user_alone(base: Path) -> None:
    held = source()
    hold(held)
    hold(held)
    assert held.filled == 1
    assert base.stat().st_mode & 0o077 == 0


def test_temporary_folder_that_is_none_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The archive exists: "No such file or directory" would be about the wrong path."""
    missing = tmp_path / "missing"
    monkeypatch.setenv("TMPDIR", str(missing))
    with pytest.raises(PermissionError, match=f"{missing} is not a folder; set TMPDIR"):
        base_folder()


def test_processes_share_a_folder_and_the_last_one_deletes_it(base: Path) -> None:
    first, second = start(), start()
    assert first.stdout.readline() == second.stdout.readline()
    first.communicate()
    assert (base / "key" / "content").exists()
    second.communicate()
    assert list(base.iterdir()) == []


def test_folder_that_another_process_fills_meanwhile_is_used(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fills the folder while this one changes its lock, and then holds a shared lock."""
    held = source()
    really_lock = fcntl.flock
    of_other: list[int] = []

    def expired(*_: object) -> None:
        raise TimeoutError("it waits for the other process")

    def lock(descriptor: int, operation: int) -> None:
        if operation & fcntl.LOCK_EX and not of_other:
            really_lock(descriptor, fcntl.LOCK_UN)  # as a change of a lock does
            Path(held.home).mkdir()
            Path(held.home, "complete").touch()
            of_other.append(os.open(f"{held.home}.lock", os.O_RDWR))
            really_lock(of_other[0], fcntl.LOCK_SH)
        really_lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", lock)
    signal.signal(signal.SIGALRM, expired)
    signal.alarm(20)  # or it would wait for ever
    try:
        hold(held)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    assert held.filled == 0
    os.close(of_other[0])


def test_folder_that_could_not_be_filled_is_not_left(base: Path) -> None:
    with pytest.raises(UnreadableFileError, match=r"the-source.*No space left on device"):
        hold(source(fails=True))
    assert not (base / "key").exists()
    hold(source())
    assert (base / "key" / "content").exists()


def test_folder_of_a_killed_process_is_deleted_after_an_hour(base: Path) -> None:
    killed = start()
    assert killed.stdout.readline()
    killed.kill()
    killed.communicate()
    (lock,) = base.glob("*.lock")
    _delete_abandoned(str(base))
    assert lock.with_suffix("").is_dir()
    os.utime(lock, (time.time() - 3700,) * 2)
    _delete_abandoned(str(base))
    assert list(base.iterdir()) == []


def test_folder_prepared_by_somebody_else_is_not_used(tmp_path: Path, base: Path) -> None:
    (tmp_path / "theirs").mkdir()
    base.symlink_to(tmp_path / "theirs")
    with pytest.raises(PermissionError, match="not a folder of this user alone"):
        base_folder()
    base.unlink()
    base.mkdir(mode=0o755)
    with pytest.raises(PermissionError, match="not a folder of this user alone"):
        base_folder()
