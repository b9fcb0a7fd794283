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


@pytest.mark.parametrize("is_written", [False, True])
def test_records_that_only_a_leftover_has_are_not_silently_left_out(
    tmp_path: Path, run: Run, *, is_written: bool
) -> None:
    """As retention leaves a log of one segment: an empty one from the log start 3."""
    partition = state(tmp_path / "b")
    for file in [*partition.glob(f"{0:020d}.*")]:
        file.rename(file.with_name(f"{file.name}.deleted"))
    (partition / f"{3:020d}.log").write_bytes(b"")
    option = ("--leftovers",) if is_written else ()
    answer = run("salvage", tmp_path / "b", "--output", tmp_path / "out", *option)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (answer.status, manifest["isComplete"]) == ((0, True) if is_written else (1, False))
    assert manifest["leftovers"][0]["isInLogs"] is False
    # a log for a broker should not have what retention deleted
    answer = run("salvage", tmp_path / "b", "--output", tmp_path / "log", "--as-segments")
    manifest = json.loads((tmp_path / "log" / "manifest.json").read_text())
    assert (answer.status, manifest["isComplete"]) == (0, True)
    assert [each["kind"] for each in manifest["leftovers"]] == [".deleted"]


@pytest.mark.parametrize("form", [(), ("--as-segments",)])
@pytest.mark.parametrize("suffix", ["deleted", "cleaned", "swap"])
def test_a_sound_log_with_the_same_records_is_complete(
    suffix: str, form: tuple[str, ...], tmp_path: Path, run: Run
) -> None:
    partition = state(tmp_path / "b")
    log = partition / f"{0:020d}.log"
    log.with_name(f"{log.name}.{suffix}").write_bytes(log.read_bytes())
    answer = run("salvage", tmp_path / "b", "--output", tmp_path / "out", *form)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (answer.status, manifest["isComplete"]) == (0, True)
    assert f".{suffix}" in [each["kind"] for each in manifest["leftovers"]]
    assert "no record that this output lacks" in answer.out


@pytest.mark.parametrize("form", [(), ("--as-segments",)])
def test_other_records_at_the_same_offsets_are_lacking(
    form: tuple[str, ...], tmp_path: Path, run: Run
) -> None:
    """As a follower leaves a segment that it truncated, and then fetches the leader's records."""
    partition = state(tmp_path / "b")
    other = b"".join(
        data_batch(offset, [Record(offset_delta=0, value=b"other")]).build() for offset in range(3)
    )
    (partition / f"{0:020d}.log.deleted").write_bytes(other)
    answer = run("salvage", tmp_path / "b", "--output", tmp_path / "out", *form)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (answer.status, manifest["isComplete"]) == (1, False)
    assert "1 with records that this output lacks" in answer.out


def test_a_log_lacks_what_compaction_removed_by_rule(tmp_path: Path, run: Run) -> None:
    partition = state(tmp_path / "b")
    log = partition / f"{0:020d}.log"
    log.with_name(f"{log.name}.deleted").write_bytes(log.read_bytes())
    kept = data_batch(2, [Record(offset_delta=0, value=b"c")])
    log.write_bytes(kept.build())
    (partition.parent / "cleaner-offset-checkpoint").write_text("0\n1\nt 0 2\n")
    answer = run("salvage", tmp_path / "b", "--output", tmp_path / "log", "--as-segments")
    assert answer.status == 0
    answer = run("salvage", tmp_path / "b", "--output", tmp_path / "out")
    assert answer.status == 1, "Parquet has everything that can be read"


def test_a_swap_that_the_next_start_puts_in_the_place_of_a_segment(
    tmp_path: Path, run: Run
) -> None:
    """The log has its record, and the next start deletes the segment with all three."""
    partition = state(tmp_path / "b")
    log = partition / f"{0:020d}.log"
    cleaned = data_batch(2, [Record(offset_delta=0, value=b"c")])
    log.with_name(f"{log.name}.swap").write_bytes(cleaned.build())
    answer = run("salvage", tmp_path / "b", "--output", tmp_path / "out")
    assert answer.status == 1
    assert "(1 replaced, 1 .swap)" in answer.out
    assert "1 with records that this output lacks" in answer.out
    answer = run("salvage", tmp_path / "b", "--output", tmp_path / "all", "--leftovers")
    folder = tmp_path / "all" / "leftovers" / "t-0"
    assert values_in(folder) == [*VALUES, b"c"]
    assert sorted(each.name for each in folder.iterdir()) == [
        f"{0:020d}.{kind}.parquet" for kind in ("replaced", "swap")
    ]


def test_records_names_what_each_record_is_in(tmp_path: Path, run: Run) -> None:
    partition = state(tmp_path / "b")
    other = data_batch(7, [Record(offset_delta=0, value=b"h")]).build()
    (partition / f"{7:020d}.log.deleted").write_bytes(other)
    assert "leftover" not in run("records", tmp_path / "b", "--topic", "t").out
    shown = run("records", tmp_path / "b", "--topic", "t", "--leftovers", "--format", "csv",
                "--columns", "leftover,offset")  # fmt: skip
    assert shown.out.replace('"', "").split() == ["leftover,offset", ",0", ",1", ",2", ".deleted,7"]
    assert run("records", tmp_path / "b", "--leftovers").out.startswith("leftover")
    refused = run("records", tmp_path / "b", "--leftovers", "--last", "1")
    assert refused.status == 2


def test_a_sound_log_has_none(tmp_path: Path, run: Run) -> None:
    state(tmp_path / "b")
    answer = run("salvage", tmp_path / "b", "--output", tmp_path / "out", "--leftovers")
    assert "leftovers in" not in answer.out
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["leftovers"] == []
