"""What a prediction says of itself: the words for a cut, whose fault, where the log ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from kafkalog_reader.audits.log.epoch_log import EpochLog
from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.audits.recovery.recovery import LoadedReplica, Recovery
from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory

DIRECTORY: Final = PartitionDirectory(
    path="1/t-0", log_directory=LogDirectory(path="1"), topic="t", partition=0
)
LOG: Final = EpochLog(cache=LeaderEpochCache(), log_start_offset=2, log_end_offset=7)
LOADS: Final = Recovery(
    directory=DIRECTORY,
    outcome=StartOutcome.LOADS,
    sound_end_offset=9,
    loaded=LoadedReplica(directory=DIRECTORY, log=LOG),
)


def test_whole_records_in_a_torn_batch_are_counted_by_their_offsets() -> None:
    cut = replace(LOADS, bytes_cut=1234, max_cut_in_torn_batch=5, readable_in_torn_batch=(7, 10))
    assert cut.cut_text == (
        "1,234 bytes at the tail, an unfinished batch with 3 records of 5 still whole"
    )


@pytest.mark.parametrize(
    ("outcome", "is_own", "by_others"),
    [
        (StartOutcome.LOADS, False, False),
        (StartOutcome.STRAY, False, False),
        (StartOutcome.BROKER_ABORTS, False, True),
        (StartOutcome.BROKER_ABORTS, True, False),
        (StartOutcome.DIRECTORY_OFFLINE, False, True),
        (StartOutcome.DIRECTORY_OFFLINE, True, False),
    ],
)
def test_a_replica_is_down_by_its_own_files_or_by_others(
    outcome: StartOutcome, is_own: bool, by_others: bool
) -> None:
    recovery = replace(LOADS, outcome=outcome, is_own_failure=is_own)
    assert recovery.is_down_by_others == by_others


def test_only_a_log_that_is_served_has_an_end_after_the_start() -> None:
    assert LOADS.log_end_offset_after_start == 7
    assert replace(LOADS, outcome=StartOutcome.STRAY).log_end_offset_after_start is None
    assert replace(LOADS, loaded=None).log_end_offset_after_start is None
