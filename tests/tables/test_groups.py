"""Groups, their members and rebalances equal what the broker answered about them."""

from __future__ import annotations

import json
import struct
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures import captures
from fixtures.builder import cluster, data_batch, replica
from kafkalog_reader.format.record import Record
from kafkalog_reader.tables.group_state import member_state

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

TOPIC = "__consumer_offsets"


def groups_of(state: str) -> dict[str, Any]:
    """What the admin client was told about groups before a state was captured."""
    name, folder = state.split("/")
    path = captures.path(name) / captures.TRUTH / folder / "groups.json"
    return json.loads(path.read_text()) if path.exists() else {}


STATES = [each for each in captures.states() if groups_of(each)]


def rows_of(path: Path, table: str = "groups", **options: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        kafkalog_reader.open(str(path)).table(table, **options).to_arrow().to_pylist()
    )
    return rows


def answers_by(rows: Iterable[dict[str, Any]]) -> dict[str, tuple[str, str, int, int]]:
    return {
        row["groupId"]: (
            row["type"].upper(), row["state"].upper(), row["members"], row["committedPartitions"]
        )
        for row in rows
    }  # fmt: skip


def expected_answers(truth: dict[str, Any]) -> dict[str, tuple[str, str, int, int]]:
    return {
        name: (each["type"], each["state"], len(each["members"]), len(each["offsets"]))
        for name, each in truth.items()
    }


def members_by(rows: Iterable[dict[str, Any]]) -> dict[tuple[str, str], Any]:
    return {
        (row["groupId"], row["memberId"]): (row["clientId"], row["clientHost"], row["assignment"])
        for row in rows
    }


def expected_members(truth: dict[str, Any]) -> dict[tuple[str, str], Any]:
    return {
        (name, each["memberId"]): (
            each["clientId"],
            each["host"],
            [f"{topic}-{number}" for topic, number in each["assignment"]],
        )
        for name, group in truth.items()
        for each in group["members"]
    }


@pytest.mark.parametrize("state", STATES)
def test_groups_are_those_that_the_broker_described(state: str) -> None:
    truth = groups_of(state)
    assert answers_by(rows_of(captures.path(state))) == expected_answers(truth)
    members = rows_of(captures.path(state), "group_members")
    assert members_by(members) == expected_members(truth)
    by_leader = [  # a leader that assigned by range, round robin or stickily
        row["fitsAssignors"] for row in members if row["assignor"] is not None
    ]
    assert all("range" in fitting for fitting in by_leader)  # the scenario's assignor


def test_groups_as_of_the_moment_when_the_broker_was_asked_before() -> None:
    """In ``stopped`` the members have left since; as of the older log end, they are there."""
    running, stopped = captures.path("everything/running"), captures.path("everything/stopped")
    records = kafkalog_reader.open(str(running)).table("records", topic=TOPIC).to_arrow()
    last = max(records["offset"].to_pylist())
    truth = groups_of("everything/running")
    assert expected_members(truth) != expected_members(groups_of("everything/stopped"))
    assert answers_by(rows_of(stopped, as_of=f"offset:{last}")) == expected_answers(truth)
    members = rows_of(stopped, "group_members", as_of=f"offset:{last}")
    assert members_by(members) == expected_members(truth)


def test_rebalances_end_with_the_members_that_the_broker_described() -> None:
    """And groups that were deleted or left by their members are still there."""
    rows = defaultdict(list)
    for row in rows_of(captures.path("everything/stopped"), "group_generations"):
        rows[row["groupId"]].append(row)
    for name, group in groups_of("everything/stopped").items():
        assert rows[name][-1]["members"] == [each["memberId"] for each in group["members"]]
    (was_member,) = groups_of("everything/running")["classic"]["members"]
    joined, left = rows["classic"][-2:]
    assert joined["joined"] == left["left"] == [was_member["memberId"]]
    assert (joined["change"], left["change"]) == ("rebalanced", "empty")
    assert joined["generation"] + 1 == left["generation"]
    assert rows["deleted-classic"][-1]["change"] == "removed"
    assert rows["deleted-consumer"][-1]["change"] == "removed"


def text(content: str) -> bytes:
    return struct.pack(">h", len(content)) + content.encode()


def key(type_: int, *texts: str) -> bytes:
    return struct.pack(">h", type_) + b"".join(text(each) for each in texts)


def compact(content: str | None) -> bytes:
    return b"\0" if content is None else bytes([len(content) + 1]) + content.encode()


def write(root: Path, *records: tuple[bytes | None, bytes | None]) -> None:
    log = [
        data_batch(offset, [Record(offset_delta=0, key=each[0], value=each[1])])
        for offset, each in enumerate(records)
    ]
    cluster(root, {0: [replica(log, topic=TOPIC, high_watermark=len(log))]})


COMMIT = (key(1, "g", "t") + bytes(4), struct.pack(">hqi", 3, 5, 0) + text("") + bytes(8))


def test_a_group_that_only_commits_is_an_empty_classic_one(tmp_path: Path) -> None:
    """OffsetMetadataManager.replay makes a simple group."""
    write(tmp_path, COMMIT)
    (row,) = rows_of(tmp_path)
    assert (row["groupId"], row["type"], row["state"]) == ("g", "classic", "Empty")
    assert (row["committedPartitions"], row["recordOffset"]) == (1, None)
    write(tmp_path, COMMIT, (COMMIT[0], None))
    assert rows_of(tmp_path) == []


MEMBER = bytes(2) + compact(None) * 2 + compact("c") + compact("/h") + b"\x02" + compact("t")
CONSUMER_MEMBER = MEMBER + compact("") + struct.pack(">i", 9) + compact("uniform") + b"\0"
SHARE_MEMBER = (
    bytes(2) + compact("r") + compact("c") + compact("/h") + b"\x02" + compact("t") + b"\0"
)
TOPIC_ID = bytes(15) + b"\x07"
ID_TEXT = "AAAAAAAAAAAAAAAAAAAABw"


def epoch(number: int) -> bytes:
    return struct.pack(">hi", 0, number) + b"\0"


def current(member_epoch: int, state: int) -> bytes:
    partitions = b"\x02" + TOPIC_ID + b"\x02" + struct.pack(">i", 4) + b"\0"
    return struct.pack(">hiib", 0, member_epoch, 0, state) + partitions + b"\x01\0"


@pytest.mark.parametrize(
    ("group_epoch", "target", "member_epoch", "state", "expected"),
    [
        (2, 2, 2, 0, "Stable"),
        (3, 2, 2, 0, "Assigning"),
        (2, 2, 1, 0, "Reconciling"),
        (2, 2, 2, 1, "Reconciling"),
        (2, None, 2, 0, "Assigning"),
    ],
)
def test_states_of_consumer_groups(
    tmp_path: Path, group_epoch: int, target: int | None, member_epoch: int, state: int,
    expected: str,
) -> None:  # fmt: skip
    """ConsumerGroup.maybeUpdateGroupState, ModernGroupMember.isReconciledTo."""
    write(
        tmp_path,
        (key(5, "g", "m"), CONSUMER_MEMBER),
        (key(3, "g"), epoch(group_epoch)),
        (key(6, "g"), None if target is None else epoch(target)),
        (key(8, "g", "m"), current(member_epoch, state)),
    )
    (row,) = rows_of(tmp_path)
    assert (row["state"], row["members"], row["generation"]) == (expected, 1, group_epoch)
    assert (row["protocol"], row["assignmentEpoch"]) == ("uniform", target)
    (member,) = rows_of(tmp_path, "group_members")
    assert member["assignment"] == [f"{ID_TEXT}-4"]  # no topic with this id was supplied
    assert member["memberState"] == ("stable", "unrevoked-partitions")[state]
    assert (member["memberEpoch"], member["rebalanceTimeoutMs"]) == (member_epoch, 9)


@pytest.mark.parametrize(
    ("kind", "number", "state"),
    [
        ("consumer", 0, "stable"),
        ("consumer", 1, "unrevoked-partitions"),
        ("consumer", 2, "unreleased-partitions"),
        ("share", 0, "stable"),
        ("streams", 0, "0"),
        ("streams", 1, "stable"),
        ("streams", 2, "unrevoked-tasks"),
        ("streams", 3, "unreleased-tasks"),
        ("consumer", 127, "127"),
        ("consumer", None, None),
    ],
)
def test_streams_groups_count_states_from_one(
    kind: str, number: int | None, state: str | None
) -> None:
    """Values of modern.MemberState and streams.MemberState in kafka-group-coordinator 4.4.0."""
    assert member_state(kind, number) == state


def test_a_share_group_and_its_members(tmp_path: Path) -> None:
    share_epoch = struct.pack(">hiq", 0, 4, 0) + b"\0"
    write(tmp_path, (key(10, "g", "m"), SHARE_MEMBER), (key(11, "g"), share_epoch))
    (row,) = rows_of(tmp_path)
    assert (row["type"], row["state"], row["generation"]) == ("share", "Stable", 4)
    (member,) = rows_of(tmp_path, "group_members")
    assert (member["clientId"], member["rackId"], member["subscribedTopics"]) == ("c", "r", ["t"])
    (generation,) = rows_of(tmp_path, "group_generations")
    assert (generation["members"], generation["change"]) == (["m"], "rebalanced")


def test_members_of_another_protocol_keep_their_bytes(tmp_path: Path) -> None:
    """And so do bytes that are not the consumer protocol although the group says so."""
    for protocol_type in ("connect", "consumer"):
        member = text("m") + text("c") + text("/h") + struct.pack(">i", 6)
        member += struct.pack(">i", 1) + b"s" + struct.pack(">i", 1) + b"a"
        value = bytes(2) + text(protocol_type) + struct.pack(">i", 1) + text("p") + text("m")
        write(tmp_path, (key(2, "g"), value + struct.pack(">i", 1) + member))
        (row,) = rows_of(tmp_path, "group_members")
        assert (row["subscriptionData"], row["assignmentData"]) == (b"s", b"a")
        assert (row["subscribedTopics"], row["assignment"]) == (None, None)
        assert (row["fitsAssignors"], row["sessionTimeoutMs"]) == (None, 6)


def test_what_no_release_reads_is_kept_raw(tmp_path: Path) -> None:
    """An unknown type, an unknown version, a truncated key and value, an unknown tagged field."""
    tagged = struct.pack(">hi", 0, 7) + b"\x01\x09\x02\xab\xcd"
    stored = [
        (key(99, "g"), b"x"),
        (key(3, "v"), b"\x00\x09rest"),
        (key(5, "g")[:4], b"\0\0"),
        (key(2, "short"), b"\0\0\0"),
        (key(3, "tags"), tagged),
    ]
    write(tmp_path, *stored)
    rows = rows_of(tmp_path)
    by_offset = {row["recordOffset"]: row for row in rows}
    assert sorted(by_offset) == [0, 1, 2, 3, 4]
    for offset in range(4):
        row = by_offset[offset]
        assert (row["key"], row["value"]) == stored[offset]
        assert row["problem"]
    assert (by_offset[0]["recordType"], by_offset[0]["groupId"]) == (99, None)
    assert (by_offset[1]["valueVersion"], by_offset[1]["groupId"]) == (9, "v")
    assert json.loads(by_offset[4]["unknownTags"]) == {"9": "abcd"}
    problems = [row["recordOffset"] for row in rows_of(tmp_path, "group_generations")]
    assert problems == [1, 3, 4]


def test_topics_select_groups_members_and_rebalances(tmp_path: Path) -> None:
    write(tmp_path, COMMIT, (key(5, "h", "m"), CONSUMER_MEMBER), (key(3, "h"), epoch(1)))
    assert [row["groupId"] for row in rows_of(tmp_path, topic="t")] == ["g", "h"]
    for table in ("group_members", "group_generations"):
        assert [row["groupId"] for row in rows_of(tmp_path, table, topic="t")] == ["h"]
    for table in ("groups", "group_members", "group_generations"):
        assert rows_of(tmp_path, table, topic="u") == []
