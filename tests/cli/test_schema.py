"""The output of the commands is valid by the published JSON Schemas."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, NoReturn

import pytest
from jsonschema import Draft202012Validator

from examples import write_schemas
from examples.write_schemas import FOLDER, schemas
from fixtures import captures
from fixtures.synthetic import SCENARIOS
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import status
from kafkalog_reader.cli.schema import OF_COMMANDS
from kafkalog_reader.registry import TABLES, table
from tests.audits.quorum.controllers import write_controllers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Run

CAPTURED = [
    captures.path("s3_2/both-led"),
    captures.path("s5_1/d-resynchronised"),
    captures.path("everything/running"),
    captures.path("release_0.10.2.2/stopped"),
]


def test_a_schema_that_cannot_be_made_leaves_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> NoReturn:
        raise ImportError("a table cannot be imported")

    monkeypatch.setattr(write_schemas, "schemas", fail)
    before = sorted(FOLDER.iterdir())
    with pytest.raises(ImportError):
        write_schemas.main()
    assert sorted(FOLDER.iterdir()) == before


@cache
def validator(name: str) -> Draft202012Validator:
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.fixture
def compared(capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[[Path], str]:
    """The output of ``replica-diff --format json``."""

    def printed(path: Path) -> str:
        status(replica_diff, [str(path), "--format", "json"])
        out, _ = capfdbinary.readouterr()
        return out.decode()

    return printed


def assert_each_line_is_valid(name: str, printed: str) -> None:
    lines = printed.splitlines()
    assert lines
    for line in lines:
        validator(name).validate(json.loads(line))


@pytest.mark.parametrize("name", sorted([*OF_COMMANDS, *TABLES]))
def test_published_schema_is_the_programs(name: str, run: Run) -> None:
    printed = run("schema", name)
    assert printed.status == 0
    assert (FOLDER / f"{name}.schema.json").read_text() == printed.out


def test_nothing_else_is_published() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {f"{n}.schema.json" for n in schemas()}


@pytest.mark.parametrize("capture", CAPTURED, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_replica_diff_of_a_capture_is_valid(capture: Path, compared: Callable[[Path], str]) -> None:
    assert_each_line_is_valid("replica-diff", compared(capture))


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_replica_diff_of_a_scenario_is_valid(
    name: str, tmp_path: Path, compared: Callable[[Path], str]
) -> None:
    assert_each_line_is_valid("replica-diff", compared(SCENARIOS[name].write(tmp_path)))


@pytest.mark.parametrize(
    "capture", CAPTURED[:2], ids=lambda path: f"{path.parent.name}-{path.name}"
)
def test_plan_of_a_capture_is_valid(capture: Path, run: Run) -> None:
    assert_each_line_is_valid("plan", run("plan", capture, "--format", "json").out)


def test_plan_with_a_start_that_cuts_is_valid(run: Run, tmp_path: Path) -> None:
    next(iter(SCENARIOS.values())).write(tmp_path)
    for log in tmp_path.rglob("*.log"):
        log.write_bytes(log.read_bytes()[:-3])
    assert_each_line_is_valid("plan", run("plan", tmp_path, "--format", "json").out)


@pytest.mark.parametrize(
    "logs", [{1: "111", 2: "12", 3: "12"}, {1: "111", 2: "11", 3: ""}, {1: "1"}]
)
def test_quorum_is_valid(logs: dict[int, str], run: Run, tmp_path: Path) -> None:
    printed = run("quorum", write_controllers(tmp_path, logs), "--format", "json").out
    assert_each_line_is_valid("quorum", printed)


@pytest.mark.parametrize(("old", "new"), [("stale", "shrunk"), ("shrunk", "healed")])
def test_changes_are_valid(old: str, new: str, run: Run) -> None:
    pair = [captures.path("s1") / each / "broker-1" for each in (old, new)]
    assert_each_line_is_valid("changes", run("changes", *pair, "--format", "json").out)


@pytest.mark.parametrize("by", ["topic", "broker"])
def test_groups_of_replicas_are_valid(by: str, run: Run) -> None:
    state = captures.path("s3_2/both-led")
    printed = run("ls", state, "--by", by, "--format", "json").out
    assert_each_line_is_valid(f"ls-by-{by}", printed)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("find", ("find", "--regex", ".")),
        ("timeline", ("timeline",)),
        ("census", ("census",)),
        ("census", ("census", "--by", "producer")),
        ("duplicates", ("duplicates",)),
        ("duplicates-by-record", ("duplicates", "--by", "record")),
        ("keys", ("keys",)),
        ("groups-by-partition", ("groups",)),
        ("groups-by-group", ("groups", "--by", "group")),
        ("transactions-by-partition", ("transactions",)),
        ("transactions-by-id", ("transactions", "--by", "id")),
    ],
)
def test_rows_of_a_command_are_valid(name: str, arguments: tuple[str, ...], run: Run) -> None:
    state = captures.path("everything/stopped")
    assert_each_line_is_valid(name, run(*arguments, state, "--format", "json").out)


def test_verify_prints_rows_of_findings(run: Run, tmp_path: Path) -> None:
    next(iter(SCENARIOS.values())).write(tmp_path)
    for log in tmp_path.rglob("*.log"):
        log.write_bytes(log.read_bytes()[:-3])
    answer = run("verify", str(tmp_path), "--format", "json")
    assert_each_line_is_valid("findings", answer.out)


@pytest.mark.parametrize("name", sorted(TABLES))
def test_rows_of_a_table_are_valid(name: str, run: Run) -> None:
    columns = ",".join(column.name for column in table(name).columns)
    answer = run(
        "table", name, str(captures.path("everything/stopped")), "--format", "json",
        "--columns", columns, "--limit", "50",
    )  # fmt: skip
    assert answer.status == 0, answer.err
    for line in answer.out.splitlines():
        validator(name).validate(json.loads(line))


@pytest.mark.parametrize(
    ("name", "nearest"), [("recrods", "records"), ("ls-by-topics", "ls-by-topic")]
)
def test_unknown_name_is_an_error(run: Run, name: str, nearest: str) -> None:
    """A schema of a command is no table, and `kafkalog tables` does not list it."""
    answer = run("schema", name)
    assert answer.status == 2
    assert answer.err == (
        f"error: no schema named '{name}'. Did you mean '{nearest}'? "
        "`kafkalog schema --help` lists all\n"
    )
