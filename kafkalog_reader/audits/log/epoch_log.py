"""The parts of a replica that truncation depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochLog:
    """The parts of a replica that truncation depends on, after its broker loaded it."""

    cache: LeaderEpochCache
    log_start_offset: int
    log_end_offset: int
    high_watermark: int = 0

    @property
    def is_empty(self) -> bool:
        return self.log_start_offset >= self.log_end_offset
