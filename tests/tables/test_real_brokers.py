"""Real brokers' files agree with what the brokers told clients while they ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fixtures import captures, truth

if TYPE_CHECKING:
    from collections.abc import Callable

    Rows = Callable[..., list[dict[str, Any]]]

ALL = [
    pytest.param(capture, id=f"{scenario}/{capture.name}")
    for scenario in captures.names()
    for capture in truth.load(captures.path(scenario)).captures.values()
]
OF_ONE_BROKER = [
    parameter
    for parameter in ALL
    if str(parameter.id).startswith("everything/") and parameter.values[0].offsets
]


@pytest.mark.parametrize("capture", OF_ONE_BROKER)
def test_log_start_end_and_last_stable_offset_are_what_list_offsets_said(
    capture: truth.CaptureTruth, rows_of: Rows
) -> None:
    found = {
        (row["topic"], row["partition"]): (
            row["logStartOffset"], row["logEndOffset"], row["lastStableOffset"],
        )
        for row in rows_of("replicas", capture.files)
        if row["state"] is None
    }  # fmt: skip
    said = {
        partition: (offsets.earliest, offsets.latest, offsets.last_stable)
        for partition, offsets in capture.offsets.items()
    }
    assert said
    assert {partition: found.get(partition) for partition in said} == said


@pytest.mark.parametrize("capture", OF_ONE_BROKER)
def test_high_watermark_lies_in_its_interval(capture: truth.CaptureTruth, rows_of: Rows) -> None:
    found = {(row["topic"], row["partition"]): row for row in rows_of("replicas", capture.files)}
    for partition, offsets in capture.offsets.items():
        row = found[partition]
        assert row["highWatermarkLow"] <= offsets.latest <= row["logEndOffset"], partition
        assert row["lastStableOffsetLow"] <= offsets.last_stable <= row["lastStableOffset"]


@pytest.mark.parametrize("table", ["offset_index", "time_index", "transaction_index"])
@pytest.mark.parametrize("capture", ALL)
def test_every_index_entry_that_a_broker_wrote_is_confirmed(
    capture: truth.CaptureTruth, table: str, rows_of: Rows
) -> None:
    """Except those of truncated records, whose entries stay in the index of the active segment."""
    expected = truth.load(capture.files.parent).expected["captures"][capture.name]
    truncations = {int(b): offset for b, offset in expected.get("truncations", {}).items()}
    offset = "lastOffset" if table == "transaction_index" else "offset"
    # without timestamps: some are beyond the years of datetime
    columns = ["brokerId", "logDirectory", "topic", "partition", "entry", offset, "confirmed"]
    for row in rows_of(table, capture.files, columns=columns):
        if row["confirmed"] is None:  # magic 0 has no timestamp that could confirm an entry
            assert (capture.files.parent.name, row["topic"]) == ("release_2.8.2", "append-time")
            continue
        assert row["confirmed"] or row[offset] >= truncations[row["brokerId"]], row


@pytest.mark.parametrize("capture", ALL)
def test_batches_of_every_segment_reach_its_end_with_every_crc_right(
    capture: truth.CaptureTruth, rows_of: Rows
) -> None:
    columns = ["logDirectory", "suffix", "sizeInBytes", "crcErrors", "validBytes"]
    for row in rows_of("segments", capture.files, columns=columns):
        if row["suffix"] is None and row["sizeInBytes"] is not None:
            assert (row["crcErrors"], row["validBytes"]) == (0, row["sizeInBytes"])


@pytest.mark.parametrize("capture", ALL)
def test_checkpointed_epochs_are_those_of_the_batches(
    capture: truth.CaptureTruth, rows_of: Rows
) -> None:
    """An epoch may have no batch, and the first starts at the log start; every batch has one."""
    epochs: dict[Any, dict[str, dict[int, int]]] = {}
    for row in rows_of("leader_epochs", capture.files):
        if row["leaderEpoch"] < 0 and capture.files.parent.name.startswith("release_"):
            continue  # messages of magic 0 and 1 have none
        replica = (row["brokerId"], row["logDirectory"], row["topic"], row["partition"])
        source = epochs.setdefault(replica, {}).setdefault(row["source"], {})
        source.setdefault(row["leaderEpoch"], row["startOffset"])
    for replica, sources in epochs.items():
        checkpoint = sources.get("checkpoint", {})
        for leader_epoch, start in sources.get("batches", {}).items():
            assert leader_epoch in checkpoint, replica
            is_first = checkpoint[leader_epoch] == min(checkpoint.values())
            assert checkpoint[leader_epoch] <= start or is_first, replica
