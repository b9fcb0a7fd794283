"""Messages of magic 0 and 1 have no leader epoch: no row of ``leader_epochs`` has -1."""

from __future__ import annotations

import pytest

import kafkalog_reader
from fixtures import captures


@pytest.mark.parametrize(
    ("release", "has_epochs"), [("0.8.2.2", False), ("0.10.2.2", False), ("2.8.2", True)]
)
def test_no_interval_is_without_an_epoch(release: str, has_epochs: bool) -> None:
    log = kafkalog_reader.open(str(captures.path(f"release_{release}/stopped")))
    epochs = log.table("leader_epochs").to_arrow()["leaderEpoch"].to_pylist()
    assert min(epochs, default=0) >= 0
    assert bool(epochs) == has_epochs
