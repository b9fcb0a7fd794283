"""The ladder of leader epochs."""

from __future__ import annotations

import shutil
from pathlib import Path

import kafkalog_reader
from fixtures import captures
from kafkalog_reader.report import figures
from tests.report.figures.drawn import T, opened, texts


def test_the_ladder_tells_an_epoch_without_records_from_a_lie() -> None:
    elected = figures.epoch_figure(opened("s5_1/b-elected").table("leader_epochs", **T))
    broker_0, broker_1 = elected.axes
    assert texts(broker_0)[1:] == ["from 0, both agree"]  # the first says how to read it
    assert texts(broker_1) == ["from 0, both agree", "began at 2; nothing is written in it"]


def test_the_ladder_shows_where_a_checkpoint_lies(tmp_path: Path) -> None:
    lying = Path(shutil.copytree(captures.path("s5_2/c-written"), tmp_path / "lying"))
    checkpoint = lying / "broker-1" / "t-0" / "leader-epoch-checkpoint"
    checkpoint.write_text(checkpoint.read_text().replace("\n2 2\n", "\n2 3\n"))
    log = kafkalog_reader.open(lying)
    _, axes = figures.epoch_figure(log.table("leader_epochs", **T)).axes
    assert "from 2 by the batches, 3 by the checkpoint" in texts(axes)


def test_a_log_start_is_no_lie() -> None:
    log = opened("everything/running")  # records below 45 were deleted; their segment remains
    (axes,) = figures.epoch_figure(log.table("leader_epochs", topic="records-deleted")).axes
    assert texts(axes)[-1] == "from 24; the checkpoint begins at the log start"
