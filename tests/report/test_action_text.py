"""Commands as lines that a shell takes together."""

from __future__ import annotations

import shlex
import subprocess

import pytest

from kafkalog_reader.audits.catalogue.actions import COMPARE_REPLICAS, NOTHING_TO_DO
from kafkalog_reader.audits.integrity.file_repair import move_aside
from kafkalog_reader.report.action_text import command_lines, to_do_lines
from kafkalog_reader.report.spans import plain

COMMAND = (
    "kafka-configs.sh --bootstrap-server HOST:9092 --alter --entity-name 'a b' --add-config x=1"
)


def lines(command: str, columns: int) -> list[str]:
    return [plain(line) for line in command_lines(command, columns, indent=4)]


@pytest.mark.parametrize("columns", [30, 44, 60, 100, 200])
def test_a_command_can_be_pasted_at_any_width(columns: int) -> None:
    shown = lines(COMMAND, columns)
    pasted = ["sh", "-c", "printf '%s\\n' " + "\n".join(shown)]
    words = subprocess.run(pasted, capture_output=True, text=True, check=True).stdout
    assert words.splitlines() == shlex.split(COMMAND)
    assert all(line.startswith("    ") for line in shown)
    assert all(line.endswith("\\") for line in shown[:-1])
    longest = max(map(len, ("--bootstrap-server HOST:9092", "--add-config x=1")))
    assert max(map(len, shown)) <= max(columns, len("      ") + longest + len(" \\"))


def test_an_option_stays_beside_its_value() -> None:
    shown = " ".join(lines(COMMAND, 40))
    assert "--bootstrap-server HOST:9092" in shown
    assert "--entity-name 'a b'" in shown


def test_each_line_of_a_comment_is_one() -> None:
    shown = lines("# while only the controllers run, which takes release 3.7 or later", 40)
    assert len(shown) > 1
    assert all(line.startswith("    # ") for line in shown)


def test_commands_follow_the_first_action_and_nothing_to_do_is_not_said() -> None:
    repairs = [move_aside("/mnt/b1", "t-0")]
    shown = [plain(each) for each in to_do_lines([COMPARE_REPLICAS], repairs, 100, indent=2)]
    assert shown[0].startswith("  → run replica-diff")
    assert any("mv" in each and "t-0" in each for each in shown[1:])
    assert list(to_do_lines([NOTHING_TO_DO], [], 100, indent=2)) == []
