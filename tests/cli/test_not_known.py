"""What damaged or lost logs hide is named by every command that answers from them."""

from __future__ import annotations

import json
import shutil
import struct
from typing import TYPE_CHECKING, Final

import pytest

import kafkalog_reader
from fixtures import captures
from fixtures.builder import cluster, data_batch, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.cli.not_known import say_not_known
from kafkalog_reader.format.record import Record
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.scan.hidden_records import HiddenRecords
from tests.cli.test_groups import commit, text, write

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.cli.conftest import Run

STOPPED: Final = "everything/stopped"
OFFSETS: Final = "__consumer_offsets"
LOG: Final = "00000000000000000000.log"
ANSWERS: Final = (
    ("__consumer_offsets-2", ("groups",)),
    ("__consumer_offsets-2", ("groups", "--by", "group")),
    ("__transaction_state-2", ("transactions",)),
    ("__transaction_state-2", ("transactions", "--by", "id")),
    ("__cluster_metadata-0", ("timeline", "--topic", "transactions")),
)
TABLES: Final = (
    ("__consumer_offsets-2", "group_offsets"),
    ("__consumer_offsets-2", "group_commits"),
    ("__consumer_offsets-2", "groups"),
    ("__consumer_offsets-2", "group_members"),
    ("__consumer_offsets-2", "group_generations"),
    ("__transaction_state-2", "transactions"),
    ("__cluster_metadata-0", "partition_states"),
    ("__cluster_metadata-0", "brokers"),
    ("__cluster_metadata-0", "topic_configs"),
    ("__cluster_metadata-0", "cluster_metadata"),
    ("codec-none-0", "records"),
)


def batches_of(log: Path) -> list[tuple[int, int, int]]:
    """Position, size and base offset of each batch, by their length fields."""
    content, position, found = log.read_bytes(), 0, []
    while position + 12 <= len(content):
        size = int.from_bytes(content[position + 8 : position + 12]) + 12
        found.append((position, size, int.from_bytes(content[position : position + 8])))
        position += size
    return found


def copied(tmp_path: Path) -> Path:
    """One broker, so that no other copy of the metadata log is read instead."""
    root = tmp_path / "evidence"
    shutil.copytree(captures.path(STOPPED) / "broker-0", root / "broker-0")
    return root


def flipped(root: Path, partition: str) -> tuple[Path, int, int, int]:
    """Flip a bit in the last batch but one; where that is, and its offsets."""
    log = root / "broker-0" / partition / LOG
    *_, (position, size, offset), (_, _, following) = batches_of(log)
    content = bytearray(log.read_bytes())
    content[position + size - 3] ^= 1
    log.write_bytes(content)
    return log, position, offset, following


def offsets(first: int, following: int) -> str:
    return f"offset {first} " if following == first + 1 else f"offsets {first} to {following - 1} "


@pytest.mark.parametrize(("partition", "arguments"), ANSWERS)
def test_a_command_names_file_position_and_offsets(
    partition: str, arguments: Sequence[str], tmp_path: Path, run: Run
) -> None:
    root = copied(tmp_path)
    command, *options = arguments
    assert run(command, root, *options).status == 0
    log, position, first, following = flipped(root, partition)
    answer = run(command, root, *options)
    assert answer.status == 1
    (line,) = (each for each in answer.err.splitlines() if each.startswith("Not known: "))
    assert line.startswith(f"Not known: {offsets(first, following)}of {partition} ")
    assert f"unreadable ({log} at position {position}): " in line
    assert "older" in line


@pytest.mark.parametrize(("partition", "arguments"), ANSWERS)
def test_json_says_it_in_each_object(
    partition: str, arguments: Sequence[str], tmp_path: Path, run: Run
) -> None:
    root = copied(tmp_path)
    command, *options = arguments
    sound = run(command, root, *options, "--format", "json")
    assert all(json.loads(line)["notKnown"] == [] for line in sound.out.splitlines())
    flipped(root, partition)
    answer = run(command, root, *options, "--format", "json")
    said = [json.loads(line)["notKnown"] for line in answer.out.splitlines()]
    assert answer.status == 1
    assert any(f" of {partition} is unreadable" in text for texts in said for text in texts) or (
        command == "transactions" and not options  # the open one is in another partition
    )


@pytest.mark.parametrize(("partition", "table"), TABLES)
def test_a_table_names_them_too(partition: str, table: str, tmp_path: Path, run: Run) -> None:
    root = copied(tmp_path)
    sound = run("table", table, root, "--mode", "permissive", "--format", "json")
    assert (sound.status, sound.err) == (0, "")
    log, position, *_ = flipped(root, partition)
    answer = run("table", table, root, "--mode", "permissive", "--format", "json")
    assert answer.status == 1
    assert f"{log} at position {position}): " in answer.err.partition("Not known: ")[2]


@pytest.mark.parametrize(
    ("partition", "command"),
    [("__consumer_offsets-2", "groups"), ("__transaction_state-2", "transactions")],
)
def test_a_log_below_its_high_watermark_lacks_records(
    partition: str, command: str, tmp_path: Path, run: Run
) -> None:
    """The high watermark of the capture is the log end of each of these."""
    root = copied(tmp_path)
    log = root / "broker-0" / partition / LOG
    *_, (position, _, first), (last, size, _) = batches_of(log)
    end = last + size
    assert end == log.stat().st_size
    log.write_bytes(log.read_bytes()[:position])
    answer = run(command, root)
    assert answer.status == 1
    assert f"Not known: offsets {first} to " in answer.err
    assert f" of {partition} are missing ({log}): " in answer.err


def test_a_metadata_log_without_a_file_is_not_an_empty_one(tmp_path: Path, run: Run) -> None:
    root = copied(tmp_path)
    for file in (root / "broker-0" / "__cluster_metadata-0").glob("0*"):
        file.unlink()
    answer = run("timeline", root, "--topic", "transactions")
    assert answer.status == 1
    assert "Not known: offsets from 0 on of __cluster_metadata-0 are missing" in answer.err


def test_a_report_lists_it(tmp_path: Path, run: Run) -> None:
    root = copied(tmp_path)
    log, position, first, _ = flipped(root, "__consumer_offsets-2")
    page = tmp_path / "report.html"
    run("report", root, "--output", page)
    box = page.read_text().partition('id="unknown"')[2].partition("</section>")[0]
    assert f"offset {first:,} of __consumer_offsets-2 is unreadable" in box
    assert f"{log} at position {position}" in box


def test_dropmalformed_says_nothing_and_ends_with_1(tmp_path: Path, run: Run) -> None:
    root = copied(tmp_path)
    flipped(root, "codec-none-0")
    arguments = ("records", root, "--topic", "codec-none", "--mode", "dropmalformed")
    answer = run(*arguments)
    assert (answer.status, answer.err) == (1, "")


GROUP_KEY: Final = struct.pack(">h", 2) + text("g")
COMMIT_KEY: Final = struct.pack(">h", 1) + text("g") + text("t") + struct.pack(">i", 0)


@pytest.mark.parametrize(
    ("key", "value", "is_hidden"),
    [
        pytest.param(COMMIT_KEY, b"\0\x09zz", True, id="commit_of_an_unknown_version"),
        pytest.param(COMMIT_KEY, b"\0\x03\0", True, id="truncated_commit"),
        pytest.param(b"\0", b"x", True, id="truncated_key"),
        pytest.param(GROUP_KEY, b"\0\x4d", True, id="group_of_an_unknown_version"),
        pytest.param(GROUP_KEY[:4], b"\0\1", True, id="truncated_key_of_a_group"),
        pytest.param(b"\0\x4dabc", b"x", False, id="unknown_type_that_coordinators_pass_over"),
        pytest.param(COMMIT_KEY, None, False, id="tombstone"),
    ],
)
def test_a_record_that_no_coordinator_can_load_is_not_passed_over_in_silence(
    key: bytes, value: bytes | None, is_hidden: bool, tmp_path: Path, run: Run
) -> None:
    """The older commit of the group would look like the current one."""
    record = data_batch(1, [Record(offset_delta=0, key=key, value=value)])
    write(tmp_path, commit(0, 2), record)
    answer = run("groups", tmp_path)
    assert answer.status == is_hidden
    said = "Not known: offset 1 of __consumer_offsets-0 is unreadable ("
    assert (said in answer.err) is is_hidden
    assert "Traceback" not in answer.err


def test_a_state_of_a_transaction_that_cannot_be_read_is_named(tmp_path: Path, run: Run) -> None:
    key = struct.pack(">h", 0) + text("id")
    batch = data_batch(0, [Record(offset_delta=0, key=key, value=b"\0\x4d")])
    cluster(tmp_path, {0: [replica([batch], topic="__transaction_state", high_watermark=1)]})
    answer = run("transactions", tmp_path, "--by", "id")
    assert answer.status == 1
    assert "Not known: offset 0 of __transaction_state-0 is unreadable (" in answer.err


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("find", "--topic", "codec-none", "--regex", "."), 0),
        (("keys", "--topic", "codec-none"), 1),
        (("duplicates", "--topic", "codec-none"), 1),
    ],
)
def test_searches_name_what_they_could_not_read(
    arguments: Sequence[str], status: int, tmp_path: Path, run: Run
) -> None:
    root = copied(tmp_path)
    command, *options = arguments
    assert "Not known" not in run(command, root, *options).err
    log, _, first, following = flipped(root, "codec-none-0")
    answer = run(command, root, *options)
    assert answer.status == status
    assert f"Not known: {offsets(first, following)}of codec-none-0 are unreadable ({log} at " in (
        answer.err
    )


def test_sql_names_what_its_queries_could_not_read(tmp_path: Path, run: Run) -> None:
    pytest.importorskip("duckdb")
    root = copied(tmp_path)
    query = "SELECT count(*) FROM records WHERE topic = 'codec-none'"
    assert run("sql", query, root, "--mode", "permissive").status == 0
    flipped(root, "codec-none-0")
    answer = run("sql", query, root, "--mode", "permissive")
    assert answer.status == 1
    assert answer.err.count("Not known: ") == 1


def test_a_scan_in_python_lists_them(tmp_path: Path) -> None:
    root = copied(tmp_path)
    log, position, first, following = flipped(root, "codec-none-0")
    scan = kafkalog_reader.open(str(root)).records(topic="codec-none", mode="PERMISSIVE")
    assert scan.hidden == []
    scan.to_arrow()
    (hidden,) = scan.hidden
    assert (hidden.file, hidden.position) == (str(log), position)
    assert (hidden.first_offset, hidden.next_offset) == (first, following)
    assert scan.select("offset").hidden == []


def test_without_ranges_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert not say_not_known(HiddenRecords(), Mode.PERMISSIVE)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("in_sync", "status"), [((1,), 1), ((0, 1), 0)])
def test_groups_say_where_no_in_sync_replica_was_supplied(
    in_sync: tuple[int, ...], status: int, tmp_path: Path, run: Run
) -> None:
    """Broker 1, which was not supplied, may have newer commits than broker 0."""
    state = PartitionState(
        topic="__consumer_offsets", replicas=(0, 1), in_sync=in_sync, leader=1, leader_epoch=1
    )
    offsets = replica([commit(0, 2)], topic="__consumer_offsets", high_watermark=1)
    data = replica("1-3/e0", high_watermark=4)
    cluster(tmp_path, {0: [offsets, data], 100: [metadata_log([state])]})
    answer = run("groups", tmp_path)
    sentence = (
        "the in-sync replicas of __consumer_offsets-0 are those of broker 1, which were not "
        "supplied: newer states than those shown may be there"
    )
    assert answer.status == status
    assert (f"Not known: {sentence}" in answer.err) is bool(status)
    (row,) = map(json.loads, run("groups", tmp_path, "--format", "json").out.splitlines())
    assert row["notKnown"] == [sentence] * status


OF_RECORDS: Final = (
    ("records", "{}"),
    ("table", "records", "{}"),
    ("table", "records", "{}", "--broker", "0"),
    ("find", "{}", "--key", "k"),
    ("duplicates", "{}"),
    ("keys", "{}"),
    ("sql", "SELECT count(*) FROM records", "{}"),
)


def outside_the_isr(root: Path, in_sync: tuple[int, ...]) -> Path:
    """Broker 0 has offsets 0 to 3, committed up to 2; broker 1 was not supplied."""
    state = PartitionState(replicas=(0, 1), in_sync=in_sync, leader=1, leader_epoch=1)
    cluster(root, {0: [replica("0-3/e0", high_watermark=2)], 100: [metadata_log([state])]})
    return root


@pytest.mark.parametrize("words", OF_RECORDS, ids=lambda words: " ".join(words))
def test_records_say_where_no_in_sync_replica_was_supplied(
    words: tuple[str, ...], tmp_path: Path, run: Run
) -> None:
    sentence = (
        "Not known: the in-sync replicas of t-0 are those of broker 1, which were not supplied: "
        "newer records than those shown may be there"
    )
    outside = outside_the_isr(tmp_path / "outside", (1,))
    answer = run(*(word.format(outside) for word in words))
    assert sentence in answer.err
    assert answer.status == 1
    for same in (outside_the_isr(tmp_path / "in sync", (0, 1)), outside / "broker-0"):
        answer = run(*(word.format(same) for word in words))
        assert "Not known" not in answer.err  # an in-sync replica, or nobody knows who is one


@pytest.mark.parametrize(
    ("words", "is_noted"),
    [
        (("--to-offset", "2"), False),  # the high watermark: whatever is committed below is here
        (("--to-offset", "3"), True),
        (("--limit", "2"), False),  # all that was requested
        (("--last", "2"), True),
        (("--topic", "u"), False),
    ],
    ids=str,
)
def test_newer_records_do_not_matter_below_what_was_requested(
    words: tuple[str, ...], *, is_noted: bool, tmp_path: Path, run: Run
) -> None:
    root = outside_the_isr(tmp_path, (1,))
    cluster(root, {2: [replica("0-3/e0", topic="u", high_watermark=4)]})
    answer = run("records", root, *words)
    assert ("Not known" in answer.err) is is_noted
    assert answer.status == int(is_noted)


def test_files_are_shown_as_they_are(tmp_path: Path, run: Run) -> None:
    root = outside_the_isr(tmp_path, (1,))
    for table in ("segments", "batches", "replicas", "leader_epochs", "gaps"):
        answer = run("table", table, root)
        assert (answer.status, answer.err) == (0, "")


def test_a_scan_notes_in_sync_replicas_that_were_not_supplied(tmp_path: Path) -> None:
    scan = kafkalog_reader.open(outside_the_isr(tmp_path, (1,))).table("records", topic="t")
    assert scan.hidden == []
    assert scan.count() == 4
    assert [each.in_sync for each in scan.hidden] == [(1,)]


def test_a_partition_of_which_no_copy_was_supplied_may_hold_the_group(
    tmp_path: Path, run: Run
) -> None:
    """The metadata log names it; a group is in the one partition that its hash gives."""
    states = [
        PartitionState(
            replicas=(0,), in_sync=(0,), leader=0, leader_epoch=0, topic=OFFSETS, partition=number
        )
        for number in (0, 1)
    ]
    commits = replica([commit(0, 1)], topic=OFFSETS, high_watermark=1)
    log = replica("1-3/e0", high_watermark=4)
    cluster(tmp_path / "whole", {0: [commits, log, metadata_log(states[:1])]})
    cluster(tmp_path / "less", {0: [commits, log, metadata_log(states)]})
    assert run("groups", tmp_path / "whole").status == 0
    effect = "commits and group states there are not shown"
    sentence = f"no copy of {OFFSETS}-1 was supplied: {effect}"
    for by in ((), ("--by", "group")):
        answer = run("groups", tmp_path / "less", *by)
        assert (answer.status, answer.err) == (1, f"Not known: {sentence}\n")
    (row,) = run("groups", tmp_path / "less", "--format", "json").out.splitlines()
    assert json.loads(row)["notKnown"] == []  # this group is in another partition
    answer = run("groups", tmp_path / "less", "--group", "other")
    assert answer.status == 2
    assert f"no copy of {OFFSETS}-1 was supplied, where it may be" in answer.err


def test_a_checkpoint_names_a_partition_that_is_gone(tmp_path: Path, run: Run) -> None:
    both = [
        replica([commit(0, 1)], topic=OFFSETS, partition=number, high_watermark=1)
        for number in (0, 1)
    ]
    root = cluster(tmp_path, {0: [*both, replica("1-3/e0", high_watermark=4)]})[0]
    assert run("groups", tmp_path).status == 0
    shutil.rmtree(root / f"{OFFSETS}-1")
    answer = run("groups", tmp_path)
    assert answer.status == 1
    assert f"no copy of {OFFSETS}-1 was supplied" in answer.err


@pytest.mark.parametrize("words", OF_RECORDS[:-1], ids=lambda words: " ".join(words))
def test_a_partition_of_a_named_topic_of_which_no_copy_was_supplied_is_named(
    words: tuple[str, ...], tmp_path: Path, run: Run
) -> None:
    """Only where its topic is asked for: without one, the supplied paths are the question."""
    states = [
        PartitionState(replicas=(0,), in_sync=(0,), leader=0, leader_epoch=0, partition=number)
        for number in (0, 1)
    ]
    cluster(tmp_path, {0: [replica("0-3/e0", high_watermark=4), metadata_log(states)]})
    sentence = "no copy of t-1 was supplied: records there are not in this answer"
    given = [word.format(tmp_path) for word in words]
    answer = run(*given, "--topic", "t")
    assert answer.err == f"Not known: {sentence}\n"
    assert answer.status == 1
    assert "Not known" not in run(*given).err
    assert "Not known" not in run(*given, "--topic", "t", "--partition", "0").err
