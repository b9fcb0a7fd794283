"""Figures show what brokers held and answered, and can be read without colour or a display."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib.colors
import pyarrow as pa
import pytest

import kafkalog_reader
from fixtures import captures
from kafkalog_reader import MissingPackageError
from kafkalog_reader.report import figures
from kafkalog_reader.report.colours import LOST

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT = Path(__file__).parents[3]
T: Any = {"topic": "t", "partition": 0}
NO_ROWS = pa.table({"topic": pa.array([], pa.string())})


def opened(state: str) -> kafkalog_reader.Log:
    return kafkalog_reader.open(captures.path(state))


def texts(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


def bars(axes: Any) -> list[Any]:
    return list(axes.patches)


def row_names(axes: Any) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def is_lost(patch: Any) -> bool:
    return matplotlib.colors.same_color(patch.get_edgecolor(), LOST)


def group_row(**columns: Any) -> dict[str, Any]:
    row = {
        "groupId": "g", "topic": "t", "partition": 0, "committedOffset": 5, "logEndOffset": 8,
        "lag": 3, "status": "ok",
    }  # fmt: skip
    return {**row, **columns}


def damaged_copy(tmp_path: Path) -> Path:
    """Three segments: a flipped bit in the third batch, a zeroed third batch, a torn end."""
    source = captures.path("everything/stopped") / "broker-0" / "codec-none-0"
    copy = Path(shutil.copytree(source, tmp_path / "codec-none-0"))
    one, two, three = sorted(copy.glob("*.log"))
    flipped, zeroed = bytearray(one.read_bytes()), bytearray(two.read_bytes())
    flipped[3000] ^= 1
    zeroed[2702:3400] = bytes(698)
    one.write_bytes(flipped)
    two.write_bytes(zeroed)
    three.write_bytes(three.read_bytes()[:-30])
    return copy


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


def test_a_bar_of_the_lag_is_as_long_as_the_broker_answered() -> None:
    # answered: commits 3, 5 and 4 of the group "classic", log ends 4, 8 and 12
    (axes,) = figures.lag_figure(opened("everything/running").table("group_offsets")).axes
    named = dict(zip(row_names(axes), bars(axes), strict=False))
    assert named["classic   partitioned-0"].get_width() == 1
    assert [patch.get_width() for patch in bars(axes)[:3]] == [1, 3, 8]
    assert "3   committed 5 of 8" in texts(axes)


def test_a_group_that_will_be_reset_is_marked() -> None:
    rows = [group_row(), group_row(partition=1, committedOffset=9, lag=-1, status="above-log-end")]
    (axes,) = figures.lag_figure(pa.Table.from_pylist(rows)).axes
    assert [is_lost(patch) for patch in axes.patches] == [False, True]
    assert "-1   committed 9 of 8   above-log-end: the group is reset" in texts(axes)


def test_lag_without_its_log_is_unknown_not_nothing() -> None:
    rows = [group_row(lag=None, logEndOffset=None, status="no-log"), group_row(partition=1)]
    (axes,) = figures.lag_figure(pa.Table.from_pylist(rows)).axes
    assert "committed 5; its log is not in these files" in texts(axes)


def test_of_a_thousand_groups_those_most_behind_are_shown() -> None:
    rows = [group_row(groupId=f"g{number:04}", lag=number) for number in range(1000)]
    (axes,) = figures.lag_figure(pa.Table.from_pylist(rows)).axes
    names = row_names(axes)
    assert len(names) == 40
    assert names[0].startswith("g0960")
    assert any("40 of 1,000 shown: those most behind" in text for text in texts(axes))


def test_an_unclean_election_and_a_time_without_leader_are_marked() -> None:
    states = opened("s5_2/d-resynchronised").table("partition_states", **T)
    (axes,) = figures.leadership_figure(states).axes
    assert row_names(axes) == ["broker 0", "broker 1"]
    assert {"epoch 0", "epoch 2", "elected uncleanly: it was not in sync"} <= set(texts(axes))
    assert sum(patch.get_hatch() == "xx" for patch in axes.patches) == 1


def test_a_clean_election_is_not_marked() -> None:
    (axes,) = figures.leadership_figure(opened("s3_2/healed").table("partition_states", **T)).axes
    assert {"epoch 0", "epoch 1"} <= set(texts(axes))
    assert not any("uncleanly" in text for text in texts(axes))


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


def test_damage_lies_where_it_was_done(tmp_path: Path) -> None:
    log = kafkalog_reader.open(damaged_copy(tmp_path))
    mode: Any = {"mode": "DROPMALFORMED"}
    (axes,) = figures.damage_figure(
        log.table("batches", **mode), log.table("segments", **mode)
    ).axes
    sound = opened("everything/stopped").table("batches", topic="codec-none").to_arrow().to_pylist()
    (flipped,) = (each for each in sound if each["baseOffset"] == 12)
    (zeroed,) = (each for each in sound if each["baseOffset"] == 36)
    (torn,) = (each for each in sound if each["baseOffset"] == 66)
    assert [(patch.get_x(), patch.get_width()) for patch in bars(axes)] == [
        (flipped["position"], flipped["size"]),
        (zeroed["position"], zeroed["size"]),
        (torn["position"], torn["size"] - 30),
    ]
    assert "offsets 12–17, position 2,692" in texts(axes)
    assert row_names(axes)[1] == "codec-none-0\n00000000000000000024.log"


def test_a_segment_of_many_batches_is_one_bar() -> None:
    log = opened("everything/stopped")
    batches = log.table("batches", topic="one-record-batches").to_arrow()
    assert batches.num_rows > 120
    segments = log.table("segments", topic="one-record-batches")
    (axes,) = figures.damage_figure(batches, segments).axes
    assert len(axes.patches) == 0
    assert sum(len(each.get_paths()) for each in axes.collections) == segments.count()


def test_the_histogram_counts_what_a_producer_sent_four_times() -> None:
    replica = captures.path("s3_2_b/both-led") / "broker-0"
    batches = kafkalog_reader.open(replica).table("batches", ["crc", "size"], topic="t").to_arrow()
    counted = batches.group_by(["crc", "size"]).aggregate([([], "count_all")])
    contents = pa.table({"copies": counted["count_all"]})
    (axes,) = figures.duplicates_figure(contents).axes
    assert {"2 stored once", "3 stored 4 times"} <= set(texts(axes))


def test_gaps_show_the_last_stable_offset_and_the_reasons() -> None:
    log = opened("everything/running")
    only: Any = {"topic": "open-transaction"}
    gaps = log.table("gaps", **only)
    figure = figures.gaps_figure(gaps, log.table("replicas", **only))
    (axes,) = figure.axes
    assert row_names(axes) == ["open-transaction-0", "open-transaction-1"]
    assert {"LSO 3", "LSO 0", "end 11", "end 5"} <= set(texts(axes))
    assert len(axes.patches) == 2 + gaps.count()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "transaction marker",
        "aborted (read_committed)",
        "at or above the last stable offset (read_committed)",
    ]


def test_copies_without_leader_epochs_have_bars() -> None:
    (axes,) = opened("s5_2_0.10.2.2/d-diverged").diff("t", 0).figure().axes
    assert texts(axes).count("epoch unknown") == 2
    assert "fork at 2" in texts(axes)
