"""Links, pipes and hostile names among a partition's files: findings, and never opened."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from fixtures.builder import cluster, replica
from kafkalog_reader.audits.catalogue.actions import ACTIONS, FINISH_COPY, USE_SUBFOLDER
from kafkalog_reader.audits.integrity.file_repair import Decompress, Move
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.verify import verify_command
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import request, table
from tests.agreement.commands import asked

if TYPE_CHECKING:
    from pathlib import Path


def found_in(root: Path) -> list[tuple[str, str | None]]:
    findings = table("findings")
    wanted = request(findings)
    units = findings.units(discover([str(root)]), wanted)
    found = [each for unit in units for each, _ in verify(unit, wanted).findings]
    return [(each.code, each.file) for each in found if each.code in ("KL-002", "KL-003")]


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    (root,) = cluster(tmp_path, {0: replica("a@0/e0", high_watermark=1)}).values()
    return root / "t-0"


def test_files_as_kafka_writes_them_have_no_findings(partition: Path) -> None:
    for name in ("00000000000000000000.log.deleted", "00000000000000000009.snapshot.deleted",
                 "quorum-state", "leader-epoch-checkpoint.tmp", "notes.txt"):  # fmt: skip
        (partition / name).write_bytes(b"")
    assert found_in(partition.parent) == []


def test_a_link_and_a_pipe_are_not_opened(partition: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"\xff" * 100)
    (partition / "00000000000000000007.log").symlink_to(outside)
    os.mkfifo(partition / "00000000000000000009.log")
    assert found_in(partition.parent) == [
        ("KL-002", "t-0/00000000000000000007.log"),
        ("KL-002", "t-0/00000000000000000009.log"),
    ]


@pytest.mark.parametrize("name", ["7.log", "0000000000000000000x.index", "evil\x1b[2J\n.log"])
def test_a_strange_name_is_shown_escaped(partition: Path, name: str) -> None:
    (partition / name).write_bytes(b"")
    ((code, file),) = found_in(partition.parent)
    assert code == "KL-003"
    assert file is not None
    assert file.isprintable()


@pytest.mark.parametrize(
    ("name", "severity", "is_given_back"),
    [
        ("00000000000000000007.log.gz", "H", True),  # compressed by hand, to save space
        ("00000000000000000007.log.part", "H", True),  # half a transfer
        ("00000000000000000000.log.bak", "L", False),  # beside the segment itself
    ],
)
def test_a_file_that_may_be_a_missing_segment_is_high(
    partition: Path, name: str, severity: str, is_given_back: bool
) -> None:
    (partition / name).write_bytes(b"x" * 70)
    findings = table("findings")
    asked = request(findings)
    units = findings.units(discover([str(partition.parent)]), asked)
    found = [each for unit in units for each, _ in verify(unit, asked).findings]
    (strange,) = (each for each in found if each.code == "KL-003")
    assert (strange.severity, strange.file) == (severity, f"t-0/{name}")
    assert ("70 bytes" in strange.message) == (severity == "H")
    log = str(partition / "00000000000000000007.log")
    targets = [e.target for e in strange.repairs if isinstance(e, (Move, Decompress))]
    assert targets == ([log] if is_given_back else [])


@pytest.mark.parametrize(
    ("name", "severity"),
    [
        (".00000000000000000007.log.Xa81jd", "H"),
        (".00000000000000000007.timeindex.000000", "H"),
        (".00000000000000000000.log.Xa81jd", "L"),  # the file itself is there
        (".leader-epoch-checkpoint.Xa81jd", "L"),
        (".notes.txt.Xa81jd", None),  # nothing of Kafka's
    ],
)
def test_a_temporary_name_of_rsync_shows_a_copy_that_is_not_complete(
    partition: Path, name: str, severity: str | None
) -> None:
    """Source: rsync 3.2, receiver.c#get_tmpname: a dot, the name, a dot and six characters."""
    (partition / name).write_bytes(b"x" * 70)
    findings = table("findings")
    wanted = request(findings)
    units = findings.units(discover([str(partition.parent)]), wanted)
    found = [each for unit in units for each, _ in verify(unit, wanted).findings]
    strange = [each for each in found if each.code == "KL-003"]
    assert [each.severity for each in strange] == ([severity] if severity else [])
    for each in strange:
        assert (each.actions, each.repairs) == ((FINISH_COPY,), ())
    words = " ".join(asked(plan_command, str(partition.parent))[1].split())
    assert ("first let rsync finish the copy (KL-003)" in words) == (severity == "H")


@pytest.mark.parametrize("name", ["lost+found", ".snapshot"])
def test_a_folder_of_the_file_system_is_not_to_be_moved(partition: Path, name: str) -> None:
    """A check of the file system makes lost+found again; a filer's .snapshot is read-only."""
    (partition.parent / name).mkdir()
    (partition.parent / "notes").mkdir()
    assert asked(verify_command, str(partition.parent))[0] == 1
    text = " ".join(asked(verify_command, str(partition.parent))[1].split())
    assert ACTIONS[USE_SUBFOLDER].text("broker 0") in text
    assert f"{name} /" not in text
    assert f"mv {partition.parent}/notes " in text.replace("\\ ", "")


def test_the_cache_of_remote_indexes_stops_nothing(partition: Path) -> None:
    (partition.parent / "remote-log-index-cache").mkdir()
    assert found_in(partition.parent) == []


def test_a_controller_loads_no_partitions(tmp_path: Path) -> None:
    root = tmp_path / "controller"
    shutil.copytree(captures.path("s3_2/healed/controller-100"), root)
    (root / "lost+found").mkdir()
    assert found_in(root) == []
