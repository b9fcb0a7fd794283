"""Every command reports a problem of a whole log directory, with the same repair."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from click.testing import CliRunner

from fixtures import captures
from kafkalog_reader.cli.replica_diff import replica_diff

if TYPE_CHECKING:
    from tests.cli.conftest import Run

HEALED = captures.path("s3_2/healed")
STOPPED = captures.path("everything/stopped")
ON_FILES = ("mv ", "mkdir ", "printf ", "{ ssh ", "gzip ")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sound cluster of brokers 0, 1 and 2 with one partition, and a controller."""
    shutil.copytree(HEALED, tmp_path / "state")
    monkeypatch.chdir(tmp_path / "state")
    return tmp_path / "state"


def shell_commands(out: str) -> list[str]:
    """Commands on files; lines that end with a backslash are joined as in a shell."""
    lines = (" ".join(line.split()) for line in out.replace("\\\n", " ").splitlines())
    return [line for line in lines if line.startswith(ON_FILES)]


def commands_of_all(run: Run, code: str) -> list[str]:
    """The repair that verify, plan and replica-diff print, which must be the same."""
    compared = CliRunner().invoke(replica_diff, ["."], standalone_mode=False).stdout
    outs = [run("verify", ".").out, run("plan", ".").out, compared]
    assert all(code in out for out in outs)
    first, *others = (list(dict.fromkeys(shell_commands(out))) for out in outs)
    assert others == [first, first]
    return first


def recoveries(run: Run, *paths: str) -> list[dict[str, Any]]:
    out = run("table", "recoveries", *paths, "--format", "json").out
    return [json.loads(line) for line in out.splitlines()]


def do(commands: list[str]) -> None:
    for command in commands:
        subprocess.run(["sh", "-c", command], check=True)


def test_a_renamed_partition_folder_is_renamed_back(state: Path, run: Run) -> None:
    """LogManager#loadLogs parses the name of every folder and fails at t-0.bak (KafkaException)."""
    sound = run("plan", ".")
    (state / "broker-2" / "t-0").rename(state / "broker-2" / "t-0.bak")
    commands = commands_of_all(run, "KL-003")
    assert commands == ["mv ./broker-2/t-0.bak ./broker-2/t-0"]
    plan = run("plan", ".")
    assert "NO PLAN t-0: broker 2 does not come up: ./broker-2/t-0.bak" in plan.out
    assert "empty" not in plan.out
    compared = CliRunner().invoke(replica_diff, ["."], standalone_mode=False).stdout
    assert "do not start broker 2 yet" in compared
    (down,) = (row for row in recoveries(run, ".") if row["outcome"] != "loads")
    assert (down["brokerId"], down["partition"], down["outcome"]) == (2, None, "brokerAborts")
    do(commands)
    assert run("plan", ".") == sound


def test_a_segment_that_no_copy_has_is_decompressed_before_there_is_a_plan(
    state: Path, run: Run
) -> None:
    """The start would delete its index, and begin an empty log: LogLoader#removeOrphanIndexes."""
    sound = run("plan", ".")
    for number in range(3):
        path = state / f"broker-{number}" / "t-0" / "00000000000000000000.log"
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    plan = run("plan", ".").out
    assert plan.startswith("First give segments of 1 partition their names back and make this plan")
    assert "nothing is lost" not in plan.lower()
    compared = CliRunner().invoke(replica_diff, ["."], standalone_mode=False).stdout
    commands = [
        f"gzip -dc ./broker-{n}/t-0/00000000000000000000.log.gz "
        f"> ./broker-{n}/t-0/00000000000000000000.log"
        for n in range(3)
    ]
    for out in (plan, run("verify", ".").out, compared):
        assert [each for each in shell_commands(out) if each.startswith("gzip")] == commands
    do(commands)
    assert run("plan", ".") == sound


def test_a_folder_of_nobody_is_moved_out(state: Path, run: Run) -> None:
    sound = run("plan", ".")
    for broker in ("broker-1", "controller-100"):
        (state / broker / "old logs").mkdir()
    commands = commands_of_all(run, "KL-003")
    assert commands == [
        "mkdir -p ./aside/broker-1",
        "mv './broker-1/old logs' './aside/broker-1/old logs'",
    ]
    (down,) = (row for row in recoveries(run, ".") if row["outcome"] != "loads")
    assert (down["brokerId"], down["partition"], down["outcome"]) == (1, 0, "brokerAborts")
    do(commands)
    assert run("plan", ".").out == sound.out
    assert (run("verify", ".").status, (state / "aside" / "broker-1" / "old logs").is_dir()) == (
        0,
        True,
    )


def test_two_copies_under_one_name_do_not_become_one(state: Path, run: Run) -> None:
    """t-0 exists, so that t-0.bak is moved away and not renamed to t-0."""
    shutil.copytree(state / "broker-2" / "t-0", state / "broker-2" / "t-0.bak")
    assert shell_commands(run("verify", ".").out) == [
        "mkdir -p ./aside/broker-2",
        "mv ./broker-2/t-0.bak ./aside/broker-2/t-0.bak",
    ]


FUTURE: Final = "t-0.0123456789abcdef0123456789abcdef-future"


def test_a_future_copy_beside_its_replica_is_moved_out(state: Path, run: Run) -> None:
    """LogManager#recoverAbandonedFutureLogs renames it: "Directory not empty" (seen on 4.4.0)."""
    sound = run("plan", ".")
    shutil.copytree(state / "broker-1" / "t-0", state / "broker-1" / FUTURE)
    commands = commands_of_all(run, "KL-010")
    assert commands == [
        "mkdir -p ./aside/broker-1",
        f"mv ./broker-1/{FUTURE} ./aside/broker-1/{FUTURE}",
    ]
    plan = run("plan", ".")
    assert plan.status == run("verify", ".").status == 1
    assert "NO PLAN t-0: broker 1 does not come up" in plan.out
    assert "Start broker" not in plan.out
    (down,) = (row for row in recoveries(run, ".") if row["outcome"] != "loads")
    assert (down["brokerId"], down["outcome"]) == (1, "brokerAborts")
    do(commands)
    assert run("plan", ".").out == sound.out


def test_a_partition_on_two_disks_keeps_its_broker_from_every_partition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """LogManager#loadLog: "Duplicate log directories" ends the broker, not the partition."""
    shutil.copytree(STOPPED, tmp_path / "state")
    monkeypatch.chdir(tmp_path / "state")
    shutil.copytree("broker-0/headers-0", "second/headers-0")
    lines = Path("broker-0", META).read_text().splitlines()
    kept = [line for line in lines if not line.startswith("directory.id")]
    Path("second", META).write_text("\n".join([*kept, "directory.id=AAAAAAAAAAAAAAAAAAABAA", ""]))
    assert {each["outcome"] for each in recoveries(run, ".")} == {"brokerAborts"}
    refused = "broker-0/headers-0 and ./second/headers-0: two directories of one partition"
    for selected in ([], ["--topic", "append-time"]):
        plan = " ".join(run("plan", ".", *selected).out.split())
        assert refused in plan
        assert "Start" not in plan
    arguments = [".", "--topic", "append-time", "--verbose"]
    compared = CliRunner().invoke(replica_diff, arguments, standalone_mode=False).stdout
    assert refused in " ".join(compared.split())


META = "meta.properties"


def properties(text: str) -> set[str]:
    return {line for line in text.splitlines() if not line.startswith("#")}


@pytest.mark.parametrize("is_named", [False, True])
def test_a_lost_meta_properties_is_written_again(
    is_named: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """A 4.4.0 broker ends: "No readable meta.properties files found"."""
    shutil.copytree(STOPPED, tmp_path / "state")
    monkeypatch.chdir(tmp_path / "state")
    written = Path("broker-0", META).read_text()
    paths = ["0=broker-0", "controller-100"] if is_named else ["."]
    sound = run("plan", *paths)
    Path("broker-0", META).unlink()
    verified, planned = run("verify", *paths), run("plan", *paths)
    assert "KL-012" not in verified.out + planned.out
    assert " ".join(planned.out.split()).count("does not come up") == 1
    assert "removes nothing" not in planned.out
    assert {row["outcome"] for row in recoveries(run, *paths)} == {"brokerAborts"}
    commands = shell_commands(planned.out)
    assert commands == shell_commands(verified.out)
    do(commands)
    assert properties(Path("broker-0", META).read_text()) == properties(written)
    assert run("plan", *paths) == sound


def test_an_empty_meta_properties_is_found_by_every_command(state: Path, run: Run) -> None:
    """A 4.4.0 broker ends: "node ID not found". The file must be saved before it is overwritten."""
    written = (state / "broker-1" / META).read_text()
    (state / "broker-1" / META).write_text("")
    commands = commands_of_all(run, "KL-312")
    assert run("verify", ".").status == 1
    (down,) = (row for row in recoveries(run, ".") if row["outcome"] != "loads")
    assert (down["brokerId"], down["outcome"]) == (1, "brokerAborts")
    do(commands)
    assert properties((state / "broker-1" / META).read_text()) == properties(written)
    assert (state / "aside" / "broker-1" / META).read_text() == ""
    assert "KL-312" not in run("verify", ".").out


def test_a_label_does_not_make_a_lost_meta_properties_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """KafkaRaftServer#initializeLogDirs, Kafka 4.4: a node of KRaft does not start without it."""
    shutil.copytree(STOPPED / "broker-0", tmp_path / "logs")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs" / META).unlink()
    assert {run("verify", path).status for path in ("logs", "0=logs")} == {1}
    words = " ".join(run("verify", "0=logs").out.split())
    assert "KL-312 HIGH" in words
    assert "left out where no metadata log is left" in words
    assert "KL-312 HIGH" in run("plan", "0=logs").out
    for path in (tmp_path / "logs").iterdir():  # nothing but partition folders was copied
        if path.is_file():
            path.unlink()
    assert "KL-312" not in run("verify", "0=logs").out


def test_a_reserved_directory_id_is_named_by_every_command(state: Path, run: Run) -> None:
    """DirectoryId#reserved: a 4.4.0 broker ends; ids below 100 mean lost, unassigned, migrating."""
    lines = (state / "broker-1" / META).read_text().splitlines()
    kept = [line for line in lines if not line.startswith("directory.id")]
    reserved = "directory.id=AAAAAAAAAAAAAAAAAAAAAQ"
    (state / "broker-1" / META).write_text("\n".join([*kept, reserved, ""]))
    commands_of_all(run, "KL-312")
    assert "AAAAAAAAAAAAAAAAAAAAAQ is reserved" in " ".join(run("verify", ".").out.split())


def test_a_controller_without_meta_properties_is_named(state: Path, run: Run) -> None:
    written = (state / "controller-100" / META).read_text()
    (state / "controller-100" / META).unlink()
    do(commands_of_all(run, "KL-312"))
    found = properties((state / "controller-100" / META).read_text())
    assert found == {each for each in properties(written) if "directory.id" not in each}


def test_the_directory_id_shows_whose_a_directory_with_a_wrong_node_id_is(
    state: Path, run: Run
) -> None:
    """The metadata log has the directory.id that each broker registered (KIP-858)."""
    sound = run("plan", ".")
    written = (state / "broker-1" / META).read_text()
    (state / "broker-1" / META).write_text(written.replace("node.id=1", "node.id=0"))
    verified = run("verify", ".").out
    assert "KL-007" not in verified
    text = " ".join(verified.split())
    assert "according to the metadata log its directory.id is that of broker 1" in text
    (down,) = (row for row in recoveries(run, ".") if row["outcome"] != "loads")
    assert (down["brokerId"], down["logDirectory"]) == (1, "./broker-1")
    do(commands_of_all(run, "KL-312"))
    assert properties((state / "broker-1" / META).read_text()) == properties(written)
    assert run("plan", ".").out == sound.out


def test_a_wrong_node_id_is_noticed_in_a_log_directory_alone(state: Path, run: Run) -> None:
    for other in ("broker-0", "broker-2", "controller-100"):
        shutil.rmtree(state / other)
    sound = [run(command, ".") for command in ("verify", "ls", "plan")]
    written = (state / "broker-1" / META).read_text()
    (state / "broker-1" / META).write_text(written.replace("node.id=1", "node.id=2"))
    assert run("ls", ".").out == sound[1].out  # the broker is 1
    do(commands_of_all(run, "KL-312"))
    assert properties((state / "broker-1" / META).read_text()) == properties(written)
    assert [run(command, ".").out for command in ("verify", "ls", "plan")] == [
        each.out for each in sound
    ]


def test_two_disks_with_one_directory_id_are_named_by_every_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """Source: Kafka 4.4, MetaPropertiesEnsemble#verify. No file shows which id the disk had."""
    shutil.copytree(STOPPED / "broker-0", tmp_path / "disks" / "a")
    (tmp_path / "disks" / "b").mkdir()
    shutil.copy(tmp_path / "disks" / "a" / META, tmp_path / "disks" / "b")
    for name in ("codec-none-0", "codec-lz4-0"):
        shutil.move(tmp_path / "disks" / "a" / name, tmp_path / "disks" / "b")
    monkeypatch.chdir(tmp_path / "disks")
    assert run("plan", ".").out.startswith("DOES NOT COME UP")
    assert commands_of_all(run, "KL-312") == []
    compared = CliRunner().invoke(replica_diff, ["."], standalone_mode=False)
    assert (run("verify", ".").status, compared.return_value) == (1, 1)


def test_two_brokers_that_lost_their_ids_are_not_guessed(state: Path, run: Run) -> None:
    """Both have t-0, so that each may be broker 0 or broker 1."""
    for broker in ("broker-0", "broker-1"):
        (state / broker / META).unlink()
    assert "KL-012" not in run("verify", ".").out
    plan = run("plan", ".")
    assert plan.out.startswith("NO PLAN t-0: the node id of ./broker-0 is unknown")
    assert shell_commands(plan.out) == []


def test_copied_partition_folders_need_no_meta_properties(state: Path, run: Run) -> None:
    """A copy of only the folder t-0 does not show that the broker lost its meta.properties."""
    for entry in (state / "broker-0").iterdir():
        if entry.name != "t-0":
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    rows = recoveries(run, "0=broker-0", "broker-1", "broker-2", "controller-100")
    assert [row["outcome"] for row in rows] == ["loads"] * 3


@pytest.mark.parametrize("name", ["replication", "recovery-point", "log-start", "cleaner"])
def test_a_broken_checkpoint_is_one_finding_of_its_log_directory(
    name: str, state: Path, run: Run
) -> None:
    """It is in the root: a finding neither of the metadata log nor of each partition."""
    broken = state / "broker-0" / f"{name}-offset-checkpoint"
    broken.write_text("0\n5\nt 0\n")
    verified, planned = run("verify", "."), run("plan", ".")
    assert "__cluster_metadata" not in verified.out + planned.out
    assert verified.out.count("KL-301  HIGH") == 1
    assert planned.out.count("KL-301 HIGH broker 0: ./broker-0/") == planned.out.count("KL-301 ")
    compared = CliRunner().invoke(replica_diff, [".", "--topic", "t"], standalone_mode=False)
    assert compared.return_value == 1
    (inspect,) = [line.split() for line in compared.stdout.splitlines() if "inspect" in line] or [
        ["kafkalog", "inspect", str(broken)]
    ]
    assert Path(inspect[2]).samefile(broken)
    do(commands_of_all(run, "KL-301"))
    assert not broken.exists()
    assert {row["outcome"] for row in recoveries(run, ".")} == {"loads"}


LOG = "__cluster_metadata-0/00000000000000000000.log"
PAYLOAD, BASE_OFFSET = 2160, 2000
"""Bytes of the batches at 2,084 and 1,997: a checksum covers only the first byte."""


def flip(path: Path, position: int) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)


def with_voters(state: Path, voters: list[int]) -> None:
    for each in state.glob("*/__cluster_metadata-0/quorum-state"):
        quorum = json.loads(each.read_text())
        quorum["currentVoters"] = [{"voterId": voter} for voter in voters]
        each.write_text(json.dumps(quorum))


@pytest.mark.parametrize("position", [PAYLOAD, BASE_OFFSET])
def test_the_only_controller_gets_the_copy_of_a_broker(
    position: int, state: Path, run: Run
) -> None:
    """A 4.3.1 controller truncated at offset 21, or failed; with a broker's copy it led again."""
    sound = (state / "controller-100" / LOG).read_bytes()
    flip(state / "controller-100" / LOG, position)
    commands = commands_of_all(run, "__cluster_metadata-0")
    assert "ssh HOST_OF_BROKER_0 'tar -C ./broker-0/__cluster_metadata-0 " in commands[-1]
    planned = run("plan", ".").out
    assert "broker 100" in planned
    assert "the metadata log is not sound" in " ".join(planned.split())
    assert "replica-diff" not in planned
    do([command.replace("ssh HOST_OF_BROKER_0 ", "sh -c ") for command in commands])
    assert not (state / "controller-100" / LOG).with_name("quorum-state").exists()
    assert (state / "controller-100" / LOG).read_bytes() == sound
    assert run("verify", ".").status == 0


BORDER: Final = 1997
"""Where a batch of the metadata log begins."""


def test_a_controller_that_lost_the_end_of_its_log_gets_the_copy_of_a_broker(
    state: Path, run: Run
) -> None:
    """A 4.4.0 broker set the replicas of topics aside that such a controller did not know."""
    sound = (state / "controller-100" / LOG).read_bytes()
    (state / "controller-100" / LOG).write_bytes(sound[:BORDER])
    commands = commands_of_all(run, "__cluster_metadata-0")
    assert "ssh HOST_OF_BROKER_0 'tar -C ./broker-0/__cluster_metadata-0 " in commands[-1]
    assert "the metadata log is not sound" in " ".join(run("plan", ".").out.split())
    compared = CliRunner().invoke(replica_diff, ["."], standalone_mode=False)
    assert compared.return_value == run("verify", ".").status == run("plan", ".").status == 1
    assert "KL-525" in compared.stdout
    do([command.replace("ssh HOST_OF_BROKER_0 ", "sh -c ") for command in commands])
    assert not (state / "controller-100" / LOG).with_name("quorum-state").exists()
    assert (state / "controller-100" / LOG).read_bytes() == sound
    assert run("verify", ".").status == 0


def test_a_controller_without_its_log_gets_the_copy_of_a_broker(state: Path, run: Run) -> None:
    """A 4.4.0 controller made an empty log and led; brokers cut theirs and set replicas aside."""
    sound = (state / "controller-100" / LOG).read_bytes()
    shutil.rmtree((state / "controller-100" / LOG).parent)
    commands = commands_of_all(run, "__cluster_metadata-0")
    assert commands[0] == "mkdir -p ./controller-100/__cluster_metadata-0.incoming"
    assert "ssh HOST_OF_BROKER_0 'tar -C ./broker-0/__cluster_metadata-0 " in commands[-1]
    assert "the metadata log is not sound" in " ".join(run("plan", ".").out.split())
    compared = CliRunner().invoke(replica_diff, ["."], standalone_mode=False)
    assert compared.return_value == run("verify", ".").status == run("plan", ".").status == 1
    assert "KL-525" in compared.stdout
    do([command.replace("ssh HOST_OF_BROKER_0 ", "sh -c ") for command in commands])
    assert (state / "controller-100" / LOG).read_bytes() == sound
    assert run("verify", ".").status == 0


def test_a_controller_without_its_log_beside_another_one_is_nothing(state: Path, run: Run) -> None:
    shutil.copytree(state / "controller-100", state / "controller-101")
    properties = state / "controller-101" / "meta.properties"
    properties.write_text(properties.read_text().replace("node.id=100", "node.id=101"))
    with_voters(state, [100, 101])
    shutil.rmtree((state / "controller-100" / LOG).parent)
    assert "KL-525" not in run("verify", ".").out


def test_of_several_controllers_one_behind_is_nothing(state: Path, run: Run) -> None:
    """The quorum elects the one whose log ends last; the other fetches what it lacks."""
    shutil.copytree(state / "controller-100", state / "controller-101")
    properties = state / "controller-101" / "meta.properties"
    properties.write_text(
        re.sub(r"directory\.id=.", "directory.id=C", properties.read_text()).replace(
            "node.id=100", "node.id=101"
        )
    )
    with_voters(state, [100, 101])
    for controller, status in (("controller-101", 0), ("controller-100", 1)):
        path = state / controller / LOG
        path.write_bytes(path.read_bytes()[:BORDER])
        answer = run("verify", ".")
        assert (answer.status, "KL-525  HIGH" in answer.out) == (status, bool(status))
    text = " ".join(answer.out.split())
    assert "the copies of controllers end at offset" in text
    assert "kafkalog quorum says where they diverge" in text
    assert "do not start this broker yet" not in text


@pytest.mark.parametrize(
    ("node", "voters"), [("broker-1", [100]), ("controller-100", [100, 101, 102])]
)
def test_a_node_that_can_fetch_the_metadata_log_again_does(
    node: str, voters: list[int], state: Path, run: Run
) -> None:
    flip(state / node / LOG, PAYLOAD)
    with_voters(state, voters)
    commands = commands_of_all(run, "__cluster_metadata-0")
    assert commands == [
        f"mkdir -p ./aside/{node}",
        f"mv ./{node}/__cluster_metadata-0 ./aside/{node}/__cluster_metadata-0",
    ]
    assert "should lead" not in run("verify", ".").out
    do(commands)
    assert run("verify", ".").status == 0


@pytest.mark.parametrize("voters", [[100, 101], [100, 0, 1]])
def test_a_voter_keeps_its_copy_where_the_others_cannot_elect_a_leader(
    voters: list[int], state: Path, run: Run
) -> None:
    """Two empty logs of three elect each other: 4.3.1 then truncated the third to offset 0."""
    for node in ("controller-100", "broker-0"):
        flip(state / node / LOG, PAYLOAD)
    with_voters(state, voters)
    moved = [each for each in commands_of_all(run, "__cluster_metadata-0") if "aside" in each]
    assert [each for each in moved if "controller-100" in each] == []
    assert any("broker-0" in each for each in moved) is (0 not in voters)
    text = " ".join(run("verify", ".", "--verbose").out.split())
    assert "kafkalog quorum says where they diverge" in text


def test_the_plan_starts_controllers_as_their_quorum_needs_it(state: Path, run: Run) -> None:
    """Elsewhere their order does not matter, and the plan has nothing to do."""
    with_voters(state, [100, 0, 1])
    assert json.loads(run("plan", ".", "--format", "json").out)["nothingToDo"]
    for node in ("controller-100", "broker-0"):
        flip(state / node / LOG, PAYLOAD)
    document = json.loads(run("plan", ".", "--format", "json").out)
    kinds = [each["kind"] for each in document["steps"]]
    assert kinds[:3] == ["orderControllers", "startControllers", "startBrokers"]
    step = document["steps"][0]
    assert [each["command"] for each in step["checks"]] == ["kafkalog quorum ."]
    assert run("quorum", ".").status == 1
    assert "do first what kafkalog quorum says" in " ".join(run("plan", ".").out.split())


def test_a_voter_with_an_empty_log_cannot_elect_a_leader_either(state: Path, run: Run) -> None:
    flip(state / "controller-100" / LOG, PAYLOAD)
    with_voters(state, [100, 0, 1])
    shutil.rmtree(state / "broker-0" / "__cluster_metadata-0")
    assert not [each for each in shell_commands(run("verify", ".").out) if "controller-100" in each]


def test_the_only_copy_of_the_only_controller_is_not_moved(state: Path, run: Run) -> None:
    flip(state / "controller-100" / LOG, PAYLOAD)
    answer = run("verify", "controller-100")
    words = " ".join(answer.out.split())
    assert shell_commands(answer.out) == []
    assert "→ do not start broker 100 yet" in words


def test_no_copy_is_moved_where_none_is_sound(state: Path, run: Run) -> None:
    """No node would remain from which to fetch the metadata log."""
    for log in state.glob(f"*/{LOG}"):
        flip(log, PAYLOAD)
    verified, planned = run("verify", "."), run("plan", ".")
    assert shell_commands(verified.out + planned.out) == []
    assert "→ do not start these brokers yet" in verified.out
    words = " ".join(planned.out.split())
    assert "KL-101 CRITICAL __cluster_metadata-0: broker 0: ./broker-0/" in words
    assert "the checksum of a batch is wrong (3 more, --format json has each)" in words
    assert "correct one flipped bit in the log of node 100" in words


def test_a_marker_that_the_log_contradicts_is_moved_out(state: Path, run: Run) -> None:
    """A clean shutdown flushes: its recovery point is the log end. This broker was killed."""
    marker = state / "broker-0" / ".kafka_cleanshutdown"
    marker.touch()
    compared = CliRunner().invoke(replica_diff, ["."], standalone_mode=False).stdout
    assert "KL-316" in compared
    commands = shell_commands(compared)
    assert sum(marker.name in each for each in commands) == 1
    do(commands)
    assert not marker.exists()
    assert "KL-316" not in run("verify", ".").out
