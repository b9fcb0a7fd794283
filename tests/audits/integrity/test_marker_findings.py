"""KL-705, KL-706 and KL-711: batches that a leader refuses while it knows its producers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures import captures
from fixtures.builder import cluster, replica
from fixtures.synthetic.marker_states import MARKER_LOGS, Data, Marker

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.synthetic.marker_states import MarkerLog

CODES = ("KL-705", "KL-706", "KL-711")
FENCED = (Data(), Marker(epoch=4), Data(), Marker(epoch=4))


def findings(root: Path) -> list[dict[str, Any]]:
    rows = kafkalog_reader.open(str(root)).table("findings").to_arrow().to_pylist()
    return [row for row in rows if row["code"] in CODES]


@pytest.mark.parametrize("log", MARKER_LOGS, ids=lambda log: log.id)
def test_each_log_has_its_findings_and_no_others(log: MarkerLog, tmp_path: Path) -> None:
    found = findings(log.write(tmp_path))
    assert {(row["code"], row["firstOffset"]) for row in found} == log.expected
    for row in found:
        (path,) = tmp_path.rglob(row["file"])
        offset = path.read_bytes()[row["position"] :][:8]
        assert int.from_bytes(offset) == row["firstOffset"]


def test_epochs_and_the_number_of_batches_are_evidence(tmp_path: Path) -> None:
    (log,) = (each for each in MARKER_LOGS if each.id == "Q27a")
    (row,) = findings(log.write(tmp_path))
    assert {each["name"]: each["value"] for each in row["evidence"]} == {
        "producerId": "7", "producerEpoch": "3", "markerEpoch": "3", "coordinatorEpoch": "4",
        "coordinatorEpochBefore": "5", "batches": "1",
    }  # fmt: skip


def test_a_cleaner_and_missing_offsets_explain_it(tmp_path: Path) -> None:
    """T05, T22: between the marker and the data another marker may have been."""
    batches = [each.batch(offset) for offset, each in enumerate(FENCED)]
    cluster(tmp_path / "cleaned", {0: replica(batches, cleaner_offset=4)}, clean=[0])
    assert findings(tmp_path / "cleaned") == []
    with_gap = [*batches[:2], *(each.batch(offset) for offset, each in enumerate(FENCED[2:], 9))]
    cluster(tmp_path / "gap", {0: replica(with_gap)}, clean=[0])
    assert findings(tmp_path / "gap") == []
    cluster(tmp_path / "whole", {0: replica(batches)}, clean=[0])
    assert [row["code"] for row in findings(tmp_path / "whole")] == ["KL-705"]


@pytest.mark.parametrize("state", ["everything/stopped", "everything/killed", "everything/running"])
def test_transactions_of_a_broker_have_none(state: str) -> None:
    assert findings(captures.path(state)) == []
