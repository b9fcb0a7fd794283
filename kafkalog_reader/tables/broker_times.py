"""Times that brokers wrote into a log: of markers, and of batches with ``LogAppendTime``.

The times of other records are the clients', and may be any, such as those of events of last year.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.format.batch_fields import CONTROL_BIT, LOG_APPEND_TIME_BIT
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.open_transactions import position_before
from kafkalog_reader.tables.segment_batches import SegmentBatches
from kafkalog_reader.tables.segment_unit import whole_segments

if TYPE_CHECKING:
    from kafkalog_reader.io.directories import PartitionDirectory


def broker_times(directory: PartitionDirectory, offset: int) -> tuple[int, int] | None:
    """The least and greatest time of a broker from an offset on, in milliseconds; None without.

    Raises:
        LocatedError: a file cannot be read.
    """
    found: list[int] = []
    slices = list(whole_segments(directory, live_only=True))
    for segment_slice, following in zip(slices, [*slices[1:], None], strict=True):
        if following is not None and following.segment.base_offset <= offset:
            continue
        if segment_slice.segment.log_size is None:
            continue
        scan = SegmentBatches(
            segment_slice, Mode.DROPMALFORMED, no_progress, check_crc=True,
            start=position_before(segment_slice, offset), is_end_known=True,
        )  # fmt: skip
        for run in scan:
            of_broker = (run.attributes & (CONTROL_BIT | LOG_APPEND_TIME_BIT) != 0) & run.crc_valid
            times = run.max_timestamp[of_broker & (run.base_offset >= offset)]
            times = times[times >= 0]
            if len(times):
                found = [int(np.min([*found, times.min()])), int(np.max([*found, times.max()]))]
    return (found[0], found[-1]) if found else None
