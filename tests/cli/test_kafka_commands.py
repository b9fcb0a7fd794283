"""Kafka's own option parsers accept every command of Kafka's tools that we print."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fixtures import captures, jars
from fixtures.java_process import JAVA
from fixtures.synthetic import SCENARIOS
from fixtures.synthetic.across_replicas import CROSS_FAULTS
from kafkalog_reader.audits.catalogue.actions import ACTIONS
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import status
from tests.agreement.faulty_copy import base_of, faulty_copy
from tests.cli.test_printed_commands import EVERY_FIFTH

if TYPE_CHECKING:
    from collections.abc import Iterator

PARSER = Path(jars.__file__).parent / "java" / "ParseCommands.java"
CAPTURED = ("s3_2/both-led", "s5_1/b-elected", "s5_1/c-written", "s5_2/c-written", "s1/shrunk")


def kafka_commands(out: str) -> Iterator[tuple[str, ...]]:
    """Commands of Kafka's tools in a text; lines that end with a backslash are joined."""
    for line in out.replace("\\\n", " ").splitlines():
        if line.strip().startswith("kafka-"):
            yield tuple(shlex.split(line, comments=True))


def answers(commands: list[tuple[str, ...]]) -> list[str]:
    """The results of the newest tools' parsers: ``ok`` and the command, or the error."""
    done = subprocess.run(
        [*JAVA, "-cp", jars.class_path(jars.LATEST_TOOLS), str(PARSER)],
        input="".join("\t".join(command) + "\n" for command in commands),
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    return [line for line in done.stdout.splitlines() if "\t" in line]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, ...]]:
    """Every command that replica-diff and plan print for captures, scenarios and faults."""
    root = tmp_path_factory.mktemp("scenarios")
    states = [
        *(captures.path(name) for name in CAPTURED),
        *(scenario.write(root / name) for name, scenario in SCENARIOS.items()),
        *(fault.write(root / fault.id) for fault in CROSS_FAULTS),
        *(faulty_copy(fault, base_of(fault), root / fault.id) for fault in EVERY_FIFTH),
    ]
    found: set[tuple[str, ...]] = set()
    for state in states:
        for command, arguments in (
            (replica_diff, [str(state)]),
            (kafkalog, ["plan", str(state)]),
        ):
            output = root / "output.txt"
            with output.open("w") as out, pytest.MonkeyPatch.context() as patch:
                patch.setattr("sys.stdout", out)
                status(command, arguments)
            found.update(kafka_commands(output.read_text()))
    return found


def test_printed_commands_are_taken(printed: set[tuple[str, ...]]) -> None:
    assert {command[0] for command in printed} == {
        "kafka-configs.sh", "kafka-leader-election.sh", "kafka-reassign-partitions.sh",
        "kafka-topics.sh",
    }  # fmt: skip
    assert len(printed) >= 5
    assert [line for line in answers(sorted(printed)) if not line.startswith("ok\t")] == []


def test_commands_of_the_catalogue_are_taken() -> None:
    commands = [
        tuple("0" if word == "N" else word for word in command)
        for action in ACTIONS.values()
        for command in kafka_commands(action.command or "")
        if command[0] != "kafka-storage.sh"  # tests/oracle/test_plan_scripts.py executes it
    ]
    assert {command[0] for command in commands} == {
        "kafka-configs.sh", "kafka-consumer-groups.sh", "kafka-delete-records.sh",
        "kafka-leader-election.sh", "kafka-reassign-partitions.sh", "kafka-topics.sh",
        "kafka-transactions.sh",
    }  # fmt: skip
    assert [line for line in answers(commands) if not line.startswith("ok\t")] == []


@pytest.mark.parametrize(
    "wrong",
    [
        "kafka-delete-records.sh --bootstrap-server h:1 --offsets FILE",
        "kafka-leader-election.sh --bootstrap-server h:1 --election unclean",
        "kafka-transactions.sh --bootstrap-server h:1 find-hanging --topics t",
        "kafka-transactions.sh --bootstrap-server h:1 find-hanging --partition 0",
        "kafka-transactions.sh --bootstrap-server h:1 abort-hanging --topic t",
    ],
)
def test_a_wrong_option_is_refused(wrong: str) -> None:
    (line,) = answers([tuple(wrong.split())])
    assert line.startswith("refused: "), line
