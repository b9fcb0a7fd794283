"""Where copies of the metadata log part, and whom they name as leader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.quorum.outcome import Verdict
from tests.audits.quorum.controllers import audited, copy_of, write_controllers

if TYPE_CHECKING:
    from pathlib import Path


def test_copies_with_different_records_of_one_epoch_contradict_each_other(tmp_path: Path) -> None:
    every = write_controllers(tmp_path / "all", {1: "1111", 2: "1111", 3: "1111"})
    log = next(every.glob("broker-2/*/*.log"))
    other = next(write_controllers(tmp_path / "other", {2: "1211"}).glob("broker-2/*/*.log"))
    content = other.read_bytes()
    size = len(content) // 4  # four batches of one size
    batch = bytearray(content[size : 2 * size])
    batch[12:16] = (1).to_bytes(4, "big")  # its leader epoch, which no checksum covers
    log.write_bytes(content[:size] + bytes(batch) + content[2 * size :])
    audit = audited(every)
    assert audit.verdict is Verdict.CONTRADICTED
    parting = audit.quorum.parting(copy_of(audit, 1), copy_of(audit, 2))
    assert (parting.offset, parting.is_conflict) == (1, True)


def test_the_leader_that_others_name_stops_when_it_has_forgotten(tmp_path: Path) -> None:
    write_controllers(tmp_path, {1: "11", 2: "", 3: "11"}, leaders={1: (2, 1), 3: (2, 1)})
    audit = audited(tmp_path)
    names = audit.quorum.naming_as_leader(copy_of(audit, 2))
    assert [each.node_id for each in names] == [1, 3]
    assert audit.quorum.naming_as_leader(copy_of(audit, 1)) == ()


def test_a_leader_that_remembers_does_not_stop(tmp_path: Path) -> None:
    leaders = dict.fromkeys((1, 2, 3), (2, 1))
    audit = audited(write_controllers(tmp_path, {1: "11", 2: "11", 3: "11"}, leaders=leaders))
    assert audit.quorum.naming_as_leader(copy_of(audit, 2)) == ()
