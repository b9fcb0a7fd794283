"""T01: copies that ``cp -r`` takes of a broker while clients write."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from fixtures import live
from fixtures.scenarios.hot_copies import COPIES
from kafkalog_reader.cli.main import kafkalog

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.oracle


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return live.run("hot_copies", tmp_path_factory.mktemp("hot") / "output")


def worse_than_low(path: Path) -> list[dict[str, Any]]:
    printed = CliRunner().invoke(
        kafkalog, ["verify", str(path), "--deep", "--format", "json"], standalone_mode=False
    )
    assert printed.exception is None, printed.output
    rows = [json.loads(line) for line in printed.stdout.splitlines()]
    return [row for row in rows if row["severity"] in ("C", "H", "M")]


@pytest.mark.parametrize("number", range(COPIES))
def test_of_a_hot_copy_nothing_is_proven(output: Path, number: int) -> None:
    worse = worse_than_low(output / f"hot-{number}")
    proven = [(row["code"], row["message"]) for row in worse if row["confidence"] == "proven"]
    assert proven == []
    # Only effects of writes after the copied end: a checkpoint newer than the log.
    assert {row["code"] for row in worse if row["causedBy"] is None} <= {"KL-304", "KL-305"}


@pytest.mark.parametrize("state", ["killed", "stopped"])
def test_of_a_broker_at_rest_nothing_is_worth_a_look(output: Path, state: str) -> None:
    assert worse_than_low(output / state) == []
