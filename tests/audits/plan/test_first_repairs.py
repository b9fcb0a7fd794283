"""Which files are changed before a start, and where that is worth it."""

from __future__ import annotations

import pytest

from kafkalog_reader.audits.catalogue.actions import REBUILD_INDEX, RESTORE_TOPIC_ID
from kafkalog_reader.audits.catalogue.batch_rules import BATCH_CRC_MISMATCH
from kafkalog_reader.audits.catalogue.checkpoint_rules import CLEAN_MARKER_CONTRADICTED
from kafkalog_reader.audits.catalogue.log_rules import END_WILL_BE_MISREAD, START_WILL_SET_ASIDE
from kafkalog_reader.audits.integrity.file_repair import move_aside
from kafkalog_reader.audits.integrity.finding import finding
from kafkalog_reader.audits.plan.first_repairs import repairs_of, without_markers
from kafkalog_reader.audits.plan.start_loss import StartLoss
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from tests.audits.bare_replica import bare

COPY = bare(1).directory
REPAIR = move_aside("/1/t-0", "00000000000000000000.index")
MARKER = finding(CLEAN_MARKER_CONTRADICTED, "", directory=COPY)
DAMAGED = finding(BATCH_CRC_MISMATCH, "", directory=COPY)


@pytest.mark.parametrize(
    ("code", "action", "is_lossy", "expected"),
    [
        pytest.param(END_WILL_BE_MISREAD, REBUILD_INDEX, True, {1: (REPAIR,)}, id="lost_else"),
        pytest.param(END_WILL_BE_MISREAD, REBUILD_INDEX, False, {}, id="a_follower_fetches_them"),
        pytest.param(
            START_WILL_SET_ASIDE,
            RESTORE_TOPIC_ID,
            False,
            {1: (REPAIR,)},
            id="cheaper_than_fetching",
        ),
    ],
)
def test_an_index_is_rebuilt_only_for_records_that_are_lost_otherwise(
    code: str, action: str, *, is_lossy: bool, expected: dict[int, object]
) -> None:
    found = finding(code, "", directory=COPY, actions=(action,), repairs=(REPAIR,))
    assert repairs_of([found], is_lossy=is_lossy) == expected


def test_a_contradicted_marker_is_moved_away_where_no_damage_would_be_cut() -> None:
    assert list(without_markers([MARKER], [])) == [1]
    assert without_markers([MARKER, DAMAGED], []) == {}


def test_a_contradicted_marker_is_moved_away_where_the_start_removes_records() -> None:
    loss = StartLoss(
        topic="t", partition=0, broker_id=1, outcome=StartOutcome.CUT, first_offset=3,
        next_offset=5, records=2, reason="",
    )  # fmt: skip
    assert list(without_markers([MARKER, DAMAGED], [loss])) == [1]
