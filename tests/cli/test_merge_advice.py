"""If only all copies together have every record, the advice is to merge, which loses nothing."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from fixtures import captures
from fixtures.builder import cluster, data_batch, replica
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.format.record import Record
from tests.agreement.faulty_copy import contradicted

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.builder import Batch
    from tests.cli.conftest import Run

LOG = "t-0/00000000000000000000.log"
BYTES = {0: 65, 1: 134, 2: 203}
"""For each broker, a byte in a different batch."""


def damage(root: Path, brokers: dict[int, int]) -> Path:
    shutil.copytree(captures.path("s3_2/healed"), root)
    for broker, position in brokers.items():
        path = root / f"broker-{broker}" / LOG
        content = bytearray(path.read_bytes())
        content[position] ^= 5
        path.write_bytes(content)
    return root


def advice(root: Path, topic: str = "t", *options: str) -> str:
    asked = [str(root), "--topic", topic, *options]
    result = CliRunner().invoke(replica_diff, asked, standalone_mode=False)
    assert result.return_value == 1
    return result.output


def test_three_damaged_copies_are_merged_into_all_records(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = damage(tmp_path / "brokers", BYTES)
    text = advice(root)
    (command,) = (line.strip() for line in text.splitlines() if "kafkalog salvage" in line)
    assert "--merge --as-segments" in command
    assert "choose between branches" not in text
    assert "move the partition directory aside" not in text
    monkeypatch.chdir(tmp_path)
    merged = run(*shlex.split(command)[1:])
    assert (merged.status, merged.out) == (0, "t-0: 4 records, offsets 0 to 3\n")
    shown = run("records", tmp_path / "SAVED" / "t-0-merged", "--columns", "value")
    assert shown.out.split() == ["value", "a", "b", "f", "g"]
    by_hand = [each for each in shlex.split(command)[1:-1] if each != "--no-instructions"]
    assert "How to put" in run(*by_hand, tmp_path / "again").out
    planned = run("plan", root, "--topic", "t").out
    assert "--merge" in planned
    merged_log = json.loads(advice(root, "t", "--format", "json"))["mergedLog"]
    assert (merged_log["readableOffsets"], merged_log["lostRanges"]) == (4, [])


def test_records_after_the_same_damage_of_all_copies_are_kept(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every start cuts its log at the first batch; the three after it are intact everywhere."""
    root = damage(tmp_path / "brokers", dict.fromkeys(BYTES, 65))
    planned = run("plan", root, "--topic", "t").out
    said = " ".join(planned.split())
    assert (
        "Every start cuts records after damage that a merged log keeps. It lacks offset 0" in said
    )
    command = next(line for line in planned.replace("\\\n", " ").splitlines() if "--merge" in line)
    monkeypatch.chdir(tmp_path)
    merged = run(*shlex.split(command)[1:])
    assert merged.status == 1
    assert "offset 0 is lost" in merged.out
    assert "How to put" not in merged.out  # the plan has a step for it
    folder = next(tmp_path.glob("SAVED/**/t-0"))
    for broker in BYTES:
        shutil.rmtree(root / f"broker-{broker}" / "t-0")
        shutil.copytree(folder, root / f"broker-{broker}" / "t-0")
    shown = run("records", root, "--topic", "t", "--columns", "value")
    assert shown.out.split() == ["value", "b", "f", "g"]
    again = run("plan", root, "--topic", "t")
    assert "--merge" not in again.out


def execute_file_steps(planned: str) -> None:
    """Run what the plan prints before any broker starts: the merge, and the moves of folders."""
    for line in planned.replace("\\\n", " ").splitlines():
        words = shlex.split(line) if line.split()[:1] and line.split()[0] in _COMMANDS else []
        if words[:1] == ["kafkalog"]:
            assert CliRunner().invoke(kafkalog, words[1:], standalone_mode=False).return_value == 0
        elif words:
            subprocess.run(words, check=True)


_COMMANDS = ("kafkalog", "mkdir", "mv", "cp")


def test_the_plan_after_a_merge_knows_what_it_moved_aside(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first plan ends with "make this plan again"; the second must not send back to it."""
    root = damage(tmp_path / "brokers", BYTES)
    monkeypatch.chdir(tmp_path)
    first = run("plan", root)
    assert (first.status, "--merge" in first.out) == (1, True)
    execute_file_steps(first.out)
    second = " ".join(run("plan", root).out.split())
    assert second.startswith("Start broker 2, then brokers 0 and 1. Nothing is lost")
    assert "supplied" not in second
    assert "put it back" not in second
    assert "KL-310" not in second
    without = "Brokers 0 and 1 have no folder of t-0, because their copies were moved aside"
    assert f"{without}: they create empty ones, and copy the records of the leader." in second
    verified = " ".join(run("verify", root).out.split())
    assert "KL-310 LOW" in verified
    assert f"moved aside, to {root}/aside/broker-0/t-0".replace(" ", "") in verified.replace(
        " ", ""
    )
    assert contradicted(str(root), tmp_path) == []


def test_a_copy_moved_aside_that_reaches_further_is_missed(tmp_path: Path, run: Run) -> None:
    """Nothing has taken the place of broker 0's copy, which has more records than the others."""
    root = tmp_path / "brokers"
    shutil.copytree(captures.path("s1/stale"), root)
    (root / "aside" / "broker-0").mkdir(parents=True)
    for broker in (0, 2):
        target = root / "aside" / f"broker-{broker}"
        target.mkdir(exist_ok=True)
        (root / f"broker-{broker}" / "t-0").rename(target / "t-0")
    planned = run("plan", root)
    assert planned.status == 1
    words = " ".join(planned.out.split())
    assert "KL-310 HIGH t-0: broker 0 has no folder t-0: its copy was moved aside, to" in words
    assert "that reaches further than the copies here" in words


@pytest.mark.parametrize("broker", [0, 1, 2])
def test_one_damaged_copy_is_copied_again(broker: int, tmp_path: Path, run: Run) -> None:
    """Its start cuts the damage, so that it need not be moved aside."""
    root = damage(tmp_path / "brokers", {broker: BYTES[broker]})
    text = " ".join(advice(root).split())
    first, second = sorted({0, 1, 2} - {broker})
    assert f"one of brokers {first} and {second} should lead this partition; the others" in text
    assert "move the partition directory aside" not in text
    order = f"Start brokers {first} and {second}, then broker {broker}. Nothing is lost then."
    assert order in run("plan", root).out
    assert "--export" not in text  # the others hold every record
    assert "--merge" not in text


def test_an_export_of_nothing_says_why(tmp_path: Path) -> None:
    root = damage(tmp_path / "brokers", {1: BYTES[1]})
    options = ["--topic", "t", "--export", str(tmp_path / "saved" / "t-0")]
    result = CliRunner().invoke(replica_diff, [str(root), *options], standalone_mode=False)
    assert "nothing to export: no copy has records that another lacks" in result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["brokers"]
    assert not (tmp_path / "saved" / "records.parquet").exists()


def test_the_same_bit_of_every_copy_is_corrected(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commands are executed as printed; then one broker has every record, the others none."""
    root = damage(tmp_path / "brokers", {})
    for broker in range(3):
        flip(root / f"broker-{broker}" / LOG, 135)
    follow(root, tmp_path, monkeypatch)
    shown = run("records", root, "--topic", "t", "--columns", "value")
    assert shown.out.split() == ["value", "a", "b", "f", "g"]
    planned = run("plan", root, "--topic", "t").out
    assert planned.startswith("Start broker 0, then brokers 1 and 2. Nothing is lost")


def test_the_only_replica_is_corrected(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "brokers"
    shutil.copytree(captures.path("everything/stopped"), root)
    log = root / "broker-0" / "codec-none-0" / f"{24:020d}.log"
    sound = run("records", root, "--topic", "codec-none", "--columns", "offset,value").out
    flip(log, 700)
    planned = run("plan", root).out
    assert planned.startswith("First make 1 sound log of damaged copies, put it in place")
    text = advice(root, "codec-none")
    assert "no other broker has a replica" in " ".join(text.split())
    assert "run this again with the other copies" not in text  # no other broker exists
    follow(root, tmp_path, monkeypatch, "codec-none")
    assert run("records", root, "--topic", "codec-none", "--columns", "offset,value").out == sound
    assert (
        CliRunner()
        .invoke(replica_diff, [str(root), "--topic", "codec-none"], standalone_mode=False)
        .return_value
        == 0
    )
    assert run("plan", root, "--topic", "codec-none").status == 0


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    root = tmp_path / "brokers"
    shutil.copytree(captures.path("everything/stopped"), root)
    log = root / "broker-0" / "codec-none-0" / f"{24:020d}.log"
    content = bytearray(log.read_bytes())
    content[100:600] = bytes(500)  # records of the first batch, offsets 24 to 29
    log.write_bytes(content)
    text = " ".join(advice(root, "codec-none").split())
    assert "It lacks offsets 24–29: no supplied copy has a readable batch there." in text


@pytest.mark.parametrize("has_marker", [True, False])
def test_an_only_copy_of_which_nothing_can_be_read_is_not_merged(
    tmp_path: Path, run: Run, has_marker: bool
) -> None:
    """Its 72 records were committed, and that stays what every command says."""
    root = tmp_path / "brokers"
    shutil.copytree(captures.path("everything/stopped"), root)
    segments = sorted((root / "broker-0" / "codec-none-0").glob("*.log"))
    size = 12 + int.from_bytes(segments[0].read_bytes()[8:12])  # of the first batch
    segments[0].write_bytes(bytes(61) + segments[0].read_bytes()[61:size])
    for segment in segments[1:]:
        segment.unlink()
    if not has_marker:
        (root / "broker-0" / ".kafka_cleanshutdown").unlink()
    assert "--merge" not in advice(root, "codec-none")
    planned = run("plan", root, "--topic", "codec-none")
    assert planned.status == 1
    assert "merge" not in planned.out
    assert "sound log" not in planned.out
    document = json.loads(run("plan", root, "--topic", "codec-none", "--format", "json").out)
    found = {(each["code"], each["severity"]) for each in document["findings"]}
    assert ("KL-304", "C") in found
    assert "KL-304 CRITICAL codec-none-0" in planned.out


def test_an_only_copy_that_its_start_leaves_sound_is_not_merged(tmp_path: Path, run: Run) -> None:
    """The last batch, offsets 66 to 71, is damaged: an unclean start cuts it and nothing else."""
    root = tmp_path / "brokers"
    shutil.copytree(captures.path("everything/stopped"), root)
    (root / "broker-0" / ".kafka_cleanshutdown").unlink()
    checkpoint = root / "broker-0" / "recovery-point-offset-checkpoint"
    checkpoint.write_text("0\n1\ncodec-none 0 48\n")
    log = root / "broker-0" / "codec-none-0" / f"{48:020d}.log"
    content = bytearray(log.read_bytes())
    content[-200:] = bytes(200)
    log.write_bytes(content)
    (start,) = json_rows(run, "table", "recoveries", root, "--topic", "codec-none")
    assert (start["outcome"], start["recordsCut"]) == ("cut", 0)
    assert "--merge" not in advice(root, "codec-none")
    assert "--merge" not in run("plan", root, "--topic", "codec-none").out


def json_rows(run: Run, *arguments: object) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run(*arguments, "--format", "json").out.splitlines()]


def test_a_fork_with_damage_is_not_merged(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Salvage would refuse to mix two histories; each branch is saved separately."""
    root = tmp_path / "brokers"
    shutil.copytree(captures.path("s5_2/c-written"), root)
    flip(root / "broker-1" / LOG, 130)
    text = advice(root)
    assert "--merge" not in text
    assert text.index("→ a person must choose") < text.index("→ freeze") < text.index("→ unless")
    assert "unless another branch is chosen, broker 0 should lead" in " ".join(text.split())
    saved = [command.split("--replica ")[1].split()[0] for command in salvage_commands(text)]
    assert saved == ["broker:0", "broker:1"]
    monkeypatch.chdir(tmp_path)
    for command in salvage_commands(text) + salvage_commands(run("plan", root).out):
        shutil.rmtree(tmp_path / "SAVED", ignore_errors=True)
        assert run(*shlex.split(command)[1:]).status == 0


def flip(path: Path, position: int) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("state", ["the only replica", "all copies"])
def test_the_plan_puts_the_log_in_place_before_anything_starts(
    state: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own commands are executed as printed; then the plan is made again."""
    root = tmp_path / "brokers"
    capture, topic = "everything/stopped", "codec-none"
    logs = [root / "broker-0" / "codec-none-0" / f"{24:020d}.log"]
    if state == "all copies":
        capture, topic = "s3_2/healed", "t"
        logs = [root / f"broker-{broker}" / LOG for broker in range(3)]
    shutil.copytree(captures.path(capture), root)
    for log in logs:
        flip(log, 135)
    asked = ["--topic", topic]
    document = json.loads(run("plan", root, *asked, "--format", "json").out)
    assert [step["kind"] for step in document["steps"]] == ["save", "replaceCopy"]
    script = run("plan", root, *asked, "--format", "script").out
    assert "Start broker" not in script.split("1. Make sound logs")[1]
    monkeypatch.chdir(tmp_path)
    for command in (command for step in document["steps"] for command in step["commands"]):
        if command.startswith("kafkalog "):
            assert run(*shlex.split(command)[1:]).status == 0
        else:
            subprocess.run(["/bin/sh", "-c", command], check=True)
    values = ["records", "--topic", topic, "--columns", "offset,value"]
    assert run(*values, root).out == run(*values, captures.path(capture)).out
    again = run("plan", root, *asked).out
    assert "--merge" not in again
    assert "Lost then" not in again


@pytest.mark.parametrize("topic", ["transactions", "open-transaction"])
def test_transactions_are_as_before_when_the_merged_log_is_in_place(
    topic: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the only replica, a bit is flipped in the last batch of the last segment."""
    before, root = captures.path("everything/stopped"), tmp_path / "brokers"
    shutil.copytree(before, root)
    log = max((root / "broker-0" / f"{topic}-0").glob("*.log"))
    flip(log, log.stat().st_size - 1)
    asked = ["--topic", topic]
    assert run("verify", root, *asked).status == 1
    monkeypatch.chdir(tmp_path)
    planned = run("plan", root, *asked).out
    assert "Nothing is lost then." in " ".join(planned.split())
    execute_file_steps(planned)
    (copy,) = root.glob(f"broker-*/{topic}-0")
    assert max(copy.glob("*.txnindex")).read_bytes()
    for command in (
        ["verify", *asked],
        ["plan", *asked],
        ["transactions", *asked],
        ["table", "producers", *asked, "--columns", "partition,producerId,lastSequence,status"],
        ["records", *asked, "--isolation", "read_committed"],
        ["table", "records", *asked, "--columns", "partition,offset,transactionState,value"],
    ):
        after, then = run(*command, root), run(*command, before)
        assert after.status == then.status
        assert after.out.replace(str(root), "") == then.out.replace(str(before), ""), command


def salvage_commands(text: str) -> list[str]:
    joined = text.replace("\\\n", " ")
    return [line.strip() for line in joined.splitlines() if "kafkalog salvage" in line]


def follow(root: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, topic: str = "t") -> None:
    """Execute the merge and the commands after it, up to the list of actions."""
    monkeypatch.chdir(folder)
    before, _, _ = advice(root, topic).partition("What to do:")
    lines = [line.strip() for line in before.splitlines()]
    first = next(n for n, line in enumerate(lines) if line.startswith("kafkalog salvage"))
    for line in lines[first:]:
        words = shlex.split(line) if line.startswith(("kafkalog", "mkdir", "mv", "cp")) else []
        if words[:1] == ["kafkalog"]:
            assert CliRunner().invoke(kafkalog, words[1:], standalone_mode=False).return_value == 0
        elif words:
            subprocess.run(words, check=True)


def stop_cleanly(root: Path) -> None:
    """Leave what a clean shutdown leaves: a marker, and indexes cut at their last entries."""
    for broker in root.glob("broker-*"):
        (broker / ".kafka_cleanshutdown").write_text('{"version":0,"brokerEpoch":-1}')
        log = broker / LOG
        newest = log.read_bytes()[-69:][35:43]  # the greatest timestamp of the last batch
        log.with_suffix(".index").write_bytes(b"")
        log.with_suffix(".timeindex").write_bytes(newest + (3).to_bytes(4))


@pytest.mark.parametrize("brokers", [(0, 1), (0, 1, 2)])
def test_copies_that_are_damaged_at_different_places_are_merged(
    brokers: tuple[int, ...], tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each record is intact on another copy, and no start cuts: but no copy has them all."""
    root = damage(tmp_path / "brokers", {broker: BYTES[broker] for broker in brokers})
    stop_cleanly(root)
    for broker in {0, 1, 2}.difference(brokers):
        shutil.rmtree(root / f"broker-{broker}" / "t-0")
    text = advice(root)
    assert "kafkalog salvage" in text
    assert "--merge --as-segments" in text
    assert "every copy may lead" not in " ".join(text.split())
    planned = run("plan", root, "--topic", "t").out
    said = " ".join(planned.split())
    assert said.startswith("First make 1 sound log of damaged copies, put it in place and make")
    without, _, steps = said.partition("Read all steps")
    assert "Nothing is lost" not in without
    assert "t-0 cannot be read past the damage of its leader's copy" in without
    assert "Nothing is lost then." in steps
    monkeypatch.chdir(tmp_path)
    execute_file_steps(planned)
    shown = run("records", root, "--topic", "t", "--columns", "value")
    assert shown.out.split() == ["value", "a", "b", "f", "g"]
    assert "--merge" not in run("plan", root, "--topic", "t").out


def test_one_intact_copy_of_three_needs_no_merge_after_a_clean_stop(
    tmp_path: Path, run: Run
) -> None:
    root = damage(tmp_path / "brokers", {0: BYTES[0], 1: BYTES[1]})
    stop_cleanly(root)
    assert "--merge" not in advice(root)
    planned = run("plan", root, "--topic", "t").out
    assert "--merge" not in planned
    assert "cannot be read past" not in planned


def test_no_copy_is_made_again_from_a_damaged_one(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker answers a fetch of damaged bytes, and the follower refuses them for ever.

    Seen on 3.9.1: the reassignment never completes, and it has deleted the follower's own copy.
    """
    root = damage(tmp_path / "brokers", {0: BYTES[1], 1: BYTES[2]})
    stop_cleanly(root)
    log = root / "broker-2" / LOG
    content = log.read_bytes()
    log.write_bytes(content[:69] + content[138:])  # without offset 1
    assert "--merge" in run("plan", root, "--topic", "t").out
    monkeypatch.setattr("kafkalog_reader.salvage.merge_trial.MAX_BYTES", 0)
    planned = run("plan", root, "--topic", "t")
    said = " ".join(planned.out.split())
    assert "reassign" not in said
    assert "Nothing is lost" not in said
    assert "t-0 cannot be read past the damage of its leader's copy" in said
    assert planned.status == 1
    document = json.loads(run("plan", root, "--topic", "t", "--format", "json").out)
    assert {"KL-101", "KL-506", "KL-508"} <= {each["code"] for each in document["findings"]}
    assert "move the partition directory aside" not in " ".join(advice(root).split())


@pytest.mark.parametrize(("batches", "is_tried"), [(11, False), (12, True)])
def test_no_merge_is_tried_of_more_batches_than_memory_holds(
    batches: int, is_tried: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The three copies have four batches each."""
    root = damage(tmp_path / "brokers", BYTES)
    monkeypatch.setattr("kafkalog_reader.salvage.merge_trial.MAX_BATCHES", batches)
    assert ("--merge" in advice(root)) is is_tried


def keyed(base: int, *deltas: int) -> Batch:
    """A batch of ten offsets from which the cleaner removed all records but these."""
    records = [Record(offset_delta=each, key=b"k%d" % each, value=b"v") for each in deltas]
    return data_batch(base, records, last_offset_delta=9)


def test_a_stale_copy_that_compaction_left_different_is_not_merged(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Brokers 1 and 2 are further, cleaner, and each damaged at another place."""
    cleaned = [keyed(0, 8, 9), *(keyed(base, *range(10)) for base in (10, 20, 30))]
    stale = [keyed(0, *range(10)), keyed(10, *range(10))]
    newer = replica(cleaned, high_watermark=40, cleaner_offset=10)
    older = replica(stale, high_watermark=20, cleaner_offset=0)
    brokers = cluster(tmp_path / "brokers", {1: newer, 2: newer, 3: older})
    for broker, batch in ((1, 2), (2, 3)):
        log = brokers[broker] / LOG
        content = bytearray(log.read_bytes())
        content[sum(len(each.build()) for each in cleaned[:batch]) + 70] ^= 5
        log.write_bytes(content)
    monkeypatch.chdir(tmp_path)
    planned = run("plan", "brokers")
    said = " ".join(planned.out.split())
    assert "1 copy that ends earlier, and that compaction left with other records" in said
    (command,) = (
        line for line in planned.out.replace("\\\n", " ").splitlines() if "--merge" in line
    )
    assert shlex.split(command)[2:4] == ["brokers/broker-1", "brokers/broker-2"]
    merged = run(*shlex.split(command)[1:])
    assert (merged.status, merged.out) == (0, "t-0: 32 records, offsets 0 to 39\n")
