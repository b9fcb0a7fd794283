"""Partitions are written one after another; copies with different histories end only theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.errors import UsageError
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.salvage.receiver import Receiver
from kafkalog_reader.salvage.run import salvage
from kafkalog_reader.tables.request import ReadRequest
from tests.tables.test_offset_order import TOPIC_ID

if TYPE_CHECKING:
    from pathlib import Path


def test_a_partition_that_cannot_be_merged_does_not_end_the_others(tmp_path: Path) -> None:
    forked = {1: "0-4/e0", 2: "0-2/e0 3-4/e1"}
    cluster(
        tmp_path / "in",
        {broker: [replica(log), replica("0-9/e0", partition=1)] for broker, log in forked.items()},
    )
    request = ReadRequest(topics=frozenset({"t"}))
    receiver = Receiver(topic_ids={"t": TOPIC_ID})
    evidence = discover([str(tmp_path / "in")])
    with pytest.raises(UsageError, match="t-0"):
        list(salvage(evidence, request, str(tmp_path / "out"), receiver=receiver, merge=True))
    assert [each.name for each in (tmp_path / "out").glob("t-*")] == ["t-1"]
