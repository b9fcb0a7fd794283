"""A copy that lags because a reassignment adds it is ordinary, and every command says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, data_batch, replica
from fixtures.builder.metadata_log import (
    METADATA_TOPIC_ID,
    PartitionState,
    metadata_records,
    partition_change,
)
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.timeline import timeline_command
from kafkalog_reader.cli.verify import verify_command
from kafkalog_reader.format.record import Record
from tests.agreement.commands import asked

if TYPE_CHECKING:
    from pathlib import Path

FULL = "a@0/e0 b@1/e0 c@2/e0"
BEGUN = partition_change(replicas=(1, 2, 3), adding=(3,))
ENDED = partition_change(adding=(), in_sync=(1, 2, 3))
CUT = partition_change(in_sync=(1, 2))


def written(root: Path, *changes: bytes) -> str:
    """Broker 3 has the first of three committed records."""
    state = PartitionState(replicas=(1, 2), in_sync=(1, 2), leader=1, leader_epoch=0)
    metadata = replica(
        [
            data_batch(offset, [Record(offset_delta=0, value=value)], leader_epoch=1)
            for offset, value in enumerate((*metadata_records([state]), *changes))
        ],
        topic="__cluster_metadata",
        topic_id=METADATA_TOPIC_ID,
    )
    full, short = replica(FULL, high_watermark=3), replica("a@0/e0", high_watermark=1)
    cluster(root, {1: [full, metadata], 2: full, 3: short})
    return str(root)


@pytest.mark.parametrize(
    ("changes", "severity"),
    [
        pytest.param((BEGUN,), "I", id="being_added"),
        pytest.param((BEGUN, ENDED), "H", id="added_and_in_sync"),
        pytest.param((BEGUN, ENDED, CUT), "M", id="added_and_left_the_isr"),
    ],
)
def test_a_replica_that_is_being_added_may_lack_records(
    changes: tuple[bytes, ...], severity: str, tmp_path: Path
) -> None:
    path, is_added = written(tmp_path, *changes), severity == "I"
    rows = map(json.loads, asked(verify_command, path, "--format", "json")[1].splitlines())
    (found,) = (row for row in rows if row["code"] == "KL-502")
    assert found["severity"] == severity
    compared = " ".join(asked(replica_diff, path, "--topic", "t")[1].split())
    assert ("replicas 1, 2 and 3, a reassignment adds 3" in compared) == is_added
    assert ("added by a reassignment" in compared) == is_added
    plan = " ".join(asked(plan_command, path)[1].split())
    assert ("a reassignment of t-0 (adds 3)" in plan) == is_added
    history = " ".join(asked(timeline_command, path, "--topic", "t")[1].split())
    assert "replicas are now 1,2,3; a reassignment adds 3" in history
    assert ("the reassignment has ended" in history) == (not is_added)
