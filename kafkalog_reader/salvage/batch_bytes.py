"""The bytes of batches, one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kafkalog_reader.scan.batch_run import BatchRun


def batch_bytes(run: BatchRun) -> NDArray[np.uint8]:
    """A copy of the batches of a run, without what lies between them in the file."""
    window = np.frombuffer(run.buffer, np.uint8)
    begins = run.position - run.window_position
    ends = begins + run.size_in_bytes
    cuts = np.flatnonzero(begins[1:] != ends[:-1]) + 1
    firsts, lasts = np.append(0, cuts), np.append(cuts - 1, run.count - 1)
    parts = [
        window[begins[first] : ends[last]]
        for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True)
    ]
    return np.concatenate(parts)
