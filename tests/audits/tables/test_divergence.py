"""The tables ``divergence`` and ``elections``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures import captures
from fixtures.builder import Replica, cluster, replica
from fixtures.builder.log_directory import CLUSTER_ID, log_directory
from kafkalog_reader.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

AB = "a@0/e0 b@1/e0"


def rows_of(path: Path, table: str, **options: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        kafkalog_reader.open(str(path)).table(table, topic="t", **options).to_arrow().to_pylist()
    )
    return rows


def ranges(path: Path) -> list[tuple[int, int, str, list[int]]]:
    return [
        (row["firstOffset"], row["nextOffset"], row["kind"], row["brokers"])
        for row in rows_of(path, "divergence")
    ]


def test_two_leaders_wrote_on_real_brokers() -> None:
    both_led = captures.path("s3_2/both-led")
    assert ranges(both_led) == [
        (0, 2, "equal", [0, 1, 2]),
        (2, 5, "fork", [0]),
        (2, 4, "fork", [1, 2]),
    ]


@pytest.mark.parametrize(
    ("replicas", "expected"),
    [
        pytest.param(
            [replica(f"{AB} c@2/e0"), replica(AB)],
            [(0, 2, "equal", [0, 1]), (2, 3, "ahead", [0])],
            id="lagging",
        ),
        pytest.param(
            [replica(f"{AB} c@2/e0"), replica(AB, epochs="0:0 1:2")],
            [(0, 2, "equal", [0, 1]), (2, 3, "superseded", [0])],
            id="superseded",
        ),
        pytest.param(
            [replica("0-9/e0 10-19/e0"), replica("10-19/e0", base_offset=10)],
            [(0, 10, "expired", [0]), (10, 20, "equal", [0, 1])],
            id="retention",
        ),
        pytest.param(
            [replica("0-9/e0[0,4,9]"), replica("0-9/e0")],
            [(0, 10, "equal", [0, 1]), (0, 10, "cleaned", [0, 1])],
            id="compaction",
        ),
        pytest.param([replica(AB)], [(0, 2, "alone", [0])], id="one_copy"),
    ],
)
def test_a_range_says_who_holds_it(
    tmp_path: Path, replicas: list[Replica], expected: list[tuple[int, int, str, list[int]]]
) -> None:
    cluster(tmp_path, dict(enumerate(replicas)))
    assert ranges(tmp_path) == expected


def test_topics_of_one_name_are_not_compared(tmp_path: Path) -> None:
    ids = ("AAAAAAAAAAEAAAAAAAAABQ", "AAAAAAAAAAEAAAAAAAAABg")
    cluster(tmp_path, {n: replica(AB, topic_id=topic_id) for n, topic_id in enumerate(ids)})
    assert {kind for _, _, kind, _ in ranges(tmp_path)} == {"notCompared"}
    assert rows_of(tmp_path, "elections") == []


def test_a_start_comes_before_the_election(tmp_path: Path) -> None:
    torn = replica(f"{AB} c@2/e0", high_watermark=2)
    log = torn.build(is_clean=False)["00000000000000000000.log"]
    held = replica(f"{AB} c@2/e0", high_watermark=2, files={"00000000000000000000.log": log[:-1]})
    cluster(tmp_path, {0: held, 1: replica(AB, high_watermark=2), 2: replica(AB, high_watermark=2)})
    rows = {
        (row["candidateBrokerId"], row["followerBrokerId"]): row
        for row in rows_of(tmp_path, "elections")
    }
    assert len(rows) == 6
    of_torn = rows[1, 0]
    assert (of_torn["followerStart"], of_torn["followerLogEndOffset"]) == ("cut", 2)
    assert (of_torn["truncationOffset"], of_torn["recordsCut"]) == (2, 0)
    assert {row["lostRecords"] for row in rows.values()} == {0}  # c was torn before


def test_who_does_not_come_up_neither_leads_nor_follows(tmp_path: Path) -> None:
    broken = replica(AB, high_watermark=2, files={"leader-epoch-checkpoint": b"0\n1\n0 x\n"})
    cluster(tmp_path, {0: broken, 1: replica(AB, high_watermark=2)})
    (row,) = rows_of(tmp_path, "elections")
    assert (row["candidateBrokerId"], row["followerBrokerId"]) == (1, 0)
    assert (row["followerStart"], row["followerLogEndOffset"]) == ("brokerAborts", None)


def test_a_candidate_without_followers_has_one_row(tmp_path: Path) -> None:
    cluster(tmp_path, {0: replica(AB, high_watermark=2)})
    (row,) = rows_of(tmp_path, "elections")
    assert (row["rank"], row["followerBrokerId"], row["electionKind"]) == (1, None, "clean")


def test_rules_that_disagree_are_named(tmp_path: Path) -> None:
    # No topic id and no directory id: some release from 0.11 on, nothing shows which.
    without_id: dict[str, bytes | None] = {"partition.metadata": None}
    leader = replica("x@0/e2", epochs="2:0", high_watermark=0, files=without_id)
    follower = replica("y@0/e1", epochs="1:0", high_watermark=1, files=without_id)
    for node, held in enumerate((leader, follower)):
        old = f"version=0\nbroker.id={node}\ncluster.id={CLUSTER_ID}\n".encode()
        directory = log_directory(node, held)
        replace(directory, files={"meta.properties": old}).write(tmp_path / str(node))
    row = next(r for r in rows_of(tmp_path, "elections") if r["candidateBrokerId"] == 0)
    assert (row["rule"], row["truncationOffset"]) == ("current", 0)
    # KIP-101: the answer for an epoch older than all is undefined; the follower uses its watermark.
    assert row["otherRules"] == [{"rule": "one-round", "truncationOffset": 1}]


def test_a_rule_can_be_given(tmp_path: Path) -> None:
    longer = replica("0-4/e0 5-8/e0", epochs="0:0", high_watermark=6)
    cluster(tmp_path, {0: longer, 1: replica("0-4/e0 5-7/e0", epochs="0:0", high_watermark=5)})
    rows = {
        rule: next(
            r for r in rows_of(tmp_path, "elections", rule=rule) if r["candidateBrokerId"] == 1
        )
        for rule in ("current", "high-watermark")
    }
    assert {rule: row["truncationOffset"] for rule, row in rows.items()} == {
        "current": 8,
        "high-watermark": 6,
    }
    with pytest.raises(UsageError, match="one-round"):
        rows_of(tmp_path, "elections", rule="one-rund")
