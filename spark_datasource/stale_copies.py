"""Warns of a stream whose copy no longer grows while another copy of the partition has more.

A stream stays with its copy, so that each record arrives once. The disk of a broker that is down
may stay mounted: nothing new arrives then, and nothing fails.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import read_topic_id
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.scan.log_tail import scan_tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.io.directories import PartitionDirectory

SECONDS: Final = 30.0
"""Between two looks. Kafka's replica.lag.time.max.ms: after that a follower leaves the ISR."""
logger = logging.getLogger(__name__)

Place = tuple[int, int]
"""Base offset and size of the last segment: they change when a log grows."""


@dataclass(slots=True)
class StaleCopies:
    """Compares the copies that a stream reads with the others of the same partitions."""

    _looked_at: float = -SECONDS
    _places: dict[str, Place] = field(default_factory=dict)
    _warned: dict[str, str] = field(default_factory=dict)

    def look(
        self, partitions: Sequence[tuple[PartitionDirectory, Sequence[PartitionDirectory]]]
    ) -> None:
        """Compare each copy that is read with all of its partition, if the last look is long ago.

        Only those that have not grown since the last look: a copy may lag behind for a moment.
        """
        now = time.monotonic()
        if not partitions or now - self._looked_at < SECONDS:
            return
        self._looked_at = now
        for read, copies in partitions:
            try:
                self._look_at(read, copies)
            except LocatedError as error:  # of another copy: the reader names its own
                logger.debug("%s", error)

    def _look_at(self, read: PartitionDirectory, copies: Sequence[PartitionDirectory]) -> None:
        place = _place(read)
        if self._places.get(read.path) != place:
            self._places[read.path] = place
            self._warned.pop(read.path, None)
            return
        others = [each for each in copies if each.path != read.path and _place(each) != place]
        if not others:
            return
        topic_id = read_topic_id(read.path, context=read.context)
        others = [o for o in others if read_topic_id(o.path, context=o.context) == topic_id]
        best = max(others, key=_reach, default=read)
        (own_epoch, own_end), (epoch, end) = _reach(read), _reach(best)
        if (epoch, end) <= (own_epoch, own_end) or self._warned.get(read.path) == best.path:
            return
        self._warned[read.path] = best.path
        newer = f" under the newer leader epoch {epoch}" if epoch > own_epoch else ""
        logger.warning(
            "%s-%s: this query reads %s, whose log still ends at offset %d; that of %s ends at %d"
            "%s. A query that is started again reads the best copy",
            shown(read.topic or "?"), read.partition, read.replica_name, own_end,
            best.replica_name, end, newer,
        )  # fmt: skip


def _place(directory: PartitionDirectory) -> Place:
    sizes = [(each.base_offset, each.log_size or 0) for each in segments(directory)]
    return sizes[-1] if sizes else (0, 0)


def _reach(directory: PartitionDirectory) -> tuple[int, int]:
    """The leader epoch of the last batch, and the log end."""
    tail = scan_tail(directory)
    return -1 if tail.last_leader_epoch is None else tail.last_leader_epoch, tail.next_offset
