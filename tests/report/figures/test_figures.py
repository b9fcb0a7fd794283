"""Figures show what brokers held and answered, and can be read without colour or a display."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import kafkalog_reader
from kafkalog_reader import MissingPackageError, UsageError
from kafkalog_reader.report import figures
from tests.report.figures.drawn import NO_ROWS, ROOT, T, damaged_copy, is_lost, opened, texts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from matplotlib.figure import Figure


def all_figures(tmp_path: Path) -> dict[str, Figure]:
    everything, unclean = opened("everything/running"), opened("s5_2/d-resynchronised")
    damaged = kafkalog_reader.open(damaged_copy(tmp_path))
    mode: Any = {"mode": "DROPMALFORMED"}
    return {
        "lag": figures.lag_figure(everything.table("group_offsets")),
        "gaps": figures.gaps_figure(everything.table("gaps"), everything.table("replicas")),
        "leadership": figures.leadership_figure(unclean.table("partition_states", **T)),
        "epochs": figures.epoch_figure(unclean.table("leader_epochs", **T)),
        "duplicates": figures.duplicates_figure(pa.table({"copies": [1, 1, 4]})),
        "damage": figures.damage_figure(
            damaged.table("batches", **mode), damaged.table("segments", **mode)
        ),
        "lanes": opened("s3_2/both-led").diff("t", 0).figure(),
    }


def test_every_figure_has_a_title_and_labels_and_can_be_read_without_colour(
    tmp_path: Path,
) -> None:
    for name, figure in all_figures(tmp_path).items():
        first, last = figure.axes[0], figure.axes[-1]
        assert first.get_title(loc="left"), name
        assert last.get_xlabel(), name
        for axes in figure.axes:
            assert all(patch.get_hatch() for patch in axes.patches if is_lost(patch)), name
        png = io.BytesIO()
        figure.savefig(png, format="png")
        assert png.getvalue().startswith(b"\x89PNG")


def test_no_figure_needs_a_display_or_pyplot() -> None:
    program = (
        "import sys, kafkalog_reader\n"
        "from kafkalog_reader.report import figures\n"
        "log = kafkalog_reader.open('fixtures/captures/s5_2/d-resynchronised')\n"
        "png = figures.epoch_figure(log.table('leader_epochs', topic='t'))._repr_png_()\n"
        "sys.exit('matplotlib.pyplot' in sys.modules or png[:4] != b'\\x89PNG')\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "TkAgg"}
    environment.pop("DISPLAY", None)
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT, env=environment)


def test_without_matplotlib_a_figure_names_the_extra_that_brings_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # as if it was not installed
    with pytest.raises(MissingPackageError, match=r"pip install 'kafkalog\[notebook\]'"):
        figures.lag_figure(NO_ROWS)


@pytest.mark.parametrize(
    "figure",
    [
        pytest.param(lambda: figures.lag_figure(NO_ROWS), id="lag"),
        pytest.param(lambda: figures.gaps_figure(NO_ROWS, NO_ROWS), id="gaps"),
        pytest.param(lambda: figures.leadership_figure(NO_ROWS), id="leadership"),
        pytest.param(lambda: figures.epoch_figure(NO_ROWS), id="epochs"),
        pytest.param(lambda: figures.duplicates_figure(NO_ROWS), id="duplicates"),
        pytest.param(lambda: figures.damage_figure(NO_ROWS, NO_ROWS), id="damage"),
    ],
)
def test_a_figure_of_nothing_says_why_it_is_empty(figure: Any) -> None:
    (axes,) = figure().axes
    assert texts(axes)[-1].endswith(".")


@pytest.mark.parametrize(
    ("draw", "problem"),
    [
        (lambda log: figures.lag_figure(log.table("batches")), "'status'.*rows of group_offsets"),
        (
            lambda log: figures.leadership_figure(log.table("replicas")),
            "'change'.*rows of partition_sta",
        ),
        (lambda log: figures.epoch_figure(log.table("batches")), "rows of leader_epochs"),
        (
            lambda log: figures.duplicates_figure(log.table("batches")),
            "rows of a table with a column copi",
        ),
        (
            lambda log: figures.gaps_figure(log.table("replicas"), log.table("gaps")),
            "rows of (gaps|replicas)",
        ),
        (
            lambda log: figures.damage_figure(log.table("segments"), log.table("batches")),
            "'sizeInBytes'.*rows of segments",
        ),
        (lambda _: figures.lag_figure(None), "NoneType is not rows of group_offsets"),
    ],
)
def test_other_rows_are_refused_with_the_table_that_is_needed(
    draw: Callable[[kafkalog_reader.Log], Figure], problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        draw(opened("everything/running"))
