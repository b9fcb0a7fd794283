"""What tests of figures read from them, and what is drawn."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import matplotlib.colors
import pyarrow as pa

import kafkalog_reader
from fixtures import captures
from kafkalog_reader.report.colours import LOST

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
