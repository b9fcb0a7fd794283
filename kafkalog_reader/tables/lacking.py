"""What other copies of a partition hold and the one that is read lacks."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.io.directories import PartitionDirectory

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """The offsets [first, next) of another copy, which the chosen one lacks.

    Attributes:
        is_fork: the chosen copy has other records at the first of these offsets.
        is_contradiction: it has them under the same leader epoch, so that no broker notices.
    """

    replica: PartitionDirectory
    first_offset: int
    next_offset: int
    is_fork: bool
    is_contradiction: bool = False

    def __str__(self) -> str:
        """For a warning."""
        if self.is_contradiction:
            return (
                f"{self.replica.replica_name} holds other records from offset {self.first_offset} "
                "on, under the same leader epoch"
            )
        count = self.next_offset - self.first_offset
        held = f"{self.replica.replica_name} holds {count} from offset {self.first_offset} on"
        return f"{held} (a fork: other records)" if self.is_fork else held


def warn_of_lacking(
    chosen: PartitionDirectory, lacking: Sequence[Lacking], *, with_cluster: bool = False
) -> None:
    """Name the offsets of other copies that the chosen one lacks, if there are some."""
    if lacking:
        shows = any(each.is_contradiction for each in lacking)
        logger.warning(
            "%s-%s%s: read from %s, which lacks %s of other copies: %s%s",
            shown(chosen.topic or "?"),
            chosen.partition,
            f" of cluster {shown(chosen.log_directory.cluster_id or '?')}" if with_cluster else "",
            chosen.replica_name,
            "records" if shows else "offsets",
            "; ".join(map(str, lacking)),
            ". `replica-diff` shows the differences" if shows else "",
        )
