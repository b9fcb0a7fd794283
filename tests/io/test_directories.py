"""Log directories and partition directories: names and identity."""

from __future__ import annotations

from typing import Any

import pytest

from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory


def directory(root: LogDirectory, partition: int | None = 0, **changes: Any) -> PartitionDirectory:
    return PartitionDirectory(
        **{"path": f"{root.path}/t-0", "log_directory": root, "topic": "t", "partition": partition}
        | changes
    )


@pytest.mark.parametrize(
    ("root", "name"),
    [
        (LogDirectory(path="/a\n"), r"/a\n"),
        (LogDirectory(path="/a", disk="disk2"), "/a"),
        (LogDirectory(path="/a", broker_id=0), "broker 0"),
        (LogDirectory(path="/a", broker_id=1, disk="disk2"), "broker 1 (disk2)"),
        (LogDirectory(path="/a", broker_id=1, broker_label="east"), "east"),
        (LogDirectory(path="/a", broker_label="east", disk="d\x1b"), r"east (d\x1b)"),
    ],
)
def test_replica_is_named_by_label_then_broker_then_path(root: LogDirectory, name: str) -> None:
    assert directory(root).replica_name == name


def test_replica_is_live_without_a_state() -> None:
    root = LogDirectory(path="/a", cluster_id="c")
    assert directory(root).is_replica
    assert not directory(root, state="delete").is_replica
    assert directory(root, 3).identity == ("c", "t", 3)
