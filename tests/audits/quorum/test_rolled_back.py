"""What partitions prove about copies of the metadata log, as in two copies of a 4.3.1 cluster.

In one, a node was restored as a whole from a backup ten seconds older; in the other, only the
metadata logs of two nodes.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final

import pytest

from fixtures.builder import EPOCH_MILLIS, cluster, data_batch, replica
from fixtures.builder.metadata_log import (
    METADATA_TOPIC_ID,
    PartitionState,
    metadata_records,
    partition_change,
)
from kafkalog_reader.audits.quorum.outcome import Verdict
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import status
from kafkalog_reader.format.record import Record
from tests.audits.quorum.controllers import audited, copy_of, quorum_state

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fixtures.builder import Replica

OLD, NEW = 2, 4
"""Log ends: before and after broker 3 left the ISR, and broker 2 led in leader epoch 1."""
U_ID: Final = "u" * 22
FULL, BEHIND = "a@0/e0 b@1/e0 c@2/e1", "a@0/e0"
STATE: Final = PartitionState(replicas=(1, 2, 3), in_sync=(1, 2, 3), leader=1, leader_epoch=0)


def metadata(end: int, *more: PartitionState, step: int = 0) -> Replica:
    """Records that are ``step`` milliseconds apart."""
    values = [
        *metadata_records([STATE, *more]),
        partition_change(in_sync=(1, 2), leader=2),
        partition_change(in_sync=(1, 2)),
    ]
    return replica(
        [
            data_batch(
                offset,
                [Record(offset_delta=0, value=value)],
                leader_epoch=1 + (offset >= OLD),
                base_timestamp=EPOCH_MILLIS + offset * step,
            )
            for offset, value in enumerate(values[:end])
        ],
        topic="__cluster_metadata",
        topic_id=METADATA_TOPIC_ID,
        files={"quorum-state": quorum_state()},
    )


def write(root: Path, ends: Mapping[int, int], logs: Mapping[int, str]) -> Path:
    """Write nodes that are broker and controller; up to 2 records of a log are committed."""
    replicas = {
        node: replica(log, high_watermark=min(2, len(log.split()))) for node, log in logs.items()
    }
    cluster(root, {node: [metadata(end), replicas[node]] for node, end in ends.items()})
    return root


def test_without_a_proof_a_vote_counts_as_the_files_show_it(tmp_path: Path) -> None:
    """Broker 3 stopped first, and its copies end earlier."""
    audit = audited(write(tmp_path, {1: NEW, 2: NEW, 3: OLD}, {1: FULL, 2: FULL, 3: BEHIND}))
    assert audit.verdict is Verdict.ELECTABLE
    assert audit.quorum.rolled_back.nodes == {}


def test_a_node_that_was_in_sync_and_has_less_went_back_in_time(tmp_path: Path) -> None:
    audit = audited(write(tmp_path, {1: NEW, 2: OLD, 3: OLD}, {1: FULL, 2: BEHIND, 3: BEHIND}))
    assert audit.quorum.rolled_back.nodes == {
        2: "it is in sync for t-0, where offsets below 2 were committed, and its copy ends at 1"
    }
    assert audit.quorum.rolled_back.with_partitions == {2}
    assert audit.quorum.rolled_back.lost_end == ""
    assert audit.verdict is Verdict.MAY_LOSE
    assert audit.committed is not None
    assert (audit.committed.low, audit.committed.high) == (OLD, NEW)
    assert copy_of(audit, 1) in audit.start_first


@pytest.mark.parametrize(
    ("step", "went_back"), [(250, {2}), (251, set()), (15_000, set()), (15_001, {2})]
)
def test_a_node_that_was_copied_while_it_ran_did_not_go_back(
    step: int, went_back: set[int], tmp_path: Path
) -> None:
    """Its metadata log ends more than an idle interval, and up to 30 seconds, before the others."""
    ends = {1: NEW, 2: OLD, 3: OLD}
    logs = {1: FULL, 2: BEHIND, 3: BEHIND}
    cluster(tmp_path, {
        node: [metadata(end, step=step), replica(logs[node], high_watermark=min(2, 4 - node))]
        for node, end in ends.items()
    })  # fmt: skip
    assert audited(tmp_path).quorum.rolled_back.with_partitions == went_back


def test_a_plan_names_what_only_an_older_broker_holds(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Partition u has no other copy: nothing shows how much of it is missing."""
    write(tmp_path, {1: NEW, 2: OLD, 3: OLD}, {1: FULL, 2: BEHIND, 3: BEHIND})
    shutil.copytree(tmp_path / "broker-2" / "t-0", tmp_path / "broker-2" / "u-0")
    (tmp_path / "broker-2" / "u-0" / "partition.metadata").unlink(missing_ok=True)
    assert status(kafkalog, ["plan", str(tmp_path), "--format", "text"]) == 1
    headline = " ".join(capfd.readouterr().out.partition("\n\n")[0].split())
    assert "Broker 2 went back in time: it is in sync for t-0, where offsets below 2" in headline
    assert "Only it surely had every committed record of u-0: the newest may be lost" in headline
    assert "It led t-0: records there that no follower had copied yet (acks=1)" in headline
    assert "Nothing is lost" not in headline
    status(replica_diff, [str(tmp_path)])
    compared = " ".join(capfd.readouterr().out.split())
    assert "cluster metadata at risk (kafkalog quorum)" in compared
    assert headline.partition(" The in-sync replicas")[0] in compared


def test_a_plan_names_what_only_an_older_broker_had_in_sync(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Broker 3 has a copy of u as well, and was out of sync: 388 records were lost so on 4.1.1."""
    alone = PartitionState(
        replicas=(2, 3), in_sync=(2,), leader=2, leader_epoch=0, topic="u", topic_id=U_ID
    )
    copies = {1: FULL, 2: BEHIND, 3: BEHIND}
    cluster(tmp_path, {
        node: [
            metadata({1: NEW + 2, 2: OLD + 2, 3: OLD + 2}[node], alone),
            replica(log, high_watermark=min(2, len(log.split()))),
            *([replica(BEHIND, topic="u", topic_id=U_ID, high_watermark=1)] if node > 1 else []),
        ]
        for node, log in copies.items()
    })  # fmt: skip
    assert status(kafkalog, ["plan", str(tmp_path)]) == 1
    headline = " ".join(capfd.readouterr().out.partition("\n\n")[0].split())
    assert "Only it surely had every committed record of u-0: the newest may be lost" in headline


def test_a_plan_says_that_committed_metadata_is_lost(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, {1: OLD, 2: OLD, 3: OLD}, {1: FULL, 2: FULL, 3: BEHIND})
    assert status(kafkalog, ["plan", str(tmp_path)]) == 1
    headline = " ".join(capfd.readouterr().out.partition("\n\n")[0].split())
    assert "Lost already: committed metadata, which no supplied copy has" in headline


def test_a_leader_epoch_that_no_copy_has_proves_committed_metadata(tmp_path: Path) -> None:
    audit = audited(write(tmp_path, {1: OLD, 2: OLD, 3: OLD}, {1: FULL, 2: FULL, 3: BEHIND}))
    assert [*audit.quorum.rolled_back.nodes] == [1, 2]
    assert audit.quorum.rolled_back.with_partitions == frozenset()
    assert audit.quorum.rolled_back.lost_end == (
        "broker 1 has leader epoch 1 of t-0, and the metadata log ends with 0"
    )
    assert audit.verdict is Verdict.MAY_LOSE
    assert not audit.is_clean


@pytest.mark.parametrize("is_named", [False, True])
def test_partitions_that_are_all_set_aside_prove_an_empty_metadata_log(
    tmp_path: Path, is_named: bool
) -> None:
    """LogManager#isStrayReplica: 4.3.1 brokers did so when the controllers had lost their log."""
    write(tmp_path, {1: OLD, 2: OLD, 3: OLD}, {1: FULL, 2: FULL, 3: BEHIND})
    topic = "t" if is_named else "u"
    for broker in tmp_path.glob("broker-*"):
        (broker / "t-0").rename(broker / f"{topic}-0.{'0' * 32}-stray")
    audit = audited(tmp_path)
    assert audit.quorum.rolled_back.lost_end == (
        ""
        if is_named
        else "the brokers set all of u-0 aside (-stray), and no metadata log names any of them"
    )
    assert (audit.verdict is Verdict.MAY_LOSE) != is_named


def test_records_after_damage_are_not_lost_yet(tmp_path: Path) -> None:
    write(tmp_path, {1: NEW, 2: OLD, 3: OLD}, {1: FULL, 2: FULL, 3: BEHIND})
    log = next(tmp_path.glob("broker-1/__cluster_metadata-0/*.log"))
    content = bytearray(log.read_bytes())
    content[70] ^= 1  # in the payload of the first batch
    log.write_bytes(content)
    audit = audited(tmp_path)
    assert audit.quorum.rolled_back.lost_end == ""
    assert [(each.first_offset, each.next_offset) for each in audit.cut_tails] == [(OLD, NEW)]
    assert audit.verdict is Verdict.MAY_LOSE


def test_an_epoch_that_batches_contradict_proves_nothing(tmp_path: Path) -> None:
    write(tmp_path, {1: OLD, 2: OLD, 3: OLD}, {1: "a@0/e0 b@1/e0", 2: BEHIND, 3: BEHIND})
    (tmp_path / "broker-1" / "t-0" / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n3 1\n")
    audit = audited(tmp_path)
    assert audit.quorum.rolled_back.lost_end == ""
    assert audit.verdict is Verdict.ELECTABLE
