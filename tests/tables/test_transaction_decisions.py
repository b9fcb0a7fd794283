"""How a coordinator decided a transaction: only a record about this very transaction counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import EPOCH_MILLIS
from fixtures.synthetic.transaction_states import DAY_MS, PRODUCER, PRODUCER_EPOCH, TRANSACTIONS
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.transaction_decisions import newest_decision

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.tables.transaction_decisions import Decision

DECIDED_MS = EPOCH_MILLIS + 500
"""In the state that is read here, of the transaction that began at ``EPOCH_MILLIS``."""


def decision(root: Path, **changed: object) -> Decision | None:
    """The decision about the transaction of Q10a, or about one that differs from it."""
    (state,) = (each for each in TRANSACTIONS if each.id == "Q10a")
    evidence = discover([str(state.write(root))])
    (cluster_id,) = {each.cluster_id for each in evidence.roots}
    row: dict[str, Any] = {
        "clusterId": cluster_id, "topic": "t", "partition": 0, "producerId": PRODUCER,
        "producerEpoch": PRODUCER_EPOCH, "transactionalId": "id", "statePartition": 0,
        "firstTimestamp": EPOCH_MILLIS * 1000,
    }  # fmt: skip
    return newest_decision(evidence, row | changed)


def test_a_decision_has_its_kind_time_and_record(tmp_path: Path) -> None:
    assert decision(tmp_path) == (True, DECIDED_MS, 0)


def test_transactions_version_2_raise_the_epoch_with_the_decision(tmp_path: Path) -> None:
    assert decision(tmp_path, producerEpoch=PRODUCER_EPOCH - 1) is not None


@pytest.mark.parametrize(
    "changed",
    [
        {"partition": 1},
        {"producerId": PRODUCER + 1},
        {"producerEpoch": PRODUCER_EPOCH + 1},
        {"producerEpoch": PRODUCER_EPOCH - 2},
        {"transactionalId": "other"},
        {"statePartition": 1},
        {"clusterId": "other"},
        {"firstTimestamp": (EPOCH_MILLIS + DAY_MS) * 1000},
        {"firstTimestamp": (EPOCH_MILLIS - DAY_MS) * 1000},
    ],
    ids=str,
)
def test_a_decision_about_another_transaction_is_none(
    changed: dict[str, object], tmp_path: Path
) -> None:
    assert decision(tmp_path, **changed) is None
