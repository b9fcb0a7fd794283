"""The faults of one replica (6.1) with two more copies: the result depends on intact copies."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

import pytest

from fixtures.faults.catalogue import FAULTS, PLAIN, bases_of
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.tables.elections import election_rows
from kafkalog_reader.audits.tables.findings import findings_of
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.faults.fault import Fault
    from fixtures.faults.sample import Base
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

STOPPED, _, KILLED, *_ = PLAIN
ALONE: Final = {("KL-101", "C"), ("KL-412", "C"), ("KL-111", "M"), ("KL-403", "M")}
"""Section 3, if no intact copy has the records; with an intact copy, all are H."""
NOT_OF_ONE: Final = "KL-5"
FALLING: Final = {"F06", "F07a", "F07b", "F13b", "F17", "F18", "D23a"}
"""Offsets fall: the others show which number is wrong, or the copy is not compared."""
NEWER: Final = {"F09b"}
REPLACED: Final = frozenset({Verdict.CONSISTENT, Verdict.LAGGING, Verdict.DAMAGED_RECOVERABLE})
LIES: Final = {
    "F12", "F13a", "F14a", "F14b", "F14c", "F15", "F16", "F25", "F26", "F27", "F28", "F29", "F31",
    "F37a", "F37b",
}  # fmt: skip
"""A valid checksum over other content: KL-505, which no broker notices."""
STAMPED: Final = {each.id for each in FAULTS if each.id[:3] in {"D02", "D03"}} | {"D04a", "D04b"}
"""Before the fault, the batches get three leader epochs, also in the intact copies."""
THREE_EPOCHS: Final = next(each for each in FAULTS if each.id == "D02z")
OTHER_TOPIC: Final = {"D18"}
OTHER_CLUSTER: Final = {"D19"}
"""Another partition, whose copies are not compared with these."""
BEYOND_EVERY_END: Final = {"D07"}
"""One copy's high watermark is above the ends of all: no copy has the committed records."""
TWICE: Final = {"D20"}
"""Two log directories of one broker hold the partition: it does not start (KL-007)."""
MISNAMED: Final = {"D23c"}
"""Files have to be renamed first (KL-419): before, nothing is compared."""
UNREADABLE: Final = {"Y12"}
"""A file that the start reads is a folder: the broker takes the log directory offline."""
CASES: Final = [
    pytest.param(base, fault, id=f"{fault.id}-{'stopped' if base is STOPPED else 'killed'}")
    for base in (STOPPED, KILLED)
    for fault in FAULTS
    if base in bases_of(fault) and (base is STOPPED or fault.id.startswith("F"))
    if fault.id not in OTHER_CLUSTER
]


def audited(base: Base, fault: Fault, root: Path, *, damaged: int) -> PartitionAudit:
    """Three brokers with the same replica, the fault in the first ones."""
    for node in range(3):
        directory = root / f"broker-{node}"
        directory.mkdir()
        sample = base.copied(directory)
        properties = directory / "meta.properties"
        text = re.sub(r"(node|broker)\.id=\d+", rf"\1.id={node}", properties.read_text())
        properties.write_text(re.sub(r"directory\.id=.", f"directory.id={'ABC'[node]}", text))
        if node < damaged:
            assert sample.segments  # the layout before the damage
            fault.change(sample)
        elif fault.id in STAMPED:
            THREE_EPOCHS.change(sample)
    partitions = discover([str(root)]).topic_partitions(ReadRequest())
    (directories,) = (
        each
        for (_, topic, _), each in partitions
        if topic != METADATA_TOPIC  # F38 adds one
    )
    return audit_partition(directories, check_files=True)


def found_on(audit: PartitionAudit, node: int) -> Counter[tuple[str, str]]:
    """The number of findings in one broker's own files, by code and severity."""
    return Counter(
        (each.code, each.severity)
        for each in findings_of(audit)
        if each.directory is not None
        and each.directory.log_directory.broker_id == node
        and "KL-1" < each.code < NOT_OF_ONE
        and each.severity != "I"
    )


@pytest.mark.parametrize(("base", "fault"), CASES)
def test_two_intact_copies_leave_nothing_lost(base: Base, fault: Fault, tmp_path: Path) -> None:
    audit = audited(base, fault, tmp_path, damaged=1)
    assert found_on(audit, 1) == found_on(audit, 2) == Counter()
    if fault.id in OTHER_TOPIC | TWICE:
        assert audit.verdict is Verdict.UNDECIDABLE
        assert audit.reason.startswith("broker 0: ") or fault.id in OTHER_TOPIC
        return
    if fault.id in MISNAMED:
        assert audit.verdict is Verdict.UNDECIDABLE
        assert audit.reason.startswith("on broker 0, ")
        return
    if fault.id in BEYOND_EVERY_END:
        assert audit.verdict is Verdict.COMMITTED_MISSING
        assert audit.relation is Verdict.CONSISTENT
        assert "KL-524" in {each.code for each in findings_of(audit)}
        return
    if fault.id in UNREADABLE:
        assert audit.verdict is Verdict.CONSISTENT
        assert audit.elections
        assert all(election.lost.total == 0 for election in audit.elections)
        assert "KL-004" in {each.code for each in findings_of(audit)}
        return
    if fault.id in FALLING | NEWER:
        assert {each.code for each in findings_of(audit)} & {"KL-506", "KL-507"}
        assert election_rows(audit)[-1]["candidateBrokerId"] == 0 or 0 in {
            absent.broker_id for absent in audit.elections[0].absent
        }
    assert set(found_on(audit, 0)) & ALONE <= {("KL-111", "M")}  # gaps of offsets that nobody wrote
    assert audit.verdict is Verdict.FORKED if fault.id in LIES else audit.verdict in REPLACED
    best = audit.elections[0]
    # after a fork (KL-513), followers keep committed records that the leader lacks
    parts = "KL-513" in {each.code for each in findings_of(audit)}
    assert (best.lost.total, best.kind.value) == (0, "unclean" if parts else "clean")
    starts = {each.candidate.broker_id: each for each in audit.elections}
    if 0 in starts and starts[0].lost.total:  # its start cuts records that the others have
        assert starts[0].rank == 3


@pytest.mark.parametrize(
    ("base", "fault"), [case for case in CASES if str(case.id) in {
        "F01-stopped", "F03-killed", "F04-stopped", "F05-stopped", "F05-killed", "F10a-stopped",
        "F11e-killed", "F22-stopped",
    }],
)  # fmt: skip
def test_the_same_records_damaged_on_every_copy_are_unrecoverable(
    base: Base, fault: Fault, tmp_path: Path
) -> None:
    audit = audited(base, fault, tmp_path, damaged=3)
    assert audit.verdict is Verdict.DAMAGED_UNRECOVERABLE
    (gone,) = (each for each in findings_of(audit) if each.code == "KL-905")
    assert gone.severity == "C"
    assert {each.code for each in findings_of(audit)}.isdisjoint({"KL-506", "KL-904"})
    for node in range(3):
        assert ("KL-101", "H") not in found_on(audit, node)


@pytest.mark.parametrize("fault", [f for f in FAULTS if f.id in {"F20a", "F20c", "F23c", "F24b"}],
                         ids=lambda fault: fault.id)  # fmt: skip
def test_bytes_between_batches_on_every_copy_lose_no_record(fault: Fault, tmp_path: Path) -> None:
    audit = audited(STOPPED, fault, tmp_path, damaged=3)
    assert audit.verdict is Verdict.DAMAGED_RECOVERABLE
    assert "KL-905" not in {each.code for each in findings_of(audit)}
