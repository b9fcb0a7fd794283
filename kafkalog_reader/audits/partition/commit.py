"""An offset that a consumer group committed."""

from __future__ import annotations

from typing import NamedTuple


class Commit(NamedTuple):
    """What a group committed of one partition.

    Attributes:
        leader_epoch: of the last record that it read; -1 if unknown.
        topic_id: None if it is not recorded.
        offsets_partition: partition of ``__consumer_offsets`` that holds it.
        committed_at: milliseconds since 1970; None if unknown.
    """

    group: str
    offset: int
    leader_epoch: int
    topic_id: str | None
    offsets_partition: int
    committed_at: int | None = None
