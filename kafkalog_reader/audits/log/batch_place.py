"""Places of single batches in a replica, as audits keep and compare them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.errors import LogPosition

EXAMPLES: Final[int] = 100
"""Places of one kind kept for a replica; further ones are only counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Regression:
    """A batch that starts at or below the last offset of the batch before it."""

    where: LogPosition
    previous_last_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlace:
    """The place of one batch in a file, with its checksums."""

    where: LogPosition
    size_in_bytes: int
    next_offset: int
    leader_epoch: int
    records: int
    crc: int
    crc_computed: int
    magic: int = 2
    is_control: bool = False
    """Whether it is a transaction marker by its header, whose record is not a client record."""
    intact_on: tuple[Replica, ...] = ()
    """The replicas that hold the same batch with a valid checksum."""
