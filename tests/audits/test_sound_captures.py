"""Sound files of real brokers of every release, running, killed or stopped, raise no alarm."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fixtures import captures
from kafkalog_reader.audits.tables.findings import OF_ONE_COPY
from kafkalog_reader.cli.verify import verify_command

if TYPE_CHECKING:
    from pathlib import Path

TWO_TOPICS = ("KL-009", "recreated/a-away")
"""Each copy is sound, but one is of a deleted topic."""
OF_BROKERS = ("meta.properties", "recovery-point-offset-checkpoint")
STATES = sorted(
    folder
    for state in captures.states()
    for folder in captures.path(state).iterdir()
    if any((folder / name).is_file() for name in OF_BROKERS)  # 0.8 has no meta.properties
)


def rows_of(*paths: Path, deep: bool = True) -> list[dict[str, object]]:
    """The findings of ``kafkalog verify``."""
    options = ["--deep"] if deep else []
    result = CliRunner().invoke(
        verify_command, [*map(str, paths), "--format", "json", *options], standalone_mode=False
    )
    assert result.exception is None, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_there_are_captures_of_every_release() -> None:
    assert {path.parent.parent.name for path in STATES} >= {
        "everything", "release_0.8.2.2", "release_0.10.2.2", "release_0.11.0.3", "release_2.8.2",
        "release_3.9.1", "s1", "s3_2", "s5_1", "s5_2",
    }  # fmt: skip


@pytest.mark.parametrize(
    "state", sorted({path.parent for path in STATES}), ids=lambda p: f"{p.parent.name}-{p.name}"
)
def test_nothing_above_low(state: Path) -> None:
    worse = [
        row
        for row in rows_of(state)
        if row["severity"] in ("C", "H", "M")
        and row["code"] in OF_ONE_COPY
        and (row["code"], f"{state.parent.name}/{state.name}") != TWO_TOPICS
    ]
    assert {row["code"] for row in worse} <= {"KL-117"}, worse
    assert all("2.8.2" in str(row["logDirectory"]) for row in worse)


def test_the_same_input_gives_the_same_bytes() -> None:
    assert rows_of(captures.path("everything/killed")) == rows_of(
        captures.path("everything/killed")
    )
