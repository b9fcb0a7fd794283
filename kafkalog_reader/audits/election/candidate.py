"""A replica as the log of an election."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkalog_reader.audits.log.epoch_log import EpochLog


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A replica as the log of an election: offsets, epochs, and what only files can count.

    Attributes:
        log: as its broker loads it; None where the broker or the log directory does not come up.
        log_start_offset, log_end_offset: on disk, before the start.
        records_cut_at_start: clients' records that the start removes.
        last_leader_epoch: of the last batch.
        unreplaceable: damaged batches here that no other replica has intact.
        damaged: damaged batches here, even where another copy has them intact.
        cut_transactions: first offsets of those that the log ends inside of, and whose marker is
            on a disk: they would stay open for ever (KL-713).
        is_member: of the in-sync or eligible leader replicas; None without cluster metadata.
        records: counts clients' records of a range of offsets, where bounds do not tell.
        batch_start: base offset of the batch that a truncation to an offset begins to cut.
    """

    log: EpochLog | None
    log_start_offset: int
    log_end_offset: int
    last_leader_epoch: int
    broker_id: int | None
    unreplaceable: int
    records: Callable[[int, int], int]
    batch_start: Callable[[int], int | None]
    records_cut_at_start: int = 0
    damaged: int = 0
    cut_transactions: tuple[int, ...] = ()
    is_member: bool | None = None
