"""The advised leader-epoch-checkpoint is that of the copy whose file misleads followers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.builder import replica
from fixtures.synthetic import SCENARIOS
from kafkalog_reader.audits.catalogue.actions import WRITE_EPOCHS
from kafkalog_reader.audits.partition.epoch_advice import advised_epoch_rows
from kafkalog_reader.audits.tables.findings import findings_of
from kafkalog_reader.report.action_text import actions_of
from tests.audits.conftest import audit_of

if TYPE_CHECKING:
    from pathlib import Path

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
