"""``kafkalog groups`` shows what the broker answered, and its notes say what is wrong."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from fixtures import captures
from fixtures.builder import EPOCH_MILLIS, cluster, data_batch, marker_batch, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.cli.group_list import OF_MEMBER, group_cells, totals_of
from kafkalog_reader.format.batch_fields import TRANSACTIONAL_BIT
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.layout import utc_text
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.builder import Batch
    from tests.cli.conftest import Run

STOPPED = "everything/stopped"
TRUTH = json.loads(
    (captures.path("everything") / captures.TRUTH / "stopped" / "groups.json").read_text()
)


def text(content: str) -> bytes:
    encoded = content.encode()
    return struct.pack(">h", len(encoded)) + encoded


def commit(
    offset: int, committed: int, *, group: str = "g", time: int = 1000, leader_epoch: int = 0
) -> Batch:
    key = struct.pack(">h", 1) + text(group) + text("t") + struct.pack(">i", 0)
    value = struct.pack(">hqi", 3, committed, leader_epoch) + text("") + struct.pack(">q", time)
    return data_batch(offset, [Record(offset_delta=0, key=key, value=value)])


def write(folder: Path, *commits: Batch, log: str | None = "1-3/e0") -> Path:
    logs = [replica(list(commits), topic="__consumer_offsets", high_watermark=len(commits))]
    if log is not None:
        logs.append(replica(log, high_watermark=4))
    cluster(folder, {0: logs})
    return folder


def rows_of(run: Run, *arguments: object) -> list[dict[str, Any]]:
    return [
        json.loads(line) for line in run("groups", *arguments, "--format", "json").out.splitlines()
    ]


def test_rows_are_what_the_broker_answered_about_commits_and_members(run: Run) -> None:
    rows = rows_of(run, captures.path(STOPPED))
    found = {
        (row["groupId"], row["topic"], row["partition"]): (row["committedOffset"], row["memberId"])
        for row in rows
    }
    expected: dict[tuple[str, str, int], tuple[int | None, str | None]] = {}
    for group, answer in TRUTH.items():
        for each in answer["offsets"]:
            expected[group, each["topic"], each["partition"]] = (each["offset"], None)
        for member in answer["members"]:
            for topic, number in member["assignment"]:
                offset, _ = expected.get((group, topic, number), (None, None))
                expected[group, topic, number] = (offset, member["memberId"])
    assert found == expected
    assert {(r["clientHost"], r["clientId"]) for r in rows if r["memberId"]} == {
        (member["host"], member["clientId"])
        for answer in TRUTH.values()
        for member in answer["members"]
    }


def test_totals_are_what_the_broker_answered_about_groups(run: Run) -> None:
    rows = rows_of(run, captures.path(STOPPED), "--by", "group")
    found = {
        row["groupId"]: (row["type"].upper(), row["state"].upper(), row["members"]) for row in rows
    }
    assert found == {
        group: (answer["type"], answer["state"], len(answer["members"]))
        for group, answer in TRUTH.items()
    }


def test_the_members_with_the_most_and_fewest_partitions_are_those_of_the_broker(run: Run) -> None:
    for row in rows_of(run, captures.path(STOPPED), "--by", "group"):
        sizes = [len(member["assignment"]) for member in TRUTH[row["groupId"]]["members"]]
        expected = (max(sizes), min(sizes)) if sizes else (None, None)
        assert (row["mostAssigned"], row["leastAssigned"]) == expected


@pytest.mark.parametrize(
    ("strategy", "topics", "members", "note"),
    [
        ("range", 1, 2, ""),
        ("range", 2, 2, "range gives one member 4 partitions and another 2"),
        ("range", 2, 4, "range gives one member 2 partitions and another 0"),
        ("roundrobin", 2, 2, ""),
    ],
)
def test_the_skew_of_range_is_mentioned(
    strategy: str, topics: int, members: int, note: str
) -> None:
    """Topics of three partitions; the first members get one more of each."""
    group = {
        "clusterId": "c", "groupId": "g", "type": "classic", "state": "Stable", "members": members,
        "protocol": strategy,
    }  # fmt: skip
    rows = [
        {
            "clusterId": "c", "groupId": "g", "topic": f"t{topic}", "partition": number,
            "memberId": f"m{number * members // 3 if members < 3 else number}", "status": "ok",
        }
        for topic in range(topics)
        for number in range(3)
    ]  # fmt: skip
    _, cells = group_cells(totals_of([group], rows))
    assert [each["note"] for each in cells] == [note]


def test_commits_are_the_rows_of_the_table(run: Run) -> None:
    path = captures.path(STOPPED)
    table = run("table", "group_offsets", path, "--format", "json").out.splitlines()
    expected = [json.loads(line) for line in table]
    rows = [row for row in rows_of(run, path) if row["status"] != "no-commit"]
    for row in rows:
        assert row.pop("notKnown") == []
        for name in ("pendingOffset", "removedOffset", "removedTime", *OF_MEMBER):
            del row[name]
    order = ("groupId", "topic", "partition")
    assert rows == sorted(expected, key=lambda row: [row[name] for name in order])


@pytest.mark.parametrize(
    ("committed", "leader_epoch", "status", "note"),
    [
        (0, 0, 1, "below the log start, 1: auto.offset.reset applies"),
        (1, 0, 0, ""),
        (4, 0, 0, ""),
        (5, -1, 1, "above the log end: auto.offset.reset applies"),
        (5, 0, 1, "above the log end: consumers (2.1 and later) go on at 4"),
    ],
)
def test_an_offset_that_is_not_in_the_log_has_a_note_and_ends_with_1(
    tmp_path: Path, run: Run, committed: int, leader_epoch: int, status: int, note: str
) -> None:
    answer = run("groups", write(tmp_path, commit(0, committed, leader_epoch=leader_epoch)))
    assert answer.status == status
    assert note in answer.out
    assert ("NOTE" in answer.out) == bool(note)


def test_without_the_log_the_lag_is_unknown(tmp_path: Path, run: Run) -> None:
    answer = run("groups", write(tmp_path, commit(0, 2), log=None))
    assert answer.status == 0
    assert "no readable log of this partition was supplied" in answer.out
    assert "1 group with 1 partition; the lag of 1 partition is unknown; read from" in answer.out


def test_times_outside_of_the_calendar_are_shown(tmp_path: Path, run: Run) -> None:
    path = write(tmp_path, commit(0, 2, time=2**62))
    assert run("groups", path).status == 0
    assert [row["committedOffset"] for row in rows_of(run, path)] == [2]


def test_as_of_shows_an_earlier_commit(tmp_path: Path, run: Run) -> None:
    path = write(tmp_path, commit(0, 2), commit(1, 4))
    assert [row["lag"] for row in rows_of(run, path)] == [0]
    assert [row["lag"] for row in rows_of(run, path, "--as-of", "offset:0")] == [2]


@pytest.mark.parametrize("has_earlier", [False, True])
def test_an_offset_in_an_open_transaction_is_named(
    tmp_path: Path, run: Run, has_earlier: bool
) -> None:
    """A coordinator adds it to the group at the commit marker, and not before."""
    earlier = [commit(0, 2)] if has_earlier else [data_batch(0, [Record(offset_delta=0, key=None)])]
    in_open = replace(
        commit(1, 3), producer_id=7, producer_epoch=0, flags=TRANSACTIONAL_BIT
    )  # fmt: skip
    path = write(tmp_path, *earlier, in_open)
    (row,) = rows_of(run, path)
    assert (row["committedOffset"], row["pendingOffset"]) == (2 if has_earlier else None, 3)
    assert row["status"] == ("ok" if has_earlier else "pending-commit")
    answer = run("groups", path, "--group", "g")
    assert "offset 3 is in an open transaction" in answer.out
    assert ("nothing committed" in answer.out) != has_earlier
    assert "1 offset in an open transaction" in run("groups", path, "--by", "group").out
    assert (run("groups", path, "--reset-file", tmp_path / "r").status == 0) == has_earlier
    marker = marker_batch(2, control_type=ControlType.ABORT, producer_id=7, producer_epoch=0)
    path = write(tmp_path / "ended", *earlier, in_open, marker)
    assert [row["pendingOffset"] for row in rows_of(run, path)] == [None] * has_earlier


def test_share_groups_are_sent_to_the_table_of_their_offsets(tmp_path: Path, run: Run) -> None:
    """ShareGroupMetadataKey and its value, version 0."""
    key, value = struct.pack(">h", 11) + text("sg"), struct.pack(">hiq", 0, 4, 0) + b"\0"
    share = data_batch(1, [Record(offset_delta=0, key=key, value=value)])
    answer = run("groups", write(tmp_path, commit(0, 2), share))
    assert "Share group sg: kafkalog table share_groups" in answer.out
    assert "Share group" not in run("groups", write(tmp_path / "other", commit(0, 2))).out


def test_a_topic_that_is_nowhere_is_refused(tmp_path: Path, run: Run) -> None:
    path = write(tmp_path, commit(0, 2), log=None)
    assert run("groups", path, "--topic", "t").status == 0
    answer = run("groups", path, "--topic", "tt")
    assert (answer.status, answer.out) == (2, "")
    assert "no topic 'tt' in the given paths" in answer.err
    assert "Did you mean 't'?" in answer.err


def test_only_named_groups_are_shown(tmp_path: Path, run: Run) -> None:
    path = write(tmp_path, commit(0, 2, group="billing"), commit(1, 3, group="audit"))
    assert [r["groupId"] for r in rows_of(run, path, "--group", "audit")] == ["audit"]
    answer = run("groups", path, "--group", "biling")
    assert answer.status == 2
    assert "no group named 'biling'" in answer.err
    assert "Did you mean 'billing'?" in answer.err


REMOVED_AT = EPOCH_MILLIS + 64_610
"""A coordinator expired the offset and its group in one batch, 65 s after the commit."""


def tombstones(offset: int, *, of_commit: bool = True) -> Batch:
    """Of the commit of group g, and of its metadata, as a coordinator writes both."""
    keys = [struct.pack(">h", 2) + text("g")]
    if of_commit:
        keys.insert(0, struct.pack(">h", 1) + text("g") + text("t") + struct.pack(">i", 0))
    records = [Record(offset_delta=delta, key=key, value=None) for delta, key in enumerate(keys)]
    return data_batch(offset, records, base_timestamp=REMOVED_AT)


def test_a_removed_group_is_what_its_tombstones_say(tmp_path: Path, run: Run) -> None:
    state = write(tmp_path / "b", commit(0, 2, time=EPOCH_MILLIS), tombstones(1))
    assert rows_of(run, state) == []  # as a broker lists no such group
    answer = run("groups", state, "--group", "g")
    assert answer.status == 1
    removed = utc_text(REMOVED_AT)
    assert f"removed at {removed}: the last commit was 2" in answer.out
    assert "its offsets expired (offsets.retention.minutes), or a client deleted it" in answer.out
    (row,) = rows_of(run, state, "--group", "g")
    assert (row["status"], row["committedOffset"], row["removedOffset"]) == ("removed", None, 2)
    assert (row["removedTime"], row["commitTime"]) == (removed, utc_text(EPOCH_MILLIS))
    (total,) = rows_of(run, state, "--group", "g", "--by", "group")
    assert (total["state"], total["removedTime"], total["lag"]) == ("Dead", removed, None)
    moment = answer.out.partition("--as-of ")[2].split()[0]
    (before,) = rows_of(run, state, "--group", "g", "--as-of", moment)
    assert (before["status"], before["committedOffset"]) == ("ok", 2)
    refused = run("groups", state, "--group", "g", "--reset-file", tmp_path / "reset.csv")
    assert (refused.status, (tmp_path / "reset.csv").exists()) == (2, False)


def test_a_group_that_cannot_have_expired_was_deleted(tmp_path: Path, run: Run) -> None:
    """offsets.retention.minutes is at least 1."""
    state = write(tmp_path, commit(0, 2, time=REMOVED_AT - 59_999), tombstones(1))
    answer = run("groups", state, "--group", "g")
    assert "it did not expire: a client deleted it, or its topics" in answer.out
    assert "offsets.retention.minutes" not in answer.out


def test_tombstones_stay_when_the_cleaner_took_the_commits(tmp_path: Path, run: Run) -> None:
    state = write(tmp_path / "both", tombstones(7))
    answer = run("groups", state, "--group", "g")
    assert f"removed at {utc_text(REMOVED_AT)}: its commits are gone" in answer.out
    assert "--as-of" not in answer.out
    alone = write(tmp_path / "group", tombstones(7, of_commit=False))
    answer = run("groups", alone, "--group", "g")
    assert f"Group g was removed at {utc_text(REMOVED_AT)}" in answer.out
    assert "1 group with 0 partitions" in answer.out


def test_a_group_that_came_back_is_not_removed(tmp_path: Path, run: Run) -> None:
    state = write(tmp_path, commit(0, 2), tombstones(1), commit(3, 3))
    (row,) = rows_of(run, state, "--group", "g")
    assert (row["committedOffset"], row["removedTime"]) == (3, None)


def test_logs_of_other_groups_are_not_looked_at(tmp_path: Path, run: Run) -> None:
    path = write(tmp_path, commit(0, 2, group="billing"))
    (path / "broker-0" / "log-start-offset-checkpoint").write_bytes(b"damaged")
    assert "log-start-offset-checkpoint" in run("groups", path).err
    in_open = replace(
        commit(0, 2, group="etl"), producer_id=7, producer_epoch=0, flags=TRANSACTIONAL_BIT
    )
    path = write(tmp_path / "both", in_open, commit(1, 3, group="billing"))
    (path / "broker-0" / "log-start-offset-checkpoint").write_bytes(b"damaged")
    (row,) = rows_of(run, path, "--group", "etl")
    assert row["pendingOffset"] == 2
    assert run("groups", path, "--group", "etl").err == ""


def test_inputs_without_the_topic_of_groups_are_an_error(brokers: Path, run: Run) -> None:
    answer = run("groups", brokers)
    assert answer.status == 2
    assert "no partition of __consumer_offsets is in the inputs" in answer.err


def test_a_reset_file_of_several_groups_names_them(tmp_path: Path, run: Run) -> None:
    path = write(tmp_path / "b", commit(0, 2, group='a, "b"'), commit(1, 3, group="c"))
    file = tmp_path / "reset.csv"
    answer = run("groups", path, "--reset-file", file)
    assert file.read_text() == '"a, ""b""",t,0,2\nc,t,0,3\n'
    assert f"2 offsets of 2 groups written to {file}." in answer.err
    assert (
        f"""--group 'a, "b"' --group c --reset-offsets --from-file {file} --dry-run""" in answer.err
    )
    again = run("groups", path, "--reset-file", file, "--group", "c")
    assert (again.status, f"{file} exists: --force overwrites it" in again.err) == (2, True)
    assert run("groups", path, "--reset-file", file, "--group", "c", "--force").status == 0
    assert file.read_text() == "t,0,3\n"


@pytest.mark.parametrize(
    ("committed", "leader_epoch", "written", "why"),
    [
        (999_999, -1, 4, "4 written, not 999,999, which is above the log end"),
        (5, 0, 4, "4 written, not 5, which is above the log end"),
        (0, 0, 1, "1 written, not 0, which is below the log start"),
        (4, 0, 4, ""),
    ],
)
def test_a_reset_file_has_only_offsets_that_the_log_has(
    tmp_path: Path, run: Run, committed: int, leader_epoch: int, written: int, why: str
) -> None:
    """The log has the offsets 1 to 3; ConsumerGroupCommand.checkOffsetsRange allows 1 to 4."""
    path = write(tmp_path / "b", commit(0, committed, leader_epoch=leader_epoch))
    file = tmp_path / "reset.csv"
    answer = run("groups", path, "--reset-file", file)
    assert file.read_text() == f"t,0,{written}\n"
    said = " ".join(answer.err.split())
    assert (f"g, t-0: {why}" in said) if why else ("written, not" not in said)


def test_verify_and_plan_print_the_command_that_sets_the_offset(tmp_path: Path, run: Run) -> None:
    commits = commit(0, 999_999, group="a b", leader_epoch=-1), commit(1, 7, group="c")
    path = write(tmp_path / "b", *commits)
    command = (
        "kafka-consumer-groups.sh --bootstrap-server HOST:9092 --group 'a b' --group c --topic t:0 "
        "--reset-offsets --to-offset 4 --execute"
    )
    for name in ("verify", "plan"):
        said = " ".join(run(name, path).out.replace("\\\n", " ").split())
        assert "before the consumers of the group start, set its committed offset" in said
        assert command in said


@pytest.mark.parametrize(("leader", "is_set"), [(0, True), (1, False)])
def test_no_offset_is_set_by_a_copy_that_may_end_too_early(
    tmp_path: Path, run: Run, leader: int, is_set: bool
) -> None:
    """Where the leader, the only replica in sync, was not supplied, its log may have the offset."""
    led = PartitionState(replicas=(0, 1), in_sync=(leader,), leader=leader, leader_epoch=0)
    commits = replica([commit(0, 9)], topic="__consumer_offsets", high_watermark=1)
    logs = [commits, replica("1-3/e0", high_watermark=4), metadata_log([led])]
    cluster(tmp_path / "b", {0: logs})
    lines = run("verify", tmp_path, "--format", "json").out.splitlines()
    found = map(json.loads, lines)
    (beyond,) = (each for each in found if each["code"] == "KL-801")
    assert beyond["actions"] == (["A12"] if is_set else ["A17", "A12"])
    for name in ("verify", "plan"):
        assert ("--to-offset" in run(name, tmp_path).out) == is_set


def test_a_reset_file_never_changes_the_inputs(tmp_path: Path, run: Run) -> None:
    path = write(tmp_path, commit(0, 2))
    inside = path / "broker-0" / "reset.csv"
    answer = run("groups", path, "--reset-file", inside)
    assert answer.status == 2
    assert f"--reset-file {inside} is inside " in answer.err
    assert not inside.exists()


def test_force_without_a_file_is_an_error(tmp_path: Path, run: Run) -> None:
    answer = run("groups", write(tmp_path, commit(0, 2)), "--force")
    assert answer.status == 2
    assert "--force: it needs --reset-file" in answer.err


def test_a_damaged_record_does_not_hide_the_groups(tmp_path: Path, run: Run) -> None:
    path = write(tmp_path, commit(0, 2, group="billing"), commit(1, 3, group="audit"))
    log = path / "broker-0" / "__consumer_offsets-0" / "00000000000000000000.log"
    content = bytearray(log.read_bytes())
    content[70] ^= 1  # in the first commit
    log.write_bytes(content)
    answer = run("groups", path)
    assert answer.status == 1
    assert "audit" in answer.out
    assert "CRC is wrong" in answer.err
    assert (
        f"Not known: offset 0 of __consumer_offsets-0 is unreadable ({log} at position 0): commits "
        "and group states there are not shown, maybe older ones instead\n"
    ) in answer.err
    assert run("groups", path, "--mode", "FAILFAST").status == 2
