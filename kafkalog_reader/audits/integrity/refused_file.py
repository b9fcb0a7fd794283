"""Files that this user may not read: nothing is known to be wrong with them, nor with the disk."""

from __future__ import annotations

import errno
import os
from typing import Final

from kafkalog_reader.audits.catalogue.actions import READ_WITH_PERMISSION

ONLY_REFUSED: Final = (READ_WITH_PERMISSION,)
"""What to do about them, and nothing else: the disk is not under suspicion."""
_REFUSALS: Final = (os.strerror(errno.EACCES), os.strerror(errno.EPERM))


def actions_of_refusal(problem: str) -> tuple[str, ...] | None:
    """What to do where rights are missing; None where the problem is another one.

    Args:
        problem: what the operating system said.
    """
    return ONLY_REFUSED if any(refusal in problem for refusal in _REFUSALS) else None
