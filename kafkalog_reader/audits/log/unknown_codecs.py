"""Batches with a codec that no consumer can decompress."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.audits.log.batch_place import EXAMPLES
from kafkalog_reader.errors import LogPosition
from kafkalog_reader.format.batch_fields import CODEC_MASK, LAST_MESSAGE_CODEC

if TYPE_CHECKING:
    from kafkalog_reader.scan.batch_run import BatchRun


class UnknownCodecs:
    """The batches of one log with such a codec.

    Attributes:
        first: place, codec and magic of the first of them.
        count: how many there are.
    """

    def __init__(self) -> None:
        self.first: list[tuple[LogPosition, int, int]] = []
        self.count = 0

    def look(self, run: BatchRun, path: str) -> None:
        """Take a window of a segment file; damaged batches show no codec."""
        if run.summary.attributes & CODEC_MASK <= LAST_MESSAGE_CODEC:
            return  # else, bits of several codecs may be combined
        found = np.flatnonzero(~run.has_known_codec & run.crc_valid)
        self.count += len(found)
        for index in found[: EXAMPLES - len(self.first)]:
            where = LogPosition(path, int(run.position[index]), int(run.base_offset[index]))
            codec = int(run.attributes[index]) & CODEC_MASK
            self.first.append((where, codec, int(run.magic[index])))
