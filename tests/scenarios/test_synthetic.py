"""The synthetic acceptance scenarios of section 5: verdict, fork, findings, every election.

``expected/NAME.json`` holds the reference's results for a scenario. Rows of ``elections`` that it
omits come from ``tests/model``, which follows its definitions, independently of the audits.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.synthetic import EXPECTED, SCENARIOS
from kafkalog_reader.audits.election.follow import elected, follow
from kafkalog_reader.audits.election.truncation_rule import TruncationRule
from kafkalog_reader.audits.log.epoch_log import EpochLog
from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.partition.partition_unit import partition_units
from kafkalog_reader.audits.tables.elections import election_rows
from kafkalog_reader.audits.tables.findings import findings_of
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest
from tests.model.elections import elections
from tests.model.notation import loaded, model_of
from tests.model.partition import follow as follow_in_model
from tests.model.partition import follow_to_high_watermark

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.synthetic import Scenario
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

PLANS = {"KL-901", "KL-902"}
"""The possible leaders: the rows of ``elections`` in a sentence."""
NAMES = sorted(SCENARIOS)
COMPACTED = {"m7"}
"""Records that the cleaner removed are not lost; the model has no cleaner."""


def expected_of(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((EXPECTED / f"{name}.json").read_text())
    return content


def audited(scenario: Scenario, root: Path) -> PartitionAudit:
    scenario.write(root)
    evidence = discover([str(root)])
    (unit,) = partition_units(evidence, ReadRequest(topics=frozenset({"t"})))
    return audit_partition(
        unit.directories,
        check_files=True,
        topics=unit.topics,
        membership=unit.membership,
        rule=None if scenario.rule is None else TruncationRule(scenario.rule),
    )


def by_pair(rows: list[dict[str, Any]]) -> dict[tuple[int, int], dict[str, Any]]:
    return {(row["candidateBrokerId"], row["followerBrokerId"]): row for row in rows}


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_has_its_findings(name: str, tmp_path: Path) -> None:
    expected = expected_of(name)
    audit = audited(SCENARIOS[name], tmp_path)
    left_open = PLANS | set(expected.get("leftOpen", []))
    found = {
        (each.code, each.severity, each.directory and each.directory.log_directory.broker_id)
        for each in findings_of(audit)
        if each.code not in left_open and each.code > "KL-1"  # KL-0xx are about the copying
    }
    assert found == {(f["code"], f["severity"], f["brokerId"]) for f in expected["findings"]}


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_has_its_verdict_fork_and_elections(name: str, tmp_path: Path) -> None:
    expected = expected_of(name)
    audit = audited(SCENARIOS[name], tmp_path)
    assert (audit.verdict.value, audit.fork_offset) == (expected["verdict"], expected["forkOffset"])
    rows, wanted = by_pair(election_rows(audit)), by_pair(expected["elections"])
    assert {pair: {column: row[column] for column in wanted.get(pair, row)}
            for pair, row in rows.items()} == wanted  # fmt: skip


@pytest.mark.parametrize("name", sorted(set(NAMES) - COMPACTED))
def test_the_model_derives_the_expected_elections(name: str) -> None:
    scenario, wanted = SCENARIOS[name], by_pair(expected_of(name)["elections"])
    stopped = {node: model_of(each) for node, each in scenario.replicas.items()}
    in_sync = None if scenario.metadata is None else scenario.metadata.in_sync
    rule = follow_to_high_watermark if scenario.rule else follow_in_model
    derived = {
        (costs.candidate, each.follower): {
            "followerLogEndOffset": each.log_end,
            "truncationOffset": each.truncation,
            "rounds": each.rounds,
            "recordsCut": each.records_cut,
            "silentDivergence": each.silent_divergence is not None,
            "lostRecords": costs.lost,
            "lostCommittedRecords": costs.known,
            "lostPossiblyCommittedRecords": costs.possible,
            "lostRecordsCommittedOnlyIfUnclean": costs.only_if_unclean,
            "electionKind": costs.kind,
            "rank": costs.rank,
        }
        for costs in elections(stopped, loaded(stopped, recovers=True), rule, in_sync)
        for each in costs.followers
    }
    assert derived == {
        pair: {column: row[column] for column in derived[pair]} for pair, row in wanted.items()
    }


FOLLOWS = [(name, each) for name in NAMES for each in expected_of(name).get("follows", [])]


@pytest.mark.parametrize(
    ("name", "expected"),
    [pytest.param(*each, id=f"{each[0]}-{number}") for number, each in enumerate(FOLLOWS)],
)
def test_running_brokers_follow_as_the_tables_say(name: str, expected: dict[str, Any]) -> None:
    """The tables of 5.4 describe running brokers: no start in between drops an entry."""
    replicas = SCENARIOS[name].replicas

    def running(node: int) -> EpochLog:
        replica = replicas[node]
        return EpochLog(
            cache=LeaderEpochCache.loaded(replica.epochs),
            log_start_offset=replica.segments[0].base_offset,
            log_end_offset=replica.log_end,
            high_watermark=replica.high_watermark or 0,
        )

    leader = running(expected["leader"])
    if not expected["leaderStays"]:
        leader = elected(leader, 100)
    following = follow(leader, running(expected["follower"]))
    steps = [
        {"asked": each.asked, "answer": each.answer and list(each.answer),
         "truncatedTo": each.truncated_to}
        for each in following.rounds
    ]  # fmt: skip
    assert steps == expected["rounds"]
    assert following.truncation_offset == expected["truncationOffset"]
    assert following.outcome.name.casefold() == expected["outcome"]


def test_every_scenario_has_its_expectations_and_the_other_way_round() -> None:
    assert {path.stem for path in EXPECTED.glob("*.json")} == set(SCENARIOS)


def test_a_scenario_is_a_folder_with_a_description_and_its_expectations(tmp_path: Path) -> None:
    SCENARIOS["s3_2_a"].write_fixture(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "README.md", "broker-0", "broker-1", "broker-2", "expected.json",
    ]  # fmt: skip
    assert "epochs `0:0 2:2`" in (tmp_path / "README.md").read_text()
