"""Every path can be pasted into a shell."""

from __future__ import annotations

import os
import subprocess

import pytest

from kafkalog_reader.report.shell_word import shell_word


@pytest.mark.parametrize(
    "path",
    [
        "/mnt/b1",
        "with blank",
        "it's",
        "back\\slash\n'quoted'",
        "a\x1bf[31m",
        os.fsdecode(b"\xff1"),
        "é",
        "$HOME",
        "*",
    ],
)
def test_a_shell_reads_the_path_back(path: str) -> None:
    command = ["bash", "-c", f"printf %s {shell_word(path)}"]
    assert subprocess.run(command, check=True, capture_output=True).stdout == os.fsencode(path)
    assert shell_word(path).isprintable()
