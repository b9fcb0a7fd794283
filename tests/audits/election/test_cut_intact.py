"""The only intact copy of a record that the leader has damaged, where its own start cuts it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.salvage import merge_trial
from kafkalog_reader.tables.request import ReadRequest
from tests.agreement.commands import asked
from tests.audits.test_damage import BATCH, LOG, SEGMENT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from kafkalog_reader.audits.election.candidates import Election

PAYLOAD = BATCH - 3


def write(root: Path, damaged: Mapping[int, Sequence[int]], *, clean: Sequence[int]) -> Path:
    """Copies of ten records, all committed, with damaged batches."""
    roots = cluster(root, dict.fromkeys(damaged, replica(LOG, high_watermark=10)), clean=clean)
    for number, batches in damaged.items():
        segment = roots[number] / "t-0" / SEGMENT
        content = bytearray(segment.read_bytes())
        for batch in batches:
            content[batch * BATCH + PAYLOAD] ^= 0x11
        segment.write_bytes(content)
    return root


def led_by(root: Path, broker: int) -> Election:
    ((_, directories),) = discover([str(root)]).topic_partitions(ReadRequest())
    elections = audit_partition(directories).elections
    return next(each for each in elections if each.candidate.broker_id == broker)


def test_it_is_lost_with_the_damaged_leader(tmp_path: Path) -> None:
    """Broker 0 stopped cleanly and keeps all ten; the recovery of broker 1 cuts from 3 on."""
    election = led_by(write(tmp_path, {0: [5], 1: [3]}, clean=[0]), 0)
    assert (election.lost.total, election.lost.known) == (1, 1)
    assert [(e.first_offset, e.next_offset) for e in election.lost_ranges] == [(5, 6)]


@pytest.mark.parametrize(
    ("damaged", "clean", "ranges"),
    [
        pytest.param({0: [5], 1: [7]}, [0], [], id="cut_after_it"),
        pytest.param({0: [5], 1: [3]}, [0, 1], [], id="no_recovery"),
        pytest.param({0: [5], 1: [3], 2: []}, [0], [], id="another_keeps_it"),
        pytest.param({0: [5], 1: [3], 2: [4]}, [0], [(5, 6)], id="both_cut"),
        pytest.param({0: [4, 5, 8], 1: [3]}, [0], [(4, 6), (8, 9)], id="two_stretches"),
        pytest.param({0: [5], 1: [3, 5]}, [0], [], id="intact_nowhere"),
    ],
)
def test_only_what_no_follower_keeps_intact(
    damaged: dict[int, list[int]],
    clean: list[int],
    ranges: list[tuple[int, int]],
    tmp_path: Path,
) -> None:
    election = led_by(write(tmp_path, damaged, clean=clean), 0)
    assert [(e.first_offset, e.next_offset) for e in election.lost_ranges] == ranges
    assert election.lost.total == sum(following - first for first, following in ranges)


def test_the_plan_saves_it_first_where_no_merge_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge_trial, "MAX_BYTES", 0)
    root = write(tmp_path, {0: [5], 1: [3]}, clean=[0])
    plan = json.loads(asked(plan_command, str(root), "--format", "json")[1])
    assert plan["lost"]["lostCommittedRecords"] == 1
    save = plan["steps"][0]
    assert save["kind"] == "save"
    assert "--replica broker:1 --from-offset 5 " in save["commands"][0]
