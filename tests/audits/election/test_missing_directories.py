"""Log directories that a broker registered and of which nothing was supplied: a lost disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import log_directory
from fixtures.synthetic.lost_disk import Y, lose_disk, two_disks
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import request, table

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.integrity.finding import Finding


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return two_disks(tmp_path / "state")


def found_in(*paths: Path, topic: str | None = None) -> list[Finding]:
    findings = table("findings")
    asked = request(findings, topic=topic)
    units = findings.units(discover([str(path) for path in paths]), asked)
    return [each for unit in units for each, _ in verify(unit, asked).findings]


def of_code(found: list[Finding], code: str) -> list[Finding]:
    return [each for each in found if each.code == code]


def test_a_whole_cluster_lacks_none(state: Path) -> None:
    codes = {each.code for each in found_in(state)}
    assert codes.isdisjoint({"KL-310", "KL-317", "KL-012"})


def test_a_disk_with_a_wrong_cluster_id_is_not_missing(state: Path) -> None:
    """Its directory id and topic ids are random: KL-008 says what is wrong."""
    (disk,) = {meta.parent for meta in state.glob("*/meta.properties") if Y in meta.read_text()}
    meta = disk / "meta.properties"
    lines = meta.read_text().splitlines()
    others = ["cluster.id=b3RoZXJjbHVzdGVyaWRYWA" if x[:10] == "cluster.id" else x for x in lines]
    meta.write_text("\n".join([*others, ""]))
    codes = {each.code for each in found_in(state)}
    assert "KL-008" in codes
    assert codes.isdisjoint({"KL-310", "KL-317", "KL-012"})


def test_a_lost_disk_is_named_with_what_was_there(state: Path) -> None:
    found = found_in(lose_disk(state))
    (missing,) = of_code(found, "KL-317")
    assert missing.severity == "H"
    assert missing.message == (
        f"according to the metadata log 2 partitions are in log directory {Y} of broker 0, which "
        "was not supplied"
    )
    critical, other = of_code(found, "KL-310")
    if critical.directory is None:
        critical, other = other, critical
    assert (critical.severity, other.severity) == ("C", "H")
    assert other.message == (
        "according to the metadata log broker 0 should have a replica, and has no folder of it "
        f"here, but log directory {Y} of broker 0 was not supplied; if that is lost, it will "
        "create an empty one"
    )
    assert critical.message.startswith(
        "according to the metadata log its only replica is on broker 0, and log directory "
        f"{Y} of broker 0 was not supplied"
    )
    assert critical.directory is not None
    assert (critical.directory.topic, critical.directory.partition) == ("t", 0)


def test_a_new_disk_without_files_is_known_by_its_id_alone(state: Path) -> None:
    """It is supplied, and its checkpoints do not show that nothing was committed."""
    log_directory(0, (), directory_id=Y).write(lose_disk(state) / "0y")
    for path in (state / "0y").glob("*checkpoint"):
        path.unlink()
    found = found_in(state)
    assert of_code(found, "KL-317") == []
    assert {each.severity for each in of_code(found, "KL-310")} == {"C", "H"}


def test_a_disk_that_was_formatted_takes_the_place_of_the_lost_one(state: Path) -> None:
    """What kafka-storage.sh 4.3.1 writes has an id that no registration names."""
    log_directory(0, (), directory_id="AAAAAAAAAAEAAAAAAAAAFA").write(lose_disk(state) / "0y")
    found = found_in(state)
    assert of_code(found, "KL-317") == []
    messages = [each.message for each in of_code(found, "KL-310")]
    assert all("has no folder of it: it will create" in each for each in messages)
    assert len(messages) == 2


def test_one_disk_alone_is_not_a_loss(state: Path) -> None:
    found = found_in(state / "0x")
    (missing,) = of_code(found, "KL-317")
    assert missing.severity == "I"
    assert of_code(found, "KL-310") == []
    (elsewhere,) = [each for each in of_code(found, "KL-012") if "no copy of" in each.message]
    assert elsewhere.severity == "I"
    assert "no copy of 2 partitions (t-0 and t-1) was supplied" in elsewhere.message


def test_a_directory_without_an_id_may_be_the_missing_one(state: Path) -> None:
    meta = state / "0y" / "meta.properties"
    lines = meta.read_text().splitlines(keepends=True)
    meta.write_text("".join(each for each in lines if not each.startswith("directory.id")))
    assert of_code(found_in(state), "KL-317") == []
