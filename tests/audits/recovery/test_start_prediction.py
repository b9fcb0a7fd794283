"""A prediction from the result of reading a log equals one that reads the log again."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from fixtures.builder import Replica, cluster, replica
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.recovery.start_prediction import predict_starts
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

LOG = " ".join(f"{n}-{n + 2}/e{n // 30}" for n in range(0, 90, 3))
FILE = "00000000000000000000.log"


def audits(root: Path) -> list[PartitionAudit]:
    return [
        audit_partition(directories)
        for (_, topic, _), directories in discover([str(root)]).topic_partitions(ReadRequest())
        if topic != "__cluster_metadata"
    ]


def expect_same(audit: PartitionAudit) -> None:
    if audit.candidates:
        predicted = predict_starts([each.directory for each in audit.replicas])
        assert tuple(each.start for each in audit.replicas) == predicted


@pytest.mark.parametrize(
    "state", ["everything/killed", "everything/stopped", "s3_2/both-led", "release_2.8.2/running"]
)
def test_captures_start_as_a_second_reading_predicts(state: str) -> None:
    found = audits(captures.path(state))
    assert any(audit.candidates for audit in found)
    for audit in found:
        expect_same(audit)


@pytest.mark.parametrize("seed", range(40))
def test_damaged_logs_start_as_a_second_reading_predicts(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    sound = replica(LOG, high_watermark=60, segment_bytes=900, recovery_point=0)
    cluster(tmp_path, {0: damaged(sound, chance), 1: sound}, clean={0} if seed % 3 == 0 else ())
    for audit in audits(tmp_path):
        expect_same(audit)


def damaged(sound: Replica, chance: random.Random) -> Replica:
    """The replica with a few bits flipped, or with a file cut or removed, at random."""
    built = sound.build(is_clean=False)
    files: dict[str, bytes | None] = {}
    for _ in range(chance.randint(1, 3)):
        name = chance.choice(sorted(built))
        content = bytearray(built[name])
        if not content or chance.random() < 0.2:
            files[name] = None
        elif chance.random() < 0.3:
            files[name] = bytes(content[: chance.randrange(len(content))])
        else:
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
            files[name] = bytes(content)
    return replace(sound, files=files)
