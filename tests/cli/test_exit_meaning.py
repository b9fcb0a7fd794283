"""The exit status is defined once; help texts and docs/output.md take it from there."""

from __future__ import annotations

import pytest

from kafkalog_reader.cli.exit_meaning import EXIT_MEANINGS, INCOMPLETE, exit_text
from kafkalog_reader.cli.main import COMMANDS
from tests.cli.conftest import ROOT, Run


def test_every_command_has_a_meaning() -> None:
    assert set(EXIT_MEANINGS) == {*COMMANDS, "replica-diff"}


@pytest.mark.parametrize("command", COMMANDS)
def test_help_ends_with_the_exit_status(command: str, run: Run) -> None:
    help_text = " ".join(run(command, "--help").out.split())
    assert help_text.endswith(exit_text(command))
    assert help_text.lower().count("exit status: ") == 1


def test_the_page_has_every_meaning() -> None:
    page = (ROOT / "docs" / "output.md").read_text()
    sentences = " ".join(page.split())
    lines = ["| command | 1 if | 2 also if |", "|---|---|---|"]
    for command, meaning in EXIT_MEANINGS.items():
        found = meaning.found.replace(INCOMPLETE, "the answer is incomplete")
        lines.append(f"| `{command}` | {found} | {meaning.trouble} |")
    assert "\n".join(lines) + "\n\n" in page
    definition = INCOMPLETE.removeprefix("the answer").removesuffix(" (standard error names them)")
    assert f"An answer is **incomplete** if it{definition}; standard error" in sentences
