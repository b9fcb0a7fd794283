"""KL-416: a key has only one record below the cleaner offset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import request, table

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from kafkalog_reader.audits.integrity.finding import Finding


def found_in(
    root: Path, log: str, cleaner_offset: int, clean: Collection[int] = ()
) -> list[Finding]:
    described = replica(log, cleaner_offset=cleaner_offset, high_watermark=9)
    cluster(root, {0: described}, clean=clean)
    findings = table("findings")
    asked = request(findings, deep=True)
    units = findings.units(discover([str(root)]), asked)
    found = [each for unit in units for each, _ in verify(unit, asked).findings]
    return [each for each in found if each.code == "KL-416"]


@pytest.mark.parametrize(
    "log",
    [
        pytest.param("k=a@0/e0 l=b@3/e0 k=c@6/e0", id="the_second_lies_above_the_cleaner_offset"),
        pytest.param("a@0/e0 b@3/e0 k=c@4/e0", id="null_keys_are_not_one_key"),
    ],
)
def test_one_record_a_key_is_sound(tmp_path: Path, log: str) -> None:
    assert found_in(tmp_path, log, 5) == []


def test_two_records_of_one_key_are_reported_with_their_offsets(tmp_path: Path) -> None:
    (found,) = found_in(tmp_path, "k=a@0/e0 l=b@3/e0 k=c@4/e0", 5)
    assert (found.severity, found.first_offset, found.next_offset) == ("L", 0, 5)
    assert dict(found.evidence)["records"] == "1"


@pytest.mark.parametrize(("clean", "confidence"), [((0,), "proven"), ((), "possible")])
def test_only_a_copy_of_a_stopped_broker_proves_two_values(
    clean: Collection[int], confidence: str, tmp_path: Path
) -> None:
    """The cleaner may swap segments after the log and before its checkpoint is copied."""
    (found,) = found_in(tmp_path, "k=a@0/e0 l=b@3/e0 k=c@4/e0", 5, clean)
    assert found.confidence == confidence
