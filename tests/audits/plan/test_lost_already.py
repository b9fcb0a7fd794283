"""Which offsets are lost already: checkpoints above every end, and gaps that nothing explains."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from kafkalog_reader.audits.catalogue.actions import LOOK_FOR_A_COPY, RESTORE_OLD_SEGMENTS
from kafkalog_reader.audits.integrity.finding import finding
from kafkalog_reader.audits.plan.lost_already import lost_already

HIGH_WATERMARK, RECOVERY_POINT, MISSING = "KL-304", "KL-305", "KL-524"
COMMIT_BEYOND_END = "KL-801"
SEGMENT_GAP, OFFSET_GAP = "KL-403", "KL-111"


def audit_of(
    *ends: int,
    torn: int = 0,
    unmerged: tuple[tuple[int, int], ...] = (),
    may_have_other_copies: bool = False,
) -> Any:
    return cast(
        "Any",
        SimpleNamespace(
            topic="t",
            merge=SimpleNamespace(lost=unmerged),
            replicas=[SimpleNamespace(bounds=SimpleNamespace(known=4))],
            partition=3,
            may_have_other_copies=may_have_other_copies,
            everyone=[SimpleNamespace(log_end=end) for end in ends],
            readable_after_end=(max(ends), max(max(ends), torn)),
        ),
    )


def test_the_same_offsets_are_lost_once_whatever_names_them() -> None:
    found = [
        finding(MISSING, "", offsets=(5, 8), committed="possible"),
        finding(HIGH_WATERMARK, "", offsets=(3, 8), committed="known"),
        finding(RECOVERY_POINT, "", offsets=(3, 7)),
    ]
    (lost,) = lost_already(audit_of(3, 5), found)
    assert (lost.name, lost.first_offset, lost.next_offset) == ("t-3", 5, 8)
    assert lost.is_committed
    assert lost.max_records == 3


def test_what_was_only_flushed_is_not_called_committed() -> None:
    found = [
        finding(HIGH_WATERMARK, "", offsets=(3, 5), committed="known"),
        finding(RECOVERY_POINT, "", offsets=(3, 9)),
    ]
    lost = [
        (each.first_offset, each.next_offset, each.is_committed)
        for each in lost_already(audit_of(3), found)
    ]
    assert lost == [(3, 5, True), (5, 9, False)]


def test_what_another_copy_still_has_is_not_lost() -> None:
    found = [
        finding(HIGH_WATERMARK, "", offsets=(3, 5)),
        finding(SEGMENT_GAP, "", severity="H", offsets=(1, 2)),  # a peer has it
        finding(HIGH_WATERMARK, "", severity="I", offsets=(3, 9)),  # a copy of a running broker
    ]
    assert lost_already(audit_of(3, 5), found) == ()


def test_only_above_every_end_more_may_have_been() -> None:
    """A gap is bounded by the records around it; a checkpoint may be older than the log was."""
    found = [
        finding(OFFSET_GAP, "", severity="H", offsets=(1, 2), actions=(LOOK_FOR_A_COPY,)),
        finding(HIGH_WATERMARK, "", offsets=(3, 5), committed="known"),
    ]
    lost = lost_already(audit_of(4), found)
    assert [(each.first_offset, each.is_end) for each in lost] == [(1, False), (4, True)]


def test_a_gap_that_no_copy_fills_is_lost_on_its_own() -> None:
    found = [
        finding(OFFSET_GAP, "", severity="H", offsets=(1, 2), actions=(LOOK_FOR_A_COPY,)),
        finding(OFFSET_GAP, "", severity="H", offsets=(1, 2), actions=(LOOK_FOR_A_COPY,)),
        finding(HIGH_WATERMARK, "", offsets=(4, 6)),
    ]
    ranges = [(each.first_offset, each.next_offset) for each in lost_already(audit_of(4), found)]
    assert ranges == [(1, 2), (4, 6)]


def test_whole_records_of_a_torn_batch_are_not_lost_yet() -> None:
    (lost,) = lost_already(audit_of(3, torn=5), [finding(MISSING, "", offsets=(3, 8))])
    assert (lost.first_offset, lost.next_offset) == (5, 8)


def test_what_a_merged_log_cannot_contain_is_lost() -> None:
    lost = lost_already(audit_of(9, unmerged=((3, 4), (6, 7))), ())
    assert [(each.first_offset, each.is_committed) for each in lost] == [(3, True), (6, False)]


def test_nothing_is_lost_yet_where_a_renamed_file_may_be_the_missing_segment() -> None:
    lost = finding(HIGH_WATERMARK, "", offsets=(3, 8), committed="known")
    renamed = finding("KL-003", "", severity="H", actions=(RESTORE_OLD_SEGMENTS,))
    assert lost_already(audit_of(3), [lost, renamed]) == ()
    assert lost_already(audit_of(3), [lost, finding("KL-003", "t-3/notes")])


def test_what_a_group_read_above_every_end_is_lost() -> None:
    """A consumer reads below the high watermark, so that 9 was a committed end."""
    above = finding(COMMIT_BEYOND_END, "", offsets=(3, 9))
    (lost,) = lost_already(audit_of(3, 5), [above])
    assert (lost.first_offset, lost.next_offset, lost.is_end) == (5, 9, True)
    assert not lost.may_be_elsewhere
    assert lost_already(audit_of(3, 9), [above]) == ()
    went_on = finding(COMMIT_BEYOND_END, "", severity="L", offsets=(3, 9))
    assert lost_already(audit_of(3, 5), [went_on]) == ()


def test_a_broker_that_was_not_supplied_may_have_what_no_copy_has() -> None:
    above = finding(HIGH_WATERMARK, "", offsets=(3, 9))
    (lost,) = lost_already(audit_of(3, 5, may_have_other_copies=True), [above])
    assert lost.may_be_elsewhere
