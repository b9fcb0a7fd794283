"""Where committed offsets lie: by KIP-320, whose example has epochs 0 (from 0) and 2 (from 2)."""

from __future__ import annotations

import pytest

from kafkalog_reader.tables.commit_place import CommittedLog, Place

LOG = CommittedLog(log_start=1, log_end=6, epochs=((0, 0), (2, 2), (5, 6)))
"""Epoch 5 has been elected and has written nothing."""


@pytest.mark.parametrize(
    ("offset", "leader_epoch", "place", "safe"),
    [
        (0, None, Place.BELOW_LOG_START, 1),
        (1, None, Place.OK, 1),
        (6, None, Place.OK, 6),
        (7, None, Place.ABOVE_LOG_END, 6),
        (7, 2, Place.ABOVE_LOG_END, 6),
        (2, 0, Place.OK, 2),
        (3, 0, Place.ON_LOST_BRANCH, 2),
        (7, 0, Place.ON_LOST_BRANCH, 2),
        (2, 1, Place.OK, 2),
        (3, 1, Place.ON_LOST_BRANCH, 2),
        (6, 3, Place.OK, 6),
        (6, 5, Place.OK, 6),
        (3, -1, Place.OK, 3),
    ],
)
def test_places_and_safe_offsets(
    offset: int, leader_epoch: int | None, place: Place, safe: int
) -> None:
    assert LOG.place_of(offset, leader_epoch) is place
    assert LOG.safe_offset(offset, leader_epoch) == safe


def test_without_epochs_only_the_ends_decide() -> None:
    log = CommittedLog(log_start=1, log_end=6)
    assert log.place_of(3, 0) is Place.OK
    assert log.place_of(7, 0) is Place.ABOVE_LOG_END


def test_an_epoch_older_than_all_ends_where_the_first_begins() -> None:
    """A broker of 4.4.0 sends such a consumer to offset 5: scenario ``elected_groups``."""
    log = CommittedLog(log_start=5, log_end=9, epochs=((3, 5),))
    assert log.place_of(5, 1) is Place.OK
    assert log.place_of(7, 1) is Place.ON_LOST_BRANCH
    assert log.safe_offset(7, 1) == 5
