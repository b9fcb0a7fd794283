"""The tables of old releases' groups equal what their brokers answered before they were killed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures import live
from fixtures.scenarios.classic_groups import COMMITS, FILES, GROUPS, OFFSETS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.oracle

MEMBERS = {"Range", "RoundRobin", "Sticky"}
ASSIGNORS = {
    "Range": "range", "RoundRobin": "roundrobin", "Sticky": "sticky",
    "CooperativeSticky": "cooperative-sticky",
}  # fmt: skip


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        pytest.param("2.8.2", MEMBERS | {"CooperativeSticky"}, id="2.8.2: deleted and expired"),
        pytest.param("0.11.0.3", MEMBERS | {"left", "deleted", "expired"}, id="0.11.0.3"),
    ],
)
def test_groups_offsets_and_transactions(release: str, expected: set[str], tmp_path: Path) -> None:
    output = live.run(f"classic_groups_{release}", tmp_path / "output")
    asked = json.loads((output / GROUPS).read_text())
    assert asked.keys() == expected
    log = kafkalog_reader.open(str(output / FILES))

    def rows(table: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = log.table(table).to_arrow().to_pylist()
        return found

    assert {row["groupId"]: (row["state"].upper(), row["members"]) for row in rows("groups")} == {
        name: (group["state"], len(group["members"])) for name, group in asked.items()
    }
    protocols = {row["groupId"]: row["protocol"] for row in rows("groups") if row["members"]}
    assert protocols == {name: ASSIGNORS[name] for name in expected if name in ASSIGNORS}
    assert {
        (row["groupId"], row["memberId"]): (
            row["clientId"], row["clientHost"], sorted(row["assignment"]),
        )
        for row in rows("group_members")
    } == {
        (name, member["memberId"]): (
            member["clientId"], member["host"], [f"{t}-{p}" for t, p in member["assignment"]],
        )
        for name, group in asked.items()
        for member in group["members"]
    }  # fmt: skip
    ends = json.loads((output / OFFSETS).read_text())
    commits = [line.split("\t") for line in (output / COMMITS).read_text().splitlines()]
    assert {
        (row["groupId"], row["topic"], str(row["partition"])): (
            row["committedOffset"], row["metadata"], row["lag"],
        )
        for row in rows("group_offsets")
    } == {
        (group, topic, partition): (int(offset), metadata, ends[partition][1] - int(offset))
        for group, topic, partition, offset, metadata in commits
        if group in expected
    }  # fmt: skip
    assert {
        str(row["partition"]): [row["logStartOffset"], row["logEndOffset"], row["lastStableOffset"]]
        for row in rows("replicas")
        if row["topic"] == "read"
    } == ends
    states = {row["transactionalId"]: row["state"] for row in rows("transactions")}
    assert states == {
        "committed": "CompleteCommit", "aborted": "CompleteAbort", "open": "Ongoing",
    }  # fmt: skip
