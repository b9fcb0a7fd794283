"""A broker that was down and one that was restored from a backup have the same files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, data_batch, replica
from kafkalog_reader.audits.plan.older_disks import MIN_AGE_MS
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.format.record import Record
from tests.agreement.commands import asked

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.builder import Batch

FIRST = 1_700_000_000_000


def record(offset: int, timestamp: int) -> Batch:
    return data_batch(offset, [Record(offset_delta=0, value=b"v")], base_timestamp=timestamp)


def written(root: Path, *, apart: int, is_behind: bool = True) -> Path:
    """Only broker 2 has u; in t it lacks a record that broker 1 got ``apart`` ms later."""
    whole = [record(0, FIRST), record(1, FIRST + apart)]
    lagging = whole[:1] if is_behind else whole
    logs = {
        1: [replica(whole, high_watermark=2)],
        2: [
            replica(lagging, high_watermark=len(lagging)),
            replica([record(0, FIRST)], topic="u", topic_id="u" * 22, high_watermark=1),
        ],
    }
    for node, path in cluster(root, logs).items():
        (path / "meta.properties").write_text(f"version=0\nbroker.id={node}\ncluster.id=c\n")
    return root


@pytest.mark.parametrize(
    ("apart", "is_behind", "is_named"),
    [(MIN_AGE_MS, True, True), (MIN_AGE_MS - 1, True, False), (MIN_AGE_MS, False, False)],
)
def test_what_only_an_older_broker_has_may_be_lost(
    tmp_path: Path, *, apart: int, is_behind: bool, is_named: bool
) -> None:
    root = written(tmp_path, apart=apart, is_behind=is_behind)
    words = " ".join(asked(plan_command, str(root))[1].split())
    said = (
        "The newest record on broker 2 is of 2023-11-14T22:13:20.000Z; the others have records of "
        "2023-11-14T22:13:50.000Z. Unless broker 2 was down in between, its disk is an old copy, "
        "and what u-0 got since then is lost, as is what no other broker had of other partitions."
    )
    assert (said in words) is is_named
    assert "No supplied record is lost" in words
