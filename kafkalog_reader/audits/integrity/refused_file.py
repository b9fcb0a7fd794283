"""Files that this user may not read, which says nothing about damage."""

from __future__ import annotations

import errno
import os
from typing import Final

from kafkalog_reader.audits.catalogue.actions import READ_WITH_PERMISSION

ONLY_REFUSED: Final = (READ_WITH_PERMISSION,)
"""The only actions for them, without a check of the disk."""
_REFUSALS: Final = (os.strerror(errno.EACCES), os.strerror(errno.EPERM))


def actions_of_refusal(problem: str) -> tuple[str, ...] | None:
    """The actions if permission is missing; None if the problem is another one.

    Args:
        problem: the message of the operating system.
    """
    return ONLY_REFUSED if any(refusal in problem for refusal in _REFUSALS) else None
