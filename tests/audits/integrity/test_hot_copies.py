"""T01: a log that was copied before its indexes and checkpoints, and ends at any byte."""

from __future__ import annotations

import shutil
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import request, table

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.integrity.finding import Finding

SOURCES = [
    captures.path("everything/killed/broker-0"),
    captures.path("everything/running/broker-0"),
    captures.path("release_0.11.0.3/running/broker-0"),
    captures.path("release_0.10.2.2/running/broker-0"),
]


def cut_everywhere(root: Path, share: float) -> None:
    """Cut the last segment of every partition to a share of its size, as in an earlier copy."""
    for directory in root.iterdir():
        segments = sorted(directory.glob("*.log")) if directory.is_dir() else []
        if segments and not directory.name.startswith("__cluster_metadata"):
            content = segments[-1].read_bytes()
            segments[-1].write_bytes(content[: int(len(content) * share)])


def worse_than_low(root: Path) -> list[Finding]:
    findings = table("findings")
    asked = request(findings, deep=True)
    units = findings.units(discover([str(root)]), asked)
    found = [each for unit in units for each, _ in verify(unit, asked).findings]
    return [each for each in found if each.severity in "CHM"]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.77, 0.999])
@pytest.mark.parametrize("source", SOURCES, ids=lambda p: f"{p.parent.parent.name}-{p.parent.name}")
def test_what_only_the_open_end_shows_is_never_proven(
    source: Path, share: float, tmp_path: Path
) -> None:
    root = tmp_path / "broker-0"
    shutil.copytree(source, root)
    cut_everywhere(root, share)
    worse = worse_than_low(root)
    assert worse, "checkpoints are ahead of the logs"
    proven = Counter((each.code, each.message) for each in worse if each.confidence == "proven")
    assert proven == {}
