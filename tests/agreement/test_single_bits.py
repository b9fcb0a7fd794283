"""One damaged bit in a copy of the healed capture: every command predicts what brokers did.

The segment holds four batches of one record, 69 bytes each: offsets 0 and 1 of leader epoch 0,
offsets 2 and 3 of leader epoch 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.agreement.commands import (
    plan_text,
    recoveries,
    replica_diff_json,
    replica_diff_text,
)
from tests.agreement.faulty_copy import SEED, contradicted
from tests.agreement.single_bit import drawn_bits, flipped

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("bit", [1, 2], ids=["epoch 3", "epoch 5"])
def test_a_copy_whose_followers_never_get_in_sync_ranks_last(tmp_path: Path, bit: int) -> None:
    """Byte 153 is the lowest of the leader epoch of offset 2; no checksum covers it.

    Broker 1 then has epoch 3 (or 5) from offset 2 on, and no entry for epoch 1, under which the
    others hold offsets 2 and 3: as a leader it answers with the end of epoch 0, so they truncate to
    2, fetch both batches, and truncate again. As a follower it requests an epoch that a leader of
    epoch 2 does not know (replica-divergence, 8.5). Brokers of 4.4.0 did both, the latter with
    epoch 2²⁴ + 1 and leader epoch 1,001.
    """
    path = str(flipped(tmp_path / "evidence", (1, 153, bit)))
    said = replica_diff_text(path)
    ranks = [line.split()[:3] for line in said.splitlines() if line.strip()[:1].isdigit()]
    assert [each for each in ranks if each[1:2] == ["broker"]] == [
        ["1", "broker", "0"],
        ["2", "broker", "2"],
        ["3", "broker", "1"],
    ]
    words = " ".join(said.split())
    assert (
        "OUT OF SYNC: with broker 1 leading, brokers 0 and 2 fetch from 2 on and cut it off"
        in words
    )
    assert "→ one of brokers 0 and 2 should lead this partition" in words
    assert "write leader-epoch-checkpoint" not in words  # its batches contradict each other
    planned = " ".join(plan_text(path).split())
    assert "→ while broker 1 is stopped, move the partition directory aside" in words
    assert planned.startswith("Move 1 copy aside while all are stopped, then start brokers 0 and 2")
    assert "with broker 1 leading, brokers 0 and 2 would never get in sync" in planned


def test_a_copy_with_a_wrong_base_offset_is_replaced(tmp_path: Path) -> None:
    """Byte 145 is the lowest of the base offset of offset 2: consumers of broker 1 see offset 10.

    On 4.4.0 no election changed either copy, because a follower fetches only from its log end on.
    """
    path = str(flipped(tmp_path / "evidence", (1, 145, 3)))
    words = " ".join(replica_diff_text(path).split())
    assert "→ one of brokers 0 and 2 should lead this partition" in words
    assert "→ while broker 1 is stopped, move the partition directory aside" in words
    assert "report a software defect" not in words  # it is not a software defect
    planned = " ".join(plan_text(path).split())
    assert "then broker 1, then replace 1 copy by reassignments. Nothing is lost" in planned


def test_records_of_a_damaged_batch_are_counted_as_lost(tmp_path: Path) -> None:
    """Byte 130 is the length of the record in the second batch, at 69; no copy has it intact.

    Recovery cuts at offset 1. It removes one damaged record, by the header, and two sound ones.
    """
    path = str(flipped(tmp_path / "evidence", (0, 130, 2), (1, 130, 2), (2, 130, 2)))
    counts = {(row["recordsCut"], row["maxCutInDamagedBatches"]) for row in recoveries(path)}
    assert counts == {(2, 1)}
    (document,) = replica_diff_json(path)
    assert {
        (each["lostRecords"], each["maxLostInDamagedBatches"]) for each in document["elections"]
    } == {(2, 1)}
    assert "is removed, too: up to 1 record in damaged batches (1 committed)" in " ".join(
        replica_diff_text(path).split()
    )
    planned = " ".join(plan_text(path).split())
    assert "Lost then: 2 committed records, and up to 1 in damaged batches" in planned


def test_an_intact_copy_keeps_what_is_damaged_elsewhere(tmp_path: Path) -> None:
    path = str(flipped(tmp_path / "evidence", (0, 130, 2), (1, 130, 2)))
    (document,) = replica_diff_json(path)
    assert document["elections"][0]["candidate"] == "broker 2"
    assert {each["maxLostInDamagedBatches"] for each in document["elections"]} == {0}
    assert "Nothing is lost" in plan_text(path)


def test_what_a_wrong_base_offset_hides_is_named(tmp_path: Path) -> None:
    """A fetch of offset 2 gets the batch at 10, which is above the log end 4 (4.4.0: end 4)."""
    root = flipped(tmp_path / "evidence", (1, 145, 3))
    outcomes = {row["brokerId"]: row for row in recoveries(str(root))}
    hidden = outcomes[1]
    assert (hidden["outcome"], hidden["logEndOffsetAfterStart"], hidden["recordsCut"]) == (
        "hidden",
        4,
        1,
    )
    assert "not below the log end 4" in hidden["reason"]
    words = " ".join(replica_diff_text(str(root)).split())
    assert "the base offset is wrong on broker 1: consumers cannot fetch this offset" in words
    assert "there, but brokers 0 and 2 have it" in words


def test_each_log_end_has_its_name(tmp_path: Path) -> None:
    """Byte 200 is the length of the record at 138: a start cuts at offset 2; offset 3 is sound."""
    path = str(flipped(tmp_path / "evidence", (1, 200, 2)))
    (row,) = (row for row in recoveries(path) if row["brokerId"] == 1)
    assert (row["soundEndOffset"], row["logEndOffsetAfterStart"]) == (2, 2)
    (document,) = replica_diff_json(path)
    (replica,) = (each for each in document["replicas"] if each["brokerId"] == 1)
    assert (replica["logEndOffset"], replica["start"]["logEndOffsetAfterStart"]) == (4, 2)
    assert "end 4, 2 once started" in replica_diff_text(path)


@pytest.mark.parametrize(("byte", "bit"), drawn_bits(SEED, 12))
def test_commands_agree_on_a_flipped_bit_of_a_header(tmp_path: Path, byte: int, bit: int) -> None:
    """KAFKALOG_SEED chooses the bits. Two of three copies are sound, so nothing need be lost."""
    path = str(flipped(tmp_path / "evidence", (1, byte, bit)))
    assert contradicted(path, tmp_path) == []
    (document,) = replica_diff_json(path)
    ranked = [each["candidate"] for each in document["elections"]]
    assert ranked in (["broker 0", "broker 2"], ["broker 0", "broker 2", "broker 1"])
    assert document["elections"][0]["lostRecords"] == 0
