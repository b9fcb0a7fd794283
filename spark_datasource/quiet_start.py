"""Warns of a new stream that reads nothing: most often it begins at the end of files at rest.

Streams begin at the end by default, as those of Spark's Kafka source do. A live topic grows; the
files of a stopped broker or of a copy do not.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.tables.request import Until
from spark_datasource.stale_copies import SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.tables.asked_offsets import LogBounds
    from kafkalog_reader.tables.request import TopicPartition
    from spark_datasource.stream_offsets import Offsets

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class QuietStart:
    """Knows where a new query began, until it has something to read or was warned of."""

    until: Until
    _begun: Offsets | None = None
    _began_at: float | None = None

    def begin(self, begun: Offsets) -> None:
        """Remember where a new query begins; one that continues a checkpoint is not looked at.

        Spark asks again where it begins until it has planned a batch: the first time counts.
        """
        if self._began_at is None:
            self._begun, self._began_at = begun, time.monotonic()

    def look(
        self, bounds: Mapping[TopicPartition, LogBounds], ends: Offsets, *, is_last: bool
    ) -> None:
        """Warn once if there is nothing to read, and nothing may be expected.

        Args:
            bounds: of the logs as they are.
            ends: where the next trigger may end.
            is_last: whether the query ends there; otherwise logs have half a minute to grow.
        """
        begun = self._begun
        if begun is None or self._began_at is None:
            return
        waited = time.monotonic() - self._began_at
        if any(end > begun.get(key, bounds[key].log_start) for key, end in ends.items()):
            self._begun = None
        elif is_last or waited >= SECONDS:
            self._begun = None
            logger.warning("%s", self._said(bounds, None if is_last else round(waited)))

    def _said(self, bounds: Mapping[TopicPartition, LogBounds], waited: int | None) -> str:
        held = sum(max(0, each.end - each.log_start) for each in bounds.values())
        nothing = (
            "this query reads nothing" if waited is None
            else f"this query has read nothing for {waited} seconds"
        )  # fmt: skip
        if not held:
            wider = {
                Until.HIGH_WATERMARK: " below its high watermark: until=logEnd reads all there are",
                Until.LAST_STABLE_OFFSET: " below its last stable offset",
                Until.LOG_END: "",
            }[self.until]
            return f"{nothing}: no selected log has a record{wider}"
        why = "where Trigger.AvailableNow ends" if waited is None else "and they are not growing"
        return (
            f"{nothing}: it began at the end of the logs, {why}. Streams begin there unless "
            f"startingOffsets says otherwise: startingOffsets=earliest reads what these logs hold, "
            f"{held:,} offset{'' if held == 1 else 's'}"
        )
