"""Offsets that are missing inside a log: lost, on another copy, or perhaps compacted.

The severities are those of replica-divergence.md, section 3, for KL-111 and KL-403.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from fixtures import captures
from fixtures.builder import Replica, cluster, parse_log, replica
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import request, table

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.integrity.finding import Finding

GAPS = ("KL-111", "KL-403", "KL-404")


def written(log: str, **given: Any) -> Replica:
    """A log of a broker that was shut down cleanly, with every record committed."""
    batches = list(parse_log(log))
    end = batches[-1].next_offset
    return replica(batches, **{"recovery_point": end, "high_watermark": end, **given})


def gaps(*paths: Path, topic: str | None = None) -> list[Finding]:
    findings = table("findings")
    asked = request(findings, topic=topic)
    units = findings.units(discover([str(path) for path in paths]), asked)
    found = [each for unit in units for each, _ in verify(unit, asked).findings]
    return [each for each in found if each.code in GAPS]


def of_replicas(tmp_path: Path, *logs: Replica) -> list[Finding]:
    cluster(tmp_path, dict(enumerate(logs)))
    return gaps(tmp_path)


def test_records_that_no_copy_holds_are_a_high_finding(tmp_path: Path) -> None:
    lacking = written("0-9/e0 20-29/e0")
    found = of_replicas(tmp_path, lacking, lacking, lacking)
    assert [(each.code, each.severity) for each in found] == [("KL-111", "H")] * 3
    assert {(each.records_at_risk, each.committed) for each in found} == {(10, "known")}
    assert all("no supplied copy holds these records" in each.message for each in found)


def test_a_copy_that_ends_before_the_gap_holds_none_of_the_records(tmp_path: Path) -> None:
    found = of_replicas(tmp_path, written("0-9/e0 20-29/e0"), written("0-9/e0"))
    assert [(each.severity, each.records_at_risk) for each in found] == [("H", 10)]


def test_records_that_another_copy_holds_are_not_lost(tmp_path: Path) -> None:
    found = of_replicas(tmp_path, written("0-9/e0 20-29/e0"), written("0-9/e0 10-19/e0 20-29/e0"))
    assert [(each.severity, each.records_at_risk) for each in found] == [("H", None)]


def test_a_copy_that_holds_some_of_them_leaves_the_loss_open(tmp_path: Path) -> None:
    """The other copy has half of the range, which proves that it was written."""
    longer = written("0-9/e0 15-19/e0 20-29/e0")
    found = of_replicas(tmp_path, written("0-9/e0 20-29/e0"), longer)
    lost = [(each.first_offset, each.next_offset) for each in found if each.records_at_risk]
    assert lost == [(10, 15)]


@pytest.mark.parametrize(
    "log",
    [
        pytest.param(written("0-9/e0 20-29/e0", cleaner_offset=10), id="above_the_cleaners_row"),
        pytest.param(written("0-3/e0 6-9/e0 20-29/e0"), id="several_gaps_as_a_new_follower_has"),
    ],
)
def test_what_compaction_may_explain_stays_doubtful(log: Replica, tmp_path: Path) -> None:
    found = of_replicas(tmp_path, log)
    assert [(each.severity, each.records_at_risk) for each in found] == [("M", None)]


@pytest.mark.parametrize(
    ("topic", "severities"), [("codec-none", ["H"]), ("compacted", []), ("tombstones-gone", [])]
)
def test_a_lost_segment_is_high_unless_the_topic_is_compacted(
    topic: str, severities: list[str], tmp_path: Path
) -> None:
    """The capture's codec-none has three segments of 24 records; the others were compacted."""
    root = tmp_path / "stopped"
    shutil.copytree(captures.path("everything/stopped"), root)
    for path in (root / "broker-0" / "codec-none-0").glob(f"{24:020}.*"):
        path.unlink()
    found = gaps(root, topic=topic)
    assert [each.severity for each in found] == severities
    assert [each.records_at_risk for each in found] == [24] * len(severities)
