"""Retention at a start that deletes what another copy has deleted before is no loss."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.verify import verify_command
from tests.agreement.commands import asked

if TYPE_CHECKING:
    from pathlib import Path

LOG = "a@0/e0 b@1/e0 c@2/e0 d@3/e0"
ROLLED = 1
"""Each batch gets a segment of its own."""


def written(root: Path, *, peer_start: int) -> list[str]:
    """Broker 0's start deletes offset 0, whose time index says 1970; broker 1 begins later."""
    old = replica(
        LOG, recovery_point=4, high_watermark=4, segment_bytes=ROLLED,
        files={f"{0:020}.timeindex": bytes(12)},
    )  # fmt: skip
    rest = " ".join(LOG.split()[peer_start:])
    peer = replica(
        rest, recovery_point=4, high_watermark=4, segment_bytes=ROLLED, log_start=peer_start
    )
    return [str(each) for each in cluster(root, {0: old, 1: peer}, clean=(0, 1)).values()]


def expiry(paths: list[str]) -> dict[str, Any]:
    rows = map(json.loads, asked(verify_command, *paths, "--format", "json")[1].splitlines())
    (found,) = (row for row in rows if row["code"] == "KL-418")
    return found


@pytest.mark.parametrize(("peer_start", "severity"), [(0, "H"), (1, "I"), (2, "I")])
def test_expiry_is_information_where_another_copy_starts_higher(
    peer_start: int, severity: str, tmp_path: Path
) -> None:
    paths = written(tmp_path, peer_start=peer_start)
    found = expiry(paths)
    assert (found["firstOffset"], found["nextOffset"]) == (0, 1)
    assert found["severity"] == severity
    assert ("another copy has already deleted them" in found["message"]) is (severity == "I")
    _, text = asked(replica_diff, *paths)
    assert ("retention deletes what is here" in text) is (severity == "H")
    plan = json.loads(asked(plan_command, *paths, "--format", "json")[1])
    words = json.dumps(plan)
    assert ("retention deletes" in words) is (severity == "H")
    assert plan["lost"]["lostRecords"] == 0
