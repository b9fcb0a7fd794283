"""Every fault of the catalogue on copies of what real brokers wrote: these codes, no others."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from kafkalog_reader.audits.findings import findings_of
from kafkalog_reader.audits.partition_audit import audit_partition
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.names import OFFSET_CHECKPOINTS
from kafkalog_reader.tables.request import ReadRequest
from tests.faults.faults import FAULTS, Fault

if TYPE_CHECKING:
    from kafkalog_reader.audits.finding import Finding

CAPTURE = Path(__file__).parent.parent.parent / "fixtures" / "captures" / "everything"


class Base(NamedTuple):
    """A replica of three segments of 24 offsets that a real broker wrote."""

    state: str
    topic: str

    @property
    def is_hot(self) -> bool:
        return self.state == "killed"


BASES = [
    Base("stopped", "codec-none"),
    Base("stopped", "codec-zstd"),
    Base("killed", "codec-gzip"),
]


def copied(base: Base, to: Path) -> Path:
    """A log directory with one partition only; its directory."""
    source = CAPTURE / base.state / "broker-0"
    name = f"{base.topic}-0"
    shutil.copytree(source / name, to / name)
    for file in source.iterdir():
        if file.name in OFFSET_CHECKPOINTS:
            rows = [r for r in file.read_text().splitlines() if r.startswith(f"{base.topic} 0 ")]
            (to / file.name).write_text("\n".join(["0", str(len(rows)), *rows, ""]))
        elif file.is_file():
            shutil.copy(file, to / file.name)
    return to / name


def found_in(root: Path) -> list[Finding]:
    """What is found in single copies, information about the state left out."""
    ((_, directories),) = discover([str(root)]).topic_partitions(ReadRequest())
    found = findings_of(audit_partition(directories, check_files=True))
    return [each for each in found if each.code < "KL-5" and each.code != "KL-408"]


@pytest.mark.parametrize("base", BASES, ids=lambda base: f"{base.state}-{base.topic}")
def test_a_sound_copy_has_no_finding(base: Base, tmp_path: Path) -> None:
    copied(base, tmp_path)
    assert found_in(tmp_path) == []


@pytest.mark.parametrize("base", BASES, ids=lambda base: f"{base.state}-{base.topic}")
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_a_fault_has_exactly_its_findings(fault: Fault, base: Base, tmp_path: Path) -> None:
    directory = copied(base, tmp_path)
    fault.change(directory)
    found = found_in(tmp_path)
    headlines = {each.code for each in found if each.caused_by is None}
    assert headlines == fault.expected_of(is_hot=base.is_hot)
    places = {f"{each.code} {each.file} {each.position}" for each in found}
    assert {each.caused_by for each in found} - {None} <= places
