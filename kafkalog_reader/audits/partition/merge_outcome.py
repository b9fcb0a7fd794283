"""What merging the copies of a damaged partition into one sound log would give."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeOutcome:
    """What ``kafkalog salvage --merge`` would write.

    Attributes:
        readable_offsets: how many offsets the merged log has.
        gained_offsets: how many more offsets the merged log has than the sound batches of any
            single copy.
        corrected_batches: batches with one flipped bit that is put right, and torn ones of which
            whole records are kept.
        lost: half-open ranges of offsets that no copy has readable.
        left_out: partition directories of copies that are not merged: compaction left other records
            on them, and the merged copies reach as far.
    """

    readable_offsets: int
    gained_offsets: int
    corrected_batches: int
    lost: tuple[tuple[int, int], ...]
    left_out: tuple[str, ...] = ()
