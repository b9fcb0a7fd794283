"""What a reader does at damage: raise, warn or ignore it. Only this module knows the modes."""

from __future__ import annotations

import logging
from enum import Enum
from typing import TYPE_CHECKING

from kafkalog_reader.io.progress import ReadMetrics

if TYPE_CHECKING:
    from kafkalog_reader.errors import LocatedError

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
    """

    def __init__(
        self, mode: Mode, *, fail_on_data_loss: bool = True, metrics: ReadMetrics | None = None
    ) -> None:
        self.mode = mode
        self._fails_on_loss = fail_on_data_loss
        self._metrics = ReadMetrics() if metrics is None else metrics

    def left_out(self, error: LocatedError, *, batches: int = 1) -> None:
        """Continue without what ``error`` describes, or raise it.

        Args:
            error: says what and where.
            batches: how many batches it describes.

        Raises:
            LocatedError: ``error``, in mode ``FAILFAST``.
        """
        del batches
        self._metrics.damaged_regions += 1
        if self.mode is Mode.FAILFAST:
            raise error
        if self.mode is Mode.PERMISSIVE:
            logger.warning("%s; left out", error)

    def doubtful(self, warning: str) -> None:
        """Continue with records whose offsets are doubtful: ``warning`` says where and why."""
        self._metrics.doubtful_ranges += 1
        if self.mode is not Mode.DROPMALFORMED:
            logger.warning("%s", warning)

    def missing(self, error: LocatedError) -> None:
        """Continue although records are missing, or raise ``error``, which describes them.

        Raises:
            LocatedError: the same with advice how to continue, in mode ``FAILFAST``.
        """
        self._metrics.missing_ranges += 1
        if self.mode is Mode.FAILFAST and self._fails_on_loss:
            raise type(error)(f"{error.problem}. Mode PERMISSIVE reads the rest", error.where)
        if self.mode is not Mode.DROPMALFORMED:
            logger.warning("%s", error)
