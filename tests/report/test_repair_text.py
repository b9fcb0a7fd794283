"""Repairs as commands: what a shell does with them is what the repair says."""

from __future__ import annotations

import gzip
import subprocess
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.audits.integrity.file_repair import (
    Copy,
    Decompress,
    Move,
    SetOffset,
    Write,
)
from kafkalog_reader.report.repair_text import (
    keep_commands,
    move_commands,
    repair_commands,
    rewrite_commands,
    write_command,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def run(commands: Iterable[str], folder: Path) -> None:
    subprocess.run(["sh", "-ec", "\n".join(commands)], cwd=folder, check=True)


def test_a_written_file_has_exactly_these_lines(tmp_path: Path) -> None:
    lines = ["0", "it's \\n 100 %s", "", "$HOME"]
    run([write_command(lines, "a file")], tmp_path)
    assert (tmp_path / "a file").read_text() == "0\nit's \\n 100 %s\n\n$HOME\n"


def test_a_folder_is_made_only_for_what_leaves_its_own(tmp_path: Path) -> None:
    assert move_commands(Move(path="/d/a", target="/d/b")) == ("mv /d/a /d/b",)
    (tmp_path / "t-0").mkdir()
    (tmp_path / "t-0" / "x").write_text("x")
    commands = move_commands(Move(path="t-0/x", target="aside/t-0/x"))
    assert len(commands) == 2
    run(commands, tmp_path)
    assert (tmp_path / "aside/t-0/x").read_text() == "x"
    assert list((tmp_path / "t-0").iterdir()) == []


def test_a_decompressed_file_has_the_content_and_the_compressed_one_stays(tmp_path: Path) -> None:
    (tmp_path / "a b.gz").write_bytes(gzip.compress(b"content"))
    run(repair_commands([Decompress(path="a b.gz", target="a b", program="gzip -dc")]), tmp_path)
    assert (tmp_path / "a b").read_bytes() == b"content"
    assert gzip.decompress((tmp_path / "a b.gz").read_bytes()) == b"content"


def test_what_is_rewritten_is_kept_beside_the_log_directory(tmp_path: Path) -> None:
    partition = tmp_path / "logs" / "t-0"
    partition.mkdir(parents=True)
    path = partition / "leader-epoch-checkpoint"
    path.write_text("old\n")
    run(rewrite_commands(str(path), ["new"]), tmp_path)
    assert path.read_text() == "new\n"
    (kept,) = (each for each in tmp_path.rglob("*leader-epoch-checkpoint") if each != path)
    assert kept.name == "t-0.leader-epoch-checkpoint"
    assert kept.read_text() == "old\n"
    assert list((tmp_path / "logs").iterdir()) == [partition]  # a broker lists this folder


def test_a_new_file_needs_no_copy() -> None:
    assert rewrite_commands("/logs/t-0/x", ["1"], is_new=True) == (
        "printf '%s\\n' 1 > /logs/t-0/x",
    )


def test_copies_of_a_file_do_not_collide_with_those_of_other_partitions() -> None:
    made, copied = keep_commands("/logs", "t-0/x")
    assert copied.startswith("cp -p /logs/t-0/x ")
    assert copied.endswith("/logs/t-0.x")
    assert made == f"mkdir -p {copied.split()[-1].rpartition('/')[0]}"


def test_each_repair_has_its_command_and_none_comes_twice() -> None:
    copy = Copy(source="/their/t-0", node="broker 1 (rack-b)", path="/mine/t-0")
    write = Write(path="/logs/x", lines=("1", "2 3"))
    assert repair_commands([copy, write, copy]) == [
        "mkdir -p /mine/t-0.incoming",
        "{ ssh HOST_OF_BROKER_1_RACK_B 'tar -C /their/t-0 -cf - .'; echo $? > /mine/t-0.exit; } "
        "| tar -C /mine/t-0.incoming -xf - && grep -qx 0 /mine/t-0.exit && rm /mine/t-0.exit "
        "&& mv /mine/t-0.incoming /mine/t-0",
        "printf '%s\\n' 1 '2 3' > /logs/x",
    ]


@pytest.mark.parametrize("is_complete", [True, False])
def test_only_a_whole_copy_of_another_host_gets_its_name(
    tmp_path: Path, *, is_complete: bool
) -> None:
    """A broker that starts with an empty folder can lead it, and every copy is cut to nothing."""
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "a.log").write_bytes(b"records")
    tool = tmp_path / "ssh"
    ended = "" if is_complete else " | head -c 512; exit 255"
    tool.write_text(f'#!/bin/sh\nsh -c "$2"{ended}\n')
    tool.chmod(0o755)
    copied = Copy(source="theirs", node="2", path="mine/t-0")
    subprocess.run(
        ["sh", "-c", "\n".join(repair_commands([copied]))], cwd=tmp_path, check=False,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True,
    )  # fmt: skip
    names = {each.name for each in (tmp_path / "mine").iterdir()}
    assert names == ({"t-0"} if is_complete else {"t-0.incoming", "t-0.exit"})
    assert (tmp_path / "mine" / "t-0" / "a.log").exists() is is_complete


def test_an_offset_is_set_for_all_groups_that_go_on_there() -> None:
    """The options of ConsumerGroupCommandOptions, Kafka 4.3."""
    repair = SetOffset(groups=("a", "it's"), topic="t", partition=3, offset=17)
    (command,) = repair_commands([repair])
    words = subprocess.run(
        ["sh", "-c", command.replace("kafka-consumer-groups.sh", "printf '%s\\n'")],
        check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    assert words[2:] == [
        "--group", "a", "--group", "it's", "--topic", "t:3", "--reset-offsets", "--to-offset", "17",
        "--execute",
    ]  # fmt: skip
