"""The commands on evidence with a missing or an extra replica."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from fixtures import captures
from fixtures.builder import cluster, log_directory, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import FOUND, status
from kafkalog_reader.cli.verify import verify_command
from tests.agreement.faulty_copy import contradicted

if TYPE_CHECKING:
    from collections.abc import Callable

COMMANDS = (verify_command, replica_diff, plan_command)


def copied(capture: str, folder: Path) -> Path:
    shutil.copytree(captures.path(capture), folder)
    return folder


def outside_the_isr(root: Path) -> Path:
    """Broker 0 alone; by the metadata log, brokers 1 and 2 are the ISR since epoch 1."""
    root = copied("s3_2/both-led", root)
    for broker in (1, 2):
        shutil.rmtree(root / f"broker-{broker}")
    return root


def without_one_folder(root: Path) -> Path:
    root = copied("s1/stale", root)
    shutil.rmtree(root / "broker-0" / "t-0")
    return root


def without_both_in_sync(root: Path) -> Path:
    root = copied("s3_2/both-led", root)
    for broker in (1, 2):
        shutil.rmtree(root / f"broker-{broker}" / "t-0")
    return root


def of_two_clusters(root: Path) -> Path:
    for capture, broker in (("s3_2/both-led", 0), ("s1/stale", 1)):
        source = captures.path(capture) / f"broker-{broker}"
        shutil.copytree(source, root / f"broker-{broker}")
    return root


def without_the_leader(root: Path) -> Path:
    """Broker 0 led, with 4 records; broker 2 was in sync and lost its last one."""
    root = copied("s1/shrunk", root)
    shutil.rmtree(root / "broker-0")
    log = root / "broker-2" / "t-0" / f"{0:020d}.log"
    log.write_bytes(log.read_bytes()[:-40])
    return root


def the_only_copy_in_sync_damaged(root: Path) -> Path:
    """Every record is on broker 0, which was not supplied; broker 2 was in sync, too."""
    root = without_the_leader(root)
    shutil.rmtree(root / "broker-1")
    log = root / "broker-2" / "t-0" / f"{0:020d}.log"
    content = bytearray(log.read_bytes())
    content[100] ^= 1
    log.write_bytes(content)
    return root


@pytest.mark.parametrize(
    "make",
    [
        outside_the_isr,
        without_the_leader,
        the_only_copy_in_sync_damaged,
        without_one_folder,
        without_both_in_sync,
        of_two_clusters,
    ],
)
def test_commands_agree_where_replicas_are_missing_or_foreign(
    make: Callable[[Path], Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    root = str(make(tmp_path / "evidence"))
    assert contradicted(root, tmp_path) == []
    assert [status(command, [root]) for command in COMMANDS] == [FOUND] * len(COMMANDS)


def said_by(root: Path, capfd: pytest.CaptureFixture[str]) -> list[str]:
    """The output of each command, in one line."""
    texts = []
    for command in COMMANDS:
        status(command, [str(root)])
        texts.append(" ".join(capfd.readouterr().out.split()))
    return texts


def test_a_copy_outside_the_isr_is_not_sound(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for text in said_by(outside_the_isr(tmp_path / "evidence"), capfd):
        assert "KL-012" in text
        assert (
            "broker 0 is outside the in-sync replicas (brokers 1 and 2), and ends at leader epoch "
            "0, before 1: only the in-sync replicas surely have every committed record"
        ) in text


def test_without_the_leaders_copy_no_claim_is_about_more_than_what_was_supplied(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    verify, diff, plan = said_by(without_the_leader(tmp_path / "evidence"), capfd)
    assert "Nothing is lost" not in plan
    assert plan.startswith("Start broker 2, then brokers 0 and 1. No whole supplied record is lost")
    assert "according to the metadata log broker 0 leads, and its copy was not supplied" in plan
    assert "supply its copy and make the plan again" in plan
    for text in (verify, diff, plan):
        assert "KL-012 HIGH" in text
        assert "broker 0 leads: what was supplied may lack records" in text
    assert "NOT SUPPLIED: no copy of broker 0 was supplied" in diff
    assert "→ supply a copy of broker 0 first" in diff
    assert "what broker 0 may hold: no copy was supplied" in diff
    # KL-524 says by the same checkpoint that offset 3 was committed
    assert "offset 3 was committed according to the high-watermark checkpoint of broker 2" in verify
    assert "the high watermark 4 of broker 2 says so" in diff
    assert "the files prove it for no record" not in diff


def test_what_every_supplied_copy_loses_may_be_on_the_leader(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    root = copied("s1/shrunk", tmp_path / "evidence")
    shutil.rmtree(root / "broker-0")
    log = root / "broker-2" / "t-0" / f"{0:020d}.log"
    content = bytearray(log.read_bytes())
    content[100] ^= 1  # in the first batch: the start cuts all of it
    log.write_bytes(content)
    status(verify_command, [str(root), "--verbose"])
    found = " ".join(capfd.readouterr().out.split())
    assert "whoever leads" not in found
    _, diff, plan = said_by(root, capfd)
    assert "Whoever leads" not in diff
    assert "every leader loses" not in plan
    assert "its copy was not supplied" in plan


@pytest.mark.parametrize(("capture", "alone"), [("s1/stale", 1), ("s5_1/a-down", 1)])
def test_a_follower_alone_is_not_all_there_is(
    capture: str, alone: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The metadata log beside it names broker 0 as leader."""
    root = copied(capture, tmp_path / "evidence")
    for broker in {0, 1, 2} - {alone}:
        shutil.rmtree(root / f"broker-{broker}", ignore_errors=True)
    verify, diff, plan = said_by(root, capfd)
    assert "KL-012 MEDIUM" in verify
    assert "broker 0 leads: what was supplied may lack records" in verify
    assert "KL-012 in 1 partition" in diff
    assert "according to the metadata log broker 0 leads, and its copy was not supplied" in plan


def test_a_copy_in_the_isr_may_be_supplied_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    root = copied("s3_2/both-led", tmp_path / "evidence")
    for broker in (0, 2):
        shutil.rmtree(root / f"broker-{broker}")
    assert not any("outside the in-sync" in text for text in said_by(root, capfd))
    assert [status(command, [str(root)]) for command in COMMANDS] == [0, 0, 0]


def test_a_broker_without_the_folder_was_supplied(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    *_, plan = said_by(without_one_folder(tmp_path / "evidence"), capfd)
    assert "Nothing was supplied" not in plan
    assert "Then start brokers 0 and 1 Broker 0 has no folder of t-0: it creates an empty" in plan


def test_a_broker_without_folders_is_named_and_its_partitions_are_told_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Two partitions of broker 0, whose disk is new."""
    root = tmp_path / "evidence"
    logs = [replica("a@0/e0 b@1/e0", topic=topic, topic_id=f"{topic:A<22s}") for topic in "tu"]
    cluster(root, {0: logs, 1: logs})
    states = [
        PartitionState(
            topic=topic, topic_id=f"{topic:A<22s}", replicas=(0, 1), in_sync=(0, 1), leader=0,
            leader_epoch=0,
        )
        for topic in "tu"
    ]  # fmt: skip
    log_directory(9, metadata_log(states)).write(root / "controller-9")
    for topic in "tu":
        shutil.rmtree(root / "broker-0" / f"{topic}-0")
    for name in ("recovery-point-offset-checkpoint", "replication-offset-checkpoint"):
        (root / "broker-0" / name).write_text("0\n0\n")
    verify, diff, plan = said_by(root, capfd)
    assert "do not start broker 0 yet" in verify
    assert "this broker" not in verify
    assert "the broker yet" not in diff
    assert plan.count("Broker 0 has no folder of 2 partitions, first t-0: it creates empty") == 1


def only_a_follower_left(root: Path) -> Path:
    """Broker 4 is outside the ISR of t-0; the disks of brokers 1 and 2, with all else, are gone."""
    places = [("t", (1, 4), 0), ("__consumer_offsets", (1, 2), 0)]
    places += [(f"orders-{letter}", (1, 2), 0) for letter in "abcd"]
    states = [
        PartitionState(
            topic=topic, topic_id=f"{topic:A<22.22s}", partition=number, replicas=replicas,
            in_sync=(1,), leader=1, leader_epoch=0,
        )
        for topic, replicas, number in places
    ]  # fmt: skip
    cluster(root, {4: [replica("a@0/e0 b@1/e0", topic_id=f"{'t':A<22s}")]})
    ids = {broker: [f"{broker:A<22}"] for broker in (1, 2, 4)}
    log_directory(9, metadata_log(states, ids)).write(root / "controller-9")
    return root


def test_partitions_without_any_copy_are_named_by_every_command(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The first three by name, internal topics last; JSON has each."""
    root = only_a_follower_left(tmp_path / "evidence")
    texts = said_by(root, capfd)
    what = "5 partitions (orders-a-0, orders-b-0, orders-c-0 and 2 more) was supplied"
    for text in texts:
        assert f"no copy of {what}, which the metadata log has on brokers 1 and 2" in text
    *_, planned = texts
    assert (
        f"No copy of {what}: unless a disk that was not supplied has one, all records there are "
        "lost."
    ) in planned
    left = what.removesuffix(" was supplied")
    assert f"Without those copies, nothing is left of {left}." in planned
    assert [status(command, [str(root)]) for command in COMMANDS] == [FOUND] * len(COMMANDS)
    capfd.readouterr()
    status(plan_command, [str(root), "--format", "json"])
    lost = json.loads(capfd.readouterr().out)["lostAlready"]
    assert [f"{each['topic']}-{each['partition']}" for each in lost] == [
        "__consumer_offsets-0", "orders-a-0", "orders-b-0", "orders-c-0", "orders-d-0",
    ]  # fmt: skip
    assert all(each["mayBeElsewhere"] and not each["isCommitted"] for each in lost)
    assert {(each["firstOffset"], each["nextOffset"]) for each in lost} == {(0, None)}


def test_brokers_without_the_folder_start_after_the_one_that_has_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    *_, plan = said_by(without_both_in_sync(tmp_path / "evidence"), capfd)
    assert "Only broker 0 was supplied" not in plan
    assert plan.startswith("Start broker 0, then brokers 1 and 2. No supplied record is lost")
    assert (
        "only brokers 1 and 2 surely had every committed record, and their copies are not" in plan
    )
    assert "replica-diff" not in plan  # which would send back here


def test_brokers_of_two_clusters_are_named_with_their_paths(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    root = of_two_clusters(tmp_path / "evidence")
    for text in said_by(root, capfd):
        joined = text.replace(" ", "")
        assert "KL-008" in text
        for broker in (0, 1):
            meta = (root / f"broker-{broker}" / "meta.properties").read_text()
            (cluster,) = (line[11:] for line in meta.splitlines() if line[:11] == "cluster.id=")
            assert cluster in joined
            assert f"{root}/broker-{broker}".replace(" ", "") in joined


def test_a_checkpoint_and_the_metadata_log_prove_a_missing_folder(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    verify, *_ = said_by(without_one_folder(tmp_path / "evidence"), capfd)
    assert "which its checkpoints and the metadata log name" in verify
    assert "(possible)" not in verify.partition("KL-601")[0]


def test_naming_a_broker_does_not_bring_it_up_without_meta_properties(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A 4.4.0 broker ends: "No readable meta.properties files found"."""
    root = copied("everything/stopped", tmp_path / "evidence") / "broker-0"
    (root / "meta.properties").unlink()
    paths = [f"0={root}"]
    ended = [status(command, paths) for command in COMMANDS]
    out = capfd.readouterr().out
    assert ended == [1, 1, 1], out
    said = " ".join(out.split())
    assert said.count("missing: the node does not start without it") == len(COMMANDS)


def the_only_copy_left(root: Path) -> Path:
    """Broker 0 has all records and a wrong epoch entry, broker 1 zeros, broker 2 no folder."""
    root = copied("s3_2/healed", root)
    (root / "broker-0" / "t-0" / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n5 2\n")
    (root / "broker-1" / "t-0" / f"{0:020d}.log").write_bytes(bytes(276))
    shutil.rmtree(root / "broker-2" / "t-0")
    return root


def test_an_epoch_entry_that_batches_contradict_makes_no_metadata_log_older(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The metadata log names the ISR at leader epoch 1, the last of any batch."""
    _, diff, plan = said_by(the_only_copy_left(tmp_path / "evidence"), capfd)
    assert "metadata log: leader 1 (epoch 1), ISR 0, 1 and 2" in diff
    assert "(ISR)" not in plan


def test_an_action_names_the_broker_that_has_no_folder(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _, diff, _ = said_by(the_only_copy_left(tmp_path / "evidence"), capfd)
    assert "→ do not start brokers 1 and 2 yet" in diff


def test_a_partition_that_the_metadata_log_does_not_have_is_on_no_other_broker(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """t-0 renamed t-1, without its topic id; node 100 is the controller."""
    root = copied("s3_2/healed", tmp_path / "evidence")
    (root / "broker-1" / "t-0").rename(root / "broker-1" / "t-1")
    (root / "broker-1" / "t-1" / "partition.metadata").unlink()
    verify, diff, plan = said_by(root, capfd)
    assert not any("KL-012" in text or " 100" in text for text in (verify, diff))
    assert "because the metadata log does not have the partition" in plan


def test_the_only_copy_with_records_is_saved_before_anything_starts(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both commands print a command that saves all four records."""
    root = the_only_copy_left(tmp_path / "evidence")
    monkeypatch.chdir(tmp_path)
    _, diff, plan = said_by(root, capfd)
    assert "1. Save the only copies that have records" in plan
    assert "Only the copy of broker 0 has records" in diff
    for text, before in ((diff, " What to do"), (plan, " Go on when")):
        (command,) = re.findall(rf"(kafkalog salvage .*?){before}", text)
        _, *arguments = shlex.split(command.replace("\\ ", ""))
        assert status(kafkalog, arguments) == 0
        output = arguments[arguments.index("--output") + 1]
        assert sum(pq.read_metadata(each).num_rows for each in Path(output).rglob("*.parquet")) == 4
