"""KL-416: two records with one key in the cleaned range; needs the keys (``--deep``).

Keys are stored as 64-bit hashes, up to a maximum; beyond it a finding says so. Source: Kafka 4.0,
Cleaner: below the checkpointed offset only the latest record of a key is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.audits.catalogue.input_rules import (
    LIMIT_REACHED,
)
from kafkalog_reader.audits.catalogue.log_rules import (
    COMPACTION_LEFT_TWO_VALUES,
)
from kafkalog_reader.audits.integrity.finding import Finding, finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from kafkalog_reader.audits.log.replica import Replica

MAX_KEYS: Final = 4_000_000
"""Maximum number of records below the cleaner offset of one replica, 16 bytes each."""


class CompactedKeys:
    """The keys of one replica below its cleaner offset.

    Attributes:
        is_wanted: whether the log was cleaned, so that keys are worth decoding.
    """

    def __init__(self, replica: Replica) -> None:
        self._replica = replica
        self._cleaned_below = replica.cleaner_offset or 0
        self._hashes: list[NDArray[np.int64]] = []
        self._offsets: list[NDArray[np.int64]] = []
        self._count = 0
        self._left_out = 0
        self.is_wanted = self._cleaned_below > replica.log_start_offset

    def add(self, keys: pa.Array, offsets: NDArray[np.int64], is_data: NDArray[np.bool_]) -> None:
        """Add records, without markers, null keys and records above the cleaner offset."""
        chosen = np.flatnonzero(is_data & (offsets < self._cleaned_below))
        room = MAX_KEYS - self._count
        self._left_out += max(0, len(chosen) - room)
        chosen = chosen[:room]
        hashes = [hash(key) for key in keys.take(chosen).to_pylist() if key is not None]
        has_key = ~keys.take(chosen).is_null().to_numpy(zero_copy_only=False)
        self._hashes.append(np.array(hashes, np.int64))
        self._offsets.append(offsets[chosen][has_key])
        self._count += len(hashes)

    def findings(self, log_end_offset: int) -> Iterator[Finding]:
        """Yield the first pair, and the number of surplus records.

        A cleaner offset above the log end (KL-308) does not show what was cleaned.
        """
        if self._cleaned_below > log_end_offset:
            return
        if self._left_out:
            yield finding(
                LIMIT_REACHED,
                f"{self._replica.name}: {self._left_out:,} records below the cleaner offset were "
                "not compared",
                directory=self._replica.directory,
                evidence={"records": self._left_out, "limit": MAX_KEYS},
            )
        if self._count < 2:
            return
        hashes, offsets = np.concatenate(self._hashes), np.concatenate(self._offsets)
        order = np.lexsort((offsets, hashes))
        same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
        if not len(same):
            return
        pairs = np.stack([offsets[order][same], offsets[order][same + 1]])
        first = int(np.argmin(pairs[0]))
        older, newer = int(pairs[0][first]), int(pairs[1][first])
        directory = self._replica.directory
        yield finding(
            COMPACTION_LEFT_TWO_VALUES,
            f"{self._replica.name}: the records at offsets {older} and {newer} have one key, and "
            f"the log was cleaned up to {self._cleaned_below}; {len(same):,} such records",
            # Without the marker the copy may be hot, with a cleaner offset newer than its segments.
            confidence="proven" if directory.log_directory.clean_shutdown else "possible",
            directory=directory,
            offsets=(older, newer + 1),
            evidence={
                "olderOffset": older,
                "newerOffset": newer,
                "records": len(same),
                "cleanerOffset": self._cleaned_below,
            },
        )
