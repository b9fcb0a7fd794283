"""Who should lead, in the words of one line among many."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from kafkalog_reader.errors import LogPosition, UnreadableFileError
from kafkalog_reader.report.election_text import choice_text


def audit_of(start: object) -> Any:
    replica = SimpleNamespace(start=start, name="broker 1")
    return cast("Any", SimpleNamespace(is_metadata=False, elections=(), replicas=[replica]))


def test_a_file_that_may_not_be_read_does_not_say_that_no_copy_can_lead() -> None:
    refused = UnreadableFileError("Permission denied", LogPosition("a"))
    assert choice_text(audit_of(refused)) == (
        "who can lead is unknown: the start of broker 1 cannot be predicted"
    )
    assert choice_text(audit_of(None)) == "no copy can lead"
