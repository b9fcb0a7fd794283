"""Leftovers are named by a salvage, and written to a part of their own when asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from pyarrow import parquet

from fixtures.builder import cluster, data_batch, replica
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

VALUES = (b"a", b"b", b"c")


def state(folder: Path) -> Path:
    """A log directory of topic t with three records; the partition's folder."""
    log = [
        data_batch(offset, [Record(offset_delta=0, value=value)])
        for offset, value in enumerate(VALUES)
    ]
    cluster(folder, {0: replica(log, high_watermark=3)})
    (path,) = folder.rglob("t-0")
    return path


def values_in(folder: Path) -> list[bytes]:
    files = sorted(folder.rglob("*.parquet"))
    return [value for file in files for value in parquet.read_table(file)["value"].to_pylist()]


@pytest.mark.parametrize("suffix", ["deleted", "cleaned"])
def test_renamed_segments_are_named_and_written_when_asked(
    suffix: str, tmp_path: Path, run: Run
) -> None:
    partition = state(tmp_path / "b")
    log = partition / f"{0:020d}.log"
    left = partition / f"{0:020d}.log.{suffix}"
    left.write_bytes(log.read_bytes())
    log.write_bytes(b"")
    answer = run("salvage", tmp_path / "b", "--output", tmp_path / "out")
    assert f"(1 .{suffix})" in answer.out
    assert "--leftovers writes their records" in answer.out
    (named,) = json.loads((tmp_path / "out" / "manifest.json").read_text())["leftovers"]
    assert (named["file"], named["writtenTo"]) == (str(left), None)
    assert values_in(tmp_path / "out") == []
    answer = run("salvage", tmp_path / "b", "--output", tmp_path / "all", "--leftovers")
    assert "3 records in leftovers/t-0" in answer.out
    assert values_in(tmp_path / "all" / "leftovers") == [*VALUES]
    (named,) = json.loads((tmp_path / "all" / "manifest.json").read_text())["leftovers"]
    assert (tmp_path / "all" / named["writtenTo"]).exists()
    assert named["records"] == len(VALUES)


@pytest.mark.parametrize("kind", ["delete", "stray"])
def test_folders_that_no_broker_serves(kind: str, tmp_path: Path, run: Run) -> None:
    partition = state(tmp_path / "b")
    partition.rename(partition.with_name(f"t-0.{'0' * 32}-{kind}"))
    refused = run("salvage", tmp_path / "b", "--output", tmp_path / "out")
    assert (refused.status, (tmp_path / "out").exists()) == (2, False)
    answer = run("salvage", tmp_path / "b", "--output", tmp_path / "all", "--leftovers")
    assert f"(1 -{kind}): 3 records in leftovers/t-0" in answer.out
    assert values_in(tmp_path / "all" / "leftovers") == [*VALUES]


def test_a_sound_log_has_none(tmp_path: Path, run: Run) -> None:
    state(tmp_path / "b")
    answer = run("salvage", tmp_path / "b", "--output", tmp_path / "out", "--leftovers")
    assert "leftovers in" not in answer.out
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["leftovers"] == []
