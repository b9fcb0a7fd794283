"""A plan where the only in-sync copy is damaged, and one outside the ISR is intact.

3.3.2 with a flipped bit in the copy of the only in-sync broker: consumers stopped at the batch for
as long as that broker led, and 47 acknowledged records could not be read.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

LOG = "a@0/e0 b@1/e0 c@2/e0"


@pytest.mark.parametrize("damaged", [1, 2])
def test_the_intact_copy_leads_also_from_outside_the_isr(
    run: Run, tmp_path: Path, damaged: int
) -> None:
    """The damaged copy is made again: a follower never fetches again what it has."""
    state = PartitionState(replicas=(1, 2), in_sync=(2,), leader=-1, leader_epoch=0)
    nodes = {broker: [replica(LOG, high_watermark=3)] for broker in (1, 2)}
    nodes[1].append(metadata_log([state]))
    cluster(tmp_path, nodes)
    (log,) = (tmp_path / f"broker-{damaged}" / "t-0").glob("*.log")
    content = bytearray(log.read_bytes())
    content[len(content) // 3 * 2 - 1] ^= 1  # the end of the second of three equal batches
    log.write_bytes(content)
    (log.parents[1] / ".kafka_cleanshutdown").write_text('{"version":0,"brokerEpoch":1}')
    document = json.loads(run("plan", tmp_path, "--format", "json").out)
    (partition,) = document["partitions"]
    assert partition["mayLead"] == [3 - damaged]
    made_again = [each["brokers"] for each in document["steps"] if each["kind"] == "removeReplicas"]
    assert made_again == [[damaged]]
    if damaged == 2:
        assert document["startOrder"] == [[1], [2]]
