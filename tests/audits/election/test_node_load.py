"""A node that loads no metadata.version, because its newest snapshot lost it.

Real nodes did so. Brokers without the controller role waited and renamed nothing: one of 4.4.0
logged "Unknown metadata version for FeaturesImage" at each update, one of 3.9.1 that registrations
"could not be represented in metadata.version 3.0-IV1". A 3.9.1 controller went on.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from fixtures.builder.batch import data_batch
from fixtures.builder.metadata_log import no_operation
from kafkalog_reader.audits.election.node_load import node_load
from kafkalog_reader.audits.recovery.node_releases import (
    KAFKA_3_8,
    KAFKA_3_9,
    KAFKA_4_3,
    NodeReleases,
)
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

END_OFFSET = 7
BLANK, IDLE = False, True


def write_copy(folder: Path, *, is_idle: bool) -> None:
    """A snapshot that ends inside its second batch, and what stands above it."""
    state = captures.path("everything/stopped") / "controller-100"
    log = folder / "__cluster_metadata-0"
    log.mkdir(parents=True)
    shutil.copy(state / "meta.properties", folder)
    content = (state / log.name / f"{0:020}-{0:010}.checkpoint").read_bytes()
    header = int.from_bytes(content[8:12], "big") + 12
    (log / f"{END_OFFSET:020}-{1:010}.checkpoint").write_bytes(content[: header + 30])
    idle = data_batch(END_OFFSET, [Record(offset_delta=0, value=no_operation())], leader_epoch=1)
    (log / f"{END_OFFSET:020}.log").write_bytes(idle.build() if is_idle else b"")


@pytest.mark.parametrize(
    ("is_controller", "is_idle", "finalised", "ends"),
    [
        (True, IDLE, KAFKA_4_3, "the node ends when it has replayed"),
        (True, BLANK, KAFKA_4_3, ""),
        (True, IDLE, KAFKA_3_9, ""),
        (False, IDLE, KAFKA_4_3, "the broker waits for its metadata"),
        (False, BLANK, KAFKA_4_3, "the broker waits for its metadata"),
        (False, IDLE, KAFKA_3_9, "the broker waits for its metadata"),
        (False, IDLE, KAFKA_3_8, ""),
    ],
)
def test_a_node_without_a_metadata_version(
    tmp_path: Path, is_controller: bool, is_idle: bool, finalised: int, ends: str
) -> None:
    write_copy(tmp_path, is_idle=is_idle)
    (directory,) = discover([str(tmp_path)]).partition_directories(ReadRequest())
    releases = NodeReleases(finalised=finalised)
    load = node_load(directory, is_controller=is_controller, releases=releases)
    assert load.ends.startswith(ends)
    assert bool(load.ends) == bool(ends)
    assert load.lacks
