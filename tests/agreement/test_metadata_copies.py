"""verify, replica-diff, plan and quorum agree about copies of the metadata log that differ."""

from __future__ import annotations

import shutil
import struct
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from fixtures.builder import cluster
from fixtures.builder.metadata_log import settings_log
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.quorum import quorum_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.verify import verify_command
from kafkalog_reader.format.crc import compute_crc32c
from tests.agreement.commands import asked, objects

if TYPE_CHECKING:
    from pathlib import Path

METADATA = "__cluster_metadata"
SEGMENT = f"{0:020}.log"


def altered(path: Path, offset: int) -> None:
    """Change the value of a batch at or after an offset, and its checksum with it."""
    content = bytearray(path.read_bytes())
    position = 0
    while struct.unpack_from(">q", content, position)[0] < offset:
        position += 12 + struct.unpack_from(">i", content, position + 8)[0]
    end = position + 12 + struct.unpack_from(">i", content, position + 8)[0]
    content[end - 5] ^= 1
    crc = compute_crc32c(bytes(content[position + 21 : end]))
    struct.pack_into(">I", content, position + 17, crc)
    path.write_bytes(content)


@pytest.mark.parametrize("node", ["broker-1", "controller-100"])
def test_different_bytes_under_one_epoch_are_critical_for_all(node: str, tmp_path: Path) -> None:
    root = tmp_path / "cluster"
    shutil.copytree(captures.path("s5_2/c-written"), root)
    altered(root / node / f"{METADATA}-0" / SEGMENT, 20)
    for command in (verify_command, replica_diff):
        status, out = asked(command, str(root), "--topic", METADATA, "--format", "json")
        found = [
            row["code"]
            for each in objects(out)
            for row in each.get("findings", [each])
            if row["severity"] == "C"
        ]
        assert (status, found) == (1, ["KL-505"]), command.name
        assert "sound" not in asked(command, str(root), "--topic", METADATA)[1].split()[:3]
    assert asked(quorum_command, str(root))[0] == 1
    assert "KL-505 CRITICAL __cluster_metadata-0" in asked(plan_command, str(root))[1]
    several = asked(replica_diff, str(root))[1]
    assert "1 sound (__cluster_metadata-0)" not in several
    assert "no copy can lead" not in several


def test_a_fork_of_two_epochs_is_left_to_the_quorum_by_all(tmp_path: Path) -> None:
    """KafkaRaftClient truncates it: no command calls it damage."""
    cluster(tmp_path, {0: settings_log("aab"), 1: settings_log("aac")})
    for command in (verify_command, replica_diff):
        assert asked(command, str(tmp_path))[0] == 0
