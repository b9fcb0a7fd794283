"""Files that could not be read for a reason which says nothing about damage."""

from __future__ import annotations

import errno
import os
from typing import Final

from kafkalog_reader.audits.catalogue.actions import COPY_AGAIN, READ_WITH_PERMISSION
from kafkalog_reader.io.foreign_file import GIT_LFS_ADVICE

ONLY_REFUSED: Final = (READ_WITH_PERMISSION,)
"""The only actions where permission is missing, without a check of the disk."""
ONLY_A_POINTER: Final = (COPY_AGAIN,)
"""The only actions where the copy holds a pointer in the place of the file."""
NOT_DAMAGED: Final = (ONLY_REFUSED, ONLY_A_POINTER)
_REFUSALS: Final = (os.strerror(errno.EACCES), os.strerror(errno.EPERM))


def actions_of_refusal(problem: str) -> tuple[str, ...] | None:
    """The actions where a file is not known to be damaged; None if it may be.

    Args:
        problem: what the operating system says, or what is there instead.
    """
    if GIT_LFS_ADVICE in problem:
        return ONLY_A_POINTER
    return ONLY_REFUSED if any(refusal in problem for refusal in _REFUSALS) else None


def is_refused(problem: str) -> bool:
    """Whether a file was not read because permission is missing, which another user may have."""
    return actions_of_refusal(problem) == ONLY_REFUSED
