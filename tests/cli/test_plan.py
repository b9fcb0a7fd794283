"""``kafkalog plan`` as users see it: the order, the commands, the exit status."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from fixtures import captures
from fixtures.builder import cluster, log_directory, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from fixtures.plans.named_states import NAMED, deal_named
from fixtures.plans.random_cluster import evidence
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import status
from kafkalog_reader.report.plan_steps import _START_WORDS

if TYPE_CHECKING:
    from tests.cli.conftest import Answer, Run

S3_2 = captures.path("s3_2/both-led")
LONG, SHORT = "a@0/e0 b@1/e0 c@2/e0", "a@0/e0 b@1/e0"
AROUND_STARTS = ("save", "startZooKeeper", "restoreConfiguration")


def write(root: Path, logs: dict[int, dict[str, str]], committed: int = 2) -> Path:
    """Write brokers with a replica of each given topic."""
    cluster(
        root,
        {
            broker: [
                replica(log, topic=topic, topic_id=f"{ord(topic):A<22d}", high_watermark=committed)
                for topic, log in of_broker.items()
            ]
            for broker, of_broker in logs.items()
        },
    )
    return root


def plan(answer: Answer) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(answer.out)
    return document


def test_a_split_cluster_starts_the_good_copies_first(run: Run) -> None:
    answer = run("plan", S3_2, "--format", "json")
    document = plan(answer)
    assert answer.status == 1
    assert document["startOrder"] == [[1, 2], [0]]
    assert document["lost"] == {
        "lostRecords": 3,
        "lostCommittedRecords": 0,
        "lostPossiblyCommittedRecords": 0,
        "lostCommittedOnlyIfUnclean": 3,
        "lostUncommittedRecords": 0,
        "maxLostInDamagedBatches": 0,
        "maxLostCommittedInDamagedBatches": 0,
        "maxLostPossiblyCommittedInDamagedBatches": 0,
    }
    kinds = [step["kind"] for step in document["steps"]]
    assert kinds == [
        "save", "startControllers", "startBrokers", "startBrokers", "electPreferred",
        "restoreConfiguration",
    ]  # fmt: skip
    (gone,) = document["steps"][3]["lost"]
    assert (gone["brokers"], gone["firstOffset"], gone["nextOffset"]) == ([0], 2, 5)


def damage_second_batch(log: Path) -> None:
    """Flip two bits of its value, so that nothing can repair it, and no start looks at it."""
    data = bytearray(log.read_bytes())
    second = int.from_bytes(data[8:12], "big") + 12
    data[second + 62] ^= 4
    data[second + 64] ^= 4
    log.write_bytes(data)
    (log.parents[1] / ".kafka_cleanshutdown").write_text('{"version":0,"brokerEpoch":1}')


def test_severe_findings_that_no_step_resolves_are_listed(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path, {1: {"t": LONG, "u": LONG}, 2: {"t": SHORT, "u": LONG}})
    for log in path.glob("broker-*/u-0/*.log"):
        damage_second_batch(log)
    document = plan(run("plan", path, "--format", "json"))
    assert document["startOrder"] == [[1], [2]]  # for t-0
    severe = [(each["partition"], each["code"]) for each in document["findings"]]
    assert {("u-0", "KL-101"), ("u-0", "KL-905"), ("u-0", "KL-413")} <= set(severe)
    assert all(partition == "u-0" for partition, _ in severe)
    answer = run("plan", path)
    assert answer.status == 1
    text = " ".join(answer.out.split())
    assert "but u-0 cannot be read past the damage of its leader's copy." in text
    assert "KL-905 CRITICAL u-0: no supplied replica has an intact copy" in text


def test_other_records_under_one_leader_epoch_are_saved_before_their_copy_goes(
    run: Run, tmp_path: Path
) -> None:
    """KL-505: the steps end with a reassignment, which deletes one of the two contents."""
    path = write(tmp_path, {1: {"t": LONG}, 2: {"t": LONG.replace("b@1", "x@1")}})
    document = plan(run("plan", path, "--format", "json"))
    (choice,) = document["partitions"]
    (gone,) = choice["lostRanges"]
    assert (gone["brokers"], gone["firstOffset"], gone["nextOffset"]) == ([2], 1, 2)
    assert document["lost"]["lostCommittedRecords"] == 1
    assert document["steps"][0]["kind"] == "save"


def test_the_headline_says_where_only_whole_records_are_kept(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path, {1: {"t": LONG, "u": LONG}, 2: {"t": SHORT, "u": LONG}})
    for log in path.glob("broker-*/u-0/*.log"):
        log.write_bytes(log.read_bytes()[:-1])
    text = " ".join(run("plan", path).out.split())
    assert "No whole supplied record is lost then." in text


def test_whole_records_of_a_torn_batch_are_saved_before_a_start_cuts_them(
    run: Run, tmp_path: Path
) -> None:
    """Salvage keeps 2 of its 3 records; the start removes the batch, as no copy has it whole."""
    path = write(tmp_path, {1: {"t": "a,b,c@0/e0 d,e,f@3/e0"}, 2: {"t": "a,b,c@0/e0 d,e,f@3/e0"}})
    for log in path.glob("broker-*/t-0/*.log"):
        log.write_bytes(log.read_bytes()[:-1])
    document = plan(run("plan", path, "--format", "json"))
    (gone,) = document["partitions"][0]["lostRanges"]
    assert (gone["brokers"], gone["firstOffset"], gone["nextOffset"]) == ([1, 2], 3, 5)
    text = " ".join(run("plan", path).out.split())
    assert "an unfinished batch with 2 records of 3 still whole" in text
    assert "no whole record" not in text.lower()
    (command,) = document["steps"][0]["commands"]
    saved = run(*shlex.split(command.replace("SAVED", str(tmp_path / "saved")))[1:])
    assert "offsets 3 to 4 kept: 2 whole records of 3 in a torn batch" in saved.out
    found = " ".join(run("verify", path, "--verbose").out.split())
    assert "no whole record" not in found


def test_a_torn_batch_that_another_copy_has_whole_loses_nothing(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path, {1: {"t": "a,b,c@0/e0 d,e,f@3/e0"}, 2: {"t": "a,b,c@0/e0 d,e,f@3/e0"}})
    (log,) = path.glob("broker-1/t-0/*.log")
    log.write_bytes(log.read_bytes()[:-1])
    document = plan(run("plan", path, "--format", "json"))
    assert (
        document["lost"]["lostCommittedRecords"] == document["lost"]["lostUncommittedRecords"] == 0
    )


def test_the_text_begins_with_the_order_and_the_loss(run: Run) -> None:
    answer = run("plan", S3_2)
    assert answer.out.startswith("Start brokers 1 and 2, then broker 0. Lost then: 3 records,")
    assert max(map(len, answer.out.splitlines())) <= 80


@pytest.mark.parametrize(
    "state", ["s3_2/healed", "s1/healed", "s1/shrunk", "s5_1/d-resynchronised"]
)
def test_where_copies_agree_nothing_is_to_be_done(run: Run, state: str) -> None:
    answer = run("plan", captures.path(state))
    assert answer.status == 0
    assert answer.out.startswith("Nothing to do: start brokers 0")


def test_where_every_leader_loses_committed_records_a_person_chooses(run: Run) -> None:
    state = captures.path("s5_2/c-written")
    answer = run("plan", state)
    assert answer.status == 1
    assert "A person must choose" in answer.out
    assert "--elect t-0=0" in answer.out
    other = plan(run("plan", state, "--elect", "t-0=0", "--format", "json"))
    assert other["partitions"][0]["leader"] == 0
    assert other["startOrder"] == [[0], [1]]


def test_opposite_wishes_replace_a_copy_while_both_brokers_are_stopped(
    run: Run, tmp_path: Path
) -> None:
    root = write(tmp_path, {1: {"a": LONG, "b": SHORT}, 2: {"a": SHORT, "b": LONG}})
    answer = run("plan", root, "--format", "json")
    document = plan(answer)
    assert answer.status == 1
    (replaced,) = document["replacedCopies"]
    assert len(document["startOrder"]) == 2
    assert document["lost"]["lostRecords"] == 0
    (step,) = [step for step in document["steps"] if step["kind"] == "replaceCopy"]
    assert step["brokers"] == [replaced["brokerId"]]
    here = re.sub(r"ssh HOST_OF_BROKER_\d+", "sh -c", "\n".join(step["commands"]))
    subprocess.run(["sh", "-ec", here], check=True)
    (other,) = {1, 2} - {replaced["brokerId"]}
    source, target = (
        root / f"broker-{broker}" / f"{replaced['topic']}-{replaced['partition']}"
        for broker in (other, replaced["brokerId"])
    )
    kept = {path.name for path in source.iterdir() if not path.name.endswith("index")}
    assert {path.name for path in target.iterdir()} == kept


def test_a_marker_over_sound_logs_of_a_crash_goes_first(run: Run, tmp_path: Path) -> None:
    """Somebody made the marker: the recovery points are older than the logs."""
    copy = replica("a@0/e0 b@1/e0", high_watermark=2, recovery_point=1)
    cluster(tmp_path, {0: [copy], 1: [copy]}, clean=(0, 1))
    answer = run("plan", tmp_path)
    said = " ".join(answer.out.split())
    assert answer.status == 1
    assert said.startswith("First repair files of 1 partition and make this plan again.")
    assert "the broker trusts it, and checks nothing." in said
    for command in re.findall(r"mv (\S+) (\S+)", said.replace("\\ ", "")):
        Path(command[1]).parent.mkdir(parents=True, exist_ok=True)
        Path(command[0]).rename(command[1])
    assert run("plan", tmp_path).out.startswith("Nothing to do")


def test_a_marker_that_makes_a_start_remove_records_goes_first(run: Run, tmp_path: Path) -> None:
    """After a crash, indexes are preallocated with zeros; by the marker they are trusted."""
    shutil.copytree(captures.path("everything/killed"), tmp_path / "killed")
    root = tmp_path / "killed" / "broker-0"
    before = plan(run("plan", tmp_path / "killed", "--format", "json"))["partitions"]
    (root / ".kafka_cleanshutdown").write_text('{"version":0,"brokerEpoch":1}')
    answer = run("plan", tmp_path / "killed")
    assert answer.out.startswith("First repair files of ")
    lines = answer.out.replace("\\\n", " ").splitlines()
    moves = [line.strip() for line in lines if line.strip().startswith("mv ")]
    assert len(moves) == 1
    (root.parent / "aside" / "broker-0").mkdir(parents=True)
    _, source, target = shlex.split(moves[0])
    shutil.move(source, target)
    assert plan(run("plan", tmp_path / "killed", "--format", "json"))["partitions"] == before


def test_a_broker_whose_copy_was_moved_aside_waits_for_the_leader(run: Run, tmp_path: Path) -> None:
    """It creates an empty replica: as the only one in the ISR it led, and the leader's log was cut.

    No metadata log says that it has one, and no checkpoint has a row of it (state 339 of
    ``make plans``).
    """
    a, b = (replica(LONG, topic=topic, high_watermark=2) for topic in "ab")
    cluster(tmp_path, {1: a, 2: [a, b]})
    aside = tmp_path / "aside" / "broker-1"
    aside.mkdir(parents=True)
    shutil.copytree(tmp_path / "broker-2" / "b-0", aside / "b-0")
    assert plan(run("plan", tmp_path, "--format", "json"))["startOrder"] == [[2], [1]]
    shutil.rmtree(aside)
    assert plan(run("plan", tmp_path, "--format", "json"))["startOrder"] == [[1, 2]]


@pytest.mark.parametrize(("in_sync", "must_choose"), [((1, 2), True), ((1, 2, 3), False)])
def test_a_person_chooses_between_copies_that_differ_silently(
    run: Run, tmp_path: Path, in_sync: tuple[int, ...], must_choose: bool
) -> None:
    """Neither outvotes the other, and a follower would keep its own records (KL-505).

    Where broker 3 is in sync, nothing but offset 0 was committed.
    """
    logs = {1: "a@0/e0 y@1/e0 z@2/e0", 2: "a@0/e0 x@1/e0", 3: "a@0/e0"}
    state = PartitionState(replicas=(1, 2, 3), in_sync=in_sync, leader=1, leader_epoch=0)
    nodes = {broker: [replica(log, high_watermark=0)] for broker, log in logs.items()}
    nodes[1].append(metadata_log([state]))
    cluster(tmp_path, nodes)
    (partition,) = plan(run("plan", tmp_path, "--format", "json"))["partitions"]
    assert partition["personMustChoose"] == must_choose
    assert ("A person must choose" in run("plan", tmp_path).out) == must_choose


def test_a_broker_that_must_start_first_is_given_the_copy_that_it_lacks(
    run: Run, tmp_path: Path
) -> None:
    """Broker 1 must lead the larger partition, and would begin the other one with an empty log."""
    large = replica(f"{LONG} {'d' * 900}@3/e0", topic="a", high_watermark=2)
    small = replica(LONG, topic="b", high_watermark=2, log_start=1)
    cluster(tmp_path, {1: large, 2: [replica(SHORT, topic="a", high_watermark=1), small]})
    aside = tmp_path / "aside" / "broker-1"
    aside.mkdir(parents=True)
    shutil.copytree(tmp_path / "broker-2" / "b-0", aside / "b-0")
    document = plan(run("plan", tmp_path, "--format", "json"))
    assert document["startOrder"] == [[1], [2]]
    given = next(step for step in document["steps"] if step["kind"] == "replaceCopy")
    assert given["brokers"] == [1]
    assert given["commands"][0] == f"mkdir -p {tmp_path}/broker-1/b-0.incoming"
    assert not any(command.startswith("mv") for command in given["commands"])
    (starts,) = [step for step in document["steps"] if step["kind"] == "writeFile"]
    assert "b 0 1" in starts["commands"][-1]


@pytest.mark.parametrize("has_file", [True, False])
def test_a_file_is_kept_only_where_there_is_one(run: Run, tmp_path: Path, has_file: bool) -> None:
    """A broker has no log-start-offset-checkpoint until it deletes records of some partition."""
    logs = {1: {"a": LONG, "b": SHORT}, 2: {"a": SHORT, "b": LONG}}
    nodes = {
        broker: [
            replica(
                log, topic=topic, topic_id=f"{ord(topic):A<22d}", high_watermark=2,
                log_start=1 if log is LONG else 0,
            )
            for topic, log in of_broker.items()
        ]
        for broker, of_broker in logs.items()
    }  # fmt: skip
    cluster(tmp_path, nodes)
    if not has_file:
        for file in tmp_path.glob("*/log-start-offset-checkpoint"):
            file.unlink()
        log = next(tmp_path.glob("*2/b-0"))
        (log.parent / "log-start-offset-checkpoint").write_text("0\n1\nb 0 1\n")
    document = plan(run("plan", tmp_path, "--format", "json"))
    written = [step for step in document["steps"] if step["kind"] == "writeFile"]
    assert written
    for step in written:
        kept = [shlex.split(each)[2] for each in step["commands"] if each.startswith("cp -p")]
        assert all(Path(each).exists() for each in kept)
        assert bool(kept) == has_file


def test_opposite_wishes_are_met_by_the_isr_where_it_holds_good_copies_only(
    run: Run, tmp_path: Path
) -> None:
    root = write(tmp_path, {1: {"a": LONG, "b": SHORT}, 2: {"a": SHORT, "b": LONG}})
    states = [
        PartitionState(
            topic=topic,
            topic_id=f"{ord(topic):A<22d}",
            replicas=(1, 2),
            in_sync=(leader,),
            leader=leader,
            leader_epoch=3,
        )
        for topic, leader in (("a", 1), ("b", 2))
    ]
    log_directory(9, metadata_log(states)).write(root / "controller-9")
    answer = run("plan", root)
    assert answer.status == 0
    assert answer.out.startswith("Nothing to do: start brokers 1 and 2 in any order.")


def test_without_a_metadata_log_elections_are_unclean_and_conditional(
    run: Run, tmp_path: Path
) -> None:
    root = write(tmp_path, {1: {"a": LONG}, 2: {"a": SHORT}})
    document = plan(run("plan", root, "--format", "json"))
    assert document["startOrder"] == [[1], [2]]
    (election,) = [step["election"] for step in document["steps"] if step["election"]]
    assert election["type"] == "unclean"
    assert election["partitions"] == [{"topic": "a", "partition": 0}]
    printf = shlex.split(election["commands"][0])
    assert json.loads(printf[2]) == {"partitions": [{"topic": "a", "partition": 0}]}
    text = " ".join(run("plan", root).out.split())
    assert "in-sync replicas (ISR) of 1 partition are unknown" in text


@pytest.mark.parametrize("is_on_both", [False, True])
def test_a_partition_that_no_start_waits_for_may_lack_its_leader(
    run: Run, tmp_path: Path, is_on_both: bool
) -> None:
    """Its in-sync replica may be on a broker that was not supplied: real 2.8.2 elected nobody."""
    root = write(
        tmp_path,
        {1: {"a": LONG, **({"b": SHORT} if is_on_both else {})}, 2: {"a": SHORT, "b": SHORT}},
    )
    text = run("plan", root).out
    assert ("--unavailable-partitions" in text) is not is_on_both
    assert ("hold an unclean election of it" in " ".join(text.split())) is not is_on_both


def test_a_plan_of_single_folders_says_that_brokers_have_more(run: Run, tmp_path: Path) -> None:
    root = write(tmp_path, {1: {"a": LONG, "b": LONG}, 2: {"a": LONG, "b": LONG}})
    said = "Only the selected partitions are in this plan"
    folders = sorted(root.glob("broker-*/a-0"))
    assert said in " ".join(run("plan", *folders).out.split())
    assert said not in " ".join(run("plan", root).out.split())


def test_one_broker_answers_what_its_start_takes(run: Run, tmp_path: Path) -> None:
    write(tmp_path, {1: {"a": LONG}}, committed=3)
    whole = run("plan", tmp_path / "broker-1")
    assert whole.status == 0
    assert whole.out.startswith("Starting broker 1 removes nothing")
    log = next((tmp_path / "broker-1" / "a-0").glob("*.log"))
    content = bytearray(log.read_bytes())
    content[-1] ^= 1  # the last record: recovery cuts its batch
    log.write_bytes(content[:-1])
    size = len(content) // 3
    flipped = bytearray(log.read_bytes())
    flipped[size + 61] ^= 1  # now the second of three: a sound one after it is also lost
    flipped[-1:] = bytes(content[-2:])
    flipped[-1] ^= 1
    log.write_bytes(flipped)
    torn = run("plan", f"1={tmp_path / 'broker-1'}", "--format", "json")
    assert torn.status == 1
    (start,) = plan(torn)["partitions"][0]["starts"]
    assert (start["outcome"], start["firstOffset"], start["records"]) == ("cut", 1, 1)


def test_what_cannot_be_planned_is_named(run: Run, tmp_path: Path) -> None:
    for broker, topic_id in ((1, "a"), (2, "b")):
        cluster(tmp_path, {broker: replica(LONG, topic_id=f"{ord(topic_id):A<22d}")})
    answer = run("plan", tmp_path)
    assert answer.status == 1  # like replica-diff: KL-009
    assert answer.out.startswith("NO PLAN t-0: ")
    assert "Do not start brokers 1 and 2 before that is settled" in " ".join(answer.out.split())


def test_of_several_clusters_verify_is_named_only_where_it_says_something(
    run: Run, tmp_path: Path
) -> None:
    """Two sound clusters are two plans; with one topic id in both, verify has KL-008."""
    both = S3_2, captures.path("s5_1/a-down")
    refused = " ".join(run("plan", *both).out.split())
    assert "belong to several clusters" in refused
    assert "make a plan for each" in refused
    assert "verify" not in refused
    assert "KL-008" not in run("verify", *both).out
    mixed = tmp_path / "all"
    shutil.copytree(S3_2, mixed)
    path = mixed / "broker-1" / "meta.properties"
    lines = path.read_text().splitlines()
    path.write_text("\n".join("cluster.id=other" if "cluster.id" in x else x for x in lines))
    assert "kafkalog verify shows why" in " ".join(run("plan", mixed).out.split())
    assert "KL-008" in run("verify", mixed).out


def test_an_isr_older_than_the_logs_is_not_trusted(run: Run, tmp_path: Path) -> None:
    root = write(tmp_path, {1: {"a": f"{SHORT} x@2/e5"}, 2: {"a": SHORT}})
    state = PartitionState(
        topic="a",
        topic_id=f"{ord('a'):A<22d}",
        replicas=(1, 2),
        in_sync=(1,),
        leader=1,
        leader_epoch=4,
    )
    log_directory(9, metadata_log([state])).write(root / "controller-9")
    document = plan(run("plan", root, "--format", "json"))
    assert document["partitions"][0]["electable"] is None
    assert document["startOrder"] == [[1], [2]]


def test_a_wrong_choice_is_refused_by_name(run: Run) -> None:
    answer = run("plan", S3_2, "--elect", "t-9=1")
    assert answer.status == 2
    assert "no partition t-9 among the inputs" in answer.err
    answer = run("plan", S3_2, "--elect", "t-0=7")
    assert answer.status == 2
    assert "broker 7 has no copy of t-0 among the inputs" in answer.err


def test_replica_diff_of_several_partitions_shows_the_first_lines_of_the_plan(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    root = write(tmp_path, {1: {"a": LONG, "b": SHORT}, 2: {"a": LONG, "b": LONG}})
    status(replica_diff, [str(root)])
    out, _ = capfd.readouterr()
    lines = out.splitlines()
    at = lines.index("  If these brokers are stopped, the order of their starts matters:")
    assert lines[at + 1].strip().startswith("Start broker 2, then broker 1.")
    assert lines[-1].strip() == f"kafkalog plan {root}"
    capfd.readouterr()
    status(replica_diff, [str(root), "--topic", "b"])
    assert "Start broker 2, then broker 1." in capfd.readouterr().out


@pytest.mark.parametrize("state", ["s3_2/both-led", "s5_2/c-written"])
def test_every_save_command_runs_and_holds_all_that_is_lost(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    document = plan(run("plan", captures.path(state), "--format", "json"))
    (save,) = [step for step in document["steps"] if step["kind"] == "save"]
    monkeypatch.chdir(tmp_path)
    for command in save["commands"]:
        program, *arguments = shlex.split(command)
        assert program == "kafkalog"
        assert run(*arguments).status == 0
    saved = {
        offset
        for file in tmp_path.rglob("*.parquet")
        for offset in pq.read_table(file)["offset"].to_pylist()
    }
    for lost in document["partitions"][0]["lostRanges"]:
        assert set(range(lost["firstOffset"], lost["nextOffset"])) <= saved


def test_a_plan_says_what_a_start_hides_and_how_to_keep_it(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "broker-0"
    shutil.copytree(captures.path("everything/stopped/broker-0"), root)
    log = root / "codec-none-0" / "00000000000000000048.log"
    content = log.read_bytes()
    log.write_bytes(content[: len(content) // 2 + 7])  # with the clean-shutdown marker
    answer = run("plan", root)
    assert answer.status == 1
    text = " ".join(answer.out.split())
    assert text.startswith(
        "First repair files of 1 partition and make this plan again. Without that: starting "
        "broker 0 removes 12 records"
    )
    assert "Without this, the start hides 12 records" in text
    document = plan(run("plan", root, "--format", "json"))
    (loss,) = [loss for each in document["partitions"] for loss in each["starts"]]
    assert (loss["outcome"], loss["firstOffset"], loss["nextOffset"]) == ("hidden", 48, 60)
    (step,) = document["steps"]
    subprocess.run(["bash", "-e", "-c", "\n".join(step["commands"])], check=True)
    assert not log.with_suffix(".index").exists()
    again = run("plan", root).out
    assert again.startswith("Starting broker 0 removes no whole record")


def test_a_wrong_index_is_moved_aside_before_records_are_given_up(run: Run, tmp_path: Path) -> None:
    """The start would see the end at 0, and write new records at offsets that are there."""
    root = tmp_path / "broker-0"
    shutil.copytree(captures.path("everything/stopped/broker-0"), root)
    index = root / "one-record-batches-0" / "00000000000000000000.index"
    size = index.with_suffix(".log").stat().st_size
    index.write_bytes((20).to_bytes(4, "big") + (size + 100).to_bytes(4, "big"))
    selected = [str(root), "--topic", "one-record-batches"]
    shown = CliRunner().invoke(replica_diff, selected, standalone_mode=False).output
    compared = " ".join(shown.split())
    assert "broker 0 serves 250 records that it hides now (below)" in compared
    answer = run("plan", root, "--format", "json")
    (step,) = plan(answer)["steps"]
    assert (step["kind"], step["brokers"]) == ("moveAside", [0])
    checked = " ".join(run("verify", root).out.split())
    for command in step["commands"]:
        assert command in checked.replace(" \\ ", " ")
    subprocess.run(["bash", "-e", "-c", "\n".join(step["commands"])], check=True)
    again = run("plan", root)
    assert (again.status, again.out.split(".")[0]) == (
        0, "Starting broker 0 removes nothing from its 42 partitions",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("state", "place"),
    [("everything/stopped", "broker-0/codec-none-0"), ("s3_2/healed", "broker-1/t-0")],
)
def test_a_missing_topic_id_is_written_before_the_start(
    run: Run, tmp_path: Path, state: str, place: str
) -> None:
    """Otherwise the start sets the copy aside, and begins with an empty one."""
    root = tmp_path / "brokers"
    shutil.copytree(captures.path(state), root)
    lost = root / place / "partition.metadata"
    content = lost.read_text()
    lost.unlink()
    (step,) = plan(run("plan", root, "--format", "json"))["steps"]
    assert (step["kind"], step["title"].split(", ")[-1]) == (
        "writeFile", f"write partition.metadata of {lost.parent.name}",
    )  # fmt: skip
    subprocess.run(["bash", "-e", "-c", "\n".join(step["commands"])], check=True)
    assert lost.read_text().split() == content.split()
    assert run("plan", root).status == 0


def test_the_only_replica_is_not_moved_aside(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "brokers"
    shutil.copytree(captures.path("everything/stopped"), root)
    log = root / "broker-0" / "__consumer_offsets-2" / "00000000000000000000.log"
    log.write_bytes(log.read_bytes()[:-100])
    shown = CliRunner().invoke(replica_diff, [str(root)], standalone_mode=False).output
    assert "replicas 0" in shown
    assert "move the partition directory aside" not in shown


def test_a_copy_that_cannot_be_compared_is_moved_aside(run: Run, tmp_path: Path) -> None:
    """Offsets that fall: replica-diff sets the copy aside, and prints the same commands."""
    root = tmp_path / "brokers"
    shutil.copytree(captures.path("s3_2/healed"), root)
    log = root / "broker-1" / "t-0" / "00000000000000000000.log"
    log.write_bytes(log.read_bytes() + log.read_bytes())
    document = plan(run("plan", root, "--format", "json"))
    assert [each["kind"] for each in document["steps"]] == [
        "startControllers", "moveAside", "startBrokers", "startBrokers",
    ]  # fmt: skip
    assert document["startOrder"] == [[0, 2], [1]]
    compared = CliRunner().invoke(replica_diff, [str(root)], standalone_mode=False).output
    for command in document["steps"][1]["commands"]:
        assert command in compared.replace(" \\\n            ", " ")
    assert compared.startswith("2 partitions, 3 brokers: 1 damaged")
    assert "one of brokers 0 and 2 should lead this partition" in " ".join(compared.split())


def test_what_a_first_repair_does_not_settle_stays_listed(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "broker-0"
    shutil.copytree(captures.path("everything/killed/broker-0"), root)
    damaged = root / "java-producer-0" / "00000000000000000000.log"
    content = bytearray(damaged.read_bytes())
    content[5000] ^= 8
    damaged.write_bytes(content)
    torn = root / "headers-0" / "00000000000000000000.log"
    torn.write_bytes(torn.read_bytes()[:-50])
    out = run("plan", root).out
    assert out.startswith("First make 1 sound log of damaged copies")
    assert "KL-304 CRITICAL headers-0" in out


def test_a_person_chooses_where_every_branch_may_be_committed(run: Run, tmp_path: Path) -> None:
    """As replica-diff says too: only one branch is proven to be committed."""
    root = tmp_path / "brokers"
    shutil.copytree(captures.path("s3_2/both-led"), root)
    for broker, high_watermark in ((0, 5), (1, 0), (2, 0)):
        path = root / f"broker-{broker}" / "replication-offset-checkpoint"
        rows = path.read_text().splitlines()
        rows = [f"t 0 {high_watermark}" if row.startswith("t 0 ") else row for row in rows]
        path.write_text("".join(f"{row}\n" for row in rows))
    out = " ".join(run("plan", root).out.split())
    assert "A person must choose: every leader loses what is or may be committed." in out
    assert "For another leader add --elect t-0=1" in out
    compared = CliRunner().invoke(replica_diff, [str(root)], standalone_mode=False).output
    assert "→ a person must choose" in compared


def test_the_script_names_where_the_merged_log_was_saved(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "broker-0"
    shutil.copytree(captures.path("everything/stopped/broker-0"), root)
    log = root / "codec-none-0" / "00000000000000000024.log"
    content = bytearray(log.read_bytes())
    content[700] ^= 1
    log.write_bytes(content)
    script = run("plan", root, "--format", "script").out
    (line,) = (line for line in script.splitlines() if "cp -a" in line)
    shown = subprocess.run(
        ["bash", "-c", line], env={"SAVED": "/kept"}, capture_output=True, text=True, check=True
    ).stdout
    assert shown.split()[:3] == ["cp", "-a", "/kept/plan/codec-none-0-merged/codec-none-0"]


def test_a_plan_has_words_for_every_outcome() -> None:
    assert {*_START_WORDS, StartOutcome.LOADS} == set(StartOutcome)


def test_committed_records_that_no_copy_holds_are_reported_before_any_start(
    run: Run, tmp_path: Path
) -> None:
    root = write(tmp_path, {0: {"t": LONG}, 1: {"t": LONG}}, committed=99)
    answer = run("plan", root)
    assert answer.status == 1
    assert "Nothing to do" not in answer.out
    assert "KL-524 CRITICAL" in answer.out
    document = plan(run("plan", root, "--format", "json"))
    assert document["nothingToDo"] is False
    assert ("KL-524", "C") in {(each["code"], each["severity"]) for each in document["findings"]}
    assert "KL-524" in run("plan", root, "--format", "script").out


def test_a_folder_that_only_checkpoints_name_is_an_open_finding(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "broker-0"
    shutil.copytree(captures.path("everything/stopped/broker-0"), root)
    shutil.rmtree(root / "codec-none-0")
    answer = run("plan", root)
    assert answer.status == 1
    text = " ".join(answer.out.split())
    assert "removes nothing from its 41 partitions, but not every replica is here." in text
    assert "Lost already, whatever starts: all of codec-none-0 (offsets 0–" in text
    assert "were committed), of which no copy was supplied." in text
    assert (
        "KL-310 CRITICAL codec-none-0: according to the metadata log its only replica is on broker "
        "0, which has no folder of it: it will create an empty one; by a checkpoint, records below "
        "offset"
    ) in text
    structured = run("plan", root, "--format", "json")
    document = plan(structured)
    assert structured.status == 1
    assert document["nothingToDo"] is False
    (found,) = document["findings"]
    place = (found["code"], found["partition"], found["logDirectory"])
    assert place == ("KL-310", "codec-none-0", None)
    (lost,) = document["lostAlready"]
    assert (lost["topic"], lost["firstOffset"], lost["isCommitted"]) == ("codec-none", 0, True)
    script = run("plan", root, "--format", "script")
    assert script.status == 1
    message = "KL-310 CRITICAL codec-none-0: according to the metadata log its only replica is on"
    assert message in script.out
    assert "go_on 'These steps do not settle that" in script.out


def test_missing_folders_stay_open_where_there_is_work(run: Run, tmp_path: Path) -> None:
    shutil.copytree(S3_2, tmp_path / "c")
    shutil.rmtree(tmp_path / "c" / "broker-2" / "t-0")
    document = plan(run("plan", tmp_path / "c", "--format", "json"))
    assert document["steps"]
    assert [(each["code"], each["partition"]) for each in document["findings"]] == [
        ("KL-310", "t-0")
    ]


@pytest.mark.parametrize("form", ["text", "json", "script"])
def test_a_copy_that_may_not_be_read_has_no_plan(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    shutil.copytree(captures.path("s1/stale"), tmp_path / "s")
    refused = str(tmp_path / "s" / "broker-0" / "t-0" / "00000000000000000000.log")
    really_open = os.open

    def without_rights(path: str, *arguments: int, **options: int) -> int:
        if os.fspath(path) == refused:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return really_open(path, *arguments, **options)

    monkeypatch.setattr(os, "open", without_rights)
    answer = run("plan", tmp_path / "s", "--format", form)
    assert answer.status == 2
    text = " ".join(answer.out.split())
    assert "the copy of broker 0 was not read in full: " in text
    assert "Permission denied" in text
    assert "Make this plan as the user of the broker" in text
    assert "move" not in text
    assert "Nothing is lost" not in text


def test_when_brokers_start_decides_what_retention_deletes(run: Run) -> None:
    """The capture's records are younger than the default of 7 days now, but not in 30 years."""
    stopped = captures.path("s1/healed")
    assert run("plan", stopped, "--started-at", "2026-11-21").status == 0
    late = run("plan", stopped, "--started-at", "2056-01-01", "--format", "json")
    assert late.status == 1
    starts = [loss for each in plan(late)["partitions"] for loss in each["starts"]]
    assert starts
    assert {loss["outcome"] for loss in starts} == {"expired"}


def test_the_assumed_time_of_the_starts_is_named(run: Run) -> None:
    stopped = captures.path("s1/healed")
    assumed = "Retention is as of each log's newest record"
    assert assumed in " ".join(run("plan", stopped).out.split())
    assert assumed not in " ".join(run("plan", stopped, "--started-at", "2026-11-21").out.split())


def test_a_broker_that_does_not_come_up_says_so_and_ends_with_1(run: Run, tmp_path: Path) -> None:
    root = write(tmp_path, {1: {"a": LONG, "b": LONG}, 2: {"a": LONG, "b": LONG}})
    (root / "broker-1" / "backup").mkdir()
    alone = run("plan", root / "broker-1")
    assert alone.status == 1
    assert alone.out.startswith("DOES NOT COME UP 2 partitions, first a-0: broker 1 does not come")
    assert "NO PLAN" not in alone.out
    both = run("plan", root)
    assert both.status == 1  # like verify
    assert both.out.startswith("NO PLAN 2 partitions, first a-0: broker 1 does not come up:")
    document = plan(run("plan", root, "--format", "json"))
    assert {each["outcome"] for each in document["unanswered"]} == {"brokerAborts"}
    assert document["steps"] == []


def test_one_bad_copy_is_moved_aside_and_the_others_of_its_broker_are_planned(
    run: Run, tmp_path: Path
) -> None:
    """Seen on 4.4.0: a malformed epoch checkpoint takes its log directory offline."""
    logs = {1: {"a": "", "b": LONG}, 2: {"a": LONG}, 3: {"b": SHORT}}
    root = write(tmp_path / "c", logs, committed=0)
    (root / "broker-1" / "a-0" / "leader-epoch-checkpoint").write_text("no checkpoint\n")
    document = plan(run("plan", root, "--format", "json"))
    (aside,) = [step for step in document["steps"] if step["kind"] == "moveAside"]
    assert aside["brokers"] == [1]
    assert "the log directory of broker 1 does not come up" in aside["texts"][0]
    assert aside["commands"] == [
        f"mkdir -p {root}/aside/broker-1",
        f"mv {root}/broker-1/a-0 {root}/aside/broker-1/a-0",
    ]
    starts = [step for step in document["steps"] if step["kind"] == "startBrokers"]
    assert not any("does not come up" in text for step in starts for text in step["texts"])
    assert document["startOrder"] == [[2], [1], [3]]


@pytest.mark.parametrize("wrong", ["0\n2\n0 0\n", "0\n2\n0 0\n3 1\n"], ids=["cut", "another"])
def test_the_epoch_files_of_a_broker_are_written_in_one_step(
    run: Run, tmp_path: Path, wrong: str
) -> None:
    """A broker does not come up with a file that announces more rows than it has."""
    root = write(tmp_path / "c", {n: {"a": LONG, "b": LONG, "c": LONG} for n in (1, 2)})
    files = [root / "broker-1" / f"{topic}-0" / "leader-epoch-checkpoint" for topic in "abc"]
    for file in files:
        file.write_text(wrong)
    steps = plan(run("plan", root, "--format", "json"))["steps"]
    (step,) = (each for each in steps if each["kind"] == "writeFile")
    assert step["title"].endswith("write leader-epoch-checkpoint of a-0, b-0 and c-0")
    assert [each["path"] for each in step["files"]] == [*map(str, files)]
    subprocess.run(["bash", "-e", "-c", "\n".join(step["commands"])], check=True)
    assert {file.read_text() for file in files} == {"0\n1\n0 0\n"}
    kept = [each.read_text() for each in (root / "aside" / "broker-1").iterdir()]
    assert kept == [wrong] * 3
    assert run("plan", root).status == 0


def test_a_small_file_is_written_rather_than_its_copy_moved_aside(run: Run, tmp_path: Path) -> None:
    """The batches have what the file lost: nothing has to be copied again."""
    root = write(tmp_path / "c", {1: {"a": LONG}, 2: {"a": LONG}})
    (root / "broker-1" / "a-0" / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n")
    (step,) = plan(run("plan", root, "--format", "json"))["steps"]
    assert (step["kind"], step["brokers"]) == ("writeFile", [1])
    assert [each["content"] for each in step["files"]] == ["0\n1\n0 0\n"]
    alone = run("plan", root / "broker-1").out
    assert "Repair that first" in alone
    assert "If another broker has the partition" not in alone
    assert "printf '%s\\n' 0 1 '0 0' >" in alone


@pytest.mark.parametrize(("is_clean", "needs_election"), [(False, True), (True, False)])
def test_an_eligible_leader_replica_that_crashed_needs_an_unclean_election(
    run: Run, tmp_path: Path, is_clean: bool, needs_election: bool
) -> None:
    """Seen on 4.4.0: it is removed from the ELR when it registers, and nobody is elected."""
    topic_id = f"{ord('a'):A<22d}"
    cluster(
        tmp_path,
        {
            1: replica(LONG, topic="a", topic_id=topic_id, high_watermark=2),
            2: replica(SHORT, topic="a", topic_id=topic_id, high_watermark=2),
        },
        clean=(1, 2) if is_clean else (),
    )
    state = PartitionState(
        topic="a",
        topic_id=topic_id,
        replicas=(1, 2),
        in_sync=(),
        eligible=(1,),
        leader=-1,
        leader_epoch=3,
    )
    log_directory(9, metadata_log([state])).write(tmp_path / "controller-9")
    steps = plan(run("plan", tmp_path, "--format", "json"))["steps"]
    elections = [step["election"]["type"] for step in steps if step["election"]]
    assert elections == (["unclean"] if needs_election else [])


@pytest.mark.parametrize("others", [(1,), (1, 2)], ids=["one left", "two left"])
def test_in_sync_replicas_that_are_lost_get_an_empty_log_directory(
    run: Run, tmp_path: Path, others: tuple[int, ...]
) -> None:
    """Only after another copy leads: before, a broker without records would be elected."""
    root = write(tmp_path, {broker: {"a": LONG} for broker in others})
    state = PartitionState(
        topic="a", topic_id=f"{ord('a'):A<22d}", replicas=(3, *others), in_sync=(3,), leader=3,
        leader_epoch=1,
    )  # fmt: skip
    log_directory(9, metadata_log([state])).write(root / "controller-9")
    steps = plan(run("plan", root, "--format", "json"))["steps"]
    controllers, first, empty, last = steps
    assert controllers["kind"] == "startControllers"
    assert first["brokers"] == [*others][: len(first["brokers"])]
    assert first["election"]["type"] == "unclean"
    assert (empty["kind"], empty["brokers"]) == ("restoreLogDirectory", [3])
    assert last["brokers"][-1] == 3
    copied = (root / "broker-1" / "meta.properties").read_text()
    (cluster_id,) = re.findall(r"cluster\.id=(.*)", copied)
    assert f"format --ignore-formatted --cluster-id {cluster_id} --config" in empty["commands"][1]
    (root / "broker-3").mkdir()
    properties = f"version=1\ncluster.id={cluster_id}\nnode.id=3\n"
    (root / "broker-3" / "meta.properties").write_text(properties)
    kinds = [step["kind"] for step in plan(run("plan", root, "--format", "json"))["steps"]]
    assert "restoreLogDirectory" not in kinds
    text = " ".join(run("plan", root).out.split())
    assert "If such copies are lost for ever, follow the steps" in text


def test_a_leader_that_is_lost_gets_formatted_log_directories(run: Run, tmp_path: Path) -> None:
    """4.1.1 does not start without meta.properties, whether or not others are in sync."""
    root = write(tmp_path, {broker: {"a": LONG} for broker in (1, 2)})
    state = PartitionState(
        topic="a", topic_id=f"{ord('a'):A<22d}", replicas=(3, 1, 2), in_sync=(1, 2, 3), leader=3,
        leader_epoch=1,
    )  # fmt: skip
    log_directory(9, metadata_log([state])).write(root / "controller-9")
    steps = plan(run("plan", root, "--format", "json"))["steps"]
    at = [step["kind"] for step in steps].index("restoreLogDirectory")
    assert steps[at]["brokers"] == [3]
    assert "kafka-storage.sh format" in steps[at]["commands"][1]
    assert [step["brokers"] for step in steps[at + 1 :] if step["kind"] == "startBrokers"] == [[3]]
    (root / "controller-9" / "__cluster_metadata-0").rename(tmp_path / "elsewhere")
    without = plan(run("plan", root, "--format", "json"))["steps"]
    assert "restoreLogDirectory" not in [step["kind"] for step in without]


@pytest.mark.parametrize("name", sorted(NAMED))
def test_states_for_real_brokers_need_the_steps_that_they_are_for(
    run: Run, tmp_path: Path, name: str
) -> None:
    """`tests/oracle/test_plan_scripts.py` executes their scripts."""
    deal_named(name, tmp_path / "scratch", tmp_path / "state")
    answer = run("plan", *evidence(tmp_path / "state"), "--format", "json")
    assert answer.status == 1
    assert NAMED[name].steps <= {step["kind"] for step in plan(answer)["steps"]}


def test_a_cluster_with_zookeeper_has_no_controllers_to_start(tmp_path: Path, run: Run) -> None:
    """There brokers write version 0 of meta.properties, and one of them is the controller."""
    paths = write(tmp_path, {0: {"t": LONG}, 1: {"t": SHORT}})
    kraft = run("plan", paths).out
    for number in (0, 1):
        (properties,) = paths.glob(f"*{number}/meta.properties")
        properties.write_text(f"version=0\nbroker.id={number}\ncluster.id=c\n")
    answer = run("plan", paths)
    said = " ".join(answer.out.split())
    assert "process.roles" in kraft
    assert "process.roles" not in said
    assert "metadata log" not in said
    assert "1. Start ZooKeeper and no broker; wait 30 seconds" in said
    assert "zookeeper-shell.sh ZOOKEEPER:2181 ls /brokers/ids" in said
    steps = plan(run("plan", paths, "--format", "json"))["steps"]
    assert [step["kind"] for step in steps] == ["startZooKeeper", "startBrokers", "startBrokers"]
    script = run("plan", paths, "--format", "script").out
    assert 'zookeeper-shell.sh "$ZOOKEEPER" ls /brokers/ids' in script
    assert "filled_in ZOOKEEPER" in script


def test_there_is_no_plan_if_a_log_directory_was_skipped(tmp_path: Path, run: Run) -> None:
    """Kafka follows the link: what is behind it is neither missing nor to be replaced."""
    ids = {topic: f"{ord(topic):A<22d}" for topic in "tu"}
    states = [
        PartitionState(
            replicas=(1, 2, 3),
            in_sync=(1, 2, 3),
            leader=1,
            leader_epoch=0,
            topic=topic,
            topic_id=each,
        )
        for topic, each in ids.items()
    ]
    held = {
        log: [replica(log, topic=topic, topic_id=each) for topic, each in ids.items()]
        for log in (LONG, SHORT)
    }
    cluster(tmp_path / "outside", {1: held[LONG]})
    given = tmp_path / "given"
    cluster(given, {1: [metadata_log(states)], 2: held[SHORT], 3: held[LONG]})
    properties = tmp_path / "outside" / "broker-1" / "meta.properties"
    properties.write_text(re.sub(r"directory\.id=.", "directory.id=C", properties.read_text()))
    (given / "data2").symlink_to(tmp_path / "outside" / "broker-1")
    answer = run("plan", given)
    assert answer.status == 2
    assert "NO PLAN 2 partitions, first t-0: log directories behind" in answer.out
    assert "pass --follow-links" in " ".join(answer.out.split())
    assert run("quorum", given).status == 2
    verified = run("verify", given)
    assert (verified.status, "KL-310" in verified.out) == (1, False)
    assert "KL-002  HIGH" in verified.out
    compared = CliRunner().invoke(replica_diff, [str(given)], standalone_mode=False).stdout
    assert "KL-002 HIGH" in compared
    assert "broker 3, then broker" not in compared
    page = tmp_path / "report.html"
    assert run("report", given, "--output", page).status == 1
    assert "broker 3, then broker" not in page.read_text()
    assert run("plan", given, "--follow-links").out.startswith(
        "Start brokers 1 and 3, then broker 2."
    )


@pytest.mark.parametrize(
    ("rule", "kinds"),
    [
        ("", ["moveAside", "startBrokers", "startBrokers"]),
        ("current", ["startBrokers", "startBrokers"]),
        ("one-round", ["startBrokers", "startBrokers", "removeReplicas", "addReplicas"]),
    ],
)
def test_a_copy_that_one_truncation_rule_spoils_is_moved_aside(
    rule: str, kinds: list[str], tmp_path: Path, run: Run
) -> None:
    """Brokers of 2.4 with inter.broker.protocol.version 0.11 followed none of the rules of 2.4.

    The plan was for the likeliest rule: its check was never met, and its next step never possible.
    """
    logs = {1: "0-3/e0 4-6/e2 7-8/e3", 2: "0-3/e0 4-9/e1 10-12/e2"}
    write_old(tmp_path, logs, high_watermark=4)
    options = ["--rule", rule] if rule else []
    steps = plan(run("plan", tmp_path, "--format", "json", *options))["steps"]
    assert [each["kind"] for each in steps if each["kind"] not in AROUND_STARTS] == kinds
    words = " ".join(run("plan", tmp_path, *options).out.split())
    assert ("By several-rounds or one-round, this copy would stay different" in words) is (not rule)


def test_a_copy_that_every_truncation_rule_makes_equal_stays_in_place(
    tmp_path: Path, run: Run
) -> None:
    """With broker 1 leading instead, the rules would cut at different offsets."""
    write_old(tmp_path, {1: "0-3/e0 4-9/e1", 2: "0-3/e0 4-5/e3"}, high_watermark=4)
    steps = plan(run("plan", tmp_path, "--format", "json"))["steps"]
    assert "moveAside" not in [each["kind"] for each in steps]


def write_old(root: Path, logs: dict[int, str], high_watermark: int) -> None:
    """Brokers before topic ids: the files do not show which of three rules they follow."""
    old = {"partition.metadata": None}
    copies = {
        node: replica(log, high_watermark=high_watermark, files=old) for node, log in logs.items()
    }
    for node, path in cluster(root, copies).items():
        (path / "meta.properties").write_text(f"version=0\nbroker.id={node}\ncluster.id=c\n")
