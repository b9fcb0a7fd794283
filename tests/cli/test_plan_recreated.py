"""A topic was deleted and created again while one broker was stopped; the metadata log has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.builder import cluster, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

OLD, NEW = "AAAAAAAAAAAAAAAAAAAAAg", "AAAAAAAAAAAAAAAAAAAAAw"


def test_the_plan_moves_the_copy_of_the_deleted_topic_aside(run: Run, tmp_path: Path) -> None:
    """3.3.2 lost no record of the topic that exists, and removed the other folder."""
    state = PartitionState(replicas=(1, 2), in_sync=(1,), leader=1, leader_epoch=0, topic_id=NEW)
    nodes = {
        1: [replica("a@0/e0", topic_id=NEW), metadata_log([state])],
        2: [replica("x@0/e0 y@1/e0", topic_id=OLD)],
    }
    cluster(tmp_path, nodes)
    out = " ".join(run("plan", tmp_path).out.replace("\\\n", " ").split())
    assert f"mv {tmp_path}/broker-2/t-0 {tmp_path}/aside/broker-2/t-0" in out
    assert f"mv {tmp_path}/broker-1/t-0" not in out
    (tmp_path / "aside" / "broker-2").mkdir(parents=True)
    (tmp_path / "broker-2" / "t-0").rename(tmp_path / "aside" / "broker-2" / "t-0")
    assert "NO PLAN" not in run("plan", tmp_path).out
