"""Findings about copies: what a producer snapshot without a segment says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures import captures
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import request, table

if TYPE_CHECKING:
    from kafkalog_reader.audits.integrity.finding import Finding


def traces(capture: str) -> list[Finding]:
    findings = table("findings")
    asked = request(findings, topic="t")
    units = findings.units(discover([str(captures.path(capture))]), asked)
    found = [each for unit in units for each, _ in verify(unit, asked).findings]
    return [each for each in found if each.code == "KL-523"]


def test_a_leader_that_only_started_again_left_no_trace_of_a_truncation() -> None:
    """S5.2: broker 1 crashed with two records, came back, and led epoch 2 from offset 2 on."""
    before = captures.path("s5_2/a-down") / "broker-1" / "t-0" / f"{0:020}.log"
    assert before.stat().st_size == 2 * 69, "it never had an offset above 1 to truncate"
    after = captures.path("s5_2/c-written") / "broker-1" / "t-0"
    assert (after / f"{2:020}.snapshot").exists()
    assert traces("s5_2/c-written") == []


def test_a_follower_that_truncated_left_one() -> None:
    """S3.2: broker 0 had other records from offset 2 on, and cut them."""
    (found,) = traces("s3_2/healed")
    assert (found.confidence, found.first_offset) == ("possible", 2)
