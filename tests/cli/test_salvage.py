"""The command ``kafkalog salvage``: what it says, and what it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

TOPIC_ID = "AAAAAAAAAAEAAAAAAAAABQ"


@pytest.mark.parametrize("form", [[], ["--as-segments", "--topic-id", TOPIC_ID]])
def test_a_partition_is_a_line_and_a_folder(
    form: list[str], untouched: Path, tmp_path: Path, run: Run
) -> None:
    out = tmp_path / "out"
    answer = run("salvage", untouched, "--output", out, "--replica", "broker:1", *form)
    assert answer.status == 0
    assert answer.out == "t-0: 5 records, offsets 0 to 4\n"
    assert sorted(path.name for path in out.iterdir()) == ["manifest.json", "t-0"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        pytest.param(["--as-segments"], "--topic-id t=ID is missing", id="no_topic_id"),
        pytest.param(["--as-segments", "--topic-id", "x"], "--topic-id x: expected 22", id="no_id"),
        pytest.param(["--topic-id", TOPIC_ID], "--topic-id is for --as-segments", id="parquet"),
        pytest.param(["--as-segments", "--replica", "all"], "one log of a partition", id="all"),
    ],
)
def test_what_makes_no_sense_is_refused(
    options: list[str], problem: str, untouched: Path, tmp_path: Path, run: Run
) -> None:
    answer = run("salvage", untouched, "--output", tmp_path / "out", *options)
    assert answer.status == 2
    assert problem in answer.err
    assert not (tmp_path / "out").exists()
