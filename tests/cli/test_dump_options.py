"""The options of ``kafka-dump-log`` give the output of Kafka's tool, byte for byte."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from fixtures import captures, jars
from fixtures.dump import LATEST_TOOL
from fixtures.java_process import JAVA

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

TOPICS = ("one-record-batches-0", "transactions-0", "null-and-empty-0", "codec-zstd-0")
OLD_TOPICS = ("broker-gzip-0", "java-gzip-0")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Partitions of a stopped broker, and two of a release that wrote messages of magic 0 and 1."""
    root = tmp_path_factory.mktemp("dumped")
    for topic in TOPICS:
        shutil.copytree(captures.path("everything/stopped/broker-0") / topic, root / topic)
    for topic in OLD_TOPICS:
        old = captures.path("release_0.10.2.2/stopped/broker-0") / topic
        shutil.copytree(old, root / f"old-{topic}")
    return root


def tool(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Kafka's own tool on a copy, because it opens indexes for writing."""
    return subprocess.run(
        [*JAVA, "-cp", jars.class_path(jars.LATEST_TOOLS), LATEST_TOOL, *arguments],
        capture_output=True, text=True, timeout=60, check=False, cwd=directory,
    )  # fmt: skip


def names(logs: Path, suffix: str) -> str:
    return ",".join(str(path.relative_to(logs)) for path in sorted(logs.glob(f"*/*{suffix}")))


@pytest.mark.parametrize(
    ("suffix", "options"),
    [
        (".log", ("--print-data-log", "--skip-record-metadata")),
        (".log", ("--deep-iteration", "--skip-record-metadata", "--max-bytes", "400")),
        (".log", ("--max-bytes", "0")),
        (".log", ("--max-bytes", "2147483647")),
        ("index", ("--index-sanity-check",)),
        ("index", ("--verify-index-only",)),
        ("index", ("--max-message-size", "1000000")),
    ],
)
def test_options_print_what_kafkas_tool_prints(
    suffix: str, options: tuple[str, ...], logs: Path, run: Run, monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:  # fmt: skip
    copy = tmp_path / "copy"
    shutil.copytree(logs, copy)
    files = names(logs, suffix)
    theirs = tool(copy, "--files", files, *options)
    assert theirs.returncode == 0, theirs.stderr
    monkeypatch.chdir(logs)
    ours = run("dump", "--files", files, *options)
    assert ours.status == 0, ours.err
    assert ours.out == theirs.stdout
    assert ours.out.count("\n") > len(files.split(","))


@pytest.mark.parametrize(
    ("change", "said", "theirs_said"),
    [
        (lambda index: index + b"abc", "1995 bytes are not a multiple of 8", "found 1995 bytes"),
        (lambda index: index[:8] + b"\xff\xff\xff\xf0" + bytes(4), "is -16, less", "is -16 which"),
    ],
)  # fmt: skip
def test_an_index_that_a_broker_rebuilds_fails_the_sanity_check_of_both(
    change: object, said: str, theirs_said: str, logs: Path, run: Run,
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    assert callable(change)
    name = "00000000000000000000.index"
    log = "00000000000000000000.log"
    shutil.copy(logs / "one-record-batches-0" / log, tmp_path / log)
    (tmp_path / name).write_bytes(change((logs / "one-record-batches-0" / name).read_bytes()))
    monkeypatch.chdir(tmp_path)
    ours = run("dump", name, "--index-sanity-check")
    assert (ours.status, ours.out) == (2, f"Dumping {name}\n")
    assert said in ours.err
    theirs = tool(tmp_path, "--files", name, "--index-sanity-check")
    assert (theirs.returncode, theirs.stdout) == (1, f"Dumping {name}\n")
    assert theirs_said in theirs.stderr


def test_a_batch_larger_than_the_message_size_is_refused_as_by_kafkas_tool(
    logs: Path, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copytree(logs / "one-record-batches-0", tmp_path / "copy")
    monkeypatch.chdir(logs / "one-record-batches-0")
    name = "00000000000000000000.index"
    arguments = ("--files", name, "--max-message-size", "100")
    theirs = tool(tmp_path / "copy", *arguments)
    ours = run("dump", *arguments)
    assert (ours.status, theirs.returncode) == (2, 1)
    assert ours.out == theirs.stdout
    assert "bytes, more than --max-message-size 100" in ours.err


def test_no_file_at_all_is_refused(run: Run) -> None:
    answer = run("dump", "--print-data-log")
    assert answer.status == 2
    assert "name a FILE, or several with --files a,b" in answer.err
