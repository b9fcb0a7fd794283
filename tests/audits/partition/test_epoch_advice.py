"""The advised leader-epoch-checkpoint is that of the copy whose file misleads followers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.builder import replica
from fixtures.builder.metadata_log import PartitionState
from fixtures.synthetic import SCENARIOS
from fixtures.synthetic.scenario import held, scenario
from kafkalog_reader.audits.catalogue.actions import COMPARE_REPLICAS, WRITE_EPOCHS
from kafkalog_reader.audits.integrity.file_repair import Rewrite
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.partition.epoch_advice import advised_epoch_rows
from kafkalog_reader.audits.partition.partition_unit import partition_units
from kafkalog_reader.audits.tables.findings import findings_of
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.report.advised_actions import actions_of
from kafkalog_reader.tables.request import ReadRequest
from tests.audits.conftest import audit_of

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from tests.audits.conftest import Audited


def test_where_the_leaders_file_was_lost_the_leaders_is_written(tmp_path: Path) -> None:
    """M3 is M1 with the file of broker 0 lost: M1 has the rows, and its follower cuts all."""
    SCENARIOS["m3"].write(tmp_path)
    audit = audit_of(tmp_path)
    found = findings_of(audit)
    assert "epochs `2:0 4:1`" in SCENARIOS["m1"].notation[0]
    rows = {each.name: each_rows.rows for each, each_rows in
            advised_epoch_rows(audit, found, "CH").items()}  # fmt: skip
    assert rows == {"broker 0": ((2, 0), (4, 1))}
    (written,) = (each for each in actions_of(audit, found) if each.code == WRITE_EPOCHS)
    assert written.text.startswith("while broker 0 is stopped")
    assert all("broker-1" not in command for command in written.commands)


def test_no_file_is_written_where_that_leaves_the_copies_different(audited: Audited) -> None:
    """Different records under one leader epoch: no epoch file shows that."""
    logs = ("a@0/e0 b@1/e0 x@2/e1", "a@0/e0 b@1/e0 y@2/e1", "a@0/e0 b@1/e0 z@2/e2")
    lacking = ("0:0", "0:0 1:2", "0:0 2:2")
    audit = audited(*(replica(log, epochs=epochs, high_watermark=2)
                      for log, epochs in zip(logs, lacking, strict=True)))  # fmt: skip
    silent = [each for each in findings_of(audit) if each.code == "KL-517"]
    assert silent
    assert all(WRITE_EPOCHS not in each.actions for each in silent)


def audited_unit(root: Path) -> PartitionAudit:
    """The audit of t-0 with what the metadata log says."""
    units = partition_units(discover([str(root)]), ReadRequest())
    (unit,) = (each for each in units if each.directories[0].topic == "t")
    return audit_partition(unit.directories, topics=unit.topics, membership=unit.membership)


LOG = "a@0/e0 b@1/e0 c@2/e1 d@3/e1"


def test_one_epoch_at_two_places_names_the_file_that_its_batches_contradict(
    audited: Audited,
) -> None:
    """No log starts at 7 that ends at 4: the file is wrong, and not those of the others."""
    sound = replica(LOG, high_watermark=4)
    audit = audited(sound, replica(LOG, epochs="0:7", high_watermark=4), sound)
    (found,) = (each for each in findings_of(audit) if each.code == "KL-515")
    (repair,) = found.repairs
    assert isinstance(repair, Rewrite)
    assert "/broker-1/" in repair.path
    assert repair.lines == ("0", "2", "0 0", "1 2")
    (written,) = (each for each in actions_of(audit, [found]) if each.code == WRITE_EPOCHS)
    assert written.text.startswith("while broker 1 is stopped")


def test_what_was_cleaned_before_a_follower_fetched_it_is_no_second_place(
    audited: Audited,
) -> None:
    """T38, as on Kafka 3.9.1: broker 2 was away, and epoch 1 began at 1 on the others."""
    cleaned = "a@0/e0 d@4/e1 f@6/e2"
    uncleaned = "a@0/e0 b@1/e1 c@2/e1 d@4/e1 f@6/e2"
    leader, other, follower = (
        replica(log, epochs=epochs, high_watermark=7, cleaner_offset=5)
        for log, epochs in (
            (cleaned, "0:0 1:1 2:5"), (uncleaned, "0:0 1:1 2:5"), (cleaned, "0:0 1:4 2:6"),
        )
    )  # fmt: skip
    found = {each.code for each in findings_of(audited(leader, other, follower))}
    assert not found & {"KL-514", "KL-515", "KL-901", "KL-902"}


def test_a_first_entry_that_may_name_a_log_start_is_no_second_place(audited: Audited) -> None:
    sound = replica(LOG, high_watermark=4)
    audit = audited(sound, replica(LOG, epochs="0:1 1:2", high_watermark=4), sound)
    found = {each.code: each for each in findings_of(audit)}
    assert "KL-515" not in found
    assert WRITE_EPOCHS not in {action for each in found.values() for action in each.actions}


def test_the_file_that_makes_a_follower_ask_for_ever_is_the_leaders(tmp_path: Path) -> None:
    """M10 with the metadata log's word: broker 0 lost the row 1:1, the files of others have it."""
    lacking = held("a@0/e0 b@1/e1", "0:0", 1)
    whole = held("a@0/e0 b@1/e1", "0:0 1:1", 1)
    state = PartitionState(replicas=(0, 1), in_sync=(0, 1), leader=0, leader_epoch=1)
    scenario("asked", "", "", lacking, whole, metadata=state).write(tmp_path)
    audit = audited_unit(tmp_path)
    (found,) = (each for each in findings_of(audit) if each.code == "KL-521")
    assert dict(found.evidence)["epochFilesOf"] == "broker 0"
    (repair,) = found.repairs
    assert isinstance(repair, Rewrite)
    assert "/broker-0/" in repair.path
    assert repair.lines == ("0", "2", "0 0", "1 1")


def test_no_file_is_named_where_the_leaders_log_lacks_the_records(tmp_path: Path) -> None:
    """The leader's log lost its end: its batches have no later epoch to write."""
    lacking, whole = held("a@0/e0", "0:0", 1), held("a@0/e0 b@1/e1", "0:0 1:1", 1)
    state = PartitionState(replicas=(0, 1), in_sync=(0, 1), leader=0, leader_epoch=1)
    scenario("short", "", "", lacking, whole, metadata=state).write(tmp_path)
    audit = audited_unit(tmp_path)
    (found,) = (each for each in findings_of(audit) if each.code == "KL-521")
    assert found.actions == (COMPARE_REPLICAS,)
