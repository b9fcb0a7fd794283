"""A real broker moves the log start of no topic that is only compacted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.cluster import Cluster
from fixtures.errors import FixtureError
from tests.audits.partition.test_supply_findings import found_in, of_code

if TYPE_CHECKING:
    from pathlib import Path

TOPIC = "compacted"
VALUES = 6


@pytest.mark.broker
def test_records_of_a_compacted_topic_cannot_be_deleted(tmp_path: Path) -> None:
    """So a later start is a loss, whatever the checkpoint says."""
    with Cluster(tmp_path / "cluster", (0,)) as cluster:
        cluster.wait_ready(0)
        clients = cluster.clients(0)
        clients.create_topic(TOPIC, {"cleanup.policy": "compact"})
        producer = clients.batch_producer(TOPIC)
        for number in range(VALUES):
            producer.produce(TOPIC, b"value", key=str(number), partition=0)
            producer.flush()
        with pytest.raises(FixtureError, match="POLICY_VIOLATION"):
            clients.delete_records(TOPIC, 3)
        cluster.nodes[0].stop()
        disk = cluster.nodes[0].log_directory
        assert of_code(found_in(disk, topic=TOPIC), "KL-404") == []
        (disk / "log-start-offset-checkpoint").write_text(f"0\n1\n{TOPIC} 0 3\n")
        (lost,) = of_code(found_in(disk, topic=TOPIC), "KL-404")
        assert (lost.severity, lost.first_offset, lost.next_offset) == ("H", 0, 3)
