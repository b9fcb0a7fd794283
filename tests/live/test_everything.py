"""A real broker with a topic of every kind passes the checks of the committed captures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fixtures import live, truth
from kafkalog_reader.cli.main import kafkalog
from tests.captures import agreement, every_kind

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.truth import CaptureTruth

pytestmark = pytest.mark.broker


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> truth.Truth:
    output: Path = tmp_path_factory.mktemp("everything") / "output"
    return truth.load(live.run("everything", output))


@pytest.mark.parametrize("name", ["running", "stopped", "killed"])
def test_reader_finds_what_the_wire_said(everything: truth.Truth, name: str) -> None:
    capture = everything.captures[name]
    for check in (*agreement.ALL, *every_kind.ALL):
        check(everything, capture)


@pytest.mark.parametrize("deep", [False, True], ids=["batches", "records"])
@pytest.mark.parametrize("name", ["running", "stopped", "killed"])
def test_every_line_of_dump_is_kafkas(
    everything: truth.Truth, name: str, deep: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(everything.path)
    capture: CaptureTruth = everything.captures[name]
    dumped = list(capture.dump(deep=deep))
    options = ["--deep-iteration"] if deep else []
    printed = CliRunner().invoke(kafkalog, ["dump", *options, *(each.file for each in dumped)])
    assert printed.exception is None, printed.output
    expected = [line for each in dumped for line in (f"Dumping {each.file}", *each.lines)]
    assert printed.stdout.splitlines() == expected


@pytest.mark.parametrize("name", ["running", "stopped", "killed"])
def test_verify_finds_nothing_worth_a_look(everything: truth.Truth, name: str) -> None:
    files = str(everything.captures[name].files)
    printed = CliRunner().invoke(
        kafkalog,
        ["verify", files, "--deep", "--fail-on", "medium", "--verbose"],
        standalone_mode=False,
    )
    assert printed.return_value == 0, printed.output
