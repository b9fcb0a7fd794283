"""What the next start does to a copy, in a line for each that is not just served."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.audits.recovery.recovery import Recovery
from kafkalog_reader.errors import LogPosition, UnreadableFileError
from kafkalog_reader.report.start_text import start_lines, start_trouble
from tests.audits.conftest import audit_of
from tests.audits.recovery.logs import LAST, write_small

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit


def lines(audit: PartitionAudit) -> list[str]:
    return ["".join(span.text for span in line) for line in start_lines(audit, 300)]


def troubles(audit: PartitionAudit) -> list[str]:
    return [what for what, _ in start_trouble(audit)]


def test_a_copy_that_is_served_has_no_line(tmp_path: Path) -> None:
    write_small(tmp_path, is_clean=True, recovery_point=23)
    audit = audit_of(tmp_path)
    assert (troubles(audit), lines(audit)) == ([], [])


@pytest.mark.parametrize(
    ("is_clean", "what"),
    [
        pytest.param(
            True,
            ["broker 1: its next start hides 8 records after the log end, and new ones take their "
             "offsets"],
            id="hidden",
        ),
        pytest.param(False, [], id="only_an_unfinished_batch_is_cut"),
    ],
)  # fmt: skip
def test_a_torn_end(tmp_path: Path, is_clean: bool, what: list[str]) -> None:
    """The last batch is torn, and the offset index names it; the start of a killed broker cuts."""
    log = write_small(tmp_path, is_clean=is_clean, recovery_point=23) / f"{LAST}.log"
    log.write_bytes(log.read_bytes()[:430])
    audit = audit_of(tmp_path)
    assert (troubles(audit), lines(audit)) == (what, []), "a finding has it, and not a line"


def test_records_that_are_cut_are_counted(tmp_path: Path) -> None:
    log = write_small(tmp_path, is_clean=False, recovery_point=0) / f"{LAST}.log"
    content = bytearray(log.read_bytes())
    content[353 + 61 + 3] ^= 1
    log.write_bytes(content)
    assert troubles(audit_of(tmp_path)) == [
        "broker 1: its next start cuts up to 2 records in damaged batches"
    ]


@pytest.mark.parametrize(
    ("outcome", "words", "has_line"),
    [
        (StartOutcome.LOADS, None, False),
        (StartOutcome.EMPTIED, "its next start deletes every segment", False),
        (
            StartOutcome.STRAY,
            "its next start sets the directory aside",
            False,
        ),
        (
            StartOutcome.EXPIRED,
            "retention deletes what is here right after its next start",
            False,
        ),
        (StartOutcome.DIRECTORY_OFFLINE, "its log directory does not come up", True),
        (StartOutcome.BROKER_ABORTS, "it does not come up", True),
    ],
)
def test_every_outcome_has_its_words_and_only_what_is_down_a_line(
    tmp_path: Path, outcome: StartOutcome, words: str | None, has_line: bool
) -> None:
    write_small(tmp_path, is_clean=True, recovery_point=23)
    audit = audit_of(tmp_path)
    (one,) = audit.replicas
    assert isinstance(one.start, Recovery)
    start = replace(one.start, outcome=outcome, reason="0.log: damaged")
    changed = replace(audit, replicas=(replace(one, start=start),))
    assert troubles(changed) == ([] if words is None else [f"broker 1: {words}"])
    said = f"  START: broker 1: {words} (0.log: damaged)"
    assert [line for line in lines(changed) if line] == ([said] if has_line else [])


def test_a_start_that_cannot_be_predicted_is_said_with_its_reason(tmp_path: Path) -> None:
    write_small(tmp_path, is_clean=True, recovery_point=23)
    audit = audit_of(tmp_path)
    error = UnreadableFileError("Permission denied", LogPosition("0.log"))
    (one,) = audit.replicas
    unknown = replace(audit, replicas=(replace(one, start=error),))
    assert [line for line in lines(unknown) if line] == [
        "  START: broker 1: its next start cannot be predicted (0.log: Permission denied)"
    ]
    nothing = replace(audit, replicas=(replace(one, start=None),))
    assert (troubles(nothing), lines(nothing)) == ([], [])
