"""Partitions of which only folders are left that a broker set aside (``-stray``)."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from kafkalog_reader.audits.partition.partition_unit import cluster_metadata
from kafkalog_reader.audits.partition.set_aside import set_aside_findings
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.integrity.finding import Finding

STRAY = "t-0.0123456789abcdef0123456789abcdef-stray"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Brokers that set their only partition aside, because no metadata log names it."""
    shutil.copytree(captures.path("s3_2/healed"), tmp_path / "state")
    for broker in (tmp_path / "state").glob("broker-*"):
        (broker / "t-0").rename(broker / STRAY)
        shutil.rmtree(broker / "__cluster_metadata-0")
    shutil.rmtree(tmp_path / "state" / "controller-100")
    return tmp_path / "state"


def found_in(state: Path) -> list[Finding]:
    evidence = discover([str(state)])
    return [*set_aside_findings(evidence, ReadRequest(), cluster_metadata(evidence))]


def test_a_cluster_without_any_live_partition_is_not_sound(state: Path) -> None:
    found = found_in(state)
    assert [each.severity for each in found] == ["H", "H", "H"]
    assert all("the broker set t-0 aside" in each.message for each in found)


def test_beside_live_partitions_the_topic_may_have_been_deleted(state: Path) -> None:
    shutil.copytree(state / "broker-1" / STRAY, state / "broker-1" / "other-0")
    assert [each.severity for each in found_in(state)] == ["M", "M", "M"]


def test_a_live_copy_anywhere_has_the_records(state: Path) -> None:
    (state / "broker-2" / STRAY).rename(state / "broker-2" / "t-0")
    assert found_in(state) == []


def test_folders_without_a_record_are_leftovers(state: Path) -> None:
    for log in state.glob(f"*/{STRAY}/*.log"):
        log.write_bytes(b"")
    assert found_in(state) == []
