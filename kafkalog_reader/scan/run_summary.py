"""Facts about all batches of a run; checks use them before they examine single batches."""

from __future__ import annotations

from typing import NamedTuple


class RunSummary(NamedTuple):
    """What all batches of a run have in common, found in one pass.

    Attributes:
        valid: how many have a correct CRC.
        size_in_bytes: of all together.
        leads_on: each begins at the offset where the one before it ends.
        is_full: each has as many records as offsets, and at least one.
        is_one_epoch: all have the same leader epoch.
        offsets_rise: each ends above the one before it.
        timestamps_rise: no greatest timestamp is below the one before it.
        attributes: the bits that are set in any of them.
        least_timestamp, greatest_timestamp: of the batches' greatest ones, in milliseconds.
    """

    valid: int
    size_in_bytes: int
    leads_on: bool
    is_full: bool
    is_one_epoch: bool
    offsets_rise: bool
    timestamps_rise: bool
    attributes: int
    least_base_offset: int
    least_magic: int
    greatest_magic: int
    least_timestamp: int
    greatest_timestamp: int
    least_producer_id: int
    greatest_producer_epoch: int
