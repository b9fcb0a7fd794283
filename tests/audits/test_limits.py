"""KL-005: a limit on work is reported as a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import request, table
from kafkalog_reader.scan import resynchronisation

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.integrity.finding import Finding

LOG = f"{0:020}.log"


def limits_in(root: Path) -> list[Finding]:
    findings = table("findings")
    asked = request(findings)
    units = findings.units(discover([str(root)]), asked)
    found = [each for unit in units for each, _ in verify(unit, asked).findings]
    return [each for each in found if each.code == "KL-005"]


@pytest.mark.parametrize(
    ("position", "value"),
    [
        pytest.param(-3, 0x55, id="a_wrong_checksum_that_may_hide_a_batch"),
        pytest.param(70 + 8, 0x7F, id="a_length_that_leads_astray"),
    ],
)
def test_damage_that_was_not_searched_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, position: int, value: int
) -> None:
    roots = cluster(tmp_path, {0: replica("a@0/e0 b@1/e0 c@2/e0", high_watermark=3)})
    path = roots[0] / "t-0" / LOG
    content = bytearray(path.read_bytes())
    content[position] ^= value
    path.write_bytes(content)
    assert limits_in(tmp_path) == []
    monkeypatch.setattr(resynchronisation, "MAX_SEARCHES", 0)
    (found,) = limits_in(tmp_path)
    assert (found.severity, found.actions, found.file) == ("M", ("A18",), f"t-0/{LOG}")
    assert dict(found.evidence)["places"] == "1"
