"""What makes a copy damaged: severity, role, and whether the file was read."""

from __future__ import annotations

import pytest

from kafkalog_reader.audits.catalogue.actions import COPY_AGAIN, READ_WITH_PERMISSION
from kafkalog_reader.audits.integrity.damage import are_damaged, is_damage, is_severe
from kafkalog_reader.audits.integrity.finding import finding


@pytest.mark.parametrize(
    "code",
    [
        "KL-101",  # a wrong checksum
        "KL-111", "KL-403", "KL-404", "KL-508",  # records inside a log are missing
        "KL-316", "KL-413", "KL-414",  # a start does not see the damage
        "KL-506", "KL-507", "KL-905",  # other copies show it, or have no intact one
    ],
)  # fmt: skip
def test_wrong_bytes_and_missing_records_are_damage(code: str) -> None:
    assert is_damage(finding(code, "", severity="H"))
    assert not is_damage(finding(code, "", severity="M"))


@pytest.mark.parametrize(
    "code",
    [
        "KL-301",  # a checkpoint
        "KL-304",  # the end of the log is gone
        "KL-310",  # there is no log
        "KL-503", "KL-505",  # other records, each of them sound
        "KL-703",  # what producers wrote
    ],
)  # fmt: skip
def test_a_log_may_be_sound_beside_other_severe_findings(code: str) -> None:
    found = finding(code, "", severity="C")
    assert is_severe(found)
    assert not is_damage(found)


@pytest.mark.parametrize("action", [READ_WITH_PERMISSION, COPY_AGAIN])
def test_a_file_that_was_not_read_is_not_damaged(action: str) -> None:
    unread = finding("KL-004", "", severity="H", actions=(action,))
    assert not is_damage(unread)
    assert not are_damaged([unread])
    assert are_damaged([unread, finding("KL-101", "")])
