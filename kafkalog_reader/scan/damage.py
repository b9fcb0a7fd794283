"""What a reader does at damage: raise, warn or ignore it."""

from __future__ import annotations

import logging
from enum import Enum
from typing import TYPE_CHECKING

from kafkalog_reader.io.progress import ReadMetrics

if TYPE_CHECKING:
    from kafkalog_reader.errors import LocatedError
    from kafkalog_reader.scan.hidden_records import HiddenRecords
    from kafkalog_reader.scan.unreadable_region import UnreadableRegion

logger = logging.getLogger(__name__)


class Mode(Enum):
    """What reading does at damage; the words of Spark's file sources."""

    FAILFAST = "FAILFAST"
    """Raise at the first damaged batch, with its file, position and offset."""
    PERMISSIVE = "PERMISSIVE"
    """Leave the damaged batch out, warn, go on; the ``findings`` table lists it."""
    DROPMALFORMED = "DROPMALFORMED"
    """Leave the damaged batch out without a warning, go on."""


class Damage:
    """Decides for each damaged place what to do.

    Args:
        mode: see ``Mode``.
        fail_on_data_loss: treat missing records as damage; if False, only warn.
        metrics: counts what is left out or missing.
        hidden: receives which offsets that are; None if nobody asks.
    """

    def __init__(
        self,
        mode: Mode,
        *,
        fail_on_data_loss: bool = True,
        metrics: ReadMetrics | None = None,
        hidden: HiddenRecords | None = None,
    ) -> None:
        self.mode = mode
        self._fails_on_loss = fail_on_data_loss
        self._metrics = ReadMetrics() if metrics is None else metrics
        self._hidden = hidden

    def left_out(
        self, error: LocatedError, *, batches: int = 1, next_offset: int | None = None
    ) -> None:
        """Continue without what ``error`` describes, or raise it.

        Args:
            error: says what and where.
            batches: how many batches it describes.
            next_offset: one past the last offset that it describes; None if unknown.

        Raises:
            LocatedError: ``error``, in mode ``FAILFAST``.
        """
        del batches  # for subclasses that count
        self._metrics.damaged_regions += 1
        if self.mode is Mode.FAILFAST:
            raise error
        self.hides(error, next_offset)
        if self.mode is Mode.PERMISSIVE:
            logger.warning("%s; left out", error)

    def doubtful(self, warning: str) -> None:
        """Continue with records whose offsets are doubtful: ``warning`` says where and why."""
        self._metrics.doubtful_ranges += 1
        if self.mode is not Mode.DROPMALFORMED:
            logger.warning("%s", warning)

    def log_ends(self, region: UnreadableRegion) -> None:
        """End the log at a last batch that is torn, or at zeros: no damage in any mode."""
        if self.mode is not Mode.DROPMALFORMED:
            logger.warning("%s: %s, the log ends here", region.where, region.description)

    def missing(self, error: LocatedError, next_offset: int | None = None) -> None:
        """Continue although records are missing, or raise ``error``, which describes them.

        Args:
            error: says what and where.
            next_offset: one past the last offset that is missing; None if unknown.

        Raises:
            LocatedError: the same with advice how to continue, in mode ``FAILFAST``.
        """
        self._metrics.missing_ranges += 1
        if self.mode is Mode.FAILFAST and self._fails_on_loss:
            raised = type(error)(error.problem, error.where)
            raised.advice = "Mode PERMISSIVE reads the rest"
            raise raised
        self.hides(error, next_offset, is_missing=True)
        if self.mode is not Mode.DROPMALFORMED:
            logger.warning("%s", error)

    def hides(
        self, error: LocatedError, next_offset: int | None = None, *, is_missing: bool = False
    ) -> None:
        """Only note which offsets the answer lacks; the caller warns."""
        if self._hidden is not None:
            self._hidden.add(error, next_offset, is_missing=is_missing)
