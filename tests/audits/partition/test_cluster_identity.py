"""One wrong cluster.id: random ids that two clusters share show it."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from kafkalog_reader.audits.catalogue.actions import LEAVE_ONE_OUT, RESTORE_IDENTITY
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import request, table
from kafkalog_reader.report.repair_text import repair_commands

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.integrity.finding import Finding

OTHER = "b3RoZXJjbHVzdGVyaWRYWA"


def found_in(root: Path) -> list[Finding]:
    findings = table("findings")
    asked = request(findings)
    units = findings.units(discover([str(root)]), asked)
    found = [each for unit in units for each, _ in verify(unit, asked).findings]
    return [each for each in found if each.code == "KL-008"]


def with_cluster_id(root: Path, folder: str) -> bytes:
    """Write another cluster id; return what was there."""
    path = root / folder / "meta.properties"
    had = path.read_bytes()
    lines = had.decode().split("\n")
    changed = [f"cluster.id={OTHER}" if x.startswith("cluster.id") else x for x in lines]
    path.write_text("\n".join(changed))
    return had


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three brokers and a controller."""
    return shutil.copytree(captures.path("s3_2/healed"), tmp_path / "all")


@pytest.mark.parametrize("folder", ["broker-2", "controller-100"])
def test_the_command_writes_what_the_broker_had(root: Path, folder: str) -> None:
    had = with_cluster_id(root, folder)
    (found,) = found_in(root)
    assert (found.severity, found.actions) == ("C", (RESTORE_IDENTITY, LEAVE_ONE_OUT))
    subprocess.run(["bash", "-e", "-c", "\n".join(repair_commands(found.repairs))], check=True)
    assert (root / folder / "meta.properties").read_bytes() == had
    assert found_in(root) == []


def test_where_no_id_is_rarer_nobody_knows_which_is_wrong(tmp_path: Path) -> None:
    root = shutil.copytree(captures.path("everything/killed"), tmp_path / "all")
    with_cluster_id(root, "controller-100")
    (found,) = found_in(root)
    assert (found.actions[0], found.repairs) == (RESTORE_IDENTITY, ())
    assert "has its directory.id" in found.message


def test_two_sound_clusters_share_no_random_id(tmp_path: Path) -> None:
    for name in ("s3_2/healed", "everything/killed"):
        shutil.copytree(captures.path(name), tmp_path / name.replace("/", "-"))
    assert found_in(tmp_path) == []


def test_an_odd_file_is_not_written_again(root: Path) -> None:
    with_cluster_id(root, "broker-2")
    path = root / "broker-2" / "meta.properties"
    path.write_bytes(path.read_bytes() + b"# \xff\x1b[0m\n")
    (found,) = found_in(root)
    assert found.repairs == ()
