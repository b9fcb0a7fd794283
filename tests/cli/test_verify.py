"""``kafkalog verify`` on captures of real brokers, sound and with one bit flipped."""

from __future__ import annotations

import errno
import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fixtures import captures
from fixtures.builder import cluster, replica
from kafkalog_reader.audits.integrity.file_repair import SetOffset
from kafkalog_reader.audits.integrity.finding import Finding
from kafkalog_reader.cli.incident import Incident
from kafkalog_reader.cli.incident_actions import commands_of, first_actions
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import status
from kafkalog_reader.cli.verify import verify_command

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

SEGMENT = "codec-none-0/00000000000000000024.log"


@pytest.fixture
def flipped(tmp_path: Path) -> Path:
    root = tmp_path / "broker-0"
    shutil.copytree(captures.path("everything/stopped/broker-0"), root)
    segment = root / SEGMENT
    content = bytearray(segment.read_bytes())
    content[2000] ^= 4
    segment.write_bytes(content)
    return root


def test_a_command_is_printed_with_its_action_only() -> None:
    """KL-519 stood above the command of a hidden KL-802, as if it were what its action asks."""
    empty = Finding(
        code="KL-519", severity="H", message="its election empties them", actions=("A5",)
    )
    behind = Finding(
        code="KL-802", severity="M", message="below the log start", actions=("A12",),
        repairs=(SetOffset(groups=("g",), topic="t", partition=0, offset=25),),
    )  # fmt: skip
    incident = Incident("t-0", empty, (empty, behind))
    assert commands_of(first_actions([incident]), [incident]) == []
    alone = Incident("t-0", behind, (behind,))
    (command,) = commands_of(first_actions([alone]), [alone])
    assert command.endswith("--to-offset 25 --execute")


@pytest.mark.parametrize("state", ["running", "stopped", "killed"])
def test_what_a_sound_broker_left_is_sound(state: str) -> None:
    path = str(captures.path("everything") / state)
    result = CliRunner().invoke(
        verify_command, [path, "--fail-on", "medium"], standalone_mode=False
    )
    assert result.output.startswith("sound: "), result.output
    assert result.return_value == 0


def test_a_flipped_bit_is_the_first_and_only_headline(flipped: Path) -> None:
    result = CliRunner().invoke(
        verify_command, [str(flipped), "--topic", "codec-none"], standalone_mode=False
    )
    assert result.output.startswith("damaged: 1 critical in 1 partition"), result.output
    assert (
        "KL-101  CRITICAL     the checksum of a batch is wrong\n  codec-none-0 on broker 0"
        in result.output
    )
    assert result.return_value == 1


def test_json_has_one_finding_a_line_with_its_cause(flipped: Path) -> None:
    result = CliRunner().invoke(verify_command, [str(flipped), "--format", "json"])
    rows = [json.loads(line) for line in result.output.splitlines()]
    (cause,) = (row for row in rows if row["code"] == "KL-101")
    (effect,) = (row for row in rows if row["code"] == "KL-413")
    assert (cause["file"], cause["position"]) == (SEGMENT, 1351)
    assert effect["causedBy"] == f"KL-101 {SEGMENT} 1351"


def test_two_threads_find_the_same(flipped: Path) -> None:
    one = CliRunner().invoke(verify_command, [str(flipped), "--format", "json"])
    two = CliRunner().invoke(verify_command, [str(flipped), "--format", "json", "--threads", "2"])
    assert one.output == two.output


@pytest.mark.parametrize("capture", captures.names())
def test_three_threads_find_in_each_capture_what_one_finds(capture: str) -> None:
    arguments = [str(captures.path(capture)), "--format", "json"]
    one = CliRunner().invoke(verify_command, arguments)
    three = CliRunner().invoke(verify_command, [*arguments, "--threads", "3"])
    assert (three.exit_code, three.output) == (one.exit_code, one.output)


def test_the_flipped_bit_is_named(flipped: Path) -> None:
    result = CliRunner().invoke(verify_command, [str(flipped), "--format", "json"])
    rows = [json.loads(line) for line in result.output.splitlines()]
    (found,) = (row for row in rows if row["code"] == "KL-101")
    evidence = {each["name"]: each["value"] for each in found["evidence"]}
    assert (evidence["flippedByte"], evidence["flippedBit"]) == ("2000", "2")
    assert "one flipped bit of the batch explains it: byte 2,000 bit 2" in found["message"]


def test_a_bit_of_the_checksum_itself_is_distinguished(flipped: Path) -> None:
    segment = flipped / SEGMENT
    content = bytearray(segment.read_bytes())
    content[2000] ^= 4  # as it was
    content[1351 + 17] ^= 0x80
    segment.write_bytes(content)
    result = CliRunner().invoke(verify_command, [str(flipped), "--topic", "codec-none"])
    assert "of the CRC field itself" in " ".join(result.output.split())
    assert "byte 1,368 bit 7" in " ".join(result.output.split())


def test_two_flipped_bits_name_none(flipped: Path) -> None:
    segment = flipped / SEGMENT
    content = bytearray(segment.read_bytes())
    content[2001] ^= 16
    segment.write_bytes(content)
    result = CliRunner().invoke(verify_command, [str(flipped), "--topic", "codec-none"])
    assert "KL-101" in result.output
    assert "explains it" not in result.output


def test_a_range_of_time_leaves_out_what_lies_before_it(flipped: Path) -> None:
    def status(*options: str) -> int:
        result = CliRunner().invoke(
            verify_command, [str(flipped), "--topic", "codec-none", *options], standalone_mode=False
        )
        assert isinstance(result.return_value, int), result.output
        return result.return_value

    assert status("--from-time", "2020-01-01") == 1
    assert status("--from-time", "2100-01-01") == 0  # the damaged segment ends before
    assert status("--to-time", "2020-01-01") == 0  # the damaged segment begins later


def test_deep_and_a_rate_are_taken(flipped: Path) -> None:
    result = CliRunner().invoke(
        verify_command,
        [str(flipped), "--topic", "timestamps", "--deep", "--max-rate", "1g", "--verbose"],
        standalone_mode=False,
    )
    assert result.return_value == 0, result.output
    assert "KL-113" in result.output


def test_many_findings_are_counted_by_code(tmp_path: Path) -> None:
    root = tmp_path / "broker-0"
    shutil.copytree(captures.path("everything/stopped/broker-0"), root)
    for index in root.glob("*/*.timeindex"):
        index.unlink()
    result = CliRunner().invoke(verify_command, [str(root)])
    lines = result.output.splitlines()
    count = len(list(root.glob("[!_]*/*.log"))) + len(list(root.glob("__[!c]*/*.log")))
    count += len(list(root.glob("__consumer*/*.log")))
    (head,) = (line for line in lines if line.startswith("KL-201"))
    partitions = {log.parent for log in root.glob("*/*.log") if log.parent.name[:9] != "__cluster"}
    assert head.split()[1] == "LOW"
    assert head.endswith(
        f"an index file is missing: {count} places in {len(partitions)} partitions"
    )
    assert f"  ... {count - 3} more (--verbose)" in lines
    assert len(lines) <= 24  # one screen
    assert max(map(len, lines)) <= 80


def said(*arguments: Path | str) -> tuple[int, str, str]:
    """Exit status, output, and the output with its lines joined."""
    result = CliRunner().invoke(verify_command, list(map(str, arguments)), standalone_mode=False)
    assert isinstance(result.return_value, int), result.exception
    return result.return_value, result.output, " ".join(result.output.split())


@pytest.fixture
def torn(tmp_path: Path) -> Path:
    """The last batch, with six committed records, lacks seven bytes."""
    root = tmp_path / "torn" / "broker-0"
    root.mkdir(parents=True)
    source = captures.path("everything/stopped/broker-0")
    shutil.copytree(source / "codec-none-0", root / "codec-none-0")
    for file in source.iterdir():
        if file.is_file():
            shutil.copy(file, root)
    segment = root / "codec-none-0" / "00000000000000000048.log"
    segment.write_bytes(segment.read_bytes()[:-7])
    return root


def test_the_headline_is_as_bad_as_the_worst_consequence(torn: Path) -> None:
    status, output, text = said(torn, "--topic", "codec-none")
    assert status == 1
    assert output.startswith("damaged: 1 critical in 1 partition"), output
    assert (
        "KL-304 CRITICAL the high watermark is above the log end codec-none-0 on broker 0" in text
    )
    assert "high watermark 72 is above the log end 66" in text
    assert "caused by KL-103 LOW: 00000000000000000048.log position 4,053: torn batch" in text
    assert "with it KL-305 CRITICAL" in text


@pytest.mark.parametrize("fail_on", ["critical", "high", "medium", "low", "information"])
def test_sound_is_never_said_with_status_1(torn: Path, tmp_path: Path, fail_on: str) -> None:
    missing = tmp_path / "missing" / "broker-0"
    shutil.copytree(captures.path("everything/stopped/broker-0"), missing)
    next(missing.glob("codec-none-0/*.timeindex")).unlink()
    for root in (torn, missing, captures.path("everything/stopped/broker-0")):
        status, output, _ = said(root, "--topic", "codec-none", "--fail-on", fail_on)
        assert output.startswith("sound: ") == (status == 0), output
    assert said(torn, "--fail-on", "never")[:1] == (0,)


def test_a_path_is_printed_once(flipped: Path) -> None:
    _, output, _ = said(flipped, "--topic", "codec-none")
    assert output.count("00000000000000000024.log") == 1
    assert str(flipped) not in output


def test_replicas_that_fork_are_not_sound() -> None:
    """By the capture's README, brokers 0 and 1 wrote different records from offset 2 on."""
    status, output, text = said(captures.path("s3_2/both-led"))
    assert status == 1
    assert output.startswith("not sound: "), output
    assert "KL-503 HIGH the replicas have forked t-0 offsets 2–4" in text
    assert "Run replica-diff with the same paths" in text


def test_copies_that_cannot_be_compared_are_said_to_be(tmp_path: Path) -> None:
    """Two topics that had the same name; both copies are sound."""
    roots = [tmp_path / name for name in ("broker-0", "broker-1")]
    for root in roots:
        shutil.copytree(captures.path("s3_2/healed") / root.name, root)
    metadata = roots[1] / "t-0" / "partition.metadata"
    metadata.write_text("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAABA\n")
    status, output, _ = said(*roots, "--topic", "t", "--fail-on", "never")
    assert status == 2
    assert output.startswith("not sound: "), output
    assert "not comparable: t-0: " in output


def test_columns_never_touch(tmp_path: Path) -> None:
    name = "_confluent-telemetry-metrics-of-every-broker-in-every-region-and-of-every-zone"
    root = tmp_path / "broker-0"
    source = captures.path("everything/stopped/broker-0")
    shutil.copytree(source / "codec-none-0", root / f"{name}-0")
    shutil.copy(source / "meta.properties", root)
    segment = root / f"{name}-0" / "00000000000000000024.log"
    content = bytearray(segment.read_bytes())
    content[2000] ^= 4
    segment.write_bytes(content)
    words = said(root)[2].split()
    assert "CRITICAL" in words
    assert f"{name}-0" in words


def test_of_a_partial_copy_the_missing_folders_are_one_line_behind_the_damage(torn: Path) -> None:
    status, output, text = said(torn)
    heads = [line.split()[:2] for line in output.splitlines() if line.startswith("KL-")]
    assert status == 1
    assert heads == [["KL-304", "CRITICAL"], ["KL-310", "LOW"]]
    assert "only part of this log directory was supplied" in text
    (torn / "codec-none-0" / "00000000000000000048.log").write_bytes(
        captures.path("everything/stopped/broker-0/codec-none-0/00000000000000000048.log")
        .read_bytes()
    )  # fmt: skip
    assert said(torn)[0] == 0


@pytest.mark.parametrize("file", [SEGMENT, "meta.properties"])
def test_missing_rights_are_not_damage(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "broker-0"
    shutil.copytree(captures.path("everything/stopped/broker-0"), root)
    refused = str(root / file)
    really_open = os.open

    def without_rights(path: str, *arguments: int, **options: int) -> int:
        if os.fspath(path) == refused:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return really_open(path, *arguments, **options)

    monkeypatch.setattr(os, "open", without_rights)
    status, output, text = said(root, "--topic", "codec-none")
    assert status == 2
    assert output.startswith("not read in full: "), output
    assert "Permission denied" in text
    assert "if permission is denied, run this as the user of the broker" in text
    assert "damaged" not in text
    assert "check disk" not in text
    assert "restore" not in text  # nothing is known to be wrong with the file


def test_a_single_offset_is_not_a_range(tmp_path: Path, run: Run) -> None:
    (root,) = cluster(tmp_path, {1: replica("a@0/e0 b@1/e0 c@2/e0", high_watermark=3)}).values()
    log = root / "t-0" / f"{0:020d}.log"
    content = bytearray(log.read_bytes())
    content[(len(content) // 3) + 16] = 80  # the magic of the second of three equal batches
    log.write_bytes(content)
    words = " ".join(run("verify", root).out.split())
    assert "unknown magic 80" in words
    assert "; offset 1: up to 1 record" in words


@pytest.mark.parametrize("name", ["lost+found", "notes"])
def test_a_folder_that_stops_the_start_is_high(name: str, tmp_path: Path, run: Run) -> None:
    brokers = tmp_path / "healed"
    shutil.copytree(captures.path("s3_2/healed"), brokers)
    assert run("verify", brokers).status == 0
    (brokers / "broker-0" / name).mkdir()
    answer = run("verify", brokers)
    assert answer.status == 1
    words = " ".join(answer.out.split())
    assert f"KL-003 HIGH a name that Kafka does not write broker 0 {name}" in words
    assert "the broker does not start" in words
    assert run("plan", brokers).status == 1  # for the same reason
    assert status(replica_diff, [str(brokers)]) == 1


def test_the_first_line_says_what_was_looked_at(flipped: Path) -> None:
    def first(*options: str) -> str:
        result = CliRunner().invoke(
            verify_command, [str(flipped), "--topic", "codec-lz4", *options]
        )
        return " ".join(result.output.split())

    assert "every CRC checked)" in first()
    assert "every CRC checked, every record decoded)" in first("--deep")
    assert "every CRC checked in that time range)" in first("--to-time", "2020-01-01")


def test_a_time_that_is_none_is_refused_by_name(flipped: Path) -> None:
    result = CliRunner().invoke(
        verify_command, [str(flipped), "--from-time", "yesterday"], standalone_mode=False
    )
    assert "yesterday" in str(result.exception)


def test_a_folder_that_may_not_be_listed_is_not_a_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its segments every row is above the log end, which proves nothing."""
    root = tmp_path / "broker-0"
    shutil.copytree(captures.path("everything/stopped/broker-0"), root)
    refused = str(root / "codec-none-0")
    really_scan = os.scandir

    def without_rights(path: str) -> object:
        if os.fspath(path) == refused:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return really_scan(path)

    monkeypatch.setattr(os, "scandir", without_rights)
    status, output, text = said(root, "--topic", "codec-none")
    assert status == 2
    assert output.startswith("not read in full: "), output
    assert "gone" not in text


def test_a_start_that_cuts_sound_records_is_advised_against(tmp_path: Path, run: Run) -> None:
    root = tmp_path / "disk"
    shutil.copytree(captures.path("everything/stopped/broker-0"), root)
    (root / ".kafka_cleanshutdown").unlink()
    (root / "recovery-point-offset-checkpoint").unlink()  # every segment is recovered
    log = root / "codec-none-0" / "00000000000000000024.log"
    content = bytearray(log.read_bytes())
    content[200] ^= 1
    log.write_bytes(content)
    answer = run("verify", root, "--topic", "codec-none")
    assert answer.status == 1
    assert "so KL-412 CRITICAL" in " ".join(answer.out.split())
    assert "→ do not start broker 0 yet" in answer.out


def test_a_git_lfs_pointer_is_not_read_and_not_called_damaged(run: Run, tmp_path: Path) -> None:
    cluster(tmp_path, {0: replica("a@0/e0", high_watermark=1)})
    log = tmp_path / "broker-0" / "t-0" / f"{0:020}.log"
    log.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 345\n")
    answer = run("verify", tmp_path)
    assert answer.status == 2
    assert answer.out.startswith("not read in full: ")
    assert "git lfs pull" in answer.out
    assert "check disk" not in answer.out


def test_a_strange_folder_is_not_damage(tmp_path: Path, run: Run) -> None:
    root = tmp_path / "brokers"
    shutil.copytree(captures.path("s3_2/healed"), root)
    (root / "broker-0" / "strange").mkdir()
    answer = run("verify", root)
    assert answer.out.startswith("not sound: 1 high in 2 partitions")
    assert answer.status == 1


def test_many_conflicts_of_one_partition_are_a_count_and_not_a_screen(tmp_path: Path) -> None:
    """Seven records differ, each alone: the headline, three more, and how many there are."""
    logs = [" ".join(f"{letters[at % 2]}@{at}/e0" for at in range(14)) for letters in ("ab", "xb")]
    cluster(tmp_path, {node: replica(log, high_watermark=14) for node, log in enumerate(logs)})
    short = CliRunner().invoke(verify_command, [str(tmp_path)], standalone_mode=False).output
    assert short.count("KL-505 CRITICAL") == 3
    assert "and 3 more KL-505, " in short
    full = [str(tmp_path), "--verbose"]
    long = CliRunner().invoke(verify_command, full, standalone_mode=False).output
    assert long.count("KL-505 CRITICAL") == 6


def test_verdicts_with_one_word_are_counted_together(tmp_path: Path) -> None:
    """The epoch file of broker 0 is wrong, once beside an equal copy, once beside a shorter one."""
    log = "a@0/e0 b@1/e1"
    wrong = [
        replica(log, epochs="0:0", high_watermark=1, topic=topic, topic_id=topic * 21 + "A")
        for topic in "tu"
    ]
    right = [
        replica(text, high_watermark=1, topic=topic, topic_id=topic * 21 + "A")
        for topic, text in (("t", log), ("u", "a@0/e0"))
    ]
    cluster(tmp_path, {0: wrong, 1: right})
    out = CliRunner().invoke(replica_diff, [str(tmp_path)], standalone_mode=False).output
    assert out.splitlines()[0] == "2 partitions, 2 brokers: 2 not sound"


def test_each_copy_that_lost_its_end_is_counted_once(tmp_path: Path, run: Run) -> None:
    """Five copies of one broker have the same numbers; t-5 has no copy, and is the worst."""
    log = [replica("0-3/e0 4-7/e0", high_watermark=8, partition=n) for n in range(6)]
    cluster(tmp_path, dict.fromkeys((1, 2), log))
    for n in range(5):
        file = tmp_path / "broker-2" / f"t-{n}" / "00000000000000000000.log"
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    for broker in (1, 2):
        shutil.rmtree(tmp_path / f"broker-{broker}" / "t-5")
    answer = run("verify", tmp_path)
    kinds = [line for line in answer.out.splitlines() if line.startswith("KL-")]
    assert [(line[:6], line.partition(": ")[2]) for line in kinds] == [
        ("KL-310", ""),
        ("KL-304", "5 places in 5 partitions"),
    ]
    assert "\n      so KL-502 HIGH: broker 2 is 4 records behind" in answer.out
    assert "`kafkalog plan` says what to do first" in " ".join(answer.out.split())
    assert "\nRun replica-diff with the same paths" in answer.out
    rows = map(json.loads, run("verify", tmp_path, "--format", "json").out.splitlines())
    assert sorted(row["partition"] for row in rows if row["code"] == "KL-304") == [*range(5)]


def test_partitions_whose_committed_records_no_copy_has_are_counted(
    tmp_path: Path, run: Run
) -> None:
    """A finding of a whole partition names no broker."""
    log = [replica("0-3/e0", high_watermark=8, partition=n) for n in range(4)]
    cluster(tmp_path, dict.fromkeys((1, 2), log))
    out = run("verify", tmp_path).out
    (head,) = (line for line in out.splitlines() if line.startswith("KL-524"))
    assert head.endswith(": 4 places in 4 partitions")
    assert "→ do not start these brokers yet" in out
    assert "`kafkalog plan` says what to do first" in " ".join(out.split())


def test_commands_that_are_left_out_are_counted(tmp_path: Path, run: Run) -> None:
    """A block of commands looks complete; each of these folders keeps the broker from starting."""
    cluster(tmp_path, {0: replica("a@0/e0")})
    for name in ("one", "two", "three", "four"):
        (tmp_path / "broker-0" / name).mkdir()
    commands = [f"mv {tmp_path}/broker-0/{name} " for name in ("four", "one", "three")]
    answer = run("verify", tmp_path)
    text = " ".join(answer.out.replace("\\\n", "").split())
    assert all(each in text for each in commands)
    assert "# and 1 more command (--verbose)" in text
    assert "more command" not in run("verify", tmp_path, "--verbose").out


def test_single_segments_are_not_compared_with_checkpoints_of_the_whole_log(
    tmp_path: Path, run: Run
) -> None:
    """The recovery point and the high watermark are above a segment that others follow."""
    log = "a@0/e0 b@1/e0 c@2/e0"
    whole = replica(log, high_watermark=3, recovery_point=3, segment_bytes=1)
    cluster(tmp_path, {1: whole}, clean=[1])
    folder = tmp_path / "broker-1" / "t-0"
    first, *_ = sorted(folder.glob("*.log"))
    for given in (folder, first):
        answer = run("verify", given)
        assert (answer.status, answer.out.split(":")[0]) == (0, "sound"), answer.out
    assert "ABOVE" not in run("ls", first).out
