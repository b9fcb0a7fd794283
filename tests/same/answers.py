"""Asks every command about each state of a corpus; imports nothing but the program itself.

`python answers.py CORPUS PART PARTS OUTPUT` writes one JSON object a line: the state, the command,
its exit status and its output. PYTHONPATH says which checkout's program answers.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMANDS: Final = (
    ("verify", "--format", "json"),
    ("verify",),
    ("replica-diff", "--format", "json"),
    ("replica-diff",),
    ("plan", "--format", "json"),
    ("plan",),
    ("plan", "--format", "script"),
    ("quorum", "--format", "json"),
    ("quorum",),
    ("table", "recoveries", "--format", "json"),
)
"""Without the page of `kafkalog report`, which names the moment at which it was made."""


def answers(corpus: Path, states: list[str], output: IO[str]) -> None:
    """Write what each command says of each state; paths are relative to the corpus."""
    os.chdir(corpus)
    for state in states:
        for command in COMMANDS:
            ended, text = _asked(*command, *_arguments(state))
            row = {"state": state, "command": " ".join(command), "ended": ended, "text": text}
            output.write(f"{json.dumps(row)}\n")


def _arguments(state: str) -> Iterator[str]:
    """The paths of a state; those of faults have a space in them."""
    yield from [state] if state.startswith(("faults", "cross")) or "=" in state else state.split()


def _asked(program: str, *arguments: str) -> tuple[int, str]:
    from click.testing import CliRunner

    from kafkalog_reader.cli.main import kafkalog
    from kafkalog_reader.cli.replica_diff import replica_diff
    from kafkalog_reader.cli.run import status

    with CliRunner().isolation() as (output, _, _):
        if program == "replica-diff":
            ended = status(replica_diff, arguments)
        else:
            ended = status(kafkalog, (program, *arguments))
        return ended, output.getvalue().decode()


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    folder, part, parts, written = sys.argv[1:]
    all_states = Path(folder, "paths.txt").read_text().splitlines()
    with Path(written).open("w") as to:
        answers(Path(folder), all_states[int(part) :: int(parts)], to)
