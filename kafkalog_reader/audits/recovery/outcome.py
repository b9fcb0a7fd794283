"""The possible outcomes of a start for a replica, and how a start fails."""

from __future__ import annotations

from enum import Enum
from typing import Final


class StartOutcome(Enum):
    """What the next start does to a replica."""

    LOADS = "loads"
    """It is served with every sound record in its files."""
    HIDDEN = "hidden"
    """It is served with a log end below sound records of its last segment.

    The records stay in the file, but no reader gets them, and new records take their offsets:
    KL-415.
    """
    CUT = "cut"
    """Recovery cuts records off."""
    EMPTIED = "emptied"
    """Every segment is deleted: the log start is beyond the end."""
    STRAY = "stray"
    """The directory is renamed and kept, and the partition starts empty: KL-417."""
    DIRECTORY_OFFLINE = "directoryOffline"
    """The log directory is taken offline, or serves nothing."""
    BROKER_ABORTS = "brokerAborts"
    """The broker does not come up."""
    EXPIRED = "expired"
    """Time retention deletes segments right after the start: KL-418."""


FAILURES: Final = frozenset({StartOutcome.BROKER_ABORTS, StartOutcome.DIRECTORY_OFFLINE})
"""Then the replica is not loaded at all."""


class StartFailure(Exception):  # noqa: N818  happens to the broker, not an error of this program
    """The broker does not survive the load."""


class DirectoryFailure(Exception):  # noqa: N818  the same, for a log directory
    """The log directory is taken offline."""
