"""Repairs of files as commands of a shell, for the host of the broker."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from kafkalog_reader.audits.integrity.file_repair import Copy, Move
from kafkalog_reader.report.shell_word import shell_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kafkalog_reader.audits.integrity.file_repair import FileRepair


def repair_commands(repairs: Iterable[FileRepair]) -> list[str]:
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


def _commands(repair: FileRepair) -> Iterator[str]:
    if isinstance(repair, Move):
        yield from move_commands(repair)
    elif isinstance(repair, Copy):
        host = "HOST_OF_" + re.sub(r"[^A-Z0-9]+", "_", repair.node.upper()).strip("_")
        source = shell_word(f"{host}:{repair.source}/")
        yield f"rsync -a {source} {shell_word(f'{repair.path}/')}"
    else:
        yield write_command(repair.lines, repair.path)
