"""Repairs as commands of a shell: those of files are for the host of the broker."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.integrity.file_repair import (
    Copy,
    Decompress,
    FlipBit,
    Format,
    Move,
    Rewrite,
    RunAgain,
    SetOffset,
    aside_path,
)
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.shell_word import shell_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kafkalog_reader.audits.integrity.file_repair import Repair


BROKERS: Final = "HOST:9092"


def repair_commands(repairs: Iterable[Repair]) -> list[str]:
    """The commands, each once."""
    return list(dict.fromkeys(command for each in repairs for command in _commands(each)))


def write_command(lines: Iterable[str], path: str) -> str:
    """Writes a text file."""
    return f"printf '%s\\n' {' '.join(map(shell_word, lines))} > {shell_word(path)}"


def move_commands(repair: Move) -> tuple[str, ...]:
    """Moves a file or folder; makes the folder that it goes to if it leaves its own."""
    source, target = shell_word(repair.path), shell_word(repair.target)
    folder = posixpath.dirname(repair.target)
    if folder == posixpath.dirname(repair.path):
        return (f"mv {source} {target}",)
    return (f"mkdir -p {shell_word(folder)}", f"mv {source} {target}")


def format_commands(repair: Format) -> tuple[str, ...]:
    """Format the log directories of a node that are empty; the others stay as they are."""
    return (
        f"# on the host of node {repair.node}, when its new disk is mounted:",
        "kafka-storage.sh format --ignore-formatted "
        f"--cluster-id {shell_word(shown(repair.cluster_id))} --config SERVER_PROPERTIES",
    )


def again_commands(repair: RunAgain) -> tuple[str, ...]:
    """Audit these paths alone."""
    paths = " ".join(shell_word(shown(each)) for each in repair.paths)
    command = f"kafkalog verify {paths}"
    if repair.topic:
        place = f"--topic {shell_word(repair.topic)} --partition {repair.partition}"
        command = f"replica-diff {paths} {place}"
    return f"# {shown(repair.why)}:", command


def fetch_commands(host: str, source: str, path: str, *, leave_out: str = "") -> tuple[str, ...]:
    """Copy a folder from another host, with programs that every host has.

    It gets its name when it is complete: a broker that starts with an empty folder may lead it, and
    then all copies are cut to nothing. With a folder of the other name no broker starts. A pipe
    ends with the status of tar, and not every shell has pipefail: ssh's is kept in a file.

    Args:
        host: of the source.
        source: the folder there.
        path: where to.
        leave_out: a pattern of names that stay behind.
    """
    pattern = leave_out.replace("*", r"\*")  # for the shell of that host; quotes would nest
    without = f" --exclude={pattern}" if leave_out else ""
    there = f"tar -C {shell_word(source)}{without} -cf - ."
    incoming, status = shell_word(f"{path}.incoming"), shell_word(f"{path}.exit")
    return (
        f"mkdir -p {incoming}",
        f"{{ ssh {host} {shell_word(there)}; echo $? > {status}; }} | tar -C {incoming} -xf - && "
        f"grep -qx 0 {status} && rm {status} && mv {incoming} {shell_word(path)}",
    )


def rewrite_commands(path: str, lines: Iterable[str], *, is_new: bool = False) -> tuple[str, ...]:
    """Write a text file of a partition directory; what is there is copied aside before."""
    if is_new:
        return (write_command(lines, path),)
    return (*_keep(path), write_command(lines, path))


def _keep(path: str) -> tuple[str, ...]:
    directory, name = posixpath.split(path)
    root, partition = posixpath.split(directory)
    return keep_commands(root, f"{partition}/{name}")


def flip_commands(repair: FlipBit) -> tuple[str, ...]:
    """Write one byte in the middle of a file."""
    return (
        *_keep(repair.path),
        rf"printf '\{repair.value:03o}' | dd of={shell_word(repair.path)} bs=1 "
        f"seek={repair.position} conv=notrunc",
    )


def keep_commands(root: str, name: str) -> tuple[str, ...]:
    """Copy a file of a log directory aside, under a name of its own."""
    copy = aside_path(root, name.replace("/", "."))
    path = posixpath.join(root, name)
    return (
        f"mkdir -p {shell_word(posixpath.dirname(copy))}",
        f"cp -p {shell_word(path)} {shell_word(copy)}",
    )


def _commands(repair: Repair) -> Iterator[str]:
    if isinstance(repair, Move):
        yield from move_commands(repair)
    elif isinstance(repair, Decompress):
        yield f"{repair.program} {shell_word(repair.path)} > {shell_word(repair.target)}"
    elif isinstance(repair, Copy):
        host = "HOST_OF_" + re.sub(r"[^A-Z0-9]+", "_", repair.node.upper()).strip("_")
        yield from fetch_commands(host, repair.source, repair.path, leave_out=repair.leave_out)
    elif isinstance(repair, SetOffset):
        groups = " ".join(f"--group {shell_word(group)}" for group in repair.groups)
        place = shell_word(f"{repair.topic}:{repair.partition}")
        yield (
            f"kafka-consumer-groups.sh --bootstrap-server {BROKERS} {groups} --topic {place} "
            f"--reset-offsets --to-offset {repair.offset} --execute"
        )
    elif isinstance(repair, Format):
        yield from format_commands(repair)
    elif isinstance(repair, RunAgain):
        yield from again_commands(repair)
    elif isinstance(repair, FlipBit):
        yield from flip_commands(repair)
    elif isinstance(repair, Rewrite):
        yield from rewrite_commands(repair.path, repair.lines)
    else:
        yield write_command(repair.lines, repair.path)
