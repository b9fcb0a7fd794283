"""The lanes as text and as a figure."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from kafkalog_reader.report.lanes import Lane, LaneInterval, Lanes, lane_lines
from kafkalog_reader.report.spans import Style, plain


def lane(name: str, end: int, *intervals: tuple[int, int, int, bool], start: int = 0) -> Lane:
    return Lane(
        name=name,
        first_offset=start,
        next_offset=end,
        high_watermark=(2, end),
        intervals=tuple(LaneInterval(*interval) for interval in intervals),
    )


SPLIT = Lanes(
    title="t-0",
    lanes=(
        lane("broker 0", 5, (0, 0, 2, False), (0, 2, 5, True)),
        lane("broker 1", 4, (0, 0, 2, False), (2, 2, 4, False)),
    ),
    fork=2,
)


def test_fork_mark_stands_under_the_border_of_both_lanes() -> None:
    ruler, zero, one, mark = map(plain, lane_lines(SPLIT))
    column = mark.index("▲")
    assert zero[column] == one[column] == "╪"
    assert ruler[column] == "2"
    assert zero.endswith("end 5  HW 2–5")


def test_only_the_side_that_loses_is_drawn_as_lost() -> None:
    lines = list(lane_lines(SPLIT))
    lost = ["".join(span.text for span in line if span.style is Style.LOST) for line in lines]
    assert "epoch 0" in lost[1]
    assert lost[2] == ""


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("end", [5, 1_000_000, 9_000_000_000_000])
def test_lines_keep_within_the_terminal(columns: int, end: int) -> None:
    lanes = Lanes(
        title="t-0",
        lanes=(
            lane("broker 0", end, (0, 0, end, False)),
            lane("broker 1", end - 1, (0, 0, end - 1, False)),
        ),
        fork=None,
    )
    assert max(len(plain(line)) for line in lane_lines(lanes, columns=columns)) <= columns


def test_ascii_is_enough() -> None:
    assert all(plain(line).isascii() for line in lane_lines(SPLIT, ascii_only=True))


def test_an_empty_replica_says_so() -> None:
    lanes = Lanes(
        title="t-0", lanes=(lane("broker 0", 3, (0, 0, 3, False)), lane("b", 0)), fork=None
    )
    assert "(empty)" in plain(list(lane_lines(lanes))[2])


def test_a_copy_from_before_leader_epochs_says_so() -> None:
    lanes = Lanes(title="t-0", lanes=(lane("broker 0", 40),), fork=None)
    assert " no leader epochs " in plain(list(lane_lines(lanes))[1])
    half = Lanes(title="t-0", lanes=(lane("broker 0", 40, (1, 0, 3, False)),), fork=None)
    assert " leader epoch unknown " in plain(list(lane_lines(half))[1])


def test_a_thousand_leader_epochs_still_make_a_picture() -> None:
    intervals = [(epoch, epoch * 10, epoch * 10 + 10, False) for epoch in range(1000)]
    lanes = Lanes(title="t-0", lanes=(lane("broker 0", 10_000, *intervals),), fork=None)
    assert all(len(plain(line)) <= 80 for line in lane_lines(lanes))


def test_the_figure_has_a_bar_a_piece_and_a_line_at_the_fork() -> None:
    from kafkalog_reader.report.figures import lanes_figure

    (axes,) = lanes_figure(SPLIT).axes
    assert len(axes.patches) == 4
    assert [label.get_text() for label in axes.get_yticklabels()] == ["broker 0", "broker 1"]
    said = [text.get_text() for text in axes.texts]
    assert said.count("epoch 0") == 3  # readable without colour
    assert {"epoch 2", "end 5   HW 2–5", "fork at 2"} <= set(said)


@pytest.mark.parametrize("count", [1, 12])
def test_the_figure_can_be_drawn_without_a_display(count: int) -> None:
    from kafkalog_reader.report.figures import lanes_figure

    lanes = Lanes(
        title="t-0",
        lanes=tuple(lane(f"broker {n}", 10**12, (0, 0, 10**12, False)) for n in range(count)),
        fork=None,
    )
    png = io.BytesIO()
    lanes_figure(lanes).savefig(png, format="png")
    assert png.getvalue().startswith(b"\x89PNG")


def test_only_a_figure_needs_matplotlib() -> None:
    program = "import sys, kafkalog_reader.report.lanes; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_new_leader_epoch_is_marked_without_colour() -> None:
    healed = Lanes(
        title="t-0",
        lanes=(lane("broker 0", 4, (0, 0, 2, False), (1, 2, 4, False)),),
        fork=None,
    )
    assert "┼" in plain(list(lane_lines(healed))[1])


def test_what_will_be_cut_is_marked_where_it_begins() -> None:
    pending = Lanes(
        title="t-0",
        lanes=(
            lane("broker 0", 3, (0, 0, 2, False), (0, 2, 3, True)),
            lane("broker 1", 2, (0, 0, 2, False)),
        ),
        fork=None,
        cut=2,
    )
    ruler, zero, _, mark = map(plain, lane_lines(pending))
    assert mark.endswith("▲ will be cut")
    assert ruler[mark.index("▲")] == "2"
    assert zero[mark.index("▲")] == "╪"
