"""What the shells complete: commands, options, files, tables, columns, codes and topics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pytest
from click.shell_completion import ShellComplete

from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE
from kafkalog_reader.cli.main import COMMANDS, kafkalog
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.registry import TABLES

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


def completed(*words: object, of: click.Command = kafkalog) -> list[str]:
    """The candidates for the last of these words."""
    *before, start = map(str, words)
    shell = ShellComplete(of, {}, of.name or "", "_COMPLETE")
    return [item.value for item in shell.get_completions(before, start)]


def test_commands_complete() -> None:
    assert completed("") == list(COMMANDS)
    assert completed("gr") == ["groups"]


def test_table_names_complete() -> None:
    assert completed("table", "") == list(TABLES)
    assert completed("table", "leader") == completed("tables", "leader") == ["leader_epochs"]
    assert completed("schema", "re") == [
        "replica-diff", "report", "records", "replicas", "recoveries",
    ]  # fmt: skip


def test_codes_complete_in_any_case_and_names_once_they_begin() -> None:
    assert set(CATALOGUE) < set(completed("explain", ""))
    assert completed("explain", "kl-50") == [code for code in CATALOGUE if code[:5] == "KL-50"]
    assert completed("explain", "A5", "batch-crc") == ["batch-crc-mismatch"]


@pytest.mark.parametrize("tail", [("--topic", ""), ("--format", "json", "--topic", "")])
def test_topics_of_the_given_folders_complete(tail: tuple[str, ...], brokers: Path) -> None:
    assert "t" in completed("ls", brokers, *tail)
    (root,) = sorted(brokers.iterdir())[:1]
    assert completed("verify", f"7={root}", *tail) == completed("verify", root, *tail)
    assert completed(root, *tail, of=replica_diff) == completed("verify", root, *tail)
    assert completed("ls", brokers / "none", *tail) == []


def test_topics_of_partition_directories_and_of_folders_without_meta_properties_complete(
    tmp_path: Path,
) -> None:
    for name in ("b1/orders-0", "b1/orders-1", "b1/pay-me-3", "b1/lost+found", "b2-7/orders-2"):
        (tmp_path / name).mkdir(parents=True)
    assert completed("ls", tmp_path, "--topic", "") == ["orders", "pay-me"]
    assert completed("ls", tmp_path / "b1/pay-me-3", "--topic", "") == ["pay-me"]


def test_columns_of_the_named_table_complete_after_a_comma() -> None:
    assert completed("table", "leader_epochs", "x", "--columns", "st") == ["startOffset"]
    assert completed("records", "x", "--columns", "offset,timestamp,o") == []
    assert "offset,timestamp" in completed("records", "x", "--columns", "offset,timest")


@pytest.mark.parametrize(
    ("option", "start", "expected"),
    [
        ("--isolation", "read_c", ["read_committed"]),
        ("--mode", "P", ["PERMISSIVE"]),
        ("--until", "high", ["highWatermark"]),
        ("--replica", "b", ["best", "broker:"]),
        ("--format", "p", ["parquet"]),
    ],
)
def test_values_of_options_complete(option: str, start: str, expected: list[str]) -> None:
    assert completed("table", "records", "x", option, start) == expected


def test_every_path_completes_as_a_file() -> None:
    context = click.Context(kafkalog)
    commands = [kafkalog.get_command(context, name) for name in COMMANDS]
    places = {"FILE", "FILE.html", "DIR", "OLD", "NEW", "PATH...", "[FILE]...", "[QUERY] PATH..."}
    for command in (*commands, replica_diff):
        assert command is not None
        for parameter in command.params:
            if parameter.metavar in places:
                (item,) = parameter.shell_complete(context, "/mnt/b")
                assert (item.value, item.type) == ("/mnt/b", "file"), (command.name, parameter)


def test_a_path_after_a_node_id_completes(tmp_path: Path) -> None:
    (tmp_path / "b1").mkdir()
    (tmp_path / "b2.tar").touch()
    assert completed("ls", f"1={tmp_path}/b") == [f"1={tmp_path}/b1/", f"1={tmp_path}/b2.tar"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_program_writes_the_script_of_each_shell(shell: str, run_process: Run) -> None:
    answer = run_process(environment={"_KAFKALOG_COMPLETE": f"{shell}_source"})
    assert answer.status == 0
    assert "_kafkalog_completion" in answer.out
    assert f"_KAFKALOG_COMPLETE={shell}_complete" in answer.out


def test_the_program_answers_the_shell(run_process: Run) -> None:
    answer = run_process(
        environment={
            "_KAFKALOG_COMPLETE": "bash_complete",
            "COMP_WORDS": "kafkalog\ntable\noffset_",
            "COMP_CWORD": "2",
        }
    )
    assert (answer.out, answer.err) == ("plain,offset_index\n", "")
