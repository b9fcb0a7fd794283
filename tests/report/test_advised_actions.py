"""A problem that occurs only under another leader needs no action."""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.testing import CliRunner

from fixtures.builder import cluster, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.tables.findings import findings_of
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.report.advised_actions import actions_of
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

AB = "a@0/e0 b@1/e0"


def test_no_copy_is_moved_aside_for_an_election_that_is_not_advised(tmp_path: Path) -> None:
    """Brokers 0 and 1 hold different records under leader epoch 1; broker 2 is newer and leads."""
    logs = (f"{AB} x@2/e1", f"{AB} y@2/e1", f"{AB} z@2/e2")
    cluster(tmp_path, {node: replica(log, high_watermark=2) for node, log in enumerate(logs)})
    ((_, directories),) = discover([str(tmp_path)]).topic_partitions(ReadRequest())
    audit = audit_partition(directories)
    found = findings_of(audit)
    silent = [each for each in found if each.code == "KL-517"]
    assert {dict(each.evidence)["leader"] for each in silent} == {"broker 0", "broker 1"}
    assert audit.elections[0].candidate.broker_id == 2
    asked = {action.code: action for action in actions_of(audit, found)}
    assert "A6" not in asked
    assert "A8" not in asked
    assert {"A16", "A5"} <= set(asked)


def test_the_only_copy_of_records_is_not_moved_aside(tmp_path: Path) -> None:
    """Broker 0 should lead: it alone has the last record; its first batch is damaged."""
    logs = (f"{AB} c@2/e0 d@3/e1", f"{AB} c@2/e0", f"{AB} c@2/e0")
    replicas = {node: replica(log, high_watermark=2) for node, log in enumerate(logs)}
    cluster(tmp_path, replicas, clean={0, 1, 2})
    (log,) = tmp_path.glob(f"*0/*/{0:020}.log")
    content = log.read_bytes()
    log.write_bytes(content[:62] + bytes(5) + content[67:])
    ((_, directories),) = discover([str(tmp_path)]).topic_partitions(ReadRequest())
    audit = audit_partition(directories)
    found = findings_of(audit)
    assert audit.elections[0].candidate.broker_id == 0
    assert any("A6" in each.actions for each in found if each.severity in "CH")
    asked = {action.code: action for action in actions_of(audit, found)}
    assert "broker 0 should lead" in asked["A5"].text
    assert "A6" not in asked


def test_all_copies_that_there_are_need_no_other_ones(tmp_path: Path) -> None:
    """Both epoch files are damaged: no copy can lead, and each is saved by itself."""
    files = {"leader-epoch-checkpoint": b"0\n1\n0 x\n"}
    copy = replica("0-3/e0 4-7/e0", high_watermark=8, files=files)
    state = PartitionState(replicas=(0, 1), in_sync=(0, 1), leader=0, leader_epoch=0)
    roots = cluster(tmp_path / "all", {n: [copy, metadata_log([state])] for n in (0, 1)})
    for broker, root in roots.items():
        log = root / "t-0" / "00000000000000000000.log"
        content = bytearray(log.read_bytes())
        content[70 + broker] ^= 3  # two bits, so that none can be put right
        log.write_bytes(content)
    arguments = [str(tmp_path / "all"), "--topic", "t", "--partition", "0"]
    text = CliRunner().invoke(replica_diff, arguments).output.replace("\\\n", " ")
    assert "merge" not in text
    saving = [
        line.strip() for line in text.splitlines() if line.strip().startswith("kafkalog salv")
    ]
    assert [" --replica broker:0 " in each for each in saving] == [True, False]
