from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from kafkalog_reader import __version__
from kafkalog_reader.cli.main import COMMANDS, kafkalog

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

HEAVY = ("pyarrow", "numpy", "construct", "rich", "pyspark", "lz4")


def test_help_names_every_command_in_one_section() -> None:
    answer = CliRunner().invoke(kafkalog, ["--help"])
    assert answer.exit_code == 0
    listed = re.findall(r"^  (\w+) ", answer.output.split("Show this message")[1], re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)
    assert answer.output.index("Check and compare:") < answer.output.index("\n  verify ")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_help_text_with_an_example(name: str) -> None:
    answer = CliRunner().invoke(kafkalog, [name, "--help"])
    assert answer.exit_code == 0
    assert f"kafkalog {name} " in answer.output.split("Example", 1)[1]
    assert answer.output.isascii()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_documented(name: str) -> None:
    command = kafkalog.get_command(click.Context(kafkalog), name)
    assert command is not None
    options = [option for option in command.params if isinstance(option, click.Option)]
    assert [option.name for option in options if not option.help] == []


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["table", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str], run_process: Run) -> None:
    answer = run_process(
        *arguments, environment={"PYTHONPROFILEIMPORTTIME": "1"},
    )  # fmt: skip
    imported = set(re.findall(r"\| +([\w.]+)$", answer.err, re.MULTILINE))
    assert "click" in imported
    assert imported.isdisjoint(HEAVY)


def test_a_list_of_replicas_needs_no_pandas(brokers: Path, run_process: Run) -> None:
    answer = run_process("ls", brokers, environment={"PYTHONPROFILEIMPORTTIME": "1"})
    assert answer.status == 0
    imported = set(re.findall(r"\| +([\w.]+)$", answer.err, re.MULTILINE))
    assert "pyarrow" in imported
    assert imported.isdisjoint({"pandas.core", "rich", "pyspark", "pyarrow.parquet"})


def test_version_is_the_packages(run: Run) -> None:
    assert run("--version").out == f"kafkalog {__version__}\n"


def test_wrong_command_names_the_nearest(run: Run) -> None:
    answer = run("tabel", "records")
    assert answer.status == 2
    assert answer.err.startswith("error: no command named 'tabel'. Did you mean 'table'?")


def test_replica_diff_is_said_to_be_a_program(run: Run) -> None:
    answer = run("replica-diff", "a", "b")
    assert answer.status == 2
    assert answer.err.startswith("error: replica-diff is a program of its own: replica-diff PATH")


@pytest.mark.parametrize(
    "command", [["ls"], ["verify"], ["table", "records"], ["salvage", "--output", "unwritten"]]
)
def test_mistyped_topic_is_not_an_empty_answer(command: list[str], brokers: Path, run: Run) -> None:
    answer = run(*command, brokers, "--topic", "T")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err == "error: no topic 'T' in the given paths. Did you mean 't'?\n"


@pytest.mark.parametrize(
    "arguments", [["ls"], ["ls", "--nope", "."], ["table", "records"], ["dump"]]
)
def test_wrong_usage_is_one_line_and_status_2(arguments: list[str], run: Run) -> None:
    answer = run(*arguments)
    assert (answer.status, answer.out) == (2, "")
    assert re.fullmatch(r"error: .*See `kafkalog \w+ --help`\.\n", answer.err)


def test_no_argument_at_all_shows_the_help(run: Run) -> None:
    answer = run()
    assert answer.status == 2
    assert "\n  verify " in answer.err
