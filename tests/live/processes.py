"""Finds processes that still use a folder of a test."""

from __future__ import annotations

import os
from pathlib import Path


def processes_naming(folder: Path) -> list[str]:
    """Command lines of processes, other than this one, that name a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().decode("utf-8", "replace")
        except OSError:  # it ended in the meantime
            continue
        if str(folder) in command and process.name != str(os.getpid()):
            found.append(command.replace("\0", " "))
    return found
