"""Readers of records report the doubtful offsets that ``kafkalog salvage`` keeps apart."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder.notation import parse_log
from kafkalog_reader import registry
from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.progress import ReadMetrics
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.tables import doubtful_batches, offset_watch
from kafkalog_reader.tables.log_unit import slices_of
from kafkalog_reader.tables.offset_watch import OffsetWatch
from kafkalog_reader.tables.request import ReadRequest
from tests.tables.test_offset_order import FIVE, build, move, run, starts

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.scan.segment_slice import SegmentSlice

IN_TWO = {"segment_bytes": 420}
"""Room for two batches of ten records."""


def read(root: Path, **options: object) -> tuple[list[int], ReadMetrics]:
    """The offsets that the table ``records`` shows, and what was counted."""
    table = registry.table("records")
    metrics = ReadMetrics()
    max_bytes = options.pop("max_partition_bytes", None)
    request = registry.request(table, ("offset",), **options)
    if isinstance(max_bytes, int):
        request = replace(request, max_partition_bytes=max_bytes)
    rows = registry.read(table, discover([str(root)]), request, metrics)
    return [offset for part in rows for offset in part["offset"].to_pylist()], metrics


def places(root: Path, batch: int, segment: int = 0) -> str:
    log = sorted(root.rglob("*.log"))[segment]
    return f"{log} at position {starts(log.read_bytes())[batch]} "


MOVES = pytest.mark.parametrize(
    ("batch", "base_offset", "code"),
    [
        pytest.param(2, 10, "KL-110", id="repeats"),
        pytest.param(2, 5, "KL-110", id="falls"),
        pytest.param(2, 1045, "KL-110", id="far_above"),
        pytest.param(1, 30, "KL-110", id="in_the_place_of_a_later_one"),
        pytest.param(0, 3, "KL-110", id="first_batch"),
        pytest.param(4, 20, "KL-110", id="last_batch_falls"),
        pytest.param(4, 296, "KL-111", id="last_batch_jumps"),
    ],
)


@MOVES
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.ZSTD])
@pytest.mark.parametrize("max_partition_bytes", [None, 400])
def test_a_moved_batch_is_reported_where_salvage_keeps_it_apart(
    batch: int, base_offset: int, code: str, codec: Codec, max_partition_bytes: int | None,
    tmp_path: Path, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    source = build(tmp_path / "in", [replace(each, codec=codec) for each in parse_log(FIVE)])
    move(source, batch, base_offset)
    caplog.set_level(logging.WARNING)
    offsets, metrics = read(source, max_partition_bytes=max_partition_bytes)
    assert len(offsets) == 50
    warnings = set(caplog.messages)
    (warning,) = warnings
    assert warning.startswith(f"{places(source, batch)}(offset {base_offset}): {code}: ")
    assert metrics.doubtful_ranges >= 1
    ((_, kept_apart),) = run(source, tmp_path / "out").doubtful
    assert kept_apart.problem in warning


def test_one_flipped_bit_is_reported_where_salvage_puts_it_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = build(tmp_path / "in")
    move(source, 2, 20 ^ 1 << 40)
    offsets, metrics = read(source)
    assert (len(offsets), metrics.doubtful_ranges) == (50, 1)
    (warning,) = caplog.messages
    assert warning.startswith(f"{places(source, 2)}(offset {20 + 2**40}): KL-119: ")
    assert "bit 40 of the base offset was flipped: with 20 it joins" in warning
    assert warning.endswith("`kafkalog salvage` corrects them")
    salvaged = run(source, tmp_path / "out")
    assert (salvaged.records, salvaged.doubtful) == (50, [])


@pytest.mark.parametrize(
    ("segment", "batch", "base_offset", "code"),
    [
        pytest.param(1, 0, 5, "KL-401", id="begins_below_its_name"),
        pytest.param(0, 1, 25, "KL-402", id="reaches_into_the_next"),
    ],
)
def test_batches_of_another_segment_are_reported(
    segment: int, batch: int, base_offset: int, code: str, tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    source = build(tmp_path / "in", FIVE, **IN_TWO)
    move(source, batch, base_offset, segment)
    _, metrics = read(source)
    assert metrics.doubtful_ranges == 1
    (warning,) = caplog.messages
    assert warning.startswith(f"{places(source, batch, segment)}(offset {base_offset}): {code}: ")


def test_a_segment_of_another_partition_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = build(tmp_path / "in", FIVE, **IN_TWO)
    other = build(tmp_path / "other", "0-7/e0 8-9/e0 10-13/e0 14-21/e0", **IN_TWO)
    last, foreign = (sorted(each.rglob("*.log"))[-1] for each in (source, other))
    last.write_bytes(foreign.read_bytes())
    offsets, metrics = read(source)
    assert offsets == [*range(40), *range(14, 22)]
    assert metrics.doubtful_ranges == 1
    (warning,) = caplog.messages
    assert warning.startswith(f"{last} at position 0 (offset 14): KL-401: ")
    ((kept_apart, _),) = run(source, tmp_path / "out").doubtful
    assert kept_apart.path == str(last)


def test_a_mode_without_warnings_still_counts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = build(tmp_path / "in")
    move(source, 2, 10)
    _, metrics = read(source, mode="DROPMALFORMED")
    assert (metrics.doubtful_ranges, caplog.messages) == (1, [])


@pytest.mark.parametrize(
    ("log", "options"),
    [
        pytest.param(FIVE, {}, id="plain"),
        pytest.param(FIVE, IN_TWO, id="segments"),
        pytest.param("0-9/e0 20-29/e0 60-69/e0", {"cleaner_offset": 70}, id="cleaned"),
    ],
)
def test_sound_logs_are_read_once(
    log: str, options: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = build(tmp_path / "in", log, **options)

    def again(_: SegmentSlice) -> list[doubtful_batches.DoubtfulBatches]:
        raise AssertionError("a second reading")

    monkeypatch.setattr(offset_watch, "doubtful_batches", again)
    for max_partition_bytes in (None, 400):
        assert read(source, max_partition_bytes=max_partition_bytes)[1].doubtful_ranges == 0


def test_gaps_that_compaction_may_have_left_are_not_reported(tmp_path: Path) -> None:
    source = build(tmp_path / "in", "0-9/e0[0,9] 20-29/e0 40-49/e0[41] 60-69/e0")
    assert read(source)[1].doubtful_ranges == 0


def test_the_first_segment_may_begin_inside_a_batch(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A follower names its first segment after the leader's log start (KAFKA-6975)."""
    source = build(tmp_path / "in")
    (log,) = source.rglob("*.log")
    for name in log.parent.glob(f"{0:020d}.*"):
        name.rename(name.with_name(name.name.replace(f"{0:020d}", f"{5:020d}")))
    offsets, metrics = read(source)
    assert (offsets[-1], metrics.doubtful_ranges, caplog.messages) == (49, 0, [])
    assert run(source, tmp_path / "out").doubtful == []


def test_the_end_of_a_slice_is_compared_with_what_follows(tmp_path: Path) -> None:
    source = build(tmp_path / "in")
    move(source, 3, 5)
    (log,) = source.rglob("*.log")
    border = starts(log.read_bytes())[3]
    (directory,) = discover([str(source)]).partition_directories(ReadRequest())
    (whole,) = slices_of(directory, ReadRequest())
    metrics = ReadMetrics()
    watch = OffsetWatch(replace(whole, stop=border), Damage(Mode.PERMISSIVE, metrics=metrics))
    watch.pass_over(29)
    assert metrics.doubtful_ranges == 0
    watch.conclude()
    assert metrics.doubtful_ranges == 1


def test_codes_are_those_of_the_catalogue() -> None:
    names = {
        "KL-110": "offset-regression",
        "KL-111": "offset-gap",
        "KL-114": "segment-offset-overflow",
        "KL-119": "base-offset-flipped",
        "KL-401": "segment-name-above-content",
        "KL-402": "segment-overlap",
    }
    assert {code: CATALOGUE[code].name for code in doubtful_batches.CODES} == names
