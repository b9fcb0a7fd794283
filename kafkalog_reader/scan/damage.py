"""What reading does at damage: raise, warn or pass it by. The one place that knows the modes."""

from __future__ import annotations

import logging
from enum import Enum
from typing import TYPE_CHECKING

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
    """Decides, damaged place by damaged place.

    Args:
        mode: see ``Mode``.
        fail_on_data_loss: whether records that are gone are damage; otherwise they are a warning.
    """

    def __init__(self, mode: Mode, *, fail_on_data_loss: bool = True) -> None:
        self.mode = mode
        self._fails_on_loss = fail_on_data_loss

    def left_out(self, error: LocatedError, *, batches: int = 1) -> None:
        """Go on without what ``error`` is about, or raise it.

        Args:
            error: says what and where.
            batches: how many it is about.

        Raises:
            LocatedError: ``error``, in mode ``FAILFAST``.
        """
        del batches
        if self.mode is Mode.FAILFAST:
            raise error
        if self.mode is Mode.PERMISSIVE:
            logger.warning("%s; left out", error)

    def missing(self, error: LocatedError) -> None:
        """Go on although records are missing, or raise ``error``, which is about them.

        Raises:
            LocatedError: the same and how to go on, in mode ``FAILFAST``.
        """
        if self.mode is Mode.FAILFAST and self._fails_on_loss:
            raise type(error)(f"{error.problem}. Mode PERMISSIVE reads the rest", error.where)
        if self.mode is not Mode.DROPMALFORMED:
            logger.warning("%s", error)
