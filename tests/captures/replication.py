"""Checks any capture of several brokers, committed or fresh.

The expected values come from the scenario's ``expected.json``, which ``tests/fixtures`` compares
with the brokers' own output, and from the answers to clients.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.captures.agreement import (
    batches_are_what_the_dump_tool_printed,
    rows,
    segments_are_the_files_that_are_there,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.truth import CaptureTruth, Truth


def replicas_are_as_the_scenario_knows_them(truth: Truth, capture: CaptureTruth) -> None:
    ours = {
        str(row["brokerId"]): (
            row["clusterId"],
            row["logStartOffset"],
            row["logEndOffset"],
            row["checkpointedHighWatermark"],
            row["lastLeaderEpoch"],
            row["cleanShutdown"],
        )
        for row in rows(capture, "replicas")
        if row["topic"] == truth.expected["topic"]
    }
    assert ours == {
        broker: (
            truth.expected["clusterId"],
            replica["logStart"],
            replica["logEnd"],
            replica["highWatermark"],
            replica["records"][-1]["leaderEpoch"],
            False,
        )
        for broker, replica in _replicas(truth, capture).items()
    }


def high_watermark_lies_in_the_interval(truth: Truth, capture: CaptureTruth) -> None:
    """The latest offset by list_offsets is the leader's high watermark, so some interval has it."""
    latest = capture.offsets.get((truth.expected["topic"], 0))
    if latest is None:
        return
    leader = truth.expected["captures"][capture.name]["leader"]
    (row,) = (
        row
        for row in rows(capture, "replicas")
        if row["topic"] == truth.expected["topic"] and row["brokerId"] == leader
    )
    assert row["highWatermarkLow"] <= latest.latest <= row["logEndOffset"]


def each_copy_holds_the_records_it_is_known_to_hold(truth: Truth, capture: CaptureTruth) -> None:
    ours: dict[str, list[dict[str, Any]]] = {}
    for row in rows(capture, "records"):
        if row["topic"] == truth.expected["topic"]:
            ours.setdefault(str(row["brokerId"]), []).append(
                {
                    "offset": row["offset"],
                    "leaderEpoch": row["leaderEpoch"],
                    "value": row["value"].decode(),
                }
            )
    expected = _replicas(truth, capture)
    assert ours == {broker: replica["records"] for broker, replica in expected.items()}


def every_acknowledged_record_is_on_some_side_of_a_fork(
    truth: Truth, capture: CaptureTruth
) -> None:
    """Offsets and values as acknowledged; nothing is checked once the replicas agree again."""
    if truth.expected["captures"][capture.name]["forkOffset"] is None:
        return
    ours = {
        (row["offset"], row["value"].decode())
        for row in rows(capture, "records")
        if row["topic"] == truth.expected["topic"]
    }
    clients = json.loads((truth.path / "truth" / "clients.json").read_text())
    acknowledged = {(each["offset"], each["value"]) for each in clients if each["error"] is None}
    refused = {each["value"] for each in clients if each["error"] is not None}
    assert acknowledged <= ours
    assert {value for _, value in ours - acknowledged} <= refused  # written, but never acknowledged


def leader_epochs_are_those_of_the_scenario(truth: Truth, capture: CaptureTruth) -> None:
    found = [
        row for row in rows(capture, "leader_epochs") if row["topic"] == truth.expected["topic"]
    ]
    for broker, replica in _replicas(truth, capture).items():
        own = [row for row in found if str(row["brokerId"]) == broker]
        entries = {
            source: [
                [row["leaderEpoch"], row["startOffset"]] for row in own if row["source"] == source
            ]
            for source in ("checkpoint", "batches")
        }
        assert entries["checkpoint"] == replica["leaderEpochs"]
        written = [entry for entry in replica["leaderEpochs"] if entry[1] < replica["logEnd"]]
        assert entries["batches"] == written


ALL: tuple[Callable[[Truth, CaptureTruth], None], ...] = (
    replicas_are_as_the_scenario_knows_them,
    high_watermark_lies_in_the_interval,
    each_copy_holds_the_records_it_is_known_to_hold,
    every_acknowledged_record_is_on_some_side_of_a_fork,
    leader_epochs_are_those_of_the_scenario,
    batches_are_what_the_dump_tool_printed,
    segments_are_the_files_that_are_there,
)


def _replicas(truth: Truth, capture: CaptureTruth) -> dict[str, Any]:
    replicas: dict[str, Any] = truth.expected["captures"][capture.name]["replicas"]
    return replicas
