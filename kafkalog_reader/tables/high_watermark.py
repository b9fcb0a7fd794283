"""The high watermark of one replica: an interval, because no file has its exact value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HighWatermark:
    """This replica proves that all below ``low`` was committed, and nothing from ``high`` on.

    Both are offsets of the next record: 6 means that 0 to 5 are committed.
    """

    low: int
    high: int


def high_watermark_of(
    *, checkpointed: int | None, cleaner_offset: int | None, log_start: int, log_end: int
) -> HighWatermark:
    """What the files of one replica prove; other replicas and the cluster metadata may prove more.

    Args:
        checkpointed: of ``replication-offset-checkpoint``, at most some seconds old.
        cleaner_offset: the cleaner stops at the last stable offset, so the high watermark is not
            below it.
        log_start: not below the first segment. Retention removes no segment at or above the high
            watermark, and a request to delete records above it is refused.
        log_end: offsets above it do not count: those records are not in this replica.
    """
    proofs = (checkpointed, cleaner_offset, log_start)
    low = max((proof for proof in proofs if proof is not None and proof <= log_end), default=0)
    return HighWatermark(low=low, high=log_end)
