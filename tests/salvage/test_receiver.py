"""Which topic id a salvaged log gets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import kafkalog_reader
from fixtures.builder import cluster, replica
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.salvage import salvage_command
from kafkalog_reader.errors import UsageError
from tests.agreement.commands import asked

if TYPE_CHECKING:
    from pathlib import Path

LOG = "a@0/e0 b@1/e0 c@2/e0 d@3/e0"
SEGMENT = f"{0:020}.log"


def damaged_at_two_places(root: Path, *, without: int) -> list[str]:
    """Copies of two ZooKeeper brokers; the first ``without`` of them write no topic ids."""
    directories = cluster(
        root,
        {
            broker: [replica(LOG, high_watermark=4), replica("x@0/e0", topic="u")]
            for broker in (1, 2)
        },
    )
    for broker, path in directories.items():
        (path / "meta.properties").write_text(f"version=0\nbroker.id={broker}\ncluster.id=c\n")
        log = path / "t-0" / SEGMENT
        content = bytearray(log.read_bytes())
        size = len(content) // 4
        content[size * broker + size - 1] ^= 0xFF  # in the last bytes of batch 1 and of batch 2
        content[size * broker + size - 2] ^= 0xFF
        log.write_bytes(content)
        if broker <= without:
            for each in path.glob("*/partition.metadata"):
                each.unlink()
    return [str(each) for each in directories.values()]


def test_a_log_of_brokers_without_topic_ids_gets_none(tmp_path: Path) -> None:
    """Before Kafka 2.8 there are none, and a log must not wait for one."""
    paths = damaged_at_two_places(tmp_path / "in", without=2)
    output = tmp_path / "out"
    status, text = asked(
        salvage_command, *paths, "--topic", "t", "--merge", "--as-segments", "--output", str(output)
    )
    assert (status, text.splitlines()[0]) == (0, "t-0: 4 records, offsets 0 to 3")
    assert (output / "t-0" / SEGMENT).exists()
    assert not (output / "t-0" / "partition.metadata").exists()
    plan = json.loads(asked(plan_command, *paths, "--format", "json")[1])
    (merge,) = (c for each in plan["steps"] for c in each["commands"] if " --merge " in c)
    assert " --topic t " in merge


@pytest.mark.parametrize("topic", ["t", "u"])
def test_a_lost_partition_metadata_is_asked_for(topic: str, tmp_path: Path) -> None:
    """Other folders of the broker have theirs: the topic has an id."""
    paths = damaged_at_two_places(tmp_path / "in", without=0)
    for each in tmp_path.glob(f"in/*/{topic}-0/partition.metadata"):
        each.unlink()
    log = kafkalog_reader.open(paths)
    with pytest.raises(UsageError, match=f"--topic-id {topic}=ID is missing"):
        log.salvage(tmp_path / "out", topic=topic, merge=True, as_segments=True)
