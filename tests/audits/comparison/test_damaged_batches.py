"""Conclusions come from all damaged batches, even if there are too many to list."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import Batch, Replica, cluster, parse_log, replica
from kafkalog_reader.audits.comparison import damaged_batches, difference
from kafkalog_reader.audits.comparison.compared_replicas import Comparison
from kafkalog_reader.audits.comparison.difference import DifferenceKind
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.log.batch_place import EXAMPLES
from kafkalog_reader.audits.tables.findings import findings_of
from tests.audits.comparison.batches_alone import compared

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from tests.audits.conftest import Audited

COUNT = 2 * EXAMPLES
LOG = parse_log(" ".join(f"{n}-{n}/e0" for n in range(COUNT)))
MANY = range(EXAMPLES + 30)


def copy(wrong: Collection[int], until: int = COUNT) -> Replica:
    """A copy with a wrong checksum in these batches."""
    log = [damaged(batch) if n in wrong else batch for n, batch in enumerate(LOG[:until])]
    return replica(log, epochs="0:0", high_watermark=until)


def damaged(batch: Batch) -> Batch:
    return replace(batch, lies={"crc": 1})


def test_a_batch_after_many_that_no_copy_has_intact_decides(audited: Audited) -> None:
    last = COUNT - 1
    everyone = range(2)
    assert audited(copy(MANY), copy(()), clean=everyone).verdict is Verdict.DAMAGED_RECOVERABLE
    audit = audited(copy([*MANY, last]), copy([last]), clean=everyone)
    assert audit.verdict is Verdict.DAMAGED_UNRECOVERABLE
    assert [candidate.unreplaceable for candidate in audit.candidates] == [1, 1]


@pytest.mark.parametrize(("clean", "unreplaceable"), [((), 0), (range(2), 1)], ids=["cut", "kept"])
def test_the_damaged_end_of_a_leader_counts_unless_its_start_cuts_it(
    clean: Collection[int], unreplaceable: int, audited: Audited
) -> None:
    """Broker 0 has 5 sound batches more, then a damaged one, which is lost with either leader.

    A recovery cuts there. After a clean shutdown the batch stays, and stops consumers.
    """
    audit = audited(copy([25], until=26), copy((), until=20), clean=clean)
    assert [each.unreplaceable for each in audit.candidates] == [unreplaceable, 0]
    lost = {each.candidate.broker_id: each.lost.total for each in audit.elections}
    assert lost == {0: 0, 1: 5}


def test_damaged_batches_are_not_a_loss_however_many(audited: Audited) -> None:
    """Electing broker 1 loses the records that are sound only on broker 0."""
    kept = 20
    wrong = range(kept, COUNT - 5)
    audit = audited(copy(wrong), copy((), until=kept), clean=range(2))
    (lost,) = [each.lost.total for each in audit.elections if each.candidate.broker_id == 1]
    assert lost == 5


def test_the_rest_is_one_finding(audited: Audited) -> None:
    found = [each for each in findings_of(audited(copy(MANY), clean=[0])) if each.code == "KL-101"]
    assert len(found) == EXAMPLES + 1
    (rest,) = [each for each in found if "batches" in dict(each.evidence)]
    assert dict(rest.evidence)["batches"] == str(len(MANY) - EXAMPLES)
    assert rest.severity == "C"
    assert "30 further batches have a wrong CRC" in rest.message
    assert (rest.first_offset, rest.next_offset) == (EXAMPLES, COUNT)


def test_a_cap_on_them_is_reported(audited: Audited, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(damaged_batches, "MAX", EXAMPLES)
    audit = audited(copy(MANY), copy(()), clean=range(2))
    (found,) = [each for each in findings_of(audit) if each.code == "KL-005"]
    assert dict(found.evidence) == {"batches": "30"}
    assert audit.verdict is Verdict.DAMAGED_RECOVERABLE


def test_kinds_decide_after_the_cap_on_differences(
    audited: Audited, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(difference, "MAX", 10)
    conflict = parse_log("x@90/e0")[0]
    other = replica([*LOG[:90], conflict, *LOG[91:]], epochs="0:0", high_watermark=COUNT)
    audit = audited(copy(range(1, 80, 2)), other, clean=range(2))
    assert isinstance(audit.comparison, Comparison)
    assert audit.comparison.differences_left_out == 30
    assert [each.kind for each in audit.comparison.differences] == [
        *[DifferenceKind.DAMAGED] * 10, DifferenceKind.CONFLICT,
    ]  # fmt: skip
    evidence = {each.code: dict(each.evidence) for each in findings_of(audit)}
    assert evidence["KL-005"] == {"ranges": "30"}
    assert "KL-505" in evidence


def test_codecs_that_nobody_knows_are_counted(audited: Audited) -> None:
    log = [replace(batch, lies={"attributes": 6}) for batch in LOG]
    audit = audited(replica(log, epochs="0:0"), clean=[0])
    found = [each for each in findings_of(audit) if each.code == "KL-006"]
    assert len(found) == EXAMPLES + 1
    (rest,) = [each for each in found if "batches" in dict(each.evidence)]
    assert dict(rest.evidence) == {"batches": str(COUNT - EXAMPLES)}


def test_the_cap_counts_what_was_kept_of_earlier_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A window holds a few batches: three quarters of the rows are left out in later ones."""
    monkeypatch.setattr(damaged_batches, "MAX", COUNT // 4)
    cluster(tmp_path, {0: copy(range(COUNT)), 1: copy(())})
    found = compared(tmp_path, 10 * len(LOG[0].build()))
    wrong = found.damaged[found.replicas[0]]
    assert (wrong.count, wrong.left_out) == (COUNT, COUNT - COUNT // 4)
    assert wrong.rows().first_offset.tolist() == [*range(COUNT // 4)]
