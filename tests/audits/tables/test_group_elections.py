"""The table ``group_elections`` says the same as ``replica-diff``, ``verify`` and ``groups``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import kafkalog_reader
from fixtures import captures
from fixtures.elections.group_states import write_states
from fixtures.synthetic.consumer_groups import STATES
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.registry import table
from kafkalog_reader.tables.schemas.audits import GROUP_OUTCOME

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, Any]
OF_GROUP = [column.name for column in GROUP_OUTCOME]


@pytest.fixture(
    scope="module", params=["group_states", *(each.id for each in STATES if each.commits)]
)
def root(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("groups")
    if request.param == "group_states":
        write_states(folder)
    else:
        next(each for each in STATES if each.id == request.param).write(folder)
    return folder


def rows_of(root: Path, name: str, **options: Any) -> list[Row]:
    rows: list[Row] = kafkalog_reader.open(str(root)).table(name, **options).to_arrow().to_pylist()
    return rows


def test_replica_diff_has_the_rows_of_groups_that_lose_their_place(root: Path) -> None:
    result = CliRunner().invoke(
        replica_diff, [str(root), "--format", "json"], standalone_mode=False
    )
    said = [
        (partition["topic"], election["candidateBrokerId"], *(each[name] for name in OF_GROUP))
        for partition in map(json.loads, result.stdout.splitlines())
        for election in partition["elections"]
        for each in election["groups"]
    ]
    expired = {
        (row["groupId"], row["topic"]) for row in rows_of(root, "group_offsets")
        if row["status"] == "below-log-start"
    }  # fmt: skip
    expected = [
        (row["topic"], row["candidateBrokerId"], *(row[name] for name in OF_GROUP))
        for row in rows_of(root, "group_elections")
        if row["outcome"] != "unchanged" and (row["groupId"], row["topic"]) not in expired
    ]
    assert sorted(said, key=repr) == sorted(expected, key=repr)


def test_kl_810_has_the_groups_that_lose_their_place_under_the_first_candidate(
    root: Path,
) -> None:
    held = {
        (row["groupId"], row["topic"]) for row in rows_of(root, "group_offsets")
        if row["status"] == "ok"
    }  # fmt: skip
    expected: dict[str, list[int]] = {}
    for row in rows_of(root, "group_elections"):
        is_hit = row["safeOffset"] < row["committedOffset"]
        if row["rank"] == 1 and is_hit and (row["groupId"], row["topic"]) in held:
            expected.setdefault(row["topic"], []).append(row["safeOffset"])
    found = [row for row in rows_of(root, "findings") if row["code"] == "KL-810"]
    evidence = {
        row["topic"]: {each["name"]: each["value"] for each in row["evidence"]} for row in found
    }
    assert {
        topic: (int(each["groups"]), int(each["safeOffset"])) for topic, each in evidence.items()
    } == {topic: (len(safe), min(safe)) for topic, safe in expected.items()}


def test_partitions_without_a_commit_are_not_read(root: Path) -> None:
    evidence = kafkalog_reader.open(str(root)).evidence
    found = table("group_elections")
    request = kafkalog_reader.registry.request(found)
    topics = {unit.directories[0].topic for unit in found.units(evidence, request)}
    assert topics == {row["topic"] for row in rows_of(root, "group_offsets")}
    assert "__consumer_offsets" not in topics


def test_copies_that_agree_change_nothing_for_any_group() -> None:
    """A real cluster that was stopped in order: every group can go on under every broker."""
    rows = rows_of(captures.path("everything/stopped"), "group_elections")
    known = {row["groupId"] for row in rows}
    assert known
    assert {row["outcome"] for row in rows if row["committedOffset"] >= row["safeOffset"]} == {
        "unchanged"
    }
